#include "access.h"

#include "base/assert.h"
#include "blocks.h"
#include "ignored_events.h"
#include "pointer_use.h"
#include "shared_pointers.h"
#include "values.h"

#include <stdlib.h>

/* The first value of the variable of a lock or its like: no byte has it. */
enum { OBJECT_VALUES = 256 };

/* The record of an access, while the pass goes through its pieces. */
typedef struct access {
    const uint64_t *record;
    mr_extent extent;
    mr_emitted event;
    bool reads, writes, is_range, has_value;
    bool placed; /* the event has its thread, stack and location */
    /* All its pieces that are kept are sparse, or it is a read of the writer's own piece. */
    bool sparse;
    bool locked; /* the thread holds the lock that keeps the pieces of an atomic access together */
    bool is_use; /* of a lock or its like: one event, which needs no such lock */
    bool is_ignored; /* its events are of the variables of ignored.h alone */
} access;

static mr_op op_of(unsigned kind)
{
    switch (kind) {
    case MR_LOG_WRITE:
    case MR_LOG_RANGE_WRITE:
        return MR_OP_WRITE;
    case MR_LOG_ATOMIC_READ:
        return MR_OP_ATOMIC_READ;
    case MR_LOG_ATOMIC_WRITE:
        return MR_OP_ATOMIC_WRITE;
    case MR_LOG_ATOMIC_UPDATE:
        return MR_OP_ATOMIC_UPDATE;
    default:
        return MR_OP_READ;
    }
}

static mr_op atomic_of(mr_op op)
{
    return op == MR_OP_READ ? MR_OP_ATOMIC_READ : op == MR_OP_WRITE ? MR_OP_ATOMIC_WRITE : op;
}

mr_memory_order mr_event_pass_memory_order(unsigned order)
{
    static const mr_memory_order orders[] = {MR_ORDER_RLX, MR_ORDER_ACQ,    MR_ORDER_ACQ,
                                             MR_ORDER_REL, MR_ORDER_ACQREL, MR_ORDER_SC};
    return order < sizeof orders / sizeof *orders ? orders[order] : MR_ORDER_SC;
}

/* The order of an atomic access, as far as its operation can have it: what cannot acquire or release
 * does not. */
static mr_memory_order order_of(const uint64_t *record, mr_op op)
{
    unsigned detail = mr_log_detail(record[0]);
    if (!mr_op_is_atomic((uint8_t)op))
        return MR_ORDER_SC;
    mr_memory_order order = mr_event_pass_memory_order(detail >> MR_LOG_ORDER_SHIFT & 7);
    if (mr_memory_order_fits(op, order))
        return order;
    if (order == MR_ORDER_ACQREL)
        return mr_op_reads((uint8_t)op) ? MR_ORDER_ACQ : MR_ORDER_REL;
    return MR_ORDER_RLX;
}

static mr_status place(mr_event_pass *pass, access *self, mr_error *error)
{
    if (self->placed)
        return MR_OK;
    self->placed = true;
    return mr_event_pass_place(pass, self->record, &self->event, error);
}

/* The life that the value points to; number 0: it is no address, or one that nobody releases. */
static const mr_life *pointed_to(mr_event_pass *pass, int64_t value, uint64_t bytes)
{
    bool is_address = bytes == sizeof value && mr_pointers_may_be_address((uint64_t)value);
    return mr_lifetimes_find(&pass->reader.lives, is_address ? (uint64_t)value : 0);
}

/* Is it a read of the thread's own stack, of memory that the current call shares with nobody? Compilers write
 * parameters there without a trace, where older calls had variables. */
static mr_status reads_own(mr_event_pass *pass, const access *self, const mr_piece *piece,
                           uint64_t address, uint64_t bytes, bool *is_own, mr_error *error)
{
    uint32_t variable = piece->variable ? piece->variable - 1 : MR_LOCAL_NEW;
    mr_local_use use = {self->extent.life, address, bytes, pass->reader.thread};
    return mr_locals_is_own(&pass->locals, variable, &use, is_own) ? MR_OK
                                                                   : mr_event_pass_no_memory(error);
}

/* Gives the piece its variable, if it has none. */
static mr_status name(mr_event_pass *pass, const access *self, mr_piece *piece, uint64_t address,
                      uint64_t bytes, mr_error *error)
{
    uint32_t variable;
    if (piece->variable)
        return MR_OK;
    if (!mr_naming_variable(&pass->naming, self->extent.life, address, bytes, &variable))
        return mr_event_pass_no_memory(error);
    piece->variable = variable + 1;
    return mr_event_pass_member(pass, variable, self->extent.life, address, error);
}

/* The piece has these values now. */
static void note_values(const access *self, mr_piece *piece, const mr_values *found)
{
    int64_t first = self->reads ? found->read : found->written;
    piece->is_varied = piece->is_varied || !self->has_value || found->is_long ||
                       (piece->has_last && piece->last != first) ||
                       (self->writes && found->written != first);
    piece->has_last = self->has_value;
    piece->last = self->writes ? found->written : found->read;
}

/* Counts the read when it sees another value than the last recorded access left there: code that is
 * not recorded has written the piece. */
static mr_status check(mr_event_pass *pass, access *self, mr_piece *piece, uint64_t address,
                       uint64_t bytes, const mr_values *found, mr_error *error)
{
    mr_record_summary *summary = &pass->summary;
    bool strange = self->reads && !self->is_ignored && self->has_value && piece->has_last &&
                   !piece->reached && piece->last != found->read;
    note_values(self, piece, found);
    if (!strange)
        return MR_OK;
    bool is_own;
    mr_status status = reads_own(pass, self, piece, address, bytes, &is_own, error);
    if (status || is_own || summary->strange_reads++)
        return status;
    status = place(pass, self, error);
    if (!status)
        status = name(pass, self, piece, address, bytes, error);
    if (status)
        return status;
    const mr_trace *trace = pass->emitter.trace;
    pass->strange = piece->variable - 1;
    snprintf(summary->strange_location, sizeof summary->strange_location, "%.120s",
             trace->locations.items[self->event.location].text);
    return MR_OK;
}

/* The lock that keeps the events of one atomic access of these bytes together. */
static mr_status atomic_lock(mr_event_pass *pass, const mr_extent *extent, uint32_t *lock,
                             mr_error *error)
{
    uint64_t aligned = extent->address / 8;
    uint32_t known = pass->atomics.count;
    uint32_t at = mr_pairs_add(&pass->atomics, (mr_pair){extent->life->number, aligned});
    if (at == MR_PAIRS_NONE)
        return mr_event_pass_no_memory(error);
    if (at == known) {
        void *locks = pass->atomic_locks;
        if (!mr_grow(&locks, &pass->atomic_capacity, (size_t)at + 1, sizeof *pass->atomic_locks))
            return mr_event_pass_no_memory(error);
        pass->atomic_locks = locks;
        if (!mr_naming_atomic(&pass->naming, extent->life, extent->address,
                              &pass->atomic_locks[at]))
            return mr_event_pass_no_memory(error);
    }
    *lock = pass->atomic_locks[at];
    return MR_OK;
}

static mr_status emit_lock(mr_event_pass *pass, const access *self, mr_op op, mr_error *error)
{
    mr_emitted event = self->event;
    /* The section holds the events of one access and contains no other section. */
    MR_ASSERT(self->locked == (op == MR_OP_RELEASE) && self->placed);
    mr_status status = atomic_lock(pass, &self->extent, &event.operand, error);
    mr_local_use use = {self->extent.life, self->extent.address, 1, pass->reader.thread};
    if (!status && !mr_locals_note_lock(&pass->locals, event.operand, &use))
        return mr_event_pass_no_memory(error);
    event.op = op;
    event.memory_order = MR_ORDER_SC;
    event.has_value = false;
    return status ? status : mr_emitter_add(&pass->emitter, &event, error);
}

/* The number that stands for a long content. */
static mr_status long_value(mr_event_pass *pass, const mr_values *found, int64_t *value,
                            mr_error *error)
{
    uint32_t number =
        mr_pairs_add(&pass->contents, (mr_pair){found->digest.high64, found->digest.low64});
    if (number == MR_PAIRS_NONE)
        return mr_event_pass_no_memory(error);
    *value = number;
    return MR_OK;
}

static mr_status emit(mr_event_pass *pass, access *self, mr_piece *piece, uint64_t address,
                      uint64_t bytes, const mr_values *found, mr_error *error)
{
    mr_emitted *event = &self->event;
    mr_status status = place(pass, self, error);
    if (!status && !self->locked && !self->sparse && !self->is_use &&
        mr_op_is_atomic((uint8_t)event->op) &&
        mr_pieces_is_split(&pass->scan->pieces, self->extent)) {
        status = emit_lock(pass, self, MR_OP_ACQUIRE, error);
        self->locked = true;
    }
    if (status)
        return status;
    status = name(pass, self, piece, address, bytes, error);
    if (status)
        return status;
    event->operand = piece->variable - 1;
    mr_local_use use = {self->extent.life, address, bytes, pass->reader.thread};
    if (!mr_locals_note_variable(&pass->locals, event->operand, &use))
        return mr_event_pass_no_memory(error);
    event->has_value = self->has_value && !piece->reached;
    event->value = self->reads ? found->read : found->written;
    event->written_value = found->written;
    if (found->is_long && event->has_value)
        status = long_value(pass, found, &event->value, error);
    if (status)
        return status;
    mr_emitted said = *event;
    if (bytes == sizeof(uint64_t) && !self->is_use &&
        !mr_addresses_name(&pass->addresses, &pass->reader.lives, &said, found->as_left))
        return mr_event_pass_no_memory(error);
    if (pass->scan->benign.count &&
        mr_benign_has(&pass->scan->benign, (mr_extent){self->extent.life, address, bytes})) {
        said.op = atomic_of(event->op);
        said.memory_order = MR_ORDER_RLX;
    }
    if (!mr_memory_order_releases(said.memory_order) &&
        mr_shared_pointers_unlocks(pass->emitter.trace, event))
        said.memory_order = said.memory_order == MR_ORDER_ACQ ? MR_ORDER_ACQREL : MR_ORDER_REL;
    piece->version += self->writes;
    if (self->writes && piece->writer && piece->version >= piece->first_write) {
        piece->guard = mr_settled_guard(&pass->settled, pass->reader.thread, piece->guard);
        piece->is_nested =
            piece->is_nested || mr_settled_is_nested(&pass->settled, pass->reader.thread);
        const mr_life *pointed = pointed_to(pass, found->written, bytes);
        piece->pointed = pointed->number;
        piece->has_given = pointed->thread == pass->reader.thread;
    }
    pass->quiet_events += said.op == MR_OP_READ || said.op == MR_OP_ATOMIC_READ;
    uint64_t others = pass->emitter.trace->event_count;
    bool quiet = mr_event_pass_is_quiet(pass, piece, self->extent.life, address, bytes);
    if (!self->is_ignored)
        status = mr_emitter_add(&pass->emitter, &said, error);
    if (quiet && !status)
        status = mr_event_pass_shadow(pass, piece, &said,
                                      (mr_extent){self->extent.life, address, bytes}, error);
    /* Not of an access that was dropped. Derefs are for predictions, not for the order shb alone. */
    bool may_be_pointer = pass->emitter.trace->event_count > others && bytes == sizeof(uint64_t) &&
                          !quiet && !self->is_range && !mr_scan_is_for_shb(pass->scan);
    if (may_be_pointer && !status)
        status = mr_event_pass_pointer_access(pass, self->record, event, said.value, error);
    return status;
}

/* Is the value of the sparse piece one that the trace can have? Not after a write without event. */
static bool takes_value(const access *self, mr_piece *piece, const mr_values *found)
{
    bool takes = self->has_value && !found->is_long &&
                 !(self->reads && piece->has_last && piece->last != found->read);
    piece->has_last = piece->has_last || takes;
    piece->last = self->writes ? found->written : found->read;
    return takes;
}

/* Does the read say what the last event of its thread said (repeats.h)? Remembers it. */
static bool is_repeated(mr_event_pass *pass, const access *self, const mr_piece *piece,
                        const mr_values *found)
{
    if (!self->event.is_whole || self->writes || self->locked || piece->reached ||
        self->extent.life->dead || !self->has_value ||
        pass->emitter.trace->event_count != pass->events_before)
        return false;
    /* The same for each form of the record. */
    uint64_t head = self->record[0] & ~((uint64_t)MR_LOG_SMALL << 8);
    pass->read = (mr_repeat){piece, head, mr_log_code(self->record[1]), piece->version};
    return piece->has_last && piece->last == found->read &&
           mr_repeats_has(&pass->repeats, pass->reader.thread, &pass->read);
}

/* Has an access of sparse pieces an event? */
static bool takes_sparse(const mr_event_pass *pass, const access *self)
{
    return !mr_sparse_knows(&pass->sparse, pass->reader.thread, mr_log_code(self->record[1]),
                            self->extent.life->number);
}

/* May the read of the piece be settled, by what is known of it (settled.h)? */
static bool may_be_settled(const access *self, const mr_piece *piece, const mr_values *found)
{
    return self->event.op == MR_OP_READ && piece->writer && !piece->reached && !piece->sparse &&
           !self->extent.life->dead && self->has_value && piece->has_last &&
           piece->last == found->read && !found->is_long && piece->variable;
}

/* Has the read by the writer of its piece an event? It counts as an access of a sparse piece. */
static bool takes_own(const mr_event_pass *pass, const access *self)
{
    return takes_sparse(pass, self) &&
           mr_pieces_needs_life(&pass->scan->pieces, self->extent.life->number,
                                pass->reader.thread);
}

/* Has the read no event (settled.h)? `*own`: it is by the writer, and counts as an access of a sparse piece. */
static bool is_settled(mr_event_pass *pass, const access *self, const mr_piece *piece,
                       const mr_values *found, uint64_t bytes, bool *own)
{
    uint32_t thread = pass->reader.thread, life = self->extent.life->number;
    *own = false;
    if (!may_be_settled(self, piece, found))
        return false;
    const mr_life *pointed = pointed_to(pass, found->read, self->is_range ? 0 : bytes);
    bool may_dangle = mr_event_pass_may_dangle(pass, piece, pointed);
    if (pointed->dead)
        return false;
    if (piece->writer == thread + 1) {
        *own = self->event.is_whole && !may_dangle &&
               pass->emitter.trace->event_count == pass->events_before;
        return *own && !takes_own(pass, self);
    }
    bool is_released = may_dangle || mr_pieces_is_released(&pass->scan->pieces, life, thread);
    const mr_settled_question read = {
        .code = mr_log_code(self->record[1]),
        .thread = thread,
        .variable = piece->variable - 1,
        .is_released = is_released,
        .is_pointer = may_dangle,
        .is_guarded = !is_released && (piece->is_unique || !piece->is_varied) &&
                      mr_settled_holds(&pass->settled, thread, piece->guard),
        .is_nested = piece->is_nested,
    };
    return piece->settled && piece->version == piece->settled &&
           (piece->is_unique || read.is_guarded) && mr_settled_knows(&pass->settled, &read);
}

/* Has the access no event, as one in the beginning (beginning.h)? */
static bool is_begun(const mr_event_pass *pass, const access *self, const mr_piece *piece)
{
    bool is_in = piece->is_simple && pass->reader.next < piece->until;
    if (self->writes)
        return is_in && piece->version + 1 < piece->begun;
    return is_in && (piece->begun || piece->has_last);
}

/* Notes what the access would say beside its event. */
static mr_status begin_piece(mr_event_pass *pass, const access *self, mr_piece *piece, uint64_t at,
                             uint64_t bytes, const mr_values *found, mr_error *error)
{
    bool is_word = bytes == sizeof(uint64_t) && !self->is_range;
    note_values(self, piece, found);
    piece->version += self->writes;
    if (is_word && !piece->last) {
        mr_status status = name(pass, self, piece, at, bytes, error);
        if (status)
            return status;
        if (!mr_pointers_note_null(&pass->pointers, piece->variable - 1))
            return mr_event_pass_no_memory(error);
    }
    return is_word && self->reads && piece->variable
               ? mr_event_pass_pointer_none(pass, self->record, piece->variable - 1, error)
               : MR_OK;
}

/* The event of a piece. */
static mr_status emit_piece(mr_event_pass *pass, access *self, mr_piece *piece, uint64_t at,
                            uint64_t bytes, mr_error *error)
{
    mr_values found = mr_values_of(self->record, at - self->extent.address, bytes);
    bool is_inside = self->reads && bytes == 1 && piece->has_last && piece->last >= OBJECT_VALUES;
    self->event.is_whole =
        bytes == self->extent.bytes && !self->is_range && !is_inside && !piece->sparse;
    if (is_inside)
        found.read = piece->last; /* it reads the inside of a lock */
    found.as_left = piece->has_last && piece->last == found.read;
    bool by_writer = false;
    bool quiet = mr_event_pass_is_quiet(pass, piece, self->extent.life, at, bytes);
    if (self->is_ignored && !quiet)
        return MR_OK; /* no other thread writes it */
    if (!quiet && is_begun(pass, self, piece))
        return begin_piece(pass, self, piece, at, bytes, &found, error);
    if (is_repeated(pass, self, piece, &found))
        return MR_OK;
    if (!is_inside && !quiet && is_settled(pass, self, piece, &found, bytes, &by_writer))
        return bytes == sizeof(uint64_t) && !self->is_range
                   ? mr_event_pass_pointer_none(pass, self->record, piece->variable - 1, error)
                   : MR_OK;
    self->sparse = self->sparse || by_writer;
    if (!piece->sparse) {
        mr_status status = check(pass, self, piece, at, bytes, &found, error);
        return status ? status : emit(pass, self, piece, at, bytes, &found, error);
    }
    access own = *self;
    own.has_value = takes_value(self, piece, &found);
    mr_status status = emit(pass, &own, piece, at, bytes, &found, error);
    own.has_value = self->has_value;
    *self = own;
    return status;
}

/* The events of the access: one for each piece, and of sparse pieces in a row one for all. `whole`: its
 * only piece; NULL: that is not known. */
static mr_status emit_pieces(mr_event_pass *pass, access *self, mr_piece *whole, mr_error *error)
{
    uint64_t address = self->extent.address, end = address + self->extent.bytes;
    mr_status status = MR_OK;
    bool done = false;
    for (uint64_t at = address, step; at < end && !(done && self->sparse) && !status; at += step) {
        mr_extent rest = {self->extent.life, at, end - at};
        mr_piece *piece = whole;
        step = end - at;
        if (!whole)
            piece = mr_pieces_at(&pass->scan->pieces, rest, &step);
        MR_ASSERT(step <= end - at);
        if (!piece || (piece->sparse && done))
            continue;
        status = emit_piece(pass, self, piece, at, step, error);
        done = piece->sparse;
    }
    if (!status && self->locked)
        status = emit_lock(pass, self, MR_OP_RELEASE, error);
    return status;
}

/* An access of sparse pieces has had its event. */
static void note_sparse(mr_event_pass *pass, const access *self)
{
    uint32_t thread = pass->reader.thread, life = self->extent.life->number;
    pass->in_stretch = !mr_pieces_meets_guest(&pass->scan->pieces, life, thread);
    if (pass->in_stretch)
        mr_sparse_note(&pass->sparse, thread, mr_log_code(self->record[1]), life);
}

mr_status mr_event_pass_access(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    unsigned kind = mr_log_kind_of(record[0]);
    uint64_t address = mr_log_payload(record[0]), bytes = mr_log_access_bytes(record);
    access self = {
        .record = record,
        .extent = {mr_lifetimes_find(&pass->reader.lives, address), address, bytes},
        .event = {.op = op_of(kind), .memory_order = order_of(record, op_of(kind))},
        .is_range = mr_log_is_range(kind),
        .has_value = !(mr_log_detail(record[0]) & MR_LOG_NO_VALUE),
        .is_ignored = mr_log_is_ignored(record[0]),
    };
    if (mr_assembly_joins(&pass->scan->assembly, record, self.extent)) {
        self.event.op = atomic_of(self.event.op);
        self.event.memory_order =
            mr_op_writes((uint8_t)self.event.op) ? MR_ORDER_REL : MR_ORDER_ACQ;
    }
    self.reads = mr_op_reads((uint8_t)self.event.op);
    self.writes = mr_op_writes((uint8_t)self.event.op);
    if (!self.is_range)
        mr_contexts_reach(&pass->contexts, pass->reader.thread, mr_log_code(record[1]));
    mr_pieces *pieces = &pass->scan->pieces;
    mr_piece *whole = self.is_range ? NULL : mr_pieces_whole_near(pieces, address, (unsigned)bytes);
    bool kept = whole != NULL, full = kept;
    if (!whole && mr_pieces_may_keep_any(pieces, address, bytes)) {
        mr_pieces_approach(pieces, &pass->reader.lives, self.extent.life, address);
        kept = mr_pieces_keeps(pieces, self.extent, &full);
    }
    self.sparse = kept && !full;
    kept = kept && (full || takes_sparse(pass, &self));
    mr_status status = MR_OK;
    if (!self.is_ignored && mr_pointers_wait(&pass->pointers, pass->reader.thread))
        status = mr_event_pass_pointer_use(pass, record, kept, error);
    if (!kept || status)
        return status;
    pass->kept_accesses++;
    status = emit_pieces(pass, &self, whole, error);
    /* Else it repeats the read before it (repeats.h), which said it. */
    bool has_event = self.sparse || pass->emitter.trace->event_count > pass->events_before;
    if (self.is_ignored && has_event && !status)
        status = mr_event_pass_alive(pass, &self.event, record, self.extent, error);
    if (self.sparse)
        note_sparse(pass, &self);
    return status;
}

static mr_op op_of_use(const uint64_t *record, bool writes)
{
    bool replaces = mr_log_detail(record[0]) == MR_LOG_ROLE_DESCRIPTOR &&
                    mr_log_count(record[1]) == MR_LOG_RETIRED_INITIALISED;
    return !writes ? MR_OP_ATOMIC_READ : replaces ? MR_OP_ATOMIC_WRITE : MR_OP_WRITE;
}

mr_status mr_event_pass_use(mr_event_pass *pass, const uint64_t *record, bool writes,
                            int64_t *value, mr_error *error)
{
    uint64_t address = mr_log_payload(record[0]), step;
    access self = {
        .record = record,
        .extent = {mr_lifetimes_find(&pass->reader.lives, address), address, 1},
        .event = {.op = op_of_use(record, writes)},
        .reads = !writes,
        .writes = writes,
        .has_value = true,
        .is_use = true,
    };
    mr_piece *piece = mr_pieces_at(&pass->scan->pieces, self.extent, &step);
    *value = 0;
    if (!piece)
        return MR_OK;
    if (writes)
        piece->last = OBJECT_VALUES + (int64_t)pass->object_values++;
    else if (!piece->has_last)
        piece->last = 0;
    piece->has_last = true;
    *value = piece->last;
    mr_values found = {.read = piece->last, .written = piece->last};
    uint64_t bytes = mr_naming_object_bytes((uint8_t)mr_log_detail(record[0]), record[2]);
    return emit(pass, &self, piece, address, bytes, &found, error);
}

void mr_event_pass_renew(mr_event_pass *pass, const uint64_t *record)
{
    uint64_t address = mr_log_payload(record[0]), step;
    mr_extent byte = {mr_lifetimes_find(&pass->reader.lives, address), address, 1};
    bool full;
    if (!mr_pieces_keeps(&pass->scan->pieces, byte, &full))
        return;
    mr_piece *piece = mr_pieces_at(&pass->scan->pieces, byte, &step);
    piece->variable = piece->shadow = 0;
    piece->has_last = false;
    piece->version++;
}

mr_status mr_event_pass_free_again(mr_event_pass *pass, const uint64_t *record, mr_error *error)
{
    uint64_t address = mr_log_payload(record[0]), step;
    access self = {
        .record = record,
        .extent = {mr_lifetimes_find(&pass->reader.lives, address), address, 1},
        .event = {.op = MR_OP_WRITE},
        .writes = true,
    };
    mr_piece *piece = mr_pieces_at(&pass->scan->pieces, self.extent, &step);
    mr_values found = {.read = 0};
    if (!piece)
        return MR_OK;
    piece->has_last = false;
    return emit(pass, &self, piece, address, step, &found, error);
}
