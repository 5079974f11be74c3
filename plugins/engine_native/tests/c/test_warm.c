/* What AUTO's worker makes ahead of need is counted and bounded: per constraint by half of mask_cache_bytes, and for
 * all of a vocabulary; where it stops, masks are the same. */
#include "gm_warm.h"
#include "world.h"

enum { WORDS = 4, ALL = 128 << 20, PART = 8 }; /* ALL, PART: gm_warm.c */

static GmWorker *tables;
static GmError err;

static GmConstraint *compile(GmVocab *vocab, uint32_t number, uint64_t mask_cache_bytes)
{
    World *w = world_new();
    GmOptions options = world_options();
    options.mask_cache_bytes = mask_cache_bytes;
    int32_t root = world_grammar(w, number);
    GmConstraint *c = world_compile(w, vocab, root, &options, &err);
    CHECK(c != NULL);
    free(w);
    return c;
}

static GmReport report_of(GmConstraint *c)
{
    GmReport report;
    gm_constraint_report(c, &report);
    return report;
}

/* Bytes by owner add up. */
static void check_usage(GmConstraint *c)
{
    GmUsage usage;
    CHECK_EQ(0, gm_constraint_usage(c, &usage, &err));
    uint64_t sum = 0, parts[sizeof usage / sizeof(uint64_t)];
    memcpy(parts, &usage, sizeof usage);
    for (uint32_t i = 0; i < N_OF(parts); i++) {
        sum += parts[i];
    }
    CHECK_EQ(report_of(c).memory_bytes, sum);
    CHECK(usage.grammar > 0 && usage.lexer_states > 0 && usage.views > 0);
    CHECK_EQ(report_of(c).mask_bytes, usage.masks);
    CHECK(report_of(c).steps == 0 || usage.steps > 0);
}

static void warm(GmConstraint *c)
{
    gm_worker_add(tables, c);
    const double start = gm_seconds();
    while (!gm_worker_idle(tables) && gm_seconds() - start < 30) {
        struct timespec pause = {0, 100000};
        (void)nanosleep(&pause, NULL);
    }
    CHECK(gm_worker_idle(tables));
}

static void test_a_constraint(void)
{
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
        GmConstraint *c = compile(vocab, g, 64 << 20);
        const uint64_t cold = report_of(c).memory_bytes;
        CHECK_EQ(0, report_of(c).warm_bytes);
        check_usage(c);
        warm(c);
        check_usage(c);
        const GmReport full = report_of(c);
        CHECK(full.warm_bytes > 1000 && full.memory_bytes == cold + full.warm_bytes); /* its own lists are gone */
        CHECK_EQ(full.warm_bytes, atomic_load(&vocab->warmed));
        for (uint64_t most = 0; most < full.warm_bytes; most += full.warm_bytes / 5) {
            GmConstraint *less = compile(vocab, g, most);
            warm(less);
            CHECK(report_of(less).warm_bytes <= most / 2);
            CHECK_EQ(full.warm_bytes + report_of(less).warm_bytes, atomic_load(&vocab->warmed));
            CHECK_EQ(cold + report_of(less).warm_bytes, report_of(less).memory_bytes);
            GmState *state = gm_state_new(less, 0, &err), *other = gm_state_new(c, 0, &err);
            for (uint32_t turn = 0; turn < 40; turn++) { /* masks come several times, so they would be kept */
                uint32_t x[WORDS] = {0}, y[WORDS] = {0}, id = 0;
                CHECK_EQ(0, gm_state_mask(state, x, WORDS, &err));
                CHECK_EQ(0, gm_state_mask(other, y, WORDS, &err));
                CHECK(memcmp(x, y, sizeof x) == 0);
                const GmReport now = report_of(less);
                CHECK(now.mask_bytes + now.warm_bytes <= most);
                if (turn % 4 == 3) {
                    for (uint32_t i = 0; i < N_OF(WORLD_TEXTS); i++) {
                        id = (x[i >> 5] >> (i & 31) & 1) != 0 ? i : id;
                    }
                    if ((x[id >> 5] >> (id & 31) & 1) == 0) {
                        break;
                    }
                    CHECK_EQ(0, gm_state_commit_token(state, id, &err));
                    CHECK_EQ(0, gm_state_commit_token(other, id, &err));
                }
            }
            gm_state_free(state);
            gm_state_free(other);
            check_usage(less);
            gm_constraint_free(less);
            CHECK_EQ(full.warm_bytes, atomic_load(&vocab->warmed)); /* what it had is free for others */
        }
        gm_constraint_free(c);
        CHECK_EQ(0, atomic_load(&vocab->warmed));
        gm_vocab_free(vocab);
    }
}

/* When others have nearly all, a constraint gets a part of what is left; then nothing. */
static void test_all_of_a_vocabulary(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    GmConstraint *c = compile(vocab, 0, 64 << 20), *half = compile(vocab, 0, 64 << 20), *none = compile(vocab, 0, 64 << 20);
    warm(c);
    const uint64_t full = report_of(c).warm_bytes, left = PART * (full / 2);
    const uint64_t others = ALL - left - full;
    (void)atomic_fetch_add(&vocab->warmed, others);
    warm(half);
    CHECK(report_of(half).warm_bytes > 0 && report_of(half).warm_bytes <= full / 2);
    (void)atomic_fetch_add(&vocab->warmed, left);
    const GmReport before = report_of(none);
    warm(none);
    CHECK_EQ(0, report_of(none).warm_bytes);
    CHECK_EQ(before.memory_bytes, report_of(none).memory_bytes);
    gm_constraint_free(half);
    gm_constraint_free(c);
    gm_constraint_free(none);
    CHECK_EQ(others + left, atomic_load(&vocab->warmed));
    gm_vocab_free(vocab);
}

/* A budget that shrinks drops masks, one that grows takes more again. */
static void test_another_budget(void)
{
    enum { MASKS = 40 };
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    GmConstraint *c = compile(vocab, 0, 64 << 20);
    uint32_t words[WORDS] = {3, 5}, got[WORDS];
    for (uint32_t turn = 0; turn < 3; turn++) {
        const size_t budget = turn == 1 ? 200 : 1 << 16;
        gm_maskcache_limit(&c->masks, budget);
        CHECK(report_of(c).mask_bytes <= budget);
        for (uint64_t k = 0; k < 2 * MASKS; k++) {
            gm_maskcache_put(&c->masks, (Hash128){k / 2 + 1, k / 2}, words);
            CHECK(report_of(c).mask_bytes <= budget);
        }
        uint32_t hits = 0;
        for (uint64_t k = 0; k < MASKS; k++) {
            hits += gm_maskcache_get(&c->masks, (Hash128){k + 1, k}, got);
        }
        CHECK(turn == 1 ? hits < 10 : hits == MASKS);
    }
    gm_constraint_free(c);
    gm_vocab_free(vocab);
}

int main(void)
{
    RUN(test_another_budget);
    tables = gm_worker_new();
    if (tables != NULL) { /* else a platform without one */
        RUN(test_a_constraint);
        RUN(test_all_of_a_vocabulary);
        gm_worker_free(tables);
    }
    return check_result();
}
