/* gm_analyse: facts about the rules of a GmNfa, each by one backwards search.
 *
 *   rule.nullable   the end is reachable over epsilon moves and nullable calls
 *   rule.useful     some non-empty text is matched (terminals are never empty, useless calls do not count)
 *   state.alive     the end can still be reached; state.moves: ... with a symbol on the way
 *   rule.group      left-recursive groups: strongly connected components of "may start with a call of"
 *
 * What a prefix has brought is known and stays: nothing in it depends on what comes after it.
 *
 * Cost     linear in states and edges (groups: in the edges of the closures of the entries).
 * Source   Tarjan 1972, Depth-first search and linear graph algorithms; own.
 * Tests    differential tests against the oracle. */
#ifndef GM_ANALYSE_H
#define GM_ANALYSE_H

#include "gm_lower.h"

typedef struct GmGroups {
    GM_VEC(uint32_t) member; /* rules, group by group */
    GM_VEC(uint32_t) off;    /* n_groups + 1 */
} GmGroups;

/* `known`: the groups of the prefix, or NULL. */
GmStatus gm_analyse(GmNfa *nfa, const GmGroups *known, GmGroups *groups, GmError *err);

#endif
