/*
 * The command that decodes the images: its words, how sure each one is and why, and the files in
 * the order in which phasewrap takes them.
 */
#include "fringeprobe.h"

#include "base/numbers.h"
#include "base/text.h"

const char *const certainty_words[] = { "certain", "found", "guessed", "unknown", NULL };

/* Adds a word to the command. format: the word, a tab, and why it is this one. */
static struct word *
add_word(struct probe *probe, enum certainty sure, const char *format, ...)
{
	struct word word = { .sure = sure };
	va_list args;

	va_start(args, format);
	word.text = must_vformat(format, args);
	va_end(args);
	word.why = strchr(word.text, '\t');
	*word.why++ = '\0';
	probe->word = must_resize(probe->word, probe->words + 1, sizeof(word));
	probe->word[probe->words++] = word;
	return &probe->word[probe->words - 1];
}

/* ---- files ---- */

struct list {
	size_t n, *image;
};

static void
add_phases(const struct probe *probe, bool by_step, struct list *list)
{
	size_t sets = probe->chosen, steps = sets ? probe->sets.fringe[probe->set[0]].steps.n : 0;

	for (size_t i = 0; i < sets * steps; i++) {
		size_t set = by_step ? i % sets : i / steps, step = by_step ? i / sets : i % steps;

		list->image[list->n++] = probe->sets.fringe[probe->set[set]].steps.image[step];
	}
}

static void
add_gray(const struct probe *probe, bool pairs, bool lsb_first, struct list *list)
{
	for (size_t c = 0; c < probe->gray.codes; c++) {
		const struct gray_code *code = &probe->gray.code[c];
		size_t all = code->inverses ? 2 * code->n : code->n;

		for (size_t i = 0; i < all; i++) {
			bool inverse = pairs && code->inverses ? i % 2 : i >= code->n;
			size_t k = pairs && code->inverses ? i / 2 : i % code->n;

			k = lsb_first ? code->n - 1 - k : k;
			list->image[list->n++] = inverse ? code->inverse[k] : code->plane[k];
		}
	}
}

/* Are there a white and a black image, which are wanted as thresholds of planes without inverses
 * only? */
static bool
wants_flats(const struct gray *gray)
{
	return gray->codes && !gray->code[0].inverses && gray->white != SIZE_MAX &&
	    gray->black != SIZE_MAX;
}

/* Does nothing tell bright from dark in the planes: neither inverses nor flat images nor fringes?
 * Then placeholders stand for the flat images that are missing. */
static bool
lacks_flats(const struct probe *probe)
{
	return !probe->described && probe->gray.codes && !probe->chosen &&
	    !probe->gray.code[0].inverses && !wants_flats(&probe->gray);
}

static const char *const order_words[] = { "phase,gray,flat", "phase,flat,gray", "gray,phase,flat",
	"gray,flat,phase", "flat,phase,gray", "flat,gray,phase", NULL };

/* groups: one of order_words, of which the first letters count. */
static void
make_list(const struct probe *probe, const char *groups, unsigned flags, struct list *list)
{
	list->n = 0;
	for (const char *group = groups; group; group = strchr(group, ',')) {
		group += *group == ',';
		if (*group == 'p') {
			add_phases(probe, flags & 1, list);
		} else if (*group == 'g') {
			add_gray(probe, flags & 2, flags & 4, list);
		} else if (wants_flats(&probe->gray)) {
			list->image[list->n++] = probe->gray.white;
			list->image[list->n++] = probe->gray.black;
		}
	}
}

/* Are the images in this order, and no others between them? */
static bool
is_order(const struct probe *probe, const struct list *list)
{
	bool same = list->n == probe->n;

	for (size_t i = 0; i < list->n && same; i++)
		same = list->image[i] == i;
	return same;
}

/* The word for the order of images in files that hold several and are taken as they are. */
static void
add_order(struct probe *probe, struct list *list)
{
	for (const char *const *groups = order_words; *groups; groups++)
		for (unsigned flags = 0; flags < 8; flags++) {
			make_list(probe, *groups, flags, list);
			if (!is_order(probe, list))
				continue;
			if (groups != order_words || flags)
				add_word(probe, SURE_FOUND, "--order %s%s%s%s\tthe order of the "
				    "images in their file", *groups, flags & 1 ? ",by-step" : "",
				    flags & 2 ? ",pairs" : "", flags & 4 ? ",lsb-first" : "");
			return;
		}
	add_word(probe, SURE_UNKNOWN, "--order ORDER\tthe images stand in an order that no word "
	    "names, or with others between: framecat --split makes files of them");
}

/* An image that was left out, in a file of which others are taken; NULL: none. */
static const struct image *
find_left(const struct probe *probe)
{
	for (size_t i = 0; i < probe->images.n; i++) {
		const struct image *image = &probe->images.image[i];

		for (size_t k = 0; k < probe->n && image->left && image->of_file > 1; k++)
			if (!strcmp(probe->image[k]->path, image->path))
				return image;
	}
	return NULL;
}

/* A Gray plane that is inverted, which no word of the command can say; NULL: none. */
static const struct image *
find_inverted(const struct probe *probe)
{
	for (size_t c = 0; c < probe->gray.codes; c++)
		for (size_t k = 0; k < probe->gray.code[c].n; k++)
			if (probe->gray.code[c].inverted[k])
				return probe->image[probe->gray.code[c].plane[k]];
	return NULL;
}

/* The file operands, and --order where they hold several images each. */
static int
add_files(struct probe *probe, FILE *to)
{
	struct list list = { 0, must_alloc(2 * probe->n + 8, sizeof(*list.image)) };
	const struct image *left = probe->manifest_path ? NULL : find_left(probe);
	const struct image *inverted = find_inverted(probe);
	char **path = must_alloc(2 * probe->n + 8, sizeof(*path));
	size_t paths = 0;
	bool whole = false;
	int status;

	for (size_t i = 0; i < probe->n; i++)
		whole |= probe->image[i]->of_file > 1;
	if (left || inverted || (whole && lacks_flats(probe))) {
		add_word(probe, SURE_UNKNOWN, "FILES\t%s %s", (left ? left : inverted ? inverted :
		    probe->image[0])->name, left ? "is left out, its file holds others that are "
		    "not: framecat --split makes files of them" : inverted ? "is inverted: the "
		    "files in their order, when it is made right" :
		    "and its file want a white and a black image at the end");
	} else if (whole || probe->described) {
		if (!probe->described)
			add_order(probe, &list);
		/* each file once */
		for (size_t i = 0; i < probe->n && (!probe->manifest_path || probe->operands); i++)
			if (probe->image[i]->in_file == 0 || i == 0 ||
			    strcmp(probe->image[i]->path, probe->image[i - 1]->path))
				path[paths++] = probe->image[i]->path;
	} else {
		make_list(probe, order_words[0], 0, &list);
		for (; paths < list.n; paths++)
			path[paths] = probe->image[list.image[paths]]->path;
	}
	status = files_put(to, path, paths);
	for (int black = 0; black < 2 && status == 0 && lacks_flats(probe) && paths; black++) {
		size_t image = black ? probe->gray.black : probe->gray.white;

		if (image == SIZE_MAX)
			fputs(black ? " BLACK" : " WHITE", to);
		else
			status = files_put(to, &probe->image[image]->path, 1);
	}
	free(path);
	free(list.image);
	return status;
}

/* ---- fringes: steps, periods, axis, shifts, origin ---- */

#define MAX_THREE_ERROR_DEG 5	/* of shifts of three images: farther off, they are no equal ones */

/* Does the phase grow against the line: does a Gray code say that columns do? */
static bool
falls(const struct probe *probe)
{
	const struct gray_code *code = fringe_code(probe);

	return code && !isnan(code->cells) && code->falls;
}

/* Images that fit nothing. */
static size_t
count_unknown(const struct probe *probe)
{
	size_t n = 0;

	for (size_t i = 0; i < probe->n; i++)
		n += probe->sets.kind[i] == KIND_UNKNOWN;
	return n;
}

/* --steps, or --kind 2+1. */
static void
add_steps(struct probe *probe)
{
	const struct fringe_set *set = first_set(probe);
	const struct steps_order *order = &set->order;
	size_t n = set->steps.n, unknown = count_unknown(probe);
	bool whole = order->of == n && order->ordered;
	double error_deg = order->error_rad * DEG;
	char text[200];

	if (set->flat) {
		add_word(probe, set->doubt ? SURE_GUESSED : SURE_FOUND, "-k 2+1\t%s", set->doubt ?
		    set->doubt : "two images lie on a circle about the third, as a sine and a "
		    "cosine do about a flat image");
		if (set->flat != 3)
			add_word(probe, SURE_FOUND, "--flat %zu\tthis one of three is flat",
			    set->flat);
		return;
	}
	snprintf(text, sizeof(text), order->of ? "%zu images with shifts of 360/%zu degrees, which "
	    "fit within %.1f" : "%zu images with unequal shifts", n, order->of, error_deg);
	if (set->doubt)
		add_word(probe, SURE_GUESSED, "-n %zu\t%s; but %s", n, text, set->doubt);
	else if (n == 3 && error_deg > MAX_THREE_ERROR_DEG)
		add_word(probe, SURE_GUESSED, "-n 3\t%s: three images fit whatever they are, 2+1 "
		    "among others", text);
	else if (whole || unknown == 0)
		add_word(probe, SURE_FOUND, "-n %zu\t%s", n, text);
	else
		add_word(probe, SURE_GUESSED, "-n %zu\t%s; but %zu image%s nothing", n, text,
		    unknown, unknown == 1 ? " fits" : "s fit");
}

/* "40,41", or as many placeholders as there are sets: PERIOD1,PERIOD2. */
static void
list_periods(const struct probe *probe, char list[32 * SETS_MOST])
{
	char number[32];

	for (size_t k = 0; k < probe->chosen; k++) {
		double v = probe->frequencies.value[k];

		list = stpcpy(list, k ? "," : "");
		if (!isnan(v))
			list = stpcpy(list, number_format(v == round(v) ? v : round(v * 1e4) / 1e4,
			    number));
		else if (probe->chosen > 1)
			list += sprintf(list, "PERIOD%zu", k + 1);
		else
			list = stpcpy(list, "PERIOD");
	}
}

/* A number that a file next to the images says; false: none does. */
static bool
add_beside(struct probe *probe, const struct beside_number *number, enum certainty sure,
    const char *what, const char *option, double v)
{
	if (!number->path || number->differs)
		return false;
	add_word(probe, sure, "%s %.10g\t%s, by %s", option, v, what, number->path);
	return true;
}

/* --field of the counts: as wide as the projector if they are of all of it, or by the period of the
 * finest fringes. */
static void
add_count_field(struct probe *probe)
{
	const struct frequencies *all = &probe->frequencies;
	const struct beside_number *period = &probe->beside.period;
	int axis = first_set(probe)->axis;

	if (!add_beside(probe, period, SURE_GUESSED, "the period, which is taken for that of the "
	    "finest fringes,", "--field", period->v * all->value[all->finest]) &&
	    !(all->source == FREQUENCY_NAMES && add_beside(probe, &probe->beside.projector[axis],
	    SURE_GUESSED, "the projector's size, which the counts are taken to be of",
	    "--field", probe->beside.projector[axis].v)))
		add_word(probe, SURE_UNKNOWN, "--field FIELD\tthe projector pixels that so many "
		    "fringes take: no image says it");
}

/* "1:4:16 or 1:4:15" */
static void
list_candidates(const struct probe *probe, char text[160])
{
	const struct frequencies *all = &probe->frequencies;
	size_t used = 0;

	text[0] = '\0';
	for (size_t c = 0; c < all->candidates && used < 120; c++)
		for (size_t k = 0; k < probe->chosen && used < 140; k++)
			used += (size_t)snprintf(text + used, 160 - used, "%s%.0f", k ? ":" : c ?
			    " or " : "", all->candidate[c][k]);
}

static void
add_counts(struct probe *probe, const char *list)
{
	const struct frequencies *all = &probe->frequencies;
	size_t other = all->finest ? 0 : probe->chosen - 1;
	bool names = all->source == FREQUENCY_NAMES, sure = names || all->probability > 0.99;
	const char *option = all->periods ? "-p" : "--count";
	double ratio = all->ratio[other], error = all->error[other];
	char candidates[160];

	list_candidates(probe, candidates);
	if (sure)
		add_word(probe, SURE_FOUND, "%s %s\t%s of the ratio that the images have, "
		    "%.5f +- %.2g", option, list, names ? "numbers in the names," :
		    "the only likely numbers", ratio, error);
	else
		add_word(probe, SURE_GUESSED, "%s %s\tthe ratio %.5f +- %.2g is that of %s",
		    option, list, ratio, error, candidates);
	if (!all->periods)
		add_count_field(probe);
}

static void
add_periods(struct probe *probe)
{
	const struct frequencies *all = &probe->frequencies;
	const struct beside_number *period = &probe->beside.period;
	char list[32 * SETS_MOST], candidates[160];

	list_periods(probe, list);
	if (probe->chosen == 1 && all->source == FREQUENCY_GRAY && period->path &&
	    fabs(all->value[0] - period->v) > 0.01 * period->v)
		probe_problem(probe, "%s says a period of %g px, and the Gray code counts %g "
		    "columns in one, if its finest plane is one column wide", period->path,
		    period->v, all->value[0]);
	if (probe->chosen == 1 && add_beside(probe, period, SURE_CERTAIN, "the fringe period", "-p",
	    period->v))
		return;
	list_candidates(probe, candidates);
	if (all->source == FREQUENCY_UNKNOWN && probe->chosen > 1 && all->ratio[0] > 0)
		add_word(probe, SURE_UNKNOWN, "-p %s\tthe frequencies are as %.4f to %.4f, which "
		    "%s%s", list, all->ratio[0], all->ratio[1], *candidates ? "several whole "
		    "numbers fit: " : "no whole numbers below 129 fit", candidates);
	else if (all->source == FREQUENCY_UNKNOWN)
		add_word(probe, SURE_UNKNOWN, "-p %s\tthe fringe %s in projector pixels cannot be "
		    "measured from the images%s", list, probe->chosen == 1 ? "period" : "periods",
		    probe->side != SIDE_NONE && probe->chosen == 1 ? "; to match two cameras any "
		    "number does, the same for both" : "");
	else if (all->source == FREQUENCY_GRAY && count_unknown(probe))
		add_word(probe, SURE_UNKNOWN, "-p PERIOD\ta Gray code counts columns, but images "
		    "fit nothing, which may be its finest planes");
	else if (all->source == FREQUENCY_GRAY)
		add_word(probe, SURE_GUESSED, "-p %s\tcolumns of the Gray code in a period, if "
		    "its finest plane is one column wide", list);
	else
		add_counts(probe, list);
}

static void
add_axis(struct probe *probe)
{
	char list[2 * SETS_MOST + 1] = "";
	bool y = false;

	for (size_t k = 0; k < probe->chosen; k++) {
		int axis = probe->sets.fringe[probe->set[k]].axis;

		sprintf(list + strlen(list), "%s%c", k ? "," : "", "xy"[axis]);
		y |= axis;
	}
	if (!strchr(list, 'x'))
		list[1] = '\0';
	if (y)
		add_word(probe, SURE_GUESSED, "-a %s\tthe phase varies along these lines of the "
		    "image, and of the projector if the camera is not turned", list);
}

#define MIN_EDGE_ERROR_DEG 0.25	/* of a Gray code's edges */
#define MAX_EDGE_ERROR_DEG 9	/* beyond it several usual angles are near */

/*
 * The usual angle nearest to a measured one: a multiple of 90 degrees that is within three errors,
 * else, if the error is small, of 30 or of the steps. An edge of the Gray code lies half a pixel of
 * the projector `before` the place where the phase is zero, which is up to 12 degrees. *alone: no
 * other angle fits; where phases meet, which is often known only roughly, the next one is ten
 * errors away.
 */
static double
usual_angle(double deg, double error, double before, size_t of, bool *alone)
{
	const double step[] = { 90, 30, of ? 360 / (double)of : 30 };
	double middle = deg + before / 2, best = round(deg);
	size_t found = 0;

	*alone = false;
	for (size_t i = 0; i < (error < 3 ? 3 : 1) && !(found && i == 1); i++) {
		double off = fabs(remainder(middle, step[i])), near = round(middle / step[i]) *
		    step[i];
		bool fits = off <= before / 2 + 3 * error + (before > 0), first = found == 0;

		if (first)
			*alone = before > 0 ? error <= MAX_EDGE_ERROR_DEG :
			    step[i] - off > 10 * error;
		else if (fits && before > 0 && near != best)
			*alone = false;
		best = fits && first ? near : best;
		found += fits;
	}
	best = remainder(best, 360);
	return best <= -180 ? 180 : best + 0.0;	/* not -0 */
}

#define ORIGIN_ERRORS 3		/* standard errors that are still no difference */

/* Adds the other usual angles within a limit of an origin: "; or 90, 180". 30s, and steps, count if
 * the error is below `fine`, or a third of it. */
static void
list_angles(struct origin *origin, double limit_deg, double fine, size_t of)
{
	size_t used = strlen(origin->why);
	const char *before = "; or ";

	for (int deg = -179; deg <= 180 && used < sizeof(origin->why) - 16; deg++) {
		bool usual = deg % 90 == 0 || (origin->error_deg < fine && deg % 30 == 0) ||
		    (origin->error_deg < fine / 3 && of &&
		    fabs(remainder(deg, 360 / (double)of)) < 0.5);

		if (!usual || fabs(remainder(deg - origin->deg, 360)) < 0.5 ||
		    fabs(remainder(deg - origin->found_deg, 360)) > limit_deg)
			continue;
		used += (size_t)sprintf(origin->why + used, "%s%d", before, deg);
		before = ", ";
	}
}

/* Is the origin that of a Gray code's edges? */
static const struct gray_code *
origin_code(const struct probe *probe)
{
	const struct gray_code *code = fringe_code(probe);

	return code && code->edge_coherence > 0.5 && code->cell != GRAY_CELL_UNKNOWN ? code : NULL;
}

/* The angle for the command, from the measured one; is it the only usual one within the error? */
static void
choose_angle(const struct probe *probe, struct origin *origin)
{
	const struct gray_code *code = origin_code(probe);
	bool alone;

	origin->deg = usual_angle(origin->found_deg, origin->error_deg, !code ? 0 :
	    code->cell != GRAY_CELL_COLUMN ? 12 : 1e-9, first_set(probe)->order.of, &alone);
	origin->sure = alone ? SURE_FOUND : SURE_GUESSED;
}

/* Where the phase begins, by this capture alone. */
static void
find_origin(const struct probe *probe, struct origin *origin)
{
	const struct gray_code *code = origin_code(probe);
	const struct frequencies *all = &probe->frequencies;

	*origin = (struct origin){ SURE_GUESSED, (double)NAN, (double)NAN, 0, "" };
	if (!code && !all->origin_known) {
		snprintf(origin->why, sizeof(origin->why), "nothing tells where the phase begins");
		return;
	}
	origin->found_deg = (code ? code->edge_rad : all->origin_rad) * DEG;
	origin->error_deg = code ? fmax(MIN_EDGE_ERROR_DEG, code->edge_error_rad * DEG) :
	    all->origin_error_rad * DEG;
	choose_angle(probe, origin);
	snprintf(origin->why, sizeof(origin->why), code ? "the Gray code's %s at %.1f +- %.2g "
	    "degrees of the phase" : "the phases %s at %.1f +- %.2g degrees", !code ? "meet" :
	    code->cell == GRAY_CELL_COLUMN ? "column 0 lies" : "periods begin",
	    origin->deg + remainder(origin->found_deg - origin->deg, 360), origin->error_deg);
}

/* One origin for both cameras of a projector: the mean, by the errors; false where they differ. */
static bool
fit_origin(const struct probe pair[2], struct origin *fit)
{
	struct origin side[2];
	double weight[2], apart, deg;
	bool agree;

	for (int i = 0; i < 2; i++)
		find_origin(&pair[i], &side[i]);
	*fit = side[isnan(side[0].found_deg)];
	if (isnan(side[0].found_deg) || isnan(side[1].found_deg))
		return true;
	for (int i = 0; i < 2; i++)
		weight[i] = 1 / (side[i].error_deg * side[i].error_deg);
	apart = remainder(side[1].found_deg - side[0].found_deg, 360);
	agree = fabs(apart) <= ORIGIN_ERRORS * hypot(side[0].error_deg, side[1].error_deg);
	for (int i = 0; i < 2 && !agree; i++)	/* the better one alone, as a guess */
		weight[i] *= weight[i] > weight[!i] || (i == 0 && weight[0] == weight[1]);
	fit->found_deg = side[0].found_deg + apart * weight[1] / (weight[0] + weight[1]);
	fit->error_deg = 1 / sqrt(weight[0] + weight[1]);
	choose_angle(&pair[0], fit);
	fit->sure = agree ? fit->sure : SURE_GUESSED;
	deg = fit->deg + remainder(fit->found_deg - fit->deg, 360);
	snprintf(fit->why, sizeof(fit->why), "%.1f +- %.2g degrees by the left camera, %.1f +- "
	    "%.2g by the right one: %s%.1f +- %.2g",
	    deg + remainder(side[0].found_deg - deg, 360), side[0].error_deg,
	    deg + remainder(side[1].found_deg - deg, 360), side[1].error_deg,
	    agree ? "" : "they differ; for both ", deg, fit->error_deg);
	return agree;
}

/* The same frequencies for both cameras: what one of them tells, if the other says nothing else. */
static bool
share_frequencies(struct probe pair[2])
{
	struct frequencies *all[2] = { &pair[0].frequencies, &pair[1].frequencies };
	int known = all[0]->source == FREQUENCY_UNKNOWN;

	if (all[!known]->source == FREQUENCY_UNKNOWN) {
		memcpy(all[!known]->value, all[known]->value, sizeof(all[known]->value));
		all[!known]->source = all[known]->source;
		all[!known]->periods = all[known]->periods;
		return true;
	}
	for (size_t k = 0; k < pair[0].chosen; k++)
		if (all[0]->value[k] != all[1]->value[k] || all[0]->periods != all[1]->periods) {
			for (int i = 0; i < 2; i++)
				all[i]->source = FREQUENCY_UNKNOWN;
			for (k = 0; k < pair[0].chosen; k++)
				all[0]->value[k] = all[1]->value[k] = (double)NAN;
			return false;
		}
	return true;
}

/* The way in which the shifts grow, as phasewrap takes it. */
static int
sign_of(const struct probe *probe)
{
	return falls(probe) ? -first_set(probe)->order.sign : first_set(probe)->order.sign;
}

void
command_pair(struct probe pair[2])
{
	struct origin fit;
	char list[2][32 * SETS_MOST];

	if (!pair[0].chosen || !pair[1].chosen)
		return;
	list_periods(&pair[0], list[0]);
	list_periods(&pair[1], list[1]);
	if (!share_frequencies(pair))
		probe_problem(&pair[0], "the left camera's fringes are %s, the right one's %s, of "
		    "one projector: neither is found", list[0], list[1]);
	if (sign_of(&pair[0]) != sign_of(&pair[1]))
		probe_problem(&pair[0], "the shifts of both cameras have other signs: are the "
		    "images of one in another order, or is one mirrored?");
	if (!fit_origin(pair, &fit))
		probe_problem(&pair[0], "one projector has one origin of the phase: %s", fit.why);
	for (int i = 0; i < 2; i++) {
		pair[i].origin = fit;
		pair[i].origin_known = true;
	}
}

/* The images' own shifts, of 360/of degrees or as measured, in the direction of the sign. */
static void
add_own_shifts(struct probe *probe, const struct fringe_set *set)
{
	char list[32 * STEPS_MOST] = "", *to = list, number[32];

	for (size_t k = 0; k < set->steps.n; k++) {
		double deg = fmod(set->order.sign * set->steps.shift_rad[k] * DEG, 360);

		deg = deg < -1e-9 ? deg + 360 : deg;
		to += sprintf(to, "%s%s", k ? "," : "",
		    number_format(round(deg * 100) / 100, number));
	}
	add_word(probe, set->order.gap_rad > PROBE_GAP_MOST ? SURE_GUESSED : SURE_FOUND,
	    "--shift %s\tthe images' own shifts", list);
}

#define MAX_THREE_ORIGIN_DEG 60	/* off one of two origins that are 120 degrees apart */

/* Three steps are projected in two ways, which differ in the origin: the one is taken that has
 * none, and without an origin that of the papers. */
static void
add_three_shifts(struct probe *probe, int sign, struct origin *origin)
{
	double other = remainder(origin->deg + sign * 120, 360);
	size_t length = strlen(origin->why);
	enum certainty sure = ORIGIN_ERRORS * origin->error_deg < MAX_THREE_ORIGIN_DEG ?
	    SURE_FOUND : SURE_GUESSED;

	if (isnan(origin->found_deg)) {
		add_word(probe, SURE_GUESSED, "--shift -120,0,120\tthree equal steps; others begin "
		    "with 0, which nothing tells apart here");
		return;
	}
	if (fabs(origin->deg) < fabs(other)) {
		add_word(probe, sure, "--shift 0,120,240\tthree equal steps; the first one has no "
		    "shift, by where the phase begins");
		return;
	}
	/* counted from the middle image, the angle may be a usual one */
	origin->found_deg = remainder(origin->found_deg + sign * 120, 360);
	choose_angle(probe, origin);
	snprintf(origin->why + length, sizeof(origin->why) - length, " of the first image, which "
	    "has -120 in --shift");
	add_word(probe, sure, "--shift -120,0,120\tthree equal steps; the middle one has no shift, "
	    "by where the phase begins");
}

static void
add_sign(struct probe *probe, int sign)
{
	const struct gray_code *code = fringe_code(probe);
	bool y = first_set(probe)->axis, known = code && !falls(probe);
	const char *way = y ? "downwards" : "to the right", *lines = y ? "rows" : "columns";

	add_word(probe, known ? SURE_FOUND : SURE_GUESSED, known ?
	    "--sign %+d\tthe phase grows as the Gray code does" : code ?
	    "--sign %+d\tthe Gray code falls %s: the projector's %s do, or its most significant "
	    "plane is inverted" :
	    "--sign %+d\tthe phase is to grow %s: nothing says that the projector's %s do",
	    sign, way, lines);
}

/* --shift, where phasewrap would take other ones, --sign and --phase-origin. */
static void
add_shifts(struct probe *probe)
{
	const struct fringe_set *set = first_set(probe);
	int sign = sign_of(probe);
	bool equal = set->order.of == set->steps.n, code = origin_code(probe);
	struct origin origin = probe->origin;

	if (!probe->origin_known)
		find_origin(probe, &origin);
	if (equal && set->steps.n == 3)
		add_three_shifts(probe, sign, &origin);
	else if (!equal && !set->flat)
		add_own_shifts(probe, set);
	add_sign(probe, sign);
	if (origin.sure == SURE_GUESSED && !isnan(origin.found_deg))
		list_angles(&origin, code ? 3 * origin.error_deg + 13 : 10 * origin.error_deg,
		    code ? 9 : 3, set->order.of);
	add_word(probe, origin.sure, "--phase-origin %g\t%s", origin.deg, origin.why);
}

/* ---- Gray code, light, the whole command ---- */

/* What the cells of a Gray code without fringes are: columns, or a power of two of them where the
 * projector is wider than so many planes count, or the finest ones are left out. */
static void
add_cell_alone(struct probe *probe)
{
	const struct gray_code *code = &probe->gray.code[0];
	const struct beside_number *projector = &probe->beside.projector[code->axis];
	bool known = projector->path && !projector->differs;
	double cells = pow(2, (double)(code->n + code->dropped)), px = 1, width;

	while (known && px * cells < projector->v)
		px *= 2;
	width = px * pow(2, (double)code->dropped);
	if (code->inverses)
		add_word(probe, SURE_FOUND, "--edges\tplanes and inverses cross where columns "
		    "begin");
	if (known)
		add_word(probe, width == 1 ? SURE_FOUND : SURE_GUESSED, "--gray-cell %s\t%.0f "
		    "cells of %.0f px take all of the projector's %g, by %s", width > 1 ? "period" :
		    "column", cells, px, projector->v, projector->path);
	else
		add_word(probe, SURE_GUESSED, "--gray-cell %s\ta projector pixel, if there are "
		    "planes as fine; else period, and unwrap2f -p with the cell's width",
		    width > 1 ? "period" : "column");
	if (width > 1)
		add_word(probe, SURE_GUESSED, "-p %g\tthe width of a cell", width)->stage =
		    WORD_UNWRAP2F;
}

static void
add_gray_words(struct probe *probe)
{
	static const char *const cells[] = { "", "column", "period", "half" };
	const struct gray *gray = &probe->gray;
	const struct gray_code *code = &gray->code[0];
	const struct gray_code *counting = fringe_code(probe) ? fringe_code(probe) : code;
	bool either = code->either || (gray->codes > 1 && gray->code[1].either);
	const char *doubt = code->doubt || gray->codes < 2 ? code->doubt : gray->code[1].doubt;
	bool blurred = code->blurred || (gray->codes > 1 && gray->code[1].blurred);
	char near[100], gap[200], agreement[80], planes[48];

	if (!gray->codes)
		return;
	snprintf(agreement, sizeof(agreement), "%.1f %% of the code's changes are steps of one",
	    100 * code->agreement);
	probe_gap(probe, gap);
	doubt = either ? "images that are bright or dark all over stand beside the planes, and may "
	    "be planes or flat ones" : doubt ? doubt : blurred ?
	    "the finest planes show no stripes" : *gap ? gap : NULL;
	snprintf(planes, sizeof(planes), gray->codes > 1 ? "%zu,%zu" : "%zu", code->n,
	    gray->code[1].n);
	add_word(probe, doubt ? SURE_GUESSED : SURE_FOUND, "-G %s\t%s", planes,
	    doubt ? doubt : agreement);
	if (code->inverses)
		add_word(probe, SURE_FOUND, "-i\teach plane has its inverse");
	if (!isnan(counting->cells))
		add_word(probe, counting->unsure_cell ? SURE_GUESSED : SURE_FOUND, "--gray-cell %s"
		    "\ta fringe holds %.3f +- %.3f of its cells%s", cells[counting->cell],
		    counting->cells, counting->cells_error, counting->unsure_cell ?
		    gray_cells_near(counting, near) : "");
	if (wants_flats(gray))
		add_word(probe, SURE_FOUND, "-F 2\ta white and a black image");
	else if (lacks_flats(probe))
		add_word(probe, SURE_UNKNOWN, "-F 2\tnothing tells bright from dark in the planes "
		    "but a white and a black image: %s", gray->white != SIZE_MAX ?
		    "BLACK is missing" : gray->black != SIZE_MAX ? "WHITE is missing" :
		    "both are missing");
	if (!probe->chosen)
		add_cell_alone(probe);
}

/* Where no Gray code orders the fringes, unwrap2f must know which beats span the projector. Counts
 * that names say, or a count of 1, are of the whole projector as they are. */
static void
add_unwrap_words(struct probe *probe)
{
	const struct frequencies *all = &probe->frequencies;
	const struct beside_number *projector =
	    &probe->beside.projector[probe->chosen ? first_set(probe)->axis : 0];

	for (size_t k = 0; k < probe->chosen; k++)
		if (all->value[k] == 1 && !all->periods)
			return;
	if (probe->chosen < 2 || probe->gray.codes ||
	    (all->source == FREQUENCY_NAMES && !all->periods))
		return;
	if (!add_beside(probe, projector, SURE_CERTAIN, "the projector's size", "--field",
	    projector->v))
		add_word(probe, SURE_UNKNOWN, "--field WIDTH\tthe projector's width along the "
		    "fringes' axis, in its pixels: no image says it");
	probe->word[probe->words - 1].stage = WORD_UNWRAP2F;
}

/* unwrap2f takes the first phase's periods for those that the code counts. */
static void
add_gray_of(struct probe *probe)
{
	const struct gray_code *code = fringe_code(probe);

	for (size_t k = 1; k < probe->chosen; k++)
		if (code && probe->set[k] == code->set && (code->cell == GRAY_CELL_PERIOD ||
		    code->cell == GRAY_CELL_HALF))
			add_word(probe, code->unsure_cell ? SURE_GUESSED : SURE_FOUND,
			    "--gray-of %zu\tthe code counts this phase's periods, of which the "
			    "first phase's hold %.3f", k + 1,
			    code->cells_of[probe->set[0]] / code->cells)->stage = WORD_UNWRAP2F;
}

/* The amplitude that keeps pixels without fringes out, with two digits. */
static void
add_unlit(struct probe *probe)
{
	const struct unlit *unlit = &probe->unlit;
	double digit = pow(10, floor(log10(unlit->least)) - 1);

	if (unlit->least > 0)
		add_word(probe, unlit->unlit < 0.7 * unlit->lit ? SURE_FOUND : SURE_GUESSED,
		    "--min-amplitude %.3g\t%.2g %% of the pixels show weak fringes: 99 in 100 of "
		    "them have less than %.3g, of the others more than %.3g",
		    round(unlit->least / digit) * digit, 100 * unlit->share, unlit->unlit,
		    unlit->lit);
}

static void
add_found_words(struct probe *probe)
{
	if (probe->chosen) {
		add_steps(probe);
		add_periods(probe);
		add_axis(probe);
		add_shifts(probe);
	} else {
		add_word(probe, SURE_FOUND, "-k gray\tGray planes, but no fringes");
	}
	add_gray_words(probe);
	if (probe->colour)
		add_word(probe, SURE_GUESSED, "--channel g\tthe images are in colour; green is "
		    "usually the least noisy");
	if (probe->max_value)
		add_word(probe, SURE_FOUND, "--max-value %g\tmany samples are exactly this, and "
		    "none is larger", probe->saturation);
	add_unlit(probe);
	add_unwrap_words(probe);
	add_gray_of(probe);
}

/* How many phases there are, and codes that count their fringes. */
static void
count_phases(const struct probe *probe, size_t *phases, size_t *codes)
{
	*phases = probe->described ? probe->captures.fringes : probe->chosen;
	*codes = probe->described ? probe->captures.codes : probe->gray.codes;
}

/* Can fringe orders be found, or does a Gray code alone count columns? */
static bool
can_unwrap(const struct probe *probe)
{
	size_t phases, codes;

	count_phases(probe, &phases, &codes);
	return phases > 1 || (codes && (phases || !probe->described));
}

/* What comes after: one phase is unwrapped by its neighbours, and a calibration is used. */
static void
add_stages(struct probe *probe)
{
	const struct beside *beside = &probe->beside;
	size_t phases, codes;
	enum certainty sure = beside->ambiguous ? SURE_GUESSED : SURE_FOUND;
	char *file = beside->calib || beside->pair ?
	    shell_word(beside->calib ? beside->calib : beside->pair) : NULL;

	count_phases(probe, &phases, &codes);
	if (phases == 1 && !codes)
		add_word(probe, SURE_FOUND, "unwrapq\tone phase, and nothing that counts its "
		    "fringes: differences within the object alone mean something")->stage =
		    WORD_STAGE;
	else if (can_unwrap(probe) && beside->calib)
		add_word(probe, sure, "phase2depth --calib %s\ta calibration of camera and "
		    "projector is next to the images, and of their size", file)->stage = WORD_STAGE;
	else if (can_unwrap(probe) && beside->pair)
		add_word(probe, sure, "rectify --calib %s --side %s\ta calibration of two cameras "
		    "is next to the images, and of their size", file, probe->side == SIDE_LEFT ?
		    "left" : "right")->stage = WORD_STAGE;
	free(file);
}

static void
put_words(const struct probe *probe, enum word_stage stage, FILE *to)
{
	for (size_t i = 0; i < probe->words; i++)
		if (probe->word[i].stage == stage)
			fprintf(to, "%s %s", stage == WORD_STAGE ? " ," : "", probe->word[i].text);
}

/* ---- images that are no steps: boards, laser lines, single fringe images ---- */

/* The size that most of the boards have. */
static void
usual_board(const struct probe *probe, size_t size[2])
{
	size_t most = 0;

	for (size_t i = 0; i < probe->n; i++) {
		const struct image_look *look = &probe->look[i];
		size_t n = 0;

		for (size_t k = 0; k < probe->n && look->kind == LOOK_BOARD; k++)
			n += !memcmp(probe->look[k].board, look->board, sizeof(look->board));
		if (n > most)
			memcpy(size, look->board, sizeof(look->board));
		most = n > most ? n : most;
	}
}

static char *
look_command(const struct probe *probe, enum look_kind kind, const char *channel)
{
	size_t size[2] = { 0 };

	if (kind == LOOK_LASER)
		return must_format("steger%s%s", channel ? " --channel " : "", !channel ? "" :
		    *channel == 'r' ? "red" : *channel == 'g' ? "green" : "blue");
	if (kind == LOOK_FRINGES)
		return must_strdup("fringepipe fourierphase");
	usual_board(probe, size);
	return must_format("boardfind --board %zux%zu", size[0], size[1]);
}

/* The commands for what single images show, the ones that are joined by &&. */
static int
put_looks(struct probe *probe, const char *output, FILE *to)
{
	static const char *const whys[LOOK_KINDS] = { "", "one fringe image is a phase by itself",
		"a laser's line", "a chessboard, of so many inner corners" };
	static const char *const files[LOOK_KINDS] = { "", "phase", "lines", "corners" };
	char **path = must_alloc(probe->n, sizeof(*path));
	size_t kinds = 0, put = 0, count[LOOK_KINDS] = { 0 };
	int status = 0;

	for (size_t i = 0; i < probe->n; i++)
		kinds += probe->look[i].kind != LOOK_NOTHING && !count[probe->look[i].kind]++;
	for (enum look_kind kind = LOOK_FRINGES; kind < LOOK_KINDS; kind++) {
		const char *channel = NULL;
		size_t n = 0;
		char *text;

		for (size_t i = 0; i < probe->n; i++)
			if (probe->look[i].kind == kind) {
				channel = n ? channel : probe->look[i].channel;
				path[n++] = probe->image[i]->path;
			}
		if (n == 0)
			continue;
		text = look_command(probe, kind, channel);
		add_word(probe, SURE_GUESSED, "%s\t%s", text, whys[kind]);
		fprintf(to, "%s%s", put++ ? " && " : "", text);
		status = files_put(to, path, n) < 0 ? -1 : status;
		fputs(kind == LOOK_FRINGES ? " , unwrapq" : "", to);
		if (kinds > 1)
			fprintf(to, " -o %s.nrrd", files[kind]);
		else if (output)
			fprintf(to, " -o %s", output);
		free(text);
	}
	free(path);
	return status;
}

void
words_free(struct probe *probe)
{
	for (size_t i = 0; i < probe->words; i++)
		free(probe->word[i].text);
	free(probe->word);
}

/* Where the finest Gray planes are weak: the command without them, in probe->seen_line. With
 * fringes a code of columns needs them. -1 after fail(). */
static int
make_seen_line(struct probe *probe, const char *output)
{
	struct probe seen = *probe;
	size_t weak = 0;
	int status;

	for (size_t c = 0; c < seen.gray.codes; c++) {
		seen.gray.code[c].dropped = seen.gray.code[c].weak + seen.gray.code[c].blurred;
		weak += seen.gray.code[c].dropped;
		seen.gray.code[c].n -= seen.gray.code[c].dropped;
		seen.gray.code[c].weak = seen.gray.code[c].blurred = 0;
	}
	if (!weak || seen.chosen || seen.described)
		return 0;
	seen.word = NULL;
	seen.words = 0;
	status = command_make(&seen, output);
	probe->seen_line = seen.line;
	words_free(&seen);
	return status;
}

int
command_make(struct probe *probe, const char *output)
{
	struct text text, files;
	FILE *to;
	char *list;
	int status;

	if (make_seen_line(probe, output) < 0 || !(to = text_open(&files)))
		return -1;
	if (probe->look) {
		status = put_looks(probe, output, to);
		probe->line = text_close(&files, NULL);
		return status == 0 && probe->line ? 0 : -1;
	}
	if (!probe->described) {
		add_found_words(probe);
	} else if (probe->manifest_path) {
		char *path = shell_word(probe->manifest_path);

		add_word(probe, SURE_CERTAIN, "-m %s\tit says what the images are", path);
		free(path);
	}
	add_stages(probe);
	status = add_files(probe, to);
	list = text_close(&files, NULL);
	if (status < 0) {
		free(list);
		return -1;
	}
	to = list ? text_open(&text) : NULL;
	if (to) {
		fputs("fringepipe phasewrap", to);
		put_words(probe, WORD_PHASEWRAP, to);
		fprintf(to, "%s%s", list, can_unwrap(probe) ? " , unwrap2f" : "");
		put_words(probe, WORD_UNWRAP2F, to);
		put_words(probe, WORD_STAGE, to);
		if (output)
			fprintf(to, " -o %s", output);
		probe->line = text_close(&text, NULL);
	}
	free(list);
	return probe->line ? 0 : -1;
}
