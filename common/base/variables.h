/* The variables of the environment that the tools read. */
#ifndef VARIABLES_H
#define VARIABLES_H

/* Warns of FRINGEPIPE_ and a name that none of them has, where few other letters make one of it. */
void variables_check(void);

#endif
