#include "base/memory.h"
#include "hunt/program/minimise.h"
#include "hunt/program/saved.h"
#include "shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REPLAYS_MOST = 60, REPLAYS_OF_LIVELOCK = 4 /* each takes all of its time */ };

typedef char long_path[MR_STORE_PATH_BYTES + 64];

static mr_status failed(mr_error *error, const char *path)
{
    return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
}

/* Who ran when, one line for each piece between two switches. */
static void tell_order(FILE *file, const mr_trace *trace)
{
    enum { PIECES = 200 };
    uint32_t pieces = 0;
    for (uint32_t event = 0; event < trace->event_count;) {
        uint32_t end = event + 1, thread = trace->thread[event];
        while (end < trace->event_count && trace->thread[end] == thread)
            end++;
        if (pieces++ < PIECES)
            fprintf(file, "  %-12s %6" PRIu32 " events, from %s to %s\n",
                    mr_names_display(&trace->threads, thread), end - event,
                    mr_names_display(&trace->locations, trace->location[event]),
                    mr_names_display(&trace->locations, trace->location[end - 1]));
        event = end;
    }
    if (pieces > PIECES)
        fprintf(file, "  … and %" PRIu32 " more\n", pieces - PIECES);
}

static mr_status write_report(const char *folder, const mr_hunt_worker *worker,
                              const mr_run_request *request, const mr_finding_line *line,
                              const mr_ran *ran, const mr_minimise *minimise, mr_error *error)
{
    long_path path;
    snprintf(path, sizeof path, "%.3400s/report.txt", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return failed(error, path);
    fprintf(file, "%s: %s\n", line->kind, line->text);
    fputs("program:", file);
    const char *const *arguments =
        worker->hunt->source ? worker->place.arguments : worker->hunt->options->arguments;
    for (size_t i = 0; arguments[i]; i++)
        fprintf(file, " %s", arguments[i]);
    if (worker->hunt->source)
        fprintf(file, "\ninput: %s%s", worker->place.path,
                worker->place.is_stdin ? ", its standard input" : "");
    fprintf(file, "\nrun: %" PRIu64 " of the hunt\n", line->run);
    if (worker->runner.has_sandbox)
        fputs("sandbox: yes\n", file);
    if (request->explores)
        fputs("found by: states\n", file); /* hunt_replay.c: operations are counted otherwise */
    if (minimise)
        fprintf(file, "replay: %s, after %u runs to make the schedule shorter\n",
                minimise->repeats
                    ? "fails in the same way"
                    : "does not fail in the same way; the schedule is that of the run",
                minimise->runs);
    fprintf(file, "context switches: %" PRIu32 "\n", mr_switch_count(ran->trace));
    tell_order(file, ran->trace);
    return fclose(file) == 0 ? MR_OK : failed(error, path);
}

/* The schedule of a failure: the shortest that was found. */
static mr_status keep_failure(mr_hunt_worker *worker, const mr_run_request *request, mr_ran *ran,
                              const mr_run_outcome *outcome, const char *schedule,
                              const char *trace, mr_minimise *minimise, mr_error *error)
{
    mr_hunting *hunt = worker->hunt;
    *minimise = (mr_minimise){.runner = &worker->runner,
                              .request = *request,
                              .reference = worker->reference,
                              .oracle = hunt->options->oracle,
                              .identity = outcome->identity,
                              .trace = trace,
                              .most_runs = !hunt->options->minimises          ? 1
                                           : outcome->kind == MR_RUN_LIVELOCK ? REPLAYS_OF_LIVELOCK
                                                                              : REPLAYS_MOST};
    mr_status status = mr_minimise_run(minimise, ran, schedule, error);
    if (!status && !minimise->repeats && request->schedule)
        status = mr_saved_copy(request->schedule, schedule, error);
    return status;
}

static mr_status save(mr_hunt_worker *worker, const mr_run_request *request, mr_ran *best,
                      const mr_run_outcome *outcome, const mr_finding_line *line,
                      const char *folder, mr_error *error)
{
    long_path schedule, trace, inputs;
    mr_minimise minimise;
    bool failure = outcome->kind != MR_RUN_RACE;
    snprintf(schedule, sizeof schedule, "%.3400s/schedule", folder);
    snprintf(trace, sizeof trace, "%.3400s/trace.mrt", folder);
    snprintf(inputs, sizeof inputs, "%.3400s/inputs", folder);
    mr_status status =
        failure ? keep_failure(worker, request, best, outcome, schedule, trace, &minimise, error)
                : mr_saved_copy(request->schedule, schedule, error);
    if (!status && !(failure && minimise.repeats))
        status = mr_saved_copy(request->trace_path, trace, error);
    if (!status && request->feed)
        status = mr_saved_copy(request->feed, inputs, error);
    if (!status && worker->hunt->source) {
        snprintf(inputs, sizeof inputs, "%.3400s/input", folder);
        status = mr_saved_copy(worker->place.path, inputs, error);
    }
    if (!status)
        status = mr_saved_text(folder, "output", best->end.output, error);
    if (!status)
        status = mr_saved_text(folder, "errors", best->end.errors, error);
    if (!status) /* a replay asks it again */
        status = mr_saved_text(folder, "oracle", worker->hunt->options->oracle, error);
    if (!status)
        status =
            write_report(folder, worker, request, line, best, failure ? &minimise : NULL, error);
    if (failure) {
        pthread_mutex_lock(&worker->hunt->lock);
        worker->hunt->state.replays += minimise.runs;
        pthread_mutex_unlock(&worker->hunt->lock);
    }
    return status;
}

/* A folder that a session left which was ended before it said so in the journal. */
static void remove_old(const char *folder)
{
    static const char *const names[] = {"schedule", "trace.mrt", "inputs", "input",
                                        "output",   "errors",    "oracle", "report.txt"};
    long_path path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%.3400s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

mr_status mr_hunt_keep(mr_hunt_worker *worker, const mr_run_request *request, mr_ran *ran,
                       const mr_run_outcome *outcome, mr_finding_line *line, mr_error *error)
{
    long_path folder, path;
    mr_hunting *hunt = worker->hunt;
    mr_store_finding_path(&hunt->store, line, "", path);
    snprintf(folder, sizeof folder, "%s/finding-%" PRIu32, worker->runner.folder, line->number);
    if (mkdir(folder, 0777) != 0)
        return failed(error, folder);
    mr_status status = save(worker, request, ran, outcome, line, folder, error);
    remove_old(path);
    if (!status && rename(folder, path) != 0)
        status = failed(error, path);
    if (status)
        return status;
    pthread_mutex_lock(&hunt->lock);
    status = mr_hunt_share(hunt, error);
    if (!status)
        status = mr_store_finding(&hunt->store, line, error);
    mr_claims_drop(&hunt->claims, MR_CLAIM_IDENTITY, line->identity);
    mr_claims_drop(&hunt->claims, MR_CLAIM_FINDING, line->number);
    mr_hunt_unshare(hunt);
    pthread_mutex_unlock(&hunt->lock);
    return status;
}
