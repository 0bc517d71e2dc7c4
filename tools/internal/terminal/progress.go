package terminal

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressDelay is how long something takes before its progress is shown.
const progressDelay = 400 * time.Millisecond

// Progress shows how far something is, on a terminal; elsewhere it shows
// nothing. The zero Progress shows nothing. It is for one goroutine.
type Progress struct {
	w     io.Writer
	bytes bool

	label string
	begun time.Time
	bar   *progressbar.ProgressBar
}

// NewProgress shows progress on w where that is a terminal; counts are bytes or
// of something else.
func NewProgress(w io.Writer, bytes bool) *Progress {
	if !IsTerminal(w) {
		return &Progress{}
	}
	return &Progress{w: w, bytes: bytes}
}

// Set says how far the thing called label is; total 0 is unknown. Another label
// begins another bar.
func (p *Progress) Set(label string, done, total int64) {
	if p.w == nil {
		return
	}
	if label != p.label {
		p.Clear()
		p.label, p.begun = label, time.Now()
	}
	if p.bar == nil {
		if time.Since(p.begun) < progressDelay || total > 0 && done >= total {
			return
		}
		p.bar = p.newBar(total)
	}
	if total > 0 && p.bar.GetMax64() != total {
		p.bar.ChangeMax64(total)
	}
	_ = p.bar.Set64(done) // it fails where the terminal is gone
}

func (p *Progress) newBar(total int64) *progressbar.ProgressBar {
	if total <= 0 {
		total = -1
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.w),
		progressbar.OptionSetDescription(p.label),
		progressbar.OptionShowBytes(p.bytes),
		progressbar.OptionShowTotalBytes(p.bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetWidth(24),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(false),
	)
}

// Clear takes the bar off the screen.
func (p *Progress) Clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
	p.label = ""
}
