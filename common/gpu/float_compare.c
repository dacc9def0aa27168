/*
 * Comparisons of floats by their bits. A device that does not promise to keep subnormal numbers may
 * keep them in sums and products and yet compare them as zeros, as NVIDIA's driver 580 does: then
 * what is chosen by a comparison is not what the processor chooses. The sign of a - b tells which
 * is less: the difference of two different numbers is never rounded to zero where subnormal numbers
 * are kept. Its bits are compared as whole numbers.
 */
#include "gpu/vulkan.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Numbers of the SPIR-V specification, version 1.5: §2.3, §3.20, §3.32. */
#define BOUND 3				/* word of the header: ids are less */
enum op {
	OP_TYPE_VOID = 19, OP_TYPE_BOOL, OP_TYPE_INT, OP_TYPE_FLOAT,
	OP_CONSTANT = 43, OP_FUNCTION = 54, OP_DECORATE = 71, OP_BITCAST = 124,
	OP_ISUB = 130, OP_FSUB, OP_LOGICAL_AND = 167, OP_LOGICAL_NOT,
	OP_UGREATER = 172, OP_ULESS_EQUAL = 178,
	OP_FORD_EQUAL = 180, OP_FUNORD_EQUAL, OP_FORD_NOT_EQUAL, OP_FUNORD_NOT_EQUAL,
	OP_FORD_LESS, OP_FUNORD_LESS, OP_FORD_GREATER, OP_FUNORD_GREATER,
	OP_FORD_LESS_EQUAL, OP_FUNORD_LESS_EQUAL, OP_FORD_GREATER_EQUAL, OP_FUNORD_GREATER_EQUAL,
	OP_BITWISE_AND = 199
};
#define NO_CONTRACTION 42u

/* What a - b shows by its bits: that it is positive, negative, or either. */
enum sign { POSITIVE, NEGATIVE, ANY };

/*
 * A comparison is: the difference has this sign; or it has not and the device's own comparison,
 * which takes part for infinities and NaN, holds as well. An unordered one is the opposite of
 * another.
 */
static const struct {
	enum sign sign;
	bool own;		/* the difference has not this sign, and the device's own holds */
	bool opposite;
	enum op op;		/* the device's own */
} comparison[] = {
	[OP_FORD_EQUAL - OP_FORD_EQUAL] = { ANY, true, false, OP_FORD_EQUAL },
	[OP_FUNORD_EQUAL - OP_FORD_EQUAL] = { ANY, false, true, OP_FORD_NOT_EQUAL },
	[OP_FORD_NOT_EQUAL - OP_FORD_EQUAL] = { ANY, false, false, OP_FORD_NOT_EQUAL },
	[OP_FUNORD_NOT_EQUAL - OP_FORD_EQUAL] = { ANY, true, true, OP_FORD_EQUAL },
	[OP_FORD_LESS - OP_FORD_EQUAL] = { NEGATIVE, false, false, OP_FORD_LESS },
	[OP_FUNORD_LESS - OP_FORD_EQUAL] = { NEGATIVE, true, true, OP_FORD_GREATER_EQUAL },
	[OP_FORD_GREATER - OP_FORD_EQUAL] = { POSITIVE, false, false, OP_FORD_GREATER },
	[OP_FUNORD_GREATER - OP_FORD_EQUAL] = { POSITIVE, true, true, OP_FORD_LESS_EQUAL },
	[OP_FORD_LESS_EQUAL - OP_FORD_EQUAL] = { POSITIVE, true, false, OP_FORD_LESS_EQUAL },
	[OP_FUNORD_LESS_EQUAL - OP_FORD_EQUAL] = { POSITIVE, false, true, OP_FORD_GREATER },
	[OP_FORD_GREATER_EQUAL - OP_FORD_EQUAL] = { NEGATIVE, true, false, OP_FORD_GREATER_EQUAL },
	[OP_FUNORD_GREATER_EQUAL - OP_FORD_EQUAL] = { NEGATIVE, false, true, OP_FORD_LESS },
};

/* Bits of floats. */
#define MAGNITUDE 0x7fffffffu
#define SIGN 0x80000000u
#define LEAST_NORMAL 0x00800000u
#define ALL_NUMBERS 0x7f7fffffu	/* magnitudes 1 to infinity, less 1, are at most this */

#define WORDS_EACH (3 + 5 + 4 + 5 + 5 + 5 + 5 + 5 + 4)	/* of a comparison, at most */
#define CONSTANTS 4

struct module {
	const uint32_t *code;
	size_t words;
	uint32_t bound, boolean, whole, real;	/* ids of types; 0: the module has none */
	uint8_t *kind;			/* of ids: enum kind */
	uint32_t *to;			/* where the next word of the result goes */
	uint32_t next;			/* id that nobody has yet */
	uint32_t constant[CONSTANTS];	/* ids of the numbers that are needed */
};
enum kind { OTHER, REAL, REAL_NORMAL };	/* a float; one whose comparison is as it must be */

static enum op
op_of(const uint32_t *at)
{
	return (enum op)(*at & 0xffff);
}

static const uint32_t constants[CONSTANTS] = { 1, SIGN + 1, ALL_NUMBERS, MAGNITUDE };

/* The ids of types, and which ids are floats. */
static void
look(struct module *m)
{
	const uint32_t *end = m->code + m->words;

	for (const uint32_t *at = m->code + SPIRV_HEADER_WORDS; at < end; at += *at >> 16) {
		size_t length = *at >> 16;

		if (op_of(at) == OP_TYPE_BOOL)
			m->boolean = at[1];
		else if (op_of(at) == OP_TYPE_INT && at[2] == 32 && at[3] == 0)
			m->whole = at[1];
		else if (op_of(at) == OP_TYPE_FLOAT && at[2] == 32)
			m->real = at[1];
		else if (m->real && length > 2 && at[1] == m->real && at[2] < m->bound)
			m->kind[at[2]] = op_of(at) == OP_CONSTANT &&
			    (at[3] & MAGNITUDE) >= LEAST_NORMAL ? REAL_NORMAL : REAL;
	}
}

/* A comparison with a number that is not subnormal, nor zero, is right on every device. */
static bool
is_replaced(const struct module *m, const uint32_t *at)
{
	return op_of(at) >= OP_FORD_EQUAL && op_of(at) <= OP_FUNORD_GREATER_EQUAL &&
	    m->kind[at[3]] == REAL && m->kind[at[4]] == REAL;
}

static void
put(struct module *m, enum op op, size_t n, const uint32_t *words)
{
	*m->to++ = (uint32_t)(n + 1) << 16 | (uint32_t)op;
	memcpy(m->to, words, n * sizeof(*words));
	m->to += n;
}

/* result = a op b; its id */
static uint32_t
put_binary(struct module *m, enum op op, uint32_t type, uint32_t result, uint32_t a, uint32_t b)
{
	put(m, op, 4, (const uint32_t[]){ type, result, a, b });
	return result;
}

static void
put_comparison(struct module *m, const uint32_t *at, uint32_t difference)
{
	size_t which = op_of(at) - OP_FORD_EQUAL;
	enum sign sign = comparison[which].sign;
	bool own = comparison[which].own, opposite = comparison[which].opposite;
	uint32_t bits = m->next++, rest, is, result = opposite ? m->next++ : at[2];

	put_binary(m, OP_FSUB, m->real, difference, at[3], at[4]);
	put(m, OP_BITCAST, 3, (const uint32_t[]){ m->whole, bits, difference });
	if (sign == ANY)
		bits = put_binary(m, OP_BITWISE_AND, m->whole, m->next++, bits, m->constant[3]);
	rest = put_binary(m, OP_ISUB, m->whole, m->next++, bits, m->constant[sign == NEGATIVE]);
	is = put_binary(m, own ? OP_UGREATER : OP_ULESS_EQUAL, m->boolean,
	    own ? m->next++ : result, rest, m->constant[2]);
	if (own)
		put_binary(m, OP_LOGICAL_AND, m->boolean, result, is,
		    put_binary(m, comparison[which].op, m->boolean, m->next++, at[3], at[4]));
	if (opposite)
		put(m, OP_LOGICAL_NOT, 3, (const uint32_t[]){ m->boolean, at[2], result });
}

/* The whole numbers that comparisons need, and their type where the module has none. */
static void
put_constants(struct module *m)
{
	if (!m->whole) {
		m->whole = m->next++;
		put(m, OP_TYPE_INT, 3, (const uint32_t[]){ m->whole, 32, 0 });
	}
	for (size_t i = 0; i < CONSTANTS; i++) {
		m->constant[i] = m->next++;
		put(m, OP_CONSTANT, 3, (const uint32_t[]){ m->whole, m->constant[i],
			constants[i] });
	}
}

/* The module again, with decorations before the first type and constants before the first function.
 */
static void
rewrite(struct module *m, uint32_t differences, size_t replaced)
{
	bool decorated = false, declared = false;
	uint32_t difference = differences;
	const uint32_t *end = m->code + m->words;

	for (const uint32_t *at = m->code + SPIRV_HEADER_WORDS; at < end; at += *at >> 16) {
		if (!decorated && op_of(at) >= OP_TYPE_VOID && op_of(at) <= OP_TYPE_FLOAT) {
			decorated = true;
			for (size_t i = 0; i < replaced; i++)
				put(m, OP_DECORATE, 2, (const uint32_t[]){
					differences + (uint32_t)i, NO_CONTRACTION });
		}
		if (!declared && op_of(at) == OP_FUNCTION && replaced) {
			declared = true;
			put_constants(m);
		}
		if (is_replaced(m, at)) {
			put_comparison(m, at, difference++);
		} else {
			memcpy(m->to, at, (*at >> 16) * sizeof(*at));
			m->to += *at >> 16;
		}
	}
}

uint32_t *
vulkan_compare_bits(uint32_t *code, size_t *bytes)
{
	struct module m = { .code = code, .words = *bytes / sizeof(*code), .bound = code[BOUND] };
	size_t replaced = 0;
	uint32_t *made = NULL;

	m.kind = calloc(m.bound, sizeof(*m.kind));
	if (m.kind)		/* a comparison has five words */
		made = malloc(*bytes * (1 + WORDS_EACH / 5) + (CONSTANTS + 1) * 4 * sizeof(*made));
	if (!made) {
		free(m.kind);
		free(code);
		fail_memory();
		return NULL;
	}
	look(&m);
	for (const uint32_t *at = code + SPIRV_HEADER_WORDS; at < code + m.words; at += *at >> 16)
		replaced += is_replaced(&m, at);
	memcpy(made, code, SPIRV_HEADER_WORDS * sizeof(*made));
	m.to = made + SPIRV_HEADER_WORDS;
	m.next = m.bound + (uint32_t)replaced;
	rewrite(&m, m.bound, replaced);
	made[BOUND] = m.next;
	*bytes = (size_t)(m.to - made) * sizeof(*made);
	free(m.kind);
	free(code);
	return made;
}
