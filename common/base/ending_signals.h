/* What is done before a signal ends the process. */
#ifndef ENDING_SIGNALS_H
#define ENDING_SIGNALS_H

/* From now on a signal that ends the process, and that nobody ignores or handles otherwise, calls
 * `clean` first, in its handler: it may do what signal-safety(7) allows. Each once, and few. */
void ending_signals_watch(void (*clean)(void));

#endif
