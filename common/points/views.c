/*
 * Several views of one object, for mergexyz and splatxyz: takes their frames apart, reads their
 * poses, and looks whether these are right, or whether points without poses are in one world.
 */
#include "points/views.h"

#include <math.h>
#include <stdio.h>

#include "base/process.h"
#include "base/text.h"
#include "points/visible.h"

/* ---- frames and poses ---- */

int
views_open(struct views *views, const struct opt_list *files, const struct opt_list *pose_files)
{
	views->n = 1 + files->n;
	views->files = files;
	views->pose_files = pose_files;
	if (pose_files->n == 0)
		return 0;
	if (pose_files->n != views->n)
		return fail_usage("--pose", "one file per view is needed: %zu for %zu view%s",
		    pose_files->n, views->n, views->n == 1 ? "" : "s");
	views->pose = must_alloc(views->n, sizeof(*views->pose));
	for (size_t k = 0; k < views->n; k++)
		if (pose_list_load(pose_files->v[k], &views->pose[k]) < 0)
			return -1;
	return 0;
}

void
views_close(struct views *views)
{
	for (size_t k = 0; views->pose && k < views->n; k++)
		pose_list_free(&views->pose[k]);
	free(views->pose);
	ordered_view_free(&views->last);
}

/* The pose of a view's frame: its own, or the only one of its file. */
static int
take_pose(const struct views *views, struct view_frame *of)
{
	const struct pose_list *list = views->pose ? &views->pose[of->view - 1] : NULL;

	of->pose = pose_identity;
	if (!list)
		return 0;
	if (list->n > 1 && of->number > list->n)
		return fail(views->pose_files->v[of->view - 1], "has %zu poses, view %zu has more "
		    "frames", list->n, of->view);
	of->pose = list->v[list->n == 1 ? 0 : of->number - 1];
	return 0;
}

/* A view's planes of a frame as a frame of their own. */
static int
take_planes(const struct views *views, const struct run *run, const struct frame *in,
    struct view_frame *of)
{
	const struct frame_head *head = of->view > 1 ?
	    run_second_input_head(run, "view", of->view - 1) : NULL;
	struct frame_head own;
	size_t first = 0;
	char prefix[32];
	int status;

	snprintf(prefix, sizeof(prefix), "view%zu.", of->view - 1);
	while (head && first < in->head.c &&
	    strncmp(in->head.channel[first], prefix, strlen(prefix)))
		first++;
	head_copy(&own, head ? head : &in->head);
	for (size_t k = 1; !head && k < views->n; k++)
		own.c -= run_second_input_head(run, "view", k)->c;
	own.type = SAMPLE_FLOAT;
	status = frame_new_empty(&own, &of->frame);
	head_free(&own);
	for (size_t c = 0; status == 0 && c < of->frame->head.c; c++)
		frame_share(of->frame, c, in, first + c);
	return status;
}

int
views_take(const struct views *views, const struct run *run, struct frame *in,
    struct view_frame *of)
{
	size_t n = 0;

	for (; n < views->n; n++) {
		of[n] = (struct view_frame){ .view = n + 1, .number = run_inputs(run) + 1 };
		if (take_pose(views, &of[n]) < 0 || take_planes(views, run, in, &of[n]) < 0)
			break;
	}
	frame_free(in);
	if (n == views->n)
		return 0;
	of[n].frame = NULL;
	while (n > 0) {
		frame_free(of[--n].frame);
		of[n].frame = NULL;
	}
	return -1;
}

int
views_check_number(const struct views *views, const struct run *run)
{
	size_t frames = run_inputs(run);

	for (size_t k = 0; views->pose && k < views->n; k++)
		if (views->pose[k].n > 1 && views->pose[k].n != frames)
			return fail(views->pose_files->v[k], "has %zu poses, view %zu has %zu "
			    "frame%s", views->pose[k].n, k + 1, frames, frames == 1 ? "" : "s");
	return 0;
}

/* From a view of one pose to a view of another. */
static struct pose
between(const struct pose *from, const struct pose *to)
{
	struct pose pose;

	pose_invert(to, &pose);
	pose_compose(&pose, from, &pose);
	return pose;
}

/* ---- poses in metres for points in millimetres ---- */

#define TURN_LEAST (M_PI / 36)
#define SHIFT_LEAST 0.005	/* of the shift of a turn about the points */
#define SHIFT_MOST 100.0	/* times the points' distance: two views of one thing are 2 apart */
#define CONE 0.9		/* length of the mean unit vector to points seen from 0 */

/* The mean distance of the points from 0; NaN where they lie all around it or there are none. */
static double
mean_distance(const struct frame *frame)
{
	double sum[3] = { 0 }, all = 0, n = 0, cone;
	size_t channel[3];
	const bool has_points = head_xyz(&frame->head, channel);

	for (size_t y = 0; y < frame->head.h && has_points; y++) {
		const float *v[3];

		for (size_t k = 0; k < 3; k++)
			v[k] = frame_floats(frame, channel[k], y);
		for (size_t x = 0; x < frame->head.w; x++) {
			double length = sqrt((double)v[0][x] * v[0][x] +
			    (double)v[1][x] * v[1][x] + (double)v[2][x] * v[2][x]);

			if (!(length > 0))
				continue;
			for (size_t k = 0; k < 3; k++)
				sum[k] += v[k][x] / length;
			all += length;
			n++;
		}
	}
	cone = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / n;
	return cone > CONE ? all / n : NAN;
}

/*
 * Warns where a pose that turns a view against the first one shifts it by less than SHIFT_LEAST of
 * what a turn about its points does: with T in metres it is 0.001. A shift of exactly 0 is a camera
 * turned about itself; points all around 0 are not in a camera's frame. False where it turns too
 * little to tell. *warned: it did.
 */
static bool
check_unit(const struct view_frame *first, const struct view_frame *of, bool *warned)
{
	struct pose pose = between(&of->pose, &first->pose);
	double turn[3], angle, shift, away = mean_distance(of->frame);

	pose_turn(&pose, turn);
	angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
	shift = sqrt(pose.T[0] * pose.T[0] + pose.T[1] * pose.T[1] + pose.T[2] * pose.T[2]);
	if (shift > SHIFT_MOST * away) {
		warn("--pose", "frame %zu of view %zu and frame %zu of view %zu are %.4g apart, "
		    "and points lie some %.3g away: is T in the unit of the points?",
		    first->number, first->view, of->number, of->view, shift, away);
		*warned = true;
		return true;
	}
	if (angle < TURN_LEAST || !(shift > 0))
		return false;
	*warned = shift < SHIFT_LEAST * 2 * sin(angle / 2) * away;
	if (*warned)
		warn("--pose", "from frame %zu of view %zu to frame %zu of view %zu a turn of %.3g "
		    "degrees shifts by %.3g only, and points lie some %.3g away: is T in the unit "
		    "of the points?", first->number, first->view, of->number, of->view,
		    angle * 180 / M_PI, shift, away);
	return true;
}

/* ---- one file given twice, as two views ---- */

static bool
is_same(const struct frame *a, const struct frame *b)
{
	struct same_values same = { 0 };
	size_t in_a[3], in_b[3];

	if (a->head.w != b->head.w || a->head.h != b->head.h || !head_xyz(&a->head, in_a) ||
	    !head_xyz(&b->head, in_b))
		return false;
	for (size_t k = 0; k < 3; k++)
		for (size_t y = 0; y < a->head.h && !same.differ; y++)
			same_values_add(&same, frame_floats(a, in_a[k], y),
			    frame_floats(b, in_b[k], y), a->head.w);
	return same_values_found(&same);
}

/* Warns of two views of one time that are the same; true where it did. */
static bool
check_same(const struct views *views, const struct view_frame *of)
{
	char other[32];

	for (size_t k = 1; k < views->n; k++)
		for (size_t i = 0; i < k; i++) {
			if (!is_same(of[i].frame, of[k].frame))
				continue;
			snprintf(other, sizeof(other), i ? "view %zu" : "the input", i + 1);
			warn(views->files->v[k - 1], "has the same points as %s in each pixel: is "
			    "it another view?", other);
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
	double near, before;		/* shares of all points, of the common ones */
	double median;
	size_t common, seen;
};

static void
meet(const struct ordered_view *a, const struct pose *pose_a, const struct ordered_view *b,
    const struct pose *pose_b, struct meeting *meeting)
{
	const struct pose motion = between(pose_b, pose_a);
	struct view_overlap of[2];
	struct pose back;

	pose_invert(&motion, &back);
	view_overlap_find(a, b, &motion, &of[0]);
	view_overlap_find(b, a, &back, &of[1]);
	meeting->common = of[0].common + of[1].common;
	meeting->seen = of[0].seen + of[1].seen;
	meeting->near = (double)(of[0].near + of[1].near) / (double)(of[0].points + of[1].points);
	meeting->before = (double)(of[0].before + of[1].before) / (double)(meeting->common + 1);
	meeting->median = fmax(of[0].median, of[1].median);
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

static void
compare_views(struct views *views, struct run *run, const struct ordered_view *view,
    const struct view_frame *of)
{
	const struct view_frame *last = &views->last_of;
	const struct pose motion = between(&of->pose, &last->pose);
	struct meeting given, reversed;
	struct pose inverse[2];
	char text[VIEWS_TEXT];

	pose_invert(&last->pose, &inverse[0]);
	pose_invert(&of->pose, &inverse[1]);
	meet(&views->last, &last->pose, view, &of->pose, &given);
	meet(&views->last, &inverse[0], view, &inverse[1], &reversed);
	snprintf(text, sizeof(text), "frame %zu of view %zu and frame %zu of view %zu",
	    last->number, last->view, of->number, of->view);
	if (run->verbose)
		note(NULL, "%s share %.0f %% of their points, %.3g apart; %.0f %% and %.3g if "
		    "their poses are turned around", text, 100 * given.near, given.median,
		    100 * reversed.near, reversed.median);
	/* the pictures of a camera that turned in one place may have nothing in common */
	if (given.seen || hypot(hypot(motion.T[0], motion.T[1]), motion.T[2]) < view->pitch)
		views->met = true;
	else if (!views->apart[0])
		snprintf(views->apart, sizeof(views->apart), "%s", text);
	views->warned = true;
	if (is_reversed(&given, &reversed, view->pitch + view->noise))
		warn("--pose", "%s share %.0f %% of their points, and %.0f %% if the poses are "
		    "turned around, %.3g and %.3g apart: do they go from world to view?", text,
		    100 * given.near, 100 * reversed.near, given.median, reversed.median);
	else if (given.common >= COMMON_LEAST && given.before > BEFORE_SHARE)
		warn("--pose", "%s: %.0f %% of the points in both pictures lie before the surface "
		    "that the other camera saw there: %s?", text, 100 * given.before,
		    views->pose ? "are these their poses" : "are they in one world without one");
	else
		views->warned = false;
}

/* Compares a frame with the previous one, the first few times. Frames without order or camera are
 * left out. */
static void
check_overlap(struct views *views, struct run *run, const struct view_frame *of)
{
	const struct frame_head *head = &of->frame->head;
	struct ordered_view view;
	size_t channel[3];

	if (views->warned || views->compared == OVERLAP_FRAMES || head_is_table(head) ||
	    !head_xyz(head, channel))
		return;
	views->compared++;
	if (!ordered_view_make(run, of->frame, &view))
		return;
	/* frames of one and the same pose tell nothing */
	if (views->last.pixel && (!views->pose ||
	    memcmp(&of->pose, &views->last_of.pose, sizeof(of->pose))))
		compare_views(views, run, &view, of);
	ordered_view_free(&views->last);
	views->last = view;
	views->last_of = *of;
}

/* ---- all checks ---- */

void
views_check(struct views *views, struct run *run, const struct view_frame *of)
{
	if (views->first.view == 0)
		views->first = *of;
	for (size_t k = 0; k < views->n; k++) {
		if (views->pose && !views->unit_checked)
			views->unit_checked = check_unit(&views->first, &of[k],
			    &views->unit_warned);
		if (views->compares)
			check_overlap(views, run, &of[k]);
	}
	views->same = views->same || check_same(views, of);
}

void
views_conclude(const struct views *views)
{
	if (!views->unit_warned && !views->same && !views->warned && !views->met &&
	    views->apart[0])
		warn("--pose", "no point of %s lies in the picture of the other one's camera: %s?",
		    views->apart, views->pose ?
		    "are these their poses, in the unit of the points" :
		    "are they in one world without one");
}
