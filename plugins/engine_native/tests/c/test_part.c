/* Parts: a constraint that is linked of others takes over their steps and, of the one its module begins with, the
 * lowering, states and summaries; it gives the same masks, keeps them alive, and is freed without recursion; no refused allocation leaks. */
#include "gm_constraint.h"
#include "world.h"

enum { WORDS = 4, STEPS = 12, HOSTS = 6 };

static GmConstraint *linked(const World *w, int32_t root, GmVocab *vocab, GmConstraint *const *parts, uint32_t n, GmError *err)
{
    GmOptions options = world_options();
    options.mode = 1;
    return gm_constraint_link(vocab, w->rows, w->n_nodes, w->args, w->n_args, w->blob, w->n_blob, w->rules, w->n_rules,
                              (uint32_t)root, parts, n, &options, err);
}

/* Along a random text; the masks and flags go to `seen`, or are compared with those there. */
static void walk(GmConstraint *c, uint64_t seed, uint32_t seen[STEPS][WORDS + 1], bool compare)
{
    Rand r = {seed};
    GmState *s = gm_state_new(c, 0, NULL);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t words[WORDS], n = 0, allowed[32 * WORDS];
        CHECK_EQ(0, gm_state_mask(s, words, WORDS, NULL));
        CHECK(!compare || memcmp(words, seen[i], sizeof words) == 0);
        uint32_t flags = (uint32_t)gm_state_flags(s, NULL);
        CHECK(!compare || flags == seen[i][WORDS]);
        memcpy(seen[i], words, sizeof words);
        seen[i][WORDS] = flags;
        for (uint32_t id = 0; id < 32 * WORDS; id++) {
            if ((words[id >> 5] >> (id & 31) & 1) != 0) {
                allowed[n++] = id;
            }
        }
        if (n == 0) {
            break;
        }
        CHECK_EQ(0, gm_state_commit_token(s, allowed[rand_below(&r, n)], NULL));
    }
    gm_state_free(s);
}

static void test_steps_are_taken_over(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    uint64_t alone = 0, again = 0;
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        World *w = world_new();
        GmError err = {0, 0, "", ""};
        static uint32_t seen[8][STEPS][WORDS + 1];
        int32_t root = world_grammar(w, g);
        GmConstraint *part = linked(w, root, vocab, NULL, 0, &err), *c = linked(w, root, vocab, &part, 1, &err);
        CHECK(part != NULL && c != NULL);
        for (uint64_t seed = 0; seed < 8; seed++) {
            walk(part, seed, seen[seed], false);
        }
        GmReport report;
        gm_constraint_report(part, &report);
        alone += report.walked;
        gm_constraint_free(part); /* kept by what was linked of it */
        for (uint64_t seed = 0; seed < 8; seed++) {
            walk(c, seed, seen[seed], true);
        }
        gm_constraint_report(c, &report);
        again += report.walked;
        gm_constraint_free(c);
        free(w);
    }
    CHECK(again * 20 < alone);
    gm_vocab_free(vocab);
}

/* A part: the grammar with an ignore of its own, or the empty text beside it; a heavy one is not built in line. */
static int32_t part_of(World *w, uint32_t g, int32_t inside, bool heavy)
{
    int32_t list[20] = {inside, w_node(w, IR_LITERAL, 0, 0, 0)};
    uint32_t n = g % 2 == 1 ? 1 : 2;
    for (int32_t i = 0; heavy && i < 16; i++) {
        list[n++] = w_word(w, (char[]){'0', (char)('A' + i), 0});
    }
    int32_t root = w_list(w, IR_CHOICE, list, n);
    return g % 2 == 1 ? w_node(w, IR_SCOPE, root, w_set(w, "b", false), 0) : root;
}

/* A host around the part `root`, whose grammar is `inside`, and which reaches it in several ways; its start node. */
static int32_t host(World *w, uint32_t number, int32_t root, int32_t inside)
{
    int32_t ignored = w_set(w, " ", false), rule = w_rule(w), call = w_call(w, rule);
    int32_t inner = w_node(w, IR_SCOPE, root, -1, 0), spaced = w_node(w, IR_SCOPE, inside, ignored, 0);
    int32_t word = w_lex_repeat(w, w_set(w, "abcdefinxy", false), 1, -1); /* searched for emptiness in a part, too */
    int32_t a = w_word(w, "a"), x = w_term(w, w_node(w, IR_WITHOUT, word, w_lit(w, "ab"), 0)), body;
    switch (number) {
    case 0: /* once, where it may end at once */
        body = w_list(w, IR_SEQ, (int32_t[]){a, inner}, 2);
        break;
    case 1: /* left-recursive, after and before itself */
        body = w_list(w, IR_CHOICE, (int32_t[]){w_list(w, IR_SEQ, (int32_t[]){call, inner}, 2), inner, x}, 3);
        break;
    case 2: /* a nullable child at the left makes the rule left-recursive */
        body = w_node(w, IR_SCOPE, root, ignored, 0);
        body = w_list(w, IR_CHOICE, (int32_t[]){w_list(w, IR_SEQ, (int32_t[]){body, call, a}, 3), x}, 2);
        break;
    case 3: /* counted, in a scope with an ignore, the whole again */
        body = w_repeat(w, w_list(w, IR_SEQ, (int32_t[]){spaced, w_node(w, IR_SCOPE, inner, -1, 0)}, 2), 0, 70);
        break;
    case 4: /* counted: of a nullable part fewer will do */
        body = w_list(w, IR_SEQ, (int32_t[]){a, w_repeat(w, inner, 2, 70)}, 2);
        break;
    default: /* counted and left-recursive through its own body, so the build is done twice */
        body = w_list(w, IR_CHOICE, (int32_t[]){w_list(w, IR_SEQ, (int32_t[]){w_repeat(w, call, 2, 70), inner}, 2), x}, 2);
        break;
    }
    w_define(w, rule, body);
    return w_node(w, IR_SCOPE, call, ignored, 0);
}

static bool begins_with(const GmConstraint *c, const GmConstraint *part)
{
    const GmNfa *nfa = &c->core.net.nfa, *other = &part->core.net.nfa;
    return nfa->rules.len >= other->rules.len && nfa->rules.data[0].node == other->rules.data[0].node &&
           nfa->edges.len >= other->edges.len &&
           memcmp(nfa->edges.data, other->edges.data, other->edges.len * sizeof *nfa->edges.data) == 0;
}

static void test_lowering_is_taken_over(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    uint32_t refused = 0;
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        for (uint32_t number = 0; number < 2 * HOSTS; number++) {
            World *w = world_new();
            GmError err = {0, 0, "", ""};
            static uint32_t seen[STEPS][WORDS + 1];
            int32_t inside = world_grammar(w, g), root = part_of(w, g, inside, number >= HOSTS);
            GmConstraint *part = linked(w, root, vocab, NULL, 0, &err);
            for (uint64_t seed = 0; seed < 3; seed++) {
                walk(part, seed, seen, false); /* its nodes and states grow; only those of the build are taken */
            }
            int32_t top = host(w, number % HOSTS, root, inside);
            GmConstraint *plain = linked(w, top, vocab, NULL, 0, &err), *c = linked(w, top, vocab, &part, 1, &err);
            CHECK((plain == NULL) == (c == NULL)); /* the last host is refused for some */
            refused += c == NULL;
            if (c != NULL) {
                bool taken = begins_with(c, part);
                CHECK(taken || number % HOSTS == 2); /* which has the part's nodes in an ignore of its own: other rules */
                CHECK(!begins_with(plain, part));
                CHECK(number % HOSTS > 1 ||
                      c->core.net.groups.member.len == part->core.net.groups.member.len + number % HOSTS);
                CHECK((c->core.net.taken > 0) == (taken && c->core.net.groups.member.len == 0)); /* else states are merged */
                CHECK(plain->core.net.root_nullable == c->core.net.root_nullable);
                CHECK_EQ(gm_constraint_width(plain), gm_constraint_width(c));
                gm_constraint_free(part);
                for (uint64_t seed = 0; seed < 8; seed++) {
                    walk(plain, seed, seen, false);
                    walk(c, seed, seen, true);
                }
                int32_t outer = host(w, 0, top, top); /* a part that has taken over itself */
                GmConstraint *nested = linked(w, outer, vocab, &c, 1, &err), *flat = linked(w, outer, vocab, NULL, 0, &err);
                CHECK(nested != NULL && flat != NULL && begins_with(nested, c));
                gm_constraint_free(c);
                for (uint64_t seed = 0; seed < 4; seed++) {
                    walk(flat, seed, seen, false);
                    walk(nested, seed, seen, true);
                }
                gm_constraint_free(nested);
                gm_constraint_free(flat);
            } else {
                gm_constraint_free(part);
            }
            gm_constraint_free(plain);
            free(w);
        }
    }
    CHECK(refused < 2 * GRAMMARS);
    gm_vocab_free(vocab);
}

/* A part is called, not built a second time, and weighs what it does alone. */
static void test_nothing_is_built_twice(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    World *w = world_new();
    GmError err = {0, 0, "", ""};
    int32_t words[40];
    for (uint32_t i = 0; i < N_OF(words); i++) {
        words[i] = w_list(w, IR_SEQ, (int32_t[]){w_word(w, "a"), w_word(w, (char[]){(char)('A' + i), 0})}, 2);
    }
    int32_t root = w_list(w, IR_CHOICE, words, N_OF(words));
    GmConstraint *part = linked(w, root, vocab, NULL, 0, &err);
    for (uint32_t number = 0; number < 2; number++) {
        int32_t inner = w_node(w, IR_SCOPE, root, -1, 0);
        int32_t top = w_list(w, IR_SEQ, (int32_t[]){inner, host(w, number, root, root), w_repeat(w, inner, 0, 20), inner}, 4);
        GmConstraint *c = linked(w, top, vocab, &part, 1, &err);
        CHECK(c->core.net.nfa.states.len < part->core.net.nfa.states.len + 30);
        gm_constraint_free(c);
    }
    gm_constraint_free(part);
    gm_vocab_free(vocab);
    free(w);
}

/* Tokens that go on behind a part whose last terminal may not end where it could be longer: what it owes there is a
 * language that the whole does not know before it has read a token itself. */
static void test_debts_of_summaries(void)
{
    static const char *const texts[] = {"1", "a", "b", "ab", "1a", "1ab", "1ax", "1aba", "1abax", "1x", "x", "ax"};
    GmVocab *vocab = world_vocab(texts, N_OF(texts));
    World *w = world_new();
    GmError err = {0, 0, "", ""};
    static uint32_t seen[STEPS][WORDS + 1];
    int32_t one = w_list(w, IR_LEX_SEQ, (int32_t[]){w_lit(w, "1"), w_lex_repeat(w, w_lit(w, "ab"), 0, 3)}, 2);
    int32_t root = part_of(w, 0, w_term(w, one), true); /* after "1a" it owes a "b", or may be over */
    GmConstraint *part = linked(w, root, vocab, NULL, 0, &err);
    walk(part, 0, seen, false);
    int32_t inner = w_node(w, IR_SCOPE, root, -1, 0), a = w_word(w, "a");
    int32_t top = w_list(w, IR_SEQ, (int32_t[]){inner, a, inner, w_word(w, "x")}, 4);
    GmConstraint *plain = linked(w, top, vocab, NULL, 0, &err);
    for (uint64_t seed = 0; seed < 20; seed++) {
        GmConstraint *c = linked(w, top, vocab, &part, 1, &err);
        walk(plain, seed, seen, false);
        walk(c, seed, seen, true);
        gm_constraint_free(c);
    }
    gm_constraint_free(plain);
    gm_constraint_free(part);
    gm_vocab_free(vocab);
    free(w);
}

/* What a limit of the whole forbids is not taken over from a part that had a larger one. */
static void test_limits_of_the_whole(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    World *w = world_new();
    GmError err = {0, 0, "", ""};
    int32_t root = world_json(w);
    GmConstraint *part = linked(w, root, vocab, NULL, 0, &err);
    int32_t top = host(w, 0, root, root);
    for (uint32_t which = 0; which < 2; which++) {
        GmOptions options = world_options();
        options.mode = 1;
        *(which == 0 ? &options.states : &options.lexer_states) = 5;
        CHECK(gm_constraint_link(vocab, w->rows, w->n_nodes, w->args, w->n_args, w->blob, w->n_blob, w->rules, w->n_rules,
                                 (uint32_t)top, &part, 1, &options, &err) == NULL);
        CHECK_EQ(GM_LIMIT, err.status);
    }
    GmOptions options = world_options();
    options.mode = 1;
    options.lexer_states--; /* terminals that were searched under a larger one may be refused */
    GmConstraint *c = gm_constraint_link(vocab, w->rows, w->n_nodes, w->args, w->n_args, w->blob, w->n_blob, w->rules,
                                         w->n_rules, (uint32_t)top, &part, 1, &options, &err);
    CHECK(!begins_with(c, part));
    gm_constraint_free(c);
    gm_constraint_free(part);
    gm_vocab_free(vocab);
    free(w);
}

/* Another vocabulary has other numbers: such a part is left alone. */
static void test_parts_of_other_vocabularies(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS)), *other = world_vocab(WORLD_TEXTS, 12);
    World *w = world_new();
    GmError err = {0, 0, "", ""};
    static uint32_t seen[STEPS][WORDS + 1];
    int32_t root = world_grammar(w, 1);
    GmConstraint *part = linked(w, root, other, NULL, 0, &err), *plain = linked(w, root, vocab, NULL, 0, &err);
    walk(part, 1, seen, false);
    GmConstraint *c = linked(w, root, vocab, &part, 1, &err);
    walk(plain, 2, seen, false);
    walk(c, 2, seen, true);
    gm_constraint_free(c);
    gm_constraint_free(plain);
    gm_constraint_free(part);
    gm_vocab_free(vocab);
    gm_vocab_free(other);
    free(w);
}

static void test_long_chains(void)
{
    Counting counting;
    GmError err = {0, 0, "", ""};
    memset(&counting, 0, sizeof counting);
    GmVocab *vocab = world_vocab_with(counting_resize, &counting, WORLD_TEXTS, N_OF(WORLD_TEXTS), &err);
    World *w = world_new();
    int32_t root = w_word(w, "a");
    GmConstraint *last = NULL;
    for (uint32_t i = 0; i < 20000; i++) {
        GmConstraint *next = linked(w, root, vocab, &last, last != NULL, &err);
        CHECK(next != NULL);
        gm_constraint_free(last);
        last = next;
    }
    gm_constraint_free(last);
    gm_vocab_free(vocab);
    CHECK_EQ(0, counting.blocks);
    free(w);
}

static void test_refused_allocations(void)
{
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        Counting counting;
        GmError err = {0, 0, "", ""};
        static uint32_t seen[STEPS][WORDS + 1];
        memset(&counting, 0, sizeof counting);
        GmVocab *vocab = world_vocab_with(counting_resize, &counting, WORLD_TEXTS, N_OF(WORLD_TEXTS), &err);
        World *w = world_new();
        int32_t root = world_grammar(w, g);
        GmConstraint *part = linked(w, root, vocab, NULL, 0, &err), *c = NULL;
        walk(part, g, seen, false);
        for (size_t fail = 1; c == NULL; fail++) {
            counting.fail_at = counting.calls + fail;
            c = linked(w, root, vocab, &part, 1, &err);
            CHECK(c != NULL || err.status == GM_NOMEM);
        }
        counting.fail_at = 0;
        GmState *s = gm_state_new(c, 0, NULL);
        uint32_t words[WORDS], tries = 0;
        do { /* each call gets further */
            counting.fail_at = counting.calls + 1 + tries % 7;
        } while (gm_state_mask(s, words, WORDS, &err) != 0 && err.status == GM_NOMEM && ++tries < 1000);
        counting.fail_at = 0;
        CHECK(tries < 1000);
        walk(c, g, seen, true);
        gm_state_free(s);
        gm_constraint_free(c);
        for (uint32_t number = 0; number <= HOSTS; number++) {
            int32_t top = number < HOSTS ? host(w, number, root, root) : w_word(w, "a"); /* which does not reach the part */
            err.status = GM_NOMEM;
            for (size_t fail = 1; err.status == GM_NOMEM; fail++) {
                err.status = GM_OK;
                counting.fail_at = counting.calls + fail;
                gm_constraint_free(linked(w, top, vocab, &part, 1, &err));
            }
            counting.fail_at = 0;
            CHECK(err.status == GM_OK || number == HOSTS - 1); /* refused for some */
        }
        gm_constraint_free(part);
        gm_vocab_free(vocab);
        CHECK_EQ(0, counting.blocks);
        free(w);
    }
}

int main(void)
{
    RUN(test_steps_are_taken_over);
    RUN(test_lowering_is_taken_over);
    RUN(test_nothing_is_built_twice);
    RUN(test_debts_of_summaries);
    RUN(test_limits_of_the_whole);
    RUN(test_parts_of_other_vocabularies);
    RUN(test_long_chains);
    RUN(test_refused_allocations);
    return check_result();
}
