/*
 * rank_other: a phase on a rank of a team that is not rank 0. Its threads decide the units that
 * rank 0 has sent. Its calling thread sends their outcomes to rank 0, and merges the outcomes that
 * rank 0 has merged.
 *
 * A rank with a part of the input begins before rank 0 does. It keeps its outcomes until rank 0 listens.
 */
#include "base/memory.h"
#include "phase_run.h"

#include <stdlib.h>

typedef struct other {
    mr_dispatch *dispatch;
    const mr_phase *phase;
    uint64_t merged;       /* units that are merged here */
    pthread_mutex_t mutex; /* guards the rest */
    uint64_t *units;       /* sent by rank 0; `next` … `count` - 1 are not taken yet */
    size_t next, count, capacity;
    bool over; /* nothing more is to be decided */
    /* Of the calling thread: */
    mr_bytes *kept; /* messages for rank 0, which does not listen yet; owned */
    size_t kept_count, kept_capacity;
} other;

static mr_taken take(void *context, uint64_t *unit)
{
    other *self = context;
    mr_taken taken = MR_TAKEN_LATER;
    pthread_mutex_lock(&self->mutex);
    if (self->over || mr_halt_asked(self->dispatch->halt) != MR_HALT_NONE) {
        taken = MR_TAKEN_NONE;
    } else if (self->next < self->count) {
        *unit = self->units[self->next++];
        taken = MR_TAKEN;
    }
    pthread_mutex_unlock(&self->mutex);
    return taken;
}

static mr_status work(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error)
{
    const other *self = context;
    return mr_phase_decide(self->phase, worker, unit, product, error);
}

/* Sends a message, and frees it, or keeps it until rank 0 listens. */
static mr_status post(other *self, mr_bytes *bytes, mr_error *error)
{
    void *kept = self->kept;
    if (self->dispatch->team->welcomed)
        return mr_team_send(self->dispatch->team, 0, bytes, error);
    if (!mr_grow(&kept, &self->kept_capacity, self->kept_count + 1, sizeof *self->kept)) {
        mr_bytes_free(bytes);
        return mr_error_memory(error, "keeping what was found");
    }
    self->kept = kept;
    self->kept[self->kept_count++] = *bytes;
    return MR_OK;
}

static mr_status hear_welcome(other *self, mr_error *error)
{
    mr_status status = MR_OK;
    self->dispatch->team->welcomed = true;
    for (size_t i = 0; i < self->kept_count && status == MR_OK; i++)
        status = mr_team_send(self->dispatch->team, 0, &self->kept[i], error);
    return status;
}

static void forget_kept(other *self)
{
    for (size_t i = 0; i < self->kept_count; i++)
        mr_bytes_free(&self->kept[i]);
    free(self->kept);
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    other *self = context;
    const mr_outcome_kind *kind = self->dispatch->kind;
    mr_decided decided = *(mr_decided *)product;
    mr_bytes bytes = {0};
    free(product);
    mr_team_write(&bytes, MR_WORD_OUTCOME);
    mr_bytes_number(&bytes, self->dispatch->team->phase);
    mr_bytes_number(&bytes, unit);
    mr_bytes_number(&bytes, decided.worker);
    mr_bytes_number(&bytes, (uint64_t)(decided.seconds * 1e6));
    mr_bytes_number(&bytes, decided.partly);
    bytes.failed |= !kind->encode(kind->context, decided.outcome, &bytes);
    kind->free(decided.outcome);
    return post(self, &bytes, error);
}

/* ---- messages of rank 0 ---- */

static mr_status hear_units(other *self, mr_message *message, mr_error *error)
{
    uint64_t count = mr_bytes_get(&message->in);
    mr_status status = MR_OK;
    pthread_mutex_lock(&self->mutex);
    void *units = self->units;
    if (self->next == self->count)
        self->next = self->count = 0;
    if (count > (uint64_t)(message->in.end - message->in.next))
        status = mr_team_garbled(self->dispatch->team, 0, error);
    else if (!mr_grow(&units, &self->capacity, self->count + count, sizeof *self->units))
        status = mr_error_memory(error, "taking over work");
    self->units = units;
    for (uint64_t i = 0; i < count && status == MR_OK; i++) {
        uint64_t unit = mr_bytes_get(&message->in);
        if (message->in.damaged || unit >= self->phase->count)
            status = mr_team_garbled(self->dispatch->team, 0, error);
        self->units[self->count++] = unit;
    }
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static void stop(other *self)
{
    pthread_mutex_lock(&self->mutex);
    self->over = true;
    pthread_mutex_unlock(&self->mutex);
}

static mr_status hear_merged(other *self, mr_message *message, mr_error *error)
{
    const mr_outcome_kind *kind = self->dispatch->kind;
    const mr_team *team = self->dispatch->team;
    bool damaged = false;
    if (mr_bytes_get(&message->in) != self->dispatch->plan)
        return mr_team_differs(team, team->cluster->rank, error);
    uint64_t unit = mr_bytes_get(&message->in);
    if (message->in.damaged || unit != mr_phase_unit(self->phase, self->merged))
        return mr_team_garbled(team, 0, error);
    mr_outcome *outcome = kind->decode(kind->context, unit, message->in.next,
                                       (size_t)(message->in.end - message->in.next), &damaged);
    if (!outcome)
        return damaged ? mr_team_garbled(team, 0, error)
                       : mr_error_memory(error, "taking in the work of another rank");
    mr_status status = self->phase->merge(self->phase->context, outcome, error);
    kind->free(outcome);
    if (++self->merged == self->phase->count)
        stop(self);
    return status;
}

/* The run is to end: after HALT soon, after END at once. */
static void hear_end(other *self, mr_message *message)
{
    mr_team *team = self->dispatch->team;
    uint32_t reason =
        message->word == MR_WORD_HALT ? mr_bytes_get_u32(&message->in, MR_HALT_TIME) : MR_HALT_NONE;
    mr_halt_ask(team->halt, reason ? (mr_halt_reason)reason : MR_HALT_SIGNAL);
    team->over |= message->word == MR_WORD_END;
    stop(self);
}

static mr_status hear(other *self, mr_message *message, mr_error *error)
{
    const mr_team *team = self->dispatch->team;
    if (message->word == MR_WORD_WELCOME && !team->welcomed)
        return hear_welcome(self, error);
    if (message->word == MR_WORD_HALT || message->word == MR_WORD_END) {
        hear_end(self, message);
        return MR_OK;
    }
    if (mr_bytes_get(&message->in) != team->phase)
        return mr_team_garbled(team, 0, error);
    if (message->word == MR_WORD_UNITS)
        return hear_units(self, message, error);
    return message->word == MR_WORD_MERGED ? hear_merged(self, message, error)
                                           : mr_team_garbled(team, 0, error);
}

/* Messages behind the end of the phase belong to the next one, and stay where they are. */
static mr_status look(void *context, mr_error *error)
{
    other *self = context;
    mr_team *team = self->dispatch->team;
    mr_status status = MR_OK;
    while (status == MR_OK && !self->over) {
        mr_message message;
        mr_arrival arrival = mr_team_receive(team, &message);
        if (arrival == MR_ARRIVAL_NONE)
            break;
        status = arrival == MR_ARRIVAL_LOST ? mr_team_lost(team, message.from, error)
                                            : hear(self, &message, error);
        mr_message_free(&message);
    }
    return status;
}

/* The units that a rank with a part of the input begins with. */
static mr_status take_ahead(other *self, mr_error *error)
{
    const mr_cluster *cluster = self->dispatch->team->cluster;
    uint64_t units = self->phase->count;
    for (uint64_t unit = 0; unit < units && mr_is_ahead(unit, units); unit++) {
        void *taken = self->units;
        if (!mr_is_of_rank(unit, units, cluster->rank, cluster->size))
            continue;
        if (!mr_grow(&taken, &self->capacity, self->count + 1, sizeof *self->units))
            return mr_error_memory(error, "taking over work");
        self->units = taken;
        self->units[self->count++] = unit;
    }
    return MR_OK;
}

static mr_status begin(other *self, mr_error *error)
{
    mr_team *team = self->dispatch->team;
    mr_bytes bytes = {0};
    mr_status status = team->welcomed ? MR_OK : take_ahead(self, error);
    if (status != MR_OK)
        return status;
    mr_team_write(&bytes, MR_WORD_READY);
    mr_bytes_number(&bytes, team->phase);
    mr_bytes_number(&bytes, self->phase->count);
    mr_bytes_number(&bytes, self->dispatch->plan);
    return post(self, &bytes, error);
}

mr_status mr_rank_other_run(mr_dispatch *dispatch, const mr_phase *phase, mr_error *error)
{
    other self = {
        .dispatch = dispatch, .phase = phase, .over = !phase->count || dispatch->team->over};
    const mr_pool pool = {.context = &self,
                          .workers = dispatch->jobs,
                          .apart = true,
                          .look_ms = MR_TEAM_LOOK_MS,
                          .take = take,
                          .work = work,
                          .deliver = deliver,
                          .look = look};
    pthread_mutex_init(&self.mutex, NULL);
    mr_status status = begin(&self, error);
    if (status == MR_OK)
        status = mr_pool_run(&pool, error);
    pthread_mutex_destroy(&self.mutex);
    free(self.units);
    forget_kept(&self);
    return status;
}
