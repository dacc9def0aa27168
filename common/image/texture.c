/*
 * The texture of an encoded picture: where it lies (below the code or as a track of its own), and
 * cutting it off again.
 */
#include "image/texture.h"

#include <float.h>
#include <stdio.h>

#include "base/process.h"
#include "base/px.h"
#include "base/text.h"
#include "frame/key_lines.h"

#define ROWS 32		/* that a thread takes at a time */

const char *const texture_places[] = { "alpha", "below", NULL };
const char *const texture_matrices[] = { "rgb", "bt709", NULL };

int
texture_below_is(const struct meta *meta, const char *key)
{
	const char *word = meta_get(meta, key);
	const int place = word_find(texture_places, word);

	return word && place < 0 ? fail(key, "must be alpha or below, not '%.60s'", word) :
	    place == TEXTURE_BELOW;
}

int
texture_options_check(const struct texture_options *options, int standard_place)
{
	if (!options->channel && options->place != standard_place)
		return fail_usage("--texture-place", "is of a texture: give --texture CHANNEL");
	if (!options->channel && options->gain != 1)
		return fail_usage("--texture-gain", "is of a texture: give --texture CHANNEL");
	return 0;
}

int
texture_find(struct run *run, const struct texture_options *options, const struct frame_head *in,
    struct texture_source *out)
{
	const char *at = options->channel;
	char name[CHANNEL_NAME_SIZE];

	for (out->n = 0; at && *at; at += strcspn(at, ","), at += *at == ',') {
		if (out->n == 3)
			return fail_usage("--texture", "is one channel or three, not '%.60s'",
			    options->channel);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
		if (run_channel(run, in, name, &out->channel[out->n++]) < 0)
			return -1;
	}
	return out->n != 2 ? 0 : fail_usage("--texture", "is one channel or three, not '%.60s'",
	    options->channel);
}

int
texture_white(const struct frame_head *head, size_t channel, double *white)
{
	if (head_number(head, "max_value", channel, 255, white) < 0)
		return -1;
	return *white > 0 ? 0 : fail("max_value", "must be more than 0, not %g", *white);
}

int
texture_keys(const struct texture_options *options, const char *prefix, const char *place,
    const char *matrix, double most, const struct frame_head *in, size_t channel, struct meta *out,
    float *levels_per_unit)
{
	char key[64], *names = must_strdup(options->channel);
	double white;
	int status;

	for (char *comma = names; (comma = strchr(comma, ','));)
		*comma = ' ';
	snprintf(key, sizeof(key), "%s_texture", prefix);
	status = meta_set(out, key, names);
	free(names);
	if (status < 0 || texture_white(in, channel, &white) < 0)
		return -1;
	*levels_per_unit = (float)(most * options->gain / white);
	snprintf(key, sizeof(key), "%s_texture_scale", prefix);
	meta_set_number(out, key, white / most / options->gain);
	snprintf(key, sizeof(key), "%s_texture_gain", prefix);
	if (options->gain != 1)
		meta_set_number(out, key, options->gain);
	snprintf(key, sizeof(key), "%s_texture_matrix", prefix);
	if (matrix && meta_set(out, key, matrix) < 0)
		return -1;
	snprintf(key, sizeof(key), "%s_texture_place", prefix);
	return place ? meta_set(out, key, place) : 0;
}

int
texture_colours(const struct meta *meta, const char *prefix, enum texture_matrix *matrix,
    char names[4 * CHANNEL_NAME_SIZE])
{
	char key[64], word[CHANNEL_NAME_SIZE + 1];
	const char *own;
	size_t n = 0;
	int found;

	snprintf(key, sizeof(key), "%s_texture_matrix", prefix);
	if (key_option_word(-1, meta, key, texture_matrices, TEXTURE_GREY, &found) < 0)
		return -1;
	*matrix = (enum texture_matrix)found;
	snprintf(key, sizeof(key), "%s_texture", prefix);
	own = meta_get(meta, key);
	while (own && n < 4 && meta_word(own, n, word, sizeof(word)) &&
	    strlen(word) < CHANNEL_NAME_SIZE && strcmp(word, "depth") != 0)
		n++;
	snprintf(names, 4 * CHANNEL_NAME_SIZE, "%s", n == 3 ? own : "r g b");
	return 0;
}

int
texture_below_rows(const struct meta *meta, const char *prefix, enum texture_matrix matrix,
    size_t *h)
{
	double size[2] = { 0, 0 };
	char key[64];

	snprintf(key, sizeof(key), "%s_size", prefix);
	*h = 0;
	if (matrix == TEXTURE_GREY)
		return 0;
	if (key_pair(meta, key, size) < 0)
		return -1;
	if (!(size[1] >= 1 && size[1] <= INT32_MAX))
		return fail(key, "is missing, or no size: a texture in colour below is found by "
		    "it");
	*h = (size_t)size[1];
	return 0;
}

int
texture_below_plan(struct texture_below *below, bool encodes, struct frame_head *whole,
    const char *names, size_t h, bool colour)
{
	size_t rows;

	if (h == 0 && whole->h % 2)
		return fail(NULL, "a picture with its texture below has an even number of rows, "
		    "not %zu", whole->h);
	h = h ? h : whole->h / 2;
	below->colours = colour ? 3 : 1;
	/* one row between them at least: a row of half the resolution reaches into the next one */
	below->begin = colour ? (h / TEXTURE_BLOCK + 1) * TEXTURE_BLOCK : h;
	if (size_multiply(2, below->begin, &rows) < 0)
		return -1;
	rows -= below->begin - h;
	if (encodes)
		whole->h = rows;
	else if (whole->h != rows)
		return fail(NULL, "the picture has %zu rows, and %zu with its texture below are "
		    "%zu: was it scaled or cut?", whole->h, h, rows);
	head_free(&below->picture);
	head_copy(&below->picture, whole);
	below->picture.h = h;
	return head_set_channels(&below->picture, names);
}

/* The frame of the picture's head, whose planes are the halves of those of the whole one; those of
 * the texture, the last ones, are the lower half of luma, or of the first three. */
static int
make_view(const struct frame *whole, const struct texture_below *below, struct frame **view)
{
	const struct frame_head *head = &below->picture;
	size_t own = head->c - below->colours;

	if (frame_new_empty(head, view) < 0)
		return -1;
	for (size_t c = 0; c < head->c; c++) {
		bool texture = c >= own;
		struct plane *plane = &(*view)->plane[c];

		frame_share(*view, c, whole, !texture ? (c ? whole->head.c - own + c : 0) :
		    below->colours == 3 ? c - own : below->luma);
		if (texture)
			plane->host = (char *)plane->host + below->begin * plane->stride;
		plane->rows = head->h;
	}
	return 0;
}

/* What neither rows of the picture nor of the texture have written. */
static void
fill_rest(struct frame *whole, const struct texture_below *below)
{
	size_t h = below->picture.h, bytes = whole->head.w * sample_size(whole->head.type);
	size_t own = below->picture.c - below->colours;

	for (size_t c = 0; c < whole->head.c; c++) {
		bool flat = c >= 1 && c <= whole->head.c - own;
		bool written = below->colours == 3 ? c < 3 : c == below->luma;
		uint8_t *first = frame_row(whole, c, 0);

		for (size_t x = 0; x < whole->head.w && flat; x++)
			if (whole->head.type == SAMPLE_UCHAR)
				first[x] = (uint8_t)below->middle;
			else
				((uint16_t *)first)[x] = (uint16_t)below->middle;
		for (size_t y = flat ? 1 : h; y < below->begin; y++)
			memcpy(frame_row(whole, c, y),
			    frame_row(whole, c, flat ? 0 : h - 1), bytes);
		for (size_t y = below->begin; y < whole->head.h && !written; y++)
			memcpy(frame_row(whole, c, y), below->grey ?
			    frame_row(whole, below->luma, y) : frame_row(whole, c, h - 1), bytes);
		/* from the row before it the texture's first one takes colour in 4:2:0 */
		for (size_t y = below->begin - 2; below->colours == 3 && c < 3 &&
		    (flat || below->begin - h >= 2) && y < below->begin; y++)
			memcpy(frame_row(whole, c, y), frame_row(whole, c, below->begin), bytes);
	}
}

struct rows_job {
	const struct run *run;
	const struct texture_below *below;
	const struct frame *in;
	struct frame *out;
};

static void
rows_block(void *arg, size_t i)
{
	const struct rows_job *job = arg;
	size_t y0 = i * ROWS, h = job->out->head.h;

	job->below->rows(job->run, job->in, job->out, y0, h - y0 < ROWS ? h : y0 + ROWS, NULL);
}

static void
run_rows(struct run *run, const struct texture_below *below, const struct frame *in,
    struct frame *out)
{
	struct rows_job job = { run, below, in, out };

	run_for(run, (out->head.h + ROWS - 1) / ROWS, rows_block, &job);
}

/* Hands the output on, by the status of its survey and of its making. */
static int
conclude(struct run *run, int status, struct frame *out)
{
	if (status == 0)
		return run_emit(run, out);
	frame_free(out);
	return status == SURVEY_SKIPS ? 0 : -1;
}

int
texture_below_encode(struct run *run, const struct texture_below *below, struct frame *in)
{
	struct frame *out = NULL, *picture = NULL;
	int status = below->survey(run, in);

	if (status == 0)
		status = frame_new(run_output(run), &out);
	if (status == 0)
		status = make_view(out, below, &picture);
	if (status == 0) {
		run_rows(run, below, in, picture);
		fill_rest(out, below);
	}
	frame_free(picture);
	frame_free(in);
	return conclude(run, status, out);
}

int
texture_below_decode(struct run *run, const struct texture_below *below, struct frame *in)
{
	struct frame *picture = NULL, *out = NULL;
	int status = make_view(in, below, &picture);

	frame_free(in);
	if (status == 0)
		status = below->survey(run, picture);
	if (status == 0)
		status = frame_new(run_output(run), &out);
	if (status == 0)
		run_rows(run, below, picture, out);
	frame_free(picture);
	return conclude(run, status, out);
}

#define STRIPES 64		/* of rows, for the threads */
#define WHITE_MOST 127		/* of samples up to 1: a larger one leaves less than two levels */

struct cutting {
	const struct frame *frame;
	size_t channel;
	float least, most;		/* samples beyond are cut */
	size_t cut[STRIPES];
	float low[STRIPES], high[STRIPES];
};

static void
cut_stripe(void *arg, size_t i)
{
	struct cutting *cutting = arg;
	const struct frame_head *head = &cutting->frame->head;
	float least = cutting->least, most = cutting->most, low = FLT_MAX, high = -FLT_MAX;

	for (size_t y = head->h * i / STRIPES; y < head->h * (i + 1) / STRIPES; y++) {
		const float *restrict row = frame_floats(cutting->frame, cutting->channel, y);
		int cut = 0;

		_Pragma("omp simd reduction(min:low) reduction(max:high) reduction(+:cut)")
		for (size_t x = 0; x < head->w; x++) {
			float v = row[x];

			low = v < low ? v : low;
			high = v > high ? v : high;
			cut += (v < least) | (v > most);
		}
		cutting->cut[i] += (size_t)cut;
	}
	cutting->low[i] = low;
	cutting->high[i] = high;
}

bool
texture_warn_black(const char *name, double low, double high, double white)
{
	if (high > 0 && high <= 1 && white > WHITE_MOST)
		warn(NULL, "samples of %s go from %.3g to %.3g, and white is %.6g: the "
		    "texture becomes black; is key max_value what white is?", name, low, high,
		    white);
	return high > 0;
}

void
texture_cut_count(struct texture_cut *cut, struct run *run, const struct frame *frame,
    const struct texture_source *source, float levels_per_unit, float most)
{
	size_t n = 0, number = run_inputs(run) + 1;
	const char *name = frame->head.channel[source->channel[0]];
	float low = FLT_MAX, high = -FLT_MAX;

	if (cut->last == number)
		return;		/* the runner may survey a frame twice */
	cut->last = number;
	for (size_t c = 0; c < source->n; c++) {
		struct cutting cutting = { .frame = frame, .channel = source->channel[c],
			.least = -0.5f / levels_per_unit, .most = (most + 0.5f) / levels_per_unit };

		run_for(run, STRIPES, cut_stripe, &cutting);
		for (size_t i = 0; i < STRIPES; i++) {
			n += cutting.cut[i];
			low = px_min(low, cutting.low[i]);
			high = px_max(high, cutting.high[i]);
		}
	}
	cut->samples += n;
	if (!cut->bright)
		cut->bright = texture_warn_black(name, (double)low, (double)high,
		    (double)(most / levels_per_unit));
	if (n && cut->frames++ == 0)
		warn("--texture", "%zu of %zu samples of %s%s, which go from %.6g to %.6g, lie "
		    "outside of 0 to %.6g and are cut: is key max_value what white is?", n,
		    source->n * frame->head.w * frame->head.h, name, source->n > 1 ?
		    " and the other colours" : "", (double)low, (double)high,
		    (double)(most / levels_per_unit));
}

void
texture_cut_conclude(const struct texture_cut *cut)
{
	if (cut->frames > 1)
		warn("--texture", "in all %zu samples of %zu frames lay outside and were cut",
		    cut->samples, cut->frames);
}

void
texture_warn_colours(const struct frame_head *head, const char *cure, bool *warned)
{
	size_t rgb[3];

	if (*warned || (head_channel(head, "depth") == NO_CHANNEL &&
	    head_channel(head, "z") == NO_CHANNEL) || !head_three(head, "", "rgb", rgb))
		return;
	*warned = true;
	warn("r g b", "the frame's colours are dropped: %s", cure);
}
