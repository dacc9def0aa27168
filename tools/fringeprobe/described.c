/* Images that say what they are: is it what they show? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

#define SHIFT_OFF (20 * M_PI / 180)
#define RATIO_OFF 0.01

static const struct capture_options no_options = {
	.kind = CAPTURES_ALL, .steps = LONG_MIN, .flats = LONG_MIN, .gray_cell = -1,
	.flat = FLAT_DESCRIBED
};

/* The head of all images as one frame. */
static int
gather_head(const struct probe *probe, struct frame_head *head)
{
	const struct meta **meta = calloc(probe->n, sizeof(*meta));
	size_t *planes = calloc(probe->n, sizeof(*planes));
	int status = meta && planes ? 0 : fail_memory();

	for (size_t i = 0; i < probe->n && status == 0; i++) {
		meta[i] = &probe->image[i]->head.meta;
		planes[i] = 1;
	}
	if (status == 0)
		status = head_init(head, probe->image[0]->head.w, probe->image[0]->head.h,
		    probe->n, probe->image[0]->head.type);
	if (status == 0) {
		meta_free(&head->meta);
		status = meta_gather(&head->meta, meta, planes, probe->n);
	}
	free(meta);
	free(planes);
	return status;
}

/* The content's set that holds all images of a described one; NULL: none. */
static const struct fringe_set *
content_of(const struct probe *probe, const struct capture_fringe *fringe)
{
	size_t set = SIZE_MAX;

	for (size_t k = 0; k < fringe->n; k++) {
		size_t i = fringe->plane[k];

		if (i >= probe->n || probe->sets.set[i] == SIZE_MAX ||
		    (k && probe->sets.set[i] != set))
			return NULL;
		set = probe->sets.set[i];
	}
	return set == SIZE_MAX ? NULL : &probe->sets.fringe[set];
}

/* The shift of image i, which may show what another one shows. */
static double
shift_of(const struct probe *probe, const struct fringe_set *set, size_t i)
{
	size_t shown = probe->sets.kind[i] == KIND_TWIN ? probe->sets.other[i] : i;

	for (size_t k = 0; k < set->steps.n; k++)
		if (set->steps.image[k] == shown)
			return set->steps.shift_rad[k];
	return (double)NAN;
}

/* Checks the shifts of one set in both directions of its fringes. */
static int
check_shifts(struct probe *probe, const struct capture_fringe *fringe,
    const struct fringe_set *set)
{
	size_t worst = 0;
	double off[2] = { 0 };
	char name[CAPTURE_SET_NAME_SIZE];

	for (int sign = 0; sign < 2; sign++)
		for (size_t k = 1; k < fringe->n; k++) {
			double shown = shift_of(probe, set, fringe->plane[k]) -
			    shift_of(probe, set, fringe->plane[0]);
			double described = fringe->shift_rad[k] - fringe->shift_rad[0];
			double d = fabs(remainder((sign ? -shown : shown) - described, 2 * M_PI));

			if (d > off[sign]) {
				off[sign] = d;
				worst = k;
			}
		}
	if (fmin(off[0], off[1]) < SHIFT_OFF)
		return 0;
	return probe_problem(probe, "%s: the images have other shifts than they say, by %.0f "
	    "degrees, %s for one: files that were exchanged?", capture_set_name(fringe, name),
	    fmin(off[0], off[1]) * 180 / M_PI, probe_name(probe, fringe->plane[worst]));
}

static int
check_ratio(struct probe *probe, const struct capture_fringe *a, const struct capture_fringe *b)
{
	const struct fringe_set *in_a = content_of(probe, a), *in_b = content_of(probe, b);
	const struct field *field;
	struct growth growth;
	double described = a->period_px / b->period_px;
	char first[CAPTURE_SET_NAME_SIZE], second[CAPTURE_SET_NAME_SIZE];

	if (!in_a || !in_b || !in_a->phase || !in_b->phase || in_a->axis != in_b->axis)
		return 0;
	field = &probe->sets.field[in_a->axis];
	if (growth_find(field->lines, field->length, in_a->phase, in_b->phase, &growth) < 0)
		return -1;
	if (!(fabs(growth.ratio - described) > RATIO_OFF * described + 3 * growth.error))
		return 0;
	return probe_problem(probe, "%s and %s: the images' periods have the ratio %.4f, not %.4f",
	    capture_set_name(a, first), capture_set_name(b, second), growth.ratio, described);
}

static int
check_code(struct probe *probe, const struct capture_code *described)
{
	for (size_t c = 0; c < probe->gray.codes; c++) {
		const struct gray_code *code = &probe->gray.code[c];

		if ("xy"[code->axis] != described->axis || code->n != described->n ||
		    !memcmp(code->plane, described->plane, code->n * sizeof(*code->plane)))
			continue;
		return probe_problem(probe, "the Gray planes along %c are not in the order that "
		    "they say", described->axis);
	}
	return 0;
}

/* How many images are one measurement, by the manifest or the key set_images; 0: unknown. */
static int
count_described(const struct probe *probe, size_t *n)
{
	const struct meta *meta = &probe->image[0]->head.meta;
	double images = 0;

	*n = 0;
	if (probe->manifest_path)
		*n = manifest_measurement(&probe->manifest);
	else if (meta_number(meta, "set_images", 0, &images) < 0)
		return -1;
	else if (images >= 3 && images <= (double)probe->n)
		*n = (size_t)images;
	return 0;
}

/* Images without description among others that have one are left out. */
static int
leave_silent(struct probe *probe)
{
	size_t n = 0;

	for (size_t i = 0; i < probe->n; i++) {
		struct image *image = probe->image[i];
		struct manifest_row row = { 0 };

		if (!meta_get(&image->head.meta, "role")) {
			image->left = true;
			if (probe_problem(probe, "%s does not say what it is, as the others do: "
			    "it is left out", image->name) < 0)
				return -1;
			continue;
		}
		if (manifest_row_from_meta(&image->head.meta, image->name, &row) < 0)
			return -1;
		free(row.file);
		probe->image[n++] = image;
	}
	probe->n = n;
	return 0;
}

int
described_choose(struct probe *probe)
{
	size_t roles = 0, n;

	for (size_t i = 0; i < probe->n; i++)
		roles += meta_get(&probe->image[i]->head.meta, "role") != NULL;
	probe->described = 2 * roles > probe->n || probe->manifest_path;
	if (!probe->described)
		return 0;
	if (!probe->manifest_path && leave_silent(probe) < 0)
		return -1;
	if (count_described(probe, &n) < 0)
		return -1;
	probe->measurements = 1;
	if (n > 0 && probe->n > n) {
		probe->measurements = probe->n / n;
		if (probe->n % n && probe_problem(probe, "%zu images are described, a measurement "
		    "has %zu: %zu are too many, or some are missing", probe->n, n,
		    probe->n % n) < 0)
			return -1;
		probe->n = n;
	}
	return 0;
}

int
described_check(struct probe *probe)
{
	const struct capture_set *captures = &probe->captures;
	struct manifest measurement = { 0 };
	struct frame_head head = { 0 };
	int status;

	if (!probe->described)
		return 0;
	if (probe->manifest_path)
		measurement = (struct manifest){ manifest_measurement(&probe->manifest),
			probe->manifest.row };
	status = gather_head(probe, &head);
	if (status == 0)
		status = capture_set_sort(&no_options, probe->manifest_path ? &measurement : NULL,
		    &head, &probe->captures);
	head_free(&head);
	for (size_t k = 0; k < captures->fringes && status == 0; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		const struct fringe_set *set = content_of(probe, fringe);
		char name[CAPTURE_SET_NAME_SIZE];

		if (fringe->two_plus_one || (!set && probe->sets.n == 0))
			continue;	/* where no set is found nothing contradicts */
		if (!set)
			status = probe_problem(probe, "%s: the images do not show the same fringes "
			    "moved", capture_set_name(fringe, name));
		else
			status = check_shifts(probe, fringe, set);
		for (size_t j = 0; j < k && status == 0; j++)
			status = check_ratio(probe, &captures->fringe[j], fringe);
	}
	for (size_t c = 0; c < captures->codes && status == 0; c++)
		status = check_code(probe, &captures->code[c]);
	return status;
}
