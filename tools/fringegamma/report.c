/* The report of fringegamma on the response that it fitted. */
#include "fringegamma.h"

#include "base/text.h"

/* What was found, as text, as JSON, and as the files that fringegen and phasewrap read. */

static const char *const methods[] = { "harmonics", "gamma of few steps", "gamma of three steps",
	"flats" };

/* ---- text ---- */

static void
print_name(const struct finding *f, FILE *out)
{
	if (f->method == BY_FLATS)
		fprintf(out, "%zu flats", f->images);
	else if (isnan(f->period_px))
		fprintf(out, "%zu steps", f->images);
	else
		fprintf(out, "%zu steps of %.10g px along %c", f->images, f->period_px, f->axis);
}

static void
print_gamma(const struct findings *all, const struct finding *f, FILE *out)
{
	const struct response_gamma *g = &f->gamma;

	fprintf(out, "gamma: ");
	if (g->fits)
		fprintf(out, "%.4f +- %.4f", g->gamma, g->gamma_error);
	else
		fprintf(out, "none fits; %.4f leaves %.0f %% of the harmonics", g->gamma,
		    100 * g->left);
	if (g->fits && !g->finds_blur)
		fprintf(out, ", blur not seen, taken for none");
	else if (g->fits && !isnan(f->period_px))
		fprintf(out, ", blur %.2f +- %.2f px", g->blur * f->period_px,
		    g->blur_error * f->period_px);
	else if (g->fits)
		fprintf(out, ", blur %.4f +- %.4f of the period", g->blur, g->blur_error);
	fprintf(out, ", for a mean of %.5g and an amplitude of %.5g\n", all->levels.mean,
	    all->levels.amplitude);
	if (f->of_gamma)
		fprintf(out, "harmonics are those of the gamma, from which the measured ones "
		    "differ within their errors\n");
}

static void
print_flats(const struct finding *f, FILE *out)
{
	const struct flats *flats = &f->flats;

	fprintf(out, "level       light\n");
	for (size_t i = 0; i < flats->n; i++)
		fprintf(out, "%-11.5g %.2f\n", flats->level[i], flats->light[i]);
	fprintf(out, "gamma: ");
	if (f->gamma.fits)
		fprintf(out, "%.4f +- %.4f\n", f->gamma.gamma, f->gamma.gamma_error);
	else
		fprintf(out, "none fits; %.4f leaves %.2f %% of the range\n", f->gamma.gamma,
		    100 * f->gamma.left);
	fprintf(out, "fit: a gamma leaves %.5f of the range, noise is %.5f\n", f->gamma.left,
	    flats->light_error);
}

/* The root mean square over images, and the image of the largest value. */
static double
rms_of(const double *v, size_t n, size_t *worst)
{
	double sum = 0;

	*worst = 0;
	for (size_t i = 0; i < n; i++) {
		sum += v[i] * v[i];
		if (fabs(v[i]) > fabs(v[*worst]))
			*worst = i;
	}
	return sqrt(sum / (double)n);
}

static void
print_fit(const struct harmonic_fit *fit, FILE *out)
{
	double rms;
	size_t worst;

	fprintf(out, "harmonic  cosine      +-         sine        +-\n");
	for (long k = 2; k <= fit->highest; k++)
		if (fit->seen[k])
			fprintf(out, "%-8ld %9.6f   %.6f   %9.6f   %.6f\n", k, fit->cosine[k],
			    fit->cosine_error[k], fit->sine[k], fit->sine_error[k]);
	rms = rms_of(fit->gain, fit->images, &worst);
	fprintf(out, "gain of images: %.4f rms, most image %zu, %+.4f; each +- %.4f\n", rms,
	    worst + 1, fit->gain[worst], fit->gain_error);
	rms = rms_of(fit->shift, fit->images, &worst);
	fprintf(out, "shift errors: %.4f rad rms, most image %zu, %+.4f; each +- %.4f\n", rms,
	    worst + 1, fit->shift[worst], fit->shift_error);
	fprintf(out, "fit: sinusoids leave %.4f of the amplitude %.2f, this %.4f; unexplained "
	    "%.5f, spread %.5f\n", fit->sinusoid_misfit, fit->amplitude, fit->misfit,
	    fit->unexplained, fit->spread);
}

/* Prints options of phasewrap that correct the light and the shifts of these images. */
static void
print_options(const struct finding *f, FILE *out)
{
	const struct harmonic_fit *fit = f->fit;

	fprintf(out, "options for these images:");
	for (size_t n = 0; n < fit->images; n++)
		fprintf(out, "%s%.4f", n ? "," : " --light ", 1 + fit->gain[n]);
	for (size_t n = 0; n < fit->images; n++)
		fprintf(out, "%s%.2f", n ? "," : " --shift=", f->sign * 180 / M_PI *
		    (fit->shift_rad[n] + fit->shift[n] - f->origin_rad));
	fputc('\n', out);
}

void
report_text(const struct findings *all, FILE *out)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->finding[i];

		if (i)
			fputc('\n', out);
		print_name(f, out);
		fprintf(out, ": %s\n"
		    "pixels: %zu of %zu took part; %zu have fringes, of which %zu are saturated\n",
		    methods[f->method], f->pixels.n, f->pixels.total, f->pixels.lit,
		    f->pixels.saturated);
		if (f->fit)
			print_fit(f->fit, out);
		if (f->method == BY_HARMONICS)
			print_options(f, out);
		if (f->method == BY_FLATS)
			print_flats(f, out);
		else
			print_gamma(all, f, out);
		if (f->method == BY_UNEVEN)
			fprintf(out, "fit: gamma is %.4f by the phases' density, %.4f by their "
			    "amplitude\n", f->uneven.by_density, f->uneven.by_amplitude);
		for (size_t n = 3; f->has_harmonics && n <= 6; n++)
			fprintf(out, "%s %.5f rad of %zu steps%s", n > 3 ? "," :
			    "phase error of these harmonics:",
			    response_phase_error(&f->harmonics, n), n, n == 6 ? "\n" : "");
	}
	if (*all->compensation) {
		fprintf(out, "patterns were compensated: ");
		escape_put_text(out, all->compensation);
		fputc('\n', out);
	}
}

/* ---- JSON ---- */

/* NaN and infinity are null. */
static void
json_number(FILE *out, const char *name, double v)
{
	char text[32] = "null";

	if (isfinite(v))
		snprintf(text, sizeof(text), "%.9g", v);
	fprintf(out, ", \"%s\": %s", name, text);
}

static void
json_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if ((unsigned char)*text >= 0x20)
			fputc(*text, out);
	}
	fputc('"', out);
}

static void
json_list(FILE *out, const char *name, const double *v, size_t n)
{
	fprintf(out, ", \"%s\": [", name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%.9g", i ? ", " : "", v[i]);
	fputc(']', out);
}

static void
json_harmonics(const struct finding *f, FILE *out)
{
	bool first = true;

	fprintf(out, ", \"harmonics\": [");
	for (long k = 2; f->has_harmonics && k <= f->harmonics.highest; k++) {
		if (!(f->harmonics.error[k] > 0))
			continue;
		fprintf(out, "%s\n  {\"harmonic\": %ld", first ? "" : ",", k);
		json_number(out, "cosine", f->harmonics.cosine[k]);
		json_number(out, "sine", f->harmonics.sine[k]);
		if (f->method == BY_HARMONICS && !f->of_gamma) {
			json_number(out, "cosine_error", f->fit->cosine_error[k]);
			json_number(out, "sine_error", f->fit->sine_error[k]);
		}
		fputc('}', out);
		first = false;
	}
	fputc(']', out);
}

static void
json_finding(const struct finding *f, FILE *out)
{
	const struct harmonic_fit *fit = f->fit;
	bool flats = f->method == BY_FLATS;
	char axis[2] = { f->axis, 0 };

	fprintf(out, " {\"method\": \"%s\", \"images\": %zu", methods[f->method], f->images);
	if (f->axis)
		fprintf(out, ", \"axis\": \"%s\"", axis);
	json_number(out, "period_px", f->period_px);
	fprintf(out, ", \"pixels\": %zu, \"pixels_used\": %zu, \"pixels_lit\": %zu, "
	    "\"pixels_saturated\": %zu", f->pixels.total, f->pixels.n, f->pixels.lit,
	    f->pixels.saturated);
	json_number(out, "gamma", f->gamma.gamma);
	json_number(out, "gamma_error", f->gamma.gamma_error);
	fprintf(out, ", \"gamma_fits\": %s", f->gamma.fits ? "true" : "false");
	json_number(out, "gamma_left", f->gamma.left);
	fprintf(out, ", \"harmonics_of_gamma\": %s", f->of_gamma || f->method == BY_GAMMA ||
	    f->method == BY_UNEVEN ? "true" : "false");
	if (!flats)
		json_number(out, "blur_px", f->gamma.blur * f->period_px);
	if (f->method == BY_UNEVEN) {
		json_number(out, "gamma_by_density", f->uneven.by_density);
		json_number(out, "gamma_by_amplitude", f->uneven.by_amplitude);
	}
	if (flats) {
		json_list(out, "level", f->flats.level, f->flats.n);
		json_list(out, "light", f->flats.light, f->flats.n);
	}
	if (fit) {
		json_number(out, "amplitude", fit->amplitude);
		json_number(out, "sinusoid_misfit", fit->sinusoid_misfit);
		json_number(out, "misfit", fit->misfit);
		json_number(out, "unexplained", fit->unexplained);
		json_number(out, "spread", fit->spread);
		json_list(out, "gain", fit->gain, fit->images);
		json_number(out, "gain_error", fit->gain_error);
		json_list(out, "shift", fit->shift, fit->images);
		json_number(out, "shift_error", fit->shift_error);
	}
	json_harmonics(f, out);
	fputc('}', out);
}

void
report_json(const struct findings *all, FILE *out)
{
	fprintf(out, "{\"mean\": %.9g, \"amplitude\": %.9g, \"compensation\": ", all->levels.mean,
	    all->levels.amplitude);
	json_text(out, all->compensation);
	fprintf(out, ", \"sets\": [\n");
	for (size_t i = 0; i < all->n; i++) {
		json_finding(&all->finding[i], out);
		fprintf(out, i + 1 < all->n ? ",\n" : "\n");
	}
	fprintf(out, "]}\n");
}

/* ---- files ---- */

static void
print_source(const struct finding *f, FILE *out)
{
	fprintf(out, "# ");
	print_name(f, out);
	fprintf(out, ": %s; %zu of %zu pixels", methods[f->method], f->pixels.n,
	    f->pixels.total);
	if (f->fit)
		fprintf(out, "; fit leaves %.4f of the amplitude, unexplained %.5f, spread %.5f",
		    f->fit->misfit, f->fit->unexplained, f->fit->spread);
	if (f->of_gamma)
		fprintf(out, "; they are those of gamma %.5f, with which the measured ones agree",
		    f->gamma.gamma);
	fputc('\n', out);
}

void
report_harmonics(const struct findings *all, FILE *out)
{
	bool varies = all->n && all->finding->fit && all->finding->fit->slopes;

	fprintf(out, "# fringegamma: harmonics of projected fringes over their fundamental, for "
	    "phasewrap --harmonics\n");
	if (*all->compensation)
		fprintf(out, "# compensation:=%s\n", all->compensation);
	for (size_t i = 0; i < all->n; i++)
		print_source(&all->finding[i], out);
	if (varies)
		fprintf(out, "# size_px:=%zu %zu\n", all->finding->w, all->finding->h);
	fprintf(out, "axis period_px harmonic cosine sine%s\n",
	    varies ? " cosine_x sine_x cosine_y sine_y" : "");
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->finding[i];

		for (long k = 2; f->has_harmonics && k <= f->harmonics.highest; k++) {
			if (!(f->harmonics.error[k] > 0))
				continue;
			fprintf(out, "%c ", f->axis ? f->axis : '-');
			if (isnan(f->period_px))
				fputc('-', out);
			else
				fprintf(out, "%.15g", f->period_px);
			fprintf(out, " %ld %.9f %.9f", k, f->harmonics.cosine[k],
			    f->harmonics.sine[k]);
			if (varies)
				fprintf(out, " %.4e %.4e %.4e %.4e", f->fit->cosine_slope[0][k],
				    f->fit->sine_slope[0][k], f->fit->cosine_slope[1][k],
				    f->fit->sine_slope[1][k]);
			fputc('\n', out);
		}
	}
}

void
report_lut(const struct findings *all, const struct finding *f, const double *table, FILE *out)
{
	bool flats = f->method == BY_FLATS;

	fprintf(out, "# fringegamma: wanted level and level to send, for fringegen --lut\n");
	print_source(f, out);
	if (f->gamma.fits)
		fprintf(out, "# gamma %.5f\n", f->gamma.gamma);
	else
		fprintf(out, "# no gamma: from level %.5g to %.5g, those that were measured\n",
		    table[0], table[RESPONSE_ROWS - 1]);
	if (!flats)
		fprintf(out, "# for fringes of a mean of %.5g and an amplitude of %.5g\n",
		    all->levels.mean, all->levels.amplitude);
	for (size_t i = 0; i < RESPONSE_ROWS; i++)
		fprintf(out, "%.9f %.9f\n", (double)i / (RESPONSE_ROWS - 1), table[i]);
}
