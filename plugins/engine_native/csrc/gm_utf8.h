/* gm_utf8: code-point ranges as byte languages, and the automaton of valid UTF-8.
 * Source   Unicode Standard, table 3-7 (well-formed byte sequences). Tests: tests/c/test_regex.c. */
#ifndef GM_UTF8_H
#define GM_UTF8_H

#include "gm_regex.h"

/* States of the validity automaton: 0 = at a character boundary, GM_UTF8_BAD = not UTF-8. */
enum { GM_UTF8_START = 0, GM_UTF8_BAD = 8 };
uint8_t gm_utf8_next(uint8_t state, uint8_t byte);

/* Locked. One scalar value out of n sorted disjoint ranges (first, last), no surrogates. */
GmStatus gm_utf8_chars(GmRegex *rx, const uint32_t *ranges, uint32_t n, GmRe *out, GmError *err);

#endif
