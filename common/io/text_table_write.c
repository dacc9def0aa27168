#define _GNU_SOURCE
#include "io/text_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order_mark.h"
#include "base/fail.h"
#include "base/numbers.h"

/* All but what the line of names and the number of rows tell. */
static int
write_keys(FILE *file, const char *mark, const struct frame_head *head)
{
	char *text = head_to_text(head), *rest = text, *line;

	if (!text)
		return -1;
	while ((line = strsep(&rest, "\n")))
		if (*line && strncmp(line, "channels:=", 10) && strncmp(line, "points:=", 8))
			fprintf(file, "%s %s\n", mark, line);
	free(text);
	return 0;
}

/* Quoted where the reader would take it for something else. */
static void
write_csv_name(FILE *file, const char *name)
{
	double v;

	if (*name && !strpbrk(name, ",;\"#") && number_parse(name, &v) < 0 &&
	    !byte_order_mark(name, strlen(name))) {
		fputs(name, file);
		return;
	}
	putc('"', file);
	for (; *name; name++) {
		if (*name == '"')
			putc('"', file);
		putc(*name, file);
	}
	putc('"', file);
}

/* A name as the syntax can have it, and as the reader will have it. */
static void
change_name(enum text_syntax syntax, char *name)
{
	if (!*name && syntax == TEXT_VNL)
		strcpy(name, "_");
	text_table_change_name(name);
	for (; *name && syntax == TEXT_VNL; name++)
		if (*name == '#')
			*name = '_';
}

/* The line of names, all of which differ as they are written. */
static int
write_names(const char *path, FILE *file, enum text_syntax syntax, const struct frame_head *head)
{
	struct frame_head written;
	int status;

	if (head_copy(&written, head) < 0)
		return -1;
	for (size_t c = 0; c < head->c; c++)
		change_name(syntax, written.channel[c]);
	status = text_table_check_names(path, &written);
	for (size_t c = 0; c < head->c && status == 0; c++) {
		if (syntax == TEXT_CSV) {
			if (c)
				putc(',', file);
			write_csv_name(file, written.channel[c]);
		} else {
			fputs(c ? " " : "# ", file);
			fputs(written.channel[c], file);
		}
	}
	putc('\n', file);
	head_free(&written);
	return status;
}

static void
write_value(FILE *file, enum text_syntax syntax, const struct frame *frame, size_t c, size_t i)
{
	const void *row = frame_row(frame, c, 0);
	enum sample type = frame->head.type;

	if (type != SAMPLE_FLOAT)
		fprintf(file, "%d", type == SAMPLE_UCHAR ? ((const uint8_t *)row)[i] :
		    ((const uint16_t *)row)[i]);
	else if (isnan(((const float *)row)[i]))
		fputs(syntax == TEXT_CSV ? "nan" : "-", file);
	else
		fprintf(file, "%.9g", ((const float *)row)[i]);
}

int
text_table_save(struct saver *saver, enum text_syntax syntax, const struct frame *frame)
{
	FILE *file = saver->file;
	size_t points;

	if (!head_is_table(&frame->head))
		return fail(saver->path, "%s holds tables, not an image of %zu x %zu: framecat "
		    "--points makes a table of it", syntax == TEXT_CSV ? "CSV" : "vnlog",
		    frame->head.w, frame->head.h);
	if (head_points(&frame->head, &points) < 0 ||
	    write_keys(file, syntax == TEXT_CSV ? "#" : "##", &frame->head) < 0 ||
	    write_names(saver->path, file, syntax, &frame->head) < 0)
		return -1;
	for (size_t i = 0; i < points; i++) {
		for (size_t c = 0; c < frame->head.c; c++) {
			if (c)
				putc(syntax == TEXT_CSV ? ',' : ' ', file);
			write_value(file, syntax, frame, c, i);
		}
		putc('\n', file);
	}
	return ferror(file) ? fail_errno(saver->path, "cannot be written") : 0;
}
