/* Runs a command as if the kernel were Linux 3.2 of 2012: calls that came later do not exist.
   Usage: old_machine COMMAND [ARGUMENT...]. Ends with 77 where the system allows no such filter. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int number, char** arguments) {
  struct sock_filter lines[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_process_vm_writev, 0, 1), /* the last of 3.2 */
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof lines / sizeof *lines, lines};
  if (number < 2) return 64;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    perror("old_machine");
    return 77;
  }
  execv(arguments[1], arguments + 1);
  perror(arguments[1]);
  return 78;
}
