/*
 * The runner, with small stages of this file's own: what comes out must be what plain loops over
 * whole images compute, whatever the bands, the threads and the grouping of frames. Every chain
 * runs in a process of its own, as the tools do.
 */
#define _GNU_SOURCE
#include "frames.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/nrrd.h"
#include "run/chain.h"

/* ---- stages ---- */

/* In a stage: its process ends, where cmocka's assertions would go on to the next test. */
static void
must(bool holds)
{
	if (!holds)
		abort();
}

/* column: weighted sum of rows y - reach .. y + reach, the border repeated; every channel. */
struct column_parameters {
	long reach;
};

static const struct opt column_options[] = {
	{ 'r', "reach", "N", OPT_INTEGER, 0, "1", 0, 20, NULL, "rows above and below", NULL },
	{ 0 },
};

static size_t
clamped(size_t y, long by, size_t h)
{
	long there = (long)y + by;

	return there < 0 ? 0 : there >= (long)h ? h - 1 : (size_t)there;
}

static void
column_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	long reach = ((const struct column_parameters *)run->parameters)->reach;

	(void)scratch;
	for (size_t c = 0; c < out->head.c; c++)
		for (size_t y = y0; y < y1; y++)
			for (size_t x = 0; x < out->head.w; x++) {
				float sum = 0;

				for (long k = -reach; k <= reach; k++)
					sum += (float)(k + reach + 1) *
					    frame_floats(in, c, clamped(y, k, in->head.h))[x];
				frame_floats(out, c, y)[x] = sum / 8;
			}
}

static int
column_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	(void)in;
	(void)out;
	run->halo = (size_t)((const struct column_parameters *)run->parameters)->reach;
	return 0;
}

static int
column_init(struct run *run)
{
	static const struct body body = { .rows = column_rows };

	run->body = &body;
	return 0;
}

static const struct stage column = {
	.name = "column", .summary = "-", .options = column_options,
	.parameter_size = sizeof(struct column_parameters), .init = column_init, .plan = column_plan
};

/* turn: of three channels the second is filtered as by column, the others are handed on in turn. */
static void
turn_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	struct frame one_in = *in, one_out = *out;

	one_in.plane += 1;
	one_out.head.c = 1;
	column_rows(run, &one_in, &one_out, y0, y1, scratch);
}

static int
turn_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	column_plan(run, in, out);
	run_pass(run, 1, 2);
	run_pass(run, 2, 0);
	return 0;
}

static int
turn_init(struct run *run)
{
	static const struct body body = { .rows = turn_rows };

	run->body = &body;
	return 0;
}

static const struct stage turn = {
	.name = "turn", .summary = "-", .options = column_options,
	.parameter_size = sizeof(struct column_parameters), .init = turn_init, .plan = turn_plan
};

/* widen: behind the channels their row numbers; takes any type; every third column is dropped. */
static float
sample(const struct frame *frame, size_t c, size_t y, size_t x)
{
	const void *row = frame_row(frame, c, y);

	if (frame->head.type == SAMPLE_UCHAR)
		return ((const uint8_t *)row)[x];
	return frame->head.type == SAMPLE_USHORT ? ((const uint16_t *)row)[x]
						 : ((const float *)row)[x];
}

static void
widen_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	size_t n = in->head.c;

	(void)scratch;
	(void)run;
	for (size_t c = 0; c < 2 * n; c++)
		for (size_t y = y0; y < y1; y++)
			for (size_t x = 0; x < out->head.w; x++)
				frame_floats(out, c, y)[x] = c < n ? sample(in, c, y, x + x / 2) :
				    (float)y;
}

static int
widen_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	char names[1024] = "";
	size_t used = 0;

	(void)run;
	for (size_t c = 0; c < 2 * in->c; c++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, " w%zu", c);
	out->w = in->w - in->w / 3;
	return head_set_channels(out, names);
}

static int
widen_init(struct run *run)
{
	static const struct body body = { .rows = widen_rows };

	run->body = &body;
	return 0;
}

static const struct stage widen = {
	.name = "widen", .summary = "-", .traits = STAGE_ANY_TYPE, .init = widen_init,
	.plan = widen_plan
};

/* three: gathers three planes into a + 10 b + 100 c. */
static int
three_gather(struct run *run, const struct frame_head *head, size_t *planes)
{
	(void)run;
	(void)head;
	*planes = 3;
	return 0;
}

static void
three_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	(void)scratch;
	(void)run;
	for (size_t y = y0; y < y1; y++)
		for (size_t x = 0; x < out->head.w; x++)
			frame_floats(out, 0, y)[x] = frame_floats(in, 0, y)[x] +
			    10 * frame_floats(in, 1, y)[x] + 100 * frame_floats(in, 2, y)[x];
}

static int
three_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	(void)run;
	must(in->c == 3);
	return head_set_channels(out, "sum");
}

static int
three_init(struct run *run)
{
	static const struct body body = { .gather = three_gather, .rows = three_rows };

	run->body = &body;
	return 0;
}

static const struct stage three = {
	.name = "three", .summary = "-", .init = three_init, .plan = three_plan
};

/* copies: a flow that hands on each frame twice, numbered, and the first one again at the end. */
struct copies {
	struct frame *first;
	size_t n;
};

static int
emit_copy(struct run *run, const struct frame *frame)
{
	struct copies *copies = run->priv;
	struct frame *copy;

	if (frame_duplicate(frame, &copy) < 0)
		return -1;
	if (meta_setf(&copy->head.meta, "copy", "%zu", copies->n++) < 0) {
		frame_free(copy);
		return -1;
	}
	return run_emit(run, copy);
}

static int
copies_frame(struct run *run, struct frame *frame)
{
	struct copies *copies = run->priv;
	int status = 0;

	for (int i = 0; i < 2 && status == 0; i++)
		status = emit_copy(run, frame);
	if (copies->first)
		frame_free(frame);
	else
		copies->first = frame;
	return status;
}

static int
copies_last(struct run *run)
{
	struct copies *copies = run->priv;

	return copies->first ? emit_copy(run, copies->first) : 0;
}

static int
copies_init(struct run *run)
{
	static const struct body body = { .frame = copies_frame, .end = copies_last };

	run->body = &body;
	return 0;
}

static void
copies_end(struct run *run)
{
	frame_free(((struct copies *)run->priv)->first);
}

static const struct stage copies = {
	.name = "copies", .summary = "-", .private_size = sizeof(struct copies),
	.traits = STAGE_ANY_TYPE, .init = copies_init, .release = copies_end
};

/* plans: passes on; tells how often plan ran. */
static void
plans_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	(void)scratch;
	(void)run;
	for (size_t c = 0; c < out->head.c; c++)
		for (size_t y = y0; y < y1; y++)
			memcpy(frame_row(out, c, y), frame_row(in, c, y), in->plane[c].stride);
}

static int
plans_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	(void)in;
	return meta_setf(&out->meta, "plans", "%zu", ++*(size_t *)run->priv);
}

static int
plans_init(struct run *run)
{
	static const struct body body = { .rows = plans_rows };

	run->body = &body;
	return 0;
}

static const struct stage plans = {
	.name = "plans", .summary = "-", .private_size = sizeof(size_t), .init = plans_init,
	.plan = plans_plan
};

/* less: the first channel without the reference's; as a map, or with --flow as a flow. */
struct less_parameters {
	const char *ref;
	bool flow;
};

static const char *const less_words[] = { "nothing", NULL };

static const struct opt less_options[] = {
	{ 0, "ref", "FILE", OPT_FRAME, offsetof(struct less_parameters, ref), NULL, 0, 0, NULL, "-",
	  less_words },
	{ 0, "flow", NULL, OPT_FLAG, offsetof(struct less_parameters, flow), NULL, 0, 0, NULL, "-",
	  NULL },
	{ 0 },
};

static void
less_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	size_t ref = *(const size_t *)run->priv;

	(void)scratch;
	for (size_t y = y0; y < y1; y++)
		for (size_t x = 0; x < in->head.w; x++)
			frame_floats(out, 0, y)[x] = frame_floats(in, 0, y)[x] -
			    (ref == NO_CHANNEL ? 0 : frame_floats(in, ref, y)[x]);
}

static int
less_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct less_parameters *parameters = run->parameters;
	size_t *ref = run->priv;

	*ref = NO_CHANNEL;
	if (strcmp(parameters->ref, "nothing") &&
	    run_second_input(run, in, "ref", "image", ref) < 0)
		return -1;
	return head_set_channels(out, "less");
}

static int
less_frame(struct run *run, struct frame *in)
{
	struct row_scratch scratch = { 0 };
	struct frame_head head;
	struct frame *out;

	head_copy(&head, &in->head);
	must(head_set_channels(&head, "less") == 0);
	must(frame_new(&head, &out) == 0);
	head_free(&head);
	less_rows(run, in, out, 0, in->head.h, &scratch);
	frame_free(in);
	return run_emit(run, out);
}

static int
less_init(struct run *run)
{
	static const struct body map = { .rows = less_rows }, flow = { .frame = less_frame };

	run->body = ((const struct less_parameters *)run->parameters)->flow ? &flow : &map;
	return 0;
}

static const struct stage less = {
	.name = "less", .summary = "-", .options = less_options,
	.parameter_size = sizeof(struct less_parameters), .private_size = sizeof(size_t),
	.init = less_init, .plan = less_plan
};

/* level: less the smallest sample of the first channel; a survey. */
static int
level_survey(struct run *run, const struct frame *in)
{
	float *least = run->priv;

	*least = 1e30f;
	for (size_t y = 0; y < in->head.h; y++)
		for (size_t x = 0; x < in->head.w; x++)
			if (frame_floats(in, 0, y)[x] < *least)
				*least = frame_floats(in, 0, y)[x];
	return 0;
}

static void
level_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	(void)scratch;
	for (size_t c = 0; c < in->head.c; c++)
		for (size_t y = y0; y < y1; y++)
			for (size_t x = 0; x < in->head.w; x++)
				frame_floats(out, c, y)[x] = frame_floats(in, c, y)[x] -
				    *(const float *)run->priv;
}

static int
level_init(struct run *run)
{
	static const struct body body = { .survey = level_survey, .rows = level_rows };

	run->body = &body;
	return 0;
}

static const struct stage level = {
	.name = "level", .summary = "-", .private_size = sizeof(float), .init = level_init
};

/* colour: passes on what the runner makes of colour images. */
static const char *const colours[] = { "keep", "grey", "red", "green", "blue", "luma", "planes",
	NULL };

static const struct opt colour_options[] = {
	{ 0, "as", "WORD", OPT_WORD, 0, "keep", 0, 0, NULL, "-", colours }, { 0 },
};

static int
colour_frame(struct run *run, struct frame *frame)
{
	return run_emit(run, frame);
}

static int
colour_init(struct run *run)
{
	static const struct body body = { .frame = colour_frame };

	run->body = &body;
	run->colour = (enum colour)*(const int *)run->parameters;
	return 0;
}

static const struct stage colour = {
	.name = "colour", .summary = "-", .options = colour_options, .parameter_size = sizeof(int),
	.traits = STAGE_ANY_TYPE, .init = colour_init
};

/* rows of squares, computed with run_for; one flow stage that is a source. */
static void
square(void *arg, size_t y)
{
	struct frame *frame = arg;

	for (size_t x = 0; x < frame->head.w; x++)
		frame_floats(frame, 0, y)[x] = (float)(x * x + y);
}

static int
squares_start(struct run *run)
{
	struct frame_head head;
	struct frame *frame;

	for (size_t i = 1; i <= 3; i++) {
		must(head_init(&head, 10 * i, 7 * i, 1, SAMPLE_FLOAT) == 0);
		must(frame_new(&head, &frame) == 0);
		head_free(&head);
		run_for(run, frame->head.h, square, frame);
		if (run_emit(run, frame) < 0)
			return -1;
	}
	return 0;
}

static int
squares_init(struct run *run)
{
	static const struct body body = { .start = squares_start };

	run->body = &body;
	return 0;
}

static const struct stage squares = {
	.name = "squares", .summary = "-", .traits = STAGE_SOURCE, .init = squares_init
};

#define ROW(name) { #name, &name }

const struct stage_row stage_table[] = { ROW(column), ROW(turn), ROW(widen), ROW(three),
	ROW(copies), ROW(plans), ROW(less), ROW(level), ROW(colour), ROW(squares), { 0 } };

/* ---- running a chain ---- */

#ifdef __SANITIZE_THREAD__
/* Else every process of more than one thread sleeps a second before it ends. */
const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return "atexit_sleep_ms=0";
}
#endif

#define LINE_SIZE 2048

static char said[2048];		/* what the last chain wrote on standard error */

/* fringepipe with these blank-separated words, in a process of its own; its exit code. */
static int
chain(const char *words)
{
	char text[LINE_SIZE], *rest = text, *argv[LINE_SIZE / 2] = { "fringepipe" }, *word;
	int argc = 1, status;
	FILE *file;
	pid_t child;

	assert_true(snprintf(text, sizeof(text), "%s", words) < LINE_SIZE);
	while ((word = strsep(&rest, " ")))
		argv[argc++] = word;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		if (!freopen("said", "w", stderr) || !freopen("/dev/null", "r", stdin))
			_exit(99);
		exit(chain_main(argc, argv));	/* exit: sanitizers look for leaks there */
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	file = fopen("said", "r");
	assert_non_null(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	fclose(file);
	if (!WIFEXITED(status))
		print_error(
		    "fringepipe %s: killed by signal %d: %s\n", words, WTERMSIG(status), said);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
assert_runs(const char *words)
{
	int code = chain(words);

	if (code || *said)
		print_error("fringepipe %s: exit %d: %s\n", words, code, said);
	assert_int_equal(code, 0);
	assert_string_equal(said, "");
}

static void
assert_fails(int code, const char *words, const char *message)
{
	int got = chain(words);

	if (got != code || strcmp(said, message))
		print_error("fringepipe %s: exit %d: %s\n", words, got, said);
	assert_string_equal(said, message);
	assert_int_equal(got, code);
}

/* ---- frames ---- */

#define FRAMES_MOST 32

struct frames {
	struct frame *frame[FRAMES_MOST];
	size_t n;
};

/* Whole numbers, so that sums are exact in any order. */
static struct frame *
whole_made(size_t w, size_t h, size_t c, enum sample type, uint32_t seed)
{
	struct frame *frame = frame_made(w, h, c, SAMPLE_USHORT, seed), *out;
	struct frame_head head;

	head_copy(&head, &frame->head);
	head.type = type;
	assert_int_equal(frame_new(&head, &out), 0);
	head_free(&head);
	for (size_t k = 0; k < c; k++)
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++) {
				unsigned v = frame_bits(k, y, x, seed) % 251;

				if (type == SAMPLE_UCHAR)
					((uint8_t *)frame_row(out, k, y))[x] = (uint8_t)v;
				else if (type == SAMPLE_USHORT)
					((uint16_t *)frame_row(out, k, y))[x] = (uint16_t)(256 * v);
				else
					frame_floats(out, k, y)[x] = (float)v;
			}
	frame_free(frame);
	return out;
}

static void
save(const char *path, const struct frames *frames)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	for (size_t i = 0; i < frames->n; i++)
		assert_int_equal(stream_write(file, path, frames->frame[i]), 0);
	assert_int_equal(fclose(file), 0);
}

static void
load(const char *path, struct frames *frames)
{
	FILE *file = fopen(path, "rb");

	assert_non_null(file);
	for (frames->n = 0; frames->n < FRAMES_MOST; frames->n++)
		if (stream_read(file, path, &frames->frame[frames->n]) != 1)
			break;
	assert_null(fail_message());
	fclose(file);
}

static void
release(struct frames *frames)
{
	for (size_t i = 0; i < frames->n; i++)
		frame_free(frames->frame[i]);
	frames->n = 0;
}

static void
save_one(const char *path, struct frame *frame)
{
	struct frames one = { { frame }, 1 };

	save(path, &one);
	release(&one);
}

static void
assert_planes_equal(const struct frame *a, const struct frame *b, const char *what)
{
	assert_int_equal(a->head.w, b->head.w);
	assert_int_equal(a->head.h, b->head.h);
	assert_int_equal(a->head.c, b->head.c);
	assert_int_equal(a->head.type, b->head.type);
	for (size_t c = 0; c < a->head.c; c++)
		for (size_t y = 0; y < a->head.h; y++)
			if (memcmp(frame_row(a, c, y), frame_row(b, c, y),
			    a->head.w * sample_size(a->head.type))) {
				print_error("%s: channel %zu, row %zu of %zu x %zu differs\n", what,
				    c, y, a->head.w, a->head.h);
				assert_true(false);
			}
}

/* ---- the same by plain loops ---- */

/* `in` through a map of this file, over the whole image at once; frees it. */
static struct frame *
whole(const struct stage *stage, void *parameters, struct frame *in)
{
	struct link link = { 0 };
	struct run run = { .stage = stage, .parameters = parameters, .link = &link };
	struct frame_head head;
	struct frame *out, *converted;

	run.priv = calloc(1, stage->private_size + 1);
	if (!(stage->traits & STAGE_ANY_TYPE)) {
		assert_int_equal(frame_to_float(in, &converted), 0);
		frame_free(in);
		in = converted;
	}
	head_copy(&head, &in->head);
	head.type = SAMPLE_FLOAT;
	assert_int_equal(stage->init(&run), 0);
	if (stage->plan)
		assert_int_equal(stage->plan(&run, &in->head, &head), 0);
	if (run.body->survey)
		assert_int_equal(run.body->survey(&run, in), 0);
	assert_int_equal(frame_new(&head, &out), 0);
	head_free(&head);
	run.body->rows(&run, in, out, 0, in->head.h, &(struct row_scratch){ 0 });
	run_pass_rows(&run, in, out, 0, in->head.h);
	frame_free(in);
	free(run.priv);
	free(link.source_channel);
	return out;
}

static struct frame *
columns(long reach, struct frame *in)
{
	struct column_parameters parameters = { reach };

	return whole(&column, &parameters, in);
}

/* ---- tests ---- */

static const int thread_counts[] = { 1, 2, 7 };

/* Runs the chain for all bands 1..9, the runner's own, and 1, 2, 7 threads. */
static void
assert_in_all_bands(const char *words, const struct frame *wanted)
{
	for (int band = 0; band <= 9; band++)
		for (size_t k = 0; k < 3; k++) {
			char line[LINE_SIZE], number[12];
			struct frames got;

			snprintf(number, sizeof(number), "%d", band);
			if (band)
				setenv("FRINGEPIPE_BAND", number, 1);
			else
				unsetenv("FRINGEPIPE_BAND");
			snprintf(
			    line, sizeof(line), "-j %d -o out.nrrd %s", thread_counts[k], words);
			assert_runs(line);
			load("out.nrrd", &got);
			assert_int_equal(got.n, 1);
			snprintf(line, sizeof(line), "%s with %d threads, bands of %d", words,
			    thread_counts[k], band);
			assert_planes_equal(got.frame[0], wanted, line);
			release(&got);
		}
	unsetenv("FRINGEPIPE_BAND");
}

static const size_t heights[][2] = { { 1, 1 }, { 5, 7 }, { 127, 1 }, { 3, 64 }, { 33, 65 } };

static void
one_map(void **state)
{
	static const long reach[] = { 0, 1, 8, 5, 3 };

	(void)state;
	for (size_t s = 0; s < 5; s++) {
		size_t w = heights[s][0], h = heights[s][1];
		struct frame *wanted = columns(reach[s], whole_made(w, h, 2, SAMPLE_FLOAT, 1));
		char words[64];

		save_one("in.nrrd", whole_made(w, h, 2, SAMPLE_FLOAT, 1));
		snprintf(words, sizeof(words), "column --reach=%ld in.nrrd", reach[s]);
		assert_in_all_bands(words, wanted);
		frame_free(wanted);
	}
}

static void
fused_maps(void **state)
{
	(void)state;
	for (size_t s = 0; s < 5; s++) {
		size_t w = heights[s][0], h = heights[s][1];
		enum sample type = (enum sample)(s % 3);
		struct frame *wanted = whole_made(w, h, 2, type, 2);

		save_one("in.nrrd", whole_made(w, h, 2, type, 2));
		wanted = columns(3, whole(&widen, NULL, wanted));
		wanted = columns(5, columns(0, whole(&widen, NULL, wanted)));
		assert_in_all_bands("widen in.nrrd , column --reach=3 , widen , column --reach=0 , "
		    "column --reach=5", wanted);
		frame_free(wanted);
	}
}

static struct frame *
turns(long reach, struct frame *in)
{
	struct column_parameters parameters = { reach };

	return whole(&turn, &parameters, in);
}

/* Channels that are handed on share memory, through several maps and from the input; nothing shows.
 */
static void
passed_channels(void **state)
{
	(void)state;
	for (size_t s = 0; s < 5; s++) {
		size_t w = heights[s][0], h = heights[s][1];
		struct frame *wanted = whole_made(w, h, 3, SAMPLE_FLOAT, 5);

		save_one("in.nrrd", whole_made(w, h, 3, SAMPLE_FLOAT, 5));
		wanted = turns(0, turns(7, turns(2, turns(0, turns(3, wanted)))));
		assert_in_all_bands("turn --reach=3 in.nrrd , turn --reach=0 , turn --reach=2 , "
		    "turn --reach=7 , turn --reach=0", wanted);
		frame_free(wanted);
		wanted = turns(1, whole_made(w, h, 3, SAMPLE_FLOAT, 5));
		assert_in_all_bands("turn in.nrrd", wanted);
		wanted = turns(20, columns(2, turns(5, wanted)));
		assert_in_all_bands("turn in.nrrd , turn -r 5 , column -r 2 , turn -r 20", wanted);
		frame_free(wanted);
	}
}

/* A survey in the middle, and flows, end a run of maps; the result is the same. */
static void
interrupted_maps(void **state)
{
	struct frame *wanted;

	(void)state;
	save_one("in.nrrd", whole_made(29, 41, 1, SAMPLE_UCHAR, 3));
	wanted = columns(4, whole_made(29, 41, 1, SAMPLE_UCHAR, 3));
	wanted = columns(2, whole(&level, NULL, wanted));
	assert_in_all_bands("column --reach=4 in.nrrd , level , column --reach=2", wanted);
	assert_in_all_bands("column --reach=4 in.nrrd , colour , level , colour , column --reach=2",
	    wanted);
	frame_free(wanted);
}

/* More maps than are taken through together. */
static void
many_maps(void **state)
{
	enum { MAPS = 70 };
	char words[LINE_SIZE] = "plans in.nrrd";
	struct frame *wanted = whole_made(9, 9, 1, SAMPLE_FLOAT, 3);

	(void)state;
	save_one("in.nrrd", whole_made(9, 9, 1, SAMPLE_FLOAT, 3));
	for (size_t i = 1; i < MAPS; i++) {
		strcat(words, i % 10 ? " , plans" : " , column");
		wanted = i % 10 ? wanted : columns(1, wanted);
	}
	assert_in_all_bands(words, wanted);
	frame_free(wanted);
}

/* Six planes in every grouping give the same two frames; lists in the metadata are divided alike.
 */
static void
gathering(void **state)
{
	static const size_t groups[][7] = { { 1, 1, 1, 1, 1, 1 }, { 2, 2, 2 }, { 3, 3 }, { 6 },
		{ 4, 2 }, { 1, 5 }, { 5, 1 }, { 2, 4 }, { 1, 1, 4 } };
	struct frame *six = whole_made(21, 13, 6, SAMPLE_UCHAR, 4), *wanted[2];

	(void)state;
	assert_int_equal(meta_set(&six->head.meta, "tag", "a b c d e f"), 0);
	assert_int_equal(meta_set(&six->head.meta, "same", "one"), 0);
	assert_int_equal(meta_set(&six->head.meta, "origin_px", "1 2"), 0);
	for (size_t i = 0; i < 2; i++) {
		struct frame *half;

		frame_select(six, (const size_t[]){ 3 * i, 3 * i + 1, 3 * i + 2 }, 3, &half);
		wanted[i] = whole(&three, NULL, half);
	}
	for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++) {
		struct frames in = { .n = 0 }, got;

		for (size_t c = 0; c < 6; c += groups[g][in.n++]) {
			size_t channel[6];

			for (size_t k = 0; k < groups[g][in.n]; k++)
				channel[k] = c + k;
			frame_select(six, channel, groups[g][in.n], &in.frame[in.n]);
			meta_pick(&in.frame[in.n]->head.meta, 6, channel, groups[g][in.n]);
		}
		save("in.nrrd", &in);
		release(&in);
		assert_runs("-j 2 -o out.nrrd three in.nrrd");
		load("out.nrrd", &got);
		assert_int_equal(got.n, 2);
		for (size_t i = 0; i < 2; i++) {
			const struct meta *meta = &got.frame[i]->head.meta;

			assert_planes_equal(got.frame[i], wanted[i], "gathered");
			assert_string_equal(meta_get(meta, "tag"), i ? "d e f" : "a b c");
			assert_string_equal(meta_get(meta, "same"), "one");
			assert_string_equal(meta_get(meta, "origin_px"), "1 2");
			assert_string_equal(meta_get(meta, "cmd.1"), "three [1]");
			assert_string_equal(got.frame[i]->head.channel[0], "sum");
		}
		release(&got);
	}
	frame_free(wanted[0]);
	frame_free(wanted[1]);
	frame_free(six);
}

static void
gathering_leaves_a_remainder(void **state)
{
	(void)state;
	save_one("four.nrrd", whole_made(5, 5, 4, SAMPLE_FLOAT, 1));
	save_one("two.nrrd", whole_made(5, 5, 2, SAMPLE_FLOAT, 1));
	save_one("other.nrrd", whole_made(5, 6, 1, SAMPLE_FLOAT, 1));
	save_one("bytes.nrrd", whole_made(5, 5, 1, SAMPLE_UCHAR, 1));
	assert_fails(1, "-o out.nrrd three four.nrrd",
	    "fringepipe: a measurement is 3 images, the input ends after 1 of one\n");
	assert_fails(1, "-o out.nrrd three two.nrrd",
	    "fringepipe: a measurement is 3 images, the input ends after 2 of one\n");
	assert_runs("-o out.nrrd three four.nrrd two.nrrd");
	assert_runs("-o out.nrrd three two.nrrd two.nrrd two.nrrd");
	assert_fails(1, "-o x.nrrd three two.nrrd other.nrrd",
	    "fringepipe: images differ in size: 5 x 5, then 5 x 6\n");
	assert_fails(1, "-o x.nrrd three two.nrrd bytes.nrrd",
	    "fringepipe: images differ in sample type: float, then uchar\n");
	assert_int_equal(access("x.nrrd", F_OK), -1);
}

static void
flow_emits_many(void **state)
{
	struct frames in = { .n = 2 }, got;

	(void)state;
	in.frame[0] = whole_made(9, 11, 1, SAMPLE_UCHAR, 1);
	in.frame[1] = whole_made(4, 3, 2, SAMPLE_FLOAT, 2);
	save("in.nrrd", &in);
	assert_runs("-j 3 -o out.nrrd copies in.nrrd , column --reach=2");
	load("out.nrrd", &got);
	assert_int_equal(got.n, 5);
	for (size_t i = 0; i < 5; i++) {
		struct frame *wanted;
		char number[12];

		snprintf(number, sizeof(number), "%zu", i);
		frame_duplicate(in.frame[i == 2 || i == 3], &wanted);
		wanted = columns(2, wanted);
		assert_planes_equal(got.frame[i], wanted, number);
		assert_string_equal(meta_get(&got.frame[i]->head.meta, "copy"), number);
		assert_string_equal(meta_get(&got.frame[i]->head.meta, "cmd.1"), "copies [1]");
		assert_string_equal(
		    meta_get(&got.frame[i]->head.meta, "cmd.2"), "column --reach=2");
		frame_free(wanted);
	}
	release(&got);
	release(&in);
	/* a flow may complete another's frames: 2 + 2 + 1, then 2 of each and 1 */
	assert_runs("-o out.nrrd copies in.nrrd , copies");
	load("out.nrrd", &got);
	assert_int_equal(got.n, 11);
	release(&got);
}

static void
source_with_threads(void **state)
{
	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct frames got;
		char words[64];

		snprintf(
		    words, sizeof(words), "-j %d -o out.nrrd squares , plans", thread_counts[k]);
		assert_runs(words);
		load("out.nrrd", &got);
		assert_int_equal(got.n, 3);
		for (size_t i = 0; i < 3; i++) {
			const struct frame *frame = got.frame[i];

			assert_true(frame->head.w == 10 * (i + 1) && frame->head.h == 7 * (i + 1));
			for (size_t y = 0; y < frame->head.h; y++)
				for (size_t x = 0; x < frame->head.w; x++)
					assert_true(
					    frame_floats(frame, 0, y)[x] == (float)(x * x + y));
		}
		release(&got);
	}
}

/* plan runs when the head changes, size, names or metadata, and only then. */
static void
replanning(void **state)
{
	static const size_t wanted[] = { 1, 1, 2, 2, 3, 4, 5 };
	struct frames in = { .n = 7 }, got;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		in.frame[i] = whole_made(
		    i < 2 ? 20 : 31, i < 2 ? 30 : 9, i < 4 ? 1 : 3, SAMPLE_FLOAT, (uint32_t)i);
	meta_set(&in.frame[5]->head.meta, "axis", "y");
	head_set_channels(&in.frame[6]->head, "a b c");
	save("in.nrrd", &in);
	assert_runs("-j 2 -o out.nrrd column --reach=2 in.nrrd , plans , column --reach=7");
	load("out.nrrd", &got);
	assert_int_equal(got.n, 7);
	for (size_t i = 0; i < 7; i++) {
		struct frame *expected;
		char number[12];

		snprintf(number, sizeof(number), "%zu", wanted[i]);
		assert_string_equal(meta_get(&got.frame[i]->head.meta, "plans"), number);
		frame_duplicate(in.frame[i], &expected);
		expected = columns(7, columns(2, expected));
		assert_planes_equal(got.frame[i], expected, number);
		frame_free(expected);
	}
	release(&got);
	release(&in);
}

/* frame i of `in` less frame i of `ref` (or 0, if that has but one). */
static void
assert_less(const char *words, const struct frames *in, const struct frames *ref)
{
	struct frames got;

	assert_runs(words);
	load("out.nrrd", &got);
	assert_int_equal(got.n, in->n);
	for (size_t i = 0; i < in->n; i++) {
		const struct frame *a = in->frame[i], *b = ref->frame[ref->n == 1 ? 0 : i];

		assert_int_equal(got.frame[i]->head.c, 1);
		assert_string_equal(got.frame[i]->head.channel[0], "less");
		for (size_t y = 0; y < a->head.h; y++)
			for (size_t x = 0; x < a->head.w; x++)
				assert_true(frame_floats(got.frame[i], 0, y)[x] ==
				    sample(a, 0, y, x) - sample(b, 0, y, x));
	}
	release(&got);
}

static void
second_inputs_in_step(void **state)
{
	struct frames in = { .n = 3 }, one = { .n = 1 }, three_frames = { .n = 3 },
		      two = { .n = 2 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		in.frame[i] = whole_made(19, 23, 2, SAMPLE_FLOAT, (uint32_t)i);
		three_frames.frame[i] = whole_made(19, 23, 1, SAMPLE_UCHAR, 100 + (uint32_t)i);
	}
	one.frame[0] = two.frame[0] = three_frames.frame[0];
	two.frame[1] = three_frames.frame[1];
	save("in.nrrd", &in);
	save("one.nrrd", &one);
	save("two.nrrd", &two);
	save("three.nrrd", &three_frames);
	assert_less("-j 2 -o out.nrrd less --ref=one.nrrd in.nrrd", &in, &one);
	assert_less("-j 2 -o out.nrrd less --ref=three.nrrd in.nrrd", &in, &three_frames);
	assert_less("-j 2 -o out.nrrd less --flow --ref=one.nrrd in.nrrd", &in, &one);
	assert_less("-j 2 -o out.nrrd less --flow --ref=three.nrrd in.nrrd", &in, &three_frames);
	/* behind other maps, whose rows lie in scratch memory */
	setenv("FRINGEPIPE_BAND", "4", 1);
	assert_less(
	    "-j 2 -o out.nrrd plans in.nrrd , plans , less --ref=three.nrrd", &in, &three_frames);
	unsetenv("FRINGEPIPE_BAND");
	assert_fails(1, "-o x.nrrd less --ref=two.nrrd in.nrrd",
	    "fringepipe: two.nrrd: has only 2 frames for --ref, the input has more\n");
	assert_fails(1, "-o x.nrrd less --ref=none.nrrd in.nrrd",
	    "fringepipe: none.nrrd: cannot be opened: No such file or directory\n");
	assert_fails(1, "-o x.nrrd less --ref=in.nrrd in.nrrd",
	    "fringepipe: the image of --ref has 2 channels and none is named image\n");
	save_one("small.nrrd", whole_made(19, 22, 1, SAMPLE_FLOAT, 1));
	assert_fails(1, "-o x.nrrd less --ref=small.nrrd in.nrrd",
	    "fringepipe: small.nrrd: is 19 x 22, the input is 19 x 23\n");
	assert_fails(2, "-o x.nrrd less --ref=- -",
	    "fringepipe: standard input is wanted 2 times\n");
	assert_int_equal(access("x.nrrd", F_OK), -1);
	release(&in);
	release(&three_frames);
}

static void
second_input_may_be_a_word(void **state)
{
	struct frames got;

	(void)state;
	save_one("in.nrrd", whole_made(4, 4, 1, SAMPLE_FLOAT, 1));
	assert_runs("-o out.nrrd less --ref=nothing in.nrrd");
	load("out.nrrd", &got);
	assert_string_equal(meta_get(&got.frame[0]->head.meta, "cmd.1"), "less --ref=nothing [1]");
	release(&got);
}

static void
assert_colours(const char *words, const struct frame *in, size_t n, const size_t *channel)
{
	struct frames got;

	assert_runs(words);
	load("out.nrrd", &got);
	assert_int_equal(got.n, 1);
	assert_int_equal(got.frame[0]->head.c, n);
	for (size_t k = 0; k < n; k++) {
		assert_string_equal(
		    got.frame[0]->head.channel[k], n == 4 ? in->head.channel[k] : "image");
		for (size_t y = 0; y < in->head.h; y++)
			assert_memory_equal(frame_row(got.frame[0], k, y),
			    frame_row(in, channel[k], y), in->head.w);
	}
	release(&got);
}

static void
colour_reduction(void **state)
{
	struct frame *in = whole_made(7, 5, 4, SAMPLE_UCHAR, 6);

	(void)state;
	assert_string_equal(in->head.channel[3], "a");
	save_one("in.nrrd", whole_made(7, 5, 4, SAMPLE_UCHAR, 6));
	assert_colours("-o out.nrrd colour in.nrrd", in, 4, (const size_t[]){ 0, 1, 2, 3 });
	assert_colours("-o out.nrrd colour --as=red in.nrrd", in, 1, (const size_t[]){ 0 });
	assert_colours("-o out.nrrd colour --as=green in.nrrd", in, 1, (const size_t[]){ 1 });
	assert_colours("-o out.nrrd colour --as=blue in.nrrd", in, 1, (const size_t[]){ 2 });
	assert_colours(
	    "-o out.nrrd colour --as=planes in.nrrd", in, 3, (const size_t[]){ 0, 1, 2 });
	assert_fails(1, "-o x.nrrd colour --as=grey in.nrrd",
	    "fringepipe: image is in colour: name "
	    "one with --channel, red where a red laser or light made it\n");
	for (size_t y = 0; y < 5; y++)
		for (size_t c = 1; c < 3; c++)
			memcpy(frame_row(in, c, y), frame_row(in, 0, y), 7);
	save("in.nrrd", &(struct frames){ { in }, 1 });
	assert_colours("-o out.nrrd colour --as=grey in.nrrd", in, 1, (const size_t[]){ 0 });
	/* what has other names is not in colour */
	head_set_channels(&in->head, "x y z w");
	save("in.nrrd", &(struct frames){ { in }, 1 });
	assert_colours(
	    "-o out.nrrd colour --as=grey in.nrrd", in, 4, (const size_t[]){ 0, 1, 2, 3 });
	frame_free(in);
}

/* The input from memory, many times: FRINGEPIPE_REPEAT and -o null: */
static void
repeats(void **state)
{
	struct frames got;

	(void)state;
	save_one("in.nrrd", whole_made(8, 8, 1, SAMPLE_FLOAT, 1));
	setenv("FRINGEPIPE_REPEAT", "5", 1);
	assert_runs("-o out.nrrd column in.nrrd in.nrrd");
	assert_runs("-o null: column in.nrrd");
	unsetenv("FRINGEPIPE_REPEAT");
	load("out.nrrd", &got);
	assert_int_equal(got.n, 10);
	release(&got);
	assert_int_equal(access("null:", F_OK), -1);
}

/* ---- a folder to work in ---- */

static char folder[] = "/tmp/test_chain.XXXXXX";

static int
enter(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int
leave(void **state)
{
	static const char *const made[] = { "in.nrrd", "out.nrrd", "said", "one.nrrd", "two.nrrd",
		"three.nrrd", "four.nrrd", "other.nrrd", "bytes.nrrd", "small.nrrd" };

	(void)state;
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		unlink(made[i]);
	return chdir("/") == 0 ? rmdir(folder) : -1;	/* empty, so nothing else was left behind */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_map),
		cmocka_unit_test(fused_maps), cmocka_unit_test(passed_channels),
		cmocka_unit_test(interrupted_maps),
		cmocka_unit_test(many_maps),
		cmocka_unit_test(gathering),
		cmocka_unit_test(gathering_leaves_a_remainder),
		cmocka_unit_test(flow_emits_many),
		cmocka_unit_test(source_with_threads),
		cmocka_unit_test(replanning),
		cmocka_unit_test(second_inputs_in_step),
		cmocka_unit_test(second_input_may_be_a_word),
		cmocka_unit_test(colour_reduction),
		cmocka_unit_test(repeats),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
