package maskbench

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gemwire/gemwire/gemma4/grammar"
)

// Table is a run in figures. Times are in microseconds.
type Table struct {
	Schemas         int   `json:"schemas"`
	Passed          int   `json:"passed"`
	Refused         int   `json:"refusedAtCompiling"`
	ValidRefused    int   `json:"validRefused"`
	InvalidAccepted int   `json:"invalidAccepted"`
	Compile         Times `json:"compile"`
	Mask            Times `json:"mask"`

	Memory *Memory `json:"memory,omitempty"` // where it was measured
}

// Times are figures of many durations, in microseconds.
type Times struct {
	Count   int   `json:"count"`
	Average int64 `json:"average"`
	P50     int64 `json:"p50"`
	P90     int64 `json:"p90"`
	P99     int64 `json:"p99"`
	Most    int64 `json:"most"`
}

// Summarize counts outcomes. A schema counts as compiled where it was not refused.
func Summarize(outcomes []Outcome) Table {
	t := Table{Schemas: len(outcomes)}
	var compiling, masks []time.Duration
	for i := range outcomes {
		o := &outcomes[i]
		masks = append(masks, o.Masks...)
		if o.Refused != nil {
			t.Refused++
			continue
		}
		compiling = append(compiling, o.Compile)
		if o.Passed() {
			t.Passed++
		}
		if len(o.Wrong) > 0 {
			t.ValidRefused++
		}
		if len(o.Accepted) > 0 {
			t.InvalidAccepted++
		}
	}
	t.Compile, t.Mask = timesOf(compiling), timesOf(masks)
	return t
}

func timesOf(list []time.Duration) Times {
	if len(list) == 0 {
		return Times{}
	}
	slices.Sort(list)
	var sum time.Duration
	for _, d := range list {
		sum += d
	}
	at := func(percent int) int64 { return list[min(len(list)*percent/100, len(list)-1)].Microseconds() }
	return Times{Count: len(list), Average: (sum / time.Duration(len(list))).Microseconds(), P50: at(50), P90: at(90),
		P99: at(99), Most: list[len(list)-1].Microseconds()}
}

// Write prints the table.
func (t Table) Write(w io.Writer) error {
	if _, err := fmt.Fprintf(w, `schemas                    %8d
passed                     %8d
refused at compiling       %8d
refuses a valid instance   %8d
accepts an invalid one     %8d
compile, µs      average %d, p50 %d, p90 %d, p99 %d, most %d
mask, µs         average %d, p50 %d, p90 %d, p99 %d, most %d (%d tokens)
`, t.Schemas, t.Passed, t.Refused, t.ValidRefused, t.InvalidAccepted,
		t.Compile.Average, t.Compile.P50, t.Compile.P90, t.Compile.P99, t.Compile.Most,
		t.Mask.Average, t.Mask.P50, t.Mask.P90, t.Mask.P99, t.Mask.Most, t.Mask.Count); err != nil || t.Memory == nil {
		return err
	}
	return t.Memory.write(w)
}

// Bytes is a vocabulary of single bytes.
func Bytes() (pieces [][]byte, ends []int) {
	for b := range 256 {
		pieces = append(pieces, []byte{byte(b)})
	}
	return append(pieces, nil), []int{256}
}

// Prepare gives options a vocabulary.
func (o *Options) Prepare(pieces [][]byte, ends []int) (err error) {
	o.Vocabulary, err = grammar.NewVocabulary(pieces, ends)
	o.Split = Longest(pieces)
	return err
}
