/* The table of image formats: the build makes CODECS from the names in codec/. */
#include "io/codec.h"

#define X(name) extern const struct codec codec_##name;
CODECS
#undef X
#define X(name) &codec_##name,
const struct codec *const codecs[] = { CODECS NULL };
