#include "c17.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool is_empty(mr_time time)
{
    return !time.clock && !time.local;
}

static void drop_time(mr_clock_pool *pool, mr_time *time)
{
    mr_clock_drop(pool, &time->clock);
    *time = (mr_time){0};
}

/* *target becomes what both say. */
static bool join_times(mr_clock_pool *pool, mr_time *target, mr_time source)
{
    if (is_empty(source))
        return true;
    if (is_empty(*target)) {
        mr_time_set(pool, target, source);
        return true;
    }
    mr_time own = {NULL, target->thread, target->local};
    target->thread = target->local = 0;
    return mr_clock_join(pool, &target->clock, own) && mr_clock_join(pool, &target->clock, source);
}

/* ---- life ---- */

bool mr_c17_grow(mr_c17 *c17, uint32_t thread_count)
{
    void *threads = c17->threads;
    if (!mr_grow(&threads, &c17->thread_capacity, thread_count, sizeof *c17->threads))
        return false;
    c17->threads = threads;
    for (; c17->thread_count < thread_count; c17->thread_count++)
        c17->threads[c17->thread_count] = (mr_c17_thread){0};
    return true;
}

void mr_c17_free(mr_c17 *c17, mr_clock_pool *pool)
{
    for (size_t i = 0; i < c17->thread_count; i++) {
        mr_clock_drop(pool, &c17->threads[i].unacquired);
        mr_clock_drop(pool, &c17->threads[i].fence.clock);
    }
    for (size_t i = 0; i < c17->variable_count; i++)
        mr_clock_drop(pool, &c17->variables[i].offer.clock);
    for (size_t i = 0; i < c17->head_count; i++)
        mr_clock_drop(pool, &c17->heads[i].time.clock);
    free(c17->threads);
    free(c17->variables);
    free(c17->heads);
    mr_map_free(&c17->variable_numbers);
    *c17 = (mr_c17){0};
}

/* ---- release sequences ---- */

static mr_c17_variable *find_variable(const mr_c17 *c17, uint32_t variable)
{
    uint32_t number = mr_map_get(&c17->variable_numbers, variable, UINT32_MAX);
    return number == UINT32_MAX ? NULL : &c17->variables[number];
}

/* NULL: no memory. */
static mr_c17_variable *make_variable(mr_c17 *c17, uint32_t variable)
{
    uint32_t *number = mr_map_at(&c17->variable_numbers, variable, UINT32_MAX);
    if (!number)
        return NULL;
    if (*number == UINT32_MAX) {
        void *variables = c17->variables;
        if (!mr_grow(&variables, &c17->variable_capacity, c17->variable_count + 1,
                     sizeof *c17->variables))
            return NULL;
        c17->variables = variables;
        c17->variables[c17->variable_count] = (mr_c17_variable){0};
        *number = (uint32_t)c17->variable_count++;
    }
    return &c17->variables[*number];
}

/* Ends the release sequences of other threads than `thread`. */
static void keep_head_of(mr_c17 *c17, mr_clock_pool *pool, mr_c17_variable *variable,
                         uint32_t thread)
{
    uint32_t *link = &variable->first_head;
    drop_time(pool, &variable->offer);
    while (*link) {
        uint32_t number = *link;
        mr_c17_head *head = &c17->heads[number - 1];
        if (head->time.thread == thread) {
            mr_time_set(pool, &variable->offer, head->time);
            link = &head->next;
            continue;
        }
        *link = head->next;
        drop_time(pool, &head->time);
        head->next = c17->unused_head;
        c17->unused_head = number;
    }
}

/* A head of the thread that knows what `time` says. */
static bool set_head(mr_c17 *c17, mr_clock_pool *pool, mr_c17_variable *variable, mr_time time)
{
    uint32_t number = variable->first_head;
    while (number && c17->heads[number - 1].time.thread != time.thread)
        number = c17->heads[number - 1].next;
    if (!number && c17->unused_head) {
        number = c17->unused_head;
        c17->unused_head = c17->heads[number - 1].next;
        c17->heads[number - 1].next = variable->first_head;
        variable->first_head = number;
    } else if (!number) {
        void *heads = c17->heads;
        if (!mr_grow(&heads, &c17->head_capacity, c17->head_count + 1, sizeof *c17->heads))
            return false;
        c17->heads = heads;
        c17->heads[c17->head_count++] = (mr_c17_head){.next = variable->first_head};
        number = variable->first_head = (uint32_t)c17->head_count;
    }
    mr_time *kept = &c17->heads[number - 1].time;
    if (kept->local < time.local)
        mr_time_set(pool, kept, time);
    return true;
}

/* ---- the events ---- */

mr_time mr_c17_offer(const mr_c17 *c17, uint32_t variable)
{
    const mr_c17_variable *known = find_variable(c17, variable);
    return known ? known->offer : (mr_time){0};
}

bool mr_c17_read(mr_c17 *c17, mr_hb *hb, uint32_t thread, uint32_t variable, mr_memory_order order)
{
    mr_time offer = mr_c17_offer(c17, variable);
    if (is_empty(offer) || (offer.local && offer.thread == thread))
        return true;
    mr_clock **target = mr_memory_order_acquires(order) ? &hb->threads[thread].clock
                                                        : &c17->threads[thread].unacquired;
    return offer.local ? mr_clock_learn(&hb->pool, target, offer)
                       : mr_clock_join(&hb->pool, target, offer);
}

bool mr_c17_write(mr_c17 *c17, mr_hb *hb, uint32_t thread, uint32_t variable, mr_memory_order order,
                  bool is_update)
{
    bool releases = mr_memory_order_releases(order);
    mr_time time = releases ? mr_hb_now(hb, thread) : c17->threads[thread].fence;
    mr_c17_variable *written =
        time.local ? make_variable(c17, variable) : find_variable(c17, variable);
    if (!written)
        return !time.local; /* nothing has a head */
    if (!is_update)
        keep_head_of(c17, &hb->pool, written, thread);
    if (!time.local)
        return true;
    if (!set_head(c17, &hb->pool, written, time))
        return false;
    if (!is_update || (releases && mr_memory_order_acquires(order))) {
        /* It knows all that is offered. */
        if (releases || written->offer.local < time.local)
            mr_time_set(&hb->pool, &written->offer, time);
        return true;
    }
    return join_times(&hb->pool, &written->offer, time);
}

void mr_c17_plain_write(mr_c17 *c17, mr_hb *hb, uint32_t thread, uint32_t variable)
{
    mr_c17_variable *written = find_variable(c17, variable);
    if (written)
        keep_head_of(c17, &hb->pool, written, thread);
}

bool mr_c17_fence(mr_c17 *c17, mr_hb *hb, uint32_t thread, mr_memory_order order)
{
    mr_c17_thread *self = &c17->threads[thread];
    if (mr_memory_order_acquires(order) && self->unacquired) {
        if (!mr_clock_join(&hb->pool, &hb->threads[thread].clock,
                           (mr_time){.clock = self->unacquired}))
            return false;
        mr_clock_drop(&hb->pool, &self->unacquired);
    }
    if (mr_memory_order_releases(order))
        mr_time_set(&hb->pool, &self->fence, mr_hb_now(hb, thread));
    return true;
}

/* ---- copies ---- */

/* A copy of `count` elements, at least one byte. NULL: no memory. */
static void *copy_of(const void *items, size_t count, size_t size_bytes)
{
    void *copy = mr_calloc(count + 1, size_bytes);
    if (copy && count)
        memcpy(copy, items, count * size_bytes);
    return copy;
}

static bool copy_numbers(mr_map *to, const mr_map *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (!mr_map_at(to, from->items[i].key, from->items[i].value))
            return false;
    return true;
}

bool mr_c17_copy(mr_c17 *to, const mr_c17 *from)
{
    mr_c17 copy = {.threads = copy_of(from->threads, from->thread_count, sizeof *from->threads),
                   .variables =
                       copy_of(from->variables, from->variable_count, sizeof *from->variables),
                   .heads = copy_of(from->heads, from->head_count, sizeof *from->heads)};
    if (!copy.threads || !copy.variables || !copy.heads ||
        !copy_numbers(&copy.variable_numbers, &from->variable_numbers)) {
        mr_c17_free(&copy, NULL); /* it has no clocks yet */
        return false;
    }
    copy.thread_count = copy.thread_capacity = from->thread_count;
    copy.variable_count = copy.variable_capacity = from->variable_count;
    copy.head_count = copy.head_capacity = from->head_count;
    copy.unused_head = from->unused_head;
    for (size_t i = 0; i < copy.thread_count; i++) {
        mr_clock_share(copy.threads[i].unacquired);
        mr_clock_share(copy.threads[i].fence.clock);
    }
    for (size_t i = 0; i < copy.variable_count; i++)
        mr_clock_share(copy.variables[i].offer.clock);
    for (size_t i = 0; i < copy.head_count; i++)
        mr_clock_share(copy.heads[i].time.clock);
    *to = copy;
    return true;
}
