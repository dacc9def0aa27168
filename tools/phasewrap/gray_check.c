#include "gray_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define PIXELS 1024		/* on the coarse grid, about */
#define LEAST 50		/* lit pixels that tell something */
#define LIT 0.5			/* of the mean contrast */
#define OPPOSITE 0.1		/* of lit pixels where an inverse is as bright, at most */
#define ALIKE 0.25		/* where it is no inverse, at least */
#define SAME 0.98		/* of lit pixels where one plane taken twice is, at least */
#define VARIED 0.1		/* of lit pixels bright, and dark, in a plane that tells */

int
gray_check_plan(struct gray_check *check, const struct capture_set *captures,
    const struct frame_head *head)
{
	gray_check_free(check);
	check->off |= captures->codes == 0;
	if (check->off)
		return 0;
	check->grid = coarse_grid(head->w, head->h, PIXELS);
	check->pixel = calloc(coarse_grid_pixels(&check->grid), sizeof(*check->pixel));
	return check->pixel ? 0 : fail_memory();
}

void
gray_check_free(struct gray_check *check)
{
	free(check->pixel);
	check->pixel = NULL;
}

static size_t
images_of(const struct capture_code *code)
{
	return code->inverse ? 2 * code->n : code->n;
}

static size_t
plane_of(const struct capture_code *code, size_t i)
{
	return i < code->n ? code->plane[i] : code->inverse[i - code->n];
}

/* Bright is above the mean of all images of the code, in which inverses are as many as planes. */
static void
look(const struct capture_code *code, const struct frame *frame, size_t y, size_t x,
    uint64_t *bits, float *contrast)
{
	size_t n = images_of(code);
	float mean = 0, least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		float v = frame_sample(frame, plane_of(code, i), y, x);

		mean += v / (float)n;
		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	*bits = 0;
	for (size_t i = 0; i < n; i++)
		*bits |= (uint64_t)(frame_sample(frame, plane_of(code, i), y, x) > mean) << i;
	*contrast = most - least;
}

/* Bands may share rows: both store the same. */
void
gray_check_row(const struct gray_check *check, const struct capture_set *captures,
    const struct frame *frame, size_t y)
{
	if (check->off || y % check->grid.step)
		return;
	for (size_t i = 0; i < check->grid.columns; i++)
		for (size_t a = 0; a < captures->codes; a++) {
			struct gray_check_pixel *to =
			    &check->pixel[coarse_grid_row(&check->grid, y) + i];
			uint64_t bits;
			float contrast;

			look(&captures->code[a], frame, y, i * check->grid.step, &bits, &contrast);
			__atomic_store_n(&to->bits[a], bits, __ATOMIC_RELAXED);
			__atomic_store(&to->contrast[a], &contrast, __ATOMIC_RELAXED);
		}
}

/* The lit pixels of a code. */
struct lit {
	const struct gray_check *check;
	size_t code;
	float contrast;
	double n;
};

static struct lit
find_lit(const struct gray_check *check, size_t code)
{
	struct lit lit = { check, code, 0, 0 };
	size_t pixels = coarse_grid_pixels(&check->grid);
	double sum = 0, n = 0;

	for (size_t p = 0; p < pixels; p++)
		if (isfinite(check->pixel[p].contrast[code])) {
			sum += (double)check->pixel[p].contrast[code];
			n++;
		}
	lit.contrast = n > 0 ? (float)(LIT * sum / n) : 0;
	for (size_t p = 0; p < pixels; p++)
		lit.n += check->pixel[p].contrast[code] > lit.contrast;
	return lit;
}

/* The share of lit pixels where two images are both bright or both dark; of one image with itself
 * under other = SIZE_MAX, where it is bright. */
static double
share_alike(const struct lit *lit, size_t image, size_t other)
{
	size_t pixels = coarse_grid_pixels(&lit->check->grid);
	double n = 0;

	for (size_t p = 0; p < pixels; p++) {
		const struct gray_check_pixel *pixel = &lit->check->pixel[p];
		uint64_t bits = pixel->bits[lit->code];
		bool a = bits >> image & 1, b = other == SIZE_MAX || (bits >> other & 1);

		n += pixel->contrast[lit->code] > lit->contrast && a == b;
	}
	return n / lit->n;
}

/* Are planes i and i + apart, for all i of the first half in steps, opposite, and at least two of
 * them neither all bright nor all dark? */
static bool
are_pairs(const struct lit *lit, size_t n, size_t apart)
{
	size_t varied = 0, half = n / 2;

	for (size_t k = 0; k < half; k++) {
		size_t i = apart == 1 ? 2 * k : k;
		double bright;

		if (share_alike(lit, i, i + apart) > OPPOSITE)
			return false;
		bright = share_alike(lit, i, SIZE_MAX);
		varied += bright > VARIED && bright < 1 - VARIED;
	}
	return varied >= 2;
}

static bool
warn_forgotten(const struct lit *lit, const struct capture_code *code)
{
	bool halves, pairs;

	if (code->inverse || code->n < 4 || code->n % 2)
		return false;
	halves = are_pairs(lit, code->n, code->n / 2);
	pairs = !halves && are_pairs(lit, code->n, 1);
	if (halves || pairs)
		warn("--gray", "of the %zu Gray planes along %c every %s one shows the inverse of "
		    "%s: give --gray %zu --inverse%s", code->n, code->axis,
		    pairs ? "second" : "later", pairs ? "the one before" : "an earlier one",
		    code->n / 2, pairs ? " --order pairs" : "");
	return halves || pairs;
}

/* Are the images, in the order in which they are taken for all planes, then all inverses, pairs of
 * a plane and its inverse; or the other way round? */
static bool
are_in_order(const struct lit *lit, const struct capture_code *code, bool pairs)
{
	for (size_t k = 0; k < code->n; k++) {
		size_t own[2], rank[2] = { 0, 0 };

		/* the images by their place in the measurement */
		for (size_t side = 0; side < 2; side++) {
			size_t wanted = pairs ? 2 * k + side : k + side * code->n;

			own[side] = 0;
			for (size_t i = 0; i < 2 * code->n; i++) {
				rank[side] = 0;
				for (size_t j = 0; j < 2 * code->n; j++)
					rank[side] += plane_of(code, j) < plane_of(code, i);
				if (rank[side] == wanted)
					own[side] = i;
			}
		}
		if (share_alike(lit, own[0], own[1]) > OPPOSITE)
			return false;
	}
	return true;
}

static bool
warn_not_opposite(const struct lit *lit, const struct capture_code *code, bool described,
    const struct image_names *names)
{
	char plane[IMAGE_NAME_SIZE], inverse[IMAGE_NAME_SIZE];

	for (size_t i = 0; code->inverse && i < code->n; i++) {
		double alike = share_alike(lit, i, code->n + i);
		const char *hint = ": are the inverses in the order of the planes?";

		if (alike < ALIKE)
			continue;
		if (are_in_order(lit, code, true))
			hint = described ? ": every plane is followed by its inverse, which is not "
			    "the order that the manifest, or the images' keys, say" :
			    ": every plane is followed by its inverse, --order pairs";
		else if (are_in_order(lit, code, false))
			hint = described ? ": the inverses come behind all planes, which is not "
			    "the order that the manifest, or the images' keys, say" :
			    ": the inverses come behind all planes, not --order pairs";
		warn("--inverse", "image %zu%s, Gray plane %zu along %c, and image %zu%s, taken "
		    "for its inverse, are both bright or both dark at %.0f %% of the lit pixels%s",
		    code->plane[i] + 1, image_names_of(names, code->plane[i], plane), i + 1,
		    code->axis, code->inverse[i] + 1,
		    image_names_of(names, code->inverse[i], inverse), 100 * alike, hint);
		return true;
	}
	return false;
}

/* Where one bit of a Gray code changes no other does, so that no two planes are alike. */
static bool
warn_same(const struct lit *lit, const struct capture_code *code, const struct image_names *names)
{
	char first[IMAGE_NAME_SIZE], second[IMAGE_NAME_SIZE];

	for (size_t i = 1; i < code->n; i++) {
		double bright = share_alike(lit, i, SIZE_MAX);

		for (size_t k = 0; k < i && bright > VARIED && bright < 1 - VARIED; k++) {
			if (share_alike(lit, i, k) < SAME)
				continue;
			warn("--gray", "image %zu%s and image %zu%s, Gray planes %zu and %zu along "
			    "%c, show the same", code->plane[k] + 1,
			    image_names_of(names, code->plane[k], first), code->plane[i] + 1,
			    image_names_of(names, code->plane[i], second), k + 1, i + 1,
			    code->axis);
			return true;
		}
	}
	return false;
}

void
gray_check_warn(struct gray_check *check, const struct capture_set *captures,
    const struct image_names *names)
{
	bool told = false;

	for (size_t a = 0; a < captures->codes && !check->off && !told; a++) {
		struct lit lit = find_lit(check, a);

		told = lit.n >= LEAST && (warn_forgotten(&lit, &captures->code[a]) ||
		    warn_not_opposite(&lit, &captures->code[a], check->described, names) ||
		    warn_same(&lit, &captures->code[a], names));
	}
	check->off = true;
}
