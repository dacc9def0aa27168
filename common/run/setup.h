/* Setting up a chain: words become links, options are parsed, every init runs, the device opens. */
#pragma once

#include "run/chain.h"

enum { HELP_USUAL, HELP_ALL };

/* The options that every tool has. */
struct runner_options {
	int help;	/* HELP_...; -1: not asked for */
	bool version, words, verbose, quiet, force, no_sync, keep_going, strict;
	const char *output, *device, *valid, *raw;
	bool follow;
	double idle;
	struct opt_list no_check;
	long threads;
};

extern const struct opt setup_options[];
#define SETUP_OPTIONS 18		/* rows, the one that ends them counted */
/* those that --help lists */
#define SETUP_USUAL "output force threads device verbose quiet help"

/* Appends a stage with its default options. */
struct link *setup_add_link(struct chain *, const struct stage *);
/* The stage that these words are for, word[0] its name: this one, or the one that an option of it,
 * an old spelling (OPT_STAGE), hands them to. NULL after fail_usage(): there is none such here. */
const struct stage *setup_hand_on(const struct stage *, int words, char **word);
/* Takes the operands of the stage at this place. -1 after fail_usage(). */
int setup_check_operands(struct chain *, size_t at, int operands, char **operand);
int setup_check_device(const char *device);
int setup_threads(const struct runner_options *);
void setup_apply(struct chain *, const struct runner_options *);
/* All words of a chain; 1 where a stage's --help, --version or --words is asked for, which is then
 * in options. -1 after fail(). */
int setup_parse(struct chain *, struct runner_options *, int words, char **word);
/* Runs every init, checks input and output, opens the device and runs the chain. `device` is -d of
 * the stages that have none of their own. */
int setup_run(struct chain *, const char *device);
/* Frees everything; -1 after fail(), else status. */
int setup_close(struct chain *, int status);

/* How a chain is run to be measured. */
struct measure {
	const char *device;		/* as -d; NULL: the processor */
	const char *output;		/* as -o */
	int threads;
	size_t repeat;			/* as FRINGEPIPE_REPEAT */
};

/* Runs a chain of words and finds what its first stage took. -1 after fail(). */
int setup_measure(int words, char **word, const struct measure *, struct timing *);
