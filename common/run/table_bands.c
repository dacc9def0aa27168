#include "run/table_bands.h"

#include <string.h>

#include "base/progress.h"
#include "run/sampler.h"
#include "run/second_input.h"

#define PIECE 4096		/* columns; a multiple of 64, so that pieces begin at 64 bytes */

static size_t
piece_stride(const struct frame_head *head)
{
	return frame_stride(PIECE, head->type);
}

/* Columns x to x + n - 1 of a plane; the stride is that of the piece, so that who copies a row
 * copies no more. */
static struct plane
columns(struct plane plane, size_t x, size_t n)
{
	plane.host = (char *)plane.host + x * sample_size(plane.type);
	plane.stride = frame_stride(n, plane.type);
	return plane;
}

void
table_bands_lay_out(struct segment *segment)
{
	segment->bytes = 0;
	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];

		segment->offset[k] = segment->bytes;
		if (k + 1 < segment->n)
			segment->bytes += link->out.c * piece_stride(&link->out);
		segment->scratch_offset[k] = segment->bytes;
		segment->bytes += (link->run.scratch_bytes + 63) & ~(size_t)63;
	}
}

size_t
table_bands_pieces(const struct segment *segment)
{
	return (segment->in->head.w + PIECE - 1) / PIECE;
}

/* The piece of all planes of map k's input: those of the map before, second inputs, state. */
static void
place_input(const struct segment *segment, size_t k, struct band_memory *band, size_t x,
    size_t n)
{
	const struct link *link = &segment->link[k];
	const struct frame_head *before = k ? &segment->link[k - 1].out : &segment->in->head;
	struct plane *in = band->in[k];
	size_t c = before->c;

	for (size_t i = 0; i < before->c; i++)
		in[i] = k ? band->out[k - 1][i] : columns(segment->in->plane[i], x, n);
	second_inputs_lend(link, in + c);
	for (size_t i = 0; i < link->second_inputs; i++)
		for (size_t p = 0; p < link->second_input[i].frame->head.c; p++, c++)
			if (link->second_input[i].opt->type == OPT_FRAME)
				in[c] = columns(in[c], x, n);
	for (size_t i = 0; i < link->run.state; i++)
		in[c + i] = columns(link->state[0]->plane[i], x, n);
}

static void
place_output(const struct segment *segment, size_t k, struct band_memory *band, size_t x,
    size_t n)
{
	const struct link *link = &segment->link[k];
	size_t stride = piece_stride(&link->out);

	for (size_t c = 0; c < link->out.c; c++) {
		size_t from = segment_passed_from(segment, k, c);

		if (k + 1 == segment->n)
			band->out[k][c] = columns(segment->out->plane[c], x, n);
		else if (from != NO_CHANNEL)
			band->out[k][c] = band->in[k][from];
		else
			band->out[k][c] = (struct plane){
				.host = (char *)band->memory + segment->offset[k] + c * stride,
				.stride = frame_stride(n, link->out.type), .type = link->out.type };
	}
	for (size_t i = 0; i < link->run.state; i++)
		band->out[k][link->out.c + i] = columns(link->state[1]->plane[i], x, n);
}

void
table_bands_run(void *arg, size_t item, int thread)
{
	const struct segment *segment = arg;
	struct band_memory *band = &segment->chain->memory[thread];
	size_t x = item * PIECE, n = segment->in->head.w - x;

	band->worked = true;
	if (n > PIECE)
		n = PIECE;
	for (size_t k = 0; k < segment->n; k++) {
		struct link *link = &segment->link[k];
		struct frame in = { link->in, band->in[k] }, out = { link->out, band->out[k] };
		struct row_scratch scratch = { 0 };

		in.head.w = out.head.w = n;
		if (link->run.scratch_bytes)
			scratch.memory = (char *)band->memory + segment->scratch_offset[k];
		place_input(segment, k, band, x, n);
		place_output(segment, k, band, x, n);
		band->seconds[k] -= progress_seconds();
		link->run.body->rows(&link->run, &in, &out, 0, 1, &scratch);
		band->seconds[k] += progress_seconds();
		all_invalid_scan(&link->all_invalid, &in, (k ? segment->link[k - 1].out :
		    segment->in->head).c, &out, 0, 1);
		check_sample_take_columns(segment->sample[k], &in, &out, x, n);
	}
}
