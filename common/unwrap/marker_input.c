#include "unwrap/marker_input.h"

#include <math.h>
#include <string.h>

#define SAME_PX 0.01	/* places that differ by less are the same */
#define WIDEST 0.75	/* of a period: a wider marker is on more fringes than one */

int
marker_input_check(const struct marker_options *options)
{
	if (options->at.n > 2)
		return fail_usage("--marker-at", "wants a place and a width, not %zu numbers",
		    options->at.n);
	if (options->at.n > 1 && options->at.v[1] <= 0)
		return fail_usage("--marker-at", "a width of %g px is none", options->at.v[1]);
	return 0;
}

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

int
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
