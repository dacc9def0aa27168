#include "whole.h"

#include "fringes.h"
#include "picture.h"
#include "planes.h"

#define BLOCK 16		/* rows that a thread packs at a time */

struct packing {
	const struct priv *priv;
	unsigned char *const *bit;
	const struct frame *in;
	struct frame *out;
};

static void
pack_row(const struct packing *packing, size_t y)
{
	const struct priv *priv = packing->priv;
	size_t w = packing->in->head.w, at = y * w;
	const unsigned char *const bit[4] = { packing->bit[0] + at, packing->bit[1] + at,
		packing->bit[2] + at, packing->bit[3] + at };

	planes_clear_row(packing->out, y);
	planes_pack(bit, &priv->keys, packing->out, y, 0, w, w);
	for (size_t x = 0; x < w; x += PIECE)
		planes_pass_texture(priv, packing->in, packing->out, y, x,
		    w - x < PIECE ? w - x : PIECE);
}

static void
pack_block(void *arg, size_t block)
{
	const struct packing *packing = arg;
	size_t h = packing->in->head.h;

	for (size_t y = block * BLOCK; y < h && y < (block + 1) * BLOCK; y++)
		pack_row(packing, y);
}

static int
pack(struct run *run, unsigned char *const bit[4], const struct frame *in, struct frame **out)
{
	struct priv *priv = run->priv;
	struct packing packing = { priv, bit, in, NULL };

	if (frame_new(&priv->out, out) < 0)
		return -1;
	packing.out = *out;
	run_for(run, (in->head.h + BLOCK - 1) / BLOCK, pack_block, &packing);
	return 0;
}

static int
search(struct run *run, const struct frame *in, struct frame **out)
{
	struct priv *priv = run->priv;
	struct picture picture;
	int status = picture_start(&picture, priv, in);

	if (status == 0)
		status = picture_search(priv, &picture);
	if (status == 0)
		status = pack(run, picture.bit, in, out);
	picture_end(&picture);
	return status;
}

static int
diffuse(struct run *run, const struct frame *in, struct frame **out)
{
	struct priv *priv = run->priv;
	struct diffusion *diffusion = &priv->diffusion;
	int status = priv->keys.method == DITHER_BY_SERPENTINE ?
	    diffuse_serpentine(run, diffusion, in) : diffuse_raster(run, diffusion, in);

	return status < 0 ? -1 : pack(run, diffusion->bit, in, out);
}

int
whole_frame(struct run *run, struct frame *in)
{
	const struct priv *priv = run->priv;
	struct frame *out = NULL;
	int status = fringes_judge(run, in);

	if (status == 0)
		status = priv->keys.method == DITHER_BY_SEARCH ? search(run, in, &out) :
		    diffuse(run, in, &out);
	frame_free(in);
	return status < 0 ? -1 : run_emit(run, out);
}
