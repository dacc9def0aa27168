#include "options.h"

#include <math.h>
#include <stddef.h>

#include "feature/board.h"
#include "feature/derivatives.h"

const char *const lasercal_modes[LASERCAL_MODES] = { "plane", "direction", "axis" };

static const char *const channels[] = { "red", "green", "blue", NULL };

#define AT(field) offsetof(struct parameters, field)

const struct opt lasercal_options[] = {
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "the camera's matrix and lens; -o writes what was found beside them", NULL },
	{ 0, "camera", "NAME", OPT_TEXT, AT(camera), NULL, 0, 0, NULL,
	  "devices.NAME of a calibration of several", NULL },
	{ 0, "board", "WxH,MM", OPT_TEXT, AT(board), NULL, 0, 0, NULL,
	  "points along both sides and their distance; else the corners' keys say it", NULL },
	{ 0, "kind", "WORD", OPT_WORD, AT(kind), "chess", 0, 0, NULL, "of --board", board_kinds },
	{ 0, "corners", "FILE", OPT_STREAM, AT(corners), NULL, 0, 0, NULL,
	  "plane: the tables of boardfind, one for each table of the line's points", NULL },
	{ 0, "off", "FILE", OPT_STREAM, AT(off), NULL, 0, 0, NULL,
	  "plane: a folder or stream of pictures with the laser off, one for each", NULL },
	{ 0, "sigma", "PX", OPT_NUMBER, AT(sigma), "2", DERIVATIVES_SIGMA_LEAST, 64, "px",
	  "plane: smoothing that the line is found with, as steger --sigma", NULL },
	{ 0, "channel", "WORD", OPT_WORD, AT(channel), NULL, 0, 0, NULL,
	  "of colour pictures", channels },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(origin), NULL, -1e6, 1e6, "px",
	  "first pixel of a foreign crop on the calibrated sensor", NULL },
	{ 0, "step", "MM", OPT_NUMBER, AT(pose.step), NULL, -1e6, 1e6, "mm",
	  "direction: travel from picture to picture", NULL },
	{ 0, "angle", "DEG", OPT_ANGLE, AT(pose.angle), NULL, -360, 360, NULL,
	  "axis: turn from picture to picture", NULL },
	{ 0, "pose-from", "KEY", OPT_TEXT, AT(pose.key), NULL, 0, 0, NULL,
	  "where the stage stood: NAME_mm or NAME_deg [stage_mm or stage_deg]", NULL },
	{ 0, "limit", "MM", OPT_NUMBER, AT(limit), NULL, 1e-9, 1e9, "mm",
	  "plane: points farther off do not count; 5 MAD if not given", NULL },
	{ 0, "plain", NULL, OPT_FLAG, AT(plain), NULL, 0, 0, NULL,
	  "plane: all points count; direction: the mean of differences", NULL },
	{ 0 },
};

int
options_check(const struct parameters *parameters, enum mode mode)
{
	bool given[] = { parameters->corners, parameters->off, !isnan(parameters->limit),
		!isnan(parameters->pose.step), !isnan(parameters->pose.angle),
		parameters->pose.key, parameters->plain };
	static const char *const name[] = { "--corners", "--off", "--limit", "--step", "--angle",
		"--pose-from", "--plain" };
	static const char *const of[LASERCAL_MODES] = { "yyynnny", "nnnynyy", "nnnnyyn" };

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i] && of[mode][i] == 'n')
			return fail_usage(name[i], "has no meaning for lasercal %s",
			    lasercal_modes[mode]);
	return parameters->plain && !isnan(parameters->limit) ?
	    fail_usage("--limit", "and --plain contradict each other") : 0;
}
