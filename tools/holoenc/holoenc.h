/* What holoenc keeps of its options and of a frame. */
#ifndef HOLOENC_HOLOENC_H
#define HOLOENC_HOLOENC_H

#include "holo/holo.h"
#include "image/depth_range.h"
#include "image/depth_use.h"
#include "image/hole_value.h"
#include "image/texture_below.h"
#include "image/texture_cut.h"
#include "run/stage.h"

struct priv {
	struct holo holo;
	struct holo_code code;
	size_t depth;        /* input channel */
	size_t x, y;         /* of an xyz frame; NO_CHANNEL */
	size_t texture;      /* input channel that becomes alpha; NO_CHANNEL */
	float texture_scale; /* grey levels per its unit */
	struct texture_below below; /* with a texture below the picture */
	bool range_wanted;   /* the depth range is each frame's own */
	struct depth_range_of_file range_of_file;
	struct depth_use use; /* of a range that was given */
	struct texture_cut cut;
	struct hole_value hole;
	bool warned;         /* of depths outside a range that was given */
	bool dropped;        /* of colours that the frame has */
	bool stray;          /* likewise, of stray depths in a frame's own range */
};

int holoenc_survey(struct run *, const struct frame *in);
void holoenc_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);
/* What a device does, for the body's passes. */
int holoenc_passes(struct run *, struct passes *);

#endif
