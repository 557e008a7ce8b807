#include "sharing.h"

#include <stdlib.h>

/* Notes that `thread` uses an object: *user is its first user + 1, 0: none yet. */
static void note_user(uint32_t *user, bool *shared, uint32_t thread)
{
    if (!*user)
        *user = thread + 1;
    else if (*user != thread + 1)
        *shared = true;
}

static void scan(mr_sharing *sharing, const mr_trace *trace, uint32_t *variable_user,
                 uint32_t *lock_user, bool *written)
{
    for (uint32_t event = 0; event < trace->event_count; event++) {
        uint32_t operand = trace->operand[event], thread = trace->thread[event];
        if (mr_op_is_access(trace->op[event])) {
            note_user(&variable_user[operand], &sharing->variable_contended[operand], thread);
            written[operand] |= trace->op[event] == MR_OP_WRITE;
        } else if (trace->op[event] == MR_OP_ACQUIRE && trace->link[event] != MR_NESTED) {
            note_user(&lock_user[operand], &sharing->lock_shared[operand], thread);
        }
    }
    for (uint32_t variable = 0; variable < trace->variables.count; variable++)
        sharing->variable_contended[variable] &= written[variable];
}

bool mr_sharing_find(mr_sharing *sharing, const mr_trace *trace)
{
    uint32_t variables = trace->variables.count, locks = trace->locks.count;
    uint32_t *variable_user = mr_calloc(variables, sizeof *variable_user);
    uint32_t *lock_user = mr_calloc(locks, sizeof *lock_user);
    bool *written = mr_calloc(variables, sizeof *written);
    sharing->variable_contended = mr_calloc(variables, sizeof(bool));
    sharing->lock_shared = mr_calloc(locks, sizeof(bool));
    bool ok = variable_user && lock_user && written && sharing->variable_contended &&
              sharing->lock_shared;
    if (ok)
        scan(sharing, trace, variable_user, lock_user, written);
    free(variable_user);
    free(lock_user);
    free(written);
    return ok;
}

void mr_sharing_free(mr_sharing *sharing)
{
    free(sharing->variable_contended);
    free(sharing->lock_shared);
    *sharing = (mr_sharing){0};
}
