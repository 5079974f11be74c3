/* gm_pstate: the states of parser programs: what gm_state and gm_mask do differently for them.
 *
 * Threads and tops are those of gm_state with one network state (0), since what comes next is on the stacks:
 * a thread carries the stacks *after* its terminal, so a terminal whose template emits nothing never starts,
 * and a top carries the stacks at a boundary. The set {bottom} is the empty stack, which is a legal one.
 *
 * Owner, threads: see gm_state. Tests: tests/test_programs.py. */
#ifndef GM_PSTATE_H
#define GM_PSTATE_H

#include "gm_state.h"

/* A fresh state: the stack [0] at a boundary. */
GmStatus gm_pstate_begin(GmState *state, GmError *err);
/* Is some stack of the boundary in the domain of the completion? */
GmStatus gm_pstate_accepting(GmState *state, bool *accepting, GmError *err);
/* Terminals that start on a byte at the boundary. */
GmStatus gm_pstate_start(GmState *state, uint8_t byte, GmError *err);
/* Take the sets that the mask is the union of (gm_mask_take). */
GmStatus gm_pstate_mask(GmState *state, GmError *err);

#endif
