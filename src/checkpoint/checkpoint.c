#include "checkpoint.h"

#include "base/memory.h"
#include "file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct entry {
    mr_checkpoint_record record;
    size_t file, number; /* of the file; of the record, in the order of writing */
    bool refused;
} entry;

struct mr_checkpoint {
    mr_checkpoint_file *files; /* the parts, then the one to append to */
    size_t file_count;
    mr_checkpoint_file *own; /* among the files; NULL: none */
    entry *entries;          /* by phase and unit; the last one written of each unit; owned */
    size_t count;
    void (*note)(void *context, const char *line);
    void *context;
};

static void note(const mr_checkpoint *saved, const mr_checkpoint_file *file, const char *what)
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

/* Of one unit, the record that was written last comes first. */
static int compare_entries(const void *one, const void *two)
{
    const entry *x = one, *y = two;
    int order = compare_keys(x, y->record.phase, y->record.unit);
    if (order)
        return order;
    return x->number == y->number ? 0 : x->number > y->number ? -1 : 1;
}

static mr_status collect(mr_checkpoint *saved, mr_error *error)
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
        const mr_checkpoint_record *record = &saved->entries[i].record;
        if (!kept || compare_keys(&saved->entries[kept - 1], record->phase, record->unit) != 0)
            saved->entries[kept++] = saved->entries[i];
    }
    saved->count = kept;
    return MR_OK;
}

static void note_damage(const mr_checkpoint *saved, const mr_checkpoint_file *file)
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

static mr_status open_files(mr_checkpoint *saved, const mr_checkpoint_request *request,
                            const mr_identity *own, mr_error *error)
{
    mr_status status = MR_OK;
    saved->files = mr_calloc(request->part_count + 1, sizeof *saved->files);
    if (!saved->files)
        return mr_error_memory(error, "reading the checkpoint");
    for (size_t i = 0; i < request->part_count && status == MR_OK; i++) {
        mr_checkpoint_file *file = &saved->files[saved->file_count++];
        status = mr_checkpoint_file_read(file, request->parts[i], error);
        if (status == MR_OK)
            status = mr_identity_compare(&file->identity, own, file->path, error);
    }
    if (status == MR_OK && request->file) {
        saved->own = &saved->files[saved->file_count++];
        saved->own->shard = request->shard;
        saved->own->shards = request->shards;
        status = mr_checkpoint_file_start(saved->own, request->file, own, request->resume, error);
    }
    for (size_t i = 0; i < saved->file_count && status == MR_OK; i++)
        note_damage(saved, &saved->files[i]);
    return status;
}

mr_status mr_checkpoint_open(const mr_checkpoint_request *request, const mr_identity *own,
                             mr_checkpoint **saved, mr_error *error)
{
    mr_error ignored;
    mr_checkpoint *made = mr_calloc(1, sizeof *made);
    *saved = NULL;
    if (!made)
        return mr_error_memory(error, "opening the checkpoint");
    made->note = request->note;
    made->context = request->context;
    mr_status status = open_files(made, request, own, error);
    if (status == MR_OK)
        status = collect(made, error);
    if (status == MR_OK)
        *saved = made;
    else
        mr_checkpoint_close(made, &ignored);
    return status;
}

mr_status mr_checkpoint_probe(const char *path, mr_error *error)
{
    return mr_checkpoint_file_is_new(path) ? MR_OK : mr_checkpoint_file_exists_error(path, error);
}

mr_status mr_checkpoint_identity(const char *path, mr_identity *identity, mr_error *error)
{
    mr_checkpoint_file file = {0};
    mr_error ignored;
    mr_status status = mr_checkpoint_file_read(&file, path, error);
    *identity = file.identity;
    file.identity = (mr_identity){0};
    mr_checkpoint_file_close(&file, &ignored);
    return status;
}

mr_status mr_checkpoint_close(mr_checkpoint *saved, mr_error *error)
{
    mr_status status = MR_OK;
    mr_error ignored;
    if (!saved)
        return MR_OK;
    for (size_t i = 0; i < saved->file_count; i++) {
        bool own = &saved->files[i] == saved->own;
        mr_status closed = mr_checkpoint_file_close(&saved->files[i], own ? error : &ignored);
        if (own)
            status = closed;
    }
    free(saved->files);
    free(saved->entries);
    free(saved);
    return status;
}

/* ---- taking ---- */

static entry *find(const mr_checkpoint *saved, const mr_store_phase *phase, uint64_t unit)
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
    const mr_checkpoint_record *record = &found->record;
    bool right = !compare_keys(found, phase->number, unit) && !found->refused &&
                 record->units == phase->units && record->before == phase->before;
    return right ? found : NULL;
}

bool mr_checkpoint_has(const mr_checkpoint *saved, const mr_store_phase *phase, uint64_t unit)
{
    return find(saved, phase, unit) != NULL;
}

const uint8_t *mr_checkpoint_get(const mr_checkpoint *saved, const mr_store_phase *phase,
                                 uint64_t unit, size_t *count)
{
    const entry *found = find(saved, phase, unit);
    *count = found ? (size_t)found->record.length : 0;
    return found ? found->record.body : NULL;
}

void mr_checkpoint_refuse(mr_checkpoint *saved, const mr_store_phase *phase, uint64_t unit,
                          const char *why)
{
    char line[900];
    entry *found = find(saved, phase, unit);
    if (!found)
        return;
    found->refused = true;
    snprintf(line, sizeof line,
             "the record at byte %" PRIu64 " is refused (%s); what stood there is decided again",
             found->record.offset, why);
    note(saved, &saved->files[found->file], line);
}

/* ---- putting ---- */

mr_status mr_checkpoint_put(mr_checkpoint *saved, const mr_store_phase *phase, uint64_t unit,
                            const uint8_t *bytes, size_t count, mr_error *error)
{
    const mr_checkpoint_record record = {.phase = phase->number,
                                         .unit = unit,
                                         .units = phase->units,
                                         .before = phase->before,
                                         .body = bytes,
                                         .length = count};
    return saved->own ? mr_checkpoint_file_append(saved->own, &record, error) : MR_OK;
}

/* ---- as a store ---- */

static bool has(void *context, const mr_store_phase *phase, uint64_t unit)
{
    return mr_checkpoint_has(context, phase, unit);
}

static const uint8_t *get(void *context, const mr_store_phase *phase, uint64_t unit, size_t *count)
{
    return mr_checkpoint_get(context, phase, unit, count);
}

static void refuse(void *context, const mr_store_phase *phase, uint64_t unit, const char *why)
{
    mr_checkpoint_refuse(context, phase, unit, why);
}

static mr_status put(void *context, const mr_store_phase *phase, uint64_t unit,
                     const uint8_t *bytes, size_t count, mr_error *error)
{
    return mr_checkpoint_put(context, phase, unit, bytes, count, error);
}

mr_store mr_checkpoint_store(mr_checkpoint *saved)
{
    return (mr_store){.context = saved, .has = has, .get = get, .refuse = refuse, .put = put};
}

/* ---- parts ---- */

uint32_t mr_checkpoint_shards(const mr_checkpoint *saved)
{
    for (size_t i = 0; i < saved->file_count; i++)
        if (saved->files[i].shards)
            return saved->files[i].shards;
    return 0;
}

const char *mr_checkpoint_part(const mr_checkpoint *saved, uint32_t shard, uint32_t shards)
{
    for (size_t i = 0; i < saved->file_count; i++)
        if (saved->files[i].shards == shards && saved->files[i].shard == shard)
            return saved->files[i].path;
    return NULL;
}
