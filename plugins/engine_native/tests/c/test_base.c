/* Memory, hashing, errors: gm_status, gm_mem, gm_hash. */
#include "check.h"
#include "gm_hash.h"

static GmError last;
#define OK(expr) CHECK_EQ(GM_OK, (expr))

static void test_errors(void)
{
    char wide[600];
    memset(wide, 'x', sizeof wide);
    wide[sizeof wide - 1] = 0;
    CHECK_EQ(GM_ARG, gm_fail(&last, GM_ARG, "%s", wide));
    CHECK_EQ(sizeof last.text - 1, strlen(last.text)); /* cut, never overrun */
    CHECK_EQ(GM_ARG, last.status);
    CHECK_EQ(-1, last.detail);
    CHECK_EQ(GM_LIMIT, gm_fail_limit(&last, "states", "more than %d", 3));
    CHECK(strcmp(last.limit, "states") == 0 && strcmp(last.text, "more than 3") == 0);
    CHECK_EQ(GM_NOMEM, gm_fail(NULL, GM_NOMEM, "nobody listens"));
}

static void test_accounts(void)
{
    Counting c;
    GmMem mem;
    void *p = NULL, *q = NULL;
    counting_mem(&c, &mem, 1000);
    OK(gm_mem_resize(&mem, &p, 0, 600, &last));
    CHECK_EQ(GM_LIMIT, gm_mem_resize(&mem, &q, 0, 401, &last));
    CHECK(q == NULL && strcmp(last.limit, "memory_bytes") == 0);
    OK(gm_mem_resize(&mem, &q, 0, 400, &last));
    CHECK_EQ(GM_LIMIT, gm_mem_resize(&mem, &p, 600, 601, &last));
    CHECK_EQ(1000, mem.used);
    OK(gm_mem_resize(&mem, &p, 600, 100, &last));
    c.fail_at = c.calls + 1;
    void *before = q;
    CHECK_EQ(GM_NOMEM, gm_mem_resize(&mem, &q, 400, 500, &last));
    CHECK(q == before && mem.used == 500);
    gm_mem_free(&mem, p, 100);
    gm_mem_free(&mem, q, 400);
    gm_mem_free(&mem, NULL, 77);
    CHECK_EQ(0, mem.used);
    CHECK_EQ(0, c.blocks);
    size_t product;
    OK(gm_mem_product(SIZE_MAX / 8, 4, &product, &last));
    CHECK_EQ(GM_NOMEM, gm_mem_product(SIZE_MAX / 8, 5, &product, &last));
    OK(gm_mem_product(SIZE_MAX, 0, &product, &last));
    CHECK_EQ(0, product);
}

static void test_arena(void)
{
    Counting c;
    GmMem mem;
    GmArena arena;
    Rand r = {1};
    unsigned char *kept[300];
    size_t sizes[300];
    counting_mem(&c, &mem, 1 << 24);
    gm_arena_init(&arena, &mem);
    for (uint32_t i = 0; i < 300; i++) {
        void *p;
        sizes[i] = i % 50 == 0 ? 100000 : rand_below(&r, 300);
        OK(gm_arena_alloc(&arena, sizes[i], &p, &last));
        CHECK_EQ(0, (uintptr_t)p % 8);
        kept[i] = p;
        memset(kept[i], (int)(i & 0xff), sizes[i]);
    }
    for (uint32_t i = 0; i < 300; i++) {
        for (size_t k = 0; k < sizes[i]; k++) {
            CHECK(kept[i][k] == (i & 0xff));
        }
    }
    void *p;
    OK(gm_arena_zeroed(&arena, 50, 7, &p, &last));
    for (uint32_t i = 0; i < 350; i++) {
        CHECK(((unsigned char *)p)[i] == 0);
    }
    CHECK_EQ(GM_NOMEM, gm_arena_alloc(&arena, SIZE_MAX, &p, &last));
    CHECK_EQ(GM_LIMIT, gm_arena_alloc(&arena, 1 << 25, &p, &last));
    CHECK_EQ(GM_NOMEM, gm_arena_zeroed(&arena, SIZE_MAX / 2, 16, &p, &last));
    gm_arena_deinit(&arena);
    CHECK_EQ(0, c.blocks);
}

static GmStatus push_many(GmMem *mem, uint32_t n, GmError *err)
{
    GM_VEC(uint64_t) v = {NULL, 0, 0};
    for (uint32_t i = 0; i < n; i++) {
        GM_PUSH(mem, v, (uint64_t)i * 3);
    }
    for (uint32_t i = 0; i < n; i++) {
        CHECK(v.data[i] == (uint64_t)i * 3);
    }
    GM_RESERVE(mem, v, 10);
    CHECK(v.cap >= n);
    GM_VEC_FREE(mem, v);
    CHECK(v.data == NULL && v.cap == 0);
    return GM_OK;
}

static void test_vectors_and_pools(void)
{
    Counting c;
    GmMem mem;
    counting_mem(&c, &mem, 1 << 24);
    OK(push_many(&mem, 1000, &last));
    void *data = NULL;
    uint32_t cap = 0;
    CHECK_EQ(GM_NOMEM, gm_vec_reserve(&mem, &data, &cap, (size_t)UINT32_MAX + 1, 1, &last));
    GmPool pool;
    gm_pool_init(&pool, 12);
    static void *at[3000];
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t id, zero[3] = {0, 0, 0};
        OK(gm_pool_add(&pool, &mem, &id, &at[i], &last));
        CHECK_EQ(i, id);
        CHECK(memcmp(at[i], zero, sizeof zero) == 0);
        memset(at[i], (int)(i & 0x7f) + 1, 12);
    }
    for (uint32_t i = 0; i < 3000; i++) {
        CHECK(gm_pool_at(&pool, i) == at[i]); /* nothing has moved */
        CHECK(*(unsigned char *)at[i] == (i & 0x7f) + 1);
    }
    gm_pool_deinit(&pool, &mem);
    CHECK_EQ(0, mem.used);
    CHECK_EQ(0, c.blocks);
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQ(i, gm_top_bit(1u << i));
        CHECK_EQ(i, gm_top_bit((1u << i) | 1));
    }
}

static void test_map_and_index(void)
{
    Counting c;
    GmMem mem;
    GmMap map;
    GmIndex index = {NULL, 0, 0};
    counting_mem(&c, &mem, 1 << 24);
    gm_map_init(&map);
    CHECK_EQ(GM_NONE, gm_map_get(&map, 5));
    for (uint32_t i = 0; i < 5000; i++) {
        OK(gm_map_put(&map, &mem, gm_pair(i % 7, i * 64), i, &last));
        OK(gm_index_add(&index, &mem, gm_mix(i / 2), i, &last)); /* two of each hash */
    }
    OK(gm_map_put(&map, &mem, UINT64_MAX - 1, 77, &last));
    CHECK_EQ(77, gm_map_get(&map, UINT64_MAX - 1));
    for (uint32_t i = 0; i < 5000; i++) {
        CHECK_EQ(i, gm_map_get(&map, gm_pair(i % 7, i * 64)));
        CHECK_EQ(GM_NONE, gm_map_get(&map, gm_pair(i % 7, i * 64 + 1)));
        uint64_t hash = gm_mix(i / 2);
        uint32_t at = (uint32_t)(hash >> 32), found, hits = 0;
        while ((found = gm_index_next(&index, hash, &at)) != GM_NONE) {
            hits += found / 2 == i / 2;
        }
        CHECK_EQ(2, hits);
    }
    gm_index_clear(&index);
    uint32_t at = 0;
    CHECK_EQ(GM_NONE, gm_index_next(&index, 0, &at));
    c.fail_at = c.calls + 1;
    c.stuck = true; /* a failed growth loses nothing */
    GmStatus status = GM_OK;
    uint64_t key = 1;
    while (status == GM_OK) {
        status = gm_map_put(&map, &mem, key << 40, 9, &last);
        key++;
    }
    CHECK_EQ(GM_NOMEM, status);
    CHECK_EQ(4999, gm_map_get(&map, gm_pair(4999 % 7, 4999 * 64)));
    CHECK_EQ(GM_NONE, gm_map_get(&map, (key - 1) << 40));
    gm_map_deinit(&map, &mem);
    gm_index_deinit(&index, &mem);
    CHECK_EQ(0, c.blocks);
}

/* A map that nobody else reads has one table, and half the bytes of one whose outgrown tables stay. */
static void test_map_alone(void)
{
    Counting c;
    GmMem mem;
    GmMap alone, shared;
    counting_mem(&c, &mem, 1 << 24);
    gm_map_init(&alone);
    gm_map_init(&shared);
    alone.alone = true;
    for (uint32_t i = 0; i < 5000; i++) {
        OK(gm_map_put(&alone, &mem, i * 64, i, &last));
        OK(gm_map_put(&shared, &mem, i * 64, i, &last));
    }
    CHECK(gm_map_bytes(&alone) < gm_map_bytes(&shared) / 10 * 6);
    CHECK_EQ(mem.used, gm_map_bytes(&alone) + gm_map_bytes(&shared));
    size_t before = gm_map_bytes(&alone);
    alone.alone = false; /* from here on others may read it */
    for (uint32_t i = 5000; i < 10000; i++) {
        OK(gm_map_put(&alone, &mem, i * 64, i, &last));
    }
    CHECK(gm_map_bytes(&alone) > 5 * before / 2);
    for (uint32_t i = 0; i < 10000; i++) {
        CHECK_EQ(i, gm_map_get(&alone, i * 64));
    }
    gm_map_deinit(&alone, &mem);
    gm_map_deinit(&shared, &mem);
    CHECK_EQ(0, c.blocks);
}

static bool same_hash(Hash128 x, Hash128 y) { return x.a == y.a && x.b == y.b; }

static void test_hashes(void)
{
    Hash128 h = {1, 2};
    CHECK(!same_hash(gm_hash_join(gm_hash_join(h, 3), 4), gm_hash_join(gm_hash_join(h, 4), 3)));
    Hash128 x = gm_hash_join(h, 3), y = gm_hash_join(h, 4);
    CHECK(same_hash(gm_hash_sum(x, y), gm_hash_sum(y, x)));
    CHECK(!same_hash(gm_hash_bytes(h, "abc", 3), gm_hash_bytes(h, "abc\0", 4)));
    CHECK(!same_hash(gm_hash_bytes(h, "", 0), h));
    CHECK(same_hash(gm_hash_bytes(h, "0123456789", 10), gm_hash_bytes(h, "0123456789", 10)));
    uint32_t words[] = {1, 2}, turned[] = {2, 1};
    CHECK(gm_hash_words(words, 2, 0) != gm_hash_words(turned, 2, 0));
    CHECK(gm_hash_words(words, 2, 0) != gm_hash_words(words, 2, 1));
    CHECK(gm_hash_words(words, 1, 0) != gm_hash_words(words, 2, 0));
}

int main(void)
{
    RUN(test_errors);
    RUN(test_accounts);
    RUN(test_arena);
    RUN(test_vectors_and_pools);
    RUN(test_map_alone);
    RUN(test_map_and_index);
    RUN(test_hashes);
    return check_result();
}
