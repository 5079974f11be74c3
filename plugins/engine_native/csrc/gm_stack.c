#include "gm_stack.h"

#include <stdlib.h>
#include <string.h>

enum { REDUCE_FEW = 16 }; /* members of a set that are reduced without marks */
enum { COVERS_FAR = 4, COVERS_NEAR = 16 }; /* how far reductions look: links of a chain, members of a set */

static GmStatus set_intern(GmStack *stack, const uint32_t *list, uint32_t n, uint32_t *out, GmError *err)
{
    uint64_t hash = gm_hash_words(list, n, 41);
    stack->work += n + 1u;
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&stack->set_index, hash, &at)) != GM_NONE) {
        const GmStackSet *set = &stack->sets.data[found];
        if (set->n == n && gm_same(stack->members.data + set->off, list, n * sizeof *list)) {
            *out = found;
            return GM_OK;
        }
    }
    GmStackSet made = {stack->members.len, n, 0, GM_SET_EMPTY, {0, 0}, {0, 0}};
    GM_RESERVE(stack->mem, stack->members, (size_t)stack->members.len + n);
    for (uint32_t i = 0; i < n; i++) {
        stack->members.data[stack->members.len + i] = list[i];
        made.hash = gm_hash_sum(made.hash, stack->nodes.data[list[i]].hash);
        made.exact = gm_hash_sum(made.exact, stack->nodes.data[list[i]].exact);
    }
    stack->members.len += n;
    *out = stack->sets.len;
    GM_PUSH(stack->mem, stack->sets, made);
    return gm_index_add(&stack->set_index, stack->mem, hash, *out, err);
}

GmStatus gm_stack_init(GmStack *stack, GmMem *mem, const GmNet *net, GmError *err)
{
    memset(stack, 0, sizeof *stack);
    stack->mem = mem;
    stack->net = net;
    stack->live = 1;
    GM_PUSH(mem, stack->nodes, ((GmStackNode){GM_NONE, GM_NONE, {0x1234567, 0x89abcde}, {0x7654321, 0xedcba98}}));
    uint32_t bottom = GM_STACK_BOTTOM, set;
    GM_TRY(set_intern(stack, &bottom, 1, &set, err));
    GM_CHECK(set == GM_SET_BOTTOM, err);
    GM_TRY(set_intern(stack, NULL, 0, &set, err));
    GM_CHECK(set == GM_SET_EMPTY, err);
    return GM_OK;
}

void gm_stack_deinit(GmStack *stack)
{
    GM_VEC_FREE(stack->mem, stack->nodes);
    GM_VEC_FREE(stack->mem, stack->marks);
    GM_VEC_FREE(stack->mem, stack->sets);
    GM_VEC_FREE(stack->mem, stack->members);
    GM_VEC_FREE(stack->mem, stack->pops);
    GM_VEC_FREE(stack->mem, stack->pop);
    GM_VEC_FREE(stack->mem, stack->scratch);
    GM_VEC_FREE(stack->mem, stack->todo);
    GM_VEC_FREE(stack->mem, stack->merge);
    GM_VEC_FREE(stack->mem, stack->parts);
    gm_index_deinit(&stack->node_index, stack->mem);
    gm_index_deinit(&stack->set_index, stack->mem);
}

GmStatus gm_stack_push(GmStack *stack, uint32_t sym, uint32_t set, uint32_t *node, GmError *err)
{
    uint64_t hash = gm_mix(gm_pair(sym, set) + 7);
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&stack->node_index, hash, &at)) != GM_NONE) {
        if (stack->nodes.data[found].sym == sym && stack->nodes.data[found].set == set) {
            *node = found;
            return GM_OK;
        }
    }
    Hash128 below = stack->sets.data[set].hash;
    /* Counts that no token can exhaust are one symbol to masks, so the hash is of the clamped state. */
    uint32_t place = stack->net != NULL ? gm_net_at(stack->net, sym)->clamp : sym;
    GmStackNode made = {sym, set, gm_hash_join(gm_hash_join2((Hash128){3, 1}, below), place),
                        gm_hash_join(gm_hash_join2((Hash128){3, 2}, stack->sets.data[set].exact), sym)};
    *node = stack->nodes.len;
    GM_PUSH(stack->mem, stack->nodes, made);
    return gm_index_add(&stack->node_index, stack->mem, hash, *node, err);
}

GmStatus gm_stack_single(GmStack *stack, uint32_t node, uint32_t *set, GmError *err)
{
    return set_intern(stack, &node, 1, set, err);
}

static bool covers(const GmStack *stack, uint32_t set, uint32_t other)
{
    for (uint32_t i = 0; i < COVERS_FAR && set != other; i++) {
        set = stack->sets.data[set].covers;
        if (set == GM_SET_EMPTY) {
            return false;
        }
    }
    return set == other;
}

/* Take off the list (sorted, in place) what stands over a set that a later member with the same symbol covers. */
static uint32_t reduce_covered(const GmStack *stack, uint32_t *list, uint32_t n)
{
    uint32_t from = n; /* kept members are moved to the end */
    for (uint32_t i = n; i-- > 0;) {
        const GmStackNode *node = &stack->nodes.data[list[i]];
        bool drop = false;
        for (uint32_t j = from; j < n && j < from + COVERS_NEAR && !drop && list[i] != GM_STACK_BOTTOM; j++) {
            const GmStackNode *later = &stack->nodes.data[list[j]];
            drop = later->sym == node->sym && covers(stack, later->set, node->set);
        }
        if (!drop) {
            list[--from] = list[i];
        }
    }
    memmove(list, list + from, (n - from) * sizeof *list);
    return n - from;
}

/* Bits of the members of a short list (sorted) that are in the set. */
static uint32_t found_in(const GmStack *stack, const GmStackSet *set, const uint32_t *list, uint32_t n)
{
    const uint32_t *members = stack->members.data + set->off;
    uint32_t bits = 0;
    for (uint32_t i = 0, k = 0; i < n; i++) {
        if (set->n > REDUCE_FEW * REDUCE_FEW) { /* few among many are found faster one by one */
            uint32_t to = set->n;
            while (k < to) {
                uint32_t mid = k + (to - k) / 2;
                if (members[mid] < list[i]) {
                    k = mid + 1;
                } else {
                    to = mid;
                }
            }
        }
        while (k < set->n && members[k] < list[i]) {
            k++;
        }
        bits |= (uint32_t)(k < set->n && members[k] == list[i]) << i;
    }
    return bits;
}

/* A fresh mark, with room for that of every node. */
static GmStatus mark_begin(GmStack *stack, GmError *err)
{
    uint32_t n = stack->nodes.len;
    if (stack->marks.len < n) {
        GM_RESERVE(stack->mem, stack->marks, n);
        memset(stack->marks.data + stack->marks.len, 0, (n - stack->marks.len) * sizeof(uint32_t));
        stack->marks.len = n;
    }
    if (++stack->mark == 0) { /* once in 2^32 */
        memset(stack->marks.data, 0, n * sizeof(uint32_t));
        stack->mark = 1;
    }
    return GM_OK;
}

static inline bool may_end(const GmStack *stack, uint32_t node)
{
    return node != GM_STACK_BOTTOM && gm_net_final(stack->net, stack->nodes.data[node].sym);
}

/* Take off the list (sorted, in place) what a final member reaches by popping its frame. What that member's own
 * frame covers goes too, so the order does not matter; a member is never below itself. */
static GmStatus reduce(GmStack *stack, uint32_t *list, uint32_t *n, GmError *err)
{
    bool few = *n <= REDUCE_FEW, some = false;
    uint32_t covered = 0, kept = 0;
    if (*n < 2 || stack->net == NULL) {
        *n = *n < 2 ? *n : reduce_covered(stack, list, *n);
        return GM_OK;
    }
    for (uint32_t i = 0; i < *n; i++) {
        if (!may_end(stack, list[i])) {
            continue;
        }
        const GmStackSet *below = &stack->sets.data[stack->nodes.data[list[i]].set];
        if (few) {
            covered |= found_in(stack, below, list, *n);
            continue;
        }
        if (!some) {
            GM_TRY(mark_begin(stack, err));
        }
        some = true;
        for (uint32_t k = 0; k < below->n; k++) {
            stack->marks.data[stack->members.data[below->off + k]] = stack->mark;
        }
        stack->work += below->n;
    }
    for (uint32_t i = 0; i < *n && (some || covered != 0); i++) {
        if (few ? (covered >> i & 1) == 0 : stack->marks.data[list[i]] != stack->mark) {
            list[kept++] = list[i];
        }
    }
    *n = some || covered != 0 ? kept : *n;
    return GM_OK;
}

/* `set` is a union with `part`: remember the largest part, of equal ones the newest. */
static void note_covered(GmStack *stack, uint32_t set, uint32_t part)
{
    GmStackSet *s = &stack->sets.data[set];
    if (stack->net != NULL || set == part || part == GM_SET_EMPTY) {
        return;
    }
    uint32_t have = s->covers == GM_SET_EMPTY ? 0 : stack->sets.data[s->covers].n, n = stack->sets.data[part].n;
    if (n > have || (n == have && part > s->covers)) {
        s->covers = part;
    }
}

GmStatus gm_stack_union(GmStack *stack, uint32_t a, uint32_t b, uint32_t *set, GmError *err)
{
    if (a == b || b == GM_SET_EMPTY || a == GM_SET_EMPTY) {
        *set = a == GM_SET_EMPTY ? b : a;
        return GM_OK;
    }
    const GmStackSet x = stack->sets.data[a], y = stack->sets.data[b];
    stack->scratch.len = 0;
    GM_RESERVE(stack->mem, stack->scratch, (size_t)x.n + y.n);
    const uint32_t *p = stack->members.data + x.off, *q = stack->members.data + y.off;
    uint32_t i = 0, j = 0, n = 0, *out = stack->scratch.data;
    while (i < x.n || j < y.n) {
        if (j == y.n || (i < x.n && p[i] < q[j])) {
            out[n++] = p[i++];
        } else {
            i += i < x.n && p[i] == q[j];
            out[n++] = q[j++];
        }
    }
    GM_TRY(reduce(stack, out, &n, err));
    GM_TRY(set_intern(stack, out, n, set, err));
    note_covered(stack, *set, a);
    note_covered(stack, *set, b);
    return GM_OK;
}

GmStatus gm_stack_minus(GmStack *stack, uint32_t a, uint32_t b, uint32_t *set, GmError *err)
{
    const GmStackSet x = stack->sets.data[a], y = stack->sets.data[b];
    stack->scratch.len = 0;
    GM_RESERVE(stack->mem, stack->scratch, (size_t)x.n + 1);
    uint32_t j = 0, n = 0;
    for (uint32_t i = 0; i < x.n; i++) {
        uint32_t m = stack->members.data[x.off + i];
        while (j < y.n && stack->members.data[y.off + j] < m) {
            j++;
        }
        if (j == y.n || stack->members.data[y.off + j] != m) {
            stack->scratch.data[n++] = m;
        }
    }
    return set_intern(stack, stack->scratch.data, n, set, err);
}

static int compare_u32(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

GmStatus gm_stack_union_all(GmStack *stack, const uint32_t *sets, uint32_t n, uint32_t *set, GmError *err)
{
    if (n <= 2) {
        return gm_stack_union(stack, n > 0 ? sets[0] : GM_SET_EMPTY, n > 1 ? sets[1] : GM_SET_EMPTY, set, err);
    }
    stack->scratch.len = 0;
    GM_RESERVE(stack->mem, stack->scratch, 1); /* nothing of nothing still needs an address */
    for (uint32_t i = 0; i < n; i++) {
        const GmStackSet *from = &stack->sets.data[sets[i]];
        GM_RESERVE(stack->mem, stack->scratch, (size_t)stack->scratch.len + from->n);
        memcpy(stack->scratch.data + stack->scratch.len, stack->members.data + from->off, from->n * sizeof(uint32_t));
        stack->scratch.len += from->n;
    }
    uint32_t *list = stack->scratch.data, kept = 0;
    qsort(list, stack->scratch.len, sizeof *list, compare_u32);
    for (uint32_t i = 0; i < stack->scratch.len; i++) {
        if (kept == 0 || list[i] != list[kept - 1]) {
            list[kept++] = list[i];
        }
    }
    GM_TRY(reduce(stack, list, &kept, err));
    GM_TRY(set_intern(stack, list, kept, set, err));
    for (uint32_t i = 0; i < n; i++) {
        note_covered(stack, *set, sets[i]);
    }
    return GM_OK;
}

static int compare_pops(const void *x, const void *y)
{
    const GmPop *a = x, *b = y;
    if (a->sym != b->sym) {
        return a->sym < b->sym ? -1 : 1;
    }
    return a->set < b->set ? -1 : a->set > b->set;
}

/* The record of one set, when those of the sets below its final members exist. */
static GmStatus pops_make(GmStack *stack, uint32_t set, GmError *err)
{
    GmPops made = {0, 0, false};
    stack->merge.len = 0;
    for (uint32_t i = 0; i < stack->sets.data[set].n; i++) {
        uint32_t member = stack->members.data[stack->sets.data[set].off + i];
        if (member == GM_STACK_BOTTOM) {
            made.accepting = true;
            continue;
        }
        const GmStackNode *node = &stack->nodes.data[member];
        GM_PUSH(stack->mem, stack->merge, ((GmPop){node->sym, node->set}));
        if (gm_net_final(stack->net, node->sym)) {
            const GmPops under = stack->pops.data[stack->sets.data[node->set].pops - 1];
            made.accepting = made.accepting || under.accepting;
            for (uint32_t k = 0; k < under.n; k++) {
                GM_PUSH(stack->mem, stack->merge, stack->pop.data[under.off + k]);
            }
        }
    }
    uint32_t n = stack->merge.len;
    stack->work += n;
    if (n > 1) {
        qsort(stack->merge.data, n, sizeof *stack->merge.data, compare_pops);
    }
    made.off = stack->pop.len;
    for (uint32_t i = 0; i < n;) {
        uint32_t j = i, sym = stack->merge.data[i].sym, joined;
        stack->parts.len = 0;
        for (; j < n && stack->merge.data[j].sym == sym; j++) {
            if (stack->parts.len == 0 || stack->parts.data[stack->parts.len - 1] != stack->merge.data[j].set) {
                GM_PUSH(stack->mem, stack->parts, stack->merge.data[j].set);
            }
        }
        GM_TRY(gm_stack_union_all(stack, stack->parts.data, stack->parts.len, &joined, err));
        GM_PUSH(stack->mem, stack->pop, ((GmPop){sym, joined}));
        made.n++;
        i = j;
    }
    GM_PUSH(stack->mem, stack->pops, made);
    stack->sets.data[set].pops = stack->pops.len;
    return GM_OK;
}

GmStatus gm_stack_pops(GmStack *stack, uint32_t set, GmPops *out, GmError *err)
{
    stack->todo.len = 0;
    if (stack->sets.data[set].pops == 0) {
        GM_PUSH(stack->mem, stack->todo, set);
    }
    while (stack->todo.len > 0) { /* no recursion: stacks may be deep */
        uint32_t top = stack->todo.data[stack->todo.len - 1], before = stack->todo.len;
        const GmStackSet at = stack->sets.data[top];
        for (uint32_t i = 0; at.pops == 0 && i < at.n; i++) {
            uint32_t member = stack->members.data[at.off + i];
            if (member != GM_STACK_BOTTOM && gm_net_final(stack->net, stack->nodes.data[member].sym) &&
                stack->sets.data[stack->nodes.data[member].set].pops == 0) {
                GM_PUSH(stack->mem, stack->todo, stack->nodes.data[member].set);
            }
        }
        if (stack->todo.len == before) {
            stack->todo.len--;
            if (at.pops == 0) {
                GM_TRY(pops_make(stack, top, err));
            }
        }
    }
    *out = stack->pops.data[stack->sets.data[set].pops - 1];
    return GM_OK;
}

/* Nodes below have smaller ids, so one pass down finds what is live and one pass up copies it. */
GmStatus gm_stack_copy(const GmStack *stack, GmStack *to, uint32_t **sets, uint32_t n, GmError *err)
{
    uint32_t n_nodes = stack->nodes.len, n_sets = stack->sets.len;
    GM_RESERVE(to->mem, to->todo, (size_t)n_nodes + n_sets);
    uint32_t *node_map = to->todo.data, *set_map = node_map + n_nodes; /* 0 dead, 1 live; then new id + 2 */
    memset(node_map, 0, ((size_t)n_nodes + n_sets) * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++) {
        const GmStackSet *set = &stack->sets.data[*sets[i]];
        set_map[*sets[i]] = 1;
        for (uint32_t k = 0; k < set->n; k++) {
            node_map[stack->members.data[set->off + k]] = 1;
        }
    }
    uint32_t live = 1;
    for (uint32_t node = n_nodes; node-- > 1;) {
        if (node_map[node] == 0) {
            continue;
        }
        live++;
        const GmStackSet *set = &stack->sets.data[stack->nodes.data[node].set];
        for (uint32_t k = 0; k < set->n; k++) {
            node_map[stack->members.data[set->off + k]] = 1;
        }
    }
    GM_RESERVE(to->mem, to->nodes, live);
    node_map[GM_STACK_BOTTOM] = GM_STACK_BOTTOM + 2;
    GmStatus status = GM_OK;
    for (uint32_t pass = 0, at = 1; status == GM_OK; at++) {
        uint32_t set_id;
        if (pass == 0 && at == n_nodes) {
            pass = 1;
            at = 0;
        }
        if (pass == 1) {
            if (at == n) {
                break;
            }
            set_id = *sets[at];
        } else if (node_map[at] == 0) {
            continue;
        } else {
            set_id = stack->nodes.data[at].set;
        }
        if (set_map[set_id] < 2) {
            const GmStackSet *set = &stack->sets.data[set_id];
            uint32_t made;
            status = gm_vec_reserve(to->mem, (void **)&to->scratch.data, &to->scratch.cap, set->n + 1u, sizeof(uint32_t), err);
            for (uint32_t k = 0; status == GM_OK && k < set->n; k++) {
                to->scratch.data[k] = node_map[stack->members.data[set->off + k]] - 2;
            }
            if (status == GM_OK) {
                status = set_intern(to, to->scratch.data, set->n, &made, err);
            }
            if (status != GM_OK) {
                return status;
            }
            set_map[set_id] = made + 2;
        }
        if (pass == 0) {
            uint32_t made;
            status = gm_stack_push(to, stack->nodes.data[at].sym, set_map[set_id] - 2, &made, err);
            if (status == GM_OK) {
                node_map[at] = made + 2;
            }
        }
    }
    GM_TRY(status);
    for (uint32_t i = 0; stack->net == NULL && i < n_sets; i++) {
        uint32_t covered = set_map[i] < 2 ? GM_SET_EMPTY : stack->sets.data[i].covers;
        if (covered != GM_SET_EMPTY && set_map[covered] >= 2) {
            to->sets.data[set_map[i] - 2].covers = set_map[covered] - 2;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        *sets[i] = set_map[*sets[i]] - 2;
    }
    to->live = to->nodes.len;
    return GM_OK;
}
