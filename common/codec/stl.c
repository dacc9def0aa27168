/* STL, written only: binary, or ascii. What a triangle is, see mesh.h. */
#include "io/codec.h"

#include <math.h>

#include "base/linear.h"
#include "base/process.h"
#include "mesh/mesh.h"

#define HEADER_BYTES 80

struct facet {
	float normal[3], corner[3][3];
};

/* x y z of each vertex number. */
static float (*
collect_points(const struct mesh *mesh))[3]
{
	float (*point)[3] = must_alloc(mesh->vertices + 1, sizeof(*point));

	for (size_t y = 0, next = 0; y < mesh->h; y++) {
		size_t n = mesh_vertices(mesh, 0, y, mesh->w, mesh->row);

		for (size_t i = 0; i < n; i++)
			memcpy(point[next++], mesh->row[i].point, sizeof(point[0]));
	}
	return point;
}

/* The normal by the right-hand rule; 0 where the corners lie on a line. */
static void
make_facet(float (*point)[3], const uint32_t corner[3], struct facet *out)
{
	double a[3], b[3], n[3], length;

	for (int i = 0; i < 3; i++)
		memcpy(out->corner[i], point[corner[i]], sizeof(out->corner[i]));
	for (int k = 0; k < 3; k++) {
		a[k] = (double)out->corner[1][k] - out->corner[0][k];
		b[k] = (double)out->corner[2][k] - out->corner[0][k];
	}
	vector3_cross(a, b, n);
	length = vector3_length(n);
	for (int k = 0; k < 3; k++)
		out->normal[k] = length > 0 && isfinite(length) ? (float)(n[k] / length) : 0;
}

static void
write_facet(FILE *file, const struct facet *facet, bool ascii)
{
	static const unsigned char no_attribute[2];

	if (!ascii) {
		fwrite(facet, sizeof(*facet), 1, file);
		fwrite(no_attribute, sizeof(no_attribute), 1, file);
		return;
	}
	fprintf(file, "facet normal %.9g %.9g %.9g\nouter loop\n", facet->normal[0],
	    facet->normal[1], facet->normal[2]);
	for (int i = 0; i < 3; i++)
		fprintf(file, "vertex %.9g %.9g %.9g\n", facet->corner[i][0], facet->corner[i][1],
		    facet->corner[i][2]);
	fprintf(file, "endloop\nendfacet\n");
}

/* A binary header must not begin with `solid`. */
static void
write_header(FILE *file, const struct mesh *mesh, uint32_t facets, bool ascii)
{
	char axes[HEADER_BYTES] = "";

	snprintf(axes, sizeof(axes), "x to the right, y down, z %s the camera",
	    mesh->towards ? "towards" : "away from");
	if (ascii) {
		fprintf(file, "solid %s\n", axes);
		return;
	}
	fwrite(axes, sizeof(axes), 1, file);
	fwrite(&facets, sizeof(facets), 1, file);
}

static void
write_facets(FILE *file, struct mesh *mesh, float (*point)[3], bool ascii)
{
	for (size_t y = 0; y < mesh_triangle_rows(mesh); y++) {
		size_t n = mesh_row_triangles(mesh, y);

		for (size_t i = 0; i < n; i++) {
			struct facet facet;

			make_facet(point, mesh->triangle[i], &facet);
			write_facet(file, &facet, ascii);
		}
	}
	if (ascii)
		fprintf(file, "endsolid\n");
}

static int
write_mesh(struct saver *saver, struct mesh *mesh, bool ascii)
{
	size_t facets = mesh_triangles(mesh);
	float (*point)[3];

	if (facets > UINT32_MAX)
		return fail(saver->path, "an STL file has at most %u triangles, not %zu",
		    UINT32_MAX, facets);
	if (facets == 0)
		warn(saver->path, "no triangle was written: none has three valid corners "
		    "within --jump");
	point = collect_points(mesh);
	write_header(saver->file, mesh, (uint32_t)facets, ascii);
	write_facets(saver->file, mesh, point, ascii);
	free(point);
	return ferror(saver->file) ? fail_errno(saver->path, "cannot be written") : 0;
}

static int
stl_save(struct saver *saver, const struct frame *frame)
{
	const struct mesh_options *options = saver->options;
	struct mesh mesh;
	int status;

	if (options->points || (head_is_table(&frame->head) && !options->triangle))
		return fail(saver->path, "STL files hold triangles, not points: .ply and .obj do");
	status = mesh_init(&mesh, saver->path, frame, options);
	if (status == 0)
		status = write_mesh(saver, &mesh, options->ascii);
	mesh_free(&mesh);
	return status;
}

/* Binary files have no magic number, and neither are read. */
static bool
stl_sniff(const unsigned char *start, size_t n)
{
	return n >= 6 && !memcmp(start, "solid ", 6);
}

const struct codec codec_stl = {
	.name = "STL",
	.suffixes = "stl",
	.sniff = stl_sniff,
	.options = mesh_options,
	.option_size = sizeof(struct mesh_options),
	.save = stl_save
};
