/* Jobs: what is copied up, computed and copied down, on three lanes that wait for each other. */
#include "gpu/vulkan.h"

#include <math.h>

#include "base/process.h"

#define CLOCKS_MOST 256		/* dispatches of a job whose time is taken */

struct gpu_job {
	struct gpu *gpu;
	VkCommandPool pool[LANES];
	VkCommandBuffer commands[LANES];
	bool used[LANES];
	VkQueryPool clock[LANES];
	uint32_t ticks[LANES];		/* time stamps taken */
	int last;			/* lane of its last commands */
	uint64_t done;			/* what that lane's count is then */
	double up_s, down_s, dispatch_s[CLOCKS_MOST];
	VkResult trouble;		/* the first that went wrong while filling */
};

static VkResult
make_lane(struct gpu_job *job, int lane)
{
	struct gpu *gpu = job->gpu;
	VkCommandPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.queueFamilyIndex = gpu->lane[lane].family,
	};
	VkCommandBufferAllocateInfo commands = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	VkQueryPoolCreateInfo clock = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_TIMESTAMP,
		.queryCount = lane == LANE_COMPUTE ? CLOCKS_MOST + 1 : 2,
	};
	VkResult result = vkCreateCommandPool(gpu->device, &pool, NULL, &job->pool[lane]);

	commands.commandPool = job->pool[lane];
	if (result == VK_SUCCESS)
		result = vkAllocateCommandBuffers(gpu->device, &commands, &job->commands[lane]);
	if (result == VK_SUCCESS && gpu->tick_s > 0)
		result = vkCreateQueryPool(gpu->device, &clock, NULL, &job->clock[lane]);
	return result;
}

struct gpu_job *
gpu_job_new(struct gpu *gpu)
{
	struct gpu_job *job = must_alloc(1, sizeof(*job));
	VkResult result = VK_SUCCESS;

	job->gpu = gpu;
	for (int i = 0; i < LANES && result == VK_SUCCESS; i++)
		result = make_lane(job, i);
	if (result == VK_SUCCESS)
		return job;
	vulkan_failed(result, "vkCreateCommandPool");
	gpu_job_free(job);
	return NULL;
}

void
gpu_job_free(struct gpu_job *job)
{
	if (!job || job->gpu->lost)
		return;
	for (int i = 0; i < LANES; i++) {
		vkDestroyCommandPool(job->gpu->device, job->pool[i], NULL);
		vkDestroyQueryPool(job->gpu->device, job->clock[i], NULL);
	}
	free(job);
}

static void
tick(struct gpu_job *job, int lane)
{
	if (job->clock[lane] && job->ticks[lane] < (lane == LANE_COMPUTE ? CLOCKS_MOST + 1 : 2))
		vkCmdWriteTimestamp(job->commands[lane], VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
		    job->clock[lane], job->ticks[lane]++);
}

/* The commands of a lane are begun when the first is added. */
static VkCommandBuffer
lane_commands(struct gpu_job *job, int lane)
{
	VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
	};
	VkResult result;

	if (job->used[lane])
		return job->commands[lane];
	job->used[lane] = true;
	result = vkResetCommandPool(job->gpu->device, job->pool[lane], 0);
	if (result == VK_SUCCESS)
		result = vkBeginCommandBuffer(job->commands[lane], &begin);
	if (result != VK_SUCCESS && job->trouble == VK_SUCCESS)
		job->trouble = result;
	if (job->clock[lane])	/* by the host: queues that only copy cannot */
		vkResetQueryPool(job->gpu->device, job->clock[lane], 0,
		    lane == LANE_COMPUTE ? CLOCKS_MOST + 1 : 2);
	tick(job, lane);
	return job->commands[lane];
}

void
gpu_job_begin(struct gpu_job *job)
{
	job->trouble = VK_SUCCESS;
	memset(job->used, 0, sizeof(job->used));
	memset(job->ticks, 0, sizeof(job->ticks));
}

void
gpu_job_copy(struct gpu_job *job, const struct gpu_block *from, size_t from_at,
    const struct gpu_block *to, size_t to_at, size_t bytes)
{
	VkBufferCopy region = { from_at, to_at, bytes };

	vkCmdCopyBuffer(lane_commands(job, from->host ? LANE_UP : LANE_DOWN),
	    ((const struct vulkan_block *)from)->buffer,
	    ((const struct vulkan_block *)to)->buffer, 1, &region);
}

/* All that was written before is seen by what comes after. */
static void
barrier(VkCommandBuffer commands, VkPipelineStageFlags before, VkAccessFlags wrote,
    VkPipelineStageFlags after, VkAccessFlags reads)
{
	VkMemoryBarrier memory = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = wrote,
		.dstAccessMask = reads,
	};

	vkCmdPipelineBarrier(commands, before, after, 0, 1, &memory, 0, NULL, 0, NULL);
}

int
gpu_job_dispatch(struct gpu_job *job, const struct shader *shader, const uint32_t local[2],
    const uint32_t groups[2], const struct gpu_push *push, bool beside)
{
	VkPipeline pipeline = vulkan_pipeline(job->gpu, shader, local);
	VkCommandBuffer commands = lane_commands(job, LANE_COMPUTE);

	if (!pipeline)
		return -1;
	if (!beside)
		barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
		    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
		    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdPushConstants(commands, job->gpu->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
	    sizeof(*push), push);
	vkCmdDispatch(commands, groups[0], groups[1], 1);
	tick(job, LANE_COMPUTE);
	return 0;
}

/* The lane's commands wait for those of the lane before, if there is one. */
static VkResult
submit_lane(struct gpu_job *job, int lane, const struct lane *before)
{
	struct gpu *gpu = job->gpu;
	struct lane *own = &gpu->lane[lane];
	VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	VkCommandBuffer commands = lane_commands(job, lane);
	uint64_t value = own->submitted + 1;
	VkTimelineSemaphoreSubmitInfo timeline = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = before ? 1 : 0,
		.pWaitSemaphoreValues = before ? &before->submitted : NULL,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &value,
	};
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &timeline,
		.waitSemaphoreCount = before ? 1 : 0,
		.pWaitSemaphores = before ? &before->done : NULL,
		.pWaitDstStageMask = &stage,
		.commandBufferCount = 1,
		.pCommandBuffers = &commands,
		.signalSemaphoreCount = 1,
		.pSignalSemaphores = &own->done,
	};
	VkResult result;

	if (lane != LANE_COMPUTE)
		tick(job, lane);
	if (lane != LANE_UP)		/* results may be in mapped memory */
		barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
		    VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
	result = vkEndCommandBuffer(commands);
	if (result == VK_SUCCESS)
		result = vkQueueSubmit(own->queue, 1, &info, VK_NULL_HANDLE);
	if (result == VK_SUCCESS)
		own->submitted = value;
	return result;
}

int
gpu_job_submit(struct gpu_job *job)
{
	VkResult result = job->trouble;
	struct lane *before = NULL;

	for (int i = 0; i < LANES && result == VK_SUCCESS; i++)
		if (job->used[i] || i == LANE_COMPUTE) {
			result = submit_lane(job, i, before);
			if (result != VK_SUCCESS)
				break;
			before = &job->gpu->lane[i];
			job->last = i;
			job->done = before->submitted;
		}
	if (result == VK_SUCCESS)
		return 0;
	job->gpu->lost |= result == VK_ERROR_DEVICE_LOST;
	vulkan_failed(result, "vkQueueSubmit");
	if (before)		/* what is on its way uses the job's memory */
		gpu_job_wait(job);
	return -1;
}

/* Seconds between the lane's time stamps i and i + 1. */
static void
read_clock(struct gpu_job *job, int lane, double *seconds)
{
	uint64_t stamp[CLOCKS_MOST + 1];
	uint32_t n = job->ticks[lane];

	if (!job->clock[lane] || n < 2 || vkGetQueryPoolResults(job->gpu->device, job->clock[lane],
	    0, n, n * sizeof(*stamp), stamp, sizeof(*stamp), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
		return;
	for (uint32_t i = 0; i + 1 < n; i++)
		seconds[i] = (double)(stamp[i + 1] - stamp[i]) * job->gpu->tick_s;
}

int
gpu_job_wait(struct gpu_job *job)
{
	struct gpu *gpu = job->gpu;
	VkSemaphoreWaitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
		.semaphoreCount = 1,
		.pSemaphores = &gpu->lane[job->last].done,
		.pValues = &job->done,
	};
	VkResult result;

	if (gpu->lost)
		return fail(NULL, "the GPU was given up");
	result = vkWaitSemaphores(gpu->device, &info, (uint64_t)(1e9 * gpu->timeout_s));
	if (result == VK_TIMEOUT) {
		gpu->lost = true;
		return fail(NULL, "the GPU has not answered for %g s", gpu->timeout_s);
	}
	if (result != VK_SUCCESS) {
		gpu->lost = true;	/* it may still write to what the caller would free */
		return vulkan_failed(result, "vkWaitSemaphores");
	}
	job->up_s = job->down_s = NAN;
	for (size_t i = 0; i < CLOCKS_MOST; i++)
		job->dispatch_s[i] = NAN;
	read_clock(job, LANE_UP, &job->up_s);
	read_clock(job, LANE_COMPUTE, job->dispatch_s);
	read_clock(job, LANE_DOWN, &job->down_s);
	return 0;
}

bool
gpu_lost(const struct gpu *gpu)
{
	return gpu->lost;
}

double
gpu_job_dispatch_seconds(const struct gpu_job *job, size_t dispatch)
{
	return dispatch < CLOCKS_MOST ? job->dispatch_s[dispatch] : NAN;
}

void
gpu_job_copy_seconds(const struct gpu_job *job, double *up, double *down)
{
	*up = job->up_s;
	*down = job->down_s;
}
