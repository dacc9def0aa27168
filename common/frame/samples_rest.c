#include "frame/samples_rest.h"

bool
samples_rest_is_padding(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != 0 && bytes[i] != 0xff)
			return false;
	return true;
}

size_t
samples_rest_read(FILE *file)
{
	unsigned char bytes[4096];
	size_t left = 0, n;
	bool padding = true;

	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0) {
		left += n;
		padding = padding && samples_rest_is_padding(bytes, n);
	}
	return padding || left <= SAMPLES_REST_WORD || ferror(file) ? 0 : left;
}
