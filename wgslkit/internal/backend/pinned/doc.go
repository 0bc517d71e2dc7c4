// Package pinned drives the wgpu-native that is linked in, with cgo.
package pinned
