#include "codec/png/deflate_runs.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
