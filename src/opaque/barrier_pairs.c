#include "barrier_pairs.h"

#include "base/assert.h"
#include "base/keys.h"
#include "life_edges.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of events are kept plus one, so that 0 is "none" and a later event is the greater one. */

/* What is known of an element and a thread. */
typedef struct contact {
    uint32_t thread;
    uint32_t next;       /* contact of the same element, 0: last */
    uint32_t touch;      /* the thread's last event that touches the element */
    uint32_t open_count; /* open calls of the thread that reach it */
    uint32_t closed;     /* the end of the thread's last call that reached it */
} contact;

/* What is known of a thread, over all elements. */
typedef struct thread_state {
    uint32_t last;                  /* its last event */
    uint32_t touch;                 /* its last event that touches anything */
    uint32_t open_star, end_star;   /* calls that reach everything: open ones, the last end */
    uint32_t open_any, end_any;     /* calls that reach anything */
    uint32_t open_calls, end_calls; /* all calls */
    uint32_t innermost;             /* open call + 1, 0: none */
} thread_state;

typedef struct open_call {
    uint32_t thread, outer; /* `outer`: open call + 1, 0: none */
    uint32_t begin;         /* its mbegin */
    bool star, any;         /* does it reach everything; anything? */
    uint32_t *need;         /* by thread: the last event that the call's next one needs */
    mr_u32s news;           /* threads whose `need` has changed since the call's last event */
    mr_u32s sharers;        /* open calls of other threads with a common element */
} open_call;

typedef struct walk {
    const mr_trace *trace;
    mr_opaque mode;
    mr_barrier_edges *edges;
    uint32_t star; /* element "*", MR_NONE: is not used */
    /* By variable, lock and thread: the element of that name, MR_NONE: in no reach set. */
    uint32_t *variable_element, *lock_element, *thread_element;
    /* By object: the elements of its variables, object_elements[from … from of the next). */
    uint32_t *object_elements, *object_from;
    uint32_t *first_contact; /* by element, 0: none */
    mr_keys contact_numbers; /* (element, thread) */
    contact *contacts;
    size_t contact_capacity;
    thread_state *threads;
    open_call *calls; /* those that are open, anywhere */
    size_t call_count, call_capacity;
    mr_u32s open;         /* numbers in `calls` of the open ones */
    mr_u32s free_calls;   /* numbers in `calls` that can be used again */
    mr_keys reaches;      /* (open call, element) + 1 while it is open; never removed … */
    uint32_t *reach_call; /* … but the mbegin of the call it was added for tells */
    size_t reach_capacity;
    mr_keys need_numbers; /* (thread, other thread) */
    uint32_t *needed;     /* the last event of the other that the thread needs already */
    size_t needed_capacity;
} walk;

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- elements ---- */

static uint32_t *elements_of(const mr_trace *trace, const mr_names *names)
{
    uint32_t *elements = mr_calloc(names->count, sizeof *elements);
    for (uint32_t i = 0; elements && i < names->count; i++)
        if (!mr_names_find(&trace->reach_names, names->items[i].text, names->items[i].length,
                           &elements[i]))
            elements[i] = MR_NONE;
    return elements;
}

/* The contact of element and thread, made when new; 0: no memory. */
static uint32_t get_contact(walk *w, uint32_t element, uint32_t thread)
{
    uint32_t known = w->contact_numbers.count, number;
    void *contacts = w->contacts;
    if (!mr_grow(&contacts, &w->contact_capacity, (size_t)known + 2, sizeof *w->contacts))
        return 0;
    w->contacts = contacts;
    if (!mr_keys_add(&w->contact_numbers, (uint64_t)element << 32 | thread, &number))
        return 0;
    if (number > known) {
        w->contacts[number] = (contact){.thread = thread, .next = w->first_contact[element]};
        w->first_contact[element] = number;
    }
    return number;
}

/* The last event of the thread so far that is in a call of the given kind. */
static uint32_t last_in(const thread_state *thread, uint32_t open_count, uint32_t end)
{
    return open_count ? thread->last : end;
}

static uint32_t last_in_contact(const walk *w, const contact *at)
{
    return last_in(&w->threads[at->thread], at->open_count, at->closed);
}

/* ---- edges ---- */

/* The event `to` of `thread` needs `from` (plus one) of `other`. */
static bool need(walk *w, uint32_t thread, uint32_t other, uint32_t from, uint32_t to)
{
    uint32_t known = w->need_numbers.count, number;
    void *items = w->needed;
    if (!from || other == thread)
        return true;
    if (!mr_grow(&items, &w->needed_capacity, (size_t)known + 2, sizeof *w->needed))
        return false;
    w->needed = items;
    if (!mr_keys_add(&w->need_numbers, (uint64_t)thread << 32 | other, &number))
        return false;
    if (number > known)
        w->needed[number] = 0;
    if (w->needed[number] >= from)
        return true;
    w->needed[number] = from;
    items = w->edges->items;
    if (!mr_grow(&items, &w->edges->capacity, w->edges->count + 1, sizeof(mr_edge)))
        return false;
    w->edges->items = items;
    MR_ASSERT(from <= to); /* event from - 1 comes before event to */
    MR_ASSERT(!w->edges->count || w->edges->items[w->edges->count - 1].to <= to);
    w->edges->items[w->edges->count++] = (mr_edge){from - 1, to};
    return true;
}

/* ---- calls ---- */

static const uint32_t *reach_of(const walk *w, uint32_t begin, uint32_t *count)
{
    uint32_t index = w->trace->value[begin];
    const mr_reach *reach = &w->trace->reaches[index];
    *count = index ? reach->count : 0;
    return index ? w->trace->reach_items.items + reach->first : NULL;
}

static bool has_element(const walk *w, uint32_t call, uint32_t element)
{
    uint32_t number = mr_keys_find(&w->reaches, (uint64_t)call << 32 | element);
    return number && w->reach_call[number] == w->calls[call].begin + 1;
}

static bool add_element(walk *w, uint32_t call, uint32_t element)
{
    uint32_t known = w->reaches.count, number;
    void *items = w->reach_call;
    if (!mr_grow(&items, &w->reach_capacity, (size_t)known + 2, sizeof *w->reach_call))
        return false;
    w->reach_call = items;
    if (!mr_keys_add(&w->reaches, (uint64_t)call << 32 | element, &number))
        return false;
    w->reach_call[number] = w->calls[call].begin + 1;
    return true;
}

static bool have_common_element(const walk *w, uint32_t call, uint32_t other)
{
    const open_call *one = &w->calls[call], *two = &w->calls[other];
    uint32_t count;
    if (w->mode == MR_OPAQUE_SIMPLE || (one->star && two->any) || (two->star && one->any))
        return true;
    const uint32_t *elements = reach_of(w, one->begin, &count);
    for (uint32_t i = 0; i < count; i++)
        if (has_element(w, other, elements[i]))
            return true;
    return false;
}

/* What the call's next event needs of a thread. */
static bool note_need(open_call *call, uint32_t thread, uint32_t event)
{
    if (thread == call->thread || event <= call->need[thread])
        return true;
    call->need[thread] = event;
    return mr_u32s_push(&call->news, thread);
}

/* A place for a call; MR_NONE: no memory. */
static uint32_t new_call(walk *w)
{
    if (w->free_calls.count)
        return w->free_calls.items[--w->free_calls.count];
    void *calls = w->calls;
    if (!mr_grow(&calls, &w->call_capacity, w->call_count + 1, sizeof *w->calls))
        return MR_NONE;
    w->calls = calls;
    w->calls[w->call_count] =
        (open_call){.need = mr_calloc(w->trace->threads.count, sizeof(uint32_t))};
    return w->calls[w->call_count].need ? (uint32_t)w->call_count++ : MR_NONE;
}

/* What a call needs from the start, of all that came before. */
static bool note_past(walk *w, open_call *call)
{
    uint32_t count, thread_count = w->trace->threads.count;
    const uint32_t *elements = reach_of(w, call->begin, &count);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++)
        for (uint32_t at = w->first_contact[elements[i]]; ok && at; at = w->contacts[at].next) {
            const contact *touched = &w->contacts[at];
            ok = note_need(call, touched->thread,
                           later(touched->touch, last_in_contact(w, touched)));
        }
    for (uint32_t other = 0; ok && other < thread_count; other++) {
        const thread_state *state = &w->threads[other];
        if (call->any)
            ok = note_need(call, other, last_in(state, state->open_star, state->end_star));
        if (ok && call->star)
            ok = note_need(call, other,
                           later(state->touch, last_in(state, state->open_any, state->end_any)));
        if (ok && w->mode == MR_OPAQUE_SIMPLE)
            ok = note_need(call, other, last_in(state, state->open_calls, state->end_calls));
    }
    return ok;
}

static bool meet_open_calls(walk *w, uint32_t number)
{
    for (size_t i = 0; i < w->open.count; i++) {
        uint32_t other = w->open.items[i];
        if (w->calls[other].thread != w->calls[number].thread &&
            have_common_element(w, number, other) &&
            (!mr_u32s_push(&w->calls[number].sharers, other) ||
             !mr_u32s_push(&w->calls[other].sharers, number)))
            return false;
    }
    return true;
}

static bool begin_call(walk *w, uint32_t event, uint32_t thread)
{
    uint32_t number = new_call(w), count;
    if (number == MR_NONE)
        return false;
    open_call *call = &w->calls[number];
    thread_state *state = &w->threads[thread];
    call->thread = thread;
    call->begin = event;
    call->outer = state->innermost;
    const uint32_t *elements = reach_of(w, event, &count);
    call->any = count > 0;
    call->star = false;
    for (uint32_t i = 0; i < count; i++)
        call->star |= elements[i] == w->star;
    if (!note_past(w, call))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (has_element(w, number, elements[i]))
            continue; /* a name that comes twice */
        uint32_t at = get_contact(w, elements[i], thread);
        if (!at || !add_element(w, number, elements[i]))
            return false;
        w->contacts[at].open_count++;
    }
    if (!meet_open_calls(w, number) || !mr_u32s_push(&w->open, number))
        return false;
    state->innermost = number + 1;
    state->open_star += call->star;
    state->open_any += call->any;
    state->open_calls++;
    return true;
}

static void remove_item(mr_u32s *list, uint32_t item)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == item) {
            list->items[i] = list->items[--list->count];
            return;
        }
    MR_ASSERT(!"the list has the item");
}

static bool end_call(walk *w, uint32_t event, uint32_t thread)
{
    thread_state *state = &w->threads[thread];
    MR_ASSERT(state->innermost > 0 && state->open_calls > 0); /* calls nest like brackets */
    uint32_t number = state->innermost - 1, count;
    open_call *call = &w->calls[number];
    MR_ASSERT(call->thread == thread && call->begin < event);
    const uint32_t *elements = reach_of(w, call->begin, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = (uint64_t)elements[i] << 32 | thread;
        contact *at = &w->contacts[mr_keys_find(&w->contact_numbers, key)];
        /* a name that comes twice was counted once, and is closed at this event already */
        if (at->closed != event + 1) {
            MR_ASSERT(at->open_count > 0);
            at->open_count--;
        }
        at->closed = event + 1;
    }
    state->open_star -= call->star;
    state->open_any -= call->any;
    state->open_calls--;
    state->end_star = call->star ? event + 1 : state->end_star;
    state->end_any = call->any ? event + 1 : state->end_any;
    state->end_calls = event + 1;
    state->innermost = call->outer;
    for (size_t i = 0; i < call->sharers.count; i++)
        remove_item(&w->calls[call->sharers.items[i]].sharers, number);
    remove_item(&w->open, number);
    call->sharers.count = call->news.count = 0;
    memset(call->need, 0, w->trace->threads.count * sizeof *call->need);
    call->begin = MR_NONE;
    return mr_u32s_push(&w->free_calls, number);
}

/* ---- events ---- */

/* What an event touches. MR_NONE: no element of a reach set. */
typedef struct touched {
    bool any;              /* does it touch anything, be it in a reach set or not? */
    uint32_t of[2];        /* its operand, and its thread */
    const uint32_t *freed; /* the variables of the object that it frees */
    uint32_t freed_count;
} touched;

static uint32_t touched_count(const touched *what)
{
    return 2 + what->freed_count;
}

static uint32_t touched_element(const touched *what, uint32_t i)
{
    return i < 2 ? what->of[i] : what->freed[i - 2];
}

/* A free writes all variables of its object. */
static touched touches_object(const walk *w, uint32_t object)
{
    uint32_t from = w->object_from[object];
    return (touched){.any = w->trace->object_info[object].variable_count > 0,
                     .of = {MR_NONE, MR_NONE},
                     .freed = w->object_elements + from,
                     .freed_count = w->object_from[object + 1] - from};
}

static touched touches(const walk *w, uint32_t event)
{
    const mr_trace *trace = w->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    const mr_thread_info *info = &trace->thread_info[thread];
    touched result = {.of = {MR_NONE, MR_NONE}};
    switch (mr_op_operand_kind((mr_op)trace->op[event])) {
    case MR_OPERAND_VARIABLE:
        if (mr_op_is_access(trace->op[event]))
            result = (touched){.any = true, .of = {w->variable_element[operand], MR_NONE}};
        break;
    case MR_OPERAND_LOCK:
        result = (touched){.any = true, .of = {w->lock_element[operand], MR_NONE}};
        break;
    case MR_OPERAND_OBJECT:
        if (mr_op_ends_life(trace->op[event]))
            result = touches_object(w, operand);
        break;
    case MR_OPERAND_NONE:
    case MR_OPERAND_THREAD: /* a fork or join does not touch the thread */
    case MR_OPERAND_CALL:
        break;
    }
    /* Begin and end, or what stands for them: a begin is the first event, an end the last. */
    if (event == info->first || event == info->last) {
        result.any = true;
        result.of[1] = w->thread_element[thread];
    }
    return result;
}

/* (2), f a touching event: what it needs of calls. */
static bool need_calls(walk *w, uint32_t event, uint32_t thread, const touched *what)
{
    bool ok = true;
    for (uint32_t i = 0; i < touched_count(what); i++) {
        uint32_t element = touched_element(what, i);
        uint32_t at = element != MR_NONE ? w->first_contact[element] : 0;
        for (; ok && at; at = w->contacts[at].next)
            ok = need(w, thread, w->contacts[at].thread, last_in_contact(w, &w->contacts[at]),
                      event);
    }
    if (!what->any || w->star == MR_NONE)
        return ok;
    for (uint32_t other = 0; ok && other < w->trace->threads.count; other++) {
        const thread_state *state = &w->threads[other];
        ok = need(w, thread, other, last_in(state, state->open_star, state->end_star), event);
    }
    return ok;
}

/* What an event in the open calls of its thread needs. */
static bool need_in_calls(walk *w, uint32_t event, uint32_t thread)
{
    for (uint32_t at = w->threads[thread].innermost; at; at = w->calls[at - 1].outer) {
        open_call *call = &w->calls[at - 1];
        for (size_t i = 0; i < call->news.count; i++) {
            uint32_t other = call->news.items[i];
            if (!need(w, thread, other, call->need[other], event))
                return false;
        }
        call->news.count = 0;
    }
    return true;
}

/* Tells the open calls of other threads that their next events need this one. */
static bool tell_calls(walk *w, uint32_t event, uint32_t thread, const touched *what)
{
    for (size_t i = 0; what->any && i < w->open.count; i++) {
        uint32_t number = w->open.items[i];
        bool hit = w->calls[number].star;
        for (uint32_t k = 0; k < touched_count(what) && !hit; k++) {
            uint32_t element = touched_element(what, k);
            hit = element != MR_NONE && has_element(w, number, element);
        }
        if (hit && !note_need(&w->calls[number], thread, event + 1))
            return false;
    }
    for (uint32_t at = w->threads[thread].innermost; at; at = w->calls[at - 1].outer) {
        const mr_u32s *sharers = &w->calls[at - 1].sharers;
        for (size_t i = 0; i < sharers->count; i++)
            if (!note_need(&w->calls[sharers->items[i]], thread, event + 1))
                return false;
    }
    return true;
}

static bool note_touch(walk *w, uint32_t event, uint32_t thread, const touched *what)
{
    if (what->any)
        w->threads[thread].touch = event + 1;
    for (uint32_t i = 0; i < touched_count(what); i++) {
        uint32_t element = touched_element(what, i);
        if (element == MR_NONE)
            continue;
        uint32_t at = get_contact(w, element, thread);
        if (!at)
            return false;
        w->contacts[at].touch = event + 1;
    }
    return true;
}

static bool step(walk *w, uint32_t event)
{
    uint32_t thread = w->trace->thread[event];
    uint8_t op = w->trace->op[event];
    touched what = touches(w, event);
    if ((mr_op_calls(op) && !begin_call(w, event, thread)) ||
        !need_calls(w, event, thread, &what) || !need_in_calls(w, event, thread) ||
        !tell_calls(w, event, thread, &what) || !note_touch(w, event, thread, &what))
        return false;
    w->threads[thread].last = event + 1;
    return !mr_op_returns(op) || end_call(w, event, thread);
}

static bool init_objects(walk *w)
{
    const mr_trace *trace = w->trace;
    uint32_t count = 0, total = 0;
    for (uint32_t object = 0; object < trace->objects.count; object++)
        total += trace->object_info[object].variable_count;
    w->object_elements = mr_calloc(total, sizeof *w->object_elements);
    w->object_from = mr_calloc((size_t)trace->objects.count + 1, sizeof *w->object_from);
    if (!w->object_elements || !w->object_from)
        return false;
    for (uint32_t object = 0; object < trace->objects.count; object++) {
        const mr_object_info *info = &trace->object_info[object];
        for (uint32_t i = 0; i < info->variable_count; i++) {
            uint32_t variable = trace->object_variables[info->first_variable + i];
            if (w->variable_element[variable] != MR_NONE)
                w->object_elements[count++] = w->variable_element[variable];
        }
        w->object_from[object + 1] = count;
    }
    return true;
}

static bool init(walk *w)
{
    const mr_trace *trace = w->trace;
    if (!mr_names_find(&trace->reach_names, "*", 1, &w->star))
        w->star = MR_NONE;
    w->variable_element = elements_of(trace, &trace->variables);
    w->lock_element = elements_of(trace, &trace->locks);
    w->thread_element = elements_of(trace, &trace->threads);
    w->first_contact = mr_calloc(trace->reach_names.count, sizeof *w->first_contact);
    w->threads = mr_calloc(trace->threads.count, sizeof *w->threads);
    return w->variable_element && w->lock_element && w->thread_element && w->first_contact &&
           w->threads && init_objects(w);
}

static void clear(walk *w)
{
    for (size_t i = 0; i < w->call_count; i++) {
        free(w->calls[i].need);
        mr_u32s_free(&w->calls[i].news);
        mr_u32s_free(&w->calls[i].sharers);
    }
    free(w->calls);
    free(w->variable_element);
    free(w->lock_element);
    free(w->thread_element);
    free(w->object_elements);
    free(w->object_from);
    free(w->first_contact);
    free(w->contacts);
    free(w->threads);
    free(w->reach_call);
    free(w->needed);
    mr_u32s_free(&w->open);
    mr_u32s_free(&w->free_calls);
    mr_keys_free(&w->contact_numbers);
    mr_keys_free(&w->reaches);
    mr_keys_free(&w->need_numbers);
}

/* The edges of the calls. */
static bool find_edges(const mr_trace *trace, mr_opaque mode, mr_barrier_edges *edges)
{
    walk w = {.trace = trace, .mode = mode, .edges = edges};
    bool ok = init(&w);
    for (uint32_t event = 0; ok && event < trace->event_count; event++)
        ok = step(&w, event);
    clear(&w);
    return ok;
}

mr_status mr_barrier_edges_find(const mr_trace *trace, mr_opaque mode, mr_barrier_edges *edges,
                                mr_error *error)
{
    *edges = (mr_barrier_edges){0};
    bool has_calls = mode != MR_OPAQUE_IGNORE && mr_op_total(trace->op_counts, MR_CALLS);
    if ((has_calls && !find_edges(trace, mode, edges)) || !mr_life_edges_add(trace, edges))
        return mr_error_memory(error, "ordering BarrierPairs and the lives of objects");
    return MR_OK;
}

void mr_barrier_edges_free(mr_barrier_edges *edges)
{
    free(edges->items);
    *edges = (mr_barrier_edges){0};
}

size_t mr_barrier_edges_from(const mr_barrier_edges *edges, uint32_t event)
{
    size_t low = 0, high = edges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (edges->items[middle].to < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
