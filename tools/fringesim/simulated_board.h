/* What a simulated scene does differently where a board stands in it, and the camera's blur. */
#ifndef FRINGESIM_SIMULATED_BOARD_H
#define FRINGESIM_SIMULATED_BOARD_H

#include "simulated_scene.h"

/* Options that do not go with a board, or with nothing else. -1 after fail_usage(). */
int simulated_board_check(const struct simulated_scene_options *, enum scene_kind);
/* Places the board, if there is one, and chooses the samples of a pixel. -1 after fail(). */
int simulated_board_open(struct simulated_scene *, const struct simulated_scene_options *);
/* Sets share[] of all samples that see the board. */
void simulated_board_paint(struct simulated_scene *, struct run *);

#endif
