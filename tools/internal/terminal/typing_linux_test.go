package terminal

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gemwire/gemwire/tools/internal/terminal/terminaltest"
)

// What is typed while something is printed does not get in between, and is read later.
func TestHideTyping(t *testing.T) {
	keyboard, line := terminaltest.Open(t)
	screen := bufio.NewReader(keyboard)
	waiting := 0 // bytes typed that nobody has read
	both := func(typed, printed string, echoed bool) (shown string) {
		t.Helper()
		if _, err := keyboard.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		waiting += len(typed)
		untilTyped(t, line, waiting)
		if echoed { // which comes when the terminal gets to it
			shown = readUntil(t, screen, '\n')
		}
		if _, err := line.WriteString(printed); err != nil {
			t.Fatal(err)
		}
		return shown + readUntil(t, screen, '.')
	}
	if shown := both("before\n", "an answer.", true); !strings.Contains(shown, "before") {
		t.Errorf("the terminal shows %q, so this test shows nothing", shown)
	}
	restore := HideTyping(line)
	if shown := both("ahead\n", "an answer.", false); shown != "an answer." {
		t.Errorf("typed into it: %q", shown)
	}
	restore()
	if shown := both("after\n", "an answer.", true); !strings.Contains(shown, "after") {
		t.Errorf("typing stays hidden: %q", shown)
	}
	read := bufio.NewReader(line)
	for _, want := range []string{"before\n", "ahead\n", "after\n"} {
		if got, err := read.ReadString('\n'); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	HideTyping(strings.NewReader(""))() // no terminal, nothing to do
}

// untilTyped waits until that many bytes lie in the terminal to be read: it takes them in when it gets to it.
func untilTyped(t *testing.T, line *os.File, bytes int) {
	t.Helper()
	for {
		n, err := unix.IoctlGetInt(int(line.Fd()), unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		if n >= bytes {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func readUntil(t *testing.T, screen *bufio.Reader, end byte) string {
	t.Helper()
	shown, err := screen.ReadString(end)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}
