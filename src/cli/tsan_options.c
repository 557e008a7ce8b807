#include "tsan_options.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUE_BYTES = 4096 };

static bool is_separator(char c)
{
    return c != '\0' && strchr(" ,:\n\t\r", c) != NULL;
}

/* Takes the next "key=value". False: the end. */
static bool next_option(const char **text, char key[64], char value[VALUE_BYTES])
{
    const char *at = *text;
    while (is_separator(*at))
        at++;
    size_t length = strcspn(at, "=");
    snprintf(key, 64, "%.*s", (int)length, at);
    at += length;
    if (*at == '\0')
        return false;
    at++;
    char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
    for (length = 0; at[length] != '\0'; length++)
        if (quote ? at[length] == quote : is_separator(at[length]))
            break;
    snprintf(value, VALUE_BYTES, "%.*s", (int)length, at);
    at += length;
    *text = at + (quote && *at == quote);
    return true;
}

static mr_status apply(const char *key, const char *value, mr_config *config, int *exit_status,
                       mr_error *error)
{
    static const char file[] = "TSAN_OPTIONS";
    char path[VALUE_BYTES + 32];
    if (strcmp(key, "suppressions") == 0)
        return mr_config_set(config, "suppressions", value, file, 0, error);
    if (strcmp(key, "log_path") == 0 && strcmp(value, "stdout") != 0 &&
        strcmp(value, "stderr") != 0) {
        snprintf(path, sizeof path, "%s.%ld", value, (long)getpid());
        return mr_config_set(config, "output", path, file, 0, error);
    }
    if (strcmp(key, "strip_path_prefix") == 0)
        return mr_config_set(config, "record.strip_prefix", value, file, 0, error);
    if (strcmp(key, "halt_on_error") == 0)
        return mr_config_set(config, "halt_on_finding",
                             strcmp(value, "1") == 0 || strcmp(value, "true") == 0 ||
                                     strcmp(value, "yes") == 0
                                 ? "true"
                                 : "false",
                             file, 0, error);
    if (strcmp(key, "exitcode") == 0) {
        char *end;
        long number = strtol(value, &end, 10);
        if (*value == '\0' || *end != '\0' || number < 0 || number > 255)
            return mr_error_set(error, MR_ERR_CONFIG, file, 0,
                                "exitcode: expected a number from 0 to 255");
        *exit_status = (int)number;
    }
    return MR_OK;
}

mr_status mr_tsan_options_read(const char *text, mr_config *config, int *exit_status,
                               mr_error *error)
{
    char key[64], value[VALUE_BYTES];
    mr_status status = MR_OK;
    while (text && status == MR_OK && next_option(&text, key, value))
        status = apply(key, value, config, exit_status, error);
    return status;
}
