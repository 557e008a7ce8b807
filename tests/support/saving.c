#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "saving.h"

#include "generate_large.h"
#include "sample.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mr_scratch scratch;

int mr_saving_setup(void **state)
{
    (void)state;
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
    mr_scratch_make(&scratch);
    return 0;
}

int mr_saving_teardown(void **state)
{
    (void)state;
    mr_scratch_remove(&scratch);
    return 0;
}

const char *mr_saving_path(const char *name, char path[512])
{
    return mr_scratch_path(&scratch, name, path);
}

static void count_note(void *context, const char *line)
{
    assert_non_null(strchr(line, ':'));
    ++*(unsigned *)context;
}

void mr_saving_run(const mr_subject *s, mr_saving *t)
{
    mr_checkpoint *checkpoint = NULL;
    mr_result result = {0};
    mr_error close_error;
    bool uses_files = t->request.file || t->request.part_count;
    t->notes = 0;
    t->request.note = count_note;
    t->request.context = &t->notes;
    t->request.shard = t->shard;
    t->request.shards = t->shards;
    t->status = uses_files ? mr_predict_open_checkpoint(&t->request, s->trace, s->config,
                                                        &checkpoint, &t->error)
                           : MR_OK;
    if (t->status != MR_OK)
        return;
    const mr_predict_run run = {
        .halt = &t->halt, .checkpoint = checkpoint, .shard = t->shard, .shards = t->shards};
    t->status = mr_predict(s->trace, s->config, &run, &result, &t->error);
    mr_status closed = mr_checkpoint_close(checkpoint, &close_error);
    if (t->status == MR_OK && closed != MR_OK) {
        t->status = closed;
        t->error = close_error;
    }
    t->stats = result.stats;
    t->run = result.run;
    t->races = result.race_count;
    mr_predicted_check(s->trace, &result);
    t->report = mr_predicted_report(s->trace, s->config, &result);
    mr_result_free(&result);
}

void mr_saving_end(mr_saving *t)
{
    free(t->report);
    t->report = NULL;
}

void mr_subject_open(mr_subject *s, uint32_t shape, uint32_t events, const char *window)
{
    char *text = mr_generate_large(7, &mr_large_shapes[shape], events);
    assert_non_null(text);
    mr_subject_take(s, text, window);
    free(text);
}

void mr_subject_take(mr_subject *s, const char *text, const char *window)
{
    mr_saving t = {0};
    s->trace = mr_sample_trace(text);
    assert_non_null(s->trace);
    s->config = mr_config_new();
    mr_settings_set(s->config, "report.run", "false");
    mr_settings_set(s->config, "window.size", window);
    mr_settings_set(s->config, "jobs", "2");
    s->units = mr_predict_unit_count(s->trace, s->config);
    mr_saving_run(s, &t);
    assert_int_equal(t.status, MR_OK);
    assert_false(t.stats.incomplete);
    s->report = t.report;
}

void mr_subject_close(mr_subject *s)
{
    mr_trace_free(s->trace);
    mr_config_free(s->config);
    free(s->report);
}

void mr_saving_same(const mr_subject *s, mr_saving *t)
{
    mr_saving_run(s, t);
    if (t->status != MR_OK)
        fail_msg("%s", t->error.text);
    assert_string_equal(t->report, s->report);
    mr_saving_end(t);
}
