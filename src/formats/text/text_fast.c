#include "text_fast.h"

#include "base/assert.h"
#include "marks.h"

#include <string.h>

void mr_text_fast_init(mr_text_fast *fast)
{
    *fast = (mr_text_fast){.batch = 1};
    mr_text_ops_init(&fast->ops);
}

/* The key that the line's hash was made of. */
static inline void make_key(mr_name_key *key, const char *text, uint32_t length, uint32_t hash)
{
    key->text = text;
    key->length = length;
    key->hash = hash;
    if (length <= MR_NAME_SHORT_BYTES)
        mr_names_words(text, length, key->words);
    else
        mr_names_key_of_long(key);
}

/* The number of the line's thread, when it is known. */
static inline bool find_thread(mr_text_fast *fast, const mr_names *threads, const char *text,
                               uint32_t length, uint32_t *thread)
{
    enum { MOST = sizeof fast->thread_word - 1 };
    /* Most lines have the thread of the line before. */
    uint64_t word = mr_marks_low(text, length & MOST);
    *thread = fast->thread;
    if (length <= MOST && length == fast->thread_length && word == fast->thread_word)
        return true;
    mr_name_key key;
    mr_names_key(&key, text, length);
    uint32_t found = mr_names_look(threads, &key);
    if (!found)
        return false;
    fast->thread_word = word;
    fast->thread_length = length;
    *thread = fast->thread = found - 1;
    return true;
}

static inline bool find_or_add(mr_names *names, const char *text, uint32_t length, uint32_t hash,
                               uint32_t *number)
{
    mr_name_key key;
    make_key(&key, text, length, hash);
    *number = mr_names_look(names, &key) - 1;
    return *number != UINT32_MAX || mr_names_add_key(names, &key, number);
}

/* Made twice each, for lines of traces with and without objects and memory orders. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* How a line that looks ordinary fits the trace so far. */
typedef enum fast_verdict { TAKEN, LEFT, NO_MEMORY } fast_verdict;

/* The number of the operand, when the event is certainly valid. */
ALWAYS_INLINE fast_verdict admit(mr_validity *validity, mr_trace *trace, const char *text,
                                 const mr_looked *line, bool has_members, mr_step *step)
{
    const char *name = text + line->name_start;
    if (line->kind.way == MR_TEXT_LOCK) {
        mr_name_key key;
        make_key(&key, name, line->name_length, line->name_hash);
        uint32_t found = mr_names_look(&trace->locks, &key);
        step->op = (mr_op)line->kind.op;
        step->operand = found - 1;
        mr_error unused;
        /* A refusal changes nothing: the event is judged once more, for the message. */
        return found && mr_validity_step(validity, step, &unused) == MR_OK ? TAKEN : LEFT;
    }
    if (!mr_validity_access_changes_nothing(validity, step->thread))
        return LEFT;
    step->operand = 0;
    if (line->kind.way == MR_TEXT_ACCESS &&
        !find_or_add(&trace->variables, name, line->name_length, line->name_hash, &step->operand))
        return NO_MEMORY;
    if (has_members && line->kind.way == MR_TEXT_ACCESS)
        mr_validity_note_access(validity, step->operand);
    return TAKEN;
}

/* The location of a line, added when new. */
static inline bool get_location(mr_names *locations, const char *text, const mr_looked *line,
                                uint32_t *number)
{
    if (!line->kind.knows_location)
        return find_or_add(locations, text + line->location_start, mr_looked_location_length(line),
                           line->location_hash, number);
    *number = line->location;
    return true;
}

/* `special`: the trace has members of objects or memory orders. */
ALWAYS_INLINE fast_verdict take(mr_text_fast *fast, const char *text, const mr_looked *line,
                                uint64_t number, bool special, mr_validity *validity,
                                mr_builder *builder, mr_rows *rows)
{
    mr_trace *trace = builder->trace;
    mr_step step = {.line = number};
    if (!find_thread(fast, &trace->threads, text, line->thread_length, &step.thread))
        return LEFT;
    fast_verdict verdict = admit(validity, trace, text, line, special, &step);
    if (verdict != TAKEN)
        return verdict;
    uint32_t row = rows->count, value = 0;
    MR_ASSERT_COSTLY(row < rows->room && step.thread < trace->threads.count);
    if (!get_location(&trace->locations, text, line, &rows->location[row]) ||
        (rows->value && line->kind.has_value && !mr_builder_value(builder, line->value, &value)))
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
ALWAYS_INLINE fast_verdict take_some(mr_text_fast *fast, const mr_looked *batch, uint32_t count,
                                     bool special, uint32_t *next, mr_lines *lines,
                                     mr_validity *validity, mr_builder *builder, mr_rows *rows)
{
    for (; *next < count && (special || !batch[*next].kind.memory_order); ++*next) {
        fast_verdict verdict = take(fast, lines->buffer + batch[*next].start, &batch[*next],
                                    lines->number + 1, special, validity, builder, rows);
        if (verdict != TAKEN)
            return verdict;
        lines->number++;
        lines->next += batch[*next].length;
    }
    return TAKEN;
}

/* The next lines, up to `most` of them and to one that is not ordinary: from the thread ahead, or
 * looked at now, into `own`. `*there`: so many from the first on were looked at. */
static const mr_looked *next_lines(mr_text_fast *fast, const mr_lines *lines, uint32_t most,
                                   bool keep_values, mr_looked *own, uint32_t *count,
                                   uint32_t *there)
{
    if (fast->ahead) {
        const mr_looked *looked = mr_text_ahead_lines(fast->ahead, there);
        *count = *there < most ? *there : most;
        if (looked && *count)
            return looked;
    }
    const mr_text_look look = {.ops = &fast->ops, .keep_values = keep_values, .stop_at_odd = true};
    *count = mr_text_look_at(&look, lines->buffer, lines->next, lines->end,
                             most < fast->batch ? most : fast->batch, own);
    /* Between many lines of other kinds, looking far ahead would be lost work. */
    fast->batch = *count < most && *count < fast->batch ? 1 : MR_TEXT_LOOK_BATCH;
    fast->fetched = NULL;
    *there = *count;
    return own;
}

/* Fetches the slots of names and values into the cache: for the first `count` lines, a batch, and for two batches behind
 * it, as far as they are there. */
static void fetch(mr_text_fast *fast, const mr_builder *builder, const mr_looked *looked,
                  uint32_t count, uint32_t there, bool keeps_values)
{
    enum { BATCH = MR_TEXT_LOOK_BATCH };
    const mr_trace *trace = builder->trace;
    uint32_t from = looked == fast->fetched ? 2 * BATCH : 0; /* those were fetched before */
    uint32_t to = there - count < 2 * BATCH ? there : count + 2 * BATCH;
    for (uint32_t i = from; i < to; i++) {
        const mr_looked *line = &looked[i];
        if (line->kind.way == MR_TEXT_ELSEWHERE)
            continue;
        mr_names_fetch(line->kind.way == MR_TEXT_LOCK ? &trace->locks : &trace->variables,
                       line->name_hash);
        if (!line->kind.knows_location)
            mr_names_fetch(&trace->locations, line->location_hash);
        if (keeps_values && line->kind.has_value)
            mr_builder_fetch_value(builder, line->value);
    }
    fast->fetched = there > count ? looked + count : NULL;
}

/* How many of the lines are ordinary, up to the first that is not. */
static uint32_t ordinary(const mr_looked *looked, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (looked[i].kind.way == MR_TEXT_ELSEWHERE)
            return i;
    return count;
}

/* How many lines may be taken at once. */
static uint32_t most_of(const mr_rows *rows, const mr_trace *trace)
{
    uint32_t most = rows->room - rows->count;
    if (rows->in_trace && most > MR_NESTED - trace->event_count)
        most = (uint32_t)(MR_NESTED - trace->event_count);
    return most < MR_TEXT_LOOK_BATCH ? most : MR_TEXT_LOOK_BATCH;
}

mr_status mr_text_fast_take(mr_text_fast *fast, mr_lines *lines, mr_validity *validity,
                            mr_builder *builder, mr_rows *rows, mr_error *error)
{
    mr_looked own[MR_TEXT_LOOK_BATCH];
    mr_trace *trace = builder->trace;
    while (mr_lines_plain(lines)) {
        uint32_t count, there, next = 0;
        const mr_looked *looked =
            next_lines(fast, lines, most_of(rows, trace), rows->value != NULL, own, &count, &there);
        fetch(fast, builder, looked, count, there, rows->value != NULL);
        count = ordinary(looked, count);
        if (!count)
            break;
        mr_status status = mr_builder_line(builder, lines->number + 1, error);
        if (status)
            return status;
        fast_verdict verdict = TAKEN;
        if (!trace->members.count && !rows->memory_order)
            verdict = take_some(fast, looked, count, false, &next, lines, validity, builder, rows);
        if (verdict == TAKEN)
            verdict = take_some(fast, looked, count, true, &next, lines, validity, builder, rows);
        if (verdict != TAKEN)
            return verdict == LEFT ? MR_OK : mr_error_memory(error, "reading the trace");
        MR_ASSERT(lines->next <= lines->end && rows->count <= rows->room);
    }
    return MR_OK;
}
