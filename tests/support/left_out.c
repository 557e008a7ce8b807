#include "left_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "place_pairs.h"

#include "engine/predict.h"

#include <inttypes.h>

void mr_left_out_predicted(const mr_trace *trace, enum mr_left_out_by by, mr_pairs *pairs)
{
    static const char *const models[MR_BY_ORDERS] = {"rf", "value", "branch"};
    mr_config *config = mr_config_new();
    mr_result result = {0};
    mr_error error;
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "candidates.report", "static", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_config_set(config, "find", "races,memory", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_config_set(config, "model", models[by], NULL, 0, &error), MR_OK);
    mr_config_resolve(config);
    assert_int_equal(mr_predict(trace, config, NULL, &result, &error), MR_OK);
    assert_int_equal(result.unknown_count + result.finding_unknown_count, 0);
    for (size_t i = 0; i < result.race_count; i++)
        mr_place_pairs_add(pairs, trace, result.races[i].witness.first,
                           result.races[i].witness.second);
    for (size_t i = 0; i < result.finding_count; i++)
        mr_place_pairs_add(pairs, trace, result.findings[i].witness.first,
                           result.findings[i].witness.second);
    mr_result_free(&result);
    mr_config_free(config);
}

static void ordered(const mr_trace *trace, mr_relation relation, mr_pairs *pairs)
{
    mr_race_list list;
    mr_error error;
    assert_int_equal(mr_detect(relation, trace, &(mr_detect_options){0}, &list, &error), MR_OK);
    for (size_t i = 0; i < list.race_count; i++) {
        const mr_race_example *example = &list.examples[list.races[i].first_example];
        mr_place_pairs_add(pairs, trace, (uint32_t)example->first.event,
                           (uint32_t)example->second.event);
    }
    mr_race_list_free(&list);
}

/* Returns the number of pairs. */
static uint64_t compare_by(const mr_trace *part, const mr_trace *all, uint32_t by, uint64_t seed)
{
    mr_pairs some = {0}, every = {0};
    char leaves[32], adds[32];
    snprintf(leaves, sizeof leaves, "by %" PRIu32 " leaves out", by);
    snprintf(adds, sizeof adds, "by %" PRIu32 " adds", by);
    if (by < MR_BY_ORDERS) {
        mr_left_out_predicted(part, (enum mr_left_out_by)by, &some);
        mr_left_out_predicted(all, (enum mr_left_out_by)by, &every);
    } else {
        ordered(part, (mr_relation)(by - MR_BY_ORDERS), &some);
        ordered(all, (mr_relation)(by - MR_BY_ORDERS), &every);
    }
    mr_place_pairs_expect(&some, &every, seed, leaves);
    mr_place_pairs_expect(&every, &some, seed, adds);
    uint64_t count = every.count;
    mr_pairs_free(&some);
    mr_pairs_free(&every);
    return count;
}

static uint64_t plain_of(const mr_trace *trace)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < trace->event_count; i++)
        count += trace->op[i] == MR_OP_READ || trace->op[i] == MR_OP_WRITE;
    return count;
}

void mr_left_out_compare(const mr_log_build *log, enum mr_left_out_by model, uint32_t orders,
                         uint64_t seed, mr_left_out_counts *counts)
{
    mr_record_summary summary;
    mr_trace *part = mr_log_converted(log, false, &summary);
    mr_trace *all = mr_log_converted(log, true, &summary);
    counts->races += compare_by(part, all, model, seed);
    for (uint32_t relation = 0; relation < MR_RELATION_COUNT; relation++)
        if (orders >> relation & 1)
            counts->races += compare_by(part, all, MR_BY_ORDERS + relation, seed);
    counts->left_out += all->event_count - part->event_count;
    counts->plain_left_out += plain_of(all) - plain_of(part);
    counts->kept += part->event_count;
    mr_trace_free(part);
    mr_trace_free(all);
}
