/*
 * Calibrates cameras and projectors from the corners of a board in many poses: options, the way
 * from points to results, and doubts about them.
 *
 * points_input.c and pose_captures.c find the points, start.c and solve.c the parameters,
 * uncertainty.c and diagnosis.c what they are worth, write.c and report.c write all of it.
 */
#include "fringecal.h"

#include "run/stage.h"

/* ---- options ---- */

static const char *const weight_words[] = { "sigma", "equal", NULL };

static const struct opt options[] = {
	{ 0, "board", "WxH,MM", OPT_TEXT, AT(board), NULL, 0, 0, NULL,
	    "corners along both sides and their spacing, for tables that do not say them", NULL },
	{ 0, "kind", "KIND", OPT_WORD, AT(kind), NULL, 0, 0, NULL,
	    "what is on the board; chess if not given", board_kinds },
	{ 0, "diameter", "MM", OPT_NUMBER, AT(diameter), NULL, 1e-6, 1e6, "mm",
	    "of circles: where their centres are seen is found by it", NULL },
	{ 0, "cameras", "NAME,...", OPT_TEXT, AT(cameras), NULL, 0, 0, NULL,
	    "the cameras, in the order of the operands; camera if not given", NULL },
	{ 0, "sizes", "WxH,...", OPT_TEXT, AT(sizes), NULL, 0, 0, "px",
	    "the cameras' full frames, for tables that do not say them", NULL },
	{ 0, "projector", "WxH", OPT_SIZE, AT(projector), NULL, 1, 65535, "px",
	    "calibrate a projector of that size, too", NULL },
	{ 0, "projector-points", "FILE", OPT_FILE, AT(projector_points), NULL, 0, 0, NULL,
	    "the corners in projector pixels, tables as those of the first camera", NULL },
	{ 0, "phase-x", "FILE", OPT_STREAMS, AT(phase[0]), NULL, 0, 0, NULL,
	    "absolute phases of fringes along x, once for each camera, for the projector", NULL },
	{ 0, "phase-y", "FILE", OPT_STREAMS, AT(phase[1]), NULL, 0, 0, NULL,
	    "the same along y", NULL },
	FLAG_ROW(0, "poses", poses, "operands are folders POSE with captures in POSE/CAMERA/"),
	{ 0, "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	    "of the captures of --poses, as fringegen -m writes it", NULL },
	{ 0, "phasewrap", "WORDS", OPT_TEXT, AT(phasewrap), NULL, 0, 0, NULL,
	    "more options of phasewrap for --poses, in one word", NULL },
	{ 0, "unwrap2f", "WORDS", OPT_TEXT, AT(unwrap2f), NULL, 0, 0, NULL,
	    "more options of unwrap2f for --poses, in one word", NULL },
	{ 0, "model", "MODEL", OPT_WORD, AT(model), "opencv5", 0, 0, NULL,
	    "lens: none, or OpenCV's with so many numbers", calib_model_names },
	FLAG_ROW(0, "warp", warp, "find how the board is bent, too"),
	{ 0, "fix", "WHAT,...", OPT_TEXT, AT(fix), NULL, 0, 0, NULL,
	    "hold center, aspect, tangential, k3 or a device's: left.center", NULL },
	{ 0, "weights", "KIND", OPT_WORD, AT(weights), "sigma", 0, 0, NULL,
	    "each point counts by its own sigma, or all alike", weight_words },
	{ 0, "reject", "K", OPT_NUMBER, AT(reject), "3.5", 0, 1000, "standard deviations",
	    "leave points out that are farther off; 0: none", NULL },
	{ 0, "frame", "NAME", OPT_TEXT, AT(frame), NULL, 0, 0, NULL,
	    "whose coordinates the poses are in; the first camera's if not given", NULL },
	{ 0, "report", "DIR", OPT_TEXT, AT(report), NULL, 0, 0, NULL,
	    "write pictures and texts there that tell whether to trust it", NULL },
	{ 0, "models", "DIR", OPT_TEXT, AT(models), NULL, 0, 0, NULL,
	    "write a camera model of mrcal there for each device", NULL },
	{ 0 },
};

static int
parse_size(const char *option, const char *text, size_t n, size_t *w, size_t *h)
{
	char word[32];
	int end = -1;

	snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : 0, text);
	if (sscanf(word, "%6zux%6zu%n", w, h, &end) != 2 || end < 0 || word[end] || *w == 0 ||
	    *h == 0 || *w > 65535 || *h > 65535 || strchr(word, '-') || strchr(word, '+'))
		return fail_usage(option, "wants WxH, not '%.*s'", (int)n, text);
	return 0;
}

static int
apply_board(const struct parameters *p, struct calib_board *board)
{
	struct board from;

	if (!p->board)
		return p->kind < 0 ? 0 : fail_usage("--kind", "wants --board");
	if (board_parse("--board", p->board, p->kind < 0 ? BOARD_CHESS : (enum board_kind)p->kind,
	    &from) < 0 || calib_board_set(board, &from) < 0)
		return -1;
	board->named = from.spacing_mm > 0;
	return 0;
}

/* Adds a device, whose name a file can carry as a part of its keys. */
static int
add_device(struct calib_problem *problem, struct calib_device device, const char *name, size_t n)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_-";

	if (n == 0 || n >= CALIB_NAME_SIZE || strspn(name, allowed) < n)
		return fail_usage("--cameras", "'%.*s' is no name: letters, digits, _ and -, at "
		    "most %d", (int)n, name, CALIB_NAME_SIZE - 1);
	if (calib_find_device(problem, name, n) < problem->devices)
		return fail_usage("--cameras", "names %.*s twice", (int)n, name);
	memcpy(device.name, name, n);
	calib_problem_add_device(problem, &device);
	return 0;
}

static int
add_cameras(const struct parameters *p, struct calib_problem *problem)
{
	const struct calib_device camera = { .kind = CALIB_CAMERA,
		.model = (enum calib_model)p->model };

	for (const char *name = p->cameras ? p->cameras : "camera";; name++) {
		size_t n = strcspn(name, ",");

		if (add_device(problem, camera, name, n) < 0)
			return -1;
		name += n;
		if (!*name)
			return 0;
	}
}

static int
apply_sizes(const struct parameters *p, struct calib_problem *problem)
{
	const char *text = p->sizes;
	size_t given = 0;

	while (text) {
		size_t n = strcspn(text, ","), w, h;

		if (parse_size("--sizes", text, n, &w, &h) < 0)
			return -1;
		if (given < problem->devices) {
			problem->device[given].w = w;
			problem->device[given].h = h;
		}
		given++;
		text = text[n] ? text + n + 1 : NULL;
	}
	for (size_t d = 1; d < problem->devices && given == 1; d++) {
		problem->device[d].w = problem->device[0].w;
		problem->device[d].h = problem->device[0].h;
	}
	if (given > 1 && given != problem->devices)
		return fail_usage("--sizes", "has %zu sizes for %zu cameras", given,
		    problem->devices);
	return 0;
}

/* One word of --fix for one device. */
static bool
fix(struct calib_problem *problem, size_t d, const char *what)
{
	double *fixed = problem->fixed[d];
	enum calib_model model = problem->device[d].model;

	if (!strcmp(what, "center")) {
		fixed[2] = ((double)problem->device[d].w - 1) / 2;
		fixed[3] = ((double)problem->device[d].h - 1) / 2;
	} else if (!strcmp(what, "aspect")) {
		problem->device[d].square = true;
	} else if (!strcmp(what, "tangential") && model >= CALIB_OPENCV4) {
		fixed[6] = fixed[7] = 0;
	} else if (!strcmp(what, "k3") && model >= CALIB_OPENCV5) {
		fixed[8] = 0;
	} else if (!strcmp(what, "lens")) {
		for (size_t k = 4; k < CALIB_INTRINSICS; k++)
			fixed[k] = 0;
	} else {
		return false;
	}
	return true;
}

/* What --fix holds. The sizes of all devices are known. */
static int
options_fix(const struct parameters *p, struct calib_problem *problem)
{
	for (const char *text = p->fix; text;) {
		size_t n = strcspn(text, ","), of = problem->devices;
		char word[64], *dot;
		const char *what;
		bool known = true;

		snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : 0, text);
		dot = strchr(word, '.');
		if (dot)
			of = calib_find_device(problem, word, (size_t)(dot - word));
		if (dot && of == problem->devices)
			return fail_usage("--fix", "'%s' begins with no device's name", word);
		what = dot ? dot + 1 : word;
		for (size_t d = 0; d < problem->devices; d++)
			if (of == problem->devices || of == d)
				known &= fix(problem, d, what);
		if (!known)
			return fail_usage("--fix", "'%.*s' is none of center, aspect, tangential, "
			    "k3 and lens%s", (int)n, text, !strcmp(what, "k3") ||
			    !strcmp(what, "tangential") ? " that --model has" : "");
		text = text[n] ? text + n + 1 : NULL;
	}
	return 0;
}

/* The devices, board and weights of the command line; *frame: the device whose coordinates are
 * wanted. -1 after fail_usage(). */
static int
options_apply(const struct parameters *p, struct calib_problem *problem, size_t *frame)
{
	const struct calib_device projector = { .kind = CALIB_PROJECTOR,
		.model = (enum calib_model)p->model, .w = p->projector.w, .h = p->projector.h };

	if (apply_board(p, &problem->board) < 0 || add_cameras(p, problem) < 0 ||
	    apply_sizes(p, problem) < 0)
		return -1;
	if (!p->poses && (p->projector_points || p->phase[0].n) != (p->projector.w > 0))
		return p->projector.w ? fail_usage("--projector", "wants the projector's points: "
		    "--projector-points, or --phase-x and --phase-y") : fail_usage("--projector",
		    "WxH is needed for %s", p->projector_points ? "--projector-points" :
		    "--phase-x");
	if ((p->projector.w || p->poses) && add_device(problem, projector, "projector", 9) < 0)
		return -1;
	problem->warp = p->warp;
	problem->equal_weights = p->weights == WEIGHTS_EQUAL;
	problem->reject = p->reject;
	*frame = p->frame ? calib_find_device(problem, p->frame, strlen(p->frame)) : 0;
	return *frame < problem->devices ? 0 :
	    fail_usage("--frame", "%s is none of the devices", p->frame);
}

/* The diameter of circles, once the board is known. -1 after fail_usage(). */
static int
options_diameter(const struct parameters *p, struct calib_board *board)
{
	double most = (board->kind == BOARD_ACIRCLES ? sqrt(2) : 1) * board->spacing;

	if (isnan(p->diameter))
		return 0;
	if (board->kind == BOARD_CHESS)
		return fail_usage("--diameter", "is for circles, and the board is a chessboard");
	if (!(p->diameter < most))
		return fail_usage("--diameter", "circles of %g %s would touch: their neighbours "
		    "are %g %s apart", p->diameter, board->unit, most, board->unit);
	board->diameter = p->diameter;
	return 0;
}

/* ---- doubts about the result ---- */

#define MOST_LOST 0.2	/* share of a device's points; more: do not trust the result */
#define MOST_SCATTER 5	/* rms residual over sigma */
#define MOST_RMS 2	/* px; more: the result is written with -f only */
#define LEAST_MM 0.2	/* of a board in mm; less is in metres, more often than not */

/* Points that scatter far more than they should: noise is not what is wrong with them. */
static void
warn_scatter(const struct calib_problem *problem, const struct calib_solution *solution)
{
	for (size_t d = 0; d < problem->devices && !problem->equal_weights; d++)
		if (!problem->device[d].sigma_unknown && solution->device_scale[d] > MOST_SCATTER)
			warn(problem->device[d].name, "its points lie %.0f times farther from "
			    "where they belong than their sigma says, %.2g px rms: a board that is "
			    "bent (--warp) or badly printed, another lens than --model, or wrong "
			    "points",
			    solution->device_scale[d], solution->device_rms[d]);
}

/* Views that lose more than a tenth of their points. */
static void
warn_rejected(const struct calib_problem *problem, const struct calib_solution *solution)
{
	size_t views = 0, worst = 0;
	double most = 0;
	char name[128];

	for (size_t v = 0; v < problem->views; v++) {
		double share = 1 - (double)solution->view_used[v] / (double)problem->view[v].n;

		views += share > 0.1;
		if (share > most) {
			most = share;
			worst = v;
		}
	}
	if (!views)
		return;
	for (size_t d = 0; d < problem->devices; d++) {
		size_t points = calib_device_points(problem, d), left = solution->device_used[d];

		/* so many that the others need not be the right ones */
		if ((double)left < (1 - MOST_LOST) * (double)points)
			warn(problem->device[d].name, "%zu of its %zu points contradict the "
			    "others: do not trust the result; --report says which views are "
			    "doubtful", points - left, points);
	}
	calib_view_name(problem, &problem->view[worst], name, sizeof(name));
	warn(NULL, "%zu of %zu views lose more than a tenth of their points, which lie farther "
	    "than %g sigma from where they belong: %s the most, %zu of %zu", views, problem->views,
	    problem->reject, name, problem->view[worst].n - solution->view_used[worst],
	    problem->view[worst].n);
}

/* A board that is named larger than it is; where its first corner is taken to be may differ from
 * pose to pose. */
static void
warn_board(const struct calib_problem *problem)
{
	int most[2] = { 0, 0 };

	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_point *p = problem->point + problem->view[v].first;
		int low[2] = { p->i, p->j }, high[2] = { p->i, p->j };

		for (size_t k = 1; k < problem->view[v].n; k++) {
			low[0] = p[k].i < low[0] ? p[k].i : low[0];
			low[1] = p[k].j < low[1] ? p[k].j : low[1];
			high[0] = p[k].i > high[0] ? p[k].i : high[0];
			high[1] = p[k].j > high[1] ? p[k].j : high[1];
		}
		for (size_t a = 0; a < 2; a++)
			if (high[a] - low[a] >= most[a])
				most[a] = high[a] - low[a] + 1;
	}
	if ((size_t)most[0] < problem->board.w || (size_t)most[1] < problem->board.h)
		warn("--board", "has %zux%zu corners, and no pose shows more than %dx%d of them: "
		    "is the size right?", problem->board.w, problem->board.h, most[0], most[1]);
}

/* ---- the stage ---- */

struct priv {
	struct calib_problem problem;
	struct calib_solution solution;
	struct points_input input;
	size_t frame;
};

static int
calibrate(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct calib_problem *problem = &priv->problem;
	struct calib_solution *solution = &priv->solution;
	bool bad, write;

	if (points_input_read(&priv->input, run, p, problem) < 0 || options_fix(p, problem) < 0 ||
	    options_diameter(p, &problem->board) < 0 ||
	    (p->models && models_check(problem) < 0) || calib_solve(problem, solution) < 0)
		return -1;
	bad = !(solution->rms <= MOST_RMS);
	write = !bad || run->force;
	warn_rejected(problem, solution);
	if (!bad)
		warn_scatter(problem, solution);
	warn_board(problem);
	if (problem->board.kind != BOARD_CHESS && !(problem->board.diameter > 0))
		warn("--diameter", "is not given: the circles are taken for points, and the "
		    "centres of their ellipses for theirs, off by some hundredths of a pixel");
	if (!strcmp(problem->board.unit, "mm") && problem->board.spacing < LEAST_MM)
		warn("--board", "has its points %g mm from each other: are these metres? Lengths "
		    "are mm", problem->board.spacing);
	if (!strcmp(problem->board.unit, "board"))
		warn("--board", "has no spacing: lengths are in spacings of the board, not in mm");
	/* Folders first: where one cannot be made, no file is left behind. */
	if ((write && p->models && folder_make(p->models) < 0) ||
	    (p->report && folder_make(p->report) < 0) ||
	    (write && run->output && write_json(problem, solution, priv->frame,
	    run->output) < 0) ||
	    (write && p->models && models_write(p->models, problem, solution, priv->frame) < 0))
		return -1;
	write_text(problem, solution, stdout);
	if (report_write(p->report, problem, solution, &priv->input.views,
	    (const char *const *)priv->input.captures.pose_name) < 0)
		return -1;
	return bad ? fail(NULL, "the rms is %.3g px, more than %d: wrong corners, or the wrong "
	    "--board%s", solution->rms, MOST_RMS, run->force || !run->output ? "" :
	    " (-f writes the file all the same)") : 0;
}

static const struct body body = { .start = calibrate };

static int
init(struct run *run)
{
	struct parameters *p = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	if (points_input_check(&priv->input, run, p) < 0 ||
	    (run->output && write_check(run->output) < 0) ||
	    (p->models && folder_check("--models", p->models, run->force, false) < 0) ||
	    (p->report && folder_check("--report", p->report, run->force, p->models) < 0))
		return -1;
	return options_apply(p, &priv->problem, &priv->frame);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	pose_captures_free(&priv->input.captures);
	free(priv->input.cameras);
	calib_problem_free(&priv->problem);
	pool_free(&priv->solution.pool);
}

const struct stage stage_fringecal = {
	.name = "fringecal",
	.summary = "calibrate cameras and projectors from the corners of a board in many poses",
	.options = options,
	.usual = "board poses manifest projector cameras report",
	STAGE_MEMORY(priv),
	.traits = STAGE_SOURCE | STAGE_SINK | STAGE_OPERANDS | STAGE_TABLES,
	.init = init,
	.release = release,
};
