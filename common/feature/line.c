#include "feature/line.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "feature/line_finder.h"

#define TILE_W 32
#define TILE_H 16
#define WORK_ALIGNMENT 64

/* One pass over the image: threads take the next row of tiles until none is left. */
struct line_pass {
	struct line_finder *finder;
	const struct line_image *image;
	atomic_size_t next;
	atomic_bool failed;
	float *strongest;		/* of each row of tiles; NULL: candidates are wanted */
};

/* ---- a finder ---- */

static size_t
round_up(size_t n, size_t step)
{
	return (n + step - 1) / step * step;
}

static int
make_weights(struct line_filter *f)
{
	size_t radius = f->kernels.radius + 1, n = 2 * radius + 1;
	double *w = malloc(3 * n * sizeof(*w));

	f->taps = n;
	f->room = round_up(n, LINE_LANES);
	f->weight = calloc((LINE_STEPS + 1) * 3 * f->room, sizeof(*f->weight));
	if (!w || !f->weight) {
		free(w);
		return fail_memory();
	}
	for (size_t q = 0; q <= LINE_STEPS; q++) {
		derivative_weights(f->kernels.sigma, radius,
		    (double)q / LINE_STEPS - 0.5, (double *const[3]){ w, w + n, w + 2 * n });
		for (size_t order = 0; order < 3; order++) {
			for (size_t i = 0; i < n; i++)
				f->weight[(q * 3 + order) * f->room + i] = (float)w[order * n + i];
		}
	}
	free(w);
	return 0;
}

static int
make_filter(struct line_filter *f, const struct line_options *options)
{
	f->options = *options;
	if (derivative_kernels_init(&f->kernels, options->sigma, 0) < 0 || make_weights(f) < 0)
		return -1;
	/* the neighbours of a tile cover the kernel's window */
	f->tile_h = f->kernels.radius > TILE_H ? f->kernels.radius : TILE_H;
	f->tile_w = f->kernels.radius > TILE_W ? round_up(f->kernels.radius, LINE_LANES) : TILE_W;
	f->reach = (size_t)ceil(3 * options->sigma);
	f->near_reach = (size_t)ceil(1.5 * options->sigma);
	/* The plain offset of a line as narrow as the kernel allows, where the true one is 0.5, and
	 * some room for noise. */
	f->limit = options->plain ? 0.5f :
	    (float)(0.5 / (1 - 0.25 / (options->sigma * options->sigma)) + 0.04);
	return 0;
}

int
line_finder_new(const struct line_options *options, const struct line_level *level,
    struct line_finder **to)
{
	struct line_finder *finder = calloc(1, sizeof(*finder));

	*to = finder;
	if (!finder)
		return fail_memory();
	finder->level = level;
	if (make_filter(&finder->filter, options) < 0) {
		line_finder_free(finder);
		*to = NULL;
		return -1;
	}
	if (options->asymmetric) {
		line_asymmetry_init(&finder->asymmetry);
		finder->filter.asymmetry = &finder->asymmetry;
	}
	line_finder_set_thresholds(finder, options->low, options->high);
	return 0;
}

static void
free_image(struct line_finder *finder)
{
	for (size_t i = 0; finder->found && i < finder->tiles_y; i++)
		free(finder->found[i].v);
	free(finder->found);
	free(finder->least);
	free(finder->largest);
	free(finder->active);
	free(finder->work);
	finder->found = NULL;
	finder->least = finder->largest = finder->work = NULL;
	finder->active = NULL;
	finder->w = finder->h = 0;
}

void
line_finder_free(struct line_finder *finder)
{
	if (!finder)
		return;
	free_image(finder);
	free(finder->all.v);
	free(finder->filter.weight);
	line_map_free(&finder->map);
	free(finder);
}

void
line_finder_set_thresholds(struct line_finder *finder, double low, double high)
{
	struct line_filter *f = &finder->filter;

	f->options.low = low;
	f->options.high = high;
	f->low = (float)low;
	/* 2 % less, for directions between those that the bound was taken of, and for rounding */
	f->skip_range = (float)(low / line_response_bound(&f->kernels) * 0.98);
}

/* ---- an image ---- */

static int
make_image(struct line_finder *finder, struct run *run, const struct line_image *image)
{
	const struct line_filter *f = &finder->filter;
	size_t tiles;

	if (finder->w == image->w && finder->h == image->h && finder->threads >= run->threads)
		return 0;
	free_image(finder);
	finder->tiles_x = (image->w + f->tile_w - 1) / f->tile_w;
	finder->tiles_y = (image->h + f->tile_h - 1) / f->tile_h;
	tiles = finder->tiles_x * finder->tiles_y;
	finder->threads = run->threads;
	finder->work_size = round_up(finder->level->work(f, image->w), WORK_ALIGNMENT);
	finder->found = calloc(finder->tiles_y, sizeof(*finder->found));
	finder->least = malloc(tiles * sizeof(*finder->least));
	finder->largest = malloc(tiles * sizeof(*finder->largest));
	finder->active = malloc(tiles * sizeof(*finder->active));
	finder->work = aligned_alloc(WORK_ALIGNMENT,
	    (size_t)finder->threads * finder->work_size * sizeof(*finder->work));
	if (!finder->found || !finder->least || !finder->largest || !finder->active ||
	    !finder->work) {
		free_image(finder);
		return fail_memory();
	}
	finder->w = image->w;
	finder->h = image->h;
	return 0;
}

static void
ranges(void *arg, size_t thread)
{
	struct line_pass *pass = arg;
	struct line_finder *finder = pass->finder;
	float *work = finder->work + thread * finder->work_size;
	size_t i;

	while ((i = atomic_fetch_add(&pass->next, 1)) < finder->tiles_y) {
		finder->level->ranges(&finder->filter, pass->image, i, work,
		    finder->least + i * finder->tiles_x, finder->largest + i * finder->tiles_x);
	}
}

/* Does the tile's own range with that of its eight neighbours allow a point? A float image may hold
 * infinities, whose ranges allow it; a range of nothing but NaN does not. */
static bool
may_hold_point(const struct line_finder *finder, size_t tx, size_t ty)
{
	float least = HUGE_VALF, largest = -HUGE_VALF;

	for (size_t y = ty ? ty - 1 : 0; y <= ty + 1 && y < finder->tiles_y; y++) {
		for (size_t x = tx ? tx - 1 : 0; x <= tx + 1 && x < finder->tiles_x; x++) {
			float lo = finder->least[y * finder->tiles_x + x];
			float hi = finder->largest[y * finder->tiles_x + x];

			least = lo < least ? lo : least;
			largest = hi > largest ? hi : largest;
		}
	}
	return largest - least >= finder->filter.skip_range;
}

/* Is a pixel of the tile in the region of interest? */
static bool
in_region(const struct line_filter *f, size_t tx, size_t ty)
{
	const size_t *roi = f->options.roi;
	size_t x = tx * f->tile_w, y = ty * f->tile_h;

	return !roi[2] || (x < roi[0] + roi[2] && x + f->tile_w > roi[0] && y < roi[1] + roi[3] &&
	    y + f->tile_h > roi[1]);
}

static void
choose_tiles(struct line_finder *finder, bool all)
{
	for (size_t y = 0; y < finder->tiles_y; y++) {
		for (size_t x = 0; x < finder->tiles_x; x++) {
			finder->active[y * finder->tiles_x + x] =
			    in_region(&finder->filter, x, y) &&
			    (all || may_hold_point(finder, x, y));
		}
	}
}

static void
search(void *arg, size_t thread)
{
	struct line_pass *pass = arg;
	struct line_finder *finder = pass->finder;
	float *work = finder->work + thread * finder->work_size;
	size_t i;

	while ((i = atomic_fetch_add(&pass->next, 1)) < finder->tiles_y) {
		struct line_candidates *found = &finder->found[i];

		found->n = 0;
		if (finder->level->search(&finder->filter, pass->image, i,
		    finder->active + i * finder->tiles_x, work,
		    pass->strongest ? &pass->strongest[i] : NULL, found) < 0) {
			atomic_store(&pass->failed, true);
			return;
		}
	}
}

static int
all_rows(struct line_pass *pass, struct run *run, void (*fn)(void *, size_t))
{
	size_t threads = (size_t)run->threads;

	atomic_store(&pass->next, 0);
	run_for(run, threads < pass->finder->tiles_y ? threads : pass->finder->tiles_y, fn, pass);
	return atomic_load(&pass->failed) ? fail_memory() : 0;
}

int
line_candidates_room(struct line_candidates *all, size_t n)
{
	struct line_candidate *more;

	if (n <= all->room)
		return 0;
	more = reallocarray(all->v, n + n / 2, sizeof(*more));
	if (!more)
		return fail_memory();
	all->v = more;
	all->room = n + n / 2;
	return 0;
}

static int
gather(struct line_finder *finder)
{
	struct line_candidates *all = &finder->all;
	size_t n = 0;

	for (size_t i = 0; i < finder->tiles_y; i++)
		n += finder->found[i].n;
	if (line_candidates_room(all, n) < 0)
		return -1;
	all->n = 0;
	for (size_t i = 0; i < finder->tiles_y; i++) {
		if (finder->found[i].n)
			memcpy(all->v + all->n, finder->found[i].v,
			    finder->found[i].n * sizeof(*all->v));
		all->n += finder->found[i].n;
	}
	return 0;
}

int
line_find_listed(struct line_finder *finder, const struct line_image *image,
    struct line_points *to)
{
	const struct line_options *options = &finder->filter.options;

	return line_link(&finder->map, image->w, image->h, &finder->all, options->high,
	    options->min_length, to);
}

int
line_find(struct line_finder *finder, struct run *run, const struct line_image *image,
    struct line_points *to)
{
	const struct line_options *options = &finder->filter.options;
	struct line_pass pass = { .finder = finder, .image = image };

	if (make_image(finder, run, image) < 0)
		return -1;
	if (!options->all_tiles && all_rows(&pass, run, ranges) < 0)
		return -1;
	choose_tiles(finder, options->all_tiles);
	if (all_rows(&pass, run, search) < 0 || gather(finder) < 0)
		return -1;
	return line_find_listed(finder, image, to);
}

int
line_strongest(struct line_finder *finder, struct run *run, const struct line_image *image,
    double *response)
{
	struct line_pass pass = { .finder = finder, .image = image };
	int status;

	*response = 0;
	if (make_image(finder, run, image) < 0)
		return -1;
	pass.strongest = calloc(finder->tiles_y, sizeof(*pass.strongest));
	if (!pass.strongest)
		return fail_memory();
	choose_tiles(finder, true);
	status = all_rows(&pass, run, search);
	for (size_t i = 0; i < finder->tiles_y; i++)
		*response = fmax(*response, (double)pass.strongest[i]);
	free(pass.strongest);
	return status;
}
