package interop

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
	"github.com/stretchr/testify/require"
)

// webFolder returns the folder of gdwire-web, which the first call builds.
var webFolder = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(programs, "web")
	build := exec.Command("go", "run", "./cmd/gdwire/web", folder)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return folder, nil
})

// A webHost serves gdwire-web, and saves for it.
type webHost struct {
	*httptest.Server
	mu    sync.Mutex
	saves map[string][]byte
}

// hostWeb serves the folder, as a host that sends no application/wasm if odd is set.
func hostWeb(t *testing.T, odd bool) *webHost {
	folder := must(webFolder())(t)
	h := &webHost{saves: map[string][]byte{}}
	files := http.FileServer(http.Dir(folder))
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		content, ok := h.saves[strings.TrimPrefix(r.URL.Path, "/saves/")]
		h.mu.Unlock()
		if odd && strings.HasSuffix(r.URL.Path, ".wasm") {
			w.Header().Set("Content-Type", "application/octet-stream")
		}
		if ok {
			_, _ = w.Write(content)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

// kept makes the page keep what it downloads, and its Worker.
const kept = `
const makeURL = URL.createObjectURL, RealWorker = Worker;
globalThis.downloads = [];
URL.createObjectURL = blob => { globalThis.blob = blob; return makeURL.call(URL, blob); };
HTMLAnchorElement.prototype.click = function() { downloads.push({name: this.download, blob}); };
globalThis.Worker = class extends RealWorker { constructor(name) { super(name); globalThis.worker = this; } };
globalThis.textOf = async blob => btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), x => String.fromCharCode(x)).join(""));
`

// openWeb opens gdwire-web in a page of its own.
func openWeb(t *testing.T, url string) *viewPage {
	p := newPage(t, url)
	must(chromedp.Call(p.ctx, cdpage.AddScriptToEvaluateOnNewDocument, cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: kept}))(t)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(url)))
	p.until(`document.body.dataset.started === "true"`)
	return p
}

// choose gives the page saves of the host, as the user chooses files.
func (h *webHost) choose(p *viewPage, names ...string) {
	p.t.Helper()
	list := must(json.Marshal(names))(p.t)
	p.run(`(async () => {
		const files = new DataTransfer();
		for (const name of ` + string(list) + `) files.items.add(new File([await (await fetch("saves/" + name)).blob()], name));
		const input = document.getElementById("file");
		input.files = files.files;
		input.dispatchEvent(new Event("change"));
	})()`)
}

// put makes the host serve a save.
func (h *webHost) put(name string, content []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.saves[name] = content
}

const (
	webReady  = `document.body.dataset.ready === "true"`
	startNote = `document.getElementById("start-note").textContent`
	answered  = `import("./base.js").then(async b => { try { return await b.post("edit", {version: (await b.ask("info", {})).file.version, ...%s}); } catch (e) { return {failed: e.message}; } })`
)

// edit asks the page for an edit, and returns the answer as JSON.
func (p *viewPage) edit(request string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(answered, request)+`.then(JSON.stringify)`)
}

// downloaded returns the newest download, and waits for n of them.
func (p *viewPage) downloaded(n int) []byte {
	p.t.Helper()
	p.until(fmt.Sprintf(`downloads.length === %d`, n))
	return must(base64.StdEncoding.DecodeString(eval[string](p, `textOf(downloads.at(-1).blob)`)))(p.t)
}

// webSaves returns a save in each container, and with each kind of bytes around the values.
func webSaves(t *testing.T) map[string][]byte {
	value := gdwiretest.Encode(t, map[string]any{
		"gold": 5, "hp": 10, "items": []any{"sword", "bow"}, "name": "Ada", "pos": variant.Vector2{X: 1, Y: 2}, "speed": 1.5, "list": make([]int32, 300),
	})
	old := gdwiretest.Encode(t, map[string]any{"gold": 5, "hp": 10, "name": "Ada"}, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}})
	little, big := binary.LittleEndian, binary.BigEndian
	number := func(order binary.AppendByteOrder, n int) []byte { return order.AppendUint32(nil, uint32(n)) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	framed := join(number(little, len(value)), value)
	sum := md5.Sum(value)
	record := join([]byte{3}, number(little, len(value)), value)
	all := map[string][]byte{
		"bare": value, "u32": framed, "u32be": join(number(big, len(value)), value), "godot3": old, "several": join(framed, framed),
		"sized": join([]byte("SAVE"), number(little, len(value)), value), "summed": join([]byte("V1"), value, sum[:]),
		"records": join([]byte("LOG1"), number(little, 3), record, record, record),
		"json":    []byte(`{"slot": 1, "data": "` + base64.StdEncoding.EncodeToString(value) + `"}`),
		"base64":  []byte(base64.StdEncoding.EncodeToString(value)),
	}
	key := fileaccess.PasswordKey("hunter2")
	wrap := func(info fileaccess.Info) {
		var w bytes.Buffer
		c := must(fileaccess.NewWriter(&w, info, key))(t)
		must(c.Write(framed))(t)
		require.NoError(t, c.Close())
		all[strings.ReplaceAll(info.String(), " ", "-")] = w.Bytes()
	}
	for _, mode := range []fileaccess.Mode{fileaccess.FastLZ, fileaccess.Deflate, fileaccess.Zstd, fileaccess.Gzip} {
		wrap(fileaccess.Info{Container: fileaccess.Compressed, Mode: mode})
		wrap(fileaccess.Info{Container: fileaccess.Raw, Mode: mode})
	}
	wrap(fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot4})
	all["encrypted4"] = all["encrypted"]
	wrap(fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot3})
	return all
}

// Each file is downloaded as gdwire set writes it.
func TestWeb(t *testing.T) {
	binary, h, dir := gdwireBinary(t), hostWeb(t, false), t.TempDir()
	password := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(password, []byte("hunter2"), 0o600))
	all := webSaves(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			file, want := filepath.Join(dir, name), filepath.Join(dir, name+".want")
			require.NoError(t, os.WriteFile(file, all[name], 0o600))
			out, err := exec.Command(binary, "set", "-q", "-password-file", password, `$.name = "Grace Hopper"`, "$.hp += 7", file, "-o", want).CombinedOutput()
			require.NoError(t, err, "%s", out)
			h.put(name, all[name])
			p := openWeb(t, h.URL+"/")
			h.choose(p, name)
			if strings.HasPrefix(name, "encrypted") {
				for _, typed := range []string{"wrong", "hunter2"} {
					p.until(`!document.getElementById("password-form").hidden && /password/.test(` + startNote + `)`)
					p.run(fmt.Sprintf(`document.getElementById("start-note").textContent = ""; document.getElementById("password").value = %q; document.getElementById("password-form").requestSubmit()`, typed))
				}
			}
			p.until(webReady + ` || !["", "opening …"].includes(` + startNote + `)`)
			require.True(t, eval[bool](p, webReady), eval[string](p, startNote))
			require.JSONEq(t, `{"version": 2}`, p.edit(`{op: "set", at: "$.name", text: "Grace Hopper", raw: true}`))
			require.JSONEq(t, `{"version": 3}`, p.edit(`{op: "set", at: "$.hp", text: "17"}`))
			require.JSONEq(t, `{"version": 4}`, p.edit(`{op: "save"}`))
			got := p.downloaded(1)
			if strings.HasPrefix(name, "encrypted") { // with random bytes
				require.NoError(t, os.WriteFile(file, got, 0o600))
				content := func(file string) []byte {
					return must(exec.Command(binary, "unwrap", "-password-file", password, file).Output())(t)
				}
				require.Equal(t, len(read(t, want)), len(got))
				require.Equal(t, content(want), content(file))
			} else {
				require.Equal(t, read(t, want), got)
			}
			p.quiet()
		})
	}
}

// inFolder makes the page offer a folder of the browser's own, with a save, to be opened in place.
const inFolder = `
globalThis.folder = navigator.storage.getDirectory().then(all => all.getDirectoryHandle("game" + Math.random(), {create: true}));
globalThis.put = async (name, blob) => {
	const to = await (await (await folder).getFileHandle(name, {create: true})).createWritable();
	await to.write(blob);
	await to.close();
};
globalThis.get = async name => textOf(await (await (await folder).getFileHandle(name)).getFile());
globalThis.showDirectoryPicker = () => folder;
globalThis.showOpenFilePicker = async () => [await (await folder).getFileHandle("a.save")];
`

// openInPlace opens a save in place: in its folder, or alone.
func (h *webHost) openInPlace(t *testing.T, content []byte, inItsFolder bool) *viewPage {
	h.put("a.save", content)
	p := openWeb(t, h.URL+"/")
	p.run(inFolder + `(async () => put("a.save", await (await fetch("saves/a.save")).blob()))()`)
	p.until(`await get("a.save").catch(() => "") !== ""`)
	if inItsFolder {
		p.run(`document.getElementById("open-folder").click()`)
		p.until(`document.querySelector("#in-folder button")?.textContent.startsWith("a.save, ")`)
		p.run(`document.querySelector("#in-folder button").click()`)
	} else {
		p.run(`document.getElementById("open-file").click()`)
	}
	p.until(webReady)
	return p
}

// file returns the content of a file in the folder.
func (p *viewPage) file(name string) []byte {
	p.t.Helper()
	return must(base64.StdEncoding.DecodeString(eval[string](p, fmt.Sprintf(`get(%q)`, name))))(p.t)
}

// A save is written in place, after a copy of it. What another program writes is never replaced without having been shown.
func TestWebInPlace(t *testing.T) {
	h := hostWeb(t, false)
	before, other := gdwiretest.Encode(t, map[string]any{"gold": 5, "hp": 10}), gdwiretest.Encode(t, map[string]any{"gold": 6, "hp": 11})
	after := gdwiretest.Encode(t, map[string]any{"gold": 5, "hp": 17})
	for _, inItsFolder := range []bool{true, false} {
		p := h.openInPlace(t, before, inItsFolder)
		require.JSONEq(t, `{"version": 2}`, p.edit(`{op: "set", at: "$.hp", text: "17"}`))
		require.JSONEq(t, `{"version": 3}`, p.edit(`{op: "save"}`))
		require.Equal(t, after, p.file("a.save"))
		if inItsFolder {
			require.Equal(t, before, p.file("a.save.bak"))
		} else {
			require.Equal(t, before, p.downloaded(1))
		}
		h.put("b.save", other)
		require.JSONEq(t, `{"version": 4}`, p.edit(`{op: "set", at: "$.hp", text: "7"}`))
		p.run(`(async () => put("a.save", await (await fetch("saves/b.save")).blob()))()`)
		p.until(`document.getElementById("notice-text").textContent.includes("1 of your 1 edits, which are not saved yet, were made in the new one")`)
		require.Equal(t, other, p.file("a.save"))
		require.Contains(t, p.edit(`{op: "save"}`), `"version"`)
		require.Equal(t, gdwiretest.Encode(t, map[string]any{"gold": 6, "hp": 7}), p.file("a.save"))
		p.quiet()
	}
}

// What cannot be read in one way, or written in one, is asked; a file that set would not write is not edited, and a host that
// sends another type than application/wasm is no obstacle.
func TestWebQuestions(t *testing.T) {
	h := hostWeb(t, true)
	lengths := func(value []byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)
	}
	framed := lengths(gdwiretest.Encode(t, map[string]any{"name": strings.Repeat("x", 72)}))
	version := func(framed []byte) []byte { return append([]byte{100, 0, 0, 0}, framed...) }
	h.put("version.save", version(framed))
	p := openWeb(t, h.URL+"/")
	h.choose(p, "version.save")
	p.until(webReady)
	require.JSONEq(t, `{"version": 2}`, p.edit(`{op: "set", at: "$.name", text: "Ada", raw: true}`))
	p.until(`!document.getElementById("save").disabled`)
	p.run(`document.getElementById("save").click()`)
	p.until(`document.getElementById("question-text").textContent.includes("the number 100 at offset 0 is a size, or something else")`)
	p.run(`document.querySelector('#question button[value="keep"]').click()`)
	require.Equal(t, version(lengths(gdwiretest.Encode(t, map[string]any{"name": "Ada"}))), p.downloaded(1))
	p.until(`document.getElementById("notice-text").textContent.startsWith("The new version.save is among your downloads.")`)
	p.quiet()

	h.put("two.save", must(hex.DecodeString("0e0000000000803f000000000000000000000040"))(t)) // a Plane in Godot 4, a Color in Godot 3
	q := openWeb(t, h.URL+"/")
	h.choose(q, "two.save")
	q.until(`document.querySelectorAll("#readings button").length === 2`)
	q.run(`[...document.querySelectorAll("#readings button")].find(b => b.textContent.startsWith("godot3") && b.textContent.includes("Color(")).click()`)
	q.until(webReady + ` && document.getElementById("about").textContent.startsWith("godot3")`)

	var packed bytes.Buffer
	c := must(fileaccess.NewWriter(&packed, fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}, nil))(t)
	must(c.Write(framed))(t)
	require.NoError(t, c.Close())
	h.put("tail.save", append(packed.Bytes(), "TAIL"...))
	r := openWeb(t, h.URL+"/")
	h.choose(r, "tail.save")
	r.until(webReady)
	require.Contains(t, eval[string](r, `document.getElementById("read-only").textContent`), "would be lost")
	require.Contains(t, r.edit(`{op: "set", at: "$.name", text: "7"}`), "would be lost")
}

// When the program ends, the edits that are not saved can be copied. The page and nothing else runs, and reaches nothing else.
// After the first visit, no network is needed.
func TestWebAlone(t *testing.T) {
	h := hostWeb(t, false)
	h.put("old.save", gdwiretest.Encode(t, map[string]any{"hp": 10, "gold": 1}))
	h.put("new.save", gdwiretest.Encode(t, map[string]any{"hp": 11, "gold": 1}))
	p := openWeb(t, h.URL+"/")
	h.choose(p, "old.save", "new.save")
	p.until(webReady)
	p.until(changeLines + `.length === 1 && document.getElementById("changed").textContent.startsWith("1 change since old.save")`)
	require.JSONEq(t, `{"version": 2}`, p.edit(`{op: "set", at: "$.gold", text: "7"}`))
	p.until(`document.title.startsWith("●")`)
	p.run(`Object.defineProperty(navigator, "clipboard", {value: {writeText: async text => { globalThis.copied = text; }}})`)
	p.run(`worker.terminate(); worker.dispatchEvent(new MessageEvent("message", {data: {ended: "perhaps there is not enough memory"}}))`)
	p.until(`document.getElementById("notice-text").textContent.startsWith("gdwire has ended: perhaps there is not enough memory. The file is as it was")`)
	p.run(`document.getElementById("notice-copy").click()`)
	p.until(`globalThis.copied === "gdwire set -i '$.gold = 7' new.save"`)
	refused := `[() => { document.body.innerHTML = "<b>"; }, () => new RealWorker("worker.js"), () => trustedTypes.createPolicy("other", {}), () => setTimeout("1")].map(f => {
		try { f(); return "done"; } catch (e) { return e.name; }
	}).join()`
	require.Equal(t, "TypeError,TypeError,TypeError,TypeError", eval[string](p, refused))
	require.Equal(t, "TypeError", eval[string](p, `fetch("http://127.0.0.1:1/").catch(e => e.name)`))

	p.until(`(await navigator.serviceWorker.ready).active.state === "activated"`)
	h.CloseClientConnections()
	h.Close()
	q := openWeb(t, h.URL+"/")
	q.run(`document.getElementById("example").click()`)
	q.until(webReady + ` && document.getElementById("name").textContent === "example.save"`)
}

// gdwire-web is small: its files take 2.3 MB by brotli.
func TestWebSize(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || os.Getenv("GDWIRE_FULL") == "" {
		t.Skip("GDWIRE_FULL=1 and node compress the files")
	}
	out := must(exec.Command(node, "-e", `let n = 0;
for (const f of fs.readdirSync(process.argv[1])) n += zlib.brotliCompressSync(fs.readFileSync(process.argv[1] + "/" + f)).length;
console.log(n)`, must(webFolder())(t)).Output())(t)
	size := must(strconv.Atoi(strings.TrimSpace(string(out))))(t)
	t.Log(size, "bytes")
	require.Less(t, size, 2_300_000)
}
