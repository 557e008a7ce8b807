/* notices: functions that are called in a thread of their own (SIGEV_THREAD) when something is there. */
#ifndef MR_RUNTIME_NOTICES_H
#define MR_RUNTIME_NOTICES_H

#include <signal.h>
#include <stdint.h>

/* Something is about to be asked for. Puts the event of this file in the place of the program's, when that calls a function. A
 * block of aio that asks again has that of before. The function comes after those who wrote to what is read at `fd`, or closed it; -1: nothing is. */
void mr_notice_lead(struct sigevent *event, int fd, uintptr_t code);
/* What is told after that is the end of several reads, one of them at `fd`. */
void mr_notice_also(const struct sigevent *event, int fd);
/* Nothing was asked for after all: the program has its event again. */
void mr_notice_refused(struct sigevent *event);

#endif
