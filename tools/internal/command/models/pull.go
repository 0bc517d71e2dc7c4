package models

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/download"
	"github.com/gemwire/gemwire/tools/internal/hub"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// pullCommand downloads a model.
type pullCommand struct {
	env     *cli.Environment
	output  string
	sha256  string
	headers []string
	force   bool
	memory  cli.ByteSize
	alone   pullAlone
}

// pullAlone leaves out what is pulled with a model.
type pullAlone struct{ projector, assistant bool }

// NewPull makes the command.
func NewPull(env *cli.Environment) *cobra.Command {
	p := &pullCommand{env: env}
	cmd := &cobra.Command{
		Use:   "pull NAME|URL",
		Short: "Download a model",
		Long: `Download a model from Hugging Face by its name, hf.co/OWNER/REPO:QUANT, or a GGUF file
by its URL. Addresses of pages on Hugging Face are names, too. Without a QUANT it is the
best that fits the GPU's memory, up to Q8_0, or Q4_K_M where that memory is not known;
pull says which. With the model come all of its parts, its image and audio towers (mmproj,
F16 where there are several) and its assistant, and each is checked with the SHA-256 that
Hugging Face has of it. HF_TOKEN is for gated and private repositories, HF_ENDPOINT for
another server.

Models are kept in a folder where "gemwire list" and MODEL find them by name
($GEMWIRE_MODELS, or gemwire/models in the user's cache), or in --output. Those from Hugging
Face have a folder for each owner and repository. Another file with the same name from
another publisher gets the publisher's name in front.

Run the same command again to resume an interrupted download, as long as the
server still has the same file. Until it is complete and verified, its name is FILE.part.
The path is printed on standard output.`,
		Example: cli.Examples(
			`gemwire pull hf.co/ggml-org/gemma-4-E2B-it-GGUF`,
			`gemwire pull hf.co/unsloth/gemma-4-E2B-it-GGUF:UD-Q4_K_XL`,
			`gemwire pull hf.co/unsloth/gemma-4-E4B-it-GGUF --gpu-memory 8GB`,
			`gemwire pull https://example.org/model.gguf --sha256 `+
				`sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
			`gemwire pull https://example.org/model.gguf --output ./models/`,
			`gemwire pull https://example.org/private.gguf --header "Authorization: Bearer $TOKEN"`,
			`gemwire chat "$(gemwire pull https://example.org/model.gguf)"`,
		),
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return p.run(cmd.Context(), list[0]) },
	}
	cmd.Flags().StringVarP(&p.output, "output", "o", "", "store it as this `FILE`, or in this folder")
	cmd.Flags().StringVar(&p.sha256, "sha256", "",
		"verify the file with this SHA-256 `SUM`, as hexadecimal digits or as sha256:…")
	cmd.Flags().StringArrayVar(&p.headers, "header", nil,
		"send this `HEADER` with each request, such as \"Authorization: Bearer …\"")
	cmd.Flags().Var(&p.memory, "gpu-memory",
		"choose a quantization for this `SIZE` of GPU memory, such as 8GB (default: this machine's)")
	cmd.Flags().BoolVar(&p.alone.projector, "no-mmproj", false, "leave out the image and audio towers")
	cmd.Flags().BoolVar(&p.alone.assistant, "no-assistant", false, "leave out the assistant")
	cmd.Flags().BoolVar(&p.force, "force", false, "download it even if it exists already")
	return cmd
}

func (p *pullCommand) run(ctx context.Context, address string) error {
	if n, ok, err := hub.Parse(address, p.env.Getenv("HF_ENDPOINT")); ok {
		if err != nil {
			return cli.Usage(err)
		}
		return p.runHub(ctx, n)
	}
	name := address
	address, ok := modelref.DirectURL(name)
	if !ok {
		return noAddress(name)
	}
	if p.sha256 != "" {
		sum, err := download.ParseSHA256(p.sha256)
		if err != nil {
			return cli.Usage(err)
		}
		p.sha256 = sum
	}
	header, err := cli.ParseHeaders(p.headers)
	if err != nil {
		return err
	}
	parts, err := splitURLs(address)
	if err != nil {
		return err
	}
	if len(parts) > 1 && p.sha256 != "" {
		return cli.Usagef("--sha256 is for one file, and this model has %d", len(parts))
	}
	var first string
	prefixed := false // a part whose name was taken
	for i, part := range parts {
		target, err := p.target(part, len(parts))
		if err != nil {
			return err
		}
		if prefixed {
			target = filepath.Join(filepath.Dir(target), publishedName(part))
		}
		was := target
		if target, err = p.one(ctx, part, target, header); err != nil {
			return err
		}
		prefixed = prefixed || target != was
		if i == 0 {
			first = target
		}
	}
	_, err = fmt.Fprintln(p.env.Out, first)
	return err
}

// noAddress says what pull takes.
func noAddress(name string) error {
	if owner, repo, ok := strings.Cut(name, "/"); ok && owner != "" && repo != "" && !modelref.LooksLikePath(owner+"/") {
		return cli.Usagef("pull needs a name such as hf.co/%s, or a URL that begins with https://", flagset.Printable(name))
	}
	return cli.Usagef(
		"pull needs a name such as hf.co/ggml-org/gemma-4-E2B-it-GGUF, or a URL that begins with https://; for models " +
			"from Ollama's library use ollama pull, and gemwire will find them")
}

// one downloads one file, unless it is there, and returns where it is.
func (p *pullCommand) one(ctx context.Context, address, target string, header http.Header) (string, error) {
	progress := terminal.NewProgress(p.env.Err, true)
	defer progress.Clear()
	report := func(step download.Step, done, total int64) { progress.Set(string(step), done, total) }
	target, there, err := p.place(address, target)
	if err != nil {
		return "", err
	}
	if there {
		return target, p.alreadyThere(ctx, target, report)
	}
	result, err := download.Fetch(ctx, address, target, download.Options{
		Header: header, SHA256: p.sha256, Progress: report, Remember: p.output == "",
		Notice: func(text string) {
			progress.Clear()
			p.env.Say("gemwire: %s", text)
		},
		Retry: func(err error, try, tries int) {
			progress.Clear()
			p.env.Say("gemwire: %s; try %d of %d", cli.Sentence(err), try, tries)
		},
	})
	progress.Clear()
	if errors.Is(err, download.ErrStopped) {
		p.env.Say("gemwire: stopped; run the same command again to resume")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", download.WithoutSecrets(address), err)
	}
	p.env.Say("%s", describeResult(result, target))
	return target, nil
}

// place is where a file goes, and whether it is there. In the folder of models, a file
// of the same name from another address keeps its name, and the new one gets its
// publisher's in front.
func (p *pullCommand) place(address, target string) (path string, there bool, err error) {
	if p.force {
		return target, false, nil
	}
	for _, candidate := range []string{target, filepath.Join(filepath.Dir(target), publishedName(address))} {
		if _, err := os.Stat(candidate); errors.Is(err, fs.ErrNotExist) {
			return candidate, false, nil
		} else if err != nil {
			return "", false, err
		}
		origin, err := download.OriginOf(candidate)
		if err != nil || origin.URL == download.WithoutSecrets(address) {
			return candidate, true, nil
		}
		if p.output != "" {
			break
		}
		p.env.Say("gemwire: %s exists from another source, %s", candidate, origin.URL)
	}
	return "", false, fmt.Errorf(
		"%s exists already, from another source; name another file with --output, or replace it with --force", target)
}

// describeResult says what was downloaded.
func describeResult(r download.Result, target string) string {
	text := fmt.Sprintf("%s, %s", filepath.Base(target), ByteCount(r.Size))
	if r.Resumed > 0 {
		text += fmt.Sprintf(", of which %s had been downloaded before", ByteCount(r.Resumed))
	}
	if r.SHA256 != "" {
		return text + "; its SHA-256 is correct"
	}
	return text
}

// alreadyThere takes a file that was downloaded before, if it is whole and the right one.
func (p *pullCommand) alreadyThere(ctx context.Context, target string, report func(download.Step, int64, int64)) error {
	err := download.CheckThere(ctx, target)
	if err == nil && p.sha256 != "" {
		err = download.Verify(ctx, target, p.sha256, report)
	}
	if err != nil {
		return fmt.Errorf("%s exists already, but %w; --force downloads it again", target, err)
	}
	p.env.Say("%s exists already; --force downloads it again", target)
	return nil
}

// publishedName is a file's name with that of its publisher before it: the path of the
// address on Hugging Face without what stands between the repository and the file, and
// elsewhere the host.
func publishedName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	before := []string{u.Hostname()}
	if u.Hostname() == "huggingface.co" && len(parts) > 2 {
		before = parts[:2]
	}
	name := strings.Join(append(before, parts[len(parts)-1]), "_")
	if !strings.HasSuffix(name, ".gguf") {
		name += ".gguf"
	}
	return name
}

// target is the file that an address goes to.
func (p *pullCommand) target(address string, parts int) (string, error) {
	name, err := fileName(address)
	if err != nil {
		return "", err
	}
	if p.output == "" {
		folder := p.env.Finder().Folder
		if folder == "" {
			return "", errors.New("no folder for models was found; name a file with --output")
		}
		if !strings.HasSuffix(name, ".gguf") {
			name += ".gguf"
		}
		return filepath.Join(folder, name), nil
	}
	info, err := os.Stat(p.output)
	isFolder := err == nil && info.IsDir() || strings.HasSuffix(p.output, "/") ||
		strings.HasSuffix(p.output, string(os.PathSeparator))
	if isFolder {
		return filepath.Join(p.output, name), nil
	}
	if parts > 1 {
		return "", cli.Usagef("this model has %d files; name a folder with --output", parts)
	}
	return p.output, nil
}

// fileName is the last element of an address's path, if it can name a file.
func fileName(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", cli.Usagef("that is not the URL of a file")
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" || name == ".." || strings.ContainsAny(name, `\:*?"<>|`) ||
		flagset.Printable(name) != name {
		return "", cli.Usagef(
			"%s does not name a file; use the URL of the .gguf file itself", download.WithoutSecrets(address))
	}
	return name, nil
}

// splitName matches the name of a part of a split model.
var splitName = regexp.MustCompile(`^(.*-)(\d{5})-of-(\d{5})(\.gguf)$`)

// maxSplit bounds how many parts a name can ask for.
const maxSplit = 1000

// splitURLs are the addresses of all parts of a model, in order, where the
// address is that of one.
func splitURLs(address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, cli.Usagef("that is not a URL: %w", err)
	}
	m := splitName.FindStringSubmatch(u.Path)
	if m == nil {
		return []string{address}, nil
	}
	count, err := strconv.Atoi(m[3])
	if err != nil || count < 1 || count > maxSplit {
		return nil, cli.Usagef("%s says that the model has %s parts", path.Base(u.Path), m[3])
	}
	list := make([]string, count)
	for i := range list {
		u.Path, u.RawPath = fmt.Sprintf("%s%05d-of-%s%s", m[1], i+1, m[3], m[4]), ""
		list[i] = u.String()
	}
	return list, nil
}
