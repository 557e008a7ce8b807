#include "inputs_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OCCURRENCES = 3, LENGTH_SLACK = 2 };

static uint64_t cut(uint64_t value, unsigned width)
{
    return width >= 8 ? value : value & ((UINT64_C(1) << 8 * width) - 1);
}

/* The low `narrow` bytes with their sign, as a number of `width` bytes. */
static uint64_t extended(uint64_t value, unsigned narrow, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (8 * narrow - 1), low = cut(value, narrow);
    return cut((low ^ sign) - sign, width);
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* The digits from `at` on as a number; returns how many there are, 0: too many. */
static uint32_t read_digits(const mr_input_bytes *input, size_t at, uint64_t *value)
{
    enum { MOST = 19 };
    uint32_t count = 0;
    for (*value = 0; at + count < input->size && is_digit(input->items[at + count]); count++) {
        if (count == MOST)
            return 0;
        *value = *value * 10 + (input->items[at + count] - (uint64_t)'0');
    }
    return count;
}

/* Do digits of this number begin here? `*negative`: with a minus before them. */
static uint32_t digits_of(const mr_input_bytes *input, size_t at, uint64_t value, unsigned width,
                          bool *negative)
{
    uint64_t found;
    if (!is_digit(input->items[at]) || (at > 0 && is_digit(input->items[at - 1])))
        return 0;
    uint32_t count = read_digits(input, at, &found);
    *negative = at > 0 && input->items[at - 1] == '-';
    return cut(*negative ? 0 - found : found, width) == value ? count : 0;
}

typedef struct matching {
    const mr_input_bytes *input;
    mr_operand_form *forms;
    uint32_t count, most;
} matching;

static void add_bytes(matching *self, size_t at, unsigned width, bool big)
{
    if (self->count == self->most)
        return;
    mr_operand_form *form = &self->forms[self->count++];
    *form = (mr_operand_form){.count = width};
    for (unsigned i = 0; i < width; i++)
        form->terms[i] =
            (mr_byte_term){(uint32_t)at + i, UINT64_C(1) << 8 * (big ? width - 1 - i : i)};
}

static void match_bytes(matching *self, uint64_t value, unsigned width)
{
    const mr_input_bytes *input = self->input;
    for (size_t at = 0; at + width <= input->size; at++) {
        bool little = true, big = width > 1;
        for (unsigned i = 0; i < width; i++) {
            little = little && input->items[at + i] == (uint8_t)(value >> 8 * i);
            big = big && input->items[at + i] == (uint8_t)(value >> 8 * (width - 1 - i));
        }
        if (little)
            add_bytes(self, at, width, false);
        if (big)
            add_bytes(self, at, width, true);
    }
}

static void match_digits(matching *self, uint64_t value, unsigned width)
{
    for (size_t at = 0; at < self->input->size && self->count < self->most; at++) {
        bool negative = false;
        uint32_t count = digits_of(self->input, at, value, width, &negative);
        uint64_t factor = negative ? UINT64_MAX : 1;
        if (!count)
            continue;
        mr_operand_form *form = &self->forms[self->count++];
        *form = (mr_operand_form){.count = count, .digits = true};
        for (uint32_t i = count; i-- > 0; factor *= 10)
            form->terms[i] = (mr_byte_term){(uint32_t)at + i, factor};
    }
}

uint32_t mr_match_number(const mr_input_bytes *input, uint64_t value, unsigned width,
                         mr_operand_form *forms, uint32_t most)
{
    matching self = {input, forms, 0, most};
    value = cut(value, width);
    for (unsigned narrow = 8; narrow >= 1; narrow /= 2) {
        if (narrow == 1)
            match_digits(&self, value, width);
        if (narrow <= width &&
            (cut(value, narrow) == value || extended(value, narrow, width) == value))
            match_bytes(&self, value, narrow);
    }
    return self.count;
}

/* ---- replacements ---- */

/* Offers the input with `size` bytes in the place of `old` ones. */
static bool replace(mr_inputs *inputs, uint32_t index, size_t at, size_t old, const void *bytes,
                    size_t size)
{
    mr_input_bytes input = inputs->corpus[index].bytes;
    uint8_t *copy = mr_malloc(input.size + 1, size);
    if (!copy)
        return false;
    memcpy(copy, input.items, at);
    if (size > 0)
        memcpy(copy + at, bytes, size);
    memcpy(copy + at + size, input.items + at + old, input.size - at - old);
    bool done =
        mr_inputs_offer(inputs, copy, input.size - old + size, MR_INPUT_WHY_SOLVED, index, 0);
    free(copy);
    return done;
}

static bool replace_digits(mr_inputs *inputs, uint32_t index, uint64_t value, uint64_t wanted,
                           unsigned width)
{
    const mr_input_bytes input = inputs->corpus[index].bytes;
    uint32_t left = OCCURRENCES;
    char text[32];
    bool done = true;
    for (size_t at = 0; at < input.size && left > 0 && done; at++) {
        bool negative;
        uint32_t count = digits_of(&input, at, value, width, &negative);
        if (!count)
            continue;
        int64_t as_signed = (int64_t)extended(wanted, width, 8);
        int length = as_signed < 0 && width < 8
                         ? snprintf(text, sizeof text, "%" PRIu64, wanted)
                         : snprintf(text, sizeof text, "%" PRId64, as_signed);
        size_t from = at - negative;
        done = replace(inputs, index, from, count + negative, text, (size_t)length);
        if (as_signed < 0 && width < 8 && done) { /* as a signed number, too */
            length = snprintf(text, sizeof text, "%" PRId64, as_signed);
            done = replace(inputs, index, from, count + negative, text, (size_t)length);
        }
        left--;
    }
    return done;
}

static int hex_digit(uint8_t byte)
{
    if (is_digit(byte))
        return byte - '0';
    byte |= 32;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static bool replace_hex(mr_inputs *inputs, uint32_t index, uint64_t value, uint64_t wanted)
{
    const mr_input_bytes input = inputs->corpus[index].bytes;
    char text[32];
    for (size_t at = 0; at < input.size; at++) {
        uint64_t found = 0;
        size_t count = 0;
        if (at > 0 && hex_digit(input.items[at - 1]) >= 0)
            continue;
        for (; at + count < input.size && count < 17; count++) {
            int digit = hex_digit(input.items[at + count]);
            if (digit < 0)
                break;
            found = found << 4 | (uint64_t)digit;
        }
        if (count == 0 || count > 16 || found != value)
            continue;
        int length = snprintf(text, sizeof text, "%0*" PRIx64, (int)count, wanted);
        return replace(inputs, index, at, count, text, (size_t)length);
    }
    return true;
}

/* The input gets as long as the number says. */
static bool replace_length(mr_inputs *inputs, uint32_t index, uint64_t value, uint64_t wanted)
{
    const mr_input_bytes input = inputs->corpus[index].bytes;
    uint64_t slack = value + LENGTH_SLACK - input.size; /* wraps when it is far away */
    uint64_t size = wanted + input.size - value;
    if (value < 2 || slack > (uint64_t)2 * LENGTH_SLACK || size > inputs->settings.most_bytes)
        return true;
    if (size <= input.size)
        return replace(inputs, index, (size_t)size, input.size - (size_t)size, NULL, 0);
    size_t more = (size_t)size - input.size;
    uint8_t *bytes = mr_malloc(1, more);
    if (!bytes)
        return false;
    memset(bytes, input.size > 0 ? input.items[input.size - 1] : 'A', more);
    bool done = replace(inputs, index, input.size, 0, bytes, more);
    free(bytes);
    return done;
}

bool mr_replace_number(mr_inputs *inputs, uint32_t index, uint64_t value, uint64_t wanted,
                       unsigned width)
{
    value = cut(value, width);
    wanted = cut(wanted, width);
    return replace_digits(inputs, index, value, wanted, width) &&
           replace_hex(inputs, index, value, wanted) &&
           replace_length(inputs, index, value, wanted);
}

/* A text without its end. */
static size_t text_bytes(const uint8_t *text, size_t kept)
{
    const void *end = memchr(text, '\0', kept);
    return end && (const uint8_t *)end == text + kept - 1 ? kept - 1 : kept;
}

static bool replace_one(mr_inputs *inputs, uint32_t index, const uint8_t *old, size_t old_size,
                        const uint8_t *new, size_t new_size)
{
    const mr_input_bytes input = inputs->corpus[index].bytes;
    uint32_t left = OCCURRENCES;
    if (old_size == 0) /* nothing was there: at the end, or at the beginning */
        return replace(inputs, index, input.size, 0, new, new_size) &&
               replace(inputs, index, 0, 0, new, new_size);
    for (size_t at = 0; at + old_size <= input.size && left > 0; at++) {
        if (memcmp(input.items + at, old, old_size) != 0)
            continue;
        size_t over = new_size < input.size - at ? new_size : input.size - at;
        if (!replace(inputs, index, at, old_size, new, new_size) ||
            !replace(inputs, index, at, over, new, new_size))
            return false;
        left--;
    }
    return true;
}

bool mr_replace_text(mr_inputs *inputs, uint32_t index, const mr_compared *compared)
{
    const uint8_t *one = compared->texts[0], *two = compared->texts[1];
    size_t one_size = text_bytes(one, compared->bytes), two_size = text_bytes(two, compared->other);
    uint8_t changed[MR_OPERANDS_TEXT_BYTES];
    if (mr_sign_of(compared) != MR_SIGN_EQUAL)
        return replace_one(inputs, index, one, one_size, two, two_size) &&
               (two_size == 0 || replace_one(inputs, index, two, two_size, one, one_size));
    memcpy(changed, one, sizeof changed);
    changed[0] ^= 1;
    return one_size == 0 || replace_one(inputs, index, one, one_size, changed, one_size);
}
