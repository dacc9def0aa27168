#include "options.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "io/safe_file.h"
#include "io/target.h"

#define AT(field) offsetof(struct parameters, field)

const struct opt framecmp_options[] = {
	{ 0, "max", "T", OPT_NUMBER, AT(limits.max), NULL, 0, INFINITY, NULL,
	  "allow |a - b| up to T", NULL },
	{ 0, "rms", "T", OPT_NUMBER, AT(limits.rms), NULL, 0, INFINITY, NULL,
	  "allow a root mean square of a - b up to T", NULL },
	{ 0, "relative", "T", OPT_NUMBER, AT(limits.relative), NULL, 0, INFINITY, NULL,
	  "allow |a - b| up to T times the larger of |a| and |b|", NULL },
	{ 0, "ulp", "N", OPT_NUMBER, AT(limits.ulp), NULL, 0, INFINITY, NULL,
	  "allow N steps to the next representable number", NULL },
	{ 0, "quantile", "Q,T", OPT_NUMBERS, AT(limits.quantile), NULL, 0, INFINITY, NULL,
	  "a share Q of all |a - b| must be T or less", NULL },
	{ 't', "turns", NULL, OPT_FLAG, AT(turns), NULL, 0, 0, NULL,
	  "phases: differences of whole turns (2 pi) count as none", NULL },
	{ 'c', "channels", "LIST", OPT_TEXT, AT(channels), NULL, 0, 0, NULL,
	  "only these channels; a:b compares a of A with b of B", NULL },
	{ 0, "nan", "WORD", OPT_WORD, AT(limits.nan), "agree", 0, 0, NULL,
	  "NaN in one alone is a difference, or is left out", compare_nans },
	{ 0, "margin", "N", OPT_INTEGER, AT(margin), "0", 0, 1e9, "px",
	  "leave a border out", NULL },
	{ 0, "meta", NULL, OPT_FLAG, AT(meta), NULL, 0, 0, NULL,
	  "metadata must agree too, cmd.N excepted", NULL },
	{ 0, "table", NULL, OPT_FLAG, AT(table), NULL, 0, 0, NULL,
	  "print a table of all differences; with --to a histogram", NULL },
	{ 0, "to", "MESH", OPT_FILE, AT(to.mesh), NULL, 0, 0, NULL,
	  "signed distances of A's points from a mesh: PLY, OBJ or STL", NULL },
	{ 0, "icp", NULL, OPT_FLAG, AT(to.icp), NULL, 0, 0, NULL,
	  "with --to: move the points onto the mesh first", NULL },
	{ 0, "within", "MM", OPT_NUMBER, AT(to.within), NULL, 1e-9, 1e9, "mm",
	  "with --to: points farther off do not count", NULL },
	{ 0, "coverage", "SHARE", OPT_NUMBER, AT(to.coverage), NULL, 1e-6, 1, NULL,
	  "with --to: of the mesh that faces the camera, SHARE must have points nearby", NULL },
	{ 0, "deviation", "FILE", OPT_TEXT, AT(to.deviation), NULL, 0, 0, NULL,
	  "with --to: write A's frames with a channel deviation there", NULL },
	{ 0 },
};

static int
check_to(const struct run *run, const struct parameters *p)
{
	const char *other = p->turns ? "--turns" : p->channels ? "--channels" : p->margin ?
	    "--margin" : p->meta ? "--meta" : !isnan(p->limits.ulp) ? "--ulp" :
	    !isnan(p->limits.relative) ? "--relative" : NULL;

	if (other)
		return fail_usage(other, "does not go with --to");
	if (run->operands != 1)
		return fail_usage(NULL, "with --to wants one file A, not %zu; - is standard input",
		    run->operands);
	if (p->to.deviation && !strcmp(p->to.deviation, "-"))
		return fail_usage("--deviation", "standard output has the text: name a file");
	if (safe_file_same(p->to.deviation, run->output))
		return fail_usage("--deviation", "is the file of --output");
	return p->to.deviation ? target_check(p->to.deviation, run->force) : 0;
}

static int
check_below_half_turn(const char *option, double limit)
{
	return limit < M_PI ? 0 : fail_usage(option, "of %g allows everything: with --turns no "
	    "difference is larger than pi", limit);
}

/* Limits that no two numbers of one sign, or no two at all, can exceed. */
static int
check_can_fail(const struct parameters *p)
{
	const struct compare_limits *limits = &p->limits;

	if (limits->relative >= 2)
		return fail_usage("--relative", "of %g allows everything: no two numbers differ "
		    "by more than twice the larger one", limits->relative);
	if (limits->relative >= 1)
		warn("--relative", "%g allows any two numbers of the same sign: it is a share of "
		    "the larger one, not per cent", limits->relative);
	if (!p->turns)
		return 0;
	for (size_t i = 1; i < limits->quantile.n; i += 2)
		if (check_below_half_turn("--quantile", limits->quantile.v[i]) < 0)
			return -1;
	if (check_below_half_turn("--max", isnan(limits->max) ? 0 : limits->max) < 0)
		return -1;
	return check_below_half_turn("--rms", isnan(limits->rms) ? 0 : limits->rms);
}

int
options_check(const struct run *run, const struct parameters *parameters)
{
	const struct compare_limits *limits = &parameters->limits;
	const struct numbers *q = &limits->quantile;
	const struct to_mesh_options *to = &parameters->to;
	const char *needs_to = to->icp ? "--icp" : to->deviation ? "--deviation" :
	    !isnan(to->within) ? "--within" : !isnan(to->coverage) ? "--coverage" : NULL;

	for (size_t i = 0; i < q->n; i += 2)
		if (q->n % 2 || q->v[i] > 1.0 || q->v[i] == 0.0)
			return fail_usage("--quantile", "wants a share above 0, up to 1, and a "
			    "threshold: Q,T");
	if (to->mesh)
		return check_to(run, parameters);
	if (needs_to)
		return fail_usage(needs_to, "wants --to");
	if (run->operands != 2)
		return fail_usage(NULL, "wants two files A and B, not %zu; - is standard input",
		    run->operands);
	if (parameters->turns && (!isnan(limits->ulp) || !isnan(limits->relative)))
		return fail_usage("--turns", "does not go with --ulp or --relative");
	if (parameters->turns && !compare_limited(limits))
		return fail_usage("--turns", "wants --max, --rms or --quantile");
	return check_can_fail(parameters);
}
