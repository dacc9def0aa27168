/* Is the picture the one that was encoded? Compares it with the places in the key holo_check. */
#ifndef HOLODEC_CHECK_H
#define HOLODEC_CHECK_H

#include "regions.h"

/* 0, also without the key; -1 after fail(). regions: what has been found, or NULL. */
int check_picture(
    const struct reading *reading, const struct regions *regions, const struct frame *in);

#endif
