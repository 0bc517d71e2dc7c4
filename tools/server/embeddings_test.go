package server

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf/conformance"
)

// embedding starts a server that has the embedding model of the conformance cases.
func embedding(t *testing.T) string {
	t.Helper()
	web, _ := serving(t, func(o *Options) { o.Models.Files = []string{conformance.Path(t, "embedding.gguf")} })
	return web.URL
}

func numbers(t *testing.T, list any) []float64 {
	t.Helper()
	var all []float64
	for _, v := range list.([]any) {
		all = append(all, v.(float64))
	}
	return all
}

func TestEmbeddingsInEachForm(t *testing.T) {
	url := embedding(t)
	code, body := post(t, url+"/v1/embeddings", `{"model":"embedding","input":["first","second text"]}`)
	if code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	got := object(t, body)
	data := got["data"].([]any)
	first := numbers(t, data[0].(map[string]any)["embedding"])
	if len(data) != 2 || len(first) != 96 || got["usage"].(map[string]any)["prompt_tokens"].(float64) < 6 {
		t.Errorf("%.300s", body)
	}

	_, body = post(t, url+"/v1/embeddings", `{"model":"embedding","input":"first","encoding_format":"base64"}`)
	text := object(t, body)["data"].([]any)[0].(map[string]any)["embedding"].(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != 4*96 {
		t.Fatalf("%d bytes: %v", len(raw), err)
	}
	_, body = post(t, url+"/api/embed", `{"model":"embedding","input":"first"}`)
	ollama := numbers(t, object(t, body)["embeddings"].([]any)[0])
	_, body = post(t, url+"/api/embeddings", `{"model":"embedding","prompt":"first"}`)
	older := numbers(t, object(t, body)["embedding"])
	for i, want := range first {
		bits := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		for form, v := range map[string]float64{"base64": float64(bits), "Ollama's": ollama[i], "Ollama's older": older[i]} {
			if math.Abs(v-want) > 1e-6 {
				t.Fatalf("number %d of the %s form is %v, wanted %v", i, form, v, want)
			}
		}
	}

	_, body = post(t, url+"/v1/embeddings", `{"model":"embedding","input":[[100,101]],"dimensions":8}`)
	if v := numbers(t, object(t, body)["data"].([]any)[0].(map[string]any)["embedding"]); len(v) != 8 {
		t.Errorf("%d numbers of token ids, wanted 8", len(v))
	}
	_, body = post(t, url+"/api/show", `{"model":"embedding"}`)
	if !strings.Contains(body, `"capabilities":["embedding"]`) {
		t.Errorf("%.300s", body)
	}
}

func TestEmbeddingsRefused(t *testing.T) {
	url := embedding(t)
	for _, c := range []struct {
		path, body string
		code       int
		says       string
	}{
		{"/v1/embeddings", `{"model":"nano","input":"x"}`, 400, "makes no embeddings"},
		{"/v1/embeddings", `{"model":"embedding","input":[]}`, 400, "input is empty"},
		{"/v1/embeddings", `{"model":"embedding","input":7}`, 400, "neither a text"},
		{"/v1/embeddings", `{"model":"embedding","input":[[5,-1]]}`, 400, "token -1"},
		{"/v1/embeddings", `{"model":"embedding","input":"x","dimensions":97}`, 400, "1 to 96"},
		{"/v1/embeddings", `{"model":"embedding","input":"x","encoding_format":"hex"}`, 400, "float or base64"},
		{"/v1/embeddings", `{"model":"none","input":"x"}`, 404, "not found"},
		{"/v1/embeddings", `{"model":"embedding","input":"` + strings.Repeat("word ", 6000) + `"}`, 400, "divide it"},
		{"/api/embed", `{"model":"embedding","input":{"a":1}}`, 400, "list of texts"},
		{"/api/embed", `{"model":"nano","input":"x"}`, 400, "makes no embeddings"},
		{"/v1/chat/completions", `{"model":"embedding","messages":[{"role":"user","content":"x"}]}`, 400, "embeddings"},
	} {
		code, body := post(t, url+c.path, c.body)
		if code != c.code || !strings.Contains(body, c.says) {
			t.Errorf("%s %.60s: %d %.300s, wanted %d and %q", c.path, c.body, code, body, c.code, c.says)
		}
	}
	if code, body := post(t, url+"/api/embed", `{"model":"embedding","input":[]}`); code != 200 ||
		!strings.Contains(body, `"embeddings":[]`) {
		t.Errorf("no texts: %d %.200s", code, body)
	}
}
