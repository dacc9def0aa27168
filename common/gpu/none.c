/* No device: what gpu.h is in a build without Vulkan (GPU=0, or no glslc). */
#include "gpu/gpu.h"

#include <stdlib.h>

#include "base/fail.h"

const struct shader shader_memory_copy = { "memory_copy", NULL, NULL };

int
gpu_list(void (*)(void *arg, size_t number, const struct gpu_facts *), void *)
{
	return 0;
}

int
gpu_open(const char *, struct gpu **out)
{
	*out = NULL;
	return fail_with(EXIT_NO_DEVICE, NULL, "no GPU: this build has no device variant");
}

/* All other functions take a device that gpu_open() has given, so that nobody calls them. */
_Noreturn void gpu_absent(void);

void
gpu_absent(void)
{
	abort();
}

#define ABSENT(function) __asm__(".globl " #function "\n.set " #function ", gpu_absent");

ABSENT(gpu_close)
ABSENT(gpu_facts)
ABSENT(gpu_shader_has_doubles)
ABSENT(gpu_block_try)
ABSENT(gpu_block_new)
ABSENT(gpu_block_free)
ABSENT(gpu_job_new)
ABSENT(gpu_job_free)
ABSENT(gpu_job_begin)
ABSENT(gpu_job_copy)
ABSENT(gpu_job_dispatch)
ABSENT(gpu_job_submit)
ABSENT(gpu_job_wait)
ABSENT(gpu_lost)
ABSENT(gpu_job_dispatch_seconds)
ABSENT(gpu_job_copy_seconds)
