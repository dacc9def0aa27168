#include "fringe/compensation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/fail.h"

int
compensation_set_file(struct meta *meta, const char *key, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *word = NULL;
	size_t size;
	FILE *text = open_memstream(&word, &size);
	int status;

	if (!text)
		return fail_memory();
	escape_put_word(text, slash && slash[1] ? slash + 1 : path);
	status = fclose(text) ? fail_memory() : meta_set(meta, key, word);
	free(word);
	return status;
}

int
compensation_describe(struct meta *meta, const char *lut_path, double gamma)
{
	if (lut_path)
		return compensation_set_file(meta, "compensation", lut_path);
	if (gamma != 1)
		return meta_setf(meta, "compensation", "gamma %.15g", gamma);
	meta_remove(meta, "compensation");
	return 0;
}
