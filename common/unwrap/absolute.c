/*
 * Absolute phases: is a phase wrapped, is it known up to turns only, its mean with others, and the
 * options that make components absolute.
 */
#include "unwrap/absolute.h"

#include <math.h>

#include "base/process.h"

#define ROUNDING 1.02	/* turns */
#define WHOLE 0.95	/* of a turn */

bool
wrapped_range_fits(double least, double most, double turn)
{
	return most - least <= ROUNDING * turn;
}

bool
wrapped_range_is_turns(double least, double most)
{
	return ((least >= 0 && most <= 1) || (least >= -0.5 && most <= 0.5)) &&
	    most - least > WHOLE;
}

bool
phase_anchor_is_relative(const struct meta *meta)
{
	const char *anchor = meta_get(meta, "phase_anchor");

	return anchor && strcmp(anchor, "pixel") && strcmp(anchor, "ref") &&
	    strcmp(anchor, "marker");
}

void
phase_mean_weights(const double *period_px, const double *scatter, size_t n, double *weight)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double sigma = period_px[i] * (scatter ? scatter[i] : 1);

		weight[i] = 1 / (sigma * sigma);
		sum += weight[i];
	}
	for (size_t i = 0; i < n; i++)
		weight[i] /= sum;
}

/* ---- the projected marker, and the order of fringes from it ---- */

#define SAME_PX 0.01	/* places that differ by less are the same */
#define WIDEST 0.75	/* of a period: a wider marker is on more fringes than one */

/* Which of several words, one per marker, is this axis's; 0 where there is one. SIZE_MAX: none. */
static size_t
find_axis(const struct meta *meta, char axis)
{
	const char *axes = meta_get(meta, "marker_axis");
	char word[8];

	for (size_t i = 0; axes && meta_word(axes, i, word, sizeof(word)); i++)
		if (word[0] == axis)
			return i;
	return axes ? SIZE_MAX : 0;
}

/* The channel of the input itself: marker, or marker1 and marker2. */
static int
find_channel(const struct frame_head *in, char axis, size_t *channel)
{
	static const char *const names[] = { "marker1", "marker2" };
	size_t only = head_channel(in, "marker"), i = find_axis(&in->meta, axis);

	*channel = NO_CHANNEL;
	if (only == NO_CHANNEL && head_channel(in, "marker1") == NO_CHANNEL)
		return 0;
	if (i > 1)
		return fail(NULL, "the marker is one along %s, the phase varies along %c",
		    meta_get(&in->meta, "marker_axis"), axis);
	*channel = only != NO_CHANNEL ? only : head_channel(in, names[i]);
	return 0;
}

/* Which plane of the file is the marker's, of images that say what they are: a whole set may be
 * given. *i: its word in lists of a word for each image. */
static int
find_image(const struct run *run, const struct frame_head *in, const struct frame_head *file,
    char axis, size_t *channel, size_t *i)
{
	const char *roles = file ? meta_get(&file->meta, "role") : NULL;
	const char *axes = file ? meta_get(&file->meta, "axis") : NULL;
	char word[32], own[8] = "";
	size_t n = roles ? meta_words(roles) : 0;

	*i = file ? find_axis(&file->meta, axis) : 0;
	if (n == 0 || (n != file->c && n != 1))
		return run_second_input(run, in, "marker", NULL, channel);
	for (size_t k = 0; k < n; k++) {
		bool is_marker = meta_word(roles, k, word, sizeof(word)) && !strcmp(word, "marker");
		bool along = !axes || meta_words(axes) != n ||
		    (meta_word(axes, k, own, sizeof(own)) && own[0] == axis);

		if (!is_marker || !along)
			continue;
		*i = n > 1 ? k : *i;
		return run_second_input(run, in, "marker", file->channel[k], channel);
	}
	meta_word(roles, 0, word, sizeof(word));
	if (n > 1)
		return fail("--marker", "none of its %zu images is a marker along %c, by the key "
		    "role", n, axis);
	return fail("--marker", "its first image is no marker along %c, but has the role %s: give "
	    "the marker's image alone, or the whole set as one frame (framecat --stack)", axis,
	    word);
}

/* Number i of a list in the metadata; NaN where it is not there. */
static int
number_at(const struct meta *meta, const char *key, size_t i, double *out)
{
	const char *list = meta_get(meta, key);
	char word[64];

	*out = NAN;
	if (!list || !meta_word(list, i, word, sizeof(word)) || !strcmp(word, "-"))
		return 0;
	return number_parse(word, out) == 0 && isfinite(*out) ? 0 :
	    fail(key, "is not a number: %.60s", word);
}

/* Where it is: the option, else the keys of the frame that its image is in. */
static int
find_place(const struct marker_options *options, const struct meta *meta, char axis, size_t i,
    double period_px, double *px, double *width_px)
{
	double size[2] = { INFINITY, INFINITY };

	*width_px = period_px / 2;
	if (number_at(meta, "marker_px", i, px) < 0)
		return -1;
	if (options->at.n) {
		if (meta_get(meta, "projector_px") &&
		    (number_at(meta, "projector_px", 0, &size[0]) < 0 ||
		    number_at(meta, "projector_px", 1, &size[1]) < 0))
			return -1;
		if (options->at.v[0] > size[axis == 'y'])
			return fail("--marker-at", "%g lies outside the projector's %g pixels",
			    options->at.v[0], size[axis == 'y']);
		if (!isnan(*px) && fabs(*px - options->at.v[0]) > SAME_PX)
			warn("--marker-at", "%g wins over the key marker_px, %g",
			    options->at.v[0], *px);
		*px = options->at.v[0];
		*width_px = options->at.n > 1 ? options->at.v[1] : *width_px;
		return 0;
	}
	if (isnan(*px))
		return fail(NULL, "nothing says where the marker is (key marker_px, which the "
		    "manifest of fringegen --marker holds): give --marker-at");
	if (meta_get(meta, "marker_width_px") &&
	    number_at(meta, "marker_width_px", i, width_px) < 0)
		return -1;
	return 0;
}

/*
 * For plan: the channels and the place for a phase of this period (NaN: not known) along the axis
 * that the key of `phase` names. marker->channel is NO_CHANNEL where no image of a marker is there.
 * marker->frame is left to the caller. -1 after fail().
 */
static int
marker_input_plan(const struct run *run, const struct marker_options *options,
    const struct frame_head *in, const struct meta *phase, double period_px, struct marker *out)
{
	const struct frame_head *file = run_second_input_head(run, "marker", 0);
	const char *word = meta_get(phase, "axis");
	char axis = word && *word == 'y' ? 'y' : 'x';
	size_t i = find_axis(&in->meta, axis);
	double px, width_px;

	out->channel = NO_CHANNEL;
	if ((options->file ? find_image(run, in, file, axis, &out->channel, &i) :
	    find_channel(in, axis, &out->channel)) < 0)
		return -1;
	if (out->channel == NO_CHANNEL)
		return options->at.n ? fail("--marker-at", "the input has no image of a marker: "
		    "give --marker") : 0;
	if (!(period_px > 0))
		return fail(NULL, "a marker needs to know the fringes' period: give phasewrap "
		    "--period, or the key period_px");
	if (run_channel(run, in, "texture", &out->texture) < 0 ||
	    run_channel(run, in, "modulation", &out->modulation) < 0 ||
	    find_place(options, file ? &file->meta : &in->meta, axis, i, period_px, &px,
	    &width_px) < 0)
		return -1;
	if (width_px > WIDEST * period_px)
		return fail("--marker-at", "a marker %g px wide does not tell fringes of %g px "
		    "apart", width_px, period_px);
	out->turns = px / period_px;
	out->width_turns = width_px / period_px;
	return 0;
}

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
	bool crest = !meta_get(&marker->frame->head.meta, "texture_from");

	for (size_t x = 0; x < search->components->patches->w; x++) {
		double ratio = (double)modulation[x];
		double mean = (double)texture[x] / (crest ? 1 + ratio : 1);
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

/* Gives every component that shows the marker at one place, and at no other, its turns. Warns of
 * those that show it twice, or are bright where they should be dark. */
static void
marker_place(struct components *components, const struct marker *marker)
{
	struct search search = { components, marker, NULL, NULL };
	struct doubts doubts = { 0 };
	size_t places = 0, h = components->patches->h;

	search.span = must_alloc(components->n + 1, sizeof(*search.span));
	for (size_t i = 0; i < components->n; i++)
		search.span[i] = (struct span){ .low = INT32_MAX, .high = INT32_MIN };
	for (size_t y = 0; y < h; y++)
		find_span(&search, y);
	for (size_t i = 0; i < components->n; i++) {
		struct span *span = &search.span[i];

		span->first = places;
		if (span->low <= span->high)
			places += (size_t)((int64_t)span->high - span->low) + 1;
	}
	search.place = must_alloc(places + 1, sizeof(*search.place));
	for (size_t y = 0; y < h; y++)
		add_light(&search, y);
	for (size_t i = 0; i < components->n; i++)
		if (search.span[i].low <= search.span[i].high)
			judge(&components->component[i], &search.span[i],
			    search.place + search.span[i].first, &doubts);
	warn_doubts(&doubts);
	free(search.span);
	free(search.place);
}

const char *
absolute_given(const struct absolute_options *options)
{
	return options->anchor.n	  ? "--anchor"
	    : options->ref		  ? "--ref"
	    : options->marker.file	  ? "--marker"
	    : options->marker.at.n	  ? "--marker-at"
	    : options->min_size > 1	  ? "--min-size"
					  : NULL;
}

int
absolute_check(const struct absolute_options *options)
{
	const struct numbers *anchor = &options->anchor, *at = &options->marker.at;

	if (anchor->n % 3)
		return fail_usage("--anchor",
		    "wants a column, a row and a phase in rad for each pixel, not %zu "
		    "numbers",
		    anchor->n);
	for (size_t i = 2; i < anchor->n; i += 3)
		if (!(fabs(anchor->v[i]) < 2 * M_PI * (double)PHASE_MOST))
			return fail_usage("--anchor", "%g rad is no phase", anchor->v[i]);
	if (anchor->n && options->ref)
		return fail_usage(NULL, "give --anchor or --ref, not both");
	if ((options->marker.file || options->marker.at.n) && (anchor->n || options->ref))
		return fail_usage(
		    NULL, "give --marker or --%s, not both", anchor->n ? "anchor" : "ref");
	if (at->n > 2)
		return fail_usage("--marker-at", "wants a place and a width, not %zu numbers",
		    at->n);
	if (at->n > 1 && at->v[1] <= 0)
		return fail_usage("--marker-at", "a width of %g px is none", at->v[1]);
	return 0;
}

/* Radians of two periods cannot be compared. */
static int
check_period(const struct meta *own, const struct meta *ref)
{
	double own_px, ref_px;

	if (!meta_get(own, "period_px") || !meta_get(ref, "period_px") ||
	    meta_words(meta_get(own, "period_px")) > 1)
		return 0;
	if (meta_number(own, "period_px", 0, &own_px) < 0 ||
	    meta_number(ref, "period_px", 0, &ref_px) < 0)
		return -1;
	return fabs(own_px - ref_px) <= 1e-6 * own_px
	    ? 0
	    : fail("--ref", "is a phase of fringes of %g px, the input one of %g px", ref_px,
		  own_px);
}

/* The word of phase_anchor. Beside a reference that is off by turns itself, the phase is off by the
 * same. */
static const char *
find_word(const struct absolute *absolute, const struct frame_head *ref)
{
	bool relative = ref && phase_anchor_is_relative(&ref->meta);

	return ref				 ? relative ? "relative" : "ref"
	    : absolute->options->anchor.n	 ? "pixel"
	    : absolute->marker.channel != NO_CHANNEL ? "marker"
						 : "none";
}

int
absolute_plan(const struct run *run, const struct absolute_options *options,
    const struct frame_head *in, double period_px, struct meta *out, struct absolute *absolute)
{
	const struct frame_head *ref = run_second_input_head(run, "ref", 0);

	absolute->options = options;
	absolute->ref = absolute->marker.channel = NO_CHANNEL;
	if (options->ref && run_second_input(run, in, "ref", "absphase", &absolute->ref) < 0)
		return -1;
	if (ref && (ref->type != SAMPLE_FLOAT || meta_get(&ref->meta, "role")))
		return fail("--ref", "holds an image, not an absolute phase");
	if (ref && check_period(out, &ref->meta) < 0)
		return -1;
	if (options->anchor.n == 0 && !options->ref &&
	    marker_input_plan(run, &options->marker, in, out, period_px, &absolute->marker) < 0)
		return -1;
	return meta_set(out, "phase_anchor", find_word(absolute, ref));
}

int
absolute_place(const struct absolute *absolute, struct components *components,
    const struct frame *in, double rad)
{
	const struct absolute_options *options = absolute->options;
	struct marker marker = absolute->marker;
	bool by_marker = marker.channel != NO_CHANNEL;
	bool anchored = options->anchor.n > 0 || options->ref || by_marker;
	size_t lost = 0, kept = 0, all = 0;

	marker.frame = in;
	if (!anchored)
		components_center(components);
	else if (options->ref)
		components_refer(components, in, absolute->ref, rad);
	else if (by_marker)
		marker_place(components, &marker);
	else if (components_anchor(components, &options->anchor, rad) < 0)
		return -1;
	components_number(components, (size_t)options->min_size, anchored);
	for (size_t i = 0; i < components->n; i++) {
		const struct component *component = &components->component[i];

		all += component->size;
		kept += component->label > 0;
		lost += anchored && !component->anchored ? component->size : 0;
	}
	if (all > 0 && by_marker && lost == all)
		warn(NULL, "no pixel is valid: the marker is found nowhere");
	else if (all > 0 && kept == 0)
		warn(NULL, "no pixel is valid: no component has --min-size %ld pixels%s",
		    options->min_size,
		    !anchored       ? ""
			: by_marker ? " and the marker"
				    : " and an anchor or a reference");
	else if (10 * lost > all)
		warn(NULL, "%.1f %% of the valid pixels are connected to no %s and become invalid",
		    100 * (double)lost / (double)all,
		    options->ref	? "pixel of --ref"
			: by_marker ? "marker"
				    : "--anchor");
	return 0;
}
