#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predicted.h"

#include "report/predict_report.h"
#include "witness/checker.h"
#include "witness/pack.h"

#include <stdio.h>

void mr_settings_set(mr_config *config, const char *key, const char *value)
{
    mr_error error = {0};
    if (mr_config_set(config, key, value, NULL, 0, &error) != MR_OK)
        fail_msg("%s", error.text);
}

mr_config *mr_settings_of(const char *const *settings)
{
    mr_config *config = mr_config_new();
    assert_non_null(config);
    for (; *settings; settings += 2)
        mr_settings_set(config, settings[0], settings[1]);
    return config;
}

mr_result mr_predicted(const mr_trace *trace, const mr_config *config)
{
    mr_result result = {0};
    mr_error error = {0};
    if (mr_predict(trace, config, NULL, &result, &error) != MR_OK)
        fail_msg("%s", error.text);
    return result;
}

void mr_predicted_check(const mr_trace *trace, const mr_result *result)
{
    mr_error error = {0};
    mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *witness = &result->races[i].witness;
        const mr_witness *before = i ? &result->races[i - 1].witness : NULL;
        mr_witness room;
        const mr_witness *open = mr_witness_open(trace, witness, &room);
        assert_non_null(open);
        if (mr_checker_check(checker, open, &error) != MR_OK)
            fail_msg("race %zu: %s", i, error.text);
        mr_witness_free(&room);
        assert_true(!before || before->kind <= witness->kind);
        assert_true(!before || before->kind < witness->kind || before->second < witness->second ||
                    (before->second == witness->second && before->first < witness->first));
    }
    mr_checker_free(checker);
}

mr_result mr_predicted_right(const mr_trace *trace, const char *const *settings)
{
    mr_config *config = mr_settings_of(settings);
    mr_result result = mr_predicted(trace, config);
    mr_predicted_check(trace, &result);
    assert_int_equal(result.stats.rejected_witnesses, 0);
    mr_config_free(config);
    return result;
}

char *mr_predicted_report(const mr_trace *trace, const mr_config *config, const mr_result *result)
{
    mr_error error = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    if (mr_predict_report_json(stream, trace, config, result, &error) != MR_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fclose(stream), 0);
    return text;
}
