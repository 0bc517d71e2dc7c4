// Command gemwire-models serves the list of the models in Ollama's store, for the
// nginx of compose.yaml, which sends the files themselves. It needs no C library,
// so that its container holds nothing else.
//
//	gemwire-models -addr :8081 -store /ollama
//	gemwire-models -addr :8081 -check
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gemwire/gemwire/gguf/ollama"
	"github.com/gemwire/gemwire/tools/internal/serve"
)

// blobsPath is where docker/nginx/nginx.conf sends the store's blobs from.
const blobsPath = "/models/blobs/"

// checkTimeout is how long the server may take to say that it is well.
const checkTimeout = 3 * time.Second

func main() {
	addr := flag.String("addr", ":8081", "listen on this `ADDRESS`")
	root := flag.String("store", "",
		"read Ollama's store in this `FOLDER` (default: $OLLAMA_MODELS, or Ollama's own folder)")
	check := flag.Bool("check", false, "check the health of the server on this machine, and exit with 1 if it fails")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := errors.New("gemwire-models takes flags only")
	switch {
	case flag.NArg() > 0:
	case *check:
		err = ask(ctx, *addr)
	default:
		err = run(ctx, *addr, *root)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gemwire-models:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, root string) error {
	store, err := openStore(root)
	if err != nil {
		return err
	}
	handler, err := serve.New(serve.Options{Store: store, BlobsPath: blobsPath})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	return serve.Run(ctx, listener, handler, nil, log.New(os.Stderr, "gemwire-models: ", 0))
}

func openStore(root string) (*ollama.Store, error) {
	if root == "" {
		return ollama.Find()
	}
	return ollama.At(root)
}

// ask fetches the list from the server that listens on addr.
func ask(ctx context.Context, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort("localhost", port)+"/models",
		nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", answer.Status)
	}
	return nil
}
