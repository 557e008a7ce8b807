#include "pieces.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void mr_pieces_free(mr_pieces *pieces)
{
    mr_pairs_free(&pieces->table);
    mr_pairs_free(&pieces->atomics);
    mr_pairs_free(&pieces->guests);
    mr_visits_free(&pieces->visits);
    free(pieces->guest_at);
    free(pieces->lines);
    free(pieces->pieces);
    free(pieces->releasers);
    free(pieces->kept_lives);
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

/* Is it the line that was asked for last? */
static bool is_last(const mr_pieces *pieces, mr_pair key)
{
    if (pieces->last >= pieces->table.count)
        return false;
    const mr_pair *last = &pieces->table.items[pieces->last];
    return last->high == key.high && last->low == key.low;
}

/* The line of the address, when the cache has it. */
static mr_piece_line *cached_line(mr_pieces *pieces, uint64_t address)
{
    uint64_t bits;
    return mr_pieces_near_line(pieces, address, 1, &bits);
}

/* The line of an offset, which is added when it is new. NULL: no memory. */
static mr_piece_line *make_line(mr_pieces *pieces, const mr_life *life, uint64_t offset)
{
    mr_pair key = key_of(life, offset);
    if (is_last(pieces, key))
        return &pieces->lines[pieces->last];
    uint32_t known = pieces->table.count;
    uint32_t number = mr_pairs_add(&pieces->table, key);
    if (number == MR_PAIRS_NONE)
        return NULL;
    pieces->last = number;
    if (number == known) {
        void *lines = pieces->lines;
        if (!mr_grow(&lines, &pieces->line_capacity, (size_t)number + 1, sizeof *pieces->lines))
            return NULL;
        pieces->lines = lines;
        uint64_t start = life->origin + offset - offset % MR_PIECE_LINE_BYTES;
        pieces->lines[number] = (mr_piece_line){.start = start & ((1ull << 48) - 1)};
    }
    return &pieces->lines[number];
}

static mr_piece_line *find_line(mr_pieces *pieces, const mr_life *life, uint64_t offset)
{
    mr_pair key = key_of(life, offset);
    mr_piece_line *near = cached_line(pieces, life->origin + offset);
    /* An access over the end of its life may be in a line of another one. */
    if (near && pieces->table.items[near - pieces->lines].high == life->number)
        return near;
    if (is_last(pieces, key))
        return &pieces->lines[pieces->last];
    uint32_t number = mr_pairs_find(&pieces->table, key);
    if (number == MR_PAIRS_NONE)
        return NULL;
    pieces->last = number;
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

/* In place of where a guest's first access is: nobody needs it again. */
#define GUEST_MET UINT64_MAX

bool mr_pieces_note_guest(mr_pieces *pieces, const mr_life *life, uint64_t offset, uint32_t thread,
                          bool alone)
{
    uint32_t known = pieces->guests.count;
    if (!life->number || life->thread == thread)
        return true;
    uint32_t number = mr_pairs_add(&pieces->guests, (mr_pair){life->number, thread});
    if (number != known)
        return number != MR_PAIRS_NONE;
    void *at = pieces->guest_at;
    if (!mr_grow(&at, &pieces->guest_capacity, number + 1ull, sizeof *pieces->guest_at))
        return false;
    pieces->guest_at = at;
    bool ordered = pieces->ordered && mr_ordered_before(pieces->ordered, life->since);
    pieces->guest_at[number] = offset << 2 | (unsigned)ordered << 1 | (alone || life->alone);
    return true;
}

void mr_pieces_share(mr_piece_line *line, uint32_t thread, bool alone, uint64_t bits)
{
    bool is_owner = line->owner == thread + 1;
    if (!is_owner && !alone && !line->lonely) {
        line->shared |= bits;
        return;
    }
    line->moved = line->moved || !is_owner;
    line->owner = thread + 1;
    line->lonely = alone;
}

void mr_pieces_distrust(mr_pieces *pieces)
{
    pieces->none_alone = true;
    if (pieces->ordered)
        pieces->ordered->given_up = true;
    for (uint32_t i = 0; i < pieces->table.count; i++) {
        mr_piece_line *line = &pieces->lines[i];
        if (line->moved)
            line->shared = line->accessed;
        line->lonely = false;
    }
}

/* The thread accesses these bytes of the line of the life. */
static void note_thread(mr_piece_line *line, const mr_life *life, uint32_t thread, bool alone,
                        uint64_t bits)
{
    if (!line->owner) {
        line->owner = thread + 1;
        line->lonely = alone;
    }
    mr_pieces_share(line, thread, alone, bits);
    if (!life->number)
        line->threads = ~0ull;
    else if (thread < 63)
        line->threads |= 1ull << thread;
}

static uint32_t make_cells(mr_ordered *ordered, const mr_piece_line *line)
{
    const mr_ordered_past reads = {line->segment, line->accessed};
    const mr_ordered_past writes = {line->wrote, line->written};
    uint32_t guarded = !line->guarded ? 0 : line->moved ? MR_ORDERED_SEVERAL : line->owner;
    return mr_ordered_cells(ordered, reads, writes, guarded);
}

/* Tells ordered.h of the access. The line does not have it yet. */
static void order_access(mr_pieces *pieces, mr_piece_line *line, uint64_t bits, mr_piece_access how)
{
    mr_ordered *ordered = pieces->ordered;
    bool keeps = how.atomic || how.is_kept || how.is_ignored;
    if (!line->cells && (line->shared || keeps))
        line->cells = make_cells(ordered, line);
    uint64_t kept = 0, before = mr_ordered_kept(ordered, line->cells);
    if (line->cells && how.atomic)
        mr_ordered_atomic(ordered, line->cells, bits, how.updates || !how.writes, how.writes);
    if (keeps)
        kept = mr_ordered_keep(ordered, line->cells, bits) & line->accessed;
    else if (line->cells)
        kept = mr_ordered_access(ordered, line->cells, bits, how.writes);
    if (kept)
        mr_pieces_mark(pieces, line, before);
    line->segment = ordered->now;
    line->wrote = how.writes ? ordered->now : line->wrote;
    line->guarded |= ordered->is_guarded && !how.alone;
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
        line->ends = line->ends || next_line(at) == end;
        if (at == offset && !mr_pieces_knows(line, thread) &&
            !mr_pieces_note_guest(pieces, access.life, at, thread, how.alone))
            return false;
        note_thread(line, access.life, thread, how.alone, bits);
        if (pieces->ordered)
            order_access(pieces, line, bits, how);
        line->accessed |= bits;
        if (how.writes && how.alone)
            line->alone |= bits;
        else if (how.writes)
            line->written |= bits;
        mr_pieces_visit(pieces, line);
    }
    if (end % MR_PIECE_LINE_BYTES == 0 && !note_bound(pieces, access.life, end))
        return false;
    mr_pair kept = {access.life->number, offset << 8 | access.bytes};
    return !(how.atomic || how.is_kept) || access.bytes == 1 ||
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
        line->parts |= pieces->part;
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
    if (!*own)
        *own = thread + 1;
    else if ((*own & ~MR_PIECES_IN_PARTS) == thread + 1)
        *own |= MR_PIECES_IN_PARTS;
    else
        *own = MR_PIECES_SEVERAL;
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

bool mr_pieces_in_parts(const mr_pieces *pieces, uint64_t life)
{
    return releaser_of(pieces, life) & MR_PIECES_IN_PARTS;
}

bool mr_pieces_keeps_of(const mr_pieces *pieces, uint32_t life)
{
    return pieces->keep_all || (life < pieces->kept_life_count && pieces->kept_lives[life]);
}

void mr_pieces_keep(mr_pieces *pieces, mr_extent access)
{
    uint64_t offset = offset_of(access), end = offset + access.bytes;
    for (uint64_t at = offset; at < end; at = next_line(at)) {
        mr_piece_line *line = find_line(pieces, access.life, at);
        MR_REQUIRE(line);
        if (pieces->ordered) {
            if (!line->cells)
                line->cells = make_cells(pieces->ordered, line);
            uint64_t before = mr_ordered_kept(pieces->ordered, line->cells);
            mr_ordered_keep(pieces->ordered, line->cells, bits_of(at, end));
            mr_pieces_mark(pieces, line, before);
        }
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

/* The lowest `count` bits. */
static uint64_t low_bits(unsigned count)
{
    return count >= MR_PIECE_LINE_BYTES ? ~0ull : (1ull << count) - 1;
}

/* The bytes before the first boundary of the line: the end of a piece of earlier lines. */
static uint64_t tail_of(const mr_piece_line *line)
{
    return line->accessed & low_bits(line->bounds ? (unsigned)__builtin_ctzll(line->bounds) : 64);
}

/* The bytes from the last boundary of the line on. */
static uint64_t head_of(const mr_piece_line *line)
{
    return line->accessed &
           ~(line->bounds ? low_bits(63 - (unsigned)__builtin_clzll(line->bounds)) : 0);
}

/* Goes on with a piece that is kept in the line of `offset`, through the lines after it. */
static void keep_forward(mr_pieces *pieces, const mr_life *life, uint64_t offset)
{
    for (;;) {
        offset = next_line(offset);
        mr_piece_line *line = find_line(pieces, life, offset);
        uint64_t tail = line ? tail_of(line) : 0;
        if (!tail || (line->kept & tail) == tail)
            return;
        line->kept |= tail;
        if (line->bounds)
            return;
    }
}

/* The same through the lines before it. */
static void keep_backward(mr_pieces *pieces, const mr_life *life, uint64_t offset)
{
    while (offset >= MR_PIECE_LINE_BYTES) {
        offset -= MR_PIECE_LINE_BYTES;
        mr_piece_line *line = find_line(pieces, life, offset);
        uint64_t head = line ? head_of(line) : 0;
        if (!head || (line->kept & head) == head)
            return;
        line->kept |= head;
        if (line->bounds)
            return;
    }
}

/* Must the guest's order with the beginning of the life be kept? */
static bool is_guest_kept(const mr_pieces *pieces, uint32_t guest)
{
    uint64_t at = pieces->guest_at[guest];
    bool ordered = at & 2 && !pieces->ordered->given_up;
    return pieces->none_alone || !(at & 1 || ordered);
}

/* The pieces in which guests access lives first are at least sparse. */
static void keep_guests(mr_pieces *pieces)
{
    for (uint32_t i = 0; i < pieces->guests.count; i++) {
        mr_life life = {.number = (uint32_t)pieces->guests.items[i].high};
        uint64_t offset = pieces->guest_at[i] >> 2;
        if (offset == MR_PIECES_RELEASES || !is_guest_kept(pieces, i))
            continue;
        mr_piece_line *line = find_line(pieces, &life, offset);
        MR_ASSERT(line && line->bounds & bit_of(offset));
        uint64_t later = line->bounds & ~(bit_of(offset) - 1) & ~bit_of(offset);
        uint64_t end = later ? (later & -later) - 1 : ~0ull;
        line->kept |= end & ~(bit_of(offset) - 1);
    }
}

/* Within a line all bytes of a piece are alike, because each access has all of a piece or nothing.
 * But the lines of one piece may have different owners: what one line keeps is kept in all. */
static void keep_whole_pieces(mr_pieces *pieces)
{
    for (uint32_t i = 0; i < pieces->table.count; i++) {
        const mr_piece_line *line = &pieces->lines[i];
        mr_pair key = pieces->table.items[i];
        mr_life life = {.number = (uint32_t)key.high};
        uint64_t offset = key.low * MR_PIECE_LINE_BYTES;
        if (line->kept & 1 && !(line->bounds & 1))
            keep_backward(pieces, &life, offset);
        if (line->kept >> (MR_PIECE_LINE_BYTES - 1))
            keep_forward(pieces, &life, offset);
    }
}

/* What is kept of line `number` for the release of its life. */
static uint64_t released_of(const mr_pieces *pieces, uint32_t number, uint32_t releaser)
{
    const mr_piece_line *line = &pieces->lines[number];
    uint32_t life = (uint32_t)pieces->table.items[number].high;
    bool whole = releaser != MR_PIECES_SEVERAL && !(releaser & MR_PIECES_IN_PARTS);
    if (!releaser || (whole && pieces->ordered &&
                      mr_ordered_released(pieces->ordered, life, line->cells, line->segment)))
        return 0;
    return line->owner == (releaser & ~MR_PIECES_IN_PARTS) ? line->shared : line->accessed;
}

/* The bytes of line `number` that several threads access and one writes, without those in order. */
static uint64_t met_of(const mr_pieces *pieces, uint32_t number, uint32_t releaser)
{
    const mr_piece_line *line = &pieces->lines[number];
    bool in_parts = releaser & MR_PIECES_IN_PARTS;
    uint64_t kept =
        pieces->ordered && !in_parts ? mr_ordered_kept(pieces->ordered, line->cells) : ~0ull;
    return line->shared & line->written & kept;
}

/* Decides which bytes are kept in full, and then which are sparse. */
static void mark_kept(mr_pieces *pieces)
{
    bool all = pieces->keep_all || pieces->all_reached;
    for (uint32_t i = 0; i < pieces->table.count; i++) {
        mr_piece_line *line = &pieces->lines[i];
        uint32_t releaser = releaser_of(pieces, pieces->table.items[i].high);
        if (pieces->none_alone)
            line->written |= line->alone;
        uint64_t released = released_of(pieces, i, releaser);
        /* Each part of the life is an object of its own. */
        if (releaser & MR_PIECES_IN_PARTS)
            line->written |= line->accessed;
        line->kept = all ? line->accessed : met_of(pieces, i, releaser) | line->reached;
        if (releaser & MR_PIECES_IN_PARTS)
            line->kept |= released;
        line->written = released;
    }
    keep_whole_pieces(pieces);
    for (uint32_t i = 0; i < pieces->table.count; i++) {
        mr_piece_line *line = &pieces->lines[i];
        line->full = line->kept;
        line->kept |= line->written; /* released_of */
        line->written = 0;
    }
    keep_guests(pieces);
    keep_whole_pieces(pieces);
    for (uint32_t i = 0; i < pieces->table.count && pieces->has_calls; i++)
        pieces->lines[i].full = pieces->lines[i].kept;
}

/* The largest first number of the pairs, at least `most`. */
static uint64_t most_of(const mr_pairs *pairs, uint64_t most)
{
    for (uint32_t i = 0; i < pairs->count; i++)
        most = pairs->items[i].high > most ? pairs->items[i].high : most;
    return most;
}

/* Finds the lives that are kept: with a piece, or with a guest. */
static bool mark_lives(mr_pieces *pieces)
{
    uint64_t most = most_of(&pieces->guests, most_of(&pieces->table, 0));
    pieces->kept_lives = mr_calloc((size_t)most + 1, sizeof *pieces->kept_lives);
    if (!pieces->kept_lives)
        return false;
    pieces->kept_life_count = (size_t)most + 1;
    for (uint32_t i = 0; i < pieces->table.count; i++)
        if (pieces->lines[i].kept)
            pieces->kept_lives[pieces->table.items[i].high] = true;
    for (uint32_t i = 0; i < pieces->guests.count; i++)
        if (is_guest_kept(pieces, i))
            pieces->kept_lives[pieces->guests.items[i].high] = true;
    return true;
}

/* May plain accesses of kept bytes of the line be other ones than those that were marked (mr_pieces_mark)? */
static bool has_others(const mr_pieces *pieces, const mr_piece_line *line)
{
    return !pieces->ordered || pieces->ordered->given_up ||
           line->kept & ~mr_ordered_kept(pieces->ordered, line->cells);
}

/* Sets the bits of the addresses from which an access of at most 16 bytes reaches kept bytes of the line. */
static void mark_keepers(mr_pieces *pieces, const mr_piece_line *line)
{
    enum { GRANULE = MR_PIECES_GRANULE };
    for (unsigned at = 0; at < MR_PIECE_LINE_BYTES; at += GRANULE) {
        unsigned kept = line->kept >> at & ((1u << GRANULE) - 1);
        if (!kept)
            continue;
        uint64_t lowest = line->start + at + (unsigned)__builtin_ctz(kept) - (GRANULE - 1);
        uint64_t last = line->start + at + 31u - (unsigned)__builtin_clz(kept);
        for (uint64_t place = lowest / GRANULE; place <= last / GRANULE; place++) {
            uint64_t bit = mr_pieces_granule(place * GRANULE);
            pieces->keepers[bit / 64] |= 1ull << bit % 64;
        }
    }
}

/* Numbers the pieces that are kept, and finds the parts of the log that access them. */
bool mr_pieces_number(mr_pieces *pieces)
{
    uint64_t count = 0;
    free(pieces->pieces);
    pieces->pieces = NULL;
    pieces->kept_parts = pieces->ordered ? pieces->plain_parts : 0;
    memset(pieces->near, 0, sizeof pieces->near);
    memset(pieces->keepers, 0, sizeof pieces->keepers);
    for (uint32_t i = 0; i < pieces->table.count; i++) {
        mr_piece_line *line = &pieces->lines[i];
        line->first = (uint32_t)count;
        if (!line->kept)
            continue;
        mark_keepers(pieces, line);
        count += (unsigned)__builtin_popcountll(line->bounds & line->kept);
        if (has_others(pieces, line))
            pieces->kept_parts |= line->parts;
    }
    if (count > UINT32_MAX)
        return false;
    pieces->piece_count = (uint32_t)count;
    pieces->pieces = mr_calloc((size_t)count + 1, sizeof *pieces->pieces);
    return pieces->pieces != NULL;
}

bool mr_pieces_make(mr_pieces *pieces)
{
    MR_REQUIRE(!pieces->pieces);
    memset(pieces->near, 0, sizeof pieces->near);
    mark_kept(pieces);
    mark_split(pieces);
    for (uint32_t i = 0; i < pieces->table.count; i++)
        if (pieces->lines[i].kept && has_others(pieces, &pieces->lines[i]))
            mr_visits_mark_all(&pieces->visits, &pieces->lines[i].visits);
    mr_visits_end(&pieces->visits);
    return mark_lives(pieces) && mr_pieces_number(pieces);
}

/* How far the piece goes that begins at the boundary `offset`, up to `end`, which is a boundary. */
static uint64_t end_of(mr_pieces *pieces, const mr_life *life, uint64_t offset, uint64_t end)
{
    for (uint64_t at = offset; at < end; at = next_line(at)) {
        const mr_piece_line *line = find_line(pieces, life, at);
        MR_ASSERT(line && (at > offset || line->bounds & bit_of(at)));
        uint64_t bounds = line->bounds & bits_of(at, end) & ~(at == offset ? bit_of(at) : 0);
        if (bounds)
            return at - at % MR_PIECE_LINE_BYTES + (unsigned)__builtin_ctzll(bounds);
    }
    return end;
}

mr_piece *mr_pieces_at(mr_pieces *pieces, mr_extent access, uint64_t *bytes)
{
    uint64_t offset = offset_of(access), bit = bit_of(offset);
    MR_REQUIRE(pieces->pieces && access.bytes > 0);
    const mr_piece_line *line = find_line(pieces, access.life, offset);
    *bytes = end_of(pieces, access.life, offset, offset + access.bytes) - offset;
    MR_ASSERT(line && *bytes > 0 && *bytes <= access.bytes);
    if (!(line->kept & bit))
        return NULL;
    uint64_t before = line->bounds & line->kept & (bit - 1);
    mr_piece *piece = &pieces->pieces[line->first + (unsigned)__builtin_popcountll(before)];
    MR_ASSERT(piece < pieces->pieces + pieces->piece_count);
    piece->reached = line->reached & bit || pieces->all_reached;
    piece->sparse = !(line->full & bit);
    return piece;
}

bool mr_pieces_keeps(mr_pieces *pieces, mr_extent extent, bool *full)
{
    uint64_t offset = offset_of(extent), end = offset + extent.bytes;
    bool keeps = false;
    *full = false;
    for (uint64_t at = offset; at < end && !*full; at = next_line(at)) {
        const mr_piece_line *line = find_line(pieces, extent.life, at);
        uint64_t bits = bits_of(at, end);
        keeps = keeps || (line && line->kept & bits);
        *full = line && line->full & bits;
    }
    MR_ASSERT_COSTLY(!keeps || mr_pieces_may_keep_any(pieces, extent.address, extent.bytes));
    return keeps;
}

bool mr_pieces_meets_guest(mr_pieces *pieces, uint32_t life, uint32_t thread)
{
    uint32_t number = mr_pairs_find(&pieces->guests, (mr_pair){life, thread});
    bool first = number != MR_PAIRS_NONE && pieces->guest_at[number] != GUEST_MET;
    if (first)
        pieces->guest_at[number] = GUEST_MET;
    return first;
}

uint32_t mr_pieces_releaser(const mr_pieces *pieces, uint32_t life)
{
    uint32_t releaser = releaser_of(pieces, life);
    return releaser == MR_PIECES_SEVERAL ? releaser : releaser & ~MR_PIECES_IN_PARTS;
}

bool mr_pieces_is_released(const mr_pieces *pieces, uint32_t life, uint32_t thread)
{
    uint32_t releaser = releaser_of(pieces, life);
    return releaser && releaser != thread + 1;
}

bool mr_pieces_needs_life(const mr_pieces *pieces, uint32_t life, uint32_t thread)
{
    if (mr_pieces_is_released(pieces, life, thread))
        return true;
    uint32_t number = mr_pairs_find(&pieces->guests, (mr_pair){life, thread});
    return number != MR_PAIRS_NONE && pieces->guest_at[number] != GUEST_MET;
}

/* ---- the cache ---- */

void mr_pieces_approach(mr_pieces *pieces, mr_lifetimes *lives, const mr_life *life,
                        uint64_t address)
{
    uint64_t offset = address - life->origin;
    uint64_t start = address - offset % MR_PIECE_LINE_BYTES, bytes = MR_PIECE_LINE_BYTES;
    uint64_t near = address - address % MR_PIECES_NEAR_BYTES;
    if (cached_line(pieces, address))
        return;
    mr_piece_line *line = find_line(pieces, life, offset);
    /* Each access of a dead block is looked at. */
    if (!line || start < life->start || life->dead)
        return;
    if (life->number && life->end - start < bytes)
        bytes = life->end - start;
    /* Other lives may lie in the line where life number 0 has the memory around them. */
    if (!life->number && !mr_lifetimes_is_free(lives, near, MR_PIECES_NEAR_BYTES))
        return;
    line->start = start;
    line->bytes = bytes;
    *mr_pieces_near(pieces, address) = (uint32_t)(line - pieces->lines) + 1;
}

void mr_pieces_forget(mr_pieces *pieces, uint64_t start, uint64_t bytes)
{
    uint64_t first = start / MR_PIECES_NEAR_BYTES;
    uint64_t count = bytes ? (start + bytes - 1) / MR_PIECES_NEAR_BYTES - first + 1 : 0;
    if (count >= MR_PIECES_NEAR)
        memset(pieces->near, 0, sizeof pieces->near);
    else
        for (uint64_t i = 0; i < count; i++)
            *mr_pieces_near(pieces, (first + i) * MR_PIECES_NEAR_BYTES) = 0;
}

/* ---- atomic accesses, extents that are reached ---- */

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
        return mr_pieces_at(pieces, (mr_extent){reach.life, *address, end - at}, bytes);
    }
    return NULL;
}
