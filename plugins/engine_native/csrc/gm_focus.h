/* gm_focus: the memo tables of a parser program: what tokens can do from stacks that are not known in full.
 *
 *   wait      a POP or READ state that stands before a symbol it does not know yet
 *   focus     a point of view with the template walks already made: a list of runs
 *             (terminal, stacks emitted, waits). Focus 0 is the unknown stack itself; from there on every
 *             (set of waits, symbol met) has one, and equal lists are one focus whatever led to them.
 *   result    (base, focus) -> tokens that are certain, and claims on the stack below
 *   claim     (set of waits, base): to be met with the next symbol. It carries the base from *before* the waits'
 *             terminals, since tokens that end inside a terminal count only once its walk has emitted.
 *
 * Stacks here stand over a hole (node 0 of the stack: what is below the symbols met so far), so results hold
 * wherever the focus does.
 *
 * Threads  as GmCore: what exists is read without a lock, what is missing is made under the core's lock.
 * Cost     a result: one step per terminal that can start on a byte of the base, memoised.
 * Source   own; docs/parser-programs.md. Tests: tests/test_programs.py. */
#ifndef GM_FOCUS_H
#define GM_FOCUS_H

#include "gm_core.h"
#include "gm_program.h"

enum { GM_FOCUS_HOLE = 0 };

typedef struct GmFocus { /* runs: terminal, set emitted, number of waits, waits */
    const uint32_t *words;
    uint32_t n;
} GmFocus;

typedef struct GmWaitSet {
    const uint32_t *waits;   /* ascending */
    const uint32_t *symbols; /* that some wait has an edge for, ascending */
    _Atomic uint32_t *foci;  /* per symbol, and one more for all others; GM_NONE: not made yet */
    uint32_t n_waits, n_symbols;
} GmWaitSet;

typedef struct GmClaim {
    uint32_t wait_set, base;
} GmClaim;

typedef struct GmResult {
    GmToks toks;
    const uint32_t *claims;
    uint32_t n_claims;
} GmResult;

typedef struct GmFocusWork { /* a result being computed */
    uint32_t base, focus, at, view, out, k;
    bool open;
    uint64_t bytes[4]; /* that the base goes on with */
    GmGather gather;
    GM_VEC(uint64_t) pairs; /* (wait, base) */
} GmFocusWork;

typedef struct GmFoci {
    GmCore *core;
    GmProgram program;
    GmStack stack; /* over the hole */
    GmProgramWalk walk;
    GmPool foci, wait_sets, claims, results;
    GmIndex focus_index, wait_index, claim_index;
    GmMap focus_of; /* set of stacks over the hole -> focus */
    GmMap result_map;
    GM_VEC(GmFocusWork) work;
    uint32_t work_len;
    GM_VEC(uint32_t) words, bases, claim_list;
    GM_VEC(uint64_t) turned; /* (base, wait) */
} GmFoci;

/* The terminals are the rules of the module; all of it is borrowed. The core is initialised, not built. */
GmStatus gm_foci_build(GmFoci *foci, GmCore *core, const GmModule *module, const int32_t *code, uint64_t n_code,
                       uint32_t max_lexer_states, GmError *err);
void gm_foci_deinit(GmFoci *foci);

static inline const GmClaim *gm_claim_at(const GmFoci *foci, uint32_t claim) { return gm_pool_at(&foci->claims, claim); }
static inline const GmWaitSet *gm_wait_set_at(const GmFoci *foci, uint32_t set) { return gm_pool_at(&foci->wait_sets, set); }

/* Locked. */
GmStatus gm_focus_make(GmFoci *foci, uint32_t wait_set, uint32_t slot, uint32_t *focus, GmError *err);
GmStatus gm_result_make(GmFoci *foci, uint32_t base, uint32_t focus, const GmResult **out, GmError *err);

/* Any thread. */
GmStatus gm_focus_meet(GmFoci *foci, uint32_t wait_set, uint32_t symbol, uint32_t *focus, GmError *err);
GmStatus gm_focus_result(GmFoci *foci, uint32_t base, uint32_t focus, const GmResult **out, GmError *err);

#endif
