#include "candidates.h"

#include "lock_cycles.h"

#include <stdlib.h>
#include <string.h>

typedef struct asking {
    mr_questions *questions;
    mr_lock_waits waits;
    bool by_event, failed;
} asking;

static int compare_words(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* Sorts the words, leaves each out that is there already, and returns how many there are. */
static uint32_t make_set(uint32_t *words, uint32_t count)
{
    uint32_t kept = 0;
    qsort(words, count, sizeof *words, compare_words);
    for (uint32_t i = 0; i < count; i++)
        if (!i || words[i] != words[i - 1])
            words[kept++] = words[i];
    return kept;
}

/* The set of places of the acquires, and of those by which the locks are held. */
static uint32_t places_of(const asking *a, const mr_lock_cycle *cycle, uint32_t *key)
{
    uint32_t holders[MR_CYCLE_WAITS] = {0}, count = cycle->count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t wait = cycle->waits[i], next = cycle->waits[(i + 1) % count];
        key[1 + i] = a->waits.items[wait].place;
        holders[i] = mr_lock_waits_holder(&a->waits, next, wait)->place;
    }
    key[0] = make_set(key + 1, count);
    uint32_t held = make_set(holders, count);
    memcpy(key + 1 + key[0], holders, held * sizeof *holders);
    return 1 + key[0] + held;
}

/* One list for each wait: all its events, or one each. */
static bool ask(asking *a, const mr_lock_cycle *cycle, const uint32_t *chosen)
{
    uint32_t key[1 + 2 * MR_CYCLE_WAITS], words, list = 0;
    mr_question question = {.kind = MR_WITNESS_DEADLOCK,
                            .list_count = cycle->count,
                            .required = MR_NONE,
                            .variable = MR_NONE,
                            .write = MR_NONE,
                            .write_place = MR_NONE};
    if (chosen) {
        words = cycle->count;
        memcpy(key, chosen, words * sizeof *key);
        qsort(key, words, sizeof *key, compare_words);
    } else {
        words = places_of(a, cycle, key);
    }
    if (!mr_questions_group(a->questions, question.kind, key, words, &question.group))
        return false;
    for (uint32_t i = 0; i < cycle->count; i++) {
        const mr_lock_wait *wait = &a->waits.items[cycle->waits[i]];
        const uint32_t *events = chosen ? chosen + i : a->waits.events + wait->first_event;
        if (!mr_questions_list(a->questions, events, chosen ? 1 : wait->event_count, &list))
            return false;
        question.first_list = i ? question.first_list : list;
    }
    return mr_questions_add(a->questions, &question);
}

/* Every way to choose an event of each wait from `place` on. */
static bool ask_each(asking *a, const mr_lock_cycle *cycle, uint32_t *chosen, uint32_t place)
{
    if (place == cycle->count)
        return ask(a, cycle, chosen);
    const mr_lock_wait *wait = &a->waits.items[cycle->waits[place]];
    for (uint32_t i = 0; i < wait->event_count; i++) {
        chosen[place] = a->waits.events[wait->first_event + i];
        if (!ask_each(a, cycle, chosen, place + 1))
            return false;
    }
    return true;
}

static bool take_cycle(void *context, const mr_lock_cycle *cycle)
{
    asking *a = context;
    uint32_t chosen[MR_CYCLE_WAITS];
    a->failed = !(a->by_event ? ask_each(a, cycle, chosen, 0) : ask(a, cycle, NULL));
    return !a->failed;
}

/* ---- guarded ---- */

typedef struct guarded_search {
    asking asking; /* its questions are used for the groups alone */
    mr_guarded_cycles *found;
} guarded_search;

static bool take_guarded(void *context, const mr_lock_cycle *cycle)
{
    guarded_search *search = context;
    mr_guarded_cycles *found = search->found;
    asking *a = &search->asking;
    uint32_t key[1 + 2 * MR_CYCLE_WAITS], group, groups = a->questions->group_count;
    if (cycle->guard == MR_NONE)
        return true;
    uint32_t words = places_of(a, cycle, key);
    a->failed = !mr_questions_group(a->questions, MR_WITNESS_DEADLOCK, key, words, &group);
    if (a->failed || group < groups)
        return !a->failed;
    a->failed =
        !mr_grow((void **)&found->items, &found->capacity, found->count + 1, sizeof *found->items);
    if (a->failed)
        return false;
    mr_guarded_cycle *item = &found->items[found->count++];
    *item = (mr_guarded_cycle){.count = cycle->count, .guard = cycle->guard};
    for (uint32_t i = 0; i < cycle->count; i++)
        item->events[i] = a->waits.events[a->waits.items[cycle->waits[i]].first_event];
    return true;
}

bool mr_deadlock_guarded(const mr_trace *trace, mr_guarded_cycles *found)
{
    mr_questions groups = {0};
    guarded_search search = {.asking = {.questions = &groups}, .found = found};
    bool ok = mr_lock_waits_find(&search.asking.waits, trace);
    if (ok)
        mr_lock_cycles_each(&search.asking.waits, true, take_guarded, &search);
    mr_lock_waits_free(&search.asking.waits);
    mr_questions_free(&groups);
    return ok && !search.asking.failed;
}

bool mr_deadlock_candidates(mr_questions *questions, const mr_trace *trace, bool by_event,
                            bool *complete)
{
    asking a = {.questions = questions, .by_event = by_event};
    *complete = true;
    if (!trace->op_counts[MR_OP_ACQUIRE] && !trace->op_counts[MR_OP_SHARED_ACQUIRE])
        return true;
    bool ok = mr_lock_waits_find(&a.waits, trace);
    if (ok)
        *complete = mr_lock_cycles_each(&a.waits, false, take_cycle, &a) != MR_CYCLES_BUDGET;
    mr_lock_waits_free(&a.waits);
    return ok && !a.failed;
}
