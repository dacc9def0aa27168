/*
 * Is more of the projector seen than the field in which orders are searched? Pixels beyond its ends
 * are taken for some that lie inside, and fit their order badly, but one outside well. Those on the
 * grid of offset_check.h that lie far from their order are held against orders outside.
 */
#ifndef FIELD_CHECK_H
#define FIELD_CHECK_H

#include "offset_check.h"
#include "order_search.h"

/* All rows of a frame are made: warns where many pixels fit an order outside. The periods are those
 * of the search's base and of the phase that is unwrapped. True after a warning. */
bool field_check_warn(const struct offset_check *, const struct order_search *,
    double base_period_px, double period_px);

#endif
