/* gm_finish: how many bytes a parse needs at least before it can end, and which bytes come first on such a way.
 *
 *   re     a terminal from a lexer state on
 *   net    a rule from a network state on: the cheapest way to its end
 *
 * Both leave debts out of account (what a terminal owes may forbid the cheapest way) and take exact tokens for
 * impossible, so they are lower bounds; what the bytes on the way really do is for gm_complete to see.
 *
 * Layout   per NFA state and per rule from one run of Knuth's algorithm, at first need; network states and lexer
 *          states from these, memoised.
 * Owner    the constraint's; memory of its account.
 * Threads  any; what is missing is made under the lock of the core.
 * Cost     at first need O(edges log edges) of the NFA; then a look-up.
 * Source   Knuth 1977, A generalization of Dijkstra's algorithm. Own: docs/algorithms/completion.md.
 * Tests    tests/test_completion.py. */
#ifndef GM_FINISH_H
#define GM_FINISH_H

#include "gm_core.h"

#define GM_FAR (UINT64_MAX >> 2) /* there is no way */

typedef struct GmFinish {
    GmCore *core;
    uint64_t *state;    /* per NFA state: bytes to the end of its rule */
    uint64_t *rule;     /* per rule: of its texts; 0 when it may be empty */
    uint32_t *place;    /* per rule of a left-recursive group: its number in the group */
    uint32_t *climb_at; /* per member of the groups, in order: its first climb; one more at the end */
    GmMap re_map;       /* lexer state -> bytes, below 2^31 - 1 */
    GmMap aut_map;      /* automaton -> distances, in `arrays` */
    GmMap climb_map;    /* left-recursive rule -> costs of climbing to its end, in `arrays` */
    GmMap net_map;      /* network state -> number in `nets` */
    GmMap first_map;    /* (0 net, 1 re; state) -> number in `firsts` */
    GmPool arrays;      /* uint64_t * */
    GmPool nets;        /* uint64_t */
    GmPool firsts;      /* GmByteSet */
    uint64_t tried;     /* derivatives spent on shortest texts of intersections and differences */
} GmFinish;

static inline uint64_t gm_far_add(uint64_t a, uint64_t b)
{
    return a >= GM_FAR || b >= GM_FAR ? GM_FAR : a + b < GM_FAR ? a + b : GM_FAR - 1;
}

/* The tables of a grammar, made on first need. */
GmStatus gm_finish_new(GmCore *core, GmFinish **out, GmError *err);
void gm_finish_free(GmFinish *finish);
GmStatus gm_finish_re(GmFinish *finish, GmRe re, uint64_t *out, GmError *err);
GmStatus gm_finish_net(GmFinish *finish, uint32_t state, uint64_t *out, GmError *err);
/* The bytes after which one byte less is needed. */
GmStatus gm_finish_first_re(GmFinish *finish, GmRe re, GmByteSet *out, GmError *err);
/* `mem`: for what it needs meanwhile; the caller's own account. */
GmStatus gm_finish_first_net(GmFinish *finish, uint32_t state, GmByteSet *out, GmMem *mem, GmError *err);

/* gm_finish_re.c, for the holder of the lock: of a lexer state. */
GmStatus gm_finish_re_locked(GmFinish *finish, GmRe re, uint64_t *out, GmError *err);

typedef struct GmHeapItem {
    uint64_t cost;
    uint32_t id;
} GmHeapItem;
typedef struct GmCostHeap { /* least cost first */
    GM_VEC(GmHeapItem) item;
} GmCostHeap;
GmStatus gm_cost_push(GmCostHeap *heap, GmMem *mem, uint64_t cost, uint32_t id, GmError *err);
GmHeapItem gm_cost_pop(GmCostHeap *heap);

#endif
