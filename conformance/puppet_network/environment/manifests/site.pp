node default {
  include demo
}
