/* fringepipe --calibrate: copies of the device, then stages by the examples that they name. */
#include "run/cost_model.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/process.h"
#include "gpu/gpu.h"
#include "io/safe_file.h"
#include "run/setup.h"

#define BLOCK_BYTES ((size_t)32 << 20)
#define MOVE_BYTES ((size_t)256 << 20)	/* several times the largest cache of a device */
#define ROUNDS 9			/* of each copy, whose median counts */
#define SMALL_COPIES 64
#define FRAMES 8		/* of 1024 x 768, per stage */
#define SLOW_S 0.2		/* a frame of the processor's that takes longer is not repeated */
#define WORDS_MOST 16

/* ---- the device's copies ---- */

struct copier {
	struct gpu *gpu;
	struct gpu_job *job;
	struct gpu_block *host, *device;
};

/* Seconds from the submission of n copies till the host knows that they are done; -1 after fail().
 */
static double
time_copies(struct copier *copier, size_t n, size_t bytes, bool up)
{
	double start;

	gpu_job_begin(copier->job);
	for (size_t i = 0; i < n; i++)
		gpu_job_copy(copier->job, up ? copier->host : copier->device, i * bytes,
		    up ? copier->device : copier->host, i * bytes, bytes);
	start = progress_seconds();
	if (gpu_job_submit(copier->job) < 0 || gpu_job_wait(copier->job) < 0)
		return -1;
	return progress_seconds() - start;
}

/* Best, median and worst of some rounds, after one that is not counted. */
static int
time_rounds(struct copier *copier, size_t n, size_t bytes, bool up, struct cost_span *span)
{
	double seconds[ROUNDS];

	if (time_copies(copier, n, bytes, up) < 0)
		return -1;
	for (size_t i = 0; i < ROUNDS; i++) {
		seconds[i] = time_copies(copier, n, bytes, up);
		if (seconds[i] < 0)
			return -1;
	}
	qsort(seconds, ROUNDS, sizeof(*seconds), numbers_compare_doubles);
	*span = (struct cost_span){ seconds[0], seconds[ROUNDS / 2], seconds[ROUNDS - 1] };
	return 0;
}

/* L from a job of one copy of next to nothing, o from more of them, G from a large one. */
static int
measure_copies(struct copier *copier, struct costs *costs)
{
	struct cost_span one, many;

	if (time_rounds(copier, 1, 64, true, &one) < 0 ||
	    time_rounds(copier, SMALL_COPIES, 64, true, &many) < 0 ||
	    time_rounds(copier, 1, BLOCK_BYTES, true, &costs->up) < 0 ||
	    time_rounds(copier, 1, BLOCK_BYTES, false, &costs->down) < 0)
		return -1;
	costs->copy_s = fmax(many.likely - one.likely, 0) / (SMALL_COPIES - 1);
	costs->latency_s = fmax(one.likely - costs->copy_s, 0);
	for (int down = 0; down < 2; down++) {
		struct cost_span *span = down ? &costs->down : &costs->up;

		span->best = fmax(span->best - one.likely, 0) / (double)BLOCK_BYTES;
		span->likely = fmax(span->likely - one.likely, 0) / (double)BLOCK_BYTES;
		span->worst = fmax(span->worst - one.likely, 0) / (double)BLOCK_BYTES;
	}
	return 0;
}

/* Seconds that the device takes to copy one half of a block to the other, by a shader; NaN where it
 * has no clock. -1 after fail(). */
static int
time_moves(struct copier *copier, const struct gpu_block *block, double *middle)
{
	static const uint32_t local[] = { 128, 1 };	/* what every device takes */
	const uint32_t w = 4096, h = (uint32_t)(MOVE_BYTES / 16 / w), groups[] = { w / 128, h };
	struct gpu_push push = { .block = block->address, .w = w, .h = h, .y1 = h };
	double seconds[ROUNDS];

	gpu_job_begin(copier->job);
	for (size_t i = 0; i < ROUNDS; i++)
		if (gpu_job_dispatch(copier->job, &shader_memory_copy, local, groups, &push,
		    false) < 0)
			return -1;
	if (gpu_job_submit(copier->job) < 0 || gpu_job_wait(copier->job) < 0)
		return -1;
	for (size_t i = 0; i < ROUNDS; i++)
		seconds[i] = gpu_job_dispatch_seconds(copier->job, i);
	qsort(seconds, ROUNDS, sizeof(*seconds), numbers_compare_doubles);
	*middle = seconds[ROUNDS / 2];
	return 0;
}

/* Bytes read and written in a second there, of halves that a device's caches do not hold; NaN where
 * it has no such block. By a shader, since that is the bound of shaders: vkCmdCopyBuffer may reach
 * a fifth of it. */
static int
measure_memory(struct copier *copier, double *rate)
{
	struct gpu_block *block = gpu_block_try(copier->gpu, GPU_DEVICE, 2 * MOVE_BYTES);
	double seconds = NAN;
	int status = block ? time_moves(copier, block, &seconds) : 0;

	*rate = 2 * (double)MOVE_BYTES / seconds;
	gpu_block_free(copier->gpu, block);
	return status;
}

/* The device is opened as a chain does it. */
static int
measure_device(const char *which, struct costs *costs, double *memory)
{
	struct copier copier = { 0 };
	double start = progress_seconds();
	struct gpu_facts facts;
	int status = -1;

	if (gpu_open(which, &copier.gpu) < 0)
		return -1;
	costs->open_s = progress_seconds() - start;
	facts = *gpu_facts(copier.gpu);
	snprintf(costs->device, sizeof(costs->device), "%s", facts.name);
	copier.job = gpu_job_new(copier.gpu);
	copier.host = gpu_block_new(copier.gpu, GPU_HOST, BLOCK_BYTES);
	copier.device = gpu_block_new(copier.gpu, GPU_DEVICE, BLOCK_BYTES);
	if (copier.job && copier.host && copier.device) {
		memset(copier.host->host, 1, BLOCK_BYTES);
		status = measure_copies(&copier, costs);
	}
	if (status == 0)
		status = measure_memory(&copier, memory);
	gpu_job_free(copier.job);
	gpu_block_free(copier.gpu, copier.host);
	gpu_block_free(copier.gpu, copier.device);
	if (facts.unified) {		/* then nothing is copied */
		costs->copy_s = 0;
		costs->up = costs->down = (struct cost_span){ 0, 0, 0 };
	}
	return gpu_close(copier.gpu) < 0 ? -1 : status;
}

/* ---- stages ---- */

struct bench {
	const char *folder, *device;
	int threads;
	struct costs *costs;
};

static char *
path_of(const struct bench *bench, const char *name, const char *kind)
{
	return must_format("%s/%s.%s.nrrd", bench->folder, name, kind);
}

/* Runs the words of an example, from the output of another one if it names that, to a file or,
 * `to` NULL, to nowhere. */
static int
run_example(const struct bench *bench, const char *device, const struct stage_example *example,
    const char *to, size_t repeat, struct timing *timing)
{
	struct measure how = { device, to ? to : "null:", bench->threads, repeat };
	char *copy = must_strdup(example->words), *rest = copy, *word[WORDS_MOST], *file = NULL;
	int n = 0, status;

	while (n < WORDS_MOST - 1 && (word[n] = strsep(&rest, " ")))
		n++;
	if (example->from)
		word[n++] = file = path_of(bench, example->from, "processor");
	status = setup_measure(n, word, &how, timing);
	free(file);
	free(copy);
	return status;
}

/* One side of a stage: its output in a file, then its time. Seconds per sample, NaN if there
 * is no clock. */
static int
measure_side(const struct bench *bench, const struct stage_example *example, const char *device,
    const char *to, double *seconds)
{
	struct timing timing;

	*seconds = NAN;
	if (run_example(bench, device, example, to, 0, &timing) < 0 ||
	    ((device || !(timing.seconds > SLOW_S)) &&	/* a device compiles its shaders first */
	    run_example(bench, device, example, NULL, FRAMES, &timing) < 0))
		return -1;
	if (timing.frames)
		*seconds = timing.seconds / timing.samples;
	return 0;
}

/* 1 if two files hold the same bytes, 0 if not, -1 after fail(). */
static int
same_bytes(const char *a, const char *b)
{
	size_t n, m;
	char *one = cache_read(a, &n), *two = one ? cache_read(b, &m) : NULL;
	const int same = two ? n == m && !memcmp(one, two, n) :
	    fail_errno(one ? b : a, "cannot be opened");

	free(one);
	free(two);
	return same;
}

/*
 * Seconds per sample on the device. Only where it gives the same bytes is that kept: -d auto must
 * never change a digit. NaN for what the processor does.
 */
static double
time_on_device(const struct bench *bench, const struct stage_example *example, const char *here,
    const char *there, const char **remark)
{
	double seconds;
	int same;

	if (!bench->device)
		return NAN;
	if (measure_side(bench, example, bench->device, there, &seconds) < 0 ||
	    (same = same_bytes(here, there)) < 0) {
		warn(example->words, "not measured on the GPU: %s", fail_message());
		fail_clear();
		return NAN;
	}
	if (isnan(seconds))
		*remark = "        -";
	else if (!same)
		*remark = "        - (other digits than the processor's)";
	return same ? seconds : NAN;
}

/* Sources only make what the others are measured on. */
static int
measure_stage(const struct bench *bench, const struct stage_example *example)
{
	char *here = path_of(bench, example->to, "processor");
	char *there = path_of(bench, example->to, "device");
	const char *remark = "";
	struct timing unused;
	char name[32];
	double processor = NAN, device;
	int status;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(example->words, " "), example->words);
	if (example->cost)
		snprintf(name, sizeof(name), "%s", example->cost);
	status = example->from ? measure_side(bench, example, NULL, here, &processor) :
	    run_example(bench, NULL, example, here, 0, &unused);
	if (status == 0 && !isnan(processor)) {
		device = time_on_device(bench, example, here, there, &remark);
		printf("%-14s %8.3f", name, 1e9 * processor);
		if (!isnan(device))
			printf(" %8.3f", 1e9 * device);
		printf("%s\n", remark);
		costs_add(bench->costs, name, processor, device);
	}
	free(here);
	free(there);
	return status;
}

/* Example i of all; each stage has two. */
static const struct stage_example *
example_at(size_t i)
{
	const struct stage *stage = stage_table[i / 2].stage;

	return i % 2 ? &stage->second_example : &stage->example;
}

/* Is what the example starts from there already? */
static bool
is_ready(const struct stage_example *example, const bool *done, size_t n)
{
	for (size_t i = 0; example->from && i < n; i++)
		if (done[i] && !strcmp(example_at(i)->to, example->from))
			return true;
	return !example->from;
}

/* Measures the stages that have an example, each after the one whose output it takes. */
static int
measure_stages(const struct bench *bench)
{
	size_t n = 0;
	bool *done, more = true;
	int status = 0;

	while (stage_table[n / 2].name)
		n += 2;
	done = must_alloc(n, sizeof(*done));
	printf("\nnanoseconds per sample (pixel of a channel in or out): processor with %d "
	    "threads, device\n", bench->threads);
	while (more && status == 0) {
		more = false;
		for (size_t i = 0; i < n && status == 0; i++) {
			const struct stage_example *example = example_at(i);

			if (done[i] || !example->words || !is_ready(example, done, n))
				continue;
			done[i] = more = true;
			status = measure_stage(bench, example);
		}
	}
	free(done);
	return status;
}

static void
remove_folder(const char *folder)
{
	DIR *list = opendir(folder);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(list), entry->d_name, 0);
	if (list)
		closedir(list);
	rmdir(folder);
}

/* ---- all of it ---- */

/* The first device that is no processor itself. */
static void
note_device(void *arg, size_t number, const struct gpu_facts *facts)
{
	long *first = arg;

	if (*first < 0 && strcmp(facts->kind, "cpu"))
		*first = (long)number;
}

static void
print_copies(const struct costs *costs, double memory)
{
	printf("%s\nopened in %.1f ms\na job's latency %.1f us\n", costs->device,
	    1e3 * costs->open_s, 1e6 * costs->latency_s);
	if (costs->up.likely == 0)
		printf("memory is shared with the processor: nothing is copied\n");
	else
		printf("a copy's overhead %.2f us\n", 1e6 * costs->copy_s);
	for (int down = 0; down < 2 && costs->up.likely != 0; down++) {
		const struct cost_span *span = down ? &costs->down : &costs->up;

		printf("%s %.1f GB/s (%.1f to %.1f)\n", down ? "back" : "to the device",
		    1e-9 / span->likely, 1e-9 / span->worst, 1e-9 / span->best);
	}
	printf("within its own memory %.1f GB/s\n", 1e-9 * memory);
}

static int
measure(const struct bench *bench)
{
	struct costs *costs = bench->costs;
	double memory;

	if (!bench->device) {
		snprintf(costs->device, sizeof(costs->device), "none");
		printf("no GPU: the processor does everything\n");
	} else if (measure_device(bench->device[3] ? bench->device + 4 : "", costs, &memory) < 0) {
		return -1;
	} else {
		print_copies(costs, memory);
	}
	return measure_stages(bench) < 0 ? -1 : costs_save(costs);
}

int
calibrate(const char *which, int threads)
{
	struct costs costs = { .threads = threads };
	struct bench bench = { .threads = threads, .costs = &costs };
	char number[32], *folder;
	long first = -1;
	int status;

	if (which && !strncmp(which, "gpu", 3)) {
		bench.device = which;
	} else if (!(which && !strcmp(which, "cpu")) && gpu_list(note_device, &first) < 0) {
		return -1;
	} else if (first >= 0) {
		snprintf(number, sizeof(number), "gpu:%ld", first);
		bench.device = number;
	}
	folder = must_format("%s/fringepipe.XXXXXX", scratch_folder());
	if (!mkdtemp(folder)) {
		fail_errno(folder, "could not be made");
		free(folder);
		return -1;
	}
	bench.folder = folder;
	status = measure(&bench);
	remove_folder(folder);
	free(folder);
	costs_free(&costs);
	return status;
}
