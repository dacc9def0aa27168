/* The images that a shader of phasewrap reads, as a list behind its block. */
#ifndef IMAGE_LIST_H
#define IMAGE_LIST_H

#include "phasewrap.block.h"
#include "phasewrap.h"

/* Appends the images of a fringe set with their weights. */
void image_list_add_fringe(struct phasewrap_image **at, struct passes *,
    const struct capture_fringe *, const struct phase_shift_fit *);
/* Appends a plane with the one that it is compared with, or itself. */
void image_list_add_plane(struct phasewrap_image **at, struct passes *, size_t plane,
    size_t inverse);
/* Appends all planes of a Gray code. */
void image_list_add_code(struct phasewrap_image **at, struct passes *,
    const struct capture_code *);

#endif
