/* Cross-sections of one or several frames as a line plot; or one channel as a map. */
#include "frameplot.h"

#include <math.h>
#include <string.h>

#include "image/colormap.h"
#include "image/drawing.h"
#include "image/ticks.h"
#include "map.h"
#include "map_plot.h"
#include "section.h"

#define AT(field) offsetof(struct parameters, field)

static const char *const abscissas[] = { "pixels", "points", NULL };

static const struct opt options[] = {
	{ 'r', "row", "Y", OPT_NUMBER, AT(row), NULL, 0, INFINITY, "px",
	    "section along this row; the middle one if nothing is said", NULL },
	{ 'x', "column", "X", OPT_NUMBER, AT(column), NULL, 0, INFINITY, "px",
	    "section along this column", NULL },
	{ 0, "from", "X,Y", OPT_NUMBERS, AT(from), NULL, 0, 0, "px", "section from this point",
	    NULL },
	{ 0, "to", "X,Y", OPT_NUMBERS, AT(to), NULL, 0, 0, "px", "to this one", NULL },
	{ 'c', "channel", "NAME,...", OPT_TEXT, AT(channel), NULL, 0, 0, NULL,
	    "channels to plot, with commas; depth, z, absphase or else the first if not given",
	    NULL },
	{ 0, "abscissa", "WORD", OPT_WORD, AT(abscissa), "pixels", 0, 0, NULL,
	    "level axis by pixels and their spacings, or by the points x y", abscissas },
	{ 'D', "difference", NULL, OPT_FLAG, AT(difference), NULL, 0, 0, NULL,
	    "plot each frame minus the first one", NULL },
	{ 0, "range", "LOW,HIGH", OPT_NUMBERS, AT(range), NULL, 0, 0, NULL,
	    "range of the upright axis, or of the colours of --map", NULL },
	{ 0, "map", NULL, OPT_FLAG, AT(map), NULL, 0, 0, NULL,
	    "draw the channel as an image, with its statistics", NULL },
	{ 0, "colormap", "NAME", OPT_WORD, AT(colormap), NULL, 0, 0, NULL,
	    "of --map; deviation where values lie on both sides of zero, else viridis",
	    colormap_names },
	{ 0, "nan-colour", "R,G,B", OPT_NUMBERS, AT(nan), NULL, 0, 255, NULL,
	    "of NaN in --map; black if not given, blue in gray", NULL },
	{ 't', "title", "TEXT", OPT_TEXT, AT(title), NULL, 0, 0, NULL, "text above the plot",
	    NULL },
	{ 'l', "labels", "A,B,...", OPT_TEXT, AT(labels), NULL, 0, 0, NULL,
	    "names of the curves, separated by commas", NULL },
	{ 's', "size", "WxH", OPT_SIZE, AT(size), "800x450", 0, 0, "px", "size of the picture",
	    NULL },
	{ 0 },
};

static int
take_frame(struct run *run, struct frame *in)
{
	int status = section_add(run, in);

	frame_free(in);
	return status;
}

static const struct body maps = { .frame = map_take, .end = map_end };
static const struct body sections = { .frame = take_frame, .end = section_draw };

/* What goes with --map, and what without it. */
static int
check_map(const struct parameters *p)
{
	float rgb[3];

	if (!p->map)
		return p->colormap >= 0 || p->nan.n ? fail_usage(p->nan.n ? "--nan-colour" :
		    "--colormap", "needs --map") : 0;
	if (p->from.n || !isnan(p->row) || !isnan(p->column))
		return fail_usage("--map", "draws the whole image: --row, --column and --from do "
		    "not go with it");
	if (p->labels || p->abscissa != ABSCISSA_PIXELS)
		return fail_usage("--map", "--labels and --abscissa are for curves");
	if (p->channel && strchr(p->channel, ','))
		return fail_usage("--map", "draws one channel, not %s", p->channel);
	if (p->size.w < MAP_PLOT_LEAST_W || p->size.h < MAP_PLOT_LEAST_H)
		return fail_usage("--size", "must be %dx%d at least for a map", MAP_PLOT_LEAST_W,
		    MAP_PLOT_LEAST_H);
	if (p->range.n && p->colormap >= 0)
		colormap_check_white((enum colormap)p->colormap, "--range", p->range.v[0],
		    p->range.v[1]);
	return colormap_nan(COLORMAP_GRAY, "--nan-colour", &p->nan, rgb);
}

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;

	run->body = p->map ? &maps : &sections;
	if (!run->output || !drawing_takes(run->output))
		return fail_usage(run->output, "needs -o FILE.svg, FILE.png or FILE.pdf");
	if ((p->from.n || p->to.n) && (p->from.n != 2 || p->to.n != 2))
		return fail_usage("--from", "and --to want X,Y each");
	if ((p->from.n > 0) + !isnan(p->row) + !isnan(p->column) > 1)
		return fail_usage(NULL, "one of --row, --column, --from can be given");
	if (p->range.n && (p->range.n != 2 || !(p->range.v[0] < p->range.v[1])))
		return fail_usage("--range", "wants two numbers, the first one smaller");
	if (p->range.n && !ticks_range_fits(p->range.v[0], p->range.v[1]))
		return fail_usage("--range", "%.17g to %.17g is too narrow or too wide a range",
		    p->range.v[0], p->range.v[1]);
	if (p->size.w < 160 || p->size.h < 120 || p->size.w > 20000 || p->size.h > 20000)
		return fail_usage("--size", "must be 160x120 to 20000x20000");
	return check_map(p);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	section_free(priv);
	frame_free(priv->first);
}

STAGE(frameplot) = {
	.name = "frameplot",
	.summary = "cross-sections of frames as a plot with axes",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SINK | STAGE_TABLES | STAGE_UNITS,
	.init = init,
	.release = end,
};
