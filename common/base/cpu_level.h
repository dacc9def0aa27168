/*
 * CPU dispatch. Hot loops, tools/NAME/NAME_rows.c, are compiled once per instruction level
 * (x86-64-v2, v3, v4; once, plainly, on other machines), with STAGE_LEVEL naming the level; the
 * best one that the machine has is chosen at start-up. FRINGEPIPE_CPU=v2|v3|v4 forces one, so that
 * the tests can run all. Results do not differ between levels: contraction is off and sums keep
 * their order.
 *
 * NAME_rows.c exports one struct of functions, which the rest of the tool calls:
 *
 *   struct gauss_rows { void (*filter)(...); };	in gauss.h
 *   LEVELS_OF(gauss_rows)
 *   const struct gauss_rows AT_LEVEL(gauss_rows) = { filter };	in gauss_rows.c
 *   gauss_rows()->filter(...);	in gauss.c
 */
#pragma once

#define CPU_PASTE2(a, b) a##b
#define CPU_PASTE(a, b) CPU_PASTE2(a, b)

#ifndef STAGE_LEVEL
#define STAGE_LEVEL _plain
#endif

/* The name at this file's level of the struct that it exports. */
#define AT_LEVEL(name) CPU_PASTE(name, STAGE_LEVEL)

/* LEVELS_OF(gauss_rows) declares the struct at each level, and gauss_rows(), the one of this
 * machine. `make LEVELS=v4` defines CPU_ONE_LEVEL as _v4: loops of that level alone. */
#if !defined(__x86_64__) && !defined(CPU_ONE_LEVEL)
#define CPU_ONE_LEVEL _plain
#endif
#ifndef CPU_ONE_LEVEL
#define CPU_LEVELS 3
#define LEVELS_OF(name) \
	extern const struct name name##_v2, name##_v3, name##_v4; \
	static inline const struct name *name(void) { \
		const struct name *const level[] = { &name##_v2, &name##_v3, &name##_v4 }; \
		return level[cpu_level_chosen()]; \
	}
#else
#define CPU_LEVELS 1
#define LEVELS_OF(name) \
	extern const struct name CPU_PASTE(name, CPU_ONE_LEVEL); \
	static inline const struct name *name(void) { return &CPU_PASTE(name, CPU_ONE_LEVEL); }
#endif

/* Index into the levels that this machine can run; *name is what FRINGEPIPE_CPU calls it.
 * -1 after fail() if FRINGEPIPE_CPU names none, or one that the machine lacks. */
int cpu_level(const char **name);
/* The same, asked for once; the machine's best level where FRINGEPIPE_CPU is wrong, which the
 * program reports before it computes anything. */
int cpu_level_chosen(void);

/* Put it before the innermost loop over x, whose body must have no call that is not inlined, and no
 * condition around a call. Pointers of planes are restrict and 64-byte aligned (frame_floats). */
#define CPU_SIMD _Pragma("omp simd")

/* Asks for memory that is written some 500 ns later, without waiting for it. Stores to lines that
 * no cache has wait for each other, and computing then waits for them. */
#define CPU_WRITE_SOON(p) __builtin_prefetch(p, 1)

/* Bytes of a vector at this level, for loops that compilers do not vectorise by themselves. */
#if defined(__AVX512BW__)
#define CPU_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define CPU_VECTOR_BYTES 32
#else
#define CPU_VECTOR_BYTES 16
#endif
