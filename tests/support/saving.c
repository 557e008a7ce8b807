#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "saving.h"

#include "generate_large.h"
#include "report/report.h"
#include "sample.h"
#include "witness/checker.h"
#include "witness/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count_note(void *context, const char *line)
{
    assert_non_null(strchr(line, ':'));
    ++*(unsigned *)context;
}

void mr_subject_set(mr_config *config, const char *key, const char *value)
{
    mr_error error;
    if (mr_config_set(config, key, value, NULL, 0, &error) != MR_OK)
        fail_msg("%s", error.text);
}

static char *report_of(const mr_subject *s, const mr_result *result)
{
    mr_error error;
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(mr_report_json(stream, s->trace, s->config, result, &error), MR_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* Every race that is reported is one. */
static void check_races(const mr_subject *s, const mr_result *result)
{
    mr_error error;
    mr_checker *checker = mr_checker_new(s->trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    for (size_t i = 0; i < result->race_count; i++) {
        mr_witness room;
        const mr_witness *open = mr_witness_open(s->trace, &result->races[i].witness, &room);
        assert_non_null(open);
        if (mr_checker_check(checker, open, &error) != MR_OK)
            fail_msg("%s", error.text);
        mr_witness_free(&room);
    }
    mr_checker_free(checker);
}

void mr_saving_run(const mr_subject *s, mr_saving *t)
{
    mr_saved *saved = NULL;
    mr_result result = {0};
    mr_error close_error;
    bool uses_files = t->request.file || t->request.part_count;
    t->notes = 0;
    t->request.note = count_note;
    t->request.context = &t->notes;
    t->request.shard = t->shard;
    t->request.shards = t->shards;
    t->status =
        uses_files ? mr_saved_open(&t->request, s->trace, s->config, &saved, &t->error) : MR_OK;
    if (t->status != MR_OK)
        return;
    const mr_predict_run run = {
        .halt = &t->halt, .saved = saved, .shard = t->shard, .shards = t->shards};
    t->status = mr_predict(s->trace, s->config, &run, &result, &t->error);
    mr_status closed = mr_saved_close(saved, &close_error);
    if (t->status == MR_OK && closed != MR_OK) {
        t->status = closed;
        t->error = close_error;
    }
    t->stats = result.stats;
    t->run = result.run;
    t->races = result.race_count;
    check_races(s, &result);
    t->report = report_of(s, &result);
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
    mr_saving t = {0};
    assert_non_null(text);
    s->trace = mr_sample_trace(text);
    free(text);
    assert_non_null(s->trace);
    s->config = mr_config_new();
    mr_subject_set(s->config, "report.run", "false");
    mr_subject_set(s->config, "window.size", window);
    mr_subject_set(s->config, "jobs", "2");
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
