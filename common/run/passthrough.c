#define _GNU_SOURCE
#include "run/passthrough.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static bool
is_in(const char *list, const char *word)
{
	char one[CHANNEL_NAME_SIZE];

	for (size_t i = 0; meta_word(list, i, one, sizeof(one)); i++)
		if (!strcmp(one, word))
			return true;
	return false;
}

int
passthrough_plan(struct run *run, struct passthrough *passing, struct frame_head *out,
    const char *before, const char *replaced, const char *behind)
{
	char *names =
	    malloc(strlen(before) + strlen(behind) + 2 + out->c * (CHANNEL_NAME_SIZE + 1));
	char *end;
	int status;

	passthrough_free(passing);
	passing->first = meta_words(before);
	passing->channel = calloc(out->c, sizeof(*passing->channel));
	if (!names || !passing->channel) {
		free(names);
		return fail_memory();
	}
	end = stpcpy(names, before);
	for (size_t i = 0; i < out->c; i++)
		if (!is_in(replaced, out->channel[i])) {
			passing->channel[passing->n++] = i;
			end = stpcpy(stpcpy(end, end == names ? "" : " "), out->channel[i]);
		}
	stpcpy(stpcpy(end, end == names ? "" : " "), behind);
	status = head_set_channels(out, names);
	free(names);
	for (size_t i = 0; i < passing->n && status == 0; i++)
		status = run_pass(run, passing->first + i, passing->channel[i]);
	return status;
}

void
passthrough_row(
    const struct passthrough *passing, const struct frame *in, struct frame *out, size_t y)
{
	for (size_t i = 0; i < passing->n; i++)
		frame_pass(in, passing->channel[i], out, passing->first + i, y);
}

void
passthrough_free(struct passthrough *passing)
{
	free(passing->channel);
	passing->channel = NULL;
	passing->n = 0;
}
