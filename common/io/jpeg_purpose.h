/* What the steps of quantisation of a JPEG file are chosen for: the option --jpeg-for of the codec
 * and of the tools that write such files. */
#ifndef JPEG_PURPOSE_H
#define JPEG_PURPOSE_H

enum jpeg_purpose {
	JPEG_FOR_EYES,		/* YCbCr, by the tables of ITU-T T.81, Annex K */
	JPEG_FOR_FRINGES,	/* RGB, by steps that leave the angle of two channels exact */
};

/* Their words, ended by NULL. */
extern const char *const jpeg_purposes[];

#endif
