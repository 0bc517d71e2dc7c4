package gemma4

import "syscall/js"

// giveWay lets the browser call back what it has meanwhile got to tell. A message to
// oneself comes behind that, and without the milliseconds that a timer takes.
func giveWay() {
	channel, came := js.Global().Get("MessageChannel").New(), make(chan struct{})
	heard := js.FuncOf(func(js.Value, []js.Value) any {
		close(came)
		return nil
	})
	defer heard.Release()
	here := channel.Get("port1")
	here.Set("onmessage", heard)
	channel.Get("port2").Call("postMessage", js.Null())
	<-came
	here.Call("close")
}
