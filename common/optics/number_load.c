/* Files of numbers by their names: mrcal's camera models, and all others. */
#include "optics/camera_model.h"
#include "optics/number_parser.h"

#define FILE_LIMIT ((size_t)1 << 20)

int
number_file_load(const char *path, struct number_file *out)
{
	return camera_model_is_named(path) ? camera_model_load(path, out) :
	    number_file_load_syntax(path, FILE_LIMIT, out);
}
