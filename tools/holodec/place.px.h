/* From columns, rows and depths to coordinates. */
#include "base/px.h"

/* One coordinate of a pixel; NaN without depth. start: what the row and the corner give. */
PX_FN float
holodec_coordinate(double per_column, double column, double per_depth, float depth, double start)
{
	PX_D sum = per_column * column + per_depth * px_double(depth) + start;

	return px_select(px_isnan(depth), PX_NAN, px_float(sum));
}
