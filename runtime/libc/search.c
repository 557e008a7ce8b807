#include "calls.h"

#include "../ignore.h"
#include "../writer.h"

#include <fts.h>
#include <obstack.h>
#include <search.h>
#include <stddef.h>
#include <sys/stat.h>

#undef obstack_free /* a macro that calls the function of this name */
extern void _obstack_free(struct obstack *stack, void *object);

/* Members of a struct obstack that stand together: the size of a chunk, and where the chunk and the
 * object in it are. */
enum {
    SIZE_AND_CHUNK = offsetof(struct obstack, temp),
    CHUNK = SIZE_AND_CHUNK - offsetof(struct obstack, chunk),
    ALIGNMENT = sizeof(((struct obstack *)0)->alignment_mask),
    CHUNK_FUNCTIONS = offsetof(struct obstack, extra_arg) - offsetof(struct obstack, chunkfun),
};

/* Bytes of the object that grows. */
static size_t grown(const struct obstack *stack)
{
    return (size_t)(stack->next_free - stack->object_base);
}

/* Elements of a list: the next one, the one before. */
typedef struct list_item {
    struct list_item *next, *before;
} list_item;

/* Where the next one says which is before it; an item that was put after none has none. */
static void *back_of_next(const void *item, const void *after_item)
{
    list_item *next = after_item != NULL ? ((const list_item *)item)->next : NULL;
    return next != NULL ? &next->before : NULL;
}

static void *item_before(const void *item)
{
    return ((const list_item *)item)->before;
}

static void log_texts(char *const *texts, uintptr_t code)
{
    size_t count = 0;
    for (; texts[count] != NULL; count++) {
        in(texts[count], text(texts[count]));
    }
    in(texts, (count + 1) * sizeof *texts);
}

/* What libc tells of a file that a walk comes to. Its name is at its end. */
#define LOGS_ENTRY(name, entry_type)                                                               \
    static void name(const entry_type *entry, uintptr_t code)                                      \
    {                                                                                              \
        if (entry != NULL) {                                                                       \
            out(entry, offsetof(entry_type, fts_name));                                            \
            out(entry->fts_name, (size_t)entry->fts_namelen + 1);                                  \
            out(entry->fts_path, (size_t)entry->fts_pathlen + 1);                                  \
            out_if(has_status(entry->fts_info), entry->fts_statp, sizeof *entry->fts_statp);       \
        }                                                                                          \
    }                                                                                              \
    static void name##_list(const entry_type *entry, uintptr_t code)                               \
    {                                                                                              \
        for (; entry != NULL; entry = entry->fts_link) {                                           \
            name(entry, code);                                                                     \
        }                                                                                          \
    }

static bool has_status(unsigned info)
{
    return info == FTS_D || info == FTS_DP || info == FTS_F || info == FTS_SL ||
           info == FTS_DEFAULT || info == FTS_DC;
}

LOGS_ENTRY(log_entry, FTSENT)
LOGS_ENTRY(log_entry_64, FTSENT64)

static void log_tree(void **root, uintptr_t code)
{
    if (root != NULL && code != 0 && !mr_ignores_writes(mr_self)) {
        mr_write_access(MR_LOG_WRITE, 3 | MR_LOG_NO_VALUE, root, (int64_t)(uintptr_t)*root, code);
    }
}

/* Stands for the table of hsearch, which is libc's. */
static struct hsearch_data search_table;

static void log_entered(ACTION action, const ENTRY *item, const ENTRY *found,
                        struct hsearch_data *table, uintptr_t code)
{
    if (found == NULL || code == 0) {
        return;
    }
    in(found->key, text(found->key));
    if (action == ENTER && found->key == item->key && !mr_ignores_writes(mr_self)) {
        out(found, sizeof *found);
        mr_write_access(MR_LOG_WRITE, 2 | MR_LOG_NO_VALUE, &table->filled, (int)table->filled,
                        code);
    }
}

#define out_entered(action, item, found, table)                                                    \
    log_entered((action), &(item), (found), (table), code);
#define out_tree(root)  log_tree((root), code);
#define in_texts(texts) log_texts((texts), code);
#define out_entry(entry)                                                                           \
    _Generic((entry), FTSENT64 * : log_entry_64, default : log_entry)((entry), code);
#define out_entries(entry)                                                                         \
    _Generic((entry), FTSENT64 * : log_entry_64_list, default : log_entry_list)((entry), code);

#include "search.def"
