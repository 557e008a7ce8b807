#include "questions.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void mr_questions_free(mr_questions *questions)
{
    free(questions->items);
    free(questions->lists);
    free(questions->groups);
    mr_table_free(&questions->table);
    mr_u32s_free(&questions->events);
    mr_u32s_free(&questions->keys);
    mr_u32s_free(&questions->objects);
    *questions = (mr_questions){0};
}

typedef struct group_key {
    mr_witness_kind kind;
    const uint32_t *words;
    uint32_t count;
} group_key;

static uint32_t hash_key(const group_key *key)
{
    uint64_t hash = (uint64_t)key->kind + 1;
    for (uint32_t i = 0; i < key->count; i++)
        hash = (uint64_t)mr_table_hash_u64(hash) << 32 | key->words[i];
    return mr_table_hash_u64(hash);
}

static group_key key_of(const mr_questions *questions, uint32_t number)
{
    const mr_question_group *group = &questions->groups[number];
    return (group_key){group->kind, questions->keys.items + group->first_key, group->key_count};
}

static bool same(const void *items, uint32_t number, const void *key)
{
    const group_key *wanted = key, own = key_of(items, number);
    return own.kind == wanted->kind && own.count == wanted->count &&
           (!own.count || memcmp(own.words, wanted->words, own.count * sizeof *own.words) == 0);
}

static uint32_t hash_of(const void *items, uint32_t number)
{
    group_key key = key_of(items, number);
    return hash_key(&key);
}

static bool push_all(mr_u32s *to, const uint32_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!mr_u32s_push(to, items[i]))
            return false;
    return true;
}

bool mr_questions_group(mr_questions *questions, mr_witness_kind kind, const uint32_t *words,
                        uint32_t count, uint32_t *group)
{
    const group_key key = {kind, words, count};
    void *groups = questions->groups;
    if (!mr_table_reserve(&questions->table, questions->group_count + 1, hash_of, questions,
                          questions->group_count))
        return false;
    uint32_t *slot = mr_table_slot(&questions->table, hash_key(&key), same, questions, &key);
    if (*slot) {
        *group = *slot - 1;
        return true;
    }
    if (!mr_grow(&groups, &questions->group_capacity, (size_t)questions->group_count + 1,
                 sizeof *questions->groups))
        return false;
    questions->groups = groups;
    uint32_t first = (uint32_t)questions->keys.count;
    if (!push_all(&questions->keys, words, count))
        return false;
    questions->groups[questions->group_count] = (mr_question_group){kind, first, count};
    *group = questions->group_count++;
    *slot = questions->group_count;
    return true;
}

bool mr_questions_list(mr_questions *questions, const uint32_t *events, uint32_t count,
                       uint32_t *list)
{
    void *lists = questions->lists;
    MR_REQUIRE(count > 0);
    for (uint32_t i = 1; i < count; i++)
        MR_REQUIRE(events[i - 1] < events[i]);
    if (!mr_grow(&lists, &questions->list_capacity, (size_t)questions->list_count + 1,
                 sizeof *questions->lists))
        return false;
    questions->lists = lists;
    uint32_t first = (uint32_t)questions->events.count;
    if (!push_all(&questions->events, events, count))
        return false;
    questions->lists[questions->list_count] = (mr_question_list){first, count};
    *list = questions->list_count++;
    return true;
}

bool mr_questions_objects(mr_questions *questions, const uint32_t *objects, uint32_t count,
                          uint32_t *first)
{
    *first = (uint32_t)questions->objects.count;
    return push_all(&questions->objects, objects, count);
}

bool mr_questions_add(mr_questions *questions, const mr_question *question)
{
    void *items = questions->items;
    MR_REQUIRE(question->group < questions->group_count && question->list_count > 0 &&
               question->first_list + question->list_count <= questions->list_count);
    if (!mr_grow(&items, &questions->capacity, (size_t)questions->count + 1,
                 sizeof *questions->items))
        return false;
    questions->items = items;
    questions->items[questions->count++] = *question;
    return true;
}
