#include "run/times.h"

#include <math.h>
#include <stdio.h>

#include "base/progress.h"

/* With fewer threads than were measured it takes longer. */
double
times_fewer_threads(const struct chain *chain)
{
	return chain->threads < chain->costs->threads ?
	    (double)chain->costs->threads / chain->threads : 1;
}

/* Expected seconds for a frame; NaN where it is not known. */
double
times_expected(const struct link *link, bool on_device)
{
	const struct chain *chain = link->run.chain;
	const struct cost_stage *stage =
	    chain->costs ? costs_stage(chain->costs, link->run.stage->name) : NULL;

	if (!stage)
		return NAN;
	return link_samples(link) *
	    (on_device ? stage->device_s : stage->processor_s * times_fewer_threads(chain));
}

void
times_print(const char *before, const struct link *link, bool on_device)
{
	const struct timing *timing = &link->timing[on_device];
	double soon = link->planned ? times_expected(link, on_device) : NAN;

	fprintf(stderr, "%s %s", before, link->run.stage->name);
	if (!isnan(timing->seconds))
		fprintf(stderr, " %.3f ms", 1e3 * timing->seconds / (double)timing->frames);
	if (!isnan(soon))
		fprintf(stderr, " (%.3f expected)", 1e3 * soon);
}

/* "NAME: on the processor: phasewrap 0.400 ms, gauss 0.900 ms a frame" */
static void
report_processor(const struct chain *chain)
{
	size_t n = 0;

	for (size_t i = 0; i < chain->n; i++)
		if (chain->link[i].timing[false].frames) {
			if (n == 0)
				fprintf(stderr, "%s: on the processor:", fail_program());
			times_print(n++ ? "," : "", &chain->link[i], false);
		}
	if (n)
		fprintf(stderr, " a frame\n");
}

void
times_report(const struct chain *chain)
{
	double spent = progress_seconds() - chain->start;

	if (!chain->verbose)
		return;
	report_processor(chain);
	if (chain->frames)
		fprintf(stderr, "%s: %zu frames in %.4f s, %.2f frames/s\n", fail_program(),
		    chain->frames, spent, (double)chain->frames / spent);
}
