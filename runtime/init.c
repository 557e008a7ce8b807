#include "init.h"

#include "annotated_lock.h"
#include "arena.h"
#include "clocks.h"
#include "exit_handlers.h"
#include "explore.h"
#include "file_reads.h"
#include "ignore.h"
#include "inputs.h"
#include "log_file.h"
#include "modules.h"
#include "operands.h"
#include "scheduler.h"
#include "shared_maps.h"
#include "signals.h"
#include "steer.h"
#include "suppressions.h"
#include "sys.h"
#include "thread.h"
#include "writer.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

mr_runtime mr_rt;
__thread mr_thread *mr_self;

static bool same_text(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static mr_log_schedule parse_schedule(const char *text)
{
    if (text == NULL || same_text(text, "random")) {
        return MR_LOG_SCHEDULE_RANDOM;
    }
    if (same_text(text, "pct")) {
        return MR_LOG_SCHEDULE_PCT;
    }
    if (same_text(text, "os")) {
        return MR_LOG_SCHEDULE_OS;
    }
    mr_complain("unknown schedule, taken as random: ", text);
    return MR_LOG_SCHEDULE_RANDOM;
}

/* The change points of pct, latest first: their number of digits is even, because the length of the
 * run is not known. */
static void draw_changes(uint64_t depth)
{
    enum { CHANGES_MAX = sizeof mr_rt.changes / sizeof mr_rt.changes[0], DIGITS = 20 };
    mr_rt.change_count = (uint32_t)(depth < CHANGES_MAX ? depth : CHANGES_MAX);
    for (uint32_t i = 0; i < mr_rt.change_count; i++) {
        uint64_t size = (uint64_t)1 << (1 + mr_random_below(DIGITS));
        uint64_t point = size / 2 + mr_random_below(size);
        uint32_t at = i;
        for (; at > 0 && mr_rt.changes[at - 1] < point; at--) {
            mr_rt.changes[at] = mr_rt.changes[at - 1];
        }
        mr_rt.changes[at] = point;
    }
}

static void note_threads(const mr_thread *self)
{
    for (const mr_thread *thread = mr_rt.threads; thread != NULL; thread = thread->next) {
        if (thread->id != 0 && thread->state == MR_DONE && !thread->detached &&
            !thread->waited_for) {
            mr_write_object(MR_LOG_NOTE, 0, NULL, 0, MR_LOG_NOTE_LEFT, thread->id);
        }
    }
    if (self != NULL) {
        mr_ignore_note_end(self);
    }
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    mr_thread *self = mr_rt.logging ? mr_enter() : NULL;
    if (self != NULL) {
        mr_exit_end(self);
    }
    if (!mr_rt.logging || (self == NULL && mr_rt.alive > 0)) {
        return;
    }
    note_threads(self);
    mr_steer_exit();
    mr_write_object(MR_LOG_EXIT, 0, NULL, 0, 0, (uint64_t)status);
    mr_rt.header->exit_status = status;
    mr_inputs_end();
    mr_writer_close(MR_LOG_EXITED, 0);
}

/* The path of the log, and a number behind it. */
static void child_path(char *path, size_t room, uint32_t number)
{
    enum { MOST_DIGITS = 16 };
    size_t length = mr_copy_text(path, room - MOST_DIGITS, mr_log_file_path());
    path[length++] = '.';
    length += mr_copy_number(path + length, number);
    path[length] = '\0';
}

/* Another program of this recording has the log. Then this one is as a child of it: it has a log of its
 * own, or it is not recorded and says so when it has threads. */
static bool open_beside(void)
{
    char path[4096];
    mr_log_header *header = mr_writer_other_header();
    if (header == NULL) {
        return false;
    }
    if (mr_parse_number(secure_getenv(MR_LOG_ENV_FOLLOW_FORKS), 0) == 0) {
        mr_rt.is_child = true;
        mr_rt.header = header;
        return false;
    }
    child_path(path, sizeof path, __atomic_add_fetch(&header->forks, 1, __ATOMIC_RELAXED));
    mr_sys(SYS_munmap, (long)header, MR_LOG_HEADER_BYTES, 0, 0, 0, 0);
    return mr_writer_open(path);
}

static void start_recording(const char *path)
{
    if (!mr_writer_open(path) && !open_beside()) {
        return;
    }
    mr_rt.logging = true;
    mr_rt.schedule = parse_schedule(secure_getenv(MR_LOG_ENV_SCHEDULE));
    mr_rt.header->schedule = mr_rt.schedule;
    mr_rt.header->seed = mr_parse_number(secure_getenv(MR_LOG_ENV_SEED), 1);
    mr_rt.random = mr_rt.header->seed;
    mr_rt.max_events = mr_parse_number(secure_getenv(MR_LOG_ENV_MAX_EVENTS), 0);
    mr_rt.max_log_bytes = mr_parse_number(secure_getenv(MR_LOG_ENV_MAX_LOG), 0);
    mr_rt.follows_forks = mr_parse_number(secure_getenv(MR_LOG_ENV_FOLLOW_FORKS), 0) != 0;
    const char *on_deadlock = secure_getenv(MR_LOG_ENV_ON_DEADLOCK);
    mr_rt.waits_in_deadlock = on_deadlock != NULL && same_text(on_deadlock, "wait");
    mr_rt.ends_deadlock_soon = on_deadlock != NULL && same_text(on_deadlock, "soon");
    mr_rt.switch_events = mr_parse_number(secure_getenv(MR_LOG_ENV_SWITCH_EVENTS), 0);
    mr_rt.logged = UINT32_MAX;
    mr_explore_start();
    draw_changes(mr_parse_number(secure_getenv(MR_LOG_ENV_PCT_DEPTH), 3));
    mr_budget_renew();
    mr_steer_start();
    mr_modules_log();
    mr_inputs_start(mr_log_file_path());
    mr_operands_start();
    mr_file_reads_start();
    mr_modules_tell();
    if (mr_thread_main()) {
        mr_clocks_start();
        mr_rt.active = true;
        mr_suppressions_log();
        mr_shared_maps_log();
    }
}

static void start_process(const char *path)
{
    start_recording(path);
    if (mr_rt.active) {
        pthread_atfork(NULL, NULL, mr_stop_in_child); /* before handlers of the program */
        on_exit(at_exit, NULL);
    }
}

void mr_init(void)
{
    static bool done;
    const char *path = secure_getenv(MR_LOG_ENV_FILE);
    if (done) {
        return;
    }
    done = true;
    if (path != NULL && path[0] != '\0') {
        start_process(path);
    }
}

__attribute__((constructor(101))) static void constructed(void)
{
    mr_init();
}

void mr_stop_in_child(void)
{
    if (mr_rt.active) {
        mr_clocks_stop();
    }
    mr_rt.is_child = mr_rt.is_child || mr_rt.logging;
    mr_rt.has_threads = false;
    mr_rt.active = false;
    mr_rt.logging = false;
    if (mr_self != NULL && mr_self->held != 0) {
        mr_signals_forget(mr_self);
    }
    mr_self = NULL;
    mr_operands_forget();
    mr_inputs_forget(); /* now what it asks the system is no input of the parent */
}

void mr_child_has_thread(void)
{
    if (mr_rt.is_child) {
        if (!mr_rt.has_threads) {
            mr_rt.has_threads = true;
            __atomic_add_fetch(&mr_rt.header->children, 1, __ATOMIC_RELAXED);
        }
        __atomic_add_fetch(&mr_rt.header->child_threads, 1, __ATOMIC_RELAXED);
    }
}

void mr_follow_in_child(uint32_t number)
{
    char path[4096];
    if (!mr_rt.is_child) {
        return;
    }
    child_path(path, sizeof path, number);
    mr_rt = (mr_runtime){.active = false};
    mr_writer_forget();
    mr_annotated_lock_forget();
    mr_modules_forget();
    mr_log_file_forget();
    mr_arena_forget();
    start_recording(path);
}
