#include "trace/trace.h"
#include "api.h"
#include "config/config.h"
#include "formats/convert.h"
#include "formats/read.h"
#include "formats/text/text_write.h"

mr_trace *mr_trace_open(const char *path, bool repair, mr_failure *failure)
{
    mr_error error = {0};
    mr_trace *trace = NULL;
    mr_read_options options = {.repair = repair};
    mr_failure_set(failure, mr_trace_read(path, &options, &trace, &error), &error);
    return trace;
}

mr_trace *mr_trace_open_configured(const char *path, const mr_config *config, mr_failure *failure)
{
    mr_error error = {0};
    mr_trace *trace = NULL;
    mr_config *defaults = config ? NULL : mr_config_new();
    const mr_config *used = config ? config : defaults;
    mr_status status = MR_ERR_MEMORY;
    if (used) {
        mr_read_options options = {.repair = mr_config_bool(used, "repair"),
                                   .memory_bytes = mr_config_memory_bytes(used),
                                   .spill_dir = mr_config_text(used, "memory.spill_dir")};
        status = mr_trace_read(path, &options, &trace, &error);
    } else {
        mr_error_memory(&error, "reading the trace");
    }
    mr_config_free(defaults);
    mr_failure_set(failure, status, &error);
    return trace;
}

mr_trace *mr_trace_open_memory(const char *name, const char *text, size_t length_bytes, bool repair,
                               mr_failure *failure)
{
    mr_error error = {0};
    mr_trace *trace = NULL;
    mr_read_options options = {.repair = repair};
    mr_failure_set(failure, mr_trace_read_text(name, text, length_bytes, &options, &trace, &error),
                   &error);
    return trace;
}

void mr_trace_close(mr_trace *trace)
{
    mr_trace_free(trace);
}

uint32_t mr_trace_event_count(const mr_trace *trace)
{
    return trace->event_count;
}

uint32_t mr_trace_thread_count(const mr_trace *trace)
{
    return trace->threads.count;
}

uint32_t mr_trace_lock_count(const mr_trace *trace)
{
    return trace->locks.count;
}

uint32_t mr_trace_variable_count(const mr_trace *trace)
{
    return trace->variables.count;
}

uint64_t mr_trace_dropped_count(const mr_trace *trace)
{
    return trace->dropped_count;
}

void mr_trace_get_ending(const mr_trace *trace, mr_ending_info *ending)
{
    const mr_ending *end = &trace->ending;
    *ending = (mr_ending_info){
        .is_known = mr_ending_is_known(end),
        .bad = mr_ending_is_bad(end),
        .exit_status = end->program == MR_PROGRAM_EXITED ? end->number : -1,
        .signal = end->program == MR_PROGRAM_SIGNALLED ? end->number : -1,
        .stopped = mr_stop_word(end->stop),
        .children = end->children,
        .details = end->details != NULL ? end->details : "",
        .unseen = end->unseen != 0,
    };
}

void mr_trace_get_event(const mr_trace *trace, uint32_t number, mr_event *event)
{
    mr_op op = (mr_op)trace->op[number];
    const mr_names *operands = mr_trace_operand_names(trace, op);
    *event = (mr_event){.number = number,
                        .line = mr_trace_line(trace, number),
                        .operation = mr_op_name(op),
                        .operand = "",
                        .operand_text = ""};
    mr_api_name(&trace->threads, trace->thread[number], &event->thread, &event->thread_text);
    mr_api_name(&trace->locations, trace->location[number], &event->location,
                &event->location_text);
    if (operands != NULL)
        mr_api_name(operands, trace->operand[number], &event->operand, &event->operand_text);
}

size_t mr_trace_event_operation(const mr_trace *trace, uint32_t number, char *buffer,
                                size_t size_bytes)
{
    char none[1];
    return size_bytes > 0 ? mr_trace_print_op(trace, number, false, buffer, size_bytes)
                          : mr_trace_print_op(trace, number, false, none, sizeof none);
}

bool mr_trace_write_text(const mr_trace *trace, FILE *stream, mr_failure *failure)
{
    mr_error error = {0};
    return mr_failure_set(failure, mr_text_write(stream, MR_PACKING_NONE, trace, NULL, &error),
                          &error);
}

bool mr_trace_convert(const char *path, bool repair, FILE *stream, mr_failure *failure)
{
    mr_error error = {0};
    mr_trace *dictionary = NULL;
    mr_read_options options = {.repair = repair};
    mr_status status = mr_mrt_convert(path, &options, stream, &dictionary, &error);
    mr_trace_free(dictionary);
    return mr_failure_set(failure, status, &error);
}
