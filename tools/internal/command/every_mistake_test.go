package command

import (
	"cmp"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	cases "github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/ollama"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/modelref"
)

// mistakeFiles are files and folders that command lines below name by words in braces.
type mistakeFiles map[string]string

func newMistakeFiles(t *testing.T) mistakeFiles {
	t.Helper()
	plain := writeFile(t, "plain", nil)
	folder := t.TempDir()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page.gguf":
			http.ServeContent(w, r, "page.html", fileTime, strings.NewReader("<!DOCTYPE html><p>A page."))
		case "/round.gguf":
			http.Redirect(w, r, "/round.gguf", http.StatusFound)
		case "/locked.gguf":
			http.Error(w, "no", http.StatusForbidden)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(web.Close)
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	return mistakeFiles{
		"text": writeFile(t, "notes.txt", []byte("These are notes.")), "empty": writeFile(t, "empty.gguf", nil),
		"model": nanoFile(t, "model.gguf", func(b []byte) []byte { return b }),
		"cut":   nanoFile(t, "cut.gguf", func(b []byte) []byte { return b[:50_000] }),
		"short": nanoFile(t, "short.gguf", func(b []byte) []byte { return b[:len(b)-1000] }),
		"llama": nanoFile(t, "llama.gguf", func(b []byte) []byte {
			return []byte(strings.Replace(string(b), "gemma4", "llama4", 1))
		}),
		"json":   writeFile(t, "some.json", []byte(`{"a": [1, 2`)),
		"number": writeFile(t, "number.json", []byte(`{"messages": 3}`)),
		"roles":  writeFile(t, "roles.json", []byte(`{"messages":[{"role":"wizard","content":"Hi"}]}`)),
		"lines":  writeFile(t, "lines.jsonl", []byte("{\"prompt\":\"a\",\"completion\":\"b\"}\nnonsense\n")),
		"facts":  writeFile(t, "facts.jsonl", []byte(facts)),
		"list":   writeFile(t, "tools.json", []byte(weatherTool)),
		"ids":    "1,2,3", "folder": folder, "missing": filepath.Join(folder, "missing.gguf"),
		"inside": filepath.Join(plain, "x"), "tls": secure.URL, "web": web.URL, "gone": gone.URL,
		"goneHost": strings.TrimPrefix(gone.URL, "http://"), "plain": plain,
		"lora": writeFile(t, "lora.gguf", []byte(someAdapter(t))),
		"png":  filepath.Join(conformance, "tiny.png"), "wav": filepath.Join(conformance, "short.wav"),
		"fake": writeFile(t, "fake.png", []byte("no picture")), "out": filepath.Join(folder, "out"),
	}
}

var braces = regexp.MustCompile(`\{(\w+)\}`)

func (m mistakeFiles) in(t *testing.T, text string) string {
	return braces.ReplaceAllStringFunc(text, func(word string) string {
		path, ok := m[word[1:len(word)-1]]
		if !ok {
			t.Fatalf("no file %s", word)
		}
		return path
	})
}

// everyMistake is what users get wrong: what they type, and what they are told, which
// is what was given, what is wrong, and what to do.
var everyMistake = []struct {
	line string // words; _ is a space within one
	says string
}{
	{"run {missing} Hi", "no such model: the file {missing} does not exist; check the path, or see gemwire list"},
	{"run {folder} Hi", "no such model: {folder} is a folder without .gguf files; name a .gguf file"},
	{"run {inside} Hi", "no such model: the file {inside} does not exist; check the path, or see gemwire list"},
	{"run {inside}.gguf Hi",
		"no such model: the file {inside}.gguf does not exist; check the path, or see gemwire list"},
	{"run {text} Hi", "{text}: not a GGUF file; name a .gguf file"},
	{"run {empty} Hi", "{empty}: the file is empty; name a .gguf file"},
	{"run {cut} Hi",
		`{cut}: key "tokenizer.ggml.merges" at byte 47126: 1672 × 8 bytes do not fit into the 2874 that are ` +
			"left: file is cut off; download or copy it again"},
	{"run {short} Hi",
		`{short}: tensor "mm.a.input_projection.weight" at byte 85758: its 131072 bytes from byte 12416928 ` +
			"on go beyond the 12547000 bytes of the file: file is cut off; download or copy it again"},
	{"run {llama} Hi",
		`{llama}: this file holds a "llama4" model and only "gemma4" and "gemma3" ones can be run: choose a Gemma 4 file, ` +
			"such as gemma4:e2b from Ollama's library"},
	{"run {lora} Hi",
		`{lora}: this file is a LoRA adapter, which changes a model (general.type "adapter"): use it ` +
			"together with its model"},
	{"run nope Hi",
		"no such model: nope is not a file, was not pulled, and Ollama has no models here; gemwire list " +
			"shows the models, ollama pull nope or gemwire pull URL downloads one"},
	{"run gemma4:e2b Hi",
		"no such model: gemma4:e2b is not a file, was not pulled, and Ollama has no models here; gemwire " +
			"list shows the models, ollama pull gemma4:e2b or gemwire pull URL downloads one"},
	{"run bad/na:me:x Hi",
		"no such model: bad/na:me:x is not a file, was not pulled, and Ollama has no models here; gemwire " +
			"list shows the models, download one with gemwire pull URL"},
	{"run a/b/c/d/e Hi",
		"no such model: a/b/c/d/e is not a file, was not pulled, and Ollama has no models here; gemwire list " +
			"shows the models, download one with gemwire pull URL"},
	{"run {web}/none.gguf Hi", "{web}/none.gguf: no file there (404 Not Found); check the address"},
	{"run {web}/page.gguf Hi",
		"{web}/page.gguf: not a GGUF file; use the URL of the .gguf file itself, not of a page about it"},
	{"run {web}/locked.gguf Hi",
		"{web}/locked.gguf: server answers 403 Forbidden; it may want an Authorization header"},
	{"run http:// Hi", `"http:" is no address that starts with http:// or https://`},
	{"run --model {missing} Hi",
		"no such model: the file {missing} does not exist; check the path, or see gemwire list"},
	{"run --header nonsense Hi", `--header "nonsense": use "Name: value"; see gemwire run --help`},
	{"run --mmproj {missing} Hi", `no file "{missing}"; check the path`},
	{"run --mmproj {text} Hi", "{text}: not a GGUF file; name a .gguf file"},
	{"run --mmproj {model} Hi",
		`{model}: the second file has architecture "gemma4", a projector has "clip": files do not belong ` +
			"together"},
	{"run --assistant nope Hi",
		"no such model: nope is not a file, was not pulled, and Ollama has no models here; gemwire list " +
			"shows the models, ollama pull nope or gemwire pull URL downloads one"},
	{"run --assistant {model} Hi",
		`{model}: attaching an assistant: general.architecture is "gemma4", wanted "gemma4-assistant": ` +
			"choose the file of an assistant, such as gemma-4-E2B-it-assistant"},
	{"run --assistant {text} Hi", "{text}: not a GGUF file; name a .gguf file"},
	{"run --lora {missing} Hi", "{missing} does not exist; check the path"},
	{"run --lora {model} Hi",
		`{model}: unusable adapter: the file holds no adapter, by its general.type ""; it may be a model`},
	{"run --lora {text} Hi",
		"{text} is not an adapter; name a PEFT folder, or a .gguf file from llama.cpp or gemwire train"},
	{"run --lora {folder} Hi", "{folder}: unusable adapter: adapter_config.json is missing next to the weights"},
	{"run --lora {llama} Hi",
		`{llama}: unusable adapter: the file holds no adapter, by its general.type ""; it may be a model`},
	{"run --lora {lora}=nan Hi",
		`--lora "{lora}=nan": use FILE or FILE=WEIGHT, such as my-adapter=0.5; see gemwire run --help`},
	{"run --lora {lora}=hot Hi",
		`--lora "{lora}=hot": the weight is "hot"; wanted a number, such as 0.5; see gemwire run --help`},
	{"run --lora {missing}=hot Hi", "{missing}=hot does not exist; check the path"},
	{"run --lora= Hi", `--lora "": use FILE or FILE=WEIGHT, such as my-adapter=0.5; see gemwire run --help`},
	{"run --tools {missing} Hi", "{missing} does not exist; check the path"},
	{"run --tools {text} Hi",
		"{text} is not a list of tools: it is no JSON: something is wrong at byte 1; expected " +
			`[{"type":"function","function":{"name":…,"parameters":…}}]`},
	{"run --tools {json} Hi",
		"{json} is not a list of tools: it is no JSON: it ends too early; expected " +
			`[{"type":"function","function":{"name":…,"parameters":…}}]`},
	{"run --tools {number} Hi",
		"{number} is not a list of tools: there is an object where a list belongs, at byte 1; expected " +
			`[{"type":"function","function":{"name":…,"parameters":…}}]`},
	{"run --tools {folder} Hi", "{folder} is a folder; name a file"},
	{"run -i {missing} Hi", "{missing} does not exist; check the path"},
	{"run -i {fake} Hi",
		"{fake}: starts with 6e 6f 20 70 69 63 74 75: not an image that can be read; use PNG, JPEG, WebP, " +
			"GIF or BMP"},
	{"run -i {folder} Hi", "{folder} is a folder; name a file"},
	{"run -i {empty} Hi", "{empty} is empty"},
	{"run -i {wav} Hi", "{wav}: WAV: not an image that can be read; use PNG, JPEG, WebP, GIF or BMP"},
	{"run -i https://x.org/a.png Hi",
		"--image: https://x.org/a.png is a URL; download the file first; see gemwire run --help"},
	{"run -a {png} Hi",
		"{png}: starts with 89 50 4e 47 0d 0a 1a 0a: not a recording that can be read; use WAV, FLAC, MP3 or " +
			"Ogg"},
	{"run -a {text} Hi",
		"{text}: starts with 54 68 65 73 65 20 61 72: not a recording that can be read; use WAV, FLAC, MP3 " +
			"or Ogg"},
	{"run --image-budget 3 Hi", "--image-budget 3: a picture takes 70 to 1120 tokens; see gemwire run --help"},
	{"run --video-budget 3 Hi", "--video-budget 3: a frame takes 70 to 1120 tokens; see gemwire run --help"},
	{"run --video-frames 2000 Hi", "--video-frames 2000: a video gives 1 to 1024 frames; see gemwire run --help"},
	{"run --video-fps=-1 Hi", "--video-fps -1: give the number of frames a second; see gemwire run --help"},
	{"run --image-budget 70 Hi", "--image-budget is for --image, which is not given; see gemwire run --help"},
	{"run --split-audio -i {png} Hi",
		"--split-audio is for --audio or --video, which is not given; see gemwire run --help"},
	{"run --video-sound -a {wav} Hi", "--video-sound is for --video, which is not given; see gemwire run --help"},
	{"embed {model} --image-budget 70 Hi", "--image-budget is for --image, which is not given; see gemwire embed --help"},
	{"run --image-budget big Hi", "--image-budget is big; wanted a whole number; see gemwire run --help"},
	{"run --context 0x Hi", "--context is 0x; wanted a whole number, 1 or more; see gemwire run --help"},
	{"run --context 0 Hi", "--context is 0; wanted a whole number, 1 or more; see gemwire run --help"},
	{"run --context 99999999999999999999 Hi",
		"--context is 99999999999999999999; wanted a whole number, 1 or more; see gemwire run --help"},
	{"run --context -1 Hi", "--context is -1; wanted a whole number, 1 or more; see gemwire run --help"},
	{"run --context 100000 Hi", "not supported: a context of 100000 tokens; this model takes 1 to 4096"},
	{"run --context 8 Hi",
		"the prompt has 10 tokens, and the context holds 8; shorten it, or use --context N, up to 4096 with " +
			"this model"},
	{"run --max-tokens 1.5 Hi",
		"--max-tokens is 1.5; wanted a whole number, 1 or more, or none; see gemwire run --help"},
	{"run --max-tokens 0 Hi", "--max-tokens is 0; wanted a whole number, 1 or more, or none; see gemwire run --help"},
	{"run --temperature hot Hi", "--temperature is hot; wanted a number from 0 to 100; see gemwire run --help"},
	{"run --top-k -1 Hi", "--top-k is -1; wanted a whole number, 0 or more; see gemwire run --help"},
	{"run --top-p 2 Hi", "--top-p is 2; wanted a number from 0 to 1; see gemwire run --help"},
	{"run --seed -1 Hi", "--seed is -1; wanted a whole number, 0 or more; see gemwire run --help"},
	{"run --seed x Hi", "--seed is x; wanted a whole number, 0 or more; see gemwire run --help"},
	{"run --repeat-last-n 1.5 Hi", "--repeat-last-n is 1.5; wanted a whole number; see gemwire run --help"},
	{"run --log-probs 1000 Hi", "--log-probs is 1000; wanted a whole number from 0 to 256; see gemwire run --help"},
	{"run --logit-bias x Hi", "--logit-bias is x; wanted ID=VALUE, such as 42=-5 or 42=-inf; see gemwire run --help"},
	{"run --logit-bias 1=x Hi",
		"--logit-bias is 1=x; wanted ID=VALUE, such as 42=-5 or 42=-inf; see gemwire run --help"},
	{"run --logit-bias 999999=1 Hi", "a token of logit-bias is 999999; wanted 0 to 2047"},
	{"run --drafts 1000 Hi", "--drafts is 1000; wanted a whole number, 63 at most; see gemwire run --help"},
	{"run --gpu-memory much Hi", `--gpu-memory: "much" is not a size; use 6GB or 512MiB; see gemwire run --help`},
	{"run --gpu-memory 0 Hi", `--gpu-memory: "0" is not a size; use 6GB or 512MiB; see gemwire run --help`},
	{"run --max-binding -1 Hi", `--max-binding: "-1" is not a size; use 6GB or 512MiB; see gemwire run --help`},
	{"run --device tpu Hi", `--device "tpu": use gpu or cpu; see gemwire run --help`},
	{"run --device cpu --gpu x Hi",
		"--gpu, --gpu-memory and --max-binding are for a GPU, and --device is cpu; see gemwire run --help"},
	{"run --wgpu {missing} Hi", "--wgpu: {missing} does not exist; check the path"},
	{"run --wgpu x.so Hi", `--wgpu "x.so": give the whole path of a library, or off; see gemwire run --help`},
	{"doctor --wgpu {missing}", "--wgpu: {missing} does not exist; check the path"},
	{"run --kv-cache q4 Hi", `--kv-cache "q4": use f16 or q8; see gemwire run --help`},
	{"run --think=maybe Hi", "--think is maybe; wanted true or false; see gemwire run --help"},
	{"run --json=maybe Hi", "--json is maybe; wanted true or false; see gemwire run --help"},
	{"run --verbos Hi", "unknown option --verbos; did you mean --verbose? See gemwire run --help"},
	{"run --device cpu Hi --model", "--model needs a value; see gemwire run --help"},
	{"run --image= Hi", "--image: give the name of a file; see gemwire run --help"},
	{"run", "the prompt is empty; give one in quotes, or on standard input; see gemwire run --help"},
	{"run one two three",
		"3 arguments; wanted a MODEL and a prompt, which goes in quotes if it has several words; see gemwire " +
			"run --help"},
	{"run one_two three four_five", "3 arguments; wanted a MODEL and a prompt; see gemwire run --help"},
	{"run --model nano nano Hi",
		"2 arguments; wanted a prompt beside --model, which goes in quotes if it has several words; see " +
			"gemwire run --help"},
	{"run --raw --system x Hi",
		"--raw uses the prompt unchanged; leave out --system, --think and --tools; see gemwire run --help"},
	{"run --raw -i {png} Hi",
		"--raw uses the prompt unchanged; leave out --image, --audio and --video; see gemwire run --help"},
	{"chat a b", "gemwire chat takes [MODEL], and 2 arguments were given; see gemwire chat --help"},
	{"chat --model a b", "two models, b and a; name one; see gemwire chat --help"},
	{"chat nope",
		"no such model: nope is not a file, was not pulled, and Ollama has no models here; gemwire list " +
			"shows the models, ollama pull nope or gemwire pull URL downloads one"},
	{"chat --context 0x", "--context is 0x; wanted a whole number, 1 or more; see gemwire chat --help"},
	{"list all", `gemwire list takes no arguments, and "all" is one; see gemwire list --help`},
	{"show nope",
		"no such model: nope is not a file, was not pulled, and Ollama has no models here; gemwire list " +
			"shows the models, ollama pull nope or gemwire pull URL downloads one"},
	{"show {text}", "{text}: not a GGUF file; name a .gguf file"},
	{"show --license", "no license came with nano; see where it was published"},
	{"inspect {missing}", "no such model: the file {missing} does not exist; check the path, or see gemwire list"},
	{"inspect {text}", "{text}: not a GGUF file; name a .gguf file"},
	{"inspect --lora {text}",
		"{text} is not an adapter; name a PEFT folder, or a .gguf file from llama.cpp or gemwire train"},
	{"inspect --lora {model}",
		`{model}: unusable adapter: the file holds no adapter, by its general.type ""; it may be a model`},
	{"inspect a b", "gemwire inspect takes [MODEL], and 2 arguments were given; see gemwire inspect --help"},
	{"rm", "gemwire rm takes NAME…, and nothing was given; see gemwire rm --help"},
	{"rm nope", "no such model: nope was not pulled; gemwire list shows the models"},
	{"pull", "gemwire pull takes NAME|URL, and nothing was given; see gemwire pull --help"},
	{"pull gemma4:e2b",
		"pull needs a name such as hf.co/ggml-org/gemma-4-E2B-it-GGUF, or a URL that begins with https://; for models " +
			"from Ollama's library use ollama pull, and gemwire will find them; see gemwire pull --help"},
	{"pull {web}/none.gguf", "{web}/none.gguf: no file was found (404 Not Found); check the URL"},
	{"pull {web}/page.gguf",
		"{web}/page.gguf: not a GGUF file: the URL is a web page; use the URL of the .gguf file itself"},
	{"pull {web}/locked.gguf",
		`{web}/locked.gguf: the server answers 403 Forbidden; it may need --header "Authorization: Bearer …"`},
	{"pull {gone}/x.gguf",
		"{gone}/x.gguf: gave up after 6 tries: nothing answers at {goneHost}; run the same command again to " +
			"resume"}, // it tries six times, in five seconds
	{"pull {web}/round.gguf", "{web}/round.gguf: the server redirects without end"},
	{"pull http://127.0.0.1:99999/x.gguf", "http://127.0.0.1:99999/x.gguf: 99999 is no address: invalid port"},
	{"pull {tls}/x.gguf", "{tls}/x.gguf: the server cannot be trusted: certificate signed by unknown authority"},
	{"pull http://[::1/x.gguf", "that is not a URL: missing ']' in host; see gemwire pull --help"},
	{"pull {web}/%FF.gguf",
		"{web}/%FF.gguf does not name a file; use the URL of the .gguf file itself; see gemwire pull --help"},
	{"pull http://localhost/",
		"http://localhost/ does not name a file; use the URL of the .gguf file itself; see gemwire pull " +
			"--help"},
	{"pull http://localhost/x.gguf --sha256 12",
		`"12" is not a SHA-256 sum; it needs 64 hexadecimal digits; see gemwire pull --help`},
	{"pull {web}/none.gguf -o {inside}", "{inside} does not exist: a part of the path is not a folder"},
	{"pull {web}/x-00001-of-00000.gguf",
		"x-00001-of-00000.gguf says that the model has 00000 parts; see gemwire pull --help"},
	{"pull {web}/x-00001-of-00002.gguf --sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"--sha256 is for one file, and this model has 2; see gemwire pull --help"},
	{"adapter inspect",
		"gemwire adapter inspect takes ADAPTER, and nothing was given; see gemwire adapter inspect --help"},
	{"adapter inspect {missing}", "{missing} does not exist; check the path"},
	{"adapter inspect {text}",
		"{text} is not an adapter; name a PEFT folder, or a .gguf file from llama.cpp or gemwire train"},
	{"adapter inspect {model}",
		`{model}: unusable adapter: the file holds no adapter, by its general.type ""; it may be a model`},
	{"adapter inspect {folder}", "{folder}: unusable adapter: adapter_config.json is missing next to the weights"},
	{"adapter inspct x", `unknown command "inspct"; did you mean inspect? See gemwire adapter --help`},
	{"adapter convert {lora}",
		"gemwire adapter convert takes ADAPTER TO, and 1 argument was given; see gemwire adapter convert " +
			"--help"},
	{"adapter convert {lora} {inside}", "cannot write: {plain} is a file, and no folder can be made there"},
	{"adapter convert {lora} {inside}.gguf",
		"cannot write: {inside}.gguf does not exist: a part of the path is not a folder"},
	{"adapter merge", "nothing to merge; add adapters with --lora; see gemwire adapter merge --help"},
	{"adapter merge --lora {missing}", "{missing} does not exist; check the path"},
	{"adapter merge --lora {lora} --type Q99",
		`--type "Q99": there is no such type; use Q8_0, F16, F32 or another of gemwire inspect's; see ` +
			"gemwire adapter merge --help"},
	{"adapter merge --lora {lora} -o {inside}",
		"cannot write: {inside} does not exist: a part of the path is not a folder"},
	{"adapter merge {llama} --lora {lora} -o {out}",
		`this file holds a "llama4" model and only "gemma4" and "gemma3" ones can be run: choose a Gemma 4 file, such as ` +
			"gemma4:e2b from Ollama's library"},
	{"train", "gemwire train takes DATA, and nothing was given; see gemwire train --help"},
	{"train {missing} --device cpu", "{missing} does not exist; check the path"},
	{"train {folder} --device cpu", "{folder} is a folder; name a file"},
	{"train {empty} --held-out none --device cpu",
		"{empty}: unusable training line: there are no examples; --skip-bad-lines skips them"},
	{"train {lines} --device cpu",
		"{lines}: line 2: unusable training line: it is no JSON: something is wrong at byte 2; " +
			"--skip-bad-lines skips them"},
	{"train {text} --device cpu",
		"{text}: line 1: unusable training line: it is no JSON: something is wrong at byte 1; " +
			"--skip-bad-lines skips them"},
	{"train {facts} --held-out hot% --device cpu",
		`--held-out "hot%": use a share such as 5%, auto, none, or a file; see gemwire train --help`},
	{"train {facts} --held-out {missing} --device cpu", "{missing} does not exist; check the path"},
	{"train {facts} --layers x --device cpu", `--layers "x": use a list such as 0-11,20; see gemwire train --help`},
	{"train {facts} --layers 99 --device cpu", "--layers 99: the model has layers 0 to 5; see gemwire train --help"},
	{"train {facts} --linears x --device cpu",
		`--linears: no such linear to adapt: "x" is none of q, k, v, output, gate, up, down; see gemwire ` +
			"train --help"},
	{"train {facts} --rank 0 --device cpu", "--rank is 0, wanted 1 or more; see gemwire train --help"},
	{"train {facts} --rank hot --device cpu", "--rank is hot; wanted a whole number; see gemwire train --help"},
	{"train {facts} --rate -1 --device cpu",
		"--rate is -1; wanted a number above 0 and at most 1, such as 2e-4; see gemwire train --help"},
	{"train {facts} --rate hot --device cpu", "--rate is hot; wanted a number; see gemwire train --help"},
	{"train {facts} --schedule wild --device cpu",
		`--schedule "wild": use one of constant, linear, cosine, cosine-restarts; see gemwire train --help`},
	{"train {facts} --precision f64 --device cpu",
		`--precision "f64": use auto, f32 or f16; see gemwire train --help`},
	{"train {facts} --recompute maybe --device cpu", `--recompute "maybe": use auto or on; see gemwire train --help`},
	{"train {facts} --keep some --device cpu", `--keep "some": use auto, none or a number; see gemwire train --help`},
	{"train {facts} --epochs 0 --device cpu", "--epochs is 0, wanted 1 or more; see gemwire train --help"},
	{"train {facts} --epochs 2 --steps 2 --device cpu",
		"--epochs and --steps exclude each other; give one; see gemwire train --help"},
	{"train {facts} --word-dropout 2 --device cpu",
		"--word-dropout is 2, wanted a part from 0 to 1; see gemwire train --help"},
	{"train {facts} --patience -1 --device cpu", "--patience is -1, wanted 0 or more; see gemwire train --help"},
	{"train {facts} --warmup -1 --device cpu", "--warmup is -1, wanted 0 or more; see gemwire train --help"},
	{"train {facts} --alpha nan --device cpu", "--alpha is NaN, wanted a number, 0 or more; see gemwire train --help"},
	{"train {facts} --rank 9999 --keep none --device cpu -o {out}",
		"unusable training settings: a rank of 9999; 4 to 64 are usual; see gemwire train --help"},
	{"train {facts} --warmup 9 --steps 3 --keep none --device cpu -o {out}",
		"unusable schedule: 3 steps, 9 of them warm-up; see gemwire train --help"},
	{"train {facts} --output= --device cpu",
		"the name to write to is empty; give one with --output; see gemwire train --help"},
	{"adapter merge --lora {lora} --output=", "the name to write to is empty; give one; see gemwire adapter merge --help"},
	{"train {facts} --plot x.png --device cpu",
		`--plot "x.png": the plot is an SVG file; its name must end in .svg; see gemwire train --help`},
	{"train {facts} --resume -o {out} --device cpu",
		"there is no checkpoint {out}.checkpoint to continue from; see gemwire train --help"},
	{"train {facts} --preview -1 --device cpu",
		"--preview is -1 and --checkpoint-every 50; neither may be negative; see gemwire train --help"},
	{"eval {missing} --device cpu", "{missing} does not exist; check the path"},
	{"eval {text} --device cpu", "{text} holds no examples in JSON; --perplexity {text} judges by a plain text"},
	{"eval {lines} --device cpu",
		"{lines}: line 2: unusable training line: it is no JSON: something is wrong at byte 2; " +
			"--skip-bad-lines skips them"},
	{"eval {facts} --limit -1 --device cpu",
		"--max-tokens is 256 and --limit -1; neither may be negative; see gemwire eval --help"},
	{"eval {facts} --lora {text} --device cpu",
		"{text} is not an adapter; name a PEFT folder, or a .gguf file from llama.cpp or gemwire train"},
	{"tokenize {missing} x", "no such model: the file {missing} does not exist; check the path, or see gemwire list"},
	{"tokenize {text} x", "{text}: not a GGUF file; name a .gguf file"},
	{"detokenize 1,b",
		`"b" is not a token id; use numbers separated by commas, such as 2,105,9259; see gemwire detokenize ` +
			"--help"},
	{"detokenize 99999", "no such token: 99999 at position 0 (the vocabulary has 2048)"},
	{"detokenize -- -1", "no such token: -1 at position 0 (the vocabulary has 2048)"},
	{"detokenize 99999999999999",
		`"99999999999999" is not a token id; use numbers separated by commas, such as 2,105,9259; see ` +
			"gemwire detokenize --help"},
	{"render", "gemwire render takes CHAT.json, and nothing was given; see gemwire render --help"},
	{"render {missing}", "{missing} does not exist; check the path"},
	{"render {text}",
		"{text} is not a conversation: it is no JSON: something is wrong at byte 1; expected " +
			`{"messages":[{"role":"user","content":"Hi"}],"options":{}}`},
	{"render {list}",
		`{list} is a list, and no conversation: expected {"messages":[{"role":"user","content":"Hi"}],"options":{}}`},
	{"render {json}",
		"{json} is not a conversation: it is no JSON: it ends too early; expected " +
			`{"messages":[{"role":"user","content":"Hi"}],"options":{}}`},
	{"render {number}",
		"{number} is not a conversation: there is a number where a list belongs, at byte 14; expected " +
			`{"messages":[{"role":"user","content":"Hi"}],"options":{}}`},
	{"render {folder}", "{folder} is a folder; name a file"},
	{"render {roles} --template 1b",
		`--template "1b": use e2b (also for E4B and nano) or 31b (also for 12B and 26B); see gemwire render ` +
			"--help"},
	{"render {roles} --case x",
		`{roles} has one conversation, not a list, so --case "x" does not apply; see gemwire render --help`},
	{"logits", "no file to write to; give one with -o FILE; see gemwire logits --help"},
	{"logits --ids 1,x -o {out}",
		`--ids: "x" is not a token id; use numbers separated by commas; see gemwire logits --help`},
	{"logits --ids 1", "no file to write to; give one with -o FILE; see gemwire logits --help"},
	{"logits --ids 99999 -o {out} --device cpu",
		"not supported: token 99999 at position 0; the vocabulary has tokens 0 to 2047"},
	{"logits --ids 1 -o {inside} --device cpu",
		"cannot write: {inside} does not exist: a part of the path is not a folder"},
	{"parity",
		"nothing to compare with; give a folder with cases, a case, or --against-ollama URL; see gemwire " +
			"parity --help"},
	{"parity --against-ollama x --model nano",
		`--against-ollama "x": use an address such as http://localhost:11434; see gemwire parity --help`},
	{"parity --against-ollama http://x --model nano --tokens 0",
		"--tokens is 0; wanted 1 or more; see gemwire parity --help"},
	{"parity {missing}",
		"no conformance case: {missing}.json does not exist; name a folder such as testdata/conformance, or " +
			"a case in it"},
	{"parity {folder}",
		"no conformance case: {folder} holds no NAME.json with a NAME.gguf, no chat.json, tokenizer.json or " +
			"cases.json; name a folder such as testdata/conformance, or a case in it"},
	{"bench --prompt-tokens x", "--prompt-tokens is x; wanted a whole number; see gemwire bench --help"},
	{"bench --prompt-tokens 99999 --device cpu",
		"nothing to measure: 100128 tokens in total are more than the 4096 this model can hold; see gemwire " +
			"bench --help"},
	{"bench nope",
		"no such model: nope is not a file, was not pulled, and Ollama has no models here; gemwire list " +
			"shows the models, ollama pull nope or gemwire pull URL downloads one"},
	{"bench {llama} --device cpu",
		`{llama}: this file holds a "llama4" model and only "gemma4" and "gemma3" ones can be run: choose a Gemma 4 file, ` +
			"such as gemma4:e2b from Ollama's library"},
	{"serve --addr localhost",
		`--addr "localhost": use an address and a port, such as 127.0.0.1:8080; see gemwire serve --help`},
	{"serve --addr 127.0.0.1:99999",
		"--addr 127.0.0.1:99999: ports are numbers from 0 to 65535; see gemwire serve --help"},
	{"serve --models {missing}", "--models: {missing} does not exist; check the path"},
	{"serve --models {model}",
		"--models {model} is not a folder; name the folder with the files; see gemwire serve --help"},
	{"serve --app {missing}", "the app for /: {missing} does not exist; check the path"},
	{"serve --app {text}",
		"the app for /: {text} is not a folder; name the folder with the files; see gemwire serve --help"},
	{"serve --app /models/={folder}", `no app can be at "/models/"; say / or /name/; see gemwire serve --help`},
	{"serve --app {folder} --app {folder}", "two apps at /; see gemwire serve --help"},
	{"serve --cors example.org --app {folder}",
		`origin "example.org": say https://example.org, without a path, or * for all; see gemwire serve ` +
			"--help"},
	{"serve --results {inside} --app {folder}", "--results: {plain} is a file, and no folder can be made there"},
	{"serve --open-network --addr 127.0.0.1:0",
		"--addr 127.0.0.1:0 and --open-network contradict each other; give only the port, as in --addr :8080 " +
			"--open-network; see gemwire serve --help"},
	{"convert {missing}", "gemwire convert takes FOLDER OUT, and 1 argument was given; see gemwire convert --help"},
	{"convert {missing} {out}", "{missing}/config.json does not exist; check the path"},
	{"convert {text} {out}", "{text}/config.json does not exist: a part of the path is not a folder"},
	{"convert {folder} {out}", "{folder}/config.json does not exist; check the path"},
	{"convert {folder} {out} --type Q99",
		`--type "Q99": use F32, F16, BF16 or Q8_0, and gemwire quantize for others; see gemwire convert --help`},
	{"quantize {model} {out}",
		"gemwire quantize takes IN OUT TYPE, and 2 arguments were given; see gemwire quantize --help"},
	{"quantize {missing} {out} F16",
		"no such model: the file {missing} does not exist; check the path, or see gemwire list"},
	{"quantize {text} {out} F16", "{text}: not a GGUF file; name a .gguf file"},
	{"quantize {model} {model} F16",
		"{model} is the input; name another file to write to; see gemwire quantize --help"},
	{"quantize {model} {out} F16",
		"{model}: per_layer_token_embd.weight is Q4_K: already quantized; take the model in 16 bits, or " +
			"--allow-requantize, which loses more"},
	{"quantize {model} {out} F16 --imatrix {missing}", "{missing} does not exist; check the path"},
	{"quantize {model} {out} F16 --tensor-type x",
		`--tensor-type "x" is not PATTERN=TYPE, such as ffn_down=q8_0: tensor type does not fit; see gemwire ` +
			"quantize --help"},
	{"quantize {model} {out} F16 --tensor-type x=Q99",
		`--tensor-type "x=Q99": no type is named "Q99": unsupported tensor type; see gemwire quantize --help`},
	{"quantize {model} {out} F16 --tensor-type (=F16",
		`--tensor-type "(" is not a regular expression: missing closing ): "("; see gemwire quantize --help`},
	{"quantize {model} {out} F16 --output-tensor-type x",
		`--output-tensor-type: no type is named "x": unsupported tensor type; see gemwire quantize --help`},
	{"quantize {model} {inside} F16 --allow-requantize",
		"cannot write: {inside} does not exist: a part of the path is not a folder"},
	{"imatrix {model}", "gemwire imatrix takes MODEL TEXT, and 1 argument was given; see gemwire imatrix --help"},
	{"imatrix {model} {missing}", "{missing} does not exist; check the path"},
	{"imatrix {model} {folder}", "{folder} is a folder; name a file"},
	{"imatrix {model} {text}",
		"{text}: 9 tokens are less than one chunk of 512: text too short; use a longer text or a smaller --context"},
	{"imatrix {model} {text} --context 0", "--context is 0; wanted 1 or more; see gemwire imatrix --help"},
	{"embed", "gemwire embed takes MODEL [TEXT...], and nothing was given; see gemwire embed --help"},
	{"embed {text}",
		"nothing to embed: {text} is the MODEL; give texts behind it, --image or --audio, or - for texts on standard " +
			"input; see gemwire embed --help"},
	{"embed {model} Hi",
		`{model}: general.architecture is "gemma4" and only "gemma-embedding2" ones make embeddings: choose ` +
			"a file such as embeddinggemma-2-Q8_0.gguf"},
	{"embed {text} Hi", "{text}: not a GGUF file; name a .gguf file"},
	{"eval", "name a file of examples, or a text with --perplexity; see gemwire eval --help"},
	{"eval --perplexity {missing} --device cpu", "{missing} does not exist; check the path"},
	{"eval --perplexity {folder} --device cpu", "{folder} is a folder; name a file"},
	{"eval --perplexity {text} --device cpu",
		"{text}: 9 tokens are less than one chunk of 512: text too short; use a longer text or a smaller --context"},
	{"eval --kl-base {missing}",
		"--kl-base: there is no {missing}; add --perplexity FILE to write it; see gemwire eval --help"},
	{"batch", "gemwire batch takes REQUESTS.jsonl, and nothing was given; see gemwire batch --help"},
	{"batch {text}",
		"say where the answers go, with --output FILE, or --output - for standard output; see gemwire batch --help"},
	{"batch {missing} -o {out}", "{missing} does not exist; check the path"},
	{"batch {folder} -o {out}", "reading the requests: {folder} is a folder; name a file"},
	{"batch {text} -o {inside}", "cannot write: {inside} does not exist: a part of the path is not a folder"},
	{"batch {text} -o {missing}/x", "cannot write: {missing}/x does not exist; check the path"},
	{"batch {text} -o {folder}", "{folder} is a folder; name a file"},
	{"batch {text} -o {out} --shard x",
		`--shard "x": use I/N, such as 0/8 for the first of eight; see gemwire batch --help`},
	{"batch {text} -o {out} --shard 3/2",
		"--shard 3/2: shards are counted from 0, so the last of 2 is 1/2; see gemwire batch --help"},
	{"batch {text} -o {out} --upload-every soon",
		"--upload-every is soon; wanted a time such as 30s, 5m or 1h; see gemwire batch --help"},
	{"batch {text} -o {out} --context -1", "--context is -1; wanted 1 or more; see gemwire batch --help"},
	{"batch {text} -o {out} --parallel 0", "--parallel is 0; wanted 1 to 64; see gemwire batch --help"},
	{"batch {text} -o - --retry-failed",
		"--retry-failed is for an output that is a file, and - is none; see gemwire batch --help"},
	{"batch s3://bucket -o {out}",
		`not an address of an object: "s3://bucket"; use s3://BUCKET/KEY; see gemwire batch --help`},
	{"serve --keep-alive soon", "--keep-alive is soon; wanted a time such as 30s, 5m or 1h; see gemwire serve --help"},
	{"serve --max-body much", `--max-body: "much" is not a size; use 6GB or 512MiB; see gemwire serve --help`},
	{"serve --parallel 0", "--parallel is 0 and --max-models 3; both must be 1 or more; see gemwire serve --help"},
	{"serve --lora x", `--lora "x": use NAME=FILE, such as support=./adapter; see gemwire serve --help`},
	{"serve --tls-cert {text}", "--tls-cert and --tls-key belong together; give both; see gemwire serve --help"},
	{"serve nope",
		"no such model: nope is not a file, was not pulled, and Ollama has no models here; gemwire list " +
			"shows the models, ollama pull nope or gemwire pull URL downloads one"},
	{"run --schema {json} Hi",
		"--schema {json}: cannot be read: the schema is not valid JSON: it ends too early, at byte 11"},
	{"run --regex ( Hi", `--regex: cannot be read: pattern "(": missing closing ): "("; see gemwire run --help`},
	{"run --schema { Hi",
		"--schema: cannot be read: the schema is not valid JSON: it ends too early, at byte 1; see gemwire run --help"},
	{"run --choice= Hi", "--choice: give a text, and another with another --choice; see gemwire run --help"},
	{"run --grammar {text} Hi", `--grammar: cannot be read: line 1 of the grammar: ::= is missing behind "These"`},
	{"vresion", `unknown command "vresion"; did you mean version? See gemwire --help`},
	{"help nosuch", `unknown command "nosuch"; gemwire --help lists what there is; see gemwire help --help`},
	{"help trian", `unknown command "trian"; did you mean train? See gemwire help --help`},
	{"help adapter inspct", `unknown command "inspct"; did you mean inspect? See gemwire help --help`},
	{"help run x", `unknown command "x"; gemwire run --help lists what there is; see gemwire help --help`},
	{"completion fisch", `unknown command "fisch"; did you mean fish? See gemwire completion --help`},
	{"completion foo", `unknown command "foo"; see gemwire completion --help`},
	{"completion bash x",
		`gemwire completion bash takes no arguments, and "x" is one; see gemwire completion bash --help`},
	{"doctor x", `gemwire doctor takes no arguments, and "x" is one; see gemwire doctor --help`},
	{"version x", `gemwire version takes no arguments, and "x" is one; see gemwire version --help`},
	{"wlak", `unknown command "wlak"; see gemwire --help`},
	{"--frobnicate", "unknown option --frobnicate; see gemwire --help"},
}

// internals are words that belong to Go and to this program's inside.
var internals = regexp.MustCompile(`strconv\.|%!|\bstat\b|\blstat\b|\bopen /|\bread /|\bmkdir\b|\bunlink|` +
	`0x[0-9a-f]{4}|e\+\d\d|<nil>|goroutine|invalid argument|invalid syntax|unexpected end|dial tcp|lookup ` +
	`|arg\(s\)|runtime error|invalid duration|: grammar: |` +
	`json:|(^| )gguf:|(^| )ollama:|metadata key|no such file or directory|errno|EOF\b|unsupported protocol`)

// sentinels are the kinds of errors that callers tell apart.
var sentinels = []error{
	gemma4.ErrContextFull, gemma4.ErrUnsupported, gemma4.ErrDoesNotFit, adapter.ErrFormat,
	adapter.ErrTarget, arch.ErrArchitecture, arch.ErrConfig, gguf.ErrNotGGUF, gguf.ErrMissingKey, gguf.ErrTruncated,
	ollama.ErrNoStore, ollama.ErrNotFound, ollama.ErrName, modelref.ErrNotFound,
}

// Every mistake that a user can make is answered by one sentence in the user's words.
func TestEveryMistake(t *testing.T) {
	cases.Long(t)
	files := newMistakeFiles(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, tt := range everyMistake {
		t.Run(tt.line, func(t *testing.T) {
			var words []string
			for _, word := range strings.Fields(tt.line) {
				if !braces.MatchString(word) {
					word = strings.ReplaceAll(word, "_", " ")
				}
				words = append(words, files.in(t, word))
			}
			if slices.Contains([]string{"run", "chat"}, words[0]) && !strings.Contains(tt.line, "--device") {
				words = append(words, "--device", "cpu")
			}
			got := gemwire(t, "", words...)
			lines := strings.Split(strings.TrimSuffix(got.err, "\n"), "\n")
			message, ours := strings.CutPrefix(lines[len(lines)-1], "gemwire: ")
			message = files.out(message)
			t.Log(message)
			if got.code != 1 && got.code != 2 || got.out != "" || !ours {
				t.Errorf("exit status %d, output %q, message %q: want a sentence", got.code, got.out, got.err)
			}
			for _, line := range lines { // those before tell of further tries
				checkWords(t, files.out(line))
			}
			if usage := strings.HasSuffix(tt.says, " --help"); usage != (got.code == cli.ExitUsage) {
				t.Errorf("exit status %d, want %d for usage alone", got.code, cli.ExitUsage)
			}
			if message != tt.says {
				t.Errorf("it says\n%q, want\n%q", message, tt.says)
			}
		})
	}
}

// out puts the words in braces back, the longest paths first.
func (m mistakeFiles) out(text string) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(m[b]), len(m[a])), cmp.Compare(a, b))
	})
	for _, name := range names {
		if name != "ids" {
			text = strings.ReplaceAll(text, m[name], "{"+name+"}")
		}
	}
	return text
}

// checkWords refuses what no sentence for users has.
func checkWords(t *testing.T, message string) {
	t.Helper()
	if found := internals.FindString(message); found != "" {
		t.Errorf("%q has %q", message, found)
	}
	for _, s := range sentinels {
		if strings.Count(message, s.Error()) > 1 {
			t.Errorf("%q says %q twice", message, s)
		}
	}
	said := map[string]bool{}
	for _, clause := range regexp.MustCompile(`[:;] `).Split(message, -1) {
		if said[clause] {
			t.Errorf("%q says %q twice", message, clause)
		}
		said[clause] = true
	}
}
