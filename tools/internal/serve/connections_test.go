package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// answers says whether a connection is answered on.
func answers(t *testing.T, conn net.Conn) bool {
	t.Helper()
	fmt.Fprint(conn, "GET /models HTTP/1.1\r\nHost: localhost\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil && r.StatusCode == http.StatusOK
}

// One address gets so many connections, and another one when one of them has ended.
func TestConnectionsOfOneAddress(t *testing.T) {
	addr, stop := run(t, modelSite(t, nil), nil)
	var conns []net.Conn
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	for i := range mostOfAddress {
		conns = append(conns, dial())
		if !answers(t, conns[i]) {
			t.Fatalf("connection %d is refused", i+1)
		}
	}
	if answers(t, dial()) {
		t.Errorf("%d connections are taken", mostOfAddress+1)
	}
	if !answers(t, conns[0]) {
		t.Error("a connection is lost to one that was refused")
	}
	conns[0].Close()
	for !answers(t, dial()) { // until the server has heard of it
	}
	for _, conn := range conns {
		conn.Close()
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestConnectionsInAll(t *testing.T) {
	c := newConnections()
	for i := range mostConnections + 10 {
		conn := &fakeConn{from: fmt.Sprintf("10.0.%d.%d:80", i/100, i%100)}
		c.changed(conn, http.StateNew)
		if conn.closed != (i >= mostConnections) {
			t.Fatalf("connection %d: closed %v", i+1, conn.closed)
		}
		if conn.closed {
			c.changed(conn, http.StateClosed)
		}
	}
	if len(c.open) != mostConnections {
		t.Errorf("%d are counted", len(c.open))
	}
	for conn := range c.open {
		c.changed(conn, http.StateClosed)
	}
	if len(c.open) != 0 || len(c.of) != 0 {
		t.Errorf("%d connections and %d addresses stay", len(c.open), len(c.of))
	}
}

type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr {
	addr, err := net.ResolveTCPAddr("tcp", c.from)
	if err != nil {
		panic(err)
	}
	return addr
}

func (c *fakeConn) Close() error { c.closed = true; return nil }
