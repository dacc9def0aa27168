/* The device: which there are, opening and closing one. */
#define _GNU_SOURCE
#define VOLK_IMPLEMENTATION
#include "gpu/vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "gpu/float_probe.h"

#define VALIDATION "VK_LAYER_KHRONOS_validation"

/* ---- the instance ---- */

static VKAPI_ATTR VkBool32 VKAPI_CALL
complain(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT type,
    const VkDebugUtilsMessengerCallbackDataEXT *data, void *arg)
{
	struct gpu *gpu = arg;

	(void)severity;
	(void)type;
	fprintf(stderr, "%s: validation: %s\n", fail_program(), data->pMessage);
	gpu->faulty = true;
	return VK_FALSE;
}

static bool
checks(void)
{
	const char *wanted = getenv("FRINGEPIPE_GPU_CHECK");

	return wanted && *wanted && strcmp(wanted, "0");
}

/* 1; 0 where there is no Vulkan; -1 after fail(). */
static int
open_instance(struct gpu *gpu)
{
	static const char *const layers[] = { VALIDATION };
	static const char *const extensions[] = { VK_EXT_DEBUG_UTILS_EXTENSION_NAME };
	static const VkValidationFeatureEnableEXT enable[] = {
		VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
	};
	VkDebugUtilsMessengerCreateInfoEXT messenger = {
		.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
		.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
		    VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
		.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
		    VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
		.pfnUserCallback = complain,
		.pUserData = gpu,
	};
	VkValidationFeaturesEXT features = {
		.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
		.pNext = &messenger,
		.enabledValidationFeatureCount = 1,
		.pEnabledValidationFeatures = enable,
	};
	VkApplicationInfo application = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = "fringepipe",
		.apiVersion = VK_API_VERSION_1_2,
	};
	VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pNext = checks() ? &features : NULL,
		.pApplicationInfo = &application,
		.enabledLayerCount = checks(),
		.ppEnabledLayerNames = layers,
		.enabledExtensionCount = checks(),
		.ppEnabledExtensionNames = extensions,
	};
	VkResult result;

	if (volkInitialize() != VK_SUCCESS)
		return 0;
	result = vkCreateInstance(&info, NULL, &gpu->instance);
	if (result == VK_ERROR_LAYER_NOT_PRESENT || result == VK_ERROR_EXTENSION_NOT_PRESENT)
		return fail("FRINGEPIPE_GPU_CHECK", "the layer " VALIDATION " is not installed");
	if (result != VK_SUCCESS)	/* a loader without any driver says so here */
		return 0;
	volkLoadInstance(gpu->instance);
	if (checks())
		vkCreateDebugUtilsMessengerEXT(gpu->instance, &messenger, NULL, &gpu->messenger);
	return 1;
}

static void
close_instance(struct gpu *gpu)
{
	if (gpu->messenger)
		vkDestroyDebugUtilsMessengerEXT(gpu->instance, gpu->messenger, NULL);
	if (gpu->instance)
		vkDestroyInstance(gpu->instance, NULL);
	gpu->messenger = VK_NULL_HANDLE;
	gpu->instance = VK_NULL_HANDLE;
}

/* ---- which devices there are ---- */

struct found {
	VkPhysicalDevice *physical;
	uint32_t n;
};

static int
find_devices(struct gpu *gpu, struct found *found)
{
	VkResult result = vkEnumeratePhysicalDevices(gpu->instance, &found->n, NULL);

	found->physical = NULL;
	if (result != VK_SUCCESS || found->n == 0) {
		found->n = 0;
		return 0;
	}
	found->physical = calloc(found->n, sizeof(*found->physical));
	if (!found->physical)
		return fail_memory();
	result = vkEnumeratePhysicalDevices(gpu->instance, &found->n, found->physical);
	if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
		free(found->physical);
		return vulkan_failed(result, "vkEnumeratePhysicalDevices");
	}
	return 0;
}

/* Faster kinds first. */
static int
rank(VkPhysicalDeviceType type)
{
	static const int ranks[] = {
		[VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU] = 0,
		[VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU] = 1,
		[VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU] = 2,
		[VK_PHYSICAL_DEVICE_TYPE_CPU] = 3,
		[VK_PHYSICAL_DEVICE_TYPE_OTHER] = 4
	};

	return (size_t)type < sizeof(ranks) / sizeof(ranks[0]) ? ranks[type] : 4;
}

static const char *
kind_of(VkPhysicalDeviceType type)
{
	static const char *const kinds[] = { "discrete", "integrated", "virtual", "cpu", "other" };

	return kinds[rank(type)];
}

static uint32_t
find_family(VkPhysicalDevice physical, VkQueueFlags wanted, VkQueueFlags unwanted, uint32_t *queues)
{
	VkQueueFamilyProperties family[32];
	uint32_t n = 32;

	vkGetPhysicalDeviceQueueFamilyProperties(physical, &n, family);
	for (uint32_t i = 0; i < n; i++)
		if ((family[i].queueFlags & wanted) == wanted &&
		    !(family[i].queueFlags & unwanted)) {
			*queues = family[i].queueCount;
			return i;
		}
	return UINT32_MAX;
}

static uint32_t
transfer_family(VkPhysicalDevice physical, uint32_t *queues)
{
	return find_family(physical, VK_QUEUE_TRANSFER_BIT,
	    VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT, queues);
}

/* One without graphics, if there is one: it computes while others draw. */
static uint32_t
compute_family(VkPhysicalDevice physical)
{
	uint32_t queues;
	uint32_t family =
	    find_family(physical, VK_QUEUE_COMPUTE_BIT, VK_QUEUE_GRAPHICS_BIT, &queues);

	return family != UINT32_MAX ? family :
	    find_family(physical, VK_QUEUE_COMPUTE_BIT, 0, &queues);
}

/* Is all that the device owns also mapped memory that the host caches? */
static bool
is_unified(const VkPhysicalDeviceMemoryProperties *memory, VkPhysicalDeviceType type)
{
	VkMemoryPropertyFlags all = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
	    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
	    VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

	if (getenv("FRINGEPIPE_GPU_COPY") || (type != VK_PHYSICAL_DEVICE_TYPE_CPU &&
	    type != VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU))
		return false;
	for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
		if ((memory->memoryTypes[i].propertyFlags & all) == all)
			return true;
	return false;
}

/* A processor keeps subnormal numbers, a device that does not promise it may not in comparisons. */
static bool
compares_bits(const struct gpu *gpu)
{
	return getenv("FRINGEPIPE_GPU_BITS") || (!gpu->float_modes[FLOAT_SUBNORMAL] &&
	    strcmp(gpu->facts.kind, "cpu"));
}

/* Is it unknown whether the device keeps subnormal numbers, till float_probe.c tries? A processor
 * that runs shaders has its own floats, which it need not list. */
static bool
must_probe(VkPhysicalDevice physical)
{
	VkPhysicalDeviceProperties properties;
	bool modes[FLOAT_MODES];

	vkGetPhysicalDeviceProperties(physical, &properties);
	vulkan_find_float_modes(physical, modes);
	if (!modes[FLOAT_SPECIAL] || !modes[FLOAT_NEAREST])
		return false;
	return getenv("FRINGEPIPE_GPU_PROBE") || (!modes[FLOAT_SUBNORMAL] &&
	    properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU);
}

/* NULL, or what the device lacks. facts->exact is false where it must be probed. */
static const char *
look_at(VkPhysicalDevice physical, struct gpu_facts *facts)
{
	VkPhysicalDeviceVulkan12Features features12 = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES
	};
	VkPhysicalDeviceFeatures2 features = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &features12
	};
	VkPhysicalDeviceMaintenance3Properties limits = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES
	};
	VkPhysicalDeviceProperties2 properties = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &limits
	};
	VkPhysicalDeviceMemoryProperties memory;
	uint32_t queues;
	bool modes[FLOAT_MODES];

	memset(facts, 0, sizeof(*facts));
	vkGetPhysicalDeviceProperties2(physical, &properties);
	snprintf(facts->name, sizeof(facts->name), "%s", properties.properties.deviceName);
	facts->kind = kind_of(properties.properties.deviceType);
	if (properties.properties.apiVersion < VK_API_VERSION_1_2)
		return "Vulkan 1.2";
	vkGetPhysicalDeviceFeatures2(physical, &features);
	vkGetPhysicalDeviceMemoryProperties(physical, &memory);
	facts->float64 = features.features.shaderFloat64;
	vulkan_find_float_modes(physical, modes);
	facts->exact = modes[FLOAT_SPECIAL] && modes[FLOAT_NEAREST] && !must_probe(physical);
	facts->allocation_most = limits.maxMemoryAllocationSize;
	facts->groups_most[0] = properties.properties.limits.maxComputeWorkGroupCount[0];
	facts->groups_most[1] = properties.properties.limits.maxComputeWorkGroupCount[1];
	facts->unified = is_unified(&memory, properties.properties.deviceType);
	facts->transfers = transfer_family(physical, &queues) != UINT32_MAX;
	for (uint32_t i = 0; i < memory.memoryHeapCount; i++)
		if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
		    memory.memoryHeaps[i].size > facts->memory_bytes)
			facts->memory_bytes = memory.memoryHeaps[i].size;
	if (!features12.bufferDeviceAddress)
		return "bufferDeviceAddress";
	if (!features12.timelineSemaphore)
		return "timelineSemaphore";
	if (!features.features.shaderInt64)
		return "shaderInt64";
	return compute_family(physical) == UINT32_MAX ? "a compute queue" : NULL;
}

/* The usable ones in the order of the list, by kind; *lack: what the last unusable one lacks. */
static int
list_devices(struct gpu *gpu, struct found *found, const char **lack)
{
	struct gpu_facts facts;
	uint32_t n = 0;

	if (find_devices(gpu, found) < 0)
		return -1;
	for (uint32_t i = 0; i < found->n; i++) {
		const char *lacks = look_at(found->physical[i], &facts);

		if (lacks)
			*lack = lacks;
		else
			found->physical[n++] = found->physical[i];
	}
	found->n = n;
	for (uint32_t i = 1; i < n; i++)	/* stable, and there are few */
		for (uint32_t k = i; k > 0; k--) {
			VkPhysicalDeviceProperties a, b;
			VkPhysicalDevice later = found->physical[k];

			vkGetPhysicalDeviceProperties(found->physical[k - 1], &a);
			vkGetPhysicalDeviceProperties(later, &b);
			if (rank(a.deviceType) <= rank(b.deviceType))
				break;
			found->physical[k] = found->physical[k - 1];
			found->physical[k - 1] = later;
		}
	return 0;
}

/* FRINGEPIPE_GPU_TIMEOUT, or a minute. -1 after fail_usage(). */
static int
find_timeout(double *seconds)
{
	const char *text = getenv("FRINGEPIPE_GPU_TIMEOUT");

	*seconds = 60;
	if (!text)
		return 0;
	if (number_parse(text, seconds) < 0 || !(*seconds >= 0 && *seconds <= 1e9)) {
		fail_clear();
		return fail_usage("FRINGEPIPE_GPU_TIMEOUT",
		    "must be a number of seconds from 0 to 1e9, not '%.40s'", text);
	}
	return 0;
}

/* A listed device, and whether it must be opened before its facts are known. */
struct listed {
	struct gpu_facts facts;
	bool probe;
};

/* Their number; -1 after fail(). *list is the caller's. */
static int
list_facts(struct listed **list)
{
	struct gpu gpu = { 0 };
	struct found found = { 0 };
	const char *lack = NULL;
	int status = open_instance(&gpu);

	*list = NULL;
	if (status < 1)
		return status;
	status = list_devices(&gpu, &found, &lack);
	if (status == 0 && found.n && !(*list = calloc(found.n, sizeof(**list))))
		status = fail_memory();
	for (uint32_t i = 0; i < found.n && status == 0; i++) {
		look_at(found.physical[i], &(*list)[i].facts);
		(*list)[i].probe = must_probe(found.physical[i]);
	}
	free(found.physical);
	close_instance(&gpu);
	return status < 0 ? -1 : (int)found.n;
}

/* One that cannot be opened is not known to be exact. */
static void
probe_listed(size_t number, struct gpu_facts *facts)
{
	char text[24];
	struct gpu *gpu;

	snprintf(text, sizeof(text), "%zu", number);
	if (gpu_open(text, &gpu) == 0) {
		facts->exact = gpu->facts.exact;
		if (gpu_close(gpu) == 0)
			return;
	}
	fail_clear();
}

int
gpu_list(void (*each)(void *arg, size_t number, const struct gpu_facts *), void *arg)
{
	struct listed *list;
	double timeout_s;
	int n = find_timeout(&timeout_s) < 0 ? -1 : list_facts(&list);

	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		if (list[i].probe)
			probe_listed((size_t)i, &list[i].facts);
		each(arg, (size_t)i, &list[i].facts);
	}
	free(list);
	return n;
}

static int
choose_device(struct gpu *gpu, const char *which)
{
	struct found found = { 0 };
	const char *lack = NULL;
	char *end;
	unsigned long number = strtoul(which, &end, 10);
	bool numbered = *which && !*end;

	if (list_devices(gpu, &found, &lack) < 0)
		return -1;
	for (uint32_t i = 0; i < found.n && !gpu->physical; i++) {
		look_at(found.physical[i], &gpu->facts);
		vulkan_find_float_modes(found.physical[i], gpu->float_modes);
		if (numbered ? i == number : strcasestr(gpu->facts.name, which) != NULL)
			gpu->physical = found.physical[i];
	}
	free(found.physical);
	if (gpu->physical)
		return 0;
	if (found.n)
		return fail_with(EXIT_NO_DEVICE, NULL,
		    "no GPU %s among the %u here, see fringepipe --devices", which, found.n);
	return lack ? fail_with(EXIT_NO_DEVICE, NULL, "no GPU: what there is lacks %s", lack) :
	    fail_with(EXIT_NO_DEVICE, NULL, "no GPU: no Vulkan device was found");
}

/* ---- the device ---- */

/* Queues for computing and, if there are any, of their own for copies up and down. */
static int
choose_queues(struct gpu *gpu, uint32_t index[LANES])
{
	uint32_t queues = 0, transfer = transfer_family(gpu->physical, &queues);
	uint32_t compute = compute_family(gpu->physical);

	for (int i = 0; i < LANES; i++) {
		gpu->lane[i].family = compute;
		index[i] = 0;
	}
	if (transfer != UINT32_MAX) {
		gpu->lane[LANE_UP].family = transfer;
		gpu->lane[LANE_DOWN].family = transfer;
		index[LANE_DOWN] = queues > 1;
	}
	gpu->family[0] = compute;
	gpu->family[1] = transfer;
	gpu->families = transfer != UINT32_MAX ? 2 : 1;
	return queues > 1 ? 2 : 1;
}

static int
open_device(struct gpu *gpu)
{
	static const float priority[] = { 1, 1 };
	uint32_t index[LANES];
	uint32_t transfers = (uint32_t)choose_queues(gpu, index);
	VkDeviceQueueCreateInfo queue[2] = {
		{ .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		    .queueFamilyIndex = gpu->family[0], .queueCount = 1,
		    .pQueuePriorities = priority },
		{ .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		    .queueFamilyIndex = gpu->family[1], .queueCount = transfers,
		    .pQueuePriorities = priority },
	};
	VkPhysicalDeviceVulkan12Features features12 = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
		.bufferDeviceAddress = VK_TRUE,
		.timelineSemaphore = VK_TRUE,
		.hostQueryReset = VK_TRUE,	/* every device of Vulkan 1.2 has it */
	};
	VkPhysicalDeviceFeatures2 features = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
		.pNext = &features12,
		.features = { .shaderInt64 = VK_TRUE, .shaderFloat64 = gpu->facts.float64 },
	};
	VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.pNext = &features,
		.queueCreateInfoCount = gpu->families,
		.pQueueCreateInfos = queue,
	};
	VkSemaphoreTypeCreateInfo timeline = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	VkSemaphoreCreateInfo semaphore = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &timeline
	};
	VkResult result = vkCreateDevice(gpu->physical, &info, NULL, &gpu->device);

	if (result != VK_SUCCESS)
		return vulkan_failed(result, "vkCreateDevice");
	volkLoadDevice(gpu->device);
	for (int i = 0; i < LANES; i++) {
		vkGetDeviceQueue(gpu->device, gpu->lane[i].family, index[i], &gpu->lane[i].queue);
		result = vkCreateSemaphore(gpu->device, &semaphore, NULL, &gpu->lane[i].done);
		if (result != VK_SUCCESS)
			return vulkan_failed(result, "vkCreateSemaphore");
	}
	return 0;
}

static void
find_clock(struct gpu *gpu)
{
	VkQueueFamilyProperties family[32];
	VkPhysicalDeviceProperties properties;
	uint32_t n = 32;

	vkGetPhysicalDeviceProperties(gpu->physical, &properties);
	vkGetPhysicalDeviceQueueFamilyProperties(gpu->physical, &n, family);
	gpu->tick_s = (double)properties.limits.timestampPeriod * 1e-9;
	for (int i = 0; i < LANES; i++)
		if (!family[gpu->lane[i].family].timestampValidBits)
			gpu->tick_s = 0;
	gpu->blocks_most = properties.limits.maxMemoryAllocationCount;
}

/* ---- all ---- */

int
gpu_open(const char *which, struct gpu **out)
{
	struct gpu *gpu = calloc(1, sizeof(*gpu));

	*out = NULL;
	if (!gpu)
		return fail_memory();
	if (find_timeout(&gpu->timeout_s) < 0) {
		free(gpu);
		return -1;
	}
	pthread_mutex_init(&gpu->lock, NULL);
	if (open_instance(gpu) < 1) {
		fail_with(EXIT_NO_DEVICE, NULL, "no GPU: no Vulkan device was found");
	} else if (choose_device(gpu, which) == 0 && open_device(gpu) == 0) {
		vkGetPhysicalDeviceMemoryProperties(gpu->physical, &gpu->memory);
		find_clock(gpu);
		gpu->compares_bits = compares_bits(gpu);
		if (vulkan_open_pipelines(gpu) == 0 && (!must_probe(gpu->physical) ||
		    float_probe(gpu, &gpu->facts.exact) == 0)) {
			*out = gpu;
			return 0;
		}
	}
	gpu_close(gpu);
	return -1;
}

static void
close_device(struct gpu *gpu)
{
	vkDeviceWaitIdle(gpu->device);
	vulkan_close_pipelines(gpu);
	for (int i = 0; i < LANES; i++)
		vkDestroySemaphore(gpu->device, gpu->lane[i].done, NULL);
	vkDestroyDevice(gpu->device, NULL);
}

int
gpu_close(struct gpu *gpu)
{
	bool faulty;

	if (!gpu)
		return 0;
	if (gpu->lost)		/* it may be at work for ever: closing it would wait for it */
		return -1;
	if (gpu->device)
		close_device(gpu);
	close_instance(gpu);
	faulty = gpu->faulty;
	free(gpu->pipeline);
	free(gpu->cache_path);
	pthread_mutex_destroy(&gpu->lock);
	free(gpu);
	return faulty ? fail(NULL, "the validation layer found fault, see above") : 0;
}

const struct gpu_facts *
gpu_facts(const struct gpu *gpu)
{
	return &gpu->facts;
}
