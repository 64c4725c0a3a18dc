package gdwire

// Err returns the error that all calls return until Reset: nil, an [Error], or [ErrReleased].
// It reads nothing.
func (d *Decoder) Err() error {
	if d.once {
		return nil
	}
	return d.err
}

// LastError returns the latest error that d has found since Reset, or nil: an [Error], which
// can be one that does not stay, or an error of the Reader. It reads nothing. With
// [errors.Is], code that passes d to a method learns whether the method's error is one of d.
func (d *Decoder) LastError() error {
	if d.rare == nil { // there was none, or Release
		return d.err
	}
	return d.rare.err
}

// latest returns err and makes it the error that LastError returns.
func (d *Decoder) latest(err error) error {
	d.getRare().err = err
	return err
}
