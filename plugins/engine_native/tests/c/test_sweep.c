/* The allocation sweep: call 1, 2, 3, ... for memory is refused until a whole scenario passes. Each refusal
 * must show as GM_NOMEM (or as a call that did without), leave everything usable, and leak nothing.
 *
 * Two ways: `stuck` (memory is gone for good: everything must still be freeable), and one refusal only, after
 * which the same call is made again and must give what an undisturbed run gives. */
#include "world.h"

enum { STEPS = 10, WORDS = 4 };

typedef struct Trace { /* what an undisturbed run saw */
    uint32_t token[STEPS];
    uint32_t mask[STEPS + 1][WORDS];
    int flags[STEPS + 1];
    uint32_t n;
} Trace;

static Counting counting;
static uint32_t refusals, absorbed, mode;

static bool refused(const GmError *err)
{
    if (err->status != GM_NOMEM) {
        printf("status %d (%s) after a refused allocation\n", err->status, err->text);
        check_failures++;
    }
    refusals++;
    return true;
}

/* Retry once after a refusal; false when memory is gone for good. */
#define ATTEMPT(expr, failed)                      \
    do {                                           \
        GmError err = {0, 0, "", ""};              \
        if ((expr)failed) {                        \
            (void)refused(&err);                   \
            if (counting.stuck) {                  \
                goto out;                          \
            }                                      \
            if ((expr)failed) {                    \
                printf("%s: fails again: %s\n", #expr, err.text); \
                check_failures++;                  \
                goto out;                          \
            }                                      \
        }                                          \
    } while (0)

static void observe(GmState *s, uint32_t at, Trace *trace, bool record)
{
    uint32_t words[WORDS];
    ATTEMPT(gm_state_mask(s, words, WORDS, &err), != 0);
    int flags = 0, found = -1;
    ATTEMPT((flags = gm_state_flags(s, &err)), < 0);
    uint8_t *text = NULL;
    uint64_t n = 0;
    ATTEMPT((found = gm_state_completion(s, 100, &text, &n, &err)), < 0);
    gm_state_completion_free(s, text, found == 0 ? n : 0);
    if (record) {
        memcpy(trace->mask[at], words, sizeof words);
        trace->flags[at] = flags;
        return;
    }
    CHECK(memcmp(trace->mask[at], words, sizeof words) == 0);
    CHECK_EQ(trace->flags[at], flags);
out:
    return;
}

static void scenario(const World *w, int32_t root, Trace *trace, bool record)
{
    GmVocab *vocab = NULL;
    GmConstraint *c = NULL, *twin = NULL;
    GmState *s = NULL, *copy = NULL;
    GmOptions options = world_options();
    uint32_t end = 99;
    options.mode = mode;
    options.n_end_tokens = 1;
    options.end_tokens = &end;
    Rand r = {trace->n + 5};
    ATTEMPT(vocab = world_vocab_with(counting_resize, &counting, WORLD_TEXTS, N_OF(WORLD_TEXTS), &err), == NULL);
    ATTEMPT(c = world_compile(w, vocab, root, &options, &err), == NULL);
    ATTEMPT(s = gm_state_new(c, 3, &err), == NULL);
    observe(s, 0, trace, record);
    for (uint32_t i = 0; i < STEPS && (record || i < trace->n); i++) {
        if (record) {
            uint32_t n = 0, ids[128];
            for (uint32_t id = 0; id < N_OF(WORLD_TEXTS); id++) {
                if ((trace->mask[i][id >> 5] >> (id & 31) & 1) != 0) {
                    ids[n++] = id;
                }
            }
            if (n == 0) {
                break;
            }
            trace->token[i] = ids[rand_below(&r, n)];
            trace->n = i + 1;
        }
        int code = -1;
        ATTEMPT((code = gm_state_commit_token(s, trace->token[i], &err)), == 7);
        CHECK_EQ(0, code);
        observe(s, i + 1, trace, record);
        if (i % 3 == 2) { /* a detour, and back */
            ATTEMPT(copy = gm_state_clone(s, &err), == NULL);
            gm_state_free(s);
            s = copy;
            ATTEMPT((code = gm_state_commit_bytes(s, (const uint8_t *)"ab", 2, &err)), == 7);
            if (code == 0 || code == 4) {
                CHECK_EQ(1, gm_state_rollback(s, 1, NULL));
            }
            observe(s, i + 1, trace, record);
        }
    }
    ATTEMPT(twin = world_compile(w, vocab, root, &options, &err), == NULL); /* finds shared steps of the first */
    gm_state_free(s);
    s = NULL;
    ATTEMPT(s = gm_state_new(twin, 0, &err), == NULL);
    observe(s, 0, trace, record);
out:
    gm_vocab_free(vocab); /* in an order that makes every reference count */
    gm_constraint_free(c);
    gm_constraint_free(twin);
    gm_state_free(s);
}

static void sweep(uint32_t grammar, bool stuck)
{
    World *w = world_new();
    int32_t root = world_grammar(w, grammar);
    Trace trace;
    memset(&trace, 0, sizeof trace);
    memset(&counting, 0, sizeof counting);
    scenario(w, root, &trace, true);
    size_t total = counting.calls;
    CHECK_EQ(0, counting.blocks);
    CHECK_EQ(0, counting.live);
    uint32_t stride = stuck ? 3 : 1; /* what follows a refusal is the same for most places when nothing is retried */
    for (size_t at = 1; at <= total && check_failures < 20; at += stride) {
        memset(&counting, 0, sizeof counting);
        counting.fail_at = at;
        counting.stuck = stuck;
        uint32_t before = refusals;
        scenario(w, root, &trace, false);
        absorbed += refusals == before;
        if (counting.blocks != 0) {
            printf("grammar %u, refusal %zu of %zu: %zu blocks leak\n", grammar, at, total, (size_t)counting.blocks);
            check_failures++;
        }
    }
    free(w);
}

static void test_one_refusal(void)
{
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        mode = g % 2 == 0 ? 1 : 2;
        sweep(g, false);
    }
}

static void test_memory_gone(void)
{
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        sweep(g, true);
    }
}

/* Tables made at compile time: what cannot be made then is left out or refuses the compile, no more. */
static void test_one_refusal_of_static_tables(void)
{
    mode = 3;
    sweep(1, false);
    sweep(5, false);
    mode = 0;
}

int main(void)
{
    RUN(test_one_refusal);
    RUN(test_memory_gone);
    RUN(test_one_refusal_of_static_tables);
    printf("%u refusals, %u absorbed\n", refusals, absorbed);
    CHECK(refusals > 1000);
    return check_result();
}
