/* What the options ask fringegen for. All return -1 after fail(). */
#ifndef FRINGEGEN_WANTED_H
#define FRINGEGEN_WANTED_H

#include "fringegen.h"

/* Refuses options that the kind of pattern has no use for, instead of passing over them. */
int wanted_check(const struct parameters *);
/* Mean and amplitude, and the projector's tones. */
int wanted_tone(const struct parameters *, struct priv *);
int wanted_patterns(const struct parameters *, struct pattern_spec *);

#endif
