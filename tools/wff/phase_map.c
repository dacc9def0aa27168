#include "phase_map.h"

#include <math.h>
#include <stdlib.h>

#include "base/px.h"

#define LOST_MOST 10.0		/* percent */
/* Of a filtered vector; a clean phase has 1, noise of 1 rad leaves 0.6, one frequency of pure noise
 * that has passed 0.03 in the middle of its window. */
#define LENGTH_LEAST 0.003

struct row_counts {
	float low, high;	/* turns; low > high: no pixel */
	size_t valid, lost;
};

struct job {
	const struct phase_map *phase;
	struct windows_map map;
	double turn;			/* in samples */
	double least;			/* length of a vector that is a phase */
	struct row_counts *row;
};

static void
read_row(void *arg, size_t y)
{
	const struct job *job = arg;
	const struct phase_channels *from = &job->phase->from;
	const struct frame *in = job->phase->in;
	bool vector = from->sine != NO_CHANNEL;
	float *re = job->map.re + y * job->map.w, *im = job->map.im + y * job->map.w;
	const float *v = frame_floats(in, from->channel, y);
	const float *sine = vector ? frame_floats(in, from->sine, y) : v;
	float low = INFINITY, high = -INFINITY;

	for (size_t x = 0; x < job->map.w; x++) {
		double turns = vector ? 0 : (double)v[x] / job->turn;
		float rad = (float)((turns - floor(turns)) * 2 * M_PI);
		float c = vector ? v[x] : px_cos(rad), s = vector ? sine[x] : px_sin(rad);
		float length = hypotf(c, s);
		bool ok = isfinite(v[x]) && isfinite(sine[x]) && length > 0 && fabs(turns) < 1e6;

		re[x] = ok ? c / length : 0;
		im[x] = ok ? s / length : 0;
		low = ok && turns < (double)low ? (float)turns : low;
		high = ok && turns > (double)high ? (float)turns : high;
	}
	job->row[y] = (struct row_counts){ low, high, 0, 0 };
}

static void
write_row(void *arg, size_t y)
{
	const struct job *job = arg;
	const struct windows_map *map = &job->map;
	float *out = frame_floats(job->phase->out, job->phase->to, y);

	for (size_t x = 0; x < map->w; x++) {
		size_t i = y * map->w + x;
		bool valid = map->re[i] != 0 || map->im[i] != 0;
		bool passed = hypot((double)map->sum_re[i], (double)map->sum_im[i]) > job->least;

		out[x] = valid && passed ? px_atan2(map->sum_im[i], map->sum_re[i]) : NAN;
		job->row[y].valid += valid;
		job->row[y].lost += valid && !passed;
	}
}

/* Samples that are no wrapped phase. */
static int
check_range(const struct job *job)
{
	const struct phase_map *phase = job->phase;
	const char *name = phase->in->head.channel[phase->from.channel];
	double low = INFINITY, high = -INFINITY;

	for (size_t y = 0; y < job->map.h; y++) {
		low = fmin(low, (double)job->row[y].low * job->turn);
		high = fmax(high, (double)job->row[y].high * job->turn);
	}
	if (high - low > 1.02 * job->turn)
		return fail(NULL, "%s goes from %g to %g, but a wrapped phase over one turn at "
		    "most, which is %g (--turn)", name, low, high, job->turn);
	if (phase->from.sine != NO_CHANNEL)
		return 0;
	if (!isnan(phase->turn) && high - low < 0.1 * job->turn)
		warn(NULL, "%s goes from %g to %g, a small part of --turn %g: is that what a whole "
		    "turn is in its samples?", name, low, high, job->turn);
	if (isnan(phase->turn) && low >= 0 && high <= 1 && high - low > 0.95)
		warn(NULL, "%s goes from %g to %g rad: if those are turns, give --turn 1", name,
		    low, high);
	return 0;
}

static void
report(const struct run *run, const struct job *job)
{
	const char *name = job->phase->out->head.channel[job->phase->to];
	size_t valid = 0, lost = 0;
	double share;

	for (size_t y = 0; y < job->map.h; y++) {
		valid += job->row[y].valid;
		lost += job->row[y].lost;
	}
	share = valid ? 100 * (double)lost / (double)valid : 0;
	if (share > LOST_MOST)
		warn(NULL, "%s: %.1f %% of the valid pixels show no frequency above the noise and "
		    "become invalid: see --threshold and --band", name, share);
	else if (run->verbose)
		note(NULL, "%s: %zu of %zu valid pixels show no frequency above the noise and "
		    "become invalid", name, lost, valid);
}

int
phase_map_filter(struct run *run, const struct windows *windows, const struct phase_map *phase)
{
	size_t w = phase->in->head.w, h = phase->in->head.h, pixels = w * h;
	float *plane = calloc(pixels, 4 * sizeof(*plane));
	struct job job = { .phase = phase, .map = { .w = w, .h = h, .re = plane },
		.turn = isnan(phase->turn) ? 2 * M_PI : phase->turn,
		.least = LENGTH_LEAST * windows_sum(windows),
		.row = calloc(h, sizeof(*job.row)) };
	int status = -1;

	if (plane && job.row) {
		job.map.im = plane + pixels;
		job.map.sum_re = plane + 2 * pixels;
		job.map.sum_im = plane + 3 * pixels;
		run_for(run, h, read_row, &job);
		status = check_range(&job) < 0 ? -1 : windows_filter(run, windows, &job.map);
	} else {
		fail_memory();
	}
	if (status == 0) {
		run_for(run, h, write_row, &job);
		report(run, &job);
	}
	free(plane);
	free(job.row);
	return status;
}
