/* compare_bits IN.spv OUT.spv: a shader as it is loaded where comparisons of floats are by bits. */
#include "gpu/vulkan.h"

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	FILE *from = argc == 3 ? fopen(argv[1], "rb") : NULL, *to;
	size_t most = 1 << 20, bytes;
	uint32_t *code = malloc(most);

	if (!from || !code)
		return 2;
	bytes = fread(code, 1, most, from);
	fclose(from);
	code = vulkan_compare_bits(code, &bytes);
	to = code ? fopen(argv[2], "wb") : NULL;
	if (!to || fwrite(code, 1, bytes, to) != bytes || fclose(to) != 0)
		return 1;
	free(code);
	return 0;
}
