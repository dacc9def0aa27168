/*
 * The poses of the views of mergexyz: do they look right, or do points of one world without poses?
 * And --icp, which finds them.
 */
#include "mergexyz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "io/safe_file.h"
#include "points/icp.h"
#include "points/visible.h"

/* ---- poses in metres for points in millimetres ---- */

#define TURN_LEAST (M_PI / 36)
#define SHIFT_LEAST 0.005	/* of the shift of a turn about the points */
#define SHIFT_MOST 100.0	/* times the points' distance: two views of one thing are 2 apart */

/*
 * Warns where a pose that turns a view against the first one shifts it by less than SHIFT_LEAST of
 * what a turn about its points does: with T in metres it is 0.001. A shift of exactly 0 is a camera
 * turned about itself; points all around 0 are not in a camera's frame. False where it turns too
 * little to tell. Does not read the frame of `first`. *warned: it did.
 */
static bool
pose_unit_warn(const struct piece *first, const struct piece *piece, bool *warned)
{
	struct pose pose;
	double turn[3], angle, shift, away = mergexyz_rows()->mean_distance(piece->frame);

	pose_invert(&first->pose, &pose);
	pose_compose(&pose, &piece->pose, &pose);
	pose_turn(&pose, turn);
	angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
	shift = sqrt(pose.T[0] * pose.T[0] + pose.T[1] * pose.T[1] + pose.T[2] * pose.T[2]);
	if (shift > SHIFT_MOST * away) {
		warn("--pose", "frame %zu of view %zu and frame %zu of view %zu are %.4g apart, "
		    "and points lie some %.3g away: is T in the unit of the points?",
		    first->number, first->view, piece->number, piece->view, shift,
		    away);
		*warned = true;
		return true;
	}
	if (angle < TURN_LEAST || !(shift > 0))
		return false;
	*warned = shift < SHIFT_LEAST * 2 * sin(angle / 2) * away;
	if (*warned)
		warn("--pose", "from frame %zu of view %zu to frame %zu of view %zu a turn of %.3g "
		    "degrees shifts by %.3g only, and points lie some %.3g away: is T in the unit "
		    "of the points?", first->number, first->view, piece->number, piece->view,
		    angle * 180 / M_PI, shift, away);
	return true;
}

/* ---- one file given twice, as two views ---- */

static bool
is_same(const struct frame *a, const struct frame *b)
{
	struct same_values same = { 0 };

	if (a->head.w != b->head.w || a->head.h != b->head.h)
		return false;
	for (size_t k = 0; k < 3; k++) {
		size_t in_a = head_channel(&a->head, (char[2]){ "xyz"[k] });
		size_t in_b = head_channel(&b->head, (char[2]){ "xyz"[k] });

		if (in_a == NO_CHANNEL || in_b == NO_CHANNEL)
			return false;
		for (size_t y = 0; y < a->head.h && !same.differ; y++)
			same_values_add(&same, frame_floats(a, in_a, y), frame_floats(b, in_b, y),
			    a->head.w);
	}
	return same_values_found(&same);
}

/* view: those of one time. files: of all but the first one. Warns of two that are the same; true
 * where it did. */
static bool
same_views_warn(struct frame *const *view, size_t views, const struct opt_list *files)
{
	char other[32];

	for (size_t k = 1; k < views; k++)
		for (size_t i = 0; i < k; i++) {
			if (!is_same(view[i], view[k]))
				continue;
			snprintf(other, sizeof(other), i ? "view %zu" : "the input", i + 1);
			warn(files->v[k - 1], "has the same points as %s in each pixel: is it "
			    "another view?", other);
			return true;
		}
	return false;
}

/*
 * ---- overlap ----
 *
 * Do the poses, or points of one world without poses, put the views where they can have seen the
 * same surface?
 */

#define OVERLAP_FRAMES 9	/* that are compared with the previous one */
#define COMMON_LEAST 40		/* of every 64th point */
#define OVERLAP_LEAST 0.1	/* of the points: less tells nothing */
#define REVERSED_MORE 3		/* times as many points meet with reversed poses, */
#define REVERSED_NEARER 5	/* or they are so many times nearer */
#define REVERSED_FINE 3		/* pitches and noises: right poses bring surfaces so near */
#define BEFORE_SHARE 0.2	/* of the common points; gross errors are fewer */

/* The overlap of two views, both ways added up. */
struct meeting {
	struct view_overlap of[2];
	double near, before;		/* shares of all points, of the common ones */
	double median;
	size_t common, seen;
};

static int
meet(const struct ordered_view *a, const struct pose *pose_a, const struct ordered_view *b,
    const struct pose *pose_b, struct meeting *meeting)
{
	struct pose motion, back;

	pose_invert(pose_a, &motion);
	pose_compose(&motion, pose_b, &motion);
	pose_invert(&motion, &back);
	if (view_overlap_find(a, b, &motion, &meeting->of[0]) < 0 ||
	    view_overlap_find(b, a, &back, &meeting->of[1]) < 0)
		return -1;
	meeting->common = meeting->of[0].common + meeting->of[1].common;
	meeting->seen = meeting->of[0].seen + meeting->of[1].seen;
	meeting->near = (double)(meeting->of[0].near + meeting->of[1].near) /
	    (double)(meeting->of[0].points + meeting->of[1].points);
	meeting->before = (double)(meeting->of[0].before + meeting->of[1].before) /
	    (double)(meeting->common + 1);
	meeting->median = fmax(meeting->of[0].median, meeting->of[1].median);
	return 0;
}

/* Would the inverse poses join the views, and do these not? An object on a turntable meets itself
 * either way, but not as well. least: the distance that noise and the pitch of points cause. */
static bool
is_reversed(const struct meeting *given, const struct meeting *reversed, double least)
{
	if (reversed->near < OVERLAP_LEAST || !(reversed->median < REVERSED_FINE * least))
		return false;
	return reversed->near > REVERSED_MORE * given->near ||
	    (reversed->near > given->near / REVERSED_MORE &&
	    given->median > REVERSED_NEARER * reversed->median && given->median > least / 2);
}

/* Did a camera turn in one place? Its pictures may then have nothing in common. */
static bool
turns_in_place(const struct pose *a, const struct pose *b, double near)
{
	struct pose motion;

	pose_invert(a, &motion);
	pose_compose(&motion, b, &motion);
	return hypot(hypot(motion.T[0], motion.T[1]), motion.T[2]) < near;
}

static int
compare_views(struct pose_check *check, struct run *run, const struct ordered_view *view,
    const struct pose *pose, size_t number, size_t of_view)
{
	struct meeting given, reversed;
	struct pose inverse[2];
	char text[POSE_CHECK_TEXT];

	pose_invert(&check->pose, &inverse[0]);
	pose_invert(pose, &inverse[1]);
	if (meet(&check->view, &check->pose, view, pose, &given) < 0 ||
	    meet(&check->view, &inverse[0], view, &inverse[1], &reversed) < 0)
		return -1;
	snprintf(text, sizeof(text), "frame %zu of view %zu and frame %zu of view %zu",
	    check->number, check->of_view, number, of_view);
	if (run->verbose)
		note(NULL, "%s share %.0f %% of their points, %.3g apart; %.0f %% and %.3g if "
		    "their poses are turned around", text, 100 * given.near, given.median,
		    100 * reversed.near, reversed.median);
	if (given.seen || turns_in_place(&check->pose, pose, view->pitch))
		check->met = true;
	else if (!check->apart[0])
		snprintf(check->apart, sizeof(check->apart), "%s", text);
	check->warned = true;
	if (is_reversed(&given, &reversed, view->pitch + view->noise))
		warn("--pose", "%s share %.0f %% of their points, and %.0f %% if the poses are "
		    "turned around, %.3g and %.3g apart: do they go from world to view?", text,
		    100 * given.near, 100 * reversed.near, given.median, reversed.median);
	else if (given.common >= COMMON_LEAST && given.before > BEFORE_SHARE)
		warn("--pose", "%s: %.0f %% of the points in both pictures lie before the surface "
		    "that the other camera saw there: %s?", text, 100 * given.before,
		    check->posed ? "are these their poses" : "are they in one world without one");
	else
		check->warned = false;
	return 0;
}

/*
 * Compares a frame of floats with the previous one, the first few times. Warns where the inverse
 * poses would join them and these do not, and where points of one lie before the surface that the
 * other's camera saw. Frames without order or camera are left out. -1 after fail(): memory.
 */
static int
pose_check_frame(struct pose_check *check, struct run *run, const struct frame *frame,
    size_t number, size_t of_view, const struct pose *pose)
{
	struct ordered_view view;
	int status = 0;

	for (size_t k = 0; k < 3; k++)
		if (head_channel(&frame->head, (char[2]){ "xyz"[k] }) == NO_CHANNEL)
			return 0;
	if (check->warned || check->seen == OVERLAP_FRAMES || head_is_table(&frame->head))
		return 0;
	check->seen++;
	if (ordered_view_make(run, "", frame, &view) < 0) {
		if (fail_is_memory())
			return -1;
		fail_clear();
		return 0;
	}
	if (check->view.pixel && (!check->posed || memcmp(pose, &check->pose, sizeof(*pose))))
		status = compare_views(check, run, &view, pose, number, of_view);
	ordered_view_free(&check->view);
	check->view = view;
	check->pose = *pose;
	check->number = number;
	check->of_view = of_view;
	return status;
}

static void
pose_check_free(struct pose_check *check)
{
	ordered_view_free(&check->view);
}

/* After all frames: warns where none that were compared had a point of the other in its picture. */
static void
pose_check_warn(const struct pose_check *check)
{
	if (!check->warned && !check->met && check->apart[0])
		warn("--pose", "no point of %s lies in the picture of the other one's camera: %s?",
		    check->apart, check->posed ?
		    "are these their poses, in the unit of the points" :
		    "are they in one world without one");
}

/* ---- all checks ---- */

/* The views of one time, as they come. Warns; -1 after fail(): memory. */
int
view_checks_add(struct view_checks *checks, struct run *run, const struct piece *piece,
    size_t views)
{
	struct frame *frame[views];

	if (checks->first.view == 0)
		checks->first = *piece;
	checks->pose_check.posed = checks->poses;
	for (size_t k = 0; k < views; k++) {
		frame[k] = piece[k].frame;
		if (checks->poses && !checks->unit_checked)
			checks->unit_checked = pose_unit_warn(&checks->first, &piece[k],
			    &checks->unit_warned);
		if (!checks->fits && (checks->poses || !checks->splat) &&
		    pose_check_frame(&checks->pose_check, run, piece[k].frame, piece[k].number,
		    piece[k].view, &piece[k].pose) < 0)
			return -1;
	}
	checks->same = checks->same || same_views_warn(frame, views, checks->files);
	return 0;
}

/* After all frames. */
void
view_checks_warn(const struct view_checks *checks)
{
	if (!checks->unit_warned && !checks->same)
		pose_check_warn(&checks->pose_check);
}

void
view_checks_free(struct view_checks *checks)
{
	pose_check_free(&checks->pose_check);
}

/* ---- --icp ---- */

#define DEGREES (180 / M_PI)
#define RING_LEAST 3
#define RMS_REPORTED 1.1	/* times the rms that noise explains: more is reported */

static void
name_piece(const struct piece *piece, char name[80])
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
		pieces->v[i].moved = true;
	}
	return 0;
}

/* The middle of a piece's points in the world. */
static void
middle(const struct piece *piece, const struct ordered_view *view, double center[3])
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
	struct ordered_view *view = calloc(pieces->n, sizeof(*view));
	int status;

	if (!view)
		return fail_memory();
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
