#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/read.h"
#include "log_build.h"
#include "record/early.h"
#include "trace_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void mr_log_put(mr_log_build *log, uint64_t word)
{
    void *words = log->words;
    assert_true(mr_grow(&words, &log->capacity, log->count + 1, sizeof word));
    log->words = words;
    log->words[log->count++] = word;
}

void mr_log_switch(mr_log_build *log, uint32_t thread)
{
    mr_log_put(log, mr_log_head(MR_LOG_SWITCH, 0, thread));
}

void mr_log_object(mr_log_build *log, unsigned kind, unsigned role, uint64_t address, uint64_t code,
                   unsigned count, uint64_t number)
{
    mr_log_put(log, mr_log_head(kind, role, address));
    mr_log_put(log, code | (uint64_t)count << 48);
    mr_log_put(log, number);
}

void mr_log_use(mr_log_build *log, unsigned kind, unsigned role, uint64_t address)
{
    mr_log_object(log, kind, role, address, 0x4000 + kind, 0, 0);
}

void mr_log_message(mr_log_build *log, bool posts, uint32_t *units)
{
    enum { SEMAPHORE = 0xa000 };
    if (!posts && !*units)
        return;
    *units += posts ? 1 : UINT32_MAX;
    mr_log_use(log, posts ? MR_LOG_POST : MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, SEMAPHORE);
}

static unsigned log2_of(unsigned bytes)
{
    return bytes == 8 ? 3 : bytes / 2;
}

void mr_log_access(mr_log_build *log, unsigned kind, uint64_t address, unsigned bytes,
                   uint64_t code, int64_t value)
{
    bool small = value >= INT16_MIN && value <= INT16_MAX;
    mr_log_put(log, mr_log_head(kind, log2_of(bytes) | (small ? MR_LOG_SMALL : 0), address));
    mr_log_put(log, code | (small ? (uint64_t)value << 48 : 0));
    if (!small)
        mr_log_put(log, (uint64_t)value);
}

void mr_log_update(mr_log_build *log, uint64_t address, unsigned bytes, uint64_t code, int64_t old,
                   int64_t new)
{
    mr_log_put(log, mr_log_head(MR_LOG_ATOMIC_UPDATE, log2_of(bytes), address));
    mr_log_put(log, code);
    mr_log_put(log, (uint64_t)old);
    mr_log_put(log, (uint64_t) new);
}

void mr_log_range(mr_log_build *log, unsigned kind, uint64_t address, uint64_t code,
                  const void *bytes, size_t count)
{
    mr_log_put(log, mr_log_head(kind, 0, address));
    mr_log_put(log, code);
    mr_log_put(log, count);
    for (size_t i = 0; i < count; i += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + i, count - i < 8 ? count - i : 8);
        mr_log_put(log, word);
    }
}

void mr_log_enter(mr_log_build *log, uint64_t caller, uint64_t code, uint64_t stack, uint64_t frame)
{
    mr_log_object(log, MR_LOG_ENTRY, 0, caller, code, 0, frame ? frame - stack : 0);
    mr_log_put(log, mr_log_enter_head(mr_log_entry_of(caller, code), stack));
}

void mr_log_build_free(mr_log_build *log)
{
    free(log->words);
    *log = (mr_log_build){0};
}

void *mr_log_file(const mr_log_build *log, size_t *count)
{
    *count = MR_LOG_HEADER_BYTES + log->count * sizeof *log->words;
    char *bytes = calloc(*count, 1);
    assert_non_null(bytes);
    mr_log_header header = {.version = MR_LOG_VERSION,
                            .header_bytes = MR_LOG_HEADER_BYTES,
                            .end = *count,
                            .state = MR_LOG_EXITED};
    memcpy(header.magic, MR_LOG_MAGIC, sizeof header.magic);
    memcpy(bytes, &header, sizeof header);
    if (log->count)
        memcpy(bytes + MR_LOG_HEADER_BYTES, log->words, log->count * sizeof *log->words);
    return bytes;
}

/* A log whose accesses have short records where they can (log_short.h). */
typedef struct short_log {
    mr_log_model model;
    uint32_t *units;
    size_t count;
} short_log;

static void put_unit(short_log *log, uint64_t unit)
{
    log->units[log->count++] = (uint32_t)unit;
}

/* The record of an access, of a known site. */
static bool put_short(short_log *log, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if ((kind != MR_LOG_READ && kind != MR_LOG_WRITE) ||
        (mr_log_detail(record[0]) & MR_LOG_NO_VALUE))
        return false;
    uint64_t head = mr_log_site_head(record[0], mr_log_code(record[1]));
    uint64_t address = mr_log_payload(record[0]);
    unsigned number = mr_log_site_of(kind, mr_log_payload(head), address);
    mr_log_site *site = &log->model.sites[number];
    int64_t distance = (int64_t)(address - site->address), value = mr_log_value(record);
    int64_t *known = &log->model.values[mr_log_value_of(head, address)];
    mr_log_form form = mr_log_form_for(value, *known);
    if (site->head != head || !mr_log_fits_far(distance))
        return false;
    if (kind == MR_LOG_WRITE)
        form = mr_log_bytes(record[0]) == 8 || value != (int32_t)value ? MR_LOG_FORM_64
                                                                       : MR_LOG_FORM_32;
    uint64_t far = mr_log_far(form, number, distance);
    if (mr_log_fits_short(distance)) {
        put_unit(log, mr_log_short(form, number, distance));
    } else {
        put_unit(log, far);
        put_unit(log, far >> 32);
    }
    if (form != MR_LOG_FORM_SAME)
        put_unit(log, (uint64_t)value);
    if (form == MR_LOG_FORM_64)
        put_unit(log, (uint64_t)value >> 32);
    site->address = address;
    *known = value;
    return true;
}

void *mr_log_shorten(const void *bytes, size_t *count)
{
    const mr_log_header *header = bytes;
    if (*count < MR_LOG_HEADER_BYTES || header->end != *count ||
        header->header_bytes != MR_LOG_HEADER_BYTES)
        return NULL;
    const uint32_t *units = (const void *)((const char *)bytes + MR_LOG_HEADER_BYTES);
    uint64_t unit_count = (*count - MR_LOG_HEADER_BYTES) / sizeof *units, length;
    short_log *log = calloc(1, sizeof *log);
    char *file = calloc(1, 2 * *count);
    assert_true(log && file);
    memcpy(file, bytes, MR_LOG_HEADER_BYTES);
    log->units = (uint32_t *)(void *)(file + MR_LOG_HEADER_BYTES);
    for (uint64_t at = 0; at < unit_count; at += length) {
        length = mr_log_units(units + at, unit_count - at);
        const uint64_t *record = (const uint64_t *)(const void *)(units + at);
        if (!length || length > unit_count - at) {
            free(file);
            free(log);
            return NULL;
        }
        if (mr_log_is_short(units[at]) || put_short(log, record))
            continue;
        if (log->count % 2)
            put_unit(log, MR_LOG_PADDING_UNIT);
        for (uint64_t i = 0; i < length; i++)
            put_unit(log, units[at + i]);
        unsigned kind = mr_log_kind_of(record[0]);
        if (kind == MR_LOG_READ || kind == MR_LOG_WRITE)
            mr_log_learn(&log->model, record);
    }
    *count = MR_LOG_HEADER_BYTES + log->count * sizeof *log->units;
    ((mr_log_header *)(void *)file)->end = *count;
    free(log);
    return file;
}

static void remove_file(char *path)
{
    unlink(path);
    free(path);
}

void *mr_log_trace(const void *bytes, size_t count, mr_record_options options, size_t *size)
{
    char *path = mr_test_file(bytes, count), *items = NULL;
    mr_error error;
    mr_record_summary summary;
    FILE *stream = open_memstream(&items, size);
    assert_non_null(stream);
    if (mr_record_convert(path, "t", stream, &options, &summary, &error) != MR_OK)
        fail_msg("%s", error.text);
    fclose(stream);
    remove_file(path);
    return items;
}

/* The file with room for a window, as of a program that still runs: none of its records count yet. */
static char *with_window(const void *bytes, size_t *count)
{
    enum { ROOM = 4096 };
    char *file = calloc(1, *count + ROOM);
    assert_non_null(file);
    memcpy(file, bytes, MR_LOG_HEADER_BYTES);
    memcpy(file + MR_LOG_HEADER_BYTES + ROOM, (const char *)bytes + MR_LOG_HEADER_BYTES,
           *count - MR_LOG_HEADER_BYTES);
    *count += ROOM;
    mr_log_header *header = (void *)file;
    header->header_bytes = MR_LOG_HEADER_BYTES + ROOM;
    header->end = 0;
    header->window_at = MR_LOG_HEADER_BYTES;
    header->window_bytes = ROOM;
    header->window_start = header->header_bytes;
    return file;
}

static void put_at(FILE *file, const void *bytes, size_t from, size_t count)
{
    assert_int_equal(fseek(file, (long)from, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fflush(file), 0);
}

/* Makes the file, which has no record yet, grow to what `whole` has. */
static void grow_log(const char *path, const char *whole, size_t count, uint32_t steps)
{
    const struct timespec pause = {.tv_nsec = 3000000};
    mr_log_header header;
    memcpy(&header, whole, sizeof header);
    size_t first = header.header_bytes;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    for (uint32_t i = 1; i <= steps; i++) {
        size_t end = i < steps ? first + (count - first) / 8 * i / steps * 8 : count;
        put_at(file, whole + header.window_start, header.window_start, end - header.window_start);
        header.window_start = end;
        header.end = i < steps ? 0 : end;
        put_at(file, &header, 0, sizeof header);
        nanosleep(&pause, NULL);
    }
    fclose(file);
}

void *mr_log_trace_beside(const void *bytes, size_t count, mr_record_options options,
                          uint32_t steps, size_t *size)
{
    char *whole = with_window(bytes, &count), *items = NULL;
    char *path = mr_test_file(whole, ((const mr_log_header *)(void *)whole)->header_bytes);
    mr_error error;
    mr_record_summary summary;
    FILE *stream = open_memstream(&items, size);
    assert_non_null(stream);
    options.early = mr_early_start(path, &options);
    grow_log(path, whole, count, steps);
    if (mr_record_convert(path, "t", stream, &options, &summary, &error) != MR_OK)
        fail_msg("%s", error.text);
    fclose(stream);
    mr_early_free(options.early);
    remove_file(path);
    free(whole);
    return items;
}

/* A log of short records gives the same trace where passes jump over what they need not read
 * (gaps.h). */
static void compare_jumps(const void *bytes, size_t count)
{
    void *file = mr_log_shorten(bytes, &count);
    size_t sizes[2];
    if (!file)
        return;
    const mr_record_options whole = {.part_units = 0}, in_parts = {.part_units = 8};
    void *read = mr_log_trace(file, count, whole, &sizes[0]);
    void *jumped = mr_log_trace(file, count, in_parts, &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(read, jumped, sizes[0]);
    free(read);
    free(jumped);
    free(file);
}

mr_status mr_log_try(const void *bytes, size_t count, const mr_record_options *options,
                     mr_record_summary *summary, mr_trace **trace, mr_error *error)
{
    char *log = mr_test_file(bytes, count), *converted = mr_test_file("", 0);
    const mr_record_options usual = {.keep_local = false};
    FILE *file = fopen(converted, "wb");
    assert_non_null(file);
    *trace = NULL;
    mr_status status =
        mr_record_convert(log, "t", file, options ? options : &usual, summary, error);
    fclose(file);
    if (status == MR_OK)
        status = mr_trace_read(converted, NULL, trace, error);
    remove_file(log);
    remove_file(converted);
    return status;
}

mr_trace *mr_log_converted(const mr_log_build *log, bool keep_local, mr_record_summary *summary)
{
    size_t count;
    mr_trace *trace;
    mr_error error;
    mr_record_summary unused;
    void *bytes = mr_log_file(log, &count);
    const mr_record_options options = {.keep_local = keep_local};
    if (mr_log_try(bytes, count, &options, summary ? summary : &unused, &trace, &error) != MR_OK)
        fail_msg("%s", error.text);
    if (!keep_local) /* else every part has kept pieces */
        compare_jumps(bytes, count);
    free(bytes);
    return trace;
}

void mr_log_expect(const mr_trace *trace, const char *events)
{
    char *items = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&items, &size);
    assert_non_null(file);
    for (uint32_t event = 0; event < trace->event_count; event++) {
        char text[512];
        mr_trace_print_op(trace, event, false, text, sizeof text);
        fprintf(file, "%s|%s\n", trace->threads.items[trace->thread[event]].text, text);
    }
    fclose(file);
    assert_string_equal(items, events);
    free(items);
}
