/*
 * CPU dispatch. Every tools/NAME/NAME.c is compiled once per instruction level (x86-64-v2, v3, v4;
 * once, plainly, on other machines), with STAGE_LEVEL naming the level; the best one that the
 * machine has is chosen at start-up. FRINGEPIPE_CPU=v2|v3|v4 forces one, so that the tests can run
 * all. No flag lets results differ between levels: contraction is off and sums keep their order.
 */
#ifndef CPU_LEVEL_H
#define CPU_LEVEL_H

#define CPU_PASTE2(a, b) a##b
#define CPU_PASTE(a, b) CPU_PASTE2(a, b)

#ifndef STAGE_LEVEL
#define STAGE_LEVEL _plain
#endif

/* Defines the stage of this file: STAGE(gauss) = { .name = "gauss", ... }; */
#define STAGE(name) const struct stage CPU_PASTE(stage_##name, STAGE_LEVEL)

/* The levels of one tool, for the table of linked stages. */
#ifdef __x86_64__
#define CPU_LEVELS 3
#define STAGE_DECLARE(name) extern const struct stage stage_##name##_v2, stage_##name##_v3, \
    stage_##name##_v4;
#define STAGE_ROW(name) { #name, { &stage_##name##_v2, &stage_##name##_v3, &stage_##name##_v4 } },
#else
#define CPU_LEVELS 1
#define STAGE_DECLARE(name) extern const struct stage stage_##name##_plain;
#define STAGE_ROW(name) { #name, { &stage_##name##_plain } },
#endif

/* Index into the levels that this machine can run; *name is what FRINGEPIPE_CPU calls it.
 * -1 after fail() if FRINGEPIPE_CPU names none, or one that the machine lacks. */
int cpu_level(const char **name);

/* Put it before the innermost loop over x, whose body must have no call that is not inlined, and no
 * condition around a call. Pointers of planes are restrict and 64-byte aligned (frame_floats). */
#define CPU_SIMD _Pragma("omp simd")

/* Asks for memory that is written some 500 ns later, without waiting for it. Stores to lines that no
 * cache has wait for each other, and computing then waits for them. */
#define CPU_WRITE_SOON(p) __builtin_prefetch(p, 1)

/* Bytes of a vector at this level, for loops that compilers do not vectorise by themselves. */
#if defined(__AVX512BW__)
#define CPU_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define CPU_VECTOR_BYTES 32
#else
#define CPU_VECTOR_BYTES 16
#endif

#endif
