/* gm_static: computing the memo tables before they are needed.
 *
 * The closure is small: what masks can ask for is
 *   (root base, every network state)                      tokens at a boundary
 *   step(root base, every lexer state), then (base left, next state)
 *   the same under every debt a terminal can leave
 *   (base, state) -> (base left, every return state that can lie below state), again and again
 * A GmFill goes through it in small units: first the network (which states call which), then lexer states,
 * debts and pairs. Static schedules run it to the end within limits; the worker of gm_warm runs it piecemeal.
 *
 * "Can lie below" is by rule starts: owners(state) are the starts from which the state is reached without
 * calls, returns(start) the states that calls of it return to, closed over tail calls and final returns.
 *
 * Owner    a GmFill borrows its core. Threads: the core's lock is held during gm_fill_unit.
 * Source   own; docs/algorithms/schedules.md. Tests: differential tests at FAST_RUNTIME; a test counts that
 *          masks after a closed build compute nothing. */
#ifndef GM_STATIC_H
#define GM_STATIC_H

#include "gm_core.h"

typedef struct GmFillLimits {
    uint64_t work;   /* trie nodes walked */
    uint64_t bytes;  /* growth of the constraint */
    uint32_t pairs;  /* pairs, lexer states and owner facts */
    double seconds;  /* wall-clock time; 0 without limit */
    uint32_t lexers; /* lexer states of one terminal that are followed; more of them: gave_up */
} GmFillLimits;

typedef struct GmFillTerm { /* a terminal, and where it occurs */
    GmLex lex;
    uint32_t places; /* first in GmFill.places + 1, linked */
} GmFillTerm;

typedef struct GmFillPlace {
    uint32_t from, to, next;
} GmFillPlace;

typedef struct GmFillLink { /* a value in a linked list, per state */
    uint32_t value, next;
} GmFillLink;

typedef struct GmFillLexer { /* lexer state of a terminal, with what is owed */
    GmRe re, debt;
    uint32_t term, start; /* start: the terminal has read nothing yet */
} GmFillLexer;

typedef struct GmFillDebt {
    GmRe debt;
    uint32_t term; /* whose end left it */
} GmFillDebt;

typedef struct GmFill {
    GmCore *core;
    GmMem *mem;
    GmFillLimits limits;
    uint64_t walked_before, bytes_before, units;
    double began;
    bool gave_up;            /* something was left to first need; never without limits.lexers */
    GM_VEC(uint32_t) states; /* clamped network states in order of discovery */
    GmMap seen_states;
    GM_VEC(GmFillTerm) terms;
    GmMap term_of; /* lex -> term */
    GM_VEC(GmFillPlace) places;
    GM_VEC(uint64_t) calls; /* (start, return state), (start, caller) in pairs: return GM_NET_END means a tail call */
    GM_VEC(uint64_t) owned; /* (state, start), in order of discovery */
    GmMap seen_owned;
    GM_VEC(uint32_t) owners, returns, tails; /* per state: first link + 1 */
    GM_VEC(GmFillLink) links;
    GM_VEC(uint32_t) below; /* per start: index into below_off + 1 */
    GM_VEC(uint32_t) below_off, below_list;
    GM_VEC(GmFillLexer) lexers;
    GM_VEC(uint32_t) term_lexers; /* per term: lexer states found */
    GmMap seen_lexers, seen_steps;
    GM_VEC(GmFillDebt) debts;
    GmMap seen_debts;
    GM_VEC(uint64_t) pairs; /* (base, state) */
    GmMap seen_pairs;
    GM_VEC(uint32_t) todo;
    uint32_t next_state, next_owned, next_lexer, next_debt, next_pair, next_seed;
    uint32_t phase;
} GmFill;

void gm_fill_init(GmFill *fill, GmCore *core, const GmFillLimits *limits);
void gm_fill_deinit(GmFill *fill);
/* One unit of work (some microseconds); *done when the closure is complete. Locked. */
GmStatus gm_fill_unit(GmFill *fill, bool *done, GmError *err);
/* All of it. Takes the lock. With `keep`, on fresh tables: so that they can be saved (gm_tables.h). */
GmStatus gm_static_close(GmCore *core, const GmFillLimits *limits, bool keep, GmError *err);
/* Only the states of the network, in the same order. Takes the lock. */
GmStatus gm_static_network(GmCore *core, const GmFillLimits *limits, GmError *err);

#endif
