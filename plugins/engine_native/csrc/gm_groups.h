/* gm_groups: coarse groups of bytes, one bit each, in which the trie says what occurs below a node and a
 * lexer state says what leaves it unchanged.
 *
 *   0 '0'   1 '1'-'9'   2 a-f   3 g-z   4 A-F   5 G-Z   6 \t   7 \n   8 \r   9 other controls   10 DEL
 *   11 space   12-43 the 32 punctuation characters   44 non-ASCII characters, valid UTF-8, perhaps cut off
 *   at the end   45 bytes that are not valid UTF-8 there
 *
 * Source   own; see docs/algorithms/loops.md. */
#ifndef GM_GROUPS_H
#define GM_GROUPS_H

#include <stdint.h>

enum { GM_GROUP_UTF8 = 44, GM_GROUP_BAD = 45 };

/* Group of an ASCII byte. */
static inline uint32_t gm_group_of(uint8_t b)
{
    if (b >= '0' && b <= '9') {
        return b > '0';
    }
    if (b >= 'a' && b <= 'z') {
        return b <= 'f' ? 2 : 3;
    }
    if (b >= 'A' && b <= 'Z') {
        return b <= 'F' ? 4 : 5;
    }
    if (b < 0x20) {
        return b == '\t' ? 6 : b == '\n' ? 7 : b == '\r' ? 8 : 9;
    }
    if (b == 0x7f) {
        return 10;
    }
    if (b == ' ') {
        return 11;
    }
    return b <= '/' ? 12 + (uint32_t)(b - '!') : b <= '@' ? 27 + (uint32_t)(b - ':')
         : b <= '`' ? 34 + (uint32_t)(b - '[') : 40 + (uint32_t)(b - '{');
}

#endif
