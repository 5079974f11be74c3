#include "gm_utf8.h"

#include <string.h>

/* States: 1, 2, 3 = so many continuation bytes still to come; 4..7 = the same after the lead bytes that
 * restrict the next byte: E0, ED, F0, F4. */
uint8_t gm_utf8_next(uint8_t state, uint8_t byte)
{
    bool tail = (byte & 0xc0) == 0x80;
    switch (state) {
    case 0:
        if (byte < 0x80) {
            return 0;
        }
        if (byte < 0xc2 || byte > 0xf4) {
            return GM_UTF8_BAD;
        }
        if (byte < 0xe0) {
            return 1;
        }
        if (byte < 0xf0) {
            return byte == 0xe0 ? 4 : byte == 0xed ? 5 : 2;
        }
        return byte == 0xf0 ? 6 : byte == 0xf4 ? 7 : 3;
    case 1:
    case 2:
    case 3:
        return tail ? (uint8_t)(state - 1) : GM_UTF8_BAD;
    case 4:
        return tail && byte >= 0xa0 ? 1 : GM_UTF8_BAD;
    case 5:
        return tail && byte < 0xa0 ? 1 : GM_UTF8_BAD;
    case 6:
        return tail && byte >= 0x90 ? 2 : GM_UTF8_BAD;
    case 7:
        return tail && byte < 0x90 ? 2 : GM_UTF8_BAD;
    default:
        return GM_UTF8_BAD;
    }
}

static void utf8_encode(uint32_t c, uint32_t len, uint8_t out[4])
{
    static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (uint32_t i = len; i-- > 1;) {
        out[i] = (uint8_t)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    out[0] = (uint8_t)(lead[len] | c);
}

/* What still has to be read: `depth` bytes of the sequences between low and high, both of length len. */
typedef struct Piece {
    uint8_t low[4], high[4];
    uint8_t len;
} Piece;

static GmStatus byte_range(GmRegex *rx, uint8_t low, uint8_t high, GmRe *out, GmError *err)
{
    GmByteSet set;
    memset(&set, 0, sizeof set);
    for (uint32_t b = low; b <= high; b++) {
        set.w[b >> 6] |= (uint64_t)1 << (b & 63);
    }
    return gm_re_set(rx, &set, out, err);
}

/* Sequences from low to high, bytes [at, len): at most three levels deep. */
static GmStatus piece_tail(GmRegex *rx, const Piece *p, uint32_t at, bool low_open, bool high_open, GmRe *out, GmError *err)
{
    if (at == p->len) {
        *out = GM_RE_EPS;
        return GM_OK;
    }
    uint8_t low = low_open ? 0x80 : p->low[at], high = high_open ? 0xbf : p->high[at];
    GmRe parts[3], head, tail;
    uint32_t n = 0;
    if (low == high) {
        GM_TRY(piece_tail(rx, p, at + 1, low_open, high_open, &tail, err));
        GM_TRY(byte_range(rx, low, low, &head, err));
        return gm_re_seq(rx, head, tail, out, err);
    }
    bool whole_low = low_open, whole_high = high_open;
    for (uint32_t i = at + 1; !whole_low; i++) {
        whole_low = i == p->len;
        if (!whole_low && p->low[i] != 0x80) {
            break;
        }
    }
    for (uint32_t i = at + 1; !whole_high; i++) {
        whole_high = i == p->len;
        if (!whole_high && p->high[i] != 0xbf) {
            break;
        }
    }
    uint32_t from = low, to = high;
    if (!whole_low) {
        GM_TRY(piece_tail(rx, p, at + 1, false, true, &tail, err));
        GM_TRY(byte_range(rx, low, low, &head, err));
        GM_TRY(gm_re_seq(rx, head, tail, &parts[n++], err));
        from++;
    }
    if (!whole_high) {
        to--;
    }
    if (from <= to) {
        GM_TRY(piece_tail(rx, p, at + 1, true, true, &tail, err));
        GM_TRY(byte_range(rx, (uint8_t)from, (uint8_t)to, &head, err));
        GM_TRY(gm_re_seq(rx, head, tail, &parts[n++], err));
    }
    if (!whole_high) {
        GM_TRY(piece_tail(rx, p, at + 1, true, false, &tail, err));
        GM_TRY(byte_range(rx, high, high, &head, err));
        GM_TRY(gm_re_seq(rx, head, tail, &parts[n++], err));
    }
    return gm_re_alt(rx, parts, n, out, err);
}

/* All pieces of one length that start with one lead byte become one alternative, so that a class of
 * hundreds of ranges branches on its bytes instead of being a flat list; lead bytes with equal tails merge. */
GmStatus gm_utf8_chars(GmRegex *rx, const uint32_t *ranges, uint32_t n, GmRe *out, GmError *err)
{
    static const uint32_t last_of[5] = {0, 0x7f, 0x7ff, 0xffff, 0x10ffff};
    GmRe tails[256];
    memset(tails, 0, sizeof tails);
    uint32_t base = rx->scratch.len, open = 0; /* the tails of lead byte `open` are in scratch from `base` on */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = ranges[2 * i], last = ranges[2 * i + 1];
        if (first > last || last > 0x10ffff) {
            return gm_fail(err, GM_ARG, "bad code-point range %x..%x", first, last);
        }
        for (uint32_t len = 1; len <= 4 && first <= last; len++) {
            if (first > last_of[len]) {
                continue;
            }
            uint32_t upto = last < last_of[len] ? last : last_of[len];
            Piece p;
            p.len = (uint8_t)len;
            utf8_encode(first, len, p.low);
            utf8_encode(upto, len, p.high);
            for (uint32_t lead = p.low[0]; lead <= p.high[0]; lead++) {
                GmRe tail;
                GM_TRY(piece_tail(rx, &p, 1, lead != p.low[0], lead != p.high[0], &tail, err));
                if (lead != open) { /* lead bytes ascend with code points */
                    GM_TRY(gm_re_alt_gathered(rx, base, &tails[open], err));
                    open = lead;
                }
                GM_PUSH(rx->mem, rx->scratch, tail);
            }
            first = upto + 1;
        }
    }
    GM_TRY(gm_re_alt_gathered(rx, base, &tails[open], err));
    GmRe parts[256];
    uint32_t n_parts = 0;
    for (uint32_t lead = 0; lead < 256; lead++) {
        if (tails[lead] == GM_RE_EMPTY) {
            continue;
        }
        GmByteSet set;
        memset(&set, 0, sizeof set);
        GmRe tail = tails[lead], head;
        for (uint32_t other = lead; other < 256; other++) {
            if (tails[other] == tail) {
                set.w[other >> 6] |= (uint64_t)1 << (other & 63);
                tails[other] = GM_RE_EMPTY;
            }
        }
        GM_TRY(gm_re_set(rx, &set, &head, err));
        GM_TRY(gm_re_seq(rx, head, tail, &parts[n_parts++], err));
    }
    return gm_re_alt(rx, parts, n_parts, out, err);
}
