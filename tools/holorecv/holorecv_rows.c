/* The loop of holorecv: a texture from the colours below the depth. */
#include "holorecv.h"

static void
texture_row(const unsigned char *const colour[3], bool luma, unsigned char *a, size_t w)
{
	for (size_t x = 0; x < w; x++)
		a[x] = luma ? colour[0][x] :
		    (unsigned char)((colour[0][x] + colour[1][x] + colour[2][x] + 1) / 3);
}

const struct holorecv_rows AT_LEVEL(holorecv_rows) = {
	.texture_row = texture_row,
};
