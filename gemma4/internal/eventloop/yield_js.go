package eventloop

import (
	"sync"
	"syscall/js"
)

// Yield lets JavaScript handle the events that have come meanwhile.
func Yield() {
	m := messages()
	m.post.Invoke()
	<-m.received
}

// message is one to oneself, which comes back behind the other events. A timer would
// take four milliseconds.
type message struct {
	post     js.Value
	received chan struct{}
}

var messages = sync.OnceValue(func() message {
	m := message{received: make(chan struct{}, 64)}
	channel := js.Global().Get("MessageChannel").New()
	receive, send := channel.Get("port1"), channel.Get("port2")
	receive.Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		m.received <- struct{}{}
		return nil
	}))
	m.post = send.Get("postMessage").Call("bind", send, js.Null())
	return m
})
