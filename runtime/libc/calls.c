#include "calls.h"

#include "../ignore.h"
#include "../modules.h"
#include "../steer.h"
#include "../writer.h"

#include <string.h>

/* Log2 of a size that an access has, -1: a range. */
static int size_log2(size_t bytes)
{
    return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
}

static mr_log_kind of_one(mr_log_kind kind)
{
    return kind == MR_LOG_RANGE_READ    ? MR_LOG_READ
           : kind == MR_LOG_RANGE_WRITE ? MR_LOG_WRITE
                                        : kind;
}

void mr_libc_access(mr_log_kind kind, const void *address, size_t bytes, uintptr_t code)
{
    bool reads = kind == MR_LOG_RANGE_READ;
    if (address == NULL || bytes == 0 || code == 0 ||
        (reads ? mr_is_constant(address) || mr_ignores_all(mr_self) : mr_ignores_writes(mr_self))) {
        return;
    }
    int log2 = size_log2(bytes);
    if (mr_steers()) {
        uint64_t head =
            log2 < 0 ? mr_log_head(kind, 0, 0) : mr_log_head(of_one(kind), (unsigned)log2, 0);
        mr_steer_call_access(mr_self, address, (unsigned)head, code);
    }
    if (log2 < 0) {
        mr_write_range(kind, address, bytes, code);
    } else {
        mr_write_access(of_one(kind), (unsigned)log2, address, mr_load(address, (unsigned)log2),
                        code);
    }
}

mr_thread *mr_libc_input_begin(uintptr_t *code)
{
    mr_thread *thread = mr_memory_begin(*code);
    if (thread == NULL && (mr_inputs_are_logged() || mr_inputs_are_fed())) {
        *code = 0;
        thread = mr_enter();
    }
    return thread;
}

mr_thread *mr_libc_leave(mr_thread *thread, uintptr_t code)
{
    if (thread != NULL) {
        thread->caller = code;
        mr_leave(thread);
    }
    return thread;
}

mr_thread *mr_libc_return(mr_thread *thread)
{
    if (thread == NULL) {
        return NULL;
    }
    thread->caller = 0;
    return mr_enter();
}

size_t mr_text(const char *text)
{
    return text == NULL ? 0 : MR_REAL(strlen)(text) + 1;
}

size_t mr_text_up_to(const char *text, size_t most)
{
    if (text == NULL) {
        return 0;
    }
    size_t length = MR_REAL(strnlen)(text, most);
    return length < most ? length + 1 : most;
}

size_t mr_wide(const wchar_t *text)
{
    return text == NULL ? 0 : (MR_REAL(wcslen)(text) + 1) * sizeof *text;
}

size_t mr_wide_up_to(const wchar_t *text, size_t most)
{
    if (text == NULL) {
        return 0;
    }
    size_t length = MR_REAL(wcsnlen)(text, most);
    return (length < most ? length + 1 : most) * sizeof *text;
}
