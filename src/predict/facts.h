/*
 * facts: what the workers of a prediction want to know of the whole trace beside its columns, a
 * pass over the trace each, made once for all of them.
 *
 * A fact is made by the thread that needs it first, so nobody pays for one that is never needed: a
 * trace without races takes no checker. A thread that needs what another one is making does not
 * stand and wait as long as there is a part that nobody has begun: it makes that one, which
 * somebody will want soon.
 *
 *   mr_facts_new → mr_facts_outlook*, mr_facts_checker* → mr_facts_free
 *
 * Any thread may ask. What was asked for stays as it is until the facts are freed, and is shared:
 * it is to be read only.
 */
#ifndef MR_PREDICT_FACTS_H
#define MR_PREDICT_FACTS_H

#include "trace/outlook.h"
#include "witness/checker.h"

typedef struct mr_facts mr_facts;

/* O(1). NULL: no memory. The trace must outlive the facts. */
mr_facts *mr_facts_new(const mr_trace *trace, mr_opaque calls);
/* When nobody asks any more; NULL is fine. */
void mr_facts_free(mr_facts *facts);

/* NULL: no memory, then and ever. The first call O(events), later ones O(1). */
const mr_outlook *mr_facts_outlook(mr_facts *facts);
/* The same; it is for mr_checker_like. */
const mr_checker *mr_facts_checker(mr_facts *facts);

#endif
