package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlainReaderJoinsLines(t *testing.T) {
	const q = `"""`
	tests := []struct {
		name, in string
		want     []string
	}{
		{"lines", "one\ntwo\n", []string{"one", "two"}},
		{"no end of line", "one\ntwo", []string{"one", "two"}},
		{"carriage returns", "one\r\ntwo\r\n", []string{"one", "two"}},
		{"backslash", "one\\\ntwo\nthree\n", []string{"one\ntwo", "three"}},
		{"backslash at the end", "one\\", []string{"one\\"}},
		{"quotes", q + "\none\ntwo\n" + q + "\nthree\n", []string{"one\ntwo", "three"}},
		{"quotes on the line", q + "one\n\n  two" + q + "\n", []string{"one\n\n  two"}},
		{"quotes on one line", q + "one" + q + "\n", []string{"one"}},
		{"quotes inside", "say " + q + " now\n", []string{"say " + q + " now"}},
		{"quotes never closed", q + "one\ntwo", []string{q + "one\ntwo"}},
		{"empty lines", "\n\none\n", []string{"", "", "one"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewLineReader(strings.NewReader(tt.in), io.Discard, LineOptions{})
			var got []string
			for {
				text, err := r.Read(context.Background(), "> ")
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}
