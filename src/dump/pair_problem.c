#include "pair_problem.h"

#include "predict/settings.h"

static void choose_window(mr_pair_problem *self, const mr_config *config, uint32_t whole_events)
{
    const mr_window_plan plan = mr_predict_settings_plan(self->trace, config);
    uint32_t start = 0, end = 0;
    self->start = 0;
    self->end = self->second + 1;
    if (self->trace->event_count <= whole_events) {
        self->end = self->trace->event_count;
        return;
    }
    for (uint32_t k = 0; mr_window_plan_get(&plan, k, &start, &end) && start <= self->first; k++) {
        self->start = start;
        self->planned = self->second < end;
        if (!self->planned)
            continue;
        self->end = end;
        return;
    }
}

mr_status mr_pair_problem_init(mr_pair_problem *self, const mr_trace *trace,
                               const mr_config *config, uint32_t first, uint32_t second,
                               uint32_t whole_events, mr_error *error)
{
    mr_window *window;
    mr_opaque mode = (mr_opaque)mr_config_choice(config, "opaque");
    mr_model model = (mr_model)mr_config_choice(config, "model");
    *self = (mr_pair_problem){.trace = trace, .first = first, .second = second};
    mr_arena_init(&self->arena);
    choose_window(self, config, whole_events);
    mr_status status = mr_barrier_edges_find(trace, mode, &self->edges, error);
    if (status == MR_OK)
        status = mr_carried_init(&self->carried, trace, error);
    if (status != MR_OK)
        return status;
    self->carried.barrier_edges = &self->edges;
    self->session = mr_session_new();
    mr_carried_move(&self->carried, self->start);
    status = mr_window_build(&self->carried, self->end, model, &self->arena, &window, error);
    if (status != MR_OK)
        return status;
    return self->session && mr_problem_init(&self->problem, window, &self->arena)
               ? MR_OK
               : mr_error_memory(error, "building the window of a pair");
}

void mr_pair_problem_free(mr_pair_problem *self)
{
    mr_session_free(self->session);
    mr_carried_free(&self->carried);
    mr_barrier_edges_free(&self->edges);
    mr_arena_free(&self->arena);
}

mr_status mr_pair_problem_ask(mr_pair_problem *self, const mr_config *config, unsigned steps,
                              mr_decision *decision, mr_error *error)
{
    mr_decide_options options = mr_predict_limits(config);
    options.steps = steps;
    mr_arena_mark mark = mr_arena_get_mark(&self->arena);
    mr_status status = mr_decide(&self->problem, self->session, &options, self->first - self->start,
                                 self->second - self->start, &self->arena, decision, error);
    mr_arena_release(&self->arena, mark);
    return status;
}
