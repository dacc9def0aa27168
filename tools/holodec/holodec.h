/* What holodec keeps of its options and of a picture's keys. */
#ifndef HOLODEC_HOLODEC_H
#define HOLODEC_HOLODEC_H

#include "place.h"
#include "regions.h"
#include "run/stage.h"

enum decode { DECODE_AUTO, DECODE_NEAREST, DECODE_MEDIAN, DECODE_REGION, DECODE_PLAIN };

struct priv {
	struct holo holo;
	struct reading reading;
	struct regions regions;
	enum decode decode; /* in use */
	size_t edge_px;     /* in use */
	bool xyz;
	struct place place;
	float texture_scale;
};

/* What a device does, for the body's passes. */
int holodec_passes(struct run *, struct passes *);

#endif
