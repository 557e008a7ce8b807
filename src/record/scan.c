#include "scan.h"

#include "base/progress.h"

enum { RECORDS_A_TELL = 1 << 10 };

void mr_scan_free(mr_scan *scan)
{
    mr_pieces_free(&scan->pieces);
    mr_objects_free(&scan->objects);
    *scan = (mr_scan){0};
}

static bool writes(unsigned kind)
{
    return kind == MR_LOG_WRITE || kind == MR_LOG_ATOMIC_WRITE || kind == MR_LOG_ATOMIC_UPDATE ||
           kind == MR_LOG_RANGE_WRITE;
}

static bool is_atomic(unsigned kind)
{
    return kind >= MR_LOG_ATOMIC_READ && kind <= MR_LOG_ATOMIC_UPDATE;
}

static bool note_reach(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    uint64_t address = mr_log_payload(record[0]);
    if (record[2] > MR_REACH_MAX_BYTES) {
        scan->pieces.all_reached = true;
        return true;
    }
    mr_extent reach = {mr_lifetimes_find(&pass->lives, address), address, record[2]};
    return mr_pieces_note_reached(&scan->pieces, reach);
}

static bool note_object(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    mr_object *object = mr_objects_of(&scan->objects, &pass->lives, record);
    unsigned count = mr_log_count(record[1]);
    if (object && mr_log_kind_of(record[0]) == MR_LOG_WAIT)
        object->waits += count ? count : 1;
    return object != NULL;
}

static bool note_access(mr_scan *scan, mr_log_pass *pass, uint64_t address, uint64_t bytes,
                        unsigned kind)
{
    const mr_life *life = mr_lifetimes_find(&pass->lives, address);
    mr_extent access = {life, address, bytes};
    if (!mr_pieces_note(&scan->pieces, access, pass->thread, writes(kind), is_atomic(kind)))
        return false;
    mr_pieces_approach(&scan->pieces, &pass->lives, life, address);
    return true;
}

static bool note(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if (mr_log_is_access(kind) || mr_log_is_range(kind)) {
        scan->accesses++;
        return note_access(scan, pass, mr_log_payload(record[0]), mr_log_access_bytes(record),
                           kind);
    }
    if (kind == MR_LOG_GIVEN || kind == MR_LOG_TAKEN)
        mr_pieces_forget(&scan->pieces, mr_log_payload(record[0]), record[2]);
    if ((kind >= MR_LOG_ACQUIRE && kind <= MR_LOG_WAIT) || kind == MR_LOG_BEFORE ||
        kind == MR_LOG_AFTER)
        return note_object(scan, pass, record);
    if (kind == MR_LOG_RETIRED)
        return mr_objects_retire(&scan->objects, &pass->lives, mr_log_payload(record[0]));
    if (kind == MR_LOG_CALL_REACH)
        return note_reach(scan, pass, record);
    if (kind == MR_LOG_CALL_BEGIN && !mr_log_count(record[1]))
        scan->pieces.all_reached = true;
    return true;
}

/* Notes the short records that follow, up to the unit `end`. False: no memory. */
static bool note_run(mr_scan *scan, mr_log_pass *pass, uint64_t end)
{
    mr_log_run run = mr_log_run_begin(pass, end);
    mr_log_run_access found;
    uint64_t count = 0;
    bool ok = true;
    for (; ok && mr_log_run_look(&run, &found); count++) {
        mr_log_run_take(&run, &found, false);
        if (!mr_pieces_note_near(&scan->pieces, found.address, found.bytes, pass->thread,
                                 found.writes))
            ok = note_access(scan, pass, found.address, found.bytes,
                             found.writes ? MR_LOG_WRITE : MR_LOG_READ);
    }
    scan->accesses += count;
    mr_log_run_end(pass, &run);
    return ok;
}

mr_status mr_scan_run(mr_scan *scan, const mr_log *log, const mr_progress *progress,
                      mr_error *error)
{
    mr_log_pass pass;
    bool ok = true;
    scan->pieces.keep_all = scan->keep_all;
    mr_log_pass_init(&pass, log);
    uint64_t count = 0, end = 0;
    while (ok) {
        if (pass.next >= end)
            end = mr_pieces_part(&scan->pieces, pass.next);
        ok = note_run(scan, &pass, end);
        const uint64_t *record = mr_log_next(&pass);
        if (!record)
            break;
        ok = ok && note(scan, &pass, record);
        if (++count % RECORDS_A_TELL == 0)
            mr_progress_tell(progress, "scanning", pass.next, log->unit_count);
    }
    scan->last_unit = pass.next;
    ok = ok && !pass.failed && mr_pieces_make(&scan->pieces);
    mr_log_pass_free(&pass);
    return ok ? MR_OK : mr_error_memory(error, "reading the log");
}
