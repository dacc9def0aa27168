/* ffmpeg as a child process. */
#pragma once

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ffmpeg;

/*
 * ffmpeg as a child process over pipes: never linked. FRINGEPIPE_FFMPEG names another one. The
 * child's descriptor 3 is the video file, which it opens anew by the name FFMPEG_FILE; 4 is a file
 * of key lines; it gets no other one of ours, and no shell is between.
 */

#define FFMPEG_FILE "/proc/self/fd/3"
#define FFMPEG_KEYS "/proc/self/fd/4"

/* What the child does with its standard input and output. One that filters, reading and writing, is
 * not interrupted from the terminal: it ends with its input. */
enum ffmpeg_data { FFMPEG_READS, FFMPEG_WRITES, FFMPEG_FILTERS };

/* Is there an ffmpeg to run? 0, or -1 after fail(path, ...), which says what to install. */
int ffmpeg_check(const char *path);
/*
 * Starts ffmpeg, which is words[0], with the rest of the words, ended by NULL. path is for
 * messages and must live as long as the child. -1 after fail().
 */
int ffmpeg_start(const char *path, const char *const words[], enum ffmpeg_data, int file, int keys,
    struct ffmpeg **out);
/* Up to n bytes, less only where the child's output ends. -1 after fail(). */
int ffmpeg_read(struct ffmpeg *, void *to, size_t n, size_t *got);
/* 0; 1 where the child has ended, and ffmpeg_end() says why; -1 after fail(). */
int ffmpeg_write(struct ffmpeg *, const void *from, size_t n);
/* Reading and writing fail when the child does nothing for so long: of one that writes 30 s, else
 * without end. */
void ffmpeg_set_patience(struct ffmpeg *, int milliseconds);
/* Of one that filters: writes n bytes, and reads up to `room`, of what comes meanwhile and until
 * nothing comes for wait_ms. 0; 1 where the child has ended; -1 after fail(). */
int ffmpeg_filter(struct ffmpeg *, const void *from, size_t n, void *to, size_t room, size_t *got,
    int wait_ms);
/* Of one that was started with -v level+info, and if it is to be fed, filters: writes to it, while
 * it is read from, these bytes and then all that comes from a descriptor (-1: nothing), to its end.
 * look() is called with all of them, and with n = 0 at the end; where it is -1 after fail(), so is
 * the call that reads. hear() gets the child's lines that are no errors, which are no messages
 * then. -1 after fail(). */
int ffmpeg_feed(struct ffmpeg *, int from, const void *first, size_t n,
    int (*look)(void *arg, const unsigned char *, size_t n),
    void (*hear)(void *arg, const char *line), void *arg);
/* The first and the last line of the child's messages so far; empty: there are none. With -v error
 * each is a defect. */
const char *ffmpeg_message(struct ffmpeg *);
/* Waits for the child's end, and frees. 0, or -1 after fail() where it failed or complained. */
int ffmpeg_end(struct ffmpeg *);
/* Ends a child that is no longer wanted, and frees; NULL is passed over. */
void ffmpeg_kill(struct ffmpeg *);
