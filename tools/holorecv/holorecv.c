/* Receives a stream of Holoimages from holoserve: a source of frames. */
#include "run/stage.h"

#include <inttypes.h>
#include <stdio.h>

#include "address.h"
#include "connection.h"
#include "interrupt.h"
#include "live_stream.h"
#include "video.h"

#define FIRST_WAIT_S 0.5	/* before a try to connect again; doubled for each one more */
#define LONGEST_WAIT_S 8.0

struct parameters {
	long frames, retries;
	double silence_s;
};

struct priv {
	struct address address;
	struct connection connection;
	struct live_keys keys;
	struct video video;
	uint64_t received, missing, last_number;
	int64_t last_captured_us;
	bool again;			/* nothing has come since the connection was made anew */
	long tries;			/* to connect, since the last picture */
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "frames", "N", OPT_INTEGER, AT(frames), "0", 0, 1e9, NULL,
	  "end after so many; 0: when the stream ends", NULL },
	{ 0, "retries", "N", OPT_INTEGER, AT(retries), "8", 0, 1e6, NULL,
	  "tries to connect again, one after another, before it is given up", NULL },
	{ 0, "silence", "SECONDS", OPT_NUMBER, AT(silence_s), "60", 0.1, 86400, "s",
	  "a server that sends nothing for so long, not even an answer, is lost", NULL },
	{ 0 },
};

/* ---- counting ---- */

/* Is it one that came before? A server that serves its last frame sends it to who comes again. */
static bool
is_known(const struct priv *priv, const struct live_picture *picture)
{
	return priv->again && priv->received > 0 && picture->head.number == priv->last_number &&
	    picture->head.captured_us == priv->last_captured_us;
}

/* Numbers that begin again are those of a server that was started anew. */
static void
count(struct priv *priv, const struct live_picture *picture)
{
	if (priv->received > 0 && picture->head.number > priv->last_number)
		priv->missing += picture->head.number - priv->last_number - 1;
	priv->received++;
	priv->last_number = picture->head.number;
	priv->last_captured_us = picture->head.captured_us;
}

static void
report(const struct run *run)
{
	const struct priv *priv = run->priv;

	if (priv->missing)
		warn(priv->address.shown,
		    "%" PRIu64 " frame%s missing beside the %" PRIu64 " that came", priv->missing,
		    priv->missing == 1 ? " is" : "s are", priv->received);
	else if (run->verbose)
		note(priv->address.shown, "%" PRIu64 " frames, none is missing", priv->received);
}

/* ---- messages ---- */

static int
take_keys(struct priv *priv, const struct websocket_message *message)
{
	struct live_keys keys;

	if (live_read_keys(message->bytes, message->n, &keys) < 0) {
		fail_prefix(priv->address.shown);
		return -1;
	}
	live_free_keys(&priv->keys);
	priv->keys = keys;
	return 1;
}

static const char *
frame_path(const struct priv *priv, uint64_t number, char path[64 + sizeof(priv->address.shown)])
{
	snprintf(path, 64 + sizeof(priv->address.shown), "%s: frame %" PRIu64, priv->address.shown,
	    number);
	return path;
}

/* Decodes a picture and hands it on. -1 after fail(); a broken one costs itself alone where the
 * user wants it so. */
static int
hand_on(struct run *run, const struct live_picture *picture)
{
	struct priv *priv = run->priv;
	struct frame *frame;
	char path[64 + sizeof(priv->address.shown)];

	run_begin_input(run);
	if (live_decode(&priv->keys, picture, frame_path(priv, picture->head.number, path),
	    &frame) < 0)
		return run_lose_input(run);
	return run_emit(run, frame);
}

/* Hands on what the video's decoder has made. Likewise; a broken picture costs those that need it,
 * too. */
static int
hand_on_video(struct run *run, bool ended)
{
	struct priv *priv = run->priv;
	char path[64 + sizeof(priv->address.shown)];
	struct live_head head;
	struct frame *frame;
	int status;

	do {
		status = video_take(&priv->video, ended, frame_path(priv,
		    priv->video.n ? priv->video.sent[0].head.number : 0, path), &head, &frame);
		if (status > 0 && frame && run_emit(run, frame) < 0)
			return -1;
	} while (status > 0);
	if (ended || status < 0)
		video_stop(&priv->video);
	return status < 0 ? run_lose_input(run) : 0;
}

static int
take_video(struct run *run, const struct live_picture *picture, bool known)
{
	struct priv *priv = run->priv;
	char path[64 + sizeof(priv->address.shown)];

	run_begin_input(run);
	if (video_send(&priv->video, &priv->keys, picture, known,
	    frame_path(priv, picture->head.number, path)) == 0)
		return hand_on_video(run, false);
	video_stop(&priv->video);
	return run_lose_input(run);
}

static int
check_kind(const struct priv *priv, const struct live_picture *picture)
{
	char path[64 + sizeof(priv->address.shown)];

	if (picture->head.kind == priv->keys.encoding)
		return 0;
	return fail(frame_path(priv, picture->head.number, path), "it is of kind %d, but the stream "
	    "is %s", (int)picture->head.kind, live_kind_names[priv->keys.encoding]);
}

/* 1; 0 when the stream has ended; -1 after fail(). */
static int
take_picture(struct run *run, const struct websocket_message *message)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct live_picture picture;
	bool known;
	int status;

	if (priv->keys.w == 0)
		return fail(priv->address.shown, "sends a picture before the key lines");
	if (live_read_picture(message->bytes, message->n, &picture) < 0) {
		fail_prefix(priv->address.shown);
		return -1;
	}
	known = is_known(priv, &picture);
	priv->again = false;
	priv->tries = 0;
	if (!known)
		count(priv, &picture);
	status = check_kind(priv, &picture) < 0 ? run_lose_input(run) :
	    live_is_video(&priv->keys) ? take_video(run, &picture, known) :
	    known ? 0 : hand_on(run, &picture);
	if (status < 0)
		return -1;
	if (picture.head.flags & LIVE_LAST || (uint64_t)parameters->frames == priv->received) {
		priv->connection.end = CONNECTION_STREAM_END;
		return 0;
	}
	status = connection_answer(&priv->connection, picture.head.number);
	return status;
}

/* 0 when the connection has ended, as it says; -1 after fail(). */
static int
receive(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct websocket_message message;
	int status = connection_open(&priv->connection, &priv->address, parameters->silence_s,
	    video_is_there() ? "can jpeg png h264 luma" : "can jpeg png");

	while (status > 0) {
		size_t most = priv->keys.w ? live_picture_most(&priv->keys) : LIVE_KEYS_MOST;

		status = connection_next(&priv->connection, most, &message);
		if (status > 0)
			status = message.kind == WEBSOCKET_TEXT ? take_keys(priv, &message)
								: take_picture(run, &message);
	}
	return status;
}

/* ---- connections ---- */

/* 1: once more; 0: not, interrupted; -1 after fail(). */
static int
try_again(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double wait = FIRST_WAIT_S;

	if (priv->tries >= parameters->retries)
		return fail(priv->address.shown, "%s; given up after %ld tr%s, %" PRIu64
		    " frames came", priv->connection.reason, priv->tries + 1,
		    priv->tries ? "ies" : "y", priv->received);
	for (long i = 0; i < priv->tries && wait < LONGEST_WAIT_S; i++)
		wait *= 2;
	if (priv->tries++ == 0)
		warn(priv->address.shown, "%s; trying again, %ld times at most",
		    priv->connection.reason, parameters->retries);
	priv->again = true;
	return connection_wait(wait);
}

/* 1: receive again; 0: all that will come has come; -1 after fail(). */
static int
after_end(struct run *run)
{
	struct priv *priv = run->priv;

	switch (priv->connection.end) {
	case CONNECTION_LOST:
		return try_again(run);
	case CONNECTION_REFUSED:
		return fail(priv->address.shown, "%s", priv->connection.reason);
	case CONNECTION_STREAM_END:
	case CONNECTION_INTERRUPTED:
		break;
	}
	return 0;
}

static int
start(struct run *run)
{
	struct priv *priv = run->priv;
	int status;

	if (interrupt_watch() < 0)
		return -1;
	do {
		status = receive(run);
		connection_close(&priv->connection);
		if (status == 0 && hand_on_video(run, true) < 0)
			status = -1;
		if (status == 0)
			status = after_end(run);
	} while (status > 0);
	interrupt_forget();
	report(run);
	if (status < 0 && priv->received > 0 && run_keeps_going(run) && fail_message())
		return run_lose_input(run);
	if (status == 0 && priv->received == 0)
		return fail(priv->address.shown, "no frame came");
	return status;
}

static const struct body body = { .start = start };

static int
init(struct run *run)
{
	struct priv *priv = run->priv;

	run->body = &body;
	priv->connection.fd = -1;
	if (run->operands != 1)
		return fail_usage(NULL, "takes one address, such as ws://127.0.0.1:8080, not %zu",
		    run->operands);
	return address_parse(run->operand[0], &priv->address);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	connection_close(&priv->connection);
	video_stop(&priv->video);
	live_free_keys(&priv->keys);
}

STAGE(holorecv) = {
	.name = "holorecv",
	.summary = "receive what holoserve sends",
	.operands = "URL",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SOURCE | STAGE_OPERANDS | STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.init = init,
	.release = release,
};
