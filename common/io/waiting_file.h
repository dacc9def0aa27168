/*
 * Files of a descriptor that another process has set to O_NONBLOCK, or may set so at any time: what is
 * inherited is shared. They wait where it does not.
 */
#ifndef WAITING_FILE_H
#define WAITING_FILE_H

#include <stdio.h>
#include <sys/types.h>

/* As read(2), without EINTR and EAGAIN. */
ssize_t waiting_read(int fd, void *to, size_t n);
/* As fdopen(fd, "rb") and "wb"; but fileno() of them is -1. NULL with errno set. */
FILE *waiting_file_input(int fd);
FILE *waiting_file_output(int fd);

#endif
