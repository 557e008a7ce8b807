#include "result.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The runtime library writes the file. A number that is not one makes a line that says nothing, and one
 * that is too large makes a wrong report of a damaged file, no more. */
/* NOLINTBEGIN(cert-err34-c) */

static void take_outcome(mr_replay_result *result, const char *text)
{
    result->outcome = !strcmp(text, "goal")       ? MR_REPLAY_GOAL
                      : !strcmp(text, "diverged") ? MR_REPLAY_DIVERGED
                      : !strcmp(text, "ended")    ? MR_REPLAY_ENDED
                                                  : MR_REPLAY_NOTHING;
}

/* "THREAD POSITION KIND CODE [VALUE]" */
static void take_expected(mr_replay_operation *operation, const char *text)
{
    *operation = (mr_replay_operation){.thread = 0};
    operation->has_value =
        sscanf(text, "%" SCNu32 " %" SCNu64 " %23s 0x%" SCNx64 " %" SCNd64, &operation->thread,
               &operation->position, operation->kind, &operation->code, &operation->value) == 5;
}

/* "KIND CODE [VALUE]", after what was expected. */
static void take_seen(mr_replay_result *result, const char *text)
{
    bool about_value = !result->expected.kind[0];
    mr_replay_operation *seen = about_value ? &result->value_seen : &result->seen;
    *seen = about_value ? result->value_expected : result->expected;
    seen->has_value =
        sscanf(text, "%23s 0x%" SCNx64 " %" SCNd64, seen->kind, &seen->code, &seen->value) == 3;
}

static bool add_thread(mr_replay_result *result, const char *text)
{
    mr_replay_thread thread = {.number = 0};
    void *threads = result->threads;
    if (sscanf(text, "%" SCNu32 " %d %" SCNu64 " %11s", &thread.number, &thread.kernel_id,
               &thread.position, thread.state) != 4)
        return true;
    if (!mr_grow(&threads, &result->thread_capacity, result->thread_count + 1,
                 sizeof *result->threads))
        return false;
    result->threads = threads;
    result->threads[result->thread_count++] = thread;
    return true;
}

static bool add_frame(mr_replay_result *result, const char *text)
{
    uint32_t number;
    uint64_t code;
    if (!result->thread_count || sscanf(text, "%" SCNu32 " 0x%" SCNx64, &number, &code) != 2)
        return true;
    mr_replay_thread *thread = &result->threads[result->thread_count - 1];
    void *frames = thread->frames;
    if (!mr_grow(&frames, &thread->frame_capacity, thread->frame_count + 1, sizeof *thread->frames))
        return false;
    thread->frames = frames;
    thread->frames[thread->frame_count++] = code;
    return true;
}

/* "THREAD KIND BYTES ADDRESS [VALUE]" */
static void take_about(mr_replay_result *result, const char *text)
{
    if (!result->thread_count)
        return;
    uint32_t number;
    mr_replay_thread *thread = &result->threads[result->thread_count - 1];
    int got = sscanf(text, "%" SCNu32 " %23s %" SCNu64 " 0x%" SCNx64 " %" SCNd64, &number,
                     thread->kind, &thread->bytes, &thread->address, &thread->value);
    thread->has_about = got >= 4;
    thread->has_value = got == 5;
}

/* "THREAD WHAT ADDRESS CODE" */
static void take_wait(mr_replay_result *result, const char *text)
{
    uint32_t number;
    if (!result->thread_count)
        return;
    mr_replay_thread *thread = &result->threads[result->thread_count - 1];
    if (sscanf(text, "%" SCNu32 " %11s 0x%" SCNx64 " 0x%" SCNx64, &number, thread->waits_for,
               &thread->awaited, &thread->waits_at) != 4)
        thread->waits_for[0] = '\0';
}

/* "THREAD KIND ADDRESS [VALUE]" */
static void take_did(mr_replay_result *result, const char *text)
{
    if (result->did_count == MR_REPLAY_DID)
        return;
    mr_replay_operation *did = &result->did[result->did_count++];
    did->has_value = sscanf(text, "%" SCNu32 " %23s 0x%" SCNx64 " %" SCNd64, &did->thread,
                            did->kind, &did->code, &did->value) == 4;
}

static bool take_line(mr_replay_result *result, const char *key, const char *text)
{
    if (!strcmp(key, "outcome")) {
        take_outcome(result, text);
    } else if (!strcmp(key, "reason")) {
        snprintf(result->reason, sizeof result->reason, "%s", text);
    } else if (!strcmp(key, "input-expected")) {
        snprintf(result->input_expected, sizeof result->input_expected, "%s", text);
    } else if (!strcmp(key, "input-seen")) {
        snprintf(result->input_seen, sizeof result->input_seen, "%s", text);
    } else if (!strcmp(key, "unfed")) {
        snprintf(result->unfed, sizeof result->unfed, "%s", text);
    } else if (!strcmp(key, "loose")) {
        snprintf(result->loose, sizeof result->loose, "%s", text);
    } else if (!strcmp(key, "process")) {
        result->process = (int)strtol(text, NULL, 10);
    } else if (!strcmp(key, "whose")) {
        result->whose = strtoll(text, NULL, 10);
    } else if (!strcmp(key, "before")) {
        result->passed = true;
        result->before = strtoull(text, NULL, 10);
    } else if (!strcmp(key, "steps")) {
        sscanf(text, "%" SCNu64 " %" SCNu64, &result->steps, &result->step_count);
    } else if (!strcmp(key, "operations")) {
        result->operations = strtoull(text, NULL, 10);
    } else if (!strcmp(key, "expected")) {
        take_expected(&result->expected, text);
    } else if (!strcmp(key, "value")) {
        take_expected(&result->value_expected, text);
    } else if (!strcmp(key, "seen")) {
        take_seen(result, text);
    } else if (!strcmp(key, "about")) {
        take_about(result, text);
    } else if (!strcmp(key, "waits")) {
        take_wait(result, text);
    } else if (!strcmp(key, "did")) {
        take_did(result, text);
    } else if (!strcmp(key, "thread")) {
        return add_thread(result, text);
    } else if (!strcmp(key, "frame")) {
        return add_frame(result, text);
    }
    return true;
}

/* NOLINTEND(cert-err34-c) */

mr_status mr_replay_result_read(const char *path, mr_replay_result *result, mr_error *error)
{
    char line[1024];
    FILE *file = fopen(path, "r");
    bool ok = true;
    *result = (mr_replay_result){.whose = -1};
    if (!file && errno == ENOENT)
        return MR_OK;
    if (!file)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot read: %s", strerror(errno));
    while (ok && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *space = strchr(line, ' ');
        if (!space)
            continue;
        *space = '\0';
        ok = take_line(result, line, space + 1);
    }
    fclose(file);
    return ok ? MR_OK : mr_error_memory(error, "reading the result of the replay");
}

void mr_replay_result_free(mr_replay_result *result)
{
    for (size_t i = 0; i < result->thread_count; i++)
        free(result->threads[i].frames);
    free(result->threads);
    *result = (mr_replay_result){.whose = -1};
}

const mr_replay_thread *mr_replay_result_thread(const mr_replay_result *result, uint32_t number)
{
    for (size_t i = 0; i < result->thread_count; i++)
        if (result->threads[i].number == number)
            return &result->threads[i];
    return NULL;
}
