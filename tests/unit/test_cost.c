/* What the cost model predicts and decides, against all possible decisions written out. */
#include "run/cost_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#define MAPS 6
#define MANY (COST_MAPS_TRIED + 1)

static const struct costs costs = {
	.latency_s = 2e-5, .copy_s = 3e-6, .up = { 1e-10, 2e-10, 4e-10 },
	.down = { 2e-10, 3e-10, 9e-10 }
};

/* methods.md 15, written out: sum over copies (o + k G) + L + work / P; in a stream the largest of
 * what the processor, copies up, the device and copies down take, and the L. */
static double
by_hand(const struct cost_map *map, size_t n, bool overlap, double up, double down)
{
	double processor = 0, device = 0, to = 0, back = 0, latency = 0, most;

	for (size_t k = 0; k < n; k++) {
		bool before = k && map[k - 1].on_device, behind = k + 1 < n && map[k + 1].on_device;

		if (map[k].on_device)
			device += map[k].device_s;
		else
			processor += map[k].processor_s;
		if (map[k].on_device && !before) {
			latency += 2e-5;
			to += (double)map[k].up_copies * 3e-6 + (double)map[k].up_bytes * up;
		}
		if (map[k].on_device && !behind)
			back += (double)map[k].down_copies * 3e-6 +
			    (double)map[k].down_bytes * down;
	}
	if (!overlap)
		return processor + device + to + back + latency;
	most = processor > device ? processor : device;
	most = to > most ? to : most;
	return (back > most ? back : most) + latency;
}

static void
random_maps(struct cost_map map[MAPS])
{
	for (size_t k = 0; k < MAPS; k++)
		map[k] = (struct cost_map){
			.processor_s = 1e-6 * (rand() % 3000), .device_s = 1e-6 * (rand() % 1500),
			.up_copies = (size_t)rand() % 7, .up_bytes = (size_t)rand() % 4000000,
			.down_copies = (size_t)rand() % 7, .down_bytes = (size_t)rand() % 4000000,
		};
}

static void
predicts_as_written_out(void **state)
{
	struct cost_map map[MAPS];

	(void)state;
	srand(3);
	for (int round = 0; round < 200; round++) {
		struct cost_span span;

		random_maps(map);
		for (size_t k = 0; k < MAPS; k++)
			map[k].on_device = rand() % 2;
		for (int overlap = 0; overlap < 2; overlap++) {
			span = costs_predict(&costs, map, MAPS, overlap);
			assert_true(fabs(span.best -
			    by_hand(map, MAPS, overlap, 1e-10, 2e-10)) <= 4e-18);
			assert_true(fabs(span.likely -
			    by_hand(map, MAPS, overlap, 2e-10, 3e-10)) <= 4e-18);
			assert_true(fabs(span.worst -
			    by_hand(map, MAPS, overlap, 4e-10, 9e-10)) <= 4e-18);
		}
	}
}

static void
decides_for_the_least(void **state)
{
	struct cost_map map[MAPS], other[MAPS];
	size_t mixed = 0;

	(void)state;
	srand(4);
	for (int round = 0; round < 1000; round++) {
		const bool overlap = round % 2;
		double decided, least = INFINITY;
		size_t there = 0;

		random_maps(map);
		if (round % 3 == 0)
			map[rand() % MAPS].device_s = NAN;	/* it has no variant */
		if (round % 5 == 0) {				/* demanded */
			size_t k = (size_t)rand() % MAPS;

			map[k].processor_s = INFINITY;
			map[k].device_s = 1e-4;
		}
		costs_decide(&costs, map, MAPS, overlap);
		decided = by_hand(map, MAPS, overlap, 2e-10, 3e-10);
		memcpy(other, map, sizeof(map));
		for (unsigned choice = 0; choice < 1u << MAPS; choice++) {
			double seconds;

			for (size_t k = 0; k < MAPS; k++)
				other[k].on_device = choice >> k & 1;
			seconds = by_hand(other, MAPS, overlap, 2e-10, 3e-10);
			if (seconds < least)
				least = seconds;
		}
		assert_true(decided == least);
		for (size_t k = 0; k < MAPS; k++)
			there += map[k].on_device;
		mixed += there > 0 && there < MAPS;
	}
	assert_true(mixed > 100);	/* so it was no easy choice */
}

/* What nothing is known of stays on the processor, however dear the others are there. */
static void
unknown_stays(void **state)
{
	struct cost_map map[3] = {
		{ .processor_s = 1, .device_s = 1e-3 },
		{ .processor_s = NAN, .device_s = 1e-9 },
		{ .processor_s = 1, .device_s = 1e-3 },
	};

	(void)state;
	for (int overlap = 0; overlap < 2; overlap++) {
		costs_decide(&costs, map, 3, overlap);
		assert_true(map[0].on_device && !map[1].on_device && map[2].on_device);
	}
}

/* A chain whose sum is less on the processor, while frames overlap on the device; and with as much
 * to copy that its bus takes longer than the processor. */
static void
overlapping_frames_decide_otherwise(void **state)
{
	struct cost_map map = { .processor_s = 6e-4, .device_s = 3e-4, .up_copies = 1,
		.up_bytes = 1000000, .down_copies = 1, .down_bytes = 1000000 };

	(void)state;
	costs_decide(&costs, &map, 1, false);
	assert_false(map.on_device);
	costs_decide(&costs, &map, 1, true);
	assert_true(map.on_device);
	map.down_bytes = 2100000;
	costs_decide(&costs, &map, 1, true);
	assert_false(map.on_device);
}

/* What changes no time stays where it costs least by itself. */
static void
hidden_work_is_least(void **state)
{
	struct cost_map map[2] = {
		{ .processor_s = INFINITY, .device_s = 1e-3 },
		{ .processor_s = 2e-4, .device_s = NAN },
	};

	(void)state;
	costs_decide(&costs, map, 2, true);
	assert_true(map[0].on_device && !map[1].on_device);
	map[1].device_s = 0;
	map[1].down_copies = 9;		/* 27 us instead of 200 */
	costs_decide(&costs, map, 2, true);
	assert_true(map[1].on_device);
}

/* More maps than are tried one by one: by the sum. */
static void
many_maps_by_sum(void **state)
{
	struct cost_map map[MANY], other[MANY];

	(void)state;
	srand(5);
	for (size_t k = 0; k < MANY; k += MAPS)
		random_maps(map + (k + MAPS <= MANY ? k : MANY - MAPS));
	memcpy(other, map, sizeof(map));
	costs_decide(&costs, map, MANY, true);
	costs_decide(&costs, other, MANY, false);
	for (size_t k = 0; k < MANY; k++)
		assert_int_equal(map[k].on_device, other[k].on_device);
}

static void
what_is_saved_is_loaded(void **state)
{
	char folder[] = "/tmp/test_cost.XXXXXX", path[64];
	struct costs made = costs, again;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	assert_int_equal(costs_load(&again), 0);
	strcpy(made.device, "A device (of some kind), 2");
	made.threads = 3;
	made.open_s = 0.125;
	costs_add(&made, "gauss", 5e-10, NAN);
	assert_int_equal(made.stages, 1);
	costs_add(&made, "median", 2e-10, 1e-11);
	assert_int_equal(made.stages, 2);
	assert_int_equal(costs_save(&made), 0);
	assert_int_equal(costs_load(&again), 1);
	assert_string_equal(again.device, made.device);
	assert_int_equal(again.threads, 3);
	assert_true(again.open_s == 0.125 && again.latency_s == 2e-5 && again.copy_s == 3e-6);
	assert_memory_equal(&again.up, &made.up, sizeof(made.up));
	assert_memory_equal(&again.down, &made.down, sizeof(made.down));
	assert_int_equal(again.stages, 2);
	assert_true(isnan(costs_stage(&again, "gauss")->device_s));
	assert_true(costs_stage(&again, "median")->device_s == 1e-11);
	assert_null(costs_stage(&again, "normals"));
	costs_free(&made);
	costs_free(&again);
	snprintf(path, sizeof(path), "%s/fringepipe/costs", folder);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(predicts_as_written_out),
		cmocka_unit_test(decides_for_the_least),
		cmocka_unit_test(unknown_stays),
		cmocka_unit_test(overlapping_frames_decide_otherwise),
		cmocka_unit_test(hidden_work_is_least),
		cmocka_unit_test(many_maps_by_sum),
		cmocka_unit_test(what_is_saved_is_loaded),
	};

	return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
