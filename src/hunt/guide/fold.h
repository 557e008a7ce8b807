/*
 * fold: a smaller model (hunt/model/model.h), in which local states are one when nothing tells them apart.
 *
 * Much of a local state decides nothing any more: variables that are written before they are read again, parts of a stack
 * frame that nobody uses. Which of its words decide is learned from the model. (Words are of 32 bits here, because compiled code
 * keeps two variables in 64.) At first none does: all nodes of a thread at the same place, before the same operation, are one. Where
 * two of them go on differently (after the same outcome they come to nodes that are told apart, or write another value; or
 * memory that only this thread uses has another value), a word in which they differ must decide, at this place, for all
 * threads: of these words the one that most such pairs suspect, and the fewer there are the more. Of words that are
 * suspected alike it is one with few values: others are more often the remains of something, and would keep
 * apart what is one. That is repeated until no pair is left that a word could tell apart. Then all nodes that agree in the words of
 * their place are one.
 *
 * So what a few nodes have shown is taken to hold for all at their place, and an outcome that one of them was not seen
 * with is taken from another one. With `guesses` it is taken from other classes of the place, too (guess.c). That is a guess,
 * which later runs refute; what comes of it is tried by a run, and never believed.
 *
 * Cost: a round is O(nodes · words + edges); there are about as many rounds as words that decide at one place.
 */
#ifndef MR_HUNT_FOLD_H
#define MR_HUNT_FOLD_H

#include "hunt/model/model.h"

/* Which nodes become one, the boldest first. */
typedef enum mr_fold_degree {
    MR_FOLD_GUESS, /* those that no word has told apart; edges are added by guesses (guess.c) */
    MR_FOLD_ALIKE, /* those that no word has told apart */
    MR_FOLD_EQUAL, /* those that are equal in all words */
    MR_FOLD_DEGREES
} mr_fold_degree;

/* Nodes, edges and threads of `folded` are its own; all else is that of `model`, which has to stay as it is. A node's `state` is
 * the same number in a later fold of the model, as long as the words of its place are. MR_ERR_MEMORY. */
mr_status mr_fold_make(mr_pmodel *folded, const mr_pmodel *model, mr_fold_degree degree,
                       mr_error *error);
void mr_fold_free(mr_pmodel *folded);

#endif
