package chat

import "testing"

// The text comes whole and, what must make no difference, byte by byte where one stop
// string is complete before another.
func TestStopFinder(t *testing.T) {
	tests := []struct {
		name, text string
		stops      []string
		out, stop  string
	}{
		{"none", "abc", nil, "abc", ""},
		{"an empty one", "abc", []string{""}, "abc", ""},
		{"one that is not there", "abc", []string{"x"}, "abc", ""},
		{"one behind one that is not there", "abc", []string{"x", "b"}, "a", "b"},
		{"at the start", "abc", []string{"ab"}, "", "ab"},
		{"at the end", "abc", []string{"bc"}, "a", "bc"},
		{"the first of two places", "abab", []string{"b"}, "a", "b"},
		{"the first to be complete", "abcd", []string{"cd", "b"}, "a", "b"},
		{"the first to be complete, said first", "abcd", []string{"b", "cd"}, "a", "b"},
		{"a short one within a long one", "abcde", []string{"abcde", "c"}, "ab", "c"},
		{"a long one that ends before a short one", "abcde", []string{"e", "abcd"}, "", "abcd"},
		{"two complete at once, the longer first", "abcd", []string{"bcd", "cd"}, "a", "bcd"},
		{"two complete at once, the shorter first", "abcd", []string{"cd", "bcd"}, "a", "bcd"},
		{"the start of one again and again", "aaab", []string{"aab"}, "a", "aab"},
		{"the start of one alone", "xab", []string{"abc"}, "xab", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range []int{len(test.text), 1} {
				f := newStopFinder(test.stops)
				var got, stop string
				for at := 0; at < len(test.text) && stop == ""; at += size {
					out, s, found := f.add(test.text[at : at+size])
					if found != (s != "") {
						t.Fatalf("found: %t, the stop string %q", found, s)
					}
					got, stop = got+out, s
				}
				if got += f.end(); got != test.out || stop != test.stop {
					t.Errorf("%d bytes at a time: %q, ended by %q; wanted %q, %q", size, got, stop, test.out, test.stop)
				}
			}
		})
	}
}

// What may be the start of a stop string is held back, and no more.
func TestHeldBack(t *testing.T) {
	tests := []struct {
		text  string
		stops []string
		out   string
	}{
		{"xyz", []string{"abc"}, "xyz"},
		{"xya", []string{"abc"}, "xy"},
		{"xyab", []string{"abc"}, "xy"},
		{"ab", []string{"abc"}, ""},
		{"xyab", []string{"b!", "ab!"}, "xy"},
		{"xyab", []string{"ab!", "b!"}, "xy"},
		{"xaba", []string{"abac", "a!"}, "x"},
		{"xaba", []string{"abab"}, "x"},
	}
	for _, test := range tests {
		f := newStopFinder(test.stops)
		out, _, _ := f.add(test.text)
		if rest := f.end(); out != test.out || out+rest != test.text {
			t.Errorf("%q before %q: %q is given out and %q held back, wanted %q", test.text, test.stops, out, rest,
				test.out)
		}
		if rest := f.end(); rest != "" {
			t.Errorf("%q is held back twice", rest)
		}
	}
}
