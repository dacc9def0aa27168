/* Where ffmpeg and ffprobe are. */
#define _GNU_SOURCE
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "ffmpeg.h"

static bool
is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* The first program of this name in the folders of PATH. */
static bool
look_up(const char *name, char found[PATH_MAX])
{
	const char *folders = getenv("PATH");

	while (folders && *folders) {
		size_t n = strcspn(folders, ":");

		if (snprintf(found, PATH_MAX, "%.*s/%s", (int)n, n ? folders : ".", name) <
		    PATH_MAX && is_program(found))
			return true;
		folders += n + (folders[n] == ':');
	}
	return false;
}

/* ffmpeg is the one that the user names, else that of PATH; ffprobe the one beside it. */
static bool
find(const char *name, char found[PATH_MAX])
{
	const char *named = getenv("FRINGEPIPE_FFMPEG");
	const char *slash = named ? strrchr(named, '/') : NULL;

	if (!named || !*named)
		return look_up(name, found);
	if (!strcmp(name, "ffmpeg") && !slash)
		return look_up(named, found);
	if (!strcmp(name, "ffmpeg"))
		return snprintf(found, PATH_MAX, "%s", named) < PATH_MAX && is_program(found);
	if (slash && snprintf(found, PATH_MAX, "%.*s/%s", (int)(slash - named), named, name) <
	    PATH_MAX && is_program(found))
		return true;
	return look_up(name, found);
}

int
program_find(const char *path, const char *name, char found[PATH_MAX])
{
	const char *named = getenv("FRINGEPIPE_FFMPEG");

	if (find(name, found))
		return 0;
	return named && *named ?
	    fail(path, "%s is not there: FRINGEPIPE_FFMPEG is %s", name, named) :
	    fail(path, "a video needs %s, which is not there: install the package ffmpeg, or "
	    "let FRINGEPIPE_FFMPEG name it", name);
}

bool
program_is_binary(const char *program)
{
	char start[4] = "";
	FILE *file = fopen(program, "rbe");
	bool is = file && fread(start, 1, sizeof(start), file) == sizeof(start) &&
	    !memcmp(start, "\177ELF", sizeof(start));

	if (file)
		fclose(file);
	return is;
}

int
ffmpeg_check(const char *path)
{
	char found[PATH_MAX];

	return program_find(path, "ffmpeg", found);
}
