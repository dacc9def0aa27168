/* Compute pipelines, and the cache file in which compiled shaders survive the process. */
#include "gpu/vulkan.h"

#include <stdio.h>

#include "base/cache.h"
#include "base/process.h"

/* Where compiled shaders are remembered; NULL where there is no such place. */
static char *
find_cache(const struct gpu *gpu)
{
	VkPhysicalDeviceIDProperties id = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES
	};
	VkPhysicalDeviceProperties2 properties = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id
	};
	char name[64];
	uint32_t driver[2];

	vkGetPhysicalDeviceProperties2(gpu->physical, &properties);
	memcpy(driver, id.driverUUID, sizeof(driver));
	snprintf(name, sizeof(name), "shaders-%04x-%04x-%08x%08x",
	    properties.properties.vendorID & 0xffff, properties.properties.deviceID & 0xffff,
	    driver[0], driver[1]);
	return cache_path(name);
}

/* A cache that cannot be written costs time and nothing else, so it is not mentioned; the driver
 * checks that what it reads is its own, and the checksum that it is what was written. */
static void
write_cache(struct gpu *gpu)
{
	size_t bytes = 0;
	void *data = NULL;

	if (gpu->cache_path &&
	    vkGetPipelineCacheData(gpu->device, gpu->cache, &bytes, NULL) == VK_SUCCESS &&
	    bytes > gpu->cache_bytes && (data = malloc(bytes)) &&
	    vkGetPipelineCacheData(gpu->device, gpu->cache, &bytes, data) == VK_SUCCESS)
		cache_write_sealed(gpu->cache_path, data, bytes);
	free(data);
}

int
vulkan_open_pipelines(struct gpu *gpu)
{
	VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, GPU_PUSH_MOST };
	VkPipelineLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &range,
	};
	VkPipelineCacheCreateInfo cache = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO
	};
	VkResult result = vkCreatePipelineLayout(gpu->device, &layout, NULL, &gpu->layout);
	void *data;

	if (result != VK_SUCCESS)
		return vulkan_failed(result, "vkCreatePipelineLayout");
	gpu->cache_path = find_cache(gpu);
	data = cache_read_sealed(gpu->cache_path, &gpu->cache_bytes);
	cache.initialDataSize = gpu->cache_bytes;
	cache.pInitialData = data;
	result = vkCreatePipelineCache(gpu->device, &cache, NULL, &gpu->cache);
	free(data);
	return result == VK_SUCCESS ? 0 : vulkan_failed(result, "vkCreatePipelineCache");
}

static VkPipeline
make_pipeline(struct gpu *gpu, const struct shader *shader, const uint32_t local[2])
{
	static const VkSpecializationMapEntry entry[] = {
		{ 0, 0, sizeof(uint32_t) }, { 1, sizeof(uint32_t), sizeof(uint32_t) }
	};
	VkSpecializationInfo special = { 2, entry, 2 * sizeof(uint32_t), local };
	VkShaderModuleCreateInfo code = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		    .stage = VK_SHADER_STAGE_COMPUTE_BIT, .pName = "main",
		    .pSpecializationInfo = &special },
		.layout = gpu->layout,
	};
	uint32_t *words = vulkan_demand_float_modes(gpu, shader, &code.codeSize);
	VkPipeline pipeline = VK_NULL_HANDLE;
	VkResult result;

	if (gpu->compares_bits)
		words = vulkan_compare_bits(words, &code.codeSize);
	code.pCode = words;
	result = vkCreateShaderModule(gpu->device, &code, NULL, &info.stage.module);
	free(words);
	if (result == VK_SUCCESS) {
		result = vkCreateComputePipelines(gpu->device, gpu->cache, 1, &info, NULL,
		    &pipeline);
		vkDestroyShaderModule(gpu->device, info.stage.module, NULL);
	}
	if (result != VK_SUCCESS) {
		vulkan_failed(result, shader->name);
		return VK_NULL_HANDLE;
	}
	return pipeline;
}

VkPipeline
vulkan_pipeline(struct gpu *gpu, const struct shader *shader, const uint32_t local[2])
{
	VkPipeline made;

	for (size_t i = 0; i < gpu->pipelines; i++) {
		const struct pipeline *known = &gpu->pipeline[i];

		if (known->shader == shader && known->local[0] == local[0] &&
		    known->local[1] == local[1])
			return known->pipeline;
	}
	made = make_pipeline(gpu, shader, local);
	if (!made)
		return VK_NULL_HANDLE;
	gpu->pipeline = must_resize(gpu->pipeline, gpu->pipelines + 1, sizeof(*gpu->pipeline));
	gpu->pipeline[gpu->pipelines++] = (struct pipeline){ shader, { local[0], local[1] }, made };
	return made;
}

void
vulkan_close_pipelines(struct gpu *gpu)
{
	if (gpu->cache)
		write_cache(gpu);
	for (size_t i = 0; i < gpu->pipelines; i++)
		vkDestroyPipeline(gpu->device, gpu->pipeline[i].pipeline, NULL);
	vkDestroyPipelineCache(gpu->device, gpu->cache, NULL);
	vkDestroyPipelineLayout(gpu->device, gpu->layout, NULL);
}
