#include "thresholds.h"

#include "base/fail.h"

int
thresholds_plan(const struct capture_set *captures, bool limited, size_t reference[2])
{
	for (size_t i = 0; i < captures->codes; i++) {
		reference[i] = 0;
		for (size_t k = captures->fringes; k > 0; k--)
			if (captures->fringe[k - 1].axis == captures->code[i].axis)
				reference[i] = k - 1;
		if (!captures->fringes && !captures->flats && !captures->code[i].inverse)
			return fail(NULL, "nothing tells dark from bright in the Gray planes: "
			    "their inverses do (--inverse), white and black (--flats 2), or "
			    "fringe images");
	}
	if (!captures->fringes && captures->flats < 2 && limited)
		return fail(NULL, "without fringe images --min-amplitude, --min-modulation and "
		    "--dark need white and black (--flats 2)");
	return 0;
}
