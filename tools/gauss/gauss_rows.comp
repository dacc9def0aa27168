#include "gauss.glsl"

/* Sums over a window: of the parts, and of the kernel where pixels are there. */
struct sums {
	float part[2], weight;
};

/* What a workgroup reads of the columns' sums, and how many pixels are missing in a column. */
#define MARGIN 52u			/* at least GAUSS_REACH - 1, in whole vec4 */
#define SPAN (MARGIN + 64u + MARGIN)
shared vec4 column[2][8][SPAN / 4];
shared uint missing[8][SPAN];

void
load_columns(block_at at)
{
	uint x0 = 64u * gl_WorkGroupID.x, row = gl_LocalInvocationID.y, y = gpu_y();

	for (uint i = 4u * gl_LocalInvocationID.x; i < SPAN; i += 64u) {
		uint x = x0 + i - MARGIN;	/* left of the image it is a large number */
		uvec4 holes = uvec4(0);

		column[0][row][i / 4] = column[1][row][i / 4] = vec4(0);
		if (x < gpu.w && y < gpu.y1) {
			column[0][row][i / 4] = gpu_scratch4(at.b.scratch + GAUSS_COLUMN, x, y);
			if (at.b.kind != GAUSS_PLAIN)
				column[1][row][i / 4] =
				    gpu_scratch4(at.b.scratch + GAUSS_COLUMN + 1, x, y);
			for (uint k = 0; k < at.b.words; k++)
				holes += uvec4(bitCount(floatBitsToUint(
				    gpu_scratch4(at.b.scratch + GAUSS_HOLES + k, x, y))));
		}
		for (uint k = 0; k < 4; k++)
			missing[row][i + k] = x + k < gpu.w ? holes[k] : 0u;
	}
	barrier();
}

/* Sums over the columns of windows, over a row: as far as each of the four windows reaches. */
vec4
sum_row(block_at at, uint p, uvec4 far)
{
	uint row = gl_LocalInvocationID.y, i = MARGIN / 4u + gl_LocalInvocationID.x;
	vec4 left, right, more_left, more_right;
	precise vec4 total, pair, weighed;

	total = left = right = column[p][row][i];
	for (uint k = 0; k < at.b.radius; k += 4) {
		more_left = column[p][row][i - k / 4 - 1];
		more_right = column[p][row][i + k / 4 + 1];
		for (uint j = 0; j < 4 && k + j < at.b.radius; j++) {
			/* a column outside the image is of no window that reaches so far */
			left = vec4(more_left[3 - j], left.xyz);
			right = vec4(right.yzw, more_right[j]);
			pair = left + right;
			pair = mix(vec4(0), pair, greaterThan(far, uvec4(k + j)));
			weighed = at.b.kernel[k + j + 1] * pair;
			total = total + weighed;
		}
	}
	return total;
}

/* How many pixels are missing in the windows of the GAUSS_LANES columns from `group` on. */
uint
count_holes(block_at at, uint group)
{
	uint first = MARGIN + group - 64u * gl_WorkGroupID.x, n = 0;

	for (uint i = first - at.b.radius; i < first + GAUSS_LANES + at.b.radius; i++)
		n += missing[gl_LocalInvocationID.y][i];
	return n;
}

/* A pixel's parts, 0 where it is missing, and 1 or 0. */
float
get(block_at at, uint x, uint y, out float part[2])
{
	float part0 = gpu_scratch(at.b.scratch + GAUSS_PART, x, y);
	bool missing = is_missing(part0);

	part[0] = px_select(missing, 0.0f, part0);
	part[1] = at.b.kind == GAUSS_PLAIN ? 0.0f :
	    gpu_scratch(at.b.scratch + GAUSS_PART + 1, x, y);
	return px_select(missing, 0.0f, 1.0f);
}

/* The mirror images of missing pixels do not count. */
void
take_off(block_at at, uint x, uint y, inout sums s)
{
	uint radius = at.b.radius;

	for (uint k = 0; k < at.b.words; k++)
		for (uint column = x - radius; column <= x + radius; column++) {
			uint bits = floatBitsToUint(gpu_scratch(at.b.scratch + GAUSS_HOLES + k,
			    column, y));

			for (; bits != 0; bits &= bits - 1) {
				int below = int(32 * k) + findLSB(bits) - int(radius);
				int right = int(column - x);
				float part[2];
				precise float valid, w, off0, off1, off;

				valid = get(at, x - right, y - below, part);
				w = at.b.kernel[abs(below)] * at.b.kernel[abs(right)];
				off0 = w * part[0];
				off1 = w * part[1];
				off = valid + 1.0f;
				off = w * off;
				precise float sum0 = s.part[0] - off0, sum1 = s.part[1] - off1;
				precise float weight = s.weight - off;

				s.part[0] = sum0;
				s.part[1] = sum1;
				s.weight = weight;
			}
		}
}

/* Every pixel of the window with its mirror image. */
sums
sum_mirrored(block_at at, uint x, uint y)
{
	int far_x = int(reach(x, gpu.w, at.b.radius)), far_y = int(reach(y, gpu.h, at.b.radius));
	float centre[2], above[2], below[2];
	precise float part0, part1, weight;
	sums s;

	weight = get(at, x, y, centre);
	part0 = centre[0];
	part1 = centre[1];
	for (int k = 0; k <= far_y; k++) {
		precise float row0 = 0.0f, row1 = 0.0f, row_weight = 0.0f;
		precise float along = k > 0 ? at.b.kernel[k] : 1.0f;

		for (int i = k > 0 ? -far_x : 1; i <= far_x; i++) {
			precise float both =
			    get(at, x - i, y - k, above) * get(at, x + i, y + k, below);
			precise float pair0 = above[0] + below[0], pair1 = above[1] + below[1];

			both = both * at.b.kernel[abs(i)];
			row0 = row0 + both * pair0;
			row1 = row1 + both * pair1;
			row_weight = row_weight + both;
		}
		part0 = part0 + along * row0;
		part1 = part1 + along * row1;
		weight = weight + 2.0f * along * row_weight;
	}
	s.part[0] = part0;
	s.part[1] = part1;
	s.weight = weight;
	return s;
}

/* The ways of gauss_rows.c, each where the processor takes it. */
void
main()
{
	uint x = gpu_x4(), y = gpu_y(), group, holes, radius;
	block_at at = block_at(gpu.block);
	bool cut, plain;
	uvec4 far;
	vec4 sum[2], weight, to[2], centre;
	float rows_weight;

	load_columns(at);
	if (gpu_outside(x, y))
		return;
	radius = at.b.radius;
	plain = at.b.kind == GAUSS_PLAIN;
	group = x & ~(GAUSS_LANES - 1);
	cut = reach(y, gpu.h, radius) < radius || group < radius ||
	    group + GAUSS_LANES + radius > gpu.w;
	rows_weight = at.b.weight[reach(y, gpu.h, radius)];
	for (uint i = 0; i < 4; i++) {
		far[i] = reach(x + i, gpu.w, radius);
		precise float product = rows_weight * at.b.weight[far[i]];

		weight[i] = product;
	}
	sum[0] = sum_row(at, 0, far);
	sum[1] = plain ? vec4(0) : sum_row(at, 1, far);
	centre = gpu_scratch4(at.b.scratch + GAUSS_PART, x, y);
	holes = count_holes(at, group);
	for (uint i = 0; i < 4; i++) {
		float valid = px_select(is_missing(centre[i]), 0.0f, 1.0f);
		sums s;

		s.part[0] = sum[0][i];
		s.part[1] = sum[1][i];
		s.weight = weight[i];
		if (holes > 0 && valid > 0.0f && x + i < gpu.w) {
			if (cut || holes > at.b.few)
				s = sum_mirrored(at, x + i, y);
			else
				take_off(at, x + i, y, s);
		}
		if (at.b.vectors != 0) {
			to[0][i] = gauss_mean(s.part[0], s.weight, valid);
			to[1][i] = gauss_mean(s.part[1], s.weight, valid);
		} else {
			to[0][i] = gauss_phase(s.part[1], s.part[0], valid);
		}
	}
	gpu_out4(at.b.to[0], x, y, to[0]);
	if (at.b.vectors != 0 && !plain)
		gpu_out4(at.b.to[1], x, y, to[1]);
}
