/* Depth over a plane: the reference, the factors c and their fit to measured steps. */
#define _GNU_SOURCE
#include "depthfit.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "depth_rows.h"
#include "half_turn.h"
#include "optics/sensor_crop.h"

#define SAME 0.01		/* of a number that an option and a key say */

/* ---- what is known ---- */

/* The plane at full-frame pixels becomes that at the frame's own. */
static int
place_plane(const struct run *run, const struct frame_head *head, const struct numbers *plane,
    const struct numbers *origin, struct depthfit *fit)
{
	static const double zero[2] = { 0, 0 };
	double origin_px[2], bin[2];

	if (sensor_crop_origin(run, origin, head, zero, origin_px, bin) < 0)
		return -1;
	fit->plane[0] = plane->v[0] + plane->v[1] * (origin_px[0] + (bin[0] - 1) / 2) +
	    plane->v[2] * (origin_px[1] + (bin[1] - 1) / 2);
	fit->plane[1] = plane->v[1] * bin[0];
	fit->plane[2] = plane->v[2] * bin[1];
	return 0;
}

/* Factors per radian of other fringes, or of other pixels, are none for this phase. */
static int
check_map(const struct run *run, const struct frame_head *head)
{
	static const char *const keys[] = { "period_px", "axis", "origin_px", "bin" };
	const struct frame_head *map = run_second_input_head(run, "c-map", 0);

	for (size_t i = 0; map && i < sizeof(keys) / sizeof(*keys); i++) {
		const char *own = meta_get(&head->meta, keys[i]),
			   *its = meta_get(&map->meta, keys[i]);

		if (own && its && strcmp(own, its))
			return fail("--c-map", "does not go with the input: its %s is %.60s, the "
			    "input's %.60s", keys[i], its, own);
	}
	return 0;
}

/* A reference that counts in other fringes, or lies elsewhere on the sensor, is none for this
 * phase. */
static int
check_alike(const struct run *run, const struct frame_head *head)
{
	static const char *const keys[] = { "period_px", "axis", "origin_px", "bin" };
	const struct frame_head *ref = run_second_input_head(run, "ref", 0);

	for (size_t i = 0; ref && i < sizeof(keys) / sizeof(*keys); i++) {
		const char *own = meta_get(&head->meta, keys[i]),
			   *its = meta_get(&ref->meta, keys[i]);

		if (own && its && strcmp(own, its))
			return fail(NULL,
			    "the reference does not go with the input: its %s is %.60s, "
			    "the input's %.60s",
			    keys[i], its, own);
	}
	return 0;
}

/* An option wins over the frame's own key; a number that is off by more than a hundredth of the
 * largest one is hardly meant to. Warns once in a run. -1 after fail(). */
static int
compare_key(struct depthfit *fit, const char *option, const struct numbers *given, const char *key,
    const struct frame_head *head)
{
	struct numbers own;
	double apart = 0, size = 0;

	if (!given->n || fit->warned_key || !meta_get(&head->meta, key))
		return 0;
	if (meta_numbers(&head->meta, key, &own) < 0) {
		if (fail_is_memory())
			return -1;
		fail_clear();		/* what the option is there for */
		return 0;
	}
	for (size_t i = 0; i < own.n || i < given->n; i++) {
		double a = i < given->n ? given->v[i] : 0, b = i < own.n ? own.v[i] : 0;

		apart = fmax(apart, fabs(a - b));
		size = fmax(size, fabs(b));
	}
	numbers_free(&own);
	if (apart <= SAME * size)
		return 0;
	warn(option, "is not the frame's own %s, %.60s: the option counts", key,
	    meta_get(&head->meta, key));
	fit->warned_key = true;
	return 0;
}

static int
find_reference(struct run *run, const struct frame_head *head, const char *ref,
    const struct numbers *ref_plane, const struct numbers *origin, struct depthfit *fit)
{
	struct numbers plane;
	int status;

	if (half_turn_channels(run, head, fit->wrapped, &fit->phase, &fit->ref) < 0)
		return -1;
	if (ref && strcmp(ref, "ideal"))
		return check_alike(run, head);
	if (compare_key(fit, "--ref-plane", ref_plane, "ref_plane_rad", head) < 0 ||
	    run_numbers(run, ref_plane, head, "ref_plane_rad", &plane) < 0)
		return -1;
	if (plane.n == 3)
		status = place_plane(run, head, &plane, origin, fit);
	else if (plane.n == 0)
		status = fail(NULL, "the reference plane is not known: say --ref-plane A,B,C, or "
		    "--ref FILE for one that was measured");
	else
		status = fail(NULL, "key ref_plane_rad must be three numbers, not %zu", plane.n);
	numbers_free(&plane);
	return status;
}

/* The channels c1 c2 ... of the map, or its only channel. */
static int
find_map(struct run *run, const struct frame_head *head, struct depthfit *fit)
{
	char name[CHANNEL_NAME_SIZE];

	for (fit->degree = 0; fit->degree < DEPTHFIT_COEFFICIENTS; fit->degree++) {
		snprintf(name, sizeof(name), "c-map.c%zu", fit->degree + 1);
		fit->c_map[fit->degree] = head_channel(head, name);
		if (fit->c_map[fit->degree] == NO_CHANNEL)
			break;
	}
	if (fit->degree)
		return 0;
	fit->degree = 1;
	return run_second_input(run, head, "c-map", "c1", &fit->c_map[0]);
}

static int
find_coefficients(struct run *run, const struct frame_head *head, const struct numbers *c,
    const char *c_map, struct depthfit *fit)
{
	struct numbers list;

	if (c_map)
		return check_map(run, head) < 0 ? -1 : find_map(run, head, fit);
	if (compare_key(fit, "--c", c, "c_mm_per_rad", head) < 0 ||
	    run_numbers(run, c, head, "c_mm_per_rad", &list) < 0)
		return -1;
	fit->degree = list.n;
	for (size_t k = 0; k < list.n && k < DEPTHFIT_COEFFICIENTS; k++) {
		fit->c[k] = list.v[k];
		fit->c_map[k] = NO_CHANNEL;
	}
	numbers_free(&list);
	if (fit->degree == 0)
		return fail(NULL, "depth per radian is not known: say --c MM_PER_RAD or --c-map "
		    "FILE (--fit-c finds it)");
	if (fit->degree > DEPTHFIT_COEFFICIENTS)
		return fail(NULL, "key c_mm_per_rad: at most %d coefficients, not %zu",
		    DEPTHFIT_COEFFICIENTS, fit->degree);
	return 0;
}

int
depthfit_check(const struct depthfit_options *options, bool calibrated)
{
	const char *ref = options->ref;
	const struct numbers *plane = &options->ref_plane, *c = &options->c, *fit = &options->fit_c;

	if (!calibrated && !ref && !plane->n)
		return fail_usage(NULL, "say --ref FILE (the absolute phase of a plane), --ref "
		    "ideal (a plane by formula) or --calib FILE (of camera and projector)");
	if (calibrated && options->wrapped)
		return fail_usage("--wrapped", "is only for --ref: coordinates need an absolute "
		    "phase");
	if (calibrated && (ref || plane->n || c->n || options->c_map || fit->n))
		return fail_usage(ref ? "--ref" : plane->n ? "--ref-plane" : c->n ? "--c" :
		    options->c_map ? "--c-map" : "--fit-c", "gives depth over a reference plane, "
		    "--calib coordinates without one: say one of them");
	if (ref && strcmp(ref, "ideal") && plane->n)
		return fail_usage(
		    NULL, "--ref-plane is the ideal plane: it cannot go with --ref FILE");
	if (plane->n && plane->n != 3)
		return fail_usage("--ref-plane", "must be three numbers, not %zu", plane->n);
	if (plane->n && (fabs(plane->v[1]) > M_PI || fabs(plane->v[2]) > M_PI))
		return fail_usage("--ref-plane", "%g rad from pixel to pixel are fringes of less "
		    "than two: is it in radians, not a period in pixels (2 pi / period)?",
		    fabs(plane->v[1]) > M_PI ? plane->v[1] : plane->v[2]);
	if (!!c->n + !!options->c_map + !!fit->n > 1)
		return fail_usage(NULL, "--c, --c-map and --fit-c exclude one another");
	if (c->n > DEPTHFIT_COEFFICIENTS)
		return fail_usage(
		    "--c", "at most %d coefficients, not %zu", DEPTHFIT_COEFFICIENTS, c->n);
	for (size_t i = 0, zeros = 0; i < c->n; i++) {
		zeros += c->v[i] == 0;
		if (zeros == c->n)
			return fail_usage("--c", "0 makes all depths 0: it is the mm per radian");
	}
	for (size_t i = 0, zeros = 0; i < fit->n; i++) {
		zeros += fit->v[i] == 0;
		if (zeros == fit->n)
			return fail_usage("--fit-c", "0 is the depth of the reference itself, "
			    "which tells no mm per radian");
	}
	if (fit->n && fit->n < (size_t)options->degree)
		return fail_usage("--fit-c", "needs %ld depths or more for --degree %ld, not %zu",
		    options->degree, options->degree, fit->n);
	return 0;
}

int
depthfit_plan(struct run *run, struct depthfit *fit, const struct depthfit_options *options,
    const struct numbers *origin, const struct frame_head *in, struct frame_head *out)
{
	fit->wrapped = options->wrapped;
	if (find_reference(run, in, options->ref, &options->ref_plane, origin, fit) < 0)
		return -1;
	if (options->fit_c.n)
		return 0;
	if (find_coefficients(run, in, &options->c, options->c_map, fit) < 0)
		return -1;
	return meta_set(&out->meta, "length_unit", "mm") < 0 ? -1 :
	    meta_set(&out->meta, "z_axis", "towards");
}

/* ---- a reference that is the measurement itself ---- */

static void
mark(bool *flag, bool seen)
{
	if (seen)
		__atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

void
depthfit_compare(const struct depthfit *fit, const struct frame *in, struct depthfit_same *same,
    size_t y0, size_t y1)
{
	bool differs = __atomic_load_n(&same->differs, __ATOMIC_RELAXED), equal = false;
	bool broken = __atomic_load_n(&same->broken, __ATOMIC_RELAXED), whole = false;

	for (size_t y = y0; fit->ref != NO_CHANNEL && y < y1; y++) {
		const float *phase = frame_floats(in, fit->phase, y);
		const float *ref = frame_floats(in, fit->ref, y);

		for (size_t x = 0; x < in->head.w && !(differs && broken); x++) {
			equal |= phase[x] == ref[x];
			differs |= phase[x] < ref[x] || phase[x] > ref[x];
			broken |= floorf(ref[x]) < ref[x];
			whole |= ref[x] != 0 && floorf(ref[x]) == ref[x];
		}
	}
	mark(&same->equal, equal);
	mark(&same->differs, differs);
	mark(&same->whole, whole);
	mark(&same->broken, broken);
}

void
depthfit_warn(const struct depthfit_same *same, bool wrapped)
{
	if (same->whole && !same->broken)
		warn("--ref", "holds whole numbers only, as captured images do: wanted is the "
		    "%s phase of the plane in radians, as %s writes it", wrapped ? "wrapped" :
		    "absolute", wrapped ? "phasewrap" : "unwrap2f");
	else if (same->equal && !same->differs)
		warn("--ref", "is the same %s phase as the input, so that all depths are 0: "
		    "wanted is that of the plane alone, captured without the object", wrapped ?
		    "wrapped" : "absolute");
}

/* ---- finding c ---- */

struct fit_job {
	const struct depthfit *above;
	const double *z_mm;
	size_t degree;
	struct frame *out;
	struct polyfit *row;		/* one per row */
	atomic_bool failed;		/* a row was */
};

static void
fit_pixel(const struct fit_job *job, const float *d, size_t x, size_t y)
{
	size_t w = job->out->head.w;
	struct polyfit fit = { 0 };
	double c[POLYFIT_MOST];
	bool known;

	for (size_t i = 0; i < job->above->steps; i++)
		if (isfinite(d[i * w + x]))
			polyfit_add(&fit, d[i * w + x], job->z_mm[i]);
	polyfit_join(&job->row[y], &fit);
	known = polyfit_solve(&fit, job->degree, c);
	for (size_t k = 0; k < job->degree; k++)
		frame_floats(job->out, k, y)[x] = known ? (float)c[k] : NAN;
}

static void
fit_row(void *arg, size_t y)
{
	struct fit_job *job = arg;
	size_t w = job->out->head.w;
	float *d = malloc(job->above->steps * w * sizeof(*d));

	if (!d) {
		fail_memory();
		atomic_store(&job->failed, true);
		return;
	}
	for (size_t i = 0; i < job->above->steps; i++)
		depth_rows_above(job->above, job->above->step[i], d + i * w, y);
	for (size_t x = 0; x < w; x++)
		fit_pixel(job, d, x, y);
	free(d);
}

/* The whole image's c: printed, or kept in the frame's keys. */
static int
report(struct run *run, const struct fit_job *job, const struct polyfit *all)
{
	double c[POLYFIT_MOST], rms, most = 0;
	char text[32];

	if (!polyfit_solve(all, job->degree, c))
		return fail(NULL,
		    "--fit-c: the phases do not determine c: %zu valid samples in all", all->n);
	rms = polyfit_rms(all, job->degree, c);
	for (size_t i = 0; i < job->above->steps; i++)
		most = fmax(most, fabs(job->z_mm[i]));
	if (rms > 0.1 * most)
		warn("--fit-c", "the fit leaves %.3g mm (rms) of depths up to %g mm: are the "
		    "depths in the measurements' order, is --ref the plane at 0, and each of "
		    "them a plane?", rms, most);
	if (run->output)
		return meta_set_numbers(&job->out->head.meta, "c_mm_per_rad", c, job->degree) < 0
		    ? -1
		    : meta_setf(&job->out->head.meta, "fit_rms_mm", "%.6g", rms);
	printf("c_mm_per_rad:=");
	for (size_t k = 0; k < job->degree; k++)
		printf("%s%s", k ? " " : "", number_format(c[k], text));
	printf("\nfit_rms_mm:=%.6g\n", rms);
	return 0;
}

static int
fit_all(struct run *run, const double *z_mm, size_t degree, struct depthfit *above)
{
	const struct frame_head *in = &above->step[0]->head;
	struct fit_job job = { above, z_mm, degree, NULL, NULL, false };
	struct polyfit all = { 0 };
	struct frame_head head;
	int status = -1;

	if (head_init(&head, in->w, in->h, degree, SAMPLE_FLOAT) < 0)
		return -1;
	for (size_t k = 0; k < degree; k++)
		snprintf(head.channel[k], CHANNEL_NAME_SIZE, "c%zu", k + 1);
	memcpy(head.spacing, in->spacing, sizeof(head.spacing));
	memcpy(head.unit, in->unit, sizeof(head.unit));
	meta_copy(&head.meta, &in->meta);
	if (frame_new(&head, &job.out) == 0) {
		job.row = calloc(in->h, sizeof(*job.row));
		if (job.row) {
			run_for(run, in->h, fit_row, &job);
			for (size_t y = 0; y < in->h; y++)
				polyfit_join(&all, &job.row[y]);
			status = atomic_load(&job.failed) ? -1 : report(run, &job, &all);
		} else
			fail_memory();
	}
	head_free(&head);
	free(job.row);
	if (status == 0 && run->output)
		return run_emit(run, job.out);
	frame_free(job.out);
	return status;
}

int
depthfit_finish(struct run *run, const struct depthfit_options *options, struct depthfit *fit)
{
	const struct numbers *z_mm = &options->fit_c;

	if (fit->steps != z_mm->n)
		return fail(NULL, "--fit-c names %zu depths, the input has %zu measurements",
		    z_mm->n, fit->steps);
	fit->phase = 0;		/* the kept frames hold the phase, then the reference */
	fit->ref = fit->ref == NO_CHANNEL ? NO_CHANNEL : 1;
	return fit_all(run, z_mm->v, (size_t)options->degree, fit);
}

int
depthfit_add(struct frame *in, const struct depthfit_options *options, struct depthfit *fit)
{
	const struct numbers *z_mm = &options->fit_c;
	size_t channel[2] = { fit->phase, fit->ref };
	struct depthfit both = { .phase = 0, .ref = fit->ref == NO_CHANNEL ? NO_CHANNEL : 1 };
	struct depthfit_same same = { 0 };
	struct frame **more, *kept;
	int status = frame_select(in, channel, fit->ref == NO_CHANNEL ? 1 : 2, &kept);

	frame_free(in);
	if (status < 0)
		return -1;
	more = reallocarray(fit->step, fit->steps + 1, sizeof(*more));
	if (!more) {
		frame_free(kept);
		return fail_memory();
	}
	fit->step = more;
	more[fit->steps++] = kept;
	if (fit->steps > z_mm->n)
		return fail(
		    NULL, "--fit-c names %zu depths, the input has more measurements", z_mm->n);
	depthfit_compare(&both, kept, &same, 0, kept->head.h);
	if (z_mm->v[fit->steps - 1] != 0 && same.equal && !same.differs)
		return fail(NULL, "--fit-c: measurement %zu, at %g mm, is the reference itself, "
		    "whose depth is 0", fit->steps, z_mm->v[fit->steps - 1]);
	if (kept->head.w != more[0]->head.w || kept->head.h != more[0]->head.h)
		return fail(NULL, "measurement %zu is %zu x %zu, the first one %zu x %zu",
		    fit->steps, kept->head.w, kept->head.h, more[0]->head.w, more[0]->head.h);
	return 0;
}

void
depthfit_free(struct depthfit *fit)
{
	for (size_t i = 0; i < fit->steps; i++)
		frame_free(fit->step[i]);
	free(fit->step);
	fit->step = NULL;
	fit->steps = 0;
}
