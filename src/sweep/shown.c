#include "shown.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { HAS_LEARNT = 1, NOTED = 2 };

static bool grow(mr_learnt *learnt, size_t count)
{
    size_t before = learnt->capacity;
    void *bits = learnt->bits;
    if (!mr_grow(&bits, &learnt->capacity, count, sizeof *learnt->bits))
        return false;
    learnt->bits = bits;
    if (learnt->capacity > before)
        memset(learnt->bits + before, 0, learnt->capacity - before);
    return true;
}

static inline bool has(const mr_learnt *learnt, uint32_t number)
{
    return learnt->bits[number] & HAS_LEARNT;
}

/* False: no memory. */
static inline bool learn(mr_learnt *learnt, uint32_t number)
{
    bool ok = learnt->bits[number] || mr_u32s_push(&learnt->noted, number);
    learnt->bits[number] = HAS_LEARNT | NOTED;
    return ok;
}

static void forget(mr_learnt *learnt)
{
    for (size_t i = 0; i < learnt->noted.count; i++)
        learnt->bits[learnt->noted.items[i]] = 0;
    learnt->noted.count = 0;
}

/* One passes on what it knows. */
static inline bool pass_on(const mr_learnt *from, uint32_t one, mr_learnt *to, uint32_t other)
{
    return !has(from, one) || learn(to, other);
}

/* One event. False: it is not known what it orders, or there is no memory. */
static inline bool follow(mr_shown *shown, uint8_t op, uint32_t thread, uint32_t operand)
{
    switch ((mr_op)op) {
    case MR_OP_READ:
        return pass_on(&shown->variables, operand, &shown->threads, thread);
    case MR_OP_WRITE:
        shown->variables.bits[operand] &=
            (uint8_t)~HAS_LEARNT; /* reads see this write from here on */
        return pass_on(&shown->threads, thread, &shown->variables, operand);
    case MR_OP_ACQUIRE:
        return pass_on(&shown->locks, operand, &shown->threads, thread);
    case MR_OP_RELEASE:
        return pass_on(&shown->threads, thread, &shown->locks, operand);
    case MR_OP_FORK:
        return pass_on(&shown->threads, thread, &shown->threads, operand);
    case MR_OP_JOIN:
        return pass_on(&shown->threads, operand, &shown->threads, thread);
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_BRANCH:
    case MR_OP_DEREF:
        return true;
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_FENCE:
        break;
    }
    return false;
}

/* The events from `from` on, up to the end of the run or to the second access, `*at` afterwards. */
static bool follow_run(mr_shown *shown, const mr_events *events, uint64_t *at, uint64_t second)
{
    uint64_t end = events->first + events->count;
    uint32_t row = (uint32_t)(*at - events->first);
    uint32_t last = (uint32_t)((second < end ? second : end) - events->first);
    bool ok = true;
    for (; ok && row < last; row++)
        ok = follow(shown, events->op[row], events->thread[row], events->operand[row]);
    *at = events->first + last;
    return ok;
}

/* The order's thread looks, and does not ask whether it is to stop. */
static bool may_look(mr_shown *shown, uint64_t first, uint64_t second)
{
    enum { LEAST = 1 << 16, MOST = 1 << 24, A_PAIR = 64 };
    shown->steps += second - first + A_PAIR;
    return shown->steps <= LEAST + (second < MOST ? second : MOST);
}

static bool grow_all(mr_shown *shown, const mr_events *events)
{
    return !events->object_count && grow(&shown->threads, events->thread_count) &&
           grow(&shown->locks, events->lock_count) &&
           grow(&shown->variables, events->variable_count);
}

/* False: it is none of shb's, or that is not known. */
static bool is_shown(mr_shown *shown, const mr_race_example *pair, mr_shown_events *give,
                     const void *source)
{
    uint64_t first = pair->first.event, second = pair->second.event, at = first;
    mr_events events;
    MR_ASSERT(first < second);
    if (!may_look(shown, first, second))
        return false;
    for (;;) {
        if (!give(source, at, &events) || !grow_all(shown, &events))
            return false;
        MR_ASSERT(events.first <= at && at - events.first < events.count);
        if (at == second)
            return !has(&shown->threads, events.thread[second - events.first]);
        if (at == first && !learn(&shown->threads, events.thread[first - events.first]))
            return false;
        if (!follow_run(shown, &events, &at, second))
            return false;
    }
}

bool mr_shown_look(mr_shown *shown, const mr_race_list *list, mr_shown_events *give,
                   const void *source)
{
    for (; !shown->gave_up && shown->count < list->race_count; shown->count++) {
        const mr_static_race *race = &list->races[shown->count];
        if (!is_shown(shown, &list->examples[race->first_example], give, source)) {
            shown->gave_up = true;
            break;
        }
        forget(&shown->threads);
        forget(&shown->locks);
        forget(&shown->variables);
    }
    return !shown->gave_up;
}

bool mr_shown_take(const mr_shown *shown, const mr_race_list *list, mr_race_list *found)
{
    mr_race_list_init(found, 1, false);
    bool ok = !shown->gave_up && shown->count == list->race_count && list->race_count;
    for (size_t i = 0; ok && i < list->race_count; i++)
        ok = mr_race_list_add(found, &list->examples[list->races[i].first_example]);
    if (ok && mr_race_list_finish(found))
        return true;
    mr_race_list_free(found);
    return false;
}

static void free_learnt(mr_learnt *learnt)
{
    free(learnt->bits);
    mr_u32s_free(&learnt->noted);
    *learnt = (mr_learnt){0};
}

void mr_shown_free(mr_shown *shown)
{
    free_learnt(&shown->threads);
    free_learnt(&shown->locks);
    free_learnt(&shown->variables);
    *shown = (mr_shown){0};
}
