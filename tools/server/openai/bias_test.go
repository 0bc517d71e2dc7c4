package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// biased are settings with a bias of so many tokens.
func biased(t *testing.T, tokens int) settings {
	t.Helper()
	entries := make([]string, tokens)
	for i := range entries {
		entries[i] = fmt.Sprintf(`"%d":1`, i)
	}
	var s settings
	if err := json.Unmarshal([]byte(`{"logit_bias":{`+strings.Join(entries, ",")+"}}"), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// The number of biased tokens is bounded, since each of them costs time.
func TestBiasOfMany(t *testing.T) {
	var p sampling.Params
	if err := biased(t, mostBiases).takeBias(&p); err != nil || len(p.LogitBias) != mostBiases {
		t.Errorf("%v, %d biases", err, len(p.LogitBias))
	}
	err := biased(t, mostBiases+1).takeBias(&p)
	if e := newError(err).Error; !errors.Is(err, answer.ErrRequest) || e.Param == nil || *e.Param != "logit_bias" ||
		!strings.Contains(e.Message, "logit_bias has 10001 tokens; 10000 are the most") {
		t.Errorf("%v", err)
	}
}

// A bias is of a token's number, with nothing behind it.
func TestBiasOfWhat(t *testing.T) {
	for _, id := range []string{"x", "-1", "1 2", "0x10", "1.5", "4294967296", ""} {
		var p sampling.Params
		if err := (settings{LogitBias: map[string]any{id: 1.0}}).takeBias(&p); !errors.Is(err, answer.ErrRequest) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestParamOf(t *testing.T) {
	for setting, want := range map[string]string{
		"a token of logit-bias": "logit_bias", "logit-bias of token 3": "logit_bias", "n": "n",
		"presence-penalty": "presence_penalty",
	} {
		if got := newError(&sampling.Error{Setting: setting}).Error.Param; got == nil || *got != want {
			t.Errorf("%s: %v, want %s", setting, got, want)
		}
	}
}
