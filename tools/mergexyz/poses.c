/*
 * mergexyz --icp: fits each ordered view to those before it, and spreads what a ring does not
 * close.
 */
#include "mergexyz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/process.h"
#include "io/safe_file.h"

#define DEGREES (180 / M_PI)
#define RING_LEAST 3
#define RMS_REPORTED 1.1	/* times the rms that noise explains: more is reported */

static void
name_piece(const struct view_frame *piece, char name[80])
{
	snprintf(name, 80, "frame %zu of view %zu", piece->number, piece->view);
}

static int
make_views(struct run *run, const struct pieces *pieces, struct ordered_view *view)
{
	char name[80];

	for (size_t i = 0; i < pieces->n; i++) {
		name_piece(&pieces->v[i], name);
		if (ordered_view_make(run, name, pieces->v[i].frame, &view[i]) < 0) {
			fail_prefix("--icp");
			return -1;
		}
	}
	return 0;
}

/* From piece i to piece j, by their poses. */
static struct pose
between(const struct pieces *pieces, size_t i, size_t j)
{
	struct pose inverse;

	pose_invert(&pieces->v[j].pose, &inverse);
	pose_compose(&inverse, &pieces->v[i].pose, &inverse);
	return inverse;
}

static size_t
most_overlap(struct run *run, const struct pieces *pieces, const struct ordered_view *view,
    size_t i)
{
	size_t best = 0, most = 0;

	for (size_t j = 0; j < i && i > 1; j++) {
		struct pose pose = between(pieces, i, j);
		size_t common = icp_overlap(run, &view[j], &view[i], &pose);

		if (common > most) {
			best = j;
			most = common;
		}
	}
	return best;
}

static void
print_fit(const struct pieces *pieces, size_t i, size_t j, const struct icp_result *result)
{
	const struct pose *pose = &result->pose;
	char name[80], to[80], turn[200] = "", times[60] = "";
	size_t used = 0;

	name_piece(&pieces->v[i], name);
	name_piece(&pieces->v[j], to);
	for (size_t k = 0; k < 12; k++)
		used += (size_t)snprintf(turn + used, sizeof(turn) - used,
		    k < 9 ? " %.6f" : " %.4f", k < 9 ? pose->R[k] : pose->T[k - 9]);
	if (result->rms > RMS_REPORTED * result->expected)
		snprintf(times, sizeof(times), " (%.1f times what noise explains)",
		    result->rms / result->expected);
	warn(NULL, "%s to %s: rms %.4g%s, overlap %.1f %%, %zu steps, R and T%s", name, to,
	    result->rms, times, 100 * result->overlap, result->steps, turn);
}

/* Fits piece i to piece j. */
static int
fit_piece(struct run *run, const struct align_options *options, const struct pieces *pieces,
    const struct ordered_view *view, size_t i, size_t j, struct pose *pose)
{
	struct pose start = between(pieces, i, j);
	struct icp_result result;
	char name[80], to[80], both[200];

	name_piece(&pieces->v[i], name);
	name_piece(&pieces->v[j], to);
	snprintf(both, sizeof(both), "--icp: %s to %s", name, to);
	if (icp_fit(run, both, &view[j], &view[i], &start, options->max_rms, &result) < 0)
		return -1;
	print_fit(pieces, i, j, &result);
	*pose = result.pose;
	return 0;
}

static int
fit_all(struct run *run, const struct align_options *options, struct pieces *pieces,
    const struct ordered_view *view)
{
	for (size_t i = 1; i < pieces->n; i++) {
		size_t j = options->ring ? i - 1 : most_overlap(run, pieces, view, i);
		struct pose pose;

		if (fit_piece(run, options, pieces, view, i, j, &pose) < 0)
			return -1;
		pose_compose(&pieces->v[j].pose, &pose, &pieces->v[i].pose);
	}
	return 0;
}

/* The middle of a piece's points in the world. */
static void
middle(const struct view_frame *piece, const struct ordered_view *view, double center[3])
{
	double sum[3] = { 0 };

	for (size_t i = 0; i < view->w * view->h; i++)
		for (size_t k = 0; k < 3 && !isnan(view->pixel[i].point[0]); k++)
			sum[k] += view->pixel[i].point[k] / (double)view->points;
	pose_apply(&piece->pose, sum, center);
}

/* Fits the first piece to the last one, and spreads the closing error evenly over all. */
static int
close_ring(struct run *run, const struct align_options *options, struct pieces *pieces,
    const struct ordered_view *view)
{
	size_t n = pieces->n;
	struct pose pose, around, missing;
	double turn[3], center[3] = { 0 }, moved[3], shift[3], angle = 0, length = 0;

	if (fit_piece(run, options, pieces, view, 0, n - 1, &pose) < 0)
		return -1;
	pose_compose(&pieces->v[n - 1].pose, &pose, &around);
	pose_invert(&around, &missing);
	pose_compose(&pieces->v[0].pose, &missing, &missing);
	pose_turn(&missing, turn);
	for (size_t i = 0; i < n; i++) {
		middle(&pieces->v[i], &view[i], moved);
		for (size_t k = 0; k < 3; k++)
			center[k] += moved[k] / (double)n;
	}
	pose_apply(&missing, center, moved);
	for (size_t k = 0; k < 3; k++) {
		shift[k] = moved[k] - center[k];
		angle += turn[k] * turn[k];
		length += shift[k] * shift[k];
	}
	warn(NULL, "the ring of %zu closes to %.4g degrees and %.4g in the middle of its points, "
	    "which are spread", n, sqrt(angle) * DEGREES, sqrt(length));
	for (size_t i = 1; i < n; i++) {
		double share = (double)i / (double)n;
		struct pose part;

		pose_from_twist((double[3]){ share * turn[0], share * turn[1], share * turn[2] },
		    (double[3]){ share * shift[0], share * shift[1], share * shift[2] }, center,
		    &part);
		pose_compose(&part, &pieces->v[i].pose, &pieces->v[i].pose);
	}
	return 0;
}

static int
print_poses(const struct pieces *pieces, size_t view, FILE *file)
{
	for (size_t i = 0; i < pieces->n; i++) {
		const struct pose *pose = &pieces->v[i].pose;

		if (pieces->v[i].view != view)
			continue;
		fprintf(file, "# frame %zu of view %zu\n", pieces->v[i].number, view);
		for (size_t k = 0; k < 3; k++)
			fprintf(file, "%.12g %.12g %.12g %.12g\n", pose->R[3 * k],
			    pose->R[3 * k + 1], pose->R[3 * k + 2], pose->T[k]);
		fprintf(file, "0 0 0 1\n");
	}
	return ferror(file) ? -1 : 0;
}

static int
write_poses(const struct pieces *pieces, const struct opt_list *files)
{
	for (size_t k = 0; k < files->n; k++) {
		struct safe_file *place;
		FILE *file = safe_file_open(files->v[k], &place);
		int status;

		if (!file)
			return -1;
		status = print_poses(pieces, k + 1, file);
		if (safe_file_close(file, files->v[k], place, status == 0) < 0)
			return -1;
		if (status < 0)
			return fail(files->v[k], "cannot be written");
	}
	return 0;
}

/*
 * Fits every piece, in order, to the earlier one that it overlaps most, and replaces its pose; the
 * first one keeps its own. ring: every piece to the previous one, the first one also to the last,
 * and the closing error is spread evenly. Prints a line for each. -1 after fail().
 */
int
align_pieces(struct run *run, const struct align_options *options, struct pieces *pieces)
{
	struct ordered_view *view = must_alloc(pieces->n, sizeof(*view));
	int status;

	if (pieces->n < (options->ring ? RING_LEAST : 2))
		status = fail(options->ring ? "--ring" : "--icp", "wants %d frames or more, not "
		    "%zu", options->ring ? RING_LEAST : 2, pieces->n);
	else
		status = make_views(run, pieces, view);
	if (status == 0)
		status = fit_all(run, options, pieces, view);
	if (status == 0 && options->ring)
		status = close_ring(run, options, pieces, view);
	if (status == 0)
		status = write_poses(pieces, options->write_pose);
	for (size_t i = 0; i < pieces->n; i++)
		ordered_view_free(&view[i]);
	free(view);
	return status;
}
