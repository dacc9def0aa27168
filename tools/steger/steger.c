/*
 * Centres of laser lines, to a small part of a pixel: options, keys, points as frames, the
 * correction for sharp edges, points on the device, what points tell the checks, frames and plan.
 * The detector is that of feature/line.h (Steger 1998); steger_rows.c has the loops.
 */
#include "steger.h"

#include "checks/checks.h"
#include "run/passes.h"
#include "steger.block.h"

struct priv {
	struct line_options line;
	struct line_finder *finder;
	struct derivative_kernels kernels;	/* for --sharp */
	bool automatic;			/* the threshold comes from the first frame */
	bool thresholds_set;
	double noise;			/* grey levels; NaN: not measured */
	size_t channel, background;	/* NO_CHANNEL: none */
	bool colour, chosen;	/* of a picture in colour the channel is to be chosen; it is */
	size_t choice;		/* 0 to 2 */
	size_t frames, points, found;	/* found: with those of lines that are too short */
	double strongest;		/* of frames without a point, until there is one */
	double at_border;		/* the same with the border's pixels */
	double other;			/* of the other sign, in the same one; 0: not much more */
	bool paired;			/* points of some image came in pairs */
	bool looked;			/* an image whose points do not was looked at */
	struct laser_line told;		/* to the checks, of the image at hand */
	bool many;	/* an image had more candidates than a list of bytes holds */
};

/* ---- options ---- */

struct parameters {
	double sigma, width, low;
	const char *threshold, *background, *channel;
	struct numbers roi;
	long min_length;
	bool dark, plain, asymmetric, sharp, per_row, per_column, keep_border, no_skip;
};

#define SHARP_WIDTH_MOST 12	/* px: wider lines need no correction */
#define SIGMA_STANDARD 2.0	/* px */
static const struct opt options[] = {
	{ 0, "sigma", "PX", OPT_NUMBER, AT(sigma), NULL, 0, 64, "px",
	    "standard deviation of the smoothing: that of the line; 2 if not given" },
	{ 0, "width", "PX", OPT_NUMBER, AT(width), NULL, 0, 220, "px",
	    "the full width of a line with sharp edges, for --sigma" },
	{ 0, "threshold", "T", OPT_TEXT, AT(threshold), "auto", 0, 0, "grey levels per px^2",
	    "the least response of a line; auto: 9 times what noise gives" },
	{ 0, "low", "T", OPT_NUMBER, AT(low), NULL, 0, 1e9, "grey levels per px^2",
	    "the least response of a point of a line; as --threshold if not given" },
	{ 0, "background", "FILE", OPT_FRAME, AT(background), NULL, 0, 0, NULL,
	    "the image without laser, or one for each image; it is subtracted" },
	FLAG_ROW(0, "dark", dark, "the line is darker than what is beside it"),
	{ 0, "roi", "X,Y,W,H", OPT_NUMBERS, AT(roi), NULL, 0, 1e9, "px",
	    "only points of these pixels" },
	FLAG_ROW(0, "keep-border", keep_border,
	    "also points within 3 sigma of the picture's border, off by up to 0.7 px"),
	FLAG_ROW(0, "per-row", per_row,
	    "the strongest point of each row, as an image of one column"),
	FLAG_ROW(0, "per-column", per_column,
	    "the strongest point of each column, as an image of one row"),
	{ 0, "min-length", "N", OPT_INTEGER, AT(min_length), "5", 1, 1e9, NULL,
	    "lines of fewer points go" },
	{ 0, "channel", "NAME", OPT_TEXT, AT(channel), NULL, 0, 0, NULL,
	    "red, green or blue of an image in colour, or the name of a channel; else the best" },
	FLAG_ROW(0, "asymmetric", asymmetric, "correct for sides of different brightness"),
	FLAG_ROW(0, "sharp", sharp,
	    "correct for the aliasing of edges that are as sharp as pixels, of a line of --width"),
	FLAG_ROW(0, "plain", plain, "the point of Liu 2016, eq 12, alone; for comparison"),
	FLAG_ROW(0, "no-skip", no_skip, "filter every part of the image: the same result, slower"),
	{ 0 },
};

static int
choose_sigma(const struct parameters *p, double *sigma)
{
	if (!isnan(p->sigma) && !isnan(p->width))
		return fail_usage("--width", "asks for a sigma, and --sigma gives another one");
	*sigma = !isnan(p->sigma) ? p->sigma :
	    !isnan(p->width) ? p->width / 2 / sqrt(3) : SIGMA_STANDARD;
	if (*sigma >= DERIVATIVES_SIGMA_LEAST)
		return 0;
	if (!isnan(p->width))
		return fail_usage("--width", "%g px asks for sigma %.2g, below %g: pixels cannot "
		    "carry its derivatives; take --sigma %g", p->width, *sigma,
		    DERIVATIVES_SIGMA_LEAST, DERIVATIVES_SIGMA_LEAST);
	return fail_usage("--sigma", "%g px is below %g: pixels cannot carry its derivatives",
	    p->sigma, DERIVATIVES_SIGMA_LEAST);
}

static int
choose_thresholds(const struct parameters *p, struct line_options *to, bool *automatic)
{
	*automatic = !strcmp(p->threshold, "auto");
	if (*automatic) {
		to->low = isnan(p->low) ? 0 : p->low;
		return 0;
	}
	if (number_parse(p->threshold, &to->high) < 0 || !isfinite(to->high))
		return fail_usage("--threshold", "%s is neither a number nor auto", p->threshold);
	if (!(to->high > 0))
		return fail_usage("--threshold", "%s is not above 0", p->threshold);
	to->low = isnan(p->low) ? to->high : p->low;
	if (to->low > to->high)
		return fail_usage("--low", "%g is above --threshold %g", to->low, to->high);
	return 0;
}

static int
choose_roi(const struct parameters *p, struct line_options *to)
{
	if (!p->roi.n)
		return 0;
	for (size_t i = 0; i < 4; i++) {
		if (p->roi.v[i] != floor(p->roi.v[i]))
			return fail_usage("--roi", "%g is no whole number of pixels", p->roi.v[i]);
		to->roi[i] = (size_t)p->roi.v[i];
	}
	if (!to->roi[2] || !to->roi[3])
		return fail_usage("--roi", "is empty");
	return 0;
}

/* Sets run->colour from a colour's word; other words are names of channels. Without a word
 * choose_channel() looks at all three. */
static void
choose_colour(struct run *run, const char *channel)
{
	static const char *const names[] = { "red", "green", "blue" }, *const letters = "rgb";

	run->colour = channel ? COLOUR_KEEP : COLOUR_CHOOSE;
	for (size_t i = 0; channel && i < 3; i++)
		if (!strcmp(channel, names[i]) || (channel[0] == letters[i] && !channel[1]))
			run->colour = COLOUR_RED + (int)i;
}

/* Checks the options. *automatic: no threshold is given. Sets run->colour. -1 after fail(). */
static int
steger_options(struct run *run, struct line_options *to, bool *automatic)
{
	const struct parameters *p = run->parameters;

	if (choose_sigma(p, &to->sigma) < 0 || choose_thresholds(p, to, automatic) < 0 ||
	    choose_roi(p, to) < 0)
		return -1;
	if (p->per_row && p->per_column)
		return fail_usage("--per-column", "excludes --per-row");
	if (p->plain && p->asymmetric)
		return fail_usage("--asymmetric", "excludes --plain");
	if (p->sharp && (p->plain || p->asymmetric))
		return fail_usage("--sharp", "excludes --%s", p->plain ? "plain" : "asymmetric");
	if (p->sharp && isnan(p->width))
		return fail_usage("--sharp", "needs the line's --width");
	if (p->sharp && p->width > SHARP_WIDTH_MOST)
		return fail_usage("--sharp", "a line of %g px needs no such correction: %d px at "
		    "most", p->width, SHARP_WIDTH_MOST);
	to->min_length = (size_t)p->min_length;
	to->plain = p->plain;
	to->asymmetric = p->asymmetric;
	to->all_tiles = p->no_skip;
	to->border = p->keep_border;
	choose_colour(run, p->channel);
	return 0;
}

/* The channel that holds the image. -1 after fail(). */
static int
steger_channel(const struct run *run, const struct frame_head *in, const char *name, size_t *c)
{
	char hint[300];

	if (run->colour >= COLOUR_RED && run->colour <= COLOUR_BLUE)
		name = NULL;
	if (name)
		return run_channel(run, in, name, c);
	*c = 0;
	/* second inputs follow the image's own channels and have a dot in their names */
	if (in->c > 1 && !strchr(in->channel[1], '.') && !head_is_colour(in))
		return fail(NULL, "the input has the channels %s: name one with --channel",
		    head_channels_hint(in, hint));
	return 0;
}

/* Sets the keys of the output. noise: NaN if it was not measured. */
static void
steger_set_keys(struct meta *meta, const struct line_options *options,
    const struct line_image *image, double noise)
{
	meta_set_numbers(meta, "image_size_px", (double[2]){ (double)image->w, (double)image->h },
	    2);
	meta_set_number(meta, "line_sigma_px", options->sigma);
	meta_setf(meta, "line_threshold", "%.6g", options->high);
	if (options->low < options->high)
		meta_setf(meta, "line_low", "%.6g", options->low);
	if (!isnan(noise))
		meta_setf(meta, "line_noise", "%.6g", noise);
}

/* A level of the camera, in samples of 16 bits: cameras of 8 to 15 bits shift their levels up, or
 * multiply them by 257. */
static double
level_step(const struct line_image *image)
{
	size_t common = 0, shift = 256;

	if (image->image.type != SAMPLE_USHORT || (image->background.v &&
	    image->background.type != SAMPLE_USHORT))
		return 1;
	common = steger_rows()->common_divisor(image, &image->image, common);
	if (image->background.v)
		common = steger_rows()->common_divisor(image, &image->background, common);
	if (common % 257 == 0)
		return common ? 257 : 1;
	while (common % shift)
		shift /= 2;
	return (double)shift;
}

/* The least noise of an image: that of rounding to the camera's levels, and for floats a little of
 * their range. */
static double
line_noise_least(const struct line_image *image)
{
	double whole = level_step(image) / sqrt(12), range;

	if (image->image.type != SAMPLE_FLOAT)
		return image->background.v ? whole * M_SQRT2 : whole;
	range = steger_rows()->float_range(image);
	return range > 0 ? range * 1e-4 : 1e-30;
}

/* ---- points of lines as frames ---- */

enum { POINT_U, POINT_V, POINT_NU, POINT_NV, POINT_RESPONSE, POINT_WIDTH, POINT_LINE,
	POINT_FIELDS };

static void
put(struct frame *frame, size_t x, size_t y, const struct line_point *p)
{
	const float value[POINT_FIELDS] = { p->u, p->v, p->nu, p->nv, p->response, p->width,
		(float)p->line };

	for (size_t c = 0; c < POINT_FIELDS; c++)
		frame_floats(frame, c, y)[x] = value[c];
}

/* A table of all points. -1 after fail(). */
static int
points_table(const struct line_points *points, const struct frame_head *head, struct frame **out)
{
	if (frame_new_table(head, points->n, out) < 0)
		return -1;
	for (size_t i = 0; i < points->n; i++)
		put(*out, i, 0, &points->v[i]);
	return 0;
}

/* The strongest point of each row, as an image of one column, or of each column, as an image of one
 * row; NaN where there is none. Of equal points the first one. -1 after fail(). */
static int
points_per_line(const struct line_points *points, bool columns, const struct line_image *image,
    const struct frame_head *head, struct frame **out)
{
	size_t n = columns ? image->w : image->h;

	if (frame_new_sized(head, columns ? n : 1, columns ? 1 : n, out) < 0)
		return -1;
	for (size_t c = 0; c < POINT_FIELDS; c++)
		for (size_t i = 0; i < n; i++)
			frame_floats(*out, c, columns ? 0 : i)[columns ? i : 0] = NAN;
	for (size_t i = 0; i < points->n; i++) {
		const struct line_point *p = &points->v[i];
		float at = floorf((columns ? p->u : p->v) + 0.5f);
		size_t place = at > 0 ? (size_t)at : 0, x, y;

		place = place < n ? place : n - 1;
		x = columns ? place : 0;
		y = columns ? 0 : place;
		if (!(frame_floats(*out, POINT_RESPONSE, y)[x] >= p->response))
			put(*out, x, y, p);
	}
	return 0;
}

/*
 * ---- points on the device ----
 *
 * It filters every pixel, lists candidates by prefix sums and refines them; the processor links
 * them to lines.
 */

_Static_assert(STEGER_STEPS == LINE_STEPS && STEGER_LANES == LINE_LANES, "as in the shaders");

/* One workgroup per row; one for all; one invocation per pixel. */
#define PASS_ROWS .tile = { INT32_MAX, 1 }, .local = { STEGER_GROUP, 1 }
#define PASS_ONE .tile = { INT32_MAX, INT32_MAX }, .local = { STEGER_GROUP, 1 }
#define PASS_LIST .tile = { STEGER_GROUP, 1 }, .local = { STEGER_GROUP, 1 }

/* Of kernels between pixels. Mesa's llvmpipe counts the iterations of all loops of a shader
 * together and leaves a loop, without an error, after 65535 of them (LP_MAX_TGSI_LOOP_ITERATIONS);
 * a candidate may take 23 points of taps^2/2. */
#define TAPS_MOST 73

static void
describe(const struct priv *priv, const struct parameters *parameters, struct steger_block *to)
{
	const struct line_filter *f = &priv->finder->filter;
	const size_t *region = f->region;
	double sigma = f->kernels.sigma;

	*to = (struct steger_block){ .image = (uint)priv->channel,
		.background =
		    priv->background == NO_CHANNEL ? STEGER_NONE : (uint)priv->background,
		.dark = parameters->dark, .plain = f->options.plain,
		.radius = (uint)f->kernels.radius, .taps = (uint)f->taps, .room = (uint)f->room,
		.low = f->low, .limit = f->limit, .sigma = (float)sigma,
		.variance = (float)(sigma * sigma), .near_reach = (float)f->near_reach,
		.reach = (float)f->reach, .region_x = (uint)region[0],
		.region_y = (uint)region[1], .region_w = (uint)region[2],
		.region_h = (uint)region[3] };
}

static int
list_tables(struct passes *passes, const struct line_filter *f)
{
	size_t n = f->kernels.radius + 1;
	float kernels[3 * (DERIVATIVES_RADIUS_MOST + 1)];

	for (size_t order = 0; order < 3; order++)
		memcpy(kernels + order * n, f->kernels.weight[order], n * sizeof(*kernels));
	if (passes_constant(passes, kernels, 3 * n * sizeof(*kernels)) < 0)
		return -1;
	return passes_constant(passes, f->weight,
	    (LINE_STEPS + 1) * 3 * f->room * sizeof(*f->weight));
}

static int
steger_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	struct steger_block block;
	const struct pass pass[] = {
		{ SHADER(steger_columns), &block, sizeof(block), PASS_FOURS },
		{ SHADER(steger_rows), &block, sizeof(block), PASS_ROWS },
		{ SHADER(steger_offsets), &block, sizeof(block), PASS_ONE },
		{ SHADER(steger_compact), &block, sizeof(block), PASS_ROWS },
		{ SHADER(steger_refine), &block, sizeof(block), PASS_LIST },
	};

	if (priv->finder->filter.taps > TAPS_MOST)
		return passes_refuse(passes, "its sigma is above 8.75 px");
	describe(priv, run->parameters, &block);
	passes_read(passes, priv->channel);
	if (priv->background != NO_CHANNEL)
		passes_read(passes, priv->background);
	passes_scratch(passes, STEGER_SCRATCHES);
	if (list_tables(passes, &priv->finder->filter) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(pass) / sizeof(*pass); i++)
		passes_add(passes, &pass[i]);
	return 0;
}

/* A list's record as a candidate. False: the device dropped it. */
static bool
candidate_of(const struct line_filter *f, const uint32_t *record, struct line_candidate *c)
{
	float v[STEGER_RECORD];

	memcpy(v, record, sizeof(v));
	*c = (struct line_candidate){ record[0], record[1], v[2], v[3], v[4], v[5], v[6], v[7] };
	if (!(c->response > 0))
		return false;
	line_asymmetry_correct(f, c, v[STEGER_HALF], v[STEGER_LEFT], v[STEGER_RIGHT]);
	return true;
}

/* Takes the candidates of all tiles, in the order of rows and columns. *whole: false if a tile had
 * too little room. -1 after fail(). */
static int
take_lists(const struct frame *lists, struct line_finder *finder, bool *whole)
{
	struct line_candidates *all = &finder->all;
	size_t stride = lists->plane[0].stride;

	all->n = 0;
	*whole = true;
	for (size_t y = 0, rows; y < lists->head.h; y += rows) {
		const uint32_t *list = frame_row(lists, 0, y);

		rows = list[1];
		if (rows == 0 || rows > lists->head.h - y)
			return fail(NULL, "the GPU made no list of the rows from %zu on", y);
		if (list[0] >
		    (rows * stride / sizeof(*list) - STEGER_HEADER) / STEGER_RECORD) {
			*whole = false;
			return 0;
		}
		line_candidates_room(all, all->n + list[0]);
		for (size_t i = 0; i < list[0]; i++)
			all->n += candidate_of(&finder->filter,
			    list + STEGER_HEADER + i * STEGER_RECORD, &all->v[all->n]);
	}
	return 0;
}

/* The lists as a frame of the image's size; NULL: the processor must find the points. */
static int
make_lists(struct run *run, struct frame *in, enum sample type, struct frame **lists)
{
	struct frame_head head;
	int status;

	head_init(&head, in->head.w, in->head.h, 1, type);
	status = run_passes(run, in, &head, lists);
	head_free(&head);
	return status;
}

/*
 * The points of an image by the device, if one is wanted and can find them. *made: it did; an image
 * with a candidate for every 11 pixels prevents that. -1 after fail(). The lists come as bytes,
 * with a candidate in 44 pixels, which takes no longer than bringing the image to the device. From
 * the first image on that needs more, they come as floats.
 */
static int
steger_find_on_device(struct run *run, struct frame *in, const struct line_image *image,
    struct line_points *points, bool *made)
{
	struct priv *priv = run->priv;
	const struct line_filter *f = &priv->finder->filter;
	struct frame *lists;

	*made = false;
	if (!run_wants_device(run))
		return 0;
	run->halo = f->kernels.radius + f->reach + 4;
	for (;;) {
		enum sample type = priv->many ? SAMPLE_FLOAT : SAMPLE_UCHAR;
		int status = make_lists(run, in, type, &lists);

		if (status < 0 || !lists)
			return status;
		status = take_lists(lists, priv->finder, made);
		frame_free(lists);
		if (status < 0)
			return -1;
		if (*made)
			line_find_listed(priv->finder, image, points);
		if (*made || priv->many)
			return 0;
		priv->many = true;
	}
}

/*
 * ---- what the points show of wrong options (common/checks/lines.c) ----
 *
 * The other sign and larger sigmas are tried in the first image whose points do not come in pairs.
 */

#define DIFFERING_SIGMAS 12	/* difference from the background, in deviations of the noise */
#define OTHER_TIMES 1.5		/* as strong: a line's own sides respond 0.45 times as much */
#define MAX_SCALE 8		/* of sigma, in search of one that sees the whole line */
#define BRIGHT_SHARE 0.3	/* of its strongest point: fainter lines are something else */
#define WIDER_TIMES 2		/* as many points, */
#define WIDER_SIDE_PART 8	/* and at least 1/8 of the image's shorter side */

/* Of an image whose strongest response is `strongest`: that of the other sign if it is much larger,
 * else 0. */
static double
find_other(struct run *run, struct line_finder *finder, const struct line_image *image,
    double strongest)
{
	struct line_image turned = *image;
	double other;

	turned.dark = !image->dark;
	other = line_strongest(finder, run, &turned);
	return other > OTHER_TIMES * strongest ? other : 0;
}

/* The number of points of the brightest lines of an image of 1/scale of the size; 0 if most of the
 * points in `seen` are elsewhere. */
static size_t
count_bright(struct run *run, const struct line_image *image, const struct line_options *line,
    double noise, size_t scale, const struct line_points *seen)
{
	struct line_finder *finder;
	struct line_points points;
	double least;
	size_t n = 0;

	line_finder_new(line, &steger_rows()->line, &finder);	/* init() made one of this sigma */
	least = BRIGHT_SHARE * line_strongest(finder, run, image);
	if (least > line_threshold(noise, line->sigma)) {
		line_finder_set_thresholds(finder, least, least);
		line_find(finder, run, image, &points);
		if (steger_rows()->hold_most(&points, (double)scale, line->sigma, seen))
			n = points.n;
	}
	line_finder_free(finder);
	return n;
}

/* *wider: a sigma that sees at least twice the points, *most, of the image's brightest lines; 0:
 * none does. Halves the image again and again instead of doubling sigma. */
static void
find_wider(struct run *run, const struct line_image *image, const struct line_options *with,
    double noise, const struct line_points *seen, double *wider, size_t *most)
{
	size_t shorter = image->w < image->h ? image->w : image->h;
	size_t least = shorter / WIDER_SIDE_PART;
	size_t wanted = WIDER_TIMES * seen->n > least ? WIDER_TIMES * seen->n : least;
	struct line_options line = *with;
	struct line_image now = *image;
	float *half = NULL;

	*wider = 0;
	line.asymmetric = line.plain = false;
	for (size_t scale = 2; scale <= MAX_SCALE && now.w >= 2 && now.h >= 2; scale *= 2) {
		size_t w = now.w / 2, h = now.h / 2, n;
		float *before = half;

		half = must_alloc(w * h, sizeof(*half));
		steger_rows()->halve(&now, half);
		free(before);
		now = (struct line_image){ .w = w, .h = h, .dark = image->dark,
			.image = { half, w * sizeof(*half), SAMPLE_FLOAT } };
		for (int i = 0; i < 4; i++)
			line.roi[i] /= 2;
		line.min_length = (line.min_length + 1) / 2;
		if (with->roi[2] && !(line.roi[2] && line.roi[3]))
			break;
		n = count_bright(run, &now, &line, noise, scale, seen);
		if (scale * n < wanted)
			continue;
		*wider = (double)scale * line.sigma;
		*most = scale * n;
		wanted = *most + *most / 2;	/* a still larger one has to see many more */
	}
	free(half);
}

/* Counts the n rows, or columns, that have a point. */
static size_t
count_places(const struct line_points *points, bool columns, size_t n)
{
	bool *seen = must_alloc(n, sizeof(*seen));
	size_t places = 0;

	for (size_t i = 0; i < points->n; i++) {
		double at = (double)(columns ? points->v[i].u : points->v[i].v) + 0.5;
		size_t place = at > 0 ? (size_t)at : 0;

		place = place < n ? place : n - 1;
		places += !seen[place];
		seen[place] = true;
	}
	free(seen);
	return places;
}

/* The number of points of lines that have fewer than LASER_SHORT_POINTS. */
static size_t
count_short(const struct line_points *points)
{
	size_t sum = 0, length = 0;

	for (size_t i = 0; i < points->n; i++) {
		length++;
		if (i + 1 < points->n && points->v[i + 1].line == points->v[i].line)
			continue;
		sum += length < LASER_SHORT_POINTS ? length : 0;
		length = 0;
	}
	return sum;
}

/* In the first image whose points do not come in pairs. */
static void
look_at_points(struct run *run, const struct line_image *image, const struct line_points *points)
{
	struct priv *priv = run->priv;
	struct laser_line *told = &priv->told;

	told->points = points->n;
	told->lines = points->lines;
	told->short_points = count_short(points);
	told->side_px = image->w > image->h ? image->w : image->h;
	for (size_t i = 0; i < points->n; i++)
		told->strongest = fmax(told->strongest, (double)points->v[i].response);
	told->columns = count_places(points, true, image->w);
	told->rows = count_places(points, false, image->h);
	told->noise = line_noise(image);
	find_wider(run, image, &priv->line, fmax(told->noise, line_noise_least(image)), points,
	    &told->wider_sigma_px, &told->wider_points);
	told->other_strongest = find_other(run, priv->finder, image, told->strongest);
}

/* Tells the checks of one image. */
static void
tell(struct run *run, const struct line_image *image, const struct line_points *points)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct laser_line *told = &priv->told;
	double noise = priv->noise, apart_px;
	bool paired = false;

	*told = (struct laser_line){ .sigma_px = priv->line.sigma, .threshold = priv->line.low,
		.threshold_given = !priv->automatic, .dark = image->dark,
		.per_row = parameters->per_row, .per_column = parameters->per_column,
		.channel_given = parameters->channel, .background_given = image->background.v };
	if (!priv->looked || !priv->paired)
		paired = line_points_paired(priv->finder, image, points, &apart_px);
	if (paired && !priv->paired) {
		priv->paired = true;
		told->pairs_px = apart_px;
		/* those points are some two sigma within the bar's ends; half the bar's width over
		 * the root of 3 is the least sigma that sees one line */
		told->pairs_sigma_px = (apart_px / 2 + 2 * priv->line.sigma) / sqrt(3);
	}
	if (priv->frames == 0 && image->background.v) {
		if (isnan(noise))
			noise = line_noise(image);
		told->differing_levels = DIFFERING_SIGMAS * fmax(noise, line_noise_least(image));
		told->differing_share = steger_rows()->differing(image, told->differing_levels);
	}
	/* edges of a line that is too wide tell nothing else */
	if (priv->looked || !points->n || paired)
		return;
	priv->looked = true;
	look_at_points(run, image, points);
}

/* ---- a frame ---- */

/* A channel of the picture and the background. */
static void
take_planes(const struct frame *frame, size_t c, size_t background, struct line_image *image)
{
	const struct plane *plane = frame->plane;

	image->image = (struct line_plane){ frame_row(frame, c, 0), plane[c].stride,
		plane[c].type };
	if (background != NO_CHANNEL)
		image->background = (struct line_plane){ frame_row(frame, background, 0),
			plane[background].stride, plane[background].type };
}

/* Thresholds by the image's noise, or as the options have them; the finder takes them. */
static int
set_thresholds(struct run *run, const struct line_image *image)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (priv->automatic) {
		priv->noise = fmax(line_noise(image), line_noise_least(image));
		priv->line.high = line_threshold(priv->noise, priv->line.sigma);
		priv->line.low = isnan(parameters->low) ? priv->line.high : parameters->low;
		if (priv->line.low > priv->line.high)
			return fail("--low", "%g is above the threshold that the noise of %g grey "
			    "levels gives, %g", priv->line.low, priv->noise, priv->line.high);
	}
	line_finder_set_thresholds(priv->finder, priv->line.low, priv->line.high);
	return 0;
}

/* The channel of the background that belongs to one of the picture's. -1 after fail(). */
static int
background_of(const struct run *run, const struct frame_head *in, size_t channel,
    size_t *background)
{
	const struct frame_head *head = run_second_input_head(run, "background", 0);

	*background = NO_CHANNEL;
	return head ? run_second_input(run, in, "background",
	    head->c == 1 ? NULL : in->channel[channel], background) : 0;
}

/* What a channel of a picture shows. */
struct channel_figures {
	size_t points;		/* in lines of LASER_SHORT_POINTS and more */
	double strongest;	/* of these */
	/* The sum of their squared responses, which is how well the line's place is known, for
	 * channels of equal noise. Most of the points of noise and patterns are many, and weak. */
	double squares;
	bool paired;		/* too wide for sigma, as where it is saturated */
};

static int
look_at_channel(struct run *run, const struct line_image *image, struct channel_figures *of)
{
	struct priv *priv = run->priv;
	struct line_points points;
	double apart_px;

	*of = (struct channel_figures){ 0 };
	if (set_thresholds(run, image) < 0)
		return -1;
	line_find(priv->finder, run, image, &points);
	of->paired = line_points_paired(priv->finder, image, &points, &apart_px);
	for (size_t i = 0, n; i < points.n; i += n) {
		for (n = 1; i + n < points.n && points.v[i + n].line == points.v[i].line;)
			n++;
		for (size_t k = i; n >= LASER_SHORT_POINTS && k < i + n; k++) {
			double response = points.v[k].response;

			of->points++;
			of->strongest = fmax(of->strongest, response);
			of->squares += response * response;
		}
	}
	return 0;
}

/* Chooses the channel of pictures in colour, in the first one with a long line. -1 after fail(). */
static int
choose_channel(struct run *run, const struct frame *in, struct line_image *image)
{
	static const char *const names[3] = { "red", "green", "blue" };
	struct priv *priv = run->priv;
	struct channel_figures of[3], *best = NULL;
	bool usable, best_usable = false;
	char others[2][100];
	size_t n = 0;

	for (size_t c = 0; c < 3; c++) {
		if (background_of(run, &in->head, c, &priv->background) < 0)
			return -1;
		take_planes(in, c, priv->background, image);
		if (look_at_channel(run, image, &of[c]) < 0)
			return -1;
		usable = of[c].points && !of[c].paired;
		if (!best || (usable == best_usable ? of[c].squares > best->squares : usable)) {
			best = &of[c];
			best_usable = usable;
		}
	}
	priv->choice = (size_t)(best - of);
	priv->chosen = best->points > 0;
	priv->channel = priv->choice;
	for (size_t c = 0; c < 3; c++)
		if (c != priv->choice)
			snprintf(others[n++], sizeof(others[0]), "%s %zu, %.3g%s", names[c],
			    of[c].points, of[c].strongest, of[c].paired ? ", in pairs" : "");
	if (priv->chosen && !run->quiet)
		note(NULL, "--channel %s: %zu points in long lines, responses up to %.3g%s; the "
		    "others: %s; %s", names[priv->choice], best->points, best->strongest,
		    best->paired ? ", in pairs" : "", others[0], others[1]);
	return background_of(run, &in->head, priv->channel, &priv->background);
}

static int
find(struct run *run, struct frame *in, struct frame **out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct line_image image = { .w = in->head.w, .h = in->head.h, .dark = parameters->dark };
	struct frame_head *head = run_output(run);
	struct line_points points;
	double strongest;
	bool made;

	if (priv->colour && !priv->chosen && choose_channel(run, in, &image) < 0)
		return -1;
	take_planes(in, priv->channel, priv->background, &image);
	if (!priv->thresholds_set && set_thresholds(run, &image) < 0)
		return -1;
	if (run->verbose && priv->automatic && !priv->thresholds_set)
		note(NULL, "noise of %g grey levels: threshold %g", priv->noise, priv->line.high);
	priv->thresholds_set = !priv->colour || priv->chosen;
	if (steger_find_on_device(run, in, &image, &points, &made) < 0)
		return -1;
	if (!made)
		line_find(priv->finder, run, &image, &points);
	if (parameters->sharp)
		run_for(run, points.n, steger_rows()->correct_point, &(struct correction){
		    &priv->kernels, parameters->width / 2, &points });
	tell(run, &image, &points);
	priv->points += points.n;
	priv->found += points.found;
	if (!priv->points) {
		strongest = line_strongest(priv->finder, run, &image);
		if (strongest > priv->strongest)
			priv->other = find_other(run, priv->finder, &image, strongest);
		priv->strongest = fmax(priv->strongest, strongest);
		priv->finder->filter.options.border = true;
		priv->at_border = fmax(priv->at_border, line_strongest(priv->finder, run, &image));
		priv->finder->filter.options.border = parameters->keep_border;
	}
	steger_set_keys(&head->meta, &priv->line, &image, priv->noise);
	if (parameters->per_row || parameters->per_column)
		return points_per_line(&points, parameters->per_column, &image, head, out);
	return points_table(&points, head, out);
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	struct frame *out = NULL;
	int status = find(run, in, &out);

	frame_free(in);
	if (status < 0)
		return -1;
	priv->frames++;
	return run_emit(run, out);
}

static int
end(struct run *run)
{
	const struct priv *priv = run->priv;

	if (!priv->frames || priv->points)
		return 0;
	if (priv->other > priv->line.high)
		return fail(NULL, "no point in any image: the strongest response is %.3g grey "
		    "levels per px^2, --threshold %.3g, and that of %s line %.3g: --dark%s",
		    priv->strongest, priv->line.high, ((const struct parameters *)
		    run->parameters)->dark ? "a bright" : "a dark", priv->other,
		    priv->background != NO_CHANNEL ? ", or is --background the image?" : "");
	if (priv->strongest > priv->line.high && !priv->found)
		return fail(NULL, "no point in any image: responses reach %.3g, but at the edges "
		    "of something wider than %.3g px; --sigma", priv->strongest,
		    2 * sqrt(3) * priv->line.sigma);
	if (priv->strongest > priv->line.high)
		return fail(NULL, "no point in any image: lines above the threshold of %.3g have "
		    "fewer than %zu points; --min-length", priv->line.high, priv->line.min_length);
	return fail(NULL, "no point in any image: the strongest response is %.3g grey levels per "
	    "px^2, --threshold %.3g%s", priv->strongest, priv->line.high,
	    priv->at_border > priv->line.high ? "; stronger ones lie within 3 sigma of the "
	    "border: --keep-border" : "");
}

static const struct body body = { .frame = take_frame, .end = end, .passes = steger_passes };

/* ---- planning ---- */

static int
init(struct run *run)
{
	struct priv *priv = run->priv;

	run->body = &body;
	priv->noise = NAN;
	return steger_options(run, &priv->line, &priv->automatic) < 0 ||
	    derivative_kernels_init(&priv->kernels, priv->line.sigma, 0) < 0 ||
	    line_finder_new(&priv->line, &steger_rows()->line, &priv->finder) < 0 ? -1 : 0;
}

static int
find_channels(struct run *run, const struct frame_head *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (steger_channel(run, in, parameters->channel, &priv->channel) < 0)
		return -1;
	priv->colour = run->colour == COLOUR_CHOOSE && head_is_colour(in);
	if (priv->colour)
		priv->channel = priv->choice;
	return background_of(run, in, priv->channel, &priv->background);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	struct priv *priv = run->priv;
	const size_t *roi = priv->line.roi;

	run_check_facts(run)->line = &priv->told;
	if (find_channels(run, in) < 0)
		return -1;
	if (roi[2] && (roi[0] >= in->w || roi[1] >= in->h || roi[2] > in->w - roi[0] ||
	    roi[3] > in->h - roi[1]))
		return fail("--roi", "%zu,%zu,%zu,%zu is not within the image of %zux%zu", roi[0],
		    roi[1], roi[2], roi[3], in->w, in->h);
	line_finder_set_region(priv->finder, in->w, in->h);
	out->spacing[0] = out->spacing[1] = NAN;
	out->unit[0] = '\0';
	out->type = SAMPLE_FLOAT;
	return head_set_channels(out, "u v nu nv response width line");
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	line_finder_free(priv->finder);
}

static const struct check *const checks[] = { &check_line_images, &check_line_background,
	&check_line_direction, &check_line_threshold, &check_line_sigma, &check_line_pieces,
	&check_line_sign, NULL };

const struct stage stage_steger = {
	.name = "steger",
	.summary = "centres of laser lines in images, to a small part of a pixel",
	.options = options,
	.usual = "sigma width background roi per-row per-column dark channel",
	STAGE_MEMORY(priv),
	.checks = checks,
	.traits = STAGE_ANY_TYPE,
	.agree = AGREE_ABSOLUTE,
	.tolerance = 1e-4,	/* px; on a device that rounds as the processor does it is 0 */
	.init = init,
	.plan = plan,
	.release = release,
};
