/*
 * pieces: the variables of a recorded program. Programs access memory in sizes that overlap; a
 * variable is a piece of memory such that every access is a union of pieces, and the pieces are the
 * largest such ones:
 *
 *   boundaries = beginnings and ends of all accesses of the life, and of what calls reach of it;
 * pieces = what lies between two neighbouring boundaries and is accessed or reached.
 *
 * A race on one of the pieces is a race of the two accesses, and the other way round: accesses that
 * overlap have a piece in common.
 *
 *   mr_pieces_note(every access)* → mr_pieces_make → mr_pieces_at*
 *
 * What is left out. A piece that only one thread accesses, or that nobody writes, conflicts with
 * nothing, and its reads see the same in every reordering: the last write is by the same thread, or
 * there is none. So its events change no verdict, in no model. `keep` says which pieces count:
 * those that several threads access, one of them in writing, and those that an unrecorded call can
 * reach. Threads are told apart by lines of 64 bytes, so a piece may be kept that need not be,
 * where threads use different parts of a line.
 *
 * Addresses count from the origin of their life (lifetimes.h). Memory: 56 bytes for each line of 64
 * bytes that is accessed, 24 for each piece.
 */
#ifndef MR_RECORD_PIECES_H
#define MR_RECORD_PIECES_H

#include "lifetimes.h"
#include "pairs.h"

enum { MR_PIECE_LINE_BYTES = 64, MR_PIECES_NEAR = 4096 };

/* What is known of 64 bytes; bit i is byte i. */
typedef struct mr_piece_line {
    uint64_t bounds; /* a piece begins here, or one ends before it */
    uint64_t shared; /* accessed by another thread than the first one of the line */
    uint64_t accessed, written;
    uint64_t reached; /* by an unrecorded call */
    uint64_t split;   /* by an atomic access of several pieces */
    uint32_t owner;   /* the first thread, plus 1; 0: none so far */
    uint32_t first;   /* number of the first piece that begins here */
} mr_piece_line;

typedef struct mr_piece {
    int64_t last;      /* what was written last, by `has_last`; for the caller */
    uint32_t variable; /* number of the variable in the trace, plus 1; 0: none so far; likewise */
    bool seen, keep;   /* by mr_pieces_at */
    bool reached;      /* a call may write it */
    bool has_last;
} mr_piece;

typedef struct mr_pieces {
    mr_pairs table; /* (life, line) → number of the line */
    mr_piece_line *lines;
    size_t line_capacity;
    uint32_t near[MR_PIECES_NEAR]; /* line found last, by address */
    mr_piece *pieces;
    uint32_t piece_count;
    mr_pairs atomics; /* (life, offset and size) of the atomic accesses */
    bool all_reached; /* some call can reach anything */
    bool keep_all;    /* for the caller: leave nothing out */
} mr_pieces;

typedef struct mr_extent {
    const mr_life *life;
    uint64_t address, bytes;
} mr_extent;

/* Zero-initialise. */
void mr_pieces_free(mr_pieces *pieces);

/* Each false: no memory. */
bool mr_pieces_note(mr_pieces *pieces, mr_extent access, uint32_t thread, bool writes, bool atomic);
bool mr_pieces_note_reached(mr_pieces *pieces, mr_extent reach);
bool mr_pieces_make(mr_pieces *pieces);

/* The first piece of an access that was noted; sets `*bytes` to its size. */
mr_piece *mr_pieces_at(mr_pieces *pieces, mr_extent access, uint64_t *bytes);

/* Must atomic accesses that touch these bytes exclude each other? Only where some atomic access has
 * several pieces. */
bool mr_pieces_is_split(mr_pieces *pieces, mr_extent access);

/* The first piece in an extent that was noted as reached, its address and size; NULL: there is
 * none. To go on, the extent is to begin behind it. */
mr_piece *mr_pieces_next_in(mr_pieces *pieces, mr_extent reach, uint64_t *address, uint64_t *bytes);

#endif
