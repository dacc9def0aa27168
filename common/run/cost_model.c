/* Predicts the time of a chain and divides it between processor and device (Liu 2015, IV). */
#define _GNU_SOURCE
#include "run/cost_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/fail.h"
#include "base/text.h"

#define FIRST_LINE "fringepipe costs 1\n"

/* ---- what is known ---- */

static struct cost_stage *
find(const struct costs *costs, const char *name)
{
	for (size_t i = 0; i < costs->stages; i++)
		if (!strcmp(costs->stage[i].name, name))
			return &costs->stage[i];
	return NULL;
}

const struct cost_stage *
costs_stage(const struct costs *costs, const char *name)
{
	return find(costs, name);
}

int
costs_add(struct costs *costs, const char *name, double processor_s, double device_s)
{
	struct cost_stage *stage = find(costs, name), *more;

	if (!stage) {
		more = reallocarray(costs->stage, costs->stages + 1, sizeof(*more));
		if (!more)
			return fail_memory();
		costs->stage = more;
		stage = &more[costs->stages++];
		*stage = (struct cost_stage){ .processor_s = NAN, .device_s = NAN };
		snprintf(stage->name, sizeof(stage->name), "%s", name);
	}
	if (!isnan(processor_s))
		stage->processor_s = processor_s;
	if (!isnan(device_s))
		stage->device_s = device_s;
	return 0;
}

void
costs_free(struct costs *costs)
{
	free(costs->stage);
	costs->stage = NULL;
	costs->stages = 0;
}

/* ---- the file ---- */

static bool
is_time(double seconds)
{
	return seconds >= 0 && seconds < 1e6;
}

static bool
is_span(const struct cost_span *span)
{
	return is_time(span->best) && span->best <= span->likely && span->likely <= span->worst &&
	    is_time(span->worst);
}

/* One line; false where it is not understood. */
static bool
read_line(struct costs *costs, const char *line)
{
	struct cost_span *span = &costs->up;
	char name[32];
	double a, b, c;

	if (sscanf(line, "device %255[^\n]", costs->device) == 1 ||
	    sscanf(line, "threads %d", &costs->threads) == 1)
		return true;
	if (sscanf(line, "open %lf", &a) == 1)
		return is_time(costs->open_s = a);
	if (sscanf(line, "latency %lf", &a) == 1)
		return is_time(costs->latency_s = a);
	if (sscanf(line, "copy %lf", &a) == 1)
		return is_time(costs->copy_s = a);
	if (sscanf(line, "up %lf %lf %lf", &a, &b, &c) == 3 ||
	    (span = &costs->down, sscanf(line, "down %lf %lf %lf", &a, &b, &c) == 3)) {
		*span = (struct cost_span){ a, b, c };
		return is_span(span);
	}
	return sscanf(line, "stage %31s %lf %lf", name, &a, &b) == 3 &&
	    costs_add(costs, name, is_time(a) ? a : NAN, is_time(b) ? b : NAN) == 0;
}

int
costs_parse(char *text, size_t bytes, struct costs *costs)
{
	char *line, *rest;
	bool good;

	*costs = (struct costs){ 0 };
	good = strlen(text) == bytes && !strncmp(text, FIRST_LINE, strlen(FIRST_LINE));
	rest = good ? text + strlen(FIRST_LINE) : text;
	while (good && (line = strsep(&rest, "\n")) && *line)
		good = read_line(costs, line);
	good = good && costs->device[0] && costs->threads > 0;
	if (good)
		return 1;
	costs_free(costs);
	fail_clear();
	return 0;
}

int
costs_load(struct costs *costs)
{
	char *path = cache_path("costs"), *text;
	size_t bytes;
	int status;

	*costs = (struct costs){ 0 };
	text = cache_read(path, &bytes);
	free(path);
	status = text ? costs_parse(text, bytes, costs) : 0;
	free(text);
	return status;
}

void
costs_write(FILE *file, const struct costs *costs)
{
	fprintf(file, FIRST_LINE "device %s\nthreads %d\nopen %.4g\nlatency %.4g\ncopy %.4g\n",
	    costs->device, costs->threads, costs->open_s, costs->latency_s, costs->copy_s);
	fprintf(file, "up %.4g %.4g %.4g\n", costs->up.best, costs->up.likely, costs->up.worst);
	fprintf(file, "down %.4g %.4g %.4g\n", costs->down.best, costs->down.likely,
	    costs->down.worst);
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
	FILE *file;
	int status;

	if (!path)
		return fail(NULL, "no folder for the costs: neither XDG_CACHE_HOME nor "
		    "HOME is set");
	file = text_open(&text);
	if (!file) {
		free(path);
		return -1;
	}
	costs_write(file, costs);
	bytes = text_close(&text, &n);
	status = bytes ? 0 : -1;
	if (status == 0 && cache_write(path, bytes, n) < 0)
		status = fail_errno(path, "could not be written");
	free(bytes);
	free(path);
	return status;
}

/* ---- decisions ---- */

static double
copies(const struct costs *costs, size_t n, size_t bytes, double gap)
{
	return (double)n * costs->copy_s + (double)bytes * gap;
}

/* Seconds of a frame by who spends them: the processor, copies up, the device, copies down; and
 * the latency of jobs, in which nobody works. */
struct shares {
	double processor, up, device, down, latency;
};

/* From map k - 1, or the host, to map k, or the host where k == n. Nothing comes from the device
 * before the first map. */
static void
cross(const struct costs *costs, const struct cost_map *map, size_t k, bool from, bool to,
    double up, double down, struct shares *shares)
{
	if (from == to || (from && k == 0))
		return;
	if (to) {
		shares->latency += costs->latency_s;
		shares->up += copies(costs, map[k].up_copies, map[k].up_bytes, up);
	} else {
		shares->down += copies(costs, map[k - 1].down_copies, map[k - 1].down_bytes,
		    down);
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

static double
step(const struct costs *costs, const struct cost_map *map, size_t k, bool from, bool to)
{
	struct shares shares = { 0 };

	cross(costs, map, k, from, to, costs->up.likely, costs->down.likely, &shares);
	return sum_of(&shares);
}

/* One without a known time on the processor costs nothing there: it stays. */
static double
work(const struct cost_map *map, bool on_device)
{
	if (on_device)
		return isnan(map->device_s) || isnan(map->processor_s) ? INFINITY : map->device_s;
	return isnan(map->processor_s) ? 0 : map->processor_s;
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
			now[to] = (moves < stays ? moves : stays) + work(&map[k], to);
		}
		memcpy(least, now, sizeof(now));
	}
	on = least[1] + step(costs, map, n, true, false) < least[0];
	for (size_t k = n; k-- > 0;) {
		map[k].on_device = on;
		on = came[k][on];
	}
}

/* Of a choice of maps for the device, bit k for map k. */
static struct shares
shares_of_choice(const struct costs *costs, const struct cost_map *map, size_t n, unsigned choice)
{
	struct shares shares = { 0 };
	bool from = false;

	for (size_t k = 0; k < n; k++) {
		bool to = choice >> k & 1;

		cross(costs, map, k, from, to, costs->up.likely, costs->down.likely, &shares);
		*(to ? &shares.device : &shares.processor) += work(&map[k], to);
		from = to;
	}
	cross(costs, map, n, from, false, costs->up.likely, costs->down.likely, &shares);
	return shares;
}

/* The least time where frames overlap, of several such the least sum, by trying all. */
static void
decide_by_overlap(const struct costs *costs, struct cost_map *map, size_t n)
{
	double least = INFINITY, least_sum = INFINITY;
	unsigned best = 0;

	for (unsigned choice = 0; choice < 1u << n; choice++) {
		struct shares shares = shares_of_choice(costs, map, n, choice);
		double seconds = time_of(&shares, true), sum = sum_of(&shares);

		if (seconds < least || (seconds == least && sum < least_sum)) {
			least = seconds;
			least_sum = sum;
			best = choice;
		}
	}
	for (size_t k = 0; k < n; k++)
		map[k].on_device = best >> k & 1;
}

void
costs_decide(const struct costs *costs, struct cost_map *map, size_t n, bool overlap)
{
	if (overlap && n <= COST_MAPS_TRIED)
		decide_by_overlap(costs, map, n);
	else
		decide_by_sum(costs, map, n);
}

static double
predict(const struct costs *costs, const struct cost_map *map, size_t n, bool overlap, double up,
    double down)
{
	struct shares shares = { 0 };
	bool on = false;

	for (size_t k = 0; k < n; k++) {
		cross(costs, map, k, on, map[k].on_device, up, down, &shares);
		on = map[k].on_device;
		*(on ? &shares.device : &shares.processor) +=
		    on ? map[k].device_s : map[k].processor_s;
	}
	cross(costs, map, n, on, false, up, down, &shares);
	return time_of(&shares, overlap);
}

struct cost_span
costs_predict(const struct costs *costs, const struct cost_map *map, size_t n, bool overlap)
{
	return (struct cost_span){
		predict(costs, map, n, overlap, costs->up.best, costs->down.best),
		predict(costs, map, n, overlap, costs->up.likely, costs->down.likely),
		predict(costs, map, n, overlap, costs->up.worst, costs->down.worst)
	};
}
