#include "gm_bits.h"

#include <stdlib.h>
#include <string.h>

void gm_gather_deinit(GmGather *g, GmMem *mem)
{
    GM_VEC_FREE(mem, g->ids);
    GM_VEC_FREE(mem, g->dense);
}

GmStatus gm_gather_add(GmGather *g, GmMem *mem, const GmToks *toks, GmError *err)
{
    if (toks->n_ids > 0) {
        GM_RESERVE(mem, g->ids, (size_t)g->ids.len + toks->n_ids);
        memcpy(g->ids.data + g->ids.len, toks->ids, toks->n_ids * sizeof(uint32_t));
        g->ids.len += toks->n_ids;
    }
    for (uint32_t i = 0; i < toks->n_dense; i++) {
        uint32_t j = 0;
        while (j < g->dense.len && g->dense.data[j] != toks->dense[i]) {
            j++;
        }
        if (j == g->dense.len) {
            GM_PUSH(mem, g->dense, toks->dense[i]);
        }
    }
    return GM_OK;
}

static int compare_u32(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

void gm_bits_or(uint32_t *words, const uint32_t *from, uint32_t n_words)
{
    for (uint32_t i = 0; i < n_words; i++) {
        words[i] |= from[i];
    }
}

GmStatus gm_gather_finish(GmGather *g, GmArena *arena, uint32_t n_words, GmToks *out, GmError *err)
{
    void *p;
    memset(out, 0, sizeof *out);
    if (g->ids.len > 1) {
        qsort(g->ids.data, g->ids.len, sizeof(uint32_t), compare_u32);
        uint32_t kept = 1;
        for (uint32_t i = 1; i < g->ids.len; i++) {
            if (g->ids.data[i] != g->ids.data[kept - 1]) {
                g->ids.data[kept++] = g->ids.data[i];
            }
        }
        g->ids.len = kept;
    }
    if (g->ids.len > GM_SPARSE_MAX || g->dense.len > GM_DENSE_MAX) {
        GM_TRY(gm_arena_zeroed(arena, n_words, sizeof(uint32_t), &p, err));
        uint32_t *words = p;
        for (uint32_t i = 0; i < g->ids.len; i++) {
            gm_bits_set(words, g->ids.data[i]);
        }
        g->ids.len = 0;
        if (g->dense.len >= GM_DENSE_MAX) {
            for (uint32_t i = 0; i < g->dense.len; i++) {
                gm_bits_or(words, g->dense.data[i], n_words);
            }
            g->dense.len = 0;
        }
        GM_PUSH(arena->mem, g->dense, words);
    }
    if (g->ids.len > 0) {
        GM_TRY(gm_arena_alloc(arena, g->ids.len * sizeof(uint32_t), &p, err));
        memcpy(p, g->ids.data, g->ids.len * sizeof(uint32_t));
        out->ids = p;
        out->n_ids = g->ids.len;
    }
    if (g->dense.len > 0) {
        GM_TRY(gm_arena_alloc(arena, g->dense.len * sizeof(uint32_t *), &p, err));
        memcpy(p, g->dense.data, g->dense.len * sizeof(uint32_t *));
        out->dense = p;
        out->n_dense = g->dense.len;
    }
    g->ids.len = g->dense.len = 0;
    return GM_OK;
}

void gm_toks_or(const GmToks *toks, uint32_t *words, uint32_t n_words)
{
    for (uint32_t i = 0; i < toks->n_dense; i++) {
        gm_bits_or(words, toks->dense[i], n_words);
    }
    for (uint32_t i = 0; i < toks->n_ids; i++) {
        gm_bits_set(words, toks->ids[i]);
    }
}
