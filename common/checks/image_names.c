/* How messages name an image: its number, and its key or file where one is known. */
#include "checks/image_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Formats whose files hold one image each. */
static bool
is_single(const char *file)
{
	static const char *const suffix[] = { ".png", ".jpg", ".jpeg", ".bmp" };
	const char *dot = strrchr(file, '.');

	for (size_t i = 0; dot && i < sizeof(suffix) / sizeof(*suffix); i++)
		if (!strcasecmp(dot, suffix[i]))
			return true;
	return false;
}

/* The file of a plane of the current measurement, NULL where operands are no single images. */
static const char *
file_of(const struct image_names *names, size_t plane)
{
	size_t i = names->measurement * names->planes + plane;

	if (names->uncounted || !names->planes || names->operands % names->planes ||
	    i >= names->operands)
		return NULL;
	for (size_t k = 0; k < names->operands; k++)
		if (!is_single(names->operand[k]))
			return NULL;
	return names->operand[i];
}

const char *
image_names_of(const struct image_names *names, size_t plane, char text[IMAGE_NAME_SIZE])
{
	const char *file = file_of(names, plane);
	char word[256];

	*text = '\0';
	if (names->words && meta_word(names->words, plane, word, sizeof(word)) && strcmp(word, "-"))
		snprintf(text, IMAGE_NAME_SIZE, " (%s)", word);
	else if (file)
		snprintf(text, IMAGE_NAME_SIZE, " (%.250s)", file);
	return text;
}

struct image_names
image_names_sampled(const struct check_facts *facts, const struct check_sample *sample)
{
	const struct frame_head *head = &sample->in.frame.head;
	const char *words = meta_get(&head->meta, "name");

	return (struct image_names){ .words = words && meta_words(words) == head->c ?
	    words : NULL, .operand = facts->file, .operands = facts->files,
	    .planes = head->c, .measurement = sample->number, .uncounted = sample->lost };
}
