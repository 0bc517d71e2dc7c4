package chat

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// The released templates run in Python; where they print or test a value, its
// rules are part of the format.

// trim cuts white space off both ends. Python counts the four separators
// U+001C to U+001F as such, Go does not.
func trim(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F })
}

// truthy is Python's truth of a value.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		f, _ := v.Float64()
		return f != 0
	case []any:
		return len(v) > 0
	case object:
		return len(v) > 0
	}
	return true
}

// display is Python's str of a value.
func display(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return literal(v)
}

// literal is Python's repr of a value.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case json.Number:
		return number(v)
	case string:
		return quoted(v)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = literal(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case object:
		items := make([]string, len(v))
		for i, m := range v {
			items[i] = quoted(m.key) + ": " + literal(m.value)
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return ""
}

func quoted(s string) string {
	mark := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = `"`
	}
	return mark + strings.NewReplacer(`\`, `\\`, mark, `\`+mark, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + mark
}

// number prints a JSON number: integers as they are, others as the shortest
// digits that give the same float64, with an exponent from 1e16 on and below
// 1e-4.
func number(n json.Number) string {
	text := n.String()
	if text == "-0" {
		return "0"
	}
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range is ±Inf, which is meant
	switch magnitude := math.Abs(f); {
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'g', -1, 64)), "+")
	case magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
