// Package loaded drives a wgpu-native or a Dawn that the user has, loaded at run time and called with cgo.
package loaded
