#include "paint.h"

#include <math.h>
#include <stdio.h>

#include "image/pixel_length.h"
#include "image/quantity.h"
#include "image/ticks.h"

/* Labels have no range, and so no bar; they lie on grey. */
static int
init_labels(struct paint *paint, const struct paint_options *options,
    const struct sample_range *range)
{
	struct annotation *annotation = &paint->annotation;

	if (range->kind != RANGE_NONE || options->bar)
		return fail_usage(options->bar ? "--bar" : "--scale", "does not go with --colormap "
		    "labels, which have no range");
	paint->painting.labels = true;
	if (colormap_nan(COLORMAP_GRAY, "--nan-colour", &options->nan, paint->painting.nan) < 0)
		return -1;
	for (size_t k = 0; k < 3 && !options->nan.n; k++)
		paint->painting.nan[k] = 0.5f;
	memcpy(annotation->nan, paint->painting.nan, sizeof(annotation->nan));
	annotation->scale_bar = options->scale_bar;
	annotation->axes = options->axes;
	return 0;
}

int
paint_init(struct paint *paint, const struct paint_options *options,
    const struct sample_range *range)
{
	struct annotation *annotation = &paint->annotation;
	const char *around = options->bar ? "--bar" : options->scale_bar ? "--scale-bar" :
	    options->axes ? "--axes" : options->nan.n ? "--nan-colour" : NULL;

	if (options->map < 0)
		return around ? fail_usage(around, "needs --colormap") : 0;
	if (options->map == PAINT_LABELS)
		return init_labels(paint, options, range);
	paint->painting.map = annotation->map = (enum colormap)options->map;
	paint->painting.range = *range;
	if (colormap_nan(annotation->map, "--nan-colour", &options->nan, paint->painting.nan) < 0)
		return -1;
	if (range->kind == RANGE_GIVEN && !ticks_range_fits(range->low, range->high))
		return fail_usage("--scale", "%.17g to %.17g is too narrow or too wide a range for "
		    "--colormap", range->low, range->high);
	if (range->kind == RANGE_GIVEN)
		colormap_check_white(annotation->map, "--scale", range->low, range->high);
	memcpy(annotation->nan, paint->painting.nan, sizeof(annotation->nan));
	annotation->bar = options->bar;
	annotation->scale_bar = options->scale_bar;
	annotation->axes = options->axes;
	return 0;
}

int
paint_measure(struct paint *paint, const struct frame *frame, size_t bin)
{
	struct annotation *annotation = &paint->annotation;
	const char *unit;

	if (!annotation->scale_bar || head_is_table(&frame->head))
		return 0;
	if (pixel_length_of(frame, &annotation->pixel_length, &unit) < 0)
		return -1;
	annotation->pixel_length *= (double)bin;
	snprintf(annotation->length_unit, sizeof(annotation->length_unit), "%s", unit ? unit : "");
	return 0;
}

/* What the colours show: scaled samples are not in the unit of their values. */
static void
set_title(struct annotation *annotation, const struct frame_head *head)
{
	const char *name = head->channel[0];

	annotation_set_title(annotation, name,
	    meta_get(&head->meta, "sample_scale") ? "samples" : quantity_unit(head, name));
}

int
paint_frame(struct run *run, struct paint *paint, struct frame **frame)
{
	struct annotation *annotation = &paint->annotation;
	bool annotates = annotation->bar || annotation->scale_bar || annotation->axes;
	double ends[2];

	if (annotates && head_is_table(&(*frame)->head))
		return fail(annotation->bar ? "--bar" : annotation->axes ? "--axes" : "--scale-bar",
		    "is for images, the input is a table");
	if (annotates && (*frame)->head.c == 1) {
		set_title(annotation, &(*frame)->head);
		annotation_set_spacing(annotation, &(*frame)->head);
	}
	if (paint->painting.labels) {
		if (convert_labels(run, frame, &paint->painting) < 0)
			return -1;
		return annotates ? annotate(frame, annotation) : 0;
	}
	if (convert_colour(run, frame, &paint->painting, ends) < 0)
		return -1;
	annotation->low = ends[0];
	annotation->high = ends[1];
	return annotates ? annotate(frame, annotation) : 0;
}
