#include "live/sha1.h"

#include <stdint.h>
#include <string.h>

static uint32_t
rotate(uint32_t v, int n)
{
	return v << n | v >> (32 - n);
}

static void
add_block(uint32_t state[5], const unsigned char block[64])
{
	static const uint32_t constant[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t w[80], s[5];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		    (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 80; i++) {
		uint32_t mixed = i < 20 ? (s[1] & s[2]) | (~s[1] & s[3])
		    : i >= 40 && i < 60 ? (s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])
					: s[1] ^ s[2] ^ s[3];
		uint32_t next = rotate(s[0], 5) + mixed + s[4] + constant[i / 20] + w[i];

		s[4] = s[3];
		s[3] = s[2];
		s[2] = rotate(s[1], 30);
		s[1] = s[0];
		s[0] = next;
	}
	for (int i = 0; i < 5; i++)
		state[i] += s[i];
}

void
sha1(const void *data, size_t n, unsigned char digest[20])
{
	uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	const unsigned char *from = data;
	unsigned char last[128] = { 0 };
	size_t left = n % 64, padded = left < 56 ? 64 : 128;
	uint64_t bits = (uint64_t)n * 8;

	for (size_t i = 0; i + 64 <= n; i += 64)
		add_block(state, from + i);
	memcpy(last, from + n - left, left);
	last[left] = 0x80;
	for (size_t i = 0; i < 8; i++)
		last[padded - 1 - i] = (unsigned char)(bits >> (8 * i));
	for (size_t i = 0; i < padded; i += 64)
		add_block(state, last + i);
	for (size_t i = 0; i < 20; i++)
		digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
