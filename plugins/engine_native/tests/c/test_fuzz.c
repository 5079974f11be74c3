/* The fuzz targets as an ordinary test: their corpus, its inputs cut short, and inputs made up from a seed. */
#include "check.h"

#include <dirent.h>

#define LLVMFuzzerTestOneInput fuzz_module
#include "../../fuzz/fuzz_module.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_commit
#include "../../fuzz/fuzz_commit.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_regex
#include "../../fuzz/fuzz_regex.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_tables
#define vocabulary tables_vocabulary
#define use tables_use
#include "../../fuzz/fuzz_tables.c"
#undef LLVMFuzzerTestOneInput

typedef int (*Target)(const uint8_t *, size_t);

static void run_file(const char *path, Target target)
{
    static uint8_t data[1 << 16];
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t n = file != NULL ? fread(data, 1, sizeof data, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    CHECK_EQ(0, target(data, n));
    for (size_t cut = 1; cut < n; cut += 1 + n / 10) {
        uint8_t *exact = malloc(cut);
        memcpy(exact, data, cut);
        CHECK_EQ(0, target(exact, cut));
        free(exact);
    }
}

static uint32_t run_corpus(const char *folder, Target target)
{
    uint32_t n = 0;
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        char path[600];
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            run_file(path, target);
            n++;
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return n;
}

static void run_random(uint32_t rounds, Target target)
{
    uint8_t data[300];
    for (uint32_t i = 0; i < rounds; i++) {
        Rand r = {i};
        size_t n = rand_below(&r, sizeof data);
        uint32_t range = rand_below(&r, 3) == 0 ? 256 : 32;
        for (size_t k = 0; k < n; k++) {
            data[k] = (uint8_t)rand_below(&r, range);
        }
        CHECK_EQ(0, target(data, n));
    }
}

static void test_corpus(void)
{
    CHECK(run_corpus("../../fuzz/corpus/module", fuzz_module) >= 5);
    CHECK(run_corpus("../../fuzz/corpus/commit", fuzz_commit) >= 5);
    CHECK(run_corpus("../../fuzz/corpus/regex", fuzz_regex) >= 3);
    CHECK(run_corpus("../../fuzz/corpus/tables", fuzz_tables) >= 3);
}

static void test_made_up_inputs(void)
{
    run_random(400, fuzz_module);
    run_random(400, fuzz_commit);
    run_random(60, fuzz_regex);
    run_random(400, fuzz_tables);
}

int main(void)
{
    RUN(test_corpus);
    RUN(test_made_up_inputs);
    gm_constraint_free(grammar());
    gm_vocab_free(vocabulary());
    return check_result();
}
