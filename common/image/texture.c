/*
 * The texture of an encoded picture: where it lies (below the code or as a track of its own), and
 * cutting it off again.
 */
#include "image/texture.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "run/run.h"
#include "run/stage.h"

#define ROWS 32		/* that a thread takes at a time */

const char *const texture_places[] = { "alpha", "below", NULL };

int
texture_below_is(const struct meta *meta, const char *key)
{
	const char *word = meta_get(meta, key);

	for (int i = 0; word && texture_places[i]; i++)
		if (!strcmp(word, texture_places[i]))
			return i == TEXTURE_BELOW;
	return word ? fail(key, "must be alpha or below, not '%.60s'", word) : 0;
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
texture_keys(const struct texture_options *options, const char *prefix, const char *place,
    double most, const struct meta *in, struct meta *out, float *levels_per_unit)
{
	char key[64];
	double white;

	if (meta_number(in, "max_value", 255, &white) < 0)
		return -1;
	if (!(white > 0))
		return fail("max_value", "must be more than 0, not %g", white);
	*levels_per_unit = (float)(most * options->gain / white);
	snprintf(key, sizeof(key), "%s_texture", prefix);
	if (meta_set(out, key, options->channel) < 0)
		return -1;
	snprintf(key, sizeof(key), "%s_texture_scale", prefix);
	if (meta_set_number(out, key, white / most / options->gain) < 0)
		return -1;
	snprintf(key, sizeof(key), "%s_texture_gain", prefix);
	if (options->gain != 1 && meta_set_number(out, key, options->gain) < 0)
		return -1;
	snprintf(key, sizeof(key), "%s_texture_place", prefix);
	return place ? meta_set(out, key, place) : 0;
}

int
texture_below_head(const struct frame_head *whole, const char *names, struct frame_head *head)
{
	if (whole->h % 2)
		return fail(NULL, "a picture with its texture below has an even number of rows, "
		    "not %zu", whole->h);
	if (head_copy(head, whole) < 0)
		return -1;
	head->h = whole->h / 2;
	if (head_set_channels(head, names) == 0)
		return 0;
	head_free(head);
	return -1;
}

/* The frame of the picture's head, whose planes are the halves of those of the whole one; that of
 * the texture, the last one, is the lower half of luma. */
static int
make_view(const struct frame *whole, const struct frame_head *head, size_t luma,
    struct frame **view)
{
	struct plane *below;

	if (frame_new_empty(head, view) < 0)
		return -1;
	for (size_t c = 0; c + 1 < head->c; c++) {
		frame_share(*view, c, whole, c);
		(*view)->plane[c].rows = head->h;
	}
	frame_share(*view, head->c - 1, whole, luma);
	below = &(*view)->plane[head->c - 1];
	below->host = (char *)below->host + head->h * below->stride;
	below->rows = head->h;
	return 0;
}

static void
fill_below(struct frame *whole, size_t luma, bool grey)
{
	size_t h = whole->head.h / 2, bytes = whole->head.w * sample_size(whole->head.type);

	for (size_t c = 0; c < whole->head.c; c++)
		for (size_t y = h; y < 2 * h && c != luma; y++)
			memcpy(frame_row(whole, c, y), grey ? frame_row(whole, luma, y) :
			    frame_row(whole, c, h - 1), bytes);
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
	struct frame_head head = below->out;
	struct frame *out = NULL, *picture = NULL;
	int status = below->survey(run, in);

	head.meta = *run_output_meta(run);
	if (status == 0)
		status = frame_new(&head, &out);
	if (status == 0)
		status = make_view(out, &below->picture, below->luma, &picture);
	if (status == 0) {
		run_rows(run, below, in, picture);
		fill_below(out, below->luma, below->grey);
	}
	frame_free(picture);
	frame_free(in);
	return conclude(run, status, out);
}

int
texture_below_decode(struct run *run, const struct texture_below *below, struct frame *in)
{
	struct frame *picture = NULL, *out = NULL;
	int status = make_view(in, &below->picture, below->luma, &picture);

	frame_free(in);
	if (status == 0)
		status = below->survey(run, picture);
	if (status == 0)
		status = frame_new(&below->out, &out);
	if (status == 0)
		run_rows(run, below, picture, out);
	frame_free(picture);
	return conclude(run, status, out);
}

void
texture_below_free(struct texture_below *below)
{
	head_free(&below->picture);
	head_free(&below->out);
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
    size_t channel, float levels_per_unit, float most)
{
	struct cutting cutting = { .frame = frame, .channel = channel,
		.least = -0.5f / levels_per_unit, .most = (most + 0.5f) / levels_per_unit };
	size_t n = 0, number = run_inputs(run) + 1;
	float low = FLT_MAX, high = -FLT_MAX;

	if (cut->last == number)
		return;		/* the runner may survey a frame twice */
	cut->last = number;
	run_for(run, STRIPES, cut_stripe, &cutting);
	for (size_t i = 0; i < STRIPES; i++) {
		n += cutting.cut[i];
		low = px_min(low, cutting.low[i]);
		high = px_max(high, cutting.high[i]);
	}
	cut->samples += n;
	if (!cut->bright)
		cut->bright = texture_warn_black(frame->head.channel[channel], (double)low,
		    (double)high, (double)(most / levels_per_unit));
	if (n && cut->frames++ == 0)
		warn("--texture", "%zu of %zu samples of %s, which go from %.6g to %.6g, lie "
		    "outside of 0 to %.6g and are cut: is key max_value what white is?", n,
		    frame->head.w * frame->head.h, frame->head.channel[channel], (double)low,
		    (double)high, (double)(most / levels_per_unit));
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
	if (*warned || (head_channel(head, "depth") == NO_CHANNEL &&
	    head_channel(head, "z") == NO_CHANNEL) || head_channel(head, "r") == NO_CHANNEL ||
	    head_channel(head, "g") == NO_CHANNEL || head_channel(head, "b") == NO_CHANNEL)
		return;
	*warned = true;
	warn("r g b", "the frame's colours are dropped: %s", cure);
}
