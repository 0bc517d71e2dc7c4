package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrOther says that the output holds the answers to other requests.
var ErrOther = errors.New("the output holds answers to other requests")

// before are the answers that an earlier run has left, read one by one while the requests go by.
type before struct {
	lines *lines
	end   int64 // of the whole lines that were read
}

// earlier is an answer that was there.
type earlier struct {
	customID string // empty for a request without one
	failed   bool
	line     []byte
}

// begins is how every answer does, so that nothing else is taken for a torn one.
const begins = `{"id":"`

// next is the next whole answer, nil where there are no more: a torn line is none.
func (b *before) next() (*earlier, error) {
	line, long, whole, err := b.lines.next()
	torn := err == nil && !whole
	switch {
	case errors.Is(err, io.EOF), torn && bytes.HasPrefix(line, []byte(begins)[:min(len(line), len(begins))]):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var a struct {
		ID       string `json:"id"`
		CustomID string `json:"custom_id"`
		Response struct {
			Status int `json:"status_code"`
		} `json:"response"`
	}
	if long || torn || json.Unmarshal(line, &a) != nil || a.ID == "" {
		return nil, fmt.Errorf("%w: it has lines that are no answers; name another file", ErrOther)
	}
	b.end += int64(len(line)) + 1
	return &earlier{a.CustomID, a.Response.Status/100 != 2, append(line, '\n')}, nil
}
