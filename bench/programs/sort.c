/* Merge sort, the two halves in threads of their own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100000 };

typedef struct part {
    int *items, *room;
    long count;
} part;

static void sort(part self)
{
    if (self.count < 2)
        return;
    long half = self.count / 2;
    sort((part){self.items, self.room, half});
    sort((part){self.items + half, self.room + half, self.count - half});
    for (long i = 0, j = half, k = 0; k < self.count; k++) {
        int take_left = j >= self.count || (i < half && self.items[i] <= self.items[j]);
        self.room[k] = take_left ? self.items[i++] : self.items[j++];
    }
    for (long k = 0; k < self.count; k++)
        self.items[k] = self.room[k];
}

static void *run(void *argument)
{
    sort(*(part *)argument);
    return NULL;
}

int main(void)
{
    int *items = malloc(COUNT * sizeof *items), *room = malloc(COUNT * sizeof *room);
    part halves[2] = {{items, room, COUNT / 2}, {items + COUNT / 2, room + COUNT / 2, COUNT / 2}};
    pthread_t other;
    unsigned state = 1;
    for (int i = 0; i < COUNT; i++)
        items[i] = (int)((state = state * 1664525 + 1013904223) >> 8);
    pthread_create(&other, NULL, run, &halves[1]);
    run(&halves[0]);
    pthread_join(other, NULL);
    sort((part){items, room, COUNT});
    printf("%d\n", items[COUNT / 2]);
    free(items);
    free(room);
    return 0;
}
