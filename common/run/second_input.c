#include "run/second_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option of type OPT_FRAME may list words that stand for no file. */
static bool
is_word(const struct opt *opt, const char *path)
{
	for (size_t i = 0; opt->words && opt->words[i]; i++)
		if (!strcmp(opt->words[i], path))
			return true;
	return false;
}

int
second_inputs_find(struct link *link)
{
	const struct opt *table = link_options(link->run.stage);

	for (const struct opt *opt = table; opt->name; opt++) {
		const char *path;
		struct second_input *more;

		if (opt->type != OPT_FRAME)
			continue;
		path = *(const char *const *)((char *)link->run.parameters + opt->offset);
		if (!path || is_word(opt, path))
			continue;
		more = reallocarray(link->second_input, link->second_inputs + 1, sizeof(*more));
		if (!more)
			return fail_memory();
		link->second_input = more;
		more[link->second_inputs++] = (struct second_input){ .opt = opt, .path = path };
	}
	return 0;
}

static int
second_input_load(struct second_input *second)
{
	struct frame *frame;
	int got;

	if (second->single)
		return 0;
	if (!second->source) {
		second->source = source_open(second->path);
		if (!second->source)
			return -1;
	}
	got = source_next(second->source, &frame);
	if (got < 0)
		return -1;
	if (got == 0) {
		if (second->frames != 1)
			return fail(second->path,
			    "has only %zu frames for --%s, the input has more", second->frames,
			    second->opt->name);
		second->single = true;
		return 0;
	}
	frame_free(second->frame);
	got = frame_to_float(frame, &second->frame);
	frame_free(frame);
	second->frames++;
	return got;
}

/* Reads the next frame of every second input, once per input. */
int
second_inputs_read(struct link *link)
{
	for (size_t i = 0; !link->second_inputs_read && i < link->second_inputs; i++)
		if (second_input_load(&link->second_input[i]) < 0)
			return -1;
	link->second_inputs_read = true;
	return 0;
}

size_t
second_inputs_channels(const struct link *link)
{
	size_t n = 0;

	for (size_t i = 0; i < link->second_inputs; i++)
		n += link->second_input[i].frame->head.c;
	return n;
}

static int
second_input_check_size(const struct second_input *second, const struct frame_head *head)
{
	const struct frame_head *own = &second->frame->head;

	if (own->w == head->w && own->h == head->h)
		return 0;
	return fail(second->path, "is %zu x %zu, the input is %zu x %zu", own->w, own->h, head->w,
	    head->h);
}

/* "OPTION.CHANNEL": what channel k of a second input is called behind the input's own. */
void
second_input_name(const struct second_input *second, size_t k, char name[CHANNEL_NAME_SIZE])
{
	memset(name, 0, CHANNEL_NAME_SIZE);
	if (snprintf(name, CHANNEL_NAME_SIZE, "%s.%s", second->opt->name,
	    second->frame->head.channel[k]) >= CHANNEL_NAME_SIZE)
		name[CHANNEL_NAME_SIZE - 1] = '\0';
}

/* The head with the channels of the second inputs behind its own. */
int
second_inputs_widen_head(const struct link *link, const struct frame_head *head, struct frame_head *wide)
{
	size_t more = second_inputs_channels(link), c = head->c;
	char (*names)[CHANNEL_NAME_SIZE];

	if (head_copy(wide, head) < 0)
		return -1;
	if (more == 0)
		return 0;
	names = reallocarray(wide->channel, c + more, sizeof(*names));
	if (!names) {
		head_free(wide);
		return fail_memory();
	}
	wide->channel = names;
	wide->c = c + more;
	for (size_t i = 0; i < link->second_inputs; i++) {
		const struct second_input *second = &link->second_input[i];

		if (second_input_check_size(second, head) < 0) {
			head_free(wide);
			return -1;
		}
		for (size_t k = 0; k < second->frame->head.c; k++)
			second_input_name(second, k, names[c++]);
	}
	return 0;
}

/* Fills the planes from c on with those of the second inputs. */
void
second_inputs_lend(const struct link *link, struct frame *to, size_t c)
{
	for (size_t i = 0; i < link->second_inputs; i++)
		for (size_t k = 0; k < link->second_input[i].frame->head.c; k++)
			to->plane[c++] = link->second_input[i].frame->plane[k];
}

/* Adds the planes of the second inputs to the frame itself, which the flow will own. */
int
second_inputs_add(const struct link *link, struct frame **frame)
{
	struct frame *wide;
	size_t c = (*frame)->head.c;

	if (link->second_inputs == 0)
		return 0;
	if (frame_new_empty(&link->in, &wide) < 0)
		return -1;
	for (size_t i = 0; i < c; i++)
		frame_share(wide, i, *frame, i);
	for (size_t i = 0; i < link->second_inputs; i++)
		for (size_t k = 0; k < link->second_input[i].frame->head.c; k++)
			frame_share(wide, c++, link->second_input[i].frame, k);
	frame_free(*frame);
	*frame = wide;
	return 0;
}

int
run_second_input(const struct run *run, const struct frame_head *head, const char *option,
    const char *channel, size_t *c)
{
	char name[2 * CHANNEL_NAME_SIZE], prefix[CHANNEL_NAME_SIZE + 1];
	size_t found = 0;

	if (channel) {
		snprintf(name, sizeof(name), "%s.%s", option, channel);
		*c = head_channel(head, name);
		if (*c != NO_CHANNEL)
			return 0;
	}
	snprintf(prefix, sizeof(prefix), "%s.", option);
	for (size_t i = 0; i < head->c; i++)
		if (!strncmp(head->channel[i], prefix, strlen(prefix))) {
			*c = i;
			found++;
		}
	if (found == 1)
		return 0;
	(void)run;
	return fail(NULL, "the image of --%s has %zu channels and none is named %s", option, found,
	    channel ? channel : "image");
}

const struct frame_head *
run_second_input_head(const struct run *run, const char *option)
{
	const struct link *link = run->link;

	for (size_t i = 0; i < link->second_inputs; i++)
		if (!strcmp(link->second_input[i].opt->name, option) && link->second_input[i].frame)
			return &link->second_input[i].frame->head;
	return NULL;
}
