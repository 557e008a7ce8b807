#include "twins.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/progress.h"
#include "beginning.h"
#include "pointers.h"
#include "settled.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS_A_TELL = 1 << 10 };

/* The pass does not pay when so many accesses are left out for each kept piece, and for each access of
 * shared memory. */
enum { ACCESSES_A_PIECE = 2000, ACCESSES_A_FOREIGN = 40 };

/* It does when the beginnings (beginning.h) have that part of the log. */
enum { UNITS_A_BEGINNING = 4 };

/* A piece that is kept, by its number. */
typedef struct history {
    uint64_t runs;      /* stands for the runs that access it */
    uint64_t signature; /* stands for their places */
    bool is_written;
    bool is_single; /* it is no twin */
    bool is_dropped;
    mr_settling settling;
    mr_beginnings begun;
} history;

/* The run of a thread. */
typedef struct run {
    uint64_t number, next; /* `next`: address of the piece that goes on with it */
    uint32_t life;
    bool writes, is_open;
} run;

typedef struct twins {
    mr_scan *scan;
    mr_pieces *pieces;
    mr_log_pass reader;
    history *histories;
    run *runs; /* by thread of the log */
    size_t run_count, run_capacity;
    uint64_t last_run;
    uint64_t part_end;
    bool skips_part;
    mr_jumper jumper;
    mr_presence presence;
    mr_beginning locks; /* those that the first thread holds now */
    uint32_t moment;    /* how often all other threads had been joined */
} twins;

static uint64_t mix(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * 0x9E3779B97F4A7C15u;
    sum ^= sum >> 32;
    sum *= 0xD6E8FEB86659FD93u;
    return sum ^ sum >> 29;
}

/* ---- the pass over the log ---- */

static bool fill(twins *self, uint32_t thread)
{
    void *runs = self->runs;
    if (!mr_grow(&runs, &self->run_capacity, thread + 1ull, sizeof *self->runs))
        return false;
    self->runs = runs;
    while (self->run_count <= thread)
        self->runs[self->run_count++] = (run){.is_open = false};
    return true;
}

static void end_run(twins *self)
{
    if (self->reader.thread < self->run_count)
        self->runs[self->reader.thread].is_open = false;
}

/* A plain access of a kept piece [address, end) of the life. */
static void note(twins *self, size_t piece, uint32_t life, uint64_t address, uint64_t end,
                 uint64_t code, bool writes)
{
    history *own = &self->histories[piece];
    run *now = &self->runs[self->reader.thread];
    if (!now->is_open || now->life != life || now->next != address || now->writes != writes)
        *now = (run){.number = ++self->last_run, .life = life, .writes = writes, .is_open = true};
    now->next = end;
    own->runs = mix(own->runs, now->number);
    own->signature = mix(own->signature, code);
    own->is_single = own->is_single || own->is_written == writes;
    own->is_written = own->is_written || writes;
}

/* The `bytes` bytes of a value from `offset` on. */
static mr_settling_value part_of(int64_t value, unsigned offset, uint64_t bytes)
{
    uint64_t part = (uint64_t)value >> 8 * offset;
    return (mr_settling_value){
        (int64_t)(bytes < sizeof part ? part & ((1ull << 8 * bytes) - 1) : part), true};
}

/* The piece at the address is accessed for the first time: who else does something to its life? */
static void meet_life(twins *self, mr_beginnings *begun, uint64_t address)
{
    const mr_beginning *beginning = &self->scan->beginning;
    const mr_life *life = mr_lifetimes_find(&self->reader.lives, address);
    uint32_t releaser = mr_pieces_releaser(self->pieces, life->number);
    bool is_own = !life->number || life->thread == beginning->first;
    if (!is_own || releaser == MR_PIECES_SEVERAL)
        begun->is_refused = true;
    else if (releaser && releaser != beginning->first + 1)
        mr_beginnings_meet(begun, mr_beginning_fork(beginning, releaser - 1), false);
}

/* May the access of the piece be one in the beginning? */
static bool may_begin(const twins *self, size_t piece)
{
    const mr_beginning *beginning = &self->scan->beginning;
    return self->reader.thread == beginning->first &&
           (!self->histories[piece].begun.is_over || mr_beginning_has(beginning, &self->reader));
}

/* Notes an access for what has no event in the beginning. `plain`: NULL unless it is, in memory that is alive. */
static void begin(twins *self, size_t piece, uint64_t address, mr_begun_access *plain)
{
    const mr_beginning *beginning = &self->scan->beginning;
    mr_beginnings *begun = &self->histories[piece].begun;
    if (self->reader.thread != beginning->first) {
        mr_beginnings_meet(begun, mr_beginning_fork(beginning, self->reader.thread), true);
        return;
    }
    if (!may_begin(self, piece))
        return;
    if (!begun->last)
        meet_life(self, begun, address);
    if (plain) {
        bool is_address = plain->bytes == sizeof plain->value.value && plain->value.is_known &&
                          mr_pointers_may_be_address((uint64_t)plain->value.value);
        const mr_life *life =
            mr_lifetimes_find(&self->reader.lives, is_address ? (uint64_t)plain->value.value : 0);
        plain->pointed = life;
        plain->is_held = mr_beginning_holds(&self->locks);
        plain->may_go =
            life->number && (life->thread != beginning->first ||
                             mr_pieces_is_released(self->pieces, life->number, beginning->first));
    }
    mr_beginnings_access(begun, beginning, &self->reader, plain);
}

/* Notes an access for what may be settled. */
static void settle(twins *self, size_t piece, bool writes, mr_settling_value value)
{
    mr_settling *settling = &self->histories[piece].settling;
    uint32_t thread = self->reader.thread;
    bool alone = mr_presence_is_alone(&self->presence) && !self->pieces->none_alone;
    if (writes)
        mr_settling_write(settling, thread, alone, self->moment, value);
    else
        mr_settling_read(settling, thread, value);
}

/* The bits from the lowest one of `bounds` behind `bit` on. */
static uint64_t from_next(uint64_t bounds, uint64_t bit)
{
    uint64_t later = bounds & ~(bit | (bit - 1));
    return later ? ~((later & -later) - 1) : 0;
}

/* Does the plain access of a piece read what may be a pointer (pointers.h)? */
static bool is_pointer(int64_t value, uint64_t bytes, bool writes)
{
    return !writes && bytes == sizeof value && mr_pointers_may_be_address((uint64_t)value);
}

/* A plain access in a line that the cache has, with its bits. */
static void note_near(twins *self, mr_piece_line *line, uint64_t bits,
                      const mr_log_run_access *found, int64_t value)
{
    uint64_t code = mr_log_payload(found->site->head);
    uint32_t life = (uint32_t)self->pieces->table.items[line - self->pieces->lines].high;
    for (uint64_t left = bits; left;) {
        uint64_t bit = left & -left, rest = left & from_next(line->bounds, bit);
        uint64_t address = line->start + (unsigned)__builtin_ctzll(bit);
        uint64_t end = address + (unsigned)__builtin_popcountll(left & ~rest);
        size_t piece =
            line->first + (unsigned)__builtin_popcountll(line->bounds & line->kept & (bit - 1));
        if (line->full & bit) {
            if (is_pointer(value, end - address, found->writes))
                self->histories[piece].is_single = true;
            note(self, piece, life, address, end, code, found->writes);
            mr_settling_value part =
                part_of(value, (unsigned)(address - found->address), end - address);
            settle(self, piece, found->writes, part);
            begin(
                self, piece, address,
                &(mr_begun_access){.bytes = end - address, .value = part, .writes = found->writes});
        } else if (line->kept & bit) {
            end_run(self);
        }
        left = rest;
    }
}

/* Does the range in a run touch no kept piece, as far as can be seen quickly? */
static bool is_left_out(const twins *self, const uint64_t *record)
{
    uint64_t bits;
    const mr_piece_line *line =
        mr_pieces_near_line(self->pieces, mr_log_payload(record[0]), (unsigned)record[2], &bits);
    return line && !(line->kept & bits);
}

/* Takes the long record that follows, when it is one that says nothing of pieces. */
static bool take_long(twins *self, mr_log_run *records)
{
    const uint64_t *record = mr_log_run_long(&self->reader, records);
    unsigned kind = record ? mr_log_kind_of(record[0]) : MR_LOG_NONE;
    bool is_access = kind == MR_LOG_READ || kind == MR_LOG_WRITE;
    if (!record || (is_access && !self->skips_part) ||
        (mr_log_is_range(kind) && !self->skips_part && !is_left_out(self, record)))
        return false;
    mr_log_run_take_long(records);
    return true;
}

/* Takes the records of the run that follows. */
static void hurry(twins *self)
{
    mr_log_run_access found;
    do {
        if (self->reader.next >= self->part_end)
            self->skips_part =
                mr_pieces_skips_part(self->pieces, self->reader.next, &self->part_end);
    } while (mr_jumper_pass(&self->jumper, &self->reader, self->skips_part));
    mr_jumper_settle(&self->jumper, &self->reader);
    uint64_t last = self->scan->last_unit;
    mr_log_run records =
        mr_log_run_begin(&self->reader, self->part_end < last ? self->part_end : last);
    for (;;) {
        uint64_t bits;
        if (!mr_log_run_look(&records, &found)) {
            if (!take_long(self, &records))
                break;
            continue;
        }
        if (!mr_pieces_may_keep(self->pieces, found.address)) {
            mr_log_run_take(&records, &found, true);
            continue;
        }
        mr_piece_line *line = mr_pieces_near_line(self->pieces, found.address, found.bytes, &bits);
        if (!self->skips_part && !line)
            break;
        mr_log_run_take(&records, &found, true);
        if (line && line->kept & bits)
            note_near(self, line, bits, &found,
                      records.model->values[mr_log_value_of(found.site->head, found.address)]);
    }
    mr_log_run_end(&self->reader, &records);
}

static bool is_write_of(unsigned kind)
{
    return kind == MR_LOG_WRITE || kind == MR_LOG_RANGE_WRITE || kind == MR_LOG_ATOMIC_WRITE ||
           kind == MR_LOG_ATOMIC_UPDATE;
}

/* The value of a part of a record's access. */
static mr_settling_value part_of_record(const uint64_t *record, uint64_t offset, uint64_t bytes)
{
    unsigned kind = mr_log_kind_of(record[0]);
    int64_t word = 0;
    if (mr_log_detail(record[0]) & MR_LOG_NO_VALUE || bytes > sizeof word)
        return (mr_settling_value){.value = 0};
    if (kind == MR_LOG_READ || kind == MR_LOG_WRITE)
        return part_of(mr_log_value(record), (unsigned)offset, bytes);
    if (!mr_log_is_range(kind))
        return (mr_settling_value){.value = 0};
    memcpy(&word, (const unsigned char *)(record + 3) + offset, (size_t)bytes);
    return part_of(word, 0, bytes);
}

/* The same of a plain access, with a value for more bytes, too. */
static mr_settling_value whole_part_of(const uint64_t *record, uint64_t offset, uint64_t bytes)
{
    bool is_long = bytes > sizeof(int64_t) && !(mr_log_detail(record[0]) & MR_LOG_NO_VALUE);
    return is_long ? (mr_settling_value){mr_values_of(record, offset, bytes).read, true}
                   : part_of_record(record, offset, bytes);
}

static void note_record(twins *self, const uint64_t *record, bool plain)
{
    uint64_t address = mr_log_payload(record[0]), end = address + mr_log_access_bytes(record), step;
    if (!mr_pieces_may_keep_any(self->pieces, address, end - address))
        return; /* most copies */
    const mr_life *life = mr_lifetimes_find(&self->reader.lives, address);
    unsigned kind = mr_log_kind_of(record[0]);
    bool writes = kind == MR_LOG_WRITE || kind == MR_LOG_RANGE_WRITE, full;
    mr_pieces_approach(self->pieces, &self->reader.lives, life, address);
    if (!mr_pieces_keeps(self->pieces, (mr_extent){life, address, end - address}, &full))
        return;
    for (uint64_t at = address; at < end; at += step) {
        const mr_piece *piece = mr_pieces_at(self->pieces, (mr_extent){life, at, end - at}, &step);
        if (!piece)
            continue;
        size_t number = (size_t)(piece - self->pieces->pieces);
        if (piece->sparse || life->dead)
            mr_settling_refuse(&self->histories[number].settling);
        else
            settle(self, number, is_write_of(kind), part_of_record(record, at - address, step));
        if (!plain || piece->sparse || life->dead) {
            end_run(self);
            self->histories[number].is_single = true;
            begin(self, number, at, NULL);
        } else {
            mr_settling_value value = {.is_known = false};
            if (may_begin(self, number))
                value = whole_part_of(record, at - address, step);
            begin(self, number, at,
                  &(mr_begun_access){.bytes = step, .value = value, .writes = writes});
            if (kind == MR_LOG_READ && is_pointer(mr_log_value(record), step, false))
                self->histories[number].is_single = true;
            note(self, number, life->number, at, at + step, mr_log_code(record[1]), writes);
        }
    }
}

/* The byte of an object that is used. */
static void note_use(twins *self, const uint64_t *record)
{
    uint64_t address = mr_log_payload(record[0]), step;
    mr_extent byte = {mr_lifetimes_find(&self->reader.lives, address), address, 1};
    bool full;
    if (!mr_pieces_keeps(self->pieces, byte, &full))
        return;
    const mr_piece *piece = mr_pieces_at(self->pieces, byte, &step);
    if (!piece)
        return;
    history *own = &self->histories[piece - self->pieces->pieces];
    own->is_single = true;
    begin(self, (size_t)(piece - self->pieces->pieces), address, NULL);
    mr_settling_refuse(&own->settling);
}

/* Does the record have no event? */
static bool is_silent(twins *self, const uint64_t *record)
{
    const mr_life *life;
    size_t ended = mr_deaths_of(&self->reader, record);
    bool keeps = false;
    switch (mr_log_kind_of(record[0])) {
    case MR_LOG_SWITCH:
    case MR_LOG_ENTER:
    case MR_LOG_LEAVE:
    case MR_LOG_ENTRY:
    case MR_LOG_MODULE:
    case MR_LOG_FORGOTTEN:
        return true;
    case MR_LOG_GIVEN:
        life = mr_lifetimes_find(&self->reader.lives, mr_log_payload(record[0]));
        return !mr_pieces_keeps_of(self->pieces, life->number);
    case MR_LOG_TAKEN:
        for (size_t i = 0; i < ended; i++)
            keeps =
                keeps || mr_pieces_keeps_of(self->pieces, self->reader.lives.ended[i].life.number);
        return ended && !keeps;
    default:
        return false;
    }
}

/* False: no memory. */
static bool take(twins *self, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if ((kind == MR_LOG_SWITCH || kind == MR_LOG_FORK || kind == MR_LOG_JOIN) &&
        !mr_presence_note(&self->presence, &self->reader, record))
        return false;
    if (kind >= MR_LOG_ACQUIRE && kind <= MR_LOG_SHARED_RELEASE &&
        !mr_beginning_note(&self->locks, &self->reader, record))
        return false;
    self->moment +=
        kind == MR_LOG_JOIN && mr_presence_is_alone(&self->presence) && !self->pieces->none_alone;
    if (kind == MR_LOG_GIVEN || kind == MR_LOG_TAKEN)
        mr_pieces_forget(self->pieces, mr_log_payload(record[0]), record[2]);
    if (mr_log_is_access(kind) || mr_log_is_range(kind)) {
        bool plain = kind < MR_LOG_ATOMIC_READ || mr_log_is_range(kind);
        note_record(self, record, plain && !mr_log_is_apart(record[0]));
    } else if (!is_silent(self, record)) {
        end_run(self);
        if (mr_use_is_access(record) || kind == MR_LOG_RETIRED ||
            (kind == MR_LOG_TAKEN && mr_log_count(record[1]) == MR_LOG_TAKEN_AGAIN))
            note_use(self, record);
    }
    return true;
}

static bool read_log(twins *self, const mr_log *log, const mr_progress *progress)
{
    bool ok = true;
    uint64_t count = 0, last = self->scan->last_unit;
    const uint64_t *record;
    mr_log_pass_init(&self->reader, log);
    while (ok && self->reader.next < last) {
        ok = fill(self, self->reader.thread);
        if (ok)
            hurry(self);
        if (!ok || !(record = mr_log_next(&self->reader)))
            break;
        ok = fill(self, self->reader.thread) && take(self, record);
        if (++count % RECORDS_A_TELL == 0)
            mr_progress_tell(progress, "comparing", self->reader.next, last);
    }
    ok = ok && !self->reader.failed;
    mr_log_pass_free(&self->reader);
    return ok;
}

/* ---- the rows of twins ---- */

/* A line with kept pieces. */
typedef struct place {
    uint64_t life, line;
    uint32_t number;
} place;

static int by_place(const void *one, const void *two)
{
    const place *a = one, *b = two;
    if (a->life != b->life)
        return a->life < b->life ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* The row of twins that is looked at, and the signatures in it. */
typedef struct row {
    uint64_t number, life, end; /* offset where the piece before ends */
    uint64_t runs;
    bool is_open;
    mr_pairs seen; /* (row, signature) */
} row;

/* Takes the next piece of the line; *drops: it is left out. False: no memory. */
static bool look_at(row *now, const history *own, uint64_t life, uint64_t offset, uint64_t end,
                    bool *drops)
{
    if (!now->is_open || now->life != life || now->end != offset || now->runs != own->runs)
        now->number++;
    *drops = false;
    now->is_open = !own->is_single;
    now->life = life;
    now->end = end;
    now->runs = own->runs;
    if (own->is_single)
        return true;
    uint32_t known = now->seen.count;
    uint32_t at = mr_pairs_add(&now->seen, (mr_pair){now->number, own->signature});
    *drops = at != known;
    return at != MR_PAIRS_NONE;
}

/* The bytes of the line that begin pieces which are left out, with those of the pieces. A piece that
 * goes on in the next line is kept. */
static bool drop_of_line(const twins *self, row *now, const place *at, uint64_t *dropped)
{
    const mr_piece_line *line = &self->pieces->lines[at->number];
    uint64_t offset = at->line * MR_PIECE_LINE_BYTES;
    size_t piece = line->first;
    *dropped = 0;
    for (uint64_t left = line->bounds & line->kept; left; left &= left - 1, piece++) {
        uint64_t bit = left & -left, after = from_next(line->bounds, bit);
        uint64_t bits = ~(bit - 1) & ~after;
        history own = self->histories[piece];
        bool drops;
        own.is_single = own.is_single || !(line->full & bit) || (!after && !line->ends);
        uint64_t begin = offset + (unsigned)__builtin_ctzll(bit);
        uint64_t end = begin + (unsigned)__builtin_popcountll(bits);
        if (!look_at(now, &own, at->life, begin, end, &drops))
            return false;
        self->histories[piece].is_dropped = drops;
        if (drops)
            *dropped |= bits;
    }
    return true;
}

/* Numbers the pieces that are left, and says of each what is settled. False: no memory. */
static bool number_anew(twins *self)
{
    mr_pieces *pieces = self->pieces;
    uint32_t known = pieces->piece_count, count = 0;
    if (!mr_pieces_number(pieces))
        return false;
    for (uint32_t i = 0; i < known; i++) {
        const mr_settling *settling = &self->histories[i].settling;
        if (self->histories[i].is_dropped)
            continue;
        MR_REQUIRE(count < pieces->piece_count);
        mr_piece *piece = &pieces->pieces[count++];
        bool has_writer = settling->writer && settling->writer != MR_SETTLED_NOBODY;
        uint32_t writer = settling->has_several ? MR_SETTLED_SEVERAL : settling->writer;
        piece->writer = has_writer ? writer : 0;
        piece->settled = has_writer ? settling->last : 0;
        piece->first_write = settling->first;
        piece->is_unique = settling->is_unique;
        piece->is_simple = mr_beginnings_settle(&self->histories[i].begun, &self->scan->beginning,
                                                &piece->until, &piece->begun);
    }
    MR_REQUIRE(count == pieces->piece_count);
    return true;
}

static bool leave_out(twins *self)
{
    mr_pieces *pieces = self->pieces;
    place *places = mr_calloc(pieces->table.count + 1ull, sizeof *places);
    size_t count = 0;
    row now = {.is_open = false};
    bool ok = places != NULL;
    for (uint32_t i = 0; ok && i < pieces->table.count; i++)
        if (pieces->lines[i].kept && !mr_pieces_in_parts(pieces, pieces->table.items[i].high))
            places[count++] = (place){pieces->table.items[i].high, pieces->table.items[i].low, i};
    if (ok)
        qsort(places, count, sizeof *places, by_place);
    for (size_t i = 0; ok && i < count; i++) {
        uint64_t dropped;
        ok = drop_of_line(self, &now, &places[i], &dropped);
        if (ok)
            places[i].line = dropped; /* taken out when all lines have been looked at */
    }
    for (size_t i = 0; ok && i < count; i++) {
        pieces->lines[places[i].number].kept &= ~places[i].line;
        pieces->lines[places[i].number].full &= ~places[i].line;
    }
    mr_pairs_free(&now.seen);
    free(places);
    return ok && number_anew(self);
}

/* Is much of the log before a fork? Accesses there are not foreign (pieces.h), though they are kept. */
static bool begins_late(const mr_scan *scan)
{
    uint64_t end = mr_beginning_end(&scan->beginning, (uint32_t)scan->beginning.fork_count);
    return end >= scan->last_unit / UNITS_A_BEGINNING;
}

mr_status mr_twins_leave_out(mr_scan *scan, const mr_log *log, const mr_progress *progress,
                             mr_error *error)
{
    mr_pieces *pieces = &scan->pieces;
    twins self = {.scan = scan,
                  .pieces = pieces,
                  .jumper = {.gaps = &scan->gaps, .visits = &pieces->visits},
                  .locks = {.first = scan->beginning.first, .has_first = true}};
    bool pays = pieces->piece_count >= scan->accesses / ACCESSES_A_PIECE ||
                pieces->foreign >= scan->accesses / ACCESSES_A_FOREIGN || begins_late(scan);
    if (scan->keep_all || pieces->has_calls || scan->benign.count || !pays)
        return MR_OK;
    self.histories = mr_calloc(pieces->piece_count + 1ull, sizeof *self.histories);
    bool ok = self.histories && read_log(&self, log, progress) && leave_out(&self);
    free(self.histories);
    free(self.runs);
    mr_presence_free(&self.presence);
    mr_beginning_free(&self.locks);
    return ok ? MR_OK : mr_error_memory(error, "reading the log");
}
