/* Sets up a chain from words, and checks what can be known before a frame is read. */
#include "run/setup.h"

#include <omp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/process.h"
#include "base/text.h"
#include "frame/samples.h"
#include "io/file_list.h"
#include "io/safe_file.h"
#include "run/cost_model.h"
#include "run/device.h"
#include "run/sampler.h"
#include "run/second_input.h"

#undef AT
#define AT(field) offsetof(struct runner_options, field)

/* A machine cannot have any number: each takes a stack and one of the system's processes. */
#define MOST_THREADS 1024

static const char *const help_words[] = { [HELP_USUAL] = "usual", [HELP_ALL] = "all", NULL };

const struct opt setup_options[] = {
	{ 'o', "output", "FILE", OPT_FILE, AT(output), NULL, 0, 0, NULL,
	    "write there, format by suffix; %04d numbers frames; a folder takes them all", NULL },
	FLAG_ROW('f', "force", force, "write into a folder that is not empty"),
	{ 'j', "threads", "N", OPT_INTEGER, AT(threads), NULL, 1, MOST_THREADS, NULL,
	    "threads to use; all cores if not given", NULL },
	{ 'd', "device", "NAME", OPT_TEXT, AT(device), NULL, 0, 0, NULL,
	    "where to compute: cpu, gpu, gpu:N, gpu:NAME or auto [auto]", NULL },
	{ 0, "valid", "FILE", OPT_FRAME, AT(valid), NULL, 0, 0, NULL,
	    "mask of the frames that are read: pixels that are 0 there become NaN", NULL },
	{ 0, "raw", "WxH,FORMAT", OPT_TEXT, AT(raw), NULL, 0, 0, NULL,
	    "files are samples without a head: gray, gray10le, bayer_rggb8, ...", NULL },
	FLAG_ROW(0, "follow", follow, "go on with the images that come into a folder"),
	{ 0, "idle", "S", OPT_NUMBER, AT(idle), NULL, 0.001, 1e9, "s",
	    "end --follow when nothing comes for so long", NULL },
	FLAG_ROW(0, "keep-going", keep_going,
	    "a bad image costs its measurement alone; exit status 1 at the end"),
	FLAG_ROW(0, "strict", strict, "a warning makes the exit status 1, and that of framecmp 2"),
	FLAG_ROW('v', "verbose", verbose, "say what is done"),
	FLAG_ROW('q', "quiet", quiet, "no warnings, no progress line"),
	{ 0, "no-check", "NAME", OPT_TEXTS, AT(no_check), NULL, 0, 0, NULL,
	    "leave out a check of checks(7), repeatable; an unknown name lists them", NULL },
	FLAG_ROW(0, "no-sync", no_sync,
	    "leave when files get to the disk to the system, for scratch"),
	{ 'h', "help", "[=all]", OPT_WORD, AT(help), NULL, 0, 0, NULL,
	    "print the usual options; =all: every option", help_words },
	FLAG_ROW('V', "version", version, "print the version"),
	FLAG_ROW(0, "words", words, "print the option words, for shell completion"),
	{ 0 },
};
_Static_assert(sizeof(setup_options) / sizeof(*setup_options) == SETUP_OPTIONS, "as setup.h says");

const struct stage *
stage_find(const char *name)
{
	for (const struct stage_row *row = stage_table; row->name; row++)
		if (!strcmp(row->name, name))
			return row->stage;
	return NULL;
}

const struct stage *
setup_hand_on(const struct stage *stage, int words, char **word)
{
	const struct opt *row = opt_find_stage(link_options(stage), setup_options, words, word);
	const struct stage *other = row ? stage_find(row->help) : stage;

	if (!other)
		fail_usage(stage->name, "--%s%s%s is what %s does, which is not in this program",
		    row->name, row->standard ? " " : "", row->standard ? row->standard : "",
		    row->help);
	return other;
}

int
setup_check_operands(struct chain *chain, size_t at, int operands, char **operand)
{
	struct run *run = &chain->link[at].run;
	int words = run->stage->traits & STAGE_WORD ? 1 : 0;
	size_t stdin_uses = 0;

	for (int i = 0; i < operands; i++)
		stdin_uses += !strcmp(operand[i], "-");
	if (stdin_uses > 1)
		return fail_usage(NULL, "standard input is named %zu times", stdin_uses);
	if (at > 0 && operands > words)
		return fail_usage(run->stage->name,
		    "takes its input from the stage before, not from '%.60s'", operand[words]);
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
static void
make_command(struct link *link)
{
	char *options = opt_command(link->run.stage->name, link_options(link->run.stage),
	    link->run.parameters);

	if (link->masked) {
		char *masked = must_format("%s --valid=%s", options, link->run.chain->valid);

		free(options);
		options = masked;
	}
	if (!link->run.operands) {
		link->command = options;
		return;
	}
	link->command = must_format("%s [%zu]", options, link->run.operands);
	free(options);
}

static bool
names_gpu(const char *device)
{
	return device && !strncmp(device, "gpu", 3) && (device[3] == '\0' || device[3] == ':');
}

int
setup_check_device(const char *device)
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
			link->place = own && !strcmp(own, "cpu") ? PLACE_PROCESSOR : PLACE_AUTO;
			continue;
		}
		link->place = PLACE_DEVICE;
		if (wanted && strcmp(wanted, own))
			return fail_usage("--device", "%s and %s: a chain runs on one GPU", wanted,
			    own);
		wanted = own;
	}
	if (costs_load(costs))
		chain->costs = costs;
	if (wanted)
		return device_open(wanted[3] ? wanted + 4 : "", &chain->device);
	chain->opens = chain->costs && placement_gains(chain);
	return 0;
}

int
setup_threads(const struct runner_options *options)
{
	int all = omp_get_max_threads();	/* the environment may say any number */

	return options->threads != OPT_NONE_INTEGER ? (int)options->threads :
	    all > MOST_THREADS ? MOST_THREADS : all;
}

void
setup_apply(struct chain *chain, const struct runner_options *options)
{
	const char *sync = getenv("FRINGEPIPE_SYNC");

	chain->output = options->output;
	chain->valid = options->valid;
	chain->force = options->force;
	chain->verbose = options->verbose;
	chain->quiet = options->quiet;
	chain->how = (struct read_ahead_how){ options->keep_going, options->raw, options->follow,
		options->idle };
	chain->losses.on = options->keep_going;
	chain->no_check = options->no_check;
	chain->strict = options->strict;
	chain->threads = setup_threads(options);
	fail_set_quiet(options->quiet);
	samples_set_verbose(options->verbose);
	if (options->no_sync || (sync && !strcmp(sync, "no")))
		safe_file_no_sync();
}

/* Begins a message about the command line with the stage that it is about; where `same` stages have
 * its name, with its place too. */
static int
fail_at(const struct chain *chain, size_t at, size_t same)
{
	const char *name = chain->link[at].run.stage->name;
	char text[128];

	if (fail_code() != EXIT_USAGE || fail_is_about(name))
		return -1;
	if (same > 1)
		snprintf(text, sizeof(text), "%.90s (stage %zu)", name, at + 1);
	fail_prefix(same > 1 ? text : name);
	return -1;
}

static int
init_links(struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++) {
		struct link *link = &chain->link[i];
		struct run *run = &link->run;
		const char *name = run->stage->name, *before;
		size_t same = 0;
		int status;

		for (size_t k = 0; k < chain->n; k++)
			same += !strcmp(chain->link[k].run.stage->name, name);
		run->threads = chain->threads;
		run->verbose = chain->verbose;
		run->quiet = chain->quiet;
		run->force = chain->force;
		run->output = i + 1 == chain->n ? chain->output : NULL;
		run->chain = chain;
		run->position = i;
		run->link = link;
		if (i > 0 && (run->stage->traits & STAGE_SOURCE) &&
		    !(run->stage->traits & STAGE_SINK && !run->operands))
			return fail_usage(name, "makes frames, so it can only be the first stage");
		if (i + 1 < chain->n && (run->stage->traits & STAGE_SINK))
			return fail_usage(name,
			    "gives no frames, so it can only be the last stage");
		second_inputs_find(link);
		if (i == 0 && chain->valid && frame_mask_find(link, chain->valid) < 0)
			return -1;
		checks_open(link);
		if (same > 1)
			snprintf(link->title, sizeof(link->title), "%.50s (stage %zu)", name,
			    i + 1);
		else if (chain->n > 1)
			snprintf(link->title, sizeof(link->title), "%.50s", name);
		before = warn_stage(link->title);
		status = run->stage->init ? run->stage->init(run) : 0;
		warn_stage(before);
		if (status < 0)
			return chain->n == 1 ? -1 : fail_at(chain, i, same);
		if (i == 0) {
			chain->operand = run->operand;
			chain->operands = run->operands;
		}
		make_command(link);
	}
	return 0;
}

/* Standard input may feed the chain or one second input, not both. */
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
		for (size_t k = 0; k < second_inputs_read_count(&chain->link[i]); k++)
			uses += !strcmp(chain->link[i].second_input[k].path, "-");
	if (uses > 1)
		return fail_usage(NULL, "standard input is wanted %zu times", uses);
	if (reads && isatty(STDIN_FILENO))
		return fail_usage(NULL, "no input: name files, or pipe frames in; see --help");
	return 0;
}

/* Frames have somewhere to go; a misspelt suffix or folder is an error before the work, not after
 * it. */
static int
check_output(const struct chain *chain)
{
	const struct run *last = &chain->link[chain->n - 1].run;

	for (size_t i = 0; i + 1 < chain->n; i++)
		if (chain->link[i].run.sink)
			return fail_usage(chain->link[i].run.stage->name,
			    "gives no frames, so it can only be the last stage");
	if ((last->stage->traits & STAGE_SINK) || last->sink || chain_drops(chain))
		return 0;
	if (!chain->output && isatty(STDOUT_FILENO))
		return fail_usage(
		    NULL, "standard output is a terminal: give -o FILE, or pipe the frames on");
	return target_check(chain->output, chain->force);
}

/* What is written into a folder that is followed would be read again, without end. */
static int
check_followed(const struct chain *chain)
{
	const char *slash = chain->output ? strrchr(chain->output, '/') : NULL;
	char *folder = must_format("%.*s", slash ? (int)(slash - chain->output) + 1 : 1,
	    slash ? chain->output : ".");
	struct stat to, from;
	int status = 0;

	if (!chain->output || !strcmp(chain->output, "-") || chain_drops(chain) ||
	    ((stat(chain->output, &to) < 0 || !S_ISDIR(to.st_mode)) && stat(folder, &to) < 0))
		to.st_mode = 0;
	for (size_t i = 0; S_ISDIR(to.st_mode) && i < chain->operands && status == 0; i++)
		if (stat(chain->operand[i], &from) == 0 && from.st_ino == to.st_ino &&
		    from.st_dev == to.st_dev)
			status = fail_usage("--follow", "-o %s is in a folder that is followed, "
			    "and would be read again: name another folder", chain->output);
	free(folder);
	return status;
}

/* --raw and --follow are for operands that the runner reads. */
static int
check_reading(const struct chain *chain)
{
	const struct read_ahead_how *how = &chain->how;
	const struct run *first = &chain->link[0].run;

	if (how->idle_s > 0 && !how->follow)
		return fail_usage("--idle", "is for --follow");
	if ((how->raw || how->follow) && first->stage->traits & (STAGE_SOURCE | STAGE_OPERANDS))
		return fail_usage(how->raw ? "--raw" : "--follow", "%s reads its files itself, if "
		    "any: framecat takes this option, too", first->stage->name);
	if (how->follow && check_followed(chain) < 0)
		return -1;
	return how->raw ? codec_of_raw()->raw_check(how->raw) : 0;
}

/* Of the environment: yes, no, or nothing. */
static int
check_word(const char *name)
{
	const char *word = getenv(name);

	if (!word || !*word || !strcmp(word, "yes") || !strcmp(word, "no"))
		return 0;
	return fail_usage(name, "must be yes or no, not '%.40s'", word);
}

#define ALIKE_LEAST 3	/* names: two in one order may be meant */

/* Frames take the order of their files; a stage that gathers images looks at their names itself. */
static void
check_order(const struct chain *chain)
{
	const struct run *first = &chain->link[0].run;
	size_t at = chain->operands;

	if (!(first->stage->traits & (STAGE_OPERANDS | STAGE_SINK)) && !first->body->gather)
		at = text_order_find_alike(chain->operand, chain->operands, ALIKE_LEAST);
	if (at < chain->operands)
		text_order_warn(chain->operand, at);
}

/* Puts a name behind the others unless it is there. */
static void
add_check(char *list, size_t size, const char *name)
{
	size_t n = strlen(list);

	if (!words_have(list, name))
		snprintf(list + n, size - n, "%s%s", n ? " " : "", name);
}

/* Is it the name of a check of some stage? -1 after fail_usage(), which lists them. */
static int
find_check(const char *name)
{
	char list[4000] = "";		/* names of all checks */

	for (const struct stage_row *row = stage_table; row->name; row++) {
		const struct check *const *check = row->stage->checks;

		for (; check && *check; check++) {
			if (!strcmp((*check)->name, name))
				return 0;
			add_check(list, sizeof(list), (*check)->name);
		}
	}
	if (!*list)
		return fail_usage("--no-check", "there are no checks here");
	return fail_usage("--no-check", "there is no check '%.40s', only: %s", name, list);
}

int
setup_run(struct chain *chain, const char *device)
{
	struct costs costs = { 0 };
	int status = -1;

	variables_check();
	for (size_t i = 0; i < chain->no_check.n; i++)
		if (find_check(chain->no_check.v[i]) < 0)
			return -1;
	if (check_word("FRINGEPIPE_SYNC") == 0 && check_word("FRINGEPIPE_HANDOVER") == 0 &&
	    init_links(chain) == 0 && check_standard_input(chain) == 0 &&
	    check_reading(chain) == 0 &&
	    check_output(chain) == 0 && choose_device(chain, device, &costs) == 0) {
		check_order(chain);
		status = chain_run(chain);
	}
	chain->costs = NULL;
	costs_free(&costs);
	return status;
}

int
setup_close(struct chain *chain, int status)
{
	for (size_t i = 0; i < chain->n; i++) {
		struct run *run = &chain->link[i].run;
		const char *before = warn_stage(chain->link[i].title);

		if (run->stage->release)
			run->stage->release(run);
		warn_stage(before);
		opt_free(link_options(run->stage), run->parameters);
		free(run->parameters);
		free(run->priv);
		checks_free(&chain->link[i]);
		free(chain->link[i].command);
		free(chain->link[i].second_input);
	}
	free(chain->link);
	free(chain->no_check.v);
	return device_close(chain->device) < 0 ? -1 : status;
}

struct link *
setup_add_link(struct chain *chain, const struct stage *stage)
{
	struct link *link;

	chain->link = must_resize(chain->link, chain->n + 1, sizeof(*link));
	link = memset(&chain->link[chain->n++], 0, sizeof(*link));
	link->run.stage = stage;
	link->run.parameters = must_alloc(1, stage->parameter_size + sizeof(struct numbers));
	link->run.priv = must_alloc(1, stage->private_size);
	opt_defaults(link_options(stage), link->run.parameters);
	return link;
}

#define STAGES_MOST 100		/* whose names are compared with a wrong one */

static int
refuse_stage(const char *word)
{
	const char *names[STAGES_MOST + 1];
	char near[120];
	size_t n = strlen(word), stages = 0;

	if (n > 1 && word[n - 1] == ',')
		return fail_usage(word, "no such stage: put a blank before the comma");
	for (const struct stage_row *row = stage_table; row->name && stages < STAGES_MOST; row++)
		if (!(row->stage->traits & STAGE_ALONE))
			names[stages++] = row->name;
	names[stages] = NULL;
	return fail_usage(word, "no such stage%s, see fringepipe --help",
	    opt_suggest_word(word, n, "", names, near, sizeof(near)));
}

/* One stage's words, words[0] its name. middle: the runner's options of a stage that is not the
 * last, which the caller frees. */
static int
parse_stage(struct chain *chain, struct runner_options *options, struct runner_options *middle,
    int words, char **word, bool last)
{
	struct runner_options *own = last ? options : middle;
	const struct stage *stage;
	struct link *link;
	int first;

	if (words == 0)
		return fail_usage(NULL, "stage %zu is empty", chain->n + 1);
	if (cpu_level(NULL) < 0)
		return -1;
	stage = stage_find(word[0]);
	if (!stage || stage->traits & STAGE_ALONE)
		return refuse_stage(word[0]);
	stage = setup_hand_on(stage, words, word);
	if (!stage)
		return -1;
	link = setup_add_link(chain, stage);
	/* before the options: those of the next stage would be unknown */
	for (int i = 1; i + 1 < words; i++) {
		size_t n = strlen(word[i]);

		if (n > 1 && word[i][n - 1] == ',' && stage_find(word[i + 1]))
			return fail_usage(word[i], "blank before the comma");
	}
	if (opt_parse(link_options(stage), link->run.parameters, setup_options, own, words, word,
	    &first) < 0)
		return -1;
	for (int i = first; i < words; i++) {
		if (*word[i] == ',' && stage_find(word[i] + 1))
			return fail_usage(word[i], "blank behind the comma");
		if (stage_find(word[i]) && access(word[i], F_OK) < 0)
			return fail_usage(word[i], "is a stage and no file: put a comma before it");
	}
	if (middle->output || middle->force || middle->verbose || middle->quiet ||
	    middle->no_sync || middle->keep_going || middle->valid || middle->strict ||
	    middle->no_check.n || middle->raw || middle->follow || middle->idle > 0 ||
	    middle->threads != OPT_NONE_INTEGER)	/* it may set -d only */
		return fail_usage(stage->name, "-o -f -j -v -q --no-check --no-sync --keep-going "
		    "--strict --valid --raw --follow --idle stand before the first stage or in "
		    "the last");
	if (own->help >= 0 || own->version || own->words) {
		options->help = own->help;
		options->version = own->version;
		options->words = own->words;
		return 1;
	}
	if (setup_check_device(own->device) < 0)
		return -1;
	link->device = middle->device;
	return setup_check_operands(chain, chain->n - 1, words - first, word + first);
}

/* How many stages of a chain have this name. */
static size_t
count_word(int words, char **word, const char *name)
{
	size_t n = 0;

	for (int i = 0; i < words; i++)
		n += (i == 0 || !strcmp(word[i - 1], ",")) && !strcmp(word[i], name);
	return n;
}

int
setup_parse(struct chain *chain, struct runner_options *options, int words, char **word)
{
	for (int start = 0;;) {
		struct runner_options middle;
		size_t at = chain->n;
		int end = start, status;

		while (end < words && strcmp(word[end], ","))
			end++;
		opt_defaults(setup_options, &middle);
		status = parse_stage(chain, options, &middle, end - start, word + start,
		    end == words);
		opt_free(setup_options, &middle);
		if (status < 0 && chain->n == at + 1 && (start > 0 || end < words))
			return fail_at(chain, at, count_word(words, word, word[start]));
		if (status != 0)
			return status;
		if (end == words)
			return 0;
		start = end + 1;
	}
}

int
setup_measure(int words, char **word, const struct measure *how, struct timing *timing)
{
	struct runner_options options;
	struct chain chain = { .output = how->output, .quiet = true, .threads = how->threads,
		.repeat = how->repeat };
	int status;

	opt_defaults(setup_options, &options);
	status = setup_parse(&chain, &options, words, word);
	fail_set_quiet(true);		/* nobody wants to know what repeated frames lack */
	if (status == 0)
		status = setup_run(&chain, how->device ? how->device : "cpu");
	*timing = status == 0 ? chain.link[0].timing[how->device != NULL] : (struct timing){ 0 };
	status = setup_close(&chain, status);
	fail_set_quiet(false);
	return status;
}
