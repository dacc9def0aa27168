#include "frame/key_option.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/opt.h"

static int
fail_word(const char *key, const char *const *words, const char *value)
{
	char list[200] = "";

	for (size_t i = 0; words[i]; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
		    i ? " or " : "", words[i]);
	return fail(key, "must be %s, not '%.60s'", list, value);
}

int
key_option_word(int option, const struct meta *meta, const char *key, const char *const *words,
    int otherwise, int *out)
{
	const char *value = meta_get(meta, key);

	*out = option >= 0 ? option : otherwise;
	if (option >= 0 || !value)
		return 0;
	for (*out = 0; words[*out]; ++*out)
		if (!strcmp(words[*out], value))
			return 0;
	return fail_word(key, words, value);
}

int
key_option_whole(long option, const struct meta *meta, const char *key, long low, long high,
    long otherwise, long *out)
{
	double v;

	*out = option != OPT_NONE_INTEGER ? option : otherwise;
	if (option != OPT_NONE_INTEGER || !meta_get(meta, key))
		return 0;
	if (meta_number(meta, key, NAN, &v) < 0)
		return -1;
	if (!(v >= (double)low && v <= (double)high && v == floor(v)))
		return fail(key, "must be a whole number from %ld to %ld, not %g", low, high, v);
	*out = (long)v;
	return 0;
}

int
key_pair_replace(struct meta *meta, const char *key, const double v[2])
{
	return meta_get(meta, key) ? meta_set_numbers(meta, key, v, 2) : 0;
}

int
key_pair(const struct meta *meta, const char *key, double out[2])
{
	struct numbers list;
	bool valid;

	if (!meta_get(meta, key))
		return 0;
	if (meta_numbers(meta, key, &list) < 0)
		return -1;
	valid = list.n == 2 && isfinite(list.v[0]) && isfinite(list.v[1]);
	if (valid)
		memcpy(out, list.v, sizeof(double[2]));
	numbers_free(&list);
	return valid ? 0 : fail(key, "must be two numbers, not '%.60s'", meta_get(meta, key));
}

int
key_option_range(const struct numbers *option, const char *name, const struct meta *meta,
    const char *key, double out[2])
{
	out[0] = out[1] = NAN;
	if (option->n == 1)
		return fail_usage(name, "must be two numbers LO,HI: %g is one", option->v[0]);
	if (option->n && option->n != 2)
		return fail_usage(name, "must be two numbers, not %zu of them", option->n);
	if (option->n)
		memcpy(out, option->v, sizeof(double[2]));
	else if (key_pair(meta, key, out) < 0)
		return -1;
	if (!isnan(out[0]) && !isfinite(out[1] - out[0]))
		return fail(option->n ? name : key, "must be two finite depths, not %g and %g",
		    out[0], out[1]);
	if (!isnan(out[0]) && !(out[0] < out[1]))
		return fail(option->n ? name : key, "the first depth must be less than the second, "
		    "not %g and %g", out[0], out[1]);
	return 0;
}

void
key_option_warn_word(int option, const struct meta *meta, const char *key,
    const char *const *words)
{
	const char *own = meta_get(meta, key);

	if (option >= 0 && own && strcmp(own, words[option]) != 0)
		warn(key, "the picture says %.60s, the option's %s is used", own, words[option]);
}

void
key_option_warn_whole(long option, const struct meta *meta, const char *key)
{
	const char *own = meta_get(meta, key);
	double v;

	if (option != OPT_NONE_INTEGER && own &&
	    (number_parse(own, &v) < 0 || v != (double)option))
		warn(key, "the picture says %.60s, the option's %ld is used", own, option);
}

void
key_option_warn_range(const struct numbers *option, const struct meta *meta, const char *key)
{
	double own[2] = { NAN, NAN }, slack;

	if (option->n != 2 || key_pair(meta, key, own) < 0 || isnan(own[0]))
		return;
	slack = 1e-6 * (own[1] - own[0]);
	if (fabs(own[0] - option->v[0]) > slack || fabs(own[1] - option->v[1]) > slack)
		warn(key, "the picture says %g to %g, the option's %g to %g is used", own[0],
		    own[1], option->v[0], option->v[1]);
}
