#include "program.h"

#include <string.h>

typedef struct builder {
    mr_random *random;
    const mr_parameters *parameters;
    mr_program *program;
    uint32_t open_calls; /* calls that were left open for good */
} builder;

static void add(builder *b, mr_op op, uint32_t operand)
{
    mr_program *program = b->program;
    /* Room is left for begin, end, forks and joins, which are inserted later. */
    if (program->count < MR_PROGRAM_STEPS - 3 * MR_PROGRAM_THREADS)
        program->steps[program->count++] = (mr_instruction){.op = op, .operand = (uint8_t)operand};
}

/* By chance; where there is none, no draw is made: shapes without the operation stay as they are.
 */
static bool chance(builder *b, uint32_t percent)
{
    return percent && mr_random_percent(b->random, percent);
}

static mr_op access_op(builder *b, bool read)
{
    if (!chance(b, b->parameters->atomic_percent))
        return read ? MR_OP_READ : MR_OP_WRITE;
    if (mr_random_percent(b->random, 30))
        return MR_OP_ATOMIC_UPDATE;
    return read ? MR_OP_ATOMIC_READ : MR_OP_ATOMIC_WRITE;
}

/* Gives the last step an order that it can have. */
static void draw_order(builder *b)
{
    mr_instruction *step = &b->program->steps[b->program->count - 1];
    do
        step->memory_order = (uint8_t)mr_random_below(b->random, MR_ORDER_TRY);
    while (!mr_memory_order_fits((mr_op)step->op, (mr_memory_order)step->memory_order));
}

static void add_access(builder *b)
{
    if (chance(b, b->parameters->branch_percent))
        add(b, MR_OP_BRANCH, 0);
    bool read = mr_random_percent(b->random, b->parameters->read_percent);
    mr_op op = access_op(b, read);
    add(b, op, mr_random_below(b->random, b->parameters->variables));
    if (mr_op_is_atomic((uint8_t)op) && chance(b, b->parameters->order_percent))
        draw_order(b);
}

static void add_accesses(builder *b, uint32_t low, uint32_t high)
{
    for (uint32_t n = mr_random_range(b->random, low, high); n > 0; n--)
        add_access(b);
}

static void add_release_as(builder *b, uint32_t lock, bool shared)
{
    if (!mr_random_percent(b->random, b->parameters->open_percent))
        add(b, shared ? MR_OP_SHARED_RELEASE : MR_OP_RELEASE, lock);
}

static void add_release(builder *b, uint32_t lock)
{
    add_release_as(b, lock, false);
}

static uint32_t other_lock(builder *b, uint32_t lock)
{
    if (b->parameters->locks < 2)
        return lock;
    return (lock + mr_random_range(b->random, 1, b->parameters->locks - 1)) % b->parameters->locks;
}

static void add_hand_over_hand(builder *b, uint32_t lock)
{
    add(b, MR_OP_ACQUIRE, lock);
    add_accesses(b, 0, 1);
    for (uint32_t hops = mr_random_range(b->random, 1, 2); hops > 0; hops--) {
        uint32_t next = other_lock(b, lock);
        add(b, MR_OP_ACQUIRE, next);
        add_accesses(b, 0, 1);
        add(b, MR_OP_RELEASE, lock);
        add_accesses(b, 0, 1);
        lock = next;
    }
    add_release(b, lock);
}

static void add_opposite(builder *b, uint32_t lock)
{
    uint32_t inner = other_lock(b, lock);
    add(b, MR_OP_ACQUIRE, lock);
    add_accesses(b, 0, 1);
    add(b, MR_OP_ACQUIRE, inner);
    add_accesses(b, 0, 1);
    add_release(b, inner);
    add_accesses(b, 0, 1);
    add_release(b, lock);
}

static void add_acquire(builder *b, uint32_t lock, bool shared)
{
    add(b, shared ? MR_OP_SHARED_ACQUIRE : MR_OP_ACQUIRE, lock);
    if (chance(b, b->parameters->try_percent))
        b->program->steps[b->program->count - 1].memory_order = MR_ORDER_TRY;
}

/* Two nested sections; three threads can wait in a circle, since the inner lock is mostly the next. */
static void add_cycle(builder *b, uint32_t lock)
{
    uint32_t locks = b->parameters->locks, guard = locks - 1;
    bool guarded = locks > 2 && chance(b, b->parameters->guard_percent);
    uint32_t among = guarded ? locks - 1 : locks;
    lock %= among;
    uint32_t inner = mr_random_percent(b->random, 60) ? (lock + 1) % among : other_lock(b, lock);
    bool shared_guard = chance(b, b->parameters->shared_percent);
    bool shared = chance(b, b->parameters->shared_percent);
    bool shared_inner = chance(b, b->parameters->shared_percent);
    if (guarded)
        add_acquire(b, guard, shared_guard);
    add_acquire(b, lock, shared);
    if (mr_random_percent(b->random, 20))
        add_access(b);
    add_acquire(b, inner, shared_inner);
    if (mr_random_percent(b->random, 20))
        add_access(b);
    add_release_as(b, inner, shared_inner);
    add_release_as(b, lock, shared);
    if (guarded)
        add_release_as(b, guard, shared_guard);
}

static void add_section(builder *b, uint32_t lock, uint32_t depth)
{
    mr_lock_style style = b->parameters->lock_style;
    bool nests = style == MR_LOCKS_NESTED || style == MR_LOCKS_REENTRANT;
    bool shared = chance(b, b->parameters->shared_percent);
    add(b, shared ? MR_OP_SHARED_ACQUIRE : MR_OP_ACQUIRE, lock);
    add_accesses(b, 0, 2);
    if (nests && depth < 2 && mr_random_percent(b->random, 60)) {
        bool same = style == MR_LOCKS_REENTRANT && mr_random_percent(b->random, 60);
        add_section(b, same ? lock : other_lock(b, lock), depth + 1);
        add_accesses(b, 0, 1);
    }
    add_release_as(b, lock, shared);
}

/* A lock held in one way, then in the other, from some place on in that one only. */
static void add_conversion(builder *b, uint32_t lock)
{
    bool up = mr_random_percent(b->random, 50);
    add(b, up ? MR_OP_SHARED_ACQUIRE : MR_OP_ACQUIRE, lock);
    add_accesses(b, 0, 1);
    add(b, up ? MR_OP_ACQUIRE : MR_OP_SHARED_ACQUIRE, lock);
    add_accesses(b, 0, 1);
    add(b, up ? MR_OP_SHARED_RELEASE : MR_OP_RELEASE, lock);
    add_accesses(b, 0, 1);
    add_release_as(b, lock, !up);
}

/* The variable that belongs to the lock: sections of one lock conflict, those of two do not. */
static void add_own_access(builder *b, uint32_t lock)
{
    uint32_t own = b->parameters->variables - 1;
    bool read = mr_random_percent(b->random, b->parameters->read_percent);
    add(b, read ? MR_OP_READ : MR_OP_WRITE, own ? 1 + lock % own : 0);
}

static void add_free_access(builder *b)
{
    bool read = mr_random_percent(b->random, b->parameters->read_percent);
    add(b, read ? MR_OP_READ : MR_OP_WRITE, 0);
}

/* A section of `inner` that another thread's can conflict with. */
static void add_inner(builder *b, uint32_t inner)
{
    add(b, MR_OP_ACQUIRE, inner);
    add_own_access(b, inner);
    add_release(b, inner);
}

/* Sections of one lock that are ordered only through inner sections of another one (rule (b) of CP
 * and WCP), with an access of variable 0 that only this order reaches: behind the inner section of
 * the first, behind the whole of the second. The conflict may also show late, when a third thread
 * has taken the lock already; and there are sections in which nothing happens. */
static void add_chain(builder *b, uint32_t lock)
{
    uint32_t inner = other_lock(b, lock), kind = mr_random_below(b->random, 4);
    bool late = kind == 2;
    if (late)
        add(b, MR_OP_ACQUIRE, inner);
    add(b, MR_OP_ACQUIRE, lock);
    if (kind < 2)
        add_inner(b, inner);
    if (kind == 0)
        add_free_access(b);
    add_release(b, lock);
    if (kind != 0 && mr_random_percent(b->random, 60))
        add_free_access(b);
    if (late) {
        add_own_access(b, inner);
        add_release(b, inner);
    }
}

/* One post or wait, or a section that takes a unit and gives it back. */
static void add_semaphore(builder *b)
{
    uint32_t semaphore = mr_random_below(b->random, b->parameters->semaphores);
    if (mr_random_percent(b->random, b->parameters->signal_percent)) {
        bool post = mr_random_percent(b->random, 55);
        add(b, post ? MR_OP_POST : MR_OP_WAIT, semaphore);
        return;
    }
    add(b, MR_OP_WAIT, semaphore);
    add_accesses(b, 0, 2);
    if (!mr_random_percent(b->random, b->parameters->open_percent))
        add(b, MR_OP_POST, semaphore);
}

/* Of each of the first `count` names of a kind, whether it is in. */
static uint32_t draw_names(builder *b, uint32_t first_bit, uint32_t count, uint32_t percent)
{
    uint32_t names = 0;
    for (uint32_t i = 0; i < count && i < MR_REACH_NAMES; i++)
        names |= mr_random_percent(b->random, percent) ? first_bit << i : 0;
    return names;
}

static uint32_t draw_reach(builder *b)
{
    const uint32_t slots = b->parameters->slots;
    uint32_t kind = mr_random_below(b->random, 100), reach = 0;
    if (kind < 10)
        return 0;
    if (kind < 20)
        return MR_REACH_ALL;
    reach |= draw_names(b, MR_REACH_VARIABLE, b->parameters->variables, 35);
    reach |= draw_names(b, MR_REACH_LOCK, b->parameters->locks, 15);
    reach |= draw_names(b, MR_REACH_SEMAPHORE, b->parameters->semaphores, 15);
    reach |= draw_names(b, MR_REACH_THREAD, b->parameters->threads, 10);
    for (uint32_t i = 0; i < slots * MR_PROGRAM_FIELDS; i++)
        reach |= mr_random_percent(b->random, 20) ? (uint32_t)MR_REACH_FIELD << i : 0;
    if (kind < 30)
        reach |= MR_REACH_NOTHING;
    return kind < 33 ? reach | MR_REACH_ALL : reach;
}

/* Accesses of the object in the slot. */
static void add_uses(builder *b, uint32_t slot, uint32_t low, uint32_t high)
{
    for (uint32_t n = mr_random_range(b->random, low, high); n > 0; n--) {
        bool read = mr_random_percent(b->random, b->parameters->read_percent);
        mr_op op = access_op(b, read);
        add(b, op, mr_program_field(slot, mr_random_below(b->random, MR_PROGRAM_FIELDS)));
    }
}

/* What another thread may see of this one, or this one of another: by a variable, or in a section.
 */
static void add_handover(builder *b, bool give)
{
    uint32_t variable = mr_random_below(b->random, b->parameters->variables);
    uint32_t lock = mr_random_below(b->random, b->parameters->locks);
    bool section = b->parameters->lock_style != MR_LOCKS_NONE && mr_random_percent(b->random, 35);
    bool atomic = mr_random_percent(b->random, 60);
    if (section)
        add(b, MR_OP_ACQUIRE, lock);
    if (give)
        add(b, atomic ? MR_OP_ATOMIC_WRITE : MR_OP_WRITE, variable);
    else
        add(b, atomic ? MR_OP_ATOMIC_READ : MR_OP_READ, variable);
    if (section)
        add_release(b, lock);
}

/* A piece of the life of an object: made and handed over, used, given back. */
static void add_life(builder *b)
{
    uint32_t slot = mr_random_below(b->random, b->parameters->slots);
    uint32_t kind = mr_random_below(b->random, 100);
    if (kind < 30) {
        add(b, MR_OP_ALLOC, slot);
        add_uses(b, slot, 0, 2);
        if (mr_random_percent(b->random, 60))
            add_handover(b, true);
        return;
    }
    if (mr_random_percent(b->random, 30))
        add_handover(b, false);
    bool section = b->parameters->lock_style != MR_LOCKS_NONE && mr_random_percent(b->random, 30);
    uint32_t lock = mr_random_below(b->random, b->parameters->locks);
    if (section)
        add(b, MR_OP_ACQUIRE, lock);
    if (kind < 75)
        add_uses(b, slot, 1, 2);
    if (kind >= 60)
        add(b, MR_OP_FREE, slot);
    if (section)
        add_release(b, lock);
}

/* A write of the pointer. */
static void add_pointer_write(builder *b, uint32_t pointer, uint32_t points)
{
    add(b, mr_random_percent(b->random, 30) ? MR_OP_ATOMIC_WRITE : MR_OP_WRITE, pointer);
    b->program->steps[b->program->count - 1].points = (uint8_t)points;
}

/* A read of the pointer, and a use of what it gave: an access, or a free. */
static void add_pointer_use(builder *b, uint32_t pointer, uint32_t slot, bool frees)
{
    add(b, mr_random_percent(b->random, 30) ? MR_OP_ATOMIC_READ : MR_OP_READ, pointer);
    if (mr_random_percent(b->random, 10))
        add_access(b);
    if (chance(b, b->parameters->branch_percent))
        add(b, MR_OP_BRANCH, 0);
    add(b, MR_OP_DEREF, pointer);
    if (frees)
        add(b, MR_OP_FREE, slot);
    else
        add_uses(b, slot, 1, 1);
}

/* Another object in the slot, to which the pointer points from then on. */
static void add_pointee(builder *b, uint32_t pointer, uint32_t slot)
{
    add(b, MR_OP_ALLOC, slot);
    add_pointer_write(b, pointer, MR_POINTS_SLOT + slot);
}

static void add_pointer_step(builder *b, uint32_t pointer, uint32_t slot)
{
    uint32_t kind = mr_random_below(b->random, 100);
    if (kind < 12) {
        add_pointee(b, pointer, slot);
    } else if (kind < 25) {
        add_pointer_write(b, pointer, MR_POINTS_NULL);
    } else if (kind < 55) {
        add_pointer_use(b, pointer, slot, mr_random_percent(b->random, 25));
    } else if (kind < 70) {
        add(b, MR_OP_FREE, slot);
    } else {
        add_pointer_use(b, pointer, slot, true);
        if (mr_random_percent(b->random, 60))
            add_pointee(b, pointer, slot);
    }
}

/* A piece of the life of a pointer: made, reset, used or replaced, and sometimes in a section. */
static void add_pointer(builder *b)
{
    const mr_parameters *p = b->parameters;
    uint32_t number = mr_random_below(b->random, p->pointers);
    uint32_t slot =
        mr_random_percent(b->random, 75) ? number % p->slots : mr_random_below(b->random, p->slots);
    bool section = p->lock_style != MR_LOCKS_NONE && mr_random_percent(b->random, 25);
    uint32_t lock = mr_random_below(b->random, p->locks);
    if (section)
        add(b, MR_OP_ACQUIRE, lock);
    add_pointer_step(b, p->variables - 1 - number, slot);
    if (section)
        add_release(b, lock);
}

static void add_block(builder *b, uint32_t depth);

/* What was recorded within the call: callbacks, and calls within it. A call around one that never
 * returns does not return either. */
static void add_call(builder *b, uint32_t depth)
{
    uint32_t call = mr_random_below(b->random, 3), open = b->open_calls;
    add(b, MR_OP_CALL_BEGIN, call);
    b->program->steps[b->program->count - 1].reach = draw_reach(b);
    for (uint32_t n = mr_random_below(b->random, 3); n > 0; n--)
        add_block(b, depth + 1);
    if (b->open_calls == open && mr_random_percent(b->random, b->parameters->never_percent))
        b->open_calls++;
    if (b->open_calls == open)
        add(b, MR_OP_CALL_END, call);
}

static void add_fence(builder *b)
{
    add(b, MR_OP_FENCE, 0);
    draw_order(b);
}

/* A step that only some shapes have. False: it is to be another one. */
static bool add_special_block(builder *b, uint32_t depth)
{
    const mr_parameters *p = b->parameters;
    if (depth < 2 && chance(b, p->call_percent))
        add_call(b, depth);
    else if (chance(b, p->semaphore_percent))
        add_semaphore(b);
    else if (chance(b, p->pointer_percent))
        add_pointer(b);
    else if (chance(b, p->life_percent))
        add_life(b);
    else if (chance(b, p->branch_percent / 4))
        add(b, MR_OP_BRANCH, 0);
    else if (chance(b, p->fence_percent))
        add_fence(b);
    else if (p->lock_style != MR_LOCKS_NONE && chance(b, p->shared_percent / 5))
        add_conversion(b, mr_random_below(b->random, p->locks));
    else
        return false;
    return true;
}

static void add_block(builder *b, uint32_t depth)
{
    if (add_special_block(b, depth))
        return;
    mr_lock_style style = b->parameters->lock_style;
    if (style == MR_LOCKS_NONE || !mr_random_percent(b->random, b->parameters->section_percent)) {
        style == MR_LOCKS_CHAIN ? add_free_access(b) : add_access(b);
        return;
    }
    uint32_t lock = mr_random_below(b->random, b->parameters->locks);
    if (style == MR_LOCKS_HAND)
        add_hand_over_hand(b, lock);
    else if (style == MR_LOCKS_OPPOSITE)
        add_opposite(b, lock);
    else if (style == MR_LOCKS_CHAIN)
        add_chain(b, lock);
    else if (style == MR_LOCKS_CYCLE)
        add_cycle(b, lock);
    else
        add_section(b, lock, 0);
}

/* ---- steps one by one ---- */

/* Sections and calls that a thread is in. */
enum { MOST_OPEN = 4 };

typedef struct open_things {
    uint32_t locks[MOST_OPEN], lock_count;
    bool shared[MOST_OPEN];
    uint32_t calls[MOST_OPEN], call_count;
} open_things;

static void enter_any(builder *b, open_things *open)
{
    uint32_t lock = mr_random_below(b->random, b->parameters->locks);
    bool shared = chance(b, b->parameters->shared_percent);
    if (open->lock_count == MOST_OPEN)
        return;
    add(b, shared ? MR_OP_SHARED_ACQUIRE : MR_OP_ACQUIRE, lock);
    open->locks[open->lock_count] = lock;
    open->shared[open->lock_count++] = shared;
}

static void leave_any(builder *b, open_things *open)
{
    if (!open->lock_count)
        return;
    uint32_t i = mr_random_below(b->random, open->lock_count);
    add(b, open->shared[i] ? MR_OP_SHARED_RELEASE : MR_OP_RELEASE, open->locks[i]);
    open->lock_count--;
    open->locks[i] = open->locks[open->lock_count];
    open->shared[i] = open->shared[open->lock_count];
}

static void call_any(builder *b, open_things *open)
{
    if (open->call_count == MOST_OPEN)
        return;
    open->calls[open->call_count] = mr_random_below(b->random, 3);
    add(b, MR_OP_CALL_BEGIN, open->calls[open->call_count++]);
    b->program->steps[b->program->count - 1].reach = draw_reach(b);
}

static mr_mingled draw_mingled(builder *b)
{
    const uint8_t *weights = b->parameters->mingled;
    uint32_t sum = 0, kind = 0;
    for (uint32_t i = 0; i < MR_MINGLED_COUNT; i++)
        sum += weights[i];
    for (uint32_t left = mr_random_below(b->random, sum); left >= weights[kind]; kind++)
        left -= weights[kind];
    return (mr_mingled)kind;
}

static void add_mingled(builder *b, open_things *open)
{
    const mr_parameters *p = b->parameters;
    uint32_t slot = p->slots ? mr_random_below(b->random, p->slots) : 0;
    switch (draw_mingled(b)) {
    case MR_MINGLED_ACCESS:
        add_access(b);
        break;
    case MR_MINGLED_ENTER:
        enter_any(b, open);
        break;
    case MR_MINGLED_LEAVE:
        leave_any(b, open);
        break;
    case MR_MINGLED_SEMAPHORE:
        add_semaphore(b);
        break;
    case MR_MINGLED_USE:
        add_uses(b, slot, 1, 1);
        break;
    case MR_MINGLED_ALLOC:
        add(b, MR_OP_ALLOC, slot);
        break;
    case MR_MINGLED_FREE:
        add(b, MR_OP_FREE, slot);
        break;
    case MR_MINGLED_CALL:
        call_any(b, open);
        break;
    case MR_MINGLED_RETURN:
        if (open->call_count)
            add(b, MR_OP_CALL_END, open->calls[--open->call_count]);
        break;
    case MR_MINGLED_BRANCH:
        add(b, MR_OP_BRANCH, 0);
        break;
    case MR_MINGLED_POINTER:
        add_pointer_step(b, p->variables - 1 - mr_random_below(b->random, p->pointers), slot);
        break;
    case MR_MINGLED_COUNT:
        break;
    }
}

/* What is open stays open by chance. */
static void fill_mingled(builder *b, uint32_t length)
{
    open_things open = {.lock_count = 0};
    while (b->program->count < length && b->program->count < MR_PROGRAM_STEPS / 2)
        add_mingled(b, &open);
    while (open.lock_count && !mr_random_percent(b->random, b->parameters->open_percent))
        leave_any(b, &open);
    while (open.call_count && !chance(b, b->parameters->never_percent))
        add(b, MR_OP_CALL_END, open.calls[--open.call_count]);
}

static void insert(mr_program *program, uint32_t at, mr_op op, uint32_t operand)
{
    mr_instruction *step = program->steps + at;
    memmove(step + 1, step, (program->count - at) * sizeof *step);
    *step = (mr_instruction){.op = op, .operand = (uint8_t)operand};
    program->count++;
}

/* A thread is forked by a thread with a smaller number, so that every thread starts in the end, and
 * joined by smaller ones, its forker or another. Some of these programs deadlock; that is fine. */
static void add_fork_and_joins(mr_random *random, const mr_parameters *parameters,
                               mr_program *programs, uint32_t thread)
{
    if (!mr_random_percent(random, parameters->fork_percent))
        return;
    uint32_t forker = mr_random_below(random, thread);
    uint32_t fork_at = mr_random_below(random, programs[forker].count + 1);
    if (mr_random_percent(random, 40))
        fork_at = 0;
    insert(&programs[forker], fork_at, MR_OP_FORK, thread);
    programs[thread].forked = true;
    for (uint32_t joins = 0; joins < 2; joins++) {
        if (!mr_random_percent(random, parameters->join_percent >> joins))
            break;
        uint32_t joiner = mr_random_below(random, thread);
        uint32_t low = joiner == forker ? fork_at + 1 : 0;
        insert(&programs[joiner], mr_random_range(random, low, programs[joiner].count), MR_OP_JOIN,
               thread);
    }
}

static void add_locations(mr_random *random, const mr_parameters *parameters, mr_program *programs)
{
    bool few = mr_random_percent(random, parameters->few_locations);
    uint8_t next = 1;
    for (uint32_t t = 0; t < parameters->threads; t++) {
        for (uint32_t i = 0; i < programs[t].count; i++, next++)
            programs[t].steps[i].location = few ? (uint8_t)mr_random_range(random, 1, 3) : next;
    }
}

void mr_program_build(mr_random *random, const mr_parameters *parameters, mr_program *programs)
{
    for (uint32_t t = 0; t < parameters->threads; t++) {
        programs[t].count = 0;
        programs[t].forked = false;
        builder b = {random, parameters, &programs[t], 0};
        if (t == 0 && parameters->pointers)
            add_pointee(&b, parameters->variables - 1, 0);
        uint32_t share = parameters->events / parameters->threads;
        uint32_t length = mr_random_range(random, share / 2, share * 3 / 2 + 1);
        if (parameters->mingled[MR_MINGLED_ACCESS])
            fill_mingled(&b, length);
        while (programs[t].count < length && programs[t].count < MR_PROGRAM_STEPS / 2)
            add_block(&b, 0);
    }
    for (uint32_t units = 0; units < parameters->units; units++)
        for (uint32_t semaphore = 0; semaphore < parameters->semaphores; semaphore++)
            insert(&programs[0], 0, MR_OP_POST, semaphore);
    for (uint32_t t = 1; t < parameters->threads; t++)
        add_fork_and_joins(random, parameters, programs, t);
    for (uint32_t t = 0; t < parameters->threads; t++) {
        if (!mr_random_percent(random, parameters->end_percent))
            continue;
        insert(&programs[t], 0, MR_OP_BEGIN, 0);
        insert(&programs[t], programs[t].count, MR_OP_END, 0);
    }
    add_locations(random, parameters, programs);
}
