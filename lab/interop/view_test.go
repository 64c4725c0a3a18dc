package interop

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/coder/websocket"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
	"github.com/stretchr/testify/require"
)

// gdwireBinary returns the name of the command, which the first call builds.
func gdwireBinary(t testing.TB) string {
	return must(built())(t)
}

var built = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(programs, "gdwire")
	build := exec.Command("go", "build", "-o", binary, "./cmd/gdwire")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
})

// A viewPage is a page of gdwire view in the browser.
type viewPage struct {
	t   *testing.T
	ctx context.Context
	url string

	mu       sync.Mutex
	messages []string // console messages and exceptions
	requests []string
}

// openView runs gdwire view for a file and opens its page.
func openView(t *testing.T, binary, file string) *viewPage {
	url, _ := runView(t, binary, "view", "-no-open", file)
	return openPage(t, url)
}

// runView runs a command that serves a page, up to its end by an interrupt, with status 1 if it said
// that the file is damaged. It returns the address of the page and what the command printed before it.
func runView(t testing.TB, binary string, args ...string) (url, printed string) {
	return startView(t, exec.Command(binary, args...))
}

// startView does it for a command that the test can end.
func startView(t testing.TB, command *exec.Cmd) (url, printed string) {
	stderr := must(command.StderrPipe())(t)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
		status := 0
		if strings.Contains(printed, " is damaged") {
			status = 1
		}
		require.Equal(t, status, command.ProcessState.ExitCode(), "ended by an interrupt")
	})
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "http://"); ok {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return "http://" + url, printed
		}
		printed += lines.Text() + "\n"
	}
	require.Fail(t, "no address")
	return "", ""
}

// openPage opens a page and waits until it shows a file.
func openPage(t *testing.T, url string) *viewPage {
	p := newPage(t, url)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(url)))
	p.until(`document.body.dataset.ready === "true"`)
	return p
}

// newPage returns an empty page, for an address.
func newPage(t *testing.T, url string) *viewPage {
	ctx, cancel := chromedp.NewContext(browser.ctx)
	t.Cleanup(cancel)
	p := &viewPage{t: t, ctx: ctx, url: url}
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(1200, 800)))
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			p.messages = append(p.messages, fmt.Sprintf("console: %v", e.Args))
		case *runtime.EventExceptionThrown:
			p.messages = append(p.messages, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			p.messages = append(p.messages, e.Entry.Text+" "+fmt.Sprint(e.Entry.URL))
		case *network.EventRequestWillBeSent:
			p.requests = append(p.requests, e.Request.URL)
		}
	}))
	return p
}

// eval returns the value of a JavaScript expression.
func eval[T any](p *viewPage, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return v
}

// until waits until a JavaScript expression is true.
func (p *viewPage) until(expression string) {
	p.t.Helper()
	ok := eval[bool](p, `(async () => {
		for (const end = Date.now() + 60000; Date.now() < end; await new Promise(r => setTimeout(r, 10))) if (`+expression+`) return true;
		return false;
	})()`)
	require.True(p.t, ok, "%s\n%s", expression, strings.Join(p.lines(), "\n"))
}

// haveCome waits until the tree has n lines, and none of them is still to come.
func (p *viewPage) haveCome(n int) {
	p.until(fmt.Sprintf(`(all => all.length === %d && !all.some(e => e.textContent === "…"))(Array.from(document.querySelectorAll("#tree .line")))`, n))
}

// lines returns the visible lines of the tree.
func (p *viewPage) lines() []string {
	return eval[[]string](p, `Array.from(document.querySelectorAll("#tree .line"), e => e.textContent)`)
}

// line waits for the line of the tree that starts with text, and returns an expression for it.
func (p *viewPage) line(text string) string {
	p.t.Helper()
	e := fmt.Sprintf(`Array.from(document.querySelectorAll("#tree .line")).find(e => e.textContent.replace(/^[▸▾]/, "").startsWith(%q))`, text)
	p.until(e + " !== undefined")
	return e
}

// open opens the line that starts with text.
func (p *viewPage) open(text string) {
	p.t.Helper()
	line := p.line(text)
	eval[bool](p, line+`.getAttribute("aria-expanded") === "true" || `+line+`.querySelector(".twisty").click(), true`)
	p.until(p.line(text) + `.getAttribute("aria-expanded") === "true"`)
}

// choose selects the line that starts with text and waits for its bytes.
func (p *viewPage) choose(text string) {
	p.t.Helper()
	eval[bool](p, p.line(text)+`.click(), true`)
	p.until(p.line(text) + `.classList.contains("chosen") && document.querySelectorAll("#hex div").length > 0`)
}

// key presses a key in the tree.
func (p *viewPage) key(name string) {
	eval[bool](p, fmt.Sprintf(`document.getElementById("tree").dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true, cancelable: true})), true`, name))
}

// quiet expects no message of the browser and no request elsewhere.
func (p *viewPage) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.messages)
	for _, r := range p.requests {
		require.True(p.t, strings.HasPrefix(r, p.url), r)
	}
}

// find searches for text and waits for the number of hits.
func (p *viewPage) find(text, found string) {
	p.t.Helper()
	p.run(fmt.Sprintf(`document.getElementById("query").value = %q; document.getElementById("search").requestSubmit()`, text))
	p.until(fmt.Sprintf(`document.getElementById("found").textContent === %q`, found))
}

// run runs JavaScript statements.
func (p *viewPage) run(statements string) {
	p.t.Helper()
	eval[bool](p, statements+"; true")
}

// writeValue writes an encoded value to a file, also text that engines would not write.
func writeValue(t *testing.T, v any) (name string, content []byte) {
	content = gdwiretest.Encode(t, v, variant.Options{Encoder: gdwire.EncoderOptions{AllowInvalidUTF8: true}})
	name = filepath.Join(t.TempDir(), "save.bin")
	require.NoError(t, os.WriteFile(name, content, 0o600))
	return name, content
}

// The tree, the bytes, the search, the keyboard and the commands, on a saved game.
func TestView(t *testing.T) {
	binary := gdwireBinary(t)
	p := openView(t, binary, largeSave)
	p.open(".player")
	p.open(".inventory")
	p.line(`[0]`)
	p.open("[7]")
	p.open(".stats")
	p.choose(".hp")
	require.Equal(t, "gdwire get 'player.inventory[7].stats.hp' "+largeSave, eval[string](p, `document.getElementById("get").textContent`))
	require.Equal(t, "gdwire set 'player.inventory[7].stats.hp = 107' "+largeSave+" -o "+largeSave, eval[string](p, `document.getElementById("set").value`))
	require.Equal(t, "02000000 6b000000", eval[string](p, `Array.from(document.querySelectorAll("#hex .header, #hex .content")).filter(e => e.title).map(e => e.textContent).join("").replace(/^(.{8})/, "$1 ")`))
	p.choose(".color")
	require.False(t, eval[bool](p, `document.getElementById("swatch").hidden`))

	p.find("item_2999", "1 found")
	eval[bool](p, `document.querySelector("#hits button").click(), true`)
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes('"item_2999"') && document.getElementById("get").textContent.includes("player.inventory[2999].name")`)
	p.key("Home")
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes("$")`)
	p.key("ArrowDown")
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes(".version")`)
	p.key("ArrowUp")
	p.key("ArrowLeft")
	p.until(`document.querySelectorAll("#tree .line").length === 1`)
	p.quiet()
}

// The last of 1<<20 children, by the keyboard. The page does not know yet that no value follows theirs.
func TestViewManyChildren(t *testing.T) {
	var values variant.Dictionary
	for i := range 1 << 20 {
		values.Set(i, i)
	}
	name, content := writeValue(t, &values)
	require.Greater(t, len(content), 16<<20-1)
	p := openView(t, gdwireBinary(t), name)
	p.line("[0]")
	p.key("End")
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes("[1048575]1048575int")`)
	p.key("PageUp")
	p.until(`!document.querySelector("#tree .chosen")?.textContent.includes("[1048575]") && document.querySelector("#tree .chosen")?.textContent.includes("]10485")`)
	p.quiet()
}

// The bytes of each type are those of the file.
func TestViewBytes(t *testing.T) {
	var d variant.Dictionary
	for i, v := range []any{
		nil, true, 5, 1 << 40, 0.1, "text", variant.Vector2{X: 1}, variant.Rect2i{}, variant.Transform3D{}, variant.Projection{}, variant.Color{R: 1},
		variant.StringName("n"), variant.NodePath("/a/b:c"), variant.RID(1), variant.ObjectID(2), variant.Callable{}, variant.Signal{Name: "s"},
		[]any{1, "x"}, map[string]any{"k": 1}, []byte{1, 2, 3}, []int64{1, 2}, []float32{1}, []string{"a", "bc"}, []variant.Vector3{{}}, []variant.Color{{}},
	} {
		d.Set(fmt.Sprintf("k%02d", i), v)
	}
	name, content := writeValue(t, &d)
	other, _ := writeValue(t, &d)
	binary := gdwireBinary(t)
	p := openView(t, binary, name)
	for i := range d.Len() {
		p.choose(fmt.Sprintf(".k%02d", i))
		at := eval[int](p, `parseInt(document.getElementById("offset").textContent)`)
		p.until(`document.getElementById("size").textContent !== ""`)
		size := eval[int](p, `parseInt(document.getElementById("size").textContent)`)
		shown := eval[string](p, `Array.from(document.querySelectorAll("#hex > div"), line =>
			Array.from(line.children).slice(1, 17).map(e => e.classList.contains("far") ? "" : e.textContent).join("")).join("")`)
		require.Equal(t, hex.EncodeToString(content[at:at+size]), strings.TrimSpace(shown), "k%02d", i)

		// The commands are ready for a shell. The second one sets what is there.
		for _, id := range []string{"get", "set"} {
			command := eval[string](p, `(e => e.value ?? e.textContent)(document.getElementById("`+id+`"))`)
			if command == "" {
				require.Equal(t, "set", id)
				continue
			}
			shell := exec.Command("sh", "-c", strings.ReplaceAll(command, name, other)) // the page would show the file again
			shell.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
			out, err := shell.CombinedOutput()
			require.NoError(t, err, "%s\n%s", command, out)
			require.Equal(t, content, must(os.ReadFile(other))(t), command)
		}
	}
	p.quiet()
}

// What fits the window is open at once: not more, and in packets with lengths, too.
func TestViewFits(t *testing.T) {
	gdwire := gdwireBinary(t)
	name, content := writeValue(t, map[string]any{"a": []any{1, 2}, "b": map[string]any{"c": make([]any, 100), "d": []any{3}}})
	p := openView(t, gdwire, name)
	p.haveCome(8)
	require.Equal(t, []string{"▾$ save.binDictionary 2", "▾.aArray 2", "[0]1int", "[1]2int", "▾.bDictionary 2", "▸.c", "▾.dArray 1", "[0]3int"}, func() []string {
		lines := p.lines()
		lines[5], _, _ = strings.Cut(lines[5], "[")
		return lines
	}())
	framed := append(binary32(len(content)), content...)
	framed = append(framed, framed...)
	require.NoError(t, os.WriteFile(name, framed, 0o600))
	p = openView(t, gdwire, name)
	p.haveCome(16)
	require.Equal(t, "▾$1 value 1Dictionary 2", p.lines()[8])
	p.quiet()
}

// binary32 returns a length.
func binary32(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// The path and the value are copied, and the address of the page leads to the value.
func TestViewCopy(t *testing.T) {
	long := strings.Repeat("long ", 100)
	name, _ := writeValue(t, map[string]any{"a key": []any{1, long}, "hp": 10})
	p := openView(t, gdwireBinary(t), name)
	p.run(`Object.defineProperty(navigator, "clipboard", {value: {writeText: async text => { window.copied = text; }}})`)
	copied := func(want string) { p.until(fmt.Sprintf("window.copied === %q", want)) }
	p.choose("[1]")
	p.run(`document.getElementById("copy-path").click()`)
	copied(`["a key"][1]`)
	p.run(`document.getElementById("copy-value").click()`)
	copied(`"` + long + `"`)
	p.run(`document.getElementById("copy-link").click()`)
	copied(p.url + `#$[%22a%20key%22][1]`)
	p.choose(".hp")
	p.run(`document.getElementById("tree").focus()`)
	p.press("c")
	copied("10")
	p.press("C")
	copied("hp")
	require.Equal(t, "save.bin.hp", eval[string](p, `document.getElementById("crumbs").textContent`))

	again := openPage(t, p.url+`#$[%22a%20key%22][1]`)
	again.until(`document.querySelector("#tree .chosen")?.textContent.startsWith("[1]")`)
	again.run(`location.hash = "#$.hp"`)
	again.until(`document.querySelector("#tree .chosen")?.textContent.startsWith(".hp")`)
	again.run(`location.hash = "#$.mp"`)
	again.until(`document.getElementById("notice-text").textContent === "There is no .mp in it."`)

	back := func() string { return eval[string](again, `getComputedStyle(document.body).backgroundColor`) }
	light := back()
	again.run(`document.getElementById("theme").click()`)
	dark := back()
	require.NotEqual(t, light, dark)
	again = openPage(t, p.url)
	require.Equal(t, dark, back(), "as after a reload")
	again.run(`document.getElementById("theme").click()`)
	require.Equal(t, light, back())
	p.quiet()
}

// press presses keys as a keyboard does.
func (p *viewPage) press(keys string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.KeyEvent(keys)))
}

// The keyboard alone: the tree, the search and its results.
func TestViewKeyboard(t *testing.T) {
	p := openView(t, gdwireBinary(t), largeSave)
	p.line(".version")
	p.press(kb.ArrowDown + kb.ArrowDown)
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes(".player")`)
	p.press(kb.ArrowRight)
	p.line(".inventory")
	p.press("/")
	p.until(`document.activeElement.id === "query"`)
	p.run(`document.getElementById("query").value = ""`) // simulated keys arrive in two parts, of which the page cancels one
	p.press("ITEM_2999" + kb.Enter)
	p.until(`document.getElementById("found").textContent === "1 found"`)
	p.press(kb.Tab + kb.Tab)
	for range 20 {
		if eval[bool](p, `document.activeElement.closest("#hits") !== null`) {
			break
		}
		p.press(kb.Tab)
	}
	p.press(kb.Enter)
	p.until(`document.getElementById("get").textContent.includes("player.inventory[2999].name") && document.querySelector("#tree .chosen")?.textContent.includes("item_2999")`)
	require.Equal(t, "tree", eval[string](p, `document.getElementById("tree").getAttribute("role")`))
	require.Equal(t, []string{"treeitem", "5", "2", "9", "true"}, eval[[]string](p, `(e => [e.role, e.ariaLevel, e.ariaPosInSet, e.ariaSetSize, e.ariaSelected])(document.querySelector("#tree .chosen"))`))
	p.quiet()
}

// Nothing in a hostile file becomes anything but text, and no error stops the page.
func TestViewHostile(t *testing.T) {
	deep := any("bottom")
	for range 900 {
		deep = []any{deep}
	}
	script := `<script>alert(1)</script><img src=x onerror=alert(2)></textarea>`
	var d variant.Dictionary
	d.Set(script, script)
	d.Set("\u202e\x00\x1b[31m", "\u202etxt.exe\x00")
	d.Set(strings.Repeat("k", 5000), 1)
	d.Set("long", strings.Repeat("x", 10<<20))
	d.Set("deep", deep)
	d.Set("png", []byte("\x89PNG\r\n\x1a\nbroken"))
	d.Set("svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(3)"/>`))
	d.Set("__proto__", map[string]any{"toString": 1, "constructor": 2})
	name, content := writeValue(t, &d)
	binary := gdwireBinary(t)
	p := openView(t, binary, name)
	for _, opened := range []string{".deep", ".__proto__"} {
		p.run(p.line(opened) + `.querySelector(".twisty").click()`)
	}
	p.key("Home")
	for i := range 8 {
		p.key("ArrowDown")
		p.until(fmt.Sprintf(`document.querySelector("#tree .chosen")?.getAttribute("aria-posinset") === "%d" && document.querySelectorAll("#hex div").length > 0`, i+1))
	}
	p.open(".__proto__")
	p.line(".toString")
	p.open(".deep")
	for range 30 {
		p.key("ArrowDown")
		p.key("ArrowRight")
	}
	require.Zero(t, eval[int](p, `document.querySelectorAll("script:not([src]), #tree script, #tree img:not(.thumbnail), svg, iframe").length`))
	p.quiet()

	// A damaged copy shows what decodes and then the error.
	content[len(content)-40] ^= 0x40
	damaged := filepath.Join(t.TempDir(), "damaged.bin")
	require.NoError(t, os.WriteFile(damaged, content[:len(content)-20], 0o600))
	p = openView(t, binary, damaged)
	p.until(`document.querySelector("#tree .bad") !== null`)
	p.quiet()
}

// Another token, or another host, gets nothing.
func TestViewRefusals(t *testing.T) {
	name, _ := writeValue(t, 5)
	p := openView(t, gdwireBinary(t), name)
	at := must(url.Parse(p.url))(t)
	for _, bad := range []string{
		"http://" + at.Host + "/", "http://" + at.Host + "/" + strings.Repeat("A", 26) + "/", "http://localhost:" + at.Port() + at.Path,
	} {
		ctx, cancel := context.WithTimeout(browser.ctx, time.Minute)
		page, done := chromedp.NewContext(ctx)
		require.NoError(t, chromedp.Do(page, chromedp.Navigate(bad)), bad)
		text := must(chromedp.Run(page, chromedp.Evaluate[string](`document.body.textContent`)))(t)
		require.Equal(t, "not found", strings.TrimSpace(text), bad)
		done()
		cancel()
	}
}

// In a small window, the first level is open, bytes are shown, and all targets are large enough to be hit. A key that is too
// long for a path is shown by its start.
func TestViewSmall(t *testing.T) {
	value := map[string]any{"a": 1, "long " + strings.Repeat("k", 2000): 5}
	for i := range 60 {
		value[fmt.Sprint("row", i)] = i
	}
	b := gdwiretest.Encode(t, value)
	name := filepath.Join(t.TempDir(), "save.bin")
	require.NoError(t, os.WriteFile(name, append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...), 0o600))
	p := openView(t, gdwireBinary(t), name)
	for _, size := range [][2]int64{{800, 500}, {800, 600}, {640, 400}, {390, 844}, {1200, 500}} {
		require.NoError(t, chromedp.Do(p.ctx, chromedp.EmulateViewport(size[0], size[1])))
		require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(p.url)))
		p.until(`document.body.dataset.ready === "true" && document.querySelectorAll("#hex div").length > 0`)
		p.until(`document.getElementById("tree").textContent.includes('.value(1) "long kkkk')`)
		require.GreaterOrEqual(t, eval[float64](p, `document.getElementById("right").clientHeight`), 190.0, "%v", size)
		require.LessOrEqual(t, eval[float64](p, `document.querySelectorAll("#hex div")[1].getBoundingClientRect().bottom`), float64(size[1]), "%v: bytes are seen", size)
		require.Empty(t, eval[[]string](p, `Array.from(document.querySelectorAll("button:not(#border), input:not([type=checkbox]), select, label:has(input), .line")).filter(
			e => e.checkVisibility() && e.getBoundingClientRect().height > 0 && (e.getBoundingClientRect().height < 23.9 || e.getBoundingClientRect().width < 23.9)).map(e => e.id || e.className || e.textContent)`), "%v", size)
	}
	p.quiet()
}

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
	v.until(`document.getElementById("notice-text").textContent === "This packet cannot be opened any more: gdwire has ended."`)
	lines := v.lines()
	require.Regexp(t, `^▾\$ packet \dArray 2$`, lines[0])
	require.Equal(t, []string{`[0]"hp"String`, "[1]0int"}, lines[1:3])
}
