/* The network: small grammars over single letters against their languages, word by word, and the shapes that
 * states take. */
#include "world.h"

enum { LONGEST = 4, BOUND = 9, WORDS_TO_BOUND = 29524 };

static GmVocab *vocab;

static GmConstraint *compile(const World *w, int32_t root)
{
    GmOptions options = world_options();
    GmError err = {0, 0, "", ""};
    GmConstraint *c = world_compile(w, vocab, root, &options, &err);
    if (c == NULL) {
        printf("refused: %s\n", err.text);
        check_failed();
    }
    return c;
}

/* Every word over {a, b, c} up to LONGEST: accepted exactly when `member` says so, and alive exactly when it
 * begins a member (members of up to BOUND letters are enough to tell). */
static void check_language(const World *w, int32_t root, bool (*member)(const char *))
{
    GmConstraint *c = compile(w, root);
    static bool alive[WORDS_TO_BOUND]; /* by word number */
    uint32_t first[BOUND + 2], count = 1, n_words = 0;
    char word[BOUND + 1];
    for (uint32_t n = 0; n <= BOUND; n++, count *= 3) {
        first[n] = n_words;
        n_words += count;
    }
    first[BOUND + 1] = n_words;
    CHECK_EQ(WORDS_TO_BOUND, n_words);
    for (uint32_t n = BOUND + 1; n-- > 0;) {
        uint32_t of_length = first[n + 1] - first[n], i = first[n];
        for (uint32_t code = 0; code < of_length; code++) {
            uint32_t rest = code;
            for (uint32_t k = n; k-- > 0; rest /= 3) {
                word[k] = (char)('a' + rest % 3);
            }
            word[n] = 0;
            alive[i + code] = member(word);
            for (uint32_t k = 0; k < 3 && n < BOUND; k++) {
                alive[i + code] = alive[i + code] || alive[first[n + 1] + 3 * code + k];
            }
        }
    }
    for (uint32_t n = 0; c != NULL && n <= LONGEST; n++) {
        for (uint32_t code = 0; code < first[n + 1] - first[n]; code++) {
            uint32_t rest = code;
            for (uint32_t k = n; k-- > 0; rest /= 3) {
                word[k] = (char)('a' + rest % 3);
            }
            word[n] = 0;
            GmState *s = gm_state_new(c, 0, NULL);
            int got = n == 0 ? 0 : gm_state_commit_bytes(s, (const uint8_t *)word, n, NULL), flags = gm_state_flags(s, NULL);
            if ((got == 0) != alive[first[n] + code] || ((flags & 1) != 0) != member(word)) {
                printf("\"%s\": commit %d, flags %d; a member: %d, begins one: %d\n", word, got, flags, member(word), alive[first[n] + code]);
                check_failed();
            }
            gm_state_free(s);
        }
    }
    gm_constraint_free(c);
}

static bool a_then_bs(const char *t) /* s: s b | a */
{
    return t[0] == 'a' && strspn(t + 1, "b") == strlen(t + 1);
}

static void test_direct_left_recursion(void)
{
    World *w = world_new();
    int32_t s = w_rule(w);
    w_define(w, s, W_CHOICE(w, W_SEQ(w, w_call(w, s), w_word(w, "b")), w_word(w, "a")));
    check_language(w, w_call(w, s), a_then_bs);
    free(w);
}

static bool mutual(const char *t) /* s: t b | a;  t: s c | c  ->  (a | c b) (c b)* */
{
    if (strncmp(t, "cb", 2) == 0) {
        t += 2;
    } else if (*t == 'a') {
        t += 1;
    } else {
        return false;
    }
    while (strncmp(t, "cb", 2) == 0) {
        t += 2;
    }
    return *t == 0;
}

static void test_mutual_left_recursion(void)
{
    World *w = world_new();
    int32_t s = w_rule(w), t = w_rule(w);
    w_define(w, s, W_CHOICE(w, W_SEQ(w, w_call(w, t), w_word(w, "b")), w_word(w, "a")));
    w_define(w, t, W_CHOICE(w, W_SEQ(w, w_call(w, s), w_word(w, "c")), w_word(w, "c")));
    check_language(w, w_call(w, s), mutual);
    free(w);
}

static bool hidden(const char *t) /* s: c? s b | a  ->  c^i a b^j, i <= j */
{
    size_t i = strspn(t, "c"), j = t[i] == 'a' ? strspn(t + i + 1, "b") : 0;
    return t[i] == 'a' && t[i + 1 + j] == 0 && i <= j;
}

static void test_hidden_left_recursion(void)
{
    World *w = world_new();
    int32_t s = w_rule(w), empty = w_node(w, IR_LITERAL, 0, 0, 0);
    int32_t maybe = W_CHOICE(w, w_word(w, "c"), empty);
    w_define(w, s, W_CHOICE(w, W_SEQ(w, maybe, w_call(w, s), w_word(w, "b")), w_word(w, "a")));
    check_language(w, w_call(w, s), hidden);
    free(w);
}

static bool nested(const char *t) /* a^n b^n, also none */
{
    size_t n = strspn(t, "a");
    return strspn(t + n, "b") == n && t[2 * n] == 0;
}

static void test_centre_recursion(void)
{
    World *w = world_new();
    int32_t s = w_rule(w), empty = w_node(w, IR_LITERAL, 0, 0, 0);
    w_define(w, s, W_CHOICE(w, W_SEQ(w, w_word(w, "a"), w_call(w, s), w_word(w, "b")), empty));
    check_language(w, w_call(w, s), nested);
    free(w);
}

static bool useless(const char *t) { return strcmp(t, "ab") == 0; }

/* Alternatives that can never complete are not followed: no text may lead into them. */
static void test_useless_alternatives(void)
{
    World *w = world_new();
    int32_t endless = w_rule(w), nothing = w_node(w, IR_NOTHING, 0, 0, 0);
    w_define(w, endless, W_SEQ(w, w_word(w, "a"), w_call(w, endless)));
    int32_t root = W_CHOICE(w, W_SEQ(w, w_word(w, "a"), w_call(w, endless)), W_SEQ(w, w_word(w, "b"), nothing),
                            W_SEQ(w, w_word(w, "a"), w_word(w, "b")), w_repeat(w, w_call(w, endless), 1, 200));
    check_language(w, root, useless);
    free(w);
}

static bool loops(const char *t) { return strspn(t, "a") == strlen(t); }

/* Rules that call themselves and read nothing: s: s | s s | a | (empty). */
static void test_cycles(void)
{
    World *w = world_new();
    int32_t s = w_rule(w), empty = w_node(w, IR_LITERAL, 0, 0, 0);
    w_define(w, s, W_CHOICE(w, w_call(w, s), W_SEQ(w, w_call(w, s), w_call(w, s)), w_word(w, "a"), empty,
                            w_repeat(w, w_call(w, s), 0, -1)));
    check_language(w, w_call(w, s), loops);
    free(w);
}

static bool counted_a(const char *t) /* a{2,4} c? */
{
    size_t n = strspn(t, "a");
    return n >= 2 && n <= 4 && (t[n] == 0 || (t[n] == 'c' && t[n + 1] == 0));
}

/* Counts, with bodies of a size that keeps them lazy, as bodies of rules too. */
static void test_counts(void)
{
    for (uint32_t kind = 0; kind < 3; kind++) {
        World *w = world_new();
        int32_t body = w_word(w, "a"), rule = w_rule(w), empty = w_node(w, IR_LITERAL, 0, 0, 0), alike[40];
        for (uint32_t i = 0; i < 40; i++) {
            alike[i] = kind == 0 ? body : w_term(w, w_lit(w, "a"));
        }
        int32_t heavy = w_list(w, IR_CHOICE, alike, kind == 0 ? 1 : 40);
        int32_t count = w_repeat(w, heavy, 2, 4);
        w_define(w, rule, count);
        int32_t first = kind == 2 ? w_call(w, rule) : count;
        check_language(w, W_SEQ(w, first, W_CHOICE(w, w_word(w, "c"), empty)), counted_a);
        if (kind == 2) {
            World *only = world_new(); /* a rule whose body is nothing but the repeat */
            memcpy(only, w, sizeof *only);
            GmConstraint *c = compile(only, count);
            GmState *s = gm_state_new(c, 0, NULL);
            CHECK_EQ(0, gm_state_commit_bytes(s, (const uint8_t *)"aaaa", 4, NULL));
            CHECK_EQ(1, gm_state_flags(s, NULL));
            CHECK_EQ(4, gm_state_commit_bytes(s, (const uint8_t *)"a", 1, NULL));
            gm_state_free(s);
            gm_constraint_free(c);
            free(only);
        }
        free(w);
    }
}

static bool separated(const char *t) /* a (b a){1,2} */
{
    return strcmp(t, "aba") == 0 || strcmp(t, "ababa") == 0;
}

static void test_separators(void)
{
    World *w = world_new();
    check_language(w, w_separated(w, w_word(w, "a"), w_word(w, "b"), 2, 3), separated);
    free(w);
}

static bool free_order(const char *t) /* a and b once each in any order, c at most once; two or three members */
{
    uint32_t seen = 0;
    for (; *t != 0; t++) {
        if ((seen >> (*t - 'a') & 1) != 0) {
            return false;
        }
        seen |= 1u << (*t - 'a');
    }
    return (seen & 3) == 3;
}

static void test_free_order(void)
{
    World *w = world_new();
    int32_t list[] = {-1, -1, 0, -1, w_word(w, "a"), 1, w_word(w, "b"), 1, w_word(w, "c"), 0};
    check_language(w, w_node(w, IR_ANY_ORDER, w_args(w, list, N_OF(list)), 3, 0), free_order);
    free(w);
}

static bool two_of_three(const char *t)
{
    return strlen(t) == 2 && t[0] != t[1] && strspn(t, "ac") == 2;
}

/* Two of three optional members, of which one can never complete: the other two must come. */
static void test_free_order_with_a_dead_member(void)
{
    World *w = world_new();
    int32_t endless = w_rule(w);
    w_define(w, endless, W_SEQ(w, w_word(w, "b"), w_call(w, endless)));
    int32_t list[] = {-1, -1, 2, -1, w_word(w, "a"), 0, w_call(w, endless), 0, w_word(w, "c"), 0};
    check_language(w, w_node(w, IR_ANY_ORDER, w_args(w, list, N_OF(list)), 3, 0), two_of_three);
    free(w);
    w = world_new(); /* three of them cannot */
    endless = w_rule(w);
    w_define(w, endless, W_SEQ(w, w_word(w, "b"), w_call(w, endless)));
    int32_t more[] = {-1, -1, 3, -1, w_word(w, "a"), 0, w_call(w, endless), 0, w_word(w, "c"), 0};
    int32_t never = w_node(w, IR_ANY_ORDER, w_args(w, more, N_OF(more)), 3, 0);
    check_language(w, W_CHOICE(w, never, W_SEQ(w, w_word(w, "a"), w_word(w, "b"))), useless);
    free(w);
}

/* Sharing keeps what unfolds to 2^n small; a chain of rules is settled in linear time. */
static void test_shapes_stay_small(void)
{
    World *w = world_new();
    int32_t node = w_word(w, "a");
    for (uint32_t i = 0; i < 100; i++) {
        node = W_SEQ(w, node, node);
    }
    GmConstraint *c = compile(w, W_CHOICE(w, node, w_word(w, "b")));
    GmReport report;
    memset(&report, 0, sizeof report);
    if (c != NULL) {
        gm_constraint_report(c, &report);
    }
    CHECK(report.memory_bytes < 1 << 20);
    gm_constraint_free(c);
    memset(w, 0, sizeof *w);
    node = w_word(w, "a");
    for (uint32_t i = 0; i < 30; i++) { /* ((a{2}){2}){2} ... */
        node = w_repeat(w, node, 2, 2);
    }
    c = compile(w, W_CHOICE(w, node, w_word(w, "b")));
    if (c != NULL) {
        gm_constraint_report(c, &report);
    }
    CHECK(report.memory_bytes < 1 << 20);
    gm_constraint_free(c);
    memset(w, 0, sizeof *w);
    int32_t empty = w_node(w, IR_LITERAL, 0, 0, 0), calls[500];
    for (uint32_t i = 0; i < 500; i++) {
        int32_t rule = w_rule(w);
        calls[i] = w_call(w, rule);
    }
    for (uint32_t i = 0; i < 500; i++) {
        w_define(w, (int32_t)i, i + 1 < 500 ? W_CHOICE(w, calls[i + 1], w_word(w, "a")) : empty);
    }
    c = compile(w, calls[0]);
    GmState *s = gm_state_new(c, 0, NULL);
    CHECK_EQ(1, gm_state_flags(s, NULL));
    gm_state_free(s);
    gm_constraint_free(c);
    free(w);
}

int main(void)
{
    vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    RUN(test_direct_left_recursion);
    RUN(test_mutual_left_recursion);
    RUN(test_hidden_left_recursion);
    RUN(test_centre_recursion);
    RUN(test_useless_alternatives);
    RUN(test_cycles);
    RUN(test_counts);
    RUN(test_separators);
    RUN(test_free_order);
    RUN(test_free_order_with_a_dead_member);
    RUN(test_shapes_stay_small);
    gm_vocab_free(vocab);
    return check_result();
}
