/* gm_program: a parser given as data, and the walk of one of its templates over stacks.
 *
 * A template is an acyclic graph of POP, READ and PUSH states. Those that can be reached and can still emit are
 * numbered in topological order, links included, so one scan over a bitmap of reached states runs the walk on
 * *sets* of stacks: whatever arrives at a state is joined before the state is left, every PUSH edge makes one
 * shared node, and no walk is exponential however many stacks it emits.
 *
 * Code     the flat form of a definition, int32:
 *            symbols, templates (the last one is the completion), then per template
 *              3 x (start, states, states x (accepting, edges, edges x (label or -1 for Default, target)))
 *              3 x (links, links x (target or -1))    pop to read, pop to push, read to push
 * Owner    a GmProgram lives in the arena of its constraint.
 * Threads  a GmProgram is immutable once built; a GmProgramWalk belongs to whoever owns the stack.
 * Cost     a walk: set operations on the states and edges it reaches.
 * Source   own; docs/parser-programs.md. Tests: tests/test_programs.py. */
#ifndef GM_PROGRAM_H
#define GM_PROGRAM_H

#include "gm_stack.h"

typedef enum GmProgramKind { GM_PROGRAM_POP, GM_PROGRAM_READ, GM_PROGRAM_PUSH } GmProgramKind;

typedef struct GmProgramEdge {
    uint32_t symbol, target; /* target: state, or GM_NONE: the walk ends (an explicit edge that shadows Default) */
} GmProgramEdge;

typedef struct GmProgramState {
    uint32_t edges, n_edges; /* in GmProgram.edges, ascending by symbol */
    uint32_t fallback;       /* where Default leads, or GM_NONE */
    uint32_t link[2];        /* or GM_NONE */
    uint32_t terminal;
    uint8_t kind, accepting;
} GmProgramState;

typedef struct GmProgramTerminal {
    uint32_t first, n; /* states; the walk starts in the first one; none when it never emits */
    GmRe re;
    GmLex lex;          /* re, clamped */
    uint64_t starts[4]; /* bytes it can start with */
} GmProgramTerminal;

typedef struct GmProgram {
    uint32_t n_symbols, n_terminals;
    GmProgramTerminal *terminals; /* n_terminals, then the completion */
    GmProgramState *states;
    GmProgramEdge *edges;
    uint32_t n_states, n_edges;
    uint32_t largest; /* states of the largest template */
} GmProgram;

/* Make the states and edges from the code; the terminals' languages are the caller's to set. The code is
 * checked; `mem` is for scratch. */
GmStatus gm_program_read(GmProgram *program, GmMem *mem, GmArena *arena, const int32_t *code, uint64_t n_code,
                         GmError *err);
/* Where a symbol leads from a POP or READ state, or GM_NONE. */
uint32_t gm_program_target(const GmProgram *program, uint32_t state, uint32_t symbol);

typedef struct GmProgramPart { /* stacks that have arrived at a state */
    uint32_t set, next;
} GmProgramPart;

typedef struct GmProgramWalk {
    const GmProgram *program;
    GmStack *stack;
    GmMem *mem;
    bool hole;                    /* the bottom is a rest that is not known yet: states wait there */
    uint32_t terminal;            /* the template */
    GM_VEC(uint64_t) pending;     /* bit per state of the template */
    GM_VEC(uint32_t) heads;       /* per state: part + 1 */
    GM_VEC(GmProgramPart) parts;
    GM_VEC(uint32_t) sets;        /* of one state, or emitted: see outs */
    GM_VEC(uint32_t) outs, waits; /* sets emitted; states that wait, ascending */
} GmProgramWalk;

GmStatus gm_program_walk_init(GmProgramWalk *walk, const GmProgram *program, GmStack *stack, GmMem *mem, bool hole,
                              GmError *err);
void gm_program_walk_deinit(GmProgramWalk *walk);
/* Begin a walk of a terminal's template (program->n_terminals: the completion). */
void gm_program_walk_begin(GmProgramWalk *walk, uint32_t terminal);
/* Stacks that stand in a state of the template; GM_NONE is no state. */
GmStatus gm_program_walk_add(GmProgramWalk *walk, uint32_t state, uint32_t set, GmError *err);
/* Walk to the end: the stacks emitted, GM_SET_EMPTY for none, and walk->waits. */
GmStatus gm_program_walk_run(GmProgramWalk *walk, uint32_t *out, GmError *err);
/* All of it for a template applied to a set. */
GmStatus gm_program_apply(GmProgramWalk *walk, uint32_t terminal, uint32_t set, uint32_t *out, GmError *err);

#endif
