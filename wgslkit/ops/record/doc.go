// Package record is what all rooms of ops build on: the Kit, which knows a device and the
// sizes that suit it, and the Recorder, which records ops into a program.
//
// Read kit.go, tuning.go and recorder.go first. files.go is how the rooms' WGSL is put
// together; what lies in this folder is shared by several of them.
package record
