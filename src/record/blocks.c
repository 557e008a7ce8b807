#include "blocks.h"

#include "ignored_events.h"
#include "pointer_use.h"
#include "trace/address_name.h"

/* The object of a part of a life, by the death of the part; made when it is new. */
static mr_status object_of(mr_event_pass *pass, const mr_life *life, uint32_t death,
                           uint32_t *object, mr_error *error)
{
    uint32_t known = pass->blocks.count;
    uint32_t number = mr_pairs_add(&pass->blocks, (mr_pair){life->number, death});
    if (number == MR_PAIRS_NONE)
        return mr_event_pass_no_memory(error);
    if (number == known) {
        uint64_t start = life->origin;
        if (death != MR_DEATH_NONE && pass->scan->deaths.items[death].start > start)
            start = pass->scan->deaths.items[death].start;
        if (!mr_event_pass_fill(&pass->block_objects, &pass->block_capacity, &pass->block_count,
                                number + 1ull) ||
            !mr_naming_block(&pass->naming, life, start, &pass->block_objects[number]))
            return mr_event_pass_no_memory(error);
    }
    *object = pass->block_objects[number];
    return MR_OK;
}

/* The alloc of a part of a life, by its death. */
static mr_status begin_part(mr_event_pass *pass, const mr_life *life, uint32_t death,
                            const mr_emitted *place, mr_error *error)
{
    mr_emitted event = *place;
    uint64_t start = life->origin, end = life->origin + life->bytes;
    event.op = MR_OP_ALLOC;
    if (death != MR_DEATH_NONE) {
        const mr_death *part = &pass->scan->deaths.items[death];
        start = part->start > start ? part->start : start;
        end = part->end < end ? part->end : end;
    }
    mr_status status = object_of(pass, life, death, &event.operand, error);
    event.has_value = start < end;
    event.value = mr_address_name(start, life->uses);
    event.written_value = (int64_t)(end - start);
    if (!status)
        status = mr_emitter_add(&pass->emitter, &event, error);
    return status ? status : mr_event_pass_life_goes(pass, life->number, &event, true, error);
}

/* The allocs of a life. What never ends has one, too. */
static mr_status begin_life(mr_event_pass *pass, const mr_life *life, const mr_emitted *place,
                            mr_error *error)
{
    const mr_deaths *deaths = &pass->scan->deaths;
    uint64_t left = life->bytes;
    mr_status status = MR_OK;
    if (!mr_pieces_keeps_of(&pass->scan->pieces, life->number))
        return MR_OK;
    for (uint32_t at = mr_deaths_last(deaths, life->number); at != MR_DEATH_NONE && !status;
         at = deaths->items[at].next) {
        uint64_t bytes = deaths->items[at].end - deaths->items[at].start;
        left -= bytes < left ? bytes : left;
        if (deaths->items[at].unseen)
            continue;
        status = begin_part(pass, life, at, place, error);
    }
    return status || !left ? status : begin_part(pass, life, MR_DEATH_NONE, place, error);
}

mr_status mr_event_pass_given(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_ALLOC};
    mr_life *life = mr_lifetimes_find(&pass->reader.lives, mr_log_payload(record[0]));
    unsigned kind = mr_log_detail(record[0]);
    if (life->number && !mr_addresses_begin(&pass->addresses, life))
        return mr_event_pass_no_memory(error);
    if (!life->number || (kind != MR_LOG_MEMORY_HEAP && kind != MR_LOG_MEMORY_MAP))
        return MR_OK;
    mr_status status = mr_event_pass_place(pass, record, &event, error);
    if (status)
        return status;
    if (!mr_event_pass_fill(&pass->given_at, &pass->given_capacity, &pass->given_count,
                            event.location + 1ull))
        return mr_event_pass_no_memory(error);
    life->site = event.location;
    life->ordinal = pass->given_at[event.location]++;
    return begin_life(pass, life, &event, error);
}

mr_status mr_event_pass_stack(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_ALLOC};
    uint32_t number = mr_deaths_stack(&pass->scan->deaths, pass->reader.thread);
    uint32_t death = mr_deaths_last(&pass->scan->deaths, number);
    /* Where the thread had its last stack; main's goes on for ever. */
    const mr_life *life = mr_lifetimes_find(&pass->reader.lives, pass->last_stack);
    if (!number || death == MR_DEATH_NONE || life->number != number)
        return MR_OK;
    mr_status status = mr_event_pass_place(pass, record, &event, error);
    return status ? status : begin_life(pass, life, &event, error);
}

mr_status mr_event_pass_taken(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    const mr_deaths *deaths = &pass->scan->deaths;
    bool ends = mr_log_kind_of(record[0]) == MR_LOG_END;
    size_t count = ends ? mr_deaths_stack(deaths, pass->reader.thread) != 0
                        : mr_deaths_of(&pass->reader, record);
    mr_emitted event = {.op = MR_OP_FREE};
    mr_status status = MR_OK;
    for (size_t i = 0; i < count && !status; i++) {
        uint32_t death = pass->next_death++, object;
        if (death >= deaths->count)
            break;
        uint32_t number = mr_pairs_find(&pass->blocks, (mr_pair){deaths->items[death].life, death});
        if (number == MR_PAIRS_NONE)
            continue;
        object = pass->block_objects[number];
        status = mr_event_pass_place(pass, record, &event, error);
        event.operand = object;
        if (!status)
            status = mr_event_pass_life_goes(pass, deaths->items[death].life, &event, false, error);
        if (!status)
            status = mr_event_pass_pointer_freed(pass, record, error);
        if (!status)
            status = mr_emitter_add(&pass->emitter, &event, error);
    }
    return status ? status : mr_event_pass_pointer_loose(pass, error);
}

mr_status mr_event_pass_member(mr_event_pass *pass, uint32_t variable, const mr_life *life,
                               uint64_t address, mr_error *error)
{
    if (!life->number)
        return MR_OK;
    uint32_t death = mr_deaths_find(&pass->scan->deaths, life->number, address);
    uint32_t number = mr_pairs_find(&pass->blocks, (mr_pair){life->number, death});
    return number == MR_PAIRS_NONE
               ? MR_OK
               : mr_emitter_member(&pass->emitter, variable, pass->block_objects[number], error);
}
