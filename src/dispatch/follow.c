/*
 * follow: a phase on a rank of a team that is not rank 0. Its threads decide the units that rank 0
 * has sent; the calling thread sends their outcomes, and merges those that rank 0 has merged.
 */
#include "base/memory.h"
#include "shift.h"

#include <stdlib.h>

typedef struct follower {
    mr_crew *crew;
    const mr_phase *phase;
    pthread_mutex_t mutex; /* of all below but `merged` */
    uint64_t *units;       /* sent by rank 0; `next` … `count` - 1 are not taken yet */
    size_t next, count, capacity;
    bool over;       /* nothing more is to be decided */
    uint64_t merged; /* units */
} follower;

static mr_taken take(void *context, uint64_t *unit)
{
    follower *self = context;
    mr_taken taken = MR_TAKEN_LATER;
    pthread_mutex_lock(&self->mutex);
    if (self->over || mr_halt_asked(self->crew->halt) != MR_HALT_NONE) {
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
    const follower *self = context;
    return mr_phase_work(self->phase, worker, unit, product, error);
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    const follower *self = context;
    mr_outcome *outcome = product;
    mr_bytes bytes = {0};
    (void)unit;
    mr_team_write(&bytes, MR_WORD_OUTCOME);
    mr_bytes_number(&bytes, self->crew->team->phase);
    mr_bytes_number(&bytes, outcome->worker);
    mr_bytes_number(&bytes, (uint64_t)(outcome->seconds * 1e6));
    mr_bytes_number(&bytes, outcome->partly);
    bytes.failed |= !mr_outcome_write(self->crew->trace, outcome, &bytes);
    mr_outcome_free(outcome);
    return mr_team_send(self->crew->team, 0, &bytes, error);
}

/* ---- messages of rank 0 ---- */

static mr_status hear_units(follower *self, mr_message *message, mr_error *error)
{
    uint64_t count = mr_bytes_get(&message->in);
    mr_status status = MR_OK;
    pthread_mutex_lock(&self->mutex);
    void *units = self->units;
    if (self->next == self->count)
        self->next = self->count = 0;
    if (count > (uint64_t)(message->in.end - message->in.next))
        status = mr_team_garbled(self->crew->team, 0, error);
    else if (!mr_grow(&units, &self->capacity, self->count + count, sizeof *self->units))
        status = mr_error_memory(error, "taking over work");
    self->units = units;
    for (uint64_t i = 0; i < count && status == MR_OK; i++) {
        uint64_t unit = mr_bytes_get(&message->in);
        if (message->in.damaged || unit >= self->phase->count)
            status = mr_team_garbled(self->crew->team, 0, error);
        self->units[self->count++] = unit;
    }
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static void stop(follower *self)
{
    pthread_mutex_lock(&self->mutex);
    self->over = true;
    pthread_mutex_unlock(&self->mutex);
}

static mr_status hear_merged(follower *self, mr_message *message, mr_error *error)
{
    bool damaged = false;
    mr_outcome *outcome = mr_outcome_read(self->crew->trace, message->in.next,
                                          (size_t)(message->in.end - message->in.next), &damaged);
    if (!outcome && !damaged)
        return mr_error_memory(error, "taking in the work of another rank");
    damaged |= outcome && outcome->unit != self->merged;
    mr_status status = damaged ? mr_team_garbled(self->crew->team, 0, error)
                               : self->phase->merge(self->phase->context, outcome, error);
    mr_outcome_free(outcome);
    if (++self->merged == self->phase->count)
        stop(self);
    return status;
}

/* The run is to end: with HALT soon, with END at once. */
static void hear_end(follower *self, mr_message *message)
{
    mr_team *team = self->crew->team;
    uint32_t reason =
        message->word == MR_WORD_HALT ? mr_bytes_get_u32(&message->in, MR_HALT_TIME) : MR_HALT_NONE;
    mr_halt_ask(team->halt, reason ? (mr_halt_reason)reason : MR_HALT_SIGNAL);
    team->over |= message->word == MR_WORD_END;
    stop(self);
}

static mr_status hear(follower *self, mr_message *message, mr_error *error)
{
    const mr_team *team = self->crew->team;
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

/* What comes after the end of the phase belongs to the next. */
static mr_status look(void *context, mr_error *error)
{
    follower *self = context;
    mr_team *team = self->crew->team;
    mr_status status = MR_OK;
    while (status == MR_OK && !self->over) {
        mr_message message;
        mr_arrival arrival = mr_team_receive(team, &message);
        if (arrival == MR_ARRIVAL_NONE)
            break;
        status =
            arrival == MR_ARRIVAL_LOST ? mr_team_lost(team, 0, error) : hear(self, &message, error);
        mr_message_free(&message);
    }
    return status;
}

static mr_status begin(follower *self, mr_error *error)
{
    mr_team *team = self->crew->team;
    mr_bytes bytes = {0};
    mr_team_write(&bytes, MR_WORD_READY);
    mr_bytes_number(&bytes, team->phase);
    mr_bytes_number(&bytes, self->phase->count);
    return mr_team_send(team, 0, &bytes, error);
}

mr_status mr_follow_phase(mr_crew *crew, const mr_phase *phase, mr_error *error)
{
    follower self = {.crew = crew, .phase = phase, .over = !phase->count || crew->team->over};
    const mr_pool pool = {.context = &self,
                          .workers = crew->jobs,
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
    return status;
}
