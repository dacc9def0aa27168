/*
 * What a server of holoserve(5) sends to holorecv: WebSocket frames of arbitrary bytes, in reads of
 * arbitrary lengths, and the key lines and pictures that they make. Refused with a message, or
 * frames of the size that the keys say.
 */
#include "fuzz.h"

#include "../../tools/holorecv/live_stream.c"
#include "../../tools/holorecv/sha1.c"
#include "../../tools/holorecv/websocket.c"

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

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	struct bytes bytes = { data, n };
	struct websocket socket = { .read = read_some, .arg = &bytes };
	struct websocket_message message;
	struct live_keys keys = { 0 };
	int status = 1, code;

	if (n > 0 && data[0] == 'H')
		status = websocket_answer(&socket, "dGhlIHNhbXBsZSBub25jZQ==", "p", &code);
	while (status > 0 && (status = websocket_next(&socket, MOST, &message)) > 0) {
		if (message.kind == WEBSOCKET_TEXT)
			take_keys_of(&keys, &message);
		else if (message.kind == WEBSOCKET_BINARY)
			decode(&keys, &message);
	}
	check_status(status);
	websocket_free(&socket);
	live_free_keys(&keys);
	return 0;
}
