#include "generate.h"

#include "base/memory.h"
#include "program.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST_EVENTS = 4,
    MOST_EVENTS = 20,
    LONGER_LEAST = 20,
    LONGER_MOST = 48,
    USUAL_THREADS = 6,
    USUAL_VARIABLES = 3,
    USUAL_LOCKS = 3,
    OPERAND_BYTES = 96,
    LINE_BYTES = 128,
    MOST_OBJECTS = 5,
    MEMBER_LINES = MOST_OBJECTS * MR_PROGRAM_FIELDS,
};

/* What is in a slot. */
typedef struct slot_state {
    uint32_t object; /* number + 1; 0: none so far */
    bool freed;
    int64_t memory[MR_PROGRAM_FIELDS];
} slot_state;

/* The execution of the programs, and the trace recorded so far. */
typedef struct run {
    mr_random *random;
    const mr_parameters *parameters;
    mr_program programs[MR_PROGRAM_THREADS];
    uint32_t position[MR_PROGRAM_THREADS];
    bool started[MR_PROGRAM_THREADS];
    uint32_t owner[MR_PROGRAM_LOCKS], depth[MR_PROGRAM_LOCKS];
    uint32_t shares[MR_PROGRAM_THREADS][MR_PROGRAM_LOCKS];
    uint32_t units[MR_PROGRAM_SEMAPHORES];
    char lock_letter; /* locks are called l0 …, or x0 … like the variables */
    int64_t memory[MR_PROGRAM_VARIABLES];
    bool missing[MR_PROGRAM_VARIABLES]; /* some accesses have no value */
    slot_state slots[MR_PROGRAM_SLOTS];
    uint32_t object_count;
    bool has_extents; /* allocs say where the object is */
    int64_t next_unique;
    char *text;
    size_t length;
    uint32_t event_count;
} run;

const char *mr_shape_name(mr_shape shape)
{
    static const char *const names[MR_SHAPE_ALL] = {
#define MR_SHAPE_NAME(name, text) [MR_SHAPE_##name] = (text),
        MR_SHAPE_MAP(MR_SHAPE_NAME) MR_KIND_SHAPE_MAP(MR_SHAPE_NAME)
#undef MR_SHAPE_NAME
    };
    return names[shape];
}

/* One draw a statement: the order of draws must not depend on the compiler. */
static mr_parameters any_parameters(mr_random *random)
{
    mr_parameters p = {0};
    p.threads = mr_random_range(random, 2, 4);
    p.events = mr_random_range(random, 6, 16);
    p.variables = mr_random_range(random, 1, USUAL_VARIABLES);
    p.locks = mr_random_range(random, 1, USUAL_LOCKS);
    p.lock_style = mr_random_below(random, MR_LOCKS_COUNT);
    p.value_style = mr_random_below(random, MR_VALUES_COUNT);
    p.section_percent = mr_random_range(random, 20, 60);
    p.read_percent = mr_random_range(random, 30, 70);
    p.open_percent = mr_random_percent(random, 25) ? 30 : 0;
    p.fork_percent = mr_random_percent(random, 50) ? 70 : 0;
    p.join_percent = 50;
    p.end_percent = mr_random_percent(random, 25) ? 60 : 0;
    p.same_percent = mr_random_below(random, 40);
    p.missing_percent = mr_random_percent(random, 20) ? 50 : 0;
    p.unrecorded_percent = mr_random_percent(random, 15) ? 20 : 0;
    p.stay_percent = mr_random_below(random, 70);
    p.few_locations = 40;
    return p;
}

/* Several locks whose sections conflict seldom enough to leave something unordered. */
static void shape_chains(mr_random *random, mr_parameters *p)
{
    p->threads = mr_random_range(random, 2, 4);
    p->events = mr_random_range(random, 16, MOST_EVENTS);
    p->lock_style = MR_LOCKS_CHAIN;
    p->locks = mr_random_range(random, 2, 3);
    p->variables = p->locks + 1;
    p->section_percent = 95;
    p->read_percent = mr_random_range(random, 30, 60);
    p->open_percent = mr_random_percent(random, 20) ? 10 : 0;
    p->fork_percent /= 2;
    p->stay_percent = mr_random_range(random, 70, 95);
}

static void shape_threads_and_locks(mr_random *random, mr_shape shape, mr_parameters *p)
{
    switch ((int)shape) {
    case MR_SHAPE_TWO_THREADS:
        p->threads = 2;
        break;
    case MR_SHAPE_MANY_THREADS:
        p->threads = mr_random_range(random, 4, USUAL_THREADS);
        p->events = mr_random_range(random, 10, 14);
        break;
    case MR_SHAPE_PLAIN_LOCKS:
        p->lock_style = MR_LOCKS_PLAIN;
        break;
    case MR_SHAPE_NESTED_LOCKS:
        p->lock_style = MR_LOCKS_NESTED;
        break;
    case MR_SHAPE_HAND_OVER_HAND:
        p->lock_style = MR_LOCKS_HAND;
        break;
    case MR_SHAPE_REENTRANT:
        p->lock_style = MR_LOCKS_REENTRANT;
        break;
    case MR_SHAPE_OPEN_LOCKS:
        p->lock_style = mr_random_percent(random, 50) ? MR_LOCKS_PLAIN : MR_LOCKS_NESTED;
        p->open_percent = 40;
        break;
    case MR_SHAPE_DEADLOCK:
        p->lock_style = MR_LOCKS_OPPOSITE;
        p->stay_percent = 80; /* else most runs do deadlock */
        break;
    case MR_SHAPE_TANGLED:
        p->threads = mr_random_range(random, 3, 4);
        p->locks = 2;
        p->lock_style = mr_random_percent(random, 50) ? MR_LOCKS_PLAIN : MR_LOCKS_NESTED;
        p->value_style = MR_VALUES_SMALL;
        p->fork_percent = 0;
        p->stay_percent = 40;
        break;
    case MR_SHAPE_FORK_JOIN:
        p->threads = mr_random_range(random, 3, 5);
        p->fork_percent = 85;
        p->join_percent = 80;
        break;
    default:
        break;
    }
    if (p->lock_style == MR_LOCKS_HAND || p->lock_style == MR_LOCKS_OPPOSITE)
        p->locks = mr_random_range(random, 2, USUAL_LOCKS);
    if (shape >= MR_SHAPE_PLAIN_LOCKS && shape <= MR_SHAPE_TANGLED) {
        /* Locks take most of the events: more of these, on fewer variables. */
        p->events = mr_random_range(random, 10, MOST_EVENTS);
        p->variables = mr_random_range(random, 1, 2);
        p->section_percent = 60;
    }
    if (shape == MR_SHAPE_CHAINS)
        shape_chains(random, p);
}

static void shape_values(mr_random *random, mr_shape shape, mr_parameters *p)
{
    switch ((int)shape) {
    case MR_SHAPE_SMALL_VALUES:
        p->value_style = MR_VALUES_SMALL;
        break;
    case MR_SHAPE_UNIQUE_VALUES:
        p->value_style = MR_VALUES_UNIQUE;
        break;
    case MR_SHAPE_SAME_VALUE_WRITES:
        p->value_style = MR_VALUES_SMALL;
        p->same_percent = 70;
        p->read_percent = 30;
        break;
    case MR_SHAPE_REPEATED_READS:
        p->value_style = MR_VALUES_SMALL;
        p->read_percent = 75;
        break;
    case MR_SHAPE_INITIAL_READS:
        p->value_style = mr_random_percent(random, 70) ? MR_VALUES_SMALL : MR_VALUES_UNIQUE;
        p->variables = USUAL_VARIABLES;
        p->read_percent = 65;
        break;
    case MR_SHAPE_MISSING_VALUES:
        p->missing_percent = 60;
        p->value_style = MR_VALUES_SMALL;
        break;
    case MR_SHAPE_UNRECORDED_WRITER:
        p->unrecorded_percent = 30;
        p->value_style = MR_VALUES_SMALL;
        break;
    case MR_SHAPE_NO_VALUES:
        p->value_style = MR_VALUES_NONE;
        break;
    default:
        break;
    }
}

static void shape_memory_orders(mr_random *random, mr_parameters *p)
{
    p->atomic_percent = mr_random_range(random, 50, 90);
    p->order_percent = mr_random_range(random, 30, 100);
    p->fence_percent = mr_random_percent(random, 60) ? mr_random_range(random, 10, 40) : 0;
    p->events = mr_random_range(random, 8, 18);
    p->variables = mr_random_range(random, 1, USUAL_VARIABLES);
    if (mr_random_percent(random, 70))
        p->lock_style = MR_LOCKS_NONE;
}

static void shape_shared_locks(mr_random *random, mr_parameters *p)
{
    static const mr_lock_style styles[] = {MR_LOCKS_PLAIN, MR_LOCKS_NESTED, MR_LOCKS_REENTRANT};
    p->lock_style = styles[mr_random_below(random, 3)];
    p->locks = mr_random_range(random, 1, 2);
    p->events = mr_random_range(random, 10, 18);
    p->variables = mr_random_range(random, 1, 2);
    p->section_percent = 60;
    p->shared_percent = mr_random_range(random, 30, 70);
}

static void shape_semaphores(mr_random *random, mr_parameters *p, bool signals)
{
    p->semaphores = mr_random_range(random, 1, MR_PROGRAM_SEMAPHORES);
    p->semaphore_percent = 50;
    if (mr_random_percent(random, 60))
        p->lock_style = MR_LOCKS_NONE;
    p->signal_percent = signals ? 85 : 10;
    p->units = signals ? mr_random_below(random, 2) : 1 + mr_random_below(random, 3) / 2;
    p->events = mr_random_range(random, 8, 18);
}

static void shape_branches(mr_random *random, mr_parameters *p)
{
    p->branch_percent = mr_random_range(random, 5, 40);
    p->value_style = mr_random_percent(random, 70) ? MR_VALUES_SMALL : MR_VALUES_UNIQUE;
    p->read_percent = mr_random_range(random, 40, 70);
    p->events = mr_random_range(random, 8, 15);
}

static void shape_opaque(mr_random *random, mr_parameters *p)
{
    p->call_percent = mr_random_range(random, 15, 40);
    p->never_percent = mr_random_percent(random, 30) ? 30 : 0;
    p->section_percent = 35;
    p->events = mr_random_range(random, 8, 18);
}

/* Some operations of each kind, or of most. */
static void shape_all_kinds(mr_random *random, mr_parameters *p)
{
    shape_semaphores(random, p, mr_random_percent(random, 60));
    shape_shared_locks(random, p);
    p->events = mr_random_range(random, 10, 17);
    p->variables = mr_random_range(random, 1, USUAL_VARIABLES);
    p->section_percent = 40;
    p->shared_percent = mr_random_below(random, 60);
    p->semaphore_percent = mr_random_below(random, 35);
    p->atomic_percent = mr_random_below(random, 60);
    p->branch_percent = mr_random_below(random, 30);
    p->call_percent = mr_random_below(random, 30);
    p->never_percent = 15;
}

/* Objects that are allocated, handed over, used and freed. */
static void shape_lives(mr_random *random, mr_parameters *p)
{
    p->slots = mr_random_range(random, 1, MR_PROGRAM_SLOTS);
    p->life_percent = mr_random_range(random, 50, 85);
    p->born_percent = mr_random_percent(random, 40) ? 60 : 0;
    p->variables = mr_random_range(random, 1, 2);
    p->atomic_percent = mr_random_percent(random, 60) ? mr_random_range(random, 10, 70) : 0;
    p->events = mr_random_range(random, 10, 18);
    if (mr_random_percent(random, 60))
        p->value_style = MR_VALUES_SMALL;
}

static void shape_kinds(mr_random *random, mr_shape shape, mr_parameters *p)
{
    switch ((int)shape) {
    case MR_SHAPE_ATOMICS:
        p->atomic_percent = mr_random_range(random, 30, 90);
        break;
    case MR_SHAPE_MEMORY_ORDERS:
        shape_memory_orders(random, p);
        break;
    case MR_SHAPE_SHARED_LOCKS:
        shape_shared_locks(random, p);
        break;
    case MR_SHAPE_SEMAPHORES:
    case MR_SHAPE_SIGNALS:
        shape_semaphores(random, p, shape == MR_SHAPE_SIGNALS);
        break;
    case MR_SHAPE_BRANCHES:
    case MR_SHAPE_BRANCHES_MISSING:
        shape_branches(random, p);
        p->missing_percent = shape == MR_SHAPE_BRANCHES_MISSING ? 50 : 0;
        p->unrecorded_percent = shape == MR_SHAPE_BRANCHES_MISSING ? 10 : 0;
        break;
    case MR_SHAPE_OPAQUE:
    case MR_SHAPE_OPAQUE_FORKS:
        shape_opaque(random, p);
        p->fork_percent = shape == MR_SHAPE_OPAQUE_FORKS ? 80 : p->fork_percent / 2;
        break;
    case MR_SHAPE_ALL_KINDS:
        shape_all_kinds(random, p);
        break;
    case MR_SHAPE_LIVES_KINDS:
        shape_all_kinds(random, p);
        shape_lives(random, p);
        p->life_percent /= 2;
        break;
    case MR_SHAPE_LIVES:
    case MR_SHAPE_LIVES_LOCKS:
    case MR_SHAPE_LIVES_FORKS:
        shape_lives(random, p);
        if (shape == MR_SHAPE_LIVES)
            p->fork_percent /= 2;
        if (shape == MR_SHAPE_LIVES_LOCKS)
            p->lock_style = MR_LOCKS_PLAIN;
        if (shape == MR_SHAPE_LIVES_FORKS)
            p->fork_percent = 80;
        break;
    default:
        break;
    }
}

/* Can an access of the slot, an alloc or a free be done now? */
static bool slot_is_ready(const run *r, mr_instruction step)
{
    return step.operand < MR_PROGRAM_FIELD ||
           r->slots[(step.operand - MR_PROGRAM_FIELD) / MR_PROGRAM_FIELDS].object;
}

/* Does a thread other than this one hold the lock shared? */
static bool shared_by_others(const run *r, uint32_t thread, uint32_t lock)
{
    for (uint32_t t = 0; t < r->parameters->threads; t++) {
        if (t != thread && r->shares[t][lock])
            return true;
    }
    return false;
}

static bool runnable(const run *r, uint32_t thread)
{
    const mr_program *program = &r->programs[thread];
    if (!r->started[thread] || r->position[thread] == program->count)
        return false;
    mr_instruction next = program->steps[r->position[thread]];
    if (next.op == MR_OP_ACQUIRE || next.op == MR_OP_SHARED_ACQUIRE)
        return (r->depth[next.operand] == 0 || r->owner[next.operand] == thread) &&
               (next.op == MR_OP_SHARED_ACQUIRE || !shared_by_others(r, thread, next.operand));
    if (next.op == MR_OP_WAIT)
        return r->units[next.operand] > 0;
    if (mr_op_is_access(next.op))
        return slot_is_ready(r, next);
    if (next.op == MR_OP_JOIN)
        return r->started[next.operand] &&
               r->position[next.operand] == r->programs[next.operand].count;
    return true;
}

static int64_t new_value(run *r, int64_t old)
{
    if (mr_random_percent(r->random, r->parameters->same_percent))
        return old;
    if (r->parameters->value_style == MR_VALUES_UNIQUE)
        return r->next_unique++;
    return mr_random_below(r->random, 2);
}

static void record(run *r, uint32_t thread, const char *operand)
{
    const mr_program *program = &r->programs[thread];
    mr_instruction step = program->steps[r->position[thread]++];
    const char *order = step.memory_order || step.op == MR_OP_FENCE
                            ? mr_memory_order_suffix((mr_memory_order)step.memory_order)
                            : "";
    r->length += (size_t)snprintf(r->text + r->length, LINE_BYTES, "T%" PRIu32 "|%s%s(%s)|%d\n",
                                  thread, mr_op_name(step.op), order, operand, step.location);
    r->event_count++;
}

static bool reads(uint8_t op)
{
    return op == MR_OP_READ || op == MR_OP_ATOMIC_READ || op == MR_OP_ATOMIC_UPDATE;
}

/* The variable's name, and where its value is. */
static int64_t *find_place(run *r, uint32_t operand, char *name)
{
    if (operand < sizeof r->memory / sizeof *r->memory) {
        sprintf(name, "x%" PRIu32, operand);
        return &r->memory[operand];
    }
    slot_state *slot = &r->slots[(operand - MR_PROGRAM_FIELD) / MR_PROGRAM_FIELDS];
    uint32_t field = (operand - MR_PROGRAM_FIELD) % MR_PROGRAM_FIELDS;
    sprintf(name, "o%" PRIu32 ".%" PRIu32, slot->object - 1, field);
    return &slot->memory[field];
}

static void do_access(run *r, uint32_t thread, mr_instruction step)
{
    char name[OPERAND_BYTES / 4];
    int64_t *place = find_place(r, step.operand, name);
    bool outside =
        reads(step.op) && mr_random_percent(r->random, r->parameters->unrecorded_percent);
    if (!reads(step.op) || outside)
        *place = new_value(r, *place);
    int64_t before = *place;
    if (step.op == MR_OP_ATOMIC_UPDATE)
        *place = new_value(r, before);
    char operand[OPERAND_BYTES];
    bool hidden =
        r->parameters->value_style == MR_VALUES_NONE ||
        (r->missing[step.operand % MR_PROGRAM_VARIABLES] && mr_random_percent(r->random, 40));
    if (hidden)
        snprintf(operand, sizeof operand, "%s", name);
    else if (step.op == MR_OP_ATOMIC_UPDATE)
        snprintf(operand, sizeof operand, "%s=%" PRId64 ">%" PRId64, name, before, *place);
    else
        snprintf(operand, sizeof operand, "%s=%" PRId64, name, *place);
    record(r, thread, operand);
}

/* The lines that say which variables the object has. */
static void print_members(run *r, uint32_t object)
{
    for (uint32_t field = 0; field < MR_PROGRAM_FIELDS; field++)
        r->length +=
            (size_t)snprintf(r->text + r->length, LINE_BYTES,
                             "#@in o%" PRIu32 ".%" PRIu32 " o%" PRIu32 "\n", object, field, object);
}

/* A new object, of which the memory is as it was left. */
static void fill_slot(run *r, uint32_t slot)
{
    r->slots[slot].object = ++r->object_count;
    r->slots[slot].freed = false;
    print_members(r, r->object_count - 1);
}

/* An alloc or a free. One that makes no sense is passed over: too many objects, none to free. */
static void do_life(run *r, uint32_t thread, mr_instruction step)
{
    char operand[OPERAND_BYTES];
    slot_state *slot = &r->slots[step.operand];
    bool begins = step.op == MR_OP_ALLOC;
    if (begins ? r->object_count == MOST_OBJECTS : !slot->object || slot->freed) {
        r->position[thread]++;
        return;
    }
    /* What is still there stays at its address for good. */
    uint32_t address = 1u + step.operand;
    if (slot->object && !slot->freed)
        address = 16 + r->object_count;
    if (begins)
        fill_slot(r, step.operand);
    else
        slot->freed = true;
    int used = sprintf(operand, "o%" PRIu32, slot->object - 1);
    if (begins && r->has_extents)
        sprintf(operand + used, "=%" PRIu32 "+16", 4096 * address);
    record(r, thread, operand);
}

/* Writes "m1:x0,l2,T1,…". */
static void print_reach(const run *r, mr_instruction step, char *operand)
{
    const char letters[] = {'x', r->lock_letter, 's', 'T'};
    size_t used = (size_t)sprintf(operand, "m%d:", step.operand), start = used;
    for (uint32_t i = 0; i < sizeof letters * MR_REACH_NAMES; i++) {
        if (step.reach >> i & 1)
            used += (size_t)sprintf(operand + used, "%s%c%" PRIu32, used == start ? "" : ",",
                                    letters[i / MR_REACH_NAMES], i % MR_REACH_NAMES);
    }
    for (uint32_t i = 0; i < MR_PROGRAM_SLOTS * MR_PROGRAM_FIELDS; i++) {
        uint32_t object = r->slots[i / MR_PROGRAM_FIELDS].object;
        if (step.reach / MR_REACH_FIELD >> i & 1 && object)
            used += (size_t)sprintf(operand + used, "%so%" PRIu32 ".%" PRIu32,
                                    used == start ? "" : ",", object - 1, i % MR_PROGRAM_FIELDS);
    }
    if (step.reach & MR_REACH_NOTHING)
        used += (size_t)sprintf(operand + used, "%sq", used == start ? "" : ",");
    if (step.reach & MR_REACH_ALL)
        sprintf(operand + used, "%s*", used == start ? "" : ",");
}

/* What the step changes of locks, semaphores and threads. */
static void change_state(run *r, uint32_t thread, mr_instruction step)
{
    switch ((mr_op)step.op) {
    case MR_OP_ACQUIRE:
        r->depth[step.operand]++;
        r->owner[step.operand] = thread;
        break;
    case MR_OP_RELEASE:
        r->depth[step.operand]--;
        break;
    case MR_OP_SHARED_ACQUIRE:
        r->shares[thread][step.operand]++;
        break;
    case MR_OP_SHARED_RELEASE:
        r->shares[thread][step.operand]--;
        break;
    case MR_OP_POST:
        r->units[step.operand]++;
        break;
    case MR_OP_WAIT:
        r->units[step.operand]--;
        break;
    case MR_OP_FORK:
        r->started[step.operand] = true;
        break;
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
}

static void do_step(run *r, uint32_t thread)
{
    mr_instruction step = r->programs[thread].steps[r->position[thread]];
    if (mr_op_operand_kind(step.op) == MR_OPERAND_VARIABLE) {
        do_access(r, thread, step);
        return;
    }
    if (step.op == MR_OP_ALLOC || step.op == MR_OP_FREE) {
        do_life(r, thread, step);
        return;
    }
    char operand[OPERAND_BYTES] = "", letter = '\0';
    change_state(r, thread, step);
    if (step.op == MR_OP_POST || step.op == MR_OP_WAIT)
        letter = 's';
    else if (mr_op_operand_kind(step.op) == MR_OPERAND_LOCK)
        letter = r->lock_letter;
    else if (mr_op_operand_kind(step.op) == MR_OPERAND_THREAD)
        letter = 'T';
    else if (step.op == MR_OP_CALL_END)
        letter = 'm';
    if (step.op == MR_OP_CALL_BEGIN)
        print_reach(r, step, operand);
    else if (letter)
        snprintf(operand, sizeof operand, "%c%d", letter, step.operand);
    record(r, thread, operand);
}

static void run_programs(run *r)
{
    uint32_t last = mr_random_below(r->random, r->parameters->threads);
    while (r->event_count < r->parameters->events) {
        uint32_t choices[MR_PROGRAM_THREADS], count = 0;
        for (uint32_t t = 0; t < r->parameters->threads; t++) {
            if (runnable(r, t))
                choices[count++] = t;
        }
        if (!count)
            return;
        if (!runnable(r, last) || !mr_random_percent(r->random, r->parameters->stay_percent))
            last = choices[mr_random_below(r->random, count)];
        do_step(r, last);
    }
}

static void run_init(run *r)
{
    const mr_parameters *p = r->parameters;
    static const int64_t unique_starts[] = {1, -7, INT64_MIN, INT64_MAX - 100, 1000000007};
    mr_program_build(r->random, p, r->programs);
    for (uint32_t t = 0; t < p->threads; t++)
        r->started[t] = !r->programs[t].forked;
    r->lock_letter = p->call_percent && mr_random_percent(r->random, 20) ? 'x' : 'l';
    r->next_unique = unique_starts[mr_random_below(r->random, 5)];
    for (uint32_t x = 0; x < p->variables; x++) {
        r->memory[x] = p->value_style == MR_VALUES_SMALL ? mr_random_below(r->random, 2) : 0;
        r->missing[x] = mr_random_percent(r->random, p->missing_percent);
    }
    if (!p->slots)
        return;
    r->has_extents = mr_random_percent(r->random, 50);
    for (uint32_t slot = 0; slot < p->slots; slot++)
        if (mr_random_percent(r->random, p->born_percent))
            fill_slot(r, slot);
}

/* More events on more variables: with few, conflicts order nearly everything. */
static void lengthen(mr_random *random, mr_shape shape, mr_parameters *p)
{
    if (shape == MR_SHAPE_MANY_THREADS)
        p->threads = mr_random_range(random, USUAL_THREADS, MR_PROGRAM_THREADS);
    p->events = mr_random_range(random, LONGER_LEAST + 4, LONGER_MOST);
    if (p->lock_style == MR_LOCKS_CHAIN) /* one or two sections a thread: more would order more */
        p->threads = mr_random_range(random, 3, USUAL_THREADS);
    else
        p->variables = mr_random_range(random, 2, MR_PROGRAM_VARIABLES);
}

static char *generate(uint64_t seed, mr_shape shape, bool longer)
{
    /* The shapes of one map must not change when the other one grows. */
    mr_random random = {seed * MR_SHAPE_COUNT + (uint64_t)shape};
    if (shape >= MR_SHAPE_COUNT)
        random = (mr_random){(seed << 8 | (uint64_t)shape) ^ UINT64_C(0x6b696e6473)};
    uint32_t least = longer ? LONGER_LEAST : LEAST_EVENTS;
    uint32_t most = longer ? LONGER_MOST : MOST_EVENTS;
    char *text = mr_malloc(0, (size_t)(most + MEMBER_LINES) * LINE_BYTES);
    if (!text)
        return NULL;
    for (;;) { /* ends: most draws are long enough */
        mr_parameters parameters = any_parameters(&random);
        shape_threads_and_locks(&random, shape, &parameters);
        shape_values(&random, shape, &parameters);
        shape_kinds(&random, shape, &parameters);
        if (longer)
            lengthen(&random, shape, &parameters);
        assert(parameters.events <= most);
        run r = {.random = &random, .parameters = &parameters, .text = text};
        run_init(&r);
        run_programs(&r);
        if (r.event_count >= least)
            return text;
    }
}

char *mr_generate_trace(uint64_t seed, mr_shape shape)
{
    return generate(seed, shape, false);
}

char *mr_generate_longer_trace(uint64_t seed, mr_shape shape)
{
    return generate(seed, shape, true);
}
