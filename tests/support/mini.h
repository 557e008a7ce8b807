/*
 * mini: tiny programs as data, with an interpreter, for tests of the exhaustive mode. Threads have two
 * registers; variables, locks, semaphores, condition variables and barriers are numbers from 0 on.
 *
 * mini_enumerate tries every thread in every state, without any reduction, with the whole histories of
 * all threads as part of the state. It shares no code with src/hunt.
 */
#ifndef MR_TESTS_SUPPORT_MINI_H
#define MR_TESTS_SUPPORT_MINI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mini_op {
    MINI_LOAD,  /* register a = variable b */
    MINI_STORE, /* variable b = number a */
    MINI_STORE_REG,
    MINI_ALOAD, /* atomic ones */
    MINI_ASTORE,
    MINI_FETCH_ADD, /* register a = variable b, which grows by c */
    MINI_EXCHANGE,  /* … and is c from now on */
    MINI_CAS,       /* register a = variable b; when that is 0, the variable is c */
    MINI_LOCK,      /* lock b */
    MINI_UNLOCK,
    MINI_TRYLOCK, /* register a: 1 it was taken */
    MINI_RDLOCK,
    MINI_RDUNLOCK,
    MINI_POST, /* semaphore b */
    MINI_WAIT,
    MINI_TRYWAIT,
    MINI_SLEEP,       /* condition b, mutex c */
    MINI_TIMED_SLEEP, /* … register a: 1 woken */
    MINI_SIGNAL,
    MINI_BROADCAST,
    MINI_BARRIER, /* b, of c threads; register a: the last */
    MINI_FORK,    /* thread b */
    MINI_JOIN,
    MINI_EXIT,
    MINI_MOVE,  /* register a = c */
    MINI_ADD,   /* register a += c */
    MINI_IF_NE, /* when register a != c, go to b */
} mini_op;

typedef struct mini_line {
    mini_op op;
    int a, b, c;
} mini_line;

enum {
    MINI_THREADS = 5,
    MINI_LINES = 16,
    MINI_OBJECTS = 4,
    MINI_HISTORY = 64,
    MINI_FINALS = 20000
};

typedef struct mini_program {
    unsigned threads;
    unsigned count[MINI_THREADS];
    mini_line lines[MINI_THREADS][MINI_LINES];
} mini_program;

/* What one operation was. */
typedef struct mini_entry {
    uint8_t pc, sub, outcome, seen_by_name;
    int16_t fingerprint; /* of the thread's local state; -1: none */
    uint16_t held;
} mini_entry;

typedef struct mini_thread {
    uint8_t pc, sub,
        status; /* 0 not there, 1 runs, 2 sleeps, 3 woken, 4 at a barrier, 5 passes, 6 ended */
    uint8_t registers[2];
    uint16_t held;
    uint8_t length, effect; /* of the history; entries from `effect` on can be folded */
    mini_entry history[MINI_HISTORY];
} mini_thread;

typedef struct mini_state {
    uint8_t variables[MINI_OBJECTS], owner[MINI_OBJECTS], readers[MINI_OBJECTS],
        units[MINI_OBJECTS], arrived[MINI_OBJECTS];
    uint8_t exited, overflow;
    mini_thread threads[MINI_THREADS];
} mini_state;

void mini_begin(const mini_program *program, mini_state *state);
/* Can the thread do its next operation? */
bool mini_can(const mini_program *program, const mini_state *state, unsigned thread);
/* The line where it stands; NULL: its end. */
const mini_line *mini_next(const mini_program *program, const mini_state *state, unsigned thread);
/* Does it. `woken`: whom a signal wakes, when somebody sleeps. Returns what it gave. */
unsigned mini_do(const mini_program *program, mini_state *state, unsigned thread, unsigned woken);
bool mini_sleeps(const mini_program *program, const mini_state *state, unsigned thread,
                 int condition);

/* Do two threads stand before accesses that race? */
bool mini_races(const mini_program *program, const mini_state *state, unsigned a, unsigned b);

/* A final state as bytes: histories and ends. What a thread does next with variables of its own (`local`
 * has a bit for each of these) counts as done, also when the end of the process cuts it off. */
void mini_behaviour(const mini_program *program, const mini_state *state, unsigned local,
                    uint8_t *bytes);

enum { MINI_BEHAVIOUR_BYTES = MINI_THREADS * (2 + 3 * MINI_HISTORY) };

typedef struct mini_found {
    size_t states, finals, races;
    unsigned local;      /* variables that one thread accesses, or nobody writes; a bit each */
    uint8_t *behaviours; /* finals × MINI_BEHAVIOUR_BYTES, sorted; free() */
    uint16_t race_places[256][2]; /* thread << 8 | pc, the lower first; sorted */
    bool endless;                 /* some state has no way to a final one */
    bool gave_up;                 /* too large */
} mini_found;

void mini_enumerate(const mini_program *program, size_t most_states, mini_found *found);

#endif
