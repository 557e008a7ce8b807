/* golden: texts as they are to be, in tests/golden/. */
#ifndef MR_TESTS_SUPPORT_GOLDEN_H
#define MR_TESTS_SUPPORT_GOLDEN_H

/* Fails the test unless `text` is what tests/golden/NAME.txt has. With UPDATE_GOLDEN in the
 * environment the file is written first; read with care what has changed. */
void mr_golden(const char *name, const char *text);

#endif
