/* Parts: a constraint that is linked of others takes over their steps, gives the same masks, keeps them alive, and is
 * freed without recursion; no refused allocation leaks. */
#include "world.h"

enum { WORDS = 4, STEPS = 12 };

static GmConstraint *linked(const World *w, int32_t root, GmVocab *vocab, GmConstraint *const *parts, uint32_t n, GmError *err)
{
    GmOptions options = world_options();
    options.mode = 1;
    return gm_constraint_link(vocab, w->rows, w->n_nodes, w->args, w->n_args, w->blob, w->n_blob, w->rules, w->n_rules,
                              (uint32_t)root, parts, n, &options, err);
}

/* Along a random text; the masks go to `seen`, or are compared with those there. */
static void walk(GmConstraint *c, uint64_t seed, uint32_t seen[STEPS][WORDS], bool compare)
{
    Rand r = {seed};
    GmState *s = gm_state_new(c, 0, NULL);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t words[WORDS], n = 0, allowed[32 * WORDS];
        CHECK_EQ(0, gm_state_mask(s, words, WORDS, NULL));
        CHECK(!compare || memcmp(words, seen[i], sizeof words) == 0);
        memcpy(seen[i], words, sizeof words);
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
        static uint32_t seen[8][STEPS][WORDS];
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

/* Another vocabulary has other numbers: such a part is left alone. */
static void test_parts_of_other_vocabularies(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS)), *other = world_vocab(WORLD_TEXTS, 12);
    World *w = world_new();
    GmError err = {0, 0, "", ""};
    static uint32_t seen[STEPS][WORDS];
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
        static uint32_t seen[STEPS][WORDS];
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
        gm_constraint_free(part);
        gm_constraint_free(c);
        gm_vocab_free(vocab);
        CHECK_EQ(0, counting.blocks);
        free(w);
    }
}

int main(void)
{
    RUN(test_steps_are_taken_over);
    RUN(test_parts_of_other_vocabularies);
    RUN(test_long_chains);
    RUN(test_refused_allocations);
    return check_result();
}
