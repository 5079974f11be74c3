/* Lazy states: counted repeats and groups in any order, whose states are made from counts and sets of items. A
 * repeat whose counts are beyond the horizon has a clamp, the state that no token can tell from it. */
#include "gm_netstates.h"

#include <string.h>

GmStatus gm_net_repeat_state(GmNet *net, uint32_t rule, uint32_t phase, uint32_t low, uint32_t high, bool start,
                             uint32_t *out, GmError *err)
{
    const GmLazy *lazy = &net->nfa.lazies.data[net->nfa.rules.data[rule].lazy];
    bool boundary = phase == 1 || (lazy->separator == GM_NONE && !start);
    if (boundary && high == 0) {
        *out = GM_NET_END;
        return GM_OK;
    }
    GmNetState proto = gm_net_proto(GM_NET_REPEAT);
    proto.rule = rule;
    proto.phase = (uint8_t)phase;
    proto.low = low;
    proto.high = high;
    proto.start = start;
    proto.final = boundary && low == 0;
    GM_TRY(gm_net_intern(net, &proto, out, err));
    if (low > net->horizon + 1 || (high != GM_INF && high > net->horizon)) {
        uint32_t clamp;
        GM_TRY(gm_net_repeat_state(net, rule, phase, low > net->horizon ? net->horizon + 1 : low,
                                   high > net->horizon ? GM_INF : high, start, &clamp, err));
        GmNetState *state = gm_pool_at(&net->states, *out);
        if (state->clamp != clamp) { /* others may read it meanwhile, once it is right */
            state->clamp = clamp;
        }
    }
    return GM_OK;
}

GmStatus gm_net_skip(GmNet *net, uint32_t state, uint32_t *out, GmError *err)
{
    const GmNetState s = *gm_net_at(net, state);
    *out = state;
    if (s.kind != GM_NET_REPEAT || s.clamp == state) {
        return GM_OK;
    }
    uint32_t by = GM_INF;
    if (s.low > net->horizon + 1) {
        by = s.low - (net->horizon + 1);
    }
    if (s.high != GM_INF && s.high > net->horizon && s.high - net->horizon < by) {
        by = s.high - net->horizon;
    }
    return gm_net_repeat_state(net, s.rule, s.phase, s.low > by ? s.low - by : 0,
                               s.high == GM_INF ? GM_INF : s.high - by, false, out, err);
}

static bool order_has(const uint32_t *bits, uint32_t i) { return bits[i >> 5] >> (i & 31) & 1; }

typedef struct OrderFacts {
    uint32_t required; /* not seen yet */
    bool slack;        /* one more optional member fits */
    bool more;         /* some member may come */
} OrderFacts;

static OrderFacts order_facts(const GmNet *net, uint32_t rule, const uint32_t *bits, uint32_t count)
{
    const GmNfa *nfa = &net->nfa;
    const GmLazy *lazy = &nfa->lazies.data[nfa->rules.data[rule].lazy];
    OrderFacts f = {0, false, false};
    bool optional = lazy->extra != GM_NONE && nfa->rules.data[lazy->extra].useful;
    for (uint32_t i = 0; i < lazy->n_items; i++) {
        const GmItem *item = &nfa->items.data[lazy->items + i];
        if (!order_has(bits, i)) {
            f.required += item->required;
            optional = optional || (!item->required && nfa->rules.data[item->rule].useful);
        }
    }
    f.slack = lazy->high == GM_INF || (uint64_t)count + f.required < lazy->high;
    f.more = f.required > 0 || (optional && f.slack);
    return f;
}

GmStatus gm_net_order_state(GmNet *net, uint32_t rule, uint32_t phase, const uint32_t *bits, uint32_t count, bool start,
                            uint32_t *out, GmError *err)
{
    const GmLazy *lazy = &net->nfa.lazies.data[net->nfa.rules.data[rule].lazy];
    if (lazy->high == GM_INF && count > lazy->low) {
        count = lazy->low;
    }
    OrderFacts facts = order_facts(net, rule, bits, count);
    GmNetState proto = gm_net_proto(GM_NET_ORDER);
    proto.final = phase == 1 && facts.required == 0 && count >= lazy->low;
    if (phase == 1 && proto.final && !facts.more) {
        *out = GM_NET_END;
        return GM_OK;
    }
    proto.rule = rule;
    proto.phase = (uint8_t)phase;
    proto.start = start;
    proto.low = count;
    proto.list = bits;
    proto.n = (lazy->n_items + 31) / 32;
    return gm_net_intern(net, &proto, out, err);
}

/* -- edges -------------------------------------------------------------------------------------------- */

static GmStatus add_call(GmNet *net, uint32_t rule, uint32_t to, GmError *err)
{
    uint32_t start;
    GM_TRY(gm_net_rule_start(net, rule, &start, err));
    return gm_net_add_raw(net, GM_EDGE_CALL, start, to, err);
}

GmStatus gm_net_repeat_edges(GmNet *net, uint32_t id, const GmNetEdges **out, GmError *err)
{
    const GmNetState s = *gm_net_at(net, id);
    const GmLazy lazy = net->nfa.lazies.data[net->nfa.rules.data[s.rule].lazy];
    uint32_t to, fewer = s.low > 0 ? s.low - 1 : 0, left = s.high == GM_INF ? GM_INF : s.high - 1;
    net->raw.len = 0;
    if (s.high > 0 && s.phase == 1) {
        if (net->nfa.rules.data[lazy.separator].useful) {
            GM_TRY(gm_net_repeat_state(net, s.rule, 2, s.low, s.high, false, &to, err));
            GM_TRY(add_call(net, lazy.separator, to, err));
        }
    } else if (s.high > 0 && net->nfa.rules.data[lazy.body].useful) {
        GM_TRY(gm_net_repeat_state(net, s.rule, lazy.separator == GM_NONE ? 0 : 1, fewer, left, false, &to, err));
        GM_TRY(add_call(net, lazy.body, to, err));
    }
    return gm_net_publish(net, id, net->raw.data, net->raw.len, out, err);
}

GmStatus gm_net_order_edges(GmNet *net, uint32_t id, const GmNetEdges **out, GmError *err)
{
    const GmNetState s = *gm_net_at(net, id);
    const GmNfa *nfa = &net->nfa;
    const GmLazy lazy = nfa->lazies.data[nfa->rules.data[s.rule].lazy];
    OrderFacts facts = order_facts(net, s.rule, s.list, s.low);
    uint32_t to;
    net->raw.len = 0;
    if (s.phase == 1 && lazy.separator != GM_NONE) {
        if (facts.more && nfa->rules.data[lazy.separator].useful) {
            GM_TRY(gm_net_order_state(net, s.rule, 2, s.list, s.low, false, &to, err));
            GM_TRY(add_call(net, lazy.separator, to, err));
        }
        return gm_net_publish(net, id, net->raw.data, net->raw.len, out, err);
    }
    void *p;
    GM_TRY(gm_arena_zeroed(net->arena, s.n + 1u, sizeof(uint32_t), &p, err));
    uint32_t *bits = p;
    if (s.n > 0) {
        memcpy(bits, s.list, s.n * sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < lazy.n_items; i++) {
        GmItem item = nfa->items.data[lazy.items + i];
        if (order_has(bits, i) || !nfa->rules.data[item.rule].useful || (!item.required && !facts.slack)) {
            continue;
        }
        bits[i >> 5] |= (uint32_t)1 << (i & 31);
        GM_TRY(gm_net_order_state(net, s.rule, 1, bits, s.low + 1, false, &to, err));
        bits[i >> 5] &= ~((uint32_t)1 << (i & 31));
        GM_TRY(add_call(net, item.rule, to, err));
    }
    if (lazy.extra != GM_NONE && nfa->rules.data[lazy.extra].useful && facts.slack) {
        GM_TRY(gm_net_order_state(net, s.rule, 1, bits, s.low + 1, false, &to, err));
        GM_TRY(add_call(net, lazy.extra, to, err));
    }
    return gm_net_publish(net, id, net->raw.data, net->raw.len, out, err);
}
