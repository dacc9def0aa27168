/*
 * Which rows of a frame checks look at, and how these are copied (check.h).
 *
 * The rows depend on the height of the image alone. Whoever makes rows hands them to
 * check_sample_take() while they are in cache: the threads that take bands through a segment, each
 * the rows of its own bands, so that no row is copied twice. A flow's frames are whole: thread 0
 * copies. What the device makes is downloaded, or copied from the finished frame (device.c).
 */
#include "run/sampler.h"

#include <math.h>

#include "base/process.h"
#include "run/second_input.h"

/* ---- which rows ---- */

/* A part of 1 for each group, without a period: fringes along y are seen at all phases. */
static double
golden_part(size_t i)
{
	double part = 0.618 * (double)i;

	return part - floor(part);
}

static void
choose_rows(struct check_rows *rows, size_t h, size_t group)
{
	size_t n = CHECK_GROUPS * group;

	rows->group = group < h ? group : h;
	if (h <= n) {
		n = h / rows->group * rows->group;
		for (size_t i = 0; i < n; i++)
			rows->y[i] = i;
	} else {
		double cell = (double)h / CHECK_GROUPS;

		for (size_t i = 0; i < n; i++)
			rows->y[i] = i % group + (size_t)((double)(i / group) * cell +
			    golden_part(i / group) * (cell - (double)group));
	}
	rows->frame.head.h = n;
}

struct check_grid
check_grid(const struct check_rows *rows, size_t pixels)
{
	const struct frame_head *head = &rows->frame.head;
	size_t step = head->w * head->h / pixels;

	if (step < 1)
		step = 1;
	return (struct check_grid){ step, (head->w + step - 1) / step, head->h };
}

size_t
check_grid_shift(const struct check_grid *grid, size_t i)
{
	return (size_t)(golden_part(i) * (double)grid->step);
}

const struct check_rows *
check_second(const struct check_sample *sample, const char *option)
{
	for (size_t i = 0; i < sample->seconds; i++)
		if (!strcmp(sample->second[i].option, option))
			return &sample->second[i];
	return NULL;
}

/* ---- room for them ---- */

/* Of an image of this head the channels that `wanted` marks; NULL: all. */
static void
open_rows(struct check_rows *rows, const struct frame_head *head, const bool *wanted, size_t group)
{
	size_t w = head->w, bytes = 0, at = 0, stride;

	rows->frame.head = *head;
	rows->height = head->h;
	rows->column_step = 1;
	if (head_is_table(head) && w > CHECK_TABLE_COLUMNS)
		rows->column_step = w / CHECK_TABLE_COLUMNS;
	rows->frame.head.w = (w + rows->column_step - 1) / rows->column_step;
	choose_rows(rows, head->h, group);
	if (head->c > rows->planes) {
		rows->planes = head->c;
		rows->frame.plane = must_resize(rows->frame.plane, head->c,
		    sizeof(*rows->frame.plane));
	}
	stride = frame_stride(rows->frame.head.w, head->type);
	for (size_t c = 0; c < head->c; c++)
		bytes += !wanted || wanted[c] ? stride * rows->frame.head.h : 0;
	if (bytes > rows->bytes) {
		free(rows->memory);
		rows->memory = must_aligned(bytes, 1);
		rows->bytes = bytes;
	}
	for (size_t c = 0; c < head->c; c++) {
		bool used = !wanted || wanted[c];

		rows->frame.plane[c] = (struct plane){ .stride = stride, .type = head->type,
			.host = used ? (char *)rows->memory + at : NULL };
		at += used ? stride * rows->frame.head.h : 0;
	}
}

static void
free_rows(struct check_rows *rows)
{
	free(rows->frame.plane);
	free(rows->memory);
	*rows = (struct check_rows){ 0 };
}

void
check_sample_free(struct check_sample *sample)
{
	free_rows(&sample->in);
	free_rows(&sample->out);
	for (size_t i = 0; i < sample->seconds; i++)
		free_rows(&sample->second[i]);
	free(sample->second);
	free(sample->valid);
	*sample = (struct check_sample){ 0 };
}

/* ---- copying ---- */

/* Channel from_c of a frame to sampled row i of channel c, as floats where the rows are floats. */
static void
copy_row(const struct check_rows *rows, size_t c, size_t i, const struct frame *from,
    size_t from_c)
{
	const struct frame *to = &rows->frame;

	if (from->plane[from_c].type == to->plane[c].type) {
		memcpy(frame_row(to, c, i), frame_row(from, from_c, rows->y[i]),
		    to->head.w * sample_size(to->head.type));
		return;
	}
	for (size_t x = 0; x < to->head.w; x++)
		frame_floats(to, c, i)[x] = frame_sample(from, from_c, rows->y[i], x);
}

static void
take_rows(struct check_rows *rows, const struct frame *from, size_t y0, size_t y1)
{
	size_t i = 0, n = rows->frame.head.h;

	while (i < n && rows->y[i] < y0)
		i++;
	for (; i < n && rows->y[i] < y1; i++)
		for (size_t c = 0; c < rows->frame.head.c; c++)
			if (rows->frame.plane[c].host)
				copy_row(rows, c, i, from, c);
}

static void
take_columns(struct check_rows *rows, const struct frame *from, size_t x, size_t n)
{
	size_t step = rows->column_step, first = (x + step - 1) / step;
	size_t size = sample_size(rows->frame.head.type);

	for (size_t c = 0; c < rows->frame.head.c; c++)
		for (size_t i = first; i * step < x + n && rows->frame.plane[c].host; i++)
			memcpy((char *)frame_row(&rows->frame, c, 0) + i * size,
			    (char *)frame_row(from, c, 0) + (i * step - x) * size, size);
}

void
check_sample_take(struct check_sample *sample, const struct frame *in, const struct frame *out,
    size_t y0, size_t y1)
{
	if (!sample || !sample->on)
		return;
	take_rows(&sample->in, in, y0, y1);
	take_rows(&sample->out, out, y0, y1);
}

void
check_sample_take_columns(struct check_sample *sample, const struct frame *in,
    const struct frame *out, size_t x, size_t n)
{
	if (!sample || !sample->on)
		return;
	take_columns(&sample->in, in, x, n);
	take_columns(&sample->out, out, x, n);
}

void
check_rows_copy(struct check_rows *rows, size_t c, const struct frame *frame, size_t from_c)
{
	for (size_t i = 0; i < rows->frame.head.h; i++)
		copy_row(rows, c, i, frame, from_c);
}

/* Keeps the mask of the input at hand, at the sampled rows of the input. */
static void
take_mask(const struct link *link, struct check_sample *sample)
{
	const struct frame *mask = link->second_input[link->second_inputs].frame;
	size_t w = mask->head.w, n = sample->in.frame.head.h;
	bool *valid = must_resize(sample->valid, n, w * sizeof(*valid));

	sample->valid = valid;
	for (size_t i = 0; i < n; i++)
		for (size_t x = 0; x < w; x++)
			valid[i * w + x] = frame_mask_keeps(mask, x, sample->in.y[i]);
}

static void
mask_rows(const struct check_rows *rows, const struct check_rows *of, const bool *valid)
{
	const struct frame_head *head = &rows->frame.head;

	if (head->type != SAMPLE_FLOAT || head->w != of->frame.head.w || rows->height != of->height)
		return;
	for (size_t c = 0; c < head->c; c++)
		for (size_t i = 0; i < head->h && rows->frame.plane[c].host; i++)
			for (size_t x = 0; x < head->w; x++)
				if (!valid[i * head->w + x])
					frame_floats(&rows->frame, c, i)[x] = NAN;
}

void
check_sample_mask(const struct check_sample *sample)
{
	if (!sample->valid || !sample->on)
		return;
	mask_rows(&sample->out, &sample->in, sample->valid);
	mask_rows(&sample->in, &sample->in, sample->valid);
}

void
check_sample_whole(struct check_sample *sample, const struct frame *in)
{
	sample->whole = sample->valid ? NULL : in;
	for (size_t c = 0; in && c < in->head.c; c++)
		if (!in->plane[c].host)
			sample->whole = NULL;
}

/* All of a frame that lies whole in memory. */
static void
take_frame(struct check_rows *rows, const struct frame *from)
{
	if (head_is_table(&from->head))
		take_columns(rows, from, 0, from->head.w);
	else
		take_rows(rows, from, 0, from->head.h);
}

/* ---- a frame begins ---- */

/* The larger one of a group, and that of a check. */
static size_t
larger_group(size_t group, const struct check *check, const struct check_facts *facts)
{
	bool along_y = facts->orders && facts->orders->axis == 'y';
	size_t own = along_y && check->group_along_y ? check->group_along_y : check->group;

	return own > group ? own : group;
}

/* What the active checks look at together: enum check_looks; channels of input and output. */
static unsigned
find_wanted(const struct link_checks *checks, const struct check_heads *heads, bool *in, bool *out,
    size_t *group)
{
	unsigned looks = 0;

	*group = 1;
	for (size_t i = 0; i < checks->n; i++) {
		const struct check *check = checks->check[i];

		if (!check_is_active(checks, i))
			continue;
		looks |= check->looks;
		*group = larger_group(*group, check, &checks->facts);
		if (check->channels) {
			check->channels(&checks->facts, heads, in, out);
			continue;
		}
		for (size_t c = 0; c < heads->own && check->looks & CHECK_INPUT; c++)
			in[c] = true;
		for (size_t c = 0; c < heads->out->c && check->looks & CHECK_OUTPUT; c++)
			out[c] = true;
	}
	return looks;
}

size_t
check_own_channels(const struct link *link)
{
	size_t own = link->in.c;

	for (size_t i = 0; i < link->second_inputs; i++)
		own -= link->second_input[i].planned.c;
	return own;
}

/* Second inputs are whole frames: all their rows are there already. Uses the plan's head: the
 * frame's own is freed when the next frame is read, and a device may still need it. */
static void
take_seconds(const struct link *link, struct check_sample *sample, size_t group)
{
	if (!sample->second && link->second_inputs) {
		sample->second = must_alloc(link->second_inputs, sizeof(*sample->second));
		sample->seconds = link->second_inputs;
	}
	for (size_t i = 0; i < sample->seconds; i++) {
		const struct second_input *second = &link->second_input[i];

		sample->second[i].option = second->opt->name;
		open_rows(&sample->second[i], &second->planned, NULL, group);
		take_frame(&sample->second[i], second->frame);
	}
}

void
checks_begin(struct link *link, struct check_sample *sample)
{
	struct link_checks *checks = link->checks;
	struct frame_head own = link->in;
	struct check_heads heads = { &link->in, &link->out, check_own_channels(link) };
	bool *wants = checks->wants;
	size_t group;
	unsigned looks;

	memset(wants, 0, (link->in.c + link->out.c) * sizeof(*wants));
	looks = find_wanted(checks, &heads, wants, wants + link->in.c, &group);
	sample->number = link->inputs;
	sample->lost = link->run.chain->losses.n > 0;
	sample->on = looks & (CHECK_INPUT | CHECK_OUTPUT);
	own.c = heads.own;
	if (link->masks_result)
		own.type = SAMPLE_FLOAT;
	if (sample->on)
		open_rows(&sample->in, &own, wants, group);
	/* what a flow emits is not known yet */
	if (sample->on && !link->run.body->frame)
		open_rows(&sample->out, &link->out, wants + link->in.c, group);
	if (sample->on && link->masks_result) {
		take_mask(link, sample);
	} else {
		free(sample->valid);
		sample->valid = NULL;
	}
	if (looks & CHECK_SECOND)
		take_seconds(link, sample, group);
}

/* ---- flows ---- */

void
checks_flow_take(struct link *link, const struct frame *in)
{
	struct link_checks *checks = link->checks;

	if (!checks)
		return;
	checks_begin(link, &checks->sample);
	if (checks->sample.on)
		take_frame(&checks->sample.in, in);
	checks_judge(link, &checks->sample, CHECK_TAKEN);
}

void
run_judge(struct run *run)
{
	if (run->link->checks)
		checks_judge(run->link, &run->link->checks->sample, CHECK_EMITTED);
}

void
checks_flow_emit(struct link *link, const struct frame *out)
{
	struct link_checks *checks = link->checks;
	struct check_heads heads = { .in = &link->in, .out = &out->head };
	size_t group = 1;
	unsigned looks = 0;

	if (!checks)
		return;
	heads.own = check_own_channels(link);
	for (size_t i = 0; i < checks->n; i++) {
		const struct check *check = checks->check[i];

		if (!(check->looks & (CHECK_OUTPUT | CHECK_RESULTS)))
			continue;
		checks->state[i].applies = !check->applies ||
		    check->applies(&checks->facts, &heads);
		if (!check_is_active(checks, i))
			continue;
		looks |= check->looks;
		group = larger_group(group, check, &checks->facts);
	}
	if (looks & CHECK_OUTPUT) {
		open_rows(&checks->sample.out, &out->head, NULL, group);
		take_frame(&checks->sample.out, out);
	}
	if (looks)
		checks_judge(link, &checks->sample, CHECK_EMITTED);
}
