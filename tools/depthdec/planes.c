#include "planes.h"

#include "base/fail.h"

/* Planes by their names; those of pictures in a file are r g b, and a single one is luma. */
int
planes_find(struct planes *planes, struct run *run, const struct depthcode *code,
    const struct frame_head *in, bool textured)
{
	static const char *const names[2][3] = { { "luma", "chroma_u", "chroma_v" },
		{ "r", "g", "b" } };
	bool mwd = code->layout == DEPTHCODE_MWD;
	bool fold = code->layout == DEPTHCODE_FOLD;
	bool rgb = (mwd || fold) && head_channel(in, "luma") == NO_CHANNEL &&
	    head_channel(in, "r") == 0;

	planes->luma = planes->sine = planes->cosine = planes->coarse = planes->mask = NO_CHANNEL;
	if (code->mask == DEPTHCODE_TRACK) {
		planes->mask = head_channel(in, "mask");
		if (planes->mask == NO_CHANNEL)
			return fail(NULL, "there is no channel mask: the video has no second track "
			    "that is known for a mask, or the mask's file is missing");
	}
	if (in->c == 1 + (size_t)textured && !mwd && !fold) {
		planes->luma = 0;
		return 0;
	}
	if (run_channel(run, in, names[rgb][0], &planes->luma) < 0)
		return -1;
	if (fold)
		return run_channel(run, in, names[rgb][1], &planes->coarse);
	return !mwd ? 0 : run_channel(run, in, names[rgb][1], &planes->sine) < 0 ? -1 :
	    run_channel(run, in, names[rgb][2], &planes->cosine);
}
