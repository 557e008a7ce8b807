#include "order_events.h"

/*
 * The number of a descriptor is a variable that is 1 while it is in use: who is given it sees 0. So
 * no reordering gives it to two at once, and it may go to them in another order. One that was
 * closed unseen is given without a look.
 */
static mr_status number_event(mr_event_pass *pass, const uint64_t *record, bool closed,
                              mr_error *error)
{
    mr_object *object = mr_objects_of(&pass->objects, &pass->reader.lives, record);
    if (!object)
        return mr_event_pass_no_memory(error);
    if (pass->scan->objects.items[object - pass->objects.items].user != MR_OBJECT_SHARED)
        return MR_OK;
    mr_emitted event = {.has_value = true, .written_value = !closed};
    mr_status status = mr_event_pass_object(pass, record, object, &event, error);
    if (status)
        return status;
    event.op = closed || object->units ? MR_OP_ATOMIC_WRITE : MR_OP_ATOMIC_UPDATE;
    if (event.op == MR_OP_ATOMIC_WRITE)
        event.value = event.written_value;
    object->units = !closed;
    return mr_emitter_add(&pass->emitter, &event, error);
}

/* Do several threads name the object? */
static bool is_shared(const mr_event_pass *pass, const mr_object *object)
{
    return pass->scan->objects.items[object - pass->objects.items].user == MR_OBJECT_SHARED;
}

/*
 * A variable is 1 or 0. It is 1 when a thread was cancelled: by the first of several, whichever that is. The thread
 * sees 1 where it acts on that, and 0 in the cancellation points before. It is 1 while an eventfd has something to
 * read: a write sets it, a read that takes all sets it to 0, a wait that finds it ready sees 1, from whichever write. It is
 * 1 when a thread has ended: a join that gives up sees 0.
 */
static mr_status flag_event(mr_event_pass *pass, const uint64_t *record, bool before,
                            mr_error *error)
{
    _Static_assert((int)MR_LOG_NOT_CANCELLED == (int)MR_LOG_NOT_READY, "one count says no");
    _Static_assert((int)MR_LOG_NOT_ENDED == (int)MR_LOG_NOT_READY, "one count says no");
    bool is_set = mr_log_count(record[1]) != MR_LOG_NOT_READY;
    mr_emitted event = {
        .op = before ? MR_OP_ATOMIC_WRITE : MR_OP_ATOMIC_READ, .has_value = true, .value = is_set};
    mr_object *object = mr_objects_of(&pass->objects, &pass->reader.lives, record);
    if (object && !is_shared(pass, object))
        return MR_OK;
    mr_status status = mr_event_pass_object(pass, record, object, &event, error);
    return status ? status : mr_emitter_add(&pass->emitter, &event, error);
}

/* Does the record see whether others have closed the channel or written to it, or sent the signal, even when none of them has? */
static bool sees_none(const mr_object *object, const uint64_t *record)
{
    return (object->role == MR_LOG_ROLE_CHANNEL || object->role == MR_LOG_ROLE_SIGNAL) &&
           mr_log_count(record[1]) == MR_LOG_NOT_YET;
}

/* Does the record take what others ask for, whether it is there? Then it changes what they see. */
static bool takes_signal(const mr_event_pass *pass, const mr_object *object, const uint64_t *record)
{
    return object->role == MR_LOG_ROLE_SIGNAL && mr_log_count(record[1]) != MR_LOG_NOT_YET &&
           pass->scan->objects.items[object - pass->objects.items].is_tried;
}

/* Will several threads know of it, and one of them write? Reads from a channel that are all LIKE (mr_log_taking) count when it
 * matters how many there were: something was found empty or full. */
static bool is_used_later(const mr_event_pass *pass, const mr_object *object)
{
    const mr_object *all = &pass->scan->objects.items[object - pass->objects.items];
    bool is_written = all->units || (mr_object_is_taking(all) && all->is_tried && all->waits);
    return is_written && is_shared(pass, object);
}

/* How much was written so far of what the object stands for, which may not be there yet. */
static uint64_t units_at(const mr_event_pass *pass, uint32_t number)
{
    return number < pass->objects.table.count ? pass->objects.items[number].units : 0;
}

/* The first of the writers of a channel that have an object of their own, + 1; they may come later. 0: there are none. */
static uint32_t writers_of(const mr_event_pass *pass, const mr_object *object)
{
    return mr_object_is_channel(object)
               ? pass->scan->objects.items[object - pass->objects.items].writer
               : 0;
}

/* Has any of them written? */
static bool have_written(const mr_event_pass *pass, uint32_t writer)
{
    while (writer && !units_at(pass, writer - 1))
        writer = pass->scan->objects.items[writer - 1].writer;
    return writer != 0;
}

/* What the record reads, or writes in order, comes after what these wrote so far, and before what they write later. */
static mr_status after_writers(mr_event_pass *pass, const uint64_t *record, uint32_t writer,
                               mr_error *error)
{
    mr_status status = MR_OK;
    for (; writer && !status; writer = pass->scan->objects.items[writer - 1].writer) {
        mr_emitted event = {.op = MR_OP_ATOMIC_READ,
                            .has_value = true,
                            .value = (int64_t)units_at(pass, writer - 1)};
        status = mr_event_pass_numbered(pass, record, writer - 1, &event, error);
        if (!status)
            status = mr_emitter_add(&pass->emitter, &event, error);
    }
    return status;
}

mr_status mr_event_pass_order(mr_event_pass *pass, const uint64_t *record, bool before,
                              mr_error *error)
{
    static const mr_piece none; /* no piece of the program: the read is of an order */
    if (mr_log_is_nothing(record))
        return MR_OK;
    if (mr_log_detail(record[0]) == MR_LOG_ROLE_NUMBER)
        return number_event(pass, record, before, error);
    if (mr_log_detail(record[0]) == MR_LOG_ROLE_CANCEL ||
        mr_log_detail(record[0]) == MR_LOG_ROLE_READY ||
        mr_log_detail(record[0]) == MR_LOG_ROLE_ENDED)
        return flag_event(pass, record, before, error);
    mr_emitted event = {.op = before ? MR_OP_ATOMIC_UPDATE : MR_OP_ATOMIC_READ, .has_value = true};
    mr_object *object =
        mr_objects_written(&pass->objects, &pass->reader.lives, record, pass->reader.thread);
    mr_status status = mr_event_pass_object(pass, record, object, &event, error);
    if (status)
        return status;
    if (takes_signal(pass, object, record)) {
        event.op = MR_OP_ATOMIC_UPDATE;
        before = true;
    }
    uint32_t writer = writers_of(pass, object);
    bool sees = before || object->units || sees_none(object, record) || have_written(pass, writer);
    if (!sees || (status = after_writers(pass, record, writer, error)) != MR_OK)
        return status;
    if (!before && !object->units && !is_used_later(pass, object))
        return MR_OK;
    if (mr_object_is_taking(object) && !is_used_later(pass, object))
        return MR_OK;
    mr_repeat read = {.piece = &none,
                      .head = record[0],
                      .code = mr_log_code(record[1]),
                      .version = (uint32_t)object->units};
    if (!before && pass->emitter.trace->event_count == pass->events_before &&
        mr_repeats_has(&pass->repeats, pass->reader.thread, &read))
        return MR_OK;
    if (!before)
        pass->read = read;
    event.value = (int64_t)object->units;
    object->units += before;
    event.written_value = (int64_t)object->units;
    return mr_emitter_add(&pass->emitter, &event, error);
}
