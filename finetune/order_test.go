package finetune

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/tape"
)

// examplesOf are examples of so many tokens each.
func examplesOf(lengths ...int) []dataset.Example {
	examples := make([]dataset.Example, len(lengths))
	for i, n := range lengths {
		examples[i].Tokens = make([]tape.Token, n)
	}
	return examples
}

// An epoch of n batches takes ⌈n/accumulate⌉ steps: the last one takes what is left,
// and none reaches into the next epoch.
func TestOrderSteps(t *testing.T) {
	tests := []struct {
		examples, perBatch, accumulate int
		want                           []int // batches of each step of an epoch
	}{
		{7, 1, 1, []int{1, 1, 1, 1, 1, 1, 1}},
		{7, 1, 2, []int{2, 2, 2, 1}},
		{7, 1, 3, []int{3, 3, 1}},
		{6, 1, 3, []int{3, 3}},
		{7, 1, 7, []int{7}},
		{7, 1, 100, []int{7}},
		{7, 2, 3, []int{3, 1}}, // batches of 2, 2, 2 and 1
		{1, 1, 4, []int{1}},
	}
	for _, test := range tests {
		name := fmt.Sprintf("%d examples, %d to a batch, %d to a step", test.examples, test.perBatch, test.accumulate)
		t.Run(name, func(t *testing.T) {
			config := &Config{Accumulate: test.accumulate, Batching: dataset.Batching{Examples: test.perBatch, Seed: 1}}
			o := newOrder(examplesOf(make([]int, test.examples)...), config)
			for epochs := range 4 {
				got, err := o.steps(t.Context(), epochs)
				if want := epochs * len(test.want); err != nil || got != want {
					t.Errorf("%d epochs take %d steps, %v; wanted %d", epochs, got, err, want)
				}
			}
			for epoch := range 3 {
				var seen []int
				for i, want := range test.want {
					batches, last := o.step()
					if len(batches) != want || last != (i == len(test.want)-1) {
						t.Errorf("epoch %d, step %d: %d batches, the last: %t; wanted %d", epoch, i, len(batches), last,
							want)
					}
					seen = append(seen, slices.Concat(batches...)...)
				}
				slices.Sort(seen)
				for i := range max(len(seen), test.examples) {
					if i >= len(seen) || seen[i] != i {
						t.Fatalf("epoch %d takes examples %v, wanted each of %d once", epoch, seen, test.examples)
					}
				}
			}
		})
	}
}

// A run that is resumed takes what it would have taken.
func TestOrderSkip(t *testing.T) {
	config := &Config{Accumulate: 2, Batching: dataset.Batching{Examples: 1, Seed: 3}}
	steps := newOrder(examplesOf(1, 2, 3, 4, 5), config)
	var want [][][]int
	for range 9 { // three epochs of three
		batches, _ := steps.step()
		want = append(want, batches)
	}
	for n := range want {
		resumed := newOrder(examplesOf(1, 2, 3, 4, 5), config)
		if err := resumed.skip(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		got, _ := resumed.step()
		if diff := cmp.Diff(want[n], got); diff != "" {
			t.Errorf("after %d steps:\n%s", n, diff)
		}
	}
}

func TestOrderLongest(t *testing.T) {
	tests := []struct {
		name     string
		lengths  []int
		batching dataset.Batching
		want     int
	}{
		{"all in one", []int{3, 5, 4}, dataset.Batching{}, 12},
		{"the two longest", []int{3, 5, 4}, dataset.Batching{Examples: 2}, 9},
		{"the longest", []int{3, 5, 4}, dataset.Batching{Examples: 1}, 5},
		{"more than there are", []int{3, 5, 4}, dataset.Batching{Examples: 9}, 12},
		{"as many tokens as fit", []int{3, 5, 4}, dataset.Batching{Tokens: 8}, 8},
		{"all of which fit", []int{3, 5, 4}, dataset.Batching{Tokens: 100}, 12},
		{"both", []int{3, 5, 4}, dataset.Batching{Tokens: 8, Examples: 2}, 8},
		{"one that is longer than a batch", []int{3, 50, 4}, dataset.Batching{Tokens: 8}, 50},
	}
	for _, test := range tests {
		if got := newOrder(examplesOf(test.lengths...), &Config{Batching: test.batching}).longest(); got != test.want {
			t.Errorf("%s: %d tokens, wanted %d", test.name, got, test.want)
		}
	}
}
