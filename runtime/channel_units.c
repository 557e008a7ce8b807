#include "channel_units.h"

#include "log.h"
#include "sys.h"
#include "writer.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>

static struct {
    uint32_t left;   /* bytes that were written and not read */
    uint32_t reader; /* the thread that reads, + 1; 0: none yet */
    bool is_held;    /* a wait has taken a unit, and no read yet */
    bool is_lost; /* no units: other bytes, several readers, or another process writes or reads */
} units[MR_CHANNELS_MAX + 1];

enum { MOST_TAKEN = UINT16_MAX }; /* units of one record */

static void log_units(mr_log_kind kind, uint32_t count, uint64_t channel, uintptr_t code)
{
    if (count == 0) {
        mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_CHANNEL, (void *)channel, code, MR_LOG_NOTHING,
                        MR_LOG_CHANNEL_DATA);
    } else {
        mr_write_object(kind, MR_LOG_ROLE_UNITS, (void *)channel, code, count, 0);
    }
}

void mr_channel_units_write(uint64_t channel, bool is_like, uintptr_t code)
{
    units[channel].is_lost = units[channel].is_lost || !is_like;
    units[channel].left += is_like;
    log_units(MR_LOG_POST, !units[channel].is_lost, channel, code);
}

void mr_channel_units_refuse(uint64_t channel, uintptr_t code)
{
    bool takes = !units[channel].is_lost && units[channel].left > 0;
    units[channel].left -= takes;
    log_units(MR_LOG_WAIT, takes, channel, code);
}

/* This thread reads, and `left` bytes should be there. Are there still units? They are lost when another thread has
 * read, or when another process has written or read. */
static bool keeps_units(uint64_t channel, int fd, uint32_t left)
{
    int there = 0;
    uint32_t reader = mr_self->id + 1;
    bool is_known =
        mr_sys(SYS_ioctl, fd, FIONREAD, (long)&there, 0, 0, 0) == 0 && (uint32_t)there == left;
    bool is_alone = units[channel].reader == 0 || units[channel].reader == reader;
    units[channel].reader = reader;
    units[channel].is_lost = units[channel].is_lost || !is_known || !is_alone;
    return !units[channel].is_lost;
}

bool mr_channel_units_read(uint64_t channel, int fd, size_t bytes, bool is_one, uintptr_t code)
{
    uint32_t left = units[channel].left, held = units[channel].is_held;
    bool is_enough =
        left >= bytes && bytes <= MOST_TAKEN && keeps_units(channel, fd, left - (uint32_t)bytes);
    units[channel].is_lost = !is_enough;
    units[channel].is_held = false;
    units[channel].left = is_enough ? left - (uint32_t)bytes : 0;
    log_units(MR_LOG_WAIT, is_enough ? (uint32_t)bytes - held : 0, channel, code);
    return is_enough && is_one;
}

bool mr_channel_units_ready(uint64_t channel, int fd, uintptr_t code)
{
    uint32_t left = units[channel].left;
    if (left == 0 || !keeps_units(channel, fd, left)) {
        return false;
    }
    log_units(MR_LOG_WAIT, !units[channel].is_held, channel, code);
    units[channel].is_held = true;
    return true;
}
