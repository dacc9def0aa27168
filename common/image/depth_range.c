/*
 * What values of depth a picture has to show: their range without outliers, the value of holes, and
 * the unit.
 */
#include "image/depth_range.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/px.h"
#include "base/text.h"
#include "image/statistics.h"
#include "io/source.h"

bool
quantity_is_length(const char *channel)
{
	static const char *const lengths[] = { "depth", "x", "y", "z", "deviation", NULL };

	return word_find(lengths, channel) >= 0;
}

const char *
quantity_unit(const struct frame_head *head, const char *channel)
{
	if (strstr(channel, "phase"))
		return "rad";
	return quantity_is_length(channel) ? meta_get(&head->meta, "length_unit") : NULL;
}

#define HOLE_PIXELS 16384		/* of the coarse grid, about */
#define DEPTHS_LEAST 256	/* fewer say nothing */
#define HOLES_LEAST 16
#define SHARE_LEAST 0.001	/* of the depths; fewer are stray ones */
/* Nothing lies between the number and this share of the way to the other end of the depths: a
 * surface that meets it, as a relief its ground, has depths there. */
#define EMPTY 0.1

static const float below[] = { 0, -1, -999, -9999, -32768 };
#define ABOVE 65535.0f

/* The depths of a coarse grid: the two ends, what comes next to each, and how many have an end. */
struct ends {
	size_t n, n_low, n_high;
	float low, high, next_low, next_high;
};

static void
add(struct ends *ends, float depth)
{
	if (!(px_abs(depth) <= FLT_MAX))
		return;
	ends->n++;
	if (depth < ends->low) {
		ends->next_low = ends->low;
		ends->low = depth;
		ends->n_low = 0;
	} else if (depth > ends->low && depth < ends->next_low) {
		ends->next_low = depth;
	}
	if (depth > ends->high) {
		ends->next_high = ends->high;
		ends->high = depth;
		ends->n_high = 0;
	} else if (depth < ends->high && depth > ends->next_high) {
		ends->next_high = depth;
	}
	ends->n_low += depth == ends->low;
	ends->n_high += depth == ends->high;
}

static bool
is_filler(float low, bool towards)
{
	bool found = false;

	for (size_t i = towards; i < sizeof(below) / sizeof(*below); i++)
		found |= low == below[i];
	return found;
}

/* Do enough depths have the end, and does nothing lie near it? */
static bool
stands_apart(const struct ends *ends, size_t n, double gap, double others)
{
	return n >= HOLES_LEAST && (double)n >= SHARE_LEAST * (double)ends->n && n < ends->n &&
	    gap >= EMPTY * (gap + others);
}

void
hole_value_judge(struct hole_value *hole, const struct frame *frame, size_t channel, double low,
    double high, bool towards)
{
	struct coarse_grid grid = coarse_grid(frame->head.w, frame->head.h, HOLE_PIXELS);
	struct ends ends = { .low = FLT_MAX, .high = -FLT_MAX, .next_low = FLT_MAX,
		.next_high = -FLT_MAX };
	bool is_low, is_high;
	double top, bottom;
	char others[64];
	float value;
	size_t n;

	if (hole->judged)
		return;
	for (size_t y = 0; y < frame->head.h; y += grid.step)
		for (size_t x = coarse_grid_shift(&grid, y); x < frame->head.w; x += grid.step)
			add(&ends, frame_sample(frame, channel, y, x));
	if (ends.n < DEPTHS_LEAST)
		return;
	hole->judged = true;
	is_high = ends.high == ABOVE && (double)ends.high <= high &&
	    stands_apart(&ends, ends.n_high, (double)ends.high - (double)ends.next_high,
	    (double)ends.next_high - (double)ends.low);
	top = is_high ? (double)ends.next_high : (double)ends.high;
	is_low = is_filler(ends.low, towards) && (double)ends.low >= low &&
	    stands_apart(&ends, ends.n_low, (double)ends.next_low - (double)ends.low,
	    top - (double)ends.next_low);
	if (!is_low && !is_high)
		return;
	n = is_low ? ends.n_low : ends.n_high;
	value = is_low ? ends.low : ABOVE;
	bottom = is_low ? (double)ends.next_low : (double)ends.low;
	if (bottom < top)
		snprintf(others, sizeof(others), "go from %.4g to %.4g", bottom, top);
	else
		snprintf(others, sizeof(others), "are %.4g", top);
	warn(NULL, "%.3g %% of the depths are exactly %g, and the others %s: are these holes? "
	    "framecat --invalid %g makes them so%s", 100 * (double)n / (double)ends.n,
	    (double)value, others, (double)value,
	    value == 0 ? "; if 0 is a plane behind, framecat --set z_axis=towards says so" : "");
}

#define USE_PIXELS 4096		/* of the coarse grid, about */
#define LEAST 64		/* depths: fewer say nothing */
#define STRAY 1000		/* one in so many depths may lie elsewhere */
#define SMALL (1.0 / 32)	/* of the range */

void
depth_use_add(struct depth_use *use, const struct frame *frame, size_t channel, double low,
    double high)
{
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, USE_PIXELS);

	use->low = low;
	use->high = high;
	for (size_t y = 0; y < frame->head.h; y += step) {
		const float *row = frame_floats(frame, channel, y);

		for (size_t x = 0; x < frame->head.w; x += step) {
			double at = ((double)row[x] - low) / (high - low) * DEPTH_USE_PARTS;

			if (!(at >= 0 && at <= DEPTH_USE_PARTS))
				continue;
			use->above = use->above || at > 0;
			use->depths++;
			use->count[at < DEPTH_USE_PARTS ? (size_t)at : DEPTH_USE_PARTS - 1]++;
		}
	}
}

void
depth_use_count(struct depth_use *use, const struct run *run, const struct frame *frame,
    size_t channel, double low, double high)
{
	size_t number = run_inputs(run) + 1;

	if (use->last == number)
		return;		/* the runner may survey a frame twice */
	use->last = number;
	depth_use_add(use, frame, channel, low, high);
}

/* The fewest parts in a row that hold so many of the depths. */
static size_t
narrowest(const struct depth_use *use, size_t wanted)
{
	size_t least = DEPTH_USE_PARTS, from = 0, n = 0;

	for (size_t to = 0; to < DEPTH_USE_PARTS; to++) {
		n += use->count[to];
		while (n >= wanted) {
			least = to + 1 - from < least ? to + 1 - from : least;
			n -= use->count[from++];
		}
	}
	return least;
}

/* The share of the range that nearly all depths use; 1 where they say nothing. */
static double
share_used(const struct depth_use *use)
{
	/* what is all at the range's least depth has it exactly */
	if (use->depths < LEAST || !use->above)
		return 1;
	return (double)narrowest(use, use->depths - use->depths / STRAY) / DEPTH_USE_PARTS;
}

bool
depth_use_warn_stray(const struct frame *frame, size_t channel, double low, double high,
    double step)
{
	struct depth_use use = { 0 };
	double share;

	depth_use_add(&use, frame, channel, low, high);
	share = share_used(&use);
	if (share <= SMALL)
		warn(NULL, "the depths go from %.4g to %.4g, and 99.9 %% of them use %.2g %% of "
		    "that, in steps of %.3g: stray depths? give --depth-range", low, high,
		    100 * share, step);
	return share <= SMALL;
}

void
depth_use_conclude(const struct depth_use *use, double step)
{
	double share = share_used(use);

	if (share <= SMALL)
		warn("--depth-range", "99.9 %% of the depths use %.2g %% of the range %.6g to "
		    "%.6g, in steps of %.3g: is the range in the unit of the depths, and without "
		    "stray ones?", 100 * share, use->low, use->high, step);
}

#define STANDARD_INPUT "/proc/self/fd/0"	/* opened anew, from its start */

#define RANGE_PIXELS 4096		/* of the coarse grid, about */
#define RANGE_BLOCKS 64		/* of rows, each with a range of its own */
#define OUTSIDE 0.001		/* of the depths: fewer are stray ones */
#define NEARLY_ALL 0.9		/* of the depths: fewer may be cut off on purpose */

const char *const depth_range_words[] = { "file", NULL };

struct ranging {
	const struct frame *frame;
	size_t channel;
	float low[RANGE_BLOCKS], high[RANGE_BLOCKS];
};

static void
range_block(void *arg, size_t i)
{
	struct ranging *ranging = arg;
	const struct frame *frame = ranging->frame;
	size_t h = frame->head.h, end = h * (i + 1) / RANGE_BLOCKS;
	float low = FLT_MAX, high = -FLT_MAX;

	for (size_t y = h * i / RANGE_BLOCKS; y < end; y++) {
		const float *restrict row = frame_floats(frame, ranging->channel, y);

		_Pragma("omp simd reduction(min:low) reduction(max:high)")
		for (size_t x = 0; x < frame->head.w; x++) {
			bool finite = px_abs(row[x]) <= FLT_MAX;
			float a = px_select(finite, row[x], FLT_MAX);
			float b = px_select(finite, row[x], -FLT_MAX);

			low = a < low ? a : low;
			high = b > high ? b : high;
		}
	}
	ranging->low[i] = low;
	ranging->high[i] = high;
}

void
depth_range_find(struct run *run, const struct frame *frame, size_t channel, float *low,
    float *high)
{
	struct ranging ranging = { .frame = frame, .channel = channel };

	run_for(run, RANGE_BLOCKS, range_block, &ranging);
	*low = FLT_MAX;
	*high = -FLT_MAX;
	for (size_t i = 0; i < RANGE_BLOCKS; i++) {
		*low = px_min(*low, ranging.low[i]);
		*high = px_max(*high, ranging.high[i]);
	}
}

/* The share of the finite samples of a coarse grid that lie outside low to high; 0 where there are
 * none. *least and *most: of these samples. */
static double
share_outside(const struct frame *frame, size_t channel, double low, double high,
    float *least, float *most)
{
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, RANGE_PIXELS), n = 0,
	       outside = 0;

	*least = FLT_MAX;
	*most = -FLT_MAX;
	for (size_t y = 0; y < frame->head.h; y += step) {
		const float *row = frame_floats(frame, channel, y);

		for (size_t x = 0; x < frame->head.w; x += step) {
			if (!(px_abs(row[x]) <= FLT_MAX))
				continue;
			*least = px_min(*least, row[x]);
			*most = px_max(*most, row[x]);
			outside += (double)row[x] < low || (double)row[x] > high;
			n++;
		}
	}
	return n ? (double)outside / (double)n : 0;
}

bool
depth_range_warn_outside(const struct frame *frame, size_t channel, double low, double high)
{
	float least, most;
	double outside = share_outside(frame, channel, low, high, &least, &most);

	if (outside < OUTSIDE)
		return false;
	warn("--depth-range", "%.3g %% of the depths, which go from %.4g to %.4g, lie outside "
	    "%g to %g and become background%s", 100 * outside, (double)least, (double)most, low,
	    high, outside < NEARLY_ALL ? "" : ": is it in the unit of the depths?");
	return true;
}

/* ---- of all frames ---- */

bool
depth_range_is_file(const struct numbers *option)
{
	return option->n == 1 && isnan(option->v[0]);
}

static int
check_file(const char *path)
{
	struct stat status;
	bool standard = !strcmp(path, "-");

	if (stat(standard ? STANDARD_INPUT : path, &status) < 0)
		return 0;	/* the reader says so */
	if (S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) &&
	    (!standard || lseek(STDIN_FILENO, 0, SEEK_CUR) == 0)))
		return 0;
	return fail_usage("--depth-range", "file: %s cannot be read twice: give a file, or the two "
	    "depths", standard ? "standard input" : path);
}

int
depth_range_check(const struct run *run)
{
	if (run->position > 0)
		return fail_usage("--depth-range", "file: frames of another stage cannot be read "
		    "twice: give the two depths");
	if (run->operands == 0)
		return check_file("-");
	for (size_t i = 0; i < run->operands; i++)
		if (check_file(run->operand[i]) < 0)
			return -1;
	return 0;
}

size_t
depth_range_channel(const struct frame_head *head)
{
	size_t xyz[3];

	return head_xyz(head, xyz) ? xyz[2] : head_channel(head, "depth");
}

/* Owns the frame. */
static int
add_frame(struct run *run, struct frame *frame, float range[2])
{
	struct frame *floats = NULL;
	size_t channel = depth_range_channel(&frame->head);
	float low, high;
	int status;

	/* without depths it is refused when its turn comes */
	status = channel == NO_CHANNEL ? 0 : frame_to_float(frame, &floats);
	frame_free(frame);
	if (!floats)
		return status;
	depth_range_find(run, floats, channel, &low, &high);
	range[0] = px_min(range[0], low);
	range[1] = px_max(range[1], high);
	frame_free(floats);
	return 0;
}

static int
add_source(struct run *run, const char *path, float range[2])
{
	struct source *source = source_open(strcmp(path, "-") ? path : STANDARD_INPUT);
	struct frame *frame;
	int status = source ? 1 : -1;

	while (status > 0) {
		status = source_next(source, &frame);
		if (status > 0 && add_frame(run, frame, range) < 0)
			status = -1;
		if (status < 0 && run_keeps_going(run) && source_skip(source))
			status = 1;
	}
	if (source)
		source_close(source);
	return run_keeps_going(run) ? 0 : status;
}

/* For plan, once: the range of all frames that the stage will get. -1 after fail(). */
static int
depth_range_of_input(struct run *run, double range[2])
{
	float found[2] = { FLT_MAX, -FLT_MAX };

	if (run->operands == 0 && add_source(run, "-", found) < 0)
		return -1;
	for (size_t i = 0; i < run->operands; i++)
		if (add_source(run, run->operand[i], found) < 0)
			return -1;
	depth_range_widen(found[0], found[1], range);
	return 0;
}

int
depth_range_take(struct run *run, struct depth_range_of_file *file, struct numbers *option)
{
	if (!depth_range_is_file(option))
		return 0;
	if (!file->known && depth_range_of_input(run, file->range) < 0)
		return -1;
	file->known = true;
	*option = (struct numbers){ 2, file->range };
	return 0;
}

void
depth_range_widen(float low, float high, double range[2])
{
	range[0] = low > high ? 0 : (double)low;
	range[1] = low >= high ? range[0] + 1 : (double)high;
}
