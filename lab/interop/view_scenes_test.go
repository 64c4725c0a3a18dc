package interop

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
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
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
	"github.com/stretchr/testify/require"
)

const largeSave = "../../testdata/godot4.7-dev/save_game_large.bin"

// Scenes of the page fit the window. GDWIRE_SCREENSHOTS names a folder for their pictures.
func TestViewScenes(t *testing.T) {
	binary := gdwireBinary(t)
	player := func(t *testing.T) *viewPage {
		p := openView(t, binary, largeSave)
		for _, line := range []string{".player", ".inventory", "[7]", ".stats"} {
			p.open(line)
		}
		p.choose(".color")
		return p
	}
	for _, scene := range []struct {
		name string
		open func(t *testing.T) *viewPage
	}{
		{"tree", player},
		{"search", func(t *testing.T) *viewPage {
			p := openView(t, binary, largeSave)
			p.find("ITEM_29", "111 found")
			p.run(`document.querySelectorAll("#hits button")[100].click()`)
			p.until(`document.querySelector("#tree .chosen")?.textContent.includes('"item_2989"') && document.querySelectorAll("#hex div").length > 0`)
			return p
		}},
		{"picture", func(t *testing.T) *viewPage {
			name, _ := writeValue(t, map[string]any{"icon": icon(t), "name": "Ada", "path": variant.NodePath("Hero/Sprite:scale"), "tags": []string{"new"}})
			p := openView(t, binary, name)
			p.choose(".icon")
			p.until(`document.getElementById("picture").naturalWidth === 9`)
			return p
		}},
		{"damaged", func(t *testing.T) *viewPage {
			p := openView(t, binary, damaged(t))
			p.until(`document.querySelector("#tree .bad") !== null`)
			p.open(".player")
			p.open(".inventory")
			// In its place, and neither in an open value around it nor, until its elements are there, in .inventory.
			p.until(`Array.from(document.querySelectorAll("#tree .bad"), e => e.closest(".line").querySelector(".step").textContent).join() === "[7]"`)
			p.run(`document.querySelector("#tree .bad").click()`)
			p.until(`document.querySelector("#hex .wrong") !== null`)
			return p
		}},
		{"live", func(t *testing.T) *viewPage {
			v := openLive(t, binary)
			for n := range 8 {
				v.call("move", variant.Vector2{X: float64(n), Y: 2.5}, n)
			}
			v.call("chat", "hello")
			v.send(unknownType)
			v.call("say", map[string]any{"to": 5, "text": "on my way"})
			v.until(packetLines + `.at(-1)?.textContent.includes("on my way")`)
			v.run(packetLines + `.findLast(e => e.classList.contains("bad")).click()`)
			v.until(`document.querySelector("#hex .wrong") !== null`)
			return v.viewPage
		}},
		{"changes", func(t *testing.T) *viewPage {
			before, after := saves()
			name, _ := writeValue(t, before)
			newer, _ := writeValue(t, after)
			folder := filepath.Join(t.TempDir(), strings.Repeat("old", 30)) // the page shows it, as both names are save.bin
			require.NoError(t, os.Mkdir(folder, 0o700))
			older := filepath.Join(folder, "save.bin")
			require.NoError(t, os.Rename(name, older))
			url, _ := runView(t, binary, "view", "-no-open", older, newer)
			p := openPage(t, url)
			p.until(changeLines + `.length === 3`)
			p.press("n")
			p.until(`document.getElementById("was").textContent === "10" && document.querySelectorAll("#hex div").length > 0`)
			return p
		}},
		{"edit", func(t *testing.T) *viewPage {
			name, _ := editable(t)
			p := openView(t, binary, name)
			p.line(".gold")
			p.press(kb.ArrowDown + kb.Enter)
			p.ready("5")
			p.press("7" + kb.Enter)
			p.settled(".gold5 → 7int")
			p.press(kb.ArrowDown + kb.Enter)
			p.ready("10")
			p.press("ten" + kb.Enter)
			p.until(`!document.getElementById("field-error").hidden && document.querySelectorAll("#hex div").length > 0`)
			return p
		}},
		{"keys", func(t *testing.T) *viewPage {
			name, _ := editable(t)
			p := openView(t, binary, name)
			p.choose(".hp")
			p.press("?")
			p.until(`document.getElementById("keys").open`)
			return p
		}},
		{"map", func(t *testing.T) *viewPage {
			p := openView(t, binary, largeSave)
			p.choose(".player")
			p.until(`document.querySelectorAll("#map-list li").length === 3`)
			return p
		}},
		{"values", func(t *testing.T) *viewPage {
			node := &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "script", Value: "extends Node"}}}
			wide := variant.Raw{Data: []byte{2, 0, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0}}
			name, _ := writeValue(t, map[string]any{"node": node, "color": variant.Color{R: 1, G: 0.5, A: 0.3}, "colors": []variant.Color{{B: 1, A: 1}, {G: 1, A: 0.5}},
				"wide": wide, "worlds": append(make([]any, 250), wide), "basis": variant.Basis{}, "typed": &variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}}})
			p := openView(t, binary, name)
			p.choose(".wide")
			p.until(`document.getElementById("verdict").textContent === "No engine writes it like this: int 5 in 64 bits"`)
			p.open(".worlds") // of which not all is loaded
			p.open(".node")
			p.choose(".script")
			p.until(`document.getElementById("verdict").textContent.startsWith("Engines since 4.3 refuse a script")`)
			require.Equal(t, []string{"! Object 1", "! String", "≠ int", "≠ Array 251"}, eval[[]string](p, `Array.from(document.querySelectorAll("#tree .refused, #tree .odd"), e => e.parentElement.textContent)`))
			return p
		}},
	} {
		t.Run(scene.name, func(t *testing.T) {
			p := scene.open(t)
			for _, width := range []int64{1400, 800, 420} {
				for _, scheme := range []string{"light", "dark"} {
					p.fits(scene.name, width, scheme)
					if width == 1400 || scheme == "light" { // it takes most of the time
						p.accessible()
					}
				}
			}
			p.quiet()
		})
	}
}

// fits expects that the page fits a window of a width, and that the value that is selected and the names of all
// others are visible.
func (p *viewPage) fits(scene string, width int64, scheme string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.EmulateViewport(width, 800)))
	must(chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))(p.t)
	p.until(`document.getElementById("hex").scrollWidth <= document.getElementById("hex").clientWidth`)
	p.until(`((line, tree) => line && line.top >= tree.top && line.bottom <= tree.bottom)(
		document.querySelector("#tree .chosen")?.getBoundingClientRect(), document.getElementById("tree").getBoundingClientRect())`)
	require.Empty(p.t, eval[[]string](p, `Array.from(document.querySelectorAll("#tree .step:not(:empty)"))
		.filter(e => e.getBoundingClientRect().left + 16 > e.parentElement.getBoundingClientRect().right).map(e => e.textContent)`), "names that are not visible")
	require.Empty(p.t, eval[[]string](p, `[document.documentElement, ...document.querySelectorAll("header, main, section, .bar, #hex, #detail")]
		.filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map(e => e.id || e.tagName)`), "wider than their place at %d", width)
	require.Equal(p.t, 800, eval[int](p, `document.documentElement.scrollHeight`))
	if dir := os.Getenv("GDWIRE_SCREENSHOTS"); dir != "" {
		picture := must(chromedp.Run(p.ctx, chromedp.CaptureScreenshot()))(p.t)
		require.NoError(p.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", scene, width, scheme)), picture, 0o644))
	}
}

// Values that are deep, and names and texts that are long, fit the window, too.
func TestViewExtremes(t *testing.T) {
	deep := any("bottom")
	for range 40 {
		deep = map[string]any{"child": deep}
	}
	name, _ := writeValue(t, map[string]any{
		"deep": deep, strings.Repeat("long_", 100): 1, "text": strings.Repeat("word ", 2000), "unbroken": strings.Repeat("x", 9000), "empty": []any{}, "null": nil,
	})
	p := openView(t, gdwireBinary(t), name)
	p.choose(".deep")
	p.press("*")
	p.until(`(await fetch("info")).ok && document.querySelectorAll("#tree .line").length > 20`)
	p.run(`location.hash = "#$.deep` + strings.Repeat(".child", 40) + `"`)
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes("bottom") && document.querySelectorAll("#hex div").length > 0`)
	for _, width := range []int64{1600, 360} {
		p.fits("deep", width, "light")
	}
	require.True(t, eval[bool](p, `(e => e.scrollLeft + e.clientWidth >= e.scrollWidth - 1)(document.getElementById("crumbs"))`), "the end of the path is visible")
	p.run(`location.hash = "#$.` + strings.Repeat("long_", 100) + `"`)
	p.until(`document.querySelector("#tree .chosen")?.textContent.startsWith(".long_")`)
	p.fits("long", 360, "dark")
	p.press(kb.ArrowDown + kb.ArrowDown + kb.F2)
	p.until(`!` + field + `.hidden && ` + fieldValue + `.value.startsWith("word word")`)
	p.fits("long-text", 360, "light")
	p.quiet()
}

// axe is the checker of accessibility.
var axe = npmPackage{
	name: "axe-core", version: "4.14.1",
	sha512: "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
}

// accessible expects that axe finds no violation in the page.
func (p *viewPage) accessible() {
	p.t.Helper()
	folder := p.t.TempDir()
	err := axe.unpack(p.t.Context(), folder)
	if errors.Is(err, ErrUnavailable) {
		p.t.Skip(err)
	}
	require.NoError(p.t, err)
	p.run(string(must(os.ReadFile(filepath.Join(folder, "package", "axe.min.js")))(p.t)))
	require.Empty(p.t, eval[[]string](p, `axe.run().then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + " " + n.target.join(" ") + ": " + n.failureSummary)))`))
}

// icon returns a small picture.
func icon(t *testing.T) []byte {
	m := image.NewNRGBA(image.Rect(0, 0, 9, 9))
	for x := range 9 {
		for y := range 9 {
			if (x-4)*(x-4)+(y-4)*(y-4) <= 18 {
				m.Set(x, y, color.NRGBA{R: uint8(28 * x), G: 120, B: uint8(28 * y), A: 255})
			}
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

// damaged returns the name of a save whose seventh item is of an unknown type.
func damaged(t *testing.T) string {
	b := must(os.ReadFile(largeSave))(t)
	at := bytes.Index(b, []byte("item_7\x00")) - 8
	require.Positive(t, at)
	b[at] = 99
	name := filepath.Join(t.TempDir(), "damaged.bin")
	require.NoError(t, os.WriteFile(name, b, 0o600))
	return name
}

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
