/*
 * Images that a camera has dropped: where does the next measurement begin? There are three ways to
 * tell: what the images are by their own keys (role, step, ...), compared with the order of the
 * first measurement; their number (key frame_number, or the last number in a file's name); and the
 * key time_s, whose intervals are equal.
 */
#include "fringe/measurement.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process.h"

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
add_word(struct dropped_images *dropped, const char *word)
{
	if (dropped->words == dropped->room) {
		dropped->room = 2 * dropped->room + 16;
		dropped->word = must_resize(dropped->word, dropped->room, sizeof(*dropped->word));
	}
	dropped->word[dropped->words++] = must_strdup(word);
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
	add_word(dropped, word);
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

static int
compare_intervals(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
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
	qsort(sorted, n, sizeof(*sorted), compare_intervals);
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

int
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

void
dropped_images_free(struct dropped_images *dropped)
{
	forget_words(dropped);
	free(dropped->word);
	dropped->word = NULL;
	dropped->room = 0;
}
