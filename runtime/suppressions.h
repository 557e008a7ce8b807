/* suppressions: what a program says itself of races that are not to be reported. */
#ifndef MR_RUNTIME_SUPPRESSIONS_H
#define MR_RUNTIME_SUPPRESSIONS_H

/* Logs each line of the text that __tsan_default_suppressions of the program returns, but for empty
 * ones and comments. The main thread calls it, when the recording has begun. */
void mr_suppressions_log(void);

#endif
