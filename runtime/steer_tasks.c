/* Tasks of OpenMP in a replay: the schedule says which one a thread takes. */
#include "steer_tasks.h"

#include "steer_state.h"
#include "writer.h"

mr_made mr_steer_made(const mr_thread *thread)
{
    const mr_actor *self = mr_steer_actor(thread);
    mr_writer_settle();
    mr_steer_count();
    return (mr_made){thread->role, self != NULL ? self->position : 0};
}

mr_takes mr_steer_takes(const mr_thread *thread, bool updates, mr_made *made, unsigned *comes_after)
{
    const mr_actor *self = mr_steer_actor(thread);
    if (self == NULL) {
        return MR_TAKES_ANY;
    }
    mr_writer_settle();
    mr_steer_count();
    const mr_expected *next = mr_steer_next(thread->role);
    if (mr_steer.reached || next == NULL) {
        return MR_TAKES_ANY;
    }
    const mr_role *role = &mr_steer.schedule.roles[thread->role];
    const mr_expected *end = role->expected + role->expected_count;
    uint64_t at = self->position;
    if (updates && next->position == at) { /* else it is not in the trace */
        if (next->kind != MR_LOG_ATOMIC_UPDATE) {
            return MR_TAKES_NONE;
        }
        next++;
    }
    at += updates;
    for (*comes_after = 0; next < end && next->position == at && next->kind == MR_LOG_AFTER; at++) {
        if (next->is_task) {
            *made = (mr_made){next->maker, (uint64_t)next->value};
            return MR_TAKES_THIS;
        }
        ++*comes_after;
        next++;
    }
    return MR_TAKES_NONE;
}
