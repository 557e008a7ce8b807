#include "big_run.h"

#include <string.h>

/* Of the longest line, with what the copies of pieces write beyond it. */
enum { LINE_BYTES = 128 };

void mr_big_flush(mr_big_run *self)
{
    if (!self->failed && self->used > 0)
        self->failed = !self->sink(self->context, self->buffer, self->used);
    self->used = 0;
}

/* All bytes of a piece are copied, since a copy of fixed size is one instruction. */
static char *put(char *at, const mr_big_piece *piece)
{
    memcpy(at, piece->bytes, MR_BIG_PIECE_BYTES);
    return at + piece->length;
}

static char *open_line(mr_big_run *self)
{
    if (self->used > MR_BIG_BUFFER_BYTES - LINE_BYTES)
        mr_big_flush(self);
    return self->buffer + self->used;
}

static void close_line(mr_big_run *self, const char *at)
{
    self->used = (size_t)(at - self->buffer);
    self->left--;
}

static void write_sync(mr_big_run *self, const mr_big_worker *thread, const mr_big_piece *op,
                       const mr_big_piece *tail)
{
    char *at = put(open_line(self), &thread->prefix);
    close_line(self, put(put(at, op), tail));
}

void mr_big_plain(mr_big_run *self, const mr_big_worker *thread, const char *op)
{
    mr_big_piece piece = {.length = (uint32_t)strlen(op)};
    memcpy(piece.bytes, op, piece.length);
    write_sync(self, thread, &piece, &self->program.plain_tail);
}

void mr_big_thread_op(mr_big_run *self, const mr_big_worker *thread, const char *op,
                      uint32_t operand)
{
    mr_big_piece piece = mr_big_piece_make(op, operand, "");
    write_sync(self, thread, &piece, &self->program.plain_tail);
}

static void write_access(mr_big_run *self, mr_big_worker *thread, const mr_big_access *access)
{
    const mr_big_target *on = &thread->targets[access->slot];
    uint32_t cell = access->cell + thread->index;
    if (access->write)
        on->cells[cell] = (uint16_t)((on->cells[cell] + access->step) % MR_BIG_VALUES);
    char *at = put(open_line(self), &thread->prefix);
    at = put(put(at, &access->head), on->name);
    if (thread->indexed)
        at = put(at, &self->program.indexes[cell]);
    at = put(at, &self->program.values[on->cells[cell]]);
    close_line(self, put(at, &access->tail));
}

void mr_big_enter(mr_big_run *self, mr_big_worker *thread, uint32_t lock, const mr_big_piece *tail)
{
    thread->sections[thread->depth++] = (mr_big_section){lock, tail};
    self->held[lock] = true;
    mr_big_piece op = mr_big_piece_make("acq(L", lock + 1, "");
    write_sync(self, thread, &op, tail);
}

void mr_big_leave(mr_big_run *self, mr_big_worker *thread)
{
    const mr_big_section *innermost = &thread->sections[--thread->depth];
    self->held[innermost->lock] = false;
    mr_big_piece op = mr_big_piece_make("rel(L", innermost->lock + 1, "");
    write_sync(self, thread, &op, innermost->tail);
}

void mr_big_work(mr_big_run *self, mr_big_worker *thread, uint64_t most)
{
    for (; most > 0 && thread->times > 0; most--) {
        write_access(self, thread, &thread->method->accesses[thread->next]);
        if (++thread->next < thread->method->count)
            continue;
        thread->next = 0;
        thread->times--;
        thread->index += thread->indexed;
    }
}
