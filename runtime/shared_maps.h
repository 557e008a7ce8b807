/*
 * shared_maps: files and segments of shared memory that are mapped twice in the process. What one of the mappings writes is seen in the
 * other one. So in the log the second one is another name of the first one (MR_LOG_ALIAS), byte for byte, as far as they have the same
 * bytes of the file. The first one keeps its addresses as long as there are others: nothing else is mapped there, unless the
 * program asks for that place; then the others are memory of their own from there on, which is told in one line.
 *
 * The caller of each function is busy.
 */
#ifndef MR_RUNTIME_SHARED_MAPS_H
#define MR_RUNTIME_SHARED_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct mr_shared_file {
    dev_t device;
    ino_t inode;
} mr_shared_file;

typedef struct mr_shared_map {
    uintptr_t at;
    size_t bytes;
    int64_t offset; /* in the file */
} mr_shared_map;

/* False: it is no file. */
bool mr_shared_file_of(int fd, mr_shared_file *file);
/* The program has mapped it; the memory was told to be unmapped before. */
void mr_shared_maps_add(const mr_shared_file *file, const mr_shared_map *map, uintptr_t code);
/* This memory is unmapped. True: other mappings have its bytes, under its addresses. */
bool mr_shared_maps_remove(uintptr_t at, size_t bytes, uintptr_t code);
/* The same, and something else is mapped there. */
void mr_shared_maps_replace(uintptr_t at, size_t bytes, uintptr_t code);
/* mremap has made of the mapping of `before` bytes one of `bytes`, perhaps elsewhere. True: as above, of what is not mapped
 * there any more. */
bool mr_shared_maps_move(uintptr_t from, size_t before, uintptr_t to, size_t bytes, uintptr_t code);
/* The log of a child begins with the other names that it has got. */
void mr_shared_maps_log(void);
/* The bytes of the mapping that begins there, 0: it is not known. */
size_t mr_shared_maps_bytes(uintptr_t at);

/* The address of the first mapping for one in another one. */
const void *mr_shared_maps_first(const void *address);

#endif
