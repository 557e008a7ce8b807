/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "early.h"

#include "base/memory.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct mr_early {
    char *path;
    pthread_t thread;
    bool started, follows, failed;
    atomic_bool stop;
    mr_log log;
    mr_scan scan;
};

static void *run(void *argument)
{
    mr_early *self = argument;
    const struct timespec moment = {.tv_nsec = 2000000};
    while (!atomic_load(&self->stop) && !self->failed) {
        if (!self->follows && mr_log_follow(&self->log, self->path)) {
            self->follows = true;
            mr_scan_begin(&self->scan, &self->log);
        }
        if (self->follows) {
            mr_log_follow_on(&self->log);
            self->failed = !mr_scan_go_on(&self->scan, &self->stop);
        }
        nanosleep(&moment, NULL);
    }
    return NULL;
}

mr_early *mr_early_start(const char *log_path, const mr_record_options *options)
{
    mr_early *self = mr_thread_cores() > 1 ? mr_calloc(1, sizeof *self) : NULL;
    if (!self)
        return NULL;
    mr_scan_init(&self->scan, options->keep_local, options->part_units);
    if (options->leave_ordered)
        mr_scan_leave_ordered(&self->scan);
    self->path = mr_strndup(log_path, strlen(log_path));
    self->started = self->path && mr_thread_start(&self->thread, run, self);
    if (self->started)
        return self;
    mr_early_free(self);
    return NULL;
}

mr_scan *mr_early_end(mr_early *self)
{
    if (self->started) {
        atomic_store(&self->stop, true);
        pthread_join(self->thread, NULL);
        self->started = false;
    }
    return self->follows && !self->failed ? &self->scan : NULL;
}

void mr_early_free(mr_early *self)
{
    if (!self)
        return;
    mr_early_end(self);
    mr_scan_free(&self->scan);
    mr_log_close(&self->log);
    free(self->path);
    free(self);
}
