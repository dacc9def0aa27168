#include "fringe/compensation.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"

int
compensation_set_file(struct meta *meta, const char *key, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct text text;
	char *word;
	int status = -1;

	if (!text_open(&text))
		return -1;
	escape_put_word(text.file, slash && slash[1] ? slash + 1 : path);
	word = text_close(&text, NULL);
	if (word)
		status = meta_set(meta, key, word);
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
