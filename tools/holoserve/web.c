/* The page, by HTTP. */
#include "connection.h"
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEADER_MOST 1200	/* of an answer */

/* Sends an answer, after which the connection is closed. */
static int
answer(struct lws *wsi, const char *status, const char *more, const void *body, size_t n)
{
	unsigned char *text = malloc(LWS_PRE + HEADER_MOST + n);
	int length;

	if (!text)
		return -1;
	length = snprintf((char *)text + LWS_PRE, HEADER_MOST,
	    "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
	    "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n%s\r\n", status, n,
	    more ? more : "");
	if (length > 0 && length < HEADER_MOST) {
		if (n)
			memcpy(text + LWS_PRE + length, body, n);
		lws.write(wsi, text + LWS_PRE, (size_t)length + n, LWS_WRITE_HTTP_FINAL);
	}
	free(text);
	return -1;
}

int
web_refuse(struct lws *wsi, const char *status, const char *more)
{
	return answer(wsi, status, more, NULL, 0);
}

/* A header's value; false where it is too long. Empty where it is not there. */
static bool
get_header(struct lws *wsi, enum lws_token_indexes token, char *to, size_t size)
{
	*to = '\0';
	return lws.hdr_total_length(wsi, token) == 0 || lws.hdr_copy(wsi, to, (int)size, token) > 0;
}

int
web_check_request(struct server *server, struct lws *wsi)
{
	char host[300], origin[400];

	if (!get_header(wsi, WSI_TOKEN_HOST, host, sizeof(host)) ||
	    !get_header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof(origin)))
		return web_refuse(wsi, "400 Bad Request", NULL);
	if (!access_host(&server->rules, host))
		return web_refuse(wsi, "403 Forbidden", "X-Reason: Host, see --host\r\n");
	if (*origin && !access_origin(&server->rules, host, origin))
		return web_refuse(wsi, "403 Forbidden", "X-Reason: Origin, see --origin\r\n");
	return 0;
}

bool
web_knows_path(const struct server *server, struct lws *wsi)
{
	return lws.get_opaque_user_data(wsi) == &server->known_path;
}

static int
answer_request(struct server *server, struct lws *wsi, const char *path)
{
	static const char type[] = "Content-Type: text/html; charset=utf-8\r\n"
	    "Referrer-Policy: no-referrer\r\nContent-Security-Policy: ";
	char more[HEADER_MOST / 2 + 300];
	int status = web_check_request(server, wsi);

	if (status != 0)
		return status;
	if (!lws.hdr_total_length(wsi, WSI_TOKEN_GET_URI))
		return web_refuse(wsi, "405 Method Not Allowed", "Allow: GET\r\n");
	if (!web_knows_path(server, wsi))
		return web_refuse(wsi, "404 Not Found", NULL);
	if (!strcmp(path, "/favicon.ico"))
		return web_refuse(wsi, "204 No Content", NULL);
	if (!strcmp(path, LIVE_PATH))
		return web_refuse(wsi, "426 Upgrade Required", "Upgrade: websocket\r\n");
	snprintf(more, sizeof(more), "%s%s\r\n", type, holoserve_page_policy);
	return answer(wsi, "200 OK", more, holoserve_page,
	    (size_t)(holoserve_page_end - holoserve_page));
}

int
web_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t n)
{
	struct lws_context *context = lws.get_context(wsi);
	struct server *server = context ? lws.context_user(context) : NULL;

	(void)user;
	(void)n;
	switch (reason) {
	case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
		live_wake(server);
		return 0;
	case LWS_CALLBACK_HTTP:
		return answer_request(server, wsi, in ? in : "");
	case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:		/* HTTP 2 is not spoken */
		return !strcasecmp(in, "websocket") ? 0 :
		    web_refuse(wsi, "400 Bad Request", NULL);
	case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:	/* a WebSocket of no protocol of ours */
		return web_refuse(wsi, "400 Bad Request",
		    "Sec-WebSocket-Protocol: " LIVE_PROTOCOL "\r\n");
	case LWS_CALLBACK_TIMER:			/* the handshake took too long */
		return -1;
	case LWS_CALLBACK_WSI_DESTROY:
		server->connections -= wsi != server->listening;
		return 0;
	default:
		return 0;
	}
}
