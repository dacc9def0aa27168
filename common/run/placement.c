#include "run/placement.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/device.h"
#include "run/pass_list.h"
#include "run/state.h"
#include "run/times.h"

_Static_assert(COST_MAPS_MOST >= SEGMENT_MOST, "all maps of a segment are weighed");

/* -d auto must change no byte: it takes what is declared exact, on a device that is exact. */
static bool
may_choose(const struct chain *chain, const struct link *link)
{
	return link->passes->exact && !link->passes->doubles &&
	    device_facts(chain->device)->exact;
}

static struct cost_map
map_of(const struct segment *segment, size_t k)
{
	const struct link *link = &segment->link[k];
	size_t in = frame_stride(link->in.w, link->in.type) * link->in.h;
	size_t out = frame_stride(link->out.w, link->out.type) * link->out.h;
	struct cost_map map = { .processor_s = times_expected(link, false), .device_s = NAN };

	if (!link->able || link->place == PLACE_PROCESSOR ||
	    (link->place == PLACE_AUTO && !may_choose(segment->chain, link)))
		return map;
	map.device_s = times_expected(link, true);
	if (link->place == PLACE_DEVICE) {
		map.processor_s = INFINITY;
		map.device_s = isnan(map.device_s) ? 0 : map.device_s;
	}
	for (size_t c = 0; c < link->in.c; c++)
		map.up_copies += passes_reads(link->passes, c);
	for (size_t c = 0; c < link->out.c; c++) {
		size_t producer = k, channel = c;

		map.down_copies += segment_produced_by(segment, &producer, &channel);
	}
	map.up_bytes = map.up_copies * in;
	map.down_bytes = map.down_copies * out;
	return map;
}

/* "NAME: gauss, median on DEVICE: 0.5 ms a frame expected (0.4 to 0.7); all on the processor: 2
 * ms" */
static void
report_choice(const struct segment *segment, struct cost_map *map)
{
	const struct chain *chain = segment->chain;
	const bool overlap = !state_used(segment);
	struct cost_span span = costs_predict(chain->costs, map, segment->n, overlap);
	size_t there = 0;

	fprintf(stderr, "%s:", fail_program());
	for (size_t k = 0; k < segment->n; k++)
		if (map[k].on_device) {
			fprintf(stderr, "%s %s", there++ ? "," : "",
			    segment->link[k].run.stage->name);
			map[k].on_device = false;
		}
	if (there)
		fprintf(stderr, " on %s: %.3f ms a frame expected (%.3f to %.3f);",
		    chain->costs->device, 1e3 * span.likely, 1e3 * span.best, 1e3 * span.worst);
	span = costs_predict(chain->costs, map, segment->n, overlap);
	fprintf(stderr, " all on the processor");
	if (!isnan(span.likely))
		fprintf(stderr, ": %.3f ms", 1e3 * span.likely);
	fputc('\n', stderr);
}

void
placement_choose(const struct segment *segment, bool on_device[])
{
	const struct chain *chain = segment->chain;
	const bool overlap = !state_used(segment);
	struct cost_map map[SEGMENT_MOST];
	bool free_choice = false;

	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];

		on_device[k] = link->able && link->place == PLACE_DEVICE;
		free_choice |= link->place == PLACE_AUTO;
	}
	if (!free_choice || !chain->device || !chain->costs ||
	    strcmp(chain->costs->device, device_facts(chain->device)->name))
		return;
	for (size_t k = 0; k < segment->n; k++)
		map[k] = map_of(segment, k);
	costs_decide(chain->costs, map, segment->n, overlap);
	for (size_t k = 0; k < segment->n; k++)
		on_device[k] = map[k].on_device;
	if (chain->verbose)
		report_choice(segment, map);
}

bool
placement_gains(const struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++) {
		const struct link *link = &chain->link[i];
		const struct cost_stage *stage = costs_stage(chain->costs, link->run.stage->name);

		if (link->place == PLACE_AUTO && stage &&
		    stage->device_s < stage->processor_s * times_fewer_threads(chain))
			return true;
	}
	return false;
}

void
placement_open_device(struct chain *chain)
{
	double worked = 0;

	for (size_t i = 0; i < chain->n; i++)
		worked += chain->link[i].timing[false].seconds;
	if (worked < chain->costs->open_s)
		return;
	chain->opens = false;
	if (device_open(chain->costs->device, chain->verbose, &chain->device) < 0) {
		if (chain->verbose)
			fprintf(stderr, "%s: all on the processor: %s\n", fail_program(),
			    fail_message());
		fail_clear();
		return;
	}
	for (size_t i = 0; i < chain->n; i++)
		chain->link[i].planned_anew = chain->link[i].planned;
}
