/* Saved tables: loaded ones give the same masks and the same bytes, whatever the vocabulary has kept of others; changed
 * ones are refused, or give a constraint that works within its limits; no refused allocation leaks.
 * `test_tables ROUNDS SEED` changes more. */
#include "gm_serial.h"
#include "world.h"

enum { WORDS = 4, STEPS = 12 };

static GmVocab *vocab;

static GmOptions closed_options(void)
{
    GmOptions options = world_options();
    options.mode = 3;
    options.static_pairs = 100000;
    options.static_bytes = 64 << 20;
    return options;
}

static GmConstraint *load(const World *w, int32_t root, GmVocab *of, const uint8_t *data, uint64_t n, GmError *err)
{
    GmOptions options = closed_options();
    return gm_constraint_load(of, w->rows, w->n_nodes, w->args, w->n_args, w->blob, w->n_blob, w->rules, w->n_rules,
                              (uint32_t)root, data, n, &options, err);
}

static bool same_bytes(const GmBytes *x, const GmBytes *y)
{
    return gm_bytes_size(x) == gm_bytes_size(y) && memcmp(gm_bytes_data(x), gm_bytes_data(y), gm_bytes_size(x)) == 0;
}

/* Both along a random text. */
static void walk_alike(GmConstraint *one, GmConstraint *other, uint64_t seed)
{
    Rand r = {seed};
    GmState *x = gm_state_new(one, 0, NULL), *y = gm_state_new(other, 0, NULL);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t a[WORDS], b[WORDS], n = 0, allowed[32 * WORDS];
        CHECK_EQ(0, gm_state_mask(x, a, WORDS, NULL));
        CHECK_EQ(0, gm_state_mask(y, b, WORDS, NULL));
        CHECK(memcmp(a, b, sizeof a) == 0);
        for (uint32_t id = 0; id < 32 * WORDS; id++) {
            if ((a[id >> 5] >> (id & 31) & 1) != 0) {
                allowed[n++] = id;
            }
        }
        if (n == 0) {
            break;
        }
        uint32_t pick = allowed[rand_below(&r, n)];
        CHECK_EQ(0, gm_state_commit_token(x, pick, NULL));
        CHECK_EQ(0, gm_state_commit_token(y, pick, NULL));
    }
    gm_state_free(x);
    gm_state_free(y);
}

static void test_round_trips(void)
{
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        World *w = world_new();
        GmError err = {0, 0, "", ""};
        GmOptions options = closed_options();
        int32_t root = world_grammar(w, g);
        GmVocab *fresh = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS)); /* has kept nothing of other grammars */
        GmConstraint *c = world_compile(w, vocab, root, &options, &err), *alone = world_compile(w, fresh, root, &options, &err);
        CHECK(c != NULL && alone != NULL);
        GmReport before, after;
        gm_constraint_report(c, &before);
        GmBytes *bytes = gm_constraint_save(c, &err), *others = gm_constraint_save(alone, &err);
        CHECK(gm_bytes_size(bytes) > 0);
        CHECK(same_bytes(bytes, others));
        GmConstraint *loaded = load(w, root, vocab, gm_bytes_data(bytes), gm_bytes_size(bytes), &err);
        CHECK(loaded != NULL);
        for (uint64_t seed = 0; seed < 20; seed++) {
            walk_alike(c, loaded, seed);
        }
        gm_constraint_report(loaded, &after);
        CHECK_EQ(0, after.walked); /* nothing had to be computed */
        CHECK(after.steps <= before.steps && after.summaries <= before.summaries);
        GmBytes *again = gm_constraint_save(loaded, &err), *later = gm_constraint_save(c, &err);
        CHECK(same_bytes(bytes, again));
        CHECK(same_bytes(bytes, later)); /* what was computed meanwhile is not saved */
        GmBytes *all[] = {bytes, others, again, later};
        for (uint32_t i = 0; i < N_OF(all); i++) {
            gm_bytes_free(all[i]);
        }
        gm_constraint_free(loaded);
        gm_constraint_free(alone);
        gm_constraint_free(c);
        gm_vocab_free(fresh);
        free(w);
    }
}

static void test_other_modes_save_nothing(void)
{
    World *w = world_new();
    GmError err = {0, 0, "", ""};
    int32_t root = world_grammar(w, 0);
    for (uint32_t mode = 0; mode < 3; mode++) {
        GmOptions options = closed_options();
        options.mode = mode;
        GmConstraint *c = world_compile(w, vocab, root, &options, &err);
        GmBytes *bytes = gm_constraint_save(c, &err);
        CHECK(bytes != NULL && gm_bytes_size(bytes) == 0);
        gm_bytes_free(bytes);
        gm_constraint_free(c);
        CHECK(gm_constraint_load(vocab, w->rows, w->n_nodes, w->args, w->n_args, w->blob, w->n_blob, w->rules, w->n_rules,
                                 (uint32_t)root, (const uint8_t *)"\1", 1, &options, &err) == NULL);
        CHECK_EQ(GM_FORMAT, err.status);
    }
    free(w);
}

/* A constraint from somewhere: masks and commits end, with what they find or a limit. */
static void use(GmConstraint *c)
{
    GmState *s = gm_state_new(c, 0, NULL);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t words[WORDS], pick = GM_NONE;
        GmError err = {0, 0, "", ""};
        if (gm_state_mask(s, words, WORDS, &err) != 0) {
            CHECK_EQ(GM_LIMIT, err.status);
            break;
        }
        for (uint32_t id = 0; id < 32 * WORDS; id++) {
            bool bit = (words[id >> 5] >> (id & 31) & 1) != 0;
            CHECK(!bit || id < gm_constraint_width(c));
            pick = bit && (pick == GM_NONE || (id + i) % 3 == 0) ? id : pick;
        }
        if (pick == GM_NONE || gm_state_commit_token(s, pick, &err) != 0) {
            break;
        }
    }
    gm_state_free(s);
}

static void change(Rand *r, uint8_t *data, uint64_t *n)
{
    for (uint32_t times = 1 + rand_below(r, 3); times > 0 && *n > 0; times--) {
        uint32_t at = rand_below(r, (uint32_t)*n), len = rand_below(r, 6);
        len = at + len > *n ? (uint32_t)*n - at : len;
        switch (rand_below(r, 6)) {
        case 0:
            data[at] = (uint8_t)(data[at] ^ 1u << rand_below(r, 8));
            break;
        case 1:
            data[at] = (uint8_t)rand_below(r, 256);
            break;
        case 2:
            data[at] = (uint8_t)(data[at] + 1);
            break;
        case 3:
            data[at] = (uint8_t)(data[at] - 1);
            break;
        case 4: /* cut out */
            memmove(data + at, data + at + len, *n - at - len);
            *n -= len;
            break;
        default: /* double */
            memmove(data + at, data + rand_below(r, (uint32_t)*n - len + 1), len);
            break;
        }
    }
}

static uint32_t rounds = 3000;
static uint64_t first_seed = 1;

static void test_changed_tables(void)
{
    uint32_t works = 0, refusals = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        Rand r = {first_seed * 1000003 + i};
        World *w = world_new();
        GmError err = {0, 0, "", ""};
        GmOptions options = closed_options();
        int32_t root = world_grammar(w, i % GRAMMARS);
        GmConstraint *c = world_compile(w, vocab, root, &options, &err);
        GmBytes *bytes = gm_constraint_save(c, &err);
        uint64_t n = gm_bytes_size(bytes);
        uint8_t *data = malloc(n + 1);
        memcpy(data, gm_bytes_data(bytes), n);
        change(&r, data, &n);
        uint8_t *exact = malloc(n + 1); /* so that a read beyond the end shows */
        memcpy(exact, data, n);
        exact = realloc(exact, n > 0 ? n : 1);
        GmConstraint *loaded = load(w, root, vocab, exact, n, &err);
        if (loaded == NULL) {
            CHECK(err.status == GM_FORMAT || err.status == GM_VERSION || err.status == GM_LIMIT);
            refusals++;
        } else {
            use(loaded);
            works++;
        }
        gm_constraint_free(loaded);
        gm_bytes_free(bytes);
        gm_constraint_free(c);
        free(exact);
        free(data);
        free(w);
    }
    printf("%u changed tables work, %u are refused\n", works, refusals);
    CHECK(works > 0 && refusals > 0);
}

static void test_every_truncation(void)
{
    World *w = world_new();
    GmError err = {0, 0, "", ""};
    GmOptions options = closed_options();
    int32_t root = world_grammar(w, 1);
    GmConstraint *c = world_compile(w, vocab, root, &options, &err);
    GmBytes *bytes = gm_constraint_save(c, &err);
    for (uint64_t n = 0; n < gm_bytes_size(bytes); n++) {
        uint8_t *exact = malloc(n > 0 ? n : 1);
        memcpy(exact, gm_bytes_data(bytes), n);
        CHECK(load(w, root, vocab, exact, n, &err) == NULL);
        CHECK_EQ(GM_FORMAT, err.status);
        free(exact);
    }
    gm_bytes_free(bytes);
    gm_constraint_free(c);
    free(w);
}

static void test_refused_allocations(void)
{
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        World *w = world_new();
        GmError err = {0, 0, "", ""};
        GmOptions options = closed_options();
        Counting counting;
        memset(&counting, 0, sizeof counting);
        int32_t root = world_grammar(w, g);
        GmVocab *of = world_vocab_with(counting_resize, &counting, WORLD_TEXTS, N_OF(WORLD_TEXTS), &err);
        GmConstraint *c = world_compile(w, of, root, &options, &err);
        GmBytes *bytes = NULL;
        GmConstraint *loaded = NULL;
        for (size_t fail = 1; bytes == NULL; fail++) {
            counting.fail_at = counting.calls + fail;
            bytes = gm_constraint_save(c, &err);
            CHECK(bytes != NULL || err.status == GM_NOMEM);
        }
        for (size_t fail = 1; loaded == NULL; fail++) {
            counting.fail_at = counting.calls + fail;
            loaded = load(w, root, of, gm_bytes_data(bytes), gm_bytes_size(bytes), &err);
            CHECK(loaded != NULL || err.status == GM_NOMEM);
        }
        counting.fail_at = 0;
        walk_alike(c, loaded, g);
        gm_bytes_free(bytes);
        gm_constraint_free(loaded);
        gm_constraint_free(c);
        gm_vocab_free(of);
        CHECK_EQ(0, counting.blocks);
        free(w);
    }
}

static void test_numbers(void)
{
    static const uint32_t numbers[] = {0, 1, 127, 128, 16383, 16384, 2097151, 2097152, 268435455, 268435456, UINT32_MAX};
    GmMem mem;
    GmError err = {0, 0, "", ""};
    gm_mem_init(&mem, gm_mem_libc, NULL, SIZE_MAX, "memory_bytes");
    GmWriter w = {&mem, {NULL, 0, 0}};
    for (uint32_t i = 0; i < N_OF(numbers); i++) {
        CHECK_EQ(GM_OK, gm_write_number(&w, numbers[i], &err));
    }
    CHECK_EQ(GM_OK, gm_write_list(&w, numbers, N_OF(numbers), &err));
    GmReader r = {w.out.data, w.out.data + w.out.len};
    uint32_t value, list[N_OF(numbers)];
    for (uint32_t i = 0; i < N_OF(numbers); i++) {
        const uint8_t *at = r.at;
        CHECK(i == 0 || gm_read_number(&r, numbers[i] - 1, &value, &err) == GM_FORMAT);
        r.at = at;
        CHECK_EQ(GM_OK, gm_read_number(&r, numbers[i], &value, &err));
        CHECK_EQ(numbers[i], value);
    }
    const uint8_t *at = r.at;
    CHECK_EQ(GM_FORMAT, gm_read_list(&r, N_OF(numbers), UINT32_MAX, list, &err));
    r.at = at;
    CHECK_EQ(GM_OK, gm_read_list(&r, N_OF(numbers) - 1, UINT32_MAX, list, &err));
    CHECK(memcmp(numbers, list, (N_OF(numbers) - 1) * sizeof *list) == 0);
    static const uint8_t bad[][6] = {{0x80}, {0x80, 0}, {0xff, 0xff, 0xff, 0xff, 0x1f}, {0x80, 0x80, 0x80, 0x80, 0x80, 1}};
    for (uint32_t i = 0; i < N_OF(bad); i++) {
        GmReader b = {bad[i], bad[i] + (i == 0 ? 1 : 6)};
        CHECK_EQ(GM_FORMAT, gm_read_number(&b, UINT32_MAX, &value, &err));
    }
    gm_write_deinit(&w);
    CHECK_EQ(0, mem.used);
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        rounds = (uint32_t)strtoul(argv[1], NULL, 10);
        first_seed = strtoull(argv[2], NULL, 10);
    }
    vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    RUN(test_numbers);
    RUN(test_round_trips);
    RUN(test_other_modes_save_nothing);
    RUN(test_every_truncation);
    RUN(test_changed_tables);
    RUN(test_refused_allocations);
    gm_vocab_free(vocab);
    return check_result();
}
