#include "openmp.h"

#include "memory.h"
#include "sys.h"
#include "thread.h"
#include "writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* ---- memory ---- */

enum { CLASS_LEAST = 5, CLASSES = 48, CHUNK = 1 << 16 };

typedef struct spare {
    struct spare *next;
} spare;

static spare *spares[CLASSES]; /* by the binary logarithm of their bytes */

static unsigned class_of(size_t bytes)
{
    unsigned log2 = CLASS_LEAST;
    while ((size_t)1 << log2 < bytes) {
        log2++;
    }
    return log2;
}

static char *pages(size_t bytes)
{
    char *found = mr_pages(bytes);
    if (found == NULL) {
        mr_complain("there is no memory for OpenMP", NULL);
        for (;;) {
            mr_sys(SYS_exit_group, 1, 0, 0, 0, 0, 0);
        }
    }
    return found;
}

void *mr_openmp_take(size_t bytes)
{
    unsigned log2 = class_of(bytes);
    size_t whole = (size_t)1 << log2;
    if (spares[log2] == NULL) {
        size_t all = whole < CHUNK ? CHUNK : whole;
        char *chunk = pages(all);
        for (size_t at = all; at > 0; at -= whole) {
            mr_openmp_give(chunk + at - whole, whole);
        }
    }
    spare *taken = spares[log2];
    spares[log2] = taken->next;
    return MR_REAL(memset)(taken, 0, bytes);
}

void mr_openmp_give(void *block, size_t bytes)
{
    spare *given = block, **at = &spares[class_of(bytes)];
    given->next = *at;
    *at = given;
}

char *mr_openmp_places(size_t count)
{
    enum { BYTES = 1 << 14, WORD = 8 };
    static char *next;
    static size_t left;
    size_t gap = count >= WORD ? left % WORD : 0;
    if (count > BYTES / 4) {
        return pages(count);
    }
    if (left < count + gap) {
        next = pages(BYTES);
        left = BYTES;
        gap = 0;
    }
    char *places = next + gap;
    next = places + count;
    left -= count + gap;
    return places;
}

/* ---- the log ---- */

void mr_openmp_units(mr_log_kind kind, mr_log_role role, const void *object, uint64_t units,
                     uint64_t use, uintptr_t code)
{
    enum { MOST = 65535 }; /* in a record */
    while (units > 0) {
        unsigned count = units < MOST ? (unsigned)units : MOST;
        mr_write_object(kind, role, object, code, count, use);
        units -= count;
    }
}

/* ---- threads ---- */

/* OMP_STACKSIZE: a number, and B, K, M or G; of KiB without. 0: as any thread. */
static size_t stack_bytes(void)
{
    enum { LEAST = 1 << 16, OF_KIB = 10, OF_MIB = 20, OF_GIB = 30 };
    const char *at = secure_getenv("OMP_STACKSIZE");
    size_t number = 0;
    unsigned shift = OF_KIB;
    for (; at != NULL && (*at == ' ' || (*at >= '0' && *at <= '9')); at++) {
        number = *at == ' ' ? number : number * 10 + (size_t)(*at - '0');
    }
    switch (at != NULL ? *at | ' ' : ' ') {
    case 'b':
        shift = 0;
        break;
    case 'm':
        shift = OF_MIB;
        break;
    case 'g':
        shift = OF_GIB;
        break;
    default:
        break;
    }
    size_t bytes = number << shift;
    return bytes >> shift == number && bytes >= LEAST ? bytes : 0;
}

bool mr_openmp_start(mr_thread **thread, void *(*start)(void *), void *argument, uintptr_t code)
{
    static size_t bytes;
    static bool is_known;
    pthread_t handle;
    pthread_attr_t attributes;
    if (!is_known) {
        is_known = true;
        bytes = stack_bytes();
    }
    mr_thread_detached(&attributes, NULL);
    if (bytes > 0) {
        pthread_attr_setstacksize(&attributes, bytes);
    }
    mr_leave(*thread);
    int status = mr_thread_create(&handle, &attributes, start, argument, code);
    *thread = mr_enter_at(code);
    pthread_attr_destroy(&attributes);
    return status == 0;
}
