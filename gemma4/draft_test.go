package gemma4

import (
	"slices"
	"testing"
)

func TestDrafter(t *testing.T) {
	text := []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2}
	d := newDrafter(text, 100, 4)
	if got := d.draft(10); got != nil {
		t.Errorf("two tokens that were seen before are no reason to guess %v", got)
	}
	d.push(3)
	if got := d.draft(10); !slices.Equal(got, []int32{4, 5, 6, 7}) {
		t.Errorf("after 1 2 3: %v", got)
	}
	if got := d.draft(2); !slices.Equal(got, []int32{4, 5}) {
		t.Errorf("at most two: %v", got)
	}
	if got := d.draft(0); got != nil {
		t.Errorf("at most none: %v", got)
	}
	d.push(40)
	if got := d.draft(10); got != nil {
		t.Errorf("after something new: %v", got)
	}
	// The latest of several places counts.
	for _, token := range []int32{5, 6, 7, 80, 5, 6, 7} {
		d.push(token)
	}
	if got := d.draft(3); !slices.Equal(got, []int32{80, 5, 6}) {
		t.Errorf("after 5 6 7: %v", got)
	}
	// A text of one token guesses what there is.
	one := newDrafter([]int32{7, 7, 7, 7}, 10, 4)
	if got := one.draft(9); !slices.Equal(got, []int32{7, 7, 7, 7}) {
		t.Errorf("of sevens: %v", got)
	}
}

func TestDrafterLeavesNewTextAlone(t *testing.T) {
	d := newDrafter(nil, 4000, 4)
	guesses := 0
	for i := range int32(2000) { // 1 2 3 and then something else, each time
		for _, token := range []int32{1, 2, 3, 100 + i} {
			if draft := d.draft(4); draft != nil {
				guesses++
				d.learn(len(draft), 0)
			}
			d.push(token)
		}
	}
	if guesses == 0 || guesses > 20 {
		t.Errorf("%d wrong guesses in 8000 tokens", guesses)
	}
	// What repeats itself at last is found.
	right := 0
	for range 100 {
		for _, token := range []int32{9001, 9002, 9003, 9004, 9005, 9006, 9007, 9008} {
			if draft := d.draft(4); len(draft) > 0 {
				hit := 0
				if draft[0] == token {
					hit = len(draft)
				}
				d.learn(len(draft), hit)
				right += min(hit, 1)
			}
			d.push(token)
		}
	}
	if right < 600 {
		t.Errorf("%d of 800 tokens were guessed", right)
	}
}

func TestDrafterAllocatesNothing(t *testing.T) {
	d := newDrafter(nil, 2000, 4)
	i := int32(0)
	if n := testing.AllocsPerRun(1000, func() {
		d.push(i % 17)
		d.learn(4, len(d.draft(4)))
		i++
	}); n != 0 {
		t.Errorf("%v allocations a token", n)
	}
}
