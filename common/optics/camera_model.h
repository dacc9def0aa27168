/* mrcal's camera models: files NAME.cameramodel, one for each camera or projector of a rig. */
#ifndef CAMERA_MODEL_H
#define CAMERA_MODEL_H

#include <stdbool.h>

#include "optics/number_file.h"

/* Is it the name of one, or of several with commas between? */
bool camera_model_is_named(const char *paths);
/*
 * Reads them as the file that fringecal(1) writes of such a rig: unit mm (lengths in models are m),
 * devices.NAME of all, in the frame that their extrinsics refer to, and the older names of the
 * first camera and the projector, or of the first two cameras. A projector is one whose file has
 * the key kind with that word, or `proj` in its name. -1 after fail().
 */
int camera_model_load(const char *paths, struct number_file *);

#endif
