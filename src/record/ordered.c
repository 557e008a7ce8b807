#include "ordered.h"

#include "base/assert.h"
#include "base/memory.h"
#include "order/edges.h"
#include "runtime/log.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1 << 12, UNITS_MAX = 1 << 8, LINE_BYTES = 64 };

#define READS   (UINT32_C(1) << 31)
#define WROTE   (UINT32_C(1) << 31)
#define SEVERAL MR_ORDERED_SEVERAL

/* What a cell, of 4 bytes or of one, keeps. Segments are numbered from 1; 0: none. */
typedef struct cell_state {
    uint32_t write;
    uint32_t read; /* a segment; or READS and the number of a cell_read */
    /* `must`: the thread with accesses in sections, plus 1, or SEVERAL; WROTE: with a write. */
    uint32_t guard;
} cell_state;

/* A line that several threads access, or one with kept bytes. */
typedef struct line_cells {
    uint64_t unordered; /* bytes with unordered conflicting accesses, at least */
    uint64_t kept;      /* bytes of atomic accesses, and others to be kept */
    uint32_t atomic;    /* number of its first atomic variable, plus 1; 0: none */
    uint32_t shift;     /* log2 of the bytes of a cell */
    size_t first;       /* number of its first cell */
} line_cells;

/* One of several unordered reads of a cell. */
typedef struct cell_read {
    uint32_t segment, next; /* number plus 1; 0: last */
} cell_read;

/* An atomic variable of a line. */
typedef struct atomic_variable {
    uint32_t next; /* plus 1; 0: last */
    uint8_t at, bytes;
} atomic_variable;

/* The units of a semaphore. */
typedef struct unit_count {
    uint32_t left;   /* posted, and not taken yet */
    uint32_t posts;  /* records that posted some */
    bool is_taken;   /* `must`: an edge says that what was posted is all */
    bool is_unclear; /* `must`: no wait is known to need a post */
} unit_count;

typedef struct thread_state {
    uint32_t depth;  /* critical sections that it is in */
    bool is_started; /* by a fork */
    bool is_over;    /* it has ended, or was joined */
} thread_state;

/* A segment (ordered.h). */
typedef struct stretch {
    uint32_t thread, local;
} stretch;

struct mr_happens {
    mr_wcp wcp; /* wcp.hb alone */
    mr_edges edges;
    mr_u32s segment_of; /* by thread: its last one */
    stretch *segments;
    size_t segment_count, segment_capacity;
    unit_count *units; /* by object */
    size_t unit_capacity, unit_objects;
    thread_state *threads; /* by thread, `must` */
    size_t thread_count, thread_capacity;
    line_cells *lines;
    size_t line_count, line_capacity;
    cell_state *cells;
    size_t cell_count, cell_capacity;
    cell_read *reads;
    size_t read_count, read_capacity;
    uint32_t free_read; /* number plus 1; 0: none */
    atomic_variable *variables;
    size_t variable_count, variable_capacity;
    mr_time *released; /* by life: when; local 0: never, or that is not known */
    size_t life_count, life_capacity;
};

void mr_ordered_free(mr_ordered *self)
{
    mr_happens *happens = self->happens;
    self->happens = NULL;
    self->given_up = true;
    if (!happens)
        return;
    for (size_t i = 0; i < happens->life_count; i++)
        mr_clock_drop(&happens->wcp.hb.pool, &happens->released[i].clock);
    mr_edges_free(&happens->edges, &happens->wcp);
    mr_hb_free(&happens->wcp.hb);
    mr_u32s_free(&happens->segment_of);
    free(happens->segments);
    free(happens->units);
    free(happens->threads);
    free(happens->lines);
    free(happens->cells);
    free(happens->reads);
    free(happens->variables);
    free(happens->released);
    free(happens);
}

/* ---- segments ---- */

static const mr_clock *clock_of(const mr_ordered *self)
{
    return self->happens->wcp.hb.threads[self->thread].clock;
}

/* Appends zeros until there are `count` numbers or more. False: no memory. */
static bool grow_numbers(mr_u32s *numbers, size_t count)
{
    while (numbers->count < count)
        if (!mr_u32s_push(numbers, 0))
            return false;
    return true;
}

/* Room for the thread. False: no memory, or too many threads. */
static bool grow(mr_ordered *self, uint32_t thread)
{
    if (!self->happens)
        self->happens = mr_calloc(1, sizeof *self->happens);
    mr_happens *happens = self->happens;
    if (!happens || thread >= THREADS_MAX)
        return false;
    if (thread < happens->segment_of.count)
        return true;
    void *threads = happens->threads;
    if (!mr_grow(&threads, &happens->thread_capacity, thread + 1ull, sizeof *happens->threads))
        return false;
    happens->threads = threads;
    while (happens->thread_count <= thread)
        happens->threads[happens->thread_count++] = (thread_state){0};
    return mr_hb_grow(&happens->wcp.hb, thread + 1, 0) &&
           grow_numbers(&happens->segment_of, thread + 1ull);
}

/* Sets `now`: the local time of the current thread may be another one. False: no memory. */
static bool renew(mr_ordered *self)
{
    mr_happens *happens = self->happens;
    uint32_t thread = self->thread, local = happens->wcp.hb.threads[thread].local;
    self->now = happens->segment_of.items[thread];
    if (self->now && happens->segments[self->now - 1].local == local)
        return true;
    void *segments = happens->segments;
    if (happens->segment_count >= READS - 1 ||
        !mr_grow(&segments, &happens->segment_capacity, happens->segment_count + 1,
                 sizeof *happens->segments))
        return false;
    happens->segments = segments;
    happens->segments[happens->segment_count++] = (stretch){thread, local};
    self->now = happens->segment_of.items[thread] = (uint32_t)happens->segment_count;
    return true;
}

void mr_ordered_switch(mr_ordered *self, uint32_t thread)
{
    if (self->given_up || !grow(self, thread)) {
        self->given_up = true;
        return;
    }
    self->thread = thread;
    self->is_guarded = self->must && self->happens->threads[thread].depth;
    self->given_up = !renew(self);
}

/* Does the thread with this clock know the segment? */
static bool knows(const mr_happens *happens, const mr_clock *clock, uint32_t thread,
                  uint32_t number)
{
    MR_ASSERT(number > 0 && number <= happens->segment_count);
    const stretch *at = &happens->segments[number - 1];
    return at->thread == thread || mr_clock_get(clock, at->thread) >= at->local;
}

bool mr_ordered_before(const mr_ordered *self, uint32_t segment)
{
    return segment && !self->given_up &&
           knows(self->happens, clock_of(self), self->thread, segment);
}

/* ---- synchronisation ---- */

/* Is the fork in the trace, which has no events of the child before it? */
static bool starts(mr_happens *happens, uint32_t child)
{
    bool is_first = !happens->segment_of.items[child] && !happens->threads[child].is_started;
    happens->threads[child].is_started = true;
    return is_first;
}

void mr_ordered_thread(mr_ordered *self, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    uint64_t other = kind == MR_LOG_END ? self->thread : record[2];
    if (self->given_up)
        return;
    bool ok = other < THREADS_MAX && grow(self, (uint32_t)other);
    mr_happens *happens = self->happens;
    if (ok && kind != MR_LOG_FORK)
        happens->threads[other].is_over = true;
    if (ok && kind != MR_LOG_END)
        ok = other != self->thread &&
             (!self->must || (!happens->threads[self->thread].is_over &&
                              (kind != MR_LOG_FORK || starts(happens, (uint32_t)other)))) &&
             mr_hb_sync(&happens->wcp.hb, kind == MR_LOG_FORK ? MR_OP_FORK : MR_OP_JOIN,
                        self->thread, (uint32_t)other) &&
             renew(self);
    self->given_up = !ok;
}

/* Room for the object. */
static bool grow_objects(mr_happens *happens, uint32_t object)
{
    void *units = happens->units;
    if (!mr_hb_grow(&happens->wcp.hb, (uint32_t)happens->segment_of.count, object + 1) ||
        !mr_edges_grow(&happens->edges, object + 1) ||
        !mr_grow(&units, &happens->unit_capacity, object + 1ull, sizeof *happens->units))
        return false;
    happens->units = units;
    while (happens->unit_objects <= object)
        happens->units[happens->unit_objects++] = (unit_count){0};
    return true;
}

static bool post(mr_ordered *self, uint64_t count, uint32_t object)
{
    mr_happens *happens = self->happens;
    for (uint64_t i = 0; i < count; i++)
        if (!mr_edges_post(&happens->edges, &happens->wcp, self->thread, object))
            return false;
    happens->units[object].left += (uint32_t)count;
    happens->units[object].posts++;
    return true;
}

/* Units beyond those that were posted come from elsewhere, and give no edge. */
static bool take(mr_ordered *self, uint64_t count, uint32_t object)
{
    mr_happens *happens = self->happens;
    uint32_t *left = &happens->units[object].left;
    for (uint64_t i = 0; i < count && *left; i++, --*left)
        if (!mr_edges_wait(&happens->edges, &happens->wcp, self->thread, object))
            return false;
    return true;
}

/* Can units of the role come from records of it only? */
static bool is_counted(unsigned role)
{
    return role == MR_LOG_ROLE_ASLEEP || role == MR_LOG_ROLE_WAKE ||
           role == MR_LOG_ROLE_BARRIER_IN || role == MR_LOG_ROLE_BARRIER_OUT;
}

/* POST and WAIT, `must`. False: no memory, or an edge was none. */
static bool exchange(mr_ordered *self, const uint64_t *record, uint64_t count, uint32_t object)
{
    unit_count *units = &self->happens->units[object];
    if (!is_counted(mr_log_detail(record[0])))
        return true;
    if (self->happens->threads[self->thread].is_over)
        return false; /* the trace has none of its events */
    units->is_unclear = units->is_unclear || count > UNITS_MAX;
    if (mr_log_kind_of(record[0]) == MR_LOG_POST)
        return !units->is_taken && (units->is_unclear || post(self, count, object));
    if (units->is_taken && units->left < count)
        return false;
    bool takes_all = !units->is_taken && units->left == count;
    if (units->is_unclear || units->left < count || !(units->posts == 1 || takes_all)) {
        units->is_unclear = true;
        return true;
    }
    units->is_taken = true;
    return take(self, count, object);
}

/* Edges that every reordering keeps, and whether the thread is in a critical section. False: no memory, or an
 * edge was none. */
static bool synchronise_must(mr_ordered *self, const uint64_t *record, uint32_t object)
{
    uint32_t *depth = &self->happens->threads[self->thread].depth;
    unsigned kind = mr_log_kind_of(record[0]);
    uint64_t count = mr_log_count(record[1]);
    if (kind == MR_LOG_POST || kind == MR_LOG_WAIT)
        return exchange(self, record, count ? count : 1, object);
    if (kind == MR_LOG_ACQUIRE || kind == MR_LOG_SHARED_ACQUIRE)
        ++*depth;
    if (kind == MR_LOG_RELEASE || kind == MR_LOG_SHARED_RELEASE)
        *depth -= *depth > 0;
    self->is_guarded = *depth > 0;
    return true;
}

/* An access of an atomic variable: of memory, or one that stands for an object. */
static bool meet(mr_ordered *self, uint32_t number, bool of_object, mr_op op)
{
    mr_access access = {.thread = self->thread, .variable = number << 1 | of_object, .op = op};
    return mr_edges_atomic(&self->happens->edges, &self->happens->wcp, &access);
}

static bool synchronise(mr_ordered *self, const uint64_t *record, uint32_t object)
{
    mr_hb *hb = &self->happens->wcp.hb;
    unsigned kind = mr_log_kind_of(record[0]), role = mr_log_detail(record[0]);
    uint64_t count = mr_log_count(record[1]);
    switch (kind) {
    case MR_LOG_ACQUIRE:
        return mr_hb_sync(hb, MR_OP_ACQUIRE, self->thread, object);
    case MR_LOG_RELEASE:
        return mr_hb_sync(hb, MR_OP_RELEASE, self->thread, object);
    case MR_LOG_SHARED_ACQUIRE:
        return mr_hb_sync(hb, MR_OP_SHARED_ACQUIRE, self->thread, object);
    case MR_LOG_SHARED_RELEASE:
        return mr_hb_sync(hb, MR_OP_SHARED_RELEASE, self->thread, object);
    case MR_LOG_POST:
        return count <= UNITS_MAX && post(self, count ? count : 1, object);
    case MR_LOG_WAIT:
        return count <= UNITS_MAX && take(self, count ? count : 1, object);
    default: /* BEFORE, AFTER */
        return role == MR_LOG_ROLE_NUMBER || role == MR_LOG_ROLE_CANCEL ||
               role == MR_LOG_ROLE_ENDED ||
               (role == MR_LOG_ROLE_CHANNEL && record[2] == MR_LOG_CHANNEL_TAKEN) ||
               meet(self, object, true,
                    kind == MR_LOG_AFTER        ? MR_OP_ATOMIC_READ
                    : role == MR_LOG_ROLE_READY ? MR_OP_ATOMIC_WRITE
                                                : MR_OP_ATOMIC_UPDATE);
    }
}

void mr_ordered_object(mr_ordered *self, const uint64_t *record, uint32_t object)
{
    if (self->given_up)
        return;
    self->given_up = object >= READS - 1 || !grow_objects(self->happens, object) ||
                     !(self->must ? synchronise_must(self, record, object)
                                  : synchronise(self, record, object)) ||
                     !renew(self);
}

void mr_ordered_release(mr_ordered *self, uint32_t life)
{
    mr_happens *happens = self->happens;
    if (self->given_up || self->is_guarded)
        return;
    void *released = happens->released;
    if (!mr_grow(&released, &happens->life_capacity, life + 1ull, sizeof *happens->released)) {
        self->given_up = true;
        return;
    }
    happens->released = released;
    while (happens->life_count <= life)
        happens->released[happens->life_count++] = (mr_time){.local = 0};
    const mr_hb_thread *thread = &happens->wcp.hb.threads[self->thread];
    mr_time_set(&happens->wcp.hb.pool, &happens->released[life],
                (mr_time){thread->clock, self->thread, thread->local});
}

/* ---- lines ---- */

/* Does an access of these bytes end inside of a cell of 4 bytes? */
static bool is_partial(uint64_t bits)
{
    return (bits & UINT64_C(0x1111111111111111)) * 0xf != bits;
}

/* Cells for a line, all empty. False: no memory. */
static bool add_cells(mr_happens *happens, uint32_t shift, size_t *first)
{
    void *all = happens->cells;
    size_t count = LINE_BYTES >> shift;
    if (!mr_grow(&all, &happens->cell_capacity, happens->cell_count + count,
                 sizeof *happens->cells))
        return false;
    happens->cells = all;
    *first = happens->cell_count;
    memset(happens->cells + *first, 0, count * sizeof *happens->cells);
    happens->cell_count += count;
    return true;
}

static uint64_t bits_of_cell(uint32_t shift, unsigned number)
{
    return (shift ? 0xfull : 1ull) << (number << shift);
}

uint32_t mr_ordered_cells(mr_ordered *self, mr_ordered_past reads, mr_ordered_past writes,
                          uint32_t guarded)
{
    mr_happens *happens = self->happens;
    line_cells line = {.shift = is_partial(reads.bits) || is_partial(writes.bits) ? 0 : 2};
    if (self->given_up)
        return 0;
    void *all = happens->lines;
    if (happens->line_count >= UINT32_MAX - 1 ||
        !mr_grow(&all, &happens->line_capacity, happens->line_count + 1, sizeof *happens->lines) ||
        (happens->lines = all, !add_cells(happens, line.shift, &line.first))) {
        self->given_up = true;
        return 0;
    }
    for (unsigned i = 0; i < (unsigned)LINE_BYTES >> line.shift; i++) {
        uint64_t bits = bits_of_cell(line.shift, i);
        happens->cells[line.first + i] = (cell_state){(writes.bits & bits) ? writes.segment : 0,
                                                      (reads.bits & bits) ? reads.segment : 0,
                                                      !guarded || !(reads.bits & bits) ? 0
                                                      : (writes.bits & bits) ? guarded | WROTE
                                                                             : guarded};
    }
    happens->lines[happens->line_count++] = line;
    return (uint32_t)happens->line_count;
}

/* Takes the list of reads back. */
static void drop_reads(mr_happens *happens, uint32_t *read)
{
    if (*read & READS) {
        uint32_t first = (*read & ~READS) + 1, last = first;
        while (happens->reads[last - 1].next)
            last = happens->reads[last - 1].next;
        happens->reads[last - 1].next = happens->free_read;
        happens->free_read = first;
    }
    *read = 0;
}

/* Do all reads of the cell come before? */
static bool all_before(const mr_happens *happens, const mr_clock *clock, uint32_t thread,
                       uint32_t read)
{
    if (!(read & READS))
        return !read || knows(happens, clock, thread, read);
    for (uint32_t at = (read & ~READS) + 1; at; at = happens->reads[at - 1].next)
        if (!knows(happens, clock, thread, happens->reads[at - 1].segment))
            return false;
    return true;
}

/* Puts a read before the others of the list; `*list`: number plus 1. False: no memory. */
static bool push_read(mr_happens *happens, uint32_t segment, uint32_t *list)
{
    uint32_t at = happens->free_read;
    if (at) {
        happens->free_read = happens->reads[at - 1].next;
    } else {
        void *reads = happens->reads;
        if (happens->read_count >= READS - 1 ||
            !mr_grow(&reads, &happens->read_capacity, happens->read_count + 1,
                     sizeof *happens->reads))
            return false;
        happens->reads = reads;
        at = (uint32_t)++happens->read_count;
    }
    happens->reads[at - 1] = (cell_read){segment, *list};
    *list = at;
    return true;
}

/* Notes that the cell is read now, in place of a read that is before. False: no memory. */
static bool add_read(mr_ordered *self, uint32_t *read)
{
    mr_happens *happens = self->happens;
    const mr_clock *clock = clock_of(self);
    uint32_t list = 0;
    if (!(*read & READS)) {
        if (!*read || knows(happens, clock, self->thread, *read)) {
            *read = self->now;
            return true;
        }
        if (!push_read(happens, *read, &list))
            return false;
    } else {
        list = (*read & ~READS) + 1;
        for (uint32_t at = list; at; at = happens->reads[at - 1].next)
            if (knows(happens, clock, self->thread, happens->reads[at - 1].segment)) {
                happens->reads[at - 1].segment = self->now;
                return true;
            }
    }
    bool done = push_read(happens, self->now, &list);
    *read = (list - 1) | READS;
    return done;
}

/* The line gets cells of one byte. False: no memory. */
static bool divide(mr_happens *happens, line_cells *line)
{
    size_t first;
    if (!add_cells(happens, 0, &first))
        return false;
    for (unsigned i = 0; i < LINE_BYTES; i++) {
        const cell_state *from = &happens->cells[line->first + i / 4];
        cell_state *to = &happens->cells[first + i];
        *to = *from;
        if (!(from->read & READS) || i % 4 == 0)
            continue;
        uint32_t list = 0;
        for (uint32_t at = (from->read & ~READS) + 1; at; at = happens->reads[at - 1].next)
            if (!push_read(happens, happens->reads[at - 1].segment, &list))
                return false;
        to->read = (list - 1) | READS;
    }
    line->first = first;
    line->shift = 0;
    return true;
}

static uint64_t bits_of(const atomic_variable *variable)
{
    return ((1ull << variable->bytes) - 1) << variable->at;
}

/* A write of these bytes ends the edges of all atomic variables that share bytes with it, but for `own` (a
 * number plus 1; 0: none). */
static void end_edges(mr_happens *happens, const line_cells *line, uint64_t bits, uint32_t own)
{
    for (uint32_t at = line->atomic; at; at = happens->variables[at - 1].next)
        if (at != own && bits_of(&happens->variables[at - 1]) & bits)
            mr_edges_plain_write(&happens->edges, &happens->wcp, (at - 1) << 1);
}

/* When all accesses that the cell keeps and that conflict with this one are before it, notes it. False: one
 * is not. */
static bool note(mr_ordered *self, cell_state *cell, bool writes)
{
    mr_happens *happens = self->happens;
    const mr_clock *clock = clock_of(self);
    uint32_t now = self->now, thread = self->thread;
    if ((cell->write && cell->write != now && !knows(happens, clock, thread, cell->write)) ||
        (writes && !all_before(happens, clock, thread, cell->read)))
        return false;
    if (!writes) {
        self->given_up = !add_read(self, &cell->read);
        return true;
    }
    cell->write = now;
    drop_reads(happens, &cell->read);
    return true;
}

/* Notes an access in a section. False: there are such accesses by several threads, and one writes. */
static bool note_guard(const mr_ordered *self, cell_state *cell, bool writes)
{
    uint32_t own = self->thread + 1, user = cell->guard & ~WROTE;
    cell->guard =
        (user && user != own ? SEVERAL : own) | (cell->guard & WROTE) | (writes ? WROTE : 0);
    return cell->guard != (SEVERAL | WROTE);
}

uint64_t mr_ordered_access(mr_ordered *self, uint32_t number, uint64_t bits, bool writes)
{
    mr_happens *happens = self->happens;
    if (self->given_up)
        return 0;
    line_cells *line = &happens->lines[number - 1];
    if (line->shift && is_partial(bits) && !divide(happens, line)) {
        self->given_up = true;
        return 0;
    }
    if (writes && line->kept & bits)
        end_edges(happens, line, bits, 0);
    uint32_t now = self->now;
    for (uint64_t left = bits & ~line->unordered; left && !self->given_up;) {
        unsigned i = (unsigned)__builtin_ctzll(left) >> line->shift;
        cell_state *cell = &happens->cells[line->first + i];
        uint64_t own = bits_of_cell(line->shift, i);
        left &= ~own;
        bool again =
            writes ? cell->write == now && (!cell->read || cell->read == now) : cell->read == now;
        bool is_ordered = again || note(self, cell, writes);
        if (!is_ordered || (self->is_guarded && !note_guard(self, cell, writes))) {
            line->unordered |= own;
            drop_reads(happens, &cell->read);
        }
    }
    return (line->unordered | line->kept) & bits;
}

/* Notes an access of kept bytes, as a read: only mr_ordered_released asks for it. False: no memory. */
static bool touch(mr_ordered *self, line_cells *line, uint64_t bits)
{
    for (unsigned i = 0; i < (unsigned)LINE_BYTES >> line->shift; i++)
        if (bits_of_cell(line->shift, i) & bits & ~line->unordered &&
            !add_read(self, &self->happens->cells[line->first + i].read))
            return false;
    return true;
}

/* The atomic variable of exactly these bytes, plus 1; 0: none. */
static uint32_t variable_of(const mr_happens *happens, const line_cells *line, uint64_t bits)
{
    uint32_t at = line->atomic;
    while (at && bits_of(&happens->variables[at - 1]) != bits)
        at = happens->variables[at - 1].next;
    return at;
}

/* The same; a new one when there is none. 0: no memory. */
static uint32_t make_variable(mr_happens *happens, line_cells *line, uint64_t bits)
{
    uint32_t found = variable_of(happens, line, bits);
    if (found)
        return found;
    void *variables = happens->variables;
    if (happens->variable_count >= READS - 1 ||
        !mr_grow(&variables, &happens->variable_capacity, happens->variable_count + 1,
                 sizeof *happens->variables))
        return 0;
    happens->variables = variables;
    happens->variables[happens->variable_count++] =
        (atomic_variable){.next = line->atomic,
                          .at = (uint8_t)__builtin_ctzll(bits),
                          .bytes = (uint8_t)__builtin_popcountll(bits)};
    line->atomic = (uint32_t)happens->variable_count;
    return line->atomic;
}

void mr_ordered_atomic(mr_ordered *self, uint32_t number, uint64_t bits, bool reads, bool writes)
{
    mr_happens *happens = self->happens;
    if (self->given_up || self->must)
        return;
    line_cells *line = &happens->lines[number - 1];
    bool is_long = __builtin_popcountll(bits) > (int)sizeof(uint64_t);
    uint32_t variable = is_long  ? 0
                        : writes ? make_variable(happens, line, bits)
                                 : variable_of(happens, line, bits);
    if (writes)
        end_edges(happens, line, bits, variable);
    if (!variable) {
        self->given_up = writes && !is_long;
        return;
    }
    mr_op op = !writes ? MR_OP_ATOMIC_READ : reads ? MR_OP_ATOMIC_UPDATE : MR_OP_ATOMIC_WRITE;
    self->given_up = !meet(self, variable - 1, false, op) || !renew(self);
}

uint64_t mr_ordered_keep(mr_ordered *self, uint32_t number, uint64_t bits)
{
    if (self->given_up || !number)
        return 0;
    mr_happens *happens = self->happens;
    line_cells *line = &happens->lines[number - 1];
    uint64_t added = bits & ~(line->kept | line->unordered);
    line->kept |= bits;
    self->given_up =
        (line->shift && is_partial(bits) && !divide(happens, line)) || !touch(self, line, bits);
    return added;
}

uint64_t mr_ordered_kept(const mr_ordered *self, uint32_t number)
{
    if (self->given_up)
        return ~0ull;
    if (!number)
        return 0;
    const line_cells *line = &self->happens->lines[number - 1];
    return line->unordered | line->kept;
}

bool mr_ordered_released(const mr_ordered *self, uint32_t life, uint32_t number, uint32_t segment)
{
    const mr_happens *happens = self->happens;
    if (self->given_up || life >= happens->life_count || !happens->released[life].local)
        return false;
    const mr_time *end = &happens->released[life];
    if (!number)
        return segment && knows(happens, end->clock, end->thread, segment);
    const line_cells *line = &happens->lines[number - 1];
    bool all = !line->unordered;
    for (unsigned i = 0; i < (unsigned)LINE_BYTES >> line->shift && all; i++) {
        const cell_state *cell = &happens->cells[line->first + i];
        all = (!cell->write || knows(happens, end->clock, end->thread, cell->write)) &&
              all_before(happens, end->clock, end->thread, cell->read);
    }
    return all;
}
