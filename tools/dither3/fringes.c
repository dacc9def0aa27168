#include "fringes.h"

#include "base/fail.h"
#include "holo/fringe_circle.h"
#include "holo/holo.px.h"

#define ROWS_LEAST 64		/* are looked at, or all of fewer */
#define STEP_MOST 8		/* one row of so many, at most */
#define PIXELS_MOST 65536	/* are looked at, about: one takes as long as dithering some 200 */
#define AWAY 3			/* pixels to the background, which lossy formats mix in */
#define POINTS_LEAST 256	/* fewer say nothing */
#define OFF_CIRCLE 25.5f	/* levels */
/* Of the points. Measured on five objects: JPEG of quality 50 to 95 at halved colour leaves up to
 * 0.27 so far off with a pitch of 12 pixels, 0.17 with 16; a photograph 0.76, exchanged channels
 * 0.52, levels of 0.8 0.44. */
#define OFF_MOST 0.35

struct looking {
	const struct frame *in;
	const size_t *channel;
	size_t points, off;
	struct fringe_circle circle;
};

struct fringe {
	float sine, cosine;	/* less 127.5 */
	bool black;
};

static struct fringe
fringe_at(const struct looking *looking, size_t x, size_t y)
{
	float red = frame_sample(looking->in, looking->channel[0], y, x);
	float green = frame_sample(looking->in, looking->channel[1], y, x);

	return (struct fringe){ red - 127.5f, green - 127.5f, red + green < HOLO_BLACK };
}

/* Is no background near, and do fringes change little from pixel to pixel? */
static bool
is_flat(const struct looking *looking, size_t x, size_t y)
{
	static const int ways[][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };
	struct fringe here = fringe_at(looking, x, y);
	float rest = holo_rest(here.sine, here.cosine);

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		for (size_t far = 1; far <= AWAY; far++) {
			struct fringe near = fringe_at(looking, x + far * (size_t)ways[i][0],
			    y + far * (size_t)ways[i][1]);
			float turns = holo_rest(near.sine, near.cosine) - rest;

			turns -= px_round(turns);
			if (near.black || px_abs(turns) > (float)far * FRINGE_CIRCLE_FLAT)
				return false;
		}
	return true;
}

static void
look_at(struct looking *looking, size_t x, size_t y)
{
	struct fringe here = fringe_at(looking, x, y);
	float radius = px_sqrt(here.sine * here.sine + here.cosine * here.cosine);

	if (here.black)
		return;
	looking->points++;
	looking->off += px_abs(radius - 127.5f) > OFF_CIRCLE;
	if (is_flat(looking, x, y))
		fringe_circle_add(&looking->circle, here.sine, here.cosine);
}

int
fringes_judge(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct looking looking = { .in = in, .channel = priv->channel };
	size_t step = in->head.h / ROWS_LEAST, columns;

	if (priv->judged || in->head.type != SAMPLE_UCHAR)
		return 0;
	step = step < 1 ? 1 : step > STEP_MOST ? STEP_MOST : step;
	columns = in->head.h / step * in->head.w / PIXELS_MOST + 1;
	for (size_t y = AWAY; y + AWAY < in->head.h; y += step)
		for (size_t x = AWAY; x + AWAY < in->head.w; x += columns)
			look_at(&looking, x, y);
	priv->judged = looking.points >= POINTS_LEAST;
	if (!priv->judged)
		return 0;
	if ((double)looking.off > OFF_MOST * (double)looking.points)
		warn(NULL, "red and green are no fringes in %.0f %% of the picture: it is no "
		    "Holoimage, or was changed, and its bits give no depth",
		    100 * (double)looking.off / (double)looking.points);
	else
		fringe_circle_warn(&looking.circle);
	return 0;
}
