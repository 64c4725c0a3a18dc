package savefile

import (
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// changing contains the calls of the system that change files.
var changing = []uint64{
	syscall.SYS_OPENAT, syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_FSYNC, syscall.SYS_CHMOD, syscall.SYS_FCHMODAT,
	syscall.SYS_CHOWN, syscall.SYS_FCHOWNAT, syscall.SYS_SETXATTR, syscall.SYS_RENAME, syscall.SYS_RENAMEAT, syscall.SYS_UNLINKAT,
}

// runKilled runs a command and ends it at the n-th time that it enters or leaves a call that can change
// files. It reports whether the command succeeded before that.
func runKilled(t *testing.T, c *exec.Cmd, n int) (done bool) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); err != nil {
		t.Skip("skipped: the system follows no processes: ", err)
	}
	pid := c.Process.Pid
	var status syscall.WaitStatus
	_, err := syscall.Wait4(pid, &status, 0, nil) // after the start of the program
	require.NoError(t, err)
	const stop = 0x80 // set in signals that are calls of the system
	require.NoError(t, syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACESYSGOOD))
	for sig := 0; ; {
		require.NoError(t, syscall.PtraceSyscall(pid, sig))
		must(syscall.Wait4(pid, &status, 0, nil))(t)
		if status.Exited() {
			require.Zero(t, status.ExitStatus())
			return true
		}
		if sig = int(status.StopSignal()); sig != int(syscall.SIGTRAP)|stop {
			continue
		}
		sig = 0
		var regs syscall.PtraceRegs
		require.NoError(t, syscall.PtraceGetRegs(pid, &regs))
		if !slices.Contains(changing, regs.Orig_rax) {
			continue
		}
		if n--; n < 0 {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			for !status.Signaled() {
				must(syscall.Wait4(pid, &status, 0, nil))(t)
			}
			return false
		}
	}
}
