#include "base/escape.h"

bool
escape_needed(const char *at)
{
	unsigned char byte = (unsigned char)*at;

	return byte < 0x20 || byte > 0x7e || (byte == ':' && (at[1] == ' ' || at[1] == '\0'));
}

void
escape_put_word(FILE *file, const char *word)
{
	for (const char *p = word; *p; p++)
		if (*p == ' ' || *p == '%' || escape_needed(p))
			fprintf(file, "%%%02X", (unsigned char)*p);
		else
			putc(*p, file);
}
