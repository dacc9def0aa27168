/*
 * RVL: lossless compression of 16-bit depth maps in which 0 is a hole (A. D. Wilson, Fast Lossless
 * Depth Image Compression, ISS 2017). Runs of holes and of depths take turns; each run's length, and
 * each depth's difference from the last one, is written in groups of three bits.
 *
 *   rvl FILE ROUNDS     FILE: samples, 16 bits, little endian
 *
 * Prints bytes, and milliseconds to encode and to decode (the least of all rounds). Fails if what
 * comes back is not what went in.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct nibbles {		/* eight to a word, the first in the highest bits */
	uint32_t *next, word;
	int n;
};

static void
put(struct nibbles *to, uint32_t value)
{
	do {
		uint32_t nibble = value & 7;

		value >>= 3;
		to->word = to->word << 4 | nibble | (value ? 8 : 0);
		if (++to->n == 8) {
			*to->next++ = to->word;
			to->n = 0;
			to->word = 0;
		}
	} while (value);
}

static uint32_t
get(struct nibbles *from)
{
	uint32_t value = 0, nibble = 8;

	for (int bits = 0; nibble & 8; bits += 3) {
		if (from->n == 0) {
			from->word = *from->next++;
			from->n = 8;
		}
		nibble = from->word >> 28;
		from->word <<= 4;
		from->n--;
		value |= (nibble & 7) << bits;
	}
	return value;
}

/* The number of words. */
static size_t
encode(const uint16_t *depth, size_t n, uint32_t *out)
{
	struct nibbles to = { .next = out };
	int last = 0;

	for (size_t i = 0; i < n;) {
		size_t holes = i, depths;

		while (i < n && !depth[i])
			i++;
		depths = i;
		put(&to, (uint32_t)(i - holes));
		while (i < n && depth[i])
			i++;
		put(&to, (uint32_t)(i - depths));
		for (size_t k = depths; k < i; k++) {
			int step = depth[k] - last;

			put(&to, (uint32_t)step << 1 ^ (uint32_t)(step >> 31));
			last = depth[k];
		}
	}
	if (to.n)
		*to.next++ = to.word << 4 * (8 - to.n);
	return (size_t)(to.next - out);
}

static void
decode(uint32_t *in, uint16_t *depth, size_t n)
{
	struct nibbles from = { .next = in };
	int last = 0;

	for (size_t i = 0; i < n;) {
		size_t holes = get(&from), depths;

		memset(depth + i, 0, holes * sizeof(*depth));
		i += holes;
		depths = get(&from);
		for (size_t end = i + depths; i < end; i++) {
			uint32_t step = get(&from);

			last += (int)(step >> 1) ^ -(int)(step & 1);
			depth[i] = (uint16_t)last;
		}
	}
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double
lesser(double a, double b)
{
	return a < b ? a : b;
}

static int
complain(const char *what)
{
	fprintf(stderr, "rvl: %s\n", what);
	return 1;
}

int
main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
	size_t most = 1u << 26, n, words = 0;
	uint16_t *depth = malloc(most * sizeof(*depth)), *back;
	double encode_ms = 1e9, decode_ms = 1e9;
	uint32_t *code;

	if (!file || !depth)
		return complain("usage: rvl FILE ROUNDS");
	n = fread(depth, sizeof(*depth), most, file);
	fclose(file);
	/* at worst a sample takes six nibbles, and every run's length as many */
	code = malloc((2 * n + 16) * sizeof(*code));
	back = malloc((n + 1) * sizeof(*back));
	if (!code || !back)
		return complain("out of memory");
	for (int i = atoi(argv[2]); i > 0; i--) {
		double t0 = now_ms(), t1;

		words = encode(depth, n, code);
		t1 = now_ms();
		decode(code, back, n);
		encode_ms = lesser(encode_ms, t1 - t0);
		decode_ms = lesser(decode_ms, now_ms() - t1);
	}
	if (memcmp(depth, back, n * sizeof(*depth)))
		return complain("what came back differs");
	printf("%zu %.4f %.4f\n", words * sizeof(*code), encode_ms, decode_ms);
	return 0;
}
