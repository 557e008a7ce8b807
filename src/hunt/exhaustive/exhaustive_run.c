#include "exhaustive_run.h"

#include "exhaustive_keep.h"
#include "hunt/model/model_log.h"
#include "record/log_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Does the thread of the next stop go on? Then the two are one step. */
static bool goes_on(const mr_explore_request *request, size_t i)
{
    return i + 1 < request->stop_count && request->stops[i + 1].thread == request->stops[i].thread;
}

static uint64_t count_steps(const mr_explore_request *request)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < request->stop_count; i++)
        steps += !goes_on(request, i);
    if (request->second != MR_PMODEL_NONE)
        return steps + 3; /* two stops and the goal */
    if (request->use)
        return steps + 2;
    return steps + (request->then != MR_PMODEL_NONE);
}

static uint64_t count_wakes(const mr_explore_request *request)
{
    uint64_t wakes = 0;
    for (size_t i = 0; i < request->stop_count; i++)
        wakes += request->stops[i].woken != MR_PMODEL_NONE;
    return wakes;
}

static void write_threads(const mr_pmodel *model, FILE *file)
{
    for (uint32_t t = 0; t < model->thread_count; t++) {
        const mr_pmodel_thread *its = &model->threads[t];
        if (its->parent == MR_PMODEL_NONE)
            fprintf(file, "thread %" PRIu32 " - 0 main\n", t);
        else
            fprintf(file, "thread %" PRIu32 " %" PRIu32 " %" PRIu32 " T%" PRIu32 "\n", t,
                    its->parent, its->nth, t);
    }
}

static void write_steps(const mr_explore_request *request, FILE *file)
{
    for (size_t i = 0; i < request->stop_count; i++) {
        const mr_explore_stop *stop = &request->stops[i];
        if (stop->woken != MR_PMODEL_NONE)
            fprintf(file, "wake %" PRIu32 " %" PRIu64 " %" PRIu32 "\n", stop->thread,
                    stop->wakes_at, stop->woken);
        if (!goes_on(request, i))
            fprintf(file, "run %" PRIu32 " %" PRIu64 "\n", stop->thread,
                    stop->position + stop->exits);
    }
    if (request->second != MR_PMODEL_NONE)
        fprintf(file, "stop %" PRIu32 " %" PRIu64 "\nstop %" PRIu32 " %" PRIu64 "\ngoal\n",
                request->then, request->then_from, request->second, request->second_from);
    else if (request->use)
        fprintf(file, "stop %" PRIu32 " %" PRIu64 "\ngoal\n", request->then, request->then_from);
    else if (request->then != MR_PMODEL_NONE)
        fprintf(file, "run %" PRIu32 " %" PRIu64 "\n", request->then, request->then_to);
}

mr_status mr_explore_schedule(const mr_explore_request *request, const mr_bytes *run,
                              const char *path, mr_error *error)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    fputs("maxrace schedule 1\n", file);
    if (run)
        fwrite(run->items, 1, run->count, file);
    fprintf(file, "loose\ncount 0 %" PRIu32 " %" PRIu64 " %" PRIu64 "\n",
            request->model->thread_count, count_steps(request), count_wakes(request));
    write_threads(request->model, file);
    write_steps(request, file);
    if (fclose(file) != 0)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    return MR_OK;
}

void mr_explore_program_free(mr_explore_program *program)
{
    free(program->output);
    mr_symbols_free(program->symbols);
    mr_runner_close(&program->runner);
}

/* What is mapped where. Addresses are not randomised, so the first run tells it for all. */
static mr_status map_modules(mr_explore_program *self, const char *path, mr_error *error)
{
    mr_log log;
    mr_log_pass pass;
    const uint64_t *record;
    bool ok = (self->symbols = mr_symbols_new(self->runner.symbol_folder)) != NULL;
    mr_status status = ok ? mr_log_open(&log, path, error) : MR_OK;
    if (!ok || status)
        return ok ? status : mr_error_memory(error, "naming addresses");
    mr_log_pass_init(&pass, &log);
    while (ok && (record = mr_log_next(&pass)) != NULL) {
        const mr_log_module *module = (const void *)record;
        size_t room = mr_log_payload(record[0]) * sizeof *record;
        if (mr_log_kind_of(record[0]) == MR_LOG_MODULE && room > sizeof *module &&
            memchr(module + 1, '\0', room - sizeof *module))
            ok = mr_symbols_map(
                self->symbols, (const char *)(module + 1), module->bias, module->start, module->end,
                module->build_id,
                module->build_id_bytes <= sizeof module->build_id ? module->build_id_bytes : 0);
    }
    mr_log_pass_free(&pass);
    mr_log_close(&log);
    return ok ? MR_OK : mr_error_memory(error, "naming addresses");
}

static mr_status learn(void *context, const char *log, const mr_run_end *end, mr_error *error)
{
    mr_explore_program *self = context;
    mr_model_log_end how = MR_MODEL_LOG_CUT;
    mr_status status = self->symbols ? MR_OK : map_modules(self, log, error);
    if (!status)
        status = mr_model_log_learn(log, end->signal && !end->timed_out, self->model, self->run,
                                    &how, self->ran->unseen, error);
    self->ran->is_cut = how == MR_MODEL_LOG_CUT && !end->timed_out;
    return status;
}

static void judge(mr_explore_program *self, mr_ran *ran)
{
    const mr_run_end *end = &ran->end;
    self->ran->exit_status = end->exit_status;
    self->ran->signal = end->signal;
    self->ran->reached_goal = ran->replay.outcome == MR_REPLAY_GOAL;
    self->ran->uses_freed = self->run->uses_freed;
    self->ran->end = end->timed_out    ? MR_EXPLORE_TIMEOUT
                     : end->deadlocked ? MR_EXPLORE_DEADLOCK
                     : end->signal     ? MR_EXPLORE_FAILED
                                       : MR_EXPLORE_FINE;
    free(self->output);
    self->output = ran->end.output;
    ran->end.output = NULL;
}

mr_status mr_explore_run_program(void *context, mr_pmodel *model, const mr_explore_request *request,
                                 mr_pmodel_run *run, mr_explore_ran *ran, mr_error *error)
{
    mr_explore_program *self = context;
    char schedule[MR_RUNNER_PATH_BYTES + 32];
    mr_ran how = {.trace = NULL};
    self->model = model;
    self->run = run;
    self->ran = ran;
    snprintf(schedule, sizeof schedule, "%s/schedule", self->runner.folder);
    mr_run_request wanted = {.arguments = self->arguments,
                             .input = self->input,
                             .seed = request->seed,
                             .timeout_ms = self->timeout_ms,
                             .keeps_inputs = true,
                             .needs_no_trace = true,
                             .explores = true,
                             .read_log = learn,
                             .context = self};
    mr_status status = MR_OK;
    if (request->stop_count || request->then != MR_PMODEL_NONE) {
        status = mr_explore_schedule(request, NULL, schedule, error);
        wanted.schedule = schedule;
    }
    if (!status)
        status = mr_runner_run(&self->runner, &wanted, &how, error);
    if (!status && self->folder)
        status = mr_explore_keep(self->folder, self, request, &how, error);
    if (!status)
        judge(self, &how);
    mr_ran_free(&how);
    unlink(schedule);
    return status;
}
