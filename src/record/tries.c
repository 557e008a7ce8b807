#include "tries.h"

typedef enum owner { OWNER_LIVES, OWNER_DIED, OWNER_LOST } owner;

/* Sets variable, the one for the owner or that for the state, and place of the event. */
static mr_status set_variable(mr_event_pass *pass, const uint64_t *record, mr_object *object,
                              bool of_owner, mr_emitted *event, mr_error *error)
{
    const mr_life *life = mr_lifetimes_find(&pass->reader.lives, object->address);
    uint32_t variable, *number = of_owner ? &object->owner : &object->state;
    if (!*number) {
        if (!mr_naming_state(&pass->naming, life, object, of_owner, &variable))
            return mr_event_pass_no_memory(error);
        *number = variable + 1;
    }
    event->operand = *number - 1;
    mr_local_use use = {life, object->address, mr_naming_object_bytes(object->role, object->number),
                        pass->reader.thread};
    return mr_locals_note_variable(&pass->locals, event->operand, &use)
               ? mr_event_pass_place(pass, record, event, error)
               : mr_event_pass_no_memory(error);
}

static mr_status emit(mr_event_pass *pass, const uint64_t *record, mr_object *object, bool of_owner,
                      mr_emitted *event, mr_error *error)
{
    event->has_value = true;
    mr_status status = set_variable(pass, record, object, of_owner, event, error);
    return status ? status : mr_emitter_add(&pass->emitter, event, error);
}

mr_status mr_event_pass_state(mr_event_pass *pass, const uint64_t *record, mr_object *object,
                              int64_t held, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_ATOMIC_UPDATE, .memory_order = MR_ORDER_RLX};
    if (!object || object->held == held || mr_scan_is_for_shb(pass->scan) ||
        !pass->scan->objects.items[object - pass->objects.items].is_tried)
        return MR_OK;
    bool is_units = object->role == MR_LOG_ROLE_UNITS;
    bool is_semaphore = is_units || object->role == MR_LOG_ROLE_SEMAPHORE;
    if (!is_semaphore && object->held <= 1 && held <= 1) {
        event.op = MR_OP_ATOMIC_WRITE;
        event.value = held;
    } else {
        if (is_units) /* who waits for zero comes after who takes the last unit */
            event.memory_order = MR_ORDER_ACQREL;
        else if (is_semaphore && held > object->held)
            event.memory_order = MR_ORDER_REL;
        event.value = object->held;
        event.written_value = held;
    }
    object->held = held;
    return emit(pass, record, object, false, &event, error);
}

static mr_status set_owner(mr_event_pass *pass, const uint64_t *record, mr_object *object,
                           owner value, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_ATOMIC_WRITE,
                        .memory_order = value == OWNER_LOST ? MR_ORDER_REL : MR_ORDER_RLX,
                        .value = value};
    if (object->death == value)
        return MR_OK;
    object->death = value;
    return emit(pass, record, object, true, &event, error);
}

mr_status mr_event_pass_owner(mr_event_pass *pass, const uint64_t *record, mr_object *object,
                              const mr_user_state *state, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_ATOMIC_READ, .memory_order = MR_ORDER_RLX};
    unsigned count = mr_log_count(record[1]);
    if (!object || mr_scan_is_for_shb(pass->scan) ||
        !pass->scan->objects.items[object - pass->objects.items].is_orphan)
        return MR_OK;
    if (mr_log_kind_of(record[0]) == MR_LOG_RELEASE) {
        if (count == MR_LOG_BY_END)
            return set_owner(pass, record, object, OWNER_DIED, error);
        bool is_over = object->death == OWNER_DIED && state && !state->holder;
        return is_over ? set_owner(pass, record, object, OWNER_LOST, error) : MR_OK;
    }
    bool died = (count & MR_LOG_OWNER_DIED) != 0;
    if (object->death == OWNER_LOST || died != (object->death == OWNER_DIED))
        return MR_OK; /* in another process, or an inner acquire */
    event.value = object->death;
    return emit(pass, record, object, true, &event, error);
}

/* What happened to the owner is told by itself: it was made good, or it is lost. */
static mr_status owner_is_told(mr_event_pass *pass, const uint64_t *record, mr_object *object,
                               mr_error *error)
{
    mr_emitted event = {.op = MR_OP_ATOMIC_READ, .memory_order = MR_ORDER_ACQ, .value = OWNER_LOST};
    if (!pass->scan->objects.items[object - pass->objects.items].is_orphan)
        return MR_OK;
    if (mr_log_count(record[1]) == MR_LOG_USED_CONSISTENT)
        return set_owner(pass, record, object, OWNER_LIVES, error);
    return object->death == OWNER_LOST ? emit(pass, record, object, true, &event, error) : MR_OK;
}

/* Does the state say what the program was told? */
static bool explains(const mr_object *object, unsigned count)
{
    if (count == MR_LOG_USED_ASKED || object->role == MR_LOG_ROLE_SEMAPHORE)
        return count == MR_LOG_USED_ASKED || object->held == 0;
    return count == MR_LOG_USED_BUSY_SHARED ? object->held == 1 : object->held != 0;
}

mr_status mr_event_pass_told(mr_event_pass *pass, const uint64_t *record,
                             const mr_user_state *state, mr_error *error)
{
    static const mr_piece none; /* no piece of the program: the read is of a state */
    mr_object *object = mr_objects_of(&pass->objects, &pass->reader.lives, record);
    uint32_t thread = pass->reader.thread;
    unsigned count = mr_log_count(record[1]);
    mr_emitted event = {.op = MR_OP_ATOMIC_READ,
                        .memory_order = count == MR_LOG_USED_ASKED ? MR_ORDER_ACQ : MR_ORDER_RLX};
    if (!object)
        return mr_event_pass_no_memory(error);
    if (mr_scan_is_for_shb(pass->scan))
        return MR_OK;
    if (mr_tries_is_of_owner(record))
        return owner_is_told(pass, record, object, error);
    bool is_own = state && state->holder == thread + 1;
    if (is_own || !explains(object, count))
        return MR_OK;
    mr_repeat read = {.piece = &none,
                      .head = record[0],
                      .code = mr_log_code(record[1]),
                      .version = (uint32_t)(object - pass->objects.items)};
    bool may_repeat = count != MR_LOG_USED_ASKED;
    if (may_repeat && pass->emitter.trace->event_count == pass->events_before &&
        mr_repeats_has(&pass->repeats, thread, &read))
        return MR_OK;
    event.value = object->held;
    mr_status status = emit(pass, record, object, false, &event, error);
    if (may_repeat)
        pass->read = read;
    return status;
}
