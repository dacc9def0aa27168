/* Dithered Holoimages: error diffusion along the circle of phases, and the fringe values on it. */
#include "holo/dither.h"

#include <limits.h>
#include <math.h>

#include "base/opt.h"
#include "base/process.h"
#include "frame/key_lines.h"

#define SECTOR_LEAST 20		/* pixels; of a sector with fewer nothing is known */
/* Large changes leave sectors without pixels, where fringes become steep or as dark as background.
 * Half of them have a radius still, but tell no centre. */
#define SECTORS_LEAST (FRINGE_CIRCLE_SECTORS / 2)
/* Measured on seven objects, JPEG of quality 50 to 95, 4:4:4 and 4:2:0, pitches from 16: the centre
 * is 0.5 levels off at most, the radius 125.8 to 127.5, of even ramps 119, that of any sector at
 * most 129.1. Brightness moved by 10 levels, gamma of 0.9 or 1.1, 0.95 or 1.05 times the levels
 * move the centre by 3.4 to 12; contrast of 0.9 leaves a radius of 115, of 1.1 a sector of 139. */
#define CENTRE_MOST 2.0
#define RADIUS_LEAST 117.0
#define SECTOR_MOST 133.0
#define SECTOR_RADIUS_LEAST 110.0	/* lossy formats leave 119 */

void
fringe_circle_count(struct fringe_circle *circle, float rest, double radius)
{
	int sector = (int)(rest * FRINGE_CIRCLE_SECTORS) % FRINGE_CIRCLE_SECTORS;

	circle->n[sector]++;
	circle->radius[sector] += radius;
}

bool
fringe_circle_warn(const struct fringe_circle *circle)
{
	double x = 0, y = 0, radius = 0, least = INFINITY, most = 0, off;
	int sectors = 0;

	for (int k = 0; k < FRINGE_CIRCLE_SECTORS; k++) {
		double angle = 2 * M_PI * (k + 0.5) / FRINGE_CIRCLE_SECTORS, mean;

		if (circle->n[k] < SECTOR_LEAST)
			continue;
		mean = circle->radius[k] / (double)circle->n[k];
		x += 2 * mean * sin(angle) / FRINGE_CIRCLE_SECTORS;
		y += 2 * mean * cos(angle) / FRINGE_CIRCLE_SECTORS;
		radius += mean;
		least = fmin(least, mean);
		most = fmax(most, mean);
		sectors++;
	}
	if (sectors < SECTORS_LEAST)
		return false;
	radius /= sectors;
	off = sectors == FRINGE_CIRCLE_SECTORS ? hypot(x, y) : 0;
	if (off <= CENTRE_MOST && radius >= RADIUS_LEAST && least >= SECTOR_RADIUS_LEAST &&
	    most <= SECTOR_MOST)
		return false;
	if (sectors < FRINGE_CIRCLE_SECTORS)
		warn(NULL, "levels were changed, as by brightness, contrast or gamma: the circle "
		    "of the fringes has radii from %.0f to %.0f, and gaps, where an encoder has "
		    "127.5 and none; depths are wrong", least, most);
	else
		warn(NULL, "levels were changed, as by brightness, contrast or gamma: the circle "
		    "of the fringes has a radius of %.0f and up to %.0f, its centre is %.0f off, "
		    "where an encoder has 127.5 and 0; depths are wrong", radius, most, off);
	return true;
}

#define TILE_PIXELS DITHER_TILE_PIXELS
#define SMALL_FRINGES 1		/* orders of Bayer's matrices */
#define SMALL_STAIR 3
#define JUMPS_MARKED "marked"
#define BLUE_SIGMA 1.9		/* of the energy that a dot spreads; Ulichney 1993 takes 1.5 */
#define BLUE_START (TILE_PIXELS / 10)

const char *const dither_packs[] = { "msb", "planar", "rgb", NULL };
const char *const dither_methods[] = { "bayer", "fs", "fs-serpentine", "blue", "best", "small",
	NULL };

/* What goes from pixel to pixel stays in registers: memory would take longer than the arithmetic.
 * To below[x] come shares of three pixels, in their order. A branch for the bit is faster than
 * masks, though it goes wrong often: it does not wait for the comparison. */
void
dither_diffuse_row(float *restrict row, float *restrict below, size_t w, ptrdiff_t step)
{
	ptrdiff_t x = step > 0 ? 0 : (ptrdiff_t)w - 1;
	float error = 0, waiting = 0;

	for (size_t i = 0; i < w; i++, x += step) {
		float level = row[x] + 7.0f * error, last = error, bit;

		bit = level >= 0.5f ? 1.0f : 0.0f;
		error = (level - bit) * 0.0625f;
		row[x] = bit;
		if (!below)
			continue;
		if (i > 0)
			below[x - step] = waiting + 3.0f * error;
		waiting = below[x] + last + 5.0f * error;
	}
	if (below && w > 0)
		below[x - step] = waiting;
}

/* ---- blue noise ---- */

struct cluster {
	float spread[TILE_PIXELS];	/* what a dot at (0, 0) adds to the energy */
	float energy[TILE_PIXELS];
	unsigned char dot[TILE_PIXELS];
};

static void
put_dot(struct cluster *cluster, size_t at, bool dot)
{
	size_t x0 = at % DITHER_TILE, y0 = at / DITHER_TILE;
	float sign = dot ? 1 : -1;

	cluster->dot[at] = dot;
	for (size_t y = 0; y < DITHER_TILE; y++) {
		size_t dy = (y - y0) % DITHER_TILE;

		for (size_t x = 0; x < DITHER_TILE; x++)
			cluster->energy[y * DITHER_TILE + x] +=
			    sign * cluster->spread[dy * DITHER_TILE + (x - x0) % DITHER_TILE];
	}
}

/* The dot in the tightest cluster, or the middle of the largest void. */
static size_t
find(const struct cluster *cluster, bool dot)
{
	size_t best = TILE_PIXELS;

	for (size_t i = 0; i < TILE_PIXELS; i++) {
		if (cluster->dot[i] != dot)
			continue;
		if (best == TILE_PIXELS ||
		    (dot ? cluster->energy[i] > cluster->energy[best]
			 : cluster->energy[i] < cluster->energy[best]))
			best = i;
	}
	return best;
}

/* Ulichney 1993: dots are ranked by taking them out of clusters, then by putting them into voids.
 */
static void
dither_blue(float threshold[TILE_PIXELS])
{
	struct cluster *cluster = must_alloc(2, sizeof(*cluster));
	size_t n = 0, from, to;

	for (size_t i = 0; i < TILE_PIXELS; i++) {
		double x = (double)(i % DITHER_TILE), y = (double)(i / DITHER_TILE);

		x = fmin(x, DITHER_TILE - x);
		y = fmin(y, DITHER_TILE - y);
		cluster->spread[i] =
		    (float)exp(-(x * x + y * y) / (2 * BLUE_SIGMA * BLUE_SIGMA));
	}
	for (uint i = 0; n < BLUE_START; i++) {
		size_t at = px_hash(i) % TILE_PIXELS;

		n += !cluster->dot[at];
		if (!cluster->dot[at])
			put_dot(cluster, at, true);
	}
	do {	/* from the tightest cluster into the largest void, until that is the same place */
		from = find(cluster, true);
		put_dot(cluster, from, false);
		to = find(cluster, false);
		put_dot(cluster, to, true);
	} while (to != from);
	cluster[1] = cluster[0];
	for (size_t rank = BLUE_START; rank-- > 0;) {
		size_t at = find(&cluster[1], true);

		put_dot(&cluster[1], at, false);
		threshold[at] = ((float)rank + 0.5f) / TILE_PIXELS;
	}
	for (size_t rank = BLUE_START; rank < TILE_PIXELS; rank++) {
		size_t at = find(cluster, false);

		put_dot(cluster, at, true);
		threshold[at] = ((float)rank + 0.5f) / TILE_PIXELS;
	}
	free(cluster);
}

/* ---- thresholds ---- */

bool
dither_ordered(const struct dither_keys *keys)
{
	return keys->method == DITHER_BY_BLUE || keys->method == DITHER_BY_SMALL ||
	    (keys->method == DITHER_BY_BAYER && keys->order > 0);
}

void
dither_thresholds(const struct dither_keys *keys, float threshold[4][TILE_PIXELS])
{
	bool blue = keys->method == DITHER_BY_BLUE, small = keys->method == DITHER_BY_SMALL;

	if (blue)
		dither_blue(threshold[0]);
	for (uint c = blue ? 1 : 0; c < 4; c++) {
		uint order = !small ? (uint)keys->order : c < 2 ? SMALL_FRINGES : SMALL_STAIR;

		/* dots of one plane of blue noise shall not lie upon those of another */
		for (uint i = 0; i < TILE_PIXELS; i++)
			threshold[c][i] = blue
			    ? threshold[0][(i + 16 * c * DITHER_TILE) % TILE_PIXELS]
			    : dither_bayer(i % DITHER_TILE, i / DITHER_TILE, order);
	}
}

/* ---- the decoder's kernel ---- */

size_t
dither_reach(double sigma)
{
	double reach = ceil(2.2 * sigma);

	return reach > DITHER_REACH_MOST ? DITHER_REACH_MOST : (size_t)reach;
}

void
dither_kernel(double sigma, size_t reach, size_t width, bool flat, float *kernel)
{
	double m0 = 0, m2 = 0, m4 = 0, r = (double)reach, a, b;

	memset(kernel, 0, (2 * reach + 1) * width * sizeof(*kernel));
	for (double y = -r; y <= r; y++)
		for (double x = -r; x <= r; x++) {
			double q = x * x + y * y, g = exp(-0.5 * q / (sigma * sigma));

			m0 += g;
			m2 += g * q;
			m4 += g * q * q;
		}
	b = flat && reach ? m2 / (m0 * m4 - m2 * m2) : 0;
	a = (1 + b * m2) / m0;
	for (size_t i = 0; i <= 2 * reach; i++)
		for (size_t k = 0; k <= 2 * reach; k++) {
			double y = (double)i - r, x = (double)k - r, q = x * x + y * y;

			kernel[i * width + k] =
			    (float)((a - b * q) * exp(-0.5 * q / (sigma * sigma)));
		}
}

/* ---- keys ---- */

void
dither_write(const struct dither_keys *keys, struct meta *meta)
{
	dither_remove(meta);
	meta_set(meta, "holo_pack", dither_packs[keys->pack]);
	meta_set(meta, "holo_dither", dither_methods[keys->method]);
	meta_setf(meta, "holo_texture_bits", "%ld", keys->texture_bits);
	if (keys->method == DITHER_BY_BAYER)
		meta_setf(meta, "holo_dither_order", "%ld", keys->order);
	if (keys->marked)
		meta_set(meta, "holo_dither_jumps", JUMPS_MARKED);
	if (keys->sigma_px > 0)
		meta_set_number(meta, "holo_sigma_px", keys->sigma_px);
}

void
dither_remove(struct meta *meta)
{
	static const char *const keys[] = { "holo_pack", "holo_dither", "holo_dither_order",
		"holo_dither_jumps", "holo_texture_bits", "holo_sigma_px" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		meta_remove(meta, keys[i]);
}

int
dither_read(struct dither_keys *keys, const struct dither_keys *options, const struct meta *meta)
{
	const char *jumps = meta_get(meta, "holo_dither_jumps");
	int pack, method;
	long bits, order;
	double sigma;

	if (key_option_word((int)options->pack, meta, "holo_pack", dither_packs, -1, &pack) < 0 ||
	    key_option_word((int)options->method, meta, "holo_dither", dither_methods,
		DITHER_BY_BAYER, &method) < 0 ||
	    key_option_whole(options->texture_bits, meta, "holo_texture_bits", LONG_MIN, LONG_MAX,
		0, &bits) < 0 ||
	    meta_number(meta, "holo_sigma_px", 0, &sigma) < 0 ||
	    key_option_whole(OPT_NONE_INTEGER, meta, "holo_dither_order", 0, DITHER_ORDER_MOST, 0,
		&order) < 0)
		return -1;
	if (pack < 0)
		return fail(NULL, "the picture does not say how three bits a pixel are packed "
		    "(no key holo_pack: has it been dithered?); give --pack");
	if (!isnan(options->sigma_px))
		sigma = options->sigma_px;
	if (bits != 0 && bits != 1 && bits != 8)
		return fail("holo_texture_bits", "must be 0, 1 or 8, not %ld", bits);
	if (jumps && strcmp(jumps, JUMPS_MARKED))
		return fail("holo_dither_jumps", "must be " JUMPS_MARKED ", not '%.60s'", jumps);
	if (sigma != 0 && !(sigma >= 0.5 && sigma <= 8))
		return fail("holo_sigma_px", "must be from 0.5 to 8, not %g", sigma);
	*keys = (struct dither_keys){ (enum dither_pack)pack, (enum dither_method)method, bits,
		sigma, order, jumps != NULL };
	return 0;
}

void
dither_warn_overruled(const struct dither_keys *options, const struct meta *meta)
{
	key_option_warn_word((int)options->pack, meta, "holo_pack", dither_packs);
	key_option_warn_word((int)options->method, meta, "holo_dither", dither_methods);
	key_option_warn_whole(options->texture_bits, meta, "holo_texture_bits");
}
