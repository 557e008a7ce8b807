/* What the program asks the system about itself and its descriptors: inputs. */
#include "descriptors.h"
#include "file_locks.h"
#include "input_descriptors.h"
#include "real.h"
#include "scheduler.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

enum { PROCESS, PARENT, THREAD };

static int64_t answer(uint64_t question, int64_t number)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        if (question == PROCESS) {
            mr_inputs_log_process();
        }
        number = mr_input_number(thread, MR_INPUT_NUMBER, question, number);
        mr_leave(thread);
    }
    return number;
}

MR_EXPORT pid_t getpid(void)
{
    return (pid_t)answer(PROCESS, MR_REAL(getpid)());
}

MR_EXPORT pid_t getppid(void)
{
    return (pid_t)answer(PARENT, MR_REAL(getppid)());
}

MR_EXPORT pid_t gettid(void)
{
    pid_t number = (pid_t)answer(THREAD, MR_REAL(gettid)());
    if (mr_self != NULL) {
        mr_self->told_id = number;
    }
    return number;
}

/* A file that is written has to be at that place when the program runs again, too. */
#define SEEKS(name, type)                                                                          \
    MR_EXPORT type name(int fd, type at, int from)                                                 \
    {                                                                                              \
        mr_thread *thread = mr_enter();                                                            \
        type result = MR_REAL(name)(fd, at, from);                                                 \
        if (thread != NULL) {                                                                      \
            mr_input input = mr_input_find(thread, MR_INPUT_SEEK, (uint64_t)fd);                   \
            mr_input_log(thread, MR_INPUT_SEEK, (uint64_t)fd, mr_descriptor_is_inside(fd), result, \
                         NULL, 0);                                                                 \
            result = input.head != NULL ? mr_input_result(&input) : result;                        \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }
SEEKS(lseek, off_t)
SEEKS(lseek64, off64_t)
#undef SEEKS

/* A standard stream of a replay is another file than the recorded one, with flags of its own. */
static int flags_of(mr_thread *thread, int fd, int flags)
{
    if (!mr_inputs_have_flags()) {
        return flags;
    }
    mr_input input = mr_input_find(thread, MR_INPUT_FLAGS, (uint64_t)fd);
    mr_input_log(thread, MR_INPUT_FLAGS, (uint64_t)fd, mr_descriptor_is_inside(fd), flags, NULL, 0);
    return input.head != NULL ? (int)mr_input_result(&input) : flags;
}

#define CONTROLS(name)                                                                             \
    MR_EXPORT int name(int fd, int command, ...)                                                   \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, command);                                                              \
        void *argument = va_arg(arguments, void *); /* or a number, or nothing */                  \
        va_end(arguments);                                                                         \
        if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {                                    \
            return mr_descriptor_duplicate(fd, command, (int)(intptr_t)argument, MR_CALLER);       \
        }                                                                                          \
        if (mr_file_locks_by(command) && !mr_descriptor_is_hidden(fd)) {                           \
            return mr_file_lock(fd, command, argument, MR_CALLER);                                 \
        }                                                                                          \
        int result = mr_descriptor_is_hidden(fd) ? mr_descriptor_refuse()                          \
                                                 : MR_REAL(name)(fd, command, argument);           \
        mr_thread *thread = command == F_GETFL ? mr_enter() : NULL;                                \
        if (thread != NULL) {                                                                      \
            result = flags_of(thread, fd, result);                                                 \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }
CONTROLS(fcntl)
CONTROLS(fcntl64)
#undef CONTROLS

/* Also by syscall(). */
MR_DIRECT(getpid)
MR_DIRECT(gettid)
