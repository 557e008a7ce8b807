/* modules: the programs and libraries that are mapped, in the log. */
#ifndef MR_RUNTIME_MODULES_H
#define MR_RUNTIME_MODULES_H

/* Logs those that were not there at the last call, and that some are gone. The caller is busy. */
void mr_modules_log(void);

#endif
