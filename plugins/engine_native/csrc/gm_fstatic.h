/* gm_fstatic: the memo tables of a parser program, computed before they are needed.
 *
 * What masks can ask for:
 *   (root base, focus 0), also under every debt a terminal can leave   tokens at a boundary
 *   step(root base, every lexer state), then (base left, focus 0)      tokens in a terminal
 *   (base, focus) -> its claims, met with every symbol -> (base claimed, that focus), again and again
 * All symbols that no wait of a claim has an edge for lead to one focus, so "every symbol" costs what the edges do.
 *
 * Owner    borrows the tables for the call. Threads: takes the core's lock.
 * Source   own; docs/parser-programs.md. Tests: tests/test_programs.py counts that closed tables stay as they are. */
#ifndef GM_FSTATIC_H
#define GM_FSTATIC_H

#include "gm_focus.h"
#include "gm_static.h"

/* Close the tables, or GM_LIMIT with the name of the limit. limits->lexers: lexer states of one terminal that are
 * followed, 0 for all. */
GmStatus gm_foci_close(GmFoci *foci, const GmFillLimits *limits, GmError *err);

#endif
