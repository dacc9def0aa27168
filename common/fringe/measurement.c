/*
 * Measurements of captured images: their options and manifest, the contradictions between these and
 * the images' own keys, sign and origin of the phases, limits of valid pixels; sets whose
 * capture may have begun late; and where the next measurement begins, should images be missing.
 */
#include "fringe/measurement.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/process.h"
#include "run/run.h"

/*
 * Images that a camera has dropped: where does the next measurement begin? There are three ways to
 * tell: what the images are by their own keys (role, step, ...), compared with the order of the
 * first measurement; their number (key frame_number, or the last number in a file's name); and the
 * key time_s, whose intervals are equal.
 */

#define UNEVEN 0.25		/* of an interval: how far a time may be off whole ones */
#define INTERVALS_LEAST 2	/* that must be known before one counts as several */

/* ---- by what the images are ---- */

#define WORD_SIZE 200

/* Writes role, axis, period, step and bit. False: there is no role. Nothing is allocated, as every
 * image comes here. */
static bool
describe(const struct frame_head *head, char word[WORD_SIZE])
{
	static const char *const keys[] = { "role", "axis", "period_px", "step", "bit" };
	const char *value[5];

	for (size_t i = 0; i < 5; i++)
		value[i] = meta_get(&head->meta, keys[i]);
	if (!value[0])
		return false;
	for (size_t i = 0; i < 5; i++)
		value[i] = value[i] ? value[i] : "-";
	snprintf(word, WORD_SIZE, "%.30s %.30s %.40s %.30s %.30s", value[0], value[1], value[2],
	    value[3], value[4]);
	return true;
}

static void
forget_words(struct dropped_images *dropped)
{
	while (dropped->words)
		free(dropped->word[--dropped->words]);
	dropped->complete = false;
}

/*
 * As dropped_images_take(), by the keys; fresh: the image is the first of a measurement, or all
 * previous ones were lost. Without --keep-going the first measurement's own error says more.
 */
static void
take_description(struct dropped_images *dropped, const struct frame_head *head, bool fresh,
    size_t wanted, bool *begins)
{
	char word[WORD_SIZE];
	size_t place = 0;	/* in the first measurement; dropped->words: it has no such image */

	if (!dropped->described || !describe(head, word))
		return;
	dropped->complete |= wanted && dropped->words == wanted && fresh;
	while (place < dropped->words && strcmp(dropped->word[place], word))
		place++;
	if (dropped->complete && place < dropped->words) {
		*begins = !fresh && place <= dropped->place;
		dropped->place = place;
		return;
	}
	*begins = !dropped->complete && !fresh && dropped->words && place == 0 &&
	    dropped->keeps_going;
	if (dropped->complete || fresh || *begins)	/* other images than the first ones' */
		forget_words(dropped);
	dropped->place = dropped->words;
	dropped->word = must_resize(dropped->word, dropped->words + 1, sizeof(*dropped->word));
	dropped->word[dropped->words++] = must_strdup(word);
}

/* ---- by number or time ---- */

/* The last number in a file's name, without its suffix; -1: there is none, or it is too long. */
static long
number_in(const char *path)
{
	const char *name = path ? strrchr(path, '/') : NULL, *end;
	size_t digits = 0;

	if (!path)
		return -1;
	name = name ? name + 1 : path;
	end = strrchr(name, '.');
	end = end && end > name ? end : name + strlen(name);
	while (end > name && !isdigit((unsigned char)end[-1]))
		end--;
	while (end > name && isdigit((unsigned char)end[-1])) {
		end--;
		digits++;
	}
	return digits > 0 && digits < 16 ? strtol(end, NULL, 10) : -1;
}

/* Images since the last one, by the time between; 0: the time does not tell; 1 as long as too few
 * intervals are known. */
static long
images_since(struct dropped_images *dropped, double time_s)
{
	double sorted[DROPPED_INTERVALS], since = time_s - dropped->last, usual, images;
	size_t n = dropped->intervals < DROPPED_INTERVALS ? dropped->intervals : DROPPED_INTERVALS;

	if (!(since > 0))
		return 0;
	memcpy(sorted, dropped->interval, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), numbers_compare_doubles);
	usual = n ? sorted[(n - 1) / 2] : since;
	images = round(since / usual);
	if (images > 1e9)
		return 0;
	if (images < 2) {
		dropped->interval[dropped->intervals++ % DROPPED_INTERVALS] = since;
		return fabs(since - usual) <= UNEVEN * usual || n < INTERVALS_LEAST ? 1 : 0;
	}
	return n < INTERVALS_LEAST && dropped->how == DROPPED_AUTO ? 1 : (long)images;
}

/*
 * The image comes `images` after the last one (0 or less: counting begins anew with it). Does it
 * belong to another measurement than that one? A camera that runs on while the projector does
 * counts through; one that pauses after each measurement begins the next with what comes.
 */
static bool
changes_set(struct dropped_images *dropped, long images, size_t have, size_t wanted)
{
	bool sure = dropped->how != DROPPED_AUTO, runs_on, changed;
	long set, want = (long)wanted;

	if (have == 0 && images == 1)
		dropped->runs_on++;
	if (have == 0 && images > 1)
		dropped->pauses++;
	runs_on = sure || (dropped->runs_on > 0 && dropped->runs_on >= dropped->pauses);
	set = want ? (dropped->index - dropped->origin) / want : 0;
	if (images <= 0) {
		dropped->index = dropped->origin = 0;
		return true;
	}
	dropped->index += images;
	changed = want && (dropped->index - dropped->origin) / want != set;
	if (changed && images > 1 && !runs_on)
		dropped->origin = dropped->index;
	if (have == 0 && images > 1 && images <= want && !runs_on && !dropped->warned) {
		warn(NULL, "between two measurements there was time for %ld more image%s: it is "
		    "taken for a pause; --dropped time or number takes them for dropped",
		    images - 1, images > 2 ? "s" : "");
		dropped->warned = true;
	}
	return changed;
}

/* Without --dropped numbers in names only give a warning: of a gap in numbers that rise by 1 for a
 * whole measurement at least, before the gap or after it. */
static void
watch_names(struct dropped_images *dropped, const char *path, size_t came, size_t wanted,
    bool within)
{
	long number = number_in(path), last = dropped->last_number, gap;

	if (!path)
		return;
	if (!dropped->watched)
		last = -1;
	dropped->watched = true;
	gap = number - last - (long)came;	/* unreadable ones came, too */
	if (last < 0 || number < 0 || gap < 0) {
		dropped->in_step = 0;
		dropped->gap = 0;
	} else if (gap == 0) {
		dropped->in_step++;
	} else {
		bool regular = dropped->in_step >= wanted;

		dropped->gap = 0;
		if (wanted && (within || (size_t)gap % wanted)) {
			dropped->gap = number;
			dropped->before = last;
		}
		dropped->in_step = regular ? wanted : 0;
	}
	if (dropped->gap && wanted && dropped->in_step >= wanted && !dropped->warned) {
		warn(NULL, "the files' numbers jump from %ld to %ld, with measurements of %zu "
		    "images: was one dropped? --dropped number goes by these numbers",
		    dropped->before, dropped->gap, wanted);
		dropped->warned = true;
	}
	dropped->last_number = number;
}

/* As dropped_images_take(), by number or time. */
static int
take_count(struct dropped_images *dropped, const struct frame_head *head, const char *path,
    size_t came, size_t have, size_t wanted, bool *begins)
{
	bool by_time = dropped->how == DROPPED_TIME ||
	    (dropped->how == DROPPED_AUTO && !meta_get(&head->meta, "frame_number"));
	double now = NAN;
	long images;

	if (meta_number(&head->meta, by_time ? "time_s" : "frame_number", NAN, &now) < 0)
		return dropped->how == DROPPED_AUTO ? (fail_clear(), 0) : -1;
	if (isnan(now) && dropped->how == DROPPED_NUMBER)
		now = number_in(path) >= 0 ? (double)number_in(path) : NAN;
	if (isnan(now) && dropped->how != DROPPED_AUTO)
		return fail(path, by_time ? "--dropped time wants the key time_s" :
		    "--dropped number wants the key frame_number, or a number in the file's name");
	if (isnan(now)) {
		watch_names(dropped, path, came, wanted, have > 0);
		return 0;
	}
	if (!dropped->counted || dropped->spoiled) {
		dropped->counted = true;
		dropped->last = now;
		return 0;
	}
	images = by_time ? images_since(dropped, now) :
	    fabs(now - dropped->last) < 1e9 ? (long)(now - dropped->last) : 0;
	if (by_time && images == 0 && dropped->how == DROPPED_TIME && now > dropped->last)
		return fail(path, "time_s is %.6g s after the previous image: the times are too "
		    "uneven to count images by", now - dropped->last);
	dropped->last = now;
	if (by_time && images == 0) {		/* taken by hand: nothing follows from it */
		dropped->spoiled = true;
		if (dropped->verbose)
			note(path, "time_s is too uneven to tell whether images were dropped");
		return 0;
	}
	*begins |= changes_set(dropped, images, have, wanted) && have > 0;
	return 0;
}

/*
 * An image comes, `have` others of its measurement wait, `wanted` make one (0: not known yet).
 * *begins: it begins another measurement, and fail() says that the one at hand lacks images. path:
 * its file, or NULL. -1 after fail(): the way that was demanded cannot count it.
 */
static int
dropped_images_take(struct dropped_images *dropped, const struct frame_head *head,
    const char *path, size_t have, size_t wanted, bool *begins)
{
	size_t planes = dropped->rgb ? 3 : 1, came = 1;
	bool fresh;

	*begins = false;
	if (dropped->how == DROPPED_IGNORED || dropped->how == DROPPED_IMAGES || head->c != planes)
		return 0;
	have /= planes;
	wanted /= planes;
	fresh = have == 0 || have <= dropped->have;
	if (!fresh)
		came = have - dropped->have;
	dropped->have = have;
	take_description(dropped, head, fresh, wanted, begins);
	if (take_count(dropped, head, path, came, have, wanted, begins) < 0)
		return -1;
	if (*begins) {
		dropped->have = 0;
		fail(path, "begins another measurement after %zu of %zu images of measurement "
		    "%zu%s", have, wanted, dropped->measurement, dropped->keeps_going ? "" :
		    ": images were dropped, --keep-going goes on without that one");
	}
	return 0;
}

static void
dropped_images_free(struct dropped_images *dropped)
{
	forget_words(dropped);
	free(dropped->word);
	dropped->word = NULL;
}

const char *const measurement_signs[] = { "+1", "-1", "1", NULL };
const char *const measurement_channels[] = { "r", "g", "b", "luma", NULL };
const char *const measurement_dropped[] = { "auto", "time", "number", "no", NULL };

/* ---- before the first image ---- */

#define PERIOD_TOLERANCE 1e-4	/* of a period: they are written with few digits */

/* --count fringes over --field pixels: sets period_px = field_px / count of each. Periods that are
 * given too must agree. -1 after fail_usage(). */
static int
apply_counts(const struct numbers *count, double field_px, struct numbers *period_px)
{
	if (count->n == 0 && isnan(field_px))
		return 0;
	if (count->n == 0)
		return fail_usage("--field", "needs --count");
	if (period_px->n && period_px->n != count->n)
		return fail_usage("--count", "has %zu numbers, --period %zu", count->n,
		    period_px->n);
	if (isnan(field_px))
		return 0;
	for (size_t i = 0; i < period_px->n; i++)
		if (!(fabs(period_px->v[i] * count->v[i] / field_px - 1) < PERIOD_TOLERANCE))
			return fail_usage("--period", "%g px is not %g px / %g fringes = %g px",
			    period_px->v[i], field_px, count->v[i], field_px / count->v[i]);
	if (period_px->n)
		return 0;
	*period_px = (struct numbers){ count->n, must_alloc(count->n, sizeof(*period_px->v)) };
	for (size_t i = 0; i < count->n; i++)
		period_px->v[i] = field_px / count->v[i];
	return 0;
}

int
measurement_init(struct run *run, struct measurement_options *options, bool described,
    struct measurement *measurement)
{
	struct capture_options *captures = &options->captures;

	captures->operands = run->position ? 0 : run->operands;
	measurement->options = options;
	measurement->dropped = (struct dropped_images){ .how = (enum dropped_how)options->dropped,
		.described = described && !captures->order && !options->manifest,
		.rgb = captures->rgb, .verbose = run->verbose };
	run->colour = captures->rgb ? COLOUR_PLANES : options->channel >= 0 ?
	    COLOUR_RED + options->channel : COLOUR_GREY;
	if (captures->rgb && options->channel >= 0)
		return fail_usage("--channel", "takes one colour, --rgb all three");
	if (apply_counts(&options->count, options->field_px, &captures->period_px) < 0)
		return -1;
	measurement->captures = *captures;
	if (options->count.n == 0 || captures->period_px.n)
		return 0;
	/* without --field: a phase needs no period */
	measurement->unknown_px = must_alloc(options->count.n, sizeof(*measurement->unknown_px));
	for (size_t i = 0; i < options->count.n; i++)
		measurement->unknown_px[i] = NAN;
	measurement->captures.period_px = (struct numbers){ options->count.n,
		measurement->unknown_px };
	return 0;
}

int
measurement_read_manifest(struct run *run, struct measurement *measurement)
{
	const char *path = measurement->options->manifest;

	if (!path)
		return 0;
	if (manifest_load(path, &measurement->whole) < 0)
		return -1;
	measurement->manifest_read = true;
	if (manifest_check_rejected(&measurement->whole, path, run_keeps_going(run)) < 0)
		return -1;
	measurement->manifest = (struct manifest){ manifest_measurement(&measurement->whole),
		measurement->whole.row };
	return manifest_operands(&measurement->whole, path, run, &measurement->file);
}

void
measurement_free(struct measurement *measurement)
{
	dropped_images_free(&measurement->dropped);
	image_places_free(measurement->places);
	free(measurement->file);
	free(measurement->unknown_px);
	if (measurement->manifest_read)
		manifest_free(&measurement->whole);
}

int
measurement_arrives(struct run *run, struct measurement *measurement,
    const struct frame_head *head, const char *path, size_t have, size_t wanted, bool *begins)
{
	measurement->dropped.keeps_going = run_keeps_going(run);
	measurement->dropped.measurement = run_inputs(run);
	return dropped_images_take(&measurement->dropped, head, path, have, wanted, begins);
}

/* The places of images like this one, if their keys do not say them. */
static struct image_places *
begin_places(const struct measurement *measurement, const struct frame *in, size_t planes)
{
	const struct capture_options *captures = &measurement->captures;
	enum dropped_how how = measurement->dropped.how;
	struct image_places *places = NULL;
	struct frame_head set = { 0 };

	if ((how != DROPPED_AUTO && how != DROPPED_IMAGES) || in->head.c != 1 || captures->rgb ||
	    captures->flat == FLAT_AUTO || (meta_get(&in->head.meta, "role") && !captures->order))
		return NULL;
	head_copy(&set, &in->head);
	if (head_set_count(&set, planes) == 0)
		places = image_places_new(captures, measurement_manifest(measurement), &set);
	fail_clear();
	head_free(&set);
	return places;
}

/* What no image tells, once, where nobody knows that the first image begins a set. */
static void
note_untold(struct measurement *measurement, bool formed)
{
	static const char *const lines[] = { NULL, "which of them begins a set: phases are off by "
	    "a step's shift if the first one does not", "which period comes first: they could "
	    "not be told apart in this field" };
	enum places_untold untold = image_places_untold(measurement->places);

	if (untold == PLACES_TOLD || measurement->untold_noted ||
	    (!formed && untold != PLACES_ALIKE))
		return;
	warn(NULL, "nothing in the images tells %s; %s; begin with a set's first image, or project "
	    "fringegen --lead black", lines[untold], formed ? "the first image is taken as a set's "
	    "first" : "no set is formed");
	measurement->untold_noted = true;
}

void
measurement_holds(struct run *run, struct measurement *measurement, const struct frame *in,
    size_t planes, bool ended, size_t *images, size_t *measurements)
{
	enum places_answer answer = PLACES_SET;

	measurement->counted |= in && (meta_get(&in->head.meta, "frame_number") ||
	    meta_get(&in->head.meta, "time_s"));
	/* files are in step as a rule, and checks name what is wrong with them */
	if (in && !measurement->places_begun &&
	    (measurement->dropped.how == DROPPED_IMAGES || run_reads_stream(run)))
		measurement->places = begin_places(measurement, in, planes);
	measurement->places_begun = true;
	*images = SIZE_MAX;
	if (!measurement->places)
		return;
	if (in)
		image_places_take(measurement->places, in);
	answer = image_places_next(measurement->places, ended, images, measurements);
	if (answer == PLACES_WAIT)
		*images = 0;
	if ((answer == PLACES_SET || ended) &&
	    (run_reads_stream(run) || measurement->dropped.how == DROPPED_IMAGES))
		note_untold(measurement, answer == PLACES_SET);
	/* of files whose later sets are in step the checks name the image that is wrong */
	if (answer == PLACES_LEFT_OUT && !run_reads_stream(run) &&
	    *images % image_places_set(measurement->places) == 0)
		*measurements = 0;
	else if (answer == PLACES_LEFT_OUT)
		fail(NULL, "images %zu to %zu, by what they look like, are of %s images: %s",
		    measurement->images + 1, measurement->images + *images, *measurements > 1 ?
		    "measurements that lack" : "a measurement that lacks", run_keeps_going(run) ||
		    run_reads_stream(run) ? "some were lost" : "some were lost, --keep-going goes "
		    "on without, --dropped no takes them as they come");
	measurement->images += *images;
	if ((answer == PLACES_WAIT && ended) || (answer == PLACES_SET && measurement->counted &&
	    measurement->dropped.how == DROPPED_AUTO)) {
		*images = SIZE_MAX;	/* numbers count from here on */
		image_places_free(measurement->places);
		measurement->places = NULL;
	}
}

/*
 * ---- options against what the images are by a manifest, or by their own keys ----
 *
 * What contradicts a manifest is an error, what contradicts keys is a warning.
 */

#define TOLERANCE 1e-4	/* of a period, or radians: numbers are written with few digits */

struct statement {
	const struct measurement *measurement;
	const struct manifest *manifest;	/* NULL: the images' own keys count */
	const struct frame_head *head;
	const struct capture_set *set;		/* sorted by the manifest or the keys */
	const char *images_say, *image_says;
};

/* Frees the text. The option counts against keys; -1 after fail_usage() against a manifest. */
static int
contradict(const struct statement *statement, const char *option, char *text)
{
	int status = 0;

	if (statement->manifest)
		status = fail_usage(option, "%s", text);
	else
		warn(option, "%s: the option counts", text);
	free(text);
	return status;
}

/* shift_rad or period_px of image i; NaN where it is not stated. */
static double
stated_number(const struct statement *statement, bool shift, size_t i)
{
	const struct frame_head *head = statement->head;
	const char *list;
	char word[64], *end;
	double v;

	if (statement->manifest)
		return shift ? statement->manifest->row[i].shift_rad :
		    statement->manifest->row[i].period_px;
	list = meta_get(&head->meta, shift ? "shift_rad" : "period_px");
	if (!list || !meta_word(list, meta_words(list) == head->c ? i : 0, word, sizeof(word)))
		return NAN;
	v = strtod(word, &end);
	return end == word || *end ? NAN : v;
}

/* A period that no image has. */
static int
compare_periods(const struct statement *statement)
{
	const struct numbers *period_px = &statement->measurement->captures.period_px;
	size_t images = statement->manifest ? statement->manifest->n : statement->head->c;

	for (size_t k = 0; k < period_px->n; k++) {
		double other = NAN;
		bool found = false;

		for (size_t i = 0; i < images && !found; i++) {
			double own = stated_number(statement, false, i);

			found = isnan(period_px->v[k]) ||
			    fabs(own / period_px->v[k] - 1) < TOLERANCE;
			other = isnan(other) ? own : other;
		}
		if (found || isnan(other))
			continue;
		return contradict(statement, "--period", must_format("says %g px, and %s period_px "
		    "%g", period_px->v[k], statement->images_say, other));
	}
	return 0;
}

/* The first shift that differs from the image's own. */
static int
compare_shifts(const struct statement *statement)
{
	const struct capture_options *options = &statement->measurement->captures;
	const struct numbers *shift_rad = &options->shift_rad;
	const struct capture_set *set = statement->set;

	for (size_t k = 0; k < set->fringes && shift_rad->n; k++)
		for (size_t i = 0; i < set->fringe[k].n && i < shift_rad->n; i++) {
			double own = stated_number(statement, true, set->fringe[k].plane[i]);
			double apart = remainder(own - shift_rad->v[i], 2 * M_PI);

			if (isnan(own) || fabs(apart) < TOLERANCE + options->shift_slack_rad)
				continue;
			return contradict(statement, "--shift", must_format("says %g degrees for "
			    "image %zu of a period, and %s shift_rad %g (%g degrees)",
			    shift_rad->v[i] * 180 / M_PI, i + 1, statement->image_says, own,
			    own * 180 / M_PI));
		}
	return 0;
}

/* The first fringe set along another axis. */
static int
compare_axes(const struct statement *statement)
{
	const struct frame_head *head = statement->head;
	const struct capture_set *set = statement->set;
	const char *own = meta_get(&head->meta, "axis");
	char word[8] = "";

	for (size_t k = 0; statement->measurement->captures.axis && k < set->fringes; k++) {
		size_t i = set->fringe[k].plane[0];
		char axis = 0;

		if (statement->manifest)
			axis = statement->manifest->row[i].axis;
		else if (own && meta_word(own, meta_words(own) == head->c ? i : 0, word,
		    sizeof(word)) && (!strcmp(word, "x") || !strcmp(word, "y")))
			axis = word[0];
		if (!axis || axis == set->fringe[k].axis)
			continue;
		return contradict(statement, "--axis", must_format("says %c, and %s axis %c",
		    set->fringe[k].axis, statement->images_say, axis));
	}
	return 0;
}

/* Another cell of the Gray code. */
static int
compare_cells(const struct statement *statement)
{
	int given = statement->measurement->captures.gray_cell;
	const char *keys = meta_get(&statement->head->meta, "gray_cell"), *other = NULL;
	char word[32];

	if (given < 0)
		return 0;
	for (size_t i = 0; statement->manifest && i < statement->manifest->n && !other; i++) {
		enum manifest_cell own = statement->manifest->row[i].gray_cell;

		if (own != CELL_NONE && own != (enum manifest_cell)given)
			other = manifest_cells[own];
	}
	if (!statement->manifest && keys && meta_word(keys, 0, word, sizeof(word)) &&
	    strcmp(word, "-") && strcmp(word, manifest_cells[given]))
		other = word;
	return other ? contradict(statement, "--gray-cell", must_format("says %s, and %s gray_cell "
	    "%s", manifest_cells[given], statement->images_say, other)) : 0;
}

/* ---- options against the images' own keys ---- */

/* Another number of Gray planes. */
static void
warn_gray(const struct numbers *gray, const char *roles)
{
	size_t own = 0;
	double planes = 0;
	char word[32];

	for (size_t i = 0; meta_word(roles, i, word, sizeof(word)); i++)
		own += !strcmp(word, "gray");
	for (size_t i = 0; i < gray->n; i++)
		planes += gray->v[i];
	if (gray->n && planes != (double)own)
		warn("--gray", "says %g planes, and of the images %zu say that they are some: the "
		    "images count", planes, own);
}

/* The first fringe set of another number of images. */
static void
warn_steps(long steps, const struct capture_set *set)
{
	char name[CAPTURE_SET_NAME_SIZE];

	for (size_t k = 0; k < set->fringes && steps > 0; k++)
		if ((size_t)steps != set->fringe[k].n) {
			warn("--steps", "says %ld images of a period, and of the images themselves "
			    "%zu say that they are of %s: the images count", steps,
			    set->fringe[k].n, capture_set_name(&set->fringe[k], name));
			return;
		}
}

/* sign: 1 or -1; NaN: not given. -1 after fail(): a key that is no number, or no image of --kind.
 */
static int
compare_keys(const struct statement *statement, double sign)
{
	const struct capture_options *options = &statement->measurement->captures;
	const struct capture_set *set = statement->set;
	const struct meta *meta = &statement->head->meta;
	const char *roles = meta_get(meta, "role");
	double origin_rad = statement->measurement->options->phase_origin, own_sign, own_origin;

	if (!roles || options->order)
		return 0;
	if (meta_number(meta, "phase_sign", 1, &own_sign) < 0 ||
	    meta_number(meta, "phase_origin_rad", 0, &own_origin) < 0)
		return -1;
	if (options->kind == CAPTURES_TWO_PLUS_ONE && set->fringes == 0 && set->codes)
		return fail("--kind", "says 2+1, and none of the images says that it is one (roles "
		    "sin, cos, flat)");
	if (options->kind == CAPTURES_STEP && set->fringes == 0 && set->codes)
		return fail("--kind", "says step, and none of the images says that it is one (role "
		    "phase)");
	warn_steps(options->steps, set);
	compare_periods(statement);
	compare_shifts(statement);
	warn_gray(&options->gray, roles);
	compare_cells(statement);
	compare_axes(statement);
	if (!isnan(sign) && sign != own_sign)
		warn("--sign", "says %+g, and by the images' own keys it is %+g: the option counts",
		    sign, own_sign);
	if (!isnan(origin_rad) && fabs(remainder(origin_rad - own_origin, 2 * M_PI)) > TOLERANCE)
		warn("--phase-origin", "says %g degrees, and by the images' own keys it is %g: the "
		    "option counts", origin_rad * 180 / M_PI, own_origin * 180 / M_PI);
	return 0;
}

/* ---- options against a manifest ---- */

static int
compare_manifest_gray(const struct statement *statement, const char *path)
{
	const struct capture_options *options = &statement->measurement->captures;
	const struct capture_set *set = statement->set;

	if (options->inverse && set->codes == 0)
		return fail_usage("--inverse", "the manifest %s has no Gray code", path);
	for (size_t a = 0; a < options->gray.n || a < set->codes; a++) {
		double own = a < set->codes ? (double)set->code[a].n : 0;
		double given = a < options->gray.n ? options->gray.v[a] : 0;

		if (options->gray.n && given != own)
			return fail_usage("--gray", "says %g planes, and the manifest %s has %g",
			    given, path, own);
		if (options->inverse && !set->code[a].inverse)
			return fail_usage("--inverse", "the manifest %s has no role gray_inverse",
			    path);
	}
	return 0;
}

static int
compare_manifest_flats(const struct statement *statement, const char *path)
{
	long own = 0, given = statement->measurement->captures.flats;

	if (!capture_roles_given(given))
		return 0;
	for (size_t k = 0; k < statement->set->fringes; k++)
		if (statement->set->fringe[k].two_plus_one)
			return 0;	/* one of their three is flat */
	for (size_t i = 0; i < statement->manifest->n; i++) {
		enum manifest_role role = statement->manifest->row[i].role;

		own += role == ROLE_WHITE || role == ROLE_BLACK || role == ROLE_FLAT;
	}
	return own == given ? 0 : fail_usage("--flats",
	    "says %ld, and the manifest %s has %ld flat images", given, path, own);
}

static bool
differ(double a, double b, double scale)
{
	return fabs(a - b) > TOLERANCE * scale;	/* NaN: one of them says nothing */
}

/* Warns of the first image whose own keys contradict its row. */
static int
compare_rows(const struct statement *statement, const char *path)
{
	const struct frame_head *head = statement->head;
	bool found = false;

	if (!meta_get(&head->meta, "role"))
		return 0;
	for (size_t i = 0; i < head->c && i < statement->manifest->n && !found; i++) {
		const struct manifest_row *row = &statement->manifest->row[i];
		struct manifest_row own = { 0 };
		struct meta meta = { 0 };
		int status;

		meta_copy(&meta, &head->meta);
		status = meta_slice(&meta, head->c, i, 1);
		if (status == 0)
			status = manifest_row_from_meta(&meta, "image", &own);
		meta_free(&meta);
		if (status < 0)
			return -1;
		found = own.role != row->role ||
		    differ(own.period_px, row->period_px, row->period_px) ||
		    (own.axis && row->axis && own.axis != row->axis) ||
		    fabs(remainder(own.shift_rad - row->shift_rad, 2 * M_PI)) > TOLERANCE ||
		    (own.bit != row->bit && own.bit >= 0 && row->bit >= 0);
		if (found)
			warn("--manifest", "%s says that image %zu is %s step %ld, period_px %g, "
			    "and the image itself %s step %ld, period_px %g: the manifest counts",
			    path, i + 1, manifest_roles[row->role], row->step, row->period_px,
			    manifest_roles[own.role], own.step, own.period_px);
		free(own.file);
	}
	return 0;
}

static int
compare_manifest(const struct statement *statement, double sign)
{
	const struct capture_options *options = &statement->measurement->captures;
	const char *path = statement->measurement->options->manifest;
	const struct capture_set *set = statement->set;

	if (options->order)
		warn("--order", "%s does not count beside the manifest %s, which says what each "
		    "image is", options->order, path);
	for (size_t k = 0; k < set->fringes && capture_roles_given(options->steps); k++)
		if (set->fringe[k].n != (size_t)options->steps)
			return fail_usage("--steps", "says %ld images of a period, and the "
			    "manifest %s has %zu of period %zu", options->steps, path,
			    set->fringe[k].n, k + 1);
	if (compare_periods(statement) < 0 || compare_shifts(statement) < 0 ||
	    compare_axes(statement) < 0 || compare_manifest_gray(statement, path) < 0 ||
	    compare_cells(statement) < 0 || compare_manifest_flats(statement, path) < 0)
		return -1;
	/* the shifts of a manifest are those of I = A + B cos(phase + shift), with their signs */
	for (size_t k = 0; k < set->fringes && sign < 0; k++)
		if (!isnan(stated_number(statement, true, set->fringe[k].plane[0])))
			return fail_usage("--sign", "says %g, and the manifest %s gives shift_rad "
			    "with its sign, I = A + B cos(phase + shift)", sign, path);
	return compare_rows(statement, path);
}

/* Does the manifest have images of --kind? Before they are sorted. -1 after fail_usage(). */
static int
check_kind(enum capture_kind kind, const char *path, const struct manifest *manifest)
{
	bool equal = false, two_plus_one = false, gray = false;

	for (size_t i = 0; i < manifest->n; i++) {
		enum manifest_role role = manifest->row[i].role;

		equal |= role == ROLE_PHASE;
		two_plus_one |= role == ROLE_SIN || role == ROLE_COS;
		gray |= role == ROLE_GRAY;
	}
	if (kind == CAPTURES_TWO_PLUS_ONE && !two_plus_one)
		return fail_usage("--kind", "says 2+1, and the manifest %s has %s", path,
		    equal ? "fringes of equal steps (role phase)" : "no fringe images");
	if (kind == CAPTURES_STEP && !equal)
		return fail_usage("--kind", "says step, and the manifest %s has %s", path,
		    two_plus_one ? "2+1 images (roles sin, cos, flat)" : "no fringe images");
	if (kind == CAPTURES_GRAY && !gray)
		return fail_usage("--kind", "says gray, and the manifest %s has no Gray planes",
		    path);
	return 0;
}

/* ---- for frames of one head ---- */

int
measurement_begin(const struct run *run, struct measurement *measurement,
    const struct frame_head *in)
{
	const struct manifest *manifest = measurement_manifest(measurement);

	measurement->roles_known = manifest ||
	    (meta_get(&in->meta, "role") && !measurement->captures.order);
	if (capture_set_check_names(&measurement->captures, manifest, in, run->operand,
	    run->position ? 0 : run->operands) < 0)
		return -1;
	return manifest ? check_kind((enum capture_kind)measurement->captures.kind,
	    measurement->options->manifest, manifest) : 0;
}

int
measurement_solve(struct measurement *measurement, const struct frame_head *head,
    const struct capture_set *set)
{
	static const double words[] = { 1, -1, 1 };
	const struct measurement_options *options = measurement->options;
	double given = options->sign >= 0 ? words[options->sign] : NAN;
	struct statement statement = { measurement, measurement_manifest(measurement), head, set,
		"the images themselves say", "the image itself says" };
	char *manifest_says = NULL;
	int status = 0;

	if (statement.manifest)
		statement.images_say = statement.image_says = manifest_says =
		    must_format("the manifest %s says", options->manifest);
	if (!measurement->compared)
		status = statement.manifest ? compare_manifest(&statement, given) :
		    compare_keys(&statement, given);
	free(manifest_says);
	measurement->compared = status == 0;
	if (status < 0 || meta_number(&head->meta, "phase_sign", 1, &measurement->sign) < 0 ||
	    meta_number(&head->meta, "phase_origin_rad", 0, &measurement->origin_rad) < 0)
		return -1;
	if (!isnan(given))
		measurement->sign = given;
	if (measurement->sign != 1 && measurement->sign != -1)
		return fail("phase_sign", "must be 1 or -1, not %g", measurement->sign);
	if (!isnan(options->phase_origin))
		measurement->origin_rad = options->phase_origin;
	return 0;
}

void
measurement_describe(const struct measurement *measurement, struct meta *meta)
{
	const double *field_px = &measurement->options->field_px;

	meta_remove(meta, "decoded_sign");
	meta_remove(meta, "decoded_origin_rad");
	if (!isnan(*field_px))
		meta_set_numbers(meta, "field_px", field_px, 1);
	if (measurement->sign != 1)
		meta_set_numbers(meta, "decoded_sign", &measurement->sign, 1);
	if (measurement->origin_rad != 0)
		meta_set_numbers(meta, "decoded_origin_rad", &measurement->origin_rad, 1);
}

double
measurement_full_scale(enum sample type)
{
	static const double most[] = { 255, 65535, INFINITY };

	return most[type];
}

int
measurement_limit(const struct run *run, const struct measurement_options *options,
    const struct frame_head *in, struct measurement_limits *limits)
{
	double most;

	if (run_number(run, options->max_value, in, "max_value", measurement_full_scale(in->type),
	    &most) < 0)
		return -1;
	*limits = (struct measurement_limits){ .max_value = (float)most,
		.least_amplitude = (float)options->min_amplitude,
		.least_modulation = (float)options->min_modulation,
		.least_mean = isnan(options->dark) ? -INFINITY : (float)options->dark };
	return 0;
}

void
measurement_copy_markers(const struct capture_set *captures, const struct frame *in, size_t first,
    struct frame *out, size_t y)
{
	for (size_t i = 0; i < captures->markers; i++) {
		float *to = frame_floats(out, first + i, y);

		for (size_t x = 0; x < in->head.w; x++)
			to[x] = frame_sample(in, captures->marker[i].plane, y, x);
	}
}

/*
 * ---- a late start ----
 *
 * A set whose capture began some images late has right phases of another origin. Against another
 * period that shows as an offset, unless the offset makes up whole fringes.
 */

#define SEEN_OFFSET 0.06	/* turns of offset that unwrap2f tells from none */

/* The orders of set i that follow from the beat with set k, if set i began so many images late. */
static double
orders_off(const struct capture_fringe *i, const struct capture_fringe *k, size_t late)
{
	return (double)late / (double)i->n * i->period_px / fabs(k->period_px - i->period_px);
}

/*
 * The fewest images by which the fringe set may have begun late without an offset to any other
 * period along its axis. 0: any late start would show, or a Gray code shows it, or nothing is
 * known. orders: by how many fringes the orders would be off.
 */
static size_t
late_start_unseen(const struct capture_set *captures, size_t set, double *orders)
{
	const struct capture_fringe *own = &captures->fringe[set];

	for (size_t a = 0; a < captures->codes; a++)
		if (captures->code[a].axis == own->axis)
			return 0;
	for (size_t late = 1; late < own->n && !own->two_plus_one; late++) {
		bool seen = false, compared = false;

		for (size_t k = 0; k < captures->fringes; k++) {
			const struct capture_fringe *other = &captures->fringe[k];
			double off = orders_off(own, other, late);

			if (k == set || other->axis != own->axis || !isfinite(off))
				continue;
			if (!compared)
				*orders = round(off);
			compared = true;
			seen |= fabs(off - round(off)) > SEEN_OFFSET;
		}
		if (compared && !seen)
			return late;
	}
	return 0;
}

void
late_start_note(const struct capture_set *captures)
{
	for (size_t k = 0; k < captures->fringes; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		char name[CAPTURE_SET_NAME_SIZE];
		double orders;
		size_t late = late_start_unseen(captures, k, &orders);

		if (!late)
			continue;
		note(capture_set_name(fringe, name), "nothing in the images tells whether they "
		    "began %zu of %zu late, or early: fringe orders would be off by %g, and fit",
		    late, fringe->n, orders);
		return;
	}
}
