/* From files to what they are. */
#define _GNU_SOURCE
#include "probe.h"

#include <math.h>
#include <stdlib.h>

#include "choice.h"
#include "problems.h"

#define SATURATED_SHARE 1e-3	/* of an image that is exactly at its largest value */

const char *
probe_name(const struct probe *probe, size_t i)
{
	return probe->image[i]->name;
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

static int
read_images(struct run *run, struct probe *probe)
{
	char **file = NULL;
	int status = 0;

	if (probe->manifest_path && (manifest_load(probe->manifest_path, &probe->manifest) < 0 ||
	    manifest_operands(&probe->manifest, probe->manifest_path, run, &file) < 0))
		return -1;
	probe->operands = !file;
	status = images_read(run, run->operand, run->operands, probe->manifest_path,
	    &probe->images);
	if (file)
		run->operands = 0;
	free(file);
	return status;
}

int
probe_find(struct run *run, const char *manifest, struct probe *probe)
{
	const char *object = run->operands == 1 ? run->operand[0] : NULL;
	char guess[480];

	probe->manifest_path = manifest;
	probe->measurements = 1;
	if (read_images(run, probe) < 0 || choice_make(probe, object) < 0 ||
	    described_choose(probe) < 0)
		return -1;
	if (probe->n < 3)
		return fail(object, "%zu images say what they are, and three is the least",
		    probe->n);
	if (find_sets(probe) < 0 || find_smooth_sets(probe) < 0 || described_check(probe) < 0)
		return -1;
	if (!probe->described && probe->sets.n == 0 && probe->gray.codes == 0)
		return fail(object, "no fringe images: %zu images of %zu x %zu, but no three of "
		    "them show the same fringes moved, and there is no Gray code%s%s", probe->n,
		    probe->image[0]->head.w, probe->image[0]->head.h, choice_colour_hint(probe),
		    problems_guess(probe, guess));
	if ((!probe->described && choose_sets(probe) < 0) || find_frequencies(probe) < 0)
		return -1;
	find_saturation(probe);
	if (!probe->described && unlit_find(probe) < 0)
		return -1;
	if (!probe->described && problems_find(probe) < 0)
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
