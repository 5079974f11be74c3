/* What is taken over from a prefix, the module that this one begins with and that was lowered before. */
#include "gm_lower_build.h"

#include <string.h>

bool gm_nfa_may_take(const GmModule *module, const GmNfa *prefix, uint32_t max_states, uint32_t max_expansion)
{
    const GmModule *m = &prefix->module;
    return prefix->states.len < max_states && prefix->max_expansion <= max_expansion && m->n_nodes <= module->n_nodes &&
           m->n_args <= module->n_args && m->n_blob <= module->n_blob && m->n_rules <= module->n_rules &&
           gm_same(m->rows, module->rows, (size_t)m->n_nodes * 4 * sizeof(int32_t)) &&
           gm_same(m->args, module->args, (size_t)m->n_args * sizeof(int32_t)) &&
           gm_same(m->blob, module->blob, (size_t)m->n_blob) &&
           gm_same(m->rules, module->rules, (size_t)m->n_rules * 2 * sizeof(int32_t));
}

void gm_lower_take_nodes(GmNfa *nfa)
{
    const GmNfa *prefix = nfa->prefix;
    size_t n = prefix->module.n_nodes;
    memcpy(nfa->re, prefix->re, n * sizeof *nfa->re);
    memcpy(nfa->weight, prefix->weight, n * sizeof *nfa->weight);
    memcpy(nfa->nullable, prefix->nullable, n);
    nfa->max_exact = prefix->max_exact;
}

/* With room for `more` behind it. */
#define TAKE(nfa, vec, more)                                                                                    \
    do {                                                                                                        \
        if ((nfa)->prefix->vec.len > 0) {                                                                       \
            GM_RESERVE((nfa)->mem, (nfa)->vec, (size_t)(nfa)->prefix->vec.len + (more));                        \
            memcpy((nfa)->vec.data, (nfa)->prefix->vec.data, (nfa)->prefix->vec.len * sizeof *(nfa)->vec.data); \
            (nfa)->vec.len = (nfa)->prefix->vec.len;                                                            \
        }                                                                                                       \
    } while (0)

/* What was built of the prefix. Its nodes are not known to the memo: others call its rules. */
GmStatus gm_lower_take_build(GmNfa *nfa, GmError *err)
{
    const uint32_t more = gm_nfa_new_nodes(nfa) + 16; /* enough in most cases */
    TAKE(nfa, states, more);
    TAKE(nfa, edges, more);
    TAKE(nfa, rules, 16);
    TAKE(nfa, lazies, 0);
    TAKE(nfa, items, 0);
    TAKE(nfa, id_sets, 0);
    TAKE(nfa, ignores, 1);
    GM_TRY(gm_map_copy(&nfa->rule_of, nfa->mem, &nfa->prefix->rule_of, err));
    return gm_map_copy(&nfa->set_of, nfa->mem, &nfa->prefix->set_of, err);
}

bool gm_lower_reaches_prefix(const GmNfa *nfa)
{
    bool reached = nfa->root < nfa->prefix->rules.len;
    for (uint32_t e = nfa->prefix->edges.len; e < nfa->edges.len && !reached; e++) {
        reached = nfa->edges.data[e].kind == GM_EDGE_CALL && nfa->edges.data[e].sym < nfa->prefix->rules.len;
    }
    return reached;
}
