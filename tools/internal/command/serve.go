package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/serve"
)

// serveCommand serves apps and models to browsers.
type serveCommand struct {
	env     *environment
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
}

// defaultServeAddr is the address of a server that nobody else reaches.
const defaultServeAddr = "127.0.0.1:8080"

func newServe(env *environment) *cobra.Command {
	s := &serveCommand{env: env}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the apps and models to browsers",
		Long: `Serve the web app, the measuring page and models to the browsers of this machine,
until Ctrl-C. Addresses to open are printed on standard output.

Only this machine reaches the server, unless --open-network or --addr says
otherwise. On a phone the GPU is there for pages that came over HTTPS alone:
--https makes a certificate, which the phone asks about once.

Nothing is read but the apps, the .gguf files of the folders given with --models,
and with --ollama the models of Ollama's store. A program finds their list, with
sizes and digests, at /models. Pages of other servers on this machine may load
them too, those from elsewhere only with --cors.`,
		Example: examples(
			`gemwire serve --ollama`,
			`gemwire serve --models ./models --addr 127.0.0.1:9000`,
			`gemwire serve --ollama --https --open-network`,
			`gemwire serve --models ./models --cors https://example.org`,
			`gemwire serve --app ./dist --app /bench/=./examples/bench --app /gemwire/=./bindings/wasm/npm/dist`,
		),
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.open && cmd.Flags().Changed("addr") && !strings.HasPrefix(s.addr, ":") {
				return usagef("--addr %s and --open-network say different things; give the port alone, as in --addr :8080 --open-network", s.addr)
			}
			return s.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.addr, "addr", defaultServeAddr, "listen on this `ADDRESS`; port 0 is any that is free")
	flags.BoolVar(&s.open, "open-network", false, "let other machines of the network in")
	flags.BoolVar(&s.https, "https", false, "speak HTTPS, with a certificate made here")
	flags.StringArrayVar(&s.apps, "app", nil, "serve this `FOLDER`, or /PATH/=FOLDER, in place of the apps of the clone")
	flags.StringArrayVar(&s.models, "models", nil, "serve the .gguf files in this `FOLDER`")
	flags.BoolVar(&s.ollama, "ollama", false, "serve the models of Ollama's store")
	flags.StringArrayVar(&s.origins, "cors", nil, "let pages of this `ORIGIN` read models, such as https://example.org; * is all")
	flags.StringArrayVar(&s.names, "name", nil, "answer to this `NAME` of the machine too")
	flags.StringVar(&s.results, "results", "", "keep figures that pages post to /results in this `FOLDER`")
	flags.BoolVar(&s.verbose, "verbose", false, "print each request")
	return cmd
}

func (s *serveCommand) run(ctx context.Context) error {
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
	if s.https {
		if identity, err = s.identity(local); err != nil {
			return err
		}
		certificate, opts.Authority = &identity.Certificate, identity.Authority
	}
	handler, err := serve.New(opts)
	if err != nil {
		return usageOf(err)
	}
	if err := s.announce(local, opts, identity); err != nil {
		return err
	}
	return serve.Run(ctx, listener, handler, certificate, s.trouble())
}

// usageOf is err as a mistake in the command line, where it is one.
func usageOf(err error) error {
	if errors.Is(err, serve.ErrOptions) {
		return usageError{err}
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
		if opts.Store, err = s.env.finder().Store(); err != nil {
			return opts, err
		}
	}
	if s.results != "" {
		if err := os.MkdirAll(s.results, 0o755); err != nil {
			return opts, err
		}
	}
	if s.verbose {
		var alone sync.Mutex
		opts.Log = func(method, path string, status int, bytes int64) {
			alone.Lock()
			defer alone.Unlock()
			s.env.say("%s %s %s %d %s", time.Now().Format(time.TimeOnly), method, printable(path), status, byteCount(bytes))
		}
	}
	return opts, nil
}

func (s *serveCommand) findApps() ([]serve.App, error) {
	if len(s.apps) == 0 {
		apps := serve.FindApps()
		if len(apps) == 0 || apps[0].Path != "/" {
			s.env.say("gemwire: the web app is not built here; build it with make web, or name its folder with --app")
		}
		return apps, nil
	}
	var apps []serve.App
	for _, text := range s.apps {
		app := serve.App{Path: "/", Folder: text}
		if path, folder, ok := strings.Cut(text, "="); ok && strings.HasPrefix(path, "/") && strings.HasSuffix(path, "/") {
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
		return usagef("--models %s is no folder; name the one that holds it", folder)
	}
	if err != nil {
		return fmt.Errorf("--models %s cannot be read: %w", folder, err)
	}
	links, err := serve.LinksOut(folder)
	if err != nil {
		return fmt.Errorf("--models %s cannot be read: %w", folder, err)
	}
	for _, name := range links {
		s.env.say("gemwire: %s is not served: it is a link out of its folder; serve the folder that it leads to", printable(filepath.Join(folder, name)))
	}
	return nil
}

// listen listens on the address, on this machine alone where none is named.
func (s *serveCommand) listen(ctx context.Context) (net.Listener, error) {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return nil, usagef("--addr %q: say an address and a port, such as %s", s.addr, defaultServeAddr)
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
		return nil, fmt.Errorf("port %s is taken by another program; choose one with --addr, such as --addr 127.0.0.1:0 for any that is free", port)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with --addr", s.addr, err)
	}
	return l, nil
}
