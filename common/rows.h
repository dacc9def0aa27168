/*
 * CPU dispatch. Every tools/NAME/NAME.c is compiled once per instruction level (x86-64-v2, v3, v4;
 * once, plainly, on other machines), with STAGE_LEVEL naming the level; the best one that the machine
 * has is picked at start-up. FRINGEPIPE_CPU=v2|v3|v4 forces one, so that the tests can run all.
 * No flag lets results differ between levels: contraction is off and sums keep their order.
 */
#ifndef ROWS_H
#define ROWS_H

#define ROWS_PASTE2(a, b) a##b
#define ROWS_PASTE(a, b) ROWS_PASTE2(a, b)

#ifndef STAGE_LEVEL
#define STAGE_LEVEL _plain
#endif

/* Defines the stage of this file: STAGE(gauss) = { .name = "gauss", ... }; */
#define STAGE(name) const struct stage ROWS_PASTE(stage_##name, STAGE_LEVEL)

/* Stands before the innermost loop over x: its body must have no call that is not inlined, and no
 * condition around a call. Pointers of planes are restrict and 64-byte aligned (frame_floats). */
#define ROWS_SIMD _Pragma("omp simd")

#endif
