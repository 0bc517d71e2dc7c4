package serve

import (
	"slices"
	"strconv"
	"strings"
)

// mostRanges is how many parts of a file one request gets. Apps ask for one.
const mostRanges = 8

// modest says whether a Range header is one to follow. The file is sent whole for
// others, as RFC 9110 (14.2) has it: for units that are not known, for more ranges
// than any app asks for, and for ranges that overlap.
func modest(header string, size int64) bool {
	list, ok := strings.CutPrefix(header, "bytes=")
	if !ok || strings.Count(list, ",") >= 2*mostRanges { // empty items count for nothing, up to a point
		return false
	}
	type span struct{ first, end int64 }
	var spans []span
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		first, end, ok := spanOf(item, size)
		if !ok {
			return true // ServeContent refuses what makes no sense
		}
		spans = append(spans, span{first, end})
	}
	slices.SortFunc(spans, func(a, b span) int { return int(min(max(a.first-b.first, -1), 1)) })
	for i, s := range spans {
		if i > 0 && s.first < spans[i-1].end {
			return false
		}
	}
	return len(spans) <= mostRanges
}

// spanOf reads "5-9", "5-" or "-5", of a file of size bytes.
func spanOf(item string, size int64) (first, end int64, ok bool) {
	from, to, ok := strings.Cut(item, "-")
	if !ok {
		return 0, 0, false
	}
	if from == "" {
		last, err := strconv.ParseUint(to, 10, 63)
		return max(0, size-int64(last)), size, err == nil
	}
	start, err := strconv.ParseUint(from, 10, 63)
	if err != nil {
		return 0, 0, false
	}
	if to == "" {
		return int64(start), max(size, int64(start)), true
	}
	last, err := strconv.ParseUint(to, 10, 63)
	return int64(start), max(int64(start), min(size, int64(last)+1)), err == nil && last < 1<<62
}
