/* A Holoimage back to depth, or to coordinates. */
#include "stage.h"
#include "holo.h"
#include "holodec.px.h"
#include "../median/median.px.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TILE 512		/* pixels of a row that are decoded together */
#define MARGIN 2		/* beside them, for the median of plain decoding */
#define EDGE_MOST 64
#define EDGE_LOSSY 2		/* pixels dropped at the boundary of a lossy picture */

enum decode { DECODE_NEAREST, DECODE_PLAIN };

struct parameters {
	struct holo_options holo;
	int decode;
	double blur_px;
	long edge_px;
	bool xyz;
};

struct priv {
	struct holo holo;
	struct holo_code code;
	enum decode decode;
	size_t channel[4];		/* sine, cosine, stair, texture */
	size_t edge_px;			/* in use */
	bool edge_wanted;		/* found for each picture */
	bool xyz;
	float texture_scale;
	float off_circle_most;		/* levels */
	float stair[HOLO_PROFILE + 1];	/* of order 0 */
};

#define AT(field) offsetof(struct parameters, field)

static const char *const decodes[] = { "nearest", "plain", NULL };

static const struct opt options[] = {
	HOLO_OPTIONS(struct parameters, holo),
	{ 0, "decode", "WORD", OPT_WORD, AT(decode), "nearest", 0, 0, NULL,
	  "the stair whose re-encoding is nearest, or floor and median as in the papers", decodes },
	{ 0, "blur", "SIGMA", OPT_NUMBER, AT(blur_px), "0", 0, 100, "px",
	  "Gaussian blur that the picture went through", NULL },
	{ 'e', "edge", "N", OPT_INTEGER, AT(edge_px), NULL, 0, EDGE_MOST, "px",
	  "drop pixels so near to the background; if not given, 0, or 2 in a lossy picture", NULL },
	{ 0, "xyz", NULL, OPT_FLAG, AT(xyz), NULL, 0, 0, NULL, "coordinates x y z instead of depth", NULL },
	{ 0 },
};

/* ---- pixels ---- */

struct tile {
	float sine[TILE + 2 * MARGIN], cosine[TILE + 2 * MARGIN], stair[TILE + 2 * MARGIN];
	float turns[TILE + 2 * MARGIN];
};

static void
load_bytes(const unsigned char *restrict in, float *restrict out, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = (float)(int)in[i];
}

/* Samples x .. x + n - 1 of a row, as levels. */
static void
load(const struct frame *in, size_t c, size_t y, size_t x, size_t n, float *out)
{
	if (in->head.type == SAMPLE_UCHAR)
		load_bytes((const unsigned char *)frame_row(in, c, y) + x, out, n);
	else
		memcpy(out, (const float *)frame_row(in, c, y) + x, n * sizeof(*out));
}

/* NaN where there is no fringe. */
static void
decode_nearest(struct tile *restrict tile, const struct priv *priv, size_t n)
{
	const float *restrict stair = priv->stair;
	float per_height = 1 / priv->code.height, most = priv->code.order_most;
	float off = priv->off_circle_most;

	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F s = tile->sine[i] - 127.5f, c = tile->cosine[i] - 127.5f;
		PX_F rest = holo_rest(s, c);
		PX_F order = holo_nearest_order(tile->stair[i], stair[(int)(rest * HOLO_PROFILE)],
		    per_height, most);
		bool valid = tile->sine[i] + tile->cosine[i] >= HOLO_BLACK &&
		    holodec_off_circle(s, c) <= off;

		tile->turns[i] = px_select(valid, order + rest, PX_NAN);
	}
}

static void
decode_plain(struct tile *restrict tile, const struct priv *priv, size_t n)
{
	float per_height = 1 / priv->code.height;
	float half_step = priv->holo.stair == HOLO_COMPOSITE ? 0.5f : 0.0f;

	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F rest = holo_rest(tile->sine[i] - 127.5f, tile->cosine[i] - 127.5f);
		PX_F order = holo_plain_order(tile->stair[i], per_height, half_step);

		tile->turns[i] = px_select(tile->sine[i] + tile->cosine[i] >= HOLO_BLACK, order + rest,
		    PX_NAN);
	}
}

/* Takes out whole turns that a pixel lies off the median of five in its row. */
static void
unspike(const float *restrict turns, float *restrict out, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = holo_unspike(turns[i + 2], median_of_5(turns[i], turns[i + 1], turns[i + 2],
		    turns[i + 3], turns[i + 4]));
}

static void
to_depth(const float *restrict turns, float *restrict out, size_t x, size_t n,
    const struct holo_code *code, float slack)
{
	float per_column = code->turns_per_column, per_turn = 1 / code->turns_per_depth;
	float zero = code->depth_zero, range = code->depth_one - code->depth_zero;

	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F z = holo_depth(turns[i], (float)(int)(x + i), per_column, per_turn);

		out[i] = px_select(holodec_inside(z, slack), zero + z * range, PX_NAN);
	}
}

/* Index i + by, mirrored about i where it lies outside 0 .. n - 1, as in median(1). */
static size_t
mirrored(ptrdiff_t i, size_t n, size_t at)
{
	ptrdiff_t mirror = 2 * (ptrdiff_t)at - i;

	if (i >= 0 && i < (ptrdiff_t)n)
		return (size_t)i;
	return mirror >= 0 && mirror < (ptrdiff_t)n ? (size_t)mirror : at;
}

/* Fills turns[-2], turns[-1], turns[n], turns[n + 1] for the tile at x, turns[0] being its first. */
static void
load_margins(const struct frame *in, const struct priv *priv, size_t y, size_t x, size_t n,
    struct tile *tile)
{
	float *const plane[3] = { tile->sine, tile->cosine, tile->stair };

	for (int c = 0; c < 3; c++)
		for (int k = 1; k <= MARGIN; k++) {
			size_t w = in->head.w;
			size_t left = mirrored((ptrdiff_t)x - k, w, x);
			size_t right = mirrored((ptrdiff_t)(x + n) - 1 + k, w, x + n - 1);

			load(in, priv->channel[c], y, left, 1, plane[c] + MARGIN - k);
			load(in, priv->channel[c], y, right, 1, plane[c] + MARGIN + n - 1 + k);
		}
}

/* Depths of n pixels from (x, y) on. */
static void
decode(const struct priv *priv, const struct frame *in, size_t y, size_t x, size_t n, float *out)
{
	float slack = HOLODEC_SLACK / priv->code.turns_per_depth;
	bool plain = priv->decode == DECODE_PLAIN;
	size_t margin = plain ? MARGIN : 0;
	struct tile tile;

	load(in, priv->channel[0], y, x, n, tile.sine + margin);
	load(in, priv->channel[1], y, x, n, tile.cosine + margin);
	load(in, priv->channel[2], y, x, n, tile.stair + margin);
	if (plain) {
		load_margins(in, priv, y, x, n, &tile);
		decode_plain(&tile, priv, n + 2 * MARGIN);
		unspike(tile.turns, tile.sine, n);
		to_depth(tile.sine, out, x, n, &priv->code, INFINITY);
	} else {
		decode_nearest(&tile, priv, n);
		to_depth(tile.turns, out, x, n, &priv->code, slack);
	}
}

/* ---- boundaries ---- */

struct edge {
	float sine[TILE + 2 * EDGE_MOST], cosine[TILE + 2 * EDGE_MOST];
	unsigned char black[TILE + 2 * EDGE_MOST];
};

static void
add_black(struct edge *restrict edge, size_t first, size_t n)
{
	unsigned char *restrict black = edge->black + first;

	ROWS_SIMD
	for (size_t i = 0; i < n; i++)
		black[i] |= edge->sine[i] + edge->cosine[i] < HOLO_BLACK;
}

static void
drop_black(const unsigned char *restrict black, float *restrict out, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = px_select(black[i], PX_NAN, out[i]);
}

/* Drops pixels with background in the square of edge_px around them. Outside the image is none. */
static void
drop_edge(const struct priv *priv, const struct frame *in, size_t y, size_t x, size_t n, float *out)
{
	size_t reach = priv->edge_px, h = in->head.h, w = in->head.w;
	size_t left = x < reach ? x : reach, right = w - x - n < reach ? w - x - n : reach;
	size_t first = y < reach ? 0 : y - reach, last = h - 1 - y < reach ? h - 1 : y + reach;
	struct edge edge;

	memset(edge.black, 0, sizeof(edge.black));
	for (size_t row = first; row <= last; row++) {
		load(in, priv->channel[0], row, x - left, left + n + right, edge.sine);
		load(in, priv->channel[1], row, x - left, left + n + right, edge.cosine);
		add_black(&edge, reach - left, left + n + right);
	}
	for (size_t k = 0; k <= 2 * reach; k++)
		drop_black(edge.black + k, out, n);
}

/* ---- rows ---- */

static void
place_columns(float *restrict out, size_t w, double corner, double spacing)
{
	ROWS_SIMD
	for (size_t x = 0; x < w; x++)
		out[x] = (float)(corner + spacing * (double)(int)x);
}

static void
blank(const float *restrict depth, float *restrict out, size_t w)
{
	ROWS_SIMD
	for (size_t x = 0; x < w; x++)
		out[x] = px_select(px_isnan(depth[x]), PX_NAN, out[x]);
}

/* x and y of a row, NaN where there is no depth. */
static void
coordinates(const struct priv *priv, const float *depth, float *x, float *y, size_t row, size_t w)
{
	const struct holo *holo = &priv->holo;

	place_columns(x, w, holo->corner[0], holo->spacing[0]);
	place_columns(y, w, holo->corner[1] + holo->spacing[1] * (double)row, 0);
	blank(depth, x, w);
	blank(depth, y, w);
}

static void
scale_row(float *restrict row, size_t w, float scale)
{
	ROWS_SIMD
	for (size_t x = 0; x < w; x++)
		row[x] *= scale;
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1)
{
	const struct priv *priv = run->priv;
	size_t w = in->head.w, z = priv->xyz ? 2 : 0;

	for (size_t y = y0; y < y1; y++) {
		float *depth = frame_floats(out, z, y);

		for (size_t x = 0; x < w; x += TILE) {
			size_t n = w - x < TILE ? w - x : TILE;

			decode(priv, in, y, x, n, depth + x);
			if (priv->edge_px)
				drop_edge(priv, in, y, x, n, depth + x);
		}
		if (priv->xyz)
			coordinates(priv, depth, frame_floats(out, 0, y), frame_floats(out, 1, y), y, w);
		if (priv->channel[3] != NO_CHANNEL) {
			load(in, priv->channel[3], y, 0, w, frame_floats(out, z + 1, y));
			scale_row(frame_floats(out, z + 1, y), w, priv->texture_scale);
		}
	}
}

static int
survey(struct run *run, const struct frame *in)
{
	(void)run; (void)in;
	return 0;
}

static const struct body body = { .survey = survey, .rows = rows };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
}

static int
plan_texture(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	struct priv *priv = run->priv;
	const char *name = meta_get(&in->meta, "holo_texture");
	const char *space = priv->xyz ? "x y z" : "depth";
	char names[2 * CHANNEL_NAME_SIZE];
	double scale;

	if (priv->channel[3] == NO_CHANNEL)
		return head_set_channels(out, space);
	if (meta_number(&in->meta, "holo_texture_scale", 1, &scale) < 0)
		return -1;
	priv->texture_scale = (float)scale;
	if (scale != 1 && meta_set_number(&out->meta, "max_value", 255 * scale) < 0)
		return -1;
	if (!name || strlen(name) >= CHANNEL_NAME_SIZE || strchr(name, ' '))
		name = "texture";
	snprintf(names, sizeof(names), "%s %s", space, name);
	return head_set_channels(out, names);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct holo *holo = &priv->holo;

	if (in->type == SAMPLE_USHORT)
		return fail(NULL, "a Holoimage has 8 bits a sample, not 16");
	if (holo_read(&priv->holo, &parameters->holo, in) < 0 ||
	    holo_channels(holo, in, priv->channel) < 0)
		return -1;
	priv->code = holo_code(holo);
	priv->decode = (enum decode)parameters->decode;
	priv->xyz = parameters->xyz;
	priv->off_circle_most = 1000;
	priv->edge_wanted = parameters->edge_px == OPT_NONE_INTEGER;
	priv->edge_px = priv->edge_wanted ? 0 : (size_t)parameters->edge_px;
	run->halo = priv->edge_wanted ? EDGE_LOSSY : priv->edge_px;
	holo_profile(&priv->code, parameters->blur_px * (double)priv->code.turns_per_column, priv->stair);
	holo_remove(&out->meta);
	for (int i = 0; i < 2; i++)
		if (isnan(out->spacing[i]))
			out->spacing[i] = holo->spacing[i];
	if (meta_set(&out->meta, "z_axis", holo_z_axes[holo->z_axis]) < 0)
		return -1;
	return plan_texture(run, in, out);
}

STAGE(holodec) = {
	.name = "holodec",
	.summary = "the depth in a Holoimage",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE,
	.agree = AGREE_ABSOLUTE,
	.tolerance = 1e-6,
	.init = init,
	.plan = plan,
};
