package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/download"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// pullCommand downloads a model.
type pullCommand struct {
	env     *environment
	output  string
	sha256  string
	headers []string
	force   bool
}

func newPull(env *environment) *cobra.Command {
	p := &pullCommand{env: env}
	cmd := &cobra.Command{
		Use:   "pull URL",
		Short: "Download a model",
		Long: `Download a GGUF file. It goes where "gemwire list" and every MODEL find it by its
name ($GEMWIRE_MODELS, or gemwire/models in the user's cache), or to --output.

A download that broke off goes on where it was when the same command is given
again, as long as the server still has the same file. Until it is whole and
checked, it has no name but FILE.part. The path is printed on standard output.`,
		Example: examples(
			`gemwire pull https://huggingface.co/ggml-org/gemma-4-E2B-it-GGUF/resolve/main/gemma-4-E2B-it-Q4_K_M.gguf`,
			`gemwire pull https://example.org/model.gguf --sha256 sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
			`gemwire pull https://example.org/model.gguf --output ./models/`,
			`gemwire pull https://example.org/private.gguf --header "Authorization: Bearer $TOKEN"`,
			`gemwire chat "$(gemwire pull https://example.org/model.gguf)"`,
		),
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return p.run(cmd.Context(), list[0]) },
	}
	cmd.Flags().StringVarP(&p.output, "output", "o", "", "store it as this `FILE`, or in this folder")
	cmd.Flags().StringVar(&p.sha256, "sha256", "", "check the file against this `SUM`, as hexadecimal digits or as sha256:…")
	cmd.Flags().StringArrayVar(&p.headers, "header", nil, "send this `HEADER` with each request, such as \"Authorization: Bearer …\"")
	cmd.Flags().BoolVar(&p.force, "force", false, "download it even where it is there already")
	return cmd
}

func (p *pullCommand) run(ctx context.Context, address string) error {
	address, ok := modelref.DirectURL(address)
	if !ok {
		return usagef("pull takes an address that begins with https://; models of Ollama's library come with ollama pull, and gemwire finds them then")
	}
	if p.sha256 != "" {
		sum, err := download.ParseSHA256(p.sha256)
		if err != nil {
			return usageError{err}
		}
		p.sha256 = sum
	}
	header, err := parseHeaders(p.headers)
	if err != nil {
		return err
	}
	parts, err := splitURLs(address)
	if err != nil {
		return err
	}
	if len(parts) > 1 && p.sha256 != "" {
		return usagef("--sha256 is of one file, and this model has %d", len(parts))
	}
	var first string
	for i, part := range parts {
		target, err := p.target(part, len(parts))
		if err != nil {
			return err
		}
		if err := p.one(ctx, part, target, header); err != nil {
			return err
		}
		if i == 0 {
			first = target
		}
	}
	_, err = fmt.Fprintln(p.env.out, first)
	return err
}

// one downloads one file, unless it is there.
func (p *pullCommand) one(ctx context.Context, address, target string, header http.Header) error {
	progress := terminal.NewProgress(p.env.err, true)
	defer progress.Clear()
	report := func(step download.Step, done, total int64) { progress.Set(string(step), done, total) }
	if _, err := os.Stat(target); err == nil && !p.force {
		return p.alreadyThere(ctx, target, report)
	}
	result, err := download.Fetch(ctx, address, target, download.Options{
		Header: header, SHA256: p.sha256, Progress: report,
		Notice: func(text string) {
			progress.Clear()
			p.env.say("gemwire: %s", text)
		},
	})
	progress.Clear()
	if errors.Is(err, download.ErrStopped) {
		p.env.say("gemwire: stopped; the same command goes on from there")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", withoutSecrets(address), err)
	}
	p.env.say("%s", describeResult(result, target))
	return nil
}

// describeResult says what was downloaded.
func describeResult(r download.Result, target string) string {
	text := fmt.Sprintf("%s, %s", filepath.Base(target), byteCount(r.Size))
	if r.Resumed > 0 {
		text += fmt.Sprintf(", of which %s were there before", byteCount(r.Resumed))
	}
	if r.SHA256 != "" {
		return text + "; its SHA-256 is right"
	}
	return text
}

// alreadyThere takes a file that was downloaded before, if it is the right one.
func (p *pullCommand) alreadyThere(ctx context.Context, target string, report func(download.Step, int64, int64)) error {
	if p.sha256 != "" {
		if err := download.Verify(ctx, target, p.sha256, report); err != nil {
			return fmt.Errorf("%s is there already, but %w; --force downloads it again", target, err)
		}
	}
	p.env.say("%s is there already; --force downloads it again", target)
	return nil
}

// target is the file that an address goes to.
func (p *pullCommand) target(address string, parts int) (string, error) {
	name, err := fileName(address)
	if err != nil {
		return "", err
	}
	if p.output == "" {
		folder := p.env.finder().Folder
		if folder == "" {
			return "", errors.New("there is no folder for models; name a file with --output")
		}
		if !strings.HasSuffix(name, ".gguf") {
			name += ".gguf"
		}
		return filepath.Join(folder, name), nil
	}
	info, err := os.Stat(p.output)
	isFolder := err == nil && info.IsDir() || strings.HasSuffix(p.output, "/") || strings.HasSuffix(p.output, string(os.PathSeparator))
	if isFolder {
		return filepath.Join(p.output, name), nil
	}
	if parts > 1 {
		return "", usagef("this model has %d files; name a folder with --output", parts)
	}
	return p.output, nil
}

// fileName is the last element of an address's path, if it can name a file.
func fileName(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", usagef("that is no address of a file")
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" || name == ".." || strings.ContainsAny(name, `\:*?"<>|`) || printable(name) != name {
		return "", usagef("%s names no file; give the address of the .gguf file itself", withoutSecrets(address))
	}
	return name, nil
}

// withoutSecrets is an address without password and query.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
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
		return nil, usagef("that is no address: %v", err)
	}
	m := splitName.FindStringSubmatch(u.Path)
	if m == nil {
		return []string{address}, nil
	}
	count, err := strconv.Atoi(m[3])
	if err != nil || count < 1 || count > maxSplit {
		return nil, usagef("%s says that the model has %s parts", path.Base(u.Path), m[3])
	}
	list := make([]string, count)
	for i := range list {
		u.Path, u.RawPath = fmt.Sprintf("%s%05d-of-%s%s", m[1], i+1, m[3], m[4]), ""
		list[i] = u.String()
	}
	return list, nil
}
