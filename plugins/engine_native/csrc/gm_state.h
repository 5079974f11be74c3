/* gm_state: one sequence: what the text so far can still become.
 *
 * After each byte a reading is either in the middle of a terminal (a *thread*) or at a boundary (a *top*):
 *
 *   thread  (lexer state, exempt, network state after the terminal, debt) -> set of stacks
 *   top     (network state, debt) -> set of stacks, not closed under pops
 *
 * What could start at a boundary is not kept; the next byte decides it (gm_core_plan). `closed` is the
 * boundary closed under pops, made on first need after each commit.
 *
 * Owner    a state retains its constraint; its stack, history and buffers are its own.
 * Threads  one at a time, checked by `busy`.
 * Cost     a byte: a look-up per thread and top; no allocation once buffers have grown.
 * Tests    test_state.c, test_threads.c; differential tests. */
#ifndef GM_STATE_H
#define GM_STATE_H

#include "gm_constraint.h"
#include "gm_program.h"
#include "gm_stack.h"

typedef struct GmThread {
    GmRe re, debt;
    uint32_t to, set;
    GmLex origin; /* where the terminal started; its low bit: exempt. The rest plays no part in what follows */
} GmThread;

typedef struct GmTop {
    uint32_t state, set;
    GmRe debt;
} GmTop;

typedef struct GmCall { /* a rule to be entered at a boundary of many states */
    uint64_t key; /* height and number of its local plan */
    GmRe debt;
    uint32_t set;
} GmCall;

typedef struct GmMoment { /* everything a commit can change; also an entry of the history */
    GM_VEC(GmThread) threads;
    GM_VEC(GmTop) tops;
    uint8_t rejected, terminated, empty; /* empty: nothing committed yet and the empty text is accepted */
} GmMoment;

struct GmState {
    GmConstraint *c;
    GmMem mem;
    atomic_flag busy;
    GmStack stack;
    GmMoment now;
    GmMoment *history; /* ring of max_history + 1; the extra one is the moment before a commit */
    uint32_t max_history, first, count;
    GM_VEC(GmThread) next_threads;
    GM_VEC(GmTop) next_tops, closed, exact;
    GM_VEC(GmCall) calls;   /* heap, highest first */
    GM_VEC(uint32_t) slots; /* sets of a plan being carried out, or of one view in a mask */
    GM_VEC(uint32_t *) roots;
    GM_VEC(uint64_t) walk; /* of a mask: (view, set) */
    GM_VEC(uint64_t) round; /* of a mask: pairs of `walk` by view */
    GM_VEC(const GmToks *) taken; /* of a mask: the sets it is the union of */
    GmIndex walk_index;
    GmIndex thread_index, top_index, closed_index; /* of next_threads, next_tops and closed, where these are long */
    bool closed_valid, accepting;  /* accepting: as of `closed` */
    GmProgramWalk program_walk;    /* of a parser program */
};

/* No reading is left. */
static inline bool gm_state_is_dead(const GmState *state)
{
    return state->now.threads.len == 0 && state->now.tops.len == 0;
}
void gm_moment_deinit(GmMoment *m, GmMem *mem);
/* `to` keeps its buffers. */
GmStatus gm_moment_copy(GmMem *mem, GmMoment *to, const GmMoment *from, GmError *err);
/* gm_read.c. Make `closed` and `accepting`. */
GmStatus gm_state_close(GmState *state, GmError *err);
/* `now` after one more byte; after an error `now` is unusable, and so after the next. */
GmStatus gm_state_read_byte(GmState *state, uint8_t byte, GmError *err);
/* `now` after a token: its byte reading and its exact one. */
GmStatus gm_state_read_token(GmState *state, uint32_t id, const uint8_t *bytes, uint64_t n, GmError *err);
/* gm_start.c: start what the closed boundary may start on a byte, or as the exact token with GM_PLAN_OF_EXACT. */
GmStatus gm_state_start(GmState *state, uint32_t byte, uint32_t token, GmError *err);
/* Add the reading; readings that agree in all but their stacks are one. */
GmStatus gm_state_add_top(GmState *state, GmTop top, GmError *err);
/* A terminal has read a byte and is in the state of `entry`; it goes on, and if it matches it may end. */
GmStatus gm_state_arrive(GmState *state, uint32_t entry, GmLex origin, uint32_t to, GmRe debt, uint32_t set, GmError *err);
/* The debt after one more byte; *violated when the owed terminal matches after all. */
GmStatus gm_state_owe(GmState *state, GmRe *debt, uint8_t byte, bool *violated, GmError *err);
/* Remember to read a view (of a parser program: a claim) over a set; GM_SET_BOTTOM is not read. */
GmStatus gm_mask_push(GmState *state, uint32_t view, uint32_t set, GmError *err);
/* All tokens under a debt. */
GmStatus gm_mask_whole(GmState *state, GmRe debt, uint32_t *view, GmError *err);
/* Remember that a mask holds this set, which stays where it is. */
GmStatus gm_mask_take(GmState *state, const GmToks *toks, GmError *err);
/* The words of the mask, all of the constraint's, without end tokens (gm_mask.c). */
GmStatus gm_mask_fill(GmState *state, uint32_t *words, GmError *err);

#endif
