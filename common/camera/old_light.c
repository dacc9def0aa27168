/*
 * Judges pictures of patterns by their pixels: is this the pattern alone, or is light of the one
 * before still in it?
 *
 * A picture a that was begun too early is (1 - m) of the new pattern and m of the old one, p. The
 * next picture b holds less of it. In every block of rows the difference d = a - b is regressed on
 * e = p - (a + b) / 2 and on g = (a + b) / 2: the factor of e is m, that of g a lamp that drifts.
 * The noise of a + b does not correlate with that of a - b, and p's with neither, so that m of a
 * settled picture is 0 on average; regressed on p - b alone it is not, since b's noise is in both.
 * Blocks are of few rows, as a rolling shutter reads the last rows later than the first.
 */
#include "camera/camera.h"

#include <math.h>

#include "base/numbers.h"
#include "base/process.h"

#define BLOCK_ROWS 16
#define OLD_LIGHT_LIMIT 0.005	/* a share that is no harm: 0.04 px at a period of 60 */
#define OLD_LIGHT_SE 5		/* or so many standard errors of it */
/* Where p, new and black are multiples of each other, as white after black, m and the lamp's drift
 * cannot be told apart: then d on p - b alone, with this limit, and drift of this share of b. */
#define UNIFORM_LIMIT 0.03
#define LAMP_DRIFT 0.01
#define CHANGE_LEAST 8.0	/* sum of (p - b)^2 over that of noise in a block that is judged */
#define CHANGE_UNIFORM 30.0	/* the same without the regression on g: a bias of 0.017 at most */
#define LIMIT_MOST 0.1		/* a block with a larger limit is not judged */
#define LAMP_STEP 0.1		/* a uniform image that changes by more of its level is new */
#define ROUNDING_VARIANCE (1 / 12.)	/* of a sample, in levels^2 */

struct block {
	size_t n;			/* lit pixels */
	double dd, de, dg, ee, eg, gg, qq, dq;	/* sums of products; q = p - b */
};

static size_t
block_count(const struct light *light)
{
	return (light->h + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

/* Has a block enough lit pixels to count? */
static bool
is_lit(const struct light *light, size_t n)
{
	return n > 0 && n * block_count(light) * 4 >= light->lit_pixels;
}

static struct block
block_sums(const struct light *light, const struct frame *a, const struct frame *b,
    const struct frame *before, size_t y0)
{
	struct block sum = { 0 };

	for (size_t y = y0; y < light->h && y < y0 + BLOCK_ROWS; y++) {
		const void *row_a = frame_row(a, 0, y), *row_b = frame_row(b ? b : a, 0, y);
		const void *row_p = frame_row(before, 0, y);

		for (size_t x = 0; x < light->w; x++) {
			size_t i = y * light->w + x;
			double va, vb, p, d, e, g, q;

			if (!light->lit[i])
				continue;
			va = (double)frame_sample_in(a->head.type, row_a, x) - light->black[i];
			vb = (double)frame_sample_in(a->head.type, row_b, x) - light->black[i];
			p = (double)frame_sample_in(before->head.type, row_p, x) - light->black[i];
			d = va - vb;
			g = (va + vb) / 2;
			e = p - g;
			q = p - vb;
			sum.n++;
			sum.dd += d * d;
			sum.de += d * e;
			sum.dg += d * g;
			sum.ee += e * e;
			sum.eg += e * g;
			sum.gg += g * g;
			sum.qq += q * q;
			sum.dq += d * q;
		}
	}
	return sum;
}

struct fit {
	double share, drift;		/* the factors of e and of g */
	double share_v, drift_v;	/* their variances for noise of variance 1; infinite where e
					 * and g are multiples of each other */
	double rest;			/* mean square of what they leave */
};

static struct fit
block_fit(const struct block *sum)
{
	double det = sum->ee * sum->gg - sum->eg * sum->eg;
	struct fit fit = { 0, 0, HUGE_VAL, HUGE_VAL, 0 };

	if (det > 1e-3 * sum->ee * sum->gg)
		fit = (struct fit){ (sum->de * sum->gg - sum->dg * sum->eg) / det,
			(sum->dg * sum->ee - sum->de * sum->eg) / det, sum->gg / det,
			sum->ee / det, 0 };
	else if (sum->ee > 0)
		fit.share = sum->de / sum->ee;
	fit.rest = fmax(0, sum->dd - fit.share * sum->de - fit.drift * sum->dg) / (double)sum->n;
	return fit;
}

/* Old light in a block, and its limit. False: too little changes there to say. */
static bool
block_share(const struct block *sum, double noise2, double *share, double *limit)
{
	struct fit fit = block_fit(sum);
	double uniform = UNIFORM_LIMIT + LAMP_DRIFT * sqrt(sum->gg / sum->qq);
	double drift = UNIFORM_LIMIT + OLD_LIGHT_SE * sqrt(noise2 * fit.drift_v);

	*share = fit.share;
	*limit = fmax(OLD_LIGHT_LIMIT, OLD_LIGHT_SE * sqrt(noise2 * fit.share_v));
	if (sum->qq <= CHANGE_LEAST * (double)sum->n * noise2)
		return false;
	/* what is no lamp's drift is old light: of white, after which black comes, row by row */
	if ((uniform < *limit || fabs(fit.drift) > drift) &&
	    sum->qq > CHANGE_UNIFORM * (double)sum->n * noise2) {
		*share = sum->dq / sum->qq;
		*limit = uniform;
	}
	return *limit < LIMIT_MOST;
}

struct judgement
light_judge(const struct light *light, const struct frame *a, const struct frame *b,
    const struct frame *before)
{
	size_t blocks = block_count(light), lit = 0;
	struct block *sum = must_alloc(blocks, sizeof(*sum));
	float *rest = must_alloc(blocks, sizeof(*rest));
	struct judgement result = { .verdict = PICTURE_SETTLED };
	double flat2 = 2 * fmax(light->noise * light->noise, ROUNDING_VARIANCE), noise2, worst = 0;
	double dd = 0, qq = 0, steady = 6 * flat2 + pow(0.004 * light->level, 2), n = 0;
	bool unsteady = false;

	for (size_t k = 0; k < blocks; k++) {
		double r;

		sum[lit] = block_sums(light, a, b, before, k * BLOCK_ROWS);
		if (!is_lit(light, sum[lit].n))
			continue;
		r = block_fit(&sum[lit]).rest;
		rest[lit] = (float)r;
		unsteady |= r > steady;
		dd += sum[lit].dd;
		qq += sum[lit].qq;
		n += (double)sum[lit++].n;
	}
	/* the noise of dark patterns is less than white's, and never more but in mixed pictures */
	result.rest2 = (double)numbers_rank(rest, lit, (lit - 1) / 2);	/* the lower median */
	noise2 = b ? fmin(fmax(result.rest2, 2 * ROUNDING_VARIANCE), 2 * flat2) : flat2;
	result.blocks = lit;
	for (size_t k = 0; k < lit; k++) {
		double share, limit;

		result.changed += sum[k].ee - sum[k].eg * sum[k].eg / fmax(sum[k].gg, 1) >
		    CHANGE_LEAST * (double)sum[k].n * noise2 ||
		    fabs(sum[k].eg) > LAMP_STEP * sum[k].gg;
		if (!block_share(&sum[k], noise2, &share, &limit) && (b || sum[k].qq <=
		    CHANGE_LEAST * (double)sum[k].n * noise2))
			continue;
		result.judged++;
		if (b && fabs(share) / limit > worst) {
			worst = fabs(share) / limit;
			result.share = fabs(share);
			result.limit = limit;
		}
	}
	free(sum);
	free(rest);
	if (b && dd == 0 && light->noise > 0)
		result.verdict = PICTURE_REPEATED;
	else if (worst > 1)
		result.verdict = PICTURE_MIXED;
	else if (b && unsteady)
		result.verdict = PICTURE_UNSTEADY;
	else if (result.judged == 0 && qq < 2 * n * noise2)
		result.verdict = PICTURE_OLD;
	else if (b && result.judged * 4 < lit)
		result.verdict = PICTURE_ALIKE;
	return result;
}

/* ---- flat images ---- */

/* Mean of pictures, into m; returns the variance of one about it. */
static double
mean_pictures(struct frame *const *picture, size_t pictures, float *m)
{
	size_t w = picture[0]->head.w, h = picture[0]->head.h;
	double squares = 0;

	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++) {
			double sum = 0, sum2 = 0;

			for (size_t k = 0; k < pictures; k++) {
				double v = frame_sample(picture[k], 0, y, x);

				sum += v;
				sum2 += v * v;
			}
			m[y * w + x] = (float)(sum / (double)pictures);
			squares += sum2 - sum * sum / (double)pictures;
		}
	return pictures < 2 ? 0 : squares / (double)((pictures - 1) * w * h);
}

void
light_measure(struct light *light, struct frame *const *black, struct frame *const *white,
    size_t pictures, double max_value)
{
	size_t n = black[0]->head.w * black[0]->head.h, saturated = 0;
	float *over = must_large(n, sizeof(*over)), top;
	double sum = 0;

	*light = (struct light){ .w = black[0]->head.w, .h = black[0]->head.h };
	light->black = must_large(n, sizeof(*light->black));
	light->white = must_large(n, sizeof(*light->white));
	light->lit = must_large(n, 1);
	light->noise = sqrt(fmax(mean_pictures(black, pictures, light->black),
	    mean_pictures(white, pictures, light->white)));
	for (size_t i = 0; i < n; i++)
		over[i] = light->white[i] - light->black[i];
	top = numbers_rank(over, n, n - 1 - n / 20);
	for (size_t i = 0; i < n; i++) {
		bool full = light->white[i] >= max_value - 0.5;

		/* a fifth of the brightest, and out of the noise; one level at least */
		light->lit[i] = !full && over[i] > fmax(fmax(0.2 * top, 6 * light->noise), 1);
		saturated += full;
		light->lit_pixels += light->lit[i];
		sum += light->lit[i] ? over[i] : 0;
	}
	light->saturated = (double)saturated / (double)n;
	light->level = light->lit_pixels ? sum / (double)light->lit_pixels : 0;
	free(over);
}

/* Sum over the lit pixels of a block of a picture over black; *n of them, *sum_white of white. */
static double
block_level(const struct light *light, const struct frame *picture, size_t y0, size_t *n,
    double *sum_white)
{
	double sum = 0;

	*n = 0;
	*sum_white = 0;
	for (size_t y = y0; y < light->h && y < y0 + BLOCK_ROWS; y++) {
		const void *row = frame_row(picture, 0, y);

		for (size_t x = 0; x < light->w; x++) {
			size_t i = y * light->w + x;

			if (!light->lit[i])
				continue;
			sum += (double)frame_sample_in(picture->head.type, row, x) -
			    light->black[i];
			*sum_white += (double)light->white[i] - light->black[i];
			++*n;
		}
	}
	return sum;
}

double
light_beat(const struct light *light, struct frame *const *picture, size_t pictures)
{
	double worst = 0;

	for (size_t k = 0; k < block_count(light); k++) {
		double low = HUGE_VAL, high = -HUGE_VAL, white, level, noise;
		size_t n = 0;

		for (size_t i = 0; i < pictures; i++) {
			level = block_level(light, picture[i], k * BLOCK_ROWS, &n, &white);
			low = fmin(low, level);
			high = fmax(high, level);
		}
		if (!is_lit(light, n) || high <= 0)
			continue;
		/* five standard errors of the largest of a few differences */
		noise = 5 * fmax(light->noise, sqrt(ROUNDING_VARIANCE)) * sqrt(2.0 * (double)n);
		if (high - low > noise)
			worst = fmax(worst, (high - low) / high);
	}
	return worst;
}

double
light_new_share(const struct light *light, const struct frame *picture, bool rises, double *latest)
{
	double least = HUGE_VAL;

	*latest = -HUGE_VAL;
	for (size_t k = 0; k < block_count(light); k++) {
		size_t n;
		double white, level = block_level(light, picture, k * BLOCK_ROWS, &n, &white);
		double share = rises ? level / white : 1 - level / white;

		if (!is_lit(light, n))
			continue;
		least = fmin(least, share);
		*latest = fmax(*latest, share);
	}
	return least;
}

double
light_mean(const struct light *light, const struct frame *picture)
{
	double sum = 0, sum_white = 0;

	for (size_t k = 0; k < block_count(light); k++) {
		size_t n;
		double white;

		sum += block_level(light, picture, k * BLOCK_ROWS, &n, &white);
		sum_white += white;
	}
	return sum_white > 0 ? sum / sum_white : 0;
}

void
light_free(struct light *light)
{
	free_all(light->black, light->white, light->lit);
	*light = (struct light){ 0 };
}

/* ---- a camera that runs freely ---- */

static double
mean_level(const struct frame *frame)
{
	double sum = 0;

	for (size_t y = 0; y < frame->head.h; y++)
		for (size_t x = 0; x < frame->head.w; x++)
			sum += (double)frame_sample(frame, 0, y, x);
	return sum / (double)(frame->head.w * frame->head.h);
}

int
settled_take(struct settled *settled, struct frame *picture, struct frame **out)
{
	struct light *light = &settled->light;
	const size_t n = picture->head.w * picture->head.h;
	double level = mean_level(picture);
	struct judgement judgement;

	*out = NULL;
	if (!settled->before) {
		*light = (struct light){ .w = picture->head.w, .h = picture->head.h,
			.lit_pixels = n, .black = must_large(n, sizeof(*light->black)),
			.lit = must_large(n, 1) };
		memset(light->lit, 1, n);
		memset(light->black, 0, n * sizeof(*light->black));
		settled->rest2 = settled->rest2_per_level = HUGE_VAL;
		settled->last = picture;
		return frame_duplicate(picture, &settled->before);
	}
	/* what is shot noise grows with the level; the rest is that of the darkest picture */
	light->noise = sqrt(fmax(settled->rest2, settled->rest2_per_level * level) / 2);
	light->level = level;
	judgement = light_judge(light, settled->last, picture, settled->before);
	if (judgement.verdict == PICTURE_REPEATED) {
		frame_free(picture);
		return 0;
	}
	frame_free(settled->last);
	settled->last = picture;
	if (!settled->apart) {		/* the one before is the first of the two */
		settled->apart = true;
		return 0;
	}
	settled->rest2 = fmin(settled->rest2, judgement.rest2);
	settled->rest2_per_level = fmin(settled->rest2_per_level, judgement.rest2 / fmax(level, 1));
	settled->mixed = judgement.changed ? settled->mixed + 1 : 0;
	if (judgement.changed == 0 || (judgement.verdict != PICTURE_SETTLED &&
	    (judgement.verdict != PICTURE_ALIKE || judgement.judged == 0)))
		return 0;
	settled->mixed = 0;
	settled->apart = false;
	frame_free(settled->before);
	if (frame_duplicate(picture, &settled->before) < 0 || frame_duplicate(picture, out) < 0)
		return -1;
	/* with these the pictures that were left out would count as lost */
	meta_remove(&(*out)->head.meta, "frame_number");
	meta_remove(&(*out)->head.meta, "time_s");
	return 0;
}

void
settled_free(struct settled *settled)
{
	light_free(&settled->light);
	frame_free(settled->before);
	frame_free(settled->last);
}
