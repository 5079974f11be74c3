/* gm_netstates: making states and edges, between gm_network.c, gm_netlazy.c and gm_netclose.c. Internal to them.
 *
 * Threads  for the holder of the lock, as all that creates.
 * Tests    test_network.c; differential tests against the oracle. */
#ifndef GM_NETSTATES_H
#define GM_NETSTATES_H

#include "gm_network.h"

#include <string.h>

static inline GmNetState gm_net_proto(GmNetKind kind)
{
    GmNetState s;
    memset(&s, 0, sizeof s);
    s.kind = (uint8_t)kind;
    s.rule = GM_NONE;
    return s;
}
/* Intern a state; its list is copied. */
GmStatus gm_net_intern(GmNet *net, const GmNetState *proto, uint32_t *out, GmError *err);
/* The state in which a rule starts; never final, since a rule matches non-empty text only. */
GmStatus gm_net_rule_start(GmNet *net, uint32_t rule, uint32_t *out, GmError *err);

/* The order of edges: by kind, symbol and target. For qsort. */
int gm_net_compare_edges(const void *x, const void *y);
/* Append to net->raw, where the edges of one state are gathered. */
GmStatus gm_net_add_raw(GmNet *net, uint32_t kind, uint32_t sym, uint32_t to, GmError *err);
/* The edges of a state, which are sorted in place, for all threads to see. */
GmStatus gm_net_publish(GmNet *net, uint32_t state, GmNetEdge *e, uint32_t n, const GmNetEdges **out, GmError *err);

/* gm_netlazy.c: the state of a counted repeat with the members still needed and allowed. Phases: 0 before a
 * member, 1 after one, 2 after a separator. */
GmStatus gm_net_repeat_state(GmNet *net, uint32_t rule, uint32_t phase, uint32_t low, uint32_t high, bool start,
                             uint32_t *out, GmError *err);
GmStatus gm_net_repeat_edges(GmNet *net, uint32_t id, const GmNetEdges **out, GmError *err);
/* The state of an any_order with the items seen, as bits, and the members so far. Phases: 0 a member may come
 * first, 1 after a member, 2 a member must come. */
GmStatus gm_net_order_state(GmNet *net, uint32_t rule, uint32_t phase, const uint32_t *bits, uint32_t count, bool start,
                            uint32_t *out, GmError *err);
GmStatus gm_net_order_edges(GmNet *net, uint32_t id, const GmNetEdges **out, GmError *err);

#endif
