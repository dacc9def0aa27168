/* The programs: a tool of one stage, and fringepipe. */
#include "run/stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "io/nrrd.h"
#include "io/safe_file.h"
#include "run/cost_model.h"
#include "run/setup.h"

/* What this process runs, for the end that must_alloc() makes of it. */
static struct {
	struct chain *chain;
	int words;
	char **word;
	bool parsed;		/* all words are taken in */
} running;

/*
 * Did the chain write frames to standard output, or would it have? One whose words were not taken
 * in is judged by them: an output that they name, and the stage behind the last comma.
 */
static bool
writes_stream(void)
{
	const struct chain *chain = running.chain;
	const struct run *last = chain->n ? &chain->link[chain->n - 1].run : NULL;
	const struct stage *stage = last ? last->stage : NULL;
	char **word = running.word;

	for (int i = 0; !running.parsed && i < running.words; i++) {
		if (!strncmp(word[i], "-o", 2) || !strncmp(word[i], "--o", 3))
			return false;
		if (!strcmp(word[i], ",") && i + 1 < running.words && stage_find(word[i + 1]))
			stage = stage_find(word[i + 1]);
	}
	return !(stage && stage->traits & (STAGE_SINK | STAGE_TEXT)) && !(last && last->sink) &&
	    (!chain->output || !strcmp(chain->output, "-"));
}

/* Does the last stage answer by its exit status (framecmp), where 1 is no failure? */
static bool
answers(void)
{
	const struct chain *chain = running.chain;

	return chain->n && chain->link[chain->n - 1].run.stage->traits & STAGE_ANSWERS;
}

/* The run failed and its message is printed: marks the stream as failed. Returns the exit code. */
static int
fail_stream(bool stream, bool answering)
{
	if (stream && !running.chain->losses.ended)
		stream_send_failed(STDOUT_FILENO);
	if (answering)
		return EXIT_USAGE;
	return fail_code() == EXIT_DONE ? EXIT_FAILED : (int)fail_code();
}

static int
end_without_memory(void)
{
	return fail_stream(writes_stream(), answers());
}

/* Returns the exit code; the message, if any, goes to standard error. */
static int
conclude(struct chain *chain, int status, bool stream)
{
	int code = chain->n ? chain->link[chain->n - 1].run.status : EXIT_DONE;
	bool answering = answers();	/* the links go with the chain */
	size_t warnings;

	status = setup_close(chain, status);
	if (status == 0 && fflush(stdout) != 0)
		status = fail_errno("standard output", "could not be written");
	warnings = warn_count();
	if (status == 0 && chain->strict && warnings)
		status = fail("--strict", "%zu warning%s", warnings, warnings == 1 ? "" : "s");
	if (status < 0) {
		fail_print();
		code = fail_stream(stream, answering);
	}
	if (fclose(stdout) != 0 && code == EXIT_DONE) {
		fail_errno("standard output", "could not be written");
		fail_print();
		return EXIT_FAILED;
	}
	return code;
}

/* Before anything is opened. Text waits for a slow reader too, where the output that was inherited
 * does not block. */
static int
prepare(const char *name, struct chain *chain, int words, char **word)
{
	int flags;
	FILE *waits;

	fail_set_program(name);
	running.chain = chain;
	running.words = words;
	running.word = word;
	memory_ends_with(end_without_memory);
	if (standard_files_reserve() < 0)
		return -1;
	flags = fcntl(STDOUT_FILENO, F_GETFL);
	if (flags < 0 || !(flags & O_NONBLOCK))
		return 0;
	waits = waiting_file_output(STDOUT_FILENO);
	if (waits)
		stdout = waits;
	return 0;
}

/* --help, --version, --words: true if one of them was asked for and answered. */
static bool
answer(const struct runner_options *options, const struct stage *stage)
{
	const bool usual = options->help == HELP_USUAL;
	const bool takes_none = (stage->traits & (STAGE_SOURCE | STAGE_OPERANDS)) == STAGE_SOURCE;
	const char *files = takes_none ? "" : "[FILE ...]";

	if (options->help >= 0)
		opt_print_help(stdout, stage->name, stage->operands ? stage->operands : files,
		    stage->summary, link_options(stage), usual ? stage->usual : NULL,
		    setup_options, usual ? SETUP_USUAL : NULL);
	else if (options->version)
		printf("%s (fringepipe) %s\n", stage->name, program_version);
	else if (options->words)
		opt_print_words(stdout, link_options(stage), setup_options);
	else
		return false;
	return true;
}

/* A comma before another stage's name is how a chain goes on. */
static int
check_no_chain(const char *name, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i++)
		if (*argv[i] && argv[i][strlen(argv[i]) - 1] == ',' && stage_find(argv[i + 1]))
			return fail_usage(NULL, "a chain of stages begins with the word "
			    "fringepipe: fringepipe %s ... , %s ...", name, argv[i + 1]);
	return 0;
}

int
stage_main(const char *name, int argc, char **argv)
{
	struct runner_options options;
	struct chain chain = { 0 };
	const struct stage *stage;
	struct link *link;
	int first, status = -1;

	if (prepare(name, &chain, argc, argv) < 0)
		return conclude(&chain, -1, false);
	opt_defaults(setup_options, &options);
	stage = cpu_level(NULL) < 0 ? NULL : setup_hand_on(stage_find(name), argc, argv);
	if (!stage)
		return conclude(&chain, -1, writes_stream());
	fail_set_program(stage->name);
	link = setup_add_link(&chain, stage);
	if (check_no_chain(stage->name, argc, argv) == 0 &&
	    opt_parse(link_options(stage), link->run.parameters, setup_options, &options, argc,
	    argv, &first) == 0) {
		if (answer(&options, stage))
			return conclude(&chain, 0, false);
		running.parsed = true;
		setup_apply(&chain, &options);
		if (setup_check_device(options.device) == 0 &&
		    setup_check_operands(&chain, 0, argc - first, argv + first) == 0)
			status = setup_run(&chain, options.device);
	}
	return conclude(&chain, status, writes_stream());
}

struct chain_options {
	struct runner_options runner;	/* first: the runner's own rows fit */
	bool devices, agreement, calibrate;
};

#undef AT
#define AT(field) offsetof(struct chain_options, field)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct opt chain_table[] = {
	FLAG_ROW(0, "devices", devices, "list where it can compute"),
	FLAG_ROW(0, "calibrate", calibrate, "measure what computing costs here, for -d auto"),
	FLAG_ROW(0, "agreement", agreement, "list how closely GPU and processor agree, by stage"),
	{ 0 },
};

static void
list_stages(void)
{
	for (const struct stage_row *row = stage_table; row->name; row++)
		if (!(row->stage->traits & STAGE_ALONE))
			printf("%-14s %s\n", row->name, row->stage->summary);
}

/* For people, and for the test that holds it. */
static void
list_agreement(void)
{
	static const char *const words[] = {
		[AGREE_EXACT] = "exact", [AGREE_ABSOLUTE] = "absolute",
		[AGREE_RELATIVE] = "relative"
	};

	for (const struct stage_row *row = stage_table; row->name; row++) {
		const struct stage *stage = row->stage;

		if (stage->traits & STAGE_ALONE)
			continue;
		printf("%-14s %-9s %g\n", row->name, words[stage->agree], stage->tolerance);
	}
}

static void
print_device(void *, size_t number, const struct gpu_facts *facts)
{
	printf("gpu:%zu  %s, %.1f GB%s%s%s%s: %s\n", number, facts->kind,
	    1e-9 * (double)facts->memory_bytes, facts->unified ? " unified" : "",
	    facts->float64 ? "" : ", no doubles", facts->exact ? "" : ", no exact floats",
	    facts->transfers ? ", copy queue" : "", facts->name);
}

static int
list_devices(void)
{
	struct runner_options options = { .threads = OPT_NONE_INTEGER };

	printf("cpu    %d threads\n", setup_threads(&options));
	return gpu_list(print_device, NULL) < 0 ? -1 : 0;
}

static void
print_chain_help(void)
{
	printf("usage: fringepipe [OPTION ...] STAGE [WORD ...] [, STAGE [WORD ...]] ...\n"
	    "run many stages in one process; a lone comma ends a stage\n\noptions\n");
	for (const struct opt *opt = chain_table; opt->name; opt++)
		printf("  --%-12s %s\n", opt->name, opt->help);
	printf("  every tool's own; -j -q -v -o -f --keep-going --strict --no-check --valid before "
	    "the first stage or in the last, -d anywhere\n\nstages\n");
	list_stages();
	printf("\nmore: man fringepipe\n");
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
	if (options->help >= 0)
		print_chain_help();
	else if (options->version)
		printf("fringepipe %s\n", program_version);
	else if (options->words) {
		opt_print_words(stdout, chain_table, setup_options);
		list_stages();
	} else if (own->devices)
		*status = list_devices();
	else if (own->agreement)
		list_agreement();
	else if (own->calibrate)
		*status = setup_check_device(options->device) < 0 ? -1 :
		    calibrate(options->device, setup_threads(options));
	else
		return false;
	return true;
}

int
chain_main(int argc, char **argv)
{
	struct chain_options own = { 0 };
	struct opt rows[SETUP_OPTIONS + COUNT(chain_table) - 1];	/* before the first stage */
	struct chain chain = { 0 };
	int first, status;

	if (prepare("fringepipe", &chain, argc, argv) < 0)
		return conclude(&chain, -1, false);
	memcpy(rows, chain_table, sizeof(chain_table));
	memcpy(rows + COUNT(chain_table) - 1, setup_options,
	    SETUP_OPTIONS * sizeof(*setup_options));
	opt_defaults(rows, &own);
	if (opt_parse(NULL, NULL, rows, &own, argc, argv, &first) < 0)
		return conclude(&chain, -1, writes_stream());
	if (answer_alone(&own, argv[first], &status))
		return conclude(&chain, status, false);
	status = setup_check_device(own.runner.device);
	if (status == 0)
		status = setup_parse(&chain, &own.runner, argc - first, argv + first);
	if (status == 1) {
		answer(&own.runner, chain.link[chain.n - 1].run.stage);
		return conclude(&chain, 0, false);
	}
	if (status == 0) {
		running.parsed = true;
		setup_apply(&chain, &own.runner);
		status = setup_run(&chain, own.runner.device);
	}
	return conclude(&chain, status, writes_stream());
}
