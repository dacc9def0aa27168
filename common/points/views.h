/* Several views of one object: their frames, the poses that take them to one world. */
#pragma once

#include "base/opt.h"
#include "frame/frame.h"
#include "points/icp.h"
#include "points/ordered_view.h"
#include "run/run.h"

/*
 * The views of mergexyz and splatxyz. The input is view 1; the others are the streams of the option
 * --view, whose planes the runner puts after the input's own. The option --pose names a file of
 * poses for each view.
 */

struct view_frame {
	struct frame *frame;		/* float */
	size_t view, number;		/* both from 1 */
	struct pose pose;		/* from the view to the world */
};

#define VIEWS_TEXT 160

struct views {
	size_t n;
	const struct opt_list *files, *pose_files;	/* of the options */
	struct pose_list *pose;		/* of each view; NULL: none are given */
	bool compares;			/* frames with the previous ones, see views_check() */
	/* what has been seen so far */
	struct view_frame first;	/* its numbers and its pose; view 0: none yet */
	bool unit_checked, unit_warned, same;	/* one line is enough */
	struct ordered_view last;	/* the last frame that was compared, */
	struct view_frame last_of;	/* its numbers and its pose */
	size_t compared;
	bool warned;
	bool met;			/* a camera had a point of another frame in its picture */
	char apart[VIEWS_TEXT];		/* the first two frames that had none of each other */
};

/* The rows of --view and --pose, for members of type struct opt_list. */
#define VIEWS_OPTIONS(type, files, pose_files) \
	{ 0, "view", "FILE", OPT_STREAMS, offsetof(type, files), NULL, 0, 0, NULL, \
	  "another view's stream of points; may be repeated", NULL }, \
	{ 0, "pose", "FILE", OPT_FILES, offsetof(type, pose_files), NULL, 0, 0, NULL, \
	  "poses of a view's frames, 4x4 or R|T, view to world; one file per view", NULL }

/* Reads the poses. -1 after fail(); views_close() in either case. */
int views_open(struct views *, const struct opt_list *files, const struct opt_list *pose_files);
/* The frames of all views and their poses, of a frame of the runner, which it frees. of[views.n];
 * the caller frees them. -1 after fail(): nothing is in `of`. */
int views_take(const struct views *, const struct run *, struct frame *in, struct view_frame *of);
/*
 * Looks at the frames of one time, and warns: of a T in another unit than the points; of one file
 * given twice; and, if views.compares, where the first few ordered frames, each compared with the
 * previous one, would be joined by the inverse poses and are not by these, or where points of one
 * lie before the surface that the other's camera saw.
 */
void views_check(struct views *, struct run *, const struct view_frame *of);
/* After all frames: is there a pose for each? -1 after fail(). */
int views_check_number(const struct views *, const struct run *);
/* After a run that has not failed: warns where none of the frames that were compared had a point of
 * the other one in its picture. */
void views_conclude(const struct views *);
void views_close(struct views *);
