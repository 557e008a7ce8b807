/* ticker: tells progress (progress.h), but not more often than every 5 ms. */
#ifndef MR_BASE_TICKER_H
#define MR_BASE_TICKER_H

#include "progress.h"
#include "seconds.h"

typedef struct mr_ticker {
    const mr_progress *progress; /* on loan; NULL: nothing is told */
    const char *stage;
    double told_seconds; /* the time of the last report; 0: none so far */
} mr_ticker;

static inline void mr_ticker_tell(mr_ticker *ticker, uint64_t done, uint64_t total)
{
    const double pause_seconds = 0.005;
    if (!ticker->progress)
        return;
    double now_seconds = mr_seconds();
    if (ticker->told_seconds > 0 && now_seconds - ticker->told_seconds < pause_seconds)
        return;
    ticker->told_seconds = now_seconds;
    mr_progress_tell(ticker->progress, ticker->stage, done, total);
}

#endif
