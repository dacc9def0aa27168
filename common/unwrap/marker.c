#include "unwrap/marker.h"

#include <stdlib.h>

#define INNER 0.3          /* of the stripe's width, to either side: there it is bright, */
#define OUTER 0.12         /* turns outside of it: there it is dark; between is blur */
#define PIXELS_LEAST 12    /* of a component where the stripe is */
#define BRIGHT 0.25        /* mean light from where on the marker is there, */
#define DOUBTFUL 0.0       /* from where on it may be there as well, */
#define DOUBTFUL_SHARE 0.1 /* if so much lies there, of what the found one has; */
#define DARK (-0.3)        /* up to where it is dark beside the stripe */

/* The pixels that would lie in the stripe if a component took so many turns. */
struct place {
	double light, weight; /* from -1, black, to 1, white, times weight; weight: amplitudes */
	double x, y;          /* sums */
	size_t pixels;
};

/* A component's places: from place[first] on those of turns low to high. */
struct span {
	int32_t low, high;
	size_t first;
	double dark, weight; /* the light of all that lies outside the stripe at any turns */
};

struct search {
	const struct components *components;
	const struct marker *marker;
	struct span *span;
	struct place *place;
};

/* Where a pixel lies from the nearest stripe, in turns, and the turns that the component then
 * takes. false: it is part of none, or of one that is too small. */
static bool
locate(const struct search *search, size_t x, size_t y, size_t *component, int32_t *turns,
    double *off)
{
	const struct components *components = search->components;
	size_t i = components_of(components, x, y);
	double at;

	if (i == components->n || components->component[i].size < PIXELS_LEAST)
		return false;
	at = (double)phase_row(components->phase, y)[x] * (double)components->phase->turns +
	    components_turns(components, x, y) - search->marker->turns;
	*component = i;
	*turns = -(int32_t)lrint(at);
	*off = at + *turns;
	return true;
}

static void
find_span(struct search *search, size_t y)
{
	for (size_t x = 0; x < search->components->patches->w; x++) {
		struct span *span;
		int32_t turns;
		size_t i;
		double off;

		if (!locate(search, x, y, &i, &turns, &off))
			continue;
		span = &search->span[i];
		span->low = turns < span->low ? turns : span->low;
		span->high = turns > span->high ? turns : span->high;
	}
}

static void
add_light(struct search *search, size_t y)
{
	const struct marker *marker = search->marker;
	const float *level = frame_floats(marker->frame, marker->channel, y);
	const float *texture = frame_floats(marker->frame, marker->texture, y);
	const float *modulation = frame_floats(marker->frame, marker->modulation, y);

	for (size_t x = 0; x < search->components->patches->w; x++) {
		double ratio = (double)modulation[x], mean = (double)texture[x] / (1 + ratio);
		double amplitude = ratio * mean, off, light;
		struct place *place;
		struct span *span;
		int32_t turns;
		size_t i;

		if (!(amplitude > 0 && isfinite(amplitude) && isfinite((double)level[x])) ||
		    !locate(search, x, y, &i, &turns, &off))
			continue;
		light = fmax(fmin((double)level[x] - mean, amplitude), -amplitude);
		span = &search->span[i];
		if (fabs(off) > 0.5 * marker->width_turns + OUTER) {
			span->dark += light;
			span->weight += amplitude;
		} else if (fabs(off) <= INNER * marker->width_turns) {
			place = &search->place[span->first + (size_t)(turns - span->low)];
			place->light += light;
			place->weight += amplitude;
			place->x += (double)x;
			place->y += (double)y;
			place->pixels++;
		}
	}
}

static bool
is_bright(const struct place *place, double least)
{
	return place->pixels >= PIXELS_LEAST && place->light >= least * place->weight;
}

struct doubts {
	size_t twice, bright;     /* components */
	size_t largest;           /* of the first ones, pixels */
	struct place first, other; /* its two */
};

/* Decides about one component. */
static void
judge(struct component *component, const struct span *span, const struct place *place,
    struct doubts *doubts)
{
	size_t n = (size_t)(span->high - span->low) + 1, best = n, other = n;

	for (size_t k = 0; k < n; k++)
		if (is_bright(&place[k], BRIGHT) &&
		    (best == n || place[k].light > place[best].light))
			best = k;
	for (size_t k = 0; best < n && k < n; k++)
		if (k != best && is_bright(&place[k], DOUBTFUL) &&
		    place[k].weight >= DOUBTFUL_SHARE * place[best].weight &&
		    (other == n || place[k].light > place[other].light))
			other = k;
	if (best == n)
		return;
	if (span->dark > DARK * span->weight) {
		doubts->bright++;
		return;
	}
	if (other < n) {
		doubts->twice++;
		if (component->size > doubts->largest) {
			doubts->largest = component->size;
			doubts->first = place[best];
			doubts->other = place[other];
		}
		return;
	}
	component->shift = span->low + (int32_t)best;
	component->anchored = true;
}

static void
warn_doubts(const struct doubts *doubts)
{
	const struct place *first = &doubts->first, *other = &doubts->other;

	if (doubts->twice)
		warn(NULL, "the marker is at two places of a connected surface, about pixels "
		    "%.0f,%.0f and %.0f,%.0f: its %zu pixels become invalid",
		    first->x / (double)first->pixels, first->y / (double)first->pixels,
		    other->x / (double)other->pixels, other->y / (double)other->pixels,
		    doubts->largest);
	if (doubts->bright)
		warn(NULL, "the marker's image is bright beside the stripe: %zu component%s "
		    "become%s invalid", doubts->bright, doubts->bright > 1 ? "s" : "",
		    doubts->bright > 1 ? "" : "s");
}

int
marker_place(struct components *components, const struct marker *marker)
{
	struct search search = { components, marker, NULL, NULL };
	struct doubts doubts = { 0 };
	size_t places = 0, h = components->patches->h;

	search.span = malloc((components->n + 1) * sizeof(*search.span));
	for (size_t i = 0; search.span && i < components->n; i++)
		search.span[i] = (struct span){ .low = INT32_MAX, .high = INT32_MIN };
	for (size_t y = 0; search.span && y < h; y++)
		find_span(&search, y);
	for (size_t i = 0; search.span && i < components->n; i++) {
		struct span *span = &search.span[i];

		span->first = places;
		if (span->low <= span->high)
			places += (size_t)((int64_t)span->high - span->low) + 1;
	}
	search.place = calloc(places + 1, sizeof(*search.place));
	if (!search.span || !search.place) {
		free(search.span);
		free(search.place);
		return fail_memory();
	}
	for (size_t y = 0; y < h; y++)
		add_light(&search, y);
	for (size_t i = 0; i < components->n; i++)
		if (search.span[i].low <= search.span[i].high)
			judge(&components->component[i], &search.span[i],
			    search.place + search.span[i].first, &doubts);
	warn_doubts(&doubts);
	free(search.span);
	free(search.place);
	return 0;
}
