package chat_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/google/go-cmp/cmp"
)

func TestParseCall(t *testing.T) {
	for text, want := range map[string]string{
		`call:f{}`:                      `f {}`,
		`call:a.b-c{x:1}`:               `a.b-c {"x":1}`,
		`call:f{a:<|"|>x<|"|>}`:         `f {"a":"x"}`,
		`call:f{a:<|"|><|"|>}`:          `f {"a":""}`,
		`call:f{a:<|"|>{,:]"\<|"|>}`:    `f {"a":"{,:]\"\\"}`,
		"call:f{a:<|\"|>1\n<é>&<|\"|>}": `f {"a":"1\n<é>&"}`,
		`call:f{a:true,b:false,c:None,d:null,e:True,f:False}`: `f {"a":true,"b":false,"c":null,"d":null,"e":true,"f":false}`,
		`call:f{a:-1,b:2.50,c:1e+16,d:0}`:                     `f {"a":-1,"b":2.50,"c":1e+16,"d":0}`,
		`call:f{a:[1,[],{},[{b:1}]],c:{d:{e:[2]}}}`:           `f {"a":[1,[],{},[{"b":1}]],"c":{"d":{"e":[2]}}}`,
		` call:f { a : 1 , b : [ 1 , 2 ] , c : { } } `:        `f {"a":1,"b":[1,2],"c":{}}`,
		`call:f{a b:1,c,d:2,é:3}`:                             `f {"a b":1,"c,d":2,"é":3}`,
		`call:f{:1}`:                                          `f {"":1}`,
		`call:f{<|"|>a:b<|"|>:1}`:                             `f {"a:b":1}`,
		`call:f{"a":"x\n\"",b:"y"}`:                           `f {"a":"x\n\"","b":"y"}`,
		`call:f{{"a": 1}}`:                                    `f {"a":1}`,
		`call:f{ {} }`:                                        `f {}`,
	} {
		call, err := chat.ParseCall(text)
		if got := call.Name + " " + string(call.Arguments); err != nil || got != want {
			t.Errorf("%q is %s, %v (want %s)", text, got, err, want)
		}
	}
}

func TestParseCallErrors(t *testing.T) {
	for _, text := range []string{
		"", "call:", "call:f", "call:{}", "f{}", "call:f{", "call:f}", "call:f{}}", "call:f{} x", `call:<|"|>{}`,
		"call:f{a}", "call:f{a:}", "call:f{a:1", "call:f{a:1,}", "call:f{,}", "call:f{a:1 b:2}", "call:f{a::1}",
		"call:f{a:x}", "call:f{a:01}", "call:f{a:1.}", "call:f{a:NaN}", "call:f{a:inf}", "call:f{a:- 1}",
		"call:f{a:1 2}",
		"call:f{a:[1}", "call:f{a:[1,]}", "call:f{a:[}", "call:f{a:{}", "call:f{a:[1]]}", "call:f{a[:1}",
		`call:f{a:<|"|>x}`, `call:f{<|"|>a:1}`, `call:f{a<|"|>:1}`, `call:f{a:"x}`, `call:f{a:"\x"}`,
		`call:f{a:1<|"|>}`,
		`call:f{{"a":1}`, `call:f{{}1}`,
		"call:f{a:" + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + "}",
		"call:f" + strings.Repeat("{a:", 10000),
	} {
		if call, err := chat.ParseCall(text); !errors.Is(err, chat.ErrCall) {
			t.Errorf("%.60q is %s %.60s, %v", text, call.Name, call.Arguments, err)
		}
	}
}

// TestCallsComeBack renders random calls, encodes them as a model would write
// them, and parses the tokens.
func TestCallsComeBack(t *testing.T) {
	tok := nano(t)
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		arguments, err := json.Marshal(randomArguments(random, 0))
		if err != nil {
			t.Fatal(err)
		}
		prompt, err := chat.E2B.Render([]chat.Message{{Role: chat.Assistant,
			ToolCalls: []chat.ToolCall{{Name: "f", Arguments: arguments}}}}, chat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := prompt.Encode(tok, nil)
		if err != nil {
			t.Fatal(err)
		}
		head := len(tok.EncodeSpecial("<bos><|turn>model\n"))
		events := parse(t, tok, encoded.IDs[head:], chat.ParserOptions{})
		if len(events) != 2 || events[0].Kind != chat.CallEvent || events[1].Reason != chat.ReasonToolCalls {
			t.Fatalf("%s became %q", arguments, summary(events))
		}
		if diff := cmp.Diff(decode(t, arguments), decode(t, events[0].Call.Arguments)); diff != "" {
			t.Fatalf("%s (-in +out):\n%s", arguments, diff)
		}
	}
}

func decode(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

func randomArguments(random *rand.Rand, depth int) map[string]any {
	keys := []string{"a", "B", "c d", "é", "x_1", "k,l"}
	out := map[string]any{}
	for range random.IntN(4) {
		out[keys[random.IntN(len(keys))]] = randomValue(random, depth+1)
	}
	return out
}

func randomValue(random *rand.Rand, depth int) any {
	kinds := 6
	if depth > 3 {
		kinds = 4
	}
	switch random.IntN(kinds) {
	case 0:
		texts := []string{"", "Oslo", " a ", `"`, `<|"|>`, "<tool_call|>", "{a:1}", "é😀\n", `\`, "true"}
		return texts[random.IntN(len(texts))]
	case 1:
		return []float64{0, -1, 2.5, 1e300, 1e-9, 123456789}[random.IntN(6)]
	case 2:
		return random.IntN(2) == 0
	case 3:
		return nil
	case 4:
		list := []any{}
		for range random.IntN(4) {
			list = append(list, randomValue(random, depth+1))
		}
		return list
	default:
		return randomArguments(random, depth)
	}
}

// FuzzParseCall reads any text: JSON or an error comes out.
func FuzzParseCall(f *testing.F) {
	for _, text := range []string{
		`call:f{}`, `call:f{a:<|"|>x<|"|>,b:[1,2.5,{c:None}],d:true}`, `call:f{{"a": 1}}`, `call:f{"a":"\u00e9"}`,
		`call:f{a:}`, `call:f{<|"|>`, "call:f{a:[[[[", "call:\xff{\xff:\xff}", `call:f{ a : 1 }`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		call, err := chat.ParseCall(text)
		if err != nil {
			if !errors.Is(err, chat.ErrCall) {
				t.Fatal(err)
			}
			return
		}
		var arguments map[string]any
		if err := json.Unmarshal(call.Arguments, &arguments); err != nil &&
			!strings.Contains(err.Error(), "cannot unmarshal number") {
			t.Fatalf("%q became %s: %v", text, call.Arguments, err)
		}
		if call.Name == "" {
			t.Fatalf("%q has no name", text)
		}
	})
}
