package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
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
	p := newPlot("Time to decode a packet, for each of its bytes")
	p.X.Label.Text = "packet (bytes as Godot has it)"
	p.Y.Label.Text = "ns per byte"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = powers(64, 16), powers(0.125, 2)
	p.Title.TextStyle.Font.Size, p.Title.Padding = font.Points(13), 8
	p.X.Label.Padding, p.Y.Label.Padding = 4, 4
	p.Legend.Top, p.Legend.Padding, p.Legend.XOffs = true, 3, -8
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
	return toSVG(canvas)
}

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

// newPlot returns a plot with a grid, in gray on the background of the page.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	gray := color.Gray{0x88}
	p.BackgroundColor = nil
	p.Title.Text = title
	for _, text := range []*draw.TextStyle{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		text.Color, text.Font.Variant = gray, "Sans"
	}
	for _, line := range []*draw.LineStyle{&p.X.LineStyle, &p.Y.LineStyle, &p.X.Tick.LineStyle, &p.Y.Tick.LineStyle} {
		line.Color = gray
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.RGBA{0x88, 0x88, 0x88, 0x44}, color.RGBA{0x88, 0x88, 0x88, 0x44}
	p.Add(grid)
	return p
}

// toSVG returns a canvas as SVG, with a fallback for systems without the font.
func toSVG(canvas *vgsvg.Canvas) ([]byte, error) {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("Liberation Sans"), []byte("Liberation Sans,Arial,sans-serif")), nil
}

// powers returns ticks that start at from and grow by a factor.
func powers(from, factor float64) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) (ticks []plot.Tick) {
		for x := from; x <= high*1.001; x *= factor {
			if x >= low {
				ticks = append(ticks, plot.Tick{Value: x, Label: short(x)})
			}
		}
		return ticks
	})
}

// short formats a number with a unit.
func short(x float64) string {
	switch {
	case x >= 1<<20:
		return fmt.Sprintf("%g Mi", x/(1<<20))
	case x >= 1<<10:
		return fmt.Sprintf("%g Ki", x/(1<<10))
	}
	return fmt.Sprintf("%g", x)
}
