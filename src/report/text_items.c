#include "text_items.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/thread.h"
#include "phrases.h"

#include <stdlib.h>

enum {
    PART_ITEMS = 64, /* items of a part, which is a unit of the pool */
    LEAST_PARTS = 8, /* with fewer, the calling thread makes them alone */
    PARTS_A_JOB = 8, /* that may be under way or wait to be written, for each thread */
    MOST_JOBS = 64
};

typedef struct dump {
    FILE *stream;
    const mr_text_items *items;
    uint64_t part_count, taken;
    _Atomic uint64_t written; /* parts, by the calling thread */
    mr_bytes **ready;         /* by part modulo `room`: its text; NULL: not made so far */
    uint64_t room;
    bool begun; /* a text was written */
} dump;

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "writing the report");
}

static mr_status print_part(const dump *self, unsigned worker, uint64_t part, mr_bytes *to,
                            mr_error *error)
{
    const mr_text_items *items = self->items;
    size_t first = (size_t)part * PART_ITEMS, end = first + PART_ITEMS;
    mr_status status = MR_OK;
    for (size_t i = first; i < end && i < items->count && status == MR_OK; i++)
        status = items->print(items->context, worker, i, to, error);
    if (status == MR_OK && to->failed)
        status = no_memory(error);
    return status;
}

/* Writes a text of print_part. */
static mr_status write_text(dump *self, const mr_bytes *text, mr_error *error)
{
    size_t skipped = text->count && !self->begun ? self->items->skipped : 0;
    self->begun |= text->count > 0;
    if (text->count)
        fwrite(text->items + skipped, 1, text->count - skipped, self->stream);
    return ferror(self->stream) ? mr_report_write_failed(NULL, error) : MR_OK;
}

/* ---- with threads (mr_pool) ---- */

static mr_taken take(void *context, uint64_t *unit)
{
    dump *self = context;
    if (self->taken == self->part_count)
        return MR_TAKEN_NONE;
    if (self->taken - self->written >= self->room)
        return MR_TAKEN_LATER;
    *unit = self->taken++;
    return MR_TAKEN;
}

static mr_status work(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error)
{
    mr_bytes *text = mr_calloc(1, sizeof *text);
    *product = text;
    return text ? print_part(context, worker, unit, text, error) : no_memory(error);
}

static void free_text(mr_bytes *text)
{
    if (text)
        mr_bytes_free(text);
    free(text);
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    dump *self = context;
    (void)error;
    self->ready[unit % self->room] = product;
    return MR_OK;
}

/* Writes the next parts, as far as they are made. */
static mr_status look(void *context, mr_error *error)
{
    dump *self = context;
    mr_status status = MR_OK;
    for (mr_bytes *text; (text = self->ready[self->written % self->room]) && status == MR_OK;) {
        self->ready[self->written % self->room] = NULL;
        status = write_text(self, text, error);
        free_text(text);
        self->written++;
    }
    return status;
}

static mr_status dump_by_threads(dump *self, unsigned jobs, mr_error *error)
{
    self->room = (uint64_t)PARTS_A_JOB * jobs;
    self->ready = mr_calloc(self->room, sizeof *self->ready);
    if (!self->ready)
        return no_memory(error);
    const mr_pool pool = {.context = self,
                          .workers = jobs,
                          .take = take,
                          .work = work,
                          .deliver = deliver,
                          .look = look};
    mr_status status = mr_pool_run(&pool, error);
    MR_ASSERT(status != MR_OK || self->written == self->part_count);
    for (uint64_t i = 0; i < self->room; i++)
        free_text(self->ready[i]);
    free(self->ready);
    return status;
}

/* ---- without ---- */

static mr_status dump_alone(dump *self, mr_error *error)
{
    mr_bytes text = {0};
    mr_status status = MR_OK;
    for (uint64_t part = 0; part < self->part_count && status == MR_OK; part++) {
        text.count = 0;
        status = print_part(self, 0, part, &text, error);
        if (status == MR_OK)
            status = write_text(self, &text, error);
    }
    mr_bytes_free(&text);
    return status;
}

static uint64_t parts_of(size_t count)
{
    return count / PART_ITEMS + (count % PART_ITEMS > 0);
}

unsigned mr_text_items_workers(const mr_config *config, size_t count)
{
    int64_t jobs = mr_config_int(config, "jobs");
    if (parts_of(count) < LEAST_PARTS)
        return 1;
    if (!jobs)
        jobs = mr_thread_cores();
    return jobs > MOST_JOBS ? MOST_JOBS : jobs > 0 ? (unsigned)jobs : 1;
}

mr_status mr_text_items_write(FILE *stream, const mr_text_items *items, const mr_config *config,
                              mr_error *error)
{
    dump self = {.stream = stream, .items = items, .part_count = parts_of(items->count)};
    unsigned jobs = mr_text_items_workers(config, items->count);
    return jobs > 1 ? dump_by_threads(&self, jobs, error) : dump_alone(&self, error);
}
