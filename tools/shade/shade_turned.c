/*
 * Pictures of a surface from a turned view (--view): the surface that a frame has, where it lies in
 * the picture, and the order of passes over it. turned_rows.c has the loops, shade_draw.comp and
 * the shaders after it what a device does in their place.
 */
#include "shade.h"

#include <float.h>
#include <stdio.h>

#include "base/numbers.h"
#include "points/cloud.h"
#include "run/passes.h"
#include "shade_view.block.h"

#define DISC_SAMPLES_LEAST 0.75f	/* radius, so that a disc covers a sample */
#define NORMAL_ROWS 16		/* rows of points whose normals a thread finds at a time */

/* ---- the surface ---- */

/* Frames that a view reads: of floats, wide enough for a vector, with normals. */
struct surface {
	struct frame *floats, *normals;	/* normals: NULL, if `floats` has them */
	double radius;			/* of a table, whose points are discs; 0: of no table */
	struct run *run;
};

static void
plane_of(struct surface_plane *plane, const struct frame *frame, size_t c)
{
	if (c == NO_CHANNEL)
		return;
	*plane = (struct surface_plane){ frame_floats(frame, c, 0),
		frame->plane[c].stride / sizeof(float) };
}

/* Has the point at column x of row y a z, but no place beside it? */
static bool
lacks_place(const struct mesh *mesh, const struct frame *frame, size_t x, size_t y)
{
	return mesh->point[0] != NO_CHANNEL &&
	    isfinite(frame_floats(frame, mesh->point[2], y)[x]) &&
	    !(isfinite(frame_floats(frame, mesh->point[0], y)[x]) &&
	    isfinite(frame_floats(frame, mesh->point[1], y)[x]));
}

/* The frame as floats of which each row has TURNED_LANES_MOST + 1 columns at least, NaN at the
 * right, and z is NaN where x or y is. */
static int
surface_floats(const struct mesh *mesh, const struct frame *in, struct frame **out)
{
	size_t w = in->head.w, h = in->head.h;
	bool lacks = w <= TURNED_LANES_MOST;
	struct frame *floats;
	int status;

	if (frame_to_float(in, &floats) < 0)
		return -1;
	for (size_t i = 0; i < w * h && !lacks; i++)
		lacks = lacks_place(mesh, floats, i % w, i / w);
	if (!lacks) {
		*out = floats;
		return 0;
	}
	status = frame_new_sized(&floats->head, w > TURNED_LANES_MOST ? w : TURNED_LANES_MOST + 1,
	    h, out);
	for (size_t c = 0; c < in->head.c && status == 0; c++)
		for (size_t y = 0; y < h; y++) {
			float *to = frame_floats(*out, c, y);

			memcpy(to, frame_floats(floats, c, y), w * sizeof(*to));
			for (size_t x = 0; x < (*out)->head.w; x++)
				if (x >= w || (c == mesh->point[2] &&
				    lacks_place(mesh, floats, x, y)))
					to[x] = NAN;
		}
	frame_free(floats);
	return status;
}

#define CLOUD_COLUMNS 256

/* The points of a table in the order of their cubes, so that neighbours are near, and their
 * normals, 0 where there are none. At the right and below there is no point. */
static int
cloud_floats(struct run *run, const struct frame *in, struct surface *surface)
{
	struct cloud cloud;
	struct frame_head head;
	int status = cloud_of_table(run, in, &cloud);

	head_copy(&head, &in->head);
	head.type = SAMPLE_FLOAT;
	head.w = CLOUD_COLUMNS + 1;
	head.h = cloud.n / CLOUD_COLUMNS + 2;
	if (status == 0)
		status = frame_new(&head, &surface->floats);
	if (status == 0)
		status = frame_new_named(head.w, head.h, 3, SAMPLE_FLOAT, "nx ny nz",
		    &surface->normals);
	for (size_t c = 0; c < head.c + 3 && status == 0; c++)
		for (size_t i = 0; i < head.w * head.h; i++) {
			size_t x = i % head.w, y = i / head.w, at = y * CLOUD_COLUMNS + x;
			bool there = x < CLOUD_COLUMNS && at < cloud.n;

			if (c < head.c)
				frame_floats(surface->floats, c, y)[x] =
				    there ? frame_sample(in, c, 0, cloud.index[at]) : NAN;
			else
				frame_floats(surface->normals, c - head.c, y)[x] =
				    there ? cloud.normal[c - head.c][at] : NAN;
		}
	surface->radius = CLOUD_DISC * cloud.spacing;
	head_free(&head);
	cloud_free(&cloud);
	return status;
}

/* Discs without a normal face the viewer. */
static void
face_viewer(struct frame *normals, const float away[3])
{
	for (size_t y = 0; y < normals->head.h; y++)
		for (size_t x = 0; x < normals->head.w; x++) {
			bool none = true;

			for (size_t k = 0; k < 3; k++)
				none &= frame_floats(normals, k, y)[x] == 0;
			for (size_t k = 0; k < 3 && none; k++)
				frame_floats(normals, k, y)[x] = away[k];
		}
}

static void
normals_band(void *arg, size_t band)
{
	struct surface *surface = arg;
	size_t y0 = band * NORMAL_ROWS, y1 = y0 + NORMAL_ROWS, h = surface->floats->head.h;

	shade_rows()->find_normals(surface->run, surface->floats, y0, y1 < h ? y1 : h,
	    surface->normals);
}

/* The direction of view and the lamp in the coordinates of the normals: the frame's own, or with z
 * away from the camera. */
static void
turn_lamp(const struct priv *priv, const double *r, bool own, float lamp[3], float away[3])
{
	const struct shade_light *light = &priv->light;
	bool towards = own && priv->mesh.towards;

	for (int k = 0; k < 3; k++) {
		double side = k == 2 && towards ? -1 : 1;

		lamp[k] = (float)(side *
		    (r[k] * light->x + r[3 + k] * light->y + r[6 + k] * light->z));
		away[k] = (float)(side * r[6 + k]);
	}
}

/* A plane of the columns (k = 0) or rows of a depth map, in its unit. */
static int
fill_places(const struct turned *turned, int k, struct frame **out)
{
	if (frame_new_named(turned->w, turned->h, 1, SAMPLE_FLOAT, "place", out) < 0)
		return -1;
	for (size_t y = 0; y < turned->h; y++)
		for (size_t x = 0; x < turned->w; x++)
			frame_floats(*out, 0, y)[x] =
			    (float)(turned->spacing[k] * (double)(k ? y : x));
	return 0;
}

#define KEY_SLOPE_LEAST 0.01	/* own z over the distance along the view, if z is the key */

/*
 * The key, which is smaller for the nearer one of two hits. Along the direction of view own z grows
 * by r[8] of the distance, x by [6] and y by [7]. Own z is taken if that is enough, as it is the
 * value of --colour depth, too; else the one that grows fastest. Returns 0 for x, 1, 2; *facing:
 * +-1 times it is the key.
 */
static int
key_axis(const double *r, bool towards, float *facing)
{
	int k = fabs(r[8]) >= KEY_SLOPE_LEAST ? 2 : fabs(r[6]) >= fabs(r[7]) ? 0 : 1;

	*facing = (r[6 + k] < 0) != (k == 2 && towards) ? -1 : 1;
	return k;
}

/* *places: memory of a key that is no channel. */
static int
choose_key(struct turned *turned, struct frame **places)
{
	const struct surface_plane plane[3] = { turned->x, turned->y, turned->z };
	int k = key_axis(turned->rotation, turned->sign < 0, &turned->facing);
	struct surface_plane *key = &turned->attribute[TURNED_KEY];

	turned->key_axis = k;
	*key = plane[k];
	if (!key->at) {
		if (fill_places(turned, k, places) < 0)
			return -1;
		plane_of(key, *places, 0);
	}
	turned->coloured = turned->by_value && turned->attribute[TURNED_VALUE].at != key->at;
	return 0;
}

/* The first point from the middle of the frame on: other points are near it, and their differences
 * to it are exact or nearly so, however far the surface lies from 0. False: there is no point. */
static bool
find_origin(struct turned *turned)
{
	const struct surface_plane *plane[3] = { &turned->x, &turned->y, &turned->z };
	size_t points = turned->w * turned->h, half = points / 2;

	for (size_t i = 0; i < points; i++) {
		size_t at = (half + i) % points, y = at / turned->w, x = at % turned->w;

		if (!shade_there(turned->z.at[y * turned->z.stride + x]))
			continue;
		for (int k = 0; k < 3; k++)
			if (plane[k]->at)
				turned->origin[k] = plane[k]->at[y * plane[k]->stride + x];
		return true;
	}
	return false;
}

/* ---- where it lies in the picture ---- */

/* The first and the last percentile of turned X (k = 0) or Y, of every step-th row. */
static void
outer_percentiles(struct turned *turned, int k, size_t step, float at[2])
{
	float *v = turned->values;
	size_t n = 0;

	at[0] = at[1] = 0;
	for (size_t y = 0; y < turned->h; y += step)
		n += turned_rows()->list_row(turned, k, y, v + n);
	if (n)
		numbers_ranks(v, n, (size_t[2]){ n / 100, n - 1 - n / 100 }, 2, at);
}

/* The range of turned X (k = 0) or Y that the picture shows: all of it, except a few points that
 * are far out, as points of wrong fringe orders are. Some rows tell whether there are any. */
static void
range_shown(struct turned *turned, int k, float *low, float *high)
{
	float least = INFINITY, most = -INFINITY, at[2];

	for (size_t i = 0; i < turned->blocks; i++) {
		least = fminf(least, turned->block[i].least[k]);
		most = fmaxf(most, turned->block[i].most[k]);
	}
	if (!(least <= most))
		least = most = 0;
	*low = least;
	*high = most;
	turned->rounding = 4 * FLT_EPSILON * fmaxf(fabsf(least), fabsf(most));
	outer_percentiles(turned, k, turned->h / VIEW_LOOK_ROWS + 1, at);
	if (!shade_outlies(least, most, at[0], at[1]))
		return;
	outer_percentiles(turned, k, 1, at);
	*low = shade_first_shown(least, at[0], at[1]);
	*high = shade_last_shown(most, at[0], at[1]);
}

/* What a unit of own x, y and z away from the camera gives of turned X (k = 0) and Y. */
static void
axis_shares(const struct turned *turned, int k, float share[3])
{
	const double *r = &turned->rotation[3 * k];
	bool own = turned->priv->mesh.point[0] != NO_CHANNEL;

	for (int i = 0; i < 2; i++)
		share[i] = (float)(r[i] * (own ? 1 : turned->spacing[i]));
	share[2] = (float)(r[2] * turned->sign);
}

/* Finds how the surface reaches, and its place in the picture. *pixels: samples of a unit of
 * length. */
static void
place_surface(struct run *run, struct turned *turned, double *pixels)
{
	const double *r = turned->rotation;
	const float samples[2] = { (float)turned->columns, (float)turned->rows };
	float low[2], high[2], scale;

	for (size_t x = 0; x < turned->w; x++)
		for (int k = 0; k < 2; k++)
			turned->column[k][x] = (float)(r[3 * k] * turned->spacing[0] * (double)x);
	run_for(run, turned->blocks, turned_rows()->survey_block, turned);
	for (int k = 0; k < 2; k++) {
		range_shown(turned, k, &low[k], &high[k]);
		low[k] -= turned->radius;
		high[k] += turned->radius;
		turned->middle[k] = 0.5f * low[k] + 0.5f * high[k];
	}
	scale = shade_scale(high[0] - low[0], high[1] - low[1], samples[0], samples[1]);
	*pixels = turned->scale = scale;
	if (turned->radius > 0)
		turned->radius = fmaxf(turned->radius, DISC_SAMPLES_LEAST / scale);
	for (int k = 0; k < 2; k++) {
		float *factor = turned->factor[k];

		axis_shares(turned, k, factor);
		for (int i = 0; i < 3; i++)
			factor[i] *= scale;
		factor[3] = shade_zero(scale, low[k], high[k], samples[k]);
		for (size_t x = 0; x < turned->w; x++)
			turned->placed_column[k][x] = factor[0] * (float)x;
	}
}

/* ---- the picture ---- */

#define STRIP_BYTES (768 << 10)	/* of records: with what else is read they fit a second cache */
#define STRIP_ROWS_LEAST 8
#define STRIP_ROWS_MOST 64
#define MOST_SAMPLES (1 << 24)	/* along a side: places are floats */

/* That of a view whose range of values is known; else less than 0. */
static float
known_tolerance(const struct priv *priv, const struct parameters *p)
{
	return p->by == BY_NONE ? FLT_MAX :
	    p->range.n ? (float)(p->range.v[1] - p->range.v[0]) / VIEW_TOLERANCE_PARTS :
	    p->by == BY_RGB ? (priv->high - priv->low) / VIEW_TOLERANCE_PARTS : -1;
}

/* By how much the values of a pixel may differ to be lit and coloured once: a 64th of the range,
 * which is part of a step between two anchors of the colours. */
static float
value_tolerance(const struct turned *turned, const struct parameters *p)
{
	const struct surface_plane *value = &turned->attribute[TURNED_VALUE];
	size_t stride = turned->w * turned->h / VIEW_TOLERANCE_SAMPLES | 1, n = 0;
	float v[VIEW_TOLERANCE_SAMPLES * 2 + 2], at[2], known = known_tolerance(turned->priv, p);

	if (known >= 0)
		return known;
	for (size_t i = 0; i < turned->w * turned->h && n < sizeof(v) / sizeof(*v); i += stride) {
		v[n] = value->at[i / turned->w * value->stride + i % turned->w];
		n += shade_there(v[n]);
	}
	if (n < VIEW_TOLERANCE_LEAST)
		return 0;
	numbers_ranks(v, n, (size_t[2]){ n / 50, n - 1 - n / 50 }, 2, at);
	return (at[1] - at[0]) / VIEW_TOLERANCE_PARTS;
}

/* The values of a row of pixels that are lit once, in the row's own place. */
static void
list_values(void *arg, size_t y)
{
	struct turned *turned = arg;

	turned->listed[y] = turned_rows()->list_values(turned, y,
	    turned->values + y * turned->stride);
}

/* Sets the range of colours to that of what is seen: of each pixel that is lit once, and of one
 * sample of the others, if it is drawn; of all samples where few pixels are seen. */
static void
find_colours(struct run *run, struct turned *turned)
{
	size_t rows = turned->samples == 2 ? turned->rows / 2 : turned->rows, n = 0, each = 1;
	size_t mixed = turned->mixed_chunks * MIXED_PIXELS;
	float *values = turned->values, *more = NULL;

	run_for(run, rows, list_values, turned);
	for (size_t y = 0; y < rows; n += turned->listed[y++])
		if (n < y * turned->stride)
			memmove(values + n, values + y * turned->stride,
			    turned->listed[y] * sizeof(*values));
	if (turned->mixed_pixels > n / VIEW_MIXED_SHARE && turned->mixed_pixels < VIEW_MIXED_MOST) {
		each = 4;
		more = must_large(4 * (n + mixed), sizeof(*more));
		for (size_t k = 0; k < each; k++)
			memcpy(more + k * n, values, n * sizeof(*values));
		values = more;
		n *= each;
	}
	for (size_t i = 0; i < mixed * each; i++) {
		const struct mixed_pixels *of = &turned->mixed[i / each / MIXED_PIXELS];
		size_t at = i / each % MIXED_PIXELS, k = each > 1 ? i % each : of->pixel[at] % 4;

		if (of->pixel[at] == UINT32_MAX || of->light[k][at] == TURNED_EMPTY)
			continue;
		values[n] = of->value[k][at];
		n += shade_there(values[n]);
	}
	colours_find_range(run->priv, values, n);
	free(more);
}

static void
set_anchors(struct turned *turned)
{
	const float (*anchor)[3] = turned->priv->anchor;
	size_t n = turned->priv->anchors;

	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 3; k++) {
			turned->anchor[k][i] = anchor[i][k];
			turned->anchor[3 + k][i] = i + 1 < n ? anchor[i + 1][k] - anchor[i][k] : 0;
		}
	turned->last_anchor = (float)(n - 1);
}

/* Has any pixel something to show? */
static bool
is_seen(const struct turned *turned)
{
	size_t each = turned->samples == 2 ? 2 : 1;	/* samples of a light, along x and y */

	if (turned->mixed_pixels)
		return true;
	for (size_t y = 0; y < turned->rows / each; y++)
		for (size_t x = 0; x < turned->columns / each; x++)
			if (turned->light[y * turned->stride + x] != TURNED_EMPTY)
				return true;
	return false;
}

/* Are the ends of the colours percentiles of the picture? */
static bool
finds_range(const struct parameters *p)
{
	return p->by != BY_NONE && !p->range.n && p->by != BY_RGB;
}

/* Draws, finds the colours and paints them. */
static void
paint(struct run *run, struct turned *turned, size_t threads)
{
	const struct parameters *p = run->parameters;
	size_t rows = turned->out->head.h;

	run_for(run, threads, turned_rows()->draw_strips, turned);
	if (finds_range(p))
		find_colours(run, turned);
	set_anchors(turned);
	run_for(run, (rows + PAINT_ROWS - 1) / PAINT_ROWS, turned_rows()->paint_band, turned);
	run_for(run, turned->mixed_chunks, turned_rows()->paint_mixed, turned);
}

/* ---- memory, which stays for the next frame ---- */

/* A piece of `arena`, whose memory may not be there yet: then only its bytes are counted. */
static void *
take(struct arena *arena, size_t n, size_t bytes)
{
	unsigned char *at = arena->memory ? arena->memory + arena->used : NULL;

	arena->used += (n * bytes + 63) / 64 * 64;
	return at;
}

/* n items, rounded up to vectors of so many lanes. */
static size_t
whole_vectors(size_t n, size_t lanes)
{
	return (n + lanes - 1) / lanes * lanes;
}

static void
lay_out(struct turned *turned, size_t threads, struct arena *arena)
{
	bool once = turned->samples == 2;
	size_t rows = once ? turned->rows / 2 : turned->rows, samples = rows * turned->stride;
	size_t points = turned->w * turned->h, chunks = once ? samples / MIXED_PIXELS + threads : 0;
	size_t most = samples + chunks * MIXED_PIXELS;

	arena->used = 0;
	turned->block = take(arena, turned->blocks, sizeof(*turned->block));
	for (int k = 0; k < 2; k++) {
		turned->reach[k] = take(arena, turned->blocks * turned->vectors +
		    TURNED_LANES_MOST, sizeof(float));
		turned->column[k] = take(arena, turned->w, sizeof(float));
		turned->placed_column[k] = take(arena, turned->w, sizeof(float));
	}
	turned->strip = take(arena, threads, sizeof(*turned->strip));
	for (size_t i = 0; i < threads; i++) {
		void *strip = take(arena, turned->strip_rows * turned->strip_width,
		    (TURNED_RECORD + 1) * sizeof(float));

		if (arena->memory)
			turned->strip[i] = strip;
	}
	turned->value = take(arena, samples, sizeof(*turned->value));
	turned->light = take(arena, samples, sizeof(*turned->light));
	turned->mixed = take(arena, chunks, sizeof(*turned->mixed));
	turned->listed = take(arena, rows, sizeof(*turned->listed));
	turned->values = take(arena, (points > most ? points : most) + TURNED_LANES_MOST,
	    sizeof(*turned->values));
}

/* Memory of a view, for so many threads or fewer. -1 after fail(). */
static int
view_memory(struct turned *turned, struct arena *arena, size_t *threads)
{
	size_t n = turned->samples, lanes = turned_rows()->lanes, rows;
	struct arena needed = { 0 };

	turned->vectors = (turned->w - 1 + lanes - 1) / lanes;
	turned->blocks = (turned->h - 1 + BLOCK_ROWS - 1) / BLOCK_ROWS;
	turned->strip_width = whole_vectors(turned->columns, 2 * TURNED_LANES_MOST);
	rows = STRIP_BYTES / (turned->strip_width * TURNED_RECORD * sizeof(float));
	rows = rows < STRIP_ROWS_LEAST ? STRIP_ROWS_LEAST :
	    rows > STRIP_ROWS_MOST ? STRIP_ROWS_MOST : rows;
	turned->strip_rows = rows / n * n;
	turned->strips = (turned->rows + turned->strip_rows - 1) / turned->strip_rows;
	*threads = *threads < turned->strips ? *threads : turned->strips;
	turned->stride = whole_vectors(n == 2 ? turned->columns / 2 : turned->columns,
	    TURNED_LANES_MOST);
	if (turned->columns >= MOST_SAMPLES || turned->rows >= MOST_SAMPLES ||
	    turned->columns * turned->rows / (n * n) >= UINT32_MAX)
		return fail("--size", "a turned view of %zu x %zu samples is too large: at most %d "
		    "along a side, and %u pixels", turned->columns, turned->rows,
		    MOST_SAMPLES - 1, UINT32_MAX - 1);
	lay_out(turned, *threads, &needed);
	if (arena->bytes < needed.used) {
		free(arena->memory);
		*arena = (struct arena){ .memory = must_large(needed.used, 1),
			.bytes = needed.used };
	}
	lay_out(turned, *threads, arena);
	return 0;
}

/* Sets the scale bar's length of a pixel; scale: samples of a unit of length. */
static int
measure(struct priv *priv, double scale, size_t samples)
{
	if (!priv->annotation.scale_bar)
		return 0;
	if (!priv->mesh.scaled)
		return fail("--scale-bar", "the length of a pixel is not known: the input has "
		    "neither spacings nor channels x y");
	priv->annotation.pixel_length = scale < 1e20 ? (double)samples / scale : NAN;
	return 0;
}

/* The planes of a surface. -1 after fail(). */
static int
surface_planes(struct run *run, const struct frame *in, struct surface *surface,
    struct turned *turned)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	const struct mesh *mesh = &priv->mesh;
	double jump = p->jump;
	bool table = surface->radius > 0, given = mesh_has_normals(mesh) && !table;

	if (!table && !(jump > 0) && surface_jump(run, mesh, in, &jump) < 0)
		return -1;
	turned->jump = priv->jump = jump_largest(fmin(jump, FLT_MAX));
	plane_of(&turned->z, surface->floats, mesh->point[2]);
	plane_of(&turned->x, surface->floats, mesh->point[0]);
	plane_of(&turned->y, surface->floats, mesh->point[1]);
	plane_of(&turned->attribute[TURNED_VALUE], surface->floats, priv->value);
	turn_lamp(priv, turned->rotation, given || table, turned->lamp, turned->away);
	if (table)
		face_viewer(surface->normals, turned->away);
	if (!given && !table) {
		if (frame_new_named(turned->w, turned->h, 3, SAMPLE_FLOAT, "nx ny nz",
		    &surface->normals) < 0)
			return -1;
		run_for(run, (turned->h + NORMAL_ROWS - 1) / NORMAL_ROWS, normals_band, surface);
	}
	for (size_t k = 0; k < 3; k++)
		plane_of(&turned->attribute[TURNED_NX + k],
		    given ? surface->floats : surface->normals, given ? mesh->normal[k] : k);
	return 0;
}

/* Rotates first about the vertical axis (y), then about the horizontal one (x). */
static void
rotation(double yaw, double pitch, double r[9])
{
	double cy = cos(yaw), sy = sin(yaw), cp = cos(pitch), sp = sin(pitch);
	const double m[9] = { cy, 0, sy, sp * sy, cp, -sp * cy, -cp * sy, sp, cp * cy };

	memcpy(r, m, sizeof(m));
}

/* Samples along a side of a pixel. */
static size_t
samples_of(const struct parameters *p)
{
	return p->samples == OPT_NONE_INTEGER ? 2 : (size_t)p->samples;
}

#define TABLE_WIDTH 800		/* of a picture without --size */
#define TABLE_HEIGHT 600

/* A view of frames of this head. */
static struct turned
turned_view(const struct run *run, const struct frame_head *in)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	size_t samples = samples_of(p), w = p->size.w, h = p->size.h;
	struct turned turned = { .priv = priv,
		.w = in->w > TURNED_LANES_MOST ? in->w : TURNED_LANES_MOST + 1, .h = in->h,
		.spacing = { priv->mesh.spacing[0], priv->mesh.spacing[1] },
		.sign = priv->mesh.towards ? -1 : 1, .by_value = p->by != BY_NONE,
		.samples = samples };

	if (w == 0) {
		w = head_is_table(in) ? TABLE_WIDTH : in->w;
		h = head_is_table(in) ? TABLE_HEIGHT : in->h;
	}
	turned.columns = samples * w;
	turned.rows = samples * h;
	rotation(p->view.n ? p->view.v[0] : 0, p->view.n ? p->view.v[1] : 0, turned.rotation);
	return turned;
}

void
turned_size(const struct run *run, const struct frame_head *in, size_t *w, size_t *h)
{
	struct turned turned = turned_view(run, in);

	*w = turned.columns / turned.samples;
	*h = turned.rows / turned.samples;
}

/* Warns of the first picture of a surface that shows nothing of it. */
static void
check_seen(const struct run *run, bool has_points, bool seen)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;

	if (!has_points || seen || priv->told_empty || p->jump > 0)
		return;
	priv->told_empty = true;
	warn("--view", "the picture is empty: no three neighbours make a triangle with a normal");
}

/* Draws the surface of floats into a new picture. */
static int
draw_surface(struct run *run, const struct frame *in, struct surface *surface,
    struct frame **places, struct frame **picture)
{
	struct priv *priv = run->priv;
	size_t threads = run->threads > 1 ? (size_t)run->threads : 1;
	struct turned turned = turned_view(run, &in->head);
	bool has_points;
	double scale;

	if (surface->radius > 0) {
		turned.w = surface->floats->head.w;
		turned.h = surface->floats->head.h;
		turned.radius = (float)surface->radius;
	}
	if (surface_planes(run, in, surface, &turned) < 0 || choose_key(&turned, places) < 0 ||
	    view_memory(&turned, &priv->arena, &threads) < 0)
		return -1;
	has_points = find_origin(&turned);
	place_surface(run, &turned, &scale);
	turned.tolerance = value_tolerance(&turned, run->parameters);
	if (measure(priv, scale, turned.samples) < 0 ||
	    annotated_new(&in->head, turned.columns / turned.samples,
	    turned.rows / turned.samples, &turned.out) < 0)
		return -1;
	*picture = turned.out;
	paint(run, &turned, threads);
	check_seen(run, has_points, is_seen(&turned));
	return 0;
}

/* struct body's `survey`: what is checked of the options. */
int
turned_survey(struct run *run, const struct frame *in)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;

	shade_rows()->one_colour_look(run, in, 0, in->head.h);
	colours_check_white(run, in);
	return head_is_table(&in->head) ? 0 : jump_check(in, p->jump, &priv->jump_checked);
}

/* struct body's `frame`. */
int
turned_frame(struct run *run, struct frame *in)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct surface surface = { .run = run };
	size_t pictures = p->by == BY_RGB ? 3 : 1;
	struct frame *out = NULL;
	bool table = head_is_table(&in->head);
	int status = table ? cloud_floats(run, in, &surface) :
	    surface_floats(&priv->mesh, in, &surface.floats);

	/* in its own colours a surface is drawn by each of them, and gives the picture's */
	for (size_t k = 0; k < pictures && status == 0; k++) {
		struct frame *places = NULL, *picture = NULL;

		if (p->by == BY_RGB)
			priv->value = priv->rgb[k];
		status = draw_surface(run, in, &surface, &places, &picture);
		for (size_t y = 0; k && status == 0 && y < out->head.h; y++)
			memcpy(frame_row(out, k, y), frame_row(picture, k, y), out->head.w);
		if (k)
			frame_free(picture);
		else
			out = picture;
		frame_free(places);
		if (!table) {
			frame_free(surface.normals);
			surface.normals = NULL;
		}
	}
	if (p->by == BY_RGB)
		priv->value = NO_CHANNEL;
	frame_free(surface.floats);
	frame_free(surface.normals);
	frame_free(in);
	if (status == 0)
		return annotated_emit(run, out);
	frame_free(out);
	return -1;
}

/* ---- the device does all of it, where the frame lies ---- */

#define DIGITS 3		/* of a rank's bits: 11, 11 and 10 */
#define ITEMS_MOST 64		/* points of an invocation */

/* Passes of a view, in their order. */
struct view_passes {
	struct passes *passes;
	struct view_block block;
	uint32_t survey_side;		/* of the pixels that there is a workgroup for */
};

static void
add_pass(struct view_passes *view, const struct shader *shader, uint32_t side)
{
	struct pass pass = { .shader = shader, .block = &view->block,
		.bytes = sizeof(view->block), .tile = { side, side },
		.local = { VIEW_GROUP, 1 } };

	passes_add(view->passes, &pass);
}

/* The two ranks of each of `lists` lists from `list` on. */
static void
add_ranks(struct view_passes *view, uint list, uint lists, uint32_t side)
{
	view->block.list = list;
	view->block.lists = lists;
	for (view->block.step = 0; view->block.step < DIGITS; view->block.step++) {
		add_pass(view, SHADER(shade_count), side);
		add_pass(view, SHADER(shade_rank), INT32_MAX);
	}
	add_pass(view, SHADER(shade_settle), INT32_MAX);
}

/* The frame's place in the picture, the jump, and normals where there are none. */
static void
add_survey(struct view_passes *view)
{
	view->block.step = 0;
	add_pass(view, SHADER(shade_clear), VIEW_TILE);
	for (; view->block.step < 2; view->block.step++)
		add_pass(view, SHADER(shade_survey), view->survey_side);
	add_ranks(view, VIEW_STEPS, VIEW_LISTS, view->survey_side);
	add_ranks(view, VIEW_ALL, 2, view->survey_side);
	if (view->block.channel[TURNED_NX] == VIEW_FOUND)
		add_pass(view, SHADER(shade_normals), view->survey_side);
}

static void
add_drawing(struct view_passes *view)
{
	struct view_block *block = &view->block;

	block->step = 0;
	for (; block->step < (block->channel[TURNED_VALUE] == VIEW_NONE ? TURNED_RECORD :
	    TURNED_ATTRIBUTES); block->step++)
		add_pass(view, SHADER(shade_draw), VIEW_TILE);
	add_pass(view, SHADER(shade_light), VIEW_TILE);
	if (block->finds)
		add_ranks(view, VIEW_COLOURS, 1, VIEW_COUNT_TILE);
	add_pass(view, SHADER(shade_paint), VIEW_TILE);
}

/* The shares of columns and rows in turned X and Y, and their places where these are the key. */
static int
add_table(struct passes *passes, const struct turned *turned, int key)
{
	const double *r = turned->rotation, *spacing = turned->spacing;
	size_t w = turned->w, h = turned->h;
	float *table = must_alloc(3 * (w + h), sizeof(*table));
	int status;

	for (size_t i = 0; i < w + h; i++) {
		int k = i >= w;
		double at = (double)(k ? i - w : i);

		table[i] = (float)(r[k] * spacing[k] * at);
		table[w + h + i] = (float)(r[3 + k] * spacing[k] * at);
		table[2 * (w + h) + i] = key < 2 ? (float)(spacing[k] * at) : 0;
	}
	status = passes_constant(passes, table, 3 * (w + h) * sizeof(*table));
	free(table);
	return status;
}

/* The channel of an attribute, which the device then has. */
static uint
read_channel(struct passes *passes, size_t c)
{
	if (c == NO_CHANNEL)
		return VIEW_NONE;
	passes_read(passes, c);
	return (uint)c;
}

/* What the shaders read of the frame and the view. */
static void
pack_view(const struct run *run, const struct turned *turned, int key, struct view_passes *view)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	const struct mesh *mesh = &priv->mesh;
	struct view_block *block = &view->block;
	size_t pixels = mesh->w * mesh->h;
	const uint point[3] = { read_channel(view->passes, mesh->point[0]),
		read_channel(view->passes, mesh->point[1]),
		read_channel(view->passes, mesh->point[2]) };

	*block = (struct view_block){
		.w = (uint)turned->w, .h = (uint)turned->h, .own_w = (uint)mesh->w,
		.x = point[0], .y = point[1], .z = point[2], .value = VIEW_NONE,
		.channel = { point[key] != VIEW_NONE ? point[key] : key ? VIEW_ROW : VIEW_COLUMN,
		VIEW_FOUND, VIEW_FOUND, VIEW_FOUND, VIEW_NONE },
		.samples = (uint)turned->samples, .columns = (uint)turned->columns,
		.rows = (uint)turned->rows,
		.jump_stride = (uint)(pixels / JUMP_PIXELS + 1), .scaled = mesh->scaled,
		.sign = turned->sign, .right = (float)mesh->spacing[0],
		.down = (float)mesh->spacing[1], .facing = turned->facing,
		.jump = p->jump > 0 ? jump_largest(fmin(p->jump, FLT_MAX)) : 0,
		.tolerance = known_tolerance(priv, p), .same = 4 * SAME_DIRECTION,
		.by_value = turned->by_value, .finds = finds_range(p), .paints = VIEW_NONE,
		.diverging = priv->map == COLORMAP_DEVIATION,
		.low = priv->low, .high = priv->high, .plaster = PLASTER,
		.background = priv->background, .nan = priv->nan, .light = priv->light,
	};
	for (size_t k = 0; k < 3 && mesh_has_normals(mesh); k++)
		block->channel[TURNED_NX + k] = read_channel(view->passes, mesh->normal[k]);
	turn_lamp(priv, turned->rotation, mesh_has_normals(mesh), block->lamp, block->away);
	for (int k = 0; k < 2; k++) {
		axis_shares(turned, k, block->axis + 3 * k);
		for (int i = 0; i < 3; i++)
			block->rotation[3 * k + i] = (float)turned->rotation[3 * k + i];
	}
}

/* struct body's `passes`. */
int
turned_passes(struct run *run, struct passes *passes)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	const struct frame_head *in = passes_input(passes);
	struct view_passes view = { .passes = passes };
	struct turned turned = turned_view(run, in);
	size_t points = turned.w * turned.h, samples = turned.columns * turned.rows, groups = 0;
	size_t words = VIEW_ATTRIBUTES * samples + 2 * VIEW_LISTS * VIEW_BINS + VIEW_WORDS;
	size_t w = turned.columns / turned.samples, h = turned.rows / turned.samples;
	size_t plane_words = (h + 1) * (frame_stride(w, SAMPLE_FLOAT) / sizeof(float));
	int key = key_axis(turned.rotation, turned.sign < 0, &turned.facing);

	for (view.survey_side = 2 * VIEW_COUNT_TILE; groups * VIEW_GROUP * ITEMS_MOST < points &&
	    view.survey_side > 1;) {
		view.survey_side /= 2;
		groups = ((w + view.survey_side - 1) / view.survey_side) *
		    ((h + view.survey_side - 1) / view.survey_side);
	}
	if (samples > UINT32_MAX / 16 || points > UINT32_MAX / 2 ||
	    turned.columns >= MOST_SAMPLES || turned.rows >= MOST_SAMPLES ||
	    groups * VIEW_GROUP * ITEMS_MOST < points)
		return passes_refuse(passes, "the picture or the frame has too many samples");
	pack_view(run, &turned, key, &view);
	view.block.last = (float)(priv->anchors - 1);
	if (view.block.channel[TURNED_NX] == VIEW_FOUND)
		words += 3 * in->w * in->h;
	passes_whole(passes);
	passes_scratch(passes, words / plane_words + 1);
	if (passes_constant(passes, priv->anchor, priv->anchors * sizeof(*priv->anchor)) < 0 ||
	    add_table(passes, &turned, key) < 0)
		return -1;
	view.block.value = read_channel(passes, priv->value);
	add_survey(&view);
	/* in its own colours a surface is drawn by each of them, and gives the picture's */
	for (uint k = 0; k < (p->by == BY_RGB ? 3 : 1); k++) {
		size_t value = p->by == BY_RGB ? priv->rgb[k] : priv->value;

		if (p->by == BY_RGB) {
			view.block.paints = k;
			view.block.step = 1;
			add_pass(&view, SHADER(shade_clear), VIEW_TILE);
		}
		view.block.value = read_channel(passes, value);
		view.block.channel[TURNED_VALUE] = view.block.value ==
		    view.block.channel[TURNED_KEY] ? VIEW_NONE : view.block.value;
		add_drawing(&view);
	}
	return 0;
}

/* struct body's `made`. */
int
turned_made(struct run *run, struct frame *made)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	const uint32_t *results = frame_row(made, 0, --made->head.h);
	float scale;

	if (results[VIEW_FAILED]) {
		frame_free(made);
		if (run->verbose)
			fprintf(stderr, "%s: shade runs on the processor: squares of the surface "
			    "have too many samples\n", fail_program());
		return 1;
	}
	if (finds_range(p)) {
		memcpy(&priv->low, &results[VIEW_LOW], sizeof(priv->low));
		memcpy(&priv->high, &results[VIEW_HIGH], sizeof(priv->high));
	}
	memcpy(&scale, &results[VIEW_SCALE], sizeof(scale));
	if (measure(priv, scale, samples_of(p)) < 0) {
		frame_free(made);
		return -1;
	}
	check_seen(run, results[VIEW_VALID], results[VIEW_SEEN]);
	return annotated_emit(run, made);
}
