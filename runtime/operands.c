#include "operands.h"

#include "modules.h"
#include "operands_format.h"
#include "state.h"
#include "sys.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PLACES = 1 << 14, CASES_MAX = 64 };

bool mr_operands_are_kept;

static struct {
    mr_operands_header *header; /* mapped, the records behind it */
    uint16_t counts[PLACES];    /* records of the places with this hash */
} operands;

void mr_operands_start(void)
{
    const char *path = secure_getenv(MR_OPERANDS_ENV);
    if (path == NULL || path[0] == '\0') {
        return;
    }
    long fd = mr_sys(SYS_openat, AT_FDCWD, (long)path,
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0);
    long address = -1;
    if (!mr_sys_failed(fd)) {
        if (mr_sys(SYS_ftruncate, fd, MR_OPERANDS_FILE_BYTES, 0, 0, 0, 0) == 0) {
            address = mr_sys(SYS_mmap, 0, MR_OPERANDS_FILE_BYTES, PROT_READ | PROT_WRITE,
                             MAP_SHARED, fd, 0);
        }
        mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    }
    if (mr_sys_failed(address)) {
        mr_complain("cannot write what the program compares: ", path);
        return;
    }
    operands.header = (mr_operands_header *)address;
    *operands.header =
        (mr_operands_header){.magic = MR_OPERANDS_MAGIC, .version = MR_OPERANDS_VERSION};
    mr_operands_are_kept = true;
}

void mr_operands_forget(void)
{
    mr_operands_are_kept = false;
}

/* Room for `rooms` records in a row; NULL: there is none. The watchdog may have taken the baton from
 * a thread that goes on until its next event, so two may come at once. */
static mr_operand *take(uint64_t place, uint32_t rooms)
{
    uint16_t *count = &operands.counts[(place * UINT64_C(0x9e3779b97f4a7c15)) >> 50];
    if (__atomic_load_n(count, __ATOMIC_RELAXED) >= MR_OPERANDS_PER_PLACE) {
        __atomic_add_fetch(&operands.header->dropped, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    uint32_t used = __atomic_load_n(&operands.header->count, __ATOMIC_RELAXED);
    do {
        if (used + rooms > MR_OPERANDS_MAX) {
            __atomic_add_fetch(&operands.header->dropped, 1, __ATOMIC_RELAXED);
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&operands.header->count, &used, used + rooms, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
    return (mr_operand *)(void *)(operands.header + 1) + used;
}

static void note(mr_operand_kind_of kind, unsigned bytes, uint64_t a, uint64_t b, uintptr_t code)
{
    const mr_thread *thread = mr_self;
    uint64_t place = mr_code_place(code);
    if (thread == NULL || thread->busy != 0) {
        return;
    }
    mr_operand *record = take(place, 1);
    if (record != NULL) {
        *record = (mr_operand){.place = place,
                               .thread = thread->id,
                               .kind = (uint8_t)kind,
                               .bytes = (uint8_t)bytes,
                               .other = (uint8_t)bytes,
                               .a = a,
                               .b = b};
    }
}

static uint8_t kept(size_t bytes)
{
    return (uint8_t)(bytes < MR_OPERANDS_TEXT_BYTES ? bytes : MR_OPERANDS_TEXT_BYTES);
}

static void copy(mr_operand *to, const void *from, unsigned bytes)
{
    uint8_t *target = (uint8_t *)to;
    const uint8_t *source = from;
    for (unsigned i = 0; i < bytes; i++) {
        target[i] = source[i];
    }
}

void mr_operands_text(const void *a, size_t bytes, const void *b, size_t other, uintptr_t code)
{
    uint64_t place = mr_code_place(code);
    mr_operand *record = mr_self != NULL ? take(place, 3) : NULL;
    if (record != NULL) {
        *record = (mr_operand){.place = place,
                               .thread = mr_self->id,
                               .kind = MR_OPERAND_TEXT,
                               .bytes = kept(bytes),
                               .other = kept(other),
                               .a = bytes,
                               .b = other};
        copy(record + 1, a, record->bytes);
        copy(record + 2, b, record->other);
    }
}

/* ---- what compilers call (coverage_interface.h does not declare these) ---- */

#define COMPARED(name, kind, type, value, with)                                                    \
    MR_EXPORT void name(type a, type b);                                                           \
    void name(type a, type b)                                                                      \
    {                                                                                              \
        if (mr_operands_are_kept) {                                                                \
            note((kind), sizeof(type), (value), (with), MR_CALLER);                                \
        }                                                                                          \
    }

COMPARED(__sanitizer_cov_trace_cmp1, MR_OPERAND_COMPARED, uint8_t, a, b)
COMPARED(__sanitizer_cov_trace_cmp2, MR_OPERAND_COMPARED, uint16_t, a, b)
COMPARED(__sanitizer_cov_trace_cmp4, MR_OPERAND_COMPARED, uint32_t, a, b)
COMPARED(__sanitizer_cov_trace_cmp8, MR_OPERAND_COMPARED, uint64_t, a, b)
/* The constant is the first one. */
COMPARED(__sanitizer_cov_trace_const_cmp1, MR_OPERAND_CONSTANT, uint8_t, b, a)
COMPARED(__sanitizer_cov_trace_const_cmp2, MR_OPERAND_CONSTANT, uint16_t, b, a)
COMPARED(__sanitizer_cov_trace_const_cmp4, MR_OPERAND_CONSTANT, uint32_t, b, a)
COMPARED(__sanitizer_cov_trace_const_cmp8, MR_OPERAND_CONSTANT, uint64_t, b, a)

/* Of floating point numbers nothing is kept. */
MR_EXPORT void __sanitizer_cov_trace_cmpf(float a, float b);
void __sanitizer_cov_trace_cmpf(float a, float b)
{
    (void)a;
    (void)b;
}

MR_EXPORT void __sanitizer_cov_trace_cmpd(double a, double b);
void __sanitizer_cov_trace_cmpd(double a, double b)
{
    (void)a;
    (void)b;
}

/* `cases`: how many, the bits of the value, and the cases. */
MR_EXPORT void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases);
void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases)
{
    if (!mr_operands_are_kept) {
        return;
    }
    for (uint64_t i = 0; i < cases[0] && i < CASES_MAX; i++) {
        note(MR_OPERAND_CASE, (unsigned)(cases[1] / 8), value, cases[2 + i], MR_CALLER);
    }
}
