package interop

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

// A liveView is a page with the packets of a WebSocket client and a server that echoes them.
type liveView struct {
	*viewPage
	ws    *websocket.Conn // of the client
	proxy *exec.Cmd
}

func openLive(t *testing.T, binary string) *liveView {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		for err == nil {
			var kind websocket.MessageType
			var b []byte
			if kind, b, err = ws.Read(r.Context()); err == nil {
				err = ws.Write(r.Context(), kind, b)
			}
		}
	}))
	t.Cleanup(server.Close)
	proxy := exec.Command(binary, "proxy", "-view", "-no-open", "127.0.0.1:0", strings.TrimPrefix(server.URL, "http://"))
	url, printed := startView(t, proxy)
	_, addr, ok := strings.Cut(printed, "listening on ")
	require.True(t, ok, printed)
	addr, _, _ = strings.Cut(addr, " ")
	ws, _ := must2(websocket.Dial(t.Context(), "ws://"+addr, nil))(t)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &liveView{openPage(t, url), ws, proxy}
}

// send sends a packet and waits for the server's answer.
func (v *liveView) send(packet []byte) {
	ctx := context.Background()
	require.NoError(v.t, v.ws.Write(ctx, websocket.MessageBinary, packet))
	_, answer := must2(v.ws.Read(ctx))(v.t)
	require.Equal(v.t, packet, answer)
}

func (v *liveView) call(method string, arguments ...any) {
	v.send(gdwiretest.Encode(v.t, append([]any{method}, arguments...)))
}

const (
	packetLines = `Array.from(document.querySelectorAll("#packets .line"))`
	packetCount = `document.getElementById("packets-shown").textContent`
)

var unknownType = []byte{28, 0, 0, 0, 1, 0, 0, 0, 99, 0, 0, 0}

// Packets through a real WebSocket appear in the page: an invalid one in red with its error,
// and the page can filter, pause and follow.
func TestViewLive(t *testing.T) {
	v := openLive(t, gdwireBinary(t))
	v.call("move", variant.Vector2{X: 1, Y: 2.5})
	v.call("chat", "hello")
	v.send(unknownType)
	v.until(packetCount + ` === "6 of 6 packets" && ` + packetLines + `.length === 6`)
	lines := eval[[]string](v.viewPage, packetLines+`.map(e => Array.from(e.children, part => part.textContent).slice(2).join(" "))`)
	require.ElementsMatch(t, []string{ // the directions are shown independently
		`#1 → 32 B ["move",[1.0,2.5]]`, `#1 ← 32 B ["move",[1.0,2.5]]`, `#1 → 36 B ["chat","hello"]`, `#1 ← 36 B ["chat","hello"]`,
		`#1 → 12 B [  offset 8: unknown godot4 type id 99`, `#1 ← 12 B [  offset 8: unknown godot4 type id 99`,
	}, lines)
	require.Equal(t, []string{"rgb(28, 28, 30)", "rgb(166, 27, 20)"},
		eval[[]string](v.viewPage, `["move", "unknown"].map(text => getComputedStyle(`+packetLines+`.find(e => e.textContent.includes(text))).color)`), "invalid packets are red")

	// The tree, the bytes and the place of the error.
	v.run(packetLines + `.find(e => e.textContent.includes("unknown")).click()`)
	v.until(`document.querySelector("#hex .wrong")?.textContent === "63" && document.getElementById("error").textContent.includes("offset 8")`)
	v.run(packetLines + `.find(e => e.textContent.includes("move")).click()`)
	v.choose("[1]")
	v.until(`document.getElementById("offset").textContent === "20 (0x14)"`)

	// A press is on the packet that is drawn, also when the list has changed since.
	v.run(`const pressed = ` + packetLines + `.find(e => e.textContent.includes("unknown"));
		document.getElementById("query").value = "CHAT"; document.getElementById("query").dispatchEvent(new Event("input"));
		pressed.dispatchEvent(new MouseEvent("mousedown", {bubbles: true}))`)
	v.until(packetCount + ` === "2 of 6 packets" && ` + packetLines + `.length === 2`)
	v.until(`document.getElementById("error").textContent.includes("offset 8")`)
	v.call("move", 1)
	v.call("chat", "again")
	v.until(packetCount + ` === "4 of 10 packets" && ` + packetLines + `[3]?.textContent.includes("again")`)
	v.run(`document.getElementById("query").value = ""; document.getElementById("query").dispatchEvent(new Event("input"))`)
	v.until(packetCount + ` === "10 of 10 packets"`)

	// While the page is paused, packets are kept and not shown.
	v.run(`document.getElementById("pause").click()`)
	for n := range 45 {
		v.call("step", n)
	}
	v.until(`(await fetch("live?from=99").then(r => r.json())).packets.length === 1`)
	require.Equal(t, "10 of 10 packets", eval[string](v.viewPage, packetCount))
	v.run(`document.getElementById("pause").click(); document.getElementById("follow").click()`) // a click on a packet has ended it
	v.until(packetCount + ` === "100 of 100 packets" && ` + packetLines + `.at(-1)?.textContent.endsWith('["step",44]')`)

	// Follow shows the latest packet. A key in the list ends it.
	v.call("latest")
	v.until(packetLines + `.at(-1)?.textContent.endsWith('["latest"]')`)
	v.run(`document.getElementById("packets").dispatchEvent(new KeyboardEvent("keydown", {key: "Home", cancelable: true}))`)
	v.until(packetLines + `[0].textContent.includes('["move",[1.0,2.5]]') && ` + packetLines + `[0].classList.contains("chosen")`)
	require.False(t, eval[bool](v.viewPage, `document.getElementById("follow").checked`))
	v.call("later")
	v.until(packetCount + ` === "104 of 104 packets"`)
	require.Contains(t, eval[string](v.viewPage, packetLines+`[0].textContent`), `["move",[1.0,2.5]]`)
	v.quiet()
}

// After the proxy has ended, its packets stay in the list, and the one that is shown stays open.
func TestViewProxyEnded(t *testing.T) {
	v := openLive(t, gdwireBinary(t))
	v.call("hp", 5)
	v.call("hp", 0)
	v.until(packetLines + `.length === 4`)
	v.run(`document.getElementById("query").value = "[1] = 0"; document.getElementById("query").dispatchEvent(new Event("input"))`)
	v.until(packetCount + ` === "2 of 4 packets" && ` + packetLines + `.length === 2`)
	v.run(packetLines + `[0].click()`)
	v.until(`document.querySelector("#tree .chosen")?.textContent.includes("Array") && document.querySelectorAll("#hex div").length > 0`)
	require.NoError(t, v.proxy.Process.Signal(os.Interrupt))
	v.until(packetCount + `.endsWith("gdwire has ended: packets cannot be opened any more")`)
	require.Equal(t, 2, eval[int](v.viewPage, packetLines+`.length`))
	v.run(packetLines + `[1].click()`)
	v.until(`document.getElementById("notice").textContent === "This packet cannot be opened any more: gdwire has ended."`)
	lines := v.lines()
	require.Regexp(t, `^▾\$ packet \dArray 2$`, lines[0])
	require.Equal(t, []string{`[0]"hp"String`, "[1]0int"}, lines[1:3])
}
