#include "base/variables.h"

#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "base/opt_suggest.h"

#define PREFIX "FRINGEPIPE_"

/* What follows it: fringepipe(1) has them, but for FFMPEG, which is in frame(5), and GPU, which
 * scripts/bench reads. */
static const char *const names[] = { "BAND", "CPU", "FFMPEG", "GPU", "GPU_BITS", "GPU_CHECK",
	"GPU_COPY", "GPU_PROBE", "GPU_TIMEOUT", "HANDOVER", "REPEAT", "SYNC", NULL };

extern char **environ;

static bool
is_known(const char *name, size_t n)
{
	for (size_t i = 0; names[i]; i++)
		if (strlen(names[i]) == n && !strncmp(names[i], name, n))
			return true;
	return false;
}

void
variables_check(void)
{
	const size_t prefix = strlen(PREFIX);
	char near[120];

	for (char **variable = environ; *variable; variable++) {
		const char *name = *variable + prefix;
		size_t n;

		if (strncmp(*variable, PREFIX, prefix))
			continue;
		n = strcspn(name, "=");
		/* a name without any that is near may be the user's own */
		if (!is_known(name, n) && *opt_suggest_word(name, n, PREFIX, names, near,
		    sizeof(near)))
			warn(NULL, "no tool reads the variable %.*s%s", (int)(prefix + n < 80 ?
			    prefix + n : 80), *variable, near);
	}
}
