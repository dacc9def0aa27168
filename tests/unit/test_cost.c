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

static const struct costs costs = {
	.latency_s = 2e-5, .copy_s = 3e-6, .up = { 1e-10, 2e-10, 4e-10 },
	.down = { 2e-10, 3e-10, 9e-10 }
};

/* methods.md 15, written out: sum over copies (o + k G) + L + work / P. */
static double
by_hand(const struct cost_map *map, size_t n, double up, double down)
{
	double seconds = 0;

	for (size_t k = 0; k < n; k++) {
		bool before = k && map[k - 1].on_device, behind = k + 1 < n && map[k + 1].on_device;

		seconds += map[k].on_device ? map[k].device_s : map[k].processor_s;
		if (map[k].on_device && !before)
			seconds += 2e-5 + (double)map[k].up_copies * 3e-6 +
			    (double)map[k].up_bytes * up;
		if (map[k].on_device && !behind)
			seconds += (double)map[k].down_copies * 3e-6 +
			    (double)map[k].down_bytes * down;
	}
	return seconds;
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
predicts_the_sum(void **state)
{
	struct cost_map map[MAPS];

	(void)state;
	srand(3);
	for (int round = 0; round < 200; round++) {
		struct cost_span span;

		random_maps(map);
		for (size_t k = 0; k < MAPS; k++)
			map[k].on_device = rand() % 2;
		span = costs_predict(&costs, map, MAPS);
		assert_true(fabs(span.best - by_hand(map, MAPS, 1e-10, 2e-10)) <= 4e-18);
		assert_true(fabs(span.likely - by_hand(map, MAPS, 2e-10, 3e-10)) <= 4e-18);
		assert_true(fabs(span.worst - by_hand(map, MAPS, 4e-10, 9e-10)) <= 4e-18);
	}
}

static void
decides_for_the_least(void **state)
{
	struct cost_map map[MAPS], other[MAPS];
	size_t mixed = 0;

	(void)state;
	srand(4);
	for (int round = 0; round < 500; round++) {
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
		costs_decide(&costs, map, MAPS);
		decided = by_hand(map, MAPS, 2e-10, 3e-10);
		memcpy(other, map, sizeof(map));
		for (unsigned choice = 0; choice < 1u << MAPS; choice++) {
			double seconds;

			for (size_t k = 0; k < MAPS; k++)
				other[k].on_device = choice >> k & 1;
			seconds = by_hand(other, MAPS, 2e-10, 3e-10);
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
	costs_decide(&costs, map, 3);
	assert_true(map[0].on_device && !map[1].on_device && map[2].on_device);
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
	assert_int_equal(costs_add(&made, "gauss", 5e-10, NAN), 0);
	assert_int_equal(costs_add(&made, "median", 2e-10, 1e-11), 0);
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
		cmocka_unit_test(predicts_the_sum),
		cmocka_unit_test(decides_for_the_least),
		cmocka_unit_test(unknown_stays),
		cmocka_unit_test(what_is_saved_is_loaded),
	};

	return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
