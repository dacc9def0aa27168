/* The options of fringecal. */
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

#define AT(field) offsetof(struct parameters, field)

static const char *const kinds[] = { "chess", "circles", "acircles", NULL };
static const char *const models[] = { "pinhole", "opencv4", "opencv5", "opencv8", NULL };
static const char *const weights[] = { "sigma", "equal", NULL };

const struct opt fringecal_options[] = {
	{ 0, "board", "WxH,MM", OPT_TEXT, AT(board), NULL, 0, 0, NULL,
	    "corners along the board's two sides, and the spacing of neighbours", NULL },
	{ 0, "kind", "KIND", OPT_WORD, AT(kind), "chess", 0, 0, NULL, "what is on the board",
	    kinds },
	{ 0, "cameras", "NAME,...", OPT_TEXT, AT(cameras), NULL, 0, 0, NULL,
	    "the cameras, in the order of the operands; camera if not given", NULL },
	{ 0, "sizes", "WxH,...", OPT_TEXT, AT(sizes), NULL, 0, 0, "px",
	    "the cameras' full frames, for tables that do not say them", NULL },
	{ 0, "projector", "WxH", OPT_SIZE, AT(projector), NULL, 1, 65535, "px",
	    "calibrate a projector of that size, too", NULL },
	{ 0, "projector-points", "FILE", OPT_FILE, AT(projector_points), NULL, 0, 0, NULL,
	    "the corners in projector pixels, tables as those of the first camera", NULL },
	{ 0, "model", "MODEL", OPT_WORD, AT(model), "opencv5", 0, 0, NULL,
	    "lens: none, or OpenCV's with so many numbers", models },
	{ 0, "warp", NULL, OPT_FLAG, AT(warp), NULL, 0, 0, NULL,
	    "find how the board is bent, too", NULL },
	{ 0, "fix", "WHAT,...", OPT_TEXT, AT(fix), NULL, 0, 0, NULL,
	    "hold center, aspect, tangential, k3 or a device's: left.center", NULL },
	{ 0, "weights", "KIND", OPT_WORD, AT(weights), "sigma", 0, 0, NULL,
	    "each point counts by its own sigma, or all alike", weights },
	{ 0, "reject", "K", OPT_NUMBER, AT(reject), "3.5", 0, 1000, "standard deviations",
	    "leave points out that are farther off; 0: none", NULL },
	{ 0, "frame", "NAME", OPT_TEXT, AT(frame), NULL, 0, 0, NULL,
	    "whose coordinates the poses are in; the first camera's if not given", NULL },
	{ 0 },
};
