#include "event_pass.h"

#include "access.h"
#include "base/assert.h"
#include "base/progress.h"
#include "blocks.h"
#include "formats/mrt/mrt_positions.h"
#include "order_events.h"
#include "pointer_use.h"
#include "tries.h"
#include "unrecorded_calls.h"

#include <inttypes.h>
#include <stdlib.h>

enum { RECORDS_A_TELL = 1 << 10 };

/* Events that posts and waits of several units may become, beyond one a record and one a unit of
 * the log. */
enum { UNITS_MAX = 1 << 20 };

/* Keeps the misuse of an object of pthread for the report; `event` is the use. */
static bool add_misuse(mr_event_pass *pass, mr_misuse_kind kind, uint64_t event,
                       const mr_user_state *state)
{
    mr_misuse misuse = {kind, event, MR_MISUSE_NO_EVENT};
    if (kind == MR_MISUSE_USE_AFTER_DESTROY)
        misuse.other = state->destroyed_at;
    else if (kind == MR_MISUSE_UNLOCK_BY_OTHER || kind == MR_MISUSE_DESTROY_HELD)
        misuse.other = state->held_at;
    return mr_event_pass_keep_misuse(pass, &misuse);
}

/* What a record's use before its effect came to. */
typedef struct used {
    mr_user_state *state; /* of the object, valid until the next use; NULL: there is no such use */
    mr_misuse_kind misuse;
} used;

/* The use of an object, before what the record says. */
static mr_status use_before(mr_event_pass *pass, const uint64_t *record, used *found,
                            mr_error *error)
{
    mr_use use = mr_use_of(record);
    mr_user_state *state;
    mr_misuse_kind misuse;
    int64_t value = 0;
    bool is_access = mr_use_is_access(record);
    *found = (used){.state = NULL};
    if (use == MR_USE_NONE || use == MR_USE_AFTER)
        return MR_OK;
    if (!mr_uses_judge(&pass->uses, &pass->reader, record, &state, &misuse))
        return mr_event_pass_no_memory(error);
    uint64_t event = pass->emitter.trace->event_count;
    bool refused =
        mr_log_kind_of(record[0]) == MR_LOG_USED && mr_log_count(record[1]) == MR_LOG_USED_REFUSED;
    mr_status status = MR_OK;
    if (is_access)
        status = mr_event_pass_use(pass, record, use == MR_USE_WRITE, &value, error);
    if (misuse == MR_MISUSE_USE_AFTER_DESTROY && is_access && !refused &&
        value != state->destroyed_value)
        misuse = MR_MISUSE_NONE;
    if (!status && misuse && is_access && !add_misuse(pass, misuse, event, state))
        return mr_event_pass_no_memory(error);
    mr_uses_apply(state, pass->reader.thread, record);
    if (use == MR_USE_WRITE) {
        state->destroyed_at = event;
        state->destroyed_value = value;
    }
    *found = (used){state, misuse};
    return status;
}

static mr_status use_after(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    int64_t value;
    return mr_use_of(record) == MR_USE_AFTER && mr_use_is_access(record)
               ? mr_event_pass_use(pass, record, false, &value, error)
               : MR_OK;
}

/* A critical section begins or ends. */
static bool note_section(mr_event_pass *pass, mr_op op, uint32_t lock)
{
    uint32_t thread = pass->reader.thread;
    bool shared = op == MR_OP_SHARED_ACQUIRE || op == MR_OP_SHARED_RELEASE;
    if (!mr_op_acquires((uint8_t)op))
        return mr_settled_release(&pass->settled, thread, lock, shared);
    pass->quiet_events++;
    return mr_settled_acquire(&pass->settled, thread, lock, shared);
}

static mr_status lock_event(mr_event_pass *pass, const uint64_t *record, mr_op op, mr_error *error)
{
    bool tried = mr_op_acquires((uint8_t)op) && (mr_log_count(record[1]) & MR_LOG_TRIED);
    mr_emitted event = {.op = op, .memory_order = tried ? MR_ORDER_TRY : MR_ORDER_SC};
    used use;
    uint64_t dropped = pass->emitter.dropped_count;
    mr_status status = use_before(pass, record, &use, error);
    mr_object *object = mr_objects_of(&pass->objects, &pass->reader.lives, record);
    bool is_strange = use.misuse && (op == MR_OP_RELEASE || op == MR_OP_SHARED_RELEASE);
    if (status || (is_strange && object)) /* no trace can have such a release */
        return status;
    if (use.state && (op == MR_OP_ACQUIRE ? use.state->depth == 1 : op == MR_OP_SHARED_ACQUIRE))
        use.state->held_at = pass->emitter.trace->event_count;
    status = mr_event_pass_object(pass, record, object, &event, error);
    if (!status && !mr_waiting_hold(&pass->waiting, &event, pass->emitter.trace->event_count))
        status = mr_event_pass_no_memory(error);
    if (!status && mr_op_acquires((uint8_t)op))
        status = mr_emitter_add(&pass->emitter, &event, error);
    if (!status)
        status = mr_event_pass_state(pass, record, object, mr_tries_held(use.state), error);
    if (!status)
        status = mr_event_pass_owner(pass, record, object, use.state, error);
    if (!status && !mr_op_acquires((uint8_t)op))
        status = mr_emitter_add(&pass->emitter, &event, error);
    if (!status && pass->emitter.dropped_count == dropped && !note_section(pass, op, event.operand))
        status = mr_event_pass_no_memory(error);
    return status;
}

/*
 * How many events a post or wait becomes. A post of several units gives at most as many as are ever
 * taken of the semaphore: then no wait can miss a unit, and more would change nothing. So a
 * semaphore that begins with a million units costs what is used of them.
 */
static uint64_t units_of(mr_event_pass *pass, const uint64_t *record, mr_op op,
                         const mr_object *object)
{
    uint64_t count = mr_log_count(record[1]);
    if (object && op == MR_OP_POST) {
        uint64_t taken = pass->scan->objects.items[object - pass->objects.items].waits;
        count = count > taken ? taken : count;
    }
    count = count ? count : 1;
    pass->extra_units += count - 1;
    return count;
}

/* Does the log have more units than the runtime writes? It is short then, and the trace is not. */
static bool has_strange_units(const mr_event_pass *pass)
{
    return pass->extra_units > UNITS_MAX + pass->log->unit_count;
}

/* Posts and waits. When a wait takes a unit that no recorded post gave, another process gave it:
 * the trace gets a post just before the wait, by the same thread, which orders nothing. */
static mr_status unit_events(mr_event_pass *pass, const uint64_t *record, mr_op op, mr_error *error)
{
    mr_emitted event = {.op = op}, inferred;
    used use;
    mr_status status = use_before(pass, record, &use, error);
    if (status)
        return status;
    mr_object *object = mr_objects_of(&pass->objects, &pass->reader.lives, record);
    status = mr_event_pass_object(pass, record, object, &event, error);
    inferred = event;
    inferred.op = MR_OP_POST;
    for (uint64_t i = 0, count = units_of(pass, record, op, object); i < count && !status; i++) {
        if (mr_op_gives((uint8_t)op)) {
            object->units++;
            status = mr_event_pass_state(pass, record, object, (int64_t)object->units, error);
        } else if (object->units) {
            object->units--;
        } else {
            pass->summary.inferred_posts++;
            status = mr_emitter_add(&pass->emitter, &inferred, error);
        }
        if (!status)
            status = mr_emitter_add(&pass->emitter, &event, error);
        if (!status)
            status = mr_event_pass_state(pass, record, object, (int64_t)object->units, error);
    }
    return status ? status : use_after(pass, record, error);
}

static mr_status thread_event(mr_event_pass *pass, const uint64_t *record, mr_op op,
                              mr_error *error)
{
    mr_emitted event = {.op = op};
    mr_status status = mr_event_pass_place(pass, record, &event, error);
    if (!status && mr_op_operand_kind(op) == MR_OPERAND_THREAD)
        status = mr_event_pass_thread(pass, (uint32_t)record[2], &event.operand, error);
    if (!status)
        status = mr_emitter_add(&pass->emitter, &event, error);
    if (!status && op == MR_OP_FORK &&
        !mr_thread_notes_fork(&pass->notes, event.operand, event.location))
        status = mr_event_pass_no_memory(error);
    if (!status && mr_op_begins((uint8_t)op) &&
        !mr_naming_thread_start(&pass->naming, event.thread, mr_log_payload(record[0])))
        status = mr_event_pass_no_memory(error);
    return status;
}

/* A relaxed fence does nothing. */
static mr_status fence_event(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_FENCE,
                        .memory_order = mr_event_pass_memory_order(mr_log_detail(record[0]))};
    if (event.memory_order == MR_ORDER_RLX)
        return MR_OK;
    mr_status status = mr_event_pass_place(pass, record, &event, error);
    return status ? status : mr_emitter_add(&pass->emitter, &event, error);
}

/* The begin and the end of a thread and of its stack. */
static mr_status life_of_thread(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    mr_status status;
    if (mr_log_kind_of(record[0]) == MR_LOG_BEGIN) {
        status = thread_event(pass, record, MR_OP_BEGIN, error);
        return status ? status : mr_event_pass_stack(pass, record, error);
    }
    uint64_t ended[3];
    mr_log_ended(record, pass->reader.thread, ended);
    status = mr_event_pass_order(pass, ended, true, error);
    if (!status)
        status = mr_event_pass_taken(pass, record, error);
    return status ? status : thread_event(pass, record, MR_OP_END, error);
}

/* A block that was freed is freed again: that is a write of what is dead. */
static mr_status taken_again(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    const mr_life *life = mr_lifetimes_find(&pass->reader.lives, mr_log_payload(record[0]));
    if (!life->dead)
        return MR_OK;
    mr_misuse misuse = {MR_MISUSE_DOUBLE_FREE, pass->emitter.trace->event_count,
                        MR_MISUSE_NO_EVENT};
    mr_status status = mr_event_pass_free_again(pass, record, error);
    if (!status && !mr_ending_add_misuse(&pass->emitter.trace->ending, &misuse))
        status = mr_event_pass_no_memory(error);
    return status;
}

static mr_status map_module(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    if (!mr_position_module_record(&pass->positions, record))
        return mr_event_pass_no_memory(error);
    const mr_log_module *module = (const void *)record;
    const char *path = (const char *)(module + 1);
    size_t room = mr_log_payload(record[0]) * sizeof *record;
    if (room <= sizeof *module || !memchr(path, '\0', room - sizeof *module))
        return MR_OK;
    mr_event_pass_forget_code(pass);
    size_t id_bytes = (size_t)module->build_id_bytes;
    return mr_symbols_map(pass->symbols, path, module->bias, module->start, module->end,
                          module->build_id, id_bytes <= sizeof module->build_id ? id_bytes : 0)
               ? MR_OK
               : mr_event_pass_no_memory(error);
}

/* The text of a THREAD_NAME, CALL_NAME or SUPPRESSION record. '_' replaces control characters and a blank at the
 * start. */
static void read_text(const uint64_t *record, char *text, size_t text_bytes)
{
    uint64_t words = mr_log_payload(record[0]);
    size_t room = words > 2 ? (size_t)(words - 2) * sizeof *record : 0;
    const char *from = (const char *)(record + 2);
    size_t length = strnlen(from, room < text_bytes - 1 ? room : text_bytes - 1);
    memcpy(text, from, length);
    text[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || (i == 0 && text[i] == ' '))
            text[i] = '_';
}

static mr_status name_thread(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    char text[64];
    uint32_t thread = 0;
    read_text(record, text, sizeof text);
    if (mr_log_payload(record[0]) < 2 || !text[0])
        return MR_OK;
    mr_status status = mr_event_pass_thread(pass, (uint32_t)record[1], &thread, error);
    if (!status &&
        !mr_names_set_display(&pass->emitter.trace->threads, thread, text, (uint32_t)strlen(text)))
        status = mr_event_pass_no_memory(error);
    return status;
}

static mr_status take_suppression(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    char text[MR_LOG_TEXT_BYTES];
    read_text(record, text, sizeof text);
    return mr_ending_add_suppression(&pass->emitter.trace->ending, text, strlen(text))
               ? MR_OK
               : mr_event_pass_no_memory(error);
}

/* Functions, modules, names, and what the program says of its findings. */
static mr_status code_record(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    uint64_t payload = mr_log_payload(record[0]);
    bool ok = true;
    switch (mr_log_kind_of(record[0])) {
    case MR_LOG_ENTER:
        ok = mr_contexts_enter(&pass->contexts, pass->reader.thread, payload,
                               &(mr_frame_place){record[1], record[2], record[3]});
        break;
    case MR_LOG_LEAVE:
        ok = mr_contexts_leave(&pass->contexts, pass->reader.thread, payload);
        break;
    case MR_LOG_MODULE:
        return map_module(pass, record, error);
    case MR_LOG_UNLOAD:
        ok = mr_position_module_record(&pass->positions, record);
        mr_event_pass_forget_code(pass);
        mr_symbols_unmap(pass->symbols, payload);
        break;
    case MR_LOG_CALL_NAME:
        read_text(record, pass->call_name, sizeof pass->call_name);
        break;
    case MR_LOG_THREAD_NAME:
        return name_thread(pass, record, error);
    case MR_LOG_SUPPRESSION:
        return take_suppression(pass, record, error);
    default:
        break;
    }
    return ok ? MR_OK : mr_event_pass_no_memory(error);
}

/* What the runtime calls wrong, for the lock of this life, which is held or not. */
static mr_misuse_kind judge_wrong(unsigned how, bool is_held)
{
    switch ((mr_log_wrong)how) {
    case MR_LOG_WRONG_ACQUIRE:
        return is_held ? MR_MISUSE_LOCK_HELD : MR_MISUSE_NONE;
    case MR_LOG_WRONG_RELEASE:
        return is_held ? MR_MISUSE_UNLOCK_BY_OTHER : MR_MISUSE_UNLOCK_FREE;
    case MR_LOG_WRONG_MODE:
        return is_held ? MR_MISUSE_UNLOCK_MODE : MR_MISUSE_NONE;
    case MR_LOG_WRONG_DESTROY:
        return is_held ? MR_MISUSE_DESTROY_HELD : MR_MISUSE_NONE;
    }
    return MR_MISUSE_NONE;
}

/* A lock of the program's own is used against its rules: a read of a variable that stands for it. */
static mr_status wrong_event(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_ATOMIC_READ, .has_value = true};
    const mr_object *lock = mr_objects_at(&pass->objects, &pass->reader.lives,
                                          mr_log_payload(record[0]), MR_LOG_ROLE_OWN, 0);
    if (!lock)
        return mr_event_pass_no_memory(error);
    uint32_t name = pass->lock_of[lock - pass->objects.items];
    const mr_lock_holder *holder = name ? mr_waiting_holder(&pass->waiting, name - 1) : NULL;
    mr_status status = mr_event_pass_object(
        pass, record, mr_objects_of(&pass->objects, &pass->reader.lives, record), &event, error);
    mr_misuse misuse = {judge_wrong(mr_log_count(record[1]), holder != NULL),
                        pass->emitter.trace->event_count,
                        holder ? holder->event : MR_MISUSE_NO_EVENT};
    if (status || !misuse.kind)
        return status;
    if (!mr_event_pass_keep_misuse(pass, &misuse))
        return mr_event_pass_no_memory(error);
    return mr_emitter_add(&pass->emitter, &event, error);
}

static mr_status note_record(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    uint32_t thread;
    unsigned kind = mr_log_count(record[1]);
    if (kind > MR_LOG_NOTE_IGNORES || record[2] > MR_LOG_THREADS_MAX)
        return MR_OK;
    mr_status status = mr_event_pass_thread(pass, (uint32_t)record[2], &thread, error);
    if (!status && !mr_thread_notes_add(&pass->notes, (mr_log_note)kind, thread))
        status = mr_event_pass_no_memory(error);
    return status;
}

/* An object begins or ends, or is used without anything else. */
static mr_status use_record(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    used use;
    if (mr_log_detail(record[0]) == MR_LOG_ROLE_WRONG)
        return wrong_event(pass, record, error);
    mr_status status = use_before(pass, record, &use, error);
    if (!status && mr_tries_is_told(record))
        return mr_event_pass_told(pass, record, use.state, error);
    if (status || mr_log_kind_of(record[0]) == MR_LOG_USED ||
        mr_log_count(record[1]) == MR_LOG_RETIRED_REFUSED)
        return status;
    if (mr_log_detail(record[0]) == MR_LOG_ROLE_DESCRIPTOR) {
        if (mr_log_count(record[1]) != MR_LOG_RETIRED_INITIALISED)
            mr_event_pass_renew(pass, record);
        return MR_OK;
    }
    return mr_objects_retire(&pass->objects, &pass->reader.lives, mr_log_payload(record[0]))
               ? MR_OK
               : mr_event_pass_no_memory(error);
}

/* Memory is given out or taken back. */
static mr_status memory_record(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    mr_pieces_forget(&pass->scan->pieces, mr_log_payload(record[0]), record[2]);
    if (mr_log_kind_of(record[0]) == MR_LOG_GIVEN) {
        if (mr_log_detail(record[0]) == MR_LOG_MEMORY_STACK)
            pass->last_stack = mr_log_payload(record[0]);
        return mr_event_pass_given(pass, record, error);
    }
    return mr_log_count(record[1]) == MR_LOG_TAKEN_AGAIN ? taken_again(pass, record, error)
                                                         : mr_event_pass_taken(pass, record, error);
}

static mr_status handle(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    mr_log_kind kind = (mr_log_kind)mr_log_kind_of(record[0]);
    switch (kind) {
    case MR_LOG_ACQUIRE:
        return lock_event(pass, record, MR_OP_ACQUIRE, error);
    case MR_LOG_RELEASE:
        return lock_event(pass, record, MR_OP_RELEASE, error);
    case MR_LOG_SHARED_ACQUIRE:
        return lock_event(pass, record, MR_OP_SHARED_ACQUIRE, error);
    case MR_LOG_SHARED_RELEASE:
        return lock_event(pass, record, MR_OP_SHARED_RELEASE, error);
    case MR_LOG_POST:
        return unit_events(pass, record, MR_OP_POST, error);
    case MR_LOG_WAIT:
        return unit_events(pass, record, MR_OP_WAIT, error);
    case MR_LOG_FORK:
        return thread_event(pass, record, MR_OP_FORK, error);
    case MR_LOG_JOIN:
        return thread_event(pass, record, MR_OP_JOIN, error);
    case MR_LOG_BEGIN:
    case MR_LOG_END:
        return life_of_thread(pass, record, error);
    case MR_LOG_GIVEN:
    case MR_LOG_TAKEN:
        return memory_record(pass, record, error);
    case MR_LOG_CALL_BEGIN:
        return mr_event_pass_call_begin(pass, record, error);
    case MR_LOG_CALL_REACH:
        return mr_event_pass_call_reach(pass, record, error);
    case MR_LOG_CALL_END:
        return mr_event_pass_call_end(pass, record, error);
    case MR_LOG_BEFORE:
        return mr_event_pass_order(pass, record, true, error);
    case MR_LOG_AFTER:
        return mr_event_pass_order(pass, record, false, error);
    case MR_LOG_RETIRED:
    case MR_LOG_USED:
        return use_record(pass, record, error);
    case MR_LOG_FENCE:
        return fence_event(pass, record, error);
    case MR_LOG_NOTE:
        return note_record(pass, record, error);
    case MR_LOG_THREAD_NAME:
    case MR_LOG_SUPPRESSION:
    case MR_LOG_ENTER:
    case MR_LOG_LEAVE:
    case MR_LOG_MODULE:
    case MR_LOG_UNLOAD:
    case MR_LOG_CALL_NAME:
        return code_record(pass, record, error);
    case MR_LOG_READ:
    case MR_LOG_WRITE:
    case MR_LOG_ATOMIC_READ:
    case MR_LOG_ATOMIC_WRITE:
    case MR_LOG_ATOMIC_UPDATE:
    case MR_LOG_RANGE_READ:
    case MR_LOG_RANGE_WRITE:
        return mr_event_pass_access(pass, record, error);
    case MR_LOG_NONE:
    case MR_LOG_SWITCH: /* the reader's, as the five after it are */
    case MR_LOG_FORGOTTEN:
    case MR_LOG_FAR_SAME:
    case MR_LOG_FAR:
    case MR_LOG_FAR_WIDE:
    case MR_LOG_PADDING:
    case MR_LOG_ENTRY:
    case MR_LOG_BENIGN: /* see benign.h */
    case MR_LOG_SIGNAL_BEGIN:
    case MR_LOG_SIGNAL_END:
    case MR_LOG_EXEC:
    case MR_LOG_EXIT:
    case MR_LOG_BLOCKED: /* see waiting.h */
    case MR_LOG_ALIAS:   /* the reader knows */
    case MR_LOG_STATE:   /* see explore.h of the runtime */
    case MR_LOG_CHOICE:
    case MR_LOG_KIND_COUNT:
        break;
    }
    return MR_OK;
}

/* The last event of the thread is of the record: was it a read that may be repeated? */
static bool note_last_event(mr_event_pass *pass)
{
    uint32_t thread = pass->reader.thread;
    if (!mr_repeats_fill(&pass->repeats, thread))
        return false;
    pass->repeats.items[thread] = pass->read;
    return true;
}

/* Events begin a stretch of their thread behind them, unless they are of sparse pieces. */
static mr_status handle_in_stretch(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    pass->in_stretch = false;
    pass->read.piece = NULL;
    mr_status status = handle(pass, record, error);
    uint64_t events = pass->emitter.trace->event_count - pass->events_before;
    if (status || !events)
        return status;
    uint32_t thread = pass->reader.thread;
    bool ok = note_last_event(pass) &&
              (events == pass->quiet_events || mr_settled_end(&pass->settled, thread)) &&
              (pass->in_stretch || mr_sparse_begin(&pass->sparse, thread));
    return ok ? MR_OK : mr_event_pass_no_memory(error);
}

/* Is the thread known to wait? One that has no event yet waits for nothing that anybody wants to
 * know. */
static bool is_waiting(const mr_event_pass *pass)
{
    uint32_t thread = pass->reader.thread;
    return pass->waiting.count && thread < pass->thread_count && pass->thread_of[thread] &&
           mr_waiting_waits(&pass->waiting, pass->thread_of[thread] - 1);
}

static bool note_waiting(mr_event_pass *pass, const uint64_t *record)
{
    uint32_t thread = pass->reader.thread;
    if (!mr_waiting_cares(&pass->waiting, record) || thread >= pass->thread_count ||
        !pass->thread_of[thread])
        return true;
    return mr_waiting_note(&pass->waiting, pass->thread_of[thread] - 1, thread, record);
}

/* The loose deref of the thread, unless the record may be a `free`: blocks.c knows. */
static mr_status settle_pointer(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    unsigned kind = mr_log_kind_of(record[0]);
    return kind == MR_LOG_TAKEN || kind == MR_LOG_END ? MR_OK
                                                      : mr_event_pass_pointer_loose(pass, error);
}

/* The end of the file, with what is known of the run. */
static mr_status finish(mr_event_pass *pass, mr_error *error)
{
    static const char *const schedules[] = {"random", "pct", "os"};
    mr_bytes *lines = &pass->positions.lines;
    const mr_log_header *header = &pass->log->header;
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, header->seed);
    mr_run_line(lines, "seed", text);
    if (header->schedule < sizeof schedules / sizeof *schedules)
        mr_run_line(lines, "schedule", schedules[header->schedule]);
    if (pass->run)
        mr_bytes_raw(lines, pass->run, strlen(pass->run));
    mr_bytes_raw(lines, "", 1);
    if (lines->failed)
        return mr_event_pass_no_memory(error);
    mr_mrt_writer_run(pass->emitter.writer, (const char *)lines->items);
    mr_mrt_writer_inputs(pass->emitter.writer, pass->inputs, pass->inputs_bytes);
    return mr_emitter_finish(&pass->emitter, error);
}

mr_status mr_event_pass_run(mr_event_pass *pass, const mr_progress *progress, mr_error *error)
{
    mr_status status = MR_OK;
    uint64_t count = 0, last = pass->scan->last_unit;
    const uint64_t *record;
    while (!status && pass->reader.next < last && !has_strange_units(pass)) {
        if (!mr_position_room(&pass->positions, pass->reader.thread))
            return mr_event_pass_no_memory(error);
        record = NULL;
        if (!is_waiting(pass))
            record = mr_event_pass_hurry(pass, last);
        else
            mr_jumper_settle(&pass->jumper, &pass->reader);
        if (!record && !(record = mr_log_next(&pass->reader)))
            break;
        uint32_t thread = pass->reader.thread;
        bool counts = mr_position_counts(&pass->positions, record);
        pass->events_before = pass->emitter.trace->event_count;
        pass->quiet_events = 0;
        status = note_waiting(pass, record) ? settle_pointer(pass, record, error)
                                            : mr_event_pass_no_memory(error);
        if (!status)
            status = handle_in_stretch(pass, record, error);
        bool ends = !pass->reader.range_done; /* a range in parts is one operation */
        if (!status && counts && ends && thread < pass->positions.count)
            pass->positions.of[thread]++;
        if (++count % RECORDS_A_TELL == 0)
            mr_progress_tell(progress, "writing", pass->reader.next, last);
    }
    if (!status && (pass->reader.failed || !mr_locals_finish(&pass->locals)))
        status = mr_event_pass_no_memory(error);
    mr_stop stop = pass->emitter.trace->ending.stop;
    if (!status && (stop == MR_STOP_DEADLOCK || stop == MR_STOP_TIMEOUT))
        status = mr_waiting_tell(pass, error);
    if (!status && !mr_thread_notes_tell(&pass->notes, pass->emitter.trace))
        status = mr_event_pass_no_memory(error);
    pass->summary.damaged = last < pass->log->unit_count || has_strange_units(pass);
    if (pass->summary.damaged)
        pass->emitter.trace->ending.stop = MR_STOP_DAMAGED;
    return status ? status : finish(pass, error);
}
