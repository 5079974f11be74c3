/* Nodes of gm_regex.h: interning, lengths, and all constructors but intersection and difference. */
#include "gm_groups.h"
#include "gm_regex_in.h"

#include <stdlib.h>
#include <string.h>

enum { RE_BOUNDED = 8 };
enum { RE_MAX_DEPTH = 2 * GM_RE_DEPTH }; /* a derivative nests at most twice as deep as what it comes from */

static void re_begin(GmRegex *rx, GmMem *mem, GmArena *arena, uint32_t horizon, uint32_t max_nodes)
{
    memset(rx, 0, sizeof *rx);
    rx->mem = mem;
    rx->arena = arena;
    rx->horizon = horizon;
    rx->max_nodes = max_nodes;
    gm_pool_init(&rx->nodes, sizeof(GmReNode));
    gm_pool_init(&rx->sets, sizeof(GmByteSet));
    gm_pool_init(&rx->lits, sizeof(GmLits));
    gm_pool_init(&rx->auts, sizeof(GmAut));
    gm_pool_init(&rx->loops, sizeof(GmLoop));
    gm_pool_init(&rx->mains, sizeof(GmMain));
    gm_pool_init(&rx->classes, sizeof(const GmClasses *));
    gm_map_init(&rx->joint);
    rx->joint.alone = true;
    for (uint32_t b = 0; b < 128; b++) {
        rx->off_group[b] = ~((uint64_t)1 << gm_group_of((uint8_t)b));
    }
}

GmStatus gm_re_init(GmRegex *rx, GmMem *mem, GmArena *arena, uint32_t horizon, uint32_t max_nodes, GmError *err)
{
    re_begin(rx, mem, arena, horizon, max_nodes);
    for (uint32_t i = 0; i < 2; i++) { /* GM_RE_EMPTY, GM_RE_EPS */
        uint32_t id;
        void *p;
        GM_TRY(gm_pool_add(&rx->nodes, mem, &id, &p, err));
        GmReNode *node = p;
        node->kind = i == 0 ? RE_EMPTY : RE_EPS;
        node->nullable = i == 1;
        node->clamp = id + 1;
        node->hash = gm_hash_join((Hash128){1, 2}, i);
    }
    return GM_OK;
}

/* What matching has found out about a node stays, if it is about the first n nodes. */
static void forget_matching(GmReNode *node, uint32_t n)
{
    uint32_t next = gm_load(&node->next), clamp = gm_load(&node->clamp);
    if (GM_RE_ID(next) >= n) {
        gm_store(&node->next, 0);
    }
    if (clamp > n) {
        gm_store(&node->clamp, 0);
    }
    gm_store(&node->loop, 0);
    gm_store(&node->row, NULL);
    node->main = node->misses = node->mark = 0;
    node->split_by = node->seen_by = 0;
}

GmStatus gm_re_init_like(GmRegex *rx, GmMem *mem, GmArena *arena, uint32_t max_nodes, const GmRegex *other, GmError *err)
{
    const GmReMark *n = &other->lowered;
    re_begin(rx, mem, arena, other->horizon, max_nodes);
    rx->searched = n->searched;
    GM_TRY(gm_pool_copy(&rx->nodes, mem, &other->nodes, n->nodes, err));
    GM_TRY(gm_pool_copy(&rx->sets, mem, &other->sets, n->sets, err));
    GM_TRY(gm_pool_copy(&rx->lits, mem, &other->lits, n->lits, err));
    GM_TRY(gm_pool_copy(&rx->auts, mem, &other->auts, n->auts, err));
    GM_TRY(gm_index_reserve(&rx->index, mem, n->nodes, err));
    for (uint32_t id = 2; id < n->nodes; id++) { /* the first two are not looked up */
        GmReNode *node = re_at(rx, id);
        forget_matching(node, n->nodes);
        GM_TRY(gm_index_add(&rx->index, mem, node->hash.a, id, err));
    }
    return GM_OK;
}

void gm_re_set_lowered(GmRegex *rx)
{
    rx->lowered = (GmReMark){rx->nodes.len, rx->sets.len, rx->lits.len, rx->auts.len, rx->searched};
}

void gm_re_deinit(GmRegex *rx)
{
    gm_pool_deinit(&rx->nodes, rx->mem);
    gm_pool_deinit(&rx->sets, rx->mem);
    gm_pool_deinit(&rx->lits, rx->mem);
    gm_pool_deinit(&rx->auts, rx->mem);
    gm_pool_deinit(&rx->loops, rx->mem);
    gm_pool_deinit(&rx->mains, rx->mem);
    gm_pool_deinit(&rx->classes, rx->mem);
    gm_map_deinit(&rx->joint, rx->mem);
    gm_index_deinit(&rx->index, rx->mem);
    gm_index_deinit(&rx->class_index, rx->mem);
    GM_VEC_FREE(rx->mem, rx->scratch);
    GM_VEC_FREE(rx->mem, rx->search);
    GM_VEC_FREE(rx->mem, rx->pending);
}

/* -- interning ---------------------------------------------------------------------------------- */

static bool same_lits(const GmLits *x, const GmLits *y)
{
    bool same = x->n == y->n;
    for (uint32_t i = 0; same && i < x->n; i++) {
        same = x->len[i] == y->len[i] && gm_same(x->text[i], y->text[i], x->len[i]);
    }
    return same;
}

static bool same_aut(const GmAut *x, const GmAut *y)
{
    return x->n_states == y->n_states && x->n_edges == y->n_edges &&
           gm_same(x->off, y->off, ((size_t)x->n_states + 1) * sizeof *x->off) &&
           gm_same(x->label, y->label, x->n_edges * sizeof *x->label) &&
           gm_same(x->target, y->target, x->n_edges * sizeof *x->target) &&
           gm_same(x->accepting, y->accepting, x->n_states);
}

static bool re_equal(const GmRegex *rx, const GmReNode *x, const GmReNode *y)
{
    /* Sets are interned by content before this, so their index is compared like any other field. */
    if (x->kind != y->kind || x->hash.a != y->hash.a || x->hash.b != y->hash.b) {
        return false;
    }
    switch (x->kind) {
    case RE_LITS: /* equal tables come from several children; all nodes are of the first one */
        return x->b == y->b && x->c == y->c && x->d == y->d &&
               (x->a == y->a || same_lits(gm_pool_at(&rx->lits, x->a), gm_pool_at(&rx->lits, y->a)));
    case RE_AUT:
        return x->b == y->b && (x->a == y->a || same_aut(gm_pool_at(&rx->auts, x->a), gm_pool_at(&rx->auts, y->a)));
    case RE_LIT:
        return x->b == y->b && memcmp(x->p.text, y->p.text, x->b) == 0;
    case RE_ALT:
        return x->b == y->b && memcmp(x->p.list, y->p.list, x->b * sizeof(uint32_t)) == 0;
    default:
        return x->a == y->a && x->b == y->b && x->c == y->c && x->d == y->d;
    }
}

static uint32_t add_lengths(uint32_t x, uint32_t y) { return y == GM_INF || x > GM_INF - 1 - y ? GM_INF : x + y; }

static uint32_t times_length(uint32_t x, uint32_t n)
{
    if (x == 0 || n == 0) {
        return 0;
    }
    uint64_t product = x == GM_INF || n == GM_INF ? GM_INF : (uint64_t)x * n;
    return product < GM_INF ? (uint32_t)product : GM_INF;
}

/* How long texts are at least and at most; lists and automata are not looked at. `shortest` at GM_INF means that
 * many bytes or more, so it is a lower bound as well. */
static void re_lengths(GmRegex *rx, GmReNode *proto)
{
    const GmReNode *a, *b;
    proto->shortest = 0;
    proto->longest = GM_INF;
    switch (proto->kind) {
    case RE_SET:
        proto->shortest = proto->longest = 1;
        return;
    case RE_LIT:
        proto->shortest = proto->longest = proto->b;
        return;
    case RE_SEQ:
        a = re_at(rx, proto->a);
        b = re_at(rx, proto->b);
        proto->shortest = add_lengths(a->shortest, b->shortest);
        proto->longest = add_lengths(a->longest, b->longest);
        return;
    case RE_ALT:
        proto->shortest = GM_INF;
        proto->longest = 0;
        for (uint32_t i = 0; i < proto->b; i++) {
            a = re_at(rx, proto->p.list[i]);
            proto->shortest = a->shortest < proto->shortest ? a->shortest : proto->shortest;
            proto->longest = a->longest > proto->longest ? a->longest : proto->longest;
        }
        return;
    case RE_REP:
        a = re_at(rx, proto->a);
        proto->shortest = times_length(a->shortest, proto->b);
        proto->longest = times_length(a->longest, proto->c);
        return;
    case RE_AND:
        a = re_at(rx, proto->a);
        b = re_at(rx, proto->b);
        proto->shortest = a->shortest > b->shortest ? a->shortest : b->shortest;
        proto->longest = a->longest < b->longest ? a->longest : b->longest;
        return;
    case RE_SUB:
        a = re_at(rx, proto->a);
        proto->shortest = a->shortest;
        proto->longest = a->longest;
        return;
    default:
        return;
    }
}

GmStatus gm_re_intern(GmRegex *rx, GmReNode *proto, GmRe *out, GmError *err)
{
    uint64_t key = proto->hash.a;
    uint32_t at = (uint32_t)(key >> 32), found;
    while ((found = gm_index_next(&rx->index, key, &at)) != GM_NONE) {
        if (re_equal(rx, re_at(rx, found), proto)) {
            *out = found;
            return GM_OK;
        }
    }
    if (proto->depth > RE_MAX_DEPTH) {
        return gm_fail_limit(err, "lexer_states", "a terminal nests more than %d levels deep", RE_MAX_DEPTH);
    }
    if (rx->nodes.len >= rx->max_nodes) {
        return gm_fail_limit(err, "lexer_states", "the terminals need more than %u lexer states (limit \"lexer_states\")",
                             rx->max_nodes);
    }
    if (proto->kind == RE_ALT) {
        void *copy;
        GM_TRY(gm_arena_alloc(rx->arena, proto->b * sizeof(uint32_t), &copy, err));
        memcpy(copy, proto->p.list, proto->b * sizeof(uint32_t));
        proto->p.list = copy;
    }
    re_lengths(rx, proto);
    uint32_t id;
    void *p;
    GM_TRY(gm_pool_add(&rx->nodes, rx->mem, &id, &p, err));
    *(GmReNode *)p = *proto;
    if (!proto->counted) {
        ((GmReNode *)p)->clamp = id + 1;
    }
    GM_TRY(gm_index_add(&rx->index, rx->mem, key, id, err));
    *out = id;
    return GM_OK;
}

GmStatus gm_re_set(GmRegex *rx, const GmByteSet *set, GmRe *out, GmError *err)
{
    if ((set->w[0] | set->w[1] | set->w[2] | set->w[3]) == 0) {
        *out = GM_RE_EMPTY;
        return GM_OK;
    }
    GmReNode proto = gm_re_proto(RE_SET);
    proto.hash = gm_hash_bytes(proto.hash, set, sizeof *set);
    uint32_t at = (uint32_t)(proto.hash.a >> 32), found;
    while ((found = gm_index_next(&rx->index, proto.hash.a, &at)) != GM_NONE) {
        const GmReNode *node = re_at(rx, found);
        if (node->kind == RE_SET && memcmp(re_set_of(rx, node), set, sizeof *set) == 0) {
            *out = found;
            return GM_OK;
        }
    }
    void *p;
    GM_TRY(gm_pool_add(&rx->sets, rx->mem, &proto.a, &p, err));
    *(GmByteSet *)p = *set;
    uint32_t count = 0;
    for (uint32_t b = 0; b < 256; b++) {
        if (set_has(set, (uint8_t)b)) {
            proto.first = (uint8_t)b;
            count++;
        }
    }
    proto.is_single = count == 1;
    proto.next = GM_RE_EPS | GM_RE_NULLABLE;
    return gm_re_intern(rx, &proto, out, err);
}

enum { LIT_PIECE = 1024 }; /* a longer text is a sequence: what is left of it is hashed again after each byte */

GmStatus gm_re_lit(GmRegex *rx, const uint8_t *text, uint32_t len, GmRe *out, GmError *err)
{
    if (len == 0) {
        *out = GM_RE_EPS;
        return GM_OK;
    }
    if (len == 1) { /* one form for one byte */
        GmByteSet set;
        memset(&set, 0, sizeof set);
        set.w[text[0] >> 6] = (uint64_t)1 << (text[0] & 63);
        return gm_re_set(rx, &set, out, err);
    }
    if (len > LIT_PIECE) {
        uint32_t at = len - (len % LIT_PIECE == 0 ? LIT_PIECE : len % LIT_PIECE);
        GmRe piece;
        GM_TRY(gm_re_lit(rx, text + at, len - at, out, err));
        while (at > 0) {
            at -= LIT_PIECE;
            GM_TRY(gm_re_lit(rx, text + at, LIT_PIECE, &piece, err));
            GM_TRY(gm_re_seq(rx, piece, *out, out, err));
        }
        return GM_OK;
    }
    GmReNode proto = gm_re_proto(RE_LIT);
    proto.p.text = text;
    proto.b = len;
    proto.is_single = 1;
    proto.first = text[0];
    proto.hash = gm_hash_bytes(proto.hash, text, len);
    return gm_re_intern(rx, &proto, out, err);
}

GmStatus gm_re_lits(GmRegex *rx, uint32_t table, uint32_t low, uint32_t high, uint32_t depth, GmRe *out, GmError *err)
{
    const GmLits *lits = gm_pool_at(&rx->lits, table);
    if (low == high) {
        *out = GM_RE_EMPTY;
        return GM_OK;
    }
    if (high - low == 1) {
        return gm_re_lit(rx, lits->text[low] + depth, lits->len[low] - depth, out, err);
    }
    GmReNode proto = gm_re_proto(RE_LITS);
    proto.a = table;
    proto.b = low;
    proto.c = high;
    proto.d = depth;
    proto.nullable = lits->len[low] == depth;
    proto.hash = gm_hash_join2(proto.hash, lits->hash);
    proto.hash = gm_hash_join(gm_hash_join(proto.hash, gm_pair(low, high)), depth);
    return gm_re_intern(rx, &proto, out, err);
}

GmStatus gm_re_seq(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    if (a == GM_RE_EMPTY || b == GM_RE_EMPTY) {
        *out = GM_RE_EMPTY;
        return GM_OK;
    }
    if (a == GM_RE_EPS || b == GM_RE_EPS) {
        *out = a == GM_RE_EPS ? b : a;
        return GM_OK;
    }
    GmReNode proto = gm_re_proto(RE_SEQ);
    const GmReNode *x = re_at(rx, a), *y = re_at(rx, b);
    proto.a = a;
    proto.b = b;
    proto.nullable = x->nullable && y->nullable;
    gm_re_hash_child(rx, &proto, a);
    proto.hash = gm_hash_join2(proto.hash, y->hash);
    proto.counted |= y->counted;
    proto.bounded |= y->bounded;
    if (y->depth > proto.depth) { /* the right side is followed by a loop, not by recursion */
        proto.depth = y->depth;
    }
    if (x->is_single && !x->nullable) {
        proto.is_single = 1;
        proto.first = x->first;
    }
    return gm_re_intern(rx, &proto, out, err);
}

static int compare_ids(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

static void sort_ids(uint32_t *v, uint32_t n)
{
    if (n > 16) {
        qsort(v, n, sizeof *v, compare_ids);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        uint32_t x = v[i], j = i;
        for (; j > 0 && v[j - 1] > x; j--) {
            v[j] = v[j - 1];
        }
        v[j] = x;
    }
}

/* Alternation is kept flat, sorted, without duplicates, with one byte set at most. The parts are n ids at
 * `parts` or, if that is NULL, the ids in rx->scratch from `from` on; scratch is cut back to `from`. */
static GmStatus re_alt_of(GmRegex *rx, const GmRe *parts, uint32_t n, uint32_t from, GmRe *out, GmError *err)
{
    uint32_t base = rx->scratch.len;
    GmByteSet merged;
    memset(&merged, 0, sizeof merged);
    uint32_t n_sets = 0;
    GmRe only_set = GM_RE_EMPTY;
    for (uint32_t i = 0; i < n; i++) {
        GmRe one = parts != NULL ? parts[i] : rx->scratch.data[from + i];
        const GmReNode *node = re_at(rx, one);
        uint32_t count = node->kind == RE_ALT ? node->b : 1;
        const GmRe *list = node->kind == RE_ALT ? node->p.list : &one;
        for (uint32_t j = 0; j < count; j++) {
            const GmReNode *part = re_at(rx, list[j]);
            if (part->kind == RE_EMPTY) {
                continue;
            }
            if (part->kind == RE_SET) {
                const GmByteSet *set = re_set_of(rx, part);
                for (uint32_t k = 0; k < 4; k++) {
                    merged.w[k] |= set->w[k];
                }
                n_sets += only_set != list[j];
                only_set = list[j];
                continue;
            }
            GM_PUSH(rx->mem, rx->scratch, list[j]);
        }
    }
    if (n_sets > 1) {
        GM_TRY(gm_re_set(rx, &merged, &only_set, err));
    }
    if (n_sets > 0) {
        GM_PUSH(rx->mem, rx->scratch, only_set);
    }
    uint32_t *v = rx->scratch.data + base, count = rx->scratch.len - base, kept = 0;
    if (count > 0) {
        sort_ids(v, count);
    }
    bool nullable = false;
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || v[i] != v[kept - 1]) {
            v[kept++] = v[i];
            nullable |= v[i] != GM_RE_EPS && re_at(rx, v[i])->nullable;
        }
    }
    if (nullable && kept > 0 && v[0] == GM_RE_EPS) { /* another part matches the empty text anyway */
        memmove(v, v + 1, (kept - 1) * sizeof *v);
        kept--;
    }
    rx->scratch.len = from;
    if (kept < 2) {
        *out = kept == 0 ? GM_RE_EMPTY : v[0];
        return GM_OK;
    }
    GmReNode proto = gm_re_proto(RE_ALT);
    proto.b = kept;
    proto.p.list = v;
    proto.nullable = nullable || v[0] == GM_RE_EPS;
    Hash128 sum = {0, 0};
    bool single = v[0] != GM_RE_EPS;
    uint8_t first = re_at(rx, v[0])->first;
    for (uint32_t i = 0; i < kept; i++) {
        const GmReNode *part = re_at(rx, v[i]);
        sum = gm_hash_sum(sum, gm_hash_join2((Hash128){7, 9}, part->hash)); /* ids differ between constraints */
        proto.counted |= part->counted;
        proto.bounded |= part->bounded;
        single = single && part->is_single && part->first == first;
        if (part->depth + 1 > proto.depth) {
            proto.depth = (uint16_t)(part->depth + 1);
        }
    }
    proto.is_single = single && !proto.nullable;
    proto.first = first;
    proto.hash = gm_hash_join2(proto.hash, sum);
    return gm_re_intern(rx, &proto, out, err);
}

GmStatus gm_re_alt(GmRegex *rx, const GmRe *parts, uint32_t n, GmRe *out, GmError *err)
{
    return re_alt_of(rx, parts, n, rx->scratch.len, out, err);
}

GmStatus gm_re_alt_gathered(GmRegex *rx, uint32_t from, GmRe *out, GmError *err)
{
    return re_alt_of(rx, NULL, rx->scratch.len - from, from, out, err);
}

GmStatus gm_re_alt2(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    if (a == b || b == GM_RE_EMPTY || a == GM_RE_EMPTY) {
        *out = a == GM_RE_EMPTY ? b : a;
        return GM_OK;
    }
    GmRe parts[2] = {a, b};
    return gm_re_alt(rx, parts, 2, out, err);
}

GmStatus gm_re_rep(GmRegex *rx, GmRe a, uint32_t low, uint32_t high, GmRe *out, GmError *err)
{
    if (high == 0 || a == GM_RE_EPS) {
        *out = GM_RE_EPS;
        return GM_OK;
    }
    if (a == GM_RE_EMPTY) {
        *out = low == 0 ? GM_RE_EPS : GM_RE_EMPTY;
        return GM_OK;
    }
    const GmReNode *body = re_at(rx, a);
    if (body->nullable) {
        low = 0;
    }
    if (low == 1 && high == 1) {
        *out = a;
        return GM_OK;
    }
    if (body->kind == RE_REP && low == 0 && high == GM_INF && body->b <= 1 && body->c == GM_INF) {
        return gm_re_rep(rx, body->a, 0, GM_INF, out, err); /* (x*)* */
    }
    GmReNode proto = gm_re_proto(RE_REP);
    proto.a = a;
    proto.b = low;
    proto.c = high;
    proto.nullable = low == 0;
    gm_re_hash_child(rx, &proto, a);
    proto.hash = gm_hash_join(proto.hash, gm_pair(low, high));
    proto.bounded |= high != GM_INF && high > RE_BOUNDED;
    proto.counted |= low > rx->horizon + 1 || (high != GM_INF && high > rx->horizon);
    proto.is_single = low > 0 && body->is_single;
    proto.first = body->first;
    return gm_re_intern(rx, &proto, out, err);
}

GmStatus gm_re_aut(GmRegex *rx, uint32_t table, uint32_t state, GmRe *out, GmError *err)
{
    const GmAut *aut = gm_pool_at(&rx->auts, table);
    if (state == GM_NONE) {
        *out = GM_RE_EMPTY;
        return GM_OK;
    }
    if (aut->off[state] == aut->off[state + 1]) {
        *out = aut->accepting[state] ? GM_RE_EPS : GM_RE_EMPTY;
        return GM_OK;
    }
    GmReNode proto = gm_re_proto(RE_AUT);
    proto.a = table;
    proto.b = state;
    proto.nullable = aut->accepting[state];
    for (uint32_t e = aut->off[state]; e < aut->off[state + 1]; e++) {
        const GmReNode *label = re_at(rx, aut->label[e]);
        if (label->depth + 1 > proto.depth) {
            proto.depth = (uint16_t)(label->depth + 1);
        }
    }
    proto.hash = gm_hash_join(gm_hash_join2(proto.hash, aut->hash), state);
    return gm_re_intern(rx, &proto, out, err);
}

GmRe gm_re_find(const GmRegex *rx, const GmReNode *other)
{
    if (other->kind == RE_EMPTY || other->kind == RE_EPS) {
        return other->kind == RE_EMPTY ? GM_RE_EMPTY : GM_RE_EPS;
    }
    uint32_t at = (uint32_t)(other->hash.a >> 32), found;
    while ((found = gm_index_next(&rx->index, other->hash.a, &at)) != GM_NONE) {
        const GmReNode *node = gm_re_node(rx, found);
        if (node->kind == other->kind && node->hash.a == other->hash.a && node->hash.b == other->hash.b) {
            break;
        }
    }
    return found;
}

bool gm_re_covers(const GmRegex *rx, GmRe a, GmRe b)
{
    if (a == b || b == GM_RE_EMPTY) {
        return true;
    }
    const GmReNode *x = gm_re_node(rx, a), *y = gm_re_node(rx, b);
    if (x->kind != RE_ALT) {
        return false;
    }
    uint32_t n = y->kind == RE_ALT ? y->b : 1, i = 0;
    const GmRe *list = y->kind == RE_ALT ? y->p.list : &b;
    for (uint32_t j = 0; j < n; j++) {
        while (i < x->b && x->p.list[i] < list[j]) {
            i++;
        }
        if (i == x->b || x->p.list[i] != list[j]) {
            return false;
        }
    }
    return true;
}
