package forms

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf/conformance"
)

// Whatever the model says, it is said in the form that was asked for: most probable tokens, and drawn ones at a
// temperature at which the built-in model talks nonsense.
func TestAnswersFitRandomSchemas(t *testing.T) {
	n := 12
	if os.Getenv(conformance.Everything) == "1" {
		n = 200
	}
	model, err := gemma4.Open(context.Background(), nano.Source(), gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession(1024)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	forced, tokens := 0, 0
	for i := range n {
		schema, err := json.Marshal(Random(rand.New(rand.NewPCG(uint64(i), 23))))
		if err != nil {
			t.Fatal(err)
		}
		for _, params := range []sample.Params{{}, {Temperature: 1.5, Seed: uint64(i)}} {
			form := gemma4.Form{Schema: string(schema), AnyOrder: i%3 == 2}
			text, usage, err := answer(session, form, params)
			if err == nil {
				err = fits(string(schema), text)
			}
			if err != nil {
				t.Errorf("schema %d, at temperature %v: %v\n%s\n%s", i, params.Temperature, err, schema, text)
				continue
			}
			forced, tokens = forced+usage.Forced, tokens+usage.Answer
		}
	}
	t.Logf("%d schemas, %d tokens, %d of them forced", n, tokens, forced)
	if forced == 0 {
		t.Error("no token was forced")
	}
}

func answer(s *gemma4.Session, form gemma4.Form, params sample.Params) (text string, usage gemma4.Usage, err error) {
	var b strings.Builder
	conversation := chat.Conversation{Messages: []chat.Message{{Role: chat.User, Content: chat.Text("Describe Paris.")}}}
	for e, err := range s.Chat(context.Background(), conversation, gemma4.GenerateOptions{Form: &form, Sampling: params}) {
		if err != nil {
			return b.String(), usage, err
		}
		b.WriteString(e.Text)
		if e.Kind == chat.DoneEvent {
			usage = *e.Usage
			if e.Reason != chat.ReasonStop {
				err = fmt.Errorf("it ended by %v", e.Reason)
			}
		}
		if err != nil {
			return b.String(), usage, err
		}
	}
	return b.String(), usage, nil
}

// fits asks the validator, formats included.
func fits(schema, text string) error {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", document); err != nil {
		return err
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}
