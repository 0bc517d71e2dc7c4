package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// quoteByte stands for the token <|"|> in the text of a call. It occurs in no
// UTF-8 text, so that a string may hold the token's spelling.
const quoteByte = 0xFF

// ParseCall reads a tool call as a template spells it, without the tokens
// around it: call:NAME{key:value,…}. Its arguments become a JSON object with
// keys in the order of the text. Errors wrap ErrCall.
func ParseCall(text string) (ToolCall, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return parseCall(strings.ReplaceAll(text, quote, string([]byte{quoteByte})))
}

func parseCall(text string) (ToolCall, error) {
	s := callScanner{text: text}
	name, err := s.name()
	if err != nil {
		return ToolCall{}, err
	}
	if err := s.arguments(); err != nil {
		return ToolCall{}, err
	}
	return ToolCall{Name: name, Arguments: s.json.Bytes()}, nil
}

// callScanner reads a call and writes its arguments as JSON.
type callScanner struct {
	text string
	at   int
	json bytes.Buffer

	lenient bool // see RepairCall
	repairs []string
}

func (s *callScanner) fail(format string, args ...any) error {
	return fmt.Errorf("%w: %s at byte %d", ErrCall, fmt.Sprintf(format, args...), s.at)
}

func (s *callScanner) name() (string, error) {
	s.space()
	if !s.skip("call:") && (!strings.Contains(s.text[s.at:], "{") || !s.mend("call: was missing")) {
		return "", s.fail("want call:")
	}
	brace := strings.IndexByte(s.text[s.at:], '{')
	if brace < 0 && s.mend("the arguments were missing") {
		s.text = trim(s.text) + "{}"
		brace = strings.IndexByte(s.text[s.at:], '{')
	}
	if brace < 0 {
		return "", s.fail("want {")
	}
	name := trim(s.text[s.at : s.at+brace])
	if name == "" || strings.IndexByte(name, quoteByte) >= 0 {
		return "", s.fail("want the name of a function")
	}
	s.at += brace
	return name, nil
}

// arguments reads the object, which may stand in a second pair of braces, as
// arguments in the form of a JSON string do.
func (s *callScanner) arguments() error {
	doubled := false
	if rest := strings.TrimLeft(s.text[s.at+1:], " \t\r\n"); strings.HasPrefix(rest, "{") {
		doubled = true
		s.at++
		s.space()
	}
	if err := s.value(0); err != nil {
		return err
	}
	s.space()
	if doubled && !s.skip("}") && !(s.at == len(s.text) && s.mend("a } was missing")) {
		return s.fail("want a second }")
	}
	rest := s.text[s.at:]
	if strings.Contains(rest, "}") && strings.Trim(rest, "} \t\r\n") == "" && s.mend("there was a } too many") {
		s.at = len(s.text)
	}
	if s.space(); s.at < len(s.text) {
		return s.fail("want nothing more")
	}
	return nil
}

// value reads any value.
func (s *callScanner) value(depth int) error {
	if depth > maxDepth {
		return s.fail("%v", errDepth)
	}
	s.space()
	switch s.peek() {
	case quoteByte, '"':
		text, err := s.quoted()
		if err != nil {
			return err
		}
		s.write(text)
		return nil
	case '\'':
		if text, ok := s.inSingleQuotes(); ok {
			s.write(text)
			return nil
		}
	case '{':
		return s.items('}', func() error { return s.member(depth) })
	case '[':
		return s.items(']', func() error { return s.value(depth + 1) })
	}
	return s.bare()
}

// items reads an object or a list up to its closing bracket.
func (s *callScanner) items(closing byte, item func() error) error {
	s.json.WriteByte(s.text[s.at])
	s.at++
	for first := true; ; first = false {
		s.space()
		switch {
		case s.skip(string(closing)), s.at == len(s.text) && s.mend("a %c was missing", closing):
			s.json.WriteByte(closing)
			return nil
		case !first && !s.skip(","):
			return s.fail("want , or %c", closing)
		case !first:
			if s.closes(closing) && s.mend("there was a comma too many") {
				continue
			}
			s.json.WriteByte(',')
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// member reads key:value.
func (s *callScanner) member(depth int) error {
	key, err := s.key()
	if err != nil {
		return err
	}
	s.space()
	if !s.skip(":") {
		return s.fail("want :")
	}
	s.write(key)
	s.json.WriteByte(':')
	return s.value(depth + 1)
}

// key reads a key, bare or quoted.
func (s *callScanner) key() (string, error) {
	s.space()
	if c := s.peek(); c == quoteByte || c == '"' {
		return s.quoted()
	}
	if text, ok := s.inSingleQuotes(); ok {
		return text, nil
	}
	size := strings.IndexAny(s.text[s.at:], ":{}[]")
	if size < 0 || s.text[s.at+size] != ':' || strings.IndexByte(s.text[s.at:s.at+size], quoteByte) >= 0 {
		return "", s.fail("want a key and :")
	}
	key := trim(s.text[s.at : s.at+size])
	s.at += size
	return key, nil
}

// quoted reads a string between two quote tokens, in which nothing is escaped,
// or one in JSON's form.
func (s *callScanner) quoted() (string, error) {
	rest := s.text[s.at:]
	if rest[0] == quoteByte {
		size := strings.IndexByte(rest[1:], quoteByte)
		if size < 0 {
			return "", s.fail("a string without an end")
		}
		s.at += size + 2
		return rest[1 : size+1], nil
	}
	size := jsonStringLen(rest)
	var text string
	if size == 0 || json.Unmarshal([]byte(rest[:size]), &text) != nil {
		return "", s.fail("a string without an end")
	}
	s.at += size
	return text, nil
}

// inSingleQuotes reads a string in single quotes, where that is allowed.
func (s *callScanner) inSingleQuotes() (text string, ok bool) {
	rest := s.text[s.at:]
	if s.peek() != '\'' {
		return "", false
	}
	size := singleQuoted(rest)
	if size == 0 || !s.mend("a string was in single quotes") {
		return "", false
	}
	s.at += size
	return rest[1 : size-1], true
}

// closes says whether the closing bracket comes next, or nothing.
func (s *callScanner) closes(closing byte) bool {
	s.space()
	return s.at == len(s.text) || s.peek() == closing
}

// jsonStringLen is the length of the JSON string that text begins with, 0 if it
// has no end.
func jsonStringLen(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// words are the values that are neither strings nor numbers.
var words = map[string]string{
	"true": "true", "false": "false", "null": "null",
	"True": "true", "False": "false", "None": "null",
}

// bare reads a number or a word.
func (s *callScanner) bare() error {
	rest := s.text[s.at:]
	size := strings.IndexAny(rest, ",}]")
	if size < 0 {
		size = len(rest)
	}
	text := trim(rest[:size])
	value, ok := words[text]
	if !ok {
		number := text != "" && strings.IndexByte("-0123456789", text[0]) >= 0 && json.Valid([]byte(text))
		if !number && bareString(text) && s.mend("a string was not quoted") {
			s.write(text)
			s.at += size
			return nil
		}
		if !number {
			return s.fail("want a value")
		}
		value = text
	}
	s.json.WriteString(value)
	s.at += size
	return nil
}

// write writes a JSON string.
func (s *callScanner) write(text string) {
	e := json.NewEncoder(&s.json)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string has a JSON form, and a buffer takes it
	s.json.Truncate(s.json.Len() - 1)
}

func (s *callScanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

func (s *callScanner) skip(text string) bool {
	if !strings.HasPrefix(s.text[s.at:], text) {
		return false
	}
	s.at += len(text)
	return true
}

// peek is the next byte, 0 at the end.
func (s *callScanner) peek() byte {
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}
