// What runs in a browser's worker, without the browser.
package main

import (
	"fmt"

	"github.com/gemwire/gemwire/bindings/wasm/engine"
)

func main() {
	replies := make(chan engine.Reply)
	e := engine.New(engine.Options{Post: func(r engine.Reply) { replies <- r }})
	go e.Handle([]byte(`{"id": 1, "op": "tokenize", "params": {"model": 7, "text": "Hi"}}`), nil, nil)
	fmt.Println((<-replies).Error.Code)
}

// Output: closed
