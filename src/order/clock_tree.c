#include "clock_tree.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static mr_clock_inner *inner_of(mr_clock_node *node)
{
    return (mr_clock_inner *)node;
}

static mr_clock_leaf *leaf_of(mr_clock_node *node)
{
    return (mr_clock_leaf *)node;
}

static mr_clock_node *share(mr_clock_node *node)
{
    if (node)
        node->references++;
    return node;
}

static void drop(mr_clock_node *node, uint32_t level)
{
    if (!node)
        return;
    MR_ASSERT(node->references > 0);
    if (--node->references)
        return;
    for (uint32_t i = 0; level && i < MR_CLOCK_FAN; i++)
        drop(inner_of(node)->children[i], level - 1);
    free(node);
}

/* A node of zeros. NULL: no memory. */
static mr_clock_node *new_node(uint32_t level)
{
    mr_clock_node *node = mr_calloc(1, level ? sizeof(mr_clock_inner) : sizeof(mr_clock_leaf));
    if (node)
        node->references = 1;
    return node;
}

/* Makes *at a node that nobody shares. False: no memory. */
static bool own(mr_clock_node **at, uint32_t level)
{
    mr_clock_node *old = *at;
    if (old && old->references == 1)
        return true;
    mr_clock_node *copy = new_node(level);
    if (!copy)
        return false;
    *at = copy;
    if (!old)
        return true;
    if (!level)
        memcpy(leaf_of(copy)->entries, leaf_of(old)->entries, sizeof leaf_of(copy)->entries);
    for (uint32_t i = 0; level && i < MR_CLOCK_FAN; i++)
        inner_of(copy)->children[i] = share(inner_of(old)->children[i]);
    drop(old, level);
    return true;
}

/* *at becomes a reference to `node`. */
static void replace(mr_clock_node **at, mr_clock_node *node, uint32_t level)
{
    share(node);
    drop(*at, level);
    *at = node;
}

mr_clock_tree mr_clock_tree_share(mr_clock_tree tree)
{
    share(tree.root);
    return tree;
}

void mr_clock_tree_drop(mr_clock_tree *tree)
{
    drop(tree->root, tree->level);
    *tree = (mr_clock_tree){0};
}

/* Raises the root to the level. False: no memory. */
static bool lift(mr_clock_tree *tree, uint32_t level)
{
    for (; tree->level < level; tree->level++) {
        if (!tree->root)
            continue;
        mr_clock_node *root = new_node(tree->level + 1);
        if (!root)
            return false;
        inner_of(root)->children[0] = tree->root;
        tree->root = root;
    }
    return true;
}

bool mr_clock_tree_set(mr_clock_tree *tree, uint32_t thread, uint32_t value)
{
    uint32_t level = tree->level;
    while ((uint64_t)thread >> mr_clock_tree_bits(level))
        level++;
    if (!lift(tree, level))
        return false;
    mr_clock_node **at = &tree->root;
    for (; level; level--) {
        if (!own(at, level))
            return false;
        at = &inner_of(*at)->children[thread >> mr_clock_tree_bits(level - 1) & (MR_CLOCK_FAN - 1)];
    }
    if (!own(at, 0))
        return false;
    leaf_of(*at)->entries[thread & (MR_CLOCK_LEAF - 1)] = value;
    return true;
}

/* ---- join ---- */

static bool join_leaf(mr_clock_node **at, mr_clock_node *source)
{
    const uint32_t *one = leaf_of(*at)->entries, *two = leaf_of(source)->entries;
    bool more = false, less = false;
    for (uint32_t i = 0; i < MR_CLOCK_LEAF; i++) {
        more |= one[i] > two[i];
        less |= one[i] < two[i];
    }
    if (!less)
        return true;
    if (!more) {
        replace(at, source, 0);
        return true;
    }
    if (!own(at, 0))
        return false;
    uint32_t *entries = leaf_of(*at)->entries;
    for (uint32_t i = 0; i < MR_CLOCK_LEAF; i++)
        entries[i] = entries[i] > two[i] ? entries[i] : two[i];
    return true;
}

static bool join(mr_clock_node **at, mr_clock_node *source, uint32_t level);

/* Joins child `i`. A node that is shared is copied only when the child changes. */
static bool join_child(mr_clock_node **at, mr_clock_node *source, uint32_t i, uint32_t level)
{
    mr_clock_node *from = inner_of(source)->children[i];
    if (!from || inner_of(*at)->children[i] == from)
        return true;
    if ((*at)->references == 1)
        return join(&inner_of(*at)->children[i], from, level - 1);
    mr_clock_node *child = share(inner_of(*at)->children[i]);
    bool done = join(&child, from, level - 1);
    if (done && child != inner_of(*at)->children[i]) {
        done = own(at, level);
        if (done)
            replace(&inner_of(*at)->children[i], child, level - 1);
    }
    drop(child, level - 1);
    return done;
}

static bool join(mr_clock_node **at, mr_clock_node *source, uint32_t level)
{
    if (!source || *at == source)
        return true;
    if (!*at) {
        *at = share(source);
        return true;
    }
    if (!level)
        return join_leaf(at, source);
    for (uint32_t i = 0; i < MR_CLOCK_FAN; i++)
        if (!join_child(at, source, i, level))
            return false;
    /* Equal parts become one, so that the next join passes over them. */
    if (!memcmp(inner_of(*at)->children, inner_of(source)->children,
                sizeof inner_of(source)->children))
        replace(at, source, level);
    return true;
}

bool mr_clock_tree_join(mr_clock_tree *tree, mr_clock_tree source)
{
    if (!source.root || tree->root == source.root)
        return true;
    if (!lift(tree, source.level))
        return false;
    mr_clock_node **at = &tree->root;
    uint32_t level = tree->level;
    /* The source has entries of the first threads only. */
    for (; level > source.level; level--) {
        if (!own(at, level))
            return false;
        at = &inner_of(*at)->children[0];
    }
    return join(at, source.root, level);
}

/* ---- meet ---- */

static bool meet(mr_clock_node **met, mr_clock_node *one, mr_clock_node *two, uint32_t level)
{
    if (one == two)
        *met = share(one);
    if (one == two || !one || !two)
        return true;
    *met = new_node(level);
    if (!*met)
        return false;
    for (uint32_t i = 0; !level && i < MR_CLOCK_LEAF; i++) {
        uint32_t x = leaf_of(one)->entries[i], y = leaf_of(two)->entries[i];
        leaf_of(*met)->entries[i] = x < y ? x : y;
    }
    for (uint32_t i = 0; level && i < MR_CLOCK_FAN; i++)
        if (!meet(&inner_of(*met)->children[i], inner_of(one)->children[i],
                  inner_of(two)->children[i], level - 1))
            return false;
    return true;
}

/* The part of a tree that a tree of a lower level can have entries for. */
static mr_clock_tree lower(mr_clock_tree tree, uint32_t level)
{
    while (tree.level > level) {
        tree.root = tree.root ? inner_of(tree.root)->children[0] : NULL;
        tree.level--;
    }
    return tree;
}

bool mr_clock_tree_meet(mr_clock_tree *met, mr_clock_tree one, mr_clock_tree two)
{
    MR_REQUIRE(!met->root);
    one = lower(one, two.level);
    two = lower(two, one.level);
    met->level = one.level;
    return meet(&met->root, one.root, two.root, one.level);
}
