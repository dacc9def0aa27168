/*
 * Points of a calibration board in pictures: a table of its corners or circles for each. Several
 * pictures wait until all threads have one; feature/board_find.h finds the points.
 */
#include "boardfind.h"

#include "feature/board.h"
#include "run/stage.h"

struct parameters {
	const char *board, *channel;
	int kind, polarity;
	struct board_options find;
};

/* A picture that waits for its turn. */
struct picture {
	struct frame *gray;		/* with the picture's metadata */
	char *path;			/* NULL: not known */
	size_t number;			/* from 0 */
	struct corners corners;
	char reason[BOARD_REASON];	/* why there is no board */
	int status;			/* of board_find() */
	struct fail_record failure;
};

struct priv {
	struct board board;
	struct picture *picture;	/* one for each thread */
	size_t waiting;
	char *path;			/* of the frame that comes */
	size_t pictures, found;
	long columns, rows;		/* most that one picture shows */
};

static const char *const polarities[] = { "dark", "bright", NULL };

static const struct opt options[] = {
	{ 0, "board", "WxH,MM", OPT_TEXT, AT(board), NULL, 0, 0, NULL,
	    "its points along both sides (inner corners, or circles), and their distance" },
	{ 0, "kind", "WORD", OPT_WORD, AT(kind), "chess", 0, 0, NULL, "what is printed on it",
	    board_kinds },
	{ 0, "polarity", "WORD", OPT_WORD, AT(polarity), NULL, 0, 0, NULL,
	    "circles are dark on bright ground, if not given, or bright on dark", polarities },
	{ 0, "sigma", "PX", OPT_NUMBER, AT(find.sigma_px), NULL, DERIVATIVES_SIGMA_LEAST, 32, "px",
	    "smoothing that corners are measured with; by their distances if not given" },
	{ 0, "channel", "NAME", OPT_TEXT, AT(channel), NULL, 0, 0, NULL,
	    "the picture: r, g, b ...; the luma of colour pictures if not given" },
	{ 0 },
};

/* ---- boards ---- */

/* Finds the board in picture i of those that wait. */
static void
find(void *arg, size_t i)
{
	struct run *run = arg;
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	struct picture *picture = &priv->picture[i];

	picture->status = board_find(&priv->board, &parameters->find, picture->gray,
	    &picture->corners, picture->reason);
	if (picture->status < 0)
		fail_take(&picture->failure);
}

/* How much of the board a picture shows. */
static void
count(struct priv *priv, const struct corners *corners)
{
	long least[2] = { 0, 0 }, most[2] = { -1, -1 };

	for (size_t k = 0; k < corners->n; k++) {
		long at[2] = { corners->corner[k].i, corners->corner[k].j };

		for (int c = 0; c < 2; c++) {
			least[c] = k && least[c] < at[c] ? least[c] : at[c];
			most[c] = k && most[c] > at[c] ? most[c] : at[c];
		}
	}
	priv->columns = most[0] - least[0] >= priv->columns ? most[0] - least[0] + 1 :
	    priv->columns;
	priv->rows = most[1] - least[1] >= priv->rows ? most[1] - least[1] + 1 : priv->rows;
	priv->found += corners->n > 0;
}

static void
report(const struct run *run, const struct priv *priv, const struct picture *picture)
{
	char number[40];
	const char *name = picture->path;

	if (!name) {
		snprintf(number, sizeof(number), "picture %zu", picture->number);
		name = number;
	}
	if (picture->status > 0)
		warn(name, "no board: %s", picture->reason);
	else if (run->verbose)
		note(name, "%zu of %zu points%s", picture->corners.n, priv->board.w * priv->board.h,
		    picture->corners.others ? "; other numberings fit as well" : "");
}

static void
drop(struct picture *picture)
{
	frame_free(picture->gray);
	free(picture->path);
	corners_free(&picture->corners);
	*picture = (struct picture){ 0 };
}

/* Finds the boards of all pictures that wait, and hands their tables on in order. */
static int
hand_on(struct run *run)
{
	struct priv *priv = run->priv;
	int status = 0;

	run_for(run, priv->waiting, find, run);
	for (size_t i = 0; i < priv->waiting; i++) {
		struct picture *picture = &priv->picture[i];
		struct frame *table;

		fail_put(&picture->failure);
		if (picture->status < 0)
			status = -1;
		if (status == 0) {
			report(run, priv, picture);
			count(priv, &picture->corners);
			status = board_table(&priv->board, &picture->corners, &picture->gray->head,
			    &table);
			if (status == 0)
				status = run_emit(run, table);
		}
		drop(picture);
	}
	priv->waiting = 0;
	return status;
}

/* ---- pictures ---- */

/* A frame is one picture, whatever its channels. */
static int
gather(struct run *, const struct frame_head *head, size_t *planes)
{
	*planes = head->c;
	return 0;
}

static int
arrives(struct run *run, const struct frame_head *head, const char *path, size_t have,
    size_t wanted, bool *begins)
{
	struct priv *priv = run->priv;

	(void)head, (void)have, (void)wanted;
	*begins = false;
	free(priv->path);
	priv->path = path ? must_strdup(path) : NULL;
	return 0;
}

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct picture *picture = &priv->picture[priv->waiting];
	struct frame *gray;
	int status = board_picture(in, parameters->channel, &gray);

	if (status == 0) {
		meta_free(&gray->head.meta);
		meta_copy(&gray->head.meta, &in->head.meta);
		if (priv->path && !meta_get(&gray->head.meta, "name"))
			status = meta_set_file_name(&gray->head.meta, priv->path);
		if (status < 0)
			frame_free(gray);
	}
	frame_free(in);
	if (status < 0)
		return -1;
	picture->gray = gray;
	picture->path = priv->path;
	priv->path = NULL;
	picture->number = priv->pictures++;
	return ++priv->waiting == (size_t)run->threads ? hand_on(run) : 0;
}

/* The pictures before the lost one take their numbers first. */
static int
lost(struct run *run, bool seen, size_t *results)
{
	(void)seen, (void)results;
	return hand_on(run);
}

static int
finish(struct run *run)
{
	const struct priv *priv = run->priv;

	if (hand_on(run) < 0)
		return -1;
	if (priv->pictures > 0 && priv->found == 0)
		return fail(NULL, "none of the %zu pictures shows the board", priv->pictures);
	if (priv->found > 0 &&
	    (priv->columns < (long)priv->board.w || priv->rows < (long)priv->board.h))
		warn("--board", "no picture shows more than %ldx%ld of its %zux%zu points: is the "
		    "size right?", priv->columns, priv->rows, priv->board.w, priv->board.h);
	return 0;
}

static const struct body body = {
	.gather = gather,
	.arrives = arrives,
	.frame = take_frame,
	.lost = lost,
	.end = finish,
	.no_passes = "a grid grows from corner to corner across the whole picture",
};

static int
init(struct run *run)
{
	struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	if (!parameters->board)
		return fail_usage("--board", "is needed: the points along both sides and their "
		    "distance, as 11x8,15");
	if (board_parse("--board", parameters->board, (enum board_kind)parameters->kind,
	    &priv->board) < 0)
		return -1;
	if (parameters->polarity >= 0 && parameters->kind == BOARD_CHESS)
		return fail_usage("--polarity", "is for circles: give --kind");
	if (!isnan(parameters->find.sigma_px) && parameters->kind != BOARD_CHESS)
		return fail_usage("--sigma", "is for chessboards: circles are measured at their "
		    "edges");
	parameters->find.bright = parameters->polarity == 1;
	parameters->find.row = boardfind_rows()->derivative_row;
	priv->picture = must_alloc((size_t)run->threads, sizeof(*priv->picture));
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	for (size_t i = 0; i < priv->waiting; i++)
		drop(&priv->picture[i]);
	free(priv->picture);
	free(priv->path);
}

const struct stage stage_boardfind = {
	.name = "boardfind",
	.summary = "points of a calibration board in pictures",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_ANY_TYPE,
	.init = init,
	.release = release,
};
