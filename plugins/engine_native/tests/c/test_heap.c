/* The heap: chunks keep their content through every change of size, are reused, and are purged when the delay says. */
#include "check.h"
#include "gm_heap.h"
#include "gm_sync.h"

enum { LARGE = 1 << 20, SLOTS = 64 };

static void *take(GmHeap *heap, size_t size) { return gm_heap_resize(heap, NULL, 0, size); }
static void drop(GmHeap *heap, void *p, size_t size) { (void)gm_heap_resize(heap, p, size, 0); }

static void test_random_sizes(void)
{
    GmHeap *heap = gm_heap_new(-1, 0);
    Rand r = {7};
    unsigned char *block[SLOTS] = {NULL};
    size_t size[SLOTS] = {0};
    for (uint32_t round = 0; round < 6000; round++) {
        uint32_t i = rand_below(&r, SLOTS);
        size_t next = rand_below(&r, 4) == 0 ? 0 : rand_below(&r, 1u << (4 + rand_below(&r, 16)));
        unsigned char *p = block[i] == NULL && next == 0 ? NULL : gm_heap_resize(heap, block[i], size[i], next);
        CHECK(next == 0 || p != NULL);
        if (p != NULL && next > 0) {
            size_t both = size[i] < next ? size[i] : next;
            CHECK(both == 0 || (p[0] == i && p[both - 1] == i));
            memset(p, (int)i, next);
        }
        block[i] = next > 0 ? p : NULL;
        size[i] = next;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (block[i] != NULL) {
            drop(heap, block[i], size[i]);
        }
    }
    gm_heap_free(heap);
}

static void test_classes(void)
{
    GmHeap *heap = gm_heap_new(-1, 0);
    for (size_t size = 32 << 10; size < (size_t)1 << 24; size = size + size / 7 + 13) {
        unsigned char *p = take(heap, size);
        p[0] = p[size - 1] = 1;
        uint64_t before = gm_heap_kept(heap);
        drop(heap, p, size);
        uint64_t chunk = gm_heap_kept(heap) - before;
        CHECK(chunk >= size && chunk <= size + size / 4 + 1 && chunk % 4096 == 0);
        CHECK(take(heap, (size_t)chunk) == (void *)p); /* the whole of it is of the same class */
        CHECK_EQ(before, gm_heap_kept(heap));
        drop(heap, p, (size_t)chunk);
    }
    gm_heap_free(heap);
}

static void test_reuse_and_purge(void)
{
    for (int decommits = 0; decommits < 2; decommits++) {
        GmHeap *heap = gm_heap_new(-1, decommits);
        void *p = take(heap, LARGE), *q = take(heap, LARGE);
        drop(heap, p, LARGE);
        CHECK_EQ(LARGE, gm_heap_kept(heap));
        CHECK(take(heap, LARGE - 5) == p);
        CHECK_EQ(0, gm_heap_kept(heap));
        drop(heap, p, LARGE - 5);
        drop(heap, q, LARGE);
        CHECK_EQ(2 * LARGE, gm_heap_purge(heap));
        CHECK_EQ(0, gm_heap_kept(heap));
        CHECK_EQ(0, gm_heap_purge(heap));
        if (!decommits) {
            CHECK(take(heap, LARGE) == q); /* reset chunks stay at hand, the last one first */
            memset(q, 1, LARGE);
            drop(heap, q, LARGE);
            CHECK_EQ(LARGE, gm_heap_kept(heap));
        }
        gm_heap_free(heap);
    }
}

static void test_delay(void)
{
    GmHeap *heap = gm_heap_new(0, 0); /* at once */
    drop(heap, take(heap, LARGE), LARGE);
    CHECK_EQ(0, gm_heap_kept(heap));
    gm_heap_free(heap);
    heap = gm_heap_new(40, 1);
    double from = gm_seconds();
    drop(heap, take(heap, LARGE), LARGE);
    drop(heap, take(heap, LARGE), LARGE);
    bool early = gm_seconds() - from < 0.04;
    CHECK(!early || gm_heap_kept(heap) == LARGE);
    while (gm_seconds() - from < 0.05) {
    }
    drop(heap, take(heap, 2 * LARGE), 2 * LARGE); /* whoever comes next purges */
    CHECK_EQ(2 * LARGE, gm_heap_kept(heap));
    gm_heap_free(heap);
}

static void test_references(void)
{
    GmHeap *heap = gm_heap_new(1000, 0);
    uint32_t ids[1] = {0};
    int64_t off[2] = {0, 1};
    GmError err;
    GmVocab *vocab = gm_vocab_new_in(heap, ids, off, (const uint8_t *)"a", 1, 64, &err);
    CHECK(vocab != NULL);
    gm_heap_free(heap); /* the vocabulary keeps it */
    gm_vocab_free(vocab);
    gm_heap_pause(heap = gm_heap_new(1, 1));
    gm_heap_resume(heap);
    gm_heap_free(heap);
    gm_heap_free(NULL);
}

int main(void)
{
    RUN(test_random_sizes);
    RUN(test_classes);
    RUN(test_reuse_and_purge);
    RUN(test_delay);
    RUN(test_references);
    return check_result();
}
