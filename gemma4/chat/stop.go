package chat

import (
	"slices"
	"strings"
)

// stopFinder looks for stop strings in text that comes in pieces. It holds
// back what may be the start of one. The first to be complete counts; of
// several that are complete at once, the one that began first.
type stopFinder struct {
	stops   []string
	pending string
}

func newStopFinder(stops []string) stopFinder {
	return stopFinder{stops: slices.DeleteFunc(slices.Clone(stops), func(s string) bool { return s == "" })}
}

// add takes more text and returns what can be given out, and the stop string
// that ends it, if any.
func (f *stopFinder) add(text string) (out, stop string, found bool) {
	text = f.pending + text
	first := -1
	for _, s := range f.stops {
		at := strings.Index(text, s)
		if at < 0 {
			continue
		}
		if first < 0 || at+len(s) < first+len(stop) || at+len(s) == first+len(stop) && at < first {
			first, stop = at, s
		}
	}
	if first >= 0 {
		f.pending = ""
		return text[:first], stop, true
	}
	keep := f.heldBack(text)
	f.pending = text[len(text)-keep:]
	return text[:len(text)-keep], "", false
}

// heldBack is the length of the longest end of text that a stop string begins
// with.
func (f *stopFinder) heldBack(text string) int {
	longest := 0
	for _, s := range f.stops {
		for n := min(len(s)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, s[:n]) {
				longest = n
				break
			}
		}
	}
	return longest
}

// end returns what was held back.
func (f *stopFinder) end() string {
	out := f.pending
	f.pending = ""
	return out
}
