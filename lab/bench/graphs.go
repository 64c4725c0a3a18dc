package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	graphsCommand = "graphs"
	graphsFolder  = "../../examples/server"
	graphsTime    = 5 * time.Minute
	prometheus    = "127.0.0.1:9797"
	bots          = 500
)

// graphs draws the four graphs of examples/server/README.md, as Prometheus answers their
// expressions, from a load of bots on that server: they come one by one, and leave at the end; those
// of the third minute send nonsense. It needs the command prometheus.
func graphs(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: bench graphs FILE.svg")
	}
	all, err := graphsOf(filepath.Join(graphsFolder, "README.md"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gdwire-bench")
	if err != nil {
		return err
	}
	defer remove(dir)
	if err := build(graphsFolder, filepath.Join(dir, "server")); err != nil {
		return err
	}
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("scrape_configs:\n  - job_name: gdwire\n    scrape_interval: 5s\n"+
		"    static_configs:\n      - targets: [127.0.0.1:7779]\n"), 0o666); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []*exec.Cmd{
		exec.CommandContext(ctx, filepath.Join(dir, "server")),
		exec.CommandContext(ctx, "prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+prometheus),
	} {
		if err := c.Start(); err != nil {
			return err
		}
		defer func() { _ = c.Wait() }()
		defer cancel()
	}
	begin := time.Now()
	for i := range bots {
		go bot(i, begin)
	}
	time.Sleep(graphsTime)
	for i := range all {
		if all[i].points, err = query(all[i].expression, begin); err != nil {
			return err
		}
	}
	return drawGraphs(all, args[0])
}

// A graph is a row of the table of graphs.
type graph struct {
	title, expression string
	points            plotter.XYs // minutes and values
}

// graphsOf reads the table of graphs.
func graphsOf(readme string) (all []graph, err error) {
	b, err := os.ReadFile(readme)
	if err != nil {
		return nil, err
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (.+) \\| `(.+)` \\|$").FindAllSubmatch(b, -1) {
		all = append(all, graph{title: string(row[1]), expression: string(row[2])})
	}
	return all, nil
}

// bot is a client of examples/server, from one of 50 addresses.
func bot(i int, begin time.Time) {
	time.Sleep(time.Duration(i) * time.Minute / bots)
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%50+1))}}
	var conn net.Conn
	for {
		var err error
		if conn, err = d.Dial("tcp", "127.0.0.1:7777"); err == nil {
			break
		}
		time.Sleep(time.Second)
	}
	defer func() { _ = conn.Close() }()
	c := stream.NewConn(context.Background(), conn, nil)
	ends := graphsTime - time.Minute + time.Duration(i)*time.Minute/(2*bots)
	for n := 0; time.Since(begin) < ends; n++ {
		var answer any
		nonsense := i%10 == 0 && time.Since(begin)/time.Minute == 2 && n%4 == 0
		err := variant.Send(c, map[string]any{"name": "bot " + strconv.Itoa(i), "value": variant.Vector2{X: float64(n), Y: 1}})
		if nonsense {
			err = errors.Join(err, c.WriteRaw([]byte{200, 0, 0, 0}))
		}
		if errors.Join(err, variant.Receive(c, &answer)) != nil {
			return
		}
		time.Sleep(time.Duration(100+rand.IntN(400)) * time.Millisecond)
	}
}

// query asks Prometheus for the values of an expression since begin.
func query(expression string, begin time.Time) (points plotter.XYs, err error) {
	r, err := http.Get("http://" + prometheus + "/api/v1/query_range?" + url.Values{
		"query": {expression}, "step": {"5"},
		"start": {begin.Format(time.RFC3339)}, "end": {time.Now().Format(time.RFC3339)},
	}.Encode())
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			Result []struct{ Values [][2]any }
		}
	}
	if err := json.Unmarshal(b, &answer); err != nil || len(answer.Data.Result) != 1 {
		return nil, fmt.Errorf("%s: %w: %s", expression, err, b)
	}
	for _, v := range answer.Data.Result[0].Values {
		y, err := strconv.ParseFloat(fmt.Sprint(v[1]), 64)
		if err == nil && y == y { // a quantile of nothing is NaN
			points = append(points, plotter.XY{X: (v[0].(float64) - float64(begin.Unix())) / 60, Y: y})
		}
	}
	return points, nil
}

// drawGraphs draws graphs in two columns.
func drawGraphs(all []graph, file string) error {
	canvas := vgsvg.New(720, 420)
	tiles := draw.Tiles{Rows: (len(all) + 1) / 2, Cols: 2, PadX: 20, PadY: 16}
	for i, g := range all {
		p := newPlot(g.title)
		p.X.Label.Text = "minutes"
		p.X.Min, p.X.Max, p.Y.Min = 0, graphsTime.Minutes(), 0
		line, err := plotter.NewLine(g.points)
		if err != nil {
			return fmt.Errorf("%s: %w", g.title, err)
		}
		line.Color, line.Width = color.RGBA{0x40, 0x90, 0xe8, 0xff}, vg.Points(2)
		p.Add(line)
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(plainTicks), plot.TickerFunc(plainTicks)
		p.Draw(tiles.At(draw.New(canvas), i%2, i/2))
	}
	svg, err := toSVG(canvas)
	if err != nil {
		return err
	}
	return os.WriteFile(file, svg, 0o666)
}

// plainTicks returns the default ticks, labeled without zeros at the end.
func plainTicks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i, t := range ticks {
		if t.Label != "" {
			ticks[i].Label = fmt.Sprintf("%.4g", t.Value)
		}
	}
	return ticks
}
