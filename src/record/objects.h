/*
 * objects: which lock or semaphore a record of a log is about. Two records are about the same one
 * when address, role and number are equal, the address was not retired in between, and its memory
 * is in the same life.
 */
#ifndef MR_RECORD_OBJECTS_H
#define MR_RECORD_OBJECTS_H

#include "log_reader.h"
#include "pairs.h"

typedef struct mr_object {
    uint64_t address, number;
    uint32_t life;  /* number of the life */
    uint8_t role;   /* mr_log_role */
    uint64_t units; /* of a semaphore; for the caller */
} mr_object;

typedef struct mr_objects {
    mr_pairs ages;     /* (address, life) → number of the age table */
    uint32_t *retired; /* how often it was retired */
    size_t retired_capacity;
    mr_pairs table; /* (age and retired, role and number) → number of the object */
    mr_object *items;
    size_t capacity;
} mr_objects;

/* Zero-initialise. */
void mr_objects_free(mr_objects *objects);

/* The object of a record; made when new. NULL: no memory. Valid until the next call. */
mr_object *mr_objects_of(mr_objects *objects, mr_lifetimes *lives, const uint64_t *record);
/* The same by parts. */
mr_object *mr_objects_at(mr_objects *objects, mr_lifetimes *lives, uint64_t address, uint8_t role,
                         uint64_t number);
/* What the address stood for is over. False: no memory. */
bool mr_objects_retire(mr_objects *objects, mr_lifetimes *lives, uint64_t address);

/* Is the role one of what orders, and is neither lock nor semaphore? */
static inline bool mr_object_orders(uint8_t role)
{
    return role == MR_LOG_ROLE_NONE || role == MR_LOG_ROLE_CHANNEL || role == MR_LOG_ROLE_SIGNAL;
}

#endif
