/* Steps by difference (gm_view.h). Many lexer states do on nearly every text what another one does: a free key that
 * is still a prefix of a declared one, a pattern that is half found. Both are read down the trie together, only
 * where they are in different states; a subtree below which they agree is never entered. What is left are a few
 * *differing subtrees*: `"` after a declared key, say, which ends a free key but not this one. The step is then
 * the other one's, less the tokens and entries of those subtrees, plus what walking them gives.
 *
 * A counted repeat is like the same one without end: they agree on every text of at most so many characters, so only
 * where the trie is deeper than that they are compared at all. `maxLength` 60 costs what `maxLength` 80 has paid.
 *
 * Nothing is copied where it can be shared: tokens taken out are listed (GmToks.minus), and a base with entries
 * taken out refers to the other's entries, around the holes. */
#include "gm_view_entries.h"

#include <string.h>

enum { LIKE_TOP = 96 };      /* first bytes on which they may differ: more is another language */
enum { LIKE_LEVELS = 8192 }; /* trie nodes that are entered; a walk is better then */
enum { LIKE_COUNT = 12 };    /* a repeat that may go on for fewer characters is unlike: many tokens are longer */

static GmStatus add_subtree(GmViews *vs, uint32_t node, uint32_t entry, GmError *err)
{
    GM_PUSH(vs->mem, vs->differing, ((GmSubtree){node, entry}));
    return GM_OK;
}

/* May both be followed below the node, which the terminals have reached in these states? A boundary in one of
 * them makes what follows differ. */
static bool can_enter(const GmTrie *trie, uint32_t node, uint32_t a, uint32_t b)
{
    return a != 0 && b != 0 && ((a | b) & GM_RE_NULLABLE) == 0 && trie->nodes[node].end > node + 1;
}

/* For how many bytes do two states agree on what is alive and what matches? Two repeats of one body before one rest do
 * while both have iterations left, each of a byte at least. (Not so inside intersections: there the rest may be dead
 * already.) 0: not known to. */
static uint32_t agreed(const GmRegex *rx, GmRe a, GmRe b)
{
    const GmReNode *x = gm_re_node(rx, a), *y = gm_re_node(rx, b);
    while (x->kind == RE_SEQ && y->kind == RE_SEQ && x->a == y->a) {
        x = gm_re_node(rx, x->b);
        y = gm_re_node(rx, y->b);
    }
    if (x->kind == RE_SEQ && y->kind == RE_SEQ && x->b == y->b) {
        x = gm_re_node(rx, x->a);
        y = gm_re_node(rx, y->a);
    }
    if (x->kind != RE_REP || y->kind != RE_REP || x->a != y->a || x->b != y->b || gm_re_nullable(rx, x->a)) {
        return 0;
    }
    return x->c < y->c ? x->c : y->c;
}

/* Read two lexer states down the trie; the subtrees below which they differ, ascending, into vs->differing.
 * *found is false when there are too many. */
static GmStatus differ(GmViews *vs, GmRe mine, GmRe theirs, bool counted, bool *found, GmError *err)
{
    const GmTrie *trie = vs->trie;
    uint32_t levels = 0, top = 0;
    GmPair level;
    vs->differing.len = 0;
    vs->pairs.len = 0;
    *found = false;
    GM_TRY(gm_re_row(vs->rx, mine, &level.a, err));
    GM_TRY(gm_re_row(vs->rx, theirs, &level.b, err));
    level.at = 0;
    level.to = trie->child_from[1];
    for (;;) {
        while (level.at == level.to) {
            if (vs->pairs.len == 0) {
                vs->walked += levels;
                *found = true;
                return GM_OK;
            }
            level = vs->pairs.data[--vs->pairs.len];
        }
        const uint8_t byte = trie->child_byte[level.at];
        const uint32_t c = trie->child[level.at++], a = gm_row_at(level.a, byte), b = gm_row_at(level.b, byte);
        if (a == b) {
            continue;
        }
        const bool alive = a != 0 && b != 0 && ((a ^ b) & GM_RE_NULLABLE) == 0;
        if (alive && trie->nodes[c].height <= agreed(vs->rx, GM_RE_ID(a), GM_RE_ID(b))) {
            continue;
        }
        if (!counted && vs->pairs.len == 0 && ++top > LIKE_TOP) {
            return GM_OK;
        }
        if (!can_enter(trie, c, a, b)) {
            GM_TRY(add_subtree(vs, c, a, err));
            continue;
        }
        if (++levels > LIKE_LEVELS) {
            return GM_OK;
        }
        GM_PUSH(vs->mem, vs->pairs, level);
        GM_TRY(gm_re_row(vs->rx, GM_RE_ID(a), &level.a, err));
        GM_TRY(gm_re_row(vs->rx, GM_RE_ID(b), &level.b, err));
        level.at = trie->child_from[c];
        level.to = trie->child_from[c + 1];
    }
}

static uint32_t tokens_inside(const GmTrie *trie, const GmSubtree *top)
{
    return trie->nodes[trie->nodes[top->node].end].token - trie->nodes[top->node].token;
}

/* Ids of the tokens of the differing subtrees, which the other step may hold. */
static GmStatus list_minus(GmViews *vs, uint32_t n, const GmToks *other, GmToks *out, GmError *err)
{
    const GmTrie *trie = vs->trie;
    GM_RESERVE(vs->mem, vs->listed, (size_t)n + other->n_minus + 1); /* never NULL */
    uint32_t *ids = vs->listed.data;
    for (uint32_t i = 0; i < vs->differing.len; i++) {
        uint32_t from = trie->nodes[vs->differing.data[i].node].token, count = tokens_inside(trie, &vs->differing.data[i]);
        memcpy(ids + out->n_minus, trie->ids + from, count * sizeof *ids);
        out->n_minus += count;
    }
    if (other->n_minus > 0) {
        memcpy(ids + out->n_minus, other->minus, other->n_minus * sizeof *ids);
        out->n_minus += other->n_minus;
    }
    return gm_ids_keep(&vs->lists, vs->arena, ids, out->n_minus, &out->minus, err);
}

static bool listed(const uint32_t *ids, uint32_t n, uint32_t id)
{
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] == id) {
            return true;
        }
    }
    return false;
}

/* The tokens: the other's, less `minus`, plus the ranges just walked. */
static GmStatus list_plus(GmViews *vs, const GmToks *other, GmToks *out, GmError *err)
{
    uint32_t count = other->n_ids;
    for (uint32_t i = 0; i < vs->ranges.len; i++) {
        count += vs->ranges.data[i].to - vs->ranges.data[i].from;
    }
    if (count == 0) {
        return GM_OK;
    }
    GM_RESERVE(vs->mem, vs->listed, count);
    uint32_t *ids = vs->listed.data;
    for (uint32_t i = 0; i < other->n_ids; i++) {
        if (!listed(out->minus, out->n_minus, other->ids[i])) {
            ids[out->n_ids++] = other->ids[i];
        }
    }
    for (uint32_t i = 0; i < vs->ranges.len; i++) {
        for (uint32_t t = vs->ranges.data[i].from; t < vs->ranges.data[i].to; t++) {
            ids[out->n_ids++] = vs->trie->ids[t];
        }
    }
    return gm_ids_keep(&vs->lists, vs->arena, ids, out->n_ids, &out->ids, err);
}

/* Too many tokens to list: a set of its own. */
static GmStatus own_words(GmViews *vs, const GmToks *other, GmToks *out, GmError *err)
{
    const GmTrie *trie = vs->trie;
    void *p, *list;
    GM_TRY(gm_arena_zeroed(vs->arena, trie->n_words, sizeof(uint32_t), &p, err));
    uint32_t *words = p;
    gm_toks_or(other, words, trie->n_words);
    for (uint32_t i = 0; i < vs->differing.len; i++) {
        uint32_t from = trie->nodes[vs->differing.data[i].node].token, count = tokens_inside(trie, &vs->differing.data[i]);
        for (uint32_t t = from; t < from + count; t++) {
            gm_bits_clear(words, trie->ids[t]);
        }
    }
    for (uint32_t i = 0; i < vs->ranges.len; i++) {
        for (uint32_t t = vs->ranges.data[i].from; t < vs->ranges.data[i].to; t++) {
            gm_bits_set(words, trie->ids[t]);
        }
    }
    GM_TRY(gm_arena_alloc(vs->arena, sizeof(uint32_t *), &list, err));
    *(const uint32_t **)list = words;
    *out = (GmToks){NULL, list, NULL, 0, 1, 0};
    return GM_OK;
}

static GmStatus toks_like(GmViews *vs, const GmToks *other, uint32_t minus, GmToks *out, GmError *err)
{
    uint32_t plus = other->n_ids;
    for (uint32_t i = 0; i < vs->ranges.len; i++) {
        plus += vs->ranges.data[i].to - vs->ranges.data[i].from;
    }
    if (minus + other->n_minus > GM_MINUS_MAX || plus > GM_SPARSE_MAX) {
        return own_words(vs, other, out, err);
    }
    *out = (GmToks){NULL, other->dense, NULL, 0, other->n_dense, 0};
    GM_TRY(list_minus(vs, minus, other, out, err));
    GM_TRY(list_plus(vs, other, out, err));
    out->n_minus = out->n_dense > 0 ? out->n_minus : 0;
    return GM_OK;
}

/* Is the node in a differing subtree? */
static bool differs_at(const GmViews *vs, uint32_t node)
{
    uint32_t from = 0, to = vs->differing.len; /* the last one that starts at or before the node is before `from` */
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (vs->differing.data[mid].node <= node) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    return from > 0 && node < vs->trie->nodes[vs->differing.data[from - 1].node].end;
}

/* First entry of the stretch whose node is at least `node`. */
static uint32_t find_entry(const GmBase *base, uint32_t from, uint32_t to, uint32_t node)
{
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (base->entries[mid].node < node) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    return from;
}

/* Append the pieces of a sorted bucket that lie outside the differing subtrees to vs->pieces. */
static GmStatus bucket_less(GmViews *vs, const GmBase *base, GmBucket bucket, GmError *err)
{
    const GmTrieNode *nodes = vs->trie->nodes;
    uint32_t last = base->entries[bucket.end - 1].node;
    for (uint32_t i = 0; i < vs->differing.len && bucket.start < bucket.end; i++) {
        uint32_t node = vs->differing.data[i].node, end = nodes[node].end;
        if (node > last) {
            break;
        }
        if (end <= base->entries[bucket.start].node) {
            continue;
        }
        uint32_t from = find_entry(base, bucket.start, bucket.end, node);
        uint32_t to = find_entry(base, from, bucket.end, end);
        if (to == from) {
            continue;
        }
        if (from > bucket.start) {
            GM_PUSH(vs->mem, vs->pieces, ((GmBucket){bucket.start, from, bucket.byte}));
        }
        bucket.start = to;
    }
    if (bucket.start < bucket.end) {
        GM_PUSH(vs->mem, vs->pieces, bucket);
    }
    return GM_OK;
}

/* The part of a base that is left, by reference: buckets around the holes. */
static GmStatus base_around(GmViews *vs, const GmBase *b, uint32_t left, uint32_t *out, GmError *err)
{
    void *p;
    uint32_t n = vs->pieces.len;
    GM_TRY(gm_arena_alloc(vs->arena, n * sizeof(GmBucket), &p, err));
    memcpy(p, vs->pieces.data, n * sizeof(GmBucket));
    GmBase made = {b->entries, p, left, n, GM_BASE_SORTED};
    GM_TRY(gm_pool_add(&vs->bases, vs->mem, out, &p, err));
    *(GmBase *)p = made;
    return GM_OK;
}

static bool is_sorted(GmBase *b)
{
    if (b->order == GM_BASE_UNKNOWN) {
        b->order = GM_BASE_SORTED;
        for (uint32_t i = 0; i < b->n_buckets && b->order == GM_BASE_SORTED; i++) {
            for (uint32_t j = b->buckets[i].start + 1; j < b->buckets[i].end; j++) {
                if (b->entries[j - 1].node > b->entries[j].node) {
                    b->order = GM_BASE_UNSORTED;
                }
            }
        }
    }
    return b->order == GM_BASE_SORTED;
}

/* A base less the entries of the differing subtrees; GM_NONE when nothing is left. */
static GmStatus base_less(GmViews *vs, uint32_t base, uint32_t *out, GmError *err)
{
    GmBase *b = gm_pool_at(&vs->bases, base);
    uint32_t left = 0, start = vs->after.len;
    *out = GM_NONE;
    if (is_sorted(b)) {
        vs->pieces.len = 0;
        for (uint32_t i = 0; i < b->n_buckets; i++) {
            GM_TRY(bucket_less(vs, b, b->buckets[i], err));
        }
        for (uint32_t i = 0; i < vs->pieces.len; i++) {
            left += vs->pieces.data[i].end - vs->pieces.data[i].start;
        }
        if (left == b->n_entries) {
            *out = base;
            return GM_OK;
        }
        if (left > GM_BASE_SMALL) {
            return base_around(vs, b, left, out, err);
        }
    }
    for (uint32_t i = 0; i < b->n_buckets; i++) {
        for (uint32_t j = b->buckets[i].start; j < b->buckets[i].end; j++) {
            if (!differs_at(vs, b->entries[j].node)) {
                GM_PUSH(vs->mem, vs->after, b->entries[j]);
            }
        }
    }
    if (vs->after.len > start) {
        uint32_t view;
        GM_TRY(gm_view_of_after(vs, start, true, &view, err));
        *out = gm_view_at(vs, view)->bases[0];
    }
    return GM_OK;
}

/* What follows: the other's, less the differing subtrees, plus the entries from `start` on. */
static GmStatus after_like(GmViews *vs, uint32_t other, uint32_t start, uint32_t *out, GmError *err)
{
    uint32_t own, n = 0;
    GM_TRY(gm_view_of_after(vs, start, true, &own, err));
    const GmView *v = gm_view_at(vs, other), *more = gm_view_at(vs, own);
    GM_RESERVE(vs->mem, vs->joined, (size_t)v->n + more->n);
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t base;
        GM_TRY(base_less(vs, v->bases[i], &base, err));
        if (base != GM_NONE) {
            vs->joined.data[n++] = base;
        }
    }
    for (uint32_t i = 0; i < more->n; i++) {
        vs->joined.data[n++] = more->bases[i];
    }
    return gm_view_of(vs, vs->joined.data, n, out, err);
}

/* The same state without an end to its repeat; GM_RE_EMPTY when it has none, or one that is near. */
static GmStatus endless(GmViews *vs, GmRe re, GmRe *out, GmError *err)
{
    const GmReNode *node = gm_re_node(vs->rx, re), *rep = node->kind == RE_SEQ ? gm_re_node(vs->rx, node->a) : node;
    GmRe rest = node->kind == RE_SEQ ? node->b : GM_RE_EPS, body;
    *out = GM_RE_EMPTY;
    if (rep->kind != RE_REP || rep->c == GM_INF || rep->c < LIKE_COUNT || gm_re_nullable(vs->rx, rep->a)) {
        return GM_OK;
    }
    GM_TRY(gm_re_rep(vs->rx, rep->a, rep->b, GM_INF, &body, err));
    return gm_re_seq(vs->rx, body, rest, out, err);
}

GmStatus gm_step_like(GmViews *vs, GmLex lex, GmStep *made, bool *found, GmError *err)
{
    GmRe re = lex >> 1, other;
    uint32_t target, id, start = vs->after.len;
    *found = false;
    if (gm_re_node(vs->rx, re)->is_single) {
        return GM_OK;
    }
    GM_TRY(endless(vs, re, &other, err));
    const bool counted = other != GM_RE_EMPTY;
    if (!counted) {
        GM_TRY(gm_re_main_target(vs->rx, re, &target, err));
        other = GM_RE_ID(target);
        if (target == 0 || other == GM_RE_EPS || other == re) {
            return GM_OK;
        }
    }
    GM_TRY(differ(vs, re, other, counted, found, err));
    if (!*found) {
        return GM_OK;
    }
    GM_TRY(gm_step_of(vs, GM_BASE_ROOT, gm_lex(other, (lex & 1) != 0), false, &id, err));
    const GmStep step = *gm_step_at(vs, id);
    uint32_t minus = 0;
    for (uint32_t i = 0; i < vs->differing.len; i++) {
        minus += tokens_inside(vs->trie, &vs->differing.data[i]);
    }
    if (step.inside.n_dense == 0 && minus > GM_MINUS_MAX) { /* it is narrow and unlike: this one is soon walked */
        *found = false;
        return GM_OK;
    }
    GM_TRY(gm_step_subtrees(vs, lex, vs->differing.data, vs->differing.len, err));
    GM_TRY(toks_like(vs, &step.inside, minus, &made->inside, err));
    return after_like(vs, step.after, start, &made->after, err);
}

static GmStatus solid_after(GmViews *vs, uint32_t *view, GmError *err)
{
    const GmView *v = gm_view_at(vs, *view);
    if (v->n == 0) {
        return GM_OK;
    }
    const GmBase *first = gm_pool_at(&vs->bases, v->bases[0]);
    if (v->n == 1 && first->buckets[first->n_buckets - 1].end - first->buckets[0].start == first->n_entries) {
        return GM_OK;
    }
    uint32_t start = vs->after.len;
    for (uint32_t i = 0; i < v->n; i++) {
        const GmBase *b = gm_pool_at(&vs->bases, v->bases[i]);
        GM_RESERVE(vs->mem, vs->after, (size_t)vs->after.len + b->n_entries);
        for (uint32_t k = 0; k < b->n_buckets; k++) {
            const uint32_t n = b->buckets[k].end - b->buckets[k].start;
            memcpy(vs->after.data + vs->after.len, b->entries + b->buckets[k].start, n * sizeof(GmEntry));
            vs->after.len += n;
        }
    }
    return gm_view_of_after(vs, start, true, view, err);
}

GmStatus gm_step_solid(GmViews *vs, GmStep *made, GmError *err)
{
    if (made->inside.n_minus > 0) {
        vs->differing.len = vs->ranges.len = 0;
        GM_TRY(own_words(vs, &made->inside, &made->inside, err));
    }
    return solid_after(vs, &made->after, err);
}
