#include "api.h"
#include "base/memory.h"
#include "engine/predict.h"
#include "report/predict_report.h"
#include "witness/file.h"
#include "witness/pack.h"

#include <errno.h>
#include <stdlib.h>

struct mr_prediction {
    const mr_trace *trace; /* borrowed */
    mr_config *config;     /* owned: the values in force */
    mr_result result;
};

/* NULL: no memory. */
static mr_prediction *prediction_new(const mr_trace *trace, const mr_config *config)
{
    mr_prediction *self = mr_calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->trace = trace;
    self->config = config != NULL ? mr_config_clone(config) : mr_config_new();
    if (self->config != NULL)
        return self;
    free(self);
    return NULL;
}

/* Callers may keep pointers to the events of every witness. */
static mr_status open_witness(const mr_prediction *self, mr_witness *witness, mr_error *error)
{
    mr_witness room;
    const mr_witness *open = mr_witness_open(self->trace, witness, &room);
    if (open == NULL)
        return mr_error_memory(error, "unpacking a witness");
    if (open == witness)
        return MR_OK;
    mr_witness_free(witness);
    *witness = room;
    return MR_OK;
}

static mr_status run(mr_prediction *self, mr_error *error)
{
    mr_status status = mr_config_check(self->config, error);
    if (status == MR_OK)
        status = mr_predict(self->trace, self->config, NULL, &self->result, error);
    for (size_t i = 0; i < self->result.race_count && status == MR_OK; i++)
        status = open_witness(self, &self->result.races[i].witness, error);
    for (size_t i = 0; i < self->result.finding_count && status == MR_OK; i++)
        status = open_witness(self, &self->result.findings[i].witness, error);
    return status;
}

bool mr_prediction_run(const mr_trace *trace, const mr_config *config, mr_prediction **prediction,
                       mr_failure *failure)
{
    mr_error error = {0};
    *prediction = prediction_new(trace, config);
    mr_status status = *prediction != NULL ? run(*prediction, &error)
                                           : mr_error_memory(&error, "starting a prediction");
    return mr_failure_set(failure, status, &error);
}

void mr_prediction_free(mr_prediction *prediction)
{
    if (prediction == NULL)
        return;
    mr_result_free(&prediction->result);
    mr_config_free(prediction->config);
    free(prediction);
}

size_t mr_prediction_race_count(const mr_prediction *prediction)
{
    return prediction->result.race_count;
}

void mr_prediction_get_race(const mr_prediction *prediction, size_t index, mr_race_info *race)
{
    const mr_race *item = &prediction->result.races[index];
    *race = (mr_race_info){.first = item->witness.first,
                           .second = item->witness.second,
                           .window_start = item->witness.window_start,
                           .window_end = item->witness.window_end,
                           .witness = item->witness.events,
                           .witness_count = item->witness.event_count,
                           .order = mr_strength_name(item->strength),
                           .confirmed_by = mr_step_name(item->confirmed_by),
                           .kind = mr_witness_kind_name(item->witness.kind)};
}

size_t mr_prediction_unknown_count(const mr_prediction *prediction)
{
    return prediction->result.unknown_count;
}

void mr_prediction_get_unknown(const mr_prediction *prediction, size_t index,
                               mr_unknown_info *unknown)
{
    const mr_unknown *item = &prediction->result.unknowns[index];
    *unknown = (mr_unknown_info){.first = item->first,
                                 .second = item->second,
                                 .window_start = item->window_start,
                                 .window_end = item->window_end,
                                 .order = mr_strength_name(item->strength),
                                 .reason = mr_unknown_reason_name(item->reason),
                                 .detail = item->detail};
}

size_t mr_prediction_finding_count(const mr_prediction *prediction)
{
    return prediction->result.finding_count;
}

void mr_prediction_get_finding(const mr_prediction *prediction, size_t index,
                               mr_finding_info *finding)
{
    const mr_finding *item = &prediction->result.findings[index];
    const mr_witness *witness = &item->witness;
    *finding = (mr_finding_info){.kind = mr_witness_kind_name(witness->kind),
                                 .first = witness->first,
                                 .second = witness->second,
                                 .freed = witness->freed,
                                 .waits = witness->waits,
                                 .wait_count = witness->wait_count,
                                 .window_start = witness->window_start,
                                 .window_end = witness->window_end,
                                 .witness = witness->events,
                                 .witness_count = witness->event_count,
                                 .confirmed_by = mr_step_name(item->confirmed_by)};
}

size_t mr_prediction_finding_unknown_count(const mr_prediction *prediction)
{
    return prediction->result.finding_unknown_count;
}

void mr_prediction_get_finding_unknown(const mr_prediction *prediction, size_t index,
                                       mr_finding_unknown_info *unknown)
{
    const mr_finding_unknown *item = &prediction->result.finding_unknowns[index];
    *unknown = (mr_finding_unknown_info){.kind = mr_witness_kind_name(item->kind),
                                         .first = item->first,
                                         .second = item->second,
                                         .window_start = item->window_start,
                                         .window_end = item->window_end,
                                         .reason = mr_unknown_reason_name(item->reason),
                                         .detail = item->detail};
}

bool mr_prediction_write_text(const mr_prediction *prediction, FILE *stream, mr_failure *failure)
{
    mr_error error;
    bool ok = mr_predict_report_text(stream, prediction->trace, prediction->config,
                                     &prediction->result, &error) == MR_OK;
    return mr_api_written(ok, "writing the report", failure);
}

bool mr_prediction_write_json(const mr_prediction *prediction, FILE *stream, mr_failure *failure)
{
    mr_error error = {0};
    mr_status status = mr_predict_report_json(stream, prediction->trace, prediction->config,
                                              &prediction->result, &error);
    return mr_failure_set(failure, status, &error);
}

static bool write_witness(const mr_prediction *prediction, const mr_witness *witness, FILE *stream,
                          mr_failure *failure)
{
    errno = 0;
    bool ok = mr_witness_write(stream, prediction->trace, witness) && fflush(stream) == 0;
    return mr_api_written(ok, "writing the witness", failure);
}

bool mr_prediction_write_witness(const mr_prediction *prediction, size_t index, FILE *stream,
                                 mr_failure *failure)
{
    return write_witness(prediction, &prediction->result.races[index].witness, stream, failure);
}

bool mr_prediction_write_finding(const mr_prediction *prediction, size_t index, FILE *stream,
                                 mr_failure *failure)
{
    return write_witness(prediction, &prediction->result.findings[index].witness, stream, failure);
}
