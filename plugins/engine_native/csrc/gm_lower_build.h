/* gm_lower_build: making states, edges and rules, between gm_lower.c, gm_lower_lazy.c and gm_lower_prefix.c. Part of gm_lower. */
#ifndef GM_LOWER_BUILD_H
#define GM_LOWER_BUILD_H

#include "gm_lower_nodes.h"

GmStatus gm_lower_state(GmNfa *nfa, uint32_t *out, GmError *err);
GmStatus gm_lower_edge(GmNfa *nfa, uint32_t from, GmEdgeKind kind, uint32_t sym, uint32_t to, GmError *err);
GmStatus gm_lower_rule(GmNfa *nfa, GmRuleKind kind, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err);
/* Key of a rule in nfa->rule_of. */
static inline uint64_t gm_lower_key(uint32_t node, uint32_t ctx) { return gm_pair(ctx, node); }
/* The rule whose body is `node` in context `ctx`; its states are built later. */
GmStatus gm_lower_rule_for(GmNfa *nfa, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err);
/* The lazy rule of a counted repeat or any_order. */
GmStatus gm_lower_lazy(GmNfa *nfa, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err);

/* From nfa->prefix, which is not NULL: facts about its nodes, */
void gm_lower_take_nodes(GmNfa *nfa);
/* ... and what was built of them. */
GmStatus gm_lower_take_build(GmNfa *nfa, GmError *err);
/* Does anything behind the prefix call one of its rules? */
bool gm_lower_reaches_prefix(const GmNfa *nfa);

#endif
