/*
 * program: random programs for a few threads, the input of a generated trace's run.
 */
#ifndef MR_TESTS_SUPPORT_PROGRAM_H
#define MR_TESTS_SUPPORT_PROGRAM_H

#include "random.h"
#include "trace/memory_order.h"

enum {
    MR_PROGRAM_THREADS = 14,
    MR_PROGRAM_STEPS = 80,
    MR_PROGRAM_VARIABLES = 6,
    MR_PROGRAM_LOCKS = 5,
    MR_PROGRAM_SEMAPHORES = 2,
    MR_PROGRAM_SLOTS = 2,
    MR_PROGRAM_FIELDS = 2, /* variables of an object */
};

typedef enum mr_lock_style {
    MR_LOCKS_NONE,
    MR_LOCKS_PLAIN,     /* one section after the other */
    MR_LOCKS_NESTED,    /* sections within sections, any order of locks */
    MR_LOCKS_HAND,      /* acq a, acq b, rel a, acq c, rel b, … */
    MR_LOCKS_REENTRANT, /* nested, often in the same lock */
    MR_LOCKS_OPPOSITE,  /* two locks nested at once, in either order */
    MR_LOCKS_CHAIN,     /* nested, each lock with a variable of its own; variable 0 has none */
    MR_LOCKS_COUNT,
    /* two locks nested in any order, by chance within a section of the last lock; no shape draws
     * it by chance */
    MR_LOCKS_CYCLE = MR_LOCKS_COUNT
} mr_lock_style;

typedef enum mr_value_style {
    MR_VALUES_NONE,
    MR_VALUES_SMALL,  /* 0 and 1 */
    MR_VALUES_UNIQUE, /* every write another one */
    MR_VALUES_COUNT
} mr_value_style;

/* Steps that are drawn one by one. */
typedef enum mr_mingled {
    MR_MINGLED_ACCESS,
    MR_MINGLED_ENTER,
    MR_MINGLED_LEAVE, /* any section that the thread is in */
    MR_MINGLED_SEMAPHORE,
    MR_MINGLED_USE,
    MR_MINGLED_ALLOC,
    MR_MINGLED_FREE,
    MR_MINGLED_CALL,
    MR_MINGLED_RETURN,
    MR_MINGLED_BRANCH,
    MR_MINGLED_POINTER, /* a write of one, or a use */
    MR_MINGLED_COUNT
} mr_mingled;

/* What a random trace is drawn from; percentages are chances. */
typedef struct mr_parameters {
    uint32_t threads, events, variables, locks;
    mr_lock_style lock_style;
    mr_value_style value_style;
    uint32_t section_percent;    /* the next step is a critical section, not an access */
    uint32_t read_percent;       /* an access is a read */
    uint32_t open_percent;       /* a section is never closed */
    uint32_t fork_percent;       /* a thread is forked, not running from the start */
    uint32_t join_percent;       /* a forked thread is joined; once more with half the chance */
    uint32_t end_percent;        /* a thread says begin and end */
    uint32_t same_percent;       /* a write writes what is there already */
    uint32_t missing_percent;    /* a variable has accesses without a value */
    uint32_t unrecorded_percent; /* someone else changes the variable before a read */
    uint32_t stay_percent;       /* the scheduler stays with its thread */
    uint32_t few_locations;      /* percent: locations are 1, 2, 3 only */

    /* Zero in the shapes without such operations, which then draw nothing for them. */
    uint32_t atomic_percent;    /* an access is atomic */
    uint32_t shared_percent;    /* a section is a shared one */
    uint32_t semaphores;        /* how many there are */
    uint32_t semaphore_percent; /* the next step is about a semaphore */
    uint32_t signal_percent;    /* that is one post or wait, not a section of wait … post */
    uint32_t units;             /* that each semaphore gets at first */
    uint32_t branch_percent;    /* an access comes after a branch */
    uint32_t call_percent;      /* the next step is an opaque call */
    uint32_t never_percent;     /* that never returns */
    uint32_t order_percent;     /* an atomic access has another order than sc */
    uint32_t fence_percent;     /* the next step is a fence */
    uint32_t slots;             /* places that hold one object after the other */
    uint32_t life_percent;      /* the next step is about an object */
    uint32_t born_percent;      /* a slot has an object that was there before the trace began */
    uint32_t pointers;          /* how many variables, the last ones, hold addresses of objects */
    uint32_t pointer_percent;   /* the next step is about one */
    uint32_t try_percent;       /* an acquire of two nested sections is a try */
    uint32_t guard_percent;     /* two nested sections are within a section of the last lock */
    bool spins;                 /* exclusive locks are variables, 0 when nobody has them */
    bool counts;                /* … and count the threads that have them shared */
    uint32_t stray_percent;     /* … and an access frees one that another thread may have */
    /* How often each step is drawn. Not all zero: steps are drawn one by one, so that sections and calls have anything
     * inside. */
    uint8_t mingled[MR_MINGLED_COUNT];
} mr_parameters;

/* What an opaque call can reach, as bits: the first few of each kind. */
enum {
    MR_REACH_NAMES = 4,
    MR_REACH_VARIABLE = 1, /* << number */
    MR_REACH_LOCK = 1 << MR_REACH_NAMES,
    MR_REACH_SEMAPHORE = 1 << 2 * MR_REACH_NAMES,
    MR_REACH_THREAD = 1 << 3 * MR_REACH_NAMES,
    MR_REACH_NOTHING = 1 << 4 * MR_REACH_NAMES, /* a name that nothing has */
    MR_REACH_ALL = 2 << 4 * MR_REACH_NAMES,     /* "*" */
    MR_REACH_FIELD = 4 << 4 * MR_REACH_NAMES,   /* << slot * MR_PROGRAM_FIELDS + field */
};

/* The operand of an access of a variable of the object that is in a slot then; alloc and free have
 * the slot. */
enum { MR_PROGRAM_FIELD = 100 };

static inline uint8_t mr_program_field(uint32_t slot, uint32_t field)
{
    return (uint8_t)(MR_PROGRAM_FIELD + slot * MR_PROGRAM_FIELDS + field);
}

/* What a write leaves in a pointer. */
enum {
    MR_POINTS_NOWHERE, /* an ordinary write */
    MR_POINTS_NULL,
    MR_POINTS_SLOT, /* + slot: the address of the object that is there then */
};

typedef struct mr_instruction {
    uint8_t op; /* mr_op */
    uint8_t operand;
    uint8_t points;
    uint8_t location;
    uint8_t memory_order; /* mr_memory_order */
    uint32_t reach;       /* mbegin */
} mr_instruction;

typedef struct mr_program {
    mr_instruction steps[MR_PROGRAM_STEPS];
    uint32_t count;
    bool forked; /* starts when some program forks it, else at once */
} mr_program;

/* Fills `programs[0 … parameters->threads-1]`. */
void mr_program_build(mr_random *random, const mr_parameters *parameters, mr_program *programs);

#endif
