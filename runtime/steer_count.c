#include "log_short.h"
#include "steer.h"
#include "steer_result.h"
#include "steer_state.h"
#include "writer.h"

int64_t mr_steer_value(const uint64_t *record)
{
    return mr_log_kind_of(record[0]) == MR_LOG_ATOMIC_UPDATE ? (int64_t)record[2]
                                                             : mr_log_value(record);
}

bool mr_steer_has_value(const uint64_t *record)
{
    return mr_log_is_access(mr_log_kind_of(record[0])) &&
           (mr_log_detail(record[0]) & MR_LOG_NO_VALUE) == 0;
}

const mr_expected *mr_steer_next(uint32_t number)
{
    mr_role *role = &mr_steer.schedule.roles[number];
    while (role->next < role->expected_count &&
           role->expected[role->next].position < mr_steer.actors[number].position) {
        role->next++;
    }
    return role->next < role->expected_count ? &role->expected[role->next] : NULL;
}

uint64_t mr_steer_expected_code(const mr_expected *expected)
{
    if (expected->module == 0) {
        return expected->offset;
    }
    uint64_t here = mr_steer.schedule.modules[expected->module - 1].here;
    return here != 0 ? here + expected->offset : 0;
}

static bool allocates(uint64_t code)
{
    return code - mr_steer.libc < mr_steer.libc_end - mr_steer.libc ||
           code - mr_steer.glib < mr_steer.glib_end - mr_steer.glib ||
           code - mr_steer.loader < mr_steer.loader_end - mr_steer.loader;
}

static bool counts(const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    return mr_log_counts(kind) &&
           ((kind != MR_LOG_GIVEN && kind != MR_LOG_TAKEN) || !allocates(mr_log_code(record[1])));
}

static void copy_record(const uint64_t *record)
{
    uint64_t words = mr_log_is_access(mr_log_kind_of(record[0])) ? mr_log_words(record, 4) : 3;
    for (uint64_t i = 0; i < words && i < 4; i++) {
        mr_steer.seen[i] = record[i];
    }
}

static void note_value(uint32_t role, const mr_expected *expected, const uint64_t *record)
{
    if (!mr_steer.differs) {
        mr_steer.differs = true;
        mr_steer.stray_role = role;
        mr_steer.expected = *expected;
        copy_record(record);
        mr_steer_tell_difference("value");
    }
}

bool mr_steer_is_same_kind(mr_log_kind seen, mr_log_kind expected)
{
    return seen == expected || (seen == MR_LOG_RANGE_READ && expected == MR_LOG_READ) ||
           (seen == MR_LOG_READ && expected == MR_LOG_RANGE_READ);
}

static void compare(uint32_t number, const uint64_t *record)
{
    mr_role *role = &mr_steer.schedule.roles[number];
    uint64_t position = mr_steer.actors[number].position;
    while (role->next < role->expected_count && role->expected[role->next].position < position) {
        role->next++;
    }
    const mr_expected *expected = &role->expected[role->next];
    if (mr_steer.reached || role->next >= role->expected_count || expected->position != position) {
        return;
    }
    mr_log_kind kind = mr_log_kind_of(record[0]);
    if (!mr_steer_is_same_kind(kind, expected->kind) ||
        mr_log_code(record[1]) != mr_steer_expected_code(expected)) {
        mr_steer.strayed = "another operation";
        mr_steer.stray_role = number;
        mr_steer.expected = *expected;
        copy_record(record);
    } else if (expected->has_value && kind == expected->kind && mr_steer_has_value(record) &&
               mr_steer_value(record) != expected->value) {
        note_value(number, expected, record);
    }
}

/* After the goal: what the threads that stood there have done. */
static void tell_done(uint32_t number, const uint64_t *record)
{
    mr_result_word("did");
    mr_result_number(number);
    mr_result_word(mr_log_kind_name(mr_log_kind_of(record[0])));
    mr_result_address(mr_log_payload(record[0]));
    if (mr_steer_has_value(record)) {
        mr_result_number(mr_steer_value(record));
    }
    mr_result_end();
}

static void count_record(mr_thread *thread, const uint64_t *record)
{
    mr_actor *self = mr_steer_actor(thread);
    if (self == NULL) {
        return;
    }
    bool waits = mr_log_kind_of(record[0]) == MR_LOG_BLOCKED;
    for (int i = 0; i < 3; i++) {
        self->waits[i] = waits ? record[i] : 0;
    }
    if (!counts(record)) {
        return;
    }
    compare(thread->role, record);
    if (mr_steer.reached && mr_steer.at < mr_steer.schedule.step_count &&
        mr_steer.schedule.steps[mr_steer.at].role == thread->role) {
        tell_done(thread->role, record);
    }
    self->position++;
    mr_steer.operations++;
    self->ended = self->ended || mr_log_kind_of(record[0]) == MR_LOG_END;
}

/* A short record of the log as a full one. The models are those of the writer, which knows the value
 * by now. */
static const uint64_t *full_record(const uint32_t *units, uint64_t *room)
{
    if (!mr_log_is_short(units[0])) {
        return (const uint64_t *)(const void *)units;
    }
    mr_log_parts parts = mr_log_take_apart(units);
    const mr_log_site *site = &mr_writer_model.sites[parts.site];
    int64_t value = 0;
    if (parts.form == MR_LOG_FORM_SAME) {
        value = *mr_writer_known((unsigned)site->head & 0xffff, site->address);
    } else {
        value =
            parts.form == MR_LOG_FORM_32 ? (int32_t)parts.content[0] : mr_log_wide(parts.content);
    }
    room[0] = (site->head & 0xffff) | site->address << 16;
    room[1] = mr_log_payload(site->head);
    room[2] = (uint64_t)value;
    return room;
}

/* Up to where the log stays as it is: entries of functions at its end may be taken back (enter_leave.c). They do not count. */
static const uint32_t *lasting_end(void)
{
    const uint32_t *end = mr_hot->live.cursor;
    bool ends_with_entry = (const void *)end == (const void *)mr_hot->after_enter;
    return ends_with_entry ? end - 2 * mr_hot->enters : end;
}

void mr_steer_count(void)
{
    const uint32_t *end = lasting_end();
    uint64_t room[3];
    while (mr_rt.steers && mr_steer.counted < end) {
        uint64_t units = mr_log_units(mr_steer.counted, (uint64_t)(end - mr_steer.counted));
        if (units == 0) {
            mr_steer.strayed =
                mr_steer.strayed != NULL ? mr_steer.strayed : "the log cannot be read";
            break;
        }
        count_record(mr_steer.writes, full_record(mr_steer.counted, room));
        mr_steer.counted += units;
    }
    mr_steer.counted = end;
}

void mr_steer_moved(void)
{
    mr_steer.counted = lasting_end();
}

void mr_steer_switched(uint32_t number)
{
    mr_steer.counted = mr_hot->live.cursor;
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->id == number) {
            mr_steer.writes = t;
        }
    }
}
