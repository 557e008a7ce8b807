/*
 * clock_tree: the entries of a vector clock of many threads, as a tree whose parts clocks share.
 *
 * A leaf has 64 entries, an inner node 16 nodes of the level below; a missing node stands for
 * zeros. Nodes are counted references and are copied when they are shared and have to change. So a
 * clock that differs from another one in one entry takes one path of nodes (0.5 KB for 16,000
 * threads, 0.7 KB for 250,000), not an entry for each thread, and a join passes over what both
 * clocks share.
 *
 * It is the fat node of persistent search trees with path copying (Driscoll, Sarnak, Sleator and
 * Tarjan, JCSS 1989). Trees of equal parts as in tree clocks (Mathur and others, ASPLOS 2022) save
 * comparisons, but not memory.
 *
 * A tree is its root and the level of the root: 0 for a leaf. NULL is the tree of zeros, of any
 * level. What changes a tree may take nodes before it fails; the tree is then still one that can be
 * dropped.
 */
#ifndef MR_ORDER_CLOCK_TREE_H
#define MR_ORDER_CLOCK_TREE_H

#include <stdbool.h>
#include <stdint.h>

enum { MR_CLOCK_LEAF = 64, MR_CLOCK_LEAF_BITS = 6, MR_CLOCK_FAN = 16, MR_CLOCK_FAN_BITS = 4 };

/* What a leaf and an inner node begin with. */
typedef struct mr_clock_node {
    uint32_t references;
} mr_clock_node;

typedef struct mr_clock_leaf {
    mr_clock_node node;
    uint32_t entries[MR_CLOCK_LEAF];
} mr_clock_leaf;

typedef struct mr_clock_inner {
    mr_clock_node node;
    mr_clock_node *children[MR_CLOCK_FAN];
} mr_clock_inner;

typedef struct mr_clock_tree {
    mr_clock_node *root;
    uint32_t level;
} mr_clock_tree;

/* The bits of a thread's number that a tree of this level tells apart. */
static inline uint32_t mr_clock_tree_bits(uint32_t level)
{
    return MR_CLOCK_LEAF_BITS + MR_CLOCK_FAN_BITS * level;
}

/* O(level). */
static inline uint32_t mr_clock_tree_get(mr_clock_tree tree, uint32_t thread)
{
    const mr_clock_node *node = tree.root;
    if ((uint64_t)thread >> mr_clock_tree_bits(tree.level))
        return 0;
    for (uint32_t level = tree.level; node && level; level--)
        node = ((const mr_clock_inner *)node)
                   ->children[thread >> mr_clock_tree_bits(level - 1) & (MR_CLOCK_FAN - 1)];
    return node ? ((const mr_clock_leaf *)node)->entries[thread & (MR_CLOCK_LEAF - 1)] : 0;
}

/* One more reference to the same entries. */
mr_clock_tree mr_clock_tree_share(mr_clock_tree tree);
void mr_clock_tree_drop(mr_clock_tree *tree);

/* Sets an entry. False: no memory. O(level) nodes. */
bool mr_clock_tree_set(mr_clock_tree *tree, uint32_t thread, uint32_t value);

/* *tree becomes the entry-wise maximum of both. When nothing changes its root stays the same. False:
 * no memory. O(nodes that both have and do not share). */
bool mr_clock_tree_join(mr_clock_tree *tree, mr_clock_tree source);

/* *met, which has no root, becomes the entry-wise minimum. False: no memory. The same cost. */
bool mr_clock_tree_meet(mr_clock_tree *met, mr_clock_tree one, mr_clock_tree two);

#endif
