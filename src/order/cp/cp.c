#include "cp.h"

#include "cp_walk.h"
#include "order/variable.h"

/* The pass that reports. */
typedef struct reporter {
    mr_cp_walk walk;
    mr_variables variables;
    mr_race_list *list;
    const mr_halt *halt;
} reporter;

static bool report_access(reporter *self, const mr_access *access)
{
    uint32_t local = self->walk.local[access->thread];
    mr_variable *variable = mr_variables_find(&self->variables, access->variable);
    const mr_clock *known = NULL;
    if (!variable)
        return false;
    if (mr_op_is_plain(access->op) && mr_variable_again(variable, access, local))
        return true;
    if (!mr_cp_walk_known(&self->walk, access->thread, &known))
        return false;
    mr_knowledge knowledge = {{known, NULL}};
    return mr_op_ends_life(access->op) ? mr_variable_free(&self->variables, variable, access,
                                                          knowledge, local, false, self->list)
                                       : mr_variable_access(&self->variables, variable, access,
                                                            knowledge, local, self->list);
}

/* An access, or a free, which is one of each variable of its object. */
static bool report_event(reporter *self, uint32_t event)
{
    const mr_trace *trace = self->walk.graph->trace;
    const uint8_t *contended = self->walk.graph->outlook->contended;
    mr_access access = {.event = event,
                        .thread = trace->thread[event],
                        .variable = trace->operand[event],
                        .location = trace->location[event],
                        .op = trace->op[event]};
    if (mr_op_is_access(access.op))
        return !contended[access.variable] || report_access(self, &access);
    const mr_object_info *object = &trace->object_info[trace->operand[event]];
    for (uint32_t i = 0; i < object->variable_count; i++) {
        access.variable = trace->object_variables[object->first_variable + i];
        if (contended[access.variable] && !report_access(self, &access))
            return false;
    }
    return true;
}

/* As far as the halt lets it. */
static bool report_all(reporter *self, const mr_progress *progress)
{
    const mr_trace *trace = self->walk.graph->trace;
    uint64_t count = trace->event_count;
    for (uint32_t event = 0; event < count; event++) {
        if (event % MR_CP_PROGRESS_EVENTS == 0)
            mr_progress_tell(progress, "cp", count + event, 2 * count);
        if (event % MR_CP_LOOK_EVENTS == 0 && mr_halt_asked(self->halt))
            return true;
        if (!mr_cp_walk_step(&self->walk, event) ||
            (MR_OP_DOES(trace->op[event], MR_READS | MR_WRITES | MR_ENDS_LIFE) &&
             !report_event(self, event)) ||
            !mr_cp_walk_leave(&self->walk, event))
            return false;
        self->list->seen_events = (uint64_t)event + 1;
    }
    return true;
}

static bool report(mr_cp_graph *graph, mr_race_list *list, const mr_detect_options *options)
{
    reporter self = {.list = list, .halt = options->halt};
    bool done = mr_cp_walk_init(&self.walk, graph) &&
                mr_variables_sparse(&self.variables, graph->trace->variables.count) &&
                report_all(&self, options->progress) && mr_race_list_finish(list);
    mr_variables_free(&self.variables);
    mr_cp_walk_free(&self.walk);
    return done;
}

mr_status mr_cp_find(const mr_trace *trace, const mr_detect_options *options, mr_race_list *list,
                     mr_error *error)
{
    mr_cp_graph graph = {0};
    mr_outlook own = {0};
    mr_whole whole;
    mr_race_list_init(list, options->most_examples, options->keep_events);
    mr_status status = mr_whole_init(&whole, trace, options->edges, options->opaque, false, error);
    bool known = options->outlook || mr_outlook_of_trace(&own, trace);
    const mr_outlook *outlook = options->outlook ? options->outlook : &own;
    bool done = status == MR_OK && known && mr_cp_graph_init(&graph, &whole, outlook) &&
                mr_cp_graph_build(&graph, options->progress, options->halt) &&
                mr_cp_graph_solve(&graph, options->halt) && report(&graph, list, options);
    mr_cp_graph_free(&graph);
    mr_outlook_free(&own);
    mr_whole_free(&whole);
    if (status == MR_OK && mr_halt_asked(options->halt) && list->seen_events < trace->event_count)
        return mr_race_list_finish(list) ? MR_ERR_HALTED
                                         : mr_error_memory(error, "finding CP races");
    if (status != MR_OK || done)
        return status;
    return mr_error_memory(error, "finding CP races");
}
