/* languages: regular languages in a few letters, in one GmRegex for a test file. */
#ifndef LANGUAGES_H
#define LANGUAGES_H

#include "world.h"

static GmError err;
static GmRegex rx;

#define OK(expr) CHECK_EQ(GM_OK, (expr))

static inline GmRe lit(const char *text)
{
    GmRe re = 0;
    OK(gm_re_lit(&rx, (const uint8_t *)text, (uint32_t)strlen(text), &re, &err));
    return re;
}

static inline GmRe one_of(const char *bytes, bool not)
{
    GmByteSet set;
    GmRe re = 0;
    memset(&set, not ? 0xff : 0, sizeof set);
    for (const unsigned char *p = (const unsigned char *)bytes; *p != 0; p++) {
        set.w[*p >> 6] ^= (uint64_t)1 << (*p & 63);
    }
    OK(gm_re_set(&rx, &set, &re, &err));
    return re;
}

static inline GmRe rep(GmRe a, uint32_t low, uint32_t high)
{
    GmRe re = 0;
    OK(gm_re_rep(&rx, a, low, high, &re, &err));
    return re;
}

static inline GmRe seq(GmRe a, GmRe b)
{
    GmRe re = 0;
    OK(gm_re_seq(&rx, a, b, &re, &err));
    return re;
}

static inline GmRe alt(GmRe a, GmRe b)
{
    GmRe re = 0;
    OK(gm_re_alt2(&rx, a, b, &re, &err));
    return re;
}

#endif
