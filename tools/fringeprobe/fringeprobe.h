/* What the files of fringeprobe share, from images to the command that decodes them. */
#pragma once

#include <math.h>
#include <stdio.h>

#include "fringe/capture_set.h"
#include "fringe/step_search.h"
#include "run/stage.h"

/* ---- images.c: numbers in the names of files ---- */

/* The number that tells files of a group apart is the last one in the base name, before the suffix.
 * How many bytes of the name come before it; all of it where there is none. */
size_t names_stem(const char *name);
/* The last number within the first n bytes of a name; false: there is none. */
bool names_number(const char *name, size_t n, double *out);
/* Is one of the blank-separated words in it, in any case? */
bool names_say(const char *name, const char *words);

/* ---- images.c: captured images, read once and reduced to lines of samples ---- */

#define IMAGES_AROUND 2		/* lines on each side of a kept one, of which it may be the mean */
#define IMAGES_LINES 64		/* most lines along each axis */
#define IMAGES_KEPT 400		/* with their lines: the first ones, of any size */
#define IMAGES_READ 1000	/* no more are read */
#define IMAGES_OVERVIEW_SIDE 32	/* blocks along each side of an image's overview */
#define IMAGES_OVERVIEW (IMAGES_OVERVIEW_SIDE * IMAGES_OVERVIEW_SIDE)

struct image {
	char *path;			/* the file, as phasewrap is to be given it */
	char *name;			/* for people: base name, [3]: the third image in a file */
	size_t in_file, of_file;	/* from 0; how many images the file holds */
	struct frame_head head;		/* of this image alone: one channel */
	bool left;			/* left out; other images of its file may be taken */
	bool colour;			/* its planes differ: green was taken */
	double max, share_max;		/* the largest sample, and the share of samples there */
	float overview[IMAGES_OVERVIEW]; /* means of blocks */
	size_t lines[2];		/* rows, columns that were kept */
	void *near[2];			/* of each kept line it and those around it, as they were
					 * read, for images_average(); NULL: not among the first
					 * IMAGES_KEPT, or not needed any more */
	double noise;			/* rms of a sample, by its neighbours along the lines */
	float *line[2];			/* lines[0] rows of w samples; lines[1] columns of h */
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
/* Forgets that a file was not taken. */
void images_drop_skip(struct images *, const char *path);

/*
 * Fills the lines of n images of one size: each is the mean of *averaged = 1, 3 or 5 lines that lie
 * side by side, more where the images are noisy. This keeps what is linear in the images and blurs
 * nothing along the lines. *noise: rms of a sample of the lines.
 */
void images_average(struct image *const *image, size_t n, size_t *averaged, double *noise);
void images_free(struct images *);

/* What an image shows that is no step of a set. */
enum look_kind { LOOK_NOTHING, LOOK_FRINGES, LOOK_LASER, LOOK_BOARD, LOOK_KINDS };

struct image_look {
	enum look_kind kind;
	const char *channel;		/* where a laser's line is seen best; NULL: the only one */
	double laser_share;		/* of the lines of pixels that it goes through */
	size_t board[2];		/* inner corners of a chessboard, the more ones first */
};

/* Reads the files of n images again; look: n zeroed ones. Images of files of several stay so. */
void images_look(struct run *, struct image *const *image, size_t n, struct image_look *look);

/* ---- files.c: the files around the images ---- */

/* A word for a shell, a new string: as it is, in quotes, or with its control characters spelt. */
char *shell_word(const char *);
/* Puts words, each after a blank, that a shell and phasewrap expand to just these files in this
 * order: their folder, patterns, or the files. -1 after fail(). */
int files_put(FILE *, char *const *path, size_t n);

/* Captures of several scenes, or by several cameras, whose files are named alike. */
struct files_split {
	size_t groups, *group;		/* of each file; in the order of their first files */
	char **key;			/* the part of the name that a capture has */
};

#define FILES_SPLIT_WAYS 24

/* Splits n names without folders in one of these ways (from 0). False: it does not fit. */
bool files_split(char *const *name, size_t n, int way, struct files_split *);
void files_split_free(struct files_split *);

/* A number of files next to the images. */
struct beside_number {
	double v;
	char *path;			/* the file; NULL: none has it */
	bool differs;			/* another one has another number: v is NaN */
};

/* What files next to the images say. */
struct beside {
	char *calib, *pair;		/* calibrations of camera and projector, two cameras */
	bool ambiguous;			/* others fit as well */
	struct beside_number period, projector[2];	/* px; width, height */
};

/* ---- fringe_sets.c: which images belong together ---- */

/* The lines of all images of one size along one axis, and where in them something changes. */
struct field {
	int axis;			/* 0: lines run along x, 1: along y */
	size_t n, lines, length;
	const float **v;		/* of each image: lines x length samples */
	bool *lit;			/* pixels whose values change as fringes do */
	size_t lit_pixels;
	uint32_t *lit_at;		/* where they are */
	double noise;			/* rms of a sample */
	float *scratch, *pair;		/* room for four and for two values of each pixel */
};

#define STEPS_MOST STEP_SEARCH_MOST

/* Images of one fringe pattern that was moved: their shifts, and how well they fit. */
struct steps {
	size_t n;
	size_t image[STEPS_MOST];	/* of the field */
	double shift_rad[STEPS_MOST];	/* I = A + B cos(phase + shift), phase grows along lines */
	double k[3][STEP_SEARCH_MOST];	/* (A, B cos phase, B sin phase) of a pixel are k times its
					 * samples */
	/* how they fit */
	double mean, amplitude, modulation;	/* medians over these */
	double residual;		/* rms that the fit leaves over the amplitude; NaN: n = 3 */
	double noise;			/* the same in levels */
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

#define PHASE_BINS 24

/* What fringes look like that some steps find in their images: Gray planes, parts of several sets
 * and noise also give a phase and an amplitude to each pixel, but look different. */
struct look {
	int axis;			/* along which the phase changes more */
	double period_px, fringes;	/* median; in a line of full length */
	/* How mean and amplitude jump within a quarter of a period, over the amplitude; and how far
	 * noise alone makes them. */
	double mean_scatter, amplitude_scatter, noise;
	size_t bins, runs;		/* of PHASE_BINS, that have phases; in so many runs */
	double four, six;		/* coherence of the phase times four, six */
	double share;			/* of lit pixels that have fringes */
	double directed;		/* share of the phase's changes that go one way */
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
	const char *doubt;		/* why its steps are only guessed; NULL: they are found */
	double period_px, fringes;	/* on the camera; mean number in a line */
	/* lines x length of its axis; NaN where it shows no fringes */
	float *phase;			/* rad, unwrapped along runs, grows */
	float *mean;			/* A */
};

struct sets {
	size_t images;
	struct image *const *image;	/* of one size, with their lines */
	double noise;			/* rms of a sample of the lines */
	struct field field[2];
	double *gram;			/* images x images: mean products of their samples, over
					 * some lit pixels, each divided by its range */
	double gram_noise;		/* what noise adds to each of the diagonal */
	enum image_kind *kind;
	size_t *set;			/* KIND_FRINGE, KIND_TWIN: of which set; else SIZE_MAX */
	size_t *other;			/* KIND_TWIN: which image it shows again; KIND_INVERSE: of
					 * which plane */
	size_t n;
	struct fringe_set fringe[SETS_MOST];
	struct pool pool;		/* of what is not a field's or a set's alone */
};

/* Of n images of one size, which must outlive *out. sets_free(). */
void sets_find(struct image *const *image, size_t n, double noise, struct sets *out);
/* Doubts sets that may be parts of others: of one period, or when images that are left over show
 * their fringes. After gray_find(). */
void sets_doubt(struct sets *);
void sets_free(struct sets *);

#define FRINGE_SET_PIXELS_LEAST 50	/* fewer tell nothing */

/* ---- gray.c: Gray codes and flat images among the images that are no fringes ---- */

#define GRAY_MOST 24
#define GRAY_IMAGES_MOST (4 * GRAY_MOST + 8)	/* that may be planes; more are not looked at */

enum gray_order { GRAY_MSB_FIRST, GRAY_LSB_FIRST, GRAY_MIXED };
enum gray_cell { GRAY_CELL_UNKNOWN, GRAY_CELL_COLUMN, GRAY_CELL_PERIOD, GRAY_CELL_HALF };

enum gray_missing {
	GRAY_COMPLETE,
	GRAY_PLANE_MISSING,		/* before plane[gap] */
	GRAY_COARSE_MISSING,		/* which is not known */
	GRAY_TOO_COARSE			/* no fringe set is as coarse as its cells */
};

struct gray_code {
	int axis;
	size_t n;
	size_t plane[GRAY_MOST];	/* the most significant first */
	bool inverses, pairs;		/* pairs: each plane is next to its inverse */
	size_t inverse[GRAY_MOST];
	enum gray_order order;		/* of the files */
	bool inverted[GRAY_MOST];	/* planes that are bright where they should be dark */
	size_t swapped;			/* planes that have changed places with their inverses */
	enum gray_missing missing;	/* then plane[] and the rest decode nothing */
	size_t gap;
	double agreement;		/* share of the value's changes that are steps of one */
	bool falls;			/* the value falls where the fringes' phase grows */
	size_t weak;			/* of the finest planes, of which only a trace is seen */
	size_t blurred;			/* finer ones still, in which no stripes are seen */
	size_t dropped;			/* of these, that the command leaves out */
	bool either;			/* images that are bright or dark all over, and may be flat
					 * ones or planes of it */
	bool unsure_cell;		/* the ratio fits several cells */
	const char *doubt;		/* why its planes are guessed; NULL: they are found */
	enum gray_cell cell;
	size_t set;			/* of sets->fringe: the one that cell is of */
	double cells, cells_error;	/* in a period of that set; NaN: no fringes */
	double cells_of[SETS_MOST];	/* the same of all sets along the axis; NaN: others */
	double edge_rad, edge_error_rad; /* phase where periods begin, by the set's shifts */
	double edge_coherence;
};

struct gray {
	size_t codes;
	struct gray_code code[2];
	size_t parts;			/* codes that decode nothing */
	struct gray_code part[2];
	size_t white, black;		/* images; SIZE_MAX: none */
};

/* Sets the kinds of sets->kind. */
void gray_find(struct sets *, struct gray *);
/* ", which may be 1 or 1.33": the usual numbers of cells near the measured one. */
const char *gray_cells_near(const struct gray_code *, char text[100]);

/* A place where an image changes between bright and dark. */
struct gray_edge {
	unsigned p;			/* pixel at it or before */
	float x;			/* place in the line, between pixels */
};

/* An image that may be a plane, along both axes. */
struct gray_image {
	size_t image;
	float *bit[2];			/* of each pixel: -1 dark, 1 bright, between: neither */
	signed char *side[2];		/* the same, -1 or 1, kept until the other is clear */
	struct gray_edge *edge[2];
	size_t edges[2];
	double per_line[2];		/* edges in a line */
	double two_valued;		/* share of pixels that are bright or dark */
	double beyond;			/* that are brighter or darker than that */
	double same;			/* that are bright, or dark: the larger one */
	double level;			/* mean of bit, -1 to 1 */
	double contrast;		/* |bit| that 6 of 7 pixels have at most */
	int axis;			/* along which it has more edges */
	bool strong;			/* it looks like a plane, */
	bool constant;			/* or is bright or dark all over */
};

/* The images left over by the fringe sets, and what is known of the planes along one axis. Planes
 * are images of the search. */
struct gray_search {
	struct sets *sets;
	int axis;			/* that is looked at now */
	size_t n;
	struct gray_image *image;
	bool *seen[2];			/* pixels whose bright and dark level are known */
	size_t seen_pixels[2], seen_lines[2];
	float *low[2], *high[2];	/* these levels */
	bool far;			/* by values near the extremes, as many lie between */
	size_t planes, plane[GRAY_MOST];	/* one of each pair */
	bool inverses, lone;		/* planes have inverses; some of them have none */
	size_t inverse[GRAY_IMAGES_MOST];	/* of each image; SIZE_MAX: none */
	bool taken[GRAY_IMAGES_MOST];
	unsigned *value;		/* of the code in each pixel */
	struct pool pool;		/* of images, seen and levels */
};

/* ---- how the sets' frequencies are related (fringe_sets.c) ---- */

/* Counts of fringes, or periods of the projector. */
enum frequency_source {
	FREQUENCY_UNKNOWN,		/* no numbers are known */
	FREQUENCY_RATIO,		/* counts: the likeliest whole numbers of this ratio */
	FREQUENCY_NAMES,		/* counts, or periods, that names say, of this ratio */
	FREQUENCY_GRAY			/* periods: a Gray code counts projector columns */
};

struct frequencies {
	enum frequency_source source;
	bool periods;			/* value is in projector pixels; else counts of fringes */
	double value[SETS_MOST];	/* of the sets chosen, in their order */
	double ratio[SETS_MOST];	/* to the finest of them, 0 to 1; NaN: unknown */
	double error[SETS_MOST];	/* standard error, with that by harmonics */
	size_t finest;
#define FREQUENCY_CANDIDATES 6
	size_t candidates;		/* counts that fit the ratios, the likeliest first */
	double candidate[FREQUENCY_CANDIDATES][SETS_MOST];
	double probability;		/* of the first, if small numbers are likelier */
	bool origin_known;		/* by the beats: */
	double origin_rad;		/* phase of all sets where they begin, by their shifts */
	double origin_error_rad;	/* standard error */
	double origin_coherence;
};

/* Sums over points for the slope of y on x. */
struct slope_sums {
	double n, x, y, xx, xy, yy;
	double low, high;		/* of x */
};

/* Slopes of runs of points, by the line of each: sums of products about the run's mean. */
struct line_sums {
	double xy[IMAGES_LINES], xx[IMAGES_LINES];
};

void slope_add(struct slope_sums *, double x, double y);
/* Adds a run of points, whose sums become those about their mean. */
void line_sums_add(struct line_sums *, size_t line, struct slope_sums *run);
/* The slope over all lines; NaN: none. Its standard error is the jackknife's: each twelfth of the
 * lines is left out in turn. */
double line_sums_slope(const struct line_sums *, size_t lines, double *error);

/* How a set's frequency compares with that of a finer one; NaN: unknown. */
void ratio_measure(const struct field *, const struct fringe_set *fine,
    const struct fringe_set *coarse, double *ratio, double *error);
/* Of n sets; none are known where these lie along both axes. code: along that of the first, or
 * NULL. */
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

enum word_stage { WORD_PHASEWRAP, WORD_UNWRAP2F, WORD_STAGE };

struct word {
	char *text, *why;		/* one allocation, that of text */
	enum certainty sure;
	enum word_stage stage;		/* which one it belongs to; WORD_STAGE: it is one itself */
};

enum camera_side { SIDE_NONE, SIDE_LEFT, SIDE_RIGHT };

/* Where the phase begins, with shifts from 0. */
struct origin {
	enum certainty sure;
	double found_deg, error_deg;	/* as measured; NaN: nothing tells */
	double deg;			/* for the command */
	char why[300];
};

/* Pixels without fringes, in the first chosen set. */
struct unlit {
	double share;			/* of all pixels */
	double least;			/* amplitude that keeps them out; 0: none is needed */
	double unlit, lit;		/* amplitude that 1 in 100 of them exceeds; that 1 in 100 of
					 * the others does not reach */
};

struct probe {
	const char *name;		/* of the capture, where there are several; else NULL */
	enum camera_side side;		/* of a pair */
	struct images images;
	const char *manifest_path;
	struct manifest manifest;
	bool operands;			/* images are named beside the manifest */
	size_t n;
	struct image **image;		/* of one size and type */
	bool colour;			/* they are in colour: green was looked at */
	size_t measurements;		/* in all images; the first one is looked at */
	size_t averaged;		/* lines that each kept line is the mean of: 1, 3, 5 */
	double noise;			/* of a sample of these */
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
	struct beside beside;
	struct image_look *look;	/* of each image, where there are no sets; else NULL */
	bool origin_known;		/* fitted to both cameras of a pair */
	struct origin origin;
	struct word *word;
	size_t words;
	char **problem;
	size_t problems;
	char *line;			/* the command */
	char *seen_line;		/* without weak Gray planes; NULL: there are none */
};

/* Reads the files next to the images of a capture. */
void beside_read(struct probe *);

/* Records what is wrong with the images. */
void probe_problem(struct probe *, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *probe_name(const struct probe *, size_t image);
/* The first of the sets chosen; NULL: there is none. */
const struct fringe_set *first_set(const struct probe *);
/* The Gray code along the axis of the first set, or the only one; NULL: none. */
const struct gray_code *fringe_code(const struct probe *);
/* Images that fit nothing. */
size_t count_unknown(const struct probe *);

/* ---- command.c, report.c ---- */

/* Makes the words and the line, which writes to the file `output` (NULL: standard output). -1 after
 * fail(). */
int command_make(struct probe *, const char *output);
void words_free(struct probe *);
/* Makes one origin, sign and period of those of both cameras, and tells where they differ. */
void command_pair(struct probe pair[2]);

/* Of n captures, and the command for all. */
void report_text(const struct probe *, size_t n, const char *line, FILE *);
void report_json(const struct probe *, size_t n, const char *line, FILE *);

/* Records what does not fit in the chosen sets and the Gray codes. */
void problems_find(struct probe *);
/* Do the numbers of the files pass over one next to a Gray plane or a flat image? Which, or "". */
bool probe_gap(const struct probe *, char text[200]);
/* Nothing fits: "; a.png to d.png look like fringes, ...", or "" where nothing looks like them. The
 * names are cut to what fits. */
const char *problems_guess(const struct probe *, char text[480]);

/* The loops of fringeprobe_rows.c. */
struct fringeprobe_rows {
	/* Fills near, of which there is room, max and share_max. */
	void (*image_sample)(const struct frame *, size_t c, struct image *);
	/* The noise of an image by its lines; to: room for the samples of both axes. */
	double (*image_noise)(const struct image *, float *room);
	/* Fills the lines of an image along one axis with means of 2 around + 1. */
	void (*image_average)(const struct image *, int axis, size_t around, float *to);
	/* What one in ten of the pixels of n images exceed by their range; room for the rows. */
	double (*images_range)(struct image *const *image, size_t n, float *room);
	/* Fills lit, lit_pixels and lit_at. */
	void (*field_measure)(struct field *);
	/* The share of lit pixels in which an image is neither bright nor dark. */
	double (*image_between)(const struct field *, size_t image);
	/* The mean products of all images over some lit, unsaturated pixels of both fields, each
	 * divided by its range: gram is n x n. Returns what noise adds to each of its diagonal. */
	double (*fields_gram)(const struct field field[2], double saturated, double *gram);
	/*
	 * Which of images from..to are a weighted mean of i, j and k, with the noise of the
	 * products? apart: n x n products of the images' differences from image i. member: a bit
	 * of each image; returns how many.
	 */
	size_t (*triple_members)(const double *apart, size_t n, size_t j, size_t k, size_t from,
	    size_t to, double noise, uint64_t member[4]);
	/* What the pixels look like, of every thin-th line; false: they are too few. */
	bool (*steps_look)(const struct field field[2], const struct steps *, size_t thin,
	    struct look *out);
	/* How many of PHASE_BINS have phases of some pixels. */
	size_t (*steps_phases)(const struct field field[2], const struct steps *);
	/* Fills in how the images fit their shifts. */
	void (*steps_measure)(const struct field *, struct steps *);
	/* How much the shift of an image grows from the first half of the lines to the second; 0
	 * where one has no fringes. */
	double (*steps_drift)(const struct field *, const struct steps *, size_t image);
	/* The wrapped phase and the mean of all pixels, NaN where there are no fringes, and the
	 * amplitude, also there. Each may be NULL. */
	void (*steps_fill)(const struct field *, const struct steps *, float *phase, float *mean,
	    float *amplitude);
	/* Shares of sampled pixels in which each image but one is clearly bright or dark, by both
	 * ways to find levels. share: n of the first way, n of the other. */
	void (*gray_two_valued)(const struct gray_search *, size_t without, double *share);
	/* Fills low, high and seen; light: mean of a fringe set's images, or NULL. */
	void (*gray_levels)(struct gray_search *, const float *light);
	/* Fills bit and side of image i. */
	void (*gray_bits)(const struct gray_search *, size_t i);
	/* Half the difference of two images' bits; and side. */
	void (*gray_difference)(const struct gray_search *, size_t i, size_t inverse);
	/* Fills two_valued, beyond, same, level and contrast of image i, by both axes. */
	void (*gray_measure)(const struct gray_search *, size_t i);
	/* The edges of image i; to has room for one a pixel. Returns how many. */
	size_t (*gray_edges)(const struct gray_search *, size_t i, struct gray_edge *to);
	/* How alike two images are: -1 opposite, 1 the same. */
	double (*gray_alike)(const struct gray_search *, size_t i, size_t j);
	/* The value of a code in each pixel. held: by side, else by bit. */
	void (*gray_values)(const struct gray_search *, const size_t *plane, const bool *flip,
	    size_t n, bool held);
	/* How image i follows -cos(pi factor place): correlation, and slope over its standard
	 * error, by the lines. */
	double (*gray_follow)(const struct gray_search *, size_t i, const float *place,
	    double factor, double *sigmas);
};
LEVELS_OF(fringeprobe_rows)
