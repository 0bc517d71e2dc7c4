package command

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gemwire/gemwire/tools/internal/command/answers"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/internal/terminal/terminaltest"
)

// seat is a command that runs at a terminal.
type seat struct {
	t        *testing.T
	cmd      *exec.Cmd
	keyboard *os.File

	silent bool // the terminal does not say where its cursor is

	mu     sync.Mutex
	screen strings.Builder
	seen   int // how much of the screen was waited for
}

// sit starts a command line at a terminal, with a folder of settings.
func sit(t *testing.T, config, line string) *seat {
	t.Helper()
	s := &seat{t: t, cmd: itself(t, line)}
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm")
	s.start(config)
	return s
}

func (s *seat) start(config string) {
	t := s.t
	t.Helper()
	keyboard, tty := terminaltest.Open(t)
	s.keyboard = keyboard
	s.cmd.Env = append(s.cmd.Env, "XDG_CONFIG_HOME="+config, "NO_COLOR=1")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() }) // it has ended, where all went well
	tty.Close()
	go s.watch()
}

// watch reads the screen, and tells the program where the cursor is when it asks.
func (s *seat) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := s.keyboard.Read(buffer)
		if err != nil {
			return
		}
		text := string(buffer[:n])
		for range strings.Count(text, "\x1b[6n") {
			if s.silent {
				continue
			}
			_, _ = io.WriteString(s.keyboard, "\x1b[1;1R")
		}
		s.mu.Lock()
		s.screen.WriteString(text)
		s.mu.Unlock()
	}
}

// wait waits until a text is on the screen, behind what was waited for before.
func (s *seat) wait(text string) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		screen := s.screen.String()
		s.mu.Unlock()
		if at := strings.Index(screen[s.seen:], text); at >= 0 {
			s.seen += at + len(text)
			return
		}
	}
	s.t.Fatalf("the screen %q lacks %q", s.screen.String()[s.seen:], text)
}

// prompt waits until the chat reads keys: it shows the cursor then.
func (s *seat) prompt() {
	s.t.Helper()
	s.wait(answers.UserPrompt)
	s.wait("\x1b[?25h")
}

func (s *seat) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keyboard, keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the command's exit status.
func (s *seat) end() int {
	_ = s.cmd.Wait() // its status says how it ended
	return s.cmd.ProcessState.ExitCode()
}

const (
	ctrlC = "\x03"
	up    = "\x1b[A"
)

// At a terminal, run without a prompt opens a chat, which two Ctrl-C end and whose
// lines the next one has.
func TestRunOpensAChatAtATerminal(t *testing.T) {
	config := t.TempDir()
	s := sit(t, config, "run nano --device cpu --greedy")
	s.wait("/help lists the commands")
	s.prompt()
	s.press("What is the capital of France?\r")
	s.wait("The capital of France is Paris.")
	s.prompt()
	s.press(ctrlC)
	s.wait("another Ctrl-C ends the chat")
	s.prompt()
	s.press(ctrlC)
	if code := s.end(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	kept := filepath.Join(config, "gemwire", "chat-history")
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}

	s = sit(t, config, "chat --device cpu --greedy")
	s.prompt()
	s.press(up)
	s.wait("What is the capital of France?")
	s.press("\r")
	s.wait("The capital of France is Paris.")
	s.prompt()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := s.end(); code != terminal.ExitTerminated {
		t.Errorf("exit status %d after a request to terminate, want %d", code, terminal.ExitTerminated)
	}
}

// A chat needs nothing of a terminal: not that it says where its cursor is, nor that it can move it.
func TestChatAtASilentTerminal(t *testing.T) {
	for _, kind := range []string{"xterm", "dumb"} {
		s := &seat{t: t, cmd: itself(t, "chat --device cpu --greedy --no-history"), silent: true}
		s.cmd.Env = append(s.cmd.Env, "TERM="+kind)
		s.start(t.TempDir())
		s.wait(answers.UserPrompt)
		s.press("What is the capital of France?\r")
		s.wait("The capital of France is Paris.")
		s.wait(answers.UserPrompt)
		s.press("/exit\r")
		if code := s.end(); code != 0 {
			t.Errorf("%s: exit status %d", kind, code)
		}
	}
}

func TestHistoryCanBeOff(t *testing.T) {
	config := t.TempDir()
	s := sit(t, config, "chat --device cpu --no-history")
	s.prompt()
	s.press("/undo\r")
	s.wait("there is no question yet")
	s.prompt()
	s.press("/exit\r")
	if code := s.end(); code != 0 || flagset.IsThere(filepath.Join(config, "gemwire", "chat-history")) {
		t.Errorf("exit status %d, and the lines are kept: %v", code,
			flagset.IsThere(filepath.Join(config, "gemwire", "chat-history")))
	}
}

// A prompt is needed where nothing can be typed.
func TestRunNeedsAPromptToPrint(t *testing.T) {
	s := sit(t, t.TempDir(), "run nano --device cpu --json")
	s.wait("no prompt; give one in quotes")
	if code := s.end(); code != 2 {
		t.Errorf("exit status %d", code)
	}
}

// While standard input is waited for, signals end the command with their statuses.
func TestSignalsEndACommandThatReads(t *testing.T) {
	for _, tt := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGTERM, terminal.ExitTerminated}, {syscall.SIGINT, terminal.ExitInterrupted}} {
		cmd := itself(t, "run --device cpu -")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		said := &strings.Builder{}
		errs, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 200)
		n, err := errs.Read(buffer) // it says that it waits
		if err != nil {
			t.Fatal(err)
		}
		said.Write(buffer[:n])
		if !strings.Contains(said.String(), "reading standard input to its end") {
			t.Errorf("it says %q", said)
		}
		if err := cmd.Process.Signal(tt.signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // its status says how it ended
		if code := cmd.ProcessState.ExitCode(); code != tt.code {
			t.Errorf("exit status %d after %v, want %d", code, tt.signal, tt.code)
		}
	}
}
