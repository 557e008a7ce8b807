/*
 * long_trace: writes an .mrt file of any number of events to standard output, for orders that take
 * more events than 32 bits can number:
 *
 *   long_trace EVENTS | maxrace order --relation hb -
 *
 * A first block forks the threads. The block that follows is written again and again: threads take
 * turns and access what is their own, what a lock guards, and, once in a block, a counter that
 * nothing guards. So the races are known: one place, in every block from the second on, and another
 * one in the last whole block.
 */
#include "base/memory.h"
#include "formats/mrt/mrt_format.h"
#include "formats/mrt/mrt_write.h"
#include "trace/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, OWN = 500, GUARDED = 40, RUN = 64, VARIABLES = 1 + GUARDED + THREADS * OWN };

typedef struct columns {
    uint8_t op[MR_MRT_BLOCK_EVENTS];
    uint32_t thread[MR_MRT_BLOCK_EVENTS], operand[MR_MRT_BLOCK_EVENTS],
        location[MR_MRT_BLOCK_EVENTS], value[MR_MRT_BLOCK_EVENTS];
    uint32_t count;
} columns;

static void put(columns *to, uint8_t op, uint32_t thread, uint32_t operand, uint32_t location)
{
    to->op[to->count] = op;
    to->thread[to->count] = thread;
    to->operand[to->count] = operand;
    to->location[to->count++] = location;
}

/* Forks, and one access of every variable by its owner, so that all names come in this block. */
static void fill_first(columns *to)
{
    for (uint32_t thread = 1; thread < THREADS; thread++)
        put(to, MR_OP_FORK, 0, thread, 0);
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        put(to, MR_OP_ACQUIRE, thread, 0, 1);
        for (uint32_t i = 0; i < GUARDED; i++)
            put(to, MR_OP_WRITE, thread, 1 + i, 2);
        put(to, MR_OP_RELEASE, thread, 0, 3);
        for (uint32_t i = 0; i < OWN; i++)
            put(to, MR_OP_WRITE, thread, 1 + GUARDED + thread * OWN + i, 4);
    }
}

/* Turns of RUN events: a section, and then what is the thread's own. The last one is the race. */
static void fill_next(columns *to, uint32_t race)
{
    for (uint32_t turn = 0; to->count + RUN < MR_MRT_BLOCK_EVENTS; turn++) {
        uint32_t thread = turn % THREADS;
        put(to, MR_OP_ACQUIRE, thread, 0, 1);
        put(to, MR_OP_READ, thread, 1 + turn % GUARDED, 2);
        put(to, MR_OP_WRITE, thread, 1 + turn % GUARDED, 2);
        put(to, MR_OP_RELEASE, thread, 0, 3);
        for (uint32_t i = 4; i < RUN; i++)
            put(to, i % 4 ? MR_OP_READ : MR_OP_WRITE, thread,
                1 + GUARDED + thread * OWN + (turn * 7 + i) % OWN, 4 + i % 4);
    }
    put(to, MR_OP_WRITE, 1, 0, race);
    put(to, MR_OP_WRITE, 2, 0, race);
}

static bool add_names(mr_names *names, const char *what, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        uint32_t number;
        int length = snprintf(name, sizeof name, "%s%" PRIu32, what, i);
        if (!mr_names_add(names, name, (uint32_t)length, &number))
            return false;
    }
    return true;
}

static mr_status add(mr_mrt_writer *writer, const mr_trace *trace, const columns *from,
                     uint64_t first, uint64_t most, mr_error *error)
{
    mr_events events = {.first = first,
                        .count = from->count < most ? from->count : (uint32_t)most,
                        .op = from->op,
                        .thread = from->thread,
                        .operand = from->operand,
                        .location = from->location,
                        .thread_count = THREADS,
                        .variable_count = VARIABLES,
                        .lock_count = 1,
                        .location_count = 10};
    return mr_mrt_writer_add(writer, trace, &events, from->value, NULL, error);
}

static mr_status write_trace(uint64_t count, columns blocks[3], mr_builder *builder,
                             mr_error *error)
{
    mr_mrt_writer *writer;
    mr_trace *trace = builder->trace;
    mr_status status = mr_mrt_writer_new(stdout, &writer, error);
    if (!status)
        status = mr_builder_line(builder, 1, error);
    fill_first(&blocks[0]);
    fill_next(&blocks[1], 8);
    fill_next(&blocks[2], 9);
    const columns *block = &blocks[0];
    for (uint64_t first = 0; !status && first < count; first += block->count) {
        if (first > 0)
            block = &blocks[first + 2 * (uint64_t)blocks[1].count > count ? 2 : 1];
        status = add(writer, trace, block, first, count - first, error);
    }
    if (!status)
        status = mr_mrt_writer_finish(writer, trace, error);
    mr_mrt_writer_free(writer);
    return status;
}

int main(int count, char **arguments)
{
    mr_builder builder;
    mr_error error = {0};
    columns *blocks = mr_calloc(3, sizeof *blocks);
    uint64_t events = count == 2 ? strtoull(arguments[1], NULL, 10) : 0;
    if (events == 0) {
        fputs("usage: long_trace EVENTS > FILE.mrt\n", stderr);
        return 2;
    }
    if (!blocks || !mr_builder_init(&builder, "long") ||
        !add_names(&builder.trace->threads, "T", THREADS) ||
        !add_names(&builder.trace->variables, "x", VARIABLES) ||
        !add_names(&builder.trace->locks, "l", 1) ||
        !add_names(&builder.trace->locations, "long.c:", 10)) {
        fputs("long_trace: no memory\n", stderr);
        return 4;
    }
    mr_status status = write_trace(events, blocks, &builder, &error);
    if (status)
        fprintf(stderr, "long_trace: %s\n", error.text);
    mr_builder_free(&builder);
    free(blocks);
    return mr_status_exit(status);
}
