/*
 * config: every setting of maxrace, from one table.
 *
 * The table in options.def gives each key its type, default, range, unit and explanation; the
 * struct below, the YAML reader, the command-line flags, the help text, docs/configuration.md and
 * the range checks are made from it. A key `solver.timeout_ms` is the YAML mapping `solver: {
 * timeout_ms: … }` and the flag
 * `--solver-timeout-ms`.
 */
#ifndef MR_CONFIG_CONFIG_H
#define MR_CONFIG_CONFIG_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum mr_option_type {
    MR_OPTION_BOOL,
    MR_OPTION_INT,    /* int64_t with a range */
    MR_OPTION_CHOICE, /* one of a list of words; stored as its index */
    MR_OPTION_LIST,   /* a comma-separated set of words; stored as a bit mask of their indexes */
    MR_OPTION_TEXT,   /* any text, e.g. a path; "" is none */
} mr_option_type;

typedef struct mr_option {
    const char *key; /* "solver.timeout_ms" */
    mr_option_type type;
    int64_t default_number;   /* bool, int */
    const char *default_text; /* choice: the word; list; text */
    int64_t low, high;        /* int only */
    const char *choices;      /* choice and list: "all|wcp|hb" */
    const char
        *unit; /* "" or "ms", "events", "MiB" …; text: what it is ("FILE"); "A B": two words */
    const char *short_flag; /* "" or "o" */
    const char *help;       /* one line */
} mr_option;

/* The words of the option `find`, as bits of mr_config_set_of. */
enum { MR_FIND_RACES = 1, MR_FIND_MEMORY = 2, MR_FIND_DEADLOCKS = 4, MR_FIND_POINTERS = 8 };

/* The formats of reports, and the words of `format`. The table of report/formats.h says which
 * subject is reported in which format. */
#define MR_FORMAT_MAP(X)                                                                           \
    X(TEXT, "text")                                                                                \
    X(JSON, "json")                                                                                \
    X(CSV, "csv")                                                                                  \
    X(MARKDOWN, "markdown")                                                                        \
    X(SARIF, "sarif")                                                                              \
    X(JUNIT, "junit")                                                                              \
    X(PERFETTO, "perfetto")                                                                        \
    X(DOT, "dot")                                                                                  \
    X(HTML, "html")

#define MR_FORMAT_ID(id, word) MR_FORMAT_##id,
typedef enum mr_format { MR_FORMAT_MAP(MR_FORMAT_ID) MR_FORMAT_COUNT } mr_format;
#undef MR_FORMAT_ID

/* The indexes that mr_config_choice gives, in the order of the words in options.def. `model` gives
 * mr_model and `opaque` mr_opaque; the bits of `solver.steps` are those of mr_step (all in
 * base/model.h). */

typedef enum mr_prefilter {
    MR_PREFILTER_ALL, /* every pair that is not certainly no race */
    MR_PREFILTER_WCP, /* only pairs unordered by WCP or HB */
    MR_PREFILTER_HB,  /* only pairs unordered by HB */
} mr_prefilter;

typedef enum mr_report_mode {
    MR_REPORT_STATIC, /* the first witness settles a static pair */
    MR_REPORT_EVENT,  /* every event pair is decided */
} mr_report_mode;

typedef enum mr_strategy {
    MR_STRATEGY_LADDER,
    MR_STRATEGY_EAGER,
} mr_strategy;

typedef enum mr_far {
    MR_FAR_NONE,
    MR_FAR_SHB,   /* the races of SHB */
    MR_FAR_SYNCP, /* the races of SyncP */
    MR_FAR_HB,    /* these, and the pairs that HB leaves unordered are decided */
    MR_FAR_WCP,   /* these, and the pairs that WCP leaves unordered are decided */
    MR_FAR_ALL,   /* these, and all other pairs of the filter are decided */
} mr_far;

typedef enum mr_color { MR_COLOR_AUTO, MR_COLOR_ALWAYS, MR_COLOR_NEVER } mr_color;

/* profiles.c has what they set. */
typedef enum mr_profile { MR_PROFILE_QUICK, MR_PROFILE_DEFAULT, MR_PROFILE_THOROUGH } mr_profile;

/* What the exit status tells. */
typedef enum mr_fail_on {
    MR_FAIL_ON_ANY,     /* findings */
    MR_FAIL_ON_NEW,     /* findings that the baseline does not have */
    MR_FAIL_ON_UNKNOWN, /* findings, and unknown candidates */
    MR_FAIL_ON_NONE
} mr_fail_on;

typedef enum mr_show_schedule {
    MR_SCHEDULE_NONE,
    MR_SCHEDULE_SHORT,
    MR_SCHEDULE_FULL
} mr_show_schedule;

typedef struct mr_config mr_config;

/* All options in the order of config.yaml. */
extern const mr_option mr_options[];
extern const size_t mr_option_count;

/* Does the option only affect how a run goes, and neither what it finds nor what the report says? A
 * report lists such options apart (docs/report-format.md). */
bool mr_config_is_run_only(size_t option);

/* Does the option decide what a prediction finds? Options of reports, of recordings and of other
 * commands do not. */
bool mr_config_decides(size_t option);

/* One sentence a profile of what it sets, as Markdown; errors stay in the stream. */
void mr_config_print_profiles(FILE *stream);

/* NULL: no memory. A new config holds the defaults. */
mr_config *mr_config_new(void);
void mr_config_free(mr_config *config);

/* A copy with the same values; NULL: no memory. */
mr_config *mr_config_clone(const mr_config *config);

/* Index in mr_options of a key, or -1. */
int mr_config_find(const char *key);

/* Index of the key that a user most likely meant by `text`, a mistyped key or flag, or -1 when no
 * key is near. Dots, dashes and underscores count as equal. */
int mr_config_suggest(const char *text);

/* Sets an option from text as written by a user. What `profile` stands for holds where neither the
 * same source (a file, or flags) nor a flag sets the option. MR_ERR_CONFIG with one line that names the key,
 * the value and what is allowed; `file` and `line` (may be NULL, 0) are where the text stands. */
mr_status mr_config_set(mr_config *config, const char *key, const char *text, const char *file,
                        uint64_t line, mr_error *error);

/* Reads a YAML file of at most 1 MiB; later settings win. Unknown keys: "unknown key 'windw.size'
 * (did you mean 'window.size'?)". Nothing is set when an error is returned: MR_ERR_CONFIG, also for
 * a file that cannot be read, or MR_ERR_MEMORY. An empty file sets nothing. */
mr_status mr_config_load(mr_config *config, const char *path, mr_error *error);

/* Tests the rule between keys, after everything is set: window.overlap < window.size (unless the
 * size is 0). MR_ERR_CONFIG, with the place in the file last loaded when a value comes from there.
 */
mr_status mr_config_check(const mr_config *config, mr_error *error);

/* Where the value of a key comes from: the file last loaded and the line in it, or NULL and 0 for a
 * flag or a default. The path is valid until the next mr_config_load. */
const char *mr_config_place(const mr_config *config, const char *key, uint64_t *line);

/* window.overlap in events: half of window.size when it is -1. */
int64_t mr_config_overlap(const mr_config *config);

/* memory.limit_mb in bytes: 80 % of what the machine has when it is -1; 0: no limit. */
uint64_t mr_config_memory_bytes(const mr_config *config);

/* Replaces a value that stands for another number (window.overlap: -1) by that number, for reports.
 * memory.limit_mb stays as it is, so that a report says the same on every machine. */
void mr_config_resolve(mr_config *config);

/* The value in force; the key must exist and have that type (a programming error otherwise). */
bool mr_config_bool(const mr_config *config, const char *key);
int64_t mr_config_int(const mr_config *config, const char *key);
int mr_config_choice(const mr_config *config, const char *key);
const char *mr_config_text(const mr_config *config, const char *key);
/* Of a list: bit i is set when word i of the table is in it. */
unsigned mr_config_set_of(const mr_config *config, const char *key);
/* The value as text, as it would stand in the YAML file; `buffer` is used for numbers. */
const char *mr_config_value_text(const mr_config *config, size_t option, char buffer[32]);

/*
 * Written from the table: the values in force as a commented YAML file that mr_config_load reads
 * back (bytes of a text that are not UTF-8 are lost); docs/configuration.md; and the flags for
 * --help. Errors stay in the stream.
 */
void mr_config_print_yaml(FILE *stream, const mr_config *config);
void mr_config_print_markdown(FILE *stream);
/* The lines of --help for an option: "  --window-size N", then what it means. */
void mr_config_print_flag(FILE *stream, size_t option);
/* The word that stands for its value: "N", "text|json"; "" when it takes none. */
const char *mr_config_value_name(size_t option);
/* The flag of an option: "--window-size". */
void mr_config_flag(size_t option, char *buffer, size_t size_bytes);

#endif
