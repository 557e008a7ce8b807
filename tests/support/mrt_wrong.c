#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mrt_bytes.h"
#include "mrt_wrong.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file in pieces: each chunk with its head. */
enum { MOST_CHUNKS = 4096 };

typedef struct pieces {
    mr_bytes items[MOST_CHUNKS];
    uint32_t count;
} pieces;

static void split(mr_bytes bytes, pieces *all)
{
    all->count = 0;
    for (size_t at = sizeof(mr_mrt_header); at < bytes.count;) {
        const mr_mrt_chunk *chunk = (const mr_mrt_chunk *)(const void *)(bytes.items + at);
        size_t size = sizeof *chunk + (size_t)mr_mrt_filled(chunk->size_bytes);
        assert_true(all->count < MOST_CHUNKS);
        all->items[all->count++] = mr_test_copy((mr_bytes){bytes.items + at, size});
        at += size;
    }
}

static mr_mrt_chunk *head_of(mr_bytes piece)
{
    return (mr_mrt_chunk *)(void *)piece.items;
}

/* A number that may be taken for the one that stands there, or that is far too large. */
static uint32_t other_number(uint32_t number, mr_random *random)
{
    switch (mr_random_below(random, 7)) {
    case 0:
        return 0;
    case 1:
        return number + 1;
    case 2:
        return number - 1;
    case 3:
        return UINT32_MAX;
    case 4:
        return UINT32_C(1) << mr_random_below(random, 32);
    case 5:
        return mr_random_below(random, 8);
    default:
        return (uint32_t)mr_random_next(random);
    }
}

static void change_number(unsigned char *at, mr_random *random)
{
    uint32_t number;
    memcpy(&number, at, sizeof number);
    number = other_number(number, random);
    memcpy(at, &number, sizeof number);
}

static void change_payload(mr_bytes piece, mr_random *random)
{
    uint32_t size = (uint32_t)head_of(piece)->size_bytes;
    unsigned char *payload = piece.items + sizeof(mr_mrt_chunk);
    if (size == 0)
        return;
    if (size < sizeof(uint32_t) || mr_random_percent(random, 25))
        payload[mr_random_below(random, size)] = (unsigned char)other_number(0, random);
    else
        change_number(payload + mr_random_below(random, size / 4) * 4, random);
}

static void change_head(mr_bytes piece, mr_random *random)
{
    mr_mrt_chunk *head = head_of(piece);
    uint32_t *const numbers[] = {&head->kind, &head->first, &head->count, &head->space,
                                 &head->has_values};
    uint32_t which = mr_random_below(random, 6);
    if (which < 5)
        *numbers[which] =
            which ? other_number(*numbers[which], random) : 1 + mr_random_below(random, MR_MRT_GAP);
    else if (head->size_bytes)
        head->size_bytes -=
            mr_random_below(random, (uint32_t)(piece.count - sizeof *head) % 64 + 4) %
            head->size_bytes;
}

static void change_order(pieces *all, uint32_t number, mr_random *random)
{
    mr_bytes piece = all->items[number];
    uint32_t other = mr_random_below(random, all->count);
    switch (mr_random_below(random, 3)) {
    case 0:
        free(piece.items);
        all->count--;
        memmove(&all->items[number], &all->items[number + 1], (all->count - number) * sizeof piece);
        break;
    case 1:
        if (all->count == MOST_CHUNKS)
            return;
        memmove(&all->items[number + 1], &all->items[number], (all->count - number) * sizeof piece);
        all->items[number] = mr_test_copy(piece);
        all->count++;
        break;
    default:
        all->items[number] = all->items[other];
        all->items[other] = piece;
        break;
    }
}

static void change(pieces *all, mr_random *random)
{
    uint32_t number = mr_random_below(random, all->count), way = mr_random_below(random, 10);
    if (way < 6)
        change_payload(all->items[number], random);
    else if (way < 9)
        change_head(all->items[number], random);
    else
        change_order(all, number, random);
}

/* The pieces as one file, with right numbers and checksums. */
static mr_bytes join(const pieces *all, const unsigned char *header)
{
    mr_bytes joined = {NULL, sizeof(mr_mrt_header)};
    uint64_t index_offset = 0;
    for (uint32_t i = 0; i < all->count; i++)
        joined.count += all->items[i].count;
    joined.items = malloc(joined.count);
    assert_non_null(joined.items);
    memcpy(joined.items, header, sizeof(mr_mrt_header));
    size_t at = sizeof(mr_mrt_header);
    for (uint32_t i = 0; i < all->count; i++) {
        mr_mrt_chunk *head = head_of(all->items[i]);
        head->number = i;
        if (head->kind == MR_MRT_INDEX)
            index_offset = at;
        if (head->kind == MR_MRT_END)
            head->index_offset = index_offset;
        memcpy(joined.items + at, all->items[i].items, all->items[i].count);
        at += all->items[i].count;
    }
    mr_test_seal(joined);
    return joined;
}

void mr_wrong_mrt(const mr_trace *trace, uint32_t block, uint64_t seed, const char *path)
{
    mr_random random = {.state = seed};
    mr_bytes right = mr_test_mrt(trace, block);
    pieces *all = malloc(sizeof *all);
    assert_non_null(all);
    split(right, all);
    for (uint32_t left = 1 + mr_random_below(&random, 3); left > 0 && all->count > 1; left--)
        change(all, &random);
    mr_bytes wrong = join(all, right.items);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(wrong.items, 1, wrong.count, file), wrong.count);
    assert_int_equal(fclose(file), 0);
    for (uint32_t i = 0; i < all->count; i++)
        free(all->items[i].items);
    free(all);
    free(right.items);
    free(wrong.items);
}
