package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"time"
)

// Timeouts of the server. How long an answer may take depends on who reads it (paced.go).
const (
	headerTimeout   = 10 * time.Second
	requestTimeout  = 30 * time.Second
	answerTimeout   = time.Minute // of what is no file
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 3 * time.Second
	maxHeader       = 32 << 10 // bytes
)

// Run answers on l until ctx ends; answers under way then get a moment to end.
// With a certificate it speaks TLS. trouble hears of connections that fail.
func Run(ctx context.Context, l net.Listener, h http.Handler, certificate *tls.Certificate, trouble *log.Logger) error {
	server := &http.Server{
		Handler: h, ErrorLog: trouble,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		ConnState:      newConnections().changed,
	}
	ended := make(chan error, 1)
	go func() {
		if certificate == nil {
			ended <- server.Serve(l)
			return
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
		ended <- server.ServeTLS(l, "", "")
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	return shutDown(server)
}

func shutDown(server *http.Server) error {
	patience, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close() // downloads of gigabytes, which go on another time
	}
	return err
}
