/* Sources and targets, whatever the format: tests/unit/test_image_codecs.c has the formats. */
#define _GNU_SOURCE
#include "frames.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/safe_file.h"
#include "io/source.h"
#include "io/target.h"

/* ---- helpers: every test runs in a new, empty folder ---- */

static int
enter_folder(void **state)
{
	char *folder = strdup("/tmp/test_codec.XXXXXX");

	*state = folder;
	umask(022);
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int
leave_folder(void **state)
{
	char *command;
	int status = chdir("/");

	if (asprintf(&command, "rm -rf '%s'", (char *)*state) < 0)
		return -1;
	status |= system(command);
	free(command);
	free(*state);
	return status;
}

static void
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void
assert_text(const char *path, const char *expected)
{
	char text[64] = "";
	FILE *file = fopen(path, "rb");

	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) < sizeof(text));
	fclose(file);
	assert_string_equal(text, expected);
}

/* The names in the folder, also hidden ones, in order, blank-separated. */
static void
assert_folder(const char *path, const char *expected)
{
	struct dirent **entry;
	int n = scandir(path, &entry, NULL, alphasort);
	char text[1024] = "";

	assert_true(n >= 2);
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;

		if (strcmp(name, ".") && strcmp(name, "..")) {
			strcat(text, *text ? " " : "");
			strcat(text, name);
		}
		free(entry[i]);
	}
	free(entry);
	assert_string_equal(text, expected);
}

static struct frame *
grey(unsigned seed)
{
	return frame_made(5, 7, 1, SAMPLE_UCHAR, seed);
}

/* One frame into one file. */
static int
save_frame(const char *path, const struct frame *frame)
{
	struct target *target = target_open(path, true, NULL);
	int status;

	if (!target)
		return -1;
	status = target_put(target, frame);
	return target_close(target, status == 0) < 0 ? -1 : status;
}

static void
save(const char *path, struct frame *frame)
{
	int status = save_frame(path, frame);

	if (status < 0)
		fail_print();
	assert_int_equal(status, 0);
	frame_free(frame);
}

static void
assert_pixels(const struct frame *frame, unsigned seed)
{
	struct frame *expected = frame_made(frame->head.w, frame->head.h, frame->head.c,
	    frame->head.type, seed);

	for (size_t c = 0; c < frame->head.c; c++)
		for (size_t y = 0; y < frame->head.h; y++)
			assert_memory_equal(frame_row(frame, c, y), frame_row(expected, c, y),
			    frame->head.w * sample_size(frame->head.type));
	frame_free(expected);
}

/* The next frame must be the one made from this seed. */
static void
assert_next(struct source *source, unsigned seed)
{
	struct frame *frame;
	int status = source_next(source, &frame);

	if (status < 0)
		fail_print();
	assert_int_equal(status, 1);
	assert_pixels(frame, seed);
	frame_free(frame);
}

static void
assert_end(struct source *source)
{
	struct frame *frame;

	assert_int_equal(source_next(source, &frame), 0);
	assert_null(frame);
	assert_int_equal(source_next(source, &frame), 0);
	assert_null(fail_message());
	source_close(source);
}

static void
assert_file(const char *path, unsigned seed)
{
	struct frame *frame;
	int status = source_load(path, &frame);

	if (status < 0)
		fail_print();
	assert_int_equal(status, 0);
	assert_pixels(frame, seed);
	frame_free(frame);
}

/* Puts another file in the place of descriptor fd; give what it returns to fd_restore. */
static int
fd_replace(int fd, int by)
{
	int kept = dup(fd);

	assert_true(kept >= 0 && by >= 0);
	assert_int_equal(dup2(by, fd), fd);
	close(by);
	return kept;
}

static void
fd_restore(int fd, int kept)
{
	dup2(kept, fd);
	close(kept);
}

/* A pipe into which a child writes a file: its first bytes one by one. The end to read. */
static int
pipe_from(const char *path, size_t singly)
{
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	if (fork() == 0) {
		FILE *file = fopen(path, "rb");
		int byte;

		while (file && (byte = getc(file)) != EOF) {
			char c = (char)byte;

			if (write(fd[1], &c, 1) != 1)
				break;
			if (singly && singly--)
				usleep(100);
		}
		_exit(0);
	}
	close(fd[1]);
	return fd[0];
}

/* ---- names and text ---- */

static void
suffixes(void **state)
{
	(void)state;
	assert_string_equal(codec_by_suffix("a.nrrd")->name, "NRRD");
	assert_string_equal(codec_by_suffix("d.png/a.b.NRRD")->name, "NRRD");
	assert_ptr_equal(codec_by_suffix("a.tif"), codec_by_suffix("a.TIFF"));
	assert_null(codec_by_suffix("a"));
	assert_null(codec_by_suffix("d.nrrd/a"));
	assert_null(codec_by_suffix(".nrrd"));
	assert_null(codec_by_suffix("a."));
	assert_null(codec_by_suffix("a.nrr"));
	assert_null(codec_by_suffix("a.nrrdx"));
	assert_null(fail_message());
}

static void
head_as_text(void **state)
{
	struct frame *frame = frame_made(1, 1, 2, SAMPLE_FLOAT, 1);
	struct frame_head back;
	char *text;

	(void)state;
	head_set_channels(&frame->head, "phase1 modulation");
	frame->head.spacing[1] = 0.1;
	strcpy(frame->head.unit, "mm");
	meta_set(&frame->head.meta, "period_px", "60 66");
	meta_set(&frame->head.meta, "back", "a\\nb");
	text = head_to_text(&frame->head);
	assert_string_equal(text, "spacing:=nan 0.1\nunit:=mm\nchannels:=phase1 modulation\n"
	    "period_px:=60 66\nback:=a\\\\nb\n");
	assert_int_equal(head_init(&back, 1, 1, 2, SAMPLE_FLOAT), 0);
	assert_int_equal(head_from_text(&back, text, strlen(text)), 0);
	assert_heads_equal(&back, &frame->head);
	head_free(&back);
	free(text);
	frame_free(frame);
}

static void
head_from_foreign_text(void **state)
{
	static const char text[] = "Created with GIMP\r\nkey:=value\r\n:=\n\nchannels:=a b c\n"
	    "spacing:=1 2 3\nspacing:=x\nurl:=http: //x\nb=c: d\nlast:=ignored";
	struct frame_head head;

	(void)state;
	assert_int_equal(head_init(&head, 1, 1, 1, SAMPLE_UCHAR), 0);
	assert_int_equal(head_from_text(&head, text, strlen(text) - 7), 0);
	assert_string_equal(head.channel[0], "image");
	assert_true(isnan(head.spacing[0]));
	assert_int_equal(head.meta.n, 3);
	assert_string_equal(meta_get(&head.meta, "key"), "value");
	assert_string_equal(meta_get(&head.meta, "url"), "http://x");
	assert_string_equal(meta_get(&head.meta, "last"), "");
	head_free(&head);
}

/* ---- sources ---- */

static void
source_errors(void **state)
{
	struct frame *frame;

	(void)state;
	write_text("empty.nrrd", "");
	write_text("text.nrrd", "Hi");
	mkdir("folder", 0777);
	write_text("folder/notes.txt", "no image");
	write_text("folder/.hidden.nrrd", "NRRD0004\n");
	mkdir("folder/sub.nrrd", 0777);
	assert_null(source_open("absent.nrrd"));
	assert_failed("absent.nrrd: cannot be opened: No such file or directory");
	assert_null(source_open("empty.nrrd"));
	assert_failed("empty.nrrd: is empty");
	assert_null(source_open("/dev/null"));
	assert_failed("/dev/null: is empty");
	assert_null(source_open("text.nrrd"));
	assert_failed("text.nrrd: not a known image format, starts with 0x48 0x69");
	assert_null(source_open("folder"));
	assert_failed("folder: folder holds no images");
	assert_int_equal(source_load("text.nrrd", &frame), -1);
	assert_null(frame);
	fail_clear();
}

static void
frames_in_one_file(void **state)
{
	struct target *target = target_open("a.nrrd", false, NULL);
	struct source *source;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct frame *frame = frame_made(129, 65, i + 1, SAMPLE_FLOAT, i);

		assert_int_equal(target_put(target, frame), 0);
		frame_free(frame);
	}
	assert_int_equal(target_close(target, true), 0);
	source = source_open("a.nrrd");
	assert_non_null(source);
	for (unsigned i = 0; i < 3; i++)
		assert_next(source, i);
	assert_end(source);
	assert_file("a.nrrd", 0);
}

static void
folder_in_natural_order(void **state)
{
	static const char *const names[] = {
		"img0.nrrd", "img1.nrrd", "img1a.nrrd", "img001b.nrrd", "img9.nrrd", "img10.png",
		"img010.nrrd", "img10-2.tif", "img11", "jmg.nrrd",
	};
	/* "-" stands before "." and "." before letters; the same number: as bytes, zeros first */
	static const unsigned order[] = { 0, 1, 2, 3, 4, 7, 6, 5, 8, 9 };
	struct source *source;
	size_t n = sizeof(names) / sizeof(*names);

	(void)state;
	mkdir("f", 0777);
	for (size_t i = 0; i < n; i++) {
		char path[64];

		snprintf(
		    path, sizeof(path), "f/%s%s", names[i], strchr(names[i], '.') ? "" : ".nrrd");
		save(path, grey((unsigned)i));
	}
	rename("f/img11.nrrd", "f/img11");	/* known by its content */
	write_text("f/notes.txt", "no image");
	write_text("f/.hidden.nrrd", "no image");
	source = source_open("f/");
	assert_non_null(source);
	for (size_t i = 0; i < n; i++)
		assert_next(source, order[i]);
	assert_end(source);
}

/* A damaged capture in a folder must not be passed over in silence. */
/* The end of a file that is cut is none, even where it lies behind a whole frame. */
static void
cut_while_read(void **state)
{
	struct source *source;
	struct frame *frame;

	(void)state;
	save("a.nrrd", grey(1));
	assert_int_equal(system("cat a.nrrd a.nrrd a.nrrd > b.nrrd"), 0);
	source = source_open("b.nrrd");
	assert_next(source, 1);
	assert_next(source, 1);
	assert_next(source, 1);
	assert_int_equal(truncate("b.nrrd", 100), 0);
	assert_int_equal(source_next(source, &frame), -1);
	assert_failed("b.nrrd: has become shorter while it was read");
	source_close(source);
}

static void
folder_with_damage(void **state)
{
	struct source *source;
	struct frame *frame;

	(void)state;
	mkdir("f", 0777);
	save("f/1.nrrd", grey(1));
	write_text("f/2.nrrd", "");
	source = source_open("f");
	assert_next(source, 1);
	assert_int_equal(source_next(source, &frame), -1);
	assert_failed("f/2.nrrd: is empty");
	source_close(source);
}

/* Also files that need seeking, and a start that comes byte by byte. */
static void
standard_input_is_a_pipe(void **state)
{
	static const char *const names[] = { "a.nrrd", "a.png", "a.tif" };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t singly = 0; singly < 200; singly += 199) {
			struct source *source;
			int kept;

			save(names[i], frame_made(129, 65, 1, SAMPLE_USHORT, 1));
			kept = fd_replace(0, pipe_from(names[i], singly));
			source = source_open("-");
			assert_non_null(source);
			assert_next(source, 1);
			assert_end(source);
			fd_restore(0, kept);
			wait(NULL);
		}
}

static void
standard_input_is_a_file(void **state)
{
	struct source *source;
	int kept;

	(void)state;
	save("a.png", grey(1));
	kept = fd_replace(0, open("a.png", O_RDONLY));
	source = source_open("-");
	assert_non_null(source);
	assert_next(source, 1);
	assert_end(source);
	fd_restore(0, kept);
	kept = fd_replace(0, open("/dev/null", O_RDONLY));
	assert_null(source_open("-"));
	assert_failed("standard input: is empty");
	fd_restore(0, kept);
}

static void
a_stream_cut_short(void **state)
{
	struct source *source;
	struct frame *frame;
	int kept;

	(void)state;
	save("a.nrrd", grey(1));
	assert_int_equal(system("cat a.nrrd a.nrrd | head -c -1 > b.nrrd"), 0);
	kept = fd_replace(0, pipe_from("b.nrrd", 0));
	source = source_open("-");
	assert_next(source, 1);
	assert_int_equal(source_next(source, &frame), -1);
	assert_failed("standard input: truncated: expected 35 bytes, got 34");
	source_close(source);
	fd_restore(0, kept);
	wait(NULL);
}

/* ---- targets ---- */

static void
files_appear_when_complete(void **state)
{
	struct frame *frame = grey(1);
	struct target *target;
	struct stat st;

	(void)state;
	target = target_open("a.nrrd", false, NULL);
	assert_int_equal(target_put(target, frame), 0);
	assert_int_equal(access("a.nrrd", F_OK), -1);
	assert_int_equal(target_close(target, true), 0);
	assert_folder(".", "a.nrrd");
	assert_int_equal(stat("a.nrrd", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);

	write_text("b.nrrd", "old");
	chmod("b.nrrd", 0640);
	target = target_open("b.nrrd", false, NULL);
	assert_int_equal(target_put(target, frame), 0);
	assert_int_equal(target_close(target, false), 0);
	assert_text("b.nrrd", "old");
	target = target_open("b.nrrd", false, NULL);
	assert_int_equal(target_close(target, true), 0);	/* no frame at all */
	assert_text("b.nrrd", "old");
	save("b.nrrd", frame);
	assert_file("b.nrrd", 1);
	assert_int_equal(stat("b.nrrd", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_folder(".", "a.nrrd b.nrrd");
}

static void
over_its_own_input(void **state)
{
	struct source *source;
	struct target *target;
	struct frame *frame;

	(void)state;
	save("a.nrrd", frame_made(129, 65, 3, SAMPLE_FLOAT, 1));
	assert_int_equal(symlink("a.nrrd", "link.nrrd"), 0);
	source = source_open("link.nrrd");
	target = target_open("link.nrrd", false, NULL);
	assert_int_equal(source_next(source, &frame), 1);
	assert_int_equal(target_put(target, frame), 0);
	frame_free(frame);
	assert_int_equal(target_close(target, true), 0);
	assert_end(source);
	assert_file("a.nrrd", 1);
	assert_folder(".", "a.nrrd link.nrrd");
	assert_int_equal(readlink("link.nrrd", (char[64]){ 0 }, 64), 6);
}

static void
numbered_files(void **state)
{
	struct target *target = target_open("50%%_%03d.png", false, NULL);

	(void)state;
	assert_non_null(target);
	for (unsigned i = 0; i < 3; i++) {
		struct frame *frame = grey(i);

		assert_int_equal(target_put(target, frame), 0);
		frame_free(frame);
	}
	assert_folder(".", "50%_000.png 50%_001.png 50%_002.png");
	assert_int_equal(target_close(target, true), 0);
	assert_file("50%_002.png", 2);
	save("n%d.nrrd", grey(7));
	assert_file("n0.nrrd", 7);
}

static void
a_second_frame_into_one_image(void **state)
{
	struct frame *frame = grey(1);
	struct target *target;

	(void)state;
	write_text("a.png", "old");
	target = target_open("a.png", false, NULL);
	assert_int_equal(target_put(target, frame), 0);
	assert_int_equal(target_put(target, frame), -1);
	assert_failed("a.png: PNG holds one frame, and a second one came; %04d in the name numbers "
	    "the files, and a .nrrd file holds all");
	target_close(target, true);
	assert_text("a.png", "old");
	assert_folder(".", "a.png");
	frame_free(frame);
}

static void
refused_names(void **state)
{
	static const struct {
		const char *path;
		enum exit_code code;
		const char *message;
	} cases[] = {
		{ "", EXIT_USAGE, "name of the output is empty" },
		{ "a%s.nrrd", EXIT_USAGE,
		    "a%s.nrrd: only %d or %04d can number files; %% is a percent sign" },
		{ "a%.nrrd", EXIT_USAGE,
		    "a%.nrrd: only %d or %04d can number files; %% is a percent sign" },
		{ "a%0999999d.nrrd", EXIT_USAGE,
		    "a%0999999d.nrrd: only %d or %04d can number files; %% is a percent sign" },
		{ "%d%d.nrrd", EXIT_USAGE, "%d%d.nrrd: 2 numbers in the name, where one can be" },
		{ "no/a.nrrd", EXIT_FAILED,
		    "no/a.nrrd: cannot be created: No such file or directory" },
		{ "no/%d.nrrd", EXIT_FAILED,
		    "no/%d.nrrd: cannot be created: No such file or directory" },
		{ "no/no/", EXIT_FAILED,
		    "no/no: folder cannot be created: No such file or directory" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_null(target_open(cases[i].path, false, NULL));
		assert_int_equal(fail_code(), cases[i].code);
		assert_failed(cases[i].message);
	}
	assert_null(target_open("a.xyw", false, NULL));
	assert_int_equal(fail_code(), EXIT_USAGE);
	assert_non_null(strstr(fail_message(), "a.xyw: suffix tells no image format; known are "));
	fail_clear();
	assert_folder(".", "");
}

static void
into_a_folder(void **state)
{
	static const char *const names[] = { "left.png", "left", "../x", NULL, ".h" };
	struct target *target = target_open("out/", false, NULL);
	struct frame *frame;

	(void)state;
	assert_non_null(target);
	for (unsigned i = 0; i < 5; i++) {
		frame = grey(i);

		if (names[i])
			meta_set(&frame->head.meta, "name", names[i]);
		assert_int_equal(target_put(target, frame), 0);
		frame_free(frame);
	}
	assert_int_equal(target_close(target, true), 0);
	assert_folder("out", "0003.png 0004.png left-0001.png left.png x.png");
	assert_file("out/left-0001.png", 1);
	assert_null(target_open("out", false, NULL));
	assert_int_equal(fail_code(), EXIT_USAGE);
	assert_failed("out: folder is not empty; -f writes into it");
	target = target_open("out", true, NULL);
	frame = frame_made(5, 7, 3, SAMPLE_FLOAT, 9);
	assert_int_equal(target_put(target, frame), 0);
	frame_free(frame);
	assert_int_equal(target_close(target, true), 0);
	assert_file("out/0000.tif", 9);
}

static void
files_that_are_none(void **state)
{
	struct frame *frame = frame_made(129, 65, 1, SAMPLE_USHORT, 1), *back;
	struct target *target;
	int fd;

	(void)state;
	assert_int_equal(save_frame("/dev/null", frame), 0);
	assert_int_equal(save_frame("/dev/full", frame), -1);
	assert_failed("/dev/full: cannot be written: No space left on device");
	assert_int_equal(mkfifo("f.nrrd", 0666), 0);
	fd = open("f.nrrd", O_RDONLY | O_NONBLOCK);
	target = target_open("f.nrrd", false, NULL);
	assert_non_null(target);
	assert_int_equal(target_put(target, frame), 0);
	assert_int_equal(target_close(target, true), 0);
	assert_folder(".", "f.nrrd");
	fd = fd_replace(0, fd);
	assert_int_equal(source_load("-", &back), 0);
	assert_frames_equal(back, frame);
	frame_free(back);
	fd_restore(0, fd);
	/* a format that seeks is spooled */
	assert_int_equal(mkfifo("f.tif", 0666), 0);
	fd = open("f.tif", O_RDONLY | O_NONBLOCK);
	assert_int_equal(save_frame("f.tif", frame), 0);
	fd = fd_replace(0, fd);
	assert_int_equal(source_load("-", &back), 0);
	assert_pixels(back, 1);
	frame_free(back);
	fd_restore(0, fd);
	frame_free(frame);
}

static void
standard_output(void **state)
{
	struct frame *frame = frame_made(129, 65, 2, SAMPLE_FLOAT, 1);
	struct target *target;
	int kept;

	(void)state;
	fflush(stdout);
	kept = fd_replace(1, open("out.nrrd", O_WRONLY | O_CREAT, 0666));
	target = target_open(NULL, false, NULL);
	assert_int_equal(target_put(target, frame), 0);
	assert_int_equal(target_put(target, frame), 0);
	assert_int_equal(target_close(target, true), 0);
	fd_restore(1, kept);
	assert_file("out.nrrd", 1);

	kept = fd_replace(1, open("/dev/full", O_WRONLY));
	target = target_open("-", false, NULL);
	assert_int_equal(target_put(target, frame), -1);
	assert_failed("standard output: cannot be written: No space left on device");
	assert_int_equal(target_close(target, true), -1);
	fail_clear();
	__fpurge(stdout);
	clearerr(stdout);
	fd_restore(1, kept);
	frame_free(frame);
}

static void
files_of_a_tool(void **state)
{
	struct safe_file *temporary;
	FILE *file;

	(void)state;
	file = safe_file_open("a.txt", &temporary);
	assert_non_null(file);
	fputs("new", file);
	assert_int_equal(access("a.txt", F_OK), -1);
	assert_int_equal(safe_file_close(file, "a.txt", temporary, true), 0);
	assert_text("a.txt", "new");
	file = safe_file_open("a.txt", &temporary);
	fputs("newer", file);
	assert_int_equal(safe_file_close(file, "a.txt", temporary, false), 0);
	assert_text("a.txt", "new");
	assert_folder(".", "a.txt");
	assert_null(safe_file_open("no/a.txt", &temporary));
	assert_failed("no/a.txt: cannot be created: No such file or directory");
	file = safe_file_open("/dev/full", &temporary);
	assert_non_null(file);
	fputs("x", file);
	assert_int_equal(safe_file_close(file, "/dev/full", temporary, true), -1);
	assert_failed("/dev/full: cannot be written: No space left on device");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suffixes),
		cmocka_unit_test(head_as_text),
		cmocka_unit_test(head_from_foreign_text),
		IN_FOLDER(source_errors),
		IN_FOLDER(frames_in_one_file),
		IN_FOLDER(folder_in_natural_order),
		IN_FOLDER(cut_while_read),
		IN_FOLDER(folder_with_damage),
		IN_FOLDER(standard_input_is_a_pipe),
		IN_FOLDER(standard_input_is_a_file),
		IN_FOLDER(a_stream_cut_short),
		IN_FOLDER(files_appear_when_complete),
		IN_FOLDER(over_its_own_input),
		IN_FOLDER(numbered_files),
		IN_FOLDER(a_second_frame_into_one_image),
		IN_FOLDER(refused_names),
		IN_FOLDER(into_a_folder),
		IN_FOLDER(files_that_are_none),
		IN_FOLDER(standard_output),
		IN_FOLDER(files_of_a_tool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
