package interop

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

// BenchmarkViewSave reports the milliseconds from the navigation to the first rows of a save of
// 1 MB.
func BenchmarkViewSave(b *testing.B) {
	url, _ := runView(b, gdwireBinary(b), "view", "-no-open", largeSave)
	best := 1e9
	ctx, cancel := chromedp.NewContext(browser.ctx) // the first round starts its process
	defer cancel()
	for b.Loop() {
		require.NoError(b, chromedp.Do(ctx, chromedp.Navigate(url)))
		ms := must(chromedp.Run(ctx, chromedp.Evaluate[float64](`(async () => {
			while (document.querySelectorAll("#tree .type").length < 2) await new Promise(requestAnimationFrame);
			return performance.now();
		})()`, chromedp.EvalAwaitPromise)))(b)
		best = min(best, ms)
	}
	b.ReportMetric(best, "ms-to-rows")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkViewHuge reports the milliseconds from the start of the command to the first rows of
// a file of 1 GiB, and its peak memory with that of its executable.
func BenchmarkViewHuge(b *testing.B) {
	binary, file := gdwireBinary(b), filepath.Join(b.TempDir(), "huge.bin")
	writeHuge(b, file)
	best, peak, pages := time.Hour, 0, 0
	for b.Loop() {
		begin := time.Now()
		command := exec.Command(binary, "view", "-no-open", file)
		stderr := must(command.StderrPipe())(b)
		require.NoError(b, command.Start())
		url := strings.TrimSpace(strings.TrimPrefix(must(bufio.NewReader(stderr).ReadString('\n'))(b), "gdwire: "))
		for _, question := range []string{"", "page.js", "page.css", "info", "children?at=-1", "children?at=0", "value?at=8"} {
			content := must(io.ReadAll(must(http.Get(url + question))(b).Body))(b)
			if question == "children?at=0" {
				require.Contains(b, string(content), `"index":199,`)
				best = min(best, time.Since(begin))
			}
		}
		peak = max(peak, status(b, command, "VmHWM"))
		pages = max(pages, status(b, command, "RssFile"))
		require.NoError(b, command.Process.Signal(os.Interrupt))
		require.NoError(b, command.Wait())
	}
	b.ReportMetric(float64(best.Milliseconds()), "ms-to-rows")
	b.ReportMetric(float64(peak)/1024, "MiB-peak")
	b.ReportMetric(float64(pages)/1024, "MiB-of-executable")
	b.ReportMetric(0, "ns/op")
}

// status returns a number in KiB from /proc/pid/status, or 0 if there is none.
func status(b *testing.B, command *exec.Cmd, name string) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(command.Process.Pid) + "/status")
	found := regexp.MustCompile(name + `:\s+(\d+)`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	return must(strconv.Atoi(string(found[1])))(b)
}

// encodeLength returns a length as packets and containers have it.
func encodeLength(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// writeHuge writes an Array of Dictionaries, of 1 GiB.
func writeHuge(b *testing.B, name string) {
	item := gdwiretest.Encode(b, map[string]any{"id": 7, "name": "item_7", "pos": variant.Vector3{X: 1}})
	n := 1 << 30 / len(item)
	f := must(os.Create(name))(b)
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = w.Write(append([]byte{28, 0, 0, 0}, encodeLength(n)...))
	for range n {
		_, _ = w.Write(item)
	}
	require.NoError(b, w.Flush())
	require.NoError(b, f.Close())
}

// BenchmarkViewProxy reports how many packets a proxy forwards with -view in the time of one
// without, while something fetches them as often as the page does. Both forward in turn, and
// the median of the ratios counts.
func BenchmarkViewProxy(b *testing.B) {
	const packets = 20_000
	binary := gdwireBinary(b)
	item := gdwiretest.Encode(b, []any{"move", variant.Vector2{X: 1, Y: 2}, 7})
	packet := append(encodeLength(len(item)), item...)
	sink := must(net.Listen("tcp", "127.0.0.1:0"))(b)
	defer func() { _ = sink.Close() }()
	received := make(chan int64)
	go func() {
		for {
			conn, err := sink.Accept()
			if err != nil {
				return
			}
			n, _ := io.Copy(io.Discard, conn)
			_ = conn.Close()
			received <- n
		}
	}()
	plain, viewed := startProxy(b, binary, sink.Addr().String()), startProxy(b, binary, sink.Addr().String(), "-view", "-no-open")
	go viewed.fetch()
	var ratios []float64
	best, order := time.Hour, []*runningProxy{plain, viewed}
	for b.Loop() {
		took := map[*runningProxy]time.Duration{}
		for _, p := range order {
			conn := must(net.Dial("tcp", p.addr))(b)
			begin := time.Now()
			for range packets {
				must(conn.Write(packet))(b)
			}
			require.NoError(b, conn.Close())
			require.EqualValues(b, packets*len(packet), <-received)
			took[p] = time.Since(begin)
			<-p.closed // it showed the rest
		}
		slices.Reverse(order)
		ratios = append(ratios, took[plain].Seconds()/took[viewed].Seconds())
		best = min(best, took[viewed])
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "of-those-without-view")
	b.ReportMetric(packets/best.Seconds(), "packets/s-at-best")
	b.ReportMetric(plain.processorTime(b)/viewed.processorTime(b), "of-the-processor-time")
	b.ReportMetric(0, "ns/op")
}

// A runningProxy is gdwire proxy in a process of its own.
type runningProxy struct {
	addr, page string
	closed     chan bool // after each connection
	pid        int
}

// processorTime returns how long the proxy used a processor, in ticks.
func (p *runningProxy) processorTime(b *testing.B) (ticks float64) {
	for _, field := range strings.Fields(string(must(os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/stat"))(b)))[13:15] {
		ticks += float64(must(strconv.Atoi(field))(b))
	}
	return ticks
}

func startProxy(b *testing.B, binary, target string, flags ...string) *runningProxy {
	command := exec.Command(binary, append(append([]string{"proxy", "-format", "godot4", "-frame", "u32"}, flags...), "127.0.0.1:0", target)...)
	stderr := must(command.StderrPipe())(b)
	require.NoError(b, command.Start())
	b.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	})
	p := &runningProxy{closed: make(chan bool, 1), pid: command.Process.Pid}
	lines := bufio.NewScanner(stderr)
	require.True(b, lines.Scan())
	_, addr, _ := strings.Cut(lines.Text(), "listening on ")
	p.addr, _, _ = strings.Cut(addr, " ")
	if len(flags) > 0 {
		require.True(b, lines.Scan())
		p.page = strings.TrimPrefix(lines.Text(), "gdwire: ")
	}
	go func() {
		for lines.Scan() {
			if strings.HasSuffix(lines.Text(), ": closed") {
				p.closed <- true
			}
		}
	}()
	return p
}

// fetch fetches the packets until the proxy ends.
func (p *runningProxy) fetch() {
	var got struct {
		Packets []struct{ Number int }
	}
	from := 0
	for range time.Tick(250 * time.Millisecond) {
		answer, err := http.Get(p.page + "live?from=" + strconv.Itoa(from))
		if err != nil {
			return
		}
		_ = json.NewDecoder(answer.Body).Decode(&got)
		_ = answer.Body.Close()
		if n := len(got.Packets); n > 0 {
			from = got.Packets[n-1].Number + 1
		}
	}
}
