/* From files to what they are. */
#define _GNU_SOURCE
#include "probe.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define IMAGES_MOST 200		/* images are compared with each other */
#define SATURATED_SHARE 1e-3	/* of an image that is exactly at its largest value */

int
probe_problem(struct probe *probe, const char *format, ...)
{
	char **more = reallocarray(probe->problem, probe->problems + 1, sizeof(*more));
	va_list args;
	int n;

	if (!more)
		return fail_memory();
	probe->problem = more;
	va_start(args, format);
	n = vasprintf(&more[probe->problems], format, args);
	va_end(args);
	if (n < 0)
		return fail_memory();
	probe->problems++;
	return 0;
}

const char *
probe_name(const struct probe *probe, size_t i)
{
	return probe->image[i]->name;
}

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

static const char *
colour_hint(const struct probe *probe)
{
	return probe->colour ? "; red, green and blue of each may be three steps, which nothing "
	    "here tells: phasewrap --rgb" : "";
}

/* Images of one size that are all in colour or all grey. */
static int
choose_images(struct probe *probe, const char *object)
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
		    usual->head.h, sample_name(usual->head.type), colour_hint(probe));
	return 0;
}

/* Does every image of every fringe set come so many times? Then how often; else 1. */
static size_t
count_measurements(const struct probe *probe)
{
	size_t times = 0;

	for (size_t i = 0; i < probe->n; i++) {
		size_t n = 1;

		if (probe->sets.kind[i] != KIND_FRINGE)
			continue;
		for (size_t j = 0; j < probe->n; j++)
			n += probe->sets.kind[j] == KIND_TWIN && probe->sets.other[j] == i;
		if (times && n != times)
			return 1;
		times = n;
	}
	return times && probe->n % times == 0 ? times : 1;
}

/* Several measurements of the same: the first one is looked at. */
static int
find_sets(struct probe *probe)
{
	size_t times;

	if (sets_find(probe->image, probe->n, &probe->sets) < 0)
		return -1;
	times = probe->measurements > 1 ? 1 : count_measurements(probe);
	if (times > 1) {
		probe->measurements = times;
		probe->n /= times;
		sets_free(&probe->sets);
		if (sets_find(probe->image, probe->n, &probe->sets) < 0)
			return -1;
	}
	return gray_find(&probe->sets, &probe->gray);
}

/* Images that are steps of a whole turn in order, or belong to a Gray code. */
static size_t
count_known(const struct probe *probe)
{
	size_t n = 0;

	for (size_t k = 0; k < probe->sets.n; k++) {
		const struct fringe_set *set = &probe->sets.fringe[k];

		n += set->flat || (set->order.of == set->steps.n && set->order.ordered) ?
		    set->steps.n : 0;
	}
	for (size_t i = 0; i < probe->n; i++)
		n += probe->sets.kind[i] > KIND_TWIN && !probe->gray.parts;
	return n * probe->measurements;
}

/* Where something fits nothing, noise may be the reason: is more known of lines that are smooth? */
static int
find_smooth_sets(struct probe *probe)
{
	struct probe before = *probe;
	size_t n = probe->n * probe->measurements, known = count_known(probe);
	int status;

	if (known >= n || probe->described)
		return 0;
	probe->n = n;
	probe->measurements = 1;
	probe->sets = (struct sets){ 0 };
	status = images_smooth(probe->image, n);
	if (status == 0)
		status = find_sets(probe);
	probe->smooth = status == 0 && count_known(probe) > known;
	if (!probe->smooth) {
		sets_free(&probe->sets);
		images_unsmooth(probe->image, n);
		*probe = before;
		return status;
	}
	sets_free(&before.sets);
	for (size_t k = 0; k < probe->sets.n; k++) {
		struct steps *steps = &probe->sets.fringe[k].steps;

		steps->noise *= sqrt(IMAGES_SMOOTH);	/* of one pixel */
		steps->residual *= sqrt(IMAGES_SMOOTH);
	}
	return 0;
}

static size_t
first_image(const struct fringe_set *set)
{
	size_t first = SIZE_MAX;

	for (size_t k = 0; k < set->steps.n; k++)
		if (set->steps.image[k] < first)
			first = set->steps.image[k];
	return first;
}

/* Can both be taken in one go? phasewrap has one number of steps, one list of shifts, one sign. */
static bool
go_together(const struct fringe_set *a, const struct fringe_set *b)
{
	bool same = a->steps.n == b->steps.n && a->order.of == b->order.of &&
	    a->flat == b->flat && (a->order.of || a->flat) && a->order.sign == b->order.sign;

	for (size_t k = 0; k < a->steps.n && same; k++)
		same = a->order.place[k] == b->order.place[k];
	return same || a == b;
}

/* The largest number of sets that go together, sorted by their first images. */
static int
choose_sets(struct probe *probe)
{
	const struct fringe_set *all = probe->sets.fringe;
	size_t best = 0, most = 0;

	for (size_t k = 0; k < probe->sets.n; k++) {
		size_t n = 0;

		for (size_t j = 0; j < probe->sets.n; j++)
			n += go_together(&all[k], &all[j]) ? all[j].steps.n : 0;
		if (n > most) {
			most = n;
			best = k;
		}
	}
	for (size_t k = 0; k < probe->sets.n; k++) {
		size_t at = probe->chosen;

		if (!go_together(&all[best], &all[k])) {
			if (probe_problem(probe, "the %zu images that begin with %s have other "
			    "steps than the other sets, and are left out", all[k].steps.n,
			    probe_name(probe, first_image(&all[k]))) < 0)
				return -1;
			continue;
		}
		for (; at > 0 && first_image(&all[probe->set[at - 1]]) > first_image(&all[k]); at--)
			probe->set[at] = probe->set[at - 1];
		probe->set[at] = k;
		probe->chosen++;
	}
	return 0;
}

static int
find_frequencies(struct probe *probe)
{
	const struct gray_code *code = NULL;
	int axis = probe->chosen ? probe->sets.fringe[probe->set[0]].axis : 0;

	for (size_t k = 0; k < probe->chosen; k++)
		if (probe->sets.fringe[probe->set[k]].axis != axis) {
			for (size_t j = 0; j < probe->chosen; j++)
				probe->frequencies.value[j] = (double)NAN;
			return 0;
		}
	for (size_t c = 0; c < probe->gray.codes; c++)
		if (probe->gray.code[c].axis == axis)
			code = &probe->gray.code[c];
	return probe->chosen ? frequencies_find(&probe->sets, probe->set, probe->chosen, code,
	    &probe->frequencies) : 0;
}

/* The level at which the chosen images saturate, and the share of pixels that reach it in one. */
static void
find_saturation(struct probe *probe)
{
	enum sample type = probe->image[0]->head.type;
	double most = 0, share = 0, seen = 0, reached = 0;
	const struct field *field;

	for (size_t i = 0; i < probe->n; i++) {
		if (probe->image[i]->max > most)
			share = 0;
		most = fmax(most, probe->image[i]->max);
		if (probe->image[i]->max == most)
			share = fmax(share, probe->image[i]->share_max);
	}
	probe->saturation = type == SAMPLE_UCHAR ? 255 : type == SAMPLE_USHORT ? 65535 : INFINITY;
	for (int bits = 9; bits < 16 && type == SAMPLE_USHORT; bits++)
		if (most == (double)((1 << bits) - 1) && share > SATURATED_SHARE) {
			probe->saturation = most;
			probe->max_value = true;
		}
	if (!probe->chosen)
		return;
	field = &probe->sets.field[probe->sets.fringe[probe->set[0]].axis];
	for (size_t p = 0; p < field->lines * field->length; p++) {
		bool at = false;

		for (size_t i = 0; i < probe->n && field->lit[p]; i++)
			at = at || (probe->sets.kind[i] == KIND_FRINGE &&
			    (double)field->v[i][p] >= probe->saturation);
		seen += field->lit[p];
		reached += at;
	}
	probe->saturated = seen > 0 ? reached / seen : 0;
}

/* The two planes that are in each other's place, most or least significant first; false: others. */
static bool
find_exchanged_planes(const struct gray_code *code, size_t exchanged[2])
{
	for (int lsb_first = 0; lsb_first < 2; lsb_first++) {
		size_t n = 0;

		for (size_t k = 0; k < code->n; k++) {
			size_t place = 0;

			for (size_t j = 0; j < code->n; j++)
				place += code->plane[j] < code->plane[k];
			if (place == (lsb_first ? code->n - 1 - k : k))
				continue;
			if (n < 2)
				exchanged[n] = code->plane[k];
			n++;
		}
		if (n != 2)
			continue;
		if (exchanged[0] > exchanged[1]) {
			size_t first = exchanged[1];

			exchanged[1] = exchanged[0];
			exchanged[0] = first;
		}
		return true;
	}
	return false;
}

/* What does not fit among the planes of a code. */
static int
find_plane_problems(struct probe *probe, const struct gray_code *code)
{
	size_t exchanged[2];
	int status = 0;

	if (code->blurred)
		status = probe_problem(probe, "%zu of the Gray planes, the finest, show%s no "
		    "stripes", code->blurred, code->blurred == 1 ? "s" : "");
	if (status == 0 && code->order == GRAY_MIXED && find_exchanged_planes(code, exchanged))
		status = probe_problem(probe, "the Gray planes %s and %s seem to be exchanged",
		    probe_name(probe, exchanged[0]), probe_name(probe, exchanged[1]));
	else if (status == 0 && code->order == GRAY_MIXED)
		status = probe_problem(probe, "the Gray planes come neither with the most nor with "
		    "the least significant first");
	for (size_t k = 0; k < code->n && status == 0; k++)
		if (code->inverted[k])
			status = probe_problem(probe, "the Gray plane %s is inverted: it is bright "
			    "where it should be dark", probe_name(probe, code->plane[k]));
	if (status == 0 && code->swapped)
		status = probe_problem(probe, "%zu of the Gray planes %s changed place%s with %s "
		    "inverse%s", code->swapped, code->swapped == 1 ? "has" : "have",
		    code->swapped == 1 ? "" : "s", code->swapped == 1 ? "its" : "their",
		    code->swapped == 1 ? "" : "s");
	return status;
}

/* Of a code that is not complete, which decodes nothing. */
static int
find_missing_plane(struct probe *probe, const struct gray_code *part)
{
	const char *behind = probe_name(probe, part->plane[part->gap]);
	const char *before = probe_name(probe, part->plane[part->gap ? part->gap - 1 : 0]);

	switch (part->missing) {
	case GRAY_COARSE_MISSING:
		return probe_problem(probe, "a Gray plane that is coarser than %s is missing, as "
		    "the code turns back where the phase does not: all %zu planes are left out",
		    behind, part->n);
	case GRAY_FINEST_MISSING:
		return probe_problem(probe, "the Gray plane that is finer than %s is missing, as "
		    "a cell holds %.2f fringes: all %zu planes are left out",
		    probe_name(probe, part->plane[part->n - 1]), 1 / part->cells, part->n);
	case GRAY_MISSING_OR_INVERTED:
		return probe_problem(probe, "a Gray plane is missing between %s and %s, or the "
		    "latter is inverted: all %zu planes are left out", before, behind, part->n);
	default:
		return probe_problem(probe, "a Gray plane is missing between %s and %s: all %zu "
		    "planes are left out", before, behind, part->n);
	}
}

static int
find_gray_problems(struct probe *probe)
{
	const struct gray *gray = &probe->gray;

	for (size_t c = 0; c < gray->codes; c++)
		if (find_plane_problems(probe, &gray->code[c]) < 0)
			return -1;
	for (size_t c = 0; c < gray->parts; c++)
		if (find_missing_plane(probe, &gray->part[c]) < 0)
			return -1;
	return 0;
}

/* What does not fit in the chosen sets. */
static int
find_problems(struct probe *probe)
{
	const struct sets *sets = &probe->sets;

	for (size_t k = 0; k < sets->n; k++) {
		const struct fringe_set *set = &sets->fringe[k];
		const struct steps_order *order = &set->order;
		int status = 0;

		if (order->missing)
			status = probe_problem(probe, "the steps that begin with %s are %zu of "
			    "%zu: %zu missing, the first behind %s",
			    probe_name(probe, set->steps.image[0]), set->steps.n, order->of,
			    order->missing,
			    probe_name(probe, set->steps.image[order->first_missing]));
		if (status == 0 && !order->ordered && order->exchanged[0] != order->exchanged[1])
			status = probe_problem(probe, "%s and %s seem to be exchanged",
			    probe_name(probe, order->was[order->exchanged[0]]),
			    probe_name(probe, order->was[order->exchanged[1]]));
		else if (status == 0 && !order->ordered)
			status = probe_problem(probe, "the steps that begin with %s do not come in "
			    "the order of their shifts", probe_name(probe, set->steps.image[0]));
		if (status == 0 && order->gap_rad > PROBE_GAP_MOST)
			status = probe_problem(probe, "the shifts of the steps that begin with %s "
			    "lie within %.0f degrees of a turn, and are found about only",
			    probe_name(probe, set->steps.image[0]),
			    360 - order->gap_rad * 180 / M_PI);
		if (status < 0)
			return -1;
	}
	for (size_t i = 0; i < probe->n; i++) {
		const char *name = probe_name(probe, i);

		if (sets->kind[i] == KIND_TWIN && probe_problem(probe, "%s shows the same as %s: "
		    "it is left out", name, probe_name(probe, sets->other[i])) < 0)
			return -1;
		if (sets->kind[i] == KIND_UNKNOWN && probe_problem(probe, "%s fits neither "
		    "fringes nor a Gray code: it is left out", name) < 0)
			return -1;
	}
	return find_gray_problems(probe);
}

/* The files of the manifest where there are no operands. */
static int
read_images(struct run *run, struct probe *probe)
{
	char **file;
	size_t n;
	int status;

	if (!probe->manifest_path)
		return images_read(run, run->operand, run->operands, false, &probe->images);
	if (manifest_load(probe->manifest_path, &probe->manifest) < 0)
		return -1;
	if (run->operands)
		return images_read(run, run->operand, run->operands, true, &probe->images);
	file = manifest_files(&probe->manifest, &n);
	if (!file)
		return -1;
	status = images_read(run, file, n, true, &probe->images);
	free(file);
	return status;
}

int
probe_find(struct run *run, const char *manifest, struct probe *probe)
{
	const char *object = run->operands == 1 ? run->operand[0] : NULL;

	probe->manifest_path = manifest;
	probe->operands = run->operands > 0;
	probe->measurements = 1;
	if (read_images(run, probe) < 0 || choose_images(probe, object) < 0 ||
	    described_choose(probe) < 0)
		return -1;
	if (probe->n < 3)
		return fail(object, "%zu images say what they are, and three is the least",
		    probe->n);
	if (find_sets(probe) < 0 || find_smooth_sets(probe) < 0 || described_check(probe) < 0)
		return -1;
	if (!probe->described && probe->sets.n == 0 && probe->gray.codes == 0)
		return fail(object, "no fringe images: %zu images of %zu x %zu, but no three of "
		    "them show the same fringes moved, and there is no Gray code%s", probe->n,
		    probe->image[0]->head.w, probe->image[0]->head.h, colour_hint(probe));
	if ((!probe->described && choose_sets(probe) < 0) || find_frequencies(probe) < 0)
		return -1;
	find_saturation(probe);
	if (!probe->described && unlit_find(probe) < 0)
		return -1;
	if (!probe->described && find_problems(probe) < 0)
		return -1;
	return command_make(probe);
}

void
probe_free(struct probe *probe)
{
	for (size_t i = 0; i < probe->words; i++) {
		free(probe->word[i].text);
		free(probe->word[i].why);
	}
	for (size_t i = 0; i < probe->problems; i++)
		free(probe->problem[i]);
	free(probe->word);
	free(probe->problem);
	free(probe->line);
	free(probe->image);
	sets_free(&probe->sets);
	capture_set_free(&probe->captures);
	manifest_free(&probe->manifest);
	images_free(&probe->images);
}
