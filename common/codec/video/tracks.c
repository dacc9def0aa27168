#include "tracks.h"

#include <stdio.h>
#include <string.h>

unsigned
tracks_bits(const struct encoder *encoder, const struct frame_head *head, size_t c)
{
	return c + encoder->tracks < head->c ? 0 : encoder->texture && c + 1 == head->c ? 8 : 1;
}

/* A word with a track's number behind it. */
static const char *
of_track(struct tracks *tracks, const char *word, size_t track)
{
	char *option = tracks->option[tracks->n++];

	snprintf(option, sizeof(*tracks->option), "%s:v:%zu", word, track);
	return option;
}

static void
make_filter(const struct encoder *encoder, size_t w, size_t h, struct tracks *tracks)
{
	static const char cut[] = "[%c]crop=%zu:%zu:0:%zu,extractplanes=y,"
	    "scale=sws_dither=none,format=gray%s[%s];";
	size_t room = sizeof(tracks->filter);
	char *to = tracks->filter;
	int n = snprintf(to, room, "[0:v]split=%zu[a][b]%s;", 1 + encoder->tracks,
	    encoder->tracks > 1 ? "[c]" : "");

	if (encoder->mask)
		n += snprintf(to + n, room - (size_t)n, cut, 'b', w, h, h,
		    ",lut=c0=gt(val\\,127)", "mask");
	if (encoder->texture)
		n += snprintf(to + n, room - (size_t)n, cut, encoder->mask ? 'c' : 'b', w, h,
		    encoder->tracks * h, "", "texture");
	snprintf(to + n, room - (size_t)n, "[a]crop=%zu:%zu:0:0[v]", w, h);
}

/* The words of track i, the mask or the texture. */
static size_t
add_track(const struct encoder *encoder, size_t i, bool mask, struct tracks *tracks,
    const char **words)
{
	const char *const all[] = { "-map", mask ? "[mask]" : "[texture]",
		of_track(tracks, "-pix_fmt", i), "gray", of_track(tracks, "-c", i), "libx264",
		of_track(tracks, "-disposition", i), "0", of_track(tracks, "-metadata:s", i),
		mask ? "title=mask" : "title=texture" };
	size_t n = sizeof(all) / sizeof(*all);

	memcpy(words, all, sizeof(all));
	if (!mask && encoder->preset) {
		words[n++] = of_track(tracks, "-preset", i);
		words[n++] = encoder->preset;
	}
	words[n++] = of_track(tracks, mask || !encoder->texture_crf ? "-qp" : "-crf", i);
	words[n++] = mask || !encoder->texture_crf ? "0" : encoder->texture_crf;
	return n;
}

size_t
tracks_words(struct tracks *tracks, const struct encoder *encoder, size_t w, size_t h,
    const char **words)
{
	const char *const one[] = { "-map", "0:v", "-pix_fmt", encoder->format->name };
	const char *const several[] = { "-filter_complex", tracks->filter, "-map", "[v]",
		"-pix_fmt:v:0", encoder->format->name, "-disposition:v:0", "default" };
	size_t n = sizeof(several) / sizeof(*several);

	if (!encoder->tracks) {
		memcpy(words, one, sizeof(one));
		n = sizeof(one) / sizeof(*one);
		memcpy(words + n, encoder->words, encoder->n * sizeof(*words));
		return n + encoder->n;
	}
	tracks->n = 0;
	make_filter(encoder, w, h, tracks);
	memcpy(words, several, sizeof(several));
	/* the options are the first track's alone */
	for (size_t i = 0; i < encoder->n; i++)
		words[n++] = *encoder->words[i] != '-' ? encoder->words[i] :
		    !strcmp(encoder->words[i], "-c:v") ? of_track(tracks, "-c", 0) :
		    of_track(tracks, encoder->words[i], 0);
	for (size_t i = 1; i <= encoder->tracks; i++)
		n += add_track(encoder, i, encoder->mask && i == 1, tracks, words + n);
	return n;
}
