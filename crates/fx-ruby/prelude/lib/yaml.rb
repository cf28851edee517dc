# yaml
