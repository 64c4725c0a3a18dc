package interop

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// A task is something that a user does with the page, in a window of a width. It returns the page at its end.
type task func(t *testing.T, binary string, width int64) *viewPage

// Five tasks, with the mouse and the keyboard, in a wide window and in a narrow one. GDWIRE_SCREENSHOTS names a folder
// for pictures of their steps in both themes.
func TestViewTasks(t *testing.T) {
	binary := gdwireBinary(t)
	for _, width := range []int64{1600, 360} {
		for name, do := range map[string]task{"change": taskChange, "undo": taskUndo, "find": taskFind, "link": taskLink, "recording": taskRecording} {
			t.Run(fmt.Sprint(name, " in ", width), func(t *testing.T) {
				p := do(t, binary, width)
				p.pictures(name, width)
				p.quiet()
			})
		}
	}
}

// pictures expects that the page fits its window in both themes.
func (p *viewPage) pictures(step string, width int64) {
	p.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		p.fits("task-"+step, width, scheme)
	}
}

// openTask opens a page in a window of a width, which has the focus.
func openTask(t *testing.T, url string, width int64) *viewPage {
	p := openPage(t, url)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.EmulateViewport(width, 800)))
	must(chromedp.Call(p.ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))(t)
	p.until(fmt.Sprintf(`innerWidth === %d && document.hasFocus()`, width))
	return p
}

// button returns an expression for the element with an ID.
func button(id string) string { return fmt.Sprintf("document.getElementById(%q)", id) }

// clipboard returns the text that was copied.
func (p *viewPage) clipboard() string {
	p.t.Helper()
	must(chromedp.Call(p.ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
		Permission: &cdpbrowser.PermissionDescriptor{Name: "clipboard-read"}, Setting: "granted",
	}))(p.t)
	return eval[string](p, `navigator.clipboard.readText()`)
}

// taskChange changes hp in a save and saves it: in one of Godot 4, or in the narrow window in one of Godot 3. The
// engine reads it.
func taskChange(t *testing.T, binary string, width int64) *viewPage {
	format, reads := gdwire.Godot4, engineReads
	if width < 1000 {
		format, reads = gdwire.Godot3, engine3Reads
	}
	name := filepath.Join(t.TempDir(), "save.bin")
	encode := func(hp int) []byte {
		b := must(variant.Marshal(map[string]any{"gold": 5, "hp": hp, "items": []any{"sword", "bow"}, "name": "Ada"},
			variant.Options{Encoder: gdwire.EncoderOptions{Format: format}}))(t)
		return b
	}
	require.NoError(t, os.WriteFile(name, encode(10), 0o600))
	url, _ := runView(t, binary, "view", "-no-open", name)
	p := openTask(t, url, width)
	p.double(p.line(".hp") + `.querySelector(".value")`)
	p.ready("10")
	p.press("lots" + kb.Enter)
	p.until(`document.getElementById("field-error").textContent.includes('want a value and not "lots"')`)
	p.pictures("change-refused", width)
	p.ctrl("a")
	p.press("9999" + kb.Enter)
	p.settled(".hp10 → 9999int")
	p.click(button("save"))
	p.until(unsaved + ` === "saved; save.bin.bak is the file before"`)
	require.Equal(t, encode(10), read(t, name+".bak"))
	require.Equal(t, encode(9999), read(t, name))
	reads(t, name, "9999", "sword", "Ada")
	return p
}

// taskUndo changes, adds and deletes values, and undoes it to the same bytes.
func taskUndo(t *testing.T, binary string, width int64) *viewPage {
	name, before := editable(t)
	url, _ := runView(t, binary, "view", "-no-open", name)
	p := openTask(t, url, width)
	p.double(p.line(".gold") + `.querySelector(".value")`)
	p.ready("5")
	p.press("50" + kb.Enter)
	p.settled(".gold5 → 50int")
	p.click(p.line("[1]"))
	p.press(kb.Delete)
	p.until(`!Array.from(document.querySelectorAll("#tree .line"), e => e.textContent).some(text => text.includes('"bow"'))`)
	p.click(p.line("$"))
	p.click(button("add"))
	p.ready("")
	p.press("lives = 3" + kb.Enter)
	p.settled(".lives3int")
	p.until(changeLines + `.length === 3`)
	p.pictures("undo-before", width)
	for left := 2; left >= 0; left-- {
		p.click(button("undo"))
		p.until(fmt.Sprintf(changeLines+`.length === %d && !document.getElementById("redo").disabled`, left))
		p.until(fmt.Sprintf(`document.getElementById("undo").disabled === %v`, left == 0))
	}
	require.Equal(t, before, p.bytes(len(before)))
	require.True(t, eval[bool](p, button("save")+`.disabled && document.getElementById("changes").hidden`))
	require.Equal(t, before, read(t, name))
	return p
}

// taskFind searches for a name and copies the path of a hit, which get takes.
func taskFind(t *testing.T, binary string, width int64) *viewPage {
	url, _ := runView(t, binary, "view", "-no-open", largeSave)
	p := openTask(t, url, width)
	p.click(button("query"))
	p.press("item_1234" + kb.Enter)
	p.until(`document.getElementById("found").textContent === "1 found"`)
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes('"item_1234"') && document.querySelectorAll("#hex div").length > 0`)
	p.click(button("copy-path"))
	p.until(button("copy-path") + `.classList.contains("copied")`)
	path := p.clipboard()
	require.Equal(t, "player.inventory[1234].name", path)
	require.Equal(t, `"item_1234"`, strings.TrimSpace(string(must(exec.Command(binary, "get", path, largeSave).Output())(t))))
	return p
}

// taskLink copies the link of a value and opens it.
func taskLink(t *testing.T, binary string, width int64) *viewPage {
	url, _ := runView(t, binary, "view", "-no-open", largeSave)
	p := openTask(t, url, width)
	p.click(p.line(".inventory"))
	p.until(button("crumbs") + `.textContent.endsWith(".inventory")`)
	p.press(kb.ArrowRight)
	p.until(p.line(".inventory") + `.getAttribute("aria-expanded") === "true"`)
	p.press(kb.ArrowDown + kb.ArrowDown)
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes("[1]")`)
	p.press(kb.ArrowRight)
	p.until(p.line("[1]") + `.getAttribute("aria-expanded") === "true"`)
	p.click(p.line(".pos"))
	p.until(button("crumbs") + `.textContent.endsWith(".inventory[1].pos")`)
	p.click(button("copy-link"))
	p.until(button("copy-link") + `.classList.contains("copied")`)
	link := p.clipboard()
	require.Equal(t, p.url+"#$.player.inventory[1].pos", link)
	again := openTask(t, link, width)
	again.url = url
	again.until(`document.querySelector("#tree .chosen")?.textContent.startsWith(".posVector3(1.0, 0.5, -1.0)") && document.querySelectorAll("#hex div").length > 0`)
	return again
}

// taskRecording records the packets of a proxy, opens the recording, filters it and opens a packet.
func taskRecording(t *testing.T, binary string, width int64) *viewPage {
	url, _ := runView(t, binary, "view", "-no-open", recording(t, binary))
	p := openTask(t, url, width)
	p.until(packetCount + ` === "24 of 24 packets" && ` + packetLines + `.length > 0`)
	require.True(t, eval[bool](p, packetLines+`.every(e => /^\d\d:\d\d:\d\d\.\d{3}$/.test(e.querySelector(".time").textContent))`))
	p.click(button("query"))
	p.press("damage")
	p.until(packetCount + ` === "4 of 24 packets" && ` + packetLines + `.length === 4`)
	p.run(button("query") + `.value = ""`)
	p.press(`[1].damage = 7`)
	p.until(packetCount + ` === "2 of 24 packets" && ` + packetLines + `.length === 2`)
	p.click(packetLines + `[0]`)
	p.click(p.line(".damage"))
	p.until(`document.getElementById("type").textContent === "int" && document.querySelectorAll("#hex div").length > 0`)
	return p
}

// recording records the packets of a client and of a server that echoes them, and returns the name of the index.
func recording(t *testing.T, binary string) string {
	server := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = server.Close() }()
	go func() {
		if conn, err := server.Accept(); err == nil {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	}()
	prefix := filepath.Join(t.TempDir(), "match")
	proxy := exec.Command(binary, "proxy", "-record", prefix, "-n", "24", "127.0.0.1:0", server.Addr().String())
	stderr := must(proxy.StderrPipe())(t)
	require.NoError(t, proxy.Start())
	lines := bufio.NewScanner(stderr)
	require.True(t, lines.Scan())
	_, addr, ok := strings.Cut(lines.Text(), "listening on ")
	require.True(t, ok, lines.Text())
	addr, _, _ = strings.Cut(addr, " ")
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	conn := must(net.Dial("tcp", addr))(t)
	for n := range 12 {
		message := []any{"move", map[string]any{"to": variant.Vector2{X: float64(n), Y: 2.5}}}
		if n%5 == 1 && n < 10 {
			message = []any{"hit", map[string]any{"damage": n + 1, "who": "Ada"}}
		}
		packet := must(variant.Marshal(message))(t)
		must(conn.Write(append(binary32(len(packet)), packet...)))(t)
	}
	_, _ = io.Copy(io.Discard, conn) // up to the end of the proxy
	require.NoError(t, conn.Close())
	require.NoError(t, proxy.Wait())
	return prefix + ".index.jsonl"
}
