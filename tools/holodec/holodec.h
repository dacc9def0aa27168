/* What holodec keeps of its options and of a picture's keys. */
#ifndef HOLODEC_HOLODEC_H
#define HOLODEC_HOLODEC_H

#include "altered.h"
#include "bare.h"
#include "halved.h"
#include "image/texture_below.h"
#include "place.h"
#include "refusal.h"
#include "regions.h"
#include "run/stage.h"

enum decode { DECODE_AUTO, DECODE_NEAREST, DECODE_MEDIAN, DECODE_REGION, DECODE_PLAIN };

struct priv {
	struct holo holo;
	struct reading reading;
	struct regions regions;
	enum decode decode; /* in use */
	size_t edge_px;     /* in use */
	bool compared;      /* options with the keys of the picture */
	bool few_colours;   /* a warning was given */
	struct altered altered; /* likewise */
	struct bare bare;
	bool keep;          /* all pixels, and how certain each is */
	bool grown;         /* regions.certainty is that of this picture */
	float least;        /* certainty of what is kept */
	struct refusals refusals;
	size_t certainty;   /* the input's channel, or NO_CHANNEL */
	struct halved mended; /* the picture at hand, where its colour has half the resolution */
	bool xyz;
	struct place place;
	float texture_scale;
	struct texture_below below; /* of a picture with its texture below */
};

int holodec_survey(struct run *, const struct frame *in);
void holodec_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);
/* What a device does, for the body's passes. */
int holodec_passes(struct run *, struct passes *);

#endif
