#include "input.h"

#include "base/assert.h"
#include "base/halt.h"
#include "base/memory.h"
#include "unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MR_INPUT_RAW_BYTES = 1 << 17 };

struct mr_input {
    int file;           /* -1: memory */
    bool owned;         /* close `file` at the end */
    bool raw_at_end;    /* the file has no more bytes */
    unsigned char *raw; /* owned buffer; unused for memory */
    const unsigned char *next;
    size_t count; /* bytes at `next` not used so far */
    mr_unpacker *unpacker;
    const char *packing_name;
    mr_error failure; /* status MR_OK: none so far */
    uint64_t done_bytes, total_bytes;
    bool may_wait;       /* not a regular file */
    int wake[2];         /* a pipe whose first end is readable once interrupted; -1: none */
    const mr_halt *halt; /* borrowed; NULL: none */
};

/* Waits until there is something to read, or the reader is interrupted. */
static mr_status wait_for_file(mr_input *input, mr_error *error)
{
    struct pollfd ends[2] = {{.fd = input->file, .events = POLLIN},
                             {.fd = input->wake[0], .events = POLLIN}};
    enum { LOOK_MS = 100 };
    int ready;
    do
        ready = poll(ends, 2, input->halt ? LOOK_MS : -1);
    while (((ready < 0 && errno == EINTR) || !ready) && !mr_halt_asked(input->halt));
    if (ready <= 0 && mr_halt_asked(input->halt))
        return mr_halt_fail(input->halt, NULL, "waiting for the trace", error);
    if (ready > 0 && ends[1].revents)
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot read: interrupted");
    return MR_OK; /* also when poll fails: read says why, or waits */
}

/* Reads into `buffer` what one system call gives; 0 at the end. */
static mr_status read_file(mr_input *input, void *buffer, size_t size_bytes, size_t *got,
                           mr_error *error)
{
    ssize_t count;
    mr_status status = MR_OK;
    if (input->may_wait && (input->wake[0] >= 0 || input->halt))
        status = wait_for_file(input, error);
    if (status)
        return status;
    do
        count = read(input->file, buffer, size_bytes);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot read: %s", strerror(errno));
    input->raw_at_end = count == 0;
    input->done_bytes += (uint64_t)count;
    *got = (size_t)count;
    return MR_OK;
}

/* Fills the raw buffer until it has `wanted` bytes or the file ends. */
static mr_status fill_raw(mr_input *input, size_t wanted, mr_error *error)
{
    if (input->count)
        memmove(input->raw, input->next, input->count);
    input->next = input->raw;
    while (input->count < wanted && !input->raw_at_end) {
        size_t got = 0;
        mr_status status = read_file(input, input->raw + input->count,
                                     MR_INPUT_RAW_BYTES - input->count, &got, error);
        if (status)
            return status;
        input->count += got;
    }
    return MR_OK;
}

static mr_status choose_packing(mr_input *input, mr_error *error)
{
    mr_status status = fill_raw(input, MR_INPUT_FIRST_BYTES, error);
    if (status)
        return status;
    mr_packing packing = mr_packing_detect(input->next, input->count, &input->packing_name);
    if (packing == MR_PACKING_UNKNOWN)
        return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                            "the file is packed with %s; unpack it, or pack it with gzip or zstd",
                            input->packing_name);
    if (packing != MR_PACKING_NONE && !(input->unpacker = mr_unpacker_new(packing)))
        return mr_error_memory(error, "opening the trace");
    return MR_OK;
}

static mr_input *new_input(void)
{
    mr_input *input = mr_calloc(1, sizeof *input);
    if (input)
        input->file = input->wake[0] = input->wake[1] = -1;
    return input;
}

mr_status mr_input_open(const char *path, mr_input **result, mr_error *error)
{
    *result = NULL;
    mr_input *input = new_input();
    if (input)
        input->raw = mr_malloc(MR_INPUT_RAW_BYTES, 0);
    if (!input || !input->raw) {
        mr_input_close(input);
        return mr_error_memory(error, "opening the trace");
    }
    input->owned = strcmp(path, "-") != 0;
    input->file = input->owned ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    mr_status status = MR_OK;
    if (input->file < 0) {
        status = mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot open: %s", strerror(errno));
    } else {
        struct stat about;
        input->may_wait = fstat(input->file, &about) || !S_ISREG(about.st_mode);
        if (!input->may_wait && about.st_size > 0)
            input->total_bytes = (uint64_t)about.st_size;
        status = choose_packing(input, error);
    }
    if (status) {
        mr_input_close(input);
        return status;
    }
    *result = input;
    return MR_OK;
}

mr_status mr_input_open_memory(const char *text, size_t length_bytes, mr_input **result,
                               mr_error *error)
{
    mr_input *input = *result = new_input();
    if (!input)
        return mr_error_memory(error, "opening the trace");
    input->next = (const unsigned char *)text;
    input->count = length_bytes;
    input->done_bytes = input->total_bytes = length_bytes;
    input->raw_at_end = true;
    return MR_OK;
}

void mr_input_close(mr_input *input)
{
    if (!input)
        return;
    if (input->owned && input->file >= 0)
        close(input->file);
    for (int end = 0; end < 2; end++) {
        if (input->wake[end] >= 0)
            close(input->wake[end]);
    }
    mr_unpacker_free(input->unpacker);
    free(input->raw);
    free(input);
}

const unsigned char *mr_input_first(const mr_input *input, size_t *count)
{
    *count = input->count < MR_INPUT_FIRST_BYTES ? input->count : MR_INPUT_FIRST_BYTES;
    return input->next;
}

uint64_t mr_input_done_bytes(const mr_input *input)
{
    return input->done_bytes - input->count;
}

uint64_t mr_input_total_bytes(const mr_input *input)
{
    return input->total_bytes;
}

bool mr_input_allow_interrupt(mr_input *input)
{
    if (!input->may_wait || input->wake[0] >= 0)
        return true;
    if (pipe(input->wake)) {
        input->wake[0] = input->wake[1] = -1;
        return false;
    }
    for (int end = 0; end < 2; end++)
        fcntl(input->wake[end], F_SETFD, FD_CLOEXEC);
    return true;
}

void mr_input_interrupt(mr_input *input)
{
    ssize_t written = 0;
    if (input->wake[1] >= 0)
        written = write(input->wake[1], "", 1);
    (void)written; /* the pipe is empty: one byte fits */
}

void mr_input_obey(mr_input *input, const mr_halt *halt)
{
    input->halt = halt;
}

static mr_status read_plain(mr_input *input, char *buffer, size_t size_bytes, size_t *got,
                            mr_error *error)
{
    if (!input->count)
        return input->raw_at_end ? MR_OK : read_file(input, buffer, size_bytes, got, error);
    *got = size_bytes < input->count ? size_bytes : input->count;
    memcpy(buffer, input->next, *got);
    input->next += *got;
    input->count -= *got;
    return MR_OK;
}

static mr_status check_complete(const mr_input *input, mr_error *error)
{
    if (mr_unpacker_complete(input->unpacker))
        return MR_OK;
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the %s data ends too early (truncated file)",
                        input->packing_name);
}

static mr_status read_packed(mr_input *input, char *buffer, size_t size_bytes, size_t *got,
                             mr_error *error)
{
    for (;;) {
        mr_unpack_buffers buffers = {input->next, input->count, (unsigned char *)buffer,
                                     size_bytes};
        mr_status status = mr_unpacker_run(input->unpacker, &buffers, error);
        input->next = buffers.in;
        input->count = buffers.in_count;
        *got = size_bytes - buffers.out_count;
        if (status || *got)
            return status;
        if (input->raw_at_end)
            return check_complete(input, error);
        if ((status = fill_raw(input, 1, error)))
            return status;
    }
}

mr_status mr_input_read(mr_input *input, char *buffer, size_t size_bytes, size_t *got,
                        mr_error *error)
{
    MR_REQUIRE(size_bytes > 0);
    *got = 0;
    if (!input->failure.status) {
        mr_error failure = {0};
        if (input->unpacker)
            read_packed(input, buffer, size_bytes, got, &failure);
        else
            read_plain(input, buffer, size_bytes, got, &failure);
        input->failure = failure;
        MR_ASSERT(*got <= size_bytes);
    }
    if (!input->failure.status || *got)
        return MR_OK; /* what came before the damage goes first */
    if (error)
        *error = input->failure;
    return input->failure.status;
}
