/* What the files of fringeprobe share, from images to the command that decodes them. */
#ifndef FRINGEPROBE_H
#define FRINGEPROBE_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cpu_level.h"
#include "fringe/capture_set.h"
#include "fringe/step_search.h"
#include "run/stage.h"

/* ---- images.c: numbers in the names of files ---- */

/* The number that tells files of a group apart is the last one in the base name, before the suffix.
 * How many bytes of the name come before it; all of it where there is none. */
size_t names_stem(const char *name);
bool names_same_group(const char *a, const char *b);
/* The last number within the first n bytes of a name; false: there is none. */
bool names_number(const char *name, size_t n, double *out);
/* Is one of the blank-separated words in it, in any case? */
bool names_say(const char *name, const char *words);

/* ---- images.c: captured images, read once and reduced to lines of samples ---- */

#define IMAGES_SMOOTH 5		/* pixels, odd */
#define IMAGES_LINES 64		/* most lines along each axis */
#define IMAGES_KEPT 400		/* with their lines: the first ones, of any size */
#define IMAGES_READ 1000	/* no more are read */

struct image {
	char *path;			/* the file, as phasewrap is to be given it */
	char *name;			/* for people: base name, [3]: the third image in a file */
	size_t in_file, of_file;	/* from 0; how many images the file holds */
	struct frame_head head;		/* of this image alone: one channel */
	bool left;			/* left out; other images of its file may be taken */
	bool colour;			/* its planes differ: green was taken */
	double max, share_max;		/* the largest sample, and the share of samples there */
	size_t lines[2];		/* rows, columns that were kept */
	float *line[2];			/* lines[0] rows of w samples; lines[1] columns of h; NULL:
					 * it is not among the first IMAGES_KEPT */
	float *raw[2];			/* the same before images_smooth(); else NULL */
};

struct images_skip {
	char *path, *reason;
	bool unreadable;
};

struct images {
	size_t n;
	struct image *image;
	size_t skips;
	struct images_skip *skip;	/* files that are no images, or cannot be read */
	bool more;			/* there are, or may be, more than IMAGES_READ */
	bool sorted;			/* the files were given as text sorts them, 1 10 2 */
};

/*
 * Reads all images of files and folders; no paths: standard input. Files are sorted by the numbers
 * in their names, unless keep_order. What cannot be read, or is no image, becomes a skip. -1 after
 * fail(), where nothing could be read at all. Free with images_free(), also after a failure.
 */
int images_read(struct run *, char *const *path, size_t paths, bool keep_order, struct images *out);
/* Adds a file that was not taken. */
void images_add_skip(struct images *, const char *path, const char *reason);

/* Replaces each sample of n images by the mean of IMAGES_SMOOTH along its line; and back. -1 after
 * fail(). */
int images_smooth(struct image *const *image, size_t n);
void images_unsmooth(struct image *const *image, size_t n);
void images_free(struct images *);

/* ---- fringe_sets.c: which images belong together ---- */

/* The lines of all images of one size along one axis, and where in them something changes. */
struct field {
	int axis;			/* 0: lines run along x, 1: along y */
	size_t n, lines, length;
	const float **v;		/* of each image: lines x length samples */
	float *mid, *half;		/* middle and half of the range of a pixel's values */
	bool *lit;			/* pixels whose values change as fringes do */
	size_t lit_pixels;
	double *gram;			/* room for n x n sums of products of images */
	float *scratch, *pair;		/* room for three and for two values of each pixel */
};

/* The fringes of one image, found by where it crosses the middle. */
struct carrier {
	float *theta;		/* of each pixel: phase in rad, grows along the line; NaN: none */
	double density;		/* crossings per lit pixel */
	double per_line;	/* crossings in a line, on average of those with lit pixels */
	double between;		/* share of lit pixels halfway between bright and dark */
	double contrast;	/* |v - mid| / half that 6 of 7 lit pixels have at most */
	double level;		/* mean of (v - mid) / half, -1 to 1 */
	double known;		/* share of lit pixels that have a phase */
};

/* How one phase grows with another. */
struct growth {
	double ratio, error;	/* d phase / d reference, and its standard error; NaN: unknown */
	double wobble;		/* error of the ratio by what the lines have in common: harmonics */
	double offset;		/* mean of phase - reference, in rad, from -pi to pi */
	double coherence;	/* of that, 0 to 1 */
	double shared;		/* pixels that have both */
	double spread;		/* rms of the reference within runs of pixels, in rad */
};

#define STEPS_MOST STEP_SEARCH_MOST

/* Images of one fringe pattern that was moved: their shifts, and how well they fit. */
struct steps {
	size_t n;
	size_t image[STEPS_MOST];	/* of the field */
	double shift_rad[STEPS_MOST];	/* I = A + B cos(phase + shift), phase grows along lines */
	/* how they fit */
	size_t pixels;			/* that have fringes */
	double mean, amplitude, modulation;	/* medians over these */
	double residual;		/* rms that the fit leaves over the amplitude; NaN: n = 3 */
	double noise;			/* the same in levels */
	double misfit[STEPS_MOST];	/* of each image, over the amplitude */
	double level;			/* least A + B, for masks */
};

/* What the shifts mean. */
struct steps_order {
	size_t of;			/* equal steps of 360/of degrees; 0: of other sizes */
	size_t place[STEPS_MOST];	/* of each image, in steps from the first */
	int sign;			/* +1, -1: shifts grow, fall from image to image */
	bool ordered;			/* images stand in the order of their shifts */
	size_t was[STEPS_MOST];		/* images as the files come */
	size_t start;			/* if not: the place that the first one should have */
	size_t exchanged[2];		/* if not: two in each other's place; equal: others */
	size_t missing;			/* shifts that no image has, if all of a turn are meant */
	size_t first_missing;		/* image behind which the first one is missing */
	double gap_rad;			/* the largest part of a turn without a shift */
	double error_rad;		/* rms of the shifts about these */
};

#define SETS_MOST 32
/* Share of pixels between bright and dark: more are no Gray plane; a sinusoid has 0.33. */
#define SINUSOID 0.18

enum image_kind {
	KIND_UNKNOWN, KIND_FRINGE, KIND_TWIN, KIND_GRAY, KIND_INVERSE, KIND_WHITE, KIND_BLACK
};

struct fringe_set {
	int axis;
	struct steps steps;		/* without twins, in the order of the shifts */
	struct steps_order order;
	size_t flat;			/* 1 to 3: which image is flat, of a 2+1 set; 0: steps */
	double period_px, fringes;	/* on the camera; mean number in a line */
	float *phase;			/* lines x length, unwrapped along runs, grows; NaN: none */
	float *mean;			/* A of these pixels */
};

struct sets {
	size_t images;
	struct image *const *image;	/* of one size */
	struct field field[2];
	struct carrier *carrier[2];	/* of each image */
	enum image_kind *kind;
	size_t *set;			/* KIND_FRINGE, KIND_TWIN: of which set; else SIZE_MAX */
	size_t *other;			/* KIND_TWIN: which image it shows again; KIND_INVERSE: of
					 * which plane */
	size_t n;
	struct fringe_set fringe[SETS_MOST];
};

/* Of n images of one size, which must outlive *out. -1 after fail(). sets_free() also then. */
int sets_find(struct image *const *image, size_t n, struct sets *out);
void sets_free(struct sets *);
/* The axis along which an image's fringes or planes vary. */
int sets_axis(const struct sets *, size_t image);

#define FRINGE_SET_PIXELS_LEAST 50	/* fewer tell nothing */

/* ---- gray.c: Gray codes and flat images among the images that are no fringes ---- */

#define GRAY_MOST 24

enum gray_order { GRAY_MSB_FIRST, GRAY_LSB_FIRST, GRAY_MIXED };
enum gray_cell { GRAY_CELL_UNKNOWN, GRAY_CELL_COLUMN, GRAY_CELL_PERIOD, GRAY_CELL_HALF };

enum gray_missing {
	GRAY_COMPLETE,
	GRAY_PLANE_MISSING,		/* before plane[gap] */
	GRAY_MISSING_OR_INVERTED,	/* or that one is inverted */
	GRAY_COARSE_MISSING,		/* anywhere before plane[gap] */
	GRAY_FINEST_MISSING
};

struct gray_code {
	int axis;
	size_t n;
	size_t plane[GRAY_MOST];	/* the most significant first */
	bool inverses, pairs;		/* pairs: each plane is followed by its inverse */
	size_t inverse[GRAY_MOST];
	enum gray_order order;		/* of the files */
	bool inverted[GRAY_MOST];	/* planes that are bright where they should be dark */
	size_t swapped;			/* planes that have changed places with their inverses */
	enum gray_missing missing;	/* then plane[] and the rest are no code */
	size_t gap;
	double agreement;		/* share of the value's changes that are steps of one */
	bool falls;			/* the value falls where the fringes' phase grows */
	size_t blurred;			/* of the finest planes, in which no stripes are seen */
	bool either;			/* a white and a black image may as well be planes of it */
	enum gray_cell cell;
	double cells, cells_error;	/* in a period of the first fringe set; NaN: no fringes */
	double edge_rad;		/* phase where periods begin, by the first set's shifts */
	double edge_coherence;
};

struct gray {
	size_t codes;
	struct gray_code code[2];
	size_t parts;			/* codes of which a plane is missing: their other planes */
	struct gray_code part[2];
	size_t white, black;		/* images; SIZE_MAX: none */
};

/* Sets the kinds of sets->kind. -1 after fail(). */
int gray_find(struct sets *, struct gray *);

/* A search: the images that may be planes, along one axis. */
struct gray_search {
	struct sets *sets;
	int axis;
	const struct fringe_set *fringe;	/* NULL: none along this axis */
	unsigned char **bit;		/* of the images that are looked at: 0, 1; NULL: others */
	unsigned char *bits;		/* room for those of all images */
	size_t n, image[2 * GRAY_MOST + 4];	/* in the order of the files */
	struct gray_code best, part;	/* part: in which a plane is missing; n = 0: none */
};

/* How the value of a code changes along the lines. */
struct changes {
	double up, down, other;		/* steps of one, each way, with the phase */
	size_t folded, lines;		/* lines in which it goes far both ways; all lines */
};

/* What planes show where others change. */
struct edges {
	size_t n;
	double bright[GRAY_MOST][GRAY_MOST];	/* [a][b]: where a changes, the share of pixels in
						 * which b is bright; NaN: unknown */
	double in_line[GRAY_MOST];		/* changes in a line */
};

/* ---- how the sets' frequencies are related (fringe_sets.c) ---- */

/* Counts of fringes, or periods of the projector. */
enum frequency_source {
	FREQUENCY_UNKNOWN,		/* no numbers are known */
	FREQUENCY_RATIO,		/* counts: the only small whole numbers of this ratio */
	FREQUENCY_NAMES,		/* counts, or periods, that names say, of this ratio */
	FREQUENCY_GRAY			/* periods: a Gray code counts projector columns */
};

struct frequencies {
	enum frequency_source source;
	bool periods;			/* value is in projector pixels; else counts of fringes */
	double value[SETS_MOST];	/* of the sets chosen, in their order */
	double ratio[SETS_MOST];	/* to the finest of them, 0 to 1; NaN: unknown */
	double error[SETS_MOST];
	size_t finest;
	bool origin_known;		/* by the beats: */
	double origin_rad;		/* phase of all sets where they begin, by their shifts */
	double origin_coherence;
};

/* Of n sets along one axis; code: along that axis, or NULL. */
void frequencies_find(const struct sets *, const size_t *set, size_t n,
    const struct gray_code *code, struct frequencies *);

/* ---- all that is found about a set of captures (fringeprobe.c) ---- */

#define DEG (180 / M_PI)		/* in a radian */
/* Shifts that leave a larger part of a turn free are only found roughly. */
#define PROBE_GAP_MOST (190 * M_PI / 180)

enum certainty {
	SURE_CERTAIN,			/* metadata or a manifest say so */
	SURE_FOUND,			/* measured */
	SURE_GUESSED,			/* a convention */
	SURE_UNKNOWN			/* nothing tells: a placeholder */
};

extern const char *const certainty_words[];

struct word {
	char *text, *why;
	enum certainty sure;
	bool unwraps;			/* it belongs to unwrap2f */
};

/* Pixels without fringes, in the first chosen set. */
struct unlit {
	double share;			/* of all pixels */
	double least;			/* amplitude that keeps them out; 0: none is needed */
	double unlit, lit;		/* amplitude that 1 in 100 of them exceeds; that 1 in 100 of
					 * the others does not reach */
};

struct probe {
	struct images images;
	const char *manifest_path;
	struct manifest manifest;
	bool operands;			/* images are named beside the manifest */
	size_t n;
	struct image **image;		/* of one size and type */
	bool colour;			/* they are in colour: green was looked at */
	size_t measurements;		/* in all images; the first one is looked at */
	bool smooth;			/* the images are noisy: lines were smoothed */
	struct sets sets;
	struct gray gray;
	bool described;			/* images say what they are, or the manifest does */
	struct capture_set captures;	/* what they say */
	size_t chosen, set[SETS_MOST];	/* fringe sets of the command, in the order of the files */
	struct frequencies frequencies;	/* of these, where they are along one axis */
	double saturated;		/* share of lit pixels in the chosen sets' images */
	double saturation;		/* that level; INFINITY: none */
	bool max_value;			/* it is less than the type's */
	struct unlit unlit;
	struct word *word;
	size_t words;
	char **problem;
	size_t problems;
	char *line;			/* the command */
};

/* Records what is wrong with the images. */
void probe_problem(struct probe *, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *probe_name(const struct probe *, size_t image);

/* ---- command.c, report.c ---- */

/* Makes the words and the line. -1 after fail(). */
int command_make(struct probe *);

void report_text(const struct probe *, FILE *);
void report_json(const struct probe *, FILE *);

/* Records what does not fit in the chosen sets and the Gray codes. */
void problems_find(struct probe *);
/* A new string, as vsprintf() prints it. */
char *text_of(const char *format, va_list);
/* Nothing fits: "; a.png to d.png look like fringes, ...", or "" where nothing looks like them. The
 * names are cut to what fits. */
const char *problems_guess(const struct probe *, char text[480]);

/* The loops of fringeprobe_rows.c. */
struct fringeprobe_rows {
	/* Fills the lines of an image, of which there is room for lines[0] and [1], and max,
	 * share_max. */
	void (*image_sample)(const struct frame *, size_t c, struct image *);
	/* The mean of IMAGES_SMOOTH samples about each one that are no NaN; NaN where it is one. */
	void (*image_smooth_line)(const float *from, size_t length, float *to);
	/* Fills mid, half, lit and lit_pixels. */
	void (*field_measure)(struct field *);
	/* Fills a carrier whose theta has room. */
	void (*carrier_measure)(const struct field *, size_t image, struct carrier *out);
	/* Both are lines x length, unwrapped within runs of pixels that are not NaN. */
	void (*growth_find)(size_t lines, size_t length, const float *reference,
	    const float *phase, struct growth *out);
	/* Unwraps a phase along the lines; a NaN or a step of more than `most` rad begins a new
	 * run, marked by NaN in its first pixel. */
	void (*field_unwrap)(size_t lines, size_t length, float most, float *phase);
	/* The sums of the products of the images over some of the lit pixels, in field->gram. */
	void (*steps_gram)(const struct field *, const struct steps *);
	/* Fills in how the images fit their shifts. */
	void (*steps_measure)(const struct field *, struct steps *);
	/* Does an image fit the phases of these steps? Its shift, how much that grows from the
	 * first half of the lines to the second, and the rms that the fit leaves over the
	 * amplitude; NaN: the image has a much larger or smaller amplitude. */
	double (*steps_try)(const struct field *, const struct steps *, size_t image,
	    double *shift_rad, double *drift_rad);
	/* The wrapped phase and the mean of all pixels, NaN where there are no fringes, and the
	 * amplitude, also there. Each may be NULL. */
	void (*steps_fill)(const struct field *, const struct steps *, float *phase, float *mean,
	    float *amplitude);
	/* Period and number of fringes, from the phase; false: it falls along the line. */
	bool (*fringe_set_period)(const struct field *, struct fringe_set *);
	/* Are there steps from pixel to pixel that are too large to be fringes? Of noise a third
	 * is. */
	bool (*fringe_set_rough)(const struct field *, const struct fringe_set *);
	/* The rms difference of two means, over pixels that have both; NaN: too few have. */
	double (*mean_difference)(const struct field *, const float *a, const float *b);
	/* Phase, mean and the rest of a set of three images, of which one is flat; false: they are
	 * none. */
	bool (*two_plus_one_fill)(const struct field *, struct fringe_set *);
	/* Adds the cosines and sines of (count[0] p - count[1] q) / count[2], and their number, to
	 * sums. */
	void (*beat_origin)(size_t pixels, const float *p, const float *q, const double count[3],
	    double sums[3]);
	/* Makes the bits of image i: brighter than the fringes' mean, or the range's middle? */
	void (*gray_threshold)(const struct gray_search *, size_t i);
	/* Are two images bright in each other's dark pixels? */
	bool (*gray_is_opposite)(const struct gray_search *, size_t i, size_t j);
	void (*gray_count_changes)(const struct gray_search *, const struct gray_code *,
	    struct changes *out);
	void (*gray_find_edges)(const struct gray_search *, const struct gray_code *,
	    struct edges *);
	/* The value of all pixels that have a phase; NaN elsewhere. */
	void (*gray_values)(const struct gray_search *, const struct gray_code *, float *value);
	/* Sets edge_rad and edge_coherence: the phase where the value changes to that of a period's
	 * first cell; or, of columns, the phase that column 0 has. */
	void (*gray_find_origin)(const struct gray_search *, struct gray_code *,
	    const float *value);
	/* Of 2+1 images: how far sine and cosine are off the flat image. */
	void (*unlit_flat_amplitude)(const struct field *, const struct fringe_set *,
	    float *amplitude);
	/* Amplitudes of lit pixels, or those of more than `least`, from the front, of the others
	 * from the back. Returns the number of the former. */
	size_t (*unlit_divide)(const struct field *, const float *all, float least,
	    float *amplitude);
	/* The share of lit pixels in which one of n images of fringes reaches a level. */
	double (*saturated_share)(const struct field *, const enum image_kind *, size_t n,
	    double level);
};
LEVELS_OF(fringeprobe_rows)

#endif
