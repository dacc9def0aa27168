#include "matching_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unwrap/phase_anchor.h"
#include "unwrap/phase_mean.h"

#define TWO_PI 6.283185307179586

/* The phases that both sides have. */
struct phases {
	size_t n;
	size_t number[PHASES_MOST];	/* absphase2: 2; absphase: 0 */
	double period_px[PHASES_MOST];	/* NaN: not known */
};

/* The number behind a name of base `absphase`; 0: it is another one. */
static size_t
number_of(const char *name)
{
	const char *digits = name + strlen("absphase");

	if (strncmp(name, "absphase", strlen("absphase")) || *digits < '1' || *digits > '9' ||
	    strspn(digits, "0123456789") != strlen(digits))
		return 0;
	return (size_t)strtoul(digits, NULL, 10);
}

static int
find_phases(const struct run *run, const struct frame_head *in, size_t channels, struct phases *out)
{
	size_t c;

	out->n = 0;
	for (size_t i = 0; i < channels; i++) {
		size_t number = number_of(in->channel[i]), at = out->n;

		if (number == 0)
			continue;
		if (out->n == PHASES_MOST)
			return fail(NULL, "has more than %d absolute phases", PHASES_MOST);
		for (; at > 0 && out->number[at - 1] > number; at--)
			out->number[at] = out->number[at - 1];
		out->number[at] = number;
		out->n++;
	}
	if (out->n)
		return 0;
	out->n = 1;
	out->number[0] = 0;
	out->period_px[0] = NAN;
	return run_channel(run, in, "absphase", &c);
}

static bool
are_alike(const struct numbers *a, const struct numbers *b)
{
	bool alike = a->n == b->n;

	for (size_t i = 0; i < a->n && alike; i++)
		alike = fabs(a->v[i] - b->v[i]) <= 1e-9 * fabs(a->v[i]);
	return alike;
}

/* Of one phase the two may say nothing, or one of them may. */
static int
compare_periods(const char *path, const char *key, const struct frame_head *in,
    const struct frame_head *right, bool needed)
{
	struct numbers own, other;
	const char *left_text = meta_get(&in->meta, key), *right_text = meta_get(&right->meta, key);
	int status = 0;

	if (!needed && (!left_text || !right_text))
		return 0;
	if (!left_text || !right_text)
		return fail(left_text ? path : NULL, "there are several phases, but no key %s "
		    "with their periods (unwrap2f --all writes it)", key);
	if (meta_numbers(&in->meta, key, &own) < 0)
		return -1;
	if (meta_numbers(&right->meta, key, &other) < 0) {
		numbers_free(&own);
		fail_prefix(path);
		return -1;
	}
	if (!are_alike(&own, &other))
		status = fail(path, "%s is %s, that of the input %s", key, right_text, left_text);
	numbers_free(&own);
	numbers_free(&other);
	return status;
}

/* The key of the periods of several phases: absphase_period_px, or period_px if it has as many. */
static int
read_periods(const char *path, const struct frame_head *in, const struct frame_head *right,
    struct phases *phases)
{
	const char *key = "absphase_period_px";
	struct numbers periods;
	int status = 0;

	if (phases->number[0] == 0)
		return compare_periods(path, "period_px", in, right, false);
	if (!meta_get(&in->meta, key) && meta_get(&in->meta, "period_px") &&
	    meta_words(meta_get(&in->meta, "period_px")) == phases->n)
		key = "period_px";
	if (compare_periods(path, key, in, right, true) < 0 ||
	    meta_numbers(&in->meta, key, &periods) < 0)
		return -1;
	if (periods.n != phases->n)
		status = fail(NULL, "key %s has %zu periods for %zu phases", key, periods.n,
		    phases->n);
	for (size_t i = 0; i < periods.n && status == 0; i++) {
		phases->period_px[i] = periods.v[i];
		if (!(periods.v[i] > 0 && periods.v[i] < 1e6))
			status = fail(NULL, "key %s: %g is no period", key, periods.v[i]);
	}
	numbers_free(&periods);
	return status;
}

/* A phase along y, or one that is known up to whole turns only, cannot be matched. */
static int
check_phase(const char *object, const struct frame_head *head)
{
	const char *axis = meta_get(&head->meta, "axis");

	if (axis && !strcmp(axis, "y"))
		return fail(object, "the phase runs along y (key axis): rows are matched by a "
		    "phase along x");
	if (phase_anchor_is_relative(&head->meta))
		return fail(object, "absphase is known up to whole turns only: "
		    "--anchor or a marker makes it absolute");
	return 0;
}

static int
find_channel(const struct run *run, const struct frame_head *in, bool of_right, const char *base,
    size_t number, size_t *c)
{
	char name[32] = "";

	if (number)
		snprintf(name, sizeof(name), "%s%zu", base, number);
	else
		snprintf(name, sizeof(name), "%s", base);
	return of_right ? run_second_input(run, in, "right", name, c) :
	    run_channel(run, in, name, c);
}

static int
check_right(const struct run *run, const char *path, const struct frame_head *in,
    const struct phases *phases)
{
	size_t c;

	for (size_t i = 0; i < phases->n; i++)
		if (find_channel(run, in, true, "absphase", phases->number[i], &c) < 0) {
			fail_prefix(path);
			return -1;
		}
	return 0;
}

/* A channel's index; NO_CHANNEL where it is not there, which is no failure. */
static size_t
look_up(const struct frame_head *head, const char *prefix, const char *base, size_t number)
{
	char name[48] = "";

	if (number)
		snprintf(name, sizeof(name), "%s%s%zu", prefix, base, number);
	else
		snprintf(name, sizeof(name), "%s%s", prefix, base);
	return head_channel(head, name);
}

/* Phases first .. first + n - 1 as one map. */
static int
make_map(const struct run *run, const struct frame_head *in, const struct phases *phases,
    size_t first, size_t n, bool of_right, double residual_most, struct value_map *map)
{
	const double *period_px = &phases->period_px[first];
	double weight[PHASES_MOST] = { 1 };
	double unit = isnan(period_px[0]) ? 1 : period_px[0] / TWO_PI;

	memset(map, 0, sizeof(*map));
	map->phases = n;
	map->unit = (float)unit;
	map->variance_most = (float)(residual_most / unit * (residual_most / unit));
	map->has_sigma = true;
	if (n > 1)
		phase_mean_weights(period_px, NULL, n, weight);
	for (size_t i = 0; i < n; i++) {
		size_t number = phases->number[first + i];

		if (find_channel(run, in, of_right, "absphase", number, &map->channel[i]) < 0)
			return -1;
		map->sigma[i] = look_up(in, of_right ? "right." : "", "sigma", number);
		map->has_sigma &= map->sigma[i] != NO_CHANNEL;
		map->scale[i] = n > 1 ? (float)(period_px[i] / period_px[0]) : 1;
		map->weight[i] = (float)weight[i];
	}
	return 0;
}

static double
shortest(const struct phases *phases)
{
	double period_px = phases->period_px[0];

	for (size_t i = 1; i < phases->n; i++)
		period_px = fmin(period_px, phases->period_px[i]);
	return period_px;
}

int
matching_plan(const struct run *run, const char *path, const struct frame_head *in,
    double residual_most, bool votes, struct phasematch *priv)
{
	const struct frame_head *right = run_second_input_head(run, "right", 0);
	struct matching *matching = &priv->matching;
	struct phases phases;
	size_t each;

	if (find_phases(run, in, in->c - right->c, &phases) < 0 ||
	    check_right(run, path, in, &phases) < 0 || check_phase(NULL, in) < 0 ||
	    check_phase(path, right) < 0 || read_periods(path, in, right, &phases) < 0)
		return -1;
	if (votes && phases.n < 2)
		return fail("--vote", "there is one phase: nothing can vote (unwrap2f --all gives "
		    "several)");
	matching->maps = votes ? phases.n : 1;
	each = votes ? 1 : phases.n;
	matching->sigma = !votes;
	priv->phases = phases.n;
	memcpy(priv->number, phases.number, sizeof(priv->number));
	for (size_t k = 0; k < matching->maps; k++) {
		double period_px = votes ? phases.period_px[k] : shortest(&phases);

		if (make_map(run, in, &phases, k, each, false, residual_most, &matching->left[k]) <
		    0 || make_map(run, in, &phases, k, each, true, residual_most,
		    &matching->right[k]) < 0)
			return -1;
		matching->sigma &= matching->left[k].has_sigma && matching->right[k].has_sigma;
		priv->radian[k] = isnan(period_px) ? 1 : period_px / TWO_PI;
	}
	return 0;
}
