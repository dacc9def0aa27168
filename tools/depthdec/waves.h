/* Coarse and fine depth of mwd and fold say the same twice: do they agree? */
#ifndef DEPTHDEC_WAVES_H
#define DEPTHDEC_WAVES_H

#include "depthcode/depthcode.px.h"
#include "frame/frame.h"
#include "planes.h"

struct waves {
	bool judged;
};

/* For survey; does nothing for luma alone. Looks at a coarse grid of the first frame that has a
 * hundred depths there, and warns where too many of them disagree. */
void waves_judge(struct waves *, const struct depthcode_code *, const struct frame *,
    const struct planes *);

#endif
