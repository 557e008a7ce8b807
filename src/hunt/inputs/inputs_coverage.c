#include "inputs_coverage.h"

#include "base/keys.h"
#include "order/detect/detect.h"

#include <stdlib.h>
#include <xxhash.h>

/* The locks that a thread holds, as hashes of the places where it took them. */
typedef struct held {
    struct {
        uint32_t lock;
        uint64_t place;
    } * items;
    size_t count, capacity;
} held;

typedef struct covering {
    const mr_trace *trace;
    uint64_t *places; /* hash of each location's name */
    held *threads;
    mr_keys keys;
} covering;

static uint64_t mix(uint64_t one, uint64_t two)
{
    uint64_t pair[2] = {one, two};
    return XXH3_64bits(pair, sizeof pair);
}

static bool acquire(held *self, uint32_t lock, uint64_t place)
{
    void *items = self->items;
    if (!mr_grow(&items, &self->capacity, self->count + 1, sizeof *self->items))
        return false;
    self->items = items;
    self->items[self->count].lock = lock;
    self->items[self->count++].place = place;
    return true;
}

static void release(held *self, uint32_t lock)
{
    size_t at = self->count;
    while (at > 0 && self->items[at - 1].lock != lock)
        at--;
    if (at == 0)
        return;
    for (; at < self->count; at++)
        self->items[at - 1] = self->items[at];
    self->count--;
}

/* In any order: sums do not depend on it. */
static uint64_t lock_set(const held *self)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < self->count; i++)
        sum += mix(self->items[i].place, 1);
    return sum;
}

static bool cover(covering *self, uint32_t event)
{
    const mr_trace *trace = self->trace;
    uint8_t op = trace->op[event];
    uint64_t place = self->places[trace->location[event]];
    held *thread = &self->threads[trace->thread[event]];
    uint32_t number;
    if (mr_op_acquires(op))
        return acquire(thread, trace->operand[event], place);
    if (mr_op_releases(op))
        release(thread, trace->operand[event]);
    if (!mr_op_is_access(op))
        return true;
    if (!mr_keys_add(&self->keys, mix(place, lock_set(thread)) | 1, &number))
        return false;
    uint32_t write = mr_op_reads(op) ? trace->link[event] : MR_NONE;
    return write == MR_NONE || trace->thread[write] == trace->thread[event] ||
           mr_keys_add(&self->keys, mix(self->places[trace->location[write]], place) & ~UINT64_C(1),
                       &number);
}

static mr_status cover_pairs(covering *self, mr_error *error)
{
    mr_race_list list;
    uint32_t number;
    const mr_detect_options options = {.most_examples = 1};
    mr_status status = mr_detect(MR_RELATION_HYBRID, self->trace, &options, &list, error);
    for (size_t i = 0; i < list.race_count && !status; i++) {
        uint64_t one = self->places[list.races[i].low], two = self->places[list.races[i].high];
        /* In any order. */
        if (!mr_keys_add(&self->keys, mix(one, 2) + mix(two, 2), &number))
            status = mr_error_memory(error, "looking what a run covered");
    }
    mr_race_list_free(&list);
    return status;
}

static int compare_keys(const void *one, const void *two)
{
    uint64_t x = *(const uint64_t *)one, y = *(const uint64_t *)two;
    return (x > y) - (x < y);
}

static bool cover_all(covering *self)
{
    const mr_trace *trace = self->trace;
    self->places = mr_calloc(trace->locations.count + 1, sizeof *self->places);
    self->threads = mr_calloc(trace->threads.count + 1, sizeof *self->threads);
    if (!self->places || !self->threads)
        return false;
    for (uint32_t i = 0; i < trace->locations.count; i++)
        self->places[i] =
            XXH3_64bits(trace->locations.items[i].text, trace->locations.items[i].length);
    for (uint32_t event = 0; event < trace->event_count; event++)
        if (!cover(self, event))
            return false;
    return true;
}

mr_status mr_coverage_of_trace(const mr_trace *trace, mr_coverage *coverage, mr_error *error)
{
    covering self = {.trace = trace};
    *coverage = (mr_coverage){0};
    bool done = cover_all(&self);
    mr_status status = done ? cover_pairs(&self, error) : MR_OK;
    done = done && !status;
    if (done && self.keys.count > 0) {
        coverage->keys = mr_calloc(self.keys.count, sizeof *coverage->keys);
        done = coverage->keys != NULL;
        for (uint32_t i = 0; done && i < self.keys.count; i++)
            coverage->keys[i] = self.keys.items[i + 1];
        coverage->count = done ? self.keys.count : 0;
        if (done)
            qsort(coverage->keys, coverage->count, sizeof *coverage->keys, compare_keys);
    }
    for (uint32_t i = 0; self.threads && i < trace->threads.count; i++)
        free(self.threads[i].items);
    free(self.threads);
    free(self.places);
    mr_keys_free(&self.keys);
    if (status || done)
        return status;
    return mr_error_memory(error, "looking what a run covered");
}

void mr_coverage_free(mr_coverage *coverage)
{
    free(coverage->keys);
    *coverage = (mr_coverage){0};
}
