#include "visits.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_A_VISIT = 8, LEAST_BYTES = 1 << 23, BITS = 64 };

static void give_up(mr_visits *visits)
{
    free(visits->items);
    free(visits->marks);
    *visits = (mr_visits){.given_up = true};
}

void mr_visits_free(mr_visits *visits)
{
    give_up(visits);
    *visits = (mr_visits){.now = 0};
}

void mr_visits_come_to(mr_visits *visits, uint64_t unit)
{
    uint64_t bytes = unit * sizeof(uint32_t) / LOG_A_VISIT;
    visits->limit = (bytes < LEAST_BYTES ? LEAST_BYTES : bytes) / sizeof *visits->items;
}

/* Marks the gap. False: no memory; it has given up, and the items are gone. */
static bool mark(mr_visits *visits, size_t gap)
{
    size_t word = gap / BITS;
    if (word >= visits->words) {
        size_t words = 2 * word + BITS;
        uint64_t *marks = mr_realloc(visits->marks, words, sizeof *marks);
        if (!marks) {
            give_up(visits);
            return false;
        }
        memset(marks + visits->words, 0, (words - visits->words) * sizeof *marks);
        visits->marks = marks;
        visits->words = words;
    }
    uint64_t bit = 1ull << gap % BITS;
    visits->marked += !(visits->marks[word] & bit);
    visits->marks[word] |= bit;
    return true;
}

static bool mark_current(mr_visits *visits)
{
    return !visits->given_up && (!visits->now || mark(visits, visits->now - 1));
}

void mr_visits_mark(mr_visits *visits)
{
    (void)mark_current(visits);
}

/* Room for an item, by its number plus 1; 0: it has given up. */
static uint32_t make_item(mr_visits *visits)
{
    uint32_t spare = visits->spare;
    void *items = visits->items;
    if (spare) {
        visits->spare = visits->items[spare - 1].next;
        return spare;
    }
    if (visits->count >= visits->limit || visits->count >= MR_VISITS_SETTLED - 1 ||
        !mr_grow(&items, &visits->capacity, visits->count + 1, sizeof *visits->items)) {
        give_up(visits);
        return 0;
    }
    visits->items = items;
    return (uint32_t)++visits->count;
}

void mr_visits_add(mr_visits *visits, mr_visit_list *list)
{
    if (visits->given_up)
        list->gap = 0;
    if (!visits->now)
        return;
    list->gap = visits->now;
    if (list->first == MR_VISITS_SETTLED) {
        mr_visits_mark(visits);
        return;
    }
    uint32_t gap = visits->now - 1, item = make_item(visits);
    if (!item)
        return;
    visits->items[item - 1] = (mr_visit){gap, list->first};
    list->first = item;
}

/* Marks the current gap and those of the list. False: it has given up, and the items are gone. */
static bool mark_all(mr_visits *visits, const mr_visit_list *list)
{
    bool goes_on = mark_current(visits);
    for (uint32_t at = list->first; goes_on && at && at != MR_VISITS_SETTLED;) {
        mr_visit visit = visits->items[at - 1];
        goes_on = mark(visits, visit.gap);
        at = visit.next;
    }
    return goes_on;
}

void mr_visits_mark_all(mr_visits *visits, const mr_visit_list *list)
{
    (void)mark_all(visits, list);
}

void mr_visits_settle(mr_visits *visits, mr_visit_list *list)
{
    if (!mark_all(visits, list) || list->first == MR_VISITS_SETTLED)
        return;
    for (uint32_t at = list->first; at;) {
        uint32_t next = visits->items[at - 1].next;
        visits->items[at - 1].next = visits->spare;
        visits->spare = at;
        at = next;
    }
    list->first = MR_VISITS_SETTLED;
}

void mr_visits_judge(mr_visits *visits)
{
    if (visits->marked > visits->seen / 2)
        give_up(visits);
}

void mr_visits_end(mr_visits *visits)
{
    free(visits->items);
    visits->items = NULL;
    visits->count = visits->capacity = 0;
    visits->spare = 0;
}

bool mr_visits_has(const mr_visits *visits, size_t gap)
{
    size_t word = gap / BITS;
    return visits->given_up || (word < visits->words && visits->marks[word] >> gap % BITS & 1);
}
