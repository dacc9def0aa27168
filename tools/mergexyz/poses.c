/*
 * mergexyz --icp: fits all views to each other, ordered ones by projection, tables and what no
 * pinhole saw by their nearest points; gives the cloud normals where views tell their sides.
 */
#include "mergexyz.h"

#include <stdio.h>

#include "io/safe_file.h"
#include "points/cloud.h"

#define RING_LEAST 3
#define POINTS_LEAST 16		/* for normals to be made of */
#define PINHOLE_PX 0.1		/* rms of a camera's picture; slices of a laser are farther off */
#define NARROW 0.5		/* share of a view's points: seen aslant by both cameras, if less */
#define MOVED_LEAST 2		/* standard errors; from the true poses fits move 1.4 */
#define RMS_REPORTED 1.1	/* times the rms that noise explains: more is reported */

/* Puts nx ny nz behind the channels of a piece: of its pixels, NaN where there is none. */
static int
add_normals(struct view_frame *piece, float *const normal[3])
{
	const size_t w = piece->frame->head.w, h = piece->frame->head.h;

	for (size_t k = 0; k < 3; k++) {
		struct frame *out;

		if (frame_add_channel(piece->frame, (char[3]){ 'n', "xyz"[k] }, &out) < 0)
			return -1;
		for (size_t y = 0; y < h; y++)
			memcpy(frame_floats(out, out->head.c - 1, y), normal[k] + y * w,
			    w * sizeof(float));
		frame_free(piece->frame);
		piece->frame = out;
	}
	return 0;
}

/* The normals of an ordered view's pixels, turned to where it was seen from, or of a cloud's
 * points. */
static void
find_normals(const struct ordered_view *ordered, const struct cloud *cloud, float *const normal[3])
{
	for (size_t i = 0; i < (ordered->pixel ? ordered->w * ordered->h : cloud->n); i++) {
		const struct ordered_pixel *pixel = &ordered->pixel[i];
		double towards = 0;

		for (size_t k = 0; k < 3 && ordered->pixel; k++)
			towards += pixel->normal[k] * (cloud->sensor[k] - pixel->point[k]);
		for (size_t k = 0; k < 3; k++)
			normal[k][ordered->pixel ? i : cloud->index[i]] = !ordered->pixel ?
			    cloud->normal[k][i] : towards < 0 ? -pixel->normal[k] :
			    pixel->normal[k];
	}
}

/* The view of a piece; without `normal` the piece has no room for them. -1 after fail(). */
static int
make_view(struct run *run, struct view_frame *piece, bool ordered, bool adds, struct icp_view *view)
{
	const struct frame_head *head = &piece->frame->head;
	const size_t n = head->w * head->h;
	struct cloud cloud = { 0 };
	float *normal[3] = { 0 };
	double cell = NAN;
	int status = 0;

	if (!ordered || adds)
		status = cloud_take(piece->frame, &cloud);
	if (status == 0 && !ordered && cloud.n >= POINTS_LEAST)
		status = cloud_scale(run, &cloud, &cell, &view->noise) < 0 ||
		    cloud_normals(run, &cloud, true) < 0 ? -1 : 0;
	if (status == 0 && !ordered)
		status = icp_view_take_cloud(run, &cloud, view);
	if (status == 0 && !view->sided && !ordered)
		warn("--icp", "%s: neither nx ny nz nor seen_from_mm nor an order tell which side "
		    "was seen: a thin part's front may be fitted to its back", view->name);
	if (status == 0 && adds) {
		for (size_t k = 0; k < 3; k++) {
			normal[k] = must_large(n, sizeof(float));
			for (size_t i = 0; i < n; i++)
				normal[k][i] = NAN;
		}
		find_normals(&view->ordered, &cloud, normal);
		status = add_normals(piece, normal);
	}
	for (size_t k = 0; k < 3; k++)
		free(normal[k]);
	cloud_free(&cloud);
	return status;
}

/* Takes every piece as an ordered picture, if each is one. */
static bool
order_views(struct run *run, const struct pieces *pieces, struct icp_view *view)
{
	bool ordered = true;

	for (size_t i = 0; i < pieces->n && ordered; i++) {
		ordered = ordered_view_make(run, pieces->v[i].frame, &view[i].ordered) &&
		    view[i].ordered.camera.rms_px < PINHOLE_PX;
		view[i].points = view[i].ordered.points;
		view[i].noise = view[i].ordered.noise;
		view[i].pitch = view[i].ordered.pitch;
	}
	for (size_t i = 0; i < pieces->n && !ordered; i++)
		ordered_view_free(&view[i].ordered);
	return ordered;
}

static int
make_views(struct run *run, struct pieces *pieces, bool ordered, struct icp_view *view)
{
	bool adds = true;
	int status = 0;

	for (size_t i = 0; i < pieces->n; i++) {
		const struct frame_head *head = &pieces->v[i].frame->head;

		snprintf(view[i].name, sizeof(view[i].name), "frame %zu of view %zu",
		    pieces->v[i].number, pieces->v[i].view);
		view[i].pose = pieces->v[i].pose;
		adds = adds && head_channel(head, "nx") == NO_CHANNEL &&
		    (meta_get(&head->meta, "seen_from_mm") || (!ordered && head->h > 1));
	}
	for (size_t i = 0; i < pieces->n && status == 0; i++)
		status = make_view(run, &pieces->v[i], ordered, adds, &view[i]);
	return status;
}

/*
 * Is a fit of ordered views for nearest points to mend? Where views share little, both cameras see
 * it aslant, and pixels are far from each other there: too far for planes of 5 x 5.
 */
static bool
is_narrow(const struct icp_view *view, size_t n, int status)
{
	bool narrow = status < 0 && n > 2 && !fail_is_memory();

	for (size_t i = 1; i < n; i++)
		narrow |= view[i].overlap > 0 && view[i].overlap < NARROW;
	return narrow;
}

static void
print_fit(const struct icp_view *view, const struct icp_view *to, size_t steps)
{
	char turn[200] = "", times[60] = "";
	struct pose pose;
	size_t used = 0;

	pose_invert(&to->pose, &pose);
	pose_compose(&pose, &view->pose, &pose);
	for (size_t k = 0; k < 12; k++)
		used += (size_t)snprintf(turn + used, sizeof(turn) - used,
		    k < 9 ? " %.6f" : " %.4f", k < 9 ? pose.R[k] : pose.T[k - 9]);
	if (view->rms > RMS_REPORTED * view->expected)
		snprintf(times, sizeof(times), " (%.1f times what noise explains)",
		    view->rms / view->expected);
	warn(NULL, "%s to %s: rms %.4g%s, overlap %.1f %%, %zu steps%s, R and T%s", view->name,
	    to->name, view->rms, times, 100 * view->overlap, steps,
	    view->moved < MOVED_LEAST ? " (noise explains the move: the start is as good)" : "",
	    turn);
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
 * Fits all pieces to each other, and replaces their poses; the first one keeps its own. Prints a
 * line for each. Where no piece has normals and all tell their sides, pieces get normals. -1 after
 * fail().
 */
int
align_pieces(struct run *run, const struct align_options *options, struct pieces *pieces)
{
	struct icp_view *view = must_alloc(pieces->n, sizeof(*view));
	const size_t least = options->ring ? RING_LEAST : 2;
	bool ordered = order_views(run, pieces, view), again;
	size_t steps;
	int status = pieces->n < least ? fail(NULL, "wants %zu frames or more, not %zu", least,
	    pieces->n) : 0;

	do {
		if (status == 0)
			status = make_views(run, pieces, ordered, view);
		if (status == 0)
			status = icp_fit(run, view, pieces->n, options->ring, options->max_rms,
			    &steps);
		again = ordered && is_narrow(view, pieces->n, status);
		for (size_t i = 0; i < pieces->n && again; i++) {
			icp_view_free(&view[i]);
			view[i] = (struct icp_view){ 0 };
		}
		if (again) {
			fail_clear();
			status = 0;
			ordered = false;
		}
	} while (again);
	if (status < 0)
		fail_prefix(options->ring && pieces->n < least ? "--ring" : "--icp");
	for (size_t i = 0; i < pieces->n && status == 0; i++) {
		pieces->v[i].pose = view[i].pose;
		if (i > 0)
			print_fit(&view[i], &view[view[i].partner], steps);
	}
	if (status == 0)
		status = write_poses(pieces, options->write_pose);
	for (size_t i = 0; i < pieces->n; i++)
		icp_view_free(&view[i]);
	free(view);
	return status;
}
