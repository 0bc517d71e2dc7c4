package gpu

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// role is what numbers of an adapter's shape are.
type role int

const (
	values role = iota
	grads
	firsts  // running means of the gradients
	seconds // and of their squares
	roles
)

// bank is a run of the adapter's numbers, as many as one binding holds, four times
// over, in the same order each time.
type bank struct {
	size    int
	buffers [roles]*wgslkit.Buffer
}

// pairs is the adapter on the GPU.
type pairs struct {
	banks  []*bank
	slots  []*slot // by tape.Slot
	groups map[*group]*groupPairs
}

// groupPairs is the pairs of a group's members. Their A lie one under the other.
type groupPairs struct {
	rank, in int // of all together
	bank     *bank
	offset   int
	parts    []ops.LowRankPart // of the matrix's rows, in order
	scale    float32           // of all
	apart    bool              // B·u is no end of the group's product, as lowRank says
}

// factor is what u = factor·A·x takes of the scale, and left what B·u and dB do.
func (p *groupPairs) factor() float32 {
	if p.apart {
		return 1
	}
	return p.scale
}

func (s *slot) left() float32 {
	if s.apart {
		return s.scale
	}
	return 1
}

// lowRank is what the group's product adds of u, nil where kernels cannot read the
// pairs so: where their ranks are no multiples of 4 or their scales differ.
func (p *groupPairs) lowRank(u *wgslkit.Buffer) *ops.LowRank {
	if p.rank == 0 || p.apart {
		return nil
	}
	return &ops.LowRank{U: u, Stride: p.rank, B: p.bank.buffers[values], Parts: p.parts}
}

// slot is one pair: rows first to first+rank of its group's A, and its B.
type slot struct {
	*groupPairs
	first, rank, out int
	scale            float32
	offsetB          int
}

// inner is columns from first on of a tensor with a column for each row of A.
func (p *groupPairs) inner(t *wgslkit.Buffer, first int) ops.Lattice {
	return ops.Lattice{Bind: t.All(), Offset: first, Row: p.rank, Column: 1}
}

// a is A [rank, in] of the group, turnedA the same as [in, rank].
func (p *groupPairs) a(of role) ops.Lattice {
	return ops.Lattice{Bind: p.bank.buffers[of].All(), Offset: p.offset, Row: p.in, Column: 1}
}

func (p *groupPairs) turnedA(of role) ops.Lattice { return turned(p.a(of)) }

// b is the slot's B [out, rank], turnedB the same as [rank, out].
func (s *slot) b(of role) ops.Lattice {
	return ops.Lattice{Bind: s.bank.buffers[of].All(), Offset: s.offsetB, Row: s.rank, Column: 1}
}

func (s *slot) turnedB(of role) ops.Lattice { return turned(s.b(of)) }

// newPairs lays out pairs of the shapes of list, by slot.
func (m *Machine) newPairs(list []*adapter.Pair) (*pairs, error) {
	if len(list) != len(m.tape.Slots) {
		return nil, fmt.Errorf("%w: %d pairs for %d slots", tape.ErrBatch, len(list), len(m.tape.Slots))
	}
	p := &pairs{slots: make([]*slot, len(list)), groups: map[*group]*groupPairs{}}
	limits := m.kit.Device().Limits()
	most := int(min(limits.MaxStorageBindingSize, limits.MaxBufferSize) / 4)
	for i := range m.tape.Sections {
		for _, op := range m.tape.Sections[i].Ops {
			if l, ok := op.(*tape.Linear); ok && m.groups[l].first() == l {
				if err := p.lay(m.groups[l], list, most); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, b := range p.banks {
		for i := range b.buffers {
			buffer, err := m.kit.Device().NewBuffer("adapter", wgslkit.Weights, int64(4*b.size))
			if err != nil {
				p.release()
				return nil, err
			}
			b.buffers[i] = buffer
		}
	}
	return p, nil
}

// lay finds places for a group's pairs.
func (p *pairs) lay(g *group, list []*adapter.Pair, most int) error {
	gp := new(groupPairs)
	p.groups[g] = gp
	size := 0
	for _, l := range g.members {
		if l.Slot == nil {
			continue
		}
		pair := list[l.Slot.Index]
		if pair.In != l.Slot.In || pair.Out != l.Slot.Out || len(pair.A) != pair.Rank*pair.In ||
			len(pair.B) != pair.Out*pair.Rank {
			return fmt.Errorf("%w: the pair for %s is [%d, %d] of rank %d; wanted [%d, %d]", tape.ErrBatch, l.Slot,
				pair.Out, pair.In, pair.Rank, l.Slot.Out, l.Slot.In)
		}
		p.slots[l.Slot.Index] = &slot{groupPairs: gp, first: gp.rank, rank: pair.Rank, out: pair.Out, scale: pair.Scale}
		gp.rank += pair.Rank
		gp.in = pair.In
		size += pair.Rank * (pair.In + pair.Out)
	}
	if size == 0 {
		return nil
	}
	if size > most {
		return fmt.Errorf("%w: the pairs of %s take %d bytes, this device binds %d at once; take a smaller rank",
			wgslkit.ErrLimit, g.first().W.Name, 4*size, 4*most)
	}
	if n := len(p.banks); n == 0 || p.banks[n-1].size+size > most {
		p.banks = append(p.banks, new(bank))
	}
	gp.bank = p.banks[len(p.banks)-1]
	gp.offset = gp.bank.size
	gp.bank.size += gp.rank * gp.in
	for _, l := range g.members {
		if l.Slot != nil {
			s := p.slots[l.Slot.Index]
			s.offsetB = gp.bank.size
			gp.bank.size += s.out * s.rank
		}
	}
	p.part(g, gp)
	return nil
}

// part says what each part of the rows of a group's matrix gets.
func (p *pairs) part(g *group, gp *groupPairs) {
	gp.apart = len(g.members) > ops.LowRankParts
	for i, l := range g.members {
		part := ops.LowRankPart{First: g.rows[i].First}
		if s := p.slot(l); s != nil {
			part.Column, part.Rank, part.B = s.first, s.rank, s.offsetB
			gp.scale = cmp.Or(gp.scale, s.scale)
			gp.apart = gp.apart || s.scale != gp.scale || (s.first|s.rank|s.offsetB)%4 != 0
		}
		gp.parts = append(gp.parts, part)
	}
	slices.SortFunc(gp.parts, func(a, b ops.LowRankPart) int { return cmp.Compare(a.First, b.First) })
}

func (p *pairs) of(g *group) *groupPairs { return p.groups[g] }

func (p *pairs) slot(l *tape.Linear) *slot {
	if l.Slot == nil {
		return nil
	}
	return p.slots[l.Slot.Index]
}

// fits says whether pairs have the shapes and factors that are laid out.
func (p *pairs) fits(list []*adapter.Pair) bool {
	if p == nil || len(list) != len(p.slots) {
		return false
	}
	for i, s := range p.slots {
		if l := list[i]; l.Rank != s.rank || l.In != s.in || l.Out != s.out || l.Scale != s.scale ||
			len(l.A) != l.Rank*l.In || len(l.B) != l.Out*l.Rank {
			return false
		}
	}
	return true
}

func (p *pairs) release() {
	if p == nil {
		return
	}
	for _, b := range p.banks {
		for _, buffer := range b.buffers {
			buffer.Release()
		}
	}
}

func (p *pairs) bytes() int64 {
	if p == nil {
		return 0
	}
	var n int64
	for _, b := range p.banks {
		n += int64(4*b.size) * int64(roles)
	}
	return n
}

// write copies pairs into their places of a role.
func (p *pairs) write(of role, list []*adapter.Pair) error {
	for i, s := range p.slots {
		b := s.bank.buffers[of]
		if err := b.Write(int64(4*(s.offset+s.first*s.in)), floatBytes(list[i].A)); err != nil {
			return err
		}
		if err := b.Write(int64(4*s.offsetB), floatBytes(list[i].B)); err != nil {
			return err
		}
	}
	return nil
}

// zeroChunk bounds what clear writes at once.
const zeroChunk = 1 << 20

// clear makes all numbers of a role 0.
func (p *pairs) clear(of role) error {
	zeros := make([]byte, zeroChunk)
	for _, b := range p.banks {
		size := b.buffers[of].Size()
		for at := int64(0); at < size; at += zeroChunk {
			if err := b.buffers[of].Write(at, zeros[:min(zeroChunk, size-at)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readChunk bounds what read has in flight, and leastReadChunk what it needs for that
// where the budget has hardly any room.
const (
	readChunk      = 16 << 20
	leastReadChunk = 32 << 10
)

// chunk is how much of any bank is read at once: as much as the budget has room for.
func (p *pairs) chunk(device *wgslkit.Device) int {
	chunk := readChunk
	for _, b := range p.banks {
		chunk = min(chunk, 4*b.size)
	}
	for chunk > leastReadChunk && device.RoomToRead(int64(chunk)) != nil {
		chunk = max(chunk/8*4, leastReadChunk)
	}
	return chunk
}

// read copies the numbers of a role into new pairs.
func (p *pairs) read(of role, device *wgslkit.Device) ([]*adapter.Pair, error) {
	raw, chunk := map[*bank][]float32{}, p.chunk(device)
	for _, b := range p.banks {
		all := make([]float32, 0, b.size)
		for len(all) < b.size { // the last chunk may begin within the one before
			at := min(len(all), b.size-chunk/4)
			part, err := b.buffers[of].Read(int64(4*at), int64(chunk))
			if err != nil {
				return nil, err
			}
			all = appendFloats(all[:at], part)
		}
		raw[b] = all
	}
	list := make([]*adapter.Pair, len(p.slots))
	for i, s := range p.slots {
		a, b := s.offset+s.first*s.in, s.offsetB
		list[i] = &adapter.Pair{Rank: s.rank, In: s.in, Out: s.out, Scale: s.scale}
		list[i].A = append([]float32(nil), raw[s.bank][a:a+s.rank*s.in]...)
		list[i].B = append([]float32(nil), raw[s.bank][b:b+s.out*s.rank]...)
	}
	return list, nil
}

func floatBytes(values []float32) []byte {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

func appendFloats(values []float32, raw []byte) []float32 {
	for ; len(raw) >= 4; raw = raw[4:] {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return values
}

func wordBytes(words []uint32) []byte {
	raw := make([]byte, 0, 4*len(words))
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint32(raw, w)
	}
	return raw
}
