#include "splat_channels.h"

#include <string.h>

#include "base/fail.h"
#include "splat_stage.h"

/* What is the mean of points of one surface; normals stand first. */
static const char *const merged[SPLAT_ATTRIBUTES] = { "nx", "ny", "nz", "texture", "modulation",
	"gray", "image", "r", "g", "b", "a" };

static bool
all_have(struct frame *const *view, size_t views, const char *channel)
{
	for (size_t k = 0; k < views; k++)
		if (head_channel(&view[k]->head, channel) == NO_CHANNEL)
			return false;
	return true;
}

static bool
any_has(struct frame *const *view, size_t views, const char *channel)
{
	for (size_t k = 0; k < views; k++)
		if (head_channel(&view[k]->head, channel) != NO_CHANNEL)
			return true;
	return false;
}

static int
check_view(const struct frame_head *head, size_t view, const char *unit)
{
	const char *own = meta_get(&head->meta, "length_unit");
	char text[300];

	for (size_t k = 0; k < 3; k++)
		if (head_channel(head, (char[2]){ "xyz"[k] }) == NO_CHANNEL)
			return fail(NULL, "view %zu has no channel %c, but %s", view, "xyz"[k],
			    head_channels_hint(head, text));
	if (head_is_table(head))
		return fail(NULL, "view %zu is a table: --splat wants points that have an image's "
		    "shape", view);
	if (own && strcmp(own, unit))
		return fail(NULL, "view %zu is in %s, the calibration in %s", view, own, unit);
	return 0;
}

/* The channel that weighs, or NULL: all points alike. */
static int
choose_weight(struct frame *const *view, size_t views, int weight, const char **name)
{
	static const char *const names[] = { "sigma", "modulation" };

	*name = NULL;
	if (weight == SPLAT_ALIKE)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (weight < 0 ? !all_have(view, views, names[i]) : weight != i)
			continue;
		*name = names[i];
		break;
	}
	for (size_t k = 0; k < views && *name; k++)
		if (head_channel(&view[k]->head, *name) == NO_CHANNEL)
			return fail("--weight", "view %zu has no channel %s", k + 1, *name);
	return 0;
}

/* Some views can be weighted and others cannot: the user may not know. */
static void
warn_weight(struct frame *const *view, size_t views, int weight, const char *name)
{
	const char *better = weight >= 0 || (name && !strcmp(name, "sigma")) ? NULL :
	    any_has(view, views, "sigma") ? "sigma" : !name && any_has(view, views, "modulation") ?
	    "modulation" : NULL;

	if (better)
		warn(NULL, "some views have a channel %s and some have none: points are weighted "
		    "by %s", better, name ? name : "nothing");
}

static void
append(struct splat_channels *channels, const char *name)
{
	size_t n = strlen(channels->names);

	snprintf(channels->names + n, sizeof(channels->names) - n, "%s%s", n ? " " : "", name);
}

static void
find_attributes(struct frame *const *view, size_t views, struct splat_channels *channels,
    struct splat_source *source)
{
	bool normals = all_have(view, views, "nx") && all_have(view, views, "ny") &&
	    all_have(view, views, "nz");

	for (size_t i = normals ? 0 : 3; i < SPLAT_ATTRIBUTES && merged[i]; i++) {
		if (!all_have(view, views, merged[i]))
			continue;
		append(channels, merged[i]);
		for (size_t k = 0; k < views; k++)
			source[k].attribute[source[k].attributes++] =
			    head_channel(&view[k]->head, merged[i]);
	}
	for (size_t k = 0; k < views; k++)
		source[k].normal = normals ? 0 : NO_CHANNEL;
}

int
splat_channels_find(struct frame *const *view, size_t views, int weight, const char *unit,
    struct splat_channels *channels, struct splat_source *source)
{
	const char *name;

	*channels = (struct splat_channels){ .names = "x y z" };
	for (size_t k = 0; k < views; k++)
		if (check_view(&view[k]->head, k + 1, unit) < 0)
			return -1;
	if (choose_weight(view, views, weight, &name) < 0)
		return -1;
	warn_weight(view, views, weight, name);
	channels->sigma = all_have(view, views, "sigma");
	if (channels->sigma)
		append(channels, "sigma");
	for (size_t k = 0; k < views; k++) {
		const struct frame_head *head = &view[k]->head;

		source[k] = (struct splat_source){ .frame = view[k], .w = head->w, .h = head->h,
			.weight = name ? head_channel(head, name) : NO_CHANNEL,
			.smoothed = meta_get(&head->meta, "sigma_window_px"),
			.sigma = channels->sigma ? head_channel(head, "sigma") : NO_CHANNEL };
		for (size_t i = 0; i < 3; i++)
			source[k].xyz[i] = head_channel(head, (char[2]){ "xyz"[i] });
	}
	find_attributes(view, views, channels, source);
	return 0;
}
