/*
 * questions: what is asked about a trace beside races (docs/semantics.md 7), as plain data. Candidates
 * are turned into questions here, and src/findings decides them. All events are events of the trace.
 *
 * A question is a goal: its threads stop before one event of a list each, and at the end of the
 * reordering the other fields hold. Questions of one group are about one static finding, which the
 * first answer "found" settles; it is impossible when all of them are.
 *
 * A list has events of one thread in program order that stand for each other: with any events of the
 * other lists, any of them is a finding of the group. Of a deadlock, each event of list i + 1 (of list
 * 0 after the last one) lies in a section of the lock that those of list i acquire, in a mode that
 * excludes them; so the goal is only that the threads stop there.
 */
#ifndef MR_GOALS_QUESTIONS_H
#define MR_GOALS_QUESTIONS_H

#include "base/table.h"
#include "witness/witness.h"

typedef struct mr_question_list {
    uint32_t first, count; /* events[first …) */
} mr_question_list;

typedef struct mr_question {
    mr_witness_kind kind;
    uint32_t group;
    uint32_t first_list, list_count; /* lists[first_list …) */
    uint32_t required; /* use-after-free: the free; dangling and double-free: the free that frees an
                          object that contains the value, or MR_NONE for any; else MR_NONE */
    /* The last write of the variable is `write` or, where `value` is not 0, has that value index.
     * MR_NONE: nothing is asked of a variable. */
    uint32_t variable, value, write;
    uint32_t write_place; /* null: only writes at this location count; MR_NONE: any */
    /* null: no write at all will do, too. Where `value` is 0 and `write` is MR_NONE, only that will. */
    bool may_be_initial;
    uint32_t first_object,
        object_count; /* dangling: objects[…] that contain the value: one of them is
                                            freed at the end, and none lives */
} mr_question;

typedef struct mr_question_group {
    mr_witness_kind kind;
    uint32_t first_key, key_count; /* keys[first_key …): what makes the group one */
} mr_question_group;

/* Zero-initialise. All arrays are owned. */
typedef struct mr_questions {
    mr_question *items;
    uint32_t count;
    size_t capacity;
    mr_question_list *lists;
    uint32_t list_count;
    size_t list_capacity;
    mr_question_group *groups; /* in the order in which they were made */
    uint32_t group_count;
    size_t group_capacity;
    mr_table table; /* of the groups */
    mr_u32s events, keys, objects;
} mr_questions;

void mr_questions_free(mr_questions *questions);

/* The functions below return false when there is no memory. */

/* The number of the group of a kind with a key of `count` words: the places or, when each set of events is wanted, the
 * events. Made when it is new. O(count) expected. */
bool mr_questions_group(mr_questions *questions, mr_witness_kind kind, const uint32_t *words,
                        uint32_t count, uint32_t *group);

/* Adds a list and gives its number. The lists of a question come one after the other. */
bool mr_questions_list(mr_questions *questions, const uint32_t *events, uint32_t count,
                       uint32_t *list);

/* Adds objects and gives the index of the first one. */
bool mr_questions_objects(mr_questions *questions, const uint32_t *objects, uint32_t count,
                          uint32_t *first);

bool mr_questions_add(mr_questions *questions, const mr_question *question);

#endif
