/* Four floats of four lines change places. In hot loops: inline. */
#pragma once

typedef float transpose_four __attribute__((vector_size(16), aligned(4), may_alias));

static inline transpose_four
transpose_load(const float *v)
{
	return *(const transpose_four *)v;
}

static inline void
transpose_store(float *v, transpose_four a)
{
	*(transpose_four *)v = a;
}

static inline void
transpose_lines(transpose_four v[4])
{
	transpose_four low = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
	transpose_four high = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
	transpose_four low2 = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
	transpose_four high2 = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);

	v[0] = __builtin_shufflevector(low, low2, 0, 1, 4, 5);
	v[1] = __builtin_shufflevector(low, low2, 2, 3, 6, 7);
	v[2] = __builtin_shufflevector(high, high2, 0, 1, 4, 5);
	v[3] = __builtin_shufflevector(high, high2, 2, 3, 6, 7);
}
