/* tree: whole folders: whether they are empty, and their removal, whatever a program has done to the permissions. */
#ifndef MR_REPLAY_TREE_H
#define MR_REPLAY_TREE_H

#include <stdbool.h>

/* Links are not followed. True: it is gone, or was not there. */
bool mr_tree_remove(const char *path);

/* Is it a folder with nothing in it? */
bool mr_tree_is_empty(const char *path);

/* Removes the empty folders in it that are there below `real`, too, and opens the others to their owner. Nothing else is
 * removed. */
void mr_tree_prune(const char *path, const char *real);

#endif
