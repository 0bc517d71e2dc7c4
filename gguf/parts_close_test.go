package gguf

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// closing is a source that counts how often it is closed.
type closing struct {
	Source
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

// Where a part is missing, those that were opened are closed, each of them once.
func TestPartsAreClosedWhereOneIsMissing(t *testing.T) {
	closed := map[string]*int{}
	l := location{
		open: func(_ context.Context, name string) (Source, error) {
			if name == "2" {
				return nil, errMissing
			}
			b := append([]byte("GGUF\x03\x00\x00\x00"), make([]byte, 16)...)
			b[16] = 2 // keys
			b = appendText(b, keySplitNo)
			b = append(b, byte(KindUint8), 0, 0, 0, name[0]-'0')
			b = appendText(b, keySplitCount)
			b = append(b, byte(KindUint8), 0, 0, 0, 3)
			closed[name] = new(int)
			return closing{Memory(b), closed[name]}, nil
		},
		sibling: func(_ string, no, _ int) (string, bool) { return fmt.Sprint(no), true },
		show:    func(name string) string { return name },
	}
	for _, first := range []string{"0", "1"} {
		clear(closed)
		if _, err := l.openModel(context.Background(), first, options{maxHeader: 1 << 20}); !errors.Is(err, errMissing) {
			t.Errorf("from part %s: %v", first, err)
		}
		for _, name := range []string{"0", "1"} {
			if n := closed[name]; n == nil || *n != 1 {
				t.Errorf("from part %s: part %s was not closed once", first, name)
			}
		}
	}
}

var errMissing = errors.New("missing")
