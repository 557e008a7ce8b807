#include "visits.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_A_VISIT = 8, LEAST_BYTES = 1 << 23, BITS = 64 };

static void give_up(mr_visits *visits)
{
    uint32_t now = visits->now;
    free(visits->items);
    free(visits->marks);
    *visits = (mr_visits){.now = now, .given_up = true};
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

void mr_visits_add(mr_visits *visits, mr_visit_list *list)
{
    void *items = visits->items;
    if (!visits->now || visits->given_up)
        return;
    if (visits->count >= visits->limit || visits->count >= UINT32_MAX - 1 ||
        !mr_grow(&items, &visits->capacity, visits->count + 1, sizeof *visits->items)) {
        give_up(visits);
        return;
    }
    visits->items = items;
    visits->items[visits->count++] = (mr_visit){visits->now - 1, list->first};
    *list = (mr_visit_list){visits->now, (uint32_t)visits->count};
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
    visits->marks[word] |= 1ull << gap % BITS;
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

void mr_visits_mark_all(mr_visits *visits, const mr_visit_list *list)
{
    bool goes_on = mark_current(visits);
    for (uint32_t at = list->first; at && goes_on;) {
        mr_visit visit = visits->items[at - 1];
        goes_on = mark(visits, visit.gap);
        at = visit.next;
    }
}

void mr_visits_end(mr_visits *visits)
{
    free(visits->items);
    visits->items = NULL;
    visits->count = visits->capacity = 0;
}

bool mr_visits_has(const mr_visits *visits, size_t gap)
{
    size_t word = gap / BITS;
    return visits->given_up || (word < visits->words && visits->marks[word] >> gap % BITS & 1);
}
