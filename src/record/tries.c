#include "tries.h"

/* Sets variable and place of the event. */
static mr_status set_variable(mr_event_pass *pass, const uint64_t *record, mr_object *object,
                              mr_emitted *event, mr_error *error)
{
    const mr_life *life = mr_lifetimes_find(&pass->reader.lives, object->address);
    uint32_t variable;
    if (!object->state) {
        if (!mr_naming_state(&pass->naming, life, object, &variable))
            return mr_event_pass_no_memory(error);
        object->state = variable + 1;
    }
    event->operand = object->state - 1;
    mr_local_use use = {life, object->address, mr_naming_object_bytes(object->role),
                        pass->reader.thread};
    return mr_locals_note_variable(&pass->locals, event->operand, &use)
               ? mr_event_pass_place(pass, record, event, error)
               : mr_event_pass_no_memory(error);
}

mr_status mr_event_pass_state(mr_event_pass *pass, const uint64_t *record, mr_object *object,
                              int64_t held, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_ATOMIC_UPDATE, .memory_order = MR_ORDER_RLX, .has_value = true};
    if (!object || object->held == held || pass->scan->ordered.on ||
        !pass->scan->objects.items[object - pass->objects.items].is_tried)
        return MR_OK;
    if (object->role != MR_LOG_ROLE_SEMAPHORE && object->held <= 1 && held <= 1) {
        event.op = MR_OP_ATOMIC_WRITE;
        event.value = held;
    } else {
        event.value = object->held;
        event.written_value = held;
    }
    object->held = held;
    mr_status status = set_variable(pass, record, object, &event, error);
    return status ? status : mr_emitter_add(&pass->emitter, &event, error);
}

/* Does the state say why the try failed? */
static bool explains(const mr_object *object, unsigned count)
{
    if (object->role == MR_LOG_ROLE_SEMAPHORE)
        return object->held == 0;
    return count == MR_LOG_USED_BUSY_SHARED ? object->held == 1 : object->held != 0;
}

mr_status mr_event_pass_failed_try(mr_event_pass *pass, const uint64_t *record,
                                   const mr_user_state *state, mr_error *error)
{
    static const mr_piece none; /* no piece of the program: the read is of a state */
    mr_object *object = mr_objects_of(&pass->objects, &pass->reader.lives, record);
    uint32_t thread = pass->reader.thread;
    mr_emitted event = {.op = MR_OP_ATOMIC_READ, .memory_order = MR_ORDER_RLX, .has_value = true};
    if (!object)
        return mr_event_pass_no_memory(error);
    bool is_own = state && state->holder == thread + 1;
    if (pass->scan->ordered.on || is_own || !explains(object, mr_log_count(record[1])))
        return MR_OK;
    mr_repeat read = {.piece = &none,
                      .head = record[0],
                      .code = mr_log_code(record[1]),
                      .version = (uint32_t)(object - pass->objects.items)};
    if (pass->emitter.trace->event_count == pass->events_before &&
        mr_repeats_has(&pass->repeats, thread, &read))
        return MR_OK;
    event.value = object->held;
    mr_status status = set_variable(pass, record, object, &event, error);
    if (!status)
        status = mr_emitter_add(&pass->emitter, &event, error);
    pass->read = read;
    return status;
}
