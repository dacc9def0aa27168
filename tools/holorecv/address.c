#include "address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
#define IPV6_BYTES "0123456789abcdefABCDEF:."

static int
fail_address(const char *text)
{
	return fail_usage(text, "is no address of a stream, such as ws://127.0.0.1:8080");
}

/* What is behind the scheme; NULL after fail(). */
static const char *
skip_scheme(const char *text)
{
	const char *scheme = strstr(text, "://");

	if (!scheme)
		return text;
	if (!strncasecmp(text, "ws:", 3) || !strncasecmp(text, "http:", 5))
		return scheme + 3;
	if (!strncasecmp(text, "wss:", 4) || !strncasecmp(text, "https:", 6))
		fail_usage(text, "encrypted connections are not made here: a tunnel can, as ssh -L "
		    "makes it");
	else
		fail_address(text);
	return NULL;
}

/* Copies n bytes that all are of `allowed`; -1 if they are not, or do not fit. */
static int
copy(const char *from, size_t n, const char *allowed, char *to, size_t size)
{
	if (n == 0 || n >= size || strspn(from, allowed) < n)
		return -1;
	memcpy(to, from, n);
	to[n] = '\0';
	return 0;
}

/* All that a path may hold; a blank or a line's end would end the request's line. */
static int
copy_path(const char *from, char *to, size_t size)
{
	if (!*from || !strcmp(from, "/"))
		from = "/live";
	if (*from != '/' || strlen(from) >= size)
		return -1;
	for (const char *p = from; *p; p++)
		if (*p <= ' ' || *p > '~' || *p == '#')
			return -1;
	strcpy(to, from);
	return 0;
}

int
address_parse(const char *text, struct address *address)
{
	const char *at = skip_scheme(text);
	size_t n;
	long port;

	if (!at)
		return -1;
	if (*at == '[') {
		n = strcspn(++at, "]");
		if (at[n] != ']' ||
		    copy(at, n, IPV6_BYTES, address->host, sizeof(address->host)) < 0)
			return fail_address(text);
		at += n + 1;
	} else {
		n = strcspn(at, ":/");
		if (copy(at, n, NAME_BYTES, address->host, sizeof(address->host)) < 0)
			return fail_address(text);
		at += n;
	}
	strcpy(address->port, "80");
	if (*at == ':') {
		n = strcspn(++at, "/");
		if (copy(at, n, "0123456789", address->port, sizeof(address->port)) < 0)
			return fail_address(text);
		at += n;
	}
	port = strtol(address->port, NULL, 10);
	if (port < 1 || port > 65535)
		return fail_usage(text, "ports are from 1 to 65535, not %s", address->port);
	if (copy_path(at, address->path, sizeof(address->path)) < 0)
		return fail_address(text);
	snprintf(address->shown, sizeof(address->shown),
	    strchr(address->host, ':') ? "[%s]:%s" : "%s:%s", address->host, address->port);
	return 0;
}
