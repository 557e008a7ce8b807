#include "exhaustive_keep.h"

#include "exhaustive_report.h"
#include "hunt/program/behaviour.h"
#include "hunt/program/outcome.h"
#include "hunt/program/saved.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDER_BYTES = 3300 };

static mr_status make_folder(const char *path, mr_error *error)
{
    if (mkdir(path, 0777) == 0)
        return MR_OK;
    if (errno == EEXIST)
        return mr_error_set(error, MR_ERR_IO, path, 0,
                            "is there already: choose another folder by --dir");
    return mr_error_set(error, MR_ERR_IO, path, 0, "cannot make the folder: %s", strerror(errno));
}

mr_status mr_explore_folder_make(mr_explore_folder *folder, const char *path, mr_error *error)
{
    char findings[FOLDER_BYTES];
    *folder = (mr_explore_folder){.path = path};
    snprintf(findings, sizeof findings, "%.3200s/findings", path);
    mr_status status = make_folder(path, error);
    return status ? status : make_folder(findings, error);
}

void mr_explore_folder_free(mr_explore_folder *folder)
{
    mr_map_free(&folder->found);
}

static mr_run_outcome shown(mr_run_kind kind, const mr_explore_program *program,
                            const mr_explore_request *request)
{
    mr_run_outcome outcome = {.kind = kind};
    FILE *text = fmemopen(outcome.text, sizeof outcome.text - 1, "w");
    if (text && request->race)
        mr_explore_print_race(request->model, program->symbols, request->race, text);
    else if (text)
        mr_explore_print_use(request->model, program->symbols, request->use, text);
    if (text)
        fclose(text);
    outcome.identity = mr_hash_join(mr_hash_text(outcome.text), kind);
    return outcome;
}

/* What the run showed; a race or a use of freed memory comes before how the run ended after it. */
static mr_run_outcome outcome_of(const mr_explore_folder *folder, mr_explore_program *program,
                                 const mr_explore_request *request, const mr_ran *ran)
{
    bool is_there = ran->replay.outcome == MR_REPLAY_GOAL;
    if (request->race && is_there)
        return shown(MR_RUN_RACE, program, request);
    if (request->use && is_there && program->run->uses_freed)
        return shown(MR_RUN_MEMORY, program, request);
    mr_run_outcome outcome = mr_outcome_of(ran, folder->has_status ? &folder->first : NULL);
    if (!mr_run_kind_fails(outcome.kind)) /* the order of what is written does not count */
        outcome.kind = MR_RUN_GOOD;
    return outcome;
}

static mr_status write_schedule(const mr_explore_program *program,
                                const mr_explore_request *request, const char *path,
                                mr_error *error)
{
    mr_bytes lines = {.items = NULL};
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, request->seed);
    mr_run_info_of_command(&lines, program->arguments, NULL, NULL, program->runner.descriptors);
    mr_run_line(&lines, "seed", seed);
    mr_run_line(&lines, "schedule", "random");
    mr_status status = lines.failed ? mr_error_memory(error, "saving a finding")
                                    : mr_explore_schedule(request, &lines, path, error);
    mr_bytes_free(&lines);
    return status;
}

/* Does the schedule lead to the same again? */
static mr_status try_again(const mr_explore_folder *folder, mr_explore_program *program,
                           const mr_explore_request *request, const mr_run_outcome *outcome,
                           const char *schedule, bool *same, mr_error *error)
{
    mr_ran again = {.trace = NULL};
    const mr_run_request wanted = {.arguments = program->arguments,
                                   .input = program->input,
                                   .seed = request->seed,
                                   .timeout_ms = program->timeout_ms,
                                   .keeps_inputs = true,
                                   .needs_no_trace = true,
                                   .explores = true,
                                   .schedule = schedule};
    mr_status status = mr_runner_run(&program->runner, &wanted, &again, error);
    if (!status)
        *same = outcome_of(folder, program, request, &again).identity == outcome->identity;
    mr_ran_free(&again);
    return status;
}

static mr_status write_report(const char *folder, const mr_explore_program *program,
                              const mr_run_outcome *outcome, const mr_ran *ran, bool same,
                              mr_error *error)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = open_memstream(&text, &room);
    if (!file)
        return mr_error_memory(error, "saving a finding");
    fprintf(file, "%s: %s\nprogram:", mr_run_kind_name(outcome->kind), outcome->text);
    for (size_t i = 0; program->arguments[i]; i++)
        fprintf(file, " %s", program->arguments[i]);
    fprintf(file, "\nfound by: --exhaustive\n%sexit status: %d\nreplay: %s\n",
            program->runner.has_sandbox ? "sandbox: yes\n" : "", ran->end.exit_status,
            same ? "does the same again" : "did something else; a run by the seed may differ");
    mr_status status = fclose(file) == 0 ? mr_saved_text(folder, "report.txt", text, error)
                                         : mr_error_memory(error, "saving a finding");
    free(text);
    return status;
}

static mr_status save(const mr_explore_folder *folder, mr_explore_program *program,
                      const mr_explore_request *request, const mr_run_outcome *outcome,
                      const mr_ran *ran, mr_error *error)
{
    char place[FOLDER_BYTES], schedule[FOLDER_BYTES + 16];
    bool same = false;
    snprintf(place, sizeof place, "%.3200s/findings/%" PRIu32 "-%s", folder->path, folder->count,
             mr_run_kind_name(outcome->kind));
    snprintf(schedule, sizeof schedule, "%s/schedule", place);
    mr_status status = make_folder(place, error);
    if (!status)
        status = write_schedule(program, request, schedule, error);
    if (!status)
        status = try_again(folder, program, request, outcome, schedule, &same, error);
    if (!status)
        status = mr_saved_text(place, "output", ran->end.output, error);
    if (!status)
        status = mr_saved_text(place, "errors", ran->end.errors, error);
    return status ? status : write_report(place, program, outcome, ran, same, error);
}

mr_status mr_explore_keep(mr_explore_folder *folder, mr_explore_program *program,
                          const mr_explore_request *request, const mr_ran *ran, mr_error *error)
{
    mr_run_outcome outcome = outcome_of(folder, program, request, ran);
    if (outcome.kind == MR_RUN_GOOD) {
        if (!folder->has_status)
            folder->first = (mr_run_end){.is_there = true, .exit_status = ran->end.exit_status};
        folder->has_status = true;
        return MR_OK;
    }
    uint32_t *known = mr_map_at(&folder->found, outcome.identity, 0);
    if (!known)
        return mr_error_memory(error, "saving a finding");
    if (*known)
        return MR_OK;
    *known = ++folder->count;
    return save(folder, program, request, &outcome, ran, error);
}
