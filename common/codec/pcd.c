/*
 * PCD files of the Point Cloud Library: a header in lines of words, then the values as text or
 * little endian. Once the header is read, they are the one element of a PLY file. Clouds of height
 * 1 are tables, others images.
 */
#include <math.h>

#include "base/numbers.h"
#include "base/process.h"
#include "io/codec.h"
#include "io/text_table.h"
#include "mesh/mesh.h"
#include "mesh/ply_file.h"

#define FIELDS_MOST PLY_PROPERTIES

struct pcd {
	struct ply *ply;
	struct frame_head *head;
	char name[FIELDS_MOST][PLY_NAME_SIZE], type[FIELDS_MOST];
	long size[FIELDS_MOST], count[FIELDS_MOST];
	size_t fields, sizes, types, counts;
	long width, height, points;	/* points: -1: not named */
	bool data;			/* the header has ended */
};

/* Whole numbers from `least` on, one of each field. */
static int
take_numbers(struct pcd *pcd, char *rest, long least, long *to, size_t most, size_t *n)
{
	char *state = NULL;

	for (*n = 0; (rest = strtok_r(*n ? NULL : rest, " \t", &state)); ++*n)
		if (*n == most || integer_parse(rest, &to[*n]) < 0 || to[*n] < least)
			return ply_fail_line(pcd->ply, "wanted one whole number of each field",
			    rest);
	return 0;
}

/* Where the sensor stood: all zeros say nothing. */
static int
take_viewpoint(struct pcd *pcd, const char *rest)
{
	double at[3];

	if (sscanf(rest, "%lf %lf %lf", &at[0], &at[1], &at[2]) == 3 &&
	    isfinite(at[0] + at[1] + at[2]) && (at[0] != 0 || at[1] != 0 || at[2] != 0) &&
	    !meta_get(&pcd->head->meta, "seen_from_mm"))
		meta_set_numbers(&pcd->head->meta, "seen_from_mm", at, 3);
	return 0;
}

static int
take_data(struct pcd *pcd, const char *form)
{
	pcd->data = true;
	if (!strcmp(form, "binary_compressed"))
		return fail(pcd->ply->path, "DATA binary_compressed is not read: save it as binary "
		    "or ascii (pcl_convert_pcd_ascii_binary)");
	pcd->ply->form = !strcmp(form, "ascii") ? PLY_FORM_ASCII : PLY_FORM_LITTLE;
	return !strcmp(form, "ascii") || !strcmp(form, "binary") ? 0 :
	    ply_fail_line(pcd->ply, "wanted DATA ascii or binary", form);
}

static int
take_line(struct pcd *pcd, char *line)
{
	char *word = line + strspn(line, " \t"), *rest = word + strcspn(word, " \t"), *state = NULL;
	size_t one;

	if (*word == '#') {
		word += 1 + (word[1] == ' ');
		return head_line_is_of_table(word) ? 0 :
		    head_from_text(pcd->head, word, strlen(word));
	}
	if (*rest)
		*rest++ = '\0';
	if (!strcmp(word, "FIELDS") || !strcmp(word, "COLUMNS")) {
		for (pcd->fields = 0; (word = strtok_r(pcd->fields ? NULL : rest, " \t", &state));)
			if (pcd->fields == FIELDS_MOST)
				return fail(pcd->ply->path, "has more than %d fields", FIELDS_MOST);
			else
				snprintf(pcd->name[pcd->fields++], PLY_NAME_SIZE, "%s", word);
		return 0;
	}
	if (!strcmp(word, "TYPE")) {
		for (pcd->types = 0; (word = strtok_r(pcd->types ? NULL : rest, " \t", &state)) &&
		    pcd->types < FIELDS_MOST;)
			pcd->type[pcd->types++] = word[1] ? '?' : *word;
		return 0;
	}
	rest += strspn(rest, " \t");
	return !strcmp(word, "SIZE") ? take_numbers(pcd, rest, 1, pcd->size, FIELDS_MOST,
	    &pcd->sizes) :
	    !strcmp(word, "COUNT") ? take_numbers(pcd, rest, 1, pcd->count, FIELDS_MOST,
	    &pcd->counts) :
	    !strcmp(word, "WIDTH") ? take_numbers(pcd, rest, 0, &pcd->width, 1, &one) :
	    !strcmp(word, "HEIGHT") ? take_numbers(pcd, rest, 0, &pcd->height, 1, &one) :
	    !strcmp(word, "POINTS") ? take_numbers(pcd, rest, 0, &pcd->points, 1, &one) :
	    !strcmp(word, "VIEWPOINT") ? take_viewpoint(pcd, rest) :
	    !strcmp(word, "DATA") ? take_data(pcd, rest) :
	    !*word || !strcmp(word, "VERSION") ? 0 :
	    ply_fail_line(pcd->ply, "wanted a line of a PCD header", word);
}

/* Adds the properties of field i. */
static int
add_field(struct pcd *pcd, struct ply_element *element, size_t i)
{
	static const struct {
		char type;
		long size;
		enum element element;
	} types[] = { { 'F', 4, ELEMENT_F32 }, { 'F', 8, ELEMENT_F64 }, { 'U', 1, ELEMENT_U8 },
		{ 'U', 2, ELEMENT_U16 }, { 'U', 4, ELEMENT_U32 }, { 'U', 8, ELEMENT_U64 },
		{ 'I', 1, ELEMENT_I8 }, { 'I', 2, ELEMENT_I16 }, { 'I', 4, ELEMENT_I32 },
		{ 'I', 8, ELEMENT_I64 } };
	struct ply *ply = pcd->ply;
	const char *name = pcd->name[i];
	bool packed = (!strcmp(name, "rgb") || !strcmp(name, "rgba")) && pcd->size[i] == 4;
	size_t k = 0;

	while (k < sizeof(types) / sizeof(*types) &&
	    (types[k].type != pcd->type[i] || types[k].size != pcd->size[i]))
		k++;
	if (k == sizeof(types) / sizeof(*types))
		return fail(ply->path, "field %s has TYPE %c and SIZE %ld, which are no number's",
		    name, pcd->type[i], pcd->size[i]);
	for (long j = 0; j < pcd->count[i]; j++, element->n++) {
		struct ply_property *property = &ply->property[ply->properties];

		if (ply->properties++ == PLY_PROPERTIES)
			return fail(ply->path, "has more than %d values a point", PLY_PROPERTIES);
		*property = (struct ply_property){ .type = types[k].element,
			.role = !strcmp(name, "_") ? PLY_SKIPPED : packed ? PLY_PACKED :
			PLY_PLAIN };
		/* a float would lose bits of a NaN */
		if (packed && ply->form != PLY_FORM_ASCII)
			property->type = ELEMENT_U32;
		snprintf(property->name, sizeof(property->name),
		    pcd->count[i] > 1 ? "%.40s%ld" : "%.63s", name, j + 1);
	}
	return 0;
}

/* The fields as the properties of one element. */
static int
fill_element(struct pcd *pcd)
{
	struct ply_element *element = &pcd->ply->element[pcd->ply->elements++];
	const char *path = pcd->ply->path;
	size_t pixels;

	if (pcd->counts == 0)		/* COUNT may be left out */
		while (pcd->counts < pcd->fields)
			pcd->count[pcd->counts++] = 1;
	if (pcd->fields == 0 || pcd->sizes != pcd->fields || pcd->types != pcd->fields ||
	    pcd->counts != pcd->fields)
		return fail(path, "FIELDS, SIZE, TYPE and COUNT name %zu, %zu, %zu and %zu fields",
		    pcd->fields, pcd->sizes, pcd->types, pcd->counts);
	if (size_multiply((size_t)pcd->width, (size_t)pcd->height, &pixels) < 0)
		return -1;
	if (pcd->points >= 0 && pixels != (size_t)pcd->points)
		return fail(path, "POINTS is %ld, but WIDTH x HEIGHT %ld x %ld", pcd->points,
		    pcd->width, pcd->height);
	*element = (struct ply_element){ .name = "POINTS", .kind = PLY_VERTEX, .count = pixels };
	for (size_t i = 0; i < pcd->fields; i++)
		if (add_field(pcd, element, i) < 0)
			return -1;
	if (pcd->height > 1 && pixels) {
		pcd->head->w = (size_t)pcd->width;
		pcd->head->h = (size_t)pcd->height;
	}
	return 0;
}

static int
pcd_load(struct loader *loader, struct frame **out)
{
	struct frame_head head;
	struct pcd *pcd = must_alloc(1, sizeof(*pcd));
	struct ply *ply = must_alloc(1, sizeof(*ply));
	char line[PLY_LINE_BYTES];
	int status = 0;

	*out = NULL;
	ply->path = loader->path;
	ply->file = loader->file;
	pcd->ply = ply;
	pcd->head = &head;
	pcd->height = 1;
	pcd->points = -1;
	head_init(&head, 1, 1, 1, SAMPLE_FLOAT);
	while (status == 0 && !pcd->data)
		if ((status = ply_read_line(ply, line)) == 0)
			status = take_line(pcd, line);
	if (status == 0)
		status = fill_element(pcd);
	if (status == 0) {
		ply_begin_values(ply);
		status = ply_read_cloud(ply, &head, out);
	}
	head_free(&head);
	free(pcd);
	free(ply);
	return status < 0 ? -1 : 1;
}

/* ---- writing ---- */

/* A word of each field, of which r g b together are one. */
static void
put_words(FILE *file, const char *key, const struct frame_head *head, size_t packed,
    const char *plain, const char *of_packed)
{
	fputs(key, file);
	for (size_t c = 0; c < head->c; c += c == packed ? 3 : 1) {
		const char *name = table_foreign_name(head->channel[c], TABLE_NORMALS);

		fprintf(file, " %s", c == packed ? of_packed : plain ? plain :
		    strcmp(name, "_") ? name : "__");	/* _ is passed over */
	}
	putc('\n', file);
}

static void
write_pixel(FILE *file, const struct frame *floats, size_t packed, size_t x, size_t y, bool ascii)
{
	for (size_t c = 0; c < floats->head.c; c += c == packed ? 3 : 1) {
		float v = frame_floats(floats, c, y)[x];
		uint32_t rgb = 0;

		for (size_t k = 0; k < 3 && c == packed; k++) {
			float level = frame_floats(floats, c + k, y)[x];

			rgb = rgb << 8 | (level >= 0.5f ? (uint32_t)(level + 0.5f) : 0);
		}
		if (ascii && c)
			putc(' ', file);
		if (!ascii)
			fwrite(c == packed ? (void *)&rgb : &v, 4, 1, file);
		else if (c == packed)
			fprintf(file, "%u", rgb);
		else if (isnan(v))
			fputs("nan", file);
		else
			fprintf(file, "%.9g", v);
	}
	if (ascii)
		putc('\n', file);
}

static int
pcd_save(struct saver *saver, const struct frame *frame)
{
	const bool ascii = ((const struct mesh_options *)saver->options)->ascii;
	const bool table = head_is_table(&frame->head);
	const char *from = meta_get(&frame->head.meta, "seen_from_mm");
	size_t points = frame->head.w, packed = NO_CHANNEL, colour[3];
	FILE *file = saver->file;
	struct frame *floats;
	int status = 0;

	if (table_has_points(saver->path, &frame->head) < 0 ||
	    (table && head_points(&frame->head, &points) < 0) || frame_to_float(frame, &floats) < 0)
		return -1;
	if (table_byte_colours(floats, colour) && colour[1] == colour[0] + 1 &&
	    colour[2] == colour[0] + 2)
		packed = colour[0];
	fputs("# .PCD v0.7 - Point Cloud Data file format\n", file);
	head_put_comments(file, "#", &floats->head, PLY_LINE_BYTES / 2, true);
	fputs("VERSION 0.7\n", file);
	put_words(file, "FIELDS", &floats->head, packed, NULL, "rgb");
	put_words(file, "SIZE", &floats->head, packed, "4", "4");
	put_words(file, "TYPE", &floats->head, packed, "F", "U");
	put_words(file, "COUNT", &floats->head, packed, "1", "1");
	fprintf(file, "WIDTH %zu\nHEIGHT %zu\n", points, floats->head.h);
	fprintf(file, "VIEWPOINT %s 1 0 0 0\nPOINTS %zu\nDATA %s\n",
	    from && meta_words(from) == 3 ? from : "0 0 0", points * floats->head.h,
	    ascii ? "ascii" : "binary");
	for (size_t y = 0; y < floats->head.h; y++)
		for (size_t x = 0; x < points; x++)
			write_pixel(file, floats, packed, x, y, ascii);
	if (ferror(file))
		status = fail_errno(saver->path, "cannot be written");
	frame_free(floats);
	return status;
}

static bool
pcd_sniff(const unsigned char *start, size_t n)
{
	return (n >= 6 && !memcmp(start, "# .PCD", 6)) ||
	    (n >= 10 && (!memcmp(start, "VERSION 0.", 10) || !memcmp(start, "VERSION .", 9)));
}

const struct codec codec_pcd = {
	.name = "PCD",
	.suffixes = "pcd",
	.tables = true,
	.sniff = pcd_sniff,
	.load = pcd_load,
	.options = mesh_options,
	.option_size = sizeof(struct mesh_options),
	.save = pcd_save
};
