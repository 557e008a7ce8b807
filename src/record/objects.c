#include "objects.h"

#include "base/memory.h"

#include <stdlib.h>

void mr_objects_free(mr_objects *objects)
{
    mr_pairs_free(&objects->ages);
    mr_pairs_free(&objects->table);
    free(objects->retired);
    free(objects->items);
    *objects = (mr_objects){0};
}

/* The number of the address in this life; MR_PAIRS_NONE: no memory. */
static uint32_t age_of(mr_objects *objects, uint64_t address, uint32_t life)
{
    uint32_t known = objects->ages.count;
    uint32_t age = mr_pairs_add(&objects->ages, (mr_pair){address, life});
    if (age != known || age == MR_PAIRS_NONE)
        return age;
    void *retired = objects->retired;
    if (!mr_grow(&retired, &objects->retired_capacity, (size_t)age + 1, sizeof *objects->retired))
        return MR_PAIRS_NONE;
    objects->retired = retired;
    objects->retired[age] = 0;
    return age;
}

/* Do its numbers alone tell the objects of an address apart? */
static bool outlives(uint8_t role)
{
    return role == MR_LOG_ROLE_ASLEEP || role == MR_LOG_ROLE_WAKE ||
           role == MR_LOG_ROLE_BARRIER_IN || role == MR_LOG_ROLE_BARRIER_OUT;
}

mr_object *mr_objects_at(mr_objects *objects, mr_lifetimes *lives, uint64_t address, uint8_t role,
                         uint64_t number)
{
    uint32_t life = mr_lifetimes_find(lives, address)->number;
    uint32_t age = age_of(objects, address, life);
    if (age == MR_PAIRS_NONE)
        return NULL;
    uint32_t known = objects->table.count;
    uint32_t retired = outlives(role) ? 0 : objects->retired[age];
    mr_pair pair = {(uint64_t)age << 32 | retired, (uint64_t)role << 56 ^ number};
    uint32_t at = mr_pairs_add(&objects->table, pair);
    if (at == MR_PAIRS_NONE)
        return NULL;
    if (at == known) {
        void *items = objects->items;
        if (!mr_grow(&items, &objects->capacity, (size_t)at + 1, sizeof *objects->items))
            return NULL;
        objects->items = items;
        objects->items[at] =
            (mr_object){.address = address, .number = number, .life = life, .role = role};
    }
    return &objects->items[at];
}

mr_object *mr_objects_of(mr_objects *objects, mr_lifetimes *lives, const uint64_t *record)
{
    return mr_objects_at(objects, lives, mr_log_payload(record[0]),
                         (uint8_t)mr_log_detail(record[0]), record[2]);
}

static bool is_apart(const uint64_t *record)
{
    return mr_log_kind_of(record[0]) == MR_LOG_BEFORE &&
           mr_log_detail(record[0]) == MR_LOG_ROLE_CHANNEL && record[2] == MR_LOG_CHANNEL_DATA &&
           mr_log_count(record[1]) == MR_LOG_WRITING_APART;
}

/* The number of the object of the thread's writes to the channel, + 1. 0: it has none. */
static uint32_t writer_of(const mr_objects *objects, const mr_object *channel, uint32_t thread)
{
    uint32_t at = channel->writer;
    while (at && objects->items[at - 1].number != MR_LOG_CHANNEL_WRITERS + (uint64_t)thread)
        at = objects->items[at - 1].writer;
    return at;
}

mr_object *mr_objects_written(mr_objects *objects, mr_lifetimes *lives, const uint64_t *record,
                              uint32_t thread)
{
    mr_object *channel = mr_objects_of(objects, lives, record);
    if (!channel || !is_apart(record))
        return channel;
    uint32_t known = writer_of(objects, channel, thread);
    if (known)
        return &objects->items[known - 1];
    if (channel->writers == MR_OBJECT_WRITERS_MAX)
        return channel;
    size_t at = (size_t)(channel - objects->items);
    mr_object *writer = mr_objects_at(objects, lives, channel->address, MR_LOG_ROLE_CHANNEL,
                                      MR_LOG_CHANNEL_WRITERS + (uint64_t)thread);
    if (!writer)
        return NULL;
    channel = &objects->items[at];
    writer->writer = channel->writer;
    channel->writer = (uint32_t)(writer - objects->items) + 1;
    channel->writers++;
    return writer;
}

bool mr_objects_retire(mr_objects *objects, mr_lifetimes *lives, uint64_t address)
{
    uint32_t age = age_of(objects, address, mr_lifetimes_find(lives, address)->number);
    if (age == MR_PAIRS_NONE)
        return false;
    objects->retired[age]++;
    return true;
}
