#include "lives.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Room for `need` items; the new ones are zero. */
static bool widen(void **array, size_t *capacity, size_t need, size_t size_bytes)
{
    size_t old = *capacity;
    if (!mr_grow(array, capacity, need, size_bytes))
        return false;
    if (*capacity > old)
        memset((char *)*array + old * size_bytes, 0, (*capacity - old) * size_bytes);
    return true;
}

static bool grow_objects(mr_lives *lives, uint32_t count)
{
    void *stamps = lives->stamps, *first = lives->first;
    bool done = widen(&stamps, &lives->object_capacity, count, sizeof *lives->stamps);
    lives->stamps = stamps;
    done = done && widen(&first, &lives->first_capacity, count, sizeof *lives->first);
    lives->first = first;
    return done;
}

static bool grow_members(mr_lives *lives, uint32_t variable)
{
    void *members = lives->members;
    bool done =
        widen(&members, &lives->member_capacity, (size_t)variable + 1, sizeof *lives->members);
    lives->members = members;
    return done;
}

bool mr_lives_learn(mr_lives *lives, const mr_events *events, bool *late)
{
    *late = false;
    if (!grow_objects(lives, events->object_count))
        return false;
    for (uint32_t i = 0; i < events->member_count; i++) {
        mr_membership member = events->members[i];
        if (!grow_objects(lives, member.object + 1) || !grow_members(lives, member.variable))
            return false;
        uint32_t *first = &lives->first[member.object];
        *late |= *first == (uint32_t)MR_LIVES_OVER;
        if (*late)
            return true;
        lives->members[member.variable] = (struct mr_life_member){member.object + 1, *first};
        *first = member.variable + 1;
        if (lives->variable_count <= member.variable)
            lives->variable_count = member.variable + 1;
    }
    return true;
}

void mr_lives_free(mr_lives *lives, mr_wcp *wcp)
{
    for (size_t i = 0; i < lives->object_capacity; i++)
        mr_wcp_drop_stamp(wcp, &lives->stamps[i]);
    free(lives->stamps);
    free(lives->first);
    free(lives->members);
    *lives = (mr_lives){0};
}
