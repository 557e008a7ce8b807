#include "pointer_use.h"

#include "trace/address_name.h"

/* Was the block of the address freed and given out again, since the address was written to the variable (addresses.h)? Only malloc
 * and its like never give out memory that is in use; a mapping may take the place of another one. */
static bool is_stale(const mr_life *life, int64_t named)
{
    return life && life->number && life->kind == MR_LOG_MEMORY_HEAP && !life->dead &&
           mr_address_uses(named) != life->uses;
}

/* The thread read the value: is it an address elsewhere than on the thread's own stack? `named`: as the trace has it. */
static bool note_read(mr_event_pass *pass, const uint64_t *record, const mr_emitted *read,
                      int64_t named)
{
    uint64_t value = read->has_value ? (uint64_t)read->value : 0;
    uint32_t thread = pass->reader.thread;
    const mr_life *life = NULL;
    if (mr_pointers_may_be_address(value))
        life = mr_lifetimes_find(&pass->reader.lives, value);
    if (life && life->kind == MR_LOG_MEMORY_STACK && life->thread == thread)
        value = 0;
    mr_pointer pointer = {.value = value,
                          .code = mr_log_code(record[1]),
                          .is_returned = mr_op_is_atomic((uint8_t)read->op),
                          .variable = read->operand};
    if (is_stale(life, named) && mr_addresses_are_seen(&pass->addresses, read->operand))
        pointer.stale = pass->emitter.trace->event_count;
    return mr_pointers_note(&pass->pointers, thread, &pointer, life);
}

mr_status mr_event_pass_pointer_access(mr_event_pass *pass, const uint64_t *record,
                                       const mr_emitted *access, int64_t named, mr_error *error)
{
    bool was_null =
        access->has_value &&
        (!access->value || (mr_op_updates((uint8_t)access->op) && !access->written_value));
    bool ok = !was_null || mr_pointers_note_null(&pass->pointers, access->operand);
    if (ok && mr_op_reads((uint8_t)access->op))
        ok = note_read(pass, record, access, named);
    return ok ? MR_OK : mr_event_pass_no_memory(error);
}

mr_status mr_event_pass_pointer_none(mr_event_pass *pass, const uint64_t *record, uint32_t variable,
                                     mr_error *error)
{
    mr_pointer none = {.code = mr_log_code(record[1]), .variable = variable};
    return mr_pointers_note(&pass->pointers, pass->reader.thread, &none, NULL)
               ? MR_OK
               : mr_event_pass_no_memory(error);
}

bool mr_event_pass_may_dangle(const mr_event_pass *pass, const mr_piece *piece, const mr_life *life)
{
    uint32_t thread = pass->reader.thread;
    bool is_given = life->kind == MR_LOG_MEMORY_HEAP && life->number == piece->pointed &&
                    (life->thread == thread || piece->has_given);
    return life->number &&
           (!is_given || mr_pieces_is_released(&pass->scan->pieces, life->number, thread));
}

/* Does the code bring the value from its read to the record's call? */
static bool is_brought(mr_event_pass *pass, const mr_pointer *pointer, const uint64_t *record)
{
    return mr_symbols_uses_value(pass->symbols, pointer->code, mr_log_code(record[1]),
                                 pointer->is_returned);
}

/* Tells that the thread uses a pointer that is stale. */
static mr_status tell(mr_event_pass *pass, const mr_pointer *pointer, mr_error *error)
{
    mr_misuse misuse = {MR_MISUSE_STALE_POINTER, pointer->stale - 1ull, MR_MISUSE_NO_EVENT};
    return !pointer->stale || mr_event_pass_keep_misuse(pass, &misuse)
               ? MR_OK
               : mr_event_pass_no_memory(error);
}

static mr_status add(mr_event_pass *pass, const mr_emitted *deref, mr_error *error)
{
    pass->quiet_events++;
    return mr_emitter_add(&pass->emitter, deref, error);
}

mr_status mr_event_pass_pointer_use(mr_event_pass *pass, const uint64_t *record, bool kept,
                                    mr_error *error)
{
    uint32_t thread = pass->reader.thread;
    uint64_t address = mr_log_payload(record[0]);
    if (!mr_pointers_look(&pass->pointers, thread, address))
        return MR_OK;
    const mr_pointer *pointer = mr_pointers_take(&pass->pointers, thread, address);
    if (!is_brought(pass, pointer, record))
        return MR_OK;
    mr_emitted event = {.op = MR_OP_DEREF, .operand = pointer->variable};
    mr_status status = mr_event_pass_place(pass, record, &event, error);
    if (!status)
        status = tell(pass, pointer, error);
    if (status)
        return status;
    mr_settled_use(&pass->settled, thread, pointer->code, pointer->variable);
    if (kept)
        return add(pass, &event, error);
    mr_pointers_set_loose(&pass->pointers, thread, &event);
    return MR_OK;
}

mr_status mr_event_pass_pointer_freed(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    uint32_t thread = pass->reader.thread;
    const mr_pointer *pointer = NULL;
    if (mr_log_kind_of(record[0]) == MR_LOG_TAKEN)
        pointer = mr_pointers_take_free(&pass->pointers, thread, mr_log_payload(record[0]));
    if (!pointer || !is_brought(pass, pointer, record)) {
        mr_pointers_drop_loose(&pass->pointers, thread);
        return MR_OK;
    }
    mr_emitted event = {.op = MR_OP_DEREF, .operand = pointer->variable};
    mr_status status = mr_event_pass_pointer_loose(pass, error);
    if (!status)
        status = mr_event_pass_place(pass, record, &event, error);
    if (!status)
        status = tell(pass, pointer, error);
    return status ? status : add(pass, &event, error);
}

mr_status mr_event_pass_pointer_loose(mr_event_pass *pass, mr_error *error)
{
    const mr_emitted *event = mr_pointers_loose(&pass->pointers, pass->reader.thread);
    if (!event)
        return MR_OK;
    mr_pointers_drop_loose(&pass->pointers, pass->reader.thread);
    return add(pass, event, error);
}
