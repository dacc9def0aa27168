/* A frame is made: which of the checks has a word. */
#include "unwrap2f.h"

#include "run/stage.h"

void
unwrap2f_after(struct run *run)
{
	struct unwrap2f *unwrap = run->priv;

	beat_check_warn(&unwrap->beat);
	if (unwrap->method == METHOD_BEST)	/* before residuals, which name no cause */
		unwrap->offset.off |= field_check_warn(&unwrap->offset, &unwrap->search,
		    unwrap->period_px[0], unwrap->period_px[1]);
	/* one warning is enough */
	unwrap->check.off |= unwrap->beat.warned | unwrap->offset.off;
	residual_check_warn(&unwrap->check, "residual");
	unwrap->offset.off |= unwrap->check.warned;
	unwrap->jumps.off |= unwrap->offset.off | unwrap->beat.warned;
	jump_check_warn(&unwrap->jumps, unwrap->method == METHOD_GRAY);
	unwrap->offset.off |= unwrap->jumps.off;
	offset_check_warn(&unwrap->offset);
	if (!unwrap->offset.off && !unwrap->beat.warned)
		period_conflict_warn(&unwrap->conflict);
}
