// Package eventloop lets a browser handle its events while Go computes: a tab has
// one thread for both. Elsewhere it does nothing.
package eventloop
