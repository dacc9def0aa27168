/* What the files of the Vulkan device share: vulkan.c, memory.c, job.c and pipeline.c. */
#pragma once

#include <pthread.h>
#include <volk.h>

#include "gpu/gpu.h"

enum lane_name { LANE_UP, LANE_COMPUTE, LANE_DOWN, LANES };

/* A queue and the count of what was done on it. Several lanes may have the same queue. */
struct lane {
	uint32_t family;
	VkQueue queue;
	VkSemaphore done;		/* timeline */
	uint64_t submitted;		/* its last value */
};

struct pipeline {
	const struct shader *shader;
	uint32_t local[2];
	VkPipeline pipeline;
};

/* What a shader may demand of floats: subnormal numbers are kept; zero's sign, infinities and NaN
 * are; results are rounded to nearest. */
enum float_mode { FLOAT_SUBNORMAL, FLOAT_SPECIAL, FLOAT_NEAREST, FLOAT_MODES };

struct gpu {
	VkInstance instance;
	VkDebugUtilsMessengerEXT messenger;
	bool faulty;			/* the validation layer reported something */
	bool lost;	/* it did not answer in time: it may still be at work on its memory */
	VkPhysicalDevice physical;
	VkDevice device;
	VkPhysicalDeviceMemoryProperties memory;
	struct gpu_facts facts;
	bool float_modes[FLOAT_MODES];	/* what the device has of them */
	bool compares_bits;	/* its own comparisons may take subnormal numbers for zeros */
	struct lane lane[LANES];
	uint32_t family[LANES];		/* the different ones */
	uint32_t families;
	double timeout_s;		/* how long a job is waited for */
	double tick_s;			/* of time stamps; 0: there are none */
	VkPipelineLayout layout;
	VkPipelineCache cache;
	char *cache_path;
	size_t cache_bytes;		/* as read */
	struct pipeline *pipeline;
	size_t pipelines;
	uint32_t blocks_most;
	pthread_mutex_t lock;		/* of blocks */
	uint32_t blocks;
};

struct vulkan_block {
	struct gpu_block block;
	VkBuffer buffer;
	VkDeviceMemory memory;
};

/* -1 after fail() naming the call that returned this. */
int vulkan_failed(VkResult, const char *call);

/* A shader's code that demands what the device has of them; the caller's. */
uint32_t *vulkan_demand_float_modes(const struct gpu *, const struct shader *, size_t *bytes);
/* The module again (code is freed), with floats compared by their bits; *bytes: its size before,
 * and after. */
uint32_t *vulkan_compare_bits(uint32_t *code, size_t *bytes);
/* Reads the cache of compiled shaders. -1 after fail(). */
int vulkan_open_pipelines(struct gpu *);
/* Writes the cache, and frees. */
void vulkan_close_pipelines(struct gpu *);
/* The pipeline of a shader, made when it is first wanted; NULL after fail(). */
VkPipeline vulkan_pipeline(struct gpu *, const struct shader *, const uint32_t local[2]);
