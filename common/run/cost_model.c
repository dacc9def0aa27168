/*
 * What computing costs here: kept in a file of the user's cache; how long a chain is expected to
 * take by it, and which of its maps the device is to do (Liu 2015, IV); what stages took, for -v.
 */
#include "run/cost_model.h"

#include <math.h>

#include "base/cache.h"
#include "base/process.h"
#include "base/text.h"
#include "run/bands.h"
#include "run/device.h"
#include "run/passes.h"
#include "run/segment.h"

_Static_assert(COST_MAPS_MOST >= SEGMENT_MOST, "all maps of a segment are weighed");

/* ---- what is known ---- */

struct cost_stage *
costs_stage(const struct costs *costs, const char *name)
{
	for (size_t i = 0; i < costs->stages; i++)
		if (!strcmp(costs->stage[i].name, name))
			return &costs->stage[i];
	return NULL;
}

void
costs_add(struct costs *costs, const char *name, double processor_s, double device_s)
{
	struct cost_stage *stage = costs_stage(costs, name);

	if (!stage) {
		costs->stage = must_resize(costs->stage, costs->stages + 1, sizeof(*stage));
		stage = &costs->stage[costs->stages++];
		*stage = (struct cost_stage){ .processor_s = NAN, .device_s = NAN };
		snprintf(stage->name, sizeof(stage->name), "%s", name);
	}
	if (!isnan(processor_s))
		stage->processor_s = processor_s;
	if (!isnan(device_s))
		stage->device_s = device_s;
}

void
costs_free(struct costs *costs)
{
	free(costs->stage);
	costs->stage = NULL;
	costs->stages = 0;
}

/* ---- the file ---- */

#define FIRST_LINE "fringepipe costs 1\n"

/* Lines "NAME NUMBER ...": a time, or a span of three. */
static const struct {
	const char *name;
	size_t at, numbers;
} lines[] = {
	{ "open", offsetof(struct costs, open_s), 1 },
	{ "latency", offsetof(struct costs, latency_s), 1 },
	{ "copy", offsetof(struct costs, copy_s), 1 },
	{ "up", offsetof(struct costs, up), 3 },
	{ "down", offsetof(struct costs, down), 3 },
};
#define LINES (sizeof(lines) / sizeof(*lines))

static bool
is_time(double seconds)
{
	return seconds >= 0 && seconds < 1e6;
}

/* One line; false where it is not understood. */
static bool
read_line(struct costs *costs, const char *line)
{
	char name[32] = "";
	double v[3];
	int numbers;

	if (sscanf(line, "device %255[^\n]", costs->device) == 1 ||
	    sscanf(line, "threads %d", &costs->threads) == 1)
		return true;
	if (sscanf(line, "stage %31s %lf %lf", name, &v[0], &v[1]) == 3) {
		costs_add(costs, name, is_time(v[0]) ? v[0] : NAN, is_time(v[1]) ? v[1] : NAN);
		return true;
	}
	numbers = sscanf(line, "%31s %lf %lf %lf", name, &v[0], &v[1], &v[2]) - 1;
	for (size_t i = 0; i < LINES; i++)
		if (!strcmp(name, lines[i].name) && numbers >= (int)lines[i].numbers) {
			memcpy((char *)costs + lines[i].at, v, lines[i].numbers * sizeof(*v));
			return is_time(v[0]) && (lines[i].numbers == 1 ||
			    (v[0] <= v[1] && v[1] <= v[2] && is_time(v[2])));
		}
	return false;
}

int
costs_parse(char *text, size_t bytes, struct costs *costs)
{
	bool good = strlen(text) == bytes && !strncmp(text, FIRST_LINE, strlen(FIRST_LINE));
	char *line, *rest = good ? text + strlen(FIRST_LINE) : NULL;

	*costs = (struct costs){ 0 };
	while (good && (line = strsep(&rest, "\n")) && *line)
		good = read_line(costs, line);
	good = good && costs->device[0] && costs->threads > 0;
	if (!good)
		costs_free(costs);
	return good;
}

int
costs_load(struct costs *costs)
{
	size_t bytes;
	char *path = cache_path("costs"), *text = cache_read(path, &bytes);
	int status = 0;

	*costs = (struct costs){ 0 };
	if (text)
		status = costs_parse(text, bytes, costs);
	free(path);
	free(text);
	return status;
}

void
costs_write(FILE *file, const struct costs *costs)
{
	fprintf(file, FIRST_LINE "device %s\nthreads %d\n", costs->device, costs->threads);
	for (size_t i = 0; i < LINES; i++) {
		const double *v = (const double *)((const char *)costs + lines[i].at);

		fputs(lines[i].name, file);
		for (size_t k = 0; k < lines[i].numbers; k++)
			fprintf(file, " %.4g", v[k]);
		fputc('\n', file);
	}
	for (size_t i = 0; i < costs->stages; i++)
		fprintf(file, "stage %s %.4g %.4g\n", costs->stage[i].name,
		    costs->stage[i].processor_s, costs->stage[i].device_s);
}

int
costs_save(const struct costs *costs)
{
	char *path = cache_path("costs"), *bytes;
	struct text text;
	size_t n;
	int status;

	if (!path)
		return fail(NULL, "no folder for the costs: neither XDG_CACHE_HOME nor "
		    "HOME is set");
	costs_write(text_open(&text), costs);
	bytes = text_close(&text, &n);
	status = cache_write(path, bytes, n) < 0 ? fail_errno(path, "could not be written") : 0;
	free(bytes);
	free(path);
	return status;
}

/* ---- decisions ---- */

/* Seconds of a frame by who spends them: the processor, copies up, the device, copies down; and
 * the latency of jobs, in which nobody works. */
struct shares {
	double processor, up, device, down, latency;
};

/* From map k - 1, or the host, to map k, or the host where k == n. Nothing comes from the device
 * before the first map. */
static void
cross(const struct costs *costs, const struct cost_map *map, size_t k, bool from, bool to,
    struct shares *shares)
{
	if (from == to || (from && k == 0))
		return;
	if (to) {
		shares->latency += costs->latency_s;
		shares->up += (double)map[k].up_copies * costs->copy_s +
		    (double)map[k].up_bytes * costs->up.likely;
	} else {
		shares->down += (double)map[k - 1].down_copies * costs->copy_s +
		    (double)map[k - 1].down_bytes * costs->down.likely;
	}
}

static double
sum_of(const struct shares *shares)
{
	return shares->processor + shares->up + shares->device + shares->down + shares->latency;
}

/* NaN where something is not known. */
static double
time_of(const struct shares *shares, bool overlap)
{
	double sum = sum_of(shares);

	if (!overlap || isnan(sum))
		return sum;
	return shares->latency + fmax(fmax(shares->processor, shares->device),
	    fmax(shares->up, shares->down));
}

/* What a map takes, to decide by: one without a known time on the processor costs nothing there,
 * so that it stays. */
static double
weight_of(const struct cost_map *map, bool on_device)
{
	if (on_device)
		return isnan(map->device_s) || isnan(map->processor_s) ? INFINITY : map->device_s;
	return isnan(map->processor_s) ? 0 : map->processor_s;
}

/* What a map takes, as it was measured. */
static double
seconds_of(const struct cost_map *map, bool on_device)
{
	return on_device ? map->device_s : map->processor_s;
}

/* Of the maps as they are placed. */
static struct shares
shares_of(const struct costs *costs, const struct cost_map *map, size_t n,
    double (*work)(const struct cost_map *, bool on_device))
{
	struct shares shares = { 0 };
	bool from = false;

	for (size_t k = 0; k < n; k++) {
		bool to = map[k].on_device;

		cross(costs, map, k, from, to, &shares);
		*(to ? &shares.device : &shares.processor) += work(&map[k], to);
		from = to;
	}
	cross(costs, map, n, from, false, &shares);
	return shares;
}

static double
step(const struct costs *costs, const struct cost_map *map, size_t k, bool from, bool to)
{
	struct shares shares = { 0 };

	cross(costs, map, k, from, to, &shares);
	return sum_of(&shares);
}

/* The least sum. */
static void
decide_by_sum(const struct costs *costs, struct cost_map *map, size_t n)
{
	double least[2] = { 0, INFINITY };	/* so far, ending on the processor, the device */
	bool came[COST_MAPS_MOST][2];		/* from the device? */
	bool on;

	for (size_t k = 0; k < n; k++) {
		double now[2];

		for (int to = 0; to < 2; to++) {
			double stays = least[to];
			double moves = least[!to] + step(costs, map, k, !to, to);

			came[k][to] = moves < stays ? !to : to;
			now[to] = (moves < stays ? moves : stays) + weight_of(&map[k], to);
		}
		memcpy(least, now, sizeof(now));
	}
	on = least[1] + step(costs, map, n, true, false) < least[0];
	for (size_t k = n; k-- > 0;) {
		map[k].on_device = on;
		on = came[k][on];
	}
}

/* Bit k for map k. */
static void
place(struct cost_map *map, size_t n, unsigned choice)
{
	for (size_t k = 0; k < n; k++)
		map[k].on_device = choice >> k & 1;
}

/* The least time where frames overlap, of several such the least sum, by trying all. */
static void
decide_by_overlap(const struct costs *costs, struct cost_map *map, size_t n)
{
	double least = INFINITY, least_sum = INFINITY;
	unsigned best = 0;

	for (unsigned choice = 0; choice < 1u << n; choice++) {
		struct shares shares;
		double seconds, sum;

		place(map, n, choice);
		shares = shares_of(costs, map, n, weight_of);
		seconds = time_of(&shares, true);
		sum = sum_of(&shares);
		if (seconds < least || (seconds == least && sum < least_sum)) {
			least = seconds;
			least_sum = sum;
			best = choice;
		}
	}
	place(map, n, best);
}

void
costs_decide(const struct costs *costs, struct cost_map *map, size_t n, bool overlap)
{
	if (overlap && n <= COST_MAPS_TRIED)
		decide_by_overlap(costs, map, n);
	else
		decide_by_sum(costs, map, n);
}

struct cost_span
costs_predict(const struct costs *costs, const struct cost_map *map, size_t n, bool overlap)
{
	struct costs at[3] = { *costs, *costs, *costs };
	double seconds[3];

	at[0].up.likely = costs->up.best;
	at[0].down.likely = costs->down.best;
	at[2].up.likely = costs->up.worst;
	at[2].down.likely = costs->down.worst;
	for (int i = 0; i < 3; i++) {
		struct shares shares = shares_of(&at[i], map, n, seconds_of);

		seconds[i] = time_of(&shares, overlap);
	}
	return (struct cost_span){ seconds[0], seconds[1], seconds[2] };
}

/* ---- what stages of a chain are expected to take, and took ---- */

/* How much longer the processor takes than measured, with fewer threads than were measured. */
static double
fewer_threads(const struct chain *chain)
{
	return chain->threads < chain->costs->threads ?
	    (double)chain->costs->threads / chain->threads : 1;
}

/* What was measured of the stage, by the body that it has; NULL if nothing. */
static const struct cost_stage *
cost_of(const struct link *link)
{
	const struct costs *costs = link->run.chain->costs;
	const char *name = link->run.body->cost;

	return costs ? costs_stage(costs, name ? name : link->run.stage->name) : NULL;
}

/* Expected seconds for a frame; NaN where it is not known. */
static double
expected(const struct link *link, bool on_device)
{
	const struct chain *chain = link->run.chain;
	const struct cost_stage *stage = cost_of(link);

	if (!stage)
		return NAN;
	return link_samples(link) *
	    (on_device ? stage->device_s : stage->processor_s * fewer_threads(chain));
}

void
times_print(const char *before, const struct link *link, bool on_device)
{
	const struct timing *timing = &link->timing[on_device];
	double soon = link->planned ? expected(link, on_device) : NAN;

	fprintf(stderr, "%s %s", before, link->run.stage->name);
	if (timing->frames && !isnan(timing->seconds))
		fprintf(stderr, " %.3f ms", 1e3 * timing->seconds / (double)timing->frames);
	if (!isnan(soon))
		fprintf(stderr, " (%.3f expected)", 1e3 * soon);
}

/* "NAME: on the processor: phasewrap 0.400 ms, gauss 0.900 ms a frame" */
void
times_report(const struct chain *chain)
{
	double spent = progress_seconds() - chain->start;
	size_t n = 0;

	if (!chain->verbose)
		return;
	for (size_t i = 0; i < chain->n; i++)
		if (chain->link[i].timing[false].frames) {
			if (n == 0)
				fprintf(stderr, "%s: on the processor:", fail_program());
			times_print(n++ ? "," : "", &chain->link[i], false);
		}
	if (n)
		fprintf(stderr, " a frame\n");
	if (chain->frames)
		fprintf(stderr, "%s: %zu frames in %.4f s, %.2f frames/s\n", fail_program(),
		    chain->frames, spent, (double)chain->frames / spent);
}

/* ---- -d auto: which maps of a chain the device does ---- */

static struct cost_map
map_of(const struct segment *segment, size_t k)
{
	const struct link *link = &segment->link[k];
	size_t in = frame_stride(link->in.w, link->in.type) * link->in.h;
	size_t out = frame_stride(link->out.w, link->out.type) * link->out.h;
	struct cost_map map = { .processor_s = expected(link, false), .device_s = NAN };

	/* -d auto must change no byte */
	if (!link->able || link->place == PLACE_PROCESSOR || (link->place == PLACE_AUTO &&
	    !passes_are_exact(segment->chain->device, link->passes)))
		return map;
	map.device_s = expected(link, true);
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
	    strcmp(chain->costs->device, gpu_facts(chain->device)->name))
		return;
	for (size_t k = 0; k < segment->n; k++)
		map[k] = map_of(segment, k);
	costs_decide(chain->costs, map, segment->n, overlap);
	for (size_t k = 0; k < segment->n; k++)
		on_device[k] = map[k].on_device;
	if (chain->verbose)
		report_choice(segment, map);
}

static bool
gains(const struct link *link)
{
	const struct cost_stage *stage = cost_of(link);

	return stage && stage->device_s < stage->processor_s * fewer_threads(link->run.chain);
}

bool
placement_flow_gains(const struct link *link)
{
	const struct chain *chain = link->run.chain;

	return gains(link) && !strcmp(chain->costs->device, gpu_facts(chain->device)->name);
}

bool
placement_gains(const struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++)
		if (chain->link[i].place == PLACE_AUTO && gains(&chain->link[i]))
			return true;
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
	if (device_open(chain->costs->device, &chain->device) < 0) {
		if (chain->verbose)
			fprintf(stderr, "%s: all on the processor: %s\n", fail_program(),
			    fail_message());
		fail_clear();
		return;
	}
	for (size_t i = 0; i < chain->n; i++)
		chain->link[i].planned_anew = chain->link[i].planned;
}
