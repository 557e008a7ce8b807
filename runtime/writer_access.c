/* writer: accesses whose record is not a short one, and writes that are not settled as such. */
#include "writer.h"

#include "sys.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

mr_log_model mr_writer_model;
int64_t mr_writer_unknown;

/* The site of an access: which one, and how far away its last address is. */
typedef struct placed {
    unsigned number;
    bool is_new; /* READ or WRITE puts it in */
    int64_t distance;
    mr_log_site before;
} placed;

static placed place(unsigned head, uintptr_t code, uintptr_t address)
{
    mr_log_site now = {head | (uint64_t)code << 16, address};
    unsigned number = mr_log_site_of(mr_log_kind_of(head), code, address);
    mr_log_site before = mr_writer_model.sites[number];
    int64_t distance = (int64_t)(address - before.address);
    bool is_new = before.head != now.head || !mr_log_fits_far(distance);
    mr_writer_model.sites[number] = now;
    return (placed){number, is_new, distance, before};
}

/* The head of a record at a site that is not new. Returns where its value goes. */
static uint32_t *put_head(const placed *at, mr_log_form form)
{
    uint32_t *record = mr_hot->live.cursor;
    if (mr_log_fits_short(at->distance)) {
        record[0] = mr_log_short(form, at->number, at->distance);
        return record + 1;
    }
    *(mr_any64 *)record = (int64_t)mr_log_far(form, at->number, at->distance);
    return record + 2;
}

void mr_put_known_far(unsigned head, uintptr_t code, uintptr_t address, int64_t value)
{
    placed at = place(head, code, address);
    int64_t *known = mr_writer_known(head, address);
    mr_log_form form = mr_log_form_for(value, *known);
    *known = value;
    if (at.is_new) {
        mr_put_access(mr_writer_cursor(), head | (uint64_t)address << 16, code, value);
    } else {
        uint32_t *content = put_head(&at, form);
        *(mr_any64 *)content = value;
        mr_hot_advance(mr_hot, content + form - MR_LOG_FORM_SAME);
    }
}

void mr_put_write_far(unsigned head, uintptr_t code, uintptr_t address)
{
    unsigned log2 = head >> 8 & 3;
    placed at = place(head, code, address);
    uint32_t *after;
    mr_hot->open_address = (const void *)address;
    mr_hot->open_known = mr_writer_known(head, address);
    if (at.is_new) {
        uint64_t *record = mr_writer_cursor();
        record[0] = head | (uint64_t)address << 16;
        record[1] = (uint64_t)code;
        mr_hot->open_form = log2 | MR_OPEN_LONG;
        mr_hot->open_site = &mr_writer_model.sites[at.number];
        mr_hot->open_before = at.before;
        mr_hot->live.open = record + 2;
        after = (uint32_t *)(void *)(record + 3);
    } else {
        mr_log_form form = log2 == 3 ? MR_LOG_FORM_64 : MR_LOG_FORM_32;
        uint32_t *content = put_head(&at, form);
        mr_hot->open_form = log2 | (content - mr_hot->live.cursor == 2 ? MR_OPEN_FAR : 0);
        mr_hot->live.open = content;
        after = content + form - MR_LOG_FORM_SAME;
    }
    mr_hot->live.waiting = MR_LOG_WAITING_WRITE;
    mr_hot_advance(mr_hot, after);
}

/* The write that waits has no record any more, and its site is as it was, because no reader hears
 * of it. Returns what the site said. */
static mr_log_site take_write_back(void)
{
    uint32_t *open = mr_hot->live.open, *record;
    mr_log_site *site = mr_hot->open_site, said;
    if (mr_hot->open_form & MR_OPEN_LONG) {
        record = open - 4;
        said = *site;
        *site = mr_hot->open_before;
    } else {
        record = mr_hot->open_form & MR_OPEN_FAR ? open - 2 : open - 1;
        mr_log_parts parts = mr_log_take_apart(record);
        site = &mr_writer_model.sites[parts.site];
        said = *site;
        site->address -= (uint64_t)parts.distance;
    }
    uint32_t *end = open + ((mr_hot->open_form & (3 | MR_OPEN_LONG)) >= 3 ? 2 : 1);
    while (end > record) { /* the head last: at each moment it is a record */
        *(volatile uint32_t *)--end = MR_LOG_PADDING_UNIT;
    }
    mr_hot->live.waiting = MR_LOG_WAITING_NONE;
    return said;
}

void mr_writer_wait_as_range(void)
{
    unsigned bytes = 1u << (mr_hot->open_form & 3);
    mr_log_site said = take_write_back();
    unsigned detail = (mr_log_detail(said.head) & ~3u) | MR_LOG_NO_VALUE;
    uint64_t *record = mr_writer_cursor();
    record[0] = mr_log_head(MR_LOG_RANGE_WRITE, detail, (uint64_t)mr_hot->open_address);
    record[1] = mr_log_payload(said.head);
    record[2] = bytes;
    mr_hot->live.waiting = MR_LOG_WAITING_RANGE;
    mr_hot->range = record;
    mr_writer_advance(record + 4);
}

void mr_writer_fault(void)
{
    uint64_t value;
    struct iovec here = {&value, 1u << (mr_hot->open_form & 3)};
    struct iovec there = {(void *)(uintptr_t)mr_hot->open_address, here.iov_len};
    if (mr_hot->live.waiting != MR_LOG_WAITING_WRITE &&
        mr_hot->live.waiting != MR_LOG_WAITING_BOTH) {
        return;
    }
    if (mr_sys(SYS_process_vm_readv, mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0), (long)&here, 1,
               (long)&there, 1, 0) == -EFAULT) {
        take_write_back();
    }
}
