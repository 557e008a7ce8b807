#include "mrt_states.h"

#include <string.h>

mr_mrt_state_head mr_mrt_state_of(const mr_snapshot *snapshot)
{
    return (mr_mrt_state_head){.open_count = (uint32_t)snapshot->open_count,
                               .carried_count = (uint32_t)snapshot->carried_count};
}

mr_mrt_facts mr_mrt_facts_of(const mr_snapshot *snapshot, const mr_fingerprint *fingerprint,
                             const mr_outlook *outlook, const mr_trace *trace)
{
    return (mr_mrt_facts){
        .fingerprint = mr_fingerprint_finish(fingerprint, trace),
        .variable_count = trace->variables.count,
        .most_places =
            mr_snapshot_most_places(snapshot, outlook->contended, outlook->variable_count),
    };
}

bool mr_mrt_state_read(mr_mrt_state_parts *parts, const mr_mrt_chunk *chunk,
                       const unsigned char *payload)
{
    if (chunk->size_bytes < sizeof parts->head)
        return false;
    memcpy(&parts->head, payload, sizeof parts->head);
    uint64_t open_bytes = (uint64_t)parts->head.open_count * sizeof *parts->open;
    payload += sizeof parts->head;
    parts->open = (const mr_open_section *)(const void *)payload;
    parts->carried = (const uint32_t *)(const void *)(payload + open_bytes);
    return chunk->size_bytes == sizeof parts->head + open_bytes +
                                    (uint64_t)parts->head.carried_count * sizeof *parts->carried;
}

bool mr_mrt_facts_read(mr_mrt_facts_parts *parts, const mr_mrt_chunk *chunk,
                       const unsigned char *payload)
{
    if (chunk->size_bytes < sizeof parts->head)
        return false;
    memcpy(&parts->head, payload, sizeof parts->head);
    uint64_t values_bytes = (uint64_t)parts->head.variable_count * sizeof(uint32_t);
    payload += sizeof parts->head;
    parts->initial_values = (const uint32_t *)(const void *)payload;
    parts->by_source = payload + values_bytes;
    return chunk->size_bytes ==
           sizeof parts->head + values_bytes + (uint64_t)parts->head.variable_count;
}

/* ---- checking ---- */

static mr_status wrong(mr_error *error)
{
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                        "the .mrt file is wrong: what it says for parts of it is not so");
}

void mr_mrt_states_free(mr_mrt_states *states)
{
    mr_snapshot_free(&states->snapshot);
    mr_outlook_free(&states->outlook);
}

bool mr_mrt_states_add(mr_mrt_states *states, const mr_trace *trace, const mr_events *events,
                       const uint32_t *value, const mr_outlook *outlook)
{
    if (outlook && outlook->variable_count) { /* most_places is about contended variables */
        states->snapshot.marks = outlook->contended;
        states->snapshot.mark_count = outlook->variable_count;
    }
    return mr_snapshot_add(&states->snapshot, events, value, trace->updates) &&
           (!states->lacks_outlook || mr_outlook_add(&states->outlook, events));
}

static bool same(const void *one, const void *other, size_t bytes)
{
    return !bytes || memcmp(one, other, bytes) == 0;
}

mr_status mr_mrt_states_check(mr_mrt_states *states, const mr_mrt_chunk *chunk,
                              const unsigned char *payload, mr_error *error)
{
    const mr_snapshot *snapshot = &states->snapshot;
    mr_mrt_state_parts parts;
    mr_mrt_state_head head = mr_mrt_state_of(snapshot);
    states->seen++;
    if (states->seen != snapshot->block_count || !mr_mrt_state_read(&parts, chunk, payload) ||
        !same(&parts.head, &head, sizeof head) ||
        !same(parts.open, snapshot->open, head.open_count * sizeof *snapshot->open) ||
        !same(parts.carried, snapshot->carried, head.carried_count * sizeof *snapshot->carried))
        return wrong(error);
    return MR_OK;
}

mr_status mr_mrt_states_check_facts(mr_mrt_states *states, const mr_trace *trace,
                                    const mr_mrt_chunk *chunk, const unsigned char *payload,
                                    mr_error *error)
{
    const mr_snapshot *snapshot = &states->snapshot;
    mr_mrt_facts_parts parts;
    if (states->seen != snapshot->block_count || !mr_mrt_facts_read(&parts, chunk, payload) ||
        parts.head.variable_count != trace->variables.count)
        return wrong(error);
    for (uint32_t i = 0; i < parts.head.variable_count; i++) {
        mr_variable_state state = mr_snapshot_variable(snapshot, i);
        if (parts.initial_values[i] != state.initial_value || parts.by_source[i] != state.by_source)
            return wrong(error);
    }
    states->has_facts = true;
    states->most_places = parts.head.most_places;
    return MR_OK;
}

static bool same_outlook(const mr_outlook *one, const mr_outlook *other)
{
    return one->variable_count == other->variable_count && one->lock_count == other->lock_count &&
           one->use_count == other->use_count &&
           same(one->contended, other->contended, one->variable_count) &&
           same(one->lock_shared, other->lock_shared, one->lock_count) &&
           same(one->uses, other->uses, one->use_count * sizeof *one->uses);
}

mr_status mr_mrt_states_check_end(mr_mrt_states *states, const mr_trace *trace,
                                  const mr_outlook *outlook, mr_error *error)
{
    if (!states->has_facts || !outlook) /* then nobody reads a part */
        return MR_OK;
    if (states->lacks_outlook) {
        /* Names may come after the last block. */
        const mr_events none = mr_events_of_trace(trace, (uint32_t)trace->event_count, 0);
        if (!mr_outlook_add(&states->outlook, &none) ||
            !mr_outlook_finish(&states->outlook, &trace->members))
            return mr_error_memory(error, "reading the trace");
        if (!same_outlook(&states->outlook, outlook))
            return wrong(error);
    }
    uint32_t most =
        mr_snapshot_most_places(&states->snapshot, outlook->contended, outlook->variable_count);
    return states->most_places == most ? MR_OK : wrong(error);
}
