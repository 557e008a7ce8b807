#include "shared_maps.h"

#include "state.h"
#include "sys.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { KEPT_MAX = 256 }; /* of later ones nothing is told */

static struct {
    mr_shared_map map; /* no bytes: none */
    dev_t device;
    ino_t inode;
} kept[KEPT_MAX];
static size_t kept_count;
static bool is_told;

static bool meet(uintptr_t one, size_t one_bytes, uintptr_t other, size_t other_bytes)
{
    return one < other + other_bytes && other < one + one_bytes;
}

void mr_shared_maps_add(const mr_shared_map *map)
{
    struct stat is;
    if (is_told || !mr_rt.logging ||
        mr_sys(SYS_newfstatat, map->fd, (long)"", (long)&is, AT_EMPTY_PATH, 0, 0) != 0) {
        return;
    }
    size_t free_entry = kept_count;
    for (size_t i = 0; i < kept_count && !is_told; i++) {
        const mr_shared_map *other = &kept[i].map;
        free_entry = other->bytes == 0 ? i : free_entry;
        is_told = kept[i].device == is.st_dev && kept[i].inode == is.st_ino &&
                  ((map->protection | other->protection) & PROT_WRITE) != 0 &&
                  meet((uintptr_t)map->offset, map->bytes, (uintptr_t)other->offset, other->bytes);
    }
    if (is_told) {
        mr_complain(
            "a file is mapped twice: the mappings are different memory in the trace, and races "
            "between them are missed, or may be false",
            NULL);
    }
    if (free_entry < KEPT_MAX) {
        kept[free_entry].map = *map;
        kept[free_entry].device = is.st_dev;
        kept[free_entry].inode = is.st_ino;
        kept_count += free_entry == kept_count;
    }
}

void mr_shared_maps_remove(uintptr_t at, size_t bytes)
{
    for (size_t i = 0; i < kept_count; i++) {
        if (meet(at, bytes, kept[i].map.at, kept[i].map.bytes)) {
            kept[i].map.bytes = 0;
        }
    }
}
