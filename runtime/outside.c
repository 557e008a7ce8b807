#include "outside.h"

#include "log.h"
#include "sys.h"
#include "writer.h"

#include <sys/socket.h>
#include <sys/syscall.h>

static bool files_are_watched; /* by some thread so far */

static void log_channel(mr_log_kind kind, uint64_t channel, unsigned count, uintptr_t code)
{
    mr_write_object(kind, MR_LOG_ROLE_CHANNEL, (void *)channel, code, count, MR_LOG_CHANNEL_DATA);
}

void mr_outside_tell(uintptr_t code)
{
    log_channel(MR_LOG_BEFORE, 0, MR_LOG_WRITING_APART, code);
}

void mr_outside_hear(uintptr_t code)
{
    log_channel(MR_LOG_AFTER, 0, 0, code);
}

void mr_outside_watch_files(void)
{
    files_are_watched = true;
}

void mr_outside_file_changes(uintptr_t code)
{
    if (files_are_watched) {
        mr_outside_tell(code);
    }
}

void mr_outside_call_begins(mr_outside_call call, uintptr_t code)
{
    log_channel(MR_LOG_BEFORE, MR_LOG_CALLS_AT + call, MR_LOG_WRITING_APART, code);
}

void mr_outside_call_seen(mr_outside_call call, bool has_happened, uintptr_t code)
{
    log_channel(MR_LOG_AFTER, MR_LOG_CALLS_AT + call, has_happened ? 0 : MR_LOG_NOT_YET, code);
}

bool mr_outside_listens(int fd)
{
    int listens = 0;
    socklen_t bytes = sizeof listens;
    return mr_sys(SYS_getsockopt, fd, SOL_SOCKET, SO_ACCEPTCONN, (long)&listens, (long)&bytes, 0) ==
               0 &&
           listens != 0;
}
