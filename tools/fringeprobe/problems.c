/* What is wrong with the images: the lines that begin with problem. */
#define _GNU_SOURCE
#include "problems.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"

#define SINUSOID 0.18		/* of pixels lies between bright and dark, of 0.33 */

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

int
problems_find(struct probe *probe)
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

/* "4 images, a.png to d.png," or "the image a.png": those whose values lie between bright and dark
 * as those of fringes do, or do not. False: there are none. */
static bool
name_images(const struct probe *probe, bool fringes, char text[160])
{
	size_t first = 0, last = 0, n = 0;

	for (size_t i = 0; i < probe->n; i++) {
		const struct carrier *carrier = &probe->sets.carrier[sets_axis(&probe->sets, i)][i];

		if ((carrier->between > SINUSOID) != fringes)
			continue;
		first = n ? first : i;
		last = i;
		n++;
	}
	if (n == 1)
		snprintf(text, 160, "%.60s", probe_name(probe, first));
	else
		snprintf(text, 160, "%zu images from %.60s to %.60s", n, probe_name(probe, first),
		    probe_name(probe, last));
	return n > 0;
}

const char *
problems_guess(const struct probe *probe, char text[480])
{
	char fringes[160], planes[160];
	bool some = name_images(probe, true, fringes), others = name_images(probe, false, planes);

	text[0] = '\0';
	if (some && others)
		snprintf(text, 480, "; by their values %s may be fringes and %s a Gray code: "
		    "is one missing, exchanged or of another measurement?", fringes, planes);
	else if (some)
		snprintf(text, 480, "; by their values %s may be fringes: is one missing, or do "
		    "they show different places?", fringes);
	return text;
}
