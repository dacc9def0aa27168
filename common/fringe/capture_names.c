/* Compares file names with the order in which images are taken; declared in capture_set.h. */
#define _GNU_SOURCE
#include "fringe/capture_set.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "io/text_order.h"

/* What the operands read so far were. */
struct seen {
	bool gray_first;		/* Gray planes come before phases, by --order */
	char other[256];		/* the first that belongs behind; empty: none yet */
	bool first_before;		/* one that belongs before came before it */
};

/* "ps_01", "PS1": the word, and behind it no letter. */
static bool
begins(const char *name, const char *word, bool whole)
{
	size_t n = strlen(word);

	return !strncasecmp(name, word, n) && !(whole && isalpha((unsigned char)name[n]));
}

static bool
is_phase(const char *name)
{
	return begins(name, "phase", false) || begins(name, "fringe", false) ||
	    begins(name, "ps", true) || begins(name, "psp", true);
}

static bool
is_gray(const char *name)
{
	return begins(name, "gray", false) || begins(name, "grey", false) ||
	    begins(name, "gc", true) || begins(name, "gcp", true);
}

/* Takes one name; true if it is the first of those that belong before, and another came before. */
static bool
see_name(struct seen *seen, const char *name)
{
	bool first = seen->gray_first ? is_gray(name) : is_phase(name);
	bool other = seen->gray_first ? is_phase(name) : is_gray(name);

	if (first) {
		if (seen->other[0] && !seen->first_before)
			return true;
		seen->first_before = true;
	}
	if (other && !seen->other[0])
		snprintf(seen->other, sizeof(seen->other), "%.255s", name);
	return false;
}

/* Keeps the name that comes first. */
static void
keep_first(char first[256], const char *name)
{
	if (!first[0] || strverscmp(name, first) < 0)
		snprintf(first, 256, "%.255s", name);
}

/* Takes the names of a folder in the order in which they are read, which is not readdir()'s; where
 * they say nothing, the folder's own name. */
static bool
see_folder(struct seen *seen, DIR *dir, const char *path)
{
	char phase[256] = "", gray[256] = "";
	bool gray_first, found = false;
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		if (is_phase(entry->d_name))
			keep_first(phase, entry->d_name);
		if (is_gray(entry->d_name))
			keep_first(gray, entry->d_name);
	}
	if (!phase[0] && !gray[0]) {
		size_t n = strlen(path), start;

		while (n > 1 && path[n - 1] == '/')
			n--;
		for (start = n; start > 0 && path[start - 1] != '/'; start--)
			;
		snprintf(phase, sizeof(phase), "%.*s", (int)(n - start < 255 ? n - start : 255),
		    path + start);
		return see_name(seen, phase);
	}
	gray_first = gray[0] && (!phase[0] || strverscmp(gray, phase) < 0);
	for (int k = 0; k < 2 && !found; k++)
		found = see_name(seen, gray_first == !k ? gray : phase);
	return found;
}

/* Are files, or some in a row whose names are alike, in the order of their names as text, and not
 * of the numbers in them: 1 10 2? */
static void
warn_text_order(char *const *operand, size_t operands)
{
	static bool warned;
	size_t at = text_order_find(operand, operands);

	if (at == operands)
		at = text_order_find_alike(operand, operands, 2);
	if (at < operands && !warned)
		text_order_warn(operand, at);
	warned |= at < operands;
}

/* Where phases and Gray planes stand, by --order: its first word of both. */
static bool
puts_gray_first(const char *order)
{
	const char *phase = order ? strstr(order, "phase") : NULL;
	const char *gray = order ? strstr(order, "gray") : NULL;

	return gray && (!phase || gray < phase);
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Do the first operands have the names of a manifest's rows, in another order? */
static int
check_manifest_order(const struct manifest *manifest, char *const *operand, size_t operands)
{
	if (operands % manifest->n)
		return 0;
	for (size_t i = 0; i < manifest->n && operands; i++) {
		const char *name = base_name(operand[i]), *own = base_name(manifest->row[i].file);

		for (size_t k = 0; strcmp(name, own) && k < manifest->n; k++)
			if (!strcmp(name, base_name(manifest->row[k].file)))
				return fail_usage("--manifest", "image %zu is %.200s, and the "
				    "manifest says that it is %.200s: its images must come in "
				    "its order", i + 1, operand[i], own);
	}
	return 0;
}

int
capture_set_check_names(const struct capture_options *options, const struct manifest *manifest,
    const struct frame_head *head, char *const *operand, size_t operands)
{
	const char *order = options->order;
	bool groups = order && (strstr(order, "phase") || strstr(order, "gray"));
	struct seen seen = { .gray_first = groups && puts_gray_first(order) };
	bool found = false;

	if (manifest)
		return check_manifest_order(manifest, operand, operands);
	if (meta_get(&head->meta, "role") && !order)
		return 0;
	warn_text_order(operand, operands);
	if (options->gray.n == 0 || options->kind != CAPTURES_ALL)
		return 0;
	for (size_t i = 0; i < operands && !found; i++) {
		DIR *dir = opendir(operand[i]);

		found = dir ? see_folder(&seen, dir, operand[i]) :
		    see_name(&seen, base_name(operand[i]));
		if (dir)
			closedir(dir);
	}
	if (!found)
		return 0;
	if (groups) {
		warn("--order", "%s takes %s images first, but %.200s stands before them: are they "
		    "in this order?", order, seen.gray_first ? "Gray" : "phase", seen.other);
		return 0;
	}
	if (order)
		return fail_usage("--order", "%s says nothing of phase and gray: phase images are "
		    "taken first, but %.200s stands before them: give --order gray,phase,%s", order,
		    seen.other, order);
	return fail_usage("--order", "not given, phase images are taken first, but %.200s stands "
	    "before them: give --order gray,phase", seen.other);
}
