// Package nocgo drives a wgpu-native or a Dawn that is loaded at run time, as package loaded does, but calls it through
// github.com/ebitengine/purego: it is what a program has that was built with CGO_ENABLED=0. Read library.go, which
// finds the functions, then driver.go, guard.go and replay.go. What wgpu-native and Dawn have of their own is in
// wgpu.go and dawn.go.
//
// Structs are laid out as loaded.h says, and layout_test.go holds them against it.
package nocgo
