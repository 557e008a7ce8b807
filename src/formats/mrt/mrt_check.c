#include "mrt_check.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* What `users` says of a variable. 0: the outlook calls it contended, so there is nothing to check.
 * `nobody`: no access so far. `several_readers`: several threads read it. Otherwise one thread uses
 * it: 2 × (thread + 1), plus 1 when the thread has written it. 16 bits are enough, and more of them
 * stay in the cache. */
static const uint16_t nobody = UINT16_MAX, several_readers = 1;

/* For atomic accesses also: several threads, of which some write. */
static const uint16_t several_writers = UINT16_MAX - 1;

static bool init_outlook(mr_mrt_check *check, const mr_outlook *outlook)
{
    check->users = mr_malloc(outlook->variable_count * sizeof *check->users, 0);
    check->lock_user = mr_calloc(outlook->lock_count, sizeof *check->lock_user);
    check->lock_uses = mr_calloc(outlook->lock_count + 1ull, sizeof *check->lock_uses);
    check->sections = mr_malloc(outlook->use_count * sizeof *check->sections, 0);
    if (!check->users || !check->lock_user || !check->lock_uses || !check->sections)
        return false;
    for (uint32_t i = 0; i < outlook->variable_count; i++)
        check->users[i] = outlook->contended[i] ? 0 : nobody;
    for (size_t i = 0; i < outlook->use_count; i++) {
        check->lock_uses[outlook->uses[i].lock + 1]++;
        check->sections[i] = outlook->uses[i].sections;
    }
    for (uint32_t i = 0; i < outlook->lock_count; i++)
        check->lock_uses[i + 1] += check->lock_uses[i];
    check->outlook = outlook;
    return true;
}

bool mr_mrt_check_init(mr_mrt_check *check, const mr_trace *dictionary, const mr_outlook *outlook)
{
    *check = (mr_mrt_check){.dictionary = dictionary};
    mr_validity_init(&check->validity, dictionary);
    return !outlook || init_outlook(check, outlook);
}

void mr_mrt_check_free(mr_mrt_check *check)
{
    mr_validity_free(&check->validity);
    free(check->open);
    free(check->users);
    free(check->atomic_users);
    free(check->lock_user);
    free(check->lock_uses);
    free(check->sections);
    free(check->freer);
    *check = (mr_mrt_check){0};
}

static bool make_room(mr_mrt_check *check, uint32_t thread_count)
{
    size_t old = check->thread_capacity;
    void *open = check->open;
    if (!mr_grow(&open, &check->thread_capacity, thread_count, sizeof *check->open))
        return false;
    check->open = open;
    if (check->thread_capacity > old)
        memset(check->open + old, 0, check->thread_capacity - old);
    return true;
}

static mr_status wrong(mr_error *error, const char *what)
{
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "%s", what);
}

static mr_status contradicted(mr_error *error)
{
    return wrong(error, "contradicts the index of the file");
}

/* Does the access fit what `users` says, with no change but that its one user now writes? `after` is what `users` says then.
 * `writes` is 0 or 1. There are no branches, because the processor cannot predict which variable comes next. */
static inline bool stays_as_foreseen(uint32_t user, uint32_t thread, uint32_t writes,
                                     uint16_t *after)
{
    uint32_t is_its_user = user >> 1 == thread + 1;
    *after = (uint16_t)(user | (writes & is_its_user));
    return is_its_user | (user + writes <= several_readers);
}

/* A plain access of a variable that is not contended, by another thread than before. */
static bool note_other_user(uint16_t *user, uint32_t thread, bool writes)
{
    if (*user == nobody) {
        *user = (uint16_t)(2 * (thread + 1) + writes);
        return true;
    }
    if (writes || (*user != several_readers && (*user & 1)))
        return false;
    *user = several_readers;
    return true;
}

/* The use of the lock by the thread, + 1; 0: the outlook has none. */
static uint32_t find_use(const mr_mrt_check *check, uint32_t lock, uint32_t thread)
{
    MR_ASSERT(lock < check->outlook->lock_count); /* fits_outlook of mrt_read.c */
    uint32_t low = check->lock_uses[lock], end = check->lock_uses[lock + 1], high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (check->outlook->uses[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low == end || check->outlook->uses[low].thread != thread ? 0 : low + 1;
}

/* Is the outermost acquire one that the outlook foresees? */
static bool note_section(mr_mrt_check *check, uint32_t lock, uint32_t thread)
{
    uint32_t user = check->lock_user[lock];
    if (!check->outlook->lock_shared[lock]) {
        check->lock_user[lock] = thread + 1;
        return !user || user == thread + 1;
    }
    if (!user || check->outlook->uses[user - 1].thread != thread)
        user = check->lock_user[lock] = find_use(check, lock, thread);
    if (!user || !check->sections[user - 1])
        return false;
    check->sections[user - 1]--;
    return true;
}

/* Likewise of an acquire that the validity has accepted. */
static inline bool fits_section(mr_mrt_check *check, const mr_step *step)
{
    return check->validity.locks[step->operand].depth > 1 ||
           note_section(check, step->operand, step->thread);
}

/* False: no memory. */
static bool note_atomic(mr_mrt_check *check, uint32_t variable, uint32_t thread, bool writes)
{
    uint32_t count = check->outlook->variable_count;
    if (!check->atomic_users) {
        check->atomic_users = mr_malloc(count * sizeof *check->atomic_users, 0);
        for (uint32_t i = 0; check->atomic_users && i < count; i++)
            check->atomic_users[i] = nobody;
    }
    uint16_t *user = check->atomic_users ? &check->atomic_users[variable] : NULL;
    if (!user || *user == several_writers)
        return user != NULL;
    if (*user == nobody || *user >> 1 == thread + 1)
        *user = (uint16_t)(2 * (thread + 1) + (writes || (*user != nobody && *user & 1)));
    else
        *user =
            writes || (*user != several_readers && *user & 1) ? several_writers : several_readers;
    return true;
}

/* The outlook does not call the variable contended: is that right? `plain` and `atomic` are what
 * `users` says of its plain and of its atomic accesses. */
static bool are_foreseen(uint32_t plain, uint32_t atomic)
{
    if (plain == nobody || atomic == nobody)
        return true; /* accesses of one kind: each event has been checked */
    bool plain_reads = plain == several_readers || !(plain & 1);
    bool atomic_reads = atomic == several_readers || (atomic != several_writers && !(atomic & 1));
    bool one_thread = plain >> 1 == atomic >> 1 && plain != several_readers;
    return one_thread || (plain_reads && atomic_reads);
}

/* False: no memory. */
static bool note_free(mr_mrt_check *check, const mr_step *step)
{
    size_t old = check->freer_capacity;
    void *freer = check->freer;
    if (!mr_grow(&freer, &check->freer_capacity, (size_t)step->operand + 1, sizeof *check->freer))
        return false;
    check->freer = freer;
    memset(check->freer + old, 0, (check->freer_capacity - old) * sizeof *check->freer);
    check->freer[step->operand] = step->thread + 1;
    return true;
}

/* Has only the thread that frees the object, if any, accessed the variable? */
static bool is_of_freer(const mr_mrt_check *check, uint32_t variable, uint32_t freer)
{
    uint32_t plain = check->users[variable];
    uint32_t atomic = check->atomic_users ? check->atomic_users[variable] : nobody;
    return (plain == nobody || plain >> 1 == freer) && (atomic == nobody || atomic >> 1 == freer);
}

/* A free is a plain write of the variables of its object. */
static bool frees_are_foreseen(const mr_mrt_check *check)
{
    const mr_members *members = &check->dictionary->members;
    for (uint32_t i = 0; i < members->count; i++) {
        mr_membership member = members->items[i];
        uint32_t freer = member.object < check->freer_capacity ? check->freer[member.object] : 0;
        if (freer && check->users[member.variable] && !is_of_freer(check, member.variable, freer))
            return false;
    }
    return true;
}

/* The validity has just accepted the event: does its thread hold the lock shared exactly once? */
static bool is_first_share(const mr_validity *validity, const mr_step *step)
{
    uint64_t key = (uint64_t)step->operand << 32 | step->thread;
    uint32_t share = mr_keys_find(&validity->shares, key);
    MR_ASSERT(share);
    return validity->share_depths[share] == 1;
}

/* The line of an event; events are asked for in their order. */
static uint64_t line_of(mr_mrt_check *check, uint64_t event)
{
    const mr_trace *trace = check->dictionary;
    while (check->line + 1 < trace->line_step_count &&
           trace->line_steps[check->line + 1].event <= event)
        check->line++;
    return event + trace->line_steps[check->line].offset;
}

/* These texts may be names of a thread, but not as the operand of a line. */
static const char *misplaced_name(const mr_mrt_check *check, const mr_step *step)
{
    const mr_name *threads = check->dictionary->threads.items;
    if (!check->open[step->thread] && threads[step->thread].text[0] == '#')
        return "is by a thread whose name begins like a comment";
    if (mr_op_operand_kind(step->op) == MR_OPERAND_THREAD &&
        strpbrk(threads[step->operand].text, "()"))
        return "has a thread with a parenthesis in its name as operand";
    return NULL;
}

static void note_open(mr_mrt_check *check, const mr_step *step)
{
    check->open[step->thread] = !mr_op_ends((uint8_t)step->op);
    if (mr_op_joins((uint8_t)step->op))
        check->open[step->operand] = 0;
}

/* What the outlook says of the operand. */
static mr_status check_use(mr_mrt_check *check, const mr_step *step, mr_error *error)
{
    bool foreseen = true, writes = mr_op_writes((uint8_t)step->op);
    uint16_t *user, after;
    switch ((mr_op)step->op) {
    case MR_OP_ACQUIRE:
        foreseen = fits_section(check, step);
        break;
    case MR_OP_SHARED_ACQUIRE:
        foreseen = !is_first_share(&check->validity, step) ||
                   note_section(check, step->operand, step->thread);
        break;
    case MR_OP_READ:
    case MR_OP_WRITE:
        user = &check->users[step->operand];
        if (stays_as_foreseen(*user, step->thread, writes, &after))
            *user = after;
        else
            foreseen = note_other_user(user, step->thread, writes);
        break;
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        if (!note_atomic(check, step->operand, step->thread, writes))
            return mr_error_memory(error, "checking the trace");
        break;
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_FORK:
    case MR_OP_JOIN:
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
        break;
    case MR_OP_FREE:
        if (!note_free(check, step))
            return mr_error_memory(error, "checking the trace");
        break;
    }
    return foreseen ? MR_OK : contradicted(error);
}

/* Checks an event that nothing passes quickly. Its operation, thread and location are in bounds. */
static mr_status check_step(mr_mrt_check *check, const mr_events *events, uint32_t i,
                            mr_error *error)
{
    mr_step step = {(mr_op)events->op[i], events->thread[i], events->operand[i],
                    line_of(check, events->first + i)};
    if (step.operand >= check->operand_bounds[step.op])
        return wrong(error, "has an operand without a name");
    const char *misplaced = misplaced_name(check, &step);
    if (misplaced)
        return wrong(error, misplaced);
    mr_status status = mr_validity_step(&check->validity, &step, error);
    if (status)
        return status;
    note_open(check, &step);
    if (!check->outlook)
        return MR_OK;
    return check_use(check, &step, error);
}

/* Checks an event that is no plain access, or one that has not passed. A thread that may do a plain access may acquire and release,
 * too. */
static inline mr_status check_event(mr_mrt_check *check, const mr_events *events, uint32_t i,
                                    mr_error *error)
{
    uint8_t op = events->op[i];
    mr_step step = {(mr_op)op, events->thread[i], events->operand[i], 0};
    if (!check->open[step.thread] || step.operand >= check->operand_bounds[op])
        return check_step(check, events, i, error);
    if (op == MR_OP_RELEASE && mr_validity_releases(&check->validity, &step))
        return MR_OK;
    if (op != MR_OP_ACQUIRE)
        return check_step(check, events, i, error);
    step.line = line_of(check, events->first + i);
    if (!mr_validity_acquires(&check->validity, &step))
        return check_step(check, events, i, error);
    return !check->outlook || fits_section(check, &step) ? MR_OK : contradicted(error);
}

/* Does a number of the column reach the bound? x does when the highest bit of x or of bound - 1 - x
 * is set. This test needs no branch for each number. The compiler makes vectors of the loop with a
 * fixed count. */
static bool exceeds(const uint32_t *column, uint32_t count, uint32_t bound)
{
    enum { AT_ONCE = 32 };
    const uint32_t half = UINT32_C(1) << 31, last = bound - 1;
    uint32_t seen = bound > half ? half : 0, i = 0; /* a larger bound: look at each event */
    for (; i + AT_ONCE <= count; i += AT_ONCE) {
        const uint32_t *part = column + i;
        for (uint32_t j = 0; j < AT_ONCE; j++)
            seen |= part[j] | (last - part[j]);
    }
    for (; i < count; i++)
        seen |= column[i] | (last - column[i]);
    return (seen & half) != 0;
}

/* Likewise: is there an operation that there is not? Eight bytes at once. */
static bool exceeds_ops(const uint8_t *ops, uint32_t count)
{
    _Static_assert((int)MR_OP_COUNT <= 128, "no carry from one byte to the next");
    const uint64_t ones = UINT64_MAX / UINT8_MAX, halves = 128 * ones;
    const uint64_t more =
        (128 - (int)MR_OP_COUNT) * ones; /* leads from MR_OP_COUNT to the highest bit */
    uint64_t seen = 0, some = 0;
    uint32_t i = 0;
    for (; i + sizeof some <= count; i += sizeof some) {
        memcpy(&some, ops + i, sizeof some);
        seen |= some | ((some & ~halves) + more);
    }
    some = 0;
    memcpy(&some, ops + i, count - i);
    seen |= some | ((some & ~halves) + more);
    return (seen & halves) != 0;
}

/* The events before the first one with a number out of bounds; `error` is about that one. */
static uint32_t check_bounds(const mr_events *events, mr_error *error)
{
    if (!exceeds_ops(events->op, events->count) &&
        !exceeds(events->thread, events->count, events->thread_count) &&
        !exceeds(events->location, events->count, events->location_count))
        return events->count;
    for (uint32_t i = 0; i < events->count; i++) {
        const char *what = NULL;
        if (events->op[i] >= MR_OP_COUNT)
            what = "has an operation that there is not";
        else if (events->thread[i] >= events->thread_count)
            what = "has a thread without a name";
        else if (events->location[i] >= events->location_count)
            what = "has a location without a name";
        if (what) {
            wrong(error, what);
            return i;
        }
    }
    return events->count;
}

_Static_assert(MR_OP_READ == 0 && MR_OP_WRITE == 1, "a plain operation says whether it writes");

/* Passes the plain accesses from event `i` on by threads that may do them. Most events are. Returns
 * the first event that is not. */
static inline uint32_t skip_plain(mr_mrt_check *check, const mr_events *events, uint32_t i,
                                  uint32_t count, bool has_members, uint64_t *writes)
{
    const uint8_t *ops = events->op, *open = check->open;
    const uint32_t *threads = events->thread, *operands = events->operand;
    uint16_t *users = check->users, none = 0;
    uint32_t variable_count = events->variable_count, written = 0;
    for (; i < count; i++) {
        uint32_t op = ops[i], thread = threads[i], operand = operands[i];
        if ((!mr_op_is_plain((uint8_t)op)) | (operand >= variable_count) | (open[thread] == 0))
            break;
        uint16_t *user = users ? users + operand : &none, after;
        if (stays_as_foreseen(*user, thread, op, &after))
            *user = after;
        else if (!note_other_user(user, thread, op))
            break; /* check_step says why */
        if (has_members)
            mr_validity_note_access(&check->validity, operand);
        written += op;
    }
    *writes += written;
    return i;
}

/* The same with an outlook, of a trace without objects, as most are. One thread has many accesses one after the other. */
static uint32_t skip_foreseen(mr_mrt_check *check, const mr_events *events, uint32_t i,
                              uint32_t count, uint64_t *writes)
{
    const uint8_t *ops = events->op;
    const uint32_t *threads = events->thread, *operands = events->operand;
    uint16_t *users = check->users;
    uint32_t variable_count = events->variable_count, written = 0;
    while (i < count && check->open[threads[i]]) {
        uint32_t thread = threads[i];
        do {
            uint32_t op = ops[i], operand = operands[i];
            if ((!mr_op_is_plain((uint8_t)op)) | (operand >= variable_count))
                goto stopped;
            uint16_t after;
            if (stays_as_foreseen(users[operand], thread, op, &after))
                users[operand] = after;
            else if (!note_other_user(&users[operand], thread, op))
                goto stopped; /* check_step says why */
            written += op;
        } while (++i < count && threads[i] == thread);
    }
stopped:
    *writes += written;
    return i;
}

static uint32_t skip(mr_mrt_check *check, const mr_events *events, uint32_t i, uint32_t count,
                     uint64_t *writes)
{
    if (check->dictionary->members.count)
        return skip_plain(check, events, i, count, true, writes);
    return check->users ? skip_foreseen(check, events, i, count, writes)
                        : skip_plain(check, events, i, count, false, writes);
}

/* The events before the first one that is wrong. */
static uint32_t run(mr_mrt_check *check, const mr_events *events, uint32_t count,
                    uint64_t *op_counts, mr_error *error)
{
    uint64_t plain = 0, writes = 0;
    uint32_t i = 0;
    for (;;) {
        uint32_t stop = skip(check, events, i, count, &writes);
        plain += stop - i;
        i = stop;
        if (i == count || check_event(check, events, i, error))
            break;
        op_counts[events->op[i++]]++;
    }
    op_counts[MR_OP_READ] += plain - writes;
    op_counts[MR_OP_WRITE] += writes;
    return i;
}

static void set_operand_bounds(mr_mrt_check *check)
{
    for (int op = 0; op < MR_OP_COUNT; op++) {
        const mr_names *names = mr_trace_operand_names(check->dictionary, (mr_op)op);
        check->operand_bounds[op] = names ? names->count : 1; /* without operand: 0 */
    }
}

uint32_t mr_mrt_check_events(mr_mrt_check *check, const mr_events *events, uint64_t *op_counts,
                             mr_error *error)
{
    if (!make_room(check, events->thread_count)) {
        mr_error_memory(error, "checking the trace");
        return 0;
    }
    mr_error out_of_bounds = {0};
    set_operand_bounds(check);
    uint32_t count = check_bounds(events, &out_of_bounds);
    uint32_t good = run(check, events, count, op_counts, error);
    MR_ASSERT(good <= count && count <= events->count);
    if (good == count && count < events->count)
        *error = out_of_bounds;
    return good;
}

bool mr_mrt_check_end(const mr_mrt_check *check)
{
    if (!check->outlook)
        return true;
    for (size_t i = 0; i < check->outlook->use_count; i++)
        if (check->sections[i])
            return false;
    for (uint32_t i = 0; check->atomic_users && i < check->outlook->variable_count; i++)
        if (check->users[i] && !are_foreseen(check->users[i], check->atomic_users[i]))
            return false;
    return frees_are_foreseen(check);
}
