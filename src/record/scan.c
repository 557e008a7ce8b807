#include "scan.h"

#include "base/progress.h"
#include "tries.h"

enum { RECORDS_A_TELL = 1 << 10 };

void mr_scan_free(mr_scan *scan)
{
    mr_pieces_free(&scan->pieces);
    mr_ordered_free(&scan->ordered);
    mr_gaps_free(&scan->gaps);
    mr_objects_free(&scan->objects);
    mr_benign_free(&scan->benign);
    mr_ignored_free(&scan->ignored);
    mr_assembly_free(&scan->assembly);
    mr_uses_free(&scan->uses);
    mr_deaths_free(&scan->deaths);
    mr_presence_free(&scan->presence);
    mr_beginning_free(&scan->beginning);
    mr_log_pass_free(&scan->pass);
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

static void note_user(mr_object *object, uint32_t thread)
{
    object->user = object->user == 0 || object->user == thread + 1 ? thread + 1 : MR_OBJECT_SHARED;
}

/* What is read of a channel, or written in order, comes after what its writers wrote apart. */
static void note_writers(mr_scan *scan, const uint64_t *record, const mr_object *channel)
{
    uint64_t read[] = {record[0], record[1], record[2]};
    read[0] = mr_log_head(MR_LOG_AFTER, mr_log_detail(record[0]), mr_log_payload(record[0]));
    for (uint32_t at = channel->writer; at; at = scan->objects.items[at - 1].writer)
        mr_ordered_object(&scan->ordered, read, at - 1);
}

static bool note_object(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    mr_object *object = mr_objects_written(&scan->objects, &pass->lives, record, pass->thread);
    unsigned count = mr_log_count(record[1]);
    if (object && object->role == MR_LOG_ROLE_SIGNAL && count == MR_LOG_NOT_YET)
        object->is_tried = true;
    if (object && mr_log_kind_of(record[0]) == MR_LOG_RELEASE && count == MR_LOG_BY_END)
        object->is_orphan = true;
    if (object && mr_log_kind_of(record[0]) == MR_LOG_WAIT)
        object->waits += count ? count : 1;
    /* Not counted: it needs an order only when another read is not like it. */
    bool is_like = object && mr_object_is_taking(object) && count == MR_LOG_TAKING_LIKE;
    if (object && mr_log_kind_of(record[0]) == MR_LOG_BEFORE && !is_like)
        object->units++;
    if (is_like)
        object->waits++;
    if (object && mr_object_is_taking(object) && mr_log_kind_of(record[0]) == MR_LOG_AFTER)
        object->is_tried = true;
    if (object && scan->ordered.on) {
        if (mr_object_is_channel(object))
            note_writers(scan, record, object);
        mr_ordered_object(&scan->ordered, record, (uint32_t)(object - scan->objects.items));
    }
    if (object)
        note_user(object, pass->thread);
    return object != NULL;
}

/* The lock that is used wrongly, and the variable that stands for it. */
static bool note_wrong(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    return mr_objects_at(&scan->objects, &pass->lives, mr_log_payload(record[0]), MR_LOG_ROLE_OWN,
                         0) &&
           note_object(scan, pass, record);
}

/* The state of the object is told. */
static bool note_told(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    mr_object *object = mr_objects_of(&scan->objects, &pass->lives, record);
    if (object && !mr_tries_is_of_owner(record))
        object->is_tried = true;
    return object != NULL;
}

/* Memory that is released is written; an access of what was released is kept. */
static bool note_memory(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    size_t before = scan->deaths.count;
    bool alone = mr_presence_is_alone(&scan->presence);
    if (!mr_deaths_note(&scan->deaths, pass, record, alone))
        return false;
    for (size_t i = before; i < scan->deaths.count; i++) {
        const mr_death *death = &scan->deaths.items[i];
        if (!alone && !death->unseen &&
            !mr_pieces_note_release(&scan->pieces, death->life, death->thread))
            return false;
        if (!alone && !death->unseen && scan->ordered.on)
            mr_ordered_release(&scan->ordered, death->life);
    }
    if (mr_log_kind_of(record[0]) == MR_LOG_GIVEN && record[2]) {
        mr_life *life = mr_lifetimes_find(&pass->lives, mr_log_payload(record[0]));
        life->alone = alone;
        life->since = scan->ordered.now;
    }
    for (size_t i = 0; i < mr_deaths_of(pass, record); i++) {
        const mr_life_end *part = &pass->lives.ended[i];
        const mr_life *life = &part->life;
        if (!scan->deaths.items[before + i].unseen &&
            !mr_pieces_note_guest(&scan->pieces, life, MR_PIECES_RELEASES, pass->thread, alone))
            return false;
        if ((part->start > life->origin &&
             !mr_pieces_note_bound(&scan->pieces, life, part->start)) ||
            (part->end < life->origin + life->bytes &&
             !mr_pieces_note_bound(&scan->pieces, life, part->end)))
            return false;
    }
    return true;
}

static bool note_access(mr_scan *scan, mr_log_pass *pass, uint64_t address, uint64_t bytes,
                        mr_piece_access how)
{
    mr_extent access = {mr_lifetimes_find(&pass->lives, address), address, bytes};
    how.alone = mr_presence_is_alone(&scan->presence);
    if (how.is_ignored && !mr_ignored_note(&scan->ignored, access))
        return false;
    if (!mr_pieces_note(&scan->pieces, access, pass->thread, how))
        return false;
    if (access.life->dead)
        mr_pieces_keep(&scan->pieces, access);
    mr_pieces_approach(&scan->pieces, &pass->lives, access.life, address);
    return true;
}

/* The variable of a lock, semaphore, … */
static bool note_use(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    mr_use use = mr_use_of(record);
    mr_user_state *state;
    mr_misuse_kind misuse;
    if (use == MR_USE_NONE)
        return true;
    uint64_t address = mr_log_payload(record[0]);
    mr_extent byte = {mr_lifetimes_find(&pass->lives, address), address, 1};
    /* A descriptor that is replaced is written atomically. */
    mr_piece_access how = {.writes = use == MR_USE_WRITE,
                           .is_kept = mr_log_detail(record[0]) == MR_LOG_ROLE_DESCRIPTOR};
    if ((mr_use_is_access(record) && !note_access(scan, pass, address, 1, how)) ||
        !mr_uses_judge(&scan->uses, pass, record, &state, &misuse))
        return false;
    if (misuse) {
        mr_pieces_keep(&scan->pieces, byte);
        scan->ordered.given_up = true;
        mr_beginning_stop(&scan->beginning, pass); /* a release may have no event */
    }
    mr_uses_apply(state, pass->thread, record);
    return true;
}

/* An object and its use, in the order of their events. */
static bool note_used_object(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    bool is_after = mr_use_of(record) == MR_USE_AFTER;
    if (mr_log_is_nothing(record))
        return true;
    return (is_after || note_use(scan, pass, record)) && note_object(scan, pass, record) &&
           (!is_after || note_use(scan, pass, record)) &&
           mr_beginning_note(&scan->beginning, pass, record);
}

/* Threads that start, those that others have waited for, and those that were there. */
static bool note_thread(mr_scan *scan, const mr_log_pass *pass, const uint64_t *record)
{
    if (!mr_presence_note(&scan->presence, pass, record) ||
        !mr_beginning_note(&scan->beginning, pass, record))
        return false;
    if (scan->ordered.on && mr_log_kind_of(record[0]) != MR_LOG_SWITCH)
        mr_ordered_thread(&scan->ordered, record);
    if (scan->presence.has_stranger && !scan->pieces.none_alone)
        mr_pieces_distrust(&scan->pieces);
    return true;
}

static bool note_end(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    uint64_t ended[3];
    mr_log_ended(record, pass->thread, ended);
    return note_object(scan, pass, ended);
}

static bool note(mr_scan *scan, mr_log_pass *pass, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if (mr_log_is_access(kind) || mr_log_is_range(kind)) {
        mr_piece_access how = {.writes = writes(kind),
                               .atomic = is_atomic(kind),
                               .updates = kind == MR_LOG_ATOMIC_UPDATE,
                               .is_kept = mr_log_is_volatile(record[0]),
                               .is_ignored = mr_log_is_ignored(record[0])};
        scan->accesses++;
        return note_access(scan, pass, mr_log_payload(record[0]), mr_log_access_bytes(record),
                           how) &&
               mr_assembly_note(&scan->assembly, &pass->lives, record);
    }
    if (kind == MR_LOG_GIVEN || kind == MR_LOG_TAKEN)
        mr_pieces_forget(&scan->pieces, mr_log_payload(record[0]), record[2]);
    if ((kind >= MR_LOG_ACQUIRE && kind <= MR_LOG_WAIT) || kind == MR_LOG_BEFORE ||
        kind == MR_LOG_AFTER)
        return note_used_object(scan, pass, record);
    if (kind == MR_LOG_RETIRED && !note_use(scan, pass, record))
        return false;
    if (kind == MR_LOG_RETIRED)
        return mr_log_count(record[1]) == MR_LOG_RETIRED_REFUSED ||
               mr_log_detail(record[0]) == MR_LOG_ROLE_DESCRIPTOR ||
               mr_objects_retire(&scan->objects, &pass->lives, mr_log_payload(record[0]));
    if (kind == MR_LOG_BENIGN) {
        uint64_t address = mr_log_payload(record[0]);
        return mr_benign_note(&scan->benign, (mr_extent){mr_lifetimes_find(&pass->lives, address),
                                                         address, record[2]});
    }
    if (kind == MR_LOG_USED && mr_log_detail(record[0]) == MR_LOG_ROLE_WRONG)
        return note_wrong(scan, pass, record);
    if (kind == MR_LOG_USED)
        return note_use(scan, pass, record) &&
               (!mr_tries_is_told(record) || note_told(scan, pass, record));
    if (kind == MR_LOG_TAKEN && mr_log_count(record[1]) == MR_LOG_TAKEN_AGAIN)
        return note_access(scan, pass, mr_log_payload(record[0]), 1,
                           (mr_piece_access){.writes = true});
    if (kind == MR_LOG_END && !note_end(scan, pass, record))
        return false;
    if (kind == MR_LOG_END && scan->ordered.on)
        mr_ordered_thread(&scan->ordered, record);
    if (kind == MR_LOG_GIVEN || kind == MR_LOG_TAKEN || kind == MR_LOG_END)
        return note_memory(scan, pass, record);
    if (kind == MR_LOG_SWITCH || kind == MR_LOG_FORK || kind == MR_LOG_JOIN)
        return note_thread(scan, pass, record);
    if (kind == MR_LOG_CALL_REACH)
        return note_reach(scan, pass, record);
    if (kind == MR_LOG_CALL_BEGIN) {
        scan->ordered.given_up = true; /* calls order what they reach */
        scan->pieces.has_calls = true;
        scan->pieces.all_reached = scan->pieces.all_reached || !mr_log_count(record[1]);
    }
    return true;
}

/* Notes a plain access of a run. False: no memory. */
__attribute__((always_inline)) static inline bool
note_plain(mr_scan *scan, mr_log_pass *pass, uint64_t address, unsigned bytes, bool writes)
{
    mr_piece_access how = {.writes = writes, .alone = mr_presence_is_alone(&scan->presence)};
    return mr_pieces_repeats(&scan->pieces, address, bytes, writes) ||
           mr_pieces_note_near(&scan->pieces, address, bytes, pass->thread, how) ||
           note_access(scan, pass, address, bytes, how);
}

/* Notes a long record of an access; apart, so that the loop over short ones is small. */
static __attribute__((noinline)) bool note_long_access(mr_scan *scan, mr_log_pass *pass,
                                                       const uint64_t *record)
{
    scan->accesses++;
    return note_plain(scan, pass, mr_log_payload(record[0]), (unsigned)mr_log_access_bytes(record),
                      writes(mr_log_kind_of(record[0])));
}

/* Notes the long record that follows, when it may be in a run. `*taken`: it is. False: no memory. */
static bool note_long(mr_scan *scan, mr_log_pass *pass, mr_log_run *run, mr_gap *gap, bool *taken)
{
    const uint64_t *record = mr_log_run_long(pass, run);
    bool ok = true;
    *taken = record != NULL;
    if (!record)
        return true;
    unsigned kind = mr_log_kind_of(record[0]);
    if (kind == MR_LOG_READ || kind == MR_LOG_WRITE) {
        gap->code = mr_log_code(record[1]);
        gap->count++;
        ok = note_long_access(scan, pass, record);
    } else if (mr_log_is_range(kind)) {
        gap->count++; /* it does not say where the thread is */
        ok = note_long_access(scan, pass, record);
    } else if (kind != MR_LOG_ENTRY && mr_gaps_wanted(&scan->gaps)) {
        if (kind == MR_LOG_LEAVE)
            mr_gaps_leave(&scan->gaps, gap, mr_log_payload(record[0]));
        else
            ok = mr_gaps_enter(&scan->gaps, gap, record);
    }
    mr_log_run_take_long(run);
    return ok;
}

/* Notes the short records that follow. False: no memory. */
static bool note_short(mr_scan *scan, mr_log_pass *pass, mr_log_run *run, mr_gap *gap)
{
    mr_log_run_access found;
    uint64_t code = 0, count = 0;
    bool ok = true, values = !scan->gaps.given_up;
    for (; ok && mr_log_run_look(run, &found); count++) {
        mr_log_run_take(run, &found, values);
        code = mr_log_payload(found.site->head);
        ok = note_plain(scan, pass, found.address, found.bytes, found.writes);
    }
    scan->accesses += count;
    gap->count += (uint32_t)count;
    gap->code = count ? code : gap->code;
    return ok;
}

/* Notes the run that follows, up to the unit `end`. False: no memory. */
static bool note_run(mr_scan *scan, mr_log_pass *pass, uint64_t end)
{
    mr_log_run run = mr_log_run_begin(pass, end);
    mr_gap gap = {.start = pass->next};
    bool ok = true, more = true;
    mr_pieces_begin_run(&scan->pieces);
    if (mr_gaps_wanted(&scan->gaps))
        mr_visits_enter(&scan->pieces.visits, scan->gaps.count);
    while (ok && more)
        ok = note_short(scan, pass, &run, &gap) && note_long(scan, pass, &run, &gap, &more);
    mr_visits_leave(&scan->pieces.visits);
    mr_log_run_end(pass, &run);
    gap.units = (uint32_t)(pass->next - gap.start);
    return ok && (!gap.units || !mr_gaps_wanted(&scan->gaps) || mr_gaps_note(&scan->gaps, gap));
}

/* A thread ran that nobody is known to have started: it may have been there at each release. */
static bool note_all_releases(mr_scan *scan)
{
    bool ok = true;
    for (size_t i = 0; i < scan->deaths.count && ok; i++) {
        const mr_death *death = &scan->deaths.items[i];
        ok = !death->alone || death->unseen ||
             mr_pieces_note_release(&scan->pieces, death->life, death->thread);
    }
    return ok;
}

void mr_scan_init(mr_scan *scan, bool keep_all, uint64_t part_units)
{
    *scan = (mr_scan){
        .keep_all = keep_all,
        .pieces = {.keep_all = keep_all, .visits.given_up = keep_all, .part_units = part_units},
        .gaps.least_part = part_units ? part_units : MR_GAPS_LEAST_PART};
    scan->ordered.on = scan->ordered.must = !keep_all;
    scan->pieces.ordered = keep_all ? NULL : &scan->ordered;
}

void mr_scan_leave_ordered(mr_scan *scan)
{
    if (scan->keep_all)
        return;
    scan->ordered.must = false;
}

void mr_scan_begin(mr_scan *scan, const mr_log *log)
{
    mr_log_pass_init(&scan->pass, log);
}

static void follow_thread(mr_scan *scan)
{
    mr_ordered *ordered = &scan->ordered;
    if (ordered->on && (ordered->thread != scan->pass.thread || !ordered->now))
        mr_ordered_switch(ordered, scan->pass.thread);
}

/* Reads short records, and the long one behind them. `*more`: there may be others, at least `margin`
 * units before the end of the log. False: no memory. */
static bool read_on(mr_scan *scan, uint64_t margin, bool *more)
{
    mr_log_pass *pass = &scan->pass;
    bool ok = true;
    if (pass->next >= scan->part_end) {
        scan->part_end = mr_pieces_part(&scan->pieces, pass->next);
        ok = mr_gaps_mark(&scan->gaps, pass, scan->pieces.part_units);
    }
    follow_thread(scan);
    ok = ok && note_run(scan, pass, scan->part_end);
    if (!ok || pass->next >= scan->part_end)
        return ok;
    *more = pass->next + margin <= pass->log->unit_count;
    const uint64_t *record = *more ? mr_log_next(pass) : NULL;
    *more = record != NULL;
    follow_thread(scan);
    return !pass->failed && (!record || note(scan, pass, record));
}

bool mr_scan_go_on(mr_scan *scan, const atomic_bool *stop)
{
    enum { MARGIN = 64 }; /* short records at the very end could not be read as a run */
    bool ok = true, more = scan->pass.next + MARGIN < scan->pass.log->unit_count;
    while (ok && more && !atomic_load_explicit(stop, memory_order_relaxed))
        ok = read_on(scan, MARGIN, &more);
    return ok;
}

mr_status mr_scan_finish(mr_scan *scan, const mr_log *log, const mr_progress *progress,
                         mr_error *error)
{
    bool ok = true, more = true;
    uint64_t count = 0;
    scan->pass.log = log;
    while (ok && more) {
        ok = read_on(scan, 0, &more);
        if (++count % RECORDS_A_TELL == 0)
            mr_progress_tell(progress, "scanning", scan->pass.next, log->unit_count);
    }
    scan->last_unit = scan->pass.next;
    if (scan->pieces.none_alone)
        mr_beginning_distrust(&scan->beginning);
    ok = ok && !scan->pass.failed && (!scan->pieces.none_alone || note_all_releases(scan)) &&
         mr_pieces_make(&scan->pieces);
    mr_log_pass_free(&scan->pass);
    return ok ? MR_OK : mr_error_memory(error, "reading the log");
}
