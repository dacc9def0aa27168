/*
 * The camera's noise: no state, but a hash of seed, measurement, image and place on the sensor, so that
 * the same numbers come on any number of threads.
 */
#include "px.h"

PX_FN uint
fringesim_hash(uint seed, uint measurement, uint image, uint x, uint y)
{
	return px_hash(px_hash(px_hash(px_hash(px_hash(seed) ^ measurement) ^ image) ^ x) ^ y);
}

/* A number of the normal distribution (Box and Muller 1958); |it| < 5.8. */
PX_FN float
fringesim_normal(uint hash)
{
	PX_F radius = px_sqrt(-2.0f * px_log(px_uniform(px_hash(hash ^ 0x9e3779b9u))));

	return radius * px_cos(PX_TWO_PI * px_uniform(px_hash(hash ^ 0x85ebca6bu)));
}

/* Added to a signal in grey levels: read noise and shot noise, whose variance is gain times the signal. */
PX_FN float
fringesim_noise(float normal, float signal, float read_sigma, float shot_gain)
{
	return normal * px_sqrt(read_sigma * read_sigma + shot_gain * px_max(signal, 0.0f));
}
