#include "waiting.h"

#include "base/memory.h"
#include "event_pass.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void mr_waiting_free(mr_waiting *waiting)
{
    free(waiting->threads);
    free(waiting->holders);
    *waiting = (mr_waiting){.count = 0};
}

bool mr_waiting_note(mr_waiting *waiting, uint32_t thread, uint32_t log_thread,
                     const uint64_t *record)
{
    void *threads = waiting->threads;
    bool waits = mr_log_kind_of(record[0]) == MR_LOG_BLOCKED;
    if (thread >= waiting->thread_count && !waits)
        return true;
    if (thread >= waiting->thread_count) {
        if (!mr_grow(&threads, &waiting->thread_capacity, thread + 1ull, sizeof *waiting->threads))
            return false;
        waiting->threads = threads;
        while (waiting->thread_count <= thread)
            waiting->threads[waiting->thread_count++] = (mr_waiting_thread){.waits = false};
    }
    mr_waiting_thread *own = &waiting->threads[thread];
    waiting->count += waits;
    waiting->count -= own->waits;
    own->waits = waits;
    own->log_thread = log_thread;
    if (waits)
        memcpy(own->record, record, sizeof own->record);
    return true;
}

bool mr_waiting_hold(mr_waiting *waiting, const mr_emitted *event, uint64_t number)
{
    void *holders = waiting->holders;
    if (event->operand >= waiting->holder_count) {
        if (!mr_grow(&holders, &waiting->holder_capacity, event->operand + 1ull,
                     sizeof *waiting->holders))
            return false;
        waiting->holders = holders;
        while (waiting->holder_count <= event->operand)
            waiting->holders[waiting->holder_count++] = (mr_lock_holder){.depth = 0};
    }
    mr_lock_holder *holder = &waiting->holders[event->operand];
    if (event->op == MR_OP_RELEASE || event->op == MR_OP_SHARED_RELEASE) {
        holder->depth -= holder->depth > 0;
        return true;
    }
    if (!holder->depth++ || event->op == MR_OP_SHARED_ACQUIRE) {
        holder->thread = event->thread;
        holder->location = event->location;
        holder->event = number;
    }
    return true;
}

const mr_lock_holder *mr_waiting_holder(const mr_waiting *waiting, uint32_t lock)
{
    return lock < waiting->holder_count && waiting->holders[lock].depth ? &waiting->holders[lock]
                                                                        : NULL;
}

/* ---- sentences ---- */

typedef struct sentence {
    char text[900];
    size_t length;
} sentence;

static void say(sentence *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(sentence *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(self->text + self->length, sizeof self->text - self->length, format, arguments);
    va_end(arguments);
    self->length += length > 0 ? (size_t)length : 0;
    if (self->length >= sizeof self->text)
        self->length = sizeof self->text - 1;
}

/* "left (T1)" */
static void say_thread(sentence *self, const mr_trace *trace, uint32_t thread)
{
    const char *name = trace->threads.items[thread].text;
    const char *text = mr_names_display(&trace->threads, thread);
    if (strcmp(name, text) != 0)
        say(self, "%.80s (%s)", text, name);
    else
        say(self, "%.80s", name);
}

static void say_place(sentence *self, const mr_trace *trace, const char *word, uint32_t location)
{
    say(self, " %s %.200s", word, mr_names_display(&trace->locations, location));
}

/* The lock or semaphore of a record; one that no event names gets its name now. */
static mr_status lock_of(mr_event_pass *pass, const uint64_t *record, uint32_t *lock,
                         mr_error *error)
{
    mr_object *object = mr_objects_of(&pass->objects, &pass->reader.lives, record);
    if (!object)
        return mr_event_pass_no_memory(error);
    size_t number = (size_t)(object - pass->objects.items);
    if (number < pass->scan->objects.table.count)
        return mr_event_pass_lock(pass, (uint32_t)number, lock, error);
    const mr_life *life = mr_lifetimes_find(&pass->reader.lives, object->address);
    return mr_naming_lock(&pass->naming, life, object, lock) ? MR_OK
                                                             : mr_event_pass_no_memory(error);
}

static const char *noun_of(unsigned role)
{
    switch (role) {
    case MR_LOG_ROLE_MUTEX:
        return "mutex";
    case MR_LOG_ROLE_SPIN:
        return "spin lock";
    case MR_LOG_ROLE_RWLOCK:
        return "read-write lock";
    case MR_LOG_ROLE_SEMAPHORE:
        return "semaphore";
    case MR_LOG_ROLE_WAKE:
        return "condition variable";
    case MR_LOG_ROLE_OWN:
        return "lock";
    default:
        return "barrier";
    }
}

/* The name without what tells the sleeps and uses of an object apart: "ready" of "ready.wake.2",
 * "gate" of "gate.3.out". */
static int name_length(const char *name, unsigned role)
{
    const char *end = NULL;
    if (role == MR_LOG_ROLE_WAKE)
        end = strstr(name, ".wake.");
    for (int dots = 0; role == MR_LOG_ROLE_BARRIER_OUT && dots < 2; dots++) {
        const char *before = end ? end : name + strlen(name);
        while (before > name && before[-1] != '.')
            before--;
        end = before > name ? before - 1 : NULL;
        if (!end)
            break;
    }
    return end ? (int)(end - name) : (int)strlen(name);
}

static mr_status say_object(mr_event_pass *pass, sentence *self, const uint64_t *record,
                            mr_error *error)
{
    const mr_trace *trace = pass->emitter.trace;
    unsigned role = mr_log_detail(record[0]);
    uint32_t lock = 0;
    mr_status status = lock_of(pass, record, &lock, error);
    if (status)
        return status;
    const char *name = mr_names_display(&trace->locks, lock);
    int length = name_length(name, role);
    say(self, "%s %.*s", noun_of(role), length < 200 ? length : 200, name);
    return MR_OK;
}

static void say_holder(mr_event_pass *pass, sentence *self, const uint64_t *record)
{
    const mr_trace *trace = pass->emitter.trace;
    const mr_waiting *waiting = &pass->waiting;
    uint32_t lock = 0;
    mr_error unused;
    unsigned role = mr_log_detail(record[0]);
    if ((role != MR_LOG_ROLE_MUTEX && role != MR_LOG_ROLE_SPIN && role != MR_LOG_ROLE_RWLOCK &&
         role != MR_LOG_ROLE_OWN) ||
        lock_of(pass, record, &lock, &unused) || lock >= waiting->holder_count ||
        !waiting->holders[lock].depth)
        return;
    say(self, ", held by ");
    say_thread(self, trace, waiting->holders[lock].thread);
    say_place(self, trace, "since", waiting->holders[lock].location);
}

static mr_status tell_one(mr_event_pass *pass, uint32_t thread, mr_error *error)
{
    mr_trace *trace = pass->emitter.trace;
    const uint64_t *record = pass->waiting.threads[thread].record;
    sentence self = {.length = 0};
    mr_emitted event = {.op = MR_OP_WAIT};
    uint32_t other = 0;
    mr_status status = MR_OK;
    pass->reader.thread = pass->waiting.threads[thread].log_thread;
    status = mr_event_pass_place(pass, record, &event, error);
    if (status)
        return status;
    say_thread(&self, trace, event.thread);
    say(&self, " waits for ");
    if (mr_log_detail(record[0]) != MR_LOG_ROLE_NONE) {
        status = say_object(pass, &self, record, error);
    } else {
        status = mr_event_pass_thread(pass, (uint32_t)record[2], &other, error);
        if (!status) {
            say(&self, "the end of ");
            say_thread(&self, trace, other);
        }
    }
    if (status)
        return status;
    say_place(&self, trace, "at", event.location);
    say_holder(pass, &self, record);
    return mr_ending_add_detail(&trace->ending, self.text, self.length)
               ? MR_OK
               : mr_event_pass_no_memory(error);
}

mr_status mr_waiting_tell(mr_event_pass *pass, mr_error *error)
{
    mr_status status = MR_OK;
    for (size_t i = 0; i < pass->waiting.thread_count && !status; i++) {
        unsigned role = mr_log_detail(pass->waiting.threads[i].record[0]);
        if (pass->waiting.threads[i].waits &&
            (role <= MR_LOG_ROLE_BARRIER_OUT || role == MR_LOG_ROLE_OWN))
            status = tell_one(pass, (uint32_t)i, error);
    }
    return status;
}
