/* Unions of token sets: whatever the mix of lists and dense sets, the words are those of a plain union. */
#include "check.h"
#include "gm_bits.h"

enum { IDS = 4096, WORDS = IDS / 32, PARTS = 12 };

static GmError err;

/* Any of the sets, some less a few ids, at once: as one after the other. */
static void join_some(const GmToks *made, uint32_t parts, Rand *r)
{
    enum { MOST = 40 };
    static uint32_t minus[MOST][GM_MINUS_MAX];
    GmToks sets[MOST];
    const GmToks *list[MOST];
    uint32_t want[WORDS] = {0}, got[WORDS], n = rand_below(r, MOST + 1);
    bool all = rand_below(r, 3) == 0;
    for (uint32_t i = 0; i < n; i++) {
        sets[i] = made[rand_below(r, parts)];
        if (sets[i].n_dense > 0 && (all || rand_below(r, 3) == 0)) {
            sets[i].n_minus = 1 + rand_below(r, GM_MINUS_MAX);
            sets[i].minus = minus[i];
            for (uint32_t k = 0; k < sets[i].n_minus; k++) {
                minus[i][k] = rand_below(r, IDS);
            }
        }
        list[i] = &sets[i];
        gm_toks_or(list[i], want, WORDS);
    }
    memset(got, 0xa5, sizeof got);
    gm_toks_join(list, n, got, WORDS);
    CHECK(memcmp(want, got, sizeof want) == 0);
}

static void one_union(uint64_t seed, uint32_t most)
{
    Counting c;
    GmMem mem;
    GmArena arena;
    GmGather gather = {{NULL, 0, 0}, {NULL, 0, 0}};
    GmIdLists kept;
    Rand r = {seed};
    counting_mem(&c, &mem, 1 << 24);
    gm_arena_init(&arena, &mem);
    gm_ids_init(&kept);
    uint32_t want[WORDS] = {0}, got[WORDS] = {0};
    GmToks made[PARTS];
    uint32_t parts = 1 + rand_below(&r, PARTS);
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t ids[700], n = rand_below(&r, most), lists = 1 + rand_below(&r, 2);
        for (uint32_t l = 0; l < lists; l++) {
            uint32_t from = rand_below(&r, 2) == 0 ? 0 : rand_below(&r, IDS - most); /* ascending, or anything */
            for (uint32_t k = 0; k < n; k++) {
                ids[k] = from > 0 ? from + k : rand_below(&r, IDS);
                gm_bits_set(want, ids[k]);
            }
            GmToks list = {ids, NULL, NULL, n, 0, 0};
            CHECK_EQ(GM_OK, gm_gather_add(&gather, &arena, &list, WORDS, &err));
        }
        if (i > 0) { /* unions of unions share dense sets */
            GmToks old = made[rand_below(&r, i)];
            uint32_t minus[GM_MINUS_MAX], part[WORDS] = {0};
            old.minus = minus;
            old.n_minus = old.n_dense > 0 && rand_below(&r, 2) == 0 ? rand_below(&r, GM_MINUS_MAX) : 0;
            for (uint32_t k = 0; k < old.n_dense; k++) {
                gm_bits_or(part, old.dense[k], WORDS);
            }
            for (uint32_t k = 0; k < old.n_minus; k++) {
                minus[k] = rand_below(&r, IDS);
                gm_bits_clear(part, minus[k]);
            }
            for (uint32_t k = 0; k < old.n_ids; k++) {
                gm_bits_set(part, old.ids[k]);
            }
            memcpy(got, want, sizeof want);
            gm_toks_or(&old, got, WORDS);
            gm_bits_or(want, part, WORDS);
            CHECK(memcmp(want, got, sizeof want) == 0);
            CHECK_EQ(GM_OK, gm_gather_add(&gather, &arena, &old, WORDS, &err));
        }
        CHECK_EQ(GM_OK, gm_gather_finish(&gather, &arena, &kept, WORDS, &made[i], &err));
        CHECK_EQ(0, gather.ids.len + gather.dense.len);
        CHECK(made[i].n_ids <= GM_SPARSE_MAX && made[i].n_dense <= GM_DENSE_MAX);
        for (uint32_t k = 1; k < made[i].n_ids; k++) {
            CHECK(made[i].ids[k - 1] < made[i].ids[k]);
        }
        memset(got, 0, sizeof got);
        gm_toks_or(&made[i], got, WORDS);
        CHECK(memcmp(want, got, sizeof want) == 0);
        memcpy(want, i + 1 < parts ? (uint32_t[WORDS]){0} : want, sizeof want);
    }
    for (uint32_t i = 0; i < 20; i++) {
        join_some(made, parts, &r);
    }
    gm_gather_deinit(&gather, &mem);
    gm_ids_deinit(&kept, &mem);
    gm_arena_deinit(&arena);
    CHECK_EQ(0, c.blocks);
}

/* Equal lists are one, others are not, however many there are. */
static void test_lists(void)
{
    enum { LISTS = 3000 };
    Counting c;
    GmMem mem;
    GmArena arena;
    GmIdLists kept;
    counting_mem(&c, &mem, 1 << 24);
    gm_arena_init(&arena, &mem);
    gm_ids_init(&kept);
    static const uint32_t *first[LISTS];
    size_t used = 0;
    for (uint32_t turn = 0; turn < 3; turn++) {
        for (uint32_t i = 0; i < LISTS; i++) {
            uint32_t ids[20];
            const uint32_t *made, n = 1 + i % 20;
            for (uint32_t k = 0; k < n; k++) {
                ids[k] = i + 7 * k;
            }
            CHECK_EQ(GM_OK, gm_ids_keep(&kept, &arena, ids, n, &made, &err));
            CHECK(made != ids && memcmp(made, ids, n * sizeof *ids) == 0);
            CHECK(turn == 0 || made == first[i]);
            first[i] = made;
        }
        CHECK_EQ(LISTS, kept.lists.len);
        CHECK(turn == 0 || used == mem.used);
        used = mem.used;
    }
    const uint32_t *none;
    CHECK_EQ(GM_OK, gm_ids_keep(&kept, &arena, NULL, 0, &none, &err));
    CHECK(none == NULL);
    gm_ids_deinit(&kept, &mem);
    gm_arena_deinit(&arena);
    CHECK_EQ(0, c.blocks);
}

static void test_unions(void)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        one_union(seed, seed % 3 == 0 ? 5 : seed % 3 == 1 ? 100 : 600);
    }
}

static void test_single_bits(void)
{
    uint32_t words[3] = {0, 0, 0}, other[3] = {1, 0x80000000u, 0};
    gm_bits_set(words, 0);
    gm_bits_set(words, 63);
    gm_bits_set(words, 64);
    gm_bits_clear(words, 64);
    CHECK(memcmp(words, other, sizeof words) == 0);
    gm_bits_clear(words, 63);
    gm_bits_or(words, other, 3);
    CHECK(memcmp(words, other, sizeof words) == 0);
}

int main(void)
{
    RUN(test_lists);
    RUN(test_unions);
    RUN(test_single_bits);
    return check_result();
}
