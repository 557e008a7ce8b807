/*
 * screen: which variables have races of hb. A pass that looks for them keeps 16 bytes of each contended variable: the last write
 * and the last read as epochs (FastTrack, Flanagan and Freund, PLDI 2009), or the maximal reads where there are several. Most of
 * what hb, fhb and shb take goes into what they keep of each access, to say which pairs race; after the screen they do so for
 * these variables alone.
 *
 * That changes nothing. hb judges each variable by its accesses and the synchronisation. shb and fhb add edges from an access to a
 * conflicting one: where hb orders all of these already, they add none, and each race of theirs is one of hb.
 *
 * A contended variable that is accessed atomically, or whose object is freed, counts as one with races.
 *
 *   mr_screen_new → mr_screen_feed* → mr_screen_end → mr_screen_outlook, for orders → mr_screen_free
 */
#ifndef MR_ORDER_SCREEN_H
#define MR_ORDER_SCREEN_H

#include "detector.h"

typedef struct mr_screen mr_screen;

/* A halt may be answered only after a second pass over what the screen has seen, so it is not for longer traces. */
enum { MR_SCREEN_MOST_EVENTS = 1 << 27 };

/* Is it of use to an order on so many events? */
bool mr_screen_serves(mr_relation relation, uint64_t event_count);

/* Of `options`, the outlook, the calls and the halt count. NULL: no memory. */
mr_screen *mr_screen_new(const mr_detect_options *options);
void mr_screen_free(mr_screen *screen); /* NULL is fine */

/* As mr_detector_feed. */
mr_status mr_screen_feed(mr_screen *screen, const mr_events *events, mr_error *error);

/* So many events were seen. */
uint64_t mr_screen_seen(const mr_screen *screen);

/* Of how many variables has it met races so far, between accesses by r and w? */
uint32_t mr_screen_race_count(const mr_screen *screen);

/* No more will follow. How many variables have races? */
uint32_t mr_screen_end(mr_screen *screen);

/* The outlook with the variables only that have races. On loan. */
const mr_outlook *mr_screen_outlook(const mr_screen *screen);

#endif
