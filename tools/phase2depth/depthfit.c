/*
 * Plans for phase2depth the depth over a reference plane: which channels hold phase and reference,
 * the plane, what depth a radian is worth, and how measurements at known depths tell that
 * (methods §8). With --wrapped it looks in each frame for phases that are whole turns off.
 */
#include "phase2depth.h"

#include <stdio.h>

#include "base/linear.h"
#include "unwrap/absolute.h"

/*
 * ---- wrapped phases ----
 *
 * The difference of a wrapped phase and a wrapped reference, taken into (-pi, pi], is depth as long
 * as it stays below half a turn.
 */

#define JUMPS_MOST 1e-4		/* of neighbours; a line of jumps across 4096 columns has 1.2e-4 */

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

/* The channels of the phase and of a measured reference's phase (NO_CHANNEL: the ideal plane):
 * absphase of both or, wrapped, phase of both. */
static int
find_phases(const struct run *run, const struct frame_head *head, bool wrapped,
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

static int
check_range(const char *object, struct half_turn_range range, bool first)
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

/* Marks the pixels that may be whole turns off; -1 after fail() where nothing tells which. */
static int
find_beyond(const struct frame *in, const struct depthfit *above, struct half_turn_jumps *jumps)
{
	size_t pixels = in->head.w * in->head.h;
	struct half_turn_parts parts = { .w = in->head.w, .h = in->head.h,
		.d = must_alloc(pixels, sizeof(*parts.d)),
		.part = must_alloc(HALF_TURN_LISTS * pixels, sizeof(*parts.part)),
		.jumps = must_alloc(2 * pixels, 1) };
	size_t **list[HALF_TURN_LISTS] = { &parts.part, &parts.size, &parts.group, &parts.on,
		&parts.all, &parts.nearest, &parts.second };

	jumps->beyond = must_alloc(pixels, 1);
	for (size_t i = 1; i < HALF_TURN_LISTS; i++)
		*list[i] = parts.part + i * pixels;
	parts.speck = parts.jumps + pixels;
	phase2depth_rows()->find_parts(in, above, &parts, jumps->beyond);
	free_all(parts.d, parts.part, parts.jumps);
	if (parts.contending > 0)
		return fail("--wrapped", "the difference to the reference exceeds half a turn, and "
		    "of parts of %.2g %% of the pixels nothing tells which lies within: have the "
		    "reference seen beside them, or unwrap both phases (unwrapq)",
		    100 * (double)parts.contending / (double)pixels);
	if (parts.marked == 0)	/* only noise jumps */
		half_turn_free(jumps);
	jumps->most_beyond = fmax(jumps->most_beyond, (double)parts.marked / (double)pixels);
	return 0;
}

static struct half_turn_range
join_ranges(struct half_turn_range a, struct half_turn_range b)
{
	return (struct half_turn_range){ b.low < a.low ? b.low : a.low,
		b.high > a.high ? b.high : a.high };
}

/* struct body's `survey` of wrapped phases: looks for jumps, and then for pixels that may be whole
 * turns off. -1 after fail() where they cannot be found. */
int
half_turn_survey(struct run *run, const struct frame *in, const struct depthfit *above,
    struct half_turn_jumps *jumps)
{
	size_t bands = (in->head.h + HALF_TURN_BAND - 1) / HALF_TURN_BAND;
	struct half_turn_job job = { in, above, must_alloc(bands, sizeof(*job.band)) };
	struct half_turn_band all = { .phase = NO_RANGE, .ref = NO_RANGE };
	double share;

	run_for(run, bands, phase2depth_rows()->count_jumps, &job);
	for (size_t i = 0; i < bands; i++) {
		const struct half_turn_band *band = &job.band[i];

		all.jumps += band->jumps;
		all.pairs += band->pairs;
		all.phase = join_ranges(all.phase, band->phase);
		all.ref = join_ranges(all.ref, band->ref);
	}
	free(job.band);
	if (check_range(NULL, all.phase, jumps->frames == 0) < 0 ||
	    check_range("--ref", all.ref, jumps->frames == 0) < 0)
		return -1;
	share = all.pairs ? (double)all.jumps / (double)all.pairs : 0;
	jumps->frames++;
	half_turn_free(jumps);
	if (share > JUMPS_MOST && find_beyond(in, above, jumps) < 0)
		return -1;
	jumps->jumping += jumps->beyond != NULL;
	jumps->worst = fmax(jumps->worst, jumps->beyond ? share : 0);
	return 0;
}

/* After all frames: warns where the difference jumped. */
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

/* ---- the reference and c ---- */

#define SAME_KEY 0.01		/* of a number that an option and a key give */

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

/* A reference or a map that counts in other fringes, or lies elsewhere on the sensor, does not fit
 * this phase. */
static int
check_alike(const struct run *run, const struct frame_head *head, const char *option,
    const char *object, const char *subject)
{
	static const char *const keys[] = { "period_px", "axis", "origin_px", "bin" };
	const struct frame_head *other = run_second_input_head(run, option, 0);

	for (size_t i = 0; other && i < sizeof(keys) / sizeof(*keys); i++) {
		const char *own = meta_get(&head->meta, keys[i]),
			   *its = meta_get(&other->meta, keys[i]);

		if (own && its && strcmp(own, its))
			return fail(object, "%sdoes not go with the input: its %s is %.60s, the "
			    "input's %.60s", subject, keys[i], its, own);
	}
	return 0;
}

/* An option wins over the frame's own key. Warns, once in a run, where a number differs by more
 * than a hundredth of the largest one: that is hardly meant. */
static void
compare_key(struct depthfit *fit, const char *option, const struct numbers *given, const char *key,
    const struct frame_head *head)
{
	struct numbers own;
	double apart = 0, size = 0;

	if (!given->n || fit->warned_key || !meta_get(&head->meta, key))
		return;
	if (meta_numbers(&head->meta, key, &own) < 0) {
		fail_clear();		/* the option replaces it */
		return;
	}
	for (size_t i = 0; i < own.n || i < given->n; i++) {
		double a = i < given->n ? given->v[i] : 0, b = i < own.n ? own.v[i] : 0;

		apart = fmax(apart, fabs(a - b));
		size = fmax(size, fabs(b));
	}
	numbers_free(&own);
	if (apart <= SAME_KEY * size)
		return;
	warn(option, "is not the frame's own %s, %.60s: the option counts", key,
	    meta_get(&head->meta, key));
	fit->warned_key = true;
}

static int
find_reference(struct run *run, const struct frame_head *head,
    const struct depthfit_options *options, const struct numbers *origin, struct depthfit *fit)
{
	const struct numbers *ref_plane = &options->ref_plane;
	const char *ref = options->ref;
	struct numbers plane;
	int status;

	if (find_phases(run, head, fit->wrapped, &fit->phase, &fit->ref) < 0)
		return -1;
	if (ref && strcmp(ref, "ideal"))
		return check_alike(run, head, "ref", NULL, "the reference ");
	if (options->ref_roi.n)		/* the plane is found in each frame */
		return 0;
	compare_key(fit, "--ref-plane", ref_plane, "ref_plane_rad", head);
	if (run_numbers(run, ref_plane, head, "ref_plane_rad", &plane) < 0)
		return -1;
	if (plane.n == 3)
		status = place_plane(run, head, &plane, origin, fit);
	else if (plane.n == 0)
		status = fail(NULL, "the reference plane is not known: say --ref FILE for one "
		    "that was measured, --ref-roi X,Y,W,H for a flat wall in view, or "
		    "--ref-plane A,B,C");
	else
		status = fail(NULL, "key ref_plane_rad must be three numbers, not %zu", plane.n);
	numbers_free(&plane);
	return status;
}

#define PLANE_ROUNDS 3		/* of least squares, each without the strays of the one before, */
#define PLANE_STRAYS 3.0	/* beyond so many rms */
#define PLANE_BENT_RAD 0.5	/* rms of what is no plane */

/* The rms about the plane of the pixels of a region whose phase is within `limit` of it, and their
 * sums for another plane: 1, x and y times those and the phase. */
static double
sum_region(const struct frame *in, const double roi[4], const struct depthfit *fit, double limit,
    double sums[12])
{
	size_t x0 = (size_t)roi[0], y0 = (size_t)roi[1];
	double square = 0;

	memset(sums, 0, 12 * sizeof(*sums));
	for (size_t y = y0; y < y0 + (size_t)roi[3]; y++)
		for (size_t x = x0; x < x0 + (size_t)roi[2]; x++) {
			double row[4] = { 1, (double)x, (double)y,
				(double)frame_floats(in, fit->phase, y)[x] };
			double d = row[3] - vector3_dot(fit->plane, row);

			if (isnan(d) || fabs(d) > limit)
				continue;
			square += d * d;
			for (size_t k = 0; k < 12; k++)
				sums[k] += row[k / 4] * row[k % 4];
		}
	return sqrt(square / sums[0]);
}

/* Finds the plane of a frame's phase in the pixels of --ref-roi. -1 after fail(). */
int
depthfit_find_plane(const struct run *run, const struct frame *in,
    const struct depthfit_options *options, struct depthfit *fit)
{
	const double *roi = options->ref_roi.v;
	double limit = INFINITY, rms = 0, sums[12];

	if (!(roi[0] + roi[2] <= (double)in->head.w && roi[1] + roi[3] <= (double)in->head.h))
		return fail("--ref-roi", "leaves the image of %zu x %zu", in->head.w, in->head.h);
	for (int round = 0; round < PLANE_ROUNDS; round++) {
		sum_region(in, roi, fit, limit, sums);
		if (!(sums[0] >= 3) || !linear_solve(sums, 3))
			return fail("--ref-roi", "has no pixels with a phase that lie on a plane");
		for (size_t k = 0; k < 3; k++)
			fit->plane[k] = sums[4 * k + 3];
		rms = sum_region(in, roi, fit, limit, sums);
		limit = PLANE_STRAYS * rms;
	}
	if (rms > PLANE_BENT_RAD && !fit->warned_bent)
		warn("--ref-roi", "the phase there is off a plane by %.2g rad (rms): is it one "
		    "flat wall?", rms);
	fit->warned_bent |= rms > PLANE_BENT_RAD;
	if (run->verbose)
		note("--ref-roi", "the phase is %.9g + %.9g x + %.9g y, off that by %.2g rad (rms)",
		    fit->plane[0], fit->plane[1], fit->plane[2], rms);
	return 0;
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
		return check_alike(run, head, "c-map", "--c-map", "") < 0 ? -1 :
		    find_map(run, head, fit);
	compare_key(fit, "--c", c, "c_mm_per_rad", head);
	if (run_numbers(run, c, head, "c_mm_per_rad", &list) < 0)
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

/* Options that exclude each other, and wrong values. calibrated: no reference is used. -1 after
 * fail(). */
int
depthfit_check(const struct depthfit_options *options, bool calibrated)
{
	const char *ref = options->ref;
	const struct numbers *plane = &options->ref_plane, *c = &options->c, *fit = &options->fit_c;
	const struct numbers *roi = &options->ref_roi;

	if (!calibrated && !ref && !plane->n && !roi->n)
		return fail_usage(NULL, "say --ref FILE (the absolute phase of a plane), --ref "
		    "ideal (a plane by formula) or --calib FILE (of camera and projector)");
	if (calibrated && options->wrapped)
		return fail_usage("--wrapped", "is only for --ref: coordinates need an absolute "
		    "phase");
	if (calibrated && (ref || plane->n || roi->n || c->n || options->c_map || fit->n))
		return fail_usage(ref ? "--ref" : plane->n ? "--ref-plane" : roi->n ? "--ref-roi" :
		    c->n ? "--c" :
		    options->c_map ? "--c-map" : "--fit-c", "gives depth over a reference plane, "
		    "--calib coordinates without one: say one of them");
	if (ref && strcmp(ref, "ideal") && plane->n)
		return fail_usage(
		    NULL, "--ref-plane is the ideal plane: it cannot go with --ref FILE");
	if (roi->n && ((ref && strcmp(ref, "ideal")) || plane->n || fit->n || options->wrapped))
		return fail_usage("--ref-roi", "finds the plane of an absolute phase: it cannot go "
		    "with --ref FILE, --ref-plane, --fit-c or --wrapped");
	for (size_t i = 0; i < roi->n; i++)
		if (roi->n != 4 || roi->v[i] != floor(roi->v[i]) || !(roi->v[i] >= (i > 1)))
			return fail_usage("--ref-roi", "wants whole pixels X,Y,W,H");
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

/* Finds the reference and, unless it is to be fitted, c; origin is --origin. -1 after fail(). */
int
depthfit_plan(struct run *run, struct depthfit *fit, const struct depthfit_options *options,
    const struct numbers *origin, const struct frame_head *in, struct frame_head *out)
{
	fit->wrapped = options->wrapped;
	if (find_reference(run, in, options, origin, fit) < 0)
		return -1;
	if (options->fit_c.n)
		return 0;
	if (find_coefficients(run, in, &options->c, options->c_map, fit) < 0)
		return -1;
	meta_set(&out->meta, "length_unit", "mm");
	meta_set(&out->meta, "z_axis", "towards");
	return 0;
}

/* After all frames: warns where the reference was the input itself in all of them. */
void
depthfit_warn(const struct depthfit_same *same, bool wrapped)
{
	if (same->equal && !same->differs)
		warn("--ref", "is the same %s phase as the input, so that all depths are 0: "
		    "wanted is that of the plane alone, captured without the object", wrapped ?
		    "wrapped" : "absolute");
}

/* ---- --fit-c: c from measurements at known depths ---- */

/* Root of the mean squared difference between z and its polynomial. */
static double
polyfit_rms(const struct polyfit *fit, size_t degree, const double *c)
{
	double sum = fit->zz;

	for (size_t i = 0; i < degree; i++) {
		sum -= 2 * c[i] * fit->with_z[i + 1];
		for (size_t j = 0; j < degree; j++)
			sum += c[i] * c[j] * fit->moment[i + j + 2];
	}
	return sqrt(fmax(sum, 0) / (double)fit->n);
}

/* Prints the c of the whole image, or stores it in the frame's keys. */
static int
report(struct run *run, const struct fit_job *job, const struct polyfit *all)
{
	double c[POLYFIT_MOST], rms, most = 0;
	char text[32];

	if (!phase2depth_rows()->polyfit_solve(all, job->degree, c))
		return fail(NULL,
		    "--fit-c: the phases do not determine c: %zu valid samples in all", all->n);
	rms = polyfit_rms(all, job->degree, c);
	for (size_t i = 0; i < job->above->steps; i++)
		most = fmax(most, fabs(job->z_mm[i]));
	if (rms > 0.1 * most)
		warn("--fit-c", "the fit leaves %.3g mm (rms) of depths up to %g mm: are the "
		    "depths in the measurements' order, is --ref the plane at 0, and each of "
		    "them a plane?", rms, most);
	if (run->output) {
		meta_set_numbers(&job->out->head.meta, "c_mm_per_rad", c, job->degree);
		meta_setf(&job->out->head.meta, "fit_rms_mm", "%.6g", rms);
		return 0;
	}
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
	struct fit_job job = { above, z_mm, degree, NULL, NULL };
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
		job.row = must_alloc(in->h, sizeof(*job.row));
		run_for(run, in->h, phase2depth_rows()->fit_row, &job);
		for (size_t y = 0; y < in->h; y++)
			phase2depth_rows()->polyfit_join(&all, &job.row[y]);
		status = report(run, &job, &all);
	}
	head_free(&head);
	free(job.row);
	if (status == 0 && run->output)
		return run_emit(run, job.out);
	frame_free(job.out);
	return status;
}

/*
 * Fits c to the measurements, for the whole image and for each pixel; emits the pixels' c as a
 * frame if the tool has an output, else prints the image's as text. -1 after fail().
 */
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

/* Keeps one measurement; takes ownership of the frame. -1 after fail(). */
int
depthfit_add(struct frame *in, const struct depthfit_options *options, struct depthfit *fit)
{
	const struct numbers *z_mm = &options->fit_c;
	size_t channel[2] = { fit->phase, fit->ref };
	struct depthfit both = { .phase = 0, .ref = fit->ref == NO_CHANNEL ? NO_CHANNEL : 1 };
	struct depthfit_same same = { 0 };
	struct frame *kept;
	int status = frame_select(in, channel, fit->ref == NO_CHANNEL ? 1 : 2, &kept);

	frame_free(in);
	if (status < 0)
		return -1;
	fit->step = must_resize(fit->step, fit->steps + 1, sizeof(*fit->step));
	fit->step[fit->steps++] = kept;
	if (fit->steps > z_mm->n)
		return fail(
		    NULL, "--fit-c names %zu depths, the input has more measurements", z_mm->n);
	phase2depth_rows()->compare(&both, kept, &same, 0, kept->head.h);
	if (z_mm->v[fit->steps - 1] != 0 && same.equal && !same.differs)
		return fail(NULL, "--fit-c: measurement %zu, at %g mm, is the reference itself, "
		    "whose depth is 0", fit->steps, z_mm->v[fit->steps - 1]);
	if (kept->head.w != fit->step[0]->head.w || kept->head.h != fit->step[0]->head.h)
		return fail(NULL, "measurement %zu is %zu x %zu, the first one %zu x %zu",
		    fit->steps, kept->head.w, kept->head.h, fit->step[0]->head.w,
		    fit->step[0]->head.h);
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
