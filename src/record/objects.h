/*
 * objects: the locks, semaphores and orders that the records of a log name. Two records name the
 * same object when address, role and number are equal, the memory is in the same life, and no
 * record between them retires the address. The sleeps of a condition variable and the uses of a
 * barrier have numbers of their own and outlive it: who was woken may leave after the destruction.
 */
#ifndef MR_RECORD_OBJECTS_H
#define MR_RECORD_OBJECTS_H

#include "log_reader.h"
#include "pairs.h"

#define MR_OBJECT_SHARED UINT32_MAX

typedef struct mr_object {
    uint64_t address, number;
    uint32_t life;    /* number of the life */
    uint8_t role;     /* mr_log_role */
    uint64_t units;   /* of a semaphore, or of an order its records BEFORE; for the caller */
    uint64_t waits;   /* units that are taken of it in all; for the caller */
    uint32_t user;    /* the thread that names it, + 1; MR_OBJECT_SHARED: several; for the caller */
    uint32_t writers; /* of a channel: how many have an object of their own */
    uint32_t writer;  /* the first of these, of one of them the next: its number + 1; 0: none */
    /* For the caller (tries.h): */
    bool is_tried;  /* its state is asked for, as by a try that fails */
    bool is_orphan; /* a thread that held it ended */
    uint8_t death;  /* what came of that */
    uint32_t state; /* the variable of its state, + 1; 0: none yet */
    uint32_t owner; /* that of its owner */
    int64_t held;   /* the state */
} mr_object;

typedef struct mr_objects {
    mr_pairs ages;     /* (address, life) → index in `retired` */
    uint32_t *retired; /* how often the address was retired in this life */
    size_t retired_capacity;
    mr_pairs table; /* (index in `retired` and its count, role and number) → number of the object */
    mr_object *items;
    size_t capacity;
} mr_objects;

/* Zero-initialise. */
void mr_objects_free(mr_objects *objects);

/* The object of a record, which is added when it is new. The pointer is valid until the next call.
 * NULL: no memory. */
mr_object *mr_objects_of(mr_objects *objects, mr_lifetimes *lives, const uint64_t *record);
/* The same; but a thread that writes to a channel APART has an object of its own, one of the writers of the channel (of at
 * most so many: the others are in order). */
enum { MR_OBJECT_WRITERS_MAX = 16 };
mr_object *mr_objects_written(mr_objects *objects, mr_lifetimes *lives, const uint64_t *record,
                              uint32_t thread);
/* The same, from the parts of the record. */
mr_object *mr_objects_at(mr_objects *objects, mr_lifetimes *lives, uint64_t address, uint8_t role,
                         uint64_t number);
/* The objects at the address end; later records name new ones. False: no memory. */
bool mr_objects_retire(mr_objects *objects, mr_lifetimes *lives, uint64_t address);

/* Does it stand for the reads from a channel, each of which comes before the next? */
static inline bool mr_object_is_taking(const mr_object *object)
{
    return object->role == MR_LOG_ROLE_CHANNEL && object->number == MR_LOG_CHANNEL_TAKEN;
}

/* What is written to a channel, but what has an object of its own. */
static inline bool mr_object_is_channel(const mr_object *object)
{
    return object->role == MR_LOG_ROLE_CHANNEL && object->number == MR_LOG_CHANNEL_DATA;
}

/* Does a variable of the trace stand for an object of this role, which is neither lock nor
 * semaphore? */
static inline bool mr_object_orders(uint8_t role)
{
    return role == MR_LOG_ROLE_NONE || role == MR_LOG_ROLE_CHANNEL || role == MR_LOG_ROLE_SIGNAL ||
           role == MR_LOG_ROLE_WRONG || role == MR_LOG_ROLE_NUMBER || role == MR_LOG_ROLE_CANCEL ||
           role == MR_LOG_ROLE_WATCH || role == MR_LOG_ROLE_READY || role == MR_LOG_ROLE_ENDED ||
           role == MR_LOG_ROLE_TASK || role == MR_LOG_ROLE_TASK_END;
}

#endif
