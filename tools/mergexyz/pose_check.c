#include "pose_check.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "points/view_overlap.h"

#define FRAMES 9		/* that are looked at */
#define COMMON_LEAST 40		/* of every 64th point */
#define OVERLAP 0.1		/* of the points: less says nothing */
#define MORE 3			/* times as many points that meet */
#define NEARER 5		/* times as near */
#define FINE 3			/* pitches and noises: so near do poses bring a surface to itself */
#define BEFORE 0.2		/* of the common points; gross errors are fewer */

/* Both ways added up. */
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

/* Would the inverse poses join the views, and do these not? What turns about its own axis meets
 * itself either way, but not as well. least: distances that noise and the grid of points make. */
static bool
is_reversed(const struct meeting *given, const struct meeting *reversed, double least)
{
	if (reversed->near < OVERLAP || !(reversed->median < FINE * least))
		return false;
	return reversed->near > MORE * given->near || (reversed->near > given->near / MORE &&
	    given->median > NEARER * reversed->median && given->median > least / 2);
}

/* From one place a camera looks around, and its pictures may have nothing in common. */
static bool
turns_in_place(const struct pose *a, const struct pose *b, double near)
{
	struct pose motion;

	pose_invert(a, &motion);
	pose_compose(&motion, b, &motion);
	return hypot(hypot(motion.T[0], motion.T[1]), motion.T[2]) < near;
}

static int
compare(struct pose_check *check, struct run *run, const struct ordered_view *view,
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
	else if (given.common >= COMMON_LEAST && given.before > BEFORE)
		warn("--pose", "%s: %.0f %% of the points in both pictures lie before the surface "
		    "that the other camera saw there: %s?", text, 100 * given.before,
		    check->posed ? "are these their poses" : "are they in one world without one");
	else
		check->warned = false;
	return 0;
}

int
pose_check_frame(struct pose_check *check, struct run *run, const struct frame *frame,
    size_t number, size_t of_view, const struct pose *pose)
{
	struct ordered_view view;
	int status = 0;

	for (size_t k = 0; k < 3; k++)
		if (head_channel(&frame->head, (char[2]){ "xyz"[k] }) == NO_CHANNEL)
			return 0;
	if (check->warned || check->seen == FRAMES || head_is_table(&frame->head))
		return 0;
	check->seen++;
	if (ordered_view_make(run, "", frame, &view) < 0) {
		if (fail_is_memory())
			return -1;
		fail_clear();
		return 0;
	}
	if (check->view.pixel && (!check->posed || memcmp(pose, &check->pose, sizeof(*pose))))
		status = compare(check, run, &view, pose, number, of_view);
	ordered_view_free(&check->view);
	check->view = view;
	check->pose = *pose;
	check->number = number;
	check->of_view = of_view;
	return status;
}

void
pose_check_free(struct pose_check *check)
{
	ordered_view_free(&check->view);
}

void
pose_check_warn(const struct pose_check *check)
{
	if (!check->warned && !check->met && check->apart[0])
		warn("--pose", "no point of %s lies in the picture of the other one's camera: %s?",
		    check->apart, check->posed ?
		    "are these their poses, in the unit of the points" :
		    "are they in one world without one");
}
