#include "tally.h"

bool
tally_add(struct tally *tally, const struct live_head *head)
{
	const bool known = tally->again && tally->received > 0 &&
	    head->number == tally->last_number && head->captured_us == tally->last_captured_us;

	tally->again = false;
	if (known)
		return false;
	/* numbers that begin again are those of a server that was started anew */
	if (tally->received > 0 && head->number > tally->last_number)
		tally->missing += head->number - tally->last_number - 1;
	tally->received++;
	tally->last_number = head->number;
	tally->last_captured_us = head->captured_us;
	return true;
}
