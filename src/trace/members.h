/*
 * members: which variable belongs to which object, while a trace grows. The lines `#@in VARIABLE
 * OBJECT` of a text and the MEMBERS chunks of an .mrt file say it.
 */
#ifndef MR_TRACE_MEMBERS_H
#define MR_TRACE_MEMBERS_H

#include "trace.h"

/* Makes the variable belong to the object, which is none of another (mr_trace_object). Both are
 * numbers of names. False: no memory. */
bool mr_members_put(mr_trace *trace, uint32_t variable, uint32_t object);

#endif
