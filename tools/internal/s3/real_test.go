package s3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// real is a store that runs, and a place in it that is empty. scripts/test-s3.sh starts it.
func real(t *testing.T) (*Store, Address) {
	t.Helper()
	bucket := os.Getenv("GEMWIRE_TEST_S3")
	if bucket == "" {
		t.Skip("with scripts/test-s3.sh, which starts a store")
	}
	s, err := New(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return s, Address{bucket, fmt.Sprintf("%s/%d/answers äöü+%%.jsonl", t.Name(), rand.Uint64())}
}

func lineOf(n int) []byte {
	return []byte(fmt.Sprintf("%d %s\n", n, strings.Repeat(string(rune('a'+n%26)), 20_000+n%1000)))
}

// grow continues, checks what is there, and says which line is next.
func grow(t *testing.T, s *Store, at Address) (*Grown, int) {
	t.Helper()
	g, err := s.Grow(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Earlier()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rest := got; len(rest) > 0; n++ {
		if !bytes.HasPrefix(rest, lineOf(n)) {
			t.Fatalf("line %d is not what was written: %.30q", n, rest)
		}
		rest = rest[len(lineOf(n)):]
	}
	if err := g.Cut(int64(len(got))); err != nil {
		t.Fatal(err)
	}
	return g, n
}

func content(t *testing.T, s *Store, at Address) []byte {
	t.Helper()
	r, err := s.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// However often a run ends in the middle, the object has each line once, in order; a finished one is continued too.
func TestGrown(t *testing.T) {
	s, at := real(t)
	var want []byte
	made := 0
	for _, lines := range []int{0, 3, 50, 1600, 1600, 1605, 3000} { // 0 to 60 MB
		for made < lines {
			want = append(want, lineOf(made)...)
			made++
		}
		for crashes := 0; ; crashes++ {
			g, n := grow(t, s, at)
			until := min(lines, n+rand.IntN(700))
			if crashes > 12 {
				until = lines
			}
			for ; n < until; n++ {
				if _, err := g.Write(lineOf(n)); err != nil {
					t.Fatal(err)
				}
				if rand.IntN(50) == 0 {
					if err := g.Sync(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if n < lines {
				continue // it is killed
			}
			if rand.IntN(2) == 0 { // killed between joining and removing
				if err := g.Sync(); err != nil {
					t.Fatal(err)
				}
				if err := g.join(); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := g.Finish(); err != nil {
				t.Fatal(err)
			}
			break
		}
		if got := content(t, s, at); !bytes.Equal(got, want) {
			t.Fatalf("%d lines: %d bytes, wanted %d", lines, len(got), len(want))
		}
		if left, err := s.piecesOf(t.Context(), at); err != nil || len(left) != 0 {
			t.Errorf("%d pieces are left, %v", len(left), err)
		}
	}
}

// Where two programs write one object, it is whole in the end, or one of them says that it is not alone.
func TestGrownByTwo(t *testing.T) {
	s, at := real(t)
	write := func(g *Grown, n, until int) {
		for ; n < until; n++ {
			if _, err := g.Write(lineOf(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	first, n := grow(t, s, at)
	write(first, n, 600)
	second, n := grow(t, s, at)
	write(second, n, n+1)
	if err := second.Sync(); err != nil {
		t.Fatal(err)
	}
	third, err := s.Grow(t.Context(), Address{at.Bucket, at.Key})
	if err != nil {
		t.Fatal(err)
	}
	third.done, third.extent = nil, 0 // which began when nothing was there
	write(third, 1, 500)
	if err := first.Finish(); !errors.Is(err, ErrChanged) {
		t.Errorf("the first of two: %v", err)
	}
}

// What does not end with a line's end is left alone.
func TestTorn(t *testing.T) {
	s, at := real(t)
	if _, err := s.put(t.Context(), at, []byte("one\ntwo")); err != nil {
		t.Fatal(err)
	}
	g, err := s.Grow(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Cut(4); !errors.Is(err, ErrTorn) {
		t.Error(err)
	}
	if got := content(t, s, at); string(got) != "one\ntwo" {
		t.Errorf("%q", got)
	}
}

func TestRealMistakes(t *testing.T) {
	s, at := real(t)
	none := Address{"no-such-bucket-here", "x"}
	if _, err := s.Open(t.Context(), at); !errors.Is(err, ErrNoObject) {
		t.Error(err)
	}
	if _, err := s.Open(t.Context(), none); !errors.Is(err, ErrNoBucket) {
		t.Error(err)
	}
	if _, err := s.Grow(t.Context(), none); !errors.Is(err, ErrNoBucket) {
		t.Error(err)
	}
	wrong, err := New(func(name string) string {
		if name == "AWS_SECRET_ACCESS_KEY" {
			return "wrong"
		}
		return os.Getenv(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wrong.Open(t.Context(), at); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
	if _, err := wrong.Grow(t.Context(), at); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
}
