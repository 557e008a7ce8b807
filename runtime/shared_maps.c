#include "shared_maps.h"

#include "log.h"
#include "state.h"
#include "sys.h"
#include "writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Of later ones nothing is known, which is told once. */
enum { FIRSTS_MAX = 4096, ALIASES_MAX = 256, PAGE = 4096 };

/* Bytes of a file where they are mapped first. */
typedef struct first {
    mr_shared_map map; /* no bytes: none */
    mr_shared_file file;
    bool is_gone; /* unmapped, but other mappings have its bytes */
} first;

/* Memory that has the bytes of a first mapping. */
typedef struct alias {
    uintptr_t at;
    size_t bytes; /* 0: none */
    uintptr_t to;
} alias;

static first firsts[FIRSTS_MAX];
static alias aliases[ALIASES_MAX];
static size_t first_count, alias_count;
static bool is_told, firsts_are_told;

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

static bool meet(uintptr_t one, size_t one_bytes, uintptr_t other, size_t other_bytes)
{
    return one_bytes > 0 && other_bytes > 0 && one < other + other_bytes && other < one + one_bytes;
}

static void tell(void)
{
    if (!is_told) {
        mr_complain("a file is mapped twice: some mappings are different memory in the trace, and "
                    "races between them are missed, or may be false",
                    NULL);
    }
    is_told = true;
}

static void log_alias(const alias *it, uintptr_t code)
{
    mr_write_alias((const void *)it->at, code, it->bytes, it->to);
}

static void add_first(const first *it)
{
    size_t at = 0;
    while (at < first_count && firsts[at].map.bytes > 0) {
        at++;
    }
    if (at == FIRSTS_MAX) {
        if (!firsts_are_told) {
            mr_complain(
                "more than 4096 shared mappings: when the bytes of a later one are mapped twice, "
                "they are different memory in the trace, and races between them are missed, or may "
                "be false",
                NULL);
        }
        firsts_are_told = true;
        return;
    }
    firsts[at] = *it;
    first_count += at == first_count;
}

/* False: there are too many. */
static bool add_alias(const alias *it)
{
    size_t at = 0;
    while (at < alias_count && aliases[at].bytes > 0) {
        at++;
    }
    if (at == ALIASES_MAX) {
        return false;
    }
    aliases[at] = *it;
    alias_count += at == alias_count;
    return true;
}

bool mr_shared_file_of(int fd, mr_shared_file *file)
{
    struct stat is;
    if (mr_sys(SYS_newfstatat, fd, (long)"", (long)&is, AT_EMPTY_PATH, 0, 0) != 0) {
        return false;
    }
    *file = (mr_shared_file){is.st_dev, is.st_ino};
    return true;
}

/* The first mapping that has the byte of the file. NULL: none; then `*bytes` is cut where one begins. */
static const first *find_first(const mr_shared_file *file, int64_t offset, size_t *bytes)
{
    for (size_t i = 0; i < first_count; i++) {
        const first *it = &firsts[i];
        if (it->map.bytes == 0 || it->file.device != file->device ||
            it->file.inode != file->inode) {
            continue;
        }
        if (offset >= it->map.offset && offset < it->map.offset + (int64_t)it->map.bytes) {
            *bytes = least(*bytes, (size_t)(it->map.offset + (int64_t)it->map.bytes - offset));
            return it;
        }
        if (it->map.offset > offset) {
            *bytes = least(*bytes, (size_t)(it->map.offset - offset));
        }
    }
    return NULL;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

void mr_shared_maps_add(const mr_shared_file *file, const mr_shared_map *map, uintptr_t code)
{
    size_t left = mr_rt.logging ? whole_pages(map->bytes) : 0;
    mr_shared_map rest = *map;
    while (left > 0) {
        rest.bytes = left;
        const first *known = find_first(file, rest.offset, &rest.bytes);
        if (known == NULL) {
            add_first(&(first){rest, *file, false});
        } else {
            alias it = {rest.at, rest.bytes,
                        known->map.at + (size_t)(rest.offset - known->map.offset)};
            if (add_alias(&it)) {
                log_alias(&it, code);
            } else {
                tell();
            }
        }
        rest.at += rest.bytes;
        rest.offset += (int64_t)rest.bytes;
        left -= rest.bytes;
    }
}

/* What is left of [at, at + bytes) behind the part that ends at `end`. */
static size_t behind(uintptr_t at, size_t bytes, uintptr_t end)
{
    return at + bytes > end ? at + bytes - end : 0;
}

static void end_aliases(uintptr_t at, size_t bytes, bool of_target, uintptr_t code)
{
    for (size_t i = 0; i < alias_count; i++) {
        alias was = aliases[i];
        uintptr_t start = of_target ? was.to : was.at;
        if (!meet(at, bytes, start, was.bytes)) {
            continue;
        }
        size_t before = at > start ? at - start : 0;
        size_t after = behind(start, was.bytes, at + bytes);
        log_alias(&(alias){was.at + before, was.bytes - before - after, 0}, code);
        aliases[i].bytes = before;
        alias rest = {was.at + was.bytes - after, after, was.to + was.bytes - after};
        if (after > 0 && !add_alias(&rest)) {
            log_alias(&(alias){rest.at, after, 0}, code);
            tell();
        }
    }
}

static bool has_aliases(const mr_shared_map *map)
{
    for (size_t i = 0; i < alias_count; i++) {
        if (meet(map->at, map->bytes, aliases[i].to, aliases[i].bytes)) {
            return true;
        }
    }
    return false;
}

static first part_of(const first *whole, size_t from, size_t bytes)
{
    first part = *whole;
    part.map.at += from;
    part.map.offset += (int64_t)from;
    part.map.bytes = bytes;
    return part;
}

/* Leaves of a first mapping the part in [at, at + bytes); the others are mappings of their own. */
static void cut(first *it, uintptr_t at, size_t bytes)
{
    first was = *it;
    size_t before = at > was.map.at ? at - was.map.at : 0;
    size_t after = behind(was.map.at, was.map.bytes, at + bytes);
    first head = part_of(&was, 0, before);
    first tail = part_of(&was, was.map.bytes - after, after);
    *it = part_of(&was, before, was.map.bytes - before - after);
    if (before > 0) {
        add_first(&head);
    }
    if (after > 0) {
        add_first(&tail);
    }
}

/* Nothing is mapped any more that has the bytes of these. */
static void forget_gone(void)
{
    for (size_t i = 0; i < first_count; i++) {
        if (firsts[i].is_gone && !has_aliases(&firsts[i].map)) {
            firsts[i].map.bytes = 0;
        }
    }
}

bool mr_shared_maps_remove(uintptr_t at, size_t bytes, uintptr_t code)
{
    bool stays = false;
    bytes = whole_pages(bytes);
    if (first_count == 0) {
        return false;
    }
    end_aliases(at, bytes, false, code);
    for (size_t i = 0; i < first_count; i++) {
        first *it = &firsts[i];
        if (!meet(at, bytes, it->map.at, it->map.bytes)) {
            continue;
        }
        cut(it, at, bytes);
        if (has_aliases(&it->map) && it->is_gone) { /* another mapping takes its place */
            end_aliases(at, bytes, true, code);
            tell();
        }
        it->is_gone = true;
        stays = stays || has_aliases(&it->map);
    }
    forget_gone();
    return stays;
}

void mr_shared_maps_replace(uintptr_t at, size_t bytes, uintptr_t code)
{
    if (mr_shared_maps_remove(at, bytes, code)) {
        mr_shared_maps_remove(at, bytes, code); /* its place is taken at once */
    }
}

/* What is mapped there. False: it is not known. */
static bool find(uintptr_t at, mr_shared_file *file, int64_t *offset)
{
    at = (uintptr_t)mr_shared_maps_first((const void *)at);
    for (size_t i = 0; i < first_count; i++) {
        if (at - firsts[i].map.at < firsts[i].map.bytes) {
            *file = firsts[i].file;
            *offset = firsts[i].map.offset + (int64_t)(at - firsts[i].map.at);
            return true;
        }
    }
    return false;
}

bool mr_shared_maps_move(uintptr_t from, size_t before, uintptr_t to, size_t bytes, uintptr_t code)
{
    mr_shared_file file;
    int64_t offset;
    bool is_known = find(from, &file, &offset), stays = false;
    size_t same = from == to ? whole_pages(least(before, bytes)) : 0; /* they do not move */
    if (before > same) {
        stays = mr_shared_maps_remove(from + same, before - same, code);
    }
    if (bytes > same) {
        mr_shared_maps_replace(to + same, bytes - same, code);
    }
    if (bytes > same && is_known) {
        mr_shared_map map = {to + same, bytes - same, offset + (int64_t)same};
        mr_shared_maps_add(&file, &map, code);
    }
    return stays;
}

void mr_shared_maps_log(void)
{
    for (size_t i = 0; i < alias_count; i++) {
        if (aliases[i].bytes > 0) {
            log_alias(&aliases[i], 0);
        }
    }
}

size_t mr_shared_maps_bytes(uintptr_t at)
{
    for (size_t i = 0; i < first_count; i++) {
        if (firsts[i].map.at == at && firsts[i].map.bytes > 0) {
            return firsts[i].map.bytes;
        }
    }
    for (size_t i = 0; i < alias_count; i++) {
        if (aliases[i].at == at) {
            return aliases[i].bytes;
        }
    }
    return 0;
}

const void *mr_shared_maps_first(const void *address)
{
    for (size_t i = 0; i < alias_count; i++) {
        if ((uintptr_t)address - aliases[i].at < aliases[i].bytes) {
            return (const void *)((uintptr_t)address - aliases[i].at + aliases[i].to);
        }
    }
    return address;
}
