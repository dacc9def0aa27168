/*
 * Who may look: a web page elsewhere must not read the stream through its reader's browser, neither
 * as itself (Origin) nor under a name of its own that it points to this machine (Host, DNS
 * rebinding).
 */
#ifndef HOLOSERVE_ACCESS_H
#define HOLOSERVE_ACCESS_H

#include <stdbool.h>

#include "base/opt.h"

struct access_rules {
	const char *bound;		/* the address as it was given */
	const struct opt_list *host, *origin;	/* further names and origins */
};

/* Is the Host of a request, with or without a port, localhost, an address, or a name of the rules?
 */
bool access_host(const struct access_rules *, const char *host);
/* Is the Origin of a request this host, by http or https, or one of the rules? */
bool access_origin(const struct access_rules *, const char *host, const char *origin);

#endif
