/*
 * names: strings to dense numbers and back (interning).
 *
 * Numbers are 0, 1, … in the order of first appearance. Lookup is O(length) expected; strings are
 * kept until mr_names_free. Each name may carry a longer text for people (`#@loc`, `#@var`, …).
 *
 * This table is not that of base/table.h, because looking up names is most of the work of reading a
 * text: a slot holds the hash beside the number, so that a new name costs one cache line and moves without a look at its
 * text; texts are compared word by word; and the youngest names can be forgotten. A large table has parts that grow at
 * different times. So memory grows little by little: only one part at a time has its old and its new slots. A reader
 * that looks up many names makes their keys first and fetches the slots ahead:
 *
 *   mr_names_key → mr_names_fetch → (other work) → mr_names_look | mr_names_add_key
 *
 * Other threads may look for names while one thread adds them, when `shared` is set, with the lock held for reading.
 * What moves slots or items waits until it is free. They find what was added before they looked, and
 * perhaps more. No name may be forgotten then.
 *
 * Names that come numbered (.mrt) are indexed by base/table.h: mr_names_take enters many at once, in
 * 8 to 16 bytes a name. That index serves to find a name that is there twice, and mr_names_find.
 */
#ifndef MR_TRACE_NAMES_H
#define MR_TRACE_NAMES_H

#include "base/arena.h"
#include "base/table.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

typedef struct mr_name {
    const char *text;    /* as in the file, terminated */
    const char *display; /* text for people; NULL: none was given */
    uint32_t length;
    uint32_t hash;
} mr_name;

enum { MR_NAME_WORDS = 3, MR_NAME_SHORT_BYTES = 24 };

/* The hash of a name in the upper half, its number + 1 in the lower one. 0: free. */
typedef uint64_t mr_name_slot;

/* The slots of the names whose hashes begin alike: open addressing. */
typedef struct mr_name_part {
    mr_name_slot *slots; /* within `memory` */
    void *memory;        /* owned; base/huge.h */
    size_t memory_bytes;
    uint32_t mask; /* the number of slots, a power of two, less one */
    uint32_t used;
} mr_name_part;

typedef struct mr_names {
    mr_name *items;
    uint32_t count;
    size_t capacity;
    mr_name_part *parts; /* NULL: none so far */
    uint32_t part_count; /* a power of two */
    uint32_t part_shift; /* hash >> part_shift is the part of a name */
    mr_table index;      /* of names that were taken */
    mr_arena strings;
    mr_arena_mark last_string; /* before the text of the last name, while last_count is `count` */
    uint32_t last_count;
    pthread_rwlock_t *shared; /* borrowed; NULL: one thread only */
} mr_names;

/* A name to look up. */
typedef struct mr_name_key {
    /* up to 24 bytes: the bytes of the name, then zeros; longer: a digest */
    uint64_t words[MR_NAME_WORDS];
    const char *text;
    uint32_t length, hash;
} mr_name_key;

void mr_names_init(mr_names *names);
void mr_names_free(mr_names *names);

/* The number of the name, added when new. False: no memory (or 2^32 - 2 names). */
bool mr_names_add(mr_names *names, const char *text, uint32_t length, uint32_t *number);
/* The number of the name, or false when it was never added. */
bool mr_names_find(const mr_names *names, const char *text, uint32_t length, uint32_t *number);
/* Forgets all names but the first `count`, e.g. those of an event that was refused. O(1) a name. */
void mr_names_truncate(mr_names *names, uint32_t count);
/* Sets the text for people of a name (copied). */
bool mr_names_set_display(mr_names *names, uint32_t number, const char *text, uint32_t length);
/* The text for people when there is one, else the name. */
const char *mr_names_display(const mr_names *names, uint32_t number);

/* The names are complete: gives back the slots. They take most of the memory of short names.
 * mr_names_pack: a smaller index is made, for mr_names_find alone. False: no memory, and nothing has
 * changed. mr_names_drop_index: no name can be found any more. */
bool mr_names_pack(mr_names *names);
void mr_names_drop_index(mr_names *names);

/*
 * Indexes the names from `first` on, whose items the caller has put (`count` included; `hash` is
 * made here). Their texts stay where they are, and MR_NAME_SHORT_BYTES bytes can be read at each.
 * All names came this way; none can be added or forgotten otherwise. `*twice` is the first name
 * that was there before, or `count`; the names from it on are then not indexed. False: no memory.
 */
bool mr_names_take(mr_names *names, uint32_t first, uint32_t *twice);

/* As mr_names_add, for a key. */
bool mr_names_add_key(mr_names *names, const mr_name_key *key, uint32_t *number);
/* For names of more than 24 bytes. */
void mr_names_key_of_long(mr_name_key *key);

/* The words of a short name. MR_NAME_SHORT_BYTES bytes at `text` can be read, whatever `length`. */
static inline void mr_names_words(const char *text, uint32_t length, uint64_t words[MR_NAME_WORDS])
{
    static const uint8_t masks[2 * MR_NAME_SHORT_BYTES] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                           255, 255, 255, 255, 255, 255, 255, 255,
                                                           255, 255, 255, 255, 255, 255, 255, 255};
    const uint8_t *from = masks + MR_NAME_SHORT_BYTES - length;
    for (size_t i = 0; i < MR_NAME_WORDS; i++) {
        uint64_t word, mask;
        memcpy(&word, text + sizeof word * i, sizeof word);
        memcpy(&mask, from + sizeof mask * i, sizeof mask);
        words[i] = word & mask;
    }
}

/* Keyed by the seed of the process: names cannot be chosen so that they collide. */
static inline uint32_t mr_names_hash(const uint64_t words[MR_NAME_WORDS])
{
    uint64_t seed = mr_table_seed();
    uint64_t hash = mr_table_fold(words[0] ^ seed, words[1] ^ (seed ^ 0xC2B2AE3D27D4EB4Fu));
    hash = mr_table_fold(hash ^ words[2], seed ^ 0x9E3779B97F4A7C15u);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Makes the key; the same condition on `text`. */
static inline void mr_names_key(mr_name_key *key, const char *text, uint32_t length)
{
    key->text = text;
    key->length = length;
    if (length > MR_NAME_SHORT_BYTES) {
        mr_names_key_of_long(key);
        return;
    }
    mr_names_words(text, length, key->words);
    key->hash = mr_names_hash(key->words);
}

/* The part of the names with such a hash. There must be parts. */
static inline mr_name_part *mr_names_part(const mr_names *names, uint32_t hash)
{
    return names->parts + ((uint64_t)hash >> names->part_shift);
}

static inline uint32_t mr_name_slot_number(mr_name_slot slot)
{
    return (uint32_t)slot;
}

static inline uint32_t mr_name_slot_hash(mr_name_slot slot)
{
    return (uint32_t)(slot >> 32);
}

/* `hash` is that of the key. (Always inline: gcc leaves out a call that does nothing but fetch.) */
__attribute__((always_inline)) static inline void mr_names_fetch(const mr_names *names,
                                                                 uint32_t hash)
{
    if (!names->parts)
        return;
    const mr_name_part *part = mr_names_part(names, hash);
    __builtin_prefetch(part->slots + (hash & part->mask));
}

/* Is the name that of the key? It was added, so the words of a short one are followed by zeros, as in the key. */
static inline bool mr_names_same(const mr_name *name, const mr_name_key *key)
{
    if (name->length != key->length)
        return false;
    if (key->length > MR_NAME_SHORT_BYTES)
        return !memcmp(name->text, key->text, key->length);
    uint64_t own[MR_NAME_WORDS];
    memcpy(own, name->text, 2 * sizeof *own);
    uint64_t difference = (own[0] ^ key->words[0]) | (own[1] ^ key->words[1]);
    if (key->length < 2 * sizeof *own)
        return !difference;
    memcpy(own + 2, name->text + 2 * sizeof *own, sizeof *own);
    return !(difference | (own[2] ^ key->words[2]));
}

/* Number + 1 of the name, 0 when it was never added. Another thread than the one that adds names holds `shared`. */
static inline uint32_t mr_names_look(const mr_names *names, const mr_name_key *key)
{
    if (!names->parts)
        return 0;
    const mr_name_part *part = mr_names_part(names, key->hash);
    for (uint32_t at = key->hash & part->mask;; at = (at + 1) & part->mask) {
        /* The slot is filled last: with it, the item and its text are there. */
        mr_name_slot slot = __atomic_load_n(&part->slots[at], __ATOMIC_ACQUIRE);
        if (!slot)
            return 0;
        if (mr_name_slot_hash(slot) == key->hash &&
            mr_names_same(&names->items[mr_name_slot_number(slot) - 1], key))
            return mr_name_slot_number(slot);
    }
}

#endif
