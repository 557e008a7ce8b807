#include "deaths.h"

#include "base/memory.h"

#include <stdlib.h>

void mr_deaths_free(mr_deaths *deaths)
{
    free(deaths->items);
    free(deaths->last);
    free(deaths->counted);
    free(deaths->stacks);
    *deaths = (mr_deaths){.count = 0};
}

static bool fill(uint32_t **array, size_t *capacity, size_t *count, size_t need)
{
    void *grown = *array;
    if (!mr_grow(&grown, capacity, need, sizeof **array))
        return false;
    *array = grown;
    while (*count < need)
        (*array)[(*count)++] = 0;
    return true;
}

static bool add(mr_deaths *deaths, const mr_death *death)
{
    void *items = deaths->items;
    if (deaths->count >= MR_DEATH_NONE - 1 ||
        !mr_grow(&items, &deaths->capacity, deaths->count + 1, sizeof *deaths->items))
        return false;
    deaths->items = items;
    if (!fill(&deaths->last, &deaths->life_capacity, &deaths->life_count, death->life + 1ull))
        return false;
    mr_death *own = &deaths->items[deaths->count++];
    *own = *death;
    own->next = mr_deaths_last(deaths, death->life);
    deaths->last[death->life] = (uint32_t)deaths->count;
    return true;
}

/* The thread's stack, which it is given before its BEGIN. */
static bool note_stack(mr_deaths *deaths, const mr_log_pass *pass)
{
    return fill(&deaths->stacks, &deaths->stack_capacity, &deaths->stack_count,
                pass->thread + 1ull) &&
           (deaths->stacks[pass->thread] = pass->lives.given, true);
}

static bool note_counted(mr_deaths *deaths, uint32_t life)
{
    return fill(&deaths->counted, &deaths->counted_capacity, &deaths->counted_count, life + 1ull) &&
           (deaths->counted[life] = 1, true);
}

bool mr_deaths_note(mr_deaths *deaths, const mr_log_pass *pass, const uint64_t *record, bool alone)
{
    unsigned kind = mr_log_kind_of(record[0]);
    mr_death death = {.thread = pass->thread, .alone = alone, .end = UINT64_MAX};
    if (kind == MR_LOG_GIVEN && mr_log_count(record[1]) == MR_LOG_GIVEN_COUNTED)
        return note_counted(deaths, pass->lives.given);
    if (kind == MR_LOG_GIVEN)
        return mr_log_detail(record[0]) != MR_LOG_MEMORY_STACK || note_stack(deaths, pass);
    if (kind == MR_LOG_END) {
        death.life = mr_deaths_stack(deaths, pass->thread);
        return !death.life || add(deaths, &death);
    }
    for (size_t i = 0; i < mr_deaths_of(pass, record); i++) {
        const mr_life_end *end = &pass->lives.ended[i];
        death.life = end->life.number;
        death.start = end->start;
        death.end = end->end;
        death.unseen = mr_log_count(record[1]) == MR_LOG_TAKEN_UNSEEN ||
                       (death.life < deaths->counted_count && deaths->counted[death.life]);
        if (!add(deaths, &death))
            return false;
    }
    return true;
}

size_t mr_deaths_of(const mr_log_pass *pass, const uint64_t *record)
{
    return mr_log_kind_of(record[0]) == MR_LOG_TAKEN &&
                   mr_log_count(record[1]) != MR_LOG_TAKEN_AGAIN
               ? pass->lives.ended_count
               : 0;
}

uint32_t mr_deaths_last(const mr_deaths *deaths, uint32_t life)
{
    return life < deaths->life_count && deaths->last[life] ? deaths->last[life] - 1 : MR_DEATH_NONE;
}

uint32_t mr_deaths_find(const mr_deaths *deaths, uint32_t life, uint64_t address)
{
    uint32_t at = mr_deaths_last(deaths, life);
    while (at != MR_DEATH_NONE &&
           (address < deaths->items[at].start || address >= deaths->items[at].end))
        at = deaths->items[at].next;
    return at;
}

uint32_t mr_deaths_stack(const mr_deaths *deaths, uint32_t thread)
{
    return thread < deaths->stack_count ? deaths->stacks[thread] : 0;
}
