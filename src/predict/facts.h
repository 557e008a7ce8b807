/*
 * facts: what all workers of a prediction want to know of the whole trace beside its columns: the
 * outlook, and the part of a checker that is the same for all witnesses. Each is made once, in a
 * pass over the trace.
 *
 * A fact is made when a thread asks for it first; other threads that ask meanwhile wait. So nobody
 * pays for a fact that is never needed: a trace without races takes no checker.
 *
 *   mr_facts_new → mr_facts_outlook*, mr_facts_checker* → mr_facts_free
 *
 * Any thread may ask. A fact is shared by all, read only, until the facts are freed.
 */
#ifndef MR_PREDICT_FACTS_H
#define MR_PREDICT_FACTS_H

#include "trace/outlook.h"
#include "witness/checker.h"

typedef struct mr_facts mr_facts;

/* O(1). NULL: no memory. The trace must outlive the facts. */
mr_facts *mr_facts_new(const mr_trace *trace, mr_opaque calls);
/* After the last question; NULL is fine. */
void mr_facts_free(mr_facts *facts);

/* NULL: no memory, also for all who ask later. The first call O(events), later ones O(1). */
const mr_outlook *mr_facts_outlook(mr_facts *facts);
/* The same, for mr_checker_like. */
const mr_checker *mr_facts_checker(mr_facts *facts);
/* Frees it; who asks again has it made again. Those that are like it must have been freed. */
void mr_facts_drop_checker(mr_facts *facts);

#endif
