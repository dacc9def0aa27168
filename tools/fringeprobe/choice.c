/* Which images are looked at: those of one size and type, all in colour or all grey. */
#include "choice.h"

#include <stdlib.h>

#define IMAGES_MOST 200		/* images are compared with each other */

static bool
same_size(const struct image *a, const struct image *b)
{
	return a->head.w == b->head.w && a->head.h == b->head.h && a->head.type == b->head.type;
}

/* The size that most images have, of those that are kept. */
static const struct image *
usual_size(const struct images *images)
{
	const struct image *best = NULL;
	size_t most = 0, kept = images->n < IMAGES_KEPT ? images->n : IMAGES_KEPT;

	for (size_t i = 0; i < kept; i++) {
		size_t n = 0;

		for (size_t j = 0; j < kept; j++)
			n += same_size(&images->image[i], &images->image[j]);
		if (n > most) {
			most = n;
			best = &images->image[i];
		}
	}
	return best;
}

static int
skip_image(struct probe *probe, const struct image *image, const struct image *usual, bool colour)
{
	char reason[160];

	if (colour)
		snprintf(reason, sizeof(reason), "is in colour, the others are not");
	else
		snprintf(reason, sizeof(reason), "is %zu x %zu %s, not %zu x %zu %s", image->head.w,
		    image->head.h, sample_name(image->head.type), usual->head.w, usual->head.h,
		    sample_name(usual->head.type));
	return images_skip(&probe->images, image->of_file > 1 ? image->name : image->path, reason);
}

const char *
choice_colour_hint(const struct probe *probe)
{
	return probe->colour ? "; red, green and blue of each may be three steps, which nothing "
	    "here tells: phasewrap --rgb" : "";
}

int
choice_make(struct probe *probe, const char *object)
{
	struct images *images = &probe->images;
	const struct image *usual = usual_size(images);
	size_t alike = 0, colour = 0;

	probe->image = calloc(images->n, sizeof(*probe->image));
	if (!probe->image)
		return fail_memory();
	for (size_t i = 0; i < images->n; i++)
		if (same_size(&images->image[i], usual)) {
			alike++;
			colour += images->image[i].colour;
		}
	probe->colour = 2 * colour > alike;
	for (size_t i = 0; i < images->n; i++) {
		struct image *image = &images->image[i];
		bool fits = same_size(image, usual);

		if (fits && image->colour <= probe->colour)
			probe->image[probe->n++] = image;
		else if (skip_image(probe, image, usual, fits) < 0)
			return -1;
		else
			image->left = true;
	}
	if (probe->n > IMAGES_MOST || images->more || images->n > IMAGES_KEPT) {
		size_t n = probe->n, most = n < IMAGES_MOST ? n : IMAGES_MOST;

		while (most > 0 && !probe->image[most - 1]->line[0])
			most--;
		if (probe_problem(probe, images->more ? "more than %zu images: only the first %zu "
		    "are looked at" : "%zu images: only the first %zu are looked at",
		    images->more ? (size_t)IMAGES_READ : n, most) < 0)
			return -1;
		probe->n = most;
	}
	if (probe->n < 3)
		return fail(object, "no fringe images: %zu image%s of %zu x %zu %s, and three of "
		    "one size is the least%s", probe->n, probe->n == 1 ? "" : "s", usual->head.w,
		    usual->head.h, sample_name(usual->head.type), choice_colour_hint(probe));
	return 0;
}
