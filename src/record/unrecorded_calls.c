#include "unrecorded_calls.h"

#include "base/assert.h"
#include "base/memory.h"
#include "blocks.h"
#include "formats/pack/lines.h"
#include "ignored_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A longer list of names becomes "*". */
enum { REACH_MAX_BYTES = MR_LINE_MAX_BYTES / 2 };

/* The index of the call's name, which is added when it is new. */
static mr_status name_call(mr_event_pass *pass, uint64_t number, uint32_t *call, mr_error *error)
{
    char name[sizeof pass->call_name + 32];
    uint32_t known = pass->calls.count;
    uint32_t at = mr_pairs_add(&pass->calls, (mr_pair){pass->reader.thread, number});
    if (at == MR_PAIRS_NONE)
        return mr_event_pass_no_memory(error);
    *call = at;
    if (at < known)
        return MR_OK;
    void *names = pass->call_names;
    if (!mr_grow(&names, &pass->call_capacity, (size_t)at + 1, sizeof *pass->call_names))
        return mr_event_pass_no_memory(error);
    pass->call_names = names;
    snprintf(name, sizeof name, "%s.%" PRIu64, pass->call_name[0] ? pass->call_name : "call",
             number);
    for (char *c = name; *c; c++)
        if (strchr("()|:,* ", *c) || (unsigned char)*c < ' ')
            *c = '_';
    pass->call_name[0] = '\0';
    return mr_names_add(&pass->emitter.trace->calls, name, (uint32_t)strlen(name),
                        &pass->call_names[at])
               ? MR_OK
               : mr_event_pass_no_memory(error);
}

static mr_status add_name(mr_event_pass *pass, const mr_name *name, mr_error *error)
{
    void *reach = pass->reach;
    if (!mr_grow(&reach, &pass->reach_capacity, pass->reach_bytes + name->length + 2, 1))
        return mr_event_pass_no_memory(error);
    pass->reach = reach;
    if (pass->reach_bytes)
        pass->reach[pass->reach_bytes++] = ',';
    memcpy(pass->reach + pass->reach_bytes, name->text, name->length + 1ull);
    pass->reach_bytes += name->length;
    return MR_OK;
}

/* Writes mbegin; the list of what it reaches is complete. */
static mr_status begin(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_CALL_BEGIN, .operand = pass->call_names[pass->call]};
    bool all = pass->scan->pieces.all_reached || pass->reach_bytes > REACH_MAX_BYTES;
    MR_ASSERT(pass->reach_left == 0);
    event.reach = all ? "*" : pass->reach_bytes ? pass->reach : "";
    mr_status status = mr_event_pass_place(pass, record, &event, error);
    return status ? status : mr_emitter_add(&pass->emitter, &event, error);
}

mr_status mr_event_pass_call_begin(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    mr_status status = name_call(pass, record[2], &pass->call, error);
    pass->reach_left = mr_log_count(record[1]);
    pass->reach_bytes = 0;
    return status || pass->reach_left ? status : begin(pass, record, error);
}

/* Adds the names of all variables, locks and semaphores in the extent. */
static mr_status add_reached(mr_event_pass *pass, mr_extent reach, mr_error *error)
{
    const mr_trace *trace = pass->emitter.trace;
    uint64_t address, bytes, end = reach.address + reach.bytes;
    mr_piece *piece;
    mr_status status = MR_OK;
    mr_extent rest = reach;
    while (!status && pass->reach_bytes <= REACH_MAX_BYTES &&
           (piece = mr_pieces_next_in(&pass->scan->pieces, rest, &address, &bytes))) {
        uint32_t variable = piece->variable - 1;
        if (!piece->variable) {
            if (!mr_naming_variable(&pass->naming, reach.life, address, bytes, &variable))
                return mr_event_pass_no_memory(error);
            status = mr_event_pass_member(pass, variable, reach.life, address, error);
        }
        piece->variable = variable + 1;
        if (!status)
            status = add_name(pass, &trace->variables.items[variable], error);
        if (!status && mr_event_pass_is_quiet(pass, piece, reach.life, address, bytes)) {
            mr_extent part = {reach.life, address, bytes};
            if (!mr_event_pass_shadow_of(pass, piece, part, &variable))
                return mr_event_pass_no_memory(error);
            status = add_name(pass, &trace->variables.items[variable], error);
        }
        MR_ASSERT(address >= rest.address && address + bytes <= end);
        rest.address = address + bytes;
        rest.bytes = rest.address < end ? end - rest.address : 0;
    }
    for (uint32_t i = 0; i < pass->scan->objects.table.count && !status; i++) {
        const mr_object *object = &pass->scan->objects.items[i];
        uint32_t lock;
        if (object->life != reach.life->number || object->address < reach.address ||
            object->address >= end || mr_object_orders(object->role))
            continue;
        status = mr_event_pass_lock(pass, i, &lock, error);
        if (!status)
            status = add_name(pass, &trace->locks.items[lock], error);
    }
    return status;
}

mr_status mr_event_pass_call_reach(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    uint64_t address = mr_log_payload(record[0]);
    mr_status status = MR_OK;
    if (!pass->reach_left)
        return MR_OK;
    if (!pass->scan->pieces.all_reached)
        status = add_reached(
            pass, (mr_extent){mr_lifetimes_find(&pass->reader.lives, address), address, record[2]},
            error);
    return status || --pass->reach_left ? status : begin(pass, record, error);
}

mr_status mr_event_pass_call_end(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    uint32_t call = 0;
    mr_emitted event = {.op = MR_OP_CALL_END};
    mr_status status = name_call(pass, record[2], &call, error);
    if (!status)
        status = mr_event_pass_place(pass, record, &event, error);
    if (status)
        return status;
    event.operand = pass->call_names[call];
    return mr_emitter_add(&pass->emitter, &event, error);
}
