/* prove: proves static races by witnesses of sound orders, or by the decision procedure. */
#include "job.h"

#include "base/assert.h"
#include "base/seconds.h"
#include "beside.h"
#include "lean.h"
#include "order/detect/detect.h"
#include "prefix.h"
#include "prover.h"

#include <stdlib.h>

/* A question about a static race. */
typedef struct task {
    size_t race;
    mr_question question;
    mr_proof proof;
} task;

typedef struct tasks {
    task *items;
    size_t count, capacity;
} tasks;

static mr_status add_task(const mr_sweep_job *job, tasks *list, task item)
{
    void *items = list->items;
    MR_ASSERT(item.race < job->sweep->result.list.race_count);
    if (!mr_grow(&items, &list->capacity, list->count + 1, sizeof *list->items))
        return mr_error_memory(job->error, "proving races");
    list->items = items;
    list->items[list->count++] = item;
    return MR_OK;
}

static int compare_tasks(const void *one, const void *two)
{
    const task *x = one, *y = two;
    if (x->question.start != y->question.start)
        return x->question.start < y->question.start ? -1 : 1;
    if (x->race != y->race)
        return x->race < y->race ? -1 : 1;
    return (x->question.second > y->question.second) - (x->question.second < y->question.second);
}

/* Takes one more answer about a static race: race wins over unknown, and unknown over no race. */
static void combine(mr_order_race *known, mr_order_race answer)
{
    MR_ASSERT(known->standing != MR_STANDING_RACE); /* its witness would be lost */
    MR_ASSERT((answer.standing <= MR_STANDING_SOUND) == (answer.proof != MR_PROOF_NONE));
    if (answer.standing <= MR_STANDING_SOUND || known->standing == MR_STANDING_CANDIDATE ||
        (answer.standing == MR_STANDING_UNKNOWN && known->standing == MR_STANDING_NO_RACE))
        *known = answer;
}

/* Asks for the witness that hb, fhb and shb promise: in trace order, between the two accesses. */
static mr_status ask_promised(const mr_sweep_job *job, mr_prover *prover, const task *item,
                              mr_order_race *answer)
{
    mr_status status =
        mr_prover_ask_between(prover, &item->question, item->proof, answer, job->error);
    if (status == MR_OK && answer->standing != MR_STANDING_RACE &&
        answer->reason != MR_UNKNOWN_REJECTED)
        mr_prover_reject(prover, &item->question, answer);
    return status;
}

/* Makes the witness that syncp promises, and asks the checker. */
static mr_status take_schedule(const mr_sweep_job *job, mr_prover *prover, const task *item,
                               mr_order_race *answer)
{
    const mr_question *question = &item->question;
    mr_u32s events = {0};
    if (!mr_syncp_schedule(prover->syncp, question->first, question->second, question->start,
                           &events)) {
        mr_u32s_free(&events);
        return mr_error_memory(job->error, "building a witness");
    }
    mr_witness witness = mr_question_witness(question, events.items, events.count);
    return mr_prover_accept(prover, &witness, item->proof, answer, job->error);
}

/* Makes a witness of SyncP from the first example alone, when the events before its first access may be kept as they are. Else
 * the race stays a candidate. */
static mr_status take_near(const mr_sweep_job *job, mr_prover *prover, const task *item,
                           mr_order_race *answer)
{
    const mr_question *question = &item->question;
    mr_u32s events = {0};
    bool found;
    if (!mr_between_find(&prover->between, question->first, question->second, &events, &found)) {
        mr_u32s_free(&events);
        return mr_error_memory(job->error, "building a witness");
    }
    mr_witness witness = mr_question_witness(question, events.items, events.count);
    if (found && job->check)
        return mr_prover_accept(prover, &witness, item->proof, answer, job->error);
    *answer = (mr_order_race){.standing = MR_STANDING_CANDIDATE};
    if (found)
        *answer = (mr_order_race){.standing = MR_STANDING_SOUND, .proof = item->proof};
    mr_witness_free(&witness);
    return MR_OK;
}

/* Makes the witness that c17 promises: the recorded order from the first access to the second. */
static mr_status take_recorded(const mr_sweep_job *job, mr_prover *prover, const task *item,
                               mr_order_race *answer)
{
    const mr_question *question = &item->question;
    mr_u32s events = {0};
    bool done = true;
    for (uint32_t event = question->first; event < question->second && done; event++)
        done = mr_u32s_push(&events, event);
    if (!done) {
        mr_u32s_free(&events);
        return mr_error_memory(job->error, "building a witness");
    }
    mr_witness witness = mr_question_witness(question, events.items, events.count);
    witness.kind = MR_WITNESS_MEMORY_ORDER;
    return mr_prover_accept(prover, &witness, item->proof, answer, job->error);
}

static mr_status ask(const mr_sweep_job *job, mr_prover *prover, const task *item,
                     mr_order_race *answer)
{
    if (item->proof == MR_PROOF_SYNCP)
        return (prover->syncp ? take_schedule : take_near)(job, prover, item, answer);
    if (item->proof == MR_PROOF_C17)
        return take_recorded(job, prover, item, answer);
    if (item->question.trace_order)
        return ask_promised(job, prover, item, answer);
    return mr_prover_ask(prover, &item->question, item->proof, answer, job->error);
}

/* Tells the prover what the tasks are about. */
static void set_reach(mr_prover *prover, const tasks *list)
{
    uint64_t reach = 0, sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        const mr_question *question = &list->items[i].question;
        sum += question->end - question->start;
        if (question->end > reach)
            reach = question->end;
    }
    prover->reach = reach;
    prover->few = sum < reach;
}

/* Asks about the tasks in the order of their windows, and frees them. */
static mr_status ask_all(const mr_sweep_job *job, mr_prover *prover, tasks *list, const char *stage)
{
    mr_order_race *races = job->sweep->result.races;
    mr_status status = MR_OK;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, compare_tasks);
    set_reach(prover, list);
    for (size_t i = 0; i < list->count && status == MR_OK; i++) {
        const task *item = &list->items[i];
        mr_order_race answer = {0};
        mr_progress_tell(job->progress, stage, i, list->count);
        if (mr_halt_asked(job->halt) != MR_HALT_NONE) {
            status = mr_halt_fail(job->halt, NULL, "proving races", job->error);
            break;
        }
        if (races[item->race].standing == MR_STANDING_RACE)
            continue;
        status = ask(job, prover, item, &answer);
        /* A question that was cut short has no answer. */
        bool cut = answer.standing == MR_STANDING_UNKNOWN && mr_halt_asked(job->halt);
        if (status == MR_OK && !cut)
            combine(&races[item->race], answer);
    }
    free(list->items);
    *list = (tasks){0};
    return status;
}

static const mr_race_example *example_of(const mr_race_list *list, size_t race)
{
    return &list->examples[list->races[race].first_example];
}

/* The question whose witness a sound order promises: the events before the window as observed, then
 * the events that the accesses need, in trace order. The window of fhb and shb begins with the
 * first access. */
static mr_question promised(const mr_prover *prover, const mr_race_example *pair)
{
    uint32_t start = pair->first.event;
    if (prover->syncp != NULL)
        start = mr_syncp_window(prover->syncp, pair->first.event, pair->second.event);
    return (mr_question){.first = pair->first.event,
                         .second = pair->second.event,
                         .start = start,
                         .end = pair->second.event + 1,
                         .model = MR_MODEL_RF,
                         .trace_order = true};
}

static mr_proof proof_of(mr_relation relation)
{
    return relation == MR_RELATION_FHB   ? MR_PROOF_FHB
           : relation == MR_RELATION_SHB ? MR_PROOF_SHB
                                         : MR_PROOF_SYNCP;
}

/* Proves the static races of a sound order. `found` are its races; `race_of` gives the race of the
 * result that each of them is, or SIZE_MAX for none. `race_of` NULL: `found` is the result's own
 * list. The prover may have the index of syncp already. */
static mr_status check_found(const mr_sweep_job *job, mr_prover *prover, mr_relation relation,
                             const mr_race_list *found, const size_t *race_of)
{
    tasks list = {0};
    mr_status status = MR_OK;
    if (relation == MR_RELATION_SYNCP && prover->syncp == NULL) {
        mr_detect_options options = mr_sweep_options(job, job->sweep->trace, 1);
        status = mr_syncp_index_new(job->sweep->trace, &options, &prover->syncp, job->error);
    }
    for (size_t i = 0; i < found->race_count && status == MR_OK; i++) {
        size_t race = race_of != NULL ? race_of[i] : i;
        if (race != SIZE_MAX)
            status =
                add_task(job, &list,
                         (task){race, promised(prover, example_of(found, i)), proof_of(relation)});
    }
    if (status == MR_OK)
        status = ask_all(job, prover, &list, "witnesses");
    free(list.items);
    mr_syncp_index_free(prover->syncp);
    prover->syncp = NULL;
    return status;
}

/* For each static race of `found` (an order on the trace in memory): the candidate of the result
 * with the same locations, or SIZE_MAX. NULL: no memory. The stream and the trace in memory may
 * number the names of the file differently, so the locations are compared through the events. */
static size_t *find_candidates(const mr_sweep_job *job, const mr_race_list *found)
{
    const mr_order_result *result = &job->sweep->result;
    const uint32_t *location = job->sweep->trace->location;
    size_t *race_of = mr_calloc(found->race_count + 1, sizeof *race_of);
    if (race_of == NULL)
        return NULL;
    for (size_t i = 0; i < found->race_count; i++)
        race_of[i] = SIZE_MAX;
    for (size_t i = 0; i < result->list.race_count; i++) {
        const mr_race_example *pair = example_of(&result->list, i);
        uint32_t number =
            mr_race_list_find(found, location[pair->first.event], location[pair->second.event]);
        MR_ASSERT(number == UINT32_MAX || number < found->race_count);
        if (number != UINT32_MAX && result->races[i].standing == MR_STANDING_CANDIDATE)
            race_of[number] = i;
    }
    return race_of;
}

static void call_sound(const mr_sweep_job *job, mr_relation relation, const mr_race_list *found,
                       const size_t *race_of)
{
    for (size_t i = 0; i < found->race_count; i++)
        if (race_of[i] != SIZE_MAX)
            job->sweep->result.races[race_of[i]] =
                (mr_order_race){.standing = MR_STANDING_SOUND, .proof = proof_of(relation)};
}

/* Notes the candidates that are left when those among `found` are proven (NULL: none of them is), but those that are parted.
 * `*some`: there are any. False: no memory. */
static bool note_left(const mr_sweep_job *job, const mr_race_list *found, const mr_parted *parted,
                      mr_wanted *left, bool *some)
{
    const mr_order_result *result = &job->sweep->result;
    const mr_trace *trace = job->sweep->trace;
    *some = false;
    for (size_t i = 0; i < result->list.race_count; i++) {
        const mr_race_example *pair = example_of(&result->list, i);
        uint32_t first = trace->location[pair->first.event],
                 second = trace->location[pair->second.event];
        if (result->races[i].standing != MR_STANDING_CANDIDATE ||
            (found != NULL && mr_race_list_find(found, first, second) != UINT32_MAX) ||
            (parted != NULL && mr_parted_has(parted, first, second)))
            continue;
        *some = true;
        if (!mr_wanted_add(left, trace->locations.count, first, second))
            return false;
    }
    return true;
}

/* Proves the candidates that are also races of the sound order `relation`. */
static mr_status mark_by(const mr_sweep_job *job, mr_prover *prover, mr_relation relation)
{
    mr_sweep_shared *shared = job->shared;
    const mr_trace *trace = job->sweep->trace;
    mr_race_list found = {0};
    bool is_shb = relation == MR_RELATION_SHB;
    mr_status status = mr_beside_take(is_shb ? &shared->shb : &shared->syncp, job, relation, trace,
                                      &found, &prover->syncp, job->error);
    size_t *race_of = status == MR_OK ? find_candidates(job, &found) : NULL;
    if (status == MR_OK && race_of == NULL)
        status = mr_error_memory(job->error, "marking the races");
    if (is_shb && race_of != NULL) {
        bool some;
        if (!note_left(job, &found, NULL, &shared->left, &some))
            status = mr_error_memory(job->error, "marking the races");
        else if (some)
            mr_beside_start_parted(job, trace);
    }
    if (status == MR_OK && job->check)
        status = check_found(job, prover, relation, &found, race_of);
    else if (status == MR_OK)
        call_sound(job, relation, &found, race_of);
    mr_syncp_index_free(prover->syncp);
    prover->syncp = NULL;
    free(race_of);
    mr_race_list_free(&found);
    return status;
}

static bool has_candidates(const mr_order_result *result)
{
    for (size_t i = 0; i < result->list.race_count; i++)
        if (result->races[i].standing == MR_STANDING_CANDIDATE)
            return true;
    return false;
}

/* The two accesses of the race by which it may be proven: of its first example, or, when it is known where such accesses meet, these.
 * False: there are none. */
static bool choose_pair(const mr_sweep_job *job, size_t race, const mr_parted *parted,
                        mr_race_example *pair)
{
    const mr_trace *trace = job->sweep->trace;
    uint32_t first, second;
    *pair = *example_of(&job->sweep->result.list, race);
    if (parted != NULL) {
        if (!mr_parted_met(parted, trace->location[pair->first.event],
                           trace->location[pair->second.event], &first, &second) ||
            second >= trace->event_count)
            return false;
        pair->first.event = first;
        pair->second.event = second;
    }
    return mr_events_conflict(trace, (uint32_t)pair->first.event, (uint32_t)pair->second.event);
}

/* Proves what the events between two accesses prove, as far as they are not too many. */
static mr_status mark_near(const mr_sweep_job *job, mr_prover *prover, const mr_parted *parted)
{
    enum { LEAST = 1 << 16, SHARE = 4 };
    const mr_order_result *result = &job->sweep->result;
    uint64_t room = LEAST + job->sweep->names->event_count / SHARE;
    tasks list = {0};
    mr_status status = MR_OK;
    for (size_t i = 0; i < result->list.race_count && status == MR_OK; i++) {
        mr_race_example pair;
        if (result->races[i].standing != MR_STANDING_CANDIDATE ||
            !choose_pair(job, i, parted, &pair) || pair.second.event - pair.first.event > room)
            continue;
        room -= pair.second.event - pair.first.event;
        status = add_task(job, &list, (task){i, promised(prover, &pair), MR_PROOF_SYNCP});
    }
    if (status == MR_OK)
        status = ask_all(job, prover, &list, "witnesses");
    free(list.items);
    return status;
}

/* What is left for SyncP as `shared->left`. `*some`: there is anything. */
static mr_status leave_parted(const mr_sweep_job *job, const mr_parted *parted, bool *some)
{
    mr_wanted left = {0};
    if (!note_left(job, NULL, parted, &left, some)) {
        mr_wanted_free(&left);
        return mr_error_memory(job->error, "marking the races");
    }
    mr_wanted_free(&job->shared->left);
    job->shared->left = left;
    return MR_OK;
}

/* The whole trace, where only its first events were loaded. */
static mr_status load_rest(const mr_sweep_job *job, mr_prover *prover)
{
    const mr_sweep *sweep = job->sweep;
    mr_prover_free(prover);
    *prover = (mr_prover){0};
    job->shared->has_edges = false; /* those that are there are of the first events */
    mr_status status = mr_lean_whole(job);
    if (status != MR_OK)
        return status;
    return mr_prover_init(prover, sweep->trace, job->config, &job->sweep->result.stats, job->halt,
                          job->error);
}

/* Proves the candidates that are sync-preserving races. The search for these races takes much more than what comes before it,
 * and mostly nothing is left for it. */
static mr_status mark_by_syncp(const mr_sweep_job *job, mr_prover *prover)
{
    mr_sweep *sweep = job->sweep;
    bool some = false;
    mr_status status = mark_near(job, prover, NULL);
    if (status != MR_OK || !has_candidates(&sweep->result))
        return status;
    mr_beside_wait_parted(job);
    const mr_parted *parted = job->shared->parted.parted;
    if (parted != NULL)
        status = mark_near(job, prover, parted);
    if (status == MR_OK)
        status = leave_parted(job, parted, &some);
    if (status != MR_OK || !some)
        return status;
    if (sweep->trace->event_count < sweep->names->event_count) {
        status = load_rest(job, prover);
        if (status == MR_OK && parted != NULL)
            status = mark_near(job, prover, parted);
        if (status == MR_OK)
            status = leave_parted(job, parted, &some);
        if (status != MR_OK || !some)
            return status;
    }
    mr_beside_drop_parted(&job->shared->parted);
    return mark_by(job, prover, MR_RELATION_SYNCP);
}

/* Proves the candidates that are memory-order races. */
static mr_status mark_memory_order(const mr_sweep_job *job, mr_prover *prover)
{
    const mr_order_result *result = &job->sweep->result;
    tasks list = {0};
    mr_status status = MR_OK;
    for (size_t i = 0; i < result->list.race_count && status == MR_OK; i++)
        if (result->races[i].standing == MR_STANDING_CANDIDATE)
            status =
                add_task(job, &list,
                         (task){i, promised(prover, example_of(&result->list, i)), MR_PROOF_C17});
    if (status == MR_OK)
        status = ask_all(job, prover, &list, "witnesses");
    free(list.items);
    return status;
}

static mr_status mark(const mr_sweep_job *job, mr_prover *prover)
{
    mr_order_result *result = &job->sweep->result;
    double begin = mr_seconds();
    mr_status status = MR_OK;
    if (mr_relation_sound(job->relation)) {
        status = check_found(job, prover, job->relation, &result->list, NULL);
    } else if (mr_sweep_marks(job)) {
        if (job->relation == MR_RELATION_HB && !job->check)
            result->races[0] =
                (mr_order_race){.standing = MR_STANDING_SOUND, .proof = MR_PROOF_FIRST};
        if (has_candidates(result))
            status = mark_by(job, prover, MR_RELATION_SHB);
        if (status == MR_OK && has_candidates(result))
            status = mark_by_syncp(job, prover);
        if (status == MR_OK && job->relation == MR_RELATION_C17 && job->check)
            status = mark_memory_order(job, prover);
    }
    result->stats.mark_seconds += mr_seconds() - begin;
    return status;
}

/* A question on a window of window.size events with the pair in its middle. The window ends where
 * the trace ends, and always contains both accesses. */
static mr_question around(const mr_sweep_job *job, const mr_race_example *pair)
{
    uint64_t size = (uint64_t)mr_config_int(job->config, "window.size");
    uint64_t count = job->sweep->trace->event_count;
    uint64_t first = pair->first.event, end = (uint64_t)pair->second.event + 1;
    uint64_t room = size == 0 ? 2 * count : size > end - first ? size - (end - first) : 0;
    first -= room / 2 < first ? room / 2 : first;
    end += room - room / 2;
    MR_ASSERT(first <= pair->first.event && end > pair->second.event);
    return (mr_question){.first = pair->first.event,
                         .second = pair->second.event,
                         .start = (uint32_t)first,
                         .end = (uint32_t)(end < count ? end : count),
                         .model = (mr_model)mr_config_choice(job->config, "model")};
}

/* Asks the decision procedure about the examples of each candidate until one is a race. */
static mr_status confirm(const mr_sweep_job *job, mr_prover *prover)
{
    mr_order_result *result = &job->sweep->result;
    const mr_race_list *races = &result->list;
    double begin = mr_seconds();
    tasks list = {0};
    mr_status status = MR_OK;
    for (size_t i = 0; i < races->race_count; i++) {
        if (result->races[i].standing != MR_STANDING_CANDIDATE)
            continue;
        for (uint32_t k = races->races[i].first_example; status == MR_OK && k != UINT32_MAX;
             k = races->examples[k].next)
            status = add_task(job, &list,
                              (task){i, around(job, &races->examples[k]), MR_PROOF_DECISION});
    }
    if (status == MR_OK)
        status = ask_all(job, prover, &list, "candidates");
    free(list.items);
    result->stats.confirm_seconds += mr_seconds() - begin;
    return status;
}

/* Without a witness, the races of a sound order are races all the same. */
static void call_rest_sound(const mr_sweep_job *job)
{
    mr_order_result *result = &job->sweep->result;
    for (size_t i = 0; mr_relation_sound(job->relation) && i < result->list.race_count; i++)
        if (result->races[i].standing == MR_STANDING_CANDIDATE)
            result->races[i] =
                (mr_order_race){.standing = MR_STANDING_SOUND, .proof = proof_of(job->relation)};
}

static mr_status load_and_prove(const mr_sweep_job *job)
{
    mr_sweep *sweep = job->sweep;
    mr_prover prover;
    uint64_t end = 0;
    mr_status status = MR_OK;
    if (mr_ahead_goes_on(job))
        mr_lean_start(job);
    if (sweep->trace == NULL)
        status = mr_sweep_prefix(job, &end);
    if (status == MR_OK && sweep->trace == NULL && mr_lean_begin(job, end))
        status = mr_lean_load(job, end);
    else if (status == MR_OK)
        status = mr_sweep_load(job, end);
    if (status != MR_OK)
        return status;
    /* What follows makes a pass over the trace, and takes memory for each event. */
    if (mr_halt_asked(job->halt) != MR_HALT_NONE)
        return mr_halt_fail(job->halt, NULL, "proving races", job->error);
    if (mr_sweep_marks(job))
        mr_beside_start(&job->shared->shb, job, MR_RELATION_SHB, sweep->trace);
    status = mr_prover_init(&prover, sweep->trace, job->config, &sweep->result.stats, job->halt,
                            job->error);
    if (status == MR_OK)
        status = mark(job, &prover);
    if (status == MR_OK && job->confirm && !mr_relation_sound(job->relation))
        status = confirm(job, &prover);
    mr_prover_free(&prover);
    return status;
}

mr_status mr_sweep_prove(const mr_sweep_job *job)
{
    mr_status status = MR_OK;
    bool halted = mr_halt_asked(job->halt) != MR_HALT_NONE;
    if (job->sweep->result.list.race_count == 0)
        return MR_OK;
    job->sweep->result.is_long = mr_sweep_proves(job) && job->sweep->names->event_count > MR_NESTED;
    if (mr_sweep_proves(job) && !halted && !job->sweep->result.is_long)
        status = load_and_prove(job);
    if (!mr_sweep_proves(job) || job->sweep->result.is_long ||
        mr_halt_asked(job->halt) != MR_HALT_NONE)
        call_rest_sound(job);
    return status;
}
