/*
 * Whole-trace orders in use: prints the static races of an order on a trace file of any size.
 *
 *   gcc orders.c $(pkg-config --cflags --libs maxrace) -o orders && ./orders syncp bank.std
 */
#include <maxrace.h>

#include <inttypes.h>
#include <stdlib.h>

static void print_races(const mr_order_report *report)
{
    mr_order_counts counts;
    mr_order_report_get_counts(report, &counts);
    printf("%s: %" PRIu64 " racy events, %zu static races, %zu of them proven\n", counts.relation,
           counts.racy_events, counts.static_races, counts.proven);
    for (size_t i = 0; i < counts.static_races; i++) {
        mr_order_race_info race;
        mr_event first, second;
        mr_order_report_get_race(report, i, &race);
        mr_order_report_get_example(report, i, 0, &first, &second);
        printf("%s: %s at %s with %s at %s (%s)\n", first.operand_text, first.thread_text,
               first.location_text, second.thread_text, second.location_text, race.status);
    }
}

int main(int argc, char **argv)
{
    mr_failure *failure = mr_failure_create();
    mr_config *config = mr_config_create();
    mr_order_report *report = NULL;
    bool complete = false;
    if (failure == NULL || config == NULL || argc != 3)
        fprintf(stderr, "usage: orders hb|fhb|shb|cp|wcp|syncp TRACE\n");
    else if (mr_config_assign(config, "relation", argv[1], failure))
        complete = mr_order_report_run_file(argv[2], config, &report, failure);
    if (report != NULL)
        print_races(report); /* also of what stands before the damage of a file */
    if (!complete && failure != NULL)
        fprintf(stderr, "%s\n", mr_failure_message(failure));
    mr_order_report_free(report);
    mr_config_destroy(config);
    mr_failure_destroy(failure);
    return complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
