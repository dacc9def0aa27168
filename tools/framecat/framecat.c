/*
 * Joins frames, converts their samples, cuts and labels them: the options, their order, and what
 * works on metadata or on several frames. samples.c converts types and paints, tables.c turns
 * images into tables and back, framecat_rows.c has the loops.
 */
#include "framecat.h"

#include "frame/meta.h"
#include "fringe/capture_set.h"
#include "image/arrange.h"
#include "io/target.h"
#include "mesh/mesh.h"

struct parameters {
	const char *frames, *channels, *where, *scale, *set, *delete, *like, *preset;
	struct numbers crop;
	long bin, quality, level;
	int as, chroma, purpose, coding;
	struct paint_options paint;
	double invalid, fill, jump, crf, fps, texture_crf;
	bool unscale, stack, split, fast, one_page, ascii, points, lossless;
};

/* What framecat keeps from frame to frame. */
struct priv {
	struct ranges wanted;		/* --frames */
	struct encoding encoding;	/* --as, --scale, --fill */
	struct paint paint;
	bool encodes;
	bool tabulates;			/* --points makes tables, not meshes without triangles */
	bool clamped_warned, jump_checked, misspelt_warned, set_warned;
	size_t frames;			/* that came */
	size_t emitted;			/* that went on, or wait to be stacked */
	struct frame **stack;
	size_t lost;			/* wanted frames that are lost (--keep-going) */
	size_t channels;		/* of the last frame that was split */
	struct like like;
	struct parameters written;	/* for formats: without --points where it made tables */
};

static const char *const types[] = { "uchar", "ushort", "float", NULL };
static const char *const chromas[] = { "444", "422", "420", NULL };
static const char *const video_codings[] = { "h264", "hevc", "av1", "ffv1", "mjpeg", "png", "qtrle",
	NULL };

/* Those of colormap.h, and PAINT_LABELS. */
static const char *const map_names[] = { "gray", "viridis", "turbo", "phase", "deviation", "labels",
	NULL };

static const struct opt options[] = {
	{ 0, "frames", "LIST", OPT_TEXT, AT(frames), NULL, 0, 0, NULL,
	  "only these frames, from 0, such as 3,5-9,12-" },
	{ 0, "where", "NAME=V,...", OPT_TEXT, AT(where), NULL, 0, 0, NULL,
	  "tables: only rows whose channel NAME has one of these values" },
	{ 'c', "channels", "LIST", OPT_TEXT, AT(channels), NULL, 0, 0, NULL,
	  "only these channels, by name or by number from 0, in this order" },
	{ 0, "like", "FRAME", OPT_FILE, AT(like), NULL, 0, 0, NULL,
	  "tables: put points back at their column and row in an image of this size" },
	{ 0, "crop", "X,Y,W,H", OPT_NUMBERS, AT(crop), NULL, 0, 1e9, "px",
	  "cut out W x H pixels from X,Y on" },
	{ 0, "invalid", "V", OPT_NUMBER, AT(invalid), NULL, 0, 0, NULL,
	  "samples equal to V mean that there is none: they become NaN" },
	FLAG_ROW(0, "unscale", unscale, "compute the values that were scaled, as float"),
	{ 0, "bin", "N", OPT_INTEGER, AT(bin), "1", 1, 1024, "px", "means of N x N pixels" },
	{ 0, "as", "TYPE", OPT_WORD, AT(as), NULL, 0, 0, NULL,
	  "convert samples, rounded and clamped", types },
	{ 's', "scale", "LO,HI", OPT_TEXT, AT(scale), NULL, 0, 0, NULL,
	  "values LO to HI take the whole range of the integers, or auto" },
	{ 0, "fill", "V", OPT_NUMBER, AT(fill), NULL, 0, 0, NULL,
	  "what NaN becomes; in integers kept apart from valid samples" },
	{ 0, "colormap", "NAME", OPT_WORD, AT(paint.map), NULL, 0, 0, NULL,
	  "paint one channel, LO to HI of --scale; 1st to 99th percentile if not given",
	  map_names },
	{ 0, "nan-colour", "R,G,B", OPT_NUMBERS, AT(paint.nan), NULL, 0, 255, NULL,
	  "of NaN in --colormap; black if not given, blue in gray" },
	FLAG_ROW(0, "bar", paint.bar, "a colour bar beside the picture of --colormap"),
	FLAG_ROW(0, "scale-bar", paint.scale_bar, "a length below it"),
	FLAG_ROW(0, "axes", paint.axes, "axes at its left and below it"),
	{ 0, "set", "KEY=VALUE", OPT_TEXT, AT(set), NULL, 0, 0, NULL,
	  "set metadata, more of it behind commas; channels renames" },
	{ 0, "delete", "KEY", OPT_TEXT, AT(delete), NULL, 0, 0, NULL,
	  "remove metadata, more of it behind commas, maybe with * and ?" },
	FLAG_ROW(0, "split", split, "every channel as a frame of its own"),
	FLAG_ROW(0, "stack", stack, "all frames as one with many channels"),
	{ 0, "quality", "N", OPT_INTEGER, AT(quality), "95", 1, 100, NULL, "of JPEG files" },
	{ 0, "chroma", "WORD", OPT_WORD, AT(chroma), NULL, 0, 0, NULL,
	  "resolution of colour in JPEG files and videos; 444 if not given, of h264 pictures 420",
	  chromas },
	{ 0, "jpeg-for", "WORD", OPT_WORD, AT(purpose), "eyes", 0, 0, NULL,
	  "what JPEG files keep best", jpeg_purposes },
	FLAG_ROW(0, "fast", fast, "larger files, sooner written"),
	{ 0, "level", "N", OPT_INTEGER, AT(level), NULL, 1, 12, NULL,
	  "how much PNG files are compressed, from little and soon to much" },
	{ 0, "video", "WORD", OPT_WORD, AT(coding), "h264", 0, 0, NULL, "how videos are coded",
	  video_codings },
	{ 0, "crf", "N", OPT_NUMBER, AT(crf), NULL, -24, 63, NULL,
	  "loss of videos, from little to much" },
	FLAG_ROW(0, "lossless", lossless, "videos without loss"),
	{ 0, "preset", "WORD", OPT_TEXT, AT(preset), NULL, 0, 0, NULL,
	  "the video encoder's trade of time for size" },
	{ 0, "fps", "N", OPT_NUMBER, AT(fps), NULL, 1e-3, 1e5, "frames/s",
	  "speed of videos; from time_s, else 30, if not given" },
	{ 0, "texture-crf", "N", OPT_NUMBER, AT(texture_crf), NULL, 0, 51, NULL,
	    "loss of the track of a channel texture in videos" },
	FLAG_ROW(0, "one-page", one_page, "TIFF files hold all channels of a frame in one page"),
	FLAG_ROW(0, "ascii", ascii, "text files, where a format has them"),
	{ 0, "jump", "Z", OPT_NUMBER, AT(jump), "0", 0, INFINITY, NULL,
	  "meshes: no triangle over a larger step in z; 0: found from the surface" },
	FLAG_ROW(0, "points", points,
	    "make tables of the valid pixels; where -o writes meshes: no triangles"),
	{ 0 },
};

/* ---- --bin: larger pixels ---- */

#define BAND 32		/* rows of input that a thread takes together, about */

static void
bin_band(void *arg, size_t item)
{
	const struct binning *bin = arg;
	size_t h = bin->out->head.h, end = (item + 1) * bin->rows;

	for (size_t y = item * bin->rows; y < h && y < end; y++)
		framecat_rows()->bin(bin, y);
}

/* Refuses channels whose mean is no sample of the same kind, such as wrapped phases. */
static int
check_means(const struct frame_head *head)
{
	if (head->type != SAMPLE_FLOAT && !meta_get(&head->meta, "sample_scale"))
		return 0;
	for (size_t c = 0; c < head->c; c++) {
		const char *name = head->channel[c];

		if (channel_number(name, "phase"))
			return fail("--bin", "channel %s is a wrapped phase, whose mean is wrong "
			    "where it wraps: bin the images, or cos and sin (phasewrap --as "
			    "vector), or leave it out (--channels)", name);
		if (channel_number(name, "index"))
			return fail("--bin", "channel %s is the index of a Gray code, which has no "
			    "mean: bin the images, or leave it out (--channels)", name);
		if (channel_number(name, "sigma") || !strcmp(name, "sigma_disparity") ||
		    !strcmp(name, "p_order"))
			return fail("--bin", "channel %s is of single pixels, and the mean's error "
			    "depends on how neighbours share theirs: leave it out (--channels)",
			    name);
		if (!strcmp(name, "label"))
			return fail("--bin", "channel label is a number of a region, which has no "
			    "mean: leave it out (--channels)");
	}
	return 0;
}

/*
 * Means of n x n samples, integers rounded; NaN takes no part. Columns and rows that fill no whole
 * cell are dropped. Keeps origin_px, bin and the spacings. Replaces *frame; after a failure, -1,
 * *frame is as it was and still the caller's.
 */
static int
bin_frame(struct run *run, struct frame **frame, size_t n)
{
	struct binning bin = { .in = *frame, .n = n, .rows = n < BAND ? BAND / n : 1 };
	struct frame_head head;

	if ((*frame)->head.w < n || (*frame)->head.h < n)
		return fail("--bin", "no cell of %zu x %zu fits into %zu x %zu", n, n,
		    (*frame)->head.w, (*frame)->head.h);
	if (check_means(&(*frame)->head) < 0)
		return -1;
	head_copy(&head, &(*frame)->head);
	head.w /= n;
	head.h /= n;
	head.spacing[0] *= (double)n;
	head.spacing[1] *= (double)n;
	if (frame_new_if(arrange_keep_place(&head.meta, 0, 0, n), &head, &bin.out) < 0)
		return -1;
	run_for(run, (bin.out->head.h + bin.rows - 1) / bin.rows, bin_band, &bin);
	frame_free(*frame);
	*frame = bin.out;
	return 0;
}

/* ---- options that change the pixels of one frame ---- */

/* Are they numbers that --crop takes? -1 after fail_usage(). */
static int
check_crop(const struct numbers *crop)
{
	for (size_t i = 0; i < crop->n; i++)
		if (crop->v[i] != floor(crop->v[i]) || (i >= 2 && crop->v[i] < 1.0))
			return fail_usage("--crop", "wants whole numbers, W and H from 1 on");
	return 0;
}

/* The value of --invalid. Where --points makes a table of integers, the key invalid is the default.
 * NaN: none. */
static int
find_invalid(const struct run *run, const struct frame_head *head, double *invalid)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	*invalid = parameters->invalid;
	if (!isnan(*invalid) || !priv->tabulates || head->type == SAMPLE_FLOAT ||
	    head_is_table(head))
		return 0;
	return meta_number(&head->meta, "invalid", NAN, invalid);
}

/* Are all channels camera images? Then they saturate at the largest number of the sample type. */
static bool
are_images(const struct frame_head *head)
{
	static const char *const names[] = { "image", "r", "g", "b", NULL };
	bool all = !meta_get(&head->meta, "sample_scale") && !head_is_table(head);

	for (size_t c = 0; c < head->c && all; c++)
		all = channel_is_named(head->channel[c], names);
	return all;
}

/* Records in max_value where images saturate that become float, as their type did before. */
static void
keep_maximum(const struct parameters *parameters, struct frame_head *head)
{
	if (parameters->as != SAMPLE_FLOAT || head->type == SAMPLE_FLOAT || !are_images(head) ||
	    meta_get(&head->meta, "max_value"))
		return;
	meta_set(&head->meta, "max_value", head->type == SAMPLE_UCHAR ? "255" : "65535");
}

/* Converts to float where a later step needs more than the samples as they are. */
static int
decode(struct run *run, struct frame **frame)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	double invalid;

	if (parameters->unscale && convert_unscale(run, frame) < 0)
		return -1;
	if (find_invalid(run, &(*frame)->head, &invalid) < 0)
		return -1;
	if (isnan(invalid) && !priv->encodes && parameters->paint.map < 0)
		return 0;
	keep_maximum(parameters, &(*frame)->head);
	return convert_to_float(run, frame, invalid);
}

/* Converts to the type, or the colours, of the output. */
static int
encode(struct run *run, struct frame **frame)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (parameters->paint.map >= 0)
		return paint_frame(run, &priv->paint, frame);
	if (!priv->encodes)
		return 0;
	if (!priv->clamped_warned)
		priv->clamped_warned = clamped_warn(*frame, &priv->encoding) ||
		    holes_warn(*frame, &priv->encoding);
	return convert_encode(run, frame, &priv->encoding);
}

/* --crop and --bin are for images. */
static int
check_image(const struct parameters *parameters, const struct frame_head *head)
{
	const char *option = parameters->crop.v ? "--crop" : parameters->bin > 1 ? "--bin" : NULL;
	size_t points;

	if (!option || !head_is_table(head))
		return 0;
	if (head_points(head, &points) < 0)
		return -1;
	return fail(option, "is for images, the input is a table of %zu points", points);
}

/* Applies all options that change pixels, in the order of framecat(1). Replaces *frame;
 * after a failure, -1, *frame is still the caller's. */
static int
change_frame(struct run *run, struct frame **frame)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const double *crop = parameters->crop.v;

	if (!parameters->like && paint_measure(&priv->paint, *frame, (size_t)parameters->bin) < 0)
		return -1;
	if (parameters->where && table_where(frame, parameters->where) < 0)
		return -1;
	if (parameters->channels && arrange_channels(frame, parameters->channels) < 0)
		return -1;
	if (jump_check(*frame, parameters->jump, &priv->jump_checked) < 0)
		return -1;
	if (parameters->like && like_restore(&priv->like, frame) < 0)
		return -1;
	if (parameters->like && paint_measure(&priv->paint, *frame, (size_t)parameters->bin) < 0)
		return -1;
	if (check_image(parameters, &(*frame)->head) < 0)
		return -1;
	if (crop && arrange_crop(frame, (size_t)crop[0], (size_t)crop[1], (size_t)crop[2],
	    (size_t)crop[3]) < 0)
		return -1;
	if (decode(run, frame) < 0)
		return -1;
	if (parameters->bin > 1 && bin_frame(run, frame, (size_t)parameters->bin) < 0)
		return -1;
	if (priv->tabulates && points_tabulate(run, frame) < 0)
		return -1;
	return encode(run, frame);
}

/* ---- --set and --delete, and keys that they misspell ---- */

#define MIN_LETTERS 5	/* of a key that is compared: shorter ones have too many neighbours */

/* The keys of frame(5) and holoimage(5) that have so many letters; a test compares the lists. */
static const char *const known_keys[] = {
	"period_px", "phase_anchor", "components", "line_sigma_px", "line_threshold", "line_low",
	"line_noise", "absphase_period_px", "steps", "shift_rad", "gray_cell", "gray_planes",
	"marker_px", "marker_width_px", "set_images", "time_s", "frame_number",
	"camera", "label", "exposure_time_s", "mosaic",
	"sent_s", "projector_px", "phase_sign", "phase_origin_rad", "c_mm_per_rad",
	"ref_plane_rad", "fit_shape", "fit_rms_mm", "length_unit", "z_axis", "origin_px",
	"rect_f_px", "rect_cx_px", "rect_cy_px", "rect_side", "rect_baseline_mm", "rect_rotation",
	"compensation", "phase_correction", "max_value", "sample_scale", "sample_offset",
	"invalid", "colormap", "colormap_range", "picture_px", "board_kind", "board_size",
	"board_spacing_mm", "image_size_px", "board_numberings", "stage_mm", "stage_deg",
	"points", "pfm_scale", "center_mm", "seen_from_mm", "view_rotation", "depth_range",
	"video_range", "holo_size", "holo_pitch_px", "holo_theta_deg", "holo_stair",
	"holo_stair_height",
	"holo_stair_turns", "holo_layout", "holo_rounding", "holo_depth_range", "holo_spacing",
	"holo_corner", "holo_texture", "holo_texture_scale", "holo_texture_gain",
	"holo_texture_place", "holo_texture_matrix", "holo_check", "holo_pack", "holo_dither",
	"holo_dither_order",
	"holo_dither_jumps", "holo_texture_bits", "holo_sigma_px", "decoded_sign",
	"decoded_origin_rad", "field_px", "gray_period_px", "texture_from", NULL
};

/* The known key that this one misspells by one letter; NULL where it is known itself, or far from
 * all. */
static const char *
misspelt_key(const char *key, size_t n)
{
	const char *found = NULL;

	for (size_t i = 0; known_keys[i]; i++) {
		size_t away = opt_suggest_distance(key, n, known_keys[i]);

		if (away == 0)
			return NULL;
		if (away == 1)
			found = known_keys[i];
	}
	return found;
}

/* Warns of the first key of --set that the frame lacks and that differs from a known one by one
 * letter, or by two neighbours that are exchanged. True: it did. */
static bool
warn_misspelt_set(const char *settings, const struct meta *meta)
{
	while (*settings) {
		const char *key, *near;
		size_t n = arrange_next_key(&settings, &key);
		char copy[80];

		near = n < MIN_LETTERS || n >= sizeof(copy) ? NULL :
		    misspelt_key(key, n);
		if (!near)
			continue;
		memcpy(copy, key, n);
		copy[n] = '\0';
		if (strpbrk(copy, "0123456789") || meta_get(meta, copy))
			continue;
		warn("--set", "no tool reads the key %s (is it %s?)", copy, near);
		return true;
	}
	return false;
}

#define MAX_KEYS 100	/* of the frame that are compared with a word of --delete */

/* Warns of a word of --delete that is no key, but nearly one that the frame has. True: it did.
 * Words with digits resemble others of their series (cmd.2), and are skipped. */
static bool
warn_misspelt_delete(const char *word, size_t n, const struct meta *meta)
{
	const char *keys[MAX_KEYS + 1];
	char copy[80], near[200];
	size_t i;

	if (n < MIN_LETTERS || n >= sizeof(copy))
		return false;
	memcpy(copy, word, n);
	copy[n] = '\0';
	if (strpbrk(copy, "*?[\\0123456789") || meta_get(meta, copy))
		return false;
	for (i = 0; i < meta->n && i < MAX_KEYS; i++)
		keys[i] = meta->entry[i].key;
	keys[i] = NULL;
	if (!*opt_suggest_word(word, n, "", keys, near, sizeof(near)))
		return false;
	warn("--delete", "there is no key %s%s", copy, near);
	return true;
}

/* Applies --delete and --set. A table stays one. -1 after fail(). */
static int
change_metadata(const struct parameters *parameters, struct priv *priv, struct frame *frame)
{
	struct frame_head *head = &frame->head;
	bool table = head_is_table(head);
	size_t points = 0;

	if (table && head_points(head, &points) < 0)
		return -1;
	for (const char *word = parameters->delete; word && *word && !priv->misspelt_warned;) {
		size_t n = strcspn(word, ",");

		priv->misspelt_warned = warn_misspelt_delete(word, n, &head->meta);
		word += n + (word[n] == ',');
	}
	if (parameters->delete)
		arrange_delete(frame, parameters->delete);
	if (table)
		head_set_points(head, points);
	if (parameters->set && !priv->set_warned)
		priv->set_warned = warn_misspelt_set(parameters->set, &head->meta);
	if (parameters->set && arrange_set(frame, parameters->set) < 0)
		return -1;
	return head_is_table(head) ? head_points(head, &points) : 0;
}

/* ---- --stack and --split, and frames that are lost ---- */

/* Stacked tables must have the same number of points, and no image among them. -1 after fail(). */
static int
stack_check(struct frame *const *frame, size_t n)
{
	size_t first, other;
	bool table = head_is_table(&frame[0]->head);

	for (size_t i = 0; i < n; i++) {
		if (head_is_table(&frame[i]->head) != table)
			return fail("--stack", "frame %zu is %s, the first one is %s", i,
			    table ? "an image" : "a table", table ? "a table" : "an image");
		if (!table)
			continue;
		if (head_points(&frame[0]->head, &first) < 0 ||
		    head_points(&frame[i]->head, &other) < 0)
			return -1;
		if (first != other)
			return fail("--stack", "frame %zu has %zu points, the first one %zu", i,
			    other, first);
	}
	return 0;
}

/* Labels a frame and hands it on. */
static int
pass_on(struct run *run, struct frame *frame)
{
	if (change_metadata(run->parameters, run->priv, frame) == 0)
		return run_emit(run, frame);
	frame_free(frame);
	return -1;
}

static int
pass_split(struct run *run, struct frame *frame)
{
	struct priv *priv = run->priv;
	struct frame *single;
	int status = 0;

	priv->channels = frame->head.c;
	for (size_t c = 0; c < frame->head.c && status == 0; c++) {
		status = arrange_take(frame, c, &single);
		if (status == 0)
			status = pass_on(run, single);
	}
	frame_free(frame);
	return status;
}

static int
pass_stack(struct run *run)
{
	struct priv *priv = run->priv;
	struct frame *all;

	if (stack_check(priv->stack, priv->emitted) < 0)
		return -1;
	return arrange_stack(priv->stack, priv->emitted, &all) < 0 ? -1 : pass_on(run, all);
}

/* Warns of numbers in --frames that no frame has; 12- means all that follow, maybe none. */
static void
warn_beyond(const struct priv *priv)
{
	const struct range *range = ranges_beyond(&priv->wanted, priv->frames);

	if (range && range->last != SIZE_MAX)
		warn("--frames", "there is no frame %zu: %zu came, from 0 to %zu", range->first,
		    priv->frames, priv->frames - 1);
}

static int
finish(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (parameters->like && like_end(&priv->like) < 0)
		return -1;
	if (parameters->stack && priv->lost)
		return fail("--stack", "%zu frame%s of the stack %s lost", priv->lost,
		    priv->lost == 1 ? "" : "s", priv->lost == 1 ? "is" : "are");
	if (priv->emitted == 0 && parameters->frames)
		return fail("--frames", "%s chooses none of the %zu frames that came",
		    parameters->frames, priv->frames);
	if (parameters->frames)
		warn_beyond(priv);
	return parameters->stack && priv->emitted ? pass_stack(run) : 0;
}

/* struct body's `lost` (--keep-going): counts the frame for --frames, --like and --split. A stack
 * is not written without it. */
static int
lose_frame(struct run *run, bool seen, size_t *results)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	bool wanted = true;

	if (!seen && parameters->like && like_next(&priv->like) < 0)
		return -1;
	if (parameters->frames)
		wanted = ranges_hold(&priv->wanted, seen ? priv->frames - 1 : priv->frames++);
	priv->lost += wanted;
	*results = !wanted || parameters->stack ? 0 : parameters->split ? priv->channels : 1;
	return 0;
}

static int
take_frame(struct run *run, struct frame *frame)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	bool wanted = !parameters->frames || ranges_hold(&priv->wanted, priv->frames++);

	if (parameters->like && like_next(&priv->like) < 0) {
		frame_free(frame);
		return -1;
	}
	if (!wanted) {
		frame_free(frame);
		return 0;
	}
	if (change_frame(run, &frame) < 0) {
		frame_free(frame);
		return -1;
	}
	priv->emitted++;
	if (parameters->stack) {
		priv->stack = must_resize(priv->stack, priv->emitted, sizeof(*priv->stack));
		priv->stack[priv->emitted - 1] = frame;
		return 0;
	}
	return parameters->split ? pass_split(run, frame) : pass_on(run, frame);
}

static const struct body body = { .frame = take_frame, .lost = lose_frame, .end = finish };

/* ---- options at the start ---- */

static int
init_encoding(const struct parameters *parameters, struct encoding *encoding)
{
	bool paints = parameters->paint.map >= 0;

	encoding->fill = parameters->fill;
	encoding->type = parameters->as >= 0 ? (enum sample)parameters->as :
	    parameters->scale ? SAMPLE_UCHAR : SAMPLE_FLOAT;
	if (parameters->scale && range_parse("--scale", parameters->scale, &encoding->range) < 0)
		return -1;
	if (paints && (parameters->as >= 0 || !isnan(parameters->fill)))
		return fail_usage("--colormap", "makes r g b of type uchar: --as and --fill do not "
		    "go with it");
	if (!paints && parameters->scale && encoding->type == SAMPLE_FLOAT)
		return fail_usage("--scale", "makes integers: --as uchar or --as ushort");
	return 0;
}

/* Is the output a mesh format, which has an option --points of its own? */
static bool
writes_meshes(const char *output)
{
	const struct codec *codec = output ? codec_by_suffix(output) : NULL;

	return codec && opt_row(codec->options, 0, "points");
}

/* Checks --points and --like. */
static int
init_tables(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	priv->tabulates = parameters->points && !writes_meshes(run->output);
	priv->like.path = parameters->like;
	if (parameters->like && !strcmp(parameters->like, "-"))
		return fail_usage("--like", "wants a file, not standard input");
	if (parameters->like && parameters->points)
		return fail_usage("--like", "does not go with --points");
	if (priv->tabulates && (priv->encoding.type != SAMPLE_FLOAT || parameters->paint.map >= 0))
		return fail_usage("--points", "makes tables of float: a framecat behind it can "
		    "convert them");
	return 0;
}

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	priv->channels = 1;
	if (parameters->stack && parameters->split)
		return fail_usage("--stack", "does not go with --split");
	if (parameters->fast && parameters->level != OPT_NONE_INTEGER)
		return fail_usage("--level", "does not go with --fast");
	if (parameters->frames && ranges_parse("--frames", parameters->frames, &priv->wanted) < 0)
		return -1;
	if (check_crop(&parameters->crop) < 0 ||
	    init_encoding(parameters, &priv->encoding) < 0)
		return -1;
	if (parameters->set && arrange_check_settings(parameters->set) < 0)
		return -1;
	if (parameters->where && table_where(NULL, parameters->where) < 0)
		return -1;
	if (paint_init(&priv->paint, &parameters->paint, &priv->encoding.range) < 0 ||
	    init_tables(run) < 0)
		return -1;
	priv->encodes = parameters->as >= 0 || parameters->scale || !isnan(parameters->fill);
	priv->written = *parameters;
	priv->written.points = parameters->points && !priv->tabulates;
	return run_save_options(run, options, &priv->written);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	ranges_free(&priv->wanted);
	source_close(priv->like.source);
	head_free(&priv->like.head);
	for (size_t i = 0; priv->stack && i < priv->emitted; i++)
		frame_free(priv->stack[i]);
	free(priv->stack);
}

const struct stage stage_framecat = {
	.name = "framecat",
	.summary = "join frames, convert them, cut them, label them",
	.options = options,
	.usual = "frames channels crop as scale fill colormap points",
	STAGE_MEMORY(priv),
	.traits = STAGE_ANY_TYPE | STAGE_TABLES,
	.init = init,
	.release = end,
};
