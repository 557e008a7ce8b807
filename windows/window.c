#include "window.h"

#include "base/assert.h"
#include "held.h"
#include "hidden.h"
#include "lockset.h"

#include <string.h>

/* Everything a build needs; the lists of names are undone in `carried` at its end. */
typedef struct builder {
    mr_carried *carried;
    const mr_trace *trace;
    mr_arena *arena;
    mr_window *window;
    uint32_t *variable_writes; /* number of writes, one a variable of the window */
    uint32_t *first_accessor;  /* thread that accessed the variable first */
    uint32_t *chain_length;    /* events of the chain's threads so far */
} builder;

/* Names used inside a window are at most as many as its events, and as those of the trace. One more, so that
 * none is an empty array. */
static size_t most_names(uint32_t size, uint32_t names)
{
    return (size_t)(size < names ? size : names) + 1;
}

static bool allocate(builder *b, uint32_t size)
{
    mr_window *w = b->window;
    size_t count = (size_t)size + 1;
    size_t threads = most_names(size, b->trace->threads.count);
    size_t variables = most_names(size, b->trace->variables.count);
    size_t locks = most_names(size, b->trace->locks.count);
    w->threads = mr_arena_zalloc(b->arena, threads, sizeof *w->threads);
    w->variables = mr_arena_zalloc(b->arena, variables, sizeof *w->variables);
    w->locks = mr_arena_zalloc(b->arena, locks, sizeof *w->locks);
    w->by_thread = mr_arena_alloc(b->arena, count, sizeof *w->by_thread);
    w->writes = mr_arena_alloc(b->arena, count, sizeof *w->writes);
    w->thread = mr_arena_alloc(b->arena, count, sizeof *w->thread);
    w->position = mr_arena_alloc(b->arena, count, sizeof *w->position);
    w->object = mr_arena_alloc(b->arena, count, sizeof *w->object);
    w->source = mr_arena_alloc(b->arena, count, sizeof *w->source);
    w->lockset = mr_arena_zalloc(b->arena, count, sizeof *w->lockset);
    w->region_end = mr_arena_alloc(b->arena, count, sizeof *w->region_end);
    w->previous_write = mr_arena_alloc(b->arena, count, sizeof *w->previous_write);
    w->next_write = mr_arena_alloc(b->arena, count, sizeof *w->next_write);
    w->writes_by_value = mr_arena_alloc(b->arena, count, sizeof *w->writes_by_value);
    b->variable_writes = mr_arena_zalloc(b->arena, variables, sizeof *b->variable_writes);
    b->first_accessor = mr_arena_alloc(b->arena, variables, sizeof *b->first_accessor);
    b->chain_length = mr_arena_zalloc(b->arena, threads, sizeof *b->chain_length);
    return w->threads && w->variables && w->locks && w->by_thread && w->writes && w->thread &&
           w->position && w->object && w->source && w->lockset && w->region_end &&
           w->previous_write && w->next_write && w->writes_by_value && b->variable_writes &&
           b->first_accessor && b->chain_length;
}

/* ---- numbers ---- */

static uint32_t dense_chain(builder *b, uint32_t number)
{
    uint32_t *dense = &b->carried->dense_chain[number];
    if (*dense == MR_NONE)
        *dense = b->window->chain_count++;
    return *dense;
}

static uint32_t dense_thread(builder *b, uint32_t number)
{
    uint32_t *dense = &b->carried->dense_thread[number];
    if (*dense == MR_NONE) {
        *dense = b->window->thread_count++;
        b->window->threads[*dense] = (mr_window_thread){
            .number = number, .fork = MR_NONE, .chain = dense_chain(b, b->trace->chain[number])};
    }
    return *dense;
}

/* The event of the window that frees the variable's object. */
static uint32_t find_free(const builder *b, uint32_t number)
{
    const mr_window *w = b->window;
    uint32_t object = mr_trace_object(b->trace, number);
    uint32_t end = object == MR_NONE ? MR_NONE : b->trace->object_info[object].free;
    return end != MR_NONE && end >= w->start && end < w->end ? end - w->start : MR_NONE;
}

/* The variable of the access at `event`. Its first access in the window links to the last write
 * before the window. */
static uint32_t dense_variable(builder *b, uint32_t event)
{
    uint32_t number = b->trace->operand[event];
    uint32_t *dense = &b->carried->dense_variable[number];
    if (*dense != MR_NONE)
        return *dense;
    mr_window *w = b->window;
    *dense = w->variable_count++;
    const mr_variable_info *info = &b->trace->variable_info[number];
    uint32_t last_write = b->trace->link[event];
    w->variables[*dense] = (mr_window_variable){
        .number = number,
        .free = find_free(b, number),
        .by_source = w->model == MR_MODEL_RF || info->by_source,
        .carried_value = last_write == MR_NONE ? info->initial_value
                                               : mr_trace_written_value(b->trace, last_write)};
    w->freed_count += w->variables[*dense].free != MR_NONE;
    b->first_accessor[*dense] = MR_NONE;
    return *dense;
}

static uint32_t dense_lock(builder *b, uint32_t number)
{
    uint32_t *dense = &b->carried->dense_lock[number];
    if (*dense == MR_NONE) {
        *dense = b->window->lock_count++;
        b->window->locks[*dense] = (mr_window_lock){.number = number};
    }
    return *dense;
}

static void number_access(builder *b, uint32_t i, uint32_t event)
{
    mr_window *w = b->window;
    uint32_t variable = dense_variable(b, event);
    mr_window_variable *v = &w->variables[variable];
    w->object[i] = variable;
    if (b->first_accessor[variable] == MR_NONE)
        b->first_accessor[variable] = w->thread[i];
    else if (b->first_accessor[variable] != w->thread[i])
        v->shared = true;
    if (mr_op_writes(b->trace->op[event]))
        b->variable_writes[variable]++;
    if (mr_op_reads(b->trace->op[event])) {
        uint32_t source = b->trace->link[event];
        w->source[i] = source == MR_NONE || source < w->start ? MR_NONE : source - w->start;
    }
}

static void number_lock(builder *b, uint32_t i, uint32_t event)
{
    uint8_t op = b->trace->op[event];
    uint32_t lock = dense_lock(b, b->trace->operand[event]);
    if (MR_OP_DOES(op, MR_GIVES | MR_TAKES))
        b->window->object[i] = lock;
}

/* Forks and joins are numbered when all threads of the window are known. */
static void number_operand(builder *b, uint32_t i, uint32_t event)
{
    uint8_t op = b->trace->op[event];
    if (mr_op_is_access(op)) {
        number_access(b, i, event);
        return;
    }
    switch (mr_op_operand_kind((mr_op)op)) {
    case MR_OPERAND_LOCK:
        if (b->trace->link[event] != MR_NESTED)
            number_lock(b, i, event);
        break;
    case MR_OPERAND_NONE:
    case MR_OPERAND_VARIABLE:
    case MR_OPERAND_THREAD:
    case MR_OPERAND_CALL:
    case MR_OPERAND_OBJECT:
        break;
    }
}

/* First pass: dense numbers, program order, accesses. */
static void number_events(builder *b)
{
    mr_window *w = b->window;
    for (uint32_t i = 0; i < w->size; i++) {
        uint32_t event = w->start + i;
        uint32_t thread = dense_thread(b, b->trace->thread[event]);
        w->thread[i] = thread;
        w->position[i] = w->threads[thread].end++;
        w->object[i] = w->source[i] = w->region_end[i] = MR_NONE;
        number_operand(b, i, event);
    }
}

/* Turns the counts of events and writes into ranges, and fills the grouped lists. Threads are
 * numbered by their first events, those of a chain in its order. */
static void group_events(builder *b)
{
    mr_window *w = b->window;
    uint32_t first = 0;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        w->threads[t].first = first;
        w->threads[t].end += first;
        first = w->threads[t].end;
        w->threads[t].chain_first = b->chain_length[w->threads[t].chain];
        b->chain_length[w->threads[t].chain] += mr_window_length(w, t);
    }
    first = 0;
    for (uint32_t v = 0; v < w->variable_count; v++) {
        w->variables[v].writes_first = w->variables[v].writes_end = first;
        w->variables[v].shared = w->variables[v].shared && b->variable_writes[v];
        first += b->variable_writes[v];
    }
    for (uint32_t i = 0; i < w->size; i++) {
        uint8_t op = mr_window_op(w, i);
        w->by_thread[w->threads[w->thread[i]].first + w->position[i]] = i;
        if (mr_op_writes(op))
            w->writes[w->variables[w->object[i]].writes_end++] = i;
        if (MR_OP_DOES(op, MR_FORKS | MR_JOINS)) {
            w->object[i] = b->carried->dense_thread[b->trace->operand[w->start + i]];
            if (mr_op_forks(op) && w->object[i] != MR_NONE)
                w->threads[w->object[i]].fork = i;
        }
    }
}

/* ---- critical sections ---- */

/* Adds a section to its lock, or only counts it when there is no room yet. */
static void add_section(builder *b, mr_section section)
{
    mr_window_lock *lock = &b->window->locks[section.lock];
    if (b->window->sections)
        b->window->sections[lock->sections_end] = section;
    lock->sections_end++;
}

/* A section that is open when the window starts. One of a thread without events in the window
 * is shared, and then nothing else of the lock is exclusive there: it does not count. */
static void add_carried(builder *b, uint32_t acquire)
{
    const mr_trace *trace = b->trace;
    uint32_t lock = b->carried->dense_lock[trace->operand[acquire]];
    uint32_t thread = b->carried->dense_thread[trace->thread[acquire]];
    if (lock != MR_NONE && thread != MR_NONE)
        add_section(b, (mr_section){.lock = lock,
                                    .thread = thread,
                                    .shared = mr_op_is_shared(trace->op[acquire]),
                                    .acquire = MR_NONE,
                                    .release = MR_NONE});
}

/* The carried section that the release at window event `i` ends. */
static uint32_t carried_section(const builder *b, uint32_t i)
{
    const mr_window *w = b->window;
    bool shared = mr_op_is_shared(mr_window_op(w, i));
    uint32_t s = w->locks[b->carried->dense_lock[b->trace->operand[w->start + i]]].sections_first;
    while (w->sections[s].thread != w->thread[i] || w->sections[s].shared != shared)
        s++;
    MR_ASSERT(s < w->locks[w->sections[s].lock].carried_end);
    return s;
}

static void enter(builder *b, uint32_t i)
{
    mr_window *w = b->window;
    uint32_t lock = b->carried->dense_lock[b->trace->operand[w->start + i]];
    w->object[i] = w->locks[lock].sections_end;
    add_section(b, (mr_section){.lock = lock,
                                .thread = w->thread[i],
                                .shared = mr_op_is_shared(mr_window_op(w, i)),
                                .acquire = i,
                                .release = MR_NONE});
}

static void leave(builder *b, uint32_t i)
{
    mr_window *w = b->window;
    uint32_t acquire = b->trace->link[w->start + i];
    w->object[i] = acquire >= w->start ? w->object[acquire - w->start] : carried_section(b, i);
    mr_section *section = &w->sections[w->object[i]];
    MR_ASSERT(section->thread == w->thread[i] && section->release == MR_NONE);
    MR_ASSERT(section->acquire == MR_NONE || section->acquire < i);
    section->release = i;
}

/* The sections of all locks: those carried in, then those of the window in trace order. Run twice:
 * at first they are only counted. */
static void add_sections(builder *b)
{
    mr_window *w = b->window;
    for (uint32_t l = 0; l < w->lock_count; l++)
        if (b->carried->open_acquire[w->locks[l].number] != MR_NONE)
            add_carried(b, b->carried->open_acquire[w->locks[l].number]);
    for (uint32_t k = 0; k < b->carried->open_shared_count; k++)
        add_carried(b, b->carried->open_shared[k]);
    for (uint32_t l = 0; l < w->lock_count; l++)
        w->locks[l].carried_end = w->locks[l].sections_end;
    for (uint32_t i = 0; i < w->size; i++) {
        uint8_t op = mr_window_op(w, i);
        if (b->trace->link[w->start + i] == MR_NESTED)
            continue;
        if (mr_op_acquires(op))
            enter(b, i);
        else if (mr_op_releases(op) && w->sections)
            leave(b, i);
    }
}

static void mark_contended(mr_window *w, mr_window_lock *lock)
{
    const mr_section *exclusive = NULL, *other = NULL;
    for (uint32_t s = lock->sections_first; s < lock->sections_end && !lock->contended; s++) {
        const mr_section *section = &w->sections[s];
        /* Two threads, and one of them exclusive: then some two sections exclude each other. */
        if (!section->shared)
            exclusive = section;
        if (section->thread != w->sections[lock->sections_first].thread)
            other = section;
        lock->contended = exclusive && other;
    }
}

/* Counts the sections of each lock, then fills them; `object` of acquires and releases. */
static bool build_sections(builder *b)
{
    mr_window *w = b->window;
    add_sections(b);
    for (uint32_t l = 0; l < w->lock_count; l++) {
        uint32_t count = w->locks[l].sections_end;
        w->locks[l].sections_first = w->locks[l].sections_end = w->section_count;
        w->section_count += count;
    }
    w->sections = mr_arena_alloc(b->arena, w->section_count, sizeof *w->sections);
    if (!w->sections)
        return false;
    add_sections(b);
    for (uint32_t l = 0; l < w->lock_count; l++) {
        bool last = l + 1 == w->lock_count;
        MR_ASSERT(w->locks[l].sections_end ==
                  (last ? w->section_count : w->locks[l + 1].sections_first));
        mark_contended(w, &w->locks[l]);
    }
    return true;
}

/* ---- writes of a thread and of a value ---- */

/* Walks a thread's events forward (previous) or backward (next); `last` and `seen_by` are one a
 * variable. */
static void link_writes(mr_window *w, uint32_t thread, bool forward, uint32_t *last,
                        uint32_t *seen_by)
{
    uint32_t length = mr_window_length(w, thread);
    uint32_t *link = forward ? w->previous_write : w->next_write;
    for (uint32_t k = 0; k < length; k++) {
        uint32_t i = mr_window_at(w, thread, forward ? k : length - 1 - k);
        if (!mr_op_is_access(mr_window_op(w, i)))
            continue;
        uint32_t variable = w->object[i];
        link[i] = seen_by[variable] == thread ? last[variable] : MR_NONE;
        if (mr_op_writes(mr_window_op(w, i))) {
            last[variable] = i;
            seen_by[variable] = thread;
        }
    }
}

/* Stable merge sort of writes by value, so that equal values stay in trace order. */
static void sort_by_value(const mr_window *w, uint32_t *items, uint32_t *scratch, uint32_t count)
{
    if (count < 2)
        return;
    uint32_t half = count / 2;
    sort_by_value(w, items, scratch, half);
    sort_by_value(w, items + half, scratch, count - half);
    memcpy(scratch, items, half * sizeof *items);
    for (uint32_t left = 0, right = half, out = 0; left < half;)
        items[out++] = right == count || mr_window_written_value(w, scratch[left]) <=
                                             mr_window_written_value(w, items[right])
                           ? scratch[left++]
                           : items[right++];
}

static bool build_accesses(mr_window *w, mr_arena *arena)
{
    uint32_t *last = mr_arena_alloc(arena, w->variable_count, sizeof *last);
    uint32_t *seen_by = mr_arena_alloc(arena, w->variable_count, sizeof *seen_by);
    uint32_t *scratch = mr_arena_alloc(arena, w->size, sizeof *scratch);
    if (!last || !seen_by || !scratch)
        return false;
    for (int forward = 0; forward < 2; forward++) {
        memset(seen_by, 0xff, w->variable_count * sizeof *seen_by);
        for (uint32_t t = 0; t < w->thread_count; t++)
            link_writes(w, t, forward, last, seen_by);
    }
    for (uint32_t v = 0; v < w->variable_count; v++) {
        uint32_t first = w->variables[v].writes_first;
        uint32_t count = w->variables[v].writes_end - first;
        memcpy(w->writes_by_value + first, w->writes + first, count * sizeof *w->writes);
        if (!w->variables[v].by_source)
            sort_by_value(w, w->writes_by_value + first, scratch, count);
    }
    return true;
}

/* ---- semaphores ---- */

static bool is_semaphore_op(uint8_t op)
{
    return MR_OP_DOES(op, MR_GIVES | MR_TAKES);
}

/* Counts what each semaphore has, or fills its lists. */
static void add_operations(mr_window *w, bool fill)
{
    for (uint32_t i = 0; i < w->size; i++) {
        uint8_t op = mr_window_op(w, i);
        if (!is_semaphore_op(op))
            continue;
        mr_window_semaphore *s = &w->semaphores[w->object[i]];
        uint32_t *end = mr_op_gives(op) ? &s->posts_end : &s->waits_end;
        if (fill)
            (mr_op_gives(op) ? w->posts : w->waits)[*end] = i;
        ++*end;
    }
}

/* Do two threads of the window use it? */
static bool is_shared(const mr_window *w, const mr_window_semaphore *s)
{
    uint32_t thread = MR_NONE;
    for (uint32_t k = s->posts_first; k < s->posts_end; k++) {
        if (thread != MR_NONE && w->thread[w->posts[k]] != thread)
            return true;
        thread = w->thread[w->posts[k]];
    }
    for (uint32_t k = s->waits_first; k < s->waits_end; k++) {
        if (thread != MR_NONE && w->thread[w->waits[k]] != thread)
            return true;
        thread = w->thread[w->waits[k]];
    }
    return false;
}

static bool build_semaphores(mr_window *w, const uint32_t *units, mr_arena *arena)
{
    uint32_t posts = 0, waits = 0;
    w->semaphores = mr_arena_zalloc(arena, w->lock_count, sizeof *w->semaphores);
    if (!w->semaphores)
        return false;
    if (!mr_op_total(w->trace->op_counts, MR_GIVES | MR_TAKES))
        return true;
    add_operations(w, false);
    for (uint32_t l = 0; l < w->lock_count; l++) {
        mr_window_semaphore *s = &w->semaphores[l];
        uint32_t post_count = s->posts_end, wait_count = s->waits_end;
        s->units = units[w->locks[l].number];
        s->posts_first = s->posts_end = posts;
        s->waits_first = s->waits_end = waits;
        posts += post_count;
        waits += wait_count;
    }
    w->posts = mr_arena_alloc(arena, posts, sizeof *w->posts);
    w->waits = mr_arena_alloc(arena, waits, sizeof *w->waits);
    if (!w->posts || !w->waits)
        return false;
    add_operations(w, true);
    for (uint32_t l = 0; l < w->lock_count; l++) {
        mr_window_semaphore *s = &w->semaphores[l];
        MR_ASSERT(s->posts_end <= posts && s->waits_end <= waits);
        s->shared = is_shared(w, s);
    }
    return true;
}

/* ---- edges of BarrierPairs ---- */

static bool build_barrier_edges(mr_window *w, const mr_barrier_edges *edges, mr_arena *arena)
{
    if (!edges)
        return true;
    size_t first = mr_barrier_edges_from(edges, w->start);
    size_t end = mr_barrier_edges_from(edges, w->end);
    w->barrier_edges = mr_arena_alloc(arena, end - first, sizeof *w->barrier_edges);
    if (!w->barrier_edges)
        return false;
    for (size_t k = first; k < end; k++) {
        mr_edge edge = edges->items[k];
        if (edge.from < w->start)
            continue; /* what is before the window has happened */
        MR_ASSERT(edge.from < edge.to && edge.to < w->end);
        w->barrier_edges[w->barrier_edge_count++] =
            (mr_edge){.from = edge.from - w->start, .to = edge.to - w->start};
    }
    return true;
}

/* ---- the whole ---- */

static void forget_names(builder *b)
{
    mr_window *w = b->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        b->carried->dense_thread[w->threads[t].number] = MR_NONE;
        b->carried->dense_chain[b->trace->chain[w->threads[t].number]] = MR_NONE;
    }
    for (uint32_t v = 0; v < w->variable_count; v++)
        b->carried->dense_variable[w->variables[v].number] = MR_NONE;
    for (uint32_t l = 0; l < w->lock_count; l++)
        b->carried->dense_lock[w->locks[l].number] = MR_NONE;
}

/* Is everything where the header says? For costly checks. */
static bool is_access_sound(const mr_window *w, uint32_t i)
{
    uint32_t source = w->source[i], before = w->previous_write[i], after = w->next_write[i];
    if (w->object[i] >= w->variable_count || w->lockset[i] >= w->lockset_count)
        return false;
    if (source != MR_NONE && (source >= i || w->object[source] != w->object[i]))
        return false;
    if (before != MR_NONE && (before >= i || w->thread[before] != w->thread[i]))
        return false;
    if (after != MR_NONE && (after <= i || w->thread[after] != w->thread[i]))
        return false;
    return w->region_end[i] > i; /* MR_NONE is */
}

static bool is_section_sound(const mr_window *w, uint32_t s)
{
    const mr_section *section = &w->sections[s], *next = section + 1;
    if (section->acquire != MR_NONE && w->object[section->acquire] != s)
        return false;
    if (section->release != MR_NONE && w->object[section->release] != s)
        return false;
    if (s + 1 == w->locks[section->lock].sections_end || next->acquire == MR_NONE)
        return true;
    return section->acquire == MR_NONE || section->acquire < next->acquire;
}

static bool is_sound(const mr_window *w)
{
    for (uint32_t i = 0; i < w->size; i++) {
        if (w->thread[i] >= w->thread_count || mr_window_at(w, w->thread[i], w->position[i]) != i)
            return false;
        if (mr_op_is_access(mr_window_op(w, i)) && !is_access_sound(w, i))
            return false;
    }
    for (uint32_t s = 0; s < w->section_count; s++)
        if (!is_section_sound(w, s))
            return false;
    return true;
}

mr_status mr_window_build(mr_carried *carried, uint32_t end, mr_model model, mr_arena *arena,
                          mr_window **window, mr_error *error)
{
    MR_REQUIRE(carried->next <= end && end <= carried->trace->event_count);
    *window = NULL;
    mr_window *w = mr_arena_zalloc(arena, 1, sizeof *w);
    if (!w)
        return mr_error_memory(error, "building a window");
    w->trace = carried->trace;
    w->model = model;
    w->start = carried->next;
    w->end = end;
    w->size = end - carried->next;
    builder b = {.carried = carried, .trace = carried->trace, .arena = arena, .window = w};
    if (!allocate(&b, w->size))
        return mr_error_memory(error, "building a window");
    number_events(&b);
    group_events(&b);
    bool complete = build_sections(&b);
    forget_names(&b);
    if (!complete || !build_accesses(w, arena) || !build_semaphores(w, carried->units, arena) ||
        !mr_window_build_held(w, arena) || !mr_window_build_locksets(w, arena) ||
        !mr_window_build_hidden(w, arena) || !build_barrier_edges(w, carried->barrier_edges, arena))
        return mr_error_memory(error, "building a window");
    MR_ASSERT_COSTLY(is_sound(w));
    *window = w;
    return MR_OK;
}

size_t mr_window_barrier_edges_from(const mr_window *w, uint32_t event)
{
    size_t low = 0, high = w->barrier_edge_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->barrier_edges[middle].to < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
