#include "cloud.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "mesh/mesh.h"

/* ---- channels ---- */

/* Coordinates are lengths: x y z, or z over pixels whose distance is known in the same unit. */
static int
check_lengths(const struct frame_head *head, const struct mesh *mesh, const struct numbers *pixel,
    const char *unit)
{
	if (!strcmp(unit, "px") || !strcmp(unit, "pixel") || !strcmp(unit, "pixels"))
		return fail("length_unit", "is %.40s: a shape wants coordinates in mm (phase2depth "
		    "--calib)", unit);
	if (mesh->point[0] != NO_CHANNEL)
		return pixel->n ? fail("--pixel", "the input has x and y") : 0;
	if ((!mesh->scaled && !pixel->n) || head_is_table(head))
		return fail(NULL, "%.40s without x and y, whose pixels have no known distance: "
		    "give x y z (phase2depth --calib), or --pixel",
		    head->channel[mesh->point[2]]);
	if (!pixel->n && *head->unit && strcmp(head->unit, unit))
		return fail(NULL, "the pixels' distance is in %s, %.40s in %.40s: other units",
		    head->unit, head->channel[mesh->point[2]], unit);
	return 0;
}

int
cloud_find(const struct numbers *pixel, const struct frame_head *head,
    struct cloud_channels *channels)
{
	const char *unit = meta_get(&head->meta, "length_unit");
	struct mesh mesh;

	if (mesh_channels(&mesh, NULL, head) < 0)
		return -1;
	if (head->c == 1 && mesh.point[0] == NO_CHANNEL && strcmp(head->channel[0], "z") &&
	    strcmp(head->channel[0], "depth") && strcmp(head->channel[0], "height"))
		return fail(NULL, "a shape needs channels x y z, or one of z, depth, height, not "
		    "%s", head->channel[0]);
	unit = unit ? unit : *head->unit ? head->unit : "mm";
	if (check_lengths(head, &mesh, pixel, unit) < 0)
		return -1;
	snprintf(channels->unit, sizeof(channels->unit), "%.15s", unit);
	memcpy(channels->x, mesh.point, sizeof(channels->x));
	memcpy(channels->spacing, mesh.spacing, sizeof(channels->spacing));
	for (size_t i = 0; i < 2 && pixel->n; i++)
		channels->spacing[i] = pixel->v[i < pixel->n ? i : 0];
	channels->towards = mesh.towards;
	channels->sigma = head_channel(head, "sigma");
	return 0;
}

/* ---- points ---- */

static int
check_rectangle(const struct frame_head *head, const double v[4])
{
	if (head_is_table(head))
		return fail("--roi", "the input is a table, which has no pixels: give a box "
		    "x0,y0,z0,x1,y1,z1");
	if (v[0] + v[2] > (double)head->w || v[1] + v[3] > (double)head->h)
		return fail("--roi", "%g,%g,%g,%g reaches beyond the %zu x %zu pixels", v[0], v[1],
		    v[2], v[3], head->w, head->h);
	return 0;
}

static bool
in_box(const double v[6], const double x[3])
{
	for (int i = 0; i < 3; i++)
		if (x[i] < v[i] || x[i] > v[3 + i])
			return false;
	return true;
}

static bool
get_point(const struct frame *frame, const struct cloud_channels *channels, size_t x, size_t y,
    double out[3])
{
	bool plain = channels->x[0] == NO_CHANNEL;

	out[0] = plain ? (double)x * channels->spacing[0] :
	    (double)frame_floats(frame, channels->x[0], y)[x];
	out[1] = plain ? (double)y * channels->spacing[1] :
	    (double)frame_floats(frame, channels->x[1], y)[x];
	out[2] = (double)frame_floats(frame, channels->x[2], y)[x];
	return isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]);
}

static int
add_point(const struct frame *frame, const struct cloud_channels *channels, size_t x, size_t y,
    struct cloud *cloud)
{
	double point[3];

	if (!get_point(frame, channels, x, y, point))
		return 0;
	if (cloud->sigma) {
		double sigma = (double)frame_floats(frame, channels->sigma, y)[x];

		if (isnan(sigma))
			return 0;
		if (!(sigma > 0) || isinf(sigma))
			return fail("sigma", "is %g at pixel %zu %zu: a standard deviation is more "
			    "than 0; --no-weights leaves them out", sigma, x, y);
		cloud->sigma[cloud->n] = sigma;
	}
	memcpy(cloud->x[cloud->n], point, sizeof(point));
	cloud->pixel[cloud->n++] = y * frame->head.w + x;
	return 0;
}

static int
make_room(struct cloud *cloud, size_t most, bool weighted)
{
	cloud->x = calloc(most + 1, sizeof(*cloud->x));
	cloud->pixel = calloc(most + 1, sizeof(*cloud->pixel));
	cloud->sigma = weighted ? calloc(most + 1, sizeof(*cloud->sigma)) : NULL;
	return cloud->x && cloud->pixel && (cloud->sigma || !weighted) ? 0 : fail_memory();
}

static void
centre(struct cloud *cloud)
{
	double sum[3] = { 0 };

	for (size_t i = 0; i < cloud->n; i++)
		for (int k = 0; k < 3; k++)
			sum[k] += cloud->x[i][k];
	for (int k = 0; k < 3; k++)
		cloud->about[k] = cloud->n ? sum[k] / (double)cloud->n : 0;
	for (size_t i = 0; i < cloud->n; i++)
		for (int k = 0; k < 3; k++)
			cloud->x[i][k] -= cloud->about[k];
}

int
cloud_take(const struct frame *frame, const struct cloud_channels *channels,
    const struct region *region, bool weighted, struct cloud *cloud)
{
	const struct frame_head *head = &frame->head;
	size_t x0 = 0, y0 = 0, w = head->w, h = head->h, most, kept = 0;

	*cloud = (struct cloud){ .along =
	    channels->x[0] == NO_CHANNEL ? ALONG_Z : ALONG_RAY };
	if (region->n == 4) {
		if (check_rectangle(head, region->v) < 0)
			return -1;
		x0 = (size_t)region->v[0];
		y0 = (size_t)region->v[1];
		w = (size_t)region->v[2];
		h = (size_t)region->v[3];
	}
	if (size_multiply(w, h, &most) < 0 ||
	    make_room(cloud, most, weighted && channels->sigma != NO_CHANNEL) < 0)
		return -1;
	for (size_t y = y0; y < y0 + h; y++)
		for (size_t x = x0; x < x0 + w; x++) {
			if (add_point(frame, channels, x, y, cloud) < 0)
				return -1;
			if (region->n == 6 && cloud->n > kept &&
			    !in_box(region->v, cloud->x[kept]))
				cloud->n = kept;
			kept = cloud->n;
		}
	centre(cloud);
	return 0;
}

int
cloud_without(const struct cloud *cloud, const unsigned char *drop, struct cloud *out)
{
	*out = (struct cloud){ .along = cloud->along };
	memcpy(out->about, cloud->about, sizeof(out->about));
	if (make_room(out, cloud->n, cloud->sigma) < 0)
		return -1;
	for (size_t i = 0; i < cloud->n; i++) {
		if (drop[i])
			continue;
		memcpy(out->x[out->n], cloud->x[i], sizeof(*out->x));
		out->pixel[out->n] = cloud->pixel[i];
		if (cloud->sigma)
			out->sigma[out->n] = cloud->sigma[i];
		out->n++;
	}
	return 0;
}

void
cloud_free(struct cloud *cloud)
{
	free(cloud->x);
	free(cloud->sigma);
	free(cloud->pixel);
	*cloud = (struct cloud){ 0 };
}
