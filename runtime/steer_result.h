/*
 * steer_result: what came of a replay, as lines of text in the file that MAXRACE_REPLAY_RESULT names
 * (docs/replay.md has them). The file must not be there yet. Code addresses are those of the
 * recorded process, where modules may have been elsewhere.
 */
#ifndef MR_RUNTIME_STEER_RESULT_H
#define MR_RUNTIME_STEER_RESULT_H

#include "schedule.h"
#include "state.h"

/* The path, for the lines to come; NULL: there is no file. */
void mr_result_open(const char *path, const mr_schedule *schedule);

/* Is it the descriptor of that file? */
bool mr_result_own(int fd);
/* It gets another number, which is its own from here on. */
void mr_result_renumber(void);

/* A line of a word, numbers and a text is made of these, and ended. Texts are cut at `bytes`. */
void mr_result_word(const char *text);
void mr_result_text(const char *text, uint32_t bytes);
void mr_result_number(int64_t number);
void mr_result_address(uint64_t address);
void mr_result_code(uint64_t code);
void mr_result_end(void);

/* Writes the lines to the file. */
void mr_result_flush(void);

/* Lines "thread" and "frame" of a thread, and "about" when it stands before an access. */
void mr_result_thread(const mr_thread *thread, uint64_t position);

#endif
