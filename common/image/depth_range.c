#include "image/depth_range.h"

#include <float.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/px.h"
#include "image/coarse_grid.h"
#include "io/source.h"

#define STANDARD_INPUT "/proc/self/fd/0"	/* opened anew, from its start */

#define PIXELS 4096		/* of the coarse grid, about */
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
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, PIXELS), n = 0, outside = 0;

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
	if (head_channel(head, "x") != NO_CHANNEL && head_channel(head, "y") != NO_CHANNEL &&
	    head_channel(head, "z") != NO_CHANNEL)
		return head_channel(head, "z");
	return head_channel(head, "depth");
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
