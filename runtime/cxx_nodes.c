/*
 * Nodes of std::map, std::set and std::list. The templates are compiled into the program, but
 * what links nodes is in libstdc++, which is not instrumented. Without its accesses nothing says
 * that a node was taken out before it was freed, so a reader that came before under the same lock
 * would seem to be able to come after. So a recorded thread links nodes here, by the same layout
 * and the same rules, and each access is the caller's.
 *
 * A tree is red and black. Its header is no element: `parent` is the root, which has the header as
 * its parent, `child` the first and the last element. The header of an empty tree has no root, and
 * both children are itself. The header is red; a root is black.
 */
#include "ignore.h"
#include "memory.h"
#include "real.h"
#include "scheduler.h"
#include "steer.h"
#include "writer.h"

typedef enum color { RED, BLACK } color;

typedef struct tree_node {
    color color;
    struct tree_node *parent;
    struct tree_node *child[2]; /* the smaller elements, the larger ones */
} tree_node;

typedef struct list_node {
    struct list_node *next, *previous; /* a circle, with a header that is no element */
} list_node;

/* A call that is recorded. */
typedef struct call {
    mr_thread *thread;
    uintptr_t code;
} call;

enum { WORD = 3, HALF = 2 }; /* log2 of bytes */

static void before(const call *in, mr_log_kind kind, const void *at, unsigned log2)
{
    if (mr_steers()) {
        mr_steer_own_access(in->thread, at, (unsigned)mr_log_head(kind, log2, 0), in->code);
    }
}

static int64_t load(const call *in, const void *at, unsigned log2)
{
    before(in, MR_LOG_READ, at, log2);
    const int64_t value = mr_load(at, log2);
    if (!mr_ignores_all(in->thread)) {
        mr_write_access(MR_LOG_READ, log2, at, value, in->code);
    }
    return value;
}

static void stored(const call *in, const void *at, unsigned log2)
{
    if (!mr_ignores_writes(in->thread)) {
        mr_write_access(MR_LOG_WRITE, log2, at, mr_load(at, log2), in->code);
    }
}

static tree_node *node_of(const call *in, tree_node *const *at)
{
    return (tree_node *)(uintptr_t)load(in, at, WORD);
}

static void set_node(const call *in, tree_node **at, tree_node *value)
{
    before(in, MR_LOG_WRITE, at, WORD);
    *at = value;
    stored(in, at, WORD);
}

/* Of no node, too, which is black. */
static color color_of(const call *in, const tree_node *node)
{
    return node == NULL ? BLACK : (color)load(in, &node->color, HALF);
}

static void set_color(const call *in, tree_node *node, color value)
{
    before(in, MR_LOG_WRITE, &node->color, HALF);
    node->color = value;
    stored(in, &node->color, HALF);
}

static tree_node *parent_of(const call *in, const tree_node *node)
{
    return node_of(in, &node->parent);
}

static tree_node *child_of(const call *in, const tree_node *node, int side)
{
    return node_of(in, &node->child[side]);
}

/* The last one on that side, from the node on. */
static tree_node *outermost(const call *in, tree_node *node, int side)
{
    for (tree_node *next; (next = child_of(in, node, side)) != NULL;) {
        node = next;
    }
    return node;
}

/* `after`, or nothing, stands where `node` stood below `parent`. */
static void replace(const call *in, tree_node *header, tree_node *parent, const tree_node *node,
                    tree_node *after)
{
    if (parent == header) {
        set_node(in, &header->parent, after);
    } else {
        set_node(in, &parent->child[child_of(in, parent, 0) != node], after);
    }
}

/* The node goes down to that side, its child of the other side takes its place. */
static void rotate(const call *in, tree_node *header, tree_node *node, int side)
{
    tree_node *up = child_of(in, node, !side);
    tree_node *inner = child_of(in, up, side);
    tree_node *parent = parent_of(in, node);
    set_node(in, &node->child[!side], inner);
    if (inner != NULL) {
        set_node(in, &inner->parent, node);
    }
    set_node(in, &up->parent, parent);
    replace(in, header, parent, node, up);
    set_node(in, &up->child[side], node);
    set_node(in, &node->parent, up);
}

/* A red node may have got a red parent. */
static void balance_after_insert(const call *in, tree_node *header, tree_node *node)
{
    tree_node *parent;
    while ((parent = parent_of(in, node)) != header && color_of(in, parent) == RED) {
        tree_node *grand = parent_of(in, parent);
        const int side = child_of(in, grand, 1) == parent;
        tree_node *uncle = child_of(in, grand, !side);
        if (color_of(in, uncle) == RED) {
            set_color(in, parent, BLACK);
            set_color(in, uncle, BLACK);
            set_color(in, grand, RED);
            node = grand;
            continue;
        }
        if (child_of(in, parent, !side) == node) {
            rotate(in, header, parent, side);
            node = parent;
            parent = parent_of(in, node);
        }
        set_color(in, parent, BLACK);
        set_color(in, grand, RED);
        rotate(in, header, grand, !side);
    }
    if (parent == header) {
        set_color(in, node, BLACK);
    }
}

static void insert(const call *in, int side, tree_node *node, tree_node *parent, tree_node *header)
{
    set_node(in, &node->parent, parent);
    set_node(in, &node->child[0], NULL);
    set_node(in, &node->child[1], NULL);
    set_color(in, node, RED);
    if (parent == header) { /* the first element */
        set_node(in, &header->parent, node);
        set_node(in, &header->child[0], node);
        set_node(in, &header->child[1], node);
    } else {
        set_node(in, &parent->child[side], node);
        if (child_of(in, header, side) == parent) {
            set_node(in, &header->child[side], node);
        }
    }
    balance_after_insert(in, header, node);
}

/* There is one black node too few from `node` down, which may be none, below `parent`. */
static void balance_after_erase(const call *in, tree_node *header, tree_node *node,
                                tree_node *parent)
{
    while (parent != header && color_of(in, node) == BLACK) {
        const int side = child_of(in, parent, 0) != node;
        tree_node *sibling = child_of(in, parent, !side);
        if (color_of(in, sibling) == RED) {
            set_color(in, sibling, BLACK);
            set_color(in, parent, RED);
            rotate(in, header, parent, side);
            sibling = child_of(in, parent, !side);
        }
        tree_node *inner = child_of(in, sibling, side);
        tree_node *outer = child_of(in, sibling, !side);
        if (color_of(in, outer) == BLACK && color_of(in, inner) == BLACK) {
            set_color(in, sibling, RED);
            node = parent;
            parent = parent_of(in, node);
            continue;
        }
        if (color_of(in, outer) == BLACK) {
            set_color(in, inner, BLACK);
            set_color(in, sibling, RED);
            rotate(in, header, sibling, !side);
            sibling = inner;
            outer = child_of(in, sibling, !side);
        }
        set_color(in, sibling, color_of(in, parent));
        set_color(in, parent, BLACK);
        set_color(in, outer, BLACK);
        rotate(in, header, parent, side);
        return;
    }
    if (node != NULL) {
        set_color(in, node, BLACK);
    }
}

/* One of the two children of the node at most is there. */
static void erase_simple(const call *in, tree_node *node, tree_node *header)
{
    tree_node *left = child_of(in, node, 0);
    tree_node *below = left != NULL ? left : child_of(in, node, 1);
    tree_node *parent = parent_of(in, node);
    if (below != NULL) {
        set_node(in, &below->parent, parent);
    }
    for (int side = 0; side < 2; side++) {
        if (child_of(in, header, side) == node) {
            set_node(in, &header->child[side], below != NULL ? outermost(in, below, side) : parent);
        }
    }
    replace(in, header, parent, node, below);
    if (color_of(in, node) == BLACK) {
        balance_after_erase(in, header, below, parent);
    }
}

/* The next element takes the node's place. */
static void erase_between(const call *in, tree_node *node, tree_node *header)
{
    tree_node *right = child_of(in, node, 1);
    tree_node *next = outermost(in, right, 0);
    tree_node *below = child_of(in, next, 1);
    tree_node *parent = next == right ? next : parent_of(in, next);
    tree_node *left = child_of(in, node, 0);
    set_node(in, &left->parent, next);
    set_node(in, &next->child[0], left);
    if (next != right) {
        if (below != NULL) {
            set_node(in, &below->parent, parent);
        }
        set_node(in, &parent->child[0], below);
        set_node(in, &next->child[1], right);
        set_node(in, &right->parent, next);
    }
    tree_node *above = parent_of(in, node);
    replace(in, header, above, node, next);
    set_node(in, &next->parent, above);
    const color taken = color_of(in, next);
    set_color(in, next, color_of(in, node));
    if (taken == BLACK) {
        balance_after_erase(in, header, below, parent);
    }
}

/* The next element on that side; of the last one, the header. */
static tree_node *step(const call *in, tree_node *node, int side)
{
    tree_node *below = child_of(in, node, side);
    if (below != NULL) {
        return outermost(in, below, !side);
    }
    tree_node *parent = parent_of(in, node);
    while (child_of(in, parent, side) == node) {
        node = parent;
        parent = parent_of(in, node);
    }
    /* Where the root has nothing on that side, the header's child there is the root. */
    return child_of(in, node, side) == parent ? node : parent;
}

static bool is_header(const call *in, const tree_node *node)
{
    if (color_of(in, node) != RED) {
        return false;
    }
    const tree_node *parent = parent_of(in, node);
    return parent != NULL && parent_of(in, parent) == node;
}

static bool begin(call *in, uintptr_t code)
{
    *in = (call){mr_memory_begin(code), code};
    return in->thread != NULL;
}

static void end(const call *in)
{
    mr_leave(in->thread);
}

/* ---- trees: std::_Rb_tree_… ---- */

/* insert_and_rebalance */
MR_EXPORT void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool left,
                                                                                 tree_node *node,
                                                                                 tree_node *parent,
                                                                                 tree_node *header);
void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool left, tree_node *node,
                                                                       tree_node *parent,
                                                                       tree_node *header)
{
    call in;
    if (!begin(&in, MR_CALLER)) {
        MR_REAL(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_)
        (left, node, parent, header);
        return;
    }
    insert(&in, !left, node, parent, header);
    end(&in);
}

/* rebalance_for_erase: gives the node that is to be destroyed. */
MR_EXPORT tree_node *
_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(tree_node *node, tree_node *header);
tree_node *_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(tree_node *node,
                                                                        tree_node *header)
{
    call in;
    if (!begin(&in, MR_CALLER)) {
        return MR_REAL(_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_)(node, header);
    }
    if (child_of(&in, node, 0) != NULL && child_of(&in, node, 1) != NULL) {
        erase_between(&in, node, header);
    } else {
        erase_simple(&in, node, header);
    }
    end(&in);
    return node;
}

#define DEFINE_STEP(name, side, whether_header)                                                    \
    MR_EXPORT tree_node *name(tree_node *node);                                                    \
    tree_node *name(tree_node *node)                                                               \
    {                                                                                              \
        call in;                                                                                   \
        if (!begin(&in, MR_CALLER)) {                                                              \
            return MR_REAL(name)(node);                                                            \
        }                                                                                          \
        tree_node *result = (whether_header) && is_header(&in, node) ? child_of(&in, node, 1)      \
                                                                     : step(&in, node, side);      \
        end(&in);                                                                                  \
        return result;                                                                             \
    }

/* increment and decrement, each of iterators and of constant ones. The one before the header is the last. */
DEFINE_STEP(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base, 1, false)
DEFINE_STEP(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base, 1, false)
DEFINE_STEP(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base, 0, true)
DEFINE_STEP(_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base, 0, true)

/* ---- lists: std::__detail::_List_node_base ---- */

static list_node *link_of(const call *in, list_node *const *at)
{
    return (list_node *)(uintptr_t)load(in, at, WORD);
}

static void set_link(const call *in, list_node **at, list_node *value)
{
    before(in, MR_LOG_WRITE, at, WORD);
    *at = value;
    stored(in, at, WORD);
}

static void join(const call *in, list_node *first, list_node *second)
{
    set_link(in, &first->next, second);
    set_link(in, &second->previous, first);
}

/* The header gets the elements that another one had, which is `old` in them. */
static void adopt(const call *in, list_node *header, const list_node *old, list_node *first,
                  list_node *last)
{
    if (first == old) {
        join(in, header, header);
        return;
    }
    join(in, header, first);
    join(in, last, header);
}

#define DEFINE_LIST(name, parameters, arguments, work)                                             \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        call in;                                                                                   \
        if (!begin(&in, MR_CALLER)) {                                                              \
            MR_REAL(name) arguments;                                                               \
            return;                                                                                \
        }                                                                                          \
        work;                                                                                      \
        end(&in);                                                                                  \
    }

static void hook(const call *in, list_node *node, list_node *before_which)
{
    list_node *previous = link_of(in, &before_which->previous);
    join(in, previous, node);
    join(in, node, before_which);
}

static void unhook(const call *in, const list_node *node)
{
    list_node *next = link_of(in, &node->next);
    list_node *previous = link_of(in, &node->previous);
    join(in, previous, next);
}

/* From `first` up to the one before `end_of`, to before `node`. */
static void transfer(const call *in, list_node *node, list_node *first, list_node *end_of)
{
    if (node == end_of) {
        return;
    }
    list_node *last = link_of(in, &end_of->previous);
    list_node *before_first = link_of(in, &first->previous);
    list_node *previous = link_of(in, &node->previous);
    join(in, before_first, end_of);
    join(in, previous, first);
    join(in, last, node);
}

static void reverse(const call *in, list_node *header)
{
    list_node *node = header;
    do {
        list_node *next = link_of(in, &node->next);
        list_node *previous = link_of(in, &node->previous);
        set_link(in, &node->next, previous);
        set_link(in, &node->previous, next);
        node = next;
    } while (node != header);
}

static void exchange(const call *in, list_node *one, list_node *other)
{
    list_node *first = link_of(in, &one->next);
    list_node *last = link_of(in, &one->previous);
    list_node *other_first = link_of(in, &other->next);
    list_node *other_last = link_of(in, &other->previous);
    adopt(in, one, other, other_first, other_last);
    adopt(in, other, one, first, last);
}

/* _M_hook, _M_unhook, _M_transfer, _M_reverse, swap */
DEFINE_LIST(_ZNSt8__detail15_List_node_base7_M_hookEPS0_, (list_node * node, list_node *next),
            (node, next), hook(&in, node, next))
DEFINE_LIST(_ZNSt8__detail15_List_node_base9_M_unhookEv, (list_node * node), (node),
            unhook(&in, node))
DEFINE_LIST(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_,
            (list_node * node, list_node *first, list_node *end_of), (node, first, end_of),
            transfer(&in, node, first, end_of))
DEFINE_LIST(_ZNSt8__detail15_List_node_base10_M_reverseEv, (list_node * header), (header),
            reverse(&in, header))
DEFINE_LIST(_ZNSt8__detail15_List_node_base4swapERS0_S1_, (list_node * one, list_node *other),
            (one, other), exchange(&in, one, other))
