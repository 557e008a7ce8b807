#include "screen.h"

#include "base/assert.h"
#include "base/huge.h"
#include "feed.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a contended variable. Other variables are none. */
enum {
    HAS_RACES,
    NO_RACES,
    HAS_ATOMICS /* it counts as one with races; its plain writes are asked for */
};

/* Variables whose places are numbers of one byte. */
enum { GROUP = 256 };

/* `read.thread`: `read.local` is the number of a front, + 1. */
static const uint32_t several = UINT32_MAX;

typedef struct screened {
    mr_epoch write, read; /* the last ones; local 0: none so far */
} screened;

struct mr_screen {
    mr_detector *detector;
    const mr_outlook *all;
    mr_outlook outlook; /* `contended` is its own: what is known; the rest is on loan */

    screened *items; /* of contended variables, in their order */
    size_t items_bytes;
    uint32_t *bases;  /* by variable / GROUP: how many contended ones come before the group */
    uint8_t *places;  /* by variable, if it is contended: how many come before it in its group */
    mr_front *fronts; /* reads */
    size_t front_count, front_capacity;
    mr_slab slab;        /* of the fronts */
    uint32_t race_count; /* variables */
};

static inline screened *find(const mr_screen *screen, uint32_t variable)
{
    return &screen->items[screen->bases[variable / GROUP] + screen->places[variable]];
}

/* A second thread reads at the same time as the first. */
static bool read_beside(mr_screen *screen, mr_epoch *read, mr_epoch epoch, mr_knowledge knowledge)
{
    if (read->thread != several) {
        void *fronts = screen->fronts;
        if (!mr_grow(&fronts, &screen->front_capacity, screen->front_count + 1, sizeof(mr_front)))
            return false;
        screen->fronts = fronts;
        screen->fronts[screen->front_count++] = (mr_front){.latest = *read};
        *read = (mr_epoch){several, (uint32_t)screen->front_count};
    }
    return mr_front_add(&screen->fronts[read->local - 1], epoch, knowledge, true, &screen->slab);
}

/* Is a read unordered with a write that comes now? */
static bool has_unordered(const mr_screen *screen, mr_epoch read, uint32_t thread,
                          mr_knowledge knowledge)
{
    return read.thread == several
               ? mr_front_unordered(&screen->fronts[read.local - 1], thread, knowledge)
               : mr_epoch_unordered(read, thread, knowledge);
}

static void forget_reads(mr_screen *screen, mr_epoch *read)
{
    if (read->thread == several)
        mr_front_clear(&screen->fronts[read->local - 1]);
    else
        *read = (mr_epoch){0};
}

/* Until its first race all writes of a variable are ordered, and the reads that count are those since the last one. */
static inline __attribute__((always_inline)) bool judge(mr_screen *screen, const mr_access *access,
                                                        const mr_hb_thread *thread)
{
    screened *item = find(screen, access->variable);
    mr_knowledge knowledge = {{thread->clock, NULL}};
    mr_epoch epoch = {access->thread, thread->local};
    bool writes = mr_op_writes(access->op);
    if (mr_epoch_unordered(item->write, access->thread, knowledge) ||
        (writes && has_unordered(screen, item->read, access->thread, knowledge))) {
        screen->outlook.contended[access->variable] = HAS_RACES;
        screen->race_count++;
        return true;
    }
    if (writes) {
        item->write = epoch;
        forget_reads(screen, &item->read);
        return true;
    }
    if (item->read.thread == several || mr_epoch_unordered(item->read, access->thread, knowledge))
        return read_beside(screen, &item->read, epoch, knowledge);
    item->read = epoch;
    return true;
}

MR_INLINE bool access(mr_detector *detector, const mr_access *access)
{
    mr_screen *screen = detector->screen;
    if (screen->outlook.contended[access->variable] == NO_RACES)
        return judge(screen, access, &detector->wcp.hb.threads[access->thread]);
    if (mr_op_writes(access->op))
        mr_edges_plain_write(&detector->edges, &detector->wcp, access->variable);
    return true;
}

static bool atomic(mr_detector *detector, const mr_access *access, bool contended)
{
    (void)contended; /* it is not asked for any more where there was a race */
    if (detector->screen->all->contended[access->variable])
        detector->screen->outlook.contended[access->variable] = HAS_ATOMICS;
    return mr_edges_atomic(&detector->edges, &detector->wcp, access);
}

static bool free_object(mr_detector *detector, const mr_access *access)
{
    uint8_t *known = detector->screen->outlook.contended;
    uint32_t at = mr_detector_first_freed(detector, access->variable);
    for (; at; at = mr_detector_next_freed(detector, at))
        if (known[at - 1] == NO_RACES)
            known[at - 1] = HAS_RACES;
    return true;
}

mr_feed_end mr_screen_feed_run(mr_detector *detector, const mr_events *events)
{
    return mr_feed(detector, events, access, atomic, mr_feed_hb_sync, free_object);
}

bool mr_screen_serves(mr_relation relation, uint64_t event_count)
{
    return (relation == MR_RELATION_HB || relation == MR_RELATION_FHB ||
            relation == MR_RELATION_SHB) &&
           event_count <= MR_SCREEN_MOST_EVENTS;
}

/* Room for what is known of the contended variables. */
static bool start(mr_screen *screen, const mr_detect_options *options)
{
    const uint32_t count = screen->all->variable_count;
    uint32_t contended = 0;
    screen->outlook = *screen->all;
    screen->outlook.contended = mr_malloc((size_t)count + 1, 0);
    screen->places = mr_calloc((size_t)count + 1, sizeof *screen->places);
    screen->bases = mr_calloc((size_t)count / GROUP + 1, sizeof *screen->bases);
    if (!screen->outlook.contended || !screen->places || !screen->bases)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *base = &screen->bases[i / GROUP];
        bool is_contended = screen->all->contended[i] != 0;
        *base = i % GROUP ? *base : contended;
        screen->outlook.contended[i] = is_contended ? NO_RACES : HAS_RACES;
        if (is_contended)
            screen->places[i] = (uint8_t)(contended++ - *base);
    }
    screen->items_bytes = (contended + 1ull) * sizeof *screen->items;
    screen->items = mr_huge_new_present(screen->items_bytes);
    mr_detect_options own = *options;
    own.outlook = &screen->outlook;
    screen->detector = screen->items ? mr_detector_new(MR_RELATION_HB, &own) : NULL;
    if (screen->detector)
        screen->detector->screen = screen;
    return screen->detector != NULL;
}

mr_screen *mr_screen_new(const mr_detect_options *options)
{
    mr_screen *screen = mr_calloc(1, sizeof *screen);
    if (!screen)
        return NULL;
    screen->all = options->outlook;
    if (start(screen, options))
        return screen;
    mr_screen_free(screen);
    return NULL;
}

/* What the outlook does not need. */
static void free_rest(mr_screen *screen)
{
    mr_detector_free(screen->detector);
    mr_slab_free(&screen->slab);
    free(screen->bases);
    free(screen->places);
    mr_huge_free(screen->items, screen->items_bytes);
    free(screen->fronts);
    screen->detector = NULL;
    screen->slab = (mr_slab){0};
    screen->bases = NULL;
    screen->places = NULL;
    screen->items = NULL;
    screen->fronts = NULL;
}

void mr_screen_free(mr_screen *screen)
{
    if (!screen)
        return;
    free_rest(screen);
    free(screen->outlook.contended);
    free(screen);
}

mr_status mr_screen_feed(mr_screen *screen, const mr_events *events, mr_error *error)
{
    return mr_detector_feed(screen->detector, events, error);
}

uint64_t mr_screen_seen(const mr_screen *screen)
{
    return mr_detector_list(screen->detector)->seen_events;
}

uint32_t mr_screen_race_count(const mr_screen *screen)
{
    return screen->race_count;
}

uint32_t mr_screen_end(mr_screen *screen)
{
    uint8_t *known = screen->outlook.contended;
    uint32_t count = 0;
    for (uint32_t i = 0; i < screen->all->variable_count; i++) {
        known[i] = screen->all->contended[i] && known[i] != NO_RACES;
        count += known[i];
    }
    free_rest(screen);
    return count;
}

const mr_outlook *mr_screen_outlook(const mr_screen *screen)
{
    MR_ASSERT(!screen->detector);
    return &screen->outlook;
}
