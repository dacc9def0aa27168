/*
 * libwebsockets, loaded when the first server starts: with OpenSSL behind it, it was half of what a
 * start of fringepipe loaded. lws.write() is lws_write().
 */
#ifndef HOLOSERVE_LIBWEBSOCKETS_H
#define HOLOSERVE_LIBWEBSOCKETS_H

#include <libwebsockets.h>

#define LIBWEBSOCKETS_FUNCTIONS \
	X(adopt_descriptor_vhost) X(adopt_socket_vhost) X(callback_on_writable) X(cancel_service) \
	X(close_reason) X(context_destroy) X(context_user) X(create_context) X(create_vhost) \
	X(frame_is_binary) X(get_context) X(get_opaque_user_data) X(get_socket_fd) X(hdr_copy) \
	X(hdr_total_length) X(is_final_fragment) X(is_first_fragment) \
	X(remaining_packet_payload) X(service) X(set_log_level) X(set_opaque_user_data) \
	X(set_timer_usecs) X(write)

struct libwebsockets {
#define X(name) __typeof__(lws_##name) *name;
	LIBWEBSOCKETS_FUNCTIONS
#undef X
};

extern struct libwebsockets lws;

/* Before its first function is called. 0 or -1 after fail(). */
int libwebsockets_load(void);

#endif
