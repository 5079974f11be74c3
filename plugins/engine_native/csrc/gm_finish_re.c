/* Shortest texts of lexer states: from the tree; for intersections and differences, whose parts say little about
 * the whole, a breadth-first search over derivatives, within a budget per grammar. Past it a lower bound is all
 * there is, which costs time later and never a wrong answer. */
#include "gm_finish.h"

enum { SEARCHES = 200000, MOST = GM_NONE - 1 /* longer texts count as this long */ };

typedef struct Reached {
    GmRe re;
    uint32_t from; /* number of the one it was reached from */
    uint32_t level;
} Reached;

typedef struct Walk {
    GM_VEC(Reached) list;
    GmMap seen;
} Walk;

static uint64_t times(uint64_t x, uint64_t n)
{
    return n == 0 || x == 0 ? 0 : x >= GM_FAR || n > GM_FAR / x ? GM_FAR - 1 : x * n;
}

static GmStatus lits_shortest(const GmRegex *rx, const GmReNode *node, uint64_t *out)
{
    const GmLits *lits = gm_pool_at(&rx->lits, node->a);
    *out = GM_FAR;
    for (uint32_t i = node->b; i < node->c; i++) {
        uint64_t left = lits->len[i] - node->d;
        *out = left < *out ? left : *out;
    }
    return GM_OK;
}

/* Of all states of an automaton: bytes to an accepting one. */
static GmStatus aut_distances(GmFinish *f, uint32_t table, const uint64_t **out, GmError *err)
{
    GmRegex *rx = &f->core->rx;
    uint32_t known = gm_map_get(&f->aut_map, table);
    if (known != GM_NONE) {
        *out = *(uint64_t **)gm_pool_at(&f->arrays, known);
        return GM_OK;
    }
    const GmAut *aut = gm_pool_at(&rx->auts, table);
    GmArena scratch;
    void *p;
    GM_TRY(gm_arena_zeroed(&f->core->arena, (size_t)aut->n_states + 1, sizeof(uint64_t), &p, err));
    uint64_t *far = p;
    gm_arena_init(&scratch, &f->core->mem);
    GmCostHeap heap = {{NULL, 0, 0}};
    uint32_t *head = NULL, *next = NULL, *source = NULL;
    GmStatus status = gm_arena_zeroed(&scratch, (size_t)aut->n_states + 1, sizeof(uint32_t), &p, err);
    head = p;
    if (status == GM_OK) {
        status = gm_arena_zeroed(&scratch, 2 * ((size_t)aut->n_edges + 1), sizeof(uint32_t), &p, err);
        next = p;
        source = next + aut->n_edges + 1;
    }
    for (uint32_t s = 0; status == GM_OK && s < aut->n_states; s++) {
        far[s] = aut->accepting[s] ? 0 : GM_FAR;
        for (uint32_t e = aut->off[s]; e < aut->off[s + 1]; e++) { /* edges by target */
            source[e] = s;
            next[e] = head[aut->target[e]];
            head[aut->target[e]] = e + 1;
        }
        if (aut->accepting[s]) {
            status = gm_cost_push(&heap, &f->core->mem, 0, s, err);
        }
    }
    while (status == GM_OK && heap.item.len > 0) {
        GmHeapItem at = gm_cost_pop(&heap);
        for (uint32_t e = at.cost > far[at.id] ? 0 : head[at.id]; status == GM_OK && e != 0; e = next[e - 1]) {
            uint64_t label, *to = &far[source[e - 1]];
            status = gm_finish_re_locked(f, aut->label[e - 1], &label, err);
            if (status == GM_OK && gm_far_add(label, at.cost) < *to) {
                *to = gm_far_add(label, at.cost);
                status = gm_cost_push(&heap, &f->core->mem, *to, source[e - 1], err);
            }
        }
    }
    GM_VEC_FREE(&f->core->mem, heap.item);
    gm_arena_deinit(&scratch);
    GM_TRY(status);
    uint32_t id;
    GM_TRY(gm_pool_add(&f->arrays, &f->core->mem, &id, &p, err));
    *(uint64_t **)p = far;
    *out = far;
    return gm_map_put(&f->aut_map, &f->core->mem, table, id, err);
}

static GmStatus remember(GmFinish *f, GmRe re, uint64_t bytes, GmError *err)
{
    if (gm_map_get(&f->re_map, re) != GM_NONE) {
        return GM_OK;
    }
    return gm_map_put(&f->re_map, &f->core->mem, re, bytes < MOST ? (uint32_t)bytes : MOST, err);
}

static GmStatus reach(GmFinish *f, Walk *w, GmRe re, uint32_t from, uint32_t level, GmError *err)
{
    if (gm_map_get(&w->seen, re) != GM_NONE) {
        return GM_OK;
    }
    GM_TRY(gm_map_put(&w->seen, &f->core->mem, re, w->list.len, err));
    GM_PUSH(&f->core->mem, w->list, ((Reached){re, from, level}));
    return GM_OK;
}

/* Breadth first to a text's end; *out is at least `least`, and exact unless the budget ends. */
static GmStatus walk(GmFinish *f, Walk *w, GmRe re, uint64_t least, uint64_t *out, GmError *err)
{
    GmRegex *rx = &f->core->rx;
    uint8_t bytes[256];
    uint32_t entries[256], n;
    *out = least;
    GM_TRY(reach(f, w, re, 0, 0, err));
    for (uint32_t i = 0; i < w->list.len; i++) {
        uint32_t level = w->list.data[i].level;
        *out = level + 1 > *out ? level + 1 : *out; /* nothing ends earlier */
        if (f->tried > SEARCHES) {
            return GM_OK;
        }
        GM_TRY(gm_re_branches(rx, w->list.data[i].re, bytes, entries, &n, err));
        f->tried += n + 1u;
        for (uint32_t k = 0; k < n; k++) {
            if ((entries[k] & GM_RE_NULLABLE) == 0) {
                GM_TRY(reach(f, w, GM_RE_ID(entries[k]), i, level + 1, err));
                continue;
            }
            *out = level + 1;
            for (uint32_t back = i, left = 1;; back = w->list.data[back].from, left++) {
                GM_TRY(remember(f, w->list.data[back].re, left, err));
                if (back == 0) {
                    return GM_OK;
                }
            }
        }
    }
    return GM_OK;
}

static GmStatus search(GmFinish *f, GmRe re, uint64_t least, uint64_t *out, GmError *err)
{
    Walk w = {{NULL, 0, 0}, {NULL, 0, false}};
    gm_map_init(&w.seen);
    GmStatus status = walk(f, &w, re, least, out, err);
    GM_VEC_FREE(&f->core->mem, w.list);
    gm_map_deinit(&w.seen, &f->core->mem);
    return status;
}

/* Sequences are long to the right, which does not count as nesting: down to where the rest is known, and back. */
static GmStatus seq_shortest(GmFinish *f, GmRe re, uint64_t *out, GmError *err)
{
    const GmRegex *rx = &f->core->rx;
    GM_VEC(GmRe) parts = {NULL, 0, 0};
    GmStatus status = GM_OK;
    while (status == GM_OK && gm_re_node(rx, re)->kind == RE_SEQ && !gm_re_nullable(rx, re) &&
           gm_map_get(&f->re_map, re) == GM_NONE) {
        status = gm_vec_reserve(&f->core->mem, (void **)&parts.data, &parts.cap, (size_t)parts.len + 1, sizeof(GmRe), err);
        if (status == GM_OK) {
            parts.data[parts.len++] = re;
            re = gm_re_node(rx, re)->b;
        }
    }
    if (status == GM_OK) {
        status = gm_finish_re_locked(f, re, out, err);
    }
    while (status == GM_OK && parts.len > 0) {
        uint64_t head;
        re = parts.data[--parts.len];
        status = gm_finish_re_locked(f, gm_re_node(rx, re)->a, &head, err);
        *out = gm_far_add(head, *out);
        if (status == GM_OK) {
            status = remember(f, re, *out, err);
        }
    }
    GM_VEC_FREE(&f->core->mem, parts);
    return status;
}

/* Recursion is bounded by GM_RE_DEPTH. */
GmStatus gm_finish_re_locked(GmFinish *f, GmRe re, uint64_t *out, GmError *err)
{
    const GmReNode *node = gm_re_node(&f->core->rx, re);
    uint64_t a = 0, b = 0;
    if (node->nullable) {
        *out = 0;
        return GM_OK;
    }
    uint32_t known = gm_map_get(&f->re_map, re);
    if (known != GM_NONE) {
        *out = known;
        return GM_OK;
    }
    switch ((GmReKind)node->kind) {
    case RE_EMPTY:
        *out = GM_FAR;
        return GM_OK;
    case RE_EPS:
        a = 0;
        break;
    case RE_SET:
        a = 1;
        break;
    case RE_LIT:
        a = node->b;
        break;
    case RE_LITS:
        GM_TRY(lits_shortest(&f->core->rx, node, &a));
        break;
    case RE_SEQ:
        GM_TRY(seq_shortest(f, re, &a, err));
        break;
    case RE_ALT:
        a = GM_FAR;
        for (uint32_t i = 0; i < node->b; i++) {
            GM_TRY(gm_finish_re_locked(f, node->p.list[i], &b, err));
            a = b < a ? b : a;
        }
        break;
    case RE_REP:
        GM_TRY(gm_finish_re_locked(f, node->a, &a, err));
        a = times(a, node->b);
        break;
    case RE_AND:
    case RE_SUB:
        GM_TRY(gm_finish_re_locked(f, node->a, &a, err));
        if (node->kind == RE_AND) {
            GM_TRY(gm_finish_re_locked(f, node->b, &b, err));
        }
        GM_TRY(search(f, re, a > b ? a : b, &a, err));
        break;
    case RE_AUT: {
        const uint64_t *far;
        GM_TRY(aut_distances(f, node->a, &far, err));
        a = far[node->b];
        break;
    }
    }
    *out = a;
    return remember(f, re, a, err);
}

GmStatus gm_finish_re(GmFinish *f, GmRe re, uint64_t *out, GmError *err)
{
    uint32_t known = gm_re_nullable(&f->core->rx, re) ? 0 : gm_map_get(&f->re_map, re);
    if (known != GM_NONE) {
        *out = known;
        return GM_OK;
    }
    gm_core_lock(f->core);
    GmStatus status = gm_finish_re_locked(f, re, out, err);
    gm_core_unlock(f->core);
    return status;
}
