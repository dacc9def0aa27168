/* How messages name an image: its number, and its key or file where one is known. */
#pragma once

#include "frame/frame.h"
#include "run/check.h"

struct image_names {
	const char *words;		/* the key `name`, a word per plane, or NULL */
	char *const *operand;		/* files of one image each, those of all measurements */
	size_t operands, planes;
	size_t measurement;		/* the current one, from 0 on as the runner counts */
	bool uncounted;			/* some were lost: nobody knows which one this is */
};

/* Those of a sample, which keeps them. */
struct image_names image_names_sampled(const struct check_facts *, const struct check_sample *);

#define IMAGE_NAME_SIZE 300

/* What is known of a plane, " (phase_02)" by its key, else by its file, or nothing. */
const char *image_names_of(const struct image_names *, size_t plane, char text[IMAGE_NAME_SIZE]);
