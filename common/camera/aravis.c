/* GenICam cameras, GigE and USB3 Vision, by Aravis (LGPL, linked dynamically). */
#include "camera/camera.h"

#include <arv.h>
#include <math.h>

#include "base/process.h"

#define BUFFERS 8

struct aravis {
	ArvCamera *camera;
	ArvStream *stream;
	const struct camera_format *format;
	bool free_running, software, gige;
};

/* Records what went wrong, and frees it. */
static int
fail_aravis(const char *name, const char *what, GError *error)
{
	fail(name, "%s: %s", what, error ? error->message : "failed");
	g_clear_error(&error);
	return -1;
}

static int
set_format(struct camera *camera, const char *wanted)
{
	struct aravis *own = camera->own;
	GError *error = NULL;
	char list[400] = "";
	guint n = 0;
	const char **name = arv_camera_dup_available_pixel_formats_as_strings(own->camera, &n,
	    NULL);
	bool there = !wanted;

	for (guint i = 0; name && i < n; i++) {
		there |= wanted && !strcmp(name[i], wanted);
		snprintf(list + strlen(list), sizeof(list) - strlen(list), " %s", name[i]);
	}
	g_free(name);
	if (!there)
		return fail(camera->name, "has no format %s, but%s", wanted, list);
	if (wanted)
		arv_camera_set_pixel_format_from_string(own->camera, wanted, &error);
	if (error)
		return fail_aravis(camera->name, wanted, error);
	own->format = camera_format_find(arv_camera_get_pixel_format(own->camera, NULL));
	if (!own->format)
		return fail(camera->name, "its format %s is not read here; it has%s",
		    arv_camera_get_pixel_format_as_string(own->camera, NULL), list);
	camera->type = own->format->bits > 8 ? SAMPLE_USHORT : SAMPLE_UCHAR;
	camera->max_value = (1 << own->format->bits) - 1;
	camera->mosaic = own->format->mosaic;
	return 0;
}

/* Exposure, gain, and what a measuring camera must not do by itself. */
static int
set_light(struct camera *camera, const struct camera_wanted *wanted)
{
	struct aravis *own = camera->own;
	GError *error = NULL;

	if (arv_camera_is_exposure_auto_available(own->camera, NULL))
		arv_camera_set_exposure_time_auto(own->camera, ARV_AUTO_OFF, &error);
	if (!error && arv_camera_is_gain_auto_available(own->camera, NULL))
		arv_camera_set_gain_auto(own->camera, ARV_AUTO_OFF, &error);
	if (error)
		return fail_aravis(camera->name, "automatic exposure or gain stays on", error);
	if (isfinite(wanted->exposure_s))
		arv_camera_set_exposure_time(own->camera, 1e6 * wanted->exposure_s, &error);
	if (error)
		return fail_aravis(camera->name, "exposure", error);
	camera->exposure_s = 1e-6 * arv_camera_get_exposure_time(own->camera, &error);
	g_clear_error(&error);
	/* a camera that takes multiples only rounds what it was given */
	if (isfinite(wanted->exposure_s))
		camera->exposure_step_s = fabs(camera->exposure_s - wanted->exposure_s);
	if (isfinite(wanted->gain))
		arv_camera_set_gain(own->camera, wanted->gain, &error);
	return error ? fail_aravis(camera->name, "gain", error) : 0;
}

static int
set_trigger(struct camera *camera, const char *trigger)
{
	struct aravis *own = camera->own;
	GError *error = NULL;

	own->software = !strcmp(trigger, "software");
	own->free_running = !strcmp(trigger, "none");
	camera->triggered = !own->free_running;
	if (own->free_running)
		arv_camera_clear_triggers(own->camera, &error);
	else
		arv_camera_set_trigger(own->camera, own->software ? "Software" : trigger, &error);
	if (error && !own->free_running)
		return fail_aravis(camera->name, "trigger", error);
	g_clear_error(&error);
	return 0;
}

static int
start(struct camera *camera)
{
	struct aravis *own = camera->own;
	GError *error = NULL;
	gint x, y, w, h;
	guint payload;

	arv_camera_set_acquisition_mode(own->camera, ARV_ACQUISITION_MODE_CONTINUOUS, NULL);
	arv_camera_get_region(own->camera, &x, &y, &w, &h, &error);
	if (error)
		return fail_aravis(camera->name, "size", error);
	camera->w = (size_t)w;
	camera->h = (size_t)h;
	own->stream = arv_camera_create_stream(own->camera, NULL, NULL, &error);
	if (!own->stream)
		return fail_aravis(camera->name, "stream", error);
	payload = arv_camera_get_payload(own->camera, &error);
	if (error)
		return fail_aravis(camera->name, "size of pictures", error);
	for (int i = 0; i < BUFFERS; i++)
		arv_stream_push_buffer(own->stream, arv_buffer_new(payload, NULL));
	own->gige = ARV_IS_GV_STREAM(own->stream);
	arv_camera_start_acquisition(own->camera, &error);
	return error ? fail_aravis(camera->name, "start", error) : 0;
}

/* Gives waiting pictures back, unseen but for their numbers. */
static void
drop_waiting(struct camera *camera)
{
	struct aravis *own = camera->own;
	ArvBuffer *buffer;

	while ((buffer = arv_stream_try_pop_buffer(own->stream))) {
		camera_count(camera, arv_buffer_get_frame_id(buffer), own->gige ? 16 : 0);
		arv_stream_push_buffer(own->stream, buffer);
	}
}

static int
aravis_trigger(struct camera *camera)
{
	struct aravis *own = camera->own;
	GError *error = NULL;
	ArvBuffer *buffer;

	drop_waiting(camera);
	if (own->software)
		arv_camera_software_trigger(own->camera, &error);
	/* the picture that is being exposed was begun before */
	if (own->free_running && (buffer = arv_stream_timeout_pop_buffer(own->stream, 1000000))) {
		camera_count(camera, arv_buffer_get_frame_id(buffer), own->gige ? 16 : 0);
		arv_stream_push_buffer(own->stream, buffer);
	}
	return error ? fail_aravis(camera->name, "trigger (is it still there?)", error) : 0;
}

static int
aravis_take(struct camera *camera, double timeout_s, struct frame **out)
{
	struct aravis *own = camera->own;
	ArvBuffer *buffer = arv_stream_timeout_pop_buffer(own->stream,
	    (guint64)(1e6 * timeout_s));
	size_t bytes;
	const void *data;
	int status;

	if (!buffer) {
		GError *error = NULL;

		camera->timeouts++;
		/* one that answers no more */
		arv_camera_get_exposure_time(own->camera, &error);
		return error ? fail_aravis(camera->name, "no picture, and no answer", error) : 0;
	}
	camera_count(camera, arv_buffer_get_frame_id(buffer), own->gige ? 16 : 0);
	if (arv_buffer_get_status(buffer) != ARV_BUFFER_STATUS_SUCCESS) {
		camera->broken++;
		arv_stream_push_buffer(own->stream, buffer);
		return 0;
	}
	data = arv_buffer_get_data(buffer, &bytes);
	status = camera_picture(camera, own->format, data, bytes, 0, out);
	arv_stream_push_buffer(own->stream, buffer);
	return status;
}

static void
aravis_close(struct camera *camera)
{
	struct aravis *own = camera->own;

	if (own->camera && own->stream) {
		arv_camera_stop_acquisition(own->camera, NULL);
		if (!own->free_running)
			arv_camera_clear_triggers(own->camera, NULL);
	}
	g_clear_object(&own->stream);
	g_clear_object(&own->camera);
	free(own);
}

int
camera_aravis_open(struct camera *camera, const char *name, const struct camera_wanted *wanted)
{
	struct aravis *own = must_alloc(1, sizeof(*own));
	GError *error = NULL;
	int status = 0;

	camera->own = own;
	camera->trigger = aravis_trigger;
	camera->take = aravis_take;
	camera->close = aravis_close;
	snprintf(camera->name, sizeof(camera->name), "%s", name ? name : "--camera");
	own->camera = arv_camera_new(name, &error);
	if (!own->camera)
		status = fail_aravis(camera->name, name ? "not found (--list)" :
		    "no GenICam camera is found", error);
	else if (!name)
		snprintf(camera->name, sizeof(camera->name), "%s",
		    arv_camera_get_device_id(own->camera, NULL));
	/* a program that was killed did not */
	if (status == 0)
		arv_camera_stop_acquisition(own->camera, NULL);
	if (status < 0 || set_trigger(camera, wanted->trigger) < 0 ||
	    set_format(camera, wanted->format) < 0 || set_light(camera, wanted) < 0 ||
	    start(camera) < 0) {
		aravis_close(camera);
		return -1;
	}
	if (wanted->verbose)
		note(camera->name, "%s %s, %zux%zu, %s, exposure %.3f ms",
		    arv_camera_get_vendor_name(own->camera, NULL),
		    arv_camera_get_model_name(own->camera, NULL), camera->w, camera->h,
		    own->format->name, 1e3 * camera->exposure_s);
	return 0;
}

int
camera_aravis_list(FILE *file)
{
	arv_update_device_list();
	for (unsigned i = 0; i < arv_get_n_devices(); i++)
		fprintf(file, "%s %s %s, %s\n", arv_get_device_id(i), arv_get_device_vendor(i),
		    arv_get_device_model(i), arv_get_device_protocol(i));
	return 0;
}
