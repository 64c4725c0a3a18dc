// Package wireshark tests spec/godot-variant.lua with tshark.
package wireshark

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// byPorts are options that say what the ports of a capture mean.
var byPorts = slices.Clip([]string{"-o", fmt.Sprint("godot.tcp:", portTCP), "-o", fmt.Sprint("godot.ws:", portWS), "-o", fmt.Sprint("godot.udp:", portUDP)})

// A packet is what the dissector showed of one packet: the values of fields by their names, in order.
type packet map[string][]string

// tshark dissects a capture and returns its packets in order, and the fields outside of them.
func tshark(t *testing.T, c *capture, options ...string) (all []packet, rest packet) {
	t.Helper()
	return packets(t, output(t, c, append([]string{"-T", "json", "-J", "godot godot_stream"}, options...)...))
}

// output returns what tshark prints of a capture.
func output(t *testing.T, c *capture, options ...string) []byte {
	t.Helper()
	if !testenv.Full() {
		t.Skip("GDWIRE_FULL is not set")
	}
	path, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("no tshark: Debian's package tshark contains it")
	}
	file := filepath.Join(t.TempDir(), "capture.pcap")
	require.NoError(t, os.WriteFile(file, c.Bytes(), 0o600))
	script := testenv.Must(filepath.Abs("../../spec/godot-variant.lua"))(t)
	args := []string{"-n", "-r", file, "-X", "lua_script:" + script}
	cmd := exec.CommandContext(t.Context(), path, append(args, options...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir()) // nobody's preferences
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &stderr)
	if i := bytes.Index(out, []byte("Lua Error")); i >= 0 {
		require.FailNow(t, string(out[i:min(i+200, len(out))]))
	}
	require.NotContains(t, strings.ToLower(stderr.String()), "lua")
	return out
}

// packets reads tshark's JSON, whose objects contain members with equal names.
func packets(t *testing.T, text []byte) (all []packet, rest packet) {
	d := json.NewDecoder(bytes.NewReader(text))
	rest = packet{}
	current := rest
	var walk func(name string)
	walk = func(name string) {
		token := testenv.Must(d.Token())(t)
		switch token {
		case json.Delim('{'):
			if name == "godot" {
				current = packet{}
				all = append(all, current)
			}
			for d.More() {
				member := testenv.Must(d.Token())(t)
				walk(member.(string))
			}
			if name == "godot" {
				current = rest
			}
		case json.Delim('['): // of a field name_raw: its bytes in hexadecimal, offset and length, or of frames
			for i := 0; d.More(); i++ {
				walk(name + []string{"", "_at", "_size", "_mask", "_type"}[min(i, 4)])
			}
		default:
			current[name] = append(current[name], fmt.Sprint(token))
			return
		}
		_, err := d.Token()
		require.NoError(t, err)
	}
	for {
		walk("")
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return all, rest
		}
	}
}

// rules returns the numbers of the rules in the expert information of a severity.
func (p packet) rules(severity int) (all []string) {
	for i, s := range p["_ws.expert.severity"] {
		if s == strconv.Itoa(severity) {
			rule, _, _ := strings.Cut(p["_ws.expert.message"][i], " ")
			all = append(all, strings.TrimSuffix(rule, ":"))
		}
	}
	return all
}

// Severities of expert information.
const (
	severityError   = 0x800000
	severityWarning = 0x600000
	severityNote    = 0x400000
)

// fields returns what the dissector shows of a value of a format.
func fields(v *tagged.Value, format string) packet {
	p := packet{}
	p.addValue(v, format)
	return p
}

func (p packet) add(field string, values ...string) { p[field] = append(p[field], values...) }

func (p packet) addValue(v *tagged.Value, format string) {
	bits := strconv.FormatInt(int64(v.Bits), 10)
	p.add("godot.type", strings.Replace(v.Type, "ObjectID", "Object", 1))
	switch v.Type {
	case "Nil", "Callable":
	case "bool":
		p.add("godot.bool", bits)
	case "int":
		p.add("godot.int", bits)
	case "float":
		p.add("godot.float", double(v.Bits))
	case "String", "StringName":
		p.addText("godot.string", v.Text)
	case "NodePath":
		p.addCount(len(v.Names), len(v.Subnames))
		p.add("godot.absolute", strconv.Itoa(map[bool]int{true: 1}[v.Absolute]))
		p.addText("godot.name", v.Names...)
		p.addText("godot.subname", v.Subnames...)
	case "RID", "ObjectID":
		if format == "godot4" || v.Type == "ObjectID" { // R1
			p.add("godot.id", bits)
		}
	case "Signal":
		p.addText("godot.name", v.Text)
		p.add("godot.id", bits)
	case "Object":
		p.addText("godot.class", v.Text)
		p.addCount(len(v.Items))
		p.addText("godot.property", v.Names...)
	case "Array":
		p.addDeclared(v.Elem)
		p.addCount(len(v.Items))
	case "Dictionary":
		p.addDeclared(v.Key)
		p.addDeclared(v.Elem)
		p.addCount(len(v.Items) / 2)
	case "PackedByteArray":
		p.addCount(len(v.Data))
		if len(v.Data) > 0 {
			p.add("godot.bytes", hex.EncodeToString(v.Data))
		}
	case "PackedStringArray":
		p.addCount(len(v.Names))
		p.addText("godot.string", v.Names...)
	default:
		p.addNumbers(v)
	}
	for i := range v.Items {
		p.addValue(&v.Items[i], format)
	}
}

func (p packet) addCount(counts ...int) {
	for _, n := range counts {
		p.add("godot.count", strconv.Itoa(n))
	}
}

func (p packet) addText(field string, all ...string) {
	for _, s := range all {
		p.add(field, strings.ReplaceAll(s, "\x00", "\u2400"))
	}
}

func (p packet) addDeclared(d tagged.Declared) {
	if d.Kind > 0 {
		p.add("godot.declared", d.Name)
	}
}

func (p packet) addNumbers(v *tagged.Value) {
	if strings.HasPrefix(v.Type, "Packed") {
		p.addCount(len(v.Numbers) / max(1, model.RealComponents[v.Type]))
	}
	ints := model.IntComponents[v.Type] > 0 || strings.Contains(v.Type, "Int")
	for _, bits := range v.Numbers {
		if ints {
			p.add("godot.int", strconv.FormatInt(int64(bits), 10))
		} else {
			p.add("godot.float", double(bits))
		}
	}
}

// double returns the bits of a float64 as text.
func double(bits uint64) string {
	if x := math.Float64frombits(bits); x != x {
		return "NaN"
	}
	return strconv.FormatUint(bits, 16)
}

// shown returns the fields of p that fields returns, in the same form. Floats are those of the bytes,
// since tshark shows 15 digits, which must be theirs.
func (p packet) shown(t *testing.T) packet {
	q := packet{}
	for field, values := range p {
		if !strings.HasPrefix(field, "godot.") || strings.Contains(field, "_raw") ||
			slices.Contains([]string{"godot.flags", "godot.padding", "godot.rest", "godot.odd", "godot.object", "godot.pair"}, field) {
			continue
		}
		for i, s := range values {
			switch field {
			case "godot.bytes":
				s = strings.ReplaceAll(s, ":", "")
			case "godot.float":
				s = float(t, s, p["godot.float_raw"][i])
			}
			q.add(field, s)
		}
	}
	return q
}

// float returns the float of bytes in hexadecimal. Text must be the same number.
func float(t *testing.T, text, raw string) string {
	b := testenv.Must(hex.DecodeString(raw))(t)
	var x float64
	if len(b) == 4 {
		x = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	} else {
		x = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	number, err := strconv.ParseFloat(strings.Replace(text, "-nan", "nan", 1), 64)
	if !errors.Is(err, strconv.ErrRange) {
		require.NoError(t, err)
	}
	digits := func(x float64) string { return strconv.FormatFloat(x, 'g', 15, 64) }
	require.Equal(t, digits(x), digits(number))
	return double(math.Float64bits(x))
}

// requireOffsets requires that the items of values are where they are in the packet.
func requireOffsets(t *testing.T, p packet, starts []int64) {
	t.Helper()
	var got []int64
	for _, s := range p["godot.type_raw_at"] {
		n := testenv.Must(strconv.ParseInt(s, 10, 64))(t)
		got = append(got, n)
	}
	for i := len(got) - 1; i >= 0; i-- {
		got[i] -= got[0]
	}
	require.Equal(t, starts, got)
}

// A vector is a line of values.jsonl or packets.jsonl.
type vector struct {
	suite.Packet
	value json.RawMessage
}

// vectors returns the lines of a format.
func vectors(t *testing.T, format string) (all []vector) {
	values := testenv.Must(suite.Values())(t)
	for _, v := range values {
		if slices.Contains(v.Formats, format) {
			all = append(all, vector{suite.Packet{ID: v.ID, Verdict: suite.Valid, Rules: v.Rules, Objects: v.Objects, Hex: v.Hex}, v.Value})
		}
	}
	odd := testenv.Must(suite.Packets())(t)
	for _, p := range odd {
		if slices.Contains(p.Formats, format) && len(p.Hex) > 0 {
			all = append(all, vector{p, nil})
		}
	}
	return all
}

// requireVector requires that a packet shows a vector.
func requireVector(t *testing.T, v *vector, format string, p packet) {
	t.Helper()
	malformed, warnings, notes := p.rules(severityError), p.rules(severityWarning), p.rules(severityNote)
	r := model.Reference{Format: format, Objects: true, P: v.Hex}
	value, err := r.Decode()
	switch {
	case v.Verdict == suite.Differs: // no rule decides
	case v.Verdict == suite.Invalid && slices.Contains(v.Rules, "O3"):
		require.Contains(t, warnings, "O3")
	case v.Verdict == suite.Invalid:
		require.Len(t, malformed, 1)
		require.Contains(t, v.Rules, malformed[0])
	default:
		require.NoError(t, err)
		require.Empty(t, malformed)
		require.Subset(t, append(v.Rules, "T3"), notes)
		require.Equal(t, v.Strict, len(notes) > 0, "notes %s", notes)
		require.Equal(t, v.Objects, slices.Contains(warnings, "O3"))
		if v.value != nil {
			require.NoError(t, json.Unmarshal(v.value, &value))
		}
		if slices.Contains(warnings, "levels") {
			require.Greater(t, len(r.Starts), 200)
		} else if !v.Strict {
			require.Equal(t, fields(&value, format), p.shown(t))
			requireOffsets(t, p, r.Starts)
		}
	}
}

// TestWiresharkVectors: the dissector shows every vector, those of values over TCP, WebSocket and UDP.
func TestWiresharkVectors(t *testing.T) {
	for _, format := range []string{"godot4", "godot3"} {
		t.Run(format, func(t *testing.T) {
			all := vectors(t, format)
			values := all[:slices.IndexFunc(all, func(v vector) bool { return v.value == nil })]
			require.Greater(t, len(values), 100)
			require.Greater(t, len(all)-len(values), 500)
			c := newCapture()
			framed, messages := []byte(nil), []byte(nil)
			for i := range all {
				framed = append(binary.LittleEndian.AppendUint32(framed, uint32(len(all[i].Hex))), all[i].Hex...)
			}
			for i := range values {
				messages = append(messages, message(0, values[i].Hex)...)
			}
			c.dial(portTCP).send(0, framed)
			ws := c.dial(portWS)
			ws.upgrade()
			ws.send(0, messages)
			for i := range values {
				c.udp(values[i].Hex)
			}
			got, _ := tshark(t, c, append(byPorts, "-x", "-o", "godot.format:Godot "+format[5:])...)
			want := slices.Concat(all, values, values)
			require.Equal(t, len(want), len(got))
			for i, p := range got {
				t.Run(fmt.Sprint(i, " ", want[i].ID), func(t *testing.T) { requireVector(t, &want[i], format, p) })
			}
		})
	}
}

// TestStreams: lengths split a stream in packets, and those that cannot be are found.
func TestStreams(t *testing.T) {
	streams, err := suite.Streams()
	require.NoError(t, err)
	for frame, option := range map[string]string{"u32": "FALSE", "u32be": "TRUE"} {
		t.Run(frame, func(t *testing.T) {
			c, want, rules := newCapture(), []string{}, []string{}
			for _, s := range streams {
				if s.Frame != frame {
					continue
				}
				data := []byte(s.Hex)
				if s.File != "" {
					data, err = os.ReadFile(filepath.Join("..", "..", s.File))
					require.NoError(t, err)
				}
				c.dial(portTCP).send(1, data)
				for _, p := range s.Packets {
					if len(p) > 0 {
						want = append(want, hex.EncodeToString(p))
					} else {
						rules = append(rules, "F4")
					}
				}
				if s.Kind == "negative length" { // others end early, which a capture does not say
					rules = append(rules, "F5")
				}
			}
			_, rest := tshark(t, c, append(byPorts, "-x", "-o", "godot.big_endian:"+option)...)
			require.Equal(t, want, rest["godot_raw"])
			require.Equal(t, rules, append(append([]string{}, rest.rules(severityWarning)...), rest.rules(severityError)...))
		})
	}
}

// TestWithoutPreferences: streams and datagrams are found by Decode as, whole messages of a WebSocket
// by themselves.
func TestWithoutPreferences(t *testing.T) {
	c := newCapture()
	packets := []string{"0200000001000000", "050000000000803f00000040", "00000000"}
	others := []string{"74657874", "0000000000", "0200000001000000ff", "02000000", "01000000ff000000"}
	ws := c.dial(portWS)
	ws.upgrade()
	for i, text := range append(packets, others...) {
		data := testenv.Must(hex.DecodeString(text))(t)
		ws.send(i%2, message(i%2, data))
		if i < len(packets) {
			c.udp(data)
			c.dial(portTCP).send(i%2, append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...))
		}
	}
	_, rest := tshark(t, c, "-x")
	require.Equal(t, packets, rest["godot_raw"])
	_, rest = tshark(t, c, "-x", "-d", fmt.Sprintf("tcp.port==%d,godot_stream", portTCP), "-d", fmt.Sprintf("udp.port==%d,godot", portUDP))
	require.Len(t, rest["godot_raw"], 3*len(packets))
}

// TestColumns: the list shows every value that a frame completes, of one call of the dissector or several.
func TestColumns(t *testing.T) {
	c := newCapture()
	c.udp([]byte{4, 0, 0, 0, 2, 0, 0, 0, 'a', '\n', 0, 0})
	tcp := c.dial(portTCP)
	tcp.segment(0, 0x18, []byte{8, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0})
	tcp.segment(0, 0x18, []byte{0, 0, 0, 4, 0, 0, 0, 25, 0, 0, 0, 8, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0})
	ws := c.dial(portWS)
	ws.upgrade()
	ws.segment(0, 0x18, append(message(0, []byte{0, 0, 0, 0}), message(0, []byte{25, 0, 0, 0})...))
	text := message(1, []byte("text"))
	text[0] = 0x81
	ws.segment(1, 0x18, text)
	columns := output(t, c, append(byPorts, "-Y", "godot", "-T", "fields", "-e", "_ws.col.Protocol", "-e", "_ws.col.Info")...)
	want := []string{`Godot	String "a\x0a"`, "Godot	bool true", "Godot	Nil; Callable; int 5", "Godot	Nil; Callable"}
	require.Equal(t, want, strings.Split(strings.TrimSpace(string(columns)), "\n"))
}

// TestHostile: what could cost much ends with a message.
func TestHostile(t *testing.T) {
	le := binary.LittleEndian
	array := func(n uint32, elements []byte) []byte {
		return append(le.AppendUint32([]byte{28, 0, 0, 0}, n), elements...)
	}
	tests := []struct {
		message string
		packet  []byte
	}{
		{"B7 at offset 8200: more than 1024 levels", bytes.Repeat(array(1, nil), 5000)},
		{"from offset 40004 on: more than 20000 items", array(1<<17, make([]byte, 4<<17))},
		{"C4 at offset 8: the packet ends before all elements of the count", array(1<<31-1, nil)},
		{"N8 at offset 16: the packet ends before all names", []byte{22, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 127, 0, 0, 0, 0}},
		{"P7 at offset 8: the packet ends before all strings of the count", []byte{34, 0, 0, 0, 255, 255, 255, 127}},
		{"P7 at offset 4: 4294967295 elements of 32 bytes, but 0 bytes follow", []byte{38, 0, 1, 0, 255, 255, 255, 255}},
		{"O8 at offset 16: the packet ends before all properties", []byte{24, 0, 0, 0, 1, 0, 0, 0, 'a', 0, 0, 0, 255, 255, 255, 127}},
	}
	c := newCapture()
	for _, test := range tests {
		stream := append(le.AppendUint32(nil, uint32(len(test.packet))), test.packet...)
		tcp := c.dial(portTCP)
		for part := range slices.Chunk(stream, 32<<10) {
			tcp.segment(0, 0x18, part)
		}
	}
	all, _ := tshark(t, c, byPorts...)
	require.Len(t, all, len(tests))
	for i, test := range tests {
		require.Contains(t, all[i]["_ws.expert.message"], test.message)
	}
}

// TestPartialCapture: what a capture does not contain is not called malformed.
func TestPartialCapture(t *testing.T) {
	text := append([]byte{4, 0, 0, 0, 40, 0, 0, 0}, "forty bytes, and the capture ends before"...)
	whole := newCapture()
	whole.udp(text)
	whole.dial(portTCP).segment(0, 0x18, append([]byte{48, 0, 0, 0}, text...))
	cut := newCapture()
	for frame := whole.Bytes()[24:]; len(frame) > 0; {
		size := binary.LittleEndian.Uint32(frame[8:])
		held := min(size, 56)
		cut.put(binary.LittleEndian, frame[:8], held, size, frame[16:16+held])
		frame = frame[16+size:]
	}
	all, rest := tshark(t, cut, byPorts...)
	require.Len(t, all, 1)
	require.Equal(t, []string{"the capture holds only a part of the packet"}, all[0]["_ws.expert.message"])
	require.Equal(t, []string{"12 bytes of a packet of 48; the rest is not reassembled"}, rest["_ws.expert.message"])
}

// TestWiresharkDamage: the dissector refuses exactly what the reference refuses, and by the same rule.
func TestWiresharkDamage(t *testing.T) {
	for _, format := range []string{"godot4", "godot3"} {
		t.Run(format, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			all := vectors(t, format)
			c := newCapture()
			var damaged [][]byte
			for range 2000 {
				p := bytes.Clone(all[r.IntN(len(all))].Hex)
				if len(p) > 1000 {
					continue
				}
				for range 1 + r.IntN(3) {
					p[r.IntN(len(p))] = byte(r.Uint32() >> (8 * r.IntN(4)))
				}
				p = p[:1+r.IntN(len(p))]
				damaged = append(damaged, p)
				c.udp(p)
			}
			got, _ := tshark(t, c, append(byPorts, "-o", "godot.format:Godot "+format[5:])...)
			require.Len(t, got, len(damaged))
			for i, p := range damaged {
				ref := model.Reference{Format: format, Objects: true, P: p}
				_, err := ref.Decode()
				if ref.Cause == "T7" { // the dissector accepts it
					continue
				}
				var want []string
				if err != nil {
					want = []string{ref.Cause}
				}
				require.Equal(t, want, got[i].rules(severityError), "%x", p)
			}
		})
	}
}

// TestCaptureBeginsWithinPacket: without the beginning of a connection, the first bytes up to a whole
// packet are skipped, and this is said. With it, nothing is skipped.
func TestCaptureBeginsWithinPacket(t *testing.T) {
	le := binary.LittleEndian
	framed := func(p []byte) []byte { return append(le.AppendUint32(nil, uint32(len(p))), p...) }
	text := []byte("\x04\x00\x00\x00\x0c\x00\x00\x00hello, world")
	number := []byte{2, 0, 0, 0, 7, 0, 0, 0}
	for _, cut := range []int{1, 4, 5, 8, 9, 13, 20} {
		c := newCapture()
		late := &connection{capture: c, ports: [2]uint16{40000, portTCP}, sent: [2]uint32{1000, 2000}}
		late.segment(0, 0x18, slices.Concat(framed(text)[cut:], framed(number), framed(text)))
		late.segment(0, 0x18, framed(number))
		late.segment(1, 0x18, framed(number)) // the other side begins with a packet
		all, rest := tshark(t, c, byPorts...)
		require.Len(t, all, 4, "cut at %d", cut)
		require.Equal(t, []string{"7"}, all[0]["godot.int"])
		require.Equal(t, []string{"hello, world"}, all[1]["godot.string"])
		require.Contains(t, fmt.Sprint(rest["_ws.expert.message"]), "the capture begins within a packet")
	}
	c := newCapture()
	late := &connection{capture: c, ports: [2]uint16{40000, portTCP}}
	late.segment(0, 0x18, []byte("no packet is here: only text"))
	all, rest := tshark(t, c, byPorts...)
	require.Empty(t, all)
	require.Contains(t, fmt.Sprint(rest["_ws.expert.message"]), "28 bytes skipped")

	c = newCapture()
	c.dial(portTCP).segment(0, 0x18, slices.Concat(framed(bytes.Repeat([]byte{99, 0, 0, 0}, 2)), framed(number)))
	all, _ = tshark(t, c, byPorts...)
	require.Len(t, all, 2, "an unknown type is shown where the connection began")
}

// TestSample: sample.pcap shows what README.md says.
func TestSample(t *testing.T) {
	sample := testenv.Must(os.ReadFile("../../spec/sample.pcap"))(t)
	require.Equal(t, sampleCapture().Bytes(), sample, "GDWIRE_WRITE_SPEC=1 go test -run TestWriteSample writes it")
	all, _ := tshark(t, sampleCapture(), byPorts...)
	require.Len(t, all, 6)
	require.Contains(t, all[0]["godot.string"], "login")
	require.NotEmpty(t, all[4].rules(severityError))
}

// TestWriteSample writes sample.pcap, if that is asked for.
func TestWriteSample(t *testing.T) {
	if os.Getenv("GDWIRE_WRITE_SPEC") == "" {
		t.Skip("GDWIRE_WRITE_SPEC is not set")
	}
	require.NoError(t, os.WriteFile("../../spec/sample.pcap", sampleCapture().Bytes(), 0o644))
}

// sampleCapture returns a capture of a TCP stream, a WebSocket and UDP: six packets, one of which is damaged.
func sampleCapture() *capture {
	le := binary.LittleEndian
	framed := func(p []byte) []byte { return append(le.AppendUint32(nil, uint32(len(p))), p...) }
	login := []byte("\x1b\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00op\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00login\x00\x00\x00" +
		"\x04\x00\x00\x00\x04\x00\x00\x00name\x04\x00\x00\x00\x03\x00\x00\x00Ada\x00")
	position := []byte("\x05\x00\x00\x00\x00\x00\xa0\x3f\x00\x00\x20\xc0")
	number := []byte{2, 0, 0, 0, 7, 0, 0, 0}
	damaged := []byte{4, 0, 0, 0, 255, 0, 0, 0, 'a', 0, 0, 0}
	c := newCapture()
	tcp := c.dial(portTCP)
	tcp.segment(0, 0x18, slices.Concat(framed(login), framed(position)))
	tcp.segment(1, 0x18, framed(number))
	ws := c.dial(portWS)
	ws.upgrade()
	ws.segment(1, 0x18, append([]byte{0x82, byte(len(login))}, login...))
	c.udp(damaged)
	c.udp(position)
	return c
}
