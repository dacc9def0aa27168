/* What a Vulkan call that failed means. */
#include "gpu/vulkan.h"

#include "base/fail.h"

int
vulkan_failed(VkResult result, const char *call)
{
	if (result == VK_ERROR_DEVICE_LOST)
		return fail(NULL, "the GPU was lost in %s", call);
	if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
		return fail(NULL, "the GPU has no memory left for %s", call);
	if (result == VK_ERROR_OUT_OF_HOST_MEMORY)
		return fail_memory();
	return fail(NULL, "GPU: %s failed with %d", call, (int)result);
}
