package grammar

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// value is a JSON value whose members keep their order.
type value struct {
	kind  valueKind
	text  string         // of a string; a number as it was written
	keys  []string       // of an object
	items []*value       // of an array, or of an object by key
	at    map[string]int // where the keys are, once one of many was asked for
}

type valueKind uint8

const (
	valueNull valueKind = iota
	valueFalse
	valueTrue
	valueNumber
	valueString
	valueArray
	valueObject
)

// maxDepth bounds how deep the values of a schema may nest.
const maxDepth = 512

// parseValue reads one JSON value. Of members of one name the last counts.
func parseValue(text string) (*value, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: text behind the end of the schema, at byte %d", ErrSyntax, d.InputOffset())
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (*value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: a schema nests over %d levels", ErrTooComplex, maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, notJSON(d, err)
	}
	switch t := token.(type) {
	case nil:
		return &value{kind: valueNull}, nil
	case bool:
		return &value{kind: valueFalse + valueKind(flag(t))}, nil
	case json.Number:
		return &value{kind: valueNumber, text: t.String()}, nil
	case string:
		return &value{kind: valueString, text: t}, nil
	case json.Delim:
		if t == '[' {
			return readArray(d, depth)
		}
	}
	return readObject(d, depth)
}

func readArray(d *json.Decoder, depth int) (*value, error) {
	v := &value{kind: valueArray}
	for d.More() {
		item, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
	}
	return v, closeValue(d)
}

func readObject(d *json.Decoder, depth int) (*value, error) {
	v := &value{kind: valueObject}
	at := map[string]int{}
	for d.More() {
		key, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		item, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		if i, ok := at[key.text]; ok {
			v.items[i] = item
			continue
		}
		at[key.text] = len(v.keys)
		v.keys, v.items = append(v.keys, key.text), append(v.items, item)
	}
	return v, closeValue(d)
}

func closeValue(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return notJSON(d, err)
	}
	return nil
}

// get is a member of an object, nil if it has none of that name.
func (v *value) get(key string) *value {
	if v.kind != valueObject {
		return nil
	}
	if len(v.keys) <= maxScanned {
		if i := slices.Index(v.keys, key); i >= 0 {
			return v.items[i]
		}
		return nil
	}
	if v.at == nil {
		v.at = make(map[string]int, len(v.keys))
		for i, k := range v.keys {
			v.at[k] = i
		}
	}
	if i, ok := v.at[key]; ok {
		return v.items[i]
	}
	return nil
}

// maxScanned is the length of lists that are looked through from one end; longer ones have an index.
const maxScanned = 16

// valueList is a list of values, in which equal ones are found.
type valueList struct {
	list []*value
	keys map[string]struct{} // what is in it, once that was asked of a long one
}

func (l *valueList) has(v *value) bool {
	if len(l.list) <= maxScanned {
		return slices.ContainsFunc(l.list, v.equal)
	}
	if l.keys == nil {
		l.keys = make(map[string]struct{}, len(l.list))
		for _, item := range l.list {
			l.keys[string(item.appendKey(nil))] = struct{}{}
		}
	}
	_, ok := l.keys[string(v.appendKey(nil))]
	return ok
}

// different tells whether no two of some values are the same.
func different(items []*value) bool {
	seen := make(map[string]struct{}, len(items))
	for _, v := range items {
		seen[string(v.appendKey(nil))] = struct{}{}
	}
	return len(seen) == len(items)
}

// once is a list without those that came before.
func once(names []string) (list []string) {
	seen := make(map[string]struct{}, len(names))
	for _, name := range names {
		if _, ok := seen[name]; !ok {
			seen[name] = struct{}{}
			list = append(list, name)
		}
	}
	return list
}

// appendKey appends what is the same for equal values alone.
func (v *value) appendKey(k []byte) []byte {
	text := v.text
	if v.kind == valueNumber {
		if r, ok := exact(text); ok {
			text = r.RatString()
		}
	}
	k = append(k, byte(v.kind))
	k = binary.AppendUvarint(k, uint64(len(text)))
	k = append(k, text...)
	k = binary.AppendUvarint(k, uint64(len(v.items)))
	if v.kind != valueObject {
		for _, item := range v.items {
			k = item.appendKey(k)
		}
		return k
	}
	for _, name := range slices.Sorted(slices.Values(v.keys)) {
		k = binary.AppendUvarint(k, uint64(len(name)))
		k = v.get(name).appendKey(append(k, name...))
	}
	return k
}

// equal tells whether two values are the same to JSON Schema: 1 is 1.0, and the order of members does not count.
func (v *value) equal(o *value) bool {
	if v.kind != o.kind || len(v.items) != len(o.items) {
		return false
	}
	switch v.kind {
	case valueString:
		return v.text == o.text
	case valueNumber:
		a, okA := exact(v.text)
		b, okB := exact(o.text)
		return okA && okB && a.Cmp(b) == 0 || v.text == o.text
	case valueObject:
		for i, k := range v.keys {
			if other := o.get(k); other == nil || !v.items[i].equal(other) {
				return false
			}
		}
		return true
	}
	for i := range v.items {
		if !v.items[i].equal(o.items[i]) {
			return false
		}
	}
	return true
}

// maxExponent bounds the exponents of numbers in schemas.
const maxExponent = 400

// exact is the value of a JSON number. It is not ok for exponents that make numbers of thousands of digits.
func exact(number string) (*big.Rat, bool) {
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		var e int
		if _, err := fmt.Sscanf(number[i+1:], "%d", &e); err != nil || e < -maxExponent || e > maxExponent {
			return nil, false
		}
	}
	if len(number) > 2*maxExponent {
		return nil, false
	}
	return new(big.Rat).SetString(number)
}

// quoted is the usual spelling of a JSON string, in quotes: nothing is escaped that need not be.
func quoted(text string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for _, c := range text {
		b.WriteString(spelled(c))
	}
	b.WriteByte('"')
	return b.String()
}

// bare is the usual spelling of a JSON string, without its quotes.
func bare(text string) string {
	q := quoted(text)
	return q[1 : len(q)-1]
}

// spelled is the usual spelling of a character in a JSON string.
func spelled(c rune) string {
	switch c {
	case '"', '\\':
		return `\` + string(c)
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if c < 0x20 {
		return fmt.Sprintf(`\u%04x`, c)
	}
	return string(c)
}

// notJSON is what is wrong with a schema as JSON.
func notJSON(d *json.Decoder, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the schema is not valid JSON: it ends too early, at byte %d", ErrSyntax, d.InputOffset())
	}
	return fmt.Errorf("%w: the schema is not valid JSON at byte %d: %v", ErrSyntax, d.InputOffset(), err)
}

// wholeText refuses a schema with bytes or escapes that are no characters: decoders put others in their place.
func wholeText(text string) error {
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRuneInString(text[at:])
		if c == utf8.RuneError && size == 1 {
			return fmt.Errorf("%w: the schema is not UTF-8 at byte %d", ErrSyntax, at)
		}
		if c == '\\' && at+1 < len(text) {
			var err error
			if size, err = wholeEscape(text[at:], at); err != nil {
				return err
			}
		}
		at += size
	}
	return nil
}

// wholeEscape is the length of an escape, or of the two that are one character.
func wholeEscape(text string, at int) (int, error) {
	unit := func(s string) (rune, bool) {
		if len(s) < 6 || s[:2] != `\u` {
			return 0, false
		}
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		return rune(n), err == nil
	}
	first, ok := unit(text)
	if !ok || !utf16.IsSurrogate(first) {
		return 2, nil // what is no escape, the decoder says
	}
	second, _ := unit(text[6:])
	if utf16.DecodeRune(first, second) == utf8.RuneError {
		return 0, fmt.Errorf("%w: %s at byte %d of the schema is half a character", ErrSyntax, text[:6], at)
	}
	return 12, nil
}
