/* Calls that were not recorded, in the second pass: mbegin with all that they can reach, and mend.
 */
#include "event_pass.h"

#include "base/memory.h"
#include "formats/pack/lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A list that is longer is "*". */
enum { REACH_MAX_BYTES = MR_LINE_MAX_BYTES / 2 };

/* The number of the call's name; made when new. */
static mr_status name_call(mr_event_pass *second, uint64_t number, uint32_t *call, mr_error *error)
{
    char name[sizeof second->call_name + 32];
    uint32_t known = second->calls.count;
    uint32_t at = mr_pairs_add(&second->calls, (mr_pair){second->pass.thread, number});
    if (at == MR_PAIRS_NONE)
        return mr_event_pass_no_memory(error);
    *call = at;
    if (at < known)
        return MR_OK;
    void *names = second->call_names;
    if (!mr_grow(&names, &second->call_capacity, (size_t)at + 1, sizeof *second->call_names))
        return mr_event_pass_no_memory(error);
    second->call_names = names;
    snprintf(name, sizeof name, "%s.%" PRIu64, second->call_name[0] ? second->call_name : "call",
             number);
    for (char *c = name; *c; c++)
        if (strchr("()|:,* ", *c) || (unsigned char)*c < ' ')
            *c = '_';
    second->call_name[0] = '\0';
    return mr_names_add(&second->emitter.trace->calls, name, (uint32_t)strlen(name),
                        &second->call_names[at])
               ? MR_OK
               : mr_event_pass_no_memory(error);
}

static mr_status add_name(mr_event_pass *second, const mr_name *name, mr_error *error)
{
    void *reach = second->reach;
    if (!mr_grow(&reach, &second->reach_capacity, second->reach_bytes + name->length + 2, 1))
        return mr_event_pass_no_memory(error);
    second->reach = reach;
    if (second->reach_bytes)
        second->reach[second->reach_bytes++] = ',';
    memcpy(second->reach + second->reach_bytes, name->text, name->length + 1ull);
    second->reach_bytes += name->length;
    return MR_OK;
}

/* Writes mbegin: its list is complete. */
static mr_status begin(mr_event_pass *second, const uint64_t *record, mr_error *error)
{
    mr_emitted event = {.op = MR_OP_CALL_BEGIN, .operand = second->call_names[second->call]};
    bool all = second->scan->pieces.all_reached || second->reach_bytes > REACH_MAX_BYTES;
    event.reach = all ? "*" : second->reach_bytes ? second->reach : "";
    mr_status status = mr_event_pass_place(second, record, &event, error);
    return status ? status : mr_emitter_add(&second->emitter, &event, error);
}

mr_status mr_event_pass_call_begin(mr_event_pass *second, const uint64_t *record, mr_error *error)
{
    mr_status status = name_call(second, record[2], &second->call, error);
    second->reach_left = mr_log_count(record[1]);
    second->reach_bytes = 0;
    return status || second->reach_left ? status : begin(second, record, error);
}

/* All variables in the extent, and what is a lock or semaphore there. */
static mr_status add_reached(mr_event_pass *second, mr_extent reach, mr_error *error)
{
    const mr_trace *trace = second->emitter.trace;
    uint64_t address, bytes, end = reach.address + reach.bytes;
    mr_piece *piece;
    mr_status status = MR_OK;
    mr_extent rest = reach;
    while (!status && second->reach_bytes <= REACH_MAX_BYTES &&
           (piece = mr_pieces_next_in(&second->scan->pieces, rest, &address, &bytes))) {
        uint32_t variable = piece->variable - 1;
        if (!piece->variable &&
            !mr_naming_variable(&second->naming, reach.life, address, bytes, &variable))
            return mr_event_pass_no_memory(error);
        piece->variable = variable + 1;
        status = add_name(second, &trace->variables.items[variable], error);
        rest.address = address + bytes;
        rest.bytes = rest.address < end ? end - rest.address : 0;
    }
    for (uint32_t i = 0; i < second->scan->objects.table.count && !status; i++) {
        const mr_object *object = &second->scan->objects.items[i];
        uint32_t lock;
        if (object->life != reach.life->number || object->address < reach.address ||
            object->address >= end || mr_object_orders(object->role))
            continue;
        status = mr_event_pass_lock(second, i, &lock, error);
        if (!status)
            status = add_name(second, &trace->locks.items[lock], error);
    }
    return status;
}

mr_status mr_event_pass_call_reach(mr_event_pass *second, const uint64_t *record, mr_error *error)
{
    uint64_t address = mr_log_payload(record[0]);
    mr_status status = MR_OK;
    if (!second->reach_left)
        return MR_OK;
    if (!second->scan->pieces.all_reached)
        status = add_reached(
            second,
            (mr_extent){mr_lifetimes_find(&second->pass.lives, address), address, record[2]},
            error);
    return status || --second->reach_left ? status : begin(second, record, error);
}

mr_status mr_event_pass_call_end(mr_event_pass *second, const uint64_t *record, mr_error *error)
{
    uint32_t call;
    mr_emitted event = {.op = MR_OP_CALL_END};
    mr_status status = name_call(second, record[2], &call, error);
    if (!status)
        status = mr_event_pass_place(second, record, &event, error);
    if (status)
        return status;
    event.operand = second->call_names[call];
    return mr_emitter_add(&second->emitter, &event, error);
}
