#include "naming.h"

#include "runtime/log.h"
#include "trace/stacks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { NAME_BYTES = 4096 };

static void add(char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *name, const char *format, ...)
{
    size_t used = strlen(name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name + used, NAME_BYTES - used, format, arguments);
    va_end(arguments);
}

/* Replaces characters that a name cannot have. */
static void clean(char *name)
{
    for (char *at = name; *at; at++) {
        if (*at == '(')
            *at = '{';
        else if (*at == ')')
            *at = '}';
        else if ((unsigned char)*at <= ' ' || *at == '|' || *at == '=' || *at == ',' ||
                 *at == '*' || *at == 0x7F)
            *at = '_';
    }
}

/* Adds the name; when it is taken, the name with "#2", "#3", … behind it. */
static bool add_name(mr_names *names, char *name, uint32_t *number)
{
    uint32_t taken;
    clean(name);
    size_t length = strlen(name);
    for (uint32_t i = 2; mr_names_find(names, name, (uint32_t)strlen(name), &taken); i++)
        snprintf(name + length, NAME_BYTES - length, "#%" PRIu32, i);
    return mr_names_add(names, name, (uint32_t)strlen(name), number);
}

/* "bank.c:12:20#3": the place in the program, also where a library has allocated the block for it. */
static void name_block(const mr_naming *naming, const mr_life *life, char *name)
{
    const mr_name *site = &naming->trace->locations.items[life->site];
    size_t used = strlen(name);
    size_t own = mr_location_own_at(site->text, site->length);
    for (size_t i = own; i < site->length && used + 1 < NAME_BYTES / 2; i++)
        if (site->text[i] != ' ')
            name[used++] = site->text[i];
    name[used] = '\0';
    add(name, "#%" PRIu32, life->ordinal + 1);
}

static void name_stack(const mr_life *life, uint64_t address, char *name)
{
    add(name, "T%" PRIu32 ".stack-%" PRIu64, life->thread, life->bytes - (address - life->origin));
}

uint32_t mr_naming_stack_bytes(const mr_life *life, uint64_t address)
{
    char name[NAME_BYTES] = "";
    name_stack(life, address, name);
    return (uint32_t)strlen(name);
}

/* Gives the type, too, where the debug information says it, unless `type` is NULL. */
static void name_memory(const mr_naming *naming, const mr_life *life, uint64_t address,
                        uint64_t bytes, char *name, const char **type)
{
    uint64_t offset = address - life->origin;
    name[0] = '\0';
    if (type)
        *type = NULL;
    if (!life->number && address >= MR_LOG_DESCRIPTORS_AT) {
        add(name, "descriptor.%" PRIu64,
            (address - MR_LOG_DESCRIPTORS_AT) / MR_LOG_DESCRIPTOR_BYTES);
        return;
    }
    if (!life->number) {
        if (!mr_symbols_data(naming->symbols, address, bytes, name, NAME_BYTES / 2, type))
            add(name, "0x%" PRIx64, address);
        return;
    }
    switch ((mr_log_memory)life->kind) {
    case MR_LOG_MEMORY_STACK:
        name_stack(life, address, name);
        return;
    case MR_LOG_MEMORY_HEAP:
    case MR_LOG_MEMORY_MAP:
        break;
    }
    name_block(naming, life, name);
    if (offset)
        add(name, "+%" PRIu64, offset);
}

bool mr_naming_variable(mr_naming *naming, const mr_life *life, uint64_t address, uint64_t bytes,
                        uint32_t *variable)
{
    char name[NAME_BYTES];
    const char *type;
    mr_trace *trace = naming->trace;
    name_memory(naming, life, address, bytes, name, &type);
    return add_name(&trace->variables, name, variable) &&
           (!type ||
            mr_value_types_set_text(&trace->types, *variable, type, (uint32_t)strlen(type)));
}

bool mr_naming_shadow(mr_naming *naming, const mr_life *life, uint64_t address, uint64_t bytes,
                      uint32_t *variable)
{
    char name[NAME_BYTES];
    name_memory(naming, life, address, bytes, name, NULL);
    add(name, ".ignored");
    return add_name(&naming->trace->variables, name, variable);
}

bool mr_naming_alive(mr_naming *naming, uint32_t object, uint32_t *variable)
{
    char name[NAME_BYTES] = "";
    add(name, "%.*s.alive", NAME_BYTES / 2, naming->trace->objects.items[object].text);
    return add_name(&naming->trace->variables, name, variable);
}

bool mr_naming_block(mr_naming *naming, const mr_life *life, uint64_t address, uint32_t *object)
{
    char name[NAME_BYTES] = "";
    if (life->kind == MR_LOG_MEMORY_STACK)
        add(name, "T%" PRIu32 ".stack", life->thread);
    else
        name_memory(naming, life, address, 1, name, NULL);
    return add_name(&naming->trace->objects, name, object);
}

uint64_t mr_naming_object_bytes(uint8_t role, uint64_t number)
{
    enum { MUTEX = 40, RWLOCK = 56, CONDITION = 48, SEMAPHORE = 32, BARRIER = 32, SPIN = 4 };
    bool is_unit = role == MR_LOG_ROLE_ASLEEP || role == MR_LOG_ROLE_WAKE;
    bool is_lock = role == MR_LOG_ROLE_MUTEX || role == MR_LOG_ROLE_RWLOCK;
    if ((is_unit || is_lock) && MR_LOG_SIZE_OF(number))
        return MR_LOG_SIZE_OF(number);
    switch ((mr_log_role)role) {
    case MR_LOG_ROLE_MUTEX:
        return MUTEX;
    case MR_LOG_ROLE_RWLOCK:
        return RWLOCK;
    case MR_LOG_ROLE_SPIN:
        return SPIN;
    case MR_LOG_ROLE_SEMAPHORE:
        return SEMAPHORE;
    case MR_LOG_ROLE_ASLEEP:
    case MR_LOG_ROLE_WAKE:
        return CONDITION;
    case MR_LOG_ROLE_BARRIER_IN:
    case MR_LOG_ROLE_BARRIER_OUT:
        return BARRIER;
    case MR_LOG_ROLE_NONE:
    case MR_LOG_ROLE_CHANNEL:
    case MR_LOG_ROLE_SIGNAL:
    case MR_LOG_ROLE_DESCRIPTOR:
    case MR_LOG_ROLE_OWN:
    case MR_LOG_ROLE_NUMBER:
    case MR_LOG_ROLE_WRONG:
    case MR_LOG_ROLE_CANCEL:
    case MR_LOG_ROLE_WATCH:
    case MR_LOG_ROLE_READY:
    case MR_LOG_ROLE_ENDED:
    case MR_LOG_ROLE_UNITS:
    case MR_LOG_ROLE_TASK:
    case MR_LOG_ROLE_TASK_END:
        break;
    }
    return 1;
}

static void name_units(const mr_object *object, char *name)
{
    if (object->address >= MR_LOG_COUNTERS_AT && object->address < MR_LOG_SOCKETS_AT)
        add(name, "eventfd.%" PRIu64 ".units", object->address - MR_LOG_COUNTERS_AT);
    else if (object->address < MR_LOG_SYSV_AT)
        add(name, "channel.%" PRIu64 ".units", object->address);
    else
        add(name, "semaphore.%" PRIu64, object->address - MR_LOG_SYSV_AT);
}

bool mr_naming_lock(mr_naming *naming, const mr_life *life, const mr_object *object, uint32_t *lock)
{
    char name[NAME_BYTES] = "";
    if (object->role == MR_LOG_ROLE_UNITS)
        name_units(object, name);
    else
        name_memory(naming, life, object->address,
                    mr_naming_object_bytes(object->role, object->number), name, NULL);
    if (object->role == MR_LOG_ROLE_OWN && object->number)
        add(name, ".bit%" PRIu64, object->number - 1);
    if (object->role == MR_LOG_ROLE_ASLEEP)
        add(name, ".asleep.%" PRIu64, MR_LOG_UNSIZED(object->number));
    if (object->role == MR_LOG_ROLE_WAKE)
        add(name, ".wake.%" PRIu64, MR_LOG_UNSIZED(object->number));
    if (object->role == MR_LOG_ROLE_BARRIER_IN)
        add(name, ".%" PRIu64 ".in", object->number);
    if (object->role == MR_LOG_ROLE_BARRIER_OUT)
        add(name, ".%" PRIu64 ".out", object->number);
    return add_name(&naming->trace->locks, name, lock);
}

bool mr_naming_atomic(mr_naming *naming, const mr_life *life, uint64_t address, uint32_t *lock)
{
    char name[NAME_BYTES];
    name_memory(naming, life, address, 1, name, NULL);
    add(name, ".atomic");
    return add_name(&naming->trace->locks, name, lock);
}

bool mr_naming_state(mr_naming *naming, const mr_life *life, const mr_object *object, bool of_owner,
                     uint32_t *variable)
{
    char name[NAME_BYTES] = "";
    bool is_semaphore = object->role == MR_LOG_ROLE_SEMAPHORE || object->role == MR_LOG_ROLE_UNITS;
    if (object->role == MR_LOG_ROLE_UNITS)
        name_units(object, name);
    else
        name_memory(naming, life, object->address,
                    mr_naming_object_bytes(object->role, object->number), name, NULL);
    add(name, of_owner ? ".owner" : is_semaphore ? ".units" : ".held");
    return add_name(&naming->trace->variables, name, variable);
}

bool mr_naming_order(mr_naming *naming, const mr_life *life, const mr_object *object,
                     uint32_t *variable)
{
    char name[NAME_BYTES] = "";
    if (object->role == MR_LOG_ROLE_CHANNEL) {
        if (object->address < MR_LOG_COUNTERS_AT)
            add(name, "channel.%" PRIu64, object->address);
        else if (object->address < MR_LOG_SOCKETS_AT)
            add(name, "eventfd.%" PRIu64, object->address - MR_LOG_COUNTERS_AT);
        else if (object->address < MR_LOG_TIMERS_AT)
            add(name, "socket.%" PRIu64, object->address - MR_LOG_SOCKETS_AT);
        else if (object->address >= MR_LOG_CALLS_AT && object->address < MR_LOG_SYSV_AT)
            add(name, object->address == MR_LOG_CALLS_AT ? "listen" : "connect");
        else if (object->address < MR_LOG_SYSV_AT)
            add(name, "timerfd.%" PRIu64, object->address - MR_LOG_TIMERS_AT);
        else
            add(name, "queue.%" PRIu64, object->address - MR_LOG_SYSV_AT);
        if (object->number == MR_LOG_CHANNEL_TAKEN)
            add(name, ".taken");
        if (object->number == MR_LOG_CHANNEL_CLOSED)
            add(name, ".closed");
        if (object->number >= MR_LOG_CHANNEL_WRITERS)
            add(name, ".T%" PRIu64, object->number - MR_LOG_CHANNEL_WRITERS);
    } else if (object->role == MR_LOG_ROLE_SIGNAL) {
        add(name, "signal.%" PRIu64, object->address);
    } else if (object->role == MR_LOG_ROLE_CANCEL) {
        add(name, "T%" PRIu64 ".cancel", object->address);
    } else if (object->role == MR_LOG_ROLE_ENDED) {
        add(name, "T%" PRIu64 ".ended", object->address);
    } else if (object->role == MR_LOG_ROLE_READY) {
        add(name, "eventfd.%" PRIu64 ".ready", object->address);
    } else if (object->role == MR_LOG_ROLE_WATCH) {
        add(name, "epoll.%" PRIu64 ".%" PRIu64, object->address, object->number);
    } else if (object->role == MR_LOG_ROLE_NUMBER) {
        add(name, "descriptor.%" PRIu64 ".number", object->number);
    } else {
        name_memory(naming, life, object->address, 1, name, NULL);
        add(name, object->role == MR_LOG_ROLE_WRONG      ? ".lock"
                  : object->role == MR_LOG_ROLE_TASK     ? ".task"
                  : object->role == MR_LOG_ROLE_TASK_END ? ".task.ended"
                                                         : ".order");
    }
    return add_name(&naming->trace->variables, name, variable);
}

bool mr_naming_thread(mr_naming *naming, uint32_t thread, uint32_t *number)
{
    char name[32];
    snprintf(name, sizeof name, "T%" PRIu32, thread);
    return mr_names_add(&naming->trace->threads, name, (uint32_t)strlen(name), number);
}

bool mr_naming_thread_start(mr_naming *naming, uint32_t number, uint64_t address)
{
    mr_names *threads = &naming->trace->threads;
    const char *text = "main";
    if (threads->items[number].display)
        return true;
    if (address) {
        const mr_code *code = mr_symbols_code(naming->symbols, address);
        if (!code)
            return false;
        text = code->has_lines ? code->frames[code->frame_count - 1].function : "";
    }
    return !*text || mr_names_set_display(threads, number, text, (uint32_t)strlen(text));
}
