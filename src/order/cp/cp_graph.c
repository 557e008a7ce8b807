#include "cp_graph.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* Of accesses, for rule (a): an atomic update counts as an atomic write. */
enum { KIND_READ, KIND_WRITE, KIND_ATOMIC_READ, KIND_ATOMIC_WRITE, KINDS };

/* Sections of one lock that accessed one variable; MR_NONE: there is none. */
typedef struct touch {
    uint32_t lock;
    uint32_t last[KINDS];  /* by kind of access: the last section */
    uint32_t other[KINDS]; /* the last section of another thread than last's */
} touch;

typedef struct variable_state {
    uint32_t segment[KINDS]; /* by kind: the segment of the last access of this kind */
    uint32_t touch;          /* the last one that was looked up */
} variable_state;

/* What is known at the current event. */
typedef struct builder {
    mr_cp_graph *graph;
    mr_clock **clock;       /* H, by thread */
    uint32_t *local;        /* by thread: local time of its next event */
    mr_u32s *held;          /* by thread: its open sections, in the order of acquiring */
    uint32_t *last_of_lock; /* by single lock: its last section */
    variable_state *variables;
    touch *touches;
    size_t touch_count, touch_capacity;
    mr_map touch_numbers; /* (lock, variable) */
    size_t next_edge;     /* of calls that were not recorded */
} builder;

static uint32_t *none_array(uint32_t count)
{
    uint32_t *items = mr_calloc(count, sizeof(uint32_t));
    for (uint32_t i = 0; items && i < count; i++)
        items[i] = MR_NONE;
    return items;
}

bool mr_cp_graph_init(mr_cp_graph *graph, const mr_whole *whole, const mr_outlook *outlook)
{
    const mr_trace *trace = whole->trace;
    *graph = (mr_cp_graph){.trace = trace, .whole = whole, .outlook = outlook};
    mr_clock_pool_grow(&graph->pool, trace->threads.count);
    graph->first_of_lock = none_array(whole->single_count);
    graph->last_of_thread = none_array(trace->threads.count);
    return graph->first_of_lock && graph->last_of_thread;
}

void mr_cp_graph_free(mr_cp_graph *graph)
{
    for (size_t i = 0; i < graph->segment_count; i++)
        mr_clock_drop(&graph->pool, &graph->segments[i].before);
    for (size_t i = 0; i < graph->section_count; i++)
        mr_clock_drop(&graph->pool, &graph->sections[i].happened);
    for (size_t i = 0; i < graph->source_count; i++)
        mr_clock_drop(&graph->pool, &graph->sources[i].time.clock);
    free(graph->segments);
    free(graph->sections);
    free(graph->sources);
    mr_map_free(&graph->source_numbers);
    free(graph->first_of_lock);
    free(graph->last_of_thread);
    mr_clock_pool_free(&graph->pool);
    *graph = (mr_cp_graph){0};
}

static bool builder_init(builder *b, mr_cp_graph *graph)
{
    const mr_trace *trace = graph->trace;
    *b = (builder){.graph = graph};
    b->clock = mr_calloc(trace->threads.count, sizeof(mr_clock *));
    b->local = mr_calloc(trace->threads.count, sizeof(uint32_t));
    b->held = mr_calloc(trace->threads.count, sizeof(mr_u32s));
    b->last_of_lock = none_array(graph->whole->single_count);
    b->variables = mr_calloc(trace->variables.count, sizeof(variable_state));
    if (!b->clock || !b->local || !b->held || !b->last_of_lock || !b->variables)
        return false;
    for (uint32_t thread = 0; thread < trace->threads.count; thread++)
        b->local[thread] = 1;
    for (uint32_t variable = 0; variable < trace->variables.count; variable++)
        b->variables[variable] = (variable_state){{MR_NONE, MR_NONE, MR_NONE, MR_NONE}, MR_NONE};
    return true;
}

static void builder_free(builder *b)
{
    uint32_t threads = b->graph->trace->threads.count;
    for (uint32_t thread = 0; b->clock && thread < threads; thread++)
        mr_clock_drop(&b->graph->pool, &b->clock[thread]);
    for (uint32_t thread = 0; b->held && thread < threads; thread++)
        mr_u32s_free(&b->held[thread]);
    free(b->clock);
    free(b->local);
    free(b->held);
    free(b->last_of_lock);
    free(b->variables);
    free(b->touches);
    mr_map_free(&b->touch_numbers);
}

/* The time of the last event of `thread`, as a loan. */
static mr_time now(const builder *b, uint32_t thread)
{
    return (mr_time){b->clock[thread], thread, b->local[thread]};
}

/* Begins a new last segment of `thread`, with an HB edge from the segment `from`, if any. */
static bool begin_segment(builder *b, uint32_t thread, uint32_t from)
{
    mr_cp_graph *graph = b->graph;
    void *items = graph->segments;
    if (!mr_grow(&items, &graph->segment_capacity, graph->segment_count + 1, sizeof(mr_cp_segment)))
        return false;
    graph->segments = items;
    uint32_t number = (uint32_t)graph->segment_count++, last = graph->last_of_thread[thread];
    MR_ASSERT(from == MR_NONE || (from < number && graph->segments[from].thread != thread));
    graph->segments[number] = (mr_cp_segment){
        .thread = thread,
        .previous = last,
        .next = MR_NONE,
        .from = from,
        .first_out = MR_NONE,
        .next_out = from == MR_NONE ? MR_NONE : graph->segments[from].first_out,
        .section = MR_NONE,
        .last_ended = MR_NONE,
    };
    if (from != MR_NONE)
        graph->segments[from].first_out = number;
    if (last != MR_NONE)
        graph->segments[last].next = number;
    graph->last_of_thread[thread] = number;
    return true;
}

/* Begins a section of the lock with the thread's last segment. */
static bool begin_section(builder *b, uint32_t thread, uint32_t lock)
{
    mr_cp_graph *graph = b->graph;
    uint32_t number = (uint32_t)graph->section_count, last = b->last_of_lock[lock];
    void *items = graph->sections;
    if (!mr_grow(&items, &graph->section_capacity, graph->section_count + 1, sizeof(mr_cp_section)))
        return false;
    graph->sections = items;
    graph->section_count++;
    mr_cp_section *section = &graph->sections[number];
    *section = (mr_cp_section){
        .lock = lock,
        .thread = thread,
        .segment = graph->last_of_thread[thread],
        .end = MR_NONE,
        .acquired = b->local[thread],
        .previous = last,
        .next = MR_NONE,
        .later_other = MR_NONE,
        .next_ended = MR_NONE,
    };
    if (last == MR_NONE)
        graph->first_of_lock[lock] = number;
    else
        graph->sections[last].next = number;
    b->last_of_lock[lock] = number;
    graph->segments[section->segment].section = number;
    return mr_u32s_push(&b->held[thread], number);
}

/* Is all that the time knows known to the thread? */
static bool knows(const builder *b, uint32_t thread, mr_time time)
{
    return time.thread == thread || mr_clock_get(b->clock[thread], time.thread) >= time.local;
}

static bool acquire(builder *b, uint32_t thread, uint32_t lock)
{
    uint32_t last = b->last_of_lock[lock], from = MR_NONE;
    if (last != MR_NONE) {
        const mr_cp_section *section = &b->graph->sections[last];
        mr_time release = {section->happened, section->thread, section->released};
        if (!knows(b, thread, release)) {
            from = section->end;
            if (!mr_clock_join(&b->graph->pool, &b->clock[thread], release))
                return false;
        }
    }
    return begin_segment(b, thread, from) && begin_section(b, thread, lock);
}

/* Enters the section as one that ends in its thread's last segment. */
static void end_section(mr_cp_graph *graph, uint32_t number)
{
    mr_cp_section *section = &graph->sections[number];
    mr_cp_segment *segment = &graph->segments[graph->last_of_thread[section->thread]];
    section->next_ended = segment->last_ended;
    segment->last_ended = number;
}

static void release(builder *b, uint32_t thread, uint32_t lock)
{
    mr_u32s *held = &b->held[thread];
    size_t i = held->count;
    while (i && b->graph->sections[held->items[i - 1]].lock != lock)
        i--;
    MR_ASSERT(i > 0);
    uint32_t number = held->items[i - 1];
    memmove(&held->items[i - 1], &held->items[i], (held->count - i) * sizeof(uint32_t));
    held->count--;
    mr_cp_section *section = &b->graph->sections[number];
    MR_ASSERT(section->thread == thread && section->end == MR_NONE);
    section->end = b->graph->last_of_thread[thread];
    section->released = b->local[thread]++;
    section->happened = mr_clock_share(b->clock[thread]);
    end_section(b->graph, number);
}

static bool fork_thread(builder *b, uint32_t thread, uint32_t child)
{
    mr_time time = now(b, thread);
    b->local[thread]++;
    MR_ASSERT(thread != child);
    return begin_segment(b, child, b->graph->last_of_thread[thread]) &&
           mr_clock_learn(&b->graph->pool, &b->clock[child], time);
}

static bool join_thread(builder *b, uint32_t thread, uint32_t child)
{
    return begin_segment(b, thread, b->graph->last_of_thread[child]) &&
           mr_clock_learn(&b->graph->pool, &b->clock[thread], now(b, child));
}

/* The sections of this lock that accessed the variable. NULL: no memory. */
static touch *find_touch(builder *b, uint32_t lock, uint32_t variable)
{
    uint32_t recent = b->variables[variable].touch;
    if (recent < b->touch_count && b->touches[recent].lock == lock)
        return &b->touches[recent];
    uint32_t *number = mr_map_at(&b->touch_numbers, mr_map_key(lock, variable), MR_NONE);
    if (!number)
        return NULL;
    if (*number == MR_NONE) {
        void *touches = b->touches;
        if (!mr_grow(&touches, &b->touch_capacity, b->touch_count + 1, sizeof(touch)))
            return NULL;
        b->touches = touches;
        *number = (uint32_t)b->touch_count++;
        touch *new = &b->touches[*number];
        new->lock = lock;
        for (int kind = 0; kind < KINDS; kind++)
            new->last[kind] = new->other[kind] = MR_NONE;
    }
    b->variables[variable].touch = *number;
    return &b->touches[*number];
}

/* Rule (a) for one kind of earlier access. */
static void follow_conflict(mr_cp_graph *graph, const touch *t, int kind, uint32_t number)
{
    mr_cp_section *section = &graph->sections[number];
    uint32_t earlier = t->last[kind];
    if (earlier != MR_NONE && graph->sections[earlier].thread == section->thread)
        earlier = t->other[kind];
    if (earlier != MR_NONE && section->passed < earlier + 1)
        section->passed = earlier + 1;
}

static void note_touch(const mr_cp_graph *graph, touch *t, int kind, uint32_t number)
{
    uint32_t last = t->last[kind];
    if (last != MR_NONE && graph->sections[last].thread != graph->sections[number].thread)
        t->other[kind] = last;
    t->last[kind] = number;
}

static const struct {
    int conflicts[KINDS]; /* kinds of earlier accesses, up to the first -1 */
    int same;             /* the kind that conflicts with all of these and perhaps more */
} access_kinds[KINDS] = {
    [KIND_READ] = {{KIND_WRITE, KIND_ATOMIC_WRITE, -1}, KIND_WRITE},
    [KIND_WRITE] = {{KIND_READ, KIND_WRITE, KIND_ATOMIC_READ, KIND_ATOMIC_WRITE}, KIND_WRITE},
    [KIND_ATOMIC_READ] = {{KIND_WRITE, -1}, KIND_ATOMIC_WRITE},
    [KIND_ATOMIC_WRITE] = {{KIND_READ, KIND_WRITE, -1}, KIND_WRITE},
};

/* An atomic update conflicts with what an atomic write does. */
static int kind_of(uint8_t op)
{
    if (mr_op_is_atomic(op))
        return mr_op_writes(op) ? KIND_ATOMIC_WRITE : KIND_ATOMIC_READ;
    return mr_op_writes(op) ? KIND_WRITE : KIND_READ;
}

/* Has an earlier access of the segment registered all sections that the thread is in? */
static bool is_registered(const variable_state *state, int kind, uint32_t segment)
{
    return state->segment[kind] == segment || state->segment[access_kinds[kind].same] == segment;
}

static bool access(builder *b, uint32_t thread, uint32_t variable, uint8_t op)
{
    mr_cp_graph *graph = b->graph;
    const mr_u32s *held = &b->held[thread];
    int kind = kind_of(op);
    if (!held->count || !graph->outlook->contended[variable])
        return true;
    variable_state *state = &b->variables[variable];
    uint32_t segment = graph->last_of_thread[thread];
    if (is_registered(state, kind, segment))
        return true;
    state->segment[kind] = segment;
    for (size_t i = 0; i < held->count; i++) {
        touch *t = find_touch(b, graph->sections[held->items[i]].lock, variable);
        if (!t)
            return false;
        /* The section has such an access already. Since then no other thread held the lock. */
        if (t->last[kind] == held->items[i])
            continue;
        for (int j = 0; j < KINDS && access_kinds[kind].conflicts[j] >= 0; j++)
            follow_conflict(graph, t, access_kinds[kind].conflicts[j], held->items[i]);
        note_touch(graph, t, kind, held->items[i]);
    }
    return true;
}

/* A write of each variable of the object. */
static bool free_object(builder *b, uint32_t thread, uint32_t object)
{
    const mr_trace *trace = b->graph->trace;
    const mr_object_info *info = &trace->object_info[object];
    bool done = true;
    for (uint32_t i = 0; done && i < info->variable_count; i++)
        done = access(b, thread, trace->object_variables[info->first_variable + i], MR_OP_WRITE);
    return done;
}

/* An outermost acquire or release of a lock of several threads. */
static bool synchronise(builder *b, uint32_t event)
{
    const mr_whole *whole = b->graph->whole;
    uint32_t thread = whole->trace->thread[event], lock = mr_whole_first_lock(whole, event);
    uint8_t op = whole->trace->op[event];
    for (; lock != MR_NONE; lock = mr_whole_next_lock(whole, event, lock)) {
        if (mr_op_releases(op))
            release(b, thread, lock);
        else if (!acquire(b, thread, lock))
            return false;
    }
    return true;
}

static bool step(builder *b, uint32_t event)
{
    const mr_trace *trace = b->graph->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    switch ((mr_op)trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return access(b, thread, operand, trace->op[event]);
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        return !mr_cp_synchronises(b->graph, event) || synchronise(b, event);
    case MR_OP_FORK:
        return fork_thread(b, thread, operand);
    case MR_OP_JOIN:
        return join_thread(b, thread, operand);
    case MR_OP_FREE:
        return free_object(b, thread, operand);
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break; /* `follow` knows their edges */
    }
    return true;
}

/* An edge ends at the event: its thread begins a segment after `from`, an event of another. */
static bool follow(void *context, uint32_t event, uint32_t from)
{
    builder *b = context;
    mr_cp_graph *graph = b->graph;
    uint32_t thread = graph->trace->thread[event];
    uint32_t number = mr_map_get(&graph->source_numbers, from, MR_NONE);
    MR_ASSERT(from < event && number < graph->source_count);
    const mr_cp_source *source = &graph->sources[number];
    return begin_segment(b, thread, source->segment) &&
           mr_clock_learn(&graph->pool, &b->clock[thread], source->time);
}

static bool publish(builder *b, uint32_t event)
{
    mr_cp_graph *graph = b->graph;
    uint32_t thread = graph->trace->thread[event], number = (uint32_t)graph->source_count;
    void *items = graph->sources;
    if (!mr_grow(&items, &graph->source_capacity, graph->source_count + 1, sizeof(mr_cp_source)))
        return false;
    graph->sources = items;
    mr_cp_source *source = &graph->sources[graph->source_count++];
    *source = (mr_cp_source){.segment = graph->last_of_thread[thread]};
    mr_time_set(&graph->pool, &source->time, now(b, thread));
    b->local[thread]++;
    return mr_map_at(&graph->source_numbers, event, number) != NULL;
}

bool mr_cp_edges_into(const mr_cp_graph *graph, size_t *next_edge, uint32_t event,
                      mr_cp_edge_step *edge, void *context)
{
    const mr_barrier_edges *edges = graph->whole->edges;
    uint32_t post = mr_whole_post(graph->whole, event);
    for (; *next_edge < edges->count && edges->items[*next_edge].to == event; ++*next_edge)
        if (!edge(context, event, edges->items[*next_edge].from))
            return false;
    return post == MR_NONE || edge(context, event, post);
}

/* Edges into the event come before it; the edge into an atomic read counts for what follows. */
static bool do_event(builder *b, uint32_t event)
{
    const mr_cp_graph *graph = b->graph;
    uint32_t thread = graph->trace->thread[event];
    if (graph->last_of_thread[thread] == MR_NONE && !begin_segment(b, thread, MR_NONE))
        return false;
    if (!mr_cp_edges_into(graph, &b->next_edge, event, follow, b) || !step(b, event))
        return false;
    uint32_t write = mr_whole_atomic_source(graph->whole, event);
    return (write == MR_NONE || follow(b, event, write)) &&
           (!mr_whole_is_followed(graph->whole, event) || publish(b, event));
}

static void end_open_sections(builder *b)
{
    for (uint32_t thread = 0; thread < b->graph->trace->threads.count; thread++)
        for (size_t i = 0; i < b->held[thread].count; i++)
            end_section(b->graph, b->held[thread].items[i]);
}

static void find_later_others(mr_cp_graph *graph)
{
    for (size_t i = graph->section_count; i-- > 0;) {
        mr_cp_section *section = &graph->sections[i];
        if (section->next == MR_NONE)
            continue;
        const mr_cp_section *next = &graph->sections[section->next];
        section->later_other = next->thread == section->thread ? next->later_other : section->next;
    }
}

bool mr_cp_graph_build(mr_cp_graph *graph, const mr_progress *progress, const mr_halt *halt)
{
    builder b;
    bool done = builder_init(&b, graph);
    uint64_t count = graph->trace->event_count;
    for (uint32_t event = 0; done && event < count; event++) {
        if (event % MR_CP_PROGRESS_EVENTS == 0)
            mr_progress_tell(progress, "cp", event, 2 * count);
        done = (event % MR_CP_LOOK_EVENTS || !mr_halt_asked(halt)) && do_event(&b, event);
    }
    if (done) {
        end_open_sections(&b);
        find_later_others(graph);
    }
    builder_free(&b);
    return done;
}
