/* The power goes: the file system of a folder stops at once, and what it has not written is lost. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>

int main(int count, char **words) {
    uint32_t without_its_log = 2;
    int folder = count == 2 ? open(words[1], O_RDONLY) : -1;
    return folder < 0 || ioctl(folder, _IOR('X', 125, uint32_t), &without_its_log) != 0;
}
