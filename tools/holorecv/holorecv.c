/*
 * Receives a stream of Holoimages, or of videos of them, from holoserve: a source of frames. Which
 * frames are missing, options, the messages of a connection, and connections one after another.
 */
#include "holorecv.h"

#include <inttypes.h>
#include <stdio.h>

#include "run/stage.h"

/* ---- received and missing frames, by their numbers ---- */

struct tally {
	uint64_t received, missing, last_number;
	int64_t last_captured_us;
	bool again;			/* no frame has come since it connected again */
};

/* Counts a frame. False: it came before, as a server that goes on serving its last frame sends it
 * again after a new connection. */
static bool
tally_add(struct tally *tally, const struct live_head *head)
{
	const bool known = tally->again && tally->received > 0 &&
	    head->number == tally->last_number && head->captured_us == tally->last_captured_us;

	tally->again = false;
	if (known)
		return false;
	/* smaller numbers are those of a server that was started again */
	if (tally->received > 0 && head->number > tally->last_number)
		tally->missing += head->number - tally->last_number - 1;
	tally->received++;
	tally->last_number = head->number;
	tally->last_captured_us = head->captured_us;
	return true;
}

/* ---- options ---- */

#define FIRST_WAIT_S 0.5	/* before a try to connect again; doubled for each further one */
#define LONGEST_WAIT_S 8.0

struct parameters {
	long frames, retries;
	double silence_s;
};

#define PATH_SIZE (64 + sizeof(((struct address *)NULL)->shown))

struct priv {
	struct address address;
	struct connection connection;
	struct live_keys keys;
	struct video video;
	struct tally tally;
	long tries;			/* to connect, since the last picture */
};

static const struct opt options[] = {
	{ 0, "frames", "N", OPT_INTEGER, AT(frames), "0", 0, 1e9, NULL,
	  "end after so many; 0: when the stream ends" },
	{ 0, "retries", "N", OPT_INTEGER, AT(retries), "8", 0, 1e6, NULL,
	  "tries to connect again, one after another, before it is given up" },
	{ 0, "silence", "SECONDS", OPT_NUMBER, AT(silence_s), "60", 0.1, 86400, "s",
	  "a server that sends no picture for so long is lost, whatever else it sends" },
	{ 0 },
};

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
frame_path(const struct priv *priv, uint64_t number, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s: frame %" PRIu64, priv->address.shown,
	    number);
	return path;
}

/* Emits the pictures that the video's decoder has ready. -1 after fail(); with --keep-going a
 * broken picture costs only itself and those that need it. */
static int
hand_on_video(struct run *run, bool ended)
{
	struct priv *priv = run->priv;
	char path[PATH_SIZE];
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

/* Decodes a picture and emits it; a known one is decoded only for those that need it. Fails in the
 * same way. */
static int
hand_on(struct run *run, const struct live_picture *picture, bool known)
{
	struct priv *priv = run->priv;
	struct frame *frame;
	char path[PATH_SIZE];

	run_begin_input(run);
	frame_path(priv, picture->head.number, path);
	if (live_is_video(priv->keys.encoding)) {
		if (video_send(&priv->video, &priv->keys, picture, known, path) == 0)
			return hand_on_video(run, false);
		video_stop(&priv->video);
		return run_lose_input(run);
	}
	/* the server gave its video up */
	if (priv->video.ffmpeg && hand_on_video(run, true) < 0)
		return -1;
	if (known)
		return 0;
	return live_decode(&priv->keys, picture, path, &frame) < 0 ? run_lose_input(run) :
	    run_emit(run, frame);
}

/* 1; 0 when the stream has ended; -1 after fail(). */
static int
take_picture(struct run *run, const struct websocket_message *message)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct live_picture picture;
	bool known, last, video;
	int status = 1;

	if (priv->keys.w == 0)
		return fail(priv->address.shown, "sends a picture before the key lines");
	if (live_read_picture(message->bytes, message->n, &picture) < 0) {
		fail_prefix(priv->address.shown);
		return -1;
	}
	priv->tries = 0;
	if (picture.n == 0 && picture.head.flags & LIVE_LAST) {
		priv->connection.end = CONNECTION_STREAM_END;
		return 0;
	}
	known = !tally_add(&priv->tally, &picture.head);
	last = picture.head.flags & LIVE_LAST ||
	    (uint64_t)parameters->frames == priv->tally.received;
	video = live_is_video(priv->keys.encoding);
	/* the next picture of a video comes while this one is decoded */
	if (video && !last)
		status = connection_answer(&priv->connection, picture.head.number);
	if (status > 0 && hand_on(run, &picture, known) < 0)
		return -1;
	if (last) {
		priv->connection.end = CONNECTION_STREAM_END;
		return 0;
	}
	return video ? status : connection_answer(&priv->connection, picture.head.number);
}

/* Receives until the connection ends, with its `end` set: 0; -1 after fail(). */
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
		if (status < 0)
			break;
		if (status > 0)
			status = message.kind == WSLAY_TEXT_FRAME ? take_keys(priv, &message)
								: take_picture(run, &message);
		if (status < 0)
			return -1;
	}
	if (status < 0)
		fail_prefix(priv->address.shown);
	return status;
}

/* ---- connections ---- */

/* 1: receive again; 0: the stream has ended, or it was interrupted; -1 after fail(). */
static int
after_end(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct connection *connection = &priv->connection;
	double wait = FIRST_WAIT_S;

	if (connection->end == CONNECTION_REFUSED)
		return fail(priv->address.shown, "%s", connection->reason);
	if (connection->end != CONNECTION_LOST)
		return 0;
	if (priv->tries >= parameters->retries)
		return fail(priv->address.shown, "%s; given up after %ld tr%s, %" PRIu64
		    " frames came", connection->reason, priv->tries + 1,
		    priv->tries ? "ies" : "y", priv->tally.received);
	for (long i = 0; i < priv->tries && wait < LONGEST_WAIT_S; i++)
		wait *= 2;
	if (priv->tries++ == 0)
		warn(priv->address.shown, "%s; trying again, %ld times at most",
		    connection->reason, parameters->retries);
	priv->tally.again = true;
	return connection_wait(wait);
}

static int
start(struct run *run)
{
	struct priv *priv = run->priv;
	const struct tally *tally = &priv->tally;
	int status;

	interrupt_watch();
	do {
		status = receive(run);
		connection_close(&priv->connection);
		if (status == 0 && hand_on_video(run, true) < 0)
			status = -1;
		if (status == 0)
			status = after_end(run);
	} while (status > 0);
	if (tally->missing)
		warn(priv->address.shown,
		    "%" PRIu64 " frame%s missing beside the %" PRIu64 " that came", tally->missing,
		    tally->missing == 1 ? " is" : "s are", tally->received);
	else if (run->verbose)
		note(priv->address.shown, "%" PRIu64 " frames, none is missing", tally->received);
	if (status < 0 && priv->tally.received > 0 && run_keeps_going(run) && fail_message())
		return run_lose_input(run);
	if (status == 0 && priv->tally.received == 0)
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
	priv->video.server = priv->address.shown;
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

const struct stage stage_holorecv = {
	.name = "holorecv",
	.summary = "receive what holoserve sends",
	.operands = "URL",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_SOURCE | STAGE_OPERANDS | STAGE_ANY_TYPE,
	.init = init,
	.release = release,
};
