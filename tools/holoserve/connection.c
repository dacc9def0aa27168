#define _GNU_SOURCE
#include "connection.h"

int64_t
connection_now_us(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * SECOND_US + time.tv_nsec / 1000;
}
