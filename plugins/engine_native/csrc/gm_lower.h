/* gm_lower: from the IR to regular languages and a network of rules with epsilon moves.
 *
 * Lexical nodes become GmRe in one pass, children first. Syntactic nodes are built backwards: the state of
 * (node, what follows it) is interned, so suffixes are shared from the start and a rule of 1,000 optional
 * parts stays linear. Every rule ends in the one state GM_NFA_END. A heavy node that is wanted with a second
 * continuation becomes a rule of its own instead of a second copy.
 *
 * Ignore: after every terminal, exact token and subgrammar of a scope, and once before its start, stands one
 * optional exempt terminal I+.
 *
 * Counted repeats and any_order become *lazy* rules (GmLazy), whose states are made at run time.
 *
 * A module may begin with one that was lowered before, a *prefix*: its nodes, states, edges and rules keep their
 * numbers and are copied, and lowering goes on behind them. Nothing in a prefix refers to what comes after it.
 *
 * Owner    everything lives in vectors of GmNfa; it is needed as long as the network makes states.
 * Threads  built by one thread; never changed afterwards, so it is read without a lock.
 * Source   Woods 1970, Transition network grammars; own.
 * Tests    differential tests against the oracle. */
#ifndef GM_LOWER_H
#define GM_LOWER_H

#include "gm_regex.h"
#include "gm_view.h"

/* The arrays of glrmask_core.ir.Module. */
typedef struct GmModule {
    const int32_t *rows, *args;
    const uint8_t *blob;
    const int32_t *rules;
    uint32_t n_nodes, n_args, n_rules, root;
    uint64_t n_blob;
} GmModule;

enum { GM_NFA_END = 0, GM_NFA_DEAD = 1 };
typedef enum GmEdgeKind { GM_EDGE_TERM, GM_EDGE_EXACT, GM_EDGE_CALL, GM_EDGE_EPS } GmEdgeKind;

typedef struct GmNfaEdge {
    uint32_t sym; /* TERM: lexer state; EXACT: id set; CALL: rule */
    uint32_t to;
    uint32_t next; /* of the same source, or GM_NONE */
    uint8_t kind;
} GmNfaEdge;

typedef struct GmNfaState {
    uint32_t edges; /* first, or GM_NONE */
    uint8_t alive;  /* the end can be reached */
    uint8_t moves;  /* ... with at least one symbol on the way */
    uint8_t ends;   /* ... without any */
} GmNfaState;

typedef enum GmRuleKind { GM_RULE_PLAIN, GM_RULE_REPEAT, GM_RULE_ANY_ORDER } GmRuleKind;
typedef struct GmRule {
    uint8_t kind;
    uint8_t nullable;
    uint8_t useful;      /* matches some non-empty text */
    uint32_t node, ctx;  /* where it came from */
    uint32_t entry;      /* NFA state; of lazy rules one that approximates it for the analysis */
    uint32_t lazy;       /* GmLazy, for lazy rules */
    uint32_t group;      /* left-recursive group, or GM_NONE */
} GmRule;

typedef struct GmLazy {
    uint32_t body, separator, extra; /* rules, or GM_NONE */
    uint32_t low, high;              /* members; GM_INF */
    uint32_t items, n_items;         /* of ANY_ORDER: first in GmNfa.items */
} GmLazy;

typedef struct GmItem {
    uint32_t rule;
    uint8_t required;
} GmItem;

typedef struct GmIdSet {
    const uint32_t *ids;
    uint32_t n;
} GmIdSet;

typedef struct GmFrame { /* a node whose state is being built */
    uint32_t node, cont, ctx, cursor, acc, extra;
} GmFrame;

typedef struct GmBuilt { /* the state of a node with the first continuation it was wanted with */
    uint64_t key;        /* 0: none yet */
    uint32_t state;
} GmBuilt;

typedef struct GmNfa {
    GmMem *mem;
    GmArena *arena;
    GmRegex *rx;
    GmModule module;
    const struct GmNfa *prefix; /* whose module is how this one begins, or NULL; read while building only */
    uint32_t max_states, max_expansion;
    GmRe *re;          /* per lexical node */
    uint32_t *weight;  /* per node: leaves, saturating */
    uint8_t *nullable; /* per node */
    uint8_t *expand;   /* per node: a repeat that must not be lazy */
    GM_VEC(GmNfaState) states;
    GM_VEC(GmNfaEdge) edges;
    GM_VEC(GmRule) rules;
    GM_VEC(GmLazy) lazies;
    GM_VEC(GmItem) items;
    GM_VEC(GmIdSet) id_sets;
    GM_VEC(GmRe) ignores; /* by context: I+, context 0 has none */
    GM_VEC(GmFrame) frames;
    GmBuilt *built;  /* per node behind the prefix; most nodes have one continuation */
    GmMap memo;      /* (node, cont, ctx) -> state, for further continuations */
    GmMap first;     /* (node, ctx) -> first continuation */
    GmMap rule_of;   /* (node, ctx) -> rule */
    GmMap set_of;    /* token id node -> id set */
    uint32_t root;   /* rule */
    uint64_t max_exact; /* largest exact id + 1 */
} GmNfa;

/* `prefix`: of a module that this one begins with (gm_nfa_may_take), or NULL; `rx` then begins with the prefix's. */
GmStatus gm_nfa_init(GmNfa *nfa, GmMem *mem, GmArena *arena, GmRegex *rx, const GmModule *module, const GmNfa *prefix,
                     uint32_t max_states, uint32_t max_expansion, GmError *err);
void gm_nfa_deinit(GmNfa *nfa);
/* Build everything reachable from the root. Again after setting bits of `expand`. Without the prefix, which is NULL then, if
 * nothing reaches it, or with it a limit is in the way. */
GmStatus gm_nfa_build(GmNfa *nfa, GmError *err);
/* Does a module begin with that of `prefix`, node by node, and do the limits allow what the prefix needed? */
bool gm_nfa_may_take(const GmModule *module, const GmNfa *prefix, uint32_t max_states, uint32_t max_expansion);
/* How much of it is the prefix's: nodes and rules of the module, states (without a prefix the two fixed ones), rules. */
static inline uint32_t gm_nfa_old_nodes(const GmNfa *nfa) { return nfa->prefix != NULL ? nfa->prefix->module.n_nodes : 0; }
static inline uint32_t gm_nfa_new_nodes(const GmNfa *nfa) { return nfa->module.n_nodes - gm_nfa_old_nodes(nfa); }
static inline uint32_t gm_nfa_old_ir_rules(const GmNfa *nfa) { return nfa->prefix != NULL ? nfa->prefix->module.n_rules : 0; }
static inline uint32_t gm_nfa_old_states(const GmNfa *nfa) { return nfa->prefix != NULL ? nfa->prefix->states.len : 2; }
static inline uint32_t gm_nfa_old_rules(const GmNfa *nfa) { return nfa->prefix != NULL ? nfa->prefix->rules.len : 0; }
static inline bool gm_nfa_is_prefix(const GmNfa *nfa, uint32_t node)
{
    return nfa->prefix != NULL && node == nfa->prefix->module.root;
}
/* A rule's own IR rule number for messages, or GM_NONE. */
uint32_t gm_nfa_ir_rule(const GmNfa *nfa, uint32_t rule);

#endif
