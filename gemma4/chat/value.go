package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// object is a JSON object with its members in the order of the text, which
// decides between keys that differ in case alone. Other values are nil, bool,
// json.Number, string and []any.
type object []member

type member struct {
	key   string
	value any
}

// get is the value under key, nil if there is none.
func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func (o object) has(key string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.key == key })
}

// sorted has the members by key without regard to case, as the templates do.
func (o object) sorted() object {
	out := slices.Clone(o)
	slices.SortStableFunc(out, func(a, b member) int {
		return cmp.Compare(strings.ToLower(a.key), strings.ToLower(b.key))
	})
	return out
}

// set replaces the value of a key that is there, as a later duplicate does.
func (o object) set(key string, value any) object {
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	return append(o, member{key, value})
}

// maxDepth bounds how deep arguments and schemas nest.
const maxDepth = 200

var errDepth = fmt.Errorf("nested more than %d deep", maxDepth)

// parseValue reads a whole JSON text; nothing at all is null.
func parseValue(data json.RawMessage) (any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return decodeObject(d, depth)
	case json.Delim('['):
		return decodeList(d, depth)
	}
	return token, nil
}

func decodeObject(d *json.Decoder, depth int) (any, error) {
	o := object{}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		if name := key.(string); seen[name] {
			o = o.set(name, value)
		} else {
			o = append(o, member{name, value})
			seen[name] = true
		}
	}
	_, err := d.Token()
	return o, err
}

func decodeList(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		value, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := d.Token()
	return list, err
}
