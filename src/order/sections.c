#include "sections.h"

#include "base/assert.h"
#include "base/huge.h"

#include <stdlib.h>
#include <string.h>

static const mr_lock_log empty_log = {
    .first_user = MR_NONE, .recent_user = MR_NONE, .first_reader = MR_NONE};

bool mr_sections_grow(mr_sections *sections, uint32_t lock_count)
{
    void *logs = sections->logs;
    if (!mr_grow(&logs, &sections->lock_capacity, lock_count, sizeof(mr_lock_log)))
        return false;
    sections->logs = logs;
    for (; sections->lock_count < lock_count; sections->lock_count++)
        sections->logs[sections->lock_count] = empty_log;
    return true;
}

bool mr_sections_reader(mr_sections *sections, uint32_t lock, uint32_t thread, uint32_t *log)
{
    uint32_t *number = mr_map_at(&sections->reader_numbers, mr_map_key(lock, thread), MR_NONE);
    if (!number)
        return false;
    if (*number == MR_NONE) {
        void *readers = sections->readers;
        if (!mr_grow(&readers, &sections->reader_capacity, sections->reader_count + 1,
                     sizeof(mr_reader)))
            return false;
        sections->readers = readers;
        *number = (uint32_t)sections->reader_count++;
        sections->readers[*number] =
            (mr_reader){thread, sections->logs[lock].first_reader, empty_log};
        sections->logs[lock].first_reader = *number;
    }
    *log = MR_LOG_READER + *number;
    return true;
}

static bool find_user(mr_sections *sections, uint32_t number_of_log, uint32_t thread,
                      uint32_t *user)
{
    uint64_t key = mr_map_key(number_of_log, thread);
    uint32_t *number = mr_map_at(&sections->user_numbers, key, MR_NONE);
    if (!number)
        return false;
    if (*number == MR_NONE) {
        mr_lock_log *log = mr_sections_log(sections, number_of_log);
        void *users = sections->users;
        if (!mr_grow(&users, &sections->user_capacity, sections->user_count + 1,
                     sizeof(mr_lock_user)))
            return false;
        sections->users = users;
        *number = (uint32_t)sections->user_count++;
        sections->users[*number] = (mr_lock_user){.thread = thread, .next = log->first_user};
        log->first_user = *number;
        log->user_count++;
    }
    *user = *number;
    return true;
}

bool mr_sections_foresee(mr_sections *sections, const mr_outlook *outlook)
{
    sections->forgetful = true;
    for (size_t i = 0; i < outlook->use_count; i++) {
        uint32_t user;
        if (!find_user(sections, outlook->uses[i].lock, outlook->uses[i].thread, &user))
            return false;
        sections->users[user].sections_left = outlook->uses[i].sections;
    }
    return true;
}

bool mr_sections_user(mr_sections *sections, uint32_t number, uint32_t thread, uint32_t *user)
{
    mr_lock_log *log = mr_sections_log(sections, number);
    *user = log->recent_user;
    if (*user != MR_NONE && sections->users[*user].thread == thread)
        return true;
    if (!find_user(sections, number, thread, user))
        return false;
    log->recent_user = *user;
    return true;
}

void mr_sections_free(mr_sections *sections)
{
    for (size_t i = 0; i < sections->count; i++)
        mr_clock_drop(sections->pool, &sections->items[i].clock);
    mr_huge_free(sections->items, sections->capacity * sizeof(mr_section));
    mr_u32s_free(&sections->unused);
    for (size_t lock = 0; lock < sections->lock_count; lock++)
        free(sections->logs[lock].items);
    for (size_t reader = 0; reader < sections->reader_count; reader++)
        free(sections->readers[reader].log.items);
    free(sections->logs);
    free(sections->readers);
    mr_map_free(&sections->reader_numbers);
    free(sections->users);
    mr_map_free(&sections->user_numbers);
    *sections = (mr_sections){0};
}

static bool new_section(mr_sections *sections, uint32_t *section)
{
    if (sections->unused.count) {
        *section = sections->unused.items[--sections->unused.count];
        return true;
    }
    void *items = sections->items;
    if (!mr_huge_grow(&items, &sections->capacity, sections->count + 1, sizeof(mr_section)))
        return false;
    sections->items = items;
    /* Room to note it as unused later, so that dropping never fails. */
    void *unused = sections->unused.items;
    if (!mr_grow(&unused, &sections->unused.capacity, sections->count + 1, sizeof(uint32_t)))
        return false;
    sections->unused.items = unused;
    *section = (uint32_t)sections->count++;
    return true;
}

bool mr_section_open(mr_sections *sections, uint32_t thread, uint32_t local, uint32_t *section)
{
    if (!new_section(sections, section))
        return false;
    sections->items[*section] = (mr_section){.thread = thread, .acquired = local, .references = 1};
    return true;
}

/* Drops sections from the log once every thread that will release this lock again has passed
 * them. */
static void forget_passed(mr_sections *sections, uint32_t lock)
{
    mr_lock_log *log = &sections->logs[lock];
    uint32_t end = log->first + (uint32_t)(log->count - log->head), keep = end;
    for (uint32_t number = log->first_user; number != MR_NONE;
         number = sections->users[number].next) {
        const mr_lock_user *user = &sections->users[number];
        if (user->sections_left && user->cursor < keep)
            keep = user->cursor;
    }
    MR_ASSERT(keep <= end);
    while (log->first < keep) {
        mr_section_drop(sections, log->items[log->head++].section);
        log->first++;
    }
    if (log->head * 2 > log->count) {
        log->count -= log->head;
        memmove(log->items, log->items + log->head, log->count * sizeof *log->items);
        log->head = 0;
    }
}

/* False: no memory. */
static bool add_to_log(mr_lock_log *log, uint32_t section, mr_release release)
{
    void *items = log->items;
    if (!mr_grow(&items, &log->capacity, log->count + 1, sizeof *log->items))
        return false;
    log->items = items;
    log->items[log->count++] = (mr_logged){section, release.thread};
    if (log->last.thread != release.thread)
        log->other = log->last;
    log->last = release;
    return true;
}

bool mr_section_close(mr_sections *sections, uint32_t number, uint32_t user, uint32_t section,
                      mr_time release)
{
    mr_section *item = &sections->items[section];
    mr_lock_log *log = mr_sections_log(sections, number);
    mr_lock_user *by = &sections->users[user];
    MR_ASSERT(item->references > 0 && item->thread == by->thread);
    MR_ASSERT(item->acquired <= release.local && item->thread == release.thread);
    mr_clock_set(sections->pool, &item->clock, release.clock);
    item->released = release.local;
    by->sections_left -= by->sections_left != 0;
    by->has_own = true;
    if (!add_to_log(log, section, (mr_release){release.thread, release.local})) {
        mr_section_drop(sections, section);
        return false;
    }
    if (sections->forgetful && number < MR_LOG_READER &&
        ++log->since_forgetting >= log->user_count) {
        log->since_forgetting = 0;
        forget_passed(sections, number);
    }
    return true;
}

static void clear_log(mr_lock_log *log)
{
    log->count = log->head = log->first = 0;
    log->last = log->other = (mr_release){0};
}

void mr_sections_forget(mr_sections *sections)
{
    for (size_t i = 0; i < sections->count; i++)
        mr_clock_drop(sections->pool, &sections->items[i].clock);
    sections->count = sections->unused.count = 0;
    for (size_t lock = 0; lock < sections->lock_count; lock++)
        clear_log(&sections->logs[lock]);
    for (size_t reader = 0; reader < sections->reader_count; reader++)
        clear_log(&sections->readers[reader].log);
    for (size_t user = 0; user < sections->user_count; user++)
        sections->users[user].cursor = 0;
}

bool mr_sections_miss(mr_sections *sections, uint32_t lock, uint32_t thread)
{
    uint32_t user;
    if (!mr_sections_user(sections, lock, thread, &user))
        return false;
    sections->users[user].sections_left -= sections->users[user].sections_left != 0;
    return true;
}

void mr_section_share(mr_sections *sections, uint32_t section)
{
    MR_ASSERT_COSTLY(sections->items[section].references > 0);
    sections->items[section].references++;
}

void mr_section_drop(mr_sections *sections, uint32_t section)
{
    mr_section *item = &sections->items[section];
    MR_ASSERT(item->references > 0);
    if (--item->references)
        return;
    mr_clock_drop(sections->pool, &item->clock);
    sections->unused.items[sections->unused.count++] = section;
}
