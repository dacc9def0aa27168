/* SHA-1 (FIPS 180-4), which the handshake of WebSocket asks for; it protects nothing there. */
#ifndef SHA1_H
#define SHA1_H

#include <stddef.h>

void sha1(const void *data, size_t n, unsigned char digest[20]);

#endif
