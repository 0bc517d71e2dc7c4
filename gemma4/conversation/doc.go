// Package conversation keeps a conversation with a model: what was said, by whom, and
// the session that has computed it. Say goes on with it, Save and Restore carry it over
// the end of a program.
//
// Read conversation.go, then saved.go.
package conversation
