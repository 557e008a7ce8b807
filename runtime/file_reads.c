#include "file_reads.h"

#include "input_descriptors.h"
#include "real.h"
#include "scheduler.h"
#include "sys.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

typedef ssize_t reads(FILE *file, void *to, ssize_t bytes);
typedef off64_t seeks(FILE *file, off64_t at, int from);
typedef int stats(FILE *file, void *to);

static struct {
    reads *read;
    seeks *seek;
    stats *stat;
} real;

/* Is it an input of the thread? `fed`: it is there already. */
static mr_thread *begin(FILE *file, mr_input_kind kind, mr_input *input)
{
    const bool is_wanted = mr_inputs_are_fed() || mr_inputs_are_logged();
    /* To append, fopen goes to the end: it would be asked for before the descriptor is there, and found after it. */
    const bool opens = mr_self != NULL && mr_self->opens_stream;
    mr_thread *thread = is_wanted && !opens ? mr_enter() : NULL;
    *input = (mr_input){NULL, NULL, 0};
    if (thread != NULL) {
        *input = mr_input_find(thread, kind, (uint64_t)file->_fileno);
    }
    return thread;
}

static void log_part(FILE *file, mr_input_kind kind, int64_t result, const void *from, size_t bytes)
{
    int saved_errno = errno;
    mr_thread *thread = mr_inputs_are_logged() ? mr_enter() : NULL;
    if (thread != NULL) {
        errno = saved_errno;
        mr_input_log(thread, kind, (uint64_t)file->_fileno, mr_descriptor_is_inside(file->_fileno),
                     result, &(mr_input_part){from, bytes}, 1);
        mr_leave(thread);
    }
    errno = saved_errno;
}

static ssize_t file_read(FILE *file, void *to, ssize_t bytes)
{
    mr_input input;
    mr_thread *thread = begin(file, MR_INPUT_READ, &input);
    if (thread == NULL) {
        return real.read(file, to, bytes);
    }
    if (input.head != NULL) {
        ssize_t result = mr_input_result(&input);
        mr_input_take(&input, to, (size_t)bytes);
        mr_leave(thread);
        return result;
    }
    mr_leave(thread);
    ssize_t result = real.read(file, to, bytes);
    log_part(file, MR_INPUT_READ, result, to, result > 0 ? (size_t)result : 0);
    return result;
}

/* A file that is written must be at that place, too. */
static off64_t file_seek(FILE *file, off64_t at, int from)
{
    mr_input input;
    mr_thread *thread = begin(file, MR_INPUT_SEEK, &input);
    if (thread != NULL) {
        mr_leave(thread);
    }
    off64_t result = real.seek(file, at, from);
    if (input.head != NULL) {
        return mr_input_result(&input);
    }
    if (thread != NULL) {
        log_part(file, MR_INPUT_SEEK, result, NULL, 0);
    }
    return result;
}

/* What libc looks at. Times and the like would make the inputs of each run others. */
typedef struct stream_stat {
    uint64_t size_bytes;
    uint32_t mode, block_bytes;
} stream_stat;

static int feed_stat(mr_input *input, struct stat *to)
{
    stream_stat was = {0, 0, 0};
    mr_input_take(input, &was, sizeof was);
    *to = (struct stat){.st_size = (off_t)was.size_bytes,
                        .st_mode = was.mode,
                        .st_blksize = (blksize_t)was.block_bytes};
    return (int)mr_input_result(input);
}

static int file_stat(FILE *file, void *to)
{
    mr_input input;
    mr_thread *thread = begin(file, MR_INPUT_CALL, &input);
    if (thread != NULL) {
        mr_leave(thread);
    }
    if (input.head != NULL) {
        return feed_stat(&input, to);
    }
    int result = real.stat(file, to);
    if (thread != NULL) {
        const struct stat *is = to;
        stream_stat seen = {0, 0, 0};
        if (result == 0) {
            seen = (stream_stat){(uint64_t)is->st_size, is->st_mode, (uint32_t)is->st_blksize};
        }
        log_part(file, MR_INPUT_CALL, result, &seen, sizeof seen);
    }
    return result;
}

static void replace(uintptr_t *entry, const uintptr_t (*functions)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (*entry == functions[i][0]) {
            *entry = functions[i][1];
            return;
        }
    }
}

/* The tables are in a part of libc that is read-only once it is loaded. */
static int visit(struct dl_phdr_info *module, size_t bytes, void *wanted)
{
    const uintptr_t functions[][2] = {{(uintptr_t)real.read, (uintptr_t)file_read},
                                      {(uintptr_t)real.seek, (uintptr_t)file_seek},
                                      {(uintptr_t)real.stat, (uintptr_t)file_stat}};
    enum { FUNCTIONS = sizeof functions / sizeof *functions, PAGE = 4096 };
    const uintptr_t table = *(const uintptr_t *)wanted;
    (void)bytes;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        uintptr_t start = module->dlpi_addr + module->dlpi_phdr[i].p_vaddr;
        uintptr_t end = start + module->dlpi_phdr[i].p_memsz;
        if (module->dlpi_phdr[i].p_type != PT_GNU_RELRO || table < start || table >= end) {
            continue;
        }
        uintptr_t first = start / PAGE * PAGE, last = end / PAGE * PAGE; /* as the loader rounds */
        if (mr_sys(SYS_mprotect, (long)first, (long)(last - first), PROT_READ | PROT_WRITE, 0, 0,
                   0) != 0) {
            return 1;
        }
        for (uintptr_t at = (start + 7) / 8 * 8; at + 8 <= last; at += 8) {
            replace((uintptr_t *)at, functions, FUNCTIONS);
        }
        mr_sys(SYS_mprotect, (long)first, (long)(last - first), PROT_READ, 0, 0, 0);
        return 1;
    }
    return 0;
}

void mr_file_reads_start(void)
{
    if (real.read != NULL || (!mr_inputs_are_logged() && !mr_inputs_are_fed())) {
        return;
    }
    uintptr_t table = (uintptr_t)dlsym(RTLD_DEFAULT, "_IO_file_jumps");
    real.read = (reads *)dlsym(RTLD_DEFAULT, "_IO_file_read");
    real.seek = (seeks *)dlsym(RTLD_DEFAULT, "_IO_file_seek");
    real.stat = (stats *)dlsym(RTLD_DEFAULT, "_IO_file_stat");
    if (table == 0 || real.read == NULL || real.seek == NULL || real.stat == NULL) {
        mr_complain("what streams read is no input: libc has no table of their functions", NULL);
        return;
    }
    dl_iterate_phdr(visit, &table);
}
