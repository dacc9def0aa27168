#include "mesh/mesh_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

#define FIRST_ROOM 1024

/* ---- triangles ---- */

void
triangles_free(struct triangles *triangles)
{
	free(triangles->point);
	free(triangles->texture);
	free(triangles->corner);
	*triangles = (struct triangles){ 0 };
}

/* Room for one more element of `size` bytes; twice what there was. */
static int
make_room(void *array, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : FIRST_ROOM;
	void **at = array, *moved;

	if (n < *room)
		return 0;
	moved = reallocarray(*at, more, size);
	if (!moved)
		return fail_memory();
	*at = moved;
	*room = more;
	return 0;
}

int
triangles_add_point(struct triangles *triangles, const char *path, const double point[3])
{
	if (triangles->points == UINT32_MAX)
		return fail(path, "a mesh has at most %u points", UINT32_MAX);
	if (make_room(&triangles->point, triangles->points, &triangles->point_room,
	    sizeof(*triangles->point)) < 0)
		return -1;
	memcpy(triangles->point[triangles->points++], point, sizeof(*triangles->point));
	return 0;
}

/* Room for the texture of all points; new ones are NaN. */
static int
extend_texture(struct triangles *triangles)
{
	float *more;

	if (triangles->texture_room >= triangles->points)
		return 0;
	more = reallocarray(triangles->texture, triangles->point_room, sizeof(*more));
	if (!more)
		return fail_memory();
	for (size_t i = triangles->texture_room; i < triangles->point_room; i++)
		more[i] = NAN;
	triangles->texture = more;
	triangles->texture_room = triangles->point_room;
	return 0;
}

int
triangles_add_texture(struct triangles *triangles, float texture)
{
	if (extend_texture(triangles) < 0)
		return -1;
	triangles->texture[triangles->points - 1] = texture;
	return 0;
}

int
triangles_add(struct triangles *triangles, const char *path, const uint64_t corner[3])
{
	uint32_t *out;

	if (make_room(&triangles->corner, triangles->n, &triangles->room,
	    sizeof(*triangles->corner)) < 0)
		return -1;
	out = triangles->corner[triangles->n];
	for (int k = 0; k < 3; k++) {
		if (corner[k] >= UINT32_MAX)
			return fail(path,
			    "triangle %zu has point %llu, which is more than a mesh can have",
			    triangles->n, (unsigned long long)corner[k]);
		out[k] = (uint32_t)corner[k];
	}
	triangles->n++;
	return 0;
}

int
triangles_check(struct triangles *triangles, const char *path)
{
	for (size_t i = 0; i < triangles->n; i++)
		for (int k = 0; k < 3; k++)
			if (triangles->corner[i][k] >= triangles->points)
				return fail(path,
				    "triangle %zu has point %u, but there are %zu points", i,
				    triangles->corner[i][k], triangles->points);
	return triangles->texture ? extend_texture(triangles) : 0;
}

/* Rec. 601, as video and JPEG have it. */
float
luma(double red, double green, double blue)
{
	return (float)(0.299 * red + 0.587 * green + 0.114 * blue);
}

/* ---- words of a text ---- */

static int
get_byte(struct mesh_words *words)
{
	int c = words->next;

	if (c != EOF) {
		words->next = EOF;
		return c;
	}
	if (words->left) {
		words->left--;
		return *words->start++;
	}
	return getc_unlocked(words->file);
}

static bool
is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The first byte of a word, or a newline, or EOF. */
static int
skip_blanks(struct mesh_words *words)
{
	int c = get_byte(words), after;

	for (;;) {
		while (is_blank(c))
			c = get_byte(words);
		if (c != '\\')
			return c;
		after = get_byte(words);
		if (after == '\r')
			after = get_byte(words);
		if (after != '\n') {
			words->next = after;
			return c;
		}
		words->line++;
		c = get_byte(words);
	}
}

bool
words_next(struct mesh_words *words)
{
	size_t n = 0;
	int c = skip_blanks(words);

	words->word[0] = '\0';
	if (c == '\n' || c == EOF) {
		words->next = c;
		return false;
	}
	for (; c != EOF && c != '\n' && !is_blank(c); c = get_byte(words))
		if (n < MESH_WORD_SIZE - 1)
			words->word[n++] = (char)c;
	words->word[n] = '\0';
	words->next = c;
	return true;
}

bool
words_next_line(struct mesh_words *words)
{
	int c = get_byte(words);

	while (c != '\n' && c != EOF)
		c = get_byte(words);
	words->line++;
	if (c == '\n')
		c = get_byte(words);
	words->next = c;
	return c != EOF;
}

bool
words_anywhere(struct mesh_words *words)
{
	while (!words_next(words))
		if (!words_next_line(words))
			return false;
	return true;
}

int
words_number(const struct mesh_words *words, double *out)
{
	if (number_parse(words->word, out) < 0)
		return fail(
		    words->path, "line %zu: wanted a number, not '%s'", words->line, words->word);
	return 0;
}

/* ---- formats ---- */

const struct codec *const meshfile_codecs[] = { &meshfile_ply, &meshfile_obj, &meshfile_stl, NULL };

bool
meshfile_is_text(const unsigned char *start, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (start[i] == 0x7f || (start[i] < ' ' && !(start[i] >= '\t' && start[i] <= '\r')))
			return false;
	return true;
}

enum mesh_axes
meshfile_axes(const char *comment)
{
	static const char start[] = "x to the right, y down, z ";

	if (strncmp(comment, start, strlen(start)))
		return AXES_MODEL;
	comment += strlen(start);
	if (!strncmp(comment, "towards", strlen("towards")))
		return AXES_CAMERA_TOWARDS;
	return strncmp(comment, "away", strlen("away")) ? AXES_MODEL : AXES_CAMERA_AWAY;
}

static bool
finite_triangle(const struct triangles *triangles, size_t i)
{
	for (int k = 0; k < 9; k++)
		if (!isfinite(triangles->point[triangles->corner[i][k / 3]][k % 3]))
			return false;
	return true;
}

/* Is there one at all? */
static int
check_finite(const struct triangles *triangles, const char *path)
{
	for (size_t i = 0; i < triangles->n; i++)
		if (finite_triangle(triangles, i))
			return 0;
	return fail(path, "has no triangle whose points are finite, of %zu", triangles->n);
}

int
meshfile_load(const struct codec *codec, const char *path, FILE *file, struct triangles *triangles)
{
	int status;

	*triangles = (struct triangles){ 0 };
	if (codec == &meshfile_ply)
		status = meshply_load(path, file, triangles);
	else if (codec == &meshfile_obj)
		status = meshobj_load(path, file, triangles);
	else
		status = meshstl_load(path, file, triangles);
	if (status == 0 && triangles->n == 0)
		return fail(path, "holds no triangles, only %zu points", triangles->points);
	if (status < 0 || triangles_check(triangles, path) < 0)
		return -1;
	return check_finite(triangles, path);
}
