package main

import (
	"cmp"
	"errors"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// lines are the lines of the plot. All colors are visible on white and on black.
var lines = []struct {
	name, label string
	color       color.RGBA
	width       vg.Length
}{
	{"cbor Unmarshal", "cbor, Unmarshal into any", color.RGBA{0x2c, 0xa0, 0x8c, 0xff}, 1.5},
	{"jsontext ReadToken", "jsontext, ReadToken", color.RGBA{0xa0, 0x78, 0xd8, 0xff}, 1.5},
	{"msgp walk, bytes.Reader", "msgp, walked by hand", color.RGBA{0xe0, 0x80, 0x20, 0xff}, 1.5},
	{"cbor Wellformed", "cbor, Wellformed only", color.RGBA{0x40, 0xb0, 0x40, 0xff}, 1.5},
	{"gdwire tokens, bytes", "gdwire, tokens", color.RGBA{0x40, 0x90, 0xe8, 0xff}, 3},
}

// draw plots the time to decode packets by their size, as SVG.
func (r results) draw() ([]byte, error) {
	plot.DefaultFont.Variant = "Sans"
	p := plot.New()
	p.BackgroundColor = nil // that of the page
	p.Title.Text = "Time to decode a packet, for each of its bytes"
	p.X.Label.Text = "packet (bytes as Godot has it)"
	p.Y.Label.Text = "ns per byte"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, 3
	p.Add(plotter.NewGrid())
	for _, l := range lines {
		points := r.points(l.name)
		if len(points) == 0 {
			return nil, errors.New("nothing to plot: the sizes are missing")
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = l.color, l.width
		dots.Color, dots.Shape, dots.Radius = l.color, draw.CircleGlyph{}, 2.5
		p.Add(line, dots)
		p.Legend.Add(l.label, line, dots)
	}
	p.Y.Max *= 5 // room for the legend
	canvas := vgsvg.New(720, 420)
	p.Draw(draw.New(canvas))
	var b strings.Builder
	_, err := canvas.WriteTo(&b)
	return []byte(onAnyPage.Replace(b.String())), err
}

// onAnyPage makes text and axes gray, which are black where the SVG names no color, and adds fonts for systems
// without the first.
var onAnyPage = strings.NewReplacer("#000000", "#888888", "<g transform", `<g fill="#888888" transform`, "Liberation Sans", "Liberation Sans,Arial,sans-serif")

// points returns the points of a line, by the size of the packets.
func (r results) points(name string) (points plotter.XYs) {
	for group, contenders := range r {
		if m := contenders[name]; m != nil && strings.HasPrefix(group, "size ") {
			points = append(points, plotter.XY{X: float64(m.Bytes), Y: m.median() / float64(m.Bytes)})
		}
	}
	slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	return points
}
