/* kalman on the device: one pass. */
#include "kalman.h"

#include "run/passes.h"
#include "run/stage.h"

int
kalman_passes(struct run *run, struct passes *passes)
{
	const struct kalman *kalman = run->priv;
	struct pass pass = { .shader = SHADER(kalman), .block = &kalman->block,
		.bytes = sizeof(kalman->block), PASS_FOURS };

	for (size_t i = 0; i < kalman->channels.values; i++)
		passes_read(passes, kalman->channels.value[i]);
	if (kalman->channels.sigma_in != NO_CHANNEL)
		passes_read(passes, kalman->channels.sigma_in);
	return passes_add(passes, &pass);
}
