/* Property: for regexes built by a stack machine, intersection and difference agree with their parts on every
 * text, dead states show as 0, lengths are bounds, and clamping is invisible within the horizon. Input:
 * operations, then a text. */
#include "fuzz.h"
#include "gm_regex.h"

enum { TOP = 32, HORIZON = 4 };

typedef struct Machine {
    GmMem mem;
    GmArena arena;
    GmRegex rx;
    GmRe stack[TOP];
    uint32_t n;
} Machine;

static GmStatus operate(Machine *m, Input *in, GmError *err)
{
    uint32_t op = fuzz_byte(in) % 8, low, high;
    GmRe made = 0, b = m->n > 0 ? m->stack[m->n - 1] : GM_RE_EPS, a = m->n > 1 ? m->stack[m->n - 2] : GM_RE_EPS;
    GmByteSet set = {{0, 0, 0, 0}};
    switch (op) {
    case 0:
    case 1:
        set.w[1] = (uint64_t)(fuzz_byte(in) % 8) << ('a' - 64);
        GM_TRY(gm_re_set(&m->rx, &set, &made, err));
        break;
    case 2:
        low = fuzz_byte(in);
        low = low < 240 ? low % 9 : UINT32_MAX >> (low - 240) * 2; /* some beyond any search */
        high = fuzz_byte(in) % 16;
        high = low > GM_INF - 16 ? 0 : high;
        GM_TRY(gm_re_rep(&m->rx, b, low, high == 0 ? GM_INF : low + high - 1, &made, err));
        m->stack[m->n > 0 ? m->n - 1 : m->n++] = made;
        return GM_OK;
    case 3:
        GM_TRY(gm_re_seq(&m->rx, a, b, &made, err));
        break;
    case 4:
        GM_TRY(gm_re_alt2(&m->rx, a, b, &made, err));
        break;
    case 5:
        GM_TRY(gm_re_and(&m->rx, a, b, &made, err));
        break;
    case 6:
        GM_TRY(gm_re_sub(&m->rx, a, b, &made, err));
        break;
    default:
        made = a;
        break;
    }
    if (m->n == TOP) {
        m->n--;
    }
    m->stack[m->n++] = made;
    return GM_OK;
}

/* Read on; GM_LIMIT ends the input without a verdict. */
static GmStatus step(Machine *m, uint32_t *entry, uint8_t byte, GmError *err)
{
    return *entry == 0 ? GM_OK : gm_re_deriv(&m->rx, GM_RE_ID(*entry), byte, entry, err);
}

static uint32_t entry_of(const Machine *m, GmRe re) { return re | (gm_re_nullable(&m->rx, re) ? GM_RE_NULLABLE : 0); }

/* The lengths said of `re` are true of a text of n bytes after which `entry` is left. */
static bool fits(const Machine *m, GmRe re, uint32_t entry, uint32_t n)
{
    const GmReNode *node = gm_re_node(&m->rx, re);
    return (entry & GM_RE_NULLABLE) == 0 || (node->shortest <= n && n <= node->longest);
}

static GmStatus check(Machine *m, Input *in, GmError *err)
{
    GmRe a = m->n > 0 ? m->stack[m->n - 1] : GM_RE_EPS, b = m->n > 1 ? m->stack[m->n - 2] : GM_RE_EPS, both, sub, clamped;
    GM_TRY(gm_re_and(&m->rx, a, b, &both, err));
    GM_TRY(gm_re_sub(&m->rx, a, b, &sub, err));
    GM_TRY(gm_re_clamp(&m->rx, a, &clamped, err));
    uint32_t x = entry_of(m, a), y = entry_of(m, b), meet = entry_of(m, both), rest = entry_of(m, sub), near = entry_of(m, clamped);
    for (uint32_t i = 0; i < 24; i++) {
        FUZZ_CHECK(fits(m, a, x, i) && fits(m, b, y, i) && fits(m, both, meet, i) && fits(m, sub, rest, i));
        bool in_a = (x & GM_RE_NULLABLE) != 0, in_b = (y & GM_RE_NULLABLE) != 0;
        FUZZ_CHECK(((meet & GM_RE_NULLABLE) != 0) == (in_a && in_b));
        FUZZ_CHECK(((rest & GM_RE_NULLABLE) != 0) == (in_a && !in_b));
        FUZZ_CHECK((x != 0) == (meet != 0 || rest != 0)); /* what is alive goes on into one of the two */
        FUZZ_CHECK(i > HORIZON || ((near != 0) == (x != 0) && (near & GM_RE_NULLABLE) == (x & GM_RE_NULLABLE)));
        uint8_t byte = (uint8_t)('a' + fuzz_byte(in) % 3);
        GM_TRY(step(m, &x, byte, err));
        GM_TRY(step(m, &y, byte, err));
        GM_TRY(step(m, &meet, byte, err));
        GM_TRY(step(m, &rest, byte, err));
        GM_TRY(step(m, &near, byte, err));
    }
    return GM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = {data, data + size};
    Machine m;
    GmError err;
    m.n = 0;
    gm_mem_init(&m.mem, gm_mem_libc, NULL, 32 << 20, "memory_bytes");
    gm_arena_init(&m.arena, &m.mem);
    GmStatus status = gm_re_init(&m.rx, &m.mem, &m.arena, HORIZON, 3000, &err);
    uint32_t operations = fuzz_byte(&in) % 64;
    for (uint32_t i = 0; i < operations && status == GM_OK; i++) {
        status = operate(&m, &in, &err);
    }
    if (status == GM_OK) {
        status = check(&m, &in, &err);
    }
    FUZZ_CHECK(status == GM_OK || status == GM_LIMIT);
    gm_re_deinit(&m.rx);
    gm_arena_deinit(&m.arena);
    FUZZ_CHECK(m.mem.used == 0);
    return 0;
}
