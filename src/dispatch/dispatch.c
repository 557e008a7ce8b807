#include "dispatch.h"

#include "base/memory.h"
#include "base/seconds.h"
#include "phase_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

/* Of rank 0's figures on the time of units, the part that one more unit leaves: windows get harder
 * and easier along a trace, and a rank that has many of the hard ones ends long after the
 * others. */
static const double KEPT = 0.95;

/* ---- units ---- */

uint32_t mr_shard_of(uint64_t unit, uint64_t units, uint32_t shards)
{
    enum { RUNS = 8, FEW_RUNS = 2, RUN_UNITS = 24 };
    uint64_t runs = units / shards / RUN_UNITS;
    runs = runs < FEW_RUNS ? FEW_RUNS : runs > RUNS ? RUNS : runs;
    if (runs * shards >= units)
        return (uint32_t)(unit % shards) + 1;
    return (uint32_t)(unit * (runs * shards) / units % shards) + 1;
}

static bool is_of_shard(const mr_phase_run *self, uint64_t unit)
{
    const mr_dispatch *dispatch = self->dispatch;
    return !dispatch->shards ||
           mr_shard_of(unit, self->phase->count, dispatch->shards) == dispatch->shard;
}

bool mr_is_of_rank(uint64_t unit, uint64_t units, unsigned rank, unsigned size)
{
    /* One rank beside rank 0, which has the whole input to read, decides two thirds of each half: the last ones, so that rank 0,
     * which takes units in their order, comes to those of the other rank when it has decided its own. */
    enum { PARTS = 6 };
    if (size == 2)
        return rank > 0 && unit * PARTS / units % (PARTS / 2) != 0;
    return rank > 0 && size > 1 && mr_shard_of(unit, units, size - 1) == rank;
}

bool mr_is_ahead(uint64_t unit, uint64_t units)
{
    return unit < units / 2;
}

bool mr_phase_run_take(mr_phase_run *self, unsigned rank, uint64_t *unit)
{
    const mr_phase *phase = self->phase;
    mr_team *team = self->dispatch->team;
    bool found = false, has_part = team && team->members[rank].has_part;
    uint64_t *next = has_part ? &team->members[rank].next : &self->next;
    if (mr_halt_asked(self->dispatch->halt) != MR_HALT_NONE)
        return false;
    pthread_mutex_lock(&self->mutex);
    while (!found && *next < phase->count) {
        *unit = mr_phase_unit(phase, (*next)++);
        found = !self->gone[*unit] && is_of_shard(self, *unit) &&
                (!has_part || mr_is_of_rank(*unit, phase->count, rank, team->cluster->size));
    }
    self->left -= found;
    if (found)
        self->gone[*unit] = true;
    pthread_mutex_unlock(&self->mutex);
    return found;
}

uint64_t mr_phase_run_left(mr_phase_run *self)
{
    pthread_mutex_lock(&self->mutex);
    uint64_t left = self->left;
    pthread_mutex_unlock(&self->mutex);
    return left;
}

mr_status mr_phase_decide(const mr_phase *phase, unsigned worker, uint64_t unit, void **product,
                          mr_error *error)
{
    double begin = mr_seconds();
    mr_decided *decided = mr_calloc(1, sizeof *decided);
    if (!decided)
        return mr_error_memory(error, "sharing out the work");
    mr_status status = phase->decide(phase->context, worker, unit, &decided->outcome, error);
    decided->worker = worker;
    decided->seconds = mr_seconds() - begin;
    decided->partly = status != MR_OK;
    if (!decided->outcome) {
        free(decided);
        decided = NULL;
    }
    *product = decided;
    return status;
}

/* ---- merging ---- */

static mr_status save(const mr_phase_run *self, uint64_t unit, const mr_outcome *outcome,
                      mr_error *error)
{
    const mr_outcome_kind *kind = self->dispatch->kind;
    const mr_store *store = self->dispatch->store;
    mr_bytes bytes = {0};
    if (!store || (kind->is_final && !kind->is_final(outcome)))
        return MR_OK;
    mr_status status =
        kind->encode(kind->context, outcome, &bytes)
            ? store->put(store->context, &self->key, unit, bytes.items, bytes.count, error)
            : mr_error_memory(error, "saving what was found");
    MR_DEBUG(self->dispatch->debug, CHECKPOINT, "stage=%s unit=%" PRIu64 " bytes=%zu saved=%d",
             self->phase->stage, unit, bytes.count, status == MR_OK);
    mr_bytes_free(&bytes);
    return status;
}

/* An outcome in place of the one that was delivered is saved as well. */
static mr_status prepare(const mr_phase_run *self, uint64_t unit, mr_outcome **outcome,
                         mr_error *error)
{
    const mr_phase *phase = self->phase;
    const mr_outcome *before = *outcome;
    mr_status status = phase->prepare ? phase->prepare(phase->context, outcome, error) : MR_OK;
    return status == MR_OK && *outcome != before ? save(self, unit, *outcome, error) : status;
}

static mr_status send_merged(const mr_dispatch *dispatch, uint64_t unit, const mr_bytes *outcome,
                             mr_error *error)
{
    mr_bytes bytes = {0};
    mr_team_write(&bytes, MR_WORD_MERGED);
    mr_bytes_number(&bytes, dispatch->team->phase);
    mr_bytes_number(&bytes, dispatch->plan);
    mr_bytes_number(&bytes, unit);
    mr_bytes_raw(&bytes, outcome->items, outcome->count);
    return mr_team_send_all(dispatch->team, &bytes, error);
}

/* Adds a prepared outcome to the digest and, with `tell`, sends it to the other ranks. */
static mr_status publish(const mr_phase_run *self, uint64_t unit, const mr_outcome *outcome,
                         bool tell, mr_error *error)
{
    mr_dispatch *dispatch = self->dispatch;
    const mr_outcome_kind *kind = dispatch->kind;
    mr_bytes bytes = {0};
    mr_status status = MR_OK;
    tell &= dispatch->team && dispatch->team->cluster->size > 1;
    if (!dispatch->store && !tell)
        return MR_OK;
    if (!kind->encode(kind->context, outcome, &bytes))
        status = mr_error_memory(error, "merging what was found");
    if (status == MR_OK && dispatch->store)
        dispatch->digest = XXH3_64bits_withSeed(bytes.items, bytes.count, dispatch->digest);
    if (status == MR_OK && tell)
        status = send_merged(dispatch, unit, &bytes, error);
    mr_bytes_free(&bytes);
    return status;
}

/* Decides a unit here, as the checker has refused its outcome. `*outcome` is NULL when the run is halted. */
static mr_status decide_refused(mr_phase_run *self, uint64_t unit, const mr_error *refusal,
                                mr_outcome **outcome, mr_error *error)
{
    const mr_phase *phase = self->phase;
    const mr_dispatch *dispatch = self->dispatch;
    MR_DEBUG(dispatch->debug, DISPATCH, "stage=%s unit=%" PRIu64 " refused=1 why=%s", phase->stage,
             unit, refusal->text);
    dispatch->kind->free(*outcome);
    *outcome = NULL;
    mr_status status = phase->decide(phase->context, dispatch->jobs, unit, outcome, error);
    if (status == MR_OK && *outcome)
        status = save(self, unit, *outcome, error);
    return status == MR_OK && *outcome ? prepare(self, unit, outcome, error) : status;
}

/*
 * Prepares an outcome. One of a rank with a part of the input is checked then, when nothing is left in it that others have found, too,
 * and in the order of the units, as the checker begins anew where it goes back. `*outcome` is NULL when it is not to be believed, and the
 * run is halted or has failed.
 */
static mr_status prepare_believed(mr_phase_run *self, uint64_t unit, mr_outcome **outcome,
                                  mr_error *error)
{
    const mr_outcome_kind *kind = self->dispatch->kind;
    mr_error refusal;
    mr_status status = prepare(self, unit, outcome, error);
    if (!self->of_part[unit] || !kind->check)
        return status;
    mr_status believed = kind->check(kind->context, *outcome, &refusal);
    if (believed == MR_OK)
        return status;
    if (status == MR_OK && believed == MR_ERR_INTERNAL)
        return decide_refused(self, unit, &refusal, outcome, error);
    kind->free(*outcome);
    *outcome = NULL;
    if (status == MR_OK)
        *error = refusal;
    return status == MR_OK ? believed : status;
}

/* Merges the outcome of a unit; also when it cannot be prepared or sent. `*lost`: there is none, so the unit is missing. */
static mr_status merge(mr_phase_run *self, uint64_t unit, bool tell, bool *lost, mr_error *error)
{
    mr_error merge_error;
    mr_outcome *outcome = self->waiting[unit];
    self->waiting[unit] = NULL;
    MR_DEBUG(self->dispatch->debug, DISPATCH, "stage=%s unit=%" PRIu64 " merged=1",
             self->phase->stage, unit);
    mr_status status = prepare_believed(self, unit, &outcome, error);
    *lost = !outcome;
    if (*lost)
        return status;
    if (status == MR_OK)
        status = publish(self, unit, outcome, tell, error);
    mr_status merged = self->phase->merge(self->phase->context, outcome, &merge_error);
    self->dispatch->kind->free(outcome);
    if (status != MR_OK || merged == MR_OK)
        return status;
    *error = merge_error;
    return merged;
}

/* Merges what has waited for the outcome of a unit that came last. */
static mr_status merge_waiting(mr_phase_run *self, mr_error *error)
{
    mr_status status = MR_OK;
    bool lost = false;
    while (status == MR_OK && !lost && self->merged < self->phase->count) {
        uint64_t unit = mr_phase_unit(self->phase, self->merged);
        if (!self->waiting[unit])
            break;
        status = merge(self, unit, true, &lost, error);
        /* What comes after a unit that is missing is merged at the end (merge_rest). */
        self->merged += !lost;
        self->missing += lost;
    }
    return status;
}

/* Takes over an outcome, and merges it and those that have waited for it. A shard merges
 * nothing. */
static mr_status accept(mr_phase_run *self, uint64_t unit, mr_outcome *outcome, mr_error *error)
{
    mr_status status = MR_OK;
    self->done++;
    if (self->dispatch->shards) {
        self->dispatch->kind->free(outcome);
    } else {
        self->waiting[unit] = outcome;
        status = merge_waiting(self, error);
    }
    mr_progress_tell(self->dispatch->progress, self->phase->stage, self->done, self->mine);
    return status;
}

static void note_time(mr_phase_run *self, uint64_t unit, double seconds)
{
    if (self->phase->last_first && unit + 1 == self->phase->count)
        return; /* this unit is not like the others */
    self->decided_units = KEPT * self->decided_units + 1;
    self->decided_seconds = KEPT * self->decided_seconds + seconds;
}

mr_status mr_phase_run_deliver(mr_phase_run *self, uint64_t unit, mr_decided decided,
                               mr_error *error)
{
    mr_dispatch *dispatch = self->dispatch;
    const mr_outcome_kind *kind = dispatch->kind;
    mr_error save_error;
    mr_status saved = MR_OK;
    MR_DEBUG(dispatch->debug, DISPATCH,
             "stage=%s unit=%" PRIu64 " decided_by=%" PRIu32 ".%" PRIu32 " seconds=%.3f partly=%d",
             self->phase->stage, unit, decided.rank, decided.worker, decided.seconds,
             decided.partly);
    decided.partly |= kind->is_cut && kind->is_cut(decided.outcome);
    note_time(self, unit, decided.seconds);
    if (kind->count && !kind->count(kind->context, decided.rank, decided.worker, decided.seconds)) {
        kind->free(decided.outcome);
        return mr_error_memory(error, "counting the work");
    }
    if (!decided.partly) {
        self->missing--;
        dispatch->units_decided++;
        saved = save(self, unit, decided.outcome, &save_error);
    }
    mr_status status = accept(self, unit, decided.outcome, error);
    if (status != MR_OK || saved == MR_OK)
        return status;
    *error = save_error;
    return saved;
}

/* Merges the outcomes behind a unit that is missing. */
static mr_status merge_rest(mr_phase_run *self, mr_error *error)
{
    mr_status status = MR_OK;
    for (; self->merged < self->phase->count && status == MR_OK; self->merged++) {
        uint64_t unit = mr_phase_unit(self->phase, self->merged);
        bool lost = false;
        if (self->waiting[unit])
            status = merge(self, unit, false, &lost, error);
        self->missing += lost;
    }
    for (; self->merged < self->phase->count; self->merged++)
        self->dispatch->kind->free(self->waiting[mr_phase_unit(self->phase, self->merged)]);
    return status;
}

/* ---- outcomes of earlier runs ---- */

/* The outcome of a unit from the store; `*outcome` stays NULL when it is of no use. */
static mr_status get_saved(const mr_phase_run *self, uint64_t unit, mr_outcome **outcome,
                           mr_error *error)
{
    const mr_outcome_kind *kind = self->dispatch->kind;
    const mr_store *store = self->dispatch->store;
    mr_error refusal = {.text = "it cannot be read"};
    mr_status status = MR_ERR_INTERNAL;
    size_t count = 0;
    bool damaged = false;
    const uint8_t *bytes = store->get(store->context, &self->key, unit, &count);
    mr_outcome *read = kind->decode(kind->context, unit, bytes, count, &damaged);
    if (!read && !damaged)
        return mr_error_memory(error, "reading the checkpoint");
    if (read)
        status = kind->check ? kind->check(kind->context, read, &refusal) : MR_OK;
    MR_DEBUG(self->dispatch->debug, CHECKPOINT, "stage=%s unit=%" PRIu64 " bytes=%zu taken=%d%s%s",
             self->phase->stage, unit, count, status == MR_OK,
             status == MR_OK ? "" : " why=", status == MR_OK ? "" : refusal.text);
    if (status == MR_OK) {
        *outcome = read;
        return MR_OK;
    }
    kind->free(read);
    if (status != MR_ERR_INTERNAL) {
        *error = refusal;
        return status;
    }
    store->refuse(store->context, &self->key, unit, refusal.text);
    return MR_OK;
}

/* Takes what the store has. */
static mr_status take_saved(mr_phase_run *self, mr_error *error)
{
    mr_dispatch *dispatch = self->dispatch;
    const mr_store *store = dispatch->store;
    mr_status status = MR_OK;
    for (uint64_t unit = 0; store && unit < self->phase->count && status == MR_OK; unit++) {
        mr_outcome *outcome = NULL;
        if (!is_of_shard(self, unit) || !store->has(store->context, &self->key, unit))
            continue;
        status = get_saved(self, unit, &outcome, error);
        if (!outcome)
            continue;
        self->gone[unit] = true;
        self->missing--;
        dispatch->units_saved++;
        status = accept(self, unit, outcome, error);
    }
    return status;
}

/* ---- a phase ---- */

static mr_taken take(void *context, uint64_t *unit)
{
    mr_phase_run *self = context;
    if (mr_phase_run_take(self, 0, unit))
        return MR_TAKEN;
    pthread_mutex_lock(&self->mutex);
    uint64_t away = self->away;
    pthread_mutex_unlock(&self->mutex);
    return away ? MR_TAKEN_LATER : MR_TAKEN_NONE;
}

static mr_status work(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error)
{
    const mr_phase_run *self = context;
    return mr_phase_decide(self->phase, worker, unit, product, error);
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    mr_decided decided = *(mr_decided *)product;
    free(product);
    return mr_phase_run_deliver(context, unit, decided, error);
}

static mr_status run_pool(mr_phase_run *self, mr_error *error)
{
    const mr_dispatch *dispatch = self->dispatch;
    bool team = dispatch->team != NULL, few = self->missing < dispatch->jobs;
    unsigned alone = few ? (unsigned)self->missing : dispatch->jobs;
    const mr_pool pool = {.context = self,
                          .workers = team    ? dispatch->jobs
                                     : alone ? alone
                                             : 1,
                          .apart = team,
                          .look_ms = team ? MR_TEAM_LOOK_MS : 0,
                          .take = take,
                          .work = work,
                          .deliver = deliver,
                          .look = team ? mr_rank_zero_look : NULL};
    self->left = self->missing;
    if (team)
        mr_rank_zero_begin(self);
    return mr_pool_run(&pool, error);
}

static mr_status run(mr_phase_run *self, mr_error *error)
{
    mr_dispatch *dispatch = self->dispatch;
    mr_error rest_error;
    for (uint64_t unit = 0; unit < self->phase->count; unit++)
        self->mine += is_of_shard(self, unit);
    self->missing = self->mine;
    mr_progress_tell(dispatch->progress, self->phase->stage, 0, self->mine);
    mr_status status = take_saved(self, error);
    if (status == MR_OK)
        status = run_pool(self, error);
    mr_status rest = merge_rest(self, status == MR_OK ? error : &rest_error);
    dispatch->units_missing = self->missing;
    return status != MR_OK ? status : rest;
}

void mr_dispatch_note(mr_dispatch *dispatch, const void *bytes, size_t count)
{
    dispatch->plan = XXH3_64bits_withSeed(bytes, count, dispatch->plan);
}

mr_status mr_dispatch_run(mr_dispatch *dispatch, const mr_phase *phase, mr_error *error)
{
    mr_phase_run self = {.dispatch = dispatch,
                         .phase = phase,
                         .key = {.number = dispatch->phase_count++,
                                 .units = phase->count,
                                 .before = dispatch->digest ^ dispatch->plan}};
    if (dispatch->team)
        dispatch->team->phase++;
    if (dispatch->team && dispatch->team->cluster->rank > 0)
        return mr_rank_other_run(dispatch, phase, error);
    self.waiting = mr_calloc(phase->count, sizeof(mr_outcome *));
    self.gone = mr_calloc(phase->count, sizeof(bool));
    self.of_part = mr_calloc(phase->count, sizeof(bool));
    pthread_mutex_init(&self.mutex, NULL);
    mr_status status = self.waiting && self.gone && self.of_part
                           ? run(&self, error)
                           : mr_error_memory(error, "sharing out the work");
    pthread_mutex_destroy(&self.mutex);
    free(self.waiting);
    free(self.gone);
    free(self.of_part);
    return status;
}
