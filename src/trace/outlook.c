#include "outlook.h"

#include "base/assert.h"
#include "base/huge.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t several = UINT32_MAX;

enum { WRITTEN = 1, PLAIN = 2 };

void mr_outlook_init(mr_outlook *outlook)
{
    *outlook = (mr_outlook){0};
}

static void free_scratch(mr_outlook *outlook)
{
    free(outlook->variable_user);
    free(outlook->lock_user);
    free(outlook->lock_depth);
    free(outlook->share_depth);
    free(outlook->access);
    free(outlook->freer);
    outlook->variable_user = outlook->lock_user = outlook->lock_depth = NULL;
    outlook->share_depth = NULL;
    outlook->access = NULL;
    outlook->freer = NULL;
    mr_keys_free(&outlook->use_numbers);
}

void mr_outlook_free(mr_outlook *outlook)
{
    free_scratch(outlook);
    free(outlook->contended);
    free(outlook->lock_shared);
    free(outlook->uses);
    *outlook = (mr_outlook){0};
}

/* Room for `capacity` elements, of which the first `old` are there; the others become zero. */
static bool widen(void **array, size_t old, size_t capacity, size_t size_bytes)
{
    void *items = mr_realloc(*array, capacity, size_bytes);
    if (!items)
        return false;
    mr_huge_ask(items, capacity * size_bytes);
    memset((char *)items + old * size_bytes, 0, (capacity - old) * size_bytes);
    *array = items;
    return true;
}

static bool widen_numbers(uint32_t **array, size_t old, size_t capacity)
{
    void *items = *array;
    bool done = widen(&items, old, capacity, sizeof **array);
    *array = items;
    return done;
}

static bool widen_marks(uint8_t **array, size_t old, size_t capacity)
{
    void *items = *array;
    bool done = widen(&items, old, capacity, sizeof **array);
    *array = items;
    return done;
}

static size_t roomier(size_t capacity, size_t need)
{
    return need < capacity * 2 ? capacity * 2 : need + 64;
}

static bool make_room(mr_outlook *outlook, const mr_events *events)
{
    if (events->variable_count > outlook->variable_capacity) {
        size_t old = outlook->variable_capacity, capacity = roomier(old, events->variable_count);
        if (!widen_numbers(&outlook->variable_user, old, capacity) ||
            !widen_marks(&outlook->access, old, capacity))
            return false;
        outlook->variable_capacity = capacity;
    }
    if (events->lock_count > outlook->lock_capacity) {
        size_t old = outlook->lock_capacity, capacity = roomier(old, events->lock_count);
        if (!widen_numbers(&outlook->lock_user, old, capacity) ||
            !widen_numbers(&outlook->lock_depth, old, capacity))
            return false;
        outlook->lock_capacity = capacity;
    }
    if (events->object_count > outlook->object_capacity) {
        size_t old = outlook->object_capacity, capacity = roomier(old, events->object_count);
        if (!widen_numbers(&outlook->freer, old, capacity))
            return false;
        outlook->object_capacity = capacity;
    }
    outlook->thread_count = events->thread_count;
    outlook->variable_count = events->variable_count;
    outlook->lock_count = events->lock_count;
    outlook->location_count = events->location_count;
    outlook->object_count = events->object_count;
    return true;
}

static void note_user(uint32_t *user, uint32_t thread)
{
    if (*user != thread + 1)
        *user = *user ? several : thread + 1;
}

/* The number of the thread's use of the lock, added when new. False: no memory. */
static bool find_use(mr_outlook *outlook, uint32_t lock, uint32_t thread, uint32_t *use)
{
    uint32_t number;
    void *uses = outlook->uses, *depths = outlook->share_depth;
    if (!mr_keys_add(&outlook->use_numbers, (uint64_t)lock << 32 | thread, &number))
        return false;
    *use = number - 1;
    if (number <= outlook->use_count)
        return true;
    if (!mr_grow(&uses, &outlook->use_capacity, number, sizeof *outlook->uses))
        return false;
    outlook->uses = uses;
    if (!mr_grow(&depths, &outlook->share_capacity, number, sizeof *outlook->share_depth))
        return false;
    outlook->share_depth = depths;
    outlook->share_depth[outlook->use_count] = 0;
    outlook->uses[outlook->use_count++] = (mr_lock_use){.lock = lock, .thread = thread};
    return true;
}

/* An outermost acquire. */
static bool add_section(mr_outlook *outlook, uint32_t lock, uint32_t thread)
{
    uint32_t use;
    note_user(&outlook->lock_user[lock], thread);
    if (!find_use(outlook, lock, thread, &use))
        return false;
    outlook->uses[use].sections++;
    return true;
}

static bool add_shared(mr_outlook *outlook, uint8_t op, uint32_t lock, uint32_t thread)
{
    uint32_t use;
    if (!find_use(outlook, lock, thread, &use))
        return false;
    MR_ASSERT(!mr_op_releases(op) || outlook->share_depth[use] > 0);
    if (mr_op_releases(op))
        outlook->share_depth[use]--;
    else if (!outlook->share_depth[use]++)
        return add_section(outlook, lock, thread);
    return true;
}

bool mr_outlook_add(mr_outlook *outlook, const mr_events *events)
{
    MR_REQUIRE(events->first == outlook->event_count);
    if (!make_room(outlook, events))
        return false;
    for (uint32_t i = 0; i < events->count; i++) {
        uint32_t thread = events->thread[i], operand = events->operand[i];
        MR_ASSERT_COSTLY(thread < outlook->thread_count);
        if (mr_op_is_plain(events->op[i])) { /* most of them */
            outlook->access[operand] |= events->op[i] == MR_OP_WRITE ? WRITTEN | PLAIN : PLAIN;
            note_user(&outlook->variable_user[operand], thread);
            continue;
        }
        switch ((mr_op)events->op[i]) {
        case MR_OP_ATOMIC_WRITE:
        case MR_OP_ATOMIC_UPDATE:
            outlook->access[operand] |= WRITTEN;
            note_user(&outlook->variable_user[operand], thread);
            break;
        case MR_OP_ATOMIC_READ:
            note_user(&outlook->variable_user[operand], thread);
            break;
        case MR_OP_ACQUIRE:
            if (!outlook->lock_depth[operand]++ && !add_section(outlook, operand, thread))
                return false;
            break;
        case MR_OP_RELEASE:
            MR_ASSERT(outlook->lock_depth[operand] > 0); /* the trace is valid */
            outlook->lock_depth[operand]--;
            break;
        case MR_OP_SHARED_ACQUIRE:
        case MR_OP_SHARED_RELEASE:
            if (!add_shared(outlook, events->op[i], operand, thread))
                return false;
            break;
        case MR_OP_FREE:
            outlook->freer[operand] = thread + 1; /* there is one at most */
            break;
        case MR_OP_FORK:
        case MR_OP_JOIN:
        case MR_OP_BEGIN:
        case MR_OP_END:
        case MR_OP_POST:
        case MR_OP_WAIT:
        case MR_OP_CALL_BEGIN:
        case MR_OP_CALL_END:
        case MR_OP_BRANCH:
        case MR_OP_ALLOC:
        case MR_OP_DEREF:
        case MR_OP_FENCE:
        case MR_OP_READ:
        case MR_OP_WRITE:
            break;
        }
    }
    outlook->event_count = events->first + events->count;
    return true;
}

static int compare_uses(const void *one, const void *two)
{
    const mr_lock_use *x = one, *y = two;
    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

/* A free is a plain write of each variable of its object that is accessed. */
static void add_frees(mr_outlook *outlook, const mr_members *members)
{
    for (uint32_t i = 0; i < members->count; i++) {
        mr_membership member = members->items[i];
        uint32_t freer = member.object < outlook->object_count ? outlook->freer[member.object] : 0;
        /* Of a damaged file the members may be there, and the events that access them not. */
        if (!freer || member.variable >= outlook->variable_count ||
            !outlook->variable_user[member.variable])
            continue;
        outlook->access[member.variable] = WRITTEN | PLAIN;
        note_user(&outlook->variable_user[member.variable], freer - 1);
    }
}

bool mr_outlook_finish(mr_outlook *outlook, const mr_members *members)
{
    add_frees(outlook, members);
    outlook->contended = mr_calloc(outlook->variable_count, 1);
    outlook->lock_shared = mr_calloc(outlook->lock_count, 1);
    if (!outlook->contended || !outlook->lock_shared)
        return false;
    for (uint32_t variable = 0; variable < outlook->variable_count; variable++)
        outlook->contended[variable] = outlook->access[variable] == (WRITTEN | PLAIN) &&
                                       outlook->variable_user[variable] == several;
    for (uint32_t lock = 0; lock < outlook->lock_count; lock++)
        outlook->lock_shared[lock] = outlook->lock_user[lock] == several;
    size_t kept = 0;
    for (size_t i = 0; i < outlook->use_count; i++)
        if (outlook->lock_shared[outlook->uses[i].lock])
            outlook->uses[kept++] = outlook->uses[i];
    outlook->use_count = kept;
    if (kept)
        qsort(outlook->uses, kept, sizeof *outlook->uses, compare_uses);
    free_scratch(outlook);
    return true;
}

bool mr_outlook_of_trace(mr_outlook *outlook, const mr_trace *trace)
{
    mr_events events = mr_events_of_trace(trace, 0, trace->event_count);
    mr_outlook_init(outlook);
    return mr_outlook_add(outlook, &events) && mr_outlook_finish(outlook, &trace->members);
}
