/* The depth of four pixels whose phase above the reference is d. */
vec4
depth_of(phase2depth_plane_block b, vec4 d, uint x, uint y)
{
	vec4 z = vec4(0);

	for (uint k = b.degree; k-- > 0;) {
		vec4 c = vec4(b.c[k]);

		if (b.mapped[k] != 0)
			c = gpu_in4(b.map[k], x, y);
		for (int i = 0; i < 4; i++)
			z[i] = phase2depth_within(phase2depth_horner(z[i], c[i], d[i]),
			    k != 0 ? -3.402823466e38f : b.least, k != 0 ? 3.402823466e38f : b.most);
	}
	return z;
}
