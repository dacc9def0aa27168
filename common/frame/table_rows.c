#define _GNU_SOURCE
#include "frame/table_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"

float *
table_rows_add(struct table_rows *rows)
{
	if (rows->n == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 64, values;
		float *more;

		if (size_multiply(room, rows->c, &values) < 0)
			return NULL;
		more = reallocarray(rows->v, values, sizeof(*more));
		if (!more) {
			fail_memory();
			return NULL;
		}
		rows->v = more;
		rows->room = room;
	}
	return rows->v + rows->n++ * rows->c;
}

int
table_rows_frame(const struct table_rows *rows, struct frame_head *head, struct frame **out)
{
	if (head_set_points(head, rows->n) < 0 || frame_new(head, out) < 0)
		return -1;
	for (size_t c = 0; c < rows->c; c++) {
		float *to = frame_floats(*out, c, 0);

		to[0] = NAN;		/* the column that stands for no row */
		for (size_t i = 0; i < rows->n; i++)
			to[i] = rows->v[i * rows->c + c];
	}
	return 0;
}

void
table_rows_free(struct table_rows *rows)
{
	free(rows->v);
	rows->v = NULL;
}
