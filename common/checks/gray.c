/*
 * Check of Gray planes and their inverses: are they what they are taken for? A plane and its
 * inverse are opposite wherever there is light; two planes of a code are not.
 */
#include "checks/checks.h"

#include <math.h>
#include <string.h>

#include "checks/image_names.h"
#include "fringe/capture_set.h"

#define SAMPLED_PIXELS 1024	/* about */
#define MIN_LIT_PIXELS 50	/* that tell something */
#define LIT_CONTRAST 0.5	/* of the mean contrast; shares are of pixels with more */
#define MAX_OPPOSITE_SHARE 0.1	/* where a plane and its inverse are alike */
#define MIN_ALIKE_SHARE 0.25	/* where a plane and what is no inverse are alike */
#define MIN_SAME_SHARE 0.98	/* where one plane taken twice is alike */
#define MIN_VARIED_SHARE 0.1	/* bright, and dark, in a plane that tells something */

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

#define MOST_PIXELS (4 * SAMPLED_PIXELS)
#define MOST_IMAGES 48		/* capture_set.c takes 24 planes of a code, and their inverses */

/* The pixels of a code that are looked at, a bit each. */
struct lit {
	uint64_t bright[MOST_IMAGES][MOST_PIXELS / 64];	/* of plane i, or inverse i - n */
	uint64_t is_lit[MOST_PIXELS / 64];
	float contrast[MOST_PIXELS];
	size_t pixels;
	double n;		/* of those that are lit */
};

/* Bright is above the mean of all images of the code, in which inverses are as many as planes. */
static void
look(const struct capture_code *code, const struct frame *frame, size_t i, size_t x,
    struct lit *lit)
{
	size_t n = images_of(code), at = lit->pixels++;
	float mean = 0, least = INFINITY, most = -INFINITY, v[MOST_IMAGES];

	for (size_t k = 0; k < n; k++) {
		v[k] = frame_sample(frame, plane_of(code, k), i, x);
		mean += v[k] / (float)n;
		least = v[k] < least ? v[k] : least;
		most = v[k] > most ? v[k] : most;
	}
	for (size_t k = 0; k < n; k++)
		lit->bright[k][at / 64] |= (uint64_t)(v[k] > mean) << at % 64;
	lit->contrast[at] = most - least;
}

static void
find_lit(const struct check_rows *rows, const struct capture_code *code, struct lit *lit)
{
	struct check_grid grid = check_grid(rows, SAMPLED_PIXELS);
	double sum = 0, n = 0;

	memset(lit, 0, sizeof(*lit));
	for (size_t i = 0; i < grid.rows; i++)
		for (size_t x = check_grid_shift(&grid, i);
		    x < rows->frame.head.w && lit->pixels < MOST_PIXELS; x += grid.step)
			look(code, &rows->frame, i, x, lit);
	for (size_t p = 0; p < lit->pixels; p++)
		if (isfinite(lit->contrast[p])) {
			sum += (double)lit->contrast[p];
			n++;
		}
	for (size_t p = 0; p < lit->pixels; p++)
		if (n > 0 && (double)lit->contrast[p] > LIT_CONTRAST * sum / n) {
			lit->is_lit[p / 64] |= UINT64_C(1) << p % 64;
			lit->n++;
		}
}

/* The share of lit pixels where two images are both bright or both dark; of one image with itself
 * under other = SIZE_MAX, where it is bright. */
static double
share_alike(const struct lit *lit, size_t image, size_t other)
{
	int n = 0;

	for (size_t k = 0; k < (lit->pixels + 63) / 64; k++) {
		uint64_t a = lit->bright[image][k];
		uint64_t alike = other == SIZE_MAX ? a : ~(a ^ lit->bright[other][k]);

		n += __builtin_popcountll(alike & lit->is_lit[k]);
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

		if (share_alike(lit, i, i + apart) > MAX_OPPOSITE_SHARE)
			return false;
		bright = share_alike(lit, i, SIZE_MAX);
		varied += bright > MIN_VARIED_SHARE && bright < 1 - MIN_VARIED_SHARE;
	}
	return varied >= 2;
}

static bool
fire_forgotten(const struct lit *lit, const struct capture_code *code, struct check_line *line)
{
	bool halves, pairs;

	if (code->inverse || code->n < 4 || code->n % 2)
		return false;
	halves = are_pairs(lit, code->n, code->n / 2);
	pairs = !halves && are_pairs(lit, code->n, 1);
	if (halves || pairs)
		check_fire(line, "--gray", "of the %zu Gray planes along %c every %s one shows the "
		    "inverse of %s: give --gray %zu --inverse%s", code->n, code->axis,
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
		if (share_alike(lit, own[0], own[1]) > MAX_OPPOSITE_SHARE)
			return false;
	}
	return true;
}

static bool
fire_not_opposite(const struct lit *lit, const struct capture_code *code, bool described,
    const struct image_names *names, struct check_line *line)
{
	char plane[IMAGE_NAME_SIZE], inverse[IMAGE_NAME_SIZE];

	for (size_t i = 0; code->inverse && i < code->n; i++) {
		double alike = share_alike(lit, i, code->n + i);
		const char *hint = ": are the inverses in the order of the planes?";

		if (alike < MIN_ALIKE_SHARE)
			continue;
		if (are_in_order(lit, code, true))
			hint = described ? ": every plane is followed by its inverse, which is not "
			    "the order that the manifest, or the images' keys, say" :
			    ": every plane is followed by its inverse, --order pairs";
		else if (are_in_order(lit, code, false))
			hint = described ? ": the inverses come behind all planes, which is not "
			    "the order that the manifest, or the images' keys, say" :
			    ": the inverses come behind all planes, not --order pairs";
		return check_fire(line, "--inverse", "image %zu%s, Gray plane %zu along %c, and "
		    "image %zu%s, taken for its inverse, are both bright or both dark at "
		    "%.0f %% of the lit pixels%s",
		    code->plane[i] + 1, image_names_of(names, code->plane[i], plane), i + 1,
		    code->axis, code->inverse[i] + 1,
		    image_names_of(names, code->inverse[i], inverse), 100 * alike, hint);
	}
	return false;
}

/* Where one bit of a Gray code changes no other does, so that no two planes are alike. */
static bool
fire_same(const struct lit *lit, const struct capture_code *code, const struct image_names *names,
    struct check_line *line)
{
	char first[IMAGE_NAME_SIZE], second[IMAGE_NAME_SIZE];

	for (size_t i = 1; i < code->n; i++) {
		double bright = share_alike(lit, i, SIZE_MAX);

		if (bright < MIN_VARIED_SHARE || bright > 1 - MIN_VARIED_SHARE)
			continue;
		for (size_t k = 0; k < i; k++) {
			if (share_alike(lit, i, k) < MIN_SAME_SHARE)
				continue;
			return check_fire(line, "--gray", "image %zu%s and image %zu%s, Gray "
			    "planes %zu and %zu along %c, show the same", code->plane[k] + 1,
			    image_names_of(names, code->plane[k], first), code->plane[i] + 1,
			    image_names_of(names, code->plane[i], second), k + 1, i + 1,
			    code->axis);
		}
	}
	return false;
}

static bool
gray_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct capture_set *captures = facts->captures;
	const struct image_names names = image_names_sampled(facts, sample);
	struct lit lit;

	for (size_t a = 0; a < captures->codes; a++) {
		const struct capture_code *code = &captures->code[a];

		find_lit(&sample->in, code, &lit);
		if (lit.n >= MIN_LIT_PIXELS && (fire_forgotten(&lit, code, line) ||
		    fire_not_opposite(&lit, code, facts->roles_stated, &names, line) ||
		    fire_same(&lit, code, &names, line)))
			return true;
	}
	return false;
}

static bool
gray_applies(const struct check_facts *facts, const struct check_heads *)
{
	return facts->captures && facts->captures->codes;
}

static void
gray_channels(const struct check_facts *facts, const struct check_heads *, bool *in, bool *)
{
	for (size_t a = 0; a < facts->captures->codes; a++)
		for (size_t i = 0; i < images_of(&facts->captures->code[a]); i++)
			in[plane_of(&facts->captures->code[a], i)] = true;
}

const struct check check_gray = {
	.name = "gray", .rank = 1, .looks = CHECK_INPUT, .applies = gray_applies,
	.channels = gray_channels, .judge = gray_judge
};
