/* Patterns to project: phase-shifted fringes, Gray code, composite and dithered patterns. */
#include "io/safe_file.h"
#include "run/stage.h"
#include "fringegen.px.h"

#include <stdlib.h>

#include "fringe/levels.h"
#include "fringe/lut.h"
#include "fringe/patterns.h"

enum kind { KIND_SINE, KIND_SQUARE, KIND_DITHER, KIND_TWO_PLUS_ONE, KIND_COMPOSITE, KIND_GRAY };
enum axis { AXIS_X, AXIS_Y, AXIS_BOTH };

struct parameters {
	int kind, axis, bits, gray, dither;
	long steps, stair;
	struct numbers period_px, count, shift_rad;
	struct opt_size size;
	double mean, amplitude, gamma;
	const char *lut, *manifest;
	bool inverse, flats;
};

struct priv {
	struct pattern_spec spec;
	struct patterns patterns;
	double amplitude;
	struct lut lut;
	struct manifest manifest;
};

static const char *const kinds[] = { "sine", "square", "dither", "2+1", "composite", "gray", NULL };
static const char *const axes[] = { "x", "y", "both", NULL };
static const char *const depths[] = { "1", "8", "16", "float", NULL };
static const char *const dithers[] = { "bayer", "fs", "fs-serpentine", NULL };

#define AT(field) offsetof(struct parameters, field)

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
	{ 0, "mean", "SHARE", OPT_NUMBER, AT(mean), "0.5", 0, 1, NULL, "mean, full is 1", NULL },
	{ 0, "amplitude", "SHARE", OPT_NUMBER, AT(amplitude), NULL, 0, 1, NULL,
	  "0.96 of the room if not given; binary and composite patterns: all of it", NULL },
	{ 0, "gamma", "G", OPT_NUMBER, AT(gamma), "1", 0.1, 10, NULL, "of the projector", NULL },
	{ 0, "lut", "FILE", OPT_FILE, AT(lut), NULL, 0, 0, NULL, "tones of the projector", NULL },
	{ 'g', "gray", "WORD", OPT_WORD, AT(gray), NULL, 0, 0, NULL,
	  "Gray planes behind the fringes, which count", manifest_cells },
	{ 0, "inverse", NULL, OPT_FLAG, AT(inverse), NULL, 0, 0, NULL, "their inverses too", NULL },
	{ 0, "flats", NULL, OPT_FLAG, AT(flats), NULL, 0, 0, NULL, "white and black too", NULL },
	{ 0, "dither", "WORD", OPT_WORD, AT(dither), "fs-serpentine", 0, 0, NULL,
	  "how -k dither does it", dithers },
	{ 'S', "stair", "LEVELS", OPT_INTEGER, AT(stair), NULL, 1, 256, "grey levels of 256",
	  "step of the composite's stair; the most that fits if not given", NULL },
	{ 'm', "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	  "write a table of the images, - is standard output", NULL },
	{ 0 },
};

/* ---- levels along the axis, as shares of full scale ---- */

/* From turns. */
static void
make_fringes(float *restrict level, size_t n, float mean, float amplitude, bool square)
{
	CPU_SIMD
	for (size_t u = 0; u < n; u++)
		level[u] = px_select(square, fringegen_square(level[u], mean, amplitude),
		    fringegen_sine(level[u], mean, amplitude));
}

static void
make_gray(float *level, size_t n, const struct pattern *pattern)
{
	for (size_t u = 0; u < n; u++) {
		float plane = fringegen_gray((uint)patterns_cell(u, pattern->cell_px),
		    (uint)pattern->bit);

		level[u] = pattern->role == ROLE_GRAY_INVERSE ? 1.0f - plane : plane;
	}
}

/* Channel c of a pattern. */
static void
make_levels(const struct run *run, const struct pattern *pattern, size_t c, float *level, size_t n)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	float mean = (float)parameters->mean, amplitude = (float)priv->amplitude;
	double shift_rad = pattern->role == ROLE_PHASE ? pattern->shift_rad : 0.0;

	if (pattern->role == ROLE_SIN || (pattern->role == ROLE_COMPOSITE && c == 0))
		shift_rad = -0.5 * M_PI;	/* sin x = cos(x - pi/2) */
	if (pattern->role == ROLE_GRAY || pattern->role == ROLE_GRAY_INVERSE)
		make_gray(level, n, pattern);
	else if (pattern->axis == 0 || pattern->role == ROLE_FLAT)
		for (size_t u = 0; u < n; u++)
			level[u] = pattern->role == ROLE_FLAT ? mean : pattern->role == ROLE_WHITE;
	else if (c == 2)
		for (size_t u = 0; u < n; u++)
			level[u] = (float)((double)patterns_cell(u, pattern->period_px) *
			    (double)priv->spec.stair_levels / 255.0);
	else {
		for (size_t u = 0; u < n; u++)
			level[u] = patterns_turn(u, pattern->period_px, shift_rad);
		make_fringes(level, n, mean, amplitude, parameters->kind == KIND_SQUARE);
	}
	lut_compensate(&priv->lut, parameters->gamma, level, n);
}

/* ---- images ---- */

static int
render(struct run *run, const struct pattern *pattern, struct frame *frame)
{
	const struct parameters *parameters = run->parameters;
	bool down = pattern->axis == 'y';
	size_t n = down ? frame->head.h : frame->head.w;
	enum dither how = parameters->kind != KIND_DITHER || pattern->role != ROLE_PHASE ?
	    DITHER_NONE : (enum dither)parameters->dither;
	float *level = reallocarray(NULL, n, sizeof(*level));
	int status = level ? 0 : fail_memory();

	for (size_t c = 0; status == 0 && c < frame->head.c; c++) {
		make_levels(run, pattern, c, level, n);
		status = levels_fill(run, frame, c, level, down, how);
	}
	free(level);
	return status;
}

/* What image i is, and its line in the manifest. */
static int
make_head(struct run *run, size_t i, struct frame_head *head)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (patterns_head(&priv->spec, &priv->patterns, i, head) < 0)
		return -1;
	return parameters->manifest ? manifest_add(&priv->manifest, head, run->output, i) : 0;
}

static int
start(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	for (size_t i = 0; i < priv->patterns.n; i++) {
		struct frame_head head = { 0 };
		struct frame *frame = NULL;
		int status = make_head(run, i, &head) < 0 ? -1 : frame_new(&head, &frame);

		head_free(&head);
		if (status < 0 || render(run, &priv->patterns.pattern[i], frame) < 0) {
			frame_free(frame);
			return -1;
		}
		if (run_emit(run, frame) < 0)
			return -1;
	}
	return parameters->manifest ? manifest_write(parameters->manifest, &priv->manifest) : 0;
}

static const struct body body = { .start = start,
	.no_passes = "a row is computed once and repeated" };

/* ---- what is wanted ---- */

#define IN(kind) (1u << (kind))

/* Refuses options that the kind of pattern has no use for, instead of passing over them. */
static int
check_use(const struct parameters *p)
{
	const unsigned toned = IN(KIND_SINE) | IN(KIND_TWO_PLUS_ONE) | IN(KIND_COMPOSITE);
	const unsigned stepped = IN(KIND_SINE) | IN(KIND_SQUARE) | IN(KIND_DITHER);
	const struct {
		const char *name;
		bool given;
		unsigned kinds;
	} uses[] = {
		{ "--steps", p->steps != OPT_NONE_INTEGER, stepped },
		{ "--shift", p->shift_rad.n > 0, stepped },
		{ "--mean", p->mean != 0.5, IN(KIND_DITHER) | (toned & ~IN(KIND_COMPOSITE)) },
		{ "--amplitude", !isnan(p->amplitude), IN(KIND_DITHER) | toned },
		{ "--gamma", p->gamma != 1.0, toned },
		{ "--lut", p->lut, toned },
		{ "--dither", p->dither != DITHER_FS_SERPENTINE, IN(KIND_DITHER) },
		{ "--stair", p->stair != OPT_NONE_INTEGER, IN(KIND_COMPOSITE) },
		{ "--bits=1", p->bits == BITS_1, ~toned },
	};

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (uses[i].given && !(uses[i].kinds & IN(p->kind)))
			return fail_usage(uses[i].name, "has no meaning for %s patterns",
			    kinds[p->kind]);
	if (p->kind == KIND_GRAY && p->gray <= CELL_COLUMN && (p->period_px.n || p->count.n))
		return fail_usage(p->count.n ? "--count" : "--period",
		    "has no meaning for a Gray code of columns alone");
	if (p->inverse && p->gray < 0 && p->kind != KIND_GRAY)
		return fail_usage("--inverse", "needs --gray");
	if (p->gamma != 1.0 && p->lut)
		return fail_usage("--lut", "stands instead of --gamma, not beside it");
	return 0;
}

static int
choose_tone(const struct parameters *p, struct priv *priv)
{
	double clear = p->kind == KIND_SINE || p->kind == KIND_TWO_PLUS_ONE ? 0.96 : 1.0;
	double room = fmin(p->mean, 1.0 - p->mean);

	priv->amplitude = isnan(p->amplitude) ? clear * room : p->amplitude;
	if (priv->amplitude <= 0.0 || priv->amplitude > room + 1e-9)
		return fail_usage(isnan(p->amplitude) ? "--mean" : "--amplitude",
		    "an amplitude of %g about a mean of %g is not above 0 and within 0 to 1",
		    priv->amplitude, p->mean);
	return p->lut ? lut_load(p->lut, &priv->lut) : 0;
}

static int
choose_patterns(const struct parameters *p, struct pattern_spec *spec)
{
	static const enum pattern_family families[] = { FAMILY_SHIFTS, FAMILY_SHIFTS, FAMILY_SHIFTS,
		FAMILY_SIN_COS_FLAT, FAMILY_COMPOSITE, FAMILY_GRAY };

	spec->w = p->size.w;
	spec->h = p->size.h;
	spec->family = families[p->kind];
	spec->gray_cell = p->gray >= 0 ? (enum manifest_cell)p->gray :
	    p->kind == KIND_GRAY ? CELL_COLUMN : CELL_NONE;
	spec->bits = (enum pattern_bits)p->bits;
	spec->inverse = p->inverse;
	spec->flats = p->flats;
	spec->along[0] = p->axis != AXIS_Y;
	spec->along[1] = p->axis != AXIS_X;
	if (!(p->kind == KIND_GRAY && spec->gray_cell == CELL_COLUMN) &&
	    patterns_periods(spec, &p->period_px, &p->count) < 0)
		return -1;
	if (p->kind == KIND_COMPOSITE)
		return patterns_stair(spec, p->stair);
	return patterns_shifts(spec, &p->shift_rad, p->steps);
}

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	if (check_use(p) < 0 || choose_tone(p, priv) < 0 || choose_patterns(p, &priv->spec) < 0)
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

STAGE(fringegen) = {
	.name = "fringegen",
	.summary = "make patterns to project",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SOURCE,
	.agree = AGREE_EXACT,
	.init = init,
	.release = end,
};
