#include "feature/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

#define SIDE_LEAST 3
#define SIDE_MOST 100

const char *const board_kinds[] = { "chess", "circles", "acircles", NULL };

static int
check_side(const char *option, long side)
{
	return side >= SIDE_LEAST && side <= SIDE_MOST
	    ? 0
	    : fail_usage(option, "%ld points along a side: a board has %d to %d", side, SIDE_LEAST,
		  SIDE_MOST);
}

/* "11x8" in the first `n` bytes of text. */
static int
parse_size(const char *option, const char *text, size_t n, long side[2])
{
	char word[64];
	char *x;

	if (n >= sizeof(word))
		n = sizeof(word) - 1;
	memcpy(word, text, n);
	word[n] = '\0';
	x = strchr(word, 'x');
	if (x)
		*x = '\0';
	if (!x || integer_parse(word, &side[0]) < 0 || integer_parse(x + 1, &side[1]) < 0)
		return fail_usage(option,
		    "wants the points along both sides and their distance, as 11x8,15, not '%.60s'",
		    text);
	return check_side(option, side[0]) < 0 ? -1 : check_side(option, side[1]);
}

int
board_parse(const char *option, const char *text, enum board_kind kind, struct board *board)
{
	const char *comma = strchr(text, ',');
	size_t n = comma ? (size_t)(comma - text) : strlen(text);
	bool turned;
	long side[2];

	*board = (struct board){ .kind = kind };
	if (parse_size(option, text, n, side) < 0)
		return -1;
	if (comma &&
	    (number_parse(comma + 1, &board->spacing_mm) < 0 ||
		!(board->spacing_mm >= 1e-6 && board->spacing_mm <= 1e6)))
		return fail_usage(option,
		    "the distance of the points must be 1e-6 to 1e6 mm, not '%.60s'", comma + 1);
	turned = kind != BOARD_ACIRCLES && side[0] < side[1];
	board->w = (size_t)side[turned];
	board->h = (size_t)side[!turned];
	return 0;
}

void
board_point(const struct board *board, long i, long j, double xy[2])
{
	xy[0] = board->kind == BOARD_ACIRCLES ? 2.0 * (double)i + (double)(j & 1) : (double)i;
	xy[1] = (double)j;
}

void
board_middle(const struct board *board, double xy[2])
{
	xy[0] =
	    board->kind == BOARD_ACIRCLES ? (double)board->w - 0.5 : 0.5 * (double)(board->w - 1);
	xy[1] = 0.5 * (double)(board->h - 1);
}

void
corners_free(struct corners *corners)
{
	free(corners->corner);
	*corners = (struct corners){ 0 };
}
