/* Tables as vnlog, the text format of mrcal; see text_table.h. */
#include "io/text_table.h"

TEXT_TABLE_CODEC(vnl, TEXT_VNL, "vnlog", "vnl")
