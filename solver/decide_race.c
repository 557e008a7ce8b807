/* Races as goals (decide.h). */
#include "decide.h"

mr_status mr_decide_any(const mr_problem *problem, mr_session *session,
                        const mr_decide_options *options, mr_stops a, mr_stops b, mr_arena *arena,
                        mr_decision *decision, mr_error *error)
{
    mr_stops stops[] = {a, b};
    const mr_goal race = {.stops = stops, .stop_count = 2};
    return mr_decide_goal(problem, session, options, &race, arena, decision, error);
}

mr_status mr_decide(const mr_problem *problem, mr_session *session,
                    const mr_decide_options *options, uint32_t a, uint32_t b, mr_arena *arena,
                    mr_decision *decision, mr_error *error)
{
    return mr_decide_any(problem, session, options, (mr_stops){&a, 1}, (mr_stops){&b, 1}, arena,
                         decision, error);
}
