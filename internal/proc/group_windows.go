package proc

import (
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// CanLimitMemory says whether this system heeds Spec.MemoryLimit.
func CanLimitMemory() bool { return true }

// group is the job object of a child: it holds the child and all that the child
// starts, and ends them when its last handle is closed, so also when we die.
type group struct {
	mu  sync.Mutex
	job windows.Handle // 0 once closed
	id  uint32         // of the child
}

// start starts a command in a new job. What the child starts before it is put
// into the job, in its first instants, is not part of it.
func start(cmd *exec.Cmd, memoryLimit int64) (*group, error) {
	job, err := newJob(memoryLimit)
	if err != nil {
		return nil, err
	}
	// A console group of its own: CTRL-BREAK reaches it alone, our CTRL-C does not.
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if err := cmd.Start(); err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	g := &group{job: job, id: uint32(cmd.Process.Pid)}
	if err := g.assign(); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		g.close()
		return nil, err
	}
	return g, nil
}

// newJob returns a job object whose processes end with it.
func newJob(memoryLimit int64) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("make a job object: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if memoryLimit > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
		info.ProcessMemoryLimit = uintptr(memoryLimit)
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, fmt.Errorf("set up a job object: %w", err)
	}
	return job, nil
}

// assign puts the child into the job.
func (g *group) assign() error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.id)
	if err != nil {
		return fmt.Errorf("open the process: %w", err)
	}
	defer windows.CloseHandle(process)
	if err := windows.AssignProcessToJobObject(g.job, process); err != nil {
		return fmt.Errorf("put the process into a job object: %w", err)
	}
	return nil
}

// terminate asks the processes of the child's console group to end. Without a
// console nobody is asked.
func (g *group) terminate() { windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.id) }

// kill ends every process of the job.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.TerminateJobObject(g.job, 1)
	}
}

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}
