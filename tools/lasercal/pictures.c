#include "pictures.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "feature/board_find.h"

/* Grey levels: pictures of whole numbers have so much noise at least. */
#define NOISE_LEAST 0.289
/* A line of fewer points is none. */
#define LENGTH_LEAST 5

bool
pictures_is_picture(const struct frame_head *head)
{
	return !head_is_table(head) && head->h > 1 && (head->c == 1 ||
	    strchr(head->channel[1], '.'));
}

int
pictures_own(const struct run *run, const struct frame *in, bool off, struct frame **out)
{
	const struct frame_head *other = off ? run_second_input_head(run, "off", 0) : NULL;
	size_t c = 0;

	if (off && (other->w != in->head.w || other->h != in->head.h))
		return fail("--off", "is %zux%zu, the picture %zux%zu", other->w, other->h,
		    in->head.w, in->head.h);
	if (off && run_second_input(run, &in->head, "off", NULL, &c) < 0)
		return -1;
	return frame_select(in, &c, 1, out);
}

int
pictures_corners(const struct board *board, const struct frame *picture, struct corners *corners)
{
	struct board_options options = { .sigma_px = NAN };
	char reason[BOARD_REASON];
	struct frame *gray;
	int status;

	if (board_picture(picture, NULL, &gray) < 0)
		return -1;
	status = board_find(board, &options, gray, corners, reason);
	frame_free(gray);
	return status > 0 ? fail(NULL, "no board: %s", reason) : status;
}

static struct line_plane
plane_of(const struct frame *frame)
{
	return frame ? (struct line_plane){ frame_row(frame, 0, 0), frame->plane[0].stride,
		frame->plane[0].type } : (struct line_plane){ 0 };
}

int
pictures_line(struct pictures *pictures, struct run *run, const struct frame *on,
    const struct frame *off, struct line_points *points)
{
	struct line_options options = { .sigma = pictures->sigma, .low = 1, .high = 1,
		.min_length = LENGTH_LEAST };
	struct line_image image = { on->head.w, on->head.h, plane_of(on), plane_of(off), false };
	double noise, threshold;

	if (!pictures->finder &&
	    line_finder_new(&options, &line_level_any, &pictures->finder) < 0)
		return -1;
	if (line_noise(&image, &noise) < 0)
		return -1;
	threshold = line_threshold(fmax(noise, NOISE_LEAST), pictures->sigma);
	line_finder_set_thresholds(pictures->finder, threshold, threshold);
	return line_find(pictures->finder, run, &image, points);
}

void
pictures_free(struct pictures *pictures)
{
	line_finder_free(pictures->finder);
	pictures->finder = NULL;
}
