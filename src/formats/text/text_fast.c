#include "text_fast.h"

#include "base/assert.h"
#include "parse.h"

#include "marks.h"

#include <stdio.h>
#include <string.h>

enum {
    WAY_ELSEWHERE, /* not here */
    WAY_ACCESS,
    WAY_LOCK,
    WAY_BRANCH,
    MOST_SHORT_OP = 7, /* bytes */
};

/* A line that looks ordinary, taken apart. */
typedef struct mr_fast_line {
    const char *start;
    mr_name_key name, location;
    int64_t value;
    uint32_t length; /* with the newline */
    uint32_t thread_length;
    mr_text_fast_kind kind;
    bool has_value;
} mr_fast_line;

static const uint64_t low_bytes[] = {
    0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
};

/* The first `length` <= MOST_SHORT_OP bytes; 8 can be read. */
static inline uint64_t short_word(const char *text, uint32_t length)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word & low_bytes[length];
}

static inline uint32_t slot_of_op(uint64_t word, uint64_t multiplier)
{
    enum { HASH_SHIFT = 59 };
    _Static_assert(1u << (64 - HASH_SHIFT) == MR_TEXT_FAST_OPS, "the hash gives a slot");
    return (uint32_t)((word * multiplier) >> HASH_SHIFT);
}

static uint8_t way_of_op(mr_op op)
{
    switch (mr_op_operand_kind(op)) {
    case MR_OPERAND_VARIABLE:
        return mr_op_updates((uint8_t)op) || !mr_op_is_access((uint8_t)op) ? WAY_ELSEWHERE
                                                                           : WAY_ACCESS;
    case MR_OPERAND_LOCK:
        return WAY_LOCK;
    case MR_OPERAND_NONE:
    case MR_OPERAND_THREAD:
    case MR_OPERAND_CALL:
    case MR_OPERAND_OBJECT:
        break;
    }
    return op == MR_OP_BRANCH ? WAY_BRANCH : WAY_ELSEWHERE;
}

/* Puts an operation that is taken here into the slot of its word; false when another is there. */
static bool place_op(mr_text_fast *fast, mr_op op, mr_memory_order order)
{
    char text[MOST_SHORT_OP + 1] = "";
    const char *suffix = order == MR_ORDER_SC ? "" : mr_memory_order_suffix(order);
    int length = snprintf(text, sizeof text, "%s%s", mr_op_name(op), suffix);
    if (way_of_op(op) == WAY_ELSEWHERE || length > MOST_SHORT_OP ||
        !mr_memory_order_fits(op, order))
        return true;
    uint64_t word = short_word(text, (uint32_t)length);
    mr_text_fast_op *slot = &fast->ops[slot_of_op(word, fast->multiplier)];
    if (slot->word)
        return false;
    *slot = (mr_text_fast_op){word, {(uint8_t)op, way_of_op(op), (uint8_t)order, 0}};
    return true;
}

/* Puts each operation into a slot of its own; false when two fall into one. */
static bool place_ops(mr_text_fast *fast)
{
    memset(fast->ops, 0, sizeof fast->ops);
    for (int op = 0; op < MR_OP_COUNT; op++)
        for (int order = 0; order < MR_MEMORY_ORDER_COUNT; order++)
            if (!place_op(fast, (mr_op)op, (mr_memory_order)order))
                return false;
    return true;
}

void mr_text_fast_init(mr_text_fast *fast)
{
    *fast = (mr_text_fast){.multiplier = 1, .ahead = 1};
    do /* some hundred tries at most: the table has room, and the operations are known */
        fast->multiplier = fast->multiplier * 6364136223846793005u + 1442695040888963407u;
    while (!place_ops(fast));
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
static inline bool look_at_value(const char *text, uint32_t length, bool keep, mr_fast_line *line)
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
static inline bool look_at_op(const mr_text_fast *fast, const char *text, uint32_t bar,
                              uint32_t open, mr_fast_line *line)
{
    /* text[64] can be read, but is no mark. */
    if (text[bar] != '|' || text[open] != '(' || open >= MR_MARKS_BYTES || !bar || *text == '#' ||
        open - bar - 1 > MOST_SHORT_OP)
        return false;
    uint64_t word = short_word(text + bar + 1, open - bar - 1);
    const mr_text_fast_op *op = &fast->ops[slot_of_op(word, fast->multiplier)];
    line->kind = op->kind;
    line->thread_length = bar;
    return op->word == word && op->kind.way != WAY_ELSEWHERE;
}

/* Takes the line of `length` bytes apart. False: it is not ordinary. */
static inline bool look(const mr_text_fast *fast, const char *text, uint32_t length, bool keep,
                        mr_fast_line *line)
{
    uint64_t marks = mr_shape_of(text);
    if (length < MR_MARKS_BYTES)
        marks &= ((uint64_t)1 << length) - 1;
    uint32_t bar = next_mark(&marks), open = next_mark(&marks);
    if (!look_at_op(fast, text, bar, open, line))
        return false;
    uint32_t name_end = next_mark(&marks), close = name_end;
    line->has_value = text[name_end] == '=';
    if (line->has_value) {
        close = next_mark(&marks);
        if (line->kind.way != WAY_ACCESS || close >= MR_MARKS_BYTES ||
            !look_at_value(text + name_end + 1, close - name_end - 1, keep, line))
            return false;
    }
    uint32_t second_bar = next_mark(&marks);
    if (second_bar != close + 1 || second_bar >= MR_MARKS_BYTES || text[close] != ')' ||
        text[second_bar] != '|' || (name_end == open + 1) != (line->kind.way == WAY_BRANCH))
        return false;
    mr_names_key(&line->name, text + open + 1, name_end - open - 1);
    uint32_t at = second_bar + 1;
    uint32_t location_length = length - at;
    location_length -= location_length && text[length - 1] == '\r';
    mr_names_key(&line->location, text + at, location_length);
    line->start = text;
    line->length = length + 1;
    return true;
}

/* The number of the line's thread, when it is known. */
static inline bool find_thread(mr_text_fast *fast, const mr_names *threads,
                               const mr_fast_line *line, uint32_t *thread)
{
    /* Most lines have the thread of the line before. */
    uint64_t word = mr_marks_load(line->start) & low_bytes[line->thread_length & MOST_SHORT_OP];
    *thread = fast->thread;
    if (line->thread_length <= MOST_SHORT_OP && line->thread_length == fast->thread_length &&
        word == fast->thread_word)
        return true;
    mr_name_key key;
    mr_names_key(&key, line->start, line->thread_length);
    uint32_t found = mr_names_look(threads, &key);
    if (!found)
        return false;
    fast->thread_word = word;
    fast->thread_length = line->thread_length;
    *thread = fast->thread = found - 1;
    return true;
}

static inline bool find_or_add(mr_names *names, const mr_name_key *key, uint32_t *number)
{
    *number = mr_names_look(names, key) - 1;
    return *number != UINT32_MAX || mr_names_add_key(names, key, number);
}

/* Made twice each, for lines of traces with and without objects and memory orders. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* How a line that looks ordinary fits the trace so far. */
typedef enum fast_verdict { TAKEN, LEFT, NO_MEMORY } fast_verdict;

/* The number of the operand, when the event is certainly valid. */
ALWAYS_INLINE fast_verdict admit(mr_validity *validity, mr_trace *trace, const mr_fast_line *line,
                                 bool has_members, mr_step *step)
{
    if (line->kind.way == WAY_LOCK) {
        uint32_t found = mr_names_look(&trace->locks, &line->name);
        step->op = (mr_op)line->kind.op;
        step->operand = found - 1;
        mr_error unused;
        /* A refusal changes nothing: the event is judged once more, for the message. */
        return found && mr_validity_step(validity, step, &unused) == MR_OK ? TAKEN : LEFT;
    }
    if (!mr_validity_access_changes_nothing(validity, step->thread))
        return LEFT;
    step->operand = 0;
    if (line->kind.way == WAY_ACCESS &&
        !find_or_add(&trace->variables, &line->name, &step->operand))
        return NO_MEMORY;
    if (has_members && line->kind.way == WAY_ACCESS)
        mr_validity_note_access(validity, step->operand);
    return TAKEN;
}

/* `special`: the trace has members of objects or memory orders. */
ALWAYS_INLINE fast_verdict take(mr_text_fast *fast, const mr_fast_line *line, uint64_t number,
                                bool special, mr_validity *validity, mr_builder *builder,
                                mr_rows *rows)
{
    mr_trace *trace = builder->trace;
    mr_step step = {.line = number};
    if (!find_thread(fast, &trace->threads, line, &step.thread))
        return LEFT;
    fast_verdict verdict = admit(validity, trace, line, special, &step);
    if (verdict != TAKEN)
        return verdict;
    uint32_t row = rows->count, value = 0;
    MR_ASSERT_COSTLY(row < rows->room && step.thread < trace->threads.count);
    if (!find_or_add(&trace->locations, &line->location, &rows->location[row]) ||
        (rows->value && line->has_value && !mr_builder_value(builder, line->value, &value)))
        return NO_MEMORY;
    rows->op[row] = line->kind.op;
    rows->thread[row] = step.thread;
    rows->operand[row] = step.operand;
    if (rows->value)
        rows->value[row] = value;
    rows->count++;
    trace->event_count++;
    if (special && (line->kind.memory_order || rows->memory_order))
        return mr_builder_put_order(builder, rows, (mr_memory_order)line->kind.memory_order, NULL)
                   ? NO_MEMORY
                   : TAKEN;
    return TAKEN;
}

/* Takes lines of a batch from number `*next` on: all, or only those that are not special. */
ALWAYS_INLINE fast_verdict take_some(mr_text_fast *fast, const mr_fast_line *batch, uint32_t count,
                                     bool special, uint32_t *next, mr_lines *lines,
                                     mr_validity *validity, mr_builder *builder, mr_rows *rows)
{
    for (; *next < count && (special || !batch[*next].kind.memory_order); ++*next) {
        fast_verdict verdict =
            take(fast, &batch[*next], lines->number + 1, special, validity, builder, rows);
        if (verdict != TAKEN)
            return verdict;
        lines->number++;
        lines->next += batch[*next].length;
    }
    return TAKEN;
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
                          uint32_t ends[MR_TEXT_FAST_BATCH + MR_MARKS_BYTES])
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

/* Looks at up to `most` lines and stops at one that is not ordinary. Returns how many are. */
static uint32_t look_ahead(const mr_text_fast *fast, const mr_lines *lines, uint32_t most,
                           const mr_trace *trace, bool keep, mr_fast_line *batch)
{
    uint32_t ends[MR_TEXT_FAST_BATCH + MR_MARKS_BYTES], start = 0, count = 0;
    const char *text = lines->buffer + lines->next;
    uint32_t found = find_ends(text, lines->end - lines->next, most, ends);
    for (; count < most && count < found; count++) {
        mr_fast_line *line = &batch[count];
        if (!look(fast, text + start, ends[count] - start, keep, line))
            break;
        mr_names_fetch(line->kind.way == WAY_LOCK ? &trace->locks : &trace->variables, &line->name);
        mr_names_fetch(&trace->locations, &line->location);
        start = ends[count] + 1;
    }
    return count;
}

mr_status mr_text_fast_take(mr_text_fast *fast, mr_lines *lines, mr_validity *validity,
                            mr_builder *builder, mr_rows *rows, mr_error *error)
{
    mr_fast_line batch[MR_TEXT_FAST_BATCH];
    mr_trace *trace = builder->trace;
    uint32_t most = 0, count = 0;
    while (count == most && mr_lines_plain(lines)) {
        most = rows->room - rows->count;
        if (rows->in_trace && most > MR_NESTED - trace->event_count)
            most = (uint32_t)(MR_NESTED - trace->event_count);
        if (most > fast->ahead)
            most = fast->ahead;
        count = look_ahead(fast, lines, most, trace, rows->value != NULL, batch);
        /* Between many lines of other kinds, looking far ahead would be lost work. */
        fast->ahead = count < most ? 1 : MR_TEXT_FAST_BATCH;
        if (!count)
            break;
        mr_status status = mr_builder_line(builder, lines->number + 1, error);
        if (status)
            return status;
        fast_verdict verdict = TAKEN;
        uint32_t next = 0;
        if (!trace->members.count && !rows->memory_order)
            verdict = take_some(fast, batch, count, false, &next, lines, validity, builder, rows);
        if (verdict == TAKEN)
            verdict = take_some(fast, batch, count, true, &next, lines, validity, builder, rows);
        if (verdict != TAKEN)
            return verdict == LEFT ? MR_OK : mr_error_memory(error, "reading the trace");
        MR_ASSERT(lines->next <= lines->end && rows->count <= rows->room);
    }
    return MR_OK;
}
