/*
 * STL, binary and ascii. Its triangles carry their own corners: equal ones become one point, so
 * that a mesh takes the memory that it takes in the other formats.
 */
#include "mesh/read_stl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "frame/samples.h"
#include "mesh/words.h"

#define HEADER_BYTES 80
#define FACET_BYTES 50
#define FIRST_SLOTS 4096
#define EMPTY UINT32_MAX

/* Points by their coordinates: open addressing, at most half full. */
struct welder {
	struct triangles *out;
	const char *path;
	uint32_t *slot;
	size_t slots;		/* a power of two */
};

static size_t
slot_of(const struct welder *welder, const double point[3])
{
	uint64_t bits[3], hash = 0;
	size_t at;

	memcpy(bits, point, sizeof(bits));
	for (int k = 0; k < 3; k++) {
		hash = (hash ^ bits[k]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	for (at = hash & (welder->slots - 1); welder->slot[at] != EMPTY;
	    at = (at + 1) & (welder->slots - 1))
		if (!memcmp(welder->out->point[welder->slot[at]], point, sizeof(bits)))
			break;
	return at;
}

static int
enlarge(struct welder *welder)
{
	size_t slots = welder->slots ? 2 * welder->slots : FIRST_SLOTS;
	uint32_t *more = reallocarray(NULL, slots, sizeof(*more));

	if (!more)
		return fail_memory();
	free(welder->slot);
	welder->slot = more;
	welder->slots = slots;
	memset(more, 0xff, slots * sizeof(*more));
	for (size_t i = 0; i < welder->out->points; i++)
		more[slot_of(welder, welder->out->point[i])] = (uint32_t)i;
	return 0;
}

/* The number of a point, which is new or was there before. */
static int
weld(struct welder *welder, const float coordinate[3], uint64_t *number)
{
	const double point[3] = { coordinate[0] + 0.0f, coordinate[1] + 0.0f,
		coordinate[2] + 0.0f };
	size_t at;

	if (2 * welder->out->points >= welder->slots && enlarge(welder) < 0)
		return -1;
	at = slot_of(welder, point);
	if (welder->slot[at] == EMPTY) {
		welder->slot[at] = (uint32_t)welder->out->points;
		if (triangles_add_point(welder->out, welder->path, point) < 0)
			return -1;
	}
	*number = welder->slot[at];
	return 0;
}

static int
add_facet(struct welder *welder, const float corner[9])
{
	uint64_t number[3];

	for (size_t k = 0; k < 3; k++)
		if (weld(welder, corner + 3 * k, &number[k]) < 0)
			return -1;
	return triangles_add(welder->out, welder->path, number);
}

static int
load_binary(struct welder *welder, FILE *file, uint32_t facets)
{
	unsigned char facet[FACET_BYTES];
	float corner[9];
	size_t left = samples_bytes_left(file);

	if (left != SIZE_MAX && facets > left / FACET_BYTES)
		return fail(welder->path,
		    "ends too early: %u triangles cannot lie in the %zu bytes left", facets, left);
	for (uint32_t i = 0; i < facets; i++) {
		if (samples_read(welder->path, file, facet, sizeof(facet)) < 0)
			return -1;
		memcpy(corner, facet + 12, sizeof(corner));
		if (add_facet(welder, corner) < 0)
			return -1;
	}
	samples_warn_rest(welder->path, samples_bytes_left(file));
	return 0;
}

/* The three numbers after the word vertex. */
static int
take_vertex(struct words *words, float point[3])
{
	for (int k = 0; k < 3; k++) {
		double v;

		if (!words_anywhere(words))
			return fail(words->path, "ends too early, within a vertex in line %zu",
			    words->line);
		if (words_number(words, &v) < 0)
			return -1;
		point[k] = (float)v;
	}
	return 0;
}

/* From one loop to the next: 1 and its corners, 0 at the end of the text. */
static int
take_loop(struct words *words, float corner[9], bool *ended)
{
	size_t n = 0;

	while (words_anywhere(words)) {
		if (!strcmp(words->word, "solid") || !strcmp(words->word, "endsolid")) {
			*ended = words->word[0] == 'e';
			while (words_next(words))
				continue;
		} else if (*ended) {
			return fail(words->path, "line %zu: '%s' stands behind endsolid",
			    words->line, words->word);
		} else if (!strcmp(words->word, "vertex")) {
			if (n == 3)
				return fail(words->path,
				    "line %zu: a facet has more than 3 corners", words->line);
			if (take_vertex(words, corner + 3 * n++) < 0)
				return -1;
		} else if (!strcmp(words->word, "endloop")) {
			if (n != 3)
				return fail(words->path, "line %zu: a facet has %zu corners",
				    words->line, n);
			return 1;
		}
	}
	return n ? fail(words->path, "ends too early, within a facet") : 0;
}

static int
load_ascii(struct welder *welder, FILE *file, const unsigned char *start, size_t n)
{
	struct words words = { .file = file, .path = welder->path, .line = 1, .next = EOF,
		.start = start, .left = n };
	float corner[9];
	bool ended = false;
	int got;

	while ((got = take_loop(&words, corner, &ended)) > 0)
		if (add_facet(welder, corner) < 0)
			return -1;
	if (got == 0 && ferror(file))
		return fail_errno(welder->path, "cannot be read");
	return got == 0 && !ended ? fail(welder->path, "ends too early, before endsolid") : got;
}

static bool
starts_ascii(const unsigned char *start, size_t n)
{
	return n >= 6 && !memcmp(start, "solid", 5) &&
	    start[5] <= ' ' && words_are_text(start, n);
}

int
read_stl(const char *path, FILE *file, struct triangles *out)
{
	struct welder welder = { .out = out, .path = path };
	unsigned char start[HEADER_BYTES + 4];
	char comment[HEADER_BYTES + 1] = "";
	size_t n = fread(start, 1, sizeof(start), file);
	uint32_t facets;
	int status;

	if (starts_ascii(start, n)) {
		memcpy(comment, start, n < HEADER_BYTES ? n : HEADER_BYTES);
		out->axes = triangles_axes(comment + strlen("solid "));
		status = load_ascii(&welder, file, start, n);
	} else if (n < sizeof(start)) {
		status = fail(path, "ends too early: %zu bytes, an STL file has 84 at least", n);
	} else {
		memcpy(comment, start, HEADER_BYTES);
		out->axes = triangles_axes(comment);
		memcpy(&facets, start + HEADER_BYTES, sizeof(facets));
		status = load_binary(&welder, file, facets);
	}
	free(welder.slot);
	return status;
}

/* Binary: 80 bytes of anything, the number of triangles, the first one, of plausible numbers. */
static bool
starts_binary(const unsigned char *start, size_t n)
{
	uint32_t facets;
	float v[12];
	double square = 0, size = 0;

	if (n < HEADER_BYTES + 4 + FACET_BYTES)
		return false;
	memcpy(&facets, start + HEADER_BYTES, sizeof(facets));
	memcpy(v, start + HEADER_BYTES + 4, sizeof(v));
	for (int k = 0; k < 12; k++) {
		if (!(fabsf(v[k]) < 1e30f))
			return false;
		if (k < 3)
			square += (double)v[k] * v[k];
		else
			size = fmax(size, fabs(v[k]));
	}
	return facets > 0 && size > 1e-30 && (square == 0 || fabs(square - 1) < 1e-2);
}

static bool
sniff(const unsigned char *start, size_t n)
{
	return starts_ascii(start, n) || starts_binary(start, n);
}

const struct codec read_stl_codec = {
	.name = "STL",
	.suffixes = "stl",
	.sniff = sniff
};
