/*
 * Entry and exit of functions.
 *
 * Frames grow down: a function called from a live frame has a stack pointer below it. So frames
 * that were left without a word, by longjmp, are found at the next entry or exit.
 */
#include "explore.h"
#include "scheduler.h"
#include "tsan.h"
#include "writer.h"

/* Forgets the frames below `stack`. */
static inline uint64_t pop_dead(mr_thread *thread, uintptr_t stack)
{
    uint64_t count = 0;
    while (thread->depth > 0 && thread->depth <= MR_FRAMES_MAX &&
           thread->frames[thread->depth - 1].stack < stack) {
        thread->depth--;
        count++;
    }
    return count;
}

/* Did a function jump to its exit, its last call? Its frame is gone already, so it was among the
 * `dead` ones; and who is returned to is who called it. */
static inline bool is_last_call(const mr_thread *thread, uint64_t dead, uintptr_t code)
{
    return dead > 0 && thread->depth < MR_FRAMES_MAX &&
           thread->frames[thread->depth].caller == code;
}

static void log_leave(uint64_t count)
{
    uint64_t *record = mr_writer_room();
    record[0] = mr_log_head(MR_LOG_LEAVE, 0, count);
    mr_writer_advance(record + 1);
}

/* A function that was entered: where it was called, a code address in it, and there the stack
 * pointer and what is in the register for frame pointers, if it is used so. */
typedef struct entered {
    uintptr_t caller, code, stack, frame;
} entered;

/* Does it have a frame pointer? Then the return address is behind what that points to. The register may have any
 * value. */
static bool has_frame(const mr_thread *thread, const entered *self)
{
    return self->stack >= thread->stack_start && self->frame >= self->stack &&
           self->frame <= thread->stack_end - 2 * sizeof(uintptr_t) &&
           self->frame % sizeof(uintptr_t) == 0 &&
           ((const uintptr_t *)self->frame)[1] == self->caller;
}

static __attribute__((noinline)) void log_entry(const mr_thread *thread, mr_log_entry *entry,
                                                const entered *self)
{
    uint64_t *record = mr_writer_room();
    uintptr_t frame = has_frame(thread, self) ? self->frame - self->stack : 0;
    *entry = (mr_log_entry){self->caller, self->code, frame};
    record[0] = mr_log_head(MR_LOG_ENTRY, 0, self->caller);
    record[1] = self->code;
    record[2] = frame;
    mr_writer_advance(record + 3);
}

static inline void log_enter(const mr_thread *thread, const entered *self)
{
    unsigned number = mr_log_entry_of(self->caller, self->code);
    mr_log_entry *entry = &mr_writer_model.entries[number];
    if (__builtin_expect(entry->code != self->code || entry->caller != self->caller ||
                             (entry->frame != 0 && entry->frame != self->frame - self->stack),
                         0)) {
        log_entry(thread, entry, self);
    }
    uint64_t *record = mr_writer_room();
    mr_hot->enters = record == mr_hot->after_enter ? mr_hot->enters + 1 : 1;
    mr_hot->after_enter = record + 1;
    record[0] = mr_log_enter_head(number, self->stack);
    mr_writer_advance(record + 1);
}

/* A function that did nothing leaves nothing in the log. Is it so? */
static inline bool take_enter_back(void)
{
    uint64_t *record = mr_writer_cursor();
    if (record != mr_hot->after_enter || mr_hot->enters == 0) {
        return false;
    }
    mr_hot->enters--;
    mr_hot->after_enter = record - 1;
    mr_writer_advance(record - 1);
    return true;
}

void __tsan_func_entry(void *caller)
{
    mr_thread *thread = mr_self;
    if (thread == NULL) {
        return;
    }
    if (__builtin_expect(thread->attention != 0, 0)) {
        mr_look_around_kept(thread);
    }
    mr_settle();
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0); /* there is the caller's */
    if (__builtin_expect(thread->depth != 0 && thread->depth <= MR_FRAMES_MAX &&
                             thread->frames[thread->depth - 1].stack <= stack,
                         0)) {
        log_leave(pop_dead(thread, stack + 1));
    }
    if (thread->depth < MR_FRAMES_MAX) {
        thread->frames[thread->depth] = (mr_live_frame){stack, (uintptr_t)caller};
    }
    thread->depth++;
    log_enter(thread, &(entered){.caller = (uintptr_t)caller,
                                 .code = MR_CALLER,
                                 .stack = (uintptr_t)__builtin_dwarf_cfa(),
                                 .frame = *(const uintptr_t *)stack});
    mr_explore_clean();
}

void __tsan_func_exit(void)
{
    mr_thread *thread = mr_self;
    if (thread == NULL) {
        return;
    }
    if (__builtin_expect(thread->attention != 0, 0)) {
        mr_look_around_kept(thread);
    }
    mr_settle();
    uint64_t count = pop_dead(thread, (uintptr_t)__builtin_frame_address(0));
    if (thread->depth > 0 && !is_last_call(thread, count, MR_CALLER)) {
        thread->depth--;
        count++;
    }
    if (count > 0 && !(count == 1 && take_enter_back())) {
        log_leave(count);
    }
    mr_explore_clean();
}
