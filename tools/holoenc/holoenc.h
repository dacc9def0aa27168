/* What holoenc keeps of its options and of a frame, and the loops of holoenc_rows.c. */
#pragma once

#include <math.h>

#include "holo/holo.h"
#include "image/depth_range.h"
#include "image/texture.h"
#include "run/stage.h"

struct priv {
	struct holo holo;
	struct holo_code code;
	size_t depth;        /* input channel */
	size_t x, y;         /* of an xyz frame; NO_CHANNEL */
	struct texture_source texture; /* input channels that become alpha, or go below */
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

struct holoenc_rows {
	/* A body's `rows`. */
	body_rows *encode;
	/* The code in holo_check of the turns at a place (holo/holocheck.h). */
	int (*code_at)(const struct priv *, const struct frame *in, size_t x, size_t y);
};
LEVELS_OF(holoenc_rows)
