/* Calls that a signal does not interrupt, and files of a descriptor that another process has set to
 * O_NONBLOCK, which those that inherit it share. They wait where it does not. */
#ifndef WAITING_FILE_H
#define WAITING_FILE_H

#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

/* As open(2), without EINTR. */
int waiting_open(const char *path, int flags, mode_t permissions);
/* As read(2), without EINTR and EAGAIN. */
ssize_t waiting_read(int fd, void *to, size_t n);
/* As write(2) and writev(2), likewise. */
ssize_t waiting_write(int fd, const void *from, size_t n);
ssize_t waiting_writev(int fd, const struct iovec *, int n);
/* As fdopen(fd, "rb"); but of a descriptor that does not block, fileno() is -1 and data are copied
 * once more. NULL with errno set. */
FILE *waiting_file_input(int fd);
/* As fdopen(fd, "wb"); but fileno() is -1. */
FILE *waiting_file_output(int fd);

#endif
