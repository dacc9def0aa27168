#include "tile.h"

#include <string.h>

#include "base/cpu_level.h"
#include "phasewrap.px.h"

void
tile_start(struct tile *restrict tile, size_t n)
{
	memset(tile->missing, 0, n * sizeof(*tile->missing));
	memset(tile->bad, 0, n * sizeof(*tile->bad));
	memset(tile->texture, 0, n * sizeof(*tile->texture));
	for (size_t x = 0; x < n; x++)
		tile->modulation[x] = 3e38f;
}

#define LOAD(type) \
static void \
load_##type(const type *restrict image, float *restrict v, struct tile *restrict tile, size_t n) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < n; x++) { \
		v[x] = (float)image[x]; \
		if (sizeof(type) == sizeof(float)) \
			tile->missing[x] |= phasewrap_missing(v[x]); \
	} \
}
LOAD(uint8_t)
LOAD(uint16_t)
LOAD(float)

void
tile_load(struct tile *tile, const struct frame *in, size_t c, size_t y, size_t x, size_t n,
    float *v)
{
	void *row = frame_row(in, c, y);

	if (in->head.type == SAMPLE_UCHAR)
		load_uint8_t((uint8_t *)row + x, v, tile, n);
	else if (in->head.type == SAMPLE_USHORT)
		load_uint16_t((uint16_t *)row + x, v, tile, n);
	else
		load_float((float *)row + x, v, tile, n);
}

void
tile_write_phase(const struct tile *restrict tile, float *restrict phase, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		phase[x] = phasewrap_phase(tile->s[x], tile->c[x]);
}

void
tile_write_set(const struct tile *tile, bool vector, struct frame *out, size_t k, size_t y,
    size_t x, size_t n)
{
	if (!vector) {
		tile_write_phase(tile, frame_floats(out, k, y) + x, n);
		return;
	}
	memcpy(frame_floats(out, 2 * k, y) + x, tile->c, n * sizeof(float));
	memcpy(frame_floats(out, 2 * k + 1, y) + x, tile->s, n * sizeof(float));
}

void
tile_write_quality(const struct tile *restrict tile, float sets,
    float *restrict modulation, float *restrict texture, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool missing = tile->missing[x] != 0;

		modulation[x] = px_select(missing, PX_NAN, tile->modulation[x]);
		texture[x] = px_select(missing, PX_NAN, tile->texture[x] / sets);
	}
}

bool
tile_any_bad(struct tile *restrict tile, size_t n)
{
	uint any = 0;

	_Pragma("omp simd reduction(|:any)")
	for (size_t x = 0; x < n; x++) {
		tile->bad[x] |= tile->missing[x];
		any |= tile->bad[x];
	}
	return any != 0;
}

void
tile_mask(const struct tile *restrict tile, float *restrict v, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		v[x] = px_select(tile->bad[x] != 0, PX_NAN, v[x]);
}
