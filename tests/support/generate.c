#include "generate.h"

#include "base/memory.h"
#include "shapes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST_EVENTS = 4,
    LONGER_LEAST = 20,
    LONGER_MOST = 48,
    OPERAND_BYTES = 96,
    LINE_BYTES = 128,
    OBJECT_BYTES = 16,
    MOST_OBJECTS = 5,
    MEMBER_LINES = MOST_OBJECTS * MR_PROGRAM_FIELDS,
};

/* What is in a slot. */
typedef struct slot_state {
    uint32_t object; /* number + 1; 0: none so far */
    bool freed;
    uint32_t address; /* of the object; 0: not known */
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
    int64_t spins[MR_PROGRAM_LOCKS];    /* locks that are variables */
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
    static const char *const names[MR_SHAPE_WITH_GOALS] = {
#define MR_SHAPE_NAME(name, text) [MR_SHAPE_##name] = (text),
        MR_SHAPE_MAP(MR_SHAPE_NAME) MR_KIND_SHAPE_MAP(MR_SHAPE_NAME)
            MR_GOAL_SHAPE_MAP(MR_SHAPE_NAME)
#undef MR_SHAPE_NAME
    };
    return names[shape];
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

/* What a write leaves in its variable. */
static int64_t value_to_write(run *r, mr_instruction step, int64_t old)
{
    if (step.points == MR_POINTS_NOWHERE)
        return new_value(r, old);
    if (step.points == MR_POINTS_NULL)
        return 0;
    const slot_state *slot = &r->slots[step.points - MR_POINTS_SLOT];
    /* Most often its beginning, seldom the first byte behind it. */
    uint32_t kind = mr_random_below(r->random, 10);
    return slot->address ? slot->address + (kind < 7 ? 0 : kind < 9 ? 8 : OBJECT_BYTES) : 0;
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
        *place = value_to_write(r, step, *place);
    int64_t before = *place;
    if (step.op == MR_OP_ATOMIC_UPDATE)
        *place = value_to_write(r, step, before);
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
    if (begins)
        slot->address = r->has_extents ? 4096 * address : 0;
    int used = sprintf(operand, "o%" PRIu32, slot->object - 1);
    if (begins && r->has_extents)
        sprintf(operand + used, "=%" PRIu32 "+%d", slot->address, OBJECT_BYTES);
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

/* An access of a lock that is a variable, by another operation than the step's. */
static void spin(run *r, uint32_t thread, uint32_t lock, mr_op op, int64_t value)
{
    char operand[OPERAND_BYTES];
    if (op == MR_OP_ATOMIC_UPDATE)
        sprintf(operand, "l%" PRIu32 "=%" PRId64 ">%" PRId64, lock, r->spins[lock], value);
    else
        sprintf(operand, "l%" PRIu32 "=%" PRId64, lock, value);
    r->spins[lock] = value;
    r->programs[thread].steps[r->position[thread]].op = (uint8_t)op;
    record(r, thread, operand);
}

/* Acquires or releases such a lock. Only the outermost pair is events. */
static void do_spin(run *r, uint32_t thread, mr_instruction step)
{
    static const mr_op releases[] = {MR_OP_WRITE, MR_OP_ATOMIC_WRITE, MR_OP_ATOMIC_UPDATE};
    change_state(r, thread, step);
    if (r->depth[step.operand] != (step.op == MR_OP_ACQUIRE))
        r->position[thread]++;
    else if (step.op == MR_OP_ACQUIRE)
        spin(r, thread, step.operand, MR_OP_ATOMIC_UPDATE, mr_random_below(r->random, 2) + 1);
    else
        spin(r, thread, step.operand, releases[mr_random_below(r->random, 3)], 0);
}

/* Acquires or releases a lock that counts who has it shared; -3: nobody, too. */
static void do_count(run *r, uint32_t thread, mr_instruction step)
{
    enum { IDLE = -3 };
    int64_t value = r->spins[step.operand];
    bool idle = mr_random_percent(r->random, 30),
         exclusive = step.op == MR_OP_ACQUIRE || step.op == MR_OP_RELEASE;
    change_state(r, thread, step);
    if (exclusive && r->depth[step.operand] != (step.op == MR_OP_ACQUIRE)) {
        r->position[thread]++;
        return;
    }
    if (step.op == MR_OP_ACQUIRE)
        value = -1 - mr_random_below(r->random, 2);
    else if (step.op == MR_OP_RELEASE)
        value = idle ? IDLE : 0;
    else if (step.op == MR_OP_SHARED_ACQUIRE)
        value = value == IDLE ? 1 : value + 1;
    else
        value = idle && value == 1 ? IDLE : value - 1;
    spin(r, thread, step.operand, MR_OP_ATOMIC_UPDATE, value);
}

static void do_step(run *r, uint32_t thread)
{
    mr_instruction step = r->programs[thread].steps[r->position[thread]];
    if (r->parameters->counts && MR_OP_DOES(step.op, MR_ACQUIRES | MR_RELEASES)) {
        do_count(r, thread, step);
        return;
    }
    if (r->parameters->spins && (step.op == MR_OP_ACQUIRE || step.op == MR_OP_RELEASE)) {
        do_spin(r, thread, step);
        return;
    }
    if (r->parameters->spins && mr_op_is_access(step.op) &&
        mr_random_percent(r->random, r->parameters->stray_percent)) {
        spin(r, thread, 0, MR_OP_WRITE, 0);
        return;
    }
    if (mr_op_is_access(step.op)) {
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
    else if (step.op == MR_OP_DEREF)
        letter = 'x';
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
    r->has_extents = p->pointers || mr_random_percent(r->random, 50);
    for (uint32_t slot = 0; slot < p->slots; slot++)
        if (mr_random_percent(r->random, p->born_percent))
            fill_slot(r, slot);
}

/* More events on more variables: with few, conflicts order nearly everything. */
static void lengthen(mr_random *random, mr_shape shape, mr_parameters *p)
{
    if (shape == MR_SHAPE_MANY_THREADS)
        p->threads = mr_random_range(random, MR_SHAPE_THREADS, MR_PROGRAM_THREADS);
    p->events = mr_random_range(random, LONGER_LEAST + 4, LONGER_MOST);
    if (p->lock_style == MR_LOCKS_CHAIN) /* one or two sections a thread: more would order more */
        p->threads = mr_random_range(random, 3, MR_SHAPE_THREADS);
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
    uint32_t most = longer ? LONGER_MOST : MR_SHAPE_MOST_EVENTS;
    char *text = mr_malloc(0, (size_t)(most + MEMBER_LINES) * LINE_BYTES);
    if (!text)
        return NULL;
    for (;;) { /* ends: most draws are long enough */
        mr_parameters parameters = mr_shape_any(&random);
        mr_shape_apply(&random, shape, &parameters);
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
