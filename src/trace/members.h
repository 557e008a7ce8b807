/*
 * members: which variable belongs to which object, while a trace grows. The lines `#@in VARIABLE
 * OBJECT` of a text and the MEMBERS chunks of an .mrt file say it.
 */
#ifndef MR_TRACE_MEMBERS_H
#define MR_TRACE_MEMBERS_H

#include "events.h"

/* Makes the variable belong to the object, which is none of another (mr_trace_object). Both are
 * numbers of names. False: no memory. */
bool mr_members_put(mr_trace *trace, uint32_t variable, uint32_t object);

/* A copy of what was told since another run of events: streams read ahead while their caller looks
 * at a run. Zero-initialise, free `items`. */
typedef struct mr_told_members {
    mr_membership *items;
    size_t capacity;
    uint32_t end; /* how many of the trace's had been told then */
} mr_told_members;

/* Puts those after the first `start` of the trace into the events. False: no memory. */
bool mr_members_tell(const mr_trace *trace, uint32_t start, mr_told_members *told,
                     mr_events *events);

#endif
