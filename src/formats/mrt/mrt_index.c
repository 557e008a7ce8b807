#include "mrt_index.h"

#include <stdlib.h>
#include <string.h>

/* With more threads than mrt_check.c can tell apart there is no outlook. */
enum { MR_MRT_THREADS_MAX = 30000 };

static mr_status inconsistent(mr_error *error)
{
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                        "the index of the .mrt file contradicts itself");
}

static void *copy(const unsigned char *bytes, size_t count)
{
    void *copied = mr_malloc(count, 0);
    if (copied && count)
        memcpy(copied, bytes, count);
    return copied;
}

static bool are_marks(const uint8_t *marks, uint32_t count)
{
    uint8_t seen = 0;
    for (uint32_t i = 0; i < count; i++)
        seen |= marks[i];
    return seen <= 1;
}

/* The uses must be in order, of shared locks only, and each such lock has at least two threads. */
static bool uses_are_consistent(const mr_outlook *outlook)
{
    uint32_t shared = 0, used = 0, threads = 2;
    for (size_t i = 0; i < outlook->use_count; i++) {
        mr_lock_use use = outlook->uses[i];
        if (use.lock >= outlook->lock_count || use.thread >= outlook->thread_count ||
            !use.sections || !outlook->lock_shared[use.lock])
            return false;
        if (i && outlook->uses[i - 1].lock == use.lock) {
            if (outlook->uses[i - 1].thread >= use.thread)
                return false;
            threads++;
            continue;
        }
        if (threads < 2 || (i && outlook->uses[i - 1].lock > use.lock))
            return false;
        threads = 1;
        used++;
    }
    for (uint32_t i = 0; i < outlook->lock_count; i++)
        shared += outlook->lock_shared[i];
    return threads >= 2 && used == shared;
}

static mr_status read_outlook(mr_mrt_contents *contents, const unsigned char *at, mr_error *error)
{
    const mr_mrt_index *index = &contents->index;
    mr_outlook *outlook = &contents->outlook;
    outlook->event_count = index->event_count;
    outlook->thread_count = index->name_counts[MR_MRT_THREADS];
    outlook->variable_count = index->name_counts[MR_MRT_VARIABLES];
    outlook->lock_count = index->name_counts[MR_MRT_LOCKS];
    outlook->location_count = index->name_counts[MR_MRT_LOCATIONS];
    outlook->use_count = index->use_count;
    outlook->contended = copy(at, outlook->variable_count);
    at += outlook->variable_count;
    outlook->lock_shared = copy(at, outlook->lock_count);
    at += outlook->lock_count;
    outlook->uses = copy(at, outlook->use_count * sizeof *outlook->uses);
    if (!outlook->contended || !outlook->lock_shared || !outlook->uses)
        return mr_error_memory(error, "reading the trace");
    if (!are_marks(outlook->contended, outlook->variable_count) ||
        !are_marks(outlook->lock_shared, outlook->lock_count) || !uses_are_consistent(outlook))
        return inconsistent(error);
    contents->has_outlook = true;
    return MR_OK;
}

/* Text for a message, whatever it contains. */
static void read_text(char *target, size_t size_bytes, const unsigned char *text, uint32_t length)
{
    size_t count = length < size_bytes ? length : size_bytes - 1;
    for (size_t i = 0; i < count; i++)
        target[i] = text[i] < ' ' || text[i] == 0x7F ? '?' : (char)text[i];
    target[count] = '\0';
}

/* The fixed part of the index; its size in the file, 0: the payload is shorter. */
static size_t read_fixed(mr_mrt_index *index, const unsigned char *payload, uint64_t size_bytes,
                         uint32_t version)
{
    mr_mrt_index_before before;
    size_t fixed_bytes = version < MR_MRT_OBJECTS_VERSION ? sizeof before : sizeof *index;
    if (size_bytes < fixed_bytes)
        return 0;
    if (version >= MR_MRT_OBJECTS_VERSION) {
        memcpy(index, payload, sizeof *index);
        return fixed_bytes;
    }
    memcpy(&before, payload, sizeof before);
    *index = (mr_mrt_index){.event_count = before.event_count,
                            .dropped_count = before.dropped_count,
                            .dropped_line = before.dropped_line,
                            .outlook_rules = before.outlook_rules,
                            .use_count = before.use_count,
                            .file_length = before.file_length,
                            .text_length = before.text_length,
                            .stack_count = before.stack_count};
    memcpy(index->op_counts, before.op_counts, sizeof before.op_counts);
    memcpy(index->name_counts, before.name_counts, sizeof before.name_counts);
    return fixed_bytes;
}

mr_status mr_mrt_contents_read(mr_mrt_contents *contents, const unsigned char *payload,
                               uint64_t size_bytes, uint32_t version, mr_error *error)
{
    *contents = (mr_mrt_contents){0};
    mr_mrt_index *index = &contents->index;
    size_t fixed_bytes = read_fixed(index, payload, size_bytes, version);
    if (!fixed_bytes)
        return inconsistent(error);
    uint64_t outlook_bytes = (uint64_t)index->name_counts[MR_MRT_VARIABLES] +
                             index->name_counts[MR_MRT_LOCKS] +
                             (uint64_t)index->use_count * sizeof(mr_lock_use);
    if (size_bytes != fixed_bytes + outlook_bytes + index->file_length + index->text_length)
        return inconsistent(error);
    const unsigned char *at = payload + fixed_bytes;
    if (index->dropped_count) {
        const unsigned char *texts = at + outlook_bytes;
        mr_error *dropped = &contents->first_dropped;
        dropped->status = MR_ERR_TRACE;
        dropped->line = index->dropped_line;
        read_text(dropped->file, sizeof dropped->file, texts, index->file_length);
        read_text(dropped->text, sizeof dropped->text, texts + index->file_length,
                  index->text_length);
    }
    uint32_t rules =
        version < MR_MRT_OBJECTS_VERSION ? MR_MRT_OUTLOOK_RULES_BEFORE : MR_MRT_OUTLOOK_RULES;
    if (index->outlook_rules != rules || index->name_counts[MR_MRT_THREADS] > MR_MRT_THREADS_MAX)
        return MR_OK;
    return read_outlook(contents, at, error);
}

void mr_mrt_contents_free(mr_mrt_contents *contents)
{
    mr_outlook_free(&contents->outlook);
}
