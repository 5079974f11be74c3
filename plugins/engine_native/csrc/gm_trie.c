#include "gm_trie.h"

#include "gm_groups.h"
#include "gm_utf8.h"

#include <stdlib.h>
#include <string.h>

typedef struct SortKey {
    uint64_t head; /* first 8 bytes, big-endian, zero-padded */
    const uint8_t *text;
    uint32_t len, id;
} SortKey;

static int compare_keys(const void *x, const void *y)
{
    const SortKey *a = x, *b = y;
    if (a->head != b->head) {
        return a->head < b->head ? -1 : 1;
    }
    uint32_t shared = a->len < b->len ? a->len : b->len;
    if (shared > 8) {
        int order = memcmp(a->text + 8, b->text + 8, shared - 8);
        if (order != 0) {
            return order;
        }
    }
    if (a->len != b->len) {
        return a->len < b->len ? -1 : 1;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

static uint64_t key_head(const uint8_t *text, uint32_t len)
{
    uint64_t head = 0;
    for (uint32_t i = 0; i < 8; i++) {
        head = head << 8 | (i < len ? text[i] : 0);
    }
    return head;
}

/* Groups below c when the bytes up to c leave the UTF-8 automaton in `state`. At most three levels, since a
 * character boundary ends it. */
static uint64_t groups_inside(const GmTrie *trie, uint32_t c, uint8_t state)
{
    const uint64_t utf8 = (uint64_t)1 << GM_GROUP_UTF8;
    if (state == GM_UTF8_BAD) {
        return (uint64_t)1 << GM_GROUP_BAD;
    }
    if (state == GM_UTF8_START) {
        return utf8 | trie->groups[c];
    }
    uint64_t out = utf8;
    for (uint32_t d = c + 1; d < trie->nodes[c].end; d = trie->nodes[d].end) {
        out |= groups_inside(trie, d, gm_utf8_next(state, trie->nodes[d].byte));
    }
    return out;
}

static void trie_annotate(GmTrie *trie)
{
    for (uint32_t n = trie->n_nodes; n-- > 0;) {
        uint64_t groups = 0;
        uint32_t height = 0;
        for (uint32_t c = n + 1; c < trie->nodes[n].end; c = trie->nodes[c].end) {
            uint8_t byte = trie->nodes[c].byte;
            groups |= byte < 0x80 ? (uint64_t)1 << gm_group_of(byte) | trie->groups[c]
                                  : groups_inside(trie, c, gm_utf8_next(GM_UTF8_START, byte));
            uint32_t h = trie->nodes[c].height + 1u;
            height = h > height ? h : height;
        }
        trie->groups[n] = groups;
        trie->nodes[n].height = (uint16_t)(height > UINT16_MAX ? UINT16_MAX : height);
    }
}

static GmStatus trie_fill(GmMem *mem, const SortKey *keys, uint32_t n, GmTrie *trie, GmError *err)
{
    GM_VEC(uint32_t) path = {NULL, 0, 0}; /* open nodes, by depth */
    GmStatus status = gm_vec_reserve(mem, (void **)&path.data, &path.cap, (size_t)trie->longest + 2, sizeof(uint32_t), err);
    if (status != GM_OK) {
        return status;
    }
    uint32_t at = 1;
    memset(&trie->nodes[0], 0, sizeof trie->nodes[0]);
    path.data[path.len++] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t shared = 0;
        if (i > 0) {
            uint32_t limit = keys[i].len < keys[i - 1].len ? keys[i].len : keys[i - 1].len;
            while (shared < limit && keys[i].text[shared] == keys[i - 1].text[shared]) {
                shared++;
            }
        }
        while (path.len > shared + 1) {
            trie->nodes[path.data[--path.len]].end = at;
        }
        for (uint32_t k = shared; k < keys[i].len; k++) {
            GmTrieNode *node = &trie->nodes[at];
            node->byte = keys[i].text[k];
            node->token = i;
            node->height = 0;
            path.data[path.len++] = at++;
        }
        trie->ids[i] = keys[i].id;
    }
    while (path.len > 0) {
        trie->nodes[path.data[--path.len]].end = at;
    }
    GM_VEC_FREE(mem, path);
    trie->n_nodes = at;
    trie->nodes[at].token = n;
    trie->nodes[at].end = at;
    return GM_OK;
}

static void trie_children(GmTrie *trie)
{
    uint32_t at = 0;
    for (uint32_t n = 0; n < trie->n_nodes; n++) {
        trie->child_from[n] = at;
        for (uint32_t c = n + 1; c < trie->nodes[n].end; c = trie->nodes[c].end) {
            trie->child[at] = c;
            trie->child_byte[at++] = trie->nodes[c].byte;
        }
    }
    trie->child_from[trie->n_nodes] = at;
}

static GmStatus trie_alloc(GmMem *mem, const SortKey *keys, uint32_t n, GmTrie *trie, GmError *err)
{
    size_t count = 2; /* root and sentinel */
    uint32_t top = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t shared = 0;
        if (i > 0) {
            uint32_t limit = keys[i].len < keys[i - 1].len ? keys[i].len : keys[i - 1].len;
            while (shared < limit && keys[i].text[shared] == keys[i - 1].text[shared]) {
                shared++;
            }
        }
        count += keys[i].len - shared;
        top = keys[i].id > top ? keys[i].id : top;
        trie->longest = keys[i].len > trie->longest ? keys[i].len : trie->longest;
    }
    if (count > UINT32_MAX / 4) {
        return gm_fail_limit(err, "memory_bytes", "the vocabulary has too many distinct prefixes (%zu)", count);
    }
    trie->node_bytes = count * sizeof(GmTrieNode);
    trie->n_words = n > 0 ? top / 32 + 1 : 0;
    trie->n_tokens = n;
    void *p = NULL;
    GM_TRY(gm_mem_resize(mem, &p, 0, trie->node_bytes, err));
    trie->nodes = p;
    p = NULL;
    GM_TRY(gm_mem_resize(mem, &p, 0, count * sizeof(uint64_t), err));
    trie->groups = p;
    p = NULL;
    GM_TRY(gm_mem_resize(mem, &p, 0, count * sizeof(uint32_t), err));
    trie->child_from = p;
    p = NULL;
    GM_TRY(gm_mem_resize(mem, &p, 0, count * sizeof(uint32_t), err));
    trie->child = p;
    p = NULL;
    GM_TRY(gm_mem_resize(mem, &p, 0, count, err));
    trie->child_byte = p;
    if (n > 0) {
        p = NULL;
        GM_TRY(gm_mem_resize(mem, &p, 0, n * sizeof(uint32_t), err));
        trie->ids = p;
        p = NULL;
        GM_TRY(gm_mem_resize(mem, &p, 0, trie->n_words * sizeof(uint32_t), err));
        trie->all = p;
        memset(trie->all, 0, trie->n_words * sizeof(uint32_t));
    }
    return GM_OK;
}

GmStatus gm_trie_build(GmMem *mem, const uint32_t *ids, const int64_t *off, const uint8_t *blob, uint32_t n,
                       uint32_t max_token_bytes, GmTrie *out, GmError *err)
{
    memset(out, 0, sizeof *out);
    void *p = NULL;
    size_t key_bytes = (size_t)(n + 1) * sizeof(SortKey);
    GM_TRY(gm_mem_resize(mem, &p, 0, key_bytes, err));
    SortKey *keys = p;
    uint32_t kept = 0;
    GmStatus status = GM_OK;
    for (uint32_t i = 0; i < n && status == GM_OK; i++) {
        int64_t len = off[i + 1] - off[i];
        if (len < 0 || len > (int64_t)max_token_bytes) {
            status = gm_fail_limit(err, "token_bytes", "token %u has %lld bytes, more than %u (limit \"token_bytes\")",
                                   ids[i], (long long)len, max_token_bytes);
        } else if (len > 0) {
            SortKey *key = &keys[kept++];
            key->text = blob + off[i];
            key->len = (uint32_t)len;
            key->id = ids[i];
            key->head = key_head(key->text, key->len);
        }
    }
    if (status == GM_OK) {
        qsort(keys, kept, sizeof *keys, compare_keys);
        status = trie_alloc(mem, keys, kept, out, err);
    }
    if (status == GM_OK) {
        status = trie_fill(mem, keys, kept, out, err);
    }
    gm_mem_free(mem, keys, key_bytes);
    if (status != GM_OK) {
        gm_trie_deinit(out, mem);
        return status;
    }
    trie_annotate(out);
    trie_children(out);
    for (uint32_t i = 0; i < kept; i++) {
        out->all[out->ids[i] >> 5] |= (uint32_t)1 << (out->ids[i] & 31);
    }
    return GM_OK;
}

void gm_trie_deinit(GmTrie *trie, GmMem *mem)
{
    gm_mem_free(mem, trie->nodes, trie->node_bytes);
    const size_t count = trie->node_bytes / sizeof(GmTrieNode);
    gm_mem_free(mem, trie->groups, count * sizeof(uint64_t));
    gm_mem_free(mem, trie->child_from, count * sizeof(uint32_t));
    gm_mem_free(mem, trie->child, count * sizeof(uint32_t));
    gm_mem_free(mem, trie->child_byte, count);
    gm_mem_free(mem, trie->ids, trie->n_tokens * sizeof(uint32_t));
    gm_mem_free(mem, trie->all, trie->n_words * sizeof(uint32_t));
    memset(trie, 0, sizeof *trie);
}
