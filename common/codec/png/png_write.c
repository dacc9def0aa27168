/*
 * Writes PNG files. The image data is filtered and deflated here, in strips on all threads; a
 * sample of the rows decides which filter and which level of deflate are worth their time.
 */

#include <libdeflate.h>
#include <png.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process.h"
#include "codec/png/lanes.h"
#include "codec/png/png_codec.h"
#include "frame/frame.h"
#include "frame/pixel_store.h"
#include "frame/samples.h"

#define LEVEL_MOST 9	/* those of higher levels take up to 10 MB and are not kept */
#define KEPT_MOST 2	/* of a level */

static _Atomic(struct libdeflate_compressor *) kept[LEVEL_MOST + 1][KEPT_MOST];

/* A compressor of a level from 1 to 12, which no other thread has; NULL: out of memory (nothing
 * recorded). */
static struct libdeflate_compressor *
compressor_take(int level)
{
	struct libdeflate_compressor *found = NULL;

	for (size_t i = 0; level <= LEVEL_MOST && i < KEPT_MOST && !found; i++)
		found = atomic_exchange(&kept[level][i], NULL);
	return found ? found : libdeflate_alloc_compressor(level);
}

/* Keeps it for the next caller of this level, or frees it; NULL is allowed. None is kept under
 * sanitizers. */
static void
compressor_give(struct libdeflate_compressor *compressor, int level)
{
	for (size_t i = 0; !SANITIZED && level <= LEVEL_MOST && i < KEPT_MOST && compressor; i++)
		compressor = atomic_exchange(&kept[level][i], compressor);
	libdeflate_free_compressor(compressor);
}

/* Bytes before and behind the rows that may be read; those before the pixels count as 0. */
#define FILTER_MARGIN 16

/* The difference that a filter makes of 16 bytes. */
static inline lanes
difference(const unsigned char *row, const unsigned char *above, size_t pixel_bytes,
    enum filter filter)
{
	const lanes v = lanes_load(row);

	switch (filter) {
	case FILTER_SUB:
		return v - lanes_load(row - pixel_bytes);
	case FILTER_UP:
		return v - lanes_load(above);
	case FILTER_AVERAGE:
		return v - lanes_mean(lanes_load(row - pixel_bytes), lanes_load(above));
	case FILTER_PAETH:
		return v - lanes_paeth(lanes_load(row - pixel_bytes), lanes_load(above),
		    lanes_load(above - pixel_bytes));
	default:
		return v;
	}
}

/* The first n of 16 bytes, the others 0. */
static lanes
first_bytes(lanes v, size_t n)
{
	for (size_t i = n; i < LANES; i++)
		v[i] = 0;
	return v;
}

static enum filter
least_filter(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes)
{
	lane_sums sum[FILTER_LEAST] = { 0 };
	enum filter least = FILTER_NONE;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (enum filter f = FILTER_NONE; f < FILTER_LEAST; f++)
			sum[f] = lanes_add_magnitudes(sum[f],
			    difference(row + i, above + i, pixel_bytes, f));
	if (i < n)
		for (enum filter f = FILTER_NONE; f < FILTER_LEAST; f++)
			sum[f] = lanes_add_magnitudes(sum[f], first_bytes(
			    difference(row + i, above + i, pixel_bytes, f), n - i));
	for (enum filter f = FILTER_SUB; f < FILTER_LEAST; f++)
		if (sum[f][0] + sum[f][1] < sum[least][0] + sum[least][1])
			least = f;
	return least;
}

/* Inlined for each filter, so that the choice is made once a row. */
static inline __attribute__((always_inline)) void
filter_by(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes,
    enum filter filter, unsigned char *to)
{
	*to++ = (unsigned char)filter;
	for (size_t i = 0; i < n; i += LANES)
		lanes_store(to + i, difference(row + i, above + i, pixel_bytes, filter));
}

void
filter_row(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes,
    enum filter filter, unsigned char *to)
{
	if (filter == FILTER_LEAST)
		filter = least_filter(row, above, n, pixel_bytes);
	switch (filter) {
	case FILTER_SUB:
		filter_by(row, above, n, pixel_bytes, FILTER_SUB, to);
		break;
	case FILTER_UP:
		filter_by(row, above, n, pixel_bytes, FILTER_UP, to);
		break;
	case FILTER_AVERAGE:
		filter_by(row, above, n, pixel_bytes, FILTER_AVERAGE, to);
		break;
	case FILTER_PAETH:
		filter_by(row, above, n, pixel_bytes, FILTER_PAETH, to);
		break;
	default:
		filter_by(row, above, n, pixel_bytes, FILTER_NONE, to);
	}
}

#define BLOCK 32768		/* bytes that share a code, */
#define BLOCK_TOKENS 4096	/* and so many tokens, which long runs leave fewer of */
#define RUN_LEAST 4
#define RUN_MOST 258
#define END 256			/* symbols: bytes, the end of a block, lengths */
#define LENGTHS 29
#define SYMBOLS (257 + LENGTHS)
#define BITS_MOST 15
#define LENGTH_SYMBOLS 19	/* of the code of the codes' lengths */
#define LENGTH_BITS_MOST 7
#define DISTANCES 2		/* one is used; a code of one symbol is not complete */
#define HEAD_MOST 512		/* bytes, more than lengths of all codes take */

/* Lengths of runs by their symbols: the least of each, and how many bits tell the rest. */
static const uint16_t length_least[LENGTHS] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27,
	31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
static const uint8_t length_bits[LENGTHS] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3,
	3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };

/* A Huffman code: the number of bits of each symbol, and the bits as they are written. */
struct code {
	uint8_t bits[SYMBOLS];
	uint16_t word[SYMBOLS];
};

/* Bytes being written, and up to 63 bits that are not yet. */
struct bit_writer {
	unsigned char *at;
	uint64_t bits;
	unsigned n;
};

static inline void
put_bits(struct bit_writer *out, uint64_t bits, unsigned n)
{
	out->bits |= bits << out->n;
	out->n += n;
}

/* Writes whole bytes; fewer than 8 bits are left. May touch 8 bytes behind the last one. */
static inline void
put_bytes(struct bit_writer *out)
{
	memcpy(out->at, &out->bits, 8);		/* little-endian: see samples.h */
	out->at += out->n / 8;
	out->bits >>= out->n & ~7u;
	out->n &= 7;
}

/* ---- Huffman codes ---- */

struct counted {
	uint32_t count, symbol;
};

static int
by_count(const void *pa, const void *pb)
{
	const struct counted *a = pa, *b = pb;

	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

/* Depths of the leaves of Huffman's tree over n >= 2 counts that rise: how many have each depth. */
static void
count_depths(const struct counted *leaf, size_t n, uint32_t depths[SYMBOLS])
{
	uint64_t weight[SYMBOLS];	/* of inner nodes, in the order in which they are made */
	size_t parent[2 * SYMBOLS] = { 0 };	/* of leaves, then of inner nodes */
	uint32_t depth[SYMBOLS] = { 0 };
	size_t next_leaf = 0, next_inner = 0;

	for (size_t made = 0; made < n - 1; made++) {
		weight[made] = 0;
		for (int k = 0; k < 2; k++)
			if (next_leaf < n && (next_inner == made ||
			    leaf[next_leaf].count <= weight[next_inner])) {
				weight[made] += leaf[next_leaf].count;
				parent[next_leaf++] = made;
			} else {
				weight[made] += weight[next_inner];
				parent[n + next_inner++] = made;
			}
	}
	memset(depths, 0, SYMBOLS * sizeof(*depths));
	for (size_t i = n - 1; i-- > 0;)
		depth[i] = i == n - 2 ? 0 : depth[parent[n + i]] + 1;
	for (size_t i = 0; i < n; i++)
		depths[depth[parent[i]] + 1]++;
}

/* Makes codes of more than `most` bits shorter, and others longer until they fit. */
static void
limit_depths(uint32_t depths[SYMBOLS], unsigned most)
{
	uint32_t used = 0;	/* of 1 << most words */

	for (size_t d = most + 1; d < SYMBOLS; d++)
		depths[most] += depths[d];
	for (unsigned d = 1; d <= most; d++)
		used += depths[d] << (most - d);
	for (; used > 1u << most; used--) {
		unsigned d = most - 1;

		while (!depths[d])
			d--;
		depths[d]--;
		depths[d + 1] += 2;
		depths[most]--;
	}
}

/* The canonical words of codes of these lengths, their bits in the order of writing. */
static void
set_words(struct code *code, size_t n)
{
	uint32_t next[BITS_MOST + 2] = { 0 }, lengths[BITS_MOST + 1] = { 0 };

	for (size_t i = 0; i < n; i++)
		lengths[code->bits[i]]++;
	lengths[0] = 0;
	for (unsigned b = 1; b <= BITS_MOST; b++)
		next[b + 1] = (next[b] + lengths[b]) << 1;
	for (size_t i = 0; i < n; i++) {
		uint32_t word = next[code->bits[i]]++;

		code->word[i] = 0;
		for (unsigned b = 0; b < code->bits[i]; b++)
			code->word[i] |= (uint16_t)((word >> b & 1) << (code->bits[i] - 1 - b));
	}
}

/* A code of at most `most` bits for n symbols, at least two of which have a count. */
static void
make_code(struct code *code, const uint32_t *count, size_t n, unsigned most)
{
	struct counted used[SYMBOLS] = { 0 };
	uint32_t depths[SYMBOLS];
	size_t used_n = 0, i = 0;

	for (size_t symbol = 0; symbol < n; symbol++)
		if (count[symbol])
			used[used_n++] = (struct counted){ count[symbol], (uint32_t)symbol };
	qsort(used, used_n, sizeof(*used), by_count);
	count_depths(used, used_n, depths);
	limit_depths(depths, most);
	memset(code->bits, 0, sizeof(code->bits));
	for (unsigned d = most; d > 0; d--)
		for (uint32_t k = 0; k < depths[d]; k++)
			code->bits[used[i++].symbol] = (uint8_t)d;
	set_words(code, n);
}

/* ---- a block's head ---- */

/* Lengths of codes, runs of them shortened: symbol, and what its extra bits say. */
struct length_run {
	uint8_t symbol, extra;
};

static size_t
shorten(const uint8_t *bits, size_t n, struct length_run *run)
{
	size_t runs = 0, same;

	for (size_t i = 0; i < n; i += same) {
		size_t left;

		for (same = 1; i + same < n && bits[i + same] == bits[i]; same++)
			;
		left = same;
		if (bits[i]) {
			run[runs++] = (struct length_run){ bits[i], 0 };
			left--;
		}
		while (left >= 3) {
			size_t most = bits[i] ? 6 : 138, now = left < most ? left : most;

			if (bits[i])
				run[runs++] = (struct length_run){ 16, (uint8_t)(now - 3) };
			else if (now <= 10)
				run[runs++] = (struct length_run){ 17, (uint8_t)(now - 3) };
			else
				run[runs++] = (struct length_run){ 18, (uint8_t)(now - 11) };
			left -= now;
		}
		while (left-- > 0)
			run[runs++] = (struct length_run){ bits[i], 0 };
	}
	return runs;
}

static void
put_head(struct bit_writer *out, const struct code *code, bool last)
{
	static const uint8_t order[LENGTH_SYMBOLS] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12,
		3, 13, 2, 14, 1, 15 };
	static const uint8_t extra_bits[LENGTH_SYMBOLS] = { [16] = 2, [17] = 3, [18] = 7 };
	struct length_run run[SYMBOLS + DISTANCES];
	uint32_t count[LENGTH_SYMBOLS] = { 0 };
	uint8_t bits[SYMBOLS + DISTANCES];
	size_t runs, orders = LENGTH_SYMBOLS;
	struct code lengths;

	memcpy(bits, code->bits, SYMBOLS);
	memset(bits + SYMBOLS, 1, DISTANCES);
	runs = shorten(bits, sizeof(bits), run);
	for (size_t i = 0; i < runs; i++)
		count[run[i].symbol]++;
	make_code(&lengths, count, LENGTH_SYMBOLS, LENGTH_BITS_MOST);
	while (!lengths.bits[order[orders - 1]])
		orders--;
	put_bits(out, last, 1);
	put_bits(out, 2, 2);			/* Huffman codes of its own */
	put_bits(out, SYMBOLS - 257, 5);
	put_bits(out, DISTANCES - 1, 5);
	put_bits(out, orders - 4, 4);
	for (size_t i = 0; i < orders; i++) {
		put_bytes(out);
		put_bits(out, lengths.bits[order[i]], 3);
	}
	for (size_t i = 0; i < runs; i++) {
		put_bytes(out);
		put_bits(out, lengths.word[run[i].symbol], lengths.bits[run[i].symbol]);
		put_bits(out, run[i].extra, extra_bits[run[i].symbol]);
	}
	put_bytes(out);
}

/* ---- a block's bytes ---- */

/* A token is a byte, or END + the length of a run. */
#define TOKENS (END + RUN_MOST + 1)

static size_t
run_length(const unsigned char *at, size_t most)
{
	size_t n = RUN_LEAST;

	most = most < RUN_MOST ? most : RUN_MOST;
	while (n < most && at[n] == at[-1])
		n++;
	return n;
}

static bool
is_full(size_t bytes, size_t tokens)
{
	return bytes >= BLOCK && tokens >= BLOCK_TOKENS;
}

/* Tokens of a block of n bytes or fewer, at most BLOCK; *used: of how many bytes. The byte before
 * the first is known unless it begins the stream. */
static size_t
tokens_of(const unsigned char *from, size_t n, bool first, uint16_t *token, size_t *used)
{
	size_t i = 0, tokens = 0;

	if (first)
		token[tokens++] = from[i++];
	while (i + RUN_LEAST <= n && !is_full(i, tokens)) {
		uint32_t here, before;

		memcpy(&here, from + i, RUN_LEAST);
		memcpy(&before, from + i - 1, RUN_LEAST);
		if (here == before) {
			size_t length = run_length(from + i, n - i);

			token[tokens++] = (uint16_t)(END + length);
			i += length;
		} else {
			token[tokens++] = from[i++];
		}
	}
	while (i < n && !is_full(i, tokens))
		token[tokens++] = from[i++];
	*used = i;
	return tokens;
}

/* The symbol of each length. */
static void
set_symbols(uint8_t symbol[RUN_MOST + 1])
{
	for (size_t k = 0; k < LENGTHS; k++)
		for (size_t n = length_least[k]; n <= RUN_MOST; n++)
			symbol[n] = (uint8_t)k;
}

static void
put_block(struct bit_writer *out, const uint16_t *token, size_t tokens, bool last)
{
	uint32_t count[TOKENS] = { 0 }, count_of[SYMBOLS] = { 0 }, word[TOKENS];
	uint8_t symbol[RUN_MOST + 1] = { 0 }, bits[TOKENS];
	struct code code;

	set_symbols(symbol);
	for (size_t i = 0; i < tokens; i++)
		count[token[i]]++;
	memcpy(count_of, count, END * sizeof(*count));
	count_of[END] = 1;
	for (size_t n = RUN_LEAST; n <= RUN_MOST; n++)
		count_of[END + 1 + symbol[n]] += count[END + n];
	make_code(&code, count_of, SYMBOLS, BITS_MOST);
	put_head(out, &code, last);

	for (size_t i = 0; i < END; i++) {
		word[i] = code.word[i];
		bits[i] = code.bits[i];
	}
	for (size_t n = RUN_LEAST; n <= RUN_MOST; n++) {	/* a distance of 1 is a bit 0 */
		size_t s = END + 1 + symbol[n];

		word[END + n] = code.word[s] |
		    (uint32_t)(n - length_least[symbol[n]]) << code.bits[s];
		bits[END + n] = (uint8_t)(code.bits[s] + length_bits[symbol[n]] + 1);
	}
	for (size_t i = 0; i < tokens; i++) {
		put_bits(out, word[token[i]], bits[token[i]]);
		if (i % 2)			/* 7 + 2 * 21 bits fit */
			put_bytes(out);
	}
	put_bytes(out);
	put_bits(out, code.word[END], code.bits[END]);
	put_bytes(out);
}

size_t
deflate_runs_most(size_t n)
{
	/* no code is longer than one of 9 bits for all symbols would be */
	return n + n / 8 + (n / BLOCK + 1) * HEAD_MOST + 64;
}

size_t
deflate_runs(const unsigned char *from, size_t n, unsigned char *to)
{
	struct bit_writer out = { .at = to };
	uint16_t token[BLOCK];
	uint32_t adler = libdeflate_adler32(1, from, n);

	put_bits(&out, 0x0178, 16);	/* a window of 32 KiB; the least effort */
	put_bytes(&out);
	for (size_t at = 0, used; at < n; at += used) {
		size_t tokens = tokens_of(from + at, n - at, at == 0, token, &used);

		put_block(&out, token, tokens, used == n - at);
	}
	put_bits(&out, 0, -out.n & 7);
	put_bits(&out, __builtin_bswap32(adler), 32);
	put_bytes(&out);
	return (size_t)(out.at - to);
}

/* The most bytes of an image; libpng writes larger ones by the row. */
#define IDAT_WRITE_MOST ((size_t)256 << 20)

enum idat_method {
	IDAT_PLAIN,		/* no filter, matches */
	/* what makes least of a sample of the rows: */
	IDAT_LEAST_MATCHES,	/* no filter, one for all rows, or one by the row; matches */
	IDAT_LEAST,		/* of these and of runs: deflate_runs(), filters by the row */
	IDAT_FAST		/* runs, and matches where they leave far less */
};

struct idat_options {
	enum idat_method method;
	/* of libdeflate's search for matches, 0 to 12; of small images; and, where most is repeated
	 * so that a longer search costs little and saves much, not less than level: */
	int level, level_small, level_repeated, level_longest;
	bool few_levels;	/* of each channel, as in dithered pictures, stripes and labels */
	bool one_bit;		/* one channel of zeros and ones, eight to a byte */
};

/* The image while it is written. */
struct idat_image {
	const struct frame *frame;
	const struct idat_options *options;
	size_t row_bytes;		/* without the filter's */
	size_t bytes;			/* of all rows */
	unsigned char *lines;		/* two rows with margins, zero at first */
	unsigned char *rows;		/* all rows as they are packed */
	unsigned char *packed;		/* the IDAT chunk; of a small image, two of them */
};

/* How the pixels are packed. */
struct idat_packing {
	enum filter filter;
	bool runs;		/* no search for matches: deflate_runs() */
	int level;		/* of that search */
};

static size_t
idat_image_pack(const struct idat_image *, const struct idat_packing *, unsigned char *to);
static void idat_image_rows(const struct idat_image *, size_t y0, size_t y1, enum filter,
    unsigned char *to);
static int idat_sample_packing(const struct idat_image *, struct idat_packing *);
static size_t idat_image_deflate(
    struct libdeflate_compressor *, const unsigned char *from, size_t n, unsigned char *to);
static unsigned idat_trial_repeated(const struct idat_image *, unsigned char *rows);
static size_t idat_image_room(size_t n);

#define CHUNK_HEAD 8	/* length and type */
#define CHUNK_CRC 4
#define TINY 4096	/* bytes of an image: below, zlib with its smaller tables is sooner done */
#define SMALL 66000	/* bytes, at most, of an image that is packed whole by every method */
/* Runs leave no more than this part of a small image where much is repeated. */
#define LITTLE 4
#define LITTLE_FAST 5		/* and where matches are worth their time in a fast one */
#define REPEATED 75		/* hundredths of words in an image where no filter leaves least, */
#define REPEATED_FAST 50	/* and where it leaves less than runs do */
#define LEVEL_MIDDLE 1	/* of the search that tells where a filter leaves less all the same */
/* Matches are looked for without filter where runs of unfiltered rows take no more percent of
 * filtered ones. */
#define PLAIN_PERCENT 125

static void
put_big_endian(unsigned char *at, size_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(v >> (24 - 8 * i));
}

static size_t
pack_large(const struct idat_image *image)
{
	struct idat_packing method;

	if (idat_sample_packing(image, &method) < 0)
		return 0;
	idat_image_rows(image, 0, image->frame->head.h, method.filter, image->rows);
	return idat_image_pack(image, &method, image->packed + CHUNK_HEAD);
}

/* ---- small images: all of them is packed by each method that may leave least ---- */

struct attempts {
	const struct idat_image *image;
	size_t least;			/* bytes, which lie at `at`; 0 at first */
	unsigned char *at, *other;
	enum filter rows;		/* of what lies in the image's rows now */
	bool any_rows;			/* do all of them lie there? */
};

/* Its bytes, 0 after fail(). */
static size_t
attempt(struct attempts *attempts, enum filter filter, bool runs, int level)
{
	const struct idat_image *image = attempts->image;
	const struct idat_packing method = { filter, runs, level };
	unsigned char *at = attempts->other;
	size_t n;

	if (!attempts->any_rows || attempts->rows != filter)
		idat_image_rows(image, 0, image->frame->head.h, filter, image->rows);
	attempts->any_rows = true;
	attempts->rows = filter;
	n = idat_image_pack(image, &method, at);
	if (n && (!attempts->least || n < attempts->least)) {
		attempts->other = attempts->at;
		attempts->at = at;
		attempts->least = n;
	}
	return n;
}

/* Filters rows in the middle of the image; how many. */
static size_t
middle_rows(struct attempts *attempts, enum filter filter)
{
	const struct idat_image *image = attempts->image;
	const size_t h = image->frame->head.h, rows = h < 32 ? h : h / 4, y = (h - rows) / 2;

	idat_image_rows(image, y, y + rows, filter, image->rows);
	attempts->any_rows = false;
	return rows;
}

/* The bytes of runs of these. */
static size_t
middle_runs(struct attempts *attempts, enum filter filter)
{
	const struct idat_image *image = attempts->image;
	const size_t rows = middle_rows(attempts, filter);

	return deflate_runs(image->rows, rows * (image->row_bytes + 1), attempts->other);
}

/* Of few levels: matches, behind a filter where that leaves less of runs, too. */
static int
attempt_few(struct attempts *attempts)
{
	const struct idat_image *image = attempts->image;
	enum filter filter = FILTER_LEAST;

	if (image->options->method == IDAT_FAST && image->bytes < TINY)
		return attempt(attempts, filter, true, 0) ? 0 : -1;
	if (middle_runs(attempts, filter) * 100 >= middle_runs(attempts, FILTER_NONE) * 90)
		filter = FILTER_NONE;
	return attempt(attempts, filter, false, image->options->level) ? 0 : -1;
}

/* Do matches behind a filter leave less of rows in the middle than their share of so many bytes? */
static bool
filter_leaves_less(struct attempts *attempts, size_t bytes)
{
	const struct idat_image *image = attempts->image;
	struct libdeflate_compressor *compressor = compressor_take(LEVEL_MIDDLE);
	size_t rows, n;

	if (!compressor)
		return true;	/* the attempt says that memory is short */
	rows = middle_rows(attempts, FILTER_LEAST);
	n = idat_image_deflate(compressor, image->rows, rows * (image->row_bytes + 1),
	    attempts->other);
	compressor_give(compressor, LEVEL_MIDDLE);
	return n * image->frame->head.h < bytes * rows;
}

/* Runs, and matches: without filter where rows repeat far apart, unless they do more behind a
 * filter, or where runs say that a filter takes little away. */
static int
attempt_all(struct attempts *attempts)
{
	const struct idat_options *options = attempts->image->options;
	const bool fast = options->method == IDAT_FAST;
	const size_t all = attempts->image->bytes;
	const size_t runs = attempt(attempts, FILTER_LEAST, true, 0);
	int level = options->level_small;

	if (fast && all < TINY)
		return 0;
	if (runs * LITTLE_FAST > all && idat_trial_repeated(attempts->image, attempts->other) >=
	    (fast ? REPEATED_FAST : REPEATED)) {
		if (!attempt(attempts, FILTER_NONE, false, level))
			return -1;
		if (!filter_leaves_less(attempts, attempts->least))
			return 0;
		return attempt(attempts, FILTER_LEAST, false, level) ? 0 : -1;
	}
	if (fast && runs * LITTLE_FAST > all)
		return 0;
	if (!fast && runs * LITTLE < all)
		level = options->level_repeated;
	if (options->method == IDAT_LEAST_MATCHES)
		attempts->least = 0;
	if (!attempt(attempts, FILTER_LEAST, false, level))
		return -1;
	if (middle_runs(attempts, FILTER_NONE) * 100 >=
	    middle_runs(attempts, FILTER_LEAST) * PLAIN_PERCENT)
		return 0;
	return attempt(attempts, FILTER_NONE, false, level) ? 0 : -1;
}

static size_t
pack_small(const struct idat_image *image)
{
	struct attempts attempts = { .image = image, .at = image->packed + CHUNK_HEAD,
		.other = image->packed + CHUNK_HEAD + idat_image_room(image->bytes) };
	int status = 0;

	if (image->options->method == IDAT_PLAIN)
		status = attempt(&attempts, FILTER_NONE, false, image->options->level) ? 0 : -1;
	else
		status = image->options->few_levels ? attempt_few(&attempts) :
		    attempt_all(&attempts);
	if (status < 0)
		return 0;
	memmove(image->packed + CHUNK_HEAD, attempts.at, attempts.least);
	return attempts.least;
}

/* All rows become an IDAT chunk; its length, 0 after fail(). */
static size_t
make_chunk(const struct idat_image *image)
{
	unsigned char *to = image->packed;
	const size_t n = image->bytes <= SMALL ? pack_small(image) : pack_large(image);

	if (!n)
		return 0;
	put_big_endian(to, n);
	memcpy(to + 4, "IDAT", 4);
	put_big_endian(to + CHUNK_HEAD + n, libdeflate_crc32(0, to + 4, n + 4));
	return CHUNK_HEAD + n + CHUNK_CRC;
}

static size_t
row_bytes_of(const struct frame_head *head, const struct idat_options *options)
{
	return options->one_bit ? (head->w + 7) / 8 : head->w * head->c * sample_size(head->type);
}

/* Is it to be written by idat_write()? Not where it is too large, or so small that libpng is sooner
 * done. */
static bool
idat_write_is_for(const struct frame_head *head, const struct idat_options *options)
{
	const bool least = options->method == IDAT_LEAST || options->method == IDAT_PLAIN;
	size_t all;

	return !__builtin_mul_overflow(row_bytes_of(head, options) + 1, head->h, &all) &&
	    all <= IDAT_WRITE_MOST && (all >= TINY || !least);
}

/*
 * Writes a frame's pixels and the end of the file behind its head. 0, or -1 after fail(), also
 * where memory is short: the bytes of a file do not depend on that. It takes twice the bytes of
 * the pixels, of small images three times, and what libdeflate needs at its levels, up to 10 MB.
 */
static int
idat_write(const char *path, FILE *file, const struct frame *frame,
    const struct idat_options *options)
{
	static const unsigned char end[] = "\0\0\0\0IEND\xae\x42\x60\x82";
	const struct frame_head *head = &frame->head;
	struct idat_image image = { .frame = frame, .options = options,
		.row_bytes = row_bytes_of(head, options) };
	struct pixel_store *store;
	size_t n, packed;
	void *memory;
	int status = -1;

	image.bytes = (image.row_bytes + 1) * head->h;
	/* kept for the next image: malloc() would give it back to the kernel */
	packed = CHUNK_HEAD + (image.bytes <= SMALL ? 2 : 1) * idat_image_room(image.bytes) +
	    CHUNK_CRC;
	store = pixel_store_scratch(packed + image.bytes + FILTER_MARGIN, &memory);
	image.lines = calloc(2, image.row_bytes + 2 * FILTER_MARGIN);
	image.packed = store ? memory : NULL;
	image.rows = store ? image.packed + packed : NULL;
	if (!image.lines || !store)
		fail_memory();
	else if ((n = make_chunk(&image)) > 0)
		status = samples_write(path, file, image.packed, n) < 0 ||
		    samples_write(path, file, end, sizeof(end) - 1) < 0 ? -1 : 0;
	free(image.lines);
	pixel_store_drop(store);
	return status;
}

/* n zeros and ones, eight to a byte, the first one highest. */
static void
join_bits(const unsigned char *from, size_t n, unsigned char *to)
{
	size_t x = 0;

	for (; x + 8 <= n; x += 8) {
		uint64_t eight;

		memcpy(&eight, from + x, 8);
		/* byte i comes to bit 63 - i, and no two bits to the same place */
		*to++ = (unsigned char)((eight * 0x8040201008040201) >> 56);
	}
	if (x < n)
		*to = 0;
	for (size_t bit = 0; x < n; x++, bit++)
		*to |= (unsigned char)(from[x] << (7 - bit));
}

/* Row y of the frame as PNG has it. */
static void
take_row(const struct frame *frame, size_t y, bool one_bit, unsigned char *to)
{
	const size_t w = frame->head.w;

	if (one_bit) {
		const unsigned char *from = frame_row(frame, 0, y);

		join_bits(from, w, to);
		return;
	}
	samples_join(frame, y, to);
	if (frame->head.type == SAMPLE_USHORT)
		samples_swap(to, w * frame->head.c, 2);
}

static void
filter_rows(const struct idat_image *image, size_t y0, size_t y1, enum filter filter,
    unsigned char *to)
{
	const struct frame_head *head = &image->frame->head;
	const size_t pixel_bytes = head->c * sample_size(head->type), n = image->row_bytes;
	unsigned char *row = image->lines + FILTER_MARGIN, *above = row + n + 2 * FILTER_MARGIN;

	if (y0)
		take_row(image->frame, y0 - 1, false, above);
	else
		memset(above, 0, n);
	for (size_t y = y0; y < y1; y++, to += n + 1) {
		unsigned char *last = above;

		take_row(image->frame, y, false, row);
		filter_row(row, above, n, pixel_bytes, y ? filter : FILTER_LEAST, to);
		above = row;
		row = last;
	}
}

/* Rows y0 to y1 without filters. */
static void
copy_rows(const struct idat_image *image, size_t y0, size_t y1, unsigned char *to)
{
	for (size_t y = y0; y < y1; y++, to += image->row_bytes + 1) {
		*to = 0;
		take_row(image->frame, y, image->options->one_bit, to + 1);
	}
}

/* Rows y0 to y1 behind a filter, each with the filter's byte. The first of all has the one that
 * suits it, as nothing lies above it, unless there is none. */
static void
idat_image_rows(const struct idat_image *image, size_t y0, size_t y1, enum filter filter,
    unsigned char *to)
{
	if (filter == FILTER_NONE)
		copy_rows(image, y0, y1, to);
	else
		filter_rows(image, y0, y1, filter, to);
}

/* The bytes of a zlib stream of n bytes at `to`, which has room for idat_image_room(n). A
 * compressor that is NULL: runs. */
static size_t
idat_image_deflate(struct libdeflate_compressor *compressor, const unsigned char *from, size_t n,
    unsigned char *to)
{
	return !compressor ? deflate_runs(from, n, to) : libdeflate_zlib_compress(compressor, from,
	    n, to, libdeflate_zlib_compress_bound(compressor, n));
}

static size_t
idat_image_room(size_t n)
{
	size_t runs = deflate_runs_most(n), matches = libdeflate_zlib_compress_bound(NULL, n);

	return runs > matches ? runs : matches;
}

/* Packs the image's rows, which are behind the filter already; their bytes, 0 after fail(). */
static size_t
idat_image_pack(const struct idat_image *image, const struct idat_packing *method,
    unsigned char *to)
{
	struct libdeflate_compressor *compressor = NULL;
	size_t n;

	if (!method->runs && !(compressor = compressor_take(method->level))) {
		fail_memory();
		return 0;
	}
	n = idat_image_deflate(compressor, image->rows, image->bytes, to);
	compressor_give(compressor, method->level);
	return n;
}

#define IDAT_TRIAL_STRIPS 6	/* at most */
#define IDAT_TRIAL_TOO_MANY (SIZE_MAX / 1024)	/* bytes: so many more than others have */

/* Strips of rows from all over the image. */
struct idat_strips {
	size_t n, rows, bytes;		/* of each: rows; of all: bytes */
	size_t lead;			/* the first rows of each, which the whole image has once */
};

/* A sample of the image, behind a filter. */
struct idat_trial {
	const struct idat_image *image;
	struct idat_strips strips;
	struct libdeflate_compressor *quick;
	int level;			/* of quick */
	enum filter base;		/* which is tried first */
	unsigned char *rows;
	size_t own, plain;		/* of FILTER_LEAST and FILTER_NONE: bytes by quick */
	size_t part[IDAT_TRIAL_STRIPS];	/* of the base after each strip */
	size_t lead[IDAT_TRIAL_STRIPS];	/* likewise, of its first rows */
	size_t first[FILTER_LEAST + 1];	/* of each filter after the first strip */
	size_t first_runs;		/* likewise, of runs, as they were tried last */
};

#define TRIAL_ROWS 5		/* of a strip, at least: what is repeated lies in the row above */
#define TRIAL_LEAST 20480	/* bytes of a sample, at least */
#define FAST_STRIPS 2
#define THICK_ROWS 16		/* of a strip where much is repeated, at least */
#define THICK_LARGE ((size_t)1 << 20)	/* bytes of an image that has two of them, of two thirds */
#define FAR_BYTES 49152		/* of a strip in which a match finds what lies far before */
#define REPEAT_BYTES 33792	/* are looked at for what repeats: the window of matches, and */
#define REPEAT_LOOKS 1024	/* so many more, at each of which a repeated word may start */
#define REPEAT_STEP 3		/* bytes between noted words: no multiple of rows' 4 n + 1 bytes */
#define REPEAT_BITS 13		/* of a word's place in the table of those */

/* n strips, each of so many rows or, if they do not fit, one of all rows. */
static struct idat_strips
strips_of(const struct idat_image *image, size_t n, size_t rows)
{
	const size_t h = image->frame->head.h;
	struct idat_strips strips = { .n = n, .rows = rows };

	if (rows >= h / n)
		strips = (struct idat_strips){ .n = 1, .rows = h };
	strips.bytes = strips.n * strips.rows * (image->row_bytes + 1);
	return strips;
}

/* Thin strips of an image of `all` bytes. */
static struct idat_strips
idat_trial_thin(const struct idat_image *image, size_t all)
{
	const size_t stride = image->row_bytes + 1;
	const size_t least = all / 3 < TRIAL_LEAST ? all / 3 : TRIAL_LEAST;
	const size_t rows = 1 + (all / 24 > least ? all / 24 : least) / stride;
	const size_t n = all < 20 * TRIAL_LEAST ? IDAT_TRIAL_STRIPS / 2 : IDAT_TRIAL_STRIPS;

	return strips_of(image, n, rows / n < TRIAL_ROWS ? TRIAL_ROWS : 1 + rows / n);
}

/* Strips of which all but the first rows show what a row takes behind many others. Of an image of
 * few rows one of half of it, of which all counts: the first rows are much of the image. */
static struct idat_strips
idat_trial_thick(const struct idat_image *image, bool fast)
{
	const size_t h = image->frame->head.h, n = image->bytes < THICK_LARGE || fast ? 1 : 2;
	const size_t least = n == 1 ? THICK_ROWS : THICK_ROWS * 2 / 3;
	const size_t rows = h / 64 > least ? h / 64 : least;
	struct idat_strips strips;

	if (n * rows > h / 2)
		return strips_of(image, 1, h < THICK_ROWS ? h : h / 2);
	strips = strips_of(image, n, rows);
	strips.lead = rows / 3;
	return strips;
}

/* Fewer and thinner than others. */
static struct idat_strips
idat_trial_fast(const struct idat_image *image, const struct idat_strips *others)
{
	const size_t rows = others->rows / 3;

	return strips_of(image, FAST_STRIPS, rows < TRIAL_ROWS ? TRIAL_ROWS : rows);
}

/* A strip longer than the window of matches. */
static struct idat_strips
idat_trial_far(const struct idat_image *image)
{
	struct idat_strips strips = strips_of(image, 1, 1 + FAR_BYTES / (image->row_bytes + 1));

	strips.lead = strips.rows / 2;
	return strips;
}

/* In the middle of its part of the image, since the border of many shows nothing; a single one and
 * the middle one of three not in the middle of all, where symmetric pictures have what they have
 * nowhere else. */
static size_t
strip_start(const struct idat_image *image, const struct idat_strips *strips, size_t i)
{
	const size_t left = image->frame->head.h - strips->rows;

	return strips->n % 2 ? (3 * i + 1) * left / (3 * strips->n) :
	    (2 * i + 1) * left / (2 * strips->n);
}

/* The rows of strip i behind a filter. */
static unsigned char *
idat_trial_rows(const struct idat_trial *trial, size_t i, enum filter filter)
{
	const struct idat_strips *strips = &trial->strips;
	const size_t y = strip_start(trial->image, strips, i);
	unsigned char *rows = trial->rows + i * (strips->bytes / strips->n);

	idat_image_rows(trial->image, y, y + strips->rows, filter, rows);
	return rows;
}

static uint64_t
word_at(const unsigned char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

/* Fibonacci hashing. */
static size_t
place_of(uint64_t word)
{
	return (size_t)(word * 0x9e3779b97f4a7c15 >> (64 - REPEAT_BITS));
}

/*
 * How many hundredths of the words of unfiltered rows repeat within the window of matches, as they
 * do in oblique fringes without noise, whose neighbouring rows are not alike? A cheap look at rows
 * in the middle, which come to `rows`. 0 to 15 in captures, 20 to 91 in fringes of many directions
 * and periods.
 */
static unsigned
idat_trial_repeated(const struct idat_image *image, unsigned char *rows)
{
	const size_t h = image->frame->head.h, stride = image->row_bytes + 1;
	const size_t most = 1 + REPEAT_BYTES / stride, n = most < h ? most : h, y = (h - n) / 3;
	const size_t used = n * stride < REPEAT_BYTES ? n * stride : REPEAT_BYTES;
	const size_t looks = used / 16 < REPEAT_LOOKS ? used / 16 : REPEAT_LOOKS;
	const unsigned char *from = rows + n * stride - used;
	uint16_t noted[1 << REPEAT_BITS] = { 0 };
	size_t repeated = 0;

	if (looks < sizeof(uint64_t))
		return 0;
	idat_image_rows(image, y, y + n, FILTER_NONE, rows);
	for (size_t i = 1; i < used - looks - sizeof(uint64_t); i += REPEAT_STEP)
		noted[place_of(word_at(from + i))] = (uint16_t)i;
	for (size_t i = used - looks - sizeof(uint64_t); i < used - sizeof(uint64_t); i++) {
		const uint64_t word = word_at(from + i);
		const size_t before = noted[place_of(word)];

		/* runs of one byte are no repetition here: filters leave them, too */
		repeated += (before > 0) & (word == word_at(from + before)) &
		    (word != word_at(from + i - 1));
	}
	return (unsigned)(repeated * 100 / looks);
}

/*
 * The bytes of a strip, each by itself: strips of a symmetric picture are alike, but too far apart
 * in the whole for a match. A compressor that is NULL: runs. Where the first rows stand apart, the
 * bytes of the whole image: of these rows, and of the others, which are more there; *lead: of these
 * rows, and where that was less than half of it before, IDAT_TRIAL_TOO_MANY.
 */
static size_t
idat_trial_packed(const struct idat_trial *trial, struct libdeflate_compressor *compressor,
    const unsigned char *rows, size_t *lead)
{
	const struct idat_strips *strips = &trial->strips;
	const size_t h = trial->image->frame->head.h, stride = trial->image->row_bytes + 1;
	const size_t most = *lead;
	unsigned char *to = trial->image->packed;
	size_t bytes;

	if (!strips->lead)
		return idat_image_deflate(compressor, rows, strips->rows * stride, to);
	*lead = idat_image_deflate(compressor, rows, strips->lead * stride, to);
	if (*lead > most * 2)
		return IDAT_TRIAL_TOO_MANY;
	bytes = idat_image_deflate(compressor, rows, strips->rows * stride, to);
	/* all may take less than the first, as libdeflate parts them into other blocks */
	bytes = bytes > *lead ? bytes - *lead : 0;
	return (*lead + bytes * (h - strips->lead) / (strips->rows - strips->lead)) / strips->n;
}

/* Of how many bytes idat_trial_packed() tells, all strips together. */
static size_t
idat_trial_counted(const struct idat_trial *trial, const struct idat_strips *strips)
{
	return strips->lead ? trial->image->bytes : strips->bytes;
}

/* The bytes of the sample behind a filter, matches found by a quick search. Another filter than the
 * base that leaves an eighth more than it of the first strips is tried no further. */
static size_t
idat_trial_matches(struct idat_trial *trial, enum filter filter)
{
	const size_t n = trial->strips.n, some = n / 3;
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		size_t lead = filter == trial->base ? IDAT_TRIAL_TOO_MANY : trial->lead[i];

		bytes += idat_trial_packed(
		    trial, trial->quick, idat_trial_rows(trial, i, filter), &lead);
		if (i == 0)
			trial->first[filter] = bytes;
		if (filter == trial->base) {
			trial->part[i] = bytes;
			trial->lead[i] = lead;
		} else if (bytes >= IDAT_TRIAL_TOO_MANY) {
			return IDAT_TRIAL_TOO_MANY;
		} else if (i + 1 < n && i + 1 >= some && bytes * 8 > trial->part[i] * 9) {
			return bytes * trial->part[n - 1] / (trial->part[i] + 1);
		}
	}
	return bytes;
}

/* Likewise of runs. part: bytes of the strips, the sum up to each, where a twentieth more than that
 * is IDAT_TRIAL_TOO_MANY; may be NULL. */
static size_t
idat_trial_runs(struct idat_trial *trial, enum filter filter, const size_t *part)
{
	size_t bytes = 0;

	for (size_t i = 0; i < trial->strips.n; i++) {
		size_t lead = IDAT_TRIAL_TOO_MANY;

		bytes += idat_trial_packed(trial, NULL, idat_trial_rows(trial, i, filter), &lead);
		if (i == 0)
			trial->first_runs = bytes;
		if (part && bytes * 20 > part[i] * 21)
			return IDAT_TRIAL_TOO_MANY;
	}
	return bytes;
}

/* Another level of the search; 0, or -1: no memory. */
static int
idat_trial_level(struct idat_trial *trial, int level)
{
	compressor_give(trial->quick, trial->level);
	trial->quick = compressor_take(level);
	trial->level = level;
	return trial->quick ? 0 : -1;
}

/* What another level leaves of the first n strips, in thousandths of what the quick one left; -1:
 * no memory. */
static long
idat_trial_other_level(const struct idat_trial *trial, int level, enum filter filter, size_t n,
    size_t quick)
{
	struct libdeflate_compressor *other = compressor_take(level);
	size_t bytes = 0;

	for (size_t i = 0; other && i < n; i++) {
		size_t lead = IDAT_TRIAL_TOO_MANY;

		bytes += idat_trial_packed(trial, other, idat_trial_rows(trial, i, filter), &lead);
	}
	compressor_give(other, level);
	return other ? (long)(bytes * 1000 / (quick + 1)) : -1;
}

/* ---- chooses filter and search of a PNG file's pixels by a sample of the rows ---- */

#define LEVEL_SAMPLE 3		/* of libdeflate's search in a sample, */
#define LEVEL_SAMPLE_NOISE 5	/* where there may be noise, */
#define LEVEL_FAST_SAMPLE 1	/* and of --fast */
#define REPEATED_LONGER 720	/* thousandths: a level that leaves less is worth its time, */
#define LITTLE_PART 900		/* or less than this, where it costs less because less is left */
#define LITTLE_LONGER 50	/* than this part */
#define FAR_REPEATED 20		/* hundredths of words of rows that repeat far apart */
/* No filter leaves least of these: where it leaves less than ten of so many parts of what filters
 * leave in a thin strip (of 16 bits they leave down to a fourth of that in the whole), or where
 * FILTER_SUB leaves no fewer hundredths of that in a long one. */
#define FAR_CLEAR 24
#define FAR_SUB 93
#define FAR_OWN 94		/* FILTER_SUB does: hundredths of what filters by the row leave */
#define MUCH 2			/* no less than this part of the sample is left: */
#define LEVEL_MUCH 2		/* of a search that finds little */
/* Thousandths of what matches leave: where runs leave no more, they do without another look, or
 * may, if a longer search finds no better matches: leaves no less than so many of a shorter one. */
#define RUNS_SURE 975
#define RUNS_LIKELY 990
#define SHORTER_RUNS 997
#define SHORTER_ENOUGH 995	/* likewise, where matches are to be looked for anyway */
#define LITTLE_OF_SAMPLE 12		/* no more than this part of the sample is left */
#define VERY_LITTLE 200		/* so little that another filter saves hardly a byte */
#define VERY_LITTLE_RUNS 100	/* likewise, of runs, that matches save none */
#define LITTLE_RUNS 4	/* likewise, of runs, where a sample of matches is worth its time */
#define LITTLE_RUNS_FEW 16	/* likewise, so little that runs may do */

/*
 * The filter of which least is left when matches are found, and what is left of the sample.
 * Pictures without noise often repeat more behind one filter for all rows than where every row has
 * its own, but those of few levels behind none; up to 2 % more in a sample, unfiltered rows are
 * shorter in the end. The margins are those of 40 captures and pictures.
 */
static size_t
least_sampled_filter(struct idat_trial *trial, struct idat_packing *method)
{
	static const enum filter others[] = { FILTER_SUB, FILTER_UP };
	const size_t tried = trial->image->options->few_levels ? 0 : 2, own = trial->own;
	size_t least = own + own / 100;

	method->filter = FILTER_LEAST;
	for (size_t i = 0; i < tried; i++) {
		const size_t matches = idat_trial_matches(trial, others[i]);

		if (matches >= least)
			continue;
		least = matches;
		method->filter = others[i];
	}
	if (method->filter == FILTER_LEAST)
		least = own;
	if (least * 102 < trial->plain * 100)
		return least;
	method->filter = FILTER_NONE;
	return trial->plain;
}

/*
 * Do runs make least of it, as where there is noise? Not where there is so little in the image that
 * it has no noise. Matches of noise are accidents, of which a longer search finds no better ones,
 * and which save less in the whole than in a sample. 1: yes; -1: no memory.
 */
static int
runs_are_least(struct idat_trial *trial)
{
	const size_t runs = idat_trial_runs(trial, FILTER_LEAST, trial->part);
	const size_t some = 1 + trial->strips.n / 3;
	long leaves;

	if (runs <= trial->strips.bytes / 16 || runs * 1000 > trial->plain * RUNS_SURE ||
	    runs * 1000 > trial->own * RUNS_LIKELY)
		return 0;
	if (runs * 1000 <= trial->own * RUNS_SURE)
		return 1;
	leaves = idat_trial_other_level(trial, LEVEL_SAMPLE_NOISE, FILTER_LEAST, some,
	    trial->part[some - 1]);
	return leaves < 0 ? -1 : leaves >= SHORTER_RUNS;
}

/* Where most is repeated, a longer search may save much, behind the filter so far or behind none.
 * 0, or -1: no memory. first: what is left of the first strip by level_repeated. */
static int
try_longest(const struct idat_trial *trial, size_t bytes, size_t first, struct idat_packing *method)
{
	const int longest = trial->image->options->level_longest;
	const enum filter filters[] = { method->filter, FILTER_NONE };
	const bool little = bytes * LITTLE_LONGER < idat_trial_counted(trial, &trial->strips);
	long least = little ? LITTLE_PART : REPEATED_LONGER;

	for (size_t i = 0; i < 2; i++) {
		long leaves;

		if (i && (filters[0] == FILTER_NONE || trial->first[FILTER_NONE] >= 2 * first))
			break;
		leaves = idat_trial_other_level(trial, longest, filters[i], 1, first);
		if (leaves < 0)
			return -1;
		if (leaves >= least)
			continue;
		least = leaves * 3 / 4;
		method->level = longest;
		method->filter = filters[i];
	}
	return 0;
}

/* Are runs without filter, or behind the one above, worth their quarter of the time, as they leave
 * at most so many bytes of the sample, and a long search not much less? 1: yes; -1: no memory. */
static int
try_runs(struct idat_trial *trial, size_t most, struct idat_packing *method)
{
	const size_t plain = idat_trial_runs(trial, FILTER_NONE, NULL);
	const size_t up = idat_trial_runs(trial, FILTER_UP, NULL);
	const enum filter filter = plain * 20 < up * 19 ? FILTER_NONE : FILTER_UP;
	const size_t runs = filter == FILTER_NONE ? plain : up;
	long leaves;

	if (runs > most)
		return 0;
	leaves = idat_trial_other_level(trial, trial->image->options->level_longest, filter,
	    trial->strips.n, runs);
	if (leaves < 0)
		return -1;
	if (leaves < LITTLE_PART)
		return 0;
	method->runs = true;
	method->filter = filter;
	return 1;
}

/* By the thick strips: of what repeats so much the first rows of a thin one are the most. */
static int
try_repeated(struct idat_trial *trial, const struct idat_strips *thick, struct idat_packing *method)
{
	static const enum filter filters[] = { FILTER_PAETH, FILTER_NONE, FILTER_UP,
		FILTER_SUB };
	const struct idat_options *options = trial->image->options;
	const bool may_run = options->method == IDAT_LEAST;
	size_t least = IDAT_TRIAL_TOO_MANY, first = 0;
	int runs = 0;

	if (idat_trial_level(trial, options->level_repeated) < 0)
		return -1;
	trial->strips = *thick;
	trial->base = filters[0];
	method->level = options->level_repeated;
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters) && !runs; i++) {
		const size_t bytes = idat_trial_matches(trial, filters[i]);

		if (bytes < least - least / 50) {
			least = bytes;
			first = trial->first[filters[i]];
			method->filter = filters[i];
		}
		if (i == 0 && least * VERY_LITTLE < idat_trial_counted(trial, thick)) {
			method->filter = FILTER_LEAST;
			return !may_run ? 0 : try_runs(trial, least * 3 / 4, method) < 0 ? -1 : 0;
		}
		if (i == 1 && may_run)
			runs = try_runs(trial, least + least / 32, method);
	}
	if (runs)
		return runs < 0 ? -1 : 0;
	return options->level_longest == options->level_repeated ? 0 :
	    try_longest(trial, least, first, method);
}

static bool
repeats(const struct idat_trial *trial)
{
	return idat_trial_repeated(trial->image, trial->rows) >= FAR_REPEATED;
}

/*
 * Of rows that repeat far apart, as oblique fringes without noise do: does no filter leave least,
 * or FILTER_SUB? A thin strip shows it where it is clear, a long one of most; in the whole, behind
 * more rows, no filter leaves less than in that.
 */
static bool
try_far(struct idat_trial *trial, struct idat_packing *method)
{
	const struct idat_trial thin = *trial;
	size_t own = trial->own, plain = trial->plain, sub = own;

	if (plain <= own || plain > 2 * own)
		sub = idat_trial_matches(trial, FILTER_SUB);
	if (plain > 2 * own && sub * 8 < own * 7)
		return false;
	method->filter = FILTER_NONE;
	if (plain <= own && plain <= sub)
		return true;
	trial->strips = idat_trial_far(trial->image);
	trial->lead[0] = IDAT_TRIAL_TOO_MANY;	/* what is left behind another is to be known */
	plain = idat_trial_matches(trial, FILTER_NONE);
	method->level = trial->image->options->level_longest;
	if (plain * FAR_CLEAR < own * 10 * (trial->image->bytes / thin.strips.bytes))
		return true;
	own = idat_trial_matches(trial, FILTER_LEAST);
	sub = idat_trial_matches(trial, FILTER_SUB);
	*trial = thin;
	if (plain * 5 >= own * 4)
		method->level = trial->image->options->level;
	if (plain <= own && plain * FAR_SUB <= sub * 100)
		return true;
	method->filter = sub < own ? FILTER_SUB : FILTER_LEAST;
	return sub * 100 < own * FAR_OWN;
}

/* Where much is left, as of smooth samples of 16 bits, matches are few, and a longer search may
 * save nothing. 0, or -1: no memory. */
static int
try_shorter(const struct idat_trial *trial, size_t least, struct idat_packing *method)
{
	long leaves;

	if (least * MUCH < trial->strips.bytes)
		return 0;
	leaves = idat_trial_other_level(trial, method->level, method->filter, 1,
	    trial->first[method->filter]);
	if (leaves >= SHORTER_ENOUGH)
		method->level = LEVEL_MUCH;
	return leaves < 0 ? -1 : 0;
}

static int
try_methods(struct idat_trial *trial, const struct idat_strips *thick, struct idat_packing *method)
{
	const struct idat_options *options = trial->image->options;
	size_t least;
	int runs = 0;

	trial->own = idat_trial_matches(trial, FILTER_LEAST);
	if (trial->own * LITTLE_OF_SAMPLE < trial->strips.bytes)
		return try_repeated(trial, thick, method);
	trial->plain = idat_trial_matches(trial, FILTER_NONE);
	if (!options->few_levels && repeats(trial) && try_far(trial, method))
		return 0;
	if (options->method == IDAT_LEAST && !options->few_levels)
		runs = runs_are_least(trial);
	if (runs < 0)
		return -1;
	method->runs = runs;
	if (runs)
		return 0;
	least = least_sampled_filter(trial, method);
	if (options->method == IDAT_LEAST && options->few_levels &&
	    idat_trial_runs(trial, FILTER_NONE, NULL) * 32 <= least * 33) {
		method->runs = true;
		method->filter = FILTER_NONE;
	} else if (options->method == IDAT_LEAST && !options->few_levels) {
		return try_shorter(trial, least, method);
	}
	return 0;
}

/* Of few levels: matches without filter, or behind one where that leaves less of runs, too. Where
 * runs leave little, what matches leave of the sample decides, and whether runs do. */
static void
try_fast_few(struct idat_trial *trial, struct idat_packing *method)
{
	const size_t all = idat_trial_counted(trial, &trial->strips);
	const size_t runs = idat_trial_runs(trial, FILTER_LEAST, NULL);
	const size_t plain = idat_trial_runs(trial, FILTER_NONE, NULL);
	size_t least;

	method->level = trial->image->options->level;
	method->filter = runs * 100 < plain * 90 ? FILTER_LEAST : FILTER_NONE;
	if ((runs < plain ? runs : plain) * LITTLE_RUNS_FEW >= all)
		return;
	trial->own = idat_trial_matches(trial, FILTER_LEAST);
	trial->plain = idat_trial_matches(trial, FILTER_NONE);
	least = trial->own < trial->plain ? trial->own : trial->plain;
	method->runs = (runs < plain ? runs : plain) * 2 < least * 3;
	if (!method->runs)
		method->filter = trial->own < trial->plain ? FILTER_LEAST : FILTER_NONE;
	else if (runs < plain)
		method->filter = FILTER_LEAST;
}

/*
 * Runs, which take half the time of matches, unless so much repeats that these leave far less, also
 * without a filter, by which others write in little time. In captures runs leave more than a part
 * that is worth a sample of matches, and rows do not repeat.
 */
static int
try_fast(struct idat_trial *trial, const struct idat_strips *thick, struct idat_packing *method)
{
	const size_t all = trial->strips.bytes;
	size_t runs = idat_trial_runs(trial, FILTER_LEAST, NULL);
	const bool much = runs * LITTLE_RUNS > all;

	method->runs = true;
	if (runs * VERY_LITTLE_RUNS < all || (much && !repeats(trial)))
		return 0;
	if (idat_trial_level(trial, LEVEL_FAST_SAMPLE) < 0)
		return -1;
	trial->strips = much ? idat_trial_far(trial->image) : *thick;
	runs = idat_trial_runs(trial, FILTER_LEAST, NULL);
	trial->own = idat_trial_matches(trial, FILTER_LEAST);
	trial->lead[0] = IDAT_TRIAL_TOO_MANY;	/* what is left without filter is to be known */
	trial->plain = idat_trial_matches(trial, FILTER_NONE);
	if (runs <= trial->plain && runs < 2 * trial->own)
		return 0;
	method->runs = false;
	method->filter = trial->own < trial->plain ? FILTER_LEAST : FILTER_NONE;
	method->level = trial->image->options->level;
	return 0;
}

/* 0, or -1 where memory is short. */
static int
try_sample(struct idat_trial *trial, struct idat_packing *method)
{
	const struct idat_image *image = trial->image;
	const bool fast = image->options->method == IDAT_FAST;
	const struct idat_strips thick = idat_trial_thick(image, fast);
	const struct idat_strips far = idat_trial_far(image);
	size_t bytes;

	trial->strips = idat_trial_thin(image, image->bytes);
	if (fast && image->options->few_levels)
		trial->strips = thick;
	else if (fast)
		trial->strips = idat_trial_fast(image, &trial->strips);
	bytes = thick.bytes > trial->strips.bytes ? thick.bytes : trial->strips.bytes;
	bytes = bytes > far.bytes ? bytes : far.bytes;
	trial->rows = malloc(bytes + FILTER_MARGIN);
	if (!trial->rows || idat_trial_level(trial, LEVEL_SAMPLE) < 0)
		return -1;
	if (!fast)
		return try_methods(trial, &thick, method);
	if (!image->options->few_levels)
		return try_fast(trial, &thick, method);
	try_fast_few(trial, method);
	return 0;
}

/* What makes least of a sample, of the methods that the image's options allow. 0, or -1 after
 * fail(). */
static int
idat_sample_packing(const struct idat_image *image, struct idat_packing *method)
{
	const enum idat_method wanted = image->options->method;
	struct idat_trial trial = { .image = image, .base = FILTER_LEAST };
	int status;

	*method = (struct idat_packing){ wanted == IDAT_PLAIN ? FILTER_NONE : FILTER_LEAST, false,
		image->options->level };
	if (wanted == IDAT_PLAIN)
		return 0;
	status = try_sample(&trial, method);
	compressor_give(trial.quick, trial.level);
	free(trial.rows);
	return status < 0 ? fail_memory() : 0;
}

/* ---- libpng writes the head, idat_write() the pixels ---- */

#define FEW_LEVELS 16

/* libdeflate's levels */
#define LEVEL 5
#define LEVEL_REPEATED 6	/* where most is repeated, */
#define LEVEL_LONGEST 7		/* and where that saves much again */
#define LEVEL_SMALL 4
#define LEVEL_SIGNS 6	/* 8 takes three times as long for 2 to 12 % fewer dithered bytes */
#define LEVEL_BITS 5	/* of one bit a pixel */
#define LEVEL_FAST 2

/* What is open while libpng may jump. It lives on the heap: no local can be lost by the jump. */
struct job {
	const char *path;
	FILE *file;
	png_structp png;
	png_infop info;
	unsigned char *rows;
	char *text;
	bool lacks_memory;		/* for something that libpng did without */
};

static void
on_error(png_structp png, png_const_charp message)
{
	struct job *job = png_get_error_ptr(png);

	fail(job->path, "PNG: %s", message);
	png_longjmp(png, 1);
}

/* libpng goes on without a text for which it had no memory. zlib may be at work: a jump would keep
 * it from freeing what it has. */
static void
note_warning(png_structp png, png_const_charp message)
{
	struct job *job = png_get_error_ptr(png);

	job->lacks_memory |= strcasestr(message, "memory") != NULL;
}

/* Ends a libpng callback or step when fail() has been called already. */
static void
jump_if(struct job *job, bool failed)
{
	if (failed)
		png_longjmp(job->png, 1);
}

static void
write_bytes(png_structp png, png_bytep from, size_t n)
{
	struct job *job = png_get_io_ptr(png);

	jump_if(job, samples_write(job->path, job->file, from, n) < 0);
}

static void
flush_nothing(png_structp png)
{
	(void)png;
}

/* One bit a sample is used only where it keeps every value. */
static bool
fits_one_bit(const struct frame *frame)
{
	if (!png_is_one_bit(&frame->head) || frame->head.c != 1 || frame->head.type != SAMPLE_UCHAR)
		return false;
	for (size_t y = 0; y < frame->head.h; y++) {
		const unsigned char *row = frame_row(frame, 0, y);
		unsigned char all = 0;

		for (size_t x = 0; x < frame->head.w; x++)
			all |= row[x];
		if (all > 1)
			return false;
	}
	return true;
}

/* The levels of a channel that were seen, each in all lanes. */
struct levels {
	lanes level[FEW_LEVELS];
	size_t n;		/* above FEW_LEVELS: too many */
};

static bool
all_known(const struct levels *levels, lanes v)
{
	lanes known = { 0 };
	uint64_t halves[2];

	for (size_t i = 0; i < levels->n; i++)
		known |= (lanes)(v == levels->level[i]);
	memcpy(halves, &known, sizeof(halves));
	return (halves[0] & halves[1]) == UINT64_MAX;
}

static void
add_levels(struct levels *levels, const unsigned char *from, size_t n)
{
	for (size_t x = 0; x < n && levels->n <= FEW_LEVELS; x++) {
		const lanes v = (lanes){ 0 } + from[x];

		if (all_known(levels, v))
			continue;
		if (levels->n < FEW_LEVELS)
			levels->level[levels->n] = v;
		levels->n++;
	}
}

/* Has a channel so few levels that they are rather signs (dithered, labels)? */
static bool
has_few_levels(const struct frame *frame, size_t c)
{
	const size_t w = frame->head.w;
	struct levels levels = { .n = 0 };

	for (size_t y = 0; y < frame->head.h && levels.n <= FEW_LEVELS; y++) {
		const unsigned char *row = frame_row(frame, c, y);
		size_t x = 0;

		for (; x + LANES <= w && levels.n <= FEW_LEVELS; x += LANES)
			if (!all_known(&levels, lanes_load(row + x)))
				add_levels(&levels, row + x, LANES);
		add_levels(&levels, row + x, w - x);
	}
	return levels.n <= FEW_LEVELS;
}

/* Differences of neighbours, which PNG's filters make of levels, may have more of them. */
static bool
has_signs(const struct frame *frame)
{
	if (frame->head.type != SAMPLE_UCHAR)
		return false;
	for (size_t c = 0; c < frame->head.c; c++)
		if (!has_few_levels(frame, c))
			return false;
	return true;
}

static void
put_text(struct job *job, const struct frame_head *head)
{
	png_text text = { .compression = PNG_TEXT_COMPRESSION_NONE };

	job->text = head_to_text(head);
	jump_if(job, !job->text);
	if (!*job->text)
		return;
	for (const char *p = job->text; *p; p++)
		if ((unsigned char)*p > 0x7e)	/* tEXt is Latin 1, iTXt is UTF-8 */
			text.compression = PNG_ITXT_COMPRESSION_NONE;
	text.key = "fringepipe";
	text.text = job->text;
	text.text_length = strlen(job->text);
	png_set_text(job->png, job->info, &text, 1);
}

static void
write_rows(struct job *job, const struct frame *frame, bool one_bit)
{
	const struct frame_head *head = &frame->head;

	if (one_bit)
		png_set_packing(job->png);
	if (head->type == SAMPLE_USHORT && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		png_set_swap(job->png);
	job->rows = malloc(head->w * head->c * sample_size(head->type));
	jump_if(job, !job->rows && fail_memory() < 0);
	for (size_t y = 0; y < head->h; y++) {
		samples_join(frame, y, job->rows);
		png_write_row(job->png, job->rows);
	}
	png_write_end(job->png, NULL);
}

/* By idat_write() where it can. */
static void
write_pixels(struct job *job, const struct frame *frame, const struct idat_options *options)
{
	if (idat_write_is_for(&frame->head, options))
		jump_if(job, idat_write(job->path, job->file, frame, options) < 0);
	else
		write_rows(job, frame, options->one_bit);
}

#define AT(name) offsetof(struct png_options, name)

const struct opt png_options[] = {
	{ 0, "fast", NULL, OPT_FLAG, AT(fast), NULL, 0, 0, NULL,
	  "larger files, sooner written", NULL },
	{ 0, "level", "N", OPT_INTEGER, AT(level), NULL, 1, 12, NULL,
	  "how much PNG files are compressed, from little and soon to much", NULL },
	{ 0 },
};

/* How the pixels are packed. Bits have no filters, which see bytes. */
static struct idat_options
choose(const struct frame *frame, const struct png_options *options)
{
	const bool given = options->level != OPT_NONE_INTEGER;
	const bool one_bit = fits_one_bit(frame);
	struct idat_options idat = { .one_bit = one_bit };

	if (one_bit)
		idat.method = IDAT_PLAIN;
	else if (options->fast)
		idat.method = IDAT_FAST;
	else
		idat.method = given ? IDAT_LEAST_MATCHES : IDAT_LEAST;
	/* libpng asks for no levels */
	idat.few_levels = one_bit || (idat_write_is_for(&frame->head, &idat) && has_signs(frame));
	idat.level = options->fast ? LEVEL_FAST : one_bit ? LEVEL_BITS :
	    idat.few_levels ? LEVEL_SIGNS : LEVEL;
	idat.level_small = options->fast ? LEVEL_FAST : LEVEL_SMALL;
	idat.level_repeated = LEVEL_REPEATED;
	idat.level_longest = LEVEL_LONGEST;
	if (given)
		idat.level = idat.level_small = idat.level_repeated = idat.level_longest =
		    (int)options->level;
	return idat;
}

static int
write_image(struct job *job, const struct frame *frame, const struct png_options *options)
{
	static const int colour[] = { PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
		PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA };
	const struct frame_head *head = &frame->head;
	const struct idat_options idat = choose(frame, options);

	if (setjmp(png_jmpbuf(job->png)))
		return -1;
	png_set_write_fn(job->png, job, write_bytes, flush_nothing);
	png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_set_IHDR(job->png, job->info, (png_uint_32)head->w, (png_uint_32)head->h,
	    idat.one_bit ? 1 : head->type == SAMPLE_UCHAR ? 8 : 16, colour[head->c - 1],
	    PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_compression_level(job->png, idat.level < 9 ? idat.level : 9);
	if (idat.method == IDAT_PLAIN)
		png_set_filter(job->png, 0, PNG_FILTER_NONE);
	put_text(job, head);
	png_write_info(job->png, job->info);
	write_pixels(job, frame, &idat);
	jump_if(job, job->lacks_memory && fail_memory() < 0);
	return 0;
}

static int
check_writable(const char *path, const struct frame_head *head)
{
	if (head->type == SAMPLE_FLOAT)
		return fail(path, "PNG holds 8 or 16 bits a sample, not float (use framecat "
		    "--scale, or a TIFF, PFM or NRRD file)");
	if (head->c > 4)
		return fail(path, "PNG holds 1 to 4 channels, not %zu (use framecat --channels, or "
		    "--split for a file each)", head->c);
	if (head->w > PNG_UINT_31_MAX || head->h > PNG_UINT_31_MAX)
		return fail(path, "PNG holds no image of %zu x %zu", head->w, head->h);
	return 0;
}

int
png_save(struct saver *saver, const struct frame *frame)
{
	struct job *job;
	int status = -1;

	if (check_writable(saver->path, &frame->head) < 0)
		return -1;
	job = calloc(1, sizeof(*job));
	if (!job)
		return fail_memory();
	job->path = saver->path;
	job->file = saver->file;
	job->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job, on_error, note_warning);
	job->info = job->png ? png_create_info_struct(job->png) : NULL;
	if (job->info)
		status = write_image(job, frame, saver->options);
	else
		fail_memory();
	png_destroy_write_struct(&job->png, &job->info);
	free(job->text);
	free(job->rows);
	free(job);
	return status;
}
