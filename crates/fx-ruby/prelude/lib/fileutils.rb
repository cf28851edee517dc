# fileutils
