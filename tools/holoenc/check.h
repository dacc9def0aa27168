/* The key holo_check: the turns at some places of the picture (holo/holocheck.h). */
#ifndef HOLOENC_CHECK_H
#define HOLOENC_CHECK_H

#include "holoenc.h"

/* Sets the key for a frame as it is encoded. -1 after fail(). */
int check_write(const struct priv *priv, const struct frame *in, struct meta *meta);

#endif
