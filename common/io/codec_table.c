/* The table of image formats: CODECS is made by the build from what lies in codec/. */
#include "io/codec.h"

#define X(name) extern const struct codec codec_##name;
CODECS
#undef X
#define X(name) &codec_##name,
const struct codec *const codecs[] = { CODECS NULL };
