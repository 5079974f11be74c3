/* Costs of rules and network states. */
#include "gm_finish.h"

#include <string.h>

/* -- a heap of costs ------------------------------------------------------------------------------------ */

GmStatus gm_cost_push(GmCostHeap *heap, GmMem *mem, uint64_t cost, uint32_t id, GmError *err)
{
    GM_PUSH(mem, heap->item, ((GmHeapItem){cost, id}));
    GmHeapItem *item = heap->item.data;
    uint32_t at = heap->item.len - 1;
    for (; at > 0 && item[(at - 1) / 2].cost > cost; at = (at - 1) / 2) {
        item[at] = item[(at - 1) / 2];
    }
    item[at] = (GmHeapItem){cost, id};
    return GM_OK;
}

GmHeapItem gm_cost_pop(GmCostHeap *heap)
{
    GmHeapItem *item = heap->item.data, first = item[0], last = item[--heap->item.len];
    uint32_t n = heap->item.len, at = 0;
    for (uint32_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && item[child + 1].cost < item[child].cost;
        if (item[child].cost >= last.cost) {
            break;
        }
        item[at] = item[child];
        at = child;
    }
    item[at] = last;
    return first;
}

/* -- counted repeats and groups in any order -------------------------------------------------------------- */

static uint64_t times(uint64_t x, uint64_t n)
{
    return n == 0 || x == 0 ? 0 : x >= GM_FAR ? GM_FAR : n > (GM_FAR - 1) / x ? GM_FAR - 1 : x * n;
}

static uint64_t repeat_cost(const GmFinish *f, const GmLazy *lazy, uint32_t phase, uint32_t low, bool start)
{
    uint64_t body = f->rule[lazy->body], n = low;
    if (lazy->separator == GM_NONE) {
        return times(body, start && n == 0 ? 1 : n);
    }
    uint64_t separator = f->rule[lazy->separator];
    if (phase == 1) {
        return times(gm_far_add(body, separator), n);
    }
    n = n == 0 ? 1 : n;
    return gm_far_add(times(body, n), times(separator, n - 1));
}

/* `bits`: the items seen; NULL for none. */
static uint64_t order_cost(const GmFinish *f, const GmLazy *lazy, uint32_t phase, const uint32_t *bits, uint32_t count)
{
    const GmNfa *nfa = &f->core->net.nfa;
    uint64_t cost = 0, required = 0, cheapest = lazy->extra != GM_NONE ? f->rule[lazy->extra] : GM_FAR;
    for (uint32_t i = 0; i < lazy->n_items; i++) {
        const GmItem *item = &nfa->items.data[lazy->items + i];
        if (bits != NULL && (bits[i >> 5] >> (i & 31) & 1) != 0) {
            continue;
        }
        if (item->required) {
            required++;
            cost = gm_far_add(cost, f->rule[item->rule]);
        } else if (f->rule[item->rule] < cheapest) {
            cheapest = f->rule[item->rule];
        }
    }
    uint64_t members = lazy->low > count ? lazy->low - count : 0;
    members = members < required ? required : members;
    members = members == 0 && phase != 1 ? 1 : members;
    cost = gm_far_add(cost, times(cheapest, members - required));
    if (lazy->separator != GM_NONE && members > 0) {
        cost = gm_far_add(cost, times(f->rule[lazy->separator], phase == 1 ? members : members - 1));
    }
    return cost;
}

static uint64_t lazy_cost(const GmFinish *f, uint32_t rule)
{
    const GmRule *r = &f->core->net.nfa.rules.data[rule];
    const GmLazy *lazy = &f->core->net.nfa.lazies.data[r->lazy];
    return r->kind == GM_RULE_REPEAT ? repeat_cost(f, lazy, 0, lazy->low, true) : order_cost(f, lazy, 0, NULL, 0);
}

/* -- all NFA states and rules ----------------------------------------------------------------------------- */

typedef struct Chain { /* lists of (a, b), by key */
    uint32_t *head, *next, *a, *b;
    uint32_t n;
} Chain;

static GmStatus chain_init(Chain *c, GmArena *arena, size_t keys, size_t n, GmError *err)
{
    void *p;
    GM_TRY(gm_arena_zeroed(arena, keys + 3 * n + 4, sizeof(uint32_t), &p, err));
    c->head = p;
    c->next = c->head + keys + 1;
    c->a = c->next + n + 1;
    c->b = c->a + n + 1;
    c->n = 0;
    return GM_OK;
}

static void chain_add(Chain *c, uint32_t key, uint32_t a, uint32_t b)
{
    c->a[c->n] = a;
    c->b[c->n] = b;
    c->next[c->n] = c->head[key];
    c->head[key] = ++c->n;
}

typedef struct Costs {
    GmFinish *f;
    uint32_t n_states;
    Chain into;  /* by NFA state: (source, edge) */
    Chain calls; /* by rule: (source, edge) */
    Chain users; /* by rule: (lazy rule, -) */
    Chain entry; /* by NFA state: (plain rule, -) */
    GmCostHeap heap;
} Costs;

static GmStatus lower_to(Costs *c, uint32_t id, uint64_t cost, GmError *err)
{
    if (cost < c->f->state[id]) { /* rules follow the states */
        c->f->state[id] = cost;
        return gm_cost_push(&c->heap, &c->f->core->mem, cost, id, err);
    }
    return GM_OK;
}

static GmStatus edge_cost(Costs *c, const GmNfaEdge *edge, uint64_t *out, GmError *err)
{
    *out = 0;
    if (edge->kind == GM_EDGE_TERM) {
        return gm_finish_re_locked(c->f, edge->sym >> 1, out, err);
    }
    if (edge->kind != GM_EDGE_EPS) {
        *out = edge->kind == GM_EDGE_CALL ? c->f->rule[edge->sym] : GM_FAR;
    }
    return GM_OK;
}

static GmStatus settle_state(Costs *c, uint32_t state, uint64_t cost, GmError *err)
{
    const GmNfa *nfa = &c->f->core->net.nfa;
    for (uint32_t i = c->into.head[state]; i != 0; i = c->into.next[i - 1]) {
        uint64_t over;
        GM_TRY(edge_cost(c, &nfa->edges.data[c->into.b[i - 1]], &over, err));
        GM_TRY(lower_to(c, c->into.a[i - 1], gm_far_add(over, cost), err));
    }
    for (uint32_t i = c->entry.head[state]; i != 0; i = c->entry.next[i - 1]) {
        GM_TRY(lower_to(c, c->n_states + c->entry.a[i - 1], cost, err));
    }
    return GM_OK;
}

static GmStatus settle_rule(Costs *c, uint32_t rule, uint64_t cost, GmError *err)
{
    const GmNfa *nfa = &c->f->core->net.nfa;
    for (uint32_t i = c->calls.head[rule]; i != 0; i = c->calls.next[i - 1]) {
        uint64_t rest = c->f->state[nfa->edges.data[c->calls.b[i - 1]].to];
        GM_TRY(lower_to(c, c->calls.a[i - 1], gm_far_add(rest, cost), err));
    }
    for (uint32_t i = c->users.head[rule]; i != 0; i = c->users.next[i - 1]) {
        GM_TRY(lower_to(c, c->n_states + c->users.a[i - 1], lazy_cost(c->f, c->users.a[i - 1]), err));
    }
    return GM_OK;
}

static GmStatus chains_fill(Costs *c, GmArena *scratch, GmError *err)
{
    const GmNfa *nfa = &c->f->core->net.nfa;
    uint32_t n_edges = nfa->edges.len, n_rules = nfa->rules.len;
    GM_TRY(chain_init(&c->into, scratch, c->n_states, n_edges, err));
    GM_TRY(chain_init(&c->calls, scratch, n_rules, n_edges, err));
    GM_TRY(chain_init(&c->users, scratch, n_rules, 3 * (size_t)nfa->lazies.len + nfa->items.len, err));
    GM_TRY(chain_init(&c->entry, scratch, c->n_states, n_rules, err));
    for (uint32_t s = 0; s < c->n_states; s++) {
        for (uint32_t e = nfa->states.data[s].edges; e != GM_NONE; e = nfa->edges.data[e].next) {
            const GmNfaEdge *edge = &nfa->edges.data[e];
            chain_add(&c->into, edge->to, s, e);
            if (edge->kind == GM_EDGE_CALL) {
                chain_add(&c->calls, edge->sym, s, e);
            }
        }
    }
    for (uint32_t r = 0; r < n_rules; r++) {
        const GmRule *rule = &nfa->rules.data[r];
        if (rule->kind == GM_RULE_PLAIN) {
            chain_add(&c->entry, rule->entry, r, 0);
            continue;
        }
        const GmLazy *lazy = &nfa->lazies.data[rule->lazy];
        uint32_t parts[3] = {lazy->body, lazy->separator, lazy->extra};
        for (uint32_t k = 0; k < 3; k++) {
            if (parts[k] != GM_NONE) {
                chain_add(&c->users, parts[k], r, 0);
            }
        }
        for (uint32_t k = 0; k < lazy->n_items; k++) {
            chain_add(&c->users, nfa->items.data[lazy->items + k].rule, r, 0);
        }
    }
    return GM_OK;
}

static GmStatus costs_run(Costs *c, GmArena *scratch, GmError *err)
{
    const GmNfa *nfa = &c->f->core->net.nfa;
    GM_TRY(chains_fill(c, scratch, err));
    GM_TRY(lower_to(c, GM_NFA_END, 0, err));
    for (uint32_t r = 0; r < nfa->rules.len; r++) {
        if (nfa->rules.data[r].nullable) {
            GM_TRY(lower_to(c, c->n_states + r, 0, err));
        } else if (nfa->rules.data[r].kind != GM_RULE_PLAIN) {
            GM_TRY(lower_to(c, c->n_states + r, lazy_cost(c->f, r), err));
        }
    }
    while (c->heap.item.len > 0) {
        GmHeapItem at = gm_cost_pop(&c->heap);
        if (at.cost > c->f->state[at.id]) {
            continue; /* a cheaper way was found meanwhile */
        }
        if (at.id < c->n_states) {
            GM_TRY(settle_state(c, at.id, at.cost, err));
        } else {
            GM_TRY(settle_rule(c, at.id - c->n_states, at.cost, err));
        }
    }
    return GM_OK;
}

static GmStatus groups_fill(GmFinish *f, GmError *err)
{
    const GmNet *net = &f->core->net;
    void *p;
    GM_TRY(gm_arena_zeroed(&f->core->arena, (size_t)net->nfa.rules.len + net->groups.member.len + 2, sizeof(uint32_t), &p, err));
    f->place = p;
    f->climb_at = f->place + net->nfa.rules.len;
    uint32_t climb = 0;
    for (uint32_t g = 0; g + 1 < net->groups.off.len; g++) {
        for (uint32_t k = net->groups.off.data[g]; k < net->groups.off.data[g + 1]; k++) {
            uint32_t rule = net->groups.member.data[k];
            f->place[rule] = k - net->groups.off.data[g];
            f->climb_at[k] = climb;
            while (climb < net->climbs.len && net->climbs.data[climb].m == rule) { /* they are in this order */
                climb++;
            }
        }
    }
    f->climb_at[net->groups.member.len] = climb;
    GM_CHECK(climb == net->climbs.len, err);
    return GM_OK;
}

static GmStatus finish_fill(GmFinish *f, GmError *err)
{
    const GmNfa *nfa = &f->core->net.nfa;
    size_t n = (size_t)nfa->states.len + nfa->rules.len;
    void *p;
    GM_TRY(gm_arena_zeroed(&f->core->arena, n + 1, sizeof(uint64_t), &p, err));
    f->state = p;
    f->rule = f->state + nfa->states.len;
    for (size_t i = 0; i < n; i++) {
        f->state[i] = GM_FAR;
    }
    GM_TRY(groups_fill(f, err));
    GmArena scratch;
    gm_arena_init(&scratch, &f->core->mem);
    Costs c;
    memset(&c, 0, sizeof c);
    c.f = f;
    c.n_states = nfa->states.len;
    GmStatus status = costs_run(&c, &scratch, err);
    GM_VEC_FREE(&f->core->mem, c.heap.item);
    gm_arena_deinit(&scratch);
    return status;
}

GmStatus gm_finish_new(GmCore *core, GmFinish **out, GmError *err)
{
    GmFinish *f = gm_mem_object(&core->mem, sizeof *f);
    if (f == NULL) {
        return gm_fail(err, GM_NOMEM, "out of memory");
    }
    f->core = core;
    gm_map_init(&f->re_map);
    gm_map_init(&f->aut_map);
    gm_map_init(&f->climb_map);
    gm_map_init(&f->net_map);
    gm_map_init(&f->first_map);
    gm_pool_init(&f->arrays, sizeof(uint64_t *));
    gm_pool_init(&f->nets, sizeof(uint64_t));
    gm_pool_init(&f->firsts, sizeof(GmByteSet));
    GmStatus status = finish_fill(f, err);
    if (status != GM_OK) {
        gm_finish_free(f);
        return status;
    }
    *out = f;
    return GM_OK;
}

void gm_finish_free(GmFinish *f)
{
    GmMem *mem = &f->core->mem;
    gm_map_deinit(&f->re_map, mem);
    gm_map_deinit(&f->aut_map, mem);
    gm_map_deinit(&f->climb_map, mem);
    gm_map_deinit(&f->net_map, mem);
    gm_map_deinit(&f->first_map, mem);
    gm_pool_deinit(&f->arrays, mem);
    gm_pool_deinit(&f->nets, mem);
    gm_pool_deinit(&f->firsts, mem);
    gm_mem_object_free(mem, f, sizeof *f);
}

/* -- network states ----------------------------------------------------------------------------------------- */

/* Of a left-recursive rule i, per member j of its group: bytes from the end of j, as the left corner, to that of i. */
static GmStatus climbs_run(GmFinish *f, uint32_t group, uint32_t rule, uint64_t *cost, GmCostHeap *heap, GmError *err)
{
    const GmNet *net = &f->core->net;
    uint32_t first = net->groups.off.data[group];
    cost[f->place[rule]] = 0;
    GM_TRY(gm_cost_push(heap, &f->core->mem, 0, f->place[rule], err));
    while (heap->item.len > 0) {
        GmHeapItem at = gm_cost_pop(heap);
        if (at.cost > cost[at.id]) {
            continue;
        }
        for (uint32_t c = f->climb_at[first + at.id]; c < f->climb_at[first + at.id + 1]; c++) {
            uint64_t over = gm_far_add(f->state[net->climbs.data[c].to], at.cost);
            uint32_t below = f->place[net->climbs.data[c].sym];
            if (over < cost[below]) {
                cost[below] = over;
                GM_TRY(gm_cost_push(heap, &f->core->mem, over, below, err));
            }
        }
    }
    return GM_OK;
}

static GmStatus climbs_of(GmFinish *f, uint32_t rule, const uint64_t **out, GmError *err)
{
    const GmNet *net = &f->core->net;
    uint32_t known = gm_map_get(&f->climb_map, rule), group = net->nfa.rules.data[rule].group;
    if (known != GM_NONE) {
        *out = *(uint64_t **)gm_pool_at(&f->arrays, known);
        return GM_OK;
    }
    uint32_t n = net->groups.off.data[group + 1] - net->groups.off.data[group];
    void *p;
    GM_TRY(gm_arena_zeroed(&f->core->arena, n, sizeof(uint64_t), &p, err));
    uint64_t *cost = p;
    for (uint32_t i = 0; i < n; i++) {
        cost[i] = GM_FAR;
    }
    GmCostHeap heap = {{NULL, 0, 0}};
    GmStatus status = climbs_run(f, group, rule, cost, &heap, err);
    GM_VEC_FREE(&f->core->mem, heap.item);
    GM_TRY(status);
    GM_TRY(gm_pool_add(&f->arrays, &f->core->mem, &known, &p, err));
    *(uint64_t **)p = cost;
    *out = cost;
    return gm_map_put(&f->climb_map, &f->core->mem, rule, known, err);
}

static GmStatus net_cost(GmFinish *f, uint32_t state, uint64_t *out, GmError *err)
{
    const GmNet *net = &f->core->net;
    const GmNetState *s = gm_net_at(net, state);
    *out = GM_FAR;
    if (s->final) {
        *out = 0;
    } else if (s->kind != GM_NET_SUBSET) {
        const GmLazy *lazy = &net->nfa.lazies.data[net->nfa.rules.data[s->rule].lazy];
        *out = s->kind == GM_NET_REPEAT ? repeat_cost(f, lazy, s->phase, s->low, s->start)
                                        : order_cost(f, lazy, s->phase, s->list, s->low);
    } else if (s->rule != GM_NONE) { /* the start of a left-recursive rule */
        *out = f->state[net->nfa.rules.data[s->rule].entry];
    }
    for (uint32_t i = 0; s->kind == GM_NET_SUBSET && i < s->n && *out > 0; i++) {
        uint64_t cost;
        GmPosition p;
        if (gm_net_position(net, s->list[i], &p)) {
            const uint64_t *climbs;
            GM_TRY(climbs_of(f, p.i, &climbs, err));
            cost = gm_far_add(f->state[p.s], climbs[f->place[p.j]]);
        } else {
            cost = f->state[s->list[i]];
        }
        *out = cost < *out ? cost : *out;
    }
    return GM_OK;
}

static GmStatus net_make(GmFinish *f, uint32_t state, uint64_t *out, GmError *err)
{
    uint32_t id;
    void *p;
    GM_TRY(net_cost(f, state, out, err));
    if (gm_map_get(&f->net_map, state) != GM_NONE) { /* another thread was faster */
        return GM_OK;
    }
    GM_TRY(gm_pool_add(&f->nets, &f->core->mem, &id, &p, err));
    *(uint64_t *)p = *out;
    return gm_map_put(&f->net_map, &f->core->mem, state, id, err);
}

GmStatus gm_finish_net(GmFinish *f, uint32_t state, uint64_t *out, GmError *err)
{
    uint32_t id = gm_map_get(&f->net_map, state);
    if (id != GM_NONE) {
        *out = *(uint64_t *)gm_pool_at(&f->nets, id);
        return GM_OK;
    }
    gm_core_lock(f->core);
    GmStatus status = net_make(f, state, out, err);
    gm_core_unlock(f->core);
    return status;
}

/* -- first bytes ---------------------------------------------------------------------------------------------- */

static GmStatus first_keep(GmFinish *f, uint64_t key, const GmByteSet *set, GmError *err)
{
    uint32_t id;
    void *p;
    if (gm_map_get(&f->first_map, key) != GM_NONE) {
        return GM_OK;
    }
    GM_TRY(gm_pool_add(&f->firsts, &f->core->mem, &id, &p, err));
    *(GmByteSet *)p = *set;
    return gm_map_put(&f->first_map, &f->core->mem, key, id, err);
}

static bool first_known(GmFinish *f, uint64_t key, GmByteSet *out)
{
    uint32_t id = gm_map_get(&f->first_map, key);
    if (id != GM_NONE) {
        *out = *(const GmByteSet *)gm_pool_at(&f->firsts, id);
    }
    return id != GM_NONE;
}

static void add_byte(GmByteSet *set, uint32_t byte) { set->w[byte >> 6] |= (uint64_t)1 << (byte & 63); }

GmStatus gm_finish_first_re(GmFinish *f, GmRe re, GmByteSet *out, GmError *err)
{
    uint64_t key = gm_pair(1, re), all;
    if (first_known(f, key, out)) {
        return GM_OK;
    }
    GM_TRY(gm_finish_re(f, re, &all, err));
    memset(out, 0, sizeof *out);
    for (uint32_t byte = 0; byte < 256 && all > 0; byte++) {
        uint32_t entry;
        uint64_t left;
        GM_TRY(gm_core_deriv(f->core, re, (uint8_t)byte, &entry, err));
        if (entry != 0) {
            GM_TRY(gm_finish_re(f, GM_RE_ID(entry), &left, err));
            if (left + 1 <= all) {
                add_byte(out, byte);
            }
        }
    }
    gm_core_lock(f->core);
    GmStatus status = first_keep(f, key, out, err);
    gm_core_unlock(f->core);
    return status;
}

static GmStatus edges_of(GmFinish *f, uint32_t state, const GmNetEdges **out, GmError *err)
{
    *out = gm_net_find(&f->core->net, state);
    if (*out != NULL) {
        return GM_OK;
    }
    gm_core_lock(f->core);
    GmStatus status = gm_net_edges(&f->core->net, state, out, err);
    gm_core_unlock(f->core);
    return status;
}

typedef struct Starts { /* states of rules that a cheapest way begins with */
    GM_VEC(uint32_t) state;
    GmMap seen;
} Starts;

static GmStatus starts_add(Starts *x, uint32_t state, GmMem *mem, GmError *err)
{
    if (gm_map_get(&x->seen, state) != GM_NONE) {
        return GM_OK;
    }
    GM_TRY(gm_map_put(&x->seen, mem, state, 0, err));
    GM_PUSH(mem, x->state, state);
    return GM_OK;
}

static GmStatus starts_run(GmFinish *f, Starts *x, GmByteSet *out, GmMem *mem, GmError *err)
{
    for (uint32_t i = 0; i < x->state.len; i++) {
        const GmNetEdges *edges;
        uint64_t all, head, then;
        GM_TRY(gm_finish_net(f, x->state.data[i], &all, err));
        GM_TRY(edges_of(f, x->state.data[i], &edges, err));
        for (uint32_t e = 0; e < edges->n; e++) {
            const GmNetEdge edge = edges->e[e];
            if (edge.kind == GM_EDGE_EXACT) {
                continue;
            }
            GM_TRY(gm_finish_net(f, edge.to, &then, err));
            if (edge.kind == GM_EDGE_CALL) {
                GM_TRY(gm_finish_net(f, edge.sym, &head, err));
            } else {
                GM_TRY(gm_finish_re(f, edge.sym >> 1, &head, err));
            }
            if (gm_far_add(head, then) > all) {
                continue;
            }
            if (edge.kind == GM_EDGE_CALL) {
                GM_TRY(starts_add(x, edge.sym, mem, err));
                continue;
            }
            GmByteSet set;
            GM_TRY(gm_finish_first_re(f, edge.sym >> 1, &set, err));
            for (uint32_t k = 0; k < 4; k++) {
                out->w[k] |= set.w[k];
            }
        }
    }
    return GM_OK;
}

/* A counted repeat goes on as what it calls, whatever its counts; there may be very many of them. */
static GmStatus past_counts(GmFinish *f, uint32_t *state, GmError *err)
{
    while (gm_net_at(&f->core->net, *state)->kind == GM_NET_REPEAT) {
        const GmNetEdges *edges;
        GM_TRY(edges_of(f, *state, &edges, err));
        if (edges->n != 1) {
            return GM_OK;
        }
        *state = edges->e[0].sym;
    }
    return GM_OK;
}

GmStatus gm_finish_first_net(GmFinish *f, uint32_t state, GmByteSet *out, GmMem *mem, GmError *err)
{
    uint64_t key, all;
    GM_TRY(gm_finish_net(f, state, &all, err));
    memset(out, 0, sizeof *out);
    if (all == 0 || all >= GM_FAR) {
        return GM_OK;
    }
    GM_TRY(past_counts(f, &state, err));
    key = gm_pair(0, state);
    if (first_known(f, key, out)) {
        return GM_OK;
    }
    Starts x = {{NULL, 0, 0}, {NULL, 0, false}};
    gm_map_init(&x.seen);
    GmStatus status = starts_add(&x, state, mem, err);
    if (status == GM_OK) {
        status = starts_run(f, &x, out, mem, err);
    }
    GM_VEC_FREE(mem, x.state);
    gm_map_deinit(&x.seen, mem);
    GM_TRY(status);
    gm_core_lock(f->core);
    status = first_keep(f, key, out, err);
    gm_core_unlock(f->core);
    return status;
}
