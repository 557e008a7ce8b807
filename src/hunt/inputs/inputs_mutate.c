/* Changes an input at random, as fuzzers do. */
#include "inputs_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACKED = 4, PIECE = 16, NEAR = 35 };

/* The input that is being changed; `room` is the most that it may have. */
typedef struct mutant {
    uint8_t *bytes;
    size_t size, room;
} mutant;

static void insert(mutant *self, size_t at, const uint8_t *bytes, size_t size)
{
    if (size > self->room - self->size)
        size = self->room - self->size;
    memmove(self->bytes + at + size, self->bytes + at, self->size - at);
    memcpy(self->bytes + at, bytes, size);
    self->size += size;
}

static void erase(mutant *self, size_t at, size_t size)
{
    memmove(self->bytes + at, self->bytes + at + size, self->size - at - size);
    self->size -= size;
}

/* A piece of what is there: its place in *at, its size. */
static size_t piece(mr_inputs *inputs, const mutant *self, size_t *at)
{
    *at = mr_inputs_below(inputs, self->size);
    size_t left = self->size - *at, most = left < PIECE ? left : PIECE;
    return 1 + mr_inputs_below(inputs, most);
}

static void change_number(mr_inputs *inputs, mutant *self)
{
    static const uint64_t values[] = {0,          1,          UINT64_MAX, 16,         32,    64,
                                      100,        127,        128,        255,        256,   1000,
                                      1024,       4096,       32767,      32768,      65535, 65536,
                                      0x7fffffff, 0x80000000, 0xffffffff, 0x100000000};
    unsigned width = 1U << mr_inputs_below(inputs, 4);
    size_t at = mr_inputs_below(inputs, self->size);
    bool big = mr_inputs_below(inputs, 2) != 0, adds = mr_inputs_below(inputs, 2) != 0;
    uint64_t value = 0;
    if (at + width > self->size)
        return;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)self->bytes[at + i] << 8 * (big ? width - 1 - i : i);
    value = adds ? value + mr_inputs_below(inputs, 2 * NEAR + 1) - NEAR
                 : values[mr_inputs_below(inputs, sizeof values / sizeof *values)];
    for (unsigned i = 0; i < width; i++)
        self->bytes[at + i] = (uint8_t)(value >> 8 * (big ? width - 1 - i : i));
}

/* Digits become another number. */
static void change_digits(mr_inputs *inputs, mutant *self)
{
    size_t at = mr_inputs_below(inputs, self->size), size = 0;
    char text[32];
    while (at < self->size && (self->bytes[at] < '0' || self->bytes[at] > '9'))
        at++;
    while (at + size < self->size && self->bytes[at + size] >= '0' && self->bytes[at + size] <= '9')
        size++;
    if (size == 0)
        return;
    uint64_t value = mr_inputs_random(inputs) >> mr_inputs_below(inputs, 63);
    int length = snprintf(text, sizeof text, "%" PRIu64, value);
    erase(self, at, size);
    insert(self, at, (const uint8_t *)text, (size_t)length);
}

/* What the program compared with is put in, or over what is there. */
static void use_word(mr_inputs *inputs, mutant *self)
{
    if (inputs->word_count == 0)
        return;
    const mr_input_bytes *word = &inputs->words[mr_inputs_below(inputs, inputs->word_count)];
    size_t at = mr_inputs_below(inputs, self->size + 1);
    if (mr_inputs_below(inputs, 2) && at + word->size <= self->size)
        memcpy(self->bytes + at, word->items, word->size);
    else
        insert(self, at, word->items, word->size);
}

/* The rest comes from another input. */
static void splice(mr_inputs *inputs, mutant *self)
{
    const mr_input_bytes *other =
        &inputs->corpus[mr_inputs_below(inputs, inputs->corpus_count)].bytes;
    size_t at = mr_inputs_below(inputs, self->size + 1);
    size_t from = mr_inputs_below(inputs, other->size + 1);
    self->size = at;
    insert(self, at, other->items + from, other->size - from);
}

static void repeat(mr_inputs *inputs, mutant *self)
{
    uint8_t copy[PIECE];
    size_t at, size = piece(inputs, self, &at);
    memcpy(copy, self->bytes + at, size);
    insert(self, mr_inputs_below(inputs, self->size + 1), copy, size);
}

static void change(mr_inputs *inputs, mutant *self)
{
    size_t at;
    uint8_t byte = (uint8_t)mr_inputs_random(inputs);
    uint32_t way = mr_inputs_below(inputs, 9);
    if (self->size == 0 && way < 7)
        way = 8;
    switch (way) {
    case 0:
        at = mr_inputs_below(inputs, self->size);
        self->bytes[at] ^= (uint8_t)(1U << (byte & 7));
        break;
    case 1:
        at = mr_inputs_below(inputs, self->size);
        self->bytes[at] = byte;
        break;
    case 2:
        change_number(inputs, self);
        break;
    case 3:
        change_digits(inputs, self);
        break;
    case 4: {
        size_t size = piece(inputs, self, &at);
        erase(self, at, size);
        break;
    }
    case 5:
        repeat(inputs, self);
        break;
    case 6:
        splice(inputs, self);
        break;
    case 7:
        insert(self, mr_inputs_below(inputs, self->size + 1), &byte, 1);
        break;
    default:
        use_word(inputs, self);
        break;
    }
}

bool mr_inputs_mutate(mr_inputs *inputs, uint32_t index)
{
    const mr_input_bytes *input = &inputs->corpus[index].bytes;
    mutant self = {.size = input->size, .room = inputs->settings.most_bytes};
    self.bytes = mr_malloc(self.room, 1);
    if (!self.bytes)
        return false;
    memcpy(self.bytes, input->items, input->size);
    for (uint32_t left = 1 + mr_inputs_below(inputs, STACKED); left > 0; left--)
        change(inputs, &self);
    bool done = mr_inputs_offer(inputs, self.bytes, self.size, MR_INPUT_WHY_MUTATED, index, 0);
    free(self.bytes);
    return done;
}
