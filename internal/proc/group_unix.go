//go:build unix

package proc

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the process group of a child, which is its leader. It bears the
// number of the child.
type group struct{ id int }

// start starts a command as the leader of a new group.
func start(cmd *exec.Cmd, memoryLimit int64) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{id: cmd.Process.Pid}
	if memoryLimit > 0 {
		if err := limitMemory(g.id, memoryLimit); err != nil {
			g.kill()
			cmd.Wait()
			return nil, err
		}
	}
	return g, nil
}

// terminate asks every process of the group to end. A group that has ended is
// left alone, as by kill: ESRCH is what we want.
func (g *group) terminate() { unix.Kill(-g.id, unix.SIGTERM) }

// kill ends every process of the group.
func (g *group) kill() { unix.Kill(-g.id, unix.SIGKILL) }

func (g *group) close() {}
