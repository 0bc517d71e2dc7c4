package maskbench

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gemwire/gemwire/gemma4/grammar"
)

// randomSchema makes a schema of keywords that the grammar honours.
func randomSchema(r *rand.Rand, depth int) map[string]any {
	s := map[string]any{}
	some := func(of int) bool { return r.IntN(of) == 0 }
	sub := func() any { return randomSchema(r, depth+1) }
	kinds := []string{"integer", "number", "string", "boolean", "null", "array", "object"}
	if depth > 2 {
		kinds = kinds[:5]
	}
	kind := kinds[r.IntN(len(kinds))]
	s["type"] = kind
	switch kind {
	case "integer", "number":
		low := r.IntN(40) - 20
		if some(2) {
			s["minimum"] = low
		}
		if some(2) {
			s["exclusiveMaximum"] = low + 1 + r.IntN(30)
		}
		if some(4) {
			s["multipleOf"] = []any{2, 3, 0.5}[r.IntN(3)]
		}
	case "string":
		randomString(r, s)
	case "array":
		s["items"] = sub()
		s["maxItems"] = r.IntN(4)
		if some(3) {
			s["prefixItems"] = []any{sub(), sub()}
		}
		if some(4) {
			s["contains"], s["maxItems"] = sub(), 4
			s["maxContains"] = 1 + r.IntN(2)
		}
		if some(6) {
			s["items"], s["uniqueItems"] = map[string]any{"enum": []any{1, "a", nil, true}}, true
			delete(s, "prefixItems")
			delete(s, "contains")
			delete(s, "maxContains")
		}
	case "object":
		randomObject(r, s, sub)
	}
	if depth < 2 && some(4) {
		s[[]string{"anyOf", "oneOf", "allOf"}[r.IntN(3)]] = []any{sub(), sub()}
		delete(s, "type")
	}
	if depth < 2 && some(6) {
		s["not"] = sub()
	}
	return s
}

func randomString(r *rand.Rand, s map[string]any) {
	switch r.IntN(5) {
	case 0:
		s["enum"] = []any{"a", "b\n", "é", 1, map[string]any{"a": 1}}[:2+r.IntN(4)]
		delete(s, "type")
	case 1:
		s["pattern"] = []string{"^a+b?$", "[0-9]{2}", "^(ab|c)*$", "x", "^[^a]{1,3}$"}[r.IntN(5)]
	case 2:
		s["format"] = []string{"date", "time", "date-time", "uuid", "ipv4", "ipv6", "email", "hostname", "uri"}[r.IntN(9)]
	case 3:
		s["minLength"], s["maxLength"] = r.IntN(3), 3+r.IntN(3)
	}
}

func randomObject(r *rand.Rand, s map[string]any, sub func() any) {
	props := map[string]any{}
	var required []any
	for _, name := range []string{"a", "b", "cé", "s_1"} {
		if r.IntN(2) == 0 {
			props[name] = sub()
			if r.IntN(2) == 0 {
				required = append(required, name)
			}
		}
	}
	s["properties"] = props
	if len(required) > 0 {
		s["required"] = required
	}
	switch r.IntN(5) {
	case 0:
		s["additionalProperties"] = sub()
	case 1:
		s["patternProperties"] = map[string]any{"^s_": sub()}
	case 2:
		s["propertyNames"] = map[string]any{"maxLength": 3}
	default:
		s["additionalProperties"] = false
	}
	if r.IntN(4) == 0 {
		s["maxProperties"] = 2 + r.IntN(2)
	}
}

// wander follows bytes that the masks allow, until the answer may end; nil where it takes too many.
func wander(t *testing.T, r *rand.Rand, c *grammar.Constraint) []byte {
	t.Helper()
	m, words := c.New(), make([]uint32, c.Vocabulary().Words())
	var text []byte
	for range 3000 {
		if m.Done() && r.IntN(3) > 0 || m.Complete() {
			return text
		}
		if err := m.Mask(words); err != nil {
			if errors.Is(err, grammar.ErrTooComplex) {
				return nil
			}
			t.Fatal(err)
		}
		var list []byte
		for b := range 256 {
			if words[b/32]>>(b%32)&1 == 0 {
				continue
			}
			closing := strings.IndexByte(`"}]`, byte(b)) >= 0
			for range 1 + len(text)/40*int(map[bool]int{true: 20}[closing]) {
				list = append(list, byte(b))
			}
		}
		if len(list) == 0 {
			if m.Done() {
				return text
			}
			t.Fatalf("nothing may follow %q", text)
		}
		b := list[r.IntN(len(list))]
		if err := m.Accept(int(b)); err != nil {
			t.Fatalf("%q, then %q: %v", text, b, err)
		}
		text = append(text, b)
	}
	return nil
}

// hugeExponent is in numbers that the validator has no room for.
var hugeExponent = regexp.MustCompile(`[0-9][eE][+-]?[0-9]{4}`)

// validate holds random answers to a random schema, and tells how many were held.
func validate(t *testing.T, v *grammar.Vocabulary, seed uint64) (held int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 23))
	schema, err := json.Marshal(randomSchema(r, 0))
	if err != nil {
		t.Fatal(err)
	}
	c, err := grammar.Compile(t.Context(), v, grammar.Form{Schema: string(schema), Whitespace: grammar.NoWhitespace,
		AnyOrder: seed%2 == 0})
	if err != nil {
		if errors.Is(err, grammar.ErrSyntax) {
			t.Fatalf("%s: %v", schema, err)
		}
		return 0
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	validator, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	for range 4 {
		text := wander(t, r, c)
		if text == nil || hugeExponent.Match(text) {
			continue
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err == nil {
			err = validator.Validate(value)
		}
		if err != nil {
			t.Fatalf("seed %d: %s lets %s through: %v", seed, schema, text, err)
		}
		held++
	}
	return held
}

// TestAnswersValidate holds random answers to random schemas by a validator of others.
func TestAnswersValidate(t *testing.T) {
	v, err := grammar.NewVocabulary(Bytes())
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for seed := range uint64(400) {
		held += validate(t, v, seed)
	}
	if held < 800 {
		t.Errorf("%d answers were held; fewer than expected", held)
	}
}

// FuzzAnswersValidate does so for any seed.
func FuzzAnswersValidate(f *testing.F) {
	v, err := grammar.NewVocabulary(Bytes())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint64(1000))
	f.Fuzz(func(t *testing.T, seed uint64) { validate(t, v, seed) })
}
