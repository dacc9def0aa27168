#include "same_views.h"

#include <stdio.h>

#include "base/fail.h"
#include "base/same_values.h"

static bool
is_same(const struct frame *a, const struct frame *b)
{
	struct same_values same = { 0 };

	if (a->head.w != b->head.w || a->head.h != b->head.h)
		return false;
	for (size_t k = 0; k < 3; k++) {
		size_t in_a = head_channel(&a->head, (char[2]){ "xyz"[k] });
		size_t in_b = head_channel(&b->head, (char[2]){ "xyz"[k] });

		if (in_a == NO_CHANNEL || in_b == NO_CHANNEL)
			return false;
		for (size_t y = 0; y < a->head.h && !same.differ; y++)
			same_values_add(&same, frame_floats(a, in_a, y), frame_floats(b, in_b, y),
			    a->head.w);
	}
	return same_values_found(&same);
}

bool
same_views_warn(struct frame *const *view, size_t views, const struct opt_list *files)
{
	char other[32];

	for (size_t k = 1; k < views; k++)
		for (size_t i = 0; i < k; i++) {
			if (!is_same(view[i], view[k]))
				continue;
			snprintf(other, sizeof(other), i ? "view %zu" : "the input", i + 1);
			warn(files->v[k - 1], "has the same points as %s in each pixel: is it "
			    "another view?", other);
			return true;
		}
	return false;
}
