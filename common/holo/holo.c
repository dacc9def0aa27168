#include "holo/holo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "holo/holo.px.h"

/* Float arithmetic may carry a point on the near face over the edge of the next stair. */
#define ORDER_SLACK 1e-4

#define RADIANS (M_PI / 180)

const char *const holo_stairs[] = { "composite", "cosine", NULL };
const char *const holo_layouts[] = { "rgb", "yuv", NULL };
const char *const holo_z_axes[] = { "towards", "away", NULL };
const char *const holo_roundings[] = { "level", "angle", NULL };
const size_t holo_place[2][3] = { { 0, 1, 2 }, { 1, 2, 0 } };
const size_t holo_luma[2] = { 1, 0 };

size_t
holo_longer_side(const struct holo *holo)
{
	return holo->w > holo->h ? holo->w : holo->h;
}

/* The largest u: that of the last column on the near face. */
static double
u_most(const struct holo *holo)
{
	return (double)(holo->w - 1) * cos(holo->theta_rad) +
	    (double)holo_longer_side(holo) * sin(holo->theta_rad);
}

/* The number of the highest stair, k_max. */
static double
holo_order_most(const struct holo *holo)
{
	return floor(u_most(holo) / holo->pitch_px + ORDER_SLACK);
}

/* Composite: levels 0, S, .., S k_max; cosine: the highest stair has S levels too. */
long
holo_height_most(const struct holo *holo)
{
	double orders = holo_order_most(holo);

	if (holo->stair == HOLO_COMPOSITE)
		return orders < 1 ? 255 : (long)floor(255 / orders);
	return orders < 1 ? 255 : (long)floor(256 / (orders + 1));
}

static long
height_least(const struct holo *holo)
{
	return holo->stair == HOLO_COMPOSITE ? 1 : 2;
}

/* The pitch above which stairs of this height fit. */
static double
pitch_least(const struct holo *holo, long height)
{
	long orders = holo->stair == HOLO_COMPOSITE ? 255 / height + 1 : 256 / height;

	return u_most(holo) / ((double)orders - ORDER_SLACK);
}

int
holo_check_stairs(const struct holo *holo)
{
	long most = holo_height_most(holo), least = height_least(holo);
	long height = holo->stair_height < least ? least : holo->stair_height;
	double pitch;
	char cure[80];

	if (holo->stair_height < least && most >= least)
		return fail(NULL, "%s stairs must be at least %ld levels high, not %ld",
		    holo_stairs[holo->stair], least, holo->stair_height);
	if (height <= most)
		return 0;
	pitch = pitch_least(holo, height);
	snprintf(cure, sizeof(cure), "a pitch above %.6g px", pitch);
	if (most >= least)
		snprintf(cure, sizeof(cure), "at most %ld levels, or a pitch above %.6g px", most,
		    pitch);
	return fail(NULL,
	    "a pitch of %g px makes %.0f stairs on %zu x %zu pixels at theta %g degrees; of %ld "
	    "levels each, they do not fit into 256: give %s",
	    holo->pitch_px, holo_order_most(holo) + 1, holo->w, holo->h, holo->theta_rad / RADIANS,
	    height, cure);
}

/* ---- what the formulas take ---- */

struct holo_code
holo_code(const struct holo *holo)
{
	bool cosine = holo->stair == HOLO_COSINE, away = holo->z_axis == HOLO_AWAY;
	double height = (double)holo->stair_height;

	return (struct holo_code){
		.turns_per_column = (float)(cos(holo->theta_rad) / holo->pitch_px),
		.turns_per_depth =
		    (float)((double)holo_longer_side(holo) * sin(holo->theta_rad) / holo->pitch_px),
		.height = (float)height,
		.base = cosine ? (float)(height / 2) : 0,
		.swing = cosine ? (float)((height - 2) / 2) : 0,
		.waves = cosine ? (float)holo->stair_turns + 0.5f : 0,
		.order_most = (float)holo_order_most(holo),
		.depth_zero = (float)(away ? holo->high : holo->low),
		.depth_one = (float)(away ? holo->low : holo->high),
	};
}

double
holo_depth_step(const struct holo_code *code, double range)
{
	return range / (2 * M_PI * 127.5 * (double)code->turns_per_depth);
}

const char *
holo_channel_names(enum holo_layout layout, bool texture)
{
	if (layout == HOLO_YUV)
		return texture ? "luma chroma_u chroma_v a" : "luma chroma_u chroma_v";
	return texture ? "r g b a" : "r g b";
}

int
holo_channels(const struct holo *holo, const struct frame_head *head, size_t channel[4])
{
	bool colour = head->c >= 3 && head_channel(head, "r") == 0 &&
	    head_channel(head, "g") == 1 && head_channel(head, "b") == 2;
	bool video = head->c >= 3 && head_channel(head, "luma") == 0 &&
	    head_channel(head, "chroma_u") == 1 && head_channel(head, "chroma_v") == 2;
	char *names;

	if (!colour && !video) {
		names = head_channels(head);
		fail(NULL, "a Holoimage has the channels r g b%s, not: %.200s",
		    head->c == 1 ? " (is this one of its planes, or a grey copy?)" : "",
		    names ? names : "?");
		free(names);
		return -1;
	}
	for (int i = 0; i < 3; i++)
		channel[i] = holo_place[holo->layout][i];
	channel[3] = head_channel(head, "a");
	return 0;
}

/* ---- blurred stairs ---- */

/* The stair at any turns, not clamped. */
static double
stair_at(const struct holo_code *code, double turns)
{
	double order = floor(turns), rest = turns - order;

	return (double)code->height * order + (double)code->base -
	    (double)code->swing * cos(2 * M_PI * (double)code->waves * rest);
}

void
holo_profile(const struct holo_code *code, double sigma, float level[HOLO_PROFILE + 1])
{
	int reach = (int)ceil(4 * sigma * HOLO_PROFILE);

	for (int i = 0; i <= HOLO_PROFILE; i++) {
		double sum = 0, weights = 0;

		for (int k = -reach; k <= reach; k++) {
			double d = (double)k / HOLO_PROFILE;
			double weight = reach ? exp(-0.5 * d * d / (sigma * sigma)) : 1;

			sum += weight * stair_at(code, (i + 0.5) / HOLO_PROFILE + d);
			weights += weight;
		}
		level[i] = (float)(sum / weights);
	}
	level[HOLO_PROFILE] = level[HOLO_PROFILE - 1];
}
