#include "progress.h"

#include "base/seconds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The time before the line appears, and the least time between two versions of it. */
static const double delay_seconds = 1, pause_seconds = 0.1;

typedef enum unit {
    UNIT_EVENTS,
    UNIT_BYTES,
    UNIT_PIECES, /* what the stage is named after, "windows" for example */
} unit;

static unit unit_of(const char *stage)
{
    static const struct {
        const char *stage;
        unit unit;
    } rows[] = {
        {"reading", UNIT_BYTES},    {"converting", UNIT_BYTES}, {"windows", UNIT_PIECES},
        {"far races", UNIT_PIECES}, {"witnesses", UNIT_PIECES}, {"candidates", UNIT_PIECES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].stage, stage) == 0)
            return rows[i].unit;
    return UNIT_EVENTS;
}

void mr_cli_progress_text(const char *stage, uint64_t done, uint64_t total, double rate,
                          char *buffer, size_t size_bytes)
{
    char far[64] = "", fast[64] = "";
    unit counted = unit_of(stage);
    if (counted == UNIT_PIECES && total > 0)
        snprintf(far, sizeof far, " %" PRIu64 " of %" PRIu64, done, total);
    else if (total > 0)
        snprintf(far, sizeof far, " %d %%",
                 done < total ? (int)(100.0 * (double)done / (double)total) : 100);
    else if (counted == UNIT_BYTES)
        snprintf(far, sizeof far, " %.1f MB", (double)done / 1e6);
    else if (counted == UNIT_EVENTS)
        snprintf(far, sizeof far, " %.1f million events", (double)done / 1e6);
    else
        snprintf(far, sizeof far, " %" PRIu64, done);
    if (counted == UNIT_BYTES)
        snprintf(fast, sizeof fast, ", %.1f MB/s", rate / 1e6);
    else if (counted == UNIT_EVENTS)
        snprintf(fast, sizeof fast, ", %.2f million events/s", rate / 1e6);
    else
        snprintf(fast, sizeof fast, ", %.1f/s", rate);
    snprintf(buffer, size_bytes, "%s%s%s", stage, far, fast);
}

static void report(void *context, const char *stage, uint64_t done, uint64_t total)
{
    mr_cli_progress *self = context;
    double now = mr_seconds();
    if (self->stage == NULL || strcmp(self->stage, stage) != 0 || done < self->stage_done) {
        self->stage = stage;
        self->stage_done = done;
        self->stage_seconds = now;
    }
    if (now - self->start_seconds < delay_seconds || now - self->shown_seconds < pause_seconds)
        return;
    char text[160];
    double seconds = now - self->stage_seconds;
    double rate = seconds > 0 ? (double)(done - self->stage_done) / seconds : 0;
    mr_cli_progress_text(stage, done, total, rate, text, sizeof text);
    fprintf(stderr, "\r%.78s\033[K", text);
    fflush(stderr);
    self->shown = true;
    self->shown_seconds = now;
}

static void ignore(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)context;
    (void)stage;
    (void)done;
    (void)total;
}

void mr_cli_progress_start(mr_cli_progress *self, const mr_config *config)
{
    *self = (mr_cli_progress){.start_seconds = mr_seconds()};
    self->active = !mr_config_bool(config, "quiet") && isatty(STDERR_FILENO) == 1;
    self->progress = (mr_progress){.report = self->active ? report : ignore, .context = self};
}

void mr_cli_progress_end(mr_cli_progress *self)
{
    if (!self->shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    self->shown = false;
}
