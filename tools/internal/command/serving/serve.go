package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/command/models"
	"github.com/gemwire/gemwire/tools/internal/serve"
	"github.com/gemwire/gemwire/tools/internal/webapp"
)

// serveCommand serves apps and models to browsers.
type serveCommand struct {
	env     *cli.Environment
	addr    string
	open    bool
	https   bool
	apps    []string
	models  []string
	ollama  bool
	origins []string
	names   []string
	results string
	verbose bool
	api     serveAPI

	noApp string // why there is no web app, where that is so
}

// defaultServeAddr is the address of a server that nobody else reaches.
const defaultServeAddr = "127.0.0.1:8080"

func NewServe(env *cli.Environment) *cobra.Command {
	s := &serveCommand{env: env}
	cmd := &cobra.Command{
		Use:   "serve [MODEL…]",
		Short: "Serve the APIs of Ollama, OpenAI and Anthropic, the apps and models",
		Long: `Answer the APIs of Ollama (/api), OpenAI (/v1) and Anthropic (/v1/messages), and
serve the web app, the benchmark page and models to browsers on this machine,
until Ctrl-C. It prints the URLs to open on standard output.

The APIs have the models of "gemwire list". A model is loaded when it is first
asked for, stays for --keep-alive, and makes room when another needs its memory.
The MODELs named here are loaded at once, and stay until their memory is needed;
a file or URL among them is called by its file's name. Where Ollama's own address
is free ($OLLAMA_HOST, or 127.0.0.1:11434), the APIs answer there too.

Only this machine can reach the server, unless --open-network or --addr says
otherwise: then give it an --api-key. On a phone, browsers offer WebGPU only to
pages over HTTPS: --https creates a certificate, which you accept once on the
phone.

Browsers get only the apps, the .gguf files in the folders given with --models,
and with --ollama the models in Ollama's store. Programs find their list, with
sizes and digests, at /models. Pages from other servers on this machine can use
everything too; pages from elsewhere need --cors. /health says whether the server
runs, and /metrics counts what it does, for Prometheus.`,
		Example: cli.Examples(
			`gemwire serve`,
			`gemwire serve gemma4:e2b --keep-alive 1h`,
			`gemwire serve --open-network --api-key "$KEY" --tls-cert server.crt --tls-key server.key`,
			`gemwire serve gemma4:e4b --lora support=./support-adapter`,
			`gemwire serve --ollama --https --open-network`,
			`gemwire serve --models ./models --addr 127.0.0.1:9000 --cors https://example.org`,
			`gemwire serve --app ./dist --app /bench/=./examples/bench --app /gemwire/=./bindings/wasm/npm/dist`,
		),
		Args: cli.Args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error {
			if s.open && cmd.Flags().Changed("addr") && !strings.HasPrefix(s.addr, ":") {
				return cli.Usagef(
					"--addr %s and --open-network contradict each other; give only the port, as in --addr :8080 "+
						"--open-network", s.addr)
			}
			s.api.preload = list
			return s.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.addr, "addr", defaultServeAddr, "listen on this `ADDRESS`; port 0 means any free port")
	flags.BoolVar(&s.open, "open-network", false, "allow other machines on the network")
	flags.BoolVar(&s.https, "https", false, "use HTTPS, with a certificate made here")
	flags.StringArrayVar(&s.apps, "app", nil, "serve this `FOLDER`, or /PATH/=FOLDER, instead of the usual apps")
	flags.StringArrayVar(&s.models, "models", nil, "serve the .gguf files in this `FOLDER`")
	flags.BoolVar(&s.ollama, "ollama", false, "serve the models in Ollama's store")
	flags.StringArrayVar(&s.origins, "cors", nil,
		"let pages from this `ORIGIN` read models and use the APIs, such as https://example.org; * means all")
	flags.StringArrayVar(&s.names, "name", nil, "also answer to this host `NAME`")
	flags.StringVar(&s.results, "results", "", "save figures that pages post to /results in this `FOLDER`")
	flags.BoolVar(&s.verbose, "verbose", false, "print each request")
	s.api.register(flags)
	return cmd
}

func (s *serveCommand) run(ctx context.Context) (ended error) {
	if err := s.api.check(s); err != nil {
		return err
	}
	opts, err := s.options()
	if err != nil {
		return err
	}
	listener, err := s.listen(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	local := netip.MustParseAddrPort(listener.Addr().String())
	opts.Open = !local.Addr().IsLoopback()
	if opts.Open {
		opts.Names = append(opts.Names, serve.HostNames()...)
	}
	var certificate *tls.Certificate
	var identity serve.Identity
	if certificate, err = s.api.certificate(); err != nil {
		return err
	}
	if s.https {
		if identity, err = s.identity(local); err != nil {
			return err
		}
		certificate, opts.Authority = &identity.Certificate, identity.Authority
	}
	pages, err := serve.New(opts)
	if err != nil {
		return usageOf(err)
	}
	apis, err := s.newAPIs(opts, pages)
	if err != nil {
		return usageOf(err)
	}
	defer func() { ended = errors.Join(ended, apis.Close()) }()
	if err := s.loadModels(ctx, apis); err != nil {
		return err
	}
	if err := s.announce(local, opts, identity); err != nil {
		return err
	}
	return s.runAll(ctx, apis, listener, certificate)
}

// usageOf is err as a mistake in the command line, where it is one.
func usageOf(err error) error {
	if errors.Is(err, serve.ErrOptions) {
		return cli.Usage(errors.New(strings.TrimSuffix(err.Error(), ": "+serve.ErrOptions.Error())))
	}
	return err
}

// options are what is to be served.
func (s *serveCommand) options() (serve.Options, error) {
	opts := serve.Options{Models: s.models, Results: s.results, Origins: s.origins, Names: s.names}
	var err error
	if opts.Apps, err = s.findApps(); err != nil {
		return opts, err
	}
	for _, folder := range s.models {
		if err := s.checkModels(folder); err != nil {
			return opts, err
		}
	}
	if s.ollama {
		if opts.Store, err = s.env.Finder().Store(); err != nil {
			if missing := s.env.Finder().MissingStore(); missing != "" {
				err = errors.New(missing)
			}
			return opts, fmt.Errorf("--ollama: %w", err)
		}
	}
	if s.results != "" {
		if err := os.MkdirAll(s.results, 0o755); err != nil {
			return opts, fmt.Errorf("--results: %w", err)
		}
	}
	if s.verbose {
		opts.Log = func(method, path string, status int, bytes int64) {
			s.env.Say("%s %s %s %d %s", time.Now().Format(time.TimeOnly), method, flagset.Printable(path), status,
				models.ByteCount(bytes))
		}
	}
	return opts, nil
}

// usualApps are the apps of the clone, or the one that this program carries.
func (s *serveCommand) usualApps() ([]serve.App, error) {
	apps := serve.FindApps()
	if slices.ContainsFunc(apps, func(a serve.App) bool { return a.Path == "/" }) {
		return apps, nil
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		var folder string
		if folder, err = webapp.Unpack(cache); err == nil {
			return append([]serve.App{{Path: "/", Folder: folder}}, apps...), nil
		}
	}
	switch {
	case !errors.Is(err, webapp.ErrNone):
		return apps, fmt.Errorf("%w; name the app's folder with --app", err)
	case serve.InClone():
		s.noApp = "the web app is not built; build it with make web, or name its folder with --app"
	default:
		s.noApp = "this build of gemwire has no web app in it; take a released one, start it in a clone after make web, or " +
			"name the app's folder with --app"
	}
	return apps, nil
}

func (s *serveCommand) findApps() ([]serve.App, error) {
	if len(s.apps) == 0 {
		return s.usualApps()
	}
	var apps []serve.App
	for _, text := range s.apps {
		app := serve.App{Path: "/", Folder: text}
		if path, folder, ok := strings.Cut(text, "="); ok && strings.HasPrefix(path, "/") &&
			strings.HasSuffix(path, "/") {
			app = serve.App{Path: path, Folder: folder}
		}
		apps = append(apps, app)
	}
	return apps, nil
}

// checkModels says what of a folder will not be served.
func (s *serveCommand) checkModels(folder string) error {
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		return cli.Usagef("--models %s is not a folder; name the folder with the files", folder)
	}
	if err != nil {
		return fmt.Errorf("--models: %w", err)
	}
	links, err := serve.LinksOut(folder)
	if err != nil {
		return fmt.Errorf("--models: %w", err)
	}
	for _, name := range links {
		s.env.Say(
			"gemwire: %s is not served, because it links outside its folder; serve the folder it leads "+
				"to", flagset.Printable(filepath.Join(folder, name)))
	}
	return nil
}

// listen listens on the address, on this machine alone where none is named.
func (s *serveCommand) listen(ctx context.Context) (net.Listener, error) {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return nil, cli.Usagef("--addr %q: use an address and a port, such as %s", s.addr, defaultServeAddr)
	}
	if n, err := strconv.ParseUint(port, 10, 32); err == nil && n > math.MaxUint16 {
		return nil, cli.Usagef("--addr %s: ports are numbers from 0 to %d", s.addr, math.MaxUint16)
	}
	switch {
	case s.open:
		host = ""
	case host == "" || host == "localhost":
		host = "127.0.0.1"
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf(
			"port %s is in use by another program; choose one with --addr, such as --addr 127.0.0.1:0 for any free "+
				"port", port)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with --addr", s.addr, err)
	}
	return l, nil
}
