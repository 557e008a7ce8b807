#include "names.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MR_NAMES_MIN_SLOTS = 64 };

static const uint64_t hash_multiplier = 0x9E3779B97F4A7C15u;

static uint64_t load_word(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Multiply-and-fold over 8-byte words; the last word overlaps the one before it, so that no loop
 * over single bytes is needed. Names in traces are mostly 2 to 16 bytes. */
static uint32_t hash_text(const char *text, uint32_t length)
{
    uint64_t hash = length * hash_multiplier;
    uint64_t word = 0;
    if (length >= 8) {
        for (uint32_t i = 0; i + 8 < length; i += 8) {
            hash = (hash ^ load_word(text + i)) * hash_multiplier;
            hash ^= hash >> 32;
        }
        word = load_word(text + length - 8);
    } else {
        for (uint32_t i = 0; i < length; i++)
            word = word << 8 | (unsigned char)text[i];
    }
    hash = (hash ^ word) * hash_multiplier;
    hash ^= hash >> 29;
    return (uint32_t)((hash * hash_multiplier) >> 32);
}

void mr_names_init(mr_names *names)
{
    memset(names, 0, sizeof *names);
    mr_arena_init(&names->strings);
}

void mr_names_free(mr_names *names)
{
    free(names->items);
    free(names->slots);
    mr_arena_free(&names->strings);
    mr_names_init(names);
}

/* memcmp, for names: a call costs more than comparing a few bytes. */
static bool same_text(const char *a, const char *b, uint32_t length)
{
    if (length >= 8) {
        for (uint32_t i = 0; i + 8 < length; i += 8) {
            if (load_word(a + i) != load_word(b + i))
                return false;
        }
        return load_word(a + length - 8) == load_word(b + length - 8);
    }
    for (uint32_t i = 0; i < length; i++) {
        if (a[i] != b[i])
            return false;
    }
    return true;
}

/* The slot of the name, or the free slot where it belongs. There is always a free slot. */
static uint32_t *find_slot(const mr_names *names, const char *text, uint32_t length, uint32_t hash)
{
    uint32_t mask = names->slot_count - 1;
    uint32_t slot = hash & mask;
    while (names->slots[slot]) {
        const mr_name *name = &names->items[names->slots[slot] - 1];
        if (name->hash == hash && name->length == length && same_text(name->text, text, length))
            break;
        slot = (slot + 1) & mask;
    }
    return &names->slots[slot];
}

/* Doubles the slots; numbers go in again in their order, which mr_names_truncate relies on. */
static bool grow_slots(mr_names *names)
{
    if (names->slot_count > UINT32_MAX / 4)
        return false;
    uint32_t slot_count = names->slot_count ? names->slot_count * 2 : MR_NAMES_MIN_SLOTS;
    uint32_t *slots = mr_calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t number = 0; number < names->count; number++) {
        uint32_t slot = names->items[number].hash & (slot_count - 1);
        while (slots[slot])
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = number + 1;
    }
    free(names->slots);
    names->slots = slots;
    names->slot_count = slot_count;
    return true;
}

static char *copy_text(mr_names *names, const char *text, uint32_t length)
{
    char *copy = mr_arena_alloc(&names->strings, (size_t)length + 1, 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static bool append(mr_names *names, const char *text, uint32_t length, uint32_t hash)
{
    void *items = names->items;
    if (!mr_grow(&items, &names->capacity, (size_t)names->count + 1, sizeof *names->items))
        return false;
    names->items = items;
    char *copy = copy_text(names, text, length);
    if (!copy)
        return false;
    names->items[names->count++] = (mr_name){.text = copy, .length = length, .hash = hash};
    return true;
}

bool mr_names_add(mr_names *names, const char *text, uint32_t length, uint32_t *number)
{
    uint32_t hash = hash_text(text, length);
    if (names->slot_count) {
        uint32_t found = *find_slot(names, text, length, hash);
        if (found) {
            *number = found - 1;
            return true;
        }
    }
    if (names->count >= names->slot_count / 2 && !grow_slots(names))
        return false;
    if (!append(names, text, length, hash))
        return false;
    *find_slot(names, text, length, hash) = names->count;
    *number = names->count - 1;
    return true;
}

bool mr_names_find(const mr_names *names, const char *text, uint32_t length, uint32_t *number)
{
    if (!names->slot_count)
        return false;
    uint32_t found = *find_slot(names, text, length, hash_text(text, length));
    if (!found)
        return false;
    *number = found - 1;
    return true;
}

void mr_names_truncate(mr_names *names, uint32_t count)
{
    while (names->count > count) {
        /* The youngest name: no probe sequence of another name runs over its slot. */
        uint32_t mask = names->slot_count - 1;
        uint32_t slot = names->items[names->count - 1].hash & mask;
        while (names->slots[slot] != names->count)
            slot = (slot + 1) & mask;
        names->slots[slot] = 0;
        names->count--;
    }
}

bool mr_names_set_display(mr_names *names, uint32_t number, const char *text, uint32_t length)
{
    char *copy = copy_text(names, text, length);
    if (!copy)
        return false;
    names->items[number].display = copy;
    return true;
}

const char *mr_names_display(const mr_names *names, uint32_t number)
{
    const mr_name *name = &names->items[number];
    return name->display ? name->display : name->text;
}
