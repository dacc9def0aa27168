/* The division and the root that px.h has for devices, compiled here with a device that is some
 * units off, against the processor's own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int units;		/* how far the device is off */

static uint32_t
floatBitsToUint(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static float
uintBitsToFloat(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

static float
off_by_units(float x)
{
	uint32_t u = floatBitsToUint(x), size = u & 0x7fffffffu;

	return size > 16 && size < 0x7f7ffff0u ? uintBitsToFloat(u + (uint32_t)units) : x;
}

typedef uint32_t uint;

/* What px.h takes from GLSL. */
#define px_device_divide(a, b) off_by_units((a) / (b))
#define px_device_sqrt(x) off_by_units(sqrtf(x))
#define findMSB(u) ((u) ? 31 - __builtin_clz(u) : -1)
#define floor(x) floorf(x)
#define float(x) ((float)(x))
#define int(x) ((int)(x))
#define uint(x) ((uint32_t)(x))
#define precise
#define GL_core_profile
#include "base/px.h"

static uint
random_bits(uint i)
{
	return px_hash(px_hash(i) ^ 0x2545f491u);
}

static void
check_divide(uint a, uint b)
{
	float x = uintBitsToFloat(a), y = uintBitsToFloat(b);
	uint there = floatBitsToUint(px_divide(x, y)), here = floatBitsToUint(x / y);

	if (there != here)
		fail_msg("%a / %a: %08x on a device that is %d units off, %08x here", x, y, there,
		    units, here);
}

static void
check_sqrt(uint u)
{
	float x = uintBitsToFloat(u);
	uint there = floatBitsToUint(px_sqrt(x)), here = floatBitsToUint(sqrtf(x));

	if (there != here)
		fail_msg("sqrt(%a): %08x on a device that is %d units off, %08x here", x, there,
		    units, here);
}

/* Every number of two binades, which stand for all. */
static void
test_sqrt(void **state)
{
	(void)state;
	for (uint u = 0x3f800000u; u < 0x40800000u; u++) {
		units = (int)(random_bits(u) % 9) - 4;
		check_sqrt(u);
	}
	units = 0;
	for (uint u = 0x3f000000u; u < 0x3f000010u; u++) {
		check_sqrt(u);
		check_sqrt(u + 0x7ffff0u);	/* up to the one just below 1 */
	}
}

static const uint special[] = { 0, 1, 2, 3, 0x3fffff, 0x400000, 0x7fffff, 0x800000, 0x800001,
	0xffffff, 0x1000000, 0x0d800000, 0x1b000000, 0x2b7fffff, 0x2b800000, 0x2b800001, 0x33800000,
	0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fffffff,
	0x40000000, 0x40400000, 0x4b000001, 0x537fffff, 0x53800000, 0x7e800000, 0x7effffff,
	0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fc12345 };
#define SPECIALS (sizeof(special) / sizeof(special[0]))

static void
test_special(void **state)
{
	(void)state;
	for (units = -2; units <= 2; units++)
		for (size_t i = 0; i < SPECIALS; i++) {
			check_sqrt(special[i]);
			check_sqrt(special[i] | 0x80000000u);
			for (size_t k = 0; k < SPECIALS; k++)
				for (uint sign = 0; sign < 4; sign++)
					check_divide(special[i] | sign << 31,
					    special[k] | (sign & 2) << 30);
		}
	for (uint i = 0; i < 1000000; i++)
		check_sqrt(random_bits(i));
}

static void
test_divide(void **state)
{
	(void)state;
	for (uint i = 0; i < 3000000; i++) {
		uint a = random_bits(2 * i), b = random_bits(2 * i + 1);

		units = (int)(i % 5) - 2;
		check_divide(a, b);		/* of any size */
		check_divide((a & 0x80ffffffu) + 0x3f000000u, (b & 0x80ffffffu) + 0x3f000000u);
		check_divide(0x3f800000u, (b & 0x80ffffffu) + 0x3f000000u);
		check_divide(a & 0x80ffffffu, (b & 0x80ffffffu) + 0x3f000000u);	/* subnormal */
	}
}

/*
 * The quotients that lie closest to the middle between two numbers: a 2^25 = q b + r for odd b,
 * odd q and small odd r, so that a 2^25 / b is q + r / b and q needs one digit too many.
 */
static void
test_divide_near_middle(void **state)
{
	uint done = 0;

	(void)state;
	for (uint i = 0; i < 400000; i++) {
		uint b = (random_bits(i) & 0xffffffu) | 0x800001u, inverse = b;
		int r = (int)(2 * (i % 8)) - 7;

		for (int k = 0; k < 4; k++)	/* of b, modulo 2^32 */
			inverse *= 2 - b * inverse;
		for (uint digits = 24; digits <= 25; digits++) {
			uint64_t q = (uint)-r * inverse & ((1u << digits) - 1u);
			uint64_t a = (q * b + (uint64_t)r) >> digits;

			if (q < 0x1000000u || a < 0x800000u || a > 0xffffffu)
				continue;
			units = (int)(random_bits(i) % 5) - 2;
			check_divide(floatBitsToUint((float)a), floatBitsToUint((float)b));
			check_divide(floatBitsToUint(-0x1p-30f * (float)a),
			    floatBitsToUint(0x1p-9f * (float)b));
			done++;
		}
	}
	assert_true(done > 50000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sqrt), cmocka_unit_test(test_special),
		cmocka_unit_test(test_divide), cmocka_unit_test(test_divide_near_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
