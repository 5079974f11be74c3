/* States: masks agree with commits, clones and rollbacks with replays, memory stays flat on long texts. */
#include "world.h"

static GmConstraint *compile(uint32_t number, GmVocab *vocab, const uint32_t *ends, uint32_t n_ends)
{
    World *w = world_new();
    GmError err;
    GmOptions options = world_options();
    options.end_tokens = ends;
    options.n_end_tokens = n_ends;
    int32_t root = world_grammar(w, number);
    GmConstraint *c = world_compile(w, vocab, root, &options, &err);
    if (c == NULL) {
        printf("grammar %u: %s\n", number, err.text);
        check_failures++;
    }
    free(w);
    return c;
}

/* Random walks along allowed tokens; every mask is compared with what commits say. */
static void test_masks_agree_with_commits(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    const uint32_t ends[] = {5, 90};
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        Rand r = {g + 1};
        GmConstraint *c = compile(g, vocab, ends, N_OF(ends));
        for (uint32_t run = 0; c != NULL && run < 4; run++) {
            GmState *s = gm_state_new(c, 4, NULL);
            for (uint32_t step = 0; step < 12; step++) {
                AGREE(s, N_OF(WORLD_TEXTS));
                uint32_t words[4] = {0}, options[128], n = 0;
                CHECK_EQ(0, gm_state_mask(s, words, 4, NULL));
                for (uint32_t id = 0; id < 128; id++) {
                    if ((words[id >> 5] >> (id & 31) & 1) != 0 && id != 90 && id != 5) {
                        options[n++] = id;
                    }
                }
                if (n == 0) {
                    break;
                }
                CHECK_EQ(0, gm_state_commit_token(s, options[rand_below(&r, n)], NULL));
            }
            gm_state_free(s);
        }
        gm_constraint_free(c);
    }
    gm_vocab_free(vocab);
}

static bool same_mask(GmState *a, GmState *b)
{
    uint32_t x[4] = {1, 1, 1, 1}, y[4] = {2, 2, 2, 2};
    CHECK_EQ(0, gm_state_mask(a, x, 4, NULL));
    CHECK_EQ(0, gm_state_mask(b, y, 4, NULL));
    return memcmp(x, y, sizeof x) == 0 && gm_state_flags(a, NULL) == gm_state_flags(b, NULL);
}

/* After any mix of commits (failing ones too), rollbacks and clones a state equals a replay of its history. */
static void test_rollback_and_clone_equal_replay(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        Rand r = {g + 100};
        GmConstraint *c = compile(g, vocab, NULL, 0);
        if (c == NULL) {
            continue;
        }
        GmState *s = gm_state_new(c, 8, NULL);
        uint32_t history[256], n = 0, undoable = 0;
        for (uint32_t step = 0; step < 150; step++) {
            uint32_t what = rand_below(&r, 10);
            if (what < 7) {
                uint32_t id = rand_below(&r, N_OF(WORLD_TEXTS)), words[4];
                CHECK_EQ(0, gm_state_mask(s, words, 4, NULL));
                for (uint32_t tries = 0; tries < 60 && what < 6 && (words[id >> 5] >> (id & 31) & 1) == 0; tries++) {
                    id = rand_below(&r, N_OF(WORLD_TEXTS));
                }
                int code = gm_state_commit_token(s, id, NULL);
                CHECK(code == 0 || code == 2 || code == 4);
                if (code != 2 && n < 256) {
                    history[n++] = id;
                    undoable = undoable < 8 ? undoable + 1 : 8;
                }
            } else if (what < 9) {
                uint32_t by = rand_below(&r, 5);
                CHECK_EQ(by <= undoable, gm_state_rollback(s, by, NULL));
                if (by <= undoable) {
                    n -= by;
                    undoable -= by;
                }
            } else {
                GmState *copy = gm_state_clone(s, NULL);
                gm_state_free(s);
                s = copy;
            }
            GmState *again = gm_state_new(c, 0, NULL);
            for (uint32_t i = 0; i < n; i++) {
                (void)gm_state_commit_token(again, history[i], NULL);
            }
            CHECK(same_mask(s, again));
            gm_state_free(again);
        }
        gm_state_free(s);
        gm_constraint_free(c);
    }
    gm_vocab_free(vocab);
}

static void test_commit_codes(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    const uint32_t ends[] = {90};
    GmConstraint *c = compile(1, vocab, ends, 1); /* sums */
    GmState *s = gm_state_new(c, 8, NULL);
    CHECK_EQ(91, gm_constraint_width(c));
    CHECK_EQ(0, gm_state_flags(s, NULL));
    CHECK_EQ(3, gm_state_commit_token(s, 1000, NULL));
    CHECK_EQ(5, gm_state_commit_token(s, 90, NULL));
    CHECK_EQ(2, gm_state_flags(s, NULL));
    CHECK_EQ(2, gm_state_commit_token(s, 24, NULL));
    CHECK_EQ(1, gm_state_rollback(s, 1, NULL));
    CHECK_EQ(0, gm_state_commit_bytes(s, (const uint8_t *)"(1+x)", 5, NULL));
    CHECK_EQ(1, gm_state_flags(s, NULL));
    CHECK_EQ(0, gm_state_commit_token(s, 90, NULL));
    CHECK_EQ(5, gm_state_flags(s, NULL));
    CHECK_EQ(1, gm_state_commit_token(s, 24, NULL));
    CHECK_EQ(1, gm_state_rollback(s, 2, NULL));
    CHECK_EQ(0, gm_state_rollback(s, 1, NULL));
    CHECK_EQ(4, gm_state_commit_bytes(s, (const uint8_t *)"1)", 2, NULL));
    gm_state_free(s);
    gm_constraint_free(c);
    gm_vocab_free(vocab);
}

static void test_deep_and_long_texts(void)
{
    enum { DEPTH = 100000 };
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    GmConstraint *c = compile(0, vocab, NULL, 0); /* json */
    GmState *s = gm_state_new(c, 2, NULL);
    uint32_t words[4];
    size_t after_1000 = 0;
    CHECK_EQ(0, gm_state_commit_token(s, 15, NULL));
    for (uint32_t i = 0; i < 20000; i++) { /* [ [[ ]] , [[ ]] , ... : depth 3, 200,000 bytes with the masks between */
        CHECK_EQ(0, gm_state_commit_bytes(s, (const uint8_t *)"[[1]],[12]", 10, NULL));
        CHECK_EQ(0, gm_state_mask(s, words, 4, NULL));
        CHECK_EQ(0, gm_state_commit_token(s, 20, NULL));
        if (i == 1000) {
            after_1000 = s->mem.used;
        }
    }
    CHECK(after_1000 > 0 && s->mem.used <= after_1000);
    gm_state_free(s);
    s = gm_state_new(c, 2, NULL);
    for (uint32_t i = 0; i < DEPTH; i++) {
        CHECK_EQ(0, gm_state_commit_token(s, 15, NULL));
    }
    CHECK(s->mem.used < 64 << 20);
    for (uint32_t i = 0; i < DEPTH; i++) {
        CHECK_EQ(0, gm_state_commit_token(s, 16, NULL));
        if (i % 1000 == 0) {
            CHECK_EQ(0, gm_state_mask(s, words, 4, NULL));
        }
    }
    CHECK_EQ(1, gm_state_flags(s, NULL));
    gm_state_free(s);
    gm_constraint_free(c);
    gm_vocab_free(vocab);
}

int main(void)
{
    RUN(test_masks_agree_with_commits);
    RUN(test_rollback_and_clone_equal_replay);
    RUN(test_commit_codes);
    RUN(test_deep_and_long_texts);
    return check_result();
}
