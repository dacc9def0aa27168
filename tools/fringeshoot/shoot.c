/*
 * Shows patterns and takes pictures of them, again until each is of its pattern alone. Knows
 * nothing of X or of Aravis: the screen and the cameras are those of the caller, and so is the
 * clock.
 */
#include "fringeshoot.h"

#define SETTLE_S 0.5		/* after which a flat image is there, on any screen */
#define TIMEOUT_S 1.0		/* for a picture, beside its exposure */
#define GRABS_MOST 10		/* tries to get a whole picture of every camera */
#define FLAT_PICTURES 4
#define GREY_PICTURES 6		/* at as many phases of the refresh */
#define BEAT_WARNED 0.005	/* a lamp's drift, perhaps */
#define BEAT_MOST 0.02
#define LIT_LEAST 0.02		/* share of the view */
#define SATURATED_NOTED 0.005
#define SATURATED_MOST 0.5
#define DARK 0.1		/* white over black, of full scale */
#define NEW_LIGHT 0.985		/* of a flash, in all blocks: the new image is all there */
#define LATENCY_MOST_S 2.0
#define FLASHES_CLEAN 6		/* that must be new at the first picture, one after another */
#define FLASHES_MOST 60
#define EXPOSURE_TOLERANCE 0.005
#define FLAT_TOLERANCE 0.05	/* of the level of black or white that is shown between patterns */
#define TRIES_BEFORE_BETWEEN 2	/* a picture that is not there yet looks like one that is alike */

/* Of every camera; NULL: there are none. */
static void
free_pictures(const struct shoot *shoot, struct frame **picture)
{
	for (size_t i = 0; picture && i < shoot->cameras; i++) {
		frame_free(picture[i]);
		picture[i] = NULL;
	}
}

/* One picture of every camera, whose exposure begins now or later. */
static int
grab(struct shoot *shoot, struct frame **picture)
{
	const struct camera *missed = shoot->camera;

	for (int tries = 0; tries < GRABS_MOST; tries++) {
		bool whole = true;

		for (size_t i = 0; i < shoot->cameras; i++)
			if (shoot->camera[i].trigger(&shoot->camera[i]) < 0)
				return screen_command_failed();
		for (size_t i = 0; i < shoot->cameras; i++) {
			struct camera *camera = &shoot->camera[i];
			double exposure = isfinite(camera->exposure_s) ? camera->exposure_s : 0;
			int got = camera->take(camera, TIMEOUT_S + exposure, &picture[i]);

			if (got < 1) {
				picture[i] = NULL;
				missed = camera;
				whole = false;
			}
			if (got < 0) {
				free_pictures(shoot, picture);
				return screen_command_failed();
			}
		}
		if (whole)
			return 0;
		free_pictures(shoot, picture);
		/* for those who interrupt a camera that is gone */
		if (shoot->screen->wait(shoot->screen, 0) < 0)
			return -1;
	}
	return fail(missed->name, "no whole picture in %d tries (%llu timeouts, %llu with lost "
	    "packets): is it connected, does the network take its rate?", GRABS_MOST,
	    (unsigned long long)missed->timeouts, (unsigned long long)missed->broken);
}

/* Shows an image; *time_s: when it came. */
static int
show(struct shoot *shoot, size_t image, double *time_s)
{
	struct screen *screen = shoot->screen;
	struct screen_shown shown;
	double asked = screen->now_s(screen);

	if (screen->show(screen, image, 0, &shown) < 0)
		return -1;
	*time_s = shown.time_s;
	shoot->late += screen->refresh_s > 0 && shown.time_s - asked > 1.5 * screen->refresh_s;
	shoot->copied += shown.copied;
	return 0;
}

static int
show_settled(struct shoot *shoot, size_t image)
{
	double t;

	return show(shoot, image, &t) < 0 ? -1 :
	    shoot->screen->wait(shoot->screen, t + SETTLE_S);
}

/* ---- flat images ---- */

static bool
same_pixels(const struct frame *a, const struct frame *b)
{
	if (!a)
		return false;
	for (size_t y = 0; y < a->head.h; y++)
		if (memcmp(frame_row(a, 0, y), frame_row(b, 0, y),
		    a->head.w * sample_size(a->head.type)))
			return false;
	return true;
}

/*
 * So many pictures of every camera of what is shown: camera i's are picture[i n ...]. The first one
 * is left out, and those that repeat the one before to the bit, as a camera that has just woken, or
 * a driver's queue, gives them; a camera without any noise gives no others. spread: begun at as
 * many phases of the refresh.
 */
static int
grab_flat(struct shoot *shoot, size_t n, bool spread, struct frame **picture)
{
	struct frame **last = must_alloc(shoot->cameras, sizeof(*last));
	struct frame **next = must_alloc(shoot->cameras, sizeof(*next));
	size_t *got = must_alloc(shoot->cameras, sizeof(*got)), tries = 0;
	const size_t distinct_within = shoot->check == CHECK_MIX ? 6 * n : n;
	struct screen *screen = shoot->screen;
	bool all = false, grabbed;
	int status = grab(shoot, last);

	while (status == 0 && !all) {
		if (spread) {
			double T = screen->refresh_s, now = screen->now_s(screen);

			status = screen->wait(screen, T > 0 ? (ceil(now / T) +
			    (double)(tries % n) / (double)n) * T : now);
		}
		if (status == 0)
			status = grab(shoot, next);
		tries++;
		all = grabbed = status == 0;
		for (size_t i = 0; grabbed && i < shoot->cameras; i++) {
			if (got[i] < n && (tries > distinct_within ||
			    !same_pixels(last[i], next[i])) &&
			    frame_duplicate(next[i], &picture[i * n + got[i]++]) < 0)
				status = -1;
			all &= got[i] == n;
			frame_free(last[i]);
			last[i] = next[i];
			next[i] = NULL;
		}
	}
	free_pictures(shoot, last);
	free_all(last, next, got);
	return status;
}

/* What the table of checks has for flat images. */
static int
flats_check(const struct shoot *shoot, const struct camera *camera, const struct light *light)
{
	double lit = (double)light->lit_pixels / (double)(light->w * light->h);
	double exposure = camera->exposure_s, T = shoot->screen->refresh_s;
	char advice[100] = "close the aperture, or lower the gain";

	if (T > 0 && exposure > 1.5 * T)
		snprintf(advice, sizeof(advice), "shorten the exposure to %.2f ms",
		    1e3 * T * fmax(1, floor(exposure / T / 2 + 0.01)));
	if (shoot->verbose)
		note(camera->name, "%.0f %% of the picture is lit, white is %.0f over black of "
		    "%.0f, noise %.2f", 100 * lit, light->level, camera->max_value, light->noise);
	if (light->saturated > SATURATED_MOST)
		return fail(camera->name, "white saturates in %.1f %% of the picture: %s",
		    100 * light->saturated, advice);
	if (lit < LIT_LEAST)
		return fail(camera->name, "%.0f %% of the picture is lit by %s: wrong screen, lens "
		    "cap, or too dark", 100 * lit, shoot->screen->name);
	if (light->saturated > SATURATED_NOTED)
		warn(camera->name, "white saturates in %.1f %% of the picture: %s",
		    100 * light->saturated, advice);
	if (light->level < DARK * camera->max_value)
		note(camera->name, "white is only %.0f over black of %.0f", light->level,
		    camera->max_value);
	if (light->beat > BEAT_MOST && !shoot->any_exposure)
		return fail(camera->name, "pictures of an even image differ by %.1f %%: the "
		    "exposure is no whole number of the projector's real refreshes, or a lamp "
		    "flickers (--any-exposure: go on)", 100 * light->beat);
	if (light->beat > BEAT_WARNED)
		warn(camera->name, "pictures of an even image differ by %.1f %%: a lamp drifts, or "
		    "the exposure beats with the refresh", 100 * light->beat);
	return 0;
}

int
shoot_flats(struct shoot *shoot)
{
	/* a command takes seconds for each */
	size_t cameras = shoot->cameras, n = shoot->check == CHECK_MIX ? FLAT_PICTURES : 2;
	struct frame **flat[3] = { NULL };
	size_t image[3] = { shoot->white, shoot->grey, shoot->black };
	size_t pictures[3] = { n, shoot->check == CHECK_MIX ? GREY_PICTURES : 1, n };
	int status = 0;

	shoot->light = must_alloc(cameras, sizeof(*shoot->light));
	shoot->before = must_alloc(cameras, sizeof(*shoot->before));
	shoot->before_level = 0;
	for (size_t k = 0; k < 3 && status == 0; k++) {
		flat[k] = must_alloc(pictures[k] * cameras, sizeof(**flat));
		status = show_settled(shoot, image[k]);
		if (status == 0)
			status = grab_flat(shoot, pictures[k], k == 1, flat[k]);
	}
	for (size_t i = 0; i < cameras && status == 0; i++) {
		struct light *light = &shoot->light[i];

		light_measure(light, &flat[2][i * n], &flat[0][i * n], n,
		    shoot->camera[i].max_value);
		light->beat = fmax(light_beat(light, &flat[0][i * n], n),
		    light_beat(light, &flat[1][i * pictures[1]], pictures[1]));
		status = flats_check(shoot, &shoot->camera[i], light);
		if (status == 0)
			status = frame_duplicate(flat[2][i * n + n - 1], &shoot->before[i]);
	}
	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; flat[k] && i < pictures[k] * shoot->cameras; i++)
			frame_free(flat[k][i]);
		free(flat[k]);
	}
	return status;
}

int
shoot_exposure_check(const struct shoot *shoot)
{
	double T = shoot->screen->refresh_s;

	for (size_t i = 0; i < shoot->cameras && !shoot->any_exposure && T > 0; i++) {
		const struct camera *camera = &shoot->camera[i];
		double exposure = camera->exposure_s, whole = fmax(1, round(exposure / T));
		double off = fabs(exposure - whole * T);

		if (isfinite(exposure) && off > fmax(EXPOSURE_TOLERANCE * whole * T,
		    camera->exposure_step_s))
			return fail_usage(camera->name, "exposure %.2f ms is %.2f refreshes of "
			    "%.2f ms: take %.2f or %.2f (--any-exposure: as it is)",
			    1e3 * exposure, exposure / T, 1e3 * T,
			    1e3 * T * fmax(1, floor(exposure / T)),
			    1e3 * T * (fmax(1, floor(exposure / T)) + 1));
	}
	return 0;
}

/* ---- latency ---- */

enum flash { FLASH_NEW, FLASH_MIXED, FLASH_OLD };

/*
 * Black, or white, and then the other one, with pictures from wait_s after its refresh until one of
 * them is new in all blocks of all cameras. Returns what the first one was; -1 after fail().
 * *need_s: the latest start that is seen to be too early, or 0.
 */
static int
flash(struct shoot *shoot, bool rises, double wait_s, double *need_s)
{
	struct frame **picture = must_alloc(shoot->cameras, sizeof(*picture));
	struct screen *screen = shoot->screen;
	enum flash first = FLASH_NEW, now;
	double t0;
	bool many = false;
	int status = show_settled(shoot, rises ? shoot->black : shoot->white);

	*need_s = 0;
	if (status == 0)
		status = show(shoot, rises ? shoot->white : shoot->black, &t0);
	if (status == 0)
		status = screen->wait(screen, t0 + wait_s);
	for (now = FLASH_MIXED; status == 0 && now != FLASH_NEW; many = true) {
		double start = screen->now_s(screen) - t0;

		if (start > wait_s + LATENCY_MOST_S)
			status = fail(screen->name, "no camera sees its light change within %g s",
			    LATENCY_MOST_S);
		if (status < 0 || (status = grab(shoot, picture)) < 0)
			break;
		now = FLASH_NEW;
		for (size_t i = 0; i < shoot->cameras; i++) {
			double latest, exposure = shoot->camera[i].exposure_s;
			double share = light_new_share(&shoot->light[i], picture[i], rises,
			    &latest);

			if (share >= NEW_LIGHT)
				continue;
			now = latest > 1 - NEW_LIGHT && now != FLASH_OLD ? FLASH_MIXED : FLASH_OLD;
			*need_s = fmax(*need_s, start + (isfinite(exposure) ? exposure :
			    screen->refresh_s) * (1 - fmax(share, 0)));
		}
		free_pictures(shoot, picture);
		first = many ? first : now;
	}
	free(picture);
	return status < 0 ? -1 : (int)first;
}

int
shoot_latency(struct shoot *shoot)
{
	double T = shoot->screen->refresh_s > 0 ? shoot->screen->refresh_s : 1 / 60., need;
	struct frame **picture = must_alloc(shoot->cameras, sizeof(*picture));
	int status = flash(shoot, true, 0, &need);
	size_t clean = 0, flashes = 0, old = 0;

	/* the last picture that was not new lasted until the change, at least */
	shoot->latency_s = need + T / 4;
	while (status >= 0 && clean < FLASHES_CLEAN) {
		status = flash(shoot, flashes % 2, shoot->latency_s, &need);
		if (status == FLASH_NEW)
			clean++;
		/* all old: repeated by the camera, as a rule; that says nothing of the latency */
		if (status == FLASH_MIXED || (status == FLASH_OLD && ++old % 3 == 0)) {
			shoot->latency_s += status == FLASH_OLD ? T : T / 4;
			clean = 0;
		}
		if (status >= 0 && (shoot->latency_s > LATENCY_MOST_S || ++flashes > FLASHES_MOST))
			status = fail(shoot->screen->name, "the latency cannot be measured, it "
			    "varies: give --latency, in ms");
	}
	if (status >= 0)
		status = show_settled(shoot, shoot->black);
	if (status == 0)
		status = grab_flat(shoot, 1, false, picture);
	for (size_t i = 0; i < shoot->cameras && status == 0; i++) {
		frame_free(shoot->before[i]);
		shoot->before[i] = picture[i];
	}
	shoot->before_level = 0;
	free(picture);
	return status < 0 ? -1 : 0;
}

/* ---- patterns ---- */

/* The sum of two pictures, with twice the max_value where that fits, else their mean. */
static int
add_pictures(const struct frame *a, const struct frame *b, double max_value, struct frame **out)
{
	struct frame_head head;
	const bool sum = 2 * max_value <= 65535;
	int status;

	head_copy(&head, &a->head);
	head.type = SAMPLE_USHORT;
	meta_set_number(&head.meta, "max_value", sum ? 2 * max_value : max_value);
	status = frame_new_if(0, &head, out);
	for (size_t y = 0; status == 0 && y < a->head.h; y++) {
		uint16_t *row = frame_row(*out, 0, y);

		for (size_t x = 0; x < a->head.w; x++) {
			float v = frame_sample(a, 0, y, x) + frame_sample(b, 0, y, x);

			row[x] = (uint16_t)(sum ? v : v / 2 + 0.5f);
		}
	}
	return status;
}

/* The worst of all cameras. flat: it must be an even image of this level, not only another one than
 * before, as the pattern that was shown in vain may come only now. */
static struct judgement
judge(const struct shoot *shoot, struct frame *const *a, struct frame *const *b, bool flat,
    double level)
{
	struct judgement worst = { .verdict = PICTURE_SETTLED };

	for (size_t i = 0; i < shoot->cameras; i++) {
		struct judgement one = light_judge(&shoot->light[i], a[i], b ? b[i] : NULL,
		    shoot->before[i]);

		if (flat && fabs(light_mean(&shoot->light[i], a[i]) - level) > FLAT_TOLERANCE)
			one.verdict = PICTURE_OLD;
		if (one.verdict == PICTURE_SETTLED || (worst.verdict != PICTURE_SETTLED &&
		    worst.verdict <= one.verdict))
			continue;
		worst = one;
	}
	return worst;
}

static void
verdict_text(const struct judgement *judgement, char text[120])
{
	switch (judgement->verdict) {
	case PICTURE_MIXED:
		snprintf(text, 120, "%.3g %% of the pattern before is still there (limit %.3g %%)",
		    100 * judgement->share, 100 * judgement->limit);
		break;
	case PICTURE_OLD:
		snprintf(text, 120, "still the pattern before");
		break;
	case PICTURE_REPEATED:
		snprintf(text, 120, "the camera gave the same picture twice");
		break;
	case PICTURE_UNSTEADY:
		snprintf(text, 120, "two pictures differ: something moves, or the light flickers");
		break;
	case PICTURE_SETTLED:
		snprintf(text, 120, "nothing shows that the screen still follows");
		break;
	default:
		snprintf(text, 120, "it differs from the pattern before in %zu of %zu blocks only",
		    judgement->judged, judgement->blocks);
	}
}

static int take_pattern(struct shoot *, const struct pattern *, bool may_part, struct frame **);

/* Does black, or white between dark ones, differ from what was and from what comes? Of white and
 * black themselves neither does; they differ from each other. */
static bool
can_part(const struct shoot *shoot, double level)
{
	return fmax(fmin(shoot->before_level, level), 1 - fmax(shoot->before_level, level)) > 0.2;
}

/* Shows black or white; a rejected picture leaves open what is seen. 1; -1 after fail(). */
static int
show_between(struct shoot *shoot, double level)
{
	struct pattern between = { shoot->black, 0, "black between" };
	struct frame **picture = must_alloc(shoot->cameras, sizeof(*picture));
	int status;

	if (shoot->before_level + level < 1)
		between = (struct pattern){ shoot->white, 1, "white between" };
	shoot->between++;
	status = take_pattern(shoot, &between, false, picture);
	shoot->unsure = status == 0;
	free_pictures(shoot, picture);
	free(picture);
	return status < 0 ? -1 : 1;
}

/* may_part: where the pattern before hardly differs, another one may be shown between them. */
static int
take_pattern(struct shoot *shoot, const struct pattern *pattern, bool may_part,
    struct frame **picture)
{
	struct frame **a = must_alloc(shoot->cameras, sizeof(*a)), **b = NULL;
	struct screen *screen = shoot->screen;
	struct judgement judgement = { .verdict = PICTURE_SETTLED };
	double t0;
	int status = 1;
	char text[120] = "";
	bool again = true;
	const bool flat = !may_part;

	if (shoot->check == CHECK_MIX)
		b = must_alloc(shoot->cameras, sizeof(*b));
	/* what is to be seen after a rejected pattern is not known */
	if (may_part && shoot->unsure)
		status = show_between(shoot, pattern->level);
	for (long tries = shoot->unsure ? shoot->retries : 0;; tries++) {
		if (again && (show(shoot, pattern->image, &t0) < 0 ||
		    screen->wait(screen, t0 + shoot->latency_s) < 0))
			status = -1;
		again = false;
		if (status < 0 || grab(shoot, a) < 0 || (b && grab(shoot, b) < 0)) {
			status = -1;
			break;
		}
		if (shoot->check != CHECK_NONE)
			judgement = judge(shoot, a, b, flat, pattern->level);
		if (judgement.verdict == PICTURE_SETTLED && !(may_part && shoot->unsure))
			break;
		verdict_text(&judgement, text);
		if (tries >= shoot->retries) {
			warn(pattern->name, "rejected after %ld retries: %s", tries, text);
			status = 0;
			break;
		}
		if (shoot->verbose)
			note(pattern->name, "%s, again", text);
		shoot->retaken++;
		if (may_part && tries >= TRIES_BEFORE_BETWEEN && can_part(shoot, pattern->level) &&
		    (judgement.verdict == PICTURE_OLD || judgement.verdict == PICTURE_ALIKE)) {
			status = show_between(shoot, pattern->level);
			may_part = false;
			again = true;
			tries = shoot->unsure ? shoot->retries - 1 : -1;
		}
		free_pictures(shoot, a);
		free_pictures(shoot, b);
	}
	for (size_t i = 0; i < shoot->cameras && status >= 0; i++) {
		struct frame **last = b ? &b[i] : &a[i];

		if ((b ? add_pictures(a[i], b[i], shoot->camera[i].max_value, &picture[i]) :
		    frame_duplicate(a[i], &picture[i])) < 0) {
			status = -1;
			break;
		}
		frame_free(shoot->before[i]);
		shoot->before[i] = *last;
		*last = NULL;
	}
	shoot->before_level = pattern->level;
	free_pictures(shoot, a);
	free_pictures(shoot, b);
	free(a);
	free(b);
	return status;
}

int
shoot_pattern(struct shoot *shoot, const struct pattern *pattern, struct frame **picture)
{
	int status = take_pattern(shoot, pattern, true, picture);

	shoot->rejected += status == 0;
	shoot->unsure |= status == 0;
	return status;
}

void
shoot_end(struct shoot *shoot)
{
	unsigned long long lost = 0, broken = 0, timeouts = 0;
	struct screen_shown shown;

	for (size_t i = 0; i < shoot->cameras; i++) {
		lost += shoot->camera[i].lost;
		broken += shoot->camera[i].broken;
		timeouts += shoot->camera[i].timeouts;
		if (shoot->light)
			light_free(&shoot->light[i]);
		if (shoot->before)
			frame_free(shoot->before[i]);
	}
	free(shoot->light);
	free(shoot->before);
	shoot->screen->show(shoot->screen, shoot->black, 0, &shown);
	if (lost + broken + timeouts)
		warn(NULL, "cameras lost %llu pictures, %llu came with packets missing, %llu not "
		    "in time: all taken again", lost, broken, timeouts);
	if (shoot->verbose)
		note(NULL, "%zu taken again, %zu rejected, %zu images between; %zu came late, %zu "
		    "were copied, not flipped", shoot->retaken, shoot->rejected, shoot->between,
		    shoot->late, shoot->copied);
}
