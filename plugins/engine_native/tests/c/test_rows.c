/* Rows of lexer states say of every byte what the derivative is, over all 256 bytes and for every kind of node; and
 * what they take stays small. */
#include "fixture.h"
#include "gm_regex_in.h"

/* -- the same as derivatives ------------------------------------------------------------------------------ */

static void check_row(Fixture *f, GmRe re)
{
    const GmRow *row;
    OK(gm_re_row(&f->rx, re, &row, &err));
    for (uint32_t b = 0; b < 256; b++) {
        GmRe d;
        OK(gm_re_derive(&f->rx, re, (uint8_t)b, &d, &err));
        CHECK_EQ(re_entry(&f->rx, d), gm_row_at(row, (uint8_t)b));
    }
    const GmClasses *classes = row->classes;
    for (uint32_t b = 0, seen = 0; b < 256; b++) { /* numbered by their first byte */
        CHECK(classes->of[b] <= seen && seen <= classes->n);
        if (classes->of[b] == seen) {
            CHECK_EQ(b, classes->first[seen++]);
        }
        CHECK(b < 255 || seen == classes->n);
    }
}

static GmByteSet random_set(Rand *r)
{
    GmByteSet set = {{0, 0, 0, 0}};
    for (uint32_t n = 1 + rand_below(r, 4); n > 0; n--) {
        const uint32_t from = rand_below(r, 256), len = 1u << rand_below(r, 9);
        for (uint32_t b = from; b < from + len && b < 256; b++) {
            set.w[b >> 6] ^= (uint64_t)1 << (b & 63);
        }
    }
    return set;
}

static void test_random(void)
{
    enum { EXPRS = 80 };
    static char text[EXPRS][3];
    uint32_t kinds[RE_AUT + 1] = {0};
    for (uint32_t round = 0; round < 60; round++) {
        Fixture f;
        Rand r = {round + 7};
        GmRe re[EXPRS];
        begin(&f, 16);
        for (uint32_t i = 0; i < EXPRS; i++) {
            const GmRe a = i > 0 ? re[rand_below(&r, i)] : GM_RE_EPS, b = i > 0 ? re[rand_below(&r, i)] : GM_RE_EPS;
            const uint32_t kind = i < 6 ? i % 2 : rand_below(&r, 8);
            const GmByteSet set = random_set(&r);
            GmStatus status;
            switch (kind) {
            case 0:
                status = gm_re_set(&f.rx, &set, &re[i], &err);
                break;
            case 1:
                for (uint32_t k = 0; k < 3; k++) {
                    text[i][k] = (char)rand_next(&r);
                }
                status = gm_re_lit(&f.rx, (const uint8_t *)text[i], 1 + rand_below(&r, 3), &re[i], &err);
                break;
            case 2:
                status = gm_re_seq(&f.rx, a, b, &re[i], &err);
                break;
            case 3:
                status = gm_re_alt2(&f.rx, a, b, &re[i], &err);
                break;
            case 4: {
                GmRe parts[5];
                for (uint32_t k = 0; k < 5; k++) {
                    parts[k] = re[rand_below(&r, i)];
                }
                status = gm_re_alt(&f.rx, parts, 5, &re[i], &err);
                break;
            }
            case 5: {
                const uint32_t low = rand_below(&r, 3);
                status = gm_re_rep(&f.rx, a, low, rand_below(&r, 2) == 0 ? GM_INF : low + rand_below(&r, 4), &re[i], &err);
                break;
            }
            case 6:
                status = gm_re_and(&f.rx, a, b, &re[i], &err);
                break;
            default:
                status = gm_re_sub(&f.rx, a, b, &re[i], &err);
            }
            CHECK_EQ(GM_OK, status);
            kinds[re_at(&f.rx, re[i])->kind]++;
            if (re[i] != GM_RE_EMPTY && re[i] != GM_RE_EPS) {
                check_row(&f, re[i]);
            }
        }
        end(&f);
    }
    static const GmReKind wanted[] = {RE_SET, RE_LIT, RE_SEQ, RE_ALT, RE_REP, RE_AND, RE_SUB};
    for (uint32_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        CHECK(kinds[wanted[i]] > 50);
    }
}

/* Every byte in a class of its own, by an alternation and by parts whose classes are joined. */
static void test_all_bytes(void)
{
    Fixture f;
    begin(&f, 16);
    static uint8_t text[256][2];
    GmRe parts[256], all, low, high, some;
    for (uint32_t b = 0; b < 256; b++) {
        text[b][0] = (uint8_t)b;
        text[b][1] = (uint8_t)(b + 1);
        OK(gm_re_lit(&f.rx, text[b], 2, &parts[b], &err));
    }
    OK(gm_re_alt(&f.rx, parts, 256, &all, &err));
    OK(gm_re_alt(&f.rx, parts, 140, &low, &err));
    OK(gm_re_alt(&f.rx, parts + 120, 136, &high, &err));
    OK(gm_re_seq(&f.rx, low, all, &low, &err));
    OK(gm_re_alt2(&f.rx, low, high, &some, &err));
    check_row(&f, all);
    check_row(&f, low);
    check_row(&f, some);
    const GmRow *row;
    OK(gm_re_row(&f.rx, all, &row, &err));
    CHECK_EQ(256, row->classes->n);
    end(&f);
}

/* -- small -------------------------------------------------------------------------------------------------- */

/* A free key beside declared ones: each prefix of a declared key is a state of its own, whose rows are alike. */
static void test_size(void)
{
    enum { KEYS = 60, LONG = 12 };
    Fixture f;
    begin(&f, 16);
    static uint8_t key[KEYS][LONG + 1];
    GmRe keys[KEYS], body, quote, declared, any;
    GmByteSet set = {{UINT64_MAX << 32, UINT64_MAX, 0, 0}};
    Rand r = {3};
    set.w[0] &= ~((uint64_t)1 << '"');
    OK(gm_re_set(&f.rx, &set, &body, &err));
    OK(gm_re_rep(&f.rx, body, 0, GM_INF, &body, &err));
    OK(gm_re_lit(&f.rx, (const uint8_t *)"\"", 1, &quote, &err));
    OK(gm_re_seq(&f.rx, body, quote, &any, &err));
    for (uint32_t k = 0; k < KEYS; k++) {
        for (uint32_t i = 0; i < LONG; i++) {
            key[k][i] = (uint8_t)('a' + rand_below(&r, 26));
        }
        key[k][LONG] = '"';
        OK(gm_re_lit(&f.rx, key[k], LONG + 1, &keys[k], &err));
    }
    OK(gm_re_alt(&f.rx, keys, KEYS, &declared, &err));
    OK(gm_re_sub(&f.rx, any, declared, &any, &err));
    size_t before = f.mem.used;
    for (uint32_t k = 0; k < KEYS; k++) {
        uint32_t entry = any;
        for (uint32_t i = 0; i < LONG; i++) {
            const GmRow *row;
            OK(gm_re_row(&f.rx, GM_RE_ID(entry), &row, &err));
            entry = gm_row_at(row, key[k][i]);
        }
    }
    uint32_t made = 0;
    for (uint32_t i = 0; i < f.rx.nodes.len; i++) {
        made += gm_load(&re_at(&f.rx, i)->row) != NULL;
    }
    CHECK(made > KEYS * (LONG - 3));
    CHECK(f.rx.classes.len < 200); /* distinct first letters, and pairs of them */
    CHECK(f.mem.used - before < made * 384); /* nodes and all; rows alone were 1 KB each once */
    end(&f);
}

int main(void)
{
    RUN(test_random);
    RUN(test_all_bytes);
    RUN(test_size);
    return check_result();
}
