package serve

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// How many connections are open at once. A browser opens six to a server, a program
// with many requests to an API one for each; what is more is closed without an answer.
const (
	mostConnections = 1024
	mostOfAddress   = 512 // from one address, which may be that of a proxy
)

// connections counts the connections of a server.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]netip.Addr
	of   map[netip.Addr]int
}

func newConnections() *connections {
	return &connections{open: map[net.Conn]netip.Addr{}, of: map[netip.Addr]int{}}
}

// changed is the server's http.Server.ConnState. Connections are counted here and
// not by a listener of our own, since a wrapped connection would lose sendfile.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !c.take(conn) {
			conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		c.release(conn)
	}
}

func (c *connections) take(conn net.Conn) bool {
	// An address that is none, as tests have it, counts as one of its own.
	from, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	addr := from.Addr().Unmap()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= mostConnections || c.of[addr] >= mostOfAddress {
		return false
	}
	c.open[conn] = addr
	c.of[addr]++
	return true
}

func (c *connections) release(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	addr, ok := c.open[conn]
	if !ok {
		return // it was refused
	}
	delete(c.open, conn)
	if c.of[addr]--; c.of[addr] == 0 {
		delete(c.of, addr)
	}
}
