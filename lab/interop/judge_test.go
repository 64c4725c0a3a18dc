package interop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/coder/websocket"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/variant"
)

var judged = flag.Int("judged", 100_000, "number of damaged packets in TestJudge")

// A verdict is a decoder's result for a packet: the number of bytes it consumed, or 0
// if it returned an error.
type verdict int32

// batch is the number of packets in one message to the engine.
const batch = 1000

// An engineJudge sends packets to the engine and receives verdicts.
type engineJudge struct {
	ctx context.Context
	ws  *websocket.Conn
}

// judge returns the engine's verdict on each packet. It sends a batch while the engine
// still works on the previous one.
func (j *engineJudge) judge(packets [][]byte) ([]verdict, error) {
	batches := slices.Collect(slices.Chunk(packets, batch))
	var all []verdict
	for i := range len(batches) + 1 {
		if i < len(batches) {
			var b []byte
			for _, p := range batches[i] {
				b = append(binary.LittleEndian.AppendUint32(b, uint32(len(p))), p...)
			}
			if err := j.ws.Write(j.ctx, websocket.MessageBinary, b); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			continue
		}
		_, b, err := j.ws.Read(j.ctx)
		if err != nil {
			return nil, err
		}
		if len(b) != 4*len(batches[i-1]) {
			return nil, fmt.Errorf("%d bytes of verdicts on %d packets", len(b), len(batches[i-1]))
		}
		for k, p := range batches[i-1] {
			size := int32(binary.LittleEndian.Uint32(b[4*k:]))
			// The engine counts the padding of a last PackedByteArray even if it is missing.
			all = append(all, verdict(min(size, int32(len(p)))))
		}
	}
	return all, nil
}

// ours returns gdwire's verdict and error.
func ours(d *gdwire.Decoder, p []byte) (verdict, error) {
	d.ResetBytes(p)
	if err := d.SkipValue(); err != nil {
		return 0, err
	}
	return verdict(d.InputOffset()), nil
}

// A jury compares verdicts.
type jury struct {
	lenient, anyUTF8 *gdwire.Decoder
	accepted         int
	notUTF8          int // packets that the engine accepts and gdwire only with AllowInvalidUTF8
}

func newJury() *jury {
	return &jury{
		lenient: gdwire.NewDecoder(nil, nil),
		anyUTF8: gdwire.NewDecoder(nil, &gdwire.DecoderOptions{AllowInvalidUTF8: true}),
	}
}

// agree reports whether gdwire's verdict on p is the engine's. For text that is not UTF-8 it
// compares the verdict with AllowInvalidUTF8.
func (j *jury) agree(p []byte, engine verdict) bool {
	v, err := ours(j.lenient, p)
	if v == engine {
		return true
	}
	if !errors.Is(err, gdwire.ErrUTF8) {
		return false
	}
	v, _ = ours(j.anyUTF8, p)
	return v == engine
}

// TestJudge compares the verdicts of the engine and gdwire on damaged packets. The
// packets are vectors, seeds of the fuzz targets and random values before the damage.
func TestJudge(t *testing.T) {
	t.Logf("-seed %d", *seed)
	total := *judged
	if testing.Short() {
		total /= 10
	}
	jury := newJury()
	var disagreed []string
	must(browser.Run(t.Context(), Program{
		Files: withRandom(t, "judge.gd"),
		Args:  []string{strconv.FormatUint(*seed, 10), "500"},
		Socket: func(ctx context.Context, ws *websocket.Conn) error {
			j := &engineJudge{ctx, ws}
			good, err := goodPackets(ctx, ws)
			if err != nil {
				return err
			}
			known := knownPackets(t)
			packets := append(slices.Clone(known), good...)
			m := &mutator{rand.New(rand.NewPCG(*seed, 0)), good}
			for done := 0; done < total && len(disagreed) < 5; {
				for len(packets) < 10*batch {
					packets = append(packets, m.mutate())
				}
				verdicts, err := j.judge(packets)
				if err != nil {
					return err
				}
				for i, p := range packets {
					if verdicts[i] > 0 {
						jury.accepted++
					}
					if err := invariants(p); err != nil {
						return fmt.Errorf("%x: %w", p, err)
					}
					if !jury.agree(p, verdicts[i]) {
						small, err := minimize(j, jury, p)
						if err != nil {
							return err
						}
						disagreed = append(disagreed, hex.EncodeToString(small))
						if len(disagreed) == 5 {
							break
						}
					} else if v, _ := ours(jury.lenient, p); v != verdicts[i] {
						jury.notUTF8++
					}
				}
				done += len(packets)
				packets = packets[:0]
			}
			return nil
		},
	}))(t)
	for _, p := range disagreed {
		b, _ := hex.DecodeString(p)
		_, err := ours(jury.lenient, b)
		t.Errorf("the engine disagrees; add the packet to testdata/judged.txt: %s (gdwire: %v)", p, err)
	}
	t.Logf("%d packets, %d accepted, %d only with AllowInvalidUTF8", total, jury.accepted, jury.notUTF8)
}

// knownPackets returns the packets of testdata/judged.txt, one in hexadecimal on each
// line: those for which TestJudge failed once.
func knownPackets(t *testing.T) (all [][]byte) {
	for line := range strings.Lines(string(must(os.ReadFile("testdata/judged.txt"))(t))) {
		all = append(all, must(hex.DecodeString(strings.TrimSpace(line)))(t))
	}
	return all
}

// goodPackets returns the packets that the test damages: random values, which the
// engine sends first, vectors and verdicts of Godot 4.6, and seeds of the fuzz targets.
func goodPackets(ctx context.Context, ws *websocket.Conn) ([][]byte, error) {
	_, message, err := ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	if err := variant.Unmarshal(message, &all); err != nil {
		return nil, err
	}
	values, err := suite.ValuesOf("4.6")
	if err != nil {
		return nil, err
	}
	packets, err := suite.Packets()
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		all = append(all, v.Hex)
	}
	for _, p := range packets {
		if _, ok := p.Engines["4.6"]; ok {
			all = append(all, p.Hex)
		}
	}
	all = slices.DeleteFunc(all, func(p []byte) bool { return len(p) >= 4096 })
	for _, s := range fuzz.Seeds() {
		if s.Seed.Format() == gdwire.Godot4 {
			all = append(all, s.Packet)
		}
	}
	return all, nil
}

// A mutator damages packets.
type mutator struct {
	*rand.Rand
	good [][]byte
}

// words contains edge cases of counts and headers.
var words = []uint32{0, 1, 2, 3, 4, 5, 0x7F, 0xFF, 0x100, 0xFFFF, 0x10000, 0x1001C, 0x2001C, 0x1001B, 0x5001B,
	0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 21, 22, 24, 25, 26, 27, 28, 29, 34, 38, 39}

func (m *mutator) mutate() []byte {
	p := bytes.Clone(m.good[m.IntN(len(m.good))])
	for range 1 + m.IntN(3) {
		if len(p) == 0 {
			return p
		}
		at := m.IntN(len(p))
		aligned := at &^ 3
		switch m.IntN(9) {
		case 0:
			p[at] ^= 1 << m.IntN(8)
		case 1:
			p[at] = byte(m.Uint32())
		case 2, 3: // a header or count
			if aligned+4 <= len(p) {
				binary.LittleEndian.PutUint32(p[aligned:], words[m.IntN(len(words))])
			}
		case 4: // truncate
			p = p[:at]
		case 5: // remove a part
			p = slices.Delete(p, aligned, min(aligned+4*(1+m.IntN(3)), len(p)))
		case 6: // repeat a part
			p = slices.Insert(p, aligned, p[aligned:min(aligned+4*(1+m.IntN(4)), len(p))]...)
		case 7: // insert a part of another packet
			other := m.good[m.IntN(len(m.good))]
			if len(other) > 0 {
				from := m.IntN(len(other)) &^ 3
				p = slices.Insert(p, aligned, other[from:min(from+4*(1+m.IntN(8)), len(other))]...)
			}
		case 8: // inside a container
			p = append([]byte{28, 0, 0, 0, byte(1 + m.IntN(2)), 0, 0, 0}, p...)
		}
	}
	if len(p) > 1<<14 {
		p = p[:1<<14]
	}
	return p
}

// minimize returns a shorter packet on which gdwire and the engine disagree, too.
func minimize(j *engineJudge, jury *jury, p []byte) ([]byte, error) {
	for size := len(p) / 2; size > 0; {
		var tries [][]byte
		for at := 0; at < len(p); at += size {
			tries = append(tries, slices.Delete(bytes.Clone(p), at, min(at+size, len(p))))
			zeros := bytes.Clone(p)
			clear(zeros[at:min(at+size, len(p))])
			if !bytes.Equal(zeros, p) {
				tries = append(tries, zeros)
			}
		}
		verdicts, err := j.judge(tries)
		if err != nil {
			return nil, err
		}
		better := p
		for i, try := range tries {
			if !jury.agree(try, verdicts[i]) {
				better = try
				break
			}
		}
		if bytes.Equal(better, p) {
			size /= 2
		} else {
			p = better
			size = min(size, max(len(p)/2, 1))
		}
	}
	return p, nil
}

// invariants returns an error if p is not read alike in different ways, or the value that
// was read is not written alike.
func invariants(p []byte) error {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{OneValue: true})
	defer d.Release()
	size, want := ours(d, p)
	alike := func(way string, n int64, err error) error {
		if fmt.Sprint(err) != fmt.Sprint(want) {
			return fmt.Errorf("%s: %v, SkipValue: %v", way, err, want)
		}
		if err == nil && n != int64(size) {
			return fmt.Errorf("%s ends at %d, SkipValue at %d", way, n, size)
		}
		return nil
	}
	d.ResetBytes(p)
	err := readTokens(d)
	if err := alike("tokens", d.InputOffset(), err); err != nil {
		return err
	}
	narrow := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{OneValue: true, MaxChunk: 16})
	defer narrow.Release()
	narrow.ResetN(iotest.OneByteReader(bytes.NewReader(p)), int64(len(p)))
	err = narrow.SkipValue()
	if err := alike("byte by byte", narrow.InputOffset(), err); err != nil {
		return err
	}
	strict := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Strict: true})
	defer strict.Release()
	n, strictErr := ours(strict, p)
	if strictErr == nil && n != size {
		return fmt.Errorf("Strict: %d bytes, else %d", n, size)
	}
	if want != nil {
		return nil
	}
	return written(p[:size], strictErr == nil)
}

// readTokens reads a value by tokens, each of which PeekKind must announce.
func readTokens(d *gdwire.Decoder) error {
	for {
		kind := d.PeekKind()
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		if t.Kind() != kind {
			return fmt.Errorf("PeekKind returned %v for %v", kind, t)
		}
		if d.Depth() == 0 && (kind != gdwire.KindStringChunk || t.Last()) {
			return nil
		}
	}
}

// written returns an error if the value of p is not written alike by CopyValue and through
// an any. If it is canonical, these are the bytes of p.
func written(p []byte, canonical bool) error {
	one := &gdwire.DecoderOptions{OneValue: true}
	once, err := copyOf(p, one)
	if err != nil {
		return err
	}
	twice, err := copyOf(once, one)
	if err != nil {
		return fmt.Errorf("the copy %x: %w", once, err)
	}
	if !bytes.Equal(once, twice) {
		return fmt.Errorf("copied as %x, and that as %x", once, twice)
	}
	const nodePath = "\x16\x00\x00\x00" // with padding of any content
	if canonical && !bytes.Equal(once, p) && !bytes.Contains(p, []byte(nodePath)) {
		return fmt.Errorf("canonical, and copied as %x", once)
	}
	var v any
	err = variant.Unmarshal(p, &v)
	if errors.Is(err, gdwire.ErrRange) { // a NodePath that text cannot hold
		return nil
	}
	if err != nil {
		return fmt.Errorf("Unmarshal: %w", err)
	}
	return nil
}

// copyOf returns p as CopyValue writes it.
func copyOf(p []byte, o *gdwire.DecoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(nil, o)
	defer d.Release()
	d.ResetBytes(p)
	var out bytes.Buffer
	e := gdwire.NewEncoder(&out, nil)
	err := cmp.Or(gdwire.CopyValue(e, d), e.Close())
	return out.Bytes(), err
}
