/* gm_lower_nodes: facts about syntactic nodes. Part of gm_lower. */
#ifndef GM_LOWER_NODES_H
#define GM_LOWER_NODES_H

#include "gm_lower.h"
#include "gm_lower_lex.h"

enum { GM_LOWER_UNROLL = 64 }; /* leaves up to which a counted repeat is written out */

/* The four words of a node. */
static inline const int32_t *gm_lower_row(const GmNfa *nfa, uint32_t node)
{
    return nfa->module.rows + 4 * (size_t)node;
}
/* The error that says which node is malformed. */
GmStatus gm_lower_bad(GmError *err, uint32_t node);
/* Both are about what is behind the prefix, whose facts are there. */
/* Check everything that building relies on; fills nfa->weight. Needs nfa->re. */
GmStatus gm_lower_check(GmNfa *nfa, GmError *err);
/* Fill nfa->nullable. Linear. */
GmStatus gm_lower_nullable(GmNfa *nfa, GmError *err);

#endif
