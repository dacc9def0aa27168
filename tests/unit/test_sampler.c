/*
 * Checks (run/check.h): which rows are sampled, and in which order checks judge and lines are
 * printed. Every chain runs in a process of its own, as the tools do.
 */
#define _GNU_SOURCE
#include "frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks/checks.h"
#include "io/nrrd.h"
#include "run/chain.h"
#include "run/check.h"

#define FRAMES 5

/* In a check: its process ends, where cmocka's assertions would go on to the next test. */
static void
must(bool holds)
{
	if (!holds)
		abort();
}

/* Sample (x, y) of frame n is n + y / 1000; `same` adds 0.5. All sampled rows are whole rows of
 * that frame, in order, in groups of two neighbours. */
static size_t
number_of(const struct check_sample *sample)
{
	const struct check_rows *in = &sample->in, *out = &sample->out;

	must(in->frame.head.h == out->frame.head.h);
	must(in->group == 2 && in->frame.head.h % 2 == 0);
	for (size_t i = 0; i < in->frame.head.h; i++) {
		must(i == 0 || in->y[i] > in->y[i - 1]);
		must(i % 2 == 0 || in->y[i] == in->y[i - 1] + 1);
		for (size_t x = 0; x < in->frame.head.w; x++) {
			float v = frame_floats(&in->frame, 0, i)[x];

			must(v == (float)sample->number + (float)in->y[i] / 1000);
			must(frame_floats(&out->frame, 0, i)[x] == v + 0.5f);
		}
	}
	return sample->number;
}

static bool
judge_late(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	must(facts->min_amplitude == 7 && isnan(facts->max_value) && !facts->captures);
	return number_of(sample) >= 3 && check_fire(line, NULL, "late");
}

static bool
judge_third(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	(void)facts;
	return sample->number == 3 && check_fire(line, "object", "third");
}

static bool
judge_always(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	(void)facts;
	line->undecided = sample->number == 0;
	return !line->undecided && check_fire(line, NULL, "always");
}

static bool
never_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	(void)facts;
	return heads->in->w == 0;
}

static const char *const explained[] = { "third", NULL };

/* In frame 3 five fire: one is explained, and of the others three are printed. */
static const struct check
    third = { .name = "third", .rank = 1, .looks = CHECK_INPUT, .judge = judge_third },
    second = { .name = "second", .rank = 2, .looks = CHECK_INPUT, .judge = judge_third },
    more = { .name = "more", .rank = 3, .looks = CHECK_INPUT, .judge = judge_third },
    most = { .name = "most", .rank = 3, .looks = CHECK_INPUT, .judge = judge_third },
    late = { .name = "late", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT, .group = 2,
	.explains = explained, .judge = judge_late },
    first = { .name = "first", .rank = 3, .looks = CHECK_FIRST, .judge = judge_always },
    never = { .name = "never", .rank = 1, .applies = never_applies, .judge = judge_always };
static const struct check *const list[] = { &third, &second, &more, &most, &late, &first, &never,
	NULL };

static void
same_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	(void)run;
	(void)scratch;
	for (size_t y = y0; y < y1; y++)
		for (size_t x = 0; x < in->head.w; x++)
			frame_floats(out, 0, y)[x] = frame_floats(in, 0, y)[x] + 0.5f;
}

static int
same_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	(void)in;
	(void)out;
	run_check_facts(run)->min_amplitude = 7;
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
	.name = "same", .summary = "-", .traits = STAGE_CONCURRENT, .checks = list,
	.init = same_init, .plan = same_plan
};

#define ROW(name) { #name, &name }

const struct stage_row stage_table[] = { ROW(same), { 0 } };

/* What a chain of these words says on standard error. */
static const char *
run_chain(char *const *words)
{
	static char said[2000];
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
	file = fopen("said", "r");
	assert_non_null(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	fclose(file);
	return said;
}

static void
save_numbers(size_t w, size_t h)
{
	FILE *file = fopen("in.nrrd", "wb");
	struct frame_head head;

	assert_non_null(file);
	assert_int_equal(head_init(&head, w, h, 1, SAMPLE_FLOAT), 0);
	for (size_t i = 0; i < FRAMES; i++) {
		struct frame *frame;

		assert_int_equal(frame_new(&head, &frame), 0);
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++)
				frame_floats(frame, 0, y)[x] = (float)i + (float)y / 1000;
		assert_int_equal(stream_write(file, "in.nrrd", frame), 0);
		frame_free(frame);
	}
	head_free(&head);
	assert_int_equal(fclose(file), 0);
}

/* `first` waits for a frame that it can judge; `late` explains `third`; the fourth line of frame 3
 * waits, and fires no more. */
static void
lines_in_order(void **state)
{
	static char *threads[] = { "1", "2", "5" };
	static const size_t heights[] = { 2, 3, 63, 64, 65, 300 };

	(void)state;
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 3; k++) {
			char *words[] = { "fringepipe", "-f", "-j", threads[k], "-o", "out.nrrd",
				"same", "in.nrrd", NULL };

			save_numbers(7, heights[i]);
			assert_string_equal(run_chain(words), "fringepipe: frame 1: always\n"
			    "fringepipe: frame 3: late\n"
			    "fringepipe: frame 3: object: third\n"
			    "fringepipe: frame 3: object: third\n");
		}
}

/* -v prints all; --no-check leaves some out. */
static void
lines_chosen(void **state)
{
	char *all[] = { "fringepipe", "-f", "-v", "-o", "out.nrrd", "same", "in.nrrd", NULL };
	char *some[] = { "fringepipe", "-f", "--no-check", "late", "--no-check", "first",
		"--no-check", "more", "-o", "out.nrrd", "same", "in.nrrd", NULL };
	const char *at;
	size_t n = 0;

	(void)state;
	save_numbers(7, 90);
	for (at = run_chain(all); (at = strstr(at, "object: third")); at++)
		n++;
	assert_int_equal(n, 4);
	assert_string_equal(run_chain(some), "fringepipe: frame 3: object: third\n"
	    "fringepipe: frame 3: object: third\nfringepipe: frame 3: object: third\n");
}

static const struct check *const all_checks[] = { &check_clipped, &check_max_value,
	&check_min_amplitude, &check_saturation, &check_no_fringes, &check_unlit, &check_gray,
	&check_steps, &check_assumed_shifts, &check_direction, &check_beat, &check_field,
	&check_residuals, &check_jumps, &check_gray_of, &check_offset, &check_calibration,
	&check_coordinates, &check_turned, &check_epipolar, &check_rig_fault,
	&check_reference_plane, &check_same_phase, &check_textures, &check_behind_cameras,
	&check_outliers, &check_units,
	&check_phase_samples, &check_period_key, &check_line_images, &check_line_background,
	&check_line_threshold, &check_line_sigma, &check_line_pieces, &check_line_direction,
	&check_line_sign };

#define CHECKS (sizeof(all_checks) / sizeof(*all_checks))

/* Does `check` explain the one of this name, by itself or through others? Every name is that of a
 * check. */
static bool
explains(const struct check *check, const char *name, size_t depth)
{
	assert_true(depth < CHECKS);
	for (size_t k = 0; check->explains && check->explains[k]; k++) {
		bool known = false;

		if (!strcmp(check->explains[k], name))
			return true;
		for (size_t i = 0; i < CHECKS; i++) {
			if (strcmp(all_checks[i]->name, check->explains[k]))
				continue;
			known = true;
			if (explains(all_checks[i], name, depth + 1))
				return true;
		}
		assert_true(known);
	}
	return false;
}

/* Else all of the circle would be silent where all fire. */
static void
no_check_explains_itself(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHECKS; i++)
		assert_false(explains(all_checks[i], all_checks[i]->name, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_check_explains_itself),
		cmocka_unit_test(lines_in_order),
		cmocka_unit_test(lines_chosen),
	};
	char folder[] = "/tmp/sampler.XXXXXX";
	int status;

	if (!mkdtemp(folder) || chdir(folder) < 0)
		return 1;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	unlink("in.nrrd");
	unlink("out.nrrd");
	unlink("said");
	return chdir("/") < 0 || rmdir(folder) < 0 ? 1 : status;
}
