#include "facts.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct fact {
    pthread_mutex_t mutex; /* held while the fact is made */
    bool asked, made;
} fact;

struct mr_facts {
    const mr_trace *trace;
    mr_opaque calls;
    mr_outlook outlook;
    mr_checker *checker;
    fact has_outlook, has_checker;
};

mr_facts *mr_facts_new(const mr_trace *trace, mr_opaque calls)
{
    mr_facts *facts = mr_calloc(1, sizeof *facts);
    if (!facts)
        return NULL;
    facts->trace = trace;
    facts->calls = calls;
    mr_outlook_init(&facts->outlook);
    pthread_mutex_init(&facts->has_outlook.mutex, NULL);
    pthread_mutex_init(&facts->has_checker.mutex, NULL);
    return facts;
}

void mr_facts_free(mr_facts *facts)
{
    if (!facts)
        return;
    mr_outlook_free(&facts->outlook);
    mr_checker_free(facts->checker);
    pthread_mutex_destroy(&facts->has_outlook.mutex);
    pthread_mutex_destroy(&facts->has_checker.mutex);
    free(facts);
}

static bool make_outlook(mr_facts *facts)
{
    return mr_outlook_of_trace(&facts->outlook, facts->trace);
}

static bool make_checker(mr_facts *facts)
{
    facts->checker = mr_checker_new(facts->trace, facts->calls);
    return facts->checker != NULL;
}

/* Is the fact there? Makes it when nobody has asked before. */
static bool need(mr_facts *facts, fact *it, bool (*make)(mr_facts *facts))
{
    pthread_mutex_lock(&it->mutex);
    if (!it->asked)
        it->made = make(facts);
    it->asked = true;
    bool made = it->made;
    pthread_mutex_unlock(&it->mutex);
    return made;
}

const mr_outlook *mr_facts_outlook(mr_facts *facts)
{
    if (facts->trace->outlook)
        return facts->trace->outlook;
    return need(facts, &facts->has_outlook, make_outlook) ? &facts->outlook : NULL;
}

const mr_checker *mr_facts_checker(mr_facts *facts)
{
    return need(facts, &facts->has_checker, make_checker) ? facts->checker : NULL;
}

void mr_facts_drop_checker(mr_facts *facts)
{
    pthread_mutex_lock(&facts->has_checker.mutex);
    mr_checker_free(facts->checker);
    facts->checker = NULL;
    facts->has_checker.asked = facts->has_checker.made = false;
    pthread_mutex_unlock(&facts->has_checker.mutex);
}
