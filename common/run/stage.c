#define _GNU_SOURCE
#include "run/stage.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/calibrate.h"
#include "run/chain.h"
#include "run/placement.h"
#include "run/device.h"

#ifndef VERSION
#define VERSION "0.1"
#endif

struct runner_options {
	bool help, version, words, verbose, quiet, force;
	const char *output, *device;
	long threads;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AT(field) offsetof(struct runner_options, field)

static const struct opt runner_table[] = {
	{ 'o', "output", "FILE", OPT_FILE, AT(output), NULL, 0, 0, NULL,
	    "write there, format by suffix; %04d numbers frames; a folder takes them all", NULL },
	{ 'f', "force", NULL, OPT_FLAG, AT(force), NULL, 0, 0, NULL,
	    "write into a folder that is not empty", NULL },
	{ 'j', "threads", "N", OPT_INTEGER, AT(threads), NULL, 1, 1024, NULL,
	    "threads to use; all cores if not given", NULL },
	{ 'd', "device", "NAME", OPT_TEXT, AT(device), NULL, 0, 0, NULL,
	    "where to compute: cpu, gpu, gpu:N, gpu:NAME or auto [auto]", NULL },
	{ 'v', "verbose", NULL, OPT_FLAG, AT(verbose), NULL, 0, 0, NULL, "say what is done", NULL },
	{ 'q', "quiet", NULL, OPT_FLAG, AT(quiet), NULL, 0, 0, NULL,
	    "no warnings, no progress line", NULL },
	{ 'h', "help", NULL, OPT_FLAG, AT(help), NULL, 0, 0, NULL, "print this help", NULL },
	{ 'V', "version", NULL, OPT_FLAG, AT(version), NULL, 0, 0, NULL, "print the version",
	    NULL },
	{ 0, "words", NULL, OPT_FLAG, AT(words), NULL, 0, 0, NULL,
	    "print the option words, for shell completion", NULL },
	{ 0 },
};

static const struct opt no_options[] = { { 0 } };

static const struct opt *
options_of(const struct stage *stage)
{
	return stage->options ? stage->options : no_options;
}

/* ---- what stages call ---- */

struct save_options *
run_save_options(struct run *run)
{
	return &run->chain->save;
}

struct meta *
run_output_meta(struct run *run)
{
	return &run->link->out.meta;
}

int
run_number(const struct run *run, double option, const struct frame_head *head, const char *key,
    double otherwise, double *out)
{
	(void)run;
	if (!isnan(option)) {
		*out = option;
		return 0;
	}
	return meta_number(&head->meta, key, otherwise, out);
}

int
run_numbers(const struct run *run, const struct numbers *option, const struct frame_head *head,
    const char *key, struct numbers *out)
{
	(void)run;
	if (option->n == 0)
		return meta_numbers(&head->meta, key, out);
	out->v = reallocarray(NULL, option->n, sizeof(*out->v));
	if (!out->v)
		return fail_memory();
	memcpy(out->v, option->v, option->n * sizeof(*out->v));
	out->n = option->n;
	return 0;
}

int
run_channel(const struct run *run, const struct frame_head *head, const char *name, size_t *c)
{
	char *names;

	*c = head_channel(head, name);
	if (*c != NO_CHANNEL)
		return 0;
	names = head_channels(head);
	fail(run->chain->n > 1 ? run->stage->name : NULL,
	    "input has no channel %s, only: %.200s", name, names ? names : "?");
	free(names);
	return -1;
}

int
run_second_input(const struct run *run, const struct frame_head *head, const char *option,
    const char *channel, size_t *c)
{
	char name[2 * CHANNEL_NAME_SIZE], prefix[CHANNEL_NAME_SIZE + 1];
	size_t found = 0;

	if (channel) {
		snprintf(name, sizeof(name), "%s.%s", option, channel);
		*c = head_channel(head, name);
		if (*c != NO_CHANNEL)
			return 0;
	}
	snprintf(prefix, sizeof(prefix), "%s.", option);
	for (size_t i = 0; i < head->c; i++)
		if (!strncmp(head->channel[i], prefix, strlen(prefix))) {
			*c = i;
			found++;
		}
	if (found == 1)
		return 0;
	(void)run;
	return fail(NULL, "the image of --%s has %zu channels and none is named %s", option, found,
	    channel ? channel : "image");
}

const struct frame_head *
run_second_input_head(const struct run *run, const char *option)
{
	const struct link *link = run->link;

	for (size_t i = 0; i < link->besides; i++)
		if (!strcmp(link->beside[i].opt->name, option) && link->beside[i].frame)
			return &link->beside[i].frame->head;
	return NULL;
}

const struct stage *
stage_find(const char *name)
{
	int level = cpu_level(NULL);

	if (level < 0)
		return NULL;
	for (const struct stage_row *row = stage_table; row->name; row++)
		if (!strcmp(row->name, name))
			return row->level[level];
	return NULL;
}

/* ---- setting up a chain ---- */

/* An option of type OPT_FRAME may list words that stand for no file. */
static bool
is_word(const struct opt *opt, const char *path)
{
	for (size_t i = 0; opt->words && opt->words[i]; i++)
		if (!strcmp(opt->words[i], path))
			return true;
	return false;
}

static int
find_second_inputs(struct link *link)
{
	const struct opt *table = options_of(link->run.stage);

	for (const struct opt *opt = table; opt->name; opt++) {
		const char *path;
		struct second_input *more;

		if (opt->type != OPT_FRAME)
			continue;
		path = *(const char *const *)((char *)link->run.parameters + opt->offset);
		if (!path || is_word(opt, path))
			continue;
		more = reallocarray(link->beside, link->besides + 1, sizeof(*more));
		if (!more)
			return fail_memory();
		link->beside = more;
		more[link->besides++] = (struct second_input){ .opt = opt, .path = path };
	}
	return 0;
}

static int
check_place(const struct chain *chain, size_t at)
{
	const struct stage *stage = chain->link[at].run.stage;

	if (at > 0 && (stage->traits & STAGE_SOURCE) &&
	    !(stage->traits & STAGE_SINK && !chain->link[at].run.operands))
		return fail_usage(stage->name, "makes frames, so it can only be the first stage");
	if (at + 1 < chain->n && (stage->traits & STAGE_SINK))
		return fail_usage(stage->name, "gives no frames, so it can only be the last stage");
	return 0;
}

static int
check_operands(struct chain *chain, size_t at, int operands, char **operand)
{
	struct run *run = &chain->link[at].run;
	size_t stdin_uses = 0;

	for (int i = 0; i < operands; i++)
		stdin_uses += !strcmp(operand[i], "-");
	if (stdin_uses > 1)
		return fail_usage(NULL, "standard input is named %zu times", stdin_uses);
	if (at > 0 && operands)
		return fail_usage(run->stage->name,
		    "takes its input from the stage before, not from '%.60s'", operand[0]);
	if (operands && (run->stage->traits & STAGE_SOURCE) &&
	    !(run->stage->traits & STAGE_OPERANDS))
		return fail_usage(run->stage->name, "takes no operands, not '%.60s'", operand[0]);
	run->operand = operand;
	run->operands = (size_t)operands;
	if (at == 0) {
		chain->operand = operand;
		chain->operands = (size_t)operands;
	}
	return 0;
}

/* "phasewrap --steps=3 [6]": what becomes cmd.N. */
static int
make_command(struct link *link)
{
	char *options = opt_command(link->run.stage->name, options_of(link->run.stage),
	    link->run.parameters);
	int n = -1;

	if (!options)
		return -1;
	if (link->run.operands)
		n = asprintf(&link->command, "%s [%zu]", options, link->run.operands);
	else
		n = asprintf(&link->command, "%s", options);
	free(options);
	if (n < 0)
		link->command = NULL;
	return n < 0 ? fail_memory() : 0;
}

static bool
names_gpu(const char *device)
{
	return device && !strncmp(device, "gpu", 3) && (device[3] == '\0' || device[3] == ':');
}

static int
check_device(const char *device)
{
	if (device && !names_gpu(device) && strcmp(device, "cpu") && strcmp(device, "auto"))
		return fail_usage("--device", "must be cpu, gpu, gpu:N, gpu:NAME or auto, not "
		    "'%.60s'", device);
	return 0;
}

/* Opens the device that some stage demands, or sees whether -d auto could gain by one. `all` is -d
 * of the stages that have none of their own. */
static int
choose_device(struct chain *chain, const char *all, struct costs *costs)
{
	const char *wanted = NULL;

	for (size_t i = 0; i < chain->n; i++) {
		struct link *link = &chain->link[i];
		const char *own = link->device ? link->device : all;

		if (!names_gpu(own)) {
			link->wish = own && !strcmp(own, "cpu") ? PLACE_PROCESSOR : PLACE_AUTO;
			continue;
		}
		link->wish = PLACE_DEVICE;
		if (wanted && strcmp(wanted, own))
			return fail_usage("--device", "%s and %s: a chain runs on one GPU", wanted,
			    own);
		wanted = own;
	}
	if (costs_load(costs))
		chain->costs = costs;
	if (wanted)
		return device_open(wanted[3] ? wanted + 4 : "", chain->verbose, &chain->device);
	chain->opens = chain->costs && placement_gains(chain);
	return 0;
}

static int
thread_number(const struct runner_options *options)
{
	return options->threads == OPT_NONE_INTEGER ? omp_get_max_threads() :
	    (int)options->threads;
}

static void
apply_runner_options(struct chain *chain, const struct runner_options *options)
{
	chain->output = options->output;
	chain->force = options->force;
	chain->verbose = options->verbose;
	chain->quiet = options->quiet;
	chain->threads = thread_number(options);
	fail_set_quiet(options->quiet);
}

static int
init_links(struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++) {
		struct link *link = &chain->link[i];
		struct run *run = &link->run;

		run->threads = chain->threads;
		run->verbose = chain->verbose;
		run->quiet = chain->quiet;
		run->force = chain->force;
		run->output = i + 1 == chain->n ? chain->output : NULL;
		run->chain = chain;
		run->position = i;
		run->link = link;
		if (check_place(chain, i) < 0 || find_second_inputs(link) < 0)
			return -1;
		if (run->stage->init && run->stage->init(run) < 0)
			return -1;
		if (i == 0) {
			chain->operand = run->operand;
			chain->operands = run->operands;
		}
		if (make_command(link) < 0)
			return -1;
	}
	return 0;
}

/* Standard input may feed the chain or one image beside it, not both. */
static int
check_standard_input(const struct chain *chain)
{
	bool reads = !(chain->link[0].run.stage->traits & STAGE_SOURCE) && chain->operands == 0;
	size_t uses = reads;

	if (reads && (chain->link[0].run.stage->traits & STAGE_OPERANDS))
		return 0;
	for (size_t i = 0; i < chain->operands; i++)
		uses += !strcmp(chain->operand[i], "-");
	for (size_t i = 0; i < chain->n; i++)
		for (size_t k = 0; k < chain->link[i].besides; k++)
			uses += !strcmp(chain->link[i].beside[k].path, "-");
	if (uses > 1)
		return fail_usage(NULL, "standard input is wanted %zu times", uses);
	if (reads && isatty(STDIN_FILENO))
		return fail_usage(NULL, "no input: name files, or pipe frames in; see --help");
	return 0;
}

static int
check_standard_output(const struct chain *chain)
{
	const struct run *last = &chain->link[chain->n - 1].run;

	for (size_t i = 0; i + 1 < chain->n; i++)
		if (chain->link[i].run.sink)
			return fail_usage(chain->link[i].run.stage->name,
			    "gives no frames, so it can only be the last stage");
	if (!(last->stage->traits & STAGE_SINK) && !last->sink && !chain->output &&
	    isatty(STDOUT_FILENO))
		return fail_usage(
		    NULL, "standard output is a terminal: give -o FILE, or pipe the frames on");
	return 0;
}

/* A misspelt suffix or folder is told before the work, not after it. */
static int
check_output(const struct chain *chain)
{
	const struct run *last = &chain->link[chain->n - 1].run;

	if ((last->stage->traits & STAGE_SINK) || last->sink || chain_drops(chain))
		return 0;
	return target_check(chain->output, chain->force);
}

static int
run_chain(struct chain *chain, const char *device)
{
	struct costs costs = { 0 };
	int status = -1;

	if (init_links(chain) == 0 && check_standard_input(chain) == 0 &&
	    check_standard_output(chain) == 0 && check_output(chain) == 0 &&
	    choose_device(chain, device, &costs) == 0)
		status = chain_run(chain);
	chain->costs = NULL;
	costs_free(&costs);
	return status;
}

/* Frees everything; -1 after fail(). */
static int
close_chain(struct chain *chain, int status)
{
	for (size_t i = 0; i < chain->n; i++) {
		struct run *run = &chain->link[i].run;

		if (run->priv && run->stage->end)
			run->stage->end(run);
		if (run->parameters)
			opt_free(options_of(run->stage), run->parameters);
		free(run->parameters);
		free(run->priv);
		free(chain->link[i].command);
		free(chain->link[i].beside);
	}
	free(chain->link);
	return device_close(chain->device) < 0 ? -1 : status;
}

/* Returns the exit code; the message, if any, goes to standard error. */
static int
conclude(struct chain *chain, int status)
{
	int code = chain->n ? chain->link[chain->n - 1].run.status : 0;

	status = close_chain(chain, status);
	if (status == 0 && fflush(stdout) != 0)
		status = fail_errno("standard output", "could not be written");
	if (status == 0)
		return code;
	fail_print();
	return fail_code() == EXIT_DONE ? EXIT_FAILED : (int)fail_code();
}

static struct link *
add_link(struct chain *chain, const struct stage *stage)
{
	struct link *more = reallocarray(chain->link, chain->n + 1, sizeof(*more)), *link;

	if (!more) {
		fail_memory();
		return NULL;
	}
	chain->link = more;
	link = memset(&more[chain->n++], 0, sizeof(*more));
	link->run.stage = stage;
	link->run.parameters = calloc(1, stage->parameter_size + sizeof(struct numbers));
	link->run.priv = calloc(1, stage->private_size + 1);
	if (!link->run.parameters || !link->run.priv ||
	    opt_defaults(stage->options ? stage->options : no_options, link->run.parameters) < 0) {
		fail_memory();
		return NULL;
	}
	return link;
}

static int
close_standard_output(int code)
{
	if (fclose(stdout) != 0 && code == EXIT_DONE) {
		fail_errno("standard output", "could not be written");
		fail_print();
		return EXIT_FAILED;
	}
	return code;
}

/* --help, --version, --words: true if one of them was asked for and answered. */
static bool
answer(const struct runner_options *options, const struct stage *stage)
{
	if (options->help)
		opt_print_help(stdout, stage->name, stage->operands, stage->summary,
		    options_of(stage), runner_table);
	else if (options->version)
		printf("%s (fringepipe) %s\n", stage->name, VERSION);
	else if (options->words)
		opt_print_words(stdout, options_of(stage), runner_table);
	else
		return false;
	return true;
}

int
stage_main(const char *name, int argc, char **argv)
{
	struct runner_options options;
	struct chain chain = { 0 };
	const struct stage *stage;
	struct link *link;
	int first, status = -1;

	fail_set_program(name);
	opt_defaults(runner_table, &options);
	stage = stage_find(name);
	link = stage ? add_link(&chain, stage) : NULL;
	if (link && opt_parse(options_of(stage), link->run.parameters, runner_table, &options, argc,
	    argv, &first) == 0) {
		if (answer(&options, stage))
			return close_standard_output(conclude(&chain, 0));
		apply_runner_options(&chain, &options);
		if (check_device(options.device) == 0 &&
		    check_operands(&chain, 0, argc - first, argv + first) == 0)
			status = run_chain(&chain, options.device);
	}
	return close_standard_output(conclude(&chain, status));
}

/* ---- fringepipe ---- */

struct chain_options {
	struct runner_options runner;	/* first: the runner's own rows fit */
	bool devices, agreement, calibrate;
};

#define AT_CHAIN(field) offsetof(struct chain_options, field)

static const struct opt chain_table[] = {
	{ 0, "devices", NULL, OPT_FLAG, AT_CHAIN(devices), NULL, 0, 0, NULL,
	    "list where it can compute", NULL },
	{ 0, "calibrate", NULL, OPT_FLAG, AT_CHAIN(calibrate), NULL, 0, 0, NULL,
	    "measure what computing costs here, for -d auto", NULL },
	{ 0, "agreement", NULL, OPT_FLAG, AT_CHAIN(agreement), NULL, 0, 0, NULL,
	    "list how closely GPU and processor agree, by stage", NULL },
	{ 0 },
};

static int
list_stages(void)
{
	for (const struct stage_row *row = stage_table; row->name; row++)
		printf("%-14s %s\n", row->name, row->level[0]->summary);
	return 0;
}

/* For people, and for the test that holds it. */
static int
list_agreement(void)
{
	static const char *const words[] = {
		[AGREE_EXACT] = "exact", [AGREE_ABSOLUTE] = "absolute",
		[AGREE_RELATIVE] = "relative"
	};

	for (const struct stage_row *row = stage_table; row->name; row++) {
		const struct stage *stage = row->level[0];

		printf("%-14s %-9s %g\n", row->name, words[stage->agree], stage->tolerance);
	}
	return 0;
}

static void
print_device(void *arg, size_t number, const struct gpu_facts *facts)
{
	(void)arg;
	printf("gpu:%zu  %s, %.1f GB%s%s%s: %s\n", number, facts->kind,
	    1e-9 * (double)facts->memory_bytes, facts->unified ? " unified" : "",
	    facts->float64 ? "" : ", no doubles", facts->transfers ? ", copy queue" : "",
	    facts->name);
}

static int
list_devices(void)
{
	printf("cpu    %d threads\n", omp_get_max_threads());
	return gpu_list(print_device, NULL) < 0 ? -1 : 0;
}

static void
print_chain_help(void)
{
	printf("usage: fringepipe [OPTION ...] STAGE [WORD ...] [, STAGE [WORD ...]] ...\n"
	    "run many stages in one process; a lone comma ends a stage\n\noptions\n");
	for (const struct opt *opt = chain_table; opt->name; opt++)
		printf("  --%-12s %s\n", opt->name, opt->help);
	printf("  every tool's own; -j -q -v -o -f before the first stage or in the "
	    "last, -d anywhere\n\nstages\n");
	list_stages();
	printf("\nmore: man fringepipe\n");
}

static int
refuse_stage(const char *word)
{
	size_t n = strlen(word);

	if (n > 1 && word[n - 1] == ',')
		return fail_usage(word, "no such stage: put a blank before the comma");
	return fail_usage(word, "no such stage, see fringepipe --help");
}

/* A stage in the middle may set -d only. */
static int
check_middle(const struct runner_options *options, const char *stage)
{
	if (options->output || options->force || options->verbose || options->quiet ||
	    options->threads != OPT_NONE_INTEGER)
		return fail_usage(
		    stage, "-o -f -j -v -q stand before the first stage or in the last");
	return 0;
}

/* One stage's words, words[0] its name. */
static int
parse_stage(struct chain *chain, struct runner_options *options, int words, char **word, bool last)
{
	struct runner_options middle, *own = last ? options : &middle;
	const struct stage *stage;
	struct link *link;
	int first;

	if (words == 0)
		return fail_usage(NULL, "stage %zu is empty", chain->n + 1);
	stage = stage_find(word[0]);
	if (!stage)
		return fail_message() ? -1 : refuse_stage(word[0]);
	opt_defaults(runner_table, &middle);
	link = add_link(chain, stage);
	if (!link ||
	    opt_parse(options_of(stage), link->run.parameters, runner_table, own, words, word,
		&first) < 0)
		return -1;
	for (int i = first; i < words; i++) {
		size_t n = strlen(word[i]);

		if (n > 1 && word[i][n - 1] == ',')
			return fail_usage(word[i], "blank before the comma");
	}
	if (!last && check_middle(&middle, stage->name) < 0)
		return -1;
	if (own->help || own->version || own->words) {
		options->help = own->help;
		options->version = own->version;
		options->words = own->words;
		return 1;
	}
	if (check_device(own->device) < 0)
		return -1;
	link->device = middle.device;
	return check_operands(chain, chain->n - 1, words - first, word + first);
}

static int
parse_chain(struct chain *chain, struct runner_options *options, int words, char **word)
{
	for (int start = 0;;) {
		int end = start, status;

		while (end < words && strcmp(word[end], ","))
			end++;
		status = parse_stage(chain, options, end - start, word + start, end == words);
		if (status != 0)
			return status;
		if (end == words)
			return 0;
		start = end + 1;
	}
}

int
chain_measure(int words, char **word, const struct measure *how, struct timing *spent)
{
	struct runner_options options;
	struct chain chain = { .output = how->output, .quiet = true, .threads = how->threads,
		.repeat = how->repeat };
	int status;

	opt_defaults(runner_table, &options);
	status = parse_chain(&chain, &options, words, word);
	if (status == 0)
		status = run_chain(&chain, how->device ? how->device : "cpu");
	*spent = status == 0 ? chain.link[0].spent[how->device != NULL] : (struct timing){ 0 };
	return close_chain(&chain, status);
}

/* All that may stand before the first stage. */
static int
parse_chain_options(struct chain_options *own, int argc, char **argv, int *first)
{
	struct opt rows[COUNT(runner_table) + COUNT(chain_table) - 1];

	memcpy(rows, chain_table, sizeof(chain_table));
	memcpy(rows + COUNT(chain_table) - 1, runner_table, sizeof(runner_table));
	opt_defaults(rows, own);
	return opt_parse(NULL, NULL, rows, own, argc, argv, first);
}

/* Options that stand instead of a chain: true if one of them was given. */
static bool
answer_alone(const struct chain_options *own, const char *word, int *status)
{
	const struct runner_options *options = &own->runner;

	*status = 0;
	if (word && (own->devices || own->agreement || own->calibrate)) {
		*status = fail_usage(word, "--devices, --agreement and --calibrate run no stage");
		return true;
	}
	if (options->help)
		print_chain_help();
	else if (options->version)
		printf("fringepipe %s\n", VERSION);
	else if (options->words)
		list_stages();
	else if (own->devices)
		*status = list_devices();
	else if (own->agreement)
		*status = list_agreement();
	else if (own->calibrate)
		*status = check_device(options->device) < 0 ? -1 :
		    calibrate(options->device, thread_number(options));
	else
		return false;
	return true;
}

int
chain_main(int argc, char **argv)
{
	struct chain_options own = { 0 };
	struct chain chain = { 0 };
	int first, status;

	fail_set_program("fringepipe");
	if (parse_chain_options(&own, argc, argv, &first) < 0)
		return close_standard_output(conclude(&chain, -1));
	if (answer_alone(&own, argv[first], &status))
		return close_standard_output(conclude(&chain, status));
	status = check_device(own.runner.device);
	if (status == 0)
		status = parse_chain(&chain, &own.runner, argc - first, argv + first);
	if (status == 1) {
		answer(&own.runner, chain.link[chain.n - 1].run.stage);
		return close_standard_output(conclude(&chain, 0));
	}
	if (status == 0) {
		apply_runner_options(&chain, &own.runner);
		status = run_chain(&chain, own.runner.device);
	}
	return close_standard_output(conclude(&chain, status));
}
