package answers

import (
	"io"

	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// prefillProgress shows on w how much of a long prompt is computed, until done.
func prefillProgress(w io.Writer) (report func(computed, total int), done func()) {
	progress := terminal.NewProgress(w, false)
	return func(computed, total int) {
		progress.Set("reading the prompt", int64(computed), int64(total))
	}, progress.Clear
}
