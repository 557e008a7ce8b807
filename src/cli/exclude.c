/* exclude: a trace without the events of some code. */
#include "exclude/exclude.h"
#include "base/ceiling.h"
#include "base/memory.h"
#include "base/slice.h"
#include "cli.h"
#include "exclude/choose.h"
#include "trace/places.h"
#include "trace_output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* In the order of the command's own flags. */
enum { LOCATIONS, PATTERN, RANDOM, SEED };

enum { MOST_NAMES_BYTES = 64 << 20 };

typedef struct wish {
    const char *pattern;
    char *names; /* owned; the text of the file of locations, or NULL */
    size_t names_bytes;
    uint32_t random;
    uint64_t seed;
} wish;

static mr_status usage(mr_error *error, const char *text)
{
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "%s", text);
}

/* Digits only. */
static mr_status parse_count(const char *flag, const char *text, uint64_t most, uint64_t *number,
                             mr_error *error)
{
    char quoted[MR_QUOTE_SIZE];
    size_t length = strlen(text);
    errno = 0;
    *number = strtoull(text, NULL, 10);
    if (length > 0 && strspn(text, "0123456789") == length && errno == 0 && *number <= most)
        return MR_OK;
    mr_slice_quote((mr_slice){text, (uint32_t)length}, quoted);
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "%s '%s' is no number from 0 to %" PRIu64,
                        flag, quoted, most);
}

static mr_status cannot_read(mr_error *error, const char *path, const char *why)
{
    return mr_error_set(error, MR_ERR_IO, path, 0, "cannot read the list of locations: %s", why);
}

static mr_status read_names(const char *path, wish *wanted, mr_error *error)
{
    FILE *file = fopen(path, "rb");
    size_t capacity = 0, got = 1;
    mr_status status = MR_OK;
    if (file == NULL)
        return cannot_read(error, path, strerror(errno));
    while (status == MR_OK && got > 0) {
        void *names = wanted->names;
        if (!mr_grow(&names, &capacity, wanted->names_bytes + 4096, 1))
            status = mr_error_memory(error, "reading the list of locations");
        wanted->names = names;
        if (status != MR_OK)
            break;
        errno = 0;
        got = fread(wanted->names + wanted->names_bytes, 1, 4096, file);
        wanted->names_bytes += got;
        if (ferror(file) != 0)
            status = cannot_read(error, path, strerror(errno != 0 ? errno : EIO));
        else if (wanted->names_bytes > MOST_NAMES_BYTES)
            status = cannot_read(error, path, "it has more than 64 MiB");
    }
    fclose(file);
    return status;
}

static mr_status parse_wish(const mr_cli *cli, wish *wanted, mr_error *error)
{
    const char *const *own = cli->own;
    uint64_t random = 0;
    int given = (own[LOCATIONS] != NULL) + (own[PATTERN] != NULL) + (own[RANDOM] != NULL);
    if (given != 1)
        return usage(error, given == 0 ? "which code? give --locations, --pattern or --random"
                                       : "give only one of --locations, --pattern and --random");
    if (own[SEED] != NULL && own[RANDOM] == NULL)
        return usage(error, "--seed is for --random");
    wanted->seed = 1;
    wanted->pattern = own[PATTERN];
    mr_status status = MR_OK;
    if (own[RANDOM] != NULL)
        status = parse_count("--random", own[RANDOM], UINT32_MAX - 1, &random, error);
    if (status == MR_OK && own[SEED] != NULL)
        status = parse_count("--seed", own[SEED], UINT64_MAX, &wanted->seed, error);
    wanted->random = (uint32_t)random;
    if (status == MR_OK && own[LOCATIONS] != NULL)
        status = read_names(own[LOCATIONS], wanted, error);
    return status;
}

static mr_status choose(const wish *wanted, const mr_trace *trace, bool *chosen, mr_error *error)
{
    if (wanted->names != NULL)
        mr_choose_named(trace, wanted->names, wanted->names_bytes, chosen);
    else if (wanted->pattern != NULL)
        return mr_places_match_list(trace, wanted->pattern, chosen, mr_cli_tell_unmatched,
                                    "--pattern", error);
    else if (!mr_choose_random(trace, wanted->random, wanted->seed, chosen))
        return mr_error_memory(error, "choosing locations");
    return MR_OK;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

typedef struct account {
    mr_exclude_counts counts;
    uint32_t left; /* events of OUT */
} account;

static void tell(const account *told)
{
    const mr_exclude_counts *counts = &told->counts;
    fprintf(stderr,
            "maxrace: %" PRIu64 " event%s of %" PRIu64 " location%s went into %" PRIu64
            " call%s; OUT has %" PRIu32 " event%s\n",
            counts->events, plural(counts->events), counts->locations, plural(counts->locations),
            counts->calls, plural(counts->calls), told->left, plural(told->left));
}

static mr_status write_remaining(const mr_cli *cli, const wish *wanted, mr_trace_format format,
                                 FILE *stream, account *told, mr_error *error)
{
    mr_trace *trace = NULL, *remaining = NULL;
    mr_cli_progress progress;
    bool *chosen = NULL;
    mr_cli_progress_start(&progress, cli->config);
    mr_status status = mr_cli_read_trace(cli->operands[0], cli->config, &progress, &trace, error);
    if (status == MR_OK) {
        chosen = mr_calloc((size_t)trace->locations.count + 1, sizeof *chosen);
        status = chosen != NULL ? choose(wanted, trace, chosen, error)
                                : mr_error_memory(error, "choosing locations");
    }
    mr_halt halt = {0};
    mr_exclude_options options = {.chosen = chosen, .whole_runs = cli->switch_on, .halt = &halt};
    mr_ceiling *ceiling = mr_ceiling_start(mr_config_memory_bytes(cli->config), &halt);
    if (status == MR_OK)
        status = mr_exclude(trace, &options, &remaining, &told->counts, error);
    mr_ceiling_stop(ceiling);
    mr_trace_free(trace);
    if (status == MR_OK)
        status = mr_trace_output_write(stream, format, remaining, &progress.progress, error);
    mr_cli_progress_end(&progress);
    if (status == MR_OK)
        told->left = remaining->event_count;
    mr_trace_free(remaining);
    free(chosen);
    return status;
}

mr_status mr_cli_exclude(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_output output;
    mr_trace_format format;
    wish wanted = {0};
    account told = {0};
    const char *path = cli->operands[1];
    *exit_status = 0;
    mr_status status = parse_wish(cli, &wanted, error);
    if (status == MR_OK)
        status = mr_trace_output_open(&output, path, &format, error);
    if (status == MR_OK) {
        status = write_remaining(cli, &wanted, format, output.stream, &told, error);
        status = mr_trace_output_close(&output, path, status, error);
    }
    if (status == MR_OK && !mr_config_bool(cli->config, "quiet"))
        tell(&told);
    free(wanted.names);
    return status;
}
