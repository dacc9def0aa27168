/*
 * Videos in Matroska, MP4, QuickTime and NUT files, by ffmpeg as a child process (ffmpeg.h). Sample
 * values go in and out untouched: full range, no matrix, no scaling. Keys are the container's tags.
 */
#include "video.h"

#include <stddef.h>

#include "codec/video/ffmpeg.h"
#include "codec/video/probe.h"

#define AT(field) offsetof(struct video_options, field)

static bool
video_sniff(const unsigned char *start, size_t n)
{
	return video_container(start, n);
}

static const struct opt video_options[] = {
	{ 0, "video", "WORD", OPT_WORD, AT(coding), "h264", 0, 0, NULL, "how videos are coded",
	  video_codings },
	{ 0, "crf", "N", OPT_NUMBER, AT(crf), NULL, -24, 63, NULL,
	  "loss of videos, from little to much", NULL },
	{ 0, "lossless", NULL, OPT_FLAG, AT(lossless), NULL, 0, 0, NULL,
	  "videos without loss", NULL },
	{ 0, "chroma", "WORD", OPT_WORD, AT(chroma), "444", 0, 0, NULL,
	  "resolution of colour in videos", video_chromas },
	{ 0, "preset", "WORD", OPT_TEXT, AT(preset), NULL, 0, 0, NULL,
	  "the encoder's trade of time for size", NULL },
	{ 0, "fps", "N", OPT_NUMBER, AT(fps), NULL, 1e-3, 1e5, "frames/s",
	  "speed of videos; from time_s, else 30, if not given", NULL },
	{ 0, "texture-crf", "N", OPT_NUMBER, AT(texture_crf), NULL, 0, 51, NULL,
	  "loss of a texture in a track of its own", NULL },
	{ 0 }
};

const struct codec codec_video = {
	.name = "video",
	.suffixes = "mkv mp4 mov nut",
	.seeks = true,
	.many = true,
	.sniff = video_sniff,
	.load = video_load,
	.load_end = video_load_end,
	.options = video_options,
	.option_size = sizeof(struct video_options),
	.save = video_save,
	.save_end = video_save_end,
	.check_save = ffmpeg_check
};
