/* The files of the command, in the order in which phasewrap takes them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "probe.h"

struct list {
	size_t n, *image;
};

/* A control character, or one of the two bytes of a C1 control in UTF-8, or alone? */
static bool
is_control(const char *word, const char *c)
{
	unsigned char at = (unsigned char)*c, before = c > word ? (unsigned char)c[-1] : 0;
	unsigned char behind = at ? (unsigned char)c[1] : 0;

	if (at == 0xc2)
		return behind < 0xa0;
	return at < 0x20 || at == 0x7f || (at >= 0x80 && at < 0xa0 && (before < 0x80 ||
	    before == 0xc2));
}

/* A word for a shell: as it is, in quotes, or with its control characters spelt. */
void
operands_put_quoted(FILE *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_-+=./:@%,";
	bool control = false;

	for (const char *c = word; *c; c++)
		control |= is_control(word, c);
	if (!control && word[strspn(word, plain)] == '\0' && strcmp(word, ",") && *word) {
		fputs(word, to);
		return;
	}
	fputs(control ? "$'" : "'", to);
	for (const char *c = word; *c; c++)
		if (is_control(word, c))
			fprintf(to, "\\x%02x", (unsigned char)*c);
		else if (control && (*c == '\'' || *c == '\\'))
			fprintf(to, "\\%c", *c);
		else if (*c == '\'')
			fputs("'\\''", to);
		else
			fputc(*c, to);
	fputc('\'', to);
}

/* "-x" and "," are no options and no end of a stage. */
static int
put_path(FILE *to, const char *path)
{
	bool plain = !((*path == '-' && path[1]) || !strcmp(path, ","));
	char *safe = NULL;

	if (asprintf(&safe, "%s%s", plain ? "" : "./", path) < 0)
		return fail_memory();
	fputc(' ', to);
	operands_put_quoted(to, safe);
	free(safe);
	return 0;
}

static void
add_phases(const struct probe *probe, bool by_step, struct list *list)
{
	size_t sets = probe->chosen, steps = sets ? probe->sets.fringe[probe->set[0]].steps.n : 0;

	for (size_t i = 0; i < sets * steps; i++) {
		size_t set = by_step ? i % sets : i / steps, step = by_step ? i / sets : i % steps;

		list->image[list->n++] = probe->sets.fringe[probe->set[set]].steps.image[step];
	}
}

static void
add_gray(const struct probe *probe, bool pairs, bool lsb_first, struct list *list)
{
	for (size_t c = 0; c < probe->gray.codes; c++) {
		const struct gray_code *code = &probe->gray.code[c];
		size_t all = code->inverses ? 2 * code->n : code->n;

		for (size_t i = 0; i < all; i++) {
			bool inverse = pairs && code->inverses ? i % 2 : i >= code->n;
			size_t k = pairs && code->inverses ? i / 2 : i % code->n;

			k = lsb_first ? code->n - 1 - k : k;
			list->image[list->n++] = inverse ? code->inverse[k] : code->plane[k];
		}
	}
}

/* White and black are wanted as thresholds of planes without inverses only. */
static void
add_flats(const struct probe *probe, struct list *list)
{
	const struct gray *gray = &probe->gray;

	if (!gray->codes || gray->code[0].inverses || gray->white == SIZE_MAX ||
	    gray->black == SIZE_MAX)
		return;
	list->image[list->n++] = gray->white;
	list->image[list->n++] = gray->black;
}

/* groups: an order of phase, gray and flat, 0 to 5. */
static void
make_list(const struct probe *probe, int groups, unsigned flags, struct list *list)
{
	static const char *const order[] = { "pgf", "pfg", "gpf", "gfp", "fpg", "fgp" };

	list->n = 0;
	for (const char *group = order[groups]; *group; group++)
		if (*group == 'p')
			add_phases(probe, flags & 1, list);
		else if (*group == 'g')
			add_gray(probe, flags & 2, flags & 4, list);
		else
			add_flats(probe, list);
}

/* Are the images in this order, and no others between them? */
static bool
is_order(const struct probe *probe, const struct list *list)
{
	bool same = list->n == probe->n;

	for (size_t i = 0; i < list->n && same; i++)
		same = list->image[i] == i;
	return same;
}

static int
order_word(struct probe *probe, int groups, unsigned flags)
{
	static const char *const order[] = { "phase,gray,flat", "phase,flat,gray",
		"gray,phase,flat", "gray,flat,phase", "flat,phase,gray", "flat,gray,phase" };

	return command_word(probe, SURE_FOUND, "the order of the images in their file",
	    "--order %s%s%s%s", order[groups], flags & 1 ? ",by-step" : "",
	    flags & 2 ? ",pairs" : "", flags & 4 ? ",lsb-first" : "");
}

/* Each file once. */
static int
put_paths(const struct probe *probe, FILE *to)
{
	int status = 0;

	for (size_t i = 0; i < probe->n && status == 0; i++)
		if (probe->image[i]->in_file == 0 || i == 0 ||
		    strcmp(probe->image[i]->path, probe->image[i - 1]->path))
			status = put_path(to, probe->image[i]->path);
	return status;
}

/* A file that holds several images is taken as it is. */
static int
write_whole(struct probe *probe, struct list *list, FILE *to)
{
	int status = 1;

	for (int groups = 0; groups < 6 && status == 1; groups++)
		for (unsigned flags = 0; flags < 8 && status == 1; flags++) {
			make_list(probe, groups, flags, list);
			if (is_order(probe, list))
				status = groups || flags ? order_word(probe, groups, flags) : 0;
		}
	if (status == 1) {
		status = command_word(probe, SURE_UNKNOWN, "the images stand in an order that no "
		    "word names, or with others between: framecat --split makes files of them",
		    "--order ORDER");
	}
	return status < 0 ? -1 : put_paths(probe, to);
}

/* An image that was left out, in a file of which others are taken; NULL: none. */
static const struct image *
find_left(const struct probe *probe)
{
	for (size_t i = 0; i < probe->images.n; i++) {
		const struct image *image = &probe->images.image[i];

		for (size_t k = 0; k < probe->n && image->left && image->of_file > 1; k++)
			if (!strcmp(probe->image[k]->path, image->path))
				return image;
	}
	return NULL;
}

/* A Gray plane that is inverted, which no word of the command can say; NULL: none. */
static const struct image *
find_inverted(const struct probe *probe)
{
	for (size_t c = 0; c < probe->gray.codes; c++)
		for (size_t k = 0; k < probe->gray.code[c].n; k++)
			if (probe->gray.code[c].inverted[k])
				return probe->image[probe->gray.code[c].plane[k]];
	return NULL;
}

static int
unknown_operands(struct probe *probe, const struct image *image, const char *what)
{
	char *why;
	int status;

	if (asprintf(&why, "%s %s", image->name, what) < 0)
		return fail_memory();
	status = command_word(probe, SURE_UNKNOWN, why, "FILES");
	free(why);
	return status;
}

int
operands_write(struct probe *probe, FILE *to)
{
	struct list list = { 0, calloc(2 * probe->n + 8, sizeof(*list.image)) };
	const struct image *left, *inverted = find_inverted(probe);
	bool whole = false;
	int status = 0;

	if (!list.image)
		return fail_memory();
	for (size_t i = 0; i < probe->n; i++)
		whole |= probe->image[i]->of_file > 1;
	make_list(probe, 0, 0, &list);
	left = probe->manifest_path ? NULL : find_left(probe);
	if (left)
		status = unknown_operands(probe, left, "is left out, its file holds others that "
		    "are not: framecat --split makes files of them");
	else if (inverted)
		status = unknown_operands(probe, inverted, "is inverted: the files in their order, "
		    "when it is made right");
	else if (whole && !probe->described)
		status = write_whole(probe, &list, to);
	else if (probe->described)
		status = probe->manifest_path && !probe->operands ? 0 : put_paths(probe, to);
	else
		for (size_t i = 0; i < list.n && status == 0; i++)
			status = put_path(to, probe->image[list.image[i]]->path);
	free(list.image);
	return status;
}
