package grammar

import (
	"strings"
	"testing"
)

// What a model might go on with for ever without saying anything ends.
func TestNothingIsEndless(t *testing.T) {
	v := testVocabulary(t)
	zeros, spaces := strings.Repeat("0", maxDigits-1), strings.Repeat(" ", maxSpace-1)
	for _, test := range []struct{ schema, before, repeated, after string }{
		{`{"type": "number", "multipleOf": 0.5}`, "1.5", zeros[:maxZeros], ""},
		{`{"type": "number", "multipleOf": 3}`, "3.", zeros[:maxZeros], ""},
		{`{"type": "number", "minimum": 2, "maximum": 2}`, "2.0", zeros, ""},
		{`{"type": "number", "minimum": 0, "maximum": 1}`, "0.3", zeros, ""},
		{`{"type": "integer"}`, "1", zeros, ""},
		{`{"type": "integer", "minimum": 7}`, "7", zeros, ""},
		{`{"type": "number"}`, "-1", zeros, ".5e+999"},
		{`{"type": "number"}`, "0.1", zeros, "E-12"},
		{`{}`, "[1", zeros, "]"},
		{`{"type": "array", "items": {"type": "integer"}}`, "[", "\n" + spaces, "1]"},
		{`{"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": false}`, `{"a"`, "\t" + spaces,
			": 1}"},
	} {
		c := compile(t, v, Form{Schema: test.schema})
		if text := test.before + test.repeated + test.after; !fits(t, c, text) {
			t.Errorf("%s refuses %q", test.schema, text)
		}
		if text := test.before + test.repeated + test.repeated[1:2] + test.after; fits(t, c, text) {
			t.Errorf("%s takes %q", test.schema, text)
		}
	}
}

// What "not" takes away is taken away however it is written.
func TestNotWithManyZeros(t *testing.T) {
	v := testVocabulary(t)
	schema := `{"type": "number", "multipleOf": 0.5, "exclusiveMaximum": 21, "not": {"minimum": -4, "multipleOf": 3}}`
	c := compile(t, v, Form{Schema: schema})
	for n := range 2 * maxDigits {
		if text := "6." + strings.Repeat("0", n+1); fits(t, c, text) {
			t.Errorf("%s takes %q", schema, text)
		}
	}
	if !fits(t, c, "6.5") {
		t.Errorf("%s refuses 6.5", schema)
	}
}
