#include "io/jpeg_purpose.h"

#include <stddef.h>

const char *const jpeg_purposes[] = { "eyes", "fringes", NULL };
