/* The command that decodes a set. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "phase_words.h"

/* ---- Gray code ---- */

static int
cell_word(struct probe *probe, const struct gray_code *code)
{
	static const char *const cells[] = { "", "column", "period", "half" };
	char why[300];

	if (isnan(code->cells))
		return 0;
	command_reason(why, "a fringe holds %.3f of its cells", code->cells);
	return command_word(probe, SURE_FOUND, why, "--gray-cell %s", cells[code->cell]);
}

static int
gray_words(struct probe *probe)
{
	const struct gray *gray = &probe->gray;
	const struct gray_code *code = &gray->code[0];
	char why[300];
	int status;

	if (!gray->codes)
		return 0;
	command_reason(
	    why, "%.1f %% of the code's changes are steps of one", 100 * code->agreement);
	if (code->either || (gray->codes > 1 && gray->code[1].either))
		command_reason(why,
		    "a white and a black image stand beside the planes, and may be two "
		    "more of them");
	status = gray->codes > 1
	    ? command_word(probe, code->either || gray->code[1].either ? SURE_GUESSED : SURE_FOUND,
		  why, "-G %zu,%zu", code->n, gray->code[1].n)
	    : command_word(probe, code->either ? SURE_GUESSED : SURE_FOUND, why, "-G %zu", code->n);
	if (status == 0 && code->inverses)
		status = command_word(probe, SURE_FOUND, "each plane has its inverse", "-i");
	if (status == 0)
		status = cell_word(probe, phase_words_code(probe) ? phase_words_code(probe) : code);
	if (status == 0 && !code->inverses && gray->white != SIZE_MAX && gray->black != SIZE_MAX)
		status = command_word(probe, SURE_FOUND, "a white and a black image", "-F 2");
	return status;
}

/* ---- all ---- */

/* Where no Gray code orders the fringes, unwrap2f must know which beats span the projector. Counts
 * that names say, or a count of 1, are of the whole projector as they are. */
static int
unwrap_words(struct probe *probe)
{
	const struct frequencies *all = &probe->frequencies;

	for (size_t k = 0; k < probe->chosen; k++)
		if (all->value[k] == 1 && !all->periods)
			return 0;
	if (probe->chosen < 2 || probe->gray.codes ||
	    (all->source == FREQUENCY_NAMES && !all->periods))
		return 0;
	if (command_word(probe, SURE_UNKNOWN,
		"the projector's width along the fringes' axis, in "
		"its pixels: no image says it",
		"--field WIDTH") < 0)
		return -1;
	probe->word[probe->words - 1].unwraps = true;
	return 0;
}

static int
image_words(struct probe *probe)
{
	int status = 0;

	if (probe->colour)
		status = command_word(probe, SURE_GUESSED,
		    "the images are in colour; green is "
		    "usually the least noisy",
		    "--channel g");
	if (status == 0 && probe->max_value)
		status = command_word(probe, SURE_FOUND,
		    "many samples are exactly this, and none "
		    "is larger",
		    "--max-value %g", probe->saturation);
	return status;
}

/* Two digits of an amplitude. */
static double
rounded(double v)
{
	double digit = pow(10, floor(log10(v)) - 1);

	return round(v / digit) * digit;
}

static int
unlit_word(struct probe *probe)
{
	const struct unlit *unlit = &probe->unlit;
	bool apart = unlit->unlit < 0.7 * unlit->lit;
	char why[300];

	if (!(unlit->least > 0))
		return 0;
	command_reason(why,
	    "%.2g %% of the pixels show no fringes: 99 in 100 of them have less "
	    "than %.3g, of the others more than %.3g",
	    100 * unlit->share, unlit->unlit, unlit->lit);
	return command_word(probe, apart ? SURE_FOUND : SURE_GUESSED, why, "--min-amplitude %.3g",
	    rounded(unlit->least));
}

static int
found_words(struct probe *probe)
{
	if (!probe->chosen &&
	    command_word(probe, SURE_FOUND, "Gray planes, but no fringes", "-k gray") < 0)
		return -1;
	if (probe->chosen &&
	    (phase_words_steps(probe) < 0 || phase_words_periods(probe) < 0 ||
		phase_words_axis(probe) < 0 || phase_words_shifts(probe) < 0))
		return -1;
	return gray_words(probe) < 0 || image_words(probe) < 0 || unlit_word(probe) < 0 ||
		unwrap_words(probe) < 0
	    ? -1
	    : 0;
}

static int
described_words(struct probe *probe)
{
	struct text text;
	FILE *to;
	char *path;
	int status;

	if (!probe->manifest_path)
		return 0;
	to = text_open(&text);
	if (!to)
		return -1;
	operands_put_quoted(to, probe->manifest_path);
	path = text_close(&text, NULL);
	status = path
	    ? command_word(probe, SURE_CERTAIN, "it says what the images are", "-m %s", path)
	    : -1;
	free(path);
	return status;
}

/* Can fringe orders be found? */
static bool
can_unwrap(const struct probe *probe)
{
	if (probe->described)
		return probe->captures.fringes &&
		    (probe->captures.fringes > 1 || probe->captures.codes);
	return probe->chosen && (probe->chosen > 1 || probe->gray.codes);
}

static void
put_words(const struct probe *probe, bool unwraps, FILE *to)
{
	for (size_t i = 0; i < probe->words; i++)
		if (probe->word[i].unwraps == unwraps)
			fprintf(to, " %s", probe->word[i].text);
}

int
command_make(struct probe *probe)
{
	struct text text, operands;
	FILE *to, *names = text_open(&operands);
	char *files;
	int status;

	if (!names)
		return -1;
	status = probe->described ? described_words(probe) : found_words(probe);
	if (status == 0)
		status = operands_write(probe, names);
	files = text_close(&operands, NULL);
	to = status == 0 && files ? text_open(&text) : NULL;
	if (to) {
		fputs("fringepipe phasewrap", to);
		put_words(probe, false, to);
		fprintf(to, "%s%s", files, can_unwrap(probe) ? " , unwrap2f" : "");
		put_words(probe, true, to);
		probe->line = text_close(&text, NULL);
	}
	free(files);
	return probe->line ? 0 : -1;
}
