/* seconds: the monotonic clock, for statistics. */
#ifndef MR_BASE_SECONDS_H
#define MR_BASE_SECONDS_H

/* Seconds since some fixed moment. */
double mr_seconds(void);

#endif
