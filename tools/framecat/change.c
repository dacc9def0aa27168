/* What the options do with one frame. */
#include "framecat.h"

#include <math.h>
#include <string.h>

#include "base/opt_suggest.h"
#include "bin.h"
#include "clamped.h"
#include "holes.h"
#include "known_keys.h"
#include "mesh/jump.h"
#include "points.h"

int
change_check_crop(const struct numbers *crop)
{
	for (size_t i = 0; i < crop->n; i++)
		if (crop->v[i] != floor(crop->v[i]) || (i >= 2 && crop->v[i] < 1.0))
			return fail_usage("--crop", "wants whole numbers, W and H from 1 on");
	if (crop->n != 0 && crop->n != 4)
		return fail_usage("--crop", "wants four numbers X,Y,W,H, not %zu", crop->n);
	return 0;
}

/* --invalid, or where --points makes a table of integers what their own key says; NAN: none. */
static int
find_invalid(const struct run *run, const struct frame_head *head, double *invalid)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	*invalid = parameters->invalid;
	if (!isnan(*invalid) || !priv->tabulates || head->type == SAMPLE_FLOAT ||
	    head_is_table(head))
		return 0;
	return meta_number(&head->meta, "invalid", NAN, invalid);
}

/* Do all channels hold what a camera measured? Then they saturate at the type's largest number. */
static bool
are_images(const struct frame_head *head)
{
	static const char *const names[] = { "image", "r", "g", "b" };
	bool all = !meta_get(&head->meta, "sample_scale") && !head_is_table(head);

	for (size_t c = 0; c < head->c && all; c++) {
		size_t letters = strcspn(head->channel[c], "0123456789");
		bool found = false;

		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			found |= letters == strlen(names[i]) &&
			    !strncmp(head->channel[c], names[i], letters);
		all = found;
	}
	return all;
}

/* Images that become float keep in mind where they saturate, which the type no longer says. */
static int
keep_maximum(const struct parameters *parameters, struct frame_head *head)
{
	if (parameters->as != SAMPLE_FLOAT || head->type == SAMPLE_FLOAT || !are_images(head) ||
	    meta_get(&head->meta, "max_value"))
		return 0;
	return meta_set(&head->meta, "max_value", head->type == SAMPLE_UCHAR ? "255" : "65535");
}

/* To float where anything but rounding is to be done. */
static int
decode(struct run *run, struct frame **frame)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	double invalid;

	if (parameters->unscale && convert_unscale(run, frame) < 0)
		return -1;
	if (find_invalid(run, &(*frame)->head, &invalid) < 0)
		return -1;
	if (isnan(invalid) && !priv->encodes && parameters->paint.map < 0)
		return 0;
	if (keep_maximum(parameters, &(*frame)->head) < 0)
		return -1;
	return convert_to_float(run, frame, invalid);
}

static int
encode(struct run *run, struct frame **frame)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (parameters->paint.map >= 0)
		return paint_frame(run, &priv->paint, frame);
	if (!priv->encodes)
		return 0;
	if (!priv->clamped_warned)
		priv->clamped_warned = clamped_warn(*frame, &priv->encoding) ||
		    holes_warn(*frame, &priv->encoding);
	return convert_encode(run, frame, &priv->encoding);
}

/* --crop and --bin are for images. */
static int
check_image(const struct parameters *parameters, const struct frame_head *head)
{
	const char *option = parameters->crop.v ? "--crop" : parameters->bin > 1 ? "--bin" : NULL;
	size_t points;

	if (!option || !head_is_table(head))
		return 0;
	if (head_points(head, &points) < 0)
		return -1;
	return fail(option, "is for images, the input is a table of %zu points", points);
}

int
change_frame(struct run *run, struct frame **frame)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const double *crop = parameters->crop.v;

	if (!parameters->like && paint_measure(&priv->paint, *frame, (size_t)parameters->bin) < 0)
		return -1;
	if (parameters->channels && arrange_channels(frame, parameters->channels) < 0)
		return -1;
	if (jump_check(*frame, parameters->jump, &priv->jump_checked) < 0)
		return -1;
	if (parameters->like && like_restore(&priv->like, frame) < 0)
		return -1;
	if (parameters->like && paint_measure(&priv->paint, *frame, (size_t)parameters->bin) < 0)
		return -1;
	if (check_image(parameters, &(*frame)->head) < 0)
		return -1;
	if (crop && arrange_crop(frame, (size_t)crop[0], (size_t)crop[1], (size_t)crop[2],
	    (size_t)crop[3]) < 0)
		return -1;
	if (decode(run, frame) < 0)
		return -1;
	if (parameters->bin > 1 && bin_frame(run, frame, (size_t)parameters->bin) < 0)
		return -1;
	if (priv->tabulates && points_tabulate(run, frame) < 0)
		return -1;
	return encode(run, frame);
}

#define KEYS_MOST 100	/* of the frame's, that are compared */
#define LETTERS_LEAST 5	/* of a word: shorter ones have too many neighbours */

/* A word of --delete that is no key, but nearly one that the frame has. Words with digits are like
 * others of their series: cmd.2. */
static bool
warn_misspelt(const char *word, size_t n, const struct meta *meta)
{
	const char *keys[KEYS_MOST + 1];
	char copy[80], near[200];
	size_t i;

	if (n < LETTERS_LEAST || n >= sizeof(copy))
		return false;
	memcpy(copy, word, n);
	copy[n] = '\0';
	if (strpbrk(copy, "*?[\\0123456789") || meta_get(meta, copy))
		return false;
	for (i = 0; i < meta->n && i < KEYS_MOST; i++)
		keys[i] = meta->entry[i].key;
	keys[i] = NULL;
	if (!*opt_suggest_word(word, n, "", keys, near, sizeof(near)))
		return false;
	warn("--delete", "there is no key %s%s", copy, near);
	return true;
}

/* Of all words, once in a run. */
static void
check_delete(const char *keys, const struct meta *meta, bool *warned)
{
	while (!*warned && *keys) {
		size_t n = strcspn(keys, ",");

		*warned = warn_misspelt(keys, n, meta);
		keys += n + (keys[n] == ',');
	}
}

int
change_metadata(const struct parameters *parameters, struct priv *priv, struct frame *frame)
{
	struct frame_head *head = &frame->head;
	bool table = head_is_table(head);
	size_t points = 0;

	if (table && head_points(head, &points) < 0)
		return -1;
	if (parameters->delete)
		check_delete(parameters->delete, &head->meta, &priv->misspelt_warned);
	if (parameters->delete && arrange_delete(frame, parameters->delete) < 0)
		return -1;
	if (table && head_set_points(head, points) < 0)		/* it stays a table */
		return -1;
	if (parameters->set && !priv->set_warned)
		priv->set_warned = known_keys_warn(parameters->set, &head->meta);
	if (parameters->set && arrange_set(frame, parameters->set) < 0)
		return -1;
	return head_is_table(head) ? head_points(head, &points) : 0;
}
