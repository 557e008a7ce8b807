#include "parted.h"

#include "base/assert.h"
#include "base/memory.h"
#include "order/hb.h"

#include <stdlib.h>
#include <string.h>

/* Accesses of one thread that nothing tells apart. */
typedef struct access_class {
    uint32_t location, event; /* of the last of them */
    uint32_t local;
    uint32_t held;  /* what the thread holds: a place in `sets` */
    uint32_t below; /* the thread's class before, + 1; 0: none */
    uint32_t seen;  /* classes of the variable that the last of them was compared with */
    uint8_t op;
} access_class;

/* A thread that accesses a variable at wanted locations. */
typedef struct accessor {
    uint32_t thread, top; /* its last class, + 1 */
    uint32_t next;        /* of the variable, + 1 */
} accessor;

typedef struct variable {
    mr_time write; /* of the last write; local 0: none so far */
    uint32_t accessors, class_count;
} variable;

/* Of a thread: the locks that it is in sections of. */
typedef struct thread_state {
    mr_u32s locks;
    uint32_t set; /* place in `sets` + 1; 0: not noted since the locks changed */
    bool ran;     /* the thread has had an event */
} thread_state;

/* The first two accesses that nothing orders at two locations. */
typedef struct meeting {
    uint32_t first, second;
} meeting;

struct mr_parted {
    const mr_wanted *wanted;
    const mr_outlook *outlook;
    mr_hb hb; /* without the edges of locks */
    thread_state *threads;
    size_t thread_count, thread_capacity;
    uint32_t *places; /* by variable: its number in `variables` + 1; 0: none so far */
    size_t place_count, place_capacity;
    variable *variables;
    size_t variable_count, variable_capacity;
    accessor *accessors;
    size_t accessor_count, accessor_capacity;
    access_class *classes;
    size_t class_count, class_capacity;
    mr_u32s sets;      /* a length and so many locks, each */
    uint8_t *is_noted; /* by lock: is it in a set? */
    size_t noted_count, noted_capacity;
    mr_map acquires; /* (lock in a set, thread) to its last acquire */
    mr_map met;      /* the wanted pairs that are not parted, to their number in `meetings` */
    meeting *meetings;
    size_t meeting_capacity;
    uint8_t *freed; /* by wanted location: is a free there? */
    uint64_t steps, events;
    bool gave_up;
};

mr_parted *mr_parted_new(const mr_wanted *wanted, const mr_outlook *outlook)
{
    mr_parted *parted = mr_calloc(1, sizeof *parted);
    MR_REQUIRE(!wanted->all_but);
    if (!parted)
        return NULL;
    parted->wanted = wanted;
    parted->outlook = outlook;
    parted->freed = mr_calloc(wanted->location_count + 1, sizeof *parted->freed);
    if (parted->freed)
        return parted;
    mr_parted_free(parted);
    return NULL;
}

void mr_parted_free(mr_parted *parted)
{
    if (!parted)
        return;
    for (size_t i = 0; i < parted->variable_count; i++)
        mr_clock_drop(&parted->hb.pool, &parted->variables[i].write.clock);
    for (size_t i = 0; i < parted->thread_count; i++)
        mr_u32s_free(&parted->threads[i].locks);
    mr_hb_free(&parted->hb);
    free(parted->threads);
    free(parted->places);
    free(parted->variables);
    free(parted->accessors);
    free(parted->classes);
    mr_u32s_free(&parted->sets);
    free(parted->is_noted);
    mr_map_free(&parted->acquires);
    mr_map_free(&parted->met);
    free(parted->meetings);
    free(parted->freed);
    free(parted);
}

/* Room for `need` zeroed items more than there are; `*count` becomes `need`. */
static bool widen(void **items, size_t *count, size_t *capacity, size_t need, size_t bytes)
{
    if (need <= *count)
        return true;
    if (!mr_grow(items, capacity, need, bytes))
        return false;
    memset((char *)*items + *count * bytes, 0, (need - *count) * bytes);
    *count = need;
    return true;
}

static bool grow(mr_parted *parted, const mr_events *events)
{
    void *threads = parted->threads, *places = parted->places, *noted = parted->is_noted;
    bool ok = mr_hb_grow(&parted->hb, events->thread_count, events->lock_count);
    ok = ok && widen(&threads, &parted->thread_count, &parted->thread_capacity,
                     events->thread_count, sizeof *parted->threads);
    parted->threads = threads;
    ok = ok && widen(&places, &parted->place_count, &parted->place_capacity, events->variable_count,
                     sizeof *parted->places);
    parted->places = places;
    ok = ok && widen(&noted, &parted->noted_count, &parted->noted_capacity, events->lock_count,
                     sizeof *parted->is_noted);
    parted->is_noted = noted;
    return ok;
}

/* NULL: no memory. */
static variable *get_variable(mr_parted *parted, uint32_t number)
{
    uint32_t *place = &parted->places[number];
    if (!*place) {
        void *variables = parted->variables;
        if (!mr_grow(&variables, &parted->variable_capacity, parted->variable_count + 1,
                     sizeof *parted->variables))
            return NULL;
        parted->variables = variables;
        parted->variables[parted->variable_count++] = (variable){0};
        *place = (uint32_t)parted->variable_count;
    }
    return &parted->variables[*place - 1];
}

/* ---- locks ---- */

static bool enter(mr_parted *parted, uint32_t thread, uint32_t lock, uint32_t event)
{
    thread_state *by = &parted->threads[thread];
    by->set = 0;
    if (!mr_u32s_push(&by->locks, lock))
        return false;
    uint32_t *last =
        parted->is_noted[lock] ? mr_map_at(&parted->acquires, mr_map_key(lock, thread), 0) : &event;
    if (last)
        *last = event;
    return last != NULL;
}

static void leave(mr_parted *parted, uint32_t thread, uint32_t lock)
{
    mr_u32s *locks = &parted->threads[thread].locks;
    size_t i = locks->count;
    while (i && locks->items[i - 1] != lock)
        i--;
    MR_ASSERT(i > 0);
    locks->items[i - 1] = locks->items[--locks->count];
    parted->threads[thread].set = 0;
}

/* Notes the set of locks that the thread is in sections of. */
static bool note_set(mr_parted *parted, uint32_t thread)
{
    thread_state *by = &parted->threads[thread];
    if (by->set)
        return true;
    by->set = (uint32_t)parted->sets.count + 1;
    parted->steps += by->locks.count;
    bool ok = mr_u32s_push(&parted->sets, (uint32_t)by->locks.count);
    for (size_t i = 0; ok && i < by->locks.count; i++) {
        parted->is_noted[by->locks.items[i]] = 1;
        ok = mr_u32s_push(&parted->sets, by->locks.items[i]);
    }
    return ok;
}

/* Has the thread acquired a lock since the accesses of the class, in a section of which they were? */
static bool has_waited(mr_parted *parted, const access_class *first, uint32_t thread)
{
    const uint32_t *set = parted->sets.items + first->held;
    parted->steps += set[0];
    for (uint32_t i = 1; i <= set[0]; i++)
        if (mr_map_get(&parted->acquires, mr_map_key(set[i], thread), 0) > first->event)
            return true;
    return false;
}

/* ---- accesses ---- */

typedef struct arrival {
    uint32_t event, thread, location;
    uint8_t op;
} arrival;

/* Nothing orders the two accesses. */
static bool meet(mr_parted *parted, const access_class *class, const arrival *new)
{
    uint32_t known = parted->met.count;
    uint64_t key = mr_map_key_of_two(class->location, new->location);
    const uint32_t *number = mr_map_at(&parted->met, key, known);
    if (!number)
        return false;
    if (*number == known) {
        void *meetings = parted->meetings;
        if (!mr_grow(&meetings, &parted->meeting_capacity, (size_t)known + 1,
                     sizeof *parted->meetings))
            return false;
        parted->meetings = meetings;
        parted->meetings[known] = (meeting){class->event, new->event};
    }
    meeting *first = &parted->meetings[*number];
    if (first->second == new->event && first->first < class->event)
        first->first = class->event;
    return true;
}

/* Compares the access with the classes of another thread that its own has not learnt of. */
static bool compare(mr_parted *parted, const accessor *other, const arrival *new)
{
    uint32_t known = mr_clock_get(parted->hb.threads[new->thread].clock, other->thread);
    for (uint32_t at = other->top; at; at = parted->classes[at - 1].below) {
        const access_class *class = &parted->classes[at - 1];
        if (class->local <= known)
            break;
        parted->steps++;
        if (!mr_ops_conflict(class->op, new->op) ||
            !mr_wanted_pair(parted->wanted, class->location, new->location) ||
            has_waited(parted, class, new->thread))
            continue;
        if (!meet(parted, class, new))
            return false;
    }
    return true;
}

/* The class of the access, + 1; 0: there is none yet. */
static uint32_t find_class(mr_parted *parted, uint32_t top, const arrival *new)
{
    uint32_t local = parted->hb.threads[new->thread].local;
    uint32_t held = parted->threads[new->thread].set - 1;
    for (uint32_t at = top; at; at = parted->classes[at - 1].below) {
        const access_class *class = &parted->classes[at - 1];
        if (class->local != local || class->held != held)
            break;
        if (class->location == new->location &&class->op == new->op)
            return at;
        parted->steps++;
    }
    return 0;
}

static bool add_class(mr_parted *parted, variable *of, uint32_t own, const arrival *new)
{
    void *classes = parted->classes;
    if (!mr_grow(&classes, &parted->class_capacity, parted->class_count + 1,
                 sizeof *parted->classes))
        return false;
    parted->classes = classes;
    of->class_count++;
    parted->classes[parted->class_count++] =
        (access_class){.location = new->location,
                       .event = new->event,
                       .local = parted->hb.threads[new->thread].local,
                       .held = parted->threads[new->thread].set - 1,
                       .below = parted->accessors[own].top,
                       .seen = of->class_count,
                       .op = new->op};
    parted->accessors[own].top = (uint32_t)parted->class_count;
    return true;
}

/* The thread among those of the variable. UINT32_MAX: no memory. */
static uint32_t get_accessor(mr_parted *parted, variable *of, uint32_t thread)
{
    for (uint32_t at = of->accessors; at; at = parted->accessors[at - 1].next) {
        if (parted->accessors[at - 1].thread == thread)
            return at - 1;
        parted->steps++;
    }
    void *accessors = parted->accessors;
    if (!mr_grow(&accessors, &parted->accessor_capacity, parted->accessor_count + 1,
                 sizeof *parted->accessors))
        return UINT32_MAX;
    parted->accessors = accessors;
    parted->accessors[parted->accessor_count++] = (accessor){thread, 0, of->accessors};
    of->accessors = (uint32_t)parted->accessor_count;
    return of->accessors - 1;
}

/* An access at a wanted location. */
static bool look(mr_parted *parted, variable *of, const arrival *new)
{
    uint32_t own =
        note_set(parted, new->thread) ? get_accessor(parted, of, new->thread) : UINT32_MAX;
    if (own == UINT32_MAX)
        return false;
    uint32_t class = find_class(parted, parted->accessors[own].top, new);
    if (class)
        parted->classes[class - 1].event = new->event;
    if (class && parted->classes[class - 1].seen == of->class_count)
        return true;
    for (uint32_t at = of->accessors; at; at = parted->accessors[at - 1].next) {
        parted->steps++;
        if (at - 1 != own && !compare(parted, &parted->accessors[at - 1], new))
            return false;
    }
    if (!class)
        return add_class(parted, of, own, new);
    parted->classes[class - 1].seen = of->class_count;
    return true;
}

/* Of a contended variable, or an atomic one. */
static bool access(mr_parted *parted, const arrival *new, uint32_t operand)
{
    mr_hb *hb = &parted->hb;
    mr_hb_thread *thread = &hb->threads[new->thread];
    variable *of = get_variable(parted, operand);
    if (!of || (mr_wanted_location(parted->wanted, new->location) && !look(parted, of, new)))
        return false;
    if (mr_op_reads(new->op) && of->write.local && of->write.thread != new->thread &&
        !mr_clock_learn(&hb->pool, &thread->clock, of->write))
        return false;
    if (mr_op_writes(new->op)) {
        mr_time_set(&hb->pool, &of->write, mr_hb_now(hb, new->thread));
        thread->local++;
    }
    return true;
}

/* A write of all variables of an object. Pairs with its location are not looked at. */
static void note_free(mr_parted *parted, uint32_t location)
{
    if (mr_wanted_location(parted->wanted, location))
        parted->freed[location] = 1;
}

static bool follow(mr_parted *parted, const mr_events *events, uint32_t row)
{
    uint8_t op = events->op[row];
    uint32_t thread = events->thread[row], operand = events->operand[row];
    arrival new = {(uint32_t)(events->first + row), thread, events->location[row], op};
    if (mr_op_is_access(op))
        return access(parted, &new, operand);
    if (op == MR_OP_ACQUIRE)
        return !mr_hb_enters(&parted->hb, operand) || enter(parted, thread, operand, new.event);
    if (op == MR_OP_RELEASE) {
        if (mr_hb_leaves(&parted->hb, operand))
            leave(parted, thread, operand);
    } else if (mr_op_forks(op)) {
        return mr_hb_fork(&parted->hb, thread, operand);
    } else if (mr_op_joins(op)) {
        /* The join of a thread without events needs nothing. */
        return !parted->threads[operand].ran || mr_hb_join(&parted->hb, thread, operand);
    } else if (mr_op_ends_life(op)) {
        note_free(parted, new.location);
    }
    return true;
}

/* The first event from `row` on that is not passed over: neither a plain access of a variable that is not contended nor a section of
 * a lock that one thread has. Most events are. */
static uint32_t pass_over(mr_parted *parted, const mr_events *events, uint32_t row)
{
    const uint8_t *contended = parted->outlook->contended, *shared = parted->outlook->lock_shared;
    const uint8_t *ops = events->op;
    const uint32_t *threads = events->thread, *operands = events->operand;
    for (uint32_t last = UINT32_MAX; row < events->count; row++) {
        uint32_t op = ops[row];
        if (threads[row] != last) {
            last = threads[row];
            parted->threads[last].ran = true;
        }
        if (op <= MR_OP_WRITE ? contended[operands[row]]
                              : op < MR_OP_ACQUIRE || op > MR_OP_RELEASE || shared[operands[row]])
            break;
    }
    return row;
}

bool mr_parted_feed(mr_parted *parted, const mr_events *events)
{
    enum { STEPS_LEAST = 1 << 20, STEPS_AN_EVENT = 4 };
    _Static_assert(MR_OP_READ == 0 && MR_OP_WRITE == 1 && MR_OP_RELEASE == MR_OP_ACQUIRE + 1,
                   "as used above");
    const uint64_t most = STEPS_LEAST + (parted->events + events->count) * STEPS_AN_EVENT;
    bool ok =
        !parted->gave_up && events->first + events->count <= UINT32_MAX && grow(parted, events);
    for (uint32_t row = 0; ok && parted->steps <= most; row++) {
        if (parted->outlook)
            row = pass_over(parted, events, row);
        if (row == events->count)
            break;
        parted->threads[events->thread[row]].ran = true;
        ok = follow(parted, events, row);
    }
    parted->events += events->count;
    parted->gave_up = !ok || parted->steps > most;
    return !parted->gave_up;
}

bool mr_parted_is_over(const mr_parted *parted)
{
    return parted->gave_up || parted->met.count == parted->wanted->pairs.count;
}

bool mr_parted_has(const mr_parted *parted, uint32_t location, uint32_t other)
{
    uint32_t first, second;
    return !parted->gave_up && !parted->freed[location] && !parted->freed[other] &&
           !mr_parted_met(parted, location, other, &first, &second);
}

bool mr_parted_met(const mr_parted *parted, uint32_t location, uint32_t other, uint32_t *first,
                   uint32_t *second)
{
    uint32_t number = mr_map_get(&parted->met, mr_map_key_of_two(location, other), UINT32_MAX);
    if (number == UINT32_MAX)
        return false;
    *first = parted->meetings[number].first;
    *second = parted->meetings[number].second;
    return true;
}
