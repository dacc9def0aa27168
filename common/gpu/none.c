/* No device: what gpu.h is in a build without Vulkan (GPU=0, or no glslc). */
#include "gpu/gpu.h"

#include "base/fail.h"

const struct shader shader_memory_copy = { "memory_copy", NULL, NULL };

int
gpu_list(void (*each)(void *arg, size_t number, const struct gpu_facts *), void *arg)
{
	(void)each;
	(void)arg;
	return 0;
}

int
gpu_open(const char *which, struct gpu **out)
{
	(void)which;
	*out = NULL;
	return fail_with(EXIT_NO_DEVICE, NULL, "no GPU: this build has no device variant");
}

int
gpu_close(struct gpu *gpu)
{
	(void)gpu;
	return 0;
}

const struct gpu_facts *
gpu_facts(const struct gpu *gpu)
{
	(void)gpu;
	return NULL;
}

bool
gpu_shader_has_doubles(const struct shader *shader)
{
	(void)shader;
	return false;
}

struct gpu_block *
gpu_block_try(struct gpu *gpu, enum gpu_place place, size_t bytes)
{
	(void)gpu, (void)place, (void)bytes;
	return NULL;
}

struct gpu_block *
gpu_block_new(struct gpu *gpu, enum gpu_place place, size_t bytes)
{
	(void)gpu;
	(void)place;
	(void)bytes;
	fail(NULL, "internal error: memory of no device");
	return NULL;
}

void
gpu_block_free(struct gpu *gpu, struct gpu_block *block)
{
	(void)gpu;
	(void)block;
}

struct gpu_job *
gpu_job_new(struct gpu *gpu)
{
	(void)gpu;
	fail(NULL, "internal error: a job without a device");
	return NULL;
}

void
gpu_job_free(struct gpu_job *job)
{
	(void)job;
}

int
gpu_job_begin(struct gpu_job *job)
{
	(void)job;
	return -1;
}

void
gpu_job_upload(struct gpu_job *job, const struct gpu_block *from, size_t from_at,
    const struct gpu_block *to, size_t to_at, size_t bytes)
{
	(void)job, (void)from, (void)from_at, (void)to, (void)to_at, (void)bytes;
}

int
gpu_job_dispatch(struct gpu_job *job, const struct shader *shader, const uint32_t local[2],
    const uint32_t groups[2], const void *push, size_t push_bytes, bool beside)
{
	(void)job, (void)shader, (void)local, (void)groups, (void)push, (void)push_bytes;
	(void)beside;
	return -1;
}

void
gpu_job_download(struct gpu_job *job, const struct gpu_block *from, size_t from_at,
    const struct gpu_block *to, size_t to_at, size_t bytes)
{
	(void)job, (void)from, (void)from_at, (void)to, (void)to_at, (void)bytes;
}

int
gpu_job_submit(struct gpu_job *job)
{
	(void)job;
	return -1;
}

int
gpu_job_wait(struct gpu_job *job)
{
	(void)job;
	return -1;
}

bool
gpu_job_lost(const struct gpu_job *job)
{
	(void)job;
	return false;
}

double
gpu_job_upload_seconds(const struct gpu_job *job)
{
	(void)job;
	return 0;
}

double
gpu_job_dispatch_seconds(const struct gpu_job *job, size_t dispatch)
{
	(void)job, (void)dispatch;
	return 0;
}

double
gpu_job_download_seconds(const struct gpu_job *job)
{
	(void)job;
	return 0;
}
