#include "facts.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>

typedef enum part_state { PART_OPEN, PART_UNDER_WAY, PART_MADE, PART_FAILED } part_state;

/* The parts, each made by one thread. */
enum { OUTLOOK, CHECKER, PARTS = CHECKER + MR_CHECKER_PARTS };

struct mr_facts {
    const mr_trace *trace;
    mr_outlook outlook;
    mr_checker *checker;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    part_state parts[PARTS];
};

mr_facts *mr_facts_new(const mr_trace *trace, mr_opaque calls)
{
    mr_facts *facts = mr_calloc(1, sizeof *facts);
    if (!facts)
        return NULL;
    facts->trace = trace;
    facts->checker = mr_checker_start(trace, calls);
    mr_outlook_init(&facts->outlook);
    if (facts->checker && !pthread_mutex_init(&facts->mutex, NULL)) {
        if (!pthread_cond_init(&facts->changed, NULL))
            return facts;
        pthread_mutex_destroy(&facts->mutex);
    }
    mr_checker_free(facts->checker);
    free(facts);
    return NULL;
}

void mr_facts_free(mr_facts *facts)
{
    if (!facts)
        return;
    mr_outlook_free(&facts->outlook);
    mr_checker_free(facts->checker);
    pthread_cond_destroy(&facts->changed);
    pthread_mutex_destroy(&facts->mutex);
    free(facts);
}

static bool make(mr_facts *facts, unsigned part)
{
    return part == OUTLOOK ? mr_outlook_of_trace(&facts->outlook, facts->trace)
                           : mr_checker_learn(facts->checker, part - CHECKER);
}

/* The first part from `first` on, and before `end`, in this state; `end`: none is. */
static unsigned find(const mr_facts *facts, part_state state, unsigned first, unsigned end)
{
    while (first < end && facts->parts[first] != state)
        first++;
    return first;
}

/* Has the parts [first, end) made. False: no memory. */
static bool need(mr_facts *facts, unsigned first, unsigned end)
{
    pthread_mutex_lock(&facts->mutex);
    for (;;) {
        unsigned part = find(facts, PART_OPEN, first, end);
        if (part == end && find(facts, PART_UNDER_WAY, first, end) == end)
            break;
        if (part == end)
            part = find(facts, PART_OPEN, 0, PARTS);
        if (part == PARTS) {
            pthread_cond_wait(&facts->changed, &facts->mutex);
            continue;
        }
        facts->parts[part] = PART_UNDER_WAY;
        pthread_mutex_unlock(&facts->mutex);
        bool made = make(facts, part);
        pthread_mutex_lock(&facts->mutex);
        facts->parts[part] = made ? PART_MADE : PART_FAILED;
        pthread_cond_broadcast(&facts->changed);
    }
    bool made = find(facts, PART_FAILED, first, end) == end;
    pthread_mutex_unlock(&facts->mutex);
    return made;
}

const mr_outlook *mr_facts_outlook(mr_facts *facts)
{
    return need(facts, OUTLOOK, OUTLOOK + 1) ? &facts->outlook : NULL;
}

const mr_checker *mr_facts_checker(mr_facts *facts)
{
    return need(facts, CHECKER, PARTS) ? facts->checker : NULL;
}
