/*
 * moves: what each event of a window needs and does in a state, looked up instead of worked out anew in each state
 * (layers.h). A state is how far each thread has come and numbers for what reads would see.
 *
 * Most turns (turns.h) are *plain*: they take locks, and their event reads or writes, or nothing else stands in its way.
 * Then the turn is possible when nobody holds against it what its thread holds at its end, and when a read sees
 * what it has to.
 *
 * A *passing* section has reads, passing sections that end before it does, and events that are free. It is run as soon as
 * all of it is possible at once, if its thread may not stop in it. That takes nothing from anybody (turns.h): afterwards
 * the thread holds no more than before, and nothing was written. So any witness that goes on from the state stays possible
 * when the section is moved to its front, or is added there.
 */
#ifndef MR_SOLVER_MOVES_H
#define MR_SOLVER_MOVES_H

#include "turns.h"

typedef enum mr_move_kind {
    MR_MOVE_END,    /* the end of the thread */
    MR_MOVE_FREE,   /* possible whenever it is the next one; changes nothing else */
    MR_MOVE_READ,   /* of a number of the state */
    MR_MOVE_WRITE,  /* likewise */
    MR_MOVE_UPDATE, /* both */
    MR_MOVE_ENTER,  /* a contended section */
    MR_MOVE_OTHER,  /* anything else: the rules are to be asked */
} mr_move_kind;

typedef struct mr_move {
    uint32_t event; /* MR_NONE: the end of the thread */
    uint32_t turn;  /* position of the event of the turn that begins here */
    /* Position after the release of the passing section that begins here; 0: none does. */
    uint32_t close;
    uint32_t number;    /* of the variable in a state, when it reads or writes one */
    uint32_t sees, put; /* what a read has to see there; what a write leaves */
    uint8_t kind;       /* mr_move_kind */
    bool plain;         /* the turn that begins here */
    bool puts;          /* it writes a number of the state */
} mr_move;

typedef struct mr_moves {
    const mr_window *window;
    mr_move *all; /* as window->by_thread, and one for the end of each thread */
} mr_moves;

/* `number_of`: one a variable: its number in a state; MR_NONE: it has none. `turns` is needed until it returns. Not in
 * model branch. False: no memory of `arena`. O(window + log). */
bool mr_moves_init(mr_moves *moves, const mr_turns *turns, const uint32_t *number_of,
                   mr_arena *arena);

static inline const mr_move *mr_moves_at(const mr_moves *moves, uint32_t thread, uint32_t position)
{
    return &moves->all[moves->window->threads[thread].first + thread + position];
}

/* Does a read see what it has to, in this state? True for what is no read. */
static inline bool mr_move_sees(const mr_move *move, const uint32_t *state)
{
    return (move->kind != MR_MOVE_READ && move->kind != MR_MOVE_UPDATE) ||
           state[move->number] == move->sees;
}

#endif
