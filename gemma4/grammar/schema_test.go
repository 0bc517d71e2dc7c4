package grammar

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestSchemas(t *testing.T) {
	v := testVocabulary(t)
	const draft4 = `"$schema": "http://json-schema.org/draft-04/schema#", `
	for _, test := range []struct {
		schema      string
		fit, refuse []string
	}{
		{`true`, []string{`1`, `{"a": [null]}`}, []string{``, `{`}},
		{`{"type": ["integer", "null"]}`, []string{`0`, `-12`, `null`}, []string{`1.5`, `01`, `"1"`, `true`}},
		{`{"type": "number", "not": {"type": "integer"}}`, []string{`1.5`, `-0.25`}, []string{`1`, `1.0`, `"a"`}},
		{`{"type": "string", "nullable": true}`, []string{`"x"`, `null`}, []string{`1`}},
		{`{"enum": ["a", 1.0, null, {"k": [1, 2]}]}`,
			[]string{`"a"`, `1`, `1.0`, `null`, `{ "k" :[1 ,2]}`}, []string{`"b"`, `2`, `{"k": [1]}`}},
		{`{"const": "ü\n\"", "type": "string"}`, []string{`"ü\n\""`}, []string{`"ü"`}},
		{`{"enum": [1, 2, 3, "x"], "type": "integer", "minimum": 2}`, []string{`2`, `3`}, []string{`1`, `"x"`}},

		{`{"type": "integer", "minimum": -7, "maximum": 120}`,
			[]string{`-7`, `0`, `-0`, `9`, `99`, `120`}, []string{`-8`, `121`, `1000`, `1.5`, `-70`}},
		{`{"minimum": 0.25, "exclusiveMaximum": 10, "type": "number"}`,
			[]string{`0.25`, `0.3`, `9`, `9.999`, `1.0`}, []string{`0.2`, `0.24999`, `0`, `10`, `10.0`, `-1`, `0.249`}},
		{`{` + draft4 + `"minimum": 5, "exclusiveMinimum": true, "type": "number"}`,
			[]string{`5.1`, `5.001`, `6`, `50`}, []string{`5`, `5.0`, `4`, `-6`}},
		{`{"exclusiveMinimum": -2.5, "maximum": -0.5, "type": "number"}`,
			[]string{`-2.4`, `-0.5`, `-1`, `-2.49`}, []string{`-2.5`, `-0.4`, `0`, `1`, `-3`}},
		{`{"type": "integer", "multipleOf": 6, "minimum": 1}`, []string{`6`, `12`, `600`}, []string{`0`, `3`, `8`}},
		{`{"multipleOf": 1000003, "minimum": -3000009, "exclusiveMaximum": 10000030}`,
			[]string{`0`, `9000027`, `-3000009`, `2000006.00`}, []string{`10000030`, `1000004`, `2000006.5`, `-4000012`}},
		{`{"multipleOf": 1234.5678, "exclusiveMinimum": 0, "maximum": 12345.678}`,
			[]string{`1234.5678`, `12345.6780`, `6172.839`}, []string{`0`, `13580.2458`, `1234.5679`}},
		{`{"allOf": [{"multipleOf": 60}, {"multipleOf": 0.75}, {"multipleOf": 14}], "type": "integer"}`,
			[]string{`420`, `-840`, `0`}, []string{`60`, `42`, `421`}},
		{`{"const": "a", "enum": ["b", "a"]}`, []string{`"a"`}, []string{`"b"`}},
		{`{"enum": [100, null], "const": 100, "type": "integer"}`, []string{`100`}, []string{`null`}},
		{`{"minimum": 3, "exclusiveMinimum": true, "maximum": 5}`, []string{`4`, `5`}, []string{`3`}},
		{`{"type": "string", "pattern": "^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$"}`, []string{`"1.5"`, `"-7"`},
			[]string{`"."`, `"-"`}},
		{`{"type": "string", "pattern": "^\\u{1F600}\\uD83D\\uDE00[\\u0061-c]$"}`, []string{`"😀😀b"`}, []string{`"😀b"`}},
		{`{"type": "string", "pattern": "^\\p{Script=Greek}\\p{gc=Lu}\\P{L}$"}`, []string{`"αA1"`},
			[]string{`"aA1"`, `"αa1"`}},
		{`{"type": "number", "multipleOf": 0.05}`, []string{`0.05`, `-1.10`, `3`, `0`}, []string{`0.01`, `0.052`}},
		{`{"type": "integer", "not": {"enum": [3, 5]}}`, []string{`4`, `33`, `-3`}, []string{`3`, `5`}},

		{`{"type": "string", "minLength": 2, "maxLength": 3}`,
			[]string{`"ab"`, `"日本語"`, `"\u00e9\n"`, `"\ud83d\ude00a"`}, []string{`"a"`, `"abcd"`, `""`}},
		{`{"type": "string", "minLength": 3, "maxLength": 2}`, nil, nil},
		{`{"type": "string", "pattern": "b+"}`, []string{`"abc"`, `"b"`, `"\"b\""`}, []string{`"ac"`, `""`}},
		{`{"type": "string", "pattern": "^a|b$"}`, []string{`"ax"`, `"xb"`, `"a"`}, []string{`"xa"`, `"bx"`}},
		{`{"type": "string", "pattern": "^(a|^)\\d$"}`, nil, nil},
		{`{"type": "string", "pattern": "^(?!ab)[a-c]{2}$"}`, []string{`"aa"`, `"ba"`}, []string{`"ab"`, `"abc"`}},
		{`{"type": "string", "pattern": "^[\\S]+[\\s\\S][^\\S]$"}`, []string{`"ab "`, `"a  "`}, []string{`"abc"`, `"  "`}},
		{`{"type": "string", "pattern": "^\\S+\\s\\S+$"}`, []string{`"a b"`, `"a b"`}, []string{`"ab"`}},
		{`{"type": "string", "pattern": "^[^\"\\\\]\\\"\\/$"}`, []string{`"a\"/"`}, []string{`"\"\"/"`, `"a\"\/"`}},
		{`{"type": "string", "not": {"pattern": "x"}, "maxLength": 3}`, []string{`"abc"`, `""`}, []string{`"axb"`, `"abcd"`}},
		{`{"type": "string", "format": "date"}`,
			[]string{`"2024-02-29"`, `"2000-02-29"`, `"1999-12-31"`}, []string{`"2023-02-29"`, `"1900-02-29"`, `"2023-13-01"`}},
		{`{"type": "string", "format": "date-time"}`,
			[]string{`"2024-02-29T23:59:59.5Z"`, `"2024-02-29t00:00:00+02:00"`}, []string{`"2024-02-29"`,
				`"2024-02-29T24:00:00Z"`}},
		{`{"type": "string", "format": "ipv6"}`, []string{`"::"`, `"1::8"`, `"::ffff:1.2.3.4"`, `"1:2:3:4:5:6:7:8"`},
			[]string{`"1:2:3:4:5:6:7:8:9"`, `":1"`, `"1::2::3"`, `"12345::"`}},
		{`{"type": "string", "format": "email"}`, []string{`"a.b@c.de"`}, []string{`"a.b"`, `"a@b@c"`, `".a@b.c"`}},
		{`{"type": "string", "format": "uri"}`, []string{`"https://a.b/c?d#e"`, `"urn:x:y"`}, []string{`"/a"`, `"a b:c"`}},
		{`{"type": "string", "format": "colour"}`, []string{`"any"`}, []string{`1`}},

		{`{"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}`,
			[]string{`[1]`, `[1, 2,3]`}, []string{`[]`, `[1,2,3,4]`, `["a"]`, `[1,]`}},
		{`{"type": "array", "prefixItems": [{"type": "string"}, true], "items": false}`,
			[]string{`[]`, `["a"]`, `["a", 1]`}, []string{`[1]`, `["a", 1, 2]`}},
		{`{` + draft4 + `"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}`,
			[]string{`["a", null, null]`}, []string{`["a", 1]`}},
		{`{"type": "array", "contains": {"const": 7}, "items": {"type": "integer"}}`,
			[]string{`[7]`, `[1, 7, 2]`}, []string{`[]`, `[1]`, `[7, "a"]`}},
		{`{"type": "array", "uniqueItems": true, "maxItems": 1}`, []string{`[]`, `[3]`}, []string{`[3, 4]`}},

		{`{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["b"]}`,
			[]string{`{"a": 1, "b": "x"}`, `{"b": "x"}`, `{"b":"x","c":null}`},
			[]string{`{}`, `{"a": 1}`, `{"b": "x", "a": 1}`, `{"b": "x", "b": 1}`, `{"a": 1.5, "b": "x"}`, `{"b":"x",}`,
				`{"b":"x", "\u0061": "s"}`}},
		{`{"type": "object", "properties": {"a": true}, "additionalProperties": false}`,
			[]string{`{}`, `{"a": [1]}`}, []string{`{"b": 1}`, `{"a": 1, "a": 2}`}},
		{`{"type": "object", "patternProperties": {"^n_": {"type": "number"}, "_s$": {"type": ["string", "number"]}},
			"additionalProperties": {"type": "null"}}`,
			[]string{`{"n_1": 1, "x_s": "a", "n_s": 2, "z": null}`}, []string{`{"n_1": "a"}`, `{"n_s": "a"}`, `{"z": 1}`}},
		{`{"type": "object", "minProperties": 1, "maxProperties": 2, "properties": {"a": true, "b": true}}`,
			[]string{`{"a": 1}`, `{"a": 1, "z": 2}`, `{"y": 1, "z": 2}`}, []string{`{}`, `{"a": 1, "b": 2, "c": 3}`}},
		{`{"type": "object", "minProperties": 2, "properties": {"a": true}, "required": ["a"]}`,
			[]string{`{"a": 1, "z": 2}`}, []string{`{"a": 1}`, `{"y": 1, "z": 2}`}},
		{`{"type": "object", "minProperties": 2, "propertyNames": {"enum": ["a", "b", "c"]}}`,
			[]string{`{"a": 1, "c": 2}`, `{"a": 1, "b": 2, "c": 3}`},
			[]string{`{"a": 1}`, `{"a": 1, "a": 2}`, `{"a": 1, "d": 2}`}},
		{`{"type": "object", "propertyNames": {"maxLength": 2}}`, []string{`{"ab": 1}`, `{}`}, []string{`{"abc": 1}`}},
		{`{"type": "object", "dependentRequired": {"a": ["b"]}, "properties": {"a": true, "b": true}}`,
			[]string{`{"a": 1, "b": 2}`, `{"b": 2}`, `{}`}, []string{`{"a": 1}`}},
		{`{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["z", "a"]}`,
			[]string{`{"a": "x", "z": 1}`}, []string{`{"a": "x"}`}},

		{`{"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"minimum": 3}},
			"required": ["a"]}]}`, []string{`{"a": 3}`}, []string{`{"a": 2}`, `{}`, `3`}},
		{`{"type": "integer", "anyOf": [{"minimum": 10}, {"maximum": 0}]}`, []string{`10`, `-3`, `0`}, []string{`5`, `"a"`}},
		{`{"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}]}`,
			[]string{`2`, `3`, `9`}, []string{`6`, `0`, `5`}},
		{`{"type": "object", "properties": {"a": true, "b": true}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}`,
			[]string{`{"a": 1}`, `{"b": 1}`}, []string{`{}`, `{"a": 1, "b": 2}`}},
		{`{"type": "object", "properties": {"k": {"enum": ["x", "y"]}, "v": true}, "required": ["k"],
			"if": {"properties": {"k": {"const": "x"}}}, "then": {"properties": {"v": {"type": "integer"}}, "required": ["v"]},
			"else": {"properties": {"v": false}}}`,
			[]string{`{"k": "x", "v": 1}`, `{"k": "y"}`}, []string{`{"k": "x"}`, `{"k": "x", "v": "s"}`, `{"k": "y", "v": 1}`}},
		{`{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"v": {"type": "integer"},
			"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["v"], "additionalProperties": false}}}`,
			[]string{`{"v": 1}`, `{"v": 1, "kids": [{"v": 2, "kids": []}]}`}, []string{`{"kids": []}`,
				`{"v": 1, "kids": [{}]}`}},
		{`{"items": {"enum": ["a", 1, 1.0, "b"]}, "uniqueItems": true, "minItems": 1, "type": "array"}`,
			[]string{`["a"]`, `[1, "b", "a"]`, `["b", 1]`}, []string{`[]`, `["a", "a"]`, `[1, 1]`, `["b", 1, "b"]`}},
		{`{"items": {"anyOf": [{"type": "boolean"}, {"const": 3}]}, "uniqueItems": true, "type": "array", "maxItems": 3}`,
			[]string{`[]`, `[true, 3, false]`, `[3, true]`}, []string{`[3, 3]`, `[true, false, true]`, `[null]`}},
		{`{"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 3}`,
			[]string{`[1, 1]`, `[0, 1, 2, 1, 1, 3]`}, []string{`[1]`, `[1, 1, 1, 1]`, `[]`}},
		{`{"type": "array", "allOf": [{"contains": {"type": "null"}}, {"contains": {"minimum": 5, "type": "integer"}}]}`,
			[]string{`[null, 5]`, `[7, 1, null]`}, []string{`[null]`, `[5, 5]`, `[4, null]`}},
		{`{"type": "array", "not": {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}}`,
			[]string{`[1]`, `["a", 1, null]`}, []string{`["a"]`, `["a", 1, 2]`, `[]`}},
		{`{"type": "array", "not": {"contains": {"type": "null"}, "maxContains": 2}}`,
			[]string{`[]`, `[1]`, `[null, null, null]`}, []string{`[null]`, `[null, 1, null]`}},
		{`{"type": "object", "not": {"properties": {"a": true}, "additionalProperties": {"type": "integer"}},
			"maxProperties": 1}`, []string{`{"b": null}`}, []string{`{}`, `{"a": null}`, `{"b": 1}`, `{"b": null, "c": 1}`}},
		{`{"type": "object", "not": {"patternProperties": {"^s_": {"type": "string"}}}, "maxProperties": 1}`,
			[]string{`{"s_1": 1}`, `{"s_": null}`}, []string{`{}`, `{"s_1": "x"}`, `{"a": 1}`}},
		{`{"type": "object", "not": {"propertyNames": {"anyOf": [{"maxLength": 1}, {"pattern": "^a"}]}}}`,
			[]string{`{"bb": 1}`, `{"c": 1, "abc": 2, "bbb": 1}`}, []string{`{}`, `{"b": 1, "ab": 2}`}},
		{`{"oneOf": [{"type": "object", "properties": {"k": {"type": "integer"}}, "additionalProperties": false},
			{"type": "object", "additionalProperties": {"type": "integer"}}]}`,
			[]string{`{"x": 1}`, `{"k": 1, "x": 2}`}, []string{`{}`, `{"k": 1}`, `{"k": "x"}`}},
		{`{"$id": "https://a.b/x/root", "$ref": "y", "$defs": {"y": {"$id": "y", "items": {"$ref": "#/$defs/z"},
			"type": "array", "$defs": {"z": {"type": "null"}}}}}`, []string{`[null]`, `[]`}, []string{`[1]`, `null`}},
		{`{"$defs": {"real": {"$anchor": "n", "type": "null"}}, "$ref": "#n", "default": {"$anchor": "n", "type": ` +
			`"integer"}}`,
			[]string{`null`}, []string{`1`}},
		{`{"type": "string", "format": "email"}`, []string{`"a.b@c.d"`, `"\"a b\"@c.d"`, `"a@[IPv6:::1]"`, `"a@[1.2.3.4]"`},
			[]string{`"a b@c.d"`, `"a@[IPv6:1]"`}},
		{`{"type": "string", "format": "hostname"}`, []string{`"a"`, `"ab"`, `"a-b"`, `"a--b"`, `"abcd"`, `"a-b-c.d"`,
			`"abc-d"`, `"abcd--e"`, `"a--bc"`, `"` + strings.Repeat("a", 63) + `.b"`},
			[]string{`"-a"`, `"a-"`, `"ab--c"`, `"xn--x"`, `"ab-"`, `"abc-"`, `"abcd-"`, `"` + strings.Repeat("a", 64) + `"`}},
		{`{"$ref": "#n", "$defs": {"x": {"$anchor": "n", "type": "null"}}}`, []string{`null`}, []string{`1`}},
		{`{"$id": "https://a.b/c", "$ref": "https://a.b/c#/$defs/a~1b", "$defs": {"a/b": {"type": "null"}}}`,
			[]string{`null`}, []string{`1`}},
	} {
		c, err := Compile(t.Context(), v, Form{Schema: test.schema})
		if test.fit == nil {
			if err == nil {
				t.Errorf("%s: not refused", test.schema)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.schema, err)
			continue
		}
		for _, text := range test.fit {
			if !fits(t, c, text) {
				t.Errorf("%s: %s does not fit", test.schema, text)
			}
		}
		for _, text := range test.refuse {
			if fits(t, c, text) {
				t.Errorf("%s: %s fits", test.schema, text)
			}
		}
	}
}

// TestMasksOfCounts holds masks to what is accepted, token by token, where characters are counted.
func TestMasksOfCounts(t *testing.T) {
	v := testVocabulary(t)
	for _, schema := range []string{
		`{"type": "string", "maxLength": 3}`, `{"type": "string", "minLength": 9, "maxLength": 12}`,
		`{"type": "string", "minLength": 2, "maxLength": 200}`, `{"type": "string", "minLength": 30}`,
		`{"type": "string", "pattern": "^a{2,40}b{0,30}$"}`,
		`{"type": "string", "pattern": "^a{0,40}$", "allOf": [{"pattern": "^(aa){3,6}$"}]}`,
	} {
		c := compile(t, v, Form{Schema: schema})
		for seed := range uint64(3) {
			walk(t, c, rand.New(rand.NewPCG(seed, 1)), 60)
		}
	}
}

// Many if beside each other, each of which asks for another value of one property, are few rules: whether the property
// is required in each, of all, or nowhere.
func TestManyIfs(t *testing.T) {
	const count = 40
	v := testVocabulary(t)
	for _, within := range []string{"", `, "required": ["kind"]`} {
		for _, above := range []string{"", `"required": ["kind"], `} {
			var ifs []string
			for i := range count {
				ifs = append(ifs, fmt.Sprintf(`{"if": {"properties": {"kind": {"const": "k%d"}}%s},
					"then": {"properties": {"zip": {"pattern": "^[0-9]{%d}$"}}}}`, i, within, i+1))
			}
			c := compile(t, v, Form{Schema: `{"type": "object", "properties": {"kind": {"type": "string"},
				"zip": {"type": "string"}}, ` + above + `"allOf": [` + strings.Join(ifs, ",") + `]}`})
			if rules := len(c.machine.prog.rules); rules > 4*count*count {
				t.Errorf("%d if make %d rules", count, rules)
			}
			for text, fit := range map[string]bool{`{"kind": "k2", "zip": "123"}`: true, `{"kind": "k2", "zip": "12"}`: false,
				`{"kind": "k9", "zip": "0123456789"}`: true, `{"kind": "other", "zip": "z"}`: true,
				`{}`: above == "", `{"zip": "12"}`: above == "" && within != ""} {
				if fits(t, c, text) != fit {
					t.Errorf("%s%s: %s fits: %v", within, above, text, !fit)
				}
			}
		}
	}
}

func TestAnyOrder(t *testing.T) {
	v := testVocabulary(t)
	var props, required []string
	for i := range 40 {
		props = append(props, fmt.Sprintf(`"p%d": {"type": "integer"}`, i))
	}
	for _, i := range []int{3, 20, 39} {
		required = append(required, fmt.Sprintf(`"p%d"`, i))
	}
	schema := `{"type": "object", "maxProperties": 5, "properties": {` + strings.Join(props, ", ") + `}, "required": [` +
		strings.Join(required, ", ") + `]}`
	free := compile(t, v, Form{Schema: schema, AnyOrder: true})
	for text, want := range map[string]bool{
		`{"p39": 1, "p3": 2, "p20": 3}`:                             true,
		`{"x": "y", "p20": 1, "p0": 1, "p3": 2, "p39": 3}`:          true,
		`{"p39": 1, "p3": 2}`:                                       false,
		`{"p39": 1, "p39": 1, "p3": 2, "p20": 3}`:                   false,
		`{"a": 1, "b": 1, "c": 1, "p39": 1, "p3": 2, "p20": 3}`:     false,
		`{"p39": 1, "p3": 2, "p20": 3, "p1": 1, "p2": 2, "p4": 3}`:  false,
		`{"p39": 1, "p3": 2, "p20": 3, "p1": "a", "p2": 2}`:         false,
		`{"p1": 1, "p2": 1, "p39": 1, "p3": 2, "p20": 3}`:           true,
		`{"p1": 1, "p2": 1, "p4": 1, "p39": 1, "p3": 2, "p20": 3 }`: false,
	} {
		if fits(t, free, text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
	listed := compile(t, v, Form{Schema: `{"enum": [{"a": 1, "b": [2], "c": {}}]}`, AnyOrder: true})
	if !fits(t, listed, `{"c": {}, "a": 1, "b": [2]}`) || fits(t, listed, `{"c": {}, "a": 1}`) ||
		fits(t, listed, `{"c": {}, "a": 1, "a": 1}`) {
		t.Error("a listed object in any order")
	}
	if fits(t, compile(t, v, Form{Schema: schema}), `{"p39": 1, "p3": 2, "p20": 3}`) {
		t.Error("an order that is not the schema's fits without AnyOrder")
	}
}

// TestSchemasRefused checks that what cannot be honoured is an error that names the keyword and its place.
func TestSchemasRefused(t *testing.T) {
	v := testVocabulary(t)
	deep := strings.Repeat(`{"not":`, 10000) + `true` + strings.Repeat(`}`, 10000)
	var wide []string
	for i := range 24 {
		wide = append(wide, fmt.Sprintf(`{"anyOf": [{"required": ["a%d"]}, {"required": ["b%d"]}]}`, i, i))
	}
	for _, test := range []struct {
		name, schema string
		want         error
		says         string
	}{
		{"no json", `{"type": }`, ErrSyntax, "byte"},
		{"two values", `{} {}`, ErrSyntax, "behind the end"},
		{"no schema", `[1]`, ErrSyntax, "#"},
		{"type", `{"properties": {"a": {"type": "text"}}}`, ErrSyntax, "#/properties/a/type"},
		{"ref", `{"$ref": "#/$defs/x"}`, ErrSyntax, "#/$defs/x"},
		{"remote ref", `{"items": {"$ref": "https://x.y/z"}}`, ErrUnsupported, "#/items/$ref"},
		{"unique", `{"properties": {"a~b": {"items": {"type": "string"}, "uniqueItems": true}}}`, ErrUnsupported,
			"#/properties/a~0b/uniqueItems"},
		{"unevaluated", `{"unevaluatedProperties": false}`, ErrUnsupported, "unevaluatedProperties"},
		{"dynamic", `{"$dynamicRef": "#x"}`, ErrUnsupported, "$dynamicRef"},
		{"format", `{"format": "idn-email"}`, ErrUnsupported, "idn-email"},
		{"pattern", `{"type": "string", "pattern": "(?<=a)b"}`, ErrUnsupported, "(?<=a)b"},
		{"boundary", `{"type": "string", "pattern": "\\bx"}`, ErrUnsupported, "#/pattern"},
		{"draft 3", `{"$schema": "http://json-schema.org/draft-03/schema#"}`, ErrUnsupported, "draft 3"},
		{"nothing", `false`, ErrUnsatisfiable, ""},
		{"no JSON", `{"a": hello}`, ErrSyntax, "the schema is not valid JSON at byte 6: invalid character 'h'"},
		{"contradiction", `{"type": "integer", "minimum": 3, "maximum": 2}`, ErrUnsatisfiable,
			"at #: type, minimum and maximum do not fit together"},
		{"a name that may not come", `{"type": "object", "required": ["a"], "additionalProperties": false}`, ErrUnsatisfiable,
			"at #: type, required and additionalProperties do not fit together"},
		{"two that could be one", `{"type": "object", "properties": {"a": true}, "minProperties": 2}`, ErrUnsupported,
			"at #: minProperties 2"},
		{"some that could be replaced", `{"type": "object", "not": {"additionalProperties": {"type": "string"}}}`,
			ErrUnsupported, "one name could come twice"},
		{"contradiction inside", `{"type": "object", "properties": {"a": {}, "b": {"items": {"const": 1, "type": "string"},
			"minItems": 1, "type": "array"}}, "required": ["a", "b"]}`, ErrUnsatisfiable, "at #/properties/b/items"},
		{"endless", `{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}`, ErrUnsatisfiable, ""},
		{"itself", `{"$ref": "#", "type": "integer"}`, ErrUnsupported, "at #/$ref: $ref leads back"},
		{"not itself", `{"not": {"$ref": "#"}}`, ErrUnsupported, "at #/not/$ref"},
		{"itself or else", `{"items": {"anyOf": [{"type": "null"}, {"$ref": "#/items"}]}}`, ErrUnsupported,
			"at #/items/anyOf/1/$ref"},
		{"circle", `{"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"oneOf": [{"$ref": "#/$defs/b"}]},
			"b": {"if": true, "then": {"dependentSchemas": {"x": {"$ref": "#/$defs/a"}}}}}}`, ErrUnsupported,
			"at #/$defs/b/then/dependentSchemas/x/$ref"},
		{"itself below", `{"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"$ref": "#/allOf/0"}]}`, nil, ""},
		{"deep", deep, ErrTooComplex, "levels"},
		{"large", `{"enum": ["` + strings.Repeat("x", maxForm) + `"]}`, ErrTooComplex, "bytes"},
		{"exponential", `{"items": {"type": "object", "allOf": [` + strings.Join(wide, ",") + `]}}`, ErrTooComplex,
			"at #/items: "},
		{"pattern of states", `{"type": "string", "pattern": "^(a|b)*a(a|b){20}$", "allOf": [{"pattern": ` +
			`"^(a|b)*b(a|b){20}$"}]}`,
			ErrTooComplex, "at #: "},
		{"pattern of states inside", `{"minItems": 1, "type": "array", "items": {"type": "string",
			"pattern": "(a|b)*a(a|b){18}$", "minLength": 5, "maxLength": 500}}`,
			ErrTooComplex, "at #/items: "},
		{"multiples", `{"type": "integer", "multipleOf": 982451653, "minimum": ` + "-1" +
			strings.Repeat("0", 60) + `, "maximum": 1` + strings.Repeat("0", 60) + `}`, ErrUnsupported,
			"at #/multipleOf: multipleOf 982451653 has over 4096 multiples"},
		{"multiples without an end", `{"type": "integer", "minimum": 0, "multipleOf": 1000003}`, ErrUnsupported,
			"at #/multipleOf: multipleOf 1000003 needs a minimum and a maximum"},
		{"no multiples", `{"type": "integer", "minimum": 0, "maximum": 9999999, "not": {"multipleOf": 1000003}}`,
			ErrUnsupported, "multipleOf: what is no multiple of 1000003"},
		{"exponent", `{"minimum": 1e999999999}`, ErrSyntax, "#/minimum"},
		{"no number", `{"minimum": "5"}`, ErrSyntax, "at #/minimum: minimum is a number"},
		{"no unique", `{"uniqueItems": "true"}`, ErrSyntax, "#/uniqueItems"},
		{"no format", `{"format": 5}`, ErrSyntax, "#/format"},
		{"const beside enum", `{"const": "a", "enum": ["b"]}`, ErrUnsatisfiable, ""},
		{"bytes", "{\"const\": \"a\xffb\"}", ErrSyntax, "not UTF-8 at byte 12"},
		{"half a character", `{"const": "\ud800"}`, ErrSyntax, "half a character"},
		{"other half", `{"const": "\udc00\ud800"}`, ErrSyntax, "half a character"},
		{"repeated lookahead", `{"type": "string", "pattern": "^(?!a)?b$"}`, ErrUnsupported, "a lookahead that is repeated"},
		{"lookahead inside", `{"type": "string", "pattern": "a(?!b)"}`, ErrUnsupported, "it looks ahead"},
		{"lookbehind", `{"type": "string", "pattern": "(?<=a)b"}`, ErrUnsupported, "it looks behind"},
		{"octal", `{"type": "string", "pattern": "^\\07$"}`, ErrUnsupported, "octal"},
		{"repeats", `{"type": "string", "pattern": "^a{1,5000}$"}`, ErrUnsupported, "more than 1000 times"},
		{"place of a pattern", `{"items": {"type": "string", "pattern": "^(a$|b)c$"}}`, ErrUnsupported,
			"not supported: at #/items/pattern: "},
	} {
		begun := time.Now()
		_, err := Compile(t.Context(), v, Form{Schema: test.schema})
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %v with %q", test.name, err, test.want, test.says)
		}
		t.Logf("%s: %v", test.name, time.Since(begun).Round(time.Millisecond))
	}
}

// Each character is either a space of ECMA-262 or none.
func TestSpaceOfECMA(t *testing.T) {
	space, none := regexp.MustCompile("^["+ecmaSpace+"]$"), regexp.MustCompile("^["+ecmaNotSpace+"]$")
	spaces := 0
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if !utf8.ValidRune(c) {
			continue
		}
		one := string(c)
		if space.MatchString(one) == none.MatchString(one) {
			t.Errorf("%U is both or neither", c)
		}
		if space.MatchString(one) {
			spaces++
		}
	}
	if spaces != 25 {
		t.Errorf("%d spaces", spaces)
	}
}

func TestSchemaSaysWhatLeavesNothing(t *testing.T) {
	v := testVocabulary(t)
	for _, schema := range []string{`{"type": []}`, `{"anyOf": []}`,
		`{"if": {"type": "boolean"}, "then": {"const": -1}, "else": {"type": "boolean"}}`} {
		_, err := Compile(t.Context(), v, Form{Schema: schema})
		if !errors.Is(err, ErrUnsatisfiable) || !strings.Contains(err.Error(), "at #: its keywords leave no value") {
			t.Errorf("%s: %v", schema, err)
		}
	}
}
