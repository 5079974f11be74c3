/* All states at once: those that can be reached from the root, equal ones merged (Moore 1956). Calls compare by
 * the block of the rule they start, so equal rules become one. Lazy states are not expanded and stay apart. */
#include "gm_netstates.h"

#include <stdlib.h>
#include <string.h>

/* Minimise: blocks of states that no text tells apart, refined until nothing splits. Lazy states are blocks
 * of their own. Then edges and starts are redirected to the first state of each block. */
static GmStatus merge_equal(GmNet *net, const uint32_t *list, uint32_t n, GmArena *scratch, GmError *err)
{
    uint32_t n_states = net->states.len, count = 0, before;
    void *p;
    GM_TRY(gm_arena_zeroed(scratch, n_states, sizeof(uint32_t), &p, err));
    uint32_t *block = p;
    GM_TRY(gm_arena_zeroed(scratch, n, sizeof(uint32_t), &p, err));
    uint32_t *fresh = p;
    GM_TRY(gm_arena_zeroed(scratch, n, sizeof(Hash128), &p, err));
    Hash128 *sign = p;
    for (uint32_t i = 0; i < n; i++) {
        const GmNetState *s = gm_net_at(net, list[i]);
        block[list[i]] = s->kind == GM_NET_SUBSET ? s->final : list[i] + 2;
    }
    GmIndex index = {NULL, 0, 0};
    GmStatus status = GM_OK;
    do {
        before = count;
        count = 0;
        gm_index_clear(&index);
        for (uint32_t i = 0; i < n && status == GM_OK; i++) {
            status = gm_mem_tick(net->mem, err);
            if (status != GM_OK) {
                break;
            }
            const GmNetEdges *edges = gm_net_find(net, list[i]);
            bool lazy = gm_net_at(net, list[i])->kind != GM_NET_SUBSET;
            Hash128 sum = {0, 0};
            for (uint32_t e = 0; !lazy && e < edges->n; e++) {
                GmNetEdge edge = edges->e[e];
                uint32_t sym = edge.kind == GM_EDGE_CALL ? block[edge.sym] : edge.sym;
                sum = gm_hash_sum(sum, gm_hash_join(gm_hash_join((Hash128){edge.kind, 5}, gm_pair(sym, block[edge.to])), 1));
            }
            sign[i] = gm_hash_join(gm_hash_join2((Hash128){23, 29}, sum), block[list[i]]);
            uint32_t at = (uint32_t)(sign[i].a >> 32), found;
            while ((found = gm_index_next(&index, sign[i].a, &at)) != GM_NONE &&
                   (sign[found].a != sign[i].a || sign[found].b != sign[i].b)) {
            }
            if (found == GM_NONE) {
                fresh[i] = count++;
                status = gm_index_add(&index, net->mem, sign[i].a, i, err);
            } else {
                fresh[i] = fresh[found];
            }
        }
        for (uint32_t i = 0; i < n; i++) {
            block[list[i]] = fresh[i];
        }
    } while (status == GM_OK && count != before);
    gm_index_deinit(&index, net->mem);
    GM_TRY(status);
    GM_TRY(gm_arena_zeroed(scratch, count, sizeof(uint32_t), &p, err));
    uint32_t *first = p;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t *f = &first[block[list[i]]];
        *f = *f == 0 || list[i] < *f - 1 ? list[i] + 1 : *f;
    }
    for (uint32_t i = 0; i < n; i++) {
        GmNetEdges *edges = (GmNetEdges *)(uintptr_t)gm_net_find(net, list[i]); /* nobody reads yet */
        uint32_t kept = 0;
        for (uint32_t e = 0; edges != NULL && e < edges->n; e++) {
            GmNetEdge edge = edges->e[e];
            edge.to = first[block[edge.to]] - 1;
            edge.sym = edge.kind == GM_EDGE_CALL ? first[block[edge.sym]] - 1 : edge.sym;
            edges->e[e] = edge;
        }
        if (edges != NULL && edges->n > 1) {
            qsort(edges->e, edges->n, sizeof *edges->e, gm_net_compare_edges);
        }
        for (uint32_t e = 0; edges != NULL && e < edges->n; e++) {
            if (kept == 0 || gm_net_compare_edges(&edges->e[kept - 1], &edges->e[e]) != 0) {
                edges->e[kept++] = edges->e[e];
            }
        }
        if (edges != NULL) {
            edges->n = kept;
        }
    }
    for (uint32_t r = 0; r < net->nfa.rules.len; r++) {
        uint32_t *start = &net->starts[r];
        if (*start != GM_NONE) {
            *start = first[block[*start]] - 1;
        }
    }
    net->root = net->root == GM_NONE ? GM_NONE : first[block[net->root]] - 1;
    return GM_OK;
}

GmStatus gm_net_close(GmNet *net, uint32_t max_edges, GmError *err)
{
    if (net->root == GM_NONE) {
        return GM_OK;
    }
    GmArena scratch;
    gm_arena_init(&scratch, net->mem);
    GM_VEC(uint32_t) order = {NULL, 0, 0};
    GM_VEC(uint8_t) reached = {NULL, 0, 0};
    uint32_t edges_made = 0;
    GmStatus status = gm_vec_reserve(net->mem, (void **)&order.data, &order.cap, 64, sizeof(uint32_t), err);
    if (status == GM_OK) {
        order.data[order.len++] = GM_NET_END; /* so that states equal to the end become the end */
        if (net->root != GM_NET_END) {
            order.data[order.len++] = net->root;
        }
    }
    for (uint32_t i = 0; status == GM_OK && i < order.len && edges_made <= max_edges; i++) {
        uint32_t id = order.data[i];
        const GmNetEdges *edges = NULL;
        uint32_t extra[3] = {GM_NONE, GM_NONE, GM_NONE}, n_extra = 0;
        const GmNetState *s = gm_net_at(net, id);
        GM_VEC(uint32_t) next = {NULL, 0, 0};
        if (s->kind == GM_NET_SUBSET) {
            status = gm_net_edges(net, id, &edges, err);
        } else { /* what a lazy state may call, without going through its counts */
            const GmLazy lazy = net->nfa.lazies.data[net->nfa.rules.data[s->rule].lazy];
            uint32_t rules[3] = {lazy.body, lazy.separator, lazy.extra};
            for (uint32_t k = 0; k < 3 && status == GM_OK; k++) {
                if (rules[k] != GM_NONE && net->nfa.rules.data[rules[k]].useful) {
                    status = gm_net_rule_start(net, rules[k], &extra[n_extra++], err);
                }
            }
            for (uint32_t k = 0; k < lazy.n_items && status == GM_OK; k++) {
                uint32_t rule = net->nfa.items.data[lazy.items + k].rule, start = GM_NONE;
                if (net->nfa.rules.data[rule].useful) {
                    status = gm_net_rule_start(net, rule, &start, err);
                }
                if (status == GM_OK && start != GM_NONE) {
                    status = gm_vec_reserve(net->mem, (void **)&next.data, &next.cap, next.len + 1u, sizeof(uint32_t), err);
                    if (status == GM_OK) {
                        next.data[next.len++] = start;
                    }
                }
            }
        }
        uint32_t n = edges != NULL ? edges->n : 0;
        edges_made += n + 1;
        if (status == GM_OK) {
            status = gm_vec_reserve(net->mem, (void **)&reached.data, &reached.cap, net->states.len, 1, err);
        }
        if (status == GM_OK) {
            memset(reached.data + reached.len, 0, net->states.len - reached.len);
            reached.len = net->states.len;
            reached.data[GM_NET_END] = reached.data[net->root] = 1;
            status = gm_vec_reserve(net->mem, (void **)&order.data, &order.cap,
                                    (size_t)order.len + 2 * (size_t)n + n_extra + next.len, sizeof(uint32_t), err);
        }
        for (uint32_t k = 0; status == GM_OK && k < 2 * n + n_extra + next.len; k++) {
            uint32_t t = k < 2 * n ? (k % 2 == 0 ? edges->e[k / 2].to
                                                 : edges->e[k / 2].kind == GM_EDGE_CALL ? edges->e[k / 2].sym : id)
                         : k < 2 * n + n_extra ? extra[k - 2 * n] : next.data[k - 2 * n - n_extra];
            if (!reached.data[t]) {
                reached.data[t] = 1;
                order.data[order.len++] = t;
            }
        }
        GM_VEC_FREE(net->mem, next);
    }
    if (status == GM_OK && edges_made <= max_edges) {
        status = merge_equal(net, order.data, order.len, &scratch, err);
    }
    GM_VEC_FREE(net->mem, order);
    GM_VEC_FREE(net->mem, reached);
    gm_arena_deinit(&scratch);
    return status;
}
