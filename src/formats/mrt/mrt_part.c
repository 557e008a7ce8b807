#include "mrt_part.h"

#include "base/assert.h"
#include "base/ceiling.h"
#include "mrt_names.h"
#include "mrt_reader.h"
#include "mrt_values.h"
#include "trace/columns.h"
#include "trace/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An event that stands for earlier ones. */
typedef struct row {
    uint8_t op;
    uint32_t thread, operand, value;
} row;

struct mr_mrt_part {
    const mr_part_wish *wish;
    mr_mrt *mrt; /* its names are on loan in the map */
    mr_trace *trace;
    mr_mrt_values_reader values;
    mr_index *index;
    mr_open_sections sections;    /* after the events that are there */
    uint32_t *shared, *exclusive; /* by lock: how many of these sections it has of each kind */
    uint32_t *run_of, *block_of;  /* by variable: number of the last run and block with an access */
    uint8_t *threads;             /* by thread: what was seen of it */
    uint32_t block;
    bool reads;            /* the block given last is wanted; then: */
    uint32_t block_events; /*   so many events, */
    mr_events events;      /*   those of them that are read, in the map, */
    const uint32_t *value; /*   and their values, or NULL */
    bool in_run;           /* a run has begun; then: */
    uint32_t first, end;   /*   its events, */
    uint32_t room;         /*   how many events the run before leaves out, */
    row *rows;             /*   and what stands in their place: at most so many */
    size_t row_count, row_capacity;
    bool has_facts;
};

/* ---- what stands before a run ---- */

/* False: no room, or no memory. */
static bool push(mr_mrt_part *part, row item)
{
    void *rows = part->rows;
    if (part->row_count >= part->room ||
        !mr_grow(&rows, &part->row_capacity, part->row_count + 1, sizeof *part->rows))
        return false;
    part->rows = rows;
    part->rows[part->row_count++] = item;
    return true;
}

/* A shared and an exclusive section of one lock are never open together: who builds windows relies
 * on that. */
static bool take_step(mr_mrt_part *part, uint8_t op, uint32_t thread, uint32_t lock)
{
    uint32_t before = part->sections.count;
    uint32_t *kind = mr_op_is_shared(op) ? part->shared : part->exclusive;
    bool memory;
    if (!mr_open_sections_step(&part->sections, op, thread, lock, &memory))
        return false;
    kind[lock] += part->sections.count - before;
    return !part->shared[lock] || !part->exclusive[lock];
}

/* An acquire or release before the run. */
static bool push_step(mr_mrt_part *part, uint8_t op, uint32_t thread, uint32_t lock)
{
    return take_step(part, op, thread, lock) &&
           push(part, (row){.op = op, .thread = thread, .operand = lock});
}

/* Leaves the sections that the run before has left open. */
static bool leave_sections(mr_mrt_part *part)
{
    size_t count = part->sections.count;
    mr_open_section *open = mr_calloc(count + 1, sizeof *open);
    bool done = open != NULL;
    if (done)
        mr_open_sections_list(&part->sections, open);
    for (size_t i = count; done && i-- > 0;)
        for (uint32_t depth = open[i].depth; done && depth > 0; depth--)
            done =
                push_step(part, open[i].op == MR_OP_ACQUIRE ? MR_OP_RELEASE : MR_OP_SHARED_RELEASE,
                          open[i].thread, open[i].lock);
    free(open);
    return done;
}

static bool enter_sections(mr_mrt_part *part, const mr_mrt_state_parts *state)
{
    const mr_trace *trace = part->trace;
    for (uint32_t i = 0; i < state->head.open_count; i++) {
        const mr_open_section *open = &state->open[i];
        if ((open->op != MR_OP_ACQUIRE && open->op != MR_OP_SHARED_ACQUIRE) ||
            !part->mrt->contents.index.op_counts[open->op] ||
            open->thread >= trace->threads.count || open->lock >= trace->locks.count)
            return false;
        for (uint32_t depth = 0; depth < open->depth; depth++)
            if (!push_step(part, (uint8_t)open->op, open->thread, open->lock))
                return false;
    }
    return true;
}

static bool begin_run(mr_mrt_part *part, const mr_mrt_state_parts *state)
{
    mr_trace *trace = part->trace;
    part->in_run = true;
    part->first = part->end = (uint32_t)part->events.first;
    part->room = part->first - (trace->run_count ? trace->runs[trace->run_count - 1].end : 0);
    trace->run_count++;
    part->row_count = 0;
    return leave_sections(part) && enter_sections(part, state);
}

static void fill(mr_trace *trace, uint32_t at, const row *item)
{
    trace->op[at] = item->op;
    trace->thread[at] = item->thread;
    trace->operand[at] = item->operand;
    trace->value[at] = item->value;
}

/* Puts the rows before the run, and derives the links. */
static bool end_run(mr_mrt_part *part)
{
    mr_trace *trace = part->trace;
    if (!part->in_run)
        return true;
    part->in_run = false;
    MR_ASSERT(part->row_count <= part->room);
    uint32_t number = trace->run_count - 1, first = part->first - (uint32_t)part->row_count;
    for (size_t i = 0; i < part->row_count; i++)
        fill(trace, first + (uint32_t)i, &part->rows[i]);
    void *runs = mr_realloc(trace->runs, number + 1ull, sizeof *trace->runs);
    if (!runs)
        return false;
    trace->runs = runs;
    trace->runs[number] = (mr_event_run){first, part->end};
    mr_index_pass_over(part->index, first);
    return mr_index_add(part->index, trace, first, part->end - first);
}

/* ---- blocks ---- */

/* The first access of a variable in a block: `carried` is what the file says of it. */
static bool note_first(mr_mrt_part *part, uint32_t variable, uint32_t carried)
{
    part->block_of[variable] = part->block;
    if (part->run_of[variable] == part->trace->run_count)
        return true;
    part->run_of[variable] = part->trace->run_count;
    if (carried == MR_NONE)
        return true;
    return carried <= part->values.values.count &&
           push(part, (row){.op = MR_OP_WRITE, .operand = variable, .value = carried});
}

static bool take_access(mr_mrt_part *part, uint32_t variable, const mr_mrt_state_parts *state,
                        uint32_t *carried)
{
    if (part->block_of[variable] == part->block)
        return true;
    return *carried < state->head.carried_count &&
           note_first(part, variable, state->carried[(*carried)++]);
}

static bool has_names(const mr_trace *trace, const mr_events *events, uint32_t i)
{
    if (events->op[i] >= MR_OP_COUNT)
        return false;
    const mr_names *names = mr_trace_operand_names(trace, (mr_op)events->op[i]);
    return events->thread[i] < trace->threads.count &&
           events->location[i] < trace->locations.count &&
           events->operand[i] < (names ? names->count : 1);
}

enum { ACTS = 1, FORKED = 2, JOINED = 4 };

/* No thread acts before its fork or after a join of it. */
static bool take_thread(mr_mrt_part *part, uint8_t op, uint32_t thread, uint32_t operand)
{
    if (part->threads[thread] & JOINED)
        return false;
    part->threads[thread] |= ACTS;
    if (op == MR_OP_FORK) {
        bool early = part->threads[operand] != 0;
        part->threads[operand] |= FORKED;
        return !early;
    }
    if (op == MR_OP_JOIN)
        part->threads[operand] |= JOINED;
    return op != MR_OP_JOIN || operand != thread;
}

/* What is asked of an event here is what the index, and who builds windows, rely on. */
static bool take_event(mr_mrt_part *part, uint32_t i, const mr_mrt_state_parts *state,
                       uint32_t *carried)
{
    const mr_events *events = &part->events;
    uint8_t op = events->op[i];
    uint32_t operand = events->operand[i];
    if (!has_names(part->trace, events, i) || !part->mrt->contents.index.op_counts[op] ||
        !take_thread(part, op, events->thread[i], operand))
        return false;
    if (mr_op_is_access(op))
        return take_access(part, operand, state, carried);
    if (MR_OP_DOES(op, MR_ACQUIRES | MR_RELEASES))
        return take_step(part, op, events->thread[i], operand);
    return !MR_OP_DOES(op, MR_CALLS | MR_RETURNS | MR_GIVES | MR_TAKES);
}

static void copy_block(mr_trace *trace, const mr_events *events, const uint32_t *value)
{
    size_t first = (size_t)events->first, bytes = events->count * sizeof(uint32_t);
    memcpy(trace->op + first, events->op, events->count);
    memcpy(trace->thread + first, events->thread, bytes);
    memcpy(trace->operand + first, events->operand, bytes);
    memcpy(trace->location + first, events->location, bytes);
    if (value)
        memcpy(trace->value + first, value, bytes);
}

static bool take_block(mr_mrt_part *part, const mr_mrt_state_parts *state)
{
    uint32_t carried = 0;
    part->reads = false;
    part->block++;
    if (!part->in_run && !begin_run(part, state))
        return false;
    for (uint32_t i = 0; i < part->events.count; i++)
        if (!take_event(part, i, state, &carried))
            return false;
    copy_block(part->trace, &part->events, part->value);
    part->end += part->events.count;
    return carried == state->head.carried_count ||
           (carried < state->head.carried_count && part->events.count < part->block_events);
}

/* ---- chunks ---- */

static bool payload_of(const mr_mrt_part *part, const mr_mrt_chunk *chunk,
                       const unsigned char **payload)
{
    mr_error unused;
    return mr_mrt_source_payload(&part->mrt->source, chunk, payload, &unused) == MR_OK;
}

/* How many events of the block, which holds some that are wanted, must be read: the first ones, when no event of the next block is wanted. */
static uint32_t wanted_length(const mr_part_wish *wish, uint32_t total, uint32_t first,
                              uint32_t count)
{
    uint32_t end = first + count, next = total - end;
    if (next > MR_MRT_BLOCK_EVENTS)
        next = MR_MRT_BLOCK_EVENTS;
    uint32_t low = 0,
             high = count; /* is some event from first + low on wanted? from first + high on: no */
    if (next && wish->wants(wish->context, total, end, end + next))
        return count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (wish->wants(wish->context, total, first + middle, end))
            low = middle;
        else
            high = middle;
    }
    return high;
}

static mr_events events_of(const mr_trace *trace, const mr_mrt_chunk *chunk,
                           const unsigned char *payload)
{
    mr_mrt_columns columns = mr_mrt_columns_of(chunk->count);
    return (mr_events){
        .first = trace->event_count,
        .count = chunk->count,
        .op = payload,
        .thread = (const uint32_t *)(const void *)(payload + columns.thread),
        .operand = (const uint32_t *)(const void *)(payload + columns.operand),
        .location = (const uint32_t *)(const void *)(payload + columns.location),
    };
}

static bool read_events(mr_mrt_part *part, const mr_mrt_chunk *chunk)
{
    mr_trace *trace = part->trace;
    uint64_t total = part->mrt->contents.index.event_count, first = trace->event_count;
    const unsigned char *payload;
    mr_error unused;
    if (part->reads || !chunk->count || chunk->count > total - first ||
        chunk->first != (uint32_t)first ||
        chunk->size_bytes != mr_mrt_columns_of(chunk->count).size_bytes)
        return false;
    part->value = NULL;
    part->reads = part->wish->wants(part->wish->context, (uint32_t)total, (uint32_t)first,
                                    (uint32_t)(first + chunk->count));
    if (part->reads && !payload_of(part, chunk, &payload))
        return false;
    if (part->reads) {
        part->block_events = chunk->count;
        part->events = events_of(trace, chunk, payload);
        part->events.count =
            wanted_length(part->wish, (uint32_t)total, (uint32_t)first, chunk->count);
    } else if (mr_mrt_source_skip(&part->mrt->source, chunk, &unused) != MR_OK || !end_run(part))
        return false;
    trace->event_count += chunk->count;
    return true;
}

static bool read_values(mr_mrt_part *part, const mr_mrt_chunk *chunk)
{
    const unsigned char *payload;
    const uint32_t *column;
    mr_error unused;
    if (!payload_of(part, chunk, &payload))
        return false;
    if (!part->reads)
        return mr_mrt_values_tables(&part->values, part->trace, chunk, payload, &column, &unused) ==
               MR_OK;
    if (chunk->count != part->block_events)
        return false;
    return mr_mrt_values_tables(&part->values, part->trace, chunk, payload, &part->value,
                                &unused) == MR_OK;
}

static bool read_state(mr_mrt_part *part, const mr_mrt_chunk *chunk)
{
    const unsigned char *payload;
    mr_mrt_state_parts state;
    mr_error unused;
    if (!part->reads)
        return mr_mrt_source_skip(&part->mrt->source, chunk, &unused) == MR_OK;
    return payload_of(part, chunk, &payload) && mr_mrt_state_read(&state, chunk, payload) &&
           chunk->count == part->block_events &&
           take_block(part, &state) && /* the numbers of the events are right then */
           mr_mrt_values_check(&part->values, part->trace, &part->events, part->value, &unused) ==
               MR_OK;
}

/* Is no object used before its alloc? */
static bool lives_are_right(const mr_trace *trace)
{
    for (uint32_t event = mr_trace_present(trace, 0);
         trace->objects.count && event < trace->event_count;
         event = mr_trace_present(trace, event + 1)) {
        uint8_t op = trace->op[event];
        uint32_t operand = trace->operand[event];
        uint32_t object = mr_op_is_access(op) ? mr_trace_object(trace, operand)
                          : mr_op_operand_kind((mr_op)op) == MR_OPERAND_OBJECT ? operand
                                                                               : MR_NONE;
        uint32_t alloc = object == MR_NONE ? MR_NONE : trace->object_info[object].alloc;
        if (alloc != MR_NONE && event < alloc)
            return false;
    }
    return true;
}

/* What the whole trace says of its variables. */
static bool read_facts(mr_mrt_part *part, const mr_mrt_chunk *chunk)
{
    const unsigned char *payload;
    mr_mrt_facts_parts facts;
    mr_trace *trace = part->trace;
    if (part->reads || !payload_of(part, chunk, &payload) ||
        !mr_mrt_facts_read(&facts, chunk, payload) ||
        facts.head.variable_count != trace->variables.count || !end_run(part) ||
        trace->event_count != part->mrt->contents.index.event_count)
        return false;
    mr_index_pass_over(part->index, (uint32_t)trace->event_count);
    mr_mrt_values_finish(&part->values, trace);
    if (!mr_index_finish(part->index, trace) || !lives_are_right(trace))
        return false;
    trace->by_source_count = 0;
    for (uint32_t i = 0; i < facts.head.variable_count; i++) {
        mr_variable_info here = trace->variable_info[i];
        if (facts.initial_values[i] >= (trace->value_count ? trace->value_count : 1) ||
            (!facts.by_source[i] &&
             (here.by_source ||
              (here.initial_value && here.initial_value != facts.initial_values[i]))))
            return false;
        trace->variable_info[i] =
            (mr_variable_info){facts.initial_values[i], facts.by_source[i] != 0};
        trace->by_source_count += facts.by_source[i] != 0;
    }
    trace->most_places = facts.head.most_places;
    trace->fingerprint = facts.head.fingerprint;
    part->has_facts = true;
    return true;
}

static bool read_tables(const mr_mrt_part *part, const mr_mrt_chunk *chunk)
{
    const unsigned char *payload;
    mr_mrt *mrt = part->mrt;
    mr_error unused;
    if (!payload_of(part, chunk, &payload))
        return false;
    if (chunk->kind == MR_MRT_MEMBERS)
        return mr_mrt_members_read(part->trace, &mrt->check.validity, chunk, payload, &unused) ==
               MR_OK;
    return mr_mrt_names_read(part->trace, chunk, payload, MR_MRT_KEEP_LOAN, &unused) == MR_OK;
}

/* `*end`: the last chunk that matters was read. */
static bool read_chunk(mr_mrt_part *part, bool *end)
{
    mr_mrt_chunk chunk;
    mr_error unused;
    mr_mrt_source *source = &part->mrt->source;
    if (mr_mrt_source_next(source, &chunk, &unused) != MR_OK)
        return false;
    if (part->has_facts && chunk.kind != MR_MRT_INDEX)
        return false; /* the trace is finished: what it has is as long as its names were then */
    switch ((mr_mrt_kind)chunk.kind) {
    case MR_MRT_NAMES:
    case MR_MRT_MEMBERS:
        return read_tables(part, &chunk);
    case MR_MRT_EVENTS:
        return read_events(part, &chunk);
    case MR_MRT_VALUES:
        return read_values(part, &chunk);
    case MR_MRT_STATE:
        return read_state(part, &chunk);
    case MR_MRT_FACTS:
        return read_facts(part, &chunk);
    case MR_MRT_INDEX:
        *end = true;
        return part->has_facts;
    case MR_MRT_TEXTS:
    case MR_MRT_LINES:
    case MR_MRT_STACKS:
    case MR_MRT_ENDING:
    case MR_MRT_ORDERS:
    case MR_MRT_POSITIONS:
    case MR_MRT_RUN:
    case MR_MRT_INPUTS:
    case MR_MRT_TYPES:
    case MR_MRT_GAP:
        return mr_mrt_source_skip(source, &chunk, &unused) == MR_OK;
    case MR_MRT_END:
        break;
    }
    return false;
}

/* ---- the whole ---- */

/* Reading in part pays when an eighth of the blocks is left out. */
static bool pays(const mr_part_wish *wish, uint32_t event_count)
{
    uint64_t wanted = 0, blocks = 0;
    for (uint64_t first = 0; first < event_count; first += MR_MRT_BLOCK_EVENTS, blocks++) {
        uint64_t end = first + MR_MRT_BLOCK_EVENTS;
        wanted += wish->wants(wish->context, event_count, (uint32_t)first,
                              end < event_count ? (uint32_t)end : event_count);
    }
    return wanted <= blocks - (blocks + 7) / 8;
}

static bool can_be_read(const mr_mrt *mrt, const mr_part_wish *wish)
{
    const mr_mrt_index *index = &mrt->contents.index;
    const unsigned needed = MR_CALLS | MR_RETURNS | MR_GIVES | MR_TAKES;
    return mrt->source.map && mrt->source.version >= MR_MRT_STATES_VERSION && mr_mrt_outlook(mrt) &&
           !index->dropped_count && !mr_op_total(index->op_counts, needed) && index->event_count &&
           index->event_count <= MR_NESTED &&
           (wish->always || pays(wish, (uint32_t)index->event_count));
}

static bool start(mr_mrt_part *part)
{
    const mr_mrt_index *index = &part->mrt->contents.index;
    size_t variables = index->name_counts[MR_MRT_VARIABLES];
    part->trace = part->mrt->trace;
    part->index = mr_index_new();
    part->run_of = mr_calloc(variables, sizeof *part->run_of);
    part->block_of = mr_calloc(variables, sizeof *part->block_of);
    part->threads = mr_calloc(index->name_counts[MR_MRT_THREADS], sizeof *part->threads);
    part->shared = mr_calloc(index->name_counts[MR_MRT_LOCKS], sizeof *part->shared);
    part->exclusive = mr_calloc(index->name_counts[MR_MRT_LOCKS], sizeof *part->exclusive);
    return part->index && part->run_of && part->block_of && part->threads && part->shared &&
           part->exclusive && mr_columns_sparse(part->trace, (size_t)index->event_count);
}

/* The names are those that the index says, so that the outlook has an element for each. */
static bool names_fit(const mr_mrt_part *part)
{
    for (unsigned space = 0; space < MR_MRT_SPACE_COUNT; space++)
        if (mr_mrt_names_of(part->trace, space)->count >
            part->mrt->contents.index.name_counts[space])
            return false;
    return true;
}

static bool take_outlook(const mr_mrt_part *part)
{
    mr_trace *trace = part->trace;
    mr_mrt_contents *contents = &part->mrt->contents;
    trace->outlook = mr_malloc(sizeof *trace->outlook, 0);
    if (!trace->outlook)
        return false;
    *trace->outlook = contents->outlook;
    mr_outlook_init(&contents->outlook);
    contents->has_outlook = false;
    memcpy(trace->op_counts, contents->index.op_counts, sizeof trace->op_counts);
    return true;
}

static bool read_all(mr_mrt_part *part, const mr_halt *halt)
{
    bool end = false, right = true;
    while (right && !end)
        right = !mr_halt_asked(halt) && read_chunk(part, &end) && names_fit(part);
    return right && part->trace->run_count && take_outlook(part);
}

/* Opening anything else, such as a pipe, would take away what is in it. */
static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool read_part(mr_mrt_part *part, const char *path, const mr_read_options *options,
                      const mr_halt *halt)
{
    mr_error unused;
    mr_input *input;
    if (!is_file(path) || mr_input_open(path, &input, &unused) != MR_OK)
        return false;
    if (!mr_mrt_is(path, input)) {
        mr_input_close(input);
        return false;
    }
    return mr_mrt_open_any(path, input, options, false, &part->mrt, &unused) == MR_OK &&
           can_be_read(part->mrt, part->wish) && start(part) && read_all(part, halt);
}

mr_mrt_part *mr_mrt_part_open(const char *path, const mr_read_options *options,
                              const mr_part_wish *wish)
{
    const mr_read_options none = {0};
    options = options ? options : &none;
    mr_halt halt = {.deadline_seconds = options->deadline_seconds};
    mr_mrt_part *part = mr_calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->wish = wish;
    mr_ceiling *ceiling = options->halt ? NULL : mr_ceiling_start(options->memory_bytes, &halt);
    bool done = read_part(part, path, options, options->halt ? options->halt : &halt);
    mr_ceiling_stop(ceiling);
    if (done)
        return part;
    mr_mrt_part_close(part);
    return NULL;
}

const mr_trace *mr_mrt_part_trace(const mr_mrt_part *part)
{
    return part->trace;
}

void mr_mrt_part_close(mr_mrt_part *part)
{
    if (!part)
        return;
    mr_mrt_values_free(&part->values);
    mr_index_free(part->index);
    mr_open_sections_free(&part->sections);
    free(part->run_of);
    free(part->block_of);
    free(part->threads);
    free(part->shared);
    free(part->exclusive);
    free(part->rows);
    mr_mrt_close(part->mrt); /* frees the trace */
    free(part);
}
