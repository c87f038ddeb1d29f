/* The smallest agent: notes when it begins and ends, and prints three lines of JSON. With a folder it
   also writes ten files below it, as the agent of a large repository would. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
    struct timespec it;
    clock_gettime(CLOCK_MONOTONIC, &it);
    return (int64_t)it.tv_sec * 1000000000 + it.tv_nsec;
}

static void change(const char *folder, int64_t what) {
    char path[4096];
    for (int number = 0; number < 10; number++) {
        snprintf(path, sizeof path, "%s/d%d/f%d", folder, number, number * 100);
        FILE *file = fopen(path, "w");
        if (!file) exit(1);
        fprintf(file, "changed at %lld\n", (long long)what);
        fclose(file);
    }
}

int main(int count, char **words) {
    int64_t stamps[2] = {now(), 0};
    static const char text[] = "{\"type\":\"a\"}\n{\"type\":\"b\"}\n{\"type\":\"c\"}\n";
    if (count < 2 || write(1, text, sizeof text - 1) < 0) return 1;
    if (count > 2) change(words[2], stamps[0]);
    int file = open(words[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
    stamps[1] = now();
    return write(file, stamps, sizeof stamps) == sizeof stamps ? 0 : 1;
}
