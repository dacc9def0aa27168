/*
 * What a server of holoserve(5) sends to holorecv: WebSocket frames of arbitrary bytes, in reads of
 * arbitrary lengths, and the key lines and pictures that they make. Refused with a message, or
 * frames of the size that the keys say.
 */
/* its loop is compiled here, too, at one level */
#undef CPU_ONE_LEVEL
#define CPU_ONE_LEVEL _plain

#include "fuzz.h"
#include "live/websocket.h"

#include "../../tools/holorecv/live_stream.c"
#include "../../tools/holorecv/holorecv_rows.c"

#define MOST 4096

static ssize_t
read_some(void *arg, void *to, size_t n)
{
	struct bytes *bytes = arg;
	size_t some = bytes->left ? 1 + *bytes->at % 64 : 0;

	some = some < n ? some : n;
	some = some < bytes->left ? some : bytes->left;
	take(bytes, to, some);
	return (ssize_t)some;
}

static void
decode(const struct live_keys *keys, const struct websocket_message *message)
{
	struct live_picture picture;
	struct frame *frame = NULL;
	int status = live_read_picture(message->bytes, message->n, &picture);

	if (status == 0 && keys->w > 0 && keys->w * keys->h <= 1 << 20) {
		status = live_decode(keys, &picture, "input", &frame);
		check((status == 0) == (frame != NULL), "frame and status disagree");
		check(!frame || (frame->head.w == keys->w && frame->head.h == keys->h),
		    "a frame of another size");
		frame_free(frame);
	}
	check_status(status);
}

static void
take_keys_of(struct live_keys *keys, const struct websocket_message *message)
{
	struct live_keys next;
	int status = live_read_keys(message->bytes, message->n, &next);

	if (status == 0) {
		live_free_keys(keys);
		*keys = next;
	}
	check_status(status);
}

/* The head of an answer; what follows it stays. */
static int
read_answer(struct bytes *bytes)
{
	size_t n = http_head_length((const char *)bytes->at, bytes->left);
	char copy[HTTP_HEAD_MOST];
	struct http_head head;
	int code, status = 0;

	if (n == 0 || n > sizeof(copy))
		return 0;
	take(bytes, copy, n);
	if (!http_head_read(copy, n, &head))
		return 0;
	status = handshake_check(&head, "dGhlIHNhbXBsZSBub25jZQ==", "p", &code);
	check(status < 0 || code == 0 || (code >= 0 && code < 1000), "status of HTTP");
	check_status(status);
	return status == 0;
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	struct bytes bytes = { data, n };
	struct websocket socket = { .read = read_some, .arg = &bytes, .most = MOST };
	struct websocket_message message;
	struct live_keys keys = { 0 };
	const char *reason;

	if (n > 0 && data[0] == 'H' && !read_answer(&bytes))
		return 0;
	check(websocket_open(&socket) == 0, "memory");
	while (websocket_receive(&socket, &message, &reason) == 1) {
		check(message.n <= (message.kind < WSLAY_CONNECTION_CLOSE ? MOST
									  : WEBSOCKET_CONTROL),
		    "too long a message");
		if (message.kind == WSLAY_TEXT_FRAME)
			take_keys_of(&keys, &message);
		else if (message.kind == WSLAY_BINARY_FRAME)
			decode(&keys, &message);
	}
	check_status(fail_message() ? -1 : 0);
	websocket_free(&socket);
	live_free_keys(&keys);
	return 0;
}
