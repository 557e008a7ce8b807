#include "event_pass.h"

#include "base/memory.h"
#include "base/progress.h"

#include <stdlib.h>

enum { RECORDS_A_TELL = 1 << 16 };

mr_status mr_event_pass_no_memory(mr_error *error)
{
    return mr_error_memory(error, "converting the log");
}

mr_status mr_event_pass_init(mr_event_pass *second, const mr_log *log, mr_scan *scan, FILE *file,
                             const char *name, mr_error *error)
{
    *second = (mr_event_pass){.log = log, .scan = scan};
    mr_log_pass_init(&second->pass, log);
    mr_status status = mr_emitter_init(&second->emitter, file, name, error);
    if (status)
        return status;
    second->symbols = mr_symbols_new();
    second->lock_of = mr_calloc(scan->objects.table.count + 1ull, sizeof *second->lock_of);
    if (!second->symbols || !second->lock_of)
        return mr_event_pass_no_memory(error);
    second->contexts.symbols = second->naming.symbols = second->symbols;
    second->contexts.trace = second->naming.trace = second->emitter.trace;
    second->locals = (mr_locals){
        .symbols = second->symbols, .contexts = &second->contexts, .trace = second->emitter.trace};
    mr_names_init(&second->locals.names);
    return MR_OK;
}

void mr_event_pass_free(mr_event_pass *second)
{
    void *const blocks[] = {second->lock_of,      second->thread_of,  second->given_at,
                            second->atomic_locks, second->call_names, second->reach};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    mr_log_pass_free(&second->pass);
    mr_locals_free(&second->locals);
    mr_contexts_free(&second->contexts);
    mr_emitter_free(&second->emitter);
    mr_symbols_free(second->symbols);
    mr_objects_free(&second->objects);
    mr_pairs_free(&second->contents);
    mr_pairs_free(&second->atomics);
    mr_pairs_free(&second->calls);
}

/* Gives an array a zero for every number up to `need`. */
static bool fill(uint32_t **array, size_t *capacity, size_t *count, size_t need)
{
    void *grown = *array;
    if (!mr_grow(&grown, capacity, need, sizeof **array))
        return false;
    *array = grown;
    while (*count < need)
        (*array)[(*count)++] = 0;
    return true;
}

/* The thread of the trace. */
static mr_status thread_of(mr_event_pass *second, uint32_t thread, uint32_t *number,
                           mr_error *error)
{
    if (thread > MR_LOG_THREADS_MAX)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the log has no thread %u", thread);
    if (thread >= second->thread_count &&
        !fill(&second->thread_of, &second->thread_capacity, &second->thread_count, thread + 1ull))
        return mr_event_pass_no_memory(error);
    uint32_t *kept = &second->thread_of[thread];
    if (!*kept) {
        if (!mr_naming_thread(&second->naming, thread, number))
            return mr_event_pass_no_memory(error);
        *kept = *number + 1;
    }
    *number = *kept - 1;
    return MR_OK;
}

mr_status mr_event_pass_place(mr_event_pass *second, const uint64_t *record, mr_emitted *event,
                              mr_error *error)
{
    mr_status status = thread_of(second, second->pass.thread, &event->thread, error);
    if (!status && (!mr_contexts_stack(&second->contexts, second->pass.thread,
                                       mr_log_code(record[1]), &event->stack) ||
                    !mr_contexts_location(&second->contexts, event->stack, &event->location)))
        status = mr_event_pass_no_memory(error);
    return status;
}

mr_status mr_event_pass_lock(mr_event_pass *second, uint32_t object, uint32_t *lock,
                             mr_error *error)
{
    const mr_object *found = &second->scan->objects.items[object];
    if (!second->lock_of[object]) {
        const mr_life *life = mr_lifetimes_find(&second->pass.lives, found->address);
        bool ok = mr_object_orders(found->role)
                      ? mr_naming_order(&second->naming, life, found, lock)
                      : mr_naming_lock(&second->naming, life, found, lock);
        if (!ok)
            return mr_event_pass_no_memory(error);
        second->lock_of[object] = *lock + 1;
    }
    *lock = second->lock_of[object] - 1;
    return MR_OK;
}

/* An event that names the lock, semaphore or order of the record. */
static mr_status object_event(mr_event_pass *second, const uint64_t *record,
                              const mr_object *object, mr_emitted *event, mr_error *error)
{
    if (!object)
        return mr_event_pass_no_memory(error);
    uint32_t number = (uint32_t)(object - second->objects.items);
    mr_status status = mr_event_pass_lock(second, number, &event->operand, error);
    if (status)
        return status;
    mr_local_use use = {mr_lifetimes_find(&second->pass.lives, object->address), object->address,
                        mr_naming_object_bytes(object->role), second->pass.thread};
    bool ok = mr_object_orders(object->role)
                  ? mr_locals_note_variable(&second->locals, event->operand, &use)
                  : mr_locals_note_lock(&second->locals, event->operand, &use);
    return ok ? mr_event_pass_place(second, record, event, error) : mr_event_pass_no_memory(error);
}

static mr_status lock_event(mr_event_pass *second, const uint64_t *record, mr_op op,
                            mr_error *error)
{
    mr_emitted event = {.op = op};
    mr_object *object = mr_objects_of(&second->objects, &second->pass.lives, record);
    mr_status status = object_event(second, record, object, &event, error);
    return status ? status : mr_emitter_add(&second->emitter, &event, error);
}

/* Posts and waits; a unit that nobody of this process gave is given just before it is taken, which
 * orders nothing. */
static mr_status unit_events(mr_event_pass *second, const uint64_t *record, mr_op op,
                             mr_error *error)
{
    mr_emitted event = {.op = op}, inferred;
    mr_object *object = mr_objects_of(&second->objects, &second->pass.lives, record);
    mr_status status = object_event(second, record, object, &event, error);
    inferred = event;
    inferred.op = MR_OP_POST;
    unsigned count = mr_log_count(record[1]);
    for (unsigned i = 0; i < (count ? count : 1) && !status; i++) {
        if (op == MR_OP_POST) {
            object->units++;
        } else if (object->units) {
            object->units--;
        } else {
            second->summary.inferred_posts++;
            status = mr_emitter_add(&second->emitter, &inferred, error);
        }
        if (!status)
            status = mr_emitter_add(&second->emitter, &event, error);
    }
    return status;
}

/* An annotated order, a pipe, a signal: "before" counts, "after" sees the count. */
static mr_status order_event(mr_event_pass *second, const uint64_t *record, bool before,
                             mr_error *error)
{
    mr_emitted event = {.op = before ? MR_OP_ATOMIC_UPDATE : MR_OP_ATOMIC_READ, .has_value = true};
    mr_object *object = mr_objects_of(&second->objects, &second->pass.lives, record);
    mr_status status = object_event(second, record, object, &event, error);
    if (status || (!before && !object->units))
        return status;
    event.value = (int64_t)object->units;
    object->units += before;
    event.written_value = (int64_t)object->units;
    return mr_emitter_add(&second->emitter, &event, error);
}

static mr_status thread_event(mr_event_pass *second, const uint64_t *record, mr_op op,
                              mr_error *error)
{
    mr_emitted event = {.op = op};
    mr_status status = mr_event_pass_place(second, record, &event, error);
    if (!status && (op == MR_OP_FORK || op == MR_OP_JOIN))
        status = thread_of(second, (uint32_t)record[2], &event.operand, error);
    if (!status)
        status = mr_emitter_add(&second->emitter, &event, error);
    if (!status && op == MR_OP_BEGIN &&
        !mr_naming_thread_start(&second->naming, event.thread, mr_log_payload(record[0])))
        status = mr_event_pass_no_memory(error);
    return status;
}

/* Notes where the memory was given. */
static mr_status given(mr_event_pass *second, const uint64_t *record, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_WRITE};
    mr_life *life = mr_lifetimes_find(&second->pass.lives, mr_log_payload(record[0]));
    unsigned kind = mr_log_detail(record[0]);
    if (!life->number || (kind != MR_LOG_MEMORY_HEAP && kind != MR_LOG_MEMORY_MAP))
        return MR_OK;
    mr_status status = mr_event_pass_place(second, record, &event, error);
    if (status)
        return status;
    if (!fill(&second->given_at, &second->given_capacity, &second->given_count,
              event.location + 1ull))
        return mr_event_pass_no_memory(error);
    life->site = event.location;
    life->ordinal = second->given_at[event.location]++;
    return MR_OK;
}

static void forget_code(mr_event_pass *second)
{
    mr_contexts_forget(&second->contexts);
    mr_locals_forget(&second->locals);
}

static mr_status map_module(mr_event_pass *second, const uint64_t *record, mr_error *error)
{
    const mr_log_module *module = (const void *)record;
    const char *path = (const char *)(module + 1);
    size_t room = mr_log_payload(record[0]) * sizeof *record;
    if (room <= sizeof *module || !memchr(path, '\0', room - sizeof *module))
        return MR_OK;
    forget_code(second);
    size_t id_bytes = (size_t)module->build_id_bytes;
    return mr_symbols_map(second->symbols, path, module->bias, module->start, module->end,
                          module->build_id, id_bytes <= sizeof module->build_id ? id_bytes : 0)
               ? MR_OK
               : mr_event_pass_no_memory(error);
}

/* The text of a THREAD_NAME or CALL_NAME, after its number; what is no character is replaced. */
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

static mr_status name_thread(mr_event_pass *second, const uint64_t *record, mr_error *error)
{
    char text[64];
    uint32_t thread = 0;
    read_text(record, text, sizeof text);
    if (mr_log_payload(record[0]) < 2 || !text[0])
        return MR_OK;
    mr_status status = thread_of(second, (uint32_t)record[1], &thread, error);
    if (!status && !mr_names_set_display(&second->emitter.trace->threads, thread, text,
                                         (uint32_t)strlen(text)))
        status = mr_event_pass_no_memory(error);
    return status;
}

static mr_status code_record(mr_event_pass *second, const uint64_t *record, mr_error *error)
{
    uint64_t payload = mr_log_payload(record[0]);
    bool ok = true;
    switch ((mr_log_kind)mr_log_kind_of(record[0])) {
    case MR_LOG_ENTER:
        ok = mr_contexts_enter(&second->contexts, second->pass.thread, payload,
                               &(mr_frame_place){record[1], record[2], record[3]});
        break;
    case MR_LOG_LEAVE:
        ok = mr_contexts_leave(&second->contexts, second->pass.thread, payload);
        break;
    case MR_LOG_MODULE:
        return map_module(second, record, error);
    case MR_LOG_UNLOAD:
        forget_code(second);
        mr_symbols_unmap(second->symbols, payload);
        break;
    case MR_LOG_RETIRED:
        ok = mr_objects_retire(&second->objects, &second->pass.lives, payload);
        break;
    case MR_LOG_CALL_NAME:
        read_text(record, second->call_name, sizeof second->call_name);
        break;
    default:
        break;
    }
    return ok ? MR_OK : mr_event_pass_no_memory(error);
}

static mr_status handle(mr_event_pass *second, const uint64_t *record, mr_error *error)
{
    mr_log_kind kind = (mr_log_kind)mr_log_kind_of(record[0]);
    if (mr_log_is_access(kind) || mr_log_is_range(kind))
        return mr_event_pass_access(second, record, error);
    switch (kind) {
    case MR_LOG_ACQUIRE:
        return lock_event(second, record, MR_OP_ACQUIRE, error);
    case MR_LOG_RELEASE:
        return lock_event(second, record, MR_OP_RELEASE, error);
    case MR_LOG_SHARED_ACQUIRE:
        return lock_event(second, record, MR_OP_SHARED_ACQUIRE, error);
    case MR_LOG_SHARED_RELEASE:
        return lock_event(second, record, MR_OP_SHARED_RELEASE, error);
    case MR_LOG_POST:
        return unit_events(second, record, MR_OP_POST, error);
    case MR_LOG_WAIT:
        return unit_events(second, record, MR_OP_WAIT, error);
    case MR_LOG_FORK:
        return thread_event(second, record, MR_OP_FORK, error);
    case MR_LOG_JOIN:
        return thread_event(second, record, MR_OP_JOIN, error);
    case MR_LOG_BEGIN:
        return thread_event(second, record, MR_OP_BEGIN, error);
    case MR_LOG_END:
        return thread_event(second, record, MR_OP_END, error);
    case MR_LOG_GIVEN:
        return given(second, record, error);
    case MR_LOG_CALL_BEGIN:
        return mr_event_pass_call_begin(second, record, error);
    case MR_LOG_CALL_REACH:
        return mr_event_pass_call_reach(second, record, error);
    case MR_LOG_CALL_END:
        return mr_event_pass_call_end(second, record, error);
    case MR_LOG_BEFORE:
        return order_event(second, record, true, error);
    case MR_LOG_AFTER:
        return order_event(second, record, false, error);
    case MR_LOG_THREAD_NAME:
        return name_thread(second, record, error);
    default:
        return code_record(second, record, error);
    }
}

mr_status mr_event_pass_run(mr_event_pass *second, const mr_progress *progress, mr_error *error)
{
    mr_status status = MR_OK;
    uint64_t count = 0, last = second->scan->last_unit;
    const uint64_t *record;
    while (!status && second->pass.next < last && (record = mr_log_next(&second->pass))) {
        status = handle(second, record, error);
        if (++count % RECORDS_A_TELL == 0)
            mr_progress_tell(progress, "writing", second->pass.next, last);
    }
    if (!status && (second->pass.failed || !mr_locals_finish(&second->locals)))
        status = mr_event_pass_no_memory(error);
    second->summary.damaged = last < second->log->unit_count;
    return status ? status : mr_emitter_finish(&second->emitter, error);
}
