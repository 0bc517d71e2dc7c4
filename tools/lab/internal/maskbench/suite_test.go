package maskbench

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestSuite(t *testing.T) {
	folder := write(t, map[string]string{
		"format.json": `[{"description": "not claimed", "schema": {"format": "date"},
			"tests": [{"data": "x", "valid": true}]}]`,
		"type.json": `[
			{"description": "integer", "schema": {"type": "integer"}, "tests": [
				{"description": "one", "data": 1.0, "valid": true}, {"description": "wrong", "data": 2, "valid": false}]},
			{"description": "remote", "schema": {"$ref": "https://a.b/c"}, "tests": [{"data": 1, "valid": true}]},
			{"description": "nothing", "schema": false, "tests": [{"data": 1, "valid": false}]},
			{"description": "draft", "schema": {"items": [{"type": "null"}]}, "tests": [
				{"data": [1], "valid": false}, {"data": [null], "valid": true}]}]`,
	})
	groups, err := Suite(context.Background(), folder, "http://json-schema.org/draft-07/schema#")
	if err != nil {
		t.Fatal(err)
	}
	g := groups[1]
	if len(groups) != 2 || groups[0].Schemas != 0 || g.Name != "type" || g.Schemas != 4 || g.Refused != 1 ||
		g.Tests != 5 || len(g.Wrong) != 1 || !strings.Contains(g.Wrong[0], "wrong") {
		t.Errorf("%+v", groups)
	}
	var b strings.Builder
	if err := WriteSuite(&b, groups, true); err != nil || !strings.Contains(b.String(), "refused: remote") {
		t.Error(b.String(), err)
	}
	if _, err := Suite(context.Background(), t.TempDir(), ""); !errors.Is(err, ErrData) {
		t.Error(err)
	}
}

func TestPlain(t *testing.T) {
	got, err := plain([]byte(`{"1.0\"2.0": [1.0, -2.50, 1e2, 12]}`))
	if want := `{"1.0\"2.0": [1, -2.50, 100, 12]}`; err != nil || string(got) != want {
		t.Errorf("%s, want %s (%v)", got, want, err)
	}
}
