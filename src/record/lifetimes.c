#include "lifetimes.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct mr_life_node {
    mr_life life;
    uint32_t left, right; /* 0: none */
    uint32_t priority;    /* not larger than that of the parent */
};

void mr_lifetimes_init(mr_lifetimes *lives)
{
    *lives = (mr_lifetimes){.everything = {.end = UINT64_MAX}};
}

void mr_lifetimes_free(mr_lifetimes *lives)
{
    free(lives->nodes);
    free(lives->ended);
    mr_lifetimes_init(lives);
}

static uint32_t next_priority(uint32_t number)
{
    uint64_t mixed = (number + 1ull) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(mixed >> 32);
}

static uint32_t new_node(mr_lifetimes *lives, const mr_life *life)
{
    uint32_t at = lives->free_node;
    if (at) {
        lives->free_node = lives->nodes[at].left;
    } else {
        void *nodes = lives->nodes;
        size_t count = lives->count ? lives->count : 1;
        if (!mr_grow(&nodes, &lives->capacity, count + 1, sizeof *lives->nodes))
            return 0;
        lives->nodes = nodes;
        at = (uint32_t)count;
        lives->count = count + 1;
    }
    lives->nodes[at] =
        (mr_life_node){.life = *life, .priority = next_priority(life->number ^ at << 20)};
    return at;
}

/* Splits the tree at `address`: `left` gets the lives that begin before it, `right` the others. */
static void split(mr_life_node *nodes, uint32_t root, uint64_t address, uint32_t *left,
                  uint32_t *right)
{
    while (root) {
        if (nodes[root].life.start < address) {
            *left = root;
            left = &nodes[root].right;
            root = *left;
        } else {
            *right = root;
            right = &nodes[root].left;
            root = *right;
        }
    }
    *left = *right = 0;
}

/* Joins two trees. All lives of `left` begin before all lives of `right`. */
static uint32_t join(mr_life_node *nodes, uint32_t left, uint32_t right)
{
    uint32_t result = 0, *at = &result;
    while (left && right) {
        MR_ASSERT_COSTLY(nodes[left].life.start < nodes[right].life.start);
        if (nodes[left].priority >= nodes[right].priority) {
            *at = left;
            at = &nodes[left].right;
            left = *at;
        } else {
            *at = right;
            at = &nodes[right].left;
            right = *at;
        }
    }
    *at = left ? left : right;
    return result;
}

/* The life of the address; 0: there is none, and the address is in `*gap`. */
static uint32_t look_around(const mr_lifetimes *lives, uint64_t address, mr_life_gap *gap)
{
    uint32_t at = lives->root, best = 0, next = 0;
    while (at) {
        bool before = lives->nodes[at].life.start <= address;
        best = before ? at : best;
        next = before ? next : at;
        at = before ? lives->nodes[at].right : lives->nodes[at].left;
    }
    gap->start = best ? lives->nodes[best].life.end : 0;
    gap->end = next ? lives->nodes[next].life.start : UINT64_MAX;
    return best && address < gap->start ? best : 0;
}

static uint32_t look_up(const mr_lifetimes *lives, uint64_t address)
{
    mr_life_gap gap;
    return look_around(lives, address, &gap);
}

static mr_life_gap *gap_near(mr_lifetimes *lives, uint64_t address)
{
    return &lives->gaps[(address ^ address >> 24) >> 20 & (MR_LIFETIMES_GAPS - 1)];
}

/* A life begins there. A life that ends makes gaps larger, which nobody needs to know. */
static void close_gaps(mr_lifetimes *lives, const mr_life *life)
{
    for (size_t i = 0; i < MR_LIFETIMES_GAPS; i++)
        if (life->start < lives->gaps[i].end && lives->gaps[i].start < life->end)
            lives->gaps[i] = (mr_life_gap){0};
}

/* The first life that begins at or after the address; 0: there is none. */
static uint32_t first_from(const mr_lifetimes *lives, uint64_t address)
{
    uint32_t at = lives->root, best = 0;
    while (at) {
        bool from = lives->nodes[at].life.start >= address;
        best = from ? at : best;
        at = from ? lives->nodes[at].left : lives->nodes[at].right;
    }
    return best;
}

/* Does a life begin in the extent of this one? */
static bool begins_within(const mr_lifetimes *lives, const mr_life *life)
{
    uint32_t next = first_from(lives, life->start);
    return next && lives->nodes[next].life.start < life->end;
}

static bool insert(mr_lifetimes *lives, const mr_life *life)
{
    uint32_t left, right, node;
    MR_ASSERT(life->start < life->end);
    /* Lives do not overlap. */
    MR_ASSERT_COSTLY(!look_up(lives, life->start) && !begins_within(lives, life));
    node = new_node(lives, life);
    if (!node)
        return false;
    close_gaps(lives, life);
    split(lives->nodes, lives->root, life->start, &left, &right);
    lives->root = join(lives->nodes, join(lives->nodes, left, node), right);
    return true;
}

static void erase(mr_lifetimes *lives, uint32_t node)
{
    uint32_t left, middle, right;
    uint64_t start = lives->nodes[node].life.start;
    split(lives->nodes, lives->root, start, &left, &middle);
    split(lives->nodes, middle, start + 1, &middle, &right);
    MR_ASSERT(middle == node);
    lives->root = join(lives->nodes, left, right);
    lives->nodes[node] = (mr_life_node){.left = lives->free_node};
    lives->free_node = node;
}

static bool note_end(mr_lifetimes *lives, const mr_life *life, uint64_t start, uint64_t end)
{
    void *ended = lives->ended;
    if (life->dead)
        return true;
    if (!mr_grow(&ended, &lives->ended_capacity, lives->ended_count + 1, sizeof *lives->ended))
        return false;
    lives->ended = ended;
    lives->ended[lives->ended_count++] = (mr_life_end){
        .life = *life,
        .start = start > life->start ? start : life->start,
        .end = end < life->end ? end : life->end,
    };
    return true;
}

bool mr_lifetimes_take(mr_lifetimes *lives, uint64_t start, uint64_t bytes, bool stays)
{
    lives->ended_count = 0;
    uint64_t end = start + bytes < start ? UINT64_MAX : start + bytes;
    for (uint32_t at; start < end;) {
        at = look_up(lives, start);
        if (!at)
            at = first_from(lives, start);
        if (!at || lives->nodes[at].life.start >= end)
            break;
        mr_life life = lives->nodes[at].life, before = life, after = life;
        MR_ASSERT(life.end > start && life.start < end);
        if (!note_end(lives, &life, start, end))
            return false;
        if (stays && start <= life.start && life.end <= end) {
            lives->nodes[at].life.dead = true;
            start = life.end;
            continue;
        }
        erase(lives, at);
        before.end = start;
        after.start = end;
        if ((before.start < before.end && life.start < start && !insert(lives, &before)) ||
            (after.start < after.end && !insert(lives, &after)))
            return false;
        start = life.end;
    }
    return true;
}

bool mr_lifetimes_give(mr_lifetimes *lives, uint64_t start, uint64_t bytes, uint8_t kind,
                       uint32_t thread)
{
    mr_life life = {.start = start,
                    .end = start + bytes,
                    .origin = start,
                    .number = lives->given + 1,
                    .thread = thread,
                    .bytes = bytes,
                    .kind = kind};
    if (!bytes || life.end < start)
        return true;
    if (!mr_lifetimes_take(lives, start, bytes, false) || !insert(lives, &life))
        return false;
    lives->given++;
    return true;
}

void mr_lifetimes_forget(mr_lifetimes *lives, uint64_t address)
{
    uint32_t at = look_up(lives, address);
    if (at && lives->nodes[at].life.dead)
        erase(lives, at);
}

/* Places of 16 bytes, the least distance of blocks. Threads have blocks at the same distances in parts
 * of the address space of their own, so all bits count. */
static uint32_t *near_of(mr_lifetimes *lives, uint64_t address)
{
    uint64_t mixed = (address >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    return &lives->near[mixed >> 32 & (MR_LIFETIMES_NEAR - 1)];
}

mr_life *mr_lifetimes_find(mr_lifetimes *lives, uint64_t address)
{
    uint32_t *near = near_of(lives, address);
    if (*near && *near < lives->count) {
        mr_life *life = &lives->nodes[*near].life;
        if (address >= life->start && address < life->end)
            return life;
    }
    mr_life_gap *gap = gap_near(lives, address), around;
    if (address >= gap->start && address < gap->end)
        return &lives->everything;
    uint32_t found = look_around(lives, address, &around);
    if (!found) {
        *gap = around;
        return &lives->everything;
    }
    MR_ASSERT(address >= lives->nodes[found].life.start && address < lives->nodes[found].life.end);
    *near = found;
    return &lives->nodes[found].life;
}

uint64_t mr_lifetimes_reach(mr_lifetimes *lives, uint64_t address, uint64_t bytes)
{
    const mr_life *life = mr_lifetimes_find(lives, address);
    uint64_t end = life->number ? life->end : gap_near(lives, address)->end;
    if (end - address < bytes && !life->number) {
        mr_life_gap gap; /* the one that is remembered may be smaller */
        look_around(lives, address, &gap);
        end = gap.end;
    }
    return end - address < bytes ? end - address : bytes;
}

bool mr_lifetimes_is_free(const mr_lifetimes *lives, uint64_t start, uint64_t bytes)
{
    uint32_t next = first_from(lives, start);
    return !look_up(lives, start) && (!next || lives->nodes[next].life.start >= start + bytes);
}
