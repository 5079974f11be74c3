/* Runs a fuzz target without a fuzzer: on the files named, or with --random N SEED on N inputs made up from a
 * seed (bytes that are small as a rule, since most formats here have small numbers). */
#include "fuzz.h"

#include <string.h>

enum { LARGEST = 1 << 20 };

static int run_file(const char *path)
{
    static uint8_t data[LARGEST];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    size_t n = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    uint8_t *exact = malloc(n > 0 ? n : 1); /* so that a read beyond its end shows */
    if (exact == NULL) {
        return 1;
    }
    memcpy(exact, data, n);
    int result = LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    return result;
}

static uint32_t next(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*x >> 33);
}

static int run_random(uint32_t rounds, uint64_t seed)
{
    uint8_t data[600];
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t x = seed * 1000003 + i;
        (void)next(&x);
        size_t n = next(&x) % sizeof data;
        uint32_t range = next(&x) % 3 == 0 ? 256 : 32;
        for (size_t k = 0; k < n; k++) {
            data[k] = (uint8_t)(next(&x) % 16 == 0 ? next(&x) : next(&x) % range);
        }
        if (LLVMFuzzerTestOneInput(data, n) != 0) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--random") == 0) {
        return run_random((uint32_t)strtoul(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    }
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        failed += run_file(argv[i]);
    }
    printf("%d inputs\n", argc - 1);
    return failed != 0;
}
