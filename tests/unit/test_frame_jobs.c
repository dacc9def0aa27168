/*
 * Several frames at once (frame_jobs.h): threads make whole frames, and both what comes out and the
 * calls of `after` keep the order. Every chain runs in a process of its own, as the tools do.
 */
#define _GNU_SOURCE
#include "frames.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/nrrd.h"
#include "run/chain.h"

#define FRAMES 13		/* the first is made alone; the next two meet */
#define PATIENCE_MS 20000

/* Frames whose rows a thread has begun with, in this process. */
static bool begun[FRAMES];
static size_t made[FRAMES];	/* rows of each that are made */

/* In a stage: its process ends, where cmocka's assertions would go on to the next test. */
static void
must(bool holds)
{
	if (!holds)
		abort();
}

/* meet: each sample one more. Samples are the frame's number; 1 and 2 wait until both have begun,
 * unless frames come one by one. Later ones wait for none: the thread that reads may be at them. */
struct meet_parameters {
	bool alone;
};

struct meet {
	size_t h, frames;	/* rows; frames that `after` has seen */
};

static const struct opt meet_options[] = {
	{ 'a', "alone", NULL, OPT_FLAG, offsetof(struct meet_parameters, alone), NULL, 0, 0, NULL,
	    "frames do not meet", NULL },
	{ 0 },
};

static void
wait_for_neighbour(size_t number)
{
	size_t neighbour = 3 - number;

	for (int ms = 0; !__atomic_load_n(&begun[neighbour], __ATOMIC_RELAXED); ms++) {
		must(ms < PATIENCE_MS);
		usleep(1000);
	}
}

static void
meet_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct meet_parameters *parameters = run->parameters;
	const struct meet *meet = run->priv;

	(void)scratch;
	for (size_t y = y0; y < y1; y++) {
		const float *from = frame_floats(in, 0, y);

		__atomic_store_n(&begun[(size_t)from[0]], true, __ATOMIC_RELAXED);
		must(!parameters->alone || (float)meet->frames == from[0]);
		if (!parameters->alone && (from[0] == 1 || from[0] == 2))
			wait_for_neighbour((size_t)from[0]);
		for (size_t x = 0; x < in->head.w; x++)
			frame_floats(out, 0, y)[x] = from[x] + 1;
		__atomic_fetch_add(&made[(size_t)from[0]], 1, __ATOMIC_RELAXED);
	}
}

/* All rows of the next frame are made, each once. */
static void
meet_after(struct run *run)
{
	struct meet *meet = run->priv;

	must(__atomic_load_n(&made[meet->frames++], __ATOMIC_RELAXED) == meet->h);
	if (meet->frames == FRAMES)
		warn(NULL, "all %d frames were seen", FRAMES);
}

static int
meet_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	struct meet *meet = run->priv;

	(void)out;
	meet->h = in->h;
	return 0;
}

static int
meet_init(struct run *run)
{
	static const struct body body = { .rows = meet_rows, .after = meet_after };

	run->body = &body;
	return 0;
}

static const struct stage meet = {
	.name = "meet", .summary = "-", .options = meet_options, .traits = STAGE_CONCURRENT,
	.parameter_size = sizeof(struct meet_parameters), .private_size = sizeof(struct meet),
	.init = meet_init, .plan = meet_plan
};

/* same: a map that is made frame by frame, of samples as they are. */
static void
same_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	(void)run;
	(void)scratch;
	for (size_t y = y0; y < y1; y++)
		memcpy(frame_row(out, 0, y), frame_row(in, 0, y),
		    in->head.w * sample_size(in->head.type));
}

static int
same_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	(void)run;
	out->type = in->type;
	return 0;
}

static int
same_init(struct run *run)
{
	static const struct body body = { .rows = same_rows };

	run->body = &body;
	return 0;
}

static const struct stage same = {
	.name = "same", .summary = "-", .traits = STAGE_ANY_TYPE, .init = same_init,
	.plan = same_plan
};

#define ROW(name) { #name, &name }

const struct stage_row stage_table[] = { ROW(meet), ROW(same), { 0 } };

/* What a chain of these words says on standard error; its exit code is *code. */
static const char *
run_chain(char *const *words, int *code)
{
	static char said[1000];
	int argc = 0, status;
	pid_t child;
	FILE *file;

	while (words[argc])
		argc++;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		if (!freopen("said", "w", stderr))
			_exit(99);
		exit(chain_main(argc, (char **)words));
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	*code = WEXITSTATUS(status);
	file = fopen("said", "r");
	assert_non_null(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	fclose(file);
	return said;
}

/* Frames 0 to FRAMES - 1, of which each sample is the number: `bytes` of them of bytes, then
 * floats. */
static void
save_numbers(const char *path, size_t w, size_t h, size_t bytes)
{
	FILE *file = fopen(path, "wb");
	struct frame_head head;

	assert_non_null(file);
	assert_int_equal(head_init(&head, w, h, 1, SAMPLE_FLOAT), 0);
	for (size_t i = 0; i < FRAMES; i++) {
		struct frame *frame;

		head.type = i < bytes ? SAMPLE_UCHAR : SAMPLE_FLOAT;
		assert_int_equal(frame_new(&head, &frame), 0);
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w && i < bytes; x++)
				((uint8_t *)frame_row(frame, 0, y))[x] = (uint8_t)i;
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w && i >= bytes; x++)
				frame_floats(frame, 0, y)[x] = (float)i;
		assert_int_equal(stream_write(file, path, frame), 0);
		frame_free(frame);
	}
	head_free(&head);
	assert_int_equal(fclose(file), 0);
}

static void
assert_numbers(const char *path, size_t w, size_t h)
{
	FILE *file = fopen(path, "rb");
	struct frame *frame;

	assert_non_null(file);
	for (size_t i = 0; i < FRAMES; i++) {
		assert_int_equal(stream_read(file, path, &frame), 1);
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++)
				assert_true(frame_floats(frame, 0, y)[x] == (float)i + 1);
		frame_free(frame);
	}
	assert_int_equal(stream_read(file, path, &frame), 0);
	fclose(file);
}

static void
frames_meet(void **state)
{
	static char *threads[] = { "3", "4", "16" };
	static const size_t heights[] = { 1, 2, 50, 300 };
	int code;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 3; k++) {
			char *words[] = { "fringepipe", "-f", "-j", threads[k], "-o", "out.nrrd",
				"meet", "in.nrrd", NULL };

			save_numbers("in.nrrd", 7, heights[i], 0);
			assert_string_equal(run_chain(words, &code),
			    "fringepipe: all 13 frames were seen\n");
			assert_int_equal(code, 0);
			assert_numbers("out.nrrd", 7, heights[i]);
		}
}

/* Bytes become floats between the maps, floats go through both together: behind the frames that
 * are still under way in the second one. */
static void
segment_grows(void **state)
{
	char *words[] = { "fringepipe", "-f", "-j", "4", "-o", "out.nrrd", "same", "in.nrrd", ",",
		"meet", NULL };
	int code;

	(void)state;
	save_numbers("in.nrrd", 7, 50, 5);
	assert_string_equal(run_chain(words, &code), "fringepipe: meet: all 13 frames were seen\n");
	assert_int_equal(code, 0);
	assert_numbers("out.nrrd", 7, 50);
}

/* Two threads share the rows of one frame after the other. */
static void
frames_alone(void **state)
{
	char *two[] = { "fringepipe", "-f", "-j", "2", "-o", "out.nrrd", "meet", "-a", "in.nrrd",
		NULL };
	int code;

	(void)state;
	save_numbers("in.nrrd", 7, 50, 0);
	assert_string_equal(run_chain(two, &code), "fringepipe: all 13 frames were seen\n");
	assert_int_equal(code, 0);
	assert_numbers("out.nrrd", 7, 50);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_meet),
		cmocka_unit_test(segment_grows),
		cmocka_unit_test(frames_alone),
	};
	char folder[] = "/tmp/frame_jobs.XXXXXX";
	int status;

	if (!mkdtemp(folder) || chdir(folder) < 0)
		return 1;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	unlink("in.nrrd");
	unlink("out.nrrd");
	unlink("said");
	return chdir("/") < 0 || rmdir(folder) < 0 ? 1 : status;
}
