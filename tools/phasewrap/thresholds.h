/* Where the thresholds of Gray planes come from. */
#include "fringe/capture_set.h"

/* reference: for each code the fringe set whose mean is its threshold. limited: some option is a
 * limit on amplitude or mean. -1 after fail(). */
static int
thresholds_plan(const struct capture_set *shots, bool limited, size_t reference[2])
{
	for (size_t i = 0; i < shots->codes; i++) {
		reference[i] = 0;
		for (size_t k = shots->fringes; k > 0; k--)
			if (shots->fringe[k - 1].axis == shots->code[i].axis)
				reference[i] = k - 1;
		if (!shots->fringes && !shots->flats && !shots->code[i].inverse)
			return fail(NULL, "nothing tells dark from bright in the Gray planes: "
			    "their inverses do (--inverse), white and black (--flats 2), or "
			    "fringe images");
	}
	if (!shots->fringes && shots->flats < 2 && limited)
		return fail(NULL, "without fringe images --min-amplitude, --min-modulation and "
		    "--dark need white and black (--flats 2)");
	return 0;
}
