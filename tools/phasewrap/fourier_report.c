#include "fourier_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "image/statistics.h"

#define PEAK_SIZE 64	/* a description of a peak */
#define LIT 0.875	/* of the pixels: the middle of the upper quarter */
#define UNLIT 0.1	/* of the fringes' amplitude: less is none of theirs */
#define UNLIT_SHARE 0.05
#define BITS_STEP 4	/* rows */
#define BITS_SHARE 0.005	/* of the pixels: so many are saturated */
#define SATURATED 0.1	/* share of the pixels */
#define SAME 0.98	/* correlation of two images that show the same */
#define SHIFTED 0.35	/* rad */

const char *
fourier_report_where(const struct fourier_report *report, char text[WHERE_SIZE])
{
	if (report->measurement == 0)
		return NULL;
	snprintf(text, WHERE_SIZE, "measurement %zu", report->measurement);
	return text;
}

/* "16 px along x": of fringes, along the axis that they vary along. */
static const char *
describe(struct fourier_carrier carrier, char *text)
{
	double x = fabs(carrier.x), y = fabs(carrier.y);

	snprintf(text, PEAK_SIZE, "%.4g px along %c", x + y > 0 ? 1 / fmax(x, y) : 0,
	    y > x ? 'y' : 'x');
	return text;
}

void
fourier_report_peaks(
    struct fourier_report *report, const struct fourier_peaks *peaks, bool along_y)
{
	const struct fourier_peak *own = &peaks->best[along_y], *second = NULL;
	char where[WHERE_SIZE], a[PEAK_SIZE], b[PEAK_SIZE];

	if (report->warned_two)
		return;
	/* across what was chosen, or of another frequency */
	if (peaks->best[!along_y].contrast > 0 && peaks->best[!along_y].power > own->power / 10)
		second = &peaks->best[!along_y];
	for (int i = 0; i < 2; i++)
		if (peaks->other[i].contrast > 0 &&
		    (!second || peaks->other[i].power > second->power))
			second = &peaks->other[i];
	if (!second)
		return;
	warn(fourier_report_where(report, where),
	    "there are fringes of %s and others of %s: the first are taken, --carrier or --axis "
	    "chooses",
	    describe(own->carrier, a), describe(second->carrier, b));
	report->warned_two = true;
}

void
fourier_report_given(struct fourier_report *report, const struct fourier_peaks *peaks,
    struct fourier_carrier given, double half_width)
{
	double nearest = INFINITY;
	char where[WHERE_SIZE], text[PEAK_SIZE], found[PEAK_SIZE];
	const struct fourier_peak *best = &peaks->best[peaks->best[1].power > peaks->best[0].power];

	for (int i = 0; i < 4; i++) {
		const struct fourier_peak *peak = i < 2 ? &peaks->best[i] : &peaks->other[i - 2];

		if (peak->contrast > 0)
			nearest = fmin(nearest,
			    fmin(hypot(peak->carrier.x - given.x, peak->carrier.y - given.y),
				hypot(peak->carrier.x + given.x, peak->carrier.y + given.y)));
	}
	if (report->warned_weak || peaks->few || nearest < half_width / 2 ||
	    fmax(fabs(given.x), fabs(given.y)) > FOURIER_CARRIER_MOST)
		return;
	if (best->contrast > 0)
		warn(fourier_report_where(report, where),
		    "the fringes are about %s, not %s as --carrier says",
		    describe(best->carrier, found), describe(given, text));
	else
		warn(fourier_report_where(report, where),
		    "no fringes of about %s stand out in the spectrum", describe(given, text));
	report->warned_weak = true;
}

void
fourier_report_steps(struct fourier_report *report, const struct fourier_result *result)
{
	double re = 0, im = 0, own = 0, last = 0;
	size_t w = result->w, h = result->h;

	for (size_t i = 0; i < FOURIER_GRID * FOURIER_GRID; i++) {
		size_t x = (i % FOURIER_GRID * 2 + 1) * w / (2 * FOURIER_GRID);
		size_t y = (i / FOURIER_GRID * 2 + 1) * h / (2 * FOURIER_GRID);
		struct fourier_sample a = { result->re[y * w + x], result->im[y * w + x] };
		struct fourier_sample b = report->before[i];

		re += (double)(a.re * b.re + a.im * b.im);
		im += (double)(a.im * b.re - a.re * b.im);
		own += (double)(a.re * a.re + a.im * a.im);
		last += (double)(b.re * b.re + b.im * b.im);
		report->before[i] = a;
	}
	if (report->measurement == 0 || report->warned_steps ||
	    hypot(re, im) < SAME * sqrt(own * last) || !(own * last > 0) ||
	    fabs(atan2(im, re)) < SHIFTED)
		return;
	warn(NULL,
	    "measurements %zu and %zu show the same fringes, moved by %.0f degrees: each has a "
	    "phase of its own; of the steps of one, --kind step makes one",
	    report->measurement - 1, report->measurement,
	    fabs(atan2(im, re)) * 180 / M_PI);
	report->warned_steps = true;
}

void
fourier_report_filter(const struct fourier_report *report, const struct capture_fringe *fringe,
    struct fourier_carrier carrier, const struct fourier_filter *filter,
    const struct fourier_result *result)
{
	static const char *const shape[] = { "tukey", "hann", "gauss" };
	char text[PEAK_SIZE], where[WHERE_SIZE];

	if (!report->verbose)
		return;
	note(fourier_report_where(report, where),
	    "fringes of %s, --carrier %.5g,%.5g; window %s of %.4g to %.4g turns/px, %s; noise of "
	    "1 grey level is %.3g rad over the amplitude%s",
	    describe(carrier, text), carrier.x == 0 ? 0 : 1 / carrier.x,
	    carrier.y == 0 ? 0 : 1 / carrier.y, shape[filter->shape],
	    hypot(carrier.x, carrier.y) - filter->half_width,
	    hypot(carrier.x, carrier.y) + filter->half_width,
	    filter->transform == TRANSFORM_2D ? "2-D" : "lines",
	    sqrt(2 * result->noise_bandwidth),
	    fringe->left_out ? "; later steps are left out" : "");
}

void
fourier_report_bits(struct fourier_report *report, const struct frame *frame, size_t c)
{
	size_t n = 0, most = 0, pixels = 0;
	char where[WHERE_SIZE];

	if (report->most_known || frame->head.type != SAMPLE_USHORT)
		return;
	for (size_t y = 0; y < frame->head.h; y += BITS_STEP)
		for (size_t x = 0; x < frame->head.w; x++, pixels++) {
			size_t v = ((const uint16_t *)frame_row(frame, c, y))[x];

			n = v > most ? 1 : n + (v == most);
			most = v > most ? v : most;
		}
	if (most < 255 || most == UINT16_MAX || (most & (most + 1)) ||
	    (double)n < BITS_SHARE * (double)pixels)
		return;
	warn(fourier_report_where(report, where),
	    "many pixels are %zu, the most of %d bits, and none is above: if the camera saturates "
	    "there give --max-value %zu",
	    most, (int)lround(log2((double)most + 1)), most);
	report->most_known = true;
}

/* The amplitude of fringes is that of the upper quarter of the pixels; who has a tenth of it has
 * none. */
static void
warn_unlit(struct fourier_report *report, double *amplitude, size_t n)
{
	size_t kept = 0, below = 0;
	char where[WHERE_SIZE];
	double lit;

	for (size_t i = 0; i < n; i++)
		if (!isnan(amplitude[i]))
			amplitude[kept++] = amplitude[i];
	lit = kept ? statistics_quantile(amplitude, kept, LIT) : 0;
	for (size_t i = 0; i < kept; i++)
		below += amplitude[i] < UNLIT * lit;
	if (kept < 100 || (double)below <= UNLIT_SHARE * (double)kept)
		return;
	warn(fourier_report_where(report, where),
	    "%.0f %% of the pixels have less than a tenth of the fringes' amplitude, so "
	    "that their phase is noise: --min-amplitude %.2g makes them invalid",
	    100 * (double)below / (double)kept, 0.15 * lit);
	report->warned_unlit = true;
}

void
fourier_report_pixels(struct fourier_report *report, const uint64_t lost[LOST_KINDS],
    double *amplitude, size_t n, bool limited)
{
	uint64_t pixels = 0;
	char where[WHERE_SIZE];

	for (size_t i = 0; i < LOST_KINDS; i++)
		pixels += lost[i];
	if (report->verbose && report->measurement == 0)
		note(NULL,
		    "of %" PRIu64 " pixels %" PRIu64 " are invalid: saturation %" PRIu64
		    ", darkness %" PRIu64 ", modulation %" PRIu64 ", amplitude %" PRIu64
		    ", missing %" PRIu64,
		    pixels, pixels - lost[LOST_NONE], lost[LOST_SATURATION], lost[LOST_DARKNESS],
		    lost[LOST_MODULATION], lost[LOST_AMPLITUDE], lost[LOST_MISSING]);
	if (lost[LOST_NONE] == 0)	/* the runner has a word for that */
		return;
	if (!report->warned_saturated &&
	    (double)lost[LOST_SATURATION] > SATURATED * (double)(pixels - lost[LOST_MISSING])) {
		warn(fourier_report_where(report, where),
		    "%.0f %% of the pixels are saturated (--max-value), and the phase is less "
		    "certain next to them: less light or a shorter exposure keeps them",
		    100 * (double)lost[LOST_SATURATION] / (double)(pixels - lost[LOST_MISSING]));
		report->warned_saturated = true;
	}
	if (!limited && !report->warned_unlit)
		warn_unlit(report, amplitude, n);
}
