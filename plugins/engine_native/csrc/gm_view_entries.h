/* gm_view_entries: what views (gm_view.c), steps (gm_step.c) and steps by difference (gm_like.c) share; internal.
 *
 * What follows a match is gathered in vs->after as entries; a caller notes its length, appends and makes the view
 * of what it has appended.
 *
 * Threads  for the holder of the lock, as all that creates.
 * Tests    test_view.c; differential tests against the oracle. */
#ifndef GM_VIEW_ENTRIES_H
#define GM_VIEW_ENTRIES_H

#include "gm_view.h"

#include "gm_shared.h"

/* The debt after one more byte; *violated when the owed terminal matches after all. */
static inline GmStatus gm_debt_step(GmViews *vs, GmRe debt, uint8_t byte, GmRe *out, bool *violated,
                                    GmError *err)
{
    uint32_t entry;
    GM_TRY(gm_re_deriv(vs->rx, debt, byte, &entry, err));
    *violated = (entry & GM_RE_NULLABLE) != 0;
    *out = GM_RE_ID(entry);
    return GM_OK;
}

/* Can a token that extends `node` violate the debt? If not, the view forgets it. */
GmStatus gm_debt_bites(GmViews *vs, uint32_t node, GmRe debt, bool *out, GmError *err);
/* Append to vs->after the entries below a trie node under a debt. */
GmStatus gm_entries_under(GmViews *vs, uint32_t node, GmRe debt, GmError *err);
/* The base that the vocabulary keeps, by reference. */
GmStatus gm_view_base_of_shared(GmViews *vs, const GmSharedBase *shared, uint32_t *base, GmError *err);
/* The view of the entries gathered in vs->after from `start` on, which are taken off. `distinct`: no node
 * occurs twice. */
GmStatus gm_view_of_after(GmViews *vs, uint32_t start, bool distinct, uint32_t *view, GmError *err);

/* Read n subtrees, ascending, with a terminal: tokens into vs->ranges, remainders onto vs->after. */
GmStatus gm_step_subtrees(GmViews *vs, GmLex lex, const GmSubtree *top, uint32_t n, GmError *err);
/* The step of the whole vocabulary from that of another lexer state; *found: whether there is a like one. */
GmStatus gm_step_like(GmViews *vs, GmLex lex, GmStep *made, bool *found, GmError *err);
/* Make a step by difference refer to nothing: one set of tokens, one base without holes. */
GmStatus gm_step_solid(GmViews *vs, GmStep *made, GmError *err);
/* A base of another constraint whose debts are none: by reference, or the one here that is equal. */
GmStatus gm_view_base_of_part(GmViews *vs, const GmBase *other, uint32_t *base, GmError *err);
/* Locked, the part too: the base of the part with the same entries, none of which owes; or GM_NONE. */
uint32_t gm_view_find_base(const GmViews *part, const GmBase *base);
/* The view here of a view of a part; *found: whether all its debts are known here. */
GmStatus gm_view_of_part(GmViews *vs, uint32_t number, uint32_t view, uint32_t *out, bool *found, GmError *err);
/* What a part calls a base other than the root that was made here; GM_BASE_ROOT if it has no such one, or it owes. */
GmStatus gm_base_in_part(GmViews *vs, uint32_t number, uint32_t base, uint32_t *theirs, GmError *err);
/* The step that a part has made; *found: whether one has. */
GmStatus gm_step_of_part(GmViews *vs, uint32_t base, GmLex lex, GmStep *made, bool *found, GmError *err);
/* gm_view_step; `like`: whether the step may be made from the step of another state. */
GmStatus gm_step_of(GmViews *vs, uint32_t base, GmLex lex, bool like, uint32_t *step, GmError *err);

#endif
