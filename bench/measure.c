#include "measure.h"

#include "base/seconds.h"
#include "engine/predict.h"
#include "formats/read.h"
#include "generate.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static mr_status read_input(const char *input, mr_trace **trace, double *seconds, mr_error *error)
{
    mr_read_options options = {0};
    const mr_bench_shape *shape = mr_bench_shape_find(input);
    size_t length = 0;
    char *text = shape != NULL ? mr_bench_generate(shape, &length) : NULL;
    if (shape != NULL && text == NULL)
        return mr_error_memory(error, "generating a trace");
    double start = mr_seconds();
    mr_status status = shape != NULL
                           ? mr_trace_read_text(input, text, length, &options, trace, error)
                           : mr_trace_read(input, &options, trace, error);
    *seconds = mr_seconds() - start;
    free(text);
    return status;
}

/* Applies "key=value" settings. */
static mr_status configure(mr_config *config, const char *const *settings, mr_error *error)
{
    for (; *settings != NULL; settings++) {
        char key[64];
        const char *value = strchr(*settings, '=');
        if (value == NULL || (size_t)(value - *settings) >= sizeof key)
            return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "'%s' is not key=value", *settings);
        snprintf(key, sizeof key, "%.*s", (int)(value - *settings), *settings);
        mr_status status = mr_config_set(config, key, value + 1, NULL, 0, error);
        if (status != MR_OK)
            return status;
    }
    return mr_config_check(config, error);
}

static mr_status predict(const mr_bench_task *task, const mr_config *config, mr_bench_row *row,
                         mr_error *error)
{
    mr_trace *trace = NULL;
    mr_result result = {0};
    double read_seconds = 0;
    mr_status status = read_input(task->input, &trace, &read_seconds, error);
    if (status == MR_OK)
        status = mr_predict(trace, config, NULL, &result, error);
    row->events = trace != NULL ? trace->event_count : 0;
    row->races = result.race_count;
    row->unknown = result.unknown_count;
    row->stats = result.stats;
    row->run = result.run;
    row->run.read_seconds = read_seconds;
    row->run.total_seconds += read_seconds;
    mr_result_free(&result);
    mr_trace_free(trace);
    return status;
}

/* The work of the child: fills the row and sends it. */
static void run_child(const mr_bench_task *task, int out)
{
    mr_bench_row row = {0};
    mr_error error = {0};
    alarm(task->limit_seconds);
    mr_config *config = mr_config_new();
    mr_status status = config != NULL ? configure(config, task->settings, &error)
                                      : mr_error_memory(&error, "starting a measurement");
    if (status == MR_OK)
        status = predict(task, config, &row, &error);
    mr_config_free(config);
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    row.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    row.finished = status == MR_OK;
    if (status != MR_OK)
        mr_error_line(&error, row.problem, sizeof row.problem);
    ssize_t sent =
        write(out, &row, sizeof row); /* fits in the pipe's buffer: at once or not at all */
    _exit(sent == (ssize_t)sizeof row ? 0 : 1);
}

static void explain(const mr_bench_task *task, int wait_status, mr_bench_row *row)
{
    row->finished = false;
    if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM)
        snprintf(row->problem, sizeof row->problem, "stopped after %u s", task->limit_seconds);
    else if (WIFSIGNALED(wait_status))
        snprintf(row->problem, sizeof row->problem, "killed by signal %d", WTERMSIG(wait_status));
    else
        snprintf(row->problem, sizeof row->problem, "ended with status %d",
                 WEXITSTATUS(wait_status));
}

void mr_bench_measure(const mr_bench_task *task, mr_bench_row *row)
{
    int ends[2], wait_status = 0;
    *row = (mr_bench_row){0};
    fflush(NULL);
    if (pipe(ends) != 0) {
        snprintf(row->problem, sizeof row->problem, "no pipe: %s", strerror(errno));
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(task, ends[1]);
    }
    close(ends[1]);
    ssize_t got = child > 0 ? read(ends[0], row, sizeof *row) : -1;
    close(ends[0]);
    if (child < 0) {
        snprintf(row->problem, sizeof row->problem, "no process: %s", strerror(errno));
        return;
    }
    waitpid(child, &wait_status, 0);
    if (got != (ssize_t)sizeof *row)
        explain(task, wait_status, row);
}
