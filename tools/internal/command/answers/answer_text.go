package answers

import (
	"fmt"
	"io"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// textPrinter prints an answer for people: text and tool calls to standard
// output, thoughts to standard error.
type textPrinter struct {
	env       *cli.Environment
	tok       *tokenizer.Tokenizer
	styles    terminal.Styles // of standard error
	maxTokens int
	full      string // what to say where the context was full before the answer's end

	atLineStart bool
	wrote       bool
	thinking    bool
	notes       []string
}

func (p *textPrinter) event(e gemma4.Event) error {
	p.noteLogProbs(e.Tokens)
	if e.Kind != chat.ThinkingEvent {
		p.endThinking()
	}
	switch e.Kind {
	case chat.ThinkingEvent:
		p.thinking = true
		fmt.Fprint(p.env.Err, p.styles.Dim.Apply(flagset.Harmless(e.Text)))
	case chat.TextEvent:
		return p.print(e.Text)
	case chat.CallEvent:
		if len(e.Repairs) > 0 {
			p.notes = append(p.notes, fmt.Sprintf("gemwire: a tool call was mended: %s", strings.Join(e.Repairs, ", ")))
		}
		return p.printLine(showCall(e.Call))
	case chat.MalformedEvent:
		p.notes = append(p.notes, fmt.Sprintf("gemwire: the model made a tool call that cannot be parsed: %v", e.Err))
		return p.printLine(e.Text)
	case chat.DoneEvent:
		if e.Reason == chat.ReasonLength {
			p.notes = append(p.notes, p.lengthNote(e.Usage.Answer))
		}
		if e.Reason == chat.ReasonRepetition {
			p.notes = append(p.notes, "gemwire: the answer was ended: it said the same over and over again (--repetition-guard)")
		}
	}
	return nil
}

// lengthNote says why an answer of n tokens is cut off.
func (p *textPrinter) lengthNote(n int) string {
	if p.maxTokens > 0 && n >= p.maxTokens {
		return fmt.Sprintf("gemwire: the answer was cut off after --max-tokens %d", p.maxTokens)
	}
	return "gemwire: the answer was cut off: " + p.full
}

func (p *textPrinter) print(text string) error {
	if text == "" {
		return nil
	}
	p.wrote, p.atLineStart = true, strings.HasSuffix(text, "\n")
	if terminal.IsTerminal(p.env.Out) {
		text = flagset.Harmless(text)
	}
	_, err := io.WriteString(p.env.Out, text)
	return err
}

func (p *textPrinter) printLine(line string) error {
	if p.wrote && !p.atLineStart {
		line = "\n" + line
	}
	return p.print(line + "\n")
}

func (p *textPrinter) endThinking() {
	if p.thinking {
		fmt.Fprint(p.env.Err, "\n\n")
		p.thinking = false
	}
}

func (p *textPrinter) noteLogProbs(tokens []sample.Choice) {
	for _, c := range tokens {
		if len(c.Top) == 0 {
			continue
		}
		rivals := make([]string, len(c.Top))
		for i, top := range c.Top {
			rivals[i] = formatLogProb(p.tok, top)
		}
		chosen := formatLogProb(p.tok, sample.LogProb{Token: c.Token, LogProb: c.LogProb})
		p.notes = append(p.notes, fmt.Sprintf("%-24s of %s", chosen, strings.Join(rivals, ", ")))
	}
}

// finish ends the last line and says what there is to say.
func (p *textPrinter) finish() error {
	p.endThinking()
	var err error
	if p.wrote && !p.atLineStart {
		err = p.print("\n")
	}
	for _, note := range p.notes {
		p.env.Say("%s", note)
	}
	return err
}

// showCall is a tool call as people read it.
func showCall(c chat.ToolCall) string { return fmt.Sprintf("%s(%s)", c.Name, c.Arguments) }
