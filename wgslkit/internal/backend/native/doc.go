// Package native holds what pinned and loaded do alike: they choose an adapter, and call a table of C functions for
// each submission.
package native
