/* A camera that a command takes pictures with, each into a file: gphoto2, libcamera-still. */
#include "camera/camera.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process.h"
#include "io/safe_file.h"
#include "io/source.h"

extern char **environ;

struct command {
	char *command, *folder, *file;
};

static _Atomic(struct command *) to_clean;	/* whose folder a signal removes */

static void
remove_folder(void)
{
	struct command *own = atomic_load(&to_clean);

	if (own) {
		unlink(own->file);
		rmdir(own->folder);
	}
}

int
camera_command_run(const char *command, const char *mark, const char *argument)
{
	char *copy = must_strdup(command), *rest = copy, *word;
	char **words = NULL;
	size_t n = 0;
	int status, error;
	pid_t child;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t usual;

	while ((word = strtok_r(rest, " \t", &rest))) {
		words = must_resize(words, n + 2, sizeof(*words));
		words[n++] = strcmp(word, mark) ? word : (char *)argument;
		words[n] = NULL;
	}
	/* its words go where messages go: standard output may be a stream of frames */
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, 2, 1);
	/* which this process ignores (screen_poll()) */
	posix_spawnattr_init(&attributes);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	error = n ? posix_spawnp(&child, words[0], &files, &attributes, words, environ) : EINVAL;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	free(words);
	free(copy);
	errno = error;
	if (error)
		return fail_errno(command, "cannot be run");
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return fail_errno(command, "cannot be waited for");
	if (WIFSIGNALED(status))
		return fail(command, "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status) ? fail(command, "exit status %d", WEXITSTATUS(status)) : 0;
}

static int
command_trigger(struct camera *camera)
{
	struct command *own = camera->own;

	unlink(own->file);
	return camera_command_run(own->command, "%s", own->file);
}

static int
command_take(struct camera *camera, double timeout_s, struct frame **out)
{
	static const double full[] = { 255, 65535, 1 };
	struct command *own = camera->own;
	struct frame *picture, *described;
	size_t first = 0;
	int status;

	(void)timeout_s;
	if (source_load(own->file, &picture) < 0) {
		fail_prefix(own->command);
		return -1;
	}
	if (picture->head.type == SAMPLE_FLOAT ||
	    (picture->head.c != 1 && !head_is_colour(&picture->head))) {
		frame_free(picture);
		return fail(own->command, "gives %s: want one of 8 or 16 bits, grey or in colour",
		    picture->head.type == SAMPLE_FLOAT ? "floats" : "no picture");
	}
	if (camera->number && (camera->w != picture->head.w || camera->h != picture->head.h ||
	    camera->type != picture->head.type)) {
		fail(own->command, "gives %zux%zu %s after %zux%zu %s", picture->head.w,
		    picture->head.h, sample_name(picture->head.type), camera->w, camera->h,
		    sample_name(camera->type));
		frame_free(picture);
		return -1;
	}
	/* of colours green: projector and camera have most light there */
	first = picture->head.c > 1 ? 1 : 0;
	camera->w = picture->head.w;
	camera->h = picture->head.h;
	camera->type = picture->head.type;
	camera->number++;
	status = meta_number(&picture->head.meta, "max_value", full[camera->type],
	    &camera->max_value);
	if (status == 0)
		status = camera_frame(camera, camera_time_s(), &described);
	if (status == 0) {
		for (size_t y = 0; y < camera->h; y++)
			memcpy(frame_row(described, 0, y), frame_row(picture, first, y),
			    camera->w * sample_size(camera->type));
		*out = described;
	}
	frame_free(picture);
	return status < 0 ? -1 : 1;
}

static void
command_close(struct camera *camera)
{
	struct command *own = camera->own;

	if (!own)
		return;
	remove_folder();
	atomic_store(&to_clean, NULL);
	free(own->file);
	free(own->folder);
	free(own->command);
	free(own);
	camera->own = NULL;
}

int
camera_command_open(struct camera *camera, const char *command)
{
	struct command *own = must_alloc(1, sizeof(*own));
	const char *at = strstr(command, "%s");

	*camera = (struct camera){ .exposure_s = NAN, .triggered = true, .own = own,
		.trigger = command_trigger, .take = command_take, .close = command_close };
	snprintf(camera->name, sizeof(camera->name), "%.*s", (int)strcspn(command, " "), command);
	own->command = must_strdup(command);
	own->folder = must_format("%s/fringegrab-XXXXXX", scratch_folder());
	own->file = must_format("%s", "");
	if (!at || (at > command && at[-1] != ' ') || (at[2] && at[2] != ' ')) {
		command_close(camera);
		return fail_usage("--grab", "'%s' lacks the word %%s, the file to write", command);
	}
	if (!mkdtemp(own->folder)) {
		fail_errno(own->folder, "cannot be made");
		command_close(camera);
		return -1;
	}
	free(own->file);
	own->file = must_format("%s/picture", own->folder);
	atomic_store(&to_clean, own);
	ending_signals_watch(remove_folder);
	return 0;
}
