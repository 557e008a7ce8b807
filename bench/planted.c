#include "planted.h"

#include "base/memory.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_DISTANCE = 100,
    PULSE_EVENTS = 500, /* of the filler between two pulses */
    MANY_EVENTS = 100000,
    NAME_BYTES = 32,
    LINE_BYTES = 256,
    OUT_BYTES = 1 << 18,
};

/* Which of the two accesses is a read. */
typedef enum form { WRITE_WRITE, READ_WRITE, WRITE_READ } form;

typedef struct planned {
    mr_planted_pair *pair;
    uint32_t number;   /* of the pair in the trace: its variables and locks */
    uint32_t variant;  /* number among the pairs of its kind and distance */
    uint64_t position; /* the left side comes before this event of the filler */
} planned;

/* One side of a pair, and where it comes. */
typedef struct side {
    uint64_t position;
    uint32_t plan;
    bool right;
} side;

typedef struct planter {
    mr_big_sink *sink;
    void *context;
    bool failed;
    planned *plans;
    side *sides;
    size_t side_count, next_side;
    uint64_t filler, events; /* events written: of the filler, of the trace */
    uint64_t pulse;          /* latest; 0: none yet */
    char partial[LINE_BYTES];
    size_t partial_length, used;
    char out[OUT_BYTES];
} planter;

const char *mr_planted_kind_name(mr_planted_kind kind)
{
    static const char *const names[MR_PLANTED_KINDS] = {"hb", "syncp", "rf", "value", "none"};
    return names[kind];
}

/* Writing. */

static void flush(planter *p)
{
    if (!p->failed && p->used > 0)
        p->failed = !p->sink(p->context, p->out, p->used);
    p->used = 0;
}

static void put_line(planter *p, const char *line, size_t length)
{
    if (p->used + length + 1 > sizeof p->out)
        flush(p);
    memcpy(p->out + p->used, line, length);
    p->out[p->used + length] = '\n';
    p->used += length + 1;
    p->events++;
}

__attribute__((format(printf, 2, 3))) static void event(planter *p, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    put_line(p, line, (size_t)length);
}

/* One thread's part of a pair. Its locations are "kind.distance.variant.word". */

typedef struct actor {
    planter *p;
    const planned *plan;
    char name[NAME_BYTES];
} actor;

static actor actor_of(planter *p, const planned *plan, char letter)
{
    actor self = {.p = p, .plan = plan};
    snprintf(self.name, sizeof self.name, "planted.%s.%c", mr_planted_kind_name(plan->pair->kind),
             letter);
    return self;
}

static void act(const actor *self, const char *op_and_operand, const char *word)
{
    const mr_planted_pair *pair = self->plan->pair;
    event(self->p, "%s|%s|%s.%" PRIu64 ".%" PRIu32 ".%s", self->name, op_and_operand,
          mr_planted_kind_name(pair->kind), pair->distance, self->plan->variant, word);
}

static void read_pulse(const actor *self)
{
    if (self->p->pulse > 0)
        event(self->p, "%s|ar(pulse=%" PRIu64 ")|pulse.read", self->name, self->p->pulse);
}

static void lock_operation(const actor *self, const char *op, const char *word)
{
    char text[NAME_BYTES];
    snprintf(text, sizeof text, "%s(planted.l%" PRIu32 ")", op, self->plan->number);
    act(self, text, word);
}

static void access(const actor *self, const char *op, char variable, uint64_t value,
                   const char *word)
{
    char text[2 * NAME_BYTES];
    snprintf(text, sizeof text, "%s(planted.%c%" PRIu32 "=%" PRIu64 ")", op, variable,
             self->plan->number, value);
    act(self, text, word);
}

static form form_of(const planned *plan)
{
    if (plan->pair->kind == MR_PLANTED_HB)
        return (form)(plan->variant % 3);
    return plan->number % 2 == 0 ? WRITE_WRITE : READ_WRITE;
}

/* The planted access of a side. */
static void access_x(const actor *self, bool right)
{
    form it = form_of(self->plan);
    bool reads = right ? it == WRITE_READ : it == READ_WRITE;
    self->plan->pair->events[right] = self->p->events;
    access(self, reads ? "r" : "w", 'x', right && !reads ? 8 : 7, right ? "second" : "first");
}

static void section(const actor *self, const char *op, char variable, uint64_t value,
                    const char *word)
{
    lock_operation(self, "acq", word);
    access(self, op, variable, value, word);
    lock_operation(self, "rel", word);
}

/* f of value and none: atomic, or under the lock. */
static void access_flag(const actor *self, bool reads, uint64_t value, const char *word)
{
    if (self->plan->variant % 2 == 0)
        access(self, reads ? "ar" : "aw", 'f', value, word);
    else
        section(self, reads ? "r" : "w", 'f', value, word);
}

static bool in_one_lock(const planned *plan)
{
    return plan->variant % 3 == 2;
}

static void access_x_locked(const actor *self, bool right)
{
    lock_operation(self, "acq", right ? "right" : "left");
    access_x(self, right);
    lock_operation(self, "rel", right ? "right" : "left");
}

static void make_left(planter *p, const planned *plan)
{
    actor self = actor_of(p, plan, 'p'), other = actor_of(p, plan, 'r');
    mr_planted_kind kind = plan->pair->kind;
    if (kind == MR_PLANTED_VALUE)
        access_flag(&other, false, 1, "other");
    read_pulse(&self);
    if (kind == MR_PLANTED_RF) {
        lock_operation(&self, "acq", "left");
        access(&self, "w", 'y', 1, "left");
        access_x(&self, false);
        lock_operation(&self, "rel", "left");
        return;
    }
    if (kind == MR_PLANTED_VALUE)
        access_flag(&self, false, 0, "before");
    if (kind == MR_PLANTED_NONE && in_one_lock(plan)) {
        access_x_locked(&self, false);
        return;
    }
    access_x(&self, false);
    if (kind == MR_PLANTED_SYNCP)
        section(&self, "w", 'y', 1, "left");
    else if (kind != MR_PLANTED_HB)
        access_flag(&self, false, 1, "left");
}

static void make_right(planter *p, const planned *plan)
{
    actor self = actor_of(p, plan, 'q');
    mr_planted_kind kind = plan->pair->kind;
    if (form_of(plan) == WRITE_READ)
        snprintf(self.name, sizeof self.name, "planted.reader.%" PRIu32, plan->number);
    read_pulse(&self);
    if (kind == MR_PLANTED_NONE && in_one_lock(plan)) {
        access_x_locked(&self, true);
        return;
    }
    if (kind == MR_PLANTED_SYNCP || kind == MR_PLANTED_RF)
        section(&self, "w", 'y', 2, "right");
    else if (kind != MR_PLANTED_HB)
        access_flag(&self, true, 1, "right");
    access_x(&self, true);
}

/* The filler, line by line. */

static void make_due_sides(planter *p)
{
    while (p->next_side < p->side_count && p->sides[p->next_side].position <= p->filler) {
        const side *it = &p->sides[p->next_side++];
        if (it->right)
            make_right(p, &p->plans[it->plan]);
        else
            make_left(p, &p->plans[it->plan]);
    }
}

/* The thread of the line does it, unless that is over. */
static void beat(planter *p, const char *line, size_t length)
{
    const char *bar = memchr(line, '|', length);
    if (bar == NULL || strncmp(bar, "|end(", 5) == 0)
        return;
    event(p, "%.*s|aw(pulse=%" PRIu64 ")|pulse.write", (int)(bar - line), line, ++p->pulse);
}

static void take_line(planter *p, const char *line, size_t length)
{
    make_due_sides(p);
    put_line(p, line, length);
    if (++p->filler % PULSE_EVENTS == 0)
        beat(p, line, length);
}

/* The sink of the filler. */
static bool take(void *context, const char *bytes, size_t count)
{
    planter *p = context;
    while (count > 0) {
        const char *end = memchr(bytes, '\n', count);
        size_t length = end != NULL ? (size_t)(end - bytes) : count;
        if (p->partial_length + length >= sizeof p->partial)
            return false;
        memcpy(p->partial + p->partial_length, bytes, length);
        p->partial_length += length;
        if (end == NULL)
            return true;
        p->partial[p->partial_length] = '\0';
        take_line(p, p->partial, p->partial_length);
        p->partial_length = 0;
        bytes = end + 1;
        count -= length + 1;
    }
    return !p->failed;
}

/* The plan. */

static int compare_sides(const void *one, const void *two)
{
    const side *a = one, *b = two;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    if (a->plan != b->plan)
        return a->plan < b->plan ? -1 : 1;
    return (int)a->right - (int)b->right;
}

static void make_plan(planter *p, const mr_planted_shape *shape, mr_planted_pair *pairs,
                      uint32_t each)
{
    mr_random random = {shape->seed};
    uint32_t count = 0;
    for (mr_planted_kind kind = 0; kind < MR_PLANTED_KINDS; kind++)
        for (uint64_t distance = LEAST_DISTANCE; distance <= shape->events; distance *= 10)
            for (uint32_t variant = 0; variant < each; variant++) {
                mr_planted_pair *pair = &pairs[count];
                pair->kind = kind;
                pair->distance = distance;
                for (int right = 0; right < 2; right++)
                    snprintf(pair->locations[right], sizeof pair->locations[right],
                             "%s.%" PRIu64 ".%" PRIu32 ".%s", mr_planted_kind_name(kind), distance,
                             variant, right ? "second" : "first");
                uint64_t position = mr_random_next(&random) % (shape->events - distance + 1);
                p->plans[count] = (planned){pair, count, variant, position};
                side *sides = &p->sides[2 * (size_t)count];
                sides[0] = (side){position, count, false};
                sides[1] = (side){position + distance, count, true};
                count++;
            }
    p->side_count = 2 * (size_t)count;
    qsort(p->sides, p->side_count, sizeof *p->sides, compare_sides);
}

static bool write_trace(planter *p, const mr_planted_shape *shape)
{
    mr_big_shape filler = mr_big_shape_default();
    filler.events = shape->events;
    filler.seed = shape->seed;
    filler.racy = 0;
    filler.queues = false;
    if (shape->events < MANY_EVENTS) {
        filler.threads = 4;
        filler.locks = 20;
    }
    if (shape->events < mr_big_least_events(&filler) || !mr_big_trace_write(&filler, take, p))
        return false;
    make_due_sides(p);
    flush(p);
    return !p->failed;
}

bool mr_planted_write(const mr_planted_shape *shape, mr_big_sink *sink, void *context,
                      mr_planted_pair **pairs, size_t *count)
{
    size_t distances = 0;
    for (uint64_t distance = LEAST_DISTANCE; distance <= shape->events; distance *= 10)
        distances++;
    *count = distances * shape->each * MR_PLANTED_KINDS;
    *pairs = mr_calloc(*count, sizeof **pairs);
    planter *p = mr_calloc(1, sizeof *p);
    bool ok = *pairs != NULL && p != NULL;
    if (ok) {
        p->sink = sink;
        p->context = context;
        p->plans = mr_calloc(*count, sizeof *p->plans);
        p->sides = mr_calloc(2 * *count, sizeof *p->sides);
        ok = p->plans != NULL && p->sides != NULL;
    }
    if (ok) {
        make_plan(p, shape, *pairs, shape->each);
        ok = write_trace(p, shape);
    }
    if (p != NULL) {
        free(p->plans);
        free(p->sides);
    }
    free(p);
    if (!ok) {
        free(*pairs);
        *pairs = NULL;
        *count = 0;
    }
    return ok;
}
