/* Vulkan leaves it to the device how floats are rounded and whether subnormal numbers, infinities
 * and NaN are kept, unless a shader demands it; it may demand what the device says that it has. */
#include "gpu/vulkan.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

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

void
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
	uint32_t *code = malloc((words + FLOAT_MODES * (2 + 4)) * sizeof(*code)), *to = code;
	const uint32_t *at = shader->code;

	if (!code) {
		fail_memory();
		return NULL;
	}
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
