package record

import "syscall/js"

// cores is how many processors the browser owns to, 1 where it does not say.
func cores() int {
	navigator := js.Global().Get("navigator")
	if !navigator.Truthy() {
		return 1
	}
	n := navigator.Get("hardwareConcurrency")
	if n.Type() != js.TypeNumber {
		return 1
	}
	return max(1, n.Int())
}
