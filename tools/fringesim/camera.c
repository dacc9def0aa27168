#include "camera.h"

#include "base/px.h"

double
camera_full(const struct camera *camera)
{
	static const double full[] = { 255, 4095, 65535, 255 };

	return full[camera->bits];
}

enum sample
camera_type(const struct camera *camera)
{
	return camera->bits == CAMERA_8 ? SAMPLE_UCHAR :
	    camera->bits == CAMERA_FLOAT ? SAMPLE_FLOAT : SAMPLE_USHORT;
}

static uint
hash_of(const struct camera *camera, const struct camera_capture *capture, double x, double y)
{
	uint hash = px_hash(px_hash((uint)camera->seed) ^ capture->measurement);

	hash = px_hash(hash ^ capture->image ^ capture->view << 31);
	return px_hash(px_hash(hash ^ (uint)(int32_t)x) ^ (uint)(int32_t)y);
}

/* A number of the normal distribution (Box and Muller 1958); |it| < 5.8. */
static float
normal(uint hash)
{
	float radius = px_sqrt(-2.0f * px_log(px_uniform(px_hash(hash ^ 0x9e3779b9u))));

	return radius * px_cos(PX_TWO_PI * px_uniform(px_hash(hash ^ 0x85ebca6bu)));
}

double
camera_random(const struct camera *camera, const struct camera_capture *capture, double x, double y,
    enum camera_use what)
{
	uint hash = hash_of(camera, capture, x, y);

	return (double)normal(what == CAMERA_NOISE ? hash : px_hash(hash ^ 0x5bec71e5u));
}

double
camera_level(const struct camera *camera, const struct camera_capture *capture, double x, double y,
    double light)
{
	double signal = camera->exposure * light;
	double variance = camera->noise * camera->noise + camera->shot * fmax(signal, 0);

	if (variance == 0)
		return signal;
	return signal + sqrt(variance) * camera_random(camera, capture, x, y, CAMERA_NOISE);
}

void
camera_store(const struct camera *camera, double level, void *row, size_t x)
{
	double sample = fmin(fmax(floor(level + 0.5), 0), camera_full(camera));

	if (camera->bits == CAMERA_FLOAT)
		((float *)row)[x] = (float)level;
	else if (camera->bits == CAMERA_8)
		((uint8_t *)row)[x] = (uint8_t)sample;
	else
		((uint16_t *)row)[x] = (uint16_t)sample;
}
