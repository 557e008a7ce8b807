/* What the program asks the system about itself and its descriptors: inputs. */
#include "input_descriptors.h"
#include "real.h"
#include "scheduler.h"
#include "sys.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

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
    return (pid_t)answer(THREAD, MR_REAL(gettid)());
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

/* The bytes that a request gives; 0: they are not known. */
static size_t given_by(unsigned long request)
{
    return request == FIONREAD ? sizeof(int) : request == TIOCGWINSZ ? sizeof(struct winsize) : 0;
}

/* These set what the descriptor does, and give nothing. */
static bool gives_nothing(unsigned long request)
{
    return request == FIONBIO || request == FIOCLEX || request == FIONCLEX || request == FIOASYNC;
}

MR_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *to = va_arg(arguments, void *);
    va_end(arguments);
    mr_thread *thread = mr_enter();
    size_t bytes = given_by(request);
    if (thread == NULL || bytes == 0) {
        if (thread != NULL) {
            if (!gives_nothing(request)) {
                mr_inputs_unfed(MR_INPUTS_UNFED_IOCTL);
            }
            mr_leave(thread);
        }
        return MR_REAL(ioctl)(fd, request, to);
    }
    mr_input input = mr_input_find(thread, MR_INPUT_CALL, (uint64_t)fd);
    int result;
    if (input.head != NULL) {
        result = (int)mr_input_result(&input);
        mr_input_take(&input, to, bytes);
    } else {
        result = MR_REAL(ioctl)(fd, request, to);
        mr_input_log(thread, MR_INPUT_CALL, (uint64_t)fd, mr_descriptor_is_inside(fd), result,
                     &(mr_input_part){to, result == 0 ? bytes : 0}, 1);
    }
    mr_leave(thread);
    return result;
}
