#include "waves.h"

#include <math.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PIXELS 16384		/* of the coarse grid, about */
#define DEPTHS_LEAST 100	/* there; fewer say too little */
#define APART 0.1f		/* fringes between coarse and fine depth */
/* Share of the depths that may be further apart. Measured on a frame of four sequences, 8 bits, 4
 * and 8 fringes, colour of full and of half resolution (all figures: depthdec(1)): at --crf 20
 * 0.064 at most, at 51 0.096 to 0.82; with other fringes than the video's 0.76 to 0.92. */
#define TOO_MANY 0.1

static bool
is_apart(const struct depthcode_code *code, const struct frame *frame, const struct planes *planes,
    size_t y, size_t x)
{
	float level = frame_sample(frame, planes->luma, y, x), coarse, fine;

	if (planes->coarse != NO_CHANNEL) {
		coarse = depthcode_clamp(frame_sample(frame, planes->coarse, y, x) / code->most);
		fine = depthcode_unfold(coarse, depthcode_coarse(level, code->guard, code->swing),
		    code->fringes);
	} else {
		coarse = depthcode_coarse(level, code->guard, code->swing);
		fine = depthcode_fine(coarse,
		    frame_sample(frame, planes->sine, y, x) - code->middle,
		    frame_sample(frame, planes->cosine, y, x) - code->middle, code->fringes);
	}
	return fabsf(fine - coarse) * code->fringes > APART;
}

void
waves_judge(struct waves *waves, const struct depthcode_code *code, const struct frame *frame,
    const struct planes *planes)
{
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, PIXELS), n = 0, apart = 0;
	size_t valid = planes->mask != NO_CHANNEL ? planes->mask : planes->luma;

	if (waves->judged || (planes->sine == NO_CHANNEL && planes->coarse == NO_CHANNEL))
		return;
	for (size_t y = 0; y < frame->head.h; y += step)
		for (size_t x = 0; x < frame->head.w; x += step)
			if (frame_sample(frame, valid, y, x) >= code->least) {
				n++;
				apart += is_apart(code, frame, planes, y, x);
			}
	waves->judged = n >= DEPTHS_LEAST;
	if (waves->judged && (double)apart > TOO_MANY * (double)n)
		warn(NULL, "%.0f %% of the depths disagree with themselves, coarse with fine: the "
		    "video was coded with much loss, maybe again by another program, or its "
		    "--fringes is not %g, and depths are off", 100 * (double)apart / (double)n,
		    (double)code->fringes);
}
