package serving

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/mdp/qrterminal/v3"

	"github.com/gemwire/gemwire/tools/internal/serve"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// identity is the server's certificate.
func (s *serveCommand) identity(local netip.AddrPort) (serve.Identity, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return serve.Identity{}, fmt.Errorf("no folder for the certificate was found: %w; set HOME", err)
	}
	names := serve.Names{
		Hosts: append(append([]string{"localhost"}, serve.HostNames()...), s.names...),
		Addresses: append([]netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()},
			serve.LANAddresses()...),
	}
	if addr := local.Addr(); !addr.IsUnspecified() {
		names.Addresses = append(names.Addresses, addr.Unmap().WithZone(""))
	}
	return serve.LoadIdentity(filepath.Join(config, "gemwire", "serve"), names, time.Now())
}

// announce prints where the server is, and for whom.
func (s *serveCommand) announce(local netip.AddrPort, opts serve.Options, identity serve.Identity) error {
	urls := s.urls(local)
	if s.noApp != "" {
		s.env.Say("gemwire: %s", s.noApp)
	}
	for _, url := range urls {
		if _, err := fmt.Fprintln(s.env.Out, url); err != nil {
			return err
		}
	}
	if opts.Open {
		s.env.Say("gemwire: open to the network: every machine that can reach this one can load these pages and models")
		if !s.https {
			s.env.Say("gemwire: over plain HTTP, browsers on other machines do not offer WebGPU; use --https")
		}
	}
	if s.https {
		s.sayIdentity(urls, opts, identity)
	}
	return nil
}

// sayIdentity says how a browser can tell that this is the server.
func (s *serveCommand) sayIdentity(urls []string, opts serve.Options, identity serve.Identity) {
	if identity.New {
		s.env.Say("gemwire: made a new certificate, valid for a year")
	}
	s.env.Say("gemwire: browsers ask about the certificate, whose SHA-256 is\n  %s", identity.Fingerprint())
	s.env.Say(
		"gemwire: to stop the questions, install the authority %s and trust it; its SHA-256 is\n  "+
			"%s", urls[len(urls)-1]+"gemwire.crt", identity.AuthorityFingerprint())
	if opts.Open && terminal.IsTerminal(s.env.Err) {
		qrterminal.GenerateHalfBlock(urls[len(urls)-1], qrterminal.L, s.env.Err)
	}
}

// urls are the addresses to open, for this machine first.
func (s *serveCommand) urls(local netip.AddrPort) []string {
	scheme := "http"
	if s.https {
		scheme = "https"
	}
	url := func(host string) string {
		return fmt.Sprintf("%s://%s/", scheme, net.JoinHostPort(host, fmt.Sprint(local.Port())))
	}
	addr := local.Addr().Unmap()
	switch {
	case addr == netip.MustParseAddr("127.0.0.1"):
		return []string{url("localhost")}
	case !addr.IsUnspecified():
		return []string{url(addr.String())}
	}
	list := []string{url("localhost")}
	for _, a := range serve.LANAddresses() {
		list = append(list, url(a.String()))
	}
	return list
}

// trouble hears of connections that fail: every browser that does not know the
// certificate breaks off some, so they are told on request alone.
func (s *serveCommand) trouble() *log.Logger {
	if s.verbose {
		return log.New(s.env.Err, "gemwire: ", 0)
	}
	return log.New(io.Discard, "", 0)
}
