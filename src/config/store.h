/* store: inside of a configuration; for the files of src/config only. */
#ifndef MR_CONFIG_STORE_H
#define MR_CONFIG_STORE_H

#include "config.h"

typedef struct mr_value {
    int64_t number; /* bool, int, index of choice, mask of list */
    char *text;     /* text, list; owned; NULL: the default of the table */
    uint64_t line;  /* line of `path` that set it; 0: not from there */
} mr_value;

struct mr_config {
    mr_value *values; /* one an option */
    char *path;       /* owned; the file last loaded; NULL: none */
};

/* Fills "unknown key …", with a suggestion when there is one. Returns MR_ERR_CONFIG. */
mr_status mr_config_unknown_key(const char *key, const char *file, uint64_t line, mr_error *error);

#endif
