/* What was measured, as text or JSON. */
#ifndef FITSHAPE_REPORT_H
#define FITSHAPE_REPORT_H

#include <stdio.h>

#include "measure.h"

void report_text(FILE *, const struct measurement *, size_t frame);
/* One object, without a line's end. */
void report_json(FILE *, const struct measurement *, size_t frame);

#endif
