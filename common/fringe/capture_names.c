/* Compares file names with the order in which images are taken; declared in capture_set.h. */
#define _GNU_SOURCE
#include "fringe/capture_set.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"

/* What the operands read so far were. */
struct seen {
	char gray[256];			/* name of the first Gray plane; empty: none yet */
	bool phase_before;		/* a phase image came before it */
};

static bool
begins(const char *name, const char *word)
{
	return !strncasecmp(name, word, strlen(word));
}

/* Takes one name; true if it is the first phase image and a Gray plane came before it. */
static bool
see_name(struct seen *seen, const char *name)
{
	if (begins(name, "phase")) {
		if (seen->gray[0] && !seen->phase_before)
			return true;
		seen->phase_before = true;
	}
	if ((begins(name, "gray") || begins(name, "grey")) && !seen->gray[0])
		snprintf(seen->gray, sizeof(seen->gray), "%.255s", name);
	return false;
}

/* Takes the names of a folder: "gray" and "grey" before "phase", in whatever order readdir() lists
 * them. */
static bool
see_folder(struct seen *seen, DIR *dir)
{
	struct dirent *entry;
	bool found = false;

	for (int phases = 0; phases < 2 && !found; phases++) {
		rewinddir(dir);
		while (!found && (entry = readdir(dir)))
			if (begins(entry->d_name, "phase") == (bool)phases)
				found = see_name(seen, entry->d_name);
	}
	return found;
}

/* Are files in the order of their names as text, and not of the numbers in them: 1 10 2? */
static void
warn_text_order(char *const *operand, size_t operands)
{
	static bool warned;
	size_t at = 0;

	for (size_t i = 1; i < operands; i++) {
		if (strcmp(operand[i - 1], operand[i]) >= 0)
			return;
		if (!at && strverscmp(operand[i - 1], operand[i]) > 0)
			at = i;
	}
	if (at && !warned)
		warn(NULL, "%.200s comes before %.200s, as a shell sorts numbers without zeros: "
		    "give the folder, or the files in the order of their numbers",
		    operand[at - 1], operand[at]);
	warned |= at > 0;
}

int
capture_set_check_names(const struct capture_options *options, const struct manifest *manifest,
    const struct frame_head *head, char *const *operand, size_t operands)
{
	const char *order = options->order;
	bool groups = order && (strstr(order, "phase") || strstr(order, "gray"));
	struct seen seen = { 0 };
	bool found = false;

	if (manifest || (meta_get(&head->meta, "role") && !order))
		return 0;
	warn_text_order(operand, operands);
	if (groups || options->gray.n == 0 || options->kind != CAPTURES_ALL)
		return 0;
	for (size_t i = 0; i < operands && !found; i++) {
		const char *slash = strrchr(operand[i], '/');
		DIR *dir = opendir(operand[i]);

		found = dir ? see_folder(&seen, dir) :
		    see_name(&seen, slash ? slash + 1 : operand[i]);
		if (dir)
			closedir(dir);
	}
	if (!found)
		return 0;
	if (order)
		return fail_usage("--order", "%s says nothing of phase and gray: phase images are "
		    "taken first, but %.200s stands before them: give --order gray,phase,%s", order,
		    seen.gray, order);
	return fail_usage("--order", "not given, phase images are taken first, but %.200s stands "
	    "before them: give --order gray,phase", seen.gray);
}
