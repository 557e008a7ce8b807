#include "shapes.h"

enum { USUAL_VARIABLES = 3, USUAL_LOCKS = 3 };

/* One draw a statement: the order of draws must not depend on the compiler. */
mr_parameters mr_shape_any(mr_random *random)
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
    p->events = mr_random_range(random, 16, MR_SHAPE_MOST_EVENTS);
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
        p->threads = mr_random_range(random, 4, MR_SHAPE_THREADS);
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
        p->events = mr_random_range(random, 10, MR_SHAPE_MOST_EVENTS);
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

/* Locks that are variables; most traces have nothing else that excludes. */
static void shape_spin_locks(mr_random *random, mr_parameters *p)
{
    static const mr_lock_style styles[] = {MR_LOCKS_PLAIN, MR_LOCKS_NESTED, MR_LOCKS_HAND,
                                           MR_LOCKS_REENTRANT};
    p->spins = true;
    p->stray_percent = mr_random_percent(random, 20) ? 10 : 0;
    p->lock_style = styles[mr_random_below(random, 4)];
    p->locks = mr_random_range(random, 1, 2);
    p->section_percent = mr_random_range(random, 40, 90);
    p->events = mr_random_range(random, 10, MR_SHAPE_MOST_EVENTS);
    p->atomic_percent = mr_random_percent(random, 30) ? 20 : 0;
    p->missing_percent /= 2;
    p->unrecorded_percent /= 2;
    p->counts = mr_random_percent(random, 50);
    if (p->counts) {
        p->lock_style = mr_random_percent(random, 70) ? MR_LOCKS_PLAIN : MR_LOCKS_NESTED;
        p->shared_percent = mr_random_range(random, 30, 70);
        p->stray_percent /= 2;
    }
    p->fork_percent /= 2;
}

/* Steps of some kinds in any order: within sections and calls there is whatever there is elsewhere. */
static void shape_mingled(mr_random *random, mr_parameters *p, bool lives)
{
    const struct {
        uint8_t low, high, percent;
    } kinds[MR_MINGLED_COUNT] = {
        [MR_MINGLED_ACCESS] = {4, 10, 100}, [MR_MINGLED_ENTER] = {3, 8, 90},
        [MR_MINGLED_LEAVE] = {3, 8, 100},   [MR_MINGLED_SEMAPHORE] = {1, 4, lives ? 20 : 40},
        [MR_MINGLED_USE] = {2, 6, 100},     [MR_MINGLED_ALLOC] = {1, 2, 70},
        [MR_MINGLED_FREE] = {1, 3, 100},    [MR_MINGLED_CALL] = {1, 3, lives ? 15 : 40},
        [MR_MINGLED_RETURN] = {1, 4, 100},  [MR_MINGLED_BRANCH] = {1, 3, 30},
    };
    for (uint32_t k = 0; k < MR_MINGLED_POINTER; k++) {
        uint8_t weight = (uint8_t)mr_random_range(random, kinds[k].low, kinds[k].high);
        bool life = k == MR_MINGLED_USE || k == MR_MINGLED_ALLOC || k == MR_MINGLED_FREE;
        bool some = mr_random_percent(random, kinds[k].percent);
        p->mingled[k] = some && (lives || !life) ? weight : 0;
    }
    p->slots = lives ? mr_random_range(random, 1, MR_PROGRAM_SLOTS) : 0;
    p->born_percent = mr_random_percent(random, 60) ? 80 : 0;
    p->semaphores = mr_random_range(random, 1, MR_PROGRAM_SEMAPHORES);
    p->signal_percent = mr_random_range(random, 50, 100);
    p->units = mr_random_below(random, 2);
    p->atomic_percent = mr_random_percent(random, 40) ? mr_random_range(random, 10, 70) : 0;
    p->shared_percent = mr_random_percent(random, 40) ? mr_random_range(random, 20, 60) : 0;
    p->never_percent = mr_random_percent(random, 30) ? 30 : 0;
    p->value_style = mr_random_percent(random, 70) ? MR_VALUES_SMALL : MR_VALUES_UNIQUE;
    p->spins = mr_random_percent(random, 20);
    p->counts = p->spins && mr_random_percent(random, 40);
    p->fork_percent = mr_random_percent(random, 40) ? 70 : 0;
    p->threads = mr_random_range(random, 2, 4);
    p->events = mr_random_range(random, 10, MR_SHAPE_MOST_EVENTS);
    p->missing_percent /= 2;
    p->unrecorded_percent /= 2;
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
    case MR_SHAPE_SPIN_LOCKS:
        shape_spin_locks(random, p);
        break;
    case MR_SHAPE_MINGLED:
    case MR_SHAPE_MINGLED_LIVES:
        shape_mingled(random, p, shape == MR_SHAPE_MINGLED_LIVES);
        break;
    default:
        break;
    }
}

/* Pointers to objects that are handed over, reset and used. */
static void shape_pointers(mr_random *random, mr_parameters *p)
{
    shape_lives(random, p);
    p->pointers = mr_random_range(random, 1, 2);
    p->variables = p->pointers + mr_random_below(random, 2);
    p->pointer_percent = mr_random_range(random, 50, 85);
    p->life_percent = mr_random_range(random, 20, 60);
    p->value_style = mr_random_percent(random, 80) ? MR_VALUES_SMALL : MR_VALUES_UNIQUE;
    p->missing_percent /= 2;
    p->unrecorded_percent /= 2;
    p->fork_percent = mr_random_percent(random, 70) ? 80 : 0;
    p->threads = mr_random_range(random, 2, 3);
    p->events = mr_random_range(random, 12, MR_SHAPE_MOST_EVENTS);
}

/* Sections of two locks, in any order, so that threads may wait for each other. */
static void shape_cycles(mr_random *random, mr_parameters *p)
{
    p->threads = mr_random_range(random, 2, 4);
    p->locks = mr_random_range(random, 2, 4);
    p->events = mr_random_range(random, 12, MR_SHAPE_MOST_EVENTS);
    if (mr_random_percent(random, 40)) { /* a circle of three fits */
        p->threads = p->locks = 3;
        p->events = MR_SHAPE_MOST_EVENTS;
    }
    p->lock_style = MR_LOCKS_CYCLE;
    p->section_percent = 95;
    p->variables = mr_random_range(random, 1, 2);
    p->stay_percent = mr_random_range(random, 70, 95);
    p->open_percent /= 2;
    p->fork_percent /= 2;
}

static void shape_goals(mr_random *random, mr_shape shape, mr_parameters *p)
{
    if (shape < MR_SHAPE_ALL)
        return;
    if (shape <= MR_SHAPE_POINTER_KINDS) {
        if (shape == MR_SHAPE_POINTER_KINDS)
            shape_all_kinds(random, p);
        shape_pointers(random, p);
        if (shape == MR_SHAPE_POINTER_LOCKS)
            p->lock_style = MR_LOCKS_PLAIN;
        return;
    }
    if (shape == MR_SHAPE_MINGLED_GOALS) {
        shape_mingled(random, p, true);
        p->pointers = 1;
        p->mingled[MR_MINGLED_POINTER] = (uint8_t)mr_random_range(random, 2, 6);
        return;
    }
    shape_cycles(random, p);
    p->try_percent = mr_random_percent(random, 30) ? 25 : 0;
    if (shape == MR_SHAPE_SHARED_CYCLES)
        p->shared_percent = mr_random_range(random, 30, 70);
    if (shape == MR_SHAPE_GUARDED_CYCLES) {
        p->guard_percent = mr_random_range(random, 30, 90);
        p->threads = mr_random_percent(random, 80) ? 2 : 3;
        p->locks = 3;
        p->fork_percent = 0;
        p->open_percent = 0;
    }
    if (shape == MR_SHAPE_GOALS) {
        shape_pointers(random, p);
        p->pointer_percent = 30;
        p->guard_percent = mr_random_below(random, 30);
        p->shared_percent = mr_random_below(random, 40);
        p->branch_percent = mr_random_below(random, 20);
        p->events = mr_random_range(random, 12, MR_SHAPE_MOST_EVENTS);
    }
}

void mr_shape_apply(mr_random *random, mr_shape shape, mr_parameters *p)
{
    shape_threads_and_locks(random, shape, p);
    shape_values(random, shape, p);
    shape_kinds(random, shape, p);
    shape_goals(random, shape, p);
}
