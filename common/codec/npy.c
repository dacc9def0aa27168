/*
 * NPY, versions 1 to 3: every integer, float and bool type, both byte orders, C and Fortran order.
 * Shapes: (H, W) is one channel. Of three axes the last is the channels, (H, W, C), if it is at
 * most 4 and both others are longer than 4; else the first is, (C, H, W), which is how we write.
 * Of four axes the first are the frames, (F, C, H, W) or (F, H, W, C), which is how we write more
 * than one frame. Other axes of length 1 in front of these are dropped. A warning says where more
 * channels than that seem to be the last. NPY has no place for metadata.
 */
#define _GNU_SOURCE
#include "io/codec.h"

#include "base/numbers.h"
#include "base/process.h"
#include "frame/pixel_store.h"
#include "frame/samples.h"

#define AXES 8
#define HEADER_LIMIT 65536
#define COLUMNS 64		/* placed at once */
#define PIXEL_MOST 16		/* elements of the last axis are channels rather than columns, */
#define SIDE_LEAST 64		/* where the axes before it are as long as this */

struct npy {
	enum element element;
	bool swap, fortran;
	size_t axes, shape[AXES];
	size_t w, h, c, frames;		/* and how many elements apart neighbours are */
	size_t step_x, step_y, step_c;
};

static bool
npy_sniff(const unsigned char *start, size_t n)
{
	return n >= 8 && !memcmp(start, "\x93NUMPY", 6);
}

/* The header's dictionary as a new string. */
static char *
read_header(struct loader *loader)
{
	unsigned char start[12];
	size_t n;
	char *text;

	if (samples_read(loader->path, loader->file, start, 8) < 0)
		return NULL;
	if (start[6] < 1 || start[6] > 3) {
		fail(loader->path, "NPY version %d.%d is not known", start[6], start[7]);
		return NULL;
	}
	if (samples_read(loader->path, loader->file, start + 8, start[6] == 1 ? 2 : 4) < 0)
		return NULL;
	n = start[8] | (size_t)start[9] << 8;
	if (start[6] > 1)
		n |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
	if (n > HEADER_LIMIT) {
		fail(loader->path, "NPY header is too long: %zu bytes", n);
		return NULL;
	}
	text = calloc(1, n + 1);
	if (!text) {
		fail_memory();
	} else if (samples_read(loader->path, loader->file, text, n) < 0) {
		free(text);
		text = NULL;
	}
	return text;
}

/* What follows 'key': in the dictionary; NULL if the key is not there. */
static const char *
value_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = strstr(text, key); p; p = strstr(p + 1, key)) {
		const char *q = p + n;

		if (p == text || (p[-1] != '\'' && p[-1] != '"') || *q != p[-1])
			continue;
		q++;
		q += strspn(q, " ");
		if (*q != ':')
			continue;
		q++;
		return q + strspn(q, " ");
	}
	return NULL;
}

static int
parse_type(const char *path, const char *text, struct npy *npy)
{
	static const struct {
		char name[3];
		enum element element;
	} types[] = {
		{ "b1", ELEMENT_U8 }, { "u1", ELEMENT_U8 }, { "i1", ELEMENT_I8 },
		{ "u2", ELEMENT_U16 }, { "i2", ELEMENT_I16 }, { "u4", ELEMENT_U32 },
		{ "i4", ELEMENT_I32 }, { "u8", ELEMENT_U64 }, { "i8", ELEMENT_I64 },
		{ "f2", ELEMENT_F16 }, { "f4", ELEMENT_F32 }, { "f8", ELEMENT_F64 }
	};
	const char other = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<';

	if (text && (*text == '\'' || *text == '"') && text[1] && strchr("<>|=", text[1])) {
		npy->swap = text[1] == other;
		for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
			if (!strncmp(text + 2, types[i].name, 2) && text[4] == *text) {
				npy->element = types[i].element;
				return 0;
			}
	}
	return fail(path, "NPY type is not one of numbers: %.24s", text ? text : "(none)");
}

static int
parse_shape(const char *path, const char *text, struct npy *npy)
{
	const char *p = text;

	if (!p || *p++ != '(')
		return fail(path, "NPY header has no shape");
	for (npy->axes = 0; npy->axes < AXES; npy->axes++) {
		size_t v = 0;

		p += strspn(p, " ,");
		if (*p == ')')
			return 0;
		if (*p < '0' || *p > '9')
			break;
		for (; *p >= '0' && *p <= '9'; p++)
			if (__builtin_mul_overflow(v, 10, &v) ||
			    __builtin_add_overflow(v, (size_t)(*p - '0'), &v))
				return fail(path, "NPY shape is too large: %.60s", text);
		npy->shape[npy->axes] = v;
	}
	return fail(path, "NPY shape is not valid: %.60s", text);
}

static bool
channels_last(const size_t *shape)
{
	return shape[2] <= 4 && shape[0] > 4 && shape[1] > 4;
}

/* Which axis is which, and the distances in elements along each. */
static int
plan_axes(const char *path, const char *text, struct npy *npy)
{
	size_t step[AXES], n = 1, first = 0, shown = strcspn(text, ")") + 1;
	const size_t *shape = npy->shape;

	for (size_t i = 0; i < npy->axes; i++) {
		size_t axis = npy->fortran ? i : npy->axes - 1 - i;

		step[axis] = n;
		if (size_multiply(n, shape[axis], &n) < 0)
			return -1;
	}
	while (npy->axes - first > 3 && shape[first] == 1)
		first++;
	npy->frames = npy->axes - first == 4 ? shape[first++] : 1;
	if (n == 0 || npy->axes < 2 || npy->axes - first > 3)
		return fail(path, "NPY shape is not (H, W), (H, W, C), (C, H, W) or (F, C, H, W): "
		    "%.*s", (int)(shown < 60 ? shown : 60), text);
	if (npy->frames > 1 && npy->fortran)
		return fail(path, "NPY of several frames is in Fortran order: "
		    "numpy.ascontiguousarray changes that");
	shape += first;
	npy->c = 1;
	npy->step_c = 0;
	if (npy->axes == 2 || channels_last(shape)) {
		npy->h = shape[0];
		npy->w = shape[1];
		npy->step_y = step[first];
		npy->step_x = step[first + 1];
		if (npy->axes > 2) {
			npy->c = shape[2];
			npy->step_c = step[first + 2];
		}
	} else {
		npy->c = shape[0];
		npy->h = shape[1];
		npy->w = shape[2];
		npy->step_c = step[first];
		npy->step_y = step[first + 1];
		npy->step_x = step[first + 2];
	}
	return 0;
}

/* Of a file that was read: do more channels than four seem to be the last axis? */
static void
warn_pixels(const char *path, const struct frame_head *npy)
{
	if (npy->w > 4 && npy->w <= PIXEL_MOST && npy->c >= SIDE_LEAST && npy->h >= SIDE_LEAST)
		warn(path, "is read as %zu channels of %zu x %zu pixels: of more than four "
		    "channels NPY files have these first, as numpy.moveaxis(a, 2, 0)", npy->c,
		    npy->w, npy->h);
}

static int
parse_header(struct loader *loader, const char *text, struct npy *npy)
{
	const char *order = value_of(text, "fortran_order"), *shape = value_of(text, "shape");

	if (parse_type(loader->path, value_of(text, "descr"), npy) < 0)
		return -1;
	if (!order || (strncmp(order, "True", 4) && strncmp(order, "False", 5)))
		return fail(loader->path, "NPY header does not say its fortran_order");
	npy->fortran = *order == 'T';
	if (parse_shape(loader->path, shape, npy) < 0 || plan_axes(loader->path, shape, npy) < 0)
		return -1;
	return samples_check_claim(loader->path, image_bytes_left(loader), npy->w, npy->h,
	    npy->frames * npy->c, 8 * samples_element_size(npy->element), 1);
}

/* The header. */
static int
read_shape(struct loader *loader, struct npy *npy)
{
	char *text = read_header(loader);
	int status = text ? parse_header(loader, text, npy) : -1;

	free(text);
	return status;
}

/* Of all rows the columns from x on: what lies column by column stays in the cache. */
static void
place_columns(const struct npy *npy, const char *all, struct frame *frame, size_t c, size_t x)
{
	const size_t n = npy->w - x < COLUMNS ? npy->w - x : COLUMNS;
	const size_t size = samples_element_size(npy->element);
	const size_t sample = sample_size(frame->head.type);

	for (size_t y = 0; y < npy->h; y++)
		samples_convert(npy->element, npy->swap, all + size *
		    (c * npy->step_c + y * npy->step_y + x * npy->step_x), npy->step_x * size,
		    (char *)frame_row(frame, c, y) + x * sample, n);
}

static int
read_samples(struct loader *loader, const struct npy *npy, struct frame *frame)
{
	size_t size = samples_element_size(npy->element), n = npy->w * npy->h * npy->c * size;
	void *all;
	struct pixel_store *store = pixel_store_scratch(n, &all);
	int status;

	if (!store)
		return fail(loader->path, "out of memory for %zu bytes of samples", n);
	status = samples_read(loader->path, loader->file, all, n);
	for (size_t c = 0; c < npy->c && status == 0; c++)
		for (size_t x = 0; x < npy->w; x += COLUMNS)
			place_columns(npy, all, frame, c, x);
	pixel_store_drop(store);
	if (status == 0 && loader->frames + 1 == npy->frames)
		samples_warn_rest(loader->path, samples_bytes_left(loader->file));
	return status;
}

static int
npy_load(struct loader *loader, struct frame **out)
{
	struct npy *npy = loader->state;
	int status;

	*out = NULL;
	if (!npy) {
		npy = loader->state = must_alloc(1, sizeof(*npy));
		if (read_shape(loader, npy) < 0)
			return -1;
	}
	if (loader->frames == npy->frames)
		return 0;
	status = frame_new_named(npy->w, npy->h, npy->c, samples_of_element(npy->element), NULL,
	    out);
	if (status == 0)
		status = read_samples(loader, npy, *out);
	if (status < 0) {
		frame_replace(out, NULL);
		return -1;
	}
	if (loader->frames == 0)
		warn_pixels(loader->path, &(*out)->head);
	return 1;
}

static void
npy_load_end(struct loader *loader)
{
	free(loader->state);
	loader->state = NULL;
}

/* Where rows follow one another as they do in a frame, or else as pixels of all channels. */
static int
read_rows_head(struct loader *loader, struct frame_head *head, struct whole_file_image *image)
{
	struct npy npy = { 0 };

	if (read_shape(loader, &npy) < 0 || npy.frames > 1 ||
	    head_init(head, npy.w, npy.h, npy.c, samples_of_element(npy.element)) < 0)
		return -1;
	image->element = npy.element;
	image->swap = npy.swap;
	image->interleaved = npy.step_x != 1 || npy.step_y != npy.w ||
	    (npy.c > 1 && npy.step_c != npy.w * npy.h);
	return !image->interleaved || (npy.step_c == 1 && npy.step_x == npy.c &&
	    npy.step_y == npy.w * npy.c) ? 0 : -1;
}

static int
npy_load_whole(const struct whole_file *file, struct frame **out)
{
	if (!image_read_whole(file, read_rows_head, out))
		return 0;
	warn_pixels(file->path, &(*out)->head);
	return 1;
}

#define HEADER_BYTES 192	/* a multiple of 64, with room for four axes of any length */

/* Version 1.0. */
static void
put_header(const struct frame_head *head, size_t frames, char header[HEADER_BYTES])
{
	static const char type[][4] = { "|u1", "<u2", "<f4" };
	static const char start[10] = "\x93NUMPY\1";
	char *text = mempcpy(header, start, sizeof(start)), more[64] = "";
	const int room = HEADER_BYTES - (int)sizeof(start);
	int n;

	if (frames > 1)
		snprintf(more, sizeof(more), "%zu, %zu, ", frames, head->c);
	else if (head->c > 1)
		snprintf(more, sizeof(more), "%zu, ", head->c);
	n = snprintf(text, (size_t)room, "{'descr': '%s', 'fortran_order': False, 'shape': "
	    "(%s%zu, %zu), }", type[head->type], more, head->h, head->w);
	memset(text + n, ' ', (size_t)(room - n));
	text[room - 1] = '\n';
	header[8] = (char)room;
}

/* Is the frame like the first one, whose head this is? */
static bool
continues(const struct frame_head *first, const struct frame_head *next)
{
	return first->w == next->w && first->h == next->h && first->c == next->c &&
	    first->type == next->type;
}

static int
npy_save(struct saver *saver, const struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t shape[3] = { head->c, head->h, head->w };
	struct frame_head *first = saver->state;
	char header[HEADER_BYTES];

	if (head->c > 1 && channels_last(shape))
		return fail(saver->path, "NPY of %zu channels, %zu x %zu, would be taken for %zu "
		    "channels (use an NRRD file)", shape[0], shape[2], shape[1], shape[2]);
	if (first && !continues(first, head))
		return fail(saver->path, "NPY holds frames of one size and type, and another one "
		    "came (%%04d in the name numbers the files, and a .nrrd file holds all)");
	if (!first) {
		first = saver->state = must_alloc(1, sizeof(*first));
		*first = (struct frame_head){ .w = head->w, .h = head->h, .c = head->c,
			.type = head->type };
		put_header(first, 1, header);
	}
	return samples_write_planes(saver->path, saver->file, header,
	    saver->frames ? 0 : HEADER_BYTES, frame, 0, head->c);
}

/* Of several frames the header has their number. */
static int
npy_save_end(struct saver *saver)
{
	char header[HEADER_BYTES];
	int status = 0;

	if (saver->frames > 1) {
		put_header(saver->state, saver->frames, header);
		if (fseeko(saver->file, 0, SEEK_SET) < 0 ||
		    fwrite(header, 1, HEADER_BYTES, saver->file) != HEADER_BYTES)
			status = fail_errno(saver->path, "cannot be written");
	}
	free(saver->state);
	saver->state = NULL;
	return status;
}

const struct codec codec_npy = {
	.name = "NPY",
	.suffixes = "npy",
	.many = true,
	.sniff = npy_sniff,
	.load = npy_load,
	.load_end = npy_load_end,
	.load_whole = npy_load_whole,
	.save = npy_save,
	.save_end = npy_save_end,
	.large_writes = true
};
