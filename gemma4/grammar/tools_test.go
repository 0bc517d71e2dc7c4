package grammar

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// callVocabulary is testVocabulary with the control tokens of calls.
func callVocabulary(t testing.TB) (*Vocabulary, Controls) {
	t.Helper()
	v := testVocabulary(t)
	n := v.Len()
	pieces := append(v.pieces[:n:n], make([][]byte, 6)...)
	for _, text := range []string{"call:", "call:f{", `{x:`, ",x:1", "1}", "None"} {
		pieces = append(pieces, []byte(text))
	}
	controls := Controls{CallOpen: n, CallClose: n + 1, Quote: n + 2, Response: n + 3, ChannelOpen: n + 4,
		ChannelClose: n + 5}
	out, err := NewVocabularyWith(pieces, []int{n - 1}, controls)
	if err != nil {
		t.Fatal(err)
	}
	return out, controls
}

// callTokens splits a text into bytes and control tokens.
func callTokens(c Controls, text string) (tokens []int) {
	spelt := map[string]int{"<|tool_call>": c.CallOpen, "<tool_call|>": c.CallClose, `<|"|>`: c.Quote,
		"<|tool_response>": c.Response, "<|channel>": c.ChannelOpen, "<channel|>": c.ChannelClose}
next:
	for len(text) > 0 {
		for s, id := range spelt {
			if strings.HasPrefix(text, s) {
				tokens, text = append(tokens, id), text[len(s):]
				continue next
			}
		}
		tokens, text = append(tokens, 1+int(text[0])), text[1:]
	}
	return tokens
}

// fitsTokens tells whether an answer is accepted, token by token, as its masks say.
func fitsTokens(t *testing.T, c *Constraint, tokens []int) bool {
	t.Helper()
	m := c.New()
	for _, token := range tokens {
		ok := allowed(t, m)[token]
		if err := m.Accept(token); (err == nil) != ok {
			t.Fatalf("token %d: the mask says %v, the matcher %v", token, ok, err)
		} else if !ok {
			return false
		}
	}
	return m.Done()
}

const weather = `{"type": "OBJECT", "properties": {"place": {"type": "STRING", "minLength": 1},
	"days": {"type": "integer", "minimum": 1}, "unit": {"enum": ["C", "F", null]}, "a:b": {"type": "boolean"}},
	"required": ["place"]}`

func TestTools(t *testing.T) {
	v, controls := callVocabulary(t)
	declared := []Declaration{{Name: "weather", Parameters: weather}, {Name: "now"},
		{Name: "any", Parameters: `{"type": "object"}`}}
	const now, oslo = `<|tool_call>call:now{}<tool_call|>`, `<|tool_call>call:weather{place:<|"|>Oslo<|"|>}<tool_call|>`
	auto := Tools{Declarations: declared}
	parallel, required, named := auto, auto, auto
	parallel.Parallel = true
	required.Choice = ToolRequired
	named.Choice, named.Name = ToolNamed, "now"
	for _, test := range []struct {
		name   string
		form   Form
		fit    []string
		refuse []string
	}{
		{"auto", Form{Tools: &auto}, []string{"", "Hi é\n", now, oslo, "I look." + now, now + "<|tool_response>"},
			[]string{now + now, now + "x", "<|tool_response>", "<|channel>x<channel|>", `<|"|>`, now[:20],
				"<|tool_call>call:other{}<tool_call|>"}},
		{"parallel", Form{Tools: &parallel}, []string{"x" + now + oslo + now + "<|tool_response>"},
			[]string{now + "x" + now}},
		{"required", Form{Tools: &required}, []string{now, oslo}, []string{"", "Hi", "x" + now}},
		{"named", Form{Tools: &named}, []string{now}, []string{"", oslo}},
		{"none", Form{Tools: &Tools{Declarations: declared, Choice: ToolNone}}, []string{"", "x"}, []string{now}},
		{"thought", Form{Tools: &required, Thought: true}, []string{now, "<|channel>thought\n{\"é<channel|>" + now},
			[]string{"<|channel>x" + now, "<|channel>x<channel|>y" + now}},
		{"thought before JSON", Form{JSON: true, Thought: true}, []string{"<|channel>thought\nx<channel|>{}", "1"},
			[]string{"<|channel>x<channel|>", "x<channel|>1", "1<|channel>x<channel|>"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := compile(t, v, test.form)
			for _, text := range test.fit {
				if !fitsTokens(t, c, callTokens(controls, text)) {
					t.Errorf("%q does not fit", text)
				}
			}
			for _, text := range test.refuse {
				if fitsTokens(t, c, callTokens(controls, text)) {
					t.Errorf("%q fits", text)
				}
			}
		})
	}
}

func TestCallArguments(t *testing.T) {
	v, controls := callVocabulary(t)
	for _, test := range []struct {
		parameters string
		fit        []string
		refuse     []string
	}{
		{weather, []string{`place:<|"|>{"x", <tool}: \<|"|>`, `days:2,place:<|"|>x<|"|>,unit:None`,
			`<|"|>a:b<|"|>:true,place:<|"|>é<|"|>,unit:<|"|>F<|"|>`, `place:<|"|>x<|"|>,unit:null`},
			[]string{``, `place:<|"|><|"|>`, `place:"x"`, `place:<|"|>x<|"|>,days:1`, `days:0,place:<|"|>x<|"|>`,
				`place: <|"|>x<|"|>`, `place:<|"|>x<|"|>,z:1`, `a:b:true,place:<|"|>x<|"|>`, `place:<|"|>x<|"|>,`}},
		{`{"properties": {"days": {"type": "integer"}, "Place": {"type": "string"}}}`,
			[]string{``, `days:2,Place:<|"|>x<|"|>`, `Place:<|"|><|"|>`}, []string{`Place:<|"|>x<|"|>,days:2`,
				`place:<|"|><|"|>`}},
		{`{"properties": {"o": {"const": {"b": [1, "x\n", null], "A": true}}, "s": {"pattern": "^\"a+\n$"}}}`,
			[]string{`o:{A:true,b:[1,<|"|>x` + "\n" + `<|"|>,None]}`, `s:<|"|>"aa` + "\n" + `<|"|>`},
			[]string{`o:{b:[1,<|"|>x` + "\n" + `<|"|>,None],A:true}`, `s:<|"|>"aa<|"|>`}},
		{`{"type": "object"}`, []string{``, `x:1,a.b-c:{y:[]},é:<|"|><|"|>`, `z:None,a:false`},
			[]string{`a b:1`, `:1`, `"x":1`, `x:"y"`, `x:1;`, `a,b:1`}},
		{`{"additionalProperties": {"type": "integer"}, "patternProperties": {"^s_": {"type": "string"}}, ` +
			`"maxProperties": 2}`,
			[]string{`a:1,s_x:<|"|>y<|"|>`}, []string{`s_x:1`, `a:<|"|>y<|"|>`, `a:1,b:2,c:3`}},
		{`{"properties": {"a": true}, "allOf": [{"properties": {"b": true}}], "required": ["b"]}`,
			[]string{`a:1,b:2`, `b:2`}, []string{`b:2,c:3`}},
		{`{"$defs": {"t": {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"}`,
			[]string{`t:{t:{t:{}}}`}, []string{`t:1`}},
	} {
		tools := &Tools{Declarations: []Declaration{{Name: "f", Parameters: test.parameters}}, Choice: ToolRequired}
		c := compile(t, v, Form{Tools: tools})
		text := func(arguments string) []int {
			return callTokens(controls, "<|tool_call>call:f{"+arguments+"}<tool_call|>")
		}
		for _, arguments := range test.fit {
			if !fitsTokens(t, c, text(arguments)) {
				t.Errorf("%s: %s does not fit", test.parameters, arguments)
			}
		}
		for _, arguments := range test.refuse {
			if fitsTokens(t, c, text(arguments)) {
				t.Errorf("%s: %s fits", test.parameters, arguments)
			}
		}
		for seed := range uint64(4) {
			walk(t, c, rand.New(rand.NewPCG(seed, 7)), 40)
		}
	}
}

func TestToolsRefused(t *testing.T) {
	v, controls := callVocabulary(t)
	one := []Declaration{{Name: "f"}}
	for _, test := range []struct {
		name  string
		v     *Vocabulary
		tools Tools
		want  error
		says  string
	}{
		{"no tokens", testVocabulary(t), Tools{Declarations: one}, ErrVocabulary, "NewVocabularyWith"},
		{"none required", v, Tools{Choice: ToolRequired}, ErrChoice, "no function"},
		{"unknown", v, Tools{Declarations: one, Choice: ToolNamed, Name: "g"}, ErrChoice, `"g"`},
		{"twice", v, Tools{Declarations: append(one[:1:1], one...)}, ErrSyntax, "twice"},
		{"no name", v, Tools{Declarations: []Declaration{{}}}, ErrSyntax, `""`},
		{"bytes", v, Tools{Declarations: []Declaration{{Name: "f\xff"}}}, ErrSyntax, "cannot be called"},
		{"choice", v, Tools{Choice: 9}, ErrChoice, "9"},
		{"keyword", v, Tools{Declarations: []Declaration{{Name: "f",
			Parameters: `{"properties": {"a": {"$dynamicRef": "#"}}}`}}},
			ErrUnsupported, `function "f"`},
		{"no object", v, Tools{Declarations: []Declaration{{Name: "f", Parameters: `{"type": "string"}`}},
			Choice: ToolRequired},
			ErrUnsatisfiable, ""},
	} {
		_, err := Compile(t.Context(), test.v, Form{Tools: &test.tools})
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %v with %q", test.name, err, test.want, test.says)
		}
	}
	if _, err := Compile(t.Context(), testVocabulary(t), Form{JSON: true, Thought: true}); !errors.Is(err, ErrVocabulary) {
		t.Error(err)
	}
	if _, err := Compile(t.Context(), v, Form{Choice: []string{"\xff"}}); !errors.Is(err, ErrSyntax) {
		t.Error(err)
	}
	for _, change := range []func(*Controls, *[]int){
		func(c *Controls, _ *[]int) { c.Quote = c.CallOpen }, func(c *Controls, _ *[]int) { c.Quote = -1 },
		func(c *Controls, ends *[]int) { *ends = append(*ends, c.CallClose) },
	} {
		c, ends := controls, []int{0}
		change(&c, &ends)
		if _, err := NewVocabularyWith(v.pieces, ends, c); !errors.Is(err, ErrVocabulary) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestForcedControl(t *testing.T) {
	v, controls := callVocabulary(t)
	declared := []Declaration{{Name: "f", Parameters: `{"properties": {"s": {"const": "x"}}, "required": ["s"]}`}}
	m := compile(t, v, Form{Tools: &Tools{Declarations: declared, Choice: ToolRequired}}).New()
	var got []string
	for !m.Done() {
		if token, ok := m.ForcedControl(); ok {
			got = append(got, fmt.Sprint(token-controls.CallOpen))
			if err := m.Accept(token); err != nil {
				t.Fatal(err)
			}
			continue
		}
		forced, err := m.Forced()
		if err != nil || len(forced) == 0 {
			t.Fatal(got, forced, err)
		}
		got = append(got, string(forced))
		for _, b := range forced {
			if err := m.Accept(1 + int(b)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := "0 call:f{s: 2 x 2 } 1"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An answer makes calls, or looks like the form that stands beside them.
func TestToolsBesideAForm(t *testing.T) {
	v, controls := callVocabulary(t)
	const call = `<|tool_call>call:f{x:1}<tool_call|>`
	tools := func(choice ToolChoice) Form {
		return Form{Choice: []string{"yes", "no"}, Tools: &Tools{Choice: choice, Declarations: []Declaration{{Name: "f",
			Parameters: `{"type":"object","properties":{"x":{"const":1}},"required":["x"]}`}}}}
	}
	for _, tt := range []struct {
		choice ToolChoice
		text   string
		want   bool
	}{
		{ToolAuto, "yes", true}, {ToolAuto, call, true}, {ToolAuto, "maybe", false}, {ToolAuto, "yes" + call, false},
		{ToolNone, "no", true}, {ToolNone, call, false}, {ToolRequired, call, true}, {ToolRequired, "yes", false},
	} {
		c, err := Compile(t.Context(), v, tools(tt.choice))
		if err != nil {
			t.Fatal(err)
		}
		if got := fitsTokens(t, c, callTokens(controls, tt.text)); got != tt.want {
			t.Errorf("choice %d, %s: %v", tt.choice, tt.text, got)
		}
	}
	if _, err := Compile(t.Context(), v, Form{JSON: true, Regex: "x", Tools: &Tools{}}); !errors.Is(err, ErrSyntax) {
		t.Errorf("three forms: %v", err)
	}
}
