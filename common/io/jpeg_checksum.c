/*
 * A checksum over the coefficients of a JPEG file that the file itself carries, so that damage is
 * noticed although the file still decodes.
 */
#include "io/jpeg_checksum.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <jerror.h>

#include "base/fail.h"
#include "frame/samples.h"

const char *const jpeg_purposes[] = { "eyes", "fringes", NULL };

#define KEY "jpeg_crc32:="
#define TEXT_BYTES 31 /* of the comment: key, 8 digits, blank, 10 digits */
#define MARKER_BYTES (4 + TEXT_BYTES)
#define CHUNK 65536

struct summed {
	struct jpeg_source_mgr manager; /* first: libjpeg passes its address */
	FILE *file;
	uint32_t sum;
	unsigned long long bytes; /* summed up */
	char stored[TEXT_BYTES + 1]; /* the file's sum; empty: it has none */
	bool started;
	JOCTET byte[CHUNK];
};

bool
jpeg_checksum_is(const unsigned char *comment, size_t n)
{
	return n == TEXT_BYTES && !memcmp(comment, KEY, sizeof(KEY) - 1);
}

/* Where the sum is written: after SOI, and after a JFIF marker, which must be the first. */
static size_t
place_of(const unsigned char *jpeg, size_t n)
{
	size_t behind = n >= 6 && jpeg[2] == 0xff && jpeg[3] == 0xe0
	    ? 4 + (size_t)jpeg[4] * 256 + jpeg[5]
	    : 2;

	return behind <= n ? behind : n;
}

int
jpeg_checksum_write(const char *path, FILE *file, const unsigned char *jpeg, size_t n)
{
	size_t place = place_of(jpeg, n);
	char marker[MARKER_BYTES + 16] = { (char)0xff, (char)JPEG_COM, 0, 2 + TEXT_BYTES };

	snprintf(marker + 4, sizeof(marker) - 4, KEY "%08lx %010zu",
	    (unsigned long)libdeflate_crc32(libdeflate_crc32(0, jpeg, place), jpeg + place,
	    n - place), n);
	if (samples_write(path, file, jpeg, place) < 0 ||
	    samples_write(path, file, marker, MARKER_BYTES) < 0)
		return -1;
	return samples_write(path, file, jpeg + place, n - place);
}

/* ---- reading ---- */

static void
add(struct summed *summed, const JOCTET *byte, size_t n)
{
	summed->sum = libdeflate_crc32(summed->sum, byte, n);
	summed->bytes += n;
}

/* Leaves the sum's own marker out. */
static void
add_first(struct summed *summed, size_t n)
{
	size_t place = place_of(summed->byte, n);
	const JOCTET *marker = summed->byte + place;

	add(summed, summed->byte, place);
	if (n - place >= MARKER_BYTES && marker[0] == 0xff && marker[1] == JPEG_COM &&
	    marker[2] == 0 && marker[3] == 2 + TEXT_BYTES &&
	    jpeg_checksum_is(marker + 4, TEXT_BYTES)) {
		memcpy(summed->stored, marker + 4, TEXT_BYTES);
		place += MARKER_BYTES;
	}
	add(summed, summed->byte + place, n - place);
}

static size_t
next_bytes(struct summed *summed)
{
	size_t n = fread(summed->byte, 1, CHUNK, summed->file);

	if (summed->started)
		add(summed, summed->byte, n);
	else
		add_first(summed, n);
	summed->started = true;
	return n;
}

static boolean
fill(j_decompress_ptr jpeg)
{
	struct summed *summed = (struct summed *)jpeg->src;
	size_t n = next_bytes(summed);

	if (n == 0)
		WARNMS(jpeg, JWRN_JPEG_EOF); /* an error for the codec: it does not return */
	summed->manager.next_input_byte = summed->byte;
	summed->manager.bytes_in_buffer = n;
	return n > 0;
}

static void
skip(j_decompress_ptr jpeg, long n)
{
	struct jpeg_source_mgr *manager = jpeg->src;

	while (n > (long)manager->bytes_in_buffer) {
		n -= (long)manager->bytes_in_buffer;
		if (!fill(jpeg))
			return;
	}
	if (n > 0) {
		manager->next_input_byte += n;
		manager->bytes_in_buffer -= (size_t)n;
	}
}

static void
nothing(j_decompress_ptr)
{
}

void
jpeg_checksum_source(j_decompress_ptr jpeg, FILE *file)
{
	struct summed *summed = (*jpeg->mem->alloc_large)(
	    (j_common_ptr)jpeg, JPOOL_PERMANENT, sizeof(*summed));

	memset(summed, 0, offsetof(struct summed, byte));
	summed->file = file;
	summed->manager.init_source = nothing;
	summed->manager.fill_input_buffer = fill;
	summed->manager.skip_input_data = skip;
	summed->manager.resync_to_restart = jpeg_resync_to_restart;
	summed->manager.term_source = nothing;
	jpeg->src = &summed->manager;
}

size_t
jpeg_checksum_rest(j_decompress_ptr jpeg)
{
	struct summed *summed = (struct summed *)jpeg->src;
	size_t n = summed->manager.bytes_in_buffer, left = n;
	bool padding = samples_rest_is_padding(summed->manager.next_input_byte, n);

	while ((n = next_bytes(summed)) > 0) {
		left += n;
		padding = padding && samples_rest_is_padding(summed->byte, n);
	}
	return padding || left <= SAMPLES_REST_WORD ? 0 : left;
}

int
jpeg_checksum_check(j_decompress_ptr jpeg, const char *path)
{
	struct summed *summed = (struct summed *)jpeg->src;
	unsigned long sum;
	unsigned long long length;

	if (!*summed->stored ||
	    sscanf(summed->stored + sizeof(KEY) - 1, "%8lx %10llu", &sum, &length) != 2)
		return 0;
	while (summed->bytes <= length && next_bytes(summed) > 0)
		;
	if (summed->bytes != length || summed->sum == sum)
		return 0;
	return fail(path, "JPEG: damaged: its bytes are not those that were written");
}
