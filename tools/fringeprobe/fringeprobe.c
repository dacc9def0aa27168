/*
 * Says what captured images are, and which command decodes them.
 *
 * images.c reads the images, fringe_sets.c and gray.c find out what they show, command.c makes the
 * command, report.c writes it all down. Here are the choice of images, what images say of
 * themselves, light and saturation, and the order of all that.
 */
#include "fringeprobe.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/file_list.h"
#include "io/safe_file.h"

/* ---- which images are looked at ---- */

#define IMAGES_MOST 200		/* images are compared with each other */
#define MAX_LOOKS 60		/* images that are looked at one by one, where no sets are found */

static bool
same_size(const struct image *a, const struct image *b)
{
	return a->head.w == b->head.w && a->head.h == b->head.h && a->head.type == b->head.type;
}

/* The size that most images have, of those that are kept. */
static const struct image *
usual_size(const struct images *images)
{
	const struct image *best = NULL;
	size_t most = 0, kept = images->n < IMAGES_KEPT ? images->n : IMAGES_KEPT;

	for (size_t i = 0; i < kept; i++) {
		size_t n = 0;

		for (size_t j = 0; j < kept; j++)
			n += same_size(&images->image[i], &images->image[j]);
		if (n > most) {
			most = n;
			best = &images->image[i];
		}
	}
	return best;
}

static void
skip_image(struct probe *probe, const struct image *image, const struct image *usual, bool colour)
{
	char reason[160];

	if (colour)
		snprintf(reason, sizeof(reason), "is in colour, the others are not");
	else
		snprintf(reason, sizeof(reason), "is %zu x %zu %s, not %zu x %zu %s", image->head.w,
		    image->head.h, sample_name(image->head.type), usual->head.w, usual->head.h,
		    sample_name(usual->head.type));
	images_add_skip(&probe->images, image->of_file > 1 ? image->name : image->path, reason);
}

/* What a message adds where they are in colour; else "". */
static const char *
choice_colour_hint(const struct probe *probe)
{
	return probe->colour ? "; red, green and blue of each may be three steps, which nothing "
	    "here tells: phasewrap --rgb" : "";
}

/* Images of one size that are all in colour or all grey. object: for messages. -1 after fail(). */
static int
choice_make(struct probe *probe, const char *object)
{
	struct images *images = &probe->images;
	const struct image *usual = usual_size(images);
	size_t alike = 0, colour = 0;

	probe->image = must_alloc(images->n, sizeof(*probe->image));
	for (size_t i = 0; i < images->n; i++)
		if (same_size(&images->image[i], usual)) {
			alike++;
			colour += images->image[i].colour;
		}
	probe->colour = 2 * colour > alike;
	for (size_t i = 0; i < images->n; i++) {
		struct image *image = &images->image[i];
		bool fits = same_size(image, usual);

		image->left = !fits || image->colour > probe->colour;
		if (image->left)
			skip_image(probe, image, usual, fits);
		else
			probe->image[probe->n++] = image;
	}
	if (probe->n > IMAGES_MOST || images->more || images->n > IMAGES_KEPT) {
		size_t n = probe->n, most = n < IMAGES_MOST ? n : IMAGES_MOST;

		while (most > 0 && !probe->image[most - 1]->near[0])
			most--;
		probe_problem(probe, "%s%zu images: only the first %zu are looked at",
		    images->more ? "more than " : "", images->more ? (size_t)IMAGES_READ : n,
		    most);
		probe->n = most;
	}
	if (probe->n < 3)
		return fail(object, "no fringe images: %zu image%s of %zu x %zu %s, and three of "
		    "one size is the least%s", probe->n, probe->n == 1 ? "" : "s", usual->head.w,
		    usual->head.h, sample_name(usual->head.type), choice_colour_hint(probe));
	return 0;
}

/* ---- images that say what they are: is it what they show? ---- */

#define SHIFT_OFF (20 * M_PI / 180)
#define RATIO_OFF 0.01

static const struct capture_options no_options = {
	.kind = CAPTURES_ALL, .steps = LONG_MIN, .flats = LONG_MIN, .gray_cell = -1,
	.flat = FLAT_DESCRIBED
};

/* The head of all images as one frame. */
static int
gather_head(const struct probe *probe, struct frame_head *head)
{
	const struct meta **meta = must_alloc(probe->n, sizeof(*meta));
	size_t *planes = must_alloc(probe->n, sizeof(*planes));
	int status;

	for (size_t i = 0; i < probe->n; i++) {
		meta[i] = &probe->image[i]->head.meta;
		planes[i] = 1;
	}
	status = head_init(head, probe->image[0]->head.w, probe->image[0]->head.h, probe->n,
	    probe->image[0]->head.type);
	if (status == 0) {
		meta_free(&head->meta);
		status = meta_gather(&head->meta, meta, planes, probe->n);
	}
	free(meta);
	free(planes);
	return status;
}

/* The content's set that holds all images of a described one; NULL: none. */
static const struct fringe_set *
content_of(const struct probe *probe, const struct capture_fringe *fringe)
{
	size_t set = SIZE_MAX;

	for (size_t k = 0; k < fringe->n; k++) {
		size_t i = fringe->plane[k];

		if (i >= probe->n || probe->sets.set[i] == SIZE_MAX ||
		    (k && probe->sets.set[i] != set))
			return NULL;
		set = probe->sets.set[i];
	}
	return set == SIZE_MAX ? NULL : &probe->sets.fringe[set];
}

/* The shift of image i, which may show what another one shows. */
static double
shift_of(const struct probe *probe, const struct fringe_set *set, size_t i)
{
	size_t shown = probe->sets.kind[i] == KIND_TWIN ? probe->sets.other[i] : i;

	for (size_t k = 0; k < set->steps.n; k++)
		if (set->steps.image[k] == shown)
			return set->steps.shift_rad[k];
	return (double)NAN;
}

/* Checks the shifts of one set in both directions of its fringes. */
static void
check_shifts(struct probe *probe, const struct capture_fringe *fringe,
    const struct fringe_set *set)
{
	size_t worst = 0;
	double off[2] = { 0 };
	char name[CAPTURE_SET_NAME_SIZE];

	for (int sign = 0; sign < 2; sign++)
		for (size_t k = 1; k < fringe->n; k++) {
			double shown = shift_of(probe, set, fringe->plane[k]) -
			    shift_of(probe, set, fringe->plane[0]);
			double described = fringe->shift_rad[k] - fringe->shift_rad[0];
			double d = fabs(remainder((sign ? -shown : shown) - described, 2 * M_PI));

			if (d > off[sign]) {
				off[sign] = d;
				worst = k;
			}
		}
	if (!(fmin(off[0], off[1]) < SHIFT_OFF))
		probe_problem(probe, "%s: the images have other shifts than they say, by %.0f "
		    "degrees, %s for one: files that were exchanged?",
		    capture_set_name(fringe, name), fmin(off[0], off[1]) * DEG,
		    probe_name(probe, fringe->plane[worst]));
}

static void
check_ratio(struct probe *probe, const struct capture_fringe *a, const struct capture_fringe *b)
{
	const struct fringe_set *in_a = content_of(probe, a), *in_b = content_of(probe, b);
	double described = a->period_px / b->period_px, ratio, error;
	char first[CAPTURE_SET_NAME_SIZE], second[CAPTURE_SET_NAME_SIZE];

	if (!in_a || !in_b || in_a->axis != in_b->axis)
		return;
	ratio_measure(&probe->sets.field[in_a->axis], in_a, in_b, &ratio, &error);
	if (fabs(ratio - described) > RATIO_OFF * described + 3 * error)
		probe_problem(probe, "%s and %s: the images' periods have the ratio %.4f, not %.4f",
		    capture_set_name(a, first), capture_set_name(b, second), ratio, described);
}

static void
check_code(struct probe *probe, const struct capture_code *described)
{
	for (size_t c = 0; c < probe->gray.codes; c++) {
		const struct gray_code *code = &probe->gray.code[c];

		if ("xy"[code->axis] == described->axis && code->n == described->n &&
		    memcmp(code->plane, described->plane, code->n * sizeof(*code->plane))) {
			probe_problem(probe, "the Gray planes along %c are not in the order that "
			    "they say", described->axis);
			return;
		}
	}
}

/* How many images are one measurement, by the manifest or the key set_images; 0: unknown. */
static int
count_described(const struct probe *probe, size_t *n)
{
	const struct meta *meta = &probe->image[0]->head.meta;
	double images = 0;

	*n = 0;
	if (probe->manifest_path)
		*n = manifest_measurement(&probe->manifest);
	else if (meta_number(meta, "set_images", 0, &images) < 0)
		return -1;
	else if (images >= 3 && images <= (double)probe->n)
		*n = (size_t)images;
	return 0;
}

/* Images without description among others that have one are left out. */
static int
leave_out_undescribed(struct probe *probe)
{
	size_t n = 0;

	for (size_t i = 0; i < probe->n; i++) {
		struct image *image = probe->image[i];
		struct manifest_row row = { 0 };

		if (!meta_get(&image->head.meta, "role")) {
			image->left = true;
			probe_problem(probe, "%s does not say what it is, as the others do: it is "
			    "left out", image->name);
			continue;
		}
		if (manifest_row_from_meta(&image->head.meta, image->name, &row) < 0)
			return -1;
		free(row.file);
		probe->image[n++] = image;
	}
	probe->n = n;
	return 0;
}

/* Do the images say what they are? Then those that do not are left out, as are all after the first
 * measurement. -1 after fail(). */
static int
described_choose(struct probe *probe)
{
	size_t roles = 0, n;

	for (size_t i = 0; i < probe->n; i++)
		roles += meta_get(&probe->image[i]->head.meta, "role") != NULL;
	probe->described = 2 * roles > probe->n || probe->manifest_path;
	if (!probe->described)
		return 0;
	if (!probe->manifest_path && leave_out_undescribed(probe) < 0)
		return -1;
	if (count_described(probe, &n) < 0)
		return -1;
	probe->measurements = 1;
	if (n > 0 && probe->n > n) {
		probe->measurements = probe->n / n;
		if (probe->n % n)
			probe_problem(probe, "%zu images are described, a measurement has %zu: %zu "
			    "are too many, or some are missing", probe->n, n, probe->n % n);
		probe->n = n;
	}
	return 0;
}

/* Looks at whether images are what they say. -1 after fail(). */
static int
described_check(struct probe *probe)
{
	const struct capture_set *captures = &probe->captures;
	struct manifest measurement = { 0 };
	struct frame_head head = { 0 };
	int status;

	if (!probe->described)
		return 0;
	if (probe->manifest_path)
		measurement = (struct manifest){ manifest_measurement(&probe->manifest),
			probe->manifest.row };
	status = gather_head(probe, &head);
	if (status == 0)
		status = capture_set_sort(&no_options, probe->manifest_path ? &measurement : NULL,
		    &head, &probe->captures);
	head_free(&head);
	for (size_t k = 0; k < captures->fringes && status == 0; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		const struct fringe_set *set = content_of(probe, fringe);
		char name[CAPTURE_SET_NAME_SIZE];

		if (fringe->two_plus_one || (!set && probe->sets.n == 0))
			continue;	/* where no set is found nothing contradicts */
		if (!set)
			probe_problem(probe, "%s: the images do not show the same fringes moved",
			    capture_set_name(fringe, name));
		else
			check_shifts(probe, fringe, set);
		for (size_t j = 0; j < k; j++)
			check_ratio(probe, &captures->fringe[j], fringe);
	}
	for (size_t c = 0; c < captures->codes && status == 0; c++)
		check_code(probe, &captures->code[c]);
	return status;
}

/* ---- pixels that no fringes reach, and the amplitude that tells them from others ---- */

#define LIT_AMPLITUDE 0.25f	/* of the median amplitude: more is lit */
#define UNLIT_SHARE 0.02	/* of all pixels: fewer unlit ones need no limit */

/* What so many of n values do not reach. */
static double
quantile(float *v, size_t n, double share)
{
	return (double)numbers_rank(v, n, (size_t)(share * (double)(n - 1)));
}

/* Amplitudes of lit pixels, or those of more than `least`, from the front, of the others from
 * the back. Returns the number of the former. */
static size_t
unlit_divide(const struct field *field, const float *all, float least, float *amplitude)
{
	size_t pixels = field->lines * field->length, lit = 0, unlit = 0;

	for (size_t p = 0; p < pixels; p++)
		if (!field->lit[p] && !(all[p] > least))
			amplitude[pixels - ++unlit] = isnan(all[p]) ? 0 : all[p];
		else
			amplitude[lit++] = all[p];
	return lit;
}

/* Measures probe->unlit. */
static void
unlit_find(struct probe *probe)
{
	const struct fringe_set *set = &probe->sets.fringe[probe->set[0]];
	const struct field *field = &probe->sets.field[set->axis];
	size_t pixels = field->lines * field->length, lit;
	struct unlit *unlit = &probe->unlit;
	float *all = field->pair, *amplitude = all + pixels;

	if (!probe->chosen)
		return;
	fringeprobe_rows()->steps_fill(field, &set->steps, NULL, NULL, all);
	lit = unlit_divide(field, all,
	    LIT_AMPLITUDE * (float)set->steps.amplitude, amplitude);
	unlit->share = (double)(pixels - lit) / (double)pixels;
	if (unlit->share > UNLIT_SHARE && lit > 0) {
		unlit->unlit = quantile(amplitude + lit, pixels - lit, 0.99) *
		    sqrt((double)probe->averaged);	/* of noise */
		unlit->lit = quantile(amplitude, lit, 0.01);
		unlit->least = unlit->unlit < unlit->lit ?
		    sqrt(fmax(unlit->unlit, 0.01 * unlit->lit) * unlit->lit) : unlit->unlit;
	}
}

/* ---- from files to what they are ---- */

#define SATURATED_SHARE 1e-3	/* of an image that is exactly at its largest value */

const char *
probe_name(const struct probe *probe, size_t i)
{
	return probe->image[i]->name;
}

/* Does every image of every fringe set come so many times? Then how often; else 1. */
static size_t
count_measurements(const struct probe *probe)
{
	size_t times = 0;

	for (size_t i = 0; i < probe->n; i++) {
		size_t n = 1;

		if (probe->sets.kind[i] != KIND_FRINGE)
			continue;
		for (size_t j = 0; j < probe->n; j++)
			n += probe->sets.kind[j] == KIND_TWIN && probe->sets.other[j] == i;
		if (times && n != times)
			return 1;
		times = n;
	}
	return times && probe->n % times == 0 ? times : 1;
}

/* Several measurements of the same: the first one is looked at. */
static void
find_sets(struct probe *probe)
{
	size_t times;

	images_average(probe->image, probe->n, &probe->averaged, &probe->noise);
	sets_find(probe->image, probe->n, probe->noise, &probe->sets);
	times = probe->measurements > 1 ? 1 : count_measurements(probe);
	if (times > 1) {
		probe->measurements = times;
		probe->n /= times;
		sets_free(&probe->sets);
		sets_find(probe->image, probe->n, probe->noise, &probe->sets);
	}
	for (size_t k = 0; k < probe->sets.n; k++) {
		struct steps *steps = &probe->sets.fringe[k].steps;

		steps->noise *= sqrt((double)probe->averaged);	/* of one pixel */
		steps->residual *= sqrt((double)probe->averaged);
	}
	gray_find(&probe->sets, &probe->gray);
	sets_doubt(&probe->sets);
}

/* Can both be taken in one go? phasewrap has one number of steps, one list of shifts, one sign. */
static bool
go_together(const struct fringe_set *a, const struct fringe_set *b)
{
	bool same = a->steps.n == b->steps.n && a->order.of == b->order.of &&
	    a->flat == b->flat && (a->order.of || a->flat) && a->order.sign == b->order.sign;

	for (size_t k = 0; k < a->steps.n && same; k++)
		same = a->order.place[k] == b->order.place[k];
	return same || a == b;
}

#define SURE_WEIGHT 8		/* images of a set that is found, over those of a guess */

/* The sets that go together, with the most images. */
static void
choose_sets(struct probe *probe)
{
	const struct fringe_set *all = probe->sets.fringe;
	size_t best = 0, most = 0;

	for (size_t k = 0; k < probe->sets.n; k++) {
		size_t n = 0;

		for (size_t j = 0; j < probe->sets.n; j++)
			n += go_together(&all[k], &all[j]) ? all[j].steps.n *
			    (all[j].doubt ? 1 : SURE_WEIGHT) : 0;
		if (n > most) {
			most = n;
			best = k;
		}
	}
	for (size_t k = 0; k < probe->sets.n; k++) {
		if (!go_together(&all[best], &all[k])) {
			probe_problem(probe, "the %zu images that begin with %s have other steps "
			    "than the other sets, and are left out", all[k].steps.n,
			    probe_name(probe, all[k].steps.image[0]));
			continue;
		}
		probe->set[probe->chosen++] = k;
	}
}

const struct fringe_set *
first_set(const struct probe *probe)
{
	return probe->chosen ? &probe->sets.fringe[probe->set[0]] : NULL;
}

const struct gray_code *
fringe_code(const struct probe *probe)
{
	const struct fringe_set *set = first_set(probe);

	for (size_t c = 0; c < probe->gray.codes; c++)
		if (!set || probe->gray.code[c].axis == set->axis)
			return &probe->gray.code[c];
	return NULL;
}

/* The share of lit pixels in which one of n images of fringes reaches a level. */
static double
saturated_share(const struct field *field, const enum image_kind *kind, size_t n, double level)
{
	double seen = 0, reached = 0;

	for (size_t p = 0; p < field->lines * field->length; p++) {
		bool at = false;

		for (size_t i = 0; i < n && field->lit[p]; i++)
			at = at || (kind[i] == KIND_FRINGE && (double)field->v[i][p] >= level);
		seen += field->lit[p];
		reached += at;
	}
	return seen > 0 ? reached / seen : 0;
}

/* The level at which the chosen images saturate, and the share of pixels that reach it in one. */
static void
find_saturation(struct probe *probe)
{
	enum sample type = probe->image[0]->head.type;
	double most = 0, share = 0;
	const struct field *field;

	for (size_t i = 0; i < probe->n; i++) {
		if (probe->image[i]->max > most)
			share = 0;
		most = fmax(most, probe->image[i]->max);
		if (probe->image[i]->max == most)
			share = fmax(share, probe->image[i]->share_max);
	}
	probe->saturation = type == SAMPLE_UCHAR ? 255 : type == SAMPLE_USHORT ? 65535 : INFINITY;
	for (int bits = 9; bits < 16 && type == SAMPLE_USHORT; bits++)
		if (most == (double)((1 << bits) - 1) && share > SATURATED_SHARE) {
			probe->saturation = most;
			probe->max_value = true;
		}
	if (!probe->chosen)
		return;
	field = &probe->sets.field[first_set(probe)->axis];
	probe->saturated = saturated_share(field, probe->sets.kind, probe->n,
	    probe->saturation);
}

/* Where nothing is found: do single images show something that another tool takes? -1: no, and
 * the failure stays. */
static int
find_looks(struct run *run, struct probe *probe)
{
	struct fail_record failure = { .message = "" };
	size_t n = probe->n < MAX_LOOKS ? probe->n : MAX_LOOKS, seen = 0;
	bool unreadable = false;	/* what is missing may be what tells */

	for (size_t i = 0; i < probe->images.skips; i++)
		unreadable |= probe->images.skip[i].unreadable;
	if (probe->n == 0 || unreadable || fail_is_memory())
		return -1;
	fail_take(&failure);
	probe->look = must_alloc(probe->n, sizeof(*probe->look));
	images_look(run, probe->image, n, probe->look);
	for (size_t i = 0; i < probe->n; i++)
		seen += probe->look[i].kind != LOOK_NOTHING;
	if (seen)
		return 0;
	free(probe->look);
	probe->look = NULL;
	fail_put(&failure);
	return -1;
}

#define MIN_AGREEMENT 0.9	/* of a code's changes, that are steps of one */

/* Images were left out, or show no fringes, and all that the others show is doubtful: where an
 * image is missing, steps may look like planes, or two steps and a plane like three steps. */
static bool
is_all_doubtful(const struct probe *probe)
{
	for (size_t k = 0; k < probe->sets.n; k++)
		if (!probe->sets.fringe[k].doubt)
			return false;
	for (size_t c = 0; c < probe->gray.codes; c++)
		if (probe->gray.code[c].agreement > MIN_AGREEMENT)
			return false;
	return count_unknown(probe) > 0 || probe->sets.n == 0;
}

static int
find_all(struct probe *probe, const char *object)
{
	char guess[480];

	find_sets(probe);
	if (described_check(probe) < 0)
		return -1;
	if (!probe->described && ((probe->sets.n == 0 && probe->gray.codes == 0) ||
	    is_all_doubtful(probe)))
		return fail(object, "no fringe images: %zu images of %zu x %zu, but no three of "
		    "them show the same fringes moved, and there is no Gray code%s%s", probe->n,
		    probe->image[0]->head.w, probe->image[0]->head.h, choice_colour_hint(probe),
		    problems_guess(probe, guess));
	return 0;
}

/* Finds out all of one capture but the command. -1 after fail(), also where the images show no
 * fringes. Free with probe_free(), also then. */
static int
probe_find(struct run *run, struct probe *probe, const char *object)
{
	probe->measurements = 1;
	probe->gray.white = probe->gray.black = SIZE_MAX;
	if (choice_make(probe, object) < 0)
		return find_looks(run, probe);
	if (described_choose(probe) < 0)
		return -1;
	if (probe->n < 3)
		return fail(object, "%zu images say what they are, and three is the least",
		    probe->n);
	if (find_all(probe, object) < 0)
		return probe->sets.n || probe->gray.codes ? -1 : find_looks(run, probe);
	if (!probe->described)
		choose_sets(probe);
	if (probe->chosen)
		frequencies_find(&probe->sets, probe->set, probe->chosen, fringe_code(probe),
		    &probe->frequencies);
	find_saturation(probe);
	if (!probe->described) {
		unlit_find(probe);
		problems_find(probe);
	}
	beside_read(probe);
	return 0;
}

static void
probe_free(struct probe *probe)
{
	for (size_t i = 0; i < probe->problems; i++)
		free(probe->problem[i]);
	words_free(probe);
	free_all(probe->problem, probe->line, probe->seen_line, probe->image, probe->look,
	    probe->beside.calib, probe->beside.pair, probe->beside.period.path,
	    probe->beside.projector[0].path, probe->beside.projector[1].path);
	sets_free(&probe->sets);
	capture_set_free(&probe->captures);
	manifest_free(&probe->manifest);
	images_free(&probe->images);
}

/* ---- several captures: of two cameras, or of several scenes in one folder ---- */

struct captures {
	size_t n;
	struct probe *probe;
	bool pair;
	struct files_split split;	/* the names of several in one folder */
	char *line;			/* the command for all */
};

static void
captures_free(struct captures *captures)
{
	for (size_t i = 0; i < captures->n; i++)
		probe_free(&captures->probe[i]);
	free(captures->probe);
	free(captures->line);
	files_split_free(&captures->split);
	*captures = (struct captures){ 0 };
}

static int
read_images(struct run *run, const char *manifest, struct probe *probe)
{
	char **file = NULL;
	int status = 0;

	probe->manifest_path = manifest;
	if (manifest && (manifest_load(manifest, &probe->manifest) < 0 ||
	    manifest_operands(&probe->manifest, manifest, run, &file) < 0))
		return -1;
	probe->operands = !file;
	status = images_read(run, run->operand, run->operands, manifest, &probe->images);
	if (file)
		run->operands = 0;
	free(file);
	return status;
}

/* Reads all images as one capture. */
static int
captures_read(struct run *run, const char *manifest, struct captures *captures)
{
	*captures = (struct captures){ 1, must_alloc(1, sizeof(*captures->probe)), .pair = false };
	return read_images(run, manifest, captures->probe);
}

/* Moves the images to captures of their own, by the group of each; skips go to the first. */
static void
captures_divide(struct captures *captures, size_t groups, const size_t *group)
{
	struct probe *probe = must_alloc(groups, sizeof(*probe));
	struct images *from = &captures->probe->images;

	for (size_t i = 0; i < from->n; i++) {
		struct images *to = &probe[group[i]].images;

		to->image = must_resize(to->image, to->n + 1, sizeof(*to->image));
		to->image[to->n++] = from->image[i];
	}
	probe->images.skip = from->skip;
	probe->images.skips = from->skips;
	for (size_t g = 0; g < groups; g++) {
		probe[g].images.sorted = from->sorted;
		probe[g].operands = true;
	}
	free(from->image);
	free(captures->probe);
	captures->probe = probe;
	captures->n = groups;
}

/* Have both the same fringes and planes along the same axes? */
static bool
captures_alike(const struct probe *a, const struct probe *b)
{
	bool same = a->described == b->described && !a->look && !b->look &&
	    a->captures.fringes == b->captures.fringes && a->captures.codes == b->captures.codes &&
	    a->chosen == b->chosen && a->gray.codes == b->gray.codes;

	for (size_t k = 0; k < a->chosen && same; k++) {
		const struct fringe_set *in_a = &a->sets.fringe[a->set[k]];
		const struct fringe_set *in_b = &b->sets.fringe[b->set[k]];

		same = in_a->axis == in_b->axis && in_a->steps.n == in_b->steps.n &&
		    in_a->flat == in_b->flat;
	}
	for (size_t c = 0; c < a->gray.codes && same; c++)
		same = a->gray.code[c].axis == b->gray.code[c].axis &&
		    a->gray.code[c].n == b->gray.code[c].n;
	return same;
}

/* Probes each capture by itself. Are all of them whole ones, of the same kind? */
static bool
captures_stand_alone(struct run *run, struct captures *captures)
{
	for (size_t i = 0; i < captures->n; i++)
		if (probe_find(run, &captures->probe[i], NULL) < 0 ||
		    (i && !captures_alike(&captures->probe[0], &captures->probe[i])))
			return false;
	return true;
}

/* Is a file in a folder itself? */
static bool
is_in(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	n -= n && folder[n - 1] == '/';
	return !strncmp(path, folder, n) && path[n] == '/' && !strchr(path + n + 1, '/');
}

/* Are operands two folders, those of two cameras? Then all is probed. */
static bool
try_pair(struct run *run, struct captures *captures)
{
	struct images *images = &captures->probe->images;
	size_t *group = must_alloc(images->n, sizeof(*group)), count[2] = { 0 };
	bool folders = run->operands == 2;

	for (size_t i = 0; i < images->n && folders; i++) {
		group[i] = !is_in(images->image[i].path, run->operand[0]);
		folders = !group[i] || is_in(images->image[i].path, run->operand[1]);
		count[group[i]]++;
	}
	if (folders && count[0] && count[1]) {
		bool swapped = names_say(run->operand[0], "right") &&
		    names_say(run->operand[1], "left");

		captures_divide(captures, 2, group);
		for (int i = 0; i < 2; i++) {
			captures->probe[i].name = run->operand[i];
			captures->probe[i].side = i == swapped ? SIDE_LEFT : SIDE_RIGHT;
		}
		captures->pair = captures_stand_alone(run, captures);
		if (captures->pair && !captures->probe->described)
			command_pair(captures->probe);
	}
	free(group);
	return captures->pair;
}

#define MIN_SCENE_DIFFERENCE 0.05	/* of the mean light: less is the same scene */

/* How far the mean images of a group and of the first one differ, but for exposure. */
static double
scene_difference(const struct images *images, const struct files_split *split, size_t group)
{
	double mean[2][IMAGES_OVERVIEW] = { { 0 } }, sum[2] = { 0 }, apart = 0;

	for (size_t i = 0; i < images->n; i++)
		for (size_t k = 0; k < IMAGES_OVERVIEW; k++) {
			double v = (double)images->image[i].overview[k];
			size_t at = split->group[i];

			if ((at != 0 && at != group) || isnan(v))
				continue;
			mean[at != 0][k] += v;
			sum[at != 0] += v;
		}
	for (size_t k = 0; k < IMAGES_OVERVIEW; k++)
		apart += fabs(mean[0][k] / sum[0] - mean[1][k] / sum[1]);
	return apart;
}

/*
 * Captures of several scenes in one folder: names that differ in a part, images that show other
 * scenes (or `any`: together they are no capture), and each part a whole capture. Frequencies of
 * one scene are one capture, whatever their names. True: all is probed.
 */
static bool
try_names(struct run *run, struct captures *captures, bool any)
{
	struct images *images = &captures->probe->images;
	char **name = must_alloc(images->n, sizeof(*name));
	struct files_split *best = &captures->split;
	bool files = images->n >= 6 && images->n <= IMAGES_KEPT;

	for (size_t i = 0; i < images->n; i++) {
		name[i] = images->image[i].name;
		files &= images->image[i].of_file == 1 &&
		    !meta_get(&images->image[i].head.meta, "role");
	}
	for (int way = 0; way < FILES_SPLIT_WAYS && files; way++) {
		struct files_split split;
		bool other = files_split(name, images->n, way, &split) &&
		    (!best->groups || split.groups < best->groups);

		for (size_t g = 1; g < split.groups && other && !any; g++)
			other = scene_difference(images, &split, g) > MIN_SCENE_DIFFERENCE;
		if (other) {	/* few captures of many images, not one of each step */
			files_split_free(best);
			*best = split;
		} else {
			files_split_free(&split);
		}
	}
	free(name);
	if (!best->groups)
		return false;
	captures_divide(captures, best->groups, best->group);
	for (size_t g = 0; g < best->groups; g++)
		captures->probe[g].name = best->key[g];
	return captures_stand_alone(run, captures);
}

/* A file for each capture of several, a new string. */
static char *
output_name(const struct captures *captures, size_t i)
{
	const struct probe *probe = &captures->probe[i];
	char *name, *word;

	if (captures->pair)
		return must_strdup(probe->side == SIDE_LEFT ? "left.nrrd" : "right.nrrd");
	name = must_format("%s.nrrd", probe->name);
	word = shell_word(name);
	free(name);
	return word;
}

/* The commands of all captures, and what joins them. -1 after fail(). */
static int
captures_command(struct captures *captures)
{
	struct text text;
	FILE *to;

	for (size_t i = 0; i < captures->n; i++) {
		char *output = captures->n > 1 ? output_name(captures, i) : NULL;
		int status = command_make(&captures->probe[i], output);

		free(output);
		if (status < 0)
			return -1;
	}
	to = text_open(&text);
	for (size_t i = 0; i < captures->n; i++)
		fprintf(to, "%s%s", i ? " && " : "", captures->probe[i].line);
	if (captures->pair)
		fprintf(to, " && phasematch%s --right right.nrrd left.nrrd",
		    captures->probe->beside.pair ? "" : " --assume-rectified");
	captures->line = text_close(&text, NULL);
	return 0;
}

/* Do all images belong to sets or codes? */
static bool
is_whole(const struct probe *probe)
{
	return !probe->look && (probe->described || count_unknown(probe) == 0);
}

/* Three folders and more are one capture; where images are left over a line says that they may be
 * several. */
static void
hint_folders(const struct run *run, struct probe *probe)
{
	size_t n = 0;

	while (n < run->operands && path_is_folder(run->operand[n]))
		n++;
	if (n > 2 && n == run->operands)
		probe_problem(probe, "%zu folders are looked at as one capture: if each is one, "
		    "name one, or two of two cameras", n);
}

/* Finds out all, and makes the command. -1 after fail(). */
static int
captures_find(struct run *run, const char *manifest, struct captures *captures)
{
	const char *object = run->operands == 1 ? run->operand[0] : NULL;
	int status;

	if (captures_read(run, manifest, captures) < 0)
		return -1;
	if (!manifest && (try_pair(run, captures) ||
	    (captures->n == 1 && try_names(run, captures, false))))
		return captures_command(captures);
	if (captures->n > 1) {		/* they were divided */
		fail_clear();
		captures_free(captures);
		if (captures_read(run, manifest, captures) < 0)
			return -1;
	}
	status = probe_find(run, captures->probe, object);
	if (!manifest && (status < 0 || !is_whole(captures->probe))) {
		struct captures divided = { 0 };
		struct fail_record failure = { .message = "" };

		fail_take(&failure);
		if (captures_read(run, manifest, &divided) == 0 && try_names(run, &divided, true)) {
			captures_free(captures);
			*captures = divided;
			return captures_command(captures);
		}
		captures_free(&divided);
		fail_clear();
		fail_put(&failure);
		if (status == 0)
			hint_folders(run, captures->probe);
	}
	return status < 0 ? -1 : captures_command(captures);
}

/* ---- the stage ---- */

struct parameters {
	bool json;
	const char *manifest;
};

struct priv {
	struct captures captures;
};

static const struct opt options[] = {
	FLAG_ROW(0, "json", json, "print JSON"),
	{ 'm', "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	  "a table that says what the images are", NULL },
	{ 0 },
};

/* On a terminal the report itself is seen. */
static void
warn_problems(const struct run *run, const struct probe *probe)
{
	if (!run->output && isatty(STDOUT_FILENO))
		return;
	for (size_t i = 0; i < probe->images.skips; i++)
		if (probe->images.skip[i].unreadable)
			warn(probe->images.skip[i].path, "is left out: %s",
			    probe->images.skip[i].reason);
	for (size_t i = 0; i < probe->problems; i++)
		warn(NULL, "%s", probe->problem[i]);
}

/* Two folders are two cameras: the same one twice is a slip. */
static int
check_operands(const struct run *run)
{
	struct stat a, b;

	return run->operands != 2 || stat(run->operand[0], &a) < 0 ||
	    stat(run->operand[1], &b) < 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino ? 0 :
	    fail_usage(run->operand[1], "is named twice");
}

static int
start(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct captures *captures = &priv->captures;
	struct safe_file *place;
	FILE *out;

	if (check_operands(run) < 0 || captures_find(run, parameters->manifest, captures) < 0)
		return -1;
	out = safe_file_open(run->output, &place);
	if (!out)
		return -1;
	(parameters->json ? report_json : report_text)(captures->probe, captures->n, captures->line,
	    out);
	for (size_t i = 0; i < captures->n; i++)
		warn_problems(run, &captures->probe[i]);
	return safe_file_close(out, run->output, place, true);
}

static const struct body body = { .start = start };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	captures_free(&priv->captures);
}

const struct stage stage_fringeprobe = {
	.name = "fringeprobe",
	.summary = "say what captured images are, and which command decodes them",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_SOURCE | STAGE_SINK | STAGE_OPERANDS | STAGE_ANY_TYPE | STAGE_ALONE,
	.init = init,
	.release = end,
};
