package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/tools/internal/command/models"
)

// store is an Ollama store, laid out as Ollama does it.
type store struct {
	t    *testing.T
	root string
}

func newStore(t *testing.T) store {
	s := store{t, t.TempDir()}
	s.write("manifests/.keep", nil)
	return s
}

func (s store) write(name string, content []byte) {
	s.t.Helper()
	path := filepath.Join(s.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// create stores the built-in model under a name, with layers beside it by their kinds.
func (s store) create(name string, layers map[string]string) {
	s.t.Helper()
	type layer struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
	}
	var all []layer
	add := func(kind string, content []byte) {
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		s.write("blobs/sha256-"+sum, content)
		all = append(all, layer{"application/vnd.ollama.image." + kind, "sha256:" + sum, len(content)})
	}
	add("model", nanoBytes(s.t))
	for kind, content := range layers {
		add(kind, []byte(content))
	}
	raw, err := json.Marshal(map[string]any{"schemaVersion": 2, "layers": all})
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("manifests/registry.ollama.ai/library/"+name+"/latest", raw)
}

func (s store) run(stdin string, arguments ...string) outcome {
	s.t.Helper()
	return machine{store: s.root}.run(s.t, stdin, arguments...)
}

// someAdapter is an adapter for the built-in model that changes what it says.
func someAdapter(t *testing.T) string {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	a := &adapter.Adapter{Pairs: map[adapter.Target]*adapter.Pair{}}
	for _, tensor := range inspected(t, "--device", "cpu").Tensors {
		var layer int
		if _, err := fmt.Sscanf(tensor.Name, "blk.%d.ffn_down.weight", &layer); err != nil {
			continue
		}
		p := &adapter.Pair{Rank: 2, In: int(tensor.Dims[0]), Out: int(tensor.Dims[1]), Scale: 100000}
		for range p.Rank * p.In {
			p.A = append(p.A, random.Float32()-0.5)
		}
		for range p.Rank * p.Out {
			p.B = append(p.B, random.Float32()-0.5)
		}
		a.Pairs[adapter.Target{Layer: layer, Linear: adapter.Down}] = p
	}
	var file bytes.Buffer
	if err := a.WriteGGUF(&file); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// answered runs a question and returns the answer.
func answered(t *testing.T, s store, arguments ...string) string {
	t.Helper()
	return ok(t, s.run("", append([]string{"run", "--device", "cpu", "--greedy"}, arguments...)...))
}

func TestStoredSystemAndMessages(t *testing.T) {
	s := newStore(t)
	s.create("friend", map[string]string{
		"system":   "Be brief.",
		"messages": `[{"role":"user","content":"My name is Tom."},{"role":"assistant","content":"Nice to meet you, Tom!"}]`,
	})
	path := filepath.Join(t.TempDir(), "chat.json")
	ok(t, s.run("/save "+path+"\n", "chat", "--device", "cpu", "friend"))
	const want = "<bos><|turn>system\nBe brief.<turn|>\n<|turn>user\nMy name is Tom.<turn|>\n" +
		"<|turn>model\nNice to meet you, Tom!<turn|>\n"
	if got := ok(t, gemwire(t, "", "render", path)); !strings.HasPrefix(got, want) {
		t.Errorf("conversation %q, want it to begin with %q", got, want)
	}
	prompt := want + "<|turn>user\nWhat is my name?<turn|>\n<|turn>model\n"
	if a, b := answered(t, s, "friend", "What is my name?"), answered(t, s, "--raw", prompt); a != b {
		t.Errorf("answer %q, want %q", a, b)
	}
	again := path + "2"
	ok(t, s.run("/save "+again+"\n", "chat", "--device", "cpu", "friend", "--system", "Be kind."))
	if got := ok(t, gemwire(t, "", "render", again)); !strings.HasPrefix(got, "<bos><|turn>system\nBe kind.<turn|>") {
		t.Errorf("conversation %q; --system should count", got)
	}
}

func TestStoredParameters(t *testing.T) {
	s := newStore(t)
	s.create("short", map[string]string{"params": `{"num_predict":3,"temperature":0,"num_ctx":64,"stop":["zzz"],` +
		`"mirostat":1,"num_gpu":5}`})
	got := s.run("", "run", "--device", "cpu", "short", "What is the capital of France?")
	if ok(t, got) != "The capital of\n" {
		t.Errorf("answer %q", got.out)
	}
	if want := "of the parameters of short:latest, these are not used: mirostat, num_gpu\n"; !strings.Contains(got.err,
		want) {
		t.Errorf("messages %q lack %q", got.err, want)
	}
	if got := ok(t, s.run("", "run", "--device", "cpu", "--max-completion-tokens", "2", "short",
		"What is the capital of France?")); got != "The capital\n" {
		t.Errorf("a flag counts less than the store: %q", got)
	}
	for flags, want := range map[string]string{"": "of 64 tokens", "--context 128": "of 128 tokens"} {
		args := append([]string{"chat", "--device", "cpu", "short"}, strings.Fields(flags)...)
		if got := s.run("/info\n", args...); !strings.Contains(ok(t, got), want) {
			t.Errorf("%s: %q lacks %q", flags, got.out, want)
		}
	}
	s.create("typical", map[string]string{"params": `{"typical_p":0.5,"temperature":1,"seed":1}`})
	typical := s.run("", "run", "--device", "cpu", "--max-tokens", "1", "typical", "Hi")
	if ok(t, typical); strings.Contains(typical.err, "not used") {
		t.Errorf("messages %q", typical.err)
	}
	s.create("endless", map[string]string{"params": `{"num_predict":-1,"repeat_last_n":0,"repeat_penalty":9,"seed":7}`})
	set := ok(t, s.run("/set\n", "chat", "--device", "cpu", "endless"))
	for _, want := range []string{"max-tokens         none\n", "repetition-penalty 1\n", "seed               7\n"} {
		if !strings.Contains(set, want) {
			t.Errorf("settings %q lack %q", set, want)
		}
	}
	for value, want := range map[string]string{
		`{"temperature":"hot"}`:    "its parameter temperature is hot; wanted a number from 0 to 100",
		`{"temperature":{"a":1}}`:  "its parameter temperature is map[a:1]; wanted a number or a text",
		`{"temperature":1e300}`:    "its parameter temperature is 1000",
		`{"num_ctx":1000000}`:      "1000000",
		`{"num_ctx":0,"top_k":-1}`: "its parameter top-k is -1",
	} {
		s.create("bad", map[string]string{"params": value})
		if got := s.run("", "run", "--device", "cpu", "bad", "Hi"); got.code != 1 || !strings.Contains(got.err, want) {
			t.Errorf("%s: exit status %d, message %q, want %q", value, got.code, got.err, want)
		}
	}
}

func TestStoredTemplate(t *testing.T) {
	s := newStore(t)
	s.create("own", map[string]string{"template": "{{ .System }} {{ .Prompt }}"})
	s.create("none", map[string]string{"template": "{{ .Prompt }}\n"})
	for name, want := range map[string]bool{"own": true, "none": false} {
		got := s.run("", "run", "--device", "cpu", "--max-tokens", "1", name, "Hi")
		ok(t, got)
		if strings.Contains(got.err, "the template of own:latest is not used") != want {
			t.Errorf("%s: messages %q", name, got.err)
		}
	}
}

// A layer of a kind that came after gemwire is named.
func TestStoredUnknown(t *testing.T) {
	s := newStore(t)
	s.create("new", map[string]string{"dream": "Sheep."})
	got := s.run("", "run", "--device", "cpu", "--max-tokens", "1", "new", "Hi")
	ok(t, got)
	const want = "new:latest has parts that gemwire does not know and leaves out: application/vnd.ollama.image.dream\n"
	if !strings.Contains(got.err, want) {
		t.Errorf("messages %q lack %q", got.err, want)
	}
}

func TestStoredAdapter(t *testing.T) {
	s, lora := newStore(t), someAdapter(t)
	s.create("plain", nil)
	s.create("tuned", map[string]string{"adapter": lora})
	s.create("garbage", map[string]string{"adapter": "This is no adapter at all."})
	s.create("model", map[string]string{"adapter": string(nanoBytes(t))})
	const question = "What is the capital of France?"
	file := writeFile(t, "lora.gguf", []byte(lora))
	want := answered(t, s, "plain", "--max-tokens", "8", "--lora", file, question)
	if got := answered(t, s, "tuned", "--max-tokens", "8", question); got != want || got == paris {
		t.Errorf("with its adapter it answers %q, want %q", got, want)
	}
	if got := answered(t, s, "tuned", "--max-tokens", "8", "--lora", file+"=-1", question); got != paris {
		t.Errorf("less its own adapter it answers %q, want %q", got, paris)
	}
	for _, name := range []string{"garbage", "model"} {
		for _, args := range [][]string{{"run", "--device", "cpu", name, "Hi"}, {"inspect", "--device", "cpu", name}} {
			got := s.run("", args...)
			if got.code != 1 || got.out != "" || !strings.Contains(got.err, "the adapter of "+name+":latest: ") {
				t.Errorf("%v: exit status %d, output %q, message %q", args, got.code, got.out, got.err)
			}
		}
	}
	data := writeFile(t, "facts.jsonl", []byte(facts))
	if got := s.run("", "train", data, "--device", "cpu", "-m", "tuned", "-o", filepath.Join(t.TempDir(), "x"),
		"--dry-run"); got.code != 1 || !strings.Contains(got.err, "gemwire adapter merge tuned") {
		t.Errorf("training: exit status %d, message %q", got.code, got.err)
	}
	merged := filepath.Join(t.TempDir(), "merged.gguf")
	ok(t, s.run("", "adapter", "merge", "tuned", "--type", "F32", "-o", merged))
	if got := answered(t, s, "--max-tokens", "8", merged, question); got != want {
		t.Errorf("merged, it answers %q, want %q", got, want)
	}
}

func TestShow(t *testing.T) {
	s := newStore(t)
	s.create("friend", map[string]string{
		"system": "Be brief.\nBe kind.", "params": `{"top_k":5,"mirostat":1}`, "license": "Free\nfor all",
		"messages": `[{"role":"user","content":"Hi"}]`, "template": "own",
	})
	text := ok(t, s.run("", "show", "friend"))
	for _, want := range []string{"friend:latest", "gemma4", "Q4_K", "4096 tokens at most", "text, images, audio",
		"parameter     mirostat 1 (not used)\n", "parameter     top_k 5\n", "Be brief. Be kind.", "user: Hi", "template ",
		"license       Free\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	if got := ok(t, s.run("", "show", "friend", "--license")); got != "Free\nfor all\n" {
		t.Errorf("license %q", got)
	}
	var about models.About
	if err := json.Unmarshal([]byte(ok(t, s.run("", "show", "--json"))), &about); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"text", "images", "audio"}, about.Takes); d != "" || about.Name != "nano" {
		t.Errorf("%+v", about)
	}
	other := nanoFile(t, "other.gguf", func(b []byte) []byte {
		return bytes.Replace(b, []byte("gemma4"), []byte("llama4"), 1)
	})
	if got := ok(t, s.run("", "show", other)); !strings.Contains(got, "problem") || !strings.Contains(got, "llama4") {
		t.Errorf("another model: %q", got)
	}
}

// A folder that OLLAMA_MODELS names in vain is mentioned.
func TestMissingStoreIsMentioned(t *testing.T) {
	nowhere := machine{store: filepath.Join(t.TempDir(), "nowhere")}
	list := nowhere.run(t, "", "list")
	if want := "gemwire: OLLAMA_MODELS is " + nowhere.store + ", which does not exist\n"; list.err != want ||
		!strings.Contains(ok(t, list), "nano") {
		t.Errorf("messages %q, want %q", list.err, want)
	}
	for _, args := range [][]string{{"run", "gemma4:e2b", "Hi"}, {"serve", "--ollama", "--app", t.TempDir()}} {
		if got := nowhere.run(t, "", args...); got.code != 1 || !strings.Contains(got.err, nowhere.store) {
			t.Errorf("%v: %d, %q", args, got.code, got.err)
		}
	}
}
