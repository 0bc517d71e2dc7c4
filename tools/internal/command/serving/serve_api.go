package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/serve"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/server"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/pool"
)

// serveAPI is what `gemwire serve` says of its APIs.
type serveAPI struct {
	device      cli.DeviceFlags
	context     int
	kvCache     string
	preload     []string
	keys        []string
	adapters    []string
	keepAlive   time.Duration
	mostOpen    int
	parallel    int
	waiting     int
	mostTime    time.Duration
	mostBody    cli.ByteSize
	stopTime    time.Duration
	fetchMedia  bool
	privatePull bool
	tlsCert     string
	tlsKey      string
	ollamaAddr  string
	logForm     string
}

// Defaults of the APIs' flags.
const (
	defaultParallel = 4
	defaultWaiting  = 256
	defaultMostTime = 30 * time.Minute
	defaultStopTime = 30 * time.Second
	noOllama        = "off"
)

func (a *serveAPI) register(flags *pflag.FlagSet) {
	a.mostBody = server.DefaultMostBody
	flags.StringArrayVar(&a.keys, "api-key", nil,
		"answer the APIs only with this `KEY` (repeatable; default: those in $GEMWIRE_API_KEY, separated by commas)")
	flags.StringArrayVar(&a.adapters, "lora", nil,
		"offer each MODEL also as MODEL:NAME, with a LoRA adapter, `NAME=FILE` (repeatable)")
	flags.DurationVar(&a.keepAlive, "keep-alive", models.DefaultKeepAlive,
		"keep an unused model loaded for this `TIME`; a negative one means for ever")
	flags.IntVar(&a.mostOpen, "max-models", models.DefaultMostOpen, "have at most this `NUMBER` of models loaded")
	flags.IntVar(&a.parallel, "parallel", defaultParallel,
		"let each model make this `NUMBER` of answers at once, in one pass over its weights")
	flags.IntVar(&a.waiting, "max-waiting", defaultWaiting, "let this `NUMBER` of requests wait for each model")
	flags.DurationVar(&a.mostTime, "max-time", defaultMostTime, "end a request after this `TIME`; 0 means never")
	flags.Var(&a.mostBody, "max-body", "take requests of at most this `SIZE`")
	flags.DurationVar(&a.stopTime, "stop-time", defaultStopTime, "at the end, give running answers this `TIME`")
	flags.BoolVar(&a.fetchMedia, "fetch-media", false,
		"fetch images and clips that requests name by an address, from the public web")
	flags.BoolVar(&a.privatePull, "pull-private", false, "pull models also from addresses of this network")
	flags.StringVar(&a.tlsCert, "tls-cert", "", "use HTTPS, with the certificate in this `FILE` (PEM)")
	flags.StringVar(&a.tlsKey, "tls-key", "", "the `FILE` with the certificate's key (PEM)")
	flags.StringVar(&a.ollamaAddr, "ollama-addr", "",
		"answer the APIs also on this `ADDRESS` if it is free, or off (default: $OLLAMA_HOST, or "+ollamaAddress+")")
	flags.StringVar(&a.logForm, "log", "text", "log as `text|json`; never what was said")
	flags.IntVar(&a.context, "context", 0,
		fmt.Sprintf("hold this many `TOKENS`, prompts and answers together (default: %d, or the model's own limit)",
			gemma4.DefaultContext))
	flags.StringVar(&a.kvCache, "kv-cache", "",
		"keep keys and values as `f16|q8`: q8 takes about half the memory (default: f16; float32 on the CPU)")
	a.device.Register(flags)
}

// check refuses what the flags cannot mean.
func (a *serveAPI) check(s *serveCommand) error {
	switch {
	case a.logForm != "text" && a.logForm != "json":
		return cli.Usagef("--log %q: use text or json", a.logForm)
	case (a.tlsCert == "") != (a.tlsKey == ""):
		return cli.Usagef("--tls-cert and --tls-key belong together; give both")
	case a.tlsCert != "" && s.https:
		return cli.Usagef("--https makes a certificate, and --tls-cert names one; give one of them")
	case a.parallel < 1 || a.mostOpen < 1:
		return cli.Usagef("--parallel is %d and --max-models %d; both must be 1 or more", a.parallel, a.mostOpen)
	case a.waiting < 0 || a.mostTime < 0 || a.stopTime < 0 || a.context < 0:
		return cli.Usagef("--max-waiting, --max-time, --stop-time and --context are not negative")
	case a.kvCache != "" && a.kvCache != string(gemma4.CacheF16) && a.kvCache != string(gemma4.CacheQ8):
		return cli.Usagef("--kv-cache %q: use f16 or q8", a.kvCache)
	}
	for _, text := range a.adapters {
		name, file, ok := strings.Cut(text, "=")
		if !ok || name == "" || file == "" || strings.ContainsAny(name, ":/ ") {
			return cli.Usagef("--lora %q: use NAME=FILE, such as support=./adapter", text)
		}
	}
	if len(a.keys) == 0 {
		for key := range strings.SplitSeq(s.env.Getenv("GEMWIRE_API_KEY"), ",") {
			if key = strings.TrimSpace(key); key != "" {
				a.keys = append(a.keys, key)
			}
		}
	}
	return a.device.Check()
}

// certificate is the one of --tls-cert, nil where there is none.
func (a *serveAPI) certificate() (*tls.Certificate, error) {
	if a.tlsCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(a.tlsCert, a.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	return &pair, nil
}

// logger writes to standard error.
func (s *serveCommand) logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if s.verbose {
		options.Level = slog.LevelDebug
	}
	if s.api.logForm == "json" {
		return slog.New(slog.NewJSONHandler(s.env.Err, options))
	}
	return slog.New(slog.NewTextHandler(s.env.Err, options))
}

// newAPIs makes the server of the APIs, which sends all else to the pages.
func (s *serveCommand) newAPIs(opts serve.Options, pages http.Handler) (*server.Server, error) {
	a := &s.api
	adapters := map[string]string{}
	for _, text := range a.adapters {
		name, file, _ := strings.Cut(text, "=")
		adapters[name] = file
	}
	return server.New(server.Options{
		Models: models.Options{
			Getenv: s.env.Getenv, Files: a.preload, Adapters: adapters, KeepAlive: a.keepAlive, MostOpen: a.mostOpen,
			PrivatePulls: a.privatePull,
			Answers:      pool.Options{Parallel: a.parallel, Waiting: a.waiting},
			Open: gemma4.OpenOptions{
				Device: gemma4.Device(a.device.Device), GPU: a.device.GPU(), Context: a.context,
				KVCache: gemma4.CacheType(a.kvCache), Kernels: a.device.Examiner(), UncheckedKernels: a.device.Unchecked,
			},
		},
		Keys: a.keys, Origins: s.origins, Names: opts.Names, Open: opts.Open, MostBody: int64(a.mostBody),
		MostTime: a.mostTime, FetchMedia: a.fetchMedia, Pages: pages, Version: cli.Version(), Log: s.logger(),
	})
}

// loadModels loads those of the command line.
func (s *serveCommand) loadModels(ctx context.Context, apis *server.Server) error {
	for _, argument := range s.api.preload {
		progress := terminal.NewProgress(s.env.Err, true)
		progress.Set("loading "+argument, 0, 0)
		err := apis.Load(ctx, apis.Library().NameOf(argument))
		progress.Clear()
		if err != nil {
			return cli.Advised(err)
		}
	}
	return nil
}

// runAll answers until ctx ends; answers under way then get their time.
func (s *serveCommand) runAll(ctx context.Context, apis *server.Server, main net.Listener,
	certificate *tls.Certificate) error {
	running, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 2)
	servers := 1
	go func() { ended <- serve.Run(running, main, apis, certificate, s.trouble()) }()
	if beside := s.listenAsOllama(ctx); beside != nil {
		servers++
		go func() { ended <- serve.Run(running, beside, apis.OnlyAPIs(), nil, s.trouble()) }()
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	apis.Stop()
	if patience, cancel := context.WithTimeout(context.Background(), s.api.stopTime); apis.Idle(patience) != nil {
		s.env.Say("gemwire: ended answers that took longer than --stop-time %v", s.api.stopTime)
		cancel()
	} else {
		cancel()
	}
	stop()
	var all error
	for range servers {
		all = errors.Join(all, <-ended)
	}
	// Answers whose connections were closed end within a step.
	patience, cancel := context.WithTimeout(context.Background(), s.api.stopTime+time.Second)
	defer cancel()
	return errors.Join(all, apis.Idle(patience))
}

// ollamaAddress is where Ollama listens.
const ollamaAddress = "127.0.0.1:11434"

// listenAsOllama listens where Ollama's clients look for it, unless somebody does already.
func (s *serveCommand) listenAsOllama(ctx context.Context) net.Listener {
	if s.api.ollamaAddr == noOllama {
		return nil
	}
	asked := s.api.ollamaAddr
	if asked == "" {
		asked = s.env.Getenv("OLLAMA_HOST")
	}
	addr, err := ollamaHost(asked)
	if err != nil {
		s.env.Say("gemwire: %v", err)
		return nil
	}
	host, port, _ := net.SplitHostPort(addr)
	if at, err := netip.ParseAddr(host); !s.open && (err != nil || !at.IsLoopback()) {
		s.env.Say("gemwire: only this machine reaches Ollama's address; --open-network opens it")
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		s.env.Say("gemwire: Ollama's address %s is not free, so its clients have to be told of this server", addr)
		return nil
	}
	s.env.Say("gemwire: Ollama's clients find it at http://%s", l.Addr())
	return l
}

// ollamaHost reads OLLAMA_HOST: an address or name, with or without a scheme and a port.
func ollamaHost(text string) (string, error) {
	_, defaultPort, _ := net.SplitHostPort(ollamaAddress)
	text = strings.TrimSpace(text)
	if text == "" {
		return ollamaAddress, nil
	}
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	text = strings.TrimSuffix(text, "/")
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.Trim(text, "[]"), defaultPort
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return "", fmt.Errorf("OLLAMA_HOST is %s, which is no address of this machine; use 127.0.0.1:%s", text, defaultPort)
	}
	return net.JoinHostPort(host, port), nil
}
