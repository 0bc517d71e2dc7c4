package engine

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// optionsOfC reads the fields of gemwire_answer_options, with their types.
func optionsOfC(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("../include/gemwire.h")
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(string(raw), "typedef struct gemwire_answer_options {")
	body, _, closed := strings.Cut(body, "} gemwire_answer_options;")
	if !ok || !closed {
		t.Fatal("the header has no gemwire_answer_options")
	}
	body = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(body, "")
	fields := map[string]string{}
	for _, m := range regexp.MustCompile(`([\w *]+?[ *])(\w+);`).FindAllStringSubmatch(body, -1) {
		fields[m[2]] = strings.ReplaceAll(strings.TrimSpace(m[1]), " *", "*")
	}
	return fields
}

// TestHeaderHasSettings holds C's options to the tables of settings: a field for
// each, of the type that it is read as.
func TestHeaderHasSettings(t *testing.T) {
	fields := optionsOfC(t)
	for _, s := range sampling.Settings {
		holdField(t, fields, s)
	}
	for _, s := range gemma4.AnswerSettings {
		holdField(t, fields, s)
	}
	for _, name := range []string{"size", "thinking", "tools_json", "on_event", "user", "reserved", "forget",
		"preserve_thinking", "form_json", "tool_choice", "single_call", "reserved2"} {
		delete(fields, name)
	}
	for name := range fields {
		t.Errorf("%s is in no table", name)
	}
}

func holdField[T any](t *testing.T, fields map[string]string, s sampling.Setting[T]) {
	t.Helper()
	want := ""
	switch s.At(new(T)).(type) {
	case *float32:
		want = "float"
	case *int:
		want = "int32_t"
	case *uint64:
		want = "uint64_t"
	case *sampling.Bias:
		want = "const gemwire_logit_bias*"
	case *[]string:
		want = "const char*const*"
	}
	if got := fields[s.C()]; got != want {
		t.Errorf("%s is of type %q in C, wanted %q", s.C(), got, want)
	}
	delete(fields, s.C())
	if s.List() {
		if got := fields[s.C()+"_count"]; got != "size_t" {
			t.Errorf("%s_count is of type %q, wanted size_t", s.C(), got)
		}
		delete(fields, s.C()+"_count")
	}
}
