#include "gm_analyse.h"

#include <string.h>

/* Incoming edges by state and calls by rule, as linked lists through the edges. Those of a prefix are left out; other
 * states lead into it by calls only, and to the end. */
typedef struct Reverse {
    GmNfa *nfa;
    uint32_t *head;      /* per state: edge + 1 */
    uint32_t *next;      /* per edge */
    uint32_t *source;    /* per edge */
    uint32_t *call_head; /* per rule: edge + 1 */
    uint32_t *call_next; /* per edge */
    uint32_t *entry_head, *entry_next; /* per state, per rule: rule + 1 */
    GM_VEC(uint32_t) todo;
} Reverse;

static GmStatus reverse_init(Reverse *rev, GmNfa *nfa, GmArena *arena, GmError *err)
{
    uint32_t n_states = nfa->states.len, n_edges = nfa->edges.len, n_rules = nfa->rules.len;
    void *p;
    memset(rev, 0, sizeof *rev);
    rev->nfa = nfa;
    GM_TRY(gm_arena_zeroed(arena, (size_t)n_states * 2 + n_rules, sizeof(uint32_t), &p, err));
    rev->head = p;
    rev->entry_head = rev->head + n_states;
    rev->call_head = rev->entry_head + n_states;
    GM_TRY(gm_arena_alloc(arena, ((size_t)n_edges * 3 + n_rules) * sizeof(uint32_t), &p, err)); /* written before read */
    rev->next = p;
    rev->source = rev->next + n_edges;
    rev->call_next = rev->source + n_edges;
    rev->entry_next = rev->call_next + n_edges;
    for (uint32_t s = gm_nfa_old_states(nfa); s < n_states; s++) {
        for (uint32_t e = nfa->states.data[s].edges; e != GM_NONE; e = nfa->edges.data[e].next) {
            const GmNfaEdge *edge = &nfa->edges.data[e];
            rev->source[e] = s;
            rev->next[e] = rev->head[edge->to];
            rev->head[edge->to] = e + 1;
            if (edge->kind == GM_EDGE_CALL) {
                rev->call_next[e] = rev->call_head[edge->sym];
                rev->call_head[edge->sym] = e + 1;
            }
        }
    }
    for (uint32_t r = gm_nfa_old_rules(nfa); r < n_rules; r++) {
        uint32_t entry = nfa->rules.data[r].entry;
        rev->entry_next[r] = rev->entry_head[entry];
        rev->entry_head[entry] = r + 1;
    }
    return GM_OK;
}

static bool skips(const GmNfa *nfa, const GmNfaEdge *edge)
{
    return edge->kind == GM_EDGE_EPS || (edge->kind == GM_EDGE_CALL && nfa->rules.data[edge->sym].nullable);
}

static GmStatus mark_ends(Reverse *rev, uint32_t s, GmError *err)
{
    GmNfaState *state = &rev->nfa->states.data[s];
    if (!state->ends) {
        state->ends = state->alive = 1;
        GM_PUSH(rev->nfa->mem, rev->todo, s);
    }
    return GM_OK;
}

static GmStatus find_nullable_rules(Reverse *rev, GmError *err)
{
    GmNfa *nfa = rev->nfa;
    GM_TRY(mark_ends(rev, GM_NFA_END, err));
    while (rev->todo.len > 0) {
        uint32_t s = rev->todo.data[--rev->todo.len];
        GM_TRY(gm_mem_tick(rev->nfa->mem, err));
        for (uint32_t e = rev->head[s]; e != 0; e = rev->next[e - 1]) {
            if (skips(nfa, &nfa->edges.data[e - 1])) {
                GM_TRY(mark_ends(rev, rev->source[e - 1], err));
            }
        }
        for (uint32_t r = rev->entry_head[s]; r != 0; r = rev->entry_next[r - 1]) {
            nfa->rules.data[r - 1].nullable = 1;
            for (uint32_t e = rev->call_head[r - 1]; e != 0; e = rev->call_next[e - 1]) {
                if (nfa->states.data[nfa->edges.data[e - 1].to].ends) {
                    GM_TRY(mark_ends(rev, rev->source[e - 1], err));
                }
            }
        }
    }
    return GM_OK;
}

/* Raise a state's marks; queue it when something is new. */
static GmStatus mark_moves(Reverse *rev, uint32_t s, bool moves, GmError *err)
{
    GmNfaState *state = &rev->nfa->states.data[s];
    if (!state->alive || (moves && !state->moves)) {
        state->alive = 1;
        state->moves |= moves;
        GM_PUSH(rev->nfa->mem, rev->todo, s);
    }
    return GM_OK;
}

static GmStatus mark_source(Reverse *rev, uint32_t e, GmError *err)
{
    const GmNfa *nfa = rev->nfa;
    const GmNfaEdge *edge = &nfa->edges.data[e];
    if (edge->kind != GM_EDGE_EPS && (edge->kind != GM_EDGE_CALL || nfa->rules.data[edge->sym].useful)) {
        GM_TRY(mark_moves(rev, rev->source[e], true, err));
    }
    if (skips(nfa, edge)) {
        GM_TRY(mark_moves(rev, rev->source[e], nfa->states.data[edge->to].moves, err));
    }
    return GM_OK;
}

static GmStatus find_useful_rules(Reverse *rev, GmError *err)
{
    GmNfa *nfa = rev->nfa;
    GM_PUSH(nfa->mem, rev->todo, GM_NFA_END);
    for (uint32_t s = gm_nfa_old_states(nfa); s < nfa->states.len; s++) {
        if (nfa->states.data[s].alive) {
            GM_PUSH(nfa->mem, rev->todo, s);
        }
    }
    while (rev->todo.len > 0) {
        uint32_t s = rev->todo.data[--rev->todo.len];
        GM_TRY(gm_mem_tick(rev->nfa->mem, err));
        for (uint32_t e = rev->head[s]; e != 0; e = rev->next[e - 1]) {
            GM_TRY(mark_source(rev, e - 1, err));
        }
        for (uint32_t r = rev->entry_head[s]; r != 0; r = rev->entry_next[r - 1]) {
            if (!nfa->states.data[s].moves || nfa->rules.data[r - 1].useful) {
                continue;
            }
            nfa->rules.data[r - 1].useful = 1;
            for (uint32_t e = rev->call_head[r - 1]; e != 0; e = rev->call_next[e - 1]) {
                if (nfa->states.data[nfa->edges.data[e - 1].to].alive) {
                    GM_TRY(mark_source(rev, e - 1, err));
                }
            }
        }
    }
    return GM_OK;
}

/* -- left-recursive groups ---------------------------------------------------------------------------- */

typedef struct Tarjan {
    uint32_t *number, *low, *stacked; /* per rule; number 0 = not seen */
    uint32_t *seen;                   /* per state: number of the rule whose closure saw it last, + 1 */
    GM_VEC(uint32_t) path, calls, todo, open; /* open: (rule, first call, cursor, end) quadruples */
    uint32_t count;
} Tarjan;

/* Rules that `rule` may start with, appended to t->calls. */
static GmStatus left_calls(const GmNfa *nfa, Tarjan *t, uint32_t rule, GmError *err)
{
    t->todo.len = 0;
    GM_PUSH(nfa->mem, t->todo, nfa->rules.data[rule].entry);
    t->seen[nfa->rules.data[rule].entry] = rule + 1;
    while (t->todo.len > 0) {
        uint32_t s = t->todo.data[--t->todo.len];
        for (uint32_t e = nfa->states.data[s].edges; e != GM_NONE; e = nfa->edges.data[e].next) {
            const GmNfaEdge *edge = &nfa->edges.data[e];
            if (edge->kind == GM_EDGE_CALL && nfa->rules.data[edge->sym].useful && nfa->states.data[edge->to].alive) {
                GM_PUSH(nfa->mem, t->calls, edge->sym);
            }
            if (skips(nfa, edge) && t->seen[edge->to] != rule + 1) {
                t->seen[edge->to] = rule + 1;
                GM_PUSH(nfa->mem, t->todo, edge->to);
            }
        }
    }
    return GM_OK;
}

static GmStatus tarjan_open(GmNfa *nfa, Tarjan *t, uint32_t rule, GmError *err)
{
    t->number[rule] = t->low[rule] = ++t->count;
    t->stacked[rule] = 1;
    GM_PUSH(nfa->mem, t->path, rule);
    uint32_t first = t->calls.len;
    GM_TRY(left_calls(nfa, t, rule, err));
    GM_PUSH(nfa->mem, t->open, rule);
    GM_PUSH(nfa->mem, t->open, first);
    GM_PUSH(nfa->mem, t->open, first);
    GM_PUSH(nfa->mem, t->open, t->calls.len);
    return GM_OK;
}

static GmStatus tarjan_close(GmNfa *nfa, Tarjan *t, GmGroups *groups, uint32_t rule, bool self, GmError *err)
{
    uint32_t from = t->path.len;
    do {
        from--;
    } while (t->path.data[from] != rule);
    bool recursive = t->path.len - from > 1 || self;
    for (uint32_t i = from; i < t->path.len; i++) {
        uint32_t r = t->path.data[i];
        t->stacked[r] = 0;
        if (recursive) {
            nfa->rules.data[r].group = groups->off.len - 1;
            GM_PUSH(nfa->mem, groups->member, r);
        }
    }
    if (recursive) {
        GM_PUSH(nfa->mem, groups->off, groups->member.len);
    }
    t->path.len = from;
    return GM_OK;
}

static GmStatus tarjan_run(GmNfa *nfa, Tarjan *t, GmGroups *groups, uint32_t root, GmError *err)
{
    GM_TRY(tarjan_open(nfa, t, root, err));
    while (t->open.len > 0) {
        uint32_t *top = &t->open.data[t->open.len - 4], rule = top[0];
        if (top[2] < top[3]) {
            uint32_t call = t->calls.data[top[2]++];
            if (t->number[call] == 0) {
                GM_TRY(tarjan_open(nfa, t, call, err));
            } else if (t->stacked[call] && t->number[call] < t->low[rule]) {
                t->low[rule] = t->number[call];
            }
            continue;
        }
        bool self = false;
        for (uint32_t i = top[1]; i < top[3]; i++) {
            self = self || t->calls.data[i] == rule;
        }
        t->calls.len = top[1];
        t->open.len -= 4;
        if (t->low[rule] == t->number[rule]) {
            GM_TRY(tarjan_close(nfa, t, groups, rule, self, err));
        }
        if (t->open.len > 0) {
            uint32_t parent = t->open.data[t->open.len - 4];
            t->low[parent] = t->low[rule] < t->low[parent] ? t->low[rule] : t->low[parent];
        }
    }
    return GM_OK;
}

/* The groups of the prefix come first. */
static GmStatus begin_groups(const GmNfa *nfa, const GmGroups *known, GmGroups *groups, GmError *err)
{
    groups->member.len = groups->off.len = 0;
    for (uint32_t i = 0; known != NULL && i < known->member.len; i++) {
        GM_PUSH(nfa->mem, groups->member, known->member.data[i]);
    }
    for (uint32_t i = 0; known != NULL && i + 1 < known->off.len; i++) {
        GM_PUSH(nfa->mem, groups->off, known->off.data[i]);
    }
    GM_PUSH(nfa->mem, groups->off, groups->member.len);
    return GM_OK;
}

static GmStatus find_groups(GmNfa *nfa, GmArena *arena, const GmGroups *known, GmGroups *groups, GmError *err)
{
    uint32_t n = nfa->rules.len;
    Tarjan t;
    memset(&t, 0, sizeof t);
    void *p;
    GM_TRY(gm_arena_zeroed(arena, (size_t)n * 3 + nfa->states.len, sizeof(uint32_t), &p, err));
    t.number = p;
    t.low = t.number + n;
    t.stacked = t.low + n;
    t.seen = t.stacked + n;
    for (uint32_t r = 0; r < gm_nfa_old_rules(nfa); r++) {
        t.number[r] = 1; /* closed before: no call leads out of the prefix */
    }
    GmStatus status = begin_groups(nfa, known, groups, err);
    for (uint32_t r = gm_nfa_old_rules(nfa); r < n && status == GM_OK; r++) {
        if (t.number[r] == 0 && nfa->rules.data[r].useful) {
            status = tarjan_run(nfa, &t, groups, r, err);
        }
    }
    GM_VEC_FREE(nfa->mem, t.path);
    GM_VEC_FREE(nfa->mem, t.calls);
    GM_VEC_FREE(nfa->mem, t.todo);
    GM_VEC_FREE(nfa->mem, t.open);
    return status;
}

/* Those of a prefix stay, but for the end, which it shares with what comes behind it. */
static void forget_marks(GmNfa *nfa)
{
    nfa->states.data[GM_NFA_END].ends = 0;
    for (uint32_t s = gm_nfa_old_states(nfa); s < nfa->states.len; s++) {
        nfa->states.data[s].alive = nfa->states.data[s].moves = nfa->states.data[s].ends = 0;
    }
    for (uint32_t r = gm_nfa_old_rules(nfa); r < nfa->rules.len; r++) {
        nfa->rules.data[r].nullable = nfa->rules.data[r].useful = 0;
        nfa->rules.data[r].group = GM_NONE;
    }
}

/* An any_order rule needs `low` members that match something; the approximation cannot count those. */
static bool lacks_members(const GmNfa *nfa, const GmRule *rule)
{
    const GmLazy *lazy = &nfa->lazies.data[rule->lazy];
    if (lazy->extra != GM_NONE && nfa->rules.data[lazy->extra].useful) {
        return false;
    }
    uint32_t members = 0;
    for (uint32_t i = 0; i < lazy->n_items; i++) {
        members += nfa->rules.data[nfa->items.data[lazy->items + i].rule].useful;
    }
    return members < lazy->low;
}

/* Take the edges off rules that lack members; true when there were any, and all has to be found again. */
static bool block_rules(GmNfa *nfa)
{
    bool blocked = false;
    for (uint32_t r = 0; r < nfa->rules.len; r++) {
        const GmRule *rule = &nfa->rules.data[r];
        if (rule->kind == GM_RULE_ANY_ORDER && rule->useful && lacks_members(nfa, rule)) {
            nfa->states.data[rule->entry].edges = GM_NONE;
            blocked = true;
        }
    }
    return blocked;
}

static GmStatus analyse_once(GmNfa *nfa, const GmGroups *known, GmGroups *groups, GmError *err)
{
    forget_marks(nfa);
    GmArena scratch;
    Reverse rev;
    gm_arena_init(&scratch, nfa->mem);
    memset(&rev, 0, sizeof rev);
    GmStatus status = reverse_init(&rev, nfa, &scratch, err);
    if (status == GM_OK) {
        status = find_nullable_rules(&rev, err);
    }
    if (status == GM_OK) {
        status = find_useful_rules(&rev, err);
    }
    if (status == GM_OK) {
        status = find_groups(nfa, &scratch, known, groups, err);
    }
    GM_VEC_FREE(nfa->mem, rev.todo);
    gm_arena_deinit(&scratch);
    return status;
}

GmStatus gm_analyse(GmNfa *nfa, const GmGroups *known, GmGroups *groups, GmError *err)
{
    do { /* each round takes the edges off one more rule at least */
        GM_TRY(analyse_once(nfa, known, groups, err));
    } while (block_rules(nfa));
    return GM_OK;
}
