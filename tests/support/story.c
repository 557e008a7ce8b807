#include "story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

enum { LOCKS = 16, CELLS = 1 << 16 };

typedef struct lock_state {
    uint64_t address;
    uint32_t owner, held, shared;
} lock_state;

/* The story so far. */
typedef struct telling {
    mr_story *story;
    uint64_t strange, broken; /* reads of what nobody wrote; a lock held by two */
    lock_state locks[LOCKS];
    struct {
        uint64_t address; /* 0: free */
        uint8_t value;
    } * cells;
} telling;

static lock_state *lock_of(telling *self, uint64_t address)
{
    for (int i = 0; i < LOCKS; i++)
        if (self->locks[i].address == address || !self->locks[i].address) {
            self->locks[i].address = address;
            return &self->locks[i];
        }
    fail_msg("too many locks");
    return NULL;
}

static void note_lock(telling *self, unsigned kind, uint64_t address, uint32_t thread)
{
    lock_state *lock = lock_of(self, address);
    if (kind == MR_LOG_ACQUIRE) {
        self->broken += lock->held || lock->shared;
        lock->held = 1;
        lock->owner = thread;
    } else if (kind == MR_LOG_RELEASE) {
        self->broken += !lock->held || lock->owner != thread;
        lock->held = 0;
    } else if (kind == MR_LOG_SHARED_ACQUIRE) {
        self->broken += lock->held;
        lock->shared++;
    } else {
        self->broken += !lock->shared;
        lock->shared -= lock->shared > 0;
    }
}

/* The byte at the address; it is new when nothing was known of it. */
static uint8_t *cell_of(telling *self, uint64_t address, bool *is_new)
{
    uint64_t at = address * 0x9E3779B97F4A7C15u >> 48;
    while (self->cells[at].address && self->cells[at].address != address)
        at = (at + 1) % CELLS;
    *is_new = !self->cells[at].address;
    self->cells[at].address = address;
    return &self->cells[at].value;
}

static void note_bytes(telling *self, uint64_t address, const void *bytes, uint64_t count,
                       bool is_read)
{
    bool strange = false, is_new;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *cell = cell_of(self, address + i, &is_new);
        strange = strange || (!is_new && *cell != ((const uint8_t *)bytes)[i]);
        *cell = ((const uint8_t *)bytes)[i];
    }
    self->story->reads += is_read;
    self->strange += is_read && strange;
}

/* Memory with a new life: what was there is as it is now, whatever it is. */
static void forget(telling *self, uint64_t address, uint64_t count)
{
    for (size_t i = 0; i < CELLS; i++)
        if (self->cells[i].address && self->cells[i].address - address < count)
            self->cells[i].address = UINT64_MAX; /* never asked for */
}

static void note(telling *self, const mr_log_pass *pass, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    uint64_t address = mr_log_payload(record[0]);
    self->story->last[0] = record[0];
    self->story->last[1] = mr_log_words(record, 4) > 1 ? record[1] : 0;
    self->story->records++;
    if (mr_log_detail(record[0]) & MR_LOG_NO_VALUE && kind == MR_LOG_WRITE) {
        self->story->unknown++;
        return;
    }
    if (kind == MR_LOG_ATOMIC_UPDATE) {
        note_bytes(self, address, record + 2, mr_log_bytes(record[0]), true);
        note_bytes(self, address, record + 3, mr_log_bytes(record[0]), false);
    } else if (mr_log_is_access(kind)) {
        int64_t value = mr_log_value(record);
        bool is_read = kind == MR_LOG_READ || kind == MR_LOG_ATOMIC_READ;
        note_bytes(self, address, &value, mr_log_bytes(record[0]), is_read);
        self->story->marked = self->story->marked || (!is_read && value == MR_STORY_MARK);
    } else if (mr_log_is_range(kind)) {
        note_bytes(self, address, record + 3, record[2], kind == MR_LOG_RANGE_READ);
    } else if (kind >= MR_LOG_ACQUIRE && kind <= MR_LOG_SHARED_RELEASE) {
        note_lock(self, kind, address, pass->thread);
    } else if (kind == MR_LOG_GIVEN || kind == MR_LOG_TAKEN) {
        forget(self, address, record[2]);
    }
}

void mr_story_read(mr_story *story, const char *path)
{
    mr_log log;
    mr_log_pass pass;
    mr_error error;
    telling self = {.story = story, .cells = calloc(CELLS, sizeof *self.cells)};
    *story = (mr_story){.records = 0};
    assert_non_null(self.cells);
    if (mr_log_open(&log, path, &error) != MR_OK)
        fail_msg("%s", error.text);
    story->header = log.header;
    mr_log_pass_init(&pass, &log);
    for (const uint64_t *record; (record = mr_log_next(&pass));)
        note(&self, &pass, record);
    assert_false(pass.failed);
    assert_int_equal(pass.next, log.unit_count);
    mr_log_pass_free(&pass);
    mr_log_close(&log);
    free(self.cells);
    assert_int_equal(self.broken, 0);
    assert_int_equal(self.strange, 0);
}
