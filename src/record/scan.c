#include "scan.h"

#include "base/progress.h"

enum { RECORDS_A_TELL = 1 << 16 };

void mr_scan_free(mr_scan *scan)
{
    mr_pieces_free(&scan->pieces);
    mr_objects_free(&scan->objects);
    mr_benign_free(&scan->benign);
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

static bool note(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if (mr_log_is_access(kind) || mr_log_is_range(kind)) {
        uint64_t address = mr_log_payload(record[0]);
        mr_extent access = {mr_lifetimes_find(&pass->lives, address), address,
                            mr_log_access_bytes(record)};
        return mr_pieces_note(&scan->pieces, access, pass->thread, writes(kind), is_atomic(kind));
    }
    if ((kind >= MR_LOG_ACQUIRE && kind <= MR_LOG_WAIT) || kind == MR_LOG_BEFORE ||
        kind == MR_LOG_AFTER)
        return note_object(scan, pass, record);
    if (kind == MR_LOG_RETIRED)
        return mr_objects_retire(&scan->objects, &pass->lives, mr_log_payload(record[0]));
    if (kind == MR_LOG_BENIGN) {
        uint64_t address = mr_log_payload(record[0]);
        return mr_benign_note(
            &scan->benign,
            (mr_extent){mr_lifetimes_find(&pass->lives, address), address, record[2]});
    }
    if (kind == MR_LOG_CALL_REACH)
        return note_reach(scan, pass, record);
    if (kind == MR_LOG_CALL_BEGIN && !mr_log_count(record[1]))
        scan->pieces.all_reached = true;
    return true;
}

mr_status mr_scan_run(mr_scan *scan, const mr_log *log, const mr_progress *progress,
                      mr_error *error)
{
    mr_log_pass pass;
    bool ok = true;
    scan->pieces.keep_all = scan->keep_all;
    mr_log_pass_init(&pass, log);
    uint64_t count = 0;
    for (const uint64_t *record; ok && (record = mr_log_next(&pass));) {
        ok = note(scan, &pass, record);
        if (++count % RECORDS_A_TELL == 0)
            mr_progress_tell(progress, "scanning", pass.next, log->unit_count);
    }
    scan->last_unit = pass.next;
    ok = ok && !pass.failed && mr_pieces_make(&scan->pieces);
    mr_log_pass_free(&pass);
    return ok ? MR_OK : mr_error_memory(error, "reading the log");
}
