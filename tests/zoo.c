/* Programs that misbehave, one for each word. Those that leave something behind say "ready" and exit
   with 3 as soon as it is there; the others say what they do. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int go[2];

static void deaf(void) { for (int s = 1; s < 65; s++) signal(s, SIG_IGN); }
static void shut(void) { for (int i = 0; i < 256; i++) close(i); }
static void rest(void) { for (;;) pause(); }
static void say(const char *text) { if (write(1, text, strlen(text)) < 0) _exit(9); }
/* The escapee is there: the parent may go. */
static void there(void) { if (write(go[1], "x", 1) < 0) _exit(9); close(go[0]); close(go[1]); }
static void await(int count) { char c; while (count--) if (read(go[0], &c, 1) != 1) _exit(9); }
static void nap(long ms) { struct timespec t = {ms / 1000, ms % 1000 * 1000000}; nanosleep(&t, 0); }
static void comet(int flees) { for (;;) { if (fork() > 0) _exit(0); if (flees) setsid(); } }
static void guard(void) {
    for (;;) {
        pid_t pid = fork();
        if (!pid) { setsid(); for (;;) { pid_t other = fork(); if (!other) { setsid(); rest(); } waitpid(other, 0, 0); } }
        waitpid(pid, 0, 0);
    }
}
static void bomb(int depth) {
    setsid();
    if (depth == 4) rest();
    for (int i = 0; i < 3; i++) if (!fork()) bomb(depth + 1);
    for (;;) { if (wait(0) < 0) rest(); if (!fork()) bomb(depth + 1); }
}
static void on_int(int signal) { (void)signal; say("result\n"); _exit(0); }
static void on_term(int signal) { (void)signal; say("terminated\n"); _exit(1); }
static int is(const char *mode, const char *word) { return !strcmp(mode, word); }

int main(int count, char **words) {
    const char *mode = count > 1 ? words[1] : "";
    const char *argument = count > 2 ? words[2] : "";
    if (pipe2(go, O_CLOEXEC)) return 9;

    /* Those that flee. */
    if (is(mode, "setsid")) { if (!fork()) { setsid(); deaf(); there(); rest(); } await(1); }
    else if (is(mode, "double fork")) { if (!fork()) { setsid(); if (fork()) _exit(0); deaf(); there(); shut(); rest(); } await(1); }
    else if (is(mode, "stopped")) { if (!fork()) { setsid(); deaf(); there(); raise(SIGSTOP); rest(); } await(1); }
    else if (is(mode, "holds the pipe")) { if (!fork()) { setsid(); deaf(); there(); rest(); } await(1); }
    else if (is(mode, "deep")) {
        if (!fork()) { for (int i = 0; i < 40; i++) { if (fork()) rest(); setsid(); deaf(); } there(); rest(); }
        await(1);
    }
    else if (is(mode, "wide")) { for (int i = 0; i < 200; i++) if (!fork()) { setsid(); deaf(); there(); rest(); } await(200); }
    else if (is(mode, "comet")) { if (!fork()) { setsid(); deaf(); there(); comet(0); } await(1); }
    else if (is(mode, "comets")) { for (int i = 0; i < 8; i++) if (!fork()) { setsid(); deaf(); there(); comet(0); } await(8); }
    else if (is(mode, "fleeing comets")) { for (int i = 0; i < 4; i++) if (!fork()) { deaf(); there(); comet(1); } await(4); }
    else if (is(mode, "pairs")) { for (int i = 0; i < 10; i++) if (!fork()) { setsid(); deaf(); signal(SIGCHLD, SIG_DFL); there(); guard(); } await(10); }
    else if (is(mode, "bomb")) { if (!fork()) { there(); bomb(0); } await(1); nap(3); }
    else if (is(mode, "spinners")) { for (int i = 0; i < 6; i++) if (!fork()) { setsid(); deaf(); there(); for (;;); } await(6); }
    else if (is(mode, "cleared environment")) {
        if (!fork()) { setsid(); char *none[] = {0}; char *self[] = {words[0], "sits", 0}; there(); execve("/proc/self/exe", self, none); }
        await(1);
    }
    else if (is(mode, "another name")) {
        if (!fork()) { setsid(); char *self[] = {"[kworker/0:1]", "sits", 0}; there(); execv("/proc/self/exe", self); }
        await(1);
    }
    else if (is(mode, "closed files")) { if (!fork()) { setsid(); deaf(); there(); shut(); rest(); } await(1); }
    else if (is(mode, "blocked signals")) {
        if (!fork()) { sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); setsid(); there(); rest(); }
        await(1);
    }
    else if (is(mode, "joins the shim's group")) { if (!fork()) { setpgid(0, getsid(0)); deaf(); there(); rest(); } await(1); }
    else if (is(mode, "listens")) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        socklen_t size = sizeof at;
        int server = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(server, (void *)&at, size) || listen(server, 5) || getsockname(server, (void *)&at, &size)) return 9;
        if (!fork()) { setsid(); deaf(); there(); rest(); }
        await(1);
        char line[16];
        snprintf(line, sizeof line, "%d\n", ntohs(at.sin_port));
        say(line);
        return 3;
    }
    else if (is(mode, "reaped orphans")) {
        for (int i = 0; i < 50; i++) { if (!fork()) { if (!fork()) _exit(0); _exit(0); } wait(0); }
        say("ready\n"); nap(20); say("again\n"); return 3;
    }
    else if (is(mode, "again and again")) { /* re-executes itself under other names */
        int left = argument[0] ? atoi(argument) : -1;
        if (left < 0) {
            if (!fork()) { setsid(); deaf(); char *self[] = {"sshd", "again and again", "200", 0}; there(); execv("/proc/self/exe", self); }
            await(1);
        } else {
            if (!left) rest();
            char text[16]; snprintf(text, sizeof text, "%d", left - 1);
            if (left % 2 && fork()) _exit(0);
            char *self[] = {(char *)(left % 2 ? "cron" : "sshd"), "again and again", text, 0};
            execv("/proc/self/exe", self);
        }
    }
    else if (is(mode, "freezes its child")) { /* argument: the folder of the group that we are in */
        char path[4096]; snprintf(path, sizeof path, "%s/frozen", argument);
        if (mkdir(path, 0755)) return 9;
        pid_t child = fork();
        if (!child) { setsid(); deaf(); there(); rest(); }
        await(1);
        char text[16]; snprintf(text, sizeof text, "%d", child);
        strcat(path, "/cgroup.procs"); int file = open(path, O_WRONLY); if (write(file, text, strlen(text)) < 0) return 9;
        strcpy(strrchr(path, '/'), "/cgroup.freeze"); file = open(path, O_WRONLY); if (write(file, "1", 1) < 0) return 9;
    }
    else if (is(mode, "leaves temporary files")) {
        if (!getenv("TMPDIR") || chdir(getenv("TMPDIR"))) return 9;
        if (mkdir("a", 0700) || mkdir("a/b", 0700) || symlink(argument, "a/b/out") || symlink("/", "root")) return 9;
        if (creat("a/b/file", 0400) < 0 || mkfifo("a/pipe", 0600) || chmod("a/b", 0) || chmod("a", 0500) || chmod(".", 0)) return 9;
        if (chdir("/")) return 9;
        printf("%s\n", getenv("TMPDIR")); return 3;
    }
    else if (is(mode, "removes its folder")) {
        if (!getenv("TMPDIR") || rmdir(getenv("TMPDIR"))) return 9;
        printf("%s\n", getenv("TMPDIR")); return 3;
    }
    else if (is(mode, "tells its limits")) {
        struct rlimit core, processes; getrlimit(RLIMIT_CORE, &core); getrlimit(RLIMIT_NPROC, &processes);
        struct stat tmp; if (stat(getenv("TMPDIR"), &tmp)) return 9;
        printf("core %ld %ld, tmp %o, processes %s\n", (long)core.rlim_cur, (long)core.rlim_max, tmp.st_mode & 0777, processes.rlim_cur == RLIM_INFINITY ? "without limit" : "limited");
        return 3;
    }
    else if (is(mode, "forks until it cannot")) {
        long made = 0;
        for (; made < atol(argument); made++) { pid_t pid = fork(); if (pid < 0) break; if (!pid) { deaf(); rest(); } }
        printf("%ld\n", made); fflush(stdout); return 3;
    }
    else if (is(mode, "eats memory")) {
        for (long left = atol(argument) >> 20; left > 0; left--) { char *some = malloc(1 << 20); if (!some) return 7; memset(some, 1, 1 << 20); }
        say("full\n"); return 3;
    }
    else if (is(mode, "fills the disk")) { /* argument: a file; begins when its first word has arrived in another */
        static char block[1 << 12];
        say("ready\n");
        struct stat out = {0};
        while (!out.st_size) { nap(1); if (stat(words[3], &out)) return 9; }
        int file = open(argument, O_WRONLY | O_CREAT, 0600);
        while (write(file, block, sizeof block) > 0) {}
        while (write(file, block, 1) > 0) {}
        say("full, and more words than there is room for\n"); return 3;
    }
    else if (is(mode, "outlives everybody")) { /* no mark, no folder, no parent */
        if (!fork()) {
            setsid(); if (fork()) _exit(0);
            deaf(); if (chdir("/")) _exit(9);
            char *none[] = {0}; char *self[] = {"outlives", "says and sits", words[2], 0}; there(); execve("/proc/self/exe", self, none);
        }
        await(1); say("ready\n"); rest();
    }
    else if (is(mode, "says and sits")) { deaf(); FILE *file = fopen(argument, "w"); fprintf(file, "%d\n", getpid()); fclose(file); rest(); }
    /* Those that attack. */
    else if (is(mode, "kills its shim")) {
        pid_t shim = getppid();
        for (int i = 0; i < 5; i++) if (!fork()) { setsid(); deaf(); there(); rest(); }
        await(5); kill(shim, SIGKILL); rest();
    }
    else if (is(mode, "kills the shim's group")) {
        pid_t group = getpgid(getppid());
        if (!fork()) { setsid(); deaf(); there(); rest(); }
        await(1); kill(-group, SIGKILL); rest();
    }
    else if (is(mode, "stops its shim")) { pid_t shim = getppid(); say("ready\n"); nap(50); kill(shim, SIGSTOP); rest(); }
    else if (is(mode, "terminates its shim")) { kill(getppid(), SIGHUP); kill(getppid(), SIGINT); kill(getppid(), SIGPIPE); kill(getppid(), SIGUSR1); say("ready\n"); return 3; }
    /* Those that will not end. */
    else if (is(mode, "sits")) { deaf(); rest(); }
    else if (is(mode, "ignores everything")) { deaf(); say("ready\n"); rest(); }
    else if (is(mode, "blocks everything")) { sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); say("ready\n"); rest(); }
    else if (is(mode, "stops itself")) { say("ready\n"); raise(SIGSTOP); rest(); }
    else if (is(mode, "leaves its group")) { if (!fork()) { deaf(); there(); rest(); } await(1); setpgid(0, getsid(0)); deaf(); say("ready\n"); rest(); }
    else if (is(mode, "writes its result")) { signal(SIGINT, on_int); say("ready\n"); for (;;) pause(); }
    else if (is(mode, "hears only SIGTERM")) { signal(SIGINT, SIG_IGN); signal(SIGTERM, on_term); say("ready\n"); for (;;) pause(); }
    else if (is(mode, "asks")) { say("working\nOverwrite it? [y/N] "); rest(); }
    else if (is(mode, "asks in a line")) { say("Do you want to continue? (y/n)\n"); rest(); }
    else if (is(mode, "asks at a terminal") || is(mode, "asks at a terminal, silently")) {
        int master = posix_openpt(O_RDWR | O_NOCTTY);
        if (master < 0 || grantpt(master) || unlockpt(master)) return 9;
        if (!strstr(mode, "silently")) say("{\"type\":\"tool\"}\n");
        if (!fork()) {
            setsid();
            int slave = open(ptsname(master), O_RDWR);
            char c; if (read(slave, &c, 1) < 0) _exit(9);
        }
        rest();
    }
    else if (is(mode, "waits at a pipe")) { int ends[2]; char c; if (pipe(ends)) return 9; say("{\"type\":\"thinking\"}\n"); if (read(ends[0], &c, 1) < 0) return 9; }
    else if (is(mode, "silent")) rest();
    else if (is(mode, "dots, then silence")) { for (int i = 0; i < 5; i++) { say("."); nap(20); } rest(); }
    else if (is(mode, "busy")) {
        say("ready\n");
        if (!fork()) { setsid(); for (;;); }
        nap(atoi(argument)); say("done\n"); return 3;
    }
    else if (is(mode, "trickles")) for (;;) { say("."); nap(10); }
    /* Those that talk. */
    else if (is(mode, "floods")) {
        static char block[1 << 16];
        memset(block, 'x', sizeof block);
        for (unsigned i = 63; i < sizeof block; i += 64) block[i] = '\n';
        for (long left = atol(argument); left > 0; left -= sizeof block) if (write(1, block, sizeof block) != sizeof block) return 9;
        say("the end\n"); return 3;
    }
    else if (is(mode, "floods for ever")) { static char block[1 << 16]; for (;;) if (write(1, block, sizeof block) < 0) return 9; }
    else if (is(mode, "one long line")) {
        static char block[1 << 16];
        memset(block, 'y', sizeof block);
        for (long left = atol(argument); left > 0; left -= sizeof block) if (write(1, block, sizeof block) != sizeof block) return 9;
        return 3;
    }
    else if (is(mode, "no text")) { if (write(1, "a\0b\xff\xfe\x1b]0;\xc3\n\0", 12) != 12) return 9; return 3; }
    else if (is(mode, "half a line")) { say("{\"type\":\"res"); return 3; }
    else if (is(mode, "complains")) { say("out\n"); if (write(2, "err\n", 4) != 4) return 9; return 3; }
    else if (is(mode, "exits")) return atoi(argument);
    else if (is(mode, "crashes")) { prctl(PR_SET_DUMPABLE, 0); raise(atoi(argument)); }
    /* Those that listen. */
    else if (is(mode, "reads slowly")) {
        char block[65536]; long total = 0, got;
        while ((got = read(0, block, sizeof block)) > 0) { total += got; nap(1); }
        printf("%ld %d\n", total, isatty(0)); return 3;
    }
    else if (is(mode, "echoes")) { char block[65536]; long got; while ((got = read(0, block, sizeof block)) > 0) if (write(1, block, got) != got) return 9; return 3; }
    else if (is(mode, "environment")) { extern char **environ; for (char **it = environ; *it; it++) puts(*it); return 3; }
    else if (is(mode, "signals")) { /* which signals it ignores, and its handicap */
        for (int s = 1; s < 32; s++) { struct sigaction now; if (!sigaction(s, 0, &now) && now.sa_handler == SIG_IGN) printf("ignores %d\n", s); }
        char score[16] = {0}; int file = open("/proc/self/oom_score_adj", O_RDONLY);
        if (read(file, score, 15) < 0) return 9;
        printf("handicap %s", score); return 3;
    }
    else if (is(mode, "starts")) { /* one byte for each start */
        int file = open(argument, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (write(file, "x", 1) != 1) return 9;
        nap(getpid() % 4);
    }
    else return 8;
    say("ready\n");
    return 3;
}
