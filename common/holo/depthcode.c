/* Parameters of the depth code (depthcode(5)) from options and metadata, and into metadata. */
#include "holo/depthcode.h"

#include <math.h>

#include "base/fail.h"
#include "frame/key_lines.h"
#include "holo/holo.h"

/* What coding leaves of 0 stays below half of the gap: levels of 256; and of 8 bits, which are
 * coded with more loss than 10. */
#define GUARD_OF_256 16
#define GUARD_OF_8_BITS 32
#define FRINGES 4
#define FOLDS 8

const char *const depthcode_layouts[] = { "luma", "mwd", "fold", NULL };
const char *const depthcode_masks[] = { "gap", "track", NULL };
const char *const depthcode_texture_places[] = { "below", "track", NULL };

static const char *const keys[] = { "depthcode_layout", "depthcode_bits", "depthcode_range",
	"depthcode_mask", "depthcode_guard", "depthcode_fringes", "depthcode_size",
	"depthcode_texture", "depthcode_texture_scale", "depthcode_texture_gain",
	"depthcode_texture_place", "depthcode_texture_matrix" };

long
depthcode_most(const struct depthcode *code)
{
	return (1L << code->bits) - 1;
}

/* -1 after fail(); the objects are an option, or a key. Half of the levels are the depth's, at
 * least. */
static int
check_levels(const struct depthcode *code, const char *bits, const char *guard)
{
	if (code->bits != 8 && code->bits != 10 && code->bits != 12)
		return fail(bits, "must be 8, 10 or 12 bits, not %ld", code->bits);
	if (code->mask == DEPTHCODE_GAP && code->guard > depthcode_most(code) / 2)
		return fail(guard, "must be 1 to %ld of %ld bits, not %ld",
		    depthcode_most(code) / 2, code->bits, code->guard);
	return 0;
}

/* Options that would have no effect are mistakes. */
static int
check_options(const struct depthcode *code, const struct depthcode_options *options)
{
	if (options->guard != OPT_NONE_INTEGER && code->mask == DEPTHCODE_TRACK)
		return fail_usage("--guard", "there is no gap with --mask track");
	if (options->fringes != OPT_NONE_INTEGER && code->layout == DEPTHCODE_LUMA)
		return fail_usage("--fringes", "the layout luma has none: mwd and fold do");
	if (code->layout == DEPTHCODE_FOLD && code->fringes == 1)
		return fail_usage("--fringes", "of the layout fold must be 2 at least");
	return 0;
}

/* ---- the encoder's ---- */

int
depthcode_choose(struct depthcode *code, const struct depthcode_options *options,
    const struct frame_head *head)
{
	bool luma = options->layout < 0 || options->layout == DEPTHCODE_LUMA;
	bool gap = options->mask < 0 || options->mask == DEPTHCODE_GAP;
	static const struct meta none;
	double range[2];

	*code = (struct depthcode){ .w = head->w, .h = head->h,
		.layout = luma ? DEPTHCODE_LUMA : (enum depthcode_layout)options->layout,
		.mask = gap ? DEPTHCODE_GAP : DEPTHCODE_TRACK };
	key_option_whole(options->bits, &none, "", 0, 0, luma ? 10 : 8, &code->bits);
	key_option_whole(options->fringes, &none, "", 0, 0,
	    code->layout == DEPTHCODE_FOLD ? FOLDS : FRINGES, &code->fringes);
	if (gap)
		key_option_whole(options->guard, &none, "", 0, 0, code->bits == 8 ?
		    GUARD_OF_8_BITS : GUARD_OF_256 << (code->bits - 8), &code->guard);
	if (check_options(code, options) < 0 || check_levels(code, "--bits", "--guard") < 0 ||
	    key_option_range(&options->depth_range, "--depth-range", &head->meta, "depth_range",
	    range) < 0)
		return -1;
	if (isnan(range[0]))
		return fail(NULL, "nothing says the range of the depths: give --depth-range LO,HI, "
		    "or --depth-range file");
	code->low = range[0];
	code->high = range[1];
	return 0;
}

void
depthcode_write(const struct depthcode *code, struct meta *meta)
{
	const double range[2] = { code->low, code->high };

	meta_set(meta, "depthcode_layout", depthcode_layouts[code->layout]);
	meta_setf(meta, "depthcode_bits", "%ld", code->bits);
	meta_set_numbers(meta, "depthcode_range", range, 2);
	meta_set(meta, "depthcode_mask", depthcode_masks[code->mask]);
	meta_setf(meta, "depthcode_size", "%zu %zu", code->w, code->h);
	if (code->mask == DEPTHCODE_GAP)
		meta_setf(meta, "depthcode_guard", "%ld", code->guard);
	if (code->layout != DEPTHCODE_LUMA)
		meta_setf(meta, "depthcode_fringes", "%ld", code->fringes);
	if (code->bits > 8)
		meta_setf(meta, "max_value", "%ld", depthcode_most(code));
	else
		meta_remove(meta, "max_value");
}

void
depthcode_remove(struct meta *meta)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		meta_remove(meta, keys[i]);
	meta_remove(meta, "max_value");
}

/* ---- the decoder's ---- */

/* All that is missing in one message. */
static int
check_complete(const struct depthcode *code, int layout, int mask)
{
	const char *const missing[] = {
		layout < 0 ? "--layout" : "",
		!code->bits ? "--bits" : "",
		isnan(code->low) ? "--depth-range" : "",
		mask < 0 ? "--mask" : "",
		mask != DEPTHCODE_TRACK && !code->guard ? "--guard" : "",
		layout == DEPTHCODE_LUMA || code->fringes ? ""
		    : layout < 0 ? "--fringes (mwd, fold)" : "--fringes",
		NULL
	};

	return holo_check_options(missing, layout < 0 && isnan(code->low) && !code->bits,
	    "no depthcode_ keys: is it depthenc's, and were a video's tags kept?");
}

int
depthcode_read(struct depthcode *code, const struct depthcode_options *options,
    const struct frame_head *head)
{
	const struct meta *meta = &head->meta;
	double range[2];
	int layout, mask;

	*code = (struct depthcode){ .w = head->w, .h = head->h };
	if (holo_check_size(meta, "depthcode_size", code->w, code->h) < 0 ||
	    key_option_word(options->layout, meta, "depthcode_layout", depthcode_layouts, -1,
	    &layout) < 0 ||
	    key_option_word(options->mask, meta, "depthcode_mask", depthcode_masks, -1,
	    &mask) < 0 ||
	    key_option_whole(options->bits, meta, "depthcode_bits", 8, 12, 0, &code->bits) < 0 ||
	    key_option_whole(options->guard, meta, "depthcode_guard", 1, 2047, 0,
	    &code->guard) < 0 ||
	    key_option_whole(options->fringes, meta, "depthcode_fringes", 1,
	    DEPTHCODE_FRINGES_MOST, 0, &code->fringes) < 0 ||
	    key_option_range(&options->depth_range, "--depth-range", meta, "depthcode_range",
	    range) < 0)
		return -1;
	code->low = range[0];
	code->high = range[1];
	if (check_complete(code, layout, mask) < 0)
		return -1;
	code->layout = (enum depthcode_layout)layout;
	code->mask = (enum depthcode_mask)mask;
	if (check_options(code, options) < 0)
		return -1;
	if (mask == DEPTHCODE_TRACK)
		code->guard = 0;
	return check_levels(code, "depthcode_bits", "depthcode_guard");
}

int
depthcode_texture_in_track(const struct meta *meta)
{
	int place;

	return key_option_word(-1, meta, "depthcode_texture_place", depthcode_texture_places,
	    DEPTHCODE_TEXTURE_BELOW, &place) < 0 ? -1 : place == DEPTHCODE_TEXTURE_TRACK;
}

void
depthcode_warn_overruled(const struct depthcode_options *options, const struct meta *meta)
{
	key_option_warn_word(options->layout, meta, "depthcode_layout", depthcode_layouts);
	key_option_warn_word(options->mask, meta, "depthcode_mask", depthcode_masks);
	key_option_warn_whole(options->bits, meta, "depthcode_bits");
	key_option_warn_whole(options->guard, meta, "depthcode_guard");
	key_option_warn_whole(options->fringes, meta, "depthcode_fringes");
	key_option_warn_range(&options->depth_range, meta, "depthcode_range");
}

/* ---- what both take ---- */

struct depthcode_code
depthcode_code(const struct depthcode *code)
{
	float most = (float)depthcode_most(code), guard = (float)code->guard;
	float middle = (most + 1) / 2;

	return (struct depthcode_code){
		.zero = (float)code->low,
		.per_depth = (float)(1 / (code->high - code->low)),
		.extent = (float)(code->high - code->low),
		.guard = guard,
		.swing = most - guard,
		.middle = middle,
		.amplitude = middle - 1,
		.fringes = (float)code->fringes,
		.most = most,
		.least = guard / 2,
	};
}

double
depthcode_step(const struct depthcode *code)
{
	struct depthcode_code of = depthcode_code(code);
	double levels = (double)of.swing;

	if (code->layout == DEPTHCODE_FOLD)
		levels *= (double)of.fringes;
	if (code->layout == DEPTHCODE_MWD)
		levels = 2 * M_PI * (double)of.amplitude * (double)of.fringes;
	return (code->high - code->low) / levels;
}

const char *
depthcode_channel_names(const struct depthcode *code)
{
	bool track = code->mask == DEPTHCODE_TRACK;

	if (code->layout == DEPTHCODE_LUMA)
		return track ? "luma mask" : "luma";
	return track ? "luma chroma_u chroma_v mask" : "luma chroma_u chroma_v";
}
