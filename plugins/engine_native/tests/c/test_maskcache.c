/* The mask cache: kept on the second visit, exact, inside its budget, and quietly without memory. */
#include "check.h"
#include "gm_maskcache.h"

enum { WORDS = 40, KEYS = 200 };

static Hash128 key_of(uint32_t k) { return gm_hash_join((Hash128){5, 6}, k); }

static void mask_of(uint32_t k, uint32_t words[WORDS]) /* few bits, or many */
{
    Rand r = {k};
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = k % 2 == 0 ? rand_next(&r) : 0;
    }
    words[k % WORDS] |= 1u << (k & 31);
}

static void test_kept_on_the_second_visit(void)
{
    Counting c;
    GmMem mem;
    GmMaskCache cache;
    uint32_t words[WORDS], got[WORDS];
    counting_mem(&c, &mem, SIZE_MAX / 4);
    gm_maskcache_init(&cache, &mem, 1 << 20, WORDS);
    for (uint32_t k = 0; k < 20; k++) {
        mask_of(k, words);
        CHECK(!gm_maskcache_get(&cache, key_of(k), got));
        gm_maskcache_put(&cache, key_of(k), words);
        CHECK(!gm_maskcache_get(&cache, key_of(k), got));
        gm_maskcache_put(&cache, key_of(k), words);
        memset(got, 0xff, sizeof got);
        CHECK(gm_maskcache_get(&cache, key_of(k), got));
        CHECK(memcmp(words, got, sizeof words) == 0);
        gm_maskcache_put(&cache, key_of(k), words);
    }
    CHECK_EQ(20, cache.young.len);
    gm_maskcache_deinit(&cache);
    CHECK_EQ(0, c.blocks);
}

/* Random use against a budget of some twenty masks: what is found is right, what is spent is bounded. */
static void random_use(uint32_t refuse_one_in)
{
    Counting c;
    GmMem mem;
    GmMaskCache cache;
    Rand r = {refuse_one_in};
    uint32_t words[WORDS], got[WORDS], hits = 0;
    size_t budget = 8192;
    counting_mem(&c, &mem, SIZE_MAX / 4);
    gm_maskcache_init(&cache, &mem, budget, WORDS);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t k = rand_below(&r, rand_below(&r, 4) == 0 ? KEYS : 12);
        mask_of(k, words);
        c.fail_at = refuse_one_in > 0 && rand_below(&r, refuse_one_in) == 0 ? c.calls + 1 : 0;
        if (gm_maskcache_get(&cache, key_of(k), got)) {
            CHECK(memcmp(words, got, sizeof words) == 0);
            hits++;
        } else {
            gm_maskcache_put(&cache, key_of(k), words);
        }
        CHECK(cache.mem.used <= budget && c.live <= budget);
    }
    CHECK(hits > 5000);
    gm_maskcache_deinit(&cache);
    CHECK_EQ(0, c.blocks);
}

static void test_random_use(void) { random_use(0); }
static void test_refused_memory(void) { random_use(7); }

static void test_switched_off(void)
{
    Counting c;
    GmMem mem;
    GmMaskCache cache;
    uint32_t words[WORDS] = {1};
    counting_mem(&c, &mem, SIZE_MAX / 4);
    for (size_t budget = 0; budget < 200; budget += 50) { /* also too small for one mask */
        gm_maskcache_init(&cache, &mem, budget, WORDS);
        for (uint32_t i = 0; i < 3; i++) {
            gm_maskcache_put(&cache, key_of(1), words);
        }
        CHECK(!gm_maskcache_get(&cache, key_of(1), words));
        gm_maskcache_deinit(&cache);
    }
    gm_maskcache_init(&cache, &mem, 1000, 0); /* masks without bits */
    gm_maskcache_put(&cache, key_of(1), words);
    gm_maskcache_put(&cache, key_of(1), words);
    gm_maskcache_deinit(&cache);
    CHECK_EQ(0, c.blocks);
}

/* Masks that nearly are earlier ones take little, however wide they are; all are what was put, also once others were
 * dropped, and the account stays within the budget. */
static void test_near_masks(void)
{
    enum { SETS = 6, WIDE = 1003, MASKS = 600 };
    Counting c;
    GmMem mem;
    GmMaskCache cache;
    Rand r = {5};
    static uint32_t set[SETS][WIDE], words[MASKS][WIDE], got[WIDE];
    counting_mem(&c, &mem, SIZE_MAX / 4);
    for (uint32_t i = 0; i < SETS; i++) {
        for (uint32_t k = 0; k < WIDE; k++) {
            set[i][k] = rand_next(&r) | rand_next(&r);
        }
    }
    for (uint32_t turn = 0; turn < 2; turn++) {
        const size_t budget = turn == 0 ? 8 << 20 : 200 * sizeof got;
        gm_maskcache_init(&cache, &mem, budget, WIDE);
        size_t near = 0, far = 0;
        for (uint32_t i = 0; i < MASKS; i++) {
            const bool is_near = i < GM_MASK_BASES || i % 3 != 0;
            memcpy(words[i], set[i < GM_MASK_BASES ? i : rand_below(&r, is_near ? GM_MASK_BASES : SETS)], sizeof got);
            for (uint32_t n = rand_below(&r, is_near ? 16 : 2000); n > 0; n--) {
                const uint32_t bit = rand_below(&r, 32 * WIDE);
                words[i][bit >> 5] ^= (uint32_t)1 << (bit & 31);
            }
            const size_t before = cache.mem.used;
            for (uint32_t k = 0; k < 2; k++) {
                CHECK(!gm_maskcache_get(&cache, (Hash128){i + 1, 7 * i}, got));
                gm_maskcache_put(&cache, (Hash128){i + 1, 7 * i}, words[i]);
                CHECK(cache.mem.used <= budget);
            }
            CHECK_EQ(i < GM_MASK_BASES ? i + 1 : GM_MASK_BASES, cache.n_bases);
            *(is_near ? &near : &far) += cache.mem.used - before;
        }
        uint32_t hits = 0;
        for (uint32_t i = 0; i < MASKS; i++) {
            memset(got, 0xa5, sizeof got);
            if (gm_maskcache_get(&cache, (Hash128){i + 1, 7 * i}, got)) {
                CHECK(memcmp(words[i], got, sizeof got) == 0);
                hits++;
            }
        }
        if (turn == 0) {
            CHECK_EQ(MASKS, hits);
            CHECK(near < GM_MASK_BASES * sizeof got + 400 * (size_t)400); /* tables of the cache count as well */
            CHECK(far > 150 * sizeof got);
        } else {
            CHECK(hits > MASKS / 3 && hits < MASKS);
            gm_maskcache_limit(&cache, 3 * sizeof got); /* less than the bases take */
            CHECK(cache.mem.used == 0 && !gm_maskcache_get(&cache, (Hash128){MASKS, 7 * (MASKS - 1)}, got));
        }
        gm_maskcache_deinit(&cache);
        CHECK_EQ(0, c.blocks);
    }
}

int main(void)
{
    RUN(test_near_masks);
    RUN(test_kept_on_the_second_visit);
    RUN(test_random_use);
    RUN(test_refused_memory);
    RUN(test_switched_off);
    return check_result();
}
