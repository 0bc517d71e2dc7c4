package grammar

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gguf/conformance"
)

// hostileBytes bounds what compiling any schema allocates in all: two hundred bytes for each byte of one of 10 MB.
const hostileBytes = 2 << 30

// TestHostile compiles schemas that are made to take time and memory, and follows a text: each ends, with a matcher or
// with an error that says what is too much.
func TestHostile(t *testing.T) {
	conformance.Long(t)
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
		{"large enum", `{"enum": [` + list(4*large, func(i int) string { return fmt.Sprintf(`"value %012d"`, i) }) + `]}`,
			nil},
		{"anyOf of constants", `{"anyOf": [` + list(large, func(i int) string { return fmt.Sprintf(`{"const": "v%d"}`, i) }) +
			`]}`, nil},
		{"anyOf of many", `{"anyOf": [` + list(maxAlternatives+1, func(i int) string {
			return fmt.Sprintf(`{"const": "v%d", "type": "string"}`, i)
		}) + `]}`, []error{ErrTooComplex}},
		{"many properties", `{"type": "object", "properties": {` +
			list(large, func(i int) string {
				return fmt.Sprintf(`"property %08d": {"type": "integer", "minimum": 1, "x": "................"}`, i)
			}) +
			`}}`, []error{nil, ErrTooComplex}},
		{"10 MB description", `{"type": "null", "description": "` + strings.Repeat("x", 10<<20) + `"}`, nil},
		{"depth 10,000 of items", strings.Repeat(`{"items":`, 10000) + `{}` + strings.Repeat(`}`, 10000),
			[]error{ErrTooComplex}},
		{"depth 10,000 of lists", strings.Repeat(`[`, 10000) + strings.Repeat(`]`, 10000), []error{ErrTooComplex}},
		{"cycle of 10,000 references", `{"$ref": "#/$defs/0", "$defs": {` + list(10000, func(i int) string {
			return fmt.Sprintf(`"%d": {"$ref": "#/$defs/%d"}`, i, (i+1)%10000)
		}) + `}}`, []error{ErrUnsupported}},
		{"cycle of opposites", `{"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": ` +
			`"#/$defs/a"}}}}`,
			[]error{ErrUnsupported}},
		{"references that double", `{"$ref": "#/$defs/0", "$defs": {"40": {"type": "object"}, ` +
			list(40, func(i int) string {
				return fmt.Sprintf(`"%d": {"allOf": [{"$ref": "#/$defs/%d"}, {"$ref": "#/$defs/%d"}]}`, i, i+1, i+1)
			}) + `}}`, nil},
		{"anyOf that doubles", `{"allOf": [` + list(40, func(i int) string {
			return fmt.Sprintf(`{"anyOf": [{"required": ["a%d"]}, {"required": ["b%d"]}]}`, i, i)
		}) + `]}`, []error{ErrTooComplex}},
		{"oneOf of 500", `{"oneOf": [` + list(500, func(i int) string { return fmt.Sprintf(`{"required": ["a%d"]}`, i) }) +
			`]}`,
			[]error{ErrTooComplex}},
		{"patterns of names", `{"patternProperties": {` + list(6, func(i int) string {
			return fmt.Sprintf(`"(a|b)*%c(a|b){12}": {"minimum": %d}`, 'a'+i%2, i)
		}) + `}}`, []error{nil, ErrTooComplex}},
		{"stars in stars", `{"pattern": "^((((a*)*)*)*)*b$"}`, nil},
		{"counts in counts", `{"pattern": "^((a{1,30}){1,30}){1,1}$"}`, []error{nil, ErrUnsupported, ErrTooComplex}},
		{"exponential automaton", `{"pattern": "^(a|b)*a(a|b){30}c$"}`, []error{nil, ErrTooComplex}},
		{"intersections", `{"allOf": [` + list(30, func(i int) string {
			return fmt.Sprintf(`{"pattern": "^(a{%d})*$"}`, i+2)
		}) + `], "minLength": 1}`, []error{nil, ErrTooComplex}},
		{"multiples", `{"allOf": [` + list(20, func(i int) string { return fmt.Sprintf(`{"multipleOf": %d}`, 10007+2*i) }) +
			`], "minimum": 1}`, []error{ErrUnsupported}},
		{"many counted", `{"type": "array", "minItems": 1000000, "maxItems": 1000001}`, []error{ErrTooComplex}},
		{"long numbers", `{"minimum": 0.` + strings.Repeat("1", 1<<20) + `}`, []error{ErrSyntax, ErrUnsupported}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begun := time.Now()
		c, err := Compile(t.Context(), v, Form{Schema: test.schema, AnyOrder: true})
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

// Values that are held to schemas by many ways are held to each once, and that ends with the context, too.
func TestManyWaysToAValue(t *testing.T) {
	v := testVocabulary(t)
	ways := func(n int) string {
		var defs []string
		for i := 1; i <= n; i++ {
			defs = append(defs, fmt.Sprintf(`"%d": {"allOf": [{"$ref": "#/$defs/%d"}, {"$ref": "#/$defs/%d"}]}`, i, i-1, i-1))
		}
		return fmt.Sprintf(`{"$ref": "#/$defs/%d", "$defs": {"0": {"enum": [1, 2]}, %s}}`, n, strings.Join(defs, ", "))
	}
	c := compile(t, v, Form{Schema: ways(60)})
	if !fits(t, c, "1") || fits(t, c, "3") {
		t.Error("the values are others")
	}
	ctx := &endsAfter{Context: t.Context(), asked: 50}
	if _, err := Compile(ctx, v, Form{Schema: ways(60)}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended under way: %v", err)
	}
}

// A few hundred bytes of a grammar do not take gigabytes.
func TestGrammarOfManyWays(t *testing.T) {
	v := testVocabulary(t)
	for name, line := range map[string]string{
		"empty": "r%[1]d ::= r%[2]d r%[2]d\n", "other ends": "r%[1]d ::= r%[2]d | r%[2]d \"b\"\n",
	} {
		text := "root ::= r0\n"
		for i := range 60 {
			text += fmt.Sprintf(line, i, i+1)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Compile(t.Context(), v, Form{GBNF: text + "r60 ::= \"a\"?\n"})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooComplex) {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > hostileBytes {
			t.Errorf("%s: %d MB were allocated", name, n>>20)
		}
	}
}

// What an answer needs of a constraint is bounded for each token, not for all of them: constraints are used for days.
func TestConstraintLasts(t *testing.T) {
	v := testVocabulary(t)
	c := compile(t, v, Form{Schema: `{"type": "integer", "multipleOf": 2999, "minimum": 1` + strings.Repeat("0", 40) +
		`, "maximum": 1` + strings.Repeat("0", 60) + `}`})
	words := make([]uint32, v.Words())
	random := rand.New(rand.NewPCG(1, 2))
	for answer := range 12 {
		m := c.New()
		for !m.Complete() && m.Len() < 80 {
			if err := m.Mask(words); err != nil {
				t.Fatalf("answer %d, behind %d tokens: %v", answer, m.Len(), err)
			}
			var digits []int
			for _, b := range "0123456789" {
				if token := 1 + int(b); words[token>>5]>>(token&31)&1 != 0 {
					digits = append(digits, token)
				}
			}
			if len(digits) == 0 {
				break
			}
			if err := m.Accept(digits[random.IntN(len(digits))]); err != nil {
				t.Fatalf("answer %d, behind %d tokens: %v", answer, m.Len(), err)
			}
		}
		if m.Len() < 41 {
			t.Errorf("answer %d has %d digits", answer, m.Len())
		}
	}
}
