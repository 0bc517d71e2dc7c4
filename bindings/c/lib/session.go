package main

// #include "bridge.h"
import "C"

import (
	"fmt"

	"github.com/gemwire/gemwire/bindings/c/engine"
)

//export gemwire_session_open
func gemwire_session_open(model C.gemwire_model, context C.int32_t, session *C.gemwire_session) C.gemwire_status {
	return call(model, func() error {
		if session == nil {
			return fmt.Errorf("%w: gemwire_session_open has nowhere to put the session", engine.ErrArgument)
		}
		*session = 0
		h, err := library.OpenSession(engine.Handle(model), int(context))
		*session = C.gemwire_session(h)
		return err
	})
}

//export gemwire_session_reset
func gemwire_session_reset(session C.gemwire_session) C.gemwire_status {
	return call(session, func() error { return library.Reset(engine.Handle(session)) })
}

//export gemwire_session_system
func gemwire_session_system(session C.gemwire_session, system *C.gwl_char) C.gemwire_status {
	return call(session, func() error { return library.SetSystem(engine.Handle(session), text(system)) })
}

//export gemwire_session_save
func gemwire_session_save(session C.gemwire_session, path *C.gwl_char) C.gemwire_status {
	return call(session, func() error {
		path, err := needText(path, "path")
		if err != nil {
			return err
		}
		return library.SaveSession(engine.Handle(session), path)
	})
}

//export gemwire_session_restore
func gemwire_session_restore(session C.gemwire_session, path *C.gwl_char) C.gemwire_status {
	return call(session, func() error {
		path, err := needText(path, "path")
		if err != nil {
			return err
		}
		return library.RestoreSession(engine.Handle(session), path)
	})
}

//export gemwire_answer_text
func gemwire_answer_text(session C.gemwire_session) *C.char {
	return answerText(session, func() (string, error) { return library.LastText(engine.Handle(session)) })
}

//export gemwire_answer_message
func gemwire_answer_message(session C.gemwire_session) *C.char {
	return answerText(session, func() (string, error) {
		message, err := library.LastMessage(engine.Handle(session))
		return string(message), err
	})
}
