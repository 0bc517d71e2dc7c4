package chat_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// What can only mean one thing is mended, and said; what may mean several stays an error.
func TestRepairCall(t *testing.T) {
	const q = `<|"|>`
	for _, tc := range []struct {
		text, name, arguments string // without a name: an error
		repairs               []string
	}{
		{`call:f{a:` + q + `x` + q + `}`, "f", `{"a":"x"}`, nil},
		{`call:f{a:1,}`, "f", `{"a":1}`, []string{"there was a comma too many"}},
		{`call:f{a:[1,2,],b:3}`, "f", `{"a":[1,2],"b":3}`, []string{"there was a comma too many"}},
		{`call:f{a:{b:[1,2`, "f", `{"a":{"b":[1,2]}}`, []string{"a ] was missing", "a } was missing"}},
		{`call:f{a:1`, "f", `{"a":1}`, []string{"a } was missing"}},
		{`call:f{a:1}}`, "f", `{"a":1}`, []string{"there was a } too many"}},
		{`call:f{{a:1}`, "f", `{"a":1}`, []string{"a } was missing"}},
		{`call:f{city:Paris}`, "f", `{"city":"Paris"}`, []string{"a string was not quoted"}},
		{`call:f{city:New York,day:2024-01-02}`, "f", `{"city":"New York","day":"2024-01-02"}`,
			[]string{"a string was not quoted"}},
		{`call:f{at:10:30,url:https://a.b/c?d=e}`, "f", `{"at":"10:30","url":"https://a.b/c?d=e"}`,
			[]string{"a string was not quoted"}},
		{`call:f{'city':'New York'}`, "f", `{"city":"New York"}`, []string{"a string was in single quotes"}},
		{`call:f{a:'x','b':'y'}`, "f", `{"a":"x","b":"y"}`, []string{"a string was in single quotes"}},
		{`f{a:1}`, "f", `{"a":1}`, []string{"call: was missing"}},
		{`call:f`, "f", `{}`, []string{"the arguments were missing"}},
		{`{"name":"f","arguments":{"a":[1]}}`, "f", `{"a":[1]}`, []string{"a call as JSON"}},
		{`{"type":"function","function":{"name":"f","parameters":{"a":"b"}}}`, "f", `{"a":"b"}`, []string{"a call as JSON"}},
		{`{"name":"f","arguments":"{\"a\":1}"}`, "f", `{"a":1}`, []string{"a call as JSON"}},

		{`hello`, "", "", nil},
		{``, "", "", nil},
		{`call:`, "", "", nil},
		{`call:two words{a:1,}`, "", "", nil},
		{`call:f{a:` + q + `x}`, "", "", nil},                // where does the string end?
		{`call:f{city:Paris, France}`, "", "", nil},          // a key without a value, or a comma in a name
		{"call:f{a:\u00a0" + q + "x" + q + "}", "", "", nil}, // a string, or a space and a string
		{`call:f{a:1 b:2}`, "", "", nil},                     // a comma is missing, or a string
		{`call:f{a:it's,b:'s}`, "", "", nil},                 // whose quotes?
		{`call:f{name:'it's'}`, "", "", nil},                 //
		{`call:f{a:nil}`, "", "", nil},                       // null, or a name
		{`call:f{l:[1,b:2`, "", "", nil},                     // an object's member in a list
		{`call:f{a:1}call:g{b:2}`, "", "", nil},              // two calls in one
		{`call:f{a:1}]`, "", "", nil},                        //
		{`call:f{a:`, "", "", nil},                           // what was to come?
		{`{"name":"f"}`, "", "", nil},                        //
		{`{"name":"f","arguments":[1]}`, "", "", nil},        //
		{`{"name":"f g","arguments":{}}`, "", "", nil},       //
		{`{"name":"f","arguments":"a: 1"}`, "", "", nil},     //
		{`call:f{a:01}`, "", "", nil},                        // 1, or the text
		{`call:f{a:.5}`, "", "", nil},
	} {
		call, repairs, err := chat.RepairCall(tc.text)
		if tc.name == "" {
			if !errors.Is(err, chat.ErrCall) {
				t.Errorf("%q became %s %s (%q), %v", tc.text, call.Name, call.Arguments, repairs, err)
			}
			continue
		}
		if err != nil || call.Name != tc.name || string(call.Arguments) != tc.arguments ||
			!slices.Equal(repairs, tc.repairs) {
			t.Errorf("%q became %s %s (%q), %v", tc.text, call.Name, call.Arguments, repairs, err)
		}
	}
}

// Whatever comes, a repair is a call of valid JSON, and what was right stays as it is.
func FuzzRepairCall(f *testing.F) {
	for _, text := range []string{`call:f{a:1,}`, `f{a:'b'`, `call:f{{a:x}`, `{"name":"f","arguments":{}}`,
		`call:f{a:[1,`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		call, repairs, err := chat.RepairCall(text)
		strict, wrong := chat.ParseCall(text)
		switch {
		case err != nil && !errors.Is(err, chat.ErrCall):
			t.Fatal(err)
		case err == nil && (!json.Valid(call.Arguments) || call.Name == ""):
			t.Fatalf("%q became %s %s", text, call.Name, call.Arguments)
		case wrong == nil && (err != nil || len(repairs) > 0 || string(strict.Arguments) != string(call.Arguments)):
			t.Fatalf("%q, which is right, became %s %s (%q), %v", text, call.Name, call.Arguments, repairs, err)
		}
	})
}
