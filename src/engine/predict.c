#include "predict.h"

#include "base/ceiling.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "base/thread.h"
#include "dispatch/dispatch.h"
#include "early.h"
#include "far/far.h"
#include "findings/find.h"
#include "predict/crowded.h"
#include "predict/label.h"
#include "predict/memory_order.h"
#include "predict/merge.h"
#include "predict/worker.h"
#include "shorten.h"
#include "witness/pack.h"

#include <stdlib.h>
#include <sys/resource.h>

typedef struct prediction {
    mr_predict_settings settings;
    mr_merge merge;
    mr_known_races *known;
    mr_outcome_kind kind;
    mr_store store; /* the checkpoint, when there is one */
    mr_dispatch dispatch;
    mr_worker **workers; /* one a job, and one for the calling thread; made when they are needed */
    mr_checker *checker; /* of saved races; made when it is needed */
    uint64_t window_count;
    mr_halt own_halt;    /* when the caller has none */
    mr_ceiling *ceiling; /* NULL: none */
    mr_wanted open;      /* the pairs of places without a race before the windows; owned */
    bool searches;       /* the last unit is the search for sync-preserving races */
    bool searched;       /* its outcome was taken; then: */
    mr_outcome *found;   /*   races that count where no window proves them; owned */
    bool no_room;        /*   there is no memory for far races */
    mr_far_ahead *ahead; /* owned; NULL: nothing is searched ahead */
    bool asked_left;     /* what the windows have left was asked within the search for far races */
    bool asks_deferred;  /* windows are asked after the search for far races (deferred.h), about: */
    mr_wanted deferred;  /*   these pairs of places; owned */
    mr_event_pair *pairs; /*   the pairs that it has not confirmed; owned */
    size_t pair_count;
} prediction;

/* ---- outcomes (mr_outcome_kind) ---- */

static bool encode(void *context, const mr_outcome *outcome, mr_bytes *bytes)
{
    const prediction *p = context;
    return mr_outcome_write(p->settings.trace, outcome, bytes);
}

static mr_outcome *decode(void *context, uint64_t unit, const uint8_t *bytes, size_t count,
                          bool *damaged)
{
    const prediction *p = context;
    mr_outcome *outcome = mr_outcome_read(p->settings.trace, bytes, count, damaged);
    if (!outcome || outcome->unit == unit)
        return outcome;
    mr_outcome_free(outcome);
    *damaged = true;
    return NULL;
}

static bool is_final(const mr_outcome *outcome)
{
    return !outcome->no_room && !outcome->cut;
}

static bool is_cut(const mr_outcome *outcome)
{
    return outcome->cut;
}

/* Is the witness one of the pair of the verdict, and in the model of this run? */
static bool is_witness_of(const prediction *p, const mr_pair_verdict *verdict)
{
    const mr_witness *witness = &verdict->race.witness;
    const uint32_t *location = p->settings.trace->location;
    uint32_t one = p->settings.by_event ? witness->first : location[witness->first];
    uint32_t two = p->settings.by_event ? witness->second : location[witness->second];
    return witness->model == p->settings.model && verdict->key_1 == (one < two ? one : two) &&
           verdict->key_2 == (one < two ? two : one);
}

static mr_status check_witness(prediction *p, const mr_witness *witness, bool fits, mr_error *error)
{
    mr_witness room;
    if (!fits)
        return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0, "a witness of something else");
    if (!p->checker) {
        const mr_checker *shared = mr_facts_checker(p->settings.facts);
        p->checker = shared ? mr_checker_like(shared) : NULL;
    }
    if (!p->checker)
        return mr_error_memory(error, "reading the checkpoint");
    const mr_witness *open = mr_witness_open(p->settings.trace, witness, &room);
    mr_status status = open ? mr_checker_check(p->checker, open, error)
                            : mr_error_memory(error, "reading the checkpoint");
    mr_witness_free(&room);
    return status;
}

/* A race or finding of an earlier run counts only when the checker accepts its witness again. */
static mr_status check(void *context, const mr_outcome *outcome, mr_error *error)
{
    prediction *p = context;
    mr_status status = MR_OK;
    for (size_t i = 0; i < outcome->count && status == MR_OK; i++) {
        const mr_pair_verdict *verdict = &outcome->verdicts[i];
        if (verdict->has_race)
            status = check_witness(p, &verdict->race.witness, is_witness_of(p, verdict), error);
    }
    const mr_finding_verdict *found = outcome->finding;
    if (status == MR_OK && found && found->verdict == MR_VERDICT_RACE)
        status = check_witness(p, &found->finding.witness,
                               found->finding.witness.model == p->settings.model, error);
    return status;
}

static bool count_unit(void *context, uint32_t rank, uint32_t worker, double seconds)
{
    const prediction *p = context;
    return mr_run_figures_count_unit(&p->merge.result->run, rank, worker, seconds);
}

/* ---- windows, and the search beside them ---- */

static mr_status worker_of(void *context, unsigned number, mr_worker **worker, mr_error *error)
{
    prediction *p = context;
    mr_status status = MR_OK;
    if (!p->workers[number]) {
        mr_worker *made = mr_calloc(1, sizeof *made);
        if (!made)
            return mr_error_memory(error, "starting the prediction");
        p->workers[number] = made;
        status = mr_worker_init(made, &p->settings, p->known, error);
    }
    *worker = p->workers[number];
    return status;
}

/* Workers pack, as the calling thread has enough to merge; and an outcome may wait until the search is merged. */
static void pack_witnesses(const prediction *p, mr_outcome *outcome)
{
    for (size_t i = 0; i < outcome->count; i++) {
        mr_pair_verdict *verdict = &outcome->verdicts[i];
        if (verdict->has_race && !verdict->race.witness.packed)
            mr_witness_pack(p->settings.trace, &verdict->race.witness);
    }
}

static mr_status decide_window(prediction *p, unsigned number, mr_outcome *outcome, bool *halted,
                               mr_error *error)
{
    mr_worker *worker = NULL;
    mr_status status = worker_of(p, number, &worker, error);
    if (worker) {
        worker->only = p->asks_deferred ? &p->merge.deferred : NULL;
        worker->trusts = number < p->dispatch.jobs; /* not when the merge decides a window again */
    }
    if (status == MR_OK)
        status = mr_worker_decide_window(worker, outcome->unit, outcome, error);
    pack_witnesses(p, outcome);
    *halted = status == MR_OK && worker && worker->halted;
    return status;
}

static mr_status do_search(prediction *p, unsigned number, mr_outcome *outcome, bool *halted,
                           mr_error *error)
{
    mr_worker *worker = NULL;
    mr_status status = worker_of(p, number, &worker, error);
    if (status != MR_OK)
        return status;
    status = mr_far_search(worker, p->open.all_but ? &p->open : NULL, outcome, error);
    *halted = status == MR_OK ? mr_halt_asked(p->settings.halt) != MR_HALT_NONE
                              : mr_halt_explains(p->settings.halt, status);
    outcome->cut = *halted;
    return *halted ? MR_OK : status;
}

static mr_status decide(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                        mr_error *error)
{
    prediction *p = context;
    bool halted = false, is_search = unit == p->window_count;
    mr_status status;
    *outcome = NULL;
    if (p->settings.trace->runs && is_search)
        return MR_OK; /* it needs the whole trace */
    *outcome = mr_outcome_new(unit);
    if (!*outcome)
        return mr_error_memory(error, "starting a window");
    status = is_search ? do_search(p, number, *outcome, &halted, error)
                       : decide_window(p, number, *outcome, &halted, error);
    /* The outcome of a unit that failed has what was found before. */
    if (halted && (!(*outcome)->count || p->dispatch.team)) {
        mr_outcome_free(*outcome);
        *outcome = NULL;
    }
    return status;
}

/* Decides a window again, as the races of all windows before it are known now. */
static mr_status decide_again(prediction *p, mr_outcome **outcome, mr_error *error)
{
    bool halted = false;
    mr_outcome *again = mr_outcome_new((*outcome)->unit);
    if (!again)
        return mr_error_memory(error, "starting a window");
    mr_status status = decide_window(p, p->dispatch.jobs, again, &halted, error);
    p->merge.result->run.windows_again++;
    if (status != MR_OK || halted) {
        mr_outcome_free(again);
        return status;
    }
    mr_outcome_free(*outcome);
    *outcome = again;
    return MR_OK;
}

static mr_status prepare(void *context, mr_outcome **outcome, mr_error *error)
{
    prediction *p = context;
    mr_status status = MR_OK;
    if ((*outcome)->unit == p->window_count || (*outcome)->cut)
        return MR_OK;
    if (!mr_merge_is_complete(&p->merge, *outcome))
        status = decide_again(p, outcome, error);
    mr_merge_trim(&p->merge, *outcome);
    return status;
}

/* What the search has found is merged after the windows, but they ask no questions about it. In a crowded trace one
 * question is about many pairs. */
static mr_status take_search(prediction *p, mr_outcome *outcome, mr_error *error)
{
    const mr_predict_settings *settings = &p->settings;
    p->found = mr_outcome_new(outcome->unit);
    if (!p->found)
        return mr_error_memory(error, "looking for far races");
    mr_outcome empty = *p->found;
    *p->found = *outcome;
    *outcome = empty;
    p->pairs = p->found->pairs;
    p->pair_count = p->found->pair_count;
    p->found->pairs = NULL;
    p->searched = !p->found->cut;
    p->no_room = p->found->no_room;
    for (size_t i = 0; i < p->found->count && !settings->by_event && !settings->is_crowded; i++) {
        const mr_pair_verdict *verdict = &p->found->verdicts[i];
        if (verdict->has_race && !mr_known_races_foresee(p->known, verdict->key_1, verdict->key_2))
            return mr_error_memory(error, "looking for far races");
    }
    return MR_OK;
}

static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    prediction *p = context;
    return outcome->unit < p->window_count ? mr_merge_window(&p->merge, outcome, error)
                                           : take_search(p, outcome, error);
}

/* After the windows, also when some are missing. */
static mr_status merge_search(prediction *p, mr_status status, mr_error *error)
{
    mr_error own_error;
    if (!p->found)
        return status;
    mr_status merged = mr_far_merge_search(&p->merge, p->found, &own_error);
    if (status != MR_OK || merged == MR_OK)
        return status;
    *error = own_error;
    return merged;
}

/* When the windows are done: what comes after them has the memory. */
static void leave_workers(const prediction *p)
{
    for (unsigned i = 0; i <= p->dispatch.jobs; i++)
        if (p->workers[i])
            mr_worker_leave(p->workers[i]);
}

/* ---- questions that the windows have left ---- */

static bool is_long(const mr_predict_settings *settings)
{
    return settings->trace->event_count >= settings->defer;
}

/* Has the trace many threads, so that a question of a window takes long, and may the states of each two be searched? */
static bool is_wide(const mr_predict_settings *settings)
{
    return settings->trace->chain_count > MR_MANY_CHAINS && settings->model != MR_MODEL_BRANCH;
}

/* Are all accesses seen by one far window, so that only what it leaves unknown is asked of windows? */
static bool may_defer(const prediction *p)
{
    const mr_predict_settings *settings = &p->settings;
    return settings->defer && (is_long(settings) || is_wide(settings)) && p->window_count > 1 &&
           settings->far == MR_FAR_ALL && !settings->is_crowded &&
           mr_predict_settings_ask_sites(settings) && mr_far_sees_all(settings);
}

static mr_status decide_deferred(void *context, unsigned number, uint64_t unit,
                                 mr_outcome **outcome, mr_error *error)
{
    prediction *p = context;
    bool halted = false;
    *outcome = mr_outcome_new(mr_deferred_window(&p->merge.deferred, unit));
    if (!*outcome)
        return mr_error_memory(error, "starting a window");
    mr_status status = decide_window(p, number, *outcome, &halted, error);
    (*outcome)->unit = unit;
    if (halted && (!(*outcome)->count || p->dispatch.team)) {
        mr_outcome_free(*outcome);
        *outcome = NULL;
    }
    return status;
}

/* As `prepare` and `merge`, with the number of the window in place of that of the unit. */
static mr_status prepare_deferred(void *context, mr_outcome **outcome, mr_error *error)
{
    const prediction *p = context;
    uint64_t unit = (*outcome)->unit;
    (*outcome)->unit = mr_deferred_window(&p->merge.deferred, unit);
    mr_status status = prepare(context, outcome, error);
    (*outcome)->unit = unit;
    return status;
}

static mr_status merge_deferred(void *context, mr_outcome *outcome, mr_error *error)
{
    prediction *p = context;
    if (!outcome->cut)
        mr_deferred_count_asked(&p->merge.deferred, outcome->unit);
    outcome->unit = mr_deferred_window(&p->merge.deferred, outcome->unit);
    return mr_merge_deferred(&p->merge, outcome, error);
}

/* What the search for far races has left unknown and a window has proven is a race. */
static void forget_unknowns(prediction *p)
{
    mr_result *result = p->merge.result;
    for (uint32_t i = 0; i < p->merge.ledger.count; i++) {
        const mr_ledger_entry *entry = &p->merge.ledger.entries[i];
        if (!entry->race || !entry->unknown ||
            !mr_wanted_pair(&p->deferred, entry->key_1, entry->key_2))
            continue;
        result->stats.far_unknown--;
        result->stats.unknown[result->unknowns[entry->unknown_index].reason]--;
    }
}

/* `decided`: the search for far races has been, and only what it has left unknown is left. */
static mr_status ask_deferred(prediction *p, bool decided, mr_error *error)
{
    mr_deferred *deferred = &p->merge.deferred;
    if (!deferred->count || mr_halt_asked(p->settings.halt) != MR_HALT_NONE)
        return MR_OK;
    if (!mr_deferred_list(deferred, p->settings.trace, &p->deferred))
        return mr_error_memory(error, "starting a window");
    const mr_phase phase = {.context = p,
                            .stage = "questions",
                            .count = deferred->window_count,
                            .decide = decide_deferred,
                            .prepare = prepare_deferred,
                            .merge = merge_deferred};
    for (uint32_t i = 0; i < p->merge.ledger.count; i++)
        p->merge.ledger.entries[i].unanswered = 0; /* those of far races do not count here */
    p->asks_deferred = true;
    p->settings.defers = false;
    mr_status status = mr_dispatch_run(&p->dispatch, &phase, error);
    if (decided)
        forget_unknowns(p);
    leave_workers(p);
    return status;
}

static void end_ahead(prediction *p)
{
    mr_far_ahead_end(p->ahead);
    p->ahead = NULL;
}

/* mr_far_context.ask_left */
static mr_status ask_left(void *context, mr_error *error)
{
    prediction *p = context;
    end_ahead(p);
    p->asked_left = true;
    return ask_deferred(p, false, error);
}

static mr_far_context far_context(prediction *p)
{
    return (mr_far_context){.settings = &p->settings,
                            .merge = &p->merge,
                            .dispatch = &p->dispatch,
                            .worker_of = worker_of,
                            .ahead = p->ahead,
                            .ask_left = p->settings.is_wide ? ask_left : NULL,
                            .context = p};
}

/* Beside the search ahead of a wide trace, which has one of the threads. */
static mr_status run_windows(prediction *p, const mr_phase *phase, mr_error *error)
{
    const bool alone = !p->dispatch.team && !p->dispatch.shards && p->dispatch.jobs > 1;
    p->ahead = p->settings.is_wide && alone ? mr_far_ahead_start(&p->settings) : NULL;
    p->dispatch.jobs -= p->ahead != NULL;
    mr_status status = mr_dispatch_run(&p->dispatch, phase, error);
    p->dispatch.jobs += p->ahead != NULL;
    return status;
}

static mr_status do_windows(prediction *p, mr_error *error)
{
    if (!(p->settings.find & MR_FIND_RACES))
        return MR_OK;
    p->window_count = mr_window_plan_count(&p->settings.plan);
    p->searches = p->settings.far != MR_FAR_NONE;
    const mr_phase phase = {.context = p,
                            .stage = "windows",
                            .count = p->window_count + p->searches,
                            .last_first = p->searches,
                            .decide = decide,
                            .prepare = prepare,
                            .merge = merge};
    mr_far_context context = far_context(p);
    p->settings.is_crowded = !p->settings.trace->runs && mr_crowded_is(&p->settings);
    if (p->settings.is_crowded)
        mr_crowded_limit(&p->settings);
    p->settings.defers = may_defer(p);
    p->settings.is_wide = p->settings.defers && !is_long(&p->settings);
    mr_status status = mr_early_find(&context, &p->settings.is_walked, error);
    /* Merging the windows changes the ledger beside the search. */
    if (status == MR_OK && p->settings.is_crowded &&
        !mr_ledger_list_open(&p->merge.ledger, p->settings.trace, &p->open))
        status = mr_error_memory(error, "looking for far races");
    if (status == MR_OK)
        status = run_windows(p, &phase, error);
    status = merge_search(p, status, error);
    leave_workers(p);
    return status;
}

/* ---- far races ---- */

/* The races that are farther apart than a window. */
static mr_status find_far(prediction *p, mr_error *error)
{
    double begin = mr_seconds();
    mr_far_context far = far_context(p);
    mr_status status = MR_OK;
    if (p->pairs)
        status = mr_far_confirm(&far, p->pairs, p->pair_count, error);
    if (status == MR_OK && p->settings.far >= MR_FAR_HB && p->window_count > 1 &&
        mr_halt_asked(p->settings.halt) == MR_HALT_NONE)
        status = mr_far_decide(&far, error);
    p->merge.result->run.far_seconds += mr_seconds() - begin;
    return status;
}

/* ---- beside races ---- */

static bool wants_others(const prediction *p)
{
    return (p->settings.find & ~(unsigned)MR_FIND_RACES) || p->settings.asks_sees;
}

static mr_status find_others(prediction *p, bool *complete, mr_error *error)
{
    const mr_far_context context = far_context(p);
    const mr_findings_wanted wanted = {.memory = p->settings.find & MR_FIND_MEMORY,
                                       .deadlocks = p->settings.find & MR_FIND_DEADLOCKS,
                                       .pointers = p->settings.find & MR_FIND_POINTERS,
                                       .explain_cycles = p->settings.explain_cycles,
                                       .sees = p->settings.asks_sees ? &p->settings.sees : NULL};
    return mr_findings_find(&context, &wanted, complete, error);
}

/* ---- all of it ---- */

unsigned mr_predict_jobs(const mr_config *config, const mr_cluster *cluster)
{
    int64_t jobs = mr_config_int(config, "jobs");
    if (jobs)
        return (unsigned)jobs;
    unsigned cores = cluster ? cluster->cores : mr_thread_cores();
    return cores > 0 ? cores : 1;
}

/* How many of the workers there is memory for: a worker keeps an arena, and its orders keep
 * something for each variable and for each thread that may hold a lock. (Estimated from recorded
 * traces of 4 to 80 threads.) What they find does not depend on their number. */
static unsigned jobs_with_room(const mr_predict_settings *settings, unsigned jobs)
{
    enum { ARENA_BYTES = 16 << 20, VARIABLE_BYTES = 64, CLOCK_BYTES = 16 };
    const mr_trace *trace = settings->trace;
    uint64_t each = ARENA_BYTES + (uint64_t)VARIABLE_BYTES * trace->variables.count +
                    (uint64_t)CLOCK_BYTES * trace->locks.count * trace->chain_count;
    uint64_t fit = mr_room_left(settings->room) / each;
    return fit >= jobs ? jobs : fit > 0 ? (unsigned)fit : 1;
}

/* A room keeps most of what a prediction takes within memory.limit_mb. What nobody asks for may
 * come on top; from a sixteenth on the run ends. The ranks of a team end together only. */
static void start_ceiling(prediction *p, const mr_config *config, mr_halt *halt)
{
    enum { ON_TOP_PARTS = 16 };
    uint64_t limit = mr_config_memory_bytes(config);
    if (!p->dispatch.team)
        p->ceiling = mr_ceiling_start(limit + limit / ON_TOP_PARTS, halt);
}

static mr_status start(prediction *p, const mr_trace *trace, const mr_config *config,
                       const mr_predict_run *run, mr_result *result, mr_error *error)
{
    mr_status status = mr_predict_settings_read(&p->settings, trace, config, error);
    mr_team *team = run ? run->team : NULL;
    mr_halt *halt = run && run->halt ? run->halt : &p->own_halt;
    p->settings.halt = team ? team->halt : halt;
    p->settings.decide.limits.halt = p->settings.halt;
    p->settings.debug = run ? run->debug : NULL;
    p->settings.decide.debug = p->settings.debug;
    p->kind = (mr_outcome_kind){.context = p,
                                .encode = encode,
                                .decode = decode,
                                .free = mr_outcome_free,
                                .is_final = is_final,
                                .is_cut = is_cut,
                                .check = check,
                                .count = count_unit};
    if (run && run->checkpoint)
        p->store = mr_checkpoint_store(run->checkpoint);
    p->dispatch = (mr_dispatch){.kind = &p->kind,
                                .jobs = mr_predict_jobs(config, team ? team->cluster : NULL),
                                .halt = p->settings.halt,
                                .progress = run ? run->progress : NULL,
                                .debug = run ? run->debug : NULL,
                                .team = team,
                                .store = p->store.context ? &p->store : NULL,
                                .shard = run ? run->shard : 0,
                                .shards = run ? run->shards : 0};
    start_ceiling(p, config, halt);
    if (status == MR_OK)
        p->dispatch.jobs = jobs_with_room(&p->settings, p->dispatch.jobs);
    p->known = mr_known_races_new();
    p->merge = (mr_merge){.settings = &p->settings, .result = result, .known = p->known};
    p->workers = mr_calloc((size_t)p->dispatch.jobs + 1, sizeof(mr_worker *));
    if (status == MR_OK && (!p->known || !p->workers))
        status = mr_error_memory(error, "starting the prediction");
    return status;
}

static void add_times(mr_run_figures *to, const mr_run_figures *from)
{
    for (int step = 0; step < MR_STEP_COUNT; step++)
        to->step_seconds[step] += from->step_seconds[step];
    to->order_seconds += from->order_seconds;
    to->window_seconds += from->window_seconds;
    to->decide_seconds += from->decide_seconds;
    to->witness_seconds += from->witness_seconds;
    to->queries_stopped_by_time += from->queries_stopped_by_time;
    to->queries_stopped_by_memory += from->queries_stopped_by_memory;
}

/* When everything is decided: the orders that label the races have the memory. */
static void free_workers(prediction *p)
{
    for (unsigned i = 0; p->workers && i <= p->dispatch.jobs; i++) {
        if (!p->workers[i])
            continue;
        add_times(&p->merge.result->run, &p->workers[i]->run);
        mr_worker_free(p->workers[i]);
        free(p->workers[i]);
    }
    free(p->workers);
    mr_checker_free(p->checker);
    p->workers = NULL;
    p->checker = NULL;
}

static void stop(prediction *p)
{
    mr_run_figures *run = &p->merge.result->run;
    end_ahead(p);
    mr_ceiling_stop(p->ceiling);
    run->units_saved = p->dispatch.units_saved;
    run->units_decided = p->dispatch.units_decided;
    free_workers(p);
    run->step_seconds[MR_STEP_FAR] = run->far_seconds;
    run->solver_seconds = 0;
    for (int step = MR_STEP_ELIMINATE; step <= MR_STEP_Z3; step++)
        run->solver_seconds += run->step_seconds[step];
    struct rusage usage;
    if (!getrusage(RUSAGE_SELF, &usage))
        run->peak_memory_bytes = (uint64_t)usage.ru_maxrss << 10;
    mr_ledger_free(&p->merge.ledger);
    mr_known_races_free(p->known);
    mr_predict_settings_free(&p->settings);
    mr_wanted_free(&p->open);
    mr_wanted_free(&p->deferred);
    mr_deferred_free(&p->merge.deferred);
    mr_outcome_free(p->found);
    free(p->pairs);
}

/* mr_deferred_windows: of such a pair of places nothing is left to ask. */
static bool has_race(const void *context, uint32_t key_1, uint32_t key_2)
{
    const mr_ledger_entry *entry = mr_ledger_find(context, key_1, key_2);
    return entry && entry->race;
}

/* Says what is missing in the result because the run has come to an early end. */
static void note_missing(prediction *p, mr_status status, bool far_done, bool others_done)
{
    mr_stats *stats = &p->merge.result->stats;
    if (p->dispatch.shards) {
        stats->windows_missing = p->dispatch.units_missing;
    } else {
        stats->windows -= mr_deferred_windows(&p->merge.deferred, has_race, &p->merge.ledger);
        stats->windows_missing = p->window_count - stats->windows;
        stats->far_missing = p->settings.far != MR_FAR_NONE && (p->settings.find & MR_FIND_RACES) &&
                             (!far_done || !p->searched);
        stats->findings_missing = wants_others(p) && !others_done;
    }
    stats->incomplete =
        status != MR_OK || stats->windows_missing || stats->far_missing || stats->findings_missing;
    stats->halted = stats->incomplete ? mr_halt_asked(p->settings.halt) : MR_HALT_NONE;
    if (status == MR_OK && stats->incomplete && !stats->halted && p->no_room)
        stats->halted = MR_HALT_MEMORY;
}

uint64_t mr_predict_unit_count(const mr_trace *trace, const mr_config *config)
{
    mr_window_plan plan = mr_predict_settings_plan(trace, config);
    return mr_window_plan_count(&plan) + (mr_predict_settings_far(config) != MR_FAR_NONE);
}

mr_status mr_predict(const mr_trace *trace, const mr_config *config, const mr_predict_run *run,
                     mr_result *result, mr_error *error)
{
    double begin = mr_seconds();
    mr_error end_error;
    mr_status status = mr_config_check(config, error);
    if (status != MR_OK)
        return status;
    prediction p = {0};
    bool far_done = false, others_done = false;
    status = start(&p, trace, config, run, result, error);
    if (status == MR_OK)
        status = do_windows(&p, error);
    bool reports = !p.dispatch.team || p.dispatch.team->cluster->rank == 0; /* only rank 0 does */
    if (status == MR_OK && p.settings.far != MR_FAR_NONE && !p.dispatch.shards && !p.no_room &&
        (p.settings.find & MR_FIND_RACES) && mr_halt_asked(p.settings.halt) == MR_HALT_NONE) {
        status = find_far(&p, error);
        far_done = status == MR_OK && mr_halt_asked(p.settings.halt) == MR_HALT_NONE;
    }
    end_ahead(&p); /* also where nobody has taken what it found */
    if (status == MR_OK && !p.dispatch.shards && !p.asked_left) {
        status = ask_deferred(&p, far_done, error);
        far_done &= status == MR_OK && mr_halt_asked(p.settings.halt) == MR_HALT_NONE;
    }
    if (status == MR_OK && wants_others(&p) && !p.dispatch.shards && !p.no_room &&
        mr_halt_asked(p.settings.halt) == MR_HALT_NONE)
        status = find_others(&p, &others_done, error);
    note_missing(&p, status, far_done, others_done);
    mr_status ended = mr_merge_finish(&p.merge, &end_error);
    if (ended == MR_OK && reports && !(run && run->shows_few && !trace->memory_order))
        ended = mr_shorten_races(result, &p.settings, p.dispatch.jobs, &end_error);
    double labels = mr_seconds();
    free_workers(&p);
    if (p.settings.facts && !trace->memory_order)
        mr_facts_drop_checker(p.settings.facts);
    if (ended == MR_OK && reports)
        ended = mr_label_result(&p.settings, result, &end_error);
    if (ended == MR_OK && reports && !p.dispatch.shards && (p.settings.find & MR_FIND_RACES))
        ended = mr_memory_order_find(&p.settings, result, &end_error);
    result->run.order_seconds += mr_seconds() - labels;
    stop(&p);
    result->run.total_seconds += mr_seconds() - begin;
    if (status == MR_OK && ended != MR_OK) {
        *error = end_error;
        return ended;
    }
    return status;
}
