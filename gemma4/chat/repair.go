package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// RepairCall is ParseCall for a call that is not quite in the format, where only one thing can be
// meant by it: brackets that were not closed at its end, or too often; a comma too many; strings
// without quotes or in single ones; a call without its "call:", its braces, or in OpenAI's
// JSON form. repairs says what was mended, nil where nothing had to be. What may mean several
// things stays ParseCall's error.
func RepairCall(text string) (call ToolCall, repairs []string, err error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return repairCall(strings.ReplaceAll(text, quote, string([]byte{quoteByte})))
}

func repairCall(text string) (ToolCall, []string, error) {
	call, err := parseCall(text)
	if err == nil {
		return call, nil, nil
	}
	if call, ok := jsonCall(text); ok {
		return call, []string{"a call as JSON"}, nil
	}
	s := callScanner{text: text, lenient: true}
	name, nameErr := s.name()
	if nameErr != nil || !isFunctionName(name) || s.arguments() != nil {
		return ToolCall{}, nil, err
	}
	return ToolCall{Name: name, Arguments: s.json.Bytes()}, s.repairs, nil
}

// mend notes a repair, and says that it may be made.
func (s *callScanner) mend(format string, args ...any) bool {
	if !s.lenient {
		return false
	}
	if what := fmt.Sprintf(format, args...); !slices.Contains(s.repairs, what) {
		s.repairs = append(s.repairs, what)
	}
	return true
}

var functionName = regexp.MustCompile(`^[A-Za-z_][\w.-]*$`)

func isFunctionName(name string) bool { return functionName.MatchString(name) }

// jsonCall reads {"name": …, "arguments": {…}}, with or without the object that OpenAI puts
// around it.
func jsonCall(text string) (ToolCall, bool) {
	type plain struct {
		Name       string
		Arguments  json.RawMessage
		Parameters json.RawMessage
	}
	var c struct {
		plain
		Function *plain
	}
	if json.Unmarshal([]byte(text), &c) != nil {
		return ToolCall{}, false
	}
	p := c.plain
	if c.Function != nil {
		p = *c.Function
	}
	arguments := p.Arguments
	if arguments == nil {
		arguments = p.Parameters
	}
	var inner string
	if json.Unmarshal(arguments, &inner) == nil { // a JSON text in a string
		arguments = []byte(inner)
	}
	arguments = bytes.TrimSpace(arguments)
	if !isFunctionName(p.Name) || !json.Valid(arguments) || arguments[0] != '{' {
		return ToolCall{}, false
	}
	return ToolCall{Name: p.Name, Arguments: json.RawMessage(arguments)}, true
}

// withColon matches what has a colon and is no key with its value: a time, an address.
var withColon = regexp.MustCompile(`^\d+(:\d+)+$|^[a-z]+://\S+$`)

// likeNumber matches what is a number in some language, and a text of digits in others.
var likeNumber = regexp.MustCompile(`^[-+.\d][-+.\d_eExX%]*$`)

// date matches what likeNumber does and is none.
var date = regexp.MustCompile(`^\d{4}-\d\d(-\d\d)?$`)

// noStrings are words that stand for a value in some language, and for none in JSON.
var noStrings = []string{"nil", "undefined", "NaN", "Infinity", "-Infinity"}

// bareString says whether an unquoted value can only be a string: of one line, and without
// anything that ends or begins a value, or looks like the next key.
func bareString(text string) bool {
	if text == "" || likeNumber.MatchString(text) && !date.MatchString(text) || slices.Contains(noStrings, text) ||
		strings.IndexByte(text, quoteByte) >= 0 ||
		strings.ContainsAny(text, "\"'`{}[]<>\r\n\t") {
		return false
	}
	return !strings.Contains(text, ":") || withColon.MatchString(text)
}

// singleQuoted is the length of the string in single quotes that text begins with, 0 where it
// is not clear where it ends.
func singleQuoted(text string) int {
	end := strings.IndexByte(text[1:], '\'') + 1
	if end == 0 {
		return 0
	}
	rest := strings.TrimLeft(text[end+1:], " \t\r\n")
	if rest != "" && strings.IndexByte(",}]:", rest[0]) < 0 {
		return 0
	}
	if strings.IndexByte(text[:end], '\\') >= 0 {
		return 0
	}
	return end + 1
}
