/*
 * fringeshoot without hardware and without waiting: a screen and cameras of ours in one process,
 * with a clock that jumps. Every condition runs with SEEDS seeds; what comes is compared with the
 * pictures that the same cameras would take of each pattern without noise, and the phase with the
 * known relief.
 */
#include <math.h>
#include <stdlib.h>

#include "base/process.h"
#include "base/px.h"
#include "frames.h"

#include "../../tools/fringeshoot/fringeshoot.h"

#define SEEDS (SANITIZED ? 3u : 20u)	/* the plain run judges, the other looks at memory */
#define W 180			/* screen */
#define H 48
#define VIEW_W 64		/* cameras */
#define VIEW_H 48
#define T (1 / 60.)
#define PERIOD 60.
#define EVENTS 4096
#define MOST_PATTERNS 40

struct rig {
	/* condition */
	double latency, rolling, stale, drop, noise, level, drift, period, real_exposure, late;
	unsigned bits;
	bool pwm, freezes, blind, dead, flickers;
	size_t cameras;
	/* state */
	uint seed, drawn;
	double now;
	size_t images, events;
	float *seen[2][MOST_PATTERNS + 8];	/* of each image, by each camera, 0 to 1 */
	struct { double time; size_t image; } event[EVENTS];
	struct camera camera[2];
	struct eye { struct rig *rig; double begun; struct frame *last; size_t i; } eye[2];
};

static double
uniform(struct rig *rig)
{
	return (double)px_uniform(px_hash(px_hash(rig->seed) ^ ++rig->drawn));
}

/* Of two 16-bit halves of two hashes: the sum of four uniform numbers, scaled to variance 1. */
static double
normal(struct rig *rig)
{
	uint a = px_hash(rig->seed * 7919u ^ ++rig->drawn), b = px_hash(a);

	return ((double)((a & 65535u) + (a >> 16) + (b & 65535u) + (b >> 16)) / 65536 - 2) *
	    1.7320508;
}

/* ---- the scene: a bump that shifts the columns, a surface of uneven brightness ---- */

static double column_seen[2][VIEW_H][VIEW_W], albedo[VIEW_H][VIEW_W];

static void
make_scene(void)
{
	for (size_t y = 0; y < VIEW_H; y++)
		for (size_t x = 0; x < VIEW_W; x++) {
			double dx = ((double)x - 26) / 13, dy = ((double)y - 24) / 12;
			double bump = 7 * exp(-(dx * dx + dy * dy) / 2);

			column_seen[0][y][x] = 8 + 2.5 * (double)x + bump;
			column_seen[1][y][x] = 8 + 2.5 * (double)x - bump;
			albedo[y][x] = 0.75 + 0.25 * sin(0.11 * (double)x) * cos(0.09 * (double)y);
		}
}

static float
seen(const struct frame *image, size_t x, size_t y, size_t eye)
{
	double u = column_seen[eye][y][x];
	size_t k = (size_t)u;
	const uint8_t *row = frame_row(image, 0, y);

	return (float)((row[k] * (1 - (u - (double)k)) + row[k + 1] * (u - (double)k)) / 255);
}

/* Light from time 0 to t at level v, as a pulse at the start of each refresh. */
static double
emitted(const struct rig *rig, double t, double v)
{
	double n = floor(t / rig->period), rest = t - n * rig->period;

	return n * v * rig->period + fmin(rest, v * rig->period);
}

/* ---- the screen ---- */

static int
rig_load(struct screen *screen, const struct frame *frame, size_t *image)
{
	struct rig *rig = screen->own;

	*image = rig->images++;
	for (size_t eye = 0; eye < 2; eye++) {
		rig->seen[eye][*image] = must_alloc(VIEW_W * VIEW_H, sizeof(float));
		for (size_t i = 0; i < VIEW_W * VIEW_H; i++)
			rig->seen[eye][*image][i] = seen(frame, i % VIEW_W, i / VIEW_W, eye);
	}
	return 0;
}

static int
screen_show(struct screen *screen, size_t image, uint64_t refresh, struct screen_shown *out)
{
	struct rig *rig = screen->own;

	(void)refresh;
	rig->now = (floor(rig->now / T + 1e-6) + 1 + (uniform(rig) < rig->late)) * T;
	assert_true(rig->events < EVENTS);
	if (!(rig->freezes && image > 2)) {
		rig->event[rig->events].time = rig->now;
		rig->event[rig->events++].image = image;
	}
	*out = (struct screen_shown){ (uint64_t)(rig->now / T + 0.5), rig->now, false };
	return 0;
}

static double
screen_now(struct screen *screen)
{
	return ((struct rig *)screen->own)->now;
}

static int
screen_wait(struct screen *screen, double until)
{
	struct rig *rig = screen->own;

	rig->now = fmax(rig->now, until);
	return 0;
}

static void
screen_close(struct screen *screen)
{
	(void)screen;
}

/* ---- the cameras ---- */

static void
expose_row(struct rig *rig, size_t eye, size_t y, double from, double to, double *sum)
{
	for (size_t x = 0; x < VIEW_W; x++)
		sum[x] = 0;
	for (size_t k = rig->events; k-- > 0;) {
		double on = k ? rig->event[k].time : -HUGE_VAL;
		double off = k + 1 < rig->events ? rig->event[k + 1].time : HUGE_VAL;
		double a = fmax(from, on), b = fmin(to, off);

		for (size_t x = 0; b > a && x < VIEW_W; x++) {
			double v = (double)rig->seen[eye][rig->event[k].image][y * VIEW_W + x];

			sum[x] += (rig->pwm ? emitted(rig, b, v) - emitted(rig, a, v) :
			    (b - a) * v) / T;
		}
		if (on <= from)
			break;
	}
}

static int
camera_trigger(struct camera *camera)
{
	struct eye *eye = camera->own;
	double frame = camera->exposure_s + 0.004;

	eye->begun = camera->triggered ? eye->rig->now + 0.0002 :
	    ceil(eye->rig->now / frame) * frame;
	return 0;
}

/* A picture whose exposure began at this time, in the camera's units. */
static struct frame *
expose(struct rig *rig, const struct camera *camera, size_t eye, double begun, bool noise)
{
	struct frame *frame;
	double sum[VIEW_W], black = 0.02 * camera->max_value;
	double gain = 1 + rig->drift * sin(4.4 * begun) + (noise && rig->flickers ?
	    0.05 * (uniform(rig) - 0.5) : 0);

	assert_int_equal(frame_new_named(VIEW_W, VIEW_H, 1, camera->type, NULL, &frame), 0);
	for (size_t y = 0; y < VIEW_H; y++) {
		double from = begun + rig->rolling * (double)y / VIEW_H - rig->latency;

		expose_row(rig, eye, y, from, from + rig->real_exposure, sum);
		for (size_t x = 0; x < VIEW_W; x++) {
			double v = black + (rig->blind ? 0 : gain * rig->level * albedo[y][x] *
			    sum[x] * camera->exposure_s / rig->real_exposure * T /
			    camera->exposure_s);

			if (noise)
				v += rig->noise * normal(rig);
			v = fmin(fmax(v, 0), camera->max_value);
			if (camera->type == SAMPLE_UCHAR)
				((uint8_t *)frame_row(frame, 0, y))[x] = (uint8_t)(v + 0.5);
			else
				((uint16_t *)frame_row(frame, 0, y))[x] = (uint16_t)(v + 0.5);
		}
	}
	return frame;
}

static int
camera_take(struct camera *camera, double timeout_s, struct frame **out)
{
	struct eye *eye = camera->own;
	struct rig *rig = eye->rig;

	if (rig->dead || uniform(rig) < rig->drop) {
		rig->now += timeout_s;
		camera->timeouts++;
		return 0;
	}
	if (!eye->last || uniform(rig) >= rig->stale) {
		frame_free(eye->last);
		eye->last = expose(rig, camera, eye->i, eye->begun, true);
	}
	rig->now = fmax(rig->now, eye->begun + rig->real_exposure + rig->rolling + 0.004);
	return frame_duplicate(eye->last, out) < 0 ? -1 : 1;
}

static void
camera_close(struct camera *camera)
{
	(void)camera;
}

/* ---- patterns ---- */

struct set {
	struct pattern pattern[MOST_PATTERNS];
	size_t n, phase_x;		/* the first of three phase images along x */
	char name[MOST_PATTERNS][16];
};

static size_t
load_image(struct screen *screen, double (*value)(size_t, size_t, size_t), size_t which,
    double *level)
{
	struct frame *frame;
	size_t image;
	double sum = 0;

	assert_int_equal(frame_new_named(W, H, 1, SAMPLE_UCHAR, NULL, &frame), 0);
	for (size_t y = 0; y < H; y++)
		for (size_t x = 0; x < W; x++) {
			double v = value(x, y, which);

			((uint8_t *)frame_row(frame, 0, y))[x] = (uint8_t)(255 * v + 0.5);
			sum += v;
		}
	assert_int_equal(screen->load(screen, frame, &image), 0);
	frame_free(frame);
	if (level)
		*level = sum / (W * H);
	return image;
}

static double
value_flat(size_t x, size_t y, size_t which)
{
	(void)x;
	(void)y;
	return (double)which / 255;
}

static double
value_phase_x(size_t x, size_t y, size_t which)
{
	(void)y;
	return 0.5 + 0.48 * cos(2 * M_PI * ((double)x / PERIOD + (double)which / 3));
}

static double
value_phase_y(size_t x, size_t y, size_t which)
{
	return value_phase_x(y, x, which);
}

static double
value_gray_x(size_t x, size_t y, size_t which)
{
	size_t code = x ^ x >> 1;

	(void)y;
	return code >> (7 - which) & 1;
}

static double
value_gray_y(size_t x, size_t y, size_t which)
{
	size_t code = y ^ y >> 1;

	(void)x;
	return code >> (5 - which) & 1;
}

static void
add(struct screen *screen, struct set *set, double (*value)(size_t, size_t, size_t), size_t which)
{
	struct pattern *pattern = &set->pattern[set->n];

	pattern->image = load_image(screen, value, which, &pattern->level);
	snprintf(set->name[set->n], sizeof(set->name[0]), "pattern_%02zu", set->n);
	pattern->name = set->name[set->n];
	set->n++;
}

/* axis: x, y or b (both). Planes of few pixels in the camera are left out. */
static void
make_set(struct screen *screen, char axis, struct set *set)
{
	*set = (struct set){ .phase_x = SIZE_MAX };
	if (axis != 'y') {
		set->phase_x = 0;
		for (size_t i = 0; i < 3; i++)
			add(screen, set, value_phase_x, i);
		for (size_t i = 0; i < 6; i++)
			add(screen, set, value_gray_x, i);
	}
	if (axis != 'x') {
		for (size_t i = 0; i < 3; i++)
			add(screen, set, value_phase_y, i);
		for (size_t i = 0; i < 6; i++)
			add(screen, set, value_gray_y, i);
	}
	add(screen, set, value_flat, 255);
	add(screen, set, value_flat, 0);
}

/* ---- a run ---- */

static const struct rig plain = { .latency = 0.037, .noise = 6, .level = 2400, .bits = 12,
	.cameras = 1, .real_exposure = T, .period = T };

static void
begin(struct rig *rig, struct screen *screen, struct shoot *shoot, const struct rig *condition,
    uint seed, bool triggered)
{
	*rig = *condition;
	rig->seed = seed;
	rig->now = 100 + seed * 0.0071;
	*screen = (struct screen){ .name = "DP-2", .w = W, .h = H, .refresh_s = T, .own = rig,
		.load = rig_load, .show = screen_show, .now_s = screen_now, .wait = screen_wait,
		.close = screen_close };
	for (size_t i = 0; i < rig->cameras; i++) {
		rig->eye[i] = (struct eye){ .rig = rig, .i = i };
		rig->camera[i] = (struct camera){ .name = "cam", .w = VIEW_W, .h = VIEW_H,
			.type = rig->bits > 8 ? SAMPLE_USHORT : SAMPLE_UCHAR,
			.max_value = (1 << rig->bits) - 1, .exposure_s = T, .triggered = triggered,
			.own = &rig->eye[i], .trigger = camera_trigger, .take = camera_take,
			.close = camera_close };
	}
	*shoot = (struct shoot){ .screen = screen, .camera = rig->camera, .cameras = rig->cameras,
		.check = CHECK_MIX, .retries = 8 };
	shoot->black = load_image(screen, value_flat, 0, NULL);
	shoot->white = load_image(screen, value_flat, 255, NULL);
	shoot->grey = load_image(screen, value_flat, 128, NULL);
	rig->event[rig->events].time = 0;
	rig->event[rig->events++].image = shoot->black;
}

static void
finish(struct rig *rig, struct shoot *shoot)
{
	shoot_end(shoot);
	for (size_t i = 0; i < rig->images; i++)
		for (size_t eye = 0; eye < 2; eye++)
			free(rig->seen[eye][i]);
	for (size_t i = 0; i < rig->cameras; i++)
		frame_free(rig->eye[i].last);
}

struct errors {
	double share;		/* largest share of the pattern before, of all pictures */
	double rest;		/* largest rms of the rest, of the noise that is expected */
	double rms_px, most_px;	/* of the phase */
	size_t rejected, retaken, between;
	double latency_ms;
};

/* The picture of a pattern without noise or light before. */
static struct frame *
ideal(struct rig *rig, size_t eye, size_t image)
{
	struct rig still = *rig;

	still.events = 1;
	still.event[0].image = image;
	still.drift = 0;
	still.pwm = false;
	return expose(&still, &rig->camera[eye], eye, 0, false);
}

/* picture = gain * own + share * (before - own) + rest */
static void
compare(const struct rig *rig, const struct frame *picture, const struct frame *own,
    const struct frame *before, double factor, struct errors *errors)
{
	double ee = 0, ed = 0, eg = 0, gg = 0, dg = 0, rest = 0, n = VIEW_W * VIEW_H;
	double black = 0.02 * ((1 << rig->bits) - 1), share = 0, gain, det, expected;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t y = 0; y < VIEW_H; y++)
			for (size_t x = 0; x < VIEW_W; x++) {
				double g = (double)frame_sample(own, 0, y, x) - black;
				double e = (double)frame_sample(before, 0, y, x) - black - g;
				double d = (double)frame_sample(picture, 0, y, x) / factor - black
				    - g;

				if (pass) {
					rest += pow(d - share * e - gain * g, 2);
					continue;
				}
				ee += e * e;
				eg += e * g;
				gg += g * g;
				ed += e * d;
				dg += d * g;
			}
		det = ee * gg - eg * eg;
		/* of uniform images the two are one: all is old light then, or drift */
		share = det > 1e-3 * ee * gg ? (ed * gg - dg * eg) / det : 0;
		gain = det > 1e-3 * ee * gg ? (dg * ee - ed * eg) / det : gg > n ? dg / gg : 0;
	}
	expected = sqrt(rig->noise * rig->noise / factor + 1 / 6.);
	errors->share = fmax(errors->share, fabs(share));
	errors->rest = fmax(errors->rest, sqrt(rest / n) / (expected + 0.002 * rig->level));
}

static void
phase_errors(struct frame *const *picture, size_t eye, struct errors *errors)
{
	double sum = 0;

	for (size_t y = 0; y < VIEW_H; y++)
		for (size_t x = 0; x < VIEW_W; x++) {
			double s = 0, c = 0, off;

			for (size_t k = 0; k < 3; k++) {
				double v = frame_sample(picture[k], 0, y, x);

				s -= v * sin(2 * M_PI * (double)k / 3);
				c += v * cos(2 * M_PI * (double)k / 3);
			}
			off = atan2(s, c) / (2 * M_PI) * PERIOD - column_seen[eye][y][x];
			off -= PERIOD * round(off / PERIOD);
			sum += off * off;
			errors->most_px = fmax(errors->most_px, fabs(off));
		}
	errors->rms_px = fmax(errors->rms_px, sqrt(sum / (VIEW_W * VIEW_H)));
}

/* wait_s NaN: measured. */
static struct errors
run(const struct rig *condition, uint seed, char axis, double wait_s, enum shoot_check check,
    bool triggered)
{
	static struct rig rig;
	struct screen screen;
	struct shoot shoot;
	struct set set;
	struct errors errors = { 0 };
	struct frame *picture[MOST_PATTERNS][2] = { { NULL } }, *phase[3];

	begin(&rig, &screen, &shoot, condition, seed, triggered);
	make_set(&screen, axis, &set);
	shoot.check = check;
	if (shoot_flats(&shoot) < 0 || (isnan(wait_s) && shoot_latency(&shoot) < 0)) {
		print_message("seed %u: %s\n", seed, fail_message());
		assert_true(false);
	}
	if (!isnan(wait_s))
		shoot.latency_s = wait_s;
	for (size_t i = 0; i < set.n; i++)
		if (shoot_pattern(&shoot, &set.pattern[i], picture[i]) < 0) {
			print_message("seed %u: %s\n", seed, fail_message());
			assert_true(false);
		}
	for (size_t eye = 0; eye < rig.cameras; eye++) {
		struct frame *before = ideal(&rig, eye, shoot.black);

		for (size_t i = 0; i < set.n; i++) {
			struct frame *own = ideal(&rig, eye, set.pattern[i].image);

			compare(&rig, picture[i][eye], own, before, check == CHECK_MIX ? 2 : 1,
			    &errors);
			frame_free(before);
			before = own;
		}
		frame_free(before);
		for (size_t k = 0; k < 3 && set.phase_x != SIZE_MAX; k++)
			phase[k] = picture[set.phase_x + k][eye];
		if (set.phase_x != SIZE_MAX)
			phase_errors(phase, eye, &errors);
		for (size_t i = 0; i < set.n; i++)
			frame_free(picture[i][eye]);
	}
	errors.rejected = shoot.rejected;
	errors.retaken = shoot.retaken;
	errors.between = shoot.between;
	errors.latency_ms = 1e3 * shoot.latency_s;
	finish(&rig, &shoot);
	return errors;
}

/* All seeds: nothing rejected, nothing of the pattern before. */
static struct errors
all_right(const char *what, const struct rig *condition, char axis, double wait_s, bool triggered)
{
	struct errors worst = { 0 };

	for (uint seed = 1; seed <= SEEDS; seed++) {
		struct errors e = run(condition, seed, axis, wait_s, CHECK_MIX, triggered);

		worst.share = fmax(worst.share, e.share);
		worst.rest = fmax(worst.rest, e.rest);
		worst.rms_px = fmax(worst.rms_px, e.rms_px);
		worst.most_px = fmax(worst.most_px, e.most_px);
		worst.latency_ms = fmax(worst.latency_ms, e.latency_ms);
		worst.rejected += e.rejected;
		worst.retaken += e.retaken;
		worst.between += e.between;
	}
	print_message("%-34s old light %.4f rest %.2f phase %.3f px, most %.2f; %zu retaken, %zu "
	    "between, %zu rejected; waited %.1f ms\n", what, worst.share, worst.rest, worst.rms_px,
	    worst.most_px, worst.retaken, worst.between, worst.rejected, worst.latency_ms);
	assert_int_equal(worst.rejected, 0);
	/* below the limit; in weak light it is five standard errors */
	assert_true(worst.share <= (condition->level > 200 ? 0.006 : 0.02));
	assert_true(worst.rest <= 1.2);
	return worst;
}

static void
exact(const char *what, const struct rig *condition, double wait_s, bool triggered)
{
	struct errors worst = all_right(what, condition, 'x', wait_s, triggered);

	assert_true(worst.rms_px <= 0.05);
	assert_true(worst.most_px < 1);
}

static void
waits_and_latencies(void **state)
{
	struct rig rig = plain;

	(void)state;
	exact("wait 0", &rig, 0, true);
	for (double wait = 0.030; wait < 0.0375; wait += 0.002)
		exact("wait 30 to 37", &rig, wait, true);
	rig.latency = 0.100;
	exact("wait 0, latency 100", &rig, 0, true);
	rig.latency = 0.037;
	rig.rolling = 0.025;
	exact("rolling shutter 25, wait 20", &rig, 0.020, true);
	rig.rolling = 0;
	rig.latency = 0.150;
	exact("free-running, latency 150, wait 0", &rig, 0, false);
	exact("free-running, latency 150, measured", &rig, NAN, false);
}

static void
faults_of_cameras(void **state)
{
	struct rig rig = plain;

	(void)state;
	rig.stale = 0.3;
	exact("30 % stale, measured", &rig, NAN, true);
	exact("30 % stale, wait 0", &rig, 0, true);
	rig.stale = 0;
	rig.drop = 0.2;
	exact("20 % dropped", &rig, NAN, true);
	rig.drop = 0;
	rig.late = 0.2;
	exact("20 % a refresh late", &rig, NAN, true);
	rig.late = 0;
	rig.cameras = 2;
	rig.rolling = 0.010;
	exact("two cameras, rolling 10, wait 10", &rig, 0.010, true);
}

static void
kinds_of_patterns_and_light(void **state)
{
	static const double levels[] = { 30, 60, 200, 600, 2400 };
	struct rig rig = plain;

	(void)state;
	all_right("-a x", &rig, 'x', 0.060, true);
	all_right("-a y", &rig, 'y', 0.060, true);
	all_right("-a both", &rig, 'b', 0, true);
	rig.drift = 0.01;
	all_right("1 % lamp drift", &rig, 'b', 0, true);
	rig.drift = 0;
	rig.pwm = true;
	all_right("one-pulse light, one refresh", &rig, 'x', 0, true);
	rig.pwm = false;
	for (size_t i = 0; i < 5; i++) {
		rig.level = levels[i];
		rig.bits = 12;
		rig.noise = i ? 6 : 2;
		all_right("12 bits, level by level", &rig, 'b', 0, true);
		if (levels[i] > 200)
			continue;
		rig.bits = 8;
		rig.noise = 1;
		all_right("8 bits, level by level", &rig, 'b', 0, true);
	}
}

static void
latencies_measured(void **state)
{
	static const double latency[] = { 0.005, 0.037, 0.100 };
	struct rig rig = plain;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (int rolls = 0; rolls < 2; rolls++) {
			struct errors worst;

			rig.latency = latency[i];
			rig.rolling = rolls ? 0.025 : 0;
			worst = all_right("measured", &rig, 'x', NAN, true);
			/* no later than a refresh after it */
			assert_true(worst.latency_ms > 1e3 * latency[i] - 1);
			assert_true(worst.latency_ms < 1e3 * (latency[i] + T));
		}
}

/* Without the check the same conditions are wrong: else the tests above show nothing. */
static void
without_the_check(void **state)
{
	struct rig rig = plain;
	struct errors e;

	(void)state;
	rig.latency = 0.1;
	e = run(&rig, 1, 'x', 0, CHECK_NONE, true);
	assert_true(e.rms_px > 1 && e.rejected == 0);
	e.most_px = 0;
	rig.latency = 0.037;
	rig.stale = 0.3;
	for (uint seed = 1; seed <= 5; seed++)
		e.most_px = fmax(e.most_px, run(&rig, seed, 'x', 0.06, CHECK_NONE, true).most_px);
	assert_true(e.most_px > 1);
	/* one picture, compared with the one before: repeated ones are found */
	e = run(&rig, 1, 'x', 0.06, CHECK_ONCE, true);
	assert_true(e.rms_px < 0.07 && e.retaken > 0 && e.rejected == 0);
}

/* ---- burst: the screen goes on by itself, the camera runs freely ---- */

#define ROUNDS 4

static double
rms_off(const struct frame *a, const struct frame *b)
{
	double sum = 0;

	for (size_t i = 0; i < VIEW_W * VIEW_H; i++)
		sum += pow((double)frame_sample(a, 0, i / VIEW_W, i % VIEW_W) -
		    (double)frame_sample(b, 0, i / VIEW_W, i % VIEW_W), 2);
	return sqrt(sum / (VIEW_W * VIEW_H));
}

/* Returns how many patterns were missed, of ROUNDS rounds; those that came are right. */
static size_t
burst(const char *what, const struct rig *condition, uint seed, char axis, size_t hold)
{
	static struct rig rig;
	struct screen screen;
	struct shoot shoot;
	struct set set;
	struct settled settled = { 0 };
	struct camera *camera = rig.camera;
	struct errors errors = { 0 };
	struct frame *picture, *out, *own[MOST_PATTERNS];
	double begun;
	size_t came = 0, right = 0, next = 0, taken = 0;

	begin(&rig, &screen, &shoot, condition, seed, false);
	make_set(&screen, axis, &set);
	for (size_t i = 0; i < ROUNDS * set.n; i++) {
		rig.event[rig.events].time = rig.now + 0.3 + (double)(i * hold) * T;
		rig.event[rig.events++].image = set.pattern[i % set.n].image;
	}
	for (size_t i = 0; i < set.n; i++)
		own[i] = ideal(&rig, 0, set.pattern[i].image);
	begun = rig.event[1].time;
	while (rig.now < begun + (double)(ROUNDS * set.n * hold) * T + rig.latency) {
		bool lost = uniform(&rig) < condition->drop;

		rig.eye[0].begun = begun - 0.3 + (double)taken++ * (T + 0.004 + rig.rolling);
		rig.drop = 0;
		assert_int_equal(camera_take(camera, 1, &picture), 1);
		out = NULL;
		if (lost)
			frame_free(picture);
		else
			settled_take(&settled, picture, &out);
		rig.drop = condition->drop;
		if (!out)
			continue;
		/* a pattern, without light of the one before, and not the last one again */
		came++;
		for (size_t i = 0; i < set.n; i++) {
			if (rms_off(out, own[i]) > 1.2 * rig.noise + 0.012 * rig.level)
				continue;
			compare(&rig, out, own[i], own[(i + set.n - 1) % set.n], 1, &errors);
			assert_true(came == 1 || i + 1 != next);
			next = i + 1;
			right++;
			break;
		}
		frame_free(out);
	}
	if (seed == 1)
		print_message("%-34s %zu of %zu patterns, old light %.4f\n", what, came,
		    ROUNDS * set.n, errors.share);
	assert_int_equal(came, right);
	assert_true(errors.share < (condition->level > 200 ? 0.002 : 0.01));
	settled_free(&settled);
	for (size_t i = 0; i < set.n; i++)
		frame_free(own[i]);
	finish(&rig, &shoot);
	return ROUNDS * set.n - came;
}

static void
bursts(void **state)
{
	struct rig rig = plain;

	(void)state;
	for (uint seed = 1; seed <= SEEDS; seed++) {
		rig = plain;
		/* at most the first pattern, and white after white */
		assert_true(burst("burst, 10 a second", &rig, seed, 'x', 6) <= 1);
		rig.drift = 0.01;
		assert_true(burst("with a lamp that drifts", &rig, seed, 'b', 6) <= 1);
		rig.drift = 0;
		rig.rolling = 0.012;
		assert_true(burst("rolling shutter 12", &rig, seed, 'x', 10) <= 1);
		rig.rolling = 0;
		rig.stale = 0.1;
		rig.drop = 0.05;
		burst("10 % repeated, 5 % lost", &rig, seed, 'x', 6);
		rig.stale = rig.drop = 0;
		assert_true(burst("15 a second, 3.2 pictures each", &rig, seed, 'x', 4) <= 1);
		rig.level = 60;
		rig.bits = 8;
		rig.noise = 1;
		assert_true(burst("8 bits, weak", &rig, seed, 'x', 6) <= 1);
	}
}

/* ---- the table of checks ---- */

/* The flats fail, with this message. */
static void
flats_fail(const struct rig *condition, const char *message)
{
	static struct rig rig;
	struct screen screen;
	struct shoot shoot;

	fail_clear();
	begin(&rig, &screen, &shoot, condition, 3, true);
	assert_int_equal(shoot_flats(&shoot), -1);
	if (!strstr(fail_message(), message))
		print_message("%s\n", fail_message());
	assert_non_null(strstr(fail_message(), message));
	assert_int_equal(fail_code(), EXIT_FAILED);
	finish(&rig, &shoot);
	fail_clear();
}

static void
flats_are_checked(void **state)
{
	struct rig rig = plain;

	(void)state;
	rig.blind = true;
	flats_fail(&rig, "0 % of the picture is lit by DP-2: wrong screen, lens cap, or too dark");
	rig.blind = false;
	rig.level = 40000;
	flats_fail(&rig, "white saturates in 100.0 % of the picture");
	rig.level = 2400;
	rig.dead = true;
	flats_fail(&rig, "cam: no whole picture in 10 tries");
	rig.dead = false;
	/* a beat that the exposure's figure does not show: the camera exposes longer than it says,
	 * or the projector refreshes at another rate than the computer */
	rig.pwm = true;
	rig.real_exposure = 1.5 * T;
	flats_fail(&rig, "pictures of an even image differ by");
	rig.real_exposure = T;
	rig.period = T * 0.8;
	flats_fail(&rig, "pictures of an even image differ by");
	rig.pwm = false;
	rig.flickers = true;
	flats_fail(&rig, "a lamp flickers");
}

static void
exposures_are_checked(void **state)
{
	static const struct { double ms, step_ms; bool right; } row[] = {
		{ 1e3 * T, 0, true }, { 2e3 * T, 0, true }, { 16.6, 0, true }, { 16.5, 0, false },
		{ 16.5, 0.2, true }, { 12, 0, false }, { 25, 0, false }, { 33.4, 0, true },
		{ 8, 0, false },
	};
	static struct rig rig;
	struct screen screen;
	struct shoot shoot;

	(void)state;
	begin(&rig, &screen, &shoot, &plain, 1, true);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		rig.camera[0].exposure_s = row[i].ms / 1e3;
		rig.camera[0].exposure_step_s = row[i].step_ms / 1e3;
		assert_int_equal(shoot_exposure_check(&shoot), row[i].right ? 0 : -1);
		if (!row[i].right)
			assert_int_equal(fail_code(), EXIT_USAGE);
		fail_clear();
	}
	rig.camera[0].exposure_s = 0.012;
	shoot_exposure_check(&shoot);
	assert_string_equal(fail_message(), "cam: exposure 12.00 ms is 0.72 refreshes of 16.67 ms: "
	    "take 16.67 or 33.33 (--any-exposure: as it is)");
	fail_clear();
	shoot.any_exposure = true;
	assert_int_equal(shoot_exposure_check(&shoot), 0);
	finish(&rig, &shoot);
}

static void
screens_are_checked(void **state)
{
	static const struct screen_facts good = { .name = "DP-2", .w = 1280, .h = 800,
		.mode_w = 1280, .mode_h = 800, .refresh_hz = 60, .on = true };
	struct { struct screen_facts facts; const char *message; } row[] = {
		{ good, NULL }, { good, "is rotated" },
		{ good, "is scaled, 1280x800 of the desktop" }, { good, "is scaled" },
		{ good, "log in to an X11 session" }, { good, "is off" },
		{ good, "patterns are 1920x1080, DP-2 shows 1280x800: nothing is scaled here" },
	};

	(void)state;
	row[1].facts.rotated = true;
	row[2].facts.mode_w = 2560;	/* HiDPI: half of the pixels that it sends */
	row[3].facts.transformed = true;
	row[4].facts.xwayland = true;
	row[5].facts.on = false;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		bool large = i == 6;

		assert_int_equal(screen_check(&row[i].facts, large ? 1920 : 1280,
		    large ? 1080 : 800, false), row[i].message ? -1 : 0);
		if (row[i].message)
			assert_non_null(strstr(fail_message(), row[i].message));
		fail_clear();
	}
	assert_int_equal(screen_check(&row[4].facts, 0, 0, true), 0);
}

/* A screen that shows the patterns no more, as one that has gone to sleep: all are rejected. */
static void
what_never_comes_is_rejected(void **state)
{
	struct rig rig = plain;
	struct errors e;

	(void)state;
	rig.freezes = true;
	e = run(&rig, 1, 'x', 0.06, CHECK_MIX, true);
	assert_int_equal(e.rejected, 11);
}

/* With a word: the tests whose names match it. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_and_latencies),
		cmocka_unit_test(faults_of_cameras),
		cmocka_unit_test(kinds_of_patterns_and_light),
		cmocka_unit_test(latencies_measured),
		cmocka_unit_test(without_the_check),
		cmocka_unit_test(bursts),
		cmocka_unit_test(flats_are_checked),
		cmocka_unit_test(exposures_are_checked),
		cmocka_unit_test(screens_are_checked),
		cmocka_unit_test(what_never_comes_is_rejected),
	};

	make_scene();
	fail_set_program("test_fringeshoot");
	fail_set_quiet(true);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
