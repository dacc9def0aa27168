#include "unwrap/phase_mean.h"

void
phase_mean_weights(const double *period_px, const double *scatter, size_t n, double *weight)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double sigma = period_px[i] * (scatter ? scatter[i] : 1);

		weight[i] = 1 / (sigma * sigma);
		sum += weight[i];
	}
	for (size_t i = 0; i < n; i++)
		weight[i] /= sum;
}
