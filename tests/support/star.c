#include "star.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* cmocka.h must come after what it needs. */
#include <cmocka.h>

/* Bytes on their way. Not of base/memory.h, whose allocations tests make fail. */
typedef struct star_bytes {
    uint8_t *items;
    size_t count;
} star_bytes;

/* One end of a connection. */
typedef struct star_line {
    int socket; /* -1: none, or closed */
    bool lost, told;
    star_bytes out, in; /* not sent yet, not received as a whole yet */
    pid_t process;      /* at the other end, on rank 0 */
} star_line;

typedef struct star {
    unsigned rank, size;
    star_line lines[MR_STAR_RANKS]; /* rank 0: one a rank; others: to rank 0, the first */
    char name[64];
} star;

static const char *name_of(void *context, unsigned rank)
{
    star *self = context;
    snprintf(self->name, sizeof self->name, "rank %u on star", rank);
    return self->name;
}

static void add(star_bytes *bytes, const void *items, size_t count)
{
    bytes->items = realloc(bytes->items, bytes->count + count + 1);
    assert_non_null(bytes->items);
    memcpy(bytes->items + bytes->count, items, count);
    bytes->count += count;
}

static void drop_front(star_bytes *bytes, size_t count)
{
    bytes->count -= count;
    memmove(bytes->items, bytes->items + count, bytes->count);
}

/* Moves what can be moved without waiting. */
static void move(star_line *line)
{
    while (!line->lost && line->out.count) {
        ssize_t sent = send(line->socket, line->out.items, line->out.count, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            line->lost |= errno != EAGAIN;
            break;
        }
        drop_front(&line->out, sent > 0 ? (size_t)sent : 0);
    }
    for (;;) {
        uint8_t buffer[4096];
        ssize_t count = line->socket < 0 ? 0 : recv(line->socket, buffer, sizeof buffer, 0);
        if (count > 0)
            add(&line->in, buffer, (size_t)count);
        else if (count < 0 && errno == EINTR)
            continue;
        else if (count == 0 || errno != EAGAIN)
            line->lost = true;
        if (count <= 0)
            break;
    }
}

static bool send_to(void *context, unsigned to, const uint8_t *bytes, size_t count)
{
    star *self = context;
    star_line *line = &self->lines[self->rank ? 0 : to];
    uint64_t length = count;
    add(&line->out, &length, sizeof length);
    add(&line->out, bytes, count);
    move(line);
    /* Who has got the last word may close at once. */
    return !line->lost || !line->out.count;
}

/* A whole message of a line. */
static bool take(star_line *line, uint8_t **bytes, size_t *count)
{
    uint64_t length = 0;
    if (line->in.count < sizeof length)
        return false;
    memcpy(&length, line->in.items, sizeof length);
    if (line->in.count < sizeof length + length)
        return false;
    *bytes = malloc(length + 1);
    assert_non_null(*bytes);
    memcpy(*bytes, line->in.items + sizeof length, length);
    *count = length;
    drop_front(&line->in, sizeof length + length);
    return true;
}

static mr_arrival receive(void *context, unsigned *from, uint8_t **bytes, size_t *count)
{
    star *self = context;
    for (unsigned rank = 0; rank < MR_STAR_RANKS; rank++) {
        star_line *line = &self->lines[rank];
        if (line->socket < 0)
            continue;
        move(line);
        *from = rank;
        if (take(line, bytes, count))
            return MR_ARRIVAL_MESSAGE;
        if (line->lost && !line->told) {
            line->told = true;
            return MR_ARRIVAL_LOST;
        }
    }
    return MR_ARRIVAL_NONE;
}

static bool is_dead(void *context, unsigned rank)
{
    (void)context;
    (void)rank;
    return false;
}

static void end(void *context, bool clean)
{
    star *self = context;
    for (unsigned rank = 0; rank < MR_STAR_RANKS; rank++) {
        star_line *line = &self->lines[rank];
        while (clean && line->out.count && !line->lost)
            move(line);
        if (line->socket >= 0)
            close(line->socket);
        line->socket = -1;
        free(line->in.items);
        free(line->out.items);
        line->in = line->out = (star_bytes){0};
    }
}

static void fill(mr_cluster *cluster, star *self)
{
    *cluster = (mr_cluster){.context = self,
                            .rank = self->rank,
                            .size = self->size,
                            .cores = 1,
                            .name = name_of,
                            .send = send_to,
                            .receive = receive,
                            .is_dead = is_dead,
                            .end = end};
}

static star *star_new(unsigned rank, unsigned size)
{
    star *self = calloc(1, sizeof *self);
    assert_non_null(self);
    self->rank = rank;
    self->size = size;
    for (unsigned i = 0; i < MR_STAR_RANKS; i++)
        self->lines[i].socket = -1;
    return self;
}

/* The child does not see the other children's lines, so that a dead rank closes its own. */
static _Noreturn void be_rank(star *lead, unsigned rank, int socket, mr_star_rank *run,
                              void *context)
{
    mr_cluster cluster;
    star *self = star_new(rank, lead->size);
    for (unsigned i = 1; i < rank; i++)
        close(lead->lines[i].socket);
    self->lines[0].socket = socket;
    fill(&cluster, self);
    run(&cluster, context);
    end(self, true);
    free(self);
    _exit(0);
}

void mr_star_start(mr_cluster *cluster, unsigned size, mr_star_rank *run, void *context)
{
    star *self = star_new(0, size);
    assert_true(size >= 1 && size <= MR_STAR_RANKS);
    for (unsigned rank = 1; rank < size; rank++) {
        int sockets[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets), 0);
        fflush(NULL);
        pid_t process = fork();
        assert_true(process >= 0);
        if (process == 0) {
            close(sockets[0]);
            be_rank(self, rank, sockets[1], run, context);
        }
        close(sockets[1]);
        self->lines[rank].socket = sockets[0];
        self->lines[rank].process = process;
    }
    fill(cluster, self);
}

void mr_star_kill(const mr_cluster *cluster, unsigned rank)
{
    const star *self = cluster->context;
    kill(self->lines[rank].process, SIGKILL);
}

unsigned mr_star_end(mr_cluster *cluster)
{
    star *self = cluster->context;
    unsigned bad = 0;
    end(self, true);
    for (unsigned rank = 1; rank < self->size; rank++) {
        int status = 0;
        assert_int_equal(waitpid(self->lines[rank].process, &status, 0), self->lines[rank].process);
        bad += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    free(self);
    return bad;
}
