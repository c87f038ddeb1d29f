/* An agent that talks: lines as Claude Code streams them, one long line, or dirt. As `stamp FILE` it
   notes the time, and the peak memory of the shim and the controller above it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
    struct timespec it;
    clock_gettime(CLOCK_MONOTONIC, &it);
    return (int64_t)it.tv_sec * 1000000000 + it.tv_nsec;
}

static void all(const char *bytes, size_t count) {
    while (count) {
        ssize_t done = write(1, bytes, count);
        if (done <= 0) exit(9);
        bytes += done; count -= done;
    }
}

static long field(int pid, const char *name) {
    char path[64], line[256];
    long value = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) if (!strncmp(line, name, strlen(name))) value = atol(line + strlen(name));
    if (file) fclose(file);
    return value;
}

static int is_shim(int pid) {
    char path[64], words[4096] = {0};
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    int file = open(path, O_RDONLY);
    if (read(file, words, sizeof words - 1) < 0) return 0;
    close(file);
    return !strcmp(words + strlen(words) + 1, "__shim");
}

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "--version")) { puts("2.1.0 (Claude Code)"); return 0; }
    if (count > 2 && !strcmp(words[1], "stamp")) {
        int64_t at = now();
        int shim = getppid();
        while (shim > 1 && !is_shim(shim)) shim = field(shim, "PPid:");
        FILE *file = fopen(words[2], "a");
        int loop = field(shim, "PPid:");
        fprintf(file, "end %lld %ld %ld %ld %ld\n", (long long)at, field(shim, "VmHWM:"), field(loop, "VmHWM:"), field(shim, "RssAnon:"), field(loop, "RssAnon:"));
        return fclose(file);
    }
    const char *kind = getenv("BENCH_KIND"), *stamps = getenv("BENCH_STAMPS");
    long left = atol(getenv("BENCH_BYTES"));
    FILE *file = fopen(stamps, "a");
    fprintf(file, "begin %lld\n", (long long)now());
    fclose(file);
    static char block[1 << 16];
    if (!strcmp(kind, "lines")) {
        size_t used = 0;
        char text[700], line[1024];
        memset(text, 't', sizeof text);
        text[sizeof text - 1] = 0;
        int length = snprintf(line, sizeof line, "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_01\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"usage\":{\"input_tokens\":3,\"output_tokens\":5}},\"parent_tool_use_id\":null,\"session_id\":\"4d6f\"}\n", text);
        while (used + length <= sizeof block) { memcpy(block + used, line, length); used += length; }
        for (; left > 0; left -= used) all(block, used);
    } else if (!strcmp(kind, "line")) {
        memset(block, 'x', sizeof block);
        all("{\"type\":\"user\",\"message\":{\"content\":\"", 36);
        for (; left > 0; left -= sizeof block) all(block, sizeof block);
        all("\"}}\n", 4);
    } else {
        for (size_t i = 0; i < sizeof block; i++) block[i] = (char)(i * 2654435761u >> 13);
        for (; left > 0; left -= sizeof block) all(block, sizeof block);
        all("\n", 1);
    }
    const char *end = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",\"session_id\":\"4d6f\",\"total_cost_usd\":0.1,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}\n";
    all(end, strlen(end));
    return 0;
}
