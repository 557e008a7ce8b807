/*
 * Members of libstdc++ that are not compiled into programs, where it matters who called them, or
 * that write objects of the program: the library itself is not instrumented.
 */
#include "inputs.h"
#include "memory.h"
#include "modules.h"
#include "real.h"
#include "scheduler.h"
#include "writer.h"

/* What happens inside is logged as of the caller. */
static void lend_caller(uintptr_t code)
{
    if (mr_self != NULL) {
        mr_self->caller = code;
    }
}

/* `written`, a word, was changed (NULL: nothing was). */
static void take_back_caller(const void *written, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return;
    }
    thread->caller = 0;
    if (written != NULL && mr_is_instrumented(code)) {
        mr_write_access(MR_LOG_WRITE, 3, written, mr_load(written, 3), code);
    }
    mr_leave(thread);
}

#define DEFINE_MEMBER(name, parameters, arguments, written)                                        \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        lend_caller(MR_CALLER);                                                                    \
        MR_REAL(name) arguments;                                                                   \
        take_back_caller(written, MR_CALLER);                                                      \
    }

/* std::thread: the constructor's part, which empties the pointer to what is to be run; join; detach
 */
DEFINE_MEMBER(_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE,
              (void *object, void **state, void (*depends)(void)), (object, state, depends), state)
DEFINE_MEMBER(_ZNSt6thread4joinEv, (void *object), (object), object)
DEFINE_MEMBER(_ZNSt6thread6detachEv, (void *object), (object), object)
/* std::condition_variable: wait, notify_one, notify_all */
DEFINE_MEMBER(_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE, (void *object, void *lock),
              (object, lock), NULL)
DEFINE_MEMBER(_ZNSt18condition_variable10notify_oneEv, (void *object), (object), NULL)
DEFINE_MEMBER(_ZNSt18condition_variable10notify_allEv, (void *object), (object), NULL)
#undef DEFINE_MEMBER

/* std::random_device: libstdc++ takes the number from the processor or from a file, unseen. It is an input. */
MR_EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void *device);
unsigned _ZNSt13random_device9_M_getvalEv(void *device)
{
    int64_t fed;
    mr_thread *thread = mr_inputs_are_logged() || mr_inputs_are_fed() ? mr_enter() : NULL;
    if (thread == NULL) {
        return MR_REAL(_ZNSt13random_device9_M_getvalEv)(device);
    }
    const unsigned result = mr_input_call(thread, "std::random_device", &fed)
                                ? (unsigned)fed
                                : MR_REAL(_ZNSt13random_device9_M_getvalEv)(device);
    mr_input_called(thread, (int64_t)result);
    mr_leave(thread);
    return result;
}
