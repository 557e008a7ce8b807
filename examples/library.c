/*
 * The library in use: prints the races of a trace, one line each.
 *
 *   gcc library.c $(pkg-config --cflags --libs maxrace) -o races && ./races bank.std
 */
#include <maxrace.h>

#include <inttypes.h>
#include <stdlib.h>

static void print_race(const mr_trace *trace, const mr_race_info *race)
{
    mr_event first, second;
    mr_trace_get_event(trace, race->first, &first);
    mr_trace_get_event(trace, race->second, &second);
    printf("%s: %s at %s races with %s at %s (%s), after %" PRIu32 " other events\n",
           first.operand_text, first.thread_text, first.location_text, second.thread_text,
           second.location_text, race->order, race->witness_count);
}

/* Returns the number of races, or -1. */
static long print_races(const mr_trace *trace, const mr_config *config, mr_failure *failure)
{
    mr_prediction *prediction = NULL;
    bool complete = mr_prediction_run(trace, config, &prediction, failure);
    size_t count = prediction != NULL ? mr_prediction_race_count(prediction) : 0;
    for (size_t i = 0; i < count; i++) {
        mr_race_info race;
        mr_prediction_get_race(prediction, i, &race);
        print_race(trace, &race);
    }
    mr_prediction_free(prediction);
    return complete ? (long)count : -1;
}

int main(int argc, char **argv)
{
    mr_failure *failure = mr_failure_create();
    mr_config *config = mr_config_create();
    mr_trace *trace = NULL;
    long races = -1;
    if (failure == NULL || config == NULL || argc != 2)
        fprintf(stderr, "usage: races TRACE\n");
    else if (mr_config_assign(config, "window.size", "20000", failure) &&
             (trace = mr_trace_open(argv[1], false, failure)) != NULL)
        races = print_races(trace, config, failure);
    if (races < 0 && failure != NULL)
        fprintf(stderr, "%s\n", mr_failure_message(failure));
    mr_trace_close(trace);
    mr_config_destroy(config);
    mr_failure_destroy(failure);
    return races < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
