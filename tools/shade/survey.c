#include "survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/large_memory.h"
#include "colours.h"
#include "mesh/jump.h"

/* Values of the points, of each row from its own place on. */
struct values {
	const struct priv *priv;
	const struct frame *in;
	float *value;
	size_t *n;			/* of each row */
};

static void
find_row(void *arg, size_t y)
{
	const struct values *values = arg;
	const struct priv *priv = values->priv;
	const float *of = frame_floats(values->in, priv->value, y), *point[3];
	float *to = values->value + y * values->in->head.w;
	size_t n = 0;

	for (int k = 0; k < 3; k++)
		point[k] = priv->mesh.point[k] == NO_CHANNEL ? of :
		    frame_floats(values->in, priv->mesh.point[k], y);
	for (size_t x = 0; x < values->in->head.w; x++) {
		to[n] = of[x];
		n += shade_there(of[x]) & shade_there(point[0][x]) & shade_there(point[1][x]) &
		    shade_there(point[2][x]);
	}
	values->n[y] = n;
}

/* The range of the points' values. */
static int
find_values(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct values values = { .priv = priv, .in = in };
	size_t w = in->head.w, h = in->head.h, pixels, n = 0;

	if (size_multiply(w, h, &pixels) < 0)
		return -1;
	values.value = large_memory(pixels, sizeof(*values.value));
	values.n = calloc(h, sizeof(*values.n));
	if (!values.value || !values.n) {
		free(values.value);
		free(values.n);
		return fail_memory();
	}
	run_for(run, h, find_row, &values);
	for (size_t y = 0; y < h; n += values.n[y++])
		if (n < y * w)
			memmove(values.value + n, values.value + y * w,
			    values.n[y] * sizeof(*values.value));
	colours_find_range(priv, values.value, n);
	free(values.value);
	free(values.n);
	return 0;
}

static int
find_jump(struct run *run, const struct mesh *channels, const struct frame *in, double *jump)
{
	struct mesh mesh = *channels;
	struct jump_steps steps;
	int status;

	if (frame_to_float(in, &mesh.floats) < 0)
		return -1;
	status = jump_begin(&steps, &mesh);
	if (status == 0) {
		run_for(run, JUMP_PIECES, jump_piece, &steps);
		*jump = jump_end(&steps);
	}
	frame_free(mesh.floats);
	return status;
}

int
survey_frame(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double jump = parameters->jump;

	if (priv->value != NO_CHANNEL && parameters->range.n == 0 && find_values(run, in) < 0)
		return -1;
	if (jump > 0 && jump_check(in, jump, &priv->jump_checked) < 0)
		return -1;
	if (!mesh_has_normals(&priv->mesh) && !(jump > 0) &&
	    find_jump(run, &priv->mesh, in, &jump) < 0)
		return -1;
	priv->jump = (float)jump;
	return 0;
}
