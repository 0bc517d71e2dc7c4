package maskbench

import (
	"bytes"
	"encoding/json"
	"strings"
)

// spaced writes a JSON value as Python's json.dumps does: a space behind each comma and colon, nothing escaped that
// need not be.
func spaced(raw json.RawMessage) ([]byte, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	text, inside := compact.Bytes(), false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inside && c == '\\' && text[i+1] == 'u':
			n := escaped(text[i:], &out)
			i += n - 1
			continue
		case inside && c == '\\':
			out.WriteByte(c)
			i++
			if text[i] == '/' {
				out.Truncate(out.Len() - 1)
			}
			c = text[i]
		case c == '"':
			inside = !inside
		}
		out.WriteByte(c)
		if !inside && (c == ',' || c == ':') {
			out.WriteByte(' ')
		}
	}
	return out.Bytes(), nil
}

// escaped writes the characters of a run of \u escapes, and returns its length.
func escaped(text []byte, out *bytes.Buffer) int {
	n := 0
	for n+6 <= len(text) && text[n] == '\\' && text[n+1] == 'u' {
		n += 6
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(text[:n])+`"`), &s) != nil {
		out.Write(text[:n])
		return n
	}
	var quoted bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		out.Write(text[:n])
		return n
	}
	plain := strings.TrimSuffix(quoted.String(), "\n")
	plain = strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(plain)
	out.WriteString(plain[1 : len(plain)-1])
	return n
}

// Longest splits a text at the longest pieces of a vocabulary, from left to right: a stand-in for a tokenizer where
// that is wanted of bytes alone.
func Longest(pieces [][]byte) func([]byte) ([]int, error) {
	ids, longest := map[string]int{}, 0
	for id, p := range pieces {
		if _, ok := ids[string(p)]; !ok && len(p) > 0 {
			ids[string(p)] = id
			longest = max(longest, len(p))
		}
	}
	return func(text []byte) (out []int, err error) {
		for len(text) > 0 {
			n := min(longest, len(text))
			for ; n > 1; n-- {
				if _, ok := ids[string(text[:n])]; ok {
					break
				}
			}
			out = append(out, ids[string(text[:n])])
			text = text[n:]
		}
		return out, nil
	}
}
