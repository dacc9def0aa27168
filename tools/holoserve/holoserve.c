/*
 * Shows a stream of depth in browsers, as Holoimages or as a video (holoserve(5)): signals,
 * options, the frames of the pipeline, beginning and end.
 */
#include "holoserve.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "points/virtual_camera.h"
#include "run/stage.h"

/* ---- SIGINT and SIGTERM close the server with code 1001 ---- */

static struct {
	struct sigaction before[2];
	struct server *server;
	volatile sig_atomic_t signal;	/* that came */
} caught;
static const int signals[] = { SIGINT, SIGTERM };

/* A second signal ends the process. */
static void
catch_signal(int number)
{
	caught.signal = number;
	server_interrupt(caught.server);
}

/* Catches signals until interrupt_release(); an ignored signal stays ignored. */
static void
interrupt_catch(struct server *server)
{
	struct sigaction action = { .sa_handler = catch_signal,
		.sa_flags = (int)SA_RESETHAND | SA_RESTART };

	caught.server = server;
	for (int i = 0; i < 2; i++) {
		sigaction(signals[i], NULL, &caught.before[i]);
		if (caught.before[i].sa_handler != SIG_IGN)	/* as nohup and the shell want it */
			sigaction(signals[i], &action, NULL);
	}
}

static void
interrupt_release(void)
{
	for (int i = 0; caught.server && i < 2; i++)
		sigaction(signals[i], &caught.before[i], NULL);
	caught.server = NULL;
}

/* ---- options ---- */

struct parameters {
	struct picture_options picture;
	struct server_options server;
	int encode;
	bool linger, pass, print_url;
};

static const char *const encodings[] = { "jpeg", "png", "h264", "luma", NULL };	/* as
									 * enum live_kind, from 1 */

static const struct opt options[] = {
	{ 0, "port", "N", OPT_INTEGER, AT(server.port), "8080", 0, 65535, NULL,
	    "TCP port; 0: one that is free" },
	{ 0, "bind", "ADDRESS", OPT_TEXT, AT(server.bind), "127.0.0.1", 0, 0, NULL,
	    "address to listen at" },
	{ 0, "host", "NAME", OPT_FILES, AT(server.host), NULL, 0, 0, NULL,
	    "a further name by which browsers may call this server; may be repeated" },
	{ 0, "origin", "URL", OPT_FILES, AT(server.origin), NULL, 0, 0, NULL,
	    "a web site whose pages may read the stream; may be repeated" },
	{ 0, "clients", "N", OPT_INTEGER, AT(server.clients), "16", 1, 1000, NULL,
	    "viewers at a time, at most" },
	{ 0, "encode", "WORD", OPT_WORD, AT(encode), NULL, 0, 0, NULL,
	    "jpeg or png alone, else what a viewer likes best; a video to those that can",
	    encodings },
	{ 0, "quality", "Q", OPT_INTEGER, AT(picture.quality), "79", 1, 100, NULL,
	    "of JPEG pictures" },
	{ 0, "crf", "N", OPT_NUMBER, AT(picture.video.crf), NULL, -11, 51, NULL,
	    "of h264 and luma: more is smaller and loses more" },
	{ 0, "bitrate", "N", OPT_NUMBER, AT(picture.video.bitrate), NULL, 0.01, 1000, "Mbit/s",
	    "of h264 and luma: at most" },
	{ 0, "fps", "N", OPT_NUMBER, AT(picture.video.fps), NULL, 0.001, 1000, "frames/s",
	    "show so many at most" },
	{ 0, "size", "WxH", OPT_SIZE, AT(picture.size), NULL, 16, 65535, "px",
	    "make larger frames smaller, by a whole factor" },
	HOLO_OPTIONS(struct parameters, picture.holo, depth_range_words),
	FLAG_ROW(0, "linger", linger,
	    "go on serving the last frame until interrupted; so on a terminal"),
	FLAG_ROW(0, "pass", pass, "copy all frames to the output"),
	FLAG_ROW(0, "print-url", print_url, "print the address for the browser"),
	{ 0 },
};

struct priv {
	struct picture_options picture;		/* with the depth range of the input */
	struct depth_range_of_file range_of_file;
	struct server *server;
	struct feed feed;
	bool shows, warned, dropped;
	bool pass;
	atomic_bool waits;	/* the main thread does, for the server */
};

/* ---- frames ---- */

#define TABLE_SIZE 512		/* of its picture without --size */
#define TABLE_MARGIN 8

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *)
{
	struct priv *priv = run->priv;

	const bool table = head_is_table(in);
	struct frame_head seen = *in;
	size_t xyz[3];

	priv->shows = table ? head_xyz(in, xyz) : picture_shows(in);
	if (!priv->shows)
		return 0;
	if (table) {	/* as table_depth() makes it */
		seen.w = priv->picture.size.w ? priv->picture.size.w : TABLE_SIZE;
		seen.h = priv->picture.size.w ? priv->picture.size.h : TABLE_SIZE;
	}
	if (!table && head_channel(in, "texture") != NO_CHANNEL)
		texture_warn_colours(in, "viewers see the channel texture", &priv->dropped);
	if (depth_range_take(run, &priv->range_of_file, &priv->picture.holo.depth_range) < 0)
		return -1;
	return picture_check(&priv->picture, &seen);
}

/* The depth that a camera far away sees of a table. */
static int
table_depth(struct run *run, const struct frame *table, struct frame **depth)
{
	const struct opt_size *size = &((const struct parameters *)run->parameters)->picture.size;
	const struct view_options view = { .w = size->w ? size->w : TABLE_SIZE,
		.h = size->w ? size->h : TABLE_SIZE, .scale = NAN, .margin_px = TABLE_MARGIN };
	struct triangles triangles;
	int status = table_triangles(run, table, &triangles);

	if (status == 0)
		status = view_draw(run, "table", &triangles, &view, &table->head.meta, depth);
	triangles_free(&triangles);
	return status;
}

/* The time when the frame was captured, in microseconds; 0: not known. */
static int64_t
capture_time(const struct meta *meta)
{
	const char *value = meta_get(meta, "time_s");
	char word[64];
	double seconds;

	if (!value || !meta_word(value, 0, word, sizeof(word)) ||
	    number_parse(word, &seconds) < 0 || !(fabs(seconds) < 9e12))
		return 0;
	return (int64_t)llround(1e6 * seconds);
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	const bool table = head_is_table(&in->head);
	struct frame *copy = NULL;
	char names[300];

	if (!priv->shows && !priv->warned) {
		warn(NULL, "a frame without depth, or x y z, is not shown (later ones are not "
		    "named); its channels: %s", head_channels_hint(&in->head, names));
		priv->warned = true;
	}
	if (priv->shows && (table ? table_depth(run, in, &copy) < 0 :
	    priv->pass && frame_duplicate(in, &copy) < 0)) {
		frame_free(in);
		return -1;
	}
	if (priv->shows)
		feed_put(&priv->feed, copy ? copy : in, capture_time(&in->head.meta));
	if (!priv->pass && (copy || !priv->shows))
		frame_free(in);
	return priv->pass ? run_emit(run, in) : 0;
}

static int
end(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct server *server = priv->server;

	if (priv->feed.frames == 0)
		return fail(run->stage->name, "no frame with depth came, so there is nothing to "
		    "show");
	feed_end(&priv->feed);
	atomic_store(&priv->waits, true);
	if (!parameters->linger && !(run->sink && isatty(STDOUT_FILENO)))
		server_close(priv->server, 1000);
	server_join(priv->server);
	if (run->verbose)
		note(NULL, "%" PRIu64 " frames, %" PRIu64 " pictures encoded; %zu viewers got %"
		    PRIu64 " pictures and missed %" PRIu64, priv->feed.frames, priv->feed.encoded,
		    server->all_viewers, server->all_sent, server->all_dropped);
	return 0;
}

static const struct body body = { .frame = take_frame, .end = end,
	.no_passes = "pictures are compressed by the processor" };

/* ---- beginning and end ---- */

static int
check_options(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	const enum live_kind kind = (enum live_kind)parameters->encode + 1;
	const bool video = live_is_video(kind);
	const struct video_options *wanted = &parameters->picture.video;

	if (!parameters->pass && run->output)
		return fail_usage("--output", "needs --pass, which copies frames there");
	if (!isnan(wanted->crf) && !video)
		return fail_usage("--crf", "is of --encode h264 and luma");
	if (!isnan(wanted->bitrate) && !video)
		return fail_usage("--bitrate", "is of --encode h264 and luma");
	if (wanted->crf < 0 && kind == LIVE_H264)
		return fail_usage("--crf", "of h264 is 0 to 51, not %g", wanted->crf);
	if (video && video_check() < 0)
		return -1;
	return depth_range_is_file(&parameters->picture.holo.depth_range) ?
	    depth_range_check(run) : 0;
}

/* Called after an interrupt when viewers know of it. The pipeline may wait for input that never
 * comes: ends the process, with status 0, or, if its output is incomplete, by the signal. */
static void
leave_interrupted(void *arg)
{
	struct priv *priv = arg;

	if (atomic_load(&priv->waits))
		return;
	if (!priv->pass)
		_exit(EXIT_DONE);
	sigaction(caught.signal, &caught.before[caught.signal == signals[1]], NULL);
	kill(getpid(), caught.signal);
}

static int
open_server(struct run *run)
{
	struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct feed *feed = &priv->feed;

	parameters->server.encode = parameters->encode + 1;
	if (server_open(&parameters->server, &priv->server) < 0)
		return -1;
	feed->maker = (struct picture_maker){ .options = &priv->picture, .low = 1, .high = 0 };
	feed->packer.options = &priv->picture;
	feed->interval = isnan(priv->picture.video.fps) ? 0 : 1 / priv->picture.video.fps;
	feed->published = server_wake;
	feed->arg = priv->server;
	priv->server->done = leave_interrupted;
	priv->server->done_arg = priv;
	if (feed_start(feed) < 0 || server_start(priv->server, feed) < 0)
		return -1;
	interrupt_catch(priv->server);
	return 0;
}

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	FILE *to;

	run->body = &body;
	run->sink = !parameters->pass;
	priv->pass = parameters->pass;
	priv->picture = parameters->picture;
	priv->picture.luma = parameters->encode + 1 == LIVE_LUMA;
	if (check_options(run) < 0 || open_server(run) < 0)
		return -1;
	if (!parameters->print_url)
		return 0;
	to = priv->pass ? stderr : stdout;	/* where the frames of --pass do not go */
	fprintf(to, "%s\n", priv->server->url);
	return fflush(to) != 0 ? fail_errno("standard output", "cannot write") : 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	if (!priv->server)
		return;
	interrupt_release();
	server_close(priv->server, 1011);	/* unless it is closed: the run has failed */
	server_join(priv->server);
	feed_stop(&priv->feed);
	depth_use_conclude(&priv->feed.maker.use, priv->feed.maker.step);
	server_free(priv->server);
}

const struct stage stage_holoserve = {
	.name = "holoserve",
	.summary = "3-D live in a browser",
	.options = options,
	.usual = "port bind encode depth-range linger pass print-url size fps quality crf bitrate",
	STAGE_MEMORY(priv),
	.traits = STAGE_ANY_TYPE | STAGE_TABLES | STAGE_UNITS,
	.init = init,
	.plan = plan,
	.release = release,
};
