/*
 * rank_zero: what rank 0 of a team does in a phase beside deciding units itself. Its calling thread
 * hands units out to the other ranks, and takes in their outcomes.
 *
 * A rank gets units ahead of its work, so that it need not wait for a message: twice as many as it
 * has threads, or as many as will take the rank QUEUE_SECONDS by what units have taken so far.
 * Towards the end of the phase a rank gets fewer, so that all ranks end at about the same time.
 *
 * A rank that has a part of the input has no checker. So its outcomes are checked here, when they are merged. A unit whose outcome is
 * refused is decided again by the calling thread.
 */
#include "phase_run.h"

static const double QUEUE_SECONDS = 0.1;

static void set_away(mr_phase_run *self, mr_member *member, uint64_t units)
{
    pthread_mutex_lock(&self->mutex);
    self->away += units - member->away;
    pthread_mutex_unlock(&self->mutex);
    member->away = units;
}

/* ---- messages to rank 0 ---- */

/* An outcome, of a unit of which nobody has sent one before. */
static mr_status hear_outcome(mr_phase_run *self, mr_message *message, mr_error *error)
{
    const mr_outcome_kind *kind = self->dispatch->kind;
    mr_team *team = self->dispatch->team;
    mr_member *member = &team->members[message->from];
    mr_decided decided = {.rank = message->from};
    bool damaged = false;
    uint64_t unit = mr_bytes_get(&message->in);
    decided.worker = mr_bytes_get_u32(&message->in, UINT32_MAX);
    decided.seconds = (double)mr_bytes_get(&message->in) * 1e-6;
    decided.partly = mr_bytes_get_u32(&message->in, 1);
    if (message->in.damaged || !member->away || unit >= self->phase->count ||
        mr_phase_place(self->phase, unit) < self->merged || self->waiting[unit])
        return mr_team_garbled(team, message->from, error);
    decided.outcome = kind->decode(kind->context, unit, message->in.next,
                                   (size_t)(message->in.end - message->in.next), &damaged);
    if (!decided.outcome)
        return damaged ? mr_team_garbled(team, message->from, error)
                       : mr_error_memory(error, "taking in the work of another rank");
    self->of_part[unit] = member->has_part;
    mr_status status = mr_phase_run_deliver(self, unit, decided, error);
    set_away(self, member, member->away - 1);
    return status;
}

/* A rank may enter the phase while rank 0 is still at the end of the phase before. */
static mr_status hear_ready(const mr_phase_run *self, uint64_t phase, mr_message *message,
                            mr_error *error)
{
    mr_team *team = self->dispatch->team;
    mr_member *member = &team->members[message->from];
    member->phase = phase;
    member->units = mr_bytes_get(&message->in);
    member->plan = mr_bytes_get(&message->in);
    return message->in.damaged ? mr_team_garbled(team, message->from, error) : MR_OK;
}

/* A rank that still has units may leave only when the run is halted; else it has failed. */
static mr_status hear_bye(mr_phase_run *self, mr_message *message, mr_error *error)
{
    mr_team *team = self->dispatch->team;
    mr_member *member = &team->members[message->from];
    bool owes = member->away && !self->told_halt;
    mr_status status = mr_team_read_bye(team, message, error);
    set_away(self, member, 0);
    return status == MR_OK && owes ? mr_team_left(team, message->from, error) : status;
}

static mr_status hear(mr_phase_run *self, mr_message *message, mr_error *error)
{
    const mr_team *team = self->dispatch->team;
    if (message->word == MR_WORD_BYE)
        return hear_bye(self, message, error);
    uint64_t phase = mr_bytes_get(&message->in);
    if (message->word == MR_WORD_READY)
        return hear_ready(self, phase, message, error);
    return message->word == MR_WORD_OUTCOME && phase == team->phase
               ? hear_outcome(self, message, error)
               : mr_team_garbled(team, message->from, error);
}

static mr_status hear_all(mr_phase_run *self, mr_error *error)
{
    mr_team *team = self->dispatch->team;
    mr_status status = MR_OK;
    while (status == MR_OK) {
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

/* ---- messages of rank 0 ---- */

/* How many units a rank should have. */
static uint64_t wanted(mr_phase_run *self, const mr_member *member)
{
    const double units = self->decided_units, seconds = self->decided_seconds;
    uint64_t jobs = member->jobs, want = 2 * jobs;
    uint64_t share = mr_phase_run_left(self) * jobs / (2 * (uint64_t)self->jobs);
    if (units > 0 && seconds < QUEUE_SECONDS * units / 2)
        want = (uint64_t)(QUEUE_SECONDS * units / (seconds + 1e-9) * (double)jobs);
    if (want > share)
        want = share;
    return want ? want : 1;
}

static mr_status hand_out(mr_phase_run *self, unsigned rank, mr_error *error)
{
    mr_team *team = self->dispatch->team;
    mr_member *member = &team->members[rank];
    uint64_t had = member->away, want = wanted(self, member), count = 0, unit;
    mr_bytes units = {0}, bytes = {0};
    if (had > want / 2)
        return MR_OK;
    /* Set before the first unit is taken: a worker that finds no unit left must see that some are
     * away. */
    set_away(self, member, want);
    for (; had + count < want && mr_phase_run_take(self, rank, &unit); count++)
        mr_bytes_number(&units, unit);
    set_away(self, member, had + count);
    if (!count)
        return MR_OK;
    mr_team_write(&bytes, MR_WORD_UNITS);
    mr_bytes_number(&bytes, team->phase);
    mr_bytes_number(&bytes, count);
    mr_bytes_raw(&bytes, units.items, units.count);
    bytes.failed |= units.failed;
    mr_bytes_free(&units);
    return mr_team_send(team, rank, &bytes, error);
}

static mr_status tell_halt(mr_phase_run *self, mr_error *error)
{
    mr_bytes bytes = {0};
    self->told_halt = true;
    mr_team_write(&bytes, MR_WORD_HALT);
    mr_bytes_number(&bytes, (uint64_t)mr_halt_asked(self->dispatch->halt));
    return mr_team_send_all(self->dispatch->team, &bytes, error);
}

/* A rank with a part of the input has begun with these units. */
static uint64_t take_ahead(mr_phase_run *self, unsigned rank)
{
    uint64_t units = self->phase->count, count = 0;
    for (uint64_t unit = 0; unit < units && mr_is_ahead(unit, units); unit++)
        if (mr_is_of_rank(unit, units, rank, self->dispatch->team->cluster->size)) {
            self->gone[unit] = true;
            count++;
        }
    self->left -= count;
    return count;
}

void mr_rank_zero_begin(mr_phase_run *self)
{
    mr_team *team = self->dispatch->team;
    for (unsigned rank = 0; rank < team->cluster->size; rank++) {
        mr_member *member = &team->members[rank];
        member->next = 0;
        member->away = member->has_part ? take_ahead(self, rank) : 0;
        self->away += member->away;
        self->jobs += member->jobs;
    }
}

mr_status mr_rank_zero_look(void *context, mr_error *error)
{
    mr_phase_run *self = context;
    const mr_team *team = self->dispatch->team;
    mr_status status = MR_OK;
    if (!self->told_halt && mr_halt_asked(self->dispatch->halt) != MR_HALT_NONE)
        status = tell_halt(self, error);
    if (status == MR_OK)
        status = hear_all(self, error);
    for (unsigned rank = 1; status == MR_OK && rank < team->cluster->size; rank++) {
        const mr_member *member = &team->members[rank];
        if (member->phase != team->phase || member->gone)
            continue;
        if (member->plan != self->dispatch->plan)
            status = mr_team_differs(team, rank, error);
        else if (member->units != self->phase->count)
            status = mr_team_garbled(team, rank, error);
        else
            status = hand_out(self, rank, error);
    }
    return status;
}
