package grammar

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostileBytes bounds what compiling any schema allocates in all: two hundred bytes for each byte of one of 10 MB.
const hostileBytes = 2 << 30

// TestHostile compiles schemas that are made to take time and memory, and follows a text: each ends, with a matcher or
// with an error that says what is too much.
func TestHostile(t *testing.T) {
	v := testVocabulary(t)
	list := func(n int, item func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(item(i))
		}
		return b.String()
	}
	large := 1 << 13
	if os.Getenv("GEMWIRE_TEST_ALL") != "" {
		large = 1 << 17
	}
	for _, test := range []struct {
		name, schema string
		want         []error // any of them; nil: none
	}{
		{"large enum", `{"enum": [` + list(4*large, func(i int) string { return fmt.Sprintf(`"value %012d"`, i) }) + `]}`, nil},
		{"many properties", `{"type": "object", "properties": {` +
			list(large, func(i int) string {
				return fmt.Sprintf(`"property %08d": {"type": "integer", "minimum": 1, "x": "................"}`, i)
			}) +
			`}}`, []error{nil, ErrTooComplex}},
		{"10 MB description", `{"type": "null", "description": "` + strings.Repeat("x", 10<<20) + `"}`, nil},
		{"depth 10,000 of items", strings.Repeat(`{"items":`, 10000) + `{}` + strings.Repeat(`}`, 10000), []error{ErrTooComplex}},
		{"depth 10,000 of lists", strings.Repeat(`[`, 10000) + strings.Repeat(`]`, 10000), []error{ErrTooComplex}},
		{"cycle of 10,000 references", `{"$ref": "#/$defs/0", "$defs": {` + list(10000, func(i int) string {
			return fmt.Sprintf(`"%d": {"$ref": "#/$defs/%d"}`, i, (i+1)%10000)
		}) + `}}`, []error{nil, ErrTooComplex}},
		{"cycle of opposites", `{"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": "#/$defs/a"}}}}`,
			nil},
		{"references that double", `{"$ref": "#/$defs/0", "$defs": {"40": {"type": "object"}, ` + list(40, func(i int) string {
			return fmt.Sprintf(`"%d": {"allOf": [{"$ref": "#/$defs/%d"}, {"$ref": "#/$defs/%d"}]}`, i, i+1, i+1)
		}) + `}}`, nil},
		{"anyOf that doubles", `{"allOf": [` + list(40, func(i int) string {
			return fmt.Sprintf(`{"anyOf": [{"required": ["a%d"]}, {"required": ["b%d"]}]}`, i, i)
		}) + `]}`, []error{ErrTooComplex}},
		{"oneOf of 500", `{"oneOf": [` + list(500, func(i int) string { return fmt.Sprintf(`{"required": ["a%d"]}`, i) }) + `]}`,
			[]error{ErrTooComplex}},
		{"patterns of names", `{"patternProperties": {` + list(6, func(i int) string {
			return fmt.Sprintf(`"(a|b)*%c(a|b){12}": {"minimum": %d}`, 'a'+i%2, i)
		}) + `}}`, []error{nil, ErrTooComplex}},
		{"stars in stars", `{"pattern": "^((((a*)*)*)*)*b$"}`, nil},
		{"counts in counts", `{"pattern": "^((a{1,30}){1,30}){1,1}$"}`, []error{nil, ErrUnsupported, ErrTooComplex}},
		{"exponential automaton", `{"pattern": "^(a|b)*a(a|b){30}c$"}`, []error{nil, ErrTooComplex}},
		{"intersections", `{"allOf": [` + list(30, func(i int) string { return fmt.Sprintf(`{"pattern": "^(a{%d})*$"}`, i+2) }) + `],
			"minLength": 1}`, []error{nil, ErrTooComplex}},
		{"multiples", `{"allOf": [` + list(20, func(i int) string { return fmt.Sprintf(`{"multipleOf": %d}`, 10007+2*i) }) +
			`], "minimum": 1}`, []error{nil, ErrTooComplex}},
		{"many counted", `{"type": "array", "minItems": 1000000, "maxItems": 1000001}`, []error{ErrTooComplex}},
		{"long numbers", `{"minimum": 0.` + strings.Repeat("1", 1<<20) + `}`, []error{ErrSyntax, ErrUnsupported}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begun := time.Now()
		c, err := Compile(v, Form{Schema: test.schema, AnyOrder: true})
		if err == nil {
			m, words := c.New(), make([]uint32, v.Words())
			for _, b := range []byte(`{"aababbab": [[["aabbabab`) {
				if err = m.Mask(words); err == nil {
					err = m.Accept(1 + int(b))
				}
				if err != nil {
					break
				}
			}
			if errors.Is(err, ErrToken) {
				err = nil
			}
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		fits := test.want == nil && err == nil
		for _, want := range test.want {
			fits = fits || want == nil && err == nil || want != nil && errors.Is(err, want)
		}
		if !fits {
			t.Errorf("%s: %.300v", test.name, err)
		}
		if allocated > hostileBytes {
			t.Errorf("%s: %d MB were allocated", test.name, allocated>>20)
		}
		t.Logf("%s: %d MB, %v, %.160v", test.name, allocated>>20, time.Since(begun).Round(time.Millisecond), err)
	}
}
