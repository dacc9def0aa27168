#define _GNU_SOURCE
#include "io/shared_block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 65536		/* the largest one of any processor */

void
shared_block_free(struct shared_block *block)
{
	munmap(block->pixels, block->bytes);
	munmap(block->references, PAGE);
	close(block->fd);
	free(block);
}

void
shared_block_give_up(struct shared_block *block)
{
	atomic_store(&block->references[1], 1);
}

bool
shared_block_is_given_up(const struct shared_block *block)
{
	return atomic_load(&block->references[1]) != 0;
}

/* Nobody can shrink it while another process reads it. */
static bool
is_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK);
}

struct shared_block *
shared_block_map(int fd, int protection)
{
	struct shared_block *block = calloc(1, sizeof(*block));
	void *references = MAP_FAILED, *pixels = MAP_FAILED;
	struct stat st;
	size_t bytes = 0;

	if (block && is_sealed(fd) && fstat(fd, &st) == 0 && st.st_size > PAGE &&
	    st.st_size % PAGE == 0) {
		bytes = (size_t)st.st_size - PAGE;
		pixels = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
		references = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)bytes);
	}
	if (pixels != MAP_FAILED && references != MAP_FAILED) {
		*block = (struct shared_block){ .fd = fd, .device = st.st_dev, .inode = st.st_ino,
			.pixels = pixels, .bytes = bytes, .references = references };
		return block;
	}
	if (pixels != MAP_FAILED)
		munmap(pixels, bytes);
	if (references != MAP_FAILED)
		munmap(references, PAGE);
	free(block);
	return NULL;
}

struct shared_block *
shared_block_make(size_t bytes)
{
	size_t all = ((bytes + PAGE - 1) / PAGE + 1) * PAGE;
	struct shared_block *block = NULL;
	struct rlimit file_size;
	int fd;

	if (getrlimit(RLIMIT_FSIZE, &file_size) < 0 || all > file_size.rlim_cur)
		return NULL;	/* memory counts as a file here: a signal would end the process */
	fd = memfd_create("frame", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && TEMP_FAILURE_RETRY(ftruncate(fd, (off_t)all)) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		block = shared_block_map(fd, PROT_READ | PROT_WRITE);
	if (!block && fd >= 0)
		close(fd);
	return block;
}
