/*
 * cut_off: traces and other files that are mapped, and that another process cuts off meanwhile. The system then ends the process with
 * SIGBUS at the next access; here it ends with a line that names the file, and the status of an input error. So it does when maxrace
 * crashes and a trace that it has mapped was written to since it began: what was checked is not what is there then.
 */
#ifndef MR_CLI_CUT_OFF_H
#define MR_CLI_CUT_OFF_H

/* From here on. Other crashes end the process as before. */
void mr_cut_off_watch(void);

#endif
