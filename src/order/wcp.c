#include "wcp.h"

#include "base/assert.h"
#include "base/huge.h"
#include "feed.h"

#include <stdlib.h>
#include <string.h>

enum { KIND_READ, KIND_WRITE };

bool mr_wcp_grow(mr_wcp *wcp, uint32_t thread_count, uint32_t lock_count)
{
    if (!mr_hb_grow(&wcp->hb, thread_count, lock_count) ||
        !mr_sections_grow(&wcp->sections, lock_count))
        return false;
    wcp->sections.pool = &wcp->hb.pool;
    void *threads = wcp->threads, *locks = wcp->locks;
    if (!mr_grow(&threads, &wcp->thread_capacity, thread_count, sizeof(mr_wcp_thread)))
        return false;
    wcp->threads = threads;
    if (!mr_grow(&locks, &wcp->lock_capacity, lock_count, sizeof(mr_wcp_lock)))
        return false;
    wcp->locks = locks;
    for (; wcp->thread_count < thread_count; wcp->thread_count++)
        wcp->threads[wcp->thread_count] = (mr_wcp_thread){0};
    for (; wcp->lock_count < lock_count; wcp->lock_count++)
        wcp->locks[wcp->lock_count] = (mr_wcp_lock){0};
    return true;
}

void mr_wcp_free(mr_wcp *wcp)
{
    mr_clock_pool *pool = &wcp->hb.pool;
    for (size_t thread = 0; thread < wcp->thread_count; thread++) {
        mr_clock_drop(pool, &wcp->threads[thread].before);
        mr_clock_drop(pool, &wcp->threads[thread].hard);
        free(wcp->threads[thread].held.items);
    }
    for (size_t lock = 0; lock < wcp->lock_count; lock++) {
        mr_clock_drop(pool, &wcp->locks[lock].release);
        mr_clock_drop(pool, &wcp->locks[lock].shared);
    }
    free(wcp->threads);
    free(wcp->locks);
    mr_huge_free(wcp->touches, wcp->touch_capacity * sizeof(mr_touch));
    mr_map_free(&wcp->touch_numbers);
    mr_sections_free(&wcp->sections);
    mr_hb_free(&wcp->hb);
    *wcp = (mr_wcp){0};
}

size_t mr_wcp_open_sections(const mr_wcp *wcp)
{
    size_t count = 0;
    for (size_t thread = 0; thread < wcp->thread_count; thread++)
        count += wcp->threads[thread].held.count;
    return count;
}

void mr_wcp_forget(mr_wcp *wcp)
{
    for (size_t thread = 0; thread < wcp->thread_count; thread++)
        wcp->threads[thread].held.count = 0;
    wcp->touch_count = 0;
    mr_map_free(&wcp->touch_numbers);
    mr_sections_forget(&wcp->sections);
}

/* A clock without a local time: what is ≺-before an event, without the event itself. */
static mr_time only(mr_clock *clock)
{
    return (mr_time){.clock = clock};
}

/* `*touch`: the number of the new touch, + 1. */
static bool new_touch(mr_wcp *wcp, uint32_t log, uint32_t *touch)
{
    void *touches = wcp->touches;
    if (!mr_huge_grow(&touches, &wcp->touch_capacity, wcp->touch_count + 1, sizeof(mr_touch)))
        return false;
    wcp->touches = touches;
    uint32_t number = (uint32_t)wcp->touch_count++;
    wcp->touches[number] = (mr_touch){
        .last = {MR_NONE, MR_NONE}, .other = {MR_NONE, MR_NONE}, .log = log, .beside = number + 1};
    *touch = number + 1;
    return true;
}

/* The touches of a variable form a circle (mr_touch.beside). A search passes this many of them. When the
 * circle is longer, touch_numbers has all of its touches. */
enum { CIRCLE_MOST = 8 };

/* Returns the touch of the log and the variable, + 1; 0: there is none. `entry` is any touch of the
 * variable, + 1; 0: the variable has none. */
static inline uint32_t get_touch(const mr_wcp *wcp, uint32_t log, uint32_t variable, uint32_t entry)
{
    uint32_t at = entry;
    for (int n = 0; n < CIRCLE_MOST; n++) {
        if (!at || wcp->touches[at - 1].log == log)
            return at;
        at = wcp->touches[at - 1].beside;
        if (at == entry)
            return 0;
    }
    return mr_map_get(&wcp->touch_numbers, mr_map_key(log, variable), 0);
}

static bool note_in_map(mr_wcp *wcp, uint32_t variable, uint32_t touch)
{
    uint64_t key = mr_map_key(wcp->touches[touch - 1].log, variable);
    return mr_map_at(&wcp->touch_numbers, key, touch) != NULL;
}

/* The touches of the circle of `touch`, counted up to CIRCLE_MOST + 2. */
static int circle_length(const mr_wcp *wcp, uint32_t touch)
{
    int length = 1;
    for (uint32_t at = wcp->touches[touch - 1].beside; at != touch && length < CIRCLE_MOST + 2;
         at = wcp->touches[at - 1].beside)
        length++;
    return length;
}

/* Makes a touch and puts it into the circle of `entry`; 0: the variable has none. */
static bool add_touch(mr_wcp *wcp, uint32_t log, uint32_t variable, uint32_t entry, uint32_t *touch)
{
    if (!new_touch(wcp, log, touch))
        return false;
    if (!entry)
        return true;
    wcp->touches[*touch - 1].beside = wcp->touches[entry - 1].beside;
    wcp->touches[entry - 1].beside = *touch;
    int length = circle_length(wcp, *touch);
    if (length <= CIRCLE_MOST)
        return true;
    /* The circle has just become too long: the map has none of the others yet. */
    if (length == CIRCLE_MOST + 1)
        for (uint32_t at = wcp->touches[*touch - 1].beside; at != *touch;
             at = wcp->touches[at - 1].beside)
            if (!note_in_map(wcp, variable, at))
                return false;
    return note_in_map(wcp, variable, *touch);
}

/* Finds or makes the touch of the log and the variable. `*touch` is a guess, and is corrected if
 * wrong. `entry`: as for get_touch. */
static inline bool find_touch(mr_wcp *wcp, uint32_t log, uint32_t variable, uint32_t entry,
                              uint32_t *touch)
{
    if (*touch && wcp->touches[*touch - 1].log == log)
        return true;
    *touch = get_touch(wcp, log, variable, entry);
    return *touch || add_touch(wcp, log, variable, entry, touch);
}

/* Rule (a) for one kind of earlier access: joins the last section of another thread that made it.
 */
static bool follow_conflict(mr_wcp *wcp, const mr_touch *touch, int kind, uint32_t thread)
{
    const mr_sections *sections = &wcp->sections;
    uint32_t section = touch->last[kind];
    if (section != MR_NONE && sections->items[section].thread == thread)
        section = touch->other[kind];
    return section == MR_NONE || mr_clock_learn(&wcp->hb.pool, &wcp->threads[thread].before,
                                                mr_section_time(sections, section));
}

static void note_touch(mr_sections *sections, mr_touch *touch, int kind, uint32_t section)
{
    uint32_t last = touch->last[kind];
    if (last == section)
        return;
    mr_section_share(sections, section);
    touch->last[kind] = section;
    if (last == MR_NONE)
        return;
    if (sections->items[last].thread == sections->items[section].thread) {
        mr_section_drop(sections, last);
        return;
    }
    if (touch->other[kind] != MR_NONE)
        mr_section_drop(sections, touch->other[kind]);
    touch->other[kind] = last;
}

/* Has P all releases of the lock by other threads? While the section is exclusive, and open, there are no more. */
static inline bool knows_log(const mr_wcp *wcp, mr_held *held, uint32_t thread)
{
    if (held->knows_log || held->log >= MR_LOG_READER)
        return held->knows_log;
    mr_release last = mr_sections_foreign(&wcp->sections, held->log, thread);
    held->knows_log = mr_clock_get(wcp->threads[thread].before, last.thread) >= last.local;
    return held->knows_log;
}

/* Rule (a) for the sections of the touch, and of the touch of its atomic accesses. */
static bool follow_conflicts(mr_wcp *wcp, const mr_touch *touch, uint8_t op, uint32_t thread)
{
    if (!follow_conflict(wcp, touch, KIND_WRITE, thread) ||
        (mr_op_writes(op) && !follow_conflict(wcp, touch, KIND_READ, thread)))
        return false;
    if (!touch->atomics || mr_op_is_atomic(op))
        return true;
    const mr_touch *atomics = &wcp->touches[touch->atomics - 1];
    return follow_conflict(wcp, atomics, KIND_WRITE, thread) &&
           (!mr_op_writes(op) || follow_conflict(wcp, atomics, KIND_READ, thread));
}

static bool follow_log(mr_wcp *wcp, uint32_t log, uint32_t variable, uint32_t entry, uint8_t op,
                       uint32_t thread)
{
    uint32_t number = get_touch(wcp, log, variable, entry);
    return !number || follow_conflicts(wcp, &wcp->touches[number - 1], op, thread);
}

/* Rule (a) for the other logs of the lock. For an exclusive section these are the readers' logs;
 * for a shared section it is the log of the exclusive sections. */
static bool follow_other_logs(mr_wcp *wcp, const mr_held *held, uint32_t variable, uint32_t entry,
                              uint8_t op, uint32_t thread)
{
    if (held->log >= MR_LOG_READER)
        return follow_log(wcp, held->lock, variable, entry, op, thread);
    uint32_t reader = wcp->sections.logs[held->lock].first_reader;
    for (; reader != MR_NONE; reader = wcp->sections.readers[reader].next)
        if (!follow_log(wcp, MR_LOG_READER + reader, variable, entry, op, thread))
            return false;
    return true;
}

/* The touch where an access is noted: the plain one, or that of its atomic accesses. NULL: no
 * memory. */
static inline mr_touch *touch_for(mr_wcp *wcp, uint32_t number, uint8_t op)
{
    if (!mr_op_is_atomic(op))
        return &wcp->touches[number - 1];
    uint32_t atomics = wcp->touches[number - 1].atomics;
    if (!atomics) {
        if (!new_touch(wcp, wcp->touches[number - 1].log, &atomics))
            return NULL;
        wcp->touches[number - 1].atomics = atomics;
    }
    return &wcp->touches[atomics - 1];
}

bool mr_wcp_access(mr_wcp *wcp, uint32_t thread, uint32_t variable, uint8_t op, uint32_t *touch)
{
    int kind = mr_op_writes(op) ? KIND_WRITE : KIND_READ;
    const mr_held_list *list = &wcp->threads[thread].held;
    uint32_t last = 0;
    for (size_t i = 0; i < list->count; i++) {
        mr_held *held = &list->items[i];
        uint32_t guess = last ? wcp->touches[last - 1].next : *touch, number = guess;
        if (!find_touch(wcp, held->log, variable, *touch, &number))
            return false;
        MR_ASSERT_COSTLY(wcp->touches[number - 1].log == held->log);
        if (number != guess)
            *(last ? &wcp->touches[last - 1].next : touch) = number;
        last = number;
        mr_touch *at = touch_for(wcp, number, op);
        if (!at)
            return false;
        /* The section has such an access already. Since then no section that it excludes was open.
         */
        if (at->last[kind] == held->section)
            continue;
        if ((!knows_log(wcp, held, thread) &&
             !follow_conflicts(wcp, &wcp->touches[number - 1], op, thread)) ||
            !follow_other_logs(wcp, held, variable, *touch, op, thread))
            return false;
        note_touch(&wcp->sections, at, kind, held->section);
    }
    return true;
}

/* P flows along the HB edges that end at the acquire. */
static bool follow_releases(mr_wcp *wcp, uint32_t thread, uint32_t lock, bool shared)
{
    const mr_hb *hb = &wcp->hb;
    const mr_time *last = &hb->locks[lock].release;
    mr_clock **before = &wcp->threads[thread].before;
    bool known = last->thread == thread ||
                 mr_clock_get(hb->threads[thread].clock, last->thread) >= last->local;
    return (known || mr_clock_join(&wcp->hb.pool, before, only(wcp->locks[lock].release))) &&
           (shared || !wcp->locks[lock].shared ||
            mr_clock_join(&wcp->hb.pool, before, only(wcp->locks[lock].shared)));
}

static bool acquire(mr_wcp *wcp, uint32_t thread, uint32_t lock, bool shared)
{
    mr_held_list *held = &wcp->threads[thread].held;
    void *items = held->items;
    mr_held new = {.lock = lock, .log = lock, .serial = ++wcp->section_count};
    if (!follow_releases(wcp, thread, lock, shared) ||
        !mr_grow(&items, &held->capacity, held->count + 1, sizeof(mr_held)))
        return false;
    held->items = items;
    if ((shared && !mr_sections_reader(&wcp->sections, lock, thread, &new.log)) ||
        !mr_sections_user(&wcp->sections, lock, thread, &new.user) ||
        !mr_section_open(&wcp->sections, thread, wcp->hb.threads[thread].local, &new.section))
        return false;
    held->items[held->count++] = new;
    return true;
}

/* Takes the innermost section of the lock, shared or exclusive as said, out of the list. */
static mr_held take_held(mr_held_list *held, uint32_t lock, bool shared)
{
    size_t i = held->count;
    while (i && (held->items[i - 1].lock != lock || (held->items[i - 1].log != lock) != shared))
        i--;
    MR_ASSERT(i > 0);
    mr_held taken = held->items[i - 1];
    memmove(&held->items[i - 1], &held->items[i], (held->count - i) * sizeof(mr_held));
    held->count--;
    return taken;
}

/* Is there a section at the position of the log, of another thread, whose acquire is in `before`? */
static bool can_pass(const mr_wcp *wcp, const mr_clock *before, uint32_t log, uint32_t position)
{
    uint32_t section = mr_sections_at(&wcp->sections, log, position);
    if (section == MR_NONE)
        return false;
    const mr_section *item = &wcp->sections.items[section];
    return mr_clock_get(before, item->thread) >= item->acquired;
}

/*
 * pass_sections for a thread without sections of its own in the log. An acquire comes HB-after all
 * earlier ones of its log, and what is HB-before something ≺-before is ≺-before, too. So the
 * sections to pass are a beginning of the log, and its end is found in a logarithm of steps: a
 * thread that comes late has them all to pass.
 */
static uint32_t pass_foreign(mr_wcp *wcp, mr_lock_user *user, uint32_t log)
{
    const mr_clock *before = wcp->threads[user->thread].before;
    uint32_t last = user->cursor, step = 1;
    if (!can_pass(wcp, before, log, last))
        return MR_NONE;
    while (step < UINT32_C(1) << 30 && can_pass(wcp, before, log, last + step)) {
        last += step;
        step *= 2;
    }
    for (; step; step /= 2)
        if (can_pass(wcp, before, log, last + step))
            last += step;
    user->cursor = last + 1;
    return mr_sections_at(&wcp->sections, log, last);
}

/* Passes all sections of the log when the last one is of another thread and can be passed. What
 * comes before it can be passed then, as pass_foreign says. */
static bool pass_all(mr_wcp *wcp, mr_lock_user *user, uint32_t number, uint32_t *passed)
{
    const mr_lock_log *log = mr_sections_log(&wcp->sections, number);
    mr_logged last = log->items[log->count - 1];
    if (last.thread == user->thread ||
        mr_clock_get(wcp->threads[user->thread].before, last.thread) <
            wcp->sections.items[last.section].acquired)
        return false;
    user->cursor = log->first + (uint32_t)(log->count - log->head);
    *passed = last.section;
    return true;
}

/* Passes the sections of other threads whose acquire is ≺-before the thread's last event, and skips
 * the thread's own. Returns the last one passed, MR_NONE when there is none. */
static uint32_t pass_sections(mr_wcp *wcp, mr_lock_user *user, uint32_t log)
{
    const mr_clock *before = wcp->threads[user->thread].before;
    const mr_lock_log *of = mr_sections_log(&wcp->sections, log);
    uint32_t passed = MR_NONE;
    if (!user->has_own)
        return pass_foreign(wcp, user, log);
    for (size_t at = of->head + (user->cursor - of->first); at < of->count; at++) {
        mr_logged next = of->items[at];
        if (next.thread != user->thread) {
            if (mr_clock_get(before, next.thread) < wcp->sections.items[next.section].acquired)
                break;
            /* A thread that has one to pass mostly has all of them to pass. */
            if (passed == MR_NONE && pass_all(wcp, user, log, &passed))
                return passed;
            passed = next.section;
        }
        user->cursor++;
    }
    return passed;
}

/* Rule (b) for one log. `*news` becomes true when sections were passed. */
static bool pass_log(mr_wcp *wcp, uint32_t thread, uint32_t log, uint32_t user, bool *news)
{
    uint32_t passed = pass_sections(wcp, &wcp->sections.users[user], log);
    if (passed == MR_NONE)
        return true;
    *news = true;
    return mr_clock_learn(&wcp->hb.pool, &wcp->threads[thread].before,
                          mr_section_time(&wcp->sections, passed));
}

/* Rule (b) for the readers' logs, and again for all logs of the lock as long as sections are
 * passed: passing one shared section may put the acquire of another one ≺-before this release, as
 * shared sections overlap. */
static bool pass_readers(mr_wcp *wcp, uint32_t thread, const mr_held *held)
{
    bool news = true;
    while (news) {
        news = false;
        uint32_t reader = wcp->sections.logs[held->lock].first_reader;
        for (; reader != MR_NONE; reader = wcp->sections.readers[reader].next) {
            uint32_t log = MR_LOG_READER + reader, user;
            if (wcp->sections.readers[reader].thread != thread &&
                (!mr_sections_user(&wcp->sections, log, thread, &user) ||
                 !pass_log(wcp, thread, log, user, &news)))
                return false;
        }
        if (news && !pass_log(wcp, thread, held->lock, held->user, &news))
            return false;
    }
    return true;
}

static bool release(mr_wcp *wcp, uint32_t thread, uint32_t lock, bool shared)
{
    mr_hb *hb = &wcp->hb;
    mr_wcp_thread *by = &wcp->threads[thread];
    mr_held held = take_held(&by->held, lock, shared);
    bool news, is_read = wcp->sections.logs[lock].first_reader != MR_NONE;
    /* One pass over exclusive sections is enough: what the last one adds to P is older than the
     * next acquire. */
    if (!pass_log(wcp, thread, lock, held.user, &news) ||
        (!shared && is_read && !pass_readers(wcp, thread, &held))) {
        mr_section_drop(&wcp->sections, held.section);
        return false;
    }
    mr_wcp_lock *at = &wcp->locks[lock];
    if (shared) {
        if (!mr_clock_join(&hb->pool, &at->shared, only(by->before))) {
            mr_section_drop(&wcp->sections, held.section);
            return false;
        }
    } else {
        mr_clock_set(&hb->pool, &at->release, by->before);
        mr_clock_drop(&hb->pool, &at->shared);
    }
    return mr_section_close(&wcp->sections, held.log, held.user, held.section,
                            mr_hb_now(hb, thread));
}

/* P and K flow along a fork or join, from the thread `from` to `thread`. */
static bool hard_edge(mr_wcp *wcp, uint32_t from, uint32_t thread)
{
    MR_ASSERT(from != thread);
    mr_clock_pool *pool = &wcp->hb.pool;
    mr_time hard = {wcp->threads[from].hard, from, wcp->hb.threads[from].local};
    return mr_clock_join(pool, &wcp->threads[thread].before, only(wcp->threads[from].before)) &&
           mr_clock_learn(pool, &wcp->threads[thread].hard, hard);
}

bool mr_wcp_sync(mr_wcp *wcp, mr_op op, uint32_t thread, uint32_t operand)
{
    switch ((mr_op)op) {
    case MR_OP_ACQUIRE:
        return acquire(wcp, thread, operand, false) && mr_hb_acquire(&wcp->hb, thread, operand);
    case MR_OP_RELEASE:
        if (!release(wcp, thread, operand, false))
            return false;
        mr_hb_release(&wcp->hb, thread, operand);
        return true;
    case MR_OP_SHARED_ACQUIRE:
        return acquire(wcp, thread, operand, true) &&
               mr_hb_acquire_shared(&wcp->hb, thread, operand);
    case MR_OP_SHARED_RELEASE:
        return release(wcp, thread, operand, true) &&
               mr_hb_release_shared(&wcp->hb, thread, operand);
    case MR_OP_FORK:
        return hard_edge(wcp, thread, operand) && mr_hb_fork(&wcp->hb, thread, operand);
    case MR_OP_JOIN:
        return hard_edge(wcp, operand, thread) && mr_hb_join(&wcp->hb, thread, operand);
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    MR_ASSERT(!"this operation comes in another way");
    return false;
}

void mr_wcp_publish(mr_wcp *wcp, uint32_t thread, mr_stamp *stamp)
{
    mr_clock_pool *pool = &wcp->hb.pool;
    mr_time_set(pool, &stamp->time, mr_hb_now(&wcp->hb, thread));
    if (wcp->threads) {
        mr_clock_set(pool, &stamp->before, wcp->threads[thread].before);
        mr_clock_set(pool, &stamp->hard, wcp->threads[thread].hard);
    }
    wcp->hb.threads[thread].local++;
}

bool mr_wcp_follow(mr_wcp *wcp, uint32_t thread, const mr_stamp *stamp)
{
    mr_clock_pool *pool = &wcp->hb.pool;
    mr_time time = stamp->time, hard = {stamp->hard, time.thread, time.local};
    MR_ASSERT(time.local > 0); /* something was published */
    if (time.thread == thread)
        return true;
    return mr_clock_learn(pool, &wcp->hb.threads[thread].clock, time) &&
           (!wcp->threads ||
            (mr_clock_join(pool, &wcp->threads[thread].before, only(stamp->before)) &&
             mr_clock_learn(pool, &wcp->threads[thread].hard, hard)));
}

void mr_wcp_drop_stamp(mr_wcp *wcp, mr_stamp *stamp)
{
    mr_clock_drop(&wcp->hb.pool, &stamp->time.clock);
    mr_clock_drop(&wcp->hb.pool, &stamp->before);
    mr_clock_drop(&wcp->hb.pool, &stamp->hard);
    *stamp = (mr_stamp){0};
}

/*
 * Rule (a), before the access is judged: its edges end at the access itself.
 *
 * All sections of the thread have noted a plain access of the kind when it was the last to be noted in the innermost one,
 * and they are as long as this is the innermost one: the others were opened before it. `noted` is the number of
 * that section, and a bit for each kind.
 */
static inline bool follow_rule_a(mr_detector *detector, const mr_access *access,
                                 mr_variable *variable)
{
    mr_wcp *wcp = &detector->wcp;
    const mr_held_list *held = &wcp->threads[access->thread].held;
    if (!held->count)
        return true;
    if (mr_op_is_plain(access->op)) {
        uint64_t section = held->items[held->count - 1].serial << 2;
        uint64_t kind = mr_op_writes(access->op) ? 2 : 1;
        variable->noted = variable->noted >> 2 == section >> 2 ? variable->noted : section;
        if (variable->noted & kind)
            return true;
        variable->noted |= kind;
    }
    return mr_wcp_access(wcp, access->thread, access->variable, access->op, &variable->touch);
}

MR_INLINE bool access(mr_detector *detector, const mr_access *access)
{
    mr_wcp *wcp = &detector->wcp;
    const mr_wcp_thread *thread = &wcp->threads[access->thread];
    uint32_t local = wcp->hb.threads[access->thread].local;
    mr_variable *variable = mr_detector_variable(detector, access->variable);
    if (!variable)
        return false;
    if (mr_variable_is_shared(variable))
        __builtin_prefetch(
            variable->history->recent); /* it comes while rule (a) waits for touches */
    if (!follow_rule_a(detector, access, variable))
        return false;
    if (mr_variable_again(variable, access, local))
        return true;
    mr_detector_plain(detector, access, variable);
    return mr_variable_access(&detector->variables, variable, access,
                              (mr_knowledge){{thread->before, thread->hard}}, local,
                              &detector->list);
}

static bool atomic(mr_detector *detector, const mr_access *access, bool contended)
{
    mr_wcp *wcp = &detector->wcp;
    const mr_wcp_thread *thread = &wcp->threads[access->thread];
    if (contended) {
        mr_variable *variable = mr_detector_variable(detector, access->variable);
        if (!variable || !follow_rule_a(detector, access, variable) ||
            !mr_variable_access(&detector->variables, variable, access,
                                (mr_knowledge){{thread->before, thread->hard}},
                                wcp->hb.threads[access->thread].local, &detector->list))
            return false;
    }
    return mr_edges_atomic(&detector->edges, wcp, access);
}

static inline bool synchronise(mr_detector *detector, mr_op op, uint32_t thread, uint32_t operand)
{
    return mr_wcp_sync(&detector->wcp, op, thread, operand);
}

/* A write of each variable of the object; rule (a) of all of them comes first. */
static bool free_object(mr_detector *detector, const mr_access *access)
{
    mr_wcp *wcp = &detector->wcp;
    const mr_wcp_thread *thread = &wcp->threads[access->thread];
    uint32_t local = wcp->hb.threads[access->thread].local;
    uint32_t first = mr_detector_first_freed(detector, access->variable);
    for (uint32_t at = first; at; at = mr_detector_next_freed(detector, at)) {
        mr_access one = mr_free_of(access, at);
        mr_variable *variable = mr_detector_variable(detector, one.variable);
        one.op = MR_OP_WRITE;
        if (!variable || !follow_rule_a(detector, &one, variable))
            return false;
    }
    for (uint32_t at = first; at; at = mr_detector_next_freed(detector, at)) {
        mr_access one = mr_free_of(access, at);
        mr_knowledge knowledge = {{thread->before, thread->hard}};
        if (!mr_variable_free(&detector->variables, mr_detector_variable(detector, one.variable),
                              &one, knowledge, local, false, &detector->list))
            return false;
    }
    return true;
}

mr_feed_end mr_wcp_feed(mr_detector *detector, const mr_events *events)
{
    return mr_feed(detector, events, access, atomic, synchronise, free_object);
}
