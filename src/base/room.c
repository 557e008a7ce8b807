#define _DEFAULT_SOURCE /* malloc_trim */
#include "room.h"

#include "base/assert.h"
#include "memory.h"
#include "resident.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Waiters look again by themselves: the heap shrinks without telling. */
enum { LOOK_AGAIN_MS = 10, TRIM_AGAIN_MS = 200 };

/* Mapped pages that are taken for code when the room is made, at most. */
enum { CODE_BYTES_MOST = 1 << 26 };

struct mr_room {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    mr_room_options options;
    uint64_t code_bytes;
    uint64_t held[MR_ROOM_HOLDERS]; /* without shares */
    uint64_t base_bytes;            /* measured when the room was made */
    uint64_t granted, used;         /* of all shares */
    mr_room_share *first, *last;    /* the line */
    mr_watched *youngest;
    int64_t trimmed_ms;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t measure(const mr_room *room)
{
    return room->options.measure ? room->options.measure(room->options.context)
                                 : mr_resident_now().anonymous_bytes + room->code_bytes;
}

mr_room *mr_room_new(const mr_room_options *options)
{
    MR_REQUIRE(options->limit_bytes > 0);
    mr_room *room = mr_calloc(1, sizeof *room);
    if (!room)
        return NULL;
    room->options = *options;
    uint64_t mapped = options->measure ? 0 : mr_resident_now().mapped_bytes;
    room->code_bytes = mapped < CODE_BYTES_MOST ? mapped : CODE_BYTES_MOST;
    room->base_bytes = measure(room);
    room->trimmed_ms = now_ms() - TRIM_AGAIN_MS;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&room->mutex, NULL);
    pthread_cond_init(&room->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return room;
}

void mr_room_free(mr_room *room)
{
    if (!room)
        return;
    MR_REQUIRE(!room->first && !room->youngest);
    pthread_cond_destroy(&room->changed);
    pthread_mutex_destroy(&room->mutex);
    free(room);
}

/* What was announced, with what shares may still take. */
static uint64_t announced(const mr_room *room)
{
    uint64_t bytes = room->base_bytes + room->granted;
    for (int i = 0; i < MR_ROOM_HOLDERS; i++)
        bytes += room->held[i];
    return bytes;
}

static uint64_t left(const mr_room *room)
{
    MR_ASSERT(room->used <= room->granted);
    uint64_t one = announced(room);
    uint64_t other = measure(room) + (room->granted - room->used) + room->held[MR_ROOM_STORE];
    uint64_t taken = one > other ? one : other;
    return taken < room->options.limit_bytes ? room->options.limit_bytes - taken : 0;
}

/* Gives what was freed back to the system: only there it counts as free. */
static void trim_heap(mr_room *room)
{
#ifdef __GLIBC__
    int64_t now = now_ms();
    if (now - room->trimmed_ms < TRIM_AGAIN_MS)
        return;
    room->trimmed_ms = now;
    malloc_trim(0);
#else
    (void)room;
#endif
}

static bool fits(mr_room *room, uint64_t bytes)
{
    if (bytes <= left(room))
        return true;
    trim_heap(room);
    return bytes <= left(room);
}

void mr_room_hold(mr_room *room, mr_room_holder holder, uint64_t bytes)
{
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    room->held[holder] += bytes;
    pthread_mutex_unlock(&room->mutex);
}

void mr_room_give(mr_room *room, mr_room_holder holder, uint64_t bytes)
{
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    MR_REQUIRE(bytes <= room->held[holder]);
    room->held[holder] -= bytes;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

uint64_t mr_room_held(mr_room *room, mr_room_holder holder)
{
    if (!room)
        return 0;
    pthread_mutex_lock(&room->mutex);
    uint64_t bytes = room->held[holder];
    for (const mr_room_share *share = room->first; share; share = share->next)
        bytes += share->holder == holder ? share->used_bytes : 0;
    pthread_mutex_unlock(&room->mutex);
    return bytes;
}

uint64_t mr_room_left(mr_room *room)
{
    if (!room)
        return UINT64_MAX;
    pthread_mutex_lock(&room->mutex);
    uint64_t bytes = left(room);
    pthread_mutex_unlock(&room->mutex);
    return bytes;
}

/* The line. */

static void enter_line(mr_room_share *share)
{
    mr_room *room = share->room;
    share->previous = room->last;
    share->next = NULL;
    *(room->last ? &room->last->next : &room->first) = share;
    room->last = share;
}

static void leave_line(mr_room_share *share)
{
    mr_room *room = share->room;
    MR_ASSERT(share->previous ? share->previous->next == share : room->first == share);
    MR_ASSERT(share->next ? share->next->previous == share : room->last == share);
    *(share->previous ? &share->previous->next : &room->first) = share->next;
    *(share->next ? &share->next->previous : &room->last) = share->previous;
    share->next = share->previous = NULL;
}

/* Is every share before it one that rests? */
static bool is_first(const mr_room_share *share)
{
    const mr_room_share *other = share->previous;
    while (other && other->rests)
        other = other->previous;
    return !other;
}

/* Must a share that is being opened wait for another one to be opened? */
static bool is_behind_an_opening(const mr_room_share *share)
{
    for (const mr_room_share *other = share->previous; !share->is_open && other;
         other = other->previous)
        if (!other->is_open)
            return true;
    return false;
}

static void grant(mr_room_share *share, uint64_t bytes)
{
    share->granted_bytes += bytes;
    share->room->granted += bytes;
}

/* Waits until the share is the first or there is room, and grants it. */
static void wait_for(mr_room_share *share, uint64_t bytes)
{
    mr_room *room = share->room;
    MR_REQUIRE(!share->rests);
    while (!is_first(share) && (is_behind_an_opening(share) || !fits(room, bytes))) {
        int64_t wake = now_ms() + LOOK_AGAIN_MS;
        struct timespec until = {.tv_sec = wake / 1000, .tv_nsec = wake % 1000 * 1000000};
        pthread_cond_timedwait(&room->changed, &room->mutex, &until);
    }
    grant(share, bytes);
}

void mr_room_share_open(mr_room_share *share, mr_room *room, mr_room_holder holder, uint64_t bytes)
{
    *share = (mr_room_share){.room = room, .holder = holder, .least_bytes = bytes};
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    enter_line(share);
    wait_for(share, bytes);
    share->is_open = true;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

void mr_room_share_close(mr_room_share *share)
{
    mr_room *room = share->room;
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    MR_REQUIRE(share->is_open);
    MR_ASSERT(share->granted_bytes <= room->granted && share->used_bytes <= room->used);
    room->granted -= share->granted_bytes;
    room->used -= share->used_bytes;
    leave_line(share);
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
    *share = (mr_room_share){0};
}

void mr_room_share_rest(mr_room_share *share)
{
    mr_room *room = share->room;
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    MR_REQUIRE(share->is_open);
    share->rests = true;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

void mr_room_share_renew(mr_room_share *share)
{
    mr_room *room = share->room;
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    MR_REQUIRE(share->is_open);
    leave_line(share);
    enter_line(share);
    share->rests = false;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

/* What the share lacks. */
static uint64_t lack(const mr_room_share *share, uint64_t bytes)
{
    uint64_t need = share->used_bytes + bytes;
    return need > share->granted_bytes ? need - share->granted_bytes : 0;
}

static void use(mr_room_share *share, uint64_t bytes)
{
    share->used_bytes += bytes;
    share->room->used += bytes;
    MR_ASSERT(share->used_bytes <= share->granted_bytes);
}

bool mr_room_share_try(mr_room_share *share, uint64_t bytes)
{
    mr_room *room = share->room;
    if (!room)
        return true;
    pthread_mutex_lock(&room->mutex);
    uint64_t more = lack(share, bytes);
    bool granted = !more || fits(room, more);
    if (granted) {
        grant(share, more);
        use(share, bytes);
    }
    pthread_mutex_unlock(&room->mutex);
    return granted;
}

void mr_room_share_must(mr_room_share *share, uint64_t bytes)
{
    mr_room *room = share->room;
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    uint64_t more = lack(share, bytes);
    if (more)
        wait_for(share, more);
    use(share, bytes);
    pthread_mutex_unlock(&room->mutex);
}

void mr_room_share_give(mr_room_share *share, uint64_t bytes)
{
    mr_room *room = share->room;
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    MR_REQUIRE(bytes <= share->used_bytes);
    share->used_bytes -= bytes;
    room->used -= bytes;
    uint64_t keep = share->used_bytes > share->least_bytes ? share->used_bytes : share->least_bytes;
    if (keep < share->granted_bytes) {
        room->granted -= share->granted_bytes - keep;
        share->granted_bytes = keep;
    }
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

/* Work that is watched. */

void mr_room_watch(mr_room *room, mr_watched *watched)
{
    *watched = (mr_watched){.room = room};
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    watched->older = room->youngest;
    room->youngest = watched;
    pthread_mutex_unlock(&room->mutex);
}

bool mr_room_is_over(mr_watched *watched)
{
    mr_room *room = watched->room;
    if (!room)
        return false;
    pthread_mutex_lock(&room->mutex);
    bool over = room->youngest == watched &&
                measure(room) + room->held[MR_ROOM_STORE] > room->options.limit_bytes;
    if (over) {
        trim_heap(room);
        over = measure(room) + room->held[MR_ROOM_STORE] > room->options.limit_bytes;
    }
    pthread_mutex_unlock(&room->mutex);
    return over;
}

void mr_room_unwatch(mr_watched *watched)
{
    mr_room *room = watched->room;
    if (!room)
        return;
    pthread_mutex_lock(&room->mutex);
    mr_watched **at = &room->youngest;
    while (*at && *at != watched)
        at = &(*at)->older;
    MR_REQUIRE(*at); /* it was watched */
    *at = watched->older;
    pthread_mutex_unlock(&room->mutex);
    *watched = (mr_watched){0};
}
