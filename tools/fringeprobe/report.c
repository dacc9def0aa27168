/* What was found, for people. */
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "probe.h"

#define DEG (180 / M_PI)
#define LIST_MOST 4		/* names; more in a row are "a to b" */

static void
put_names(const struct probe *probe, const size_t *image, size_t n, FILE *to)
{
	bool row = n > LIST_MOST;

	for (size_t k = 1; k < n && row; k++)
		row = image[k] == image[k - 1] + 1;
	fputs("   ", to);
	for (size_t k = 0; k < n; k++) {
		if (row && k == 1) {
			fputs(" to", to);
			k = n - 1;
		}
		fputc(' ', to);
		escape_put_text(to, probe_name(probe, image[k]));
	}
	fputc('\n', to);
}

static void
put_set(const struct probe *probe, const struct fringe_set *set, FILE *to)
{
	const struct steps *steps = &set->steps;

	fprintf(to, "fringes along %c: ", "xy"[set->axis]);
	if (set->flat)
		fputs("2+1 images", to);
	else
		fprintf(to, "%zu steps", steps->n);
	if (set->order.of)
		fprintf(to, " of %.4g degrees", 360.0 / (double)set->order.of);
	fprintf(to, ", period %.1f px on the camera, %.1f in view\n", set->period_px, set->fringes);
	put_names(probe, steps->image, steps->n, to);
	fprintf(to, "    mean %.4g, amplitude %.4g, modulation %.2f", steps->mean,
	    steps->amplitude, steps->modulation);
	if (!isnan(steps->residual))
		fprintf(to, ", noise %.3g levels (%.3f of the amplitude)", steps->noise,
		    steps->residual);
	fputc('\n', to);
}

static void
put_code(const struct probe *probe, const struct gray_code *code, FILE *to)
{
	static const char *const orders[] = { "the most significant first",
		"the least significant first", "in mixed order" };

	fprintf(to, "Gray code along %c: %zu planes, %s%s", "xy"[code->axis], code->n,
	    orders[code->order],
	    !code->inverses ? "" : code->pairs ? ", each with its inverse" : ", and inverses");
	if (!isnan(code->cells))
		fprintf(to, ", %.3f cells in a fringe", code->cells);
	fputc('\n', to);
	put_names(probe, code->plane, code->n, to);
	if (code->inverses)
		put_names(probe, code->inverse, code->n, to);
}

static void
put_flat(const struct probe *probe, const char *what, size_t image, FILE *to)
{
	if (image == SIZE_MAX)
		return;
	fprintf(to, "%s: ", what);
	escape_put_text(to, probe_name(probe, image));
	fputc('\n', to);
}

static void
put_saturation(const struct probe *probe, FILE *to)
{
	if (!probe->chosen || isinf(probe->saturation))
		return;
	fprintf(to, "saturated: %.2g %% of the pixels with light, at %g\n", 100 * probe->saturated,
	    probe->saturation);
}

static void
put_frequencies(const struct probe *probe, FILE *to)
{
	const struct frequencies *all = &probe->frequencies;

	if (probe->chosen < 2 || !(all->ratio[0] > 0))
		return;
	fputs("frequencies, as parts of the finest:", to);
	for (size_t k = 0; k < probe->chosen; k++)
		fprintf(to, " %.5f", all->ratio[k]);
	fputc('\n', to);
}

static void
put_words(const struct probe *probe, FILE *to)
{
	size_t widest = 0;

	for (size_t i = 0; i < probe->words; i++)
		if (strlen(probe->word[i].text) > widest)
			widest = strlen(probe->word[i].text);
	fputs(probe->words ? "words of the command\n" : "the images say themselves what they are: "
	    "the command needs no options\n", to);
	for (size_t i = 0; i < probe->words; i++) {
		const struct word *word = &probe->word[i];

		fputs("    ", to);
		escape_put_text(to, word->text);
		fprintf(to, "%*s  %-7s  %s\n", (int)(widest - strlen(word->text)), "",
		    certainty_words[word->sure], word->why);
	}
}

void
report_text(const struct probe *probe, FILE *to)
{
	const struct frame_head *head = &probe->image[0]->head;

	fprintf(to, "%zu images of %zu x %zu %s%s\n", probe->n, head->w, head->h,
	    sample_name(head->type), probe->colour ? ", in colour" : "");
	if (probe->measurements > 1)
		fprintf(to, "the first of %zu measurements\n", probe->measurements);
	if (probe->smooth)
		fprintf(to, "noisy: looked at as means of %d pixels\n", IMAGES_SMOOTH);
	for (size_t k = 0; k < probe->sets.n; k++)
		put_set(probe, &probe->sets.fringe[k], to);
	put_frequencies(probe, to);
	for (size_t c = 0; c < probe->gray.codes; c++)
		put_code(probe, &probe->gray.code[c], to);
	put_flat(probe, "white", probe->gray.white, to);
	put_flat(probe, "black", probe->gray.black, to);
	put_saturation(probe, to);
	if (probe->images.sorted)
		fputs("the files came as text sorts them, 1 10 2, and are taken in the order of "
		    "their numbers\n", to);
	for (size_t i = 0; i < probe->images.skips; i++) {
		fputs("left out: ", to);
		escape_put_text(to, probe->images.skip[i].path);
		fputs(": ", to);
		escape_put_text(to, probe->images.skip[i].reason);
		fputc('\n', to);
	}
	for (size_t i = 0; i < probe->problems; i++) {
		fputs("problem: ", to);
		escape_put_text(to, probe->problem[i]);
		fputc('\n', to);
	}
	put_words(probe, to);
	fprintf(to, "%s\n", probe->line);
}
