#include "text_look.h"

#include "base/assert.h"
#include "formats/pack/lines.h"
#include "marks.h"
#include "parse.h"
#include "trace/memory_order.h"
#include "trace/names.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SHORT_OP = 7 /* bytes */ };

static inline uint32_t slot_of_op(uint64_t word, uint64_t multiplier)
{
    enum { HASH_SHIFT = 59 };
    _Static_assert(1u << (64 - HASH_SHIFT) == MR_TEXT_LOOK_OPS, "the hash gives a slot");
    return (uint32_t)((word * multiplier) >> HASH_SHIFT);
}

static uint8_t way_of_op(mr_op op)
{
    switch (mr_op_operand_kind(op)) {
    case MR_OPERAND_VARIABLE:
        return mr_op_updates((uint8_t)op) || !mr_op_is_access((uint8_t)op) ? MR_TEXT_ELSEWHERE
                                                                           : MR_TEXT_ACCESS;
    case MR_OPERAND_LOCK:
        return MR_TEXT_LOCK;
    case MR_OPERAND_NONE:
    case MR_OPERAND_THREAD:
    case MR_OPERAND_CALL:
    case MR_OPERAND_OBJECT:
        break;
    }
    return op == MR_OP_BRANCH ? MR_TEXT_BRANCH : MR_TEXT_ELSEWHERE;
}

/* Puts an operation that is taken here into the slot of its word; false when another is there. */
static bool place_op(mr_text_ops *ops, mr_op op, mr_memory_order order)
{
    char text[MOST_SHORT_OP + 1] = "";
    const char *suffix = order == MR_ORDER_SC ? "" : mr_memory_order_suffix(order);
    int length = snprintf(text, sizeof text, "%s%s", mr_op_name(op), suffix);
    if (way_of_op(op) == MR_TEXT_ELSEWHERE || length > MOST_SHORT_OP ||
        !mr_memory_order_fits(op, order))
        return true;
    uint64_t word = mr_marks_low(text, (uint32_t)length);
    mr_text_op *slot = &ops->slots[slot_of_op(word, ops->multiplier)];
    if (slot->word)
        return false;
    *slot = (mr_text_op){word, {(uint8_t)op, way_of_op(op), (uint8_t)order, 0, 0}};
    return true;
}

/* Puts each operation into a slot of its own; false when two fall into one. */
static bool place_ops(mr_text_ops *ops)
{
    memset(ops->slots, 0, sizeof ops->slots);
    for (int op = 0; op < MR_OP_COUNT; op++)
        for (int order = 0; order < MR_MEMORY_ORDER_COUNT; order++)
            if (!place_op(ops, (mr_op)op, (mr_memory_order)order))
                return false;
    return true;
}

void mr_text_ops_init(mr_text_ops *ops)
{
    *ops = (mr_text_ops){.multiplier = 1};
    do /* some hundred tries at most: the table has room, and the operations are known */
        ops->multiplier = ops->multiplier * 6364136223846793005u + 1442695040888963407u;
    while (!place_ops(ops));
}

/* The number that 1 to MR_DIGITS_BYTES digits are; all of them fit in 64 bits. */
static int64_t number_of(const char *digits, uint32_t count, bool negative)
{
    int64_t number = 0;
    for (uint32_t i = 0; i < count; i++)
        number = number * 10 + (digits[i] - '0');
    return negative ? -number : number;
}

/* Reads the value at `text`. False: it is no value, or this function cannot tell. */
static inline bool look_at_value(const char *text, uint32_t length, bool keep, mr_looked *line)
{
    bool negative = *text == '-';
    uint32_t count = length - negative;
    if (!length || !count)
        return false;
    if (count > MR_DIGITS_BYTES)
        return mr_parse_number((mr_slice){text, length}, &line->value);
    uint32_t all = ((uint32_t)1 << count) - 1;
    if ((mr_digits_of(text + negative) & all) != all)
        return false;
    if (keep)
        line->value = number_of(text + negative, count, negative);
    return true;
}

/* Takes the lowest mark off; 64 when there is none. */
static inline uint32_t next_mark(uint64_t *marks)
{
    uint64_t left = *marks;
    *marks = left & (left - 1);
    return left ? (uint32_t)__builtin_ctzll(left) : MR_MARKS_BYTES;
}

/* thread|op( */
static inline bool look_at_op(const mr_text_ops *ops, const char *text, uint32_t bar, uint32_t open,
                              mr_looked *line)
{
    /* text[64] can be read, but is no mark. */
    if (text[bar] != '|' || text[open] != '(' || open >= MR_MARKS_BYTES || !bar || *text == '#' ||
        open - bar - 1 > MOST_SHORT_OP)
        return false;
    uint64_t word = mr_marks_low(text + bar + 1, open - bar - 1);
    const mr_text_op *op = &ops->slots[slot_of_op(word, ops->multiplier)];
    line->kind = op->kind;
    line->thread_length = (uint8_t)bar;
    return op->word == word && op->kind.way != MR_TEXT_ELSEWHERE;
}

static inline uint32_t hash_of(const char *text, uint32_t length)
{
    mr_name_key key;
    mr_names_key(&key, text, length);
    return key.hash;
}

/* Takes the line of `length` bytes apart. False: it is not ordinary. */
static inline bool look_at(const mr_text_look *look, const char *text, uint32_t length,
                           mr_looked *line)
{
    uint64_t marks = mr_shape_of(text);
    if (length < MR_MARKS_BYTES)
        marks &= ((uint64_t)1 << length) - 1;
    uint32_t bar = next_mark(&marks), open = next_mark(&marks);
    if (!look_at_op(look->ops, text, bar, open, line))
        return false;
    uint32_t name_end = next_mark(&marks), close = name_end;
    line->kind.has_value = text[name_end] == '=';
    if (line->kind.has_value) {
        close = next_mark(&marks);
        if (line->kind.way != MR_TEXT_ACCESS || close >= MR_MARKS_BYTES ||
            !look_at_value(text + name_end + 1, close - name_end - 1, look->keep_values, line))
            return false;
    }
    uint32_t second_bar = next_mark(&marks);
    if (second_bar != close + 1 || second_bar >= MR_MARKS_BYTES || text[close] != ')' ||
        text[second_bar] != '|' || (name_end == open + 1) != (line->kind.way == MR_TEXT_BRANCH))
        return false;
    uint32_t at = second_bar + 1;
    line->name_start = (uint8_t)(open + 1);
    line->name_length = (uint8_t)(name_end - open - 1);
    line->name_hash = hash_of(text + open + 1, name_end - open - 1);
    line->location_start = at & (2 * MR_MARKS_BYTES - 1);
    line->has_return = length > at && text[length - 1] == '\r';
    line->length = length + 1;
    line->location_hash = hash_of(text + at, mr_looked_location_length(line));
    return true;
}

static uint32_t count_bits(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (uint32_t)((bits * 0x0101010101010101u) >> 56);
}

/* Finds the next newlines: `most`, or some more from the last bytes looked at. `ends` gets their
 * offsets from `text`. Returns their number. With all ends known, the lines do not depend on each
 * other, and the processor works on several at once. */
static uint32_t find_ends(const char *text, size_t length, uint32_t most,
                          uint32_t ends[MR_TEXT_LOOK_BATCH + MR_MARKS_BYTES])
{
    enum { USUAL = 4 };
    uint32_t count = 0;
    for (size_t at = 0; at < length && at < MR_LINE_MAX_BYTES && count < most;
         at += MR_MARKS_BYTES) {
        uint64_t newlines = mr_newlines_of(text + at);
        uint32_t here = count_bits(newlines), i = 0;
        do /* one turn most often, which the processor predicts better than a loop over the bits */
            for (uint32_t j = 0; j < USUAL; j++, i++, newlines &= newlines - 1)
                ends[count + i] =
                    (uint32_t)at + (uint32_t)__builtin_ctzll(newlines | (uint64_t)1 << 63);
        while (i < here);
        count += here;
    }
    return count;
}

uint32_t mr_text_look_at(const mr_text_look *look, const char *base, size_t from, size_t end,
                         uint32_t most, mr_looked *lines)
{
    uint32_t ends[MR_TEXT_LOOK_BATCH + MR_MARKS_BYTES], start = 0, count = 0;
    const char *text = base + from;
    MR_ASSERT(from <= end && most <= MR_TEXT_LOOK_BATCH);
    uint32_t found = find_ends(text, end - from, most, ends);
    for (; count < most && count < found; count++) {
        mr_looked *line = &lines[count];
        line->start = (uint32_t)from + start;
        if (!look_at(look, text + start, ends[count] - start, line)) {
            if (look->stop_at_odd)
                break;
            line->length = ends[count] - start + 1;
            line->kind.way = MR_TEXT_ELSEWHERE;
        }
        start = ends[count] + 1;
    }
    return count;
}
