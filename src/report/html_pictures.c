#include "html_pictures.h"

#include "escape.h"

#include <stdlib.h>
#include <string.h>

enum { SEES_INITIAL = -1, SEES_HIDDEN = -2, SEES_NOTHING = -3 };

uint32_t mr_texts_add(mr_texts *texts, const char *text)
{
    uint32_t number;
    char *escaped = mr_escape(text, false);
    bool ok = escaped && mr_names_add(&texts->names, escaped, (uint32_t)strlen(escaped), &number);
    free(escaped);
    return ok ? number : UINT32_MAX;
}

static int compare(const void *one, const void *two)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;
    return (a > b) - (a < b);
}

/* All events of both sides, sorted, each once. NULL: no memory. */
static uint32_t *unite(const mr_steps *steps, size_t *count)
{
    size_t total = steps->observed.count + steps->witness.count, kept = 0;
    uint32_t *events = mr_calloc(total + 1, sizeof *events);
    if (!events)
        return NULL;
    memcpy(events, steps->observed.events, steps->observed.count * sizeof *events);
    if (steps->witness.count > 0)
        memcpy(events + steps->observed.count, steps->witness.events,
               steps->witness.count * sizeof *events);
    qsort(events, total, sizeof *events, compare);
    for (size_t i = 0; i < total; i++)
        if (i == 0 || events[i] != events[i - 1])
            events[kept++] = events[i];
    *count = kept;
    return events;
}

static int64_t find(const uint32_t *events, size_t count, uint32_t event)
{
    const uint32_t *found = bsearch(&event, events, count, sizeof *events, compare);
    return found ? found - events : -1;
}

static int kind_of(mr_op op)
{
    if (mr_op_updates(op))
        return 3;
    if (mr_op_reads(op))
        return 1;
    if (mr_op_writes(op))
        return 2;
    if (mr_op_acquires(op))
        return mr_op_is_shared(op) ? 6 : 4;
    if (mr_op_releases(op))
        return mr_op_is_shared(op) ? 7 : 5;
    if (mr_op_operand_kind(op) == MR_OPERAND_THREAD)
        return 8;
    return 0;
}

static void add_number(mr_json *self, json_t *array, int64_t number)
{
    if (json_array_append_new(array, json_integer(number)) != 0)
        self->ok = false;
}

static void add_text(mr_json *self, json_t *array, mr_texts *texts, const char *text)
{
    uint32_t number = mr_texts_add(texts, text);
    self->ok = self->ok && number != UINT32_MAX;
    add_number(self, array, number);
}

static const char *operand_of(const mr_trace *trace, uint32_t event)
{
    const mr_names *names = mr_trace_operand_names(trace, (mr_op)trace->op[event]);
    return names ? mr_names_display(names, trace->operand[event]) : "";
}

static mr_json events_object(const uint32_t *events, size_t count, const mr_trace *trace,
                             mr_texts *texts)
{
    static const char *const keys[] = {"n", "t", "o", "p", "k", "x"};
    json_t *arrays[6];
    mr_json self = mr_json_new();
    for (int i = 0; i < 6; i++)
        arrays[i] = json_array();
    for (size_t i = 0; i < count && self.ok; i++) {
        uint32_t event = events[i];
        char op[512];
        mr_trace_print_op(trace, event, true, op, sizeof op);
        add_number(&self, arrays[0], event);
        add_number(&self, arrays[1], trace->thread[event]);
        add_text(&self, arrays[2], texts, op);
        add_text(&self, arrays[3], texts,
                 mr_names_display(&trace->locations, trace->location[event]));
        add_number(&self, arrays[4], kind_of((mr_op)trace->op[event]));
        add_text(&self, arrays[5], texts, operand_of(trace, event));
    }
    for (int i = 0; i < 6; i++)
        mr_json_put(&self, keys[i], arrays[i]);
    return self;
}

static void put_order(mr_json *self, const char *key, const char *seen_key,
                      const mr_step_list *list, const uint32_t *events, size_t count,
                      const mr_trace *trace)
{
    json_t *order = json_array(), *seen = json_array();
    for (size_t i = 0; i < list->count && self->ok; i++) {
        bool reads = mr_op_reads(trace->op[list->events[i]]);
        int64_t from = list->seen[i] == MR_NONE ? SEES_INITIAL : find(events, count, list->seen[i]);
        add_number(self, order, find(events, count, list->events[i]));
        if (list->seen[i] != MR_NONE && from < 0)
            from = SEES_HIDDEN;
        add_number(self, seen, reads ? from : SEES_NOTHING);
    }
    mr_json_put(self, key, order);
    mr_json_put(self, seen_key, seen);
}

mr_json mr_picture(const mr_steps *steps, const mr_trace *trace, mr_texts *texts)
{
    mr_json self = mr_json_new();
    size_t count = 0;
    uint32_t *events = unite(steps, &count);
    if (!events) {
        self.ok = false;
        return self;
    }
    mr_json_put_object(&self, "events", events_object(events, count, trace, texts));
    put_order(&self, "observed", "seenObserved", &steps->observed, events, count, trace);
    put_order(&self, "witness", "seenWitness", &steps->witness, events, count, trace);
    mr_json_put_number(&self, "leftOut", steps->left_out);
    free(events);
    return self;
}
