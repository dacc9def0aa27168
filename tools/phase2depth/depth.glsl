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

/* Its standard deviation, where there is one to come from. */
void
write_sigma(phase2depth_plane_block b, vec4 d, vec4 depth, uint x, uint y)
{
	vec4 sigma, ref = vec4(0), slope = vec4(0);

	if (b.has_sigma == 0)
		return;
	sigma = gpu_in4(b.sigma, x, y);
	if (b.has_ref_sigma != 0)
		ref = gpu_in4(b.ref_sigma, x, y);
	for (uint k = b.degree; k-- > 0;) {
		vec4 c = vec4(b.c[k]);

		if (b.mapped[k] != 0)
			c = gpu_in4(b.map[k], x, y);
		for (int i = 0; i < 4; i++)
			slope[i] = phase2depth_slope(slope[i], c[i], d[i], float(k + 1));
	}
	for (int i = 0; i < 4; i++)
		sigma[i] = px_select(px_isnan(depth[i]), PX_NAN,
		    phase2depth_sigma(slope[i], sigma[i], ref[i]));
	gpu_out4(1, x, y, sigma);
}
