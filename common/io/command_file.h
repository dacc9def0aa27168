/* Commands that are a camera, a screen or a stage: run without a shell, most with a file. */
#pragma once

/* Its file lies in a folder of its own, which is gone at the end, by a signal too. */
struct command_file {
	char *command, *folder, *file;
};

/* `command` has the word %s, the file's place; name: the file's; option: for the message. -1 after
 * fail(). */
int command_file_open(struct command_file **, const char *option, const char *command,
    const char *name);
int command_file_run(const struct command_file *);
/* NULL is closed already. */
void command_file_close(struct command_file *);
/* Runs a command: its words are those between blanks, and one that is `mark` (%s, %d) is replaced
 * by `argument`. -1 after fail(): it could not be run, or did not exit with 0. */
int command_run(const char *command, const char *mark, const char *argument);
