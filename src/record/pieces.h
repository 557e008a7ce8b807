/*
 * pieces: the variables of a recorded program. The accesses of a program may overlap and have
 * different sizes. A piece is a stretch of memory, and the pieces are the largest stretches of
 * which every access is a union. Each piece becomes a variable of the trace:
 *
 *   boundaries = beginnings and ends of all accesses in the life, and of all extents reached
 *   pieces     = stretches between two neighbouring boundaries that are accessed or reached
 *
 * Two accesses race exactly when they race on a piece: accesses that overlap share a piece.
 *
 *   (mr_pieces_part | mr_pieces_note(every access))* → mr_pieces_make → mr_pieces_at*
 *
 * What is left out. When only one thread accesses a piece, or no thread writes it, its accesses
 * have no conflict, and each read sees the same value in every reordering: the last write is by the
 * same thread, or there is none. So the events of this piece change no verdict in any model. The
 * same holds when each write is `alone`: all other threads were started after it, or have ended and
 * are joined. Then fork and join order the write with every access of another thread. The other
 * pieces are kept: several threads access the piece and one writes it, or a BarrierPair can reach it.
 * A line belongs to the first thread that accesses it, and goes over to another one where fork and
 * join order all accesses so far with the next: the next is `alone`, or those so far were.
 * A release of memory writes the memory. Threads are counted per line of 64 bytes. So a piece may be
 * kept without need when threads use different parts of its line.
 *
 * A life begins before its accesses and its release (docs/semantics.md 2, rule 7), whoever does
 * them. Program order says so for the thread that got the memory. Each other thread is a guest. Of a
 * guest the first access is kept, and then all that it does later comes after the alloc, too. When a
 * guest releases the life without an access, the life is kept without a piece. Fork and join say it
 * when one of the two was alone.
 *
 * A piece is sparse when it is kept for the release or for the first access of a guest alone. Not
 * each of its accesses has an event (sparse.h). With BarrierPairs, whose events keep their order, no
 * piece is sparse.
 *
 * What every reordering keeps in order, or for `run --quick` what happens-before orders, is left out, too
 * (ordered.h).
 *
 * Offsets count from the origin of the life (lifetimes.h). Memory: 96 bytes for each line of 64
 * bytes that is accessed, 64 for each piece that is kept, 32 to 40 for each life and thread that
 * accesses it and did not get it.
 *
 * Most accesses are near recent ones. A cache finds the line of an address without its life: each
 * of its places stands for 32 bytes of memory, with the line that was found there last. The caller
 * says by mr_pieces_forget where lives begin and end.
 *
 * In a run of plain accesses (log_reader.h) most repeat an earlier one: the same bytes are read, or written,
 * again. Nothing that is noted changes by that, so a small table knows the last ones of the run.
 *
 * Most accesses in later passes are of no kept piece. One bit for each 16 bytes of memory says so, without
 * the line (mr_pieces_may_keep). Places far apart may have the same bit.
 *
 * The log is noted in parts of equal length, at most MR_PIECES_PARTS. Each line knows in which parts
 * it is accessed. So a second pass may hurry through the parts that access no kept piece. Runs without such
 * an access are found more exactly by visits.h, except where it or gaps.h has given up, or has no mark.
 */
#ifndef MR_RECORD_PIECES_H
#define MR_RECORD_PIECES_H

#include "base/assert.h"
#include "lifetimes.h"
#include "ordered.h"
#include "pairs.h"
#include "visits.h"

#include <string.h>

enum {
    MR_PIECE_LINE_BYTES = 64,
    MR_PIECES_NEAR = 1 << 18,
    MR_PIECES_NEAR_BYTES = 32,
    MR_PIECES_RECENT = 1 << 13,
    MR_PIECES_RUN_BITS = 11,
    MR_PIECES_PARTS = 32,
    MR_PIECES_GRANULE = 16,
    MR_PIECES_GRANULES = 1 << 19,
    MR_PIECES_LONG = 1 << 12,
};

#define MR_PIECES_SEVERAL  UINT32_MAX          /* threads release parts of the life */
#define MR_PIECES_IN_PARTS (UINT32_C(1) << 31) /* one thread releases it in parts */
#define MR_PIECES_RELEASES (~0ull >> 2) /* in place of an offset: no access, but the release */

/* A line: 64 bytes of memory. Bit i is about byte i. */
typedef struct mr_piece_line {
    uint64_t bounds; /* a piece begins here, or one ends before it */
    uint64_t accessed;
    union {
        uint64_t shared; /* accessed by another thread than `owner` */
        uint64_t kept;   /* after mr_pieces_make: part of a piece that is kept, sparse or not */
    };
    union {
        uint64_t written;
        uint64_t split; /* after mr_pieces_make: accessed by an atomic access of several pieces */
    };
    union {
        uint64_t alone; /* written while no other thread ran */
        uint64_t full;  /* after mr_pieces_make: kept, and not sparse */
    };
    uint64_t reached;     /* by a BarrierPair */
    uint64_t threads;     /* bit i: thread i has accessed the line; all: nobody asks */
    uint64_t start : 48;  /* address of its first byte */
    uint64_t bytes : 8;   /* of them belong to the life, from the first one on */
    uint64_t ends : 1;    /* the end of its last byte is noted as a boundary of the next line */
    uint64_t lonely : 1;  /* no other thread was there when the owner accessed it so far */
    uint64_t moved : 1;   /* it has had several owners */
    uint64_t guarded : 1; /* accessed in a critical section, not alone, while it had no cells */
    uint32_t parts;       /* bit i: accessed in part i of the log */
    union {
        uint32_t owner; /* the thread that the line belongs to, plus 1; 0: none yet */
        uint32_t first; /* after mr_pieces_make: the first kept piece that begins in the line */
    };
    uint32_t segment; /* of the last access (ordered.h); 0: not known */
    uint32_t wrote;   /* of the last write */
    uint32_t cells;   /* their number, plus 1; 0: none */
    mr_visit_list visits;
} mr_piece_line;

/* A piece that is kept. */
typedef struct mr_piece {
    int64_t last; /* for the caller: the value after the last access, when `has_last` */
    /* For the caller: number of the variable in the trace, plus 1; 0: none yet. */
    uint32_t variable;
    bool reached; /* a BarrierPair may write it */
    bool sparse;
    bool has_last;    /* for the caller */
    uint32_t version; /* for the caller: how often it was written */
    /* For the caller (settled.h): */
    uint32_t writer; /* the thread that writes it, plus 1; MR_SETTLED_SEVERAL; or 0 */
    uint32_t
        first_write; /* the version with the first write that counts, and with the last one, which is */
    uint32_t settled; /* settled then; or 0 */
    uint32_t pointed; /* the life to which the value of the last write points, or 0 */
    bool has_given;   /* its thread got that life */
    uint32_t guard; /* the lock under which it is written, plus 1; 0: none yet; MR_SETTLED_NOBODY */
    bool is_nested; /* so far, with another lock held, too */
    bool is_unique; /* the last value is its own */
    bool is_varied; /* accesses had different values so far */
    /* For the caller (beginning.h): */
    bool is_simple;
    uint8_t quiet;   /* for the caller: mr_quiet (ignored.h) */
    uint32_t shadow; /* number of the variable of its ignored reads, plus 1; 0: none yet */
    uint32_t begun;  /* writes in the beginning */
    uint64_t until;  /* where the beginning ends */
} mr_piece;

typedef struct mr_pieces {
    mr_pairs table; /* (life, line) → number of the line */
    mr_piece_line *lines;
    size_t line_capacity;
    uint32_t near[MR_PIECES_NEAR]; /* the cache: number of the line plus 1 */
    uint32_t last;                 /* number of the line that was asked for last */
    /* By hash: an access of the current run: its address, size and kind, and the run. */
    uint64_t recent[MR_PIECES_RECENT];
    uint64_t run;         /* number of the run, from 1 to 2^MR_PIECES_RUN_BITS - 1; 0: none yet */
    uint64_t part_units;  /* length of a part */
    uint32_t part;        /* the bit of the current part */
    uint32_t kept_parts;  /* after mr_pieces_make: the parts that access a kept piece */
    uint32_t plain_parts; /* at least the parts with plain accesses of bytes that ordered.h
                                      keeps */
    mr_visits visits;     /* gaps with such accesses, or of pieces that are kept */
    uint64_t keepers[MR_PIECES_GRANULES / 64]; /* after mr_pieces_make: see mr_pieces_may_keep */
    mr_piece *pieces;
    uint32_t piece_count;
    mr_pairs atomics;   /* (life, offset and size) of each atomic access */
    mr_pairs guests;    /* (life, thread) of threads that use a life that another one got */
    uint64_t *guest_at; /* by number of the guest: where its first access begins, times 4; plus 1:
                           alone; plus 2: ordered.h knows that it is after the alloc */
    size_t guest_capacity;
    bool has_calls;   /* set by the caller: there are BarrierPairs */
    bool all_reached; /* set by the caller: some BarrierPair can reach everything */
    /* By life: the thread that releases it, plus 1, maybe MR_PIECES_IN_PARTS; 0: none, or alone;
     * MR_PIECES_SEVERAL. */
    uint32_t *releasers;
    size_t life_count, life_capacity;
    bool *kept_lives; /* by life, after mr_pieces_make: has it pieces that are kept? */
    size_t kept_life_count;
    uint64_t foreign;    /* accesses by others than the owner, about, of lines that were written */
    bool none_alone;     /* see mr_pieces_distrust */
    bool keep_all;       /* set by the caller: leave nothing out */
    mr_ordered *ordered; /* set by the caller, on loan: leave out what is ordered; NULL: do not */
} mr_pieces;

typedef struct mr_piece_access {
    bool writes, alone, atomic, updates;
    bool is_kept;    /* whether ordered.h finds it in order or not */
    bool is_ignored; /* the same, for a read of ignored.h */
} mr_piece_access;

typedef struct mr_extent {
    const mr_life *life;
    uint64_t address, bytes;
} mr_extent;

/* Zero-initialise. */
void mr_pieces_free(mr_pieces *pieces);

/* Accesses from here on are in the part around the unit of the log. Returns the unit where the part
 * ends. Units do not decrease. */
uint64_t mr_pieces_part(mr_pieces *pieces, uint64_t unit);

/* Is the part around the unit without an access of a kept piece? With ordered.h: without one in a short
 * record. `*end` is where it ends. */
bool mr_pieces_skips_part(const mr_pieces *pieces, uint64_t unit, uint64_t *end);

/* May the part around the unit, or a later one, have such an access? */
static inline bool mr_pieces_reads_on(const mr_pieces *pieces, uint64_t unit)
{
    uint64_t number = unit / pieces->part_units;
    return number >= MR_PIECES_PARTS || pieces->kept_parts >> number;
}

/* Notes an access, or an extent that a BarrierPair reaches. When all are noted, mr_pieces_make
 * makes the pieces. Each returns false when there is no memory. */
bool mr_pieces_note(mr_pieces *pieces, mr_extent access, uint32_t thread, mr_piece_access how);
bool mr_pieces_note_reached(mr_pieces *pieces, mr_extent reach);
/* The thread uses the life. When it did not get it, it is a guest: at the offset is its first
 * access, or MR_PIECES_RELEASES. `alone`: no other thread was there. */
bool mr_pieces_note_guest(mr_pieces *pieces, const mr_life *life, uint64_t offset, uint32_t thread,
                          bool alone);
/* The thread releases the life, or a part of it, while others are there. */
bool mr_pieces_note_release(mr_pieces *pieces, uint32_t life, uint32_t thread);
/* A piece begins at the address, whatever is accessed. */
bool mr_pieces_note_bound(mr_pieces *pieces, const mr_life *life, uint64_t address);
/* An access that was noted: its pieces are kept, whoever uses them. */
void mr_pieces_keep(mr_pieces *pieces, mr_extent access);
/* A thread ran that no recorded thread started: it may have been there all the time. No access is
 * `alone` from here on. */
void mr_pieces_distrust(mr_pieces *pieces);
bool mr_pieces_make(mr_pieces *pieces);
/* Numbers the kept pieces anew: some are kept no longer. */
bool mr_pieces_number(mr_pieces *pieces);
/* Does a thread release the life in parts? */
bool mr_pieces_in_parts(const mr_pieces *pieces, uint64_t life);

/* Puts the line of an address into the cache, when there is one. */
void mr_pieces_approach(mr_pieces *pieces, mr_lifetimes *lives, const mr_life *life,
                        uint64_t address);

/* Lives have begun or ended in [start, start + bytes). */
void mr_pieces_forget(mr_pieces *pieces, uint64_t start, uint64_t bytes);

/* Is some piece of the extent kept? `*full`: one that is not sparse. */
bool mr_pieces_keeps(mr_pieces *pieces, mr_extent extent, bool *full);

/* Is it the first time that the guest is asked for? When the pieces are made. */
bool mr_pieces_meets_guest(mr_pieces *pieces, uint32_t life, uint32_t thread);

/* The thread that releases the life, or parts of it, while others are there, plus 1; 0: none; MR_PIECES_SEVERAL. */
uint32_t mr_pieces_releaser(const mr_pieces *pieces, uint32_t life);

/* May another thread release the life, while others are there? */
bool mr_pieces_is_released(const mr_pieces *pieces, uint32_t life, uint32_t thread);

/* Must the trace show that the thread uses the life: may another thread release it, or is the thread a
 * guest that has not been asked for? When the pieces are made. */
bool mr_pieces_needs_life(const mr_pieces *pieces, uint32_t life, uint32_t thread);

/* The first piece of an access that was noted; `*bytes` is its size. NULL: it is not kept. */
mr_piece *mr_pieces_at(mr_pieces *pieces, mr_extent access, uint64_t *bytes);

/* May the life have pieces that are kept? When they are made. */
bool mr_pieces_keeps_of(const mr_pieces *pieces, uint32_t life);

/* Must atomic accesses that touch these bytes exclude each other? They must where an atomic access
 * has several pieces. */
bool mr_pieces_is_split(mr_pieces *pieces, mr_extent access);

/* The first piece that begins in an extent that was noted as reached, with its address and size.
 * NULL: there is none. For the next piece, the caller asks for the rest of the extent behind this
 * one. */
mr_piece *mr_pieces_next_in(mr_pieces *pieces, mr_extent reach, uint64_t *address, uint64_t *bytes);

/* The place of the cache for an address. Stacks of threads are often 8 MB apart, so higher bits count, too. */
static inline uint32_t *mr_pieces_near(mr_pieces *pieces, uint64_t address)
{
    uint64_t place = address / MR_PIECES_NEAR_BYTES;
    return &pieces->near[(place ^ place / MR_PIECES_NEAR * 0x2545) % MR_PIECES_NEAR];
}

/* The bit of `keepers` for an address. */
static inline uint64_t mr_pieces_granule(uint64_t address)
{
    uint64_t place = address / MR_PIECES_GRANULE;
    return (place ^ place / MR_PIECES_GRANULES * 0x2545) % MR_PIECES_GRANULES;
}

/* May an access of at most 16 bytes at the address be one of a kept piece? Most are not, and a bit tells. */
static inline bool mr_pieces_may_keep(const mr_pieces *pieces, uint64_t address)
{
    uint64_t bit = mr_pieces_granule(address);
    return pieces->keepers[bit / 64] >> bit % 64 & 1;
}

/* The same of an access of any size. Of a long one the line is asked for at once. */
static inline bool mr_pieces_may_keep_any(const mr_pieces *pieces, uint64_t address, uint64_t bytes)
{
    bool may = bytes > MR_PIECES_LONG;
    for (uint64_t at = 0; at < bytes && !may; at += MR_PIECES_GRANULE)
        may = mr_pieces_may_keep(pieces, address + at);
    return may;
}

/* The line that holds an access of at most 16 bytes, when the cache has it, with its bits. */
static inline mr_piece_line *mr_pieces_near_line(mr_pieces *pieces, uint64_t address,
                                                 unsigned bytes, uint64_t *bits)
{
    uint32_t number = *mr_pieces_near(pieces, address);
    if (!number)
        return NULL;
    MR_ASSERT(pieces->lines);
    mr_piece_line *line = &pieces->lines[number - 1];
    uint64_t at = address - line->start;
    if (at >= MR_PIECE_LINE_BYTES || at + bytes > line->bytes)
        return NULL;
    *bits = ((1ull << bytes) - 1) << at;
    return line;
}

/* The piece that is all of an access which was noted, when the cache has its line and the piece is kept
 * and not sparse. NULL: that is not so, or not known. */
static inline mr_piece *mr_pieces_whole_near(mr_pieces *pieces, uint64_t address, unsigned bytes)
{
    uint64_t bits;
    const mr_piece_line *line = mr_pieces_near_line(pieces, address, bytes, &bits);
    uint64_t first = line ? bits & -bits : 0;
    if (!line || (line->bounds & bits) != first || !(line->full & first))
        return NULL;
    uint64_t before = line->bounds & line->kept & (first - 1);
    mr_piece *piece = &pieces->pieces[line->first + (unsigned)__builtin_popcountll(before)];
    piece->reached = line->reached & first || pieces->all_reached;
    piece->sparse = false;
    return piece;
}

/* Has the thread accessed the line before? Only the first 63 threads and the owner can know. */
static inline bool mr_pieces_knows(const mr_piece_line *line, uint32_t thread)
{
    return line->owner == thread + 1 || line->threads == ~0ull ||
           (thread < 63 && line->threads >> thread & 1);
}

/* Another thread than the owner accesses the line, or the owner while others come or go. */
void mr_pieces_share(mr_piece_line *line, uint32_t thread, bool alone, uint64_t bits);

/* The line is accessed in the current part and gap. */
static inline void mr_pieces_visit(mr_pieces *pieces, mr_piece_line *line)
{
    line->parts |= pieces->part;
    mr_visits_note(&pieces->visits, &line->visits);
}

/* A plain access of bytes that ordered.h keeps, in the line; `before`: what it kept of the line before. */
static inline void mr_pieces_mark(mr_pieces *pieces, const mr_piece_line *line, uint64_t before)
{
    pieces->plain_parts |= line->parts | pieces->part;
    if (mr_ordered_kept(pieces->ordered, line->cells) == before)
        mr_visits_mark(&pieces->visits);
    else
        mr_visits_mark_all(&pieces->visits, &line->visits);
}

/* Notes the access in the cells. False: the line may need some. */
static inline bool mr_pieces_order_near(mr_pieces *pieces, mr_piece_line *line, uint32_t thread,
                                        mr_piece_access how, uint64_t bits)
{
    mr_ordered *ordered = pieces->ordered;
    if (ordered->given_up)
        return true;
    if (line->cells) {
        uint64_t before = mr_ordered_kept(ordered, line->cells);
        if (mr_ordered_access(ordered, line->cells, bits, how.writes))
            mr_pieces_mark(pieces, line, before);
    } else if (line->owner != thread + 1 || line->lonely != how.alone)
        return false;
    line->segment = ordered->now;
    line->wrote = how.writes ? ordered->now : line->wrote;
    line->guarded |= ordered->is_guarded && !how.alone;
    return true;
}

/* A run of accesses begins. One thread makes them, in one part of the log, and nothing else is noted while
 * it lasts. */
static inline void mr_pieces_begin_run(mr_pieces *pieces)
{
    pieces->run++;
    if (pieces->run >> MR_PIECES_RUN_BITS) {
        memset(pieces->recent, 0, sizeof pieces->recent);
        pieces->run = 1;
    }
}

/* What `recent` says of a plain access of at most 16 bytes in this run. An address has 48 bits. */
static inline uint64_t mr_pieces_key(const mr_pieces *pieces, uint64_t address, unsigned bytes,
                                     bool writes)
{
    uint64_t what = address << 5 | (bytes - 1) << 1 | writes;
    return what << MR_PIECES_RUN_BITS | pieces->run;
}

static inline uint64_t *mr_pieces_recent(mr_pieces *pieces, uint64_t address, bool writes)
{
    uint64_t mixed = address ^ address / MR_PIECES_RECENT ^ (writes ? MR_PIECES_RECENT / 2 : 0);
    return &pieces->recent[mixed % MR_PIECES_RECENT];
}

/* Was the same noted in this run? */
static inline bool mr_pieces_repeats(mr_pieces *pieces, uint64_t address, unsigned bytes,
                                     bool writes)
{
    return *mr_pieces_recent(pieces, address, writes) ==
           mr_pieces_key(pieces, address, bytes, writes);
}

/* As mr_pieces_note, for a plain access of at most 16 bytes near recent ones. False: it is not near
 * one, or the first one of its thread in the line, and nothing is noted. */
__attribute__((always_inline)) static inline bool
mr_pieces_note_near(mr_pieces *pieces, uint64_t address, unsigned bytes, uint32_t thread,
                    mr_piece_access how)
{
    uint64_t bits;
    mr_piece_line *line = mr_pieces_near_line(pieces, address, bytes, &bits);
    if (!line || !mr_pieces_knows(line, thread) || bits >> (MR_PIECE_LINE_BYTES - 1) > line->ends)
        return false;
    if (pieces->ordered && !mr_pieces_order_near(pieces, line, thread, how, bits))
        return false;
    line->bounds |= (bits & -bits) | (bits + (bits & -bits));
    if (line->owner != thread + 1 || line->lonely != how.alone) {
        pieces->foreign += line->written != 0;
        mr_pieces_share(line, thread, how.alone, bits);
    }
    line->accessed |= bits;
    line->written |= how.writes && !how.alone ? bits : 0;
    line->alone |= how.writes && how.alone ? bits : 0;
    mr_pieces_visit(pieces, line);
    /* `foreign` counts repeated accesses, too. In a trace for the order shb nobody asks for it, unless
     * ordered.h has given up; it is too low then. */
    if (line->owner == thread + 1 || (pieces->ordered && !pieces->ordered->must))
        *mr_pieces_recent(pieces, address, how.writes) =
            mr_pieces_key(pieces, address, bytes, how.writes);
    return true;
}

/* What the cache knows of an access: nothing, or which pieces it has. */
typedef enum mr_piece_near { MR_NEAR_UNKNOWN, MR_NEAR_LEFT_OUT, MR_NEAR_SPARSE } mr_piece_near;

/* Is the access in a line that the cache has, and in no kept piece, or in sparse ones only? */
static inline mr_piece_near mr_pieces_of_near(mr_pieces *pieces, uint64_t address, unsigned bytes,
                                              uint32_t *life)
{
    uint64_t bits;
    const mr_piece_line *line = mr_pieces_near_line(pieces, address, bytes, &bits);
    if (!line || line->full & bits)
        return MR_NEAR_UNKNOWN;
    if (!(line->kept & bits))
        return MR_NEAR_LEFT_OUT;
    *life = (uint32_t)pieces->table.items[line - pieces->lines].high;
    return MR_NEAR_SPARSE;
}

#endif
