/*
 * All in one (--poses): captures of a board under fringes, in folders POSE/CAMERA/, to the points
 * of cameras and projector. phasewrap and unwrap2f run as child processes.
 */
#include "fringecal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file_list.h"
#include "io/source.h"

/* ---- other tools of the toolchain as child processes ---- */

#define WORDS_MOST 100
#define CHILD_REASON 512

extern char **environ;

/* A file in memory, for what goes from tool to tool: its descriptor, or -1 after fail(). */
static int
child_memory(const char *name)
{
	int descriptor = memfd_create(name, MFD_CLOEXEC);

	return descriptor < 0 ? fail_errno(name, "no file in memory") : descriptor;
}

/* The path of a tool in this program's folder; if it is not there its name, to be looked up. The
 * caller frees it. */
static char *
find_tool(const char *name)
{
	char own[PATH_MAX], *slash, *path;
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n > 0 ? n : 0] = 0;
	slash = strrchr(own, '/');
	path = slash ? must_format("%.*s/%s", (int)(slash - own), own, name) : must_strdup(name);
	if (slash && access(path, X_OK) != 0) {
		free(path);
		path = must_strdup(name);
	}
	return path;
}

static int
spawn(char *const words[], int from, int to, int messages, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	char *path;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	path = find_tool(words[0]);
	if (from >= 0)
		error = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	else
		error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
		    O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
	if (!error)
		error = posix_spawnp(child, path, &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	free(path);
	return error;
}

/* What the tool printed goes to standard error. */
static void
print_messages(int messages)
{
	char text[4096];
	ssize_t n;

	if (lseek(messages, 0, SEEK_SET) < 0)
		return;
	while ((n = read(messages, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stderr);
}

/* The last line that the tool printed. */
static void
last_line(int messages, char reason[CHILD_REASON])
{
	off_t end = lseek(messages, 0, SEEK_END);
	off_t from = end > CHILD_REASON - 1 ? end - (CHILD_REASON - 1) : 0;
	ssize_t n = end > 0 ? pread(messages, reason, (size_t)(end - from), from) : 0;
	char *line;

	while (n > 0 && reason[n - 1] == '\n')
		n--;
	reason[n > 0 ? n : 0] = 0;
	line = strrchr(reason, '\n');
	if (line)
		memmove(reason, line + 1, strlen(line));
}

/*
 * Runs a tool with words[0] its name, ended by NULL, and waits for it. The tool is the one next to
 * this program, else that in PATH. Its standard input is the file `from` (-1: none), from its
 * beginning, its standard output the file `to`. 0, what it warned of printed unless `silent`; 1
 * where it fails, `reason` being the last line that it printed; -1 after fail(object, ...) where it
 * cannot be run.
 */
static int
child_run(const char *object, char *const words[], int from, int to, bool silent,
    char reason[CHILD_REASON])
{
	int error, status = 0, result = 0, messages;
	pid_t child, ended;

	reason[0] = 0;
	if ((from >= 0 && lseek(from, 0, SEEK_SET) < 0) || lseek(to, 0, SEEK_SET) < 0 ||
	    ftruncate(to, 0) < 0)
		return fail_errno(object, "cannot be read again");
	messages = child_memory("messages");
	if (messages < 0)
		return -1;
	error = spawn(words, from, to, messages, &child);
	if (error) {
		close(messages);
		errno = error;
		return fail_errno(object, "%s cannot be run", words[0]);
	}
	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0) {
		result = fail_errno(object, "%s is lost", words[0]);
	} else if (WIFSIGNALED(status)) {
		result = fail(object, "%s was ended by signal %d (%s)", words[0], WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	} else if (WEXITSTATUS(status) != 0) {
		last_line(messages, reason);
		result = 1;
	} else if (!silent) {
		print_messages(messages);
	}
	close(messages);
	return result;
}

/* ---- folders ---- */

int
pose_captures_cameras(const char *pose, char **names)
{
	struct dirent **entry;
	int entries = scandir(pose, &entry, NULL, versionsort);

	*names = NULL;
	if (entries < 0 && errno == ENOTDIR)
		return fail(pose, "is no folder of a pose, with the captures in POSE/CAMERA/");
	if (entries < 0)
		return fail_errno(pose, "cannot be read");
	for (int i = 0; i < entries; i++) {
		char *path = must_format("%s/%s", pose, entry[i]->d_name);

		if (entry[i]->d_name[0] != '.' && path_is_folder(path)) {
			char *longer = must_format("%s%s%s", *names ? *names : "",
			    *names ? "," : "", entry[i]->d_name);

			free(*names);
			*names = longer;
		}
		free(path);
		free(entry[i]);
	}
	free(entry);
	return 0;
}

/* Of POSE/CAMERA/, or of POSE itself where that has no folders and the camera is the only one. */
static int
captures_path(const char *pose, const char *camera, bool only, bool named, char **path)
{
	char *names = NULL;
	bool others;

	*path = NULL;
	if (access(pose, F_OK) < 0)
		return fail_errno(pose, "cannot be read");
	if (!path_is_folder(pose))
		return fail(pose, "is no folder of a pose, with the captures in POSE/CAMERA/");
	*path = must_format("%s/%s", pose, camera);
	if (path_is_folder(*path))
		return 0;
	if (!only) {
		fail(*path, "there is no such folder");
		free(*path);
		return -1;
	}
	free(*path);
	others = named && pose_captures_cameras(pose, &names) == 0 && names;
	free(names);
	if (others)
		return fail(pose, "has no folder %s, but others", camera);
	*path = must_strdup(pose);
	return 0;
}

/* The last part of each folder's name. */
static void
name_poses(struct pose_captures *captures)
{
	captures->pose_name = must_alloc(captures->folders, sizeof(*captures->pose_name));
	for (size_t i = 0; i < captures->folders; i++) {
		const char *text = captures->folder[i];
		size_t n = strlen(text), from;

		while (n > 1 && text[n - 1] == '/')
			n--;
		for (from = n; from > 0 && text[from - 1] != '/'; from--)
			;
		captures->pose_name[i] = must_format("%.*s", (int)(n - from), text + from);
	}
}

/* ---- tools ---- */

/* What a tool is called with. */
struct call {
	const char *const *words;	/* its own ones, ended by NULL */
	const char *option, *more;	/* words that the user adds by an option, or NULL */
	const char *operand;		/* or NULL: the file `from` is its standard input */
	int from, to;
	bool silent;
};

/* Runs it over one measurement, to a file in memory whose only frame is taken. As child_run(). */
static int
call_tool(const char *object, const struct call *call, struct frame **out,
    char reason[CHILD_REASON])
{
	char *copy = must_strdup(call->more ? call->more : ""), *rest, path[64];
	char *words[WORDS_MOST];
	size_t n = 0;
	int status = 0;

	for (const char *const *own = call->words; *own; own++)
		words[n++] = (char *)*own;
	for (char *word = strtok_r(copy, " ", &rest); word && status == 0;
	    word = strtok_r(NULL, " ", &rest)) {
		if (n + 8 >= WORDS_MOST)
			status = fail_usage(call->option, "has too many words");
		words[n++] = word;
	}
	if (call->operand) {
		words[n++] = (char *)"--";
		words[n++] = (char *)call->operand;
	}
	words[n] = NULL;
	if (status == 0)
		status = child_run(object, words, call->from, call->to, call->silent, reason);
	free(copy);
	if (status != 0)
		return status;
	/* by which this process opens the file anew */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", call->to);
	return source_load(path, out) == 0 ? 0 : fail_prefix(object);
}

/* ---- one measurement ---- */

struct measurement {
	struct pose_captures *captures;
	struct calib_problem *problem;
	struct phase_views *views;
	size_t pose, camera, projector;
	const char *path;	/* of the captures */
	struct phase_crop crop;
	bool quiet;		/* tools warn of a camera's first measurements alone */
};

static int
set_sizes(const struct measurement *m, const struct frame_head *head)
{
	struct calib_device *camera = &m->problem->device[m->camera];
	struct calib_device *projector = &m->problem->device[m->projector];

	if (!camera->w && (m->crop.first[0] >= m->crop.bin[0] ||
	    m->crop.first[1] >= m->crop.bin[1]))
		return fail_usage(m->path, "the captures are a crop of the camera's frame: give "
		    "its size, --sizes WxH");
	if (!camera->w) {
		camera->w = (size_t)((double)head->w * m->crop.bin[0]);
		camera->h = (size_t)((double)head->h * m->crop.bin[1]);
	}
	if (phase_projector_size(head, m->path, projector) < 0)
		return -1;
	return projector->w ? 0 : fail_usage(m->path, "the captures do not name the projector's "
	    "size: give --projector WxH");
}

/* The corners in the texture as the camera's view. *seen: there are enough. */
static int
find_corners(const struct measurement *m, const struct frame *wrapped, bool *seen)
{
	const double *first = m->crop.first, *bin = m->crop.bin;
	struct corners corners = { 0 };
	struct calib_point *point;
	struct frame *gray;
	char reason[BOARD_REASON];
	int found;

	*seen = false;
	if (board_picture(wrapped, "texture", &gray) < 0)
		return fail_prefix(m->path);
	found = board_find(&m->captures->board, &m->captures->find, gray, &corners, reason);
	frame_free(gray);
	if (found < 0)
		return -1;
	*seen = found == 0 && corners.n >= CALIB_FEWEST_POINTS;
	point = must_alloc(corners.n + 1, sizeof(*point));
	for (size_t k = 0; k < corners.n; k++) {
		const struct corner *c = &corners.corner[k];

		point[k] = (struct calib_point){ first[0] + bin[0] * c->u, first[1] + bin[1] * c->v,
			{ bin[0] * c->sigma, bin[1] * c->sigma }, (int)c->i, (int)c->j };
	}
	if (!*seen)
		warn(m->path, "no board: %s", found ? reason : "too few corners");
	else
		calib_problem_add_view(m->problem, m->camera, m->pose, m->camera, point, corners.n);
	if (*seen && m->captures->verbose)
		note(m->path, "%zu of %zu corners", corners.n,
		    m->captures->board.w * m->captures->board.h);
	free(point);
	corners_free(&corners);
	return 0;
}

/* The absolute phases along x and y of captures that were wrapped into a file, as points of the
 * projector; by two more files. */
static int
add_phases(const struct measurement *m, int wrapped, const int file[2])
{
	struct frame *phase[2] = { NULL, NULL };
	const char *const path[2] = { m->path, m->path };
	char reason[CHILD_REASON];
	int status = 0;

	for (size_t axis = 0; axis < 2 && status == 0; axis++) {
		const char *const words[] = { "unwrap2f", "--axis", axis ? "y" : "x",
			m->quiet ? "-q" : NULL, NULL };
		const struct call call = { words, "--unwrap2f", m->captures->unwrap, NULL, wrapped,
			file[axis], false };

		status = call_tool(m->path, &call, &phase[axis], reason);
		if (status > 0)
			status = fail(m->path, "no absolute phase of fringes along %c, and a "
			    "projector's points need both axes (%s)", axis ? 'y' : 'x', reason);
	}
	if (status == 0)
		status = phase_views_add(m->views, m->problem, m->projector, m->camera, m->pose,
		    (const struct frame *const *)phase, path);
	frame_free(phase[0]);
	frame_free(phase[1]);
	return status;
}

/* The phases of the captures. The noise is found with them where they have more than three steps;
 * else what the amplitude tells of it has to do. */
static int
wrap(struct measurement *m, int to, struct frame **wrapped)
{
	struct pose_captures *captures = m->captures;
	bool first = !captures->no_sigma && m->pose == 0;
	const char *words[] = { "phasewrap", NULL, NULL, NULL, NULL, NULL };
	const struct call call = { words, "--phasewrap", captures->wrap, m->path, -1, to, first };
	char reason[CHILD_REASON];
	size_t n = 1;
	int status;

	if (!captures->no_sigma)
		words[n++] = "--sigma";
	if (captures->manifest) {
		words[n++] = "-m";
		words[n++] = captures->manifest;
	}
	words[n] = m->quiet ? "-q" : NULL;
	status = call_tool(m->path, &call, wrapped, reason);
	if (status > 0 && first) {
		captures->no_sigma = true;
		return wrap(m, to, wrapped);
	}
	return status <= 0 ? status : fail(m->path, "phasewrap cannot take the captures (%s); "
	    "those that do not say what they are need --manifest or --phasewrap", reason);
}

static int
measure(struct measurement *m)
{
	static const char *const names[3] = { "phase-x", "phase-y", "wrapped" };
	int file[3] = { -1, -1, -1 }, status = 0;
	struct frame *wrapped = NULL;
	bool seen = false;

	for (size_t i = 0; i < 3 && status == 0; i++) {
		file[i] = child_memory(names[i]);
		status = file[i] < 0 ? -1 : 0;
	}
	if (status == 0)
		status = wrap(m, file[2], &wrapped);
	if (status == 0)
		status = phase_crop_find(&wrapped->head, m->path, &m->crop);
	if (status == 0)
		status = set_sizes(m, &wrapped->head);
	if (status == 0)
		status = find_corners(m, wrapped, &seen);
	frame_free(wrapped);
	if (status == 0 && seen)
		status = add_phases(m, file[2], file);
	for (size_t i = 0; i < 3; i++)
		if (file[i] >= 0)
			close(file[i]);
	return status;
}

int
pose_captures_read(struct pose_captures *captures, struct calib_problem *problem,
    struct phase_views *views)
{
	struct measurement m = { captures, problem, views,
		.projector = problem->devices - 1 };

	name_poses(captures);
	for (m.pose = 0; m.pose < captures->folders; m.pose++)
		for (m.camera = 0; m.camera < m.projector; m.camera++) {
			char *path;
			int status;

			m.quiet = captures->quiet || (m.pose > 1 && !captures->verbose);
			if (captures_path(captures->folder[m.pose], problem->device[m.camera].name,
			    m.projector == 1, captures->cameras_named, &path) < 0)
				return -1;
			m.path = path;
			status = measure(&m);
			free(path);
			if (status < 0)
				return -1;
		}
	return 0;
}

void
pose_captures_free(struct pose_captures *captures)
{
	for (size_t i = 0; captures->pose_name && i < captures->folders; i++)
		free(captures->pose_name[i]);
	free(captures->pose_name);
	captures->pose_name = NULL;
}
