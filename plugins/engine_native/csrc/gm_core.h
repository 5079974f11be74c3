/* gm_core: the parts of one compiled grammar, and its two memo tables beside the steps of gm_view:
 *
 *   summary(base, state) = tokens that are certain without looking below `state` on the stack,
 *                          view of what remains when the rule of `state` completes
 *   plan(state, byte)    = which terminals start on that byte, and what they push
 *
 * Threads  everything found is read without a lock; GmCore.lock is held by whoever computes. The `gm_core_*`
 *          calls below take it themselves when something is missing.
 * Source   own; docs/algorithms/summaries.md. Tests: differential tests against the oracle. */
#ifndef GM_CORE_H
#define GM_CORE_H

#include "gm_network.h"
#include "gm_view.h"

typedef struct GmSummary {
    GmToks toks;
    uint32_t moved; /* view: what remains when the rule completes after some more text */
    uint32_t rest;  /* the same, and the base itself where the rule may complete at once */
} GmSummary;

typedef enum GmPlanOp { GM_PLAN_PUSH, GM_PLAN_START, GM_PLAN_EXACT } GmPlanOp;
typedef struct GmPlanStep {
    uint32_t op, slot; /* slot: whose stacks are used; 0 is the state itself */
    uint32_t a, b;     /* PUSH: slot to add to, return state. START: lexer entry after the byte, next state.
                          EXACT: id set, next state */
    GmLex origin; /* START: the terminal, with its exempt bit */
} GmPlanStep;

typedef struct GmPlan { /* in an order in which a slot is complete before it is used */
    uint32_t n_slots, n;
    GmPlanStep step[];
} GmPlan;

typedef struct GmLocalPlan { /* the part of one state */
    uint32_t n, height;      /* height: of the calls that its steps push, 0 for none; above that of all callees */
    GmPlanStep step[];       /* slot: 0. PUSH: `a` is the local plan of the callee */
} GmLocalPlan;

enum { GM_PLAN_OF_EXACT = 256 }; /* in place of a byte */

typedef struct GmWork { /* a summary being computed */
    uint32_t base, state, edge, view, k;
    bool open;
    GmGather gather;
    GM_VEC(uint32_t) rest;
} GmWork;

typedef struct GmClosed { /* tables that were closed at build (gm_static.h) or loaded; later ones are not saved */
    bool is;
    uint32_t steps, summaries, wholes; /* how many there were; of the steps, those asked for */
    uint32_t states; /* of the network, made before all tables; only summaries on the way to others know later ones */
} GmClosed;

typedef struct GmCore {
    GmMem mem;
    GmArena arena;
    GmMutex lock;
    atomic_uint wanted; /* foreground calls that wait for the lock */
    atomic_uint asked;  /* foreground calls that took it, ever */
    const GmTrie *trie;
    GmShared *shared;
    GmRegex rx;
    GmViews views;
    GmNet net;
    GmPool summaries;
    GmMap summary_map; /* (base, state) -> summary */
    GmPool plans;      /* const GmPlan * */
    GmMap plan_map;    /* (state, byte) -> plan */
    GmPool locals;     /* const GmLocalPlan * */
    GmMap local_map;   /* (state, byte) -> local plan */
    GM_VEC(GmWork) work;
    uint32_t work_len; /* entries in use; the others keep their memory */
    GM_VEC(uint32_t) order, visit; /* of a plan under construction */
    GM_VEC(GmPlanStep) steps;
    GmClosed closed;
    struct GmCore *prefix;  /* the one that the module begins with, or NULL; kept alive by the owner */
    uint32_t prefix_number; /* ... in views.parts */
} GmCore;

/* The trie and the module are borrowed; `owner` lends its allocator. */
void gm_core_init(GmCore *core, const GmTrie *trie, GmShared *shared, const GmMem *owner, size_t memory);
/* `prefix`: of a module that this one begins with, whose lowering is taken over (gm_core_may_take); or NULL. */
GmStatus gm_core_build(GmCore *core, const GmModule *module, GmCore *prefix, uint32_t max_states, uint32_t max_lexer_states,
                       uint32_t max_expansion, GmError *err);
/* Does the module begin with that of `prefix`, and do the limits allow what was allowed there? */
bool gm_core_may_take(const GmModule *module, const GmCore *prefix, uint32_t max_states, uint32_t max_lexer_states,
                      uint32_t max_expansion);
/* While nobody else reads the tables, as before the first state, those that were outgrown go at once. */
void gm_core_set_alone(GmCore *core, bool alone);
void gm_core_deinit(GmCore *core);
/* Take the lock and leave no trace of a computation that was cut short. */
void gm_core_lock(GmCore *core);
void gm_core_unlock(GmCore *core);
/* The same for the background worker, which gives way: it stops when gm_core_is_wanted. */
void gm_core_lock_idle(GmCore *core);
static inline uint32_t gm_core_asked(GmCore *core) { return atomic_load_explicit(&core->asked, memory_order_relaxed); }
static inline bool gm_core_is_wanted(GmCore *core) { return atomic_load_explicit(&core->wanted, memory_order_relaxed) > 0; }

/* Locked. */
GmStatus gm_summary_make(GmCore *core, uint32_t base, uint32_t state, uint32_t *out, GmError *err);
GmStatus gm_plan_make(GmCore *core, uint32_t state, uint32_t byte, uint32_t *out, GmError *err);
GmStatus gm_local_make(GmCore *core, uint32_t state, uint32_t byte, uint32_t *out, GmError *err);

/* Any thread. */
static inline const GmLocalPlan *gm_local_at(const GmCore *core, uint32_t local)
{
    return *(const GmLocalPlan *const *)gm_pool_at(&core->locals, local);
}
GmStatus gm_core_local(GmCore *core, uint32_t state, uint32_t byte, uint32_t *out, GmError *err);
GmStatus gm_core_summary(GmCore *core, uint32_t base, uint32_t state, const GmSummary **out, GmError *err);
GmStatus gm_core_plan(GmCore *core, uint32_t state, uint32_t byte, const GmPlan **out, GmError *err);
GmStatus gm_core_step(GmCore *core, uint32_t base, GmLex lex, const GmStep **out, GmError *err);
GmStatus gm_core_whole(GmCore *core, GmRe debt, uint32_t *view, GmError *err);
GmStatus gm_core_clamp(GmCore *core, GmRe re, GmRe *out, GmError *err);
/* Two residuals owed at once. */
GmStatus gm_core_owe(GmCore *core, GmRe a, GmRe b, GmRe *out, GmError *err);
GmStatus gm_core_deriv_slow(GmCore *core, GmRe re, uint8_t byte, uint32_t *entry, GmError *err);
static inline GmStatus gm_core_deriv(GmCore *core, GmRe re, uint8_t byte, uint32_t *entry, GmError *err)
{
    *entry = gm_re_peek(&core->rx, re, byte);
    return *entry != GM_RE_UNKNOWN ? GM_OK : gm_core_deriv_slow(core, re, byte, entry, err);
}

#endif
