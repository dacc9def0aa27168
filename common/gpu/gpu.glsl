/*
 * What every compute shader includes: the push block, and how planes are reached. GLSL 4.50.
 *
 * A shader makes the rows gpu.y0 <= y < gpu.y1 of its output planes (scratch planes may need some
 * more); PASS_FOURS shaders make four pixels of a row at once, from column 4 gl_GlobalInvocationID.x
 * on. Rows begin at 64-byte boundaries and their padding may be read and written, so four pixels
 * are always there. Rows are reached by their number in the image, whatever part of it is on the
 * device. Planes: 0 .. are the input's and its second inputs', gpu.states .. the last frame's state,
 * gpu.outputs .. the output's, gpu.new_states .. this frame's state, gpu.scratches .. the scratch
 * planes, gpu.constants .. the stage's tables. Each has its own stride and sample type.
 */
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "base/px.h"

layout(local_size_x_id = 0, local_size_y_id = 1) in;

struct gpu_plane {
	uint64_t address;		/* of row 0 */
	uint stride, type;		/* bytes from row to row; GPU_UCHAR, ... */
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer gpu_table {
	gpu_plane at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer gpu_floats { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer gpu_words { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer gpu_fours { vec4 at[]; };

layout(push_constant, std430) uniform gpu_push {
	gpu_table planes;
	uint64_t block;			/* the stage's own struct */
	uint w, h;			/* of the image */
	uint y0, y1;			/* rows to make */
	uint states, outputs, new_states, scratches, constants;	/* where they begin in planes */
} gpu;

/* Sample types, as in frame.h. */
#define GPU_UCHAR 0u
#define GPU_USHORT 1u
#define GPU_FLOAT 2u

uint64_t
gpu_row(uint plane, uint y)
{
	gpu_plane p = gpu.planes.at[plane];

	return p.address + uint64_t(y) * p.stride;
}

/* ---- single pixels ---- */

float
gpu_in(uint c, uint x, uint y)
{
	return gpu_floats(gpu_row(c, y)).at[x];
}

/* A sample of any type as a float. */
float
gpu_sample(uint c, uint x, uint y, uint type)
{
	uint64_t row = gpu_row(c, y);

	if (type == GPU_UCHAR)
		return float(gpu_words(row).at[x >> 2] >> (8 * (x & 3u)) & 0xffu);
	if (type == GPU_USHORT)
		return float(gpu_words(row).at[x >> 1] >> (16 * (x & 1u)) & 0xffffu);
	return gpu_floats(row).at[x];
}

float
gpu_scratch(uint c, uint x, uint y)
{
	return gpu_floats(gpu_row(gpu.scratches + c, y)).at[x];
}

void
gpu_scratch_put(uint c, uint x, uint y, float v)
{
	gpu_floats(gpu_row(gpu.scratches + c, y)).at[x] = v;
}

void
gpu_out(uint c, uint x, uint y, float v)
{
	gpu_floats(gpu_row(gpu.outputs + c, y)).at[x] = v;
}

/* ---- four pixels of a row; x is a multiple of 4 ---- */

vec4
gpu_in4(uint c, uint x, uint y)
{
	return gpu_fours(gpu_row(c, y)).at[x >> 2];
}

/* State planes: what the last frame left, and what this one leaves (run_state_in() in run.h). */
vec4
gpu_state4(uint i, uint x, uint y)
{
	return gpu_fours(gpu_row(gpu.states + i, y)).at[x >> 2];
}

void
gpu_state4_put(uint i, uint x, uint y, vec4 v)
{
	gpu_fours(gpu_row(gpu.new_states + i, y)).at[x >> 2] = v;
}

/* Samples of any type as floats. */
vec4
gpu_samples4(uint c, uint x, uint y, uint type)
{
	uint64_t row = gpu_row(c, y);

	if (type == GPU_UCHAR) {
		uint word = gpu_words(row).at[x >> 2];

		return vec4(word & 0xffu, (word >> 8) & 0xffu, (word >> 16) & 0xffu, word >> 24);
	}
	if (type == GPU_USHORT) {
		uint a = gpu_words(row).at[x >> 1], b = gpu_words(row).at[(x >> 1) + 1];

		return vec4(a & 0xffffu, a >> 16, b & 0xffffu, b >> 16);
	}
	return gpu_fours(row).at[x >> 2];
}

vec4
gpu_scratch4(uint c, uint x, uint y)
{
	return gpu_fours(gpu_row(gpu.scratches + c, y)).at[x >> 2];
}

void
gpu_scratch4_put(uint c, uint x, uint y, vec4 v)
{
	gpu_fours(gpu_row(gpu.scratches + c, y)).at[x >> 2] = v;
}

void
gpu_out4(uint c, uint x, uint y, vec4 v)
{
	gpu_fours(gpu_row(gpu.outputs + c, y)).at[x >> 2] = v;
}

/* Whole numbers 0 .. 255. */
void
gpu_out4_uchar(uint c, uint x, uint y, vec4 v)
{
	uvec4 u = uvec4(v);

	gpu_words(gpu_row(gpu.outputs + c, y)).at[x >> 2] =
	    u.x | (u.y << 8) | (u.z << 16) | (u.w << 24);
}

/* Whole numbers 0 .. 65535. */
void
gpu_out4_ushort(uint c, uint x, uint y, vec4 v)
{
	uvec4 u = uvec4(v);
	uint64_t row = gpu_row(gpu.outputs + c, y);

	gpu_words(row).at[x >> 1] = u.x | (u.y << 16);
	gpu_words(row).at[(x >> 1) + 1] = u.z | (u.w << 16);
}

/* ---- the stage's tables (passes_constant) ---- */

uint64_t
gpu_constant(uint i)
{
	return gpu.planes.at[gpu.constants + i].address;
}

/* The row of this invocation, from gpu.y0 on. */
uint
gpu_y()
{
	return gpu.y0 + gl_GlobalInvocationID.y;
}

/* The first of the four columns of this invocation. */
uint
gpu_x4()
{
	return 4u * gl_GlobalInvocationID.x;
}

/* The row that a workgroup shares. */
uint
gpu_group_y()
{
	return gpu.y0 + gl_WorkGroupID.y;
}

bool
gpu_outside(uint x, uint y)
{
	return x >= gpu.w || y >= gpu.y1;
}
