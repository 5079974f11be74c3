#include "gm_program.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SYMBOLS = 1 << 20, MAX_STATES = 1 << 20, MAX_EDGES = 1 << 22 }; /* as glrmask_core.program */

/* -- reading the code ------------------------------------------------------------------------------------ */

typedef struct RawState {
    uint32_t at, n;    /* edges in the code */
    uint32_t link[2];  /* raw states or GM_NONE */
    uint32_t number;   /* final number, GM_NONE: not reached or never emits */
    uint32_t cursor;   /* of the search; 0 before it came here */
    uint8_t kind, accepting, live, closed;
} RawState;

typedef struct Reader {
    GmProgram *program;
    GmMem *mem;
    const int32_t *code;
    uint64_t n, at;
    uint32_t template;
    GM_VEC(RawState) raw;       /* of one template: pop, then read, then push states */
    uint32_t graph[4], start;   /* first raw state per graph */
    GM_VEC(uint32_t) path, post;
    GM_VEC(GmProgramState) states;
    GM_VEC(GmProgramEdge) edges;
} Reader;

static GmStatus bad_code(const Reader *r, GmError *err)
{
    return gm_fail(err, GM_ARG, "the parser program is malformed at word %llu", (unsigned long long)r->at);
}

static GmStatus word(Reader *r, int64_t low, int64_t high, uint32_t *out, GmError *err)
{
    if (r->at >= r->n || r->code[r->at] < low || r->code[r->at] > high) {
        return bad_code(r, err);
    }
    *out = (uint32_t)r->code[r->at++];
    return GM_OK;
}

static GmStatus read_graph(Reader *r, uint32_t kind, uint32_t *start, GmError *err)
{
    uint32_t n, label, target, value;
    GM_TRY(word(r, 0, MAX_STATES - 1, start, err));
    GM_TRY(word(r, (int64_t)*start + 1, MAX_STATES, &n, err));
    r->graph[kind] = r->raw.len;
    if (r->raw.len + n > MAX_STATES) {
        return gm_fail_limit(err, "states", "a template has more than %d states", MAX_STATES);
    }
    for (uint32_t s = 0; s < n; s++) {
        RawState state = {0, 0, {GM_NONE, GM_NONE}, GM_NONE, 0, (uint8_t)kind, 0, 0, 0};
        GM_TRY(word(r, 0, 1, &value, err));
        state.accepting = (uint8_t)value;
        GM_TRY(word(r, 0, MAX_EDGES, &state.n, err));
        state.at = (uint32_t)r->at;
        for (uint32_t e = 0; e < state.n; e++) {
            GM_TRY(word(r, kind == GM_PROGRAM_POP ? -1 : 0, (int64_t)r->program->n_symbols - 1, &label, err));
            GM_TRY(word(r, 0, (int64_t)n - 1, &target, err));
        }
        GM_PUSH(r->mem, r->raw, state);
    }
    r->graph[kind + 1] = r->raw.len;
    return GM_OK;
}

static GmStatus read_links(Reader *r, uint32_t from, uint32_t to, uint32_t slot, GmError *err)
{
    uint32_t n, target;
    GM_TRY(word(r, 0, (int64_t)r->graph[from + 1] - r->graph[from], &n, err));
    for (uint32_t s = 0; s < n; s++) {
        GM_TRY(word(r, -1, (int64_t)r->graph[to + 1] - r->graph[to] - 1, &target, err));
        if (target != UINT32_MAX) {
            r->raw.data[r->graph[from] + s].link[slot] = r->graph[to] + target;
        }
    }
    return GM_OK;
}

/* The k-th way on from a raw state: links, then edges. */
static uint32_t raw_next(const Reader *r, const RawState *state, uint32_t k)
{
    if (k < 2) {
        return state->link[k];
    }
    return r->graph[state->kind] + (uint32_t)r->code[state->at + 2 * (k - 2) + 1];
}

/* Depth first from the start, without recursion: reached states into r->post, targets before sources; on the
 * way back it shows which states can still emit. */
static GmStatus search_states(Reader *r, GmError *err)
{
    r->path.len = r->post.len = 0;
    GM_PUSH(r->mem, r->path, r->start);
    r->raw.data[r->start].cursor = 1;
    while (r->path.len > 0) {
        uint32_t at = r->path.data[r->path.len - 1];
        RawState *state = &r->raw.data[at];
        if (state->cursor - 1 < state->n + 2) {
            uint32_t next = raw_next(r, state, state->cursor++ - 1);
            if (next == GM_NONE || r->raw.data[next].closed) {
                continue;
            }
            if (r->raw.data[next].cursor != 0) {
                return gm_fail(err, GM_ARG, "template %u of the parser program has a cycle", r->template);
            }
            r->raw.data[next].cursor = 1;
            GM_PUSH(r->mem, r->path, next);
            continue;
        }
        state->closed = 1;
        state->live = state->accepting;
        for (uint32_t k = 0; k < state->n + 2 && !state->live; k++) {
            uint32_t next = raw_next(r, state, k);
            state->live = next != GM_NONE && r->raw.data[next].live;
        }
        r->path.len--;
        GM_PUSH(r->mem, r->post, at);
    }
    return GM_OK;
}

static int compare_edges(const void *x, const void *y)
{
    const GmProgramEdge *a = x, *b = y;
    return a->symbol < b->symbol ? -1 : a->symbol > b->symbol;
}

static uint32_t number_of(const Reader *r, uint32_t raw)
{
    return raw == GM_NONE ? GM_NONE : r->raw.data[raw].number;
}

/* Edges to states that never emit are dropped, but an explicit POP edge goes on shadowing Default. */
static GmStatus add_state(Reader *r, const RawState *raw, GmError *err)
{
    GmProgramState made = {r->edges.len, 0, GM_NONE, {GM_NONE, GM_NONE}, r->template, raw->kind, raw->accepting};
    made.link[0] = number_of(r, raw->link[0]);
    made.link[1] = number_of(r, raw->link[1]);
    uint32_t n_defaults = 0;
    for (uint32_t e = 0; e < raw->n; e++) {
        int32_t label = r->code[raw->at + 2 * e];
        uint32_t target = number_of(r, raw_next(r, raw, e + 2));
        if (label < 0) {
            n_defaults++;
            made.fallback = target;
        } else if (target != GM_NONE || raw->kind == GM_PROGRAM_POP) {
            GM_PUSH(r->mem, r->edges, ((GmProgramEdge){(uint32_t)label, target}));
        }
    }
    uint32_t n = r->edges.len - made.edges, kept = 0;
    GmProgramEdge *edges = r->edges.data + made.edges;
    if (n > 1) {
        qsort(edges, n, sizeof *edges, compare_edges);
    }
    for (uint32_t e = 0; e < n; e++) {
        if (n_defaults > 1 || (e > 0 && edges[e].symbol == edges[e - 1].symbol)) {
            return gm_fail(err, GM_ARG, "template %u of the parser program has two edges with one label", r->template);
        }
    }
    for (uint32_t e = 0; e < n; e++) {
        if (edges[e].target != GM_NONE || made.fallback != GM_NONE) {
            edges[kept++] = edges[e];
        }
    }
    made.n_edges = kept;
    r->edges.len = made.edges + kept;
    GM_PUSH(r->mem, r->states, made);
    return GM_OK;
}

static GmStatus read_template(Reader *r, GmError *err)
{
    uint32_t start, unused;
    GmProgramTerminal *terminal = &r->program->terminals[r->template];
    r->raw.len = 0;
    GM_TRY(read_graph(r, GM_PROGRAM_POP, &start, err));
    GM_TRY(read_graph(r, GM_PROGRAM_READ, &unused, err));
    GM_TRY(read_graph(r, GM_PROGRAM_PUSH, &unused, err));
    GM_TRY(read_links(r, GM_PROGRAM_POP, GM_PROGRAM_READ, 0, err));
    GM_TRY(read_links(r, GM_PROGRAM_POP, GM_PROGRAM_PUSH, 1, err));
    GM_TRY(read_links(r, GM_PROGRAM_READ, GM_PROGRAM_PUSH, 0, err));
    r->start = start;
    GM_TRY(search_states(r, err));
    uint32_t number = r->states.len;
    terminal->first = number;
    for (uint32_t i = r->post.len; i-- > 0;) {
        RawState *state = &r->raw.data[r->post.data[i]];
        state->number = state->live ? number++ : GM_NONE;
    }
    terminal->n = number - terminal->first;
    if (number > MAX_STATES) {
        return gm_fail_limit(err, "states", "the parser program has more than %d states", MAX_STATES);
    }
    r->program->largest = terminal->n > r->program->largest ? terminal->n : r->program->largest;
    for (uint32_t i = r->post.len; i-- > 0;) {
        const RawState *state = &r->raw.data[r->post.data[i]];
        if (state->live) {
            GM_TRY(add_state(r, state, err));
        }
    }
    return GM_OK;
}

static GmStatus keep_array(GmArena *arena, const void *from, size_t n, size_t size, void **out, GmError *err)
{
    GM_TRY(gm_arena_zeroed(arena, n + 1, size, out, err));
    if (n > 0) {
        memcpy(*out, from, n * size);
    }
    return GM_OK;
}

static GmStatus read_code(Reader *r, GmArena *arena, GmError *err)
{
    uint32_t n;
    void *p;
    GM_TRY(word(r, 1, MAX_SYMBOLS, &r->program->n_symbols, err));
    GM_TRY(word(r, 1, MAX_STATES, &n, err));
    GM_TRY(gm_arena_zeroed(arena, n, sizeof(GmProgramTerminal), &p, err));
    r->program->terminals = p;
    r->program->n_terminals = n - 1;
    for (r->template = 0; r->template < n; r->template++) {
        GM_TRY(read_template(r, err));
    }
    if (r->at != r->n) {
        return bad_code(r, err);
    }
    r->program->n_states = r->states.len;
    r->program->n_edges = r->edges.len;
    GM_TRY(keep_array(arena, r->states.data, r->states.len, sizeof *r->states.data, &p, err));
    r->program->states = p;
    GM_TRY(keep_array(arena, r->edges.data, r->edges.len, sizeof *r->edges.data, &p, err));
    r->program->edges = p;
    return GM_OK;
}

GmStatus gm_program_read(GmProgram *program, GmMem *mem, GmArena *arena, const int32_t *code, uint64_t n_code,
                         GmError *err)
{
    Reader r;
    memset(&r, 0, sizeof r);
    memset(program, 0, sizeof *program);
    r.program = program;
    r.mem = mem;
    r.code = code;
    r.n = n_code < UINT32_MAX ? n_code : UINT32_MAX;
    GmStatus status = read_code(&r, arena, err);
    GM_VEC_FREE(mem, r.raw);
    GM_VEC_FREE(mem, r.path);
    GM_VEC_FREE(mem, r.post);
    GM_VEC_FREE(mem, r.states);
    GM_VEC_FREE(mem, r.edges);
    return status;
}

uint32_t gm_program_target(const GmProgram *program, uint32_t state, uint32_t symbol)
{
    const GmProgramState *s = &program->states[state];
    const GmProgramEdge *edges = program->edges + s->edges;
    uint32_t from = 0, to = s->n_edges;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (edges[mid].symbol < symbol) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    return from < s->n_edges && edges[from].symbol == symbol ? edges[from].target : s->fallback;
}

/* -- walks ------------------------------------------------------------------------------------------------- */

GmStatus gm_program_walk_init(GmProgramWalk *walk, const GmProgram *program, GmStack *stack, GmMem *mem, bool hole,
                              GmError *err)
{
    memset(walk, 0, sizeof *walk);
    walk->program = program;
    walk->stack = stack;
    walk->mem = mem;
    walk->hole = hole;
    size_t words = program->largest / 64 + 1;
    GM_RESERVE(mem, walk->pending, words);
    walk->pending.len = (uint32_t)words;
    memset(walk->pending.data, 0, words * sizeof(uint64_t));
    GM_RESERVE(mem, walk->heads, (size_t)program->largest + 1);
    walk->heads.len = program->largest + 1;
    memset(walk->heads.data, 0, walk->heads.len * sizeof(uint32_t));
    return GM_OK;
}

void gm_program_walk_deinit(GmProgramWalk *walk)
{
    GM_VEC_FREE(walk->mem, walk->pending);
    GM_VEC_FREE(walk->mem, walk->heads);
    GM_VEC_FREE(walk->mem, walk->parts);
    GM_VEC_FREE(walk->mem, walk->sets);
    GM_VEC_FREE(walk->mem, walk->outs);
    GM_VEC_FREE(walk->mem, walk->waits);
}

void gm_program_walk_begin(GmProgramWalk *walk, uint32_t terminal)
{
    if (walk->parts.len > 0) { /* the walk before was cut short by an error */
        memset(walk->pending.data, 0, walk->pending.len * sizeof(uint64_t));
        memset(walk->heads.data, 0, walk->heads.len * sizeof(uint32_t));
    }
    walk->terminal = terminal;
    walk->parts.len = walk->outs.len = walk->waits.len = 0;
}

GmStatus gm_program_walk_add(GmProgramWalk *walk, uint32_t state, uint32_t set, GmError *err)
{
    if (state == GM_NONE) {
        return GM_OK;
    }
    uint32_t local = state - walk->program->terminals[walk->terminal].first;
    GM_PUSH(walk->mem, walk->parts, ((GmProgramPart){set, walk->heads.data[local]}));
    walk->heads.data[local] = walk->parts.len;
    walk->pending.data[local >> 6] |= (uint64_t)1 << (local & 63);
    return GM_OK;
}

static int compare_u32(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

/* The union of the listed sets; equal ones are looked at once. */
static GmStatus join_sets(GmProgramWalk *walk, uint32_t *sets, uint32_t n, uint32_t *out, GmError *err)
{
    uint32_t kept = 0;
    if (n > 1) {
        qsort(sets, n, sizeof *sets, compare_u32);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || sets[i] != sets[kept - 1]) {
            sets[kept++] = sets[i];
        }
    }
    return gm_stack_union_all(walk->stack, sets, kept, out, err);
}

/* Everything that has arrived at a state. */
static GmStatus arrived(GmProgramWalk *walk, uint32_t local, uint32_t *set, GmError *err)
{
    uint32_t part = walk->heads.data[local];
    walk->sets.len = 0;
    for (; part != 0; part = walk->parts.data[part - 1].next) {
        GM_PUSH(walk->mem, walk->sets, walk->parts.data[part - 1].set);
    }
    walk->heads.data[local] = 0;
    return join_sets(walk, walk->sets.data, walk->sets.len, set, err);
}

/* POP and READ edges, by the tops of the set. */
static GmStatus take_tops(GmProgramWalk *walk, uint32_t state, uint32_t set, GmError *err)
{
    GmStack *stack = walk->stack;
    const GmProgramState *s = &walk->program->states[state];
    const GmStackSet members = stack->sets.data[set];
    if (s->n_edges == 0 && s->fallback == GM_NONE) {
        return GM_OK;
    }
    for (uint32_t i = 0; i < members.n; i++) {
        uint32_t member = stack->members.data[members.off + i], under;
        if (member == GM_STACK_BOTTOM) {
            if (walk->hole) {
                GM_PUSH(walk->mem, walk->waits, state);
            }
            continue;
        }
        uint32_t target = gm_program_target(walk->program, state, stack->nodes.data[member].sym);
        if (target == GM_NONE) {
            continue;
        }
        if (s->kind == GM_PROGRAM_POP) {
            under = stack->nodes.data[member].set;
        } else {
            GM_TRY(gm_stack_single(stack, member, &under, err));
        }
        GM_TRY(gm_program_walk_add(walk, target, under, err));
    }
    return GM_OK;
}

static GmStatus push_symbols(GmProgramWalk *walk, const GmProgramState *s, uint32_t set, GmError *err)
{
    for (uint32_t e = 0; e < s->n_edges; e++) {
        const GmProgramEdge *edge = &walk->program->edges[s->edges + e];
        uint32_t node, single;
        GM_TRY(gm_stack_push(walk->stack, edge->symbol, set, &node, err));
        GM_TRY(gm_stack_single(walk->stack, node, &single, err));
        GM_TRY(gm_program_walk_add(walk, edge->target, single, err));
    }
    return GM_OK;
}

GmStatus gm_program_walk_run(GmProgramWalk *walk, uint32_t *out, GmError *err)
{
    const GmProgramTerminal *terminal = &walk->program->terminals[walk->terminal];
    uint32_t words = terminal->n / 64 + 1;
    for (uint32_t w = 0; w < words; w++) {
        while (walk->pending.data[w] != 0) { /* the lowest bit: ways on lead to higher states only */
            uint64_t low = walk->pending.data[w] & (~walk->pending.data[w] + 1);
            uint32_t local = 64 * w + (low >> 32 != 0 ? 32 + gm_top_bit((uint32_t)(low >> 32)) : gm_top_bit((uint32_t)low));
            uint32_t state = terminal->first + local, set;
            walk->pending.data[w] ^= low;
            const GmProgramState *s = &walk->program->states[state];
            GM_TRY(arrived(walk, local, &set, err));
            if (s->accepting) {
                GM_PUSH(walk->mem, walk->outs, set);
            }
            GM_TRY(gm_program_walk_add(walk, s->link[0], set, err));
            GM_TRY(gm_program_walk_add(walk, s->link[1], set, err));
            GM_TRY(s->kind == GM_PROGRAM_PUSH ? push_symbols(walk, s, set, err) : take_tops(walk, state, set, err));
        }
    }
    walk->parts.len = 0;
    return join_sets(walk, walk->outs.data, walk->outs.len, out, err);
}

GmStatus gm_program_apply(GmProgramWalk *walk, uint32_t terminal, uint32_t set, uint32_t *out, GmError *err)
{
    const GmProgramTerminal *t = &walk->program->terminals[terminal];
    gm_program_walk_begin(walk, terminal);
    if (t->n > 0) {
        GM_TRY(gm_program_walk_add(walk, t->first, set, err));
    }
    return gm_program_walk_run(walk, out, err);
}
