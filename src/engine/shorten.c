#include "shorten.h"

#include "base/memory.h"
#include "base/pool.h"
#include "witness/late.h"

#include <stdlib.h>

/* Races of a unit. */
enum { UNIT_RACES = 256 };

typedef struct shortening {
    const mr_predict_settings *settings;
    /* Those that are long, by the starts of their windows: so a checker goes through the trace once a unit at most. */
    mr_race **races;
    size_t count, taken;
    _Atomic uint64_t refused; /* witnesses that the checker did not accept when they were shorter */
    mr_checker **checkers;    /* one a worker; NULL: not needed so far */
} shortening;

static int by_start(const void *a, const void *b)
{
    const mr_race *one = *(mr_race *const *)a, *other = *(mr_race *const *)b;
    uint32_t x = one->witness.window_start, y = other->witness.window_start;
    return x != y ? (x < y ? -1 : 1) : (one > other) - (one < other);
}

/* ---- mr_pool ---- */

static mr_taken take(void *context, uint64_t *unit)
{
    shortening *s = context;
    if (s->taken * UNIT_RACES >= s->count || mr_halt_asked(s->settings->halt) != MR_HALT_NONE)
        return MR_TAKEN_NONE;
    *unit = s->taken++;
    return MR_TAKEN;
}

static mr_status work(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error)
{
    shortening *s = context;
    const mr_predict_settings *settings = s->settings;
    mr_status status = MR_OK;
    bool refused = false;
    *product = NULL;
    if (!s->checkers[worker]) {
        const mr_checker *shared = mr_facts_checker(settings->facts);
        s->checkers[worker] = shared ? mr_checker_like(shared) : NULL;
    }
    if (!s->checkers[worker])
        return mr_error_memory(error, "shortening a witness");
    size_t end = (unit + 1) * UNIT_RACES < s->count ? (unit + 1) * UNIT_RACES : s->count;
    for (size_t i = unit * UNIT_RACES; i < end && status == MR_OK; i++) {
        status = mr_witness_shorten_late(settings->trace, &settings->opaque, s->checkers[worker],
                                         &s->races[i]->witness, &refused, error);
        s->refused += refused;
        s->races[i]->is_long = status != MR_OK;
    }
    return status;
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    (void)context, (void)unit, (void)product, (void)error;
    return MR_OK;
}

mr_status mr_shorten_races(mr_result *result, const mr_predict_settings *settings, unsigned jobs,
                           mr_error *error)
{
    shortening s = {.settings = settings};
    const mr_pool pool = {
        .context = &s, .workers = jobs, .take = take, .work = work, .deliver = deliver};
    for (size_t i = 0; i < result->race_count; i++)
        s.count += result->races[i].is_long;
    if (!s.count)
        return MR_OK;
    s.races = mr_calloc(s.count, sizeof(mr_race *));
    s.checkers = mr_calloc(jobs, sizeof(mr_checker *));
    size_t filled = 0;
    for (size_t i = 0; s.races && i < result->race_count; i++)
        if (result->races[i].is_long)
            s.races[filled++] = &result->races[i];
    if (s.races)
        qsort(s.races, s.count, sizeof *s.races, by_start);
    mr_status status = s.races && s.checkers ? mr_pool_run(&pool, error)
                                             : mr_error_memory(error, "shortening a witness");
    result->stats.rejected_witnesses += s.refused;
    for (unsigned i = 0; s.checkers && i < jobs; i++)
        mr_checker_free(s.checkers[i]);
    free(s.checkers);
    free(s.races);
    return status;
}
