/* gm_stack: the graph-structured stack of one state.
 *
 * A node is a return state over a set of nodes; node 0 is the bottom. Sets and nodes are interned and
 * immutable, and every node has a larger id than all nodes below it. The `pops` of a set are what becomes
 * the top when a frame of the set, and completed frames under it, are popped: return state -> set below.
 * They are kept on the set, so that a tower of completed frames is walked once, by commits and masks alike.
 *
 * Sets are kept reduced: a member that another member, being final, reaches by popping adds nothing. In parser
 * programs nothing is final; there, of two members with one symbol the one over a set that the other's covers goes.
 * It keeps programs that guess how much to push or pop from dragging every earlier set along.
 *
 * Owner    one GmStack per state (a clone copies the live part); gm_stack_compact drops what is dead.
 * Threads  none; belongs to its state.
 * Source   Tomita 1985; Scott & Johnstone 2010. Reduction: own, docs/algorithms/stacks.md.
 * Tests    differential tests; tests/c/test_stack.c. */
#ifndef GM_STACK_H
#define GM_STACK_H

#include "gm_network.h"

enum { GM_STACK_BOTTOM = 0, GM_SET_BOTTOM = 0, GM_SET_EMPTY = 1 };

typedef struct GmStackNode {
    uint32_t sym, set;
    Hash128 hash;  /* with clamped counts: equal ones mean equal masks */
    Hash128 exact; /* equal ones mean equal futures */
} GmStackNode;

typedef struct GmStackSet {
    uint32_t off, n; /* members, ascending */
    uint32_t pops;   /* record + 1, or 0 */
    uint32_t covers; /* of a parser program: a set whose stacks are all in this one too; GM_SET_EMPTY: none known */
    Hash128 hash, exact;
} GmStackSet;

typedef struct GmPop {
    uint32_t sym, set;
} GmPop;

typedef struct GmPops {
    uint32_t off, n; /* in GmStack.pop, ascending by sym */
    bool accepting;  /* the bottom is in the set, or reached through completed frames */
} GmPops;

typedef struct GmStack {
    GmMem *mem;
    const GmNet *net; /* NULL: symbols of a parser program, none of which completes by itself */
    GM_VEC(GmStackNode) nodes;
    GM_VEC(uint32_t) marks; /* per node, made when wanted: number of the reduction that found it covered */
    GM_VEC(GmStackSet) sets;
    GM_VEC(uint32_t) members;
    GM_VEC(GmPops) pops;
    GM_VEC(GmPop) pop;
    GmIndex node_index, set_index;
    GM_VEC(uint32_t) scratch, todo, parts;
    GM_VEC(GmPop) merge;
    uint32_t mark; /* of the latest reduction */
    uint32_t live; /* nodes after the last compaction */
    uint64_t work; /* members looked at so far */
} GmStack;

GmStatus gm_stack_init(GmStack *stack, GmMem *mem, const GmNet *net, GmError *err);
void gm_stack_deinit(GmStack *stack);
GmStatus gm_stack_push(GmStack *stack, uint32_t sym, uint32_t set, uint32_t *node, GmError *err);
GmStatus gm_stack_single(GmStack *stack, uint32_t node, uint32_t *set, GmError *err);
GmStatus gm_stack_union(GmStack *stack, uint32_t a, uint32_t b, uint32_t *set, GmError *err);
/* a without the members of b. */
GmStatus gm_stack_minus(GmStack *stack, uint32_t a, uint32_t b, uint32_t *set, GmError *err);
/* The union of n sets, each member looked at once. */
GmStatus gm_stack_union_all(GmStack *stack, const uint32_t *sets, uint32_t n, uint32_t *set, GmError *err);
/* The record of a set. */
GmStatus gm_stack_pops(GmStack *stack, uint32_t set, GmPops *out, GmError *err);
/* Copy what the n sets need into `to` (fresh, initialised) and renumber them in place. */
GmStatus gm_stack_copy(const GmStack *stack, GmStack *to, uint32_t **sets, uint32_t n, GmError *err);

static inline bool gm_stack_wants_compaction(const GmStack *stack)
{
    return stack->nodes.len > 4 * stack->live + 256 || stack->sets.len > 4 * stack->live + 1024;
}

#endif
