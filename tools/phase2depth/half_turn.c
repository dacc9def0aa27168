#include "half_turn.h"

#include <stdlib.h>

#include "base/px.h"
#include "depth_rows.h"
#include "half_turn_parts.h"
#include "unwrap/wrapped_range.h"

#define BAND 64			/* rows that one thread looks at */
#define SHARE_MOST 1e-4		/* of neighbours; a line of jumps across 4096 columns has 1.2e-4 */

/* ---- which channels ---- */

static bool
has(const struct frame_head *head, const char *name)
{
	return head && head_channel(head, name) != NO_CHANNEL;
}

static int
check_wrapped(const char *object, const struct frame_head *of)
{
	if (has(of, "phase"))
		return 0;
	if (has(of, "absphase"))
		return fail(object, "has an absolute phase, but --wrapped takes wrapped ones: "
		    "leave --wrapped out, or unwrap neither input nor --ref");
	if (has(of, "phase1"))
		return fail(object, "has phase1 and others: --wrapped takes a single phase "
		    "(unwrap2f unwraps several by each other)");
	if (has(of, "cos") || has(of, "cos1"))
		return fail(object, "has cos and sin: gauss makes a phase of them");
	return 0;
}

int
half_turn_channels(const struct run *run, const struct frame_head *head, bool wrapped,
    size_t *phase, size_t *ref)
{
	const struct frame_head *other = run_second_input_head(run, "ref", 0);
	const char *name = wrapped ? "phase" : "absphase";

	if (wrapped && (check_wrapped(NULL, head) < 0 ||
	    (other && check_wrapped("--ref", other) < 0)))
		return -1;
	if (run_channel(run, head, name, phase) < 0)
		return -1;
	*ref = NO_CHANNEL;
	if (!wrapped && other && !has(other, "absphase") && has(other, "phase"))
		return fail("--ref", "has a wrapped phase, the input an absolute one: unwrap both "
		    "alike");
	return other ? run_second_input(run, head, "ref", name, ref) : 0;
}

/* ---- jumps ---- */

struct range {
	float low, high;	/* low > high: of no pixel */
};

#define NO_RANGE { INFINITY, -INFINITY }

struct band_result {
	size_t jumps, pairs;
	struct range phase, ref;
	bool failed;
};

struct job {
	const struct frame *frame;
	const struct depthfit *above;
	struct band_result *band;
};

static struct range
join(struct range a, struct range b)
{
	return (struct range){ b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high };
}

static void
widen(struct range *range, const float *v, size_t n)
{
	float low = range->low, high = range->high;

	for (size_t x = 0; x < n; x++) {
		low = v[x] < low ? v[x] : low;
		high = v[x] > high ? v[x] : high;
	}
	*range = (struct range){ low, high };
}

/* Counts between each pixel of n and the one `step` before it; where inside: jumps too. */
static void
count(const float *d, size_t n, ptrdiff_t step, size_t first, size_t last,
    struct band_result *result)
{
	size_t jumps = 0, pairs = 0;

	for (size_t x = 0; x < n; x++)
		pairs += px_both(!px_isnan(d[x]), !px_isnan(d[(ptrdiff_t)x - step]));
	for (size_t x = first; x < last; x++)
		jumps += half_turn_is_jump(d + x, step);
	result->pairs += pairs;
	result->jumps += jumps;
}

static void
look_at_band(void *arg, size_t i)
{
	const struct job *job = arg;
	const struct frame *in = job->frame;
	struct band_result *result = &job->band[i];
	size_t w = in->head.w, h = in->head.h, y0 = i * BAND, y1 = y0 + BAND < h ? y0 + BAND : h;
	const size_t reach = HALF_TURN_SMOOTH;
	size_t top = y0 < reach ? 0 : y0 - reach, end = y1 + reach < h ? y1 + reach : h;
	float *d = reallocarray(NULL, (end - top) * w, sizeof(*d));

	*result = (struct band_result){ .phase = NO_RANGE,
		.ref = NO_RANGE, .failed = !d };
	for (size_t y = top; d && y < end; y++)
		depth_rows_above(job->above, in, d + (y - top) * w, y);
	for (size_t y = y0; d && y < y1; y++) {
		const float *row = d + (y - top) * w;
		bool inside = y >= reach && y + reach <= h;

		widen(&result->phase, frame_floats(in, job->above->phase, y), w);
		if (job->above->ref != NO_CHANNEL)
			widen(&result->ref, frame_floats(in, job->above->ref, y), w);
		count(row + 1, w - 1, 1, reach - 1, w > 2 * reach ? w - reach : 0, result);
		if (y > 0)
			count(row, w, (ptrdiff_t)w, 0, inside ? w : 0, result);
	}
	free(d);
}

static int
check_range(const char *object, struct range range, bool first)
{
	double low = (double)range.low, high = (double)range.high;

	if (low <= high && !wrapped_range_fits(low, high, 2 * M_PI))
		return fail(object, "phase goes from %g to %g, but a wrapped phase over one turn "
		    "at most, in radians", low, high);
	if (first && wrapped_range_is_turns(low, high))
		warn(object, "phase goes from %g to %g: are those radians?", low, high);
	return 0;
}

void
half_turn_free(struct half_turn_jumps *jumps)
{
	free(jumps->beyond);
	jumps->beyond = NULL;
}

static int
find_beyond(const struct frame *in, const struct depthfit *above, struct half_turn_jumps *jumps)
{
	size_t pixels = in->head.w * in->head.h;
	struct half_turn_found found;

	jumps->beyond = malloc(pixels);
	if (!jumps->beyond)
		return fail_memory();
	if (half_turn_parts(in, above, jumps->beyond, &found) < 0)
		return -1;
	if (found.contending > 0)
		return fail("--wrapped", "the difference to the reference exceeds half a turn, and "
		    "of parts of %.2g %% of the pixels nothing tells which lies within: have the "
		    "reference seen beside them, or unwrap both phases (unwrapq)",
		    100 * (double)found.contending / (double)pixels);
	if (found.marked == 0)	/* noise alone */
		half_turn_free(jumps);
	jumps->most_beyond = fmax(jumps->most_beyond, (double)found.marked / (double)pixels);
	return 0;
}

void
half_turn_row(const struct half_turn_jumps *jumps, float *depth, size_t w, size_t y)
{
	const unsigned char *beyond = jumps->beyond ? jumps->beyond + y * w : NULL;

	for (size_t x = 0; beyond && x < w; x++)
		depth[x] = beyond[x] ? PX_NAN : depth[x];
}

int
half_turn_survey(struct run *run, const struct frame *in, const struct depthfit *above,
    struct half_turn_jumps *jumps)
{
	size_t bands = (in->head.h + BAND - 1) / BAND;
	struct job job = { in, above, calloc(bands, sizeof(*job.band)) };
	struct band_result all = { .phase = NO_RANGE, .ref = NO_RANGE };
	double share;

	if (!job.band)
		return fail_memory();
	run_for(run, bands, look_at_band, &job);
	for (size_t i = 0; i < bands; i++) {
		const struct band_result *band = &job.band[i];

		all.jumps += band->jumps;
		all.pairs += band->pairs;
		all.failed |= band->failed;
		all.phase = join(all.phase, band->phase);
		all.ref = join(all.ref, band->ref);
	}
	free(job.band);
	if (all.failed)
		return fail_memory();
	if (check_range(NULL, all.phase, jumps->frames == 0) < 0 ||
	    check_range("--ref", all.ref, jumps->frames == 0) < 0)
		return -1;
	share = all.pairs ? (double)all.jumps / (double)all.pairs : 0;
	jumps->frames++;
	half_turn_free(jumps);
	if (share > SHARE_MOST && find_beyond(in, above, jumps) < 0)
		return -1;
	jumps->jumping += jumps->beyond != NULL;
	jumps->worst = fmax(jumps->worst, jumps->beyond ? share : 0);
	return 0;
}

void
half_turn_warn(const struct half_turn_jumps *jumps)
{
	char which[64] = "";

	if (jumps->jumping == 0)
		return;
	if (jumps->frames > 1)
		snprintf(which, sizeof(which), " in %zu of %zu frames", jumps->jumping,
		    jumps->frames);
	warn("--wrapped", "%s%.2g %% of neighbours are a whole turn apart%s: the difference to the "
	    "reference exceeds half a turn there; all parts but the one on the reference, "
	    "%s%.2g %% of the pixels, have no depth (unwrapq both phases)",
	    jumps->frames > 1 ? "up to " : "",
	    100 * jumps->worst, which, jumps->frames > 1 ? "up to " : "",
	    100 * jumps->most_beyond);
}
