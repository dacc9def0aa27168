/* Key := value metadata: entries shared by copies, lists, and gathering frames into one. */
#include "frame/meta.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "base/process.h"
#include "base/text.h"

/* Entries are shared by copies until one of them changes. */
struct entries {
	atomic_size_t users;
	size_t room;
	char *text;			/* in which keys and values may lie; NULL: none */
	size_t text_bytes;
	struct meta_entry entry[];
};

static struct entries *
entries_of(const struct meta *meta)
{
	return meta->entry ? (struct entries *)((char *)meta->entry -
	    offsetof(struct entries, entry)) : NULL;
}

/* An entry whose key and value share a block of memory, which begins with the key. */
static struct meta_entry
entry_new(const char *key, const char *value)
{
	const size_t name = strlen(key) + 1, n = strlen(value) + 1;
	char *text = must_alloc(name + n, 1);

	memcpy(text, key, name);
	memcpy(text + name, value, n);
	return (struct meta_entry){ text, text + name };
}

/* all: whose text the entries may lie in. */
static void
entries_free(const struct entries *all, struct meta_entry *entry, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((uintptr_t)entry[i].key - (uintptr_t)all->text >= all->text_bytes)
			free(entry[i].key);
}

/* Before a change: makes the entries unshared, with room for one more. */
static void
own(struct meta *meta)
{
	struct entries *old = entries_of(meta), *all;
	bool shared = old && atomic_load(&old->users) > 1;
	size_t room = meta->n + 16;

	if (old && !shared && meta->n < old->room)
		return;
	all = must_resize(shared ? NULL : old, 1, sizeof(*all) + room * sizeof(*all->entry));
	if (shared) {
		struct meta before = *meta;

		for (size_t i = 0; i < meta->n; i++)
			all->entry[i] = entry_new(meta->entry[i].key, meta->entry[i].value);
		meta_free(&before);
	}
	atomic_init(&all->users, 1);
	all->room = room;
	if (!old || shared) {
		all->text = NULL;
		all->text_bytes = 0;
	}
	meta->entry = all->entry;
}

static size_t
find(const struct meta *meta, const char *key)
{
	size_t i = 0;

	while (i < meta->n && (*meta->entry[i].key != *key || strcmp(meta->entry[i].key, key)))
		i++;
	return i;
}

const char *
meta_get(const struct meta *meta, const char *key)
{
	size_t i = find(meta, key);

	return i < meta->n ? meta->entry[i].value : NULL;
}

/* At place i, which is a new one or that of an entry with the same key. */
static void
put_entry(struct meta *meta, size_t i, struct meta_entry entry)
{
	own(meta);
	if (i < meta->n)
		entries_free(entries_of(meta), &meta->entry[i], 1);
	else
		meta->n++;
	meta->entry[i] = entry;
}

int
meta_set(struct meta *meta, const char *key, const char *value)
{
	const size_t i = find(meta, key);

	if (!*key || strpbrk(key, ":=\n\r") || strpbrk(value, "\n\r") || strstr(value, ": "))
		return fail(key, "value cannot be kept as metadata");
	if (i == meta->n || strcmp(meta->entry[i].value, value))
		put_entry(meta, i, entry_new(key, value));
	return 0;
}

void
meta_adopt(struct meta *meta, char *text, size_t bytes)
{
	struct entries *all;

	own(meta);
	all = entries_of(meta);
	all->text = text;
	all->text_bytes = bytes;
}

int
meta_put(struct meta *meta, char *key, char *value)
{
	if (meta->n == META_KEYS_MOST)
		return fail(key, "metadata have more than %d keys", META_KEYS_MOST);
	put_entry(meta, find(meta, key), (struct meta_entry){ key, value });
	return 0;
}

int
meta_setf(struct meta *meta, const char *key, const char *format, ...)
{
	char *text;
	va_list args;
	int status;

	va_start(args, format);
	text = must_vformat(format, args);
	va_end(args);
	status = meta_set(meta, key, text);
	free(text);
	return status;
}

int
meta_set_file_name(struct meta *meta, const char *path)
{
	const char *name = path_name(path), *dot = strrchr(name, '.');
	size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);

	for (size_t i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == ':')
			return 0;
	return length ? meta_setf(meta, "name", "%.*s", (int)length, name) : 0;
}

void
meta_set_number(struct meta *meta, const char *key, double v)
{
	meta_set_numbers(meta, key, &v, 1);
}

void
meta_set_numbers(struct meta *meta, const char *key, const double *v, size_t n)
{
	char *text = must_alloc(n + 1, 32), *end = text;

	for (size_t i = 0; i < n; i++) {
		char number[32];

		end = stpcpy(stpcpy(end, i ? " " : ""), number_format(v[i], number));
	}
	meta_set(meta, key, text);
	free(text);
}

void
meta_remove(struct meta *meta, const char *key)
{
	size_t i = find(meta, key);

	if (i == meta->n)
		return;
	own(meta);
	entries_free(entries_of(meta), &meta->entry[i], 1);
	meta->n--;
	memmove(meta->entry + i, meta->entry + i + 1, (meta->n - i) * sizeof(*meta->entry));
}

int
meta_number(const struct meta *meta, const char *key, double otherwise, double *out)
{
	const char *value = meta_get(meta, key);

	*out = otherwise;
	if (value && number_parse(value, out) < 0)
		return fail(key, "is not a number: %.60s", value);
	return 0;
}

int
meta_numbers(const struct meta *meta, const char *key, struct numbers *out)
{
	const char *value = meta_get(meta, key);

	out->n = 0;
	out->v = NULL;
	if (value && numbers_parse(value, " ", out) < 0)
		return fail(key, "is not a list of numbers: %.60s", value);
	return 0;
}

int
meta_mean(const struct meta *meta, const char *key, double *mean)
{
	struct numbers numbers;
	double sum = 0;

	if (meta_numbers(meta, key, &numbers) < 0)
		return -1;
	for (size_t i = 0; i < numbers.n; i++)
		sum += numbers.v[i];
	*mean = numbers.n ? sum / (double)numbers.n : NAN;
	if (numbers.n && !isfinite(*mean))
		*mean = INFINITY;
	numbers_free(&numbers);
	return 0;
}

size_t
meta_words(const char *value)
{
	size_t n = 0;

	for (const char *p = value + strspn(value, " "); *p; n++) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	return n;
}

bool
meta_word(const char *value, size_t i, char *word, size_t size)
{
	const char *p = value + strspn(value, " ");
	size_t length;

	for (; *p && i; i--) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	if (!*p)
		return false;
	length = strcspn(p, " ");
	*(char *)mempcpy(word, p, length < size ? length : size - 1) = '\0';
	return length < size;
}

void
meta_copy(struct meta *to, const struct meta *from)
{
	struct entries *all = entries_of(from);

	if (all)
		atomic_fetch_add(&all->users, 1);
	*to = *from;
}

bool
meta_equal(const struct meta *a, const struct meta *b)
{
	if (a->n != b->n)
		return false;
	if (a->entry == b->entry)
		return true;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->entry[i].key, b->entry[i].key) ||
		    strcmp(a->entry[i].value, b->entry[i].value))
			return false;
	return true;
}

void
meta_free(struct meta *meta)
{
	struct entries *all = entries_of(meta);

	if (all && atomic_fetch_sub(&all->users, 1) == 1) {
		entries_free(all, all->entry, meta->n);
		free(all->text);
		free(all);
	}
	*meta = (struct meta){ 0 };
}

/* Is the key cmd.N, of this number? */
static bool
is_command(const char *key, size_t number)
{
	size_t n = 0, digits = 0;

	if (*key != 'c' || strncmp(key, "cmd.", 4) || key[4] == '0')
		return false;
	for (const char *p = key + 4; *p >= '0' && *p <= '9' && digits < 10; p++, digits++)
		n = 10 * n + (size_t)(*p - '0');
	return n == number && !key[4 + digits];
}

/* The key cmd.N, for the least number that no other one has. */
static void
next_command(const struct meta *meta, char key[32])
{
	char digits[24], *first = digits + sizeof(digits);
	size_t n = 1;

	for (size_t i = 0; i < meta->n; i++)
		if (is_command(meta->entry[i].key, n)) {
			n++;
			i = (size_t)-1;		/* they may stand in any order */
		}
	*--first = '\0';
	for (; n; n /= 10)
		*--first = (char)('0' + n % 10);
	strcpy(stpcpy(key, "cmd."), first);
}

void
meta_append_command(struct meta *meta, const char *command)
{
	char key[32], *text, *out;

	next_command(meta, key);
	text = out = must_alloc(3, strlen(command) + 1);
	for (const char *p = command; *p; p++)
		if (escape_needed(p))
			out += sprintf(out, "%%%02X", (unsigned char)*p);
		else
			*out++ = *p;
	meta_set(meta, key, text);
	free(text);
}

/* Appends a word to a list, or several that are one already. Returns where it begins. */
static char *
append(char **list, const char *word)
{
	const size_t used = *list ? strlen(*list) : 0, n = strlen(word) + 1;
	char *end;

	*list = must_resize(*list, used + 1 + n, 1);
	end = *list + used;
	if (used)
		*end++ = ' ';
	return memcpy(end, word, n);
}

/* Keys whose values are lists of their own, not one word per channel. */
static bool
is_vector(const char *key)
{
	static const char *const vectors[] = { "origin_px", "projector_px", "ref_plane_rad",
		"colormap_range", "picture_px", "depth_range", "center_mm", "view_rotation",
		"rect_rotation", "board_size", "image_size_px", NULL };

	return word_find(vectors, key) >= 0 || !strncmp(key, "cmd.", 4) ||
	    !strncmp(key, "holo_", 5) || !strncmp(key, "depthcode_", 10);
}

/* Has the value one word for each of c channels? */
static bool
is_channel_list(const char *key, const char *value, size_t c)
{
	return c > 1 && !is_vector(key) && meta_words(value) == c;
}

static int
gather_key(struct meta *to, const char *key, const struct meta *const *meta, const size_t *planes,
    size_t n)
{
	const char *first = meta_get(meta[0], key);
	bool same = true, lists = n > 1;
	char *list = NULL;
	int status;

	for (size_t i = 1; i < n && same; i++) {
		const char *other = meta_get(meta[i], key);

		same = first && other && !strcmp(first, other);
	}
	for (size_t i = 0; i < n && same; i++)
		lists &= is_channel_list(key, first, planes[i]);
	if (!strncmp(key, "cmd.", 4))
		return first ? meta_set(to, key, first) : 0;
	if (same && !lists)
		return meta_set(to, key, first);
	for (size_t i = 0; i < n; i++) {
		const char *value = meta_get(meta[i], key);
		bool whole = value && is_channel_list(key, value, planes[i]);

		if (whole)
			append(&list, value);
		for (size_t k = 0; k < planes[i] && !whole; k++)
			/* a value with blanks inside cannot be a word of a list */
			for (char *p = append(&list, value && *value ? value : "-"); *p; p++)
				*p = *p == ' ' ? '_' : *p;
	}
	status = meta_set(to, key, list);
	free(list);
	return status;
}

int
meta_gather(struct meta *to, const struct meta *const *meta, const size_t *planes, size_t n)
{
	*to = (struct meta){ 0 };
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < meta[i]->n; k++) {
			const char *key = meta[i]->entry[k].key;

			if (find(to, key) == to->n && gather_key(to, key, meta, planes, n) < 0) {
				meta_free(to);
				return -1;
			}
		}
	return 0;
}

int
meta_pick(struct meta *meta, size_t c, const size_t *index, size_t n)
{
	own(meta);
	for (size_t i = 0; i < meta->n; i++) {
		struct meta_entry *entry = &meta->entry[i], picked;
		char word[256], *list = NULL;

		if (!is_channel_list(entry->key, entry->value, c))
			continue;
		for (size_t k = 0; k < n; k++) {
			if (!meta_word(entry->value, index[k], word, sizeof(word))) {
				free(list);
				return fail(entry->key, "list cannot be divided");
			}
			append(&list, word);
		}
		picked = entry_new(entry->key, list);
		free(list);
		entries_free(entries_of(meta), entry, 1);
		*entry = picked;
	}
	return 0;
}

int
meta_slice(struct meta *meta, size_t c, size_t first, size_t n)
{
	size_t *index = must_alloc(n, sizeof(*index));
	int status;

	for (size_t k = 0; k < n; k++)
		index[k] = first + k;
	status = meta_pick(meta, c, index, n);
	free(index);
	return status;
}
