#include "base/memory.h"
#include "outcome.h"
#include "witness/pack.h"

#include <string.h>

/* The bits of the first number of a verdict. */
enum { ASKED = 1, IN_TRACE_ORDER = 2, HAS_RACE = 4, HAS_UNKNOWN = 8, ALL_BITS = 15 };

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

static bool write_race(const mr_trace *trace, const mr_race *race, mr_bytes *bytes)
{
    mr_witness packed = race->witness;
    if (!packed.packed) {
        packed.events = mr_calloc(packed.event_count, sizeof *packed.events);
        if (!packed.events)
            return false;
        if (packed.event_count)
            memcpy(packed.events, race->witness.events, packed.event_count * sizeof(uint32_t));
        if (!mr_witness_pack(trace, &packed)) {
            mr_witness_free(&packed);
            return false;
        }
    }
    write_place(bytes, packed.first, packed.second, packed.window_start, packed.window_end);
    mr_bytes_number(bytes, (uint64_t)packed.model);
    mr_bytes_number(bytes, (uint64_t)race->strength);
    mr_bytes_number(bytes, (uint64_t)race->confirmed_by);
    mr_bytes_number(bytes, packed.event_count);
    mr_bytes_number(bytes, packed.packed_bytes);
    mr_bytes_raw(bytes, packed.packed, packed.packed_bytes);
    if (!race->witness.packed)
        mr_witness_free(&packed);
    return true;
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
                   (verdict->has_race ? HAS_RACE : 0u) | (verdict->has_unknown ? HAS_UNKNOWN : 0u));
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

/* A pair of events is one of conflicting accesses. */
static void check_pair(source *s, uint32_t first, uint32_t second)
{
    s->in.damaged |= first >= second || second >= s->trace->event_count ||
                     !mr_events_conflict(s->trace, first, second);
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

static void read_race(source *s, mr_race *race)
{
    mr_witness *witness = &race->witness;
    read_place(s, &witness->first, &witness->second, &witness->window_start, &witness->window_end);
    witness->model = (mr_model)mr_bytes_get_u32(&s->in, MR_MODEL_BRANCH);
    race->strength = (mr_strength)mr_bytes_get_u32(&s->in, MR_STRENGTH_BEYOND_WCP);
    race->confirmed_by = (mr_step)mr_bytes_get_u32(&s->in, MR_STEP_FAR);
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
    *damaged = !s.no_memory && (s.in.damaged || s.in.next != s.in.end);
    if (!*damaged && !s.no_memory)
        return outcome;
    mr_outcome_free(outcome);
    return NULL;
}
