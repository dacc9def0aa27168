/*
 * libtiff, loaded when the first TIFF file is read: with the 8 libraries behind it, it was 3.8 of
 * the 4.5 million instructions of a tool's start. libtiff.GetField() is TIFFGetField().
 */
#ifndef LIBTIFF_H
#define LIBTIFF_H

#include <tiffio.h>

#define LIBTIFF_FUNCTIONS \
	X(ClientOpen) X(Close) X(GetField) X(GetFieldDefaulted) X(GetStrileByteCount) \
	X(GetStrileOffset) X(IsByteSwapped) X(IsTiled) X(LastDirectory) \
	X(NumberOfStrips) X(NumberOfTiles) X(ReadDirectory) X(ReadEncodedStrip) \
	X(ReadEncodedTile) X(SetErrorHandler) X(SetErrorHandlerExt) X(SetField) \
	X(SetWarningHandler) X(SetWarningHandlerExt) X(StripSize) X(TileSize)

struct libtiff {
#define X(name) __typeof__(TIFF##name) *name;
	LIBTIFF_FUNCTIONS
#undef X
};

extern struct libtiff libtiff;

/* Before its first function is called. 0 or -1 after fail(). */
int libtiff_load(void);

#endif
