/* shade from the camera on the device: one pass. */
#include "run/passes.h"
#include "shade.block.h"
#include "shade.h"

static void
pack(const struct run *run, struct shade_block *block)
{
	const struct priv *priv = run->priv;
	const struct mesh *mesh = &priv->mesh;

	*block = (struct shade_block){
		.x = SHADE_NONE, .z = (uint)mesh->point[2], .normal[0] = SHADE_NONE,
		.value = SHADE_NONE, .sign = mesh->towards ? -1 : 1,
		.right = (float)mesh->spacing[0], .down = (float)mesh->spacing[1],
		.jump = priv->jump, .low = priv->low, .span = priv->high - priv->low,
		.lone = priv->lone, .plaster = PLASTER,
		.background = priv->background, .nan = priv->nan,
		.light = priv->light,
	};
	if (mesh->point[0] != NO_CHANNEL) {
		block->x = (uint)mesh->point[0];
		block->y = (uint)mesh->point[1];
	}
	for (int k = 0; k < 3 && mesh_has_normals(mesh); k++)
		block->normal[k] = (uint)mesh->normal[k];
	if (priv->value != NO_CHANNEL)
		block->value = (uint)priv->value;
}

int
shade_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	struct shade_block block;
	const float (*anchor)[3];
	size_t anchors = colormap_anchors(priv->map, &anchor);
	struct pass pass = { .shader = SHADER(shade), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	pack(run, &block);
	block.last = (float)(anchors - 1);
	for (int k = 0; k < 3; k++) {
		passes_read(passes, priv->mesh.point[k]);
		if (mesh_has_normals(&priv->mesh))
			passes_read(passes, priv->mesh.normal[k]);
	}
	passes_read(passes, priv->value);
	if (passes_constant(passes, anchor, anchors * sizeof(*anchor)) < 0)
		return -1;
	return passes_add(passes, &pass);
}
