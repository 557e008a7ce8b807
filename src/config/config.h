/*
 * config: every setting of maxrace, from one table.
 *
 * The table in options.def gives each key its type, default, range, unit and explanation; the struct below,
 * the YAML reader, the command-line flags, the help text, docs/configuration.md and the range checks are
 * made from it. A key `solver.timeout_ms` is the YAML mapping `solver: { timeout_ms: … }` and the flag
 * `--solver-timeout-ms`.
 */
#ifndef MR_CONFIG_CONFIG_H
#define MR_CONFIG_CONFIG_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum mr_option_type {
    MR_OPTION_BOOL,
    MR_OPTION_INT,    /* int64_t with a range */
    MR_OPTION_CHOICE, /* one of a list of words; stored as its index */
    MR_OPTION_TEXT,   /* any text, e.g. a path; "" is none */
} mr_option_type;

typedef struct mr_option {
    const char *key; /* "solver.timeout_ms" */
    mr_option_type type;
    int64_t default_number; /* bool, int, index of choice */
    const char *default_text;
    int64_t low, high;   /* int only */
    const char *choices; /* choice only: "all|wcp|hb" */
    const char *unit;    /* "" or "ms", "events", "MiB" … */
    const char *short_flag; /* "" or "o" */
    const char *help;    /* one line */
} mr_option;

typedef struct mr_config mr_config;

/* All options in the order of config.yaml. */
extern const mr_option mr_options[];
extern const size_t mr_option_count;

/* NULL: no memory. A new config holds the defaults. */
mr_config *mr_config_new(void);
void mr_config_free(mr_config *config);

/* Index in mr_options of a key, or -1. */
int mr_config_find(const char *key);

/* Sets an option from text as written by a user. MR_ERR_CONFIG with one line that names the key, the
 * value and what is allowed; `file` and `line` (may be NULL, 0) are where the text stands. */
mr_status mr_config_set(mr_config *config, const char *key, const char *text, const char *file,
                        uint64_t line, mr_error *error);

/* Reads a YAML file; later settings win. Unknown keys: "unknown key 'windw.size' (did you mean
 * 'window.size'?)". Nothing is set when an error is returned. */
mr_status mr_config_load(mr_config *config, const char *path, mr_error *error);

/* The value in force; the key must exist and have that type (a programming error otherwise). */
bool mr_config_bool(const mr_config *config, const char *key);
int64_t mr_config_int(const mr_config *config, const char *key);
int mr_config_choice(const mr_config *config, const char *key);
const char *mr_config_text(const mr_config *config, const char *key);
/* The value as text, as it would stand in the YAML file; `buffer` is used for numbers. */
const char *mr_config_value_text(const mr_config *config, size_t option, char buffer[32]);

#endif
