#include "gm_vocab.h"

#include <string.h>

enum { VOCAB_SHARED_BYTES = 128 << 20 }; /* about 2,000 wide steps of 128,000 tokens with sets of their own */

static GmStatus copy_array(GmMem *mem, const void *from, size_t n, size_t size, void **out, GmError *err)
{
    size_t bytes;
    GM_TRY(gm_mem_product(n, size, &bytes, err));
    if (bytes == 0) {
        *out = NULL;
        return GM_OK;
    }
    void *p = NULL;
    GM_TRY(gm_mem_resize(mem, &p, 0, bytes, err));
    memcpy(p, from, bytes);
    *out = p;
    return GM_OK;
}

static GmStatus vocab_index(GmVocab *vocab, GmError *err)
{
    uint64_t top = vocab->n > 0 ? (uint64_t)vocab->ids[vocab->n - 1] + 1 : 0;
    if (top == 0 || top > 8 * (uint64_t)vocab->n + 65536) {
        return GM_OK; /* sparse ids: binary search */
    }
    void *p = NULL;
    GM_TRY(gm_mem_resize(&vocab->mem, &p, 0, top * sizeof(uint32_t), err));
    vocab->index = p;
    vocab->n_index = (uint32_t)top;
    memset(p, 0, top * sizeof(uint32_t));
    for (uint32_t i = 0; i < vocab->n; i++) {
        vocab->index[vocab->ids[i]] = i + 1;
    }
    return GM_OK;
}

static GmStatus vocab_fill(GmVocab *vocab, const uint32_t *ids, const int64_t *off, const uint8_t *blob, uint32_t n,
                           uint32_t max_token_bytes, GmError *err)
{
    void *p;
    for (uint32_t i = 0; i < n; i++) {
        if ((i > 0 && ids[i] <= ids[i - 1]) || off[i] < 0 || off[i + 1] < off[i]) {
            return gm_fail(err, GM_ARG, "the vocabulary is not sorted by id, or its offsets are not ascending");
        }
    }
    vocab->n = n;
    vocab->n_blob = n > 0 ? (uint64_t)off[n] : 0;
    GM_TRY(copy_array(&vocab->mem, ids, n, sizeof *ids, &p, err));
    vocab->ids = p;
    GM_TRY(copy_array(&vocab->mem, off, n > 0 ? n + 1u : 0, sizeof *off, &p, err));
    vocab->off = p;
    GM_TRY(copy_array(&vocab->mem, blob, vocab->n_blob, 1, &p, err));
    vocab->blob = p;
    GM_TRY(vocab_index(vocab, err));
    return gm_trie_build(&vocab->mem, vocab->ids, (const int64_t *)vocab->off, vocab->blob, n, max_token_bytes, &vocab->trie,
                         err);
}

GmVocab *gm_vocab_new(const uint32_t *ids, const int64_t *off, const uint8_t *blob, uint32_t n,
                      uint32_t max_token_bytes, GmError *err)
{
    return gm_vocab_new_with(gm_mem_libc, NULL, ids, off, blob, n, max_token_bytes, err);
}

GmVocab *gm_vocab_new_in(GmHeap *heap, const uint32_t *ids, const int64_t *off, const uint8_t *blob, uint32_t n,
                         uint32_t max_token_bytes, GmError *err)
{
    GmVocab *vocab = gm_vocab_new_with(gm_heap_resize, heap, ids, off, blob, n, max_token_bytes, err);
    if (vocab != NULL) {
        vocab->heap = heap;
        gm_heap_retain(heap);
    }
    return vocab;
}

GmVocab *gm_vocab_new_with(GmResizeFn resize, void *context, const uint32_t *ids, const int64_t *off, const uint8_t *blob,
                           uint32_t n, uint32_t max_token_bytes, GmError *err)
{
    GmMem mem;
    gm_mem_init(&mem, resize, context, SIZE_MAX / 4, "memory_bytes");
    GmVocab *vocab = gm_mem_object(&mem, sizeof *vocab);
    if (vocab == NULL) {
        (void)gm_fail(err, GM_NOMEM, "out of memory");
        return NULL;
    }
    atomic_init(&vocab->references, 1);
    atomic_init(&vocab->warmed, 0);
    vocab->mem = mem;
    gm_mutex_init(&vocab->lock);
    vocab->shared = gm_shared_new(&vocab->mem, VOCAB_SHARED_BYTES);
    if (vocab->shared == NULL) {
        (void)gm_fail(err, GM_NOMEM, "out of memory");
        gm_vocab_free(vocab);
        return NULL;
    }
    if (vocab_fill(vocab, ids, off, blob, n, max_token_bytes, err) != GM_OK) {
        gm_vocab_free(vocab);
        return NULL;
    }
    return vocab;
}

void gm_vocab_retain(GmVocab *vocab) { (void)atomic_fetch_add(&vocab->references, 1); }

void gm_vocab_free(GmVocab *vocab)
{
    if (vocab == NULL || atomic_fetch_sub(&vocab->references, 1) != 1) {
        return;
    }
    gm_shared_release(vocab->shared);
    gm_mutex_deinit(&vocab->lock);
    gm_trie_deinit(&vocab->trie, &vocab->mem);
    gm_mem_free(&vocab->mem, vocab->ids, vocab->n * sizeof(uint32_t));
    gm_mem_free(&vocab->mem, vocab->off, (vocab->n + 1u) * sizeof(uint64_t));
    gm_mem_free(&vocab->mem, vocab->blob, vocab->n_blob);
    gm_mem_free(&vocab->mem, vocab->index, vocab->n_index * sizeof(uint32_t));
    const GmMem mem = vocab->mem;
    GmHeap *heap = vocab->heap;
    gm_mem_object_free(&mem, vocab, sizeof *vocab);
    gm_heap_free(heap);
}

GmShared *gm_vocab_shared(GmVocab *vocab)
{
    gm_mutex_lock(&vocab->lock);
    GmShared *shared = vocab->shared;
    gm_shared_retain(shared);
    gm_mutex_unlock(&vocab->lock);
    return shared;
}

int gm_vocab_forget(GmVocab *vocab, GmError *err)
{
    GmShared *fresh = gm_shared_new(&vocab->mem, VOCAB_SHARED_BYTES);
    if (fresh == NULL) {
        (void)gm_fail(err, GM_NOMEM, "out of memory");
        return -1;
    }
    gm_mutex_lock(&vocab->lock);
    GmShared *old = vocab->shared;
    vocab->shared = fresh;
    gm_mutex_unlock(&vocab->lock);
    gm_shared_release(old);
    return 0;
}

uint64_t gm_vocab_bytes(const GmVocab *vocab) { return vocab->mem.used; }

bool gm_vocab_find(const GmVocab *vocab, uint32_t id, const uint8_t **bytes, uint64_t *n)
{
    uint32_t at = GM_NONE;
    if (vocab->index != NULL) {
        at = id < vocab->n_index ? vocab->index[id] - 1 : GM_NONE;
    } else {
        uint32_t from = 0, to = vocab->n;
        while (from < to) {
            uint32_t mid = from + (to - from) / 2;
            if (vocab->ids[mid] < id) {
                from = mid + 1;
            } else {
                to = mid;
            }
        }
        at = from < vocab->n && vocab->ids[from] == id ? from : GM_NONE;
    }
    if (at >= vocab->n) {
        return false;
    }
    *bytes = vocab->blob + vocab->off[at];
    *n = vocab->off[at + 1] - vocab->off[at];
    return true;
}
