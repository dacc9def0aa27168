/* Chooses filter and search of a PNG file's pixels by a sample of the rows. */
#include "codec/png/idat_sample.h"

#include <stdlib.h>

#include "base/fail.h"
#include "codec/png/idat_trial.h"

#define LEVEL_SAMPLE 3		/* of libdeflate's search in a sample, */
#define LEVEL_SAMPLE_NOISE 5	/* where there may be noise, */
#define LEVEL_FAST_SAMPLE 1	/* and of --fast */
#define REPEATED_LONGER 720	/* thousandths: a level that leaves less is worth its time, */
#define LITTLE_PART 900		/* or less than this, where it costs less because less is left */
#define LITTLE_LONGER 50	/* than this part */
#define REPEATED 20		/* hundredths of words of rows that repeat far apart */
/* No filter leaves least of these: where it leaves less than ten of so many parts of what filters
 * leave in a thin strip (of 16 bits they leave down to a fourth of that in the whole), or where
 * FILTER_SUB leaves no fewer hundredths of that in a long one. */
#define FAR_CLEAR 24
#define FAR_SUB 93
#define FAR_OWN 94		/* FILTER_SUB does: hundredths of what filters by the row leave */
#define MUCH 2			/* no less than this part of the sample is left: */
#define LEVEL_MUCH 2		/* of a search that finds little */
/* Thousandths of what matches leave: where runs leave no more, they do without another look, or
 * may, if a longer search finds no better matches: leaves no less than so many of a shorter one. */
#define RUNS_SURE 975
#define RUNS_LIKELY 990
#define SHORTER_RUNS 997
#define SHORTER_ENOUGH 995	/* likewise, where matches are to be looked for anyway */
#define LITTLE 12		/* no more than this part of the sample is left */
#define VERY_LITTLE 200		/* so little that another filter saves hardly a byte */
#define VERY_LITTLE_RUNS 100	/* likewise, of runs, that matches save none */
#define LITTLE_RUNS 4	/* likewise, of runs, where a sample of matches is worth its time */
#define LITTLE_RUNS_FEW 16	/* likewise, so little that runs may do */

/*
 * The filter of which least is left when matches are found, and what is left of the sample.
 * Pictures without noise often repeat more behind one filter for all rows than where every row has
 * its own, but those of few levels behind none; up to 2 % more in a sample, unfiltered rows are
 * shorter in the end. The margins are those of 40 captures and pictures.
 */
static size_t
least_filter(struct idat_trial *trial, struct idat_packing *method)
{
	static const enum filter others[] = { FILTER_SUB, FILTER_UP };
	const size_t tried = trial->image->options->few_levels ? 0 : 2, own = trial->own;
	size_t least = own + own / 100;

	method->filter = FILTER_LEAST;
	for (size_t i = 0; i < tried; i++) {
		const size_t matches = idat_trial_matches(trial, others[i]);

		if (matches >= least)
			continue;
		least = matches;
		method->filter = others[i];
	}
	if (method->filter == FILTER_LEAST)
		least = own;
	if (least * 102 < trial->plain * 100)
		return least;
	method->filter = FILTER_NONE;
	return trial->plain;
}

/*
 * Do runs make least of it, as where there is noise? Not where there is so little in the image that
 * it has no noise. Matches of noise are accidents, of which a longer search finds no better ones,
 * and which save less in the whole than in a sample. 1: yes; -1: no memory.
 */
static int
runs_are_least(struct idat_trial *trial)
{
	const size_t runs = idat_trial_runs(trial, FILTER_LEAST, trial->part);
	const size_t some = 1 + trial->strips.n / 3;
	long leaves;

	if (runs <= trial->strips.bytes / 16 || runs * 1000 > trial->plain * RUNS_SURE ||
	    runs * 1000 > trial->own * RUNS_LIKELY)
		return 0;
	if (runs * 1000 <= trial->own * RUNS_SURE)
		return 1;
	leaves = idat_trial_other_level(trial, LEVEL_SAMPLE_NOISE, FILTER_LEAST, some,
	    trial->part[some - 1]);
	return leaves < 0 ? -1 : leaves >= SHORTER_RUNS;
}

/* Where most is repeated, a longer search may save much, behind the filter so far or behind none.
 * 0, or -1: no memory. first: what is left of the first strip by level_repeated. */
static int
try_longest(const struct idat_trial *trial, size_t bytes, size_t first, struct idat_packing *method)
{
	const int longest = trial->image->options->level_longest;
	const enum filter filters[] = { method->filter, FILTER_NONE };
	const bool little = bytes * LITTLE_LONGER < idat_trial_counted(trial, &trial->strips);
	long least = little ? LITTLE_PART : REPEATED_LONGER;

	for (size_t i = 0; i < 2; i++) {
		long leaves;

		if (i && (filters[0] == FILTER_NONE || trial->first[FILTER_NONE] >= 2 * first))
			break;
		leaves = idat_trial_other_level(trial, longest, filters[i], 1, first);
		if (leaves < 0)
			return -1;
		if (leaves >= least)
			continue;
		least = leaves * 3 / 4;
		method->level = longest;
		method->filter = filters[i];
	}
	return 0;
}

/* Are runs without filter, or behind the one above, worth their quarter of the time, as they leave
 * at most so many bytes of the sample, and a long search not much less? 1: yes; -1: no memory. */
static int
try_runs(struct idat_trial *trial, size_t most, struct idat_packing *method)
{
	const size_t plain = idat_trial_runs(trial, FILTER_NONE, NULL);
	const size_t up = idat_trial_runs(trial, FILTER_UP, NULL);
	const enum filter filter = plain * 20 < up * 19 ? FILTER_NONE : FILTER_UP;
	const size_t runs = filter == FILTER_NONE ? plain : up;
	long leaves;

	if (runs > most)
		return 0;
	leaves = idat_trial_other_level(trial, trial->image->options->level_longest, filter,
	    trial->strips.n, runs);
	if (leaves < 0)
		return -1;
	if (leaves < LITTLE_PART)
		return 0;
	method->runs = true;
	method->filter = filter;
	return 1;
}

/* By the thick strips: of what repeats so much the first rows of a thin one are the most. */
static int
try_repeated(struct idat_trial *trial, const struct idat_strips *thick, struct idat_packing *method)
{
	static const enum filter filters[] = { FILTER_PAETH, FILTER_NONE, FILTER_UP,
		FILTER_SUB };
	const struct idat_options *options = trial->image->options;
	const bool may_run = options->method == IDAT_LEAST;
	size_t least = IDAT_TRIAL_TOO_MANY, first = 0;
	int runs = 0;

	if (idat_trial_level(trial, options->level_repeated) < 0)
		return -1;
	trial->strips = *thick;
	trial->base = filters[0];
	method->level = options->level_repeated;
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters) && !runs; i++) {
		const size_t bytes = idat_trial_matches(trial, filters[i]);

		if (bytes < least - least / 50) {
			least = bytes;
			first = trial->first[filters[i]];
			method->filter = filters[i];
		}
		if (i == 0 && least * VERY_LITTLE < idat_trial_counted(trial, thick)) {
			method->filter = FILTER_LEAST;
			return !may_run ? 0 : try_runs(trial, least * 3 / 4, method) < 0 ? -1 : 0;
		}
		if (i == 1 && may_run)
			runs = try_runs(trial, least + least / 32, method);
	}
	if (runs)
		return runs < 0 ? -1 : 0;
	return options->level_longest == options->level_repeated ? 0 :
	    try_longest(trial, least, first, method);
}

static bool
repeats(const struct idat_trial *trial)
{
	return idat_trial_repeated(trial->image, trial->rows) >= REPEATED;
}

/*
 * Of rows that repeat far apart, as oblique fringes without noise do: does no filter leave least,
 * or FILTER_SUB? A thin strip shows it where it is clear, a long one of most; in the whole, behind
 * more rows, no filter leaves less than in that.
 */
static bool
try_far(struct idat_trial *trial, struct idat_packing *method)
{
	const struct idat_trial thin = *trial;
	size_t own = trial->own, plain = trial->plain, sub = own;

	if (plain <= own || plain > 2 * own)
		sub = idat_trial_matches(trial, FILTER_SUB);
	if (plain > 2 * own && sub * 8 < own * 7)
		return false;
	method->filter = FILTER_NONE;
	if (plain <= own && plain <= sub)
		return true;
	trial->strips = idat_trial_far(trial->image);
	trial->lead[0] = IDAT_TRIAL_TOO_MANY;	/* what is left behind another is to be known */
	plain = idat_trial_matches(trial, FILTER_NONE);
	method->level = trial->image->options->level_longest;
	if (plain * FAR_CLEAR < own * 10 * (trial->image->bytes / thin.strips.bytes))
		return true;
	own = idat_trial_matches(trial, FILTER_LEAST);
	sub = idat_trial_matches(trial, FILTER_SUB);
	*trial = thin;
	if (plain * 5 >= own * 4)
		method->level = trial->image->options->level;
	if (plain <= own && plain * FAR_SUB <= sub * 100)
		return true;
	method->filter = sub < own ? FILTER_SUB : FILTER_LEAST;
	return sub * 100 < own * FAR_OWN;
}

/* Where much is left, as of smooth samples of 16 bits, matches are few, and a longer search may
 * save nothing. 0, or -1: no memory. */
static int
try_shorter(const struct idat_trial *trial, size_t least, struct idat_packing *method)
{
	long leaves;

	if (least * MUCH < trial->strips.bytes)
		return 0;
	leaves = idat_trial_other_level(trial, method->level, method->filter, 1,
	    trial->first[method->filter]);
	if (leaves >= SHORTER_ENOUGH)
		method->level = LEVEL_MUCH;
	return leaves < 0 ? -1 : 0;
}

static int
try_methods(struct idat_trial *trial, const struct idat_strips *thick, struct idat_packing *method)
{
	const struct idat_options *options = trial->image->options;
	size_t least;
	int runs = 0;

	trial->own = idat_trial_matches(trial, FILTER_LEAST);
	if (trial->own * LITTLE < trial->strips.bytes)
		return try_repeated(trial, thick, method);
	trial->plain = idat_trial_matches(trial, FILTER_NONE);
	if (!options->few_levels && repeats(trial) && try_far(trial, method))
		return 0;
	if (options->method == IDAT_LEAST && !options->few_levels)
		runs = runs_are_least(trial);
	if (runs < 0)
		return -1;
	method->runs = runs;
	if (runs)
		return 0;
	least = least_filter(trial, method);
	if (options->method == IDAT_LEAST && options->few_levels &&
	    idat_trial_runs(trial, FILTER_NONE, NULL) * 32 <= least * 33) {
		method->runs = true;
		method->filter = FILTER_NONE;
	} else if (options->method == IDAT_LEAST && !options->few_levels) {
		return try_shorter(trial, least, method);
	}
	return 0;
}

/* Of few levels: matches without filter, or behind one where that leaves less of runs, too. Where
 * runs leave little, what matches leave of the sample decides, and whether runs do. */
static void
try_fast_few(struct idat_trial *trial, struct idat_packing *method)
{
	const size_t all = idat_trial_counted(trial, &trial->strips);
	const size_t runs = idat_trial_runs(trial, FILTER_LEAST, NULL);
	const size_t plain = idat_trial_runs(trial, FILTER_NONE, NULL);
	size_t least;

	method->level = trial->image->options->level;
	method->filter = runs * 100 < plain * 90 ? FILTER_LEAST : FILTER_NONE;
	if ((runs < plain ? runs : plain) * LITTLE_RUNS_FEW >= all)
		return;
	trial->own = idat_trial_matches(trial, FILTER_LEAST);
	trial->plain = idat_trial_matches(trial, FILTER_NONE);
	least = trial->own < trial->plain ? trial->own : trial->plain;
	method->runs = (runs < plain ? runs : plain) * 2 < least * 3;
	if (!method->runs)
		method->filter = trial->own < trial->plain ? FILTER_LEAST : FILTER_NONE;
	else if (runs < plain)
		method->filter = FILTER_LEAST;
}

/*
 * Runs, which take half the time of matches, unless so much repeats that these leave far less, also
 * without a filter, by which others write in little time. In captures runs leave more than a part
 * that is worth a sample of matches, and rows do not repeat.
 */
static int
try_fast(struct idat_trial *trial, const struct idat_strips *thick, struct idat_packing *method)
{
	const size_t all = trial->strips.bytes;
	size_t runs = idat_trial_runs(trial, FILTER_LEAST, NULL);
	const bool much = runs * LITTLE_RUNS > all;

	method->runs = true;
	if (runs * VERY_LITTLE_RUNS < all || (much && !repeats(trial)))
		return 0;
	if (idat_trial_level(trial, LEVEL_FAST_SAMPLE) < 0)
		return -1;
	trial->strips = much ? idat_trial_far(trial->image) : *thick;
	runs = idat_trial_runs(trial, FILTER_LEAST, NULL);
	trial->own = idat_trial_matches(trial, FILTER_LEAST);
	trial->lead[0] = IDAT_TRIAL_TOO_MANY;	/* what is left without filter is to be known */
	trial->plain = idat_trial_matches(trial, FILTER_NONE);
	if (runs <= trial->plain && runs < 2 * trial->own)
		return 0;
	method->runs = false;
	method->filter = trial->own < trial->plain ? FILTER_LEAST : FILTER_NONE;
	method->level = trial->image->options->level;
	return 0;
}

/* 0, or -1 where memory is short. */
static int
try_sample(struct idat_trial *trial, struct idat_packing *method)
{
	const struct idat_image *image = trial->image;
	const bool fast = image->options->method == IDAT_FAST;
	const struct idat_strips thick = idat_trial_thick(image, fast);
	const struct idat_strips far = idat_trial_far(image);
	size_t bytes;

	trial->strips = idat_trial_thin(image, image->bytes);
	if (fast && image->options->few_levels)
		trial->strips = thick;
	else if (fast)
		trial->strips = idat_trial_fast(image, &trial->strips);
	bytes = thick.bytes > trial->strips.bytes ? thick.bytes : trial->strips.bytes;
	bytes = bytes > far.bytes ? bytes : far.bytes;
	trial->rows = malloc(bytes + FILTER_MARGIN);
	if (!trial->rows || idat_trial_level(trial, LEVEL_SAMPLE) < 0)
		return -1;
	if (!fast)
		return try_methods(trial, &thick, method);
	if (!image->options->few_levels)
		return try_fast(trial, &thick, method);
	try_fast_few(trial, method);
	return 0;
}

int
idat_sample_packing(const struct idat_image *image, struct idat_packing *method)
{
	const enum idat_method wanted = image->options->method;
	struct idat_trial trial = { .image = image, .base = FILTER_LEAST };
	int status;

	*method = (struct idat_packing){ wanted == IDAT_PLAIN ? FILTER_NONE : FILTER_LEAST, false,
		image->options->level };
	if (wanted == IDAT_PLAIN)
		return 0;
	status = try_sample(&trial, method);
	compressor_give(trial.quick, trial.level);
	free(trial.rows);
	return status < 0 ? fail_memory() : 0;
}
