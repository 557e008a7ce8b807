/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* mkstemp */

#include "answers.h"

#include "base/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define SUFFIX ".answers"

enum { PATH_BYTES = 4096 };

/* The file: this, then for each answer its key, its size in 64 bits, and its bytes, filled with zeros
 * up to a multiple of 8. */
typedef struct header {
    char magic[8];
    uint64_t count, size_bytes; /* of what follows */
    uint64_t checksum;          /* XXH3 of it */
} header;

static const char magic[8] = "maxrans1";

static uint32_t hash_key(const mr_answer_key *key)
{
    return (uint32_t)XXH3_64bits(key, sizeof *key);
}

static uint32_t hash_of(const void *items, uint32_t number)
{
    return hash_key(&((const mr_answer *)items)[number].key);
}

static bool same(const void *items, uint32_t number, const void *key)
{
    return memcmp(&((const mr_answer *)items)[number].key, key, sizeof(mr_answer_key)) == 0;
}

/* ---- answers in memory ---- */

bool mr_answers_find(const mr_answers *answers, const mr_answer_key *key, const void **bytes,
                     size_t *count)
{
    uint32_t number = 0;
    if (answers->count)
        number = *mr_table_slot(&answers->table, hash_key(key), same, answers->items, key);
    if (!number)
        return false;
    *bytes = answers->items[number - 1].bytes;
    *count = answers->items[number - 1].count;
    return true;
}

/* The bytes stay where they are. False: no memory. */
static bool enter(mr_answers *answers, const mr_answer_key *key, const void *bytes, size_t count)
{
    void *items = answers->items;
    if (!mr_table_reserve(&answers->table, answers->count + 1, hash_of, answers->items,
                          answers->count) ||
        !mr_grow(&items, &answers->capacity, (size_t)answers->count + 1, sizeof *answers->items))
        return false;
    answers->items = items;
    uint32_t *slot = mr_table_slot(&answers->table, hash_key(key), same, answers->items, key);
    if (*slot)
        return true;
    answers->items[answers->count++] = (mr_answer){*key, bytes, (uint32_t)count};
    *slot = answers->count;
    return true;
}

void mr_answers_add(mr_answers *answers, const mr_answer_key *key, const void *bytes, size_t count)
{
    if (!answers->path || count > UINT32_MAX)
        return;
    char *copy = mr_arena_alloc(&answers->arena, count + 1, 1);
    if (!copy)
        return;
    if (count)
        memcpy(copy, bytes, count);
    answers->has_new = enter(answers, key, copy, count) || answers->has_new;
}

void mr_answers_stop(mr_answers *answers)
{
    free(answers->path);
    answers->path = NULL;
}

/* ---- the file ---- */

static size_t filled(size_t count)
{
    return (count + 7) / 8 * 8;
}

/* Takes the answers of the loaded file. */
static bool take(mr_answers *answers, const char *at, size_t left, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        mr_answer_key key;
        uint64_t bytes;
        if (left < sizeof key + sizeof bytes)
            return false;
        memcpy(&key, at, sizeof key);
        memcpy(&bytes, at + sizeof key, sizeof bytes);
        at += sizeof key + sizeof bytes;
        left -= sizeof key + sizeof bytes;
        if (bytes > left || filled((size_t)bytes) > left ||
            !enter(answers, &key, at, (size_t)bytes))
            return false;
        at += filled((size_t)bytes);
        left -= filled((size_t)bytes);
    }
    return true;
}

static bool read_all(FILE *file, mr_answers *answers, header *head)
{
    if (fread(head, sizeof *head, 1, file) != 1 || memcmp(head->magic, magic, sizeof magic) != 0 ||
        head->size_bytes > MR_ANSWERS_FILE_BYTES)
        return false;
    answers->loaded = mr_malloc((size_t)head->size_bytes + 1, 0);
    return answers->loaded &&
           fread(answers->loaded, 1, (size_t)head->size_bytes + 1, file) == head->size_bytes &&
           XXH3_64bits(answers->loaded, (size_t)head->size_bytes) == head->checksum;
}

static void load(mr_answers *answers)
{
    header head;
    FILE *file = fopen(answers->path, "re");
    if (!file)
        return;
    if (read_all(file, answers, &head)) {
        take(answers, answers->loaded, (size_t)head.size_bytes, head.count);
        utimensat(AT_FDCWD, answers->path, NULL, 0); /* it was used now */
    }
    fclose(file);
}

/* Adds what tells one version of a file from another. */
static bool add_version(XXH3_state_t *state, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
    const int64_t parts[] = {(int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec,
                             (int64_t)info.st_mtim.tv_nsec};
    return XXH3_64bits_update(state, parts, sizeof parts) == XXH_OK;
}

/* The digest of what the answers depend on beside the build-id. False: it is not known. */
static bool digest_of(const char *file, uint64_t *digest)
{
    XXH3_state_t *state = XXH3_createState();
    bool ok = state && XXH3_64bits_reset(state) == XXH_OK && add_version(state, file) &&
              add_version(state, "/proc/self/exe");
    *digest = ok ? XXH3_64bits_digest(state) : 0;
    XXH3_freeState(state);
    return ok;
}

void mr_answers_open(mr_answers *answers, const char *folder, const char *file, const uint8_t *id,
                     size_t id_bytes)
{
    char path[PATH_BYTES], text[2 * 32 + 1] = "";
    uint64_t digest;
    *answers = (mr_answers){.path = NULL};
    mr_arena_init(&answers->arena);
    if (!folder || !id_bytes || id_bytes > 32 || !digest_of(file, &digest))
        return;
    for (size_t i = 0; i < id_bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", id[i]);
    int length = snprintf(path, sizeof path, "%s/%s-%016" PRIx64 SUFFIX, folder, text, digest);
    if (length < 0 || (size_t)length >= sizeof path)
        return;
    answers->folder = mr_strndup(folder, strlen(folder));
    answers->path = answers->folder ? mr_strndup(path, strlen(path)) : NULL;
    if (answers->path)
        load(answers);
}

/* All answers as the file has them, with the header. NULL: no memory, or too many. */
static char *pack(const mr_answers *answers, size_t *size_bytes)
{
    size_t payload = 0;
    for (uint32_t i = 0; i < answers->count; i++)
        payload += sizeof(mr_answer_key) + sizeof(uint64_t) + filled(answers->items[i].count);
    header head = {.count = answers->count, .size_bytes = payload};
    char *packed = payload <= MR_ANSWERS_FILE_BYTES ? mr_calloc(sizeof head + payload, 1) : NULL;
    if (!packed)
        return NULL;
    char *at = packed + sizeof head;
    for (uint32_t i = 0; i < answers->count; i++) {
        const mr_answer *item = &answers->items[i];
        uint64_t bytes = item->count;
        memcpy(at, &item->key, sizeof item->key);
        memcpy(at + sizeof item->key, &bytes, sizeof bytes);
        memcpy(at + sizeof item->key + sizeof bytes, item->bytes, item->count);
        at += sizeof item->key + sizeof bytes + filled(item->count);
    }
    memcpy(head.magic, magic, sizeof magic);
    head.checksum = XXH3_64bits(packed + sizeof head, payload);
    memcpy(packed, &head, sizeof head);
    *size_bytes = sizeof head + payload;
    return packed;
}

/* Makes the folder, with those around it. */
static void make_folder(const char *folder)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s", folder);
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            mkdir(path, 0700);
            *at = '/';
        }
    mkdir(path, 0700);
}

static bool write_file(const mr_answers *answers, const char *packed, size_t size_bytes)
{
    char path[PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s.XXXXXX", answers->path);
    int file = mkstemp(path);
    if (file < 0)
        return false;
    bool ok = write(file, packed, size_bytes) == (ssize_t)size_bytes;
    ok = close(file) == 0 && ok;
    ok = ok && rename(path, answers->path) == 0;
    if (!ok)
        unlink(path);
    return ok;
}

/* ---- the bound of the folder ---- */

typedef struct aged {
    char name[256];
    struct timespec used;
    uint64_t size_bytes;
} aged;

static int compare_ages(const void *one, const void *two)
{
    const aged *a = one, *b = two;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

/* The cache files of the folder, also those that somebody is writing. Returns their bytes. */
static uint64_t list_files(DIR *folder, aged **files, size_t *count)
{
    size_t capacity = 0;
    uint64_t sum = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat info;
        void *grown = *files;
        if (!strstr(entry->d_name, SUFFIX) || strlen(entry->d_name) >= sizeof(*files)->name ||
            fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode) || !mr_grow(&grown, &capacity, *count + 1, sizeof **files))
            continue;
        *files = grown;
        aged *file = &(*files)[(*count)++];
        *file = (aged){.used = info.st_mtim, .size_bytes = (uint64_t)info.st_size};
        snprintf(file->name, sizeof file->name, "%s", entry->d_name);
        sum += file->size_bytes;
    }
    return sum;
}

/* Removes the files that were used longest ago until the folder is within its bound. */
static void trim(const char *path)
{
    aged *files = NULL;
    size_t count = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return;
    uint64_t sum = list_files(folder, &files, &count);
    if (count && sum > MR_ANSWERS_FOLDER_BYTES)
        qsort(files, count, sizeof *files, compare_ages);
    for (size_t i = 0; i < count && sum > MR_ANSWERS_FOLDER_BYTES; i++)
        if (unlinkat(dirfd(folder), files[i].name, 0) == 0)
            sum -= files[i].size_bytes;
    free(files);
    closedir(folder);
}

void mr_answers_close(mr_answers *answers)
{
    size_t size_bytes = 0;
    char *packed = answers->path && answers->has_new ? pack(answers, &size_bytes) : NULL;
    if (packed) {
        make_folder(answers->folder);
        if (write_file(answers, packed, size_bytes))
            trim(answers->folder);
        free(packed);
    }
    mr_arena_free(&answers->arena);
    mr_table_free(&answers->table);
    free(answers->items);
    free(answers->loaded);
    free(answers->path);
    free(answers->folder);
    *answers = (mr_answers){.path = NULL};
}
