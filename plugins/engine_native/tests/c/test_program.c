/* Parser programs: random ones keep masks and commits in agreement in every mode, and every refused allocation
 * shows as GM_NOMEM, changes nothing and leaks nothing. What programs mean is checked in tests/test_programs.py. */
#include "world.h"

enum { CODE_MAX = 4096, ROUNDS = 60, MASK_WORDS = 4 };

typedef struct Code {
    int32_t words[CODE_MAX];
    uint32_t n;
} Code;

static void put(Code *c, int32_t word)
{
    c->words[c->n++] = word;
}

/* Edges lead to higher states only, so every graph is acyclic. */
static void put_graph(Code *c, Rand *r, uint32_t symbols, bool with_default, uint32_t *n_states)
{
    uint32_t n = *n_states = 1 + rand_below(r, 4);
    put(c, 0);
    put(c, (int32_t)n);
    for (uint32_t s = 0; s < n; s++) {
        put(c, rand_below(r, 4) == 0);
        uint32_t at = c->n;
        put(c, 0);
        for (uint32_t label = 0; label <= symbols && s + 1 < n; label++) {
            if ((label < symbols || with_default) && rand_below(r, 2) == 0) {
                put(c, label < symbols ? (int32_t)label : -1);
                put(c, (int32_t)(s + 1 + rand_below(r, n - s - 1)));
                c->words[at]++;
            }
        }
    }
}

static void put_links(Code *c, Rand *r, uint32_t from, uint32_t to)
{
    put(c, (int32_t)from);
    for (uint32_t s = 0; s < from; s++) {
        put(c, rand_below(r, 2) == 0 ? (int32_t)rand_below(r, to) : -1);
    }
}

static void random_code(Code *c, Rand *r, uint32_t terminals)
{
    uint32_t symbols = 1 + rand_below(r, 3);
    c->n = 0;
    put(c, (int32_t)symbols);
    put(c, (int32_t)terminals + 1);
    for (uint32_t t = 0; t <= terminals; t++) {
        uint32_t pop, read, push;
        put_graph(c, r, symbols, true, &pop);
        put_graph(c, r, symbols, false, &read);
        put_graph(c, r, symbols, false, &push);
        put_links(c, r, pop, read);
        put_links(c, r, pop, push);
        put_links(c, r, read, push);
    }
}

/* Five terminals that overlap and owe. */
static void add_terminals(World *w)
{
    int32_t word = w_lex_repeat(w, w_set(w, "ab", false), 1, -1), count = w_lex_repeat(w, w_lit(w, "b"), 2, 9);
    int32_t bodies[] = {w_word(w, "a"), w_term(w, word), w_word(w, "ab"), w_term(w, count),
                        w_node(w, IR_TERMINAL, w_lex_repeat(w, w_lit(w, " "), 1, -1), 1, -1)};
    for (uint32_t i = 0; i < N_OF(bodies); i++) {
        w_define(w, w_rule(w), bodies[i]);
    }
}

static GmConstraint *compile(const World *w, const Code *c, GmVocab *vocab, uint32_t mode, GmError *err)
{
    GmOptions options = world_options();
    uint32_t end = 99;
    options.mode = mode;
    options.static_pairs = 1 << 16;
    options.static_bytes = 16 << 20;
    options.n_end_tokens = 1;
    options.end_tokens = &end;
    return gm_program_new(vocab, w->rows, w->n_nodes, w->args, w->n_args, w->blob, w->n_blob, w->rules, w->n_rules, c->words, c->n,
                          &options, err);
}

static void test_masks_agree_with_commits(void)
{
    World *w = world_new();
    Code *code = calloc(1, sizeof *code);
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    uint32_t live = 0;
    add_terminals(w);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Rand r = {round};
        GmError err;
        random_code(code, &r, 5);
        GmConstraint *c = compile(w, code, vocab, round % 4, &err);
        CHECK(c != NULL);
        GmState *s = c != NULL ? gm_state_new(c, 2, &err) : NULL;
        for (uint32_t step = 0; s != NULL && step < 6 && (gm_state_flags(s, &err) & 2) == 0; step++) {
            AGREE(s, N_OF(WORLD_TEXTS));
            uint32_t words[MASK_WORDS];
            CHECK_EQ(0, gm_state_mask(s, words, MASK_WORDS, &err));
            uint32_t token = rand_below(&r, N_OF(WORLD_TEXTS));
            for (uint32_t k = 0; k < N_OF(WORLD_TEXTS) && (words[token >> 5] >> (token & 31) & 1) == 0; k++) {
                token = (token + 1) % N_OF(WORLD_TEXTS);
            }
            live += gm_state_commit_token(s, token, &err) == 0;
        }
        gm_state_free(s);
        gm_constraint_free(c);
    }
    CHECK(live > ROUNDS);
    gm_vocab_free(vocab);
    free(code);
    free(w);
}

/* -- refused allocations -------------------------------------------------------------------------------------- */

static Counting counting;
static uint32_t refusals;

static bool refused(const GmError *err)
{
    if (err->status != GM_NOMEM) {
        printf("status %d (%s) after a refused allocation\n", err->status, err->text);
        check_failures++;
    }
    refusals++;
    return true;
}

/* The call, and once more when it was refused; false when it fails for good. */
#define TRY_TWICE(expr) (((expr) || !refused(&err)) || (expr))

/* Everything once; the masks seen are compared with those of `seen` or, with `record`, written there. */
static void scenario(const World *w, const Code *code, uint32_t mode, uint32_t seen[2][MASK_WORDS], bool record)
{
    GmError err;
    GmConstraint *c = NULL;
    GmState *s = NULL, *copy = NULL;
    uint32_t words[MASK_WORDS];
    GmVocab *vocab = NULL;
    if (!TRY_TWICE((vocab = world_vocab_with(counting_resize, &counting, WORLD_TEXTS, N_OF(WORLD_TEXTS), &err)) != NULL) ||
        !TRY_TWICE((c = compile(w, code, vocab, mode, &err)) != NULL) || !TRY_TWICE((s = gm_state_new(c, 2, &err)) != NULL)) {
        goto out;
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (!TRY_TWICE(gm_state_mask(s, words, MASK_WORDS, &err) == 0)) {
            goto out;
        }
        if (record) {
            memcpy(seen[i], words, sizeof words);
        }
        CHECK(memcmp(seen[i], words, sizeof words) == 0);
        int result = 7;
        if (!TRY_TWICE((result = gm_state_commit_bytes(s, (const uint8_t *)"a a", i == 0 ? 1 : 3, &err)) != 7) ||
            !TRY_TWICE((copy = gm_state_clone(s, &err)) != NULL) || !TRY_TWICE((result = gm_state_flags(copy, &err)) >= 0)) {
            goto out;
        }
        gm_state_free(s);
        s = copy;
        copy = NULL;
    }
    CHECK_EQ(0, gm_state_rollback(s, 3, &err));
out:
    gm_vocab_free(vocab);
    gm_constraint_free(c);
    gm_state_free(copy);
    gm_state_free(s);
}

static void sweep(uint32_t seed, bool stuck)
{
    World *w = world_new();
    Code *code = calloc(1, sizeof *code);
    uint32_t seen[2][MASK_WORDS], mode = seed % 2 == 0 ? 1 : 3;
    Rand r = {seed};
    add_terminals(w);
    random_code(code, &r, 5);
    memset(&counting, 0, sizeof counting);
    scenario(w, code, mode, seen, true);
    size_t total = counting.calls;
    CHECK_EQ(0, counting.blocks);
    CHECK_EQ(0, counting.live);
    for (size_t at = 1; at <= total && check_failures < 20; at += stuck ? 3 : 1) {
        memset(&counting, 0, sizeof counting);
        counting.fail_at = at;
        counting.stuck = stuck;
        scenario(w, code, mode, seen, false);
        if (counting.blocks != 0) {
            printf("program %u, refusal %zu of %zu: %zu blocks leak\n", seed, at, total, (size_t)counting.blocks);
            check_failures++;
        }
    }
    free(code);
    free(w);
}

static void test_one_refusal(void)
{
    for (uint32_t seed = 0; seed < 8; seed++) {
        sweep(seed, false);
    }
}

static void test_memory_gone(void)
{
    for (uint32_t seed = 0; seed < 8; seed++) {
        sweep(seed, true);
    }
}

/* -- code that no definition gives --------------------------------------------------------------------------------- */

static void test_damaged_code_is_refused_or_works(void)
{
    static const int32_t values[] = {-2, -1, 0, 1, 2, 3, 7, 1 << 20, INT32_MAX, INT32_MIN};
    World *w = world_new();
    Code *code = calloc(1, sizeof *code);
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    uint32_t works = 0, bad = 0;
    add_terminals(w);
    for (uint32_t round = 0; round < 1000; round++) {
        Rand r = {round};
        GmError err = {0, 0, "", ""};
        random_code(code, &r, 5);
        code->words[rand_below(&r, code->n)] = values[rand_below(&r, N_OF(values))];
        if (rand_below(&r, 8) == 0) {
            code->n = rand_below(&r, code->n);
        }
        GmConstraint *c = compile(w, code, vocab, 1, &err);
        works += c != NULL;
        bad += c == NULL;
        if (c == NULL) {
            CHECK(err.status == GM_ARG || err.status == GM_LIMIT);
            continue;
        }
        GmState *s = gm_state_new(c, 0, &err);
        AGREE(s, 20);
        gm_state_free(s);
        gm_constraint_free(c);
    }
    CHECK(works > 20);
    CHECK(bad > 200);
    printf("%u changed programs work, %u are refused\n", works, bad);
    gm_vocab_free(vocab);
    free(code);
    free(w);
}

static void test_patterns_must_be_terminals(void)
{
    World *w = world_new();
    Code *code = calloc(1, sizeof *code);
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    GmError err;
    Rand r = {1};
    add_terminals(w);
    random_code(code, &r, 4); /* one terminal less than there are patterns */
    CHECK(compile(w, code, vocab, 1, &err) == NULL);
    CHECK_EQ(GM_ARG, err.status);
    random_code(code, &r, 5);
    const int32_t bodies[] = {-1, 0, INT32_MAX, (int32_t)w->n_nodes};
    for (uint32_t i = 0; i < N_OF(bodies); i++) {
        w_define(w, 2, bodies[i]); /* node 0 is lexical */
        CHECK(compile(w, code, vocab, 1, &err) == NULL);
        CHECK_EQ(GM_ARG, err.status);
    }
    gm_vocab_free(vocab);
    free(code);
    free(w);
}

int main(void)
{
    RUN(test_masks_agree_with_commits);
    RUN(test_one_refusal);
    RUN(test_memory_gone);
    RUN(test_damaged_code_is_refused_or_works);
    RUN(test_patterns_must_be_terminals);
    printf("%u refusals\n", refusals);
    CHECK(refusals > 500);
    return check_result();
}
