/*
 * Calibrations from arbitrary text: no crash, no undefined behaviour, no memory beyond what the
 * text can hold; what was read has finite numbers, and the pinhole model works on it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	char path[64], *text = malloc(n + 1);
	struct number_file named;
	struct calib calib;
	FILE *file;

	memcpy(text, data, n);
	text[n] = '\0';
	if (number_file_parse("text", text, n, &named) == 0) {
		for (size_t i = 0; i < named.entries; i++)
			check(named.entry[i].first + named.entry[i].n <= named.n, "entry");
		check(!fail_message(), "message without failure");
		number_file_free(&named);
	} else
		check(fail_message() != NULL, "failure without message");
	fail_clear();
	free(text);
	snprintf(path, sizeof(path), "/tmp/fuzz_calib.%d", (int)getpid());
	file = fopen(path, "wb");
	fwrite(data, 1, n, file);
	fclose(file);
	if (calib_load(path, &calib) == 0) {
		check_device(&calib.camera);
		check_device(&calib.projector);
	} else
		check(fail_message() != NULL, "failure without message");
	fail_clear();
	return 0;
}
