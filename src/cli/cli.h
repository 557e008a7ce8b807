/*
 * cli: the command line of maxrace. Each subcommand has a file; this header has the parts they
 * share.
 *
 * A command returns MR_OK with its exit status, or an error, which main prints as one line on
 * standard error ("file:line: text", or "maxrace: text" without a place) and turns into an exit
 * status.
 */
#ifndef MR_CLI_CLI_H
#define MR_CLI_CLI_H

#include "base/debug.h"
#include "config/config.h"
#include "progress.h"
#include "replay/descriptors.h"
#include "report/formats.h"
#include "trace/trace.h"

#define MR_EXIT_RACES    1 /* predict, order: there are races */
#define MR_EXIT_REJECTED 1 /* check: the witness is wrong */
/* ended before its time by a signal, time_limit or memory.limit_mb, with races or without */
#define MR_EXIT_INCOMPLETE 5
/* predict, merge, run, order, compare: no race, and the recorded program crashed or ended in a
 * deadlock */
#define MR_EXIT_BAD_END 6
#define MR_EXIT_UNKNOWN 7 /* with fail_on unknown: no finding, but unknown candidates */

typedef struct mr_command mr_command;

/* A flag with a value that only one command has, and that is no key of the configuration. */
typedef struct mr_own_flag {
    /* "seed", "S", its meaning. A value of two words, "A B", stands for two arguments, "" for none:
     * then the value given is "", too. */
    const char *name, *value, *help;
} mr_own_flag;

enum { MR_OWN_FLAGS = 20 };

/* A parsed command line. */
typedef struct mr_cli {
    const mr_command *command;
    mr_config *config;     /* owned; defaults, then files, then flags */
    const char **operands; /* the array is owned, the texts are not */
    size_t operand_count;
    bool help;          /* --help was given; the other members may not be set */
    bool switch_on;     /* the command's own switch was given */
    bool model_given;   /* --model was given */
    bool format_given;  /* --format was given */
    int finding_status; /* the exit status when there are findings */
    /* by the command's own flags: the last value given, on loan; NULL: none */
    const char *own[MR_OWN_FLAGS];
    const char *own_second[MR_OWN_FLAGS]; /* the second value of a flag that takes two */
    char joined[64];                      /* the value of an option that takes two words */
    mr_descriptors descriptors;           /* that maxrace began with; a program inherits them */
    mr_debug debug;                       /* by --debug; on loan to the functions of the command */
} mr_cli;

struct mr_command {
    const char *name;
    const char *operands; /* for the help: "TRACE WITNESS" */
    size_t operands_min, operands_max;
    /* keys that are flags here: " model repair ", or " * " for all of them, or
     * " * !mark !confirm " for all but some */
    const char *keys;
    mr_subject subject;      /* of its report; report/formats.h has the formats */
    bool takes_config;       /* -c, --config */
    bool raw;                /* all arguments are operands, for another program */
    bool runs_program;       /* all arguments after the first operand are operands */
    bool debugs;             /* has --debug */
    const char *switch_name; /* a flag without value that is no key, or NULL */
    const char *switch_help;
    mr_own_flag own[MR_OWN_FLAGS]; /* the first without a name ends them */
    const char *summary;
    const char *details; /* for the help of this command; lines, or "" */
    mr_status (*run)(mr_cli *cli, int *exit_status, mr_error *error);
};

extern const mr_command mr_commands[];
extern const size_t mr_command_count;

/* The command called `name`, or NULL; and the command with the most similar name, or NULL. */
const mr_command *mr_command_find(const char *name);
const mr_command *mr_command_suggest(const char *name);

/* Is the option a flag of the command? */
bool mr_command_has(const mr_command *command, size_t option);

/* Parses the arguments after the command's name. MR_ERR_USAGE, MR_ERR_CONFIG, MR_ERR_MEMORY; in
 * every case the caller calls mr_cli_free. */
mr_status mr_cli_parse(mr_cli *cli, const mr_command *command, int count, char **arguments,
                       mr_error *error);
void mr_cli_free(mr_cli *cli);

/* The help of one command, or of maxrace as a whole (NULL), to standard output; with the flags of every
 * day, or with all of them. */
void mr_cli_help(const mr_command *command, bool all);

/* Prints an error as its line on standard error. */
void mr_cli_complain(const mr_error *error);

/* Tests before the work whether `output` and witness.dir can be written. MR_ERR_IO. */
mr_status mr_cli_probe(const mr_config *config, mr_error *error);

/* Says on standard error how many events repair dropped from a trace, if it dropped any. */
void mr_cli_tell_dropped(const mr_trace *trace);

/* The options for reading a trace, from the configuration. */
mr_read_options mr_cli_read_options(const mr_config *config, const mr_cli_progress *progress);

/* MR_ERR_TRACE when the trace has no event: nothing can be said about it. */
mr_status mr_cli_check_trace(const mr_trace *trace, mr_error *error);

/* Says on standard error that a pattern of the option (its key or flag) matches nothing; a
 * mr_places_unmatched. */
void mr_cli_tell_unmatched(const char *pattern, void *option);

/* Reads a trace with these options, calls mr_cli_tell_dropped, and tells which patterns of
 * candidates.ignore_locations and candidates.only_locations match nothing. */
mr_status mr_cli_read_trace(const char *path, const mr_config *config, mr_cli_progress *progress,
                            mr_trace **trace, mr_error *error);
/* The same with other options for reading. */
mr_status mr_cli_read_trace_as(const char *path, const mr_config *config,
                               const mr_read_options *options, mr_cli_progress *progress,
                               mr_trace **trace, mr_error *error);

/* The two numbers of events that --pair A B gives, the first own flag of the command. MR_ERR_USAGE. */
mr_status mr_cli_read_pair(const mr_cli *cli, uint32_t *one, uint32_t *other, mr_error *error);

mr_status mr_cli_order(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_predict(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_merge(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_compare(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_report(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_check(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_info(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_dump(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_explain(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_convert(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_exclude(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_cc(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_cxx(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_record(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_hunt(mr_cli *cli, int *exit_status, mr_error *error);
/* `maxrace hunt --exhaustive`: all behaviours, within limits (0: none). */
typedef struct mr_exhaustive_limits {
    uint64_t runs, states, bytes; /* states, bytes: of a search */
    unsigned timeout_ms;          /* of a run */
    const char *folder;           /* for findings; NULL: none are saved */
    bool sandbox;                 /* each run begins with the same files */
} mr_exhaustive_limits;
mr_status mr_cli_hunt_exhaustive(const mr_cli *cli, const mr_exhaustive_limits *limits,
                                 int *exit_status, mr_error *error);
mr_status mr_cli_run(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_replay(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_config(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_help_command(mr_cli *cli, int *exit_status, mr_error *error);
mr_status mr_cli_version(mr_cli *cli, int *exit_status, mr_error *error);

#endif
