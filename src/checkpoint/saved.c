#include "saved.h"

#include "saved_check.h"
#include "saved_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

/* A record, and the order in which it was written. */
typedef struct entry {
    mr_saved_record record;
    size_t file, number;
    bool refused;
} entry;

struct mr_saved {
    const mr_trace *trace;
    mr_saved_identity identity;
    mr_saved_check check;
    mr_saved_file *files; /* the parts, then the one to append to */
    size_t file_count;
    mr_saved_file *own; /* among the files; NULL: none */
    entry *entries;     /* by phase and unit; of several of a unit the one written last */
    size_t count;
    void (*note)(void *context, const char *line);
    void *context;
};

static void note(const mr_saved *saved, const mr_saved_file *file, const char *what)
{
    char line[1024];
    if (!saved->note)
        return;
    snprintf(line, sizeof line, "%s: %s", file->path, what);
    saved->note(saved->context, line);
}

/* ---- opening ---- */

static int compare_keys(const entry *x, uint32_t phase, uint64_t unit)
{
    if (x->record.phase != phase)
        return x->record.phase < phase ? -1 : 1;
    return (x->record.unit > unit) - (x->record.unit < unit);
}

/* What was written last comes first. */
static int compare_entries(const void *one, const void *two)
{
    const entry *x = one, *y = two;
    int order = compare_keys(x, y->record.phase, y->record.unit);
    if (order)
        return order;
    return x->number == y->number ? 0 : x->number > y->number ? -1 : 1;
}

static mr_status collect(mr_saved *saved, mr_error *error)
{
    size_t total = 0, kept = 0;
    for (size_t f = 0; f < saved->file_count; f++)
        total += saved->files[f].count;
    saved->entries = mr_calloc(total, sizeof *saved->entries);
    if (!saved->entries)
        return mr_error_memory(error, "reading the checkpoint");
    for (size_t f = 0; f < saved->file_count; f++)
        for (size_t i = 0; i < saved->files[f].count; i++, saved->count++)
            saved->entries[saved->count] =
                (entry){.record = saved->files[f].records[i], .file = f, .number = saved->count};
    if (saved->count)
        qsort(saved->entries, saved->count, sizeof *saved->entries, compare_entries);
    for (size_t i = 0; i < saved->count; i++) {
        const mr_saved_record *record = &saved->entries[i].record;
        if (!kept || compare_keys(&saved->entries[kept - 1], record->phase, record->unit) != 0)
            saved->entries[kept++] = saved->entries[i];
    }
    saved->count = kept;
    return MR_OK;
}

static void note_damage(const mr_saved *saved, const mr_saved_file *file)
{
    char line[256];
    if (file->damaged) {
        snprintf(line, sizeof line,
                 "damaged at byte %" PRIu64 "%s; what stood there is decided again",
                 file->damaged_at, file->damaged > 1 ? " and at other places" : "");
        note(saved, file, line);
    }
    if (file->torn_bytes) {
        snprintf(line, sizeof line,
                 "the last %" PRIu64 " byte%s are no whole record; what was being written there is "
                 "decided again",
                 file->torn_bytes, file->torn_bytes == 1 ? "" : "s");
        note(saved, file, line);
    }
}

static mr_status open_files(mr_saved *saved, const mr_saved_request *request, mr_error *error)
{
    mr_status status = MR_OK;
    saved->files = mr_calloc(request->part_count + 1, sizeof *saved->files);
    if (!saved->files)
        return mr_error_memory(error, "reading the checkpoint");
    for (size_t i = 0; i < request->part_count && status == MR_OK; i++) {
        mr_saved_file *file = &saved->files[saved->file_count++];
        status = mr_saved_file_read(file, request->parts[i], error);
        if (status == MR_OK)
            status =
                mr_saved_identity_compare(&file->identity, &saved->identity, file->path, error);
    }
    if (status == MR_OK && request->file) {
        saved->own = &saved->files[saved->file_count++];
        saved->own->shard = request->shard;
        saved->own->shards = request->shards;
        status = mr_saved_file_start(saved->own, request->file, &saved->identity, request->resume,
                                     error);
    }
    for (size_t i = 0; i < saved->file_count && status == MR_OK; i++)
        note_damage(saved, &saved->files[i]);
    return status;
}

mr_status mr_saved_open(const mr_saved_request *request, const mr_trace *trace,
                        const mr_config *config, mr_saved **saved, mr_error *error)
{
    mr_error ignored;
    mr_saved *made = mr_calloc(1, sizeof *made);
    *saved = NULL;
    if (!made)
        return mr_error_memory(error, "opening the checkpoint");
    made->trace = trace;
    made->note = request->note;
    made->context = request->context;
    made->check = (mr_saved_check){.trace = trace,
                                   .calls = (mr_opaque)mr_config_choice(config, "opaque"),
                                   .model = (mr_model)mr_config_choice(config, "model"),
                                   .by_event = mr_config_choice(config, "candidates.report") ==
                                               MR_REPORT_EVENT};
    mr_status status = mr_saved_identity_of(&made->identity, trace, config, error);
    if (status == MR_OK)
        status = open_files(made, request, error);
    if (status == MR_OK)
        status = collect(made, error);
    if (status == MR_OK)
        *saved = made;
    else
        mr_saved_close(made, &ignored);
    return status;
}

mr_status mr_saved_probe(const char *path, mr_error *error)
{
    return mr_saved_file_is_new(path) ? MR_OK : mr_saved_file_exists_error(path, error);
}

mr_status mr_saved_settings(const char *path, mr_config *config, mr_error *error)
{
    mr_saved_file file = {0};
    mr_error ignored;
    mr_status status = mr_saved_file_read(&file, path, error);
    if (status == MR_OK)
        status = mr_saved_identity_apply(&file.identity, path, config, error);
    mr_saved_file_close(&file, &ignored);
    return status;
}

mr_status mr_saved_close(mr_saved *saved, mr_error *error)
{
    mr_status status = MR_OK;
    mr_error ignored;
    if (!saved)
        return MR_OK;
    for (size_t i = 0; i < saved->file_count; i++) {
        bool own = &saved->files[i] == saved->own;
        mr_status closed = mr_saved_file_close(&saved->files[i], own ? error : &ignored);
        if (own)
            status = closed;
    }
    free(saved->files);
    free(saved->entries);
    mr_saved_check_free(&saved->check);
    mr_saved_identity_free(&saved->identity);
    free(saved);
    return status;
}

/* ---- taking ---- */

static entry *find(const mr_saved *saved, const mr_saved_phase *phase, uint64_t unit)
{
    size_t low = 0, high = saved->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&saved->entries[middle], phase->number, unit) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == saved->count)
        return NULL;
    entry *found = &saved->entries[low];
    const mr_saved_record *record = &found->record;
    bool right = !compare_keys(found, phase->number, unit) && !found->refused &&
                 record->units == phase->units && record->before == phase->before;
    return right ? found : NULL;
}

bool mr_saved_has(const mr_saved *saved, const mr_saved_phase *phase, uint64_t unit)
{
    return find(saved, phase, unit) != NULL;
}

/* MR_ERR_INTERNAL: the outcome cannot be that of the unit. */
static mr_status check(mr_saved *saved, const mr_outcome *outcome, uint64_t unit, mr_error *error)
{
    if (outcome->unit != unit)
        return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0, "it says that it is of another unit");
    return mr_saved_check_outcome(&saved->check, outcome, error);
}

static void refuse(const mr_saved *saved, entry *found, const char *why)
{
    char line[900];
    found->refused = true;
    snprintf(line, sizeof line,
             "the record at byte %" PRIu64 " is refused (%s); what stood there is decided again",
             found->record.offset, why);
    note(saved, &saved->files[found->file], line);
}

mr_status mr_saved_get(mr_saved *saved, const mr_saved_phase *phase, uint64_t unit,
                       mr_outcome **outcome, mr_error *error)
{
    mr_error refusal = {.text = "it cannot be read"};
    bool damaged = false;
    *outcome = NULL;
    entry *found = find(saved, phase, unit);
    if (!found)
        return MR_OK;
    mr_outcome *read =
        mr_outcome_read(saved->trace, found->record.body, (size_t)found->record.length, &damaged);
    if (!read && !damaged)
        return mr_error_memory(error, "reading the checkpoint");
    mr_status status = read ? check(saved, read, unit, &refusal) : MR_ERR_INTERNAL;
    if (status == MR_OK) {
        read->saved = true;
        *outcome = read;
        return MR_OK;
    }
    mr_outcome_free(read);
    if (status != MR_ERR_INTERNAL) {
        *error = refusal;
        return status;
    }
    refuse(saved, found, refusal.text);
    return MR_OK;
}

void mr_saved_refuse(mr_saved *saved, const mr_saved_phase *phase, uint64_t unit, const char *why)
{
    entry *found = saved ? find(saved, phase, unit) : NULL;
    if (found)
        refuse(saved, found, why);
}

/* ---- putting ---- */

mr_status mr_saved_put(mr_saved *saved, const mr_saved_phase *phase, const mr_outcome *outcome,
                       mr_error *error)
{
    mr_bytes bytes = {0};
    mr_status status = MR_OK;
    if (!saved->own)
        return MR_OK;
    mr_saved_record record = {.phase = phase->number,
                              .unit = outcome->unit,
                              .units = phase->units,
                              .before = phase->before};
    if (mr_outcome_write(saved->trace, outcome, &bytes)) {
        record.body = bytes.items;
        record.length = bytes.count;
        status = mr_saved_file_append(saved->own, &record, error);
    } else {
        status = mr_error_memory(error, "saving what was found");
    }
    mr_bytes_free(&bytes);
    return status;
}

mr_status mr_saved_digest(const mr_saved *saved, const mr_outcome *outcome, uint64_t *digest,
                          mr_error *error)
{
    mr_bytes bytes = {0};
    bool written = mr_outcome_write(saved->trace, outcome, &bytes);
    if (written)
        *digest = XXH3_64bits_withSeed(bytes.items, bytes.count, *digest);
    mr_bytes_free(&bytes);
    return written ? MR_OK : mr_error_memory(error, "merging what was found");
}

/* ---- parts ---- */

uint32_t mr_saved_shards(const mr_saved *saved)
{
    for (size_t i = 0; i < saved->file_count; i++)
        if (saved->files[i].shards)
            return saved->files[i].shards;
    return 0;
}

const char *mr_saved_part(const mr_saved *saved, uint32_t shard, uint32_t shards)
{
    for (size_t i = 0; i < saved->file_count; i++)
        if (saved->files[i].shards == shards && saved->files[i].shard == shard)
            return saved->files[i].path;
    return NULL;
}
