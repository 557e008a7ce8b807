/*
 * kmpc_tasks: between the files about tasks. As of kmpc.h.
 */
#ifndef MR_RUNTIME_KMPC_TASKS_H
#define MR_RUNTIME_KMPC_TASKS_H

#include "kmpc.h"

enum { MR_KMPC_FINAL = 2, MR_KMPC_DETACHABLE = 64 };

/* What compiled code has of a task. Its private variables follow, then pointers to those that it shares. */
typedef struct mr_kmpc_body {
    void *shared;
    int (*routine)(int number, void *body);
    int part;
    union {
        int priority;
        int (*destructors)(int number, void *body);
    } data;
} mr_kmpc_body;

/* The block that it is in begins with a pointer to the task. */
enum { MR_KMPC_BLOCK_HEAD = 16 };
static inline void *mr_kmpc_block_of(void *body)
{
    return (char *)body - MR_KMPC_BLOCK_HEAD;
}
static inline mr_kmpc_task **mr_kmpc_task_of(void *body)
{
    return mr_kmpc_block_of(body);
}

typedef struct mr_kmpc_dependence {
    const void *address;
    size_t bytes;
    unsigned char flags; /* 1 in, 2 out, 3 inout, 4 mutexinoutset, 8 inoutset */
} mr_kmpc_dependence;

/* A child of the task that the thread does. */
mr_kmpc_task *mr_kmpc_task_make(mr_kmpc_thread *self, void *body, unsigned flags, size_t body_bytes,
                                size_t block_bytes);
/* One reference less. */
void mr_kmpc_task_forget(mr_kmpc_task *task);

/* It comes after others of the same parent. */
void mr_kmpc_task_depends(mr_kmpc_task *parent, mr_kmpc_task *task, int count,
                          const mr_kmpc_dependence *all, bool is_wait);

/* Somebody may do it from here on; `waits`: it is done here, at once. */
void mr_kmpc_task_spawn(mr_thread *thread, mr_kmpc_thread *self, mr_kmpc_task *task, bool waits,
                        uintptr_t code);

void mr_kmpc_task_run(mr_thread *thread, mr_kmpc_thread *self, mr_kmpc_task *task, uintptr_t code);
void mr_kmpc_task_complete(mr_kmpc_thread *self, mr_kmpc_task *task, uintptr_t code);

#endif
