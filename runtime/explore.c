#include "explore.h"

#include "writer.h"

#include <stdlib.h>
#include <unwind.h>

void mr_explore_start(void)
{
    const char *wanted = secure_getenv(MR_LOG_ENV_EXPLORE);
    mr_rt.explores = wanted != NULL && (wanted[0] == '1' || wanted[0] == '2');
    mr_rt.explores_words = mr_rt.explores && wanted[0] == '2';
}

void mr_explore_choice(mr_log_choice what, mr_log_role role, const volatile void *object,
                       uintptr_t code, uint64_t number)
{
    if (mr_rt.explores && mr_rt.logging && mr_self != NULL) {
        mr_write_object(MR_LOG_CHOICE, role, (const void *)object, code, what, number);
    }
}

void mr_explore_failed(mr_log_role role, const volatile void *object, uintptr_t code, bool shared)
{
    mr_explore_failed_of(role, 0, object, code, shared);
}

void mr_explore_failed_of(mr_log_role role, uint64_t number, const volatile void *object,
                          uintptr_t code, bool shared)
{
    if (mr_rt.explores) {
        mr_explore_choice(MR_LOG_CHOICE_FAILED, role, object, code, shared);
    } else {
        mr_write_object(MR_LOG_USED, role, (const void *)object, code,
                        shared ? MR_LOG_USED_BUSY_SHARED : MR_LOG_USED_BUSY, number);
    }
}

unsigned mr_explore_wait(int64_t limit, bool shared)
{
    return !mr_rt.explores ? 0 : limit != MR_NEVER ? 2 : shared;
}

void mr_explore_spins(const volatile void *lock, uintptr_t code)
{
    if (mr_rt.explores && mr_self != NULL) {
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_SPIN, (const void *)lock, code, 0, 0);
    }
}

#if defined(__x86_64__)

enum { SCRUBBED = 4096 };

/* Only where there is room for so much: not on the stack of a signal handler or of a fiber, and not near the end of a stack. */
__attribute__((noinline)) void mr_explore_scrub(void)
{
    const mr_thread *thread = mr_self;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (thread == NULL || here < thread->stack_start + (size_t)2 * SCRUBBED ||
        here >= thread->stack_end) {
        return;
    }
    __asm__ volatile("lea -%c0(%%rsp), %%rdi\n\tmov %1, %%ecx\n\txor %%eax, %%eax\n\trep stosq"
                     :
                     : "i"(SCRUBBED), "i"(SCRUBBED / 8)
                     : "rax", "rcx", "rdi", "memory", "cc");
}

enum { PRESERVED = 6 };

typedef struct search {
    uintptr_t code;     /* the place of the access */
    uintptr_t outer;    /* just below the frame of the thread's first function */
    uintptr_t from, to; /* the stack in between */
    uint64_t hash;
    uint64_t registers[PRESERVED];
} search;

static void mix(uint64_t *hash, uint64_t word)
{
    *hash = (*hash ^ word) * 0x9e3779b97f4a7c15u;
    *hash ^= *hash >> 29;
    *hash *= 0xbf58476d1ce4e5b9u;
    *hash ^= *hash >> 32;
}

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *argument)
{
    static const int preserved[PRESERVED] = {3, 6, 12, 13, 14, 15}; /* rbx, rbp, r12 to r15 */
    search *self = argument;
    uintptr_t stack = _Unwind_GetCFA(context); /* the stack pointer of this frame */
    if (self->from == 0 && _Unwind_GetIP(context) == self->code) {
        self->from = stack;
        mix(&self->hash, self->code);
        mix(&self->hash, stack);
        for (size_t i = 0; i < PRESERVED; i++) {
            self->registers[i] = _Unwind_GetGR(context, preserved[i]);
            mix(&self->hash, self->registers[i]);
        }
    }
    if (self->from != 0 && stack > self->outer + 2 * sizeof(uintptr_t)) {
        self->to = stack;
        return _URC_END_OF_STACK;
    }
    return _URC_NO_REASON;
}

static void tell_words(const search *self)
{
    unsigned count = 0;
    for (; count < PRESERVED; count++) {
        mr_write_object(MR_LOG_STATE, MR_LOG_STATE_WORD, NULL, self->code, count,
                        self->registers[count]);
    }
    const uint64_t *at = (const uint64_t *)self->from;
    for (; (uintptr_t)at < self->to && count < MR_EXPLORE_WORDS; at++) {
        mr_write_object(MR_LOG_STATE, MR_LOG_STATE_WORD, NULL, self->code, count++, *at);
    }
}

void mr_explore_state(const mr_thread *thread)
{
    search self = {.code = thread->about.code};
    if (thread->depth == 0 || thread->depth > MR_FRAMES_MAX || thread->fiber != NULL) {
        return;
    }
    self.outer = thread->frames[0].stack;
    _Unwind_Backtrace(look_at_frame, &self);
    if (self.from == 0 || self.to <= self.from) {
        return;
    }
    for (const uint64_t *at = (const uint64_t *)self.from; (uintptr_t)at < self.to; at++) {
        mix(&self.hash, *at);
    }
    if (mr_rt.explores_words && mr_hot->live.waiting != MR_LOG_WAITING_WRITE) {
        tell_words(&self);
    }
    mr_write_state(thread->about.address, self.code, self.hash);
}

#else

void mr_explore_scrub(void)
{
}

void mr_explore_state(const mr_thread *thread)
{
    (void)thread;
}

#endif

void mr_explore_read_after_write(mr_thread *thread, const void *address, uintptr_t code)
{
    if (thread->busy == 0) {
        thread->busy = 1;
        thread->about = (mr_about){code, address, 0};
        mr_explore_state(thread);
        thread->about.code = 0;
        thread->busy = 0;
    }
}
