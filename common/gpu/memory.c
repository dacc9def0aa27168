/* Blocks of the device's memory, and of the host's that the device reaches. */
#include "gpu/vulkan.h"

#include "base/process.h"

static uint32_t
find_type(const struct gpu *gpu, uint32_t allowed, VkMemoryPropertyFlags wanted)
{
	for (uint32_t i = 0; i < gpu->memory.memoryTypeCount; i++)
		if ((allowed & 1u << i) &&
		    (gpu->memory.memoryTypes[i].propertyFlags & wanted) == wanted)
			return i;
	return UINT32_MAX;
}

static uint32_t
choose_type(const struct gpu *gpu, uint32_t allowed, enum gpu_place place)
{
	VkMemoryPropertyFlags mapped =
	    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	VkMemoryPropertyFlags own = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
	uint32_t type = UINT32_MAX;

	if (place == GPU_DEVICE) {
		type = find_type(gpu, allowed, own);
		return type != UINT32_MAX ? type : find_type(gpu, allowed, 0);
	}
	if (gpu->facts.unified)
		type = find_type(gpu, allowed, mapped | own | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
	if (type == UINT32_MAX)		/* what the host reads back must be cached */
		type = find_type(gpu, allowed, mapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
	return type != UINT32_MAX ? type : find_type(gpu, allowed, mapped);
}

static VkResult
make_buffer(struct gpu *gpu, struct vulkan_block *block)
{
	VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = block->block.bytes,
		.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
		    VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
		.sharingMode = gpu->families > 1 ? VK_SHARING_MODE_CONCURRENT :
		    VK_SHARING_MODE_EXCLUSIVE,
		.queueFamilyIndexCount = gpu->families > 1 ? gpu->families : 0,
		.pQueueFamilyIndices = gpu->family,
	};

	return vkCreateBuffer(gpu->device, &info, NULL, &block->buffer);
}

static VkResult
make_memory(struct gpu *gpu, struct vulkan_block *block, enum gpu_place place)
{
	VkMemoryAllocateFlagsInfo flags = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
		.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
	};
	VkMemoryAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags
	};
	VkBufferDeviceAddressInfo address = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = block->buffer
	};
	VkMemoryRequirements needs;
	VkResult result;

	vkGetBufferMemoryRequirements(gpu->device, block->buffer, &needs);
	info.allocationSize = needs.size;
	info.memoryTypeIndex = choose_type(gpu, needs.memoryTypeBits, place);
	if (info.memoryTypeIndex == UINT32_MAX)
		return VK_ERROR_OUT_OF_DEVICE_MEMORY;
	result = vkAllocateMemory(gpu->device, &info, NULL, &block->memory);
	if (result == VK_SUCCESS)
		result = vkBindBufferMemory(gpu->device, block->buffer, block->memory, 0);
	if (result == VK_SUCCESS && place == GPU_HOST)
		result = vkMapMemory(gpu->device, block->memory, 0, VK_WHOLE_SIZE, 0,
		    &block->block.host);
	if (result == VK_SUCCESS)
		block->block.address = vkGetBufferDeviceAddress(gpu->device, &address);
	return result;
}

/* Devices may have no more than 4096 blocks. */
static bool
count_block(struct gpu *gpu)
{
	bool fits;

	pthread_mutex_lock(&gpu->lock);
	fits = gpu->blocks < gpu->blocks_most;
	gpu->blocks += fits;
	pthread_mutex_unlock(&gpu->lock);
	return fits;
}

struct gpu_block *
gpu_block_try(struct gpu *gpu, enum gpu_place place, size_t bytes)
{
	struct vulkan_block *block;

	if (gpu->lost || bytes > gpu->facts.allocation_most || !count_block(gpu))
		return NULL;
	block = must_alloc(1, sizeof(*block));
	block->block.bytes = bytes;
	if (make_buffer(gpu, block) == VK_SUCCESS && make_memory(gpu, block, place) == VK_SUCCESS)
		return &block->block;
	gpu_block_free(gpu, &block->block);
	return NULL;
}

struct gpu_block *
gpu_block_new(struct gpu *gpu, enum gpu_place place, size_t bytes)
{
	struct gpu_block *block = gpu_block_try(gpu, place, bytes);

	if (block)
		return block;
	if (bytes > gpu->facts.allocation_most)
		fail(NULL, "the GPU gives blocks of %llu bytes at most, %zu are wanted",
		    (unsigned long long)gpu->facts.allocation_most, bytes);
	else
		fail(NULL, "the GPU has no %zu bytes of %s memory left", bytes,
		    place == GPU_HOST ? "mapped" : "its own");
	return NULL;
}

void
gpu_block_free(struct gpu *gpu, struct gpu_block *block)
{
	struct vulkan_block *own = (struct vulkan_block *)block;

	if (!block || gpu->lost)
		return;
	vkDestroyBuffer(gpu->device, own->buffer, NULL);
	vkFreeMemory(gpu->device, own->memory, NULL);
	pthread_mutex_lock(&gpu->lock);
	gpu->blocks--;
	pthread_mutex_unlock(&gpu->lock);
	free(own);
}
