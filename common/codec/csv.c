/* Tables as comma-separated values; see text_table.h. */
#include "io/text_table.h"

TEXT_TABLE_CODEC(csv, TEXT_CSV, "CSV", "csv")
