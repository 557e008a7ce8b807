#include "candidates.h"

#include "base/keys.h"

#include <stdlib.h>

/* Uses that stand for each other: of one object, by one thread, at one place. */
typedef struct uses {
    uint32_t release; /* the object's free */
    uint32_t count, first;
} uses;

typedef struct collection {
    const mr_trace *trace;
    mr_keys keys;  /* object, thread and place, word by word */
    mr_u32s alike; /* by key: number in `items` + 1 */
    uses *items;
    size_t count, capacity;
    mr_u32s item, event; /* of each use */
} collection;

/* The free that the access comes before, by another thread; or MR_NONE. */
static uint32_t later_free(const mr_trace *trace, uint32_t access)
{
    uint32_t object = mr_trace_object(trace, trace->operand[access]);
    if (object == MR_NONE)
        return MR_NONE;
    uint32_t release = trace->object_info[object].free;
    bool counts =
        release != MR_NONE && release > access && trace->thread[release] != trace->thread[access];
    return counts ? release : MR_NONE;
}

static bool add_use(collection *all, uint32_t event, uint32_t release)
{
    const mr_trace *trace = all->trace;
    uint32_t key = 0;
    if (!mr_keys_add(&all->keys, trace->operand[release], &key) ||
        !mr_keys_add(&all->keys, (uint64_t)key << 32 | trace->thread[event], &key) ||
        !mr_keys_add(&all->keys, (uint64_t)key << 32 | trace->location[event], &key))
        return false;
    while (all->alike.count <= key)
        if (!mr_u32s_push(&all->alike, 0))
            return false;
    if (!all->alike.items[key]) {
        if (!mr_grow((void **)&all->items, &all->capacity, all->count + 1, sizeof *all->items))
            return false;
        all->items[all->count++] = (uses){.release = release};
        all->alike.items[key] = (uint32_t)all->count;
    }
    uint32_t number = all->alike.items[key] - 1;
    all->items[number].count++;
    return mr_u32s_push(&all->item, number) && mr_u32s_push(&all->event, event);
}

static bool collect(collection *all)
{
    const mr_trace *trace = all->trace;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        mr_trace_pass(trace, e);
        uint32_t release = mr_op_is_access(trace->op[e]) ? later_free(trace, e) : MR_NONE;
        if (release != MR_NONE && !add_use(all, e, release))
            return false;
    }
    return true;
}

/* The events of the items, each after the other's. */
static uint32_t *sort_events(collection *all)
{
    uint32_t *events = mr_calloc(all->event.count + 1, sizeof *events), next = 0;
    for (size_t i = 0; events && i < all->count; i++) {
        all->items[i].first = next;
        next += all->items[i].count;
        all->items[i].count = 0;
    }
    for (size_t i = 0; events && i < all->event.count; i++) {
        uses *item = &all->items[all->item.items[i]];
        events[item->first + item->count++] = all->event.items[i];
    }
    return events;
}

static bool ask(mr_questions *questions, uint32_t release, const uint32_t *events, uint32_t count,
                const uint32_t *key)
{
    mr_question question = {.kind = MR_WITNESS_USE_AFTER_FREE,
                            .list_count = 1,
                            .required = release,
                            .variable = MR_NONE,
                            .write = MR_NONE,
                            .write_place = MR_NONE};
    return mr_questions_group(questions, question.kind, key, 2, &question.group) &&
           mr_questions_list(questions, events, count, &question.first_list) &&
           mr_questions_add(questions, &question);
}

static bool ask_all(const collection *all, const uint32_t *events, mr_questions *questions,
                    bool by_event)
{
    const uint32_t *place = all->trace->location;
    bool ok = true;
    for (size_t i = 0; ok && i < all->count; i++) {
        const uses *item = &all->items[i];
        const uint32_t *first = events + item->first;
        uint32_t places[] = {place[item->release], place[*first]};
        if (!by_event)
            ok = ask(questions, item->release, first, item->count, places);
        for (uint32_t k = 0; ok && by_event && k < item->count; k++)
            ok = ask(questions, item->release, first + k, 1,
                     (const uint32_t[]){item->release, first[k]});
    }
    return ok;
}

bool mr_memory_candidates(mr_questions *questions, const mr_trace *trace, bool by_event)
{
    if (!trace->op_counts[MR_OP_FREE])
        return true;
    collection all = {.trace = trace};
    uint32_t *events = NULL;
    bool ok =
        collect(&all) && (events = sort_events(&all)) && ask_all(&all, events, questions, by_event);
    free(events);
    free(all.items);
    mr_keys_free(&all.keys);
    mr_u32s_free(&all.alike);
    mr_u32s_free(&all.item);
    mr_u32s_free(&all.event);
    return ok;
}
