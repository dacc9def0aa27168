/*
 * The Vulkan device: finding it, its queue, its limits and its errors. Small shaders ask it how it
 * rounds, divides and treats denormal numbers and NaN, which decides whether its results can equal
 * those of the processor. Shaders are rewritten where floats must be compared by their bits or
 * float modes demanded.
 */
#define VOLK_IMPLEMENTATION
#include "gpu/vulkan.h"

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "base/numbers.h"
#include "base/process.h"
#include "gpu/float_results.px.h"

/* What a Vulkan call that failed means. */
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

/* ---- are the device's floats those of the processor? ---- */

#define EDGES (sizeof(edge) / sizeof(edge[0]))
#define PAIRS_EDGES (4 * EDGES * EDGES)	/* all of them, of both signs */
#define PAIRS_RANDOM 4096
#define PAIRS (PAIRS_EDGES + PAIRS_RANDOM)
#define LOCAL 64

extern const struct shader shader_float_results;

struct pair {
	float a, b;
};

/* Zero; subnormal numbers, the least normal one, next to it and twice that; where a square or a
 * product with a subnormal number begins to be one; unit steps about 1/2, 1, 2, pi and the powers
 * where a float has no digits behind the point; the largest; infinity; NaN, quiet and not. */
static const uint32_t edge[] = {
	0, 1, 2, 3, 0x200000, 0x3fffff, 0x400000, 0x400001, 0x7fffff, 0x800000, 0x800001, 0x1000000,
	0x1000001, 0x0d800000, 0x1e3ce508, 0x1fffffff, 0x20000000, 0x33800000, 0x33800001,
	0x34000000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001,
	0x3fffffff, 0x40000000, 0x40490fdb, 0x4affffff, 0x4b000001, 0x4b7fffff, 0x4b800000,
	0x5f000000, 0x7e800000, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000
};

/* Every second one has bits of any kind; of the others a is subnormal or little more and b about 1,
 * or both are. */
static struct pair
random_pair(uint i)
{
	uint a = px_hash(2 * i), b = px_hash(2 * i + 1), sign = a & 0x80000000u;

	if (i % 2)
		return (struct pair){ px_from_bits(a), px_from_bits(b) };
	if (i % 4 == 0)
		return (struct pair){ px_from_bits(sign | (a & 0xffffffu)),
			px_from_bits((b & 0x80ffffffu) + 0x3f000000u) };
	return (struct pair){ px_from_bits(sign | (a & 0xffffffu)), px_from_bits(b & 0x80ffffffu) };
}

static void
fill_pairs(struct pair *pair)
{
	for (size_t i = 0; i < PAIRS_EDGES; i++)
		pair[i] = (struct pair){
			px_from_bits(edge[i / 2 % EDGES] | (uint)(i % 2) << 31),
			px_from_bits(edge[i / 4 / EDGES] | (uint)(i / 2 / EDGES % 2) << 31)
		};
	for (size_t i = PAIRS_EDGES; i < PAIRS; i++)
		pair[i] = random_pair((uint)i);
}

static bool
are_same(const struct pair *pair, const struct float_results *found)
{
	for (size_t i = 0; i < PAIRS; i++) {
		struct float_results wanted = float_results_of(pair[i].a, pair[i].b);

		if (memcmp(&wanted, &found[i], sizeof(wanted)) != 0)
			return false;
	}
	return true;
}

static int
compute(struct gpu_job *job, const struct gpu_block *host, const struct gpu_block *device)
{
	static const uint32_t local[] = { LOCAL, 1 };
	static const uint32_t groups[] = { (PAIRS + LOCAL - 1) / LOCAL, 1 };
	const size_t bytes = PAIRS * sizeof(struct pair);
	struct gpu_push push = { .block = device->address, .w = PAIRS, .h = 1, .y1 = 1 };

	fill_pairs(host->host);
	gpu_job_begin(job);
	gpu_job_copy(job, host, 0, device, 0, bytes);
	if (gpu_job_dispatch(job, &shader_float_results, local, groups, &push, false) < 0)
		return -1;
	gpu_job_copy(job, device, bytes, host, bytes, host->bytes - bytes);
	return gpu_job_submit(job) < 0 ? -1 : gpu_job_wait(job);
}

/* A job of some thousand pairs. *exact: all results have the same bits, NaN counted as equal. -1
 * after fail(). */
static int
float_probe(struct gpu *gpu, bool *exact)
{
	const size_t bytes = PAIRS * (sizeof(struct pair) + sizeof(struct float_results));
	struct gpu_job *job = gpu_job_new(gpu);
	struct gpu_block *host = job ? gpu_block_new(gpu, GPU_HOST, bytes) : NULL;
	struct gpu_block *device = host ? gpu_block_new(gpu, GPU_DEVICE, bytes) : NULL;
	int status = device ? compute(job, host, device) : -1;

	if (status == 0) {
		const struct pair *pair = host->host;

		*exact = are_same(pair, (const struct float_results *)(pair + PAIRS));
	}
	gpu_job_free(job);
	gpu_block_free(gpu, host);
	gpu_block_free(gpu, device);
	return status;
}

/* ---- comparisons of floats by their bits ---- */

/*
 * A device that does not promise to keep subnormal numbers may
 * keep them in sums and products and yet compare them as zeros, as NVIDIA's driver 580 does: then
 * what is chosen by a comparison is not what the processor chooses. The sign of a - b tells which
 * is less: the difference of two different numbers is never rounded to zero where subnormal numbers
 * are kept. Its bits are compared as whole numbers.
 */

#define SPIRV_HEADER_WORDS 5	/* of a module, before its instructions */

/* Numbers of the SPIR-V specification, version 1.5: §2.3, §3.20, §3.32. */
#define BOUND 3				/* word of the header: ids are less */
enum op {
	OP_TYPE_VOID = 19, OP_TYPE_BOOL, OP_TYPE_INT, OP_TYPE_FLOAT,
	OP_CONSTANT = 43, OP_FUNCTION = 54, OP_DECORATE = 71, OP_BITCAST = 124,
	OP_ISUB = 130, OP_FSUB, OP_LOGICAL_AND = 167, OP_LOGICAL_NOT,
	OP_UGREATER = 172, OP_ULESS_EQUAL = 178,
	OP_FORD_EQUAL = 180, OP_FUNORD_EQUAL, OP_FORD_NOT_EQUAL, OP_FUNORD_NOT_EQUAL,
	OP_FORD_LESS, OP_FUNORD_LESS, OP_FORD_GREATER, OP_FUNORD_GREATER,
	OP_FORD_LESS_EQUAL, OP_FUNORD_LESS_EQUAL, OP_FORD_GREATER_EQUAL, OP_FUNORD_GREATER_EQUAL,
	OP_BITWISE_AND = 199
};
#define NO_CONTRACTION 42u

/* What a - b shows by its bits: that it is positive, negative, or either. */
enum sign { POSITIVE, NEGATIVE, ANY };

/*
 * A comparison is: the difference has this sign; or it has not and the device's own comparison,
 * which takes part for infinities and NaN, holds as well. An unordered one is the opposite of
 * another.
 */
static const struct {
	enum sign sign;
	bool own;		/* the difference has not this sign, and the device's own holds */
	bool opposite;
	enum op op;		/* the device's own */
} comparison[] = {
	[OP_FORD_EQUAL - OP_FORD_EQUAL] = { ANY, true, false, OP_FORD_EQUAL },
	[OP_FUNORD_EQUAL - OP_FORD_EQUAL] = { ANY, false, true, OP_FORD_NOT_EQUAL },
	[OP_FORD_NOT_EQUAL - OP_FORD_EQUAL] = { ANY, false, false, OP_FORD_NOT_EQUAL },
	[OP_FUNORD_NOT_EQUAL - OP_FORD_EQUAL] = { ANY, true, true, OP_FORD_EQUAL },
	[OP_FORD_LESS - OP_FORD_EQUAL] = { NEGATIVE, false, false, OP_FORD_LESS },
	[OP_FUNORD_LESS - OP_FORD_EQUAL] = { NEGATIVE, true, true, OP_FORD_GREATER_EQUAL },
	[OP_FORD_GREATER - OP_FORD_EQUAL] = { POSITIVE, false, false, OP_FORD_GREATER },
	[OP_FUNORD_GREATER - OP_FORD_EQUAL] = { POSITIVE, true, true, OP_FORD_LESS_EQUAL },
	[OP_FORD_LESS_EQUAL - OP_FORD_EQUAL] = { POSITIVE, true, false, OP_FORD_LESS_EQUAL },
	[OP_FUNORD_LESS_EQUAL - OP_FORD_EQUAL] = { POSITIVE, false, true, OP_FORD_GREATER },
	[OP_FORD_GREATER_EQUAL - OP_FORD_EQUAL] = { NEGATIVE, true, false, OP_FORD_GREATER_EQUAL },
	[OP_FUNORD_GREATER_EQUAL - OP_FORD_EQUAL] = { NEGATIVE, false, true, OP_FORD_LESS },
};

/* Bits of floats. */
#define MAGNITUDE 0x7fffffffu
#define SIGN 0x80000000u
#define LEAST_NORMAL 0x00800000u
#define ALL_NUMBERS 0x7f7fffffu	/* magnitudes 1 to infinity, less 1, are at most this */

#define WORDS_EACH (3 + 5 + 4 + 5 + 5 + 5 + 5 + 5 + 4)	/* of a comparison, at most */
#define CONSTANTS 4

struct module {
	const uint32_t *code;
	size_t words;
	uint32_t bound, boolean, whole, real;	/* ids of types; 0: the module has none */
	uint8_t *kind;			/* of ids: enum kind */
	uint32_t *to;			/* where the next word of the result goes */
	uint32_t next;			/* id that nobody has yet */
	uint32_t constant[CONSTANTS];	/* ids of the numbers that are needed */
};
enum kind { OTHER, REAL, REAL_NORMAL };	/* a float; one whose comparison is as it must be */

static enum op
op_of(const uint32_t *at)
{
	return (enum op)(*at & 0xffff);
}

static const uint32_t constants[CONSTANTS] = { 1, SIGN + 1, ALL_NUMBERS, MAGNITUDE };

/* The ids of types, and which ids are floats. */
static void
look(struct module *m)
{
	const uint32_t *end = m->code + m->words;

	for (const uint32_t *at = m->code + SPIRV_HEADER_WORDS; at < end; at += *at >> 16) {
		size_t length = *at >> 16;

		if (op_of(at) == OP_TYPE_BOOL)
			m->boolean = at[1];
		else if (op_of(at) == OP_TYPE_INT && at[2] == 32 && at[3] == 0)
			m->whole = at[1];
		else if (op_of(at) == OP_TYPE_FLOAT && at[2] == 32)
			m->real = at[1];
		else if (m->real && length > 2 && at[1] == m->real && at[2] < m->bound)
			m->kind[at[2]] = op_of(at) == OP_CONSTANT &&
			    (at[3] & MAGNITUDE) >= LEAST_NORMAL ? REAL_NORMAL : REAL;
	}
}

/* A comparison with a number that is not subnormal, nor zero, is right on every device. */
static bool
is_replaced(const struct module *m, const uint32_t *at)
{
	return op_of(at) >= OP_FORD_EQUAL && op_of(at) <= OP_FUNORD_GREATER_EQUAL &&
	    m->kind[at[3]] == REAL && m->kind[at[4]] == REAL;
}

static void
put(struct module *m, enum op op, size_t n, const uint32_t *words)
{
	*m->to++ = (uint32_t)(n + 1) << 16 | (uint32_t)op;
	memcpy(m->to, words, n * sizeof(*words));
	m->to += n;
}

/* result = a op b; its id */
static uint32_t
put_binary(struct module *m, enum op op, uint32_t type, uint32_t result, uint32_t a, uint32_t b)
{
	put(m, op, 4, (const uint32_t[]){ type, result, a, b });
	return result;
}

static void
put_comparison(struct module *m, const uint32_t *at, uint32_t difference)
{
	size_t which = op_of(at) - OP_FORD_EQUAL;
	enum sign sign = comparison[which].sign;
	bool own = comparison[which].own, opposite = comparison[which].opposite;
	uint32_t bits = m->next++, rest, is, result = opposite ? m->next++ : at[2];

	put_binary(m, OP_FSUB, m->real, difference, at[3], at[4]);
	put(m, OP_BITCAST, 3, (const uint32_t[]){ m->whole, bits, difference });
	if (sign == ANY)
		bits = put_binary(m, OP_BITWISE_AND, m->whole, m->next++, bits, m->constant[3]);
	rest = put_binary(m, OP_ISUB, m->whole, m->next++, bits, m->constant[sign == NEGATIVE]);
	is = put_binary(m, own ? OP_UGREATER : OP_ULESS_EQUAL, m->boolean,
	    own ? m->next++ : result, rest, m->constant[2]);
	if (own)
		put_binary(m, OP_LOGICAL_AND, m->boolean, result, is,
		    put_binary(m, comparison[which].op, m->boolean, m->next++, at[3], at[4]));
	if (opposite)
		put(m, OP_LOGICAL_NOT, 3, (const uint32_t[]){ m->boolean, at[2], result });
}

/* The whole numbers that comparisons need, and their type where the module has none. */
static void
put_constants(struct module *m)
{
	if (!m->whole) {
		m->whole = m->next++;
		put(m, OP_TYPE_INT, 3, (const uint32_t[]){ m->whole, 32, 0 });
	}
	for (size_t i = 0; i < CONSTANTS; i++) {
		m->constant[i] = m->next++;
		put(m, OP_CONSTANT, 3, (const uint32_t[]){ m->whole, m->constant[i],
			constants[i] });
	}
}

/* The module again, with decorations before the first type and constants before the first function.
 */
static void
rewrite(struct module *m, uint32_t differences, size_t replaced)
{
	bool decorated = false, declared = false;
	uint32_t difference = differences;
	const uint32_t *end = m->code + m->words;

	for (const uint32_t *at = m->code + SPIRV_HEADER_WORDS; at < end; at += *at >> 16) {
		if (!decorated && op_of(at) >= OP_TYPE_VOID && op_of(at) <= OP_TYPE_FLOAT) {
			decorated = true;
			for (size_t i = 0; i < replaced; i++)
				put(m, OP_DECORATE, 2, (const uint32_t[]){
					differences + (uint32_t)i, NO_CONTRACTION });
		}
		if (!declared && op_of(at) == OP_FUNCTION && replaced) {
			declared = true;
			put_constants(m);
		}
		if (is_replaced(m, at)) {
			put_comparison(m, at, difference++);
		} else {
			memcpy(m->to, at, (*at >> 16) * sizeof(*at));
			m->to += *at >> 16;
		}
	}
}

uint32_t *
vulkan_compare_bits(uint32_t *code, size_t *bytes)
{
	struct module m = { .code = code, .words = *bytes / sizeof(*code), .bound = code[BOUND] };
	size_t replaced = 0;
	/* a comparison has five words */
	uint32_t *made = must_alloc(1,
	    *bytes * (1 + WORDS_EACH / 5) + (CONSTANTS + 1) * 4 * sizeof(*made));

	m.kind = must_alloc(m.bound, sizeof(*m.kind));
	look(&m);
	for (const uint32_t *at = code + SPIRV_HEADER_WORDS; at < code + m.words; at += *at >> 16)
		replaced += is_replaced(&m, at);
	memcpy(made, code, SPIRV_HEADER_WORDS * sizeof(*made));
	m.to = made + SPIRV_HEADER_WORDS;
	m.next = m.bound + (uint32_t)replaced;
	rewrite(&m, m.bound, replaced);
	made[BOUND] = m.next;
	*bytes = (size_t)(m.to - made) * sizeof(*made);
	free(m.kind);
	free(code);
	return made;
}

/* ---- float modes ---- */

/* Vulkan leaves it to the device how floats are rounded and whether subnormal numbers, infinities
 * and NaN are kept, unless a shader demands it; it may demand what the device says that it has. */

/* Numbers of the SPIR-V specification, version 1.5: §2.3, §3.6, §3.31. */
#define OP_ENTRY_POINT 15u
#define OP_EXECUTION_MODE 16u
#define OP_CAPABILITY 17u
#define CAPABILITY_FLOAT64 10u

static const struct {
	uint32_t mode, capability;
} float_mode[FLOAT_MODES] = {
	{ 4459, 4464 },		/* DenormPreserve */
	{ 4461, 4466 },		/* SignedZeroInfNanPreserve */
	{ 4462, 4467 },		/* RoundingModeRTE */
};

bool
gpu_shader_has_doubles(const struct shader *shader)
{
	for (const uint32_t *at = shader->code + SPIRV_HEADER_WORDS;
	    at < shader->end && (*at & 0xffff) == OP_CAPABILITY; at += *at >> 16)
		if (at[1] == CAPABILITY_FLOAT64)
			return true;
	return false;
}

static void
vulkan_find_float_modes(VkPhysicalDevice physical, bool has[FLOAT_MODES])
{
	VkPhysicalDeviceFloatControlsProperties floats = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES
	};
	VkPhysicalDeviceProperties2 properties = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &floats
	};
	/* not where doubles would have to follow */
	VkShaderFloatControlsIndependence none = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;

	vkGetPhysicalDeviceProperties2(physical, &properties);
	has[FLOAT_SUBNORMAL] = floats.shaderDenormPreserveFloat32 &&
	    floats.denormBehaviorIndependence != none;
	has[FLOAT_SPECIAL] = floats.shaderSignedZeroInfNanPreserveFloat32;
	has[FLOAT_NEAREST] = floats.shaderRoundingModeRTEFloat32 &&
	    floats.roundingModeIndependence != none;
}

uint32_t *
vulkan_demand_float_modes(const struct gpu *gpu, const struct shader *shader, size_t *bytes)
{
	size_t words = (size_t)(shader->end - shader->code);
	uint32_t *code = must_alloc(words + FLOAT_MODES * (2 + 4), sizeof(*code)), *to = code;
	const uint32_t *at = shader->code;

	memcpy(to, at, SPIRV_HEADER_WORDS * sizeof(*to));
	to += SPIRV_HEADER_WORDS;
	at += SPIRV_HEADER_WORDS;
	for (size_t i = 0; i < FLOAT_MODES; i++)
		if (gpu->float_modes[i]) {
			*to++ = 2u << 16 | OP_CAPABILITY;
			*to++ = float_mode[i].capability;
		}
	while (at < shader->end) {
		size_t length = *at >> 16;

		memcpy(to, at, length * sizeof(*to));
		to += length;
		for (size_t i = 0; i < FLOAT_MODES && (*at & 0xffff) == OP_ENTRY_POINT; i++)
			if (gpu->float_modes[i]) {
				*to++ = 4u << 16 | OP_EXECUTION_MODE;
				*to++ = at[2];		/* the entry point */
				*to++ = float_mode[i].mode;
				*to++ = 32;		/* bits */
			}
		at += length;
	}
	*bytes = (size_t)(to - code) * sizeof(*code);
	return code;
}

/* ---- the instance ---- */

#define VALIDATION "VK_LAYER_KHRONOS_validation"

static VKAPI_ATTR VkBool32 VKAPI_CALL
complain(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
    const VkDebugUtilsMessengerCallbackDataEXT *data, void *arg)
{
	struct gpu *gpu = arg;

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

/* A device that could be used. */
struct listed {
	VkPhysicalDevice physical;
	size_t kind;			/* faster kinds first */
	struct gpu_facts facts;
	bool float_modes[FLOAT_MODES];
	bool probe;	/* facts.exact is not known before float_probe() has tried */
};

static const struct {
	VkPhysicalDeviceType type;
	const char *name;
} kinds[] = {
	{ VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, "discrete" },
	{ VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, "integrated" },
	{ VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, "virtual" },
	{ VK_PHYSICAL_DEVICE_TYPE_CPU, "cpu" },
	{ VK_PHYSICAL_DEVICE_TYPE_OTHER, "other" }
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

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

/* NULL, or what the device lacks. */
static const char *
look_at(VkPhysicalDevice physical, struct listed *listed)
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
	VkPhysicalDeviceProperties2 properties2 = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &limits
	};
	const VkPhysicalDeviceProperties *properties = &properties2.properties;
	VkPhysicalDeviceMemoryProperties memory;
	struct gpu_facts *facts = &listed->facts;
	const bool *modes = listed->float_modes;
	uint32_t queues;
	bool promises;		/* all but subnormal numbers */

	*listed = (struct listed){ .physical = physical };
	vkGetPhysicalDeviceProperties2(physical, &properties2);
	snprintf(facts->name, sizeof(facts->name), "%s", properties->deviceName);
	while (listed->kind + 1 < KINDS && kinds[listed->kind].type != properties->deviceType)
		listed->kind++;
	facts->kind = kinds[listed->kind].name;
	if (properties->apiVersion < VK_API_VERSION_1_2)
		return "Vulkan 1.2";
	vkGetPhysicalDeviceFeatures2(physical, &features);
	vkGetPhysicalDeviceMemoryProperties(physical, &memory);
	facts->float64 = features.features.shaderFloat64;
	vulkan_find_float_modes(physical, listed->float_modes);
	promises = modes[FLOAT_SPECIAL] && modes[FLOAT_NEAREST];
	/* a processor that runs shaders has its own floats, which it need not list */
	listed->probe = promises && (getenv("FRINGEPIPE_GPU_PROBE") ||
	    (!modes[FLOAT_SUBNORMAL] && properties->deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU));
	facts->exact = promises && !listed->probe;
	facts->allocation_most = limits.maxMemoryAllocationSize;
	facts->groups_most[0] = properties->limits.maxComputeWorkGroupCount[0];
	facts->groups_most[1] = properties->limits.maxComputeWorkGroupCount[1];
	facts->unified = is_unified(&memory, properties->deviceType);
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

/* The usable ones, faster kinds first: their number; -1 after fail(). *list is the caller's; *lack:
 * what the last unusable one lacks. */
static int
list_devices(const struct gpu *gpu, struct listed **list, const char **lack)
{
	VkPhysicalDevice *physical;
	uint32_t found = 0;
	VkResult result = vkEnumeratePhysicalDevices(gpu->instance, &found, NULL);
	int n = 0;

	*list = NULL;
	if (result != VK_SUCCESS || found == 0)
		return 0;
	physical = must_alloc(found, sizeof(*physical));
	result = vkEnumeratePhysicalDevices(gpu->instance, &found, physical);
	if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
		free(physical);
		return vulkan_failed(result, "vkEnumeratePhysicalDevices");
	}
	*list = must_alloc(found, sizeof(**list));
	for (uint32_t i = 0; i < found; i++) {
		struct listed listed;
		const char *lacks = look_at(physical[i], &listed);
		int at = n;

		if (lacks) {
			*lack = lacks;
			continue;
		}
		for (n++; at > 0 && (*list)[at - 1].kind > listed.kind; at--)
			(*list)[at] = (*list)[at - 1];
		(*list)[at] = listed;
	}
	free(physical);
	return n;
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

/* Opens a device to learn whether it is exact. One that cannot be opened is not known to be. */
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
	struct gpu gpu = { 0 };
	struct listed *list;
	const char *lack;
	double timeout_s;
	int n = find_timeout(&timeout_s) < 0 ? -1 : open_instance(&gpu);

	if (n < 1)
		return n;
	n = list_devices(&gpu, &list, &lack);
	close_instance(&gpu);
	for (int i = 0; i < n; i++) {
		if (list[i].probe)
			probe_listed((size_t)i, &list[i].facts);
		each(arg, (size_t)i, &list[i].facts);
	}
	free(list);
	return n;
}

/* *probe: it must be tried whether the device is exact. */
static int
choose_device(struct gpu *gpu, const char *which, bool *probe)
{
	struct listed *list;
	const char *lack = NULL;
	char *end;
	unsigned long number = strtoul(which, &end, 10);
	bool numbered = *which && !*end;
	int n = list_devices(gpu, &list, &lack);

	if (n < 0)
		return -1;
	for (int i = 0; i < n && !gpu->physical; i++) {
		if (numbered ? (unsigned long)i != number : !strcasestr(list[i].facts.name, which))
			continue;
		gpu->physical = list[i].physical;
		gpu->facts = list[i].facts;
		memcpy(gpu->float_modes, list[i].float_modes, sizeof(gpu->float_modes));
		*probe = list[i].probe;
	}
	free(list);
	if (gpu->physical)
		return 0;
	if (n)
		return fail_with(EXIT_NO_DEVICE, NULL,
		    "no GPU %s among the %d here, see fringepipe --devices", which, n);
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
	struct gpu *gpu = must_alloc(1, sizeof(*gpu));
	bool probe = false;

	*out = NULL;
	if (find_timeout(&gpu->timeout_s) < 0) {
		free(gpu);
		return -1;
	}
	pthread_mutex_init(&gpu->lock, NULL);
	if (open_instance(gpu) < 1) {
		fail_with(EXIT_NO_DEVICE, NULL, "no GPU: no Vulkan device was found");
	} else if (choose_device(gpu, which, &probe) == 0 && open_device(gpu) == 0) {
		vkGetPhysicalDeviceMemoryProperties(gpu->physical, &gpu->memory);
		find_clock(gpu);
		gpu->compares_bits = compares_bits(gpu);
		if (vulkan_open_pipelines(gpu) == 0 &&
		    (!probe || float_probe(gpu, &gpu->facts.exact) == 0)) {
			*out = gpu;
			return 0;
		}
	}
	gpu_close(gpu);
	return -1;
}

/* Ends the program without the driver's destructors. */
static void
leave(int status, void *)
{
	fflush(NULL);
	_exit(status);
}

int
gpu_close(struct gpu *gpu)
{
	bool faulty;

	if (!gpu)
		return 0;
	/* It may be at work for ever: closing it would wait for it. The driver's threads run on,
	 * too: exit() would destroy what they use (seen: a segmentation fault within LLVM). */
	if (gpu->lost) {
		on_exit(leave, NULL);
		return 0;
	}
	if (gpu->device) {
		vkDeviceWaitIdle(gpu->device);
		vulkan_close_pipelines(gpu);
		for (int i = 0; i < LANES; i++)
			vkDestroySemaphore(gpu->device, gpu->lane[i].done, NULL);
		vkDestroyDevice(gpu->device, NULL);
	}
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
