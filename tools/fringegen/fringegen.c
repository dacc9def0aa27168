/* Patterns to project: phase-shifted fringes, Gray code, composite and dithered patterns. */
#include "fringegen.h"

#include <math.h>
#include <stdlib.h>

#include "fringe/compensation.h"
#include "fringe/fringes.px.h"
#include "fringe/levels.h"
#include "io/safe_file.h"
#include "wanted.h"

const char *const fringegen_kinds[] = { "sine", "square", "dither", "2+1", "composite", "gray",
	NULL };
static const char *const axes[] = { "x", "y", "both", NULL };
static const char *const depths[] = { "1", "8", "16", "float", NULL };
static const char *const dithers[] = { "bayer", "fs", "fs-serpentine", NULL };

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 'k', "kind", "WORD", OPT_WORD, AT(kind), "sine", 0, 0, NULL, "what to make",
	  fringegen_kinds },
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
	  "0.96 of the room if not given; binary and composite patterns: all of it", NULL },
	{ 0, "gamma", "G", OPT_NUMBER, AT(gamma), "1", 0.1, 10, NULL, "of the projector", NULL },
	{ 0, "lut", "FILE", OPT_FILE, AT(lut), NULL, 0, 0, NULL, "tones of the projector", NULL },
	{ 'g', "gray", "WORD", OPT_WORD, AT(gray), NULL, 0, 0, NULL,
	  "Gray planes behind the fringes, which count", manifest_cells },
	{ 0, "inverse", NULL, OPT_FLAG, AT(inverse), NULL, 0, 0, NULL, "their inverses too", NULL },
	{ 0, "flats", NULL, OPT_FLAG, AT(flats), NULL, 0, 0, NULL, "white and black too", NULL },
	{ 0, "marker", NULL, OPT_FLAG, AT(marker), NULL, 0, 0, NULL,
	  "a bright stripe on black, of known place: unwrapq finds it", NULL },
	{ 0, "marker-at", "PX", OPT_NUMBER, AT(marker_at), NULL, 0, 1e6, "px",
	  "where its middle is; the middle of the image if not given", NULL },
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
		level[u] = px_select(square, fringes_square(level[u], mean, amplitude),
		    fringes_sine(level[u], mean, amplitude));
}

static void
make_gray(float *level, size_t n, const struct pattern *pattern)
{
	for (size_t u = 0; u < n; u++) {
		float plane = fringes_gray((uint)patterns_cell(u, pattern->cell_px),
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
	float mean = (float)priv->mean, amplitude = (float)priv->amplitude;
	double shift_rad = pattern->role == ROLE_PHASE ? pattern->shift_rad : 0.0;

	if (pattern->role == ROLE_SIN || (pattern->role == ROLE_COMPOSITE && c == 0))
		shift_rad = -0.5 * M_PI;	/* sin x = cos(x - pi/2) */
	if (pattern->role == ROLE_GRAY || pattern->role == ROLE_GRAY_INVERSE)
		make_gray(level, n, pattern);
	else if (pattern->role == ROLE_MARKER)
		for (size_t u = 0; u < n; u++)
			level[u] = fringegen_marker((float)u, (float)pattern->marker_px,
			    (float)pattern->marker_width_px);
	else if (pattern->axis == 0 || pattern->role == ROLE_FLAT)
		for (size_t u = 0; u < n; u++)
			level[u] = pattern->role == ROLE_FLAT ? mean : pattern->role == ROLE_WHITE;
	else if (c == 2)
		for (size_t u = 0; u < n; u++)
			level[u] = (float)((double)patterns_cell(u, pattern->period_px) *
			    (double)priv->spec.stair_levels / 255.0);
	else {
		for (size_t u = 0; u < n; u++)
			level[u] = patterns_turn((double)u, pattern->period_px, shift_rad);
		make_fringes(level, n, mean, amplitude, pattern->wave == WAVE_SQUARE);
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
	enum dither how = pattern->wave == WAVE_DITHERED ? (enum dither)parameters->dither :
	    DITHER_NONE;
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

	if (patterns_head(&priv->spec, &priv->patterns, i, head) < 0 ||
	    compensation_describe(&head->meta, parameters->lut, parameters->gamma) < 0)
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
	if (wanted_check(p) < 0 || wanted_tone(p, priv) < 0 || wanted_patterns(p, &priv->spec) < 0)
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
