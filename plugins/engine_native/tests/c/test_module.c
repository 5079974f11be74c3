/* Modules from anywhere: each kind of malformed node is refused with GM_ARG, and modules with numbers changed
 * at random are either refused by name or give a working constraint. `test_module ROUNDS SEED` runs longer. */
#include "world.h"

#include <time.h>

static GmVocab *vocab;

static GmStatus status_of(const World *w, int32_t root)
{
    GmError err = {0, 0, "", ""};
    GmOptions options = world_options();
    GmConstraint *c = world_compile(w, vocab, root, &options, &err);
    CHECK((c == NULL) == (err.status != GM_OK));
    gm_constraint_free(c);
    return (GmStatus)err.status;
}

/* A node between good neighbours, as the root (syntactic) or below a terminal (lexical). */
static GmStatus status_of_node(int32_t op, int32_t a, int32_t b, int32_t c, const int32_t *args, uint32_t n_args)
{
    World *w = world_new();
    int32_t rule = w_rule(w);
    (void)w_lit(w, "a");            /* 0 */
    (void)w_word(w, "b");           /* 1, 2 */
    w_define(w, rule, w_word(w, "c")); /* 3, 4 */
    (void)w_bytes(w, "0123456789abcdef0123456789abcdef", 32); /* 3 .. 34 */
    (void)w_args(w, args, n_args);
    int32_t node = w_node(w, op, a, b, c), root = op < IR_TERMINAL ? w_term(w, node) : node;
    (void)w_word(w, "d");
    GmStatus status = status_of(w, root);
    free(w);
    return status;
}

typedef struct Case {
    int32_t op, a, b, c, args[12];
    uint32_t n_args;
} Case;

static void test_good_nodes(void)
{
    static const Case cases[] = {
        {IR_LITERAL, 0, 3, 0, {0}, 0},
        {IR_LITERALS, 0, 2, 0, {0, 1, 1, 2}, 4},
        {IR_BYTES, 3, 0, 0, {0}, 0},
        {IR_CHARS, 0, 2, 0, {0, 0xd7ff, 0xe000, 0x10ffff}, 4},
        {IR_LEX_SEQ, 0, 2, 0, {0, 0}, 2},
        {IR_LEX_CHOICE, 0, 2, 0, {0, 1}, 2},
        {IR_LEX_REPEAT, 0, 0, -1, {0}, 0},
        {IR_BOTH, 0, 0, 0, {0}, 0},
        {IR_WITHOUT, 0, 1, 0, {0}, 0},
        {IR_AUTOMATON, 0, 8, 0, {2, 0, 1, 0, 0, 1, 1, 1}, 8},
        {IR_TERMINAL, 0, 1, -1, {0}, 0},
        {IR_CALL, 0, 0, 0, {0}, 0},
        {IR_SEQ, 0, 2, 0, {2, 2}, 2},
        {IR_CHOICE, 0, 2, 0, {2, 4}, 2},
        {IR_REPEAT, 2, 2, 2147483647, {0}, 0},
        {IR_SEPARATED, 0, 2, 2147483647, {2, 4}, 2},
        {IR_SEPARATED, 0, 0, 0, {2, 4}, 2},
        {IR_TOKEN_IDS, 0, 2, 0, {1, 900}, 2},
        {IR_SCOPE, 2, 0, 0, {0}, 0},
        {IR_ANY_ORDER, 0, 1, 0, {4, 4, 1, 3, 2, 1}, 6},
        {IR_ANY_ORDER, 0, 0, 0, {-1, -1, 0, -1}, 4},
    };
    for (uint32_t i = 0; i < N_OF(cases); i++) {
        const Case *k = &cases[i];
        GmStatus status = status_of_node(k->op, k->a, k->b, k->c, k->args, k->n_args);
        if (status != GM_OK) {
            printf("good node %u: status %d\n", i, (int)status);
            check_failures++;
        }
    }
}

static void test_malformed_nodes(void)
{
    static const Case cases[] = {
        {-1, 0, 0, 0, {0}, 0},
        {11, 0, 0, 0, {0}, 0},
        {15, 0, 0, 0, {0}, 0},
        {27, 0, 0, 0, {0}, 0},
        {2147483647, 0, 0, 0, {0}, 0},
        {IR_LITERAL, -1, 1, 0, {0}, 0},
        {IR_LITERAL, 0, -1, 0, {0}, 0},
        {IR_LITERAL, 35, 2, 0, {0}, 0},
        {IR_LITERAL, 2147483647, 2147483647, 0, {0}, 0},
        {IR_LITERALS, 0, 3, 0, {0, 1, 1, 2}, 4},
        {IR_LITERALS, 0, 2, 0, {1, 2, 0, 1}, 4},          /* not sorted */
        {IR_LITERALS, 0, 2, 0, {0, 1, 0, 1}, 4},          /* not distinct */
        {IR_LITERALS, 0, -2, 0, {0, 1, 0, 1}, 4},
        {IR_LITERALS, 0, 1, 0, {0, 2147483647}, 2},
        {IR_BYTES, 5, 0, 0, {0}, 0},
        {IR_CHARS, 0, 1, 0, {5, 4}, 2},
        {IR_CHARS, 0, 1, 0, {-5, 4}, 2},
        {IR_CHARS, 0, 1, 0, {0, 0x110000}, 2},
        {IR_CHARS, 0, 1, 0, {0xd7ff, 0xe000}, 2},         /* over the surrogates */
        {IR_CHARS, 0, 1, 0, {0xd900, 0xd900}, 2},
        {IR_CHARS, 0, 2, 0, {10, 20, 20, 30}, 4},         /* overlap */
        {IR_CHARS, 0, 2, 0, {10, 20, 1, 2}, 4},           /* order */
        {IR_CHARS, 0, 1073741824, 0, {0, 1}, 2},
        {IR_LEX_SEQ, 0, 1, 0, {2}, 1},                    /* a syntactic child */
        {IR_LEX_SEQ, 0, 1, 0, {5}, 1},                    /* itself */
        {IR_LEX_SEQ, 0, 1, 0, {-1}, 1},
        {IR_LEX_CHOICE, -1, 1, 0, {0}, 1},
        {IR_LEX_REPEAT, 0, 2, 1, {0}, 0},
        {IR_LEX_REPEAT, 0, -1, 1, {0}, 0},
        {IR_LEX_REPEAT, 4, 0, 1, {0}, 0},
        {IR_BOTH, 0, 2, 0, {0}, 0},
        {IR_WITHOUT, 0, -1, 0, {0}, 0},
        {IR_AUTOMATON, 0, 3, 0, {1, 0, 0, 0}, 4},
        {IR_AUTOMATON, 0, 8, 0, {2, 2, 1, 0, 0, 1, 1, 1}, 8},   /* start */
        {IR_AUTOMATON, 0, 8, 0, {2, 0, 1, 0, 0, 2, 1, 1}, 8},   /* target */
        {IR_AUTOMATON, 0, 8, 0, {2, 0, 1, 0, 2, 1, 1, 1}, 8},   /* label */
        {IR_AUTOMATON, 0, 8, 0, {2, 0, 1, 0, 0, 1, 1, 2}, 8},   /* accepting */
        {IR_AUTOMATON, 0, 8, 0, {2, 0, 1, 0, 0, 1, -1, 1}, 8},
        {IR_AUTOMATON, 0, 8, 0, {2, 0, 2147483647, 0, 0, 1, 1, 1}, 8},
        {IR_AUTOMATON, 0, 8, 0, {-2, 0, 1, 0, 0, 1, 1, 1}, 8},
        {IR_AUTOMATON, 0, 11, 0, {2, 0, 2, 1, 0, 0, 0, 0, 1, 1, 1}, 11}, /* edges out of order */
        {IR_TERMINAL, 2, 0, -1, {0}, 0},
        {IR_TERMINAL, 5, 0, -1, {0}, 0},
        {IR_CALL, 1, 0, 0, {0}, 0},
        {IR_CALL, -1, 0, 0, {0}, 0},
        {IR_SEQ, 0, 1, 0, {0}, 1},                        /* a lexical child */
        {IR_SEQ, 0, 1, 0, {5}, 1},
        {IR_SEQ, 0, -1, 0, {2}, 1},
        {IR_SEQ, 2147483647, 1, 0, {2}, 1},
        {IR_CHOICE, 0, 2, 0, {2}, 1},
        {IR_REPEAT, 2, 3, 2, {0}, 0},
        {IR_REPEAT, 2, -3, 2, {0}, 0},
        {IR_REPEAT, 0, 1, 2, {0}, 0},
        {IR_SEPARATED, 0, 0, -1, {2}, 1},
        {IR_SEPARATED, 0, 0, -1, {2, 0}, 2},
        {IR_SEPARATED, 0, -1, -1, {2, 2}, 2},
        {IR_TOKEN_IDS, 0, 0, 0, {1}, 1},
        {IR_TOKEN_IDS, 0, 2, 0, {2, 1}, 2},               /* not ascending */
        {IR_TOKEN_IDS, 0, 2, 0, {1, 1}, 2},               /* not distinct */
        {IR_TOKEN_IDS, 0, 3, 0, {1, 2}, 2},
        {IR_EXTERN_GRAMMAR, 0, 0, 0, {0}, 0},
        {IR_EXTERN_TOKEN, 0, 0, 0, {0}, 0},
        {IR_SCOPE, 2, 2, 0, {0}, 0},                      /* a syntactic ignore */
        {IR_SCOPE, 0, -1, 0, {0}, 0},
        {IR_SCOPE, 2, 5, 0, {0}, 0},
        {IR_ANY_ORDER, 0, 1, 0, {4, 4, 1, 3, 2}, 5},
        {IR_ANY_ORDER, 0, 1, 0, {0, -1, 1, 3, 2, 1}, 6},  /* a lexical separator */
        {IR_ANY_ORDER, 0, 1, 0, {-1, 9, 1, 3, 2, 1}, 6},
        {IR_ANY_ORDER, 0, 1, 0, {-1, -1, 4, 3, 2, 1}, 6},
        {IR_ANY_ORDER, 0, 1, 0, {-1, -1, -1, 3, 2, 1}, 6},
        {IR_ANY_ORDER, 0, -1, 0, {-1, -1, 0, 3, 2, 1}, 6},
    };
    for (uint32_t i = 0; i < N_OF(cases); i++) {
        const Case *k = &cases[i];
        GmStatus status = status_of_node(k->op, k->a, k->b, k->c, k->args, k->n_args);
        if (status != GM_ARG) {
            printf("malformed node %u (op %d): status %d\n", i, k->op, (int)status);
            check_failures++;
        }
    }
    World *w = world_new();
    CHECK_EQ(GM_ARG, status_of(w, 0)); /* no nodes at all */
    int32_t lexical = w_lit(w, "a"), good = w_word(w, "b");
    CHECK_EQ(GM_ARG, status_of(w, lexical));
    CHECK_EQ(GM_ARG, status_of(w, 99));
    CHECK_EQ(GM_ARG, status_of(w, -1));
    CHECK_EQ(GM_OK, status_of(w, good));
    int32_t rule = w_rule(w);
    CHECK_EQ(GM_ARG, status_of(w, good)); /* a rule without a body */
    w_define(w, rule, lexical);
    CHECK_EQ(GM_ARG, status_of(w, good));
    free(w);
}

static size_t held, most;

static void *metered(void *context, void *p, size_t old, size_t size)
{
    held = held - old + size;
    most = held > most ? held : most;
    return gm_mem_libc(context, p, old, size);
}

/* Past the time a compile ends long before it would: what it has allocated by then says how long. */
static void test_time_is_looked_at_while_compiling(void)
{
    World *w = world_new();
    const char *const texts[] = {"a", "b", "ab"};
    GmError err;
    GmOptions options = world_options();
    int32_t next = w_word(w, "a");
    for (uint32_t i = 0; i < 500; i++) { /* each rule calls the one before it twice, so nothing is shared */
        int32_t rule = w_rule(w);
        w_define(w, rule, W_CHOICE(w, W_SEQ(w, next, w_word(w, "b"), next), w_word(w, "a")));
        next = w_call(w, rule);
    }
    GmVocab *metered_vocab = world_vocab_with(metered, NULL, texts, 3, &err);
    size_t before = held, full;
    GmConstraint *c;
    options.build_seconds = 3600;
    most = 0;
    c = world_compile(w, metered_vocab, next, &options, &err);
    CHECK(c != NULL);
    full = most - before;
    gm_constraint_free(c);
    CHECK(held == before);
    options.build_seconds = 1e-9;
    most = 0;
    CHECK(world_compile(w, metered_vocab, next, &options, &err) == NULL);
    CHECK(err.status == GM_LIMIT && strcmp(err.limit, "build_seconds") == 0);
    CHECK(most - before < full / 4 * 3);
    CHECK(held == before);
    gm_vocab_free(metered_vocab);
    free(w);
}

static void test_limits_have_names(void)
{
    World *w = world_new();
    GmError err;
    GmOptions options = world_options();
    int32_t root = world_grammar(w, 5);
    options.lexer_states = 10;
    CHECK(world_compile(w, vocab, root, &options, &err) == NULL);
    CHECK(err.status == GM_LIMIT && strcmp(err.limit, "lexer_states") == 0);
    options = world_options();
    options.states = 3;
    CHECK(world_compile(w, vocab, root, &options, &err) == NULL);
    CHECK(err.status == GM_LIMIT && strcmp(err.limit, "states") == 0);
    options = world_options();
    options.memory_bytes = 5000;
    CHECK(world_compile(w, vocab, root, &options, &err) == NULL);
    CHECK(err.status == GM_LIMIT && strcmp(err.limit, "memory_bytes") == 0);
    memset(w, 0, sizeof *w);
    int32_t list[] = {2147483647, 0, 0, 0};
    root = w_term(w, w_node(w, IR_AUTOMATON, w_args(w, list, 4), 4, 0));
    options = world_options();
    CHECK(world_compile(w, vocab, root, &options, &err) == NULL);
    CHECK(err.status == GM_LIMIT && strcmp(err.limit, "lexer_states") == 0);
    memset(w, 0, sizeof *w);
    int32_t rule = w_rule(w); /* r: (r a | a){1000000,1000000} must be written out */
    w_define(w, rule, w_repeat(w, W_CHOICE(w, W_SEQ(w, w_call(w, rule), w_word(w, "a")), w_word(w, "a")), 1000000, 1000000));
    root = w_call(w, rule);
    CHECK(world_compile(w, vocab, root, &options, &err) == NULL);
    CHECK(err.status == GM_LIMIT && strcmp(err.limit, "expansion") == 0);
    free(w);
}

static void test_end_tokens_and_history(void)
{
    World *w = world_new();
    GmError err = {0, 0, "", ""};
    GmOptions options = world_options();
    const uint32_t turned[] = {900, 5};
    int32_t root = w_word(w, "a");
    options.end_tokens = turned;
    options.n_end_tokens = 2;
    CHECK(world_compile(w, vocab, root, &options, &err) == NULL);
    CHECK_EQ(GM_ARG, err.status);
    options.n_end_tokens = 1;
    GmConstraint *c = world_compile(w, vocab, root, &options, &err);
    CHECK_EQ(901, gm_constraint_width(c));
    CHECK(gm_state_new(c, UINT32_MAX, &err) == NULL && err.status == GM_LIMIT);
    CHECK(gm_state_new(c, INT32_MAX - 1, &err) == NULL && err.status == GM_LIMIT);
    gm_constraint_free(c);
    free(w);
}

/* The largest id there is. */
static void test_exact_id_at_the_top(void)
{
    World *w = world_new();
    GmOptions options = world_options();
    int32_t root = w_node(w, IR_TOKEN_IDS, w_args(w, (const int32_t[]){0, 100, -1}, 3), 3, 0);
    GmConstraint *c = world_compile(w, vocab, root, &options, NULL);
    CHECK(c != NULL);
    CHECK_EQ((int64_t)1 << 32, gm_constraint_width(c));
    GmState *s = gm_state_new(c, 1, NULL);
    CHECK_EQ(0, gm_state_commit_token(s, 0xffffffffu, NULL));
    CHECK_EQ(1, gm_state_flags(s, NULL));
    gm_state_free(s);
    gm_constraint_free(c);
    free(w);
}

/* -- numbers changed at random ------------------------------------------------------------------------------ */

static int32_t odd_number(Rand *r, const World *w)
{
    static const int32_t odd[] = {0, 1, -1, 2, 3, 4, 5, 64, 65, 255, 256, 1000, 65535, 65536, 2147483647, -2147483647 - 1,
                                  1 << 26, 1 << 30, -2, 17, 18, 19, 25, 26};
    uint32_t kind = rand_below(r, 4);
    return kind == 0 ? odd[rand_below(r, N_OF(odd))] : kind == 1 ? (int32_t)rand_below(r, w->n_nodes + 2)
         : kind == 2 ? (int32_t)rand_below(r, w->n_args + 2) : (int32_t)rand_below(r, 30);
}

static void change(World *w, Rand *r)
{
    switch (rand_below(r, 8)) {
    case 0:
    case 1:
    case 2:
        w->rows[rand_below(r, 4 * w->n_nodes)] = odd_number(r, w);
        return;
    case 3:
    case 4:
    case 5:
        if (w->n_args > 0) {
            w->args[rand_below(r, w->n_args)] = odd_number(r, w);
        }
        return;
    case 6:
        if (w->n_rules > 0) {
            w->rules[2 * rand_below(r, w->n_rules) + 1] = odd_number(r, w);
        }
        return;
    default:
        w->blob[rand_below(r, (uint32_t)w->n_blob)] ^= (uint8_t)(1u << rand_below(r, 8));
    }
}

static void use(GmConstraint *c, Rand *r)
{
    uint64_t width = gm_constraint_width(c);
    if (width > 1 << 20) {
        return; /* an exact id that is huge: the mask would be too */
    }
    uint64_t n_words = (width + 31) / 32;
    uint32_t *words = malloc((n_words + 1) * sizeof *words);
    GmState *s = gm_state_new(c, 3, NULL);
    for (uint32_t step = 0; s != NULL && step < 5; step++) {
        GmError err = {0, 0, "", ""};
        uint32_t n = 0, pick = 0;
        if (gm_state_mask(s, words, n_words, &err) != 0) {
            CHECK_EQ(GM_LIMIT, err.status);
            break;
        }
        for (uint32_t id = 0; id < width; id++) {
            if ((words[id >> 5] >> (id & 31) & 1) != 0 && rand_below(r, ++n) == 0) {
                pick = id;
            }
        }
        if (n == 0) {
            break;
        }
        int code = gm_state_commit_token(s, pick, &err);
        CHECK(code == 0 || (code == 7 && err.status == GM_LIMIT));
    }
    gm_state_free(s);
    free(words);
}

static uint32_t rounds = 1500;
static uint64_t seed = 1;

static void test_changed_modules(void)
{
    uint32_t good = 0, refused = 0;
    World *w = world_new();
    for (uint32_t i = 0; i < rounds; i++) {
        Rand r = {seed * 1000000 + i};
        memset(w, 0, sizeof *w);
        int32_t root = world_grammar(w, i % GRAMMARS);
        uint32_t changes = 1 + rand_below(&r, 3);
        for (uint32_t k = 0; k < changes; k++) {
            change(w, &r);
        }
        GmError err = {0, 0, "", ""};
        GmOptions options = world_options();
        options.states = options.lexer_states = 2000;
        options.memory_bytes = 8 << 20;
        options.mode = i / GRAMMARS % 4;
        clock_t from = clock();
        GmConstraint *c = world_compile(w, vocab, root, &options, &err);
        if (c == NULL) {
            if (err.status != GM_ARG && err.status != GM_LIMIT) {
                printf("round %u: %s\n", i, err.text);
                check_failures++;
            }
            refused++;
        } else {
            use(c, &r);
            good++;
        }
        gm_constraint_free(c);
        double took = (double)(clock() - from) / CLOCKS_PER_SEC;
        if (took > 2) {
            printf("round %u took %.1f s\n", i, took);
            check_failures++;
        }
    }
    printf("%u changed modules work, %u are refused\n", good, refused);
    CHECK(rounds < 1000 || (good > rounds / 20 && refused > rounds / 20));
    free(w);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        rounds = (uint32_t)strtoul(argv[1], NULL, 10);
        seed = strtoull(argv[2], NULL, 10);
    }
    vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    RUN(test_good_nodes);
    RUN(test_malformed_nodes);
    RUN(test_limits_have_names);
    RUN(test_time_is_looked_at_while_compiling);
    RUN(test_end_tokens_and_history);
    RUN(test_exact_id_at_the_top);
    RUN(test_changed_modules);
    gm_vocab_free(vocab);
    return check_result();
}
