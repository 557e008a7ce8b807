#include "ignored_events.h"

bool mr_event_pass_is_quiet(const mr_event_pass *pass, mr_piece *piece, const mr_life *life,
                            uint64_t address, uint64_t bytes)
{
    const mr_ignored *ignored = &pass->scan->ignored;
    if (!ignored->words.count || piece->sparse)
        return false;
    if (piece->quiet == MR_QUIET_UNKNOWN)
        piece->quiet =
            mr_ignored_has(ignored, (mr_extent){life, address, bytes}) ? MR_QUIET_YES : MR_QUIET_NO;
    return piece->quiet == MR_QUIET_YES;
}

bool mr_event_pass_shadow_of(mr_event_pass *pass, mr_piece *piece, mr_extent extent,
                             uint32_t *shadow)
{
    if (!piece->shadow) {
        if (!mr_naming_shadow(&pass->naming, extent.life, extent.address, extent.bytes, shadow))
            return false;
        piece->shadow = *shadow + 1;
    }
    *shadow = piece->shadow - 1;
    return true;
}

mr_status mr_event_pass_shadow(mr_event_pass *pass, mr_piece *piece, const mr_emitted *event,
                               mr_extent extent, mr_error *error)
{
    mr_emitted own = *event;
    if (!mr_event_pass_shadow_of(pass, piece, extent, &own.operand))
        return mr_event_pass_no_memory(error);
    own.op = event->op == MR_OP_READ    ? MR_OP_ATOMIC_READ
             : event->op == MR_OP_WRITE ? MR_OP_ATOMIC_WRITE
                                        : event->op;
    own.memory_order = MR_ORDER_SC;
    return mr_emitter_add(&pass->emitter, &own, error);
}

/* The variable that says whether the object goes on; made when it is new. */
static mr_status alive_of(mr_event_pass *pass, uint32_t object, uint32_t *variable, mr_error *error)
{
    if (!mr_event_pass_fill(&pass->alive_of, &pass->alive_capacity, &pass->alive_count,
                            object + 1ull))
        return mr_event_pass_no_memory(error);
    if (!pass->alive_of[object]) {
        if (!mr_naming_alive(&pass->naming, object, variable))
            return mr_event_pass_no_memory(error);
        pass->alive_of[object] = *variable + 1;
    }
    *variable = pass->alive_of[object] - 1;
    return MR_OK;
}

mr_status mr_event_pass_alive(mr_event_pass *pass, const mr_emitted *event, const uint64_t *record,
                              mr_extent extent, mr_error *error)
{
    uint32_t life = extent.life->number, thread = pass->reader.thread;
    if (!life || extent.life->dead || !mr_pieces_needs_life(&pass->scan->pieces, life, thread))
        return MR_OK;
    uint32_t death = mr_deaths_find(&pass->scan->deaths, life, extent.address);
    uint32_t number = mr_pairs_find(&pass->blocks, (mr_pair){life, death});
    if (number == MR_PAIRS_NONE)
        return MR_OK;
    mr_emitted own = *event;
    mr_status status = mr_event_pass_place(pass, record, &own, error);
    if (!status)
        status = alive_of(pass, pass->block_objects[number], &own.operand, error);
    own.op = MR_OP_ATOMIC_READ;
    own.memory_order = MR_ORDER_SC;
    own.has_value = true;
    own.value = 1;
    return status ? status : mr_emitter_add(&pass->emitter, &own, error);
}

mr_status mr_event_pass_life_goes(mr_event_pass *pass, uint32_t life, const mr_emitted *event,
                                  bool begins, mr_error *error)
{
    mr_emitted own = *event;
    if (!mr_ignored_has_life(&pass->scan->ignored, life))
        return MR_OK;
    mr_status status = alive_of(pass, event->operand, &own.operand, error);
    own.op = MR_OP_ATOMIC_WRITE;
    own.memory_order = MR_ORDER_SC;
    own.has_value = true;
    own.value = begins;
    return status ? status : mr_emitter_add(&pass->emitter, &own, error);
}
