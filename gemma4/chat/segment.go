package chat

import "strings"

// Segment is a stretch of a prompt.
type Segment struct {
	Text string
	// Trusted text is the template's own: control tokens in it count.
	Trusted bool
	// Media is the image or audio that stands here, or nil. Text then is its
	// placeholder.
	Media *Part
}

// Prompt is a rendered conversation. Neighbouring segments differ in trust,
// apart from media.
type Prompt []Segment

// String is the prompt as the released templates print it.
func (p Prompt) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteString(s.Text)
	}
	return b.String()
}

// template appends the template's own text.
func (p *Prompt) template(text ...string) {
	for _, t := range text {
		p.append(t, true)
	}
}

// outside appends text that came from outside.
func (p *Prompt) outside(text string) { p.append(text, false) }

func (p *Prompt) append(text string, trusted bool) {
	if text == "" {
		return
	}
	if last := len(*p) - 1; last >= 0 && (*p)[last].Media == nil && (*p)[last].Trusted == trusted {
		(*p)[last].Text += text
		return
	}
	*p = append(*p, Segment{Text: text, Trusted: trusted})
}

func (p *Prompt) media(part *Part) {
	*p = append(*p, Segment{Text: markersOf[part.Type].placeholder, Trusted: true, Media: part})
}

// join appends another prompt.
func (p *Prompt) join(other Prompt) {
	for _, s := range other {
		if s.Media != nil {
			*p = append(*p, s)
			continue
		}
		p.append(s.Text, s.Trusted)
	}
}
