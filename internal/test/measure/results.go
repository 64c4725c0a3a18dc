package main

func results() error { return nil }
