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
}

bool mr_mrt_states_add(mr_mrt_states *states, const mr_trace *trace, const mr_events *events,
                       const uint32_t *value)
{
    return mr_snapshot_add(&states->snapshot, events, value, trace->updates);
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

mr_status mr_mrt_states_check_facts(const mr_mrt_states *states, const mr_outlook *outlook,
                                    const mr_trace *trace, const mr_mrt_chunk *chunk,
                                    const unsigned char *payload, mr_error *error)
{
    const mr_snapshot *snapshot = &states->snapshot;
    mr_mrt_facts_parts parts;
    if (states->seen != snapshot->block_count || !mr_mrt_facts_read(&parts, chunk, payload) ||
        parts.head.variable_count != trace->variables.count || !outlook ||
        parts.head.most_places !=
            mr_snapshot_most_places(snapshot, outlook->contended, outlook->variable_count))
        return wrong(error);
    for (uint32_t i = 0; i < parts.head.variable_count; i++) {
        mr_variable_state state = mr_snapshot_variable(snapshot, i);
        if (parts.initial_values[i] != state.initial_value || parts.by_source[i] != state.by_source)
            return wrong(error);
    }
    return MR_OK;
}
