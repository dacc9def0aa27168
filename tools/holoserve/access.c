#include "access.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define NAME_SIZE 256

/* The host without its port, and an IPv6 address without its brackets. */
static bool
cut_port(const char *host, char name[NAME_SIZE], bool *bracketed)
{
	bool brackets = host[0] == '[';
	const char *end, *rest;
	size_t n;

	*bracketed = brackets;
	if (brackets)
		host++;
	end = host + strcspn(host, brackets ? "]" : ":");
	if (brackets && !*end)
		return false;
	rest = brackets ? end + 1 : end;
	if (*rest && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")]))
		return false;
	n = (size_t)(end - host);
	if (n == 0 || n >= NAME_SIZE)
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	return true;
}

static bool
is_listed(const struct opt_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcasecmp(list->v[i], name))
			return true;
	return false;
}

bool
access_host(const struct access_rules *rules, const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];
	char name[NAME_SIZE];
	bool bracketed;

	if (!cut_port(host, name, &bracketed))
		return false;
	if (inet_pton(bracketed ? AF_INET6 : AF_INET, name, address) == 1)
		return true;
	return !bracketed && (!strcasecmp(name, "localhost") || !strcasecmp(name, rules->bound) ||
	    is_listed(rules->host, name));
}

bool
access_origin(const struct access_rules *rules, const char *host, const char *origin)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(schemes[i]);

		if (!strncasecmp(origin, schemes[i], n) && !strcasecmp(origin + n, host))
			return true;
	}
	return is_listed(rules->origin, origin);
}
