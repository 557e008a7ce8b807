#include "candidates.h"

#include "base/keys.h"
#include "derefs.h"
#include "extents.h"

#include <stdlib.h>

/* What is written to the variables that are used as pointers. Sorted by variable. */
typedef struct writes {
    mr_keys nulls;  /* (variable, place): writes of 0 */
    mr_keys values; /* (variable, value): of other ones */
} writes;

typedef struct asking {
    mr_questions *questions;
    const mr_trace *trace;
    bool by_event;
    mr_derefs derefs;
    mr_extents extents;
    writes writes;
    uint32_t null_value;   /* the index of 0, or 0: no event has it */
    mr_u32s events, found; /* of one question: its reads, the objects that contain the value */
    uint32_t list;         /* of these reads, for all questions about them; MR_NONE: not made yet */
} asking;

static uint32_t find_null(const mr_trace *trace)
{
    for (uint32_t v = 1; v < trace->value_count; v++)
        if (trace->values[v] == 0)
            return v;
    return 0;
}

static bool find_writes(asking *a)
{
    const mr_trace *trace = a->trace;
    bool *is_pointer = mr_calloc((size_t)trace->variables.count + 1, sizeof *is_pointer);
    bool ok = is_pointer != NULL;
    for (size_t i = 0; ok && i < a->derefs.count; i++)
        is_pointer[a->derefs.items[i].variable] = true;
    for (uint32_t e = 0; ok && e < trace->event_count; e++) {
        mr_trace_pass(trace, e);
        uint32_t x = trace->operand[e], number;
        if (!mr_op_writes(trace->op[e]) || !is_pointer[x])
            continue;
        uint32_t value = mr_trace_written_value(trace, e);
        ok = value == a->null_value
                 ? mr_keys_add(&a->writes.nulls, (uint64_t)x << 32 | trace->location[e], &number)
                 : mr_keys_add(&a->writes.values, (uint64_t)x << 32 | value, &number);
    }
    free(is_pointer);
    return ok;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* From here on the keys are a sorted array items[1 … count]. */
static void sort_keys(mr_keys *keys)
{
    if (keys->count)
        qsort(keys->items + 1, keys->count, sizeof *keys->items, compare_keys);
}

/* The number of the first key of the variable, or one beyond the keys of smaller ones. */
static uint32_t first_of(const mr_keys *keys, uint32_t variable)
{
    uint32_t low = 1, high = keys->count + 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keys->items[middle] >> 32 < variable)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_of(const mr_keys *keys, uint32_t number, uint32_t variable)
{
    return number <= keys->count && keys->items[number] >> 32 == variable;
}

/* The list of the reads, which many questions share. */
static bool share_list(asking *a, uint32_t *list)
{
    if (a->list == MR_NONE &&
        !mr_questions_list(a->questions, a->events.items, (uint32_t)a->events.count, &a->list))
        return false;
    *list = a->list;
    return true;
}

/* Asks the question about the reads a->events: about all, or about each. */
static bool ask(asking *a, const mr_question *like, uint32_t place, uint32_t other_place)
{
    mr_question question = *like;
    const uint32_t places[] = {place, other_place};
    if (!a->by_event)
        return mr_questions_group(a->questions, question.kind, places, 2, &question.group) &&
               share_list(a, &question.first_list) && mr_questions_add(a->questions, &question);
    for (size_t i = 0; i < a->events.count; i++)
        if (!mr_questions_group(a->questions, question.kind, &a->events.items[i], 1,
                                &question.group) ||
            !mr_questions_list(a->questions, &a->events.items[i], 1, &question.first_list) ||
            !mr_questions_add(a->questions, &question))
            return false;
    return true;
}

static mr_question new_question(const mr_deref_reads *reads, mr_witness_kind kind)
{
    return (mr_question){.kind = kind,
                         .list_count = 1,
                         .required = MR_NONE,
                         .variable = reads->variable,
                         .write = MR_NONE,
                         .write_place = MR_NONE};
}

/* ---- null ---- */

static bool ask_null(asking *a, const mr_deref_reads *reads)
{
    const mr_trace *trace = a->trace;
    const mr_keys *nulls = &a->writes.nulls;
    mr_question question = new_question(reads, MR_WITNESS_NULL);
    uint32_t initial = trace->variable_info[reads->variable].initial_value;
    bool may_be_initial = initial && initial == a->null_value;
    uint32_t first = first_of(nulls, reads->variable);
    a->events.count = 0;
    a->list = MR_NONE;
    for (uint32_t i = 0; i < reads->count; i++) {
        uint32_t read = a->derefs.events[reads->first + i];
        if (mr_trace_read_value(trace, read) != a->null_value && !mr_u32s_push(&a->events, read))
            return false;
    }
    if (!a->events.count || !a->null_value)
        return true;
    question.value = a->null_value;
    if (a->by_event) {
        question.may_be_initial = may_be_initial;
        return (!may_be_initial && !is_of(nulls, first, reads->variable)) ||
               ask(a, &question, 0, 0);
    }
    for (uint32_t i = first; is_of(nulls, i, reads->variable); i++) {
        question.write_place = (uint32_t)nulls->items[i];
        if (!ask(a, &question, reads->place, question.write_place))
            return false;
    }
    question.write_place = MR_NONE;
    question.value = 0;
    question.may_be_initial = true;
    return !may_be_initial || ask(a, &question, reads->place, MR_NONE);
}

/* ---- dangling, double free ---- */

/* Did the read see an address in freed memory in the trace? */
static bool was_dangling(asking *a, uint32_t read, bool *was)
{
    uint32_t write = a->trace->link[read];
    *was = false;
    if (write == MR_NONE)
        return true;
    int64_t value = a->trace->values[mr_trace_written_value(a->trace, write)];
    if (!mr_extents_at(&a->extents, (uint64_t)value, &a->found))
        return false;
    *was = mr_extents_are_freed(a->trace, &a->found, read);
    return true;
}

/* Are all objects of a->found that are freed, freed at one place? Then it is `*place`. */
static bool find_free_place(const asking *a, uint32_t *place)
{
    bool any = false;
    for (size_t i = 0; i < a->found.count; i++) {
        uint32_t release = a->trace->object_info[a->found.items[i]].free;
        if (release == MR_NONE)
            continue;
        if (any && a->trace->location[release] != *place)
            return false;
        *place = a->trace->location[release];
        any = true;
    }
    return any;
}

/* The question about one value, with the objects a->found that contain it. Where all are freed at one place, one question is
 * about any of them: an address that is used again belongs to thousands. */
static bool ask_value(asking *a, const mr_deref_reads *reads, mr_question *question)
{
    uint32_t freed = 0, place = 0;
    for (size_t i = 0; i < a->found.count; i++)
        freed += a->trace->object_info[a->found.items[i]].free != MR_NONE;
    if (!freed)
        return true;
    question->object_count = (uint32_t)a->found.count;
    if (!mr_questions_objects(a->questions, a->found.items, question->object_count,
                              &question->first_object))
        return false;
    if (a->by_event || find_free_place(a, &place))
        return ask(a, question, reads->place, place);
    for (size_t i = 0; i < a->found.count; i++) {
        question->required = a->trace->object_info[a->found.items[i]].free;
        if (question->required != MR_NONE &&
            !ask(a, question, reads->place, a->trace->location[question->required]))
            return false;
    }
    return true;
}

static bool ask_values(asking *a, const mr_deref_reads *reads, mr_witness_kind kind)
{
    const mr_keys *values = &a->writes.values;
    for (uint32_t i = first_of(values, reads->variable); is_of(values, i, reads->variable); i++) {
        mr_question question = new_question(reads, kind);
        question.value = (uint32_t)values->items[i];
        if (!mr_extents_at(&a->extents, (uint64_t)a->trace->values[question.value], &a->found) ||
            !ask_value(a, reads, &question))
            return false;
    }
    return true;
}

static bool ask_dangling(asking *a, const mr_deref_reads *reads)
{
    a->events.count = 0;
    a->list = MR_NONE;
    for (uint32_t i = 0; i < reads->count; i++) {
        uint32_t read = a->derefs.events[reads->first + i];
        bool was;
        if (!was_dangling(a, read, &was) || (!was && !mr_u32s_push(&a->events, read)))
            return false;
    }
    if (!a->events.count)
        return true;
    return (!(reads->uses & MR_DEREF_ACCESS) || ask_values(a, reads, MR_WITNESS_DANGLING)) &&
           (!(reads->uses & MR_DEREF_FREE) || ask_values(a, reads, MR_WITNESS_DOUBLE_FREE));
}

bool mr_pointer_candidates(mr_questions *questions, const mr_trace *trace, bool by_event)
{
    asking a = {.questions = questions, .trace = trace, .by_event = by_event};
    bool ok = mr_derefs_find(&a.derefs, trace);
    if (ok && a.derefs.count) {
        a.null_value = find_null(trace);
        ok = mr_extents_init(&a.extents, trace) && find_writes(&a);
        sort_keys(&a.writes.nulls);
        sort_keys(&a.writes.values);
        for (size_t i = 0; ok && i < a.derefs.count; i++)
            ok = ask_null(&a, &a.derefs.items[i]) && ask_dangling(&a, &a.derefs.items[i]);
    }
    mr_derefs_free(&a.derefs);
    mr_extents_free(&a.extents);
    mr_keys_free(&a.writes.nulls);
    mr_keys_free(&a.writes.values);
    mr_u32s_free(&a.events);
    mr_u32s_free(&a.found);
    return ok;
}
