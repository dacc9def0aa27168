#define _GNU_SOURCE
#include "channels.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "run/run.h"

/* Of several whose name a frame has, sigma is the standard deviation of the first. */
static const char *const owners[] = { "depth", "z", "absphase", "phase" };

#define OWNERS (sizeof(owners) / sizeof(*owners))

static bool
are_points(const struct frame_head *head)
{
	return head_channel(head, "x") != NO_CHANNEL && head_channel(head, "y") != NO_CHANNEL &&
	    head_channel(head, "z") != NO_CHANNEL;
}

/* A name without the number behind it. */
static void
cut_number(const char *name, char base[CHANNEL_NAME_SIZE])
{
	size_t n = strlen(name);

	while (n > 1 && isdigit((unsigned char)name[n - 1]))
		n--;
	snprintf(base, CHANNEL_NAME_SIZE, "%.*s", (int)n, name);
}

/* The channel to filter where the user names none; NULL: there are several. */
static const char *
usual_channel(const struct frame_head *head)
{
	for (size_t i = 0; i < OWNERS; i++)
		if (head_channel(head, owners[i]) != NO_CHANNEL)
			return owners[i];
	return head->c == 1 ? head->channel[0] : NULL;
}

/* Means of these are nothing. -1 after fail(). */
static int
check_kind(const char *name, const char *base)
{
	static const char *const parts[] = { "cos", "sin", "nx", "ny", "nz", NULL };
	static const char *const names[] = { "index", "mask", "label", NULL };

	for (size_t i = 0; parts[i]; i++)
		if (!strcmp(base, parts[i]))
			return fail("--channel", "%s is a part of a direction: filter the phase, "
			    "or the depth before its normals", name);
	for (size_t i = 0; names[i]; i++)
		if (!strcmp(base, names[i]))
			return fail("--channel", "%s counts or names something: there is no mean "
			    "of it", name);
	return 0;
}

static int
find_values(struct run *run, const char *name, const struct frame_head *in,
    struct channels *channels)
{
	static const char *const xyz[] = { "x", "y", "z" };
	const char *given = name;
	char base[CHANNEL_NAME_SIZE], names[300];

	if (!name)
		name = usual_channel(in);
	if (!name)
		return fail(NULL, "nothing says which channel to filter, say --channel: input has "
		    "%s", head_channels_hint(in, names));
	if (run_channel(run, in, name, &channels->value[0]) < 0)
		return -1;
	cut_number(name, base);
	if (check_kind(name, base) < 0)
		return -1;
	snprintf(channels->name, sizeof(channels->name), "%s", name);
	channels->angle = !strcmp(base, "phase");
	channels->values = 1;
	if (!are_points(in) || (strcmp(name, "x") && strcmp(name, "y") && strcmp(name, "z")))
		return 0;
	if (given && strcmp(name, "z"))
		return fail("--channel", "x y z are one point, whose ray --channel z keeps");
	channels->values = 3;
	for (size_t i = 0; i < 3; i++)
		channels->value[i] = head_channel(in, xyz[i]);
	return 0;
}

/* The name of the standard deviation of what is filtered; empty: the frame has none of it. */
static void
name_sigma(const struct channels *channels, const struct frame_head *in,
    char sigma[CHANNEL_NAME_SIZE])
{
	char base[CHANNEL_NAME_SIZE];
	const char *owner = usual_channel(in);
	bool own = !owner || !strcmp(owner, channels->name);

	cut_number(channels->name, base);
	sigma[0] = '\0';
	if (strcmp(base, channels->name) && (!strcmp(base, "phase") || !strcmp(base, "absphase")))
		snprintf(sigma, CHANNEL_NAME_SIZE, "sigma%.20s", channels->name + strlen(base));
	else if (own)
		strcpy(sigma, "sigma");
}

bool
channels_makes(const struct channels *channels, size_t c)
{
	bool made = c == channels->sigma_out;

	for (size_t i = 0; i < channels->values; i++)
		made |= c == channels->value_out[i];
	return made;
}

/* How likely an order is wrong, and how well the phases fit it, is known of one frame's phases. */
static bool
is_of_one_frame(const char *name)
{
	return !strcmp(name, "p_order") || !strcmp(name, "residual");
}

/* The output's channels out of the input's: all but those. */
static int
keep_channels(const struct frame_head *in, struct frame_head *out, struct channels *channels)
{
	char base[CHANNEL_NAME_SIZE];
	bool of_orders = false;
	size_t n = 0;

	cut_number(channels->name, base);
	for (size_t i = 0; i < OWNERS; i++)
		of_orders |= !strcmp(base, owners[i]);

	free(channels->source);
	channels->source = calloc(in->c + 1, sizeof(*channels->source));
	if (!channels->source)
		return fail_memory();
	for (size_t c = 0; c < in->c; c++) {
		bool filtered = false;

		for (size_t i = 0; i < channels->values; i++)
			if (c == channels->value[i]) {
				channels->value_out[i] = n;
				filtered = true;
			}
		if (of_orders && is_of_one_frame(in->channel[c]) && !filtered)
			continue;
		if (n < c)
			memcpy(out->channel[n], in->channel[c], CHANNEL_NAME_SIZE);
		channels->source[n++] = c;
	}
	out->c = n;
	return 0;
}

int
channels_plan(struct run *run, const char *name, bool use_sigma, const struct frame_head *in,
    struct frame_head *out, struct channels *channels)
{
	char sigma[CHANNEL_NAME_SIZE];

	if (find_values(run, name, in, channels) < 0)
		return -1;
	name_sigma(channels, in, sigma);
	channels->sigma_in = sigma[0] && use_sigma ? head_channel(in, sigma) : NO_CHANNEL;
	if (channels->sigma_in != NO_CHANNEL && meta_get(&in->meta, "sigma_frames"))
		return fail(NULL, "%s is that of values which a filter has mixed over frames (key "
		    "sigma_frames): filter once, or give --sigma", sigma);
	if (keep_channels(in, out, channels) < 0)
		return -1;
	channels->sigma_out = sigma[0] ? head_channel(out, sigma) : NO_CHANNEL;
	if (sigma[0] && meta_set(&out->meta, "sigma_frames", "kalman") < 0)
		return -1;
	if (sigma[0] && channels->sigma_out == NO_CHANNEL) {
		channels->sigma_out = out->c;
		if (head_set_count(out, out->c + 1) < 0)
			return -1;
		strcpy(out->channel[channels->sigma_out], sigma);
	}
	for (size_t c = 0; c < out->c; c++)
		if (!channels_makes(channels, c) && run_pass(run, c, channels->source[c]) < 0)
			return -1;
	return 0;
}
