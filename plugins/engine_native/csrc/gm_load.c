#include "gm_tables.h"

#include <string.h>

typedef struct Load {
    GmCore *core;
    GmReader in;
    GmMem mem;
    GmArena arena; /* for the numbering; tables go into the arena of the core */
    GmRe *re;
    const uint32_t **sets; /* from one before the first: all tokens */
    uint32_t *base, *view;
    uint16_t *tall;   /* by base number: bytes of the longest remainder, its own first one included */
    uint16_t *tallest; /* by view number */
    GmToks *toks;
    uint32_t n_re, n_sets, n_bases, n_views, n_toks; /* those that may be named so far */
    GM_VEC(uint32_t) list;
} Load;

static GmStatus room(Load *l, uint32_t n, size_t size, void *out, GmError *err)
{
    void *p;
    GM_TRY(gm_arena_zeroed(&l->arena, n, size, &p, err));
    memcpy(out, &p, sizeof p);
    return GM_OK;
}

/* The next number, below `end`. */
static GmStatus below(Load *l, uint32_t end, uint32_t *out, GmError *err)
{
    return end == 0 ? gm_read_bad(err) : gm_read_number(&l->in, end - 1, out, err);
}

static GmStatus list_below(Load *l, uint32_t n, uint32_t end, GmError *err)
{
    GM_RESERVE(&l->mem, l->list, n);
    l->list.len = n;
    return gm_read_list(&l->in, n, end, l->list.data, err);
}

/* -- lexer states ----------------------------------------------------------------------------------------- */

/* Texts [low, high) of a table agree on their first `depth` bytes; they are sorted, so the outermost ones decide. */
static bool lits_agree(const GmLits *lits, uint32_t low, uint32_t high, uint32_t depth)
{
    return low < high && high <= lits->n && depth <= lits->len[low] && depth <= lits->len[high - 1] &&
           memcmp(lits->text[low], lits->text[high - 1], depth) == 0;
}

static GmStatus load_text(Load *l, const uint8_t **text, uint32_t *len, GmError *err)
{
    uint32_t drop;
    GM_TRY(gm_read_number(&l->in, UINT32_MAX, &drop, err));
    if (drop == 0) {
        const uint8_t *bytes;
        void *p;
        GM_TRY(gm_read_count(&l->in, len, err));
        GM_TRY(gm_read_bytes(&l->in, *len, &bytes, err));
        GM_TRY(gm_arena_alloc(&l->core->arena, *len, &p, err));
        if (*len > 0) {
            memcpy(p, bytes, *len);
        }
        *text = p;
    } else if (drop < *len) {
        *text += drop;
        *len -= drop;
    } else {
        return gm_read_bad(err);
    }
    return GM_OK;
}

static GmStatus load_set_of_bytes(Load *l, GmRe *out, GmError *err)
{
    const uint8_t *bytes;
    GmByteSet set = {{0, 0, 0, 0}};
    GM_TRY(gm_read_bytes(&l->in, 32, &bytes, err));
    for (uint32_t i = 0; i < 32; i++) {
        set.w[i / 8] |= (uint64_t)bytes[i] << (8 * (i % 8));
    }
    return gm_re_set(&l->core->rx, &set, out, err);
}

static GmStatus load_re(Load *l, GmRe *out, GmError *err)
{
    GmRegex *rx = &l->core->rx;
    uint32_t kind, a, b, n[4];
    GM_TRY(gm_read_number(&l->in, RE_AUT, &kind, err));
    switch ((GmReKind)kind) {
    case RE_SET:
        return load_set_of_bytes(l, out, err);
    case RE_LITS:
        GM_TRY(below(l, rx->lits.len, &n[0], err));
        for (uint32_t i = 1; i < 4; i++) {
            GM_TRY(gm_read_number(&l->in, UINT32_MAX, &n[i], err));
        }
        if (!lits_agree(gm_pool_at(&rx->lits, n[0]), n[1], n[2], n[3])) {
            return gm_read_bad(err);
        }
        return gm_re_lits(rx, n[0], n[1], n[2], n[3], out, err);
    case RE_SEQ:
    case RE_AND:
    case RE_SUB:
        GM_TRY(below(l, l->n_re, &a, err));
        GM_TRY(below(l, l->n_re, &b, err));
        return kind == RE_SEQ   ? gm_re_seq(rx, l->re[a], l->re[b], out, err)
               : kind == RE_AND ? gm_re_and(rx, l->re[a], l->re[b], out, err)
                                : gm_re_sub(rx, l->re[a], l->re[b], out, err);
    case RE_REP:
        GM_TRY(below(l, l->n_re, &a, err));
        GM_TRY(gm_read_number(&l->in, UINT32_MAX - 1, &n[0], err));
        GM_TRY(gm_read_number(&l->in, UINT32_MAX - 1, &n[1], err));
        n[1] = n[1] == 0 ? GM_INF : n[1];
        return n[0] <= n[1] ? gm_re_rep(rx, l->re[a], n[0], n[1], out, err) : gm_read_bad(err);
    case RE_ALT:
        GM_TRY(gm_read_count(&l->in, &n[0], err));
        GM_TRY(list_below(l, n[0], l->n_re, err));
        for (uint32_t i = 0; i < n[0]; i++) {
            l->list.data[i] = l->re[l->list.data[i]];
        }
        return gm_re_alt(rx, l->list.data, n[0], out, err);
    case RE_AUT:
        GM_TRY(below(l, rx->auts.len, &n[0], err));
        GM_TRY(below(l, ((const GmAut *)gm_pool_at(&rx->auts, n[0]))->n_states, &n[1], err));
        return gm_re_aut(rx, n[0], n[1], out, err);
    default:
        return gm_read_bad(err);
    }
}

static GmStatus load_res(Load *l, GmError *err)
{
    uint32_t n_texts, n_others, len = 0;
    const uint8_t *text = NULL;
    GM_TRY(gm_read_count(&l->in, &n_texts, err));
    GM_TRY(gm_read_count(&l->in, &n_others, err));
    if (n_others > (size_t)(l->in.end - l->in.at) - n_texts) {
        return gm_read_bad(err);
    }
    GM_TRY(room(l, n_texts + n_others + 2, sizeof *l->re, &l->re, err));
    l->re[GM_RE_EMPTY] = GM_RE_EMPTY;
    l->re[GM_RE_EPS] = GM_RE_EPS;
    for (l->n_re = 2; l->n_re < n_texts + n_others + 2; l->n_re++) {
        GmRe *out = &l->re[l->n_re];
        if (l->n_re < n_texts + 2) {
            GM_TRY(load_text(l, &text, &len, err));
            GM_TRY(gm_re_lit(&l->core->rx, text, len, out, err));
        } else {
            GM_TRY(load_re(l, out, err));
        }
    }
    return GM_OK;
}

/* -- sets ---------------------------------------------------------------------------------------------------- */

static GmStatus load_set(Load *l, uint32_t *words, size_t *told, GmError *err)
{
    const GmTrie *trie = l->core->trie;
    uint32_t back, n, id = 0;
    GM_TRY(below(l, (l->n_sets + 1 < GM_TABLES_BACK ? l->n_sets + 1 : GM_TABLES_BACK) + 1, &back, err));
    if (back == 0) {
        const uint8_t *bytes;
        GM_TRY(gm_read_bytes(&l->in, trie->n_words * (size_t)4, &bytes, err));
        for (uint32_t i = 0; i < trie->n_words; i++, bytes += 4) {
            words[i] = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        }
    } else {
        *told += trie->n_words * sizeof *words;
        if (*told > GM_TABLES_SETS_FREE) {
            return gm_read_bad(err);
        }
        memcpy(words, (l->sets + l->n_sets)[-(int)back], trie->n_words * sizeof *words);
        GM_TRY(gm_read_count(&l->in, &n, err));
        for (uint32_t i = 0; i < n; i++) {
            uint32_t more;
            GM_TRY(below(l, 32 * trie->n_words - id, &more, err));
            id += more;
            words[id >> 5] ^= (uint32_t)1 << (id & 31);
            id++;
        }
    }
    for (uint32_t i = 0; i < trie->n_words; i++) {
        if ((words[i] & ~trie->all[i]) != 0) {
            return gm_read_bad(err);
        }
    }
    return GM_OK;
}

static GmStatus load_sets(Load *l, GmError *err)
{
    uint32_t n;
    size_t told = 0;
    GM_TRY(gm_read_count(&l->in, &n, err));
    GM_TRY(room(l, n + 1, sizeof *l->sets, &l->sets, err));
    *l->sets++ = l->core->trie->all;
    for (l->n_sets = 0; l->n_sets < n; l->n_sets++) {
        void *words;
        GM_TRY(gm_arena_alloc(&l->core->arena, l->core->trie->n_words * sizeof(uint32_t), &words, err));
        GM_TRY(load_set(l, words, &told, err));
        l->sets[l->n_sets] = words;
    }
    return GM_OK;
}

/* -- bases and views -------------------------------------------------------------------------------------------- */

static GmStatus load_base(Load *l, uint32_t *base, uint16_t *tall, GmError *err)
{
    const GmTrie *trie = l->core->trie;
    uint32_t n, node = 0, owes;
    GM_TRY(gm_read_count(&l->in, &n, err));
    GmEntry *entries;
    void *p = NULL;
    GM_TRY(gm_mem_resize(&l->mem, &p, 0, ((size_t)n + 1) * sizeof(GmEntry), err));
    entries = p;
    GmStatus status = GM_OK;
    *tall = 0;
    for (uint32_t i = 0; i < n && status == GM_OK; i++) {
        uint32_t more = 0;
        status = below(l, trie->n_nodes - node, &more, err);
        node += more;
        status = status == GM_OK && node == 0 ? gm_read_bad(err) : status;
        entries[i] = (GmEntry){node, GM_RE_EMPTY};
        *tall = trie->nodes[node].height + 1 > *tall ? (uint16_t)(trie->nodes[node].height + 1) : *tall;
    }
    status = status == GM_OK ? below(l, 2, &owes, err) : status;
    for (uint32_t i = 0; i < n && status == GM_OK && owes != 0; i++) {
        uint32_t debt;
        status = below(l, l->n_re, &debt, err);
        entries[i].debt = status == GM_OK ? l->re[debt] : GM_RE_EMPTY;
    }
    for (uint32_t i = 1; i < n && status == GM_OK; i++) { /* a node again only with another debt */
        if (entries[i].node == entries[i - 1].node && entries[i].debt == entries[i - 1].debt) {
            status = gm_read_bad(err);
        }
    }
    if (status == GM_OK) {
        status = n > 0 ? gm_view_base(&l->core->views, entries, n, base, err) : gm_read_bad(err);
    }
    gm_mem_free(&l->mem, entries, ((size_t)n + 1) * sizeof(GmEntry));
    return status;
}

static GmStatus load_bases(Load *l, GmError *err)
{
    uint32_t n;
    GM_TRY(gm_read_count(&l->in, &n, err));
    GM_TRY(room(l, n + 1, sizeof *l->base, &l->base, err));
    GM_TRY(room(l, n + 1, sizeof *l->tall, &l->tall, err));
    l->base[GM_BASE_ROOT] = GM_BASE_ROOT;
    l->tall[GM_BASE_ROOT] = UINT16_MAX;
    for (l->n_bases = 1; l->n_bases < n + 1; l->n_bases++) {
        GM_TRY(load_base(l, &l->base[l->n_bases], &l->tall[l->n_bases], err));
    }
    return GM_OK;
}

static GmStatus load_views(Load *l, GmError *err)
{
    uint32_t n;
    GM_TRY(gm_read_count(&l->in, &n, err));
    GM_TRY(room(l, n + 2, sizeof *l->view, &l->view, err));
    GM_TRY(room(l, n + 2, sizeof *l->tallest, &l->tallest, err));
    l->view[GM_VIEW_EMPTY] = GM_VIEW_EMPTY;
    l->view[GM_VIEW_ROOT] = GM_VIEW_ROOT;
    l->tallest[GM_VIEW_ROOT] = UINT16_MAX;
    for (l->n_views = 2; l->n_views < n + 2; l->n_views++) {
        uint32_t bases;
        uint16_t *tallest = &l->tallest[l->n_views];
        GM_TRY(gm_read_count(&l->in, &bases, err));
        GM_TRY(list_below(l, bases, l->n_bases, err));
        for (uint32_t i = 0; i < bases; i++) {
            uint16_t tall = l->tall[l->list.data[i]];
            *tallest = tall > *tallest ? tall : *tallest;
            l->list.data[i] = l->base[l->list.data[i]];
        }
        GM_TRY(gm_view_of(&l->core->views, l->list.data, bases, &l->view[l->n_views], err));
    }
    return GM_OK;
}

/* -- steps and summaries ------------------------------------------------------------------------------------------ */

/* Distinct ids of tokens. */
static GmStatus load_ids(Load *l, uint32_t most, const uint32_t **out, uint32_t *n, GmError *err)
{
    const GmTrie *trie = l->core->trie;
    void *p;
    GM_TRY(gm_read_count(&l->in, n, err));
    if (*n == 0) {
        return GM_OK;
    }
    if (*n > most) {
        return gm_read_bad(err);
    }
    GM_TRY(gm_arena_alloc(&l->core->arena, *n * sizeof(uint32_t), &p, err));
    GM_TRY(gm_read_list(&l->in, *n, 32 * trie->n_words, p, err));
    *out = p;
    for (uint32_t i = 0; i < *n; i++) {
        if ((trie->all[(*out)[i] >> 5] >> ((*out)[i] & 31) & 1) == 0) {
            return gm_read_bad(err);
        }
    }
    return GM_OK;
}

static GmStatus load_one_toks(Load *l, GmToks *out, GmError *err)
{
    void *p;
    memset(out, 0, sizeof *out);
    GM_TRY(load_ids(l, UINT32_MAX, &out->ids, &out->n_ids, err));
    GM_TRY(gm_read_count(&l->in, &out->n_dense, err));
    if (out->n_dense > 0) {
        GM_TRY(list_below(l, out->n_dense, l->n_sets, err));
        GM_TRY(gm_arena_alloc(&l->core->arena, out->n_dense * sizeof(uint32_t *), &p, err));
        for (uint32_t i = 0; i < out->n_dense; i++) {
            ((const uint32_t **)p)[i] = l->sets[l->list.data[i]];
        }
        out->dense = p;
    }
    return load_ids(l, out->n_dense > 0 ? GM_MINUS_MAX : 0, &out->minus, &out->n_minus, err);
}

static GmStatus load_toks(Load *l, GmError *err)
{
    uint32_t n;
    GM_TRY(gm_read_count(&l->in, &n, err));
    GM_TRY(room(l, n, sizeof *l->toks, &l->toks, err));
    for (l->n_toks = 0; l->n_toks < n; l->n_toks++) {
        GM_TRY(load_one_toks(l, &l->toks[l->n_toks], err));
    }
    return GM_OK;
}

static GmStatus load_step(Load *l, uint32_t base, uint32_t key, GmError *err)
{
    GmViews *vs = &l->core->views;
    GmStep made = {{NULL, NULL, NULL, 0, 0, 0}, GM_VIEW_EMPTY, 1};
    uint32_t toks, after, id;
    void *p;
    GM_TRY(below(l, l->n_toks, &toks, err));
    GM_TRY(below(l, l->n_views, &after, err));
    if (l->tallest[after] >= l->tall[base] || key >> 1 >= l->n_re) {
        return gm_read_bad(err);
    }
    made.inside = l->toks[toks];
    made.after = l->view[after];
    uint64_t pair = gm_pair(l->base[base], gm_lex(l->re[key >> 1], (key & 1) != 0));
    if (gm_map_get(&vs->step_map, pair) != GM_NONE) {
        return gm_read_bad(err);
    }
    GM_TRY(gm_pool_add(&vs->steps, vs->mem, &id, &p, err));
    *(GmStep *)p = made;
    return gm_map_put(&vs->step_map, vs->mem, pair, id, err);
}

static GmStatus load_summary(Load *l, uint32_t base, uint32_t key, GmError *err)
{
    GmCore *core = l->core;
    GmSummary made;
    uint32_t toks, moved, rest, id;
    void *p;
    GM_TRY(below(l, l->n_toks, &toks, err));
    GM_TRY(below(l, l->n_views, &moved, err));
    GM_TRY(below(l, l->n_views, &rest, err));
    if (key >= core->net.states.len || l->tallest[moved] >= l->tall[base] || l->tallest[rest] > l->tall[base] ||
        (!gm_net_final(&core->net, key) && rest != moved)) {
        return gm_read_bad(err);
    }
    made.toks = l->toks[toks];
    made.moved = l->view[moved];
    made.rest = l->view[rest];
    uint64_t pair = gm_pair(l->base[base], key);
    if (gm_map_get(&core->summary_map, pair) != GM_NONE) {
        return gm_read_bad(err);
    }
    GM_TRY(gm_pool_add(&core->summaries, &core->mem, &id, &p, err));
    *(GmSummary *)p = made;
    return gm_map_put(&core->summary_map, &core->mem, pair, id, err);
}

static GmStatus load_rows(Load *l, bool steps, GmError *err)
{
    uint32_t n, base = 0, key = 0;
    GM_TRY(gm_read_count(&l->in, &n, err));
    GM_TRY(gm_map_reserve(steps ? &l->core->views.step_map : &l->core->summary_map, &l->core->mem, n, err));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t more, next;
        GM_TRY(below(l, l->n_bases - base, &more, err));
        GM_TRY(gm_read_number(&l->in, UINT32_MAX - (more == 0 ? key : 0), &next, err));
        base += more;
        key = more == 0 ? key + next : next;
        GM_TRY(steps ? load_step(l, base, key, err) : load_summary(l, base, key, err));
    }
    return GM_OK;
}

static GmStatus load_wholes(Load *l, GmError *err)
{
    GmViews *vs = &l->core->views;
    uint32_t n;
    GM_TRY(gm_read_count(&l->in, &n, err));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t debt, view;
        GM_TRY(below(l, l->n_re, &debt, err));
        GM_TRY(below(l, l->n_views, &view, err));
        GmWhole whole = {l->re[debt], l->view[view]};
        if (whole.debt == GM_RE_EMPTY || gm_map_get(&vs->whole_map, whole.debt) != GM_NONE) {
            return gm_read_bad(err);
        }
        GM_PUSH(vs->mem, vs->wholes, whole);
        GM_TRY(gm_map_put(&vs->whole_map, vs->mem, whole.debt, whole.view, err));
    }
    return GM_OK;
}

static GmStatus load_all(Load *l, GmError *err)
{
    GmCore *core = l->core;
    uint32_t version, nodes, words, states;
    GM_TRY(gm_read_number(&l->in, UINT32_MAX, &version, err));
    if (version != GM_TABLES_VERSION) {
        return gm_fail(err, GM_VERSION, "saved tables of version %u, this engine reads %d; compile the grammar anew", version,
                       GM_TABLES_VERSION);
    }
    GM_TRY(gm_read_number(&l->in, UINT32_MAX, &nodes, err));
    GM_TRY(gm_read_number(&l->in, UINT32_MAX, &words, err));
    GM_TRY(gm_read_number(&l->in, UINT32_MAX, &states, err));
    const uint8_t *key;
    uint64_t expected = gm_tables_key(&core->net.nfa.module);
    bool same = true;
    GM_TRY(gm_read_bytes(&l->in, 8, &key, err));
    for (uint32_t i = 0; i < 8; i++) {
        same = same && key[i] == (uint8_t)(expected >> (8 * i));
    }
    if (!same || nodes != core->trie->n_nodes || words != core->trie->n_words || states != core->net.states.len) {
        return gm_fail(err, GM_FORMAT, "the saved tables of the engine belong to another vocabulary or grammar");
    }
    GM_TRY(load_res(l, err));
    GM_TRY(load_sets(l, err));
    GM_TRY(load_bases(l, err));
    GM_TRY(load_views(l, err));
    GM_TRY(load_toks(l, err));
    GM_TRY(load_rows(l, true, err));
    GM_TRY(load_rows(l, false, err));
    GM_TRY(load_wholes(l, err));
    if (l->in.at != l->in.end) {
        return gm_read_bad(err);
    }
    core->closed = (GmClosed){true, core->views.steps.len, core->summaries.len, core->views.wholes.len, states};
    return GM_OK;
}

GmStatus gm_tables_load(GmCore *core, const GmFillLimits *limits, const uint8_t *data, uint64_t n, GmError *err)
{
    Load l;
    memset(&l, 0, sizeof l);
    l.core = core;
    l.in = (GmReader){data, data + n};
    GM_TRY(gm_static_network(core, limits, err));
    gm_mem_init_like(&l.mem, &core->mem, core->mem.limit, core->mem.limit_name);
    gm_arena_init(&l.arena, &l.mem);
    gm_core_lock(core);
    core->views.closing = true; /* large bases are interned, as they were */
    GmStatus status = load_all(&l, err);
    core->views.closing = false;
    gm_core_unlock(core);
    GM_VEC_FREE(&l.mem, l.list);
    gm_arena_deinit(&l.arena);
    return status;
}
