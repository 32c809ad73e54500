# Rule aws-name: AWS would refuse the name. A constraint's parameter `level` is "refused" (default:
# what AWS documents) or "doubtful" (what it does not document in full, and cautions): bind the
# second with enforcementAction warn.

level := lookup(input.parameters, "level", "refused")

violation[{"msg": msg}] {
  judged
  level == "refused"
  rule.sure
  fault[_]
  msg := sprintf("name %q of %s is not one that AWS takes", [name, rule.type])
}

violation[{"msg": msg}] {
  judged
  level == "doubtful"
  doubtful
  msg := sprintf("name %q of %s may be trouble in AWS", [name, rule.type])
}

doubtful {
  not rule.sure
  fault[_]
}

doubtful {
  regex.match(rule.warn, name)
}

fault["pattern"] {
  not regex.match(sprintf("^(?:%s)$", [rule.good]), name)
}

fault["reserved"] {
  regex.match(rule.bad, name)
}

fault["short"] {
  count(name) < to_number(rule.min)
}

fault["long"] {
  count(name) > to_number(rule.max)
}

fault["fifo"] {
  rule.fifo
  object.spec.forProvider
  fifo != endswith(name, ".fifo")
}

default fifo = false

fifo {
  object.spec.forProvider[rule.fifo] == true
}
