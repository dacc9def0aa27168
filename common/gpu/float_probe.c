#include "gpu/float_probe.h"

#include <string.h>

#include "base/fail.h"
#include "gpu/float_results.px.h"

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
	if (gpu_job_begin(job) < 0)
		return -1;
	gpu_job_upload(job, host, 0, device, 0, bytes);
	if (gpu_job_dispatch(job, &shader_float_results, local, groups, &push, sizeof(push),
	    false) < 0)
		return -1;
	gpu_job_download(job, device, bytes, host, bytes, host->bytes - bytes);
	return gpu_job_submit(job) < 0 ? -1 : gpu_job_wait(job);
}

int
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
