package grammar

import "testing"

// FuzzSchema compiles whatever comes, and follows a text.
func FuzzSchema(f *testing.F) {
	for _, schema := range []string{
		`{"type": "object", "properties": {"a": {"$ref": "#"}}, "oneOf": [{"required": ["a"]}, {"maxProperties": 0}]}`,
		`{"$defs": {"x": {"pattern": "^(?!a)b+$"}}, "items": {"$ref": "#/$defs/x"}, "minItems": 1}`,
		`{"anyOf": [{"multipleOf": 0.1, "maximum": 3}, {"const": {"a": [1]}}], "not": {"enum": [1]}}`,
	} {
		f.Add(schema, `{"a": 1}`, false)
		f.Add(schema, `["b"]`, true)
	}
	v := testVocabulary(f)
	f.Fuzz(func(t *testing.T, schema, text string, free bool) {
		c, err := Compile(t.Context(), v, Form{Schema: schema, AnyOrder: free})
		if err != nil {
			return
		}
		m := c.New()
		words := make([]uint32, v.Words())
		for i := range min(len(text), 16) {
			if err := m.Mask(words); err != nil {
				return
			}
			token := 1 + int(text[i])
			allowed := words[token/32]>>(token%32)&1 == 1
			if err := m.Accept(token); (err == nil) != allowed {
				t.Fatalf("%s: %q at %d: the mask says %v, the matcher %v", schema, text, i, allowed, err)
			}
			if !allowed {
				return
			}
		}
	})
}
