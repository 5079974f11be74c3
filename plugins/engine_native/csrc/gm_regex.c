#include "gm_regex.h"

#include <stdlib.h>
#include <string.h>

enum { RE_BOUNDED = 8 };
enum { RE_SEARCH_SHARE = 32 }; /* one emptiness test may see 1/32 of lexer_states: 125,000, about 100 ms and 60 MB */
enum {
    RE_MAX_DEPTH = 2 * GM_RE_DEPTH, /* a derivative nests at most twice as deep as what it comes from */
    RE_BOOLEAN_DEPTH = 4            /* emptiness tests in each other: levels' worth of stack that one needs */
};

static GmReNode *re_at(GmRegex *rx, GmRe r) { return gm_pool_at(&rx->nodes, r); }
static const GmByteSet *re_set_of(const GmRegex *rx, const GmReNode *node) { return gm_pool_at(&rx->sets, node->a); }
static bool set_has(const GmByteSet *set, uint8_t byte) { return set->w[byte >> 6] >> (byte & 63) & 1; }

GmStatus gm_re_init(GmRegex *rx, GmMem *mem, GmArena *arena, uint32_t horizon, uint32_t max_nodes, GmError *err)
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

void gm_re_deinit(GmRegex *rx)
{
    gm_pool_deinit(&rx->nodes, rx->mem);
    gm_pool_deinit(&rx->sets, rx->mem);
    gm_pool_deinit(&rx->lits, rx->mem);
    gm_pool_deinit(&rx->auts, rx->mem);
    gm_pool_deinit(&rx->loops, rx->mem);
    gm_index_deinit(&rx->index, rx->mem);
    GM_VEC_FREE(rx->mem, rx->scratch);
    GM_VEC_FREE(rx->mem, rx->search);
    GM_VEC_FREE(rx->mem, rx->pending);
}

/* -- interning ---------------------------------------------------------------------------------- */

static bool re_equal(const GmReNode *x, const GmReNode *y)
{
    /* Sets are interned by content before this, so their index is compared like any other field. */
    if (x->kind != y->kind || x->hash.a != y->hash.a || x->hash.b != y->hash.b) {
        return false;
    }
    switch (x->kind) {
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

/* Whether no text can be of both by their lengths alone. */
static bool re_lengths_apart(GmRegex *rx, GmRe a, GmRe b)
{
    const GmReNode *x = re_at(rx, a), *y = re_at(rx, b);
    return (x->longest != GM_INF && y->shortest > x->longest) || (y->longest != GM_INF && x->shortest > y->longest);
}

/* `proto` has all fields of the node to intern; a list of RE_ALT is copied into the arena. */
static GmStatus re_intern(GmRegex *rx, GmReNode *proto, GmRe *out, GmError *err)
{
    uint64_t key = proto->hash.a;
    uint32_t at = (uint32_t)(key >> 32), found;
    while ((found = gm_index_next(&rx->index, key, &at)) != GM_NONE) {
        if (re_equal(re_at(rx, found), proto)) {
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

static GmReNode re_proto(GmReKind kind)
{
    GmReNode node;
    memset(&node, 0, sizeof node);
    node.kind = (uint8_t)kind;
    node.hash = gm_hash_join((Hash128){0x51, 0x52}, (uint64_t)kind);
    return node;
}

static void re_hash_child(GmRegex *rx, GmReNode *proto, GmRe child)
{
    const GmReNode *node = re_at(rx, child);
    proto->hash = gm_hash_join2(proto->hash, node->hash);
    proto->counted |= node->counted;
    proto->bounded |= node->bounded;
    if (node->depth + 1 > proto->depth) {
        proto->depth = (uint16_t)(node->depth + 1);
    }
}

GmStatus gm_re_set(GmRegex *rx, const GmByteSet *set, GmRe *out, GmError *err)
{
    if ((set->w[0] | set->w[1] | set->w[2] | set->w[3]) == 0) {
        *out = GM_RE_EMPTY;
        return GM_OK;
    }
    GmReNode proto = re_proto(RE_SET);
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
    return re_intern(rx, &proto, out, err);
}

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
    GmReNode proto = re_proto(RE_LIT);
    proto.p.text = text;
    proto.b = len;
    proto.is_single = 1;
    proto.first = text[0];
    proto.hash = gm_hash_bytes(proto.hash, text, len);
    return re_intern(rx, &proto, out, err);
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
    GmReNode proto = re_proto(RE_LITS);
    proto.a = table;
    proto.b = low;
    proto.c = high;
    proto.d = depth;
    proto.nullable = lits->len[low] == depth;
    proto.hash = gm_hash_join2(proto.hash, lits->hash);
    proto.hash = gm_hash_join(gm_hash_join(proto.hash, gm_pair(low, high)), depth);
    return re_intern(rx, &proto, out, err);
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
    GmReNode proto = re_proto(RE_SEQ);
    const GmReNode *x = re_at(rx, a), *y = re_at(rx, b);
    proto.a = a;
    proto.b = b;
    proto.nullable = x->nullable && y->nullable;
    re_hash_child(rx, &proto, a);
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
    return re_intern(rx, &proto, out, err);
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
    GmReNode proto = re_proto(RE_ALT);
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
    return re_intern(rx, &proto, out, err);
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
    GmReNode proto = re_proto(RE_REP);
    proto.a = a;
    proto.b = low;
    proto.c = high;
    proto.nullable = low == 0;
    re_hash_child(rx, &proto, a);
    proto.hash = gm_hash_join(proto.hash, gm_pair(low, high));
    proto.bounded |= high != GM_INF && high > RE_BOUNDED;
    proto.counted |= low > rx->horizon + 1 || (high != GM_INF && high > rx->horizon);
    proto.is_single = low > 0 && body->is_single;
    proto.first = body->first;
    return re_intern(rx, &proto, out, err);
}

static GmStatus re_boolean(GmRegex *rx, GmReKind kind, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    GmReNode proto = re_proto(kind);
    proto.a = a;
    proto.b = b;
    proto.nullable = re_at(rx, a)->nullable && (kind == RE_AND) == (bool)re_at(rx, b)->nullable;
    re_hash_child(rx, &proto, a);
    re_hash_child(rx, &proto, b);
    proto.depth = (uint16_t)(proto.depth + RE_BOOLEAN_DEPTH - 1);
    proto.counted = 0; /* never clamped below: what is alive there depends on the exact counts */
    return re_intern(rx, &proto, out, err);
}

/* The same without the emptiness test, for the test itself. */
static GmStatus re_raw(GmRegex *rx, GmReKind kind, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    if (a == GM_RE_EMPTY || (kind == RE_AND && b == GM_RE_EMPTY) || (kind == RE_SUB && a == b)) {
        *out = GM_RE_EMPTY;
        return GM_OK;
    }
    if ((kind == RE_SUB && b == GM_RE_EMPTY) || (kind == RE_AND && a == b)) {
        *out = a;
        return GM_OK;
    }
    if (re_lengths_apart(rx, a, b)) {
        *out = kind == RE_AND ? GM_RE_EMPTY : a;
        return GM_OK;
    }
    if (kind == RE_AND && re_at(rx, a)->kind == RE_SET && re_at(rx, b)->kind == RE_SET) {
        GmByteSet meet;
        for (uint32_t i = 0; i < 4; i++) {
            meet.w[i] = re_set_of(rx, re_at(rx, a))->w[i] & re_set_of(rx, re_at(rx, b))->w[i];
        }
        return gm_re_set(rx, &meet, out, err);
    }
    if (kind == RE_AND && a > b) {
        GmRe swap = a;
        a = b;
        b = swap;
    }
    return re_boolean(rx, kind, a, b, out, err);
}

static GmStatus re_partition(GmRegex *rx, GmRe r, uint8_t cls[256], uint32_t *n, GmError *err);
static GmStatus re_structural(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err);

static bool is_boolean(const GmReNode *node) { return node->kind == RE_AND || node->kind == RE_SUB; }

/* One step of the emptiness test: like a derivative, but of the two sides only. */
static GmStatus re_raw_step(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err)
{
    const GmReNode *node = re_at(rx, r);
    if (!is_boolean(node)) {
        uint32_t entry;
        GM_TRY(gm_re_deriv(rx, r, byte, &entry, err));
        *out = GM_RE_ID(entry);
        return GM_OK;
    }
    uint32_t left, right;
    GmReKind kind = node->kind;
    GmRe a = node->a, b = node->b;
    GM_TRY(gm_re_deriv(rx, a, byte, &left, err));
    GM_TRY(gm_re_deriv(rx, b, byte, &right, err));
    return re_raw(rx, kind, GM_RE_ID(left), GM_RE_ID(right), out, err);
}

static bool is_witness(const GmReNode *node) { return node->nullable || !is_boolean(node) || node->live == 1; }

/* The successors of one entry of the search; *witness is set when one is known to be live. */
static GmStatus live_expand(GmRegex *rx, uint32_t entry, uint32_t number, uint32_t *witness, GmError *err)
{
    GmRe q = rx->search.data[entry];
    uint8_t cls[256];
    uint32_t n = 1;
    bool seen[256];
    memset(cls, 0, sizeof cls);
    memset(seen, 0, sizeof seen);
    GM_TRY(re_partition(rx, q, cls, &n, err));
    for (uint32_t b = 256; b-- > 0;) { /* the lowest bytes last, so that they are followed first: quotes end texts */
        GmRe t;
        if (seen[cls[b]]) {
            continue;
        }
        seen[cls[b]] = true;
        GM_TRY(re_raw_step(rx, q, (uint8_t)b, &t, err));
        GmReNode *target = re_at(rx, t);
        if (t == GM_RE_EMPTY || (is_boolean(target) && (target->live == 2 || target->mark == number))) {
            continue;
        }
        target->mark = number;
        GM_PUSH(rx->mem, rx->pending, rx->search.len);
        GM_PUSH(rx->mem, rx->search, t);
        GM_PUSH(rx->mem, rx->search, entry);
        if (is_witness(target)) {
            *witness = rx->search.len - 2;
            return GM_OK;
        }
    }
    return GM_OK;
}

/* live: 0 unknown, 1 live, 2 dead. Depth first over (node, index of its parent): every node of a path to a
 * witness is live, so a long path settles many; when the search ends without one, all it saw are dead. The
 * test may run inside a derivative of another test, so what it saw is marked with its own number. */
static GmStatus re_live_only(GmRegex *rx, GmRe *r, GmError *err)
{
    GmReNode *start = re_at(rx, *r);
    if (is_witness(start)) {
        start->live = 1;
        return GM_OK;
    }
    if (start->live == 2) {
        *r = GM_RE_EMPTY;
        return GM_OK;
    }
    uint32_t base = rx->search.len, todo = rx->pending.len, number = ++rx->search_no, witness = GM_NONE;
    GM_PUSH(rx->mem, rx->pending, base);
    GM_PUSH(rx->mem, rx->search, *r);
    GM_PUSH(rx->mem, rx->search, GM_NONE);
    start->mark = number;
    GmStatus status = GM_OK;
    while (rx->pending.len > todo && witness == GM_NONE && status == GM_OK) {
        if ((rx->search.len - base) / 2 > rx->max_nodes / RE_SEARCH_SHARE) {
            status = gm_fail_limit(err, "lexer_states",
                                   "whether an intersection or difference of terminals is empty shows only after more than "
                                   "%u states (limit \"lexer_states\" / %d)",
                                   rx->max_nodes / RE_SEARCH_SHARE, RE_SEARCH_SHARE);
            break;
        }
        status = live_expand(rx, rx->pending.data[--rx->pending.len], number, &witness, err);
    }
    bool dead = status == GM_OK && witness == GM_NONE;
    for (uint32_t i = base; dead && i < rx->search.len; i += 2) {
        re_at(rx, rx->search.data[i])->live = 2;
    }
    for (uint32_t i = status == GM_OK ? witness : GM_NONE; i != GM_NONE; i = rx->search.data[i + 1]) {
        re_at(rx, rx->search.data[i])->live = 1;
    }
    rx->search.len = base;
    rx->pending.len = todo;
    if (dead) {
        *r = GM_RE_EMPTY;
    }
    return status;
}

GmStatus gm_re_and(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    GmRe r;
    GM_TRY(re_raw(rx, RE_AND, a, b, &r, err));
    GM_TRY(re_live_only(rx, &r, err));
    *out = r;
    return GM_OK;
}

GmStatus gm_re_sub(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    GmRe r;
    GM_TRY(re_raw(rx, RE_SUB, a, b, &r, err));
    GM_TRY(re_live_only(rx, &r, err));
    *out = r;
    return GM_OK;
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
    GmReNode proto = re_proto(RE_AUT);
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
    return re_intern(rx, &proto, out, err);
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

/* -- derivatives ---------------------------------------------------------------------------------- */

/* Texts [low, high) of the table that have `byte` at `depth`; they are sorted, so they are a stretch. */
static void lits_range(const GmLits *lits, uint32_t low, uint32_t high, uint32_t depth, uint8_t byte, uint32_t out[2])
{
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t from = low, to = high;
        while (from < to) {
            uint32_t mid = from + (to - from) / 2;
            int value = lits->len[mid] == depth ? -1 : lits->text[mid][depth];
            if (value < (int)byte + (int)side) {
                from = mid + 1;
            } else {
                to = mid;
            }
        }
        out[side] = from;
    }
}

static GmStatus re_child(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err)
{
    uint32_t entry = gm_re_peek(rx, r, byte);
    if (entry != GM_RE_UNKNOWN) {
        *out = GM_RE_ID(entry);
        return GM_OK;
    }
    GmReNode *node = re_at(rx, r);
    if (node->seen_by == rx->deriving) {
        *out = node->was;
        return GM_OK;
    }
    GM_TRY(re_structural(rx, r, byte, out, err));
    node->seen_by = rx->deriving;
    node->was = *out;
    return GM_OK;
}

/* A derivative from outside of one: shared parts are looked at once, or a graph that unfolds to 2^n nodes
 * would cost as much. One may run inside another, by the emptiness test. */
static GmStatus re_derive(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err)
{
    uint64_t outer = rx->deriving;
    rx->deriving = ++rx->derivatives;
    GmStatus status = re_structural(rx, r, byte, out, err);
    rx->deriving = outer;
    return status;
}

static GmStatus re_aut_step(GmRegex *rx, const GmReNode *node, uint8_t byte, GmRe *out, GmError *err)
{
    const GmAut *aut = gm_pool_at(&rx->auts, node->a);
    uint32_t table = node->a, state = node->b, base = rx->scratch.len;
    for (uint32_t e = aut->off[state]; e < aut->off[state + 1]; e++) {
        GmRe d, rest, part;
        GM_TRY(re_child(rx, aut->label[e], byte, &d, err));
        if (d == GM_RE_EMPTY) {
            continue;
        }
        GM_TRY(gm_re_aut(rx, table, aut->target[e], &rest, err));
        GM_TRY(gm_re_seq(rx, d, rest, &part, err));
        GM_PUSH(rx->mem, rx->scratch, part);
    }
    return gm_re_alt_gathered(rx, base, out, err);
}

static GmStatus re_alt_step(GmRegex *rx, const GmReNode *node, uint8_t byte, GmRe *out, GmError *err)
{
    uint32_t base = rx->scratch.len, count = node->b;
    const GmRe *list = node->p.list; /* in the arena: stays where it is */
    for (uint32_t i = 0; i < count; i++) {
        GmRe d;
        GM_TRY(re_child(rx, list[i], byte, &d, err));
        if (d != GM_RE_EMPTY) {
            GM_PUSH(rx->mem, rx->scratch, d);
        }
    }
    return gm_re_alt_gathered(rx, base, out, err);
}

/* a b c ... with nullable heads: the alternation of what each head leaves. */
static GmStatus re_seq_step(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err)
{
    uint32_t base = rx->scratch.len;
    bool more = true;
    while (more) {
        const GmReNode *node = re_at(rx, r);
        bool seq = node->kind == RE_SEQ;
        GmRe d, a = seq ? node->a : r, b = node->b;
        GM_TRY(re_child(rx, a, byte, &d, err));
        if (d != GM_RE_EMPTY && seq) {
            GM_TRY(gm_re_seq(rx, d, b, &d, err));
        }
        if (d != GM_RE_EMPTY) {
            GM_PUSH(rx->mem, rx->scratch, d);
        }
        more = seq && re_at(rx, a)->nullable;
        r = b;
    }
    return gm_re_alt_gathered(rx, base, out, err);
}

static GmStatus re_structural(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err)
{
    const GmReNode *node = re_at(rx, r);
    switch ((GmReKind)node->kind) {
    case RE_SET:
        *out = set_has(re_set_of(rx, node), byte) ? GM_RE_EPS : GM_RE_EMPTY;
        return GM_OK;
    case RE_LIT:
        if (node->p.text[0] != byte) {
            *out = GM_RE_EMPTY;
            return GM_OK;
        }
        return gm_re_lit(rx, node->p.text + 1, node->b - 1, out, err);
    case RE_LITS: {
        uint32_t range[2];
        lits_range(gm_pool_at(&rx->lits, node->a), node->b, node->c, node->d, byte, range);
        return gm_re_lits(rx, node->a, range[0], range[1], node->d + 1, out, err);
    }
    case RE_SEQ:
        return re_seq_step(rx, r, byte, out, err);
    case RE_ALT:
        return re_alt_step(rx, node, byte, out, err);
    case RE_REP: {
        GmRe d, rest, body = node->a;
        uint32_t low = node->b > 0 ? node->b - 1 : 0, high = node->c == GM_INF ? GM_INF : node->c - 1;
        GM_TRY(re_child(rx, body, byte, &d, err));
        if (d == GM_RE_EMPTY) {
            *out = GM_RE_EMPTY;
            return GM_OK;
        }
        GM_TRY(gm_re_rep(rx, body, low, high, &rest, err));
        return gm_re_seq(rx, d, rest, out, err);
    }
    case RE_AND:
    case RE_SUB: {
        GmRe left, right, a = node->a, b = node->b;
        GmReKind kind = node->kind;
        GM_TRY(re_child(rx, a, byte, &left, err));
        if (left == GM_RE_EMPTY) {
            *out = GM_RE_EMPTY;
            return GM_OK;
        }
        GM_TRY(re_child(rx, b, byte, &right, err));
        return kind == RE_AND ? gm_re_and(rx, left, right, out, err) : gm_re_sub(rx, left, right, out, err);
    }
    case RE_AUT:
        return re_aut_step(rx, node, byte, out, err);
    default:
        *out = GM_RE_EMPTY;
        return GM_OK;
    }
}

static uint32_t re_entry(GmRegex *rx, GmRe r) { return r | (re_at(rx, r)->nullable ? GM_RE_NULLABLE : 0); }

GmStatus gm_re_deriv(GmRegex *rx, GmRe r, uint8_t byte, uint32_t *entry, GmError *err)
{
    uint32_t known = gm_re_peek(rx, r, byte);
    if (known != GM_RE_UNKNOWN) {
        *entry = known;
        return GM_OK;
    }
    GmReNode *node = re_at(rx, r);
    if (!node->is_single && node->misses++ > 0) {
        const uint32_t *row;
        GM_TRY(gm_re_row(rx, r, &row, err));
        *entry = row[byte];
        return GM_OK;
    }
    GmRe d;
    GM_TRY(re_derive(rx, r, byte, &d, err));
    *entry = re_entry(rx, d);
    if (node->is_single) {
        gm_store(&node->next, *entry);
    }
    return GM_OK;
}

/* -- byte classes and rows ------------------------------------------------------------------------ */

/* Split every class by membership in the set; numbers stay dense. */
static void split(uint8_t cls[256], uint32_t *n, const GmByteSet *set)
{
    int16_t inside[256], outside[256];
    memset(inside, -1, sizeof inside);
    memset(outside, -1, sizeof outside);
    uint32_t count = 0;
    for (uint32_t b = 0; b < 256; b++) {
        int16_t *map = set_has(set, (uint8_t)b) ? inside : outside;
        if (map[cls[b]] < 0) {
            map[cls[b]] = (int16_t)count++;
        }
        cls[b] = (uint8_t)map[cls[b]];
    }
    *n = count;
}

static void split_byte(uint8_t cls[256], uint32_t *n, uint8_t byte)
{
    for (uint32_t b = 0; b < 256; b++) {
        if (b != byte && cls[b] == cls[byte]) {
            cls[byte] = (uint8_t)(*n)++;
            return;
        }
    }
}

/* Every node once: splitting by it again changes nothing. */
static GmStatus re_split(GmRegex *rx, GmRe r, uint8_t cls[256], uint32_t *n, GmError *err)
{
    for (;;) {
        GmReNode *node = re_at(rx, r);
        if (node->split_by == rx->splits) {
            return GM_OK;
        }
        node->split_by = rx->splits;
        if (node->is_single) {
            if (*n < 256) {
                split_byte(cls, n, node->first);
            }
            return GM_OK;
        }
        switch ((GmReKind)node->kind) {
        case RE_SET:
            split(cls, n, re_set_of(rx, node));
            return GM_OK;
        case RE_LITS: {
            const GmLits *lits = gm_pool_at(&rx->lits, node->a);
            uint32_t at = node->b + (lits->len[node->b] == node->d), range[2];
            while (at < node->c) {
                uint8_t byte = lits->text[at][node->d];
                if (*n < 256) {
                    split_byte(cls, n, byte);
                }
                lits_range(lits, at, node->c, node->d, byte, range);
                at = range[1];
            }
            return GM_OK;
        }
        case RE_SEQ: {
            GmRe a = node->a, b = node->b;
            GM_TRY(re_split(rx, a, cls, n, err));
            if (!re_at(rx, a)->nullable) {
                return GM_OK;
            }
            r = b;
            continue;
        }
        case RE_ALT:
            for (uint32_t i = 0; i < node->b; i++) {
                GM_TRY(re_split(rx, node->p.list[i], cls, n, err));
            }
            return GM_OK;
        case RE_REP:
            r = node->a;
            continue;
        case RE_AND:
        case RE_SUB: {
            GmRe b = node->b;
            GM_TRY(re_split(rx, node->a, cls, n, err));
            r = b;
            continue;
        }
        case RE_AUT: {
            const GmAut *aut = gm_pool_at(&rx->auts, node->a);
            for (uint32_t e = aut->off[node->b]; e < aut->off[node->b + 1]; e++) {
                GM_TRY(re_split(rx, aut->label[e], cls, n, err));
            }
            return GM_OK;
        }
        default:
            return GM_OK;
        }
    }
}

/* Classes of bytes that have equal derivatives; cls is zeroed by the caller, *n is 1. */
static GmStatus re_partition(GmRegex *rx, GmRe r, uint8_t cls[256], uint32_t *n, GmError *err)
{
    rx->splits++;
    return re_split(rx, r, cls, n, err);
}

GmStatus gm_re_row(GmRegex *rx, GmRe r, const uint32_t **out, GmError *err)
{
    uint32_t *row = gm_load(&re_at(rx, r)->row);
    if (row != NULL) {
        *out = row;
        return GM_OK;
    }
    uint8_t cls[256];
    uint32_t n = 1, entries[256];
    memset(cls, 0, sizeof cls);
    GM_TRY(re_partition(rx, r, cls, &n, err));
    bool seen[256];
    memset(seen, 0, sizeof seen);
    for (uint32_t b = 0; b < 256; b++) {
        if (!seen[cls[b]]) {
            GmRe d;
            GM_TRY(re_derive(rx, r, (uint8_t)b, &d, err));
            seen[cls[b]] = true;
            entries[cls[b]] = re_entry(rx, d);
        }
    }
    void *p;
    GM_TRY(gm_arena_alloc(rx->arena, 256 * sizeof(uint32_t), &p, err));
    row = p;
    for (uint32_t b = 0; b < 256; b++) {
        row[b] = entries[cls[b]];
        if (row[b] == GM_RE_EMPTY) {
            row[b] = 0;
        }
    }
    gm_store(&re_at(rx, r)->row, row);
    *out = row;
    return GM_OK;
}

GmStatus gm_re_branches(GmRegex *rx, GmRe r, uint8_t bytes[256], uint32_t entries[256], uint32_t *n, GmError *err)
{
    uint8_t cls[256];
    uint32_t classes = 1;
    bool seen[256];
    memset(cls, 0, sizeof cls);
    memset(seen, 0, sizeof seen);
    GM_TRY(re_partition(rx, r, cls, &classes, err));
    *n = 0;
    for (uint32_t b = 0; b < 256; b++) {
        GmRe d;
        if (seen[cls[b]]) {
            continue;
        }
        seen[cls[b]] = true;
        uint32_t known = gm_re_peek(rx, r, (uint8_t)b);
        if (known != GM_RE_UNKNOWN) {
            d = GM_RE_ID(known);
        } else {
            GM_TRY(re_derive(rx, r, (uint8_t)b, &d, err));
        }
        if (d != GM_RE_EMPTY) {
            bytes[*n] = (uint8_t)b;
            entries[(*n)++] = re_entry(rx, d);
        }
    }
    return GM_OK;
}

/* -- clamp ------------------------------------------------------------------------------------------ */

/* The minimum keeps one iteration more than the horizon: with exactly `horizon` the last byte of a token
 * could use it up, and a debt would then look violated. Right sides of sequences by a loop: they may be long. */
GmStatus gm_re_clamp(GmRegex *rx, GmRe r, GmRe *out, GmError *err)
{
    uint32_t known = gm_load(&re_at(rx, r)->clamp);
    if (known != 0) {
        *out = known - 1;
        return GM_OK;
    }
    const GmReNode *node = re_at(rx, r);
    GmRe result = r;
    if (node->kind == RE_REP) {
        uint32_t low = node->b, high = node->c;
        GmRe body;
        GM_TRY(gm_re_clamp(rx, node->a, &body, err));
        low = low > rx->horizon + 1 ? rx->horizon + 1 : low;
        high = high > rx->horizon ? GM_INF : high;
        GM_TRY(gm_re_rep(rx, body, low, high, &result, err));
    } else if (node->kind == RE_ALT) {
        result = GM_RE_EMPTY;
        const GmRe *list = node->p.list;
        uint32_t n = node->b;
        for (uint32_t i = 0; i < n; i++) {
            GmRe part;
            GM_TRY(gm_re_clamp(rx, list[i], &part, err));
            GM_TRY(gm_re_alt2(rx, result, part, &result, err));
        }
    } else if (node->kind == RE_SEQ) {
        uint32_t base = rx->search.len;
        GmRe tail = r, part;
        while (re_at(rx, tail)->kind == RE_SEQ && gm_load(&re_at(rx, tail)->clamp) == 0) {
            GM_PUSH(rx->mem, rx->search, re_at(rx, tail)->a);
            tail = re_at(rx, tail)->b;
        }
        GM_TRY(gm_re_clamp(rx, tail, &result, err));
        while (rx->search.len > base) {
            GM_TRY(gm_re_clamp(rx, rx->search.data[rx->search.len - 1], &part, err));
            rx->search.len--;
            GM_TRY(gm_re_seq(rx, part, result, &result, err));
        }
    }
    gm_store(&re_at(rx, r)->clamp, result + 1);
    *out = result;
    return GM_OK;
}
