/* gm_network: the states a parse can be in, made on demand.
 *
 * A state is one of
 *   SUBSET  a set of NFA positions: the subset construction over a rule, its epsilon moves closed. Positions
 *           of left-recursive rules are triples (i, j, s): recognising rule i, inside rule j as its left
 *           corner, at state s; completing j climbs to what can stand around it.
 *   REPEAT  (lazy rule, members still needed, members still allowed, phase)
 *   ORDER   (any_order rule, set of items seen, count, phase)
 * and has edges TERM (lexer state), EXACT (id set), CALL (start state of a rule), each to a state. Left
 * recursion is gone, so from one state a terminal is a finite, acyclic stack action. State 0 is the end:
 * final, without edges; a call that returns there pushes nothing.
 *
 * gm_net_close makes all states and merges equal ones (all rules together: what follows a rule is on the
 * stack), for grammars with left recursion, whose copies are many.
 *
 * Threads  gm_net_find is free of locks; gm_net_edges is for the holder of the lock.
 * Source   Woods 1970; Rosenkrantz & Lewis 1970 (left corners); Rabin & Scott 1959; Moore 1956. Own:
 *          docs/algorithms/network.md.
 * Tests    differential tests against the oracle; tests/c/test_network.c. */
#ifndef GM_NETWORK_H
#define GM_NETWORK_H

#include "gm_analyse.h"

enum { GM_NET_END = 0 };
typedef enum GmNetKind { GM_NET_SUBSET, GM_NET_REPEAT, GM_NET_ORDER } GmNetKind;

typedef struct GmNetEdge {
    uint32_t kind; /* GmEdgeKind, without EPS */
    uint32_t sym, to;
} GmNetEdge;

typedef struct GmNetEdges {
    uint32_t n;
    GmNetEdge e[];
} GmNetEdges;

typedef struct GmNetState {
    _Atomic(const GmNetEdges *) edges;
    const uint32_t *list;   /* SUBSET: positions; ORDER: bits of the items seen */
    uint32_t n;             /* SUBSET: positions */
    uint32_t rule;          /* REPEAT, ORDER; of the start of a left-recursive rule: that rule, else GM_NONE */
    uint32_t low, high;     /* REPEAT; ORDER: members so far in `low` */
    uint32_t clamp;         /* a state that tokens cannot tell apart, with small counts */
    uint8_t kind, phase, final, start; /* start: entry of a rule, never final */
} GmNetState;

typedef struct GmPosition { /* in left-recursive rules */
    uint32_t i, j, s;
} GmPosition;

typedef struct GmSeed { /* an edge of the entry of rule m */
    uint32_t kind, sym, m, to;
} GmSeed;

typedef struct GmNet {
    GmMem *mem;
    GmArena *arena;
    GmNfa nfa;
    GmGroups groups;
    GmPool states;    /* GmNetState */
    GmPool positions; /* GmPosition */
    GmIndex state_index, position_index;
    uint32_t horizon, max_states;
    uint32_t root;    /* start state of the root rule, or GM_NONE when only the empty text is in the language */
    bool root_nullable, has_exact;
    bool has_prefix;  /* it begins with the rules of the prefix */
    uint32_t taken;   /* ... and with so many of its states, which do not count for the limit */
    uint32_t *starts; /* per rule: its start state, or GM_NONE until it is needed */
    GM_VEC(GmSeed) climbs, seeds;          /* by group, see prepare_groups */
    GM_VEC(uint32_t) climb_off, seed_off;  /* groups + 1 */
    uint32_t *seen;   /* per NFA state: number of the closure that saw it last */
    uint32_t seen_no;
    GM_VEC(uint32_t) todo, found;  /* of a closure */
    GM_VEC(GmNetEdge) raw;         /* edges gathered, `to` being a position */
    GM_VEC(uint32_t) targets;
} GmNet;

/* Rules and groups; no state yet. `prefix`: of a module that this one begins with, or NULL (gm_lower.h). */
GmStatus gm_net_build(GmNet *net, GmMem *mem, GmArena *arena, GmRegex *rx, const GmModule *module, const GmNet *prefix,
                      uint32_t horizon, uint32_t max_states, uint32_t max_expansion, GmError *err);
/* Begin with the states that the prefix has made, by the same numbers; its lock is held. Their edges are borrowed. None are
 * taken if the net does not begin with the prefix's rules, if there are left-recursive groups, as gm_net_close then changes
 * edges, or if copying them would cost more time or memory than they are worth. */
GmStatus gm_net_take(GmNet *net, const GmNet *prefix, GmError *err);
/* The first states. */
GmStatus gm_net_open(GmNet *net, GmError *err);
void gm_net_deinit(GmNet *net);

/* Of an entry in the list of a SUBSET state: whether it is a triple, or else an NFA state. */
bool gm_net_position(const GmNet *net, uint32_t entry, GmPosition *out);
static inline const GmNetState *gm_net_at(const GmNet *net, uint32_t state) { return gm_pool_at(&net->states, state); }
static inline bool gm_net_final(const GmNet *net, uint32_t state) { return gm_net_at(net, state)->final; }
/* Any thread: the edges, or NULL when nobody has made them. */
static inline const GmNetEdges *gm_net_find(const GmNet *net, uint32_t state)
{
    return gm_load(&((GmNetState *)(uintptr_t)gm_net_at(net, state))->edges);
}
/* Locked: the edges of a state, made when missing; sorted by kind and symbol, one per pair. */
GmStatus gm_net_edges(GmNet *net, uint32_t state, const GmNetEdges **out, GmError *err);
/* Locked: of a state whose counts are beyond the horizon, the next one along the count whose clamped form
 * differs; of any other state, itself. */
GmStatus gm_net_skip(GmNet *net, uint32_t state, uint32_t *out, GmError *err);
/* Locked: make all states reachable from the root and merge equal ones, if that takes at most max_edges. */
GmStatus gm_net_close(GmNet *net, uint32_t max_edges, GmError *err);

#endif
