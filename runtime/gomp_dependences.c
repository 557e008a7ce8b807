/* What tasks of OpenMP depend on (gomp.h). */
#include "gomp_tasks.h"

#include "steer.h"

/* What children of a task depend on: an address, the last one that writes, and those that have read since. */
typedef struct entry {
    struct entry *next;
    const void *address;
    mr_gomp_task *writer;
    mr_gomp_link *readers;
} entry;

enum { HEADS = 64 };

struct mr_gomp_table {
    entry *heads[HEADS];
};

void mr_gomp_drop_table(mr_gomp_task *task)
{
    mr_gomp_table *table = task->table;
    for (int i = 0; table != NULL && i < HEADS; i++) {
        while (table->heads[i] != NULL) {
            entry *first = table->heads[i];
            table->heads[i] = first->next;
            mr_gomp_let_go(first->writer);
            while (first->readers != NULL) {
                mr_gomp_link *reader = first->readers;
                first->readers = reader->next;
                mr_gomp_let_go(reader->task);
                mr_openmp_give(reader, sizeof *reader);
            }
            mr_openmp_give(first, sizeof *first);
        }
    }
    if (table != NULL) {
        mr_openmp_give(table, sizeof *table);
    }
    task->table = NULL;
}

void mr_gomp_come_after(mr_gomp_task *task, uintptr_t code)
{
    while (task->before != NULL) {
        mr_gomp_link *link = task->before;
        task->before = link->next;
        mr_gomp_task_order(task->team, MR_LOG_AFTER, MR_LOG_ROLE_TASK_END,
                           link->place + MR_GOMP_ENDED, code);
        mr_openmp_give(link, sizeof *link);
    }
}

static entry *entry_of(mr_gomp_task *parent, const void *address)
{
    if (parent->table == NULL) {
        parent->table = mr_openmp_take(sizeof *parent->table);
    }
    entry **head = &parent->table->heads[((uintptr_t)address >> 3) % HEADS];
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

static void add_link(mr_gomp_link **list, const char *place, mr_gomp_task *task)
{
    mr_gomp_link *link = mr_openmp_take(sizeof *link);
    *link = (mr_gomp_link){place, task, *list};
    *list = link;
}

static void follow(mr_gomp_task *task, mr_gomp_task *before)
{
    if (before == NULL || before == task) {
        return;
    }
    add_link(&task->before, mr_gomp_place_of(before), NULL);
    if (!before->has_ended) {
        add_link(&before->followers, NULL, task);
        task->blockers++;
    }
}

/* The task depends on this address; `stays`: others may depend on it. */
static void depend(mr_gomp_task *task, const void *address, bool writes, bool stays)
{
    entry *at = entry_of(task->parent, address);
    follow(task, at->writer);
    if (writes) {
        for (mr_gomp_link *reader = at->readers; reader != NULL; reader = reader->next) {
            follow(task, reader->task);
        }
    }
    if (!stays) {
        return;
    }
    task->has_table_entry = true;
    task->users++;
    if (!writes) {
        add_link(&at->readers, NULL, task);
        return;
    }
    mr_gomp_let_go(at->writer);
    at->writer = task;
    while (at->readers != NULL) {
        mr_gomp_link *reader = at->readers;
        at->readers = reader->next;
        mr_gomp_let_go(reader->task);
        mr_openmp_give(reader, sizeof *reader);
    }
}

void mr_gomp_depend(mr_gomp_task *task, void **what, bool stays)
{
    enum { IS_IN = 1 };
    bool is_old = (uintptr_t)what[0] != 0;
    uintptr_t count = (uintptr_t)what[is_old ? 0 : 1];
    uintptr_t written = (uintptr_t)what[is_old ? 1 : 2];
    uintptr_t given = count;
    void **at = what + 2;
    if (!is_old) {
        given = written + (uintptr_t)what[3] + (uintptr_t)what[4];
        written += (uintptr_t)what[3];
        at = what + 5;
    }
    for (uintptr_t i = 0; i < count; i++) {
        if (i < given) {
            depend(task, at[i], i < written, stays);
        } else {
            void **object = at[i];
            depend(task, object[0], (uintptr_t)object[1] != IS_IN, stays);
        }
    }
}

void mr_gomp_wait_before(mr_thread *thread, mr_gomp_task *task, void **what, uintptr_t code)
{
    task->is_waited_for = true;
    mr_gomp_depend(task, what, false);
    while (task->blockers > 0 || mr_gomp_takes_one(thread)) {
        if (!mr_gomp_run_task(thread, task->team, task->parent, NULL, code) && task->blockers > 0) {
            mr_gomp_wait(thread, task->team, task->team, code);
        }
    }
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
    }
    mr_gomp_come_after(task, code);
}
