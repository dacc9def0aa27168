/* Points as columns of numbers (XYZ, ASC, PTS); see text_table.h. */
#include "io/text_table.h"

TEXT_TABLE_CODEC(xyz, TEXT_NUMBERS, "XYZ", "xyz asc pts xyzn xyzrgb")
