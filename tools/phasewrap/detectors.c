#include "detectors.h"

#include "base/fail.h"
#include "late_start.h"

#define ROUNDING 0.25		/* levels: rounding alone leaves amplitudes of some 0.2 */

void
detectors_init(struct detectors *detectors, bool verbose)
{
	detectors->verbose = verbose;
	detectors->removed.off = !verbose;
}

/* A limit below what rounding leaves where nothing is lit, a mean square of 1/12, keeps all of it;
 * and with a limit given, check_unlit has nothing to look for. */
static void
check_limit(struct detectors *detectors, double least_amplitude, bool whole)
{
	if (!detectors->limit_checked && whole && least_amplitude > 0 && least_amplitude < ROUNDING)
		warn("--min-amplitude", "%g levels of images of whole numbers, which rounding "
		    "alone reaches, leave nothing out: it is no ratio, as --min-modulation is",
		    least_amplitude);
	detectors->limit_checked = true;
}

int
detectors_plan(struct detectors *detectors, const struct phasewrap *wrap,
    const struct frame_head *head, struct detectors_known known, char *const *operand,
    size_t operands)
{
	check_limit(detectors, (double)wrap->limits.least_amplitude, known.whole);
	detectors->starts_unknown = !known.roles;
	/* of several exposures they know the first alone */
	detectors->removed.off |= wrap->exposures.n > 1;
	detectors->gray_check.described = known.roles;
	if (image_names_plan(&detectors->names, head, operand, operands) < 0 ||
	    removed_plan(&detectors->removed, head) < 0 ||
	    gray_check_plan(&detectors->gray_check, &wrap->captures, head) < 0)
		return -1;
	return 0;
}

/* Does a detector look at row y? Few rows; a call of each for all of them would cost as much as
 * what it looks at. */
static inline bool
is_looked_at(bool off, const struct coarse_grid *grid, size_t y)
{
	return !off && y % grid->step == 0;
}

void
detectors_row(const struct detectors *detectors, const struct phasewrap *wrap,
    const struct frame *in, const struct frame *out, size_t y)
{
	if (!detectors->removed.off)
		removed_row(&detectors->removed, wrap, in, out, y);
	if (is_looked_at(detectors->gray_check.off, &detectors->gray_check.grid, y))
		gray_check_row(&detectors->gray_check, &wrap->captures, in, y);
}

void
detectors_report(struct detectors *detectors, const struct phasewrap *wrap)
{
	const struct image_names *names = &detectors->names;

	if (detectors->verbose && detectors->starts_unknown)
		late_start_note(&wrap->captures);
	detectors->verbose = false;
	removed_report(&detectors->removed);
	gray_check_warn(&detectors->gray_check, &wrap->captures, names);
	detectors->names.measurement++;
}

void
detectors_free(struct detectors *detectors)
{
	image_names_free(&detectors->names);
	removed_free(&detectors->removed);
	gray_check_free(&detectors->gray_check);
}
