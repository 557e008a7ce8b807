/*
 * aio: input and output that was asked for ahead. A thread of glibc does it, unseen. What is to be written counts as written when it is asked
 * for. Who is told that a read has ended comes after those who wrote what it got.
 */
#include "channels.h"
#include "notices.h"
#include "real.h"
#include "scheduler.h"

#include <aio.h>
#include <errno.h>

static int read_at(const struct aiocb *block)
{
    return block->aio_lio_opcode == LIO_READ ? block->aio_fildes : -1;
}

static void begin(struct aiocb *block, uintptr_t code)
{
    mr_thread *thread = block->aio_lio_opcode == LIO_WRITE ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_channel_log_written(block->aio_fildes, (const void *)block->aio_buf, block->aio_nbytes,
                               code);
        mr_leave(thread);
    }
    mr_notice_lead(&block->aio_sigevent, read_at(block), code);
}

static void end_refused(struct aiocb *block, uintptr_t code)
{
    int saved_errno = errno;
    mr_thread *thread = block->aio_lio_opcode == LIO_WRITE ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_channel_log_refused(block->aio_fildes, code);
        mr_leave(thread);
    }
    mr_notice_refused(&block->aio_sigevent);
    errno = saved_errno;
}

/* It is known that the block has ended. A program may ask when the descriptor is closed, and then there is no order. */
static void end(const struct aiocb *block, uintptr_t code)
{
    int saved_errno = errno;
    mr_thread *thread = read_at(block) >= 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_channel_log(MR_LOG_AFTER, block->aio_fildes, code);
        if (block->__return_value == 0) {
            mr_channel_log_end(block->aio_fildes, code);
        }
        mr_leave(thread);
    }
    errno = saved_errno;
}

/* The blocks of 64 bits are the same. glibc writes `operation`, too. */
_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64), "one layout");

static void begin_as(struct aiocb *block, int operation, uintptr_t code)
{
    block->aio_lio_opcode = operation;
    begin(block, code);
}

#define ASKS(name, block_type, operation, parameters, arguments)                                   \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        begin_as((struct aiocb *)block, operation, MR_CALLER);                                     \
        int status = MR_REAL(name) arguments;                                                      \
        if (status != 0) {                                                                         \
            end_refused((struct aiocb *)block, MR_CALLER);                                         \
        }                                                                                          \
        return status;                                                                             \
    }
ASKS(aio_read, struct aiocb, LIO_READ, (struct aiocb * block), (block))
ASKS(aio_read64, struct aiocb64, LIO_READ, (struct aiocb64 * block), (block))
ASKS(aio_write, struct aiocb, LIO_WRITE, (struct aiocb * block), (block))
ASKS(aio_write64, struct aiocb64, LIO_WRITE, (struct aiocb64 * block), (block))
ASKS(aio_fsync, struct aiocb, LIO_NOP, (int how, struct aiocb *block), (how, block))
ASKS(aio_fsync64, struct aiocb64, LIO_NOP, (int how, struct aiocb64 *block), (how, block))
#undef ASKS

static bool asks(const struct aiocb *block)
{
    return block != NULL && block->aio_lio_opcode != LIO_NOP;
}

/* An error concerns some of the blocks. Functions may still be called, so the threads that wait for that go on waiting. */
static int ask_list(int mode, struct aiocb *const blocks[], int count, struct sigevent *event,
                    uintptr_t code)
{
    if (mode != LIO_WAIT && mode != LIO_NOWAIT) {
        return MR_REAL(lio_listio)(mode, blocks, count, event); /* refuses it */
    }
    struct sigevent own = {.sigev_notify = SIGEV_NONE};
    if (mode == LIO_NOWAIT && event != NULL) {
        own = *event;
        mr_notice_lead(&own, -1, code);
    }
    for (int i = 0; i < count; i++) {
        if (asks(blocks[i])) {
            mr_notice_also(&own, read_at(blocks[i]));
            begin(blocks[i], code);
        }
    }
    int status;
    mr_thread *thread = mode == LIO_WAIT ? mr_enter() : NULL;
    if (thread != NULL) {
        MR_CALL(thread, false, status = MR_REAL(lio_listio)(mode, blocks, count, NULL));
    } else {
        status = MR_REAL(lio_listio)(mode, blocks, count, event != NULL ? &own : NULL);
    }
    for (int i = 0; mode == LIO_WAIT && i < count; i++) {
        if (asks(blocks[i]) && MR_REAL(aio_error)(blocks[i]) == 0) {
            end(blocks[i], code);
        }
    }
    return status;
}

MR_EXPORT int lio_listio(int mode, struct aiocb *const blocks[], int count, struct sigevent *event)
{
    return ask_list(mode, blocks, count, event, MR_CALLER);
}

MR_EXPORT int lio_listio64(int mode, struct aiocb64 *const blocks[], int count,
                           struct sigevent *event)
{
    return ask_list(mode, (struct aiocb *const *)blocks, count, event, MR_CALLER);
}

static int end_error(const struct aiocb *block, int error, uintptr_t code)
{
    if (error == 0) {
        end(block, code);
    }
    return error;
}

MR_EXPORT int aio_error(const struct aiocb *block)
{
    return end_error(block, MR_REAL(aio_error)(block), MR_CALLER);
}

MR_EXPORT int aio_error64(const struct aiocb64 *block)
{
    return end_error((const struct aiocb *)block, MR_REAL(aio_error64)(block), MR_CALLER);
}

static ssize_t end_return(const struct aiocb *block, ssize_t result, uintptr_t code)
{
    if (result >= 0) {
        end(block, code);
    }
    return result;
}

MR_EXPORT ssize_t aio_return(struct aiocb *block)
{
    return end_return(block, MR_REAL(aio_return)(block), MR_CALLER);
}

MR_EXPORT ssize_t aio_return64(struct aiocb64 *block)
{
    return end_return((const struct aiocb *)block, MR_REAL(aio_return64)(block), MR_CALLER);
}

static int suspend(const struct aiocb *const blocks[], int count, const struct timespec *limit,
                   uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(aio_suspend)(blocks, count, limit);
    }
    int status;
    MR_CALL(thread, false, status = MR_REAL(aio_suspend)(blocks, count, limit));
    for (int i = 0; status == 0 && i < count; i++) {
        if (blocks[i] != NULL && MR_REAL(aio_error)(blocks[i]) == 0) {
            end(blocks[i], code);
        }
    }
    return status;
}

MR_EXPORT int aio_suspend(const struct aiocb *const blocks[], int count,
                          const struct timespec *limit)
{
    return suspend(blocks, count, limit, MR_CALLER);
}

MR_EXPORT int aio_suspend64(const struct aiocb64 *const blocks[], int count,
                            const struct timespec *limit)
{
    return suspend((const struct aiocb *const *)blocks, count, limit, MR_CALLER);
}
