/*
 * shared_maps: files that are mapped twice in the process, shared. What one of the mappings writes is seen in the other one, and
 * for the recording they are different memory. So the first time this is told, in one line.
 */
#ifndef MR_RUNTIME_SHARED_MAPS_H
#define MR_RUNTIME_SHARED_MAPS_H

#include <stddef.h>
#include <stdint.h>

typedef struct mr_shared_map {
    uintptr_t at;
    size_t bytes;
    int protection, fd;
    int64_t offset; /* in the file */
} mr_shared_map;

/* The program has mapped it. The caller is busy. */
void mr_shared_maps_add(const mr_shared_map *map);
/* This memory is unmapped. */
void mr_shared_maps_remove(uintptr_t at, size_t bytes);

#endif
