/*
 * Finds the place of each image in its set by what the images look like. Image j of a set is A + B
 * cos(phi_k + d_j) with weak harmonics, or a level, or a plane of Gray code: so the covariance of
 * two images over the pixels follows from their places and from how far the scene moves between
 * them. Some 2000 sampled pixels are enough, and of these only inner products with the last images.
 * A beam of sequences of places, each under one of ten speeds of the scene, with and without
 * harmonics, is kept by how well it predicts the next image (linear prediction from the last two
 * sets).
 *
 * Covariances do not tell which period is which, nor Gray planes that are plain in the field. Whole
 * sets tell these: over a long distance the phases of two periods drift apart by the beat
 * (order_of_blocks()), and Gray planes have two levels, A + B and A - B (two_level_error()).
 *
 * An ordered stream stays as it is: images are left out only where the better sequence fits at
 * least four times better in squared error.
 */
#include "fringe/measurement.h"

#include <complex.h>
#include <math.h>

#include "base/linear.h"
#include "base/numbers.h"
#include "base/process.h"
#include "base/px.h"

#define PLACES_MOST 24		/* images of a set */
#define PAST_MOST 26		/* images that predict the next one */
#define PRODUCTS_MOST 64	/* images whose inner products with the next one are known */
#define HISTORY 128		/* images that are remembered */
#define PATHS_MOST 200
#define CANDIDATES 1000		/* clusters of pixels, of which the lit ones count */
#define CLUSTERS 260
#define CLUSTERS_LEAST 40
#define DISTANCES 8
#define CELLS 8			/* of the picture, each of which is left out once */
#define CACHED 1024		/* predictions */
#define MOTIONS 10
#define MODELS (2 * MOTIONS)	/* each motion, of sines and of fringes with harmonics */

static const double distance_px[DISTANCES] = { 0, 2, 4, 8, 16, 32, 64, 100 };
/* How far the scene moves between images, in projector pixels, and the spread of that: one broad
 * model for scenes of which a part moves, and a bank of narrow ones, without which a motion of a
 * step's length passes for a lost image. */
static const struct { double drift_px, spread_px; } model_motion[MOTIONS] = { { 0, 0.7 },
	{ 0, 0.12 }, { -1, 0.12 }, { -0.75, 0.12 }, { -0.5, 0.12 }, { -0.25, 0.12 }, { 0.25, 0.12 },
	{ 0.5, 0.12 }, { 0.75, 0.12 }, { 1, 0.12 } };
#define HARMONICS 3
/* Of the fringes' variance: what a gamma adds, and square waves out of focus (an amplitude of a
 * fifth). A third harmonic is the same in three equal steps, so that one that moves with the scene
 * would pass for a lost image. */
static const double harmonic_power[HARMONICS + 1] = { 0, 1, 0.01, 0.04 };

#define LIT 0.15		/* of the 90 % quantile of the variance: pixels that count */
#define RESIDUE 0.01		/* variance that nothing predicts, of a fringe's */
#define INDEPENDENT 12		/* independent pixels: more pays for aliases of motion */
#define SURE 0.999		/* probability of a set's places */
#define MISFIT_MOST 6		/* squared error over the predicted one */
#define NATS_MOST 40		/* paths that are less likely by so many are given up */
#define BETTER 4		/* in squared error: an order is left for one that fits so */
#define LOST 0.02		/* probability of a lost image, of each one more 1/8 */
#define REPEATED 0.004
#define PERIOD_UNKNOWN_PX 40

struct place {
	int fringe;		/* -1: none */
	int code;		/* number of a Gray plane, negative of its inverse; 0: none */
	double shift_rad, level;	/* 1 white, -1 black, 0 mean */
	double cell_px;		/* width of a Gray cell */
};

/* A sequence of places; what belongs to image t stands at t % HISTORY. */
struct path {
	double score;		/* log likelihood, the best one's is 0 */
	size_t model;
	uint8_t place[HISTORY];
	bool next[HISTORY];	/* it follows the previous image's place */
	float misfit[HISTORY];	/* squared error over the predicted one */
};

/* Weights of the last images in the prediction of the next one, for each place that it may have. */
struct prediction {
	uint8_t key[PAST_MOST + 2];	/* model, number of images, their places */
	double *weight, *variance;
};

struct image_places {
	size_t n, periods, group;	/* images of a set; places below group differ */
	struct place place[PLACES_MOST];
	bool equal[PLACES_MOST];	/* a set that begins there has the same covariance */
	double period_px[PLACES_MOST];
	enum { START_KNOWN, START_BY_BEAT, START_BY_GRAY } start;
	enum places_untold untold;
	bool down;			/* phases vary along y */
	double finest_px;		/* the least width of a Gray cell */
	size_t past, products;
	double next_log[PLACES_MOST][PLACES_MOST];	/* of the place after each place */
	/* samples */
	size_t candidates, distances, clusters, samples, lit;
	uint32_t x[CANDIDATES], y[CANDIDATES];
	uint8_t cell[CANDIDATES];
	bool *is_lit;
	float *first;			/* of all candidates in the first images, before begun */
	float *sample[HISTORY];
	bool begun, off;
	double unit, offset;		/* half the mean of B squared; mean of A squared over it */
	double product[HISTORY][HISTORY];	/* of two images, over unit and samples */
	/* paths */
	size_t images, from, paths;	/* taken so far; the first that predicts */
	struct path *path, *other;
	struct prediction cached[CACHED];
	/* sets */
	bool anchored, voted, alike;	/* alike: the periods are, in this field */
	double two_level;		/* error of the set that told, of Gray planes */
	size_t anchor, last_vote, refused;	/* to add to places; images before the last vote */
	bool formed[HISTORY], closed[HISTORY];	/* by first image; by last image: decided */
	bool any_formed, any_accepted;
	size_t at;			/* the first image without an answer */
};

/* ---- the set ---- */

static double
covariance(const struct image_places *places, size_t model, size_t p, size_t q, double apart)
{
	const struct place *a = &places->place[p], *b = &places->place[q];
	double drift = model_motion[model % MOTIONS].drift_px;
	double spread = model_motion[model % MOTIONS].spread_px;
	double sum = places->offset + 0.95 * sqrt(2 * places->offset) * (a->level + b->level) +
	    2 * a->level * b->level;

	if (a->fringe >= 0 && a->fringe == b->fringe) {
		double rate = 2 * M_PI / places->period_px[a->fringe];

		for (int m = 1; m <= (model < MOTIONS ? 1 : HARMONICS); m++)
			sum += harmonic_power[m] * cos(m * (a->shift_rad - b->shift_rad +
			    rate * drift * apart)) * exp(-0.5 * pow(m * rate * spread * apart, 2));
	}
	if (a->code && abs(a->code) == abs(b->code))
		sum += (a->code == b->code ? 2 : -2) * exp(-2 * spread * fabs(apart) / a->cell_px);
	return sum;
}

static void
describe_places(struct image_places *places, const struct capture *capture,
    const struct capture_set *set)
{
	for (size_t i = 0; i < places->n; i++) {
		enum manifest_role role = capture[i].described.role;

		places->place[i] = (struct place){ .fringe = -1, .level = role == ROLE_WHITE ? 1 :
		    role == ROLE_BLACK || role == ROLE_MARKER ? -1 : 0 };
	}
	for (size_t k = 0; k < set->fringes; k++) {
		const struct capture_fringe *fringe = &set->fringe[k];

		places->period_px[k] = isnan(fringe->period_px) ? PERIOD_UNKNOWN_PX :
		    fringe->period_px;
		places->down |= fringe->axis == 'y';
		for (size_t i = 0; i < fringe->n - fringe->two_plus_one; i++) {
			places->place[fringe->plane[i]].fringe = (int)k;
			places->place[fringe->plane[i]].shift_rad = fringe->shift_rad[i];
		}
	}
	for (size_t a = 0; a < set->codes; a++)
		for (size_t i = 0; i < set->code[a].n; i++) {
			const struct capture_code *code = &set->code[a];
			struct place own = { .fringe = -1, .code = (int)(32 * a + i + 1),
				.cell_px = ldexp(isnan(code->period_px) ? places->period_px[0] :
				code->period_px, (int)(code->n - 1 - i)) };

			places->place[code->plane[i]] = own;
			places->finest_px = i + a == 0 ? own.cell_px : fmin(own.cell_px,
			    places->finest_px);
			own.code = -own.code;
			if (code->inverse)
				places->place[code->inverse[i]] = own;
		}
}

/* Which starts have the covariance of the right one; how the right one is found. */
static void
find_start(struct image_places *places, const struct capture_set *set)
{
	size_t n = places->n;
	bool blocks = set->fringes > 1, alike = true;

	places->group = n;
	for (size_t r = 0; r < n; r++) {
		places->equal[r] = true;
		for (size_t i = 0; i < n * n && places->equal[r]; i++)
			places->equal[r] = fabs(covariance(places, 1, i / n, i % n, 0) -
			    covariance(places, 1, (i / n + r) % n, (i % n + r) % n, 0)) < 0.15;
		if (places->equal[r] && r && places->group == n)
			places->group = r;
	}
	for (size_t k = 0; k < set->fringes; k++) {
		blocks &= set->fringe[k].axis == set->fringe[0].axis &&
		    !isnan(set->fringe[k].period_px);
		alike &= set->fringe[k].period_px == set->fringe[0].period_px;
	}
	places->start = set->codes ? START_BY_GRAY : places->group == n ? START_KNOWN :
	    blocks && !alike && places->group * set->fringes == n &&
	    places->place[places->group].fringe != places->place[0].fringe ? START_BY_BEAT :
	    START_KNOWN;
	if (places->start == START_KNOWN && places->group < n)
		places->untold = alike || !blocks ? PLACES_START : PLACES_ALIKE;
	places->anchored = places->start == START_KNOWN;
}

static void
choose_pixels(struct image_places *places, size_t w, size_t h)
{
	size_t along = places->down ? h : w, reach;

	places->distances = 1;
	while (places->distances < DISTANCES &&
	    2 * (size_t)distance_px[places->distances] <= along)
		places->distances++;
	reach = (size_t)distance_px[places->distances - 1];
	places->candidates = w * h < CANDIDATES ? w * h : CANDIDATES;
	for (size_t i = 0; i < places->candidates; i++) {
		size_t wide = places->down ? w : w - reach, high = places->down ? h - reach : h;

		places->x[i] = px_hash((uint32_t)(2 * i)) % (uint32_t)wide;
		places->y[i] = px_hash((uint32_t)(2 * i + 1)) % (uint32_t)high;
		places->cell[i] = (uint8_t)(places->x[i] * 4 / wide +
		    4 * (places->y[i] * 2 / high));
	}
}

struct image_places *
image_places_new(const struct capture_options *options, const struct manifest *manifest,
    const struct frame_head *head)
{
	struct capture *capture = must_alloc(head->c, sizeof(*capture));
	struct capture_set set;
	struct image_places *places = NULL;

	if (capture_set_sort(options, manifest, head, &set) == 0 && set.fringes &&
	    head->c <= PLACES_MOST && set.fringes <= PLACES_MOST && head->w >= 16 &&
	    head->h >= 16 && capture_roles_describe(options, manifest, head, capture) == 0) {
		places = must_alloc(1, sizeof(*places));
		places->n = head->c;
		places->periods = set.fringes;
		places->offset = 3.5;	/* of ordinary images, until it is measured */
		places->past = 2 * places->n < 9 ? 9 : 2 * places->n;
		if (places->past > PAST_MOST)
			places->past = PAST_MOST;
		places->products = 3 * places->n < places->past ? places->past : 3 * places->n;
		if (places->products > PRODUCTS_MOST)
			places->products = PRODUCTS_MOST;
		describe_places(places, capture, &set);
		find_start(places, &set);
		choose_pixels(places, head->w, head->h);
		places->path = must_alloc(PATHS_MOST, sizeof(*places->path));
		places->other = must_alloc(PATHS_MOST, sizeof(*places->other));
		for (size_t p = 0; p < places->n; p++)
			for (size_t lost = 0; lost < places->n; lost++)
				places->next_log[p][(p + 1 + lost) % places->n] = log(lost == 0 ?
				    1 - LOST - 2 * REPEATED : lost + 1 == places->n ?
				    REPEATED + LOST * pow(8, 1 - (double)lost) :
				    LOST * pow(8, 1 - (double)lost));
	}
	fail_clear();
	free(capture);
	capture_set_free(&set);
	return places;
}

void
image_places_free(struct image_places *places)
{
	if (!places)
		return;
	for (size_t i = 0; i < HISTORY; i++)
		free(places->sample[i]);
	for (size_t i = 0; i < CACHED; i++)
		free(places->cached[i].weight);
	free_all(places->first, places->is_lit, places->path, places->other, places);
}

/* ---- samples ---- */

static void
read_clusters(const struct image_places *places, const struct frame *in, size_t n, float *out)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < places->distances; k++) {
			size_t off = (size_t)distance_px[k];
			float v = frame_sample(in, 0, places->y[i] + (places->down ? off : 0),
			    places->x[i] + (places->down ? 0 : off));

			*out++ = isfinite(v) ? v : 0;
		}
}

/* A quantile of n numbers, which it sorts. */
static float
quantile(float *v, size_t n, double share)
{
	qsort(v, n, sizeof(*v), numbers_compare);
	return v[(size_t)(share * (double)(n - 1))];
}

/* Variance of a sample over the first images. */
static float
variance_of(const float *v, size_t images, size_t stride, double *mean)
{
	double sum = 0, squares = 0;

	for (size_t t = 0; t < images; t++) {
		sum += (double)v[t * stride];
		squares += (double)v[t * stride] * (double)v[t * stride];
	}
	*mean = sum / (double)images;
	return (float)(squares / (double)images - *mean * *mean);
}

/*
 * After the first images: keeps lit clusters of pixels, and measures the fringes' amplitude and
 * mean. False: too few pixels show fringes.
 */
static bool
begin(struct image_places *places)
{
	size_t n = places->n, d = places->distances, all = places->candidates * d, images = n + 1;
	float *variance = must_alloc(2 * all, sizeof(*variance)), *sorted = variance + all, least;
	double mean, unit = 0, offset = 0, trace = 0, sum = 0;

	for (size_t i = 0; i < places->candidates; i++) {
		sorted[i] = 0;
		for (size_t k = 0; k < d; k++) {
			size_t s = i * d + k;

			variance[s] = variance_of(places->first + s, images, all, &mean);
			sorted[i] += variance[s];
		}
	}
	least = (float)LIT * quantile(sorted, places->candidates, 0.97);
	for (size_t i = 0; i < places->candidates && places->clusters < CLUSTERS; i++) {
		size_t to = places->clusters;
		float own = 0;

		for (size_t k = 0; k < d; k++)
			own += variance[i * d + k];
		if (!(own > least))
			continue;
		for (size_t t = 0; t < images; t++)	/* no cluster moves back */
			memmove(places->first + t * all + to * d,
			    places->first + t * all + i * d, d * sizeof(float));
		memmove(variance + to * d, variance + i * d, d * sizeof(float));
		places->x[to] = places->x[i];
		places->y[to] = places->y[i];
		places->cell[to] = places->cell[i];
		places->clusters++;
	}
	places->samples = places->clusters * d;
	if (places->clusters < CLUSTERS_LEAST) {
		free(variance);
		return false;
	}
	memcpy(sorted, variance, places->samples * sizeof(*sorted));
	least = (float)LIT * quantile(sorted, places->samples, 0.9);
	places->is_lit = must_alloc(places->samples, sizeof(*places->is_lit));
	for (size_t s = 0; s < places->samples; s++) {
		if (!(variance[s] > least))
			continue;
		places->is_lit[s] = true;
		places->lit++;
		unit += (double)variance_of(places->first + s, images, all, &mean);
		offset += mean * mean;
	}
	free(variance);
	for (size_t i = 0; i < n * n; i++) {
		double c = covariance(places, 1, i / n, i % n, 0);

		trace += i / n == i % n ? c : 0;
		sum += c;
	}
	places->unit = unit / (double)places->lit / ((trace - sum / (double)n) / (double)n);
	places->offset = offset / (double)places->lit / places->unit;
	return places->unit > 0 && isfinite(places->offset);
}

/* ---- paths ---- */

/* Times of images that have these places, from 0. */
static void
times_of(const struct image_places *places, const uint8_t *place, size_t n, double *time)
{
	time[0] = 0;
	for (size_t i = 1; i < n; i++)
		time[i] = time[i - 1] + 1 +
		    (double)((place[i] + 2 * places->n - place[i - 1] - 1) % places->n);
}

/* The covariance of n images of these places and times. */
static void
fill_covariance(const struct image_places *places, size_t model, const uint8_t *place,
    const double *time, size_t n, double *C)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			C[i * n + k] = covariance(places, model, place[i], place[k],
			    time[i] - time[k]) + (i == k ? RESIDUE : 0);
}

/* The weights of the last images, which have these places; cached. */
static const struct prediction *
predict(struct image_places *places, size_t model, const uint8_t *place, size_t past)
{
	size_t n = places->n;
	uint8_t key[PAST_MOST + 2] = { (uint8_t)(model + 1), (uint8_t)past };
	double C[PAST_MOST * PAST_MOST], c[PAST_MOST * PLACES_MOST], b[PAST_MOST * PLACES_MOST];
	double time[PAST_MOST];
	uint32_t at = 0;
	struct prediction *own;

	memcpy(key + 2, place, past);
	for (size_t i = 0; i < sizeof(key); i++)
		at = px_hash(at * 31 + key[i]);
	own = &places->cached[at % CACHED];
	if (!memcmp(own->key, key, sizeof(key)))
		return own;
	memcpy(own->key, key, sizeof(key));
	if (!own->weight)
		own->weight = must_alloc(n * (places->past + 1), sizeof(*own->weight));
	own->variance = own->weight + n * places->past;
	times_of(places, place, past, time);
	fill_covariance(places, model, place, time, past, C);
	for (size_t p = 0; p < n; p++) {
		double next = time[past - 1] + 1 +
		    (double)((p + 2 * n - place[past - 1] - 1) % n);

		for (size_t i = 0; i < past; i++)
			c[i * n + p] = covariance(places, model, place[i], p, time[i] - next);
	}
	memcpy(b, c, past * n * sizeof(*b));
	symmetric_factor(past, C, 0);
	symmetric_solve(past, C, b, n);
	for (size_t p = 0; p < n; p++) {
		own->variance[p] = covariance(places, model, p, p, 0) + RESIDUE;
		for (size_t i = 0; i < past; i++) {
			own->variance[p] -= b[i * n + p] * c[i * n + p];
			own->weight[p * places->past + i] = b[i * n + p];
		}
		own->variance[p] = fmax(own->variance[p], RESIDUE);
	}
	return own;
}

/* The last `images` places of a path before image t, oldest first. */
static void
last_places(const struct path *path, size_t t, size_t images, uint8_t *out)
{
	for (size_t i = 0; i < images; i++)
		out[i] = path->place[(t - images + i) % HISTORY];
}

struct extension {
	double score;
	size_t from, place;
	double misfit;
};

static int
compare_extensions(const void *a, const void *b)
{
	const struct extension *left = a, *right = b;

	if (left->score != right->score)
		return left->score < right->score ? 1 : -1;
	return left < right ? -1 : 1;
}

/* Image t goes on from every path, at every place; the best paths stay. */
static void
extend_paths(struct image_places *places, size_t t)
{
	size_t n = places->n, past = t - places->from, count = 0;
	struct extension *all = must_alloc(PATHS_MOST * PLACES_MOST, sizeof(*all));
	const struct path *swap;

	past = past > places->past ? places->past : past;
	for (size_t h = 0; h < places->paths; h++) {
		const struct path *path = &places->path[h];
		const struct prediction *own;
		uint8_t place[PAST_MOST];

		last_places(path, t, past, place);
		own = predict(places, path->model, place, past);
		for (size_t p = 0; p < n; p++) {
			const double *w = own->weight + p * places->past;
			double error = places->product[t % HISTORY][t % HISTORY], v;

			for (size_t i = 0; i < past; i++) {
				const double *row = places->product[(t - past + i) % HISTORY];
				double sum = -2 * row[t % HISTORY];

				for (size_t k = 0; k < past; k++)
					sum += w[k] * row[(t - past + k) % HISTORY];
				error += w[i] * sum;
			}
			v = own->variance[p];
			all[count++] = (struct extension){ path->score + places->next_log[
			    place[past - 1]][p] - 0.5 * INDEPENDENT * (log(v) + error / v), h, p,
			    error / v };
		}
	}
	qsort(all, count, sizeof(*all), compare_extensions);
	places->paths = 0;
	for (size_t i = 0; i < count && i < PATHS_MOST &&
	    all[i].score > all[0].score - NATS_MOST; i++) {
		struct path *path = &places->other[places->paths++];

		*path = places->path[all[i].from];
		path->score = all[i].score - all[0].score;
		path->next[t % HISTORY] = all[i].place ==
		    (path->place[(t - 1) % HISTORY] + 1u) % n;
		path->place[t % HISTORY] = (uint8_t)all[i].place;
		path->misfit[t % HISTORY] = (float)all[i].misfit;
	}
	swap = places->path;
	places->path = places->other;
	places->other = (struct path *)swap;
	free(all);
}

/* Paths begin with image t, at all places that differ in covariance; what was before them is that
 * of the best one. */
static void
begin_paths(struct image_places *places, size_t t)
{
	struct path *best = must_alloc(1, sizeof(*best));

	*best = places->path[0];
	places->from = t;
	places->paths = 0;
	for (size_t m = 0; m < MODELS; m++)
		for (size_t p = 0; p < places->group && places->paths < PATHS_MOST; p++) {
			struct path *path = &places->path[places->paths++];

			*path = *best;
			path->model = m;
			path->score = m % MOTIONS < 2 ? 0 : -1;
			path->place[t % HISTORY] = (uint8_t)p;
			path->next[t % HISTORY] = t == 0;
			path->misfit[t % HISTORY] = 0;
		}
	free(best);
}

/* After an anchor was found: the best path under every model; what fits motion alone goes. */
static void
keep_best_path(struct image_places *places)
{
	places->path[0].score = 0;
	places->paths = MODELS;
	for (size_t m = 0; m < MODELS; m++) {
		places->path[m] = places->path[0];
		places->path[m].model = m;
	}
}

/* ---- whole sets ---- */

/* Mean and phasor of period k of every sample in the set that ends with image `end`, whose images
 * have these places. */
static void
fit_fringe(const struct image_places *places, size_t end, const uint8_t *place, size_t k,
    float *mean, float complex *phasor)
{
	size_t n = places->n, fringes = 0, levels = 0;

	memset(mean, 0, places->samples * sizeof(*mean));
	memset(phasor, 0, places->samples * sizeof(*phasor));
	for (size_t i = 0; i < n; i++) {
		fringes += places->place[place[i]].fringe == (int)k;
		levels += places->place[place[i]].fringe < 0 && !places->place[place[i]].code &&
		    places->place[place[i]].level == 0;
	}
	for (size_t i = 0; i < n; i++) {
		const float *v = places->sample[(end + 1 - n + i) % HISTORY];
		const struct place *own = &places->place[place[i]];
		bool level = own->fringe < 0 && !own->code && own->level == 0;

		for (size_t s = 0; s < places->samples && (fringes == 2 ? level :
		    own->fringe == (int)k); s++)
			mean[s] += v[s] / (float)(fringes == 2 ? levels : fringes);
	}
	for (size_t i = 0; i < n; i++) {
		const float *v = places->sample[(end + 1 - n + i) % HISTORY];
		const struct place *own = &places->place[place[i]];
		float complex turn = (float complex)cexp(-I * own->shift_rad) *
		    (fringes == 2 ? 1 : 2 / (float)fringes);

		for (size_t s = 0; s < places->samples && own->fringe == (int)k; s++)
			phasor[s] += (v[s] - mean[s]) * turn;
	}
}

#define TWO_LEVEL_MOST 0.22	/* 0.05 to 0.15 at the right places, 0.3 and more at others */
/* A plane whose cells are as fine as the blur, and a fringe, are off by 0.41: but a fringe is A + B
 * cos(phi + d) with any d, but for so much of its variance at most. */
#define TWO_LEVEL_BLURRED 0.45
#define FRINGE_LIKE 0.4
#define TWO_LEVEL_TIMES 1.5
#define TWO_LEVEL_LEAST 0.1	/* what motion may add */

/* The share of an image's variance about the mean of the fringes that these explain, with any shift
 * and amplitude: linear regression on both parts of the phasor. */
static double
fringe_share(const struct image_places *places, const float *v, const float *mean,
    const float complex *phasor)
{
	double aa = 0, ab = 0, bb = 0, av = 0, bv = 0, vv = 0;

	for (size_t s = 0; s < places->samples; s++) {
		double a = crealf(phasor[s]), b = cimagf(phasor[s]), own = v[s] - mean[s];

		if (!places->is_lit[s])
			continue;
		aa += a * a;
		ab += a * b;
		bb += b * b;
		av += a * own;
		bv += b * own;
		vv += own * own;
	}
	return vv > 0 && aa * bb > ab * ab ? (av * av * bb - 2 * av * bv * ab + bv * bv * aa) /
	    (aa * bb - ab * ab) / vv : 1;
}

/*
 * How far Gray planes are off two levels, A + B and A - B, if the set that ends with image `end` is
 * turned by so many places: of (I - A)/B over its median above and below 0, less 1, the 70 %
 * quantile of the worst plane. *like, unless NULL: of the variance of the plane that is most like a
 * fringe the share that A + B cos(phi + d) explains.
 */
static double
two_level_error(const struct image_places *places, size_t end, size_t turn, double *like)
{
	size_t n = places->n, samples = places->samples;
	float *mean = must_alloc(2 * samples, sizeof(*mean)), *sorted = mean + samples, least;
	float complex *phasor = must_alloc(samples, sizeof(*phasor));
	uint8_t place[PLACES_MOST];
	double worst = 0, light[PLACES_MOST] = { 0 }, dark = INFINITY, bright = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		const float *v = places->sample[(end + 1 - n + i) % HISTORY];

		place[i] = (uint8_t)((i + turn) % n);
		for (size_t s = 0; s < samples; s++)
			light[i] += places->is_lit[s] ? (double)v[s] : 0;
		dark = fmin(dark, light[i]);
		bright = fmax(bright, light[i]);
	}
	for (size_t i = 0; i < n; i++)	/* a lead frame is the darkest, or the lightest */
		if (places->place[place[i]].level * (light[i] - (bright + dark) / 2) <
		    0.45 * (bright - dark) * fabs(places->place[place[i]].level))
			worst = INFINITY;
	fit_fringe(places, end, place, 0, mean, phasor);
	for (size_t s = 0; s < samples; s++)
		sorted[s] = cabsf(phasor[s]);
	least = 0.3f * quantile(sorted, samples, 0.9);
	if (like)
		*like = 0;
	for (size_t i = 0; i < n; i++) {
		const float *v = places->sample[(end + 1 - n + i) % HISTORY];
		size_t count = 0, above = 0;

		if (!places->place[place[i]].code)
			continue;
		if (like)
			*like = fmax(*like, fringe_share(places, v, mean, phasor));
		/* Gray may be stronger than fringes */
		for (int below = 0; below < 2; below++) {
			size_t first = count;
			float level;

			for (size_t s = 0; s < samples; s++)
				if (places->is_lit[s] && cabsf(phasor[s]) > least &&
				    (v[s] < mean[s]) == below)
					sorted[count++] = (v[s] - mean[s]) / cabsf(phasor[s]);
			above = below ? above : count;
			if (count == first)
				continue;
			level = quantile(sorted + first, count - first, 0.5);
			for (size_t s = first; s < count; s++)
				sorted[s] = fabsf(sorted[s] / level - 1);
		}
		worst = count ? fmax(worst, (double)quantile(sorted, count, 0.7)) : INFINITY;
		/* the finest plane is never plain: that is the next set's lead frame */
		if (places->place[place[i]].cell_px <= places->finest_px &&
		    (10 * above < count || 10 * (count - above) < count))
			worst = INFINITY;
	}
	free(mean);
	free(phasor);
	return worst;
}

/* Image t: does it end a set with Gray planes? Its levels alone tell: a lost image moves all planes
 * behind it. */
static void
form_gray_set(struct image_places *places, size_t t)
{
	double like, error = two_level_error(places, t, 0, &like);
	bool whole = error < (like < FRINGE_LIKE ? TWO_LEVEL_BLURRED : TWO_LEVEL_MOST);

	for (size_t turn = 1; turn < places->n && whole; turn++)
		whole = two_level_error(places, t, turn, NULL) > TWO_LEVEL_TIMES * error;
	if (!whole)
		return;
	places->formed[(t + 1 - places->n) % HISTORY] = places->anchored = true;
	places->two_level = places->two_level > 0 ? fmin(places->two_level, error) : error;
	places->two_level = fmax(places->two_level, TWO_LEVEL_LEAST);
}

/*
 * Which block of images is which period: between pixels far apart the phases of two periods drift
 * apart by the beat, 2 pi u (1/T1 - 1/T2) over u projector pixels. Leaving out each part of the
 * picture must give the same answer. The blocks to add to that of each place; `periods`: not told.
 */
static size_t
order_of_blocks(struct image_places *places, size_t end, const uint8_t *place)
{
	size_t K = places->periods, d = places->distances, samples = places->samples;
	size_t order = K, J = 0;
	float *mean = must_alloc(2 * samples, sizeof(*mean)), *sorted = mean + samples, least;
	float complex *z = must_alloc(K * samples, sizeof(*z));
	bool *strong = must_alloc(samples, sizeof(*strong)), sure = d > 3;
	double slope = NAN, inverse_sum = 0, low = INFINITY, high = 0, per_px;

	for (size_t k = 0; k < K; k++) {
		fit_fringe(places, end, place, k, mean, z + k * samples);
		inverse_sum += 1 / places->period_px[k];
		low = fmin(low, 1 / places->period_px[k]);
		high = fmax(high, 1 / places->period_px[k]);
	}
	for (size_t s = 0; s < samples; s++)
		sorted[s] = cabsf(z[s]);
	least = 0.3f * quantile(sorted, samples, 0.9);
	for (size_t s = 0; s < samples; s++) {
		strong[s] = true;
		for (size_t k = 0; k < K; k++)
			strong[s] &= cabsf(z[k * samples + s]) > least;
	}
	for (size_t k = 1; k < K && sure; k++) {	/* alike in the field? */
		float complex cross = 0;
		float own = 0, other = 0;

		for (size_t s = 0; s < samples; s++) {
			float complex a = z[k * samples + s], b = z[(k - 1) * samples + s];

			if (!strong[s])
				continue;
			cross += a * conjf(b);
			own += crealf(a * conjf(a));
			other += crealf(b * conjf(b));
		}
		if (cabsf(cross) > 0.92f * sqrtf(own * other)) {
			places->untold = PLACES_ALIKE;
			places->alike = true;
			sure = false;
		}
	}
	/* projector pixels per camera pixel, from the longest short distance that does not wrap;
	 * from 2 px up, as a longer one can go round by nearly a whole turn */
	for (size_t more = 1; more <= 3 && sure; more++) {
		double first = 0, sum = 0;
		bool wraps = false, slopes = true;

		for (size_t k = 0; k < K; k++) {
			double median;
			size_t c = 0;

			for (size_t i = 0; i < places->clusters; i++)
				if (strong[i * d] && strong[i * d + more])
					sorted[c++] = cargf(z[k * samples + i * d + more] *
					    conjf(z[k * samples + i * d]));
			median = c < CLUSTERS_LEAST ? 0 : (double)quantile(sorted, c, 0.5);
			wraps |= fabs(median) > 1.6;
			first = k ? first : median;
			slopes &= median * first > 0 && fabs(median) > 1e-3 * distance_px[more];
			sum += median / distance_px[more];
		}
		if (wraps)
			break;
		slope = slopes ? sum : NAN;
	}
	sure &= !isnan(slope);
	per_px = slope / (2 * M_PI * inverse_sum);
	for (size_t i = 1; i < d; i++)
		J = i == 1 || distance_px[i] * 2 * M_PI * fabs(per_px) * (high - low) < 1.6 ? i : J;
	for (size_t left_out = 0; left_out <= CELLS && sure; left_out++) {
		double distance[PLACES_MOST] = { 0 }, best = INFINITY, second = INFINITY;
		size_t own = 0;

		for (size_t k = 1; k < K; k++) {
			double complex sum = 0;
			size_t c = 0;

			for (size_t i = 0; i < places->clusters; i++) {
				float complex a = z[k * samples + i * d + J] *
				    conjf(z[k * samples + i * d]);
				float complex b = z[i * d + J] * conjf(z[i * d]);

				if (!strong[i * d] || !strong[i * d + J] ||
				    places->cell[i] + 1u == left_out)
					continue;
				sum += (double complex)(a * conjf(b)) /
				    (double)(cabsf(a) * cabsf(b));
				c++;
			}
			sure &= c > CLUSTERS_LEAST / 2 &&
			    (left_out || cabs(sum) > 0.6 * (double)c);
			for (size_t g = 0; g < K; g++) {
				double beat = 2 * M_PI * per_px * distance_px[J] *
				    (1 / places->period_px[(k + g) % K] -
				    1 / places->period_px[g]);

				distance[g] += cabs(cexp(I * (carg(sum) - beat)) - 1);
			}
		}
		for (size_t g = 0; g < K; g++) {
			own = distance[g] < best ? g : own;
			second = fmin(second, fmax(best, distance[g]));
			best = fmin(best, distance[g]);
		}
		if (left_out == 0) {
			order = own;
			sure &= best < 0.35 * second;
		}
		sure &= order == own;
	}
	free_all(mean, z, strong);
	return sure ? order : K;
}

/* Image t ends a set of images in a row, by the best path: where does it really begin? */
static void
vote(struct image_places *places, size_t t)
{
	size_t n = places->n, order;
	uint8_t place[PLACES_MOST];

	if (places->last_vote && t + 1 - places->last_vote < n)
		return;		/* whole new sets only */
	places->last_vote = t + 1;
	last_places(&places->path[0], t + 1, n, place);
	order = order_of_blocks(places, t, place);
	if (order == places->periods)
		return;
	places->anchor = order * places->group;
	places->untold = PLACES_TOLD;
	keep_best_path(places);
	places->anchored = places->voted = true;
}

/* Are the n images to `end` a set by this path? */
static bool
ends_set(const struct image_places *places, const struct path *path, size_t end)
{
	size_t n = places->n;
	bool whole = (path->place[end % HISTORY] + places->anchor) % n == n - 1;

	for (size_t i = end + 2 - n; i <= end && whole; i++)
		whole = path->next[i % HISTORY];
	return whole;
}

/* The weights of all paths; those that are the best one turned are not told apart here. */
static void
weigh_paths(const struct image_places *places, size_t t, double *weight)
{
	size_t n = places->n, images = t + 1 < places->past ? t + 1 : places->past;
	const struct path *best = &places->path[0];
	double sum = 0;

	for (size_t h = 0; h < places->paths; h++) {
		const struct path *path = &places->path[h];
		size_t off = (path->place[t % HISTORY] + n - best->place[t % HISTORY]) % n;
		bool turned = off != 0 && images > n;

		for (size_t i = t + 1 - images; i <= t && turned; i++)
			turned = (path->place[i % HISTORY] + n - best->place[i % HISTORY]) % n ==
			    off;
		weight[h] = turned ? 0 : exp(path->score);
		sum += weight[h];
	}
	for (size_t h = 0; h < places->paths; h++)
		weight[h] /= sum;
}

/* Which images are sets, after image t. */
static void
form_sets(struct image_places *places, size_t t)
{
	size_t n = places->n, back = 2 * places->past;
	double weight[PATHS_MOST];

	weigh_paths(places, t, weight);
	for (size_t end = t > back ? t - back : 0; end <= t && places->anchored; end++) {
		double sum = 0;
		float misfit = 0;

		if (end + 1 < n || places->closed[end % HISTORY])
			continue;
		for (size_t h = 0; h < places->paths; h++)
			sum += ends_set(places, &places->path[h], end) ? weight[h] : 0;
		/* one period of equal steps has no residual: images behind it must tell */
		if (sum > SURE && (places->any_formed || places->group > 1 || t >= 3 * n)) {
			for (size_t i = end + 1 - n; i <= end; i++)
				misfit = fmaxf(misfit, places->path[0].misfit[i % HISTORY]);
			places->closed[end % HISTORY] = true;
			if (misfit < MISFIT_MOST) {
				places->formed[(end + 1 - n) % HISTORY] = places->any_formed = true;
				places->refused = 0;
			} else if (++places->refused >= 3) {
				places->refused = places->last_vote = 0;
				places->anchored = places->start == START_KNOWN;
			}
		} else if (sum <= 1 - SURE && end + n <= t) {
			places->closed[end % HISTORY] = true;
		}
	}
}

/* The scene is another one if the best path does not fit a whole set. */
static bool
has_lost_track(const struct image_places *places, size_t t)
{
	float misfit[PLACES_MOST];

	for (size_t i = 0; i < places->n; i++)
		misfit[i] = places->path[0].misfit[(t - i) % HISTORY];
	return t > places->from + 2 * places->n && quantile(misfit, places->n, 0.5) > 3;
}

static void
take_samples(struct image_places *places, size_t t)
{
	float *own = places->sample[t % HISTORY];
	bool in_row = true;

	places->formed[t % HISTORY] = places->closed[t % HISTORY] = false;
	for (size_t i = 0; i <= places->products && i <= t; i++) {
		const float *v = places->sample[(t - i) % HISTORY];
		double sum = 0;

		for (size_t s = 0; s < places->samples; s++)
			sum += places->is_lit[s] ? (double)own[s] * (double)v[s] : 0;
		sum /= (double)places->lit * places->unit;
		places->product[t % HISTORY][(t - i) % HISTORY] = sum;
		places->product[(t - i) % HISTORY][t % HISTORY] = sum;
	}
	if (places->start == START_BY_GRAY) {
		if (t + 1 >= places->n)
			form_gray_set(places, t);
		return;
	}
	if (t == 0) {
		begin_paths(places, 0);
		return;
	}
	extend_paths(places, t);
	if (has_lost_track(places, t)) {
		begin_paths(places, t);
		places->anchored = places->start == START_KNOWN;
		places->last_vote = 0;
	}
	for (size_t i = 0; i + 1 < places->n && t + 1 >= places->n; i++)
		in_row &= places->path[0].next[(t - i) % HISTORY];
	if (t + 1 >= places->n && in_row && !places->anchored)
		vote(places, t);
	form_sets(places, t);
}

void
image_places_take(struct image_places *places, const struct frame *in)
{
	size_t t = places->images++, n = places->n, all = places->candidates * places->distances;

	if (places->off)
		return;
	if (places->begun) {
		if (!places->sample[t % HISTORY])
			places->sample[t % HISTORY] = must_alloc(places->samples, sizeof(float));
		read_clusters(places, in, places->clusters, places->sample[t % HISTORY]);
		take_samples(places, t);
		return;
	}
	if (!places->first)
		places->first = must_alloc((n + 1) * all, sizeof(*places->first));
	read_clusters(places, in, places->candidates, places->first + t * all);
	if (t < n)
		return;
	places->begun = begin(places);
	places->off = !places->begun;
	for (size_t i = 0; i <= n && places->begun; i++) {
		places->sample[i] = must_alloc(places->samples, sizeof(float));
		memcpy(places->sample[i], places->first + i * all,
		    places->samples * sizeof(float));
		take_samples(places, i);
	}
	free(places->first);
	places->first = NULL;
}

/* ---- what becomes of the images ---- */

/* Of images from `from` on that have these places the squared error of the ones first to last - 1,
 * each predicted by all others, under the motion that fits best. */
static double
squared_error(const struct image_places *places, size_t from, const uint8_t *place, size_t images,
    size_t first, size_t last)
{
	double *C = must_alloc(images * images, sizeof(*C)), *time = must_alloc(images,
	    sizeof(*time)), least = INFINITY;

	times_of(places, place, images, time);
	for (size_t m = 0; m < MODELS; m++) {
		double sum = 0;

		fill_covariance(places, m, place, time, images, C);
		if (!symmetric_invert(images, C))
			continue;
		for (size_t i = first; i < last; i++) {
			const double *row = C + i * images;
			double error = 0;

			for (size_t a = 0; a < images; a++)
				for (size_t b = 0; b < images; b++)
					error += row[a] * row[b] *
					    places->product[(from + a) % HISTORY]
					    [(from + b) % HISTORY];
			sum += error / (row[i] * row[i]);
		}
		least = fmin(least, sum);
	}
	free(C);
	free(time);
	return least;
}

/* Are the images from places->at on those of the nearest whole set in another order, in which some
 * are missing, rather than in this one? */
static bool
are_of_other_places(const struct image_places *places)
{
	size_t n = places->n, at = places->at, end = places->images, whole = end;
	double error[PLACES_MOST][PLACES_MOST] = { 0 }, own = 0, best = INFINITY;

	for (size_t t = end > HISTORY ? end - HISTORY : 0; t + n <= end; t++)
		if (places->formed[t % HISTORY] && (whole == end ||
		    (t > at ? t - at : at - t) < (whole > at ? whole - at : at - whole)))
			whole = t;
	if (whole == end)
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			for (size_t s = 0; s < places->samples; s++)
				error[i][k] += places->is_lit[s] ?
				    pow(places->sample[(at + i) % HISTORY][s] -
				    places->sample[(whole + k) % HISTORY][s], 2) : 0;
	for (size_t lost = 0; lost < n; lost++)
		for (size_t first = 0; first < n; first++) {
			double sum = 0;

			for (size_t i = 0; i < n; i++)
				sum += error[i][(i + (i >= first ? lost : 0)) % n];
			if (lost == 0)
				own = sum;
			else
				best = fmin(best, sum);
		}
	return own >= BETTER * best;
}

/* Do the images show that those from places->at on are no set in order? */
static bool
is_out_of_order(struct image_places *places)
{
	size_t n = places->n, at = places->at, images;
	size_t from = at < n ? 0 : at - n;
	size_t here = (places->path[0].place[at % HISTORY] + places->anchor) % n;
	uint8_t best[PRODUCTS_MOST], set[PRODUCTS_MOST], all[PRODUCTS_MOST];
	size_t first, last, apart = n;	/* places are told apart modulo that */
	bool same;

	if (places->start == START_BY_GRAY)	/* coarse planes are plain: levels tell */
		return places->two_level > 0 && (two_level_error(places, at + n - 1, 0, NULL) >
		    sqrt(BETTER) * places->two_level || are_of_other_places(places));
	if (places->anchored && places->voted && here != 0 && places->equal[here])
		return true;	/* whole sets tell */
	for (size_t i = 0; i < n; i++)
		all[i] = (uint8_t)i;
	if (places->start == START_BY_BEAT && !places->voted) {
		order_of_blocks(places, at + n - 1, all);
		apart = places->alike ? places->group : n;
	}
	same = here % apart == 0;
	images = places->images - from < 3 * n ? places->images - from : 3 * n;
	images = images < places->products ? images : places->products;
	last_places(&places->path[0], from + images, images, best);
	for (size_t i = 0; i < images; i++) {
		all[i] = from + i < at ? best[i] :
		    (uint8_t)((from + i - at + n - places->anchor) % n);
		set[i] = from + i < at + n ? all[i] : best[i];
		same &= set[i] % apart == best[i] % apart;
	}
	/* the set alone, or the set and all that follows it */
	first = at - from;
	last = first + n < images ? first + n : images;
	return !same && (squared_error(places, from, set, images, first, last) >=
	    BETTER * squared_error(places, from, best, images, first, last) ||
	    squared_error(places, from, all, images, first, images) >=
	    BETTER * squared_error(places, from, best, images, first, images));
}

/* Has the best path no set, and few images that follow one another? Then it is the number of steps
 * that is wrong, or the shifts, and no image was lost: checks of whole sets tell. */
static bool
fits_no_order(const struct image_places *places)
{
	size_t in_row = 0;

	for (size_t t = places->at + 1; t < places->images; t++)
		in_row += places->path[0].next[t % HISTORY];
	return places->start != START_BY_GRAY && !places->any_formed &&
	    3 * in_row < places->images - places->at;
}

enum places_answer
image_places_next(struct image_places *places, bool ended, size_t *images, size_t *sets)
{
	size_t n = places->n, at = places->at, end = places->images, set = at;
	const struct path *best = &places->path[0];

	*images = n;
	*sets = 0;
	if (end < at + n || (!ended && !places->begun && !places->off))
		return PLACES_WAIT;
	places->at += n;
	if (!places->begun)
		return PLACES_SET;
	while (set + n <= end && !places->formed[set % HISTORY])
		set++;
	if (set == at) {
		places->any_accepted = true;
		return PLACES_SET;
	}
	if (set + n > end && !ended && end - at < n + 2 * places->past) {
		places->at = at;
		return PLACES_WAIT;
	}
	places->at = at;
	if (set + n > end)	/* nothing is sure: to the next start by the best path */
		for (set = at + (places->start == START_BY_GRAY ? n : 1); places->start !=
		    START_BY_GRAY && set < end && (best->place[set % HISTORY] + places->anchor) % n;
		    set++)
			;
	if (fits_no_order(places) || !is_out_of_order(places)) {
		if (!ended && end - at < 3 * n)
			return PLACES_WAIT;	/* more images may show it */
		if (!places->anchored && places->untold == PLACES_TOLD)
			places->untold = places->start == START_BY_BEAT ? PLACES_ALIKE :
			    PLACES_START;
		places->anchored = places->any_accepted = true;
		places->at += n;
		return PLACES_SET;
	}
	if (!places->anchored && !places->any_accepted) {
		set = end;	/* no order is better than another */
		if (places->start == START_BY_BEAT && places->untold == PLACES_TOLD)
			places->untold = PLACES_ALIKE;
	}
	*images = set - at;
	*sets = places->start == START_BY_GRAY ? (set - at + n - 1) / n : 1;
	for (size_t i = at + 1; i < set && places->start != START_BY_GRAY; i++)
		*sets += best->place[i % HISTORY] != best->place[(i - 1) % HISTORY] &&
		    (best->place[i % HISTORY] + places->anchor) % n <=
		    (best->place[(i - 1) % HISTORY] + places->anchor) % n;
	places->at = set;
	return PLACES_LEFT_OUT;
}

enum places_untold
image_places_untold(const struct image_places *places)
{
	/* where the whole input is one set nothing could be moved */
	return places->images > places->n ? places->untold : PLACES_TOLD;
}

size_t
image_places_set(const struct image_places *places)
{
	return places->n;
}
