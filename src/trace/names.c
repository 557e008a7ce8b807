#include "names.h"

#include "base/assert.h"
#include "base/huge.h"
#include "base/memory.h"

#include <stdlib.h>

enum { MR_NAMES_MIN_SLOTS = 64, MR_NAMES_SLOT_ALIGN = 64 };

static uint64_t load_word(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Multiply-and-fold over 8-byte words, keyed; the last word overlaps the one before it, so that no
 * loop over single bytes is needed. */
void mr_names_key_of_long(mr_name_key *key)
{
    uint64_t seed = mr_table_seed(), hash = key->length ^ seed;
    const char *last = key->text + key->length - sizeof(uint64_t);
    for (const char *at = key->text; at < last; at += sizeof(uint64_t))
        hash = mr_table_fold(hash ^ load_word(at), seed ^ 0x9E3779B97F4A7C15u);
    key->words[0] = hash;
    key->words[1] = load_word(last);
    key->words[2] = load_word(key->text);
    key->hash = mr_names_hash(key->words);
}

/* As mr_names_key, for a text whose following bytes must not be read. */
static mr_name_key make_key(const char *text, uint32_t length)
{
    mr_name_key key;
    char copy[MR_NAME_SHORT_BYTES] = {0};
    if (length && length <= MR_NAME_SHORT_BYTES)
        memcpy(copy, text, length);
    mr_names_key(&key, length <= MR_NAME_SHORT_BYTES ? copy : text, length);
    key.text = text;
    return key;
}

/* Around what moves slots or items. */
static void begin_change(const mr_names *names)
{
    if (names->shared)
        pthread_rwlock_wrlock(names->shared);
}

static void end_change(const mr_names *names)
{
    if (names->shared)
        pthread_rwlock_unlock(names->shared);
}

/* ---- slots ---- */

/* A table of ONE_PART_SLOTS (8 MiB) or fewer has one part; a larger one has MANY_PARTS, of 2 MiB or more each,
 * so that they have large pages (base/huge.h). */
enum { ONE_PART_SLOTS = 1 << 20, PART_BITS = 3, MANY_PARTS = 1 << PART_BITS, ONE_SHIFT = 32 };

static void put(mr_name_part *part, mr_name_slot filled)
{
    uint32_t at = mr_name_slot_hash(filled) & part->mask;
    while (part->slots[at])
        at = (at + 1) & part->mask;
    __atomic_store_n(&part->slots[at], filled, __ATOMIC_RELEASE); /* mr_names_look */
    part->used++;
}

static bool make_part(mr_name_part *part, uint32_t slot_count)
{
    /* Aligned by hand, so that no slot lies across two cache lines. */
    size_t bytes = (size_t)slot_count * sizeof(mr_name_slot) + MR_NAMES_SLOT_ALIGN;
    void *memory = mr_huge_new(bytes);
    if (!memory)
        return false;
    size_t past = (uintptr_t)memory % MR_NAMES_SLOT_ALIGN;
    *part =
        (mr_name_part){.slots = (void *)((char *)memory + (past ? MR_NAMES_SLOT_ALIGN - past : 0)),
                       .memory = memory,
                       .memory_bytes = bytes,
                       .mask = slot_count - 1};
    return true;
}

static void free_parts(mr_name_part *parts, uint32_t part_count)
{
    for (uint32_t i = 0; i < part_count; i++)
        mr_huge_free(parts[i].memory, parts[i].memory_bytes);
    free(parts);
}

/* Parts with `slot_count` slots each, and the names of `from` (may be NULL) in them. NULL: no memory. */
static mr_name_part *make_parts(uint32_t part_count, uint32_t part_shift, uint32_t slot_count,
                                const mr_name_part *from)
{
    mr_name_part *parts = mr_calloc(part_count, sizeof *parts);
    bool made = parts != NULL;
    for (uint32_t i = 0; i < part_count && made; i++)
        made = make_part(&parts[i], slot_count);
    if (!made) {
        free_parts(parts, parts ? part_count : 0);
        return NULL;
    }
    for (uint32_t i = 0; from && i <= from->mask; i++)
        if (from->slots[i])
            put(&parts[(uint64_t)mr_name_slot_hash(from->slots[i]) >> part_shift], from->slots[i]);
    return parts;
}

/* Makes the first slots of all, or puts many parts in the place of the one. */
static bool start_parts(mr_names *names)
{
    const mr_name_part *from = names->parts;
    uint32_t part_count = from ? MANY_PARTS : 1;
    uint32_t part_shift = from ? ONE_SHIFT - PART_BITS : ONE_SHIFT;
    mr_name_part *parts = make_parts(
        part_count, part_shift, from ? 2 * ONE_PART_SLOTS / MANY_PARTS : MR_NAMES_MIN_SLOTS, from);
    if (!parts)
        return false;
    begin_change(names);
    free_parts(names->parts, names->part_count);
    names->parts = parts;
    names->part_count = part_count;
    names->part_shift = part_shift;
    end_change(names);
    return true;
}

/* Doubles the slots of a part. */
static bool grow_part(const mr_names *names, mr_name_part *part)
{
    if (part->mask >= UINT32_MAX / 4)
        return false;
    mr_name_part *grown = make_parts(1, ONE_SHIFT, (part->mask + 1) * 2, part);
    if (!grown)
        return false;
    begin_change(names);
    mr_huge_free(part->memory, part->memory_bytes);
    *part = *grown;
    end_change(names);
    free(grown);
    return true;
}

/* Part `number` grows when it has so many names. A small table has many free slots: nearly every name
 * is in its first slot, and the processor predicts the branch. A large table has few, so that free
 * slots do not take the room of names in the cache. Its parts grow at different times. */
static uint32_t room_of(const mr_names *names, uint32_t number)
{
    enum { SMALL_SLOTS = 1 << 16 };
    uint32_t slot_count = names->parts[number].mask + 1;
    return names->part_count == 1 && slot_count <= SMALL_SLOTS ? slot_count / 4
                                                               : slot_count / 64 * (33 + number);
}

/* Makes room for one more name with such a hash. */
static bool make_room(mr_names *names, uint32_t hash)
{
    if (!names->parts)
        return start_parts(names);
    mr_name_part *part = mr_names_part(names, hash);
    if (part->used < room_of(names, (uint32_t)(part - names->parts)))
        return true;
    return names->part_count == 1 && part->mask + 1 >= ONE_PART_SLOTS ? start_parts(names)
                                                                      : grow_part(names, part);
}

/* Frees the slot of the name. A name behind it that passed over this slot when it was placed moves there. */
static void take_out(const mr_names *names, uint32_t number)
{
    mr_name_part *part = mr_names_part(names, names->items[number].hash);
    mr_name_slot *slots = part->slots;
    uint32_t mask = part->mask, at = names->items[number].hash & mask;
    while (mr_name_slot_number(slots[at]) != number + 1) {
        MR_ASSERT(slots[at]); /* no free slot comes before that of the name */
        at = (at + 1) & mask;
    }
    for (uint32_t next = (at + 1) & mask; slots[next]; next = (next + 1) & mask) {
        uint32_t home = mr_name_slot_hash(slots[next]) & mask;
        if (((next - home) & mask) < ((next - at) & mask))
            continue; /* its search begins behind `at` */
        slots[at] = slots[next];
        at = next;
    }
    slots[at] = 0;
    part->used--;
}

void mr_names_init(mr_names *names)
{
    memset(names, 0, sizeof *names);
    mr_arena_init(&names->strings);
}

void mr_names_free(mr_names *names)
{
    mr_huge_free(names->items, names->capacity * sizeof *names->items);
    free_parts(names->parts, names->part_count);
    mr_table_free(&names->index);
    mr_arena_free(&names->strings);
    mr_names_init(names);
}

static char *copy_text(mr_names *names, const char *text, uint32_t length)
{
    char *copy = mr_arena_alloc(&names->strings, (size_t)length + 1, 1);
    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* A short text as the words of its key and zeros, for mr_names_same: two words, or four. */
static char *copy_words(mr_names *names, const mr_name_key *key)
{
    enum { MOST = MR_NAME_WORDS + 1 };
    const uint64_t end = 0;
    size_t count = key->length < 2 * sizeof *key->words ? 2 : MOST;
    char *copy = mr_arena_alloc(&names->strings, count, sizeof *key->words);
    if (!copy)
        return NULL;
    memcpy(copy, key->words, 2 * sizeof *key->words);
    if (count == MOST) {
        memcpy(copy + 2 * sizeof end, &key->words[2], sizeof end);
        memcpy(copy + 3 * sizeof end, &end, sizeof end);
    }
    return copy;
}

/* Makes room for one more item. */
static bool grow_items(mr_names *names)
{
    if (names->count < names->capacity)
        return true;
    void *items = names->items;
    begin_change(names);
    bool grown =
        mr_huge_grow(&items, &names->capacity, (size_t)names->count + 1, sizeof *names->items);
    names->items = items;
    end_change(names);
    return grown;
}

static bool append(mr_names *names, const mr_name_key *key)
{
    if (!grow_items(names))
        return false;
    mr_arena_mark before = mr_arena_get_mark(&names->strings);
    char *copy = key->length <= MR_NAME_SHORT_BYTES ? copy_words(names, key)
                                                    : copy_text(names, key->text, key->length);
    if (!copy)
        return false;
    names->items[names->count++] =
        (mr_name){.text = copy, .length = key->length, .hash = key->hash};
    names->last_string = before;
    names->last_count = names->count;
    return true;
}

bool mr_names_add_key(mr_names *names, const mr_name_key *key, uint32_t *number)
{
    MR_REQUIRE(!names->index.slot_count); /* no names were taken */
    uint32_t found = mr_names_look(names, key);
    if (found) {
        *number = found - 1;
        return true;
    }
    if (!make_room(names, key->hash) || !append(names, key))
        return false;
    put(mr_names_part(names, key->hash), (mr_name_slot)key->hash << 32 | names->count);
    *number = names->count - 1;
    return true;
}

bool mr_names_add(mr_names *names, const char *text, uint32_t length, uint32_t *number)
{
    mr_name_key key = make_key(text, length);
    return mr_names_add_key(names, &key, number);
}

static uint32_t hash_of(const void *items, uint32_t number)
{
    return ((const mr_name *)items)[number].hash;
}

static bool same(const void *items, uint32_t number, const void *key)
{
    const mr_name *item = (const mr_name *)items + number, *name = key;
    return item->hash == name->hash && item->length == name->length &&
           !memcmp(item->text, name->text, name->length);
}

/* Where the name is in the index, or the free place for it. */
static uint32_t *index_slot(const mr_names *names, const mr_name *name)
{
    return mr_table_slot(&names->index, name->hash, same, names->items, name);
}

/* Indexes the names from `first` on up to one that was there; gives its number, or `count`. */
static uint32_t fill_index(const mr_names *names, uint32_t first)
{
    enum { AHEAD = 16 };
    for (uint32_t number = first; number < names->count; number++) {
        if (number + AHEAD < names->count)
            mr_table_fetch(&names->index, names->items[number + AHEAD].hash);
        uint32_t *slot = index_slot(names, &names->items[number]);
        if (*slot)
            return number;
        *slot = number + 1;
    }
    return names->count;
}

bool mr_names_take(mr_names *names, uint32_t first, uint32_t *twice)
{
    MR_REQUIRE(!names->parts && first <= names->count);
    for (uint32_t number = first; number < names->count; number++) {
        mr_name *name = &names->items[number];
        mr_name_key key;
        mr_names_key(&key, name->text, name->length);
        name->hash = key.hash;
    }
    if (!mr_table_reserve(&names->index, names->count, hash_of, names->items, first))
        return false;
    *twice = fill_index(names, first);
    return true;
}

static void drop_parts(mr_names *names)
{
    begin_change(names);
    free_parts(names->parts, names->part_count);
    names->parts = NULL;
    names->part_count = 0;
    end_change(names);
}

void mr_names_drop_index(mr_names *names)
{
    drop_parts(names);
    mr_table_free(&names->index);
}

bool mr_names_pack(mr_names *names)
{
    if (!names->parts)
        return true;
    if (!mr_table_reserve(&names->index, names->count, hash_of, names->items, 0))
        return false;
    uint32_t end = fill_index(names, 0);
    MR_REQUIRE(end == names->count); /* no name is there twice */
    drop_parts(names);
    return true;
}

bool mr_names_find(const mr_names *names, const char *text, uint32_t length, uint32_t *number)
{
    mr_name_key key = make_key(text, length);
    mr_name wanted = {.text = text, .length = length, .hash = key.hash};
    uint32_t found =
        names->index.slot_count ? *index_slot(names, &wanted) : mr_names_look(names, &key);
    if (found)
        *number = found - 1;
    return found != 0;
}

void mr_names_truncate(mr_names *names, uint32_t count)
{
    MR_REQUIRE(count <= names->count && (count == names->count || !names->shared));
    /* The text is given back, too. Otherwise a long trace would keep the texts of all its refused
     * events. */
    if (names->last_count == names->count && count + 1 == names->count)
        mr_arena_release(&names->strings, names->last_string);
    while (names->count > count) {
        take_out(names, names->count - 1);
        names->count--;
    }
    names->last_count = 0;
}

bool mr_names_set_display(mr_names *names, uint32_t number, const char *text, uint32_t length)
{
    MR_REQUIRE(number < names->count);
    char *copy = copy_text(names, text, length);
    if (!copy)
        return false;
    names->last_count = 0; /* the text of the last name is not the last string any more */
    names->items[number].display = copy;
    return true;
}

const char *mr_names_display(const mr_names *names, uint32_t number)
{
    MR_REQUIRE(number < names->count);
    const mr_name *name = &names->items[number];
    return name->display ? name->display : name->text;
}
