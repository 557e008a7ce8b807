#include "pieces.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>

void mr_pieces_free(mr_pieces *pieces)
{
    mr_pairs_free(&pieces->table);
    mr_pairs_free(&pieces->atomics);
    free(pieces->lines);
    free(pieces->pieces);
    free(pieces->releasers);
    free(pieces->lives);
    *pieces = (mr_pieces){0};
}

static uint64_t offset_of(mr_extent extent)
{
    MR_REQUIRE(extent.address >= extent.life->origin);
    return extent.address - extent.life->origin;
}

static mr_pair key_of(const mr_life *life, uint64_t offset)
{
    return (mr_pair){life->number, offset / MR_PIECE_LINE_BYTES};
}

/* The line, when the cache of recent look-ups has it. */
static mr_piece_line *near_line(const mr_pieces *pieces, mr_pair key)
{
    uint32_t number = pieces->near[key.low % MR_PIECES_NEAR];
    if (number >= pieces->table.count)
        return NULL;
    const mr_pair *kept = &pieces->table.items[number];
    return kept->high == key.high && kept->low == key.low ? &pieces->lines[number] : NULL;
}

/* The line of an offset, which is added when it is new. NULL: no memory. */
static mr_piece_line *make_line(mr_pieces *pieces, const mr_life *life, uint64_t offset)
{
    mr_piece_line *near = near_line(pieces, key_of(life, offset));
    if (near)
        return near;
    uint32_t known = pieces->table.count;
    uint32_t number = mr_pairs_add(&pieces->table, key_of(life, offset));
    if (number == MR_PAIRS_NONE)
        return NULL;
    if (number == known) {
        void *lines = pieces->lines;
        if (!mr_grow(&lines, &pieces->line_capacity, (size_t)number + 1, sizeof *pieces->lines))
            return NULL;
        pieces->lines = lines;
        pieces->lines[number] = (mr_piece_line){0};
    }
    pieces->near[key_of(life, offset).low % MR_PIECES_NEAR] = number;
    return &pieces->lines[number];
}

static mr_piece_line *find_line(mr_pieces *pieces, const mr_life *life, uint64_t offset)
{
    mr_pair key = key_of(life, offset);
    mr_piece_line *near = near_line(pieces, key);
    if (near)
        return near;
    uint32_t number = mr_pairs_find(&pieces->table, key);
    if (number == MR_PAIRS_NONE)
        return NULL;
    pieces->near[key.low % MR_PIECES_NEAR] = number;
    return &pieces->lines[number];
}

static uint64_t bit_of(uint64_t offset)
{
    return 1ull << offset % MR_PIECE_LINE_BYTES;
}

/* The bits of the bytes of [offset, end) that lie in the line of `offset`. */
static uint64_t bits_of(uint64_t offset, uint64_t end)
{
    uint64_t low = offset % MR_PIECE_LINE_BYTES, count = end - offset;
    MR_ASSERT(offset < end);
    if (count >= MR_PIECE_LINE_BYTES - low)
        return ~0ull << low;
    return ((1ull << count) - 1) << low;
}

static uint64_t next_line(uint64_t offset)
{
    return (offset / MR_PIECE_LINE_BYTES + 1) * MR_PIECE_LINE_BYTES;
}

static bool note_bound(mr_pieces *pieces, const mr_life *life, uint64_t offset)
{
    mr_piece_line *line = make_line(pieces, life, offset);
    if (!line)
        return false;
    line->bounds |= bit_of(offset);
    return true;
}

bool mr_pieces_note(mr_pieces *pieces, mr_extent access, uint32_t thread, mr_piece_access how)
{
    uint64_t offset = offset_of(access), end = offset + access.bytes;
    MR_REQUIRE(!pieces->pieces);
    MR_REQUIRE(!how.atomic || access.bytes <= 0xff);
    if (!access.bytes)
        return true;
    for (uint64_t at = offset; at < end; at = next_line(at)) {
        mr_piece_line *line = make_line(pieces, access.life, at);
        uint64_t bits = bits_of(at, end);
        if (!line)
            return false;
        if (at == offset)
            line->bounds |= bit_of(at);
        if (next_line(at) > end)
            line->bounds |= bit_of(end);
        if (!line->owner)
            line->owner = thread + 1;
        if (line->owner != thread + 1)
            line->shared |= bits;
        line->accessed |= bits;
        if (how.writes && how.alone)
            line->alone |= bits;
        else if (how.writes)
            line->written |= bits;
    }
    if (end % MR_PIECE_LINE_BYTES == 0 && !note_bound(pieces, access.life, end))
        return false;
    mr_pair kept = {access.life->number, offset << 8 | access.bytes};
    return !how.atomic || access.bytes == 1 ||
           mr_pairs_add(&pieces->atomics, kept) != MR_PAIRS_NONE;
}

bool mr_pieces_note_reached(mr_pieces *pieces, mr_extent reach)
{
    uint64_t offset = offset_of(reach), end = offset + reach.bytes;
    MR_REQUIRE(!pieces->pieces);
    for (uint64_t at = offset; at < end; at = next_line(at)) {
        mr_piece_line *line = make_line(pieces, reach.life, at);
        if (!line)
            return false;
        line->reached |= bits_of(at, end);
        line->accessed |= bits_of(at, end);
    }
    return !reach.bytes ||
           (note_bound(pieces, reach.life, offset) && note_bound(pieces, reach.life, end));
}

bool mr_pieces_note_release(mr_pieces *pieces, uint32_t life, uint32_t thread)
{
    void *releasers = pieces->releasers;
    if (!mr_grow(&releasers, &pieces->life_capacity, life + 1ull, sizeof *pieces->releasers))
        return false;
    pieces->releasers = releasers;
    while (pieces->life_count <= life)
        pieces->releasers[pieces->life_count++] = 0;
    uint32_t *own = &pieces->releasers[life];
    *own = *own && *own != thread + 1 ? MR_PIECES_SEVERAL : thread + 1;
    return true;
}

bool mr_pieces_note_bound(mr_pieces *pieces, const mr_life *life, uint64_t address)
{
    return address < life->origin || note_bound(pieces, life, address - life->origin);
}

static uint32_t releaser_of(const mr_pieces *pieces, uint64_t life)
{
    return life < pieces->life_count ? pieces->releasers[life] : 0;
}

enum { LIFE_SHARED = 1, LIFE_WRITTEN = 2, LIFE_REACHED = 4 };

/* What the line tells about its life. */
static uint8_t judge_line(const mr_pieces *pieces, const mr_piece_line *line, uint32_t releaser)
{
    bool foreign = releaser && line->accessed && line->owner != releaser;
    return (uint8_t)((line->shared || foreign ? LIFE_SHARED : 0) |
                     (line->written || releaser ? LIFE_WRITTEN : 0) |
                     (line->reached ? LIFE_REACHED : 0) |
                     (pieces->keep_all || pieces->all_reached ? LIFE_REACHED : 0));
}

static bool judge_lives(mr_pieces *pieces)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < pieces->table.count; i++)
        most = pieces->table.items[i].high > most ? pieces->table.items[i].high : most;
    pieces->lives = mr_calloc((size_t)most + 1, sizeof *pieces->lives);
    if (!pieces->lives)
        return false;
    pieces->judged_count = (size_t)most + 1;
    for (uint32_t i = 0; i < pieces->table.count; i++) {
        uint64_t life = pieces->table.items[i].high;
        pieces->lives[life] |= judge_line(pieces, &pieces->lines[i], releaser_of(pieces, life));
    }
    return true;
}

bool mr_pieces_keeps_of(const mr_pieces *pieces, uint32_t life)
{
    unsigned found = life < pieces->judged_count ? pieces->lives[life] : 0;
    return (found & LIFE_REACHED) || (found & LIFE_SHARED && found & LIFE_WRITTEN);
}

void mr_pieces_keep(mr_pieces *pieces, mr_extent access)
{
    uint64_t offset = offset_of(access), end = offset + access.bytes;
    for (uint64_t at = offset; at < end; at = next_line(at)) {
        mr_piece_line *line = find_line(pieces, access.life, at);
        MR_REQUIRE(line);
        line->shared |= bits_of(at, end);
        line->written |= bits_of(at, end);
    }
}

/* Marks the bytes of atomic accesses that contain a boundary. */
static void mark_split(mr_pieces *pieces)
{
    for (uint32_t i = 0; i < pieces->atomics.count; i++) {
        mr_pair pair = pieces->atomics.items[i];
        uint64_t offset = pair.low >> 8, end = offset + (pair.low & 0xff);
        mr_life life = {.number = (uint32_t)pair.high};
        bool split = false;
        for (int pass = 0; pass < 2; pass++)
            for (uint64_t at = offset; at < end; at = next_line(at)) {
                mr_piece_line *line = find_line(pieces, &life, at);
                uint64_t bits = bits_of(at, end);
                uint64_t first = at == offset ? bit_of(at) : 0;
                split = split || (line->bounds & bits & ~first);
                if (pass && split)
                    line->split |= bits;
            }
    }
}

bool mr_pieces_make(mr_pieces *pieces)
{
    uint64_t count = 0;
    MR_REQUIRE(!pieces->pieces);
    for (uint32_t i = 0; i < pieces->table.count; i++) {
        if (pieces->none_alone)
            pieces->lines[i].written |= pieces->lines[i].alone;
        pieces->lines[i].first = (uint32_t)count;
        count += (unsigned)__builtin_popcountll(pieces->lines[i].bounds);
    }
    if (count > UINT32_MAX)
        return false;
    pieces->piece_count = (uint32_t)count;
    pieces->pieces = mr_calloc((size_t)count + 1, sizeof *pieces->pieces);
    mark_split(pieces);
    return pieces->pieces && judge_lives(pieces);
}

/* Decides whether the piece is kept, from what the lines say of all its bytes. */
static void judge(const mr_pieces *pieces, mr_piece *piece, bool shared, bool written, bool reached)
{
    piece->seen = true;
    piece->reached = reached || pieces->all_reached;
    piece->keep = pieces->keep_all || piece->reached || (shared && written);
}

/* The piece that begins at the boundary `offset`. `end` is a boundary at or behind its end. */
static mr_piece *piece_at(mr_pieces *pieces, const mr_life *life, uint64_t offset, uint64_t end,
                          uint64_t *bytes)
{
    mr_piece_line *line = find_line(pieces, life, offset);
    uint64_t bit = bit_of(offset), at = offset, whole = end - offset;
    MR_ASSERT(line && line->bounds & bit);
    mr_piece *piece =
        &pieces->pieces[line->first + (unsigned)__builtin_popcountll(line->bounds & (bit - 1))];
    uint32_t releaser = releaser_of(pieces, life->number);
    bool shared = false, written = releaser != 0, reached = false;
    while (at < end) {
        uint64_t bits = bits_of(at, end);
        uint64_t bounds = line->bounds & bits & ~(at == offset ? bit : 0);
        if (bounds)
            bits &= (bounds & -bounds) - 1;
        shared = shared || line->shared & bits || (releaser && line->owner != releaser);
        written = written || line->written & bits;
        reached = reached || line->reached & bits;
        if (bounds) {
            at += (unsigned)__builtin_ctzll(bounds) - at % MR_PIECE_LINE_BYTES;
            break;
        }
        at = next_line(at);
        line = at < end ? find_line(pieces, life, at) : line;
        MR_ASSERT(line);
    }
    *bytes = (at < end ? at : end) - offset;
    MR_ASSERT(*bytes > 0 && *bytes <= whole);
    MR_ASSERT(piece < pieces->pieces + pieces->piece_count);
    if (!piece->seen)
        judge(pieces, piece, shared, written, reached);
    return piece;
}

mr_piece *mr_pieces_at(mr_pieces *pieces, mr_extent access, uint64_t *bytes)
{
    uint64_t offset = offset_of(access);
    MR_REQUIRE(pieces->pieces && access.bytes > 0);
    return piece_at(pieces, access.life, offset, offset + access.bytes, bytes);
}

bool mr_pieces_is_split(mr_pieces *pieces, mr_extent access)
{
    uint64_t offset = offset_of(access);
    const mr_piece_line *line = find_line(pieces, access.life, offset);
    return line && line->split & bits_of(offset, offset + access.bytes);
}

mr_piece *mr_pieces_next_in(mr_pieces *pieces, mr_extent reach, uint64_t *address, uint64_t *bytes)
{
    uint64_t offset = offset_of(reach), end = offset + reach.bytes;
    for (uint64_t at = offset; at < end; at = next_line(at)) {
        const mr_piece_line *line = find_line(pieces, reach.life, at);
        /* Accessed bytes of the line before its first boundary belong to an earlier piece. */
        uint64_t begins = line ? line->bounds & line->accessed & bits_of(at, end) : 0;
        if (!begins)
            continue;
        at += (unsigned)__builtin_ctzll(begins) - at % MR_PIECE_LINE_BYTES;
        *address = reach.life->origin + at;
        return piece_at(pieces, reach.life, at, end, bytes);
    }
    return NULL;
}
