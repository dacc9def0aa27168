/*
 * A GigE Vision camera on 127.0.0.1, or another address of this machine, that looks at the screen
 * of an Xvfb through a simulated scene:
 * Aravis' fake camera, with pictures of ours.
 *
 * virtual_camera FRAMEBUFFER TRUTH.pfm [latency=MS] [rolling=MS] [stale=SHARE] [drop=SHARE]
 * [lost=SHARE of packets] [noise=LEVELS of 4095] [address=...]
 *
 * The framebuffer is watched, and a picture is the mean of what it showed during the exposure, row
 * by row, `latency` earlier, so that the machine's own delays are those of a real screen. Which
 * pictures are stale or dropped depends on their numbers alone.
 */
#include <arv.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEPT 256		/* screens, at 60 a second for 4 s */
#define W 320
#define H 128
#define MONO12P 0x010c0047u

static struct { double time; uint8_t *level; } kept[KEPT];
static long shown;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const uint8_t *screen;
static size_t screen_w, screen_h, screen_row;
static double latency, rolling, stale, drop, lost, noise;
static ArvGvFakeCamera *device;
static uint16_t last[W * H];
static unsigned long taken;
static volatile sig_atomic_t stopped;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Uniform from 0 to 1, from a number. */
static double
chance(uint64_t n)
{
	n = (n + 1) * 0x9e3779b97f4a7c15u;
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
	n = (n ^ n >> 27) * 0x94d049bb133111ebu;
	return (double)((n ^ n >> 31) >> 11) / 9007199254740992.;
}

static double
column_seen(size_t x, size_t y)
{
	double dx = ((double)x - 140) / 55, dy = ((double)y - 64) / 32;

	return 24 + (double)x * ((double)screen_w - 70) / W + 28 * exp(-(dx * dx + dy * dy) / 2);
}

static double
albedo(size_t x, size_t y)
{
	return 0.72 + 0.18 * sin(0.05 * (double)x) * cos(0.08 * (double)y);
}

static void *
watch(void *nothing)
{
	uint8_t *before = malloc(screen_row * screen_h);

	memset(before, 1, screen_row * screen_h);
	for (; !stopped; usleep(2000)) {
		double t = now();
		uint8_t *level;

		if (!memcmp(before, screen, screen_row * screen_h))
			continue;
		memcpy(before, screen, screen_row * screen_h);
		level = kept[shown % KEPT].level;
		level = level ? level : malloc(screen_w * screen_h);
		for (size_t i = 0; i < screen_w * screen_h; i++)
			level[i] = before[i / screen_w * screen_row + 4 * (i % screen_w) + 1];
		pthread_mutex_lock(&mutex);
		kept[shown % KEPT].level = level;
		kept[shown++ % KEPT].time = t;
		pthread_mutex_unlock(&mutex);
	}
	free(before);
	return nothing;
}

static void
expose(double begun, double exposure)
{
	pthread_mutex_lock(&mutex);
	for (size_t y = 0; y < H; y++) {
		double from = begun + rolling * (double)y / H - latency, sum[W] = { 0 };
		double to = from + exposure;
		const size_t row = 8 + y * (screen_h - 16) / H;

		for (long i = shown; i-- > 0 && i > shown - KEPT;) {
			double on = i > 0 ? kept[i % KEPT].time : 0;
			double off = i + 1 < shown ? kept[(i + 1) % KEPT].time : HUGE_VAL;
			double t = fmin(to, off) - fmax(from, on);

			for (size_t x = 0; t > 0 && x < W; x++) {
				double u = column_seen(x, y);
				const uint8_t *v = kept[i % KEPT].level + row * screen_w +
				    (size_t)u;

				u -= floor(u);
				sum[x] += t / exposure * (v[0] * (1 - u) + v[1] * u) / 255;
			}
			if (on < from)
				break;
		}
		for (size_t x = 0; x < W; x++) {
			uint64_t n = ((uint64_t)taken * H + y) * W + x;
			double v = 82 + 3800 * albedo(x, y) * sum[x] + noise * sqrt(6) *
			    (chance(4 * n) + chance(4 * n + 1) - 1);

			last[y * W + x] = (uint16_t)(v < 0 ? 0 : v > 4095 ? 4095 : v + 0.5);
		}
	}
	pthread_mutex_unlock(&mutex);
}

static void
fill(ArvBuffer *buffer, void *nothing, guint32 exposure_us, guint32 gain, ArvPixelFormat format)
{
	double begun = now(), exposure = 1e-6 * exposure_us;
	size_t bytes;
	uint8_t *to = (uint8_t *)arv_buffer_get_data(buffer, &bytes);

	(void)nothing;
	(void)gain;
	while (now() < begun + exposure + rolling + 0.01)
		usleep(500);
	if (taken == 0 || chance(taken) >= stale)
		expose(begun, exposure);
	for (size_t i = 0; i < W * H; i += 2) {
		unsigned a = last[i], b = last[i + 1];

		switch (format) {
		case ARV_PIXEL_FORMAT_MONO_12:
		case ARV_PIXEL_FORMAT_MONO_16:
			a <<= format == ARV_PIXEL_FORMAT_MONO_16 ? 4 : 0;
			b <<= format == ARV_PIXEL_FORMAT_MONO_16 ? 4 : 0;
			memcpy(to + 2 * i, (const uint16_t[]){ (uint16_t)a, (uint16_t)b }, 4);
			break;
		case ARV_PIXEL_FORMAT_MONO_12_PACKED:
			to[i * 3 / 2] = (uint8_t)(a >> 4);
			to[i * 3 / 2 + 1] = (uint8_t)((a & 15) | (b & 15) << 4);
			to[i * 3 / 2 + 2] = (uint8_t)(b >> 4);
			break;
		case MONO12P:
			to[i * 3 / 2] = (uint8_t)a;
			to[i * 3 / 2 + 1] = (uint8_t)(a >> 8 | (b & 15) << 4);
			to[i * 3 / 2 + 2] = (uint8_t)(b >> 4);
			break;
		default:
			to[i] = (uint8_t)(a >> 4);
			to[i + 1] = (uint8_t)(b >> 4);
		}
	}
	g_object_set(device, "gvsp-lost-ratio", chance(~(uint64_t)taken) < drop ? 1.0 : lost, NULL);
	taken++;
}

/* The fake camera's own description, with three formats of 12 bits, as a file. */
static void
write_description(const char *path)
{
	static const char more[] =
	    "<EnumEntry Name=\"Mono12\"><Value>17825797</Value></EnumEntry>"
	    "<EnumEntry Name=\"Mono12Packed\"><Value>17563654</Value></EnumEntry>"
	    "<EnumEntry Name=\"Mono12p\"><Value>17563719</Value></EnumEntry>";
	ArvFakeCamera *plain = arv_fake_camera_new("plain");
	size_t n;
	const char *text = arv_fake_camera_get_genicam_xml(plain, &n);
	const char *at = strstr(strstr(text, "Name=\"PixelFormat\""), "<EnumEntry");
	FILE *file = fopen(path, "wb");

	fprintf(file, "%.*s%s%.*s", (int)(at - text), text, more,
	    (int)(n - (size_t)(at - text)), at);
	fclose(file);
	g_object_unref(plain);
}

static void
map_screen(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	const uint8_t *map;
	uint32_t head[25];

	if (fd < 0 || fstat(fd, &st) < 0) {
		perror(path);
		exit(1);
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	for (int i = 0; i < 25; i++)
		head[i] = (uint32_t)map[4 * i] << 24 | (uint32_t)map[4 * i + 1] << 16 |
		    (uint32_t)map[4 * i + 2] << 8 | map[4 * i + 3];
	screen_w = head[4];
	screen_h = head[5];
	screen_row = head[12];
	screen = map + head[0] + 12 * head[19];
}

static void
stop(int signal)
{
	(void)signal;
	stopped = 1;
}

int
main(int argc, char **argv)
{
	struct { const char *name; double *value, scale; } option[] = {
		{ "latency=", &latency, 1e-3 }, { "rolling=", &rolling, 1e-3 },
		{ "stale=", &stale, 1 }, { "drop=", &drop, 1 },
		{ "lost=", &lost, 1 }, { "noise=", &noise, 1 },
	};
	const char *address = "127.0.0.1";
	pthread_t watcher;
	ArvFakeCamera *camera;
	FILE *truth;

	map_screen(argv[1]);
	for (int i = 3; i < argc; i++) {
		if (!strncmp(argv[i], "address=", 8))
			address = argv[i] + 8;
		for (size_t k = 0; k < 6; k++)
			if (!strncmp(argv[i], option[k].name, strlen(option[k].name)))
				*option[k].value = option[k].scale *
				    atof(argv[i] + strlen(option[k].name));
	}
	truth = fopen(argv[2], "wb");
	fprintf(truth, "Pf\n%d %d\n-1.0\n", W, H);
	for (size_t y = H; y-- > 0;)
		for (size_t x = 0; x < W; x++)
			fwrite(&(float){ (float)column_seen(x, y) }, 4, 1, truth);
	fclose(truth);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	write_description("camera.xml");
	device = arv_gv_fake_camera_new_full(address, "FP01", "camera.xml");
	if (!arv_gv_fake_camera_is_running(device)) {
		fprintf(stderr, "virtual_camera: port 3956 is taken\n");
		return 1;
	}
	pthread_create(&watcher, NULL, watch, NULL);
	camera = arv_gv_fake_camera_get_fake_camera(device);
	arv_fake_camera_set_fill_pattern(camera, fill, NULL);
	arv_fake_camera_set_trigger_frequency(camera, 1000);
	arv_fake_camera_write_register(camera, ARV_FAKE_CAMERA_REGISTER_WIDTH, W);
	arv_fake_camera_write_register(camera, ARV_FAKE_CAMERA_REGISTER_HEIGHT, H);
	puts("ready");
	fflush(stdout);
	while (!stopped)
		usleep(20000);
	_exit(0);	/* Aravis' threads may wait for a client that has been killed */
}
