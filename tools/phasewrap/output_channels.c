/* What phasewrap's frames hold. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "phasewrap.h"

static struct phasewrap_channels
lay_out(const struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	struct phasewrap_channels at = { 0 };
	uint n = at.phases = (uint)(captures->fringes * (wrap->vector ? 2 : 1));

	at.modulation = n;
	at.texture = captures->fringes ? n + 1 : n;
	n += captures->fringes ? 2 : 0;
	at.fit_residual = n;
	n += wrap->writes_fit;
	at.exposure = n;
	n += wrap->exposures.map;
	at.sigma = n;
	n += wrap->sigmas ? (uint)captures->fringes : 0;
	at.marker = n;
	at.index = n + (uint)captures->markers;
	return at;
}

int
phasewrap_describe(struct phasewrap *wrap, struct frame_head *out)
{
	const struct capture_set *captures = &wrap->captures;
	struct text text;
	FILE *to = text_open(&text);
	char *qualities;
	int status;

	wrap->channels = lay_out(wrap);
	if (!to)
		return -1;
	fprintf(to, "modulation texture%s%s", wrap->writes_fit ? " fit_residual" : "",
	    wrap->exposures.map ? " exposure" : "");
	for (size_t k = 0; wrap->sigmas && k < captures->fringes; k++)
		fprintf(to, captures->fringes > 1 ? " sigma%zu" : " sigma", k + 1);
	qualities = text_close(&text, NULL);
	if (!qualities)
		return -1;
	if (wrap->exposures.n > 1)
		meta_remove(&out->meta, "exposure_time_s");
	status = capture_set_describe(captures, wrap->vector ? "cos sin" : "phase", qualities,
	    out);
	free(qualities);
	return status;
}
