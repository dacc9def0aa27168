#include "image_list.h"

#include "run/passes.h"

void
image_list_add_fringe(struct phasewrap_image **at, struct passes *passes,
    const struct capture_fringe *fringe, const struct phase_shift_fit *fit)
{
	for (size_t i = 0; i < fringe->n; i++) {
		const struct phase_shift_weights *weight = &fit->weights[i];

		passes_read(passes, fringe->plane[i]);
		*(*at)++ = (struct phasewrap_image){ (uint)fringe->plane[i], 0, weight->mean,
			weight->c, weight->s, fit->model[i].cosine, fit->model[i].sine };
	}
}

void
image_list_add_plane(struct phasewrap_image **at, struct passes *passes, size_t plane,
    size_t inverse)
{
	passes_read(passes, plane);
	passes_read(passes, inverse);
	*(*at)++ = (struct phasewrap_image){ .plane = (uint)plane, .inverse = (uint)inverse };
}

void
image_list_add_code(struct phasewrap_image **at, struct passes *passes,
    const struct capture_code *code)
{
	for (size_t k = 0; k < code->n; k++)
		image_list_add_plane(at, passes, code->plane[k],
		    code->inverse ? code->inverse[k] : code->plane[k]);
}
