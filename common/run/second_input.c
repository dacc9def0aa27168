/* Reading second inputs in step, and their planes behind those of the input. */
#include "run/second_input.h"

#include <math.h>
#include <stdio.h>

#include "base/process.h"
#include "base/text.h"
#include "io/background_io.h"
#include "run/gather.h"

/* May an only frame belong to every input? */
static bool
may_serve_all(const struct opt *opt)
{
	return opt->type == OPT_FRAME || opt->type == OPT_PICTURE;
}

static void
add(struct link *link, const struct opt *opt, char *path, size_t number)
{
	/* an option of type OPT_FRAME may list words that stand for no file */
	if (!path || (opt->words && word_find(opt->words, path) >= 0))
		return;
	link->second_input = must_resize(link->second_input, link->second_inputs + 1,
	    sizeof(*link->second_input));
	link->second_input[link->second_inputs++] =
	    (struct second_input){ .opt = opt, .path = path, .number = number };
}

void
second_inputs_find(struct link *link)
{
	for (const struct opt *opt = link_options(link->run.stage); opt->name; opt++) {
		const void *value = (char *)link->run.parameters + opt->offset;
		const struct opt_list *list = value;

		if (opt->type == OPT_FRAME || opt->type == OPT_STREAM || opt->type == OPT_PICTURE)
			add(link, opt, *(char *const *)value, 0);
		for (size_t i = 0; opt->type == OPT_STREAMS && i < list->n; i++)
			add(link, opt, list->v[i], i + 1);
	}
}

/* A table is for stages that take tables. */
static int
check_table(const struct second_input *second, const struct link *link,
    const struct frame_head *head)
{
	size_t points;

	if (!head_is_table(head) || (link->run.stage->traits & STAGE_TABLES))
		return 0;
	if (head_points(head, &points) < 0)
		return -1;
	return fail(second->path, "is a table of %zu points, --%s wants an image", points,
	    second->opt->name);
}

/* The frame as the stage takes it. Frees the one that was read. */
static int
accept(struct second_input *second, const struct link *link, struct frame *frame)
{
	const bool mask = link->masked && second == &link->second_input[link->second_inputs];
	int status = mask && link->run.colour == COLOUR_PLANES ? 0 :
	    colour_reduce(&link->run, &frame);

	if (status == 0)
		status = check_table(second, link, &frame->head);
	frame_free(second->frame);
	second->frame = frame;
	if (status == 0 && !link_takes(link, frame->head.type)) {
		status = frame_to_float(frame, &second->frame);
		frame_free(frame);
		if (status < 0)
			second->frame = NULL;
	}
	return status;
}

static int
read_next(struct second_input *second, struct link *link)
{
	struct chain *chain = link->run.chain;
	struct frame *frame = NULL;
	int got = 0;

	if (second->single)
		return 0;
	if (!second->reader)
		second->reader = read_ahead_open(&second->path, 1,
		    &(struct read_ahead_how){ .keep_going = chain->losses.on }, chain->pool);
	if (!second->reader)
		return -1;
	while (second->lost == 0 &&
	    (got = read_ahead_next(second->reader, &frame)) == READ_AHEAD_SEAM)
		;
	if (got == READ_AHEAD_LOST) {	/* each costs the input that it belongs to */
		const struct read_ahead_loss *loss = read_ahead_lost(second->reader);

		if (second->frames == 0 && loss->last)	/* an image that serves all inputs */
			chain->losses.stopped = true;
		second->lost = loss->images;
		fail_take(&second->failure);
	}
	if (second->lost) {
		second->lost--;
		second->frames++;
		fail_put(&second->failure);
		return -1;
	}
	if (got < 0)
		return -1;
	if (got == 0 && may_serve_all(second->opt) && second->frames == 1) {
		second->single = true;
		return 0;
	}
	if (got == 0)
		return fail(second->path, "has only %zu frame%s for --%s, the input has more",
		    second->frames, second->frames == 1 ? "" : "s", second->opt->name);
	second->frames++;
	return accept(second, link, frame);
}

size_t
second_inputs_read_count(const struct link *link)
{
	return link->second_inputs + link->masked;
}

int
second_inputs_read(struct link *link)
{
	for (size_t i = 0; i < second_inputs_read_count(link); i++) {
		struct second_input *second = &link->second_input[i];

		if (second->taken)
			continue;
		second->taken = true;
		if (read_next(second, link) < 0)
			return -1;
	}
	return 0;
}

void
second_inputs_advance(struct link *link)
{
	link->inputs++;
	link->seen = false;
	for (size_t i = 0; i < second_inputs_read_count(link); i++)
		link->second_input[i].taken = false;
}

int
second_inputs_skip(struct link *link)
{
	for (size_t i = 0; i < second_inputs_read_count(link); i++) {
		struct second_input *second = &link->second_input[i];

		if (second->taken || read_next(second, link) == 0)
			continue;
		if (link->run.chain->losses.stopped)
			return -1;
		fail_clear();
	}
	second_inputs_advance(link);
	return 0;
}

int
second_inputs_end(struct link *link)
{
	for (size_t i = 0; i < second_inputs_read_count(link); i++) {
		struct second_input *second = &link->second_input[i];
		struct frame *frame;
		int got;

		if (!second->reader || second->single || link->run.chain->losses.cut)
			continue;
		got = read_ahead_next(second->reader, &frame);
		if (got < 0)
			return -1;
		if (got == 0)
			continue;
		frame_free(frame);
		return fail(second->path, "has more frames for --%s than the input, which ends "
		    "after %zu", second->opt->name, second->frames);
	}
	return 0;
}

/* Is the frame that was read the only one of an image, which then serves all? -1 after fail(). */
static int
find_single(struct second_input *second)
{
	struct frame *frame;
	int got;

	if (second->single || !may_serve_all(second->opt) || second->frames != 1)
		return 0;
	got = read_ahead_next(second->reader, &frame);
	if (got < 0)
		return -1;
	if (got == 1)
		frame_free(frame);
	second->single = got == 0;
	return 0;
}

int
second_inputs_restart(struct link *link)
{
	for (size_t i = 0; i < second_inputs_read_count(link); i++) {
		struct second_input *second = &link->second_input[i];

		if (find_single(second) < 0)
			return -1;
		if (second->single)
			continue;
		read_ahead_close(second->reader);
		second->reader = NULL;
		second->frames = 0;
	}
	return 0;
}

bool
second_inputs_in_step(const struct link *link)
{
	for (size_t i = 0; i < link->second_inputs; i++)
		if (!link->second_input[i].single)
			return true;
	return false;
}

void
second_inputs_close(struct link *link)
{
	for (size_t i = 0; i < second_inputs_read_count(link); i++) {
		struct second_input *second = &link->second_input[i];

		frame_free(second->frame);
		read_ahead_close(second->reader);
		head_free(&second->planned);
		second->frame = NULL;
		second->reader = NULL;
	}
}

size_t
second_inputs_channels(const struct link *link)
{
	size_t n = 0;

	for (size_t i = 0; i < link->second_inputs; i++)
		n += link->second_input[i].frame->head.c;
	return n;
}

bool
second_inputs_planned(const struct link *link)
{
	for (size_t i = 0; i < link->second_inputs; i++) {
		const struct second_input *second = &link->second_input[i];

		if (!second->planned.channel ||
		    !head_equal(&second->planned, &second->frame->head))
			return false;
	}
	return true;
}

static int
check_one_size(const struct second_input *second, const struct frame_head *head)
{
	const struct frame_head *own = &second->frame->head;

	if (second->opt->type != OPT_FRAME || (own->w == head->w && own->h == head->h))
		return 0;
	return fail(second->path, "is %zu x %zu, the input is %zu x %zu", own->w, own->h, head->w,
	    head->h);
}

int
second_inputs_check_size(const struct link *link, const struct frame_head *head)
{
	for (size_t i = 0; i < link->second_inputs; i++)
		if (check_one_size(&link->second_input[i], head) < 0)
			return -1;
	return 0;
}

/* "OPTION.CHANNEL": what channel k of a second input is called behind the input's own. */
static void
make_name(const struct second_input *second, size_t k, char name[CHANNEL_NAME_SIZE])
{
	char number[24] = "";

	memset(name, 0, CHANNEL_NAME_SIZE);
	if (second->number)
		snprintf(number, sizeof(number), "%zu", second->number);
	/* a name that is too long is cut */
	if (snprintf(name, CHANNEL_NAME_SIZE, "%s%s.%s", second->opt->name, number,
	    second->frame->head.channel[k]) < 0)
		name[0] = '\0';
}

int
second_inputs_widen_head(struct link *link, const struct frame_head *head,
    struct frame_head *wide)
{
	size_t c = head->c, more = second_inputs_channels(link);

	head_copy(wide, head);
	wide->channel = must_resize(wide->channel, c + more, sizeof(*wide->channel));
	wide->c = c + more;
	for (size_t i = 0; i < link->second_inputs; i++) {
		struct second_input *second = &link->second_input[i];

		for (size_t k = 0; k < second->frame->head.c; k++)
			make_name(second, k, wide->channel[c++]);
		if (check_one_size(second, wide) < 0) {
			head_free(wide);
			return -1;
		}
		head_free(&second->planned);	/* for second_inputs_planned() */
		head_copy(&second->planned, &second->frame->head);
	}
	return 0;
}

void
second_inputs_lend(const struct link *link, struct plane *to)
{
	for (size_t i = 0; i < link->second_inputs; i++) {
		const struct frame *frame = link->second_input[i].frame;

		memcpy(to, frame->plane, frame->head.c * sizeof(*to));
		to += frame->head.c;
	}
}

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
	frame_replace(frame, wide);
	return 0;
}

int
run_second_input(const struct run *, const struct frame_head *head, const char *option,
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
	if (found == 1 && channel && strcmp(head->channel[*c] + strlen(prefix), "image"))
		return fail(NULL, "the image of --%s is %s, wanted is %s (framecat --set "
		    "channels=%s where it is that under another name)", option,
		    head->channel[*c] + strlen(prefix), channel, channel);
	if (found == 1)
		return 0;
	return fail(NULL, "the image of --%s has %zu channels and none is named %s", option, found,
	    channel ? channel : "image");
}

const struct frame_head *
run_second_input_head(const struct run *run, const char *option, size_t number)
{
	const struct link *link = run->link;

	for (size_t i = 0; i < link->second_inputs; i++) {
		const struct second_input *second = &link->second_input[i];

		if (!strcmp(second->opt->name, option) && second->number == number &&
		    second->frame)
			return &second->frame->head;
	}
	return NULL;
}

/* ---- --valid ---- */

int
frame_mask_find(struct link *link, const char *path)
{
	static const struct opt row = { .name = "valid", .type = OPT_FRAME };
	const struct stage *stage = link->run.stage;

	if (stage->traits & (STAGE_SOURCE | STAGE_OPERANDS))
		return fail_usage("--valid", "masks the frames that a chain reads, and %s reads "
		    "none, or by itself", stage->name);
	add(link, &row, (char *)path, 0);
	link->second_inputs--;
	link->masked = true;
	return 0;
}

static const struct second_input *
mask_of(const struct link *link)
{
	return &link->second_input[link->second_inputs];
}

bool
frame_mask_keeps(const struct frame *mask, size_t x, size_t y)
{
	float valid = frame_sample(mask, 0, y, x);

	return valid != 0 && !isnan(valid);
}

static int
check_mask(const struct second_input *second, const struct frame_head *head)
{
	if (head_is_table(head))
		return fail("--valid", "is for images, not for tables; framecat --as float goes "
		    "before a tool that makes tables of images");
	if (second->frame->head.c != 1)
		return fail(second->path, "has %zu channels, a mask has one",
		    second->frame->head.c);
	return check_one_size(second, head);
}

/* Warns of a mask that leaves all pixels or none: once, of its first frame. */
static void
judge_mask(struct link *link, const struct second_input *second)
{
	const struct frame_head *head = &second->frame->head;
	size_t kept = 0, all = head->w * head->h;

	for (size_t i = 0; i < all && !(link->mask_judged && link->mask_kept); i++)
		kept += frame_mask_keeps(second->frame, i % head->w, i / head->w);
	if (!link->mask_judged && (kept == 0 || kept == all))
		warn(second->path, kept ? "no pixel is 0: the mask leaves all of them" :
		    "all pixels are 0: the mask leaves none");
	link->mask_kept |= kept > 0;
	link->mask_judged = true;
}

/* Copies a plane, NaN where the mask is 0. */
static void
mask_plane(const struct frame *mask, const struct frame *from, struct frame *to, size_t c)
{
	for (size_t y = 0; y < from->head.h; y++) {
		const float *v = frame_floats(from, c, y);
		float *masked = frame_floats(to, c, y);

		for (size_t x = 0; x < from->head.w; x++)
			masked[x] = frame_mask_keeps(mask, x, y) ? v[x] : NAN;
	}
}

int
frame_mask_input(struct link *link, struct frame **frame)
{
	const struct second_input *second = mask_of(link);
	const struct run *run = &link->run;
	struct frame *masked;

	if (!link->masked)
		return 0;
	if (check_mask(second, &(*frame)->head) < 0)
		return -1;
	judge_mask(link, second);
	link->masks_result = (*frame)->head.type != SAMPLE_FLOAT;
	if (link->masks_result)
		return !run->sink && !(run->stage->traits & STAGE_SINK) ? 0 : fail("--valid",
		    "the frames are integers, which cannot be NaN, and %s gives none: framecat "
		    "--as float", run->stage->name);
	if (frame_new(&(*frame)->head, &masked) < 0)
		return -1;
	for (size_t c = 0; c < masked->head.c; c++)
		mask_plane(second->frame, *frame, masked, c);
	frame_replace(frame, masked);
	return 0;
}

int
frame_mask_expect(struct link *link, const struct frame *result)
{
	struct chain *chain = link->run.chain;
	size_t i = 0;

	if (!link->masks_result)
		return 0;
	/* one that was lost under way left its mask to a frame in the same memory */
	while (i < chain->result_masks && chain->result_mask[i].result != result)
		i++;
	if (i == chain->result_masks) {
		chain->result_mask = must_resize(chain->result_mask, i + 1,
		    sizeof(*chain->result_mask));
		chain->result_mask[chain->result_masks++].mask = NULL;
	}
	frame_free(chain->result_mask[i].mask);
	chain->result_mask[i] = (struct result_mask){ .result = result };
	return frame_duplicate(mask_of(link)->frame, &chain->result_mask[i].mask);
}

/* A flow's results are those of the input at hand; it may hold others back. */
static int
mask_flow_result(const struct link *link, struct frame *frame)
{
	const struct second_input *second = mask_of(link);

	if (second->frames > 1)
		return fail(second->path, "has a mask for each frame, and %s makes frames of "
		    "several: give it one, or float images", link->run.stage->name);
	if (check_mask(second, &frame->head) < 0)
		return -1;
	for (size_t c = 0; c < frame->head.c; c++)
		mask_plane(second->frame, frame, frame, c);
	return 0;
}

int
frame_mask_result(struct chain *chain, struct frame *frame)
{
	const struct link *link = &chain->link[0];
	size_t i = 0;
	int status;

	if (!link->masks_result && chain->result_masks == 0)
		return 0;
	if (frame->head.type != SAMPLE_FLOAT)
		return fail("--valid", "the frames that %s reads and gives are integers, which "
		    "cannot be NaN: framecat --as float", link->run.stage->name);
	if (!link->run.body->rows)
		return mask_flow_result(link, frame);
	while (i < chain->result_masks && chain->result_mask[i].result != frame)
		i++;
	if (i == chain->result_masks)
		return 0;
	status = check_mask(mask_of(link), &frame->head);
	for (size_t c = 0; status == 0 && c < frame->head.c; c++)
		mask_plane(chain->result_mask[i].mask, frame, frame, c);
	frame_free(chain->result_mask[i].mask);
	chain->result_mask[i] = chain->result_mask[--chain->result_masks];
	return status;
}
