/* Saving of dense sets (gm_tables.h): the largest first, told by how they differ from one before. */
#include "gm_save.h"

#include <stdlib.h>

static uint32_t count_bits(uint32_t x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static int compare_sets(const void *x, const void *y)
{
    const SavedSet *a = x, *b = y;
    if (a->count != b->count) {
        return a->count > b->count ? -1 : 1;
    }
    return gm_save_compare_hashes(a->hash, b->hash);
}

/* How many bits differ, or any number above `most`. */
static uint32_t difference(const uint32_t *x, const uint32_t *y, uint32_t n_words, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_words && n <= most; i++) {
        n += count_bits(x[i] ^ y[i]);
    }
    return n;
}

/* Told by the most similar one of the last few, unless that takes as much as its words. */
static GmStatus write_set(Save *s, const uint32_t *const *before, const uint32_t *words, size_t *free_bytes, GmError *err)
{
    uint32_t n_words = s->core->trie->n_words, best = 0, least = n_words;
    for (uint32_t k = 1; k <= GM_TABLES_BACK && before[-(int)k] != NULL; k++) {
        uint32_t n = difference(words, before[-(int)k], n_words, least);
        if (n < least) {
            least = n;
            best = k;
        }
    }
    if (best == 0 || *free_bytes < n_words * sizeof *words) {
        GM_TRY(gm_write_number(s->out, 0, err));
        for (uint32_t i = 0; i < n_words; i++) {
            uint8_t bytes[4] = {(uint8_t)words[i], (uint8_t)(words[i] >> 8), (uint8_t)(words[i] >> 16), (uint8_t)(words[i] >> 24)};
            GM_TRY(gm_write_bytes(s->out, bytes, 4, err));
        }
        return GM_OK;
    }
    *free_bytes -= n_words * sizeof *words;
    const uint32_t *other = before[-(int)best];
    GM_TRY(gm_write_number(s->out, best, err));
    GM_TRY(gm_write_number(s->out, least, err));
    uint32_t last = 0;
    for (uint32_t i = 0; i < n_words; i++) {
        for (uint32_t x = words[i] ^ other[i]; x != 0; x &= x - 1) {
            uint32_t id = 32 * i + gm_top_bit(x & (0u - x));
            GM_TRY(gm_write_number(s->out, id - last, err));
            last = id + 1;
        }
    }
    return GM_OK;
}

GmStatus gm_save_sets(Save *s, GmError *err)
{
    uint32_t n_words = s->core->trie->n_words, n = s->sets.len, kept = 0;
    SavedSet *sets = s->sets.data;
    void *p;
    for (uint32_t i = 0; i < n; i++) {
        sets[i].hash = gm_hash_bytes((Hash128){67, 71}, sets[i].words, n_words * sizeof(uint32_t));
        for (uint32_t k = 0; k < n_words; k++) {
            sets[i].count += count_bits(sets[i].words[k]);
        }
    }
    if (n > 0) {
        qsort(sets, n, sizeof *sets, compare_sets);
    }
    GM_TRY(gm_save_numbers(s, n, &s->set_no, err));
    GM_TRY(gm_arena_zeroed(&s->arena, (size_t)n + 1 + GM_TABLES_BACK, sizeof(uint32_t *), &p, err));
    const uint32_t **order = p;
    order += GM_TABLES_BACK;
    *order++ = s->core->trie->all;
    for (uint32_t i = 0; i < n; i++) {
        bool again = i > 0 && compare_sets(&sets[i], &sets[i - 1]) == 0;
        if (!again) {
            order[kept++] = sets[i].words;
        }
        s->set_no[sets[i].id] = kept - 1;
    }
    GM_TRY(gm_write_number(s->out, kept, err));
    size_t free_bytes = GM_TABLES_SETS_FREE;
    for (uint32_t i = 0; i < kept; i++) {
        GM_TRY(write_set(s, order + i, order[i], &free_bytes, err));
    }
    return GM_OK;
}
