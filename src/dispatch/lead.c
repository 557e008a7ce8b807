/*
 * lead: a phase on rank 0 of a team. Its own threads take units as in one process; the calling
 * thread hands units out to the other ranks, and takes in their outcomes.
 *
 * A rank gets units ahead of its work, so that it never waits for a message: twice as many as it
 * has threads, or as many as will take it QUEUE_SECONDS by what units have taken so far. Towards
 * the end it gets fewer, so that all ranks end at about the same time.
 */
#include "shift.h"

#include <stdlib.h>

static const double QUEUE_SECONDS = 0.02;

/* How much of what was known of the time of units is left after one more: their times change, and a
 * rank that has got many of the long ones ends long after the others. */
static const double KEPT = 0.95;

typedef struct lead {
    mr_shift *shift;
    mr_team *team;
    unsigned jobs;  /* of all ranks together */
    uint64_t away;  /* units that other ranks have; of the shift's mutex */
    double decided; /* units, and the time that they took; the last ones count most */
    double seconds;
    bool told_halt;
} lead;

static mr_taken take(void *context, uint64_t *unit)
{
    lead *self = context;
    if (mr_shift_take(self->shift, unit))
        return MR_TAKEN;
    pthread_mutex_lock(&self->shift->mutex);
    uint64_t away = self->away;
    pthread_mutex_unlock(&self->shift->mutex);
    return away ? MR_TAKEN_LATER : MR_TAKEN_NONE;
}

static void set_away(lead *self, mr_member *member, uint64_t units)
{
    pthread_mutex_lock(&self->shift->mutex);
    self->away += units - member->away;
    pthread_mutex_unlock(&self->shift->mutex);
    member->away = units;
}

static mr_status work(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error)
{
    const lead *self = context;
    return mr_phase_work(self->shift->phase, worker, unit, product, error);
}

static mr_status take_over(lead *self, mr_outcome *outcome, mr_error *error)
{
    const mr_phase *phase = self->shift->phase;
    if (!phase->last_first || outcome->unit + 1 < phase->count) {
        self->decided = KEPT * self->decided + 1;
        self->seconds = KEPT * self->seconds + outcome->seconds;
    }
    return mr_shift_deliver(self->shift, outcome, error);
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    (void)unit;
    return take_over(context, product, error);
}

/* ---- what comes ---- */

/* An outcome; it is one of a unit that nobody has brought yet. */
static mr_status hear_outcome(lead *self, mr_message *message, mr_error *error)
{
    const mr_shift *shift = self->shift;
    mr_member *member = &self->team->members[message->from];
    bool damaged = false;
    uint32_t worker = mr_bytes_get_u32(&message->in, UINT32_MAX);
    double seconds = (double)mr_bytes_get(&message->in) * 1e-6;
    bool partly = mr_bytes_get_u32(&message->in, 1);
    mr_outcome *outcome = mr_outcome_read(shift->crew->trace, message->in.next,
                                          (size_t)(message->in.end - message->in.next), &damaged);
    if (!outcome)
        return damaged ? mr_team_garbled(self->team, message->from, error)
                       : mr_error_memory(error, "taking in the work of another rank");
    if (!member->away || outcome->unit >= shift->phase->count || outcome->unit < shift->merged ||
        shift->waiting[outcome->unit]) {
        mr_outcome_free(outcome);
        return mr_team_garbled(self->team, message->from, error);
    }
    outcome->rank = message->from;
    outcome->worker = worker;
    outcome->seconds = seconds;
    outcome->partly = partly;
    mr_status status = take_over(self, outcome, error);
    set_away(self, member, member->away - 1);
    return status;
}

/* It may come while rank 0 is still at the end of the phase before. */
static mr_status hear_ready(lead *self, uint64_t phase, mr_message *message, mr_error *error)
{
    mr_member *member = &self->team->members[message->from];
    member->phase = phase;
    member->units = mr_bytes_get(&message->in);
    return message->in.damaged ? mr_team_garbled(self->team, message->from, error) : MR_OK;
}

/* A rank that has units may leave only when the run is halted; else it has failed. */
static mr_status hear_bye(lead *self, mr_message *message, mr_error *error)
{
    mr_member *member = &self->team->members[message->from];
    bool owes = member->away && !self->told_halt;
    mr_status status = mr_team_read_bye(self->team, message, error);
    set_away(self, member, 0);
    return status == MR_OK && owes ? mr_team_left(self->team, message->from, error) : status;
}

static mr_status hear(lead *self, mr_message *message, mr_error *error)
{
    if (message->word == MR_WORD_BYE)
        return hear_bye(self, message, error);
    uint64_t phase = mr_bytes_get(&message->in);
    if (message->word == MR_WORD_READY)
        return hear_ready(self, phase, message, error);
    return message->word == MR_WORD_OUTCOME && phase == self->team->phase
               ? hear_outcome(self, message, error)
               : mr_team_garbled(self->team, message->from, error);
}

static mr_status hear_all(lead *self, mr_error *error)
{
    mr_status status = MR_OK;
    while (status == MR_OK) {
        mr_message message;
        mr_arrival arrival = mr_team_receive(self->team, &message);
        if (arrival == MR_ARRIVAL_NONE)
            break;
        status = arrival == MR_ARRIVAL_LOST ? mr_team_lost(self->team, message.from, error)
                                            : hear(self, &message, error);
        mr_message_free(&message);
    }
    return status;
}

/* ---- what goes ---- */

/* How many units a rank should have. */
static uint64_t wanted(lead *self, const mr_member *member)
{
    uint64_t jobs = member->jobs, want = 2 * jobs;
    uint64_t share = mr_shift_left(self->shift) * jobs / (2 * (uint64_t)self->jobs);
    if (self->decided > 0 && self->seconds < QUEUE_SECONDS * self->decided / 2)
        want = (uint64_t)(QUEUE_SECONDS * self->decided / (self->seconds + 1e-9) * (double)jobs);
    if (want > share)
        want = share;
    return want ? want : 1;
}

static mr_status hand_out(lead *self, unsigned rank, mr_error *error)
{
    mr_member *member = &self->team->members[rank];
    uint64_t had = member->away, want = wanted(self, member), count = 0, unit;
    mr_bytes units = {0}, bytes = {0};
    if (had > want / 2)
        return MR_OK;
    /* Before the first is taken: who finds none left must see that some are away. */
    set_away(self, member, want);
    for (; had + count < want && mr_shift_take(self->shift, &unit); count++)
        mr_bytes_number(&units, unit);
    set_away(self, member, had + count);
    if (!count)
        return MR_OK;
    mr_team_write(&bytes, MR_WORD_UNITS);
    mr_bytes_number(&bytes, self->team->phase);
    mr_bytes_number(&bytes, count);
    mr_bytes_raw(&bytes, units.items, units.count);
    bytes.failed |= units.failed;
    mr_bytes_free(&units);
    return mr_team_send(self->team, rank, &bytes, error);
}

static mr_status tell_halt(lead *self, mr_error *error)
{
    mr_bytes bytes = {0};
    self->told_halt = true;
    mr_team_write(&bytes, MR_WORD_HALT);
    mr_bytes_number(&bytes, (uint64_t)mr_halt_asked(self->shift->crew->halt));
    return mr_team_send_all(self->team, &bytes, error);
}

static mr_status look(void *context, mr_error *error)
{
    lead *self = context;
    const mr_team *team = self->team;
    mr_status status = MR_OK;
    if (!self->told_halt && mr_halt_asked(self->shift->crew->halt) != MR_HALT_NONE)
        status = tell_halt(self, error);
    if (status == MR_OK)
        status = hear_all(self, error);
    for (unsigned rank = 1; status == MR_OK && rank < team->cluster->size; rank++) {
        const mr_member *member = &team->members[rank];
        if (member->phase != team->phase || member->gone)
            continue;
        status = member->units == self->shift->phase->count ? hand_out(self, rank, error)
                                                            : mr_team_garbled(team, rank, error);
    }
    return status;
}

mr_status mr_lead_shift(mr_shift *shift, mr_error *error)
{
    mr_team *team = shift->crew->team;
    lead self = {.shift = shift, .team = team};
    for (unsigned rank = 0; rank < team->cluster->size; rank++) {
        team->members[rank].away = 0;
        self.jobs += team->members[rank].jobs;
    }
    const mr_pool pool = {.context = &self,
                          .workers = shift->crew->jobs,
                          .apart = true,
                          .look_ms = MR_TEAM_LOOK_MS,
                          .take = take,
                          .work = work,
                          .deliver = deliver,
                          .look = look};
    return mr_pool_run(&pool, error);
}
