#define _GNU_SOURCE
#include "io/gzip_file.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNPACKED_MOST ((size_t)256 << 20)
#define RATIO_MOST 1032		/* of deflate: a code of two bits stands for 258 bytes */
#define MEMBER_LEAST 18		/* bytes */
#define FLAG_HEADER_SUM 2	/* which libdeflate does not check */

/* All that is left of a regular file, if so few bytes can be n packed ones; NULL: leave it. */
static unsigned char *
read_packed(FILE *file, size_t n, size_t *packed)
{
	const off_t here = ftello(file);
	unsigned char *bytes;
	struct stat st;
	size_t left, got = 0;

	if (here < 0 || fileno(file) < 0 || fstat(fileno(file), &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size <= here || n > UNPACKED_MOST)
		return NULL;
	left = (size_t)(st.st_size - here);
	/* packed in vain, deflate's blocks and members of 64 KiB take a few bytes more */
	if (left > n + n / 8 + 65536 || left < n / RATIO_MOST)
		return NULL;
	bytes = malloc(left);
	while (bytes && got < left) {
		ssize_t more = pread(fileno(file), bytes + got, left - got, here + (off_t)got);

		if (more > 0) {
			got += (size_t)more;
		} else if (more == 0 || errno != EINTR) {
			free(bytes);
			return NULL;
		}
	}
	*packed = left;
	return bytes;
}

static bool
unpack(const unsigned char *from, size_t left, unsigned char *to, size_t n)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	size_t used, got;

	while (decompressor && n > 0) {
		if (left < MEMBER_LEAST || from[3] & FLAG_HEADER_SUM ||
		    libdeflate_gzip_decompress_ex(decompressor, from, left, to, n, &used, &got) !=
		    LIBDEFLATE_SUCCESS)
			break;
		from += used;
		left -= used;
		to += got;
		n -= got;
	}
	libdeflate_free_decompressor(decompressor);
	return n == 0;
}

bool
gzip_file_unpack(FILE *file, void *to, size_t n)
{
	size_t packed;
	unsigned char *bytes = read_packed(file, n, &packed);
	const bool unpacked = bytes && unpack(bytes, packed, to, n);

	free(bytes);
	return unpacked && fseeko(file, 0, SEEK_END) == 0;
}
