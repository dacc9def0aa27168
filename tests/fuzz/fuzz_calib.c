/*
 * Calibrations from arbitrary text: no crash, no undefined behaviour, no memory beyond what the
 * text can hold; what was read has finite numbers, and the pinhole model works on it.
 */
#include <math.h>

#include "fuzz.h"
#include "optics/calib.h"
#include "base/fail.h"
#include "optics/number_file.h"

static void
check_device(const struct pinhole *device)
{
	double uv[2] = { 320, 240 }, xy[2], X[3] = { 1, 2, 300 };

	for (size_t i = 0; i < 9; i++)
		check(isfinite(device->K[i]) && isfinite(device->R[i]), "finite");
	if (pinhole_project(device, X, uv))
		check(isfinite(uv[0]) && isfinite(uv[1]), "finite projection");
	if (pinhole_undistort(device, uv, xy))
		check(isfinite(xy[0]) && isfinite(xy[1]), "finite ray");
	pinhole_center(device, X);
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	char *text = malloc(n + 1);
	struct number_file numbers;
	struct calib calib;
	int status;

	check(text != NULL, "memory");
	memcpy(text, data, n);
	text[n] = '\0';
	status = number_file_parse("text", text, n, &numbers);
	for (size_t i = 0; status == 0 && i < numbers.entries; i++)
		check(numbers.entry[i].first + numbers.entry[i].n <= numbers.n, "entry");
	if (status == 0)
		number_file_free(&numbers);
	check_status(status);
	status = calib_parse("text", text, n, &calib);
	if (status == 0) {
		check_device(&calib.camera);
		check_device(&calib.projector);
	}
	check_status(status);
	free(text);
	return 0;
}
