/* Steps: reading a base with a terminal (gm_view.h). A walk over the trie below the entries of the base gathers
 * the tokens that end inside the terminal as ranges, and what follows a complete match as entries in vs->after.
 * A step is taken from the vocabulary when another constraint has made it (gm_shared), or made from the step
 * of a lexer state that differs little (gm_like), or else walked. */
#include "gm_view_entries.h"

#include <string.h>

enum { GM_SHARED_LEVELS = 1024 }; /* the same for steps by difference, which are made solid for that */
enum { GM_SHARED_NODES = 256 }; /* visited nodes from which a step is kept by the vocabulary: about 1 us */

/* -- walks ------------------------------------------------------------------------------------------ */

static GmStatus take_range(GmViews *vs, uint32_t from, uint32_t to, GmError *err)
{
    if (from == to) {
        return GM_OK;
    }
    if (vs->ranges.len > 0 && vs->ranges.data[vs->ranges.len - 1].to == from) {
        vs->ranges.data[vs->ranges.len - 1].to = to;
        return GM_OK;
    }
    GM_PUSH(vs->mem, vs->ranges, ((GmRange){from, to}));
    return GM_OK;
}

enum { WALK_CACHE = 16 }; /* lexer states met lately; a body and its escapes are five or six */

typedef struct WalkState { /* what a walk asks of a lexer state */
    uint32_t entry;      /* GM_RE_UNKNOWN: free */
    uint32_t cap;
    uint64_t groups;     /* of the loop; 0 where it must not be used */
    const GmRow *row;    /* NULL for single forms */
} WalkState;

typedef struct Walk {
    GmViews *vs;
    bool exempt;
    WalkState cache[WALK_CACHE];
} Walk;

static void walk_init(Walk *w, GmViews *vs, bool exempt)
{
    w->vs = vs;
    w->exempt = exempt;
    for (uint32_t i = 0; i < WALK_CACHE; i++) {
        w->cache[i].entry = GM_RE_UNKNOWN;
    }
}

static GmStatus walk_state_make(Walk *w, uint32_t entry, WalkState *out, GmError *err)
{
    GmRegex *rx = w->vs->rx;
    GmRe re = GM_RE_ID(entry);
    GmLoop loop;
    GM_TRY(gm_re_loop(rx, re, &loop, err));
    out->row = NULL;
    if (!gm_re_node(rx, re)->is_single) {
        GM_TRY(gm_re_row(rx, re, &out->row, err));
    }
    out->groups = (entry & GM_RE_NULLABLE) != 0 && w->exempt ? 0 : loop.groups;
    out->cap = loop.cap;
    out->entry = entry;
    return GM_OK;
}

static inline GmStatus walk_state(Walk *w, uint32_t entry, const WalkState **out, GmError *err)
{
    WalkState *slot = &w->cache[(entry ^ entry >> 4) % WALK_CACHE];
    *out = slot;
    return slot->entry == entry ? GM_OK : walk_state_make(w, entry, slot, err);
}

/* Are all tokens below the node read inside the terminal, with no boundary on the way? */
static inline bool takes_subtree(const GmTrie *trie, uint32_t node, const WalkState *state)
{
    return (trie->groups[node] & ~state->groups) == 0 && trie->nodes[node].height <= state->cap;
}

/* The terminal matches at `node`: what may follow. `debt` is what earlier terminals owe after its byte. */
static GmStatus leave_at(const Walk *w, uint32_t node, uint32_t entry, GmRe debt, GmError *err)
{
    GmRe owed = GM_RE_ID(entry);
    if (w->exempt || owed == GM_RE_EPS) {
        owed = GM_RE_EMPTY;
    }
    GM_TRY(gm_re_alt2(w->vs->rx, debt, owed, &owed, err));
    return gm_entries_under(w->vs, node, owed, err);
}

typedef struct Taken { /* tokens in a row, not yet in vs->ranges */
    uint32_t from, to;
} Taken;

static inline GmStatus take(GmViews *vs, Taken *taken, uint32_t from, uint32_t to, GmError *err)
{
    if (from == taken->to || from == to) {
        taken->to = from == to ? taken->to : to;
        return GM_OK;
    }
    GM_TRY(take_range(vs, taken->from, taken->to, err));
    *taken = (Taken){from, to};
    return GM_OK;
}

/* The next child of the level that is not dead, with the entry its byte leads to; GM_NONE after the last one. */
static inline GmStatus next_child(GmViews *vs, GmLevel *level, uint32_t *node, uint32_t *entry, GmError *err)
{
    const GmTrie *trie = vs->trie;
    *node = GM_NONE;
    if (level->row != NULL) {
        const uint8_t *class_of = level->row->classes->of;
        const uint32_t *entries = level->row->entry;
        while (level->at < level->to && *node == GM_NONE) {
            *entry = entries[class_of[trie->child_byte[level->at]]];
            *node = *entry != 0 ? trie->child[level->at] : GM_NONE;
            level->at++;
        }
    } else if (level->at < level->to) {
        const uint8_t *bytes = trie->child_byte, byte = gm_re_node(vs->rx, level->re)->first;
        const uint8_t *found = memchr(bytes + level->at, byte, level->to - level->at);
        level->at = level->to; /* there is no second one */
        if (found != NULL) {
            *node = trie->child[found - bytes];
            return gm_re_deriv(vs->rx, level->re, byte, entry, err);
        }
    }
    return GM_OK;
}

/* Read a subtree where nothing is owed, as nearly always: thousands of nodes, so what a node costs counts. */
static GmStatus walk_free(Walk *w, uint32_t top, uint32_t entry, GmError *err)
{
    GmViews *vs = w->vs;
    const GmTrie *trie = vs->trie;
    const GmTrieNode *nodes = trie->nodes;
    const WalkState *state = &w->cache[0];
    const uint32_t base = vs->level.len;
    GmLevel level = {NULL, 0, 0, GM_RE_EPS}; /* the innermost one; the others are in vs->level */
    Taken taken = {0, 0};
    uint64_t walked = 0;
    for (uint32_t c = top;;) {
        const uint32_t end = nodes[c].end;
        walked++;
        if (end == c + 1) {
            GM_TRY(take(vs, &taken, nodes[c].token, nodes[end].token, err));
        } else if (GM_RE_ID(entry) == GM_RE_EPS) {
            GM_TRY(take(vs, &taken, nodes[c].token, nodes[c + 1].token, err));
            GM_TRY(leave_at(w, c, entry, GM_RE_EMPTY, err));
        } else {
            if (state->entry != entry) {
                GM_TRY(walk_state(w, entry, &state, err));
            }
            const bool whole = takes_subtree(trie, c, state);
            GM_TRY(take(vs, &taken, nodes[c].token, nodes[whole ? end : c + 1].token, err));
            if (!whole) {
                GM_PUSH(vs->mem, vs->level, level);
                level = (GmLevel){state->row, trie->child_from[c], trie->child_from[c + 1], GM_RE_ID(entry)};
                if ((entry & GM_RE_NULLABLE) != 0) {
                    GM_TRY(leave_at(w, c, entry, GM_RE_EMPTY, err));
                }
            }
        }
        GM_TRY(next_child(vs, &level, &c, &entry, err));
        while (c == GM_NONE && vs->level.len > base) {
            level = vs->level.data[--vs->level.len];
            GM_TRY(next_child(vs, &level, &c, &entry, err));
        }
        if (c == GM_NONE) {
            vs->walked += walked;
            return take_range(vs, taken.from, taken.to, err);
        }
    }
}

/* The terminal has just read the byte of `node` and is in the state of `entry`, owing `debt`: the tokens that end here,
 * or all below when nothing is owed any more; else the node is opened, for its children to be read. */
static GmStatus arrive(Walk *w, uint32_t node, uint32_t entry, GmRe debt, GmError *err)
{
    GmViews *vs = w->vs;
    const GmTrieNode *nodes = vs->trie->nodes;
    if (debt == GM_RE_EMPTY) {
        return walk_free(w, node, entry, err);
    }
    GM_TRY(take_range(vs, nodes[node].token, nodes[node + 1].token, err));
    if (GM_RE_ID(entry) != GM_RE_EPS) {
        const WalkState *state;
        GM_TRY(walk_state(w, entry, &state, err));
        GM_PUSH(vs->mem, vs->open, ((GmOpen){state->row, nodes[node].end, GM_RE_ID(entry), debt}));
    }
    return (entry & GM_RE_NULLABLE) != 0 ? leave_at(w, node, entry, debt, err) : GM_OK;
}

/* Read the subtree of one entry, whose byte has led to `entry`: preorder, with a stack of open nodes, which owe. */
static GmStatus walk_entry(Walk *w, uint32_t top, uint32_t entry, GmRe debt, GmError *err)
{
    GmViews *vs = w->vs;
    const GmTrieNode *nodes = vs->trie->nodes;
    uint32_t base = vs->open.len, end = nodes[top].end;
    uint64_t walked = 0;
    GM_TRY(arrive(w, top, entry, debt, err));
    for (uint32_t c = top + 1; c < end && vs->open.len > base;) {
        const GmOpen *open = &vs->open.data[vs->open.len - 1];
        if (c >= open->end) {
            vs->open.len--;
            continue;
        }
        uint32_t next, before = vs->open.len;
        GmRe rest = GM_RE_EMPTY;
        walked++;
        if (open->row != NULL) {
            next = gm_row_at(open->row, nodes[c].byte);
        } else {
            GM_TRY(gm_re_deriv(vs->rx, open->re, nodes[c].byte, &next, err));
        }
        if (next != 0) {
            bool violated, bites;
            GM_TRY(gm_debt_step(vs, open->debt, nodes[c].byte, &rest, &violated, err));
            next = violated ? 0 : next;
            if (next != 0) {
                GM_TRY(gm_debt_bites(vs, c, rest, &bites, err));
                rest = bites ? rest : GM_RE_EMPTY;
            }
        }
        if (next == 0) {
            c = nodes[c].end;
            continue;
        }
        GM_TRY(arrive(w, c, next, rest, err));
        c = vs->open.len > before ? c + 1 : nodes[c].end;
    }
    vs->open.len = base;
    vs->walked += walked;
    return GM_OK;
}

/* Token ids of the ranges: a list when short, the complement cleared when nearly all. */
static GmStatus toks_of_ranges(GmViews *vs, GmToks *out, GmError *err)
{
    const GmTrie *trie = vs->trie;
    uint32_t count = 0, n = vs->ranges.len;
    for (uint32_t i = 0; i < n; i++) {
        count += vs->ranges.data[i].to - vs->ranges.data[i].from;
    }
    memset(out, 0, sizeof *out);
    void *p;
    if (count <= GM_SPARSE_MAX) {
        GM_RESERVE(vs->mem, vs->listed, count);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t t = vs->ranges.data[i].from; t < vs->ranges.data[i].to; t++) {
                vs->listed.data[out->n_ids++] = trie->ids[t];
            }
        }
        return gm_ids_keep(&vs->lists, vs->arena, vs->listed.data, count, &out->ids, err);
    }
    GM_TRY(gm_arena_alloc(vs->arena, trie->n_words * sizeof(uint32_t), &p, err));
    uint32_t *words = p;
    bool sorted = true;
    for (uint32_t i = 1; i < n; i++) {
        sorted = sorted && vs->ranges.data[i - 1].to <= vs->ranges.data[i].from;
    }
    if (sorted && count > trie->n_tokens / 2) {
        memcpy(words, trie->all, trie->n_words * sizeof(uint32_t));
        uint32_t from = 0;
        for (uint32_t i = 0; i <= n; i++) {
            uint32_t to = i < n ? vs->ranges.data[i].from : trie->n_tokens;
            for (uint32_t t = from; t < to; t++) {
                gm_bits_clear(words, trie->ids[t]);
            }
            from = i < n ? vs->ranges.data[i].to : to;
        }
        /* An id with several byte strings does not exist, so clearing one token clears one reading. */
    } else {
        memset(words, 0, trie->n_words * sizeof(uint32_t));
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t t = vs->ranges.data[i].from; t < vs->ranges.data[i].to; t++) {
                gm_bits_set(words, trie->ids[t]);
            }
        }
    }
    GM_TRY(gm_arena_alloc(vs->arena, sizeof(uint32_t *), &p, err));
    const uint32_t **list = p;
    list[0] = words;
    out->dense = (const uint32_t *const *)list;
    out->n_dense = 1;
    return GM_OK;
}

/* The view of a base that the vocabulary keeps: by reference. */
static GmStatus view_of_shared(GmViews *vs, const GmSharedBase *shared, uint32_t *view, GmError *err)
{
    *view = GM_VIEW_EMPTY;
    if (shared == NULL) {
        return GM_OK;
    }
    *view = gm_map_get(&vs->shared_map, shared->number);
    if (*view != GM_NONE) {
        return GM_OK;
    }
    uint32_t base;
    GM_TRY(gm_view_base_of_shared(vs, shared, &base, err));
    GM_TRY(gm_view_of(vs, &base, 1, view, err));
    return gm_map_put(&vs->shared_map, vs->mem, shared->number, *view, err);
}

static GmStatus step_add(GmViews *vs, uint32_t base, GmLex lex, const GmStep *made, uint32_t *step, GmError *err)
{
    void *p;
    GM_TRY(gm_pool_add(&vs->steps, vs->mem, step, &p, err));
    *(GmStep *)p = *made;
    if (vs->closing) {
        GM_TRY(gm_view_same_sets(vs, &((GmStep *)p)->inside, err));
    }
    return gm_map_put(&vs->step_map, vs->mem, gm_pair(base, lex), *step, err);
}

/* The first bucket whose byte is at least `byte`. */
static uint32_t find_bucket(const GmBase *base, uint8_t byte)
{
    uint32_t from = 0, to = base->n_buckets;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (base->buckets[mid].byte < byte) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    return from;
}

static void walk_reset(GmViews *vs) { vs->ranges.len = vs->open.len = vs->level.len = vs->open_bites.len = 0; }

GmStatus gm_step_subtrees(GmViews *vs, GmLex lex, const GmSubtree *top, uint32_t n, GmError *err)
{
    Walk w;
    walk_init(&w, vs, (lex & 1) != 0);
    walk_reset(vs);
    for (uint32_t i = 0; i < n; i++) {
        if (top[i].entry != 0) {
            GM_TRY(walk_entry(&w, top[i].node, top[i].entry, GM_RE_EMPTY, err));
        }
    }
    return GM_OK;
}

/* Read the entries of a base; tokens into vs->ranges, remainders onto vs->after. */
static GmStatus walk_base(GmViews *vs, uint32_t base, GmLex lex, GmError *err)
{
    Walk w;
    walk_init(&w, vs, (lex & 1) != 0);
    walk_reset(vs);
    const GmBase *b = gm_pool_at(&vs->bases, base);
    uint32_t first = 0, end = b->n_buckets;
    const GmReNode *language = gm_re_node(vs->rx, lex >> 1);
    if (language->is_single) { /* the buckets of one byte: 5,000 keywords must not look at 256 each */
        first = end = find_bucket(b, language->first);
        while (end < b->n_buckets && b->buckets[end].byte == language->first) {
            end++;
        }
    }
    for (uint32_t i = first; i < end; i++) {
        uint32_t entry;
        GM_TRY(gm_re_deriv(vs->rx, lex >> 1, b->buckets[i].byte, &entry, err));
        for (uint32_t j = b->buckets[i].start; entry != 0 && j < b->buckets[i].end; j++) {
            GM_TRY(walk_entry(&w, b->entries[j].node, entry, b->entries[j].debt, err));
        }
    }
    vs->walked += end - first;
    return GM_OK;
}

/* -- making steps ----------------------------------------------------------------------------------- */

/* Give a wide step to the vocabulary, if nothing is owed in what follows (debts are ids of this constraint). */
static const GmSharedStep *share_step(GmViews *vs, Hash128 key, const GmStep *made)
{
    const GmBase *base = NULL;
    if (made->after != GM_VIEW_EMPTY) {
        base = gm_pool_at(&vs->bases, gm_view_at(vs, made->after)->bases[0]);
        for (uint32_t i = 0; i < base->n_entries; i++) {
            if (base->entries[i].debt != GM_RE_EMPTY) {
                return NULL;
            }
        }
    }
    return gm_shared_keep(vs->shared, key, &made->inside, vs->trie->n_words, base ? base->entries : NULL,
                          base ? base->n_entries : 0, base ? base->buckets : NULL, base ? base->n_buckets : 0);
}

GmStatus gm_step_of(GmViews *vs, uint32_t base, GmLex lex, bool like, uint32_t *step, GmError *err)
{
    *step = gm_view_find_step(vs, base, lex);
    if (*step != GM_NONE) {
        return GM_OK;
    }
    bool shareable = base == GM_BASE_ROOT && vs->shared != NULL, found = false;
    Hash128 key = {0, 0};
    GmStep made = {{NULL, NULL, NULL, 0, 0, 0}, GM_VIEW_EMPTY, 0};
    const uint64_t before = vs->walked;
    if (like && vs->closing && base == GM_BASE_ROOT) { /* whatever the vocabulary has kept: tables must not depend on it */
        GM_TRY(gm_step_like(vs, lex, &made, &found, err));
    }
    if (shareable && !found) {
        key = gm_hash_join(gm_re_node(vs->rx, lex >> 1)->hash, lex & 1);
        const GmSharedStep *known = gm_shared_find(vs->shared, key);
        if (known != NULL) {
            made.inside = known->inside;
            GM_TRY(view_of_shared(vs, known->after, &made.after, err));
            return step_add(vs, base, lex, &made, step, err);
        }
    }
    if (vs->parts.len > 0 && !vs->closing) {
        GM_TRY(gm_step_of_part(vs, base, lex, &made, &found, err));
        if (found) {
            return step_add(vs, base, lex, &made, step, err);
        }
    }
    if (like && !vs->closing && base == GM_BASE_ROOT) {
        GM_TRY(gm_step_like(vs, lex, &made, &found, err));
    }
    if (!found) {
        uint32_t start = vs->after.len;
        GM_TRY(walk_base(vs, base, lex, err));
        GM_TRY(toks_of_ranges(vs, &made.inside, err));
        GM_TRY(gm_view_of_after(vs, start, base == GM_BASE_ROOT, &made.after, err));
    }
    if (shareable && !(found && vs->closing) && vs->walked - before >= (found ? GM_SHARED_LEVELS : GM_SHARED_NODES)) {
        GM_TRY(gm_step_solid(vs, &made, err));
        const GmSharedStep *kept = share_step(vs, key, &made);
        if (kept != NULL) { /* one identity for equal remainders */
            made.inside = kept->inside;
            GM_TRY(view_of_shared(vs, kept->after, &made.after, err));
        }
    }
    return step_add(vs, base, lex, &made, step, err);
}

GmStatus gm_view_step(GmViews *vs, uint32_t base, GmLex lex, uint32_t *step, GmError *err)
{
    GM_TRY(gm_step_of(vs, base, lex, true, step, err));
    if (vs->closing) {
        ((GmStep *)gm_pool_at(&vs->steps, *step))->asked = 1;
    }
    return GM_OK;
}
