#include "view_input.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "mergexyz.h"

int
view_input_take(struct run *run, const struct frame *in, size_t view, struct frame **out)
{
	const struct frame_head *head = view > 1 ?
	    run_second_input_head(run, "view", view - 1) : NULL;
	struct frame_head own;
	size_t first = 0;
	char prefix[32];
	int status;

	snprintf(prefix, sizeof(prefix), "view%zu.", view - 1);
	while (head && first < in->head.c &&
	    strncmp(in->head.channel[first], prefix, strlen(prefix)))
		first++;
	if (head_copy(&own, head ? head : &in->head) < 0)
		return -1;
	for (size_t k = 1; !head && k < ((struct priv *)run->priv)->views; k++)
		own.c -= run_second_input_head(run, "view", k)->c;
	own.type = SAMPLE_FLOAT;
	status = frame_new_empty(&own, out);
	head_free(&own);
	for (size_t c = 0; status == 0 && c < (*out)->head.c; c++)
		frame_share(*out, c, in, first + c);
	return status;
}

int
view_input_pose(const struct run *run, size_t view, size_t number, struct pose *pose)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	const struct pose_list *list = priv->pose ? &priv->pose[view - 1] : NULL;

	*pose = pose_identity;
	if (!list)
		return 0;
	if (list->n > 1 && number > list->n)
		return fail(parameters->poses.v[view - 1], "has %zu poses, view %zu has more "
		    "frames", list->n, view);
	*pose = list->v[list->n == 1 ? 0 : number - 1];
	return 0;
}
