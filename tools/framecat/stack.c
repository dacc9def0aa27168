/* The frames that --stack gathers. */
#define _GNU_SOURCE
#include "framecat.h"

#include <stdlib.h>

int
stack_keep(struct priv *priv, struct frame *frame)
{
	struct frame **more = reallocarray(priv->stack, priv->emitted + 1, sizeof(*more));

	if (!more) {
		frame_free(frame);
		return fail_memory();
	}
	priv->stack = more;
	more[priv->emitted++] = frame;
	return 0;
}

int
stack_check(struct frame *const *frame, size_t n)
{
	size_t first, other;
	bool table = head_is_table(&frame[0]->head);

	for (size_t i = 0; i < n; i++) {
		if (head_is_table(&frame[i]->head) != table)
			return fail("--stack", "frame %zu is %s, the first one is %s", i,
			    table ? "an image" : "a table", table ? "a table" : "an image");
		if (!table)
			continue;
		if (head_points(&frame[0]->head, &first) < 0 ||
		    head_points(&frame[i]->head, &other) < 0)
			return -1;
		if (first != other)
			return fail("--stack", "frame %zu has %zu points, the first one %zu", i,
			    other, first);
	}
	return 0;
}
