#include "check.h"

#include <math.h>

#include "holo/holocheck.h"
#include "holodec.px.h"

#define CHECK_WIDTH (2 * HOLOCHECK_WINDOW + 1)

/* Rests of the window around pixel (x, y), NaN in the background; how many are that. */
static int
check_load(const struct reading *reading, const struct frame *in, size_t x, size_t y,
    float rest[CHECK_WIDTH][CHECK_WIDTH])
{
	float sine[CHECK_WIDTH], cosine[CHECK_WIDTH];
	int black = 0;

	for (size_t v = 0; v < CHECK_WIDTH; v++) {
		size_t row = y + v - HOLOCHECK_WINDOW, first = x - HOLOCHECK_WINDOW;

		tile_load_samples(in, reading->channel[0], row, first, CHECK_WIDTH, sine);
		tile_load_samples(in, reading->channel[1], row, first, CHECK_WIDTH, cosine);
		for (size_t u = 0; u < CHECK_WIDTH; u++) {
			bool point = sine[u] + cosine[u] >= HOLO_BLACK;

			rest[v][u] =
			    point ? holo_rest(sine[u] - 127.5f, cosine[u] - 127.5f) : PX_NAN;
			black += !point;
		}
	}
	return black;
}

static struct holocheck_seen
check_place(const struct reading *reading, const struct frame *in, size_t x, size_t y)
{
	struct holocheck_seen seen = { .black = 1 };
	float rest[CHECK_WIDTH][CHECK_WIDTH], middle;
	const int reach = HOLOCHECK_WINDOW;
	double sum = 0, n = CHECK_WIDTH * CHECK_WIDTH, moments = n * reach * (reach + 1) / 3;

	if (x < HOLOCHECK_WINDOW || y < HOLOCHECK_WINDOW || x + HOLOCHECK_WINDOW >= in->head.w ||
	    y + HOLOCHECK_WINDOW >= in->head.h)
		return seen;
	seen.black = check_load(reading, in, x, y, rest) / n;
	if (seen.black > 0)
		return seen;
	middle = rest[reach][reach];
	for (int v = 0; v < CHECK_WIDTH; v++)
		for (int u = 0; u < CHECK_WIDTH; u++) {
			float away = rest[v][u] - middle;
			double turns = (double)(away - px_round(away));

			sum += turns;
			seen.slope[0] += turns * (u - reach) / moments;
			seen.slope[1] += turns * (v - reach) / moments;
		}
	seen.rest = (double)middle + sum / n;
	return seen;
}

int
check_picture(
    const struct reading *reading, const struct regions *regions, const struct frame *in)
{
	struct holocheck_seen seen[HOLOCHECK_PLACES];
	int code[HOLOCHECK_PLACES], found = holocheck_read(&in->head.meta, code);
	size_t x, y;

	if (found <= 0)
		return found;
	for (size_t i = 0; i < HOLOCHECK_PLACES; i++) {
		holocheck_place(in->head.w, in->head.h, i, &x, &y);
		seen[i] = check_place(reading, in, x, y);
		seen[i].turns = regions ? (double)(regions->order[y * in->head.w + x] +
					      regions->rest[y * in->head.w + x])
					: NAN;
	}
	return holocheck_compare(code, seen, in->head.type == SAMPLE_FLOAT);
}
