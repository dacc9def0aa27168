/* Patterns to project: phase-shifted fringes, Gray code and dithered patterns.
 * fringegen_rows.c computes the levels along a pattern's axis, fringe/patterns.h fills images. */
#include "fringegen.h"

#include "io/safe_file.h"
#include "run/stage.h"

/* ---- options ---- */

enum kind { KIND_SINE, KIND_SQUARE, KIND_DITHER, KIND_TWO_PLUS_ONE, KIND_GRAY };
enum axis { AXIS_X, AXIS_Y, AXIS_BOTH };
enum pack { PACK_RGB, PACK_PLANES24 };		/* -1: an image a pattern */

struct parameters {
	int kind, axis, bits, gray, dither, pack;
	long steps;
	struct numbers period_px, count, shift_rad;
	struct opt_size size;
	double mean, amplitude, gamma;
	const char *lut, *manifest;
	bool marker;
	double marker_at;
	struct pattern_spec spec;	/* inverse, flats, lead */
};

static const char *const kinds[] = { "sine", "square", "dither", "2+1", "gray", NULL };
static const char *const axes[] = { "x", "y", "both", NULL };
static const char *const depths[] = { "1", "8", "16", "float", NULL };
static const char *const packs[] = { "rgb", "planes24", NULL };
static const char *const dithers[] = { "bayer", "fs", "fs-serpentine", NULL };

static const struct opt options[] = {
	{ 'k', "kind", "WORD", OPT_WORD, AT(kind), "sine", 0, 0, NULL, "what to make", kinds },
	{ 'n', "steps", "N", OPT_INTEGER, AT(steps), NULL, 3, 1000, NULL,
	  "images per period; 3 if not given", NULL },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(period_px), NULL, 1, 1e6, "px",
	  "fringe periods; 60 if not given", NULL },
	{ 'c', "count", "N,...", OPT_NUMBERS, AT(count), NULL, 1, 1e6, NULL,
	  "periods over the image, instead of --period", NULL },
	{ 'a', "axis", "WORD", OPT_WORD, AT(axis), "x", 0, 0, NULL, "phase varies along", axes },
	{ 's', "size", "WxH", OPT_SIZE, AT(size), "1920x1080", 0, 0, "px", "projector size", NULL },
	{ 'b', "bits", "WORD", OPT_WORD, AT(bits), "8", 0, 0, NULL, "of a sample", depths },
	{ 0, "shift", "DEG,...", OPT_ANGLES, AT(shift_rad), NULL, -3600, 3600, NULL,
	  "own shifts; -120,0,120 for 3 steps, else 360 n/N", NULL },
	{ 0, "mean", "SHARE", OPT_NUMBER, AT(mean), NULL, 0, 1, NULL,
	  "mean, full is 1; 0.5 if not given, less a quarter of a level for steps", NULL },
	{ 0, "amplitude", "SHARE", OPT_NUMBER, AT(amplitude), NULL, 0, 1, NULL,
	  "0.96 of the room if not given; dithered patterns: all of it", NULL },
	{ 0, "gamma", "G", OPT_NUMBER, AT(gamma), "1", 0.1, 10, NULL, "of the projector", NULL },
	{ 0, "lut", "FILE", OPT_FILE, AT(lut), NULL, 0, 0, NULL, "tones of the projector", NULL },
	{ 'g', "gray", "WORD", OPT_WORD, AT(gray), NULL, 0, 0, NULL,
	  "Gray planes behind the fringes, which count", manifest_cells },
	FLAG_ROW(0, "inverse", spec.inverse, "their inverses too"),
	FLAG_ROW(0, "flats", spec.flats, "white and black too"),
	{ 0, "lead", "WORD", OPT_WORD, AT(spec.lead), NULL, 0, 0, NULL,
	  "a frame before each set that shows where it begins", pattern_leads },
	FLAG_ROW(0, "marker", marker, "a bright stripe on black, of known place: unwrapq finds it"),
	{ 0, "marker-at", "PX", OPT_NUMBER, AT(marker_at), NULL, 0, 1e6, "px",
	  "where its middle is; the middle of the image if not given", NULL },
	{ 0, "dither", "WORD", OPT_WORD, AT(dither), "fs-serpentine", 0, 0, NULL,
	  "how -k dither does it", dithers },
	{ 0, "pack", "WORD", OPT_WORD, AT(pack), NULL, 0, 0, NULL,
	  "three patterns in an image, or 24 of one bit as G0..7 R0..7 B0..7", packs },
	{ 'm', "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	  "write a table of the images, - is standard output", NULL },
	{ 0 },
};

struct priv {
	struct pattern_spec spec;
	struct patterns patterns;
	struct tone tone;
	struct lut lut;
	struct manifest manifest;
};

/* ---- what the options ask for ---- */

#define IN(kind) (1u << (kind))

/* Refuses options that the kind of pattern has no use for, instead of passing over them. */
static int
check_options(const struct parameters *p)
{
	const unsigned toned = IN(KIND_SINE) | IN(KIND_TWO_PLUS_ONE);
	const unsigned stepped = IN(KIND_SINE) | IN(KIND_SQUARE) | IN(KIND_DITHER);
	const struct {
		const char *name;
		bool given;
		unsigned kinds;
	} uses[] = {
		{ "--steps", p->steps != OPT_NONE_INTEGER, stepped },
		{ "--shift", p->shift_rad.n > 0, stepped },
		{ "--mean", !isnan(p->mean), IN(KIND_DITHER) | toned },
		{ "--amplitude", !isnan(p->amplitude), IN(KIND_DITHER) | toned },
		{ "--gamma", p->gamma != 1.0, toned },
		{ "--lut", p->lut, toned },
		{ "--dither", p->dither != DITHER_FS_SERPENTINE, IN(KIND_DITHER) },
		{ "--bits=1", p->bits == BITS_1, ~toned },
	};

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (uses[i].given && !(uses[i].kinds & IN(p->kind)))
			return fail_usage(uses[i].name, "has no meaning for %s patterns",
			    kinds[p->kind]);
	if (p->kind == KIND_GRAY && p->gray <= CELL_COLUMN && (p->period_px.n || p->count.n))
		return fail_usage(p->count.n ? "--count" : "--period",
		    "has no meaning for a Gray code of columns alone");
	if (p->spec.inverse && p->gray < 0 && p->kind != KIND_GRAY)
		return fail_usage("--inverse", "needs --gray");
	if (p->marker && p->kind == KIND_GRAY)
		return fail_usage("--marker", "is for phases: a Gray code counts its periods");
	if (!isnan(p->marker_at) && !p->marker)
		return fail_usage("--marker-at", "needs --marker");
	if (p->pack == PACK_PLANES24 && (toned & IN(p->kind)))
		return fail_usage("--pack", "planes24 is for patterns of one bit: --kind square, "
		    "dither, gray");
	if (p->pack == PACK_PLANES24 && (p->bits == BITS_16 || p->bits == BITS_FLOAT))
		return fail_usage("--bits", "planes24 has one bit a pattern");
	if (p->gamma != 1.0 && p->lut)
		return fail_usage("--lut", "stands instead of --gamma, not beside it");
	return 0;
}

/*
 * The middle; for steps of whole levels a quarter of one less. Images half a turn apart are a +- b:
 * about a whole or half level both are rounded to the same side of the phase, about a quarter to
 * either (even numbers of steps; others gain nothing).
 */
static double
best_mean(const struct parameters *p)
{
	double full = p->bits == BITS_8 ? 255 : 65535;

	if (p->kind != KIND_SINE || (p->bits != BITS_8 && p->bits != BITS_16))
		return 0.5;
	return (full / 2 - 0.25) / full;
}

/* Mean and amplitude, and the projector's tones. */
static int
set_tone(const struct parameters *p, struct priv *priv)
{
	double clear = p->kind == KIND_SINE || p->kind == KIND_TWO_PLUS_ONE ? 0.96 : 1.0;
	double room;

	priv->tone.mean = isnan(p->mean) ? best_mean(p) : p->mean;
	room = fmin(priv->tone.mean, 1.0 - priv->tone.mean);
	priv->tone.amplitude = isnan(p->amplitude) ? clear * room : p->amplitude;
	if (priv->tone.amplitude <= 0.0 || priv->tone.amplitude > room + 1e-9)
		return fail_usage(isnan(p->amplitude) ? "--mean" : "--amplitude",
		    "an amplitude of %g about a mean of %g is not above 0 and within 0 to 1",
		    priv->tone.amplitude, priv->tone.mean);
	return p->lut ? lut_load(p->lut, &priv->lut) : 0;
}

static int
set_patterns(const struct parameters *p, struct pattern_spec *spec)
{
	static const enum pattern_family families[] = { FAMILY_SHIFTS, FAMILY_SHIFTS, FAMILY_SHIFTS,
		FAMILY_SIN_COS_FLAT, FAMILY_GRAY };

	*spec = p->spec;
	spec->w = p->size.w;
	spec->h = p->size.h;
	spec->family = families[p->kind];
	spec->wave = p->kind == KIND_SQUARE ? WAVE_SQUARE : p->kind == KIND_DITHER ? WAVE_DITHERED :
	    WAVE_SINE;
	spec->gray_cell = p->gray >= 0 ? (enum manifest_cell)p->gray :
	    p->kind == KIND_GRAY ? CELL_COLUMN : CELL_NONE;
	spec->bits = (enum pattern_bits)p->bits;
	spec->along[0] = p->axis != AXIS_Y;
	spec->along[1] = p->axis != AXIS_X;
	if (!(p->kind == KIND_GRAY && spec->gray_cell == CELL_COLUMN) &&
	    patterns_periods(spec, &p->period_px, &p->count) < 0)
		return -1;
	if (p->marker && patterns_marker(spec, p->marker_at) < 0)
		return -1;
	return patterns_shifts(spec, &p->shift_rad, p->steps);
}

/* ---- images ---- */

/* Into channel c. */
static int
render(struct run *run, const struct pattern *pattern, struct frame *frame, size_t c)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	bool down = pattern->axis == 'y';
	size_t n = down ? frame->head.h : frame->head.w;
	enum dither how = pattern->wave == WAVE_DITHERED ? (enum dither)parameters->dither :
	    DITHER_NONE;
	float *level = must_alloc(n, sizeof(*level));
	int status;

	fringegen_rows()->make_levels(pattern, &priv->tone, level, n);
	lut_compensate(&priv->lut, parameters->gamma, level, n);
	status = levels_fill(run, frame, c, level, down, how);
	free(level);
	return status;
}

/* Patterns that share an image. In planes24 they are bits in the order in which the DLPC350
 * controller counts them: green from the lowest bit on, red, blue (TI DLPU010, pattern number
 * mapping). */
static const struct {
	size_t patterns;
	const char *name;
} packed[] = { [PACK_RGB] = { 3, "rgb" }, [PACK_PLANES24] = { 24, "planes24" } };

/* The place of the i-th pattern of an image: its channel, its bit; and its name in a manifest. */
static size_t
place_in_pack(int pack, size_t i, unsigned *bit, char name[4])
{
	static const size_t channel[] = { 1, 0, 2 };

	*bit = (unsigned)(i % 8);
	if (pack == PACK_PLANES24)
		snprintf(name, 4, "%c%u", "GRB"[i / 8], *bit);
	else
		snprintf(name, 4, "%c", "rgb"[i]);
	return pack == PACK_PLANES24 ? channel[i / 8] : i;
}

/* The head of image number `number` whose first pattern has the head. */
static int
pack_head(int pack, size_t number, struct frame_head *head)
{
	static const char *const own[] = { "role", "axis", "period_px", "step", "shift_rad", "bit",
		"bits", "marker_px", "marker_width_px" };

	if (pack < 0)
		return 0;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		meta_remove(&head->meta, own[i]);
	head_set_channels(head, "r g b");
	meta_setf(&head->meta, "name", "frame_%02zu", number);
	return meta_set(&head->meta, "pack", packed[pack].name);
}

/* Draws pattern i of a pack into its place. */
static int
render_packed(struct run *run, const struct pattern *pattern, int pack, size_t i,
    struct frame *frame)
{
	unsigned bit;
	char name[4];
	size_t c = place_in_pack(pack, i, &bit, name);
	struct frame *plane;
	int status;

	if (pack == PACK_RGB)
		return render(run, pattern, frame, c);
	if (frame_new_named(frame->head.w, frame->head.h, 1, SAMPLE_UCHAR, NULL, &plane) < 0)
		return -1;
	status = render(run, pattern, plane, 0);
	for (size_t y = 0; y < frame->head.h && status == 0; y++) {
		const uint8_t *from = frame_row(plane, 0, y);
		uint8_t *to = frame_row(frame, c, y);

		for (size_t x = 0; x < frame->head.w; x++)
			to[x] |= (uint8_t)((from[x] != 0) << bit);
	}
	frame_free(plane);
	return status;
}

/* Lists patterns `first` to `end` - 1 in the manifest, which are image `number`, whose head this
 * is. */
static int
list_patterns(struct run *run, const struct frame_head *head, size_t first, size_t end,
    size_t number)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	for (size_t i = first; i < end; i++) {
		struct frame_head own;
		int status;

		patterns_head(&priv->spec, &priv->patterns, i, &own);
		meta_set(&own.meta, "name", meta_get(&head->meta, "name"));
		status = manifest_add(&priv->manifest, &own, run->output, number);
		if (status == 0 && parameters->pack >= 0) {
			struct manifest_row *row = &priv->manifest.row[priv->manifest.n - 1];
			unsigned bit;

			row->frame = (long)number;
			place_in_pack(parameters->pack, i - first, &bit, row->plane);
		}
		head_free(&own);
		if (status < 0)
			return -1;
	}
	return 0;
}

static int
start(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	size_t per = parameters->pack < 0 ? 1 : packed[parameters->pack].patterns;

	for (size_t i = 0; i < priv->patterns.n; i += per) {
		size_t end = i + per < priv->patterns.n ? i + per : priv->patterns.n;
		struct frame_head head;
		struct frame *frame = NULL;
		int status;

		patterns_head(&priv->spec, &priv->patterns, i, &head);
		status = pack_head(parameters->pack, i / per, &head) < 0 ||
		    compensation_describe(&head.meta, parameters->lut, parameters->gamma) < 0 ||
		    (parameters->manifest && list_patterns(run, &head, i, end, i / per) < 0) ? -1 :
		    frame_new(&head, &frame);

		head_free(&head);
		/* what no pattern takes is black */
		for (size_t y = 0; y < 3 * priv->spec.h && parameters->pack >= 0 && frame; y++)
			memset(frame_row(frame, y % 3, y / 3), 0,
			    priv->spec.w * sample_size(frame->head.type));
		for (size_t k = i; k < end && status == 0; k++)
			status = parameters->pack < 0 ?
			    render(run, &priv->patterns.pattern[k], frame, 0) :
			    render_packed(run, &priv->patterns.pattern[k], parameters->pack, k - i,
			    frame);
		if (run_emit_if(run, status, frame) < 0)
			return -1;
	}
	priv->manifest.projector_px[0] = priv->spec.w;
	priv->manifest.projector_px[1] = priv->spec.h;
	return parameters->manifest ? manifest_write(parameters->manifest, &priv->manifest) : 0;
}

static const struct body body = { .start = start,
	.no_passes = "a row is computed once and repeated" };

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	if (check_options(p) < 0 || set_tone(p, priv) < 0 || set_patterns(p, &priv->spec) < 0)
		return -1;
	if (p->manifest && (!run->output || !strcmp(run->output, "-")))
		return fail_usage("--manifest", "wants files to name: give -o FILE, or -o FOLDER/");
	if (safe_file_same(p->manifest, run->output))
		return fail_usage("--manifest", "is the file that -o writes");
	return patterns_plan(&priv->spec, &priv->patterns);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	patterns_spec_free(&priv->spec);
	patterns_free(&priv->patterns);
	manifest_free(&priv->manifest);
	lut_free(&priv->lut);
}

const struct stage stage_fringegen = {
	.name = "fringegen",
	.summary = "make patterns to project",
	.options = options,
	.usual = "kind steps period count axis size gray flats manifest",
	STAGE_MEMORY(priv),
	.traits = STAGE_SOURCE,
	.init = init,
	.release = end,
};
