/* fringepipe --calibrate: measures what computing costs on this machine (cost_model.h). */
#ifndef CALIBRATE_H
#define CALIBRATE_H

/*
 * Measures the processor with so many threads, and a device: which as -d, auto or NULL for the
 * fastest that is no processor itself. Prints what it finds and keeps it in the user's cache
 * folder. -1 after fail().
 */
int calibrate(const char *which, int threads);

#endif
