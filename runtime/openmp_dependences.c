#include "openmp_dependences.h"

#include "openmp.h"
#include "writer.h"

enum { HEADS = 64 };

struct mr_dependence_link {
    const void *end;    /* of a task that has to come before */
    mr_dependent *task; /* that follows, or has read */
    mr_dependence_link *next;
};

/* An address: the last task that wrote it, and those that have read it since. */
typedef struct entry {
    struct entry *next;
    const void *address;
    mr_dependent *writer;
    mr_dependence_link *readers;
} entry;

struct mr_dependences {
    entry *heads[HEADS];
};

static void add_link(mr_dependence_link **list, const void *end, mr_dependent *task)
{
    mr_dependence_link *link = mr_openmp_take(sizeof *link);
    *link = (mr_dependence_link){end, task, *list};
    *list = link;
}

/* Removes the first of the list. */
static mr_dependence_link take_link(mr_dependence_link **list)
{
    mr_dependence_link *first = *list, taken = *first;
    *list = taken.next;
    mr_openmp_give(first, sizeof *first);
    return taken;
}

static void drop_users(entry *of, mr_dependent_let_go let_go)
{
    mr_dependent *writer = of->writer;
    of->writer = NULL;
    if (writer != NULL) {
        let_go(writer);
    }
    while (of->readers != NULL) {
        let_go(take_link(&of->readers).task);
    }
}

void mr_dependences_drop(mr_dependences **all, mr_dependent_let_go let_go)
{
    mr_dependences *dropped = *all;
    *all = NULL;
    for (int i = 0; dropped != NULL && i < HEADS; i++) {
        while (dropped->heads[i] != NULL) {
            entry *first = dropped->heads[i];
            dropped->heads[i] = first->next;
            drop_users(first, let_go);
            mr_openmp_give(first, sizeof *first);
        }
    }
    if (dropped != NULL) {
        mr_openmp_give(dropped, sizeof *dropped);
    }
}

static entry *entry_of(mr_dependences **all, const void *address)
{
    if (*all == NULL) {
        *all = mr_openmp_take(sizeof **all);
    }
    entry **head = &(*all)->heads[((uintptr_t)address >> 3) % HEADS];
    entry *at = *head;
    while (at != NULL && at->address != address) {
        at = at->next;
    }
    if (at == NULL) {
        at = mr_openmp_take(sizeof *at);
        *at = (entry){.address = address, .next = *head};
        *head = at;
    }
    return at;
}

static void follow(mr_dependent *task, mr_dependent *before)
{
    if (before == NULL || before == task) {
        return;
    }
    add_link(&task->after, before->end, NULL);
    task->after_count++;
    if (!before->has_ended) {
        add_link(&before->followers, NULL, task);
        task->waits_for++;
    }
}

void mr_dependences_add(mr_dependences **all, mr_dependent *task, const void *address, bool writes,
                        bool stays, mr_dependent_let_go let_go)
{
    entry *at = entry_of(all, address);
    follow(task, at->writer);
    for (mr_dependence_link *reader = at->readers; writes && reader != NULL;
         reader = reader->next) {
        follow(task, reader->task);
    }
    if (!stays) {
        return;
    }
    task->is_depended_on = true;
    task->users++;
    if (writes) {
        drop_users(at, let_go);
        at->writer = task;
    } else {
        add_link(&at->readers, NULL, task);
    }
}

void mr_dependent_comes_after(mr_dependent *task, bool logs, uintptr_t code)
{
    while (task->after != NULL) {
        const void *end = take_link(&task->after).end;
        if (logs) {
            mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_TASK_END, end, code, 0, 0);
        }
    }
}

mr_dependent *mr_dependent_ready(mr_dependent *ended)
{
    while (ended->followers != NULL) {
        mr_dependent *task = take_link(&ended->followers).task;
        if (--task->waits_for == 0) {
            return task;
        }
    }
    return NULL;
}
