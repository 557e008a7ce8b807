#include "base/memory.h"
#include "outcome.h"
#include "witness/pack.h"

#include <string.h>

/* The bits of the first number of a verdict. */
enum {
    ASKED = 1,
    IN_TRACE_ORDER = 2,
    HAS_RACE = 4,
    HAS_UNKNOWN = 8,
    DEFERRED = 16,
    PROMISED = 32,
    ALL_BITS = 63
};

/* ---- writing ---- */

/* Only what is not zero: which, then how many. */
static void write_counts(mr_bytes *bytes, const uint64_t *counts, uint32_t length)
{
    uint32_t present = 0;
    for (uint32_t i = 0; i < length; i++)
        present |= (counts[i] ? 1u : 0) << i;
    mr_bytes_number(bytes, present);
    for (uint32_t i = 0; i < length; i++)
        if (counts[i])
            mr_bytes_number(bytes, counts[i]);
}

static void write_place(mr_bytes *bytes, uint32_t first, uint32_t second, uint32_t start,
                        uint32_t end)
{
    mr_bytes_number(bytes, start);
    mr_bytes_number(bytes, end - start);
    mr_bytes_number(bytes, first - start);
    mr_bytes_number(bytes, second - first);
}

/* The events of the witness, packed. */
static bool write_events(const mr_trace *trace, const mr_witness *witness, mr_bytes *bytes)
{
    mr_witness packed = *witness;
    if (!packed.packed) {
        packed.waits = NULL;
        packed.events = mr_calloc(packed.event_count, sizeof *packed.events);
        if (!packed.events)
            return false;
        if (packed.event_count)
            memcpy(packed.events, witness->events, packed.event_count * sizeof(uint32_t));
        if (!mr_witness_pack(trace, &packed)) {
            mr_witness_free(&packed);
            return false;
        }
    }
    mr_bytes_number(bytes, packed.event_count);
    mr_bytes_number(bytes, packed.packed_bytes);
    mr_bytes_raw(bytes, packed.packed, packed.packed_bytes);
    if (!witness->packed)
        mr_witness_free(&packed);
    return true;
}

static bool write_race(const mr_trace *trace, const mr_race *race, mr_bytes *bytes)
{
    const mr_witness *witness = &race->witness;
    write_place(bytes, witness->first, witness->second, witness->window_start, witness->window_end);
    mr_bytes_number(bytes, (uint64_t)witness->model);
    mr_bytes_number(bytes, (uint64_t)race->strength);
    mr_bytes_number(bytes, (uint64_t)race->confirmed_by);
    return write_events(trace, witness, bytes);
}

static void write_unknown(const mr_unknown *unknown, mr_bytes *bytes)
{
    size_t length = strlen(unknown->detail);
    write_place(bytes, unknown->first, unknown->second, unknown->window_start, unknown->window_end);
    mr_bytes_number(bytes, (uint64_t)unknown->strength);
    mr_bytes_number(bytes, (uint64_t)unknown->reason);
    mr_bytes_number(bytes, length);
    mr_bytes_raw(bytes, unknown->detail, length);
}

static bool write_verdict(const mr_trace *trace, const mr_pair_verdict *verdict, mr_bytes *bytes)
{
    mr_bytes_number(
        bytes, (verdict->asked ? ASKED : 0u) | (verdict->in_trace_order ? IN_TRACE_ORDER : 0u) |
                   (verdict->has_race ? HAS_RACE : 0u) | (verdict->has_unknown ? HAS_UNKNOWN : 0u) |
                   (verdict->deferred ? DEFERRED : 0u) | (verdict->promised ? PROMISED : 0u));
    mr_bytes_number(bytes, verdict->key_1);
    mr_bytes_number(bytes, verdict->key_2);
    mr_bytes_number(bytes, verdict->unanswered);
    mr_bytes_number(bytes, verdict->steps_in_order);
    mr_bytes_number(bytes, verdict->steps);
    mr_bytes_number(bytes, verdict->pairs);
    mr_bytes_number(bytes, verdict->first);
    mr_bytes_number(bytes, verdict->second - verdict->first);
    mr_bytes_number(bytes, (uint64_t)verdict->strength);
    mr_bytes_number(bytes, verdict->rejected_witnesses);
    write_counts(bytes, verdict->settled, MR_STEP_COUNT);
    write_counts(bytes, verdict->unknown, MR_UNKNOWN_COUNT);
    if (verdict->has_unknown)
        write_unknown(&verdict->open, bytes);
    return !verdict->has_race || write_race(trace, &verdict->race, bytes);
}

/* An event, or MR_NONE. */
static void write_event(mr_bytes *bytes, uint32_t event)
{
    mr_bytes_number(bytes, event == MR_NONE ? 0 : (uint64_t)event + 1);
}

static bool write_finding(const mr_trace *trace, const mr_finding_verdict *verdict, mr_bytes *bytes)
{
    const mr_witness *witness = &verdict->finding.witness;
    const mr_finding_unknown *open = &verdict->open;
    mr_bytes_number(bytes, (uint64_t)verdict->verdict);
    mr_bytes_number(bytes, verdict->questions);
    mr_bytes_number(bytes, verdict->effort);
    mr_bytes_number(bytes, verdict->rejected_witnesses);
    if (verdict->verdict == MR_VERDICT_UNKNOWN) {
        size_t length = strlen(open->detail);
        mr_bytes_number(bytes, (uint64_t)open->kind);
        mr_bytes_number(bytes, open->window_start);
        mr_bytes_number(bytes, open->window_end);
        write_event(bytes, open->first);
        write_event(bytes, open->second);
        mr_bytes_number(bytes, (uint64_t)open->reason);
        mr_bytes_number(bytes, length);
        mr_bytes_raw(bytes, open->detail, length);
    }
    if (verdict->verdict != MR_VERDICT_RACE)
        return true;
    mr_bytes_number(bytes, (uint64_t)witness->kind);
    mr_bytes_number(bytes, witness->window_start);
    mr_bytes_number(bytes, witness->window_end);
    write_event(bytes, witness->first);
    write_event(bytes, witness->second);
    write_event(bytes, witness->freed);
    mr_bytes_number(bytes, witness->wait_count);
    for (uint32_t i = 0; i < witness->wait_count; i++)
        write_event(bytes, witness->waits[i]);
    mr_bytes_number(bytes, (uint64_t)witness->model);
    mr_bytes_number(bytes, (uint64_t)verdict->finding.confirmed_by);
    return write_events(trace, witness, bytes);
}

bool mr_outcome_write(const mr_trace *trace, const mr_outcome *outcome, mr_bytes *bytes)
{
    mr_bytes_number(bytes, outcome->unit);
    mr_bytes_number(bytes, outcome->dropped_by_filter);
    mr_bytes_number(bytes, outcome->dropped_by_cone);
    mr_bytes_number(bytes, outcome->count);
    for (size_t i = 0; i < outcome->count; i++)
        if (!write_verdict(trace, &outcome->verdicts[i], bytes))
            return false;
    mr_bytes_number(bytes, outcome->pair_count);
    for (size_t i = 0; i < outcome->pair_count; i++) {
        mr_bytes_number(bytes, outcome->pairs[i].first);
        mr_bytes_number(bytes, outcome->pairs[i].second);
    }
    mr_bytes_number(bytes, outcome->no_room);
    mr_bytes_number(bytes, outcome->finding != NULL);
    if (outcome->finding && !write_finding(trace, outcome->finding, bytes))
        return false;
    return !bytes->failed;
}

/* ---- reading ---- */

typedef struct source {
    mr_bytes_reader in;
    const mr_trace *trace;
    bool no_memory;
} source;

static void read_counts(source *s, uint64_t *counts, uint32_t length)
{
    uint32_t present = mr_bytes_get_u32(&s->in, (1u << length) - 1);
    for (uint32_t i = 0; i < length; i++)
        if (present >> i & 1)
            counts[i] = mr_bytes_get(&s->in);
}

/* A pair of events is one of conflicting accesses. In a part of a trace they may be missing. */
static void check_pair(source *s, uint32_t first, uint32_t second)
{
    s->in.damaged |= first >= second || second >= s->trace->event_count ||
                     (!s->trace->runs && !mr_events_conflict(s->trace, first, second));
}

/* start <= first < second < end <= events */
static void read_place(source *s, uint32_t *first, uint32_t *second, uint32_t *start, uint32_t *end)
{
    uint32_t events = s->trace->event_count;
    *start = mr_bytes_get_u32(&s->in, events);
    *end = *start + mr_bytes_get_u32(&s->in, events - *start);
    *first = *start + mr_bytes_get_u32(&s->in, *end - *start);
    *second = *first + mr_bytes_get_u32(&s->in, *end - *first);
    s->in.damaged |= *second >= *end;
    check_pair(s, *first, *second);
}

static void read_events(source *s, mr_witness *witness)
{
    witness->event_count = mr_bytes_get_u32(&s->in, witness->window_end - witness->window_start);
    uint64_t length = mr_bytes_get(&s->in);
    const uint8_t *packed = mr_bytes_get_raw(&s->in, length);
    if (s->in.damaged || !packed)
        return;
    witness->packed = mr_malloc(0, length);
    s->no_memory |= !witness->packed;
    if (!witness->packed)
        return;
    memcpy(witness->packed, packed, length);
    witness->packed_bytes = length;
    s->in.damaged |= !mr_witness_packed_is_valid(s->trace, witness);
}

static void read_race(source *s, mr_race *race)
{
    mr_witness *witness = &race->witness;
    read_place(s, &witness->first, &witness->second, &witness->window_start, &witness->window_end);
    witness->model = (mr_model)mr_bytes_get_u32(&s->in, MR_MODEL_BRANCH);
    race->strength = (mr_strength)mr_bytes_get_u32(&s->in, MR_STRENGTH_BEYOND_WCP);
    race->confirmed_by = (mr_step)mr_bytes_get_u32(&s->in, MR_STEP_FAR);
    read_events(s, witness);
}

/* An event of the trace, or MR_NONE. */
static uint32_t read_event(source *s)
{
    uint32_t event = mr_bytes_get_u32(&s->in, s->trace->event_count);
    return event ? event - 1 : MR_NONE;
}

static void read_bounds(source *s, uint32_t *start, uint32_t *end)
{
    *start = mr_bytes_get_u32(&s->in, s->trace->event_count);
    *end = mr_bytes_get_u32(&s->in, s->trace->event_count);
    s->in.damaged |= *start > *end;
}

static void read_waits(source *s, mr_witness *witness)
{
    uint32_t count = mr_bytes_get_u32(&s->in, s->trace->threads.count);
    if (!count || s->in.damaged)
        return;
    witness->waits = mr_calloc(count, sizeof *witness->waits);
    s->no_memory |= !witness->waits;
    if (!witness->waits)
        return;
    for (; witness->wait_count < count; witness->wait_count++) {
        uint32_t wait = read_event(s);
        witness->waits[witness->wait_count] = wait;
        s->in.damaged |= wait == MR_NONE;
    }
}

static void read_found(source *s, mr_finding *finding)
{
    mr_witness *witness = &finding->witness;
    witness->kind = (mr_witness_kind)mr_bytes_get_u32(&s->in, MR_WITNESS_KINDS - 1);
    read_bounds(s, &witness->window_start, &witness->window_end);
    witness->first = read_event(s);
    witness->second = read_event(s);
    witness->freed = read_event(s);
    read_waits(s, witness);
    s->in.damaged |= witness->second == MR_NONE ||
                     (witness->kind == MR_WITNESS_DEADLOCK) != (witness->wait_count >= 2);
    witness->model = (mr_model)mr_bytes_get_u32(&s->in, MR_MODEL_BRANCH);
    finding->confirmed_by = (mr_step)mr_bytes_get_u32(&s->in, MR_STEP_FAR);
    read_events(s, witness);
}

static void read_finding(source *s, mr_finding_verdict *verdict)
{
    verdict->verdict = (mr_verdict)mr_bytes_get_u32(&s->in, MR_VERDICT_UNKNOWN);
    verdict->questions = mr_bytes_get(&s->in);
    verdict->effort = mr_bytes_get(&s->in);
    verdict->rejected_witnesses = mr_bytes_get(&s->in);
    if (verdict->verdict == MR_VERDICT_RACE)
        read_found(s, &verdict->finding);
    if (verdict->verdict != MR_VERDICT_UNKNOWN)
        return;
    mr_finding_unknown *open = &verdict->open;
    open->kind = (mr_witness_kind)mr_bytes_get_u32(&s->in, MR_WITNESS_KINDS - 1);
    read_bounds(s, &open->window_start, &open->window_end);
    open->first = read_event(s);
    open->second = read_event(s);
    s->in.damaged |= open->first == MR_NONE || open->second == MR_NONE;
    open->reason = (mr_unknown_reason)mr_bytes_get_u32(&s->in, MR_UNKNOWN_COUNT - 1);
    uint32_t length = mr_bytes_get_u32(&s->in, sizeof open->detail - 1);
    const uint8_t *detail = mr_bytes_get_raw(&s->in, length);
    if (detail)
        memcpy(open->detail, detail, length);
}

static void read_unknown(source *s, mr_unknown *unknown)
{
    read_place(s, &unknown->first, &unknown->second, &unknown->window_start, &unknown->window_end);
    unknown->strength = (mr_strength)mr_bytes_get_u32(&s->in, MR_STRENGTH_BEYOND_WCP);
    unknown->reason = (mr_unknown_reason)mr_bytes_get_u32(&s->in, MR_UNKNOWN_COUNT - 1);
    uint32_t length = mr_bytes_get_u32(&s->in, sizeof unknown->detail - 1);
    const uint8_t *detail = mr_bytes_get_raw(&s->in, length);
    if (detail)
        memcpy(unknown->detail, detail, length);
}

static void read_verdict(source *s, mr_pair_verdict *verdict)
{
    uint32_t bits = mr_bytes_get_u32(&s->in, ALL_BITS);
    verdict->asked = bits & ASKED;
    verdict->in_trace_order = bits & IN_TRACE_ORDER;
    verdict->has_unknown = bits & HAS_UNKNOWN;
    verdict->deferred = bits & DEFERRED;
    verdict->promised = bits & PROMISED;
    verdict->key_1 = mr_bytes_get_u32(&s->in, UINT32_MAX);
    verdict->key_2 = mr_bytes_get_u32(&s->in, UINT32_MAX);
    verdict->unanswered = mr_bytes_get(&s->in);
    verdict->steps_in_order = mr_bytes_get(&s->in);
    verdict->steps = mr_bytes_get(&s->in);
    verdict->pairs = mr_bytes_get(&s->in);
    verdict->first = mr_bytes_get_u32(&s->in, s->trace->event_count);
    verdict->second =
        verdict->first + mr_bytes_get_u32(&s->in, s->trace->event_count - verdict->first);
    check_pair(s, verdict->first, verdict->second);
    verdict->strength = (mr_strength)mr_bytes_get_u32(&s->in, MR_STRENGTH_BEYOND_WCP);
    verdict->rejected_witnesses = mr_bytes_get(&s->in);
    read_counts(s, verdict->settled, MR_STEP_COUNT);
    read_counts(s, verdict->unknown, MR_UNKNOWN_COUNT);
    if (verdict->has_unknown)
        read_unknown(s, &verdict->open);
    verdict->has_race = bits & HAS_RACE; /* so that the witness is freed whatever happens */
    if (verdict->has_race)
        read_race(s, &verdict->race);
}

static void read_pairs(source *s, mr_outcome *outcome)
{
    uint64_t count = mr_bytes_get(&s->in);
    if (count > (uint64_t)(s->in.end - s->in.next)) /* two bytes a pair at least */
        s->in.damaged = true;
    if (s->in.damaged)
        return;
    outcome->pairs = mr_calloc(count, sizeof *outcome->pairs);
    s->no_memory |= !outcome->pairs;
    for (; outcome->pairs && outcome->pair_count < count && !s->in.damaged; outcome->pair_count++) {
        mr_event_pair *pair = &outcome->pairs[outcome->pair_count];
        pair->first = mr_bytes_get_u32(&s->in, s->trace->event_count);
        pair->second = mr_bytes_get_u32(&s->in, s->trace->event_count);
        check_pair(s, pair->first, pair->second);
    }
}

mr_outcome *mr_outcome_read(const mr_trace *trace, const uint8_t *bytes, size_t count,
                            bool *damaged)
{
    source s = {.in = {.next = bytes, .end = bytes + count}, .trace = trace};
    mr_outcome *outcome = mr_outcome_new(mr_bytes_get(&s.in));
    *damaged = false;
    if (!outcome)
        return NULL;
    outcome->dropped_by_filter = mr_bytes_get(&s.in);
    outcome->dropped_by_cone = mr_bytes_get(&s.in);
    uint64_t verdicts = mr_bytes_get(&s.in);
    for (uint64_t i = 0; i < verdicts && !s.in.damaged && !s.no_memory; i++) {
        mr_pair_verdict *verdict = mr_outcome_add(outcome);
        s.no_memory |= !verdict;
        if (verdict)
            read_verdict(&s, verdict);
    }
    if (!s.no_memory)
        read_pairs(&s, outcome);
    outcome->no_room = mr_bytes_get_u32(&s.in, 1);
    if (mr_bytes_get_u32(&s.in, 1) && !s.in.damaged && !s.no_memory) {
        s.no_memory |= !mr_outcome_add_finding(outcome);
        if (outcome->finding)
            read_finding(&s, outcome->finding);
    }
    *damaged = !s.no_memory && (s.in.damaged || s.in.next != s.in.end);
    if (!*damaged && !s.no_memory)
        return outcome;
    mr_outcome_free(outcome);
    return NULL;
}
