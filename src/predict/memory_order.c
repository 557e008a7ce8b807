#include "memory_order.h"

#include "base/map.h"
#include "base/memory.h"
#include "order/c17_pairs.h"
#include "order/detector.h"
#include "witness/pack.h"

#include <stdlib.h>
#include <string.h>

/* Witnesses with more events are kept packed. */
enum { OPEN_EVENTS = 4096 };

/* A pair of places that some sequence shows. */
typedef struct finding {
    uint32_t first, second;
    uint32_t race; /* of whose witness the sequence is; MR_NONE: the recorded order */
} finding;

typedef struct search {
    const mr_predict_settings *settings;
    mr_result *result;
    mr_map numbers; /* pair of places → its number in `findings`; MR_NONE: it is a race */
    finding *findings;
    size_t count, capacity;
    uint32_t race; /* whose witness is tried now; MR_NONE: the recorded order */
} search;

static uint64_t key_of(const mr_trace *trace, uint32_t first, uint32_t second)
{
    uint32_t one = trace->location[first], two = trace->location[second];
    return one < two ? mr_map_key(one, two) : mr_map_key(two, one);
}

/* Of two pairs of one sequence the one that comes first is kept, and of the same second access the
 * later first one. */
static bool is_better(const search *s, const finding *known, uint32_t first, uint32_t second)
{
    if (known->race != s->race)
        return s->race == MR_NONE;
    return known->second == second && known->first < first;
}

/* mr_c17_take */
static bool take(void *context, uint32_t first, uint32_t second)
{
    search *s = context;
    const mr_trace *trace = s->settings->trace;
    const bool *ignored = s->settings->ignored_locations;
    if (ignored && (ignored[trace->location[first]] || ignored[trace->location[second]]))
        return true;
    uint32_t fresh = (uint32_t)s->count;
    uint32_t *number = mr_map_at(&s->numbers, key_of(trace, first, second), fresh);
    if (!number)
        return false;
    if (*number == MR_NONE)
        return true;
    if (*number < fresh) {
        if (is_better(s, &s->findings[*number], first, second))
            s->findings[*number] = (finding){first, second, s->race};
        return true;
    }
    void *findings = s->findings;
    if (!mr_grow(&findings, &s->capacity, s->count + 1, sizeof *s->findings))
        return false;
    s->findings = findings;
    s->findings[s->count++] = (finding){first, second, s->race};
    return true;
}

/* ---- the sequences ---- */

static bool note_races(search *s)
{
    for (size_t i = 0; i < s->result->race_count; i++) {
        const mr_witness *witness = &s->result->races[i].witness;
        uint64_t key = key_of(s->settings->trace, witness->first, witness->second);
        if (!mr_map_at(&s->numbers, key, MR_NONE))
            return false;
    }
    return true;
}

static bool try_witness(search *s, mr_c17_pairs *pairs, uint32_t race)
{
    const mr_witness *witness = &s->result->races[race].witness;
    const uint32_t accesses[2] = {witness->first, witness->second};
    mr_witness room;
    const mr_witness *open = mr_witness_open(s->settings->trace, witness, &room);
    s->race = race;
    bool done = open && mr_c17_pairs_try(pairs, open->events, open->event_count, accesses);
    s->race = MR_NONE;
    mr_witness_free(&room);
    return done;
}

typedef struct start {
    uint32_t window_start, race;
} start;

static int compare_starts(const void *one, const void *two)
{
    const start *x = one, *y = two;
    if (x->window_start != y->window_start)
        return x->window_start < y->window_start ? -1 : 1;
    return (x->race > y->race) - (x->race < y->race);
}

/* Goes through the trace once, and at the start of each witness's window also its own way. */
static bool look(search *s, mr_c17_pairs *pairs)
{
    size_t races = s->result->race_count;
    start *starts = mr_calloc(races + 1, sizeof *starts);
    bool done = starts != NULL;
    for (size_t i = 0; done && i < races; i++)
        starts[i] = (start){s->result->races[i].witness.window_start, (uint32_t)i};
    if (done && races)
        qsort(starts, races, sizeof *starts, compare_starts);
    for (size_t i = 0; done && i < races; i++)
        done = mr_c17_pairs_go_to(pairs, starts[i].window_start) &&
               try_witness(s, pairs, starts[i].race);
    free(starts);
    return done && mr_c17_pairs_go_to(pairs, s->settings->trace->event_count);
}

/* ---- races that were not looked for ---- */

enum { BLOCK_EVENTS = 1 << 20 };

static mr_status find_shb(const search *s, mr_race_list *list, mr_error *error)
{
    const mr_trace *trace = s->settings->trace;
    const mr_detect_options options = {.outlook = mr_facts_outlook(s->settings->facts),
                                       .edges = &s->settings->opaque};
    mr_detector *detector = mr_detector_new(MR_RELATION_SHB, &options);
    mr_status status = detector ? MR_OK : mr_error_memory(error, "looking for memory-order races");
    for (uint32_t first = 0; status == MR_OK && first < trace->event_count;) {
        uint32_t left = trace->event_count - first;
        mr_events events =
            mr_events_of_trace(trace, first, left < BLOCK_EVENTS ? left : BLOCK_EVENTS);
        status = mr_detector_feed(detector, &events, error);
        first += events.count;
    }
    if (status == MR_OK)
        status = mr_detector_finish(detector, list, error);
    mr_detector_free(detector);
    return status;
}

/* A race of SHB is a race, whatever the settings let windows and far races find. */
static mr_status drop_shb(search *s, mr_error *error)
{
    const mr_trace *trace = s->settings->trace;
    mr_race_list list;
    size_t kept = 0;
    mr_race_list_init(&list, 1, false);
    mr_status status = find_shb(s, &list, error);
    for (size_t i = 0; status == MR_OK && i < s->count; i++) {
        const finding *it = &s->findings[i];
        if (mr_race_list_find(&list, trace->location[it->first], trace->location[it->second]) ==
            UINT32_MAX)
            s->findings[kept++] = *it;
    }
    if (status == MR_OK)
        s->count = kept;
    mr_race_list_free(&list);
    return status;
}

/* ---- witnesses ---- */

static bool add_events(mr_u32s *events, uint32_t first, uint32_t end)
{
    for (uint32_t event = first; event < end; event++)
        if (!mr_u32s_push(events, event))
            return false;
    return true;
}

/* The events of the race's witness up to the second access. */
static bool add_witness(const search *s, const finding *it, mr_u32s *events)
{
    mr_witness room;
    const mr_witness *open =
        mr_witness_open(s->settings->trace, &s->result->races[it->race].witness, &room);
    bool done = open != NULL;
    for (uint32_t i = 0; done && i < open->event_count && open->events[i] != it->second; i++)
        done = mr_u32s_push(events, open->events[i]);
    mr_witness_free(&room);
    return done;
}

static bool make_witness(const search *s, const finding *it, mr_witness *witness)
{
    mr_u32s events = {0};
    uint32_t begin = it->first, end = it->second;
    *witness = (mr_witness){.kind = MR_WITNESS_MEMORY_ORDER,
                            .first = it->first,
                            .second = it->second,
                            .window_start = begin,
                            .window_end = it->second + 1,
                            .model = s->settings->model};
    if (it->race != MR_NONE) {
        const mr_witness *of = &s->result->races[it->race].witness;
        end = of->window_start;
        if (end < begin)
            witness->window_start = end;
        if (of->window_end > witness->window_end)
            witness->window_end = of->window_end;
    }
    bool done =
        add_events(&events, begin, end) && (it->race == MR_NONE || add_witness(s, it, &events));
    witness->events = events.items;
    witness->event_count = (uint32_t)events.count;
    return done;
}

/* By where the replay begins, for the checker; the order of the result is made at the end. */
static int compare_findings(const void *one, const void *two)
{
    const finding *x = one, *y = two;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

static int compare_races(const void *one, const void *two)
{
    const mr_witness *x = &((const mr_race *)one)->witness, *y = &((const mr_race *)two)->witness;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Takes the witness over when the checker accepts it. */
static mr_status add_race(search *s, mr_checker *checker, const finding *it, mr_witness *witness,
                          mr_error *error)
{
    mr_result *result = s->result;
    mr_error refused = {0};
    mr_status status = mr_checker_check(checker, witness, &refused);
    if (status == MR_ERR_INTERNAL) {
        result->stats.rejected_witnesses++;
        return MR_OK;
    }
    void *races = result->races;
    if (status != MR_OK ||
        (witness->event_count > OPEN_EVENTS && !mr_witness_pack(s->settings->trace, witness)) ||
        !mr_grow(&races, &result->race_capacity, result->race_count + 1, sizeof *result->races))
        return mr_error_memory(error, "recording a memory-order race");
    result->races = races;
    mr_step step = it->race == MR_NONE ? MR_STEP_LINEARISE : result->races[it->race].confirmed_by;
    result->races[result->race_count++] =
        (mr_race){.witness = *witness, .strength = MR_STRENGTH_C17, .confirmed_by = step};
    *witness = (mr_witness){0};
    result->stats.memory_order_races++;
    return MR_OK;
}

static mr_status prove(search *s, mr_error *error)
{
    size_t races = s->result->race_count;
    const mr_checker *shared = mr_facts_checker(s->settings->facts);
    mr_checker *checker = shared ? mr_checker_like(shared) : NULL;
    mr_status status = checker ? MR_OK : mr_error_memory(error, "checking a memory-order race");
    qsort(s->findings, s->count, sizeof *s->findings, compare_findings);
    for (size_t i = 0; i < s->count && status == MR_OK; i++) {
        mr_witness witness;
        status = make_witness(s, &s->findings[i], &witness)
                     ? add_race(s, checker, &s->findings[i], &witness, error)
                     : mr_error_memory(error, "recording a memory-order race");
        mr_witness_free(&witness);
    }
    mr_checker_free(checker);
    if (s->result->race_count > races)
        qsort(s->result->races + races, s->result->race_count - races, sizeof *s->result->races,
              compare_races);
    return status;
}

mr_status mr_memory_order_find(const mr_predict_settings *settings, mr_result *result,
                               mr_error *error)
{
    if (!settings->trace->memory_order)
        return MR_OK;
    search s = {.settings = settings, .result = result, .race = MR_NONE};
    const mr_outlook *outlook = mr_facts_outlook(settings->facts);
    mr_c17_pairs *pairs = outlook && note_races(&s) ? mr_c17_pairs_new(settings->trace, outlook,
                                                                       &settings->opaque, take, &s)
                                                    : NULL;
    mr_status status =
        pairs && look(&s, pairs) ? MR_OK : mr_error_memory(error, "looking for memory-order races");
    mr_c17_pairs_free(pairs);
    if (status == MR_OK && s.count)
        status = drop_shb(&s, error);
    if (status == MR_OK && s.count)
        status = prove(&s, error);
    free(s.findings);
    mr_map_free(&s.numbers);
    return status;
}
