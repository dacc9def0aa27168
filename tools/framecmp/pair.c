#define _GNU_SOURCE
#include "pair.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"

int
pair_differ(struct run *run, const char *format, ...)
{
	struct pair *priv = run->priv;
	va_list args;
	char *text;
	int n;

	run->status = DIFFERENT;
	if (run->quiet)
		return 0;
	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return fail_memory();
	escape_put_text(priv->out, text);
	fputc('\n', priv->out);
	free(text);
	return 0;
}

/* As source_next(). PAIR_LOST: with --keep-going, where others follow in the folder. */
static int
take(struct run *run, struct source *source, struct frame **frame)
{
	struct fail_record failure;
	int got = source_next(source, frame);

	if (got >= 0)
		return got;
	fail_take(&failure);
	got = run_keeps_going(run) && source_skip(source) ? PAIR_LOST : -1;
	fail_put(&failure);
	return got;
}

int
pair_next(struct run *run)
{
	struct pair *priv = run->priv;
	int a, b;

	frame_free(priv->frame_a);
	frame_free(priv->frame_b);
	priv->frame_a = priv->frame_b = NULL;
	a = take(run, priv->a, &priv->frame_a);
	b = a < 0 ? -1 : take(run, priv->b, &priv->frame_b);
	if (a < 0 || b < 0)
		return -1;
	if (a && b && (a == PAIR_LOST || b == PAIR_LOST))
		return PAIR_LOST;
	fail_clear();
	if (a != b)
		pair_differ(run, "%s ends after %zu frame%s, %s goes on", a ? "B" : "A",
		    priv->frames, priv->frames == 1 ? "" : "s", a ? "A" : "B");
	return a && b;
}
