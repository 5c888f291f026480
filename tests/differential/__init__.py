"""Differential fuzzing: the same random requests to a real kube-apiserver and to ours, their answers compared whole.

`make fuzz` (`python -m tests.differential`) needs Kubernetes' own `kube-apiserver` in the folder `KUBE_BIN` and `etcd` on PATH, or two
kubeconfigs. A disagreement is shrunk to a small case, which `--keep` writes to `cases/`, with what was sent and what the real server
answered. `test_cases.py` replays all of them against our server, in process; it needs no other program.

    published    what the server publishes: kinds, verbs, schemas
    values       random values that fit a schema, or just do not
    objects      a plain object of each kind, and its mutations
    scenes       random cases: writes, reads, deletes
    case         steps, and the YAML files they are kept in
    player       sends a case to a server
    answers      what counts of an answer
    freedoms     disagreements that are explained
    shrink       a smaller case that still shows the same
    servers      starts and stops both
"""
