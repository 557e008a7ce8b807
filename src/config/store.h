/* store: inside of a configuration; for the files of src/config only. */
#ifndef MR_CONFIG_STORE_H
#define MR_CONFIG_STORE_H

#include "config.h"

/* What set a value; the later ones win. */
typedef enum mr_given {
    MR_GIVEN_NOWHERE,
    MR_GIVEN_BY_FILE,
    MR_GIVEN_BY_HAND, /* a flag, a call of the library */
} mr_given;

typedef struct mr_value {
    int64_t number; /* bool, int, index of choice, mask of list */
    char *text;     /* text, list; owned; NULL: the default of the table */
    uint64_t line;  /* line of `path` that set it; 0: not from there */
    mr_given given;
} mr_value;

struct mr_config {
    mr_value *values;  /* one an option */
    mr_value *profile; /* likewise; not given: the profile leaves the option alone */
    char *path;        /* owned; the file last loaded; NULL: none */
};

/* The text that a profile gives to an option, or NULL. */
const char *mr_profile_text(mr_profile profile, const char *key);

/* Fills "unknown key …", with a suggestion when there is one. Returns MR_ERR_CONFIG. */
mr_status mr_config_unknown_key(const char *key, const char *file, uint64_t line, mr_error *error);

#endif
