/* The way through runs of accesses without an event (access.h). */
#include "access.h"

/* Is the access in a line that the cache has, and has no event? */
static bool is_near_left_out(mr_event_pass *pass, uint64_t address, unsigned bytes, uint64_t code)
{
    uint32_t life;
    mr_piece_near near = mr_pieces_of_near(&pass->scan->pieces, address, bytes, &life);
    return near == MR_NEAR_LEFT_OUT ||
           (near == MR_NEAR_SPARSE &&
            mr_sparse_knows(&pass->sparse, pass->reader.thread, code, life));
}

/* Has the access no event, as far as can be seen quickly? */
static inline bool is_left_out(mr_event_pass *pass, uint64_t address, unsigned bytes, uint64_t code)
{
    if (pass->skips_part || !mr_pieces_may_keep(&pass->scan->pieces, address))
        return true;
    return is_near_left_out(pass, address, bytes, code);
}

/* Is the access the use of a pointer? It is looked at again, as a record, when it is. */
static bool uses_pointer(mr_event_pass *pass, uint64_t address)
{
    return mr_pointers_wait(&pass->pointers, pass->reader.thread) &&
           mr_pointers_look(&pass->pointers, pass->reader.thread, address);
}

/* The thread has gone through the gap. False: no memory. */
static bool apply(mr_event_pass *pass, const mr_gap *gap)
{
    uint32_t thread = pass->reader.thread;
    mr_contexts *contexts = &pass->contexts;
    const mr_gaps *gaps = &pass->scan->gaps;
    uint32_t entered = mr_gaps_entered(gaps, gap);
    bool ok = !gap->left || mr_contexts_leave(contexts, thread, gap->left);
    for (uint32_t i = 0; i < entered && ok; i++) {
        const mr_gap_call *call = &gaps->calls[(size_t)gap->calls + i];
        ok = mr_contexts_enter(contexts, thread, call->caller,
                               &(mr_frame_place){call->code, call->stack, call->frame});
    }
    pass->positions.of[thread] += gap->count;
    if (gap->code)
        mr_contexts_reach(contexts, thread, gap->code);
    return ok;
}

/* Passes over gaps without kept pieces. A thread that may use a pointer is watched; one with a loose deref
 * has an event at its next long record. False: no memory. */
static bool pass_gaps(mr_event_pass *pass)
{
    uint32_t thread = pass->reader.thread;
    bool ok = true;
    const mr_gap *gap = NULL;
    do {
        if (pass->reader.next >= pass->part_end)
            pass->skips_part =
                mr_pieces_skips_part(&pass->scan->pieces, pass->reader.next, &pass->part_end);
        bool passes = !mr_pointers_wait(&pass->pointers, thread) &&
                      !mr_pointers_loose(&pass->pointers, thread);
        gap = passes ? mr_jumper_pass(&pass->jumper, &pass->reader, pass->skips_part) : NULL;
        ok = !gap || apply(pass, gap);
    } while (ok && gap);
    return ok;
}

/* A run that is read, and what is not yet said of it. */
typedef struct passing {
    mr_log_run run;
    uint64_t count; /* accesses that were taken */
    uint64_t code;  /* of the last one; 0: the calls say where the thread is */
    bool learns;    /* the tables of the reader are of use */
} passing;

/* Takes a long record without an event. False: it is none, or no memory. */
static bool take_long(mr_event_pass *pass, passing *self)
{
    uint32_t thread = pass->reader.thread;
    const uint64_t *record = mr_log_run_long(&pass->reader, &self->run);
    if (!record || mr_pointers_loose(&pass->pointers, thread))
        return false;
    unsigned kind = mr_log_kind_of(record[0]);
    if (kind == MR_LOG_READ || kind == MR_LOG_WRITE) {
        uint64_t address = mr_log_payload(record[0]), code = mr_log_code(record[1]);
        if (!is_left_out(pass, address, mr_log_bytes(record[0]), code) ||
            uses_pointer(pass, address))
            return false;
        self->count++;
        self->code = code;
    } else if (mr_log_is_range(kind)) {
        uint64_t address = mr_log_payload(record[0]);
        if (!is_left_out(pass, address, (unsigned)record[2], mr_log_code(record[1])) ||
            uses_pointer(pass, address))
            return false;
        self->count++;
    } else if (kind != MR_LOG_ENTRY) {
        uint64_t payload = mr_log_payload(record[0]);
        if (self->code)
            mr_contexts_reach(&pass->contexts, thread, self->code);
        self->code = 0;
        bool ok = kind == MR_LOG_LEAVE
                      ? mr_contexts_leave(&pass->contexts, thread, payload)
                      : mr_contexts_enter(&pass->contexts, thread, payload,
                                          &(mr_frame_place){record[1], record[2], record[3]});
        if (!ok) {
            pass->reader.failed = true;
            return false;
        }
    }
    mr_log_run_take_long(&self->run);
    return true;
}

/* Takes short records without an event. Does another one follow? */
static bool take_short(mr_event_pass *pass, passing *self, mr_log_run_access *found)
{
    bool follows;
    while ((follows = mr_log_run_look(&self->run, found)) &&
           is_left_out(pass, found->address, found->bytes, mr_log_payload(found->site->head)) &&
           !uses_pointer(pass, found->address)) {
        mr_log_run_take(&self->run, found, self->learns);
        self->count++;
        self->code = mr_log_payload(found->site->head);
    }
    return follows;
}

const uint64_t *mr_event_pass_hurry(mr_event_pass *pass, uint64_t last)
{
    mr_log_run_access found;
    mr_log_pass *reader = &pass->reader;
    if (!pass_gaps(pass)) {
        reader->failed = true;
        return NULL;
    }
    mr_jumper_settle(&pass->jumper, reader);
    passing self = {
        .run = mr_log_run_begin(reader, pass->part_end < last ? pass->part_end : last),
        .learns = mr_pieces_reads_on(&pass->scan->pieces, reader->next),
    };
    bool follows;
    do
        follows = take_short(pass, &self, &found);
    while (!follows && take_long(pass, &self));
    const uint64_t *record = follows ? mr_log_run_record(reader, &self.run, &found) : NULL;
    mr_log_run_end(reader, &self.run);
    pass->positions.of[reader->thread] += self.count;
    if (self.code)
        mr_contexts_reach(&pass->contexts, reader->thread, self.code);
    return record;
}
